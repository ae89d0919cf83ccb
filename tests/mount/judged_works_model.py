# SPDX-License-Identifier: Apache-2.0
"""Which principal may do what in a world at work, for test-judged: artifacts, agents, turns, plans, private texts.

Written from worldfs(1), worldfs-tree(5), worldfs-lua(7) and worldfs-journal(5) alone, as judged_model.py
is. A question about something that may be refused for several reasons at once has a set of answers, each
of which is right: the rules do not say which reason a refusal names.
"""
import judged_model
from judged_model import COVERED, NOT_SEEN, coverage

OK, MISSING, REFUSED, INVALID = ("ok",), ("missing",), ("refused",), ("invalid",)
FREE = ("freeware", "transferable_freeware", "public")


class Artifact:
    def __init__(self, name, owner, access="freeware", read_price=0, type="data", executable=False, tools=()):
        self.name, self.owner, self.access, self.read_price = name, owner, access, read_price
        self.type, self.executable, self.tools = type, executable, list(tools)
        self.author = owner  # author of its code
        self.deleted = False

    def is_free(self):
        return self.access in FREE and not self.read_price


class Turn:
    def __init__(self, agent, asker, waits):
        self.agent, self.asker, self.waits = agent, asker, waits


class Model(judged_model.Model):
    """`rules` and `grants` as in judged_model.Model."""

    def __init__(self, rules):
        super().__init__(None, rules)
        self.artifacts = {}
        self.turns = {}
        self.plans = {}  # id: the principal that began its chat
        self.timers = {}  # (principal, id): is the action private?
        self.texts = {}  # hash: [(of, principal of the record)]
        self.canaries = {}  # word: a function that says whether a principal may read the word

    # --- grants and policy ---

    def held(self, who, cap):
        return [grant for grant in self.grants.values() if grant.to == who and grant.cap == f"sys/{cap}@1"]

    def is_admin(self, who):
        return bool(self.held(who, "admin"))

    def decision(self, who, effect, cap, origin="host", artifact=None, tool=None):
        asked = {"effect": effect, "cap": f"sys/{cap}@1", "principal": who, "origin": origin, "reducer": None,
                 "artifact": artifact, "tool": tool, "annotation": "idempotentHint" if tool == "test.echo" else None}
        for rule in self.rules:
            if all(self.fits(pattern, asked[member]) for member, pattern in rule["when"].items()):
                return rule["decision"]
        return "deny"

    def reads(self, who, effect, origin="host"):
        return bool(self.held(who, "query")) and self.decision(who, effect, "query", origin) == "allow"

    def covers(self, who, *path):
        return self.covered(who, path, 0) == COVERED

    # --- outside tools ---

    def tool(self, who, name, there, arguments=None):
        """The answer to a call; without `arguments`, OK: the principal sees the tool."""
        if not self.held(who, "tool") or self.decision(who, "tool.outside", "tool") != "allow":
            return REFUSED
        grants = [grant.params for grant in self.held(who, "tool")
                  if any(self.fits(pattern, name) for pattern in grant.params.get("tools", ["*"]))]
        if not grants:
            return MISSING
        size = len((arguments or {}).get("text", ""))
        fits = any("arguments" not in params or size <= 4 for params in grants)
        if fits and self.decision(who, "tool.outside", "tool", tool=name) != "allow":
            return REFUSED  # by its name, whether or not it is there
        if not there:
            return MISSING
        return OK if fits else REFUSED

    # --- artifacts ---

    def live(self, name):
        artifact = self.artifacts.get(name)
        return artifact if artifact and not artifact.deleted else None

    def may_read_bytes(self, who, name):
        """Reads of content and code without a payment."""
        artifact = self.artifacts[name]
        return self.is_admin(who) or who == artifact.owner or artifact.is_free()

    def is_told_hashes(self, who, name):
        """The hashes of content and code, in meta.json and in the answer of the query artifact."""
        return self.sees_all(who) or self.may_read_bytes(who, name)

    def may_read_text(self, who, text):
        return self.is_admin(who) or any(who == principal or (of and all(self.may_read_bytes(who, name) for name in of))
                                         for of, principal in text)

    def act_grant_covers(self, who, action, name):
        """
        >>> model = Model([])
        >>> model.grants["g"] = judged_model.Grant("g", "a", "sys/act@1", {"actions": ["noop"], "artifacts": ["x*"]})
        >>> model.act_grant_covers("a", "noop", "xy"), model.act_grant_covers("a", "noop", "y")
        (True, False)
        >>> model.act_grant_covers("a", "read_artifact", "xy"), model.act_grant_covers("b", "noop", "xy")
        (False, False)
        """
        return any(action in grant.params.get("actions", [action]) and
                   (name is None or not grant.params.get("artifacts") or
                    coverage(tuple(grant.params["artifacts"]), (name,)) == COVERED)
                   for grant in self.held(who, "act"))

    def act(self, who, action, name, rights=None, origin="host"):
        """`who` acts with the rights of `rights`: for code, its author's."""
        rights = rights or who
        failures = set()
        if not self.act_grant_covers(rights, action, name):
            failures.add(REFUSED)
        if self.decision(rights, "action." + action, "act", origin, name) == "deny":
            failures.add(REFUSED)
        artifact = self.live(name)
        if not artifact:
            return failures | {MISSING}
        owns = artifact.owner == who
        denied = set()
        if action == "invoke_artifact" and not artifact.executable:
            denied.add(INVALID)
        if action in ("read_artifact", "invoke_artifact") and not owns and artifact.access not in FREE:
            denied.add(REFUSED)
        if action == "edit_artifact" and not owns and artifact.access != "public":
            denied.add(REFUSED)
        if denied and not self.knows(rights, name, origin):
            # The words for an artifact that does not exist; for code and its own artifact both answers are right.
            denied = denied | {MISSING} if owns or origin == "code" or INVALID in denied else {MISSING}
        return failures | denied

    def knows(self, who, name, origin):
        """Does the principal see anything of the artifact's directory?"""
        return self.reads(who, judged_model.LIST_CELLS, origin) and \
            self.covered(who, ("artifacts", name), 0) > NOT_SEEN

    # --- timers ---

    def timer(self, who, effect):
        """
        >>> model = Model([{"when": {"effect": "timer.unschedule"}, "decision": "deny"}, {"when": {}, "decision": "allow"}])
        >>> model.grants["g"] = judged_model.Grant("g", "a", "sys/timer@1", {})
        >>> [model.timer(*asked) for asked in (("a", "timer.schedule"), ("a", "timer.unschedule"), ("b", "timer.schedule"))]
        [set(), {('refused',)}, {('refused',)}]
        """
        allowed = self.held(who, "timer") and self.decision(who, effect, "timer") != "deny"
        return set() if allowed else {REFUSED}

    def fire(self, who, action, name):
        """What comes of a timer whose action is about an artifact: it is judged when it fires."""
        return self.timer(who, "timer.schedule") or self.act(who, action, name) or {OK}

    # --- the tree ---

    def look(self, who, path):
        """OK, MISSING or REFUSED; the caller's `exists` says whether the file exists."""
        effect = judged_model.ROOT[path[0]]
        if not self.reads(who, effect):
            return REFUSED
        if self.covered(who, path, 0) == NOT_SEEN:
            return MISSING
        if path[0] == "artifacts" and len(path) == 3 and path[2] in ("content", "code"):
            if path[1] in self.artifacts and self.covers(who, *path) and not self.may_read_bytes(who, path[1]):
                return REFUSED
        if path[:2] == ("journal", "texts") and len(path) == 3:
            if not self.may_read_text(who, self.texts.get(path[2], [])):
                return MISSING
        if path[0] == "reducers" and len(path) == 3 and not self.covers(who, *path):
            return MISSING
        return OK

    def names(self, who, path, candidates):
        return frozenset(name for name in candidates if self.covered(who, path + (name,), 0) > NOT_SEEN and
                         (path != ("journal", "texts") or self.may_read_text(who, self.texts[name])))

    # --- agents ---

    def step(self, who, name):
        failures = set()
        drives = self.held(who, "drive")
        if not any(self.names_agent(grant, name) for grant in drives):
            failures.add(REFUSED)
        if self.decision(who, "agent.step", "drive", "host", name) == "deny":
            failures.add(REFUSED)
        agent = self.live(name)
        if not agent:
            return failures | {MISSING}
        if agent.type != "agent":
            failures.add(INVALID)
        if agent.owner != who and agent.access not in FREE:
            failures.add(REFUSED)
        if not all(self.may_use_tool(name, tool) for tool in agent.tools):
            failures.add(MISSING)
        if failures and self.is_hidden(who, name):
            return {MISSING, REFUSED}
        if INVALID in failures and not (self.covers(who, "artifacts", name) and self.reads(who, judged_model.LIST_CELLS)):
            failures.add(MISSING)
        return failures

    def is_hidden(self, who, name):
        """A turn of another principal, whose file is not in scope: the words for one that does not exist."""
        artifact = self.live(name)
        return bool(artifact) and artifact.owner != who and not (
            self.covers(who, "artifacts", name) and self.reads(who, judged_model.LIST_CELLS))

    def may_use_tool(self, agent, tool):
        """Tools that are artifacts; every agent has the other tools."""
        if tool not in self.artifacts and tool != "nothing":
            return True
        return not self.act(agent, "invoke_artifact", tool)

    # --- turns ---

    def cancel(self, who, name):
        turn = self.turns.get(name)
        return set() if turn and (turn.asker == who or self.is_admin(who)) and self.drives(who, "agent.cancel") \
            else {REFUSED, MISSING}

    def drives(self, who, effect, agent=None):
        return (self.held(who, "drive") and self.decision(who, effect, "drive", artifact=agent) == "allow") or \
            (self.is_admin(who) and self.decision(who, effect, "admin", artifact=agent) == "allow")

    @staticmethod
    def names_agent(grant, agent):
        """
        >>> [Model.names_agent(judged_model.Grant("g", "a", "sys/drive@1", params), "robot")
        ...  for params in ({}, {"agents": ["s*", "rob*"]}, {"agents": ["s*"]})]
        [True, True, False]
        """
        return not grant.params.get("agents") or coverage(tuple(grant.params["agents"]), (agent,)) == COVERED

    def comes_from(self, grant, agent):
        """A right of the agent, or one delegated from what it gave."""
        while grant.source:
            grant = self.grants[grant.source]
            if grant.to == agent:
                return True
        return False

    def is_of(self, who, agent):
        """The agent itself, or an artifact that it owns."""
        artifact = self.artifacts.get(who)
        return who == agent or bool(artifact) and artifact.owner == agent

    def approve(self, who, name):
        turn = self.turns.get(name)
        if not turn or not turn.waits:
            return {REFUSED, MISSING, INVALID}
        if self.is_of(who, turn.agent):
            return {REFUSED, MISSING}
        rights = [grant for grant in self.held(who, "admin") + self.held(who, "drive")
                  if grant.cap == "sys/admin@1" or grant.params.get("approve")]
        rights = [grant for grant in rights
                  if not self.comes_from(grant, turn.agent) and self.names_agent(grant, turn.agent)]
        if turn.asker == who:
            rights = [grant for grant in rights if grant.cap == "sys/admin@1"]
        if not rights or not self.drives(who, "agent.approve", turn.agent):
            return {REFUSED, MISSING}
        return set()

    # --- plans ---

    def drive_plan(self, who, name, effect):
        if name not in self.plans:
            return {REFUSED, MISSING}
        own = self.plans[name] == who
        every = self.is_admin(who) or any(grant.params.get("plans") == "all" for grant in self.held(who, "drive"))
        if (own or every) and self.drives(who, effect):
            return set()
        return {REFUSED, MISSING}
