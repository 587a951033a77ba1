"""Comparison, logical, bitwise and condition operations."""

from typing import Any

import pytest

from tests.support.rows import check_row, check_row_with_openvino, const, ids

COMPARISON: list[tuple[Any, ...]] = [
    ("static", "f32[2,3]", "f32[4,1,3]", "boolean[4,2,3]"),
    ("bounds", "string[1..5,?]", "string[3..7,1]", "boolean[3..7,?]"),
    ("unranked", "boolean[...]", "boolean[2]", "boolean[...]"),
    ("pdpd", "f32[2,3,4]", "f32[2,3]", {"auto_broadcast": "pdpd"}, "boolean[2,3,4]"),
    ("sizes", "f32[2,3]", "f32[2]", "S202"),
    ("types", "f32[2]", "i32[2]", "T102"),
]

LOGICAL: list[tuple[Any, ...]] = [
    ("static", "boolean[2,3]", "boolean[4,1,3]", "boolean[4,2,3]"),
    ("bounds", "dynamic[1..5,?]", "boolean[3..7,1]", "boolean[3..7,?]"),
    ("unranked", "boolean[...]", "boolean[2]", "boolean[...]"),
    ("sizes", "boolean[2,3]", "boolean[2]", "S202"),
    ("integers", "i32[2]", "i32[2]", "T101"),
]

BITWISE: list[tuple[Any, ...]] = [
    ("static", "u8[2,3]", "u8[4,1,3]", "u8[4,2,3]"),
    ("bounds", "dynamic[1..5,?]", "i64[3..7,1]", "i64[3..7,?]"),
    ("unranked", "i4[...]", "i4[2]", "i4[...]"),
    ("sizes", "i32[2,3]", "i32[2]", "S202"),
    ("types", "i32[2]", "i64[2]", "T102"),
    ("reals", "f32[2]", "f32[2]", "T101"),
]

REAL_QUESTION: list[tuple[Any, ...]] = [
    ("static", "f32[2,3]", "boolean[2,3]"),
    ("bounds", "bf16[1..4,?]", "boolean[1..4,?]"),
    ("unranked", "dynamic[...]", "boolean[...]"),
    ("integers", "i32[2]", "T101"),
]

ROWS: dict[tuple[str, str], list[tuple[Any, ...]]] = {
    **{(type, "opset1"): COMPARISON for type in ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual")},
    **{(type, "opset1"): LOGICAL for type in ("LogicalAnd", "LogicalOr", "LogicalXor", "Xor")},
    **{(type, "opset15"): BITWISE for type in ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseLeftShift", "BitwiseRightShift")},
    **{(type, "opset10"): REAL_QUESTION for type in ("IsFinite", "IsInf", "IsNaN")},
    ("Xor", "opset2"): [("in no later opset", "boolean[2]", "boolean[2]", "G111")],
    ("BitwiseAnd", "opset13"): [("boolean", "boolean[2]", "boolean[2]", "boolean[2]")],
    ("BitwiseLeftShift", "opset16"): [("boolean", "boolean[2]", "boolean[2]", "T101")],
    ("LogicalNot", "opset1"): [
        ("static", "boolean[2,3]", "boolean[2,3]"),
        ("keeps any type", "i32[1..4,?]", "i32[1..4,?]"),
        ("unranked", "boolean[...]", "boolean[...]"),
        ("two inputs", "boolean[2]", "boolean[2]", "G108"),
    ],
    ("BitwiseNot", "opset13"): [
        ("static", "boolean[2,3]", "boolean[2,3]"),
        ("unranked", "dynamic[...]", "dynamic[...]"),
        ("reals", "f32[2]", "T101"),
    ],
    ("Select", "opset1"): [
        ("static", "boolean[3]", "f32[2,1]", "f32[1,3]", "f32[2,3]"),
        ("bounds", "boolean[?]", "f32[1..4,?]", "f32[2,3]", "f32[2,3]"),
        ("unranked", "boolean[2]", "f32[...]", "f32[2]", "f32[...]"),
        ("type from the third", "dynamic[2]", "dynamic[2]", "string[2]", "string[2]"),
        ("none", "boolean[...]", "f32[2,?]", "f32[2,3]", {"auto_broadcast": "none"}, "f32[2,3]"),
        ("none, another shape", "boolean[]", "f32[2]", "f32[2]", {"auto_broadcast": "none"}, "S202"),
        ("pdpd", "boolean[2]", "f32[2,3]", "f32[2]", {"auto_broadcast": "pdpd"}, "f32[2,3]"),
        ("pdpd, larger condition", "boolean[4,2,3]", "f32[2,3]", "f32[3]", {"auto_broadcast": "pdpd"}, "S202"),
        ("sizes", "boolean[2]", "f32[2,3]", "f32[2,3]", "S202"),
        ("condition", "i32[2]", "f32[2]", "f32[2]", "T101"),
        ("types", "boolean[2]", "f32[2]", "i32[2]", "T102"),
    ],
    ("NonZero", "opset3"): [
        ("constant", [[1, 0, 3]], "i64[2,2]"),
        ("real constant", const([[1.0, 0.0, 3.0]], "f32"), {"output_type": "i32"}, "i32[2,2]"),
        ("not constant", "f32[2..3,4]", "i64[2,..12]"),
        ("half-open", "f32[2,?]", "i64[2,?]"),
        ("empty", "f32[0,?]", "i64[2,0]"),
        ("scalar constant", 0, "i64[0,0]"),
        ("scalar", "f32[]", "i64[?,?]"),
        ("unranked", "string[...]", "i64[?,?]"),
        ("real indices", "f32[2]", {"output_type": "f32"}, "A103"),
    ],
    ("Bucketize", "opset3"): [
        ("static", "f32[2,3]", "i32[5]", {"output_type": "i32"}, "i32[2,3]"),
        ("bounds", "dynamic[1..4,?]", "f32[?]", {"output_type": "i64"}, "i64[1..4,?]"),
        ("unranked", "f32[...]", "f32[...]", {"output_type": "i64"}, "i64[...]"),
        ("buckets of rank 2", "f32[2]", "f32[2,2]", {"output_type": "i64"}, "S101"),
        ("boolean data", "boolean[2]", "f32[2]", {"output_type": "i64"}, "T101"),
        ("boolean buckets", "f32[2]", "boolean[2]", {"output_type": "i64"}, "T101"),
        ("no output type", "f32[2]", "f32[2]", "A101"),
        ("real output", "f32[2]", "f32[2]", {"output_type": "f32"}, "A103"),
    ],
}


@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row(type, version, row)


@pytest.mark.oracle
@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row_with_openvino(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row_with_openvino(type, version, row)
