# SPDX-License-Identifier: Apache-2.0
"""The effects of actions on scrip, quotas and artifacts, for test-economy.

Written from the manual alone. State is a few dictionaries; every change goes through a
list of what was before, so that a failure takes back what it has done and no more.

>>> e = Economy()
>>> e.add_principal("alice", 100, {"disk": 10}), e.add_principal("bob", 50, {})
(None, None)
>>> e.act("alice", {"action_type": "write_artifact", "artifact_id": "x", "content": "12345"}).data
{'artifact_id': 'x', 'size_bytes': 5, 'was_update': False}
>>> e.act("bob", {"action_type": "delete_artifact", "artifact_id": "x"}).code
'not_authorized'
>>> e.act("bob", {"action_type": "transfer", "to": "x", "amount": 20}).ok, e.ledger["x"], e.ledger["bob"]
(True, 20, 30)
>>> e.act("alice", {"action_type": "write_artifact", "artifact_id": "y", "content": "123456"}).code
'quota_exceeded'

Of equal bids the earlier wins, and pays as much as the other; of what is left over when three share
it, the first in order gets the most. One test of two passes: a score of 50, of which a tenth is minted.

>>> e = Economy()
>>> adder = {"action_type": "write_artifact", "code": "-- add", "interface": {"tests": [
...     {"args": [2, 3], "result": 5}, {"args": [2, 3], "result": 6}]}}
>>> for seq, who in enumerate(("bob", "al", "cy")):
...     e.add_principal(who, 100, {})
...     _ = e.act(who, adder | {"artifact_id": f"{who}-add"})
...     _ = e.act(who, {"action_type": "submit_to_mint", "artifact_id": f"{who}-add", "bid": 32 - seq // 2}, seq)
>>> e.act("bob", {"action_type": "resolve_mint"}).code
'not_authorized'
>>> _ = e.act("cy", {"action_type": "delete_artifact", "artifact_id": "cy-add"})
>>> e.act("operator", {"action_type": "resolve_mint"}).data["distributed"]
{'al': 12, 'cy': 10, 'operator': 10}
>>> e.ledger
{'operator': 10, 'bob': 73, 'mint': 0, 'al': 112, 'cy': 110}
>>> e.minted, [bid.status for bid in e.bids.values()]
(5, ['won', 'lost', 'void'])
"""
import collections
import json

from economy_code import LuaError, check_of, run_of

RESOURCES = ("disk", "llm_budget", "llm_tokens", "journal")  # nobody has a quota for the last one
NESTED_MAX = 5  # invocations within an invocation
DEPTH_MAX = 10  # of dependencies
MINT = "mint"  # the principal that holds bids, and runs the tests of submissions
RULES = ("freeware", "transferable_freeware", "self_owned", "private", "public")
MISSING = object()

Artifact = collections.namedtuple(
    "Artifact", "id order owner created_by charged_to access type content code author executable "
    "invoke_price read_price depends_on tests")
# The members of its cell; only a winner has the last two.
Bid = collections.namedtuple("Bid", "artifact_id principal_id bid status price_paid scrip_minted",
                             defaults=(None, None))
# The acting principal: `payer` began the action, `depth` counts the invocations around it, `author` wrote the
# code that acts.
Actor = collections.namedtuple("Actor", "id payer depth author")
Outcome = collections.namedtuple("Outcome", "ok code data")


class Failed(Exception):
    """An action that fails with this code."""


def stored(content):
    """A JSON value is stored as its document."""
    if isinstance(content, str):
        return content
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"


def size(artifact):
    return len(artifact.content.encode()) + len(artifact.code.encode())


class Economy:
    def __init__(self):
        self.ledger = {"operator": 0}  # of principals, and of artifacts that hold or held scrip
        self.minted = 0  # scrip that records of the mint have added in total
        self.principals = {"operator": True}
        self.quotas = {}  # (principal, resource): bound; absent: no bound
        self.used = {}  # principal: bytes of disk
        self.artifacts = {}
        self.deleted = {}  # id: by whom
        self.bids = {}  # all artifacts that ever existed, in order
        self.invocations = collections.Counter()  # (artifact, invoker, error code or None)
        self.actions = 0  # the artifacts that one action makes, in the order of their names
        self.records = 0  # of the last action
        self.record = {"seq": 0, "bids": 0}  # the record's number, and the bids that it has made
        self.before = []  # (dictionary, key, value or MISSING)
        self.begun = []  # invocations of the action, [artifact, invoker, error code]
        self.deepest = 0
        self.nested = collections.Counter()  # outcomes of the actions of code, even of those that were undone

    # --- changes that can be taken back ---

    def put(self, table, key, value):
        self.before.append((table, key, table.get(key, MISSING)))
        if value is MISSING:
            del table[key]
        else:
            table[key] = value

    def undo(self, mark):
        while len(self.before) > mark:
            table, key, value = self.before.pop()
            if value is MISSING:
                del table[key]
            else:
                table[key] = value

    # --- the one way in ---

    def add_principal(self, who, scrip, quotas):
        """Adds a principal; the operator makes it."""
        if who in self.principals or who in self.artifacts or who in self.deleted:
            raise Failed("already_exists")
        self.principals[who] = True
        self.ledger[who] = scrip
        for resource, quota in quotas.items():
            self.quotas[who, resource] = quota

    def act(self, who, action, seq=0):
        """Has a principal act; the action will have this record."""
        self.before.clear()
        self.begun.clear()
        self.actions += 1
        self.record.update(seq=seq, bids=0)
        self.records = 0 if action["action_type"] in ("noop", "read_artifact") else 1
        outcome = self.attempt(Actor(who, who, 0, who), action)
        self.invocations.update(map(tuple, self.begun))
        return outcome

    def attempt(self, actor, action):
        """Applies an action as a whole or not at all."""
        mark = len(self.before)
        try:
            if actor.depth > 0 and actor.id in self.deleted:
                raise Failed("deleted")  # code that has deleted its artifact acts no more
            outcome = Outcome(True, None, getattr(self, "act_" + action["action_type"])(actor, action))
        except Failed as failed:
            self.undo(mark)
            outcome = Outcome(False, failed.args[0], None)
        if actor.depth > 0:
            self.nested[outcome.code] += 1
        return outcome

    # --- scrip and quotas ---

    def balance(self, who):
        return self.ledger.get(who, 0)

    def exists(self, who):
        return who in self.principals or who in self.artifacts

    def take(self, who, amount):
        if self.balance(who) < amount:
            raise Failed("insufficient_funds")
        if amount > 0:
            self.put(self.ledger, who, self.balance(who) - amount)

    def give(self, who, amount):
        if amount > 0:
            self.put(self.ledger, who, self.balance(who) + amount)

    def charge(self, who, more):
        """Adds bytes of disk; @size may be negative."""
        used = self.used.get(who, 0) + more
        quota = self.quotas.get((who, "disk"))
        if more > 0 and quota is not None and used > quota:
            raise Failed("quota_exceeded")
        self.put(self.used, who, used)

    def use_of(self, who, resource):
        return self.used.get(who, 0) if resource == "disk" else 0

    def act_transfer(self, actor, action):
        to, amount, resource = action["to"], action["amount"], action.get("resource", "scrip")
        if amount < 1:
            raise Failed("invalid_argument")
        if resource != "scrip" and resource not in RESOURCES:
            raise Failed("not_found")
        if not self.exists(to):
            raise Failed("not_found")
        if resource == "scrip":
            self.take(actor.id, amount)
            self.give(to, amount)
        else:
            self.move_quota(actor.id, to, resource, amount)
        return {"from": actor.id, "to": to, "amount": amount, "resource": resource}

    def move_quota(self, who, to, resource, amount):
        if (who, resource) not in self.quotas:
            raise Failed("invalid_argument")
        if self.quotas[who, resource] - self.use_of(who, resource) < amount:
            raise Failed("quota_exceeded")
        if (to, resource) not in self.quotas:
            raise Failed("invalid_argument")
        self.put(self.quotas, (who, resource), self.quotas[who, resource] - amount)
        self.put(self.quotas, (to, resource), self.quotas[to, resource] + amount)

    # --- artifacts ---

    def find(self, name):
        if name in self.deleted:
            raise Failed("deleted")
        if name not in self.artifacts:
            raise Failed("not_found")
        return self.artifacts[name]

    def may(self, who, artifact, use):
        """The rights of the immediate caller count."""
        rule = artifact.access
        if rule not in RULES and rule in self.artifacts:
            return check_of(self, self.artifacts[rule], who, use)
        if who == artifact.owner or rule == "public":
            return True
        if rule in ("freeware", "transferable_freeware"):
            return use in ("read", "invoke")
        return rule == "self_owned" and who == artifact.id

    def permit(self, actor, artifact, use):
        if not self.may(actor.id, artifact, use):
            raise Failed("not_authorized")

    def charged(self, who):
        """The principal whose disk is used."""
        return who if who in self.principals else self.find(who).charged_to

    def act_noop(self, actor, action):
        return None

    def price(self, actor, artifact, price):
        """The price that the owner charges; nothing for the owner itself, nor for the mint's tests."""
        return 0 if artifact.owner in (actor.id, actor.payer) or actor.id == MINT else price

    def is_lent(self, actor, artifact):
        """Does the owner run code that another principal has written?"""
        return actor.depth > 0 and actor.payer == artifact.owner and artifact.owner not in (actor.id, actor.author)

    def pay_price(self, actor, price):
        """The mint pays for nothing that the tested code asks for."""
        if price > 0 and actor.payer == MINT:
            raise Failed("insufficient_funds")
        self.take(actor.payer, price)

    def act_read_artifact(self, actor, action):
        artifact = self.find(action["artifact_id"])
        self.permit(actor, artifact, "read")
        if artifact.read_price and self.is_lent(actor, artifact):
            raise Failed("not_authorized")
        price = self.price(actor, artifact, artifact.read_price)
        self.records = max(self.records, price > 0)
        self.pay_price(actor, price)
        self.give(artifact.owner, price)
        return {"content": artifact.content, "owner": artifact.owner, "read_price_paid": price}

    def content_for(self, actor, name):
        """What code may read for nothing, otherwise None."""
        try:
            artifact = self.find(name)
            self.permit(actor, artifact, "read")
        except Failed:
            return None
        costs = artifact.read_price and self.is_lent(actor, artifact)
        return None if costs or self.price(actor, artifact, artifact.read_price) else artifact.content

    def act_write_artifact(self, actor, action):
        name = action["artifact_id"]
        if name in self.deleted:
            raise Failed("deleted")
        if name == MINT:
            raise Failed("invalid_argument")
        if name in self.principals:
            raise Failed("already_exists")
        old = self.artifacts.get(name)
        if old:
            self.permit(actor, old, "write")
        else:
            payer = self.charged(actor.id)
            old = Artifact(name, None, actor.id, actor.id, payer, "freeware", "data", "", "", None, False, 0, 0, (), [])
        new = self.written(old, action, actor.author)
        self.check_dependencies(new)
        self.charge(new.charged_to, size(new) - size(old))
        if new.executable and not new.code:
            raise Failed("missing_argument")
        was_update = name in self.artifacts
        if not was_update:
            new = new._replace(order=(self.actions, name))
        self.put(self.artifacts, name, new)
        return {"artifact_id": name, "size_bytes": size(new), "was_update": was_update}

    def written(self, old, action, author):
        """The fields that the action has."""
        fields = {name: action[name] for name in ("type", "access", "code", "executable") if name in action}
        if "content" in action:
            fields["content"] = stored(action["content"])
        if "code" in action:
            fields.setdefault("executable", True)
            fields["author"] = author
        prices = dict(action.get("policy", {}))
        if "price" in action:
            prices["invoke_price"] = action["price"]
        if "depends_on" in action:
            fields["depends_on"] = tuple(action["depends_on"])
        if "interface" in action:
            fields["tests"] = action["interface"]["tests"]
        return old._replace(**fields, **prices)

    def check_dependencies(self, artifact):
        def depth(name, below):
            if name == artifact.id:
                raise Failed("cycle")
            if below > DEPTH_MAX:
                raise Failed("depth_exceeded")
            for other in getattr(self.artifacts.get(name), "depends_on", ()):
                depth(other, below + 1)

        for name in artifact.depends_on if artifact.depends_on != getattr(
                self.artifacts.get(artifact.id), "depends_on", ()) else ():
            if name != artifact.id:
                self.find(name)
            depth(name, 1)

    def act_edit_artifact(self, actor, action):
        artifact = self.find(action["artifact_id"])
        self.permit(actor, artifact, "edit")
        old, new = action["old_string"], action["new_string"]
        if old == new:
            raise Failed("no_change")
        count = artifact.content.count(old)
        if count != 1:
            raise Failed("not_unique" if count else "not_found_in_content")
        changed = artifact._replace(content=artifact.content.replace(old, new))
        self.charge(artifact.charged_to, size(changed) - size(artifact))
        self.put(self.artifacts, artifact.id, changed)
        return {"artifact_id": artifact.id, "size_bytes": len(changed.content.encode())}

    def act_delete_artifact(self, actor, action):
        artifact = self.find(action["artifact_id"])
        self.permit(actor, artifact, "delete")
        self.charge(artifact.charged_to, -size(artifact))
        self.put(self.artifacts, artifact.id, MISSING)
        self.put(self.deleted, artifact.id, actor.id)
        return {"artifact_id": artifact.id, "freed_bytes": size(artifact)}

    def act_transfer_ownership(self, actor, action):
        artifact = self.find(action["artifact_id"])
        to = action["to"]
        if artifact.owner != actor.id or artifact.access == "self_owned":
            raise Failed("not_authorized")
        if not self.exists(to):
            raise Failed("not_found")
        charged_to = self.charged(to)
        self.charge(artifact.charged_to, -size(artifact))
        self.charge(charged_to, size(artifact))
        self.put(self.artifacts, artifact.id, artifact._replace(owner=to, charged_to=charged_to))
        return {"artifact_id": artifact.id, "from": actor.id, "to": to}

    # --- code ---

    def act_invoke_artifact(self, actor, action):
        artifact = self.find(action["artifact_id"])
        self.permit(actor, artifact, "invoke")
        if not artifact.executable:
            raise Failed("invalid_type")
        if actor.depth > NESTED_MAX:
            raise Failed("depth_exceeded")
        row = [artifact.id, actor.id, None]
        self.begun.append(row)
        begun = len(self.begun)
        self.deepest = max(self.deepest, actor.depth)
        try:
            return self.run(actor, artifact, action.get("args", []))
        except (Failed, LuaError) as failed:
            row[2] = "runtime_error" if isinstance(failed, LuaError) else failed.args[0]
            del self.begun[begun:]  # undone with it
            raise Failed(row[2]) from None

    def run(self, actor, artifact, args):
        """The price is held before the code runs, and paid after it has succeeded."""
        price = self.price(actor, artifact, artifact.invoke_price)
        self.pay_price(actor, price)
        for name in artifact.depends_on:
            self.find(name)
        inner = Actor(artifact.id, actor.payer, actor.depth + 1, artifact.author)
        result = run_of(self, artifact, inner, actor.id, args)
        self.give(artifact.owner, price)
        return {"price_paid": price, "result": result}

    # --- the mint ---

    def act_submit_to_mint(self, actor, action):
        if action["bid"] < 1:
            raise Failed("invalid_argument")
        artifact = self.find(action["artifact_id"])
        if artifact.owner != actor.id:
            raise Failed("not_authorized")
        if not artifact.executable:
            raise Failed("invalid_type")
        self.take(actor.id, action["bid"])
        self.give(MINT, action["bid"])
        number = self.record["bids"]
        self.put(self.record, "bids", number + 1)
        name = f"mint_{self.record['seq']}" + (f".{number}" if number else "")
        self.put(self.bids, name, Bid(artifact.id, actor.id, action["bid"], "pending"))
        return {"submission_id": name}

    def act_cancel_mint(self, actor, action):
        name = action["submission_id"]
        if name not in self.bids:
            raise Failed("not_found")
        bid = self.bids[name]
        if bid.principal_id != actor.id:
            raise Failed("not_authorized")
        if bid.status != "pending":
            raise Failed("no_change")
        self.end_bid(name, "cancelled")
        return {"submission_id": name, "refunded": bid.bid}

    def end_bid(self, name, status, **fields):
        """Gives the held scrip back to the bidder."""
        bid = self.bids[name]
        self.take(MINT, bid.bid)
        self.give(bid.principal_id, bid.bid)
        self.put(self.bids, name, bid._replace(status=status, **fields))

    def stands(self, bid):
        """Is the artifact unchanged since it was submitted?"""
        artifact = self.artifacts.get(bid.artifact_id)
        return artifact is not None and artifact.executable and artifact.owner == bid.principal_id

    def act_resolve_mint(self, actor, action):
        if actor.id != "operator":
            raise Failed("not_authorized")
        pending = {name: bid for name, bid in self.bids.items() if bid.status == "pending"}
        standing = [name for name, bid in pending.items() if self.stands(bid)]
        winner = max(standing, key=lambda name: pending[name].bid, default=None)  # the first of equal bids
        for name in pending:
            if name != winner:
                self.end_bid(name, "lost" if name in standing else "void")
        if winner is None:
            self.records = 1 if pending else 0
            return {"artifact_id": None, "distributed": {}, "price_paid": 0, "score": 0, "scrip_minted": 0,
                    "winner_id": None, "winning_bid": 0}
        self.records = 3  # with its question for a score, and the answer
        return self.reward(winner, max((pending[name].bid for name in standing if name != winner), default=1))

    def reward(self, name, price):
        """The winner pays, and the others share the price; then the artifact is scored, and scrip is made."""
        bid = self.bids[name]
        self.end_bid(name, "won", price_paid=price)
        self.take(bid.principal_id, price)
        others = sorted(who for who in self.principals if who != bid.principal_id)
        shares = {who: price // len(others) for who in others}
        shares[others[0]] += price % len(others)
        for who, share in shares.items():
            self.give(who, share)
        score = self.score(self.artifacts[bid.artifact_id])
        minted = score // 10
        self.give(bid.principal_id, minted)
        self.put(self.bids, name, self.bids[name]._replace(scrip_minted=minted))
        self.minted += minted
        return {"artifact_id": bid.artifact_id, "distributed": {who: share for who, share in shares.items() if share},
                "price_paid": price, "score": score, "scrip_minted": minted, "winner_id": bid.principal_id,
                "winning_bid": bid.bid}

    def score(self, artifact):
        """The share of its tests that pass."""
        return 100 * sum(self.passes(artifact, test) for test in artifact.tests) // max(1, len(artifact.tests))

    def passes(self, artifact, test):
        if not isinstance(test, dict):
            return False
        outcome = self.tried(artifact, test.get("args", []))
        return outcome.ok and json.dumps(outcome.data) == json.dumps(test.get("result"))

    def tried(self, artifact, args):
        """The result that the mint gets; no change of the run stays, and no row records it."""
        mark, begun = len(self.before), len(self.begun)
        try:
            return Outcome(True, None, self.run(Actor(MINT, MINT, 0, MINT), artifact, args)["result"])
        except Failed as failed:
            return Outcome(False, failed.args[0], None)
        except LuaError:
            return Outcome(False, "runtime_error", None)
        finally:
            self.undo(mark)
            del self.begun[begun:]
