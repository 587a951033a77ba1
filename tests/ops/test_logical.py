"""Logical operations."""

from tests.support.rows import Row, Rows, row_tests
from tests.support.values import value_tests

LOGICAL: list[Row] = [
    ("static", "boolean[2,3] boolean[4,1,3]", "boolean[4,2,3]"),
    ("bounds", "dynamic[1..5,?] boolean[3..7,1]", "boolean[3..7,?]"),
    ("unranked", "boolean[...] boolean[2]", "boolean[...]"),
    ("sizes", "boolean[2,3] boolean[2]", "S202"),
    ("integers", "i32[2] i32[2]", "T101"),
]

ROWS: Rows = {
    **{(type, "opset1"): LOGICAL for type in ("LogicalAnd", "LogicalOr", "LogicalXor", "Xor")},
    ("Xor", "opset2"): [("in no later opset", "boolean[2] boolean[2]", "G111")],
    ("LogicalNot", "opset1"): [
        ("static", "boolean[2,3]", "boolean[2,3]"),
        ("keeps any type", "i32[1..4,?]", "i32[1..4,?]"),
        ("unranked", "boolean[...]", "boolean[...]"),
        ("two inputs", "boolean[2] boolean[2]", "G108"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)

# Values that travel into a shape.
VALUES: Rows = {
    ("LogicalAnd", "opset1"): [("boolean=[0,1,1] boolean=[1,0,1]", "[0,0,1]")],
    ("LogicalOr", "opset1"): [("boolean=[0,1,0] boolean=[1,0,0]", "[1,1,0]")],
    ("LogicalXor", "opset1"): [("boolean=[0,1,1] boolean=[1,0,1]", "[1,1,0]")],
    ("LogicalNot", "opset1"): [("[0,7]", "[1,0]")],
}

test_values, test_values_with_openvino = value_tests(VALUES)
