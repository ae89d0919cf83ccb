# SPDX-License-Identifier: Apache-2.0
"""Do the tests exist that a table of tests names?"""
import os
import re


def problem(source, path, name):
    """The reason why the name is not that of a test that runs, or None."""
    if not os.path.exists(os.path.join(source, path)):
        return f"there is no '{path}'"
    with open(os.path.join(source, path), encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".c"):
        found = re.search(rf"^[A-Z_]+\({name}\b", text, re.M)
    else:
        found = re.search(rf"^    def {name}\(self\):$", text, re.M)
    return None if found else f"'{path}' has no test '{name}'"
