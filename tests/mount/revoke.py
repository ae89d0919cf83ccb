# SPDX-License-Identifier: Apache-2.0
"""What a mount shows of a right that was revoked, round by round, under load.

  revoke.py WORLD OPERATOR_TREE TREE ROUNDS

WORLD is a `counter` world, mounted on OPERATOR_TREE, and on TREE as a principal `alice` without a
grant. A round grants alice the cells and revokes the grant. A second process holds, of files at the head
and under at/<height>: an open descriptor, a cached page, a cached name, a cached listing and a
mapping. When the revocation has returned, each must give nothing. Meanwhile other processes write to
these cells, and read and list them in loops; between a revocation and the next grant all of their
calls must fail as well. Nothing sleeps; if the test has not ended after LIMIT seconds, something hangs.
"""
import ctypes
import errno
import json
import mmap
import multiprocessing
import os
import random
import signal
import struct
import subprocess
import sys
import time
import traceback

WORLDFS = os.environ["WORLDFS"]
LIMIT = 300 * int(os.environ.get("SLOWDOWN", "1"))
GRANT = "held"
SCOPE = ["reducers/counter/*"]
READERS = 4
STILL = [f"still{i}" for i in range(10)]  # never changed
MOVING = [f"moving{i}" for i in range(10)]  # changed all the time
MANY = 5000  # other cells, so that listings come without attributes and Linux knows none of the names
REFUSED = (errno.EACCES, errno.ENOENT)


def worldfs(world, *arguments):
    command = [WORLDFS, "-w", world, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")


def grant(world):
    worldfs(world, "grant", "alice", "sys/query@1", json.dumps({"scope": SCOPE}), "--name", GRANT)


def revoke(world):
    worldfs(world, "revoke", GRANT)


def refused(what, call, *errors):
    """The call must fail with one of the errors."""
    try:
        given = call()
    except OSError as error:
        assert error.errno in errors, f"{what}: {error}"
        return
    raise AssertionError(f"{what} gives {given!r:.100}")


# --- the second process ---


class Held:
    """Everything that a process can hold of one file."""

    def __init__(self, directory, name):
        self.directory, self.name = directory, name
        self.path = f"{directory}/{name}"
        self.file = os.open(self.path, os.O_RDONLY)
        self.size = os.stat(self.path).st_size
        assert len(os.pread(self.file, 1 << 16, 0)) == self.size > 0
        self.map = mmap.mmap(self.file, self.size, mmap.MAP_SHARED, mmap.PROT_READ)
        assert self.map[0] == ord("{")

    def check(self, directory_file):
        """Checks that nothing of it gives anything."""
        path, file = self.path, self.file
        # Linux asks for the size first if the file may end within the read.
        for size in (1, 1 << 16):
            refused(f"{path}: read {size}", lambda size=size: os.pread(file, size, 0), errno.EACCES)
        refused(f"{path}: fstat", lambda: os.fstat(file), errno.EACCES)
        refused(f"{path}: seek to the end", lambda: os.lseek(file, 0, os.SEEK_END), errno.EACCES)
        refused(f"{path}: attribute", lambda: os.getxattr(file, "user.worldfs.height"), *REFUSED)
        refused(f"{path}: stat", lambda: os.stat(path), *REFUSED)
        refused(f"{path}: open", lambda: os.close(os.open(path, os.O_RDONLY)), *REFUSED)
        refused(
            f"{path}: open in its directory",
            lambda: os.close(os.open(self.name, os.O_RDONLY, dir_fd=directory_file)), *REFUSED)
        self.check_mapping()

    def check_mapping(self):
        child = os.fork()
        if child == 0:
            os._exit(self.map[0])
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGBUS, (
            f"{self.path}: the mapping gives {os.waitstatus_to_exitcode(status)}")

    def close(self):
        self.map.close()
        os.close(self.file)


LIBC = ctypes.CDLL(None, use_errno=True)


def names_in(directory_file):
    """The names that an open directory lists; none if that is refused. os.listdir() asks for
    attributes first, which a cached listing does not need."""
    names = []
    buffer = ctypes.create_string_buffer(1 << 16)
    os.lseek(directory_file, 0, os.SEEK_SET)
    while (size := LIBC.getdents64(directory_file, buffer, len(buffer))) > 0:
        at = 0
        while at < size:
            (record_size,) = struct.unpack_from("H", buffer, at + 16)
            name = buffer.raw[at + 19:at + record_size].split(b"\0")[0].decode()
            names += [name] if name not in (".", "..") else []
            at += record_size
    assert size == 0 or ctypes.get_errno() in REFUSED, os.strerror(ctypes.get_errno())
    return names


class Holder:
    """Everything that a process can hold of the cells, at the head and at a height."""

    def __init__(self, tree, height):
        self.tree = tree
        self.tops = [tree, f"{tree}/at/{height}"]
        self.cells = [f"{top}/reducers/counter" for top in self.tops]
        self.files = [os.open(cells, os.O_RDONLY | os.O_DIRECTORY) for cells in self.cells]
        # In the height before, nothing is ever looked up; a reader that only lists it has the
        # listing cached.
        self.listed = os.open(
            f"{tree}/at/{height - 1}/reducers/counter", os.O_RDONLY | os.O_DIRECTORY)
        for file in self.files + [self.listed]:
            count = len(names_in(file))
            assert count > MANY, f"granted, but {count} names are listed"
        self.held = [
            (Held(cells, name), file)
            for cells, file in zip(self.cells, self.files)
            for name in (random.choice(STILL), random.choice(MOVING))
        ]

    def check(self):
        for held, file in self.held:
            held.check(file)
        for top, cells, file in zip(self.tops, self.cells, self.files):
            names = names_in(file)
            assert not names, f"{cells}: open directory lists {names}"
            refused(f"{cells}: list", lambda cells=cells: os.listdir(cells), *REFUSED)
            refused(f"{top}: stat below", lambda top=top: os.stat(f"{top}/reducers"), *REFUSED)
        assert "reducers" not in os.listdir(self.tree), "the root lists reducers"
        names = names_in(self.listed)
        assert not names, f"{len(names)} names listed from the cache"

    def close(self):
        for held, file in self.held:
            held.close()
        for file in self.files + [self.listed]:
            os.close(file)


def second_process(tree, height, questions, answers):
    """Takes hold and checks in turn, as commands through a pipe say."""
    for _ in questions:
        holder = Holder(tree, height)
        answers.write("held\n")
        answers.flush()
        assert questions.readline() == "check\n"
        holder.check()
        holder.close()
        answers.write("nothing\n")
        answers.flush()


def start_second_process(tree, height):
    ask, told = os.pipe(), os.pipe()
    if os.fork() == 0:
        os.close(ask[1])
        status = 1
        try:
            second_process(tree, height, os.fdopen(ask[0]), os.fdopen(told[1], "w"))
            status = 0
        except BaseException:  # a forked process must not continue as its parent
            traceback.print_exc()
        os._exit(status)
    os.close(ask[0])
    os.close(told[1])
    return os.fdopen(ask[1], "w"), os.fdopen(told[0])


# --- load ---


def event(key):
    return {"schema": "test/Add@1", "value": {"key": key, "by": 1}}


def make_many(world):
    lines = "".join(json.dumps(event(f"many{i}")["value"]) + "\n" for i in range(MANY))
    command = [WORLDFS, "-w", world, "event", "test/Add@1", "@-", "--lines"]
    subprocess.run(command, input=lines.encode(), stderr=subprocess.DEVNULL, check=True)


class ControlFile:
    """Writes to ctl/event."""

    def __init__(self, tree):
        self.file = os.open(f"{tree}/ctl/event", os.O_RDWR)

    def send(self, key):
        line = json.dumps(event(key)) + "\n"
        assert os.write(self.file, line.encode()) == len(line)
        answer = json.loads(os.read(self.file, 1 << 16))
        return answer["seqs"][0]


def writer(tree, stop):
    control = ControlFile(tree)
    while not stop.is_set():
        control.send(random.choice(MOVING))


def read_path(tree, height, _kept):
    with open(f"{random_cells(tree, height)}/{random.choice(STILL + MOVING)}", "rb") as file:
        return file.read()


def read_kept(tree, height, kept):
    """Keeps a descriptor open over many rounds."""
    if not kept or random.random() < 0.05:
        name = random.choice(STILL + MOVING)
        kept.append(os.open(f"{random_cells(tree, height)}/{name}", os.O_RDONLY))
        if len(kept) > 10:
            os.close(kept.pop(0))
    return os.pread(random.choice(kept), 1 << 16, 0)


def stat_kept(_tree, _height, kept):
    return os.fstat(random.choice(kept)) if kept else None


def stat_path(tree, height, _kept):
    return os.stat(f"{random_cells(tree, height)}/{random.choice(STILL + MOVING)}")


def list_cells(tree, height, _kept):
    return os.listdir(random_cells(tree, height))


def random_cells(tree, height):
    return random.choice((tree, f"{tree}/at/{height}")) + "/reducers/counter"


def reader(tree, height, stop, phase):
    """Does all kinds of things; each result must have been granted at some time during the call."""
    actions = (read_path, read_kept, stat_kept, stat_path, list_cells)
    kept, got, nothing = [], 0, 0
    while not stop.is_set():
        action = random.choice(actions)
        before = phase.value
        try:
            given = action(tree, height, kept)
        except OSError as error:
            assert error.errno in REFUSED, error
            given = None
        got += bool(given)
        nothing += not given
        leaked = given and before % 2 == 1 and phase.value == before
        assert not leaked, f"{action.__name__} gives {given!r:.100} after a revocation"
    assert got and nothing, f"no load: {got} and {nothing}"


# --- rounds ---


def run_rounds(world, tree, height, rounds, phase):
    """An odd phase is one between a revocation that has returned and the next grant."""
    questions, answers = start_second_process(tree, height)

    def ask(question, answer):
        questions.write(question + "\n")
        questions.flush()
        assert answers.readline() == answer + "\n", "the second process has failed"

    for _ in range(rounds):
        grant(world)
        ask("hold", "held")
        revoke(world)
        phase.value += 1
        ask("check", "nothing")
        phase.value += 1
    questions.close()
    assert answers.read() == ""


def main():
    world, operator_tree, tree, rounds = sys.argv[1:]
    make_many(world)
    control = ControlFile(operator_tree)
    height = [control.send(key) for key in STILL + MOVING][-1] + 1
    os.close(control.file)
    stop = multiprocessing.Event()
    phase = multiprocessing.Value("Q", 0, lock=False)
    tasks = [(reader, (tree, height, stop, phase)) for _ in range(READERS)]
    tasks.append((writer, (operator_tree, stop)))
    processes = [multiprocessing.Process(target=task, args=args) for task, args in tasks]
    rounder = multiprocessing.Process(
        target=run_rounds, args=(world, tree, height, int(rounds), phase))
    started = time.monotonic()
    for process in processes + [rounder]:
        process.start()
    while rounder.is_alive() and all(process.is_alive() for process in processes):
        rounder.join(0.05)
        if time.monotonic() > started + LIMIT:
            rounder.kill()
            sys.exit(f"nothing moves after {LIMIT} s")
    stop.set()
    for process in processes:
        process.join()
    if rounder.is_alive():
        rounder.kill()
        rounder.join()
    if any(process.exitcode for process in processes + [rounder]):
        sys.exit(1)
    print(f"{rounds} rounds in {time.monotonic() - started:.1f} s")


main()
