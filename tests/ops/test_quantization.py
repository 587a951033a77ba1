"""Quantization."""

from tests.support.rows import Rows, row_tests

ROWS: Rows = {
    ("FakeQuantize", "opset1"): [
        ("static", "f32[2,3] f32[3] f32[2,1] f32[1] f32[]", {"levels": 256}, "f32[2,3]"),
        ("bounds", "i8[1..4,?] f16[] f16[1] f16[1,1] f16[]", {"levels": 256}, "i8[1..4,?]"),
        ("unranked", "f32[...] f32[3] f32[2,1] f32[1] f32[]", {"levels": 256}, "f32[...]"),
        ("limits with more axes", "f32[1,3] f32[4,2,3] f32[] f32[] f32[]", {"levels": 256}, "f32[1,3]"),
        ("sizes", "f32[2,3] f32[4] f32[] f32[] f32[]", {"levels": 256}, "S202"),
        ("none", "f32[2] f32[] f32[2] f32[2] f32[2]", {"levels": 256, "auto_broadcast": "none"}, "S202"),
    ],
    ("FakeConvert", "opset13"): [
        ("static", "f32[2,3] f32[3]", {"destination_type": "f8e5m2"}, "f32[2,3]"),
        ("bounds", "bf16[1..4,?] dynamic[4,5] bf16[...]", "bf16[4,5]"),
        ("unranked", "f16[...] f16[3]", "f16[...]"),
        ("scale unranked", "dynamic[2] f16[...]", "f16[2]"),
        ("sizes", "f32[2,3] f32[4]", "S202"),
        ("enlarging", "f32[1,3] f32[2,1]", "S201"),
        ("more axes", "f32[2,3] f32[1,2,3]", "S102"),
        ("shift unlike scale", "f32[2,3] f32[3] f32[]", "S102"),
        ("types", "f32[2] f16[]", "T102"),
        ("integers", "i32[2] i32[]", "T101"),
        ("destination", "f32[2] f32[]", {"destination_type": "f16"}, "A103"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)
