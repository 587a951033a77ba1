"""`--watch`: run a command again whenever a file of it is saved."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import chain

from irshape.cli.run import RunError

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


def turns(files: Sequence[str], others: Sequence[str | None], *, is_watched: bool) -> Iterator[None]:
    """Once; with `is_watched` again after every change of the files or the others, until Ctrl-C. Raises `RunError`."""
    if not is_watched:
        yield
        return
    try:
        from watchfiles import watch
    except ImportError:
        raise RunError("--watch needs the package watchfiles: pip install 'irshape[watch]'") from None
    watched = Watched(files, [path for path in others if path])
    missing = [folder for folder in watched.folders if not os.path.isdir(folder)]
    if missing:
        raise RunError(f"{missing[0]}: there is no such folder")
    changes = watch(*watched.folders, watch_filter=watched, recursive=watched.is_deep, yield_on_timeout=True, rust_timeout=_PAUSE)
    next(changes)  # the watch begins before the first run, so that no change is missed
    is_first = True
    for found in chain([True], changes):
        if found:
            if sys.stdout.isatty() and not is_first:
                print("\x1b[2J\x1b[H", end="")
            is_first = False
            yield
            print("irshape: waiting for a change (Ctrl-C ends)", file=sys.stderr, flush=True)
