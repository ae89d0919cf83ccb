# SPDX-License-Identifier: Apache-2.0
"""A world whose agents have minds made of artifacts, for the tests in this directory."""
import base64
import json
import os
import unittest

from field import GRANTS, PATIENCE_S, Models, World, says

SCRIP = 100
AGENTS = [f"a{number}" for number in range(200)]
OBSERVE = "genesis_prompt_library#observe_base"
TRANSITION = "genesis_prompt_library#transition_base"


def next_state(name, reason="so it goes"):
    return says(json.dumps({"next_state": name, "reason": reason}))


def state(name, **more):
    return {"state": name, **more}


def workflow(*steps, states=None, **more):
    names = states or [step["state"] for step in steps]
    return {"states": names, "initial_state": names[0], "steps": list(steps), **more}


class Mind(World):
    """Makes many agents, so that each test has its own, the genesis artifacts, and three ways to a
    model."""

    def __init__(self, base_url, genesis=True, names=(), members=None, files=()):
        super().__init__(base_url, artifacts=(), genesis=genesis, files=files, members={
            "principals": [{"id": name, "grants": GRANTS, "scrip": SCRIP}
                           for name in ["ada", *AGENTS, *names]], **(members or {})})

    def models(self, **entry):
        server = {"provider": "openai", "base_url": self.base_url, "model": "m"}
        self.host({
            "default": {**server, **entry},
            "hasty": {**server, "first_byte_timeout_ms": 100, "total_timeout_ms": 150},
            "script": {"provider": "script", "file": "script.jsonl"}})

    def script(self, *answers):
        """Answers from a script, one for each request of a turn, as a server would give them."""
        with open(os.path.join(self.directory, "script.jsonl"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(answer["completion"]) + "\n" for answer in answers)

    def act(self, actor, action_type, **members):
        path = os.path.join(self.scratch, "action.json")
        self.write(path, {"action_type": action_type, **members})
        return json.loads(self.run("--as", actor, "invoke", "@" + path)).get("data")

    def cell(self, reducer, key):
        """The document of a cell; None if the cell does not exist."""
        answer = self.ask("query-state", {
            "reducer": reducer, "key_b64": base64.b64encode(key.encode()).decode()})
        assert answer["ok"], answer
        text = answer["result"].get("state_b64")
        return json.loads(base64.b64decode(text)) if text else None

    def file(self, path):
        answer = self.ask("fs-read", {"path": path})
        assert answer["ok"], answer
        return base64.b64decode(answer["result"]["data_b64"]).decode()

    def turns(self, agent):
        return self.ask("turns", {"agent": agent})["result"]["turns"]

    def check(self):
        """Checks every hash and every derived row, and folds the journal again."""
        self.run("verify")
        self.run("replay")

    def kill(self):
        self.daemon.kill()
        self.daemon.wait(PATIENCE_S)


class Field(unittest.TestCase):
    genesis = True
    model = "default"
    agents = None

    @classmethod
    def setUpClass(cls):
        cls.server = Models()
        cls.world = Mind(cls.server.url, cls.genesis)
        cls.world.start()
        cls.agents = iter(AGENTS)

    @classmethod
    def tearDownClass(cls):
        try:
            cls.world.stop()
            cls.world.check()
        finally:
            cls.world.close()
            cls.server.close()

    def setUp(self):
        self.agent = self.other()
        self.run_id = None

    # --- what there is ---

    def put(self, name, content, kind="data", by=None, **more):
        """Makes an artifact of the agent. Return: its id."""
        actor = by or self.agent
        artifact_id = f"{actor}.{name}"
        text = content if isinstance(content, str) else json.dumps(content)
        self.world.act(actor, "write_artifact", artifact_id=artifact_id, type=kind, content=text,
                       **more)
        return artifact_id

    def own(self, value):
        """Puts the agent's id in the place of `~`."""
        return json.loads(json.dumps(value).replace("~", self.agent))

    def prompt(self, name, template, *variables, **more):
        content = {"template": template, "variables": list(variables)}
        return self.put(name, content, "prompt", **more)

    def workflow(self, *steps, name="workflow", **more):
        return self.put(name, workflow(*steps, **more), "workflow")

    def configure(self, agent=None, **content):
        """Makes an agent's content; by default the agent has no tools."""
        name = agent or self.agent
        self.world.act(name, "write_artifact", artifact_id=name, type="agent",
                       content=json.dumps({"model": self.model, "max_turns": 5, **content}))

    def store(self, *texts, access="private", by=None):
        """Makes a memory store with these texts. Return: its id."""
        actor = by or self.agent
        made = self.invoke(actor, "genesis_memory", "create", {"access": access})
        for text in texts:
            self.invoke(actor, "genesis_memory_add", "run",
                        {"memory": made["memory_artifact_id"], "text": text})
        return made["memory_artifact_id"]

    def invoke(self, actor, artifact_id, method, *args):
        return self.world.act(actor, "invoke_artifact", artifact_id=artifact_id, method=method,
                              args=list(args))["result"]

    def other(self):
        return next(self.agents)

    # --- what happens ---

    def plan(self, *answers, default=None):
        self.server.plan(*answers, default=default)
        if self.model == "script":
            self.world.script(*answers)

    def ask(self, agent=None, **params):
        return self.world.ask("step", {"agent": agent or self.agent, **params})

    def step(self, *answers, agent=None, **params):
        """The result of a turn that must end without an error."""
        self.plan(*(answers or [says("ok")]))
        answer = self.ask(agent, **params)
        self.assertTrue(answer["ok"], answer)
        result = answer["result"]
        self.run_id = result["run_id"]
        return result

    def fails(self, *answers, **params):
        self.plan(*(answers or [says("ok")]))
        answer = self.ask(**params)
        self.assertFalse(answer["ok"], answer)
        details = answer["error"].get("details", {})
        self.run_id = details.get("run_id")
        return answer["error"]

    # --- what came of it ---

    def logged(self, stage):
        """The lines of the owner's log that say what it did instead."""
        start = f"'{self.agent}': the artifact that its configuration names for {stage} is not used, using '"
        with open(self.world.log, encoding="utf-8") as log:
            return [line.split(start)[1].split("' instead")[0] for line in log if start in line]

    def events(self, kind=None, run_id=None):
        lines = self.world.file(f"turns/{run_id or self.run_id}/events.jsonl").splitlines()
        values = [json.loads(line) for line in lines]
        return [value for value in values if kind in (None, value["type"])]

    def notes(self, stage=None, run_id=None):
        """(stage, reference, fallback, reason) of each note."""
        found = [(note["stage"], note["reference"], note["fallback"], note["reason"])
                 for note in self.events("TurnNote", run_id)]
        return [note for note in found if stage in (None, note[0])]

    def noted(self, stage, reference, fallback, reason):
        """Checks that exactly one note of this stage has this fallback and a reason."""
        found = [note for note in self.notes(stage) if note[2] is not None]
        self.assertEqual([note[:3] for note in found], [(stage, reference, fallback)], self.notes())
        self.assertRegex(found[0][3], reason)

    def requests(self, *counts):
        """The bodies that the server got; a script leaves none."""
        bodies = self.server.bodies()
        if counts:
            self.assertEqual(len(bodies), 0 if self.model == "script" else counts[0])
        return bodies

    def messages(self, result):
        """The first message to the model, which a server must get as the turn's history has it."""
        history = result["history"]
        told = [(one["role"], one["content"]) for one in history[:self.beginning(history)]]
        if self.model != "script":
            sent = [(one["role"], one["content"]) for one in self.requests()[0]["messages"]]
            self.assertEqual(sent, told)
        return told

    @staticmethod
    def beginning(history):
        roles = [one["role"] for one in history]
        return roles.index("user") + 1

    def said(self, result):
        """The user message."""
        return self.messages(result)[-1][1]

    def scrip(self, name=None):
        return self.world.cell("sys.ledger", name or self.agent)["scrip"]

    def state(self, agent=None):
        return self.world.cell("sys.workflow", agent or self.agent)

    def history(self, agent=None):
        return [entry["state"] for entry in (self.state(agent) or {"history": []})["history"]]

    def figures(self, agent=None):
        return self.world.cell("sys.agent", agent or self.agent)

    def actions(self, agent=None):
        """The actions of an agent in the journal: (type, artifact)."""
        done = [record["body"]["action"] for record in self.world.records()
                if record["kind"] == "action" and record["principal"] == (agent or self.agent)]
        return [(action["action_type"], action.get("artifact_id")) for action in done]
