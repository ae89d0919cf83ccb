# SPDX-License-Identifier: Apache-2.0
"""Small parts: who is a node (names, restarts, byte copies), chunks of a batch, and the caches of one node's mounts."""
from typing import NamedTuple

NOBODY = 9


def put(items, index, value):
    return items[:index] + (value,) + items[index + 1:]


class Process(NamedTuple):
    up: int
    holds: int      # it believes that node/<name> is its own
    owns: int       # the epoch that it acts as owner of, 0 none
    counter: int    # of request ids, kept in the directory
    random: int     # part of request ids


class NameState(NamedTuple):
    epoch: int
    owner: int      # the process that put it (NOBODY: put by a process that is gone)
    name: int       # the name in it
    key: tuple      # for each name the process that holds node/<name>
    processes: tuple
    ids: tuple      # ids of requests that were sent
    draws: int
    left: tuple     # kill, expire, epochs, requests
    bad: str


class Names:
    """Process 0 is node A, process 1 a byte copy of A's directory, process 2 node B."""
    NAME = (0, 0, 1)

    def __init__(self, rules, left=(1, 2, 2, 2), name="names"):
        self.rules, self.faults, self.name = rules, left, name
        self.size = f"node A, a byte copy of it, node B, kill {left[0]}, lease ends {left[1]}, epochs {left[2]}, " \
                    f"requests {left[3]}"

    def start(self):
        idle = Process(0, 0, 0, 0, 0)
        return NameState(1, 0, 0, (0, 2), (Process(1, 1, 1, 0, 0), idle, Process(1, 1, 0, 0, 0)), (), 1, self.faults, "")

    def wrong(self, s):
        if s.bad:
            return s.bad
        owns = [p.owns for p in s.processes if p.owns]
        if len(owns) != len(set(owns)):
            return "S7: two processes act as owner of one epoch"
        if len(s.ids) != len(set(s.ids)):
            return "S1: two requests have one id: the second is answered and never done"
        return None

    def calm_start(self, s, random):
        return s._replace(left=(0, 0, 1, 0))

    def settled(self, s):
        if s.processes[0].up and s.processes[1].up:
            return "two processes go on under one name"
        if not any(p.up for p in s.processes):
            return None
        return None if any(p.owns == s.epoch for p in s.processes) else "nobody acts as owner"

    def calm(self, s, steps):
        """The named owner's lease lives unless its process is gone, or another has its name."""
        alive = s.owner != NOBODY and s.processes[s.owner].up
        for label, after in steps:
            if label[0] == "starts" or label[0] == "takes over" and alive:
                continue
            yield label, after

    def spend(self, s, what):
        return put(s.left, what, s.left[what] - 1)

    def steps(self, s):
        rules = self.rules
        for n, process in enumerate(s.processes):
            name = self.NAME[n]
            def to(changed, **more):
                return s._replace(processes=put(s.processes, n, changed), **more)
            if not process.up:
                random, draws = (s.draws, s.draws + 1) if "random-at-start" in rules else (0, s.draws)
                # after a kill the process's own old key is there until its lease ends: it waits, too
                if s.key[name] == NOBODY or "busy" not in rules:
                    bad = s.bad
                    if s.key[name] not in (n, NOBODY) and s.processes[s.key[name]].up:
                        bad = "a second process has started under the name of a living node"
                    yield ("starts", n), to(process._replace(up=1, holds=1, random=random), draws=draws, bad=bad,
                        key=put(s.key, name, n))
                continue
            if s.left[0]:
                yield ("is killed", n), to(Process(0, 0, 0, process.counter, process.random), left=self.spend(s, 0),
                    owner=NOBODY if s.owner == n else s.owner)
            if process.holds and s.key[name] != n:
                # its next renewal fails
                if s.key[name] == NOBODY:
                    yield ("registers", n), to(process._replace(owns=0), key=put(s.key, name, n))
                elif "name-lost" in rules:
                    yield ("ends", n), to(Process(0, 0, 0, process.counter, process.random))
            if process.owns and (s.epoch != process.owns):
                yield ("steps down", n), to(process._replace(owns=0))
            if process.holds and not process.owns and s.key[name] == n:
                if s.name == name and (s.owner == n or "incarnation" not in rules):
                    yield ("goes on", n), to(process._replace(owns=s.epoch))
                elif s.left[2]:
                    yield ("takes over", n), to(process._replace(owns=s.epoch + 1), epoch=s.epoch + 1, owner=n, name=name,
                        left=self.spend(s, 2))
            if s.left[3] and process.holds:
                yield ("sends", n), to(process._replace(counter=process.counter + 1), left=self.spend(s, 3),
                    ids=s.ids + ((name, process.counter, process.random),))
        for name in (0, 1):
            n = s.key[name]
            if n != NOBODY and (s.left[1] or not s.processes[n].up):
                left = s.left if not s.processes[n].up else self.spend(s, 1)
                yield ("lease ends", None, n), s._replace(key=put(s.key, name, NOBODY), left=left)

    def say(self, label):
        who = ("node A", "the copy of A", "node B")
        action, n = label[0], label[-1]
        return {
            "starts": f"{who[n]} starts and puts its key node/<name>",
            "is killed": f"{who[n]} is killed",
            "registers": f"{who[n]} finds that its lease has ended and gets a new one",
            "ends": f"{who[n]} finds another process's key under its name and ends",
            "steps down": f"{who[n]} sees another epoch and steps down",
            "goes on": f"{who[n]} reads its own name in `epoch` and acts as owner of that epoch",
            "takes over": f"{who[n]} puts epoch + 1",
            "sends": f"{who[n]} sends a request with the next id",
            "lease ends": f"the lease of {who[n]} ends at etcd; it is stopped, cut off or dead and does not know",
        }[action]


class PartState(NamedTuple):
    epoch: int
    parts: tuple    # what part 0 and 1 hold under each key
    flight: tuple   # puts and the transaction under way
    log: int        # NOBODY, or whose batch stands at the height
    roles: tuple    # what each owner has done: 0 nothing, 1 parts sent, 2 transaction sent
    left: int       # puts that may be late


class Parts:
    """A batch of two chunks at one height, by owner 0 under epoch 1, then by owner 1 under epoch 2."""

    def __init__(self, rules, name="parts"):
        self.rules, self.name = rules, name
        self.size = "2 owners in turn, one height, 2 chunks each, 2 puts late"

    def start(self):
        return PartState(0, (), (), NOBODY, (0, 0), 2)

    def key(self, owner, chunk):
        return (chunk, owner) if "part-by-hash" in self.rules else (chunk, 0)

    def wrong(self, s):
        if s.log != NOBODY:
            parts = dict(s.parts)
            for chunk in (0, 1):
                if parts.get(self.key(s.log, chunk)) != s.log:
                    return f"S3: the log has a batch of owner {s.log}, and chunk {chunk} is not there or another's"
        return None

    def stored(self, s, owner, chunk):
        parts = dict(s.parts)
        parts[self.key(owner, chunk)] = owner
        return tuple(sorted(parts.items()))

    def steps(self, s):
        for owner in (0, 1):
            role = s.roles[owner]
            if role == 0 and s.epoch == owner and s.log == NOBODY:
                puts = tuple(("put", owner, chunk) for chunk in (0, 1))
                yield ("chunks", owner), s._replace(flight=tuple(sorted(s.flight + puts)), roles=put(s.roles, owner, 1))
            waits = any(f[:2] == ("put", owner) for f in s.flight) and "parts-first" in self.rules
            if role == 1 and not waits:
                yield ("sends", owner), s._replace(flight=tuple(sorted(s.flight + (("txn", owner, 0),))),
                    roles=put(s.roles, owner, 2))
            if role == 1 and s.left:
                # a put is sent again after 1 s; the first is still under way
                for f in s.flight:
                    if f[:2] == ("put", owner):
                        yield ("again", owner, f[2]), s._replace(parts=self.stored(s, owner, f[2]), left=s.left - 1,
                            flight=s.flight[:s.flight.index(f)] + s.flight[s.flight.index(f) + 1:] + (("late", owner, f[2]),))
        if s.epoch == 0:
            yield ("takes over", 1), s._replace(epoch=1)
        for place, f in enumerate(s.flight):
            rest = s.flight[:place] + s.flight[place + 1:]
            if f[0] == "txn":
                done = f[1] == s.epoch and s.log == NOBODY
                yield ("txn", f[1]), s._replace(flight=rest, log=f[1] if done else s.log)
            else:
                yield ("stores", f[1], f[2]), s._replace(flight=rest, parts=self.stored(s, f[1], f[2]))

    def say(self, label):
        action, owner, *chunk = label
        return {
            "chunks": f"owner {owner} sends the chunks of its batch",
            "sends": f"owner {owner} sends the transaction",
            "again": f"owner {owner} has no answer and puts chunk {chunk[0] if chunk else ''} again; the first put is under way",
            "takes over": "node 1 takes over and reads the log",
            "txn": f"etcd comes to the transaction of owner {owner}",
            "stores": f"etcd stores chunk {chunk[0] if chunk else ''} of owner {owner}",
        }[action]


class MountState(NamedTuple):
    log: int        # height of etcd's log: the name changes with each record
    height: int     # of the node's LMDB
    synced: int     # of what a loss of power leaves
    told: int       # mounts were told up to here
    cached: int     # the version that the kernel has, NOBODY none
    reply: int      # the version in a reply under way, NOBODY none
    seen: int       # the newest that a reader of this node saw
    answered: int   # a writer of this node was told that its record at this height succeeded
    left: int       # power losses
    bad: str


class Mounts:
    """One node, one name, infinite timeouts: monotonic reads and read-your-writes."""

    def __init__(self, rules, records=3, name="mounts"):
        self.rules, self.records, self.name = rules, records, name
        self.size = f"one node, one name, {records} records, 1 loss of power"

    def start(self):
        return MountState(0, 0, 0, 0, NOBODY, NOBODY, 0, 0, 1, "")

    def wrong(self, s):
        return s.bad or None

    def steps(self, s):
        rules = self.rules
        if s.log < self.records:
            yield ("writes",), s._replace(log=s.log + 1)
        if s.height < s.log:
            yield ("folds",), s._replace(height=s.height + 1,
                synced=s.height + 1 if "sync-first" in rules else s.synced)
        if s.synced < s.height:
            yield ("syncs",), s._replace(synced=s.height)
        if s.told < s.height and (s.reply == NOBODY or "after-replies" not in rules):
            yield ("tells",), s._replace(told=s.height, cached=NOBODY)
        ready = s.told if "tell-first" in rules else s.height
        if s.answered < ready:
            yield ("answers",), s._replace(answered=ready)
        if s.left:
            yield ("power",), s._replace(height=s.synced, told=s.synced, cached=NOBODY, reply=NOBODY, left=s.left - 1,
                answered=min(s.answered, s.synced) if "sync-first" in rules else s.answered)
        if s.cached != NOBODY:
            yield ("reads",), self.saw(s, s.cached)
        elif s.reply == NOBODY:
            yield ("looks up",), s._replace(reply=s.height)
        if s.reply != NOBODY:
            yield ("replies",), self.saw(s._replace(cached=s.reply, reply=NOBODY), s.reply)

    def saw(self, s, version):
        # a look-up that began before the answer may give the older version; it must not stay in the cache
        if version < s.seen:
            return s._replace(bad=f"S4: a reader sees version {version} after a reader of this node saw {s.seen}")
        if s.cached == version and version < s.answered:
            return s._replace(bad=f"S4: version {s.answered} was answered with success, the cache still has {version}")
        return s._replace(seen=version)

    def say(self, label):
        return {
            "writes": "a record that changes the name is put into the log",
            "folds": "the node folds it and commits LMDB",
            "syncs": "LMDB is synced",
            "tells": "the node tells its mounts: the name is dropped from the cache",
            "answers": "the node answers the writer with success",
            "power": "the machine loses power and starts again",
            "reads": "a reader reads from the cache",
            "looks up": "a reader's look-up reaches the daemon, which computes the reply",
            "replies": "the reply arrives; the kernel caches it",
        }[label[0]]
