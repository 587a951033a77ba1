"""Interpolate."""

from tests.support.rows import Rows, differs, row_tests

SIZES = {"mode": "nearest", "shape_calculation_mode": "sizes"}
SCALES = {"mode": "linear", "shape_calculation_mode": "scales"}

ROWS: Rows = {
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
