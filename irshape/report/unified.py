"""Fixes as a unified diff, made from the edits themselves: exact, and in linear time even if the lines of a file repeat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from irshape.report.diagnostic import Edit
from irshape.report.text import common

_CONTEXT = 3


class _Change(NamedTuple):
    """Replaced lines; `line` is the number of the first, counted from 0."""

    line: int
    old: list[str]
    new: list[str]

    @property
    def end(self) -> int:
        """The number of the line after the last replaced one."""
        return self.line + len(self.old)


def unified(path: str, source: bytes, encoding: str, edits: Sequence[Edit]) -> Iterator[str]:
    """The lines of the diff between a file and the edited file. The edits must be in order and must not overlap."""
    if not edits:  # the file need not be decodable then
        return
    text = source.decode(encoding)
    lines = _lines(text)
    hunks: list[list[_Change]] = []
    for change in _changes(text, source, encoding, edits):
        if hunks and change.line - hunks[-1][-1].end <= 2 * _CONTEXT:
            hunks[-1].append(change)
        else:
            hunks.append([change])
    yield f"--- {path}"
    yield f"+++ {path}"
    shift = 0
    for hunk in hunks:
        yield from _hunk(lines, hunk, shift)
        shift += _growth(hunk)


def _lines(text: str) -> list[str]:
    """The lines with their line feeds; no other character ends a line."""
    *lines, last = text.split("\n")
    return [line + "\n" for line in lines] + ([last] if last else [])


def _changes(text: str, source: bytes, encoding: str, edits: Sequence[Edit]) -> Iterator[_Change]:
    """The changes of the edited lines; edits of the same line make one change."""
    at = passed = index = 0  # a position in the text, the same position in the source, and the number of the next edit
    while index < len(edits):
        first = last = edits[index]
        at += len(source[passed : first.start].decode(encoding))
        passed = first.start
        begin = text.rfind("\n", 0, at) + 1
        new = [text[begin:at]]
        while index < len(edits) and edits[index].line <= last.end_line:
            last = edits[index]
            kept = source[passed : last.start].decode(encoding)
            new += kept, last.text
            at += len(kept) + len(source[last.start : last.end].decode(encoding))
            passed = last.end
            index += 1
        end = text.find("\n", at) + 1 or len(text)
        before, after = _lines(text[begin:end]), _lines("".join([*new, text[at:end]]))
        same = common(before, after)
        before, after = before[same:], after[same:]
        kept_behind = common(before[::-1], after[::-1])
        yield _Change(first.line - 1 + same, before[: len(before) - kept_behind], after[: len(after) - kept_behind])


def _growth(changes: Sequence[_Change]) -> int:
    return sum(len(change.new) - len(change.old) for change in changes)


def _hunk(lines: Sequence[str], changes: Sequence[_Change], shift: int) -> Iterator[str]:
    start, end = max(changes[0].line - _CONTEXT, 0), min(changes[-1].end + _CONTEXT, len(lines))
    yield f"@@ -{start + 1},{end - start} +{start + 1 + shift},{end - start + _growth(changes)} @@"
    at = start
    for change in changes:
        yield from _signed(" ", lines[at : change.line])
        yield from _signed("-", change.old)
        yield from _signed("+", change.new)
        at = change.end
    yield from _signed(" ", lines[at:end])


def _signed(sign: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield sign + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"
