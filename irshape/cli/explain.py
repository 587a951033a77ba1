"""`irshape explain`: which layers compute a size of a port, and from which numbers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial

import irshape
from irshape.answers.explain.explainer import unexplained
from irshape.answers.explain.explanation import Explanation
from irshape.answers.explain.target import parse_target
from irshape.cli.arguments import add_reading_arguments
from irshape.cli.batch import report
from irshape.model.model import Model
from irshape.report.text import Palette, terminal_width
from irshape.shape.hints import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


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
    command.add_argument("target", metavar="LAYER[:PORT[:AXIS]]", help="a layer by name or id; the id of a port; an axis")
    add_reading_arguments(command)


def run(given: Namespace) -> int:
    """Explain the target, and return the exit code."""
    palette = Palette.choose(given.color, sys.stdout)
    return report(given, partial(_explain, given.target), partial(_lines, palette, terminal_width(sys.stdout)))


def _explain(target: str, model: Model, **options: Any) -> Explanation:
    inference = irshape.infer(model, **options)
    return irshape.explain(inference, *parse_target(model, target)) if model.nodes else unexplained(inference)


def _lines(palette: Palette, width: int | None, explanation: Explanation) -> Iterator[str]:
    return explanation.lines(palette, width)
