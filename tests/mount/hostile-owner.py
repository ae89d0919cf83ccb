# SPDX-License-Identifier: Apache-2.0
"""Serves the control socket of a stranger's world, and then asks the keeper of a mount for more than is its
mount's: hostile-owner.py WORLD DEVICE

DEVICE is the minor number of a mount of another world. The last line says what the keeper answered.
"""
import json
import os
import socket
import struct
import sys

world, device = sys.argv[1], int(sys.argv[2])
DATA, CONTROL = 0, 1
MESSAGE = struct.Struct("=IBBHQ")  # fs/mount/keeper.c
ANSWER = struct.Struct("=Ii")


def serve(connection):
    """Says yes to everything. Return: the keeper's socket, once it has come."""
    text, keeper = b"", None
    while True:
        data, fds, _, _ = socket.recv_fds(connection, 65536, 8)
        if not data:
            return keeper
        if fds:
            keeper = socket.socket(fileno=fds[2])
        text += data
        *lines, text = text.split(b"\n")
        for line in lines:
            answer = {"id": json.loads(line)["id"], "ok": True, "result": {}}
            connection.sendall(json.dumps(answer).encode() + b"\n")


path = os.path.join(world, "control.sock")
with socket.socket(socket.AF_UNIX) as listener:
    listener.bind(path)
    os.chmod(path, 0o666)
    listener.listen()
    print("serving", flush=True)
    keeper = None
    while not keeper:
        keeper = serve(listener.accept()[0])
keeper.settimeout(10)
count = 0


def ask(what, part, number=0):
    global count
    count += 1
    keeper.sendall(MESSAGE.pack(count, ord(what), part, 0, number))
    return ANSWER.unpack(keeper.recv(64))[1]


# When the mount point of the control files is gone, a mount with its number may be anywhere.
answers = [ask("r", CONTROL), ask("m", CONTROL, device), ask("a", CONTROL), ask("m", CONTROL, device), ask("r", CONTROL),
           ask("r", DATA), ask("m", DATA, device), ask("a", DATA), ask("m", DATA, device), ask("r", DATA)]
print(*answers, flush=True)
