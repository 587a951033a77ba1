"""`--watch`: run a command again whenever a file of it is saved."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from copy import copy
from typing import TYPE_CHECKING

from irshape.cli.run import CLEAN, RunError, complain

if TYPE_CHECKING:
    from argparse import Namespace

# The files that a report depends on, besides those that an argument names.
_KINDS = (".xml", ".bin", ".toml")
# Milliseconds between two looks for a change.
_PAUSE = 200


class Watched:
    """Which changes concern a command: those of its files, of their weights, and of every IR below its folders."""

    def __init__(self, paths: Sequence[str], others: Sequence[str]) -> None:
        folders = [os.path.abspath(path) for path in paths if os.path.isdir(path)]
        files = [os.path.abspath(path) for path in (*paths, *others) if not os.path.isdir(path)]
        self._below = tuple(os.path.join(folder, "") for folder in folders)
        self._files = {*files, *(f"{os.path.splitext(path)[0]}.bin" for path in files)}
        self.is_deep = bool(folders)
        # A program that saves a file puts a new one in its place, which only the folder shows.
        self.folders = sorted({*folders, *(os.path.dirname(path) for path in files)})

    def __call__(self, change: object, path: str) -> bool:
        """Whether a change to this path concerns the command."""
        return path in self._files or (path.endswith(_KINDS) and path.startswith(self._below))


def repeat(given: Namespace, run: Callable[[Namespace], int]) -> int:
    """Run a command, and again after every change, until Ctrl-C."""
    try:
        from watchfiles import watch
    except ImportError:
        return complain("--watch needs the package watchfiles: pip install 'irshape[watch]'")
    others = [path for path in (given.weights_file, getattr(given, "config", None)) if path]
    watched = Watched(given.files, others)
    missing = [folder for folder in watched.folders if not os.path.isdir(folder)]
    if missing:
        return complain(f"{missing[0]}: there is no such folder")
    changes = watch(*watched.folders, watch_filter=watched, recursive=watched.is_deep, yield_on_timeout=True, rust_timeout=_PAUSE)
    next(changes)  # the watch begins before the first run, so that no change is missed
    _once(given, run)
    for found in changes:
        if found:
            if sys.stdout.isatty():
                print("\x1b[2J\x1b[H", end="")
            _once(given, run)
    return CLEAN


def _once(given: Namespace, run: Callable[[Namespace], int]) -> None:
    """Run the command, which may change what it is given."""
    try:
        run(copy(given))
    except RunError as error:
        complain(str(error))
    print("irshape: waiting for a change (Ctrl-C ends)", file=sys.stderr, flush=True)
