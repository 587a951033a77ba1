"""Operations that reorder axes or elements."""

from tests.support.rows import Rows, differs, row_tests
from tests.support.values import value_tests

ROWS: Rows = {
    ("Transpose", "opset1"): [
        ("static", "f32[4,5,6] [2,0,1]", "f32[6,4,5]"),
        ("reverse", "f32[4,5..7,?] []", "f32[?,5..7,4]"),
        ("not constant", "f32[4,5,2..6] i64[3]", "f32[2..6,2..6,2..6]"),
        ("unranked", "f32[...] [1,0]", "f32[?,?]"),
        ("unranked, reversed", "f32[...] []", differs("f32[...]", "f32[]")),
        ("axis twice", "f32[4,5,6] [2,0,2]", "V104"),
        ("negative", "f32[4,5] [1,-2]", "V102"),
        ("too few", "f32[4,5,6] [1,0]", "V103"),
        ("scalar order", "f32[4] 0", "S101"),
        ("float order", "f32[4] f32=[0.0]", "T101"),
    ],
    ("Roll", "opset7"): [
        ("static", "f32[4,5] 1 [0,-1]", "f32[4,5]"),
        ("bounds", "f32[2..4,?] [1,2] [0,1]", "f32[2..4,?]"),
        ("not constant", "f32[4,5] i64[2] i64[?]", "f32[4,5]"),
        ("unranked", "f32[...] [1] [9]", "f32[...]"),
        ("axis", "f32[4,5] [1] [2]", "V102"),
        ("lengths differ", "f32[4,5] [1,1] [0]", "S201"),
        ("shift of rank 2", "f32[4,5] [[1]] [0]", "S101"),
        ("type of axes", "f32[4,5] [1] u8=[0]", "T101"),
        ("scalar", "f32[] 1 [0,-1]", "f32[]"),
    ],
    ("ShuffleChannels", "opset1"): [
        ("bounds", "f32[1..4,8,?,3]", {"axis": 1, "group": 4}, "f32[1..4,8,?,3]"),
        ("never valid", "f32[1,5..7]", {"group": 4, "axis": 1}, "f32[1,5..7]"),
        ("unranked", "f32[...]", {"axis": 7, "group": 4}, "f32[...]"),
        ("remainder", "f32[1,7,2,2]", {"axis": 1, "group": 4}, "S204"),
        ("axis", "f32[1,8]", {"axis": 2, "group": 4}, "V102"),
        ("no group", "f32[1,8]", {"axis": 1, "group": 0}, "A104"),
        ("scalar", "f32[]", {"axis": 0}, "S101"),
        ("unranked, group", "f32[...]", {"group": 0}, "A104"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)

# Values that travel into a shape.
VALUES: Rows = {
    ("Transpose", "opset1"): [
        ("[2..4,5,?] [0]", "[2..4,5,?]"),
    ],
}

test_values, test_values_with_openvino = value_tests(VALUES)
