# SPDX-License-Identifier: Apache-2.0
"""The interfaces of a world at work for test-judged. Each takes (principal, verb, payload), a verb of the
control socket, and gives (answer, all of it as text): the answer is OK or the reason of a refusal, and
the result; an interface without the verb gives None.
"""
import base64
import json
import multiprocessing
import os
import subprocess

import judged_doors
from judged_works_model import INVALID, MISSING, OK, REFUSED

LOOKS = ("fs-list", "fs-read")


def refusal(error):
    code = error["code"]
    if code in judged_doors.REFUSALS:
        return REFUSED
    if code in ("not_found", "deleted", "reducer_missing"):
        return MISSING
    return INVALID if code in ("invalid_type", "invalid_argument", "conflict") else (code,)


def of_text(text):
    """A refusal that comes as words only."""
    if "not found" in text or "no '" in text or "there is no" in text or "UNKNOWN_TOOL" in text or "was deleted" in text:
        return MISSING
    if "may not" in text or "grant" in text or "policy" in text or "rule" in text or "for the owner" in text:
        return REFUSED
    return INVALID if "expected" in text or "not executable" in text else (text,)


class Socket(judged_doors.Socket):
    def ask(self, who, verb, payload):
        answer = self.call(who, verb, payload)
        raw = json.dumps(answer)
        if not answer["ok"]:
            return refusal(answer["error"]), answer["error"], raw
        result = answer["result"]
        if verb == "fs-list":
            entries = result["entries"]
            while "next_cursor" in result:
                result = self.call(who, verb, payload | {"cursor": result["next_cursor"]})["result"]
                entries += result["entries"]
            return OK, frozenset(entry["name"] for entry in entries), raw
        if verb == "fs-read":
            data = base64.b64decode(result["data_b64"])
            while not result["eof"]:
                result = self.call(who, verb, payload | {"offset": len(data)})["result"]
                data += base64.b64decode(result["data_b64"])
            return OK, data, data.decode(errors="replace")
        return OK, result, raw


class Mount:
    """One mount and its control files for each principal."""

    files = {"invoke": ("invoke", "action"), "query": ("query", None), "step": ("step", None),
             "cancel": ("cancel", None), "approve": ("approve", None), "chat": ("chat", None),
             "tool": ("tool", None), "tools": ("tools", None)}

    def __init__(self, worldfs, world, tree, principals, *options):
        self.worldfs = worldfs
        self.points = {who: os.path.join(tree, f"works{i}" + "o" * len(options)) for i, who in enumerate(principals)}
        for who, point in self.points.items():
            os.makedirs(point, exist_ok=True)
            subprocess.run([worldfs, "-w", world, "--as", who, "mount", point, *options], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def ask(self, who, verb, payload):
        point = self.points[who]
        if verb in LOOKS:
            return look(verb, os.path.join(point, payload["path"]))
        if verb not in self.files:
            return None
        file, member = self.files[verb]
        return control(os.path.join(point, "ctl", file), payload[member] if member else payload)

    def close(self):
        for point in reversed(self.points.values()):
            subprocess.run([self.worldfs, "umount", point], check=True)


def look(verb, path):
    try:
        if verb == "fs-list":
            names = frozenset(os.listdir(path))
            return OK, names, " ".join(names)
        with open(path, "rb") as file:
            data = file.read()
        return OK, data, data.decode(errors="replace")
    except FileNotFoundError:
        return MISSING, None, ""
    except PermissionError:
        return REFUSED, None, ""


def control(path, document):
    """The answer of a control file to one request."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except PermissionError as error:
        return REFUSED, None, str(error)
    try:
        try:
            os.write(descriptor, json.dumps(document).encode() + b"\n")
        except OSError:
            pass  # the answer has the reason
        text = os.read(descriptor, 1 << 22).decode()
    finally:
        try:
            os.close(descriptor)
        except OSError:
            pass
    answer = json.loads(text)
    if answer.get("ok") is False and isinstance(answer.get("error"), dict):
        return refusal(answer["error"]), answer["error"], text
    return OK, answer, text


class Others:
    """A mount of the operator with --allow-other, used by other users of the host, each in a
    process."""

    def __init__(self, worldfs, world, tree, users):
        self.mount = Mount(worldfs, world, tree, ["operator"], "--allow-other")
        self.pipes = {}
        self.processes = []
        context = multiprocessing.get_context("fork")
        for uid in users:
            self.pipes[uid], end = context.Pipe()
            ours = list(self.pipes.values())
            self.processes.append(context.Process(target=serve_user, args=(uid, self.mount, end, ours), daemon=True))
            self.processes[-1].start()
            end.close()

    def ask(self, uid, verb, payload):
        self.pipes[uid].send((verb, payload))
        return self.pipes[uid].recv()

    def close(self):
        for pipe in self.pipes.values():
            pipe.send(None)
        for process in self.processes:
            process.join()
        self.mount.close()


def serve_user(uid, mount, pipe, ends_of_parent):
    """Runs until None comes, or until the parent has ended."""
    for end in ends_of_parent:
        end.close()
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    while (asked := next_of(pipe)) is not None:
        try:
            answer = mount.ask("operator", *asked)
        except (OSError, ValueError) as error:
            answer = ("failed",), str(error), str(error)
        pipe.send(answer)


def next_of(pipe):
    try:
        return pipe.recv()
    except EOFError:
        return None


class Tools(judged_doors.Tools):
    """`worldfs mcp`: its tools, and its resources."""

    def ask(self, who, verb, payload):
        if verb in LOOKS:
            tool, arguments = {"fs-list": "fs_ls", "fs-read": "fs_read"}[verb], {"path": payload["path"]}
        elif verb == "step":
            tool, arguments = "step", {"agent": payload["agent"], "message": payload.get("message")}
        elif verb == "invoke":
            tool, arguments = "invoke", {"action": payload["action"]}
        elif verb == "query":
            tool, arguments = "query", payload
        else:
            return None
        result = self.call(who, tool, **arguments)
        raw = json.dumps(result)
        if "error" in result and result["error"]:
            return refusal(result["error"]), result["error"], raw
        if tool == "fs_ls":
            return OK, frozenset(os.path.basename(entry["path"]) for entry in result["entries"]), raw
        if tool == "fs_read":
            return whole(self, who, payload, result)
        return OK, result, raw

    def resource(self, who, verb, payload):
        if verb not in LOOKS:
            return None
        answer = self.answer(who, "resources/read", uri="worldfs:///" + payload["path"])
        raw = json.dumps(answer)
        if "error" in answer:
            missing = answer["error"]["code"] == -32002
            return MISSING if missing else of_text(answer["error"]["message"]), answer["error"], raw
        content = answer["result"]["contents"][0]
        text = content["text"] if "text" in content else base64.b64decode(content["blob"]).decode(errors="replace")
        if verb == "fs-list":
            return OK, frozenset(name.rstrip("/") for name in text.splitlines()), raw
        return OK, text.encode() if "text" in content else base64.b64decode(content["blob"]), text


def whole(tools, who, payload, part):
    data = b""
    while True:
        data += part["text"].encode() if "text" in part else base64.b64decode(part["data_b64"])
        if part["eof"]:
            return OK, data, data.decode(errors="replace")
        part = tools.call(who, "fs_read", path=payload["path"], offset=part["next_offset"])


class CommandLine(judged_doors.CommandLine):
    def ask(self, who, verb, payload):
        arguments = {
            "fs-list": lambda: ["fs", "ls", payload["path"]], "fs-read": lambda: ["fs", "cat", payload["path"]],
            "invoke": lambda: invocation(payload["action"]),
            "query": lambda: ["query", payload["query_type"]] + [f"{name}={value}" for name, value in payload["params"].items()],
            "cancel": lambda: ["cancel", payload["turn_id"]],
            "approve": lambda: ["approve", payload["turn_id"], payload["call_id"], payload["decision"]],
            "tool": lambda: ["tool", "call", payload["name"], json.dumps(payload["arguments"])],
            "tools": lambda: ["tools", "--outside"],
            "timers": lambda: ["timer", "ls"] + list(payload.values()),
            "turns": lambda: ["turns"], "plans": lambda: ["plan", "ls"],
            "plan-status": lambda: ["plan", "show", payload["plan_id"]],
            "plan-cancel": lambda: ["plan", "cancel", payload["plan_id"]],
        }.get(verb)
        if not arguments:
            return None
        if verb == "fs-read":
            status, output = self.run(who, *arguments())
            if status == 0:
                return OK, output, output.decode(errors="replace")
        _, output = self.run(who, "--json", *arguments())
        document = json.loads(output)
        if "error" in document:
            return refusal(document["error"]), document["error"], output.decode()
        data = document["data"]
        if verb == "fs-list":
            data = frozenset(entry["name"] for entry in data["entries"])
        return OK, data, output.decode()


def invocation(action):
    """The command for an action; some have one of their own."""
    if action["action_type"] == "unschedule":
        return ["timer", "cancel", action["id"]]
    return ["invoke", json.dumps(action)]
