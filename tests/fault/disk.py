# SPDX-License-Identifier: Apache-2.0
"""What a disk may hold after a crash, from the recording of a run (record-writes.c).

The model is what POSIX promises and no more. A write is durable after a later sync of its file (or if
it was made with O_DSYNC); until then any of its blocks may be on the disk, and the size with them. A
name that was made, changed or removed is durable after a later sync of its directory; until then the
disk may have its state before or after. A rename is one change, durable with its target directory.
The writes that reached the disk appear in the order in which they were made: if two overlap, both
were in the page cache, and the newest is written.
"""
import os

BLOCK = 4096


class Operation:
    def __init__(self, fields, data):
        self.kind = fields[0]
        self.fields = fields[1:]
        self.data = data


def read_log(path):
    operations = []
    with open(path, "rb") as file:
        for line in file:
            fields = line.decode().rstrip("\n").split("\t")
            operations.append(Operation(fields[:-1], file.read(int(fields[-1]))))
    return operations


class Change:
    """One thing that a crash keeps or loses as a whole: a block of a file, a size, or a name."""

    def __init__(self, index, sure_by):
        self.index = index      # index of the operation
        self.sure_by = sure_by  # inode whose sync makes the change durable
        self.sure_at = None     # index of that sync, or None


class Block(Change):
    def __init__(self, index, inode, offset, data):
        super().__init__(index, inode)
        self.offset, self.data = offset, data

    def apply(self, content):
        if len(content) < self.offset:
            content.extend(bytes(self.offset - len(content)))
        content[self.offset:self.offset + len(self.data)] = self.data


class Size(Change):
    def __init__(self, index, inode, size):
        super().__init__(index, inode)
        self.size = size

    def apply(self, content):
        del content[self.size:]
        content.extend(bytes(self.size - len(content)))


class Names(Change):
    """Entries of directories that change together: (directory, name, inode or None)."""

    def __init__(self, index, directory, entries):
        super().__init__(index, directory)
        self.entries = entries


class Disk:
    def __init__(self, root, operations, directories):
        """`directories`: the empty directories that were in the root before."""
        self.root = root
        self.root_inode = 0
        self.directories = {0: {}}  # as the program sees them, while the recording is read
        self.names = []             # Names, in order
        self.contents = {}          # inode of a file -> changes, in order
        self.modes = {}             # inode of a directory -> mode that it is made with
        self.serial = 0
        self.inodes = {os.stat(root).st_ino: 0}  # the machine's inode -> our number, which is never used again
        self.mapped = set()
        self.length = len(operations)
        for name in directories:
            inode = self.new_inode(os.stat(f"{root}/{name}").st_ino)
            self.directories[inode] = {}
            self.change_names(-1, self.root_inode, [(self.root_inode, name, inode)])
            self.names[-1].sure_at = -1
        for index, operation in enumerate(operations):
            getattr(self, "do_" + operation.kind)(index, operation)

    # --- reading the recording ---

    def place(self, path):
        """The directory and the name of a path."""
        directory = self.root_inode
        parts = os.path.relpath(path, self.root).split("/")
        for part in parts[:-1]:
            directory = self.directories[directory][part]
        return directory, parts[-1]

    def change_names(self, index, sure_by, entries):
        for directory, name, inode in entries:
            if inode is None:
                self.directories[directory].pop(name)
            else:
                self.directories[directory][name] = inode
        self.names.append(Names(index, sure_by, entries))

    def new_inode(self, number):
        self.serial += 1
        self.inodes[int(number)] = self.serial
        return self.serial

    def add_content(self, change):
        self.contents[change.sure_by].append(change)
        return change

    def do_create(self, index, operation):
        directory, name = self.place(operation.fields[0])
        inode = self.new_inode(operation.fields[1])
        self.contents[inode] = []
        self.change_names(index, directory, [(directory, name, inode)])

    def do_mkdir(self, index, operation):
        directory, name = self.place(operation.fields[0])
        inode = self.new_inode(operation.fields[1])
        self.directories[inode] = {}
        self.modes[inode] = int(operation.fields[2])
        self.change_names(index, directory, [(directory, name, inode)])

    def do_rename(self, index, operation):
        source, old = self.place(operation.fields[0])
        target, new = self.place(operation.fields[1])
        inode = self.directories[source][old]
        self.change_names(index, target, [(source, old, None), (target, new, inode)])

    def do_unlink(self, index, operation):
        directory, name = self.place(operation.fields[0])
        self.change_names(index, directory, [(directory, name, None)])

    def do_write(self, index, operation):
        inode, data = self.inodes[int(operation.fields[0])], operation.data
        offset = int(operation.fields[1])
        while data:
            size = BLOCK - offset % BLOCK
            block = self.add_content(Block(index, inode, offset, data[:size]))
            if operation.fields[2] == "1":
                block.sure_at = index
            offset, data = offset + size, data[size:]

    def do_truncate(self, index, operation):
        inode = self.inodes[int(operation.fields[0])]
        self.add_content(Size(index, inode, int(operation.fields[1])))

    def do_sync(self, index, operation):
        inode = self.inodes[int(operation.fields[0])]
        for change in self.contents.get(inode, []) + self.names:
            if change.sure_by == inode and change.sure_at is None:
                change.sure_at = index

    def do_syncall(self, index, _operation):
        for change in sum(self.contents.values(), self.names[:]):
            if change.sure_at is None:
                change.sure_at = index

    def do_map(self, _index, operation):
        self.mapped.add(os.path.basename(operation.fields[0]))

    def do_said(self, _index, _operation):
        pass

    # --- what may be on the disk after a crash before operation `point` ---

    def unsure(self, point):
        """The changes that a crash here may keep or lose: names, contents."""
        return ([change for change in self.names if self.is_unsure(change, point)],
                [change for changes in self.contents.values() for change in changes
                 if self.is_unsure(change, point)])

    @staticmethod
    def is_unsure(change, point):
        # A change that is durable once it is made is uncertain while it is made.
        return change.index < point and (
            change.sure_at is None or change.sure_at >= point or
            change.sure_at == change.index == point - 1)

    def tree(self, point, kept):
        """The files of the state: path -> content, or the mode of a directory."""
        directories = {inode: {} for inode in self.directories}
        for change in self.names:
            if change.index < point and (change in kept or not self.is_unsure(change, point)):
                for directory, name, inode in change.entries:
                    if inode is None:
                        directories[directory].pop(name, None)
                    else:
                        directories[directory][name] = inode
        files = {}
        self.walk(directories, self.root_inode, "", point, kept, files)
        return files

    def walk(self, directories, directory, path, point, kept, files):
        for name, inode in directories[directory].items():
            if inode in directories:
                files[f"{path}/{name}"] = self.modes.get(inode, 0o700)
                self.walk(directories, inode, f"{path}/{name}", point, kept, files)
            else:
                files[f"{path}/{name}"] = self.content(inode, point, kept)

    def content(self, inode, point, kept):
        content = bytearray()
        for change in self.contents[inode]:
            if change.index < point and (change in kept or not self.is_unsure(change, point)):
                change.apply(content)
        return bytes(content)
