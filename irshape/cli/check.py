"""`irshape check`: every fault of every file."""

from __future__ import annotations

import sys
from argparse import Namespace

import irshape
from irshape.cli.run import layers, report, summary
from irshape.inference.inference import Inference
from irshape.report.diagnostic import Diagnostic
from irshape.report.text import Palette, diagnostic_lines


def run(given: Namespace) -> int:
    """Check the files and give the exit code."""
    palette = Palette.choose(given.color, sys.stdout)
    seen: list[tuple[int, list[Diagnostic]]] = []

    def show(inference: Inference) -> None:
        for diagnostic in inference.diagnostics:
            print(*diagnostic_lines(diagnostic, palette), sep="\n")
        seen.append((sum(1 for _ in layers(inference.document)), inference.diagnostics))

    code = report(given, irshape.check, show)
    if seen:
        print(summary(seen))
    return code
