"""`irshape summary`: the modules of a model as a tree, with shapes, parameters, MACs and memory."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from irshape import verbs
from irshape.answers.summary import DEPTH, Summary
from irshape.cli.arguments import OUTPUT, add_model_arguments, most
from irshape.cli.batch import report
from irshape.cli.signature import WIDTH, opening, signature_lines
from irshape.cli.sizes import near_sizes
from irshape.model.model import Model
from irshape.report.text import Palette, cells, escape, pad, shorten, terminal_width

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

ABOUT = "Show the modules of a model as a tree, each with its output, parameters, multiply-accumulates and memory, and the totals."
EXAMPLES = """examples:
  irshape summary model.xml
  irshape summary model.xml --depth 5
  irshape summary model.xml --near "H=512,W=512"

exit code: 0 without errors, 1 if the model has errors, 2 if a file could not be read"""

_WIDEST_NAME = 44
_WIDEST_SHAPE = 44


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = command.add_argument_group(OUTPUT).add_argument
    add("-d", "--depth", type=most, default=DEPTH, metavar="N", help=f"the levels of the tree (default: {DEPTH})")
    add("--near", action="append", default=[], metavar="H=512", help="the sizes for which numbers are given: H=512,W=512")
    add_model_arguments(command)


def run(given: Namespace) -> int:
    """Print the summaries of the files and return the exit code."""
    near = near_sizes(given.near)
    palette = Palette.choose(given.color, sys.stdout)
    return report(given, partial(_summary, near, given.depth), partial(_lines, palette, terminal_width(sys.stdout)))


def _summary(near: dict[str, int], depth: int, model: Model, **options: Any) -> Summary:
    return verbs.summary(model, near=near, depth=depth, **options)


def _lines(palette: Palette, width: int | None, summary: Summary) -> Iterator[str]:
    """Title, faults, signature, tree and totals of one file."""
    cost = summary.cost
    yield from opening(cost._inference, summary.diagnostics, palette)
    if cost.signature is not None:
        yield ""
        yield from signature_lines(cost.signature, palette, width or WIDTH)
    if summary.modules:
        yield ""
        yield from _table(summary, palette)
        if any(one.times > 1 for one in summary.modules):
            yield f"{palette.dim}a row of equal blocks sums all of them; the rows below it show one{palette.plain}"
    yield ""
    near = f"  at {', '.join(f'{name}={size}' for name, size in cost.near.items())} (--near changes the sizes)" if cost.near else ""
    for number, (name, text, formula) in enumerate(summary.totals()):
        remark = near if number == 1 else ""
        about = f"  about {formula}" if 0 < len(formula) <= _WIDEST_SHAPE * 2 else ""
        yield f"{palette.key}{pad(name, 12)}{palette.plain}  {text}{escape(about)}{palette.dim}{remark}{palette.plain}"


def _table(summary: Summary, palette: Palette) -> Iterator[str]:
    """The rows of the tree; names and shapes to the left, numbers to the right."""
    rows: list[tuple[str, ...]] = [("MODULE", "TYPE", "OUTPUT", "PARAMETERS", "MACS", "MEMORY")]
    for one in summary.modules:
        name, type, output, *numbers = summary._cells(one)
        indented = shorten(escape(f"{'  ' * one.depth}{name}"), _WIDEST_NAME)
        rows.append((indented, escape(type), shorten(escape(output), _WIDEST_SHAPE), *numbers))
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        parts = [pad(cell, wide) if index < 3 else cell.rjust(wide) for index, (cell, wide) in enumerate(zip(row, widths, strict=True))]
        line = "  ".join(parts).rstrip()
        yield f"{palette.bold}{line}{palette.plain}" if number == 0 else line
