# SPDX-License-Identifier: Apache-2.0
"""For test-rights: `source DIR` writes a world, `ask WORLD MOUNT-OF-BOB` sends requests as several principals."""
import base64
import json
import os
import re
import socket
import subprocess
import sys
import time


def grant(cap, **params):
    return {"cap": f"sys/{cap}@1", "params": params}


def agent(name, content, **more):
    return {"id": name, "type": "agent", "created_by": "operator", "content": {"model": "script"} | content} | more


SPY = [grant("query", scope=["artifacts/spy*"]), grant("act", artifacts=["spy*"])]
ALL = [grant("query"), grant("act")]
WORLD = {
    "name": "rights",
    "principals": [
        {"id": "ada", "grants": ALL},
        {"id": "bob", "scrip": 100, "grants": ALL + [grant("drive"), grant("llm"), grant("blob")]},
        {"id": "carl", "grants": [grant("query"), grant("drive", agents=["open*"])]},
        {"id": "dan", "grants": [grant("query"), grant("drive", plans="all", approve=True)]},
        {"id": "deaf", "grants": [grant("drive", plans="all")]},
        {"id": "eve", "grants": SPY + [grant("drive"), grant("llm"), grant("blob")]},
        {"id": "spy1", "grants": SPY + [grant("llm")]},
        {"id": "spy2", "grants": SPY + [grant("llm")]},
        {"id": "spy3", "grants": SPY + [grant("llm")]},
        {"id": "spy4", "grants": SPY + [grant("llm")]},
        {"id": "spy5", "scrip": 50, "grants": SPY + [grant("llm"), grant("drive")]},
        {"id": "robot", "grants": ALL + [grant("llm"), grant("drive", approve=True)]},
        {"id": "puppet", "grants": [grant("query")]},
        {"id": "boss", "grants": [grant("admin")]},
        {"id": "mute", "grants": [grant("act", actions=["noop"])]},
        {"id": "open1", "grants": ALL + [grant("llm")]},
        {"id": "priced", "grants": ALL + [grant("llm")]},
        {"id": "dear", "grants": ALL + [grant("llm")]},
        {"id": "closed", "grants": ALL + [grant("llm")]},
        {"id": "clumsy", "grants": ALL + [grant("llm")]},
    ],
    "artifacts": [
        {"id": "hidden", "created_by": "ada", "access": "public", "executable": True,
         "interface": {"description": "vanadium", "methods": [{"name": "run"}]},
         "code": "function run() return 'vanadium' end"},
        {"id": "open_tool", "created_by": "ada", "executable": True, "code": "function run(x) return x end"},
        agent("clumsy", {"tools": ["open_tool"], "prompt": "clumsy"}),
        agent("spy1", {"tools": ["hidden"]}),
        agent("spy2", {"tools": ["nosuch"]}),
        agent("spy3", {"tools": ["query_kernel"], "prompt": "query"}),
        agent("spy4", {"tools": ["query", "invoke"], "prompt": "helpers"}),
        agent("spy5", {"tools": ["step"], "prompt": "conduct"}),
        agent("robot", {"tools": ["write_artifact"], "prompt": "write"}),
        agent("open1", {}),
        agent("priced", {}, policy={"invoke_price": 30}),
        agent("dear", {}, policy={"invoke_price": 1000}),
        agent("closed", {}, access="private"),
    ],
    "policies": [{"$kind": "defpolicy", "name": "test/ask@1", "rules": [
        {"when": {"effect": "action.write_artifact", "principal": "robot"}, "decision": "ask"},
        {"when": {"effect": "agent.step", "principal": "spy5", "artifact": "open1"}, "decision": "ask"},
        {"when": {"effect": "agent.step", "principal": "boss", "artifact": "open1"}, "decision": "allow"},
        {"when": {"effect": "agent.step", "principal": "boss"}, "decision": "deny"},
        {"when": {}, "decision": "allow"}]}],
    "policy": "test/ask@1",
}
SCRIPT = [
    {"match": "query", "turn": 1, "tool_calls": [
        {"id": "q", "name": "query_kernel", "arguments": '{"query_type":"artifacts","params":{}}'}]},
    {"match": "helpers", "turn": 1, "tool_calls": [
        {"id": "q", "name": "query", "arguments": '{"query_type":"artifacts","params":{"owner":null}}'},
        {"id": "w", "name": "invoke", "arguments":
         '{"action":{"action_type":"write_artifact","artifact_id":"spy_note","content":"by spy4","code":null}}'},
        {"id": "r", "name": "invoke", "arguments": '{"action":{"action_type":"write_artifact","artifact_id":"other"}}'},
        {"id": "n", "name": "query", "arguments": '{"query_type":"artefacts"}'}]},
    {"match": "conduct", "turn": 1, "tool_calls": [
        {"id": name, "name": "step", "arguments": json.dumps({"agent": name, "message": "Take it"})}
        for name in ("closed", "absent", "dear", "priced", "open1")]},
    {"match": "write", "turn": 1, "tool_calls": [
        {"id": "c", "name": "write_artifact", "arguments": '{"artifact_id":"made","content":"by robot"}'}]},
    {"match": "clumsy", "turn": 1, "tool_calls": [{"id": "o", "name": "open_tool", "arguments": '{"x":1}'}]},
    {"match": "titanium", "content": "titanium is done"},
    {"match": "Take", "content": "done"},
    {"turn": 2, "content": "done"},
]


def write_source(directory):
    with open(f"{directory}/world.json", "w", encoding="utf-8") as file:
        json.dump(WORLD, file)
    with open(f"{directory}/script.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in SCRIPT)
    with open(f"{directory}/host.json", "w", encoding="utf-8") as file:
        script = {"provider": "script", "file": "script.jsonl"}
        json.dump({"models": {"default": script, "script": script}}, file)


def ok(what, good, seen=None):
    if not good:
        sys.exit(f"not ok - {what}: {seen}")
    print(f"ok - {what}")


class Client:
    """The operator's connection, which acts in the names of others."""

    def __init__(self, world):
        self.world = world
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(f"{world}/control.sock")
        self.input = self.socket.makefile("rb")

    def call(self, who, cmd, **payload):
        request = {"v": 1, "id": "1", "cmd": cmd, "as": who, "payload": payload}
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        return json.loads(self.input.readline())

    def many(self, count, who, cmd, *, good=True, **payload):
        """Sends a request so many times at once, so that a few commits record them all."""
        request = {"v": 1, "id": "1", "cmd": cmd, "as": who, "payload": payload}
        self.socket.sendall((json.dumps(request) + "\n").encode() * count)
        for _ in range(count):
            answer = json.loads(self.input.readline())
            if answer["ok"] != good:
                sys.exit(f"not ok - {who} asks for {cmd} {count} times: {answer}")

    def done(self, who, cmd, **payload):
        answer = self.call(who, cmd, **payload)
        if not answer["ok"]:
            sys.exit(f"not ok - {who} may {cmd}: {answer}")
        return answer["result"]

    def error(self, who, cmd, **payload):
        answer = self.call(who, cmd, **payload)
        if answer["ok"]:
            sys.exit(f"not ok - {who} may not {cmd}: {answer}")
        return answer["error"]["code"], answer["error"]["message"]

    def refused(self, what, code, who, cmd, **payload):
        error = self.error(who, cmd, **payload)
        ok(what, error[0] == code, error)

    def alike(self, what, who, cmd, member, here, nowhere):
        """Checks that the answers about an existing and a missing thing are equal except for the name."""
        seen = [[text.replace(name, "X") for text in self.error(who, cmd, **{member: name})]
                for name in (here, nowhere)]
        ok(what, seen[0] == seen[1], seen)

    def scrip(self, who):
        return self.done("operator", "query", query_type="balances")["balances"][who]

    def records(self, pattern):
        done = subprocess.run([os.environ["WORLDFS"], "-w", self.world, "journal"], capture_output=True, text=True,
                              check=True)
        return [line for line in done.stdout.splitlines() if re.search(pattern, line)]

    def begin(self, agent="robot"):
        """Return: a turn that bob began, in which a call waits."""
        turn = self.done("bob", "step", agent=agent, wait=False)["turn_id"]
        for _ in range(1000):
            if self.records(f'"action_type":"ask".*"run_id":"{turn}"'):
                return turn
            time.sleep(0.02)
        return sys.exit("not ok - a call waits")


def results_of(client, who, *calls):
    """Return: the results of a plan's steps that call these tools, [name, args]."""
    steps = [{"id": f"s{i}", "type": "tool", "tool": {"name": name, "args": args}} for i, (name, args) in enumerate(calls)]
    blob = put(client, json.dumps({"steps": steps}))
    plan_id = client.done(who, "plan-import", blob=blob, session_id="s")["checkpoint"]["plan_id"]
    answer = client.call(who, "plan-resume", plan_id=plan_id)
    results = answer["result" if answer["ok"] else "error"]
    return (results.get("details") or results)["tool_results"]


def tools(client):
    seen = [client.error("eve", "step", agent=name)[1].replace(tool, "X")
            for name, tool in (("spy1", "hidden"), ("spy2", "nosuch"))]
    ok("an agent's tool that its grants hide is like one that is not there", seen[0] == seen[1], seen)
    outcomes = [json.dumps(results_of(client, "eve", [tool, {}])).replace(tool, "X") for tool in ("hidden", "nosuch")]
    ok("a plan's step is told the same", outcomes[0] == outcomes[1] and "UNKNOWN_TOOL" in outcomes[0], outcomes)
    client.alike("an artifact of another type that is not seen is like none", "eve", "step", "agent", "hidden", "absent")
    run = client.done("eve", "step", agent="spy3")
    told = json.dumps(run["history"])
    ok("a tool that queries tells what the agent sees", "spy3" in told and "priced" not in told, told)
    ok("and the journal has no more of it", not client.records('"kind":"action".*query_kernel.*priced'))
    told = [message["content"] for message in client.done("eve", "step", agent="spy4")["history"]
            if message["role"] == "tool"]
    ok("the functions query and invoke are tools, judged as the agent", "spy4" in told[0] and "priced" not in told[0] and
       client.done("operator", "query", query_type="artifact", params={"artifact_id": "spy_note"})["result"]["owner"] ==
       "spy4", told)
    ok("which refuse what is refused to the agent", "no grant" in told[2] and client.error(
        "operator", "query", query_type="artifact", params={"artifact_id": "other"})[0] == "not_found", told)
    ok("and what is no query, with the one that is near", "Did you mean 'artifacts'?" in told[3], told)
    told = json.dumps(client.done("bob", "step", agent="clumsy")["history"])
    ok("a model whose call does not fit its tool is told so", "unknown member 'x' (open_tool takes: args)" in told, told)


def put(client, text):
    return client.done("operator", "put-blob", data_b64=base64.b64encode(text.encode()).decode())["hash"]


def questions(client):
    text = "a blob"
    asked = [["introspect.journal_head", {}], ["blob.get", {"hash_hex": put(client, text)}],
             ["introspect.reducer_state", {"reducer": "sys.ledger", "key_b64": base64.b64encode(b"bob").decode()}],
             ["introspect.list_cells", {"reducer": "sys.ledger"}]]
    head, blob, state, cells = [result["result"] for result in results_of(client, "operator", *asked)]
    ok("a plan asks where the journal stands", head["journal_height"] > 10, head)
    ok("for a blob", base64.b64decode(blob["data_b64"]) == text.encode(), blob)
    ok("for a cell", json.loads(base64.b64decode(state["state_b64"]))["scrip"] == 70, state)
    ok("and for cells", len(cells["cells"]) > 5, cells)
    denied = results_of(client, "eve", *asked[2:])
    ok("with the rights of its principal", not denied[0]["ok"] or not denied[0]["result"].get("state_b64"), denied)
    ok("each of them", not denied[1]["ok"] or not denied[1]["result"]["cells"], denied)


def forged(client):
    """A text that looks like a stand-in, and comes from a principal, is not a reference to a private text."""
    def write(who, name, **more):
        client.done(who, "invoke", action={"action_type": "write_artifact", "artifact_id": name} | more)

    write("bob", "diary", access="private", content="cobalt-one")
    client.done("bob", "invoke", action={"action_type": "edit_artifact", "artifact_id": "diary",
                                         "old_string": "cobalt-one", "new_string": "cobalt-two"})
    edit = json.loads(client.records('"edit_artifact".*"diary"')[0])
    told = edit["body"]["action"]["new_string"]
    write("ada", "oracle", executable=True, metadata={"of": [told]},
          code=f"function run() return {{x = {{hash = '{told['hash']}', of = {{'diary'}}, size = {told['size']}}}}} end")
    given = results_of(client, "bob", ["oracle", {}], ["query_kernel", {"query_type": "artifact",
                                                                       "params": {"artifact_id": "oracle"}}])
    ok("a plan's step does not turn what code gives into a private text", given[0]["result"] == {"x": told}, given)
    ok("nor what a query finds", given[1]["ok"] and told["hash"] in json.dumps(given[1]) and "cobalt" not in
       json.dumps(given[1]), given)
    extra = {"x": {"hash": "sha256:" + "ab" * 32, "of": [], "size": 3}}
    write("bob", "forger", type="agent", content={"model": "script", "extra_body": extra})
    client.refused("nor is a run begun whose record would name a text that there is not", "invalid_argument", "bob",
                   "step", agent="forger")


def paying(client):
    client.done("bob", "step", agent="priced")
    ok("who has an agent take a turn pays its owner", (client.scrip("bob"), client.scrip("operator")) == (70, 30))
    ok("which the record tells", client.records('"action_type":"step".*"price_paid":30'))
    client.refused("who cannot pay is refused", "insufficient_funds", "bob", "step", agent="dear")
    ok("and nothing is paid", client.scrip("bob") == 70)
    client.refused("a private agent is its owner's", "not_authorized", "bob", "step", agent="closed")
    client.alike("which is not there for who does not see it", "eve", "step", "agent", "closed", "nowhere")
    client.refused("a grant may name agents", "not_authorized", "carl", "step", agent="priced")
    client.done("carl", "step", agent="open1")


def asking(client):
    """An agent has others take turns with its own rights and money, not with those of the principal that asks it."""
    before = client.scrip("bob")
    run = client.begin("spy5")
    client.done("operator", "approve", turn_id=run, call_id="open1", decision="allow")
    for _ in range(1000):
        if client.records(f'"run_id":"{run}","termination_reason"'):
            break
        time.sleep(0.02)
    told = {message["tool_call_id"]: message["content"] for message in json.loads(base64.b64decode(client.done(
        "operator", "fs-read", path=f"turns/{run}/messages.json")["data_b64"])) if message["role"] == "tool"}
    ok("an agent that it does not see is like none", told["closed"].replace("closed", "absent") == told["absent"] and
       "not found" in told["absent"], told)
    ok("one that it cannot pay is refused", "scrip" in told["dear"], told)
    ok("it pays for the turn", json.loads(told["priced"])["final_message"]["content"] == "done" and
       (client.scrip("bob"), client.scrip("spy5")) == (before, 20), told)
    given = results_of(client, "bob", ["step", {"agent": "open1"}], ["chat", {"message": "x"}])
    ok("a plan's steps have no such tools", all(result["error"] == "UNKNOWN_TOOL" for result in given), given)
    ok("a call that the policy asks about waits, and then the turn is taken",
       json.loads(told["open1"])["ok"] and client.records('"action_type":"step".*"called_by"'), told)


def others(client, mount):
    run = client.begin()
    client.alike("nobody else ends a run, or learns whether it is there",
                 "carl", "cancel", "turn_id", run, "robot.99999")
    with open(f"{mount}/ctl/cancel", "w", encoding="utf-8") as file:
        file.write(run)
    ok("who began it does, by a file", client.records(f'"action_type":"cancel".*"{run}".*"ok":true'))
    client.done("operator", "cancel", turn_id=client.begin())
    plan = put(client, json.dumps({"steps": [{"id": "a", "type": "note", "title": "n"}]}))
    plan_id = client.done("operator", "plan-import", blob=plan, session_id="s")["checkpoint"]["plan_id"]
    for verb in ("plan-resume", "plan-cancel"):
        client.alike(f"{verb} is for whose plan it is", "bob", verb, "plan_id", plan_id, "f" * 32)
        told = client.error("bob", verb, plan_id=plan_id)
        ok("and says which grant it takes", told[0] == "not_authorized" and "sys/drive@1" in told[1], told)
    client.alike("a chat is stopped by whose it is", "bob", "plan-cancel", "chat_id", "operator+s.0", "operator+t.0")
    answer = client.call("dan", "plan-resume", plan_id=plan_id)
    ok("or by who was granted all plans", answer["ok"] or answer["error"]["code"] != "not_authorized", answer)


def plans_of_others(client):
    """A principal that continues a plan without seeing it learns whether it succeeded, and no more."""
    steps = {"steps": [{"id": "a", "type": "note", "title": "titanium", "text": "titanium"}], "note": "titanium"}
    plan_id = client.done("operator", "plan-import", blob=put(client, json.dumps(steps)),
                          session_id="t")["checkpoint"]["plan_id"]
    client.done("operator", "plan-resume", plan_id=plan_id)
    seen, unseen = (client.call(who, "plan-resume", plan_id=plan_id) for who in ("dan", "deaf"))
    ok("a plan that is seen is told", "titanium" in json.dumps(seen), seen)
    ok("one that is not is not", "titanium" not in json.dumps(unseen) and unseen["ok"] == seen["ok"], unseen)
    ok("but that it succeeded, and how long it took", unseen["result"]["ok"] and unseen["result"]["timing_ms"], unseen)


def approving(client):
    run = client.begin()
    call = {"turn_id": run, "call_id": "c", "decision": "allow"}
    client.done("robot", "grant", to="puppet", cap="sys/drive@1", params={"approve": True})
    for who, what in (("bob", "who began the run"), ("robot", "the agent"), ("carl", "who may only drive"),
                      ("puppet", "who has the right from the agent")):
        client.refused(f"{what} does not approve", "not_authorized", who, "approve", **call)
    belonging(client, call)
    named = client.done("operator", "grant", to="ada", cap="sys/drive@1",
                        params={"agents": ["open*"], "approve": True})["name"]
    client.refused("nor does who may approve for other agents", "not_authorized", "ada", "approve", **call)
    client.done("operator", "revoke", name=named)
    client.done("robot", "grant", to="mute", cap="sys/drive@1", params={"approve": True})
    seen = [client.error("mute", "approve", **call | {"turn_id": name}) for name in (run, "robot.99999")]
    ok("who does not see the run is refused in the words for one that is not there",
       seen[0][0] == seen[1][0] and seen[0][1].replace(run, "robot.99999") == seen[1][1], seen)
    ok("and so are they recorded", client.records('"kind":"decision".*"mute"') and not client.records('"action":{.*robot.99999'))
    client.done("dan", "approve", **call)
    ok("who was granted that does", True)
    client.done("operator", "grant", to="ada", cap="sys/drive@1", params={"agents": ["open*", "rob*"], "approve": True})
    client.done("ada", "approve", **call | {"turn_id": client.begin()})
    ok("and so does who was granted it for the agent", True)
    client.done("operator", "approve", **call | {"turn_id": client.begin(), "decision": "deny"})
    client.done("boss", "approve", **call | {"turn_id": client.begin()})
    client.done("boss", "cancel", turn_id=client.begin())
    client.refused("who only administers drives nothing", "not_authorized", "boss", "step", agent="open1")
    drive = client.done("operator", "grant", to="boss", cap="sys/drive@1")["name"]
    client.done("boss", "step", agent="open1")
    client.refused("a rule of the policy names the agent", "policy_denied", "boss", "step", agent="robot")
    client.done("operator", "grant", to="boss", cap="sys/blob@1")
    plan = put(client, json.dumps({"steps": [{"id": "a", "type": "note", "title": "own"}]}))
    plan_id = client.done("boss", "plan-import", blob=plan, session_id="s")["checkpoint"]["plan_id"]
    client.done("operator", "revoke", name=drive)
    answer = client.call("boss", "plan-resume", plan_id=plan_id)
    ok("an administrator goes on with its own plan, too", answer["ok"] or answer["error"]["code"] != "not_authorized", answer)
    client.done("boss", "plan-cancel", plan_id=plan_id)


def belonging(client, call):
    """Artifacts that own one another; the agent owns the last one."""
    names = [f"link{i}" for i in range(70)]
    for name in names:
        client.done("bob", "invoke", action={"action_type": "write_artifact", "artifact_id": name, "type": "agent",
                                             "content": {"model": "script"}})
    for name, owner in zip(names, names[1:] + ["robot"]):
        client.done("bob", "invoke", action={"action_type": "transfer_ownership", "artifact_id": name, "to": owner})
    for name, owner in ((names[-1], "robot"), (names[0], names[1])):
        client.done("operator", "grant", to=name, cap="sys/drive@1", params={"approve": True}, to_artifact_of=owner)
        client.done("operator", "grant", to=name, cap="sys/query@1", to_artifact_of=owner)
        client.refused(f"{name}, which is the agent's, does not approve", "not_authorized", name, "approve", **call)
    client.done(names[-1], "grant", to="ada", cap="sys/drive@1", params={"approve": True})
    client.refused(f"nor does ada, which has the right from {names[-1]}", "not_authorized", "ada", "approve", **call)


def agents(client, world):
    """A name that another principal has chosen gets no grant by mistake."""
    def code(name):
        return {"action_type": "write_artifact", "artifact_id": name, "type": "agent", "content": {"model": "script"}}

    client.done("bob", "invoke", action=code("auditor"))
    grant_to = {"to": "auditor", "cap": "sys/query@1"}
    code, message = client.error("operator", "grant", **grant_to)
    ok("a grant to another's agent is asked for again", code == "conflict" and "belongs to 'bob'" in message, message)
    client.refused("with the owner's name", "conflict", "operator", "grant", **grant_to, to_artifact_of="ada")
    client.done("operator", "grant", **grant_to, to_artifact_of="bob")
    subprocess.run([os.environ["WORLDFS"], "-w", world, "grant", "auditor", "llm", "--to-artifact-of", "bob"],
                   check=True, capture_output=True)
    client.done("bob", "grant", to="auditor", cap="sys/act@1")
    client.refused("another principal is nobody's", "invalid_argument", "operator", "grant", to="ada", cap="sys/llm@1",
                   to_artifact_of="bob")


def many(client):
    """Grants that one principal delegates are counted, and named soon."""
    for _ in range(63):  # and one to the agent
        client.many(65, "bob", "grant", to="ada", cap="sys/act@1", params={"actions": ["noop"]})
    client.refused("one principal has not all grants of the world", "quota_exceeded", "bob", "grant", to="ada",
                   cap="sys/act@1")
    client.done("bob", "revoke", name="ada.act.4")
    client.done("bob", "grant", to="ada", cap="sys/act@1")


def flood(client):
    """10,000 refusals, for which a principal needs no right, make a few records with a count."""
    begun = client.done("operator", "journal-head")["journal_height"]
    for _ in range(100):
        client.many(100, "puppet", "send-event", good=False, schema="test/None@1", value={})
    grown = client.done("operator", "journal-head")["journal_height"] - begun
    ok("refusals are coalesced", grown < 100, grown)


def meta(client):
    """A refusal gives the height of the world only to principals that may see something of the world."""
    all_of_it = {"journal_height", "manifest_hash", "snapshot_hash"}
    for who, cmd, members in (("operator", "journal-head", all_of_it), ("puppet", "snapshot", all_of_it),
                              ("eve", "journal-head", all_of_it - {"snapshot_hash"}),
                              ("eve", "snapshot", all_of_it - {"snapshot_hash"}), ("mute", "journal-head", set()),
                              ("mute", "send-event", set())):
        answer = client.call(who, cmd)
        told = answer["result"] if answer["ok"] else answer
        ok(f"{who}'s {cmd} tells {sorted(members)}", set(told.get("meta", ())) == members, answer)


if __name__ == "__main__":
    if sys.argv[1] == "source":
        write_source(sys.argv[2])
    else:
        asked = Client(sys.argv[2])
        tools(asked)
        forged(asked)
        paying(asked)
        asking(asked)
        questions(asked)
        others(asked, sys.argv[3])
        plans_of_others(asked)
        approving(asked)
        agents(asked, sys.argv[2])
        many(asked)
        meta(asked)
        flood(asked)
