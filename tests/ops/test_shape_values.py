"""Sizes followed through shape subgraphs: what a Reshape infers from a target that the graph computes."""

from collections.abc import Callable

import pytest

import irshape
from tests.support.ir import Net, Ref

Target = Callable[[Net, Ref], Ref]


def shape_of(net: Net, data: Ref) -> Ref:
    return net.layer("ShapeOf", [data], ["I64"], "opset3", output_type="i64")[0]


def reduced(type: str) -> Target:
    return lambda net, data: net.layer(type, [shape_of(net, data), net.const([0])], ["I64"], keep_dims=True)[0]


def moved(net: Net, data: Ref) -> Ref:
    rows = net.layer("Unsqueeze", [shape_of(net, data), net.const([0])], ["I64"])[0]
    column = net.layer("Reshape", [rows, net.const([-1, 1])], ["I64"])[0]
    return net.layer("Squeeze", [column, net.const([1])], ["I64"])[0]


def counted(net: Net, data: Ref) -> Ref:
    return net.layer("Range", [net.const(2), net.const(5), net.const(1)], ["I64"], "opset4", output_type="i64")[0]


def in_pairs(net: Net, data: Ref) -> Ref:
    pairs = net.layer("Reshape", [shape_of(net, data), net.const([-1, 2])], ["I64"])[0]
    return net.layer("ReduceProd", [pairs, net.const([1])], ["I64"])[0]


def as_floats(net: Net, data: Ref) -> Ref:
    floats = net.layer("Convert", [shape_of(net, data)], ["FP32"], destination_type="f32")[0]
    product = net.layer("ReduceProd", [floats, net.const([0])], ["FP32"], keep_dims=True)[0]
    return net.layer("Convert", [product], ["I64"], destination_type="i64")[0]


TARGETS: list[tuple[str, str, Target, str]] = [
    ("the same shape", "[N,3,H]", shape_of, "[N,3,H]"),
    ("product", "[N,2,3]", reduced("ReduceProd"), "[6*N]"),
    ("product of symbols", "[N,2,N]", reduced("ReduceProd"), "[2*N*N]"),
    ("product in pairs", "[N,H,3,W]", in_pairs, "[N*H,3*W]"),
    ("product in floats", "[N,2,3]", as_floats, "[6*N]"),
    ("sum", "[2,2]", reduced("ReduceSum"), "[4]"),
    ("largest", "[1,7,1]", reduced("ReduceMax"), "[7]"),
    ("smallest", "[1,1,1]", reduced("ReduceMin"), "[1]"),
    ("mean", "[1,1,1]", reduced("ReduceMean"), "[1]"),
    ("moved", "[N,3,H]", moved, "[N,3,H]"),
    ("range", "[24]", counted, "[2,3,4]"),
]


def reshaped(shape: str, target: Target, **attributes: object) -> str:
    net = Net()
    data = net.parameter("f32[...]")
    net.result(net.layer("Reshape", [data, target(net, data)], ["FP32"], **attributes)[0])
    inference = irshape.infer(net.xml.encode(), inputs={"parameter_0": shape}, weights=net.bin)
    assert inference.ok, inference.diagnostics
    return inference.layer(next(node.id for node in reversed(inference.model.nodes) if node.type == "Reshape")).outputs[0].formula


@pytest.mark.parametrize(("shape", "target", "expected"), [pytest.param(*row[1:], id=row[0]) for row in TARGETS])
def test_target(shape: str, target: Target, expected: str) -> None:
    assert reshaped(shape, target) == expected


PATTERNS = [
    ("[N,C,H,W]", [0, 0, -1], "[N,C,H*W]"),
    ("[N,64,7,7]", [-1, 3136], "[N,3136]"),
    ("[N,64,7,7]", [0, 8, -1], "[N,8,392]"),
    ("[N,H,12]", [0, 0, 3, 4], "[N,H,3,4]"),
    ("[N,H,12]", [-1, 4], "[3*N*H,4]"),
    ("[N,H]", [-1, 2], "[(N*H)//2,2]"),
]


@pytest.mark.parametrize(("shape", "pattern", "expected"), PATTERNS)
def test_pattern(shape: str, pattern: list[int], expected: str) -> None:
    assert reshaped(shape, lambda net, _: net.const(pattern), special_zero=True) == expected
