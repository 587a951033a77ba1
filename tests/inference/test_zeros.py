"""Reshapes to sizes of other inputs that turn out to be 0: no guard and no bound excludes a size with which OpenVINO can run the model.

IRSHAPE_ZEROS says how many random nets there shall be.
"""

import os
from itertools import product
from random import Random

import openvino
import pytest

import irshape
from irshape.shape.dim import evaluate, symbols
from tests.inference.test_soundness import sizes, static, value
from tests.support.ir import Net, Ref
from tests.support.oracle import core_of
from tests.support.rows import contains

NETS = int(os.environ.get("IRSHAPE_ZEROS", "120"))
CHUNKS = 8
BINDINGS = 40


class Reshaped:
    """A net with one Reshape of a Parameter to numbers, and to sizes of Parameters."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.net = Net()
        self.inputs: list[tuple[Ref, int]] = []
        data = self._parameter(3)
        others = [self._parameter(2) for _ in range(self.random.randint(1, 2))]
        is_own_size_used = self.random.random() < 0.6
        pieces: list[Ref] = []
        has_rest = self.random.random() < 0.5
        self.rest = -1  # the place of the -1
        for place in range(self.random.randint(1, 3)):
            if place == 1 and has_rest:
                self.rest = place
                pieces.append(self.net.const([-1]))
            else:
                pieces.append(self._size([*others, data] if is_own_size_used else others))
        shape = self.net.layer("Concat", pieces, ["I64"], axis=0)[0]
        is_special = self.random.random() < 0.7
        self.layer = self.net.layer("Reshape", [data[0], shape], ["FP32"], special_zero=is_special)[0]
        for ref in (self.layer, *(ref for ref, _ in others)):
            self.net.result(ref)

    def _parameter(self, most: int) -> tuple[Ref, int]:
        dims = [self.random.choice(("?", "?", "?", "2", "6", "0..6")) for _ in range(self.random.randint(1, most))]
        self.inputs.append((self.net.parameter(f"f32[{','.join(dims)}]"), len(dims)))
        return self.inputs[-1]

    def _size(self, sources: list[tuple[Ref, int]]) -> Ref:
        """A number, or the size of an axis, as it is or computed with."""
        random, net = self.random, self.net
        if random.random() < 0.2:
            return net.const([random.choice((1, 2, 3, 6, 0))])
        source, rank = random.choice(sources)
        shape = net.layer("ShapeOf", [source], ["I64"], "opset3", output_type="i64")[0]
        size = net.layer("Gather", [shape, net.const([random.randrange(rank)]), net.const(0)], ["I64"], "opset8", batch_dims=0)[0]
        kind, operand = random.choice((("Minimum", 4), ("Multiply", 2), ("Divide", 2), ("Maximum", 1), *[("", 0)] * 8))
        return net.layer(kind, [size, net.const([operand])], ["I64"])[0] if kind else size


def faults(seed: int) -> list[str]:
    """What irshape says of a net that OpenVINO contradicts with numbers.

    A premise must hold for a formula and for the size of -1, but not for other bounds.
    """
    reshaped = Reshaped(seed)
    net, layer = reshaped.net, reshaped.layer
    inference = irshape.infer(net.xml.encode(), weights=net.bin, symbols_as="raw")
    if not inference.ok or any(one.code == "R401" for one in inference.diagnostics):  # OpenVINO compares nothing beside a 0 that copies
        return []
    shapes = {f"parameter_{ref.layer}": inference.layer(ref.layer).outputs[0].shape for ref, _ in reshaped.inputs}
    unknown = [size for shape in shapes.values() for size in shape if not isinstance(size, int)]
    (output,) = inference.layer(layer.layer).outputs
    shown = openvino.PartialShape(repr(output).removeprefix("f32"))
    read = core_of(net.xml.encode()).read_model(net.xml.encode(), net.bin)
    theirs = next(op for op in read.get_ops() if op.get_type_name() == "Reshape").get_output_partial_shape(0)
    wrong = []
    bindings = list(product(range(7), repeat=len(unknown)))
    for numbers in reshaped.random.sample(bindings, min(BINDINGS, len(bindings))):
        values = dict(zip(map(str, unknown), numbers, strict=True))
        fixed = static(net.xml, {name: [evaluate(size, values) for size in shape] for name, shape in shapes.items()})
        found = sizes(fixed, net.bin)
        if isinstance(found, str) or any(one.code == "R401" for one in irshape.check(fixed, weights=net.bin).diagnostics):
            continue  # the second reads and does not run: OpenVINO compares nothing beside a 0 that copies
        ((told,),) = (outputs for name, outputs in found.items() if name.startswith("reshape"))
        broken = [one for one in inference.guards if one.requirement.symbols() <= values.keys() and not one.requirement.holds(values)]
        is_assumed = not any(one.is_premise for one in broken)
        if is_assumed:
            wrong += [f"{seed}, {values}: demanded: {one}" for one in broken]
            for ours, one in zip(output.shape, told, strict=True):
                if symbols(ours) <= values.keys() and value(ours, values) != one:
                    wrong.append(f"{seed}, {values}: {ours} is {one}")
        wrong += [f"{seed}, {values}: demanded: {one}" for one in broken if one.requirement.kind == "eq" and not one.is_premise]
        for place, (ours, own, one) in enumerate(zip(shown, theirs, told, strict=True)):
            if place != reshaped.rest and is_in(one, own) and not is_in(one, ours):
                wrong.append(f"{seed}, {values}: {told} in {shown}")
    return wrong


def is_in(size: int, dim: openvino.Dimension) -> bool:
    """Whether a dimension may be this size."""
    return contains(openvino.PartialShape([dim]), openvino.PartialShape([size]))


@pytest.mark.slow("take long")
@pytest.mark.oracle
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_size_of_0_is_excluded_only_where_openvino_refuses_it(chunk: int) -> None:
    assert [fault for seed in range(chunk, NETS, CHUNKS) for fault in faults(seed)] == []
