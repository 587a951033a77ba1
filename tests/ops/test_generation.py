"""Generation operations."""

from typing import Any

import pytest

from tests.support.rows import check_row, check_row_with_openvino, const, differs, ids

ROWS: dict[tuple[str, str], list[tuple[Any, ...]]] = {
    ("Range", "opset1"): [
        ("static", 0, 10, 3, "i64[4]"),
        ("downwards", 10, 0, -3, "i64[4]"),
        ("nothing", 10, 0, 3, "i64[0]"),
        ("float", const(0.0, "f32"), const(1.0, "f32"), const(0.3, "f32"), "f32[4]"),
        ("stop not constant", 0, "i64[]", 1, "i64[?]"),
        ("unranked", "i64[...]", 10, 1, "i64[?]"),
        ("types differ", 0, const(10, "i32"), 1, "T102"),
        ("boolean", "boolean[]", "boolean[]", "boolean[]", "T101"),
        ("list", [0], 10, 1, "S101"),
        ("step of zero", 0, 10, 0, "V101"),
        ("infinite", const(0.0, "f32"), const(float("inf"), "f32"), const(1.0, "f32"), "V101"),
    ],
    ("Range", "opset4"): [
        ("static", 0, const(10, "i32"), 3, {"output_type": "i64"}, "i64[4]"),
        ("cut to integers", const(1.5, "f32"), const(10.5, "f32"), const(1.5, "f32"), {"output_type": "i64"}, "i64[9]"),
        ("cut to no step", 0, 10, const(0.5, "f32"), {"output_type": "i64"}, "i64[0]"),
        ("not cut", 0, 10, const(0.5, "f32"), {"output_type": "f32"}, "f32[20]"),
        ("boolean", 0, 10, 3, {"output_type": "boolean"}, "A104"),
        ("beyond a double", 0, 2**53 + 1, 1, {"output_type": "i64"}, differs("i64[9007199254740993]", "i64[0]")),
    ],
    ("Eye", "opset9"): [
        ("static", 3, 4, 0, {"output_type": "f32"}, "f32[3,4]"),
        ("lists", [3], [4], [0], {"output_type": "f32"}, "f32[3,4]"),
        ("batch", 3, 4, 0, [2, 5], {"output_type": "f32"}, "f32[2,5,3,4]"),
        ("rows not constant", "i64[1]", 4, 0, "i64[2]", {"output_type": "f32"}, "f32[?,?,?,4]"),
        ("batch not known", 3, 4, 0, "i64[?]", {"output_type": "f32"}, "f32[...]"),
        ("unranked", "i64[...]", 4, "i64[...]", {"output_type": "f32"}, "f32[?,4]"),
        ("negative", -3, 4, 0, {"output_type": "f32"}, "V101"),
        ("float rows", const(3.0, "f32"), 4, 0, {"output_type": "f32"}, "T101"),
        ("two rows", [3, 1], 4, 0, {"output_type": "f32"}, "V103"),
        ("rows of rank 2", "i64[1,1]", 4, 0, {"output_type": "f32"}, "S101"),
        ("batch of rank 0", 3, 4, 0, 2, {"output_type": "f32"}, "S101"),
    ],
    ("RandomUniform", "opset8"): [
        ("static", [2, 3], const(0.0, "f32"), const(1.0, "f32"), {"output_type": "f32"}, "f32[2,3]"),
        ("open", [-1, 3], const(0.0, "f32"), const([1.0], "f32"), {"output_type": "f32"}, "f32[?,3]"),
        ("shape not constant", "i32[3]", "f32[]", "f32[]", {"output_type": "f32"}, "f32[?,?,?]"),
        ("unranked", "i64[...]", "f32[...]", "f32[...]", {"output_type": "f32"}, "f32[...]"),
        ("type of min_val", [2], 0, const(1.0, "f32"), {"output_type": "f32"}, "T102"),
        ("type", [2], "u8[]", "u8[]", {"output_type": "u8"}, "A104"),
        ("empty range", [2], 1, 1, {"output_type": "i64"}, "V101"),
        ("two values", [2], "f32[2]", "f32[]", {"output_type": "f32"}, "V103"),
        ("shape of rank 0", 2, "f32[]", "f32[]", {"output_type": "f32"}, "S101"),
        ("float shape", const([2.0], "f32"), "f32[]", "f32[]", {"output_type": "f32"}, "T101"),
    ],
    ("Multinomial", "opset13"): [
        ("static", "f32[2,5]", 3, {"convert_type": "i64"}, "i64[2,3]"),
        ("bounds", "f16[2..4,?]", [3], {"convert_type": "i32"}, "i32[2..4,3]"),
        ("samples not constant", "f32[2,5]", "i64[]", {"convert_type": "i64"}, "i64[2,?]"),
        ("unranked", "f32[...]", 3, {"convert_type": "i64"}, "i64[...]"),
        ("integers", "i64[2,5]", 3, {"convert_type": "i64"}, "T101"),
        ("rank", "f32[5]", 3, {"convert_type": "i64"}, "S101"),
        ("two numbers of samples", "f32[2,5]", [3, 4], {"convert_type": "i64"}, "V103"),
    ],
}


@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row(type, version, row)


@pytest.mark.oracle
@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row_with_openvino(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row_with_openvino(type, version, row)
