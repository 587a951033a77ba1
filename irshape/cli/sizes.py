"""`irshape sizes`: the input sizes for which a model is valid, the layers that demand it, and the nearest valid sizes."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from irshape import verbs
from irshape.answers.sizes import Nearest, ValidSizes
from irshape.cli.arguments import add_model_arguments
from irshape.cli.batch import report
from irshape.cli.lines import guard_lines, heading, layer_message, reason
from irshape.cli.run import CLEAN, FAULTS, RunError, exit_code
from irshape.cli.signature import grouped, in_a_row, note_lines, opening
from irshape.model.model import Model
from irshape.report.diagnostic import Diagnostic
from irshape.report.parts import Parts
from irshape.report.text import WIDEST, Palette, counted, diagnostic_lines, escape, shorten
from irshape.shape.dim import INT64_MAX
from irshape.xml.document import Document
from irshape.xml.lexical import whole_number

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


ABOUT = "Find the input sizes for which a model is valid: the symbols in --input, and every other dynamic size in the file."
EXAMPLES = """examples:
  irshape sizes model.xml --input "image[1,3,H,W]"
  irshape sizes model.xml --input "image[1,3,H,W]" --near "H=500,W=700"
  irshape sizes model.xml --input "image[1,3,S,S]" --set S=32..1024

exit code: 0 if some size is valid, 1 if no size is valid, 2 if a file could not be read or has no dynamic sizes"""

# The most layers that are listed where formulas do not decide.
_MOST_UNDECIDED = 8
# The longest size of a shape that is listed.
_LONGEST = 1000


class _Answer(NamedTuple):
    """The valid sizes of a model, and the valid sizes nearest to those of --near."""

    sizes: ValidSizes
    near: Mapping[str, int]
    nearest: Nearest | None

    @property
    def document(self) -> Document:
        return self.sizes._inference.document

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return self.sizes.diagnostics

    def to_dict(self) -> dict[str, Any]:
        nearest = None if self.nearest is None else {"given": dict(self.near), **self.nearest._asdict()}
        return {**self.sizes.to_dict(), "nearest": nearest}


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument(
        "--near", action="append", default=[], metavar='"H=500"', help="find the valid sizes nearest to these: H=500,W=700"
    )
    add_model_arguments(command)


def run(given: Namespace) -> int:
    """Find the valid sizes of the files, report them, and return the exit code."""
    near = near_sizes(given.near)
    return report(given, partial(_ask, near), partial(_lines, Palette.choose(given.color, sys.stdout)), _verdict)


def _ask(near: Mapping[str, int], model: Model, **options: Any) -> _Answer:
    sizes = verbs.sizes(model, **options)
    return _Answer(sizes, near, sizes.nearest(near) if near else None)


def _verdict(answer: _Answer) -> Iterable[str]:
    """Raise a fault if no size is valid although no diagnostic is an error."""
    if not answer.sizes.ok and exit_code(answer.diagnostics) == CLEAN:
        raise RunError(f"{answer.document.path}: no size is valid", FAULTS)
    return ()


def near_sizes(texts: Iterable[str]) -> dict[str, int]:
    """The sizes of `--near`, by symbol. Raises `RunError` for a text that is none."""
    return dict(_size(part) for text in texts for part in text.split(","))


def _size(text: str) -> tuple[str, int]:
    name, _, size = text.partition("=")
    number = whole_number(size.strip()) if size.strip().isdecimal() else None
    if not name.strip() or number is None:
        most = f", and a size up to {INT64_MAX}" if size.strip().isdecimal() else ""
        raise RunError(f'--near {shorten(text, WIDEST)!r}: expected "NAME=SIZE", as in "H=500"{most}')
    return name.strip(), number


def _lines(palette: Palette, answer: _Answer) -> Iterator[str]:
    """Title, conditions with their layers, undecided places, and the nearest valid sizes of one file."""
    sizes = answer.sizes
    yield from opening(sizes._inference, sizes.diagnostics, palette)
    yield ""
    inputs = ", ".join(grouped(sizes.inputs, Parts(_LONGEST))) or "the model"
    if not sizes.ok:
        why = "these conditions contradict each other" if sizes.conditions else "the model has errors"
        yield f"{palette.bold}{inputs} is valid for no size: {why}{palette.plain}"
    else:
        alone = "with these sizes" if sizes._question.called else "and can have no other sizes"
        every = f"for every {in_a_row(list(sizes.symbols))}" if sizes.symbols else alone
        extent = "where" if sizes.conditions else every
        source = " (as far as formulas tell)" if not sizes.is_exact else " (every size was tried)" if sizes.is_by_trial else ""
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
        for branch in dict.fromkeys(guard.branch for guard in condition.guards if guard.branch):
            yield f"      {palette.dim}OpenVINO checks {escape(branch)} for numbers, even if it does not run{palette.plain}"
    for text, premises in groupby(sizes.premises, heading):
        yield ""
        yield f"{palette.bold}{text}{palette.plain}"
        yield from guard_lines(list(premises), palette)
    yield from note_lines(sizes.notes, palette)
    yield from _undecided(sizes, palette)
    if sizes.never_runs:
        yield ""
        yield f"{palette.bold}with {_sizes(sizes.sample)} OpenVINO accepts the model, but cannot run it{palette.plain}"
        for diagnostic in sizes.never_runs:
            yield from (f"  {line}" for line in diagnostic_lines(diagnostic, palette))
    if answer.nearest is not None:
        yield ""
        yield f"{palette.bold}nearest to {_sizes(answer.near)}{palette.plain}"
        below, above = answer.nearest
        yield f"  below  {_sizes(below)}"
        yield f"  above  {_sizes(above)}"


def _undecided(sizes: ValidSizes, palette: Palette) -> Iterator[str]:
    """The layers for which formulas do not decide whether a size is valid."""
    if not sizes.undecided:
        return
    yield ""
    yield f"{palette.bold}formulas do not decide{palette.plain}"
    shown = sizes.undecided[:_MOST_UNDECIDED]
    words = {word for one in shown for word in re.findall(r"[A-Za-z]\w*", one.message)}
    for own in sizes._inference.data_sizes:
        if own.name in words:
            source = escape(f"{own.node.type} {own.node.name}")
            yield f"  {palette.key}{own.name}{palette.plain} is known only when the model runs, by {source}"
    for one in shown:
        yield f"  {escape(one.message) if one.node is None else layer_message(one.node, one.message, palette)}"
    rest = len(sizes.undecided) - _MOST_UNDECIDED
    if rest > 0:
        yield f"  and {counted(rest, 'place')} more"
    if not sizes.is_by_trial:
        return
    hint = "--near tries sizes one by one; with a single symbol and a short range, every size is tried: --set S=1..100"
    yield f"{palette.dim}{hint}{palette.plain}"


def _sizes(sizes: Mapping[str, int] | None) -> str:
    return "none was found" if sizes is None else ", ".join(f"{name} = {size}" for name, size in sizes.items())
