# SPDX-License-Identifier: Apache-2.0
"""For test-journal-quota: `source DIR` writes a world, `ask WORLD MOUNT MOUNT-OF-MALLORY` fills its journal."""
import errno
import json
import os
import subprocess
import sys

from client import Client, code_of, ok

MIB = 1 << 20
QUOTA = 4 * MIB
PLANNER = 60000
# One answer of the model is recorded without room, and so are the failures of the calls in it.
STATED = 64 << 10


def grant(cap, **params):
    return {"cap": f"sys/{cap}@1", "params": params}


GRANTS = [grant(cap) for cap in ("query", "act", "drive", "llm", "blob")]
WORLD = {
    "name": "quota",
    "schemas": [{"name": "test/Add@1", "schema": {"type": "object"}}],
    "reducers": [{"name": "count", "module": "count.lua", "keyed": True}],
    "routing": [{"event": "test/Add@1", "reducer": "count", "key_field": "key"}],
    "principals": [
        {"id": "mallory", "quotas": {"journal": QUOTA, "disk": 1000}, "grants": GRANTS},
        {"id": "planner", "quotas": {"journal": PLANNER}, "grants": GRANTS},
        {"id": "nobody", "quotas": {"journal": 5000}},
        {"id": "victim", "grants": GRANTS},
    ],
    "artifacts": [
        {"id": "echo", "created_by": "operator", "access": "public", "executable": True,
         "code": "function run(a) return 1 end"},
    ],
}
SCRIPT = [
    {"tool_calls": [{"id": "1", "name": "noop", "arguments": "{}"},
                    {"id": "2", "name": "echo", "arguments": json.dumps({"args": ["z" * 1000]})}]},
    {"content": "done"},
]
# Each step's record has its arguments; the third does not fit.
PLAN = {"goal": "fill", "steps": [
    {"id": f"s{i}", "type": "tool", "title": "Echo", "depends_on": [f"s{i - 1}"] if i else [],
     "tool": {"name": "artifact.invoke", "args": {"artifact_id": "echo", "args": ["p" * 2300]}}}
    for i in range(8)]}


def write_source(directory):
    os.mkdir(directory)
    with open(os.path.join(directory, "world.json"), "w", encoding="ascii") as file:
        json.dump(WORLD, file)
    with open(os.path.join(directory, "count.lua"), "w", encoding="ascii") as file:
        file.write("function step(state, event) return {n = (state and state.n or 0) + 1} end\n")


class Asker:
    """Sends requests to a world, and sees how its journal grows."""

    def __init__(self, world, tree, mine):
        self.world, self.tree, self.mine = world, tree, mine
        self.client = Client(world)

    def grown(self):
        return os.path.getsize(os.path.join(self.tree, "journal/log.jsonl"))

    def used(self, name="mallory"):
        with open(os.path.join(self.tree, f"principals/{name}/resources.json"), encoding="ascii") as file:
            return json.load(file)["journal"]["used"]

    def ask(self, cmd, payload, name="mallory"):
        return self.client.call(cmd, payload, **{"as": name})

    def act(self, action_type, name="mallory", **members):
        return self.ask("invoke", {"action": {"action_type": action_type, **members}}, name)

    def command(self, *arguments):
        done = subprocess.run([os.environ["WORLDFS"], "-w", self.world, *arguments], capture_output=True,
                              text=True, timeout=90, check=False)
        return done.returncode, done.stdout + done.stderr

    def refused(self, what, cmd, payload, name="mallory"):
        """Checks that it is refused because of the quota `journal`, and leaves no record."""
        before = self.grown()
        answer = self.ask(cmd, payload, name)
        message = answer.get("error", {}).get("message", "")
        ok(f"{what} is refused", code_of(answer) == "quota_exceeded" and "bytes of journal" in message, str(answer)[:300])
        ok(f"{what} leaves no record", self.grown() == before, self.grown() - before)

    def write(self, name, text):
        """Return: errno of a write to a control file of mallory's mount, 0 when it succeeds."""
        try:
            with open(os.path.join(self.mine, "ctl", name), "w", encoding="ascii") as file:
                file.write(text)
            return 0
        except OSError as error:
            return error.errno


def large_arguments(world):
    """10 MiB of arguments: more than the quota, on each way in."""
    large = "y" * (10 * MIB)
    begun = world.grown()
    event = {"schema": "test/Add@1", "value": {"key": "k", "text": large}}
    world.refused("an event", "send-event", event)
    world.refused("an invocation", "invoke",
                  {"action": {"action_type": "invoke_artifact", "artifact_id": "echo", "args": [large]}})
    world.refused("an edit", "invoke", {"action": {
        "action_type": "edit_artifact", "artifact_id": "none", "old_string": large, "new_string": "z"}})
    world.refused("a transfer that fails", "invoke", {"action": {
        "action_type": "transfer", "to": "nothing", "amount": 1, "reasoning": large}})
    ok("an event by a control file is refused", world.write("event", json.dumps(event)) == 122, "EDQUOT")
    ok("an action by a control file is refused", world.write("invoke", json.dumps(
        {"action_type": "invoke_artifact", "artifact_id": "echo", "args": [large]})) == 122, "EDQUOT")
    ok("nothing of that is in the journal", world.grown() == begun, world.grown() - begun)
    ok("somebody without a quota may", world.act("invoke_artifact", "victim", artifact_id="echo", args=[large])["ok"], True)


def agents_of_its_own(world):
    """An agent is another principal; its records count for its maker's journal."""
    answer = world.act("write_artifact", artifact_id="tool", type="agent",
                       content={"model": "script", "tools": ["noop", "echo"]})
    ok("mallory makes an agent", answer["ok"], answer.get("error"))
    for cap in ("act", "query", "llm"):
        answer = world.client.call("grant", {"to": "tool", "cap": f"sys/{cap}@1", "params": {}, "to_artifact_of": "mallory"})
        ok(f"which may {cap}", answer["ok"], answer.get("error"))
    before = world.used()
    answer = world.ask("send-event", {"schema": "test/Add@1", "value": {"key": "a"}}, "tool")
    ok("it sends an event", answer["ok"], answer.get("error"))
    ok("for which mallory pays", world.used() > before, world.used() - before)
    answer = world.ask("step", {"agent": "tool"})
    ok("its turn ends well while there is room", answer["ok"] and
       answer["result"]["termination_reason"] == "no_tool_calls", str(answer)[:300])


def fill(world):
    """Sends events until none fits any more."""
    pad = "x" * (64 << 10)
    size = 0
    for size in (64 << 10, 1 << 10, 64):
        while world.ask("send-event", {"schema": "test/Add@1", "value": {"key": "k", "pad": pad[:size]}})["ok"]:
            pass
    while world.ask("send-event", {"schema": "test/Add@1", "value": {"key": ""}})["ok"]:
        pass
    ok("events fill the quota", QUOTA - 700 < world.used() <= QUOTA, world.used())


def each_way_in(world):
    """With a spent quota nothing leaves a record."""
    begun = world.grown()
    small = {"schema": "test/Add@1", "value": {"key": "k"}}
    world.refused("an event", "send-event", small)
    world.refused("an action", "invoke", {"action": {"action_type": "write_artifact", "artifact_id": "x", "content": "y"}})
    world.refused("a blob", "put-blob", {"data_b64": "QUJD"})
    world.refused("a grant", "grant", {"to": "victim", "cap": "sys/query@1", "params": {}})
    world.refused("a step", "step", {"agent": "tool"})
    ok("a chat is refused", world.ask("chat", {"message": "hello"})["ok"] is False, "by the socket")
    ok("an agent's event is refused", code_of(world.ask("send-event", small, "tool")) == "quota_exceeded", "tool")
    for name, text in (("event", json.dumps(small)), ("put-blob", "bytes"), ("step", "tool"),
                       ("invoke", '{"action_type":"write_artifact","artifact_id":"x","content":"y"}'),
                       ("chat", "hello"), ("grant", '{"to":"victim","cap":"sys/query@1","params":{}}')):
        error = world.write(name, text)
        ok(f"ctl/{name} is refused", error == errno.EDQUOT, error)
    status, said = world.command("--as", "mallory", "event", "test/Add@1", '{"key":"k"}')
    ok("a command is refused", status != 0 and "bytes of journal" in said, said[-200:])
    ok("nothing of that is in the journal", world.grown() == begun, world.grown() - begun)
    answer = world.ask("query", {"query_type": "quotas", "params": {"principal_id": "mallory", "resource": "journal"}})
    left = answer["result"]["quotas"]["journal"]["available"]
    ok("what is left can be asked for", 0 <= left < 700, left)
    answer = world.ask("send-event", small, "victim")
    ok("others go on", answer["ok"], answer.get("error"))


def refusals(world):
    """A principal without any right: its refusals are recorded until its quota is spent."""
    begun = world.grown()
    effects = [("send-event", {"schema": "test/Add@1", "value": {"key": "k"}}), ("put-blob", {"data_b64": "QUJD"}),
               ("snapshot", {}), ("shutdown", {}), ("grant", {"to": "victim", "cap": "sys/query@1", "params": {}}),
               ("principal", {"id": "x"}), ("revoke", {"name": "victim.query.1"}),
               ("invoke", {"action": {"action_type": "noop"}}),
               ("invoke", {"action": {"action_type": "write_artifact", "artifact_id": "x"}}),
               ("chat", {"message": "x"})]
    for _ in range(200):
        for cmd, payload in effects:
            answer = world.ask(cmd, payload, "nobody")
            if answer["ok"]:
                sys.exit(f"not ok - {cmd} of nobody: {answer}")
    size = world.grown() - begun
    ok("2,000 refusals add no more than the quota", 0 < size <= 5000, size)
    ok("and that is spent", 5000 - 900 < world.used("nobody") <= 5000, world.used("nobody"))


def plan_in_the_middle(world):
    """The quota ends within a plan: the plan ends as failed, and waits for nothing."""
    begun = world.grown()
    answer = world.ask("chat", {"message": "fill"}, "planner")
    ok("the chat is answered", code_of(answer) in (None, "effect_failed"), str(answer)[-300:])
    plan, = os.listdir(os.path.join(world.tree, "plans"))[:1]
    with open(os.path.join(world.tree, "plans", plan.removesuffix(".json"), "status"), encoding="utf-8") as file:
        status = file.read().split("\n")[0]
    ok("its plan has ended", status in ("partial", "failed"), status)
    steps = os.path.join(world.tree, "plans", plan.removesuffix(".json"), "steps")
    told = []
    failed = None
    for name in sorted(os.listdir(steps)):
        with open(os.path.join(steps, name), encoding="utf-8") as file:
            step = json.load(file)
        told.append(step["status"])
        failed = step if told[-1] == "failed" else failed
    ok("some steps are done, one has failed", told[0] == "done" and told.count("failed") == 1, told)
    ok("for its quota", "bytes of journal" in json.dumps(failed), json.dumps(failed)[-300:])
    ok("it added the quota and its last receipts", world.grown() - begun <= PLANNER + STATED, world.grown() - begun)
    spent = world.grown()
    ok("nothing goes on", code_of(world.ask("chat", {"message": "fill"}, "planner")) == "quota_exceeded"
       and world.grown() == spent, world.used("planner"))


def ask(directory, tree, mine):
    world = Asker(directory, tree, mine)
    with open(os.path.join(directory, "script.jsonl"), "w", encoding="ascii") as file:
        file.writelines(json.dumps(line) + "\n" for line in SCRIPT)
    with open(os.path.join(directory, "default.jsonl"), "w", encoding="ascii") as file:
        file.write(json.dumps({"match": "PLAN_STATUS", "content": "All is full."}) + "\n")
        file.write(json.dumps({"match": "fill", "content": json.dumps(PLAN)}) + "\n")
    large_arguments(world)
    spent = world.grown()
    agents_of_its_own(world)
    fill(world)
    each_way_in(world)
    ok("the journal grew by the quota", world.grown() - spent <= QUOTA + STATED, world.grown() - spent)
    refusals(world)
    plan_in_the_middle(world)


if sys.argv[1] == "source":
    write_source(sys.argv[2])
else:
    ask(*sys.argv[2:])
