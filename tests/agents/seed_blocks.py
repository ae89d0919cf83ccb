# SPDX-License-Identifier: Apache-2.0
"""The code blocks of the seeds, of which tests/data/seeds has each byte, and readers of their contents."""
import json
import os
import re

BLOCKS = os.path.join(os.environ["SOURCE_ROOT"], "tests", "data", "seeds")
TABLE = os.path.join(os.environ["SOURCE_ROOT"], "tests", "agents", "seeds.txt")
used = set()


def unused():
    """The blocks that the table assigns to test-seeds, and that it did not use."""
    with open(TABLE, encoding="utf-8") as file:
        named = re.findall(r"^(\S+) tests/agents/test-seeds::", file.read(), re.M)
    return sorted(set(named) - used)


def path_of(name):
    used.add(name)
    return os.path.join(BLOCKS, name)


def block(name):
    with open(path_of(name), encoding="utf-8", newline="") as file:
        return file.read()


def jsonc(name):
    """A block of JSON; no string in the seeds has // in it, so the rest of a line is a comment."""
    return json.loads(re.sub(r"//.*", "", block(name)))


# --- the part of YAML that the seeds use ---

def yaml(name):
    lines = [(len(line) - len(line.lstrip()), line.strip(), line) for line in block(name).splitlines()]
    value, rest = node(lines, 0)
    assert all(ignored(text) for _, text, _ in lines[rest:]), lines[rest:]
    return value


def ignored(text):
    return not text or text.startswith("#")


def scalar(text):
    text = text if re.fullmatch(r'"[^"]*"', text) else re.sub(r"\s+#.*$", "", text)
    if text.startswith("["):
        # the seed cuts vectors of numbers short
        return [scalar(part) for part in text[1:-1].split(", ") if part != "..."]
    try:
        return json.loads(text)
    except ValueError:
        return text


def node(lines, at):
    while at < len(lines) and ignored(lines[at][1]):
        at += 1
    return (sequence if lines[at][1].startswith("- ") else mapping)(lines, at, lines[at][0])


def sequence(lines, at, depth):
    values = []
    while at < len(lines):
        indent, text, _ = lines[at]
        if ignored(text):
            at += 1
        elif indent != depth or not text.startswith("- "):
            break
        elif re.match(r'- [\w"]+:( |$)', text):
            inner = lines[at][0] + 2
            lines[at] = (inner, text[2:], None)
            value, at = mapping(lines, at, inner)
            values.append(value)
        else:
            values.append(scalar(text[2:]))
            at += 1
    return values, at


def mapping(lines, at, depth):
    values = {}
    while at < len(lines):
        indent, text, _ = lines[at]
        if ignored(text):
            at += 1
            continue
        if indent != depth or text.startswith("- "):
            break
        key, rest = re.fullmatch(r"(\w+):\s*(.*)", text).groups()
        at += 1
        if rest == "|":
            values[key], at = literal(lines, at, depth)
        elif not ignored(rest):
            values[key] = scalar(rest)
        else:
            values[key], at = node(lines, at)
    return values, at


def literal(lines, at, depth):
    """A text of several lines, without the blank lines at its end."""
    found = []
    while at < len(lines) and (not lines[at][1] or lines[at][0] > depth):
        found.append(lines[at])
        at += 1
    while found and not found[-1][1]:
        found.pop()
    inner = found[0][0]
    return "".join(line[inner:] + "\n" for _, _, line in found), at
