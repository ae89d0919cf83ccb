# SPDX-License-Identifier: Apache-2.0
"""Random actions for test-economy. They look at the model, so that about half of them succeed."""
from economy_code import CONTRACTS, PROGRAMS, code_of, program_of
from economy_model import RESOURCES, RULES

ARTIFACTS_ABOUT = 300  # above this number, more artifacts are deleted than made
NEST_ABOUT = 8  # levels of nested steps; the kernel refuses earlier
MINT_SHARE = 0.01  # share of the actions that end an auction

# Kinds of actions, and how often; `make_…` makes one.
ACTIONS = {"transfer": 12, "transfer_quota": 6, "data": 10, "program": 6, "contract": 2, "update": 10, "edit": 7,
           "delete": 7, "read": 9, "transfer_ownership": 6, "invoke": 25, "noop": 1,
           "tests": 4, "submit": 6, "cancel": 2, "resolve": 1}
# The steps that a program is asked to take, and how often; `step_…` makes one.
STEPS = {"pay": 20, "act": 30, "invoke": 22, "rue": 2, "must": 6, "fail": 2, "try": 5, "own": 3, "balance": 3,
         "quota": 3, "used": 3, "prices": 3, "content": 3, "who": 2}
WORDS = "scrip owes seven bread naïve market 日本 five until price".split()


class Chance:
    def __init__(self, random, economy):
        self.random = random
        self.economy = economy
        self.names = 0

    def one(self, weights):
        return self.random.choices(list(weights), list(weights.values()))[0]

    def often(self, probability):
        return self.random.random() < probability

    # --- choosing principals and artifacts ---

    def principal(self):
        return self.random.choice(list(self.economy.principals))

    def actor(self):
        """A principal, often one that has artifacts."""
        who = self.principal()
        if self.often(0.5) and self.economy.artifacts:
            owner = self.random.choice(list(self.economy.artifacts.values())).owner
            who = owner if owner in self.economy.principals else who
        return who

    def artifact(self):
        """An id, seldom of an artifact that was deleted or never existed."""
        chance = self.random.random()
        if chance < 0.04 and self.economy.deleted:
            return self.random.choice(list(self.economy.deleted))
        if chance < 0.06 or not self.economy.artifacts:
            return "nothing"
        return self.random.choice(list(self.economy.artifacts))

    def artifact_for(self, who, use):
        """An artifact, mostly one that the principal may use so."""
        found = [artifact.id for artifact in self.economy.artifacts.values() if self.economy.may(who, artifact, use)]
        return self.random.choice(found) if found and self.often(0.9) else self.artifact()

    def own_artifact(self, who):
        own = [artifact.id for artifact in self.economy.artifacts.values() if artifact.owner == who]
        return self.random.choice(own) if own and self.often(0.9) else self.artifact()

    def own_program(self, who):
        own = [artifact.id for artifact in self.economy.artifacts.values() if artifact.owner == who and
               program_of(artifact) in PROGRAMS]
        return self.random.choice(own) if own and self.often(0.9) else self.artifact()

    def named(self, among):
        """An artifact with one of these programs, if any exists."""
        found = [artifact.id for artifact in self.economy.artifacts.values() if program_of(artifact) in among]
        return self.random.choice(found) if found and self.often(0.95) else self.artifact()

    def program(self, who, among=PROGRAMS):
        """An artifact, mostly one that the principal may invoke."""
        name = self.named(among)
        for _ in range(3):
            artifact = self.economy.artifacts.get(name)
            if artifact is None or self.economy.may(who, artifact, "invoke"):
                break
            name = self.named(among)
        return name

    def anybody(self):
        if self.often(0.02):
            return self.random.choice(("nobody", "mint"))
        return self.principal() if self.often(0.93) else self.artifact()

    def amount(self, has):
        chance = self.random.random()
        if chance < 0.02:
            return 0
        if chance < 0.1:
            return has + self.random.choice((0, 1, 50))
        return self.random.randint(1, max(1, has // 4))

    def new_name(self):
        if self.often(0.02):
            return self.anybody()
        self.names += 1
        return f"a{self.names}"

    def price(self):
        return self.random.choice((0, 0, 0, 1, 2, 5, 10, 40))

    def text(self):
        words = self.random.choices(WORDS, k=self.random.choice((0, 1, 3, 10, 40)))
        return " ".join(words)

    def content(self):
        if self.often(0.1):
            return {"list": [1, self.text(), {}], "n": self.random.randint(-9, 9)}
        return self.text()

    def comment(self):
        return "x" * self.random.randint(0, 200)

    def access(self):
        chance = self.random.random()
        if chance < 0.08:
            return self.named(CONTRACTS)
        return "freeware" if chance < 0.65 else self.random.choice(RULES)

    # --- actions ---

    def action(self, who):
        weights = ACTIONS
        if len(self.economy.artifacts) > ARTIFACTS_ABOUT:
            weights = weights | {"data": 2, "program": 1, "contract": 1, "delete": 20}
        kind = self.one(weights)
        if kind in ("update", "edit", "delete", "transfer_ownership") and self.often(0.8) and \
                not any(artifact.owner == who for artifact in self.economy.artifacts.values()):
            kind = "data"  # the principal has no artifacts yet
        if kind in ("tests", "submit") and self.often(0.8) and \
                not any(artifact.owner == who and artifact.executable for artifact in self.economy.artifacts.values()):
            kind = "program"
        return getattr(self, "make_" + kind)(who)

    def make_transfer(self, who):
        if self.economy.balance(who) == 0 and self.often(0.9):
            return self.make_read(who)
        return {"action_type": "transfer", "to": self.anybody(), "amount": self.amount(self.economy.balance(who))}

    def make_transfer_quota(self, who):
        quotas = self.economy.quotas
        resource = self.random.choice([one for one in RESOURCES if (who, one) in quotas] or RESOURCES + ("gpu",))
        to = self.anybody()
        if (to, resource) not in quotas and self.often(0.7):
            to = self.random.choice([one for one, has in quotas if has == resource] or [to])
        amount = self.amount(quotas.get((who, resource), 0))
        return {"action_type": "transfer", "to": to, "amount": amount, "resource": resource}

    def write(self, name, **members):
        """Any member of an artifact may come with the others."""
        action = {"action_type": "write_artifact", "artifact_id": name} | members
        if self.often(0.5):
            action["access"] = self.access()
        if self.often(0.3):
            action["price"] = self.price()
        elif self.often(0.3):
            prices = {"read_price": self.price(), "invoke_price": self.price()}
            kept = self.random.choice((["read_price"], ["invoke_price"], list(prices)))
            action["policy"] = {which: prices[which] for which in kept}
        if self.often(0.05):
            action["depends_on"] = [self.artifact() for _ in range(self.random.randint(0, 2))]
            action["depends_on"] = sorted(set(action["depends_on"]))
        if self.often(0.2):
            action["type"] = self.random.choice(("note", "service"))
        return action

    def make_data(self, who):
        return self.write(self.new_name(), content=self.content())

    def make_program(self, who):
        kind = "steps" if self.often(0.6) else self.random.choice(PROGRAMS)
        return self.write(self.new_name(), code=code_of(kind, self.comment()))

    def make_contract(self, who):
        return self.write(self.new_name(), code=code_of(self.random.choice(CONTRACTS), self.comment()))

    def make_update(self, who):
        members = {}
        if self.often(0.3):
            members["content"] = self.content()
        if self.often(0.2):
            members["code"] = code_of(self.random.choice(PROGRAMS + ("steps",) * 8), self.comment())
        elif self.often(0.05):
            members["executable"] = self.often(0.7)
        return self.write(self.artifact_for(who, "write"), **members)

    def make_edit(self, who):
        name = self.artifact_for(who, "edit")
        artifact = self.economy.artifacts.get(name)
        text = artifact.content if artifact else ""
        if not text and self.often(0.7):
            return self.write(name, content=self.content())
        start = self.random.randint(0, len(text))
        old = text[start:start + self.random.randint(3, 20)] or "zz"
        new = old if self.often(0.03) else self.text()
        return {"action_type": "edit_artifact", "artifact_id": name, "old_string": old, "new_string": new}

    def make_delete(self, who):
        """Seldom an artifact that has scrip or artifacts, because deleting it loses them."""
        name = self.artifact_for(who, "delete")
        has = self.economy.balance(name) > 20 or any(one.owner == name for one in self.economy.artifacts.values())
        if has and self.often(0.97):
            return self.write(name, content=self.content())
        return {"action_type": "delete_artifact", "artifact_id": name}

    def make_read(self, who):
        return {"action_type": "read_artifact", "artifact_id": self.artifact()}

    def make_transfer_ownership(self, who):
        to = self.anybody() if self.often(0.1) else self.principal()
        return {"action_type": "transfer_ownership", "artifact_id": self.own_artifact(who), "to": to}

    def idle(self):
        """A program that can do something with what it has; otherwise scrip and artifacts would
        gather there."""
        owners = {artifact.owner for artifact in self.economy.artifacts.values()}
        found = [artifact.id for artifact in self.economy.artifacts.values() if program_of(artifact) == "steps" and
                 (artifact.id in owners or self.economy.balance(artifact.id) > 0)]
        return self.random.choice(found) if found else self.artifact()

    def make_invoke(self, who):
        name = self.idle() if self.often(0.4) else self.program(who)
        args = self.chain(name, self.random.randint(4, NEST_ABOUT)) if self.often(0.15) else self.args(name, 0)
        return {"action_type": "invoke_artifact", "artifact_id": name, "args": args}

    def make_noop(self, who):
        return {"action_type": "noop"}

    # --- the mint ---

    def make_tests(self, who):
        name = self.own_program(who)
        tests = [self.test(name) for _ in range(self.random.randint(0, 4))]
        return {"action_type": "write_artifact", "artifact_id": name, "interface": {"tests": tests}}

    def test(self, name):
        """Tests, mostly ones that pass as long as nothing changes."""
        artifact = self.economy.artifacts.get(name)
        if artifact is None or self.often(0.03):
            return 5
        args = self.args(name, NEST_ABOUT - 2)
        outcome = self.economy.tried(artifact, args)
        result = outcome.data if outcome.ok and self.often(0.8) else self.random.choice((None, 5, [], ["ok"]))
        return {"args": args, "result": result} | ({"method": "other"} if self.often(0.1) else {})

    def make_submit(self, who):
        bid = self.random.choice((1, 2, 5, 5, 10)) if self.often(0.5) else self.amount(self.economy.balance(who))
        tested = [artifact.id for artifact in self.economy.artifacts.values()
                  if artifact.owner == who and artifact.executable and artifact.tests]
        name = self.random.choice(tested) if tested and self.often(0.7) else self.own_program(who)
        return {"action_type": "submit_to_mint", "artifact_id": name, "bid": bid}

    def make_cancel(self, who):
        """A submission, mostly one of the principal that waits, otherwise any."""
        bids = self.economy.bids
        found = [name for name, bid in bids.items() if bid.status == "pending" and bid.principal_id == who]
        if not found or self.often(0.2):
            found = list(bids)[-20:] + ["mint_0"]
        return {"action_type": "cancel_mint", "submission_id": self.random.choice(found)}

    def make_resolve(self, who):
        """Only the operator may do this."""
        return {"action_type": "resolve_mint"}

    # --- the steps that a program is asked to take ---

    def args(self, name, level):
        artifact = self.economy.artifacts.get(name)
        kind = program_of(artifact) if artifact else None
        if kind == "steps":
            return [self.steps(name, level)]
        if kind == "add":
            return [self.random.randint(-99, 99) for _ in range(self.random.choice((1, 2, 2, 2, 3)))]
        return [self.random.randint(0, 5)]

    def steps(self, who, level):
        return [self.step(who, level) for _ in range(self.random.randint(1, 5 if level < 2 else 2))]

    def step(self, who, level):
        """One of the steps, for the artifact `who`."""
        kind = self.one(STEPS)
        if level >= NEST_ABOUT and kind in ("act", "invoke", "must", "try"):
            kind = "own"
        return [kind, *getattr(self, "step_" + kind)(who, level)]

    def chain(self, name, levels):
        """Arguments with which each program runs the next, and does something afterwards."""
        if levels == 0:
            return self.args(name, NEST_ABOUT)
        inner = self.program(name, ("steps",))
        call = ["invoke", inner, self.chain(inner, levels - 1)]
        return [[["must", call] if self.often(0.2) else call, self.step(name, NEST_ABOUT)]]

    def step_pay(self, who, level):
        return self.anybody(), self.amount(self.economy.balance(who))

    def step_act(self, who, level):
        action = self.action(who)
        while action["action_type"] == "invoke_artifact":
            action = self.action(who)
        return action.pop("action_type"), action

    def step_invoke(self, who, level):
        name = self.program(who)
        return name, self.args(name, level + 1)

    def step_rue(self, who, level):
        return self.own_program(who), self.amount(self.economy.balance(who))

    def step_must(self, who, level):
        return [self.step(who, level)]

    def step_fail(self, who, level):
        return []

    def step_try(self, who, level):
        return [self.steps(who, level + 1) + ([["fail"]] if self.often(0.5) else [])]

    def step_own(self, who, level):
        return []

    def step_balance(self, who, level):
        return [self.principal()]

    def step_quota(self, who, level):
        return self.principal(), self.random.choice(RESOURCES)

    def step_used(self, who, level):
        return [self.principal()]

    def step_prices(self, who, level):
        return [self.artifact()]

    def step_content(self, who, level):
        return [self.artifact()]

    def step_who(self, who, level):
        return []
