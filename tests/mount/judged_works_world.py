# SPDX-License-Identifier: Apache-2.0
"""The source of a world at work for test-judged: principals, artifacts, agents, a policy, scripts of models.

Each text that not everybody may read has a word of its own in it, a canary.
"""
import json
import os
import re
import shutil

from judged_model import Grant
from judged_works_model import Artifact, Model

PEOPLE = ["operator", "alice", "bob", "carol"]
AGENTS = {"robot": "alice", "scout": "bob", "fitter": "operator", "closed": "alice", "minion": "robot"}
TOOLS = ["fs_ls", "fs_read", "query_kernel", "read_artifact", "write_artifact", "edit_artifact", "invoke_artifact",
         "schedule"]
CAPS = ["query", "blob", "act", "drive", "llm", "timer", "tool", "admin"]
CANARY = re.compile(r"CANARY\d{5}x")
USERS = {65533: "alice", 65532: "bob", 65534: None}  # users of the host, and the principals that they are

# What code of an artifact sees and does, as its caller asks.
ASKING = """function run(what, a)
  if what == "meta" then
    local row = kernel_state.get_artifact_metadata(a)
    return row and row.id
  elseif what == "content" then
    return kernel_state.read_artifact(a)
  elseif what == "owned" then
    return kernel_state.list_artifacts_by_owner(a)
  elseif what == "query" then
    local done, answer = pcall(kernel_state.query, "artifact", { artifact_id = a })
    return { done = done, answer = answer }
  elseif what == "events" then
    local done, answer = pcall(kernel_state.query, "events", { limit = 1000 })
    return { done = done, answer = answer }
  elseif what == "read_artifact" then
    return kernel_actions.read_artifact({ artifact_id = a })
  end
  return invoke(a)
end
"""
SECRET = {"methods": [{"name": "run", "input": {"type": "object", "properties": {"pin": {"type": "string", "secret": True}}}}]}


class Source:
    def __init__(self, random):
        self.random = random
        self.words = 0
        self.about = {}  # canary: where it was planted
        self.model = Model(self.random_rules())
        self.content = {}  # of artifacts, the newest
        self.documents = []
        self.make_artifacts()
        self.grants = [Grant(f"operator.{cap}.1", "operator", f"sys/{cap}@1", {}) for cap in CAPS]
        for who in PEOPLE[1:]:
            for cap in ("query", "query", "act", "drive", "tool", "timer"):
                if random.random() < 0.85:
                    self.grants.append(self.random_grant(who, cap, f"declared{len(self.grants)}"))
            self.grants.append(Grant(f"{who}.llm.1", who, "sys/llm@1", {}))
        for grant in self.grants:
            self.model.grants[grant.name] = grant

    # --- canaries ---

    def word(self, about, may_read):
        """Makes a canary. `may_read`: may a principal read it?"""
        self.words += 1
        word = f"CANARY{self.words:05d}x"
        self.about[word] = about
        self.model.canaries[word] = may_read
        return word

    def know(self, word, who):
        """The principal may have the word, and may find it in its own records for ever."""
        before = self.model.canaries.get(word)
        if before:
            self.model.canaries[word] = lambda reader: reader == who or before(reader)

    def content_word(self, name, *writers):
        """For content: principals that may read the artifact may read it, and those that wrote it."""
        return self.word(f"content of {name}", lambda who: who in writers or self.model.may_read_bytes(who, name))

    def description_word(self, name):
        """For a description, which is wherever the artifact's row is, and where records and turns repeat it."""
        def may_read(who):
            acts = [self.model.act(who, action, name) for action in ("read_artifact", "invoke_artifact")]
            return not all(acts) or any(self.model.covered(who, path, 0) for path in (
                ("artifacts", name), ("reducers",), ("journal",), ("turns",), ("plans",)))
        return self.word(f"description of {name}", may_read)

    def text_word(self, who, of):
        """For a text in a record of that principal that belongs to these artifacts."""
        return self.word(f"text of {of} by {who}", lambda reader: self.model.may_read_text(reader, [(of, who)]))

    # --- artifacts ---

    def make_artifacts(self):
        for owner in PEOPLE[1:]:
            for i in range(3):
                access = self.random.choice(("freeware", "private", "private", "self_owned", "public"))
                price = 7 if access == "freeware" and self.random.random() < 0.4 else 0
                self.make(Artifact(f"{owner}_note{i}", owner, access, price))
            access = self.random.choice(("freeware", "private"))
            self.make(Artifact(f"{owner}_tool", owner, access, type="tool", executable=True))
            self.make(Artifact(f"{owner}_asks", owner, type="tool", executable=True))
        self.make(Artifact("alice_pin", "alice", type="tool", executable=True))
        for name in AGENTS:
            if name != "minion":  # robot makes it
                access = "private" if name == "closed" else "freeware"
                self.make(Artifact(name, "operator", access, type="agent", tools=TOOLS))
        for name in self.model.artifacts.values():
            self.documents.append(self.document(name))

    def make(self, artifact):
        self.model.artifacts[artifact.name] = artifact

    def document(self, artifact):
        name = artifact.name
        document = {"id": name, "type": artifact.type, "created_by": artifact.owner, "access": artifact.access,
                    "policy": {"read_price": artifact.read_price, "invoke_price": 0}}
        if artifact.type == "agent":
            return document | {"content": self.agent_content(artifact.tools)}
        self.content[name] = self.content_word(name, artifact.owner)
        if not artifact.executable:
            return document | {"content": self.content[name]}
        interface = {"description": self.description_word(name), "methods": [{"name": "run"}]}
        if name == "alice_pin":
            interface["methods"] = SECRET["methods"]
        code = ASKING if name.endswith("_asks") else f"-- {self.content[name]}\nfunction run(x) return 1 end\n"
        return document | {"executable": True, "interface": interface, "code": code}

    def agent_content(self, tools):
        return {"model": "agents", "prompt": "Go.", "tools": tools, "max_turns": 3}

    # --- grants and policy ---

    def random_scope(self, turns=(), plans=()):
        names = list(self.model.artifacts)
        choices = ["artifacts", "artifacts/alice*", "artifacts/bob_*", "artifacts/*_asks", "turns", "turns/robot*",
                   "plans", "journal", "journal/log.jsonl", "journal/texts", "journal/*.json", "reducers/sys.message",
                   "reducers/sys.turn*", "reducers/sys.artifact", "reducers", "principals", "principals/alice",
                   "principals/*/timers", "principals/bob/timers/t*1.json", "reducers/sys.timer", "reducers/sys.timer/bob*"]
        choices += [f"artifacts/{self.random.choice(names)}" for _ in range(8)]
        choices += [f"turns/{turn}" for turn in list(turns)[-2:]] + [f"plans/{plan}*" for plan in list(plans)[-2:]]
        return self.random.sample(choices, self.random.choice((1, 2, 4, 7)))

    def random_grant(self, who, cap, name, turns=(), plans=()):
        random, params = self.random, {}
        chance = random.random()
        if cap == "query" and chance < 0.85:
            params = {"scope": self.random_scope(turns, plans)}
        elif cap == "act" and chance < 0.5:
            params = {"actions": random.sample(["read_artifact", "write_artifact", "invoke_artifact", "edit_artifact",
                                                "event.emit"], random.choice((1, 2, 3)))}
            if chance < 0.25:
                params["artifacts"] = random.sample(["alice*", "*_asks", "*tool", "bob_note0", "carol*"], 2)
        elif cap == "drive":
            if chance < 0.3:
                params["agents"] = random.sample(["robot", "s*", "fitter", "closed", "nothing"], 2)
            if random.random() < 0.25:
                params["plans"] = random.choice(("own", "all"))
            if random.random() < 0.3:
                params["approve"] = True
        elif cap == "tool" and chance < 0.85:
            params = {"tools": random.sample(["test.echo", "test.e*", "test.env", "test.nothing", "other.*", "*"], 2)}
            if chance < 0.3:
                params["arguments"] = {"type": "object", "properties": {"text": {"type": "string", "maxLength": 4}}}
        return Grant(name, who, f"sys/{cap}@1", params)

    def random_rules(self):
        """A call of robot that writes must wait. Each denial is about one principal; without it, the principal
        could act."""
        rules = [{"when": {"principal": "operator"}, "decision": "allow"},
                 {"when": {"effect": "action.write_artifact", "principal": "robot", "artifact": "made*"}, "decision": "ask"}]
        denials = [{"effect": "action.read_artifact"}, {"effect": "action.invoke_artifact", "artifact": "bob*"},
                   {"effect": "action.*", "artifact": "alice_*"}, {"effect": "agent.step"},
                   {"effect": "agent.step", "artifact": "s*"}, {"effect": "plan.*"}, {"effect": "agent.approve"},
                   {"effect": "agent.approve", "artifact": "robot"}, {"effect": "agent.approve", "artifact": "s*"},
                   {"effect": "introspect.journal*", "origin": "host"}, {"effect": "introspect.*", "origin": "host"},
                   {"effect": "tool.outside"}, {"effect": "tool.outside", "tool": "test.e*"},
                   {"effect": "tool.outside", "annotation": "idempotentHint"},
                   {"effect": "query.kernel", "origin": "host"}, {"effect": "timer.*"}, {"effect": "timer.unschedule"},
                   {"effect": "*", "origin": "code"},
                   {"effect": "introspect.*", "origin": "code"}]
        for denial in self.random.sample(denials, self.random.choice((0, 1, 2, 3))):
            rules.append({"when": denial | {"principal": self.random.choice(PEOPLE[1:] + ["scout"])}, "decision": "deny"})
        return rules + [{"when": {}, "decision": "allow"}]

    # --- files ---

    def write(self, directory, source_root):
        asking = os.path.join(source_root, "tests/data/worlds/asking")
        shutil.copytree(asking, directory)
        with open(f"{asking}/world.json", encoding="utf-8") as file:
            world = json.load(file)
        people = [{"id": who, "scrip": 1_000_000, "grants": [grant.document() for grant in self.grants if grant.to == who]}
                  for who in PEOPLE[1:]]
        agents = [{"id": name, "scrip": 1_000_000} for name in AGENTS if name != "minion"]
        with open(f"{directory}/world.json", "w", encoding="utf-8") as file:
            json.dump(world | {"name": "works", "principals": people + agents, "artifacts": self.documents,
                               "policies": [{"$kind": "defpolicy", "name": "test/Works@1", "rules": self.model.rules}],
                               "policy": "test/Works@1"}, file)
        for name in ("agents", "default"):
            with open(f"{directory}/{name}.jsonl", "w", encoding="utf-8") as file:
                file.write('{"content": "done"}\n')
        models = {name: {"provider": "script", "file": f"{name}.jsonl"} for name in ("agents", "default")}
        users = {str(uid): who for uid, who in USERS.items() if who}
        with open(f"{directory}/host.json", "w", encoding="utf-8") as file:
            server = ["python3", os.path.join(source_root, "tests/outside/server.py")]
            json.dump({"models": models, "uids": users, "tools": {"test": {"command": server}}}, file)
