# SPDX-License-Identifier: Apache-2.0
"""Equal requests through each interface, for test-same-answers: WORLDFS WORLD OPERATORS_MOUNT BOBS_MOUNT.

REQUESTS are sent over the control socket, and then through each interface (a "way") of same_answers_ways.py: each must
give the socket's value, or its error (category, code, message, retriable), and its meta. Ways that change the world move
its height, which must then be one that the world had while they were asked.
"""
import glob
import json
import os
import re
import subprocess
import sys

import judged_doors
import same_answers_ways as ways
from same_answers_world import CANARY

A, NO = "YQ==", "bm8="  # keys: a, no
BLOB = "0" * 64
MANY = "exact:99999"
COMPARED = 1000  # number of answers, so that no interface is left out unnoticed
SHOWN = 300  # shown characters of each of two answers that differ

# Name, verb, payload.
REQUESTS = [
    ("a state", "query-state", {"reducer": "counter", "key_b64": A}),
    ("a state that is not there", "query-state", {"reducer": "counter", "key_b64": NO}),
    ("a state at a height", "query-state", {"reducer": "counter", "key_b64": A, "consistency": "exact:HEIGHT"}),
    ("a state at a height that is not reached", "query-state", {"reducer": "counter", "key_b64": A, "consistency": MANY}),
    ("a state with an odd consistency", "query-state", {"reducer": "counter", "key_b64": A, "consistency": "soon"}),
    ("a state of an unknown reducer", "query-state", {"reducer": "none", "key_b64": A}),
    ("a state of a reducer that bob does not see", "query-state", {"reducer": "notes", "key_b64": ""}),
    ("a state of a reducer that is a number", "query-state", {"reducer": 7}),
    ("a state of no reducer", "query-state", {}),
    ("a state and more", "query-state", {"reducer": "counter", "colour": "red"}),
    ("a state with a damaged key", "query-state", {"reducer": "counter", "key_b64": "*"}),
    ("the manifest", "manifest-read", {}),
    ("the manifest of an older height", "manifest-read", {"consistency": "exact:1"}),
    ("the manifest of a height that is not reached", "manifest-read", {"consistency": MANY}),
    ("the manifest and more", "manifest-read", {"colour": "red"}),
    ("the cells of a reducer", "list-cells", {"reducer": "counter"}),
    ("the cells of an unknown reducer", "list-cells", {"reducer": "none"}),
    ("too many cells", "list-cells", {"reducer": "counter", "limit": 1001}),
    ("the head", "journal-head", {}),
    ("records behind the head", "journal-read", {"from": 99999}),
    ("records from a negative number", "journal-read", {"from": -1}),
    ("records of an unknown turn", "journal-read", {"from": 0, "turn": "nobody.1"}),
    ("a blob that is not there", "blob-get", {"hash_hex": BLOB}),
    ("a blob", "blob-get", {"hash_hex": "STORED"}),
    ("a blob of an odd hash", "blob-get", {"hash_hex": "xyz"}),
    ("the size of a blob", "blob-stat", {"hash_hex": BLOB}),
    ("a file", "fs-read", {"path": "artifacts/note/content"}),
    ("a file at a height", "fs-read", {"path": "artifacts/note/content", "at": "exact:HEIGHT"}),
    ("a file at an older height by its path", "fs-read", {"path": "at/HEIGHT/reducers/counter/a"}),
    ("a file that bob may not read", "fs-read", {"path": "artifacts/locked/content"}),
    ("a file that bob does not see", "fs-read", {"path": "artifacts/hidden/content"}),
    ("a file that is not there", "fs-read", {"path": "artifacts/none/content"}),
    ("a directory read as a file", "fs-read", {"path": "reducers"}),
    ("a file of no path", "fs-read", {}),
    ("a file of a path that is a number", "fs-read", {"path": 7}),
    ("a file from a negative offset", "fs-read", {"path": "README", "offset": -1}),
    ("a path with slashes at both ends", "fs-stat", {"path": "/at/HEIGHT//reducers/counter/"}),
    ("a path with dots in it", "fs-read", {"path": "./at/HEIGHT/./reducers/counter/a"}),
    ("a file with a slash behind it", "fs-read", {"path": "reducers/counter/a/"}),
    ("a file with a dot behind it", "fs-read", {"path": "reducers/counter/a/."}),
    ("a path that leads out", "fs-stat", {"path": "../../etc/passwd"}),
    ("the root", "fs-list", {"path": "/"}),
    ("no path", "fs-list", {"path": ""}),
    ("a dot", "fs-list", {"path": "."}),
    ("a path through a link", "fs-read", {"path": "at/head/reducers/counter/a"}),
    ("a height by its path that is not reached", "fs-stat", {"path": "at/99999/manifest"}),
    ("a height that is none", "fs-stat", {"path": "at/soon"}),
    ("a height with a nought", "fs-stat", {"path": "at/01"}),
    ("a height within a height", "fs-stat", {"path": "at/HEIGHT/at"}),
    ("a path and a height twice", "fs-stat", {"path": "at/1/manifest", "at": "exact:HEIGHT"}),
    ("the control files", "fs-list", {"path": "ctl"}),
    ("a name spelt in another way", "fs-stat", {"path": "reducers/counter/%61"}),
    ("a blob by its file", "fs-read", {"path": "blob/sha256:STORED"}),
    ("a record", "fs-read", {"path": "journal/0.json"}),
    ("a record that is not there", "fs-read", {"path": "journal/99999.json"}),
    ("a text with a NUL", "fs-stat", {"path": "a\u0000b"}),
    ("a path that is null", "fs-stat", {"path": None}),
    ("a height that is null", "fs-stat", {"path": "reducers/counter/a", "at": None}),
    ("a path with a name that is too long", "fs-read", {"path": "x" * 300}),
    ("a path that is too long", "fs-stat", {"path": "x/" * 40000}),
    ("attributes of a file", "fs-stat", {"path": "reducers/counter/a"}),
    ("attributes of a height", "fs-stat", {"path": "at/HEIGHT"}),
    ("attributes of a path that is not there", "fs-stat", {"path": "no/where"}),
    ("attributes of a file as a directory", "fs-stat", {"path": "journal/head/x"}),
    ("attributes and more", "fs-stat", {"path": "journal/head", "colour": "red"}),
    ("names", "fs-list", {"path": "reducers/counter"}),
    ("names of artifacts", "fs-list", {"path": "artifacts"}),
    ("names of what is no directory", "fs-list", {"path": "journal/head"}),
    ("names of a directory that is not there", "fs-list", {"path": "no"}),
    ("the status", "status", {}),
    ("metrics", "metrics", {}),
    ("turns of nobody", "turns", {"agent": "nobody"}),
    ("an unknown plan", "plan-status", {"plan_id": "f" * 32}),
    ("artifacts", "query", {"query_type": "artifacts", "params": {"owner": "operator"}}),
    ("an artifact", "query", {"query_type": "artifact", "params": {"artifact_id": "note"}}),
    ("an artifact that bob does not see", "query", {"query_type": "artifact", "params": {"artifact_id": "hidden"}}),
    ("an artifact that is not there", "query", {"query_type": "artifact", "params": {"artifact_id": "none"}}),
    ("no artifact", "query", {"query_type": "artifact"}),
    ("an artifact that is a number", "query", {"query_type": "artifact", "params": {"artifact_id": 7}}),
    ("principals", "query", {"query_type": "principals"}),
    ("a principal", "query", {"query_type": "principal", "params": {"principal_id": "carol"}}),
    ("a balance", "query", {"query_type": "balances", "params": {"principal_id": "carol"}}),
    ("quotas", "query", {"query_type": "quotas", "params": {"principal_id": "carol"}}),
    ("an unknown resource", "query", {"query_type": "resources", "params": {"principal_id": "bob", "resource": "gold"}}),
    ("auctions of the mint", "query", {"query_type": "mint"}),
    ("who is frozen", "query", {"query_type": "frozen"}),
    ("libraries", "query", {"query_type": "libraries", "params": {"principal_id": "bob"}}),
    ("dependencies", "query", {"query_type": "dependencies", "params": {"artifact_id": "note"}}),
    ("a query of an unknown type", "query", {"query_type": "weather"}),
    ("a query of a type that is a number", "query", {"query_type": 7}),
    ("a query of no type", "query", {}),
    ("a query with params that are a list", "query", {"query_type": "artifacts", "params": [1]}),
    ("a query with an unknown param", "query", {"query_type": "artifacts", "params": {"color": "red"}}),
    ("a query with a param of a wrong type", "query", {"query_type": "artifacts", "params": {"limit": "fifty"}}),
    ("a query beyond its bound", "query", {"query_type": "artifacts", "params": {"limit": 10001}}),
    ("a query with a damaged pattern", "query", {"query_type": "artifacts", "params": {"name_pattern": "["}}),
    ("a query with params that are null", "query", {"query_type": "frozen", "params": None}),
    ("a query with a param that is null", "query", {"query_type": "artifacts", "params": {"owner": None, "name_pattern": "note"}}),
    ("a query with half a limit", "query", {"query_type": "artifacts", "params": {"limit": 5.5}}),
    ("a query with a limit of many digits", "query", {"query_type": "artifacts", "params": {"limit": 10 ** 18}}),
    ("a query with an empty text", "query", {"query_type": "artifact", "params": {"artifact_id": ""}}),
    ("a query with a text with a NUL", "query", {"query_type": "artifact", "params": {"artifact_id": "a\u0000b"}}),
    ("a query of a principal with an odd name", "query", {"query_type": "balances", "params": {"principal_id": "a/b"}}),
    ("a query and more", "query", {"query_type": "frozen", "colour": "red"}),
    ("a query as an action", "invoke", {"action": {"action_type": "query_kernel", "query_type": "weather"}}),
    ("no action", "invoke", {}),
    ("an action that is a text", "invoke", {"action": "noop"}),
    ("an unknown action", "invoke", {"action": {"action_type": "dance"}}),
    ("nothing done", "invoke", {"action": {"action_type": "noop"}}),
    ("nothing done, for no reason", "invoke", {"action": {"action_type": "noop", "reasoning": None}}),
    ("nothing done, for a number", "invoke", {"action": {"action_type": "noop", "reasoning": 7}}),
    ("an artifact's content", "invoke", {"action": {"action_type": "read_artifact", "artifact_id": "note"}}),
    ("content that bob may not read", "invoke", {"action": {"action_type": "read_artifact", "artifact_id": "locked"}}),
    ("content that bob does not see", "invoke", {"action": {"action_type": "read_artifact", "artifact_id": "hidden"}}),
    ("content that is not there", "invoke", {"action": {"action_type": "read_artifact", "artifact_id": "none"}}),
    ("content of nothing", "invoke", {"action": {"action_type": "read_artifact"}}),
    ("content of a number", "invoke", {"action": {"action_type": "read_artifact", "artifact_id": 7}}),
    ("content of an id that is none", "invoke", {"action": {"action_type": "read_artifact", "artifact_id": "a/b"}}),
    ("content and more", "invoke", {"action": {"action_type": "read_artifact", "artifact_id": "note", "colour": "red"}}),
    ("an edit of what does not occur", "invoke", {"action": {
        "action_type": "edit_artifact", "artifact_id": "note", "old_string": "zz", "new_string": "z"}}),
    ("an edit of what occurs twice", "invoke", {"action": {
        "action_type": "edit_artifact", "artifact_id": "bob_note", "old_string": "o", "new_string": "z"}}),
    ("deleting what is not there", "invoke", {"action": {"action_type": "delete_artifact", "artifact_id": "none"}}),
    ("writing with an id that is too long", "invoke", {"action": {
        "action_type": "write_artifact", "artifact_id": "x" * 200, "content": "x"}}),
    ("writing what depends on nothing", "invoke", {"action": {
        "action_type": "write_artifact", "artifact_id": "x", "content": "x", "depends_on": ["none"]}}),
    ("scrip for nobody", "invoke", {"action": {"action_type": "transfer", "to": "nobody", "amount": 1}}),
    ("running code", "invoke", {"action": {"action_type": "invoke_artifact", "artifact_id": "tool", "args": ["x"]}}),
    ("running code that fails", "invoke", {"action": {
        "action_type": "invoke_artifact", "artifact_id": "tool", "args": ["fail"]}}),
    ("running code with arguments that do not fit", "invoke", {"action": {
        "action_type": "invoke_artifact", "artifact_id": "tool", "args": [7]}}),
    ("running code with arguments that are a text", "invoke", {"action": {
        "action_type": "invoke_artifact", "artifact_id": "tool", "args": "x"}}),
    ("running what is no code", "invoke", {"action": {"action_type": "invoke_artifact", "artifact_id": "note"}}),
    ("running an action", "invoke", {"action": {"action_type": "invoke_artifact", "artifact_id": "read_artifact"}}),
    ("an event of an unknown schema", "send-event", {"schema": "test/None@1", "value": {}}),
    ("an event that does not fit", "send-event", {"schema": "test/Add@1", "value": {"key": 7}}),
    ("a step of nobody", "step", {"agent": "nobody"}),
    ("a step of what is no agent", "step", {"agent": "note"}),
    ("an empty message", "chat", {"message": ""}),
    ("cancelling an unknown turn", "cancel", {"turn_id": "nobody.1"}),
    ("approving in an unknown turn", "approve", {"turn_id": "nobody.1", "call_id": "c", "decision": "allow"}),
    ("cancelling an unknown plan", "plan-cancel", {"plan_id": "f" * 32}),
    ("resuming an unknown plan", "plan-resume", {"plan_id": "f" * 32}),
    ("a grant to nobody", "grant", {"to": "nobody", "cap": "sys/query@1"}),
    ("revoking what is no grant", "revoke", {"name": "nobody.query.1"}),
    ("a principal that is there", "principal", {"id": "carol"}),
]
# Only requests that are refused change nothing.
OF_BOB = [
    ("a snapshot", "snapshot", {}), ("gc", "gc", {"keep_heights": 1}),
    ("one more principal", "principal", {"id": "dora"}), ("another manifest", "apply", {"manifest": {}}), ("code", "code", {}),
]
PAST = []  # heights that requests name
failures = []


class Setting:
    """What the interfaces need."""

    def __init__(self):
        self.worldfs, self.world, *points = sys.argv[1:]
        self.points = dict(zip(("operator", "bob"), points))
        self.socket = judged_doors.Socket(self.world)
        self.turns, self.plans = {}, {}
        self.heard = {who: [] for who in self.points}

    def script(self, model, lines):
        path = os.path.join(self.world, f"{model}.jsonl")
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        os.rename(path + ".new", path)

    def height(self):
        if self.socket:
            return self.socket.must("journal-head")["journal_height"]
        _, printed = judged_doors.CommandLine(self.worldfs, self.world).run("operator", "head")
        return json.loads(printed)["journal_height"]

    def leave(self):
        """The owner ends with its last mount."""
        self.socket.close()
        self.socket = None
        for point in reversed(self.points.values()):
            subprocess.run([self.worldfs, "umount", point], check=True)


def requests_of(who, setting):
    text = json.dumps(REQUESTS + (OF_BOB if who == "bob" else []))
    return json.loads(text.replace("HEIGHT", str(setting.first)).replace("STORED", setting.blob))


def parts_of(verb, found):
    """The parts of an answer that are compared, by name."""
    of = "actions" if verb in ("query", "invoke") else "errors" if "error" in found else None
    parts = dict(found.get("error", {}))
    if "value" in found:
        parts["value"] = found["value"]
    if found.get("meta"):
        parts[f"meta of {of}" if of else "meta"] = found["meta"]
    return parts


def plain(part, value):
    """The height is compared separately. Messages lose the height of the head, and the list of a form's members, which
    each form names in its own way."""
    if part == "message":
        return re.sub(r" \(\S+ takes: .*\)$", "", re.sub(r"the head is \d+", "the head is …", value))
    if part.startswith("meta"):
        return {name: member for name, member in value.items() if name != "journal_height"}
    return value


def compare(what, verb, way, found, expected, heights):
    """@expected: the socket's answer. @heights: the heights of the world before and after @found was asked for"""
    known = (expected.get("meta") or {}).get("journal_height")
    found, expected = parts_of(verb, found), parts_of(verb, way.expected(expected))
    for part in expected.keys() | found.keys():
        if part not in found and part in way.lacks:
            continue
        both = [plain(part, parts[part]) if part in parts else "nothing" for parts in (found, expected)]
        if both[0] != both[1]:
            failures.append("\n    ".join([f"{what}: another {part}:", *(str(each)[:SHOWN] for each in both)]))
        if part.startswith("meta") and part in found:
            at = found[part]["journal_height"]
            if at != known and (known in PAST or not heights[0] <= at <= heights[1]):
                failures.append(f"{what}: of height {at}, expected {known} or one from {heights[0]} to {heights[1]}")


def ask(way, who, requests, setting):
    """(name, verb, form, outcome, heights) of each request in each form that this interface has"""
    asked = [(name, verb, payload, form) for name, verb, payload in requests for form_of in way.forms
             if (form := form_of(verb, payload)) is not None]
    before = setting.height()
    found = way.ask(who, [each[1:] for each in asked])
    heights = before, setting.height()
    return [(name, verb, form, answer, heights) for (name, verb, _, form), answer in zip(asked, found) if answer is not None]


def ask_on(named, requests, setting, known):
    """Return: how many answers were compared."""
    compared = 0
    for label, (kind, *shares) in named.items():
        way = kind(setting)
        for who, (which, count) in zip(setting.points, shares):
            answers = ask(way, who, requests[who][which::count], setting)
            for name, verb, form, answer, heights in answers:
                shown = form[0] if isinstance(form, tuple) else verb
                compare(f"{who}: {name}: {label} ({shown})", verb, way, answer, known[who][name], heights)
                setting.heard[who].append(f"{label}: {name}: {answer}")
            compared += len(answers)
        way.close()
    return compared


def privacy(setting):
    """Bob reads the operator's turn and plan, in which the operator got answers that bob may not read."""
    point = setting.points["bob"]
    turn, plan = setting.turns["operator"], setting.plans["operator"]
    paths = [*glob.glob(f"{point}/turns/{turn}/*.*"), *glob.glob(f"{point}/turns/{turn}/raw/*"),
             f"{point}/turns/{turn}/status", f"{point}/plans/{plan}.json",
             *glob.glob(f"{point}/plans/{plan}/steps/*"), f"{point}/journal/log.jsonl"]
    if len(paths) < 100:
        failures.append(f"bob sees only {paths} of the operator's turn and plan")
    for path in paths:
        with open(path, encoding="utf-8") as file:
            setting.heard["bob"].append(f"{path}: {file.read()}")
    for text in setting.heard["bob"]:
        if CANARY in text:
            at = text.index(CANARY)
            failures.append(f"bob finds what he may not read: {text[:100]} ... {text[max(at - 100, 0):at + 50]}")
    for label in ("turn", "plan", "tools of mcp", "control file", "mount"):
        if not any(text.startswith(f"{label}: ") and CANARY in text for text in setting.heard["operator"]):
            failures.append(f"{label}: the operator is not told what is secret, so that nothing was looked for")


def main():
    setting = Setting()
    setting.blob = setting.socket.must("put-blob", data_b64="YmxvYg==")["hash"].removeprefix("sha256:")
    setting.socket.must("snapshot")
    setting.first = setting.height()
    PAST.extend(range(setting.first + 1))
    setting.socket.must("send-event", schema="test/Add@1", value={"key": "b", "by": 1})  # then it is a past height
    requests = {who: requests_of(who, setting) for who in setting.points}
    way = ways.Socket(setting)
    known = {who: {name: answer for name, _, _, answer, _ in ask(way, who, requests[who], setting)} for who in setting.points}
    way.close()
    compared = ask_on(ways.WITH_OWNER, requests, setting, known)
    privacy(setting)
    setting.leave()
    requests = {who: [request for request in asked if request[1] not in ways.OF_OWNER] for who, asked in requests.items()}
    compared += ask_on(ways.WITHOUT_OWNER, requests, setting, known)
    errors = sum("error" in answer for answers in known.values() for answer in answers.values())
    print(f"{sum(map(len, known.values()))} answers of the socket, {errors} of them errors; {compared} others compared")
    if compared < COMPARED:
        failures.append(f"expected at least {COMPARED} to be compared")
    if failures:
        sys.exit("\n".join([*failures, "not ok - each way in gives the same answer"]))


main()
