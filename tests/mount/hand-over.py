# SPDX-License-Identifier: Apache-2.0
"""Requests to mount that no `worldfs mount` makes: hand-over.py WORLD DIRECTORY [UID]

As user UID, if given. The owner must mount nothing, look at no path, and keep no descriptor.
"""
import array
import json
import os
import socket
import sys

world, directory = sys.argv[1:3]
path = os.path.join(world, "control.sock")
count = 0


def ok(what, good, seen=None):
    if not good:
        sys.exit(f"not ok - {what}: {seen}")
    print(f"ok - {what}", flush=True)


def ask(verb, payload, fds=(), extra=b""):
    global count
    count += 1
    line = json.dumps({"v": 1, "id": str(count), "cmd": verb, "payload": payload}).encode() + b"\n"
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    client.sendmsg([line + extra], rights)
    return json.loads(answers.readline())


def refused(what, code, answer):
    ok(what, not answer["ok"] and answer["error"]["code"] == code, answer)
    return answer["error"]["message"]


def is_closed(end):
    """Has the owner, which has the only other end, closed it? Earlier questions to a keeper are skipped."""
    end.settimeout(5)
    try:
        while end.recv(1):
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return False
    return True


if len(sys.argv) > 3:
    os.setgroups([])
    os.setgid(int(sys.argv[3]))
    os.setuid(int(sys.argv[3]))
client = socket.socket(socket.AF_UNIX)
client.settimeout(30)
client.connect(path)
answers = client.makefile()
request = {"dir": directory, "ctl": "/none", "allow_other": True}

told = refused("a request without descriptors is refused", "invalid_argument", ask("mount", request))
ok("and says what it lacks", "three descriptors" in told, told)
refused("a path that is closed to the user tells nothing", "invalid_argument",
        ask("mount", {**request, "dir": "/root/no-such-directory"}))


def pair():
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


ends = [pair() for _ in range(3)]
told = refused("sockets are no mounts", "invalid_argument", ask("mount", request, [end[1].fileno() for end in ends]))
ok("the first is named", "the first descriptor" in told, told)
for here, there in ends:
    there.close()
    ok("the owner has closed it", is_closed(here))

with open("/dev/null", "r+b", buffering=0) as null:
    here, there = pair()
    refused("another device is no mount", "invalid_argument",
            ask("mount", request, [null.fileno(), null.fileno(), there.fileno()]))

ends = [pair() for _ in range(40)]
told = refused("more than three are refused", "invalid_argument", ask("mount", request, [end[1].fileno() for end in ends]))
ok("and counted", "got 40" in told, told)
for here, there in ends:
    there.close()
ok("all of them are closed", all(is_closed(here) for here, there in ends))

here, there = pair()
answer = ask("journal-head", {}, [there.fileno()])
ok("another verb does not mind a descriptor", answer["ok"] or answer["error"]["code"] == "not_authorized", answer)
there.close()
ok("and closes it", is_closed(here))

here, there = pair()
client.sendmsg([b"\n\n"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [there.fileno()]))])
there.close()
ok("so does an empty line", is_closed(here))

if os.access("/dev/fuse", os.R_OK | os.W_OK):
    devices = [os.open("/dev/fuse", os.O_RDWR) for _ in range(2)]
    here, there = pair()
    told = ask("mount", request, [*devices, there.fileno()])
    ok("/dev/fuse that is not mounted is refused", not told["ok"], told)
    for device in devices:
        os.close(device)
    there.close()
    ok("and let go", is_closed(here))
ok("the owner serves on", ask("journal-head", {}) is not None)
