"""Runs the measurements, each in processes of its own, and gives them as rows."""

import compileall
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.models import RECIPES, value_ranges

ROOT = Path(__file__).parent.parent
# The environment of both: what is compiled is kept, or a start would measure the compiler.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {"PYTHONPATH": str(ROOT)}
# A larger model is measured less often.
_LAYERS_OF_FULL_ROUNDS = 5_000
_LEAST_ROUNDS = 3

FRESH = ("one", "resnet", "decoder", "distinct", "dag-1k", "dag-10k", "dag-100k")
RESHAPED = ("resnet", "decoder", "distinct", "dag-3k", "chain-10k")


class Row(NamedTuple):
    """What irshape and OpenVINO took for the same, and the ratios that must be met and are aimed at."""

    measure: str
    model: str
    layers: int
    unit: str
    ours: list[float]
    theirs: list[float]
    must: float | None
    aim: float | None


class Bytes(NamedTuple):
    """The ranges of a `.bin` that feed value ports, and those that were read."""

    model: str
    size: int
    needed: set[tuple[int, int]]
    read: list[tuple[int, int]]


READ, SHAPES, VALIDATE, AGAIN, LATE = (
    "read + check + infer / read_model",
    "reshape, new shapes / reshape",
    "reshape, new shapes / validate",
    "reshape, shapes seen before / reshape",
    "reshape of a late input / reshape",
)
FIRST, CPU, PEAK = "read + check + infer, first in a process", "process: check / read_model", "process: peak memory"

TARGETS = {READ: (0.9, 0.5), SHAPES: (0.1, 0.02), AGAIN: (0.1, 0.02), VALIDATE: (0.5, 0.1), LATE: (0.01, 0.001), PEAK: (0.6, 0.3)}
PROCESS_TARGETS = {"one": (0.2, 0.08), "resnet": (0.3, 0.12), "decoder": (0.4, 0.2), "dag-100k": (0.6, 0.35)}


class Model(NamedTuple):
    """A model that was built."""

    name: str
    path: str
    layers: int


def build(names: Iterable[str], folder: Path) -> Iterator[Model]:
    """The models, built where they are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        path = folder / f"{name}.xml"
        if not path.exists():
            RECIPES[name].write(str(path))
        yield Model(name, str(path), path.read_bytes().count(b"<layer "))


def rounds_of(model: Model, repeat: int) -> int:
    """How often a model is measured."""
    return max(_LEAST_ROUNDS, repeat * min(_LAYERS_OF_FULL_ROUNDS, model.layers) // model.layers)


def fresh(model: Model, rounds: int) -> list[Row]:
    """The whole process of either, in turn; a run before that is not counted compiles and fills caches."""
    compileall.compile_dir(ROOT / "irshape", quiet=1)
    ours = [sys.executable, "-m", "irshape", "check", model.path]
    theirs = [sys.executable, "-c", "import sys, openvino; openvino.Core().read_model(sys.argv[1])", model.path]
    lines = _output(
        [sys.executable, "-I", "-S", str(ROOT / "benchmarks" / "launch.py"), str(rounds + 1), *ours, "--", *theirs]
    ).splitlines()
    seconds: tuple[list[float], list[float]] = ([], [])
    peaks: tuple[list[float], list[float]] = ([], [])
    for line in lines[2:]:
        number, spent, peak, code = line.split()
        if code != "0":
            sys.exit(f"{model.path}: {('irshape', 'OpenVINO')[int(number)]} ends with {code}")
        seconds[int(number)].append(float(spent) * 1e3)
        peaks[int(number)].append(int(peak) / 2**20)
    return [
        Row(CPU, model.name, model.layers, "ms", *seconds, *PROCESS_TARGETS.get(model.name, (None, None))),
        Row(PEAK, model.name, model.layers, "MiB", *peaks, *TARGETS[PEAK]),
    ]


def inside(model: Model, rounds: int) -> tuple[list[Row], Bytes]:
    """What either takes in one process, in turn; and the ranges irshape reads of the `.bin`."""
    flags = ["--reshape"] if model.name in RESHAPED else []
    command = [sys.executable, "-m", "benchmarks.inside", str(rounds), model.name, model.path, *flags]
    measured: dict[str, Any] = json.loads(_output(command))

    def row(measure: str, kind: str, ours: str, theirs: str) -> Row:
        times = [[second * 1e3 for second in measured[kind][name]] for name in (ours, theirs)]
        return Row(measure, model.name, model.layers, "ms", *times, *TARGETS.get(measure, (None, None)))

    rows = [row(FIRST, "read", "first irshape", "first OpenVINO"), row(READ, "read", "irshape", "OpenVINO")]
    if flags:
        rows += [
            row(SHAPES, "reshape", "irshape", "OpenVINO"),
            row(VALIDATE, "reshape", "irshape", "OpenVINO validate"),
            row(AGAIN, "reshape", "irshape again", "OpenVINO"),
            row(LATE, "late", "irshape", "OpenVINO"),
        ]
    read = [(start, size) for start, size in measured["weights"]]
    return rows, Bytes(model.name, Path(model.path).with_suffix(".bin").stat().st_size, value_ranges(model.path), read)


def real(title: str, paths: list[str], rounds: int) -> list[Row]:
    """Reading of real IRs, all of them together."""
    measured = json.loads(_output([sys.executable, "-m", "benchmarks.inside", str(rounds), "", *paths]))
    layers = sum(Path(path).read_bytes().count(b"<layer ") for path in paths)

    def together(reader: str) -> list[float]:
        return [1e3 * sum(times) for times in zip(*(one[reader] for one in measured.values()), strict=True)]

    return [Row(READ, f"{title} ({len(paths)})", layers, "ms", together("irshape"), together("OpenVINO"), *TARGETS[READ])]


def _output(command: list[str]) -> str:
    run = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE, encoding="utf-8")
    if run.returncode:
        sys.exit(run.returncode)
    return run.stdout
