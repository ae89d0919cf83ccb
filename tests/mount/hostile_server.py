# SPDX-License-Identifier: Apache-2.0
"""A world whose agent calls the tools of a hostile server, and one with a tame server (tests/outside/hostile.py).

Called by test-hostile-server: WORLDFS, the directory of this test, and the manner of the server. Each tool is called by a turn
of its own. Writes to DIRECTORY/MANNER.json, for each tool, what the turn did: its records without times, ids and
texts, and the messages of its model. All that is around the turns is there, too: names and contents of other files of
the mount. What may not happen with any server is checked here.
"""
import json
import os
import pty
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import ok  # noqa: E402

WORLDFS, DIRECTORY, MANNER = sys.argv[1:]
WORLD, TREE, LOG = (f"{DIRECTORY}/{MANNER}-{name}" for name in ("world", "tree", "calls"))
SERVER = os.path.join(os.environ["SOURCE_ROOT"], "tests/outside/hostile.py")
MARK = f"{DIRECTORY}/changed"
TOOLS = """work escapes stand_in outcome receipt ids images regex loop children wrong progress error_escapes error_outcome
    flood big_image work""".split()
ENDS = ["flood", "big_image"]  # the hostile server is ended for these, and started again after a pause
BAD = ["\x1b[2", "\x1b]", "\x1b[31", "\x07", "\x9b", "\u202e", "\u2066", "\x00"]  # may not reach a terminal
SECRET = "only-for-the-owner"


def worldfs(*arguments, status=0):
    where = [] if arguments[0] == "init" else ["-w", WORLD]
    done = subprocess.run([WORLDFS, *where, *arguments], capture_output=True, text=True, check=False, timeout=90)
    if status is not None and done.returncode != status:
        sys.exit(f"not ok - '{' '.join(arguments)}' gives {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}")
    return done


def on_terminal(*arguments):
    """What a command prints to a terminal."""
    parent, child = pty.openpty()
    with subprocess.Popen([WORLDFS, "-w", WORLD, *arguments], stdin=child, stdout=child, stderr=child,
                          env={**os.environ, "TERM": "dumb", "NO_COLOR": "1", "PAGER": "cat"}) as process:
        os.close(child)
        said = b""
        while True:
            try:
                part = os.read(parent, 65536)
            except OSError:
                break
            if not part:
                break
            said += part
        process.wait()
    os.close(parent)
    return said.decode("utf-8", "surrogateescape")


def write(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file)


def script(tool):
    calls = {"tool_calls": [{"id": "c", "name": f"s_{tool}", "arguments": json.dumps({"text": "a" * 60 + "!"})}]}
    with open(f"{WORLD}/script.jsonl", "w", encoding="utf-8") as file:
        file.write(json.dumps(calls) + "\n" + json.dumps({"content": "said"}) + "\n")


def make_world():
    source = f"{DIRECTORY}/{MANNER}-source"
    os.makedirs(source)
    os.mkdir(TREE)
    grants = [{"cap": "sys/llm@1", "params": {}}, {"cap": "sys/tool@1", "params": {"tools": ["s.*"]}}]
    agents = [{"id": "ada", "type": "agent", "created_by": "ada", "content": {
                   "model": "m", "tools": [f"s.{tool}" for tool in dict.fromkeys(TOOLS)]}},
              {"id": "pam", "type": "agent", "created_by": "pam", "content": {"model": "m", "tools": ["s.pinned"]}},
              {"id": "fay", "type": "agent", "created_by": "fay", "content": {"model": "m", "tools": ["s.pinned"]}},
              {"id": "diary", "created_by": "operator", "access": "private", "content": "a secret"}]
    write(f"{source}/world.json", {"name": "beset", "principals": [
        {"id": "ada", "scrip": 50, "grants": grants}, {"id": "fay", "grants": grants}, {"id": "pam", "grants": grants[:1]}],
        "artifacts": agents})
    write(f"{source}/host.json", {"models": {"m": {"provider": "script", "file": "script.jsonl"}},
                                  "tools": {"s": {"command": [SERVER, LOG, MARK, MANNER], "env": ["PATH"], "output_max_bytes": 8 << 20}}})
    write(f"{source}/script.jsonl", {"content": "said"})
    os.environ["WORLDFS_SECRET"] = SECRET
    worldfs("init", WORLD, "--from", source)
    worldfs("trust", "--yes")
    worldfs("mount", TREE)


def records():
    return [json.loads(line) for line in worldfs("journal").stdout.splitlines()]


def shape(record):
    """A record without what differs from world to world."""
    body = record["body"]
    what = body.get("effect") or body.get("schema") or body.get("action", {}).get("action_type")
    return [record["kind"], record["principal"], what]


def around():
    """Files that no turn changes."""
    found = {}
    for part in ("artifacts", "principals", "plans"):
        for directory, names, files in os.walk(f"{TREE}/{part}"):
            names.sort()
            for name in sorted(files):
                path = os.path.join(directory, name)
                if name in ("content", "scrip", "grants.json"):
                    with open(path, "rb") as file:
                        found[path[len(TREE):]] = file.read().decode("utf-8", "replace")
                else:
                    found[path[len(TREE):]] = None
    return found


def take_turn(agent, tool, status=0):
    """Return: {records, told} of a turn that calls a tool."""
    script(tool)
    before = len(records())
    done = worldfs("step", agent, "--json", status=status)
    after = records()[before:]
    result = json.loads(done.stdout)["data"] if done.returncode == 0 else {}
    told = [message["content"] for message in result.get("history", []) if message["role"] == "tool"]
    return {"records": [shape(record) for record in after], "told": told}, after, done


def check_terminal():
    turns = sorted(os.listdir(f"{TREE}/turns"))
    for arguments in (["journal"], ["intents", "ls"], ["turn", "ls"], ["step", "ada"],
                      *(["fs", "cat", f"turns/{turn}/transcript.md"] for turn in turns)):
        said = on_terminal(*arguments)
        for bad in BAD:
            if bad in said:
                where = said.index(bad)
                sys.exit(f"not ok - '{' '.join(arguments)}' prints {bad!r} to a terminal: {said[max(0, where - 80):where + 20]!r}")
    ok(f"{MANNER}: nothing that a server says drives a terminal", True)


def calls_of(tool):
    with open(LOG, encoding="utf-8") as file:
        return sum(json.loads(line).get("tool") == tool for line in file)


def check_pins():
    """A grant with a pinned description ends when that changes; one without follows the change."""
    _, after, _ = take_turn("fay", "pinned")
    pinned = next(r["body"]["action"]["hash"] for r in after if r["kind"] == "action" and r["body"]["action"]["action_type"] == "tool")
    worldfs("grant", "pam", "sys/tool@1", json.dumps({"tools": ["s.pinned"], "pinned": {"s.pinned": pinned}}))
    _, _, done = take_turn("pam", "pinned")
    count = calls_of("pinned")
    ok(f"{MANNER}: a pinned tool is called", done.returncode == 0)
    with open(MARK, "w", encoding="utf-8"):
        pass
    pid = int(subprocess.run(["pgrep", "-f", LOG], capture_output=True, text=True, check=True).stdout.split()[-1])
    os.kill(pid, 9)  # a server that is started again may have other descriptions
    wait_for_server()
    ok(f"{MANNER}: without a pin the change is followed", calls_of("pinned") > count)
    count = calls_of("pinned")
    _, after, done = take_turn("pam", "pinned", status=None)
    ok(f"{MANNER}: a pinned tool that has changed is not called", calls_of("pinned") == count and done.returncode == 1,
       json.loads(done.stdout)["error"]["message"])
    os.unlink(MARK)


def forge():
    """Gives the server the stand-in of a private text, which it then sends as its own."""
    made = next(r for r in records() if r["body"].get("action", {}).get("artifact_id") == "diary")
    write(f"{MARK}.stand-in", made["body"]["action"]["content"])


def check_stand_in(after):
    """What looks like a stand-in is hidden itself, so that nobody gets the text of another in its place."""
    payload = next(r["body"]["payload"] for r in after if r["kind"] == "receipt" and "output_size" in r["body"]["payload"])
    ok("a forged stand-in is a text of the server's own", payload["structured"]["of"] == [] and "also" not in payload["structured"],
       payload["structured"])


def wait_for_server():
    until = time.monotonic() + 60
    while take_turn("fay", "pinned")[0]["told"] not in (["tame"], ["said"]):
        if time.monotonic() > until:
            sys.exit("not ok - the server is not started again")
        time.sleep(0.5)


def check_child():
    with open(LOG, encoding="utf-8") as file:
        own = next(entry for entry in map(json.loads, file) if "descriptors" in entry)
    ok("the child has the descriptors of its pipes, and no other",
       sorted(own["descriptors"])[:3] == ["0", "1", "2"] and
       all(target.startswith("pipe:") or target.startswith("/proc/") for target in own["descriptors"].values()), own["descriptors"])
    ok("it has the environment that is named", set(own["environment"]) <= {"PATH"}, own["environment"])
    ok("it does not work in a directory of ours", own["directory"] == "/", own["directory"])


def main():
    make_world()
    forge()
    before = around()
    found = {}
    for number, tool in enumerate(TOOLS):
        found[f"{number} {tool}"], after, _ = take_turn("ada", tool)
        if tool == "stand_in" and MANNER == "hostile":
            check_stand_in(after)
        if tool in ENDS:
            wait_for_server()
    now = around()
    ok(f"{MANNER}: no artifact, principal or plan has changed", now == before,
       None if now == before else {k: (before.get(k), now.get(k)) for k in {**before, **now} if before.get(k) != now.get(k)})
    check_terminal()
    check_pins()
    if MANNER == "hostile":
        check_child()
    worldfs("umount", TREE, status=None)
    for command in ("verify", "replay"):
        done = worldfs(command)
        ok(f"{MANNER}: {command}", "0 problems" in done.stdout + done.stderr)
    write(f"{DIRECTORY}/{MANNER}.json", found)


main()
