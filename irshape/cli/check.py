"""`irshape check`: report every fault of every file, and with --fix mend the faults that can be mended safely."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from irshape import verbs
from irshape.cli.arguments import add_model_arguments
from irshape.cli.batch import report
from irshape.cli.check_options import CONCISE, add_options, misplaced, read_input, settings_of
from irshape.cli.conclusion import check_writing, conclude, write
from irshape.cli.formats import DOCUMENTS
from irshape.cli.run import CLEAN, FAULTS, complain
from irshape.diagnosis.diagnosis import accept, choose
from irshape.files.reading import Path
from irshape.inference.inference import Inference
from irshape.model.model import Model
from irshape.report.diagnostic import ERROR, causes
from irshape.report.text import Palette, diagnostic_lines, escape, mended_line, report_lines

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from irshape.cli.examination import Lines
    from irshape.report.baseline import Baseline
    from irshape.report.diagnostic import Diagnostic
    from irshape.settings.settings import Settings

ABOUT = "Report every fault of a file, one per line: file:line:column: CODE message."
EXAMPLES = """examples:
  irshape check model.xml
  irshape check models --select S,W1 --ignore S206
  irshape check model.xml --target npu --input "ids[1,1..512]"
  irshape check models --format github --report sarif=irshape.sarif

exit code: 0 without errors, 1 with errors (with --strict also warnings), 2 if a file could not be checked"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_model_arguments(command, CONCISE, *DOCUMENTS)
    add_options(command)


def run(given: Namespace) -> int:
    """Check the files, mend them if --fix is given, and return the exit code."""
    if complaint := misplaced(given):
        return complain(complaint)
    if given.watch:
        from irshape.cli.watch import repeat

        return repeat(given, _once)
    return _once(given)


def _once(given: Namespace) -> int:
    """Check the files once."""
    given.is_concise = given.format == CONCISE
    if given.is_concise:
        given.format = "text"
    try:
        read_input(given)
        settings = settings_of(given)
        if given.show_settings:
            from irshape.settings.settings import settings_text

            print(*(settings_text(path, settings) for path in given.files), sep="\n", end="")
            return CLEAN
        check = Check(given, settings)
        check_writing(given)
        code = _report(given, settings, check)
    except ValueError as error:  # a target, a configuration or a baseline; each line is a fault
        return max(map(complain, str(error).splitlines()))
    return CLEAN if code == FAULTS and (given.exit_zero or given.write_baseline) else code


class Examined:
    """The answer about one file.

    `inference` has its facts and faults, `mended` are the faults that were mended in the file before, `accepted` the fingerprints of the
    faults that a baseline accepts.
    """

    def __init__(self, inference: Inference, mended: Sequence[Diagnostic], accepted: Sequence[str]) -> None:
        self.inference = inference
        self.document = inference.document
        self.mended = mended
        self.accepted = accepted

    @property
    def diagnostics(self) -> Sequence[Diagnostic]:
        """The faults of the file."""
        return self.inference.diagnostics

    def to_dict(self) -> dict[str, Any]:
        """The form of `schemas/report.schema.json`."""
        report = self.inference.to_dict()
        return {**report, "mended": [one.to_dict() for one in self.mended]} if self.mended else report


class Check:
    """The check of one file. It can be pickled for a worker."""

    def __init__(self, given: Namespace, settings: Settings) -> None:
        self._settings = settings
        self._targets = given.target
        self._batch = given.batch
        self._suppressions = not (given.ignore_suppressions or given.isolate)
        self._opset = given.opset
        self._extensions = given.extensions
        self._fixes = given.fix and not given.diff
        self._baseline = None if given.write_baseline else given.baseline
        self._has_baselines = not given.write_baseline
        self._folders = [] if given.quiet else [path for path in given.files if os.path.isdir(path)]
        self._is_data = given.format in ("json", "jsonl")
        self._baselines: dict[str, Baseline] = {}
        if given.target:
            from irshape.answers.policies import find_policies

            find_policies(given.target)  # a wrong name is an error of the run

    def __call__(self, model: Model, **options: Any) -> Examined:
        path = model.document.path
        assert path is not None
        own = self._settings.of(path)
        options["batch"] = self._batch
        options["targets"] = [*own.targets, *(one for one in self._targets if one not in own.targets)]

        def checked(model: Model) -> Inference:
            structure = own.selection is not None and own.selection.names("X202")
            inference = verbs.check(model, suppressions=self._suppressions, structure=structure, **options)
            if own.selection is not None:
                choose(inference, own.selection)
            return inference

        inference = checked(model)
        mended: list[Diagnostic] = []
        if self._fixes:
            from irshape.diagnosis.mending import mend

            mended = mend(inference)
        if mended:
            extensions = [*own.extensions, *self._extensions]
            inference = checked(verbs.read(Path(path), opset=self._opset, limits=model.document.limits, extensions=extensions))
        baseline = self.baseline(path)
        accepted = [] if baseline is None else accept(inference, baseline, path)
        if self._is_data:
            from irshape.cli.lines import in_names

            inference = in_names(inference, is_whole=True)
        return Examined(inference, mended, accepted)

    def prepare(self, paths: Sequence[str]) -> None:
        """Read the configurations and baselines of all files. A faulty one ends the run before it begins, a glob without a file is said."""
        for path in paths:
            self.baseline(path)
        for remark in self._settings.idle(self._folders):
            complain(f"warning: {remark}")

    def baseline(self, path: str) -> Baseline | None:
        """The baseline of a file. Raises `BaselineError`, a ValueError, if it cannot be read."""
        own = self._settings.of(path)
        file = (self._baseline or own.baseline) if self._has_baselines else None
        if file is None:
            return None
        if file not in self._baselines:
            from irshape.report.baseline import Baseline

            self._baselines[file] = Baseline.read(file)
        return self._baselines[file]

    def reports(self, path: str, code: str) -> bool:
        """Whether the check of a file reports a code."""
        selection = self._settings.of(path).selection
        return selection is None or selection.severity(code, "") is not None


def _report(given: Namespace, settings: Settings, check: Check) -> int:
    """Check the files and report them, on standard output or into --output-file, and return the exit code."""
    lines = partial(_diff, sys.stdout.isatty()) if given.diff else None
    show = partial(fault_lines, is_concise=given.is_concise, is_whole=given.all)
    if given.output_file is None:
        return _run(given, settings, check, lines or partial(show, Palette.choose(given.color, sys.stdout)))
    import io
    from contextlib import redirect_stdout

    with redirect_stdout(io.StringIO()) as out:
        code = _run(given, settings, check, lines or partial(show, Palette(given.color == "always")))
    write(given, given.output_file, out.getvalue())
    return code


def _run(given: Namespace, settings: Settings, check: Check, lines: Lines) -> int:
    # A baseline names the faults, so they are not printed, too.
    is_whole = given.format in DOCUMENTS or given.statistics or (given.write_baseline and given.format == "text")
    keeps = given.format in DOCUMENTS or bool(given.report or given.write_baseline)
    end = partial(conclude, given, check.baseline, check.reports)
    return report(given, check, None if is_whole else lines, settings=settings, prepare=check.prepare, conclude=end, keeps=keeps)


def fault_lines(
    palette: Palette, examined: Examined, *, is_concise: bool = False, is_whole: bool = False, has_errors_first: bool = False
) -> Iterator[str]:
    """The faults of one file, those that were mended first; with `is_concise`, one line for each cause and nothing else.

    With `is_whole`, the faults that follow from others are listed, too; with `has_errors_first`, errors are before warnings.
    """
    inference = examined.inference
    found = sorted(inference.diagnostics, key=lambda one: has_errors_first and one.severity != ERROR)
    for diagnostic in examined.mended:
        yield mended_line(diagnostic, palette)
    if is_concise:
        for diagnostic in found if is_whole else causes(found):
            yield next(diagnostic_lines(diagnostic, palette))
    else:
        yield from report_lines(found, palette, is_whole=is_whole)
    if inference.remedy is not None and not is_concise:
        from irshape.cli.lines import remedy_lines

        yield from remedy_lines(inference, palette)


def _diff(is_terminal: bool, examined: Examined) -> Iterator[str]:
    """The changes of --fix as a unified diff. A pipe gets the exact text for `patch`; on a terminal, control characters are escaped."""
    from irshape.diagnosis.mending import mendable
    from irshape.report.unified import unified

    document = examined.document
    for line in unified(escape(document.path or "<input>"), document.source, document.encoding, mendable(examined.inference)[1]):
        yield escape(line.removesuffix("\r")) if is_terminal else line
