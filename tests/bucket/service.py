#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A service with one bucket in memory, which checks signatures and makes every mistake.

    service.py LOG

It listens on 127.0.0.1, prints the port, and ends when its standard input does. LOG gets a line for
each request: METHOD PATH STATUS. The bucket is `bucket`, and the first name of a key is the mistake
that is made with it (MISTAKES below; `plain`: none). Names of mistakes that end in a number n are
made with the first n requests of each path.

Signatures are computed here from AWS's description alone, and at the start with the request and
the result that AWS publishes: what passes is signed as AWS has it, not as the client thinks.
Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
"""

import calendar
import collections
import email.utils
import hashlib
import hmac
import http.server
import re
import socket
import sys
import threading
import time
import urllib.parse

KEY, SECRET, REGION, BUCKET = "AKIDOFTHETESTS", "a/secret+of=the:tests", "eu-test-1", "bucket"
CLOCK_MAX_S = 900
SKEW_S = 3600
PIECE = b"x" * 65536

objects = {}
counts = collections.Counter()
lock = threading.Lock()


def hmac_of(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def signature(secret, method, target, headers, names, scope):
    """The signature of a request. headers: lower-case name to value; names: those that are signed."""
    path, _, query = target.partition("?")
    pairs = sorted(urllib.parse.parse_qsl(query, keep_blank_values=True))
    canonical = "\n".join([
        method, path, urllib.parse.urlencode(pairs, quote_via=urllib.parse.quote, safe="-_.~"),
        *(f"{name}:{' '.join(headers[name].split())}" for name in names), "",
        ";".join(names), headers["x-amz-content-sha256"]])
    text = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], "/".join(scope),
                      hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for part in scope:
        key = hmac_of(key, part)
    return hmac_of(key, text).hex()


def check_against_published():
    """AWS's example "GET Object"."""
    headers = {
        "host": "examplebucket.s3.amazonaws.com", "range": "bytes=0-9", "x-amz-date": "20130524T000000Z",
        "x-amz-content-sha256": hashlib.sha256(b"").hexdigest(),
    }
    made = signature("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "GET", "/test.txt", headers, sorted(headers),
                     ("20130524", "us-east-1", "s3", "aws4_request"))
    assert made == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41", made


class Refusal(Exception):
    """An answer with an error: status, code, message."""


def error(code, message="", more=""):
    return (f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>{message}</Message>'
            f"{more}<RequestId>1</RequestId></Error>").encode()


# Mistake: (status, body) of the answer.
REFUSALS = {
    "slow-down": (503, error("SlowDown", "Please reduce your request rate.")),
    "internal": (500, error("InternalError", "We encountered an internal error.")),
    "gateway": (502, b"<html><h1>502 Bad Gateway</h1></html>"),
    "busy": (429, b""),
    "aborted": (409, error("OperationAborted", "A conflicting operation is in progress.")),
    "full": (507, error("XMinioStorageFull", "Storage backend has reached its minimum free drive threshold.")),
    "quota": (403, error("QuotaExceeded")),
    "too-large": (400, error("EntityTooLarge", "Your proposed upload exceeds the maximum.")),
    "denied": (403, error("AccessDenied", "Access Denied")),
    "invalid": (400, error("InvalidRequest", "No.")),
    "html": (404, b"<html><h1>404 Not Found</h1></html>"),
    "broken-xml": (403, b"<Error><Code>AccessDen"),
    "broken-xml-404": (404, b"<Error><Code>NoSuch Key</Code></Error>"),
    "long-code": (400, error("A" * 5000)),
    "terminal": (400, error("Sneaky", "\x1b]0;title\x07\x1b[2J one\ntwo \u009b31m \u202e back")),
    "bytes": (400, b"<Error><Code>Sneaky</Code><Message>\xff\xfe\x00\xc3</Message></Error>"),
    "long-message": (400, error("Chatty", "\u00e9" * 20000)),
    "echo": (403, error("SignatureDoesNotMatch", "No.", f"<StringToSign>{SECRET}</StringToSign>")),
    "status": (299, b""),
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60
    served = 0  # requests of this connection

    def log_message(self, *arguments):
        pass

    def note(self, status):
        with lock, open(sys.argv[1], "a", encoding="utf-8") as log:
            log.write(f"{self.command} {self.path} {status}\n")

    def date_time_string(self, timestamp=None):
        return email.utils.formatdate(self.now() if timestamp is None else timestamp, usegmt=True)

    def now(self):
        return time.time() + (SKEW_S if self.mistake == "ahead" else -SKEW_S if self.mistake == "behind" else 0)

    @property
    def mistake(self):
        names = self.path.split("/")
        return names[2] if len(names) > 2 else "plain"

    def answer(self, status, body=b"", headers=(), length=True):
        self.note(status)
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if length and not any(name == "Content-Length" for name, _ in headers):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    # --- what a service does ---

    def check_signature(self):
        headers = {name.lower(): value for name, value in self.headers.items()}
        match = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, ?"
                             r"SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})", headers.get("authorization", ""))
        if not match:
            raise Refusal(403, "AccessDenied", "Anonymous access is forbidden.")
        key, day, region, names, given = match.groups()
        names = names.split(";")
        if key != KEY:
            raise Refusal(403, "InvalidAccessKeyId", "The access key does not exist in our records.")
        if region != REGION:
            raise Refusal(400, "AuthorizationHeaderMalformed", f"the region '{region}' is wrong; expecting '{REGION}'")
        if names != sorted(names) or not {"host", "x-amz-content-sha256", "x-amz-date"} <= set(names):
            raise Refusal(400, "InvalidRequest", "Some headers are not signed.")
        made = signature(SECRET, self.command, self.path, headers, names, (day, REGION, "s3", "aws4_request"))
        if not hmac.compare_digest(made, given):
            raise Refusal(403, "SignatureDoesNotMatch", "The signature that we calculated does not match.")
        sent = calendar.timegm(time.strptime(headers["x-amz-date"], "%Y%m%dT%H%M%SZ"))
        if abs(sent - self.now()) > CLOCK_MAX_S:
            raise Refusal(403, "RequestTimeTooSkewed", "The difference between the times is too large.")

    def serve(self, body):
        self.check_signature()
        if hashlib.sha256(body).hexdigest() != self.headers["x-amz-content-sha256"]:
            raise Refusal(400, "XAmzContentSHA256Mismatch", "The hash does not match what was computed.")
        names = self.path.split("/")
        if names[1] != BUCKET:
            raise Refusal(404, "NoSuchBucket", "The specified bucket does not exist")
        if len(names) == 2 and self.command == "HEAD":
            return self.answer(200)
        if self.command == "PUT":
            with lock:
                objects[self.path] = body
            return self.answer(200, headers=[("ETag", f'"{hashlib.md5(body).hexdigest()}"')])
        found = objects.get(self.path)
        if found is None:
            raise Refusal(404, "NoSuchKey", "The specified key does not exist.")
        return self.send_object(found)

    # --- mistakes with an object ---

    def send_object(self, found):
        mistake = self.mistake
        if self.command == "HEAD":
            length = [] if mistake == "no-length" else [("Content-Length", str(len(found)))]
            self.close_connection = mistake == "no-length"
            return self.answer(200, headers=length, length=False)
        if mistake == "wrong":
            found = bytes([found[0] ^ 1]) + found[1:]
        if mistake == "short":
            found = found[:len(found) // 2]
        if mistake == "more":
            found += b"x"
        if mistake in ("half", "stall", "slow"):
            return self.send_in_part(found)
        if mistake == "endless":
            return self.send_endless(200)
        return self.answer(200, found)

    def send_in_part(self, found):
        half = len(found) // 2
        self.answer(200, headers=[("Content-Length", str(len(found)))])
        self.wfile.write(found[:half])
        self.wfile.flush()
        self.close_connection = True
        if self.mistake == "stall":
            self.wait_for_end()
        for at in range(half, len(found)) if self.mistake == "slow" else []:
            self.wfile.write(found[at:at + 1])
            time.sleep(0.05)

    def wait_for_end(self):
        self.connection.settimeout(60)
        while self.connection.recv(1 << 20):
            pass

    def send_endless(self, status):
        self.note(status)
        self.close_connection = True
        self.send_response(status)
        self.end_headers()
        while True:
            self.wfile.write(PIECE)

    def send_endless_headers(self):
        self.note(200)
        self.close_connection = True
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for number in range(1 << 30):
            self.wfile.write(b"x-%d: %s\r\n" % (number, PIECE[:1000]))

    # --- mistakes with a request ---

    def make_mistake(self):
        """Answers wrongly, if that is the mistake. Return: whether there is an answer."""
        match = re.fullmatch(r"(.*?)(?:-(\d))?", self.mistake)
        mistake = self.mistake if self.mistake in REFUSALS else match.group(1)
        with lock:
            counts[self.command, self.path] += 1
            count = counts[self.command, self.path]
        if match.group(2) and count > int(match.group(2)):
            return False
        if mistake in REFUSALS:
            self.answer(*REFUSALS[mistake])
        elif mistake == "redirect":
            self.answer(307, error("TemporaryRedirect", "Please re-send this request to the specified endpoint."),
                        [("Location", f"http://localhost:{self.server.server_port}"
                          + self.path.replace("redirect", "elsewhere"))])
        elif mistake == "silent":
            self.note(0)
            self.wait_for_end()
        elif mistake == "endless-error":
            self.send_endless(403)
        elif mistake == "endless-headers":
            self.send_endless_headers()
        elif mistake == "not-http":
            self.note(0)
            self.close_connection = True
            self.wfile.write(b"220 mail.example ESMTP\r\n")
        elif mistake == "drop":
            self.drop()
        else:
            return False
        return True

    def handle_expect_100(self):
        if self.mistake == "reused" and self.served > 0:
            return self.drop()
        return self.mistake in ("deaf", "early") or super().handle_expect_100()

    def drop(self):
        """Closes the connection without an answer, as if it had ended meanwhile."""
        self.note(0)
        self.close_connection = True
        return False

    def do(self):
        self.served += 1
        if self.mistake == "deaf" and self.command == "PUT":  # reads no byte of the body
            self.note(0)
            time.sleep(60)
        if self.mistake == "early":  # success without the body
            self.close_connection = True
            return self.answer(200)
        if self.mistake == "reused" and self.served > 1:
            return self.drop()
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.mistake == "damage":
            body = bytes([body[0] ^ 1]) + body[1:]
        try:
            if not self.make_mistake():
                self.serve(body)
        except Refusal as refusal:
            status, code, message = refusal.args
            self.answer(status, error(code, message))
        except OSError:  # the client has gone
            self.close_connection = True

    do_GET = do_HEAD = do_PUT = do  # noqa: N815


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    address_family = socket.AF_INET
    request_queue_size = 64

    def handle_error(self, request, client_address):
        pass


def main():
    check_against_published()
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
