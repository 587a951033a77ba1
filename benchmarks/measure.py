"""Runs the measurements, each in processes of its own, and gives them as rows."""

import compileall
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks.models import HEAVY, RECIPES, value_ranges

ROOT = Path(__file__).parent.parent
# The environment of both: what is compiled is kept, or a start would measure the compiler.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {"PYTHONPATH": str(ROOT)}
# A larger model is measured less often.
_LAYERS_OF_FULL_ROUNDS = 5_000
_LEAST_ROUNDS = 3

# The begin of the name of a group that is a folder of the corpus.
CORPUS = "corpus, "

# What is measured in processes of its own, and what is given to other tools.
FRESH = ("one", "resnet", "decoder", "distinct", "dag-10k", "dag-100k")
EXCHANGED = ("resnet", "decoder", "dag-3k")


class Measure(NamedTuple):
    """What is compared, and the ratios to OpenVINO that must be met and are aimed at."""

    title: str
    must: float | None = None
    aim: float | None = None


CPU = Measure("Whole process, CPU time: `irshape check FILE` and `Core().read_model(FILE)`")
PEAK = Measure("Whole process, peak memory", 0.6, 0.3)
READ = Measure("In one process: `irshape.check` and `Core.read_model`", 0.9, 0.5)
FIRST = Measure("In one process, the first call, which loads the operations: `irshape.check` and `Core.read_model`")
SHAPES = Measure("Shapes that no input had before: `Session.reshape` and `Model.reshape`", 0.1, 0.02)
VALIDATE = Measure("The same, and `Model.validate_nodes_and_infer_types`", 0.5, 0.1)
AGAIN = Measure("Shapes that the inputs had before: `Session.reshape` and `Model.reshape`", 0.1, 0.02)
LATE = Measure("Another shape for an input near the end: `Session.reshape` and `Model.reshape`", 0.01, 0.001)

_PROCESS_TARGETS = {"one": (0.2, 0.08), "resnet": (0.3, 0.12), "decoder": (0.4, 0.2), "dag-100k": (0.6, 0.35)}


class Row(NamedTuple):
    """What irshape and OpenVINO took for the same, each time; and what the import of OpenVINO alone takes, where it is a part of it."""

    measure: Measure
    model: str
    layers: int
    unit: str
    ours: list[float]
    theirs: list[float]
    must: float | None
    aim: float | None
    imported: list[float] = []


class File(NamedTuple):
    """A real model, with the medians of both in milliseconds: with and without the garbage collector, and of the first call.

    `refused` says why the model was not measured. `distinct` is the share of its layers that differ from all layers before them, `dynamic`
    the share of those with an open output.
    """

    path: str
    layers: int
    refused: str = ""
    ours: float = 0.0
    theirs: float = 0.0
    collected: float = 0.0
    first_ours: float = 0.0
    first_theirs: float = 0.0
    distinct: float = 0.0
    dynamic: float = 0.0


class Group(NamedTuple):
    """Models that belong together, measured with interpreted or compiled modules. Generated ones with many weights are not real."""

    name: str
    is_compiled: bool
    is_real: bool
    files: list[File]


class Start(NamedTuple):
    """The CPU milliseconds of a process that does little."""

    command: str
    times: list[float]


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
    for name in names:
        path = folder / f"{name}.xml"
        if not _is_built(path):
            RECIPES[name].write(str(path))
        yield Model(name, str(path), count_layers(str(path)))


def _is_built(path: Path) -> bool:
    return path.exists() and path.stat().st_mtime >= (ROOT / "benchmarks" / "models.py").stat().st_mtime


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
    imported = [sys.executable, "-c", "import openvino"]
    seconds: tuple[list[float], ...] = ([], [], [])
    peaks: tuple[list[float], ...] = ([], [], [])
    for number, spent, peak, code in _launched(rounds, ours, theirs, imported):
        if code != "0":
            sys.exit(f"{model.path}: {('irshape', 'OpenVINO', 'the import of OpenVINO')[int(number)]} ends with {code}")
        seconds[int(number)].append(float(spent) * 1e3)
        peaks[int(number)].append(int(peak) / 2**20)
    must, aim = _PROCESS_TARGETS.get(model.name, (None, None))
    return [
        Row(CPU, model.name, model.layers, "ms", seconds[0], seconds[1], must, aim, seconds[2]),
        Row(PEAK, model.name, model.layers, "MiB", peaks[0], peaks[1], PEAK.must, PEAK.aim, peaks[2]),
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


def real(paths: Sequence[Path], repeat: int, tree: Path) -> list[File]:
    """Real models, measured with the library in a folder: this one, or one with compiled modules."""
    compileall.compile_dir(tree / "irshape", quiet=1)
    command = [sys.executable, "-m", "benchmarks.real", str(repeat), *map(str, paths)]
    found = []
    for line in _output(command, tree).splitlines():
        measured: dict[str, Any] = json.loads(line)
        path = measured["path"]
        if refused := measured.get("refused"):
            found.append(File(path, count_layers(path), str(refused)))
        else:
            times = [1e3 * median(measured[kind]) for kind in ("irshape", "OpenVINO", "collected")]
            kind = {name: measured[name] for name in ("distinct", "dynamic")}
            found.append(File(path, count_layers(path), "", *times, *_ms(measured["first"]))._replace(**kind))
    return found


def groups(folder: Path) -> Iterator[tuple[str, bool, list[Path]]]:
    """The real models to measure: the IRs of the tests by size, heavy ones that are built, and the folders of a corpus."""
    carried: dict[str, list[Path]] = {"under 100 layers": [], "100 to 999 layers": [], "1,000 layers and more": []}
    for path in _with_weights(ROOT / "tests" / "data" / "ir"):
        layers = count_layers(str(path))
        carried[list(carried)[(layers >= 100) + (layers >= 1_000)]].append(path)
    for size, paths in carried.items():
        if paths:
            yield f"IRs of the tests, {size}", True, paths
    for name, write in HEAVY.items():
        path = folder / f"{name}.xml"
        if not _is_built(path):
            write(str(path))
        yield f"{name}, {path.with_suffix('.bin').stat().st_size / 1e6:,.0f} MB of weights", False, [path]
    if corpus := os.environ.get("IRSHAPE_CORPUS"):
        for one in sorted(path for path in Path(corpus).resolve().iterdir() if path.is_dir()):
            if paths := _with_weights(one):
                yield f"{CORPUS}{one.name}", True, paths


def _with_weights(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.glob("**/*.xml")) if path.with_suffix(".bin").exists()]


# Smaller files are of one operation or a few: a call alone takes more than the question.
_LEAST_LAYERS = 100


def each_alone(arguments: Iterable[str], measured: Callable[[Path], Any]) -> Iterator[tuple[Path, Any]]:
    """What is measured of each model among files and folders, each in a process of its own.

    `measured` gives what JSON can hold. A model that cannot be measured is named on stderr. Files without weights, and those of fewer than
    100 layers, are left out.
    """
    found = [sorted(path.glob("**/*.xml")) if path.is_dir() else [path] for path in map(Path, arguments)]
    for path in (path for several in found for path in several):
        if count_layers(str(path)) < _LEAST_LAYERS or not path.with_suffix(".bin").exists():
            continue
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            told = None
            try:
                told = measured(path)
            except (ValueError, RuntimeError) as error:  # InputError is a ValueError
                print(f"{path}: {str(error).splitlines()[0]}", file=sys.stderr, flush=True)
            os.write(writer, json.dumps(told).encode())
            os._exit(0)
        os.close(writer)
        with open(reader, encoding="utf-8") as answer:
            told = json.loads(answer.read() or "null")
        os.waitpid(child, 0)
        if told:
            yield path, told


def starts(model: Model, rounds: int) -> list[Start]:
    """What it costs to start: a bare Python, a check of the smallest model, and an import of OpenVINO."""
    compileall.compile_dir(ROOT / "irshape", quiet=1)
    commands = {
        "`python -c pass`": [sys.executable, "-c", "pass"],
        "`python -m irshape check`": [sys.executable, "-m", "irshape", "check", model.path],
        "`irshape check`": [str(Path(sys.executable).parent / "irshape"), "check", model.path],
        "`python -c 'import openvino'`": [sys.executable, "-c", "import openvino"],
    }
    known = [command for command in commands.values() if Path(command[0]).exists()]
    seconds: list[list[float]] = [[] for _ in known]
    for line in _launched(rounds, *known):
        seconds[int(line[0])].append(float(line[1]) * 1e3)
    names = [name for name, command in commands.items() if Path(command[0]).exists()]
    return list(map(Start, names, seconds))


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


def _launched(rounds: int, *commands: list[str]) -> list[list[str]]:
    """The number of the command, CPU seconds, peak and exit code of each run, but not of the first of each command."""
    launcher = [sys.executable, "-I", "-S", str(ROOT / "benchmarks" / "launch.py")]
    joined = [word for command in commands for word in ("--", *command)][1:]
    return [line.split() for line in _output([*launcher, str(rounds + 1), *joined]).splitlines()[len(commands) :]]


def _output(command: list[str], tree: Path = ROOT) -> str:
    run = subprocess.run(command, cwd=tree, env=ENVIRONMENT | {"PYTHONPATH": str(tree)}, stdout=subprocess.PIPE, encoding="utf-8")
    if run.returncode:
        sys.exit(run.returncode)
    return run.stdout
