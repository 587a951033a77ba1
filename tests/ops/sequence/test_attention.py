"""Attention."""

from tests.support.rows import Rows, row_tests

ROWS: Rows = {
    ("ScaledDotProductAttention", "opset13"): [
        ("static", "f32[2,3,5,8] f32[2,3,7,8] f32[2,3,7,9]", "f32[2,3,5,9]"),
        ("causal", "f32[2,5,8] f32[2,7,8] f32[2,7,9] string[4]", {"causal": "true"}, "f32[2,5,9]"),
        ("mask", "f32[2,1,8] f32[2,7,8] f32[2,7,9] f32[5,7]", "f32[2,5,9]"),
        ("mask of more axes", "f32[2,5,8] f32[2,7,8] f32[2,7,9] boolean[4,1,1,7]", "f32[4,2,5,9]"),
        ("scalar mask", "f32[2,5,8] f32[2,7,8] f32[2,7,9] f32[] f32[1]", "f32[2,5,9]"),
        ("sink", "f32[2,5,8] f32[2,7,8] f32[2,7,9] f32[] f32[] f32[2,1,1]", "f32[2,5,9]"),
        ("scale before a sink", "f32[2,5,8] f32[2,7,8] f32[2,7,9] f32[] f32[3] f32[2,1,1]", "f32[2,5,9]"),
        ("surplus input", "f32[2,5,8] f32[2,7,8] f32[2,7,9] f32[] f32[] f32[3] f32[4]", "f32[2,5,9]"),
        ("batches broadcast", "f32[1,5,8] f32[4,3,7,8] f32[3,7,9]", "f32[4,3,5,9]"),
        ("bounds", "f32[2..,3..5,8] f32[..3,7,?] f32[?,?,4..]", "f32[2..,3..5,4..]"),
        ("batch bounds", "f32[2..,5,8] f32[2..3,7,8] f32[?,7,9]", "f32[2..3,5,9]"),
        ("unranked query", "f32[...] f32[2,7,8] f32[2,7,9]", "f32[...]"),
        ("unranked key", "f32[2,5,8] f32[...] f32[2,7,9]", "f32[2,5,9]"),
        ("unranked value", "f32[2,5,8] f32[2,7,8] f32[...]", "f32[2,5,?]"),
        ("features differ", "f32[2,5,8] f32[2,7,9] f32[2,7,9]", "S201"),
        ("rows differ", "f32[2,5,8] f32[2,7,8] f32[2,6,9]", "S201"),
        ("batches differ", "f32[2,5,8] f32[3,7,8] f32[3,7,9]", "S202"),
        ("mask differs", "f32[2,5,8] f32[2,7,8] f32[2,7,9] f32[5,6]", "S202"),
        ("mask of rank 1", "f32[2,5,8] f32[2,7,8] f32[2,7,9] f32[7]", "S101"),
        ("integer mask", "f32[2,5,8] f32[2,7,8] f32[2,7,9] i32[5,7]", "T101"),
        ("mask of another type", "f32[2,5,8] f32[2,7,8] f32[2,7,9] f16[5,7]", "T102"),
        ("mask tells the type", "dynamic[2,5,8] dynamic[2,7,8] dynamic[2,7,9] f16[5,7]", "f16[2,5,9]"),
        ("causal mask tells no type", "dynamic[2,5,8] dynamic[2,7,8] dynamic[2,7,9] f16[5,7]", {"causal": "true"}, "dynamic[2,5,9]"),
        ("scale tells the type", "dynamic[2,5,8] dynamic[2,7,8] dynamic[2,7,9] boolean[5,7] f16[]", "f16[2,5,9]"),
        ("mask and scale differ", "dynamic[2,5,8] dynamic[2,7,8] dynamic[2,7,9] f32[5,7] f16[]", "T102"),
        ("causal mask and scale differ", "dynamic[2,5,8] dynamic[2,7,8] dynamic[2,7,9] f32[5,7] f16[]", {"causal": "true"}, "f16[2,5,9]"),
        ("mask and sink differ", "dynamic[2,5,8] dynamic[2,7,8] dynamic[2,7,9] f32[5,7] dynamic[] f16[2,1,1]", "T102"),
        ("two scales", "f32[2,5,8] f32[2,7,8] f32[2,7,9] f32[] f32[2]", "V103"),
        ("rank of the sink", "f32[2,5,8] f32[2,7,8] f32[2,7,9] f32[] f32[] f32[1]", "S101"),
        ("sink differs", "f32[2,5,8] f32[2,7,8] f32[2,7,9] f32[] f32[] f32[3,1,1]", "S202"),
        ("wide sink", "f32[2,5,8] f32[2,7,8] f32[2,7,9] f32[] f32[] f32[2,1,8]", "S201"),
        ("rank", "f32[5,8] f32[2,7,8] f32[2,7,9]", "S101"),
        ("integers", "i32[2,5,8] i32[2,7,8] i32[2,7,9]", "T101"),
        ("types differ", "f32[2,5,8] f16[2,7,8] f32[2,7,9]", "T102"),
        ("two inputs", "f32[2,5,8] f32[2,7,8]", "G107"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)
