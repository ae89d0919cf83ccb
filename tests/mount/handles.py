# SPDX-License-Identifier: Apache-2.0
"""For test-handles: `SUBJECT WORLD DIR` opens files of mounts by their handles; it mounts in the directory DIR.

SUBJECT: kept (handles of before the mount was made anew) or guessed (any number, after a revocation).
"""
import ctypes
import errno
import os
import re
import stat
import sys

from oracles import add, mount, scope, worldfs
from rights import ok

AT_FDCWD, AT_SYMLINK_FOLLOW = -100, 0x400
LIBC = ctypes.CDLL(None, use_errno=True)
COUNT = 50  # cells


class Handle(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint), ("type", ctypes.c_int), ("words", ctypes.c_uint32 * 32)]


def call(function, *arguments):
    result = function(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def handle_of(path):
    handle, mount_id = Handle(size=128), ctypes.c_int()
    call(LIBC.name_to_handle_at, AT_FDCWD, path.encode(), ctypes.byref(handle), ctypes.byref(mount_id), 0)
    return handle


def handle_to(number):
    """A handle as Linux makes it for FUSE: the number of the inode, and its generation."""
    handle = Handle(size=12, type=0x81)
    handle.words[:3] = [number >> 32, number & 0xffffffff, 0]
    return handle


class Mount:
    """A mounted tree, whose files are opened by handles."""

    def __init__(self, path):
        self.root = os.open(path, os.O_RDONLY | os.O_DIRECTORY)

    def open(self, handle, flags=os.O_RDONLY):
        return call(LIBC.open_by_handle_at, self.root, ctypes.byref(handle), flags)

    def read(self, handle):
        """Return: the contents of a file, or the names in a directory."""
        file = self.open(handle)
        try:
            if stat.S_ISDIR(os.fstat(file).st_mode):
                return sorted(os.listdir(file))
            return os.pread(file, 1 << 20, 0)
        finally:
            os.close(file)

    def error(self, handle):
        """Return: the error of opening or reading; None: no error."""
        try:
            self.read(handle)
        except OSError as error:
            return errno.errorcode[error.errno]
        return None

    def close(self):
        os.close(self.root)


def read_path(path):
    if os.path.isdir(path):
        return sorted(os.listdir(path))
    with open(path, "rb") as file:
        return file.read()


def walk(place):
    """Return: path → inode of all files and directories, without the control files."""
    found = {place: os.stat(place).st_ino}
    for directory, directories, files in os.walk(place):
        for name in directories + files:
            path = f"{directory}/{name}"
            if not os.path.islink(path):
                found[path] = os.stat(path).st_ino
    return found


def kept():
    add(*(f"file{i:06}" for i in range(COUNT)))
    worldfs("invoke", '{"action_type":"write_artifact","artifact_id":"note","type":"note","content":"one"}')
    place = mount(sys.argv[3], "operator")
    height = re.search(r"\d+", os.readlink(f"{place}/at/head")).group()
    paths = walk(place)
    handles = {path: handle_of(path) for path in paths}
    old = walk(f"{place}/at/{height}")
    directories = {path for path in old if os.path.isdir(path)}
    old_handles = {path: handle_of(path) for path in old}
    log = handle_of(f"{place}/journal/log.jsonl")
    worldfs("umount", place)
    mount(sys.argv[3], "operator")
    tree = Mount(place)

    lost = {path: tree.error(handle) for path, handle in handles.items() if tree.error(handle)}
    ok(f"none of {len(paths)} handles is lost", not lost, lost)
    other = [path for path, handle in handles.items() if tree.read(handle) != read_path(path)]
    ok("each leads to what its path leads to", not other, other)
    numbers = {os.fstat(file).st_ino for file in opened(tree, handles.values())}
    ok("and has the number it had", numbers == set(paths.values()))
    directory = tree.open(handles[f"{place}/reducers/counter"])
    ok("a directory is found again under its path",
       os.readlink(f"/proc/self/fd/{directory}") == f"{place}/reducers/counter")
    os.close(directory)

    tree.close()
    worldfs("umount", place)
    mount(sys.argv[3], "operator")
    tree = Mount(place)
    errors = {path: tree.error(handle) for path, handle in old_handles.items()}
    ok("files below a height are found by their handles", not {path: error for path, error in errors.items()
                                                              if error and path not in directories}, errors)
    # Linux looks for the name of a directory in its parent, and at/ lists nothing.
    ok("directories below a height are not", {errors[path] for path in directories} == {"ESTALE"}, errors)
    file = tree.open(log)
    before = os.pread(file, 1 << 20, 0)
    add("file000000")
    after = os.pread(file, 1 << 20, 0)
    ok("the log that was opened by its handle grows", after.startswith(before) and after.count(b"\n") > before.count(b"\n")
       and os.fstat(file).st_size == len(after))
    os.close(file)
    ok("a handle of a version that is not the newest leads there",
       tree.read(handles[f"{place}/reducers/counter/file000000"]) == b'{"n":1}\n')
    worldfs("invoke", '{"action_type":"delete_artifact","artifact_id":"note"}')
    ok("one of an artifact that was deleted leads nowhere",
       tree.error(handles[f"{place}/artifacts/note/content"]) in ("ESTALE", "ENOENT") and
       tree.error(handles[f"{place}/artifacts/note"]) in ("ESTALE", "ENOENT"))
    tree.close()


def opened(tree, handles):
    for handle in handles:
        file = tree.open(handle)
        yield file
        os.close(file)


def guesses(height, cells, versions):
    """Numbers of every kind that fs/tree/ino.h has."""
    views = sorted({0, 1, 2, height // 2, height - 1, height, height + 1})
    for kind in range(16):
        for number in range(versions):
            yield kind << 60 | number
    for file in range(32):
        for number in range(versions):
            yield 11 << 60 | file << 55 | number
    for directory in range(16):
        for reducer in range(cells):
            for view in views:
                yield 1 << 60 | directory << 56 | reducer << 40 | view
    for cell in range(cells):
        for view in views:
            yield 12 << 60 | view << 28 | cell
            for which in range(8):
                yield 14 << 60 | which << 57 | view << 25 | cell


def shown(place, heights):
    """Return: the numbers of directories and the contents of files to which paths lead."""
    directories, contents = set(), set()
    for root in [place, *(f"{place}/at/{height}" for height in heights)]:
        for path, ino in walk(root).items():
            if os.path.isdir(path):
                directories.add(ino)
            else:
                contents.add(read_path(path))
    return directories | {os.stat(f"{place}/at").st_ino}, contents


def try_all(place, numbers):
    """Return: the numbers of directories and the contents to which handles lead, and the other answers."""
    tree, directories, contents, errors = Mount(place), set(), set(), {}
    for number in numbers:
        try:
            file = tree.open(handle_to(number))
        except OSError as error:
            errors[number] = error.errno
            continue
        if stat.S_ISDIR(os.fstat(file).st_mode):
            directories.add(os.fstat(file).st_ino)
        else:
            try:
                contents.add(os.pread(file, 1 << 20, 0))
            except OSError as error:
                errors[number] = error.errno
        os.close(file)
    tree.close()
    return directories, contents, errors


def guessed():
    worldfs("principal", "add", "alice")
    worldfs("principal", "add", "bob")
    worldfs("grant", "alice", "sys/query@1", "--name", "all")
    worldfs("grant", "bob", "sys/query@1", '{"scope":["reducers/counter/file00000*"]}')
    worldfs("invoke",
            '{"action_type":"write_artifact","artifact_id":"secret","type":"note","access":"private","content":"vanadium"}')
    add("file000001", "hidden")
    place = mount(sys.argv[3], "alice")
    before = walk(place)
    hidden = handle_of(f"{place}/reducers/counter/hidden")
    held = os.open(f"{place}/reducers/counter/hidden", os.O_RDONLY)
    ok("a right shows a file", os.pread(held, 100, 0) == b'{"n":1}\n')
    log = handle_of(f"{place}/journal/log.jsonl")

    worldfs("grant", "alice", "sys/query@1", '{"scope":["reducers/counter/file00000*"]}')
    worldfs("revoke", "all")
    tree = Mount(place)
    ok("after its revocation a handle of a file that is open gives nothing", tree.error(hidden) in ("EACCES", "ESTALE", "ENOENT"))
    os.close(held)
    ok("nor one of a file that is not", tree.error(hidden) == "ESTALE" and tree.error(log) == "ESTALE")
    tree.close()

    height = int(re.search(r"\d+", os.readlink(f"{place}/at/head")).group())
    directories, contents = shown(place, range(1, height + 1))
    versions = 1 + max(number & (1 << 55) - 1 for number in before.values() if number >> 60 == 2)
    numbers = list(dict.fromkeys([*guesses(height, 32, versions), *before.values()]))
    found_directories, found, errors = try_all(place, numbers)
    ok(f"{len(numbers)} guesses show no directory that no path leads to", found_directories <= directories,
       [hex(number) for number in found_directories - directories])
    ok("and no bytes", found <= contents, found - contents)
    ok("but what may be seen", {os.stat(f"{place}/reducers/counter").st_ino} <= found_directories and b'{"n":1}\n' in found)
    for link in ("ctl", "at/head"):
        ok(f"{link} is found", errors.pop(os.lstat(f"{place}/{link}").st_ino) == errno.ELOOP)
    ok("no answer tells that something is hidden", set(errors.values()) == {errno.ESTALE},
       {hex(number): errno.errorcode[code] for number, code in errors.items() if code != errno.ESTALE})

    place = mount(sys.argv[3], "bob")
    found_directories, found, errors = try_all(place, numbers)
    ok("numbers of others lead nowhere in a mount with a limited scope",
       found_directories == {1} and not found and set(errors.values()) == {errno.ESTALE},
       (found_directories, found, set(errors.values())))
    paths = walk(place)
    handles = {path: handle_of(path) for path in paths}
    worldfs("umount", place)
    mount(sys.argv[3], "bob")
    tree = Mount(place)
    lost = {path: tree.error(handle) for path, handle in handles.items() if tree.error(handle)}
    ok(f"but its own {len(paths)} do, also when it was made anew", not lost and len(paths) > 10, lost)
    tree.close()


if __name__ == "__main__":
    {"kept": kept, "guessed": guessed}[sys.argv[1]]()
