# SPDX-License-Identifier: Apache-2.0
"""The scripted run that the fault tests interrupt in all places, and the checks of the result.

A step is one command without an owner. What it acknowledged is a list of *marks*: texts, each of
which must be in exactly one record of the journal afterwards.
"""
import errno
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile

WORLDFS = os.environ["WORLDFS"]
SOURCE = os.path.join(os.environ["SOURCE_ROOT"], "tests/data/worlds/counter")
CHECK_WORLD = os.environ["CHECK_WORLD"]
LARGE = 66_000   # bytes: just more than WFS_BLOB_FILE_MIN, so a file of its own
BATCH = 40       # lines of the step `lines`: several to a commit
CODE = """function run(n)
    kernel_actions.write_artifact{artifact_id = "made" .. n, content = "text", metadata = {n = n}}
    if n > 0 then invoke("code", n - 1) end
    kernel_actions.write_artifact{artifact_id = "read", content = {kernel_state.read_artifact("made" .. n)}}
    return n
end"""


def scratch_directory():
    """A directory in memory if there is room: the order of calls is tested, not the disk."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    directory = tempfile.TemporaryDirectory(prefix="worldfs-fault.", dir=place)
    # The user's own files are there, too: known.json is written whenever a world is closed.
    os.environ["XDG_STATE_HOME"] = f"{directory.name}/user-state"
    return directory


class Step:
    """Runs one command; `marks` gets its standard output after it has succeeded."""

    def __init__(self, name, arguments, marks=lambda output: [], fault=None):
        self.name = name
        self.arguments = arguments
        self.marks = marks
        self.fault = fault  # environment of fail-call.c, for a step that must be refused

    def command(self, world):
        if self.name == "init":
            return [WORLDFS, "init", world, "--from", SOURCE]
        return [WORLDFS, "-w", world] + self.arguments


def event(key, pad=0):
    return json.dumps({"key": key, "by": 1, "pad": "p" * pad})


def hash_of_output(output):
    return ['"' + re.search("sha256:[0-9a-f]{64}", output).group(0) + '"']


def snapshot_mark(answer):
    """Worlds with equal contents have equal hashes, but not equal heights."""
    return f'"height":{answer["height"]},"snapshot_hash":"{answer["snapshot_hash"]}"'


def steps(inputs):
    """The scripted run; its input files are written to the directory `inputs`."""
    numbers = random.Random(1)
    files = {"small": numbers.randbytes(1000), "large": numbers.randbytes(LARGE),
             "lines": "".join(event(f"line-{i}", 100 * i) + "\n" for i in range(BATCH)).encode()}
    for name, data in files.items():
        with open(f"{inputs}/{name}", "wb") as file:
            file.write(data)
    with open(f"{inputs}/huge-event", "w", encoding="utf-8") as file:
        file.write(event("huge", LARGE))
    send = ["event", "test/Add@1"]
    write = {"action_type": "write_artifact", "artifact_id": "code", "code": CODE, "metadata": {"k": 1}}
    return [
        Step("init", []),
        Step("event", send + [event("first")], lambda _: ['"first"']),
        Step("huge-event", send + [f"@{inputs}/huge-event"], lambda _: ['"huge"']),
        Step("lines", send + ["--lines", f"@{inputs}/lines"],
             lambda _: [f'"line-{i}"' for i in range(BATCH)]),
        Step("small-blob", ["blob", "put", f"{inputs}/small"], hash_of_output),
        Step("large-blob", ["blob", "put", f"{inputs}/large"], hash_of_output),
        Step("snapshot", ["snapshot"], hash_of_output),
        Step("second", send + [event("second")], lambda _: ['"second"']),
        Step("write-code", ["invoke", json.dumps(write)], lambda _: ['"artifact_id":"code","code":']),
        Step("invoke", ["invoke", json.dumps({"artifact_id": "code", "args": [2]})],
             lambda _: ['"args":[2]']),
        Step("verify", ["verify"]),
        Step("replay", ["replay"]),
    ]


def steps_with_cuts(inputs):
    """The journal is cut twice; the events after that are kept."""
    with open(f"{inputs}/lines", "w", encoding="utf-8") as file:
        file.write("".join(event(f"line-{i}", 100 * i) + "\n" for i in range(BATCH)))
        file.write(event("line-0", 100_000) + "\n" + event("line-0") + "\n")
    send = ["event", "test/Add@1"]
    return [
        Step("init", []),
        Step("lines", send + ["--lines", f"@{inputs}/lines"]),
        Step("kept", send + [event("kept")], lambda _: ['"kept"']),
        Step("cut", ["gc", "--keep-heights", "8", "--journal"]),
        Step("also-kept", send + [event("also")], lambda _: ['"also"']),
        Step("raised", ["gc", "--keep-heights", "6"]),
        Step("cut-again", ["gc", "--keep-heights", "5", "--journal"]),
        Step("last", send + [event("last")], lambda _: ['"last"']),
        Step("verify", ["verify"]),
        Step("replay", ["replay"]),
    ]


def steps_with_a_failed_sync(inputs):
    """A blob is refused because the name of its directory cannot be synced; the next blob in that
    directory must not take the sync for done."""
    numbers, same = random.Random(2), {}
    while True:
        data = numbers.randbytes(LARGE)
        first = same.setdefault(hashlib.sha256(data).digest()[0], data)
        if first is not data:
            break
    for name, content in (("refused", first), ("accepted", data)):
        with open(f"{inputs}/{name}", "wb") as file:
            file.write(content)
    with open(f"{inputs}/counter", "wb") as file:
        file.truncate(8)
    return [
        Step("init", []),
        Step("refused", ["blob", "put", f"{inputs}/refused"], fault={
            "FAULT_KIND": "sync", "FAULT_NTH": "2", "FAULT_ERRNO": str(errno.EIO),
            "FAULT_COUNTER": f"{inputs}/counter"}),
        Step("accepted", ["blob", "put", f"{inputs}/accepted"], hash_of_output),
    ]


class Judge:
    """Opens directories in one long-lived process, which reports their problems."""

    def __init__(self):
        self.process = subprocess.Popen([CHECK_WORLD], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def look(self, world):
        """Return: the records found, and the problems (a list, empty if there are no problems)."""
        self.process.stdin.write(world + "\n")
        self.process.stdin.flush()
        records, wrong = [], []
        for line in self.process.stdout:
            if line.startswith("{"):
                records.append(line)
            elif line.startswith("height "):
                return records, wrong
            else:
                wrong.append(line.strip())
                if line.startswith("refused: "):
                    return records, wrong
        sys.exit(f"check-world ended at {world}")

    def faults(self, world, marks):
        """The problems of a world in which `marks` were acknowledged."""
        records, wrong = self.look(world)
        text = "".join(records)
        for mark in marks:
            count = text.count(mark)
            if count != 1:
                wrong.append(f"acknowledged {mark} is {f'there {count} times' if count else 'lost'}")
        return wrong

    def close(self):
        self.process.stdin.close()
        self.process.wait()
