"""The progress of a run on a terminal: one line that is overwritten and finally erased."""

from __future__ import annotations

import os
import time
from typing import TextIO

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
