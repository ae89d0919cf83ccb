# SPDX-License-Identifier: Apache-2.0
"""Lists a directory into memory that never comes: hanging-reader.py DIRECTORY FILE PID

FILE is in a mount that the process PID serves, and no process has read it before. It is mapped, PID is
stopped, and the listing shall be written into a page of the file. Linux waits for the page with the
directory locked, until PID continues. Prints `listing` before that, `listed` after it.
"""
import ctypes
import mmap
import os
import signal
import sys
import time


def stopped(process):
    """Have all of its threads got the signal?"""
    for thread in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{thread}/stat", encoding="utf-8") as file:
            if file.read().rpartition(")")[2].split()[0] != "T":
                return False
    return True


directory, path, pid = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
with open(path, "rb") as file:
    page = mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE)
os.kill(int(pid), signal.SIGSTOP)
while not stopped(pid):
    time.sleep(0.01)
print("listing", flush=True)
size = libc.getdents64(fd, ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(page))),
                       ctypes.c_size_t(mmap.PAGESIZE))
print("listed" if size > 0 else os.strerror(ctypes.get_errno()), flush=True)
