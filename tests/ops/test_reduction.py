"""Reductions."""

from tests.support.rows import Rows, row_tests
from tests.support.values import value_tests

ROWS: Rows = {
    ("ReduceSum", "opset1"): [
        ("static", "f32[2,3,4] [1]", "f32[2,4]"),
        ("kept", "f32[2,?,4] [-1]", {"keep_dims": True}, "f32[2,?,1]"),
        ("twice", "f32[2,3,4] [0,-3]", "f32[3,4]"),
        ("scalar axis", "f32[2,3..5] 0", "f32[3..5]"),
        ("no axes", "f32[2,3] []", "f32[2,3]"),
        ("of a scalar", "f32[] [0]", "f32[]"),
        ("unranked", "f32[...] [0]", "f32[...]"),
        ("axis not constant", "f32[2,3,4] i64[1]", "f32[?,?]"),
        ("axes not constant", "f32[2,3,4] i64[2]", "f32[...]"),
        ("axes not constant, kept", "f32[2,3] i64[?]", {"keep_dims": True}, "f32[?,?]"),
        ("boolean", "boolean[2] [0]", "T101"),
        ("float axes", "f32[2] f32=[0.0]", "T101"),
        ("axis out of range", "f32[2] [1]", "V102"),
        ("axes of rank 2", "f32[2] [[0]]", "S101"),
    ],
    ("ReduceProd", "opset1"): [("static", "f32[2,3] [1]", "f32[2]"), ("boolean", "boolean[2] [0]", "T101")],
    ("ReduceMax", "opset1"): [("static", "f32[2,3] [1]", "f32[2]"), ("boolean", "boolean[2] [0]", "T101")],
    ("ReduceMin", "opset1"): [("static", "f32[2,3] [1]", "f32[2]"), ("boolean", "boolean[2] [0]", "T101")],
    ("ReduceMean", "opset1"): [("static", "f32[2,3] [1]", "f32[2]"), ("boolean", "boolean[2] [0]", "T101")],
    ("ReduceL1", "opset4"): [("static", "f32[2,3] [1]", "f32[2]"), ("boolean", "boolean[2] [0]", "T101")],
    ("ReduceL2", "opset4"): [("static", "f32[2,3] [1]", "f32[2]"), ("boolean", "boolean[2] [0]", "T101")],
    ("ReduceLogicalAnd", "opset1"): [("static", "boolean[2,3] [1]", "boolean[2]"), ("float", "f32[2] [0]", "T101")],
    ("ReduceLogicalOr", "opset1"): [("static", "boolean[2,3] [1]", "boolean[2]"), ("float", "f32[2] [0]", "T101")],
}

test_row, test_row_with_openvino = row_tests(ROWS)

# Values that travel into a shape.
VALUES: Rows = {
    ("ReduceSum", "opset1"): [
        ("[3..5,4] [0]", {"keep_dims": True}, "[7..9]"),
        ("bf16=[3..5,4] [0]", {"keep_dims": True}, "[7..9]"),
        ("f16=[2..3000] [0]", {"keep_dims": True}, "[?]"),
    ],
    ("ReduceMax", "opset1"): [
        ("[3..5,4] [0]", {"keep_dims": True}, "[4..5]"),
        ("f32=[0.5,2.5] [0]", {"keep_dims": True}, "[2]"),
        ("i32=[] [0]", {"keep_dims": True}, "V101"),
        ("bf16=[2..5,3] [0]", {"keep_dims": True}, "[3..5]"),
        ("f16=[3..3000,5] [0]", {"keep_dims": True}, "[5..3000]"),
    ],
    ("ReduceMin", "opset1"): [
        ("[3..5,4] [0]", {"keep_dims": True}, "[3..4]"),
        ("f32=[2.5,3.5] [0]", {"keep_dims": True}, "[2]"),
        ("i32=[] [0]", {"keep_dims": True}, "[2147483647]"),
        ("f16=[2..3000,?] [0]", {"keep_dims": True}, "[..3000]"),
    ],
}

test_values, test_values_with_openvino = value_tests(VALUES)
