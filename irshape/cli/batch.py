"""A run over files: find them, examine each, and report the outcomes in order."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING

from irshape.cli.examination import OUT_OF_MEMORY, Examination, Lines, Outcome, Verb
from irshape.cli.files import find, is_much, is_one
from irshape.cli.formats import DOCUMENTS, document
from irshape.cli.progress import Progress
from irshape.cli.run import CLEAN, RunError, complain, put
from irshape.report.checked import Checked
from irshape.report.diagnostic import Diagnostic
from irshape.report.text import counted, verdict

if TYPE_CHECKING:
    from irshape.cli.limits import Allowance


# The text before the first report, before every other, after each, and at the end of a run.
_LINES = ("", "", "\n", "")
_PAGES = ("", "\n", "\n", "")
_ARRAY = ("[", ",\n", "", "]\n")


def report(given: Namespace, verb: Verb, show: Lines, finish: Lines | None = None, *, is_list: bool = False) -> int:
    """Examine every file, report it in the chosen format, and return the worst exit code.

    With `is_list`, `show` yields a list of faults, and one summary follows the last file; otherwise `show` yields a page for each file.
    """
    is_single = is_one(given.files)
    try:
        if given.weights_file is not None and not is_single:
            raise RunError("--weights-file needs exactly one FILE")
        examination = Examination(given, verb, show, finish)
        allowance = _allowance(given)
    except RunError as error:
        return complain(str(error))
    paths, complaints = find(given.files)
    worst = max(map(complain, complaints), default=CLEAN)
    is_text = given.format == "text"
    opening, joint, end, closing = _ARRAY if given.format == "json" and not is_single else _PAGES if is_text and not is_list else _LINES
    progress = Progress(sys.stderr, len(paths))
    outcomes = _examine(examination, paths, given.jobs, allowance, progress.step)
    named = frozenset(given.files)
    tally, shown, foreign = Tally(), 0, 0
    is_document = given.format in DOCUMENTS
    checked = [Checked(complaint.rpartition(": ")[0], complaint=complaint, is_passed=False) for complaint in complaints]
    try:
        for outcome in outcomes:
            if outcome.is_foreign and outcome.path not in named:
                foreign += 1
                continue
            worst = max(worst, outcome.code)
            if outcome.layers is not None:
                tally.add(outcome.layers, outcome.diagnostics)
            if is_document:
                checked.append(Checked(outcome.path, outcome.diagnostics, outcome.complaint, outcome.code == CLEAN))
            if outcome.body:
                progress.clear()
                put((joint if shown else opening) + outcome.body, given.format, end)
                shown += 1
            if outcome.complaint:
                progress.clear()
                complain(outcome.complaint)
    except RunError as error:
        worst = complain(str(error))
    finally:
        outcomes.close()  # ends the workers
        progress.clear()
    put(document(given.format, checked) + "\n" if is_document else closing if shown else opening + closing, given.format, "")
    if foreign and foreign == len(paths):
        return complain(f"{', '.join(given.files)}: no IR among {counted(foreign, '.xml file')}")
    if is_list and is_text and tally.files:
        skipped = f" ({counted(foreign, '.xml file')} of other formats skipped)" if foreign else ""
        print(f"{tally}{skipped}")
    return worst


def _examine(
    examination: Examination, paths: Sequence[str], jobs: int | None, allowance: Allowance | None, step: Callable[[], None]
) -> Generator[Outcome, None, None]:
    """The outcomes in the order of the files. Worker processes examine them if that is faster or --isolate asks for it."""
    if jobs is None:
        jobs = _cores() if is_much(paths) else 1
    jobs = min(jobs, len(paths))
    if jobs > 1 or allowance is not None:
        from irshape.cli.workers import in_workers

        yield from in_workers(examination, paths, jobs, allowance, step)
        return
    for path in paths:
        try:
            outcome = examination(path)
        except MemoryError:
            outcome = examination.lost(path, *OUT_OF_MEMORY)
        step()
        yield outcome


def _cores() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _allowance(given: Namespace) -> Allowance | None:
    """The limits of a worker; None without --isolate."""
    allowance = getattr(given, "allowance", None)
    if not getattr(given, "isolate", False):
        if allowance is not None:
            raise RunError("--limit time=... and --limit memory=... need --isolate")
        return None
    try:
        import resource  # noqa: F401
    except ImportError:
        raise RunError("--isolate: this system cannot limit a process (Python has no module `resource` here)") from None
    from irshape.cli.limits import Allowance

    return allowance or Allowance()


class Tally:
    """The counts of a run: files, layers, faults by severity, and faults that --fix mends."""

    __slots__ = ("files", "layers", "mendable", "severities")

    def __init__(self) -> None:
        self.files = self.layers = self.mendable = 0
        self.severities: Counter[str] = Counter()

    def add(self, layers: int, diagnostics: Sequence[Diagnostic]) -> Tally:
        """Count one more file, and return the tally."""
        self.files += 1
        self.layers += layers
        self.mendable += sum(bool(diagnostic.fix and diagnostic.fix.is_safe) for diagnostic in diagnostics)
        for diagnostic in diagnostics:
            self.severities[diagnostic.severity] += diagnostic.count
        return self

    def __str__(self) -> str:
        offer = f" (--fix mends {self.mendable})" if self.mendable else ""
        return f"{counted(self.files, 'file')}, {counted(self.layers, 'layer')}: {verdict(self.severities)}{offer}"
