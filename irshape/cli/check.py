"""`irshape check`: report every fault of every file, and with --fix mend the faults that can be mended safely."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import partial
from typing import TYPE_CHECKING, Any

from irshape import verbs
from irshape.cli.arguments import add_model_arguments
from irshape.cli.check_options import CONCISE, DOCUMENTS, CheckWish, add_options, misplaced, source_of, wish_of
from irshape.cli.conclusion import check_writing, ended, write
from irshape.cli.examination import Errand, Extended, complete_remedy
from irshape.cli.request import Request, request_of
from irshape.cli.road import ARRAY, LINES, Totals, examined, found, own, printed, summed
from irshape.cli.run import CLEAN, FAILED, FAULTS, complain
from irshape.cli.screen import watched
from irshape.diagnosis.diagnosis import accept, choose
from irshape.files.reading import Path, read
from irshape.inference.inference import Inference
from irshape.model.model import Model
from irshape.report.diagnostic import ERROR, Diagnostic
from irshape.report.text import PLAIN, Palette, escape
from irshape.settings.settings import FileSettings, Settings, settings_text
from irshape.xml.reader import root_of

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from irshape.report.baseline import Baseline

# The root element of a file is looked for in its first bytes.
_HEAD = 1 << 12
# How often a file is mended and checked again; files so far took two rounds.
_MOST_MENDED = 8

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
    wish = wish_of(given)
    request = request_of(given, format="text" if wish.format == CONCISE else wish.format, **source_of(given))
    if not given.watch:
        return _checked(request, wish)
    return watched(request.files, [given.weights_file, given.config], _checked, request, wish)


def _checked(request: Request, wish: CheckWish) -> int:
    """The road of a check: find the files, examine each, print each, and conclude."""
    try:
        settings = Settings(**wish.settings)
        request = request._replace(settings=settings)
        if wish.shows_settings:
            there = found(request)
            print(*(settings_text(path, settings) for path in there.paths), sep="\n", end="")
            return FAILED if there.complaints else CLEAN
        check_writing(wish, request.files)
        there = found(request)
        check = check_of(request, wish, there.paths)
        for remark in () if wish.quiet else settings.idle([path for path in request.files if os.path.isdir(path)]):
            complain(f"warning: {remark}")
        errand, totals = Errand(request, check, _say(wish)), Totals(there.complaints, keeps=wish.keeps)
        with _output(wish, request.files):
            outcomes = own(examined(errand, there.paths), request, totals)
            frame = ARRAY if request.format == "json" and request.is_many and errand.say else LINES
            code = summed(printed(outcomes, frame, request.format), request, there, totals)
            code = max(code, ended(wish, request.files, check.baselines, settings, totals))
    except ValueError as error:  # a target, a configuration or a baseline; each line is a fault
        return max(map(complain, str(error).splitlines()))
    return CLEAN if code == FAULTS and wish.forgives else code


@contextmanager
def _output(wish: CheckWish, files: Sequence[str]) -> Iterator[None]:
    """With --output-file, what is printed meanwhile goes into the file."""
    if wish.output_file is None:
        yield
        return
    with redirect_stdout(io.StringIO()) as out:
        yield
    write(wish, wish.output_file, out.getvalue(), files)


def _say(wish: CheckWish) -> Callable[[Extended], Iterator[str]] | None:
    """How the faults of one file are said as text; None if the end of the run says them."""
    if wish.is_summed:
        return None
    if wish.diff:
        return partial(_diff, sys.stdout.isatty())
    palette = Palette(wish.color == "always") if wish.output_file else Palette.choose(wish.color, sys.stdout)
    return partial(fault_lines, palette, is_concise=wish.format == CONCISE, is_whole=wish.all)


def check_of(request: Request, wish: CheckWish, paths: Sequence[str]) -> Check:
    """The check of files. A configuration or a baseline that cannot be read, or an unknown target, is a `ValueError` before it begins."""
    if wish.target:
        from irshape.answers.policies import find_policies

        find_policies(wish.target)
    settings = request.settings
    assert settings is not None
    files = {path: wish.baseline or own.baseline for path in paths if (own := settings.of(path)) and not wish.write_baseline}
    if not any(files.values()):
        return Check(request, wish, {})
    from irshape.report.baseline import Baseline

    read = {file: Baseline.read(file) for file in dict.fromkeys(files.values()) if file}
    return Check(request, wish, {path: read[file] for path, file in files.items() if file})


class Check:
    """The check of one file. It can be pickled for a worker. `baselines` are those of the files that have one."""

    def __init__(self, request: Request, wish: CheckWish, baselines: Mapping[str, Baseline]) -> None:
        self.request = request
        self.wish = wish
        self.baselines = baselines

    def __call__(self, model: Model, **options: Any) -> Extended:
        """The faults of a file, after those that are mended and without those that a baseline accepts."""
        path, settings, wish = model.document.path, self.request.settings, self.wish
        assert path is not None and settings is not None
        own = settings.of(path)
        options["batch"] = wish.batch
        options["targets"] = list(dict.fromkeys([*own.targets, *wish.target]))
        options["structure"] = own.selection is not None and own.selection.names("X202")
        inference = self._selected(model, own, options)
        mended: list[Diagnostic] = []
        if wish.fix and not wish.diff:
            from irshape.diagnosis.fixes import mend

            extensions = [*own.extensions, *self.request.extensions]
            for _ in range(_MOST_MENDED):  # a fix may uncover a fault behind it, or overlap another fix
                if not (found := mend(inference)):
                    break
                mended += found
                model = verbs.read(Path(path), opset=self.request.opset, limits=model.document.limits, extensions=extensions)
                inference = self._selected(model, own, options)
        baseline = self.baselines.get(path)
        accepted = {} if baseline is None else accept(inference, baseline, path)
        if wish.format in ("json", "jsonl"):
            from irshape.cli.texts import in_names

            inference = in_names(inference, is_whole=True)
        return Extended(inference.document, inference, mended, {"mended": [one.to_dict() for one in mended]} if mended else {}, accepted)

    def _selected(self, model: Model, own: FileSettings, options: Mapping[str, Any]) -> Inference:
        inference = verbs.check(model, suppressions=self.wish.suppressions, **options)
        if options["targets"] and self.wish.format == "text":
            complete_remedy(inference, self.request, options)
        if own.selection is not None:
            choose(inference, own.selection)
        return inference


def fault_lines(
    palette: Palette, examined: Extended, *, is_concise: bool = False, is_whole: bool = False, has_errors_first: bool = False
) -> Iterator[str]:
    """The faults of one file, those that were mended first; with `is_concise`, one line for each cause and nothing else.

    With `is_whole`, the faults that follow from others are listed, too; with `has_errors_first`, errors are before warnings.
    """
    inference = examined.answer
    if not (examined.more or inference.diagnostics or inference.remedy):
        return
    from irshape.report.section import faults, mended
    from irshape.report.terminal import block_lines

    ordered = sorted(inference.diagnostics, key=lambda one: has_errors_first and one.severity != ERROR)
    found = faults(ordered, is_whole=is_whole)
    yield from block_lines([*map(mended, examined.more), *([one.line for one in found] if is_concise else found)], palette)
    if inference.remedy and not is_concise:
        from irshape.cli.texts import remedy

        yield from block_lines(remedy(inference), palette)


def _diff(is_terminal: bool, examined: Extended) -> Iterator[str]:
    """The changes of --fix as a unified diff. A pipe gets the exact text for `patch`; on a terminal, control characters are escaped."""
    from irshape.diagnosis.fixes import mendable
    from irshape.report.unified import unified

    document = examined.document
    for line in unified(escape(document.path or "<input>"), document.source, document.encoding, mendable(examined.answer)[1]):
        yield escape(line.removesuffix("\r")) if is_terminal else line


def is_checked(path: str, *, is_argument: bool) -> bool:
    """Whether a run over the folder of a file would check it: not if it is excluded, or XML of another format.

    A file that is an argument itself is always checked. Raises `ConfigurationError`, a ValueError.
    """
    if is_argument:
        return True
    if Settings().excludes(path, is_found=False):
        return False
    root = root_of(read(path, _HEAD)[:_HEAD])
    return not root or root.lower() in ("net", "layer")


def checked_text(path: str) -> str:
    """The report of `irshape check`, errors first; empty if it exits with 0. Raises ValueError for a faulty configuration or baseline."""
    from irshape.cli.parser import parser

    command = ["check", "--", path]
    given = parser(command).parse_args(command)
    wish = wish_of(given)
    request = request_of(given, Settings(**wish.settings))
    outcome = Errand(request, check_of(request, wish, [path]), partial(fault_lines, PLAIN, has_errors_first=True))(path)
    return "" if outcome.code == CLEAN else "\n".join(filter(None, (outcome.body, outcome.complaint)))
