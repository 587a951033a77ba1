"""Reverse and ReverseSequence."""

from tests.support.rows import Rows, row_tests

ROWS: Rows = {
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
