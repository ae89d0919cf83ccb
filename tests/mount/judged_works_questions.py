# SPDX-License-Identifier: Apache-2.0
"""The questions that test-judged asks in a world at work, and their right answers; see judged_works.py."""
import base64
import json
import os
import re
import time

import judged_works_doors
from judged_model import JOURNAL, LIST_CELLS, NOT_SEEN, READ_STATE
from judged_works_doors import LOOKS, refusal
from judged_works_model import FREE, MISSING, OK, REFUSED, Turn
from judged_works_world import AGENTS, CANARY, PEOPLE, USERS

# The tools that tests/outside/server.py lists.
with open(os.path.join(os.path.dirname(__file__), "../outside/server.py"), encoding="utf-8") as server:
    OUTSIDE = re.search('TOOLS = """(.*?)"""', server.read(), re.S)[1].split()
SHARES = {"socket": 40, "mount": 25, "tools": 10, "resources": 10, "others": 10, "command": 1}
KINDS = {"look": 36, "query": 12, "act": 14, "code": 12, "reducer": 3, "list": 5, "step": 3, "tools": 1, "cancel": 3,
         "approve": 3, "outside": 6, "plan": 5, "turn": 1, "steps": 1, "again": 4, "schedule": 4,
         "unschedule": 2, "timers": 3, "fire": 1}
FAR_MS = 10 ** 9  # a timer that does not fire in this test


class Questions:
    """A part of judged_works.Works: each `ask_KIND` asks one question, or a few at once."""

    # --- chance ---

    def random_artifact(self):
        return self.random.choice(sorted(self.model.artifacts) + ["nothing"])

    def random_turn(self):
        return self.random.choice((list(self.model.turns)[-6:] or []) + ["robot.99999"])

    def random_plan(self):
        return self.random.choice((list(self.model.plans)[-6:] or []) + ["f" * 32])

    def random_timer(self):
        return self.random.choice((list(self.model.timers)[-12:] or []) + [("alice", "nothing")])

    def random_path(self):
        chance = self.random.random()
        if self.random.random() < 0.1:
            who, timer = self.random_timer()
            return self.random.choice((("principals", who, "timers", f"{timer}.json"),
                                       ("reducers", "sys.timer", f"{who}%2F{timer}")))
        if chance < 0.3:
            file = self.random.choice(("content", "content", "content", "meta.json", "owner", "code"))
            return "artifacts", self.random_artifact(), file
        if chance < 0.5:
            return "journal", "texts", self.random.choice(list(self.model.texts) + ["0" * 64])
        if chance < 0.65:
            files = self.random.choice((
                ("status",), ("messages.json",), ("events.jsonl",), ("transcript.md",), ("raw", "1.request.json"),
                ("raw", "1.response.json"), ("raw", "2.request.json")))
            return "turns", self.random_turn(), *files
        if chance < 0.75:
            files = self.random.choice((("plan.json",), ("status",), ("steps", "0-a.json"), ("steps", "1-s1.json")))
            return "plans", self.random_plan(), *files
        if chance < 0.8:
            return "journal", "log.jsonl"
        if chance < 0.9:
            return "journal", f"{self.random.randrange(self.read_to)}.json"
        reducer = self.random.choice(("sys.turn", "sys.turn_setup", "sys.artifact", "sys.message", "sys.plan_result"))
        key = {"sys.artifact": self.random_artifact, "sys.plan_result": lambda: self.random_plan() + ".1"}.get(
            reducer, self.random_turn)()
        return "reducers", reducer, key

    def random_door(self, verb):
        names = [name for name in SHARES if name != "others" or self.others]
        return self.random.choices(names, [SHARES[name] for name in names])[0]

    # --- kinds ---

    def who_at(self, door):
        return self.random.choice(list(USERS)) if door == "others" else self.random.choices(PEOPLE, (1, 3, 3, 3))[0]

    def ask_look(self):
        verb = self.random.choices(LOOKS, (1, 4))[0]
        door = self.random_door(verb)
        who = self.who_at(door)
        reader = self.principal_at(door, who, verb)
        path = self.random_path() if verb == "fs-read" else self.random.choice(
            (("artifacts",), ("turns",), ("plans",), ("journal", "texts"), ("principals", who, "timers")
             if who in PEOPLE else ("principals", "alice", "timers")))
        accepted, result = self.expected_look(reader, verb, path)
        if door in ("mount", "others") and accepted == {REFUSED} and self.read("/".join(path)) == b"":
            accepted, result = {REFUSED, OK}, b""  # Linux asks no server for the bytes of an empty file
        self.compare(door, "look", who, verb, {"path": "/".join(path)}, accepted, result)

    def expected_look(self, who, verb, path):
        if path[0] == "journal":
            self.sync()
        answer = self.model.look(who, path)
        if path[0] == "reducers" and answer == OK and not self.model.covers(who, *path):
            answer = MISSING
        if answer == MISSING:
            return {MISSING, REFUSED} if self.model.covered(who, path[:1], 0) == NOT_SEEN else {MISSING}, None
        if verb == "fs-list":
            if answer == REFUSED:
                return {REFUSED}, None
            if path == ("journal", "texts") and self.model.covered(who, path, 0) == NOT_SEEN:
                return {MISSING}, None
            there = self.socket.ask("operator", verb, {"path": "/".join(path)})[1]
            if path == ("journal", "texts"):
                there = [name for name in there if name in self.model.texts]
            return {OK}, self.model.names(who, path, there)
        there = self.read("/".join(path))
        if there is None and path[0] == "artifacts":
            return ({REFUSED} if not self.model.reads(who, LIST_CELLS) else {MISSING}), None
        if answer == REFUSED:
            return {REFUSED}, None
        if there is None:
            return {MISSING}, None
        if not self.model.covers(who, *path):
            return {MISSING}, None
        if path[0] == "turns" and path[2] == "raw" and not self.may_read_raw(who, path):
            return {MISSING}, None
        if path == ("journal", "log.jsonl"):
            return {OK}, lambda given: given.startswith(there) or there.startswith(given)
        if self.is_meta(path):
            return {OK}, self.meta_of(who, path, there)
        return {OK}, there

    def may_read_raw(self, who, path):
        """May the principal read the private texts that may be in what a model was sent or has answered?"""
        self.sync()
        name = path[1] + "." + path[3].removesuffix(".json")
        kept = json.loads(self.read("reducers/sys.raw/" + name))["hash"]
        return isinstance(kept, str) or \
            self.model.may_read_text(who, self.model.texts.get(kept["hash"].removeprefix("sha256:"), []))

    @staticmethod
    def is_meta(path):
        return path[0] == "artifacts" and path[2:] == ("meta.json",)

    def meta_of(self, who, path, data):
        """What `who` reads after another principal has read `data`, maybe before the artifact's rule changed."""
        def bare(document):
            return {name: value for name, value in document.items() if name not in ("content_hash", "code_hash")}
        told = self.model.is_told_hashes(who, path[1])
        return lambda given: bare(json.loads(given)) == bare(json.loads(data)) and \
            ("content_hash" in json.loads(given)) == told

    def ask_again(self):
        """A descriptor that was opened earlier: its contents depend on the rights of today."""
        if not self.opened:
            return
        who, path, descriptor, data = self.random.choice(self.opened)
        accepted, _ = self.expected_look(who, "fs-read", path)
        try:
            if self.random.random() < 0.5:  # otherwise Linux may still have the page
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            got = OK, os.pread(descriptor, 1 << 20, 0), ""
        except PermissionError:
            got = REFUSED, None, ""
        except FileNotFoundError:
            got = MISSING, None, ""
        accepted = {OK} if OK in accepted else {REFUSED, MISSING}
        if len(path) == 3 and path[0] == "artifacts" and self.model.artifacts[path[1]].deleted:
            accepted = {OK, REFUSED, MISSING}
        if self.is_meta(path) and data:
            data = self.meta_of(who, path, data)
        self.counts["mount"] += 1
        self.kinds["again"] += 1
        self.judge("mount", "again", who, path, accepted, got, data)

    def expected_query(self, who, query, name, origin="host", itself=None):
        """The answer that a principal gets to a query: what the files of the tree show, and for code, its own
        artifact."""
        if not self.model.held(who, "query") or \
                self.model.decision(who, "query.kernel", "query", origin) != "allow":
            return {REFUSED}, None
        if query == "events":
            told = self.model.reads(who, JOURNAL, origin) and self.model.covers(who, "journal", "log.jsonl")
            return {OK}, lambda given: bool(given["events"]) == told
        reads = self.model.reads(who, READ_STATE, origin)
        if query == "artifact":
            known = name in self.model.artifacts
            seen = known and (reads and self.model.covers(who, "artifacts", name) or name == itself)
            if not seen:
                return {MISSING}, None
            told = self.model.is_told_hashes(who, name)
            return {OK}, lambda given: origin != "host" or given["result"]["deleted"] or \
                ("content_hash" in given["result"]) == told
        rows = frozenset(name for name, artifact in self.model.artifacts.items()
                         if reads and self.model.reads(who, LIST_CELLS, origin) and
                         not artifact.deleted and self.model.covers(who, "artifacts", name))
        return {OK}, lambda given: rows == frozenset(
            row["id"] for row in given["results"] if not row["id"].startswith("made"))

    def ask_query(self):
        query = self.random.choice(("artifact", "artifact", "artifacts", "events"))
        name = self.random_artifact()
        door = self.random_door("query")
        who = self.who_at(door)
        accepted, result = {REFUSED}, None
        if self.principal_at(door, who, "query"):
            accepted, result = self.expected_query(self.principal_at(door, who, "query"), query, name)
        params = {"artifact": {"artifact_id": name}, "artifacts": {"limit": 1000}, "events": {"limit": 30}}[query]
        self.compare(door, "query", who, "query", {"query_type": query, "params": params}, accepted, result)

    def random_action(self):
        name = self.random_artifact()
        action = self.random.choice(("read_artifact", "read_artifact", "invoke_artifact"))
        if name == "alice_pin" and action == "invoke_artifact":
            name = "alice_tool"
        document = {"action_type": action, "artifact_id": name}
        if action == "invoke_artifact":
            document["args"] = ["meta", "alice_note0"]
        return action, name, document

    def paid(self, who, action, name):
        """A principal that has paid for reading an artifact may know its words."""
        artifact = self.model.live(name)
        if action == "read_artifact" and artifact and artifact.read_price:
            self.source.know(self.source.content.get(name), who)

    def ask_act(self):
        action, name, document = self.random_action()
        door = self.random_door("invoke")
        who = self.who_at(door)
        acting = self.principal_at(door, who, "invoke")
        accepted = {REFUSED}
        if acting:
            accepted = self.model.act(acting, action, name)
            if not accepted:
                self.paid(acting, action, name)
        self.compare(door, "act", who, "invoke", {"action": document}, accepted)

    def ask_code(self):
        """Code of one principal asks, and another principal runs it."""
        door = self.random_door("invoke")
        who = self.who_at(door)
        caller = self.principal_at(door, who, "invoke")
        author = self.random.choice(PEOPLE[1:])
        itself = f"{author}_asks"
        what = self.random.choice(("meta", "content", "owned", "query", "events", "read_artifact", "invoke"))
        about = self.random.choice(PEOPLE) if what == "owned" else self.random_artifact()
        if what == "invoke" and (about.endswith("_asks") or about == "alice_pin"):
            about = "alice_tool"
        accepted = {REFUSED} if not caller else self.model.act(caller, "invoke_artifact", itself)
        if what == "read_artifact" and self.model.live(about) and self.model.live(about).read_price:
            return  # it has nothing to pay with
        if not accepted and what in ("meta", "content", "owned") and not (
                self.model.held(author, "query") and self.model.decision(author, LIST_CELLS, "query", "code") == "allow"):
            accepted = {OK, ("runtime_error",)}  # the author may read for nothing, and its code gets that answer
        document = {"action_type": "invoke_artifact", "artifact_id": itself, "args": [what, about]}
        self.compare(door, "code", who, "invoke", {"action": document}, accepted,
                     lambda given: self.code_is_right(caller, author, itself, what, about, given["data"]["result"]), author)

    def code_is_right(self, caller, author, itself, what, about, given):
        model = self.model
        denied = model.decision(author, "introspect.list_cells", "query", "code") != "allow"
        seen = not denied and bool(model.held(author, "query")) and model.covers(author, "artifacts", about)
        if what == "meta":
            return given == (about if model.live(about) and (seen or about == itself) else None)
        if what == "content":
            live = model.live(about)
            # The caller pays for its code; a principal pays itself nothing.
            free = live and live.type != "agent" and (
                live.is_free() or about == itself or (live.access in FREE and live.owner == caller))
            return (given is None or given == self.source.content.get(about) or about.endswith(("_tool", "_asks", "_pin"))) \
                if free and (seen or about == itself) else given is None or (live and live.type == "agent" and seen)
        if what == "owned":
            ids = frozenset(name for name, row in model.artifacts.items() if row.owner == about and not row.deleted and
                            (name == itself or not denied and model.held(author, "query") and
                             model.covers(author, "artifacts", name)))
            return frozenset(name for name in given if not name.startswith("made")) == ids
        if what == "query":
            accepted, _ = self.expected_query(author, "artifact", about, "code", itself)
            return given["done"] == (OK in accepted)
        if what == "events":
            accepted, right = self.expected_query(author, "events", None, "code", itself)
            return given["done"] == (OK in accepted) and (not given["done"] or right(given["answer"]))
        action = "invoke_artifact" if what == "invoke" else what
        failures = model.act(itself, action, about, author, "code")
        return given["ok"] == (not failures)

    def ask_outside(self):
        """A call of an outside tool, what a principal may call, and what the tree shows of it."""
        verb = self.random.choice(("tool", "tool", "tools", "fs-list"))
        door = self.random_door(verb)
        who = self.who_at(door)
        acting = self.principal_at(door, who, verb)
        name = self.random.choice(("test.echo", "test.echo", "test.env", "test.nothing", "other.echo"))
        arguments = {"text": self.random.choice(("four", "fifth"))}
        seen = frozenset(tool for tool in OUTSIDE if acting and self.model.tool(acting, "test." + tool, True) == OK)
        if verb == "tool":
            accepted = {self.model.tool(acting, name, name in ("test.echo", "test.env"), arguments) if acting else REFUSED}
            self.compare(door, "outside", who, verb, {"name": name, "arguments": arguments}, accepted,
                         lambda given: name != "test.echo" or given["output"] == arguments["text"])
        elif verb == "tools":
            accepted = {REFUSED if not acting or self.model.tool(acting, "", False) == REFUSED else OK}
            self.compare(door, "outside", who, verb, {}, accepted, lambda given: seen == frozenset(
                tool["name"].removeprefix("test.") for tool in given["tools"]))
        else:
            self.compare(door, "outside", who, verb, {"path": "tools/test"}, {OK} if seen else {MISSING},
                         frozenset(tool + ".json" for tool in seen))

    def ask_reducer(self):
        who = self.random.choice(PEOPLE)
        if self.model.act(who, "event.emit", None) - {MISSING} and not any(
                not grant.params.get("artifacts") and "event.emit" in grant.params.get("actions", ["event.emit"])
                for grant in self.model.held(who, "act")):
            return
        reducer = self.random.choice(("sys.artifact", "sys.turn"))
        key = self.random_artifact() if reducer == "sys.artifact" else self.random_turn()
        effects = [{"effect": "introspect.reducer_state", "params": {
            "reducer": reducer, "key_b64": base64.b64encode(key.encode()).decode()}},
                   {"effect": "introspect.list_cells", "params": {"reducer": reducer, "limit": 1000}}]
        there = self.read(f"reducers/{reducer}/{key}")
        name = f"q{self.asked}"
        if not self.socket.call(who, "send-event", {"schema": "test/Ask@1", "value": {"key": name, "effects": effects}})["ok"]:
            return
        state, cells = json.loads(self.read(f"reducers/asker/{name}"))["answers"]
        keys = self.socket.ask("operator", "fs-list", {"path": f"reducers/{reducer}"})[1]
        seen = frozenset(one for one in keys if self.model.covers(who, "reducers", reducer, one))
        above = self.model.covered(who, ("reducers", reducer), 0) > NOT_SEEN
        held = self.model.held(who, "query")
        accepted = {OK} if there and key in seen else {MISSING}
        self.told("state", who, (reducer, key), accepted if held else {REFUSED}, state, there, lambda payload: (
            base64.b64decode(payload["state_b64"]) if "state_b64" in payload else None))
        accepted = {OK} if above else {MISSING}
        self.told("cells", who, reducer, accepted if held else {REFUSED}, cells, seen, lambda payload: frozenset(
            base64.b64decode(cell["key_b64"]).decode() for cell in payload["cells"]))
        self.sync()

    def told(self, kind, who, asked, accepted, answer, result, result_of):
        """A reducer got this answer, for the principal of the event."""
        payload = answer["payload"]
        if answer["status"] == "ok":
            given = result_of(payload)
            got = (MISSING if given is None else OK), given, repr(given)
        else:
            got = refusal(payload), payload, json.dumps(payload)
        self.counts["reducer"] += 1
        self.kinds[kind] += 1
        self.judge("reducer", kind, who, asked, accepted, got, result)

    def ask_list(self):
        what = self.random.choice(("turns", "plans", "journal"))
        if what == "journal":
            return self.ask_journal()
        door = self.random.choice(("socket",) * 12 + ("command",))
        who = self.who_at(door)
        accepted, _ = self.expected_look(who, "fs-list", (what,))
        member, table = {"turns": ("turn_id", self.model.turns), "plans": ("plan_id", self.model.plans)}[what]
        names = self.model.names(who, (what,), table) if OK in accepted else frozenset()

        def right(given):
            return names == frozenset(row[member] for row in (given[what] if isinstance(given, dict) else given))

        self.compare(door, "list", who, what, {}, accepted | {OK}, right)

    def ask_journal(self):
        """Records, as pages of them come."""
        who = self.random.choice(PEOPLE)
        self.sync()
        first = max(0, self.read_to - self.random.choice((5, 50, 300)))
        seen = [seq for seq in range(first, self.read_to) if self.model.covers(who, "journal", f"{seq}.json")]
        allowed = self.model.reads(who, JOURNAL)
        page = min(len(seen), 100)
        self.compare("socket", "journal", who, "journal-read", {"from": first, "limit": 100},
                     set() if allowed else {REFUSED},
                     lambda given: [record["seq"] for record in given["records"]][:page] == seen[:page])

    # --- driving ---

    def ask_step(self):
        name = self.random.choice(list(AGENTS) + ["alice_note0", "bob_note0", "nothing", "carol_tool"])
        door = self.random_door("step")
        who = self.who_at(door)
        acting = self.principal_at(door, who, "step")
        accepted = self.model.step(acting, name) if acting else {REFUSED}
        if acting and name == "minion" and not accepted:
            return  # the agent has no model
        answer = self.compare(door, "step", who, "step", {"agent": name, "message": "Go."}, accepted)
        if answer == OK:
            self.find_turns(name, acting)
        elif acting and self.model.is_hidden(acting, name) and not self.narrow(acting):
            self.alike(acting, "step", {"message": "Go."}, "agent", name, "q" * len(name))
        self.sync()

    def narrow(self, who):
        """Says something about names of agents, so that two names differ."""
        return any(grant.params.get("agents") for grant in self.model.held(who, "drive")) or \
            any(rule["when"].get("artifact") for rule in self.model.rules)

    def find_turns(self, agent, who):
        for name in self.socket.ask("operator", "fs-list", {"path": "turns"})[1]:
            if name not in self.model.turns:
                self.model.turns[name] = Turn(agent, who, False)

    def alike(self, who, verb, payload, member, name, twin):
        """The words for an agent that does not exist."""
        told = []
        for one in (name, twin):
            answer = self.socket.call(who, verb, payload | {member: one})
            error = answer.get("error", {"code": "done", "message": ""})
            told.append((error["code"], error["message"].replace(one, "X")))
        self.counts["socket"] += 1
        self.kinds["alike"] += 1
        if told[0] != told[1]:
            self.fail("socket", "alike", who, (verb, name, twin), told[1], told[0])

    def ask_tools(self):
        """The list of tools of an agent that gets another one."""
        tools = self.random.sample([name for name, row in sorted(self.model.artifacts.items()) if row.executable] +
                                   ["fs_ls", "fs_read", "nothing"], self.random.choice((1, 1, 2)))
        self.model.artifacts["fitter"].tools = tools
        self.must("operator", "invoke", action={"action_type": "write_artifact", "artifact_id": "fitter",
                                                "content": self.source.agent_content(tools)})
        accepted = self.model.step("operator", "fitter")
        got = self.socket.ask("operator", "step", {"agent": "fitter", "message": "Go."})
        self.counts["agent"] += 1
        self.kinds["tools"] += 1
        told = got[2] if accepted else ""  # forbidden tools look missing to the operator, too
        self.judge("agent", f"tools {tools}", "fitter", "step", accepted or {OK}, got[:2] + (told,))
        if accepted:
            hidden = next((tool for tool in tools if tool != "nothing" and not self.model.may_use_tool("fitter", tool)), "nothing")
            self.same_refusal(tools, hidden, got[1]["message"])
        else:
            run = got[1]["run_id"]
            self.model.turns[run] = Turn("fitter", "operator", False)
            self.tools_are(run, tools)
        self.sync()

    def same_refusal(self, tools, hidden, message):
        """The answer for a tool that does not exist, if the agent does not see the tool."""
        if hidden == "nothing" or self.model.covers("fitter", "artifacts", hidden):
            return
        twin = "q" * len(hidden)
        others = [twin if tool == hidden else tool for tool in tools]
        self.must("operator", "invoke", action={"action_type": "write_artifact", "artifact_id": "fitter",
                                                "content": self.source.agent_content(others)})
        answer = self.socket.call("operator", "step", {"agent": "fitter", "message": "Go."})
        if answer["ok"] or answer["error"]["message"].replace(twin, "X") != message.replace(hidden, "X"):
            self.fail("agent", f"tools {tools}", "fitter", "step", answer, message)
        self.model.artifacts["fitter"].tools = ["nothing"]

    def tools_are(self, run, tools):
        setup = json.loads(self.read(f"reducers/sys.turn_setup/{run}"))
        told = json.dumps(setup)
        names = [tool.get("name", tool.get("function", {}).get("name")) for tool in setup["tools"]]
        if sorted(names) != sorted(tools):
            self.fail("agent", "tools", "fitter", run, tools, names)
        for word in set(CANARY.findall(told)):
            if not self.model.canaries[word]("fitter"):
                self.leaks("agent", "tools", "fitter", run, word, told)

    def turn_question(self, verb, more, expected):
        turn = self.random_turn()
        door = self.random.choice([name for name in ("socket", "mount", "others", "socket", "mount")
                                   if name != "others" or self.others])
        who = self.random.choice(list(USERS)) if door == "others" else self.random.choice(PEOPLE + ["robot", "minion"]) \
            if door == "socket" else self.random.choice(PEOPLE)
        acting = self.principal_at(door, who, verb)
        state = self.model.turns.get(turn)
        accepted = expected(acting, turn) if acting else {REFUSED}
        if state and not state.waits and acting:
            accepted = accepted | {MISSING, ("conflict",), ("invalid",), OK, REFUSED}
        answer = self.compare(door, verb, who, verb, {"turn_id": turn} | more, accepted)
        if answer == OK and state and state.waits:
            state.waits = False
            self.settle(turn)
        elif acting and answer != OK and self.model.covered(acting, ("turns", turn), 0) == NOT_SEEN and \
                state and state.waits and acting not in (state.asker, state.agent):
            self.alike(acting, verb, more, "turn_id", turn, "robot.99999")
        if answer == OK and not any(turn.waits for turn in self.model.turns.values()):
            self.changes.append("")
            self.waiting_turn()
        self.sync()

    def ask_cancel(self):
        self.turn_question("cancel", {}, self.model.cancel)

    def ask_approve(self):
        more = {"call_id": "c", "decision": self.random.choice(("allow", "deny"))}
        self.turn_question("approve", more, self.model.approve)

    def ask_plan(self):
        verb = self.random.choice(("plan-status", "plan-resume", "plan-cancel"))
        plan = self.random_plan()
        door = self.random.choice(("socket",) * 15 + ("command",))
        if verb == "plan-resume":
            door = "socket"
        who = self.who_at(door)
        seen = self.model.covers(who, "plans", plan) and self.model.reads(who, LIST_CELLS)
        if verb == "plan-status":
            accepted = set() if plan in self.model.plans and seen else {MISSING, REFUSED}
        else:
            accepted = self.model.drive_plan(who, plan, {"plan-resume": "plan.run", "plan-cancel": "plan.cancel"}[verb])
            if not accepted:
                accepted = {OK, ("invalid",), ("no_change",), ("effect_failed",), ("effect_refused",)}
        answer = self.compare(door, "plan", who, verb, {"plan_id": plan}, accepted)
        if answer != OK and not seen and MISSING in accepted and self.model.plans.get(plan, who) != who:
            self.alike(who, verb, {}, "plan_id", plan, "f" * 32)
        self.sync()

    # --- timers ---

    def ask_schedule(self):
        """A timer that fires long after this test; some have a private text in their action."""
        door = self.random_door("invoke")
        who = self.who_at(door)
        acting = self.principal_at(door, who, "invoke")
        timer = self.random_timer()[1] if self.random.random() < 0.2 else f"t{self.asked}"
        private = bool(acting) and self.random.random() < 0.5
        action = {"action_type": "noop"}
        if private:
            action = {"action_type": "write_artifact", "artifact_id": f"later{self.asked}", "access": "private",
                      "content": self.source.text_word(acting, [])}
        accepted = {REFUSED} if not acting else self.model.timer(acting, "timer.schedule")
        if not accepted and (acting, timer) in self.model.timers:
            accepted = {("already_exists",)}
        answer = self.compare(door, "schedule", who, "invoke", {"action": {
            "action_type": "schedule", "id": timer, "after_ms": FAR_MS, "action": action}}, accepted)
        if answer == OK:
            self.model.timers[acting, timer] = private
        self.sync()

    def ask_unschedule(self):
        """A principal deletes only timers of its own."""
        door = self.random_door("invoke")
        who = self.who_at(door)
        acting = self.principal_at(door, who, "invoke")
        timer = self.random_timer()[1]
        accepted = {REFUSED} if not acting else self.model.timer(acting, "timer.unschedule")
        if not accepted and (acting, timer) not in self.model.timers:
            accepted = {MISSING}
        answer = self.compare(door, "unschedule", who, "invoke",
                              {"action": {"action_type": "unschedule", "id": timer}}, accepted)
        if answer == OK:
            del self.model.timers[acting, timer]
        self.sync()

    def ask_timers(self):
        """The list has the timers whose files the principal sees, and says which are private."""
        door = self.random.choice(("socket",) * 12 + ("command",))
        who = self.who_at(door)
        of = self.random.choice((None, None, "alice", "bob"))
        reads = self.model.reads(who, LIST_CELLS) and self.model.covered(who, ("principals",), 0) > NOT_SEEN
        rows = frozenset((owner, timer, private) for (owner, timer), private in self.model.timers.items()
                         if reads and of in (None, owner) and
                         self.model.covers(who, "principals", owner, "timers", f"{timer}.json"))

        def right(given):
            return rows == frozenset((row["principal"], row["id"], row["action_type"] == "private")
                                     for row in given["timers"])

        accepted = {OK} if self.model.reads(who, LIST_CELLS) else {REFUSED}
        self.compare(door, "timers", who, "timers", {"principal": of} if of else {}, accepted, right)

    def ask_fire(self):
        """A timer fires: its action is judged then, and others read the record as any other one."""
        who = self.random.choice(PEOPLE)
        if self.model.timer(who, "timer.schedule"):
            return
        action, name, document = self.random_action()
        timer, first = f"fires{self.asked}", self.read_to
        expected = self.model.fire(who, action, name)
        self.must(who, "invoke", action={"action_type": "schedule", "id": timer, "after_ms": 300, "action": document})
        taken = [grant.name for grant in self.model.grants.values()
                 if grant.to == who != "operator" and grant.cap in ("sys/timer@1", "sys/act@1")]
        taken = self.random.choice(taken) if taken and self.random.random() < 0.4 else None
        if taken:
            self.changes.append(f"{who} loses")
            self.take(taken)
        record, revoked = self.fired(who, timer, first, taken)
        expected = self.model.fire(who, action, name) if revoked else expected
        body = record["body"]
        code = body["code"] if record["kind"] == "decision" else body["result"].get("error_code")
        got = (refusal({"code": code}) if code else OK), body, json.dumps(record)
        if got[0] == OK:
            self.paid(who, action, name)
        self.counts["timer"] += 1
        self.kinds["fire"] += 1
        self.judge("timer", "fire", who, document, expected, got)
        self.sync()
        path = ("journal", f"{record['seq']}.json")
        reader = self.random.choice(PEOPLE)
        accepted, result = self.expected_look(reader, "fs-read", path)
        self.compare("socket", "look", reader, "fs-read", {"path": "/".join(path)}, accepted, result)

    def fired(self, who, timer, first, taken):
        """Waits for the record of a timer. Return: it, and whether the grant was taken before."""
        for _ in range(1000):
            revoked = False
            page = {"next_from": first}
            while page.get("next_from"):
                page = self.must("operator", "journal-read", **{"from": page["next_from"]})
                for record in page["records"]:
                    action = record["body"].get("action") or {}
                    revoked |= record["kind"] == "action" and action.get("action_type") == "revoke" and \
                        action.get("name") == taken
                    if record["principal"] == who and record["body"].get("timer") == timer:
                        return record, revoked
            time.sleep(0.02)
        return self.fail("timer", "fire", who, timer, "a record", None)

    # --- agents and plans as interfaces ---

    def random_calls(self, who):
        """Questions for tools: [(name, arguments, right answers, result)]"""
        calls = []
        for _ in range(4):
            if self.random.random() < 0.5:
                path = self.random_path()
                if path[0] == "journal" and path[1] == "log.jsonl":
                    path = ("journal", "texts", "0" * 64)
                accepted, result = self.expected_look(who, "fs-read", path)
                calls.append(("fs_read", {"path": "/".join(path)}, accepted, result))
            elif self.random.random() < 0.5:
                name = self.random_artifact()
                accepted, _ = self.expected_query(who, "artifact", name)
                calls.append(("query_kernel", {"query_type": "artifact", "params": {"artifact_id": name}}, accepted, None))
            elif self.random.random() < 0.3:
                timer = f"t{self.asked}.{len(calls)}"
                accepted = self.model.timer(who, "timer.schedule")
                if not accepted:
                    self.model.timers[who, timer] = False
                calls.append(("schedule", {"id": timer, "after_ms": FAR_MS, "action": {"action_type": "noop"}},
                              accepted or {OK}, None))
            else:
                name = self.random_artifact()
                accepted = self.model.act(who, "read_artifact", name)
                if not accepted:
                    self.paid(who, "read_artifact", name)
                calls.append(("read_artifact", {"artifact_id": name}, accepted or {OK}, None))
        return calls

    def ask_turn(self):
        """Tools of an agent act in the name of the agent."""
        calls = self.random_calls("scout")
        given = self.run_turn("scout", [{"id": f"c{i}", "name": name, "arguments": json.dumps(arguments)}
                                        for i, (name, arguments, _, _) in enumerate(calls)])
        for i, (name, arguments, accepted, result) in enumerate(calls):
            text = given[f"c{i}"]
            if not isinstance(text, str):
                continue  # is not for the asker
            failed = text.startswith("Tool execution failed: ")
            got = judged_works_doors.of_text(text) if failed else OK, text, ""
            self.counts["agent"] += 1
            self.kinds["turn"] += 1
            self.judge("agent", name, "scout", arguments, accepted, got)
            for word in set(CANARY.findall(text)):  # the operator gets it
                if not self.model.canaries[word]("scout") or not self.model.canaries[word]("operator"):
                    self.leaks("agent", name, "scout", arguments, word, text)
        self.sync()

    def ask_steps(self):
        """Steps of a plan act in the name of its principal."""
        who = self.random.choice(PEOPLE)
        if not self.model.held(who, "drive") or not self.model.drives(who, "plan.run"):
            return
        calls = self.random_calls(who)
        plan = {"steps": [{"id": f"s{i}", "type": "tool", "tool": {"name": name, "args": arguments}}
                          for i, (name, arguments, _, _) in enumerate(calls)]}
        self.script("default", [{"match": "PLAN_STATUS", "content": "done"}, {"match": "Go.", "content": json.dumps(plan)}])
        answer = self.socket.call(who, "chat", {"message": "Go.", "session_id": f"t{self.asked}"})
        document = answer["result"] if answer["ok"] else answer["error"]["details"]
        if not document["checkpoint"]:
            self.fail("plan", "steps", who, calls, "a plan", answer)
        self.model.plans[document["checkpoint"]["plan_id"]] = who
        for (name, arguments, accepted, result), given in zip(calls, document["tool_results"]):
            text = json.dumps(given)
            got = OK if given["ok"] else judged_works_doors.of_text(text), given, text
            self.counts["plan"] += 1
            self.kinds["steps"] += 1
            self.judge("plan", name, who, arguments, accepted, got)
        self.sync()
