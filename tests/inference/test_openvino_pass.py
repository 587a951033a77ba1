"""OpenVINO's view of sizes, held against OpenVINO.

The rows of all operations are the probes, as they stand and with sizes blurred to intervals. The shapes that a `OpenVINOPass` infers must
not be tighter than OpenVINO's, and equal in nearly all. Where irshape's own shapes are tighter, a second layer contradicts them: irshape
must report an error exactly where OpenVINO refuses.
"""

import random
import re
from collections.abc import Iterator
from functools import cache
from math import inf
from typing import Any, NamedTuple

import pytest

import irshape
from irshape.inference.engine import Engine
from irshape.inference.verdict import OpenVINOPass
from irshape.model.load import loaded
from irshape.ops.registry import REGISTRY
from irshape.shape.dim import Size, bounds
from irshape.shape.shape import Shape, format_shape
from tests.support.ir import Const, Net, Ref
from tests.support.oracle import core, reads
from tests.support.rows import WITHOUT_OPENVINO, Differs, Row, attributes_of, inputs_of, is_refused, outputs_of, tables

# Rows of which irshape's view of OpenVINO is tighter than OpenVINO, or which it judges otherwise, with the reasons.
LISTED = {
    "Convolution negative stride": "OpenVINO does not know how many steps of an unknown number it makes",
    "Convolution negative pad": "OpenVINO reads pads that sum to -1 as an unknown number",
    "ConvolutionBackpropData shape not constant": "OpenVINO infers no spatial axes",
    "GroupConvolutionBackpropData shape not constant": "OpenVINO infers no spatial axes",
    "GroupConvolution no channels and filters not known": "irshape knows that the axis is empty, OpenVINO that it is short",
    "Interpolate negative scale": "OpenVINO multiplies bounds by the negative scale, which leaves no size",
    "MaxPool kernel of 0 and bounds": "OpenVINO counts a kernel of 0 as one that reaches before the data",
    "AvgPool kernel of 0 and bounds": "OpenVINO counts a kernel of 0 as one that reaches before the data",
    "STFT not looked at": "no size is unknown to irshape, so no OpenVINOPass is made",
}

# The least share of the outputs of which irshape's view is equal to OpenVINO's.
EQUAL = 0.99


class Probe(NamedTuple):
    """A row of an operation with the inputs that a probe gives it."""

    type: str
    version: str
    row: Row
    inputs: tuple[str | Const, ...]

    @property
    def name(self) -> str:
        """How a failure names the probe."""
        return f"{self.type} {self.version} {self.row[0]}: {' '.join(map(str, self.inputs))}"

    def net(self) -> tuple[Net, list[Ref]]:
        """The layer with its inputs, and its outputs."""
        net = Net()
        refs = [net.const(*one) if isinstance(one, Const) else net.parameter(one) for one in self.inputs]
        outputs = net.layer(self.type, refs, ["FP32"] * len(outputs_of(self.row)), self.version, **attributes_of(self.row))
        return net, outputs

    @property
    def is_listed(self) -> bool:
        """Whether the row is one of those that are listed."""
        return f"{self.type} {self.row[0]}" in LISTED


def probes(blurred: int = 3, seed: int = 0) -> Iterator[Probe]:
    """Each accepted row as it stands, and with some sizes of its Parameters blurred."""
    chance = random.Random(seed)
    for table in tables():
        if table.version in WITHOUT_OPENVINO or REGISTRY.find(table.type, table.version) is None:
            continue
        for row in table.rows:
            if is_refused(row) or isinstance(row[-1], Differs):
                continue
            given = tuple(inputs_of(row))
            variants = [given, *(tuple(one if isinstance(one, Const) else blur(one, chance) for one in given) for _ in range(blurred))]
            for inputs in {str(inputs): inputs for inputs in variants}.values():
                yield Probe(table.type, table.version, row, inputs)


def blur(fact: str, chance: random.Random) -> str:
    """A Parameter with some numbers among its sizes replaced by intervals around them, or by none."""

    def blurred(match: re.Match[str]) -> str:
        size = int(match[0])
        low, high = max(size - chance.randint(0, 3), 0), size + chance.randint(0, 3)
        return chance.choice([match[0], match[0], "?", f"{low}..{high}" if low < high else match[0]])

    element_type, bracket, sizes = fact.partition("[")
    return element_type + bracket + re.sub(r"(?<![\d.])\d+(?![\d.])", blurred, sizes)


class Seen(NamedTuple):
    """The shapes of the outputs of a probe: irshape's own, those of the OpenVINOPass, and OpenVINO's."""

    probe: Probe
    ours: list[Shape]
    reduced: list[Shape]
    openvino: list[Any]
    types: list[str]


@cache
def seen() -> list[Seen]:
    """The probes that irshape and OpenVINO accept."""
    result = []
    for probe in probes():
        net, outputs = probe.net()
        for ref in outputs:
            net.result(ref)
        model, weights = loaded(net.xml.encode(), net.bin)
        engine = Engine(model, weights)
        engine.run()
        reduced = OpenVINOPass.of(engine)
        reduced.run()
        (first,) = [node.first_slot for node in model.nodes if int(node.id) == outputs[0].layer]
        slots = range(first, first + len(outputs))
        if any(side.slots[slot].is_poisoned for side in (engine, reduced) for slot in slots):
            continue
        try:
            results = core().read_model(net.xml.encode(), net.bin).get_results()
        except RuntimeError:
            continue
        theirs = [result.input_value(0) for result in sorted(results, key=lambda one: int(one.get_friendly_name().split("_")[-1]))]
        result.append(
            Seen(
                probe,
                [engine.slots[slot].shape for slot in slots],
                [reduced.slots[slot].shape for slot in slots],
                [one.get_partial_shape() for one in theirs],
                [str(engine.slots[slot].element_type) for slot in slots],
            )
        )
    return result


def ends_of(shape: Any) -> list[tuple[float, float]] | None:
    """The ends of the sizes of an openvino.PartialShape; a size of no values is any size."""
    if shape.rank.is_dynamic:
        return None
    ends = []
    for dim in shape:
        low, high = dim.min_length, dim.max_length
        ends.append((max(low, 0), inf if high < 0 or high >= 2**31 - 1 else high) if high < 0 or low <= high else (0, inf))
    return ends


def ours_of(shape: Shape) -> list[tuple[float, float]] | None:
    """The ends of the sizes of a shape."""
    return None if shape is None else [_ends(size) for size in shape]


def _ends(size: Size) -> tuple[float, float]:
    low, high = bounds(size)
    return low, high if high < 2**31 - 1 else inf


def is_tighter(ours: list[tuple[float, float]] | None, theirs: list[tuple[float, float]] | None) -> bool:
    """Whether the first ends exclude a shape that the second ones allow."""
    if ours is None or theirs is None:
        return theirs is None and ours is not None
    return any(low > least or high < most for (low, high), (least, most) in zip(ours, theirs, strict=True))


def contradictions(one: Seen, chance: random.Random) -> Iterator[tuple[str, Net]]:
    """Nets in which a second layer contradicts what irshape knows of a size of an output, or goes along with it."""
    for position, (shape, theirs) in enumerate(zip(one.ours, one.openvino, strict=True)):
        ours, seen = ours_of(shape), ends_of(theirs)
        if ours is None or seen is None or len(ours) != len(seen):
            continue
        axes = [axis for axis, (own, other) in enumerate(zip(ours, seen, strict=True)) if is_tighter([own], [other])]
        for axis in chance.sample(axes, min(len(axes), 1)):
            (low, high), (least, most) = ours[axis], seen[axis]
            sizes = [size for size in (low - 1, high + 1, least, most, least - 1, most + 1) if 0 <= size < 2**31]
            size = int(chance.choice(sizes))
            for follower in chance.sample([concatenated, added, multiplied, split_up], 2):
                net, outputs = one.probe.net()
                follower(net, outputs[position], one.types[position], len(ours), axis, size)
                yield f"{one.probe.name}, {follower.__name__} {size} at axis {axis} of output {position}", net


def concatenated(net: Net, output: Ref, element_type: str, rank: int, axis: int, size: int) -> None:
    """Join the output to data that is as large on an axis, or along it if there is no other."""
    other = net.parameter(f"{element_type}[{sizes_of(rank, axis, size, '?')}]")
    net.result(net.layer("Concat", [output, other], ["FP32"], axis=(axis + 1) % rank)[0])


def added(net: Net, output: Ref, element_type: str, rank: int, axis: int, size: int) -> None:
    """Compare the output with data that is as large on an axis."""
    other = net.parameter(f"{element_type}[{sizes_of(rank, axis, size, '1')}]")
    net.result(net.layer("Equal", [output, other], ["BOOL"])[0])


def multiplied(net: Net, output: Ref, element_type: str, rank: int, axis: int, size: int) -> None:
    """Sum over an axis of the output, with weights that are as many."""
    labels = "abcdefgh"[:rank]
    other = net.parameter(f"{element_type}[{size}]")
    net.result(net.layer("Einsum", [output, other], ["FP32"], "opset7", equation=f"{labels},{labels[axis]}->")[0])


def split_up(net: Net, output: Ref, element_type: str, rank: int, axis: int, size: int) -> None:
    """Split an axis of the output into so many parts."""
    net.result(net.layer("Split", [output, net.const(axis)], ["FP32"] * max(size, 1), num_splits=max(size, 1))[0])


def sizes_of(rank: int, axis: int, size: int, other: str) -> str:
    """The sizes of a Parameter: one on an axis, `other` on the rest."""
    return ",".join(str(size) if place == axis else other for place in range(rank))


@pytest.mark.slow("take long")
@pytest.mark.oracle
def test_the_view_is_not_tighter_than_openvino() -> None:
    """A OpenVINOPass knows no more of a shape than OpenVINO, and hardly ever less."""
    equal, tighter = 0, []
    outputs = [
        (one.probe, ours_of(ours), ends_of(theirs), f"{format_shape(ours)}, OpenVINO {theirs}")
        for one in seen()
        if not one.probe.is_listed
        for ours, theirs in zip(one.reduced, one.openvino, strict=True)
    ]
    for probe, ours, theirs, text in outputs:
        equal += ours == theirs
        if is_tighter(ours, theirs):
            tighter.append(f"{probe.name} is {text}")
    assert tighter == []
    assert equal >= EQUAL * len(outputs), f"{equal} of {len(outputs)} are equal"


@pytest.mark.slow("take long")
@pytest.mark.oracle
def test_an_error_is_what_openvino_refuses() -> None:
    """A layer that contradicts what irshape alone knows is no error; one that contradicts what OpenVINO knows is."""
    chance = random.Random(1)
    others = []
    verdicts = set()
    for one in seen():
        for name, net in contradictions(one, chance):
            is_read = reads(net.xml.encode(), net.bin)
            verdicts.add(is_read)
            if irshape.infer(net.xml.encode(), weights=net.bin).ok != is_read and not one.probe.is_listed:
                others.append(f"OpenVINO {'accepts' if is_read else 'refuses'} {name}")
    assert others == []
    assert verdicts == {True, False}
