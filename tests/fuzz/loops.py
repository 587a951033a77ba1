"""Random Loops, run by OpenVINO's CPU plugin: `python -m tests.fuzz.loops --first N --count N`.

The shapes that it gives must be those that irshape infers, unless a premise is broken, such as that an iteration runs. The CPU plugin
ends the process on some Loops, so each is run in a process of its own.
"""

import sys
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy
import openvino

import irshape
from irshape.inference.run import Guard
from irshape.shape.dim import bounds, evaluate, symbols
from tests.fuzz.apart import main
from tests.inference.test_bodies import JOINED, OTHER_AXIS, inside, layer_of, loop
from tests.support.ir import Net, Ref

FACTS = [
    "f32[2,3]", "f32[1,3]", "f32[?,3]", "f32[1..2,3]", "f32[2..5,3]", "f32[0..3,1..4]", "f32[?,1]", "f32[1,?]",
    "f32[3,2..3]", "f32[?,?]",
]  # fmt: skip


def grown(random: Random, net: Net, value: Ref) -> Ref:
    """One operation on a tensor of rank 2, which keeps or changes its shape."""
    axis = random.randrange(2)
    kind = random.choice(["ReLU", "ReLU", "Concat", "longer", "Slice", "Slice", "ReduceSum", "Transpose", "Pad"])
    if kind == "Concat":
        return net.layer(kind, [value, value], ["FP32"], axis=axis)[0]
    if kind == "longer":
        one = net.layer("ReduceSum", [value, net.const([axis])], ["FP32"], keep_dims=True)[0]
        return net.layer("Concat", [value, one], ["FP32"], axis=axis)[0]
    if kind == "Slice":
        limits = [net.const([one]) for one in (random.choice([0, 0, 1, -2]), random.choice([2, 4, -1, 99]), 1, axis)]
        return net.layer(kind, [value, *limits], ["FP32"], "opset8")[0]
    if kind == "ReduceSum":
        return net.layer(kind, [value, net.const([axis])], ["FP32"], keep_dims=True)[0]
    if kind == "Transpose":
        return net.layer(kind, [value, net.const([1, 0])], ["FP32"])[0]
    if kind == "Pad":
        pads = net.const([int(axis == 0), int(axis == 1)])
        return net.layer(kind, [value, pads, net.const([0, 0]), net.const(0.0, "f32")], ["FP32"], pad_mode="constant")[0]
    return net.layer("ReLU", [value], ["FP32"])[0]


def contradictions(seed: int) -> Iterator[str]:
    """Where OpenVINO's CPU plugin gives a shape of a random Loop that irshape's answer rules out."""
    random = Random(f"loop {seed}")
    fact, trips, entered = random.choice(FACTS), random.choice([None, None, "N", 2]), random.choice([True, True, None])
    output = random.choice(["", "", "", JOINED, OTHER_AXIS])

    def operate(net: Net, value: Ref) -> Ref:
        for _ in range(random.randint(1, 2)):
            value = grown(random, net, value)
        return value

    back = not output and random.random() < 0.7  # parts can be joined only if all iterations give one shape
    net = loop(fact, inside(operate), trips=trips, entered=entered, back=back, output=output)
    xml, core = net.xml.encode(), openvino.Core()
    inference = irshape.infer(xml, weights=net.bin, inputs={"parameter_0": "[N]"} if trips == "N" else {}, symbols_as="raw")
    try:
        model = core.read_model(xml, net.bin)
        compiled = core.compile_model(model, "CPU")
    except RuntimeError:
        return
    if not inference.ok:
        yield f"OpenVINO compiles it, but: {inference.diagnostics[0]}"
        return
    shape = inference.layer(layer_of(net)).outputs[0].shape
    given = inference.layer(layer_of(net) - 1).outputs[0].shape
    assert given is not None
    for count in (0, 1, 2, 3):
        for is_entered in (True,) if entered else (True, False):
            values = {str(size): random.randint(int(bounds(size)[0]), int(min(bounds(size)[1], 5))) for size in given if _is_open(size)}
            data = numpy.ones([evaluate(size, values) for size in given], numpy.float32)
            feeds: list[Any] = [] if trips == 2 else [numpy.array(count)] if trips is None else [numpy.ones(count, numpy.float32)]
            feeds += [numpy.array(is_entered)] * (entered is None) + [data]
            try:
                real = compiled(feeds)[0].shape
            except RuntimeError:
                continue
            values |= {"N": count} if trips == "N" else {}
            runs = is_entered and (trips == 2 or count > 0)
            if any(_is_broken(guard, values, runs=runs) for guard in inference.guards):
                continue
            where = f"{fact} of {data.shape}, {count} trips, entered {is_entered}"
            if shape is not None and len(shape) != len(real):
                yield f"{where}: {shape} is {real}"
                continue
            for size, number in zip(shape or (), real, strict=False):
                low, high = bounds(size)
                if not low <= number <= high or (symbols(size) <= values.keys() and evaluate(size, values) != number):
                    yield f"{where}: {size} in {low}..{high} is {number}"


def _is_open(size: Any) -> bool:
    return not isinstance(size, int)


def _is_broken(guard: Guard, values: dict[str, int], *, runs: bool) -> bool:
    """Whether a guard is broken by these sizes, in a run that has an iteration or none."""
    if "at least one iteration" in guard.requirement.message:
        return not runs
    return guard.requirement.symbols() <= values.keys() and not guard.requirement.holds(values)


if __name__ == "__main__":
    sys.exit(main("tests.fuzz.loops", __doc__, contradictions, 100))
