"""Measures real models: each file in a process of its own, forked from one that has loaded both libraries.

So the first call of each file loads the operations, and no file warms up another. Prints a line of JSON for each file.

    python -m benchmarks.real ROUNDS PATH...
"""

import gc
import json
import os
import sys
import time
from typing import Any

import openvino

from benchmarks.inside import differences, timed
from irshape import check

# A file is measured again until it has had its rounds or so many seconds, but at least so often.
_ENOUGH = 1.0
_LEAST = 3


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
    first_ours, inference = timed(lambda: check(path))
    try:
        first_theirs, model = timed(lambda: core.read_model(path))
    except RuntimeError:
        return {"refused": "OpenVINO refuses it"}
    if not inference.ok:
        return {"refused": f"irshape finds {inference.diagnostics[0]}"}
    if found := differences(inference, model, is_exact=False):
        return {"refused": f"the shapes differ: {found[0]}"}
    del inference, model
    seconds: dict[str, list[float]] = {"irshape": [], "collected": [], "OpenVINO": []}
    begin = time.process_time()
    for done in range(rounds):
        if done >= _LEAST and time.process_time() - begin > _ENOUGH:
            break
        seconds["irshape"].append(timed(lambda: check(path))[0])
        seconds["OpenVINO"].append(timed(lambda: core.read_model(path))[0])
        seconds["collected"].append(collected(path))
    return {"first": [first_ours, first_theirs], **seconds}


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
