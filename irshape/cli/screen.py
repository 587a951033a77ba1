"""A terminal: the progress of a run, the pager, and `--watch`, which runs a command again whenever a file of it is saved."""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from typing import IO, Any, TextIO

from irshape.cli.run import CLEAN, RunError, guarded
from irshape.report.text import terminal_width

# Seconds until the line first appears, so that a short run shows none, and seconds between updates.
_PATIENCE = 0.5
_INTERVAL = 0.1
_BAR = 30


class Progress:
    """The progress of a run over `total` files; silent for one file, and on a stream that is no terminal."""

    def __init__(self, stream: TextIO, total: int) -> None:
        width = terminal_width(stream) if total > 1 and os.environ.get("TERM") != "dumb" else None
        self._stream = stream
        self._total = total
        self._room = (width or 0) - 1
        self._done = self._faulty = 0
        self._is_shown = False
        self._begun = time.monotonic()
        self._due = self._begun + _PATIENCE

    def step(self, *, is_faulty: bool = False) -> None:
        """Count one more finished file."""
        self._done += 1
        self._faulty += is_faulty
        if self._room > 0 and (now := time.monotonic()) >= self._due:
            filled = _BAR * self._done // self._total
            line = f"[{'#' * filled}{'.' * (_BAR - filled)}] {self._done:,} of {self._total:,} files{self._rate(now)}"
            self._write(f"\r{line[: self._room]}\x1b[K")
            self._is_shown = True
            self._due = now + _INTERVAL

    def _rate(self, now: float) -> str:
        """The files per second, the time that is left at this rate, and the number of faulty files."""
        rate = self._done / (now - self._begun)
        left = int((self._total - self._done) / rate)
        hours, minutes, seconds = left // 3600, left // 60 % 60, left % 60
        clock = f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
        faulty = f", {self._faulty:,} faulty" if self._faulty else ""
        return f", {rate:.{0 if rate >= 10 else 1}f}/s, {clock} left{faulty}"

    def clear(self) -> None:
        """Erase the line, so that other text can be written; the next due step shows it again."""
        if self._is_shown:
            self._write("\r\x1b[K")
            self._is_shown = False

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


# The commands that answer a question and write nothing beside the answer.
_PAGED = ("cost", "diff", "explain", "info", "infer", "ops", "rule", "signature", "sizes", "summary")


class _Pipe(io.TextIOWrapper):
    """The input of the pager, which passes for the terminal, because the pager shows it there."""

    def __init__(self, stream: IO[bytes], terminal: IO[str]) -> None:
        super().__init__(stream, encoding="utf-8", errors="backslashreplace")
        self._terminal = terminal

    def isatty(self) -> bool:
        """The pager writes on the terminal."""
        return True

    def fileno(self) -> int:
        """The terminal, which is asked for its width."""
        return self._terminal.fileno()


def is_paged(given: Any) -> bool:
    """Whether the answer goes through a pager: on a terminal, about one file."""
    if not (sys.stdout.isatty() and given.command in _PAGED and given.format == "text") or getattr(given, "watch", False):
        return False
    files = getattr(given, "files", ())
    return len(files) < 2 and not any(map(os.path.isdir, files))


@contextmanager
def paged() -> Iterator[None]:
    """Send what is printed through the pager, which shows a text that fits on the screen as it is."""
    import shlex
    import subprocess
    from shutil import which

    words = shlex.split(os.environ.get("IRSHAPE_PAGER", os.environ.get("PAGER", "less")))
    if not words or words[0] == "cat" or which(words[0]) is None:
        yield
        return
    process = subprocess.Popen(words, stdin=subprocess.PIPE, env={"LESS": "FRX", **os.environ})
    assert process.stdin is not None
    terminal, sys.stdout = sys.stdout, _Pipe(process.stdin, sys.stdout)
    try:
        yield
    finally:
        pipe, sys.stdout = sys.stdout, terminal
        with suppress(OSError):  # the user has ended the pager
            pipe.close()
        while process.poll() is None:
            with suppress(KeyboardInterrupt):
                process.wait()


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
        return path in self._files or (path.endswith(_KINDS) and path.startswith(self._below))


def watched(files: Sequence[str], others: Sequence[str | None], run: Callable[..., int], *request: Any) -> int:
    """Run a command, and again after every change of the files or the others, until Ctrl-C. Raises `RunError`."""
    try:
        from watchfiles import watch
    except ImportError:
        raise RunError("--watch needs the package watchfiles: pip install 'irshape[watch]'") from None
    concerned = Watched(files, [path for path in others if path])
    missing = [folder for folder in concerned.folders if not os.path.isdir(folder)]
    if missing:
        raise RunError(f"{missing[0]}: there is no such folder")
    changes = watch(*concerned.folders, watch_filter=concerned, recursive=concerned.is_deep, yield_on_timeout=True, rust_timeout=_PAUSE)
    next(changes)  # the watch begins before the first run, so that no change is missed
    is_first = True
    for found in chain([True], changes):
        if found:
            if sys.stdout.isatty() and not is_first:
                print("\x1b[2J\x1b[H", end="")
            is_first = False
            guarded(run, *request)
            print("irshape: waiting for a change (Ctrl-C ends)", file=sys.stderr, flush=True)
    return CLEAN
