"""A terminal: the progress of a run, and the pager."""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, TextIO

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

    command = os.environ.get("IRSHAPE_PAGER", os.environ.get("PAGER", "less"))
    words = shlex.split(command)
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
