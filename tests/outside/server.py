#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server of the Model Context Protocol that makes every mistake a client must survive.

    server.py [--fault NAME] [--log FILE]           one client, over standard input and output
    server.py --http [--fault NAME] [--log FILE]    Streamable HTTP at /mcp of 127.0.0.1; prints its port,
                                                    and ends when its standard input does

Most mistakes are tools: a client calls the tool whose name is that of the mistake. The mistakes before
a client can call anything are faults; --fault takes several, separated by commas. Every message that
comes in is a line of the log, {"pid", "message", "headers" (HTTP)}.
"""

import argparse
import base64
import http.server
import json
import os
import queue
import resource
import signal
import socket
import socketserver
import sys
import threading
import time

MIB = 1 << 20
TYPED = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"n": {"type": "integer"}},
         "required": ["n"]}
TOOLS = """echo env descriptors sleep hang die partial slow_bytes huge_line endless_line huge_text image big_image audio link
    resource structured typed big_structured invalid_utf8 invalid_json duplicate_members wrong_id wrong_id_only twice
    flood progress progress_on wrong_progress notify both is_error rpc_error sampling elicitation roots ping pings fork change list_flood close_output
    stderr stderr_flood batch big_integer deep many_parts bad_base64 no_content unknown_part secret memory forks look connect
    drop plain redirect status_500 status_401 expire sse_pieces no_answer wrong_type empty_answer never_ends headers_flood""".split()


class Server:
    """What is the same in both transports. `out` has send(message), raw(bytes), and lines(bytes) for messages."""

    def __init__(self, options):
        self.faults = set(options.fault.split(",")) if options.fault else set()
        self.log_path = options.log
        self.lock = threading.Lock()
        self.changes = 0
        self.asked = {}  # id of our request: queue of its answer
        self.cancelled = []

    def log(self, message, **more):
        if self.log_path:
            with self.lock, open(self.log_path, "a", encoding="utf-8") as file:
                file.write(json.dumps({"pid": os.getpid(), "message": message, **more}) + "\n")

    # --- lists ---

    def tools(self, cursor):
        if "many_tools" in self.faults:
            return {"tools": [self.tool(f"tool{i}") for i in range(1030)]}
        if "endless_pages" in self.faults:
            return {"tools": [], "nextCursor": "again"}
        if "large_list" in self.faults:
            number = int(cursor or 0)
            return {"tools": [{**self.tool(f"tool{number}"), "description": "x" * (14 * MIB)}], "nextCursor": str(number + 1)}
        if "one_tool" in self.faults:
            return {"tools": [{**self.tool("image"), "outputSchema": TYPED}]}
        if "long_cursor" in self.faults:
            return {"tools": [], "nextCursor": "x" * 5000}
        if "no_list" in self.faults:
            return {"tools": "none"}
        if "bad_tools" in self.faults:
            return {"tools": [
                {**self.tool("good"), "annotations": {"readOnlyHint": True, "destructiveHint": "no", "other": 1}},
                self.tool("sl/ash"), self.tool("é"), self.tool(""), self.tool("x" * 129), self.tool("good"), 5,
                {"name": "no_schema"}, {**self.tool("text_schema"), "inputSchema": "any"},
                {**self.tool("text_output"), "outputSchema": "any"},
                {**self.tool("large_output"), "outputSchema": {"type": "object", "description": "x" * 70000}},
                {**self.tool("large_schema"), "inputSchema": {"type": "object", "description": "x" * 70000}},
                {**self.tool("number_description"), "description": 5},
                {**self.tool("long"), "description": "é" * 4096},
                {**self.tool("escape"), "description": "\x1b[31mred\x00\u202e"}]}
        half = len(TOOLS) // 2
        names = TOOLS[half:] if cursor == "half" else TOOLS[:half]
        return {"tools": [self.tool(name) for name in names], **({} if cursor == "half" else {"nextCursor": "half"})}

    def tool(self, name):
        more = {"outputSchema": {"type": "nothing"} if "bad_output_schema" in self.faults else TYPED} if name == "typed" else {}
        return {**more, "name": name, "description": f"The mistake {name}." + "!" * self.changes,
                "inputSchema": {"type": "object"}, "annotations": {"idempotentHint": name == "echo"}}

    # --- messages ---

    def ask(self, out, method, params):
        answer = queue.Queue()
        number = f"server-{len(self.asked)}"
        self.asked[number] = answer
        out.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return answer.get(timeout=10)

    def handle(self, message, out, headers=None):
        self.log(message, **({"headers": headers} if headers else {}))
        method, number = message.get("method"), message.get("id")
        if not method:
            if number in self.asked:
                self.asked[number].put(message)
        elif method == "initialize":
            self.initialize(message, out)
        elif method == "notifications/initialized":
            if "changes_nothing" in self.faults:
                out.send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        elif method == "tools/list":
            if "list_hangs" in self.faults:
                return
            if "list_error" in self.faults:
                out.send({"jsonrpc": "2.0", "id": number, "error": {"code": -32603, "message": "no list today"}})
            else:
                out.send({"jsonrpc": "2.0", "id": number, "result": self.tools(message["params"].get("cursor"))})
        elif method == "ping":
            if "no_ping" not in self.faults:
                out.send({"jsonrpc": "2.0", "id": number, "result": {}})
        elif method == "tools/call":
            self.call(message, out, headers)

    def initialize(self, message, out):
        number = message["id"]
        if "initialize_hangs" in self.faults:
            return
        if "exits" in self.faults:
            os._exit(3)
        if "initialize_error" in self.faults:
            out.send({"jsonrpc": "2.0", "id": number, "error": {"code": -32602, "message": "go\naway"}})
            return
        if "initialize_invalid" in self.faults:
            out.send({"jsonrpc": "2.0", "id": number})
            return
        if "junk" in self.faults:
            out.lines(b"Starting...\n\n   \nnot JSON {\n[1,\n\xff\xfe\n5\n\"text\"\n{}\n{\"jsonrpc\":\"1.0\"}\n")
        if "early_requests" in self.faults:
            out.send({"jsonrpc": "2.0", "id": "early", "method": "ping"})
        version = "2025-06-18"
        for fault in self.faults:
            if fault.startswith("version_"):
                version = fault[len("version_"):]
        out.send({"jsonrpc": "2.0", "id": number, "result": {
            "protocolVersion": version, "serverInfo": {"name": "mistakes", "version": "1"},
            "capabilities": {} if "no_tools" in self.faults else {"tools": {"listChanged": True}}}})

    # --- tools ---

    def call(self, message, out, headers):
        name, arguments, number = message["params"]["name"], message["params"]["arguments"], message["id"]
        run = getattr(self, "tool_" + name, None)

        def answer(result=None, **more):
            if isinstance(result, str):
                result = {"content": [{"type": "text", "text": result}]}
            out.send({"jsonrpc": "2.0", "id": number, "result": result, **more})
        if run is None:
            out.send({"jsonrpc": "2.0", "id": number, "error": {"code": -32602, "message": f"Unknown tool: {name}"}})
            return
        self.headers = headers
        self.token = message["params"].get("_meta", {}).get("progressToken")
        run(arguments, answer, out, number)

    def tool_echo(self, arguments, answer, out, number):
        answer(arguments.get("text", ""))

    def tool_env(self, arguments, answer, out, number):
        answer(json.dumps(dict(os.environ), sort_keys=True))

    def tool_descriptors(self, arguments, answer, out, number):
        entries = {int(name) for name in os.listdir("/proc/self/fd")}
        entries = {fd for fd in entries if os.path.exists(f"/proc/self/fd/{fd}")}
        with open("/proc/self/status", encoding="utf-8") as file:
            status = dict(line.rstrip("\n").split(":", 1) for line in file)
        answer(json.dumps({
            "open": sorted(entries), "directory": os.getcwd(), "session": os.getsid(0) == os.getpid(),
            "group": os.getpgid(0) == os.getpid(), "core": resource.getrlimit(resource.RLIMIT_CORE),
            "files": resource.getrlimit(resource.RLIMIT_NOFILE)[1], "cpu": resource.getrlimit(resource.RLIMIT_CPU)[1],
            "blocked": status["SigBlk"].strip(), "ignored": status["SigIgn"].strip(), "new": status["NoNewPrivs"].strip(),
            "pid": os.getpid()}))

    def tool_sleep(self, arguments, answer, out, number):
        def later():
            time.sleep(arguments["ms"] / 1000)
            answer("slept")
        threading.Thread(target=later, daemon=True).start()
        if isinstance(out, HttpOut):
            out.wait()

    def tool_hang(self, arguments, answer, out, number):
        if isinstance(out, HttpOut):
            time.sleep(60)

    def tool_die(self, arguments, answer, out, number):
        if arguments.get("partly"):
            out.raw(b'{"jsonrpc":"2.0","id":%d,"res' % number)
        os._exit(7)

    def pieces(self, text, out, size, pause):
        for start in range(0, len(text), size):
            out.raw(text[start:start + size])
            time.sleep(pause)

    def rendered(self, number, text="in pieces"):
        return json.dumps({"jsonrpc": "2.0", "id": number, "result": {"content": [{"type": "text", "text": text}]}}).encode() + b"\n"

    def tool_partial(self, arguments, answer, out, number):
        self.pieces(self.rendered(number), out, 20, 0.02)

    def tool_slow_bytes(self, arguments, answer, out, number):
        self.pieces(self.rendered(number, "é" * 20), out, 1, 0.001)

    def tool_huge_line(self, arguments, answer, out, number):
        out.raw(b'{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"')
        for _ in range(18):
            out.raw(b"x" * MIB)
        out.raw(b'"}]},"id":%d}\n' % number)

    def tool_endless_line(self, arguments, answer, out, number):
        while True:
            out.raw(b"x" * MIB)

    def tool_huge_text(self, arguments, answer, out, number):
        answer("é" * arguments["characters"])

    def tool_image(self, arguments, answer, out, number):
        answer({**({"structuredContent": {"n": 1}} if "one_tool" in self.faults else {}),
                "content": [{"type": "text", "text": "a picture:"},
                            {"type": "image", "mimeType": "image/png", "data": base64.b64encode(b"\x89PNG\0\xff").decode()}]})

    def tool_big_image(self, arguments, answer, out, number):
        answer({"content": [{"type": "image", "mimeType": "image/png", "data": base64.b64encode(bytes(2 * MIB)).decode()}]})

    def tool_audio(self, arguments, answer, out, number):
        answer({"content": [{"type": "audio", "mimeType": "audio/wav", "data": base64.b64encode(b"RIFF").decode()}]})

    def tool_link(self, arguments, answer, out, number):
        answer({"content": [{"type": "resource_link", "uri": "file:///x", "name": "x", "size": 5}]})

    def tool_resource(self, arguments, answer, out, number):
        answer({"content": [{"type": "resource", "resource": {"uri": "file:///t", "text": "of a file"}},
                            {"type": "resource", "resource": {"uri": "file:///b", "blob": base64.b64encode(b"bytes").decode()}}]})

    def tool_structured(self, arguments, answer, out, number):
        answer({"content": [{"type": "text", "text": "{\"a\":1}"}], "structuredContent": {"a": 1}})

    def tool_typed(self, arguments, answer, out, number):
        answer({"content": [{"type": "text", "text": "typed"}], **arguments})

    def tool_big_structured(self, arguments, answer, out, number):
        answer({"content": [], "structuredContent": {"a": "x" * (2 * MIB)}})

    def tool_invalid_utf8(self, arguments, answer, out, number):
        out.raw(self.rendered(number, "MARK").replace(b"MARK", b"\xff\xc0\xaf\xed\xa0\x80"))

    def tool_invalid_json(self, arguments, answer, out, number):
        out.raw(self.rendered(number).replace(b"]", b""))

    def tool_duplicate_members(self, arguments, answer, out, number):
        out.raw(self.rendered(number).replace(b'"result"', b'"result":{},"result"'))

    def tool_wrong_id(self, arguments, answer, out, number):
        for wrong in [number + 100000, str(number), -1, 1.5, None, [number], {}, True, 1 << 62]:
            out.send({"jsonrpc": "2.0", "id": wrong, "result": {"content": [{"type": "text", "text": "wrong"}]}})
        answer("right")

    def tool_wrong_id_only(self, arguments, answer, out, number):
        out.send({"jsonrpc": "2.0", "id": number + 100000, "result": {"content": []}})

    def tool_twice(self, arguments, answer, out, number):
        answer("first")
        answer("second")

    def tool_flood(self, arguments, answer, out, number):
        note = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x" * 40}}).encode() + b"\n"
        for _ in range(100):
            out.lines(note * 1000)
        answer("after the flood")

    def tool_progress(self, arguments, answer, out, number):
        for step in range(3):
            out.send({"jsonrpc": "2.0", "method": "notifications/progress", "params": {
                "progressToken": self.token, "progress": step, "total": 3, "message": f"step\n{step}"}})
        answer("done")

    def tool_progress_on(self, arguments, answer, out, number):
        for step in range(100):
            out.send({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": self.token, "progress": step}})
            time.sleep(0.1)

    def tool_notify(self, arguments, answer, out, number):
        """Nothing of it may be answered, or end a call."""
        for method, params in [("notifications/unknown", {}), ("tools/list", {}), ("notifications/cancelled", {}),
                               ("notifications/cancelled", {"requestId": number}), ("notifications/cancelled", [])]:
            out.send({"jsonrpc": "2.0", "method": method, "params": params})
        answer("notified")

    def tool_both(self, arguments, answer, out, number):
        answer({"content": []}, error={"code": -32000, "message": "and an error"})

    def tool_wrong_progress(self, arguments, answer, out, number):
        for params in [{}, {"progressToken": 77777, "progress": 1}, {"progressToken": self.token}, [], 5,
                       {"progressToken": self.token, "progress": "much", "total": [], "message": 5}]:
            out.send({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        answer("done")

    def tool_is_error(self, arguments, answer, out, number):
        answer({"content": [{"type": "text", "text": "the disk is full"}], "isError": True})

    def tool_rpc_error(self, arguments, answer, out, number):
        out.send({"jsonrpc": "2.0", "id": number, "error": {"code": -32000, "message": "bad \x1b[31m\nday"}})

    def relay(self, method, params, answer, out):
        def later():
            reply = self.ask(out, method, params)
            answer(json.dumps(reply.get("error", reply.get("result"))))
        thread = threading.Thread(target=later, daemon=True)
        thread.start()
        if isinstance(out, HttpOut):
            thread.join()

    def tool_sampling(self, arguments, answer, out, number):
        self.relay("sampling/createMessage", {"messages": [], "maxTokens": 5}, answer, out)

    def tool_elicitation(self, arguments, answer, out, number):
        self.relay("elicitation/create", {"message": "your password?", "requestedSchema": {}}, answer, out)

    def tool_roots(self, arguments, answer, out, number):
        self.relay("roots/list", {}, answer, out)

    def tool_ping(self, arguments, answer, out, number):
        self.relay("ping", {}, answer, out)

    def tool_pings(self, arguments, answer, out, number):
        for i in range(1000):
            out.send({"jsonrpc": "2.0", "id": f"ping-{i}", "method": "ping"})
        answer("pinged")

    def tool_fork(self, arguments, answer, out, number):
        """Leaves a grandchild in a session of its own, which ignores signals and keeps our descriptors."""
        ends = os.pipe()
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                signal.signal(signal.SIGHUP, signal.SIG_IGN)
                os.write(ends[1], str(os.getpid()).encode())
                os.close(ends[0])
                time.sleep(300)
            os._exit(0)
        os.wait()
        answer(os.read(ends[0], 20).decode())

    def tool_change(self, arguments, answer, out, number):
        self.changes += 1
        out.send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        answer("changed")

    def tool_list_flood(self, arguments, answer, out, number):
        for _ in range(1000):
            out.send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        answer("flooded")

    def tool_close_output(self, arguments, answer, out, number):
        os.close(1)
        time.sleep(60)

    def tool_stderr(self, arguments, answer, out, number):
        sys.stderr.write("first line\nsecond \x1b[31mline\n")
        sys.stderr.flush()
        answer("written")

    def tool_stderr_flood(self, arguments, answer, out, number):
        for _ in range(100):
            sys.stderr.write(("x" * 5000 + "\n") * 20)
        sys.stderr.flush()
        answer("written")

    def tool_batch(self, arguments, answer, out, number):
        out.raw(json.dumps([{"jsonrpc": "2.0", "method": "notifications/message", "params": {}},
                            json.loads(self.rendered(number, "in a batch"))]).encode() + b"\n")

    def tool_big_integer(self, arguments, answer, out, number):
        out.raw(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[],"structuredContent":{"n":123456789012345678901234567890}}}\n' % number)

    def tool_deep(self, arguments, answer, out, number):
        out.raw(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[],"structuredContent":' % number + b'{"a":' * 100000 + b"1" + b"}" * 100000 + b"}}\n")

    def tool_many_parts(self, arguments, answer, out, number):
        answer({"content": [{"type": "text", "text": "x"}] * 1025})

    def tool_bad_base64(self, arguments, answer, out, number):
        answer({"content": [{"type": "image", "mimeType": "image/png", "data": "not base64"}]})

    def tool_no_content(self, arguments, answer, out, number):
        answer({})

    def tool_unknown_part(self, arguments, answer, out, number):
        answer({"content": [{"type": "hologram"}]})

    def tool_secret(self, arguments, answer, out, number):
        said = (self.headers or {}).get("Authorization", "")
        answer({"content": [{"type": "text", "text": f"you said {said}"},
                            {"type": "image", "mimeType": "text/plain", "data": base64.b64encode(f"<{said}>".encode()).decode()}],
                "structuredContent": {said: [said]}})

    def tool_look(self, arguments, answer, out, number):
        """What can be done with each path: "r" to read it, "w" to write to it."""
        answer("".join(mode if os.access(path, flag) else "-" for path in arguments["paths"]
                       for mode, flag in (("r", os.R_OK), ("w", os.W_OK))))

    def tool_connect(self, arguments, answer, out, number):
        try:
            socket.create_connection(("127.0.0.1", arguments["port"]), 2).close()
            answer("connected")
        except OSError:
            answer("refused")

    def tool_memory(self, arguments, answer, out, number):
        try:
            answer(f"got {len(bytearray(6 << 30))}")
        except MemoryError:
            answer("no memory")

    def tool_forks(self, arguments, answer, out, number):
        count = 0
        try:
            while count < 1000:
                if os.fork() == 0:
                    time.sleep(30)
                    os._exit(0)
                count += 1
        except OSError:
            pass
        answer(str(count))

    # --- of HTTP alone ---

    def tool_redirect(self, arguments, answer, out, number):
        out.reply(307, {"Location": f"http://127.0.0.1:{out.port}/elsewhere"}, b"")

    def tool_plain(self, arguments, answer, out, number):
        """One message, after which the connection can be used again."""
        out.reply(200, {"Content-Type": "application/json"}, self.rendered(number, "plain"))

    def tool_drop(self, arguments, answer, out, number):
        out.begun = True
        out.handler.close_connection = True
        out.handler.connection.shutdown(socket.SHUT_RDWR)

    def tool_status_500(self, arguments, answer, out, number):
        out.reply(500, {"Content-Type": "text/plain"}, b"an accident with " + (self.headers or {}).get("Authorization", "").encode())

    def tool_status_401(self, arguments, answer, out, number):
        out.reply(401, {"WWW-Authenticate": "Bearer"}, b"")

    def tool_expire(self, arguments, answer, out, number):
        out.expire()
        answer("this session is over")

    def tool_sse_pieces(self, arguments, answer, out, number):
        text = b": hello\r\nid: 1\r\nevent: message\r\ndata: " + self.rendered(number, "of events").strip() + b"\r\n\r\n"
        out.begin("text/event-stream")
        self.pieces(text, out, 7, 0.005)

    def tool_no_answer(self, arguments, answer, out, number):
        out.begin("text/event-stream")
        out.write(b": nothing\n\n")

    def tool_wrong_type(self, arguments, answer, out, number):
        out.reply(200, {"Content-Type": "text/html"}, b"<h1>It works</h1>")

    def tool_empty_answer(self, arguments, answer, out, number):
        out.reply(200, {"Content-Type": "application/json"}, b"")

    def tool_never_ends(self, arguments, answer, out, number):
        out.begin("text/event-stream")
        while True:
            out.write(b": " + b"x" * 65536 + b"\n")

    def tool_headers_flood(self, arguments, answer, out, number):
        out.reply(200, {f"X-{i}": "x" * 1000 for i in range(400)}, b"")


# --- standard input and output ---

class StdioOut:
    def __init__(self):
        self.lock = threading.Lock()

    def send(self, message):
        self.raw(json.dumps(message).encode() + b"\n")

    def raw(self, text):
        with self.lock:
            sys.stdout.buffer.write(text)
            sys.stdout.buffer.flush()

    lines = raw


def serve_stdio(server):
    out = StdioOut()
    if "ignores_term" in server.faults:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "tells_its_end" in server.faults:
        signal.signal(signal.SIGTERM, lambda number, frame: (server.log(None, signal=number), sys.exit()))
    for line in sys.stdin.buffer:
        server.handle(json.loads(line), out)
        if "deaf" in server.faults:
            time.sleep(60)
    if "tells_its_end" in server.faults:
        server.log(None, input_ended=True)
    if "lingers" in server.faults:
        time.sleep(60)
    while "ignores_term" in server.faults:
        time.sleep(1)


# --- HTTP ---

class HttpOut:
    """The answer to one POST: one message as JSON, or a stream once there is more to say."""

    def __init__(self, handler, session):
        self.handler, self.session, self.port = handler, session, handler.server.server_port
        self.begun = False
        self.sent = threading.Event()
        self.lock = threading.Lock()

    def reply(self, status, headers, body):
        self.begun = True
        self.handler.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.handler.send_header(name, value)
        self.handler.end_headers()
        self.handler.wfile.write(body)

    def begin(self, kind):
        if not self.begun:
            self.begun = True
            self.handler.send_response(200)
            self.handler.send_header("Content-Type", kind)
            self.handler.send_header("Connection", "close")
            if self.session:
                self.handler.send_header("Mcp-Session-Id", self.session)
            self.handler.end_headers()
            self.handler.close_connection = True

    def write(self, data):
        self.handler.wfile.write(data)
        self.handler.wfile.flush()

    def send(self, message):
        with self.lock:
            self.begin("text/event-stream")
            self.write(b"event: message\ndata: " + json.dumps(message).encode() + b"\n\n")
        if "result" in message or "error" in message:
            self.sent.set()

    def raw(self, data):
        """Bytes of a JSON body, cut anywhere."""
        self.begin("application/json")
        self.write(data)

    def lines(self, data):
        self.begin("text/event-stream")
        self.write(b"".join(b"data: " + line + b"\n\n" for line in data.splitlines()))

    def wait(self):
        self.sent.wait(60)

    def expire(self):
        self.handler.server.sessions.discard(self.session)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def refuse(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def session_of(self, message):
        faults, sessions = self.server.mistakes.faults, self.server.sessions
        if "no_sessions" in faults:
            return None
        if message.get("method") == "initialize":
            session = "bad session\x7f" if "bad_session" in faults else "x" * 5000 if "long_session" in faults \
                else f"session-{os.urandom(8).hex()}"
            sessions.add(session)
            return session
        session = self.headers.get("Mcp-Session-Id")
        forgets = "tools/call" if "forgetful" in faults else "tools/list" if "forgets_lists" in faults else None
        if session not in sessions or (forgets and message.get("method") == forgets):
            raise KeyError(session)
        return session

    def do_POST(self):
        server = self.server.mistakes
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        message = json.loads(body)
        try:
            session = self.session_of(message)
        except KeyError:
            server.log(message, headers=dict(self.headers), status=404)
            self.refuse(404)
            return
        if self.path != "/mcp":
            server.log(message, path=self.path)
            self.refuse(404)
            return
        out = HttpOut(self, session)
        try:
            server.handle(message, out, dict(self.headers))
            if "slow_notes" in server.faults and "method" not in message:
                time.sleep(5)
            if "id" not in message or "method" not in message:
                self.refuse(202)
            elif not out.begun:
                out.begin("application/json")
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def do_GET(self):
        server = self.server.mistakes
        server.log(None, headers=dict(self.headers), get=True)
        if "no_get" in server.faults or (
                "no_sessions" not in server.faults and self.headers.get("Mcp-Session-Id") not in self.server.sessions):
            self.refuse(404)
            return
        if "stream" not in server.faults:
            self.refuse(405)
            return
        out = HttpOut(self, None)
        out.begin("text/event-stream")
        if "session_ends" in server.faults:
            server.faults.remove("session_ends")
            self.server.sessions.discard(self.headers["Mcp-Session-Id"])
            return
        try:
            while True:
                time.sleep(0.1)
                out.send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
                server.changes += 1
                if "stream_ends" in server.faults:
                    return
        except (BrokenPipeError, ConnectionResetError):
            pass

    def do_DELETE(self):
        self.server.mistakes.log(None, headers=dict(self.headers), delete=True)
        self.server.sessions.discard(self.headers.get("Mcp-Session-Id"))
        self.refuse(200)


class HttpServer(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, *args):
        pass  # a client went away


def serve_http(server):
    listener = HttpServer(("127.0.0.1", 0), Handler)
    listener.mistakes, listener.sessions = server, set()
    print(listener.server_port, flush=True)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    sys.stdin.buffer.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--http", action="store_true")
    parser.add_argument("--fault", default="")
    parser.add_argument("--log")
    options = parser.parse_args()
    server = Server(options)
    if options.http:
        serve_http(server)
    else:
        serve_stdio(server)


if __name__ == "__main__":
    main()
