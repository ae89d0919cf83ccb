#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server of the Model Context Protocol that keeps a ledger of what it was asked, outside of the world.

    ledger.py LEDGER WORLDFS WORLD

It speaks over standard input and output. Lines of the ledger: {"pid"} when it starts, {"child"} for each
process that it leaves behind, and for each call {"pid", "tool", "text", "intent_id", "recorded"}, written before
the call is answered. `recorded`: had the journal of the world the intent when the call came?

Tools: `look` (readOnlyHint), `put` (idempotentHint), `send` (no hint). Each takes {text, hang?, leave?}, and
answers with its name and the text. hang: "first": the first call with this text is never answered; "always": none is;
leave: a child in a session of its own stays, which ignores signals. While the file LEDGER.changed exists, the
descriptions are others.
"""
import json
import os
import signal
import subprocess
import sys
import time

LEDGER, WORLDFS, WORLD = sys.argv[1:]
HINTS = {"look": {"readOnlyHint": True}, "put": {"idempotentHint": True}, "send": {}}
SCHEMA = {"type": "object", "required": ["text"], "properties": {
    "text": {"type": "string"}, "hang": {"enum": ["first", "always"]}, "leave": {"type": "boolean"}}}


def note(**line):
    with open(LEDGER, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def has_come(text):
    with open(LEDGER, encoding="utf-8") as file:
        return any(json.loads(line).get("text") == text for line in file)


def is_recorded(intent_id):
    """The owner may be killed while its journal is read; then the store itself is read."""
    for _ in range(3):
        done = subprocess.run([WORLDFS, "-w", WORLD, "journal"], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL)
        if done.returncode == 0:
            records = map(json.loads, done.stdout.splitlines())
            return any(r["kind"] == "intent" and r["body"]["intent_id"] == intent_id for r in records)
    note(cannot_read=done.stderr)
    return False


def leave_child():
    pid = os.fork()
    if pid:
        note(child=pid)
        return
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(600)
    os._exit(0)


def call(params):
    name, arguments = params["name"], params["arguments"]
    intent_id = params["_meta"]["worldfs/intent_id"]
    again = has_come(arguments["text"])
    note(pid=os.getpid(), tool=name, text=arguments["text"], intent_id=intent_id, recorded=is_recorded(intent_id))
    if arguments.get("leave"):
        leave_child()
    if arguments.get("hang") == "always" or (arguments.get("hang") == "first" and not again):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
    return {"content": [{"type": "text", "text": f"{name} {arguments['text']}"}]}


def answer_to(message):
    if message["method"] == "initialize":
        return {"protocolVersion": "2025-06-18", "serverInfo": {"name": "ledger", "version": "1"},
                "capabilities": {"tools": {}}}
    if message["method"] == "tools/list":
        now = " now" if os.path.exists(LEDGER + ".changed") else ""
        return {"tools": [{"name": name, "description": f"has {name} in the ledger{now}", "inputSchema": SCHEMA,
                           "annotations": hints} for name, hints in HINTS.items()]}
    return call(message["params"]) if message["method"] == "tools/call" else {}


note(pid=os.getpid())
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked and "method" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer_to(asked)}), flush=True)
