# SPDX-License-Identifier: Apache-2.0
"""Calls to models and outside tools. Intent 0 is not idempotent, intent 1 is. What the part "log" shows is taken for
granted: an owner that has no answer reads epoch, head and log/<its height> at once and believes only that.

An entry of the log is (what, intent, epoch, node): OPEN, RECEIPT, or UNKNOWN (the intent has ended, nobody knows how).
"""
from typing import NamedTuple

OPEN, RECEIPT, UNKNOWN_END = range(3)
DOWN, FOLLOWER, TAKES, OWNER = range(4)
CRASH, EPOCHS, HANDOVER = range(3)
IDEMPOTENT = 1


class Node(NamedTuple):
    role: int
    mine: int
    height: int
    sent: tuple     # () or (height, entry): a transaction without an answer yet
    start: int      # intents whose call is to begin (bits)
    calls: tuple    # calls under way: (intent, epoch)
    results: tuple  # calls that have ended, not yet in the log: (intent, epoch)
    ended: int      # ghost: what the log had ended when this epoch was put


class State(NamedTuple):
    epoch: int
    owner: int
    log: tuple
    flight: tuple
    nodes: tuple
    begun: tuple    # calls begun, by intent
    left: tuple
    bad: str


def put(items, index, value):
    return items[:index] + (value,) + items[index + 1:]


def ends(log):
    return sum({1 << entry[1] for entry in log if entry[0] != OPEN})


def opened(log):
    return sum({1 << entry[1] for entry in log if entry[0] == OPEN})


class Intents:
    def __init__(self, rules, nodes=2, intents=2, left=(1, 1, 0), name="intents"):
        self.rules, self.count, self.intents, self.faults, self.name = rules, nodes, intents, left, name
        self.dead = None
        self.size = f"{nodes} nodes, {intents} intents, crash {left[0]}, epochs {left[1]}, handover {left[2]}"

    def start(self):
        node = Node(FOLLOWER, 0, 0, (), 0, (), (), 0)
        nodes = (node._replace(role=OWNER, mine=1),) + (node,) * (self.count - 1)
        return State(1, 0, (), (), nodes, (0,) * self.intents, self.faults, "")

    def wrong(self, s):
        if s.bad:
            return s.bad
        if s.begun[0] > 1:
            return "S6: two calls for an intent that is not idempotent"
        seen = set()
        for what, intent, _, _ in s.log:
            if (intent, what == OPEN) in seen:
                return f"S6: intent {intent} has two " + ("records" if what == OPEN else "ends")
            seen.add((intent, what == OPEN))
        return None

    def calm_start(self, s, random):
        down = [n for n, node in enumerate(s.nodes) if node.role == DOWN]
        self.dead = random.choice(down + [None])
        return s._replace(left=(0, 1, 0))

    def settled(self, s):
        if opened(s.log) & ~ends(s.log):
            return "an intent never ends"
        return None

    def calm(self, s, steps):
        alive = s.nodes[s.owner].role != DOWN
        for label, after in steps:
            if label[0] in ("crash", "hands over") or label[0] == "takes over" and alive:
                continue
            if label[0] == "restart" and label[1] == self.dead:
                continue
            yield label, after

    def same(self, s):
        flight = tuple(t for t in s.flight if t[0] == len(s.log) and t[1][2] == s.epoch)
        return s._replace(flight=flight)

    def steps(self, s):
        for n, node in enumerate(s.nodes):
            def to(changed, **more):
                return s._replace(nodes=put(s.nodes, n, changed), **more)
            if node.role == DOWN:
                yield ("restart", n), to(node._replace(role=FOLLOWER))
                continue
            if s.left[CRASH]:
                yield ("crash", n), to(Node(DOWN, 0, node.height, (), 0, (), (), 0), left=self.spend(s, CRASH))
            for call in node.calls:
                yield ("returns", n, call), to(node._replace(calls=tuple(c for c in node.calls if c != call),
                    results=tuple(sorted(set(node.results) | {call}))))
            if node.role == OWNER:
                yield from self.owner(s, n, node, to)
            elif node.role == TAKES:
                height = len(s.log) if "put-then-read" in self.rules else node.height
                yield ("begins", n), to(self.adopt(s, node._replace(role=OWNER, height=height)))
            else:
                if node.height < len(s.log):
                    yield ("tails", n), to(node._replace(height=len(s.log)))
                if s.owner != n and s.left[EPOCHS]:
                    yield ("takes over", n), to(node._replace(role=TAKES, mine=s.epoch + 1, ended=ends(s.log)),
                        epoch=s.epoch + 1, owner=n, left=self.spend(s, EPOCHS))
                elif s.owner == n and node.mine != s.epoch:
                    yield ("starts anew", n), to(node._replace(role=TAKES, mine=s.epoch + 1, ended=ends(s.log)),
                        epoch=s.epoch + 1)
        for place, (height, entry, n) in enumerate(s.flight):
            rest = s.flight[:place] + s.flight[place + 1:]
            if height == len(s.log) and entry[2] == s.epoch:
                yield ("applies", None, entry), s._replace(flight=rest, log=s.log + (entry,))
            yield ("drops", None, entry), s._replace(flight=rest)

    def spend(self, s, what):
        return put(s.left, what, s.left[what] - 1)

    def adopt(self, s, node):
        """A new owner: idempotent calls are made again; the others end `unknown` (see owner())."""
        for intent in range(self.intents):
            if opened(s.log[:node.height]) & ~ends(s.log[:node.height]) & 1 << intent:
                if intent >= IDEMPOTENT or "unknown" not in self.rules:
                    node = node._replace(start=node.start | 1 << intent)
        return node

    def step_down(self, node):
        # the calls of the old epoch may still be under way in this process
        return Node(FOLLOWER, 0, node.height, (), 0, node.calls, node.results, 0)

    def owner(self, s, n, node, to):
        rules, log = self.rules, s.log[:node.height]
        # calls begin: by its clock the owner has more than half of its lease, so nobody else has begun
        for intent in range(self.intents):
            if node.start >> intent & 1 and (s.epoch == node.mine or "half-lease" not in rules):
                bad = s.bad
                if intent < IDEMPOTENT and ends(s.log) >> intent & 1:
                    bad = f"S6: a call for intent {intent} begins after it has ended `unknown`"
                if node.ended >> intent & 1:
                    bad = f"S6: a call for intent {intent} is made again, whose end was in the log"
                yield ("calls", n, intent), to(node._replace(start=node.start & ~(1 << intent),
                    calls=tuple(sorted(set(node.calls) | {(intent, node.mine)}))), bad=bad,
                    begun=put(s.begun, intent, min(s.begun[intent] + 1, 3)))
        if node.sent:
            height, entry = node.sent
            if s.log[height:height + 1] == (entry,):
                after = node._replace(sent=(), height=height + 1)
                if entry[0] == OPEN and "intent-first" in rules:
                    after = after._replace(start=after.start | 1 << entry[1])
                yield ("commits", n), to(after)
            elif s.epoch != node.mine:
                yield ("steps down", n), to(self.step_down(node._replace(height=len(s.log))))
            elif len(s.log) > height:
                yield ("catches up", n), to(node._replace(sent=(), height=len(s.log)))
            elif not any(t[1] == entry for t in s.flight):
                yield ("sends again", n), to(node, flight=s.flight + ((height, entry, n),))
            return
        if s.epoch != node.mine:
            yield ("steps down", n), to(self.step_down(node))
        for intent in range(self.intents):
            if not opened(log) >> intent & 1:
                after = node if "intent-first" in rules else node._replace(start=node.start | 1 << intent)
                yield self.send(s, n, after, to, OPEN, intent)
            elif not ends(log) >> intent & 1 and intent < IDEMPOTENT and "unknown" in rules:
                # opened by another owner, or by this process before it took over again
                if any(e[0] == OPEN and e[1] == intent and e[2] != node.mine for e in log):
                    yield self.send(s, n, node, to, UNKNOWN_END, intent)
        for result in node.results:
            intent, epoch = result
            after = node._replace(results=tuple(r for r in node.results if r != result))
            if epoch != node.mine and "receipt-epoch" in rules:
                yield ("refuses receipt", n, intent), to(after)
            elif ends(log) >> intent & 1 and "fold-once" in rules:
                yield ("refuses receipt", n, intent), to(after)
            elif opened(log) >> intent & 1:
                yield self.send(s, n, after, to, RECEIPT, intent)
        if s.left[HANDOVER] and s.owner == n and s.epoch == node.mine:
            if "drain" in rules and (node.start or node.calls or node.results):
                return
            bad = s.bad
            if any(e[0] == OPEN and e[1] < IDEMPOTENT and e[2] == node.mine and not ends(log) >> e[1] & 1 for e in log):
                bad = "S6: an orderly handover leaves an open intent, which can only end `unknown`"
            for m, other in enumerate(s.nodes):
                if m != n and other.role == FOLLOWER:
                    nodes = put(s.nodes, n, self.step_down(node))
                    nodes = put(nodes, m, other._replace(role=TAKES, mine=s.epoch + 1, ended=ends(s.log)))
                    yield ("hands over", n, m), s._replace(nodes=nodes, epoch=s.epoch + 1, owner=m, bad=bad,
                        left=self.spend(s, HANDOVER))

    def send(self, s, n, node, to, what, intent):
        entry = (what, intent, node.mine, n)
        return ("sends", n, what, intent), to(node._replace(sent=(node.height, entry)),
            flight=s.flight + ((node.height, entry, n),))

    def say(self, label):
        action, n, *rest = label
        what = ["the intent", "the receipt", "`unknown`"]
        return {
            "restart": lambda: f"node {n} restarts",
            "crash": lambda: f"node {n} is killed",
            "returns": lambda: f"at node {n} the call for intent {rest[0][0]} of epoch {rest[0][1]} returns",
            "begins": lambda: f"node {n} begins as owner, with what it has read of the log",
            "tails": lambda: f"node {n} folds the log to its end",
            "takes over": lambda: f"node {n} puts epoch + 1",
            "starts anew": lambda: f"node {n} has restarted, reads its own name in `epoch` and puts epoch + 1",
            "applies": lambda: f"etcd applies {what[rest[0][0]]} {rest[0][1]} of node {rest[0][3]}",
            "drops": lambda: f"{what[rest[0][0]]} {rest[0][1]} of node {rest[0][3]} is lost on its way to etcd",
            "calls": lambda: f"node {n} begins a call for intent {rest[0]}",
            "commits": lambda: f"owner {n} learns that its entry is in the log, and commits",
            "steps down": lambda: f"node {n} sees another epoch and steps down",
            "catches up": lambda: f"owner {n} finds another entry at its height",
            "sends again": lambda: f"owner {n} sends its entry again",
            "sends": lambda: f"owner {n} sends {what[rest[0]]} {rest[1]} to etcd",
            "refuses receipt": lambda: f"node {n} drops the receipt of intent {rest[0]}: another epoch, or it has ended",
            "hands over": lambda: f"owner {n} puts epoch + 1 for node {rest[0]}",
        }[action]()
