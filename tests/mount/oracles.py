# SPDX-License-Identifier: Apache-2.0
"""For test-oracles: `SUBJECT WORLD DIR` asks mounts of several principals, which it makes in the directory DIR.

SUBJECT: numbers, times, figures or existence.
"""
import ctypes
import json
import os
import re
import subprocess
import sys

from rights import Client, ok

HIDDEN, SEEN = 3000, 4200  # more names than those for which a listing has attributes


def scope(*patterns):
    return {"scope": list(patterns)}


def worldfs(*arguments, data=None):
    done = subprocess.run([os.environ["WORLDFS"], "-w", sys.argv[2], *arguments], input=data, capture_output=True,
                          text=True, check=False)
    if done.returncode:
        sys.exit(f"not ok - worldfs {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def add(*keys, by=1):
    lines = "".join(f'{{"key":"{key}","by":{by}}}\n' for key in keys)
    worldfs("event", "test/Add@1", "@-", "--lines", data=lines)


def mount(directory, principal):
    place = f"{directory}/{principal}"
    os.makedirs(place, exist_ok=True)
    worldfs("mount", place, "--as", principal)
    return place


def owner(world, directory):
    """Return: the operator's connection to the process that owns the world."""
    if not os.path.ismount(f"{directory}/operator"):
        mount(directory, "operator")
    return Client(world)


class Dirent(ctypes.Structure):
    _fields_ = [("ino", ctypes.c_uint64), ("off", ctypes.c_int64), ("reclen", ctypes.c_ushort),
                ("type", ctypes.c_ubyte), ("name", ctypes.c_char * 256)]


LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.opendir.restype = ctypes.c_void_p
LIBC.readdir.argtypes = LIBC.closedir.argtypes = LIBC.rewinddir.argtypes = LIBC.telldir.argtypes = [ctypes.c_void_p]
LIBC.readdir.restype = ctypes.POINTER(Dirent)
LIBC.telldir.restype = ctypes.c_long
LIBC.seekdir.argtypes = [ctypes.c_void_p, ctypes.c_long]


class Listing:
    """A directory as C programs list it."""

    def __init__(self, path):
        self.stream = LIBC.opendir(path.encode())
        if not self.stream:
            sys.exit(f"not ok - opendir of {path}: {os.strerror(ctypes.get_errno())}")

    def next(self):
        entry = LIBC.readdir(self.stream)
        return (entry.contents.name.decode(), entry.contents.ino, entry.contents.off) if entry else None

    def rest(self):
        return list(iter(self.next, None))

    def tell(self):
        return LIBC.telldir(self.stream)

    def seek(self, place):
        LIBC.seekdir(self.stream, place)

    def rewind(self):
        LIBC.rewinddir(self.stream)

    def close(self):
        LIBC.closedir(self.stream)


def listed(path):
    listing = Listing(path)
    entries = listing.rest()
    listing.close()
    return entries


def cells(path):
    """Return: name → (inode, offset) of the things that were made in pairs, in the order of making."""
    return {name: (ino, offset) for name, ino, offset in listed(f"{path}/reducers/counter")
            if re.fullmatch(r"a-\d+", name)}


def rises(numbers):
    return sum(one < next_one for one, next_one in zip(numbers, numbers[1:]))


def without_order(what, numbers):
    """In a random order, half of the numbers are followed by a greater one; the bounds are ten standard
    deviations."""
    expected, deviation = (len(numbers) - 1) / 2, (len(numbers) / 12) ** 0.5
    if expected <= 10 * deviation:
        sys.exit(f"not ok - {what}: {len(numbers)} are too few to tell order from none")
    ok(f"{what} have no order", abs(rises(numbers) - expected) < 10 * deviation, rises(numbers))
    ok(f"{what} are all different", len(set(numbers)) == len(numbers))


def same_as_stat(path):
    for name, ino, _ in listed(path):
        if ino != os.lstat(f"{path}/{name}").st_ino and name != "..":
            sys.exit(f"not ok - {path}/{name}: listed {ino}, is {os.lstat(f'{path}/{name}').st_ino}")
    ok(f"listings and stat agree on {path.rsplit('/', 2)[-2:]}", True)


def seeking(place):
    """Every place that telldir gave works, and any other number does no harm."""
    listing = Listing(f"{place}/reducers/counter")
    seen, places = [], []
    while True:
        places.append(listing.tell())
        entry = listing.next()
        if entry is None:
            break
        seen.append(entry[0])
    ok("places are no negative numbers", min(places) >= 0)
    for i in [*range(0, len(seen), 97), 1, 2, 3, len(seen) - 1]:
        listing.seek(places[i])
        entry = listing.next()
        if entry is None or entry[0] != seen[i]:
            sys.exit(f"not ok - seekdir to {places[i]}: {entry} for {seen[i]}")
    ok("seekdir goes where telldir was", True)
    listing.rewind()
    ok("rewinddir begins again", [name for name, _, _ in listing.rest()] == seen)
    listing.close()
    for number in (3, 4, 5, 1 << 40, 1 << 60, (1 << 62) - 1, 1 << 62, (1 << 63) - 1, *(i * i << 41 for i in range(1, 40))):
        for path in ("", "/reducers", "/reducers/counter", "/at"):
            file = os.open(place + path, os.O_RDONLY | os.O_DIRECTORY)
            os.lseek(file, number, os.SEEK_SET)
            names = os.listdir(file)  # a descriptor is read from its present place
            os.close(file)
            if not set(names) <= set(os.listdir(place + path)):
                sys.exit(f"not ok - lseek({number}) in {path}: {names[:5]}")
    ok("a place that nobody gave shows nothing that is not there", True)


def changing(place):
    """Names come and go after the place, and before it."""
    directory = f"{place}/reducers/counter"
    before = [name for name, _, _ in listed(directory)]
    listing = Listing(directory)
    first = [listing.next()[0] for _ in range(100)]
    gone = before[50:60] + before[-60:-50]
    add(*gone, by="null")
    add("a-new1", "b-new2", "a-new3")
    rest = [name for name, _, _ in listing.rest()]
    listing.close()
    # Entries that were read into memory earlier may be old.
    ok("each name that stayed is listed once", [name for name in first + rest if name in set(before) - set(gone)] ==
       [name for name in before if name not in gone])
    after = [name for name, _, _ in listed(directory)]
    ok("a new listing has what came, and not what went", after == [name for name in before if name not in gone] +
       ["a-new1", "a-new3"], after[-4:])
    missing = [name for name in gone if os.path.exists(f"{directory}/{name}")]
    ok("what went is not found", not missing, missing)


def reading(place):
    """Reads cold, with many look-ups, so that siblings are listed and read ahead."""
    directory = f"{place}/reducers/counter"
    wrong = [name for name in os.listdir(directory) if open(f"{directory}/{name}", encoding="utf-8").read() != '{"n":1}\n']
    ok("every file has its bytes", not wrong, wrong[:5])
    name = "a-00007"
    with open(f"{directory}/{name}", encoding="utf-8") as file:
        before = os.fstat(file.fileno()).st_ino
        add(name)
        ok("a file that is open stays as it was", file.read() == '{"n":1}\n')
        ok("and has its number", os.fstat(file.fileno()).st_ino == before)
    ok("the name leads to the new version", open(f"{directory}/{name}", encoding="utf-8").read() == '{"n":2}\n')
    ok("which has another number", os.stat(f"{directory}/{name}").st_ino != before)
    height = re.search(r"\d+", os.readlink(f"{place}/at/head")).group()
    ok("a version has the same number under every height",
       os.stat(f"{place}/at/{height}/reducers/counter/{name}").st_ino == os.stat(f"{directory}/{name}").st_ino)


def following(place):
    """The log, whose pages and size are pushed to Linux."""
    path = f"{place}/journal/log.jsonl"
    with open(path, "rb") as file:
        size = len(file.read())
        ok("the log has the size of its lines", os.fstat(file.fileno()).st_size == size)
        for i in range(20):
            add(f"b-log{i}")
            if b"b-log%d\"" % i not in file.read():
                sys.exit(f"not ok - the line of b-log{i} is not there")
        ok("its new lines come to a reader that has it open", True)
    ok("and no name of another is beside it", os.listdir(f"{place}/journal") == ["log.jsonl"])


def revoking(client, place):
    file = open(f"{place}/reducers/counter/a-00010", "rb")
    client.done("operator", "revoke", name="ada.query.1")
    try:
        file.read()
        ok("an open file is taken back", False)
    except PermissionError:
        ok("an open file is taken back", True)
    ok("and all names", os.listdir(place) == ["ctl"], os.listdir(place))
    client.done("operator", "grant", to="ada", cap="sys/query@1", params=scope("reducers/counter/a*"))
    ok("what is granted again is there", len(cells(place)) > SEEN - 100, len(cells(place)))


def pages(client, who, cmd, member, **payload):
    """Return: all pages of a listing, and the cursors between them."""
    found, cursors = [], []
    while True:
        page = client.done(who, cmd, **payload)
        found += [entry.get("name", entry.get("key_b64")) for entry in page[member]]
        if "next_cursor" not in page:
            return found, cursors
        cursors.append(page["next_cursor"])
        payload["cursor"] = page["next_cursor"]


def paging(client):
    """Cursors of the listings that come in pages."""
    for cmd, member, payload in (("fs-list", "entries", {"path": "reducers/counter"}),
                                 ("list-cells", "cells", {"reducer": "counter"})):
        found, cursors = pages(client, "ada", cmd, member, limit=20, **payload)
        ok(f"all pages of {cmd} have every name once", len(found) == len(set(found)) == SEEN, len(found))
        ok("their cursors are no numbers that count", all(re.fullmatch("x[0-9a-f]{16}", cursor) for cursor in cursors),
           cursors[:2])
        without_order(f"cursors of {cmd}", [int(cursor[1:], 16) for cursor in cursors])
        plain = pages(client, "operator", cmd, member, limit=1000, **payload)[1]
        ok("an unlimited scope has plain ones", plain and all(cursor.isdigit() for cursor in plain), plain)
        for who, cursor in (("ada", plain[0]), ("operator", cursors[0])):
            client.refused(f"{who} cannot go on with a cursor of another kind", "invalid_argument", who, cmd,
                           cursor=cursor, **payload)


def limits(client, place):
    """The numbers of a mount are settled when it begins."""
    client.done("operator", "grant", to="ada", cap="sys/query@1", name="wide")
    wide = cells(place)
    ok("a scope that becomes unlimited shows the rest", os.path.exists(f"{place}/reducers/counter/b-00001"))
    without_order("numbers of a mount that began with a limited scope", [ino for ino, _ in wide.values()])
    client.done("operator", "revoke", name="wide")
    ok("and hides it again", not os.path.exists(f"{place}/reducers/counter/b-00001"))


def artifact(client, name):
    client.done("operator", "invoke", action={"action_type": "write_artifact", "artifact_id": name, "content": name,
                                              "access": "public"})


def times_of(client, who, place, paths):
    """Return: path → its time in a new mount. The socket gives the time at a height."""
    worldfs("umount", place)
    mount(os.path.dirname(place), who)
    told = {client.done(who, "fs-stat", path=path)["mtime_ns"] for path in paths if path in HIDING}
    ok(f"the control socket tells {who} no other times", len(told) <= 1, told)
    return {path: os.stat(f"{place}/{path}").st_mtime_ns for path in paths}


# Directories of which a part is hidden from tim.
HIDING = ["", "reducers/counter", "artifacts", "principals", "principals/tim", "plans", "turns", "journal", "at",
          "reducers"]


def attributes(path):
    return sorted(name.removeprefix("user.worldfs.") for name in os.listxattr(path))


def times(world, directory):
    """Times and attributes of directories of which a part is hidden."""
    for principal, patterns in (("tim", ["reducers/counter/a*", "artifacts/seen*", "journal/head", "principals/tim/scrip",
                                         "plans/x*", "turns/x*"]),
                                ("cat", ["reducers/counter", "artifacts"]), ("none", None)):
        worldfs("principal", "add", principal)
        if patterns:
            worldfs("grant", principal, "query", f'{{"scope":{patterns}}}'.replace("'", '"'))
    client = owner(world, directory)
    artifact(client, "seen1")
    add("a-time")
    height = client.done("operator", "journal-head")["meta"]["journal_height"]
    places = {name: mount(directory, name) for name in ("tim", "cat", "none")}
    partly = HIDING + [f"at/{height}", f"at/{height}/reducers/counter", f"at/{height}/artifacts/seen1"]
    created = client.done("operator", "fs-stat", path="")["mtime_ns"]
    before = times_of(client, "tim", places["tim"], partly)
    ok("what is seen in part is as old as the world", set(before.values()) == {created}, before)
    own = times_of(client, "tim", places["tim"], ["artifacts/seen1", "reducers/counter/a-time"])
    ok("what is seen whole has its time", min(own.values()) > created, own)
    whole = ["reducers/counter", "artifacts", "artifacts/seen1"]
    cat = times_of(client, "cat", places["cat"], whole)
    ok("also a directory of all", min(cat.values()) > created, cat)
    artifact(client, "hidden1")
    add("b-time")
    ok("hidden names change no time", times_of(client, "tim", places["tim"], partly) == before)
    now = times_of(client, "cat", places["cat"], whole)
    ok("names that are seen do", now["artifacts"] > cat["artifacts"] and now["reducers/counter"] > cat["reducers/counter"])
    add("a-time2")
    ok("a height has no time either", times_of(client, "tim", places["tim"], [f"at/{height + 3}"]) ==
       {f"at/{height + 3}": created})
    worldfs("snapshot")
    with open(f"{places['tim']}/journal/head", encoding="utf-8") as file:
        head = file.read()
    ok("journal/head has no hash of everything", "manifest_hash" in head and "snapshot" not in head, head)
    ok("nor has a directory", attributes(places["tim"]) == ["journal_height", "manifest_hash"], attributes(places["tim"]))
    ok("which tells nothing to a principal without a grant", attributes(places["none"]) == [], attributes(places["none"]))
    for place in places.values():
        worldfs("umount", place)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def sizes(path):
    seen = os.statvfs(path)
    return (seen.f_blocks, seen.f_bfree, seen.f_bavail, seen.f_files, seen.f_ffree)


def figures(world, directory):
    """status, metrics and df: a principal that sees a part gets no figures about all principals together."""
    for principal, grants in (("fin", {"query": scope("reducers/counter/a*")}),
                              ("gus", {"query": scope("reducers/counter/a*"), "admin": {}})):
        worldfs("principal", "add", principal)
        for cap, params in grants.items():
            worldfs("grant", principal, cap, json.dumps(params))
    client = owner(world, directory)
    places = {name: mount(directory, name) for name in ("fin", "gus")} | {"operator": f"{directory}/operator"}
    hidden = {"effects_in_flight", "queue", "store"}
    for who, place in places.items():
        told = {"the socket": set(client.done(who, "status")), "a command": set(json.loads(worldfs("--as", who, "status", "--json"))["data"]),
                "ctl/status": set(json.loads(read(f"{place}/ctl/status")))}
        metrics = {line.split()[0] for line in read(f"{place}/ctl/metrics").splitlines() if line[0] != "#"}
        for way, members in told.items():
            ok(f"{way} tells {who} {'nothing' if who == 'fin' else 'all'} of what others do",
               members & hidden == (set() if who == "fin" else hidden), members)
        expected = {"worldfs_height", "worldfs_first_height"}
        ok(f"metrics tell {who} as much", metrics == expected if who == "fin" else metrics > expected, metrics)
        ok(f"and so does df for {who}", (sizes(place) == (0,) * 5) == (who == "fin"), sizes(place))
        ok("which has no figures of the control files", sizes(f"{place}/ctl/") == (0,) * 5)
    status = client.done("fin", "status")
    ok("mounts of others are not counted", len(status["mounts"]) == 1 and "mount_count" not in status, status)
    for name in ("fin", "gus"):
        worldfs("umount", places[name])


def told(client, who, name, **action):
    """Return: the whole answer to an action, without the name that it is about."""
    answer = client.call(who, "invoke", action=action)
    answer.pop("id")
    answer["meta"] = sorted(answer.get("meta", {}))  # the height differs
    return json.dumps(answer, sort_keys=True).replace(name, "NAME")


def existence(world, directory):
    """The refusal is equal for things that do not exist and for hidden things."""
    for principal, grants in (("eli", {"query": scope("artifacts/mine*", "artifacts/shown*"), "act": {}}),
                              ("fay", {"act": {}})):
        worldfs("principal", "add", principal, "--scrip", "50")
        for cap, params in grants.items():
            worldfs("grant", principal, cap, json.dumps(params))
    client = owner(world, directory)

    def write(who, name, access, **more):
        client.done(who, "invoke", action={"action_type": "write_artifact", "artifact_id": name, "content": "text",
                                           "access": access} | more)

    for name, access in (("dark1", "private"), ("dark2", "self_owned"), ("dark3", "judge"), ("shown1", "private"),
                         ("gone1", "private"), ("open1", "freeware")):
        write("operator", name, access)
    write("operator", "judge", "private", executable=True,
          code="function check(caller, action, artifact) return {allowed = false, reason = caller .. action} end")
    client.done("operator", "invoke", action={"action_type": "delete_artifact", "artifact_id": "gone1"})
    actions = {"read_artifact": {}, "edit_artifact": {"old_string": "text", "new_string": "t"}, "delete_artifact": {},
               "invoke_artifact": {}, "transfer_ownership": {"to": "operator"}, "submit_to_mint": {"bid": 1}}
    for who in ("eli", "fay"):
        for action_type, params in actions.items():
            nowhere = told(client, who, "nowhere1", action_type=action_type, artifact_id="nowhere1", **params)
            ok(f"{action_type} of what is not there is refused", '"not_found"' in nowhere, nowhere)
            for name in ("dark1", "dark2", "dark3", "gone1"):
                here = told(client, who, name, action_type=action_type, artifact_id=name, **params)
                ok(f"{who}'s {action_type} of {name} is like that of nothing", here == nowhere, (here, nowhere))
        nowhere = told(client, who, "nowhere1", action_type="write_artifact", artifact_id="mine", content="", depends_on=["nowhere1"])
        for name in ("dark1", "dark2", "dark3", "gone1"):
            here = told(client, who, name, action_type="write_artifact", artifact_id="mine", content="", depends_on=[name])
            ok(f"{who} depends on {name} as on nothing", here == nowhere and "not_found" in here, (here, nowhere))
        memory = [told(client, who, name, action_type="invoke_artifact", artifact_id="genesis_memory", method="delete",
                       args=[{"memory": name, "entry": "1"}]) for name in ("dark1", "gone1", "nowhere1")]
        ok(f"{who}'s memory is none of them", len(set(memory)) == 1 and "not found" in memory[0], memory)
        taken = {told(client, who, name, action_type="write_artifact", artifact_id=name, content="")
                 for name in ("dark1", "dark2", "dark3", "gone1", "operator", "tim")}
        ok(f"{who} is told of a taken id that it is taken, and nothing else", len(taken) == 1 and "taken" in taken.pop(), taken)
        write(who, f"mine_{who}", "freeware", depends_on=["open1"])
    eli = mount(directory, "eli")
    for i in range(8):
        write("eli", f"mine{i}", "freeware")
    places = {who: [os.stat(f"{place}/ctl/artifacts/mine{i}").st_ino >> 8 & 0xFFFFFFFF for i in range(8)]
              for who, place in (("eli", eli), ("operator", f"{directory}/operator"))}
    ok("files to write artifacts to are numbered as they were made", rises(places["operator"]) == 7, places)
    ok("but not for eli", len(set(places["eli"])) == 8 and max(places["eli"]) > 1000 and
       not set(places["eli"]) & set(places["operator"]), places)
    with open(f"{eli}/ctl/artifacts/mine3", "w", encoding="utf-8") as file:
        file.write("by file")
    ok("what is written there is kept", read(f"{eli}/artifacts/mine3/content") == "by file")
    worldfs("umount", eli)
    shown = mount(directory, "eli")
    hashes = {who: "state_hash" in attributes(f"{place}/artifacts/shown1/content")
              for who, place in (("eli", shown), ("operator", f"{directory}/operator"))}
    ok("a content that may not be read has no hash, by which a short one is found", hashes == {"eli": False, "operator": True},
       hashes)
    told_hash = {who: "user.worldfs.state_hash" in client.done(who, "fs-stat", path="artifacts/shown1/content")["xattrs"]
                 for who in ("eli", "operator")}
    ok("nor by the control socket", told_hash == hashes, told_hash)
    ok("the owner's own has one", "state_hash" in attributes(f"{shown}/artifacts/mine3/content"))
    worldfs("umount", shown)
    asked = {way: ["content_hash" in ask(name) for name in ("shown1", "mine3")] for way, ask in (
        ("a query", lambda name: json.loads(worldfs("--as", "eli", "query", "artifact", f"artifact_id={name}"))["result"]),
        ("an action that asks", lambda name: client.done("eli", "invoke", action={
            "action_type": "query_kernel", "query_type": "artifact", "params": {"artifact_id": name}})["data"]["result"]))}
    for way, hashes in asked.items():
        ok(f"{way} tells the hash of the owner's own content alone", hashes == [False, True], hashes)
    seen = told(client, "eli", "shown1", action_type="edit_artifact", artifact_id="shown1", old_string="a", new_string="b")
    ok("what is shown is refused with the reason", "not_authorized" in seen and "private" in seen, seen)
    seen = told(client, "operator", "gone1", action_type="read_artifact", artifact_id="gone1")
    ok("and what was deleted with who did it", '"deleted"' in seen and "operator" in seen, seen)
    code = """function run(name)
        local done = kernel_actions.write_artifact({artifact_id = name, content = ""})
        local read = kernel_actions.read_artifact(name)
        local ran = invoke(name)
        return {done, read, ran, kernel_state.get_artifact_metadata(name) == nil}
    end"""
    write("eli", "mine_code", "freeware", executable=True, code=code)
    results = {json.dumps(client.done("eli", "invoke", action={"action_type": "invoke_artifact", "artifact_id": "mine_code",
                                                               "args": [name]})["data"]["result"]).replace(name, "NAME")
               for name in ("dark1", "dark2", "dark3", "gone1")}
    ok("code is told the same of all that is hidden", len(results) == 1 and "not found" in results.copy().pop(), results)


def numbers(world, directory):
    for principal, patterns in (("ada", ["reducers/counter/a*"]), ("bea", ["reducers/counter/a*"]),
                                ("log", ["journal/log.jsonl"]), ("all", [])):
        worldfs("principal", "add", principal)
        worldfs("grant", principal, "query", f'{{"scope":{patterns}}}'.replace("'", '"') if patterns else "{}")
    keys = []
    for i in range(SEEN):
        keys += [f"a-{i:05}"] + ([f"b-{i:05}"] if i < HIDDEN and i % 3 else [])
    add(*keys)
    places = {name: mount(directory, name) for name in ("operator", "ada", "bea", "log", "all")}
    plain, ada = cells(places["operator"]), cells(places["ada"])
    ok("the operator's inodes count on", rises([ino for ino, _ in plain.values()]) == SEEN - 1)
    ok("and so do his places", rises([offset for _, offset in plain.values()]) == SEEN - 1)
    ok("an unlimited scope has the same ones", cells(places["all"]) == plain)
    ok("a limited one has the same names in the same order", list(ada) == list(plain))
    without_order("its inodes", [ino for ino, _ in ada.values()])
    without_order("its places", [offset for _, offset in ada.values()])
    bea = cells(places["bea"])
    shared = {number for pair in ada.values() for number in pair} & {number for pair in bea.values() for number in pair}
    ok("nobody else has its numbers", not shared, shared)
    ok("the root is 1 for everybody", {os.stat(place).st_ino for place in places.values()} == {1})
    for path in ("", "/reducers", "/reducers/counter"):
        same_as_stat(places["ada"] + path)
    worldfs("umount", places["ada"])
    mount(directory, "ada")
    ok("another mount has the same numbers", cells(places["ada"]) == ada)
    for place in places.values():
        worldfs("umount", place)
    for name in places:
        mount(directory, name)
    client = Client(world)
    ok("another process has the same numbers", cells(places["ada"]) == ada)
    paging(client)
    seeking(places["ada"])
    reading(places["ada"])
    changing(places["ada"])
    following(places["log"])
    limits(client, places["ada"])
    revoking(client, places["ada"])


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
