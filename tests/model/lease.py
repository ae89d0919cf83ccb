# SPDX-License-Identifier: Apache-2.0
"""Revocation, leases, clocks and caches. One revocation; an owner that waits; followers that serve a mount.

Time goes by ticks. Each tick moves every clock (etcd's, the owner's, each node's) by one, and `drift` times one clock may
miss a tick: that is the bounded drift. etcd ends a lease LEASE ticks after it processed the renewal, or later; a node
serves until LIMIT ticks after it sent the renewal; the owner waits LEASE ticks after it saw that a key is gone.
`page` is what the kernel of a node's machine still has, also while the daemon is stopped or dead.
"""
from typing import NamedTuple

LEASE, NONE = 3, 9
DOWN, UP, HALTED = range(3)
IDLE, SENT, RENEWED, ENDED = range(4)
KILL, STOP, DRIFT, EARLY, FAILOVER, STUCK = range(6)
NOT_LISTED, WAITED_FOR, CONFIRMED, GONE = range(4)


class Follower(NamedTuple):
    run: int
    key: int        # age of its lease by etcd's clock, NONE when node/<name> is not there
    height: int     # in the key: 1 when it says that it has folded the revocation
    age: int        # of its lease by its own clock, NONE when it knows that it has none
    asking: int     # a renewal: IDLE, SENT, RENEWED, ENDED
    since: int      # ticks since it sent that
    chain: int      # 1: the revocation is folded
    told: int       # 1: and its mounts' caches are dropped
    ready: int      # serves judged mounts
    page: int       # the kernel has the page
    reply: int      # the daemon has judged a read and not yet answered it
    stuck: int      # cannot fold (diverged, other fold version, full disk)
    view: int       # what the owner knows of it
    gone: int       # ticks since the owner saw that the key is gone


class State(NamedTuple):
    recorded: int
    listed: int
    answered: int
    nodes: tuple
    left: tuple
    bad: str


def put(items, index, value):
    return items[:index] + (value,) + items[index + 1:]


class Lease:
    def __init__(self, rules, followers=1, left=(1, 1, 1, 1, 1, 0), name="lease"):
        self.rules, self.count, self.faults, self.name = rules, followers, left, name
        self.limit = LEASE - 1 if "margin" in rules else LEASE
        self.dead = None
        self.size = f"owner and {followers} followers, lease {LEASE} ticks, kill {left[0]}, stop {left[1]}, " \
                    f"drift {left[2]}, lease faults of etcd {left[3]}, failover {left[4]}, stuck {left[5]}"

    def start(self):
        node = Follower(UP, 0, 0, 0, IDLE, 0, 0, 0, 1, 1, 0, 0, NOT_LISTED, NONE)
        return State(0, 0, 0, (node,) * self.count, self.faults, "")

    def same(self, s):
        return s._replace(nodes=tuple(sorted(s.nodes)))

    def wrong(self, s):
        if s.bad:
            return s.bad
        if s.answered:
            for n, node in enumerate(s.nodes):
                if node.page and not (node.view == GONE and "unconfirmed" in self.rules):
                    listed = {NOT_LISTED: "was not listed", CONFIRMED: "confirmed", GONE: "counted as gone"}[node.view]
                    return f"S5: the revocation is answered; the page cache of node {n} ({listed}) still shows the page"
        return None

    # ---- calm

    def calm_start(self, s, random):
        self.dead = random.choice([True, False])
        return s._replace(left=(0,) * 6)

    def settled(self, s):
        return "the revocation is never answered" if s.recorded and not s.answered else None

    def calm(self, s, steps):
        for label, after in steps:
            if self.dead and label[0] in ("restarts", "goes on"):
                continue
            yield label, after

    # ---- steps

    def steps(self, s):
        rules = self.rules
        if not s.recorded:
            yield ("records", None), s._replace(recorded=1)
        if not s.listed and (s.recorded or "list-after" not in rules):
            nodes = tuple(n._replace(view=WAITED_FOR if n.key != NONE or "members" in rules else NOT_LISTED) for n in s.nodes)
            yield ("lists", None), s._replace(listed=1, nodes=nodes)
        if s.recorded and s.listed and not s.answered and all(n.view != WAITED_FOR for n in s.nodes):
            yield ("answers", None), s._replace(answered=1)
        if s.left[FAILOVER] and s.recorded and not s.answered:
            nodes = tuple(n._replace(view=NOT_LISTED, gone=NONE) for n in s.nodes)
            yield ("fails over", None), s._replace(listed=0, nodes=nodes, left=self.spend(s, FAILOVER),
                answered=0 if "repeat-waits" in rules else 1)
        yield ("tick", None, None), self.tick(s, None)
        if s.left[DRIFT]:
            for slow in ["etcd", "owner"] + list(range(self.count)):
                yield ("tick", None, slow), self.tick(s._replace(left=self.spend(s, DRIFT)), slow)
        for n, node in enumerate(s.nodes):
            for label, after in self.etcd_and_owner(s, n, node):
                if label[0] != "old leader renews":
                    yield label, s._replace(nodes=put(s.nodes, n, after))
                elif s.left[EARLY]:
                    yield label, s._replace(nodes=put(s.nodes, n, after), left=self.spend(s, EARLY))
            if node.key != NONE and node.key < LEASE and s.left[EARLY]:
                yield ("ends early", n), s._replace(left=self.spend(s, EARLY),
                    nodes=put(s.nodes, n, node._replace(key=NONE, height=0)))
            yield from self.process(s, n, node)
            if node.run == UP:
                for label, after in self.daemon(s, n, node):
                    yield label, s._replace(nodes=put(s.nodes, n, after))
                if not node.page and not node.reply and self.serves(node) and not node.chain:
                    bad = s.bad
                    if s.answered:
                        bad = f"S5: the revocation is answered; the daemon of node {n} allows a new read"
                    yield ("judges", n), s._replace(bad=bad, nodes=put(s.nodes, n, node._replace(reply=1)))

    def spend(self, s, what):
        return put(s.left, what, s.left[what] - 1)

    def serves(self, node):
        return node.ready and node.age < self.limit

    def tick(self, s, slow):
        nodes = []
        for n, node in enumerate(s.nodes):
            key, age, since, gone = node.key, node.age, node.since, node.gone
            if slow != "etcd" and key < LEASE:
                key += 1
            if slow != n and node.run != DOWN and (node.run == UP or "boottime" in self.rules):
                age = age + 1 if age < LEASE else age
                since = min(since + 1, LEASE) if node.asking else 0
            if slow != "owner" and gone < LEASE:
                gone += 1
            nodes.append(node._replace(key=key, age=age, since=since, gone=gone))
        return s._replace(nodes=tuple(nodes))

    def etcd_and_owner(self, s, n, node):
        if node.key == LEASE:
            yield ("ends", n), node._replace(key=NONE, height=0)
        if node.asking == SENT:
            if node.key == NONE:
                yield ("refuses renewal", n), node._replace(asking=ENDED)
            else:
                yield ("renews", n), node._replace(asking=RENEWED, key=0)
            if "renew-by-put" not in self.rules:
                yield ("old leader renews", n), node._replace(asking=RENEWED)
        if s.listed and node.view == WAITED_FOR and not s.answered:
            if node.key != NONE:
                if node.height:
                    yield ("is confirmed", n), node._replace(view=CONFIRMED, gone=NONE)
                elif node.gone != NONE:
                    yield ("is back", n), node._replace(gone=NONE)
            elif "own-wait" not in self.rules:
                yield ("counts as gone", n), node._replace(view=GONE)
            elif node.gone == NONE:
                yield ("is seen gone", n), node._replace(gone=0)
            elif node.gone >= LEASE:
                yield ("counts as gone", n), node._replace(view=GONE, gone=NONE)

    def process(self, s, n, node):
        """Faults of the process. The kernel keeps what it has."""
        def after(what, **changes):
            return s._replace(nodes=put(s.nodes, n, node._replace(**changes)), left=self.spend(s, what) if what is not None else s.left)
        if node.run != DOWN and s.left[KILL]:
            yield ("is killed", n), after(KILL, run=DOWN, age=NONE, asking=IDLE, since=0, ready=0, reply=0)
        if node.run == UP and s.left[STOP]:
            yield ("is stopped", n), after(STOP, run=HALTED)
        if node.run == HALTED:
            yield ("goes on", n), after(None, run=UP)
        if node.run == DOWN:
            yield ("restarts", n), after(None, run=UP, page=0)
        if node.run == UP and s.left[STUCK] and not node.stuck and not node.chain:
            yield ("is stuck", n), after(STUCK, stuck=1)

    def daemon(self, s, n, node):
        rules = self.rules
        if node.reply:
            yield ("replies", n), node._replace(reply=0, page=1)
        holds = node.age != NONE
        if holds and node.stuck and "stuck-stops" in rules and not node.reply:
            yield ("gives up its lease", n), node._replace(age=NONE, asking=IDLE, since=0, ready=0, page=0, key=NONE, height=0)
            return
        if holds and node.age >= self.limit and not node.reply:
            yield ("stops serving", n), node._replace(age=NONE, asking=IDLE, since=0, ready=0, page=0)
        if holds and node.asking == IDLE and node.age < self.limit and node.age:
            yield ("sends renewal", n), node._replace(asking=SENT, since=0)
        if node.asking == RENEWED:
            age = node.since if "from-sending" in rules else 0
            yield ("hears renewal", n), node._replace(asking=IDLE, since=0, age=min(age, node.age))
        if node.asking == ENDED and not node.reply:
            yield ("hears the end", n), node._replace(asking=IDLE, since=0, age=NONE, ready=0, page=0)
        if not holds and node.key == NONE and not (node.stuck and "stuck-stops" in rules):
            yield ("gets a lease", n), node._replace(key=0, age=0, height=node.told, ready=0 if "fold-first" in rules else 1)
        if holds and not node.ready and not node.stuck:
            yield ("reads head", n), node._replace(ready=1, chain=s.recorded, told=s.recorded)
        if s.recorded and not node.chain and not node.stuck:
            yield ("folds", n), node._replace(chain=1)
        if node.chain and not node.told and not node.reply:
            yield ("drops caches", n), node._replace(told=1, page=0)
        if node.key != NONE and holds and not node.height and (node.told or node.chain and "drop-then-confirm" not in rules):
            yield ("confirms", n), node._replace(height=1)

    def say(self, label):
        action, n = label[:2]
        return {
            "records": "the revocation is in the log",
            "lists": "the owner reads the list of nodes",
            "answers": "the owner answers the revocation",
            "fails over": "the owner dies; the revocation is sent to the new owner with the same id",
            "tick": "a tick passes" + (f"; the clock of {label[2] if isinstance(label[2], str) else 'node ' + str(label[2])} misses it"
                if action == "tick" and label[2] is not None else ""),
            "ends early": f"etcd ends the lease of node {n} too early (a fault of etcd 3.4.23)",
            "ends": f"etcd ends the lease of node {n}",
            "refuses renewal": f"etcd finds no lease for the renewal of node {n}",
            "old leader renews": f"a stuck old leader of etcd acknowledges the keep-alive of node {n} (a fault of etcd 3.4.23)",
            "renews": f"etcd processes the renewal of node {n}",
            "is confirmed": f"the owner sees the confirmation of node {n}",
            "is back": f"the owner sees the key of node {n} again",
            "is seen gone": f"the owner sees that the key of node {n} is gone, and begins to wait",
            "counts as gone": f"the owner counts node {n} as not serving",
            "judges": f"a reader asks node {n}; its daemon allows the read",
            "is killed": f"the daemon of node {n} is killed; its mount and the kernel's pages stay",
            "is stopped": f"the daemon of node {n} is stopped",
            "goes on": f"the daemon of node {n} goes on",
            "restarts": f"the daemon of node {n} starts again on a new mount",
            "is stuck": f"node {n} cannot fold any more (diverged)",
            "replies": f"the daemon of node {n} sends its reply; the kernel keeps the page",
            "gives up its lease": f"node {n} cannot fold, drops its caches and gives up its lease",
            "stops serving": f"node {n} sees by its clock that its lease may have ended, and drops its caches",
            "sends renewal": f"node {n} sends a renewal",
            "hears renewal": f"node {n} gets the answer to its renewal",
            "hears the end": f"node {n} hears that its lease has ended, and drops its caches",
            "gets a lease": f"node {n} gets a lease",
            "reads head": f"node {n} folds up to the head that it has just read, and serves",
            "folds": f"node {n} folds the revocation",
            "drops caches": f"node {n} drops the caches of its mounts",
            "confirms": f"node {n} puts its height into node/<name>",
        }[action]
