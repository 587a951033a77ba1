"""Measures reshapes of real models: `Session.reshape` beside `Model.reshape`, for shapes that no input had before.

Each model takes random sizes that its signature admits. The first ones, from which a session makes its plans, are not measured. Each
model is measured in a process of its own. Prints a line for each model, and how many are below the ratios that are aimed at.

    python -m benchmarks.reshapes FOLDER_OR_FILE...
"""

import gc
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import openvino

import irshape
from benchmarks.inside import differences
from benchmarks.measure import each_alone

# Reshapes before those that are measured, and so many more; and how many sizes are tried to find them.
_BEFORE, _MEASURED = 5, 20
_ATTEMPTS = 5000
# The ratios that 95 % of the models, and that each model shall not exceed.
USUAL, MOST = 0.02, 0.05
# Sizes of windows, patches and strides: valid sizes are often multiples of them.
_STEPS = (1, 1, 2, 7, 8, 16, 32, 64, 112, 224)

Sizes = dict[str, tuple[int, ...]]


def assignments(path: Path, count: int) -> list[Sizes]:
    """Different shapes of the inputs that the signature of a model admits, as many as are found."""
    signature = irshape.signature(path)
    if not signature.ok or not signature.symbols or "[...]" in signature.inputs.values():
        return []
    random, found = Random(path.stem), list[Sizes]()
    for _ in range(_ATTEMPTS):
        sizes = {}
        for name, (low, high, modulus, remainder) in signature.symbols.items():
            size = max(random.choice(_STEPS) * random.randint(1, 8) + random.choice((0, 0, 0, 1, 3)), int(low), 1)
            size -= (size - remainder) % modulus
            sizes[name] = int(min(size if size >= low else size + modulus, high))
        shapes = signature.assign(sizes)
        if shapes is not None and shapes not in found:
            found.append(shapes)
        if len(found) == count:
            break
    return found


def ratio(path: Path) -> tuple[float, float, str]:
    """The median milliseconds of a reshape in irshape and in OpenVINO, and how much of the plan is left to rules."""
    found = assignments(path, _BEFORE + _MEASURED)
    if len(found) <= _BEFORE:
        raise ValueError("too few sizes are valid")
    session, model = irshape.Session(path), openvino.Core().read_model(path)
    outputs = {name: port for port in model.inputs for name in (port.get_node().get_friendly_name(), *port.get_names())}

    def theirs(shapes: Sizes) -> None:
        model.reshape({outputs[name]: openvino.PartialShape(list(shape)) for name, shape in shapes.items()})

    for shapes in found[:_BEFORE]:
        session.reshape(shapes)
    gc.collect()
    seconds = [_spent(reshape, found[_BEFORE:]) for reshape in (session.reshape, theirs)]
    if different := differences(session.infer(), model, is_exact=False):
        raise ValueError(f"the shapes differ: {different[0]}")
    plan: Any = session.plan
    left = "no plan" if plan is None else f"rules asked: {len(plan.asks)}" if plan.asks else ""
    ours, others = (1e3 * median(one) for one in seconds)
    return ours, others, left


def _spent(reshape: Callable[[Sizes], Any], several: list[Sizes]) -> list[float]:
    """The CPU seconds of each reshape, one after the other."""
    spent = []
    for shapes in several:
        start = time.process_time()
        reshape(shapes)
        spent.append(time.process_time() - start)
    return spent


def main() -> None:
    """Measure each model in turn."""
    gc.disable()
    ratios: list[float] = []
    print(f"{'ratio':>7} {'irshape':>9} {'OpenVINO':>9} ms", flush=True)
    for path, (ours, theirs, left) in each_alone(sys.argv[1:], ratio):
        ratios.append(ours / theirs)
        print(f"{ratios[-1]:7.4f} {ours:9.3f} {theirs:9.3f} {path.parent.name}/{path.stem} {left}", flush=True)
    for limit in (USUAL, MOST):
        print(f"{sum(one <= limit for one in ratios)} of {len(ratios)} models: at most {limit}")


if __name__ == "__main__":
    main()
