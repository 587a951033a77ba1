"""Poolings and alignments of regions."""

from tests.support.rows import Row, Rows, differs, row_tests

POOLED = {"pooled_h": "6", "pooled_w": "5", "spatial_scale": "0.0625"}
ALIGNED = {**POOLED, "sampling_ratio": "2", "mode": "avg"}
LAST = {"output_size": "2,2", "output_roi": "3,4", "pooled_h": "5", "spatial_scale": "1"}
WIDE = {**ALIGNED, "pooled_w": "2147483648"}
BINS = {"output_dim": "2", "group_size": "3", "spatial_scale": "0.0625", "mode": "average"}
NINE = {**BINS, "mode": "bilinear", "output_dim": "8", "spatial_bins_x": "3", "spatial_bins_y": "3"}
PARTS = {"output_dim": "162", "group_size": "7", "spatial_scale": "0.0625"}


def align_rows(numbers: int) -> list[Row]:
    """Rows that hold for both forms of ROIAlign; a region is so many numbers."""
    return [
        ("specification", f"f32[7,256,200,200] f32[1000,{numbers}] i32[1000]", ALIGNED, "f32[1000,256,6,5]"),
        ("bounds", f"f16[?,3..5,1..,9] f16[8..,{numbers}] i64[..9]", ALIGNED, "f16[8..9,3..5,6,5]"),
        ("data unranked", f"f32[...] f32[4,{numbers}] i64[4]", ALIGNED, "f32[4,?,6,5]"),
        ("rois unranked", "f32[1,3,9,9] f32[...] i64[4]", ALIGNED, "f32[4,3,6,5]"),
        ("indices unranked", f"f32[1,3,9,9] f32[4,{numbers}] i64[...]", ALIGNED, "f32[4,3,6,5]"),
        ("type of the regions", f"dynamic[1,3,9,9] f16[4,{numbers}] i64[4]", ALIGNED, "f16[4,3,6,5]"),
        ("no type at all", f"dynamic[1,3,9,9] dynamic[4,{numbers}] i64[4]", ALIGNED, "T101"),
        ("other regions", f"f32[1,3,9,9] f32[4,{numbers}] i64[5]", ALIGNED, "S201"),
        ("other numbers", "f32[1,3,9,9] f32[4,6] i64[4]", ALIGNED, "S201"),
        ("low rank", f"f32[1,3,9] f32[4,{numbers}] i64[4]", ALIGNED, "S101"),
        ("float indices", f"f32[1,3,9,9] f32[4,{numbers}] f32[4]", ALIGNED, "T101"),
        ("types differ", f"f32[1,3,9,9] f16[4,{numbers}] i64[4]", ALIGNED, "T102"),
    ]


ROWS: Rows = {
    ("ROIPooling", "opset2"): [
        ("specification", "f32[3,8,16,16] f32[150,5]", {**POOLED, "method": "max"}, "f32[150,8,6,5]"),
        ("bounds", "f16[?,3..5,1..,9] f16[..9,4..]", {**POOLED, "method": "bilinear"}, "f16[..9,3..5,6,5]"),
        ("data unranked", "f32[...] f32[4,5]", POOLED, "f32[4,?,6,5]"),
        ("rois unranked", "f32[1,3,9,9] f32[...]", POOLED, "f32[?,3,6,5]"),
        ("output_size", "f32[1,3,9,9] f32[4,5]", {"output_size": "2,3", "spatial_scale": "1"}, "f32[4,3,2,3]"),
        ("the last attribute counts", "f32[1,3,9,9] f32[4,5]", LAST, "f32[4,3,5,4]"),
        ("other numbers", "f32[1,3,9,9] f32[4,4]", POOLED, "S201"),
        ("low rank", "f32[1,3,9] f32[4,5]", POOLED, "S101"),
        ("one size", "f32[1,3,9,9] f32[4,5]", {**POOLED, "output_size": "2"}, "A105"),
        ("width of 0", "f32[1,3,9,9] f32[4,5]", {**POOLED, "pooled_w": "0"}, "A104"),
        ("no size", "f32[1,3,9,9] f32[4,5]", {"spatial_scale": "1"}, "A104"),
        ("no scale", "f32[1,3,9,9] f32[4,5]", {"pooled_h": "6", "pooled_w": "5"}, "A104"),
        ("infinite scale", "f32[1,3,9,9] f32[4,5]", {**POOLED, "spatial_scale": "inf"}, "A104"),
        ("method in another case", "f32[1,3,9,9] f32[4,5]", {**POOLED, "method": "MAX"}, "A103"),
        ("integers", "i32[1,3,9,9] i32[4,5]", POOLED, "T101"),
        ("types differ", "f32[1,3,9,9] f16[4,5]", POOLED, "T102"),
    ],
    ("ROIPooling", "opset1"): [
        ("an older opset has it too", "f32[1,3,9,9] f32[4,5]", POOLED, "f32[4,3,6,5]"),
    ],
    ("PSROIPooling", "opset1"): [
        ("specification", "f32[1,360,38,38] f32[100,5]", {**BINS, "output_dim": "10", "group_size": "6"}, "f32[100,10,6,6]"),
        ("bilinear", "f32[1,72,9,9] f16[4,5]", NINE, "f32[4,8,3,3]"),
        ("bounds", "f32[?,?,9,9] f32[..4,5]", BINS, "f32[..4,2,3,3]"),
        ("unranked", "f32[...] f32[...]", BINS, "f32[?,2,3,3]"),
        ("other channels", "f32[1,17,9,9] f32[4,5]", BINS, "S201"),
        ("other numbers", "f32[1,18,9,9] f32[4,4]", BINS, "S201"),
        ("low rank", "f32[1,18,9] f32[4,5]", BINS, "S101"),
        ("no group", "f32[1,18,9,9] f32[4,5]", {**BINS, "group_size": "0"}, "A104"),
        ("no bins", "f32[1,18,9,9] f32[4,5]", {**BINS, "mode": "bilinear", "spatial_bins_x": "3"}, "A104"),
        ("scale of 0", "f32[1,18,9,9] f32[4,5]", {**BINS, "spatial_scale": "0"}, "A104"),
        ("unknown mode", "f32[1,18,9,9] f32[4,5]", {**BINS, "mode": "max"}, "A103"),
        ("no output_dim", "f32[1,18,9,9] f32[4,5]", {"group_size": "3", "spatial_scale": "1", "mode": "average"}, "S201"),
        ("integer regions", "f32[1,18,9,9] i32[4,5]", BINS, "T101"),
    ],
    ("DeformablePSROIPooling", "opset1"): [
        ("specification", "f32[1,7938,63,38] f32[300,5] f32[300,2,7,7]", PARTS, "f32[300,162,7,7]"),
        ("no offsets", "f32[1,8,9,9] f32[2..,5]", {"output_dim": "2", "group_size": "2"}, "f32[2..,2,2,2]"),
        ("unranked", "f32[...] f32[...] f32[...]", {"output_dim": "2"}, "f32[?,2,1,1]"),
        ("offsets of low rank", "f32[1,8,9,9] f32[2,5] f32[2,5]", {"output_dim": "2"}, "S101"),
        ("output_dim of 0", "f32[1,8,9,9] f32[2,5]", {"output_dim": "0"}, "A104"),
        ("negative group", "f32[1,8,9,9] f32[2,5]", {"output_dim": "2", "group_size": "-1"}, "A104"),
        ("no output_dim", "f32[1,8,9,9] f32[2,5]", "A101"),
    ],
    ("ROIAlign", "opset3"): [
        *align_rows(4),
        ("unknown mode", "f32[1,3,9,9] f32[4,4] i64[4]", {**ALIGNED, "mode": "min"}, "A103"),
        ("nothing said", "f32[1,3,9,9] f32[4,4] i64[4]", "f32[4,3,0,0]"),
        ("more than int32", "f32[1,3,9,9] f32[4,4] i64[4]", WIDE, differs("f32[4,3,6,2147483648]", "f32[4,3,6,0]")),
    ],
    ("ROIAlign", "opset9"): [
        *align_rows(4),
        ("aligned", "f32[1,3,9,9] f32[4,4] i64[4]", {**ALIGNED, "aligned_mode": "half_pixel"}, "f32[4,3,6,5]"),
        ("unknown alignment", "f32[1,3,9,9] f32[4,4] i64[4]", {**ALIGNED, "aligned_mode": "full"}, "A103"),
    ],
    ("ROIAlignRotated", "opset15"): [
        *align_rows(5),
        ("no boolean is false", "f32[1,3,9,9] f32[4,5] i64[4]", {**ALIGNED, "clockwise_mode": "yes"}, "f32[4,3,6,5]"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)
