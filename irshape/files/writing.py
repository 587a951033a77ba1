"""The writer of files: a file appears whole or not at all, or grows while a run lasts, and a later run takes it up."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterable
from typing import IO, Final, NamedTuple

from irshape.files.reading import possible

EXISTS: Final = "already exists; force=True overwrites it"


def write_atomic(
    path: str | os.PathLike[str],
    data: bytes | Callable[[IO[bytes]], object],
    *,
    force: bool = False,
    in_place: bool = False,
    source: str | os.PathLike[str] | None = None,
    kept: Iterable[str | os.PathLike[str]] = (),
) -> None:
    """Write a file atomically: after a crash the path holds either the old file or the whole new one.

    `data` are the bytes, or a function that writes them into an open file. An existing file is replaced, with its mode kept, only with
    `force`; a link there is replaced, and its target stays. The file that is the `source` of the data, under any name, is replaced only
    with `in_place`, which follows links to it, and a file in `kept` never. Otherwise raises `FileExistsError`. Raises `OSError` for a path
    that is not a regular file.
    """
    publish(OutputFile.at(path, force=force, in_place=in_place, source=source, kept=kept), data)


class OutputFile(NamedTuple):
    """The place of a file to write: its real path, the path for messages, the mode of an existing file, and whether to replace it."""

    real: str
    path: str
    mode: int | None
    is_replaced: bool

    @classmethod
    def at(
        cls,
        path: str | os.PathLike[str],
        *,
        force: bool,
        in_place: bool = False,
        source: str | os.PathLike[str] | None = None,
        kept: Iterable[str | os.PathLike[str]] = (),
    ) -> OutputFile:
        """The place at a path. Only `in_place` follows a link, and only to the source. Takes and raises what `write_atomic` does."""
        path = possible(path)
        folder, name = os.path.split(path)
        real = os.path.join(os.path.realpath(folder), name)
        try:
            status = os.lstat(real)
        except FileNotFoundError:
            if not os.path.isdir(folder or os.curdir):
                raise FileNotFoundError(errno.ENOENT, f"there is no folder {folder}; make it first", path) from None
            return cls(real, path, None, force)
        is_source = source is not None and _is_same_file(path, source)
        if any(_is_same_file(path, other) for other in kept) or (is_source and not in_place):
            raise FileExistsError(errno.EEXIST, "the output would overwrite the input", path)
        if stat.S_ISLNK(status.st_mode):
            if is_source:
                real = os.path.realpath(path)
                return cls(real, path, stat.S_IMODE(os.lstat(real).st_mode), True)
            if not force:
                raise FileExistsError(errno.EEXIST, EXISTS, path)
            return cls(real, path, None, True)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        if not (is_source or force):
            raise FileExistsError(errno.EEXIST, EXISTS, path)
        return cls(real, path, stat.S_IMODE(status.st_mode), True)

    @property
    def folder(self) -> str:
        return os.path.dirname(self.real)

    def neighbour(self) -> str:
        """An unused path in the same folder."""
        return os.path.join(self.folder, f".irshape-{os.getpid():x}-{os.urandom(4).hex()}")

    def take(self, temporary: str) -> None:
        """Give a finished file this path in one step, and sync the folder to disk."""
        try:
            if self.is_replaced:
                os.replace(temporary, self.real)
            else:
                self._link(temporary)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
        # A folder may be writable but not readable.
        with contextlib.suppress(PermissionError):
            if hasattr(os, "O_DIRECTORY"):
                descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)

    def _link(self, temporary: str) -> None:
        """Give the file this path by a hard link, which fails if the path exists; a rename would replace the existing file."""
        try:
            os.link(temporary, self.real)
        except FileExistsError:
            raise FileExistsError(errno.EEXIST, EXISTS, self.path) from None
        except (OSError, AttributeError):
            # Without hard links, an empty file reserves the path and is then replaced.
            os.close(os.open(self.real, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            os.replace(temporary, self.real)


def publish(target: OutputFile, data: bytes | Callable[[IO[bytes]], object]) -> None:
    """Write a file without a name, or with a temporary one if the system has no unnamed files, and move it to its path when complete."""
    temporary = target.neighbour()
    descriptor = _nameless(target.folder)
    is_nameless = descriptor >= 0
    if not is_nameless:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        try:
            descriptor = os.open(temporary, flags, 0o666)
        except OSError as error:
            raise OSError(error.errno, error.strerror, target.path) from None
    try:
        with open(descriptor, "wb") as file:
            data(file) if callable(data) else file.write(data)
            file.flush()
            if target.mode is not None:
                os.chmod(descriptor if is_nameless else temporary, target.mode)
            os.fsync(descriptor)
            if is_nameless:
                # Python follows the link only if a folder is given; for an absolute path any folder will do.
                os.link(f"/proc/self/fd/{descriptor}", temporary, src_dir_fd=descriptor, follow_symlinks=True)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    target.take(temporary)


def _nameless(folder: str) -> int:
    """The descriptor of an unnamed file in a folder, which disappears with the process unless linked; -1 if the system has none."""
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir("/proc/self/fd"):
        return -1
    try:
        return os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o666)
    except OSError:
        return -1  # opening a named file raises the right error, if there is one


def _is_same_file(path: str, other: str | os.PathLike[str]) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False


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
        with contextlib.suppress(OSError):  # what a full disk does not take
            self.file.close()


def _lock(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:  # another system than Unix
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
