"""A run over files: find them, examine each, and report the outcomes in order."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING

from irshape.cli.examination import OUT_OF_MEMORY, Examination, Lines, Outcome, Verb
from irshape.cli.files import find, is_much, is_one, models_of
from irshape.cli.run import CLEAN, RunError, complain, put
from irshape.cli.screen import Progress
from irshape.report.diagnostic import Diagnostic
from irshape.report.text import counted, verdict

if TYPE_CHECKING:
    from argparse import Namespace

    from irshape.cli.inputs import Request
    from irshape.report.documents import Checked
    from irshape.running.limits import Allowance
    from irshape.settings.settings import Settings

# The text before the first report, before every other, after each, and at the end of a run.
_LINES = ("", "", "\n", "")
_PAGES = ("", "\n", "\n", "")
_ARRAY = ("[", ",\n", "", "]\n")


class Totals:
    """The results of a run over files that are reported at its end: counts, and with `keeps` the diagnostics of every file.

    `foreign` is the number of XML files of other formats that were passed over, `accepted` has the fingerprints of the faults that a
    baseline accepts, by path. `kinds` counts the faults of each code, and those of them that --fix mends.
    """

    __slots__ = ("accepted", "checked", "foreign", "keeps", "kinds", "tally")

    def __init__(self, keeps: bool, complaints: Sequence[str]) -> None:
        self.keeps = keeps
        self.tally = Tally()
        self.kinds: dict[str, tuple[int, int]] = {}
        self.checked: list[Checked] = []
        for complaint in complaints:
            self._keep(complaint.rpartition(": ")[0], (), complaint, is_passed=False)
        self.foreign = 0
        self.accepted: dict[str, Sequence[str]] = {}

    def add(self, outcome: Outcome) -> None:
        """Count one more file."""
        for one in outcome.diagnostics:
            count, mendable = self.kinds.get(one.code, (0, 0))
            self.kinds[one.code] = count + one.count, mendable + bool(one.fix and one.fix.is_safe)
        if outcome.layers is not None:
            self.tally.add(outcome.layers, outcome.diagnostics)
            self.accepted[outcome.path] = outcome.accepted
        self._keep(outcome.path, outcome.diagnostics, outcome.complaint, is_passed=outcome.code == CLEAN)

    def _keep(self, path: str, diagnostics: Sequence[Diagnostic], complaint: str, *, is_passed: bool) -> None:
        if self.keeps:
            from irshape.report.documents import Checked

            self.checked.append(Checked(path, diagnostics, complaint, is_passed))


def report(
    given: Namespace,
    verb: Verb,
    show: Lines | None,
    finish: Lines | None = None,
    *,
    settings: Settings | None = None,
    prepare: Callable[[Sequence[str]], None] | None = None,
    conclude: Callable[[Totals], int] | None = None,
    keeps: bool = False,
) -> int:
    """Examine every file, report it in the chosen format, and return the worst exit code.

    `show` yields a page for each file, unless `conclude` writes the end of one report about all files: then it yields a part of that, or is
    None. `settings` has the configuration of each file. `prepare` is called with the paths of all files before the first is examined.
    `keeps` hands the diagnostics of all files to `conclude`. Raises `RunError`.
    """
    is_single = is_one(given.files)
    if given.weights_file is not None and not is_single:
        raise RunError("--weights-file needs exactly one FILE")
    examination = Examination(given, verb, show, finish, settings=settings, is_many=not is_single)
    allowance = _allowance(given)
    files = models_of(given.files) if getattr(given, "skip_foreign", False) else given.files
    paths, complaints = find(files, settings, force_exclude=getattr(given, "force_exclude", False))
    if prepare is not None:
        prepare(paths)
    worst = max(map(complain, complaints), default=CLEAN)
    is_list = conclude is not None
    is_array = given.format == "json" and not is_single and show is not None
    opening, joint, end, closing = _ARRAY if is_array else _PAGES if given.format == "text" and not is_list else _LINES
    progress = Progress(sys.stderr, len(paths))
    outcomes = _examine(examination, paths, given.jobs, allowance, progress.step)
    named = frozenset(() if getattr(given, "skip_foreign", False) else given.files)
    totals, fits, shown = Totals(keeps, complaints), Fits(), 0
    try:
        for outcome in outcomes:
            if outcome.is_foreign and outcome.path not in named:
                totals.foreign += 1
                continue
            worst = max(worst, outcome.code)
            fits.add(outcome)
            totals.add(outcome)
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
    if is_array or not is_list:
        put(closing if shown else opening + closing, given.format, "")
    foreign = totals.foreign
    if foreign and foreign == len(paths) and not getattr(given, "skip_foreign", False):
        worst = complain(f"{', '.join(given.files)}: no IR among {counted(foreign, '.xml file')}")
    worst = max(worst, fits.complain())
    return worst if conclude is None else max(worst, conclude(totals))


def _examine(
    examination: Examination, paths: Sequence[str], jobs: int | None, allowance: Allowance | None, step: Callable[[], None]
) -> Generator[Outcome, None, None]:
    """The outcomes in the order of the files. Worker processes examine them if that is faster or --isolate asks for it."""
    if jobs is None:
        jobs = cores() if is_much(paths) else 1
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


def cores() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _allowance(given: Namespace) -> Allowance | None:
    """The limits of a worker; None without --isolate."""
    allowance = getattr(given, "allowance", None)
    if not getattr(given, "isolate", False):
        if allowance is not None:
            raise RunError("--limit time=... and --limit memory=... need --isolate")
        return None
    from irshape.running.limits import Allowance, can_limit

    if not can_limit():
        raise RunError("--isolate: this system cannot limit a process (Python has no module `resource` here)")
    return allowance or Allowance()


class Fits:
    """The options about inputs that fit no file of a run."""

    def __init__(self) -> None:
        self._fitting: set[str] = set()
        self._unfit: dict[str, tuple[Request, str, int]] = {}

    def add(self, outcome: Outcome) -> None:
        """Count one more file."""
        for one in outcome.requests:
            if one.reason:
                first, path, count = self._unfit.get(one.option, (one, outcome.path, 0))
                self._unfit[one.option] = first, path, count + 1
            else:
                self._fitting.add(one.option)

    def complain(self) -> int:
        """Complain about each option that fits none of the files, and return the exit code.

        An option of a configuration may be meant for files that this run does not check, so it leaves the exit code.
        """
        worst = CLEAN
        for option, (one, path, count) in self._unfit.items():
            if option not in self._fitting:
                which = "the file" if count == 1 else f"any of {count} files"
                code = complain(f"{'' if one.is_own else 'warning: '}{option} does not fit {which}; {path}: {one.reason}")
                worst = max(worst, code if one.is_own else CLEAN)
        return worst


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
