"""Matrix operations."""

from typing import Any

import pytest

from tests.support.rows import check_row, check_row_with_openvino, ids

ROWS: dict[tuple[str, str], list[tuple[Any, ...]]] = {
    ("MatMul", "opset1"): [
        ("static", "f32[2,3]", "f32[3,4]", "f32[2,4]"),
        ("transposed", "f32[3,2]", "f32[4,3]", {"transpose_a": True, "transpose_b": True}, "f32[2,4]"),
        ("batch", "f32[1..2,?,2,3]", "f32[5,3,4]", "f32[1..2,5,2,4]"),
        ("bounds", "f32[1..2,4,5]", "f32[2..3,5,6]", "f32[2..3,4,6]"),
        ("vectors", "f32[3]", "f32[3]", "f32[]"),
        ("row", "f32[3]", "f32[2,3,4]", {"transpose_a": True}, "f32[2,4]"),
        ("column", "f32[2,5,3]", "f32[3]", {"transpose_b": True}, "f32[2,5]"),
        ("unranked", "f32[...]", "f32[3,4]", "f32[...]"),
        ("types differ", "f32[2,3]", "f16[3,4]", "T102"),
        ("scalar", "f32[]", "f32[3]", "S101"),
        ("depths differ", "f32[2,3]", "f32[4,5]", "S201"),
        ("batches differ", "f32[2,3,4]", "f32[3,4,5]", "S202"),
        ("never valid", "f32[2,3..5]", "f32[6,7]", "f32[2,7]"),
    ],
    ("Einsum", "opset7"): [
        ("matrix product", "f32[2,3]", "f32[3,4]", {"equation": "ij,jk->ik"}, "f32[2,4]"),
        ("sum", "f32[2,3]", {"equation": "ij->i"}, "f32[2]"),
        ("transpose", "f32[2,3]", {"equation": "ba"}, "f32[3,2]"),
        ("capitals first", "f32[2,3]", {"equation": "aB"}, "f32[3,2]"),
        ("labels of one input", "f32[2,2,3]", "f32[3]", {"equation": "iij,j"}, "f32[2,2]"),
        ("diagonal", "f32[3,3]", {"equation": "ii->i"}, "f32[3]"),
        ("batch", "f32[5,2,3]", "f32[3,4]", {"equation": "...ij,...jk->...ik"}, "f32[5,2,4]"),
        ("ellipsis in the middle", "f32[2,?,3]", {"equation": "a...b->b...a"}, "f32[3,?,2]"),
        ("ellipsis first", "f32[7,2,3]", {"equation": "b...A"}, "f32[2,3,7]"),
        ("broadcast", "f32[2,1]", "f32[3,4]", {"equation": "ij,jk->jk"}, "f32[3,4]"),
        ("bounds", "f32[2,2..5]", "f32[4..7,4]", {"equation": "ij,jk->jk"}, "f32[4..5,4]"),
        ("scalars", "f32[]", "f32[2]", {"equation": ",i->i"}, "f32[2]"),
        ("unranked", "f32[...]", "f32[3,4]", {"equation": "ij,jk->ik"}, "f32[?,4]"),
        ("unranked ellipsis", "f32[...]", {"equation": "i...->..."}, "f32[...]"),
        ("boolean", "boolean[2]", {"equation": "i->i"}, "T101"),
        ("types differ", "f32[2]", "f16[2]", {"equation": "i,i->i"}, "T102"),
        ("inputs differ", "f32[2]", {"equation": "i,i->i"}, "A105"),
        ("malformed", "f32[2]", {"equation": "i->i->i"}, "A102"),
        ("blanks", "f32[2,3]", {"equation": "ij-> ji"}, "A102"),
        ("unknown label", "f32[2]", {"equation": "i->ij"}, "A104"),
        ("wrong rank", "f32[2]", {"equation": "ij->i"}, "S101"),
        ("diagonal differs", "f32[2,3]", {"equation": "ii->i"}, "S201"),
        ("labels differ", "f32[2]", "f32[3]", {"equation": "i,i->i"}, "S202"),
    ],
    ("GroupedMatMul", "opset17"): [
        ("groups of rows", "f32[10,8]", "f32[3,4,8]", "i32[3]", "f32[10,4]"),
        ("groups of matrices", "f32[3,10,8]", "f32[3,4,8]", "f32[3,10,4]"),
        ("offsets not looked at", "f32[3,10,8]", "f32[3,4,8]", "i32[7,7]", "f32[3,10,4]"),
        ("bounds", "f32[2..,?,8]", "f32[..3,4..,?]", "f32[2..3,?,4..]"),
        ("unranked", "f32[...]", "f32[3,4,8]", "f32[...]"),
        ("unranked matrices", "f32[10,8]", "f32[...]", "f32[...]"),
        ("any type", "i64[10,8]", "i64[3,4,8]", "i64[...]", "i64[10,4]"),
        ("depths differ", "f32[10,8]", "f32[3,4,9]", "i32[3]", "S201"),
        ("groups differ", "f32[2,10,8]", "f32[3,4,8]", "S201"),
        ("no offsets", "f32[10,8]", "f32[3,4,8]", "G107"),
        ("rank", "f32[8]", "f32[3,4,8]", "i32[3]", "S101"),
        ("matrices of rank 2", "f32[10,8]", "f32[4,8]", "i32[3]", "S101"),
        ("scalar offsets", "f32[10,8]", "f32[3,4,8]", "i32[]", "S101"),
        ("bytes as offsets", "f32[10,8]", "f32[3,4,8]", "u8[3]", "T101"),
        ("types differ", "f32[10,8]", "f16[3,4,8]", "i32[3]", "T102"),
    ],
    ("Inverse", "opset14"): [
        ("static", "f32[10,2,2]", "f32[10,2,2]"),
        ("one matrix", "f16[4,4]", {"adjoint": "true"}, "f16[4,4]"),
        ("bounds", "f32[?,2..5,4..]", "f32[?,4..5,4..5]"),
        ("never square", "f32[2..5,7]", "f32[2..5,7]"),
        ("unranked", "f32[...]", "f32[...]"),
        ("not square", "f32[10,2,3]", "S201"),
        ("rank", "f32[10]", "S101"),
        ("integers", "i32[2,2]", "T101"),
    ],
}


@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row(type, version, row)


@pytest.mark.oracle
@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row_with_openvino(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row_with_openvino(type, version, row)
