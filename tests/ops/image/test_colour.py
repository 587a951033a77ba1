"""Conversions between RGB and the colour spaces of video."""

from tests.support.rows import Row, Rows, row_tests


def nv12_rows() -> list[Row]:
    """Rows that hold for NV12toRGB and NV12toBGR alike."""
    return [
        ("one plane", "u8[1,720,640,1]", "u8[1,480,640,3]"),
        ("two planes", "u8[1,480,640,1] u8[1,240,320,2]", "u8[1,480,640,3]"),
        ("bounds of one plane", "f32[?,4..,..7,?]", "f32[?,4..,..6,3]"),
        ("bounds of two planes", "f32[2..,?,4..9,1] f32[..3,2..4,?,2]", "f32[2..3,4..8,4..8,3]"),
        ("unranked", "f16[...]", "f16[?,?,?,3]"),
        ("unranked brightness", "u8[...] u8[1,240,320,2]", "u8[1,480,640,3]"),
        ("height of one plane", "u8[1,721,640,1]", "S204"),
        ("odd width", "u8[1,720,641,1]", "S204"),
        ("batches differ", "u8[1,480,640,1] u8[2,240,320,2]", "S201"),
        ("sides differ", "u8[1,480,640,1] u8[1,240,640,2]", "S201"),
        ("channels", "u8[1,480,640,3] u8[1,240,320,2]", "S201"),
        ("channels of the colours", "u8[1,480,640,1] u8[1,240,320,1]", "S201"),
        ("rank", "u8[480,640,1]", "S101"),
        ("integers", "i32[1,720,640,1]", "T101"),
        ("types differ", "u8[1,480,640,1] f32[1,240,320,2]", "T102"),
    ]


def i420_rows() -> list[Row]:
    """Rows that hold for I420toRGB and I420toBGR alike."""
    return [
        ("one plane", "u8[1,720,640,1]", "u8[1,480,640,3]"),
        ("three planes", "u8[1,480,640,1] u8[1,240,320,1] u8[1,240,320,1]", "u8[1,480,640,3]"),
        ("bounds", "f32[?,?,?,?] f32[2..,2..4,?,1] f32[..3,?,3,1]", "f32[2..3,4..8,6,3]"),
        ("unranked", "f16[...] f16[...] f16[...]", "f16[?,?,?,3]"),
        ("height of one plane", "u8[1,721,640,1]", "S204"),
        ("sides differ", "u8[1,480,640,1] u8[1,240,320,1] u8[1,240,321,1]", "S201"),
        ("channels of the colours", "u8[1,480,640,1] u8[1,240,320,2] u8[1,240,320,2]", "S201"),
        ("two planes", "u8[1,480,640,1] u8[1,240,320,1]", "G107"),
        ("rank", "u8[480,640,1]", "S101"),
        ("integers", "i32[1,720,640,1]", "T101"),
        ("types differ", "u8[1,480,640,1] u8[1,240,320,1] f32[1,240,320,1]", "T102"),
    ]


def to_nv12_rows() -> list[Row]:
    """Rows that hold for RGBtoNV12 and BGRtoNV12 alike."""
    return [
        ("one plane", "u8[1,480,640,3]", "u8[1,720,640,1]"),
        ("two planes", "u8[1,480,640,3]", {"single_plane": "false"}, "u8[1,480,640,1] u8[1,240,320,2]"),
        ("no boolean", "u8[1,480,640,3]", {"single_plane": "no"}, "u8[1,720,640,1]"),
        ("bounds", "f32[?,5..8,3..,?]", "f32[?,9..12,4..,1]"),
        ("bounds of two planes", "f32[?,5..8,3..,?]", {"single_plane": "false"}, "f32[?,6..8,4..,1] f32[?,3..4,2..,2]"),
        ("unranked", "f16[...]", {"single_plane": "false"}, "f16[?,?,?,1] f16[?,?,?,2]"),
        ("odd height", "u8[1,481,640,3]", "S204"),
        ("odd width", "u8[1,480,641,3]", "S204"),
        ("channels", "u8[1,480,640,1]", "S201"),
        ("rank", "u8[480,640,3]", "S101"),
        ("integers", "i32[1,480,640,3]", "T101"),
        ("small floats", "f8e4m3[1,480,640,3]", "T101"),
    ]


ROWS: Rows = {
    ("NV12toRGB", "opset8"): nv12_rows(),
    ("NV12toBGR", "opset8"): nv12_rows(),
    ("I420toRGB", "opset8"): i420_rows(),
    ("I420toBGR", "opset8"): i420_rows(),
    ("RGBtoNV12", "opset17"): to_nv12_rows(),
    ("BGRtoNV12", "opset17"): to_nv12_rows(),
}

test_row, test_row_with_openvino = row_tests(ROWS)
