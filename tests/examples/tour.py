# SPDX-License-Identifier: Apache-2.0
"""The tour in the README of an example: each command prints what the README shows."""
import os
import subprocess
import tempfile

PROMPT = "$ "


class Tour:
    """A walk through contrib/examples/NAME, in a directory of its own."""

    def __init__(self, name):
        self.example = os.path.join(os.environ["SOURCE_ROOT"], "contrib/examples", name)
        self.installed = f"/usr/share/worldfs/examples/{name}"
        self.failed = 0
        self.scratch = tempfile.TemporaryDirectory()
        self.directory = self.scratch.name
        # `worldfs` in the README is the program that was built.
        os.environ["PATH"] = os.path.dirname(os.environ["WORLDFS"]) + ":" + os.environ["PATH"]

    def commands(self):
        """The commands of the README, each with the lines that it prints."""
        commands = []
        with open(os.path.join(self.example, "README.md"), encoding="utf-8") as readme:
            for line in readme:
                text = line[4:].rstrip("\n")
                if not line.startswith("    "):
                    continue
                if text.startswith(PROMPT):
                    commands.append((text[len(PROMPT):], []))
                else:
                    commands[-1][1].append(text)
        return commands

    def run(self, command):
        done = subprocess.run(["sh", "-c", command], cwd=self.directory, capture_output=True,
                              text=True, check=False)
        return done.stdout.splitlines(), done.stderr

    def check(self, what, good, why=""):
        self.failed += not good
        print("ok:" if good else f"FAILED: {why}:", what)

    def walk(self):
        """Runs the whole tour; the world is sound afterwards."""
        for command, wanted in self.commands():
            if command.startswith("cd "):
                self.directory = os.path.join(self.directory, command[3:])
                continue
            printed, notices = self.run(command.replace(self.installed, self.example))
            self.check(command, printed == wanted, f"wanted {wanted}, got {printed}, {notices!r}")
        for command in "verify", "replay":
            printed, notices = self.run(f"worldfs {command}")
            self.check(command, not printed and "0 problems found" in notices,
                       f"{printed} {notices!r}")
