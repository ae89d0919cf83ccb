# SPDX-License-Identifier: Apache-2.0
"""The log: owner, followers, clients, and etcd as one linearizable store. No clocks: a node that is stopped, slow or
cut off is a node that takes no step for a while, so every such moment is in here without a state of its own.

A batch is a number that stands for its bytes (and so for its hash): who made it, under which epoch, which try, the
requests in it, and those of them whose ids the record keeps. head's revision is the length of the log.
"""
from typing import NamedTuple

# what a client has heard
SILENT, WAITS, OK, UNAVAILABLE, UNKNOWN, BROKEN = range(6)
# what a node is
DOWN, FOLLOWER, TAKES, OWNER = range(4)
# what became of the owner's batch
SENT, GAVE_UP, SUCCEEDED, REFUSED, HALF_READ = range(5)


class Node(NamedTuple):
    role: int
    mine: int       # the epoch that this process put or was given
    chain: tuple    # committed in LMDB
    queue: int      # requests that wait for a batch (bits)
    batch: tuple    # () or (height, batch, phase): folded and not committed


class Request(NamedTuple):
    said: int
    home: int       # the node that the client talks to
    out: int        # nodes that got it and have not answered (bits)
    lost: int       # a connection to an owner that had it broke
    heard: int      # 0, or 1 + the height at which the owner says it is
    retried: int

    def answered(self, said):
        return Request(said, self.home, 0, 0, 0, self.retried)


class State(NamedTuple):
    epoch: int
    owner: int
    lives: int      # the process that `epoch` names has not been killed since
    log: tuple
    flight: tuple   # transactions that etcd has not applied: ("T", height, epoch, batch, node), ("E", epoch, node, process lives)
    nodes: tuple
    requests: tuple
    letters: tuple  # forwarded requests on their way: (request, node, height of the sender)
    left: tuple     # faults that may still happen: crash, no answer, twice, epoch, retry, handover
    bad: str


CRASH, TIMEOUT, TWICE, EPOCHS, RETRY, HANDOVER = range(6)


def batch_of(node, epoch, attempt, mask, ids):
    return mask | ids << 6 | attempt << 12 | epoch << 16 | node << 24


def mask_of(batch):
    return batch & 63


def ids_of(batch):
    return batch >> 6 & 63


def bits(mask):
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def put(items, index, value):
    return items[:index] + (value,) + items[index + 1:]


class Log:
    """homes: for each request the node of its client; probe: a request that is answered without a record."""

    def __init__(self, rules, nodes=2, homes=(0, 1), left=(1, 2, 1, 1, 0, 0), probe=None, name="log"):
        self.rules, self.count, self.homes, self.faults = rules, nodes, homes, left
        self.probe, self.name, self.dead = probe, name, None
        self.size = f"{nodes} nodes, {len(homes)} requests, crash {left[0]}, no answer {left[1]}, " \
                    f"twice {left[2]}, epochs {left[3]}, retry {left[4]}, handover {left[5]}"

    def start(self):
        nodes = tuple(Node(OWNER if n == 0 else FOLLOWER, 1 if n == 0 else 0, (), 0, ()) for n in range(self.count))
        requests = tuple(Request(SILENT, home, 0, 0, 0, 0) for home in self.homes)
        return State(1, 0, 1, (), (), nodes, requests, (), self.faults, "")

    def same(self, s):
        """A transaction that can never be applied, and whose sender does not wait, is as good as gone."""
        if not s.flight or "head-in-txn" not in self.rules or "epoch-in-txn" not in self.rules:
            return s
        height, epoch = len(s.log), s.epoch
        flight = tuple(t for t in s.flight if t[0] == "E" and t[1] == epoch or t[0] == "T" and (
            t[1] == height and t[2] == epoch or s.nodes[t[4]].batch == (t[1], t[3], SENT)))
        return s if len(flight) == len(s.flight) else s._replace(flight=flight)

    # ---- what the properties say

    def wrong(self, s):
        if s.bad:
            return s.bad
        seen = 0
        for batch in s.log:
            if seen & mask_of(batch):
                return f"S2: request {name_of(seen & mask_of(batch))} is in the log twice"
            seen |= mask_of(batch)
        for index, request in enumerate(s.requests):
            if index == self.probe:
                continue
            if request.said == OK and not seen >> index & 1:
                return f"S1: request R{index} was answered with success and is not in the log"
            if request.said == UNAVAILABLE and seen >> index & 1:
                return f"S2: request R{index} was answered `unavailable` and is in the log"
        for n, node in enumerate(s.nodes):
            if node.chain != s.log[:len(node.chain)]:
                return f"S3: LMDB of node {n} is not a prefix of the log"
        return None

    # ---- what must come true once faults have stopped

    def calm_start(self, s, random):
        """No more faults. At most one node that is down stays down; one more epoch may begin because of it."""
        down = [n for n, node in enumerate(s.nodes) if node.role == DOWN]
        self.dead = random.choice(down + [None])
        return s._replace(left=(0, 0, 0, 1, 0, 0))

    def settled(self, s):
        for index, request in enumerate(s.requests):
            if request.said == WAITS:
                return f"request R{index} is never answered"
        acting = [n for n, node in enumerate(s.nodes) if node.role == OWNER and node.mine == s.epoch]
        if acting != [s.owner]:
            return f"epoch {s.epoch} names node {s.owner}, and nobody acts as its owner"
        for n, node in enumerate(s.nodes):
            if n != self.dead and node.chain != s.log:
                return f"node {n} never gets the whole log"
            if n != self.dead and node.batch:
                return f"a batch of node {n} never ends"
        return None

    def calm(self, s, steps):
        """What still happens. A waiting request must succeed: nobody gives up by wait_ms here."""
        faults = {"crash", "resend", "late put", "late handover", "retries", "hands over", "asks"}
        alive = s.nodes[s.owner].role != DOWN       # so its lease lives, and nobody else tries
        for label, after in steps:
            if label[0] in faults or label[0] == "takes over" and alive:
                continue
            if label[0] == "restart" and label[1] == self.dead:
                continue
            if label[0] == "answers" and label[3] != OK:
                continue
            yield label, after

    # ---- steps

    def steps(self, s):
        for n, node in enumerate(s.nodes):
            if node.role == DOWN:
                yield ("restart", n), s._replace(nodes=put(s.nodes, n, node._replace(role=FOLLOWER)))
                continue
            if node.role == OWNER:
                yield from self.owner_steps(s, n, node)
            else:
                yield from self.follower_steps(s, n, node)
            if s.left[CRASH]:
                yield ("crash", n), self.crash(s, n, node)
        for index, request in enumerate(s.requests):
            yield from self.client_steps(s, index, request)
        for place, letter in enumerate(s.letters):
            yield from self.arrive(s, place, letter)
        for place, txn in enumerate(s.flight):
            if place and s.flight[place - 1] == txn:
                continue
            yield from self.etcd_steps(s, place, txn)

    def spend(self, s, what):
        return put(s.left, what, s.left[what] - 1)

    def crash(self, s, n, node):
        """Everything but committed LMDB is gone; connections to the node break."""
        requests = []
        for request in s.requests:
            if request.home == n and request.said == WAITS:
                request = request._replace(said=BROKEN)
            if request.out >> n & 1:
                request = request._replace(out=request.out & ~(1 << n), lost=1)
            requests.append(request)
        letters = tuple(letter for letter in s.letters if letter[1] != n)
        flight = tuple(sorted(("E", t[1], n, 0, 0) if t[0] == "E" and t[2] == n else t for t in s.flight))
        return s._replace(nodes=put(s.nodes, n, Node(DOWN, 0, node.chain, 0, ())), requests=tuple(requests), flight=flight,
            letters=letters, left=self.spend(s, CRASH), lives=s.lives if s.owner != n else 0)

    # clients and the nodes they talk to

    def client_steps(self, s, index, request):
        rules, home = self.rules, s.nodes[request.home]
        bit = 1 << index
        if request.said == SILENT:
            if home.role != DOWN:
                yield ("asks", request.home, index), self.asked(s, index, request)
            return
        if request.said in (UNKNOWN, BROKEN) and s.left[RETRY] and not request.retried:
            for m, node in enumerate(s.nodes):
                if m != request.home and node.role != DOWN:
                    again = Request(WAITS, m, 0, 0, 0, 1)
                    yield ("retries", m, index), s._replace(requests=put(s.requests, index, again), left=self.spend(s, RETRY))
            return
        if request.said != WAITS or home.role == DOWN:
            return
        n = request.home
        if request.heard:
            needed = request.heard - (index == self.probe)
            if len(home.chain) >= needed or "height-first" not in rules:
                bad = s.bad
                if index != self.probe and not any(mask_of(b) & bit for b in home.chain):
                    bad = f"S4: R{index} succeeded at node {n}, whose own readers cannot see it"
                yield ("answers", n, index, OK), s._replace(bad=bad, requests=put(s.requests, index, request.answered(OK)))
        mine = home.batch and mask_of(home.batch[1]) & bit
        if not request.heard:
            if "definite" not in rules or not (mine or request.out or request.lost):
                said = UNKNOWN if request.retried and "own-try" in rules else UNAVAILABLE
                nodes = put(s.nodes, n, home._replace(queue=home.queue & ~bit))
                yield ("answers", n, index, said), s._replace(nodes=nodes,
                    requests=put(s.requests, index, request.answered(said)))
        if request.out or request.lost or mine or request.heard:
            yield ("answers", n, index, UNKNOWN), s._replace(
                requests=put(s.requests, index, request.answered(UNKNOWN)))
        if request.heard or mine or home.queue & bit:
            return
        if home.role == OWNER:
            if index == self.probe:
                heard = request._replace(heard=len(home.chain) + 1)
                yield ("judges", n, index), s._replace(requests=put(s.requests, index, heard))
            else:
                yield ("queues", n, index), s._replace(nodes=put(s.nodes, n, home._replace(queue=home.queue | bit)))
            return
        for m, node in enumerate(s.nodes):
            # to the owner that `epoch` names, or to an older one that does not know better
            if m == n or request.out >> m & 1 or not (node.role == OWNER or m == s.owner and node.role != DOWN):
                continue
            letter = (index, m, len(home.chain) if index == self.probe else 0)
            if letter not in s.letters:
                yield ("forwards", n, index, m), s._replace(letters=tuple(sorted(s.letters + (letter,))),
                    requests=put(s.requests, index, request._replace(out=request.out | 1 << m)))

    def asked(self, s, index, request):
        s = s._replace(requests=put(s.requests, index, request._replace(said=WAITS)))
        node = s.nodes[request.home]
        if node.role == OWNER and index != self.probe:
            s = s._replace(nodes=put(s.nodes, request.home, node._replace(queue=node.queue | 1 << index)))
        return s

    def arrive(self, s, place, letter):
        index, m, height = letter
        node, request = s.nodes[m], s.requests[index]
        rest = s.letters[:place] + s.letters[place + 1:]
        if node.role == OWNER:
            if index == self.probe:
                if "at-least" in self.rules and len(node.chain) < height:
                    yield ("refuses", m, index), s._replace(letters=rest,
                        requests=put(s.requests, index, request._replace(out=request.out & ~(1 << m))))
                    return
                bad = s.bad
                if len(node.chain) < height:
                    bad = f"S7: node {m} answers R{index} from height {len(node.chain)}, its sender has shown {height}"
                yield ("judges", m, index), s._replace(letters=rest, bad=bad,
                    requests=put(s.requests, index, request._replace(heard=len(node.chain) + 1)))
                return
            busy = node.batch and mask_of(node.batch[1]) >> index & 1
            queue = node.queue if busy else node.queue | 1 << index
            yield ("arrives", m, index), s._replace(letters=rest, nodes=put(s.nodes, m, node._replace(queue=queue)))
        elif node.role == FOLLOWER:
            yield ("refuses", m, index), s._replace(letters=rest,
                requests=put(s.requests, index, request._replace(out=request.out & ~(1 << m))))

    # the owner

    def owner_steps(self, s, n, node):
        rules = self.rules
        if not node.batch:
            if node.queue:
                yield ("folds", n), self.fold(s, n, node)
            if s.epoch != node.mine:
                yield ("steps down", n), self.step_down(s, n, node, node.queue)
            if s.left[HANDOVER] and s.owner == n and s.epoch == node.mine and not node.queue:
                for m, other in enumerate(s.nodes):
                    if m != n and other.role != DOWN:
                        t = self.step_down(s, n, node, node.queue)
                        yield ("hands over", n, m), t._replace(epoch=s.epoch + 1, owner=m, lives=1,
                            left=self.spend(t, HANDOVER))
                        if s.left[TIMEOUT]:
                            late = self.spend(s._replace(left=self.spend(s, HANDOVER)), TIMEOUT)
                            yield ("late handover", n, m), s._replace(left=late,
                                flight=self.flown(s, ("E", s.epoch, m, 1, 0)))
            return
        height, batch, phase = node.batch
        if phase == SENT:
            under_way = ("T", height, node.mine, batch, n) in s.flight
            if s.left[TIMEOUT] or not under_way:
                yield ("gives up", n), s._replace(left=self.spend(s, TIMEOUT) if under_way else s.left,
                    nodes=put(s.nodes, n, node._replace(batch=(height, batch, GAVE_UP))))
        elif phase == SUCCEEDED:
            node = node._replace(batch=(), chain=node.chain if "etcd-first" not in rules else node.chain + (batch,))
            yield ("commits", n), self.tell(s._replace(nodes=put(s.nodes, n, node)), n, mask_of(batch), height)
        elif phase == REFUSED and "no-is-not-proof" not in rules:
            yield from self.not_ours(s, n, node)
        elif phase == HALF_READ:
            # without one-read: the log was read before, and had nothing at our height
            yield from self.not_ours(s, n, node)
        else:
            yield from self.look(s, n, node)

    def look(self, s, n, node):
        """No answer, or `no`: reads epoch, head and log/<our height>."""
        height, batch, phase = node.batch
        there = s.log[height:height + 1]
        if "own-height" in self.rules:
            ours = there == (batch,)
        else:
            ours = bool(s.log) and s.log[-1] == batch
        if ours:
            node = node._replace(batch=(), chain=s.log)
            yield ("finds its batch", n), self.tell(s._replace(nodes=put(s.nodes, n, node)), n, mask_of(batch), height)
        elif not there and "one-read" not in self.rules and phase != HALF_READ:
            yield ("reads head", n), s._replace(nodes=put(s.nodes, n, node._replace(batch=(height, batch, HALF_READ))))
        else:
            yield from self.not_ours(s, n, node)

    def not_ours(self, s, n, node):
        height, batch, phase = node.batch
        again = node.queue | mask_of(batch)
        if s.epoch != node.mine:
            node = node._replace(batch=(), queue=0, chain=s.log)
            yield ("steps down", n), self.step_down(s._replace(nodes=put(s.nodes, n, node)), n, node, again)
        elif len(s.log) > height and phase != HALF_READ:
            # somebody else's batch at our height, under our own epoch: a process of ours that is gone
            node = node._replace(batch=(), queue=again, chain=s.log)
            yield ("catches up", n), s._replace(nodes=put(s.nodes, n, node))
        elif "same-bytes" in self.rules:
            yield ("sends again", n), s._replace(flight=self.flown(s, ("T", height, node.mine, batch, n)),
                nodes=put(s.nodes, n, node._replace(batch=(height, batch, SENT))))
        else:
            # folds again: another at_ns, so other bytes and another hash
            batch = batch_of(n, node.mine, (batch >> 12 & 15) + 1, mask_of(batch), ids_of(batch))
            yield ("folds again", n), s._replace(flight=self.flown(s, ("T", height, node.mine, batch, n)),
                nodes=put(s.nodes, n, node._replace(batch=(height, batch, SENT))))

    def flown(self, s, txn):
        # two copies of one transaction are enough: the third has no other effect
        return tuple(sorted(s.flight + (txn,))) if s.flight.count(txn) < 2 else s.flight

    def fold(self, s, n, node):
        done, fresh, ids = 0, 0, 0
        kept, held = 0, 0
        for batch in node.chain:
            kept |= ids_of(batch)
            held |= mask_of(batch)
        for index in bits(node.queue):
            request = s.requests[index]
            known = kept >> index & 1 and not (request.retried and "client-ids" not in self.rules)
            if "dedup" in self.rules and known:
                done |= 1 << index
            else:
                fresh |= 1 << index
                if "all-ids" in self.rules or request.out >> n & 1 or request.home != n:
                    ids |= 1 << index
        for index in bits(done):
            height = next(h for h, batch in enumerate(node.chain) if mask_of(batch) >> index & 1)
            s = self.tell(s, n, 1 << index, height)
        node = node._replace(queue=0)
        if not fresh:
            return s._replace(nodes=put(s.nodes, n, node))
        height = len(node.chain)
        batch = batch_of(n, node.mine, 0, fresh, ids)
        node = node._replace(batch=(height, batch, SENT))
        if "etcd-first" not in self.rules:
            node = node._replace(chain=node.chain + (batch,))
        return s._replace(nodes=put(s.nodes, n, node), flight=self.flown(s, ("T", height, node.mine, batch, n)))

    def tell(self, s, n, mask, height):
        """The owner says that these are done, at this height."""
        requests = s.requests
        for index in bits(mask):
            request = requests[index]
            if request.said == WAITS and not request.heard and (request.home == n or request.out >> n & 1):
                requests = put(requests, index, request._replace(heard=height + 1))
        return s._replace(requests=requests)

    def step_down(self, s, n, node, mask):
        """No owner any more: forwarded requests go back to their nodes, the node's own wait to be forwarded."""
        requests = s.requests
        for index in bits(mask):
            request = requests[index]
            if request.out >> n & 1:
                requests = put(requests, index, request._replace(out=request.out & ~(1 << n)))
        node = Node(FOLLOWER, 0, node.chain, 0, ())
        return s._replace(nodes=put(s.nodes, n, node), requests=requests)

    # followers and taking over

    def follower_steps(self, s, n, node):
        if node.role == TAKES:
            chain = s.log if "put-then-read" in self.rules else node.chain
            yield ("begins", n), s._replace(nodes=put(s.nodes, n, node._replace(role=OWNER, chain=chain)))
            return
        if len(node.chain) < len(s.log):
            yield ("tails", n), s._replace(nodes=put(s.nodes, n, node._replace(chain=s.log)))
        if s.owner == n and "own-name" in self.rules:
            if s.lives or "new-epoch" not in self.rules:
                yield ("finds its name", n), s._replace(nodes=put(s.nodes, n, node._replace(role=TAKES, mine=s.epoch)))
            else:
                yield ("starts anew", n), s._replace(epoch=s.epoch + 1, lives=1,
                    nodes=put(s.nodes, n, node._replace(role=TAKES, mine=s.epoch + 1)))
        if s.left[EPOCHS] and s.owner != n:
            yield ("takes over", n), s._replace(epoch=s.epoch + 1, owner=n, lives=1, left=self.spend(s, EPOCHS),
                nodes=put(s.nodes, n, node._replace(role=TAKES, mine=s.epoch + 1)))
            if s.left[TIMEOUT]:
                late = self.spend(s._replace(left=self.spend(s, EPOCHS)), TIMEOUT)
                yield ("late put", n), s._replace(flight=self.flown(s, ("E", s.epoch, n, 1, 0)), left=late)

    # etcd

    def etcd_steps(self, s, place, txn):
        rest = s.flight[:place] + s.flight[place + 1:]
        if txn[0] == "E":
            _, epoch, n, lives, _ = txn
            if s.epoch == epoch:
                yield ("puts epoch", None, n), s._replace(flight=rest, epoch=epoch + 1, owner=n, lives=lives)
            else:
                yield ("lost", None, txn), s._replace(flight=rest)
            return
        _, height, epoch, batch, n = txn
        done = (len(s.log) == height or "head-in-txn" not in self.rules) and \
               (s.epoch == epoch or "epoch-in-txn" not in self.rules)
        after = s._replace(flight=rest, log=s.log + (batch,) if done else s.log)
        node = s.nodes[n]
        if node.batch == (height, batch, SENT):
            answered = node._replace(batch=(height, batch, SUCCEEDED if done else REFUSED))
            yield ("yes" if done else "no", None, txn), after._replace(nodes=put(s.nodes, n, answered))
            if s.left[TIMEOUT]:
                yield ("lost", None, txn), after
        else:
            yield ("lost", None, txn), after
        if done and s.left[TWICE]:
            yield ("resend", None, txn), after._replace(flight=s.flight, left=self.spend(s, TWICE))

    # ---- traces

    def say(self, label):
        action, n, *rest = label
        words = {
            "restart": "node {n} restarts with what LMDB had committed",
            "crash": "node {n} is killed",
            "asks": "a client asks node {n} for R{0}",
            "retries": "the client had no answer and asks node {n} for R{0} again",
            "queues": "node {n} puts R{0} into its own queue",
            "forwards": "node {n} sends R{0} on to node {1}",
            "arrives": "R{0} arrives at owner {n}",
            "judges": "node {n} answers R{0} without a record",
            "refuses": "node {n} says that it does not take R{0}: not the owner",
            "folds": "owner {n} folds a batch and sends the transaction",
            "steps down": "node {n} sees another epoch and steps down; its batch, if any, counts as not in the log",
            "hands over": "owner {n} puts epoch + 1 for node {0}",
            "late handover": "owner {n} sends epoch + 1 for node {0} and gives up; the put is still under way",
            "gives up": "owner {n} has no answer from etcd within 1 s and aborts its LMDB transaction",
            "commits": "owner {n} commits LMDB and answers",
            "finds its batch": "node {n} finds its own batch in the log, folds it and answers",
            "reads head": "node {n} reads head: its batch is not there; it has not read `epoch` yet",
            "catches up": "owner {n} finds another batch at its height and puts its requests back into the queue",
            "sends again": "owner {n} sends the same bytes again",
            "folds again": "owner {n} folds the requests again and sends another transaction",
            "begins": "node {n} has read the log to its end and begins as owner",
            "tails": "node {n} folds the log to its end",
            "finds its name": "node {n} reads its own name in `epoch` and takes the world over",
            "starts anew": "node {n} has restarted, reads its own name in `epoch` and puts epoch + 1",
            "takes over": "node {n} puts epoch + 1",
            "late put": "node {n} sends epoch + 1 and gives up; the put is still under way",
            "puts epoch": "etcd applies the late put: epoch + 1, owner node {0}",
        }
        if action == "answers":
            said = {OK: "success", UNAVAILABLE: "`unavailable`", UNKNOWN: "`unknown`"}[rest[1]]
            return f"node {n} answers R{rest[0]}: {said}"
        if action in ("yes", "no", "lost", "resend"):
            txn = rest[0]
            if txn[0] == "E":
                return "etcd refuses a late put of `epoch`"
            what = f"the transaction of node {txn[4]} (height {txn[1]}, epoch {txn[2]}, {name_of(mask_of(txn[3]))})"
            return {"yes": f"etcd applies {what}; the answer arrives",
                    "no": f"etcd refuses {what}; the answer arrives",
                    "lost": f"etcd comes to {what}; no answer arrives",
                    "resend": f"etcd applies {what}; the connection breaks and the library sends it again"}[action]
        return words[action].format(*rest, n=n)


def name_of(mask):
    return " ".join(f"R{index}" for index in bits(mask))
