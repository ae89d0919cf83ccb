# SPDX-License-Identifier: Apache-2.0
"""Folds a random history a second time and compares it with at/<h> of a mount.

  history-fold.py make SEED EVENTS KEYS FILE     writes the values of test/Add@1, one a line
  history-fold.py check SEED HEIGHTS FILE TREE [FIRST]
                                                 FILE's line i is the record 2 + i of TREE; heights
                                                 below FIRST do not exist
  history-fold.py print SEED HEIGHTS TREE FIRST  a line a height from FIRST on: the hash of everything
                                                 in at/<h>: names in order, attributes, bytes
"""
import hashlib
import json
import os
import random
import sys

FIRST_HEIGHT = 2  # after init: genesis and its snapshot
NAMES = "key {:03}"


def make(generator, count, keys, path):
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(count):
            value = {"key": NAMES.format(generator.randrange(keys))}
            value["by"] = None if generator.random() < 0.15 else generator.randrange(3)
            if generator.random() < 0.2:
                many = 100_000 if generator.random() < 0.02 else 2000
                value["pad"] = "p" * generator.randrange(many)
            file.write(json.dumps(value) + "\n")


def fold(path):
    """Yields after each line: {key: (bytes, height that wrote them)}, live keys only."""
    states, cells = {}, {}
    for height, line in enumerate(open(path, encoding="utf-8"), FIRST_HEIGHT + 1):
        event = json.loads(line)
        key = event["key"]
        if event["by"] is None:
            states.pop(key, None)
            cells.pop(key, None)
        else:
            state = states.setdefault(key, {"n": 0})
            state["n"] += event["by"]
            if "pad" in event:
                state["pad"] = event["pad"]
            text = (json.dumps(state, sort_keys=True, separators=(",", ":")) + "\n").encode()
            if key not in cells or cells[key][0] != text:
                cells[key] = (text, height)
        yield height, cells


def is_absent(path):
    try:
        os.stat(path)
    except FileNotFoundError:
        return True
    return False


def check_height(directory, cells, all_keys, inodes):
    assert sorted(os.listdir(directory)) == sorted(cells), f"{directory}: other names"
    for key in all_keys:
        path = f"{directory}/{key}"
        if key not in cells:
            assert is_absent(path), f"{path} should not be there"
            continue
        text, written = cells[key]
        with open(path, "rb", buffering=0) as file:
            status = os.fstat(file.fileno())
            content = file.readall()
        assert content == text, f"{path}: {content!r}, not {text!r}"
        assert status.st_size == len(text), f"{path}: size {status.st_size}"
        inode = inodes.setdefault((key, written), status.st_ino)
        assert inode == status.st_ino, f"{path}: another inode than elsewhere"
    key = min(cells, default=None)
    if key is not None:
        height = os.getxattr(f"{directory}/{key}", "user.worldfs.height").decode()
        assert height == str(cells[key][1]), f"{directory}/{key}: written at {height}"


def check(generator, height_count, path, tree, first=FIRST_HEIGHT + 1):
    first = int(first)
    with open(path, encoding="utf-8") as file:
        events = [json.loads(line) for line in file]
    last = FIRST_HEIGHT + len(events)
    all_keys = sorted({event["key"] for event in events})
    chosen = set(generator.sample(range(first, last + 1), height_count))
    dropped = [first - 1, *generator.sample(range(1, first), min(first - 1, height_count))]
    for height in dropped if first > FIRST_HEIGHT + 1 else []:
        assert is_absent(f"{tree}/at/{height}"), f"{height} should be gone"
        assert is_absent(f"{tree}/at/{height}/reducers/counter"), f"what {height} shows should be gone"
    inodes = {}  # (key, height that wrote it) -> inode number
    for height, cells in fold(path):
        if height in chosen:
            check_height(f"{tree}/at/{height}/reducers/counter", cells, all_keys, inodes)
        if height == last:
            check_height(f"{tree}/reducers/counter", cells, all_keys, inodes)
    assert len(set(inodes.values())) == len(inodes), "two versions have one inode number"
    print(f"{len(chosen)} heights, {len(inodes)} versions agree")


def print_path(digest, path, names):
    status = os.lstat(path)
    digest.update(repr((path, status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns,
                        status.st_nlink)).encode())
    for name in os.listxattr(path):
        digest.update(name.encode() + os.getxattr(path, name))
    if os.path.isdir(path):
        listed = os.listdir(path)  # in the order of the directory
        digest.update(repr(listed).encode())
        for name in names or listed:
            print_path(digest, f"{path}/{name}", None)
    else:
        with open(path, "rb") as file:
            digest.update(file.read())


def print_heights(generator, height_count, tree, first, cut_at=None):
    """Prints a hash of all that each height shows; with `cut_at`, the head before the journal was cut,
    all but the records."""
    with open(f"{tree}/journal/head", encoding="utf-8") as file:
        last = int(cut_at or json.load(file)["journal_height"])
    for height in sorted(generator.sample(range(int(first), last + 1), height_count)):
        digest = hashlib.sha256()
        root = f"{tree}/at/{height}"
        for name in ["README", "manifest", "reducers", "blob"]:
            print_path(digest, f"{root}/{name}", None)
        if cut_at:
            print_path(digest, f"{root}/journal/head", None)
            print(height, digest.hexdigest())
            continue
        records = [f"{generator.randrange(height)}.json" for _ in range(5)]
        print_path(digest, f"{root}/journal", ["head", "log.jsonl", *records])
        print(height, digest.hexdigest())


def main():
    verb, seed, count, *rest = sys.argv[1:]
    generator = random.Random(f"{verb} {seed}")
    if verb == "make":
        make(generator, int(count), int(rest[0]), rest[1])
    elif verb == "check":
        check(generator, int(count), *rest)
    else:
        print_heights(generator, int(count), *rest)


main()
