# SPDX-License-Identifier: Apache-2.0
"""Shared by failing-calls and failing-owner: which calls fail, and how the library gets its
orders."""
import errno
import mmap
import os
import sys

KINDS = {  # kind: the error with which it fails
    "write": [errno.ENOSPC, errno.EIO],
    "sync": [errno.EIO],
    "rename": [errno.ENOSPC, errno.EIO],
    "open": [errno.ENOSPC, errno.EMFILE],
    "mkdir": [errno.ENOSPC],
    "truncate": [errno.ENOSPC],
    "map": [errno.ENOMEM],
    "descriptor": [errno.EMFILE],
    "thread": [errno.EAGAIN],
    "alloc": [errno.ENOMEM],
}
PATIENCE_S = 20


class Counter:
    """The file in which the library counts calls."""

    def __init__(self, path):
        self.path = path
        with open(path, "wb") as file:
            file.truncate(8)
        with open(path, "r+b") as file:
            self.count = mmap.mmap(file.fileno(), 8)

    def arm(self, kind, number, nth, onwards):
        """Return: the environment of a program whose `nth` call of the kind fails."""
        self.count[:] = bytes(8)
        environment = dict(os.environ, FAULT_KIND=kind, FAULT_NTH=str(nth),
                           FAULT_ERRNO=str(number), FAULT_COUNTER=self.path,
                           LD_PRELOAD=os.environ["FAIL_CALL"])
        if onwards:
            environment["FAULT_ONWARDS"] = "1"
        return environment

    def calls(self):
        return int.from_bytes(self.count, sys.byteorder)


def sweep(kind, every, attempt, only=None, first=1):
    """Calls attempt(number, nth, onwards) for every `every`-th n from `first` on until it reports
    that there were fewer calls, or for one n only. Return: how many were tried."""
    tried = 0
    for number in KINDS[kind]:
        for onwards in (False, True):
            nth = only or first
            while attempt(number, nth, onwards) >= nth:
                nth += every
                tried += 1
                if only:
                    break
    return tried


def name(kind, number, nth, onwards):
    return f"{kind} {nth}{' and later' if onwards else ''}: {errno.errorcode[number]}"
