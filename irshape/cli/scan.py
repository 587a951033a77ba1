"""`irshape scan`: check many files, local or remote, into a table of results; sum up and compare such tables."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from argparse import ArgumentParser, Namespace
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from hashlib import sha256
from itertools import count, islice
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from irshape.cli.arguments import FOLLOW_LINKS, add_colour, add_limit, add_operations, jobs, most
from irshape.cli.check_options import add_selection, choice_of
from irshape.cli.examination import collect
from irshape.cli.outputs import check_outputs
from irshape.cli.road import cores
from irshape.cli.run import CLEAN, FAILED, FAULTS, RunError, complain, put_json
from irshape.cli.screen import Progress
from irshape.cli.texts import put_text
from irshape.cli.workers import FileWork, Result, Task, ending, in_workers, serve_tasks
from irshape.report import section
from irshape.report.catalogue import CATALOGUE
from irshape.report.section import Column, Item, Section, bold, paragraph
from irshape.report.text import bytes_text, counted, escape
from irshape.running.limits import Allowance, can_limit
from irshape.scanning.archive import BOUNDS, Bounds
from irshape.scanning.place import MissingError, Place, asked
from irshape.scanning.places import Places
from irshape.scanning.results import OTHERS, PARTIAL, Cache, ResultsError, StoredTable, UnfinishedRows, format_of, read
from irshape.scanning.row import Scan
from irshape.scanning.table import FAILED as LOST
from irshape.scanning.table import INVALID, LISTED, VERDICTS, Row, TableChanges, TableCounts

if TYPE_CHECKING:
    from distributed import Client, Future, as_completed


LOCAL: Final = "local"
# The most tasks of a group, and the groups that are with the cluster for each of its threads.
_LARGEST: Final = 64
_AHEAD: Final = 3
# After so many groups the scheduler is asked again how many threads the cluster has.
_ASKED: Final = 100
# How often a group is given to the cluster, if its workers are lost.
_TURNS: Final = 4

# How often a group that has ended is looked for, and how long a cluster may be without workers, in seconds.
_POLL: Final = 0.01
_PATIENCE: Final = 60.0

_own = threading.local()


def on_cluster(
    work: FileWork[Task, Result], tasks: Iterable[Task], address: str, allowance: Allowance | None
) -> Generator[Result, None, None]:
    """The result of each task, in the order in which groups of them are finished. Closing the generator cancels the rest.

    `address` is that of the scheduler (`tcp://host:8786`), or `local` for a cluster of this machine. Raises `RunError`.
    """
    try:
        from distributed import Client, LocalCluster, as_completed
    except ImportError:
        raise RunError("--dask needs Dask: pip install 'irshape[dask]'") from None
    cluster = LocalCluster(threads_per_worker=1, dashboard_address=":0") if address == LOCAL else None
    try:
        client = Client(cluster or address, timeout=10)
    except (OSError, ValueError) as error:
        raise RunError(f"--dask {address}: no scheduler answers there: {type(error).__name__}") from None
    pending = iter(tasks)
    running = as_completed()
    groups: dict[str, tuple[list[Task], int]] = {}

    def submit(group: list[Task], turn: int) -> None:
        future = client.submit(_examine, work, group, allowance, pure=False)
        groups[future.key] = group, turn
        running.add(future)

    done = 0
    try:
        for step in count():
            if step % _ASKED == 0:
                most = max(_AHEAD * _threads(client), 1)
            while len(groups) < most and (group := list(islice(pending, min(1 + done // most, _LARGEST)))):
                submit(group, 1)
            if not groups:
                return
            _wait(running, client, address)
            future = next(running)
            group, turn = groups.pop(future.key)
            if future.status == "finished":
                done += len(group)
                yield from _gathered(future, address)
            elif turn < _TURNS:
                submit(group, turn + 1)
            elif len(group) > 1:
                for task in group:
                    submit([task], 1)
            else:
                reason = type(future.exception()).__name__
                yield work.lost(group[0], "I104", f"the workers of the cluster that examined the file were lost ({reason})", None)
            del future
    finally:
        with suppress(Exception):
            client.close()
        if cluster is not None:
            with suppress(Exception):
                cluster.close()


def _wait(running: as_completed, client: Client, address: str) -> None:
    """Wait until a group has ended. Raises `RunError` if the scheduler is gone, or no worker is there for some time."""
    seen = asked = monotonic()
    while not running.has_ready():
        sleep(_POLL)
        now = monotonic()
        if client.status == "closed":
            raise _scheduler_lost(address)
        if now - asked > _PATIENCE / 10:
            asked = now
            seen = now if _threads(client) else seen
        if now - seen > _PATIENCE:
            raise RunError(f"--dask {address}: the cluster has no worker; start one and repeat the command, which goes on from here")


def _gathered(future: Future, address: str) -> Any:
    """The results of a group. Raises `RunError` if the scheduler is gone."""
    try:
        return future.result()
    except (OSError, TimeoutError):
        raise _scheduler_lost(address) from None


def _scheduler_lost(address: str) -> RunError:
    return RunError(f"--dask {address}: the scheduler was lost; repeat the command, which goes on from here")


def _threads(client: Client) -> int:
    """The threads of the workers; 0 if the scheduler does not answer."""
    with suppress(OSError, TimeoutError, ValueError):
        if client.status == "running":
            return sum(client.nthreads().values())
    return 0


def _examine(work: FileWork[Task, Result], tasks: list[Task], allowance: Allowance | None) -> list[Result]:
    """The results of a group of tasks, on a worker of the cluster."""
    setup = pickle.dumps((work, allowance))
    results: list[Result] = []
    for task in tasks:
        child = getattr(_own, "child", None)
        if child is not None and child.setup != setup:
            child.end()
            child = None
        if child is None:
            child = _own.child = _Child(setup)
        result = child.result(task)
        if result is None:
            _own.child = None
            result = work.lost(task, *ending(child.end(), allowance))
        results.append(result)
    return results


class _Child:
    """A process that works on tasks, which arrive on its standard input."""

    def __init__(self, setup: bytes) -> None:
        """`setup` is the pickled work, with its limits."""
        self.setup = setup
        command = [sys.executable, "-c", "from irshape.cli.scan import serve; serve()"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self._send(setup)

    def _send(self, message: bytes) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):  # a dead process is noticed when its answer is read
            self._process.stdin.write(message)
            self._process.stdin.flush()

    def result(self, task: Any) -> Any:
        """The result of a task; None if the process died."""
        assert self._process.stdout is not None
        self._send(pickle.dumps(task))
        try:
            return pickle.load(self._process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            return None

    def end(self) -> int:
        """The exit status of the process, which ends when nothing more can arrive; negative if a signal killed it."""
        with suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        return self._process.wait()


def serve() -> None:
    """Work on the tasks that arrive on standard input, until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # a library that prints must not mix with the answers
    receive = partial(pickle.load, sys.stdin.buffer)
    try:
        work, allowance = receive()
    except EOFError:
        return  # the worker of the cluster has ended

    def send(answer: bytes) -> None:
        answers.write(answer)
        answers.flush()

    serve_tasks(work, allowance, receive, send)


ABOUT = "Check many files, local or remote, into a table with a row for each file; sum up and compare such tables."
EXAMPLES = """examples:
  irshape scan models -o results.parquet
  irshape scan models archive.zip s3://bucket/models -o results.jsonl
  irshape scan models -o today.parquet --cache yesterday.parquet
  irshape scan s3://bucket/models -o results.parquet --dask tcp://scheduler:8786
  irshape scan --summary today.parquet --against yesterday.parquet

A run that was interrupted goes on where it ended if the same command is given again.

exit code: 0 without errors, 1 with errors, 2 if a file could not be read or checked whole"""

# The widest that the name of a file or an operation is on a terminal.
MOST_NAME = 100


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = command.add_argument
    add("files", nargs="*", metavar="PATH", help="an .xml, a folder, an archive (.zip, .tar), or the URL of one (s3://, https://, ...)")
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
    add("--max-expansion", default=BOUNDS.expansion, help="the most unpacked bytes for each byte of an archive (default: 200)", **bound)
    add("--follow-links", action="store_true", help=FOLLOW_LINKS)
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
            with _earlier(given.against) as before:
                return _summarize(given.summary, before, given.format, given.color)
        if not given.files or given.output is None:
            return complain("give a PATH to scan and --output TABLE, or --summary TABLE")
        return _scan(given)
    except (ResultsError, MissingError, ValueError) as error:  # a ValueError is about a policy
        return complain(str(error))


class ScanFile(NamedTuple):
    """A file to check, unless it still has a version that is known."""

    place: Place
    version: str | None = None


class FileScan(NamedTuple):
    """The check of one file of a run. The row of a file that has not changed is None."""

    scan: Scan

    def __call__(self, task: ScanFile) -> tuple[Place, Row | None]:
        if task.version is not None and self.scan.version(task.place) == task.version:
            return task.place, None
        collect()
        return task.place, self.scan(task.place)

    def lost(self, task: ScanFile, code: str, message: str, hint: str | None) -> tuple[Place, Row | None]:
        """The row of a file whose check was cut short."""
        return task.place, self.scan.lost(task.place, code, message, hint)


def _scan(given: Namespace) -> int:
    """Make the table, and return the exit code."""
    format_of(given.output)
    check_outputs([given.output], force=given.force, inputs=given.files)
    scan = _unit(given)
    with ExitStack() as open_files:
        before = open_files.enter_context(_earlier(given.against))
        cache = open_files.enter_context(closing(Cache(given.cache))) if given.cache is not None else None
        places = open_files.enter_context(closing(Places(given.files, given.limits.size, scan.bounds)))
        worst = max(map(complain, places.complaints), default=CLEAN)
        if not places.count:
            return worst
        journal = open_files.enter_context(closing(UnfinishedRows(given.output, _identity(given.files, scan), restarts=given.restart)))
        if journal.done:
            done = counted(journal.done, "file")
            print(f"irshape: {escape(given.output)}{PARTIAL}: {done} of an unfinished run are done", file=sys.stderr)
        left = (place for place in places if place.name not in journal)
        tasks = (ScanFile(place, cache.version(place.name, scan.settings) if cache is not None else None) for place in left)
        progress = Progress(sys.stderr, places.count - journal.done)
        # The libraries that read URLs start threads.
        has_threads = "fsspec" in sys.modules or any(asked(argument).is_url for argument in given.files)
        allowance = given.allowance or (Allowance() if can_limit() else None)
        jobs = min(given.jobs or cores(), max(places.count, 1))
        if given.dask is not None:
            rows = on_cluster(FileScan(scan), tasks, given.dask, allowance)
        else:
            rows = in_workers(FileScan(scan), tasks, jobs, allowance, lambda: None, has_threads=has_threads)
        with closing(rows) as results:
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
        return max(worst, _summarize(given.output, before, given.format, given.color)) if is_shown else worst


def _identity(files: Sequence[str], scan: Scan) -> str:
    """What an unfinished run is known by: its options, and its files without their secrets, which change from run to run."""
    names = "\0".join(asked(argument).name for argument in files)
    return f"{scan.settings} {sha256(names.encode('utf-8', 'surrogateescape')).hexdigest()[:12]}"


def _unit(given: Namespace) -> Scan:
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
        bounds=Bounds(given.max_members, given.max_expansion, given.follow_links),
    )


@contextmanager
def _earlier(path: str | None) -> Iterator[StoredTable | None]:
    """The table of --against, which is read once before anything is done, and stays what it is if --output replaces it."""
    if path is None:
        yield None
        return
    with closing(StoredTable(path)) as table:
        table.check()
        yield table


def _summarize(path: str, before: StoredTable | None, format: str, color: str) -> int:
    """Print what a table holds and what has changed since an earlier one; 1 if it holds errors, 2 if it holds failed files."""
    summary = TableCounts(read(path))
    comparison = TableChanges(before, read(path)) if before is not None else None
    if format == "json":
        put_json({**summary.to_dict(), **({"since": comparison.to_dict()} if comparison is not None else {})})
    else:
        put_text(color, (*_summed(summary), *(_changes(comparison) if comparison is not None else ())))
    return FAILED if summary.verdicts[LOST] else FAULTS if summary.verdicts[INVALID] else CLEAN


def _summed(summary: TableCounts) -> Iterator[Section]:
    verdicts = ", ".join(f"{summary.verdicts[one]:,} {one}" for one in VERDICTS if summary.verdicts[one])
    seconds = f"{summary.seconds:.1f} s of work" if summary.seconds else "no work"
    read = f"{bytes_text(summary.bytes_read)} read of {bytes_text(summary.bytes_there)}"
    yield paragraph((bold(counted(summary.files, "file")), f": {verdicts}"), f"{counted(summary.layers, 'layer')}, {seconds}, {read}")
    titles = {code: f"{code} {one.title}" for code, one in CATALOGUE.items()}
    yield _table("faults", ("files", "faults"), [(titles.get(code, code), (files, count)) for code, (count, files) in summary.by_code()])
    operations = sorted(summary.operations.items(), key=lambda item: (-item[1][0], item[0]))
    yield _table("operations", ("layers", "files"), operations)
    yield _table("slowest", ("seconds",), [(file, (f"{seconds:.3f}",)) for seconds, file in summary.slowest])


def _table(title: str, columns: tuple[str, ...], rows: Iterable[tuple[str, tuple[object, ...]]]) -> Section:
    """A title with columns of numbers, and the first rows."""
    cells = [(f"  {name}", *[f"{one:,}" if isinstance(one, int) else str(one) for one in numbers]) for name, numbers in rows]
    layout = (Column(least=22, most=MOST_NAME, is_cut=True), *[Column(is_number=True)] * len(columns))
    return paragraph(section.Table(layout, cells, (title, *columns), remark="").some(LISTED))


def _changes(comparison: TableChanges) -> Iterator[Section]:
    names = ("added", "gone", "changed", "broken", "mended")
    parts = [f"{len(files):,} {name}" for name in names if (files := getattr(comparison, name))]
    blocks = [_listed("broken", comparison.broken), _listed("mended", comparison.mended)]
    for name, faults in (("new faults", comparison.new), ("fixed faults", comparison.fixed)):
        blocks.append(_listed(name, [f"{file}: {one['code']} {one['message']}" for file, one in faults]))
    yield paragraph((bold("since then"), f": {', '.join(parts) or 'no file changed'}"), *filter(None, blocks))


def _listed(title: str, texts: Sequence[str]) -> Item | None:
    more = [f"and {len(texts) - LISTED:,} more"] if len(texts) > LISTED else []
    return Item(f"{title} ({len(texts):,})", [*texts[:LISTED], *more], 2) if texts else None
