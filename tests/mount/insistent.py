# SPDX-License-Identifier: Apache-2.0
"""Runs a command and asks it to end, with every signal for that, over and over until it has ended.

  insistent.py PATH COMMAND…     begins when PATH is there; prints the exit status, negative for
                                 a signal
"""
import itertools
import os
import signal
import subprocess
import sys

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

path, command = sys.argv[1], sys.argv[2:]
for number in SIGNALS:
    signal.signal(number, signal.SIG_DFL)  # a shell has its background commands ignore some of these
with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
    while not os.path.lexists(path) and process.poll() is None:
        pass
    for number in itertools.cycle(SIGNALS):
        if process.poll() is not None:
            break
        process.send_signal(number)
print(process.returncode)
