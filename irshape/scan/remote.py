"""Files behind URLs and in archives, read by fsspec: the .xml whole, of the .bin only ranges.

A transport fails in ways that a disk does not: it breaks off, it lies about a length, the file changes between two requests. Every such
fault is a `TransportError`, so that no verdict rests on a part of a file.
"""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, Final, TypeVar

from irshape.xml.weights import WeightsError, absent

ARCHIVES: Final = {".zip": "zip", ".tar": "tar", ".tar.gz": "tar", ".tgz": "tar", ".tar.bz2": "tar", ".tar.xz": "tar"}

# Ranges that are closer than this are read at once.
_GAP: Final = 512
# How often a request is made, and the seconds before the second time; each further pause is four times as long.
_TRIES: Final = 3
_PAUSE: Final = 0.2
# Seconds without an answer or a further byte after which a request over HTTP fails.
_PATIENCE: Final = 30
# The HTTP statuses of a file that does not exist.
_MISSING: Final = (404, 410)
# The HTTP status of a range behind the end of a file.
_BEHIND: Final = 416
# The HTTP statuses of the class "wrong request" that may pass.
_PASSING: Final = (408, 425, 429)

T = TypeVar("T")


class TransportError(Exception):
    """A file that could not be fetched whole; the message says what failed and holds no secret."""


class MissingError(Exception):
    """The scan needs a package that is not installed, or knows no such protocol; the message says what to install."""


def is_remote(place: str) -> bool:
    """Whether a place is a URL, or a chain of them."""
    return "://" in place or "::" in place


def archive_of(place: str) -> str | None:
    """The protocol of an archive, by the end of its name."""
    path = place.partition("?")[0].lower()
    return next((protocol for end, protocol in ARCHIVES.items() if path.endswith(end)), None)


def shown(place: str) -> str:
    """A place as results and messages name it: a URL without user, password, query and fragment."""
    return "::".join(_bare(part) if "://" in part else part for part in place.split("::"))


def _bare(url: str) -> str:
    protocol, _, rest = url.partition("://")
    if protocol not in ("http", "https", "ftp", "sftp", "s3", "gs", "gcs", "az", "abfs"):
        return url
    rest = rest.partition("#")[0].partition("?")[0]
    host, slash, path = rest.partition("/")
    return f"{protocol}://{host.rpartition('@')[2]}{slash}{path}"


def beside(place: str) -> str:
    """The place of the .bin of an .xml."""
    first, joint, rest = place.partition("::")
    path, mark, query = first.partition("?") if "://" in first and first.startswith("http") else (first, "", "")
    return f"{path[: -len('.xml')] if path.lower().endswith('.xml') else path}.bin{mark}{query}{joint}{rest}"


@lru_cache(maxsize=256)
def _system(place: str) -> tuple[Any, str]:
    """The file system of a place, and the path in it."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingError("archives and URLs need fsspec: pip install 'irshape[scan]'") from None
    options: dict[str, Any] = {}
    if place.rpartition("::")[2].startswith(("http://", "https://")):
        try:
            from aiohttp import ClientTimeout
        except ImportError:
            raise MissingError("http needs aiohttp: pip install 'irshape[scan]'") from None
        timeout = {"client_kwargs": {"timeout": ClientTimeout(total=None, sock_connect=_PATIENCE, sock_read=_PATIENCE)}}
        protocol = "https" if place.rpartition("::")[2].startswith("https") else "http"
        options = {protocol: timeout} if "::" in place else timeout
    try:
        system, path = url_to_fs(place, **options)
    except ImportError as error:
        raise MissingError(f"{shown(place)}: {error}") from None
    except ValueError as error:
        raise MissingError(f"{shown(place)}: no package reads this URL: {error}") from None
    return system, path


def _tried(what: str, request: Callable[[], T]) -> T:
    """The result of a request. A fault that may pass is tried again. Raises FileNotFoundError and `TransportError`."""
    pause = _PAUSE
    for turn in range(1, _TRIES + 1):
        try:
            return request()
        except (MissingError, MemoryError):
            raise
        except Exception as caught:
            error = _cause(caught)
            if isinstance(error, FileNotFoundError):
                raise error from None
            if turn == _TRIES or not _may_pass(error):
                raise TransportError(f"{what}: {_reason(error)}") from None
        time.sleep(pause)
        pause *= 4
    raise AssertionError


def _cause(error: Exception) -> Exception:
    """The error of the transport behind an error: fsspec says of every file that it cannot ask for over HTTP that there is none."""
    cause = error.__cause__
    if isinstance(error, FileNotFoundError) and isinstance(cause, Exception):
        status = getattr(cause, "status", None)
        if (isinstance(status, int) and status not in _MISSING) or isinstance(cause, OSError):
            return cause
    return error


def _may_pass(error: Exception) -> bool:
    if isinstance(error, PermissionError):
        return False
    status = getattr(error, "status", None)
    return not isinstance(status, int) or status >= 500 or status in _PASSING


def _reason(error: Exception) -> str:
    """Why a request failed, without the texts of libraries, which quote whole URLs."""
    if isinstance(error, TransportError):
        return str(error)
    if isinstance(status := getattr(error, "status", None), int):
        return f"HTTP status {status}"
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return type(error).__name__


class Remote:
    """A file behind a URL.

    `size` and `version` are what its system tells now: `version` is the ETag, else the time and the size, None where neither is known.
    `bytes_read` counts the bytes that were asked for. Raises FileNotFoundError if there is no such file.
    """

    def __init__(self, place: str) -> None:
        self.place = place
        self.bytes_read = 0
        self._system, self._path = _system(place)
        self._opened = self.size, self.version = self._state()

    def _state(self) -> tuple[int | None, str | None]:
        def ask() -> Any:
            self._system.invalidate_cache()
            found = self._system.info(self._path)
            if found.get("type") == "directory":
                raise FileNotFoundError(self._path)
            return found

        found = _tried("the file cannot be asked for", ask)
        size = found.get("size")
        tag = found.get("ETag") or found.get("etag")
        stamp = found.get("LastModified") or found.get("last_modified") or found.get("mtime") or found.get("date_time")
        version = str(tag).strip('"') if tag else f"{stamp}:{size}" if stamp else None
        return (size if isinstance(size, int) else None), version

    def read(self) -> bytes:
        """All bytes."""
        data = _tried("the file cannot be read", lambda: self._system.cat_file(self._path))
        self.bytes_read += len(data)
        return bytes(data)

    def ranges(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """The bytes of ranges, each from its start to before its end. An end beyond the file's is cut off."""

        def ask() -> list[bytes]:
            parts = self._system.cat_ranges(
                [self._path] * len(ranges), [start for start, _ in ranges], [end for _, end in ranges], on_error="return"
            )
            return [self._cut(part, *one) for part, one in zip(parts, ranges, strict=True)]

        return _tried("ranges of the file cannot be read", ask)

    def _cut(self, part: bytes | Exception, start: int, end: int) -> bytes:
        """A range of the answer: empty behind the end of the file. A server without ranges sends the whole file."""
        if isinstance(part, Exception):
            if getattr(part, "status", None) != _BEHIND:
                raise part
            part = b""
        self.bytes_read += len(part)
        if len(part) <= end - start:
            return part
        if len(part) == self.size:
            return part[start:end]
        raise TransportError(f"{len(part):,} bytes came for a range of {end - start:,}")

    def measure(self) -> None:
        """Make `size` true if the server named another one, by asking for single bytes. Raises `TransportError`."""
        assert self.size is not None
        last = max(self.size - 1, 0)
        (end,) = self.ranges([(last, self.size + 1)])
        if len(end) == self.size - last:
            return
        is_longer = len(end) > self.size - last
        present, absent = (self.size, 2 * self.size + 1) if is_longer else (-1, last)
        while is_longer and self._has(absent):
            present, absent = absent, 2 * absent
        while absent - present > 1:
            middle = (present + absent) // 2
            present, absent = (middle, absent) if self._has(middle) else (present, middle)
        self.size = absent

    def _has(self, offset: int) -> bool:
        (part,) = self.ranges([(offset, offset + 1)])
        return bool(part)

    def unchanged(self) -> None:
        """Raise `TransportError` if the file has changed since it was opened."""
        if self._state() != self._opened:
            raise TransportError("the file changed while it was read")


class RemoteWeights(io.RawIOBase):
    """The .bin behind a URL as a file object for `irshape.xml.weights.Weights`.

    `wanted` are the ranges that rules will probably read; they are read together at the first read. `fault` keeps a fault of the transport,
    since the reader of the weights takes every failure for a fault of the file.
    """

    def __init__(self, place: str, wanted: Callable[[], Sequence[tuple[int, int]]]) -> None:
        self.fault: TransportError | None = None
        self.file: Remote | None = None
        self._place = place
        self._wanted = wanted
        self._known: list[tuple[int, bytes]] | None = None
        self._position = 0

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Move to an offset; the end is where the file ends."""
        if whence == io.SEEK_END:
            offset += self._opened()
        self._position = offset
        return offset

    def read(self, size: int = -1, /) -> bytes:
        """Bytes from the position on."""
        start, end = self._position, self._position + size
        self._opened()
        data = self._guarded(lambda: self._read(start, end))
        self._position += len(data)
        return data

    @property
    def size(self) -> int | None:
        """The size of the file; None if there is no such file."""
        try:
            return self._opened()
        except (WeightsError, OSError):
            return None

    def _opened(self) -> int:
        """The size of the file, which is opened at the first call."""
        if self.file is None:
            try:
                self.file = self._guarded(lambda: _measured(Remote(self._place)))
            except FileNotFoundError:
                raise absent(shown(self._place)) from None
        if self.file.size is None:
            self.fault = TransportError("the server does not tell the length of the .bin")
            raise OSError(str(self.fault))
        return self.file.size

    def _guarded(self, request: Callable[[], T]) -> T:
        try:
            return request()
        except TransportError as error:
            self.fault = error
            raise OSError(str(error)) from None

    def _read(self, start: int, end: int) -> bytes:
        file = self.file
        assert file is not None
        assert file.size is not None
        if self._known is None:
            groups = list(_merged([one for one in self._wanted() if one[1] <= file.size]))
            parts = file.ranges(groups) if groups else []
            self._known = [(group[0], part) for group, part in zip(groups, parts, strict=True)]
            if any(len(part) != group[1] - group[0] for group, part in zip(groups, parts, strict=True)):
                raise TransportError("a range of the .bin came short")
        for first, part in self._known:
            if first <= start and end <= first + len(part):
                return part[start - first : end - first]
        (part,) = file.ranges([(start, end)])
        if len(part) != min(end, file.size) - start:
            raise TransportError("a range of the .bin came short")
        self._known.append((start, part))
        return part


def _measured(file: Remote) -> Remote:
    if file.size is not None:
        file.measure()
    return file


def _merged(ranges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The ranges in order, those that are close together as one."""
    begun: tuple[int, int] | None = None
    for start, end in sorted(ranges):
        if begun is None:
            begun = (start, end)
        elif start <= begun[1] + _GAP:
            begun = (begun[0], max(begun[1], end))
        else:
            yield begun
            begun = (start, end)
    if begun is not None:
        yield begun


def walk(place: str) -> Iterator[str]:
    """The places of all .xml files below a folder or in an archive, folder by folder."""
    if protocol := archive_of(place):
        place = f"{protocol}://::{place}" if is_remote(place) else f"{protocol}://::file://{os.path.abspath(place)}"
    system, root = _system(place)
    inner, joint, rest = place.partition("::")
    protocol = inner.partition("://")[0]
    pending = [root]
    while pending:
        folder = pending.pop(0)
        entries = _tried("the folder cannot be listed", partial(system.ls, folder, detail=True))
        folders = []
        for entry in sorted(entries, key=lambda entry: entry["name"]):
            name = entry["name"]
            if entry["type"] == "directory" and name.rstrip("/") != folder.rstrip("/"):
                folders.append(name)
            elif name.partition("?")[0].lower().endswith(".xml"):
                yield f"{system.unstrip_protocol(name) if not joint else f'{protocol}://{name}'}{joint}{rest}"
        pending[:0] = folders
