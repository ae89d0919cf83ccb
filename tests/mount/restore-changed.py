#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes every file of a copy, each at a random byte: restoring must name every one.

    restore-changed.py WORLDFS COPY SCRATCH SEED

Many files are changed at once, because all that differ are named in one run; a few of each kind are
changed alone as well. The copy is as it was afterwards.
"""
import os
import random
import subprocess
import sys

worldfs, copy, scratch, seed = sys.argv[1:]
random.seed(int(seed))
NAMED_MAX = 400  # files changed at once; a run names up to 1000
ALONE = 4        # of each kind of file
failures = []
runs = changes = 0


def path_of(name):
    return os.path.join(copy, name)


def names_of_copy():
    for folder, folders, names in os.walk(copy):
        if folder == copy and ".git" in folders:
            folders.remove(".git")
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not os.path.islink(path):
                yield os.path.relpath(path, copy)


# --- changes: each returns how to undo it ---

def write(name, data):
    with open(path_of(name), "wb") as file:  # in place: extended attributes stay
        file.write(data)


def rewritten(change):
    def apply(name):
        with open(path_of(name), "rb") as file:
            before = file.read()
        write(name, change(before))
        return lambda: write(name, before)
    return apply


def flipped(data):
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1:]


def grown(data):
    at = random.randrange(len(data) + 1)
    return data[:at] + bytes([random.randrange(256)]) + data[at:]


def cut(data):
    return data[:random.randrange(len(data))]


def removed(name):
    os.rename(path_of(name), scratch + "/removed " + name.replace("/", "|"))
    return lambda: os.rename(scratch + "/removed " + name.replace("/", "|"), path_of(name))


def added(name):
    write(name, b"{}\n")
    return lambda: os.unlink(path_of(name))


CHANGES = {"one bit": rewritten(flipped), "one byte more": rewritten(grown), "cut": rewritten(cut),
           "missing": removed, "unknown": added}


def named(err):
    """Every prefix of a line that ends before a colon: file names have colons, too."""
    found = set()
    for line in err.splitlines():
        parts = line.split(": ")
        found |= {": ".join(parts[:count]) for count in range(1, len(parts))}
    return found


def change_all(what, names):
    global runs, changes
    undo = [CHANGES[what](name) for name in names]
    done = subprocess.run([worldfs, "restore", copy, scratch + "/world"], capture_output=True,
                          text=True, errors="replace", check=False)
    for back in undo:
        back()
    runs += 1
    changes += len(names)
    unnamed = set(names) - named(done.stderr)
    if done.returncode != 1 or done.stdout or unnamed or os.path.exists(scratch + "/world"):
        failures.append(f"{what}: exit {done.returncode}, {len(unnamed)} of {len(names)} are not "
                        f"named: {sorted(unnamed)[:3]}\n{done.stderr[:500]}")


def change_each(what, names, at_once=NAMED_MAX):
    names = random.sample(names, len(names))
    for at in range(0, len(names), at_once):
        change_all(what, names[at:at + at_once])
    for name in names[:ALONE]:
        change_all(what, [name])


# --- the files of the copy ---

everything = sorted(names_of_copy())
cells = [name for name in everything if name.startswith("reducers/")]
blobs = [name for name in everything if name.startswith("blob/")]
records = [name for name in everything if name.startswith("journal/") and name.endswith(".json")]
made = [name for name in everything if name.startswith(("artifacts/", "principals/"))]
single = [name for name in everything if name not in set(cells + blobs + records + made)]
assert single == ["README", "journal/head", "journal/log.jsonl", "manifest"], single
empty = [name for name in cells if os.path.getsize(path_of(name)) == 0]
assert not empty, empty

for kind in ("one bit", "one byte more", "cut", "missing"):
    change_each(kind, cells)
    change_each(kind, made)
    # Without its module nothing can be folded, so what the journal names is not missed.
    change_each(kind, blobs, 1 if kind == "missing" else NAMED_MAX)
    change_each(kind, single if kind != "missing" else single[1:], 1)
    # Without the missing records, all of the remaining ones must be whole.
    change_each(kind, records, len(records) // 2 if kind == "missing" else NAMED_MAX)
for _ in range(20):
    change_all("one bit", ["journal/log.jsonl"])
# If the log is known to be whole, which only the file of its last record shows, problems elsewhere do
# not hide problems of the state.
records.remove(f"journal/{len(records) - 1}.json")
for kind in ("one bit", "cut", "missing"):
    some = [random.choice(cells), *random.sample(records, 5), "journal/head"]
    change_all(kind, some + (["README"] if kind != "missing" else []))
for folder in sorted({os.path.dirname(name) + "/" for name in everything}):
    change_each("unknown", [folder.lstrip("/") + name for name in
                            ("more", "%2e", "0" * 64, "01.json", "99999999.json")])
undo_readme = removed("README")  # which may be left out
status = subprocess.run([worldfs, "restore", copy, scratch + "/world"], capture_output=True,
                        text=True, check=False)
undo_readme()
if status.returncode != 0:
    failures.append(f"the copy itself: exit {status.returncode}\n{status.stderr[:500]}")
print(f"# seed {seed}: {changes} changes of {len(everything)} files in {runs} runs, "
      f"{len(failures)} not refused as they should be")
print("\n".join(failures[:10]))
sys.exit(1 if failures else 0)
