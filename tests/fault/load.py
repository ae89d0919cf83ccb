# SPDX-License-Identifier: Apache-2.0
"""Processes that load a mount for kill-rounds, and note what was acknowledged.

A worker makes one change after the other until it is stopped; it notes no change that fails because
the owner was killed. A note is `event KEY`, `blob HASH` or `snapshot HASH`, a line.
"""
import hashlib
import json
import multiprocessing
import os
import random
import signal
import subprocess
import time

WORLDFS = os.environ["WORLDFS"]
BLOB_MIN, BLOB_MAX = 64 << 10, 512 << 10


class Worker:
    def __init__(self, number, scratch, shared):
        self.number = number
        self.world, self.tree = f"{scratch}/world", f"{scratch}/tree"
        self.notes = f"{scratch}/notes.{number}"
        self.running = shared
        self.busy = multiprocessing.Value("b", 0)
        self.count = 0
        self.process = multiprocessing.Process(target=self.run, daemon=True)
        self.process.start()

    def run(self):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        random.seed(self.number)
        with open(self.notes, "a", encoding="utf-8", buffering=1) as notes:
            while True:
                if not self.running.value:
                    time.sleep(0.002)
                    continue
                self.busy.value = 1
                try:
                    # The process may have been stopped before it reported that it is busy.
                    note = self.running.value and self.work()
                except (OSError, ValueError):
                    note = None
                    time.sleep(0.005)
                if note:
                    notes.write(note + "\n")
                self.busy.value = 0

    def key(self):
        self.count += 1
        return f"w{self.number}.{self.count}"

    def work(self):
        """Makes one change. Return: the note, or None."""
        raise NotImplementedError


class ControlWriter(Worker):
    """Sends events of all sizes through ctl/event, several of them through one descriptor."""

    def work(self):
        key = self.key()
        pad = "p" * random.choice((10, 1000, 5000, 80_000 if self.count % 50 == 0 else 100))
        value = {"key": key, "by": 1, "pad": pad}
        line = json.dumps({"schema": "test/Add@1", "value": value}).encode() + b"\n"
        control = os.open(f"{self.tree}/ctl/event", os.O_WRONLY)
        try:
            return f"event {key}" if os.write(control, line) == len(line) else None
        finally:
            os.close(control)


class CommandWriter(Worker):
    """Sends events with the command line, which writes by itself while there is no owner. Some
    commands are killed."""

    def work(self):
        key = self.key()
        command = [WORLDFS, "-w", self.world, "event", "test/Add@1",
                   json.dumps({"key": key, "by": 1})]
        if random.random() < 0.3:
            command = ["timeout", "-s", "KILL", f"{random.uniform(0.001, 0.03):.3f}", *command]
        done = subprocess.run(command, capture_output=True, check=False)
        return f"event {key}" if done.returncode == 0 else None


class BlobWriter(Worker):
    """Sends large blobs, which become files, and now and then makes a snapshot."""

    def work(self):
        self.count += 1
        return self.snapshot() if self.count % 8 == 0 else self.blob()

    def blob(self):
        data = random.randbytes(random.randint(BLOB_MIN, BLOB_MAX))
        control = os.open(f"{self.tree}/ctl/put-blob", os.O_WRONLY)
        try:
            for start in range(0, len(data), BLOB_MIN):
                os.write(control, data[start:start + BLOB_MIN])
        except OSError:
            os.close(control)
            raise
        os.close(control)  # closing reports a failure
        return f"blob {hashlib.sha256(data).hexdigest()}"

    def snapshot(self):
        control = os.open(f"{self.tree}/ctl/snapshot", os.O_RDWR)
        try:
            os.write(control, b"{}\n")
            return "snapshot " + json.loads(os.read(control, 4096))["snapshot_hash"][7:]
        except KeyError:
            return None
        finally:
            os.close(control)


class Reader(Worker):
    """Lists directories and reads files, and notes nothing."""

    def work(self):
        names = os.listdir(f"{self.tree}/reducers/counter")
        for name in names[-20:]:
            with open(f"{self.tree}/reducers/counter/{name}", "rb") as file:
                file.read()
        os.listdir(f"{self.tree}/journal")
        for entry in os.scandir(f"{self.tree}/blob"):
            entry.stat()
        with open(f"{self.tree}/journal/log.jsonl", "rb") as file:
            file.read(1 << 20)
