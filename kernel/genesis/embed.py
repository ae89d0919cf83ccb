#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a C header from text files: embed.py HEADER FILE...

For some-name.json it writes `static const char some_name[]`: the bytes of the file, and a NUL. It refuses
.json files that are not JSON, or repeat a member of an object, so that the program need not check them.
"""

import json
import os
import sys


def members(pairs):
    names = [name for name, _ in pairs]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"twice in one object: {', '.join(sorted(twice))}")
    return dict(pairs)


def number(text):
    raise ValueError(f"{text} is no JSON")


def literal(line):
    """Returns a C string literal; octal escapes end after three digits, so any byte may follow."""
    plain = b" !#$%&'()*+,-./0123456789:;<=>@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~"
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in line) + '"'


def declaration(path):
    name, kind = os.path.splitext(os.path.basename(path))
    with open(path, "rb") as file:
        data = file.read()
    try:
        if kind == ".json":
            json.loads(data.decode("utf-8"), object_pairs_hook=members, parse_constant=number)
    except (ValueError, RecursionError) as error:
        sys.exit(f"{path}: {error}")
    lines = "".join(f"\n\t{literal(line)}" for line in data.splitlines(keepends=True))
    return f"\nstatic const char {name.replace('-', '_')}[] ={lines};\n"


def main():
    text = "/* Made by embed.py. */\n" + "".join(declaration(path) for path in sys.argv[2:])
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.write(text)


main()
