"""The files in a folder of this machine, whatever links are in it."""

from __future__ import annotations

import os
from typing import NamedTuple

_END = ".xml"


class Listing(NamedTuple):
    """The folders and the .xml files of a folder, by name. A link that leads nowhere is a file: reading it says why."""

    folders: list[str]
    files: list[str]


def listed(folder: str, *, follows: bool = False) -> Listing:
    """The folders and the .xml files in a folder. Links to folders are left out unless they are followed. Raises `OSError`."""
    found = Listing([], [])
    with os.scandir(folder) as entries:
        for entry in entries:
            if _is_folder(entry, follows=follows):
                found.folders.append(entry.path)
            elif entry.name.lower().endswith(_END) and _is_file(entry):
                found.files.append(entry.path)
    found.folders.sort()
    found.files.sort()
    return found


def _is_folder(entry: os.DirEntry[str], *, follows: bool) -> bool:
    try:
        return entry.is_dir(follow_symlinks=follows)
    except OSError:  # a link in a circle
        return False


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file() or (entry.is_symlink() and not os.path.exists(entry.path))
    except OSError:  # a link in a circle
        return True
