"""Text that is no XML, though OpenVINO's parser reads the file: misplaced or malformed XML declarations, and attributes given twice.

The text is blanked, so that every other byte keeps its offset.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

# Comments, declarations, instructions and text before the root element.
_PROLOG: Final = re.compile(rb"(?>[^<]+|<\?.*?\?>|<!--.*?-->)*+(?=<net[\s/>])", re.DOTALL)
_TAG: Final = re.compile(rb"<[^\s<>/\"']+((?>[^<>\"']+|\"[^\"]*\"|'[^']*')*+)>")
_ATTRIBUTE: Final = re.compile(rb"([^\s=\"'/]+)\s*=\s*(?:\"[^\"]*\"|'[^']*')")
# Where a tag may stand that is none: the begin and the end of each.
_SKIPPED: Final = ((b"<!--", b"-->"), (b"<![CDATA[", b"]]>"), (b"<?", b"?>"), (b"</", b">"))


class Blanked(NamedTuple):
    """A range of bytes that is blanked, and why."""

    start: int
    end: int
    message: str


def forgiven(source: bytes, *, is_early: bool) -> list[Blanked]:
    """The text that OpenVINO's parser passes over in a file that is not XML; empty for a file in an encoding of two bytes a character.

    `is_early` says that an XML parser fails before the root element.
    """
    prolog = _PROLOG.match(source) if is_early else None
    before = [Blanked(0, prolog.end(), "the text before <net> is not well-formed; OpenVINO skips it")] if prolog else []
    return [*before, *_given_twice(source)]


def blanked(source: bytes, pieces: list[Blanked]) -> bytes:
    """The source with blanks in place of some pieces; line breaks stay."""
    text = bytearray(source)
    for start, end, _ in pieces:
        text[start:end] = re.sub(rb"[^\r\n]", b" ", source[start:end])
    return bytes(text)


def _given_twice(source: bytes) -> Iterator[Blanked]:
    at = source.find(b"<")
    while at >= 0:
        closing = next((end for begin, end in _SKIPPED if source.startswith(begin, at)), None)
        if closing is not None:
            end = source.find(closing, at)
        else:
            tag = _TAG.match(source, at)
            end = tag.end() - 1 if tag else -1
            names = set()
            for attribute in _ATTRIBUTE.finditer(source, *tag.span(1)) if tag else ():
                if attribute[1] in names:
                    name = attribute[1].decode("utf-8", "replace")[:60]
                    yield Blanked(*attribute.span(), f"attribute {name!r} is given twice; OpenVINO reads the first")
                names.add(attribute[1])
        at = source.find(b"<", end) if end >= 0 else -1
