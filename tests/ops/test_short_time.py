"""Short-time Fourier transforms."""

from typing import Any

import pytest

from tests.support.rows import check_row, check_row_with_openvino, ids

ROWS: dict[tuple[str, str], list[tuple[Any, ...]]] = {
    ("STFT", "opset15"): [
        ("frames first", "f32[3,56]", "f32[7]", 11, 3, {"transpose_frames": "false"}, "f32[3,16,6,2]"),
        ("frequencies first", "f32[3,56]", "f32[7]", 11, 3, {"transpose_frames": "true"}, "f32[3,6,16,2]"),
        ("no batch", "f16[56]", "f16[11]", 11, 3, "f16[16,6,2]"),
        ("bounds", "f32[..3,20..56]", "f32[?]", 11, 3, "f32[..3,4..16,6,2]"),
        ("step not constant", "f32[3,56]", "f32[7]", 11, "i64[]", "f32[3,1..46,6,2]"),
        ("unranked", "f32[...]", "f32[...]", 11, 3, "f32[...]"),
        ("long frame", "f32[3,56]", "f32[7]", 57, 3, "S203"),
        ("long window", "f32[3,56]", "f32[12]", 11, 3, "S203"),
        ("step of 0", "f32[3,56]", "f32[7]", 11, 0, "V101"),
        ("low rank", "f32[]", "f32[7]", 11, 3, "S101"),
        ("list of sizes", "f32[3,56]", "f32[7]", [11], 3, "S101"),
        ("integers", "i32[3,56]", "i32[7]", 11, 3, "T101"),
        ("types differ", "f32[3,56]", "f16[7]", 11, 3, "T102"),
    ],
    ("ISTFT", "opset16"): [
        ("static", "f32[3,6,16,2]", "f32[7]", 11, 3, "f32[3,56]"),
        ("centred", "f32[3,6,16,2]", "f32[7]", 11, 3, {"center": "true"}, "f32[3,46]"),
        ("length given", "f32[3,6,16,2]", "f32[7]", 11, 3, 50, "f32[3,50]"),
        ("length not constant", "f32[6,16,2]", "f32[7]", 11, 3, "i64[]", "f32[?]"),
        ("bounds", "f16[..3,6,4..16,2]", "f16[?]", 11, 3, "f16[..3,20..56]"),
        ("unranked", "f32[...]", "f32[...]", 11, 3, "f32[...]"),
        ("other frequencies", "f32[3,7,16,2]", "f32[7]", 11, 3, "S201"),
        ("long window", "f32[3,6,16,2]", "f32[12]", 11, 3, "S203"),
        ("frame of 0", "f32[3,6,16,2]", "f32[7]", 0, 3, "V101"),
        ("low rank", "f32[16,2]", "f32[7]", 11, 3, "S101"),
        ("integers", "i32[3,6,16,2]", "i32[7]", 11, 3, "T101"),
    ],
}


@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row(type, version, row)


@pytest.mark.oracle
@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row_with_openvino(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row_with_openvino(type, version, row)
