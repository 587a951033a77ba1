"""A place: where a file is, as the user named it and as its folder, listing or archive names it.

Only text of the command line is looked at for protocols and archives. A name that a folder, a listing or an archive gives is never parsed:
it goes back to the same folder, listing or archive.
"""

from __future__ import annotations

import os
import re
from hashlib import blake2b
from typing import Final, NamedTuple


class TransportError(Exception):
    """A file that could not be fetched whole; the message says what failed and holds no secret."""


class MissingError(Exception):
    """The scan needs a package that is not installed, or knows no such protocol; the message says what to install."""


ARCHIVES: Final = {".zip": "zip", ".tar": "tar", ".tar.gz": "tar", ".tgz": "tar", ".tar.bz2": "tar", ".tar.xz": "tar"}

_XML: Final = ".xml"
# `zip://::PLACE` is an archive whatever its name is, and `zip://MEMBER::PLACE` one file of it.
_IN_ARCHIVE: Final = re.compile(r"(zip|tar)://(.*?)::(.+)", re.DOTALL | re.IGNORECASE)
_PROTOCOL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
# Where one URL of a chain ends and another one begins; `::` is in addresses of IPv6, too.
_JOINT: Final = re.compile(r"::(?=[A-Za-z][A-Za-z0-9+.-]*(?:://|::|$))")
_PORT: Final = re.compile(r"[^:]*(:\d*)?|\[[^\]]*\](:\d*)?")


class Place(NamedTuple):
    """Where a file is.

    `name` stands in tables and messages, and holds no secret. `root` is what the user named, a path of this machine or, with `is_url`, a
    URL. `listed` is the name that the listing of the URL gives the file, empty for the URL itself. `archive` is the form of the archive
    that the root is, `zip` or `tar`, and `member` the name of the file in it. `fault` says why the place cannot be read.
    """

    name: str
    root: str
    is_url: bool = False
    listed: str = ""
    archive: str = ""
    member: str = ""
    fault: str = ""

    @property
    def is_local(self) -> bool:
        """Whether this is a file of this machine, in no archive."""
        return not (self.is_url or self.archive)

    @property
    def is_http(self) -> bool:
        return self.is_url and self.root.rpartition("::")[2].startswith(("http://", "https://"))

    def within(self, member: str) -> Place:
        root = self.name if self.is_url else f"file://{os.path.abspath(self.root)}"
        return self._replace(name=f"{self.archive}://{member}::{root}", member=member)

    def listing(self, name: str) -> Place:
        """A file that the listing of this URL names."""
        protocol = "" if "://" in name else f"{self.root.partition('://')[0]}://"
        return self._replace(name=shown(f"{protocol}{name}"), listed=name)

    def beside(self) -> Place:
        """The place of the .bin of this .xml."""
        if self.archive:
            return self.within(_bin(self.member))
        if not self.is_url:
            path = os.path.splitext(self.root)[0] + ".bin"
            return Place(path, path)
        path, mark, query = (self.listed or self.root).partition("?") if self.is_http else (self.listed or self.root, "", "")
        found = f"{_bin(path)}{mark}{query}"
        return self.listing(found) if self.listed else self._replace(name=shown(found), root=found)

    def names_xml(self) -> bool:
        """Whether the URL or the member is that of an .xml."""
        return (self.member or self.root.partition("?")[0]).lower().endswith(_XML)


def asked(argument: str) -> Place:
    """The place that an argument of the command line names. A path of this machine comes before a URL."""
    if os.path.lexists(argument):
        return Place(argument, argument, archive=archive_of(argument) if os.path.isfile(argument) else "")
    if found := _IN_ARCHIVE.fullmatch(argument):
        archive, member, root = found[1].lower(), found[2], found[3]
        inner = asked(root.removeprefix("file://")) if root.startswith("file://") else asked(root)
        if not inner.member:
            place = inner._replace(archive=archive)
            return place.within(member) if member else place
    if _PROTOCOL.match(argument) or _JOINT.search(argument):
        url = _PROTOCOL.sub(lambda protocol: protocol[0].lower(), argument, count=1)
        return Place(shown(url), url, is_url=True, archive=archive_of(url.partition("?")[0]))
    return Place(argument, argument, archive=archive_of(argument))


def digest(name: str) -> bytes:
    """A few bytes that stand for a name."""
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=12).digest()


def archive_of(path: str) -> str:
    """The form of an archive, by the end of its name; empty for other files."""
    return next((form for end, form in ARCHIVES.items() if path.lower().endswith(end)), "")


def shown(url: str) -> str:
    """A URL, or a chain of them, without users, passwords, queries and fragments, whatever its protocols are."""
    return "::".join([_bare(part) if "://" in part else part for part in _JOINT.split(url)])


def _bare(url: str) -> str:
    protocol, _, rest = url.partition("://")
    rest = rest.partition("#")[0].partition("?")[0]
    host, slash, path = rest.partition("/")
    if "@" not in host and "@" in path and not _PORT.fullmatch(host):  # a password that has a slash
        return f"{protocol}://{path.rpartition('@')[2]}"
    return f"{protocol}://{host.rpartition('@')[2]}{slash}{path}"


def _bin(path: str) -> str:
    return f"{path[: -len(_XML)] if path.lower().endswith(_XML) else path}.bin"
