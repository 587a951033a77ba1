"""The layers that a signature names for a condition are those that make it, together if need be."""

from itertools import pairwise

import pytest

import irshape
from tests.support.ir import Net, Ref


def halved(net: Net, data: Ref, stride: int, kernel: int = 1) -> Ref:
    attributes = {"strides": stride, "pads_begin": 0, "pads_end": 0, "kernel": kernel, "rounding_type": "floor"}
    return net.layer("MaxPool", [data], ["FP32"], **attributes)[0]


def joined(net: Net, data: list[Ref], axis: int) -> Ref:
    return net.layer("Concat", data, ["FP32"], axis=axis)[0]


def pyramid(least: int) -> irshape.Signature:
    """A pyramid of three levels, whose sizes two layers compare, and a window of `least` elements."""
    net = Net()
    data = net.parameter("f32[1,1,?]")
    net.result(halved(net, data, 1, least))
    levels = [halved(net, data, stride) for stride in (8, 16, 32)]
    for large, small in pairwise(levels):
        net.result(joined(net, [large, joined(net, [small, small], 2)], 1))
    return irshape.signature(net.xml.encode(), weights=net.bin)


@pytest.mark.parametrize(
    ("least", "text", "types"),
    [
        (20, "L >= 25 and (L + 7) % 32 <= 7", ["Concat", "Concat"]),
        (25, "L >= 25 and (L + 7) % 32 <= 7", ["Concat", "Concat"]),
        (60, "L >= 60 and (L + 7) % 32 <= 7", ["MaxPool", "Concat", "Concat"]),
    ],
)
def test_the_layers_that_make_a_condition(least: int, text: str, types: list[str]) -> None:
    [condition] = pyramid(least).conditions
    assert (condition.text, [guard.node.type for guard in condition.guards]) == (text, types)


def test_of_layers_that_bound_a_size_alike_the_first_is_named() -> None:
    net = Net()
    data = net.parameter("f32[1,1,?]")
    for _ in range(3):
        net.result(halved(net, data, 1, 25))
    net.result(net.layer("Slice", [data, net.const([0]), net.const([3]), net.const([1]), net.const([2])], ["FP32"], "opset8")[0])
    [condition] = irshape.signature(net.xml.encode(), weights=net.bin).conditions
    assert (condition.text, [guard.node.name for guard in condition.guards]) == ("L >= 25", ["maxpool_1"])
