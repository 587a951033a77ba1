"""The places of a scan: every .xml below the folders, in the archives and behind the URLs that a user names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from tempfile import TemporaryFile
from typing import Final

from irshape.scan.remote import TransportError, archive_of, is_remote, shown, walk

_END: Final = ".xml"


class Places:
    """The places of a scan, in order: folder by folder, each by name. They wait in a file on the disk, so that memory stays flat.

    `count` is their number. `complaints` are the texts about arguments that could not be listed or hold no .xml.
    Raises `MissingError` if a package is missing.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self.complaints: list[str] = []
        self.count = 0
        self._file = TemporaryFile()  # noqa: SIM115 - lives as long as the object
        for argument in arguments:
            before = self.count
            try:
                for place in self._below(argument):
                    self._file.write(place.encode("utf-8", "surrogateescape") + b"\0")
                    self.count += 1
            except (OSError, TransportError) as error:
                reason = (error.strerror or type(error).__name__) if isinstance(error, OSError) else str(error)
                self.complaints.append(f"{shown(argument)}: {reason}")
                continue
            if self.count == before:
                self.complaints.append(f"{shown(argument)}: no .xml file there")

    def close(self) -> None:
        """Remove the file."""
        self._file.close()

    def __iter__(self) -> Iterator[str]:
        self._file.seek(0)
        rest = b""
        while piece := self._file.read(1 << 16):
            *whole, rest = (rest + piece).split(b"\0")
            yield from (place.decode("utf-8", "surrogateescape") for place in whole)

    def _below(self, argument: str) -> Iterator[str]:
        if archive_of(argument) or (is_remote(argument) and not _names_file(argument)):
            return walk(argument)
        if is_remote(argument) or not os.path.isdir(argument):
            if not is_remote(argument):
                os.stat(argument)  # a wrong path is an error of the run
            return iter([argument])
        return self._folder(argument)

    def _folder(self, folder: str) -> Iterator[str]:
        """Every .xml file below a folder of this machine. Links to folders are not followed."""
        pending = [folder]
        while pending:
            listed = pending.pop()
            try:
                with os.scandir(listed) as found:
                    entries = sorted(found, key=lambda entry: entry.name)
            except OSError as error:
                self.complaints.append(f"{listed}: {error.strerror}")
                continue
            pending += [entry.path for entry in reversed(entries) if entry.is_dir(follow_symlinks=False)]
            yield from (entry.path for entry in entries if entry.name.lower().endswith(_END) and not entry.is_dir())


def _names_file(place: str) -> bool:
    return place.partition("::")[0].partition("?")[0].lower().endswith(_END)
