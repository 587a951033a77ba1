"""`irshape scan`: check many files, local or remote, into a table of results; sum up and compare such tables."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, closing
from typing import NamedTuple

from irshape.cli.arguments import add_colour, add_limit, add_operations, jobs
from irshape.cli.batch import cores
from irshape.cli.check_options import codes
from irshape.cli.cluster import LOCAL, on_cluster
from irshape.cli.examination import collect
from irshape.cli.limits import Allowance, can_limit
from irshape.cli.progress import Progress
from irshape.cli.run import CLEAN, FAILED, FAULTS, RunError, complain, put
from irshape.cli.workers import in_workers
from irshape.report.catalogue import CATALOGUE
from irshape.report.selection import Choice
from irshape.report.text import Palette, counted, escape
from irshape.scan.fields import FAILED as LOST
from irshape.scan.fields import INVALID, VERDICTS
from irshape.scan.places import Places
from irshape.scan.remote import MissingError, is_remote, shown
from irshape.scan.results import PARTIAL, Cache, Journal, ResultsError, format_of, read
from irshape.scan.row import Row, Scan
from irshape.scan.summary import MOST, Comparison, Summary

ABOUT = "Check many files, local or remote, into a table with a row for each file; sum up and compare such tables."
EXAMPLES = """examples:
  irshape scan models -o results.parquet
  irshape scan models archive.zip s3://bucket/models -o results.jsonl
  irshape scan models -o today.parquet --cache yesterday.parquet
  irshape scan s3://bucket/models -o results.parquet --dask tcp://scheduler:8786
  irshape scan --summary today.parquet --against yesterday.parquet

A run that was interrupted goes on where it ended if the same command is given again.

exit code: 0 without errors, 1 with errors, 2 if a file could not be read or checked whole"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = command.add_argument
    add(
        "files",
        nargs="*",
        metavar="PATH",
        help="an .xml, a folder, an archive (.zip, .tar), or the URL of one (s3://, https://, ...)",
    )
    add("-o", "--output", metavar="TABLE", help="the table to write: a name that ends with .parquet, .jsonl or .sarif")
    add("--cache", metavar="TABLE", help="take the rows of files that have not changed from this earlier table")
    add("--restart", action="store_true", help="begin anew instead of continuing an unfinished run")
    add("--jobs", type=jobs, metavar="N", help="files to check at the same time (default: the number of processors)")
    add("--dask", metavar="ADDRESS", help=f"check on the Dask cluster of this scheduler, or on one of this machine: {LOCAL}")
    add("--target", action="append", default=[], metavar="POLICY", help="also check against a policy, as irshape check does")
    given = {"type": codes, "action": "extend", "metavar": "CODES"}
    add("--select", default=None, help="report these codes only; a code may be cut short: S, W1, S201, ALL", **given)  # type: ignore[arg-type]
    add("--ignore", default=[], help="do not report these codes", **given)  # type: ignore[arg-type]
    add("--extend-select", default=[], help="report these codes, too", **given)  # type: ignore[arg-type]
    add("--cost", action="store_true", help="also count what each model computes, and its peak memory")
    add_operations(command)
    command.set_defaults(allowance=None, limited=frozenset())
    add_limit(command)
    add("--summary", metavar="TABLE", help="scan nothing: say what this table holds")
    add("--against", metavar="TABLE", help="also say what has changed since this earlier table")
    add("--format", choices=("text", "json"), default="text", help="the form of the summary: text (default) or json")
    add("-q", "--quiet", action="store_true", help="print no summary")
    add_colour(command)


def run(given: Namespace) -> int:
    """Scan the files, print a summary of the table, and return the exit code."""
    try:
        if given.summary is not None:
            if given.files or given.output is not None:
                return complain("--summary scans nothing: leave out PATH and --output")
            return _summarize(given, given.summary)
        if not given.files or given.output is None:
            return complain("give a PATH to scan and --output TABLE, or --summary TABLE")
        worst = _scan(given)
        is_shown = not given.quiet and not given.output.lower().endswith(".sarif") and os.path.exists(given.output)
        return max(worst, _summarize(given, given.output)) if is_shown else worst
    except (ResultsError, MissingError, RunError) as error:
        return complain(str(error))
    except ValueError as error:  # a policy
        return complain(str(error))


class Task(NamedTuple):
    """A file to check, unless it still has a version that is known."""

    place: str
    version: str | None = None


class Work:
    """The check of one file of a run. The row of a file that has not changed is None."""

    def __init__(self, scan: Scan) -> None:
        self._scan = scan

    def __call__(self, task: Task) -> tuple[str, Row | None]:
        """The place and the row of a file."""
        if task.version is not None and self._scan.version(task.place) == task.version:
            return task.place, None
        collect()
        return task.place, self._scan(task.place)

    def lost(self, task: Task, code: str, message: str, hint: str | None) -> tuple[str, Row | None]:
        """The row of a file whose check was cut short."""
        return task.place, self._scan.lost(task.place, code, message, hint)


def _scan(given: Namespace) -> int:
    """Make the table, and return the exit code."""
    format_of(given.output)
    scan = _unit(given)
    with ExitStack() as open_files:
        cache = open_files.enter_context(closing(Cache(given.cache))) if given.cache is not None else None
        journal = open_files.enter_context(closing(Journal(given.output, scan.settings, restarts=given.restart)))
        if journal.done:
            print(f"irshape: {given.output}{PARTIAL}: {counted(journal.done, 'file')} of an unfinished run are done", file=sys.stderr)
        places = open_files.enter_context(closing(Places(given.files)))
        worst = max(map(complain, places.complaints), default=CLEAN)
        tasks = _tasks(places, journal, cache, scan.settings)
        progress = Progress(sys.stderr, places.count - journal.done)
        with closing(_results(given, Work(scan), tasks, places.count)) as results:
            try:
                for place, row in results:
                    if row is None:
                        assert cache is not None
                        row = cache.row(shown(place))
                    journal.add(row)
                    progress.step(is_faulty=row["verdict"] in (INVALID, LOST))
            finally:
                progress.clear()
                journal.flush()
        if not places.count:
            return worst
        for row in journal.rows():
            worst = max(worst, {INVALID: FAULTS, LOST: FAILED}.get(row["verdict"], CLEAN))
        journal.finish(given.output)
    return worst


def _unit(given: Namespace) -> Scan:
    """The unit of work that the options ask for."""
    choice = None
    if given.select is not None or given.ignore or given.extend_select:
        choice = Choice(given.select, given.ignore, given.extend_select)
    if given.target:
        from irshape.answers.policies import find_policies

        find_policies(given.target)  # a wrong name is an error of the run
    return Scan(
        choice=choice,
        targets=given.target,
        opaque=given.opaque,
        extensions=[os.path.abspath(one) if os.path.exists(one) else one for one in given.extensions],
        limits=given.limits,
        has_cost=given.cost,
    )


def _tasks(places: Iterable[str], journal: Journal, cache: Cache | None, settings: str) -> Iterator[Task]:
    """The files that are still to be checked."""
    for place in places:
        file = shown(place)
        if file not in journal:
            yield Task(place, cache.version(file, settings) if cache is not None else None)


def _results(given: Namespace, work: Work, tasks: Iterator[Task], count: int) -> Generator[tuple[str, Row | None], None, None]:
    allowance = given.allowance or (Allowance() if can_limit() else None)
    if given.dask is not None:
        return on_cluster(work, tasks, given.dask, allowance)
    # The libraries that read URLs start threads.
    has_threads = any(map(is_remote, given.files)) or "fsspec" in sys.modules
    return in_workers(work, tasks, min(given.jobs or cores(), max(count, 1)), allowance, lambda: None, has_threads=has_threads)


def _summarize(given: Namespace, path: str) -> int:
    """Print what a table holds and what has changed since an earlier one; 1 if it holds errors, 2 if it holds failed files."""
    summary = Summary(read(path))
    comparison = Comparison(read(given.against), read(path)) if given.against is not None else None
    if given.format == "json":
        from irshape.report.json import readable

        put(readable({**summary.to_dict(), **({"since": comparison.to_dict()} if comparison is not None else {})}), "json")
    else:
        palette = Palette.choose(given.color, sys.stdout)
        for line in (*_lines(summary, palette), *(_changes(comparison, palette) if comparison is not None else ())):
            put(line)
    return FAILED if summary.verdicts[LOST] else FAULTS if summary.verdicts[INVALID] else CLEAN


def _lines(summary: Summary, palette: Palette) -> Iterator[str]:
    verdicts = ", ".join(f"{summary.verdicts[one]:,} {one}" for one in VERDICTS if summary.verdicts[one])
    yield f"{palette.bold}{counted(summary.files, 'file')}{palette.plain}: {verdicts}"
    seconds = f"{summary.seconds:.1f} s of work" if summary.seconds else "no work"
    yield f"{counted(summary.layers, 'layer')}, {seconds}, {_bytes(summary.bytes_read)} read of {_bytes(summary.bytes_there)}"
    faults = [
        (f"{code} {CATALOGUE[code].title}" if code in CATALOGUE else code, (files, count)) for code, (count, files) in summary.by_code()
    ]
    yield from _table("faults", ("files", "faults"), faults, palette)
    yield from _table("operations", ("layers", "files"), summary.by_operation(), palette)
    yield from _table("slowest", ("seconds",), [(file, (f"{seconds:.3f}",)) for seconds, file in summary.slowest], palette)


def _table(title: str, columns: tuple[str, ...], rows: Iterable[tuple[str, tuple[object, ...]]], palette: Palette) -> Iterator[str]:
    """A title with columns of numbers, and the first rows."""
    listed = list(rows)
    if not listed:
        return
    yield ""
    texts = [(escape(name), [f"{one:,}" if isinstance(one, int) else str(one) for one in numbers]) for name, numbers in listed[:MOST]]
    wide = max(len(title), *(len(name) for name, _ in texts), 20)
    widths = [max(len(column), *(len(numbers[place]) for _, numbers in texts)) for place, column in enumerate(columns)]
    head = "  ".join(column.rjust(width) for column, width in zip(columns, widths, strict=True))
    yield f"{palette.bold}{title.ljust(wide + 2)}{palette.plain}  {head}"
    for name, numbers in texts:
        yield f"  {name.ljust(wide)}  {'  '.join(number.rjust(width) for number, width in zip(numbers, widths, strict=True))}"
    if len(listed) > MOST:
        yield f"  and {len(listed) - MOST:,} more"


def _changes(comparison: Comparison, palette: Palette) -> Iterator[str]:
    yield ""
    names = ("added", "gone", "changed", "broken", "mended")
    parts = [f"{len(files):,} {name}" for name in names if (files := getattr(comparison, name))]
    yield f"{palette.bold}since then{palette.plain}: {', '.join(parts) or 'no file changed'}"
    for name in ("broken", "mended"):
        yield from _listed(name, [escape(file) for file in getattr(comparison, name)])
    for name in ("new", "fixed"):
        faults = [f"{escape(file)}: {fault['code']} {escape(fault['message'])}" for file, fault in getattr(comparison, name)]
        yield from _listed(f"{name} faults", faults)


def _listed(title: str, texts: list[str]) -> Iterator[str]:
    if texts:
        yield f"{title} ({len(texts):,})"
        yield from (f"  {text}" for text in texts[:MOST])
        if len(texts) > MOST:
            yield f"  and {len(texts) - MOST:,} more"


def _bytes(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"
