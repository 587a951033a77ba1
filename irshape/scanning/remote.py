"""Files behind URLs, read by fsspec: the .xml whole, of the .bin only ranges.

A transport fails in ways that a disk does not: it breaks off, it lies about a length, the file changes between two requests. Every such
fault is a `TransportError`, so that no verdict rests on a part of a file.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from tempfile import TemporaryFile
from typing import IO, Any, Final, TypeVar
from urllib.parse import unquote

from irshape.scanning.archive import Bounds
from irshape.scanning.place import MissingError, Place, TransportError, shown

# How often a request is made, and the seconds before the second time; each further pause is four times as long.
_TRIES: Final = 3
_PAUSE: Final = 0.2
# Seconds without an answer or a further byte after which a request over HTTP fails, and the seconds that a listing may take.
_PATIENCE: Final = 30
_LISTING: Final = 60
# The most bytes of an answer over HTTP whose length the server does not tell.
_UNTOLD: Final = 1 << 26
# The most folders behind a URL, and how deep they may be: a server can say that a folder is in itself.
_FOLDERS: Final = 10_000
_DEPTH: Final = 32
# Bytes per read of a whole archive, and the most of them.
_PIECE: Final = 1 << 20
_MOST_OF_COPY: Final = 1 << 32
# The HTTP statuses of a file that does not exist.
_MISSING: Final = (404, 410)
# The HTTP status of a range behind the end of a file.
_BEHIND: Final = 416
# The HTTP statuses of the class "wrong request" that may pass.
_PASSING: Final = (408, 425, 429)

T = TypeVar("T")


@lru_cache
def _client(most: int) -> Callable[..., Any]:
    """Makes a client for HTTP that takes no more of an answer than it may have; aiohttp and fsspec take all of it."""
    from aiohttp import ClientResponse, ClientSession

    class Response(ClientResponse):  # type: ignore[misc, unused-ignore]
        _body: bytes | None = None

        async def read(self) -> bytes:
            if self._body is None:
                is_told = self.content_length is not None and not self.headers.get("Content-Encoding")
                bound = most if is_told else min(most, _UNTOLD)
                pieces, size = [], 0
                try:
                    async for piece in self.content.iter_any():
                        size += len(piece)
                        if size > bound:
                            raise TransportError(f"the server sends more than {bound:,} bytes")
                        pieces.append(piece)
                except BaseException:
                    self.close()
                    raise
                self._body = b"".join(pieces)
            return self._body

    async def client(**options: Any) -> ClientSession:
        return ClientSession(response_class=Response, **options)

    return client


@lru_cache(maxsize=64)
def _system(url: str, most: int, seconds: float | None = None) -> tuple[Any, str]:
    """The file system of a URL that the user named, and the path in it. An answer has at most so many bytes, and takes so long."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingError("URLs need fsspec: pip install 'irshape[scan]'") from None
    options: dict[str, Any] = {}
    last = url.rpartition("::")[2]
    if last.startswith(("http://", "https://")):
        try:
            from aiohttp import ClientTimeout
        except ImportError:
            raise MissingError("http needs aiohttp: pip install 'irshape[scan]'") from None
        timeout = ClientTimeout(total=seconds, sock_connect=_PATIENCE, sock_read=_PATIENCE)
        own = {"client_kwargs": {"timeout": timeout}, "get_client": _client(most)}
        options = {last.partition("://")[0]: own} if "::" in url else own
    try:
        return url_to_fs(url, **options)  # type: ignore[no-any-return]
    except ImportError as error:
        raise MissingError(f"{shown(url)}: {error}") from None
    except Exception:
        raise MissingError(f"{shown(url)}: no package reads this URL; see its protocol in the documentation of fsspec") from None


def tried(what: str, request: Callable[[], T]) -> T:
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
        if (isinstance(status, int) and status not in _MISSING) or isinstance(cause, OSError | TransportError):
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
    if isinstance(status := getattr(error, "status", None), int) and status >= 300:
        return f"HTTP status {status}"
    if isinstance(error, TimeoutError):
        return "the server did not answer in time"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if type(error).__module__.partition(".")[0] == "aiohttp":
        return "the server broke off, or does not answer in HTTP"
    return "the package that reads this protocol failed"


class Remote:
    """A file behind a URL.

    `size` and `version` are what its system tells now: `version` is the ETag, else the time and the size, None where neither is known.
    `bytes_read` counts the bytes that were asked for. No answer may have more than `most` bytes. Raises FileNotFoundError.
    """

    def __init__(self, place: Place, most: int) -> None:
        self.bytes_read = 0
        self._system, path = _system(place.root, most)
        self._path = place.listed or path
        self._opened = self.size, self.version = self._state()

    def _state(self) -> tuple[int | None, str | None]:
        def ask() -> Any:
            self._system.invalidate_cache()
            found = self._system.info(self._path)
            if found.get("type") == "directory":
                raise FileNotFoundError(self._path)
            return found

        found = tried("the file cannot be requested", ask)
        size = found.get("size")
        tag = found.get("ETag") or found.get("etag")
        stamp = found.get("LastModified") or found.get("last_modified") or found.get("mtime") or found.get("date_time")
        version = str(tag).strip('"') if tag else f"{stamp}:{size}" if stamp else None
        return (size if isinstance(size, int) else None), version

    def read(self, most: int) -> bytes:
        """All bytes. Raises `TransportError` if they are more than `most`, or not as many as the server says."""

        def ask() -> bytes:
            data = bytes(self._system.cat_file(self._path))
            if self.size is not None and len(data) != self.size:
                raise TransportError(f"{len(data):,} bytes came, but the file has {self.size:,}")
            return data

        data = tried("the file cannot be read", ask)
        self.bytes_read += len(data)
        return data

    def ranges(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """The bytes of ranges, each from its start to before its end. An end beyond the file's is cut off."""

        def ask() -> list[bytes]:
            starts, ends = [start for start, _ in ranges], [end for _, end in ranges]
            parts = self._system.cat_ranges([self._path] * len(ranges), starts, ends, on_error="return")
            return [self._cut(part, *one) for part, one in zip(parts, ranges, strict=True)]

        return tried("ranges of the file cannot be read", ask)

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
        if self.size is None:
            return
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

    def seekable(self) -> IO[bytes]:
        """The file as one that can seek: by ranges, or a copy where there are none. Raises `TransportError`."""

        def ask() -> IO[bytes]:
            file = self._system.open(self._path, "rb")
            if _can_seek(file):
                return _Seekable(file)  # type: ignore[return-value]
            copy: IO[bytes] = TemporaryFile()  # noqa: SIM115 - the archive keeps it
            with file:
                while piece := file.read(_PIECE):
                    copy.write(piece)
                    if copy.tell() > _MOST_OF_COPY:
                        raise TransportError(f"the server sends more than {_MOST_OF_COPY:,} bytes, and cannot send a part of a file")
            return copy

        return tried("the archive cannot be read", ask)


def _can_seek(file: Any) -> bool:
    """Whether a file can seek, whatever it says of itself."""
    try:
        return bool(file.seek(1) == 1 and file.seek(0) == 0)
    except (ValueError, OSError):
        return False


class _Seekable:
    """A file behind a URL, whose every read is tried again where a fault may pass."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.seek, self.tell, self.seekable, self.close = file.seek, file.tell, file.seekable, file.close

    def read(self, size: int = -1) -> bytes:
        at = self._file.tell()

        def ask() -> bytes:
            self._file.seek(at)
            return bytes(self._file.read(size))

        return tried("the archive cannot be read", ask)


def walk(place: Place, bounds: Bounds) -> Iterator[str]:
    """The names that the listings of a URL give to the .xml files below it, folder by folder. Raises `TransportError`."""
    system, root = _system(place.root, _UNTOLD, _LISTING)
    pending, known, count = [(root, 0)], {root.rstrip("/")}, 0
    while pending:
        folder, depth = pending.pop(0)
        entries = tried("the folder cannot be listed", partial(system.ls, folder, detail=True))
        folders = []
        for entry in sorted(entries, key=lambda entry: entry["name"]):
            name = entry["name"]
            if not _is_below(name, root):
                continue
            if entry["type"] == "directory":
                if name.rstrip("/") not in known:
                    known.add(name.rstrip("/"))
                    folders.append((name, depth + 1))
            elif (name.partition("?")[0] if place.is_http else name).lower().endswith(".xml"):
                count += 1
                if count > bounds.members:
                    raise TransportError(f"there are more than {bounds.members:,} models; --max-members=N allows more")
                yield name
        if folders and (depth == _DEPTH or len(known) > _FOLDERS):
            raise TransportError(f"the folders are more than {_FOLDERS:,}, or more than {_DEPTH} deep; scan a part of them")
        pending[:0] = folders


def _is_below(name: str, root: str) -> bool:
    """Whether a listing names something below its folder, and not by `..` somewhere else."""
    return name.startswith(root.rstrip("/")) and not {".", ".."} & set(unquote(name.partition("?")[0]).split("/"))
