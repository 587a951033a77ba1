"""Shape operations."""

from typing import Any

import pytest

from tests.support.rows import check_row, check_row_with_openvino, const, ids

ROWS: dict[tuple[str, str], list[tuple[Any, ...]]] = {
    ("ShapeOf", "opset1"): [
        ("static", "f32[2,3]", "i64[2]"),
        ("bounds", "f32[2..5,?]", "i64[2]"),
        ("unranked", "f32[...]", "i64[?]"),
    ],
    ("ShapeOf", "opset3"): [
        ("i32", "f32[2..5,?]", {"output_type": "i32"}, "i32[2]"),
        ("no type", "f32[2]", "A101"),
        ("float type", "f32[2]", {"output_type": "f32"}, "A103"),
    ],
    ("Reshape", "opset1"): [
        ("static", "f32[2,3,4]", [6, 4], "f32[6,4]"),
        ("infer", "f32[2,3,4]", [4, -1], "f32[4,6]"),
        ("to scalar", "f32[1,1]", [], "f32[]"),
        ("copy and infer", "f32[?,3,4..5]", [0, -1], {"special_zero": True}, "f32[?,12..15]"),
        ("copy only", "f32[?,2..4]", [0, 0, 1], {"special_zero": True}, "f32[?,2..4,1]"),
        ("bounds", "f32[6,3..]", [4, -1], "f32[4,6..]"),
        ("interval", "f32[10..30]", [-1, 10], "f32[1..3,10]"),
        ("unranked", "f32[...]", [3, 1, 6], "f32[3,1,6]"),
        ("unranked, infer", "f32[...]", [3, -1, 0], {"special_zero": True}, "f32[3,?,?]"),
        ("shape not constant", "f32[2,3]", "i64[3]", "f32[?,?,?]"),
        ("length not known", "f32[2,3]", "i64[?]", "f32[...]"),
        ("empty", "f32[0,3]", [5, -1], "f32[5,0]"),
        ("empty on both sides", "f32[0,3]", [0, -1], "f32[0,1]"),
        ("copied zero", "f32[0,3]", [0, -1], {"special_zero": True}, "f32[0,3]"),
        ("two inferred", "f32[2,3]", [-1, -1], "V101"),
        ("negative", "f32[2,3]", [-2, 3], "V101"),
        ("copy beyond the rank", "f32[2,3]", [0, 0, 0], {"special_zero": True}, "V101"),
        ("elements differ", "f32[2,3]", [5], "S201"),
        ("remainder", "f32[2,3]", [4, -1], "S204"),
        ("zero beside -1", "f32[2,3]", [0, -1], "V101"),
        ("zero beside -1, unknown", "f32[?,3]", [0, -1], "S206"),
        ("scalar shape", "f32[6]", 6, "S101"),
        ("float shape", "f32[6]", const([6.0], "f32"), "T101"),
        ("elements not compared beside a copy", "f32[2,3]", [0, 5], {"special_zero": True}, "f32[2,5]"),
        ("never valid", "f32[7..9]", [5], "f32[5]"),
        ("data without elements", "f32[0,5]", [3, -1], "f32[3,0]"),
    ],
    ("Squeeze", "opset1"): [
        ("static", "f32[1,3,1]", [0], "f32[3,1]"),
        ("all", "f32[1,3,1]", "f32[3]"),
        ("no axes", "f32[1,3,1]", [], "f32[3]"),
        ("negative", "f32[1,3,1]", [-1], "f32[1,3]"),
        ("twice", "f32[1,3,1]", [0, -3], "f32[3,1]"),
        ("interval", "f32[..4,3]", [0], "f32[3]"),
        ("another size", "f32[2,3]", [0], "f32[2,3]"),
        ("all, one open", "f32[?,3]", "f32[...]"),
        ("unranked", "f32[...]", [0], "f32[...]"),
        ("axis not constant", "f32[1,3,1]", "i64[1]", "f32[?,?]"),
        ("axes not constant", "f32[1,3,1]", "i64[2]", "f32[...]"),
        ("float axes", "f32[1,3,1]", const([0.9], "f32"), "f32[3,1]"),
        ("boolean axes", "f32[1,3,1]", const([True], "boolean"), "T101"),
        ("axis out of range", "f32[1,3]", [2], "V102"),
        ("axes of rank 2", "f32[1,3]", [[0]], "S101"),
    ],
    ("Squeeze", "opset15"): [
        ("static", "f32[1,3,1]", [0], "f32[3,1]"),
        ("interval", "f32[?,3]", [0], "f32[3]"),
        ("may be kept", "f32[?,3]", [0], {"allow_axis_skip": True}, "f32[...]"),
        ("is kept", "f32[2..3,3]", [0], {"allow_axis_skip": True}, "f32[2..3,3]"),
        ("axis not constant", "f32[1,3,1]", "i64[1]", "f32[...]"),
        ("axis out of range", "f32[1,3]", [2], "V102"),
    ],
    ("Unsqueeze", "opset1"): [
        ("static", "f32[2,3]", [0, 3], "f32[1,2,3,1]"),
        ("scalar axis", "f32[2..4,3]", 1, "f32[2..4,1,3]"),
        ("twice", "f32[2,3]", [0, 0], "f32[1,2,3]"),
        ("negative", "f32[2,3]", [0, -1], "f32[1,2,3,1]"),
        ("of a scalar", "f32[]", [0], "f32[1]"),
        ("unranked", "f32[...]", [0], "f32[...]"),
        ("axes not constant", "f32[2,3]", "i64[1]", "f32[...]"),
        ("no axes", "f32[2,3]", [], "V103"),
        ("axis out of range", "f32[2,3]", [3], "V102"),
        ("axes of rank 2", "f32[2,3]", [[0]], "S101"),
    ],
}


@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row(type, version, row)


@pytest.mark.oracle
@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row_with_openvino(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row_with_openvino(type, version, row)
