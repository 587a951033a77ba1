"""Faults as the page shows them: where the text of the file has them, what a fix changes there, and what the rule says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import Diagnostic
from irshape.report.fix import Edit
from irshape.report.printable import escape

# The faults whose text is shown; a page of a hostile file stays small.
_MOST_SHOWN: Final = 200
# The lines around a fault, the most lines of a change, and the most characters of a line.
_AROUND: Final = 2
_MOST_LINES: Final = 24
_LONGEST: Final = 240


class Excerpts:
    """The lines of a file around its faults. A file in another encoding than UTF-8 has none."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._lines: list[bytes] | None = None if b"\0" in source[:4] or source[:2] in (b"\xff\xfe", b"\xfe\xff") else source.split(b"\n")
        self._shown = 0

    def of(self, one: Diagnostic) -> dict[str, Any]:
        """The lines around a fault with the place of the fault in them, and the lines that its fix changes."""
        if self._lines is None or one.where.line is None or self._shown >= _MOST_SHOWN:
            return {}
        self._shown += 1
        line, column = one.where.line, (one.where.column or 1) - 1
        first = max(1, line - _AROUND)
        lines = [self._text(text) for text in self._lines[first - 1 : line + _AROUND]]
        found: dict[str, Any] = {}
        if line - first < len(lines):
            text = lines[line - first]
            end = text.find(">", column)
            begin = max(0, column - _LONGEST // 2)
            shown = [_clipped(other, begin if at == line - first else 0) for at, other in enumerate(lines)]
            found["source"] = {
                "line": first,
                "fault": line,
                "lines": shown,
                "from": column - begin,
                "to": (end + 1 if end >= 0 else len(text)) - begin,
            }
        if one.fix is not None:
            found["diff"] = self._diff(one.fix.edits)
        return found

    def _text(self, line: bytes) -> str:
        return line.decode("utf-8", "replace").rstrip("\r")

    def _diff(self, edits: Iterable[Edit]) -> list[list[str]]:
        """The lines that edits remove ("-") and add ("+")."""
        rows: list[list[str]] = []
        groups: list[list[Edit]] = []
        for edit in sorted(edits):
            if groups and edit.line <= groups[-1][-1].end_line:
                groups[-1].append(edit)
            else:
                groups.append([edit])
        for group in groups:
            begin = self._source.rfind(b"\n", 0, group[0].start) + 1
            end = self._source.find(b"\n", group[-1].end)
            end = len(self._source) if end < 0 else end
            changed, at = b"", begin
            for edit in group:
                changed += self._source[at : edit.start] + edit.text.encode()
                at = edit.end
            changed += self._source[at:end]
            for mark, text in (("-", self._source[begin:end]), ("+", changed)):
                rows += [[mark, _clipped(self._text(line))] for line in text.split(b"\n") if mark == "-" or line.strip()]
            if len(rows) > _MOST_LINES:
                return [*rows[:_MOST_LINES], [" ", "and more lines"]]
        return rows


def rules(diagnostics: Sequence[Diagnostic]) -> dict[str, list[str]]:
    """What the rules of these faults say, by code: title, meaning, why it matters, and the remedy."""
    known = [CATALOGUE[code] for code in dict.fromkeys(one.code for one in diagnostics) if code in CATALOGUE]
    return {one.code: [one.title, one.meaning, one.why, one.fix] for one in known}


def _clipped(line: str, begin: int = 0) -> str:
    return escape(line[begin : begin + _LONGEST].replace("\t", " "))
