# SPDX-License-Identifier: Apache-2.0
"""Types into a zsh that has the completion, and looks at the line: zsh.py DIRECTORY"""
import os
import pty
import select
import sys
import time

# What is typed before a tab, and the line that must result.
LINES = [
    ("worldfs sna", "worldfs snapshot "),
    ("worldfs blob pu", "worldfs blob put "),
    ("worldfs snapshot --wor", "worldfs snapshot --world "),
    ("worldfs -w world state coun", "worldfs -w world state counter "),
    ("worldfs -w world fs ls reduc", "worldfs -w world fs ls reducers/"),
    ("worldfs -w world fs cat reducers/counter/lib", "worldfs -w world fs cat reducers/counter/lib:amd64 "),
    ("worldfs -w wor", "worldfs -w world/"),
]

child, terminal = pty.fork()
if child == 0:
    os.environ.update(TERM="dumb", PS1="", ZDOTDIR="/nonexistent", COLUMNS="200")
    os.execvp("zsh", ["zsh", "-fi"])


def wait_for(mark):
    said = b""
    deadline = time.monotonic() + 20
    while mark not in said:
        if not select.select([terminal], [], [], max(0, deadline - time.monotonic()))[0]:
            sys.exit(f"not ok - waited for {mark}, got {said}")
        said += os.read(terminal, 65536)
    return said


# When the line is accepted, it is printed, not run.
os.write(terminal, (
    "unsetopt zle_bracketed_paste; PROMPT=; stty -echo cols 200\n"
    f"fpath=({sys.argv[1]} $fpath); autoload -U compinit; compinit -D -u\n"
    "show() { zle -I; print -r -- \"<${BUFFER}>\"; BUFFER=; zle accept-line }; zle -N show; bindkey '^X' show\n"
    "print re''ady\n").encode())
wait_for(b"ready")
for typed, expected in LINES:
    os.write(terminal, typed.encode() + b"\t\x18")
    line = wait_for(b">\r\n").decode().rsplit("<", 1)[1].split(">\r\n")[0]
    if line != expected:
        sys.exit(f"not ok - '{typed}': expected '{expected}', got '{line}'")
    print(f"ok - '{typed}' becomes '{line}'")
