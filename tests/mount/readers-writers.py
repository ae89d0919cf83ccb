# SPDX-License-Identifier: Apache-2.0
"""Readers at full speed against writers, on a mount of the world `counter`.

  readers-writers.py WORLD TREE acknowledged UPDATES   stale and torn reads, update by update
  readers-writers.py WORLD TREE stress SECONDS         writers, readers, listings at full speed

A document shows whether it is whole: its pad is computed from its number. A failure in any process
ends the test; if the test has not ended after LIMIT seconds, the daemon hangs, and its stacks are
printed.
"""
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
import traceback

WORLDFS = os.environ["WORLDFS"]
LIMIT = 120 * int(os.environ.get("SLOWDOWN", "1"))
READERS = 8
KEYS = 20  # keys of each writer, never deleted
READ_SIZE = 1 << 20


def pad_of(number):
    return chr(97 + number % 26) * (number * 997 % 10_000)


def document(number):
    return f'{{"n":{number},"pad":"{pad_of(number)}"}}\n'.encode()


def event(key, by, pad=None):
    value = {"key": key, "by": by}
    if pad is not None:
        value["pad"] = pad
    return value


def read_whole(path):
    """The content of a file, as one descriptor shows it; its size must be equal."""
    file = os.open(path, os.O_RDONLY)
    try:
        size = os.fstat(file).st_size
        content = os.read(file, READ_SIZE)
    finally:
        os.close(file)
    assert size == len(content), f"{path}: size {size}, but {len(content)} bytes"
    return content


def number_in(path):
    content = read_whole(path)
    number = json.loads(content)["n"]
    assert content == document(number), f"{path}: torn: {content[:60]!r}…"
    return number


def is_absent(path):
    try:
        os.stat(path)
    except FileNotFoundError:
        return True
    return False


# --- readers ---


def reader(tree, index, stop):
    """Each key only counts up, so a smaller number than before is a stale read."""
    cells = f"{tree}/reducers/counter"
    generator = random.Random(index)
    newest = {}
    rounds = 0
    while not stop.is_set():
        rounds += 1
        what = generator.randrange(4)
        key = f"w{generator.randrange(2)}-{generator.randrange(KEYS)}"
        if what == 0:
            number = number_in(f"{cells}/{key}")
            assert number >= newest.get(key, 0), f"{key}: {number} after {newest[key]}"
            newest[key] = number
        elif what == 1:
            os.stat(f"{cells}/{key}")
        elif what == 2:
            names = os.listdir(cells)
            assert len(set(names)) == len(names), "a name is listed twice"
            missing = {f"w{w}-{k}" for w in range(2) for k in range(KEYS)} - set(names)
            assert not missing, f"{missing} not listed"
        else:
            assert is_absent(f"{cells}/never-{rounds % 50}"), "it was never made"
            is_absent(f"{cells}/new{generator.randrange(2)}-{generator.randrange(1000)}")
    assert rounds > 0


# --- writers that get an acknowledgement ---


class ControlFile:
    """A writer that writes to ctl/event and reads the answer from the same descriptor."""

    def __init__(self, _world, tree):
        self.file = os.open(f"{tree}/ctl/event", os.O_RDWR)

    def send(self, value):
        line = json.dumps({"schema": "test/Add@1", "value": value}) + "\n"
        assert os.write(self.file, line.encode()) == len(line)
        return json.loads(os.read(self.file, READ_SIZE))["seqs"][0]


class Socket:
    """A writer that uses the control socket, through the command line."""

    def __init__(self, world, _tree):
        self.world = world

    def send(self, value):
        command = [WORLDFS, "-w", self.world, "event", "test/Add@1", json.dumps(value)]
        done = subprocess.run(command, capture_output=True, check=True)
        return json.loads(done.stdout)["seqs"][0]


def check_journal(tree, seq, key):
    height = json.loads(read_whole(f"{tree}/journal/head"))["journal_height"]
    assert height > seq, f"journal/head: {height} after record {seq}"
    assert int(os.readlink(f"{tree}/at/head")) > seq, "at/head is behind"
    line = read_whole(f"{tree}/journal/{seq}.json")
    record = json.loads(line)
    assert (record["seq"], record["body"]["value"]["key"]) == (seq, key), f"journal/{seq}.json"
    with open(f"{tree}/journal/log.jsonl", "rb", buffering=0) as log:
        start = max(0, os.fstat(log.fileno()).st_size - READ_SIZE // 2)
        tail = os.pread(log.fileno(), READ_SIZE, start)
    assert line in tail, f"log.jsonl has no record {seq}"
    assert tail.endswith(b"\n"), f"log.jsonl ends within a line: {tail[-60:]!r}"


def check_update(tree, key, number, seq):
    """What must be true as soon as the update is acknowledged; number None: the cell was
    deleted."""
    cells = f"{tree}/reducers/counter"
    listed = key in os.listdir(cells)
    if number is None:
        assert is_absent(f"{cells}/{key}"), f"{key} is deleted, but there"
        assert not listed, f"{key} is deleted, but listed"
    else:
        content = read_whole(f"{cells}/{key}")
        assert content == document(number), f"{key}: stale or torn: {content[:60]!r}…"
        assert listed, f"{key} is not listed"
        at = read_whole(f"{tree}/at/{seq + 1}/reducers/counter/{key}")
        assert at == content, f"{key} differs under at/{seq + 1}"
    check_journal(tree, seq, key)


def second_process(tree, questions, answers):
    """Runs checks that it gets through a pipe."""
    for line in questions:
        check_update(tree, *json.loads(line))
        answers.write("seen\n")
        answers.flush()


def start_second_process(tree):
    ask, told = os.pipe(), os.pipe()
    if os.fork() == 0:
        os.close(ask[1])
        status = 1
        try:
            second_process(tree, os.fdopen(ask[0]), os.fdopen(told[1], "w"))
            status = 0
        except BaseException:  # a forked process must not continue as its parent
            traceback.print_exc()
        os._exit(status)
    os.close(ask[0])
    os.close(told[1])
    return os.fdopen(ask[1], "w"), os.fdopen(told[0])


def writer(kind, index, world, tree, updates):
    connection = kind(world, tree)
    questions, answers = start_second_process(tree)

    def update(key, by, number):
        seq = connection.send(event(key, by, None if number is None else pad_of(number)))
        check_update(tree, key, number, seq)
        questions.write(json.dumps([key, number, seq]) + "\n")
        questions.flush()
        assert answers.readline() == "seen\n", "the second process saw something else"

    for i in range(updates):
        number, what = i // 4 + 2, i % 4
        if what == 2:
            new = f"new{index}-{i}"
            assert is_absent(f"{tree}/reducers/counter/{new}")
            update(new, 1, 1)
        elif what == 3:
            update(new, None, None)
        elif what == 0:
            update(f"w{index}-0", 1, number)
        else:
            update(f"w{index}-1", 1, number)


# --- writers at full speed ---


def fast_writer(index, world, tree, stop, sent):
    """Many updates in one request, over and over."""
    number = 1
    while not stop.is_set():
        values = []
        for number in range(number + 1, number + 11):
            values += [event(f"w{index}-{k}", 1, pad_of(number)) for k in range(KEYS)]
            values += [event(f"new{index}-{k}", 1 if number % 2 else None) for k in range(KEYS)]
        if index == 0:
            lines = [json.dumps({"schema": "test/Add@1", "value": value}) for value in values]
            with open(f"{tree}/ctl/event", "wb", buffering=0) as control:
                data = "".join(line + "\n" for line in lines).encode()
                while data:
                    data = data[control.write(data):]
        else:
            text = "".join(json.dumps(value) + "\n" for value in values)
            subprocess.run(
                [WORLDFS, "-w", world, "event", "test/Add@1", "@-", "--lines"],
                input=text.encode(), stderr=subprocess.DEVNULL, check=True)
        for k in range(KEYS):
            seen = number_in(f"{tree}/reducers/counter/w{index}-{k}")
            assert seen == number, f"w{index}-{k}: {seen}, not {number}"
        sent.value += len(values)


def walker(tree, _index, stop):
    """Lists and reads everything, also under at/."""
    while not stop.is_set():
        head = os.readlink(f"{tree}/at/head")
        for top in (f"{tree}/reducers", f"{tree}/at/{head}/reducers", f"{tree}/journal"):
            for directory, _, files in os.walk(top):
                for name in files:
                    try:
                        with open(f"{directory}/{name}", "rb") as file:
                            file.read(READ_SIZE)
                    except FileNotFoundError:
                        assert name.startswith("new"), f"{directory}/{name} is gone"
                    if stop.is_set():
                        return


# --- all of them ---


def print_stacks(pids):
    for pid in pids:
        for task in sorted(os.listdir(f"/proc/{pid}/task")):
            for name in ("comm", "wchan", "stack"):
                try:
                    with open(f"/proc/{pid}/task/{task}/{name}", encoding="utf-8") as file:
                        print(f"{pid}/{task} {name}: {file.read().strip()}", flush=True)
                except OSError as error:
                    print(f"{pid}/{task} {name}: {error}", flush=True)


def run_all(tasks, stop, seconds, daemon):
    """Runs the tasks until the finite ones have ended, or for `seconds`; all must end well."""
    processes = [
        (multiprocessing.Process(target=task, args=arguments), ends)
        for task, arguments, ends in tasks
    ]
    deadline = time.monotonic() + LIMIT
    until = time.monotonic() + seconds if seconds else None
    for process, _ in processes:
        process.start()
    failed = False
    while any(process.is_alive() for process, _ in processes):
        failed = failed or any(process.exitcode for process, _ in processes)
        done = all(not process.is_alive() for process, ends in processes if ends)
        if failed or (until is None and done) or (until and time.monotonic() >= until):
            stop.set()
        if time.monotonic() >= deadline:
            print(f"nothing moves after {LIMIT} s", flush=True)
            print_stacks([daemon] + [process.pid for process, _ in processes])
            for process, _ in processes:
                os.kill(process.pid, signal.SIGKILL)
            sys.exit(1)
        time.sleep(0.02)
    if failed or any(process.exitcode for process, _ in processes):
        sys.exit(1)


def main():
    world, tree, mode, amount = sys.argv[1:]
    status = subprocess.run([WORLDFS, "-w", world, "status"], capture_output=True, check=True)
    daemon = json.loads(status.stdout)["pid"]
    first = ControlFile(world, tree)
    for key in (f"w{w}-{k}" for w in range(2) for k in range(KEYS)):
        first.send(event(key, None))
        first.send(event(key, 1, pad_of(1)))
    os.close(first.file)
    stop = multiprocessing.Event()
    tasks = [(reader, (tree, index, stop), False) for index in range(READERS)]
    started = time.monotonic()
    if mode == "acknowledged":
        for index, kind in enumerate((ControlFile, Socket)):
            tasks.append((writer, (kind, index, world, tree, int(amount) // 2), True))
        run_all(tasks, stop, None, daemon)
    else:
        counts = [multiprocessing.Value("l", 0) for _ in range(2)]
        for index in range(2):
            tasks.append((fast_writer, (index, world, tree, stop, counts[index]), False))
            tasks.append((walker, (tree, index, stop), False))
        run_all(tasks, stop, int(amount), daemon)
        amount = sum(count.value for count in counts)
    print(f"{amount} updates in {time.monotonic() - started:.1f} s")


main()
