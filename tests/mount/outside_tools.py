# SPDX-License-Identifier: Apache-2.0
"""For test-outside-tools: WORLDFS WORLD TREE SCRATCH. The world has the server tests/outside/server.py as `test`."""
import json
import os
import signal
import subprocess
import sys
import time

import judged_doors

worldfs, world, tree, scratch = sys.argv[1:]
HELLO = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
    "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}


def ok(what, true, *more):
    if not true:
        print(f"not ok - {what}: {more}")
        sys.exit(1)
    print(f"ok - {what}")


def wait_for(what, true):
    """A file of a tool that changes between its opening and its reading is gone for this reader: then it is not true."""
    def holds():
        try:
            return true()
        except FileNotFoundError:
            return False
    until = time.monotonic() + 20
    while not (now := holds()) and time.monotonic() < until:
        time.sleep(0.02)
    ok(what, now)


# --- the ways: each gives (text, None) or (None, code of the error, message) ---

def command(who, *words, **more):
    return subprocess.run([worldfs, "-w", world, "--as", who, *words], capture_output=True, text=True, **more)


def by_command(who, name, arguments):
    done = command(who, "tool", "call", name, json.dumps(arguments))
    if done.returncode == 0:
        return done.stdout.removesuffix("\n"), None
    error = [line for line in done.stderr.splitlines() if line.startswith("worldfs: ")][0].removeprefix("worldfs: ")
    assert done.returncode == 1 and not done.stdout, done
    return None, *error.split(": ", 1)


def told(document):
    if "error" in document:
        return None, document["error"]["code"], document["error"]["message"]
    assert "output" in document.get("result", document), document
    return document.get("result", document)["output"], None


def by_socket(who, name, arguments):
    client = judged_doors.Socket(world)
    answer = client.call(who, "tool", {"name": name, "arguments": arguments})
    client.close()
    return told(answer)


def by_file(who, name, arguments):
    file = os.open(os.path.join(mount_of(who), "ctl", "tool"), os.O_RDWR)
    try:
        os.write(file, (json.dumps({"name": name, "arguments": arguments}) + "\n").encode())
    except OSError:
        pass
    answer = json.loads(os.read(file, 1 << 20))
    try:
        os.close(file)
    except OSError:
        pass
    return told(answer)


def mcp(who, *messages):
    lines = "".join(json.dumps(message) + "\n" for message in (HELLO, *messages))
    done = command(who, "mcp", "--with-outside", input=lines)
    return {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}


def by_mcp(who, name, arguments):
    answer = mcp(who, {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                       "params": {"name": name.replace(".", "_"), "arguments": arguments}})[1]
    if "error" in answer:  # a client of a model sees no tool that it may not call
        return None, "not_found", answer["error"]["message"]
    result = answer["result"]
    if result["isError"]:
        return None, result["structuredContent"]["error"]["code"], result["content"][0]["text"]
    return result["content"][0]["text"], None


def mount_of(who):
    return os.path.join(scratch, "tree-" + who)


def tools_of(who):
    """The names of the tools that the mount shows."""
    try:
        return sorted(name.removesuffix(".json") for name in os.listdir(os.path.join(mount_of(who), "tools/test")))
    except FileNotFoundError:
        return []


CASES = [  # principal, tool, arguments, text or code of the error
    ("operator", "test.echo", {"text": "hi"}, "hi", None),
    ("operator", "test.is_error", {}, None, "effect_failed"),
    ("operator", "test.rpc_error", {}, None, "effect_failed"),
    ("operator", "test.nothing", {}, None, "not_found"),
    ("operator", "broken.tool", {}, None, "unavailable"),
    ("alice", "broken.tool", {}, None, "not_found"),
    ("operator", "test.audio", {}, None, "policy_denied"),
    ("operator", "test.link", {}, None, "policy_denied"),  # it needs an approval
    ("alice", "test.echo", {"text": "hi"}, "hi", None),
    ("alice", "test.echo", {"text": "too long"}, None, "not_authorized"),
    ("alice", "test.huge_text", {}, None, "not_found"),
    ("nobody", "test.echo", {"text": "hi"}, None, "not_authorized"),
]


def ask_all(ways):
    for who, name, arguments, text, code in CASES:
        answers = {way.__name__: way(who, name, arguments) for way in ways}
        for way, answer in answers.items():
            # What a principal may never call, it does not see.
            unseen = who == "nobody" or name in ("test.audio", "broken.tool")
            wanted = "not_found" if way == "by_mcp" and unseen else code
            ok(f"{who} calls {name} {way.replace('_', ' ')}", answer[:2] == (text, wanted), answer)
        messages = {answer[2] for way, answer in answers.items() if code and way != "by_mcp"}
        ok("all ways say one thing", len(messages) <= 1, messages)


def main():
    # --- without an owner ---
    ask_all([by_command, by_mcp])
    listed = json.loads(command("operator", "--json", "tools", "--outside").stdout)["data"]
    ok("a command lists tools", len(listed["tools"]) > 50, listed)
    ok("and servers that failed, with the reason",
       {server["name"]: bool(server["reason"]) for server in listed["servers"]} == {"broken": True, "test": False})

    # --- with an owner ---
    for who in ("operator", "alice", "nobody"):
        os.mkdir(mount_of(who))
        ok(f"{who} mounts", command(who, "mount", mount_of(who)).returncode == 0)
    subprocess.run([worldfs, "-w", world, "mount", tree], check=True, capture_output=True)  # the test takes it down
    ok("nothing is listed yet", tools_of("operator") == [] and "tools" not in os.listdir(tree))
    ask_all([by_command, by_socket, by_file, by_mcp])
    wait_for("the tree shows what was listed", lambda: len(tools_of("operator")) == len(listed["tools"]))
    ok("the root, too", "tools" in os.listdir(mount_of("operator")))
    rows = {row["name"]: row for row in listed["tools"]}
    for name in ("echo", "env"):
        with open(os.path.join(mount_of("operator"), f"tools/test/{name}.json"), encoding="utf-8") as file:
            ok(f"the file of {name} has its row", json.load(file) == rows["test." + name])
    ok("alice sees what she may call", tools_of("alice") == sorted(
        name.removeprefix("test.") for name in rows if name.startswith("test.e")), tools_of("alice"))
    ok("and gets only that", {row["name"].removeprefix("test.") for row in
       json.loads(command("alice", "--json", "tools", "--outside").stdout)["data"]["tools"]} == set(tools_of("alice")))
    ok("nobody sees nothing", tools_of("nobody") == [] and os.listdir(mount_of("nobody")) == ["ctl"])
    ok("nor by mcp", not [tool for tool in mcp("nobody", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})[1]
                          ["result"]["tools"] if tool["name"].startswith("test_")])
    offered = {tool["name"]: tool for tool in mcp("alice", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})[1]
               ["result"]["tools"]}
    ok("alice's client is offered hers", sorted(name for name in offered if name.startswith("test_")) ==
       ["test_" + name for name in tools_of("alice")])
    ok("heights have none", "tools" not in os.listdir(os.path.join(tree, "at/head/")))
    ok("nor do commands at a height", command("operator", "fs", "ls", "tools", "--at", "1").returncode == 1)
    ok("commands show the files of the mount",
       command("alice", "fs", "ls", "tools/test").stdout.split() and sorted(
           command("alice", "fs", "ls", "tools/test").stdout.split()) == [name + ".json" for name in tools_of("alice")])

    # --- rights that change ---
    ok("a pinned grant is made", command(
        "operator", "grant", "nobody", "tool", '{"tools":["test.echo","test.env"]}', "--pin").stdout == "nobody.tool.1\n")
    ok("its tools are there at once", tools_of("nobody") == ["echo", "env"], tools_of("nobody"))
    ok("and can be called", by_socket("nobody", "test.echo", {"text": "hi"}) == ("hi", None))
    wrong = command("operator", "grant", "nobody", "tool", "--pin")
    ok("a server that failed is in the way", wrong.returncode == 1 and "'broken'" in wrong.stderr, wrong.stderr)
    with open(os.path.join(mount_of("nobody"), "tools/test/echo.json"), "rb") as file:
        ok("its file is read", file.read(10) != b"")
        # The server describes its tools in another way, and says so.
        ok("a server changes its list", by_socket("operator", "test.change", {})[1] is None)
        wait_for("the tree follows", lambda: b"!" in read(mount_of("operator"), "tools/test/echo.json"))
        ok("tools that were pinned are not there any more", tools_of("nobody") == [], tools_of("nobody"))
        refused = by_socket("nobody", "test.echo", {"text": "hi"})
        ok("and cannot be called", refused[1] == "not_authorized" and "changed" in refused[2], refused)
        ok("the grant is revoked", command("operator", "revoke", "nobody.tool.1").returncode == 0)
        file.seek(0)
        try:
            ok("an open file cannot be read any more", file.read() is None)
        except OSError:
            ok("an open file cannot be read any more", True)

    # --- bounds, and the end of a call ---
    large = by_socket("operator", "test.echo", {"text": "x" * (1 << 20)})
    ok("arguments of more than 1 MiB are refused", large[1] == "too_large", large[1:])
    call = subprocess.Popen([worldfs, "-w", world, "tool", "call", "test.hang"], stderr=subprocess.PIPE, text=True)
    wait_for("a call is under way", lambda: '"hang"' in read(scratch, "log").decode())
    call.send_signal(signal.SIGINT)
    error = call.communicate(timeout=30)[1]
    ok("a signal cancels it", call.returncode == -signal.SIGINT and "worldfs: cancelled: " in error, call.returncode, error)
    wait_for("at the server, too", lambda: "notifications/cancelled" in read(scratch, "log").decode())
    before = read(scratch, "log").decode().count("notifications/cancelled")
    talk = subprocess.Popen([worldfs, "-w", world, "mcp", "--with-outside"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)
    for message in (HELLO, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "test_hang"}}):
        talk.stdin.write(json.dumps(message) + "\n")
    talk.stdin.flush()
    wait_for("a client's call is under way", lambda: read(scratch, "log").decode().count('"hang"') == 2)
    talk.stdin.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n')
    talk.stdin.close()
    wait_for("the client cancels it", lambda: read(scratch, "log").decode().count("notifications/cancelled") > before)
    ok("and gets no answer", len(talk.stdout.read().splitlines()) == 1)
    ok("nothing is left open", command("operator", "intents").stdout == "")

    subprocess.run(["tar", "-C", tree, "--exclude=./at", "--exclude=./ctl", "-cf", scratch + "/copy.tar", "."], check=True)
    os.mkdir(scratch + "/copy")
    subprocess.run(["tar", "-C", scratch + "/copy", "-xf", scratch + "/copy.tar"], check=True)
    for who in ("operator", "alice", "nobody"):
        subprocess.run([worldfs, "umount", mount_of(who)], check=True)


def read(directory, name):
    with open(os.path.join(directory, name), "rb") as file:
        return file.read()


main()
