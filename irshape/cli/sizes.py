"""`irshape sizes`: for which sizes of its inputs a model is valid, who says so, and which valid sizes are next to given ones."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import irshape
from irshape.answers.sizes import Nearest, ValidSizes
from irshape.cli.arguments import add_model_arguments
from irshape.cli.batch import report
from irshape.cli.infer import guard_lines, reason, said, title
from irshape.cli.run import CLEAN, FAULTS, RunError, complain, exit_code
from irshape.model.model import Model
from irshape.report.diagnostic import Diagnostic
from irshape.report.text import Palette, counted, diagnostic_lines, escape
from irshape.xml.document import Document

ABOUT = "Say for which sizes of its inputs a model is valid: symbols in --input, and every other size that the file leaves open."
EXAMPLES = """examples:
  irshape sizes model.xml --input "image[1,3,H,W]"
  irshape sizes model.xml --input "image[1,3,H,W]" --near "H=500,W=700"
  irshape sizes model.xml --input "image[1,3,S,S]" --symbol "S=32..1024"

exit code: 0 if some size is valid, 1 if none is, 2 if a file could not be read or has no open sizes to ask about"""

# More layers than these say nothing new.
_MOST_UNDECIDED = 8


class _Answer(NamedTuple):
    """The valid sizes, and those next to what was asked for."""

    sizes: ValidSizes
    near: Mapping[str, int]
    nearest: Nearest | None

    @property
    def document(self) -> Document:
        return self.sizes.inference.document

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return self.sizes.diagnostics

    def to_dict(self) -> dict[str, Any]:
        nearest = None if self.nearest is None else {"given": dict(self.near), **self.nearest._asdict()}
        return {**self.sizes.to_dict(), "nearest": nearest}


def add_arguments(command: ArgumentParser) -> None:
    """The arguments of the command."""
    command.add_argument("--near", action="append", default=[], metavar='"H=500"', help="find the valid sizes next to these: H=500,W=700")
    add_model_arguments(command)


def run(given: Namespace) -> int:
    """Ask for the valid sizes of the files, report them, and give the exit code."""
    try:
        near = dict(_size(part) for text in given.near for part in text.split(","))
    except ValueError as error:
        return complain(str(error))
    return report(given, partial(_ask, near), partial(_lines, Palette.choose(given.color, sys.stdout)), _verdict)


def _ask(near: Mapping[str, int], model: Model, **options: Any) -> _Answer:
    sizes = irshape.valid_sizes(model, **options)
    return _Answer(sizes, near, sizes.nearest(near) if near else None)


def _verdict(answer: _Answer) -> Iterable[str]:
    """That no size is valid is a fault, even if no diagnostic is an error."""
    if not answer.sizes.ok and exit_code(answer.diagnostics) == CLEAN:
        raise RunError(f"{answer.document.path}: no size is valid", FAULTS)
    return ()


def _size(text: str) -> tuple[str, int]:
    name, _, size = text.partition("=")
    if not name.strip() or not size.strip().isdecimal():
        raise ValueError(f'--near {text!r} is not of the form "NAME=SIZE"')
    return name.strip(), int(size)


def _lines(palette: Palette, answer: _Answer) -> Iterator[str]:
    """Title, conditions with their layers, what is not decided, and the nearest valid sizes of one file."""
    sizes = answer.sizes
    yield title(sizes.inference, palette)
    if sizes.diagnostics:
        yield ""
        for diagnostic in sizes.diagnostics:
            yield from diagnostic_lines(diagnostic, palette)
    yield ""
    inputs = ", ".join(f"{escape(name)}{shape}" for name, shape in sizes.inputs.items()) or "the model"
    if not sizes.ok:
        why = "these contradict each other" if sizes.conditions else "there are errors"
        yield f"{palette.bold}{inputs} is valid for no size: {why}{palette.plain}"
    else:
        extent = "where" if sizes.conditions else "for every size"
        source = "" if not sizes.is_by_trial else ", as every size was tried" if sizes.is_exact else ", as far as formulas tell"
        yield f"{palette.bold}{inputs} is valid {extent}{source}{palette.plain}"
    for condition in sizes.conditions:
        if not sizes.ok:
            yield from guard_lines(condition.guards, palette)
            continue
        yield f"  {palette.key}{condition.text}{palette.plain}"
        if [str(guard.requirement) for guard in condition.guards] == [condition.text]:
            yield from (f"      {reason(guard, palette)}" for guard in condition.guards)
        else:
            yield from guard_lines(condition.guards, palette, "      ")
    yield from _undecided(sizes, palette)
    if sizes.never_runs:
        yield ""
        yield f"{palette.bold}with {_sizes(sizes.sample)} OpenVINO accepts the model, but cannot run it{palette.plain}"
        for diagnostic in sizes.never_runs:
            yield from (f"  {line}" for line in diagnostic_lines(diagnostic, palette))
    if answer.nearest is not None:
        yield ""
        yield f"{palette.bold}next to {_sizes(answer.near)}{palette.plain}"
        below, above = answer.nearest
        yield f"  below  {_sizes(below)}"
        yield f"  above  {_sizes(above)}"


def _undecided(sizes: ValidSizes, palette: Palette) -> Iterator[str]:
    if not sizes.undecided:
        return
    yield ""
    yield f"{palette.bold}what formulas do not tell{palette.plain}"
    for one in sizes.undecided[:_MOST_UNDECIDED]:
        yield f"  {escape(one.message) if one.node is None else said(one.node, one.message, palette)}"
    rest = len(sizes.undecided) - _MOST_UNDECIDED
    if rest > 0:
        yield f"  and {counted(rest, 'place')} more"
    yield f'{palette.dim}--near tries sizes; all of a short range are tried if there is one symbol only: --symbol "S=1..100"{palette.plain}'


def _sizes(sizes: Mapping[str, int] | None) -> str:
    return "none was found" if sizes is None else ", ".join(f"{name} = {size}" for name, size in sizes.items())
