# SPDX-License-Identifier: Apache-2.0
"""A principal without grants, for test-judged: an empty tree, and a refusal for every request.

The tables below name a request for every verb, control file and command that the sources have; one
that is new and not in them is a failure.
"""
import collections
import errno
import json
import os
import re
import subprocess
import sys
import time

import judged_doors
from judged_model import ROOT

BLOB = "0" * 64
EVENT = {"schema": "test/Add@1", "value": {"key": "a", "by": 1}}
GRANT = {"to": "nobody", "cap": "sys/query@1"}

VERBS = {
    "manifest-read": {}, "query-state": {"reducer": "counter"}, "list-cells": {"reducer": "counter"},
    "journal-head": {}, "journal-read": {"from": 0}, "blob-get": {"hash_hex": BLOB}, "blob-stat": {"hash_hex": BLOB},
    "put-blob": {"data_b64": "YQ=="}, "invoke": {"action": {"action_type": "noop"}}, "send-event": EVENT,
    "grant": GRANT, "revoke": {"name": "operator.act.1"}, "principal": {"id": "friend"}, "snapshot": {},
    "gc": {"keep_heights": 1}, "code": {}, "mount": {"dir": "/mnt", "ctl": "/mnt-ctl"}, "umount": {"dir": "/mnt"}, "status": {}, "metrics": {},
    "shutdown": {}, "fs-list": {"path": "reducers"}, "fs-stat": {"path": "README"}, "fs-read": {"path": "manifest"},
    "apply": {"manifest": {}}, "query": {"query_type": "balances"},
    "turns": {}, "timers": {}, "step": {"agent": "robot"}, "cancel": {"turn_id": "robot.1"},
    "wake": {"turn_id": "robot.1"}, "step-again": {"turn_id": "robot.1"}, "approve": {"turn_id": "robot.1", "call_id": "c", "decision": "allow"},
    "chat": {"message": "m"}, "plans": {}, "plan-status": {"session_id": "s"}, "plan-resume": {"plan_id": "p"},
    "plan-cancel": {"plan_id": "p"}, "plan-import": {"blob": "sha256:" + BLOB},
    "intents": {}, "intent-resolve": {"intent_id": "sha256:" + BLOB, "outcome": "done"},
    "tool": {"name": "git.log"}, "tools": {}, "replicas": {}, "handover": {},
}
# For the effects of these verbs, refusals are recorded.
RECORDED = {"put-blob": "blob.put", "invoke": "action.noop", "send-event": "event.emit", "grant": "world.grant",
            "revoke": "world.revoke", "principal": "world.principal", "snapshot": "world.snapshot", "gc": "world.gc",
            "code": "world.code", "mount": "world.mount", "umount": "world.mount", "shutdown": "world.shutdown",
            "apply": "world.apply", "step": "agent.step", "cancel": "agent.cancel", "approve": "agent.approve",
            "wake": "agent.wake", "chat": "plan.run", "plan-resume": "plan.run", "plan-cancel": "plan.cancel",
            "plan-import": "plan.run", "intent-resolve": "intent.resolve", "tool": "tool.outside", "handover": "world.shutdown"}

FILES = {
    "invoke": {"action_type": "noop"}, "query": {"query_type": "balances"}, "event": EVENT, "put-blob": "bytes", "snapshot": {},
    "code": {}, "gc": {"keep_heights": 1},
    "grant": GRANT, "revoke": {"name": "operator.act.1"}, "principal": {"id": "friend"}, "apply": {"manifest": {}},
    "step": "robot\n", "cancel": {"turn_id": "robot.1"}, "wake": {"turn_id": "robot.1"},
    "approve": {"turn_id": "robot.1", "call_id": "c", "decision": "allow"},
    "chat": {"message": "m"}, "intents": {}, "tool": "git.log\n", "tools": {},
    "intent-resolve": {"intent_id": "sha256:" + BLOB, "outcome": "done"},
    "artifacts": None,  # a directory: artifact_is_refused
    "last": None,  # has earlier answers of this mount: refusals
    "status": "", "metrics": "",  # can only be read
}

COMMANDS = {
    "status": [], "snapshot": [], "code ls": [], "code lift": ["0" * 64], "gc": ["--keep-heights", "1"], "diff": ["1", "2"], "manifest": [],
    "state": ["counter", "a"], "cells": ["counter"], "head": [], "journal": [], "query": ["balances"], "blob get": [BLOB],
    "blob put": ["/dev/null"], "blob stat": [BLOB], "fs ls": ["reducers"], "fs cat": ["README"],
    "fs stat": ["manifest"], "fs tree": ["journal"], "fs grep": ["x", "journal"],
    "event": ["test/Add@1", '{"key":"a","by":1}'], "grant": ["nobody", "query"],
    "invoke": ['{"action_type":"noop"}'], "revoke": ["operator.act.1"],
    "agent migrate": ["robot"], "agent export": ["robot"], "memory reembed": ["m"],
    "agent import": [os.path.join(sys.argv[4], "tests/data/artifact.json")], "step": ["robot"], "cancel": ["robot.1"], "approve": ["robot.1", "c"], "turns": [],
    "timer ls": [], "timer show": ["t"], "timer cancel": ["t"],
    "chat": ["m"], "plan ls": [], "plan show": ["p"], "plan watch": ["p"], "plan graph": ["p"], "plan resume": ["p"],
    "plan cancel": ["p"], "plan export": ["p", "/dev/null"], "plan import": ["sha256:" + BLOB],
    "intents ls": [], "intents resolve": ["sha256:" + BLOB, "done"],
    "tool call": ["git.log"], "tools": ["--outside"], "replicas": [], "handover": [],
    "principal add": ["friend"], "mint resolve": [], "apply": [os.path.join(sys.argv[4], "tests/data/worlds/counter")],
}
# These commands do not act as a principal: they make or check a world by its files, or serve it.
OF_THE_HOST = {"init", "restore", "mount", "umount", "serve", "verify", "replay", "backup", "upgrade", "mcp", "trust",
               "replicate", "follow", "help"}


def fail(what):
    print(f"not ok - {what}")
    sys.exit(1)


def names_in(source_root, path, pattern):
    with open(os.path.join(source_root, path), encoding="utf-8") as file:
        names = re.findall(pattern, file.read())
    if not names:
        fail(f"no names are found in {path}")
    return names


def known(what, names, table):
    if set(names) - set(table):
        fail(f"{what} that judged_nobody.py does not know: {sorted(set(names) - set(table))}")


def tree_is_empty(mount):
    names = os.listdir(mount)
    if names != ["ctl"]:
        fail(f"expected nothing but ctl in the tree, got {names}")
    for name in set(ROOT) - {"ctl"}:
        try:
            os.lstat(os.path.join(mount, name))
        except OSError as error:
            if error.errno == errno.EACCES:
                continue
            fail(f"{name}: expected EACCES, got {error}")
        fail(f"{name} can be looked up")
    print("ok - the tree is empty but for ctl, and its names are refused")


def counted_since(socket, height):
    """Return: how many refusals of each effect the journal has from `height` on."""
    told = collections.Counter()
    for record in socket.must("journal-read", **{"from": height})["records"]:
        told[record["body"]["effect"]] += record["body"].get("count", 1)
    return told


def verbs_are_refused(socket, source_root):
    names = names_in(source_root, "fs/verb/verb-table.c", r'VERB\(\w+, "([a-z-]+)"')
    known("verbs", names, VERBS)
    refused = collections.Counter()
    start = socket.must("journal-head")["journal_height"]
    for name in names:
        before = socket.must("journal-head")["journal_height"]
        answer = socket.call("nobody", name, VERBS[name])
        if answer["ok"] or answer["error"]["code"] != "not_authorized":
            fail(f"{name}: expected not_authorized, got {answer}")
        records = socket.must("journal-read", **{"from": before})["records"]
        told = [(record["kind"], record["principal"], record["body"]["effect"]) for record in records]
        effect = RECORDED.get(name)
        refused[effect] += 1
        if told != [("decision", "nobody", effect)] and (effect and refused[effect] == 1 or told):
            fail(f"{name}: the journal says {told}")
    del refused[None]
    # Further refusals of an effect within a second share one record with a count, which comes later.
    until = time.monotonic() + 20
    while (told := counted_since(socket, start)) != refused:
        if time.monotonic() > until:
            fail(f"the journal counts {told}, refused were {refused}")
        time.sleep(0.05)
    answer = socket.call("nobody", "fs-list", {"path": "/"})
    if answer["result"]["entries"]:
        fail(f"the root lists {answer}")
    print(f"ok - {len(names)} verbs are refused; {len(RECORDED)} of the refusals are recorded")


def write_is_refused(path, text):
    """The write or the close fails, and a read then gives the reason."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.write(descriptor, text.encode())
        answer = os.read(descriptor, 1 << 16)
        if not answer:
            fail(f"{path}: the write was taken and nothing was answered")
    except PermissionError:
        answer = os.read(descriptor, 1 << 16)
    finally:
        try:
            os.close(descriptor)
        except PermissionError:
            pass
    document = json.loads(answer)
    if document.get("ok", True) or document["error"]["code"] != "not_authorized":
        fail(f"{path}: expected not_authorized, got {document}")


def artifact_is_refused(ctl):
    """The close fails, and a read from `last` then gives the reason."""
    path = os.path.join(ctl, "artifacts", "theirs")
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    os.write(descriptor, b"text")
    try:
        os.close(descriptor)
        fail(f"{path}: closing it succeeds")
    except PermissionError:
        pass
    with open(os.path.join(ctl, "last"), encoding="utf-8") as file:
        document = json.load(file)
    if document["error"]["code"] != "not_authorized" or "action.write_artifact" not in document["error"]["message"]:
        fail(f"{path}: expected not_authorized, got {document}")


def files_are_refused(mount):
    ctl = os.path.join(mount, "ctl")
    names = os.listdir(ctl)
    known("control files", names, FILES)
    for name in names:
        content = FILES[name]
        path = os.path.join(ctl, name)
        if content == "":
            try:
                with open(path, "rb") as file:
                    fail(f"{path} can be read: {file.read()}")
            except PermissionError:
                pass
        elif content is not None:
            write_is_refused(path, content if isinstance(content, str) else json.dumps(content) + "\n")
    artifact_is_refused(ctl)
    print(f"ok - {len(names)} control files are refused")


def commands_are_refused(worldfs, world, source_root):
    names = set(names_in(source_root, "fs/command/commands.txt", r"(?m)^== ([a-z]+(?: [a-z]+)*)")) - OF_THE_HOST
    known("commands", names, COMMANDS)
    for name in sorted(names):
        done = subprocess.run([worldfs, "-w", world, "--as", "nobody", "--json", *name.split(), *COMMANDS[name]],
                              stdin=subprocess.DEVNULL, capture_output=True)
        try:
            code = json.loads(done.stdout)["error"]["code"]
        except (ValueError, KeyError):
            code = done.stdout
        if done.returncode != 1 or code != "not_authorized":
            fail(f"worldfs {name}: expected not_authorized and exit 1, got {code}, {done.returncode}, {done.stderr}")
    print(f"ok - {len(names)} commands are refused")


def tools_are_refused(worldfs, world):
    tools = judged_doors.Tools(worldfs, world)
    asked = {"fs_read_manifest": {}, "fs_read_reducer": {"name": "counter"}, "fs_ls": {"path": "reducers"},
             "fs_stat": {"path": "README"}, "fs_read": {"path": "manifest"},
             "query": {"query_type": "balances", "params": None},
             "invoke": {"action": {"action_type": "noop", "reasoning": None}},
             "step": {"agent": "robot", "message": None}, "chat": {"message": "m", "session_id": None}}
    names = [tool["name"] for tool in tools.request("nobody", "tools/list")["tools"]]
    known("tools", names, asked)
    for tool in names:
        answer = tools.call("nobody", tool, **asked[tool])
        if answer.get("error", {}).get("code") != "not_authorized":
            fail(f"{tool}: expected not_authorized, got {answer}")
    if tools.call("nobody", "fs_ls", path="/")["entries"]:
        fail("fs_ls of the root lists something")
    tools.close()
    print(f"ok - {len(names)} tools for models are refused")


def main():
    worldfs, world, mount, source_root = sys.argv[1:]
    socket = judged_doors.Socket(world)
    tree_is_empty(mount)
    verbs_are_refused(socket, source_root)
    files_are_refused(mount)
    commands_are_refused(worldfs, world, source_root)
    tools_are_refused(worldfs, world)
    socket.close()


main()
