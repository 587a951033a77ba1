"""Archives that a stranger may have made: zip and tar, read within bounds that hold before anything is unpacked.

`zipfile` and `tarfile` read the directories. The bytes of a member are unpacked piece by piece here, because `zipfile` unpacks whatever a
piece of bzip2 gives at once.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from tempfile import TemporaryFile
from typing import IO, Any, Final, NamedTuple

from irshape.scanning.place import TransportError

_PIECE: Final = 1 << 18
# An archive may always unpack to so many bytes, and its directory have so many for each member.
_FREE: Final = 1 << 26
_DIRECTORY: Final = 320
_ENDS: Final = (".xml", ".bin")
_LOCAL_HEADER: Final = struct.Struct("<4s22xHH")
_PACKERS: Final[tuple[tuple[bytes, Callable[[IO[bytes]], Any]], ...]] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\x00", lzma.open),
)


class ArchiveError(TransportError):
    """An archive, or a member of it, that cannot be read."""


class Bounds(NamedTuple):
    """What files may ask for: of an archive or a listing, its `members`, and `expansion`, the bytes that it unpacks to for each of its own.

    With `follow_links`, links of this machine may lead to folders, and to weights elsewhere.
    """

    members: int = 100_000
    expansion: int = 200
    follow_links: bool = False

    def most(self, size: int) -> int:
        """The most bytes that an archive of a size may unpack to."""
        return max(_FREE, self.expansion * size)


BOUNDS: Final = Bounds()


class Archive:
    """The .xml and .bin files of an archive, by name. Of several members of one name, the last counts, as for whoever unpacks it."""

    def __init__(self, file: IO[bytes], form: str, bounds: Bounds) -> None:
        """`file` can seek, and belongs to the archive. Raises `ArchiveError`."""
        self._file = file
        self._members: dict[str, _Member] = {}
        try:
            size = file.seek(0, os.SEEK_END)
            find = self._zip if form == "zip" else self._tar
            for member in find(size, bounds):
                if member.name.lower().endswith(_ENDS):
                    self._members[member.name] = member
                    if len(self._members) > 2 * bounds.members:
                        raise ArchiveError(f"the archive has more than {bounds.members:,} models; --max-members=N allows more")
        except (ArchiveError, MemoryError):
            raise
        except Exception:  # the libraries raise whatever a wrong byte leads to
            raise ArchiveError(f"the file is not a complete {form} archive; copy or download it again") from None

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()

    @property
    def names(self) -> list[str]:
        """The names of the .xml files, in order."""
        return sorted(name for name in self._members if name.lower().endswith(_ENDS[0]))

    def member(self, name: str) -> _Member:
        """A member. Raises `FileNotFoundError`."""
        if name not in self._members:
            raise FileNotFoundError(name)
        return self._members[name]

    def _zip(self, size: int, bounds: Bounds) -> Iterator[_Member]:
        view: Any = _Guarded(self._file, _DIRECTORY * bounds.members, "the directory of the archive is too large")
        with zipfile.ZipFile(view) as found:
            infos = [info for info in found.infolist() if not info.is_dir()]
        total, end = 0, 0
        for info in sorted(infos, key=lambda info: info.header_offset):
            if info.header_offset < end:
                raise ArchiveError("members of the archive overlap each other")
            end = info.header_offset + _LOCAL_HEADER.size + info.compress_size
            total += info.file_size if info.filename.lower().endswith(_ENDS) else 0
        _refuse_beyond(total, bounds.most(size))
        for info in infos:
            yield _ZipMember(self._file, info)

    def _tar(self, size: int, bounds: Bounds) -> Iterator[_Member]:
        self._file.seek(0)
        head = self._file.read(6)
        self._file.seek(0)
        packer = next((packer for mark, packer in _PACKERS if head.startswith(mark)), None)
        if packer is not None:
            with closing(self._file) as file, packer(file) as packed:
                self._file = _unpacked(packed, bounds.most(size))
        view: Any = _Guarded(self._file, _FREE, "a header of the archive is too large")
        view.seek(0)
        with tarfile.open(fileobj=view, mode="r:") as found:
            kept: list[object] = vars(found)["members"]
            while (info := found.next()) is not None:
                kept.clear()  # it would keep all
                if not info.isdir():
                    yield _TarMember(self._file, info)
            view.seek(found.offset)
            if view.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):  # tarfile takes any wrong header for the end
                raise ArchiveError("the tar archive has no end; copy or download it again")


class _Member:
    """A file in an archive: its name, its size, and a version that changes with its bytes or its time."""

    def __init__(self, name: str, size: int, version: str) -> None:
        self.name = name
        self.size = size
        self.version = version

    def pieces(self) -> Iterator[bytes]:
        """Its bytes, piece by piece. Raises `ArchiveError`."""
        raise NotImplementedError

    def read(self, most: int) -> bytes:
        """Its bytes, at most `most + 1`. Raises `ArchiveError` if they are not as many as the archive says."""
        data = b"".join(self._until(most + 1))
        if len(data) != self.size and len(data) <= most:
            raise ArchiveError("the member of the archive was cut short")
        return data[: most + 1]

    def ranges(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """The bytes of ranges, each from its start to before its end; it is unpacked once. Raises `ArchiveError`."""
        parts = [bytearray() for _ in ranges]
        at = 0
        for piece in self._until(max((end for _, end in ranges), default=0)):
            for part, (start, end) in zip(parts, ranges, strict=True):
                part += piece[max(start - at, 0) : max(end - at, 0)]
            at += len(piece)
        return [bytes(part) for part in parts]

    def _until(self, end: int) -> Iterator[bytes]:
        done = 0
        try:
            for piece in self.pieces():
                yield piece
                done += len(piece)
                if done >= end:
                    return
        except (ArchiveError, MemoryError):
            raise
        except Exception:
            raise ArchiveError("the member of the archive is damaged") from None


class _ZipMember(_Member):
    def __init__(self, file: IO[bytes], info: zipfile.ZipInfo) -> None:
        super().__init__(info.filename, info.file_size, f"{info.CRC:08x}:{info.file_size}")
        self._file = file
        self._info = info

    def pieces(self) -> Iterator[bytes]:
        info = self._info
        if info.flag_bits & 1:
            raise ArchiveError("the member of the archive is encrypted")
        open_ = _METHODS.get(info.compress_type)
        if open_ is None:
            raise ArchiveError(f"the member is packed by method {info.compress_type}; irshape reads 0 (stored), 8 (deflate), 12 (bzip2)")
        mark, name, extra = _LOCAL_HEADER.unpack(_read_at(self._file, info.header_offset, _LOCAL_HEADER.size))
        if mark != b"PK\x03\x04":
            raise ArchiveError("the archive has no member where its directory says")
        packed = _Window(self._file, info.header_offset + _LOCAL_HEADER.size + name + extra, info.compress_size)
        checksum, left = 0, info.file_size
        for piece in open_(packed):
            piece = piece[:left]
            left -= len(piece)
            checksum = zlib.crc32(piece, checksum)
            if not left and checksum != info.CRC:
                raise ArchiveError("the member of the archive is damaged")
            yield piece
            if not left:
                return


class _TarMember(_Member):
    def __init__(self, file: IO[bytes], info: tarfile.TarInfo) -> None:
        super().__init__(info.name, info.size, f"{info.mtime}:{info.size}")
        self._file = file
        self._data = info.offset_data
        self._is_plain = info.isreg() and not info.issparse()

    def pieces(self) -> Iterator[bytes]:
        if not self._is_plain:
            raise ArchiveError("the member of the archive is not a plain file, but a link, a device or a file with holes")
        return _stored(_Window(self._file, self._data, self.size))


class _Window(io.RawIOBase):
    """A range of a file as a file, which keeps a position of its own."""

    def __init__(self, file: IO[bytes], start: int, size: int) -> None:
        self._file = file
        self._at = start
        self._end = start + size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        data = _read_at(self._file, self._at, min(len(buffer), self._end - self._at))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


def _read_at(file: IO[bytes], offset: int, size: int) -> bytes:
    """Bytes at an offset. Workers that were forked share the position of a file of this machine, so it is left alone."""
    if hasattr(os, "pread") and hasattr(file, "fileno"):
        return os.pread(file.fileno(), size, offset)
    file.seek(offset)
    return file.read(size)


class _Guarded:
    """A file that reads at most so many bytes at once, since a library reads as many as an archive says."""

    def __init__(self, file: IO[bytes], most: int, reason: str) -> None:
        self._file = file
        self._most = most
        self._reason = reason
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        """Bytes from the position on. Raises `ArchiveError`."""
        if not 0 <= size <= self._most:
            data = self._file.read(self._most + 1)
            if len(data) > self._most:
                raise ArchiveError(f"the file is not an archive that irshape reads: {self._reason}; --max-members=N allows more")
            return data
        return self._file.read(size)

    def close(self) -> None:
        """Leave the file open: the members are read from it."""


def _stored(packed: IO[bytes] | _Window) -> Iterator[bytes]:
    while piece := packed.read(_PIECE):
        yield piece


def _deflated(packed: _Window) -> Iterator[bytes]:
    engine, rest = zlib.decompressobj(-zlib.MAX_WBITS), b""
    while not engine.eof:
        rest = rest or packed.read(_PIECE) or b""
        piece = engine.decompress(rest, _PIECE)
        if not (piece or rest):  # the rest is missing
            return
        rest = engine.unconsumed_tail
        yield piece


def _bzipped(packed: _Window) -> Iterator[bytes]:
    with bz2.BZ2File(io.BufferedReader(packed)) as file:
        yield from _stored(file)


_METHODS: Final[dict[int, Callable[[_Window], Iterator[bytes]]]] = {
    zipfile.ZIP_STORED: _stored,
    zipfile.ZIP_DEFLATED: _deflated,
    zipfile.ZIP_BZIP2: _bzipped,
}


def _unpacked(packed: Any, most: int) -> IO[bytes]:
    """What a packed file unpacks to, in a file that is gone when it is closed."""
    found: IO[bytes] = TemporaryFile()  # noqa: SIM115 - the archive keeps it
    total = 0
    try:
        while piece := packed.read(_PIECE):
            total += len(piece)
            _refuse_beyond(total, most)
            found.write(piece)
    except BaseException:
        found.close()
        raise
    found.flush()
    return found


def _refuse_beyond(total: int, most: int) -> None:
    if total > most:
        raise ArchiveError(f"the archive unpacks to more than {most:,} bytes; --max-expansion=N allows N bytes for each packed byte")
