# SPDX-License-Identifier: Apache-2.0
"""Writers that note what was acknowledged, and the check that the world has everything that was noted.

  acknowledged.py write NAME WORLD TREE FILE    events of one key each until a write fails; every
                                                odd one through the command line. Appends to FILE
                                                each key that was acknowledged
  acknowledged.py check TREE FILE…              every key of the files has its cell; of each writer
                                                at most one more has (it was not answered in time)
  acknowledged.py kept TREE FILE…               every key of the files has its cell, others may, too
"""
import json
import os
import subprocess
import sys

WORLDFS = os.environ["WORLDFS"]


def send_to_control(control, value):
    line = json.dumps({"schema": "test/Add@1", "value": value}) + "\n"
    return os.write(control, line.encode()) == len(line)


def send_by_command(world, value):
    command = [WORLDFS, "-w", world, "event", "test/Add@1", json.dumps(value)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def write(name, world, tree, path):
    control = os.open(f"{tree}/ctl/event", os.O_WRONLY)
    number = 0
    with open(path, "a", encoding="utf-8", buffering=1) as acknowledged:
        while True:
            number += 1
            value = {"key": f"{name}.{number}", "by": 1, "pad": "p" * (number % 1000)}
            try:
                if number % 50 == 49:
                    done = send_by_command(world, value)
                else:
                    done = send_to_control(control, value)
            except OSError:
                done = False
            if not done:
                return
            acknowledged.write(value["key"] + "\n")


def check(tree, exact, *paths):
    there = set(os.listdir(f"{tree}/reducers/counter"))
    count = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            keys = file.read().split()
        lost = set(keys) - there
        assert not lost, f"{len(lost)} of {len(keys)} acknowledged events are lost: {min(lost)}"
        for key in keys:
            with open(f"{tree}/reducers/counter/{key}", encoding="utf-8") as file:
                assert json.load(file)["n"] == 1, f"{key} was applied twice"
        count += len(keys)
    assert not exact or len(there) <= count + len(paths), "more than was sent"
    print(f"# {count} acknowledged, {len(there) - count} more")


if sys.argv[1] == "write":
    write(*sys.argv[2:])
else:
    check(sys.argv[2], sys.argv[1] == "check", *sys.argv[3:])
