# SPDX-License-Identifier: Apache-2.0
"""The interfaces of a world for test-same-answers.

A request is a verb of the control socket and its payload. A way has `forms`, one for each form in which a request can be
asked there: a function that gives the request in that form, or None. `ask(who, asked)` takes requests in such forms, a list of
(verb, payload, form), and gives an outcome for each: {"error": ..., "meta": ...} or {"value": ..., "meta": ...}, where a value
has one shape for all ways. `lacks` names the parts of outcomes that the way leaves out, and why: all others must be present.
"""
import base64
import errno
import json
import os
import stat
import subprocess

import judged_doors

INTROSPECTS = {"query-state": "introspect.reducer_state", "manifest-read": "introspect.manifest",
               "journal-head": "introspect.journal_head", "list-cells": "introspect.list_cells"}
HOST_PATH_MAX = 4000  # bytes that a system call takes


def meta_that_is_there(document):
    """Parts that are left out must be named in `lacks`; this part must not be left out."""
    return document.get("meta") or {"journal_height": -1, "meta": "nothing"}


# --- shapes of values ---

def value_of(verb, result):
    """The shape of a verb's result, which a command prints as `data`, too."""
    if verb in ("query-state", "blob-get", "fs-read"):
        member = {"query-state": "state_b64"}.get(verb, "data_b64")
        return base64.b64decode(result[member]) if member in result else None
    if verb == "fs-list":
        return sorted((entry["name"], entry["type"], entry["size"]) for entry in result["entries"])
    if verb == "invoke":
        return told_of(result)
    if verb == "metrics":
        return names_of_metrics(result["text"])
    if verb == "status":  # figures differ from one moment to the next
        return sorted(name for name in result if name != "meta")
    if verb == "manifest-read":
        return result["manifest"]
    if verb == "journal-head":
        return {name: value for name, value in result.items() if name not in ("meta", "journal_height")}
    return {name: value for name, value in result.items() if name not in ("meta", "path")}


def names_of_metrics(text):
    return sorted({line.split()[0].split("{")[0] for line in text.splitlines() if line and line[0] != "#"})


def key_of(payload):
    """The value as a text; None if it cannot be one."""
    try:
        return base64.b64decode(payload["key_b64"], validate=True).decode()
    except (ValueError, KeyError, TypeError):
        return None


def told_of(result):
    """The text that a model gets for an action that has only a text."""
    data = result["data"]
    if result["action_type"] == "invoke_artifact":
        data = data["result"]
    return result["message"] if data is None else data


def value_of_tool(tool, document):
    """The shape of the result of a function for models."""
    if tool == "fs_read_reducer":
        return (json.dumps(document["state"], separators=(",", ":")) + "\n").encode() if document["found"] else None
    if tool == "fs_read":
        return document["text"].encode() if "text" in document else base64.b64decode(document["data_b64"])
    if tool == "fs_ls":
        return sorted((os.path.basename(entry["path"]), entry["type"], entry["size"]) for entry in document["entries"])
    if tool == "invoke":
        return told_of(document)
    if tool == "fs_read_manifest":
        return document["manifest"]
    return {name: value for name, value in document.items() if name not in ("meta", "path")}


def outcome(verb, answer, member=None):
    """Of an envelope of the socket, a document of a command, or a control file. @member: the one with the result; None:
    all"""
    error = answer.get("error")
    if isinstance(error, str):
        return {"error": {"of chat": error}, "meta": answer.get("meta")}
    if error:
        of_chat = {"of chat": error["details"]["error"]} if verb == "chat" and "details" in error else {}
        told = {name: value for name, value in error.items() if name != "details" or verb not in ("step", "chat", "plan-resume")}
        return {"error": told | of_chat, "meta": answer.get("meta")}
    result = answer[member] if member else answer
    return {"value": value_of(verb, result), "meta": answer.get("meta") or result.get("meta")}


# --- forms of requests ---

def as_it_is(verb, payload):
    return verb, payload


def as_words(verb, payload):
    """A command. Words cannot express everything that JSON can; such requests are not sent as commands."""
    left = dict(payload)

    def take(name):
        return left.pop(name)

    def option(word, name):
        return [word, str(take(name))] if name in left else []

    def exact():
        kind, _, height = left.pop("consistency", "").partition(":")
        return [] if not kind else [{"exact": "--exact-height", "at_least": "--at-least-height"}[kind], height]

    def params():  # a text may look like a number
        named = left.pop("params", {})
        if any(not isinstance(value, str) and name not in ("limit", "offset") for name, value in named.items()):
            raise KeyError
        return [f"{name}={value}" for name, value in named.items()]
    words = {
        "query-state": lambda: ["state", take("reducer"), "--key-b64", take("key_b64"), *exact()],
        "manifest-read": lambda: ["manifest", *exact()], "list-cells": lambda: ["cells", take("reducer"), *exact()],
        "journal-head": lambda: ["head"], "fs-read": lambda: ["fs", "cat", take("path"), *option("--at", "at")],
        "fs-stat": lambda: ["fs", "stat", take("path"), *option("--at", "at")],
        "fs-list": lambda: ["fs", "ls", take("path"), *option("--at", "at")],
        "query": lambda: ["query", take("query_type"), *params()],
        "invoke": lambda: ["invoke", json.dumps(take("action"))],
        "blob-get": lambda: ["blob", "get", take("hash_hex")], "blob-stat": lambda: ["blob", "stat", take("hash_hex")],
        "journal-read": lambda: ["journal", "--from", str(take("from")), *option("--turn", "turn")],
        "plan-status": lambda: ["plan", "show", take("plan_id")], "plan-cancel": lambda: ["plan", "cancel", take("plan_id")],
        "plan-resume": lambda: ["plan", "resume", take("plan_id")], "cancel": lambda: ["cancel", take("turn_id")],
        "approve": lambda: ["approve", take("turn_id"), take("call_id"), take("decision")],
        "revoke": lambda: ["revoke", take("name")], "grant": lambda: ["grant", take("to"), take("cap")],
        "principal": lambda: ["principal", "add", take("id")], "snapshot": lambda: ["snapshot"],
        "gc": lambda: ["gc", *option("--keep-heights", "keep_heights")], "status": lambda: ["status"],
        "send-event": lambda: ["event", take("schema"), json.dumps(take("value"))],
        "step": lambda: ["step", take("agent")], "chat": lambda: ["chat", take("message")],
    }.get(verb)
    try:
        said = words() if words else None
    except (KeyError, AttributeError):
        return None
    return said if said and not left and all(isinstance(word, str) and "\0" not in word for word in said) else None


def as_function(verb, payload):
    """A function for models, and its arguments."""
    if verb == "query-state":
        names = {"reducer": "name", "key_b64": "key"}
        arguments = {names.get(name, name): value for name, value in payload.items()}
        arguments["key"] = key_of(payload)
        return ("fs_read_reducer", arguments) if isinstance(payload.get("reducer"), str) and arguments["key"] else None
    tool = {"manifest-read": "fs_read_manifest", "fs-list": "fs_ls", "fs-stat": "fs_stat", "fs-read": "fs_read",
            "query": "query", "invoke": "invoke"}.get(verb)
    if not tool or "at" in payload or (tool == "fs_ls" and "limit" in payload):
        return None
    return tool, payload


def as_driving(verb, payload):
    """Functions that have other agents take turns."""
    return (verb, payload) if verb in ("step", "chat") else None


def as_resource(verb, payload):
    """The address of a file."""
    plain = verb == "fs-read" and set(payload) == {"path"} and isinstance(payload["path"], str)
    return f"worldfs:///{payload['path']}" if plain else None


def as_action(verb, payload):
    """A tool that is an action."""
    if verb == "query":
        return "query_kernel", payload
    action = payload.get("action") if verb == "invoke" else None
    if not isinstance(action, dict) or not isinstance(action.get("action_type"), str) or action["action_type"] == "dance":
        return None
    return action["action_type"], {name: value for name, value in action.items() if name != "action_type"}


def as_artifact(verb, payload):
    """A tool that the world defines, by its name."""
    action = payload.get("action")
    known = verb == "invoke" and isinstance(action, dict) and action.get("action_type") == "invoke_artifact"
    return ("tool", {"args": action["args"]}) if known and action["artifact_id"] == "tool" and "args" in action else None


def as_question(verb, payload):
    """An effect that a plan or a reducer asks for."""
    return (INTROSPECTS[verb], payload) if verb in INTROSPECTS else None


def as_question_of_plan(verb, payload):
    return ("blob.get", payload) if verb == "blob-get" else as_question(verb, payload)


def as_kernel_state(verb, payload):
    """A function of code: (table, name, first argument, second argument)."""
    if verb != "query" or not isinstance(payload.get("query_type"), str) or not set(payload) <= {"query_type", "params"}:
        return None
    return "kernel_state", "query", payload["query_type"], payload.get("params")


def as_kernel_action(verb, payload):
    action = as_action(verb, payload)
    return ("kernel_actions", *action, None) if action else None


def as_control_line(verb, payload):
    """(control file, what is written to it)"""
    if verb in ("status", "metrics"):
        return verb, None
    if verb == "invoke":
        return ("invoke", payload["action"]) if "action" in payload else None
    names = {"query", "step", "chat", "cancel", "approve", "grant", "revoke", "principal", "snapshot", "gc", "code", "apply"}
    if verb == "send-event":
        return "event", payload
    return (verb, payload) if verb in names else None


def as_path(verb, payload):
    """The file of a mount that has the answer: (function, path)."""
    at = payload.get("at") or ""
    if verb in ("fs-read", "fs-stat", "fs-list") and isinstance(payload.get("path"), str):
        before = f"at/{at.removeprefix('exact:')}/" if at else ""
        path = before + payload["path"].lstrip("/")
        plain = set(payload) <= {"path", "at"} and len(path) < HOST_PATH_MAX and "\0" not in path
        ours = not path.startswith(("../", "ctl"))  # the host's figures, and the link to the control files
        return (verb, path or ".") if plain and ours else None
    if verb == "query-state" and set(payload) == {"reducer", "key_b64"} and key_of(payload) is not None:
        return "fs-read", f"reducers/{payload['reducer']}/{key_of(payload) or '_'}"
    if verb == "blob-get":
        return ("fs-read", f"blob/{payload['hash_hex']}") if len(payload["hash_hex"]) == 64 else None
    if verb == "query" and payload.get("query_type") == "artifact":
        artifact = payload.get("params", {}).get("artifact_id")
        return ("row", f"artifacts/{artifact}/meta.json") if isinstance(artifact, str) and "\0" not in artifact else None
    files = {"manifest-read": ("manifest", "manifest"), "journal-head": ("head", "journal/head")}
    return None if payload else files.get(verb)


# --- interfaces ---

class Way:
    lacks = {}

    def expected(self, answer):
        """The expected answer here if the socket gives this one."""
        return answer

    def ask(self, who, asked):
        return [self.one(who, *each) for each in asked]

    def close(self):
        pass


class Socket(Way):
    forms = (as_it_is,)

    def __init__(self, setting):
        self.socket = judged_doors.Socket(setting.world)

    def one(self, who, verb, payload, form):
        return outcome(verb, self.socket.call(who, verb, payload), "result")

    def close(self):
        self.socket.close()


class Command(Way):
    forms = (as_words,)

    def __init__(self, setting):
        self.command = judged_doors.CommandLine(setting.worldfs, setting.world)

    def one(self, who, verb, payload, words):
        status, printed = self.command.run(who, *words, "--json")
        if (status, printed) == (2, b""):
            return None  # words that are not a command
        document = json.loads(printed)
        absent = verb == "query-state" and "state_b64" not in document.get("data", {})
        if status != ("error" in document or absent):
            return {"value": f"exit status {status} of {printed}", "meta": None}
        return outcome(verb, document, "data")


class Functions(Way):
    """`worldfs mcp`"""

    forms = (as_function, as_driving)
    lacks = {"meta of errors": "arguments that do not fit are an error of the protocol: the world is not asked",
             "meta of actions": "likewise"}

    def __init__(self, setting):
        self.tools = judged_doors.Tools(setting.worldfs, setting.world)

    def one(self, who, verb, payload, form):
        tool, arguments = form
        answer = self.tools.answer(who, "tools/call", name=tool, arguments=arguments)
        if "error" in answer:  # errors of the protocol
            return {"error": answer["error"]["data"] | {"message": answer["error"]["message"].removeprefix(f"{tool}: ")}}
        document = answer["result"]["structuredContent"]
        found = outcome(verb, document) if document.get("error") else {"value": value_of_tool(tool, document)}
        return found | {"meta": meta_that_is_there(document)}

    def close(self):
        self.tools.close()


class Resources(Functions):
    """Files of `worldfs mcp`, which shows a directory as a file, too."""

    forms = (as_resource,)
    lacks = {}

    def one(self, who, verb, payload, uri):
        answer = self.tools.answer(who, "resources/read", uri=uri)
        if "error" in answer:
            data = answer["error"]["data"]
            parts = {name: data[name] for name in ("category", "code", "retriable")}
            return {"error": parts | {"message": answer["error"]["message"]}, "meta": meta_that_is_there(data)}
        content = answer["result"]["contents"][0]
        if content["mimeType"] == "inode/directory":
            return None
        value = content["text"].encode() if "text" in content else base64.b64decode(content["blob"])
        return {"value": value, "meta": answer["result"]["_meta"]["worldfs/meta"]}


class ControlFiles(Way):
    """The descriptor has the answer, whether the write fails or not."""

    forms = (as_control_line,)
    lacks = {"meta": "metrics are text"}

    def expected(self, answer):
        """A chat has an answer of its own form, even when it fails."""
        if "of chat" in answer.get("error", {}):
            return answer | {"error": {"of chat": answer["error"]["of chat"]}}
        return answer

    def __init__(self, setting):
        self.points = setting.points

    def one(self, who, verb, payload, form):
        name, line = form
        path = os.path.join(self.points[who], "ctl", name)
        file = os.open(path, os.O_RDONLY if line is None else os.O_RDWR)
        data = b""
        try:
            if line is not None:
                os.write(file, json.dumps(line).encode() + b"\n")
        except OSError:
            pass
        while part := os.read(file, 1 << 20):
            data += part
        os.close(file)
        if verb == "metrics":
            return {"value": names_of_metrics(data.decode())}
        return outcome(verb, json.loads(data))


class Mount(Way):
    """The files themselves: a refusal is only an errno."""

    forms = (as_path,)
    lacks = {"meta": "files have none", "meta of actions": "likewise", "meta of errors": "a system call gives errno alone",
             "message": "a system call gives errno alone", "category": "likewise", "retriable": "likewise"}

    def __init__(self, setting):
        self.points = setting.points

    def expected(self, answer):
        if "error" not in answer:
            return answer if answer["value"] is not None else {"error": {"code": "ENOENT"}}
        code, message = answer["error"]["code"], answer["error"]["message"]
        codes = {"is a directory": "EISDIR", "not a directory": "ENOTDIR", "255 bytes": "ENAMETOOLONG"}
        return {"error": {"code": next((name for text, name in codes.items() if text in message), {
            "not_authorized": "EACCES", "not_found": "ENOENT", "reducer_missing": "ENOENT"}.get(code, code))}}

    def one(self, who, verb, payload, form):
        function, path = form
        point = self.points[who]
        try:
            return {"value": getattr(self, function.replace("-", "_"))(os.path.join(point, path))}
        except OSError as error:
            return {"error": {"code": errno.errorcode[error.errno]}}

    def fs_read(self, path):
        with open(path, "rb") as file:
            return file.read()

    def fs_list(self, path):
        kinds = {stat.S_IFDIR: "directory", stat.S_IFLNK: "symlink", stat.S_IFREG: "file"}
        found = []
        for name in set(os.listdir(path)) - {"ctl"}:
            info = os.lstat(os.path.join(path, name))
            found.append((name, kinds[stat.S_IFMT(info.st_mode)], info.st_size))
        return sorted(found)

    def fs_stat(self, path):
        info = os.stat(path)
        kinds = {stat.S_IFDIR: "directory", stat.S_IFLNK: "symlink", stat.S_IFREG: "file"}
        return {"mode": stat.S_IMODE(info.st_mode), "mtime_ns": info.st_mtime_ns, "size": info.st_size,
                "type": kinds[stat.S_IFMT(info.st_mode)],
                "xattrs": {name: os.getxattr(path, name).decode() for name in os.listxattr(path)}}

    def row(self, path):
        return {"query_type": "artifact", "result": json.loads(self.fs_read(path)), "success": True}

    def manifest(self, path):
        return json.loads(self.fs_read(path))

    def head(self, path):
        return value_of("journal-head", json.loads(self.fs_read(path)))


class Turn(Way):
    """Tools of an agent, in one turn. Of a failure, the journal has code and meta."""

    forms = (as_function, as_driving, as_action, as_artifact)
    lacks = {"category": "receipts have a code", "retriable": "likewise", "details": "likewise",
             "meta of errors": "the world is not asked with arguments that do not fit",
             "meta of actions": "a model is told what an action gave, and no more",
             "of chat": "a model is told the message of a failure"}

    def __init__(self, setting):
        self.setting = setting

    def ask(self, who, asked):
        calls = [{"id": f"c{i}", "name": form[0], "arguments": json.dumps(form[1])} for i, (_, _, form) in enumerate(asked)]
        self.setting.script(who, [{"turn": 1, "tool_calls": calls}, {"turn": 2, "content": "done"}])
        result = self.setting.socket.call(who, "step", {"agent": who, "message": "Go."})["result"]
        self.setting.turns[who] = result["run_id"]
        told = [message["content"] for message in result["history"] if message["role"] == "tool"]
        failures = self.failures(result["run_id"])
        if not len(asked) == len(told) == len(failures):
            raise ValueError(f"{len(asked)} calls, {len(told)} results, {len(failures)} answers in the journal")
        return [self.of_text(verb, form[0], text, failure) for (verb, _, form), text, failure in zip(asked, told, failures)]

    def failures(self, run):
        """The answer to each call in order, as the journal has it; empty: it did not fail."""
        failures, payload = [], {"from": 0, "turn": run}
        while "from" in payload:
            page = self.setting.socket.must("journal-read", **payload)
            for record in page["records"]:
                body = record["body"]
                if record["kind"] == "receipt" and body["adapter_id"] == "agents.tool":
                    failures.append(body["payload"] if "code" in body["payload"] else {})
                elif record["kind"] == "action" and "intent_id" in body:
                    failures.append({"code": body["result"]["error_code"]} if "error_code" in body["result"] else {})
            payload = {"from": page["next_from"], "turn": run} if "next_from" in page else {}
        return failures

    def of_text(self, verb, tool, text, failure):
        if failure:
            unfit = failure["code"] in ("missing_argument", "invalid_argument") or verb in ("query", "invoke")
            return {"error": {"code": failure["code"], "message": text.removeprefix("Tool execution failed: ")},
                    "meta": failure.get("meta") if unfit else meta_that_is_there(failure)}
        if verb in ("query", "invoke"):
            try:
                return {"value": json.loads(text)}
            except ValueError:
                return {"value": text}
        document = json.loads(text)
        return {"value": value_of_tool(tool, document), "meta": meta_that_is_there(document)}


class Plan(Way):
    """Steps of one plan."""

    forms = (as_function, as_action, as_artifact, as_question_of_plan)
    lacks = {"category": "the result of a step has a type and a message", "retriable": "likewise", "details": "likewise",
             "meta of errors": "the world is not asked with arguments that do not fit",
             "meta of actions": "a step's result is what an action gave, and no more",
             "value": "the result is null where an action gave nothing, which other ways tell in words"}

    def __init__(self, setting):
        self.setting = setting

    def ask(self, who, asked):
        steps = [{"id": f"s{i}", "type": "tool", "tool": {"name": form[0], "args": form[1]}}
                 for i, (_, _, form) in enumerate(asked)]
        self.setting.script("default", [{"match": "PLAN_STATUS", "content": "done"},
                                        {"match": "Go.", "content": json.dumps({"steps": steps})}])
        answer = self.setting.socket.call(who, "chat", {"message": "Go."})
        document = answer["result"] if answer["ok"] else answer["error"]["details"]
        self.setting.plans[who] = document["checkpoint"]["plan_id"]
        results = {result["_step_id"]: result for result in document["tool_results"]}
        return [self.of_result(verb, form[0], results[f"s{i}"]) for i, (verb, _, form) in enumerate(asked)]

    def of_result(self, verb, tool, result):
        details, given = result["details"], result["result"]
        if not result["ok"]:
            unfit = result["error"] == "INVALID_TOOL_CALL" or verb in ("query", "invoke")
            return {"error": {"code": details["type"], "message": details["message"]},
                    "meta": details.get("meta") if unfit else meta_that_is_there(details)}
        if verb in ("query", "invoke"):
            return {} if given is None else {"value": given}
        value = value_of_tool(tool, given) if tool.startswith("fs_") else value_of(verb, given)
        return {"value": value, "meta": meta_that_is_there(given)}


class Code(Way):
    """Functions of the code of an artifact, in one invocation; the principal is its author."""

    forms = (as_kernel_state, as_kernel_action)
    lacks = {"meta of actions": "code computes from its record alone", "code": "kernel_state raises messages",
             "category": "likewise", "retriable": "likewise"}

    def __init__(self, setting):
        self.setting = setting

    def ask(self, who, asked):
        args = [dict(zip(("table", "name", "first", "second"), form)) for _, _, form in asked]
        args = [{name: value for name, value in call.items() if value is not None} for call in args]
        answer = self.setting.socket.call(who, "invoke", {"action": {"artifact_id": f"{who}_asks", "args": args}})
        return [self.of_call(who, form, given) for (_, _, form), given in zip(asked, answer["result"]["data"]["result"])]

    def of_call(self, who, form, given):
        """Code acts in the name of its artifact. Nothing of the operator belongs to that artifact; bob's code and
        artifact get equal refusals."""
        answer = given["answer"]
        if who == "operator" and "'operator_asks' may not" in str(answer):
            return None
        if not given["done"]:
            return {"error": {"message": answer.removeprefix("kernel_state.query: ")}}
        if form[0] == "kernel_state":
            return {"value": answer}
        if not answer["ok"]:
            return {"error": answer["error"] | {"message": answer["error"]["message"].replace(f"'{who}_asks'", f"'{who}'")}}
        return {"value": told_of({"data": None} | answer)}


class Reducer(Way):
    """Effects that a reducer asks for while one event is folded: they see the world before the event."""

    forms = (as_question,)
    lacks = {"category": "a receipt has code and message", "retriable": "likewise"}

    def __init__(self, setting):
        self.setting = setting
        self.asked = 0

    def ask(self, who, asked):
        self.asked += 1
        key = f"{who}{self.asked}"
        effects = [{"effect": form[0], "params": form[1]} for _, _, form in asked]
        self.setting.socket.call(who, "send-event", {"schema": "test/Ask@1", "value": {"key": key, "effects": effects}})
        state = self.setting.socket.must("query-state", reducer="asker", key_b64=base64.b64encode(key.encode()).decode())
        answers = json.loads(base64.b64decode(state["state_b64"]))["answers"]
        return [self.of_receipt(verb, answer["status"], answer["payload"])
                for (verb, _, _), answer in zip(asked, answers)]

    def of_receipt(self, verb, status, payload):
        if status == "error":
            return {"error": {"code": payload["code"], "message": payload["message"]}, "meta": meta_that_is_there(payload)}
        return {"value": value_of(verb, payload), "meta": meta_that_is_there(payload)}


# Name: kind, and every how many requests the operator and bob ask there. Interfaces that need a process or a record for
# each are asked less.
ALL = (0, 1), (0, 1)
WITH_OWNER = {"command": (Command, (0, 10), (2, 10)), "tools of mcp": (Functions, *ALL), "resources": (Resources, *ALL),
              "control file": (ControlFiles, *ALL),
              "mount": (Mount, *ALL), "turn": (Turn, (0, 2), (1, 2)), "plan": (Plan, *ALL), "code": (Code, *ALL),
              "reducer": (Reducer, *ALL)}
OF_OWNER = ("status", "metrics")  # these describe the process
WITHOUT_OWNER = {"command without an owner": (Command, (5, 10), (7, 10)),
                 "tools of mcp without an owner": (Functions, (0, 6), (3, 6))}
