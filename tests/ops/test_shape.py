"""Shape operations, and sizes that travel through subgraphs of them."""

import pytest

import irshape
from tests.support.ir import Net
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

SHAPE = "ShapeOf-3(x, output_type=i64)"
IN_PAIRS = f"ReduceProd(Reshape({SHAPE}, [-1,2]), [1])"
MOVED = f"Unsqueeze({SHAPE}, [0]) -> Reshape([-1,1]) -> Squeeze([1])"
AS_FLOATS = f"Convert({SHAPE}, destination_type=f32) -> ReduceProd([0], keep_dims=true) -> Convert(destination_type=i64)"


def reduced(type: str) -> str:
    return f"{type}({SHAPE}, [0], keep_dims=true)"


# The shape of a tensor x, the shape subgraph that computes the target of a Reshape, and the shape that x gets.
TARGETS = [
    ("the same shape", "[N,3,H]", SHAPE, "[N,3,H]"),
    ("product", "[N,2,3]", reduced("ReduceProd"), "[6*N]"),
    ("product of symbols", "[N,2,N]", reduced("ReduceProd"), "[2*N*N]"),
    ("product in pairs", "[N,H,3,W]", IN_PAIRS, "[N*H,3*W]"),
    ("product in floats", "[N,2,3]", AS_FLOATS, "[6*N]"),
    ("sum", "[2,2]", reduced("ReduceSum"), "[4]"),
    ("largest", "[1,7,1]", reduced("ReduceMax"), "[7]"),
    ("smallest", "[1,1,1]", reduced("ReduceMin"), "[1]"),
    ("mean", "[1,1,1]", reduced("ReduceMean"), "[1]"),
    ("moved", "[N,3,H]", MOVED, "[N,3,H]"),
    ("range", "[24]", "Range-4(2, 5, 1, output_type=i64)", "[2,3,4]"),
]


def reshaped(shape: str, target: str, attributes: str = "") -> str:
    net = Net(f"x: f32[...]\n{target} -> Reshape(x, _{attributes}) -> Result")
    inference = irshape.infer(net.xml.encode(), inputs={"x": shape}, weights=net.bin)
    assert inference.ok, inference.diagnostics
    return inference.layer(next(node.id for node in reversed(inference.model.nodes) if node.type == "Reshape")).outputs[0].formula


@pytest.mark.parametrize(("shape", "target", "expected"), [pytest.param(*row[1:], id=row[0]) for row in TARGETS])
def test_target(shape: str, target: str, expected: str) -> None:
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
    assert reshaped(shape, str(pattern), ", special_zero=true") == expected
