"""TopK and SearchSorted."""

from tests.support.rows import Rows, row_tests

ROWS: Rows = {
    ("TopK", "opset1"): [
        ("static", "f32[2,10] 3", {"axis": 1, "sort": "value"}, "f32[2,3] i32[2,3]"),
        ("unsigned k", "f32[2,10] u8=3", {"axis": 1}, "T101"),
    ],
    ("TopK", "opset3"): [
        ("unsigned k", "f32[2,10] u8=3", {"axis": 1}, "f32[2,3] i32[2,3]"),
        ("float k", "f32[2,10] f32=3.0", {"axis": 1}, "T101"),
    ],
    ("TopK", "opset11"): [
        ("static", "f32[2,10] 3", {"axis": -1, "index_element_type": "i64"}, "f32[2,3] i64[2,3]"),
        ("bounds", "f32[1..4,3..10] 5", {"axis": 1}, "f32[1..4,5] i32[1..4,5]"),
        ("more than there are", "f32[2,10] 11", {"axis": 1}, "f32[2,11] i32[2,11]"),
        ("more than the axis may hold", "f32[2,3..10] 5", {"axis": 1}, "f32[2,5] i32[2,5]"),
        ("k not constant", "f32[2,10] i64[]", {"axis": 1}, "f32[2,..10] i32[2,..10]"),
        ("unranked", "f32[...] 3", {"axis": 1}, "f32[...] i32[...]"),
        ("stable", "f32[2,10] 3", {"axis": 1, "sort": "index", "stable": True}, "f32[2,3] i32[2,3]"),
        ("stable but not sorted", "f32[2,10] 3", {"axis": 1, "sort": "none", "stable": True}, "A103"),
        ("unknown mode", "f32[2,10] 3", {"axis": 1, "mode": "most"}, "A103"),
        ("index type", "f32[2,10] 3", {"axis": 1, "index_element_type": "u8"}, "A103"),
        ("float k", "f32[2,10] f32=3.0", {"axis": 1}, "T101"),
        ("scalar data", "f32[] 3", {"axis": 0}, "S101"),
        ("list of k", "f32[2,10] [3]", {"axis": 1}, "S101"),
        ("negative k", "f32[2,10] -1", {"axis": 1}, "V101"),
        ("axis out of range", "f32[2,10] 3", {"axis": 2}, "V102"),
        ("unranked, stable", "f32[...] 3", {"sort": "none", "stable": True}, "A103"),
    ],
    ("SearchSorted", "opset15"): [
        ("static", "f32[2,3,10] f32[2,3,5]", "i64[2,3,5]"),
        ("one sequence", "f32[10] f32[2,?,5]", {"output_type": "i32"}, "i32[2,?,5]"),
        ("bounds", "f32[2,?,10] f32[?,3,1..5]", "i64[2,3,1..5]"),
        ("unranked sequence", "f32[...] f32[2,?]", "i64[2,?]"),
        ("unranked values", "f32[2..3,10] f32[...]", "i64[2..3,?]"),
        ("scalar sequence", "f32[] f32[3]", "S101"),
        ("ranks differ", "f32[2,10] f32[5]", "S102"),
        ("sizes differ", "f32[2,10] f32[3,5]", "S201"),
        ("types differ", "f32[2,10] i32[2,5]", "T102"),
        ("output type", "f32[10] f32[5]", {"output_type": "u8"}, "A103"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)
