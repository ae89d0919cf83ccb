# SPDX-License-Identifier: Apache-2.0
"""Makes mounts whose keepers stop answering, then sends SIGTERM: silent-keepers.py WORLD DIRECTORY PID-OF-ITS-OWNER

The owner must not wait for each of them in turn.
"""
import array
import ctypes
import json
import os
import select
import signal
import socket
import struct
import sys
import threading
import time

MESSAGE = "<IBBHQ"  # number, what, part, unused, device; the answer has the number and the result
MS_NOSUID, MS_NODEV, MNT_DETACH = 2, 4, 2
COUNT = 3
MOST_S = 12  # one keeper has 5 s, and each of them is asked twice

world, directory, pid = sys.argv[1:]
slowdown = int(os.environ.get("SLOWDOWN", "1"))
libc = ctypes.CDLL(None, use_errno=True)


def ok(what, good, seen=None):
    if not good:
        sys.exit(f"not ok - {what}: {seen}")
    print(f"ok - {what}", flush=True)


def mount(path):
    os.mkdir(path)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
    if libc.mount(b"silent", path.encode(), b"fuse.worldfs", MS_NOSUID | MS_NODEV, options) < 0:
        sys.exit(f"not ok - mount {path}: {os.strerror(ctypes.get_errno())}")
    return device


def keep(end):
    """Answers that the mount is taken over, and then answers nothing more."""
    while message := end.recv(64):
        number, what = struct.unpack(MESSAGE, message)[:2]
        if what == ord("t"):
            end.send(struct.pack("<Ii", number, 0))


def hand_over(client, answers, paths):
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    threading.Thread(target=keep, args=(here,), daemon=True).start()
    devices = [mount(path) for path in paths]
    request = {"v": 1, "id": "1", "cmd": "mount", "payload": {"dir": paths[0], "ctl": paths[1]}}
    rights = array.array("i", [*devices, there.fileno()])
    client.sendmsg([json.dumps(request).encode() + b"\n"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
    answer = json.loads(answers.readline())
    ok("a mount is handed over with a keeper of ours", answer["ok"], answer)
    for device in devices:
        os.close(device)
    there.close()


def main():
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(30 * slowdown)
    client.connect(os.path.join(world, "control.sock"))
    answers = client.makefile()
    client.sendall(b'{"v":1,"id":"0","cmd":"journal-head","payload":{}}\n')
    answers.readline()  # now the owner knows the user, and accepts descriptors from it
    paths = [[os.path.join(directory, f"{part}{i}") for part in ("data", "ctl")] for i in range(COUNT)]
    try:
        for pair in paths:
            hand_over(client, answers, pair)
        owner = os.pidfd_open(int(pid))
        begin = time.monotonic()
        signal.pidfd_send_signal(owner, signal.SIGTERM)
        ended = select.select([owner], [], [], 60 * slowdown)[0]
        seconds = time.monotonic() - begin
        ok("an owner ends soon although its keepers do not answer", ended and seconds < MOST_S * slowdown, seconds)
    finally:
        for path in sum(paths, []):
            libc.umount2(path.encode(), MNT_DETACH)


main()
