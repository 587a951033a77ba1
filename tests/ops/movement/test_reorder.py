"""Changing the order of axes, or of elements along axes."""

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
    ("Reverse", "opset1"): [
        ("index", "f32[2,3..5,?] [0,2]", {"mode": "index"}, "f32[2,3..5,?]"),
        ("mask", "f32[2,3..5,?] boolean=[true,false,true]", {"mode": "mask"}, "f32[2,3..5,?]"),
        ("axes not constant", "f32[2,3] i64[?]", "f32[2,3]"),
        ("mask not constant", "f32[2,3] boolean[2]", {"mode": "mask"}, "f32[2,3]"),
        ("unranked", "f32[...] [9]", "f32[...]"),
        ("negative axis", "f32[2,3] [-1]", "f32[2,3]"),
        ("axis beyond the rank", "f32[2,3] [2]", "V102"),
        ("mask of another length", "f32[2,3] boolean=[true]", {"mode": "mask"}, "V103"),
        ("mask of integers", "f32[2,3] [1,0]", {"mode": "mask"}, "T101"),
        ("booleans as axes", "f32[...] boolean=[true]", "T101"),
        ("axes of rank 0", "f32[2,3] 1", "S101"),
        ("unknown mode", "f32[2,3] [1]", {"mode": "all"}, "A103"),
        ("scalar", "f32[] [-1]", "V102"),
    ],
    ("ReverseSequence", "opset1"): [
        ("specification", "f32[3,10,100,200] f32[10]", {"batch_axis": "1"}, "f32[3,10,100,200]"),
        ("batch by the lengths", "f32[2,3..5,?] i32[4..9]", {"batch_axis": "-2", "seq_axis": "2"}, "f32[2,4..5,?]"),
        ("lengths unranked", "f32[2,3] i32[...]", {"batch_axis": "0"}, "f32[2,3]"),
        ("unranked", "f32[...] i32[4]", {"batch_axis": "-1"}, "f32[...]"),
        ("other lengths", "f32[2,3] i32[3]", {"batch_axis": "0"}, "S201"),
        ("axis beyond the rank", "f32[2,3] i32[2]", {"batch_axis": "2"}, "V102"),
        ("seq_axis beyond the rank", "f32[2,3] i32[2]", {"batch_axis": "0", "seq_axis": "-3"}, "V102"),
        ("negative seq_axis, unranked", "f32[...] i32[2]", {"batch_axis": "0", "seq_axis": "-1"}, "V102"),
        ("low rank", "f32[2] i32[2]", {"batch_axis": "0"}, "S101"),
        ("lengths of rank 2", "f32[2,3] i32[2,1]", {"batch_axis": "0"}, "S101"),
        ("boolean lengths", "f32[2,3] boolean[2]", {"batch_axis": "0"}, "T101"),
        ("unranked lengths, batch axis", "f32[2,3] i32[...]", {"batch_axis": 2}, "f32[2,3]"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)

VALUES: Rows = {("Transpose", "opset1"): [("[2..4,5,?] [0]", "[2..4,5,?]")]}

test_values, test_values_with_openvino = value_tests(VALUES)
