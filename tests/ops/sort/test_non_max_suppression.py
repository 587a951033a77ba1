"""NonMaxSuppression."""

from tests.support.rows import Rows, differs, row_tests

ROWS: Rows = {
    ("NonMaxSuppression", "opset1"): [
        ("static", "f32[2,100,4] f32[2,5,100] 10", "i64[50,3]"),
        ("all boxes", "f32[2,100,4] f32[2,5,100] 1000", "i64[100,3]"),
        ("none", "f32[2,100,4] f32[2,5,100]", "i64[0,3]"),
        ("bounds", "f32[2,1..20,4] f32[2,1..2,?] 10", "i64[1..20,3]"),
        ("limit not constant", "f32[2,100,4] f32[2,5,100] i64[]", "i64[..100,3]"),
        ("unranked", "f32[...] f32[2,5,100] 10", "i64[?,3]"),
        ("list of limits", "f32[2,100,4] f32[2,5,100] [10]", "S101"),
        ("coordinates", "f32[2,100,5] f32[2,5,100]", "S201"),
    ],
    ("NonMaxSuppression", "opset3"): [
        ("static", "f32[2,100,4] f32[2,5,100] 10", {"output_type": "i32"}, "i32[50,3]"),
        ("output type", "f32[2,100,4] f32[2,5,100]", {"output_type": "u8"}, "A103"),
    ],
    ("NonMaxSuppression", "opset4"): [
        ("static", "f32[2,100,4] f32[2,5,100] 10", "i64[100,3]"),
        ("all boxes", "f32[2,100,4] f32[2,5,100] 1000", "i64[1000,3]"),
        ("bounds", "f32[1..8,100,4] f32[1..8,5,100] 10", differs("i64[50..400,3]", "i64[400,3]")),
        ("batches differ", "f32[3,100,4] f32[2,5,100] 10", "S201"),
    ],
    ("NonMaxSuppression", "opset5"): [
        ("static", "f32[2,100,4] f32[2,5,100] 10", "i64[..100,3] f32[..100,3] i64[1]"),
        ("all inputs", "f32[1,9,4] f16[1,2,9] [3] f32[] f32[1] bf16[]", "i64[..6,3] f32[..6,3] i64[1]"),
        ("float limit", "f32[1,9,4] f32[1,2,9] f32=3.5", "i64[..6,3] f32[..6,3] i64[1]"),
        ("none", "f32[1,9,4] f32[1,2,9] 0", "i64[0,3] f32[0,3] i64[1]"),
        ("bounds", "f32[2,1..20,4] f32[2,5,?] 10", "i64[..100,3] f32[..100,3] i64[1]"),
        ("limit not constant", "f32[1,9,4] f32[1,2,9] i64[]", "i64[..18,3] f32[..18,3] i64[1]"),
        ("unranked", "f32[...] f32[1,2,9] 3", "i64[?,3] f32[?,3] i64[1]"),
        ("integer boxes", "i32[1,9,4] f32[1,2,9]", "T101"),
        ("integer threshold", "f32[1,9,4] f32[1,2,9] 3 i32[]", "T101"),
        ("boxes of rank 2", "f32[9,4] f32[1,2,9]", "S101"),
        ("batches differ", "f32[3,9,4] f32[1,2,9]", "S201"),
        ("boxes differ", "f32[1,8,4] f32[1,2,9]", "S201"),
        ("two limits", "f32[1,9,4] f32[1,2,9] [3,4]", "V103"),
        ("unknown encoding", "f32[1,9,4] f32[1,2,9]", {"box_encoding": "middle"}, "A103"),
    ],
    ("NonMaxSuppression", "opset9"): [
        ("static", "f32[2,100,4] f32[2,5,100] 10", {"output_type": "i32"}, "i32[..100,3] f32[..100,3] i32[1]"),
        ("output type", "f32[2,100,4] f32[2,5,100]", {"output_type": "f32"}, "A103"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)
