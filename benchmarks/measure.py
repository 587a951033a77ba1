"""Runs the measurements, each in processes of its own, and gives them as rows."""

import compileall
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.models import RECIPES, value_ranges

ROOT = Path(__file__).parent.parent
# The environment of both: what is compiled is kept, or a start would measure the compiler.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {"PYTHONPATH": str(ROOT)}
# A larger model is measured less often.
_LAYERS_OF_FULL_ROUNDS = 5_000
_LEAST_ROUNDS = 3

# What is measured in processes of its own, and what is given to other tools.
FRESH = ("one", "resnet", "decoder", "distinct", "dag-10k", "dag-100k")
EXCHANGED = ("resnet", "decoder", "dag-3k")


class Measure(NamedTuple):
    """What is compared, in few words and in many; and the ratios to OpenVINO that must be met and are aimed at."""

    brief: str
    title: str
    must: float | None = None
    aim: float | None = None


CPU = Measure("whole process, CPU time", "Whole process, CPU time: `irshape check FILE` and `Core().read_model(FILE)`")
PEAK = Measure("whole process, peak memory", "Whole process, peak memory", 0.6, 0.3)
READ = Measure("read, check and infer", "In one process: `irshape.check` and `Core.read_model`", 0.9, 0.5)
FIRST = Measure("the same, first call", "In one process, the first call, which loads the operations: `irshape.check` and `Core.read_model`")
SHAPES = Measure("reshape all inputs", "Shapes that no input had before: `Session.reshape` and `Model.reshape`", 0.1, 0.02)
VALIDATE = Measure("against validating", "The same, and `Model.validate_nodes_and_infer_types`", 0.5, 0.1)
AGAIN = Measure("reshape back", "Shapes that the inputs had before: `Session.reshape` and `Model.reshape`", 0.1, 0.02)
LATE = Measure("reshape a late input", "Another shape for an input near the end: `Session.reshape` and `Model.reshape`", 0.01, 0.001)

_PROCESS_TARGETS = {"one": (0.2, 0.08), "resnet": (0.3, 0.12), "decoder": (0.4, 0.2), "dag-100k": (0.6, 0.35)}


class Row(NamedTuple):
    """What irshape and OpenVINO took for the same, each time."""

    measure: Measure
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


class Other(NamedTuple):
    """What another tool takes to read and infer a model of so many nodes; no times where it is not installed."""

    tool: str
    model: str
    nodes: int
    times: list[float]


class Model(NamedTuple):
    """A model that was built."""

    name: str
    path: str
    layers: int


def build(names: Iterable[str], folder: Path) -> Iterator[Model]:
    """The models, built where they are not there yet or older than their recipes."""
    folder.mkdir(parents=True, exist_ok=True)
    recipes_changed = (ROOT / "benchmarks" / "models.py").stat().st_mtime
    for name in names:
        path = folder / f"{name}.xml"
        if not path.exists() or path.stat().st_mtime < recipes_changed:
            RECIPES[name].write(str(path))
        yield Model(name, str(path), count_layers(str(path)))


def count_layers(path: str) -> int:
    """The number of layers in a file, those of bodies included."""
    return Path(path).read_bytes().count(b"<layer ")


def rounds_of(layers: int, repeat: int) -> int:
    """How often a model of so many layers is measured."""
    return max(min(repeat, _LEAST_ROUNDS), repeat * min(_LAYERS_OF_FULL_ROUNDS, layers) // layers)


def fresh(model: Model, rounds: int) -> list[Row]:
    """The whole process of either, in turn; a run before that is not counted compiles and fills caches."""
    compileall.compile_dir(ROOT / "irshape", quiet=1)
    ours = [sys.executable, "-m", "irshape", "check", model.path]
    theirs = [sys.executable, "-c", "import sys, openvino; openvino.Core().read_model(sys.argv[1])", model.path]
    launcher = [sys.executable, "-I", "-S", str(ROOT / "benchmarks" / "launch.py")]
    seconds: tuple[list[float], list[float]] = ([], [])
    peaks: tuple[list[float], list[float]] = ([], [])
    for line in _output([*launcher, str(rounds + 1), *ours, "--", *theirs]).splitlines()[2:]:
        number, spent, peak, code = line.split()
        if code != "0":
            sys.exit(f"{model.path}: {('irshape', 'OpenVINO')[int(number)]} ends with {code}")
        seconds[int(number)].append(float(spent) * 1e3)
        peaks[int(number)].append(int(peak) / 2**20)
    return [
        Row(CPU, model.name, model.layers, "ms", *seconds, *_PROCESS_TARGETS.get(model.name, (None, None))),
        Row(PEAK, model.name, model.layers, "MiB", *peaks, PEAK.must, PEAK.aim),
    ]


def inside(model: Model, rounds: int) -> tuple[list[Row], Bytes]:
    """What either takes in one process, in turn; and what irshape reads of the `.bin`."""
    command = [sys.executable, "-m", "benchmarks.inside", str(rounds), model.name, model.path]
    measured: dict[str, Any] = json.loads(_output(command))

    def row(measure: Measure, kind: str, ours: str, theirs: str) -> Row:
        seconds = measured[kind]
        return Row(measure, model.name, model.layers, "ms", _ms(seconds[ours]), _ms(seconds[theirs]), measure.must, measure.aim)

    rows = [row(READ, "read", "irshape", "OpenVINO"), row(FIRST, "read", "first irshape", "first OpenVINO")]
    if RECIPES[model.name].steps:
        rows += [
            row(SHAPES, "reshape", "irshape", "OpenVINO"),
            row(VALIDATE, "reshape", "irshape", "OpenVINO validate"),
            row(AGAIN, "reshape", "irshape again", "OpenVINO"),
            row(LATE, "late", "irshape", "OpenVINO"),
        ]
    read = [(start, size) for start, size in measured["weights"]]
    return rows, Bytes(model.name, Path(model.path).with_suffix(".bin").stat().st_size, value_ranges(model.path), read)


def real(title: str, folder: Path, repeat: int) -> Row:
    """Reading of the IRs in a folder that have their weights, all of them together."""
    paths = [str(path) for path in sorted(folder.glob("**/*.xml")) if path.with_suffix(".bin").exists()]
    layers = sum(map(count_layers, paths))
    measured = json.loads(_output([sys.executable, "-m", "benchmarks.inside", str(rounds_of(layers, repeat)), "", *paths]))

    def together(reader: str) -> list[float]:
        return [1e3 * sum(times) for times in zip(*(one[reader] for one in measured.values()), strict=True)]

    return Row(READ, f"{len(paths):,} {title}", layers, "ms", together("irshape"), together("OpenVINO"), READ.must, READ.aim)


def others(model: Model, repeat: int) -> list[Other]:
    """Other tools on the same graph, where they are installed: as ONNX, or the IR itself."""
    exchanged = str(Path(model.path).with_suffix(".onnx"))
    nodes = 0
    if find_spec("onnx"):
        from benchmarks.exchange import write_onnx

        nodes = write_onnx(model.path, exchanged)
    runs = [
        ("onnx.shape_inference", sys.executable if nodes else None, exchanged, nodes),
        ("onnxruntime symbolic_shape_infer", sys.executable if nodes and find_spec("onnxruntime") else None, exchanged, nodes),
        ("openvino-dev IR reader", os.environ.get("OPENVINO_DEV_PYTHON"), model.path, model.layers),
    ]
    script = str(ROOT / "benchmarks" / "others.py")
    found = []
    for tool, python, path, count in runs:
        seconds = json.loads(_output([python, "-E", script, tool, path, str(repeat)])) if python else []
        found.append(Other(tool, model.name, count, _ms(seconds)))
    return found


def _ms(seconds: list[float]) -> list[float]:
    return [1e3 * second for second in seconds]


def _output(command: list[str]) -> str:
    run = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE, encoding="utf-8")
    if run.returncode:
        sys.exit(run.returncode)
    return run.stdout
