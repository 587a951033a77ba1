"""Sort operations."""

from typing import Any

import pytest

from tests.support.rows import check_row, check_row_with_openvino, const, ids

ROWS: dict[tuple[str, str], list[tuple[Any, ...]]] = {
    ("TopK", "opset1"): [
        ("static", "f32[2,10]", 3, {"axis": 1, "sort": "value"}, ("f32[2,3]", "i32[2,3]")),
        ("unsigned k", "f32[2,10]", const(3, "u8"), {"axis": 1}, "T101"),
    ],
    ("TopK", "opset3"): [
        ("unsigned k", "f32[2,10]", const(3, "u8"), {"axis": 1}, ("f32[2,3]", "i32[2,3]")),
        ("float k", "f32[2,10]", const(3.0, "f32"), {"axis": 1}, "T101"),
    ],
    ("TopK", "opset11"): [
        ("static", "f32[2,10]", 3, {"axis": -1, "index_element_type": "i64"}, ("f32[2,3]", "i64[2,3]")),
        ("bounds", "f32[1..4,3..10]", 5, {"axis": 1}, ("f32[1..4,5]", "i32[1..4,5]")),
        ("more than there are", "f32[2,10]", 11, {"axis": 1}, ("f32[2,11]", "i32[2,11]")),
        ("k not constant", "f32[2,10]", "i64[]", {"axis": 1}, ("f32[2,..10]", "i32[2,..10]")),
        ("unranked", "f32[...]", 3, {"axis": 1}, ("f32[...]", "i32[...]")),
        ("stable", "f32[2,10]", 3, {"axis": 1, "sort": "index", "stable": True}, ("f32[2,3]", "i32[2,3]")),
        ("stable but not sorted", "f32[2,10]", 3, {"axis": 1, "sort": "none", "stable": True}, "A103"),
        ("unknown mode", "f32[2,10]", 3, {"axis": 1, "mode": "most"}, "A103"),
        ("index type", "f32[2,10]", 3, {"axis": 1, "index_element_type": "u8"}, "A103"),
        ("float k", "f32[2,10]", const(3.0, "f32"), {"axis": 1}, "T101"),
        ("scalar data", "f32[]", 3, {"axis": 0}, "S101"),
        ("list of k", "f32[2,10]", [3], {"axis": 1}, "S101"),
        ("negative k", "f32[2,10]", -1, {"axis": 1}, "V101"),
        ("axis out of range", "f32[2,10]", 3, {"axis": 2}, "V102"),
    ],
    ("SearchSorted", "opset15"): [
        ("static", "f32[2,3,10]", "f32[2,3,5]", "i64[2,3,5]"),
        ("one sequence", "f32[10]", "f32[2,?,5]", {"output_type": "i32"}, "i32[2,?,5]"),
        ("bounds", "f32[2,?,10]", "f32[?,3,1..5]", "i64[2,3,1..5]"),
        ("unranked sequence", "f32[...]", "f32[2,?]", "i64[2,?]"),
        ("unranked values", "f32[2..3,10]", "f32[...]", "i64[2..3,?]"),
        ("scalar sequence", "f32[]", "f32[3]", "S101"),
        ("ranks differ", "f32[2,10]", "f32[5]", "S102"),
        ("sizes differ", "f32[2,10]", "f32[3,5]", "S201"),
        ("types differ", "f32[2,10]", "i32[2,5]", "T102"),
        ("output type", "f32[10]", "f32[5]", {"output_type": "u8"}, "A103"),
    ],
    ("NonMaxSuppression", "opset1"): [
        ("static", "f32[2,100,4]", "f32[2,5,100]", 10, "i64[50,3]"),
        ("all boxes", "f32[2,100,4]", "f32[2,5,100]", 1000, "i64[100,3]"),
        ("none", "f32[2,100,4]", "f32[2,5,100]", "i64[0,3]"),
        ("bounds", "f32[2,1..20,4]", "f32[2,1..2,?]", 10, "i64[1..20,3]"),
        ("limit not constant", "f32[2,100,4]", "f32[2,5,100]", "i64[]", "i64[..100,3]"),
        ("unranked", "f32[...]", "f32[2,5,100]", 10, "i64[?,3]"),
        ("list of limits", "f32[2,100,4]", "f32[2,5,100]", [10], "S101"),
        ("coordinates", "f32[2,100,5]", "f32[2,5,100]", "S201"),
    ],
    ("NonMaxSuppression", "opset3"): [
        ("static", "f32[2,100,4]", "f32[2,5,100]", 10, {"output_type": "i32"}, "i32[50,3]"),
        ("output type", "f32[2,100,4]", "f32[2,5,100]", {"output_type": "u8"}, "A103"),
    ],
    ("NonMaxSuppression", "opset4"): [
        ("static", "f32[2,100,4]", "f32[2,5,100]", 10, "i64[100,3]"),
        ("all boxes", "f32[2,100,4]", "f32[2,5,100]", 1000, "i64[1000,3]"),
        ("batches differ", "f32[3,100,4]", "f32[2,5,100]", 10, "S201"),
    ],
    ("NonMaxSuppression", "opset5"): [
        ("static", "f32[2,100,4]", "f32[2,5,100]", 10, ("i64[..100,3]", "f32[..100,3]", "i64[1]")),
        ("all inputs", "f32[1,9,4]", "f16[1,2,9]", [3], "f32[]", "f32[1]", "bf16[]", ("i64[..6,3]", "f32[..6,3]", "i64[1]")),
        ("float limit", "f32[1,9,4]", "f32[1,2,9]", const(3.5, "f32"), ("i64[..6,3]", "f32[..6,3]", "i64[1]")),
        ("none", "f32[1,9,4]", "f32[1,2,9]", 0, ("i64[0,3]", "f32[0,3]", "i64[1]")),
        ("bounds", "f32[2,1..20,4]", "f32[2,5,?]", 10, ("i64[..100,3]", "f32[..100,3]", "i64[1]")),
        ("limit not constant", "f32[1,9,4]", "f32[1,2,9]", "i64[]", ("i64[..18,3]", "f32[..18,3]", "i64[1]")),
        ("unranked", "f32[...]", "f32[1,2,9]", 3, ("i64[?,3]", "f32[?,3]", "i64[1]")),
        ("integer boxes", "i32[1,9,4]", "f32[1,2,9]", "T101"),
        ("integer threshold", "f32[1,9,4]", "f32[1,2,9]", 3, "i32[]", "T101"),
        ("boxes of rank 2", "f32[9,4]", "f32[1,2,9]", "S101"),
        ("batches differ", "f32[3,9,4]", "f32[1,2,9]", "S201"),
        ("boxes differ", "f32[1,8,4]", "f32[1,2,9]", "S201"),
        ("two limits", "f32[1,9,4]", "f32[1,2,9]", [3, 4], "V103"),
        ("unknown encoding", "f32[1,9,4]", "f32[1,2,9]", {"box_encoding": "middle"}, "A103"),
    ],
    ("NonMaxSuppression", "opset9"): [
        ("static", "f32[2,100,4]", "f32[2,5,100]", 10, {"output_type": "i32"}, ("i32[..100,3]", "f32[..100,3]", "i32[1]")),
        ("output type", "f32[2,100,4]", "f32[2,5,100]", {"output_type": "f32"}, "A103"),
    ],
}


@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row(type, version, row)


@pytest.mark.oracle
@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row_with_openvino(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row_with_openvino(type, version, row)
