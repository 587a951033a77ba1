"""A text as a value: what an answer says, apart from where it is shown.

A text is a row of sections, a section a heading over blocks, and a block a line, a table, or lines that take the room there is. Words are
as the file has them: `terminal` and `notebook` escape, colour, align and shorten.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from irshape.report.diagnostic import ERROR, Diagnostic, Where, causes
from irshape.report.text import WIDEST, advice, consequences_text


class Span(NamedTuple):
    """A part of a line: its `style` is a colour of `Palette`; a terminal leaves out the middle of a text that is wider than `most`."""

    text: str
    style: str = ""
    most: int | None = None


Line: TypeAlias = "str | Span | tuple[str | Span, ...]"
Block: TypeAlias = "Line | Table | Item | Fit | Prose | Relation | Either | Few"


class Column(NamedTuple):
    """A column of a table.

    It is as wide as its widest cell, but at least `least`, and on a terminal at most `most`: a wider cell is shortened if `is_cut`, it goes
    on in the next line if it is the last one, or it shifts its row. Where rows do not fit, a column that `is_spare` is left out, and
    columns from the first one that `is_below` on have lines of their own.
    """

    style: str = ""
    is_number: bool = False
    least: int = 0
    most: int | None = None
    is_cut: bool = False
    is_spare: bool = False
    is_below: bool = False


class Table(NamedTuple):
    """Rows in aligned columns; `more` rows are left out, and `remark` tells how to see them."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Line]]
    head: Sequence[str] = ()
    more: int = 0
    remark: str = " (--all lists them)"

    def some(self, most: int | None) -> Table:
        """The table with its first rows; all without `most`."""
        return self._replace(rows=self.rows[:most], more=len(self.rows[most:]) if most is not None else 0)


class Item(NamedTuple):
    """A line with blocks below it, which are `indent` columns further to the right."""

    line: Line
    below: Sequence[Block]
    indent: int = 4


class Fit(NamedTuple):
    """A line of which a terminal leaves out the middle if it is longer than a row."""

    line: Line


class Prose(NamedTuple):
    """A paragraph, whose words fill lines."""

    text: str


class Relation(NamedTuple):
    """Sides of a relation, each with its mark: one line if it fits, else each side on lines of its own, or with `is_listed` each part."""

    sides: Sequence[tuple[str, Sequence[Line]]]
    is_listed: bool = False


class Either(NamedTuple):
    """An item if its line fits, else another one."""

    item: Item
    other: Item


class Few(NamedTuple):
    """The first `most` lines of blocks, then the number of the others and the command that shows them."""

    blocks: Sequence[Block]
    most: int
    command: str


class Section(NamedTuple):
    """Blocks under a heading; without one they are as far to the left as headings are."""

    heading: Line
    blocks: Sequence[Block]


# A text that is important, one that is less important, one that names the subject of its line, and a name from the file.
bold: Final = partial(Span, style="bold")
dim: Final = partial(Span, style="dim")
key: Final = partial(Span, style="key")
named: Final = partial(Span, most=WIDEST)


def joined(*lines: Line) -> tuple[str | Span, ...]:
    """One line of several."""
    parts: list[str | Span] = []
    for line in lines:
        parts += [line] if isinstance(line, (str, Span)) else line
    return tuple(parts)


def sentence(text: str) -> Line:
    """A sentence, whose long words are names."""
    if len(text) <= WIDEST:
        return text
    return joined(*(named(part) if len(part) > WIDEST else part for part in re.split("( )", text)))


def paragraph(*blocks: Block) -> Section:
    """A section without a heading."""
    return Section("", blocks)


def facts(rows: Iterable[tuple[Line, ...]]) -> Table:
    """Names with what is said about them, in one or more columns."""
    found = list(rows)
    return Table((Column("key", most=WIDEST, is_cut=True), *[Column()] * (len(found[0]) - 1 if found else 1)), found)


def fault(one: Diagnostic, *, is_whole: bool = True) -> Item:
    """`file:line:col: CODE message [layer, port]`, and below it related places, the hint and the fix.

    A warning or note has its severity before the message. Without `is_whole`, the number of consequences stands for them.
    """
    colour, severity = ("error", "") if one.severity == ERROR else ("warning", f"{one.severity}: ")
    below: list[Line] = [dim(f"see {other.file or '<input>'}:{other.line}:{other.column}") for other in one.related]
    below += [(key(f"{label}:"), f" {text}") for label, text in advice(one)]
    if not is_whole and (text := consequences_text(one)):
        below.append(dim(f"{text}; --all lists them"))
    return Item(_about(one, f"{severity}{one.message}", colour), below)


def faults(diagnostics: Sequence[Diagnostic], *, is_whole: bool = False) -> list[Item]:
    """The causes, each with the number of its consequences; with `is_whole`, all diagnostics."""
    return [fault(one, is_whole=is_whole) for one in (diagnostics if is_whole else causes(diagnostics))]


def mended(one: Diagnostic) -> Line:
    """`file:line:col: CODE fixed: title (evidence) [layer, port]`, with the place of the fault in the original file."""
    return _about(one, f"fixed: {one.fix or one.message}", "key")


def _about(one: Diagnostic, text: str, colour: str) -> Line:
    """A line about a fault: its place and code, the text, and its layer."""
    return joined(bold(f"{one.where}:"), " ", Span(one.code, colour), f" {text}", *_context(one.where))


def _context(where: Where) -> Iterator[Line]:
    if where.layer_type or where.layer_id is not None:
        before = f"{where.path} / " if where.path else ""
        own = Span(where.layer_name or f"layer {where.layer_id}", "dim", WIDEST)
        yield (" ", dim(f"[{before}{where.layer_type or 'layer'} "), own, dim(f"{'' if where.port is None else f', port {where.port}'}]"))
