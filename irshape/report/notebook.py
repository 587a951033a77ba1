"""A text as HTML for notebooks, in the colours of the notebook."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Final

from irshape.report.diagnostic import clipped
from irshape.report.section import Block, Either, Few, Fit, Item, Line, Prose, Relation, Section, Span, Table

# More rows than anybody reads make a notebook slow.
MOST: Final = 100
_STYLES: Final = {
    "dim": "opacity:.6", "error": "color:#c00", "warning": "color:#a60", "unknown": "color:#a60",
}  # fmt: skip


def html(sections: Iterable[Section]) -> str:
    """The sections of a text, each a heading over its blocks."""
    return f"<div>{''.join(map(_section, sections))}</div>"


def _section(section: Section) -> str:
    body = "".join(map(_block, section.blocks))
    return f"<div>{f'<b>{_line(section.heading)}</b>' if section.heading else ''}{body}</div>" if section.heading or body else ""


def _block(block: Block) -> str:
    if isinstance(block, Either):
        block = block.item
    if isinstance(block, Few):
        return "".join(map(_block, block.blocks))
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Item):
        return f'<div>{_line(block.line)}<div style="margin-left:2em">{"".join(map(_block, block.below))}</div></div>'
    if isinstance(block, Relation):
        sides = ((mark, "&nbsp; ".join(map(_line, lines))) for mark, lines in block.sides if lines)
        return "".join(f"<div><b>{_line(mark)}{side}</b></div>" for mark, side in sides)
    if isinstance(block, Prose):
        return f"<div>{_line(block.text)}</div>"
    return f"<div>{_line(block.line if isinstance(block, Fit) else block)}</div>"


def _table(table: Table) -> str:
    if not table.rows:
        return ""
    sides = ["right" if column.is_number else "left" for column in table.columns]
    top = "".join(f'<th style="text-align:{side}">{_line(cell)}</th>' for side, cell in zip(sides, table.head, strict=False))
    rows = table.rows[:MOST]
    body = "".join(f"<tr>{''.join(map(_cell, sides, row))}</tr>" for row in rows)
    more = table.more + len(table.rows) - len(rows)
    rest = f'<tr><td colspan="{len(sides)}">… {more:,} more</td></tr>' if more else ""
    return f"<table>{f'<thead><tr>{top}</tr></thead>' if top else ''}<tbody>{body}{rest}</tbody></table>"


def _cell(side: str, line: Line) -> str:
    own = f";{style}" if isinstance(line, Span) and (style := _STYLES.get(line.style)) else ""
    return f'<td style="text-align:{side}{own}">{_line(line.text if isinstance(line, Span) else line)}</td>'


def _line(line: Line) -> str:
    """A line as HTML, with its leading spaces."""
    if isinstance(line, tuple) and not isinstance(line, Span):
        return "".join(map(_line, line))
    text, style = (line, "") if isinstance(line, str) else line[:2]
    shown = escape(clipped(text))
    indent = len(shown) - len(shown.lstrip(" "))
    shown = "&nbsp;" * indent + shown[indent:] if indent > 1 else shown
    if style == "bold" and shown:
        return f"<b>{shown}</b>"
    return f'<span style="{_STYLES[style]}">{shown}</span>' if style in _STYLES and shown else shown
