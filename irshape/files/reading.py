"""Files that somebody names, read without blocking and within a bound.

Only a regular file is read: a pipe could wait for ever, a device has no end, and what is mapped can vanish.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import IO, Any, Final

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


def possible(path: str | os.PathLike[str]) -> str:
    """The text of a path. Raises `OSError` for one that no file can have."""
    path = os.fspath(path)
    try:
        code = "0" if b"\0" in os.fsencode(path) else ""
    except UnicodeEncodeError as error:
        code = f"U+{ord(path[error.start]):04X}, which no file name can have"
    if code:
        raise OSError(errno.EINVAL, f"the path has a character of code {code}", path)
    return path


def opened(path: str | os.PathLike[str]) -> tuple[int, os.stat_result]:
    """A descriptor of a regular file, and the state of the file. Raises `OSError`."""
    path = possible(path)
    # Without O_NONBLOCK, opening a pipe that has no writer blocks for ever.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            is_folder = stat.S_ISDIR(status.st_mode)
            raise OSError(*((errno.EISDIR, "a folder, not a file") if is_folder else (errno.EINVAL, "not a regular file")), path)
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


def listed(folder: str, *, follows: bool = False) -> tuple[list[str], list[str]]:
    """The folders and the .xml files in a folder, by name. Raises `OSError`.

    Links to folders are left out unless they are followed. A link that leads nowhere is a file: reading it says why.
    """
    folders: list[str] = []
    files: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                is_folder = entry.is_dir(follow_symlinks=follows)
                is_file = entry.is_file() or (entry.is_symlink() and not os.path.exists(entry.path))
            except OSError:  # a link in a circle
                is_folder, is_file = False, True
            if is_folder:
                folders.append(entry.path)
            elif is_file and entry.name.lower().endswith(".xml"):
                files.append(entry.path)
    return sorted(folders), sorted(files)


def stamp(path: str) -> str | None:
    """What changes when a file is saved: its time and its size, as a text; None if there is no such file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return f"{found.st_mtime_ns}:{found.st_size}"


def is_known(folder: str, entered: set[tuple[int, int]]) -> bool:
    """Whether a folder was entered before, under any name; notes that it is entered now."""
    try:
        found = os.stat(folder)
    except OSError:
        return False  # listing the folder gives the complaint
    place = (found.st_dev, found.st_ino)
    is_known = place in entered
    entered.add(place)
    return is_known


# Python's parser takes time that grows with the square of the parts of a dotted key.
_MOST_PARTS: Final = 256
_STRING: Final = r"\"[^\"\n]*\"|'[^'\n]*'"


class TomlFault(ValueError):
    """Bytes that are no TOML: the reason, and the line and column from 1, 0 where they are not known."""

    def __init__(self, reason: str, line: int = 0, column: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.column = column


def parse_toml(data: bytes) -> tuple[str, dict[str, Any]]:
    """The text and the tables of a TOML file. Raises `TomlFault`.

    A stranger may have written the file: whatever the bytes are, the parser ends soon and says where a fault is.
    """
    import re
    import tomllib

    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TomlFault(f"the file is not UTF-8: {error.reason}; save it as UTF-8") from None
    for number, written in enumerate(text.split("\n"), 1):
        if written.count(".") >= _MOST_PARTS and re.sub(_STRING, "", written).count(".") >= _MOST_PARTS:
            raise TomlFault(f"a key has more than {_MOST_PARTS} parts", number, 1)
    try:
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        place = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", message)
        if place is None:
            raise TomlFault(f"this is not TOML: {message}") from None
        line = int(place[1]) if place[1] else text.count("\n") + 1
        raise TomlFault(f"this is not TOML: {message[: place.start()]}", line, int(place[2] or 0)) from None
    except RecursionError:
        raise TomlFault("the file nests tables or lists too deeply") from None
    except ValueError:  # Python reads no number of so many digits
        raise TomlFault("this is not TOML: a number has too many digits") from None
