# SPDX-License-Identifier: Apache-2.0
"""A client of the control socket for test-control-socket: WORLD MOUNT OTHER-MOUNT."""
import array
import base64
import hashlib
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time

world, tree, other = sys.argv[1:]
path = os.path.join(world, "control.sock")


def ok(what, good, seen=None):
    if not good:
        sys.exit(f"not ok - {what}: {seen}")
    print(f"ok - {what}")


class Client:
    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(path)
        self.input = self.socket.makefile("rb")
        self.count = 0

    def say(self, line):
        self.socket.sendall(line)

    def hear(self):
        line = self.input.readline()
        return json.loads(line) if line else None

    def call(self, cmd, payload=None, **envelope):
        self.count += 1
        request = {"v": 1, "id": str(self.count), "cmd": cmd, **envelope}
        if payload is not None:
            request["payload"] = payload
        self.say(json.dumps(request).encode() + b"\n")
        answer = self.hear()
        if answer is None or answer["id"] != request["id"]:
            sys.exit(f"not ok - {cmd} is answered by its id: {answer}")
        return answer

    def done(self, cmd, payload=None, **envelope):
        answer = self.call(cmd, payload, **envelope)
        if not answer["ok"]:
            sys.exit(f"not ok - {cmd} succeeds: {answer}")
        asked.add(cmd)
        return answer["result"]

    def refused(self, code, cmd, payload=None, **envelope):
        answer = self.call(cmd, payload, **envelope)
        error = answer.get("error", {})
        ok(f"{cmd} is refused with {code}", not answer["ok"] and error.get("code") == code
           and set(error) >= {"category", "message", "retriable"}
           and ("journal_height" in answer.get("meta", ())) == (envelope.get("as") != "bob"), answer)
        return answer


def b64(text):
    return base64.b64encode(text.encode()).decode()


def read(*names):
    with open(os.path.join(tree, *names), "rb") as file:
        return file.read()


def hash_of(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


asked = set()
client = Client()

# --- every verb ---
head = client.done("journal-head")
for i in range(20):
    seqs = client.done("send-event", {"schema": "test/Add@1", "value": {"key": f"k{i % 3}", "by": i}})["seqs"]
    ok_seq = seqs == [head["journal_height"] + i]
    if not ok_seq:
        sys.exit(f"not ok - events get the next numbers: {seqs}")
digest = client.done("put-blob", {"data_b64": b64("a blob")})["hash"]
ok("a blob is put under its hash", digest == hash_of(b"a blob"), digest)
blob = client.done("blob-get", {"hash_hex": digest})
ok("and got", base64.b64decode(blob["data_b64"]) == b"a blob", blob)
ok("its size is told", client.done("blob-stat", {"hash_hex": digest})["size"] == 6)
ok("the kernel is asked", client.done("query", {"query_type": "balances"})["balances"] == {"alice": 0, "operator": 0})
ok("noop is invoked", client.done("invoke", {"action": {"action_type": "noop"}})["ok"])
client.done("principal", {"id": "bob"})
name = client.done("grant", {"to": "bob", "cap": "sys/blob@1"})["name"]
ok("a grant has a name", name == "bob.blob.1", name)
ok("bob may read blobs", client.done("blob-get", {"hash_hex": digest}, **{"as": "bob"}) is not None)
ok("a grant is taken back", client.done("revoke", {"name": name})["removed"] == 1)
client.refused("not_authorized", "blob-get", {"hash_hex": digest}, **{"as": "bob"})
client.refused("invalid_argument", "mount", {"dir": other, "ctl": "/none", "as": "alice"})
subprocess.run([os.environ["WORLDFS"], "-w", world, "mount", other, "--as", "alice"], check=True)
asked.add("mount")
ok("a mount is made", os.listdir(os.path.join(other, "reducers")) == ["counter"], os.listdir(other))
ok("and seen in status", client.done("status")["mount_count"] == 2)
client.done("umount", {"dir": other})
ok("metrics are text", "worldfs_reads_refused_total" in client.done("metrics")["text"])
client.refused("not_enabled", "replicas")  # the world is on this host alone
client.refused("not_enabled", "handover")
asked |= {"replicas", "handover"}  # these succeed in test-replicated
manifest = client.done("manifest-read")
policy = {"$kind": "defpolicy", "name": "test/ask@1", "rules": [
    {"when": {"effect": "action.write_artifact", "principal": "robot"}, "decision": "ask"},
    {"when": {}, "decision": "allow"}]}
changed = manifest["manifest"] | {"name": "renamed", "policy": policy["name"],
                                  "policies": manifest["manifest"]["policies"] + [policy]}
base = {"manifest": changed, "base_manifest_hash": manifest["manifest_hash"]}
client.done("apply", base | {"dry_run": True})
client.done("apply", base)
ok("another manifest is in force", json.loads(read("manifest"))["name"] == "renamed")
client.refused("conflict", "apply", base | {"manifest": manifest["manifest"]})
snapshot = client.done("snapshot")
page = client.done("journal-read", {"from": snapshot["seqs"][0]})
ok("the journal has the snapshot", page["records"][0]["body"]["snapshot_hash"] == snapshot["snapshot_hash"], page)

# --- a turn of an agent ---
call = {"id": "c", "name": "write_artifact", "arguments": '{"artifact_id":"made","content":"by robot"}'}
with open(f"{world}/robot.jsonl", "w", encoding="utf-8") as file:
    file.write(json.dumps({"tool_calls": [call]}) + "\n" + json.dumps({"content": "done"}) + "\n")
client.done("invoke", {"action": {"action_type": "write_artifact", "artifact_id": "robot", "type": "agent",
                                  "content": {"model": "script", "tools": ["write_artifact"]}}})
for cap in ("llm", "act"):
    client.done("grant", {"to": "robot", "cap": f"sys/{cap}@1"})


def begin():
    """Return: the id of a turn whose call waits for an approval."""
    turn = client.done("step", {"agent": "robot", "wait": False})["turn_id"]
    for _ in range(500):
        state = client.done("query-state", {"reducer": "sys.tool_call", "key_b64": b64(f"{turn}.1.0")})
        if "asked" in base64.b64decode(state.get("state_b64", "")).decode():
            return turn
        time.sleep(0.02)
    sys.exit("not ok - a call waits for its approval")


def ended(turn):
    """Return: the reason why the turn has ended."""
    for _ in range(500):
        state = client.done("query-state", {"reducer": "sys.turn", "key_b64": b64(turn)})
        document = json.loads(base64.b64decode(state["state_b64"]))
        if document["status"] == "ended":
            return document["reason"]
        time.sleep(0.02)
    return "(it does not end)"


run = begin()
client.done("approve", {"turn_id": run, "call_id": "c", "decision": "allow"})
ok("a run goes on when its call is approved", ended(run) == "no_tool_calls")
ok("and has done it", read("artifacts", "made", "content") == b"by robot")
ok("and is in the list of runs", client.done("turns")["turns"][0]["turn_id"] == run)
again = client.done("step-again", {"turn_id": run})
ok("its model is asked again what it was asked", again["agent"] == "robot" and again["model"], again)
run = begin()
client.done("cancel", {"turn_id": run})
ok("a run is cancelled", ended(run) == "cancelled")
client.refused("conflict", "approve", {"turn_id": run, "call_id": "c", "decision": "allow"})
client.refused("not_found", "step", {"agent": "nobody"})
client.refused("conflict", "wake", {"turn_id": run})
asked.add("wake")  # succeeds in test-wait-until
ok("no timer is there", client.done("timers")["timers"] == [])
ok("no intent is open", client.done("intents")["intents"] == [])
client.refused("not_found", "intent-resolve", {"intent_id": "sha256:" + 64 * "0", "outcome": "done"})
asked.add("intent-resolve")  # succeeds after a call whose answer was lost: tests/fault/kill-outside

ok("no outside tool is there", client.done("tools")["tools"] == [])
client.refused("not_found", "tool", {"name": "git.log"})
asked.add("tool")  # succeeds in test-outside-tools

# --- chats and plans: the world has no model `default`, so plans come from blobs ---
steps = b'{"steps":[{"id":"a","type":"tool","tool":{"name":"noop"}}]}'
blob = client.done("put-blob", {"data_b64": b64(steps.decode())})["hash"]
response = client.done("plan-import", {"blob": blob, "session_id": "s"})
plan_id = response["checkpoint"]["plan_id"]
ok("a plan is imported", response["checkpoint"]["status"] == "cancelled", response)
ok("where it is said to be", len(read("plans", f"{plan_id}.json")) == response["checkpoint"]["bytes"] and
   response["checkpoint"]["path"] == os.path.join(os.path.realpath(tree), "plans", f"{plan_id}.json"), response)
refused = client.refused("effect_refused", "plan-resume", {"plan_id": plan_id})
ok("its steps are run", refused["error"]["details"]["tool_calls_count"] == 1, refused)
ok("and only the answer is missing", refused["error"]["details"]["error"] == "LLM_FAILED", refused)
ok("it is in the list of plans", client.done("plans")["plans"][0]["plan_id"] == plan_id)
status = client.done("plan-status", {"session_id": "s"})
ok("and what the session is about", status["plan"]["done"] == 1, status)
client.done("plan-cancel", {"plan_id": plan_id})
ok("it is stopped", client.done("plan-status", {"plan_id": plan_id})["status"] == "cancelled")
client.refused("effect_refused", "chat", {"message": "m"})
client.refused("invalid_argument", "chat", {"message": " "})
with open(f"{world}/host.json", encoding="utf-8") as file:
    host = json.load(file)
host["models"]["default"] = {"provider": "script", "file": "chat.jsonl"}
with open(f"{world}/chat.jsonl", "w", encoding="utf-8") as file:
    file.write('{"content":"so it is"}\n{"content":"all was done"}\n')
with open(f"{world}/host.json", "w", encoding="utf-8") as file:
    json.dump(host, file)
client.refused("not_authorized", "chat", {"message": "m"})
subprocess.run([os.environ["WORLDFS"], "-w", world, "trust", "--yes"], check=True, capture_output=True)
ok("with a model it goes on", client.done("plan-resume", {"plan_id": plan_id})["final"] == "all was done")
ok("and a chat has an answer", client.done("chat", {"message": "m"})["final"] == "so it is")

# --- every height, against the mount ---
height = client.done("journal-head")["journal_height"]
for h in range(1, height + 1):
    at = f"exact:{h}"
    manifest = client.done("manifest-read", {"consistency": at})
    same = manifest["meta"]["journal_height"] == h and manifest["manifest_hash"] == hash_of(read("at", str(h), "manifest"))
    cells = client.done("list-cells", {"reducer": "counter", "consistency": at})["cells"]
    keys = {base64.b64decode(cell["key_b64"]).decode() for cell in cells}
    same &= keys == set(os.listdir(os.path.join(tree, "at", str(h), "reducers", "counter")))
    for key in keys:
        state = client.done("query-state", {"reducer": "counter", "key_b64": b64(key), "consistency": at})
        same &= base64.b64decode(state["state_b64"]) == read("at", str(h), "reducers", "counter", key)
    entries = client.done("fs-list", {"path": "reducers/counter", "at": at})["entries"]
    same &= {entry["name"] for entry in entries} == keys
    if not same:
        sys.exit(f"not ok - height {h} is as in the mount")
print(f"ok - {height} heights are as in the mount")
state = client.done("fs-read", {"path": "reducers/counter/k1"})
ok("a file has the mount's bytes", base64.b64decode(state["data_b64"]) == read("reducers", "counter", "k1"))
ok("and its size", client.done("fs-stat", {"path": "reducers/counter/k1"})["size"] == state["size"])
client.refused("height_unavailable", "query-state", {"reducer": "counter", "consistency": f"exact:{height + 100}"})
client.refused("height_unavailable", "list-cells", {"reducer": "counter", "consistency": f"at_least:{height + 100}"})
# Urgent requests, and requests in the name of others, do not overtake earlier requests of their connection.
lines = []
for number in range(200):
    grant = {"to": "alice", "cap": "sys/blob@1", "name": f"hasty.{number}"}
    for cmd, payload, envelope in (("grant", grant, {}), ("revoke", {"name": grant["name"]}, {}),
                                   ("invoke", {"action": {"action_type": "noop"}}, {"as": "alice"})):
        lines.append(json.dumps({"v": 1, "id": str(len(lines)), "cmd": cmd, "payload": payload, **envelope}))
client.say("\n".join(lines).encode() + b"\n")
answers = {}
for _ in lines:
    answer = client.hear()
    answers[int(answer["id"])] = answer
ok("what one connection asks is done in order", all(answers[i]["ok"] for i in range(len(lines)) if i % 3 < 2),
   [answer for answer in answers.values() if not answer["ok"]][:2])
client.done("gc", {"keep_heights": 5})
ok("no code has crashed", client.done("code", {})["codes"] == [])
client.refused("not_found", "code", {"lift": "0" * 64})
client.refused("height_unavailable", "manifest-read", {"consistency": "exact:1"})

# --- errors ---
client.refused("invalid_consistency", "manifest-read", {"consistency": "exact"})
client.refused("reducer_missing", "query-state", {"reducer": "none"})
client.refused("invalid_argument", "query-state", {"reducer": "counter", "key_b64": "Zm9"})
client.refused("invalid_argument", "put-blob", {"data_b64": "Zm9v\n"})
client.refused("missing_argument", "query-state", {})
client.refused("invalid_argument", "journal-head", {"x": 1})
client.refused("not_found", "blob-get", {"hash_hex": "0" * 64})
client.refused("not_found", "revoke", {"name": "none"})
client.refused("not_found", "grant", {"to": "nobody", "cap": "sys/query@1"})
client.refused("invalid_argument", "grant", {"to": "bob", "cap": "sys/query@1", "params": {"scope": 7}})
client.refused("already_exists", "principal", {"id": "bob"})
client.refused("not_found", "journal-head", **{"as": "nobody"})
client.refused("unknown_method", "dance")
client.refused("invalid_request", "journal-head", v=2)
client.say(b"no json\n")
answer = client.hear()
ok("what is no JSON has no id", answer["id"] == "" and answer["error"]["code"] == "invalid_json", answer)
ok("and the connection goes on", client.call("journal-head")["ok"])
large = Client()
try:
    large.say(b'{"v":1,"id":"x","cmd":"' + b"a" * (17 << 20))
except BrokenPipeError:
    pass  # the owner does not read it to its end
answer = large.hear()
ok("a line of more than 16 MiB is too large", answer["error"]["code"] == "too_large", answer)
try:
    ok("and the connection ends", large.hear() is None)
except ConnectionResetError:
    ok("and the connection ends", True)

SO_PASSRIGHTS = 83  # include/uapi/asm-generic/socket.h


# --- which user is which principal: only root can become another user ---
def as_user(uid, act):
    """Runs a check in a process of another user; the child's exit status is its result."""
    child = os.fork()
    if child == 0:
        os.setgid(uid)
        os.setuid(uid)
        os._exit(0 if act() else 1)
    return os.waitpid(child, 0)[1] == 0


if os.geteuid() == 0:
    def alice():
        mine = Client()
        return (mine.call("list-cells", {"reducer": "counter"})["ok"]
                and mine.call("send-event", {"schema": "test/Add@1", "value": {"key": "x", "by": 1}})
                ["error"]["code"] == "not_authorized"
                and mine.call("journal-head", **{"as": "operator"})["error"]["code"] == "not_authorized")

    ok("another user is who host.json says", as_user(65534, alice))
    ok("one whom it does not name is nobody",
       as_user(65532, lambda: Client().hear()["error"]["code"] == "not_authorized"))
    ok("nor is one whose principal is not there",
       as_user(65533, lambda: Client().hear()["error"]["code"] == "not_found"))
    print("# as root: other users were tried")

    # An owner that took a descriptor would have to close it, and closing some waits as long as another user
    # likes.
    def cannot_send_a_descriptor():
        mine = Client()
        try:
            mine.socket.sendmsg([b"x\n"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [mine.socket.fileno()]))])
        except (PermissionError, BrokenPipeError):
            return True
        return False

    def refuses_descriptors():
        try:
            return bool(socket.socket(socket.AF_UNIX).getsockopt(socket.SOL_SOCKET, SO_PASSRIGHTS))
        except OSError:
            return False

    if refuses_descriptors():
        ok("a user who may not mount cannot send a descriptor", as_user(65534, cannot_send_a_descriptor))
        ok("nor can one who is nobody", as_user(65532, cannot_send_a_descriptor))
        ok("the owner serves on", Client().call("journal-head")["ok"])
    else:
        print("# skipped: Linux before 6.16 does not refuse descriptors")

# --- many clients at once, and one that never reads ---
deaf = Client()
for i in range(2000):
    try:
        deaf.socket.settimeout(0.2)
        deaf.say(json.dumps({"v": 1, "id": str(i), "cmd": "manifest-read"}).encode() + b"\n")
    except TimeoutError:
        break
wrong = []


def work(number):
    mine = Client()
    for i in range(20):
        key = f"c{number}"
        if not mine.call("send-event", {"schema": "test/Add@1", "value": {"key": key, "by": 1}})["ok"]:
            wrong.append((number, i))
        state = mine.call("query-state", {"reducer": "counter", "key_b64": b64(key)})
        if json.loads(base64.b64decode(state["result"]["state_b64"]))["n"] != i + 1:
            wrong.append((number, i, state))


threads = [threading.Thread(target=work, args=(n,)) for n in range(64)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
ok("64 connections at once, beside one that never reads", not wrong, wrong[:3])

# --- the end ---
verbs = set(client.call("dance")["error"]["message"].split("there are:")[1].rstrip(")").split())
with open(os.path.join(os.environ["SOURCE_ROOT"], "docs", "man", "worldfs-control.5"), encoding="utf-8") as page:
    chapters = page.read().split("\n.Sh VERBS\n")[1].split("\n.Sh ")[0].split("\n.Ss ")[1:]
manual = {}
for chapter in chapters:
    payload = re.search(r"\nPayload:\n(.*?)\n\.Pp\nAnswer:", chapter, re.S)
    members = re.findall(r"^\.It Li (\w+) Pq .*?( , optional)?$", payload[1] if payload else "", re.M)
    manual[chapter.split("\n")[0]] = " ".join(name + ("?" if optional else "") for name, optional in members)
takes = {verb: client.call(verb, {"nosuch": 1})["error"]["message"] for verb in sorted(verbs)}
differ = [(verb, told) for verb, told in takes.items() if not told.endswith(f"takes: {manual.get(verb) or 'none'})")]
ok("worldfs-control(5) has the verbs and their payloads", not differ, differ)
client.done("shutdown")
ok(f"all of the {len(verbs)} verbs were asked", verbs == asked, verbs ^ asked)
