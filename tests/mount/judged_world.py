# SPDX-License-Identifier: Apache-2.0
"""A world for test-judged: its source, what happened in it, and what is therefore visible.

Counters are folded here a second time. Other data (the manifest, records, documents of grants)
is read as the operator, which sees everything.
"""
import base64
import hashlib
import json
import os

from judged_model import Grant, Model, file_name

KEYS = ["lib", "lib1", "lib2", "library", "a", "ab", "a/b", "", "_", ".", "..", ".hidden", "100%", "%41",
        "*", "lib*", "**", "naïve", "日本語", "key 1", "line\nbreak", "\x7f", "[a]", "a.c", "x" * 255]
REDUCERS = {"alpha": "test/Alpha@1", "alphabet": "test/Alphabet@1", "beta": "test/Beta@1",
            "total": "test/Total@1"}  # `total` has no keys
BUILT_IN = {"sys." + name for name in (
    "principal", "grant", "ledger", "resource", "artifact", "deleted", "mint", "invocation",
    "memory_store", "memory_hit", "escrow", "timer", "seen", "wait", "turn", "turn_setup", "message",
    "tool_call", "intent", "chat", "chat_message", "plan", "plan_source", "plan_step", "plan_edge",
    "plan_block", "plan_result", "workflow", "agent", "raw")}
CAPS = ["sys/query@1", "sys/blob@1", "sys/act@1", "sys/drive@1", "sys/llm@1", "sys/timer@1", "sys/tool@1",
        "sys/admin@1"]


def canonical(document):
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


class World:
    """The state of the world. The model asks it, and does not change it."""

    def __init__(self, module):
        self.height = 0
        self.reducers = set(REDUCERS) | BUILT_IN
        self.versions = {reducer: {} for reducer in self.reducers}  # name: [(height, bytes or None)]
        self.listed = {hashlib.sha256(module).hexdigest(): (1, module)}
        self.sums = {}
        self.operator = None  # reads cells that are not folded here
        self.fetched = {}

    # --- changes ---

    def set_cell(self, reducer, key, content):
        self.versions[reducer].setdefault(file_name(key), []).append((self.height, content))

    def fold(self, reducer, key, by):
        """Notes an event that was recorded as the last record."""
        if by is None:
            self.sums.pop((reducer, key), None)
            self.set_cell(reducer, key, None)
            return
        self.sums[reducer, key] = self.sums.get((reducer, key), 0) + by
        self.set_cell(reducer, key, canonical({"n": self.sums[reducer, key]}))

    def has_blob(self, data):
        return hashlib.sha256(data).hexdigest() in self.listed

    def put(self, data):
        self.listed.setdefault(hashlib.sha256(data).hexdigest(), (self.height, data))

    # --- the state; @height None: at the head ---

    def cell(self, reducer, name, height):
        content = None
        for written, version in self.versions[reducer].get(name, ()):
            if height is None or written <= height:
                content = version
        return content

    def cells(self, reducer, height):
        return [name for name in self.versions[reducer] if self.cell(reducer, name, height) is not None]

    def blobs(self, height):
        return {name for name, (listed, _) in self.listed.items() if height is None or listed <= height}

    def content(self, place):
        kind, *what = place.what
        if kind == "blob":
            return self.listed[what[0]][1]
        if kind == "cell":
            content = self.cell(what[0], what[1], place.height)
            if content != b"":
                return content
        return self.fetch(place.height or self.height, "/".join({"cell": ["reducers"]}.get(kind, [kind]) + what))

    def fetch(self, height, path):
        """Reads as the operator; a height never changes."""
        if (height, path) not in self.fetched:
            self.fetched[height, path] = self.operator.read(path, f"exact:{height}")
        return self.fetched[height, path]

    def hash(self, place):
        return hashlib.sha256(self.content(place)).hexdigest()

    def document(self, place):
        return json.loads(self.content(place))


class Source:
    """The parts of a world's source: random principals, grants and a policy."""

    def __init__(self, random, patterns):
        """`random`: of this world alone. `patterns`: paths from which scopes are made."""
        self.random = random
        self.patterns = patterns
        self.principals = ["operator", "alice", "alan", "bob", "carol#2@x:y"]
        self.rules = random_rules(random, self.principals)
        self.grants = []
        for who in self.principals[1:4]:
            for _ in range(random.choice((1, 2, 3))):
                long_ago = 1 if random.random() < 0.08 else None
                self.grants.append(self.random_grant(who, f"declared{len(self.grants)}", long_ago))

    def random_grant(self, who, name, expires_at_ns=None):
        cap = self.random.choice(("sys/query@1",) * 7 + ("sys/blob@1",) * 2 + ("sys/act@1",))
        params = random_scope(self.random, self.patterns) if cap == "sys/query@1" else {}
        return Grant(name, who, cap, params, expires_at_ns)

    def write(self, directory, module):
        os.mkdir(directory)
        with open(f"{directory}/counter.lua", "wb") as file:
            file.write(module)
        members = {"key": {"type": "string"}, "by": {"type": ["integer", "null"]}}
        world = {
            "name": "judged",
            "schemas": [{"name": schema, "schema": {"type": "object", "properties": members,
                                                    "additionalProperties": False}}
                        for schema in REDUCERS.values()],
            "reducers": [{"name": name, "module": "counter.lua", "keyed": name != "total"}
                         for name in REDUCERS],
            "routing": [{"event": schema, "reducer": name} |
                        ({} if name == "total" else {"key_field": "key"})
                        for name, schema in REDUCERS.items()],
            "principals": [{"id": who, "grants": [grant.document() for grant in self.grants
                                                  if grant.to == who]}
                           for who in self.principals[1:]],
        }
        if self.rules is not None:
            world["policies"] = [{"$kind": "defpolicy", "name": "test/Random@1", "rules": self.rules}]
            world["policy"] = "test/Random@1"
        with open(f"{directory}/world.json", "w", encoding="utf-8") as file:
            json.dump(world, file)

    def begin(self, world):
        """Adds the state after the first record. Return: the model."""
        model = Model(world, self.rules if self.rules is not None else
                      [{"when": {}, "decision": "allow"}])
        world.height = 1
        for who in self.principals:
            world.set_cell("sys.principal", who, b"")  # b"": must still be read
            world.set_cell("sys.ledger", who, b"")
        operators = [Grant(f"operator.{cap[4:-2]}.1", "operator", cap, {}) for cap in CAPS]
        for grant in operators + self.grants:
            model.grants[grant.name] = grant
            world.set_cell("sys.grant", grant.name, b"")
        return model


# --- chance ---

def random_scope(random, patterns):
    """Random params of a query grant."""
    chance = random.random()
    if chance < 0.15:
        return {}
    if chance < 0.2:
        return {"scope": random.choice(([], "**", ["*"], ["reducers", "**/head"]))}
    if chance < 0.35:
        return {"scope": random_pattern(random, patterns)}
    return {"scope": [random_pattern(random, patterns) for _ in range(random.choice((1, 2, 3, 5, 9)))]}


def random_pattern(random, paths):
    names = random.choice(paths).split("/")
    if random.random() < 0.3:
        names = names[:random.randint(1, len(names))]
    for i, name in enumerate(names):
        chance = random.random()
        if chance < 0.08:
            names[i] = "*"
        elif chance < 0.2:
            names[i] = name[:random.randint(0, len(name))] + "*"
        elif chance < 0.26:
            names[i] = "*" + name[random.randint(0, len(name)):]
        elif chance < 0.3:
            cut = random.randint(0, len(name))
            names[i] = name[:cut] + "*" + name[cut + random.randint(0, 2):]
        elif chance < 0.34:
            names[i] = "**"
    if random.random() < 0.08:
        names.insert(random.randint(0, len(names)), "**")
    # Two stars match any names only if they are a whole name.
    while any("**" in name and name != "**" for name in names):
        names = [name if name == "**" else name.replace("**", "*") for name in names]
    return "/".join(names)


def random_rules(random, principals):
    """The rules of a policy; None: the built-in one."""
    if random.random() < 0.25:
        return None
    members = {
        "effect": ["introspect.*", "introspect.reducer_state", "introspect.list_cells", "introspect.journal*",
                   "introspect.journal", "introspect.journal_head", "introspect.manifest", "introspect.m*",
                   "blob.*", "blob.get", "*", "world.*", "event.emit", "query.*"],
        "cap": ["sys/query@1", "sys/blob@1", "sys/*", "sys/q*", "sys/act@1"],
        "principal": principals[1:] + ["a*", "al*", "*", "nobody"],
        "origin": ["host", "reducer", "h*", "*"],
        "reducer": sorted(REDUCERS) + ["alpha*", "b*", "sys.*", "*", "nothing"],
        "artifact": ["picture", "*"],
    }
    weights = {"effect": 0.6, "cap": 0.15, "principal": 0.4, "origin": 0.15, "reducer": 0.5, "artifact": 0.05}
    rules = [{"when": {"principal": "operator"}, "decision": "allow"}]  # principals that change grants later
    for _ in range(random.randint(0, 5)):
        when = {member: random.choice(members[member]) for member in members
                if random.random() < weights[member]}
        decisions = ("allow", "allow", "deny") if len(when) > 1 else ("allow",)
        rules.append({"when": when, "decision": random.choice(decisions)})
    last = random.random()
    if last < 0.75:
        rules.append({"when": {}, "decision": "allow"})
    elif last < 0.85:
        rules.append({"when": {}, "decision": "deny"})
    return rules


def random_paths():
    """Paths from which scopes are made."""
    paths = ["README", "manifest", "journal", "journal/head", "journal/log.jsonl", "blob", "reducers", "artifacts",
             "artifacts/alice_picture", "turns", "plans/p/steps"]
    paths += [f"journal/{seq}.json" for seq in (0, 1, 2, 10, 11, 25)]
    paths += [f"reducers/{reducer}/{file_name(key)}" for reducer in sorted(REDUCERS) for key in KEYS[:12] + KEYS[17:20]]
    paths += [f"reducers/{reducer}" for reducer in sorted(REDUCERS) + sorted(BUILT_IN) + ["nothing"]] * 3
    paths += ["reducers/total/_", "reducers/sys.principal/alice", "reducers/sys.grant/declared0"] * 2
    return paths


def base64_text(data):
    return base64.b64encode(data).decode()
