"""Comparisons, and questions about real numbers."""

from tests.support.rows import Row, Rows, row_tests
from tests.support.values import value_tests

COMPARISON: list[Row] = [
    ("static", "f32[2,3] f32[4,1,3]", "boolean[4,2,3]"),
    ("bounds", "string[1..5,?] string[3..7,1]", "boolean[3..7,?]"),
    ("unranked", "boolean[...] boolean[2]", "boolean[...]"),
    ("pdpd", "f32[2,3,4] f32[2,3]", {"auto_broadcast": "pdpd"}, "boolean[2,3,4]"),
    ("sizes", "f32[2,3] f32[2]", "S202"),
    ("types", "f32[2] i32[2]", "T102"),
]
REAL_QUESTION: list[Row] = [
    ("static", "f32[2,3]", "boolean[2,3]"),
    ("bounds", "bf16[1..4,?]", "boolean[1..4,?]"),
    ("unranked", "dynamic[...]", "boolean[...]"),
    ("integers", "i32[2]", "T101"),
]

ROWS: Rows = {
    **{(type, "opset1"): COMPARISON for type in ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual")},
    **{(type, "opset10"): REAL_QUESTION for type in ("IsFinite", "IsInf", "IsNaN")},
}

test_row, test_row_with_openvino = row_tests(ROWS)

# Values that travel into a shape.
VALUES: Rows = {
    ("Equal", "opset1"): [("[1..2,5,1..9] [5]", "[0,1,..1]")],
    ("NotEqual", "opset1"): [("[1..2,5,1..9] [5]", "[1,0,..1]")],
    ("Less", "opset1"): [("[1..2,5,1..9] [5]", "[1,0,..1]")],
    ("LessEqual", "opset1"): [("[1..2,5,1..9] [5]", "[1,1,..1]")],
    ("Greater", "opset1"): [("f32=[1.5,5.5] f32=[5.0]", "[0,1]")],
    ("GreaterEqual", "opset1"): [("[1..2,5,1..9] [5]", "[0,1,..1]")],
}

test_values, test_values_with_openvino = value_tests(VALUES)
