"""OneHot."""

from tests.support.rows import Rows, row_tests

ROWS: Rows = {
    ("OneHot", "opset1"): [
        ("static", "i64[2,3] 4 f32[] f32[]", {"axis": -1}, "f32[2,3,4]"),
        ("bounds", "i64[?,2..3] 4 f32[] f32[]", {"axis": 1}, "f32[?,4,2..3]"),
        ("type of on_value not known", "i64[2] 4 dynamic[] f32[]", {"axis": 0}, "dynamic[4,2]"),
        ("type of off_value not known", "i64[2] 4 f32[] dynamic[]", {"axis": 0}, "f32[4,2]"),
        ("boolean indices", "boolean[2] 4 i8[] i8[]", {"axis": 0}, "i8[4,2]"),
        ("unranked", "i64[...] 4 f32[...] f32[...]", {"axis": 0}, "f32[...]"),
        ("depth not constant", "i64[2] i64[] f32[] f32[]", {"axis": 1}, "f32[2,?]"),
        ("float indices", "f32[2] 4 f32[] f32[]", {"axis": 0}, "T101"),
        ("float depth", "i64[2] f32=4.0 f32[] f32[]", {"axis": 0}, "T101"),
        ("values differ", "i64[2] 4 f32[] i32[]", {"axis": 0}, "T102"),
        ("list of depths", "i64[2] [4] f32[] f32[]", {"axis": 0}, "S101"),
        ("list of values", "i64[2] 4 f32[1] f32[]", {"axis": 0}, "S101"),
        ("negative depth", "i64[2] -4 f32[] f32[]", {"axis": 0}, "V101"),
        ("axis out of range", "i64[2] 4 f32[] f32[]", {"axis": 2}, "V102"),
    ],
    ("OneHot", "opset16"): [
        ("static", "i64[2] 4 f32[] f32[]", {"axis": 1, "negative_indices_mode": "normalize"}, "f32[2,4]"),
        ("unknown mode", "i64[2] 4 f32[] f32[]", {"axis": 1, "negative_indices_mode": "wrap"}, "A103"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)
