# SPDX-License-Identifier: Apache-2.0
"""A client of `worldfs mcp`, for test-mcp: mcp.py WORLDFS WORLD CHECK…

Each CHECK is a function below. Prints `ok - …` a check that holds, and ends with the first that
does not.
"""
import base64
import json
import os
import select
import subprocess
import sys
import time

SLOWDOWN = int(os.environ.get("SLOWDOWN", "1"))
TOGETHER = 300 // SLOWDOWN  # requests
UNREAD = 3000 // SLOWDOWN   # answers, more than a pipe holds
# The request that is sent so often: the manifest, which is long, or, if the program is slow, what a file
# is.
ASKED = ("fs_read_manifest", {}) if SLOWDOWN == 1 else ("fs_stat", {"path": "README"})


def ok(what, condition, found=None):
    if not condition:
        print(f"not ok - {what}: {found!r}")
        sys.exit(1)
    print(f"ok - {what}")


class Client:
    """A server process, and the messages to it; `said` has lines that the test has not asked for yet."""

    def __init__(self, *options, hello=True, output=subprocess.PIPE):
        self.process = subprocess.Popen([sys.argv[1], "-w", sys.argv[2], *options, "mcp"],
                                        stdin=subprocess.PIPE, stdout=output, stderr=subprocess.PIPE)
        self.last_id = 0
        self.said = {}
        if hello:
            self.ask("initialize", protocolVersion="2025-06-18", capabilities={},
                     clientInfo={"name": "test", "version": "1"})
            self.tell("notifications/initialized")

    def write(self, *messages):
        self.process.stdin.write(b"".join(json.dumps(m).encode() + b"\n" for m in messages))
        self.process.stdin.flush()

    def tell(self, method, **params):
        self.write({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, method, **params):
        self.last_id += 1
        return {"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}

    def begin(self, method, **params):
        self.write(self.request(method, **params))
        return self.last_id

    def wait(self, wanted):
        while wanted not in self.said:
            line = self.process.stdout.readline()
            if not line:
                sys.exit(f"not ok - the server ended: {self.process.stderr.read()}")
            message = json.loads(line)
            self.said[message["id"]] = message
        return self.said.pop(wanted)

    def ask(self, method, **params):
        return self.wait(self.begin(method, **params))

    def call(self, tool, **arguments):
        """The result of a tool: (the structured content, was it an error?)"""
        result = self.ask("tools/call", name=tool, arguments=arguments)["result"]
        return result["structuredContent"], result["isError"]

    def end(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        return self.process.wait(20), rest


def reads():
    """Reads everything that can be read, with every tool and as resources."""
    client = Client()
    tools = [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]]
    ok("the tools are listed", tools == ["fs_read_manifest", "fs_read_reducer", "fs_ls", "fs_stat",
                                         "fs_read", "query", "invoke", "step", "chat"], tools)
    manifest, _ = client.call("fs_read_manifest")
    ok("the manifest is read", manifest["manifest"]["name"] == "counter", manifest)
    state, _ = client.call("fs_read_reducer", name="counter", key="key 1/é")
    ok("a state is read by its key", state["found"] and state["state"]["n"] >= 1, state)
    listed, _ = client.call("fs_ls", path="reducers", depth=2)
    paths = [entry["path"] for entry in listed["entries"]]
    ok("names are listed", {"reducers/counter", "reducers/counter/key 1%2Fé"} <= set(paths), paths)
    stat, _ = client.call("fs_stat", path="reducers/counter/key 1%2Fé")
    read, _ = client.call("fs_read", path="reducers/counter/key 1%2Fé")
    ok("a file is read", json.loads(read["text"]) == state["state"] and read["eof"], read)
    ok("and as long as stat says", stat["size"] == len(read["text"].encode()) == read["size"], stat)
    ok("it all tells where it stood", len({json.dumps(a["meta"], sort_keys=True) for a in
                                           (manifest, state, listed, stat, read)}) == 1, stat["meta"])
    resources = [r["uri"] for r in client.ask("resources/list")["result"]["resources"]]
    reducers = [path for path in paths if path.count("/") == 1]
    ok("resources are listed", resources == ["worldfs:///" + path for path in ["README", "manifest", *reducers]],
       resources)
    contents = client.ask("resources/read", uri="worldfs:///reducers/counter/key%201%2F%C3%A9")
    ok("a resource has the same bytes", contents["result"]["contents"][0]["text"] == read["text"],
       contents)
    done, failed = client.call("invoke", action={"action_type": "noop", "reasoning": "a test"})
    ok("an action is done", done["ok"] and not failed, done)
    missing, failed = client.call("fs_read", path="nowhere")
    ok("an error tells code and meta", failed and missing["error"]["code"] == "not_found" and
       missing["meta"] == stat["meta"], missing)
    ok("it ends with its input, quietly", client.end() == (0, b""), client.process.returncode)


def parts():
    """Reads a binary file of 3,000,000 bytes, part by part, and too large a part."""
    client = Client()
    path = "blob/" + sys.argv[3]
    data, offset, eof = b"", 0, False
    while not eof:
        part, _ = client.call("fs_read", path=path, offset=offset, limit=1 << 20)
        data += base64.b64decode(part["data_b64"])
        offset, eof = part.get("next_offset"), part["eof"]
    with open(os.environ["BLOB"], "rb") as file:
        ok("parts make the whole file", data == file.read(), len(data))
    part, _ = client.call("fs_read", path=path)
    ok("one part has 64 KiB if nobody says how many", part["bytes"] == 65536, part["bytes"])
    blob = client.ask("resources/read", uri="worldfs:///" + path)["result"]["contents"][0]["blob"]
    ok("a resource is whole", base64.b64decode(blob) == data, len(blob))
    answer = client.ask("tools/call", name="fs_read", arguments={"path": path, "limit": 1 << 21})
    ok("a part that is too large is refused", answer["error"]["code"] == -32602, answer)
    client.end()


def together():
    """Many requests are under way at once; each is answered, except those that were cancelled."""
    client = Client()
    first = client.last_id + 1
    many = [client.request("tools/call", name="fs_ls", arguments={"path": "/", "depth": 3})
            for _ in range(TOGETHER)]
    client.write(*many)
    ping = client.ask("ping")
    ok("a ping is answered while they are under way", ping["result"] == {}, ping)
    for number in range(first, first + TOGETHER):
        ok_answer = client.wait(number)["result"]
        if ok_answer["isError"]:
            ok("each is answered", False, ok_answer)
    ok("each is answered", True)
    slow = client.request("tools/call", name="fs_ls", arguments={"path": "/", "depth": 8})
    client.write(slow, {"jsonrpc": "2.0", "method": "notifications/cancelled",
                        "params": {"requestId": slow["id"]}})
    client.ask("ping")
    client.ask("tools/call", name="fs_stat", arguments={"path": "README"})
    _, rest = client.end()
    ok("a cancelled one is not", slow["id"] not in client.said and rest == b"", (client.said, rest))


def deaf():
    """The server does not wait for a client that writes and does not read; the client gets everything
    later."""
    client = Client()
    name, arguments = ASKED
    requests = b"".join(json.dumps(client.request("tools/call", name=name, arguments=arguments)).encode() + b"\n"
                        for _ in range(UNREAD))
    os.set_blocking(client.process.stdin.fileno(), False)
    sent, lines = 0, 0
    progress = time.monotonic()
    while lines < UNREAD and time.monotonic() < progress + 60:
        # Reads only when no more can be written.
        if sent < len(requests) and select.select([], [client.process.stdin], [], 0.2)[1]:
            sent += os.write(client.process.stdin.fileno(), requests[sent:sent + 65536])
            continue
        data = os.read(client.process.stdout.fileno(), 1 << 20)
        if not data:
            break
        lines += data.count(b"\n")
        progress = time.monotonic()
    ok(f"{UNREAD} answers came", lines == UNREAD, lines)
    client.process.stdin.close()
    ok("and it ends", client.process.wait(20) == 0, client.process.returncode)


def gone():
    """The server ends when its client is gone."""
    client = Client()
    client.process.stdout.close()
    ok("who reads no more ends it", client.process.wait(20) in (0, 1), client.process.returncode)
    client = Client()
    client.begin("tools/call", name="fs_ls", arguments={"path": "/", "depth": 8})
    client.process.stdin.close()
    rest = client.process.stdout.read()
    ok("who only writes no more is answered", rest.count(b"\n") == 1 and b"isError\":false" in rest, rest)
    ok("and that is the end", client.process.wait(20) == 0, client.process.returncode)


def changes():
    """Changes of others between two calls are visible, and the server does not keep the world."""
    client = Client()
    before, _ = client.call("fs_read_reducer", name="counter", key="key 1/é")
    client.call("invoke", action={"action_type": "noop", "reasoning": None})
    subprocess.run([sys.argv[1], "-w", sys.argv[2], "event", "test/Add@1",
                    '{"key":"key 1/é","by":1}'], check=True, stdout=subprocess.DEVNULL)
    after, _ = client.call("fs_read_reducer", name="counter", key="key 1/é")
    ok("a change of somebody else is seen", after["state"]["n"] == before["state"]["n"] + 1, after)
    then, _ = client.call("fs_read", path=f"at/{before['meta']['journal_height']}/reducers/counter/key 1%2Fé")
    ok("and the height before it is there", json.loads(then["text"]) == before["state"], then)
    client.end()


def restarts():
    """An owner comes, is killed, and leaves, while the client stays."""
    client = Client()
    for what in ("without an owner", "with one", "after it was killed", "with another one"):
        if what.startswith("with "):
            owner = subprocess.Popen([sys.argv[1], "-w", sys.argv[2], "serve"], stderr=subprocess.DEVNULL)
            while not os.path.exists(os.path.join(sys.argv[2], "control.sock")) or \
                    b'"pid"' not in subprocess.run([sys.argv[1], "-w", sys.argv[2], "status"],
                                                   capture_output=True).stdout:
                time.sleep(0.05)
        state, failed = client.call("fs_read_reducer", name="counter", key="key 1/é")
        ok(f"it reads {what}", not failed and state["found"], state)
        if what.startswith("with "):
            owner.kill()
            owner.wait()
    ok("and it ends", client.end()[0] == 0)


def nobody():
    """A principal that does not exist."""
    client = Client("--as", "nobody", hello=False)
    ok("a principal that there is not is refused at once", client.process.wait(20) == 1)
    ok("with the reason, on standard error", b"worldfs: " in client.process.stderr.read())


for check in sys.argv[4:]:
    globals()[check]()
