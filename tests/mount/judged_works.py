# SPDX-License-Identifier: Apache-2.0
"""A world at work for test-judged: agents take turns, plans run, code asks, texts are private.

Each question goes through one interface. Its answer must be one that the model gives, bytes must be
those that the operator reads, and no canary may be in it that its principal may not read.
"""
import base64
import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time

import judged_works_doors
from judged_model import Grant
from judged_works_doors import LOOKS
from judged_works_model import OK, Artifact, Turn
from judged_works_questions import KINDS, Questions
from judged_works_world import AGENTS, CANARY, PEOPLE, USERS, Source

PER_CHANGE = 25  # questions between two changes
STAND_IN = ("hash", "of", "size")


class Works(Questions):
    def __init__(self, options, number):
        self.options, self.number = options, number
        self.random = random.Random(f"works:{options.seed}:{number}")
        self.source = Source(self.random)
        self.model = self.source.model
        self.counts, self.answers = collections.Counter(), collections.Counter()
        self.kinds = collections.Counter()
        self.changes = []
        self.read_to = 0  # records of the journal that were read
        self.texts_known = 0  # records that the model knows
        self.opened = []  # descriptors: (principal, path, descriptor, bytes)
        self.asked = 0

    # --- life ---

    def open(self):
        options, directory = self.options, self.options.world_directory
        for old in (directory, directory + ".source"):
            shutil.rmtree(old, ignore_errors=True)
        self.make(directory)
        os.chmod(os.path.dirname(options.tree), 0o711)
        self.mount = judged_works_doors.Mount(options.worldfs, directory, options.tree, PEOPLE)
        self.socket = judged_works_doors.Socket(directory)
        self.tools = judged_works_doors.Tools(options.worldfs, directory)
        self.command = judged_works_doors.CommandLine(options.worldfs, directory)
        self.others = judged_works_doors.Others(options.worldfs, directory, options.tree, USERS) \
            if os.getuid() == 0 else None
        self.begin()

    def make(self, directory):
        """Makes the world; random rules that never match are left out."""
        rules = self.model.rules
        while True:
            shutil.rmtree(directory + ".source", ignore_errors=True)
            self.source.write(directory + ".source", self.options.source_root)
            done = subprocess.run([self.options.worldfs, "init", directory, "--from", directory + ".source"],
                                  capture_output=True, text=True)
            useless = re.findall(r"/policies/0/rules/(\d+): never matches", done.stderr)
            if not useless:
                break
            rules[:] = [rule for i, rule in enumerate(rules) if str(i) not in useless]
        if done.returncode:
            sys.exit(f"not ok - init: {done.stderr}")
        subprocess.run([self.options.worldfs, "-w", directory, "trust", "--yes"], check=True, capture_output=True)

    def begin(self):
        self.script("agents", [])
        for name in AGENTS:
            if name != "minion":
                self.give(Grant(f"{name}.llm.0", name, "sys/llm@1", {}))
        self.give(Grant("robot.act.0", "robot", "sys/act@1", {}))
        self.give(Grant("robot.query.0", "robot", "sys/query@1", {}))
        self.give(Grant("robot.drive.0", "robot", "sys/drive@1", {"approve": True}))
        self.give(Grant("scout.act.0", "scout", "sys/act@1", {}))
        self.give(self.source.random_grant("scout", "query", "scout.query.0"))
        self.give(Grant("scout.timer.0", "scout", "sys/timer@1", {}))
        self.give(self.source.random_grant("fitter", "query", "fitter.query.0"))
        self.give(self.source.random_grant("fitter", "act", "fitter.act.0"))
        self.give(Grant("pays", "alice", "sys/act@1", {}))
        self.must("alice", "invoke", action={"action_type": "transfer", "to": "operator", "amount": 100_000})
        self.drop(self.model.grants["pays"])
        self.must("robot", "invoke", action={"action_type": "write_artifact", "artifact_id": "minion", "type": "agent",
                                             "content": self.source.agent_content([])})
        self.model.artifacts["minion"] = Artifact("minion", "robot", type="agent")
        self.give(Grant("minion.drive.0", "minion", "sys/drive@1", {"approve": True}), to_artifact_of="robot")
        word = self.source.content_word("scout_diary", "scout")
        self.must("scout", "invoke", action={"action_type": "write_artifact", "artifact_id": "scout_diary",
                                             "access": "private", "content": word})
        self.model.artifacts["scout_diary"] = Artifact("scout_diary", "scout", "private")
        self.source.content["scout_diary"] = word
        for change in (self.text, self.agent_text, self.waiting_turn, self.plan):
            change()
        self.must("operator", "tools")  # from now on the tree shows them
        self.sync()

    def close(self):
        for _, _, descriptor, _ in self.opened:
            os.close(descriptor)
        self.tools.close()
        self.socket.close()
        if self.others:
            self.others.close()
        self.mount.close()
        with open(os.path.join(self.options.world_directory, "worldfs.log"), encoding="utf-8") as file:
            told = CANARY.findall(file.read())
        if told:
            self.fail("log", "log", "nobody", "worldfs.log", "no canary", told)
        shutil.rmtree(self.options.world_directory)

    def must(self, who, verb, **payload):
        answer = self.socket.call(who, verb, payload)
        if not answer["ok"]:
            sys.exit(f"not ok - {who} {verb} {payload}: {answer['error']} (world {self.number} of {self.options.seed})")
        return answer["result"]

    def read(self, path):
        """The contents of a file as the operator sees it, or None."""
        answer, data, _ = self.socket.ask("operator", "fs-read", {"path": path})
        return data if answer == OK else None

    def sync(self):
        """Learns the texts from the journal, and the turns and plans from the tree."""
        while True:
            page = self.must("operator", "journal-read", **{"from": self.read_to})
            for record in page["records"]:
                self.read_to = record["seq"] + 1
                self.stand_ins(record["body"], record["principal"])
            if not page.get("next_from"):
                break
        for name in list(self.model.texts)[self.texts_known:]:
            self.belongs(name)
        self.texts_known = len(self.model.texts)

    def belongs(self, name):
        """A text belongs to the artifacts to which it was said, or to its principal alone."""
        for word in set(CANARY.findall(self.read(f"journal/texts/{name}").decode(errors="replace"))):
            for who in PEOPLE:
                may = self.model.may_read_text(who, self.model.texts[name])
                if self.source.about[word].startswith("text of") and may != self.model.canaries[word](who):
                    self.fail("record", "text", who, name, self.source.about[word], self.model.texts[name])

    def stand_ins(self, value, principal):
        if isinstance(value, dict):
            if tuple(sorted(value)) == STAND_IN and isinstance(value["of"], list):
                texts = self.model.texts.setdefault(value["hash"].removeprefix("sha256:"), [])
                if (value["of"], principal) not in texts:
                    texts.append((value["of"], principal))
            value = list(value.values())
        if isinstance(value, list):
            for item in value:
                self.stand_ins(item, principal)

    # --- changes ---

    def change(self):
        changes = {self.grant: 8, self.revoke: 5, self.pass_on: 3, self.text: 5, self.agent_text: 1, self.access: 3,
                   self.give_away: 1, self.delete: 0.4, self.waiting_turn: 2, self.plan: 2, self.open_file: 5}
        change, = self.random.choices(list(changes), list(changes.values()))
        self.changes.append(change.__name__)
        change()
        self.sync()

    def give(self, grant, **more):
        self.must("operator", "grant", to=grant.to, **grant.document(), **more)
        self.model.grants[grant.name] = grant

    def grant(self):
        who = self.random.choice(PEOPLE[1:] + ["scout", "fitter"])
        cap = self.random.choice(["query"] * 5 + ["act", "act", "drive", "drive", "tool", "tool", "timer", "timer"] if who in PEOPLE else ["query", "act"])
        if who in PEOPLE and self.random.random() < 0.03:
            cap = "admin"
        grant = self.source.random_grant(who, cap, f"given{self.read_to}.{len(self.changes)}", self.model.turns,
                                         self.model.plans)
        self.give(grant)
        self.changes[-1] += f" {grant.document()} to {who}"

    def revoke(self):
        names = sorted(name for name, grant in self.model.grants.items()
                       if grant.to in PEOPLE[1:] + ["scout", "fitter", "puppet"] and grant.cap != "sys/llm@1")
        if names:
            self.take(self.random.choice(names))

    def take(self, name):
        gone = [name]
        for one in gone:
            gone += [grant.name for grant in self.model.grants.values() if grant.source == one]
        self.must("operator", "revoke", name=name)
        self.changes[-1] += f" {gone}"
        for one in gone:
            del self.model.grants[one]

    def pass_on(self):
        """An agent delegates its right to approve."""
        to = self.random.choice(PEOPLE[1:])
        name = f"passed{self.read_to}.{len(self.changes)}"
        grant = Grant(name, to, "sys/drive@1", {"approve": True}, source="robot.drive.0")
        if self.socket.call("robot", "grant", {"to": to} | grant.document())["ok"]:
            self.model.grants[name] = grant

    def private_of(self, who):
        return [name for name, artifact in sorted(self.model.artifacts.items())
                if artifact.owner == who and not artifact.deleted and artifact.type != "agent"]

    def text(self):
        """A principal says something to a private artifact: the records have a stand-in for it."""
        who = self.random.choice(PEOPLE[1:])
        names = self.private_of(who)
        if not names or not self.model.act_grant_covers("operator", "noop", None):
            return
        name = self.random.choice(names)
        artifact = self.model.artifacts[name]
        grant = Grant(f"text{self.read_to}.{len(self.changes)}", who, "sys/act@1", {})
        self.give(grant)
        of = [] if artifact.name == "alice_pin" else [name]
        if artifact.executable:
            method = {"method": "run"} if artifact.name == "alice_pin" else {}
            hidden = artifact.name == "alice_pin" or not artifact.is_free()
            if name.endswith("_asks") or not hidden:
                return self.drop(grant)
            word = self.source.text_word(who, of)
            args = [{"pin": word}] if artifact.name == "alice_pin" else [word]
            action = {"action_type": "invoke_artifact", "artifact_id": name, "args": args} | method
        elif artifact.is_free():
            return self.drop(grant)
        else:
            old, word = self.source.content[name], self.source.content_word(name, who)
            self.source.content[name] = word
            action = {"action_type": "edit_artifact", "artifact_id": name, "old_string": old, "new_string": word}
        self.socket.call(who, "invoke", {"action": action})
        self.source.content[name] = self.newest(name)
        return self.drop(grant)

    def newest(self, name):
        """The artifact's content now, whether an edit succeeded or not."""
        data = self.read(f"artifacts/{name}/content")
        return data.decode() if data else self.source.content[name]

    def drop(self, grant):
        self.must("operator", "revoke", name=grant.name)
        del self.model.grants[grant.name]

    def agent_text(self):
        """An agent edits an artifact of its own, and invokes with words of its own."""
        word = self.source.content_word("scout_diary", "scout")
        calls = [{"id": "e", "name": "edit_artifact", "arguments": json.dumps(
            {"artifact_id": "scout_diary", "old_string": self.source.content["scout_diary"], "new_string": word})},
            {"id": "r", "name": "read_artifact", "arguments": '{"artifact_id":"scout_diary"}'},
            {"id": "f", "name": "fs_read", "arguments": '{"path":"artifacts/scout_diary/content"}'}]
        self.run_turn("scout", calls)
        self.source.content["scout_diary"] = self.newest("scout_diary")

    def access(self):
        name = self.random.choice([name for who in PEOPLE[1:] for name in self.private_of(who)] or [None])
        if not name or name.endswith("_asks"):
            return
        artifact = self.model.artifacts[name]
        access = self.random.choice(("freeware", "private", "self_owned", "public"))
        price = self.random.choice((0, 0, 3)) if access == "freeware" else 0
        grant = Grant(f"access{self.read_to}.{len(self.changes)}", artifact.owner, "sys/act@1", {})
        self.give(grant)
        action = {"action_type": "write_artifact", "artifact_id": name, "access": access,
                  "policy": {"read_price": price, "invoke_price": 0}}
        word = self.source.content_word(name, artifact.owner)
        if not artifact.executable:
            action["content"] = word
        old = self.source.content[name], artifact.is_free()
        answer = self.socket.call(artifact.owner, "invoke", {"action": action})
        self.drop(grant)
        if answer["ok"]:
            artifact.access, artifact.read_price = access, price
            if old[1]:  # records may have repeated the word
                self.model.canaries[old[0]] = lambda who: True
            if not artifact.executable:
                self.source.content[name] = word
        self.changes[-1] += f" {name} {access} {price} {answer['ok']}"

    def give_away(self):
        name = self.random.choice([name for who in PEOPLE[1:] for name in self.private_of(who)] or [None])
        if not name or name.endswith("_asks"):
            return
        artifact, to = self.model.artifacts[name], self.random.choice(PEOPLE[1:])
        grant = Grant(f"away{self.read_to}.{len(self.changes)}", artifact.owner, "sys/act@1", {})
        self.give(grant)
        answer = self.socket.call(artifact.owner, "invoke", {"action": {
            "action_type": "transfer_ownership", "artifact_id": name, "to": to}})
        self.drop(grant)
        if answer["ok"]:
            self.source.know(self.source.content[name], artifact.owner)
            self.source.know(self.source.content[name], to)
            artifact.owner = to
        self.changes[-1] += f" {name} to {to} {answer['ok']}"

    def delete(self):
        name = self.random.choice([name for who in PEOPLE[1:] for name in self.private_of(who)] or [None])
        if not name or name.endswith("_asks"):
            return
        artifact = self.model.artifacts[name]
        grant = Grant(f"delete{self.read_to}.{len(self.changes)}", artifact.owner, "sys/act@1", {})
        self.give(grant)
        answer = self.socket.call(artifact.owner, "invoke", {"action": {"action_type": "delete_artifact",
                                                                         "artifact_id": name}})
        self.drop(grant)
        artifact.deleted = answer["ok"]
        self.changes[-1] += f" {name} {answer['ok']}"

    def script(self, name, lines):
        path = os.path.join(self.options.world_directory, f"{name}.jsonl")
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines + [{"turn": i, "content": "done"} for i in (1, 2, 3)])
        os.rename(path + ".new", path)

    def run_turn(self, agent, calls, who="operator"):
        """Return: the result of each call, by its id."""
        self.script("agents", [{"turn": 1, "tool_calls": calls}])
        result = self.must(who, "step", agent=agent, message="Go.")
        self.script("agents", [])
        self.model.turns[result["run_id"]] = Turn(agent, who, False)
        return {message["tool_call_id"]: message["content"] for message in result["history"]
                if message["role"] == "tool"}

    def waiting_turn(self):
        """A principal that may drive robot has it take a turn, in which a call waits."""
        able = [who for who in PEOPLE if not self.model.step(who, "robot")]
        if len(able) > 1 and self.random.random() < 0.8:
            able.remove("operator")
        who = self.random.choice(able)
        arguments = json.dumps({"artifact_id": f"made{len(self.model.turns)}", "content": "made"})
        self.script("agents", [{"turn": 1, "tool_calls": [{"id": "c", "name": "write_artifact", "arguments": arguments}]}])
        turn = self.must(who, "step", agent="robot", message="Go.", wait=False)["turn_id"]
        self.settle(turn, "waiting")
        self.script("agents", [])
        self.model.turns[turn] = Turn("robot", who, True)
        self.changes[-1:] = [f"{who} begins {turn}, which waits"]

    def settle(self, turn, *states):
        """Waits until the turn waits, or has ended."""
        for _ in range(2000):
            state = (self.read(f"turns/{turn}/status") or b"running").decode().split()[0]
            if state in states or (not states and state not in ("running", "waiting")):
                return
            time.sleep(0.005)
        sys.exit(f"not ok - {turn} is {state}")

    def plan(self):
        """Makes a plan that was not begun, for a principal that may drive."""
        blob = base64.b64encode(json.dumps({"steps": [{"id": "a", "type": "note", "title": f"n{len(self.model.plans)}"}]})
                                .encode()).decode()
        who = self.random.choice([who for who in PEOPLE if self.model.held(who, "drive") and self.model.drives(who, "plan.run")])
        grant = Grant(f"plan{self.read_to}.{len(self.changes)}", who, "sys/blob@1", {})
        self.give(grant)
        blob = self.must("operator", "put-blob", data_b64=blob)["hash"]
        plan = self.must(who, "plan-import", blob=blob, session_id="s")["checkpoint"]["plan_id"]
        self.drop(grant)
        self.model.plans[plan] = who
        self.changes[-1:] = [f"{who} imports {plan}"]

    def open_file(self):
        """Opens a file, to read it again after rights have changed."""
        who = self.random.choice(PEOPLE[1:])
        path = self.random_path()
        if path[0] not in ("artifacts", "turns", "plans", "journal") or len(path) < 3:
            return
        try:
            descriptor = os.open(os.path.join(self.mount.points[who], *path), os.O_RDONLY)
        except OSError:
            return
        try:
            data = os.pread(descriptor, 1 << 20, 0)
        except OSError:
            return os.close(descriptor)
        if not data:  # Linux asks no server for the bytes of an empty file
            return os.close(descriptor)
        if len(self.opened) > 20:
            os.close(self.opened.pop(0)[2])
        self.opened.append((who, path, descriptor, data))

    # --- comparing ---

    def through(self, door, who, verb, payload):
        """The answer, or None if the interface has no such verb."""
        if door == "others":
            return self.others.ask(who, verb, payload)
        if door == "resources":
            return self.tools.resource(who, verb, payload)
        return getattr(self, door).ask(who, verb, payload)

    def principal_at(self, door, who, verb):
        """Which principal reads or acts; None: no principal. Other users read what the operator's mount shows."""
        if door != "others":
            return who
        return "operator" if verb in LOOKS else USERS[who]

    def compare(self, door, kind, who, verb, payload, accepted, result=None, author=None):
        """
        accepted: the right answers; none: the request must succeed.
        result: the expected result; may be a function that checks the result.
        author: of code that may show what its author may read
        """
        got = self.through(door, who, verb, payload)
        if got is None:
            return None
        acting = self.principal_at(door, who, verb)
        self.counts[door] += 1
        self.kinds[kind] += 1
        return self.judge(door, kind, acting, (verb, payload), accepted or {OK}, got, result, author)

    def judge(self, door, kind, who, asked, accepted, got, result=None, author=None):
        answer, given, raw = got
        self.answers[answer[0]] += 1
        if answer not in accepted:
            self.fail(door, kind, who, asked, accepted, (answer, given))
        if answer == OK and result is not None:
            right = result(given) if callable(result) else given == result
            if not right:
                self.fail(door, kind, who, asked, result, given)
        for word in set(CANARY.findall(raw)):
            if kind == "plan" and self.source.about[word].startswith("description"):
                continue  # the principal got its steps when it could see the plan
            if not any(reader and self.model.canaries[word](reader) for reader in (who, author)):
                self.leaks(door, kind, who, asked, word, raw)
        return answer

    def leaks(self, door, kind, who, asked, word, raw):
        i = raw.index(word)
        self.fail(door, kind, who, asked, f"nothing of {word}, {self.source.about[word]}",
                  f"… {raw[max(0, i - 500):i + 200]} …")

    def fail(self, door, kind, who, asked, expected, got):
        print(f"not ok - a difference in world {self.number}, after: {'; '.join(self.changes[-5:])}")
        for i, rule in enumerate(self.model.rules):
            if rule["when"].get("principal", who) == who:
                print(f"  policy rule {i}: {json.dumps(rule['when'])} {rule['decision']}")
        for grant in self.model.grants.values():
            if grant.to == who:
                print(f"  grant {json.dumps(grant.document())}" + (f" from {grant.source}" if grant.source else ""))
        for name, artifact in self.model.artifacts.items():
            if name in repr(asked):
                print(f"  artifact {vars(artifact)}")
                print("    in truth", self.socket.call("operator", "query", {"query_type": "artifact", "params": {"artifact_id": name}}))
        told = [f"  text {name} of {texts}" for name, texts in self.model.texts.items() if name in repr((asked, got))]
        print("\n".join(told[:6]))
        print(f"  {who} asks {door} for {kind}: {asked}")
        print(f"  expected {expected if not callable(expected) else 'what the rules give'}")
        print(f"  got      {re.sub(r'(?s)(.{900}).*', chr(92) + '1 …', repr(got))}")
        print(f"  again: meson test -C BUILD judged -v --test-args='--seed={self.options.seed} --world={self.number} "
              f"{self.options.questions}'", flush=True)
        sys.exit(1)

    def ask_all(self, count):
        kinds, weights = list(KINDS), list(KINDS.values())
        while sum(self.counts.values()) < count:
            if self.asked % PER_CHANGE == 0:
                self.changes.append("")
                self.change()
            self.asked += 1
            kind, = self.random.choices(kinds, weights)
            getattr(self, "ask_" + kind)()

