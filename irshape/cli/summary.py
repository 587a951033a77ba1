"""`irshape summary`: the modules of a model as a tree, with shapes, parameters, MACs and memory."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from irshape import verbs
from irshape.answers.summary import DEPTH, Summary, sections
from irshape.cli.arguments import OUTPUT, add_model_arguments, most
from irshape.cli.batch import report
from irshape.cli.sizes import near_sizes
from irshape.cli.texts import shown
from irshape.model.model import Model
from irshape.report.text import Palette

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

ABOUT = "Show the modules of a model as a tree, each with its output, parameters, multiply-accumulates and memory, and the totals."
EXAMPLES = """examples:
  irshape summary model.xml
  irshape summary model.xml --depth 5
  irshape summary model.xml --near "H=512,W=512"

exit code: 0 without errors, 1 if the model has errors, 2 if a file could not be read"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = command.add_argument_group(OUTPUT).add_argument
    add("-d", "--depth", type=most, default=DEPTH, metavar="N", help=f"the levels of the tree (default: {DEPTH})")
    add("--near", action="append", default=[], metavar="H=512", help="the sizes for which numbers are given: H=512,W=512")
    add_model_arguments(command)


def run(given: Namespace) -> int:
    """Print the summaries of the files and return the exit code."""
    near = near_sizes(given.near)
    return report(given, partial(_summary, near, given.depth), partial(shown, Palette.choose(given.color, sys.stdout), sections))


def _summary(near: dict[str, int], depth: int, model: Model, **options: Any) -> Summary:
    return verbs.summary(model, near=near, depth=depth, **options)
