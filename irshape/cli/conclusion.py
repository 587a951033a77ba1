"""The end of a check: what is about all files of the run, and the formats that put them into one document."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from irshape import __version__
from irshape.cli.check_options import CONCISE, DOCUMENTS, CheckWish
from irshape.cli.road import Totals
from irshape.cli.run import CLEAN, FAULTS, RunError, complain, describe, put, put_json
from irshape.report.catalogue import CATALOGUE
from irshape.report.text import counted, escape, some

if TYPE_CHECKING:
    from irshape.report.baseline import Baseline, Reports
    from irshape.report.documents import Checked
    from irshape.settings.settings import Settings


def document(format: str, checked: Sequence[Checked]) -> str:
    """The findings of a run, in one of the formats."""
    if format == "sarif":
        from irshape.report import sarif

        return sarif.render(checked, __version__)
    from irshape.report import documents

    return {"github": documents.github, "gitlab": documents.gitlab, "junit": documents.junit}[format](checked)


# The most stale faults of a baseline that one line names.
_MOST_STALE = 3


def ended(wish: CheckWish, files: Sequence[str], baselines: Mapping[str, Baseline], settings: Settings, totals: Totals) -> int:
    """Write what is about all files of a check, and return the exit code that follows from the baselines, which are those of each file."""
    if wish.statistics:
        _put_statistics(wish, totals)
    elif wish.format in DOCUMENTS:
        put(document(wish.format, totals.checked) + "\n", wish.format, "")
    elif wish.format in ("text", CONCISE) and totals.tally.files and not wish.quiet:
        skipped = f" ({counted(totals.foreign, '.xml file')} of other formats skipped)" if totals.foreign else ""
        accepted = sum(sum(faults.values()) for faults in totals.accepted.values())
        known = f" ({counted(accepted, 'known fault')} in the baseline)" if accepted else ""
        put(f"{totals.tally}{known}{skipped}")
        if totals.kinds and sys.stdout.isatty():
            put(f"irshape rule CODE explains a code, as in irshape rule {min(totals.kinds)}")
    for format, path in wish.report:
        write(wish, path, document(format, totals.checked) + "\n", files)
    reports = partial(_reports, settings)
    return _write_baseline(wish, reports, totals) if wish.write_baseline else _stale(wish, baselines, reports, totals)


def _reports(settings: Settings, path: str, code: str) -> bool:
    selection = settings.of(path).selection
    return selection is None or selection.severity(code, "") is not None


def check_writing(wish: CheckWish, files: Sequence[str]) -> None:
    """Raise an error for a report or a baseline that may not be written, before the first file is checked."""
    paths = [path for path in (wish.output_file, *(path for _, path in wish.report)) if path is not None]
    if paths:
        from irshape.cli.outputs import check_outputs

        check_outputs(paths, force=wish.force, inputs=files)
    if wish.write_baseline is not None:
        _known(wish.write_baseline)


def write(wish: CheckWish, path: str, text: str, files: Sequence[str]) -> None:
    """Write a report into a file, completely or not at all. Raises `RunError`."""
    from irshape.cli.outputs import write_output

    write_output(path, text.encode("utf-8", "backslashreplace"), force=wish.force, inputs=files)


def _known(path: str) -> Baseline:
    """The baseline that is brought up to date, empty if there is no such file. Raises `BaselineError` for a file of another kind."""
    from irshape.report.baseline import Baseline

    return Baseline.read(path) if os.path.lexists(path) else Baseline(path, {})


def _put_statistics(wish: CheckWish, totals: Totals) -> None:
    """The codes with their counts, the most frequent first; `*` marks those of which --fix mends some."""
    found = sorted(totals.kinds.items(), key=lambda one: (-one[1][0], one[0]))
    if wish.format == "json":
        rows = [{"code": code, "title": CATALOGUE[code].title, "count": count, "mendable": safe} for code, (count, safe) in found]
        put_json({"files": totals.tally.files, "statistics": rows})
        return
    width = max((len(str(count)) for _, (count, _) in found), default=0)
    for code, (count, safe) in found:
        put(f"{count:{width}}  {code} [{'*' if safe else ' '}] {CATALOGUE[code].title}")
    if not wish.quiet:
        put(f"{totals.tally}")


def _write_baseline(wish: CheckWish, reports: Reports, totals: Totals) -> int:
    """Write every fault of the run into the baseline; 0, whatever the faults are."""
    from irshape.files.writing import write_atomic

    path = wish.write_baseline or ""
    baseline = _known(path).updated(totals.checked, reports)
    try:
        write_atomic(path, baseline.text().encode("utf-8", "backslashreplace"), in_place=True, source=path)
    except OSError as error:
        raise RunError(describe(error, path)) from None
    if not wish.quiet:
        known, files = counted(baseline.count, "known fault"), counted(len(baseline.files), "file")
        print(f"irshape: {escape(path)}: {known} of {files}", file=sys.stderr)
    return CLEAN


def _stale(wish: CheckWish, baselines: Mapping[str, Baseline], reports: Reports, totals: Totals) -> int:
    """Report the faults of baselines that are gone; with --strict they are an error, as other warnings are."""
    accepted: dict[str, dict[str, Mapping[str, int]]] = {}
    used: dict[str, Baseline] = {}
    for path, fingerprints in totals.accepted.items():
        if (baseline := baselines.get(path)) is not None:
            used[baseline.path] = baseline
            accepted.setdefault(baseline.path, {})[path] = fingerprints
    worst = CLEAN
    for path, baseline in used.items():
        if gone := baseline.stale(accepted[path], reports):
            worst = FAULTS if wish.strict else worst
            if not wish.quiet:
                are, them = ("is", "it") if len(gone) == 1 else ("are", "them")
                remedy = f"--write-baseline {path} removes {them}"
                complain(f"warning: {path}: {counted(len(gone), 'known fault')} {are} gone ({some(gone, _MOST_STALE)}); {remedy}")
    return worst
