# SPDX-License-Identifier: Apache-2.0
"""Random actions of many principals; the world must agree with the model.

Run by test-economy. All requests go through one connection, so that they have one order, with many
under way: the model knows the answer before the question is sent.
"""
import argparse
import base64
import collections
import json
import os
import random
import socket
import sys
import time

from economy_chance import MINT_SHARE, Chance
from economy_model import RESOURCES, Bid, Economy, Failed, Outcome, size

IN_FLIGHT = 256  # requests, at most
BATCH = 64  # sent at once
PRINCIPALS = 16  # from the beginning
PRINCIPALS_MAX = 40

# `outcome`: the result in the model; None if only success is asked for.
Sent = collections.namedtuple("Sent", "number who cmd payload outcome")


class Connection:
    """The control socket; the operator acts in the names of others."""

    def __init__(self, world_directory, timeout):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        self.socket.connect(os.path.join(world_directory, "control.sock"))
        self.lines = self.socket.makefile("rb")

    def send(self, requests):
        envelopes = ({"v": 1, "id": str(sent.number), "as": sent.who, "cmd": sent.cmd, "payload": sent.payload}
                     for sent in requests)
        self.socket.sendall(b"".join(json.dumps(envelope).encode() + b"\n" for envelope in envelopes))

    def receive(self):
        return json.loads(self.lines.readline())

    def call(self, cmd, **payload):
        self.send([Sent(0, "operator", cmd, payload, None)])
        answer = self.receive()
        if not answer["ok"]:
            sys.exit(f"not ok - {cmd} {payload}: {answer['error']}")
        return answer["result"]

    def call_all(self, cmd, payloads):
        """Results in the order of the requests."""
        results = []
        for start in range(0, len(payloads), BATCH):
            part = payloads[start:start + BATCH]
            self.send([Sent(0, "operator", cmd, payload, None) for payload in part])
            results += [self.receive()["result"] for _ in part]
        return results


class Run:
    def __init__(self, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.economy = Economy()
        self.chance = Chance(self.random, self.economy)
        self.connection = Connection(options.world_directory, 120 * options.slowdown)
        self.number = 0
        self.queued = []
        self.under_way = collections.deque()
        self.outcomes = collections.Counter()
        self.height = self.connection.call("journal-head")["journal_height"]
        self.read_to = self.height  # earlier records were checked already
        self.minted = 0  # counted by their messages
        self.refused = set()  # principals that may not resolve_mint, and got a refusal

    # --- sending and comparing ---

    def ask(self, who, cmd, payload, outcome):
        self.number += 1
        self.queued.append(Sent(self.number, who, cmd, payload, outcome))
        if len(self.queued) >= BATCH:
            self.flush()

    def flush(self):
        while len(self.under_way) > IN_FLIGHT - BATCH:
            self.compare(self.under_way.popleft(), self.connection.receive())
        self.connection.send(self.queued)
        self.under_way.extend(self.queued)
        self.queued.clear()

    def drain(self):
        self.flush()
        while self.under_way:
            self.compare(self.under_way.popleft(), self.connection.receive())

    def compare(self, sent, answer):
        if sent.outcome is None:
            right = answer["ok"]
        elif sent.outcome.ok and answer["ok"]:
            right = self.same_data(sent.outcome.data, answer["result"]["data"])
        else:
            right = answer["ok"] == sent.outcome.ok and answer["error"]["code"] == sent.outcome.code
        if not right or answer["id"] != str(sent.number):
            self.differs(f"at {sent.who}'s {sent.cmd} {json.dumps(sent.payload, ensure_ascii=False)}",
                         sent.outcome, answer)

    @staticmethod
    def same_data(expected, got):
        """Compares every member that the model gives."""
        if expected is None:
            return got is None
        if "content" in expected:
            row = got["artifact"]
            got = got | {"content": row["content"], "owner": row["owner"]}
        return all(got[member] == value for member, value in expected.items())

    def differs(self, where, expected, got):
        options = self.options
        print(f"not ok - a difference within {self.number} requests, {where}\n"
              f"  expected {expected}\n  got      {got}\n"
              f"  again: meson test -C BUILD economy -v --test-args='--seed={options.seed} "
              f"--every={options.every} {options.actions}'")
        sys.exit(1)

    # --- what happens ---

    def begin(self):
        for i in range(PRINCIPALS):
            quotas = {"disk": self.random.randint(3000, 30000)} if i % 4 else {}
            if i % 3 == 0:
                quotas["llm_tokens"] = self.random.choice((0, 1000))
            if i % 5 == 0:
                quotas["llm_budget"] = 5000
            self.add_principal(f"p{i}", self.random.randint(0, 3000), quotas)
        self.sum = sum(self.economy.ledger.values())

    def add_principal(self, name, scrip, quotas):
        payload = {"id": name, "scrip": scrip, "quotas": quotas}
        try:
            self.economy.add_principal(name, scrip, quotas)
        except Failed as failed:
            self.ask("operator", "principal", payload, Outcome(False, failed.args[0], None))
            self.height += 1
            return
        self.ask("operator", "principal", payload, None)
        for cap in ("sys/act@1", "sys/query@1"):
            self.ask("operator", "grant", {"to": name, "cap": cap}, None)
        self.height += 3

    def step(self):
        if self.random.random() < 0.001 and len(self.economy.principals) < PRINCIPALS_MAX:
            self.add_principal(self.chance.new_name(), 0, {"disk": 0})
            self.drain()  # the acting principal is looked up when its request arrives
        who = self.chance.actor()
        action = self.chance.action(who)
        if self.random.random() < MINT_SHARE:
            who, action = "operator", {"action_type": "resolve_mint"}
        if action["action_type"] == "resolve_mint" and who != "operator":
            if who in self.refused:  # the time decides how many records further refusals have
                action = {"action_type": "noop"}
            self.refused.add(who)
        outcome = self.economy.act(who, action, self.height)
        self.outcomes[action["action_type"], outcome.code] += 1
        self.height += self.economy.records
        self.ask(who, "invoke", {"action": action}, outcome)

    # --- comparing everything ---

    def expect(self, what, expected, got):
        if expected == got:
            return
        if isinstance(expected, dict):
            keys = [key for key in expected.keys() | got.keys() if expected.get(key) != got.get(key)]
            what, expected, got = (f"{what} of {keys[:5]}", {key: expected.get(key) for key in keys[:5]},
                                   {key: got.get(key) for key in keys[:5]})
        self.differs(f"in {what}", expected, got)

    def compare_all(self):
        self.drain()
        economy = self.economy
        self.expect("the height", self.height, self.connection.call("journal-head")["journal_height"])
        balances = self.query("balances")["balances"]
        self.expect("the sum of scrip", self.sum + economy.minted, sum(balances.values()))
        self.expect("balances", economy.ledger, balances)
        self.expect("sys.ledger", {who: {"scrip": scrip} for who, scrip in economy.ledger.items()},
                    self.cells("sys.ledger"))
        self.compare_quotas()
        self.compare_artifacts()
        self.compare_mint()
        stats = self.query("invocations", limit=1)["stats"]
        failures = collections.Counter()
        for (_, _, code), count in economy.invocations.items():
            failures[code] += count
        self.expect("invocations", (sum(failures.values()), failures.pop(None, 0), dict(failures)),
                    (stats["total"], stats["successful"], stats["failure_types"]))

    def query(self, query_type, **params):
        return self.connection.call("query", query_type=query_type, params=params)

    def cells(self, reducer):
        """All cells of a reducer: their documents by key."""
        keys, cursor = [], {}
        while cursor is not None:
            page = self.connection.call("list-cells", reducer=reducer, **cursor)
            keys += [cell["key_b64"] for cell in page["cells"]]
            cursor = {"cursor": page["next_cursor"]} if "next_cursor" in page else None
        states = self.connection.call_all("query-state", [{"reducer": reducer, "key_b64": key} for key in keys])
        return {base64.b64decode(key).decode(): json.loads(base64.b64decode(state["state_b64"]))
                for key, state in zip(keys, states)}

    def compare_quotas(self):
        live = collections.Counter()
        for artifact in self.economy.artifacts.values():
            live[artifact.charged_to] += size(artifact)
        for who in self.economy.principals:
            quotas = {}
            for resource in RESOURCES:
                quota = self.economy.quotas.get((who, resource))
                used = live[who] if resource == "disk" else 0
                quotas[resource] = {"quota": quota, "used": used, "available": None if quota is None else quota - used}
            self.expect(f"quotas of {who}", quotas, self.query("quotas", principal_id=who)["quotas"])
        frozen = [who for (who, resource), quota in self.economy.quotas.items()
                  if resource == "llm_tokens" and quota == 0]
        self.expect("frozen", sorted(frozen), sorted(self.query("frozen")["frozen_agents"]))

    def compare_artifacts(self):
        artifacts = self.economy.artifacts
        rows = []
        while len(rows) < len(artifacts) + 1:
            page = self.query("artifacts", limit=1000, offset=len(rows))
            rows += page["results"]
            if not page["results"]:
                break
        self.expect("artifacts", page["total"], len(artifacts))
        self.expect("artifacts in order of creation",
                    [artifact.id for artifact in sorted(artifacts.values(), key=lambda one: one.order)],
                    [row["id"] for row in rows])
        columns = ("owner", "created_by", "type", "executable", "invoke_price", "read_price")
        self.expect("artifacts", {one.id: [getattr(one, column) for column in columns] + [len(one.content.encode())]
                                  for one in artifacts.values()},
                    {row["id"]: [row[column] for column in (*columns, "content_size")] for row in rows})
        columns = ("access", "charged_to")
        self.expect("sys.artifact", {one.id: [getattr(one, column) for column in columns] + [size(one)]
                                     for one in artifacts.values()},
                    {name: [cell[column] for column in columns] + [cell["content_size"] + cell.get("code_size", 0)]
                     for name, cell in self.cells("sys.artifact").items()})
        self.expect("sys.deleted", self.economy.deleted,
                    {name: cell["deleted_by"] for name, cell in self.cells("sys.deleted").items()})

    def compare_mint(self):
        bids = self.economy.bids
        pending = [bid.bid for bid in bids.values() if bid.status == "pending"]
        self.expect("what the mint holds", sum(pending), self.economy.balance("mint"))
        self.expect("bids that wait", len(pending), self.query("mint")["current_auction"]["pending_submissions"])
        self.expect("sys.mint", bids, {name: Bid(**{field: cell.get(field) for field in Bid._fields})
                                       for name, cell in self.cells("sys.mint").items()})
        self.read_records()
        self.expect("what records say was minted", self.economy.minted, self.minted)

    def read_records(self):
        """Checks that a tenth of each new score becomes scrip."""
        while self.read_to < self.height:
            page = self.connection.call("journal-read", **{"from": self.read_to, "limit": 1000})
            for record in page["records"]:
                if record["kind"] == "receipt":
                    self.minted += record["body"]["payload"]["score"] // 10
            self.read_to = page["records"][-1]["seq"] + 1


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("world_directory")
    parser.add_argument("actions", type=int)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--every", type=int, help="actions between two comparisons of everything")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 32)
    options.every = options.every or max(200, options.actions // 20)
    options.slowdown = int(os.environ.get("SLOWDOWN", "1"))
    return options


def main():
    options = arguments()
    print(f"# seed {options.seed}", flush=True)
    begun = time.monotonic()
    run = Run(options)
    run.begin()
    for i in range(options.actions):
        if i % options.every == 0:
            run.compare_all()
        run.step()
    run.compare_all()
    economy = run.economy
    for kind in sorted({kind for kind, _ in run.outcomes}):
        codes = {code or "ok": count for (one, code), count in run.outcomes.most_common() if one == kind}
        print(f"# {kind}: {', '.join(f'{code} {count}' for code, count in codes.items())}")
    codes = {code or "ok": count for code, count in economy.nested.most_common()}
    print(f"# by code: {', '.join(f'{code} {count}' for code, count in codes.items())}")
    print(f"# {sum(economy.invocations.values())} invocations, up to {economy.deepest} within others; "
          f"{len(economy.artifacts)} artifacts, {len(economy.deleted)} deleted; {time.monotonic() - begun:.0f} s")
    bids = collections.Counter(bid.status for bid in economy.bids.values())
    by_code = sum(bid.principal_id not in economy.principals for bid in economy.bids.values())
    print(f"# bids: {', '.join(f'{status} {count}' for status, count in bids.most_common())}; {by_code} by code")
    print(f"ok - {options.actions} actions, no difference; {run.sum} scrip as in the beginning, "
          f"and {economy.minted} minted")


main()
