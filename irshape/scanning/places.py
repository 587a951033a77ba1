"""The places of a scan: every .xml below the folders, in the archives and behind the URLs that a user names."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from tempfile import TemporaryFile
from typing import Final, TypeAlias, TypeVar

from irshape.files.reading import is_known, listed, open_file, possible
from irshape.report.text import unexpanded
from irshape.scanning.archive import Archive, Bounds
from irshape.scanning.place import Place, TransportError, asked, digest
from irshape.scanning.remote import Remote, walk
from irshape.xml.weights import WeightsError, absent

# Ranges that are closer than this are read at once.
_GAP: Final = 512

T = TypeVar("T")


def stored(place: Place, most: int, bounds: Bounds) -> Stored:
    """The file at a place. Raises `TransportError`, and FileNotFoundError if there is no such file."""
    if place.fault:
        raise TransportError(place.fault)
    if not place.archive:
        return Remote(place, most)
    return _Member(place, archive(place, most, bounds))


def archive(place: Place, most: int, bounds: Bounds) -> Archive:
    """The archive of a place, which stays open. Raises `TransportError`."""
    whole = place._replace(member="", name="")
    return _archive(whole, most, bounds, None if place.is_url else _stamp(place.root))


@lru_cache(maxsize=4)
def _archive(place: Place, most: int, bounds: Bounds, stamp: tuple[int, ...] | None) -> Archive:
    if place.is_url:
        return Archive(Remote(place, most).seekable(), place.archive, bounds)
    return Archive(open_file(place.root), place.archive, bounds)


def _stamp(path: str) -> tuple[int, ...]:
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns


class _Member:
    """A file in an archive, which is asked as a `Remote` is."""

    def __init__(self, place: Place, archive: Archive) -> None:
        self._place = place
        self._stamp = None if place.is_url else _stamp(place.root)
        self._archive = archive  # which closes its file when nobody has it
        self._member = archive.member(place.member)
        self.size: int | None = self._member.size
        self.version: str | None = self._member.version
        self.bytes_read = 0

    def read(self, most: int) -> bytes:
        data = self._member.read(most)
        self.bytes_read += len(data)
        return data

    def ranges(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        parts = self._member.ranges(ranges)
        self.bytes_read += sum(map(len, parts))
        return parts

    def measure(self) -> None:
        """The archive says the true size: its bytes are unpacked up to it."""

    def unchanged(self) -> None:
        if self._stamp is not None and _stamp(self._place.root) != self._stamp:
            raise TransportError("the archive changed while it was read")


Stored: TypeAlias = Remote | _Member
"""A file that is no plain file of this machine: behind a URL, or in an archive."""


class StoredWeights(io.RawIOBase):
    """The .bin of a place as a file object for `irshape.xml.weights.Weights`.

    `wanted` are the ranges that rules will probably read; they are read together at the first read. `fault` keeps a fault of the transport,
    since the reader of the weights takes every failure for a fault of the file.
    """

    def __init__(self, place: Place, wanted: Callable[[], Sequence[tuple[int, int]]], most: int, bounds: Bounds) -> None:
        self.fault: TransportError | None = None
        self.file: Stored | None = None
        self._place = place
        self._wanted = wanted
        self._bounds = most, bounds
        self._known: list[tuple[int, bytes]] | None = None
        self._position = 0

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Move to an offset; the end is where the file ends."""
        if whence == io.SEEK_END:
            offset += self._opened()
        self._position = offset
        return offset

    def read(self, size: int = -1, /) -> bytes:
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
                self.file = self._guarded(self._measured)
            except FileNotFoundError:
                raise absent(self._place.name) from None
        if self.file.size is None:
            self.fault = TransportError("the server does not tell the length of the .bin")
            raise OSError(str(self.fault))
        return self.file.size

    def _measured(self) -> Stored:
        file = stored(self._place, *self._bounds)
        file.measure()
        return file

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
            groups = _merged([one for one in self._wanted() if one[1] <= file.size])
            parts = file.ranges(groups) if groups else []
            self._known = [(group[0], part) for group, part in zip(groups, parts, strict=True)]
            if any(len(part) != group[1] - group[0] for group, part in zip(groups, parts, strict=True)):
                raise TransportError("the server sent less than a range of the .bin")
        for first, part in self._known:
            if first <= start and end <= first + len(part):
                return part[start - first : end - first]
        (part,) = file.ranges([(start, end)])
        if len(part) != min(end, file.size) - start:
            raise TransportError("the server sent less than a range of the .bin")
        self._known.append((start, part))
        return part


def _merged(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges in order, those that are close together as one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1] + _GAP:
            start, end = merged[-1][0], max(merged.pop()[1], end)
        merged.append((start, end))
    return merged


class Places:
    """The places of a scan, in order: folder by folder, each by name. They wait in a file on the disk, so that memory stays flat.

    `count` is their number. `complaints` are the texts about arguments that could not be listed or hold no .xml. An archive that cannot be
    read is a place with a fault. `most` and `bounds` bound what a server and an archive may send. Raises `MissingError` if a package is
    missing.
    """

    def __init__(self, arguments: Sequence[str], most: int, bounds: Bounds) -> None:
        self.complaints: list[str] = []
        self.count = 0
        self._most = most
        self._bounds = bounds
        self._names: dict[bytes, bytes] = {}
        self._file = TemporaryFile()  # noqa: SIM115 - lives as long as the object
        for argument in arguments:
            named = asked(argument)
            before = self.count
            try:
                for place in self._below(named):
                    self._add(place)
            except (OSError, TransportError) as error:
                reason = (error.strerror or "the files below cannot be listed") if isinstance(error, OSError) else str(error)
                self.complaints.append(f"{named.name}: {reason}{unexpanded(named.name)}")
                continue
            if self.count == before:
                self.complaints.append(f"{named.name}: no .xml file there")

    def _add(self, place: Place) -> None:
        """Keep a place. Where another one has its name, since names hold no secrets, it gets a number; the same place is kept once."""
        key, number = digest(json.dumps(place)), 1
        name = place.name
        while (other := self._names.get(digest(name))) is not None:
            if other == key:
                return
            number += 1
            name = f"{place.name} ({number})"
        self._names[digest(name)] = key
        self._file.write(json.dumps(place._replace(name=name)).encode() + b"\n")
        self.count += 1

    def close(self) -> None:
        self._file.close()

    def __iter__(self) -> Iterator[Place]:
        self._file.seek(0)
        for line in self._file:
            yield Place(*json.loads(line))

    def _below(self, place: Place) -> Iterator[Place]:
        if place.archive:
            yield from [place] if place.member else self._members(place)
        elif place.is_url:
            yield from [place] if place.names_xml() else map(place.listing, walk(place, self._bounds))
        elif os.path.isdir(place.root):
            yield from self._folder(place.root)
        else:
            os.stat(possible(place.root))  # a wrong path is an error of the run
            yield place

    def _members(self, place: Place) -> Iterator[Place]:
        """The .xml files of an archive; the archive itself, with the fault, if it cannot be read."""
        try:
            names = archive(place, self._most, self._bounds).names
        except TransportError as error:
            yield place._replace(fault=str(error))
            return
        yield from (place.within(name) for name in names)

    def _folder(self, folder: str) -> Iterator[Place]:
        """Every .xml file below a folder of this machine. Links to folders are followed if the bounds say so."""
        pending, entered = [folder], set[tuple[int, int]]()
        while pending:
            folder = pending.pop()
            if is_known(folder, entered):
                continue
            try:
                folders, files = listed(folder, follows=self._bounds.follow_links)
            except OSError as error:
                self.complaints.append(f"{folder}: {error.strerror}")
                continue
            pending += reversed(folders)
            yield from (Place(path, path) for path in files)
