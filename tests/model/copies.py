# SPDX-License-Identifier: Apache-2.0
"""Who has the bytes: blobs, archived records, members that leave, disks that are lost, new followers.

A blob at a node is 0 (not there), 1 (received, not synced) or 2 (durable). Records are numbered from 0; `keys` are those
that etcd still has. At most `lose` disks are lost.
"""
from typing import NamedTuple

KILL, LOSE, CUT, LEAVE, COLLECT, JOIN = range(6)
UP, DOWN, LOST, LEFT = range(4)


def put(items, index, value):
    return items[:index] + (value,) + items[index + 1:]


class Holder(NamedTuple):
    state: int
    leased: int     # its key node/<name> is there
    blob: int
    folded: int     # it has folded the record that names the blob


class BlobState(NamedTuple):
    nodes: tuple
    confirmed: int  # nodes that told the owner that they have it
    recorded: int
    answered: int
    left: tuple


class Blobs:
    """Node 0 is the owner that takes the blob."""

    def __init__(self, rules, nodes=3, left=(1, 1, 1, 1, 1, 0), name="blobs"):
        self.rules, self.count, self.faults, self.name = rules, nodes, left, name
        self.size = f"{nodes} nodes, kill {left[0]}, lose {left[1]}, cut {left[2]}, leave {left[3]}, collect {left[4]}"

    def start(self):
        return BlobState((Holder(UP, 1, 2, 0),) + (Holder(UP, 1, 0, 0),) * (self.count - 1), 1, 0, 0, self.faults)

    def same(self, s):
        """Followers differ by nothing but their names."""
        rest = sorted((node, s.confirmed >> n & 1) for n, node in enumerate(s.nodes) if n)
        confirmed = s.confirmed & 1 | sum(bit << n for n, (_, bit) in enumerate(rest, 1))
        return s._replace(nodes=s.nodes[:1] + tuple(node for node, _ in rest), confirmed=confirmed)

    def wrong(self, s):
        if s.answered and not any(n.blob == 2 and n.state in (UP, DOWN) for n in s.nodes):
            return "S8: the blob was acknowledged and no member has it"
        return None

    def steps(self, s):
        rules, owner = self.rules, s.nodes[0]
        members = [n for n in s.nodes if n.state in (UP, DOWN, LOST)]
        if not s.recorded and owner.state == UP and owner.blob == 2:
            alone = len(members) == 1 if "members" in rules else sum(n.leased for n in members) == 1
            others = s.confirmed & ~1
            if others or alone or "two-copies" not in rules:
                yield ("records", 0), s._replace(recorded=1, nodes=put(s.nodes, 0, owner._replace(folded=1)))
        if s.recorded and not s.answered and owner.state == UP:
            yield ("answers", 0), s._replace(answered=1)
        for n, node in enumerate(s.nodes):
            def to(what=None, mask=s.confirmed, **changes):
                left = s.left if what is None else put(s.left, what, s.left[what] - 1)
                return s._replace(nodes=put(s.nodes, n, node._replace(**changes)), left=left, confirmed=mask)
            if node.state in (LOST, LEFT):
                continue
            if node.state == DOWN:
                yield ("restarts", n), to(state=UP, leased=1)
                if s.left[LOSE]:
                    yield ("loses", n), to(LOSE, state=LOST, blob=0, leased=0)
                continue
            if s.left[KILL]:
                yield ("is killed", n), to(KILL, state=DOWN, leased=0, blob=2 if node.blob == 2 else 0)
            if s.left[LOSE]:
                yield ("loses", n), to(LOSE, state=LOST, blob=0, leased=0)
            if node.leased and s.left[CUT]:
                yield ("is cut off", n), to(CUT, leased=0)
            if not node.leased:
                yield ("is back", n), to(leased=1)
            if not node.leased:
                continue
            if not node.blob and any(m != n and o.blob and o.state == UP and o.leased for m, o in enumerate(s.nodes)):
                yield ("receives", n), to(blob=1)
            if node.blob == 1:
                yield ("syncs", n), to(blob=2)
            if node.blob and not s.confirmed >> n & 1 and (node.blob == 2 or "durable-copy" not in rules):
                yield ("confirms", n), to(mask=s.confirmed | 1 << n)
            if s.recorded and not node.folded:
                yield ("folds", n), to(folded=1)
            if n and node.blob and s.left[COLLECT] and not node.folded and "keep-unfolded" not in rules:
                yield ("collects", n), to(COLLECT, blob=0)
            if s.left[LEAVE] and len(members) > 1:
                others = sum(m != n and o.blob == 2 and o.state in (UP, DOWN) for m, o in enumerate(s.nodes))
                if "leave-copies" not in rules:
                    yield ("leaves", n), to(LEAVE, state=LEFT, leased=0)
                elif not s.recorded and n or others >= min(2, len(members) - 1):
                    yield ("leaves", n), to(LEAVE, state=LEFT, leased=0, mask=s.confirmed & ~(1 << n))

    def say(self, label):
        action, n = label
        return {
            "records": "the owner puts the record that names the blob into the log",
            "answers": "the owner acknowledges the blob",
            "restarts": f"node {n} restarts",
            "loses": f"the disk of node {n} is lost",
            "is killed": f"node {n} loses power: what was not synced is gone",
            "is cut off": f"node {n} is cut off and its lease ends",
            "is back": f"node {n} is back",
            "receives": f"node {n} receives the blob",
            "syncs": f"node {n} syncs the blob",
            "confirms": f"node {n} tells the owner that it has the blob",
            "folds": f"node {n} folds the record",
            "collects": f"node {n} collects a blob that no record names",
            "leaves": f"node {n} leaves by `replicate --leave`",
        }[action]


class Copy(NamedTuple):
    state: int
    height: int     # records 0 … height-1, durable


class ArchiveState(NamedTuple):
    nodes: tuple
    written: int
    keys: int       # bits
    archived: int
    left: tuple
    bad: str


class Archive:
    """Log keys are deleted; a node that is behind, or new, must still get every record."""

    def __init__(self, rules, nodes=3, records=3, left=(0, 1, 0, 1, 0, 1), name="archive"):
        self.rules, self.count, self.records, self.faults, self.name = rules, nodes, records, left, name
        self.size = f"{nodes} nodes, {records} records, lose {left[1]}, leave {left[3]}, join {left[5]}"

    def start(self):
        nodes = (Copy(UP, 0),) * self.count
        return ArchiveState(nodes, 0, 0, 0, self.faults, "")

    def same(self, s):
        return s._replace(nodes=tuple(sorted(s.nodes)))

    def wrong(self, s):
        if s.bad:
            return s.bad
        for record in range(s.written):
            if not s.keys >> record & 1 and not any(n.height > record and n.state == UP for n in s.nodes):
                return f"S1: record {record} is not in etcd any more and no member has it"
        return None

    def steps(self, s):
        rules = self.rules
        members = [n for n in s.nodes if n.state == UP]
        if s.written < self.records and members:
            yield ("writes", None), s._replace(written=s.written + 1, keys=s.keys | 1 << s.written)
        have = sum(n.height > s.archived for n in members)
        if s.archived < s.written and have >= (2 if "two-have" in rules else 1):
            yield ("archives", None), s._replace(archived=s.archived + 1)
        if s.keys & ((1 << s.archived) - 1):
            yield ("deletes", None), s._replace(keys=s.keys & ~((1 << s.archived) - 1))
        for n, node in enumerate(s.nodes):
            if node.state != UP:
                continue
            def to(changed, what=None, **more):
                left = s.left if what is None else put(s.left, what, s.left[what] - 1)
                return s._replace(nodes=put(s.nodes, n, changed), left=left, **more)
            if node.height < s.written:
                if s.keys >> node.height & 1:
                    yield ("folds", n), to(node._replace(height=node.height + 1))
                elif "gap" not in rules:
                    yield ("diverges", n), to(node, bad=f"S3: node {n} is behind and takes a deleted key for a divergence")
                elif any(m != n and o.state == UP and o.height > node.height for m, o in enumerate(s.nodes)):
                    yield ("fetches", n), to(node._replace(height=node.height + 1))
            if s.left[LOSE]:
                yield ("loses", n), to(node._replace(state=LOST, height=0), LOSE)
            if s.left[LEAVE] and len(members) > 1:
                have = sum(o.height >= s.archived for m, o in enumerate(s.nodes) if m != n and o.state == UP)
                if "leave-keeps" not in rules or have >= min(2, len(members) - 1):
                    yield ("leaves", n), to(node._replace(state=LEFT), LEAVE)
            if s.left[JOIN]:
                joined = s._replace(nodes=s.nodes + (Copy(UP, node.height),), left=put(s.left, JOIN, 0))
                yield ("joins", n), joined

    def say(self, label):
        action, n = label
        return {
            "writes": "a record is put into the log",
            "archives": "archive/<n> is recorded for one more record",
            "deletes": "the keys of the archived records are deleted",
            "folds": f"node {n} folds the next record from etcd",
            "fetches": f"node {n} gets an archived record from another node",
            "diverges": f"node {n} does not find the next key",
            "loses": f"the disk of node {n} is lost",
            "leaves": f"node {n} leaves by `replicate --leave`",
            "joins": f"a new follower starts from a backup of node {n}",
        }[action]
