"""The process that runs models with OpenVINO: it answers requests, each a line of JSON, until its input ends.

Nothing of irshape but the limits is loaded here. A fault of OpenVINO in a model ends this process alone.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Final

from irshape.running.limits import Allowance, can_limit

# Nothing is rounded further than the model asks for.
_EXACT: Final = {
    "INFERENCE_PRECISION_HINT": "f32",
    "EXECUTION_MODE_HINT": "ACCURACY",
    "SNIPPETS_MODE": "DISABLE",
    "LP_TRANSFORMS_MODE": False,  # products of int8 overflow on processors without VNNI
}


class _Models:
    """The models that were read, by their names, and the outputs of the runs, by theirs. A method answers the request of its name."""

    def __init__(self) -> None:
        import openvino

        self._openvino = openvino
        self._core = openvino.Core()
        self._models: dict[str, Any] = {}
        self._compiled: dict[str, Any] = {}
        self._outputs: dict[str, list[Any]] = {}

    def read(self, model: str, path: str, weights: str, modules: list[str]) -> dict[str, Any]:
        """Read a model. `modules` are the packages of extensions that it needs; those that are installed add their operations."""
        if "openvino_tokenizers" in modules and "openvino_tokenizers" not in sys.modules:
            import openvino_tokenizers  # type: ignore[import-untyped] # noqa: F401 - it adds its library to each new core

            self._core = self._openvino.Core()
        self._models[model] = self._core.read_model(path, weights)
        self._compiled.pop(model, None)
        return {}

    def run(self, model: str, outputs: str, feeds: str) -> dict[str, Any]:
        """Run a model on the arrays of a file, one for each input. Variables begin anew. Other shapes than the model's reshape it."""
        import numpy

        network = self._models[model]
        with numpy.load(feeds, allow_pickle=False) as arrays:
            feed = [arrays[str(index)] for index in range(len(network.inputs))]
        shapes = {port: self._openvino.PartialShape(one.shape) for port, one in zip(network.inputs, feed, strict=True)}
        if not all(port.partial_shape.compatible(shape) for port, shape in shapes.items()):
            network.reshape(shapes)
            self._compiled.pop(model, None)
        if model not in self._compiled:
            self._compiled[model] = self._core.compile_model(network, "CPU", _EXACT)
        request = self._compiled[model].create_infer_request()
        request.infer({index: self._tensor(port.get_element_type(), feed[index]) for index, port in enumerate(network.inputs)})
        self._outputs[outputs] = [_array(request.get_output_tensor(index)) for index in range(len(network.outputs))]
        return {}

    def compare(self, a: list[str], b: str, pairs: list[tuple[int, int]], group: int = 0) -> dict[str, Any]:
        """Compare pairs of outputs of runs. The outputs of several runs, one for each sample, are joined on the axis that makes them one.

        Where each run has a batch of `group`, an axis may hold the samples within its blocks, as behind a SpaceToBatch.
        """
        found = []
        for index, other in pairs:
            whole = self._outputs[b][other]
            ways = _joined([self._outputs[run][index] for run in a], whole, group)
            found.append(min((_difference(one, whole) for one in ways), key=lambda one: (one["absolute"] is None, one["absolute"])))
        return {"differences": found}

    def _tensor(self, kind: Any, array: Any) -> Any:
        import numpy

        if kind == self._openvino.Type.string:
            return self._openvino.Tensor(array)
        tensor = self._openvino.Tensor(kind, self._openvino.Shape(array.shape))
        if kind == self._openvino.Type.bf16:
            tensor.data.view("u2")[...] = (numpy.ascontiguousarray(array, "f4").view("u4") >> 16).astype("u2")
        elif tensor.data.shape == array.shape:
            tensor.data[...] = array
        else:
            raise ValueError(f"irshape has no random values of type {kind.get_type_name()}")
        return tensor


def _array(tensor: Any) -> Any:
    """The elements of a tensor as numbers or texts; packed ones as bytes."""
    kind = tensor.get_element_type().get_type_name()
    if kind == "string":
        return tensor.str_data.copy()
    if kind == "bf16":
        return (tensor.data.view("u2").astype("u4") << 16).view("f4")
    return tensor.data.copy()


def _joined(arrays: list[Any], whole: Any, group: int) -> list[Any]:
    """The ways to join arrays on the axis on which `whole` is larger; the first array if no such axis exists."""
    import numpy

    one = arrays[0]
    if len(arrays) == 1 or len(whole.shape) != len(one.shape):
        return [one]
    axis = next((axis for axis, size in enumerate(one.shape) if whole.shape[axis] == size * len(arrays)), None)
    if axis is None:
        return [one]
    ways = [numpy.concatenate(arrays, axis)]
    if group and one.shape[axis] % group == 0:
        blocks = [array.reshape(*one.shape[:axis], -1, group, *one.shape[axis + 1 :]) for array in arrays]
        ways.append(numpy.concatenate(blocks, axis + 1).reshape(ways[0].shape))
    return ways


def _difference(a: Any, b: Any) -> dict[str, Any]:
    """How much the elements of two arrays differ: by how much at most, where, and from which number to which."""
    import numpy

    found: dict[str, Any] = {"shapes": [list(a.shape), list(b.shape)], "absolute": 0.0, "relative": 0.0, "largest": 0.0, "cosine": None}
    found |= {"at": None, "values": None, "finite": a.size, "is_exact": a.dtype.kind not in "fc" and b.dtype.kind not in "fc"}
    found["is_constant"] = _is_constant(a)
    if a.shape != b.shape:
        return {**found, "absolute": None, "relative": None}
    if a.dtype.kind not in "fiub" or b.dtype.kind not in "fiub":
        differs = a != b
        at = tuple(map(int, numpy.argwhere(differs)[0])) if differs.any() else None
        return found if at is None else {**found, "absolute": None, "relative": None, "at": at, "values": [str(a[at]), str(b[at])]}
    x, y = a.astype("f8"), b.astype("f8")
    are_finite = numpy.isfinite(x) & numpy.isfinite(y)
    are_same = ~are_finite & ((x == y) | (numpy.isnan(x) & numpy.isnan(y)))
    with numpy.errstate(invalid="ignore", over="ignore"):
        distance = numpy.where(are_finite, abs(x - y), numpy.where(are_same, 0.0, numpy.inf))
    if not x.size:
        return found
    place = numpy.unravel_index(int(distance.argmax()), distance.shape)
    absolute, largest = float(distance[place]), float(abs(x).max(where=are_finite, initial=0.0))
    u, v = x[are_finite], y[are_finite]
    found["finite"], found["largest"], found["is_constant"] = u.size, largest, _is_constant(u)
    scales = float(numpy.linalg.norm(u)) * float(numpy.linalg.norm(v))
    found["cosine"] = float(u @ v) / scales if scales and numpy.isfinite(absolute) else None
    if absolute:
        found["at"], found["values"] = [int(index) for index in place], [str(a[place]), str(b[place])]
        is_finite = numpy.isfinite(absolute)
        found["absolute"] = absolute if is_finite else None
        found["relative"] = absolute / largest if is_finite and largest else None
    return found


def _is_constant(array: Any) -> bool:
    """Whether all elements are the same, or the only one is 0."""
    return bool((array == (array.flat[0] if array.size > 1 else 0)).all())


def main() -> None:
    """Answer requests until the input ends. OpenVINO's own lines go to the error stream, and it reports the use of itself to nobody."""
    requests, answers = (os.fdopen(os.dup(number), mode, encoding="utf-8") for number, mode in ((0, "r"), (1, "w")))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
    if can_limit():
        Allowance(memory=int(sys.argv[1])).bind()
    try:
        models = _Models()
    except ImportError as error:
        models, reason = None, f"openvino cannot be imported: {error}"
    for line in requests:
        request = json.loads(line)
        try:
            answer = {"missing": reason} if models is None else getattr(models, request.pop("do"))(**request)
        except MemoryError:
            answer = {"refused": "it needs more memory than the limit allows"}
        except Exception as error:
            lines = [text.strip() for text in str(error).splitlines() if text.strip()]
            answer = {"refused": (lines[-1] if lines else type(error).__name__)[:400]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
