"""Files that somebody names, read without blocking and within a bound.

Only a regular file is read: a pipe could wait for ever, a device has no end, and what is mapped can vanish.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing import IO

# The most bytes of a file that irshape reads for its text: a configuration, a table of operations, a baseline.
MOST_OF_SETTINGS: Final = 1 << 20
MOST_OF_BASELINE: Final = 1 << 26


class Path(os.PathLike[str]):
    """A text that is a path, whatever it begins with: for `irshape.read` a bare text that begins with `<` is XML."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return self.path


def opened(path: str | os.PathLike[str]) -> tuple[int, os.stat_result]:
    """A descriptor of a regular file, and the state of the file. Raises `OSError`."""
    path = os.fspath(path)
    if "\0" in path:
        raise OSError(errno.EINVAL, "the path has a character of code 0", path)
    # Without O_NONBLOCK, opening a pipe that has no writer blocks for ever.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EISDIR if stat.S_ISDIR(status.st_mode) else errno.EINVAL, "not a regular file", path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, status


def open_file(path: str | os.PathLike[str]) -> IO[bytes]:
    """A regular file, open for reading. Raises `OSError`."""
    return open(opened(path)[0], "rb")


def read(path: str | os.PathLike[str], most: int) -> bytes:
    """The bytes of a file, at most `most + 1`, which suffices to see that the file is too large. Raises `OSError`."""
    descriptor, status = opened(path)
    try:
        wanted = min(most, status.st_size) + 1  # os.read allocates this many bytes at once
        pieces: list[bytes] = []
        while wanted and (piece := os.read(descriptor, wanted)):
            pieces.append(piece)
            wanted -= len(piece)
    finally:
        os.close(descriptor)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def read_whole(path: str | os.PathLike[str], most: int) -> bytes:
    """All bytes of a file that has at most `most`. Raises `OSError`, also for a larger file."""
    data = read(path, most)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"the file has more than {most:,} bytes, the most that irshape reads here", os.fspath(path))
    return data
