# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of a text and compares what each prints with the lines below the command.

usage: tour.py TEXT.md     (in $HOME, with `worldfs` in the path)

A command is a line `$ …` of an indented or fenced block. It continues in the next line within a quoted
text or a here-document, and after `|`. In the lines that it prints, `…` matches any text, and on a line of its own any lines.
Lines `meta: …` are left out, and all times are equal.
"""
import os
import re
import signal
import subprocess
import sys

END = "-- end of the command --"
SECONDS = 120  # for one command


def blocks(text):
    """The lines of each indented or fenced block, without the indentation."""
    found = re.findall(r"^```.*\n((?:.*\n)*?)```$|((?:^    .*\n(?:\n(?=    ))?)+)", text, flags=re.M)
    for fenced, indented in found:
        yield (fenced or re.sub(r"^    ", "", indented, flags=re.M)).rstrip("\n").split("\n")


def is_open(command):
    """Does the command continue in the next line?"""
    if "<<'END'" in command:
        return not command.endswith("\nEND")
    return command.count("'") % 2 == 1 or command.endswith("|")


def commands(text):
    """Each command with the lines that it prints."""
    found = []
    for lines in blocks(text):
        if not lines[0].startswith("$ "):
            continue
        for line in lines:
            if found and is_open(found[-1][0]):
                found[-1][0] += "\n" + line
            elif line.startswith("$ "):
                found.append([line[2:], []])
            else:
                found[-1][1].append(line)
    return found


def plain(line):
    """A line without what differs between runs, homes and shells."""
    line = line.replace("/home/alice/", os.environ["HOME"] + "/")
    line = re.sub(r"^bash: line \d+: ", "bash: ", line)
    return re.sub(r"\d+(\.\d s|,? ms)\b", "N s", line)


def fits(printed, wanted):
    pattern = "".join(line + "\n" for line in wanted)
    pattern = re.escape(pattern).replace("…\\\n", "(?:.*\n)*" if "…" in wanted else "…\\\n")
    return re.fullmatch(pattern.replace("…", ".*"), "".join(line + "\n" for line in printed)) is not None


class Shell:
    """One shell for all commands, as a user has it."""

    # Bash crashes when it reads commands from a pipe and one of them has an input of its own.
    READ = f"while IFS= read -rd '' command <&9; do eval \"$command\"; echo '{END}'; done; "
    READ += "jobs=$(jobs -p); [ -z \"$jobs\" ] || kill $jobs"  # what a text that failed has not ended

    def __init__(self):
        commands_in, commands_out = os.pipe()
        os.dup2(commands_in, 9)
        # pylint: disable=consider-using-with # ended by close()
        self.process = subprocess.Popen(["bash", "-c", self.READ], cwd=os.environ["HOME"], pass_fds=[9],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, encoding="utf-8")
        os.close(9)
        os.close(commands_in)
        self.commands = os.fdopen(commands_out, "w", encoding="utf-8")
        self.failed = 0

    def run(self, command):
        self.commands.write(command + "\0")
        self.commands.flush()
        signal.alarm(SECONDS)
        lines = []
        for line in self.process.stdout:
            line = line.rstrip("\n")
            if line.endswith(END):
                rest = line[:-len(END)]
                return lines + [rest] if rest else lines
            if not line.startswith("meta: "):
                lines.append(line)
        raise SystemExit(f"the shell ended in: {command}")

    def end_slow(self, *_):
        self.process.kill()
        raise SystemExit(f"a command did not end within {SECONDS} seconds")

    def check(self, command, wanted):
        printed = [plain(line) for line in self.run(command)]
        good = fits(printed, [plain(line) for line in wanted])
        self.failed += not good
        first = command.split("\n")[0]
        print(f"ok - {first}" if good else f"not ok - {first}: expected {wanted}, got {printed}")

    def close(self):
        self.commands.close()
        self.process.wait()


def main():
    with open(sys.argv[1], encoding="utf-8") as text:
        found = commands(text.read())
    if not found:
        raise SystemExit(f"{sys.argv[1]} has no commands")
    shell = Shell()
    signal.signal(signal.SIGALRM, shell.end_slow)
    for command, wanted in found:
        shell.check(command, wanted)
    shell.close()
    sys.exit(shell.failed > 0)


if __name__ == "__main__":
    main()
