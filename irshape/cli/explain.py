"""`irshape explain`: which layers compute a size of a port, and from which numbers."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from irshape import verbs
from irshape.answers.explain.explainer import parse_target, unexplained
from irshape.answers.explain.explanation import Explanation
from irshape.answers.signature.naming import named
from irshape.cli.arguments import add_reading_arguments, add_symbol_argument
from irshape.cli.batch import report
from irshape.cli.lines import TIED, tie_lines
from irshape.cli.run import agree
from irshape.model.finding import find, names_of
from irshape.model.model import Model
from irshape.report.diagnostic import Diagnostic
from irshape.report.text import Palette, terminal_width
from irshape.xml.document import Document

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from irshape.answers.signature.notes import Because

_NAME = re.compile(r"[A-Za-z]\w*")

ABOUT = "Explain a shape: list the layers that compute it, each with its place, its formula and the origin of each number."
EXAMPLES = """examples:
  irshape explain model.xml conv1                    all axes and the element type of the first output
  irshape explain model.xml conv1:2:3                axis 3 of port 2
  irshape explain model.xml 17:2:-1                  the last axis of port 2 of the layer with id 17
  irshape explain model.xml 2.body/5                 a layer in a body, by its id in the output of infer
  irshape explain model.xml mask --input "image[N,3,H,W]"

exit code: 0 if the shape is explained, 1 if an earlier layer failed (its faults are listed),
2 if the file could not be read, or the model has no such layer, port or axis"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("files", nargs=1, metavar="FILE", help="the .xml of an IR, or a <layer> example of the specification")
    command.set_defaults(jobs=1)
    target = "a layer by name, id, tensor name or fused name; the id of a port; an axis"
    command.add_argument("target", metavar="LAYER[:PORT[:AXIS]]", help=target)
    add_symbol_argument(command)
    add_reading_arguments(command)


class _Answer(NamedTuple):
    """The explanation of a shape, and the axes of inputs that the signature ties together by the symbols in it."""

    explanation: Explanation
    ties: Sequence[Because] = ()

    @property
    def document(self) -> Document:
        return self.explanation.document

    @property
    def diagnostics(self) -> Sequence[Diagnostic]:
        return self.explanation.diagnostics

    def to_dict(self) -> dict[str, Any]:
        return self.explanation.to_dict()


def run(given: Namespace) -> int:
    """Explain the target, and return the exit code."""
    palette = Palette.choose(given.color, sys.stdout)
    is_named = not given.raw_symbols
    return report(given, partial(_explain, given.target, is_named=is_named), partial(_lines, palette, terminal_width(sys.stdout)))


def _explain(target: str, model: Model, *, is_named: bool, **options: Any) -> _Answer:
    inference = verbs.infer(model, **options)
    if not model.nodes:
        return _Answer(unexplained(inference))
    wanted = parse_target(model, target)
    if wanted[1] is None:  # a port is that of a layer
        agree(wanted[0], find(model, wanted[0]), names_of)
    inference = named(inference) if is_named else inference
    explanation = verbs.explain(inference, *wanted)
    names = {name for step in explanation.steps for name in _NAME.findall(step.value)}
    return _Answer(explanation, [one for one in inference.ties if not names.isdisjoint(_NAME.findall(one.size))])


def _lines(palette: Palette, width: int | None, answer: _Answer) -> Iterator[str]:
    yield from answer.explanation.lines(palette, width)
    yield from tie_lines(answer.ties, TIED, palette)
