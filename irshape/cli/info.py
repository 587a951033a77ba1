"""`irshape info`: describe a model on one screen."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from irshape import verbs
from irshape.answers.info import sections
from irshape.cli.arguments import add_model_arguments
from irshape.cli.batch import report
from irshape.cli.texts import shown
from irshape.report.text import Palette

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

ABOUT = "Describe a model: OpenVINO release, operations, parameters, batch, inputs, outputs, state, and the causes of dynamic shapes."
EXAMPLES = """examples:
  irshape info model.xml
  irshape info models --format jsonl
  irshape info model.xml --input "ids[1,S]" --set S=1..512

exit code: 0 without errors, 1 if the model has errors, 2 if a file could not be read"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("--all", action="store_true", help="list everything, however long")
    add_model_arguments(command)


def run(given: Namespace) -> int:
    """Describe the files and return the exit code."""
    text = partial(sections, is_complete=given.all)
    return report(given, verbs.info, partial(shown, Palette.choose(given.color, sys.stdout), text))
