# SPDX-License-Identifier: Apache-2.0
"""A world with agents, the program that serves it, and a server of models, for the tests in this directory."""
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
WORLDFS = os.environ["WORLDFS"]
PATIENCE_S = 30 * int(os.environ.get("SLOWDOWN", "1"))
GRANTS = [{"cap": f"sys/{name}@1", "params": {}} for name in ("llm", "act", "query")]
ADD = {"id": "add", "created_by": "ada", "access": "public", "executable": True,
       "code": "function run(a) return a.x + a.y end\n",
       "interface": {"description": "adds", "methods": [{"name": "run", "input": {
           "type": "object", "required": ["x", "y"],
           "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}}}]}}


def call(name, arguments, call_id="c1"):
    """A tool call; arguments that are not a text are sent as JSON in a text, as servers should do."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": call_id, "name": name, "arguments": text}


def wants(*calls, **more):
    return {"completion": {"tool_calls": list(calls), **more}}


def says(content, **more):
    return {"completion": {"content": content, **more}}


class Models:
    """tests/agents/model_server.py as a child; it ends with its standard input."""

    def __init__(self, *options):
        self.process = subprocess.Popen(
            [os.path.join(HERE, "model_server.py"), *options], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        self.root = f"http://127.0.0.1:{int(self.process.stdout.readline())}"
        self.url = self.root + "/v1"

    def ask(self, method, path, value=None):
        data = None if value is None else json.dumps(value).encode()
        request = urllib.request.Request(self.root + path, data=data, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return json.load(answer)

    def plan(self, *answers, default=None):
        self.ask("DELETE", "/requests")
        self.ask("POST", "/plan", {"answers": list(answers), "default": default or {}})

    def requests(self):
        return self.ask("GET", "/requests")

    def bodies(self):
        return [json.loads(request["body"]) for request in self.requests()]

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class World:
    """A world of its own with the agent `ada`, which has the tool `add`, and its daemon.

    @members: of world.json, in place of those
    @files: paths of the files that these name
    """

    def __init__(self, base_url, environment=None, artifacts=(ADD,), genesis=False, members=None, files=()):
        self.scratch = tempfile.mkdtemp(prefix="worldfs-agents-")
        self.directory = os.path.join(self.scratch, "world")
        self.log = os.path.join(self.scratch, "worldfs.log")
        self.environment = {**os.environ, "XDG_STATE_HOME": os.path.join(self.scratch, "state"),
                            "XDG_CONFIG_HOME": os.path.join(self.scratch, "config"), **(environment or {})}
        os.makedirs(os.path.join(self.scratch, "config", "worldfs"))
        self.write(os.path.join(self.scratch, "config", "worldfs", "keys.json"),
                   {"TEST_KEY": ["127.0.0.1"], "NO_KEY": ["127.0.0.1"]})
        self.base_url = base_url
        self.daemon = None
        source = os.path.join(self.scratch, "source")
        os.mkdir(source)
        for path in files:
            shutil.copy(path, source)
        agent = {"id": "ada", "type": "agent", "created_by": "ada", "content": {}}
        self.write(os.path.join(source, "world.json"), {
            "name": "field", "genesis": genesis,
            "principals": [{"id": "ada", "grants": GRANTS, "scrip": 100}],
            "artifacts": [agent, *artifacts], **(members or {})})
        self.run("init", self.directory, "--from", source, anywhere=True)
        self.models()
        self.configure()

    @staticmethod
    def write(path, value):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(value, file)

    def host(self, models, **more):
        """Writes host.json, and has the user agree to it."""
        self.write(os.path.join(self.directory, "host.json"), {"models": models, **more})
        self.run("trust", "--yes")

    def models(self, **entry):
        """The entry of the model in host.json."""
        self.host({"default": {
            "provider": "openai", "base_url": self.base_url, "model": "m", **entry}})

    def run_bytes(self, *arguments, anywhere=False):
        where = [] if anywhere else ["-w", self.directory]
        done = subprocess.run([WORLDFS, *where, *arguments], env=self.environment,
                              capture_output=True, timeout=PATIENCE_S, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    def fail(self, *arguments):
        """Return: the code of the error with which the command fails."""
        done = subprocess.run([WORLDFS, "-w", self.directory, *arguments, "--json"], env=self.environment,
                              capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        assert done.returncode != 0, done.stdout
        return json.loads(done.stdout)["error"]["code"]

    def run(self, *arguments, anywhere=False):
        return self.run_bytes(*arguments, anywhere=anywhere).decode()

    def configure(self, **content):
        """Writes the agent's content; by default the agent has the tool `add`."""
        text = json.dumps({"tools": ["add"], "max_turns": 5, **content})
        self.run("--as", "ada", "invoke", json.dumps({
            "action_type": "write_artifact", "artifact_id": "ada", "content": text}))

    def start(self, *options):
        with open(self.log, "ab") as log:
            self.daemon = subprocess.Popen([WORLDFS, "-w", self.directory, "serve", *options],
                                           env=self.environment, stdout=log, stderr=log)
        until = time.monotonic() + PATIENCE_S
        while not self.serves():
            assert time.monotonic() < until and self.daemon.poll() is None
            time.sleep(0.02)

    def serves(self):
        """Does this daemon listen? When a daemon is killed while it starts a process that runs code, that process has
        the old socket open for a moment, and its clients are cut off."""
        try:
            with self.connect() as client:
                pid, _, _ = struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
                return pid == self.daemon.pid
        except OSError:
            return False

    def stop(self):
        if self.daemon:
            self.daemon.terminate()
            self.daemon.wait(PATIENCE_S)
        self.daemon = None

    def close(self):
        self.stop()
        shutil.rmtree(self.scratch)

    def connect(self):
        client = socket.socket(socket.AF_UNIX)
        try:
            client.settimeout(PATIENCE_S)
            client.connect(os.path.join(self.directory, "control.sock"))
        except OSError:
            client.close()
            raise
        return client

    def ask(self, verb, payload):
        request = {"v": 1, "id": "1", "cmd": verb, "payload": payload}
        with self.connect() as client, client.makefile("rb") as answers:
            client.sendall(json.dumps(request).encode() + b"\n")
            return json.loads(answers.readline())

    def step(self, **more):
        """The result of a turn, even of a failed one."""
        answer = self.ask("step", {"agent": "ada", "message": "2+3?", **more})
        if answer["ok"]:
            return answer["result"]
        return {**answer["error"].get("details", {}), "code": answer["error"]["code"],
                "told": answer["error"]["message"]}

    def records(self):
        return [json.loads(line) for line in self.run("journal").splitlines()]

    def events(self, run_id):
        values = [record["body"]["value"] for record in self.records()
                  if record["kind"] == "event" and record["body"]["schema"].startswith("sys/")]
        return [value for value in values if value.get("run_id") == run_id]
