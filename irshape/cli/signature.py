"""`irshape signature`: the inputs and outputs of a model in as few symbols as possible, the conditions on these, and the reasons."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from irshape import verbs
from irshape.answers.signature.signature import sections
from irshape.cli.arguments import add_model_arguments
from irshape.cli.batch import report
from irshape.cli.texts import shown
from irshape.report.text import Palette

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

ABOUT = (
    "Show how the sizes of a model are tied together: its inputs and outputs in as few symbols as possible, and the conditions on these."
)
EXAMPLES = """examples:
  irshape signature model.xml
  irshape signature model.xml --why
  irshape signature model.xml --input "image[1,3,H,W]"

exit code: 0 without errors, 1 if the model has errors, 2 if a file could not be read"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("--all", action="store_true", help="list every input and output, and conditions on sizes known only at run time")
    command.add_argument("--why", action="store_true", help="list the layers that tie each axis to others")
    add_model_arguments(command)


def run(given: Namespace) -> int:
    """Print the signatures of the files and return the exit code."""
    text = partial(sections, is_complete=given.all, has_reasons=given.why)
    return report(given, verbs.signature, partial(shown, Palette.choose(given.color, sys.stdout), text))
