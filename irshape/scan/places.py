"""The places of a scan: every .xml below the folders, in the archives and behind the URLs that a user names."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from tempfile import TemporaryFile

from irshape.files.reading import listed
from irshape.scan.archive import Bounds
from irshape.scan.faults import TransportError
from irshape.scan.place import Place, asked
from irshape.scan.remote import walk
from irshape.scan.stored import archive


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
                reason = (error.strerror or "it cannot be listed") if isinstance(error, OSError) else str(error)
                self.complaints.append(f"{named.name}: {reason}")
                continue
            if self.count == before:
                self.complaints.append(f"{named.name}: no .xml file there")

    def _add(self, place: Place) -> None:
        """Keep a place. Where another one has its name, since names hold no secrets, it gets a number; the same place is kept once."""
        key, number = _digest(json.dumps(place)), 1
        name = place.name
        while (other := self._names.get(_digest(name))) is not None:
            if other == key:
                return
            number += 1
            name = f"{place.name} ({number})"
        self._names[_digest(name)] = key
        self._file.write(json.dumps(place._replace(name=name)).encode() + b"\n")
        self.count += 1

    def close(self) -> None:
        """Remove the file."""
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
            os.stat(place.root)  # a wrong path is an error of the run
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
        """Every .xml file below a folder of this machine. Links to folders are not followed."""
        pending = [folder]
        while pending:
            folder = pending.pop()
            try:
                folders, files = listed(folder)
            except OSError as error:
                self.complaints.append(f"{folder}: {error.strerror}")
                continue
            pending += reversed(folders)
            yield from (Place(path, path) for path in files)


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).digest()
