"""Movement operations."""

from typing import Any

import pytest

from tests.support.rows import check_row, check_row_with_openvino, const, differs, ids

ROWS: dict[tuple[str, str], list[tuple[Any, ...]]] = {
    ("SpaceToBatch", "opset2"): [
        ("specification", "f32[2,6,10,3,3]", [1, 2, 4, 3, 1], [0, 0, 1, 0, 0], [0, 0, 1, 0, 0], "f32[48,3,3,1,3]"),
        ("bounds", "f32[2..5,5..100,100..1024,3..10]", [1, 12, 100, 2], [0, 3, 38, 1], [0, 5, 38, 0], "f32[4800..12000,2..9,2..11,2..5]"),
        ("remainder", "f32[2,7,13,3]", [1, 2, 5, 1], [0, 0, 0, 0], [0, 0, 0, 0], "S204"),
        ("unranked", "f32[...]", [1, 2], [0, 0], [0, 0], "f32[...]"),
        ("blocks not constant", "f32[2,7,13,3]", "i64[4]", [0, 0, 0, 0], [0, 0, 0, 0], "f32[?,1..7,1..13,1..3]"),
        ("pads not constant", "f32[2,7,13,3]", [1, 2, 5, 1], "i64[4]", [0, 0, 0, 0], "f32[20,?,?,?]"),
        ("too few blocks", "f32[2,8,8]", [1, 2], [0, 0], [0, 0], differs("V103", None)),
        ("surplus blocks", "f32[2,6,4]", [1, 2, 1, 7], [0, 0, 0, 0], [0, 0, 0, 0], "f32[28,3,4]"),
        ("block of zero", "f32[2,8,8]", [1, 0, 2], [0, 0, 0], [0, 0, 0], "V101"),
        ("lengths differ", "f32[2,8,8]", [1, 2, 2], [0, 0], [0, 0, 0], "S201"),
        ("scalar blocks", "f32[2,8,8]", 2, [0, 0, 0], [0, 0, 0], "S101"),
        ("low rank", "f32[8]", [1], [0], [0], "S101"),
        ("float blocks", "f32[2,8]", const([1.0, 2.0], "f32"), [0, 0], [0, 0], "T101"),
        ("negative pad", "f32[2,6]", [1, 2], [0, -2], [0, 2], differs("f32[4,3]", "f32[4,4]")),
    ],
    ("BatchToSpace", "opset2"): [
        ("specification", "f32[48,3,3,1,3]", [1, 2, 4, 3, 1], [0, 0, 1, 0, 0], [0, 0, 1, 0, 0], "f32[2,6,10,3,3]"),
        ("specification 2-D", "f32[10,2]", [1, 5], [0, 2], [0, 0], "f32[2,8]"),
        ("blocks not constant", "f32[100,7,13,3]", "i64[4]", [0, 3, 1, 0], [0, 3, 0, 0], "f32[1..100,1..,12..,3..]"),
        ("bounds", "f32[10..20,2..]", [1, 5], [0, 2], [0, 0], "f32[2..4,8..]"),
        ("unranked", "f32[...]", [1, 5], [0, 2], [0, 0], "f32[...]"),
        ("remainder", "f32[11,2]", [1, 5], [0, 2], [0, 0], "S204"),
        ("cropped away", "f32[10,2]", [1, 5], [0, 6], [0, 5], "S203"),
        ("block of zero", "f32[10,2]", [1, 0], [0, 0], [0, 0], "V101"),
        ("lengths differ", "f32[10,2]", [1, 5], [0, 2, 0], [0, 0], "S201"),
        ("low rank", "f32[10]", [1], [0], [0], "S101"),
    ],
    ("SpaceToDepth", "opset1"): [
        ("specification", "f32[5,7,4,6]", {"block_size": 2, "mode": "blocks_first"}, "f32[5,28,2,3]"),
        ("remainder", "f32[5,7,4,7]", {"block_size": 2}, "S204"),
        ("low rank", "f32[5,7]", {"block_size": 2}, "S101"),
        ("no block size", "f32[5,7,4,6]", "A104"),
        ("unknown mode", "f32[5,7,4,6]", {"block_size": 2, "mode": "blocks"}, "A103"),
    ],
    ("DepthToSpace", "opset1"): [
        ("specification", "f32[5,28,2,3]", {"block_size": 2, "mode": "blocks_first"}, "f32[5,7,4,6]"),
        ("three axes", "i8[5,8,2,3,4]", {"block_size": 2, "mode": "depth_first"}, "i8[5,1,4,6,8]"),
        ("bounds", "f32[?,8..20,2..,..3]", {"block_size": 2}, "f32[?,2..5,4..,..6]"),
        ("unranked", "f32[...]", {"block_size": 2}, "f32[...]"),
        ("remainder", "f32[5,27,2,3]", {"block_size": 2}, "S204"),
        ("no block size", "f32[5,28,2,3]", "A104"),
        ("low rank", "f32[5,28]", {"block_size": 2}, "S101"),
    ],
}


@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row(type, version, row)


@pytest.mark.oracle
@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row_with_openvino(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row_with_openvino(type, version, row)
