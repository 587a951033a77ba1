"""Regions of interest: proposing them, and pooling the features inside of them."""

from tests.support.rows import Row, Rows, differs, row_tests

PROPOSAL = {"base_size": "16", "pre_nms_topn": "12000", "post_nms_topn": "200", "nms_thresh": "0.6", "feat_stride": "16", "min_size": "16"}
PROPOSALS = {"min_size": "0", "nms_threshold": "0.7", "pre_nms_count": "1000", "post_nms_count": "10"}
DETECTRON = {"num_classes": "81", "max_detections_per_image": "100"}
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
    ("Proposal", "opset1"): [
        ("specification", "f32[7,24,28,28] f32[7,48,28,28] f32[3]", PROPOSAL, "f32[1400,5]"),
        ("unranked", "f32[...] f32[...] f32[...]", PROPOSAL, "f32[?,5]"),
        ("integers", "i32[7,24,28,28] f32[7,48,28,28] f32[3]", PROPOSAL, "T101"),
    ],
    ("Proposal", "opset4"): [
        ("specification", "f32[7,24,28,28] f32[7,48,28,28] f32[3]", PROPOSAL, "f32[1400,5] f32[1400]"),
        ("types differ", "f32[7,24,28,28] f16[7,48,28,28] f64[4]", PROPOSAL, "f32[1400,5] f32[1400]"),
        ("bounds", "f32[2..,1..9,?,?] f32[..3,12..,?,?] f32[?]", PROPOSAL, "f32[400..600,5] f32[400..600]"),
        ("unranked probabilities", "f32[...] f32[2,8,5,5] f32[3]", PROPOSAL, "f32[400,5] f32[400]"),
        ("no limit", "f32[7,24,28,28] f32[7,48,28,28] f32[3]", {**PROPOSAL, "post_nms_topn": "-1"}, "f32[?,5] f32[?]"),
        ("below no limit", "f32[7,24,28,28] f32[7,48,28,28] f32[3]", {**PROPOSAL, "post_nms_topn": "-2"}, "f32[0,5] f32[0]"),
        ("batches differ", "f32[6,24,28,28] f32[7,48,28,28] f32[3]", PROPOSAL, "S201"),
        ("anchors differ", "f32[7,24,28,28] f32[7,24,28,28] f32[3]", PROPOSAL, "S201"),
        ("image of 2 numbers", "f32[7,24,28,28] f32[7,48,28,28] f32[2]", PROPOSAL, "S201"),
        ("image of 5 numbers", "f32[7,24,28,28] f32[7,48,28,28] f32[5..9]", PROPOSAL, "S201"),
        ("image of rank 2", "f32[7,24,28,28] f32[7,48,28,28] f32[1,3]", PROPOSAL, "S101"),
        ("rank", "f32[7,24,28] f32[7,48,28,28] f32[3]", PROPOSAL, "S101"),
    ],
    ("Proposal", "extension"): [("the newest class", "f32[7,24,28,28] f32[7,48,28,28] f32[3]", PROPOSAL, "f32[1400,5] f32[1400]")],
    ("GenerateProposals", "opset9"): [
        ("specification", "f32[8,3] f32[50,84,3,4] f32[8,12,50,84] f32[8,3,50,84]", PROPOSALS, "f32[..80,4] f32[..80] i64[8]"),
        (
            "bounds",
            "f16[2..,4] f16[?,5,3,4] f16[..3,?,7..,?] f16[?,3,..9,5]",
            {**PROPOSALS, "roi_num_type": "i32"},
            "f16[..30,4] f16[..30] i32[2..3]",
        ),
        ("unranked", "f32[...] f32[...] f32[...] f32[...]", PROPOSALS, "f32[?,4] f32[?] i64[?]"),
        ("any type", "i32[2,3] u8[5,6,3,4] f32[...] f32[2,3,5,6]", PROPOSALS, "i32[..20,4] i32[..20] i64[2]"),
        ("batches differ", "f32[7,3] f32[50,84,3,4] f32[8,12,50,84] f32[8,3,50,84]", PROPOSALS, "S201"),
        ("batch of the scores differs", "f32[8,3] f32[50,84,3,4] f32[8,12,50,84] f32[7,3,50,84]", PROPOSALS, "S201"),
        ("5 numbers", "f32[8,5] f32[50,84,3,4] f32[8,12,50,84] f32[8,3,50,84]", PROPOSALS, "S201"),
        ("anchors differ", "f32[8,3] f32[50,84,2,4] f32[8,12,50,84] f32[8,3,50,84]", PROPOSALS, "S201"),
        ("5 coordinates", "f32[8,3] f32[50,84,3,5] f32[8,12,50,84] f32[8,3,50,84]", PROPOSALS, "S201"),
        ("deltas differ", "f32[8,3] f32[50,84,3,4] f32[8,11,50,84] f32[8,3,50,84]", PROPOSALS, "S201"),
        ("heights differ", "f32[8,3] f32[51,84,3,4] f32[8,12,50,84] f32[8,3,50,84]", PROPOSALS, "S201"),
        ("widths differ", "f32[8,3] f32[50,84,3,4] f32[8,12,50,85] f32[8,3,50,84]", PROPOSALS, "S201"),
        ("rank", "f32[3] f32[50,84,3,4] f32[8,12,50,84] f32[8,3,50,84]", PROPOSALS, "S101"),
        ("nms_eta", "f32[...] f32[...] f32[...] f32[...]", {**PROPOSALS, "nms_eta": "0.5"}, "A104"),
        ("no count", "f32[...] f32[...] f32[...] f32[...]", {**PROPOSALS, "post_nms_count": "0"}, "A104"),
        ("count type", "f32[...] f32[...] f32[...] f32[...]", {**PROPOSALS, "roi_num_type": "f32"}, "A103"),
    ],
    ("ExperimentalDetectronDetectionOutput", "opset6"): [
        ("specification", "f32[1000,4] f32[1000,324] f32[1000,81] f32[1,3]", DETECTRON, "f32[100,4] i32[100] f32[100]"),
        ("unranked", "f16[...] f16[...] f16[...] f16[...]", DETECTRON, "f16[100,4] i32[100] f16[100]"),
        ("regions of two inputs differ", "f32[5,4] f32[6,324] f32[...] f32[1,3]", DETECTRON, "f32[100,4] i32[100] f32[100]"),
        ("regions differ", "f32[5,4] f32[6,324] f32[5,81] f32[1,3]", DETECTRON, "S201"),
        ("coordinates", "f32[5,5] f32[5,324] f32[5,81] f32[1,3]", DETECTRON, "S201"),
        ("deltas", "f32[5,4] f32[5,81] f32[5,81] f32[1,3]", DETECTRON, "S201"),
        ("scores", "f32[5,4] f32[5,324] f32[5,80] f32[1,3]", DETECTRON, "S201"),
        ("two images", "f32[5,4] f32[5,324] f32[5,81] f32[2,3]", DETECTRON, "S201"),
        ("rank", "f32[5,4] f32[5,324] f32[5,81] f32[3]", DETECTRON, "S101"),
        ("types differ", "f32[5,4] f32[5,324] f16[5,81] f32[1,3]", DETECTRON, "T102"),
    ],
    ("ExperimentalDetectronGenerateProposalsSingleImage", "opset6"): [
        ("specification", "f32[3] f32[12600,4] f32[12,50,84] f32[3,50,84]", PROPOSALS, "f32[10,4] f32[10]"),
        ("any number", "f32[3] f32[?,4] f32[...] f32[3,50,84]", {"post_nms_count": "-1"}, "f32[?,4] f32[?]"),
        ("unranked", "f32[...] f32[...] f32[...] f32[...]", PROPOSALS, "f32[10,4] f32[10]"),
        ("4 numbers", "f32[4] f32[12600,4] f32[12,50,84] f32[3,50,84]", PROPOSALS, "S201"),
        ("5 coordinates", "f32[3] f32[12600,5] f32[12,50,84] f32[3,50,84]", PROPOSALS, "S201"),
        ("grids differ", "f32[3] f32[12600,4] f32[12,50,84] f32[3,50,85]", PROPOSALS, "S201"),
        ("rank", "f32[3] f32[12600,4] f32[1,12,50,84] f32[3,50,84]", PROPOSALS, "S101"),
        ("integers", "i32[3] i32[12600,4] i32[12,50,84] i32[3,50,84]", PROPOSALS, "T101"),
    ],
    ("ExperimentalDetectronPriorGridGenerator", "opset6"): [
        ("specification", "f32[3,4] f32[1,256,25,42] f32[1,3,800,1344]", {"flatten": "true"}, "f32[3150,4]"),
        ("a grid", "f32[3,4] f32[1,256,25,42] f32[1,3,800,1344]", {"h": "7"}, "f32[25,42,3,4]"),
        ("bounds", "f16[2..3,4] f16[?,?,4,5..] f16[...]", {"flatten": "true"}, "f16[40..,4]"),
        ("unranked", "f32[...] f32[...] f32[...]", "f32[?,?,?,4]"),
        ("coordinates", "f32[3,5] f32[1,256,25,42] f32[1,3,800,1344]", "S201"),
        ("batches differ", "f32[3,4] f32[1,256,25,42] f32[2,3,800,1344]", "S201"),
        ("rank", "f32[3,4] f32[256,25,42] f32[1,3,800,1344]", "S101"),
        ("types differ", "f32[3,4] f16[1,256,25,42] f32[1,3,800,1344]", "T102"),
    ],
    ("ExperimentalDetectronROIFeatureExtractor", "opset6"): [
        (
            "specification",
            "f32[1000,4] f32[1,256,200,336] f32[1,256,100,168]",
            {"output_size": "7", "pyramid_scales": "4,8"},
            "f32[1000,256,7,7] f32[1000,4]",
        ),
        ("bounds", "f32[..9,?] f32[?,2..5,?,?] f32[1,3..,?,?]", {"output_size": "2"}, "f32[..9,3..5,2,2] f32[..9,4]"),
        ("unranked", "f32[...] f32[...]", {"output_size": "2"}, "f32[?,?,2,2] f32[?,4]"),
        ("any size", "f32[3,4] f32[1,2,9,9]", {"output_size": "-1"}, "f32[3,2,?,?] f32[3,4]"),
        ("channels differ", "f32[3,4] f32[1,2,9,9] f32[1,3,9,9]", {"output_size": "2"}, "S201"),
        ("two images", "f32[3,4] f32[2,2,9,9]", {"output_size": "2"}, "S201"),
        ("coordinates", "f32[3,5] f32[1,2,9,9]", {"output_size": "2"}, "S201"),
        ("rank", "f32[3,4] f32[2,9,9]", {"output_size": "2"}, "S101"),
        ("no pyramid", "f32[3,4]", {"output_size": "2"}, "G107"),
        ("types differ", "f32[3,4] f16[1,2,9,9]", {"output_size": "2"}, "T102"),
    ],
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
    ("ROIPooling", "opset1"): [("an older opset has it too", "f32[1,3,9,9] f32[4,5]", POOLED, "f32[4,3,6,5]")],
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
