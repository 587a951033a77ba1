"""Attention, and the decoding and scoring of label sequences."""

from typing import Any

import pytest

from tests.support.rows import check_row, check_row_with_openvino, const, ids

QUERY, KEY, VALUE = "f32[2,8,10,64]", "f32[2,8,20,64]", "f32[2,8,20,32]"

ROWS: dict[tuple[str, str], list[tuple[Any, ...]]] = {
    ("ScaledDotProductAttention", "opset13"): [
        ("static", QUERY, KEY, VALUE, "f32[2,8,10,32]"),
        ("mask", QUERY, KEY, VALUE, "boolean[10,20]", "f32[2,8,10,32]"),
        ("mask of the type", QUERY, KEY, VALUE, "f32[2,1,10,20]", "f32[2,8,10,32]"),
        ("scalar mask", QUERY, KEY, VALUE, "f32[]", "f32[2,8,10,32]"),
        ("scale", QUERY, KEY, VALUE, "f32[10,20]", const(0.5, "f32"), "f32[2,8,10,32]"),
        ("sink", QUERY, KEY, VALUE, "f32[10,20]", const(0.5, "f32"), "f32[1,8,1,1]", "f32[2,8,10,32]"),
        ("causal", QUERY, KEY, VALUE, "boolean[7]", {"causal": "true"}, "f32[2,8,10,32]"),
        ("shared keys", QUERY, "f32[1,1,20,64]", "f32[2,1,20,32]", "f32[2,8,10,32]"),
        ("bounds", "f16[?,8,1..9,64]", "f16[2,8,?,?]", "f16[2,8,5..,3..4]", "f16[2,8,1..9,3..4]"),
        ("unranked", "f32[...]", "f32[...]", "f32[...]", "f32[...]"),
        ("other features", QUERY, "f32[2,8,20,63]", VALUE, "S201"),
        ("other rows", QUERY, KEY, "f32[2,8,21,32]", "S201"),
        ("other heads", QUERY, "f32[2,7,20,64]", VALUE, "S202"),
        ("mask of other columns", QUERY, KEY, VALUE, "boolean[10,21]", "S202"),
        ("mask of one axis", QUERY, KEY, VALUE, "boolean[20]", "S101"),
        ("low rank", "f32[10,64]", KEY, VALUE, "S101"),
        ("scales", QUERY, KEY, VALUE, "f32[10,20]", const([0.5, 0.5], "f32"), "V103"),
        ("integers", "i32[2,10,64]", "i32[2,20,64]", "i32[2,20,32]", "T101"),
        ("integer mask", QUERY, KEY, VALUE, "i32[10,20]", "T101"),
        ("mask of another type", QUERY, KEY, VALUE, "f16[10,20]", "T102"),
        ("types differ", QUERY, "f16[2,8,20,64]", VALUE, "T102"),
        ("no value", QUERY, KEY, "G107"),
    ],
    ("CTCGreedyDecoder", "opset1"): [
        ("static", "f32[20,8,128]", "f32[20,8]", "f32[8,20,1,1]"),
        ("bounds", "f16[?,8,128]", "f16[..20,2..]", "f16[8,..20,1,1]"),
        ("unranked", "f32[...]", "f32[...]", "f32[?,?,1,1]"),
        ("other batch", "f32[20,8,128]", "f32[20,9]", "S201"),
        ("low rank", "f32[20,8]", "f32[20,8]", "S101"),
    ],
    ("CTCGreedyDecoderSeqLen", "opset6"): [
        ("static", "f32[8,20,128]", "i32[8]", ("i32[8,20]", "i32[8]")),
        (
            "types of choice", "f32[8,20,128]", "i32[8]", const(120, "i32"),
            {"classes_index_type": "i64", "sequence_length_type": "i32"},
            ("i64[8,20]", "i32[8]"),
        ),
        ("bounds", "f16[?,..20,128]", "i32[2..]", ("i32[2..,..20]", "i32[2..]")),
        ("unranked", "f32[...]", "i32[...]", ("i32[?,?]", "i32[?]")),
        ("other batch", "f32[8,20,128]", "i32[9]", "S201"),
        ("two blanks", "f32[8,20,128]", "i32[8]", "i32[2]", "V103"),
        ("low rank", "f32[8,20]", "i32[8]", "S101"),
    ],
    ("CTCLoss", "opset4"): [
        ("static", "f32[8,20,128]", "i32[8]", "i32[8,20]", "i32[8]", "f32[8]"),
        ("blank", "f32[8,20,128]", "i32[8]", "i32[8,20]", "i32[8]", const(120, "i32"), "f32[8]"),
        ("bounds", "f16[?,20,128]", "i64[2..]", "i64[..9,?]", "i64[?]", "f16[2..9]"),
        ("unranked", "f32[...]", "i32[...]", "i32[...]", "i32[...]", "f32[?]"),
        ("other steps", "f32[8,20,128]", "i32[8]", "i32[8,21]", "i32[8]", "S201"),
        ("other batch", "f32[8,20,128]", "i32[9]", "i32[8,20]", "i32[8]", "S201"),
        ("low rank", "f32[20,128]", "i32[8]", "i32[8,20]", "i32[8]", "S101"),
        ("float labels", "f32[8,20,128]", "i32[8]", "f32[8,20]", "i32[8]", "T101"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row(type, version, row)


@pytest.mark.oracle
@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row_with_openvino(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row_with_openvino(type, version, row)
