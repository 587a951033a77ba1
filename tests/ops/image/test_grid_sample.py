"""GridSample."""

from tests.support.rows import Rows, row_tests

ROWS: Rows = {
    ("GridSample", "opset9"): [
        ("specification", "f32[1,3,100,100] f32[1,10,10,2]", {"align_corners": "true", "mode": "nearest"}, "f32[1,3,10,10]"),
        ("batch by the grid", "i8[?,3,1..,9] f16[2,5..6,?,2]", "i8[2,3,5..6,?]"),
        ("grid unranked", "f32[1,3,9,9] f32[...]", "f32[1,3,?,?]"),
        ("data unranked", "f32[...] f32[2,5,6,2]", "f32[2,?,5,6]"),
        ("batches differ", "f32[1,3,9,9] f32[2,5,6,2]", "S201"),
        ("three coordinates", "f32[1,3,9,9] f32[1,5,6,3]", "S201"),
        ("low rank", "f32[1,3,9] f32[1,5,6,2]", "S101"),
        ("integer grid", "f32[1,3,9,9] i32[1,5,6,2]", "T101"),
        ("unknown padding", "f32[1,3,9,9] f32[1,5,6,2]", {"padding_mode": "wrap"}, "A103"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)
