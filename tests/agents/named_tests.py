# SPDX-License-Identifier: Apache-2.0
"""Is there a test of a name that a table of tests names?"""
import os
import re


def problem(source, path, name):
    """Why this is not a test that is run; None when it is one."""
    if not os.path.exists(os.path.join(source, path)):
        return f"there is no '{path}'"
    with open(os.path.join(source, path), encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".c"):
        found = re.search(rf"^[A-Z_]+\({name}\b", text, re.M)
    else:
        found = re.search(rf"^    def {name}\(self\):$", text, re.M)
    return None if found else f"'{path}' has no test '{name}'"
