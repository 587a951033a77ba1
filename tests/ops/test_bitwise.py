"""Bitwise operations."""

from tests.support.rows import Row, Rows, row_tests
from tests.support.values import value_tests

BITWISE: list[Row] = [
    ("static", "u8[2,3] u8[4,1,3]", "u8[4,2,3]"),
    ("bounds", "dynamic[1..5,?] i64[3..7,1]", "i64[3..7,?]"),
    ("unranked", "i4[...] i4[2]", "i4[...]"),
    ("sizes", "i32[2,3] i32[2]", "S202"),
    ("types", "i32[2] i64[2]", "T102"),
    ("reals", "f32[2] f32[2]", "T101"),
]

ROWS: Rows = {
    **{(type, "opset15"): BITWISE for type in ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseLeftShift", "BitwiseRightShift")},
    ("BitwiseAnd", "opset13"): [("boolean", "boolean[2] boolean[2]", "boolean[2]")],
    ("BitwiseLeftShift", "opset16"): [("boolean", "boolean[2] boolean[2]", "T101")],
    ("BitwiseNot", "opset13"): [
        ("static", "boolean[2,3]", "boolean[2,3]"),
        ("unranked", "dynamic[...]", "dynamic[...]"),
        ("reals", "f32[2]", "T101"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)

# Values that travel into a shape.
VALUES: Rows = {("BitwiseAnd", "opset13"): [("[12] [6]", "[4]")]}

test_values, test_values_with_openvino = value_tests(VALUES)
