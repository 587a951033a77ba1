"""Operations on images."""

from tests.support.rows import Row, Rows, differs, row_tests

SIZES = {"mode": "nearest", "shape_calculation_mode": "sizes"}
SCALES = {"mode": "linear", "shape_calculation_mode": "scales"}


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
    ("GridSample", "opset9"): [
        ("specification", "f32[1,3,100,100] f32[1,10,10,2]", {"align_corners": "true", "mode": "nearest"}, "f32[1,3,10,10]"),
        ("batch by the grid", "i8[?,3,1..,9] f16[2,5..6,?,2]", "i8[2,3,5..6,?]"),
        ("grid unranked", "f32[1,3,9,9] f32[...]", "f32[1,3,?,?]"),
        ("data unranked", "f32[...] f32[2,5,6,2]", "f32[2,?,5,6]"),
        ("batches differ", "f32[1,3,9,9] f32[2,5,6,2]", "S201"),
        ("three coordinates", "f32[1,3,9,9] f32[1,5,6,3]", "S201"),
        ("low rank", "f32[1,3,9] f32[1,5,6,2]", "S101"),
        ("integer grid", "f32[1,3,9,9] i32[1,5,6,2]", "T101"),
        ("unknown padding", "f32[1,3,9,9] f32[1,5,6,2]", {"padding_mode": "wrap"}, "A103"),
    ],
    ("Interpolate", "opset1"): [
        ("specification", "f32[1,2,48,80] [50,60]", {"axes": "2,3", "mode": "linear"}, "f32[1,2,50,60]"),
        ("axes are a set", "f32[1,3,10,10] [20,5]", {"axes": "3,2,3", "mode": "cubic"}, "f32[1,3,20,5]"),
        ("surplus sizes", "f32[1,3,10,10] [20,5,4]", {"axes": "2", "mode": "area"}, "f32[1,3,20,10]"),
        ("bounds", "f32[1..3,?,10,4..] [20]", {"axes": "2", "mode": "nearest"}, "f32[1..3,?,20,4..]"),
        ("not constant", "f32[1,3,10,10] i64[2]", {"axes": "2,3", "mode": "nearest"}, "f32[1,3,?,?]"),
        ("unranked", "f32[...] [20]", {"axes": "9", "mode": "nearest"}, "f32[...]"),
        ("no axes", "f32[1,3,10,10] [20]", "f32[1,3,10,10]"),
        ("axis beyond the rank", "f32[1,3,10,10] [20]", {"axes": "4", "mode": "nearest"}, "V102"),
        ("negative axis", "f32[1,3,10,10] [20]", {"axes": "-1", "mode": "nearest"}, "V102"),
        ("float sizes", "f32[1,3,10,10] f32=[20.0]", {"axes": "2", "mode": "nearest"}, "T101"),
        ("negative pad", "f32[1,3,10,10] [20]", {"axes": "2", "mode": "nearest", "pads_begin": "-1"}, "A104"),
    ],
    ("Interpolate", "opset4"): [
        ("specification", "f32[1,2,48,80] [24,160] f32=[0.5,2.0] [2,3]", SCALES, "f32[1,2,24,160]"),
        ("sizes", "f32[1,2,48,80] [24,160] f32=[9.0] [2,3]", SIZES, "f32[1,2,24,160]"),
        ("all axes", "f32[1,2,4] [3,4,5] f32=[9.0]", SIZES, "f32[3,4,5]"),
        ("what is not read may have any rank", "f32[1,2,4] [[3]] f32=[2.0] [2]", SCALES, "f32[1,2,8]"),
        ("scales not constant", "f32[1,2,4..6] [3] f32[1] [2]", SCALES, "f32[1,2,?]"),
        ("unranked", "f32[...] [3] f32=[2.0] [2]", SIZES, "f32[...]"),
        ("pillow mode", "f32[1,2,4] [3] f32=[2.0] [2]", {**SIZES, "mode": "bilinear_pillow"}, "A103"),
        ("integer scales", "f32[1,2,4] [3] [2] [2]", SCALES, "T101"),
        ("sizes of rank 2", "f32[1,2,4] [[3]] f32=[2.0] [2]", SIZES, "S101"),
        ("axes of rank 2", "f32[1,2,4] [3] f32=[2.0] [[2]]", SIZES, "S101"),
        ("no scales", "f32[1,2,4] [3]", SIZES, "G107"),
    ],
    ("Interpolate", "opset11"): [
        ("specification", "f32[1,2,48,80] f32=[0.5,2.0] [2,3]", SCALES, "f32[1,2,24,160]"),
        ("sizes", "f32[1,2,48,80] u32=[24,160] [2,3]", SIZES, "f32[1,2,24,160]"),
        ("nothing said", "f32[1,2,4] [3,4,5]", "f32[3,4,5]"),
        ("thirds", "f32[1,1,9,10] f32=[0.3333333333333333,0.3333333333333333] [2,3]", SCALES, "f32[1,1,3,3]"),
        ("scales with bounds", "f32[1,2,1..10,3..] f32=[2.0,0.5] [2,3]", SCALES, "f32[1,2,2..20,1..]"),
        ("odd scale with bounds", "f32[1,2,3..2000000] f32=[0.7] [2]", SCALES, "f32[1,2,2..1400002]"),
        ("a millionth too much", "f32[1,1200000] f32=[2.0] [1]", SCALES, "f32[1,2400001]"),
        ("f16 scales", "f32[1,2,4] f16=[1.5] [2]", SCALES, "f32[1,2,6]"),
        ("an axis twice", "f32[1,2,5] f32=[2.0,2.0] [2,2]", SCALES, "f32[1,2,20]"),
        ("pads", "f32[1,2,5] f32=[2.0] [2]", {**SCALES, "pads_begin": "0,1,1", "pads_end": "0,0,0,7"}, "f32[1,3,12]"),
        ("pads with bounds", "f32[?,2..,1..5] f32=[2.0] [2]", {**SCALES, "pads_begin": "1,1,1"}, "f32[1..,3..,4..12]"),
        ("sizes not constant", "f32[1,3,10,10] i64[2] [2,3]", SIZES, "f32[1,3,?,?]"),
        ("scales not constant", "f32[1,3,10,10] f32[2] [2,3]", SCALES, "f32[1,3,?,?]"),
        ("axes not constant", "f32[1,3,10,10] [5,5] i64[2]", SIZES, "f32[?,?,?,?]"),
        ("sizes and axes unranked", "f32[1,3,10] i64[...] i64[...]", SIZES, "f32[?,?,?]"),
        ("data unranked", "f32[...] [5,5] [2,3]", SIZES, "f32[...]"),
        ("any size", "f32[1,3,10] [-1] [2]", SIZES, "f32[1,3,?]"),
        ("negative scale", "f32[1,3,10] f32=[-2.0] [2]", SCALES, "f32[1,3,0]"),
        ("infinite scale", "f32[1,3,10] f32=[Infinity] [2]", SCALES, differs("V101", "f32[1,3,0]")),
        ("scale beyond all sizes", "f32[1,3,10] f32=[1e+30] [2]", SCALES, differs("S205", "f32[1,3,0]")),
        ("too few sizes", "f32[1,3,10] [5] [1,2]", SIZES, "V103"),
        ("too few scales", "f32[1,3,10] f32=[2.0] [1,2]", SCALES, "V103"),
        ("sizes for all axes", "f32[1,3,10] [5]", SIZES, "V103"),
        ("axis beyond the rank", "f32[1,3,10] [5] [3]", SIZES, "V102"),
        ("negative axis", "f32[1,3,10] [5] [-1]", SIZES, "V102"),
        ("sizes are no scales", "f32[1,3,10] [5] [2]", SCALES, "T101"),
        ("scales are no sizes", "f32[1,3,10] f32=[2.0] [2]", SIZES, "T101"),
        ("type of data", "i16[1,3,10] [5] [2]", SIZES, "T101"),
        ("type of axes", "f32[1,3,10] [5] u8=[2]", SIZES, "T101"),
        ("sizes of rank 2", "f32[1,3,10] i64[1,2] [2]", SIZES, "S101"),
        ("axes of rank 0", "f32[1,3,10] [5] 2", SIZES, "S101"),
        ("negative pad", "f32[1,3,10] [5] [2]", {**SIZES, "pads_begin": "0,0,-1"}, "A104"),
        ("unknown mode", "f32[1,3,10] [5] [2]", {**SIZES, "mode": "lanczos"}, "A103"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)
