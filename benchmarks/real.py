"""Measures real models: each file in a process of its own, forked from one that has loaded both libraries, so no file warms up another.

The first call is measured in processes that load one library and nothing else: a forked process pays for the memory that it shares with its
parent when it first writes there. Prints a line of JSON for each file.

    python -m benchmarks.real ROUNDS PATH...
"""

import gc
import json
import os
import subprocess
import sys
import time
from typing import Any

import openvino

from benchmarks.inside import differences, timed
from irshape import Inference, check

# A file is measured again until it has had its rounds or so many seconds, but at least so often.
_ENOUGH = 1.0
_LEAST = 3
# The processes of the first call. The garbage collector runs, as in any Python program.
_FIRST = {
    "irshape": "import irshape, sys, time; start = time.process_time(); irshape.check(sys.argv[1])",
    "OpenVINO": "import openvino, sys, time; core = openvino.Core(); start = time.process_time(); core.read_model(sys.argv[1])",
}
_FIRST_CALLS = 3


def first_call(library: str, path: str) -> float:
    """CPU seconds of the first call of a library in a new process, without its import: the least of three processes."""
    command = [sys.executable, "-c", f"{_FIRST[library]}; print(time.process_time() - start)", path]
    return min(float(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(_FIRST_CALLS))


def shares(inference: Inference) -> dict[str, float]:
    """The share of layers that differ from all layers before them in type, attributes or ports; and that of layers with an open output."""
    layers = [inference.layer(node.id) for node in inference.model.nodes]
    kinds = set()
    for one in layers:
        attributes = "" if one.type in ("Const", "Constant") else str(one.node.attributes)  # which hold the place of the bytes
        kinds.add((one.type, attributes, *(port.text for port in (*one.inputs, *one.outputs))))
    sizes = [[port.shape for port in layer.outputs] for layer in layers]
    open_ = sum(any(shape is None or not all(isinstance(size, int) for size in shape) for shape in shapes) for shapes in sizes)
    return {"distinct": len(kinds) / len(layers), "dynamic": open_ / len(layers)}


def collected(path: str) -> float:
    """CPU seconds of a check during which the garbage collector runs as it does in any Python program."""
    gc.collect()
    gc.unfreeze()
    gc.enable()
    start = time.process_time()
    inference = check(path)
    spent = time.process_time() - start
    gc.disable()
    del inference
    gc.collect()
    gc.freeze()
    return spent


def reading(path: str, rounds: int) -> dict[str, Any]:
    """The CPU seconds of each call: the first of both, then both in turn. A model that one of them refuses has a reason instead."""
    core = openvino.Core()
    inference = check(path)
    try:
        model = core.read_model(path)
    except RuntimeError:
        return {"refused": "OpenVINO refuses it"}
    if not inference.ok:
        return {"refused": f"irshape finds {inference.diagnostics[0]}"}
    if found := differences(inference, model, is_exact=False):
        return {"refused": f"the shapes differ: {found[0]}"}
    kind = shares(inference)
    del inference, model
    seconds: dict[str, list[float]] = {"irshape": [], "collected": [], "OpenVINO": []}
    begin = time.process_time()
    for done in range(rounds):
        if done >= _LEAST and time.process_time() - begin > _ENOUGH:
            break
        seconds["irshape"].append(timed(lambda: check(path))[0])
        seconds["OpenVINO"].append(timed(lambda: core.read_model(path))[0])
        seconds["collected"].append(collected(path))
    return {"first": [first_call(library, path) for library in _FIRST], **kind, **seconds}


def main() -> None:
    """Measure each file in turn."""
    gc.disable()
    gc.freeze()
    rounds, *paths = sys.argv[1:]
    for path in paths:
        sys.stdout.flush()
        child = os.fork()
        if not child:
            print(json.dumps({"path": path, **reading(path, int(rounds))}), flush=True)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            print(json.dumps({"path": path, "refused": f"the process ends with {os.waitstatus_to_exitcode(status)}"}))


if __name__ == "__main__":
    main()
