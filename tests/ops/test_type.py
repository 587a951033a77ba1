"""Type conversions."""

from tests.support.rows import Rows, differs, row_tests
from tests.support.values import value_tests

ROWS: Rows = {
    ("Convert", "opset1"): [
        ("static", "f32[2,3]", {"destination_type": "i64"}, "i64[2,3]"),
        ("bounds", "string[1..4,?]", {"destination_type": "nf4"}, "nf4[1..4,?]"),
        ("unranked", "u1[...]", {"destination_type": "BOOLEAN"}, "boolean[...]"),
        ("no type", "f32[2]", "dynamic[2]"),
        ("unknown type", "f32[2]", {"destination_type": "f33"}, "A103"),
    ],
    ("ConvertLike", "opset1"): [
        ("static", "f32[2,3] i64[...]", "i64[2,3]"),
        ("bounds", "string[1..4,?] f16[5]", "f16[1..4,?]"),
        ("unranked", "f32[...] dynamic[]", "dynamic[...]"),
        ("one input", "f32[2]", "G107"),
    ],
    ("ConvertPromoteTypes", "opset14"): [
        ("equal", "f32[2] f32[1..3]", "f32[2] f32[1..3]"),
        ("wider", "i8[2] i32[...]", "i32[2] i32[...]"),
        ("boolean", "boolean[2] u4[3]", "u4[2] u4[3]"),
        ("unknown", "dynamic[2] u4[3]", "dynamic[2] dynamic[3]"),
        ("wider real", "f16[2] i8[3]", "f16[2] f16[3]"),
        ("unsigned in wider signed", "u16[2] i32[3]", "i32[2] i32[3]"),
        ("unsafe signs", "u8[2] i8[3]", {"promote_unsafe": True}, "i16[2] i16[3]"),
        ("unsafe u64", "u64[2] i8[3]", {"promote_unsafe": True, "u64_integer_promotion_target": "f64"}, "f64[2] f64[3]"),
        ("unsafe reals", "f16[2] bf16[3]", {"promote_unsafe": True}, "f32[2] f32[3]"),
        ("unsafe f8", "f8e4m3[2] f8e5m2[3]", {"promote_unsafe": True}, "f16[2] f16[3]"),
        ("scalar", "f32[2] f16[]", {"pytorch_scalar_promotion": True}, "f32[2] f32[]"),
        ("wider scalar", "f16[2] f32[]", {"pytorch_scalar_promotion": True, "promote_unsafe": True}, "f16[2] f16[]"),
        ("rank unknown", "f32[...] f64[]", {"pytorch_scalar_promotion": True}, "dynamic[...] dynamic[]"),
        ("unsafe scalar refused", "f16[2] f32[]", {"pytorch_scalar_promotion": True}, "T102"),
        ("signs refused", "u8[2] i8[3]", "T102"),
        ("narrow real refused", "f16[2] i16[3]", "T102"),
        ("string", "string[2] i8[3]", "T101"),
    ],
    ("StringTensorUnpack", "opset15"): [
        ("static", "string[2,3]", "i32[2,3] i32[2,3] u8[?]"),
        ("empty", "string[?,0]", "i32[?,0] i32[?,0] u8[0]"),
        ("unranked", "string[...]", "i32[...] i32[...] u8[?]"),
        ("numbers", "u8[2]", "T101"),
        ("type not known", "dynamic[2]", "T101"),
    ],
    ("StringTensorUnpack", "extension"): [
        ("strings", "string[2,1..3]", "i32[2,1..3] i32[2,1..3] u8[?]"),
        ("packed strings", "u8[7]", "i32[?] i32[?] u8[?]"),
        ("packed strings of unknown rank", "u8[...]", "i32[?] i32[?] u8[?]"),
        ("type not known", "dynamic[2]", "i32[...] i32[...] u8[?]"),
        ("rank of packed strings", "u8[2,3]", "S101"),
        ("numbers", "i32[2]", "T101"),
        ("mode", "string[2]", {"mode": "rows"}, "A103"),
    ],
    ("StringTensorPack", "extension"): [
        ("static", "i32[2] i32[?] u8[?]", "string[2]"),
        ("unranked", "i32[...] i32[...] u8[4]", "string[...]"),
        ("sizes", "i32[2] i32[3] u8[4]", "S201"),
        ("i64", "i64[2] i64[2] u8[4]", "string[2]"),
        ("types", "i64[2] i32[2] u8[4]", "T102"),
    ],
    ("StringTensorPack", "opset15"): [
        ("static", "i64[2] i64[?] u8[?]", "string[2]"),
        ("bounds", "i32[1..5] i32[2..8] u8[...]", "string[2..5]"),
        ("unranked", "i32[...] i32[...] u8[4]", "string[...]"),
        ("sizes", "i64[2] i64[3] u8[4]", "S201"),
        ("ranks", "i64[2] i64[2,1] u8[4]", "S102"),
        ("scalar symbols", "i64[2] i64[2] u8[]", "S101"),
        ("types", "i64[2] i32[2] u8[4]", "T102"),
        ("symbols of another type", "i64[2] i64[2] i8[4]", "T101"),
        ("begins of unknown type", "dynamic[2] i64[2] u8[4]", "T101"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)

# Values that travel into a shape.
VALUES: Rows = {
    ("Convert", "opset1"): [
        ("[9223372036854775807]", {"destination_type": "i32"}, differs("[2147483647]", "[?]")),
        ("f32=[2.9]", {"destination_type": "i32"}, "[2]"),
        ("[2049]", {"destination_type": "f16"}, "[2048]"),
        ("[300,3]", {"destination_type": "u8"}, differs("[..255,3]", "[44,3]")),
        ("[?,4..5]", {"destination_type": "u16"}, "[..65535,4..5]"),
        ("[4..,?]", {"destination_type": "u8"}, differs("[..255,..255]", "[4..255,..255]")),
        ("[3..5,?]", {"destination_type": "f32"}, "[3..5,?]"),
        ("[3..3000]", {"destination_type": "f16"}, "[3..3000]"),
        ("[3..300,5]", {"destination_type": "i8"}, differs("[..127,5]", "[3..44,5]")),
    ]
}

test_values, test_values_with_openvino = value_tests(VALUES)
