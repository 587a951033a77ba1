"""`irshape check`: every fault of every file."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from functools import partial

import irshape
from irshape.cli.batch import report
from irshape.cli.run import complain
from irshape.inference.inference import Inference
from irshape.report.text import Palette, diagnostic_lines


def run(given: Namespace) -> int:
    """Check the files and give the exit code."""
    if given.target:
        from irshape.answers.policies import find_policies

        try:
            find_policies(given.target)
        except irshape.InputError as error:
            return complain(str(error))
    palette = Palette.choose(given.color, sys.stdout)
    return report(given, partial(irshape.check, targets=given.target), partial(_lines, palette), is_list=True)


def _lines(palette: Palette, inference: Inference) -> Iterator[str]:
    for diagnostic in inference.diagnostics:
        yield from diagnostic_lines(diagnostic, palette)
