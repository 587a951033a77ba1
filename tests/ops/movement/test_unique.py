"""Unique."""

from tests.support.rows import Rows, differs, row_tests

ROWS: Rows = {
    ("Unique", "opset10"): [
        ("static", "f32[3,4]", "f32[1..12] i64[1..12] i64[12] i64[1..12]"),
        ("axis", "f32[3,4] [-1]", {"index_element_type": "i32"}, "f32[3,1..4] i32[1..4] i32[4] i64[1..4]"),
        ("empty", "f32[0,4] 0", {"count_element_type": "i32"}, "f32[0,4] i64[0] i64[0] i32[0]"),
        ("bounds", "f32[2..5,4..6]", "f32[1..30] i64[1..30] i64[8..30] i64[1..30]"),
        ("may be empty", "f32[..3,4] 0", differs("f32[..3,4] i64[..3] i64[..3] i64[..3]", "f32[1..3,4] i64[?] i64[..3] i64[?]")),
        ("unranked", "f32[...]", "f32[?] i64[?] i64[?] i64[?]"),
        ("unranked with axis", "f32[...] 0", "f32[...] i64[?] i64[?] i64[?]"),
        ("axis not constant", "f32[3,4] i64[]", "V105"),
        ("axis out of range", "f32[3,4] 2", "V102"),
        ("two axes", "f32[3,4] [0,1]", "V103"),
        ("type of indices", "f32[3,4]", {"index_element_type": "u64"}, "A103"),
        ("float axis", "f32[3,4] f32=0.0", "T101"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)
