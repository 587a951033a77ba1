"""Arithmetic operations."""

from tests.support.rows import Row, Rows, row_tests

BINARY = ("Add", "Subtract", "Multiply", "Divide", "FloorMod", "Mod", "Maximum", "Minimum", "Power", "SquaredDifference")
UNARY = (
    "Abs", "Acos", "Asin", "Atan", "Ceiling", "Cos", "Cosh", "Erf", "Floor", "Log", "Negative", "Sign", "Sin", "Sinh",
    "Sqrt", "Tan", "Tanh",
)  # fmt: skip

BINARY_ROWS: list[Row] = [
    ("static", "f32[2,3] f32[4,1,3]", "f32[4,2,3]"),
    ("bounds", "i64[1..5,?] i64[3..7,1]", "i64[3..7,?]"),
    ("unranked", "f16[...] f16[2]", "f16[...]"),
    ("type from the second", "dynamic[2] u8[2]", "u8[2]"),
    ("none", "f32[2,?] f32[2,3]", {"auto_broadcast": "none"}, "f32[2,3]"),
    ("none, another shape", "f32[2,3] f32[3]", {"auto_broadcast": "none"}, "S202"),
    ("pdpd", "f32[2,3,4] f32[2,3]", {"auto_broadcast": "pdpd"}, "f32[2,3,4]"),
    ("pdpd, axis 1", "f32[2,3,4] f32[3]", {"auto_broadcast": "pdpd", "auto_broadcast.auto_broadcast_axis": 1}, "f32[2,3,4]"),
    ("pdpd, axis -2", "f32[2,3,4] f32[3]", {"auto_broadcast": "pdpd", "auto_broadcast.auto_broadcast_axis": -2}, "A104"),
    ("pdpd, equal shapes at axis 1", "f32[2,3] f32[2,3]", {"auto_broadcast": "pdpd", "auto_broadcast.auto_broadcast_axis": 1}, "S202"),
    ("pdpd, more axes", "f32[2] f32[2,3]", {"auto_broadcast": "pdpd"}, "S202"),
    ("sizes", "f32[2,3] f32[2]", "S202"),
    ("types", "f32[2] i32[2]", "T102"),
    ("boolean", "boolean[2] boolean[2]", "T101"),
    ("string", "string[2] string[2]", "T101"),
    ("unknown word", "f32[2] f32[2]", {"auto_broadcast": "always"}, "A103"),
    ("one input", "f32[2]", "G107"),
]

UNARY_ROWS: list[Row] = [
    ("static", "f32[2,3]", "f32[2,3]"),
    ("bounds", "i32[1..5,?]", "i32[1..5,?]"),
    ("unranked", "dynamic[...]", "dynamic[...]"),
    ("boolean", "boolean[2]", "T101"),
]

ROWS: Rows = {
    **{(type, "opset1"): BINARY_ROWS for type in BINARY},
    **{(type, "opset1"): UNARY_ROWS for type in UNARY},
    **{(type, "opset4"): UNARY_ROWS for type in ("Acosh", "Asinh", "Atanh")},
    ("ErfInv", "opset17"): [
        ("static", "f32[2,3]", "f32[2,3]"),
        ("unranked", "f16[...]", "f16[...]"),
        ("integers", "i32[2]", "T101"),
    ],
    ("Round", "opset5"): [
        ("static", "f32[2,3]", {"mode": "half_away_from_zero"}, "f32[2,3]"),
        ("bounds", "string[1..4,?]", "string[1..4,?]"),
        ("unknown mode", "f32[2]", {"mode": "up"}, "A103"),
    ],
    ("CumSum", "opset3"): [
        ("static", "f32[2,3] 1", {"exclusive": True}, "f32[2,3]"),
        ("bounds", "i64[2..3,?] i32[]", "i64[2..3,?]"),
        ("unranked", "boolean[...] i64[...]", "boolean[...]"),
        ("axis of another type", "f32[2] f32[]", "T101"),
        ("axis of unknown type", "f32[2] dynamic[]", "T101"),
    ],
    ("SegmentMax", "opset16"): [
        ("ids", "f32[3,4] [0,0,1]", "f32[2,4]"),
        ("number of segments", "f32[3,4] [0,0,1] 5", "f32[5,4]"),
        ("ids not constant", "f32[3,4] i64[3]", "f32[?,4]"),
        ("number not constant", "f32[3,4] i64[3] i32[]", "f32[?,4]"),
        ("negative ids", "f32[2] [-2,-1]", "f32[0]"),
        ("bounds", "f32[1..4,?] i64[3..7]", "f32[?,?]"),
        ("unranked", "u8[...] [0,1]", "u8[...]"),
        ("not sorted", "f32[3,4] [1,0,1]", "V101"),
        ("another length", "f32[3,4] i64[2]", "S201"),
        ("scalar data", "f32[] i64[3]", "S101"),
        ("ids of rank 2", "f32[3] i64[3,1]", "S101"),
        ("number of rank 1", "f32[3] i64[3] i64[1]", "S101"),
        ("real ids", "f32[3] f32[3]", "T101"),
        ("real number", "f32[3] i64[3] f32[]", "T101"),
        ("unknown mode", "f32[3] i64[3]", {"fill_mode": "one"}, "A103"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)
