# SPDX-License-Identifier: Apache-2.0
"""What a principal that does its worst takes from others, for test-fair: WORLD PID-OF-ITS-OWNER."""
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

from client import Client, code_of, ok

world, owner = sys.argv[1:]
slowdown = int(os.environ.get("SLOWDOWN", "1"))
SLOW = """function run() local a = string.rep('x', 30 * 1024 * 1024) local b = a .. ''
local n = 0 while true do if a < b then n = n + 1 end end end"""
NESTED = "function run() for i = 1, 1000 do invoke('wide', 1) end end"
WIDE = "function run(few) return few and 1 or string.rep('x', 1000000) end"


def connect():
    return Client(world, 60 * slowdown)


def as_mallory(do, uid=65534):
    """Runs @do as another user. Return: its process, the means to end it, and its result."""
    begun, told = os.pipe()
    held, release = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(release)
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
        kept = do()
        os.write(told, json.dumps(kept[0]).encode())
        os.close(told)
        os.read(held, 1)
        os._exit(0)
    os.close(told)
    os.close(held)
    answer = b""
    while part := os.read(begun, 65536):
        answer += part
    os.close(begun)
    return pid, release, json.loads(answer or "null")


def end(pid, release):
    os.close(release)
    os.waitpid(pid, 0)


def invoke(artifact, args=None):
    action = {"action_type": "invoke_artifact", "artifact_id": artifact}
    if args is not None:
        action["args"] = args
    return {"action": action}


def take_connections():
    codes = []
    messages = set()
    kept = []
    for _ in range(300):
        client = connect()
        kept.append(client)
        try:
            answer = client.call("status")
            codes.append(code_of(answer))
            messages.add((answer or {}).get("error", {}).get("message"))
        except OSError:
            codes.append("closed")
    return {"taken": sum(code not in ("overloaded", "closed") for code in codes), "messages": [*(messages - {None})]}, kept


def connected():
    """A client, after the connections of the user's earlier process are closed."""
    while True:
        client = connect()
        try:
            if code_of(client.call("status")) != "overloaded":
                return client
        except OSError:
            pass


def still_runs(client):
    """Is there no answer after half a second?"""
    client.socket.settimeout(0.5)
    try:
        return client.hear() is None
    except TimeoutError:
        return True


def stall():
    client = connected()
    for _ in range(6):
        client.say("invoke", invoke("slow"))
    runs = still_runs(client)
    client.socket.close()
    return runs, None


def long_requests():
    clients = [connected() for _ in range(40)]
    slow = connected()
    slow.say("invoke", invoke("slow"))
    line = json.dumps({"v": 1, "id": "1", "cmd": "invoke", "payload": invoke("slow", [0] * 1000000)})
    runs = still_runs(slow)

    def send(client):
        try:
            client.socket.sendall(line.encode() + b"\n")
        except OSError:
            pass  # the request was refused already

    senders = [threading.Thread(target=send, args=(client,), daemon=True) for client in clients]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join(20)
    return runs, (clients, slow)


def take_turns():
    """Asks for something that keeps the thread of the socket busy for many seconds, and reads no answer."""
    clients = [connected() for _ in range(64)]
    line = json.dumps({"v": 1, "id": "1", "cmd": "fs-list", "payload": {"path": "principals"}}).encode() + b"\n"
    for client in clients:
        client.socket.settimeout(0)
        try:
            client.socket.send(line * 1000)
        except BlockingIOError:
            pass
    return len(clients), clients


def leave_answers():
    """Has code give a thousand answers of a megabyte each, and reads none."""
    clients = [connected() for _ in range(8)]
    line = json.dumps({"v": 1, "id": "1", "cmd": "invoke", "payload": invoke("wide")}).encode() + b"\n"
    for client in clients:
        client.socket.sendall(line * 125)
    return None, clients


def ask_for_counts():
    """Asks again and again for something that takes long to count, and reads no answer. Return: seconds that one
    answer takes"""
    client = connected()
    payload = {"query_type": "invocations", "params": {"limit": 1}}
    begin = time.monotonic()
    answer = client.call("query", payload)
    seconds = time.monotonic() - begin
    clients = [connected() for _ in range(16)]
    line = json.dumps({"v": 1, "id": "1", "cmd": "query", "payload": payload}).encode() + b"\n"
    for one in clients:
        one.socket.sendall(line * 20)
    return [answer["result"]["stats"]["total"], seconds], clients


def ask_once():
    client = connected()
    begin = time.monotonic()
    client.call("query", {"query_type": "principal", "params": {"principal_id": "mallory"}})
    return time.monotonic() - begin, client


def have_checked():
    """Invokes code that makes a thousand long checks of arguments."""
    definitions = {str(i): {"allOf": [{"$ref": f"#/$defs/{i + 1}"}] * 2} for i in range(50)}
    interface = {"methods": [{"name": "run", "input": {"$ref": "#/$defs/0", "$defs": {**definitions, "50": True}}}]}
    client = connected()
    written = [client.call("invoke", {"action": {"action_type": "write_artifact", **artifact}})["ok"] for artifact in (
        {"artifact_id": "checked", "code": "function run() end", "interface": interface},
        {"artifact_id": "checks", "code": "function run() for i = 1, 1000 do invoke('checked', 1) end end"})]
    client.say("invoke", invoke("checks"))
    return all(written), client


def times(seconds):
    """Times requests that are answered at once, on new connections and on one that is kept."""
    kept = connect()
    taken = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for client in (kept, connect()):
            begin = time.monotonic()
            client.call("status")
            taken.append(time.monotonic() - begin)
    return sorted(taken)


def slowest(seconds):
    return times(seconds)[-1]


def resident_mib():
    with open(f"/proc/{owner}/status", encoding="ascii") as status:
        return [int(line.split()[1]) // 1024 for line in status if line.startswith("VmRSS")][0]


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            return stat.read().rpartition(") ")[2][:1] != "Z"
    except FileNotFoundError:
        return False


def run(*arguments):
    begin = time.monotonic()
    done = subprocess.run([os.environ["WORLDFS"], "-w", world, *arguments], capture_output=True, text=True,
                          timeout=90 * slowdown, check=False)
    return done.returncode, time.monotonic() - begin


operator = connect()
answer = operator.call("invoke", {"action": {"action_type": "write_artifact", "artifact_id": "slow", "code": SLOW}})
ok("code that takes seconds is there", answer["ok"], answer["ok"])

pid, release, told = as_mallory(take_connections)
ok("a user has 64 connections", told["taken"] == 64, told)
status, seconds = run("head")
ok("the owner still gets one", status == 0, seconds)
end(pid, release)

others = [as_mallory(take_connections, uid) for uid in (65534, 65533, 65532)]
pid, release, told = as_mallory(take_connections, 65531)
ok("three users leave connections for a fourth one", told["taken"] >= 8, told)
figures = {figure for message in told["messages"] for figure in re.findall("[0-9]+", message)}
ok("which is not told how many they have", figures == {str(told["taken"]), "65531"}, told["messages"])
for other in [(pid, release), *(other[:2] for other in reversed(others))]:  # each of them ends the ones before
    end(*other)

pid, release, told = as_mallory(take_turns)
seconds = slowest(3)
ok("requests of others do not wait for those of one user", seconds < 1 * slowdown, seconds)
end(pid, release)

answer = operator.call("invoke", {"action": {"action_type": "write_artifact", "artifact_id": "wide", "code": WIDE}})
ok("code that answers much is there", answer["ok"], answer["ok"])
before = resident_mib()
pid, release, told = as_mallory(leave_answers)
most = 0
while operator.call("status")["result"]["queue"]["count"] > 0:
    most = max(most, resident_mib())
    time.sleep(0.1)
most = max(most, resident_mib())  # also if all were answered before the first look
ok("a thousand answers that are not read take less than 200 MiB", most - before < 200 * slowdown, most - before)
end(pid, release)

pid, release, runs = as_mallory(stall)
ok("the code runs", runs, runs)
begin = time.monotonic()
answer = operator.call("revoke", {"name": "victim.query.1"})
seconds = time.monotonic() - begin
ok("a grant is revoked while code runs that takes seconds", answer["ok"] and seconds < 1 * slowdown, seconds)
status, seconds = run("event", "test/Add@1", "{\"key\":\"a\",\"by\":1}")
ok("an event does not wait for requests of a client that is gone", seconds < 20 * slowdown, seconds)
end(pid, release)

operator.call("invoke", {"action": {"action_type": "write_artifact", "artifact_id": "nested", "code": NESTED}})
made = sum(operator.call("invoke", invoke("nested"))["ok"] for _ in range(20))
ok("there are many invocations", made == 20, made)
pid, release, (total, one) = as_mallory(ask_for_counts, 65533)
ok("which take long to count", total > 20000, (total, one))
taken = times(3)
ok("requests of others do not wait for queries", taken[-1] < 1 * slowdown, taken[-1])
ok("not even for one", taken[len(taken) // 2] < one / 3, taken[len(taken) // 2])
other, release_other, seconds = as_mallory(ask_once)
ok("a query of a third user waits for few of them", seconds < 8 * one, seconds)
end(other, release_other)
end(pid, release)

pid, release, written = as_mallory(have_checked)
ok("code that has much checked is there", written, written)
status, seconds = run("event", "test/Add@1", "{\"key\":\"a\",\"by\":1}")
ok("an event does not wait for all that code has checked", status == 0 and seconds < 20 * slowdown, seconds)
end(pid, release)

pid, release, runs = as_mallory(long_requests)
ok("the code runs while the next requests are sent", runs, runs)
most = 0
for _ in range(20):
    most = max(most, resident_mib())
    time.sleep(0.1)
# A sanitizer keeps some bytes of its own for each byte.
ok("40 requests of a million values each take less than 512 MiB", most < 512 * slowdown, most)
end(pid, release)

pid, release, runs = as_mallory(stall)
ok("the code runs when the owner is ended", runs, runs)
begin = time.monotonic()
os.kill(int(owner), signal.SIGTERM)
while is_alive(owner) and time.monotonic() - begin < 60 * slowdown:
    time.sleep(0.05)
seconds = time.monotonic() - begin
ok("the owner ends while code runs that takes seconds", seconds < 8 * slowdown, seconds)
end(pid, release)
