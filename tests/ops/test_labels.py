"""Sequences: connectionist temporal classification and attention."""

from typing import Any

import pytest

from tests.support.rows import check_row, check_row_with_openvino, ids

TYPES = {"classes_index_type": "i64", "sequence_length_type": "i32"}

ROWS: dict[tuple[str, str], list[tuple[Any, ...]]] = {
    ("CTCGreedyDecoder", "opset1"): [
        ("specification", "f32[20,8,128]", "f32[20,8]", "f32[8,20,1,1]"),
        ("bounds", "f32[2..5,?,?]", "i32[4..,..8]", "f32[..8,4..5,1,1]"),
        ("unranked", "f32[...]", "f32[20,?]", "f32[?,20,1,1]"),
        ("steps differ", "f32[20,8,128]", "f32[19,8]", "S201"),
        ("batches differ", "f32[20,8,128]", "f32[20,9]", "S201"),
        ("rank", "f32[20,8]", "f32[20,8]", "S101"),
        ("rank of the mask", "f32[20,8,128]", "f32[20]", "S101"),
    ],
    ("CTCGreedyDecoderSeqLen", "opset6"): [
        ("specification", "f32[8,20,128]", "i32[8]", 127, TYPES, ("i64[8,20]", "i32[8]")),
        ("without a blank", "f32[8,20,128]", "i32[8]", ("i32[8,20]", "i32[8]")),
        ("any type", "f32[8,20,128]", "i32[8]", {"classes_index_type": "f16"}, ("f16[8,20]", "i32[8]")),
        ("bounds", "f32[2..5,?,?]", "i64[4..]", ("i32[4..5,?]", "i32[4..5]")),
        ("unranked", "f32[...]", "i64[8]", "i64[...]", ("i32[8,?]", "i32[8]")),
        ("blank of an unknown size", "f32[8,20,128]", "i32[8]", "i64[?,2]", ("i32[8,20]", "i32[8]")),
        ("batches differ", "f32[8,20,128]", "i32[9]", "S201"),
        ("two blanks", "f32[8,20,128]", "i32[8]", [1, 2], "V103"),
        ("blank of rank 2", "f32[8,20,128]", "i32[8]", [[1]], "S101"),
        ("rank", "f32[8,20]", "i32[8]", "S101"),
        ("rank of the lengths", "f32[8,20,128]", "i32[8,1]", "S101"),
        ("float blank", "f32[8,20,128]", "i32[8]", "f32[]", "T101"),
    ],
    ("CTCLoss", "opset4"): [
        ("specification", "f32[8,20,128]", "i32[8]", "i32[8,20]", "i32[8]", 127, "f32[8]"),
        ("types may differ", "f16[8,20,128]", "i32[8]", "i64[8,20]", "u8[8]", "f16[8]"),
        ("bounds", "f32[2..5,?,?]", "i32[4..]", "i32[?,3]", "i32[..9]", "f32[4..5]"),
        ("unranked", "f32[...]", "i32[...]", "i32[...]", "i32[8]", "f32[8]"),
        ("batches differ", "f32[8,20,128]", "i32[9]", "i32[8,20]", "i32[8]", "S201"),
        ("batch of the labels differs", "f32[8,20,128]", "i32[8]", "i32[9,20]", "i32[8]", "S201"),
        ("steps differ", "f32[8,20,128]", "i32[8]", "i32[8,19]", "i32[8]", "S201"),
        ("rank", "f32[8,20]", "i32[8]", "i32[8,20]", "i32[8]", "S101"),
        ("list of blanks", "f32[8,20,128]", "i32[8]", "i32[8,20]", "i32[8]", [1], "S101"),
        ("integers", "i32[8,20,128]", "i32[8]", "i32[8,20]", "i32[8]", "T101"),
        ("type not known", "dynamic[8,20,128]", "i32[8]", "i32[8,20]", "i32[8]", "T101"),
        ("float lengths", "f32[8,20,128]", "f32[8]", "i32[8,20]", "i32[8]", "T101"),
    ],
    ("ScaledDotProductAttention", "opset13"): [
        ("static", "f32[2,3,5,8]", "f32[2,3,7,8]", "f32[2,3,7,9]", "f32[2,3,5,9]"),
        ("causal", "f32[2,5,8]", "f32[2,7,8]", "f32[2,7,9]", "string[4]", {"causal": "true"}, "f32[2,5,9]"),
        ("mask", "f32[2,1,8]", "f32[2,7,8]", "f32[2,7,9]", "f32[5,7]", "f32[2,5,9]"),
        ("mask of more axes", "f32[2,5,8]", "f32[2,7,8]", "f32[2,7,9]", "boolean[4,1,1,7]", "f32[4,2,5,9]"),
        ("scalar mask", "f32[2,5,8]", "f32[2,7,8]", "f32[2,7,9]", "f32[]", "f32[1]", "f32[2,5,9]"),
        ("sink", "f32[2,5,8]", "f32[2,7,8]", "f32[2,7,9]", "f32[]", "f32[]", "f32[2,1,1]", "f32[2,5,9]"),
        ("scale before a sink", "f32[2,5,8]", "f32[2,7,8]", "f32[2,7,9]", "f32[]", "f32[3]", "f32[2,1,1]", "f32[2,5,9]"),
        ("surplus input", "f32[2,5,8]", "f32[2,7,8]", "f32[2,7,9]", "f32[]", "f32[]", "f32[3]", "f32[4]", "f32[2,5,9]"),
        ("batches broadcast", "f32[1,5,8]", "f32[4,3,7,8]", "f32[3,7,9]", "f32[4,3,5,9]"),
        ("bounds", "f32[2..,3..5,8]", "f32[..3,7,?]", "f32[?,?,4..]", "f32[2..,3..5,4..]"),
        ("batch bounds", "f32[2..,5,8]", "f32[2..3,7,8]", "f32[?,7,9]", "f32[2..3,5,9]"),
        ("unranked query", "f32[...]", "f32[2,7,8]", "f32[2,7,9]", "f32[...]"),
        ("unranked key", "f32[2,5,8]", "f32[...]", "f32[2,7,9]", "f32[2,5,9]"),
        ("unranked value", "f32[2,5,8]", "f32[2,7,8]", "f32[...]", "f32[2,5,?]"),
        ("features differ", "f32[2,5,8]", "f32[2,7,9]", "f32[2,7,9]", "S201"),
        ("rows differ", "f32[2,5,8]", "f32[2,7,8]", "f32[2,6,9]", "S201"),
        ("batches differ", "f32[2,5,8]", "f32[3,7,8]", "f32[3,7,9]", "S202"),
        ("mask differs", "f32[2,5,8]", "f32[2,7,8]", "f32[2,7,9]", "f32[5,6]", "S202"),
        ("mask of rank 1", "f32[2,5,8]", "f32[2,7,8]", "f32[2,7,9]", "f32[7]", "S101"),
        ("integer mask", "f32[2,5,8]", "f32[2,7,8]", "f32[2,7,9]", "i32[5,7]", "T101"),
        ("mask of another type", "f32[2,5,8]", "f32[2,7,8]", "f32[2,7,9]", "f16[5,7]", "T102"),
        ("two scales", "f32[2,5,8]", "f32[2,7,8]", "f32[2,7,9]", "f32[]", "f32[2]", "V103"),
        ("rank of the sink", "f32[2,5,8]", "f32[2,7,8]", "f32[2,7,9]", "f32[]", "f32[]", "f32[1]", "S101"),
        ("sink differs", "f32[2,5,8]", "f32[2,7,8]", "f32[2,7,9]", "f32[]", "f32[]", "f32[3,1,1]", "S202"),
        ("wide sink", "f32[2,5,8]", "f32[2,7,8]", "f32[2,7,9]", "f32[]", "f32[]", "f32[2,1,8]", "S201"),
        ("rank", "f32[5,8]", "f32[2,7,8]", "f32[2,7,9]", "S101"),
        ("integers", "i32[2,5,8]", "i32[2,7,8]", "i32[2,7,9]", "T101"),
        ("types differ", "f32[2,5,8]", "f16[2,7,8]", "f32[2,7,9]", "T102"),
        ("two inputs", "f32[2,5,8]", "f32[2,7,8]", "G107"),
    ],
}


@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row(type, version, row)


@pytest.mark.oracle
@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row_with_openvino(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row_with_openvino(type, version, row)
