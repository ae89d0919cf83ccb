#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server of models that answers as a test tells it, also wrongly, late, in pieces or never.

    model_server.py [--port N] [--latency-ms N] [--certificate FILE] [--plan FILE]

It listens on 127.0.0.1 and prints its port on the first line of stdout (--port 0, the default: a
free one). With --certificate (PEM, with its key) it speaks TLS. A signal ends
it, and so does the end of its standard input, if that is a pipe: so it can end with its parent.

Any POST to a path that ends with /chat/completions or /embeddings gets the next answer of the plan. The
plan is JSON, from --plan or posted to /plan (which replaces it):

    {"answers": [ANSWER, ...], "default": ANSWER}

Answers are used in order; after the last one the default is given (by default a completion that says
"ok", or a vector of two numbers). An ANSWER has these members, all optional:

    the answer itself
      completion   {"content", "tool_calls": [{"id", "name", "arguments"}], "finish_reason",
                   "usage", "model", "refusal"}; rendered plain, or as a stream when the request has
                   "stream": true
      embedding    a list of numbers, or base64: rendered for a request to /embeddings
      events       a list of JSON values or texts: each is the data of one event of a stream
      json         any value: the body
      body         a text: the body as it is ("body_base64": bytes)
      echo         true: the body is the request, headers and all
      rejects      true: the body is an error that quotes the last message or text of the request, as
                   servers that are built on FastAPI send it; give a status with it
      done         false: a stream does not end with [DONE]
      delta        characters of text or arguments in one event of a rendered stream (4)
      status       HTTP status (200)
      headers      object of more headers; a Content-Type replaces the one that fits
    how it is sent
      latency_ms   wait before the answer begins (--latency-ms)
      wait_for     do not begin before so many requests have come in all
      never        true: the server never answers
      drop         true: the connection is closed instead
      chunk        bytes of the body in one write
      pause_ms     wait between such writes
      close_after  close the connection after so many bytes of the body
      stall_after  send no more after so many bytes of the body, and keep the connection open
      length       false: no Content-Length, the body ends with the connection
      chunked      true: Transfer-Encoding: chunked, each write is a chunk
    which request it is for
      match        only for a request whose body has this text in it
      times        for so many requests (1)

Clients can read what has happened, and wait for it:

    GET /requests         a list: {"method", "path", "headers" (names in small letters), "body",
                          "at_ms" (since the start), "connection" (number), "closed" (the client
                          went away before the end of the answer)}
    GET /stats            {"requests", "closed", "connections", "open", "waiting", "waiting_max"}
    GET /wait?requests=N  these figures, after N requests have come; ?closed=N: after clients have left N
    DELETE /requests      forget them, and start counting anew

The answer to a control request ends its connection when it says `Connection: close`, as any other.
"""

import argparse
import asyncio
import base64
import collections
import json
import os
import resource
import signal
import ssl
import stat
import time

BACKLOG = 8192
DELTA_CHARACTERS = 4
SERVICES = ("/chat/completions", "/embeddings")
REASONS = {200: "OK", 307: "Temporary Redirect", 400: "Bad Request", 401: "Unauthorized",
           404: "Not Found", 422: "Unprocessable Entity", 429: "Too Many Requests", 500: "Internal Server Error",
           502: "Bad Gateway", 503: "Service Unavailable"}


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# --- completions, plain and streamed ---

def message_of(completion):
    message = {"role": "assistant", "content": completion.get("content")}
    if "refusal" in completion:
        message["refusal"] = completion["refusal"]
    calls = completion.get("tool_calls")
    if calls:
        message["tool_calls"] = [wire_call(call) for call in calls]
    return message


def wire_call(call):
    function = {name: call[name] for name in ("name", "arguments") if name in call}
    head = {"id": call["id"]} if "id" in call else {}
    return {**head, "type": "function", "function": function}


def finish_reason_of(completion):
    return completion.get("finish_reason", "tool_calls" if completion.get("tool_calls") else "stop")


def envelope(completion, kind, choices):
    return {"id": "chatcmpl-1", "object": kind, "created": 1,
            "model": completion.get("model", "test"), "choices": choices}


def plain(completion):
    choice = {"index": 0, "message": message_of(completion),
              "finish_reason": finish_reason_of(completion)}
    answer = envelope(completion, "chat.completion", [choice])
    if "usage" in completion:
        answer["usage"] = completion["usage"]
    return compact(answer)


def pieces(text, size):
    return [text[at:at + size] for at in range(0, len(text), size)]


def deltas(completion, size):
    """The deltas as vLLM cuts them: role first, then text, then each call."""
    yield {"role": "assistant", "content": ""}
    for name in ("content", "refusal"):
        for piece in pieces(completion.get(name) or "", size):
            yield {name: piece}
    for index, call in enumerate(completion.get("tool_calls") or []):
        opened = wire_call(call)
        arguments = opened["function"].get("arguments")
        if isinstance(arguments, str):
            opened["function"]["arguments"] = ""
        yield {"tool_calls": [{"index": index, **opened}]}
        if isinstance(arguments, str):
            for piece in pieces(arguments, size):
                yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def chunks_of(completion, size):
    def chunk(choices):
        return envelope(completion, "chat.completion.chunk", choices)

    for delta in deltas(completion, size):
        yield chunk([{"index": 0, "delta": delta, "finish_reason": None}])
    yield chunk([{"index": 0, "delta": {}, "finish_reason": finish_reason_of(completion)}])
    if "usage" in completion:
        yield {**chunk([]), "usage": completion["usage"]}


def stream(events, done):
    lines = [event if isinstance(event, str) else compact(event) for event in events]
    if done:
        lines.append("[DONE]")
    return "".join(f"data: {line}\n\n" for line in lines)


def vector(answer):
    data = {"object": "embedding", "index": 0, "embedding": answer.get("embedding", [0.6, -0.8])}
    return compact({"object": "list", "data": [data], "model": "test",
                    "usage": {"prompt_tokens": 2, "total_tokens": 2}})


def rejection(asked):
    messages = asked.get("messages")
    value = messages[-1] if messages else asked["input"]
    return {"detail": [{"type": "extra_forbidden", "loc": ["body"], "msg": "not permitted", "input": value}]}


def body_of(answer, request):
    """Content type and bytes of an answer."""
    done = answer.get("done", True)
    if "body_base64" in answer:
        return "application/json", base64.b64decode(answer["body_base64"])
    if "body" in answer:
        return "application/json", answer["body"].encode("utf-8", "surrogateescape")
    if "json" in answer:
        return "application/json", compact(answer["json"]).encode()
    if answer.get("echo"):
        return "application/json", compact(request).encode()
    if answer.get("rejects"):
        return "application/json", compact(rejection(json.loads(request["body"]))).encode()
    if "events" in answer:
        return "text/event-stream", stream(answer["events"], done).encode()
    if request["path"].endswith("/embeddings"):
        return "application/json", vector(answer).encode()
    completion = answer.get("completion", {"content": "ok"})
    if '"stream":true' in request["body"].replace(" ", ""):
        events = chunks_of(completion, answer.get("delta", DELTA_CHARACTERS))
        return "text/event-stream", stream(events, done).encode()
    return "application/json", plain(completion).encode()


# --- what is planned and what has happened ---

class Server:
    def __init__(self, plan, latency_ms):
        self.latency_ms = latency_ms
        self.start = time.monotonic()
        self.connections = self.open = self.waiting = 0
        self.events = {}  # (name, count): set when the count is reached
        self.set_plan(plan)
        self.forget()

    def set_plan(self, plan):
        self.answers = collections.deque(plan.get("answers", []))
        self.default = plan.get("default", {})

    def forget(self):
        self.requests = []
        self.closed = self.waiting_max = 0

    def note(self):
        """Wakes threads that wait for something that may have happened now."""
        stats = self.stats()
        for (name, count), event in list(self.events.items()):
            if stats[name] >= count:
                event.set()
                del self.events[name, count]

    def take_answer(self, body):
        for position, answer in enumerate(self.answers):
            if answer.get("match", "") in body:
                answer["times"] = answer.get("times", 1) - 1
                if answer["times"] == 0:
                    del self.answers[position]
                return answer
        return self.default

    def stats(self):
        return {"requests": len(self.requests), "closed": self.closed, "open": self.open,
                "connections": self.connections, "waiting": self.waiting,
                "waiting_max": self.waiting_max}

    async def wait(self, name, count):
        if self.stats()[name] < count:
            await self.events.setdefault((name, count), asyncio.Event()).wait()

    async def control(self, method, path, body):
        if (method, path) == ("POST", "/plan"):
            self.set_plan(json.loads(body))
        elif (method, path) == ("GET", "/requests"):
            return self.requests
        elif (method, path) == ("DELETE", "/requests"):
            self.forget()
        elif method == "GET" and path.startswith("/wait?"):
            name, count = path.partition("?")[2].split("=")
            await self.wait(name, int(count))
        elif (method, path) != ("GET", "/stats"):
            return None
        return self.stats()


class Connection(asyncio.Protocol):
    """HTTP/1.1, one request after the other; understands only what clients of models send."""

    def __init__(self, server):
        self.server = server
        self.buffer = bytearray()
        self.task = None
        self.request = None

    def connection_made(self, transport):
        self.transport = transport
        self.server.connections += 1
        self.server.open += 1
        self.number = self.server.connections

    def connection_lost(self, error):
        self.server.open -= 1
        if self.task:
            self.task.cancel()
        if self.request:
            self.request["closed"] = True
            self.server.closed += 1
        self.server.note()

    def data_received(self, data):
        self.buffer += data
        self.next_request()

    def next_request(self):
        if self.task:
            return
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        first, *lines = self.buffer[:end].decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip()
                   for name, _, value in (line.partition(":") for line in lines)}
        size = end + 4 + int(headers.get("content-length", 0))
        if len(self.buffer) < size:
            return
        method, path, _ = first.split(" ")
        request = {"method": method, "path": path, "headers": headers,
                   "body": self.buffer[end + 4:size].decode("utf-8", "replace"),
                   "at_ms": round((time.monotonic() - self.server.start) * 1000, 3),
                   "connection": self.number, "closed": False}
        del self.buffer[:size]
        self.task = asyncio.ensure_future(self.serve(request))

    async def serve(self, request):
        keep = request["headers"].get("connection", "").lower() != "close"
        if request["method"] == "POST" and request["path"].endswith(SERVICES):
            keep = await self.serve_model(request) and keep
        else:
            result = await self.server.control(
                request["method"], request["path"], request["body"])
            body = compact(result).encode()
            self.send_head(200 if result is not None else 404, {"Content-Length": len(body)})
            self.transport.write(body)
        self.task = None
        if keep:
            self.next_request()
        else:
            self.transport.close()

    async def serve_model(self, request):
        """Return: can the connection be used again?"""
        server = self.server
        server.requests.append(request)
        server.waiting += 1
        server.waiting_max = max(server.waiting, server.waiting_max)
        self.request = request
        server.note()
        try:
            answer = server.take_answer(request["body"])
            await self.delay(answer)
            return await self.send(answer, *body_of(answer, request))
        finally:
            server.waiting -= 1
            if not self.transport.is_closing():
                self.request = None

    async def delay(self, answer):
        if answer.get("never"):
            await asyncio.Event().wait()
        await self.server.wait("requests", answer.get("wait_for", 0))
        latency_ms = answer.get("latency_ms", self.server.latency_ms)
        if latency_ms:
            await asyncio.sleep(latency_ms / 1000)

    def send_head(self, status, headers):
        lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.transport.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))

    async def send(self, answer, content_type, body):
        if answer.get("drop"):
            self.leave()
            return False
        headers = {"Content-Type": content_type}
        chunked = answer.get("chunked")
        if chunked:
            headers["Transfer-Encoding"] = "chunked"
        elif answer.get("length", True):
            headers["Content-Length"] = len(body)
        else:
            headers["Connection"] = "close"
        self.send_head(answer.get("status", 200), {**headers, **answer.get("headers", {})})
        limit = answer.get("close_after", answer.get("stall_after", len(body)))
        await self.send_body(body[:limit], answer, chunked)
        if "stall_after" in answer:
            await asyncio.Event().wait()
        if "close_after" in answer:
            self.leave()
            return False
        if chunked:
            self.transport.write(b"0\r\n\r\n")
        return headers.get("Connection") != "close"

    def leave(self):
        """The server itself closes the connection, so this does not count as a client that left."""
        self.request = None
        self.transport.close()

    async def send_body(self, body, answer, chunked):
        size = answer.get("chunk", len(body)) or 1
        for at in range(0, len(body), size):
            piece = body[at:at + size]
            if chunked:
                piece = b"%x\r\n%s\r\n" % (len(piece), piece)
            self.transport.write(piece)
            if at + size < len(body):
                await asyncio.sleep(answer.get("pause_ms", 0) / 1000)


# --- the program ---

def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=0)
    parser.add_argument("--certificate", help="PEM file with certificate and key")
    parser.add_argument("--plan", help="JSON file")
    return parser.parse_args()


async def run(options):
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    plan, context = {}, None
    if options.plan:
        with open(options.plan, encoding="utf-8") as file:
            plan = json.load(file)
    if options.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.certificate)
    server = Server(plan, options.latency_ms)
    listener = await loop.create_server(
        lambda: Connection(server), "127.0.0.1", options.port, backlog=BACKLOG, ssl=context)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if stat.S_ISFIFO(os.fstat(0).st_mode):
        loop.add_reader(0, lambda: os.read(0, 4096) or stop.set())
    print(listener.sockets[0].getsockname()[1], flush=True)
    await stop.wait()


def main():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    asyncio.run(run(arguments()))


if __name__ == "__main__":
    main()
