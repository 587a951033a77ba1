"""Connectionist temporal classification."""

from tests.support.rows import Rows, row_tests

TYPES = {"classes_index_type": "i64", "sequence_length_type": "i32"}

ROWS: Rows = {
    ("CTCGreedyDecoder", "opset1"): [
        ("specification", "f32[20,8,128] f32[20,8]", "f32[8,20,1,1]"),
        ("bounds", "f32[2..5,?,?] i32[4..,..8]", "f32[..8,4..5,1,1]"),
        ("unranked", "f32[...] f32[20,?]", "f32[?,20,1,1]"),
        ("steps differ", "f32[20,8,128] f32[19,8]", "S201"),
        ("batches differ", "f32[20,8,128] f32[20,9]", "S201"),
        ("rank", "f32[20,8] f32[20,8]", "S101"),
        ("rank of the mask", "f32[20,8,128] f32[20]", "S101"),
    ],
    ("CTCGreedyDecoderSeqLen", "opset6"): [
        ("specification", "f32[8,20,128] i32[8] 127", TYPES, "i64[8,20] i32[8]"),
        ("without a blank", "f32[8,20,128] i32[8]", "i32[8,20] i32[8]"),
        ("any type", "f32[8,20,128] i32[8]", {"classes_index_type": "f16"}, "f16[8,20] i32[8]"),
        ("bounds", "f32[2..5,?,?] i64[4..]", "i32[4..5,?] i32[4..5]"),
        ("unranked", "f32[...] i64[8] i64[...]", "i32[8,?] i32[8]"),
        ("blank of an unknown size", "f32[8,20,128] i32[8] i64[?,2]", "i32[8,20] i32[8]"),
        ("batches differ", "f32[8,20,128] i32[9]", "S201"),
        ("two blanks", "f32[8,20,128] i32[8] [1,2]", "V103"),
        ("blank of rank 2", "f32[8,20,128] i32[8] [[1]]", "S101"),
        ("rank", "f32[8,20] i32[8]", "S101"),
        ("rank of the lengths", "f32[8,20,128] i32[8,1]", "S101"),
        ("float blank", "f32[8,20,128] i32[8] f32[]", "T101"),
    ],
    ("CTCLoss", "opset4"): [
        ("specification", "f32[8,20,128] i32[8] i32[8,20] i32[8] 127", "f32[8]"),
        ("types may differ", "f16[8,20,128] i32[8] i64[8,20] u8[8]", "f16[8]"),
        ("bounds", "f32[2..5,?,?] i32[4..] i32[?,3] i32[..9]", "f32[4..5]"),
        ("unranked", "f32[...] i32[...] i32[...] i32[8]", "f32[8]"),
        ("batches differ", "f32[8,20,128] i32[9] i32[8,20] i32[8]", "S201"),
        ("batch of the labels differs", "f32[8,20,128] i32[8] i32[9,20] i32[8]", "S201"),
        ("steps differ", "f32[8,20,128] i32[8] i32[8,19] i32[8]", "S201"),
        ("rank", "f32[8,20] i32[8] i32[8,20] i32[8]", "S101"),
        ("list of blanks", "f32[8,20,128] i32[8] i32[8,20] i32[8] [1]", "S101"),
        ("integers", "i32[8,20,128] i32[8] i32[8,20] i32[8]", "T101"),
        ("type not known", "dynamic[8,20,128] i32[8] i32[8,20] i32[8]", "T101"),
        ("float lengths", "f32[8,20,128] f32[8] i32[8,20] i32[8]", "T101"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)
