"""The files of a run: the files named on the command line, and every `.xml` below the folders named there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from irshape.cli.run import describe, saved_model

if TYPE_CHECKING:
    from irshape.settings.settings import Settings

# From this many bytes on, several processes are faster than one, although starting them takes time. Each file counts as more bytes.
_MANY_BYTES: Final = 1 << 20
_EACH: Final = 1 << 13


def is_one(arguments: Sequence[str]) -> bool:
    """Whether the arguments are a single file; a folder is never one, even if it holds one file."""
    return len(arguments) == 1 and not os.path.isdir(arguments[0])


def models_of(arguments: Sequence[str]) -> list[str]:
    """The files with the `.xml` beside it in place of each `.bin`, each file once; another ending is that of no model."""
    found: dict[str, None] = {}
    for argument in arguments:
        root, end = os.path.splitext(argument)
        if end.lower() in (".xml", "") or os.path.isdir(argument):
            found[argument] = None
        elif end.lower() == ".bin" and os.path.lexists(f"{root}.xml"):
            found[f"{root}.xml"] = None
    return list(found)


def find(arguments: Sequence[str], settings: Settings | None = None, *, force_exclude: bool = False) -> tuple[list[str], list[str]]:
    """The paths of the files, and complaints about folders.

    Files come in the order of the arguments, and below a folder in the order of their paths. Links to files are followed, links to folders
    only if the settings say so. The settings also exclude files and folders; those that are arguments themselves only with
    `force_exclude`. Raises `ConfigurationError`.
    """
    paths: list[str] = []
    complaints: list[str] = []
    for argument in arguments:
        if force_exclude and settings is not None and settings.excludes(argument, is_found=False):
            continue
        if not os.path.isdir(argument):
            paths.append(argument)
            continue
        below, missed, excluded = _below(argument, settings)
        if not below and not missed:
            why = f"{'exclude matches every' if excluded else 'no'} .xml file in this folder"
            complaints.append(f"{argument}: {saved_model(argument) or why}")
        paths += below
        complaints += missed
    return paths, complaints


def _below(folder: str, settings: Settings | None) -> tuple[list[str], list[str], bool]:
    """Every `.xml` file below a folder, sorted, complaints about folders that could not be listed, and whether something was excluded."""
    from irshape.files.reading import is_known, listed

    paths: list[str] = []
    missed: list[str] = []
    has_excluded = False
    entered: set[tuple[int, int]] = set()  # the folders, as links may lead to one twice
    pending = [folder]
    while pending:
        current = pending.pop()
        follows = settings is not None and settings.follows_links(current)
        if follows and is_known(current, entered):
            continue
        try:
            folders, files = listed(current, follows=follows)
        except OSError as error:
            missed.append(describe(error, current))
            continue
        for entries, kept in ((folders, pending), (files, paths)):
            for path in entries:
                if settings is not None and settings.excludes(path, is_found=True):
                    has_excluded = True
                else:
                    kept.append(path)
    return sorted(paths), sorted(missed), has_excluded


def is_much(paths: Sequence[str]) -> bool:
    """Whether the files are enough work to start several processes."""
    if len(paths) < 2:
        return False
    total = 0
    for path in paths:
        with suppress(OSError):
            total += os.stat(path).st_size
        total += _EACH
        if total >= _MANY_BYTES:
            return True
    return False
