"""`irshape check`: report every fault of every file, and with --fix mend the faults that can be mended safely."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from functools import partial
from typing import Any

import irshape
from irshape.cli.arguments import add_model_arguments
from irshape.cli.batch import report
from irshape.cli.formats import DOCUMENTS
from irshape.cli.run import complain
from irshape.inference.inference import Inference
from irshape.model.model import Model
from irshape.report.text import Palette, diagnostic_lines, escape, mended_line

ABOUT = "Report every fault of a file, one per line: file:line:column: CODE message."
EXAMPLES = """examples:
  irshape check model.xml
  irshape check models --strict
  irshape check model.xml --target npu --input "ids[1,1..512]"
  irshape check uploads --isolate --limit time=10
  irshape check model.xml --format json
  irshape check models/*.xml --format sarif > irshape.sarif
  irshape check model.xml --diff
  irshape check model.xml --fix

exit code: 0 without errors, 1 with errors (with --strict also warnings), 2 if a file could not be checked"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("--strict", action="store_true", help="exit with 1 for warnings, too")
    command.add_argument(
        "--target",
        action="append",
        default=[],
        metavar="POLICY",
        help="also check the model against a policy: static-shapes, bounded, ranked, max-rank=6, npu",
    )
    command.add_argument("--fix", action="store_true", help="mend the faults in FILE that can be mended safely, and report the rest")
    command.add_argument("--diff", action="store_true", help="show the changes that --fix would make, and write nothing")
    command.add_argument(
        "--isolate",
        action="store_true",
        help="examine each file in a process of its own, limited by --limit time=60 (seconds, default) and --limit memory=2GiB (default)",
    )
    command.set_defaults(allowance=None)
    add_model_arguments(command, *DOCUMENTS)


def run(given: Namespace) -> int:
    """Check the files, mend them if --fix is given, and return the exit code."""
    if complaint := _misplaced(given):
        return complain(complaint)
    if given.target:
        from irshape.answers.policies import find_policies

        try:
            find_policies(given.target)
        except irshape.InputError as error:
            return complain(str(error))
    palette = Palette.choose(given.color, sys.stdout)
    lines = partial(_diff, sys.stdout.isatty()) if given.diff else partial(_faults, palette)
    verb = partial(_fix, given.opset) if given.fix and not given.diff else irshape.check
    return report(given, partial(verb, targets=given.target), lines, is_list=True)


def _misplaced(given: Namespace) -> str | None:
    """The complaint about options that do not go together; None if all do."""
    if (given.fix or given.diff) and (given.input or given.symbol):
        return "--fix and --diff use the shapes in the file: leave out --input and --symbol"
    return "--diff prints text: leave out --format" if given.diff and given.format != "text" else None


def _faults(palette: Palette, inference: Inference) -> Iterator[str]:
    for diagnostic in inference.mended:
        yield mended_line(diagnostic, palette)
    for diagnostic in inference.diagnostics:
        yield from diagnostic_lines(diagnostic, palette)


def _diff(is_terminal: bool, inference: Inference) -> Iterator[str]:
    """The changes of --fix as a unified diff. A pipe gets the exact text for `patch`; on a terminal, control characters are escaped."""
    from irshape.report.unified import unified

    document = inference.document
    for line in unified(escape(document.path or "<input>"), document.source, document.encoding, inference.edits):
        yield escape(line.removesuffix("\r")) if is_terminal else line


def _fix(opset: str | None, model: Model, **options: Any) -> Inference:
    """Check a file, mend it, and check it again."""
    inference = irshape.check(model, **options)
    mended = inference.fix()
    if mended:
        inference = irshape.check(irshape.read(model.document.path, opset=opset, limits=model.document.limits), **options)
        inference.mended = mended
    return inference
