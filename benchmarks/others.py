"""Measures another tool that reads a graph and infers its shapes, and prints CPU seconds as JSON.

It runs alone, as one of the tools needs an interpreter of its own.

    others.py TOOL PATH ROUNDS
"""

import contextlib
import json
import os
import sys
import time
from typing import Any

_ENOUGH = 10


def onnx_reader() -> Any:
    """ONNX's own shape inference, values followed, in C++."""
    import onnx

    return lambda path: onnx.shape_inference.infer_shapes(onnx.load(path), data_prop=True)


def onnxruntime_reader() -> Any:
    """ONNX Runtime's symbolic inference, in Python on sympy."""
    import onnx
    from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

    return lambda path: SymbolicShapeInference.infer_shapes(onnx.load(path), auto_merge=True)


def openvino_dev_reader() -> Any:
    """Model Optimizer's reader of IRs, in Python on networkx; the last release that has it is 2024.6."""
    from openvino.tools.mo.utils.ir_reader.restore_graph import restore_graph_from_ir

    return lambda path: restore_graph_from_ir(path, os.path.splitext(path)[0] + ".bin")


READERS = {
    "onnx.shape_inference": onnx_reader,
    "onnxruntime symbolic_shape_infer": onnxruntime_reader,
    "openvino-dev IR reader": openvino_dev_reader,
}


def main() -> None:
    """Measure for so many rounds or `_ENOUGH` seconds. The first round, in which much is loaded, counts only if it is the only one."""
    tool, path, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    seconds: list[float] = []
    # They print what they think of a model.
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        read = READERS[tool]()
        while len(seconds) <= rounds and sum(seconds) < _ENOUGH:
            start = time.process_time()
            read(path)
            seconds.append(time.process_time() - start)
    json.dump(seconds[1:] or seconds, sys.stdout)


if __name__ == "__main__":
    main()
