"""`python -m benchmarks.many`: simulate a scan of very many files on a Dask cluster, and the table that it makes.

The work of a file is left out: a worker returns a row that is ready. So the scheduler, the journal and the table are measured alone.
"""

import argparse
import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import TypeVar

from benchmarks.measure import ROOT
from irshape.cli.scan import on_cluster
from irshape.scanning.place import Place
from irshape.scanning.results import UnfinishedRows, read
from irshape.scanning.row import Scan
from irshape.scanning.table import Row, TableCounts

T = TypeVar("T")


class Ready:
    """The work of a scan whose rows are ready: those of the IRs in `examples`, by turns."""

    def __init__(self) -> None:
        scan = Scan()
        self._rows = [scan(Place(str(path), str(path))) for path in sorted((ROOT / "examples").glob("*.xml"))]

    def __call__(self, number: int) -> tuple[int, Row]:
        """The number of a file and its row."""
        row = self._rows[number % len(self._rows)].copy()
        row["file"] = f"s3://bucket/models/{number // 1000:05}/model{number:08}.xml"
        row["hash"] = hashlib.sha256(b"%d" % (number // 2)).hexdigest()  # each file has one copy
        return number, row

    def lost(self, task: int, code: str, message: str, hint: str | None) -> tuple[int, Row]:
        """A worker that fails ends the simulation."""
        raise RuntimeError(f"{code}: {message}")


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser("python -m benchmarks.many", description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, default=100_000, metavar="N", help="the number of files (100,000)")
    parser.add_argument("--tables", type=int, default=10, metavar="N", help="tables of so many files that are merged (10)")
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        simulate(given.files, given.tables, Path(folder))


def simulate(files: int, tables: int, folder: Path) -> None:
    """Print time and memory of each step for so many files, and of merging so many tables of them."""
    from distributed import LocalCluster

    work = Ready()
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        seen, busy = bytearray(files), process_time()
        found = on_cluster(work, iter(range(files)), cluster.scheduler_address, None)
        timed(f"cluster: {files:,} files", files, lambda: mark(found, seen))
        cost = (process_time() - busy) / files * 1e6
        assert set(seen) == {1}, "a file has no row or two"
    print(f"  scheduler and client in one process: {cost:.0f} µs of CPU for each file")
    output = str(folder / "part0.parquet")
    journal = UnfinishedRows(output, "")
    timed("journal", files, lambda: fill(journal, work, files))
    size = os.path.getsize(journal.path)
    timed("table", files, lambda: journal.finish(output))
    print(f"  {size / 1e6:,.0f} MB of journal, {os.path.getsize(output) / 1e6:,.0f} MB of Parquet")
    timed("summary", files, lambda: TableCounts(read(output)))
    for number in range(1, tables):
        os.link(output, folder / f"part{number}.parquet")
    distinct = timed(f"merge: {tables} tables, {files * tables:,} rows", files * tables, lambda: merged(folder))
    print(f"  {distinct:,} distinct files")


def mark(found: Iterator[tuple[int, Row]], seen: bytearray) -> None:
    """Count the rows of each file."""
    for number, _ in found:
        seen[number] += 1


def fill(journal: UnfinishedRows, work: Ready, files: int) -> None:
    """Add the row of each file."""
    for number in range(files):
        journal.add(work(number)[1])


def merged(folder: Path) -> int:
    """The number of distinct files of all tables in a folder, by content."""
    import pyarrow.dataset

    table = pyarrow.dataset.dataset(folder, format="parquet").to_table(columns=["hash", "verdict"])
    return len(table.group_by("hash").aggregate([("verdict", "min")]))


def timed(step: str, files: int, call: Callable[[], T]) -> T:
    """The result of a step, whose time and memory are printed."""
    start = perf_counter()
    result = call()
    seconds = perf_counter() - start
    print(f"{step}: {seconds:.1f} s, {files / seconds:,.0f} a second, {resident() / 1e6:.0f} MB resident", flush=True)
    return result


def resident() -> int:
    """The bytes of this process that are in memory now."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    from benchmarks import many  # workers import the class of the work by this name

    many.main()
