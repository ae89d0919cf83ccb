# SPDX-License-Identifier: Apache-2.0
"""A client of the control socket, for tests that print `ok` lines."""
import json
import os
import socket
import sys


def ok(what, good, seen=None):
    if not good:
        sys.exit(f"not ok - {what}: {seen}")
    print(f"ok - {what}" + ("" if seen is None else f" ({seen})"), flush=True)


def code_of(answer):
    """Return: the error's code; None: the request succeeded, or the connection has ended."""
    return (answer or {}).get("error", {}).get("code")


class Client:
    def __init__(self, world, patience_s=90):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(patience_s)
        self.socket.connect(os.path.join(world, "control.sock"))
        self.input = self.socket.makefile("rb")

    def say(self, cmd, payload=None, **envelope):
        line = {"v": 1, "id": "1", "cmd": cmd, "payload": payload or {}, **envelope}
        self.socket.sendall(json.dumps(line).encode() + b"\n")

    def hear(self):
        """Return: the next answer; None: the connection has ended."""
        line = self.input.readline()
        return json.loads(line) if line else None

    def call(self, cmd, payload=None, **envelope):
        self.say(cmd, payload, **envelope)
        return self.hear()
