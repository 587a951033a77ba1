"""The numbers of two models for the same random inputs, by OpenVINO, which is imported for this alone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from math import inf
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from irshape.report.text import counted

if TYPE_CHECKING:
    from irshape.editing.graph import Graph

# Two numbers are equal if they differ by no more than this part of the largest number of the tensor, or of 1.
_TOLERANCE: Final = 1e-4
# The sizes that are tried for open axes, and the number of trials for each run.
_SIZES: Final = (2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 160, 224, 256, 320, 1)
_TRIES: Final = 60
# A model that runs with none of the first sizes is not compared.
_FAILURES: Final = 4


class ComparisonError(Exception):
    """The models cannot be compared: OpenVINO is missing or refuses one of them, or no sizes are known that the model accepts."""


class Comparison(NamedTuple):
    """The number of runs, the largest difference between two numbers, and each difference that is no rounding, in words."""

    runs: int
    largest: float
    differences: list[str]


def compare(before: Graph, after: Graph, count: int) -> Comparison:
    """Run two models with the same random inputs, so many times. Raises `ComparisonError`."""
    try:
        import openvino
    except ImportError:
        raise ComparisonError("a comparison runs both models with OpenVINO, which is not installed: pip install openvino") from None
    import numpy

    largest, differences = 0.0, []
    with TemporaryDirectory() as folder:
        one, other = (
            _compiled(openvino, graph, os.path.join(folder, f"{number}.xml"), which)
            for number, (graph, which) in enumerate(((before, "the model"), (after, "the simplified model")))
        )
        runs = 0
        for number, shapes in enumerate(_shapes(before)):
            random = numpy.random.default_rng(number)
            feeds = [_array(openvino, port, shape, random) for port, shape in zip(one.inputs, shapes, strict=True)]
            try:
                expected = _run(one, feeds, "the model")
            except ComparisonError:
                if not runs and number == _FAILURES:
                    raise
                continue  # the first values of variables may not fit these sizes
            runs += 1
            for name, difference, shown in _differences(one, other, feeds, expected):
                largest = max(largest, difference)
                if difference > _TOLERANCE:
                    differences.append(f"run {runs}: output {name} differs {shown}")
            if runs == count:
                break
    return Comparison(runs, largest, differences)


def _differences(one: Any, other: Any, feeds: list[Any], expected: list[Any]) -> Iterator[tuple[str, float, str]]:
    """The name of each output, how much it differs, and that in words. Raises `ComparisonError` for a model that does not repeat itself."""
    found = _run(other, feeds, "the simplified model")
    for index, (numbers, others) in enumerate(zip(expected, found, strict=True)):
        difference = _difference(numbers, others)
        name = next(iter(sorted(one.outputs[index].get_names())), str(index))
        if difference > _TOLERANCE and _difference(numbers, _run(one, feeds, "the model")[index]) > _TOLERANCE:
            raise ComparisonError(f"the model itself gives other numbers for output {name} in a second run, as with RandomUniform")
        yield name, difference, f"by {difference:.2g}" if difference < inf else f"in shape or type: {_told(numbers)}, {_told(others)}"


def _compiled(openvino: Any, graph: Graph, path: str, which: str) -> Any:
    """A model as OpenVINO compiles it."""
    graph.write(path, force=True)
    try:
        return openvino.Core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    except RuntimeError as error:
        raise ComparisonError(f"OpenVINO does not compile {which}: {_line(error)}") from None


def _run(compiled: Any, feeds: list[Any], which: str) -> list[Any]:
    """The outputs for some inputs. Variables begin anew."""
    request = compiled.create_infer_request()
    try:
        request.infer(dict(enumerate(feeds)))
    except RuntimeError as error:
        raise ComparisonError(f"OpenVINO does not run {which} with {_shapes_text(feeds)}: {_line(error)}") from None
    return [request.get_output_tensor(index) for index in range(len(compiled.outputs))]


def _shapes(graph: Graph) -> Iterator[list[tuple[int, ...]]]:
    """Shapes for the inputs of a model that it accepts, random ones where they are open. Raises `ComparisonError` if none is found."""
    import irshape.verbs as inner
    from irshape.inference.inputs import InputError

    order = [tensor.layer.name for tensor in graph.inputs]
    shapes = [tensor.shape for tensor in graph.inputs]
    static = [tuple([size for size in shape or () if isinstance(size, int)]) for shape in shapes]
    if all(shape is not None and len(shape) == len(known) for shape, known in zip(shapes, static, strict=True)):
        while True:
            yield static
    draft = graph._draft
    model, weights = draft.built()
    signature = inner.signature(model, weights=weights, opaque=draft.opaque)
    is_found = False
    try:
        for sizes in _sizes(signature.symbols):
            assigned = signature.assign(sizes)
            if assigned is not None:
                is_found = True
                yield [assigned[name] for name in order]
    except InputError as error:
        raise ComparisonError(str(error)) from None
    if not is_found:
        raise ComparisonError("no sizes of the inputs are found that the model accepts; set them with --input or --set")


def _sizes(symbols: Mapping[str, Any]) -> Iterator[dict[str, int]]:
    """Random sizes of symbols in their ranges."""
    import numpy

    random = numpy.random.default_rng(0)
    for number in range(_TRIES):
        most = _SIZES[int(random.integers(4, len(_SIZES)))]
        sizes = {}
        for name, known in symbols.items():
            fitting = [size for size in _SIZES if size <= most and known.low <= size <= known.high]
            fitting = [size for size in fitting if (size - known.remainder) % known.modulus == 0] or [int(known.low)]
            sizes[name] = int(random.choice(fitting))
            if known.low == 0 and number % 2 == 0:  # perhaps the length of a variable, which begins empty
                sizes[name] = 0
        yield sizes


def _array(openvino: Any, port: Any, shape: tuple[int, ...], random: Any) -> Any:
    """A random tensor. Integers are 0 or 1, so that they are indices of anything."""
    name = port.get_element_type().get_type_name()
    tensor = openvino.Tensor(port.get_element_type(), openvino.Shape(shape))
    if name in ("f16", "f32", "f64"):
        tensor.data[...] = random.standard_normal(shape)
    elif name in ("boolean", "i8", "i16", "i32", "i64", "u16", "u32", "u64"):
        tensor.data[...] = random.integers(0, 2, shape)
    elif name == "u8":
        tensor.data[...] = random.integers(0, 256, shape)
    else:
        raise ComparisonError(f"the input {port.get_any_name()} has elements of type {name}, and a comparison makes no random ones")
    return tensor


def _difference(one: Any, other: Any) -> float:
    """The largest difference between the elements of two tensors, as a part of the largest one; infinite if they are no alike tensors."""
    import numpy

    if one.get_element_type() != other.get_element_type() or list(one.shape) != list(other.shape):
        return inf
    a, b = numpy.asarray(one.data), numpy.asarray(other.data)
    if a.dtype.kind not in "fiub":
        return 0.0 if numpy.array_equal(a, b) else inf
    a, b = a.astype("f8"), b.astype("f8")
    is_finite = numpy.isfinite(a)
    if not numpy.array_equal(a[~is_finite], b[~is_finite], equal_nan=True) or not numpy.isfinite(b[is_finite]).all():
        return inf
    a, b = a[is_finite], b[is_finite]
    return float(abs(a - b).max() / max(1.0, abs(a).max())) if a.size else 0.0


def _told(tensor: Any) -> str:
    return f"{tensor.get_element_type().get_type_name()}{list(tensor.shape)}"


def _shapes_text(feeds: list[Any]) -> str:
    return f"{counted(len(feeds), 'input')}: {', '.join(map(_told, feeds))}"


def _line(error: Exception) -> str:
    """The last line of a message of OpenVINO, which says the reason."""
    return next((line.strip() for line in reversed(str(error).splitlines()) if line.strip()), "")
