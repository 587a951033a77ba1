"""Shape operations, and sizes that travel through subgraphs of them."""

from collections.abc import Callable

import pytest

import irshape
from tests.support.ir import Net, Ref
from tests.support.rows import Rows, row_tests

ROWS: Rows = {
    ("ShapeOf", "opset1"): [("static", "f32[2,3]", "i64[2]"), ("bounds", "f32[2..5,?]", "i64[2]"), ("unranked", "f32[...]", "i64[?]")],
    ("ShapeOf", "opset3"): [
        ("i32", "f32[2..5,?]", {"output_type": "i32"}, "i32[2]"),
        ("no type", "f32[2]", "A101"),
        ("float type", "f32[2]", {"output_type": "f32"}, "A103"),
    ],
    ("Reshape", "opset1"): [
        ("static", "f32[2,3,4] [6,4]", "f32[6,4]"),
        ("infer", "f32[2,3,4] [4,-1]", "f32[4,6]"),
        ("to scalar", "f32[1,1] []", "f32[]"),
        ("copy and infer", "f32[?,3,4..5] [0,-1]", {"special_zero": True}, "f32[?,12..15]"),
        ("copy only", "f32[?,2..4] [0,0,1]", {"special_zero": True}, "f32[?,2..4,1]"),
        ("bounds", "f32[6,3..] [4,-1]", "f32[4,6..]"),
        ("interval", "f32[10..30] [-1,10]", "f32[1..3,10]"),
        ("unranked", "f32[...] [3,1,6]", "f32[3,1,6]"),
        ("unranked, infer", "f32[...] [3,-1,0]", {"special_zero": True}, "f32[3,?,?]"),
        ("shape not constant", "f32[2,3] i64[3]", "f32[?,?,?]"),
        ("length not known", "f32[2,3] i64[?]", "f32[...]"),
        ("empty", "f32[0,3] [5,-1]", "f32[5,0]"),
        ("empty on both sides", "f32[0,3] [0,-1]", "f32[0,1]"),
        ("copied zero", "f32[0,3] [0,-1]", {"special_zero": True}, "f32[0,3]"),
        ("two inferred", "f32[2,3] [-1,-1]", "V101"),
        ("negative", "f32[2,3] [-2,3]", "V101"),
        ("copy beyond the rank", "f32[2,3] [0,0,0]", {"special_zero": True}, "V101"),
        ("elements differ", "f32[2,3] [5]", "S201"),
        ("remainder", "f32[2,3] [4,-1]", "S204"),
        ("zero beside -1", "f32[2,3] [0,-1]", "V101"),
        ("zero beside -1, unknown", "f32[?,3] [0,-1]", "S206"),
        ("scalar shape", "f32[6] 6", "S101"),
        ("float shape", "f32[6] f32=[6.0]", "T101"),
        ("elements not compared beside a copy", "f32[2,3] [0,5]", {"special_zero": True}, "f32[2,5]"),
        ("never valid", "f32[7..9] [5]", "f32[5]"),
        ("data without elements", "f32[0,5] [3,-1]", "f32[3,0]"),
        ("2^63-1 is any size", "f32[4] [9223372036854775807]", "f32[4]"),
        ("2^63-2", "f32[4] [9223372036854775806]", "S201"),
    ],
    ("Squeeze", "opset1"): [
        ("static", "f32[1,3,1] [0]", "f32[3,1]"),
        ("all", "f32[1,3,1]", "f32[3]"),
        ("no axes", "f32[1,3,1] []", "f32[3]"),
        ("negative", "f32[1,3,1] [-1]", "f32[1,3]"),
        ("twice", "f32[1,3,1] [0,-3]", "f32[3,1]"),
        ("interval", "f32[..4,3] [0]", "f32[3]"),
        ("another size", "f32[2,3] [0]", "f32[2,3]"),
        ("all, one open", "f32[?,3]", "f32[...]"),
        ("unranked", "f32[...] [0]", "f32[...]"),
        ("axis not constant", "f32[1,3,1] i64[1]", "f32[?,?]"),
        ("axes not constant", "f32[1,3,1] i64[2]", "f32[...]"),
        ("float axes", "f32[1,3,1] f32=[0.9]", "f32[3,1]"),
        ("boolean axes", "f32[1,3,1] boolean=[true]", "T101"),
        ("axis out of range", "f32[1,3] [2]", "V102"),
        ("axes of rank 2", "f32[1,3] [[0]]", "S101"),
        ("one unknown axis, none of size 1", "f32[7,2..4] i64[1]", "f32[7,2..4]"),
        ("one unknown axis, one may have size 1", "f32[7,..4] i64[]", "f32[?]"),
    ],
    ("Squeeze", "opset15"): [
        ("static", "f32[1,3,1] [0]", "f32[3,1]"),
        ("interval", "f32[?,3] [0]", "f32[3]"),
        ("may be kept", "f32[?,3] [0]", {"allow_axis_skip": True}, "f32[...]"),
        ("is kept", "f32[2..3,3] [0]", {"allow_axis_skip": True}, "f32[2..3,3]"),
        ("axis not constant", "f32[1,3,1] i64[1]", "f32[...]"),
        ("axis out of range", "f32[1,3] [2]", "V102"),
        ("one unknown axis, none of size 1", "f32[7,2..4] i64[]", {"allow_axis_skip": True}, "f32[7,2..4]"),
        ("one unknown axis, one may have size 1", "f32[7,..4] i64[1]", "f32[...]"),
        ("two unknown axes", "f32[7,2] i64[2]", "f32[...]"),
    ],
    ("Unsqueeze", "opset1"): [
        ("static", "f32[2,3] [0,3]", "f32[1,2,3,1]"),
        ("scalar axis", "f32[2..4,3] 1", "f32[2..4,1,3]"),
        ("twice", "f32[2,3] [0,0]", "f32[1,2,3]"),
        ("float axes", "f32[2,3] f32=[0.2,0.9,1.0]", "f32[1,1,2,3]"),
        ("negative", "f32[2,3] [0,-1]", "f32[1,2,3,1]"),
        ("of a scalar", "f32[] [0]", "f32[1]"),
        ("unranked", "f32[...] [0]", "f32[...]"),
        ("axes not constant", "f32[2,3] i64[1]", "f32[...]"),
        ("no axes", "f32[2,3] []", "V103"),
        ("axis out of range", "f32[2,3] [3]", "V102"),
        ("axes of rank 2", "f32[2,3] [[0]]", "S101"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)

# A shape subgraph that computes the target of a Reshape.
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
