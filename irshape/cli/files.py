"""The files of a run: the files named on the command line, and every `.xml` below the folders named there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from irshape.cli.run import describe

# From this many bytes on, several processes are faster than one, although starting them takes time. Each file counts as more bytes.
_MANY_BYTES: Final = 1 << 20
_EACH: Final = 1 << 13


def is_one(arguments: Sequence[str]) -> bool:
    """Whether the arguments are a single file; a folder is never one, even if it holds one file."""
    return len(arguments) == 1 and not os.path.isdir(arguments[0])


def find(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The paths of the files, and complaints about folders.

    Files come in the order of the arguments, and below a folder in the order of their paths. Links to files are followed, links to folders
    are not.
    """
    paths: list[str] = []
    complaints: list[str] = []
    for argument in arguments:
        if not os.path.isdir(argument):
            paths.append(argument)
            continue
        below, missed = _below(argument)
        if not below and not missed:
            complaints.append(f"{argument}: no .xml file in this folder")
        paths += below
        complaints += missed
    return paths, complaints


def _below(folder: str) -> tuple[list[str], list[str]]:
    """Every `.xml` file below a folder, sorted, and complaints about folders that could not be listed."""
    paths: list[str] = []
    missed: list[str] = []
    pending = [folder]
    while pending:
        listed = pending.pop()
        try:
            with os.scandir(listed) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    elif entry.name.lower().endswith(".xml") and entry.is_file():
                        paths.append(entry.path)
        except OSError as error:
            missed.append(describe(error, listed))
    return sorted(paths), sorted(missed)


def is_much(paths: Sequence[str]) -> bool:
    """Whether the files are enough work to start several processes."""
    total = 0
    for path in paths:
        with suppress(OSError):
            total += os.stat(path).st_size
        total += _EACH
        if total >= _MANY_BYTES:
            return len(paths) > 1
    return False
