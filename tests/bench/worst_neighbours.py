# SPDX-License-Identifier: Apache-2.0
"""What a principal can do to its neighbours: each kind is one way to use up what others need.

A Kind says how many connections it has, how many requests wait on each, and what the next request is. The
code that it runs ends within 20 ms, but for `computing`.
"""
import json
import os
import resource
import selectors
import socket
import sys
import time

MIB = 1 << 20
VALUES = 1000000
PASSED_ON = 4096
LISTED = 20000  # cells of one reducer
DOCUMENT_BYTES = 8 * MIB


def line(cmd, payload, ident="1"):
    return json.dumps({"v": 1, "id": ident, "cmd": cmd, "payload": payload}).encode() + b"\n"


def action(**members):
    return line("invoke", {"action": members})


def invoking(artifact, *args):
    return action(action_type="invoke_artifact", artifact_id=artifact, args=list(args))


class Kind:
    connections = 8
    depth = 16  # requests that wait on a connection
    leaves = False  # a client leaves without its answers

    def __init__(self, name, fill):
        self.name = name
        self.fill = fill  # a principal that is not a neighbour, to which grants are delegated
        self.sent = 0
        self.prepare()

    def prepare(self):
        pass

    def next(self):
        raise NotImplementedError


class Invocations(Kind):
    def prepare(self):
        self.line = invoking("spin")

    def next(self):
        return self.line


class Refusals(Kind):
    depth = 256

    def next(self):
        return line("shutdown" if self.sent % 2 else "snapshot", {})


class Arguments(Kind):
    connections = 4
    depth = 2

    def prepare(self):
        self.lines = [invoking("quick", "y" * (10 * MIB)),
                      action(action_type="noop", reasoning="r" * (10 * MIB)),
                      line("send-event", {"schema": "bench/Hot@1", "value": {"key": "x", "pad": "p" * (10 * MIB)}})]

    def next(self):
        return self.lines[self.sent % len(self.lines)]


class Connections(Kind):
    connections = 64
    depth = 16

    def prepare(self):
        self.line = invoking("quick", 1)

    def next(self):
        return self.line


class Values(Kind):
    depth = 1

    def prepare(self):
        self.line = invoking("quick", [0] * VALUES)

    def next(self):
        return self.line


class Grants(Kind):
    """Delegates as many grants as it may, and revokes some to delegate others."""
    connections = 4

    def next(self):
        if self.sent > PASSED_ON and self.sent % 2:
            return line("revoke", {"name": f"{self.name}.passed.{self.sent - PASSED_ON}"})
        return line("grant", {"to": self.fill, "cap": "sys/query@1", "params": {"scope": [f"reducers/many/{self.sent}"]},
                              "name": f"{self.name}.passed.{self.sent}"})


class Reads(Kind):
    depth = 8

    def prepare(self):
        self.lines = [line("fs-read", {"path": "artifacts/document/content"}),
                      line("fs-read", {"path": "journal/log.jsonl", "limit": MIB}),
                      line("journal-read", {"from": 0, "limit": 1000})]

    def next(self):
        return self.lines[self.sent % len(self.lines)]


class Clients(Invocations):
    connections = 16
    depth = 6
    leaves = True


class Listings(Kind):
    def prepare(self):
        self.lines = [line("fs-list", {"path": "reducers/many", "limit": 1000}),
                      line("query", {"query_type": "artifacts", "params": {"limit": 1000}}),
                      line("list-cells", {"reducer": "many", "limit": 1000}),
                      line("fs-list", {"path": "principals"})]

    def next(self):
        return self.lines[self.sent % len(self.lines)]


class Crashes(Kind):
    """Runs code of its own that reaches its bound of memory each time; code that runs long is killed from
    outside."""
    connections = 4
    depth = 4

    def next(self):
        if self.sent % 4 == 0:
            return action(action_type="write_artifact", artifact_id=f"{self.name}_bomb",
                          code=f"function run() local t = {{}} for i = 1, 1e9 do t[i] = ('x'):rep(1 << 20) .. i end "
                          f"return {self.sent} end")
        return invoking(f"{self.name}_bomb") if self.sent % 4 < 3 else invoking("spin")


class Hot(Kind):
    depth = 32

    def prepare(self):
        self.line = line("send-event", {"schema": "bench/Hot@1", "value": {"key": "x"}})

    def next(self):
        return self.line


class Computing(Kind):
    """Runs code that computes for seconds."""
    connections = 2
    depth = 3

    def prepare(self):
        self.line = invoking("long")

    def next(self):
        return self.line


KINDS = {
    "invocations": Invocations, "refusals": Refusals, "arguments": Arguments, "connections": Connections,
    "values": Values, "grants": Grants, "reads": Reads, "clients": Clients, "listings": Listings,
    "crashes": Crashes, "hot": Hot,
}


class Connection:
    """One client of a neighbour; it waits for nothing but the socket."""

    def __init__(self, kind, path):
        self.kind = kind
        self.path = path
        self.socket = None
        self.connect()

    def connect(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(self.path)
        self.socket.setblocking(False)
        self.rest = memoryview(b"")
        self.waiting = 0
        self.written = 0

    def write(self):
        while True:
            if not self.rest:
                if self.waiting >= self.kind.depth:
                    return
                self.rest = memoryview(self.kind.next())
                self.kind.sent += 1
            try:
                count = self.socket.send(self.rest)
            except BlockingIOError:
                return
            self.rest = self.rest[count:]
            if not self.rest:
                self.waiting += 1
                self.written += 1

    def read(self):
        """Return: the number of answers."""
        part = self.socket.recv(MIB)
        if not part:
            raise ConnectionResetError
        count = part.count(b"\n")
        self.waiting -= count
        return count

    def has_left(self):
        return self.kind.leaves and self.written >= self.kind.depth


class Crowd:
    """All connections of one neighbour."""

    def __init__(self, kinds, path):
        self.selector = selectors.DefaultSelector()
        self.answers = 0
        self.turned_away = 0
        for kind in kinds:
            for _ in range(max(1, kind.connections // len(kinds))):
                self.add(Connection(kind, path))

    def add(self, connection):
        self.selector.register(connection.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, connection)

    def again(self, connection):
        self.selector.unregister(connection.socket)
        connection.socket.close()
        connection.connect()
        self.add(connection)

    def serve(self, connection, events):
        try:
            if events & selectors.EVENT_WRITE:
                connection.write()
            if events & selectors.EVENT_READ:
                self.answers += connection.read()
            if connection.has_left():
                self.again(connection)
                return
        except BlockingIOError:
            pass
        except OSError:
            self.turned_away += 1
            self.again(connection)
            return
        full = not connection.rest and connection.waiting >= connection.kind.depth
        self.selector.modify(connection.socket, selectors.EVENT_READ | (0 if full else selectors.EVENT_WRITE), connection)

    def run(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for key, events in self.selector.select(end - time.monotonic()):
                self.serve(key.data, events)


def neighbour(name, kinds, path, seconds, fill):
    """Runs in a process of its own, as the neighbour's user. Prints what it did."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
    crowd = Crowd([kind(name, fill) for kind in kinds], path)
    crowd.run(seconds)
    print(json.dumps({"answers": crowd.answers, "turned_away": crowd.turned_away}))
    sys.stdout.flush()
    os._exit(0)
