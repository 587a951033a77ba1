"""The command line: what is measured, how often, and where the numbers go."""

import argparse
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import measure, models
from benchmarks.measure import Bytes, Row
from benchmarks.table import bytes_table, table

CARRIED = measure.ROOT / "tests" / "data" / "ir"
# The largest models take a minute to build and minutes to measure.
_SLOW = ("chain-30k", "chain-100k", "dag-30k", "dag-100k")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser("python -m benchmarks", description="Measure irshape beside OpenVINO.")
    parser.add_argument("--quick", action="store_true", help="without the models beyond 10,000 layers, and fewer rounds")
    parser.add_argument(
        "--only", metavar="NAME", action="append", choices=[*models.RECIPES, "real"], help="this model only; may be repeated"
    )
    parser.add_argument("--repeat", type=int, metavar="N", help="rounds of each measurement (15, with --quick 5)")
    parser.add_argument("--models", metavar="FOLDER", help="keep the built models here, for the next run")
    given = parser.parse_args()
    repeat = given.repeat or (5 if given.quick else 15)
    names = [name for name in given.only or [*models.RECIPES, "real"] if given.only or not (given.quick and name in _SLOW)]
    with TemporaryDirectory() as temporary:
        rows, bytes_read = measured(names, Path(given.models or temporary), repeat)
    print(table(rows), bytes_table(bytes_read), sep="\n")


def measured(names: list[str], folder: Path, repeat: int) -> tuple[list[Row], list[Bytes]]:
    """The rows of the models, and what was read of their weights."""
    rows: list[Row] = []
    bytes_read: list[Bytes] = []
    for model in measure.build([name for name in names if name != "real"], folder):
        print(f"{model.name} ...", file=sys.stderr, flush=True)
        rounds = measure.rounds_of(model, repeat)
        if model.name in measure.FRESH:
            rows += measure.fresh(model, rounds)
        found, read = measure.inside(model, rounds)
        rows += found
        bytes_read.append(read)
    if "real" in names:
        rows += measure.real("IRs of the tests", readable(CARRIED), repeat)
        if corpus := os.environ.get("IRSHAPE_CORPUS"):
            rows += measure.real("IRSHAPE_CORPUS", readable(Path(corpus)), repeat)
    return rows, bytes_read


def readable(folder: Path) -> list[str]:
    """The IRs of a folder that have their weights."""
    return [str(path) for path in sorted(folder.glob("**/*.xml")) if path.with_suffix(".bin").exists()]


if __name__ == "__main__":
    main()
