"""A file that grows while a run lasts, and that a later run takes up."""

from __future__ import annotations

import contextlib
import errno
import os
import stat


class Kept:
    """A file at a path, made if there is none. It is locked while it is open, and no link is followed.

    Raises `BlockingIOError` if another process has locked the file, and `OSError` for anything but a regular file with one name.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        own = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | own, 0o666)
        except FileExistsError:
            descriptor = os.open(path, os.O_RDWR | own)
        self.file = open(descriptor, "r+b")  # noqa: SIM115 - closed by `close`
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
                raise OSError(errno.EINVAL, "not a regular file with one name", path)
            _lock(descriptor)
        except BaseException:
            self.file.close()
            raise

    def cut(self, end: int) -> None:
        """Leave the bytes before an offset."""
        self.file.seek(end)
        self.file.truncate()

    def append(self, data: bytes) -> None:
        """Write bytes at the end, and wait until they are on the disk."""
        self.file.write(data)
        self.file.flush()
        os.fsync(self.file.fileno())

    def remove(self) -> None:
        """Remove the file, and close it. Another file that has its path by now stays."""
        with contextlib.suppress(OSError):
            if os.path.samestat(os.lstat(self._path), os.fstat(self.file.fileno())):
                os.unlink(self._path)
        self.close()

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(OSError):  # what a full disk does not take
            self.file.close()


def _lock(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:  # another system than Unix
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
