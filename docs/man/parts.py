#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the parts of manual pages that come from tables of the program: parts.py TABLES PAGE...

TABLES is the output of build/tests/lint/man-tables. A part begins in a page after the line `.\\" Made by parts.py: NAME`
and ends before the line `.\\" End of NAME`. Each page is written anew; tests/lint/man checks that this changes nothing.
"""

import json
import re
import sys
import textwrap

INTRODUCED = {"meta"}  # members that a page describes once, for all verbs
VALUES = {"freeware", "ns", "null", "true"}  # words that are the same everywhere, and so have no capital


def sentence(text):
    """Starts with a capital letter, unless the first word is a name or a value; ends with a full stop."""
    first = re.match(r"[a-z]+(?=[ ,;:]|$)", text)
    text = text[0].upper() + text[1:] if first and first.group() not in VALUES else text
    return text + ("" if text[-1] in ".?!" else ".")


def type_of(form):
    kind = form["kind"]
    if kind == "array":
        item = type_of(form["of"])
        return "array of " + {"any value": "values", "hash": "hashes"}.get(item, item + "s")
    if kind == "value":
        return "any value" if form["ref"] == "sys/Value@1" else form["ref"]
    if "min" in form:
        return f"integer from {form['min']} to {form['max']}"
    return kind


def inner(form):
    """The form of the objects that a value has inside, or None."""
    while "of" in form:
        form = form["of"]
    return form if form.get("fields") else None


def members(fields):
    lines = [".Bl -tag -width Ds -compact"]
    for field in fields:
        form = field["form"]
        lines.append(f".It Li {field['name']} Pq {type_of(form)}" + (" , optional" if field["optional"] else ""))
        text = field.get("help", "")
        if "words" in form:
            text += "; one of: " + ", ".join(form["words"].split())
        if text:
            lines += textwrap.wrap(sentence(text), 98, break_long_words=False, break_on_hyphens=False)
        if inner(form) and field["name"] not in INTRODUCED:
            lines += members(inner(form)["fields"])
    return [*lines, ".El"]


def part_of_members(what, form):
    if form.get("fields"):
        return [".Pp", f"{what}:", *members(form["fields"])]
    return [".Pp", f"{what}: an empty object." if "fields" in form else f"{what}: an object, whose members depend on the request."]


def verbs(tables):
    for verb in tables["verbs"]:
        yield from [f".Ss {verb['name']}", sentence(verb["help"])]
        if verb["effect"]:
            yield from ["The verb is judged as the effect", f".Li {verb['effect']} ."]
        yield from ["The order of the verb is", f".Em {verb['order']} ."]
        if verb["slow"]:
            yield "The verb is slow: while the owner process works on a request, it reads no further request of the connection."
        yield from part_of_members("Payload", verb["params"])
        yield from part_of_members("Answer", verb["answer"])


def actions(tables):
    for effect in tables["effects"]:
        if effect["action"]:
            yield from [f".Ss {effect['action']}", sentence(effect["help"])]
            yield from ["A grant of the type", f".Li {effect['capability']}", "covers this action."]
            yield from part_of_members("Members", effect["params"])


def effects(tables):
    yield ".Bl -column introspect.reducer_state capability"
    yield ".It Em effect Ta Em capability Ta Em what a request does"
    for effect in tables["effects"]:
        yield f".It Li {effect['kind']} Ta {effect['capability']} Ta {effect['help']}"
    yield ".El"


def host(tables):
    yield from members(tables["host"]["fields"])


PARTS = {"VERBS": verbs, "ACTIONS": actions, "EFFECTS": effects, "MEMBERS": host}


def made(page, tables):
    """The text of a page with its parts made anew."""
    def replace(match):
        lines = PARTS[match.group(2)](tables)
        return match.group(1) + "".join(line + "\n" for line in lines) + match.group(3)
    return re.sub(r'(^\.\\" Made by parts\.py: (\w+)\n).*?(^\.\\" End of \2\n)', replace, page, flags=re.M | re.S)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        tables = json.load(file)
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            page = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(made(page, tables))


if __name__ == "__main__":
    main()
