"""The protocol of the file objects that hold weights."""

from __future__ import annotations

from typing import Protocol


class Readable(Protocol):
    """A file object, or as much of one as weights need."""

    def seek(self, offset: int, whence: int = ..., /) -> int:
        """Move to an offset."""

    def read(self, size: int = ..., /) -> bytes:
        """Read bytes from there."""
