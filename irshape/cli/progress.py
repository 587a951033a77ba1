"""The progress of a run on a terminal: one line that is overwritten and finally erased."""

from __future__ import annotations

import os
import time

from irshape.report.text import terminal_width
from irshape.shape.hints import TextIO

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
        self._done = 0
        self._is_shown = False
        self._due = time.monotonic() + _PATIENCE

    def step(self) -> None:
        """Count one more finished file."""
        self._done += 1
        if self._room > 0 and time.monotonic() >= self._due:
            filled = _BAR * self._done // self._total
            line = f"[{'#' * filled}{'.' * (_BAR - filled)}] {self._done} of {self._total} files"
            self._write(f"\r{line[: self._room]}")
            self._is_shown = True
            self._due = time.monotonic() + _INTERVAL

    def clear(self) -> None:
        """Erase the line, so that other text can be written; the next due step shows it again."""
        if self._is_shown:
            self._write("\r\x1b[K")
            self._is_shown = False

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
