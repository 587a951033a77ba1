"""The configuration file of a folder: the nearest one upwards, as ruff finds it.

Every run passes here, so this module looks only for files, and reads no more of them than it must.
"""

from __future__ import annotations

import os
from typing import Final

from irshape.files.reading import MOST_OF_SETTINGS, read

OWN: Final = "irshape.toml"
SHARED: Final = "pyproject.toml"


def find(folder: str, known: dict[str, str | None]) -> str | None:
    """The path of the configuration that applies to an absolute folder; None if there is none. `known` keeps what was found.

    In one folder, `irshape.toml` comes before `pyproject.toml`. A `pyproject.toml` without `[tool.irshape]` is passed by. A file that
    cannot be read counts, so that the error is reported.
    """
    passed: list[str] = []
    while folder not in known:
        passed.append(folder)
        own, shared = os.path.join(folder, OWN), os.path.join(folder, SHARED)
        if os.path.isfile(own):
            known[folder] = own
        elif os.path.isfile(shared) and _has_table(shared):
            known[folder] = shared
        elif (above := os.path.dirname(folder)) == folder:
            known[folder] = None
        else:
            folder = above
    found = known[folder]
    known.update(dict.fromkeys(passed, found))
    return found


def _has_table(path: str) -> bool:
    """Whether a `pyproject.toml` has a table `[tool.irshape]`, or cannot be parsed although it names irshape."""
    try:
        content = read(path, MOST_OF_SETTINGS)
    except OSError:
        return True
    if b"irshape" not in content:
        return False
    from irshape.files.toml import TomlFault, parse

    try:
        tool = parse(content)[1].get("tool", {})
    except TomlFault:
        return True
    return isinstance(tool, dict) and "irshape" in tool
