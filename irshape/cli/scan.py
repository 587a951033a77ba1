"""`irshape scan`: check many files, local or remote, into a table of results; sum up and compare such tables."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from hashlib import sha256
from typing import Any, NamedTuple

from irshape.cli.arguments import add_colour, add_limit, add_operations, jobs, most
from irshape.cli.batch import cores
from irshape.cli.check_options import add_selection, choice_of
from irshape.cli.cluster import LOCAL, on_cluster
from irshape.cli.examination import collect
from irshape.cli.output import check_outputs
from irshape.cli.progress import Progress
from irshape.cli.run import CLEAN, FAILED, FAULTS, complain, put
from irshape.cli.workers import in_workers
from irshape.report.catalogue import CATALOGUE
from irshape.report.text import Palette, counted, escape
from irshape.running.limits import Allowance, can_limit
from irshape.scan.archive import BOUNDS, Bounds
from irshape.scan.place import MissingError, Place, asked
from irshape.scan.places import Places
from irshape.scan.results import OTHERS, PARTIAL, Cache, Journal, ResultsError, Table, format_of, read
from irshape.scan.row import Scan
from irshape.scan.table import FAILED as LOST
from irshape.scan.table import INVALID, LISTED, VERDICTS, Row, Summary, TableChanges

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
    add("-o", "--output", metavar="TABLE", help="the table to write: a name that ends with .parquet, .jsonl, .csv or .sarif")
    add("--cache", metavar="TABLE", help="take the rows of files that have not changed from this earlier table")
    add("--force", action="store_true", help="overwrite TABLE of --output if it exists")
    add("--restart", action="store_true", help="begin anew instead of continuing an unfinished run")
    add("--jobs", type=jobs, metavar="N", help="files to check at the same time (default: the number of processors)")
    add("--dask", metavar="ADDRESS", help=f"check on the Dask cluster of this scheduler, or on one of this machine: {LOCAL}")
    add("--target", action="append", default=[], metavar="POLICY", help="also check against a policy, as irshape check does")
    add_selection(add)
    bound: dict[str, Any] = {"type": most, "metavar": "N"}
    add("--max-members", default=BOUNDS.members, help="the most models of an archive or behind a URL (default: 100000)", **bound)
    add(
        "--max-expansion",
        default=BOUNDS.expansion,
        help="the most unpacked bytes for each byte of an archive (default: 200)",
        **bound,
    )
    add("--cost", action="store_true", help="also count what each model computes, and its peak memory")
    add_operations(command)
    command.set_defaults(allowance=None, limited=frozenset())
    add_limit(command)
    add("--summary", metavar="TABLE", help="scan nothing, and sum this table up")
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
            with _earlier(given) as before:
                return _summarize(given, given.summary, before)
        if not given.files or given.output is None:
            return complain("give a PATH to scan and --output TABLE, or --summary TABLE")
        return _scan(given)
    except (ResultsError, MissingError, ValueError) as error:  # a ValueError is about a policy
        return complain(str(error))


class Task(NamedTuple):
    """A file to check, unless it still has a version that is known."""

    place: Place
    version: str | None = None


class Work:
    """The check of one file of a run. The row of a file that has not changed is None."""

    def __init__(self, scan: Scan) -> None:
        self._scan = scan

    def __call__(self, task: Task) -> tuple[Place, Row | None]:
        """The place and the row of a file."""
        if task.version is not None and self._scan.version(task.place) == task.version:
            return task.place, None
        collect()
        return task.place, self._scan(task.place)

    def lost(self, task: Task, code: str, message: str, hint: str | None) -> tuple[Place, Row | None]:
        """The row of a file whose check was cut short."""
        return task.place, self._scan.lost(task.place, code, message, hint)


def _scan(given: Namespace) -> int:
    """Make the table, and return the exit code."""
    format_of(given.output)
    check_outputs([given.output], force=given.force, inputs=given.files)
    scan = _unit(given)
    with ExitStack() as open_files:
        before = open_files.enter_context(_earlier(given))
        cache = open_files.enter_context(closing(Cache(given.cache))) if given.cache is not None else None
        places = open_files.enter_context(closing(Places(given.files, given.limits.size, scan.bounds)))
        worst = max(map(complain, places.complaints), default=CLEAN)
        if not places.count:
            return worst
        journal = open_files.enter_context(closing(Journal(given.output, _identity(given, scan), restarts=given.restart)))
        if journal.done:
            print(f"irshape: {given.output}{PARTIAL}: {counted(journal.done, 'file')} of an unfinished run are done", file=sys.stderr)
        tasks = _tasks(places, journal, cache, scan.settings)
        progress = Progress(sys.stderr, places.count - journal.done)
        with closing(_results(given, Work(scan), tasks, places.count)) as results:
            try:
                for place, row in results:
                    if row is None:
                        assert cache is not None
                        row = cache.row(place.name)
                    journal.add(row)
                    progress.step(is_faulty=row["verdict"] in (INVALID, LOST))
            finally:
                progress.clear()
                journal.flush()
        for row in journal.rows():
            worst = max(worst, {INVALID: FAULTS, LOST: FAILED}.get(row["verdict"], CLEAN))
        journal.finish(given.output, force=given.force)
        is_shown = not given.quiet and not given.output.lower().endswith(OTHERS)
        return max(worst, _summarize(given, given.output, before)) if is_shown else worst


def _identity(given: Namespace, scan: Scan) -> str:
    """What an unfinished run is known by: its options, and its files without their secrets, which change from run to run."""
    files = "\0".join(asked(argument).name for argument in given.files)
    return f"{scan.settings} {sha256(files.encode('utf-8', 'surrogateescape')).hexdigest()[:12]}"


def _unit(given: Namespace) -> Scan:
    """The unit of work that the options ask for."""
    if given.target:
        from irshape.answers.policies import find_policies

        find_policies(given.target)  # a wrong name is an error of the run
    return Scan(
        choice=choice_of(given),
        targets=given.target,
        opaque=given.opaque,
        extensions=[os.path.abspath(one) if os.path.exists(one) else one for one in given.extensions],
        limits=given.limits,
        has_cost=given.cost,
        bounds=Bounds(given.max_members, given.max_expansion),
    )


def _tasks(places: Iterable[Place], journal: Journal, cache: Cache | None, settings: str) -> Iterator[Task]:
    """The files that are still to be checked."""
    for place in places:
        if place.name not in journal:
            yield Task(place, cache.version(place.name, settings) if cache is not None else None)


def _results(given: Namespace, work: Work, tasks: Iterator[Task], count: int) -> Generator[tuple[Place, Row | None], None, None]:
    allowance = given.allowance or (Allowance() if can_limit() else None)
    if given.dask is not None:
        return on_cluster(work, tasks, given.dask, allowance)
    # The libraries that read URLs start threads.
    has_threads = "fsspec" in sys.modules or any(asked(argument).is_url for argument in given.files)
    return in_workers(work, tasks, min(given.jobs or cores(), max(count, 1)), allowance, lambda: None, has_threads=has_threads)


@contextmanager
def _earlier(given: Namespace) -> Iterator[Table | None]:
    """The table of --against, which is read once before anything is done, and stays what it is if --output replaces it."""
    if given.against is None:
        yield None
        return
    with closing(Table(given.against)) as table:
        table.check()
        yield table


def _summarize(given: Namespace, path: str, before: Table | None) -> int:
    """Print what a table holds and what has changed since an earlier one; 1 if it holds errors, 2 if it holds failed files."""
    summary = Summary(read(path))
    comparison = TableChanges(before, read(path)) if before is not None else None
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
    texts = [(escape(name), [f"{one:,}" if isinstance(one, int) else str(one) for one in numbers]) for name, numbers in listed[:LISTED]]
    wide = max(len(title), *(len(name) for name, _ in texts), 20)
    widths = [max(len(column), *(len(numbers[place]) for _, numbers in texts)) for place, column in enumerate(columns)]
    head = "  ".join(column.rjust(width) for column, width in zip(columns, widths, strict=True))
    yield f"{palette.bold}{title.ljust(wide + 2)}{palette.plain}  {head}"
    for name, numbers in texts:
        yield f"  {name.ljust(wide)}  {'  '.join(number.rjust(width) for number, width in zip(numbers, widths, strict=True))}"
    if len(listed) > LISTED:
        yield f"  and {len(listed) - LISTED:,} more"


def _changes(comparison: TableChanges, palette: Palette) -> Iterator[str]:
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
        yield from (f"  {text}" for text in texts[:LISTED])
        if len(texts) > LISTED:
            yield f"  and {len(texts) - LISTED:,} more"


def _bytes(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"
