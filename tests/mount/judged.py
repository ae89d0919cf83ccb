# SPDX-License-Identifier: Apache-2.0
"""Random worlds, grants, policies and questions; every interface must answer as the model does.

Every second world is one at work, see judged_works.py; the others are about the tree.

Run by test-judged, which says what WORLD and TREE are. A world has its own seed, made of the one
that is printed and its number, so that `--seed` and `--world` together repeat it.
"""
import argparse
import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time

import judged_doors
import judged_works
import judged_world
from judged_model import Grant, file_name

PER_WORLD = 2000  # number of questions
PER_CHANGE = 80  # questions between two changes
SHARES = {"mount": 45, "socket": 37, "tools": 15, "command": 3}  # a command needs a process for each

Question = collections.namedtuple("Question", "door kind who path at reducer key first hash limit")


class Asker:
    """One world, and the questions to it."""

    def __init__(self, options, number):
        self.options = options
        self.number = number
        self.random = random.Random(f"{options.seed}:{number}")
        with open(os.path.join(options.source_root, "tests/data/worlds/counter/counter.lua"), "rb") as file:
            self.module = file.read()
        self.patterns = judged_world.random_paths()
        self.source = judged_world.Source(self.random, self.patterns)
        self.world = judged_world.World(self.module)
        self.changes = ["init"]
        self.counts = collections.Counter()
        self.answers = collections.Counter()
        self.kinds = collections.Counter()
        self.expiries = []
        self.refused = {}  # principal: time of its last refusal
        self.doors = {}

    # --- life ---

    def open(self):
        options = self.options
        directory = options.world_directory
        for old in (directory, directory + ".source"):
            shutil.rmtree(old, ignore_errors=True)
        self.make(directory)
        self.model = self.source.begin(self.world)
        mount = judged_doors.Mount(options.worldfs, directory, options.tree, self.source.principals)
        self.doors["mount"] = mount
        self.socket = self.world.operator = self.doors["socket"] = judged_doors.Socket(directory)
        self.doors["command"] = judged_doors.CommandLine(options.worldfs, directory)
        self.doors["tools"] = judged_doors.Tools(options.worldfs, directory)
        self.doors = {name: door for name, door in self.doors.items() if name in options.doors}
        self.close_mounts = lambda: mount.close(options.worldfs)
        self.advance(2)  # genesis, and a snapshot
        for _ in range(30):
            self.event()

    def make(self, directory):
        """Makes the world; random rules that never match are refused, and left out."""
        while True:
            shutil.rmtree(directory + ".source", ignore_errors=True)
            self.source.write(directory + ".source", self.module)
            init = [self.options.worldfs, "init", directory, "--from", directory + ".source"]
            done = subprocess.run(init, capture_output=True, text=True)
            useless = re.findall(r"/policies/0/rules/(\d+): never matches", done.stderr)
            if not useless:
                return self.check(init, done)
            self.source.rules = [rule for i, rule in enumerate(self.source.rules) if str(i) not in useless]

    def close(self):
        for name, door in self.doors.items():
            if name not in ("mount", "socket"):
                door.close()
        self.socket.close()
        self.close_mounts()
        shutil.rmtree(self.options.world_directory)

    def run(self, *arguments):
        self.check(arguments, subprocess.run([self.options.worldfs, *arguments], capture_output=True, text=True))

    def check(self, arguments, done):
        if done.returncode:
            with open(self.options.world_directory + ".source/world.json", encoding="utf-8") as file:
                sys.exit(f"not ok - {arguments}: {done.stderr}{file.read()}")

    # --- changes ---

    def advance(self, height):
        """The world must be at this height, otherwise the next answers would be about another one."""
        self.world.height = height
        stands = self.socket.must("journal-head")["journal_height"]
        if stands != height:
            sys.exit(f"not ok - expected height {height}, the world stands at {stands}: {self.changes[-3:]}")

    def change(self):
        chance = self.random.random()
        if chance < 0.45:
            self.grant()
        elif chance < 0.6:
            self.pass_on()
        elif chance < 0.75:
            self.revoke()
        elif chance < 0.8:
            self.put_blob()
        for _ in range(self.random.choice((0, 1, 3))):
            self.event()

    def event(self):
        reducer = self.random.choice(sorted(judged_world.REDUCERS))
        key = "" if reducer == "total" else self.random.choice(judged_world.KEYS)
        by = None if self.random.random() < 0.15 else self.random.randint(0, 99)
        seqs = self.socket.must("send-event", schema=judged_world.REDUCERS[reducer],
                                value={"by": by} | ({} if reducer == "total" else {"key": key}))["seqs"]
        self.advance(seqs[0] + 1)
        self.world.fold(reducer, key, by)
        self.changes.append(f"event for {reducer}/{file_name(key)}")

    def put_blob(self):
        data = self.random.randbytes(self.random.choice((0, 10, 5000)))
        self.socket.must("put-blob", data_b64=judged_world.base64_text(data))
        self.advance(self.world.height + (not self.world.has_blob(data)))  # once is enough
        self.world.put(data)
        self.changes.append("put-blob")

    def grant(self):
        who = self.random.choice(self.source.principals[1:])
        soon = self.random.random() < 0.15
        ends = time.time_ns() + 300_000_000 if soon else None
        grant = self.source.random_grant(who, f"given{self.world.height}", ends)
        self.give(grant)
        if soon:
            self.expiries.append(ends)
        self.changes.append(f"grant {grant.name} to {who}" + (", which expires" if soon else ""))

    def give(self, grant):
        self.socket.must("grant", to=grant.to, **grant.document())
        self.take_grant(grant)

    def take_grant(self, grant):
        self.advance(self.world.height + 1)
        self.model.grants[grant.name] = grant
        self.world.set_cell("sys.grant", grant.name, b"")

    def pass_on(self):
        """A principal delegates a grant. The model does not ask whether it may: the test looks at the
        result."""
        held = sorted(name for name, grant in self.model.grants.items() if grant.to != "operator")
        if not held:
            return
        given = self.model.grants[self.random.choice(held)]
        to = self.random.choice(self.source.principals[1:])
        grant = Grant(f"passed{self.world.height}", to, given.cap, given.params, given.expires_at_ns)
        # A second refusal within a second is recorded later, with a count.
        time.sleep(max(0, self.refused.get(given.to, 0) + 1.1 - time.monotonic()))
        answer = self.socket.call(given.to, "grant", {"to": to} | grant.document())
        self.changes.append(f"{given.to} passes {given.name} on to {to}: {answer['ok']}")
        if not answer["ok"]:
            self.advance(self.world.height + 1)  # the refusal is recorded
            self.refused[given.to] = time.monotonic()
            return
        self.take_grant(grant)
        grant.source = json.loads(self.socket.read(f"reducers/sys.grant/{grant.name}", "head"))["from"]

    def revoke(self):
        names = sorted(name for name, grant in self.model.grants.items() if grant.to != "operator")
        if not names:
            return
        gone = self.revoke_grant(self.random.choice(names))
        self.changes.append(f"revoke {', '.join(gone)}")

    def revoke_grant(self, name):
        """Return: the names of all grants that are gone."""
        gone = self.passed_on_from(name)
        removed = self.socket.must("revoke", name=name)["removed"]
        self.advance(self.world.height + 1)
        if removed != len(gone):
            sys.exit(f"not ok - expected {gone} to be revoked, {removed} were")
        for one in gone:
            del self.model.grants[one]
            self.world.set_cell("sys.grant", one, None)
        return gone

    def passed_on_from(self, name):
        """The grant, and all that were delegated from it."""
        made = [grant.name for grant in self.model.grants.values() if grant.source == name]
        return [name] + [other for source in made for other in self.passed_on_from(source)]

    def wait_for_expiry(self):
        """Waits until expired grants have ended for mounts, too, which follow within a second."""
        if self.expiries and self.random.random() < 0.7:
            left = self.expiries[-1] + self.options.grace_ns - time.time_ns()
            time.sleep(max(0, left) / 1e9)
            self.changes.append("what was to expire has expired")

    # --- questions ---

    def random_name(self, reducer):
        names = sorted(self.world.versions[reducer])
        if names and self.random.random() < 0.8:
            return self.random.choice(names)
        return self.random.choice([file_name(key) for key in judged_world.KEYS] +
                                  ["nothing", "%61", "%2e", "%", "a%2fb", "%2E%2E", "na%C3%AFve"])

    def random_reducer(self):
        return self.random.choice(sorted(self.world.reducers) + ["nothing", "alph", "sys"])

    def random_path(self):
        chance = self.random.random()
        if chance < 0.08:
            path = ()
        elif chance < 0.25:
            # The model does not know which directories `artifacts` and `principals` have: see
            # test-tree-entity.
            path = (self.random.choice(["README", "manifest", "reducers", "plans", "turns", "blob", "journal", "at", "tools",
                                        "ctl", "nothing"]),)
        elif chance < 0.37:
            path = ("reducers", self.random_reducer())
        elif chance < 0.75:
            reducer = self.random.choice(sorted(self.world.reducers))
            path = ("reducers", reducer, self.random_name(reducer))
        elif chance < 0.87:
            path = ("journal", self.random.choice(
                ["head", "log.jsonl", "01.json", "head.json", f"{self.random.randint(0, self.world.height + 1)}.json"]))
        elif chance < 0.96:
            path = ("blob", self.random_blob(self.random.choice(("", "", "sha256:"))))
        else:
            path = self.random.choice((("artifacts", "alice_picture"), ("plans", "p"), ("turns", "nothing")))
        if path != ("ctl",) and self.random.random() < 0.04:
            path += ("below",)
        return path

    def random_height(self):
        return max(self.random.randint(1, self.world.height + (self.random.random() < 0.1)) for _ in range(2))

    def random_blob(self, prefix=""):
        unknown = f"{self.random.getrandbits(256):064x}"
        return prefix + self.random.choice(sorted(self.world.listed) * 2 + [unknown])

    def random_question(self):
        names = list(self.doors)
        name = self.random.choices(names, [SHARES[name] for name in names])[0]
        door = self.doors[name]
        kinds = [kind for kind in door.kinds for _ in range({"stat": 3, "names": 3, "read": 3, "hash": 1}.get(kind, 2))]
        kind = self.random.choice(kinds)
        path = at = None
        if kind in ("stat", "names", "read", "hash"):
            path = self.random_path()
            if self.random.random() < 0.3 and path[:1] not in (("at",), ("ctl",)):
                path = ("at", self.random.choice((str(self.random_height()), "head"))) + path
            elif name == "mount" and path[:1] == ("ctl",):
                kind = "stat"
        if name in ("socket", "command") and path and path[0] == "at":
            pass  # the path has its own height
        elif (name in ("socket", "command") or (name == "tools" and path is None)) and self.random.random() < 0.4:
            at = self.random.choice((f"exact:{self.random_height()}", f"at_least:{self.random_height()}", "head"))
        reducer = self.random_reducer()
        key = "" if reducer == "total" and self.random.random() < 0.9 else self.random.choice(judged_world.KEYS)
        if reducer in judged_world.BUILT_IN:
            key = self.random.choice(sorted(self.world.versions[reducer]) or judged_world.KEYS)
        who, = self.random.choices(self.source.principals, (1, 3, 3, 3, 1))
        return Question(name, kind, who, path, at, reducer, key,
                        self.random.randint(0, self.world.height + 1), self.random_blob(),
                        self.random.choice((None, None, 1, 3)))

    # --- comparing ---

    def expected(self, question, now):
        answer = self.model.answer(question, now)
        if question.door == "mount" and answer[0] == "refused":
            return ("refused",)
        if question.door == "tools" and question.kind == "state" and answer[0] == "bytes":
            return "state", json.loads(answer[1])
        return answer

    def difference(self, question):
        """None, or what was expected and what came."""
        begun = time.time_ns()
        got = self.doors[question.door].ask(question)
        ended = time.time_ns()
        expected = self.expected(question, ended)
        if got == expected:
            return None
        # A grant that expired just now may have counted or not; mounts take a second to follow.
        since = begun - (self.options.grace_ns if question.door == "mount" else 0)
        for moment in [since] + [expiry for expiry in self.expiries if since < expiry <= ended]:
            if got == self.expected(question, moment):
                return None
        return expected, got

    def grants_needed(self, question):
        """Revokes what the difference does not need. Return: the principal's grants that are left."""
        held = [grant for grant in self.model.grants.values() if grant.to == question.who]
        for grant in held if question.who != "operator" else []:
            if grant.name not in self.model.grants:
                continue  # delegated from a grant that is gone
            self.revoke_grant(grant.name)
            if not self.difference(question):
                self.give(grant)
        return [grant for grant in held if grant.name in self.model.grants]

    def rules_that_fit(self, who):
        """The rules up to the first one that decides all of the principal's questions."""
        for i, rule in enumerate(self.model.rules):
            if self.model.fits(rule["when"].get("principal", "*"), who):
                yield f"  policy rule {i}: {json.dumps(rule['when'])} {rule['decision']}"
                if not set(rule["when"]) - {"principal"}:
                    return

    def explain(self, question, difference):
        """The facts that the difference needs, and how to see it again."""
        where = f"a difference in world {self.number} at height {self.world.height}, " \
            f"after: {'; '.join(self.changes[-4:])}"
        grants = self.grants_needed(question)
        used = {"stat": "path", "names": "path limit", "read": "path", "hash": "path", "state": "reducer key",
                "cells": "reducer limit", "journal": "first limit", "blob": "hash"}.get(question.kind, "").split()
        members = question._asdict() | {"path": "/".join(question.path or ())}
        what = " ".join(f"{member}={members[member]!r}" for member in used + ["at"] if members[member] is not None)
        expected, got = (re.sub(r"(.{600}).*", r"\1 …", repr(answer), flags=re.DOTALL) for answer in difference)
        lines = [where, *self.rules_that_fit(question.who)]
        lines += [f"  grant {json.dumps(grant.document(), ensure_ascii=False)}" +
                  ("" if grant.live(time.time_ns()) else " (expired)") for grant in grants]
        if not self.difference(question):
            lines.append("  it is gone when asked again")
        if question.door == "mount" and not os.path.ismount(self.doors["mount"].points[question.who]):
            lines.append("  nothing is mounted there any more")
        with open(os.path.join(self.options.world_directory, "worldfs.log"), encoding="utf-8") as file:
            lines += [f"  worldfs.log: {line.rstrip()}" for line in file.readlines()[-3:]]
        return "\n".join(lines + [
            f"  {question.who} asks the {question.door} for {question.kind}: {what}",
            f"  expected {expected}", f"  got      {got}",
            f"  again: meson test -C BUILD judged -v --test-args='--seed={self.options.seed} "
            f"--world={self.number} {self.options.questions}'"])

    def ask_all(self, count):
        while count > 0:
            self.wait_for_expiry()
            self.change()
            for _ in range(min(count, PER_CHANGE)):
                question = self.random_question()
                difference = self.difference(question)
                if difference:
                    print(f"not ok - {self.explain(question, difference)}")
                    sys.exit(1)
                self.counts[question.door] += 1
                self.kinds[question.kind] += 1
                self.answers[self.model.answer(question, time.time_ns())[0]] += 1
            count -= PER_CHANGE


def numbers_of(text):
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("worldfs")
    parser.add_argument("world_directory")
    parser.add_argument("tree")
    parser.add_argument("source_root")
    parser.add_argument("questions", type=int)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--world", type=numbers_of, help="only this one, or those from the first to the second of A-B")
    parser.add_argument("--works", action="store_true", help="worlds at work alone")
    parser.add_argument("--doors", default=",".join(SHARES), type=lambda text: text.split(","))
    options = parser.parse_args()
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 32)
    # One second, and another one because the machine may be busy.
    options.grace_ns = 2_000_000_000 * int(os.environ.get("SLOWDOWN", "1"))
    return options


def main():
    options = arguments()
    print(f"# seed {options.seed}", flush=True)
    worlds = max(2, round(options.questions / PER_WORLD))
    totals, answers, kinds = collections.Counter(), collections.Counter(), collections.Counter()
    numbers = range(1, 2 * worlds, 2) if options.works else range(worlds)
    for number in options.world or numbers:
        asker = judged_works.Works(options, number) if number % 2 else Asker(options, number)
        asker.open()
        asker.ask_all(-(-options.questions // worlds))
        asker.close()
        totals += asker.counts
        answers += asker.answers
        kinds += asker.kinds
        print(f"# {sum(totals.values())} questions", flush=True)
    for what, counts in ("answers", answers), ("kinds", kinds):
        print(f"# {what}: {', '.join(f'{name} {count}' for name, count in counts.most_common())}")
    doors = ", ".join(f"{name} {count}" for name, count in totals.most_common())
    print(f"ok - {sum(totals.values())} questions in {len(options.world or numbers)} worlds, no difference ({doors})")


main()
