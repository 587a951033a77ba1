"""Random subgraphs of small numbers, beside OpenVINO: `python -m tests.fuzz.beside --first N --count N`.

irshape must accept what OpenVINO accepts, and infer no looser bounds. OpenVINO tells its own faults: where the shape that it infers of
numbers is outside the bounds that it has inferred of the open sizes, nothing is compared.
"""

import random
import sys
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import openvino

from irshape import verbs
from irshape.inference.inference import Inference
from irshape.shape.dim import bounds, evaluate
from tests.fuzz.apart import main
from tests.fuzz.values import Graph
from tests.support.ir import Net

# OpenVINO has halves of the largest int64 where a size has no bound.
UNBOUNDED = 1 << 47
WITNESSES = 8


class SmallGraph(Graph):
    """A net of sizes and numbers that no operation carries out of their types, and of the types that OpenVINO computes with."""

    sizes: ClassVar = ["?", "?", "1..9", "0..3", "..7", "2..", "5", "3..5", "7..11", "1.."]
    ints: ClassVar = [0, 1, 2, 3, 4, 5, 7, 10, -1, -2]
    reals: ClassVar = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 7.0, -1.0, -2.0]
    types: ClassVar = ["i64", "i64", "i64", "i32", "f32"]


def sizes_of(shape: Any) -> list[tuple[int, int]] | None:
    """The bounds of an openvino.PartialShape, None if it has no rank."""
    if shape.rank.is_dynamic:
        return None
    tops = [dim.max_length for dim in shape]
    return [(dim.min_length, UNBOUNDED if top < 0 or top >= UNBOUNDED else top) for dim, top in zip(shape, tops, strict=True)]


def is_within(inner: list[tuple[int, int]] | None, outer: list[tuple[int, int]] | None) -> bool:
    """Whether all shapes of one description are shapes of the other."""
    if inner is None or outer is None:
        return outer is None
    return len(inner) == len(outer) and all(a[0] >= b[0] and a[1] <= b[1] for a, b in zip(inner, outer, strict=True))


def bounds_of(inference: Inference, size: Any) -> tuple[int, int]:
    """The bounds of a size that irshape reports."""
    low, high = inference.bounds(size)
    return int(low), int(min(high, UNBOUNDED))


def witnesses(net: Net, chance: random.Random, inference: Inference) -> Iterator[Mapping[str, list[int]]]:
    """Numbers for the sizes of the inputs, for which no condition is broken, and no layer is never valid."""
    parameters = {node.name: inference.view(node).outputs[0].shape or () for node in inference.model.parameters}
    unknown = sorted({size for shape in parameters.values() for size in shape if not isinstance(size, int)}, key=str)
    names = {str(size) for size in unknown}
    if any(guard.is_premise and not guard.requirement.symbols() <= names for guard in inference.guards):
        return  # numbers for the inputs do not tell whether the premise holds
    for _ in range(WITNESSES):
        values = {}
        for size in unknown:
            low, high = bounds(size)
            values[str(size)] = chance.randint(int(low), int(min(high, low + 12)))
        told = [guard.requirement for guard in inference.guards if guard.requirement.symbols() <= values.keys()]
        shapes = {name: [evaluate(size, values) for size in shape] for name, shape in parameters.items()}
        if all(one.holds(values) for one in told) and not is_never_valid(net, shapes):
            yield shapes


def is_never_valid(net: Net, shapes: Mapping[str, list[int]]) -> bool:
    """Whether irshape says of these numbers that OpenVINO accepts them and cannot run, such as more elements of TopK than there are."""
    numbers = verbs.infer(net.xml.encode(), weights=net.bin, inputs=shapes)
    return any(one.code == "R401" for one in numbers.diagnostics)


def differences(net: Net, chance: random.Random) -> Iterator[str]:
    """What irshape says of a net that OpenVINO does not; `chance` chooses the numbers that stand in for open sizes."""
    xml, weights = net.xml.encode(), net.bin
    inference = verbs.infer(xml, weights=weights)
    try:
        model = openvino.Core().read_model(xml, weights)
    except (RuntimeError, ValueError) as error:  # a division by 0 is a ValueError
        if inference.ok:
            yield f"OpenVINO refuses it: {str(error).strip().splitlines()[-1][:120]}"
        return
    if not inference.ok:
        yield f"OpenVINO accepts it, but: {inference.diagnostics[0]}"
        return
    results = [node.sources[0] for node in inference.model.results]
    ours = []
    for number, node in enumerate(inference.model.results):
        tensor, name = inference.view(node).inputs[0], model.output(number).get_element_type().get_type_name()
        if tensor.element_type.name != name:
            yield f"result {number} is of {tensor.element_type}, OpenVINO infers {name}"
        shape = tensor.shape
        ours.append(None if shape is None else [bounds_of(inference, size) for size in shape])
    theirs = [sizes_of(output.get_partial_shape()) for output in model.outputs]
    loose = {number for number, (a, b) in enumerate(zip(ours, theirs, strict=True)) if not is_within(a, b)}
    for sizes in witnesses(net, chance, inference):
        try:
            model.reshape({one.output(0): openvino.PartialShape(sizes[one.get_friendly_name()]) for one in model.get_parameters()})
        except (RuntimeError, ValueError):
            continue
        found = [sizes_of(output.get_partial_shape()) for output in model.outputs]
        known = [(number, one) for number, one in enumerate(found) if one is not None and all(low == high for low, high in one)]
        for number, one in known:
            if not is_within(one, theirs[number]):
                return  # the fault is OpenVINO's, and the tensors behind have it, too
        for number, one in known:
            if not is_within(one, ours[number]):
                yield f"result {number} with {sizes} is {one}, not in {ours[number]}"
    for number in sorted(loose):
        yield f"result {number} is {ours[number]}, OpenVINO infers {theirs[number]} ({results[number]})"


def findings(seed: int) -> Iterator[str]:
    """What irshape says of the net of a seed that OpenVINO does not."""
    graph = SmallGraph(random.Random(seed))
    return differences(graph.net, graph.chance)


if __name__ == "__main__":
    sys.exit(main("tests.fuzz.beside", __doc__, findings, 100))
