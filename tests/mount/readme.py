# SPDX-License-Identifier: Apache-2.0
"""The commands of README.md: each prints what stands below it.

usage: readme.py README.md     (in $HOME, with `worldfs` in the path)

`…` stands for any text, and on a line of its own for any lines. Times are those of one run.
"""
import os
import re
import subprocess
import sys

SECTIONS = "A world of your own", "Who may see what", "Artifacts, and what they cost", "Agents", "Plans"
TOUR = "A tour of two minutes"
TOUR_BEGINS = "export WORLDFS_WORLD="  # what is before it is about the packages of this machine

# What the model of the README answers, in the place of a server.
USAGE = '"usage":{"total_tokens":0}}'
CLERK = [
    '{"tool_calls":[{"id":"1","name":"fs_ls","arguments":{"path":"reducers/stock"}}],' + USAGE,
    '{"tool_calls":[{"id":"2","name":"fs_read_reducer","arguments":{"name":"stock","key":"apples"}},'
    '{"id":"3","name":"fs_read_reducer","arguments":{"name":"stock","key":"pears"}}],' + USAGE,
    '{"content":"Of pears: there are 2, and 7 apples.","usage":{"total_tokens":1306}}',
]
SCRIPT = '{"models":{"default":{"provider":"script","file":"answers.jsonl"}}}'
END = "-- end of the command --"


def sections(path):
    with open(path, encoding="utf-8") as readme:
        parts = re.split(r"^## (.*)\n", readme.read(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def blocks(text):
    """Indented lines, less the indentation."""
    return [re.sub(r"^    ", "", block, flags=re.M).rstrip("\n")
            for block in re.findall(r"(?:^    .*\n(?:\n(?=    ))?)+", text, flags=re.M)]


def commands(text):
    """Each with the lines that it prints."""
    found = []
    for block in blocks(text):
        if not block.startswith("$ "):
            continue
        for line in block.split("\n"):
            if found and found[-1][0].count("'") % 2:  # a quoted text goes on
                found[-1][0] += "\n" + line
            elif line.startswith("$ "):
                found.append([line[2:], []])
            else:
                found[-1][1].append(line)
    return found


def plain(line):
    """Without what differs from run to run, or from shell to shell."""
    line = line.replace("/home/alice/", os.environ["HOME"] + "/")
    line = re.sub(r"^bash: line \d+: ", "bash: ", line)
    return re.sub(r"\d+\.\d s\b", "N s", line)


def fits(printed, wanted):
    pattern = "".join(line + "\n" for line in wanted)
    pattern = re.escape(pattern).replace("…\\\n", "(?:.*\n)*" if "…" in wanted else "…\\\n")
    return re.fullmatch(pattern.replace("…", ".*"), "".join(line + "\n" for line in printed)) is not None


class Shell:
    """One shell for all commands, as a user has it."""

    # Bash crashes when it reads commands from a pipe and one of them has an input of its own.
    READ = f"while IFS= read -rd '' command <&9; do eval \"$command\"; echo '{END}'; done"

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
        lines = []
        for line in self.process.stdout:
            if line.rstrip("\n").endswith(END):
                return lines
            if not line.startswith("meta: "):
                lines.append(line.rstrip("\n"))
        raise SystemExit(f"the shell ended in: {command}")

    def check(self, command, wanted):
        printed = [plain(line) for line in self.run(command)]
        wanted = [plain(line) for line in wanted]
        good = fits(printed, wanted)
        self.failed += not good
        print(f"ok - {command}" if good else f"not ok - {command}: expected {wanted}, got {printed}")

    def close(self):
        self.commands.close()
        self.process.wait()


def write(name, text):
    with open(os.path.join(os.environ["HOME"], name), "w", encoding="utf-8") as file:
        file.write(text + "\n")


def make_stock(section):
    """The two files of a world of one's own."""
    manifest, module = [block for block in blocks(section) if not block.startswith("$ ")][:2]
    os.mkdir(os.path.join(os.environ["HOME"], "stock"))
    write("stock/world.json", manifest)
    write("stock/stock.lua", module)


def main():
    readme = sections(sys.argv[1])
    shell = Shell()
    make_stock(readme[SECTIONS[0]])
    for name in SECTIONS:
        for command, wanted in commands(readme[name]):
            if command.startswith("worldfs trust"):
                write("stock.world/host.json", SCRIPT)
                write("stock.world/answers.jsonl", "\n".join(CLERK))
            shell.check(command, wanted)
    tour = commands(readme[TOUR])
    first = next(i for i, (command, _) in enumerate(tour) if command.startswith(TOUR_BEGINS))
    for command, wanted in tour[first:]:
        shell.check(command, wanted)
    shell.close()
    sys.exit(shell.failed > 0)


if __name__ == "__main__":
    main()
