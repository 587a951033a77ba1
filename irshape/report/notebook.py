"""Tables as HTML for notebooks, in the colours of the notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from irshape.report.diagnostic import clipped

_CELL: Final = ' style="text-align:left"'
_FAULT: Final = ' style="text-align:left;color:#c00"'
# More rows than anybody reads make a notebook slow.
MOST: Final = 100


def titled(title: str, remark: str, *tables: str) -> str:
    """Tables under a title."""
    return f"<div><b>{escape(title)}</b> {escape(remark)}{''.join(tables)}</div>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], faults: Sequence[bool] = (), more: int = 0) -> str:
    """A table. `faults` tells which rows are about a fault, `more` is the number of rows that are left out."""
    parts = ["<table><thead><tr>", *(f"<th{_CELL}>{escape(cell)}</th>" for cell in head), "</tr></thead><tbody>"]
    for number, row in enumerate(rows):
        style = _FAULT if number < len(faults) and faults[number] else _CELL
        parts += ["<tr>", *(f"<td{style}>{escape(clipped(cell))}</td>" for cell in row), "</tr>"]
    if more:
        parts.append(f'<tr><td colspan="{len(head)}"{_CELL}>… {more:,} more</td></tr>')
    return "".join([*parts, "</tbody></table>"])
