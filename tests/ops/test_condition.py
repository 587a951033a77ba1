"""Conditions: Select, NonZero and Bucketize."""

from tests.support.rows import Rows, row_tests

ROWS: Rows = {
    ("Select", "opset1"): [
        ("static", "boolean[3] f32[2,1] f32[1,3]", "f32[2,3]"),
        ("bounds", "boolean[?] f32[1..4,?] f32[2,3]", "f32[2,3]"),
        ("unranked", "boolean[2] f32[...] f32[2]", "f32[...]"),
        ("type from the third", "dynamic[2] dynamic[2] string[2]", "string[2]"),
        ("none", "boolean[...] f32[2,?] f32[2,3]", {"auto_broadcast": "none"}, "f32[2,3]"),
        ("none, another shape", "boolean[] f32[2] f32[2]", {"auto_broadcast": "none"}, "S202"),
        ("pdpd", "boolean[2] f32[2,3] f32[2]", {"auto_broadcast": "pdpd"}, "f32[2,3]"),
        ("pdpd, larger condition", "boolean[4,2,3] f32[2,3] f32[3]", {"auto_broadcast": "pdpd"}, "S202"),
        ("sizes", "boolean[2] f32[2,3] f32[2,3]", "S202"),
        ("condition", "i32[2] f32[2] f32[2]", "T101"),
        ("types", "boolean[2] f32[2] i32[2]", "T102"),
    ],
    ("NonZero", "opset3"): [
        ("constant", "[[1,0,3]]", "i64[2,2]"),
        ("real constant", "f32=[[1.0,0.0,3.0]]", {"output_type": "i32"}, "i32[2,2]"),
        ("not constant", "f32[2..3,4]", "i64[2,..12]"),
        ("half-open", "f32[2,?]", "i64[2,?]"),
        ("empty", "f32[0,?]", "i64[2,0]"),
        ("scalar constant", "0", "i64[0,0]"),
        ("scalar", "f32[]", "i64[?,?]"),
        ("unranked", "string[...]", "i64[?,?]"),
        ("real indices", "f32[2]", {"output_type": "f32"}, "A103"),
    ],
    ("Bucketize", "opset3"): [
        ("static", "f32[2,3] i32[5]", {"output_type": "i32"}, "i32[2,3]"),
        ("bounds", "dynamic[1..4,?] f32[?]", {"output_type": "i64"}, "i64[1..4,?]"),
        ("unranked", "f32[...] f32[...]", {"output_type": "i64"}, "i64[...]"),
        ("buckets of rank 2", "f32[2] f32[2,2]", {"output_type": "i64"}, "S101"),
        ("boolean data", "boolean[2] f32[2]", {"output_type": "i64"}, "T101"),
        ("boolean buckets", "f32[2] boolean[2]", {"output_type": "i64"}, "T101"),
        ("no output type", "f32[2] f32[2]", "A101"),
        ("real output", "f32[2] f32[2]", {"output_type": "f32"}, "A103"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)
