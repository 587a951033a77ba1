"""Activation functions."""

from tests.support.rows import Row, Rows, row_tests
from tests.support.values import value_tests

ARITHMETIC: list[Row] = [
    ("static", "f32[2,3]", "f32[2,3]"),
    ("bounds", "i32[1..5,?]", "i32[1..5,?]"),
    ("unranked", "dynamic[...]", "dynamic[...]"),
    ("boolean", "boolean[2]", "T101"),
    ("string", "string[2]", "T101"),
]
REAL: list[Row] = [
    ("static", "f32[2,3]", "f32[2,3]"),
    ("bounds", "f8e4m3[1..5,?]", "f8e4m3[1..5,?]"),
    ("unranked", "dynamic[...]", "dynamic[...]"),
    ("integers", "i32[2]", "T101"),
]
ALONG_AXIS: list[Row] = [
    ("static", "f32[2,3]", {"axis": -2}, "f32[2,3]"),
    ("bounds", "i32[1..5,?]", {"axis": 1}, "i32[1..5,?]"),
    ("unranked", "boolean[...]", {"axis": 7}, "boolean[...]"),
    ("scalar", "f32[]", {"axis": 0}, "f32[]"),
    ("the default is 1", "f32[2]", "V102"),
    ("beyond the rank", "f32[2,3]", {"axis": 2}, "V102"),
    ("no number", "f32[2,3]", {"axis": "last"}, "A102"),
]

ROWS: Rows = {
    **{(type, "opset5"): ARITHMETIC for type in ("Exp", "HSigmoid", "HSwish", "Relu", "Sigmoid")},
    **{(type, "opset9"): REAL for type in ("Gelu", "Mish", "SoftPlus", "SoftSign", "Swish")},
    ("LogSoftmax", "opset5"): ALONG_AXIS,
    ("Softmax", "opset8"): ALONG_AXIS,
    ("Softmax", "opset1"): [
        ("static", "f32[2,3]", {"axis": 1}, "f32[2,3]"),
        ("unranked", "f32[...]", {"axis": -1}, "f32[...]"),
        ("scalar", "f32[]", "f32[]"),
        ("axis of a scalar", "f32[]", {"axis": 2}, "V102"),
        ("negative", "f32[2,3]", {"axis": -1}, "V102"),
    ],
    ("Clamp", "opset1"): [
        ("static", "f32[2,3]", {"min": -1.5, "max": 6}, "f32[2,3]"),
        ("bounds", "string[1..4,?]", {"min": 0, "max": 1}, "string[1..4,?]"),
        ("unranked", "dynamic[...]", {"min": 0, "max": 1}, "dynamic[...]"),
        ("crossed", "f32[2]", {"min": 3, "max": 2}, "A104"),
        ("no number", "f32[2]", {"min": "low", "max": 2}, "A102"),
        ("boolean", "boolean[2]", {"min": 0, "max": 1}, "T101"),
    ],
    ("Elu", "opset1"): [
        ("static", "f32[2,3]", {"alpha": 1}, "f32[2,3]"),
        ("unranked", "boolean[...]", "boolean[...]"),
        ("no number", "f32[2]", {"alpha": ""}, "A102"),
    ],
    ("Gelu", "opset2"): REAL,
    ("Gelu", "opset7"): [
        ("tanh", "f32[2]", {"approximation_mode": "tanh"}, "f32[2]"),
        ("unknown mode", "f32[2]", {"approximation_mode": "sigmoid"}, "A103"),
    ],
    ("HardSigmoid", "opset1"): [
        ("static", "f32[2,3] f32[] f32[]", "f32[2,3]"),
        ("bounds", "i32[1..4,?] i32[...] i32[]", "i32[1..4,?]"),
        ("never a scalar", "f32[...] f32[?] f32[]", "f32[...]"),
        ("alpha of rank 1", "f32[2] f32[1] f32[]", "S101"),
        ("beta of another type", "f32[2] f32[] f16[]", "T102"),
    ],
    ("Identity", "opset16"): [
        ("static", "string[2,3]", "string[2,3]"),
        ("unranked", "dynamic[...]", "dynamic[...]"),
        ("two inputs", "f32[2] f32[2]", "G108"),
    ],
    ("PRelu", "opset1"): [
        ("static", "f32[2,3] f32[3]", "f32[2,3]"),
        ("any slope", "f32[1..2,3] i32[5,7]", "f32[1..2,3]"),
        ("unranked", "f32[...] f32[...]", "f32[...]"),
        ("one input", "f32[2]", "G107"),
    ],
    ("Selu", "opset1"): [
        ("static", "f32[2,3] f32[1] f32[1]", "f32[2,3]"),
        ("bounds", "dynamic[1..4,?] f16[] f16[...]", "f16[1..4,?]"),
        ("unranked", "f32[...] f32[] f32[]", "f32[...]"),
        ("integers", "i32[2] i32[] i32[]", "T101"),
        ("types", "f32[2] f16[] f32[]", "T102"),
    ],
    ("Swish", "opset4"): [
        ("beta", "f32[1..4] f32[]", "f32[1..4]"),
        ("beta unranked", "f32[...] f32[...]", "f32[...]"),
        ("beta of rank 1", "f32[2] f32[1]", "S101"),
        ("beta of another type", "f32[2] f16[]", "T102"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)

# Values that travel into a shape.
VALUES: Rows = {
    ("Relu", "opset1"): [("[-3,3]", "[0,3]")],
    ("Clamp", "opset1"): [("[4..9,?]", {"min": 4.5, "max": 7.5}, "[5..7,5..7]"), ("f32=[9.0]", {"min": 4.5, "max": 7.5}, "[7]")],
}

test_values, test_values_with_openvino = value_tests(VALUES)
