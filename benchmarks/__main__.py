"""`python -m benchmarks`: what is measured, how often, and where the numbers go."""

import argparse
import json
import os
import platform
import sys
from datetime import date
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import irshape
from benchmarks import measure, models, table
from benchmarks.measure import ROOT, Bytes, Group, Other, Row, Start
from tools.compiled import run

# How often a process is started that does little, at least.
_STARTS = 50
# The largest models take a minute to build and minutes to measure.
_LARGE = ("chain-30k", "chain-100k", "dag-30k", "dag-100k")
_PAGE, _PICTURE, _README = (ROOT / name for name in ("docs/performance.md", "docs/performance.png", "README.md"))
BEGIN, END = "<!-- measured by `python -m benchmarks --write` -->", "<!-- end of what was measured -->"


class Results(NamedTuple):
    """What a run measured."""

    about: str
    groups: list[Group]
    starts: list[Start]
    rows: list[Row]
    bytes: list[Bytes]
    others: list[Other]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser("python -m benchmarks", description="Measure irshape beside OpenVINO.")
    add = parser.add_argument
    add("--quick", action="store_true", help="without models of more than 10,000 layers and other tools, in fewer rounds")
    add(
        "--only",
        metavar="NAME",
        action="append",
        choices=[*models.RECIPES, "real"],
        help=f"this model only: {', '.join(models.RECIPES)}, real",
    )
    add("--interpreted", action="store_true", help="do not build and measure the compiled modules")
    add("--repeat", type=int, metavar="N", help="rounds of each measurement (15, with --quick 5); large models have fewer")
    add("--models", metavar="FOLDER", help="keep the models here for the next run")
    add("--json", metavar="OUT.json", help="write every single time")
    add("--plot", metavar="OUT.png", help="draw the cost of a layer against their number")
    add("--write", action="store_true", help="put tables and plot into docs/performance.md, and one line into the README")
    given = parser.parse_args()
    if given.repeat is not None and given.repeat < 1:
        parser.error("--repeat must be at least 1")
    if given.write and (given.quick or given.only):
        parser.error("--write needs all models: without --quick and --only")
    if (given.write or given.plot) and find_spec("matplotlib") is None:
        parser.error("the plot needs matplotlib: pip install 'irshape[bench]'")
    names = given.only or [name for name in [*models.RECIPES, "real"] if not (given.quick and name in _LARGE)]
    with TemporaryDirectory() as temporary:
        folder, repeat = Path(given.models or temporary).resolve(), given.repeat or (5 if given.quick else 15)
        trees = {False: ROOT}
        if "real" in names and not (given.quick or given.interpreted) and (tree := compiled(Path(temporary))):
            trees[True] = tree
        results = measured(names, folder, repeat, trees, has_others=not given.quick)
    tables = f"{results.about}\n\n{table.full(results.rows, results.bytes, results.others, results.groups, results.starts)}"
    print(tables)
    if given.json:
        Path(given.json).write_text(json.dumps(as_json(results), indent=1), encoding="utf-8")
    if given.plot:
        draw(results, Path(given.plot))
    if given.write:
        draw(results, _PICTURE)
        write(_PAGE, tables)
        write(_README, f"{table.brief(results.groups)}\n")


def compiled(folder: Path) -> Path | None:
    """A copy of the repository with compiled modules; None where there is no compiler."""
    if missing := run.needed():
        print(f"compiled modules are not measured: they need {missing}", file=sys.stderr)
        return None
    print("compiling ...", file=sys.stderr, flush=True)
    run.build(folder / "compiled" / "tree")
    return folder / "compiled" / "tree"


def measured(names: list[str], folder: Path, repeat: int, trees: dict[bool, Path], *, has_others: bool) -> Results:
    """The results for the models. `trees` are the libraries that real models are measured with, and whether they are compiled."""
    results = Results(about(), [], [], [], [], [])
    for model in measure.build([name for name in names if name != "real"], folder):
        print(f"{model.name} ...", file=sys.stderr, flush=True)
        rounds = measure.rounds_of(model.layers, repeat)
        rows, read = measure.inside(model, rounds)
        results.rows.extend(rows)
        results.bytes.append(read)
        if model.name == "one":
            results.starts.extend(measure.starts(model, max(rounds, _STARTS)))
        if model.name in measure.FRESH:
            results.rows.extend(measure.fresh(model, rounds))
        if has_others and model.name in measure.EXCHANGED:
            results.others.extend(measure.others(model, rounds))
    if "real" in names:
        for name, is_real, paths in measure.groups(folder):
            print(f"{name} ...", file=sys.stderr, flush=True)
            for is_compiled, tree in trees.items():
                results.groups.append(Group(name, is_compiled, is_real, measure.real(paths, repeat, tree)))
    return results


def about() -> str:
    """When and with what the measurements are made."""
    load = f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    return (
        f"Measured on {date.today()}: irshape {irshape.__version__}, OpenVINO {version('openvino')}, "
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {load}."
    )


def as_json(results: Results) -> dict[str, object]:
    """The results for programs."""
    return {
        "about": results.about,
        "groups": [group._asdict() | {"files": [file._asdict() for file in group.files]} for group in results.groups],
        "starts": [start._asdict() for start in results.starts],
        "rows": [row._asdict() | {"measure": row.measure.title, "ratio": table.ratio(row)} for row in results.rows],
        "bytes": [one._asdict() | {"needed": sorted(one.needed)} for one in results.bytes],
        "others": [one._asdict() for one in results.others],
    }


def draw(results: Results, path: Path) -> None:
    """Draw the cost of a layer; matplotlib is needed for this only."""
    from benchmarks.plot import plot

    plot(table.scales(results.rows), path)


def write(page: Path, text: str) -> None:
    """Replace what stands between the two marks of a page."""
    old = page.read_text(encoding="utf-8")
    head, begin, rest = old.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        sys.exit(f"{page}: the marks {BEGIN} and {END} are missing")
    page.write_text(f"{head}{begin}\n\n{text}\n{end}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
