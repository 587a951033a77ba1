"""The road of a run: find the files, ask about each, print each outcome as it comes, and add them up. Each step takes the one before it."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Final, TypeAlias

from irshape.cli.examination import OUT_OF_MEMORY, Errand, FileOutcome
from irshape.cli.run import CLEAN, FAILED, RunError, Tally, complain, describe, put, saved_model
from irshape.cli.screen import Progress
from irshape.files.reading import is_known, listed
from irshape.report.diagnostic import Diagnostic
from irshape.report.text import counted
from irshape.shape.compilation import NamedTuple

if TYPE_CHECKING:
    from irshape.cli.inputs import OptionFit
    from irshape.cli.request import Request
    from irshape.report.documents import Checked
    from irshape.settings.settings import Settings

Frame: TypeAlias = "tuple[str, str, str, str]"
# The text before the first report of a run, before every other, after each, and at the end.
LINES: Frame = ("", "", "\n", "")
PAGES: Frame = ("", "\n", "\n", "")
ARRAY: Frame = ("[", ",\n", "", "]\n")

# From this many bytes on, several processes are faster than one, although starting them takes time. Each file counts as more bytes.
_MANY_BYTES: Final = 1 << 20
_EACH: Final = 1 << 13


class Found(NamedTuple):
    """The files of a run, and complaints about folders."""

    paths: Sequence[str]
    complaints: Sequence[str]


def find(arguments: Sequence[str], settings: Settings | None = None, *, force_exclude: bool = False) -> Found:
    """The files of a run.

    Files come in the order of the arguments, and below a folder in the order of their paths. Links to files are followed, links to folders
    only if the settings say so. The settings also exclude files and folders; those that are arguments themselves only with
    `force_exclude`. Raises `ConfigurationError`.
    """
    paths: list[str] = []
    complaints: list[str] = []
    for argument in arguments:
        if force_exclude and settings is not None and settings.excludes(argument, is_found=False):
            continue
        if not os.path.isdir(argument):
            paths.append(argument)
            continue
        below, missed, excluded = _below(argument, settings)
        if not below and not missed:
            why = f"{'exclude matches every' if excluded else 'no'} .xml file in this folder"
            complaints.append(f"{argument}: {saved_model(argument) or why}")
        paths += below
        complaints += missed
    return Found(paths, complaints)


def _below(folder: str, settings: Settings | None) -> tuple[list[str], list[str], bool]:
    """Every `.xml` file below a folder, sorted, complaints about folders that could not be listed, and whether something was excluded."""
    paths: list[str] = []
    missed: list[str] = []
    has_excluded = False
    entered: set[tuple[int, int]] = set()  # the folders, as links may lead to one twice
    pending = [folder]
    while pending:
        current = pending.pop()
        follows = settings is not None and settings.follows_links(current)
        if follows and is_known(current, entered):
            continue
        try:
            folders, files = listed(current, follows=follows)
        except OSError as error:
            missed.append(describe(error, current))
            continue
        for entries, kept in ((folders, pending), (files, paths)):
            for path in entries:
                if settings is not None and settings.excludes(path, is_found=True):
                    has_excluded = True
                else:
                    kept.append(path)
    return sorted(paths), sorted(missed), has_excluded


def found(request: Request) -> Found:
    """The files of a run. Each complaint is printed."""
    there = find(request.files, request.settings, force_exclude=request.force_exclude)
    for complaint in there.complaints:
        complain(complaint)
    return there


def examined(errand: Errand, paths: Sequence[str]) -> Generator[FileOutcome, None, None]:
    """The outcome of each file, in order. Worker processes examine them if that is faster or the request has an allowance."""
    jobs, allowance = errand.request.jobs, errand.request.allowance
    jobs = min((cores() if is_much(paths) else 1) if jobs is None else jobs, len(paths))
    progress = Progress(sys.stderr, len(paths))
    try:
        if jobs > 1 or allowance is not None:
            from irshape.cli.workers import in_workers

            with closing(in_workers(errand, paths, jobs, allowance, progress.step)) as outcomes:
                for outcome in outcomes:
                    progress.clear()
                    yield outcome
            return
        for path in paths:
            try:
                outcome = errand(path)
            except MemoryError:
                outcome = errand.lost(path, *OUT_OF_MEMORY)
            progress.step()
            progress.clear()
            yield outcome
    finally:
        progress.clear()


def cores() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def is_much(paths: Sequence[str]) -> bool:
    """Whether the files are enough work to start several processes."""
    if len(paths) < 2:
        return False
    total = 0
    for path in paths:
        with suppress(OSError):
            total += os.stat(path).st_size
        total += _EACH
        if total >= _MANY_BYTES:
            return True
    return False


def own(outcomes: Generator[FileOutcome, None, None], request: Request, totals: Totals) -> Iterator[FileOutcome]:
    """The outcomes of IRs. Other XML files, which a folder may hold, are counted and passed over."""
    named = frozenset(() if request.skips_foreign else request.files)
    with closing(outcomes):  # which ends the workers
        for outcome in outcomes:
            if outcome.is_foreign and outcome.path not in named:
                totals.foreign += 1
            else:
                yield outcome


def printed(outcomes: Iterable[FileOutcome], frame: Frame, format: str) -> Iterator[FileOutcome]:
    """The outcomes, each of which is printed as it comes. A run that cannot go on ends with an outcome that says so."""
    opening, joint, end, closing = frame
    before = opening
    try:
        for outcome in outcomes:
            if outcome.body:
                put(before + outcome.body, format, end)
                before = joint
            if outcome.complaint:
                complain(outcome.complaint)
            yield outcome
    except RunError as error:
        yield FileOutcome("", complain(str(error)))
    put((before if before is opening else "") + closing, format, "")


def summed(outcomes: Iterable[FileOutcome], request: Request, there: Found, totals: Totals) -> int:
    """Add up the outcomes, and return the worst exit code."""
    fits, worst = Fits(), FAILED if there.complaints else CLEAN
    for outcome in outcomes:
        worst = max(worst, outcome.code)
        fits.add(outcome)
        totals.add(outcome)
    if totals.foreign and totals.foreign == len(there.paths) and not request.skips_foreign:
        worst = complain(f"{', '.join(request.files)}: no IR among {counted(totals.foreign, '.xml file')}")
    return max(worst, fits.told())


def answered(errand: Errand, there: Found | None = None) -> int:
    """The road of a command whose answers are about single files: find, examine, print, and add up."""
    request, there, totals = errand.request, there or found(errand.request), Totals()
    outcomes = own(examined(errand, there.paths), request, totals)
    frame = PAGES if request.format == "text" else ARRAY if request.format == "json" and request.is_many else LINES
    return summed(printed(outcomes, frame if errand.say else LINES, request.format), request, there, totals)


class Totals:
    """The results of a run over files that are reported at its end: counts, and with `keeps` the diagnostics of every file.

    `foreign` is the number of XML files of other formats that were passed over, `accepted` counts the faults that a baseline accepts, by
    path and fingerprint. `kinds` counts the faults of each code, and those of them that --fix mends.
    """

    def __init__(self, complaints: Sequence[str] = (), *, keeps: bool = False) -> None:
        self.keeps = keeps
        self.tally = Tally()
        self.kinds: dict[str, tuple[int, int]] = {}
        self.checked: list[Checked] = []
        for complaint in complaints:
            self._keep(complaint.rpartition(": ")[0], (), complaint, is_passed=False)
        self.foreign = 0
        self.accepted: dict[str, Mapping[str, int]] = {}

    def add(self, outcome: FileOutcome) -> None:
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


class Fits:
    """The options about inputs that fit no file of a run."""

    def __init__(self) -> None:
        self._fitting: set[str] = set()
        self._unfit: dict[str, tuple[OptionFit, str, int]] = {}

    def add(self, outcome: FileOutcome) -> None:
        for one in outcome.fits:
            if one.reason:
                first, path, count = self._unfit.get(one.option, (one, outcome.path, 0))
                self._unfit[one.option] = first, path, count + 1
            else:
                self._fitting.add(one.option)

    def told(self) -> int:
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
