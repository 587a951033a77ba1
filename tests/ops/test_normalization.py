"""Type, quantization and normalization operations."""

from typing import Any

import pytest

from tests.support.rows import check_row, check_row_with_openvino, const, ids

EPSILON = {"epsilon": 0.001}
LRN = {"alpha": 1, "beta": 0.75, "bias": 1, "size": 5}
L2 = {"eps": 0.001, "eps_mode": "add"}

ROWS: dict[tuple[str, str], list[tuple[Any, ...]]] = {
    ("Convert", "opset1"): [
        ("static", "f32[2,3]", {"destination_type": "i64"}, "i64[2,3]"),
        ("bounds", "string[1..4,?]", {"destination_type": "nf4"}, "nf4[1..4,?]"),
        ("unranked", "u1[...]", {"destination_type": "BOOLEAN"}, "boolean[...]"),
        ("no type", "f32[2]", "dynamic[2]"),
        ("unknown type", "f32[2]", {"destination_type": "f33"}, "A103"),
    ],
    ("ConvertLike", "opset1"): [
        ("static", "f32[2,3]", "i64[...]", "i64[2,3]"),
        ("bounds", "string[1..4,?]", "f16[5]", "f16[1..4,?]"),
        ("unranked", "f32[...]", "dynamic[]", "dynamic[...]"),
        ("one input", "f32[2]", "G107"),
    ],
    ("ConvertPromoteTypes", "opset14"): [
        ("equal", "f32[2]", "f32[1..3]", ("f32[2]", "f32[1..3]")),
        ("wider", "i8[2]", "i32[...]", ("i32[2]", "i32[...]")),
        ("boolean", "boolean[2]", "u4[3]", ("u4[2]", "u4[3]")),
        ("unknown", "dynamic[2]", "u4[3]", ("dynamic[2]", "dynamic[3]")),
        ("wider real", "f16[2]", "i8[3]", ("f16[2]", "f16[3]")),
        ("unsigned in wider signed", "u16[2]", "i32[3]", ("i32[2]", "i32[3]")),
        ("unsafe signs", "u8[2]", "i8[3]", {"promote_unsafe": True}, ("i16[2]", "i16[3]")),
        ("unsafe u64", "u64[2]", "i8[3]", {"promote_unsafe": True, "u64_integer_promotion_target": "f64"}, ("f64[2]", "f64[3]")),
        ("unsafe reals", "f16[2]", "bf16[3]", {"promote_unsafe": True}, ("f32[2]", "f32[3]")),
        ("unsafe f8", "f8e4m3[2]", "f8e5m2[3]", {"promote_unsafe": True}, ("f16[2]", "f16[3]")),
        ("scalar", "f32[2]", "f16[]", {"pytorch_scalar_promotion": True}, ("f32[2]", "f32[]")),
        ("wider scalar", "f16[2]", "f32[]", {"pytorch_scalar_promotion": True, "promote_unsafe": True}, ("f16[2]", "f16[]")),
        ("rank unknown", "f32[...]", "f64[]", {"pytorch_scalar_promotion": True}, ("dynamic[...]", "dynamic[]")),
        ("unsafe scalar refused", "f16[2]", "f32[]", {"pytorch_scalar_promotion": True}, "T102"),
        ("signs refused", "u8[2]", "i8[3]", "T102"),
        ("narrow real refused", "f16[2]", "i16[3]", "T102"),
        ("string", "string[2]", "i8[3]", "T101"),
    ],
    ("StringTensorUnpack", "opset15"): [
        ("static", "string[2,3]", ("i32[2,3]", "i32[2,3]", "u8[?]")),
        ("empty", "string[?,0]", ("i32[?,0]", "i32[?,0]", "u8[0]")),
        ("unranked", "string[...]", ("i32[...]", "i32[...]", "u8[?]")),
        ("numbers", "u8[2]", "T101"),
        ("type not known", "dynamic[2]", "T101"),
    ],
    ("StringTensorPack", "opset15"): [
        ("static", "i64[2]", "i64[?]", "u8[?]", "string[2]"),
        ("bounds", "i32[1..5]", "i32[2..8]", "u8[...]", "string[2..5]"),
        ("unranked", "i32[...]", "i32[...]", "u8[4]", "string[...]"),
        ("sizes", "i64[2]", "i64[3]", "u8[4]", "S201"),
        ("ranks", "i64[2]", "i64[2,1]", "u8[4]", "S102"),
        ("scalar symbols", "i64[2]", "i64[2]", "u8[]", "S101"),
        ("types", "i64[2]", "i32[2]", "u8[4]", "T102"),
        ("symbols of another type", "i64[2]", "i64[2]", "i8[4]", "T101"),
        ("begins of unknown type", "dynamic[2]", "i64[2]", "u8[4]", "T101"),
    ],
    ("FakeQuantize", "opset1"): [
        ("static", "f32[2,3]", "f32[3]", "f32[2,1]", "f32[1]", "f32[]", {"levels": 256}, "f32[2,3]"),
        ("bounds", "i8[1..4,?]", "f16[]", "f16[1]", "f16[1,1]", "f16[]", {"levels": 256}, "i8[1..4,?]"),
        ("unranked", "f32[...]", "f32[3]", "f32[2,1]", "f32[1]", "f32[]", {"levels": 256}, "f32[...]"),
        ("limits with more axes", "f32[1,3]", "f32[4,2,3]", "f32[]", "f32[]", "f32[]", {"levels": 256}, "f32[1,3]"),
        ("sizes", "f32[2,3]", "f32[4]", "f32[]", "f32[]", "f32[]", {"levels": 256}, "S202"),
        ("none", "f32[2]", "f32[]", "f32[2]", "f32[2]", "f32[2]", {"levels": 256, "auto_broadcast": "none"}, "S202"),
    ],
    ("FakeConvert", "opset13"): [
        ("static", "f32[2,3]", "f32[3]", {"destination_type": "f8e5m2"}, "f32[2,3]"),
        ("bounds", "bf16[1..4,?]", "dynamic[4,5]", "bf16[...]", "bf16[4,5]"),
        ("unranked", "f16[...]", "f16[3]", "f16[...]"),
        ("scale unranked", "dynamic[2]", "f16[...]", "f16[2]"),
        ("sizes", "f32[2,3]", "f32[4]", "S202"),
        ("enlarging", "f32[1,3]", "f32[2,1]", "S201"),
        ("more axes", "f32[2,3]", "f32[1,2,3]", "S102"),
        ("shift unlike scale", "f32[2,3]", "f32[3]", "f32[]", "S102"),
        ("types", "f32[2]", "f16[]", "T102"),
        ("integers", "i32[2]", "i32[]", "T101"),
        ("destination", "f32[2]", "f32[]", {"destination_type": "f16"}, "A103"),
    ],
    ("BatchNormInference", "opset5"): [
        ("static", "f32[2,3,4]", "f32[3]", "f32[3]", "f32[3]", "f32[3]", EPSILON, "f32[2,3,4]"),
        ("bounds", "f32[2,1..4,?]", "f32[?]", "f32[3..7]", "f32[2..6]", "f32[...]", EPSILON, "f32[2,3..4,?]"),
        ("unranked", "dynamic[...]", "f16[3]", "f16[?]", "f16[3]", "f16[3]", EPSILON, "f16[...]"),
        ("channels", "f32[2,4]", "f32[3]", "f32[3]", "f32[3]", "f32[3]", EPSILON, "S201"),
        ("lengths", "f32[...]", "f32[3]", "f32[3]", "f32[3]", "f32[4]", EPSILON, "S201"),
        ("no channels", "f32[2,?]", "f32[0]", "f32[0]", "f32[0]", "f32[0]", EPSILON, "S203"),
        ("low rank", "f32[2]", "f32[2]", "f32[2]", "f32[2]", "f32[2]", EPSILON, "S101"),
        ("gamma of rank 2", "f32[2,3]", "f32[3,1]", "f32[3]", "f32[3]", "f32[3]", EPSILON, "S101"),
        ("types", "f32[2,3]", "f16[3]", "f32[3]", "f32[3]", "f32[3]", EPSILON, "T102"),
        ("integers", "i32[2,3]", "i32[3]", "i32[3]", "i32[3]", "i32[3]", EPSILON, "T101"),
        ("negative epsilon", "f32[2,3]", "f32[3]", "f32[3]", "f32[3]", "f32[3]", {"epsilon": -1}, "A104"),
    ],
    ("BatchNormInference", "opset1"): [
        ("data in the middle", "f32[3]", "f32[3]", "f32[2,?,4]", "f32[3]", "f32[3]", EPSILON, "f32[2,3,4]"),
        ("low rank", "f32[3]", "f32[3]", "f32[3]", "f32[3]", "f32[3]", EPSILON, "S101"),
    ],
    ("GRN", "opset1"): [
        ("static", "f32[2,3,4]", {"bias": 1}, "f32[2,3,4]"),
        ("bounds", "boolean[1..4,?]", {"bias": 1}, "boolean[1..4,?]"),
        ("unranked", "f32[...]", {"bias": 1}, "f32[...]"),
        ("low rank", "f32[2]", {"bias": 1}, "S101"),
        ("high rank", "f32[2,3,4,5,6]", {"bias": 1}, "S101"),
    ],
    ("GroupNormalization", "opset12"): [
        ("static", "f32[2,6,4]", "f32[6]", "f32[6]", {"num_groups": 3, **EPSILON}, "f32[2,6,4]"),
        ("bounds", "f32[2,1..8]", "f32[4..7]", "f16[...]", {"num_groups": 3, **EPSILON}, "f32[2,6]"),
        ("unranked", "f32[...]", "f32[5]", "f32[?]", {"num_groups": 3, **EPSILON}, "f32[...]"),
        ("remainder", "f32[2,5]", "f32[5]", "f32[5]", {"num_groups": 3}, "S204"),
        ("channels", "f32[2,6]", "f32[3]", "f32[3]", {"num_groups": 3}, "S201"),
        ("lengths", "f32[...]", "f32[3]", "f32[6]", {"num_groups": 3}, "S201"),
        ("low rank", "f32[6]", "f32[6]", "f32[6]", {"num_groups": 3}, "S101"),
        ("bias of rank 2", "f32[2,6]", "f32[6]", "f32[6,1]", {"num_groups": 3}, "S101"),
        ("no groups", "f32[...]", "f32[?]", "f32[?]", {"num_groups": 0}, "A104"),
        ("groups missing", "f32[2,6]", "f32[6]", "f32[6]", "A101"),
    ],
    ("LRN", "opset1"): [
        ("static", "f32[2,3,4,5]", [1], LRN, "f32[2,3,4,5]"),
        ("bounds", "string[1..4,?]", "u8[?]", LRN, "string[1..4,?]"),
        ("axes not constant", "f32[2,3]", "i64[2]", LRN, "f32[2,3]"),
        ("unranked", "f32[...]", "i64[7]", LRN, "f32[...]"),
        ("axis below the range", "f32[2,3]", [-100], LRN, "f32[2,3]"),
        ("axis", "f32[2,3]", [2], LRN, "V102"),
        ("axes", "f32[2,3]", "i64[3]", LRN, "V103"),
        ("scalar axes", "f32[2,3]", 1, LRN, "S101"),
        ("real axes", "f32[2,3]", "f32[1]", LRN, "T101"),
    ],
    ("MVN", "opset2"): [
        ("static", "f32[2,3,4]", {"eps": 0.1, "across_channels": True, "normalize_variance": True}, "f32[2,3,4]"),
        ("bounds", "string[1..4,?]", {"reduction_axes": [5]}, "string[1..4,?]"),
        ("unranked", "f32[...]", {"eps": 0.1}, "f32[...]"),
        ("no number", "f32[2]", {"eps": "small"}, "A102"),
    ],
    ("MVN", "opset1"): [("the same", "f32[2,3,4]", {"eps": 0.1}, "f32[2,3,4]")],
    ("MVN", "opset6"): [
        ("static", "f32[2,3,4]", [1, -1], {"eps": 0.1, "eps_mode": "outside_sqrt"}, "f32[2,3,4]"),
        ("bounds", "boolean[1..4,?]", "i64[?]", {"eps": 0.1}, "boolean[1..4,?]"),
        ("axes not constant", "f32[2,3]", "f32[2]", {"eps": 0.1}, "f32[2,3]"),
        ("axis beyond the rank", "f32[2,3]", [5], {"eps": 0.1}, "f32[2,3]"),
        ("unranked", "f32[...]", [5], {"eps": 0.1}, "f32[...]"),
        ("axes", "f32[2,3]", "i64[3]", {"eps": 0.1}, "V103"),
        ("scalar axes", "f32[2,3]", 1, {"eps": 0.1}, "S101"),
        ("unknown mode", "f32[2,3]", [1], {"eps": 0.1, "eps_mode": "inside"}, "A103"),
    ],
    ("NormalizeL2", "opset1"): [
        ("static", "f32[2,3,4]", [1, -1], L2, "f32[2,3,4]"),
        ("bounds", "boolean[1..4,?]", "i64[?]", L2, "boolean[1..4,?]"),
        ("scalar axis", "f32[2,3]", -1, L2, "f32[2,3]"),
        ("axes not constant", "f32[2,3]", "f32[5]", L2, "f32[2,3]"),
        ("unranked", "f32[...]", [5], L2, "f32[...]"),
        ("axis", "f32[2,3]", [2], L2, "V102"),
        ("axes of rank 2", "f32[2,3]", [[1]], L2, "S101"),
        ("boolean axes", "f32[2,3]", const([1], "boolean"), L2, "T101"),
    ],
}


@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row(type, version, row)


@pytest.mark.oracle
@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row_with_openvino(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row_with_openvino(type, version, row)
