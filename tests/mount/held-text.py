# SPDX-License-Identifier: Apache-2.0
"""A private text that a process has open and mapped shows nothing once a command has taken the right to it:
held-text.py FILE COMMAND…
"""
import errno
import mmap
import os
import signal
import subprocess
import sys

path, command = sys.argv[1], sys.argv[2:]


def mapping_gives():
    """A child process reads the first byte of the mapping. Return: its status."""
    child = os.fork()
    if child == 0:
        os._exit(mapping[0])
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


file = os.open(path, os.O_RDONLY)
text = os.read(file, 1 << 16)
mapping = mmap.mmap(file, len(text), mmap.MAP_SHARED, mmap.PROT_READ)
assert mapping_gives() == text[0]
subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
for size in (1, len(text), len(text) + 1):  # Linux asks for the size only at a read up to the end
    try:
        given = os.pread(file, size, 0)
    except OSError as error:
        assert error.errno in (errno.EACCES, errno.ENOENT), error
    else:
        sys.exit(f"{path}: a read of {size} bytes gives {given}")
status = mapping_gives()
assert status == -signal.SIGBUS, f"{path}: the mapping gives {status}"
