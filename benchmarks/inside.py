"""Measures irshape and OpenVINO in one process, in turn, and prints CPU seconds as JSON.

python -m benchmarks.inside ROUNDS NAME PATH
"""

import gc
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import IO, Any

import openvino

import irshape
from benchmarks.models import RECIPES, Shapes

Seconds = dict[str, list[float]]


class CountingFile:
    """A binary file that remembers which ranges were read of it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.ranges: list[tuple[int, int]] = []

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a place."""
        return self._file.seek(offset, whence)

    def read(self, size: int = -1) -> bytes:
        """Read from there."""
        start = self._file.tell()
        data = self._file.read(size)
        self.ranges.append((start, len(data)))
        return data


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a call and what it gives. What was thrown away before is collected first, and nothing during the call."""
    gc.collect()
    start = time.process_time()
    given = run()
    return time.process_time() - start, given


def differences(inference: irshape.Inference, model: openvino.Model, *, is_exact: bool = True) -> list[str]:
    """Output ports for which OpenVINO has another element type or shape.

    Not exact: shapes that have something in common will do, and what OpenVINO adds to a model is left out.
    """

    def is_same(ours: tuple[str, str], theirs: tuple[str, str]) -> bool:
        if ours == theirs or is_exact:
            return ours == theirs
        return ours[0] == theirs[0] and openvino.PartialShape(ours[1]).compatible(openvino.PartialShape(theirs[1]))

    ours: dict[str, list[tuple[str, str]]] = {}
    names = {str(node.id): node.name for node in inference.model.nodes}
    for key, fact in inference.ports.items():
        layer = key.partition(":")[0]
        if layer in names:
            ours.setdefault(names[layer], []).append(fact)
    found = []
    for operation in model.get_ordered_ops():
        name = operation.get_friendly_name()
        theirs = [(port.get_element_type().get_type_name(), str(port.get_partial_shape())) for port in operation.outputs()]
        if operation.get_type_name() == "Result" or (name not in ours and not is_exact):
            continue
        mine = ours.get(name, [])
        if not (len(mine) == len(theirs) and all(map(is_same, mine, theirs))):
            found.append(f"{name}: irshape {mine}, OpenVINO {theirs}")
    return found


def readings(path: str, rounds: int) -> Seconds:
    """Reading, checking and inferring a file; the first reading in the process apart, as it loads the operations."""
    core = openvino.Core()
    first_ours, inference = timed(lambda: irshape.check(path))
    first_theirs, model = timed(lambda: core.read_model(path))
    found = differences(inference, model) if inference.ok else [str(fault) for fault in inference.diagnostics]
    if found:
        sys.exit("\n".join([f"{path}: irshape and OpenVINO differ:", *found[:10]]))
    del inference, model
    seconds: Seconds = {"first irshape": [first_ours], "first OpenVINO": [first_theirs], "irshape": [], "OpenVINO": []}
    for _ in range(rounds):
        seconds["irshape"].append(timed(lambda: irshape.check(path))[0])
        seconds["OpenVINO"].append(timed(lambda: core.read_model(path))[0])
    return seconds


def reshapes(path: str, rounds: int, shapes: Callable[[int], Shapes]) -> Seconds:
    """Giving the inputs shapes they never had; and (irshape only) giving them back shapes they had before."""
    session = irshape.Session(path)
    session.infer()
    model = openvino.Core().read_model(path)
    steps = [shapes(step) for step in range(rounds + 1)]
    seconds: Seconds = {name: [] for name in ("irshape", "irshape again", "OpenVINO", "OpenVINO validate")}
    for before, wanted in pairwise(steps):
        session.reshape(before)
        theirs = {name: openvino.PartialShape(shape) for name, shape in wanted.items()}
        spent, inference = timed(partial(session.reshape, wanted))
        if not inference.ok:
            sys.exit(f"{path}: cannot have {wanted}: {inference.diagnostics[0]}")
        seconds["irshape"].append(spent)
        seconds["OpenVINO"].append(timed(partial(model.reshape, theirs))[0])
        seconds["OpenVINO validate"].append(timed(model.validate_nodes_and_infer_types)[0])
        if wanted is steps[-1] and (found := differences(inference, model)):
            sys.exit("\n".join([f"{path}: irshape and OpenVINO differ as {wanted}:", *found[:10]]))
        session.reshape(before)
        seconds["irshape again"].append(timed(partial(session.reshape, wanted))[0])
    return seconds


def weights_read(path: str) -> list[tuple[int, int]]:
    """The ranges that a check reads of the `.bin`."""
    with open(path.removesuffix(".xml") + ".bin", "rb") as file:
        counting = CountingFile(file)
        irshape.check(path, weights=counting)
        return counting.ranges


def main() -> None:
    """Measure a model of the recipes and print it."""
    gc.disable()
    gc.freeze()  # the modules loaded so far stay, so that collecting between calls is short
    rounds, name, path = sys.argv[1:]
    measured: dict[str, Any] = {"read": readings(path, int(rounds)), "weights": weights_read(path)}
    if steps := RECIPES[name].steps:
        measured["reshape"] = reshapes(path, int(rounds), steps.inputs)
        measured["late"] = reshapes(path, int(rounds), steps.late)
    json.dump(measured, sys.stdout)


if __name__ == "__main__":
    main()
