# SPDX-License-Identifier: Apache-2.0
"""Runs a command and sends it a signal as soon as it has made something in a directory.

  signalled.py SIGNAL DIR COMMAND…     prints the exit status, negative for a signal
"""
import os
import signal
import subprocess
import sys

number, directory, command = signal.Signals["SIG" + sys.argv[1]], sys.argv[2], sys.argv[3:]
signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell has its background commands ignore it
before = len(os.listdir(directory))
with subprocess.Popen(command) as process:
    while len(os.listdir(directory)) == before and process.poll() is None:
        pass
    process.send_signal(number)
print(process.returncode)
