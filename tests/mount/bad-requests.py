# SPDX-License-Identifier: Apache-2.0
"""Sends every bad request through ctl/event and through the command line to a mount of the world
`hostile`: each must be refused with its code, errno and exit status, and the height stay.

  bad-requests.py WORLD TREE
"""
import errno
import json
import os
import subprocess
import sys

WORLDFS = os.environ["WORLDFS"]
WORLD, TREE = sys.argv[1:]
ANSWER_MAX = 1 << 20
NO_MESSAGE = ""

# code: the errno that the writer gets
ERRNO = {
    "invalid_json": errno.EINVAL,
    "invalid_argument": errno.EINVAL,
    "missing_argument": errno.EINVAL,
    "schema_violation": errno.EINVAL,
    "not_found": errno.ENOENT,
    "key_too_long": errno.EFBIG,
    "runtime_error": errno.EIO,
}

# part of the message, value of an event test/Any@1
NO_JSON = [
    ("line 1 column", b'{"a":}'),
    ("'}' expected", b'{"a":1'),
    ("line 1 column", b'"a'),
    ("line 1 column", b""),
    ("line 1 column", b"[1,]"),
    ("line 1 column", b"[1 2]"),
    ("line 1 column", b"1 2"),
    ("line 1 column", b"'a'"),
    ("line 1 column", b"nul"),
    ("line 1 column", b"NaN"),
    ("line 1 column", b"-Infinity"),
    ("line 1 column", b"01"),
    ("line 1 column", b'"\\x41"'),
    ("control character", b'"\x01"'),
    ("duplicate", b'{"a":1,"a":2}'),
    ("duplicate", b'{"deep":[{"a":1,"b":2,"\\u0061":3}]}'),
    ("integer", b"9223372036854775808"),
    ("integer", b"-9223372036854775809"),
    ("integer", b"100000000000000000000000000000000"),
    ("beyond 64 bits", b"1e20"),
    ("beyond 64 bits", b"-9223372036854775808.0e1"),
    ("real number", b"1e400"),
    ("Unicode", b'"\\ud800"'),
    ("Unicode", b'"\\udc00\\ud800"'),
    ("Unicode", b'"\\ud83dx"'),
    ("decode", b'"\xff"'),
    ("decode", b'"\xc0\xaf"'),
    ("decode", b'"\xed\xa0\x80"'),
    ("line 1 column", b"\xef\xbb\xbf1"),
    ("nested too deeply", b"[" * 200 + b"]" * 200),
    ("nested too deeply", b'{"a":' * 100_000),
]

# code, part of the message, schema, value
EVENTS = [
    ("not_found", "no schema 'test/None@1'", "test/None@1", "1"),
    ("not_found", "no schema 'test/Any@2'", "test/Any@2", "1"),
    ("not_found", "no schema 'Any'", "Any", "1"),
    ("schema_violation", "expected object, got integer 1", "test/Do@1", "1"),
    ("schema_violation", 'expected a member "what"', "test/Do@1", "{}"),
    ("schema_violation", "/what", "test/Do@1", '{"what":""}'),
    ("schema_violation", "/more", "test/Do@1", '{"what":"nothing","more":11}'),
    ("schema_violation", "/more", "test/Do@1", '{"what":"nothing","more":1.5}'),
    ("schema_violation", "/other", "test/Do@1", '{"what":"nothing","other":1}'),
    ("invalid_argument", "no member 'key'", "test/Keyed@1", "{}"),
    ("key_too_long", "300 bytes", "test/Keyed@1", '{"key":"%s"}' % ("x" * 300)),
    ("key_too_long", "258 bytes", "test/Keyed@1", '{"key":"%s"}' % ("/" * 86)),
]

# part of the message, function of hostile.lua
DEEDS = [
    ("hostile.lua:12: this is what it says", "fail"),
    ("hostile.lua:16: attempt to index a nil value", "index_nil"),
    ("error with a table", "fail_with_table"),
    ("bytes of memory", "overflow_stack"),
    ("instructions", "loop"),
    ("instructions", "loop_in_pcall"),
    ("instructions", "slow_pattern"),
    ("more than", "memory"),
    ("bytes of memory", "one_large_string"),
    ("bytes of memory", "doubling"),
    (".deed: a function is not a JSON value", "return_function"),
    (".value: number", "return_not_a_number"),
    (".value: number", "return_infinity"),
    (".itself", "return_cycle"),
    ("array with the key 'three'", "return_mixed_table"),
    (".text: string is not valid UTF-8", "return_invalid_text"),
    ("[1][1][1]", "return_deep"),
    ("more than 1024", "emit_for_ever"),
    ("does not declare 'test/Undeclared@1'", "emit_undeclared"),
    ("/what", "emit_invalid"),
    ("this is what it says", "emit_what_fails"),
    ("events: expected an array", "emit_no_list"),
    ("global 'os'", "clock"),
    ("global 'io'", "file"),
    ("global 'load'", "load_code"),
    (NO_MESSAGE, "no_such_deed"),
]

# code, part of the message, request of ctl/event
REQUESTS = [
    ("invalid_argument", "not an object", b"1"),
    ("invalid_argument", "not an object", b"[]"),
    ("missing_argument", "'schema' is missing", b"{}"),
    ("missing_argument", "'schema' is missing", b'{"value":1}'),
    ("missing_argument", "'value' is missing", b'{"schema":"test/Any@1"}'),
    ("invalid_argument", "expected a string", b'{"schema":1,"value":1}'),
    ("invalid_argument", "'other'", b'{"schema":"test/Any@1","value":1,"other":2}'),
    ("invalid_argument", "does not equal",
        b'{"schema":"test/Keyed@1","value":{"key":"a"},"key":"b"}'),
    ("invalid_json", "unexpected token", b"}"),
    ("invalid_json", "NUL", b"\0"),
    ("invalid_json", "duplicate", b'{"schema":"test/Any@1","value":1,"value":1}'),
    ("invalid_json", "invalid token", b"garbage"),
]


def height():
    with open(f"{TREE}/journal/head", encoding="utf-8") as head:
        return json.load(head)["journal_height"]


def through_ctl(request):
    """The writer's errno, and the error document that it then reads. An incomplete value fails only
    at the read that ends it."""
    control = os.open(f"{TREE}/ctl/event", os.O_RDWR)
    number = 0
    try:
        os.write(control, request + b"\n")
    except OSError as error:
        number = error.errno
    answer = json.loads(os.read(control, ANSWER_MAX).split(b"\n")[0])
    try:
        os.close(control)
    except OSError as error:
        number = number or error.errno
    return number, answer


def through_command(schema, value, *options):
    command = [WORLDFS, "-w", WORLD, "event", schema, "@-", *options]
    done = subprocess.run(command, input=value, capture_output=True, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def expect(what, wanted, found):
    assert wanted == found, f"{what}: expected {wanted!r}, got {found!r}"


def expect_message(what, part, message):
    assert part in message, f"{what}: expected '…{part}…', got {message!r}"


def check_ctl(code, part, request, ends_late=False):
    what = f"ctl/event {request[:80]!r}"
    number, answer = through_ctl(request)
    expect(what, False, answer.get("ok"))
    expect(what, code, answer["error"]["code"])
    expect_message(what, part, answer["error"]["message"])
    expect(what, before, answer["meta"]["journal_height"])
    expect(f"{what}: errno", 0 if ends_late else ERRNO[code], number)
    expect(f"{what}: height", before, height())


def check_command(code, part, schema, value):
    what = f"event {schema} {value[:80]!r}"
    status, out, error = through_command(schema, value)
    expect(f"{what}: exit status", 1, status)
    expect(f"{what}: output", "", out)
    expect_message(what, f"worldfs: {code}: ", error)
    expect_message(what, part, error)
    status, out, error = through_command(schema, value, "--json")
    expect(f"{what} --json: exit status", 1, status)
    expect(f"{what} --json", code, json.loads(out)["error"]["code"])
    expect(f"{what}: height", before, height())


def event_request(schema, value):
    return b'{"schema":"%s","value":%s}' % (schema.encode(), value)


before = height()
for message, text in NO_JSON:
    late = text == b'{"a":1'  # more could follow
    check_ctl("invalid_json", message, event_request("test/Any@1", text), late)
    check_command("invalid_json", message, "test/Any@1", text)
for error_code, message, name, text in EVENTS:
    check_ctl(error_code, message, event_request(name, text.encode()))
    check_command(error_code, message, name, text.encode())
for message, deed in DEEDS:
    text = json.dumps({"what": deed}).encode()
    check_ctl("runtime_error", message, event_request("test/Do@1", text))
    check_command("runtime_error", message, "test/Do@1", text)
for error_code, message, text in REQUESTS:
    check_ctl(error_code, message, text)
expect("a good event after all that", (0, {"seqs": [before]}),
    through_ctl(event_request("test/Do@1", b'{"what":"nothing"}')))
print(f"# {len(NO_JSON) + len(EVENTS) + len(DEEDS) + len(REQUESTS)} bad requests")
