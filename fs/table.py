#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the rows of a C table from a text file: table.py HEADER FILE

A section of the file begins with a line `== NAME`. The next lines are members of the row: a name with
its value, or a name alone, which means true. After an empty line comes the member `help`, as it is printed.
The section of a command also has the usage of its arguments in the first line; from it follow how many
arguments the command takes, and the function that runs it.
"""

import re
import sys


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


# How a value is written in C, if not as a text.
WRITE = {
    "argument_max": str,
    "kind": lambda value: f"WFS_CONTROL_{value}",
    "options": lambda value: " | ".join(f"WFS_OPTION_BIT({name})" for name in value.split()),
    "topic": str,
}


def members_of_command(name, arguments):
    words = arguments.split()
    return {
        "arguments": quote(arguments),
        "argument_min": str(sum(word[0] != "[" for word in words)),
        "argument_max": "WFS_ARGUMENTS_MAX" if arguments.endswith("...]") else str(len(words)),
        "run": f"wfs_run_{name.replace(' ', '_')}",
    }


def row(section):
    head, _, text = section.partition("\n\n")
    first, *lines = head.split("\n")
    name, arguments = re.fullmatch(r"([a-z-]+(?: [a-z]+)?) ?(.*)", first).groups()
    members = members_of_command(name, arguments) if re.search("^group ", head, re.M) else {}
    members["name"] = quote(name)
    for line in lines:
        member, _, value = line.partition(" ")
        members[member] = WRITE.get(member, quote)(value) if value else "true"
    if text:
        members["help"] = "".join("\n\t\t" + quote(line)[:-1] + '\\n"' for line in text.strip("\n").split("\n"))
    return "{\n" + "".join(f"\t.{member} = {value},\n" for member, value in members.items()) + "},\n"


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        sections = re.split("^== ", file.read(), flags=re.M)[1:]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write("/* Made by table.py. */\n" + "".join(row(section.strip("\n")) for section in sections))


main()
