# SPDX-License-Identifier: Apache-2.0
"""A user of a mount whose owner may fail, in a process of its own that may hang.

Every single use may be refused. But the tree must show each acknowledged write, and reads must give
whole and right contents.
"""
import hashlib
import json
import os
import select
import signal
import sys
import traceback

from faults import PATIENCE_S
from script import snapshot_mark

BLOB_SIZE = 100_000   # more than WFS_BLOB_FILE_MIN
HUGE_SIZE = 80_000    # an event of several writes of the kernel
ZERO = "sha256:" + 64 * "0"


class Wrong(Exception):
    """An error that is not a refusal."""


def read(path):
    with open(path, "rb") as file:
        return file.read()


def put(path, data):
    """One write(2) and close(2), which may report a failure."""
    file = os.open(path, os.O_WRONLY)
    try:
        if os.write(file, data) != len(data):
            raise OSError("a short write")
    except OSError:
        os.close(file)
        raise
    os.close(file)


def line(key, pad=0):
    value = {"key": key, "by": 1, "pad": "p" * pad}
    return json.dumps({"schema": "test/Add@1", "value": value}).encode() + b"\n"


class Uses:
    """The actions of one visit. `marks`: texts that must each be in exactly one record."""

    def __init__(self, tree, visit):
        self.tree, self.visit = tree, visit
        self.marks = []
        self.blob = hashlib.sha256(visit.encode()).digest() * (BLOB_SIZE // 32)

    def uses(self):
        return [self.look, self.events, self.put_blob, self.snapshot, self.journal, self.past]

    def key(self, name):
        return f"{self.visit}-{name}"

    def cell(self, key):
        return f"{self.tree}/reducers/counter/{key}"

    def look(self):
        """Reads every file once, its attributes, and names that do not exist yet."""
        for name in ("one", "two", "huge"):
            if os.path.exists(self.cell(self.key(name))):
                raise Wrong(f"{self.key(name)} is there before it was written")
        for directory, _, names in os.walk(f"{self.tree}/reducers"):
            for name in names:
                json.loads(read(f"{directory}/{name}"))
        json.loads(read(f"{self.tree}/ctl/status"))
        os.statvfs(self.tree)
        os.listxattr(f"{self.tree}/README")

    def seen(self, key):
        try:
            number = json.loads(read(self.cell(key)))["n"]
        except FileNotFoundError as error:
            raise Wrong(f"{key} was acknowledged and is not there") from error
        if number != 1:
            raise Wrong(f"{key} was applied {number} times")

    def events(self):
        put(f"{self.tree}/ctl/event", line(self.key("one")) + line(self.key("two")))
        self.marks += [f'"{self.key("one")}"', f'"{self.key("two")}"']
        self.seen(self.key("one"))
        self.seen(self.key("two"))
        put(f"{self.tree}/ctl/event", line(self.key("huge"), HUGE_SIZE))
        self.marks.append(f'"{self.key("huge")}"')
        self.seen(self.key("huge"))

    def put_blob(self):
        put(f"{self.tree}/ctl/put-blob", self.blob)
        name = hashlib.sha256(self.blob).hexdigest()
        self.marks.append(f'"sha256:{name}"')
        try:
            data = read(f"{self.tree}/blob/{name}")
        except FileNotFoundError as error:
            raise Wrong("an acknowledged blob is not there") from error
        if data != self.blob:
            raise Wrong("a blob has other bytes")

    def snapshot(self):
        control = os.open(f"{self.tree}/ctl/snapshot", os.O_RDWR)
        try:
            os.write(control, b"{}\n")
            answer = os.read(control, 4096)
        finally:
            os.close(control)
        answer = json.loads(answer)
        if "snapshot_hash" in answer:
            self.marks.append(snapshot_mark(answer))

    def journal(self):
        previous = ZERO
        text = read(f"{self.tree}/journal/log.jsonl")
        for number, entry in enumerate(text.splitlines(keepends=True)):
            record = json.loads(entry)
            if (record["seq"], record["prev"]) != (number, previous):
                raise Wrong(f"log.jsonl is not a chain at {number}")
            previous = "sha256:" + hashlib.sha256(entry).hexdigest()
        for mark in self.marks:
            if mark.encode() not in text:
                raise Wrong(f"acknowledged {mark} is not in log.jsonl")
        json.loads(read(f"{self.tree}/journal/head"))

    def past(self):
        if os.listdir(f"{self.tree}/at/2/reducers/counter"):
            raise Wrong("the past has changed")
        json.loads(read(f"{self.tree}/at/head/manifest"))


class Visitor:
    def __init__(self, tree):
        self.tree = tree
        self.control = None  # directory of the control connection, once it is known
        self.hung = []

    def work(self, visit, out):
        """Runs in the child, and writes a line for each result."""
        uses = Uses(self.tree, visit)
        told = 0
        try:
            print(f"control {os.path.dirname(os.readlink(self.tree + '/ctl'))}", file=out, flush=True)
        except OSError:
            pass
        for use in uses.uses():
            print(f"begin {use.__name__}", file=out, flush=True)
            try:
                use()
            except Wrong as error:
                print(f"wrong {use.__name__}: {error}", file=out, flush=True)
            except OSError as error:
                print(f"refused {use.__name__}: {error}", file=out, flush=True)
            except (ValueError, KeyError):
                last = traceback.format_exc().strip().split("\n")
                print(f"wrong {use.__name__}: {' '.join(last[-3:])}", file=out, flush=True)
            for mark in uses.marks[told:]:
                print(f"mark {mark}", file=out, flush=True)
            told = len(uses.marks)
        print("end", file=out, flush=True)

    def start(self, visit):
        """Return: the child, and the descriptor to which it writes."""
        source, target = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                with os.fdopen(target, "w", encoding="utf-8") as out:
                    self.work(visit, out)
                status = 0
            finally:
                os._exit(status)
        os.close(target)
        return child, source

    def visit(self, visit, refusals=False):
        """Return: what was acknowledged, and problems; with `refusals` also the refusals."""
        child, source = self.start(visit)
        text = b""
        while select.select([source], [], [], PATIENCE_S)[0]:
            more = os.read(source, 1 << 16)
            if not more:
                break
            text += more
        os.close(source)
        lines = [entry.partition(" ") for entry in text.decode().split("\n")[:-1]]
        wrong = [f"in the mount, {rest}" for kind, _, rest in lines if kind == "wrong"]
        if refusals:
            wrong += [f"in the mount, refused: {rest}" for kind, _, rest in lines
                      if kind == "refused"]
        if not lines or lines[-1][0] != "end":
            begun = [rest for kind, _, rest in lines if kind == "begin"]
            wrong.append(f"in the mount, {begun[-1] if begun else 'nothing'} hangs or dies")
            os.kill(child, signal.SIGKILL)
            self.hung.append(child)
        else:
            os.waitpid(child, 0)
        self.control = next((rest for kind, _, rest in lines if kind == "control"), self.control)
        return [rest for kind, _, rest in lines if kind == "mark"], wrong

    def left(self):
        """Removes what the owner has left, which has ended by now."""
        for child in self.hung:
            os.waitpid(child, 0)
        if self.control and os.path.exists(self.control):
            return [f"'{self.control}' is still there"]
        return []
