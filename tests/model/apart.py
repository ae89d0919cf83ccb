# SPDX-License-Identifier: Apache-2.0
"""Small parts: the time in records when owners have different clocks, and worlds that leave."""
from typing import NamedTuple


def put(items, index, value):
    return items[:index] + (value,) + items[index + 1:]


class ClockState(NamedTuple):
    now: int        # true time in hours, from 9 on: Python hashes -1 like -2
    clocks: tuple   # how far each node's clock is off
    owner: int
    log: tuple      # at_ns of the records
    left: tuple     # jumps, changes of owner


class Clocks:
    AHEAD = 1       # what a node's clock may be ahead of the others for it to take over

    def __init__(self, rules, hours=3, records=4, name="clocks"):
        self.rules, self.hours, self.records, self.name = rules, hours, records, name
        self.size = f"2 nodes, {hours} hours, {records} records, 2 jumps of up to 2 hours, 2 changes of owner"

    def start(self):
        return ClockState(9, (0, 0), 0, (), (2, 2))

    def wrong(self, s):
        for before, after in zip(s.log, s.log[1:]):
            if after < before:
                return "time: at_ns falls"
        if s.log and s.log[-1] > s.now + self.AHEAD:
            return "time: at_ns is hours ahead of the true time: every timer and expiry until then comes early"
        return None

    def steps(self, s):
        if s.now < 9 + self.hours:
            yield ("hour", None, 0), s._replace(now=s.now + 1)
        for n in (0, 1):
            if n != s.owner and s.left[1]:
                off = s.clocks[n] - s.clocks[s.owner]
                if off <= self.AHEAD or "not-ahead" not in self.rules:
                    yield ("takes over", n, 0), s._replace(owner=n, left=put(s.left, 1, s.left[1] - 1))
            for jump in (-2, 2):
                if s.left[0] and (n != s.owner or jump < 0):
                    yield ("jumps", n, jump), s._replace(clocks=put(s.clocks, n, jump), left=put(s.left, 0, s.left[0] - 1))
        if len(s.log) < self.records:
            at = s.now + s.clocks[s.owner]
            if s.log and "never-back" in self.rules:
                at = max(at, s.log[-1])
            yield ("writes", s.owner, 0), s._replace(log=s.log + (at,))

    def say(self, label):
        return {"hour": "an hour passes", "takes over": f"node {label[1]} takes over",
                "jumps": f"the clock of node {label[1]} is set {abs(label[2])} hours {'ahead' if label[2] > 0 else 'back'}",
                "writes": f"owner {label[1]} writes a record"}[label[0]]


class LeaveState(NamedTuple):
    log: int        # records of the replicated world
    chain: int      # what node 1 has of it
    own: int        # records that node 1 wrote alone
    alone: int
    running: int    # node 1 begins timers and open intents
    fired: int      # how often the due time was acted upon
    fired_here: int     # by the world itself
    fired_there: int    # by what left
    left: int       # times that node 1 leaves


class Leave:
    """Node 1 leaves by `replicate --leave`, works alone, and may come back. A timer is due."""

    def __init__(self, rules, name="leave"):
        self.rules, self.name = rules, name
        self.size = "2 nodes, node 1 leaves twice, 3 records, a due timer"

    def start(self):
        return LeaveState(0, 0, 0, 0, 0, 0, 0, 0, 2)

    def wrong(self, s):
        if not s.alone and s.own:
            return "S3: a member's LMDB has records that the log has not"
        if s.fired > 1:
            return "S6: one due timer (or open intent) is acted upon by two worlds"
        return None

    def steps(self, s):
        if s.log < 3:
            yield ("writes", 0), s._replace(log=s.log + 1)
        if not s.fired_here:
            yield ("fires", 0), s._replace(fired_here=1, fired=s.fired + 1)
        if s.alone:
            if s.own < 2:
                yield ("writes alone", 1), s._replace(own=s.own + 1)
            if s.running and not s.fired_there:
                yield ("fires alone", 1), s._replace(fired_there=1, fired=s.fired + 1)
            if "leave-is-final" in self.rules:
                yield ("follows anew", 1), s._replace(alone=0, own=0, chain=0, running=0)
            else:
                yield ("comes back", 1), s._replace(alone=0, running=0)
        else:
            if s.chain < s.log:
                yield ("folds", 1), s._replace(chain=s.chain + 1)
            if s.left:
                yield ("leaves", 1), s._replace(alone=1, left=s.left - 1, running=0 if "leave-paused" in self.rules else 1)

    def say(self, label):
        return {"writes": "a record is put into the log", "fires": "the owner acts upon the timer that is due",
                "writes alone": "node 1, alone, writes a record of its own", "fires alone": "node 1, alone, acts upon it too",
                "follows anew": "node 1 follows into a new directory", "comes back": "the directory is replicated again",
                "folds": "node 1 folds the next record", "leaves": "node 1 leaves by `replicate --leave`"}[label[0]]
