"""`irshape explain`: why a size of a port is what it is."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from typing import Any

import irshape
from irshape.answers.explain.explainer import nothing
from irshape.answers.explain.explanation import Explanation
from irshape.answers.explain.target import parse_target
from irshape.cli.batch import report
from irshape.model.model import Model
from irshape.report.text import Palette, terminal_width


def run(given: Namespace) -> int:
    """Explain what is asked for, and give the exit code."""
    palette = Palette.choose(given.color, sys.stdout)
    return report(given, partial(_explain, given.target), partial(_lines, palette, terminal_width(sys.stdout)))


def _explain(target: str, model: Model, **options: Any) -> Explanation:
    inference = irshape.infer(model, **options)
    return inference.explain(*parse_target(model, target)) if model.nodes else nothing(inference)


def _lines(palette: Palette, width: int | None, explanation: Explanation) -> Iterator[str]:
    return explanation.lines(palette, width)
