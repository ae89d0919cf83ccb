# SPDX-License-Identifier: Apache-2.0
"""The interfaces of a world for test-judged: mount, control socket, command line, and tools for models.

Each answers a question as judged_model.py does: a tuple with the answer, or with the reason of a
refusal. An interface that lacks a kind of question does not have it in `kinds`.
"""
import base64
import errno
import json
import os
import socket
import stat
import subprocess

from judged_model import file_name

REFUSALS = ("not_authorized", "expired", "policy_denied")


def failure(error):
    """The tuple for an error of a verb."""
    code = error["code"]
    if code in REFUSALS:
        return "refused", code
    if code == "invalid_argument" and "not a directory" in error["message"]:
        return ("not_directory",)
    if code == "invalid_argument" and "is a directory" in error["message"]:
        return ("is_directory",)
    return ({"not_found": "missing", "height_unavailable": "unavailable"}.get(code, code),)


def hash_of(document):
    """The result, from the extended attributes of fs-stat."""
    value = document["xattrs"].get("user.worldfs.state_hash")
    return ("none",) if value is None else ("hash", value.removeprefix("sha256:"))


def cells_of(cells):
    names = [file_name(base64.b64decode(cell["key_b64"]).decode()) for cell in cells]
    if len(set(names)) < len(names):
        return "cells twice", sorted(names)
    return "cells", frozenset((name, cell["state_hash"].removeprefix("sha256:"))
                              for name, cell in zip(names, cells))


def stat_of(document):
    if document["type"] == "file":
        return "file", document["size"]
    return (document["type"],)


def seqs_of(records):
    return "seqs", tuple(record["seq"] for record in records)


class Mount:
    """One mount for each principal."""

    kinds = ("stat", "names", "read", "hash")

    def __init__(self, worldfs, world, tree, principals):
        self.tree = tree
        self.points = {who: os.path.join(tree, f"mount{i}") for i, who in enumerate(principals)}
        for who, point in self.points.items():
            os.makedirs(point, exist_ok=True)
            subprocess.run([worldfs, "-w", world, "--as", who, "mount", point], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def ask(self, question):
        path = "/".join([self.points[question.who], *question.path])
        try:
            return getattr(self, question.kind)(path)
        except OSError as error:
            return {errno.ENOENT: ("missing",), errno.EACCES: ("refused",), errno.ENOTDIR: ("not_directory",),
                    errno.EISDIR: ("is_directory",)}.get(error.errno, (os.strerror(error.errno),))

    def stat(self, path):
        info = os.lstat(path)
        if os.path.basename(path) == "ctl":
            return ("control",)
        if stat.S_ISLNK(info.st_mode):
            return "symlink", os.readlink(path)
        return ("directory",) if stat.S_ISDIR(info.st_mode) else ("file", info.st_size)

    def names(self, path):
        return "names", frozenset(os.listdir(path))

    def read(self, path):
        with open(path, "rb") as file:
            return "bytes", file.read()

    def hash(self, path):
        if "user.worldfs.state_hash" not in os.listxattr(path):
            return ("none",)
        return "hash", os.getxattr(path, "user.worldfs.state_hash").decode().removeprefix("sha256:")

    def close(self, worldfs):
        """Unmounts the operator's mount last: a principal that may see the end of the owner hears
        of it."""
        for point in reversed(self.points.values()):
            subprocess.run([worldfs, "umount", point], check=True)


def consistency(question, **more):
    return more | ({} if question.at is None else {"consistency": question.at})


class Socket:
    """The control socket; the operator acts in the names of others."""

    kinds = ("stat", "names", "read", "hash", "state", "cells", "manifest", "head", "journal", "blob")

    def __init__(self, world):
        self.client = socket.socket(socket.AF_UNIX)
        self.client.connect(os.path.join(world, "control.sock"))
        self.lines = self.client.makefile("rb")

    def call(self, who, verb, payload):
        """The envelope of the answer."""
        request = {"v": 1, "id": "1", "as": who, "cmd": verb, "payload": payload}
        self.client.sendall(json.dumps(request).encode() + b"\n")
        return json.loads(self.lines.readline())

    def must(self, verb, **payload):
        """Sends a request of the operator, which must succeed. Return: its result."""
        answer = self.call("operator", verb, payload)
        if not answer["ok"]:
            raise RuntimeError(f"{verb} {payload}: {answer['error']}")
        return answer["result"]

    def read(self, path, at):
        """The contents of a file, as the operator sees it."""
        data, eof = b"", False
        while not eof:
            part = self.must("fs-read", path=path, at=at, offset=len(data))
            data, eof = data + base64.b64decode(part["data_b64"]), part["eof"]
        return data

    def ask(self, question):
        verb, payload, result_of = getattr(self, "ask_" + question.kind)(question)
        member = {"fs-list": "entries", "list-cells": "cells", "journal-read": "records"}.get(verb)
        everything = []
        while True:
            answer = self.call(question.who, verb, payload)
            if not answer["ok"]:
                return failure(answer["error"])
            result = answer["result"]
            everything += result.get(member, [])
            more = {"cursor": result.get("next_cursor"), "from": result.get("next_from")}
            more = {name: value for name, value in more.items() if value is not None}
            if not more:
                return result_of(everything if member else result)
            payload = payload | more

    def path_of(self, question, **more):
        at = {} if question.at is None else {"at": question.at}
        return {"path": "/".join(question.path)} | at | more

    def page(self, question):
        return {"limit": question.limit} if question.limit else {}

    def ask_stat(self, question):
        return "fs-stat", self.path_of(question), stat_of

    def ask_hash(self, question):
        return "fs-stat", self.path_of(question), hash_of

    def ask_names(self, question):
        return "fs-list", self.path_of(question) | self.page(question), \
            lambda entries: ("names", frozenset(entry["name"] for entry in entries))

    def ask_read(self, question):
        return "fs-read", self.path_of(question), lambda result: ("bytes", base64.b64decode(result["data_b64"]))

    def ask_state(self, question):
        payload = consistency(question, reducer=question.reducer,
                                   key_b64=base64.b64encode(question.key.encode()).decode())
        return "query-state", payload, lambda result: \
            ("bytes", base64.b64decode(result["state_b64"])) if "state_b64" in result else ("nothing",)

    def ask_cells(self, question):
        return "list-cells", consistency(question, reducer=question.reducer) | self.page(question), cells_of

    def ask_manifest(self, question):
        return "manifest-read", consistency(question), lambda result: ("document", result["manifest"])

    def ask_head(self, question):
        return "journal-head", {}, lambda result: ("height", result["journal_height"])

    def ask_journal(self, question):
        return "journal-read", {"from": question.first} | self.page(question), seqs_of

    def ask_blob(self, question):
        return "blob-get", {"hash_hex": question.hash}, \
            lambda result: ("bytes", base64.b64decode(result["data_b64"]))

    def close(self):
        self.lines.close()
        self.client.close()


class CommandLine:
    """The command line: a process for each question."""

    kinds = Socket.kinds

    def __init__(self, worldfs, world):
        self.command = [worldfs, "-w", world]

    def run(self, who, *arguments):
        """(exit status, standard output)"""
        done = subprocess.run([*self.command, "--as", who, *arguments], stdin=subprocess.DEVNULL,
                              capture_output=True)
        return done.returncode, done.stdout

    def ask(self, question):
        arguments, result_of = getattr(self, "ask_" + question.kind)(question)
        if result_of is None:  # the command prints the bytes themselves
            status, output = self.run(question.who, *arguments)
            if status == 0:
                return "bytes", output
        status, output = self.run(question.who, "--json", *arguments)
        document = json.loads(output)
        if "error" in document:
            answer = failure(document["error"])
            return answer if status == 1 else ("exit status", status, answer)
        if result_of is None:
            return "nothing printed", document
        answer = result_of(document["data"])
        if status != (answer == ("nothing",)):
            return "exit status", status, answer
        return answer

    def exact(self, question):
        if question.at is None or question.at == "head":
            return []
        kind, number = question.at.split(":")
        return [{"exact": "--exact-height", "at_least": "--at-least-height"}[kind], number]

    def path_of(self, question):
        at = [] if question.at is None else ["--at", question.at]
        return ["/".join(question.path) or "/"] + at

    def ask_stat(self, question):
        return ["fs", "stat", *self.path_of(question)], stat_of

    def ask_hash(self, question):
        return ["fs", "stat", *self.path_of(question)], hash_of

    def ask_names(self, question):
        return ["fs", "ls", *self.path_of(question)], \
            lambda data: ("names", frozenset(entry["name"] for entry in data["entries"]))

    def ask_read(self, question):
        return ["fs", "cat", *self.path_of(question)], None

    def ask_state(self, question):
        key = base64.b64encode(question.key.encode()).decode()
        return ["state", question.reducer, "--key-b64", key, *self.exact(question)], lambda data: \
            ("bytes", base64.b64decode(data["state_b64"])) if "state_b64" in data else ("nothing",)

    def ask_cells(self, question):
        return ["cells", question.reducer, *self.exact(question)], lambda data: cells_of(data["cells"])

    def ask_manifest(self, question):
        return ["manifest", *self.exact(question)], lambda data: ("document", data["manifest"])

    def ask_head(self, question):
        return ["head"], lambda data: ("height", data["journal_height"])

    def ask_journal(self, question):
        return ["journal", "--from", str(question.first)], lambda data: seqs_of(data["records"])

    def ask_blob(self, question):
        return ["blob", "get", question.hash], None

    def close(self):
        pass


class Tools:
    """`worldfs mcp`, with a process for each principal: what models get."""

    kinds = ("stat", "names", "read", "hash", "state", "manifest")

    def __init__(self, worldfs, world):
        self.command = [worldfs, "-w", world]
        self.servers = {}
        self.last_id = 0

    def server(self, who):
        if who not in self.servers:
            self.servers[who] = subprocess.Popen([*self.command, "--as", who, "mcp"], stdin=subprocess.PIPE,
                                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.request(who, "initialize", protocolVersion="2025-06-18", capabilities={},
                         clientInfo={"name": "judged", "version": "1"})
        return self.servers[who]

    def request(self, who, method, **params):
        return self.answer(who, method, **params)["result"]

    def answer(self, who, method, **params):
        server = self.server(who)
        self.last_id += 1
        message = {"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}
        server.stdin.write(json.dumps(message).encode() + b"\n")
        server.stdin.flush()
        return json.loads(server.stdout.readline())

    def call(self, who, tool, **arguments):
        return self.request(who, "tools/call", name=tool, arguments=arguments)["structuredContent"]

    def ask(self, question):
        tool, arguments, result_of = getattr(self, "ask_" + question.kind)(question)
        result = self.call(question.who, tool, **arguments)
        if "error" in result:
            return failure(result["error"])
        return result_of(result)

    def path_of(self, question):
        """The path contains the height."""
        return {"path": "/".join(question.path) or "/"}

    def ask_stat(self, question):
        return "fs_stat", self.path_of(question), stat_of

    def ask_hash(self, question):
        return "fs_stat", self.path_of(question), hash_of

    def ask_names(self, question):
        return "fs_ls", self.path_of(question), \
            lambda result: ("names", frozenset(os.path.basename(entry["path"]) for entry in result["entries"]))

    def ask_read(self, question):
        return "fs_read", self.path_of(question), lambda result: self.rest(question, result)

    def rest(self, question, part):
        data = b""
        while "error" not in part:
            data += part["text"].encode() if "text" in part else base64.b64decode(part["data_b64"])
            if part["eof"]:
                return "bytes", data
            part = self.call(question.who, "fs_read", offset=part["next_offset"], **self.path_of(question))
        return failure(part["error"])

    def ask_state(self, question):
        return "fs_read_reducer", consistency(question, name=question.reducer, key=question.key), lambda result: \
            ("state", result["state"]) if result["found"] else ("nothing",)

    def ask_manifest(self, question):
        return "fs_read_manifest", consistency(question), lambda result: ("document", result["manifest"])

    def close(self):
        for server in self.servers.values():
            server.stdin.close()
            server.wait()
