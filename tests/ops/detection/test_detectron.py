"""The operations of Detectron, which OpenVINO calls experimental."""

from tests.support.rows import Rows, row_tests

PROPOSALS = {"min_size": "0", "nms_threshold": "0.7", "pre_nms_count": "1000", "post_nms_count": "10"}
DETECTRON = {"num_classes": "81", "max_detections_per_image": "100"}

ROWS: Rows = {
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
}

test_row, test_row_with_openvino = row_tests(ROWS)
