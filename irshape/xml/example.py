"""Specification examples: bare `<layer>` elements, with dots in place of omitted text and with numbers in comments.

An example is repaired in place without a change of length, so that every offset stays valid, and is then read by the general
reader. A fault that could only be repaired by a guess is reported with its cause.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import prod
from typing import Final

from irshape.xml.document import Port

Number = int | float

# The element that the reader puts around the layers of an example.
ROOT: Final = "example"

# Comments, quoted values and CDATA keep their dots: `shape="..."` is a dynamic rank. A quote that is never closed ends at the next tag.
_DOTS: Final = re.compile(
    rb"""<!--.*?(?:-->|\Z) | <!\[CDATA\[.*?(?:\]\]>|\Z) | "[^"<]*" | '[^'<]*'
    | (?P<blank> \.{3,} | (?:\xe2\x80\xa6)+ | \A(?:\xef\xbb\xbf)?[ \t\r\n]*<\?xml\s[^>]*\?> | \A\xef\xbb\xbf )""",
    re.DOTALL | re.VERBOSE,
)
_UNQUOTED: Final = r"<[^<>]*?\s([\w.:-]+)\s*=\s*[^\s\"'<>]+"

_NUMBER: Final = r"(?:[+-]?(?:\d{1,40}\.?\d{0,40}|\.\d{1,40})(?:[eE][+-]?\d{1,3})?f?|true|false)(?![\w.])"
_TOKEN: Final = rf"(?a)\s*(?:(?P<open>[\[{{])|(?P<close>[\]}}])|(?P<comma>,)|(?P<number>{_NUMBER}))"
# A bracket after a name is an index: `data.shape[0]`.
_LIST: Final = r"(?<![\w\]])[\[{]"
_LABEL: Final = r"(?a)[A-Za-z_][\w ]*"
_NUMBERS: Final = rf"(?a){_NUMBER}(?:\s*,\s*{_NUMBER})*"


def repaired(source: bytes) -> bytes:
    """The example with spaces in place of its dots, its byte order mark and its XML declaration; its length stays."""

    def blank(match: re.Match[bytes]) -> bytes:
        return b" " * len(match[0]) if match["blank"] else match[0]

    return _DOTS.sub(blank, source)


def omission(source: bytes, offset: int, complaint: str, opened: list[tuple[str, int]], position: Callable[[int], tuple[int, int]]) -> str:
    """The message for an example that is not well-formed: the quotes or the tag that its author left out, if that is certain.

    `complaint` is expat's message at `offset`; `opened` are the elements that are open there, with their offsets.
    """
    tag_start = source.rfind(b"<", 0, offset + 1)
    unquoted = re.match(_UNQUOTED, source[tag_start : offset + 256].decode("utf-8", "replace")) if tag_start >= 0 else None
    if "invalid token" in complaint and unquoted:
        return f"the value of {unquoted[1]} is not in quotes"
    stray = re.compile(rb"</([^\s>]+)").match(source, offset - 2) if offset >= 2 else None
    if stray and stray[1].decode("utf-8", "replace") not in (tag for tag, _ in opened):
        return f"</{stray[1].decode('utf-8', 'replace')}> has no start tag, or its start tag ends in />"
    tag, opened_at = opened[-1] if opened else (ROOT, 0)
    if tag == ROOT:
        return f"the example cannot be read: {complaint}"
    line, _ = position(opened_at)
    return f"the <{tag}> opened on line {line} is never closed"


def give_value(port: Port, comments: list[str]) -> None:
    """Set a port's value from the first comment with as many numbers as the port has elements.

    A port without dims takes its shape from the comment: one number is a scalar, a list has the shape of its nesting.
    """
    for comment in comments:
        if (found := numbers(comment)) is None:
            continue
        values, shape = found
        if port.dims is None:
            port.value, port.value_shape = values, shape
            return
        if prod(port.dims) == len(values) and (len(shape) < 2 or shape == port.dims):
            port.value, port.value_shape = values, port.dims
            return


def numbers(comment: str) -> tuple[tuple[Number, ...], tuple[int, ...]] | None:
    """The numbers that a comment gives for a port, flat, and the shape of their nesting; None if it gives none.

    >>> numbers("pads_begin = [1, 0, 3, 7]")
    ((1, 0, 3, 7), (4,))
    >>> numbers("axis value is: 0")
    ((0,), ())
    >>> numbers("8 = 5 + 3 + 0 = pads_begin[1] + input.shape[1] + pads_end[1]")
    """
    bracket = re.search(_LIST, comment)
    if bracket is not None:
        return _nested(comment, bracket.start())
    text = _plain_numbers(comment.strip())
    if not re.fullmatch(_NUMBERS, text):
        return None
    values = tuple(_number(item.strip()) for item in text.split(","))
    return values, () if len(values) == 1 else (len(values),)


def _plain_numbers(text: str) -> str:
    """The part with the numbers of `k = 3`, `axis value is: 0`, `on_value 1`, `2 elements: 0, 4` and a bare `10`; else no text or all."""
    for separator in (":", "="):
        label, found, rest = text.rpartition(separator)
        if found:
            return rest.strip() if re.fullmatch(_LABEL, label.strip()) else ""
    words = text.rsplit(maxsplit=1)
    if len(words) == 2:
        return words[1] if words[0].endswith(("value", " is")) else ""
    return text


def _nested(text: str, start: int) -> tuple[tuple[Number, ...], tuple[int, ...]] | None:
    """The nested list of numbers that begins at a bracket; None if there is no such list or it is ragged."""
    values: list[Number] = []
    counts: list[int] = []
    # The length that every list at a depth must have, by depth; key 0 holds the depth of the numbers.
    lengths: dict[int, int] = {}
    at = start
    expects_item = True
    token = re.compile(_TOKEN)
    while match := token.match(text, at):
        at = match.end()
        kind = match.lastgroup
        if kind == "open":
            if not expects_item:
                return None
            counts.append(0)
        elif kind == "number":
            if not expects_item:
                return None
            values.append(_number(match[kind]))
            counts[-1] += 1
            if lengths.setdefault(0, len(counts)) != len(counts):
                return None
            expects_item = False
        elif kind == "comma":
            if expects_item:
                return None
            expects_item = True
        else:
            depth = len(counts)
            length = counts.pop()
            if (expects_item and length) or lengths.setdefault(depth, length) != length:
                return None
            if not counts:
                shape = tuple(lengths[level] for level in range(1, 1 + max(lengths)))
                return (tuple(values), shape) if prod(shape) == len(values) else None
            counts[-1] += 1
            expects_item = False
    return None


def _number(text: str) -> Number:
    if text in ("true", "false"):
        return int(text == "true")
    digits = text.removesuffix("f")
    return int(digits) if digits.lstrip("+-").isdigit() else float(digits)
