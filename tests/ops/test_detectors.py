"""What detectors are made of: prior boxes, proposals and the boxes that are found."""

from typing import Any

import pytest

from tests.support.rows import check_row, check_row_with_openvino, differs, ids

PRIOR = {"min_size": "16", "max_size": "38", "aspect_ratio": "2", "flip": "true", "offset": "0.5"}
CLUSTERED = {"width": "86,13,57", "height": "44,10,30", "offset": "0.5"}
YOLO = {"axis": "1", "coords": "4", "classes": "80", "end_axis": "3", "num": "5", "mask": "0,1,2"}
PROPOSAL = {"base_size": "16", "pre_nms_topn": "12000", "post_nms_topn": "200", "nms_thresh": "0.6", "feat_stride": "16", "min_size": "16"}
PROPOSALS = {"min_size": "0", "nms_threshold": "0.7", "pre_nms_count": "1000", "post_nms_count": "10"}
FOUND = {"keep_top_k": "-1", "nms_threshold": "0.5", "normalized": "true"}
OF_3 = {**FOUND, "num_classes": "3"}
DETECTRON = {"num_classes": "81", "max_detections_per_image": "100"}

ROWS: dict[tuple[str, str], list[tuple[Any, ...]]] = {
    ("PriorBox", "opset1"): [
        ("specification", [24, 42], [384, 672], PRIOR, "f32[2,16128]"),
        ("ratios that agree", [1, 1], [5, 5], {**PRIOR, "aspect_ratio": "1,1.0000001,2,0.5"}, "f32[2,16]"),
        ("ratios in single precision", [1, 1], [5, 5], {**PRIOR, "aspect_ratio": "1.0000005"}, "f32[2,12]"),
        ("ratio of 0", [1, 1], [5, 5], {**PRIOR, "aspect_ratio": "0"}, "f32[2,16]"),
        ("infinite ratio", [1, 1], [5, 5], {**PRIOR, "aspect_ratio": "inf,nan"}, "f32[2,16]"),
        ("not all sizes", [1, 1], [5, 5], {**PRIOR, "scale_all_sizes": "false", "min_size": "16,32"}, "f32[2,16]"),
        ("fixed sizes", [1, 1], [5, 5], {**PRIOR, "fixed_size": "8,16", "density": "2,2.9"}, "f32[2,96]"),
        ("fixed ratios", [1, 1], [5, 5], {**PRIOR, "fixed_size": "8", "fixed_ratio": "1,2", "density": "3"}, "f32[2,76]"),
        ("fewer than none", [1, 1], [5, 5], {"offset": "0", "density": "0,0"}, "f32[2,0]"),
        ("any number of rows", [-1, 3], [5, 5], PRIOR, "f32[2,?]"),
        ("negative rows", [-2, 3], [5, 5], PRIOR, "f32[2,0]"),
        ("not constant", "i64[2]", "i64[2]", PRIOR, "f32[2,?]"),
        ("length not 2, not constant", "i64[3]", "i64[2]", PRIOR, "f32[2,?]"),
        ("unranked", "i64[...]", "i64[...]", PRIOR, "f32[2,?]"),
        ("unranked size, image of rank 2", "i64[...]", "i64[2,2]", PRIOR, "f32[2,?]"),
        ("three sizes", [24, 42, 1], [384, 672], PRIOR, "V103"),
        ("scalar size", 24, [384, 672], PRIOR, "S101"),
        ("scalar image", [24, 42], 384, PRIOR, "S101"),
        ("float size", "f32[2]", [384, 672], PRIOR, "T101"),
        ("float image", [24, 42], "f32[2]", PRIOR, "T101"),
        ("infinite density", [24, 42], [384, 672], {**PRIOR, "density": "inf"}, differs("A104", "f32[2,4032]")),
    ],
    ("PriorBox", "opset8"): [
        ("specification", [24, 42], [384, 672], {**PRIOR, "min_max_aspect_ratios_order": "false"}, "f32[2,16128]"),
        ("float size", "f32[2]", [384, 672], PRIOR, "T101"),
    ],
    ("PriorBoxClustered", "opset1"): [
        ("specification", [10, 19], [180, 320], CLUSTERED, "f32[2,2280]"),
        ("no boxes", [10, 19], [180, 320], {"offset": "0.5"}, "f32[2,0]"),
        ("not constant", "i32[2]", "i32[2]", CLUSTERED, "f32[2,?]"),
        ("unranked", "i32[...]", "i32[...]", CLUSTERED, "f32[2,?]"),
        ("one size", [10], [180, 320], CLUSTERED, "V103"),
        ("fewer heights", [10, 19], [180, 320], {**CLUSTERED, "height": "44,10"}, "A105"),
    ],
    ("RegionYolo", "opset1"): [
        ("specification", "f32[1,125,13,13]", {**YOLO, "do_softmax": "true"}, "f32[1,21125]"),
        ("without softmax", "f32[1,255,26,26]", YOLO, "f32[1,255,26,26]"),
        ("bounds", "f16[?,2..3,4,5..]", {**YOLO, "do_softmax": "true", "axis": "-3", "end_axis": "-2"}, "f16[?,8..12,5..]"),
        ("end before the axis", "f32[1,125,13,13]", {**YOLO, "do_softmax": "true", "end_axis": "0"}, "f32[1,125,13,13]"),
        ("no axis", "f32[1,255,26,26]", {**YOLO, "axis": "100"}, "f32[1,255,26,26]"),
        ("any number of channels", "f32[1,255,26,26]", {**YOLO, "classes": "-6", "mask": "0"}, "f32[1,?,26,26]"),
        ("unranked", "f32[...]", YOLO, "f32[...]"),
        ("axis", "f32[1,125,13,13]", {**YOLO, "do_softmax": "true", "axis": "4"}, "V102"),
        ("end_axis", "f32[1,125,13,13]", {**YOLO, "do_softmax": "true", "end_axis": "-5"}, "V102"),
        ("rank", "f32[1,125,13]", YOLO, "S101"),
        ("integers", "i32[1,125,13,13]", YOLO, "T101"),
        ("type not known", "dynamic[1,125,13,13]", YOLO, "T101"),
    ],
    ("Proposal", "opset1"): [
        ("specification", "f32[7,24,28,28]", "f32[7,48,28,28]", "f32[3]", PROPOSAL, "f32[1400,5]"),
        ("unranked", "f32[...]", "f32[...]", "f32[...]", PROPOSAL, "f32[?,5]"),
        ("integers", "i32[7,24,28,28]", "f32[7,48,28,28]", "f32[3]", PROPOSAL, "T101"),
    ],
    ("Proposal", "opset4"): [
        ("specification", "f32[7,24,28,28]", "f32[7,48,28,28]", "f32[3]", PROPOSAL, ("f32[1400,5]", "f32[1400]")),
        ("types differ", "f32[7,24,28,28]", "f16[7,48,28,28]", "f64[4]", PROPOSAL, ("f32[1400,5]", "f32[1400]")),
        ("bounds", "f32[2..,1..9,?,?]", "f32[..3,12..,?,?]", "f32[?]", PROPOSAL, ("f32[400..600,5]", "f32[400..600]")),
        ("unranked probabilities", "f32[...]", "f32[2,8,5,5]", "f32[3]", PROPOSAL, ("f32[400,5]", "f32[400]")),
        ("no limit", "f32[7,24,28,28]", "f32[7,48,28,28]", "f32[3]", {**PROPOSAL, "post_nms_topn": "-1"}, ("f32[?,5]", "f32[?]")),
        ("below no limit", "f32[7,24,28,28]", "f32[7,48,28,28]", "f32[3]", {**PROPOSAL, "post_nms_topn": "-2"}, ("f32[0,5]", "f32[0]")),
        ("batches differ", "f32[6,24,28,28]", "f32[7,48,28,28]", "f32[3]", PROPOSAL, "S201"),
        ("anchors differ", "f32[7,24,28,28]", "f32[7,24,28,28]", "f32[3]", PROPOSAL, "S201"),
        ("image of 2 numbers", "f32[7,24,28,28]", "f32[7,48,28,28]", "f32[2]", PROPOSAL, "S201"),
        ("image of 5 numbers", "f32[7,24,28,28]", "f32[7,48,28,28]", "f32[5..9]", PROPOSAL, "S201"),
        ("image of rank 2", "f32[7,24,28,28]", "f32[7,48,28,28]", "f32[1,3]", PROPOSAL, "S101"),
        ("rank", "f32[7,24,28]", "f32[7,48,28,28]", "f32[3]", PROPOSAL, "S101"),
    ],
    ("Proposal", "extension"): [
        ("the newest class", "f32[7,24,28,28]", "f32[7,48,28,28]", "f32[3]", PROPOSAL, ("f32[1400,5]", "f32[1400]")),
    ],
    ("GenerateProposals", "opset9"): [
        (
            "specification",
            *("f32[8,3]", "f32[50,84,3,4]", "f32[8,12,50,84]", "f32[8,3,50,84]", PROPOSALS),
            ("f32[..80,4]", "f32[..80]", "i64[8]"),
        ),
        (
            "bounds",
            *("f16[2..,4]", "f16[?,5,3,4]", "f16[..3,?,7..,?]", "f16[?,3,..9,5]", {**PROPOSALS, "roi_num_type": "i32"}),
            ("f16[..30,4]", "f16[..30]", "i32[2..3]"),
        ),
        ("unranked", "f32[...]", "f32[...]", "f32[...]", "f32[...]", PROPOSALS, ("f32[?,4]", "f32[?]", "i64[?]")),
        ("any type", "i32[2,3]", "u8[5,6,3,4]", "f32[...]", "f32[2,3,5,6]", PROPOSALS, ("i32[..20,4]", "i32[..20]", "i64[2]")),
        ("batches differ", "f32[7,3]", "f32[50,84,3,4]", "f32[8,12,50,84]", "f32[8,3,50,84]", PROPOSALS, "S201"),
        ("batch of the scores differs", "f32[8,3]", "f32[50,84,3,4]", "f32[8,12,50,84]", "f32[7,3,50,84]", PROPOSALS, "S201"),
        ("5 numbers", "f32[8,5]", "f32[50,84,3,4]", "f32[8,12,50,84]", "f32[8,3,50,84]", PROPOSALS, "S201"),
        ("anchors differ", "f32[8,3]", "f32[50,84,2,4]", "f32[8,12,50,84]", "f32[8,3,50,84]", PROPOSALS, "S201"),
        ("5 coordinates", "f32[8,3]", "f32[50,84,3,5]", "f32[8,12,50,84]", "f32[8,3,50,84]", PROPOSALS, "S201"),
        ("deltas differ", "f32[8,3]", "f32[50,84,3,4]", "f32[8,11,50,84]", "f32[8,3,50,84]", PROPOSALS, "S201"),
        ("heights differ", "f32[8,3]", "f32[51,84,3,4]", "f32[8,12,50,84]", "f32[8,3,50,84]", PROPOSALS, "S201"),
        ("widths differ", "f32[8,3]", "f32[50,84,3,4]", "f32[8,12,50,85]", "f32[8,3,50,84]", PROPOSALS, "S201"),
        ("rank", "f32[3]", "f32[50,84,3,4]", "f32[8,12,50,84]", "f32[8,3,50,84]", PROPOSALS, "S101"),
        ("nms_eta", "f32[...]", "f32[...]", "f32[...]", "f32[...]", {**PROPOSALS, "nms_eta": "0.5"}, "A104"),
        ("no count", "f32[...]", "f32[...]", "f32[...]", "f32[...]", {**PROPOSALS, "post_nms_count": "0"}, "A104"),
        ("count type", "f32[...]", "f32[...]", "f32[...]", "f32[...]", {**PROPOSALS, "roi_num_type": "f32"}, "A103"),
    ],
    ("DetectionOutput", "opset1"): [
        ("all that there is", "f32[2,16]", "f32[2,12]", "f32[2,2,16]", OF_3, "f32[1,1,24,7]"),
        ("locations of each class", "f32[2,48]", "f32[2,12]", "f32[1,2,16]", {**OF_3, "share_location": "false"}, "f32[1,1,24,7]"),
        ("some of each image", "f32[2,16]", "f32[2,12]", "f32[2,2,16]", {**OF_3, "keep_top_k": "5", "top_k": "9"}, "f32[1,1,10,7]"),
        ("some of each class", "f32[2,16]", "f32[2,12]", "f32[2,2,16]", {**OF_3, "top_k": "3"}, "f32[1,1,18,7]"),
        ("a limit of 0", "f32[2,16]", "f32[2,12]", "f32[2,2,16]", {**OF_3, "keep_top_k": "0", "top_k": "3"}, "f32[1,1,24,7]"),
        ("5 numbers for a prior box", "f32[2,16]", "f32[2,12]", "f32[2,2,20]", {**OF_3, "normalized": "false"}, "f32[1,1,24,7]"),
        (
            "variance in the target",
            "f32[2,16]",
            "f32[2,12]",
            "f32[2,1,16]",
            {**OF_3, "variance_encoded_in_target": "true"},
            "f32[1,1,24,7]",
        ),
        ("five inputs", "f32[2,16]", "f32[2,12]", "f32[2,2,16]", "f32[2,8]", "f32[2,16]", OF_3, "f32[1,1,24,7]"),
        ("counted by the fourth", "f32[2,?]", "f32[2,?]", "f32[2,2,?]", "f32[2,8]", "f32[2,?]", OF_3, "f32[1,1,24,7]"),
        ("an odd number in the fourth", "f32[2,?]", "f32[2,?]", "f32[2,2,?]", "f32[2,7]", "f32[2,?]", OF_3, "f32[1,1,18,7]"),
        ("counted by the proposals", "f32[2,?]", "f32[2,?]", "f32[2,2,16]", OF_3, "f32[1,1,24,7]"),
        ("bounds", "f32[2..5,16]", "f32[..4,12]", "f32[1,2,?]", OF_3, "f32[1,1,24..48,7]"),
        ("batch of class_preds alone", "f32[2..5,16]", "f32[1,12]", "f32[1,2,16]", OF_3, "f32[1,1,12,7]"),
        ("empty inputs overlooked", "f32[2,0]", "f32[2,12]", "f32[2,2,16]", OF_3, "f32[1,1,24,7]"),
        ("unranked", "f32[...]", "f32[...]", "f32[...]", OF_3, "f32[1,1,?,7]"),
        ("proposals of another type", "f32[2,16]", "f32[2,12]", "f16[2,2,16]", OF_3, "f32[1,1,24,7]"),
        ("batches differ", "f32[2,16]", "f32[3,12]", "f32[2,2,16]", OF_3, "S201"),
        ("batch of the proposals differs", "f32[2,16]", "f32[2,12]", "f32[3,2,16]", OF_3, "S201"),
        ("rows of the proposals", "f32[2,16]", "f32[2,12]", "f32[2,1,16]", OF_3, "S201"),
        ("prior boxes differ", "f32[2,16]", "f32[2,15]", "f32[2,2,16]", OF_3, "S201"),
        ("remainder", "f32[2,18]", "f32[2,12]", "f32[2,2,16]", OF_3, "S204"),
        ("pairs differ", "f32[2,16]", "f32[2,12]", "f32[2,2,16]", "f32[2,9]", "f32[2,16]", OF_3, "S201"),
        ("fifth input differs", "f32[2,16]", "f32[2,12]", "f32[2,2,16]", "f32[2,8]", "f32[2,15]", OF_3, "S201"),
        ("four inputs", "f32[2,16]", "f32[2,12]", "f32[2,2,16]", "f32[2,8]", OF_3, "G107"),
        ("rank", "f32[2,16,1]", "f32[2,12]", "f32[2,2,16]", OF_3, "S101"),
        ("integers", "i32[2,16]", "i32[2,12]", "f32[2,2,16]", OF_3, "T101"),
        ("types differ", "f32[2,16]", "f16[2,12]", "f32[2,2,16]", OF_3, "T102"),
        ("no classes", "f32[2,16]", "f32[2,12]", "f32[2,2,16]", {**OF_3, "num_classes": "0"}, "A104"),
        (
            "code type in another case",
            "f32[2,16]",
            "f32[2,12]",
            "f32[2,2,16]",
            {**OF_3, "code_type": "caffe.priorboxparameter.corner"},
            "A103",
        ),
        ("limit beyond int32", "f32[2,16]", "f32[2,12]", "f32[2,2,16]", {**OF_3, "keep_top_k": "3000000000"}, "A104"),
    ],
    ("DetectionOutput", "opset8"): [
        ("all that there is", "f32[2,16]", "f32[2,12]", "f32[2,2,16]", FOUND, "f32[1,1,24,7]"),
        ("locations of each class", "f32[2,48]", "f32[2,?]", "f32[2,2,16]", {**FOUND, "share_location": "false"}, "f32[1,1,24,7]"),
        ("counted by the fourth", "f32[2,?]", "f32[2,12]", "f32[2,2,?]", "f32[2,8]", "f32[2,?]", FOUND, "f32[1,1,24,7]"),
        ("unranked", "f32[...]", "f32[...]", "f32[...]", FOUND, "f32[1,1,?,7]"),
        ("logits differ", "f32[2,17..19]", "f32[2,12]", "f32[2,2,16]", FOUND, "S201"),
        ("remainder", "f32[2,18]", "f32[2,12]", "f32[...]", FOUND, "S204"),
        ("remainder of the classes", "f32[2,16]", "f32[2,13]", "f32[2,2,16]", FOUND, "S204"),
        ("no prior boxes", "f32[2,16]", "f32[2,12]", "f32[2,2,0]", FOUND, "S203"),
        ("classes not known", "f32[2,48]", "f32[2,12]", "f32[...]", {**FOUND, "share_location": "false"}, "S206"),
        ("rank of the fifth", "f32[...]", "f32[2,12]", "f32[2,2,16]", "f32[2,8]", "f32[2,16,1]", FOUND, "S101"),
    ],
    ("ExperimentalDetectronDetectionOutput", "opset6"): [
        ("specification", "f32[1000,4]", "f32[1000,324]", "f32[1000,81]", "f32[1,3]", DETECTRON, ("f32[100,4]", "i32[100]", "f32[100]")),
        ("unranked", "f16[...]", "f16[...]", "f16[...]", "f16[...]", DETECTRON, ("f16[100,4]", "i32[100]", "f16[100]")),
        (
            "regions of two inputs differ",
            "f32[5,4]",
            "f32[6,324]",
            "f32[...]",
            "f32[1,3]",
            DETECTRON,
            ("f32[100,4]", "i32[100]", "f32[100]"),
        ),
        ("regions differ", "f32[5,4]", "f32[6,324]", "f32[5,81]", "f32[1,3]", DETECTRON, "S201"),
        ("coordinates", "f32[5,5]", "f32[5,324]", "f32[5,81]", "f32[1,3]", DETECTRON, "S201"),
        ("deltas", "f32[5,4]", "f32[5,81]", "f32[5,81]", "f32[1,3]", DETECTRON, "S201"),
        ("scores", "f32[5,4]", "f32[5,324]", "f32[5,80]", "f32[1,3]", DETECTRON, "S201"),
        ("two images", "f32[5,4]", "f32[5,324]", "f32[5,81]", "f32[2,3]", DETECTRON, "S201"),
        ("rank", "f32[5,4]", "f32[5,324]", "f32[5,81]", "f32[3]", DETECTRON, "S101"),
        ("types differ", "f32[5,4]", "f32[5,324]", "f16[5,81]", "f32[1,3]", DETECTRON, "T102"),
    ],
    ("ExperimentalDetectronGenerateProposalsSingleImage", "opset6"): [
        ("specification", "f32[3]", "f32[12600,4]", "f32[12,50,84]", "f32[3,50,84]", PROPOSALS, ("f32[10,4]", "f32[10]")),
        ("any number", "f32[3]", "f32[?,4]", "f32[...]", "f32[3,50,84]", {"post_nms_count": "-1"}, ("f32[?,4]", "f32[?]")),
        ("unranked", "f32[...]", "f32[...]", "f32[...]", "f32[...]", PROPOSALS, ("f32[10,4]", "f32[10]")),
        ("4 numbers", "f32[4]", "f32[12600,4]", "f32[12,50,84]", "f32[3,50,84]", PROPOSALS, "S201"),
        ("5 coordinates", "f32[3]", "f32[12600,5]", "f32[12,50,84]", "f32[3,50,84]", PROPOSALS, "S201"),
        ("grids differ", "f32[3]", "f32[12600,4]", "f32[12,50,84]", "f32[3,50,85]", PROPOSALS, "S201"),
        ("rank", "f32[3]", "f32[12600,4]", "f32[1,12,50,84]", "f32[3,50,84]", PROPOSALS, "S101"),
        ("integers", "i32[3]", "i32[12600,4]", "i32[12,50,84]", "i32[3,50,84]", PROPOSALS, "T101"),
    ],
    ("ExperimentalDetectronPriorGridGenerator", "opset6"): [
        ("specification", "f32[3,4]", "f32[1,256,25,42]", "f32[1,3,800,1344]", {"flatten": "true"}, "f32[3150,4]"),
        ("a grid", "f32[3,4]", "f32[1,256,25,42]", "f32[1,3,800,1344]", {"h": "7"}, "f32[25,42,3,4]"),
        ("bounds", "f16[2..3,4]", "f16[?,?,4,5..]", "f16[...]", {"flatten": "true"}, "f16[40..,4]"),
        ("unranked", "f32[...]", "f32[...]", "f32[...]", "f32[?,?,?,4]"),
        ("coordinates", "f32[3,5]", "f32[1,256,25,42]", "f32[1,3,800,1344]", "S201"),
        ("batches differ", "f32[3,4]", "f32[1,256,25,42]", "f32[2,3,800,1344]", "S201"),
        ("rank", "f32[3,4]", "f32[256,25,42]", "f32[1,3,800,1344]", "S101"),
        ("types differ", "f32[3,4]", "f16[1,256,25,42]", "f32[1,3,800,1344]", "T102"),
    ],
    ("ExperimentalDetectronROIFeatureExtractor", "opset6"): [
        (
            "specification",
            *("f32[1000,4]", "f32[1,256,200,336]", "f32[1,256,100,168]", {"output_size": "7", "pyramid_scales": "4,8"}),
            ("f32[1000,256,7,7]", "f32[1000,4]"),
        ),
        ("bounds", "f32[..9,?]", "f32[?,2..5,?,?]", "f32[1,3..,?,?]", {"output_size": "2"}, ("f32[..9,3..5,2,2]", "f32[..9,4]")),
        ("unranked", "f32[...]", "f32[...]", {"output_size": "2"}, ("f32[?,?,2,2]", "f32[?,4]")),
        ("any size", "f32[3,4]", "f32[1,2,9,9]", {"output_size": "-1"}, ("f32[3,2,?,?]", "f32[3,4]")),
        ("channels differ", "f32[3,4]", "f32[1,2,9,9]", "f32[1,3,9,9]", {"output_size": "2"}, "S201"),
        ("two images", "f32[3,4]", "f32[2,2,9,9]", {"output_size": "2"}, "S201"),
        ("coordinates", "f32[3,5]", "f32[1,2,9,9]", {"output_size": "2"}, "S201"),
        ("rank", "f32[3,4]", "f32[2,9,9]", {"output_size": "2"}, "S101"),
        ("no pyramid", "f32[3,4]", {"output_size": "2"}, "G107"),
        ("types differ", "f32[3,4]", "f16[1,2,9,9]", {"output_size": "2"}, "T102"),
    ],
}


@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row(type, version, row)


@pytest.mark.oracle
@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row_with_openvino(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row_with_openvino(type, version, row)
