"""`irshape check`: every fault of every file."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from functools import partial

import irshape
from irshape.cli.batch import report
from irshape.inference.inference import Inference
from irshape.report.text import Palette, diagnostic_lines


def run(given: Namespace) -> int:
    """Check the files and give the exit code."""
    palette = Palette.choose(given.color, sys.stdout)
    return report(given, irshape.check, partial(_lines, palette), is_list=True)


def _lines(palette: Palette, inference: Inference) -> Iterator[str]:
    for diagnostic in inference.diagnostics:
        yield from diagnostic_lines(diagnostic, palette)
