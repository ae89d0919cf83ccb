#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command and looks at its progress.

    progress.py terminal COMMAND…          standard error is a terminal
    progress.py lines COMMAND…             standard error is a file, and each step gives a line
    progress.py silent COMMAND…            standard error is a file, and the command is short
    progress.py interrupt SIGNAL COMMAND…  the signal comes with the first line; prints its other output

Exits with 0 if the progress was as expected. Standard output of the command must be --json or nothing.
"""
import json
import os
import pty
import re
import signal
import subprocess
import sys

LINE = r"[a-z][a-z. ]*: [0-9]+(?: of [0-9]+)?(?:, [0-9]+/s(?:, [0-9]+ s left)?)?"


def environment(seconds):
    settings = {name: value for name, value in os.environ.items() if name != "WORLDFS_PROGRESS"}
    return settings if seconds is None else settings | {"WORLDFS_PROGRESS": seconds}


def check_output(text):
    if text:
        json.loads(text)  # one document, and no progress


def terminal(command):
    master, slave = pty.openpty()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=slave,
                          env=environment(None)) as process:
        os.close(slave)
        shown = b""
        while True:
            try:
                piece = os.read(master, 4096)
            except OSError:  # the other end is closed
                break
            shown += piece
        check_output(process.stdout.read())
    os.close(master)
    states = re.findall(r"\r(" + LINE + r")\033\[K", shown.decode())
    print(f"# {len(states)} states, such as {states[len(states) // 2:][:1]}")
    rest = re.sub(r"\r(?:" + LINE + r")?\033\[K", "", shown.decode())
    # The line must be cleared last, before anything else is printed.
    cleared = shown.decode().rfind("\r\033[K") > shown.decode().rfind(states[-1]) if states else False
    return process.returncode == 0 and cleared and not re.search(r"/s|\033", rest)


def run(command, seconds):
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env=environment(seconds))
    check_output(done.stdout)
    found = [line for line in done.stderr.splitlines() if re.fullmatch(LINE, line)]
    print(f"# {len(found)} lines, such as {found[-1:]}")
    return done.returncode, found, done.stderr


def lines(command):
    status, found, err = run(command, "0")
    return status == 0 and found and any(" of " in line for line in found) and \
        "\r" not in err and "\033" not in err


def silent(command):
    status, found, _ = run(command, None)
    return status == 0 and not found


def interrupt(name, command):
    number = signal.Signals["SIG" + name]
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell has its background commands ignore it
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=environment("0")) as process:
        first = process.stderr.readline()
        process.send_signal(number)
        rest = process.stderr.read()
        check_output(process.stdout.read())
    print("".join(line + "\n" for line in rest.splitlines() if not re.fullmatch(LINE, line)), end="")
    return re.fullmatch(LINE + "\n", first) and process.returncode == -number


def main():
    how, arguments = sys.argv[1], sys.argv[2:]
    if how == "interrupt":
        good = interrupt(arguments[0], arguments[1:])
    else:
        good = {"terminal": terminal, "lines": lines, "silent": silent}[how](arguments)
    sys.exit(0 if good else 1)


main()
