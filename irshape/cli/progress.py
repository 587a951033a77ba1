"""How far a run is, on a terminal: one line that is written over and leaves nothing behind."""

from __future__ import annotations

import os
import time
from typing import TextIO

from irshape.report.text import terminal_width

# Seconds before the line is shown, as a short run is over by then, and from one drawing to the next.
_PATIENCE = 0.5
_INTERVAL = 0.1
_BAR = 30


class Progress:
    """The progress of a run over `total` files on a stream; silent where that is no terminal, or one file is all."""

    def __init__(self, stream: TextIO, total: int) -> None:
        width = terminal_width(stream) if total > 1 and os.environ.get("TERM") != "dumb" else None
        self._stream = stream
        self._total = total
        self._room = (width or 0) - 1
        self._done = 0
        self._is_shown = False
        self._due = time.monotonic() + _PATIENCE

    def step(self) -> None:
        """Count one more file that is done."""
        self._done += 1
        if self._room > 0 and time.monotonic() >= self._due:
            filled = _BAR * self._done // self._total
            line = f"[{'#' * filled}{'.' * (_BAR - filled)}] {self._done} of {self._total} files"
            self._write(f"\r{line[: self._room]}")
            self._is_shown = True
            self._due = time.monotonic() + _INTERVAL

    def clear(self) -> None:
        """Take the line away, so that something else can be written; it comes back with the next step that is due."""
        if self._is_shown:
            self._write("\r\x1b[K")
            self._is_shown = False

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
