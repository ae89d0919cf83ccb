#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damage of every kind to a copy of a tree: restoring must name the path and leave nothing.

    restore-refused.py WORLDFS ORIGINAL SCRATCH
"""

import os
import random
import shutil
import socket
import subprocess
import sys

worldfs, original, scratch = sys.argv[1:]
copy, place = scratch + "/copy", scratch + "/place"
random.seed(1)
failures = []
count = 0


def files():
    for folder, _, names in os.walk(original):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), original)
            if not os.path.islink(os.path.join(original, path)):
                yield path


def restore():
    done = subprocess.run([worldfs, "restore", copy, place + "/world"], capture_output=True,
                          text=True, errors="replace", check=False)
    return done.returncode, done.stdout, done.stderr


def refused(what, path, damage, journal=True, says=""):
    """Does `damage` to a fresh copy. Restoring must exit with 1, print a line that begins with
    `path`, and leave nothing."""
    global count
    count += 1
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(place)
    # cp keeps the extended attributes; shutil would, too, but treats links in its own way
    subprocess.run(["cp", "-a", original, copy], check=True)
    if not journal:
        shutil.rmtree(copy + "/journal")
    damage(os.path.join(copy, path))
    status, out, err = restore()
    named = any(line.startswith(path + ": ") and says in line for line in err.splitlines())
    if status != 1 or out or not named or os.listdir(place):
        failures.append(f"{what}: {path}: exit {status}, left {os.listdir(place)}\n{err}")


def flip(at=None):
    def damage(path):
        with open(path, "r+b") as file:
            data = bytearray(file.read())
            where = random.randrange(len(data)) if at is None else at % len(data)
            data[where] ^= 1 << random.randrange(8)
            file.seek(0)
            file.write(data)
    return damage


def append(path):
    with open(path, "ab") as file:
        file.write(b"\n")


def cut(path):
    os.truncate(path, os.path.getsize(path) - 1)


def write(data):
    def damage(path):
        with open(path, "wb") as file:
            file.write(data)
    return damage


def replace(make):
    def damage(path):
        os.unlink(path)
        make(path)
    return damage


def link(path):
    os.symlink("/etc/hostname", path)


def listen(path):
    here = os.getcwd()
    os.chdir(os.path.dirname(path))  # the name of a socket is short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.basename(path))
    os.chdir(here)


def without_records(at):
    """The log and the file of the last record alone: then only the chain shows the damage."""
    def damage(path):
        folder = os.path.dirname(path)
        records = [name for name in os.listdir(folder) if name.endswith(".json")]
        records.remove(f"{max(int(name[:-5]) for name in records)}.json")
        for name in records:
            os.unlink(os.path.join(folder, name))
        flip(at)(path)
    return damage


everything = sorted(files())
state = [path for path in everything if not path.startswith("journal/")]
last = f"journal/{sum(path.startswith('journal/') for path in everything) - 3}.json"
cell = next(path for path in state if path.startswith("reducers/"))
blob = next(path for path in state if path.startswith("blob/"))

for path in everything:
    refused("one bit", path, flip())
    if path != "README":  # it may be left out
        refused("missing", path, os.unlink)
for path in (cell, blob, "manifest", "journal/head", "journal/3.json"):
    refused("one byte more", path, append)
    refused("one byte less", path, cut)
    refused("empty", path, write(b""))
    refused("a link", path, replace(link), says="symbolic link")
    refused("a pipe", path, replace(os.mkfifo), says="pipe")
    refused("a directory", path, replace(os.mkdir), says="directory")
    refused("a socket", path, replace(listen), says="socket")
    refused("of unreasonable size", path, lambda path: os.truncate(path, 1 << 42), says="bytes")
for path in ("journal/log.jsonl",):
    size = os.path.getsize(os.path.join(original, path))
    for at in list(range(0, size, max(1, size // 40))) + list(range(size - 300, size, 10)):
        refused("one bit", path, flip(at))
        refused("one bit without files of records", path, without_records(at))
    refused("a log cut off", path, cut)
    refused("a log and more", path, append)
    refused("an empty log", path, write(b""))
    refused("a log with an endless line", path, lambda path: os.truncate(path, 1 << 30),
            says="too large")
# No record is chained to the last one, so it must be in the copy twice.
refused("no files of records", last, lambda path: [
    os.unlink(os.path.join(os.path.dirname(path), name))
    for name in os.listdir(os.path.dirname(path)) if name.endswith(".json")], says="nothing else proves")
for path in ("more", "reducers/more", "reducers/counter/more", "reducers/counter/%2e",
             "reducers/counter/%41", "blob/more", "blob/" + "0" * 64, "journal/more",
             "journal/99.json", "journal/01.json", "artifacts/more", "at/1"):
    refused("an unknown file", path, write(b"{}\n"))
    if path.count("/") < 2:
        refused("an unknown directory", path, os.mkdir)

for path in state:
    refused("one bit, without the journal", path, flip(), journal=False)
refused("missing, without the journal", "manifest", os.unlink, journal=False)
refused("not canonical, without the journal", cell, write(b'{"n": 1}\n'), journal=False)
refused("no JSON, without the journal", cell, write(b"{\n"), journal=False)
refused("unknown, without the journal", "reducers/more", os.mkdir, journal=False)
refused("unknown, without the journal", "reducers/counter/%41", write(b"{}\n"), journal=False)

# All that differ are named, up to a bound.
shutil.rmtree(scratch)
os.makedirs(place)
shutil.copytree(original, copy, symlinks=True)
for i in range(1200):
    write(b"{}\n")(f"{copy}/reducers/counter/more {i}")
status, out, err = restore()
lines = err.splitlines()
if status != 1 or len(lines) != 1002 or lines[1000] != "and 200 more" or "1200 problems" not in lines[1001]:
    failures.append(f"1200 files too many: exit {status}, {len(lines)} lines, {lines[-2:]}")

# The copy of which all of these were made is a world.
shutil.rmtree(scratch)
os.makedirs(place)
shutil.copytree(original, copy, symlinks=True)
status, out, err = restore()
if status != 0:
    failures.append(f"the original: exit {status}\n{err}")

print(f"{count} copies, {len(failures)} not refused as they should be")
print("\n".join(failures[:20]))
sys.exit(1 if failures else 0)
