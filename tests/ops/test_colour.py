"""Colours of a screen and those of a video."""

from typing import Any

import pytest

from tests.support.rows import check_row, check_row_with_openvino, ids

NV12: list[tuple[Any, ...]] = [
    ("two planes", "u8[1,480,640,1]", "u8[1,240,320,2]", "u8[1,480,640,3]"),
    ("one plane", "f32[2,720,640,1]", "f32[2,480,640,3]"),
    ("bounds", "u8[?,4..9,?,1]", "u8[2,3..,320,?]", "u8[2,6..8,640,3]"),
    ("unranked", "f16[...]", "f16[...]", "f16[?,?,?,3]"),
    ("odd plane", "u8[1,720,641,1]", "S204"),
    ("part of a third", "u8[1,721,640,1]", "S204"),
    ("colours of full height", "u8[1,480,640,1]", "u8[1,480,320,2]", "S201"),
    ("one colour", "u8[1,480,640,1]", "u8[1,240,320,1]", "S201"),
    ("two brightnesses", "u8[1,480,640,2]", "u8[1,240,320,2]", "S201"),
    ("low rank", "u8[480,640,1]", "u8[240,320,2]", "S101"),
    ("signed", "i8[1,480,640,1]", "i8[1,240,320,2]", "T101"),
    ("types differ", "u8[1,480,640,1]", "f32[1,240,320,2]", "T102"),
]
I420: list[tuple[Any, ...]] = [
    ("three planes", "u8[1,480,640,1]", "u8[1,240,320,1]", "u8[1,240,320,1]", "u8[1,480,640,3]"),
    ("one plane", "f32[2,720,640,1]", "f32[2,480,640,3]"),
    ("bounds", "u8[?,4..9,?,1]", "u8[2,3..,?,1]", "u8[?,?,320,1]", "u8[2,6..8,640,3]"),
    ("unranked", "f16[...]", "f16[...]", "f16[...]", "f16[?,?,?,3]"),
    ("two planes", "u8[1,480,640,1]", "u8[1,240,320,1]", "G107"),
    ("colours differ", "u8[1,480,640,1]", "u8[1,240,320,1]", "u8[1,240,640,1]", "S201"),
    ("pairs of colours", "u8[1,480,640,1]", "u8[1,240,320,2]", "u8[1,240,320,2]", "S201"),
    ("low rank", "u8[720,640,1]", "S101"),
    ("integers", "i32[1,720,640,1]", "T101"),
]
TO_NV12: list[tuple[Any, ...]] = [
    ("one plane", "u8[1,480,640,3]", {"single_plane": "true"}, "u8[1,720,640,1]"),
    ("two planes", "f32[2,480,640,3]", {"single_plane": "false"}, ("f32[2,480,640,1]", "f32[2,240,320,2]")),
    ("bounds", "u8[?,4..9,?,?]", "u8[?,6..12,?,1]"),
    ("unranked", "f16[...]", "f16[?,?,?,1]"),
    ("odd height", "u8[1,481,640,3]", "S204"),
    ("four channels", "u8[1,480,640,4]", "S201"),
    ("low rank", "u8[480,640,3]", "S101"),
    ("signed", "i8[1,480,640,3]", "T101"),
]

ROWS: dict[tuple[str, str], list[tuple[Any, ...]]] = {
    ("NV12toRGB", "opset8"): NV12,
    ("NV12toBGR", "opset8"): NV12,
    ("I420toRGB", "opset8"): I420,
    ("I420toBGR", "opset8"): I420,
    ("RGBtoNV12", "opset17"): TO_NV12,
    ("BGRtoNV12", "opset17"): TO_NV12,
}


@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row(type, version, row)


@pytest.mark.oracle
@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row_with_openvino(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row_with_openvino(type, version, row)
