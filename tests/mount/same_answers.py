# SPDX-License-Identifier: Apache-2.0
"""The same request on each way in, for test-same-answers: WORLDFS WORLD MOUNT.

A request is asked over the control socket, with a command, through a tool of `worldfs mcp` and in a control file
while the world has an owner, and with a command and a tool again when it has none. Each must give the same
result, or the same error (category, code, message, retriable), and the same meta (height and hashes).
"""
import json
import os
import subprocess
import sys

from judged_doors import CommandLine, Socket, Tools

worldfs, world, tree = sys.argv[1:]
KEY = "YQ=="  # a
MANY = 9999

# Name, verb and payload; words of a command; tool and arguments; control file and line. None: it cannot be asked there.
REQUESTS = [
    ("a state", "query-state", {"reducer": "counter", "key_b64": KEY}, ["state", "counter", "a"],
     ("fs_read_reducer", {"name": "counter", "key": "a"}), None),
    ("a state that is not there", "query-state", {"reducer": "counter", "key_b64": "bm8="}, None, None, None),
    ("a reducer that is not there", "query-state", {"reducer": "none", "key_b64": KEY}, ["state", "none", "a"],
     ("fs_read_reducer", {"name": "none", "key": "a"}), None),
    ("a height that is not reached", "query-state",
     {"reducer": "counter", "key_b64": KEY, "consistency": f"exact:{MANY}"},
     ["state", "counter", "a", "--exact-height", str(MANY)],
     ("fs_read_reducer", {"name": "counter", "key": "a", "consistency": f"exact:{MANY}"}), None),
    ("the manifest of an older height", "manifest-read", {"consistency": "exact:1"},
     ["manifest", "--exact-height", "1"], ("fs_read_manifest", {"consistency": "exact:1"}), None),
    ("the head", "journal-head", {}, ["head"], None, None),
    ("the attributes of a file", "fs-stat", {"path": "reducers/counter/a"}, ["fs", "stat", "reducers/counter/a"],
     ("fs_stat", {"path": "reducers/counter/a"}), None),
    ("a path that is not there", "fs-stat", {"path": "no/where"}, ["fs", "stat", "no/where"],
     ("fs_stat", {"path": "no/where"}), None),
    ("a directory read as a file", "fs-read", {"path": "reducers"}, ["fs", "cat", "reducers"],
     ("fs_read", {"path": "reducers"}), None),
    ("a file listed as a directory", "fs-list", {"path": "README"}, None, ("fs_ls", {"path": "README"}), None),
    ("a query", "query", {"query_type": "artifacts", "params": {"name_pattern": "note"}},
     ["query", "artifacts", "name_pattern=note"],
     ("query", {"query_type": "artifacts", "params": {"name_pattern": "note"}}),
     ("query", {"query_type": "artifacts", "params": {"name_pattern": "note"}})),
    ("a query of an unknown type", "query", {"query_type": "weather"}, ["query", "weather"],
     ("query", {"query_type": "weather"}), ("query", {"query_type": "weather"})),
    ("a query with an unknown param", "query", {"query_type": "artifacts", "params": {"color": "red"}},
     ["query", "artifacts", "color=red"], None,
     ("query", {"query_type": "artifacts", "params": {"color": "red"}})),
    ("an unknown action", "invoke", {"action": {"action_type": "dance"}}, ["invoke", '{"action_type":"dance"}'],
     ("invoke", {"action": {"action_type": "dance"}}), ("invoke", {"action_type": "dance"})),
    ("an action that lacks an argument", "invoke", {"action": {"action_type": "read_artifact"}},
     ["invoke", '{"action_type":"read_artifact"}'], ("invoke", {"action": {"action_type": "read_artifact"}}),
     ("invoke", {"action_type": "read_artifact"})),
]
failures = []


def outcome(answer):
    """What must be the same. @answer: an envelope of the socket, or what a command or tool prints"""
    if answer.get("error"):
        return {"error": answer["error"], "meta": answer.get("meta")}
    result = answer["result"] if "result" in answer else answer.get("data", answer)
    return {"result": {name: value for name, value in result.items() if name != "meta"} if isinstance(result, dict)
            else result, "meta": answer.get("meta") or (result.get("meta") if isinstance(result, dict) else None)}


def of_command(who, words):
    status, printed = CommandLine(worldfs, world).run(who, "--json", *words)
    if status not in (0, 1):
        failures.append(f"{words}: exit status {status}")
        return None
    document = json.loads(printed)
    if (status == 1) != ("error" in document):
        failures.append(f"{words}: exit status {status}")
    return outcome(document)


def of_tool(tools, who, tool, arguments):
    """A tool that refuses its arguments by itself answers with an error of the protocol: None."""
    answer = tools.answer(who, "tools/call", name=tool, arguments=arguments)
    return outcome(answer["result"]["structuredContent"]) if "result" in answer else None


def of_control_file(name, line):
    """The answer on the descriptor, whether the write fails or not."""
    file = os.open(os.path.join(tree, "ctl", name), os.O_RDWR)
    try:
        os.write(file, json.dumps(line).encode() + b"\n")
    except OSError:
        pass
    data = b""
    while part := os.read(file, 1 << 20):
        data += part
    os.close(file)
    return outcome(json.loads(data))


def compare(name, way, found, expected):
    """Tools name the members of a result in their own way: of results only errors and meta are compared with theirs."""
    parts = ["error", "meta"] if way.startswith("tool") else ["error", "meta", "result"]
    if found is None:
        return
    for part in parts:
        if found.get(part) != expected.get(part) and not (part == "result" and found.get(part) is None):
            failures.append(f"{name}: {way} gives another {part}:\n    {found.get(part)}\n    {expected.get(part)}")


def ask_all(who, owner, known):
    """@known: what the socket gave, by name; filled while there is an owner"""
    tools = Tools(worldfs, world)
    client = Socket(world) if owner else None
    beside = "" if owner else " without an owner"
    for name, verb, payload, words, tool, control in REQUESTS:
        if owner:
            known[name] = outcome(client.call(who, verb, payload))
        if words:
            compare(f"{who}: {name}", "command" + beside, of_command(who, words), known[name])
        if tool:
            compare(f"{who}: {name}", "tool" + beside, of_tool(tools, who, *tool), known[name])
        if control and owner and who == "operator":
            compare(f"{who}: {name}", "control file", of_control_file(*control), known[name])
    tools.close()
    if client:
        client.close()


answers = {"operator": {}, "alice": {}}
ACTS = ("an unknown action", "an action that lacks an argument")
ask_all("operator", True, answers["operator"])
everything = REQUESTS
# What alice may not do is recorded, which changes the height: she reads only.
REQUESTS = [request for request in everything if request[0] not in ACTS and request[1] != "query"]
ask_all("alice", True, answers["alice"])
subprocess.run([worldfs, "-w", world, "umount", tree], check=True, stdout=subprocess.DEVNULL)
ask_all("alice", False, answers["alice"])
REQUESTS = everything
ask_all("operator", False, answers["operator"])
errors = sum("error" in answer for known in answers.values() for answer in known.values())
print(f"{sum(map(len, answers.values()))} answers of the socket, {errors} of them errors")
if failures or errors < 10:
    sys.exit("\n".join(["not ok - each way in gives the same answer", *failures]))
