"""Detectors: the boxes they start from, and those they find."""

from typing import Any

import pytest

from tests.support.rows import check_row, check_row_with_openvino, ids

# Four prior boxes of two classes in two images.
BOXES, CLASSES, PRIORS = "f32[2,16]", "f32[2,8]", "f32[1,2,16]"
FOUND = {"keep_top_k": "-1", "share_location": "true", "normalized": "true", "nms_threshold": "0.5"}
TWO = {**FOUND, "num_classes": "2"}
APART = {**FOUND, "share_location": "false"}
GRID = {"offset": "0.5", "variance": "0.1,0.1,0.2,0.2"}
SIZED = {**GRID, "min_size": "16,24", "max_size": "38", "aspect_ratio": "2,3", "flip": "true"}
CLUSTERED = {**GRID, "width": "9,11,13", "height": "7,5,3", "step_w": "16", "step_h": "16"}
PROPOSED = {
    "base_size": "16", "feat_stride": "16", "min_size": "16", "nms_thresh": "0.6", "post_nms_topn": "30", "pre_nms_topn": "600",
    "ratio": "2.67", "scale": "4,6",
}  # fmt: skip
GENERATED = {"min_size": "0", "nms_threshold": "0.7", "post_nms_count": "100", "pre_nms_count": "1000"}
DETECTRON = {
    "score_threshold": "0.05", "nms_threshold": "0.5", "max_delta_log_wh": "4.1", "num_classes": "3", "post_nms_count": "2000",
    "max_detections_per_image": "100", "deltas_weights": "10,10,5,5",
}  # fmt: skip
EXTRACTED = {"output_size": "7", "sampling_ratio": "2", "pyramid_scales": "4,8"}
SINGLE = {"min_size": "0", "nms_threshold": "0.7", "post_nms_count": "50", "pre_nms_count": "1000"}
YOLO = {"axis": "1", "end_axis": "3", "coords": "4", "classes": "80", "num": "5"}


def found_rows(attributes: dict[str, str]) -> list[tuple[Any, ...]]:
    """Rows that hold for every version of DetectionOutput, told of two classes."""
    return [
        ("all boxes of all classes", BOXES, CLASSES, PRIORS, attributes, "f32[1,1,16,7]"),
        ("at most 5", BOXES, CLASSES, PRIORS, {**attributes, "keep_top_k": "5"}, "f32[1,1,10,7]"),
        ("at most 3 of a class", BOXES, CLASSES, PRIORS, {**attributes, "top_k": "3"}, "f32[1,1,12,7]"),
        ("priors of each image", BOXES, CLASSES, "f32[2,2,16]", attributes, "f32[1,1,16,7]"),
        ("variances in the target", BOXES, CLASSES, "f32[1,1,16]", {**attributes, "variance_encoded_in_target": "true"}, "f32[1,1,16,7]"),
        ("bounds", "f16[?,16]", "f16[2..3,8]", "f32[1,2,16]", attributes, "f16[1,1,16..24,7]"),
        ("beside others", BOXES, CLASSES, PRIORS, "f32[2,8]", "f32[2,16]", attributes, "f32[1,1,16,7]"),
        ("one row of priors", BOXES, CLASSES, "f32[1,1,16]", attributes, "S201"),
        ("other batch", BOXES, "f32[3,8]", PRIORS, attributes, "S201"),
        ("priors of three images", BOXES, CLASSES, "f32[3,2,16]", attributes, "S201"),
        ("low rank", "f32[16]", CLASSES, PRIORS, attributes, "S101"),
        ("integers", "i32[2,16]", "i32[2,8]", PRIORS, attributes, "T101"),
        ("types differ", BOXES, "f16[2,8]", PRIORS, attributes, "T102"),
        ("code of another name", BOXES, CLASSES, PRIORS, {**attributes, "code_type": "corner"}, "A103"),
    ]


def prior_rows() -> list[tuple[Any, ...]]:
    """Rows that hold for every version of PriorBox."""
    return [
        # 1, 2, 1/2, 3 and 1/3 for each of the two smallest sizes, and the largest once.
        ("static", [4, 6], [300, 300], SIZED, "f32[2,1056]"),
        ("of one scale", [4, 6], [300, 300], {**SIZED, "scale_all_sizes": "false"}, "f32[2,576]"),
        ("of fixed sizes", [2, 2], [300, 300], {**GRID, "fixed_size": "8,16,32"}, "f32[2,48]"),
        ("denser", [1, 1], [300, 300], {**GRID, "min_size": "8", "density": "2"}, "f32[2,16]"),
        ("values unknown", "i64[2]", "i64[2]", SIZED, "f32[2,?]"),
        ("unranked", "i64[...]", "i64[...]", SIZED, "f32[2,?]"),
        ("three sizes", [4, 6, 8], [300, 300], SIZED, "V103"),
        ("a scalar", 4, [300, 300], SIZED, "S101"),
        ("floats", "f32[2]", "f32[2]", SIZED, "T101"),
    ]


def proposal_rows(*, scored: bool) -> list[tuple[Any, ...]]:
    """Rows that hold for both versions of Proposal, of which one gives `scored` regions."""

    def regions(type: str, count: str) -> Any:
        return (f"{type}[{count},5]", f"{type}[{count}]") if scored else f"{type}[{count},5]"

    return [
        ("static", "f32[2,12,34,62]", "f32[2,24,34,62]", "f32[3]", PROPOSED, regions("f32", "60")),
        ("bounds", "f16[1..4,12,34,62]", "f16[2..,24,34,62]", "f16[4]", PROPOSED, regions("f16", "60..120")),
        ("unranked", "f32[...]", "f32[...]", "f32[...]", PROPOSED, regions("f32", "?")),
        ("other channels", "f32[1,12,34,62]", "f32[1,12,34,62]", "f32[3]", PROPOSED, "S201"),
        ("other batch", "f32[2,12,34,62]", "f32[1,24,34,62]", "f32[3]", PROPOSED, "S201"),
        ("two numbers of an image", "f32[1,12,34,62]", "f32[1,24,34,62]", "f32[2]", PROPOSED, "S201"),
        ("low rank", "f32[12,34,62]", "f32[1,24,34,62]", "f32[3]", PROPOSED, "S101"),
        ("integers", "i32[1,12,34,62]", "f32[1,24,34,62]", "f32[3]", PROPOSED, "T101"),
    ]


ROWS: dict[tuple[str, str], list[tuple[Any, ...]]] = {
    ("DetectionOutput", "opset1"): [
        *found_rows(TWO),
        ("places of each class", "f32[2,32]", CLASSES, PRIORS, {**APART, "num_classes": "2"}, "f32[1,1,16,7]"),
        ("unranked", "f32[...]", "f32[...]", "f32[...]", TWO, "f32[1,1,?,7]"),
        ("other priors", BOXES, "f32[2,6]", PRIORS, TWO, "S201"),
        ("part of a box", "f32[2,15]", "f32[2,?]", "f32[1,2,?]", TWO, "S204"),
        ("no number of classes", BOXES, CLASSES, PRIORS, FOUND, "A101"),
        ("no classes", BOXES, CLASSES, PRIORS, {**FOUND, "num_classes": "0"}, "A104"),
    ],
    ("DetectionOutput", "opset8"): [
        *found_rows(FOUND),
        ("three classes", BOXES, "f32[2,12]", PRIORS, FOUND, "f32[1,1,24,7]"),
        ("places of each class", "f32[2,48]", "f32[2,12]", PRIORS, APART, "f32[1,1,24,7]"),
        ("part of a class", BOXES, "f32[2,9]", PRIORS, FOUND, "S204"),
        ("other priors", "f32[2,20]", CLASSES, PRIORS, FOUND, "S201"),
    ],
    ("PriorBox", "opset1"): prior_rows(),
    ("PriorBox", "opset8"): [
        *prior_rows(),
        ("another order", [4, 6], [300, 300], {**SIZED, "min_max_aspect_ratios_order": "false"}, "f32[2,1056]"),
    ],
    ("PriorBoxClustered", "opset1"): [
        ("static", [4, 6], [300, 300], CLUSTERED, "f32[2,288]"),
        ("values unknown", "i32[2]", "i32[2]", CLUSTERED, "f32[2,?]"),
        ("nothing", [4, 6], [300, 300], GRID, "f32[2,0]"),
        ("a height is missing", [4, 6], [300, 300], {**CLUSTERED, "height": "7,5"}, "A105"),
        ("one size", [4], [300, 300], CLUSTERED, "V103"),
    ],
    ("Proposal", "opset1"): proposal_rows(scored=False),
    ("Proposal", "opset4"): proposal_rows(scored=True),
    ("GenerateProposals", "opset9"): [
        (
            "static",
            "f32[8,3]", "f32[50,84,3,4]", "f32[8,12,50,84]", "f32[8,3,50,84]", GENERATED,
            ("f32[..800,4]", "f32[..800]", "i64[8]"),
        ),
        (
            "bounds",
            "f16[..4,4]", "f16[?,84,3,4]", "f16[2..,12,50,84]", "f16[?,3,50,84]", {**GENERATED, "roi_num_type": "i32"},
            ("f16[..400,4]", "f16[..400]", "i32[2..4]"),
        ),
        (
            "unranked",
            "f32[...]", "f32[...]", "f32[...]", "f32[...]", GENERATED,
            ("f32[?,4]", "f32[?]", "i64[?]"),
        ),
        ("other anchors", "f32[8,3]", "f32[50,84,2,4]", "f32[8,12,50,84]", "f32[8,3,50,84]", GENERATED, "S201"),
        ("other grid", "f32[8,3]", "f32[49,84,3,4]", "f32[8,12,50,84]", "f32[8,3,50,84]", GENERATED, "S201"),
        ("other batch", "f32[7,3]", "f32[50,84,3,4]", "f32[8,12,50,84]", "f32[8,3,50,84]", GENERATED, "S201"),
        ("five numbers of an image", "f32[8,5]", "f32[50,84,3,4]", "f32[8,12,50,84]", "f32[8,3,50,84]", GENERATED, "S201"),
        ("low rank", "f32[8]", "f32[50,84,3,4]", "f32[8,12,50,84]", "f32[8,3,50,84]", GENERATED, "S101"),
        ("another eta", "f32[8,3]", "f32[50,84,3,4]", "f32[8,12,50,84]", "f32[8,3,50,84]", {**GENERATED, "nms_eta": "0.5"}, "A104"),
        ("none kept", "f32[8,3]", "f32[50,84,3,4]", "f32[8,12,50,84]", "f32[8,3,50,84]", {**GENERATED, "post_nms_count": "0"}, "A104"),
    ],
    ("ExperimentalDetectronDetectionOutput", "opset6"): [
        ("static", "f32[50,4]", "f32[50,12]", "f32[50,3]", "f32[1,3]", DETECTRON, ("f32[100,4]", "i32[100]", "f32[100]")),
        ("bounds", "f16[?,4]", "f16[2..,?]", "f16[..9,3]", "f16[1,?]", DETECTRON, ("f16[100,4]", "i32[100]", "f16[100]")),
        ("unranked", "f32[...]", "f32[...]", "f32[...]", "f32[...]", DETECTRON, ("f32[100,4]", "i32[100]", "f32[100]")),
        ("other classes", "f32[50,4]", "f32[50,12]", "f32[50,4]", "f32[1,3]", DETECTRON, "S201"),
        ("other regions", "f32[50,4]", "f32[49,12]", "f32[50,3]", "f32[1,3]", DETECTRON, "S201"),
        ("two images", "f32[50,4]", "f32[50,12]", "f32[50,3]", "f32[2,3]", DETECTRON, "S201"),
        ("low rank", "f32[50]", "f32[50,12]", "f32[50,3]", "f32[1,3]", DETECTRON, "S101"),
        ("integers", "i32[50,4]", "i32[50,12]", "i32[50,3]", "i32[1,3]", DETECTRON, "T101"),
    ],
    ("ExperimentalDetectronGenerateProposalsSingleImage", "opset6"): [
        ("static", "f32[3]", "f32[999,4]", "f32[12,9,11]", "f32[3,9,11]", SINGLE, ("f32[50,4]", "f32[50]")),
        ("unranked", "f16[...]", "f16[...]", "f16[...]", "f16[...]", SINGLE, ("f16[50,4]", "f16[50]")),
        ("other grid", "f32[3]", "f32[999,4]", "f32[12,9,11]", "f32[3,9,10]", SINGLE, "S201"),
        ("four numbers of an image", "f32[4]", "f32[999,4]", "f32[12,9,11]", "f32[3,9,11]", SINGLE, "S201"),
        ("five coordinates", "f32[3]", "f32[999,5]", "f32[12,9,11]", "f32[3,9,11]", SINGLE, "S201"),
        ("low rank", "f32[3]", "f32[999]", "f32[12,9,11]", "f32[3,9,11]", SINGLE, "S101"),
    ],
    ("ExperimentalDetectronPriorGridGenerator", "opset6"): [
        ("flat", "f32[3,4]", "f32[1,16,9,11]", "f32[1,3,100,100]", {"flatten": "true"}, "f32[297,4]"),
        ("as a grid", "f32[3,4]", "f32[1,16,9,11]", "f32[1,3,100,100]", {"flatten": "false"}, "f32[9,11,3,4]"),
        ("bounds", "f16[..3,4]", "f16[1,16,2..9,?]", "f16[?,3,100,100]", {"flatten": "false"}, "f16[2..9,?,..3,4]"),
        ("unranked", "f32[...]", "f32[...]", "f32[...]", {"flatten": "true"}, "f32[?,4]"),
        ("other batch", "f32[3,4]", "f32[1,16,9,11]", "f32[2,3,100,100]", {"flatten": "true"}, "S201"),
        ("five coordinates", "f32[3,5]", "f32[1,16,9,11]", "f32[1,3,100,100]", {"flatten": "true"}, "S201"),
        ("low rank", "f32[3,4]", "f32[16,9,11]", "f32[1,3,100,100]", {"flatten": "true"}, "S101"),
    ],
    ("ExperimentalDetectronROIFeatureExtractor", "opset6"): [
        ("static", "f32[50,4]", "f32[1,64,9,9]", "f32[1,64,5,5]", EXTRACTED, ("f32[50,64,7,7]", "f32[50,4]")),
        ("bounds", "f16[..9,4]", "f16[1,?,9,9]", "f16[1,3..5,5,5]", EXTRACTED, ("f16[..9,3..5,7,7]", "f16[..9,4]")),
        ("unranked", "f32[...]", "f32[...]", EXTRACTED, ("f32[?,?,7,7]", "f32[?,4]")),
        ("other channels", "f32[50,4]", "f32[1,64,9,9]", "f32[1,32,5,5]", EXTRACTED, "S201"),
        ("two images", "f32[50,4]", "f32[2,64,9,9]", EXTRACTED, "S201"),
        ("no pyramid", "f32[50,4]", EXTRACTED, "G107"),
        ("low rank", "f32[50,4]", "f32[64,9,9]", EXTRACTED, "S101"),
    ],
    ("RegionYolo", "opset1"): [
        ("flat", "f32[1,425,13,13]", {**YOLO, "do_softmax": "true"}, "f32[1,71825]"),
        ("some boxes", "f32[1,255,26,26]", {**YOLO, "do_softmax": "false", "mask": "0,1,2"}, "f32[1,255,26,26]"),
        ("bounds", "f16[?,8,2..3,?]", {**YOLO, "end_axis": "2", "do_softmax": "true"}, "f16[?,16..24,?]"),
        ("unranked", "f32[...]", YOLO, "f32[...]"),
        ("axis 4", "f32[1,425,13,13]", {**YOLO, "axis": "4", "do_softmax": "true"}, "V102"),
        ("low rank", "f32[425,13,13]", YOLO, "S101"),
        ("integers", "i32[1,425,13,13]", YOLO, "T101"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row(type, version, row)


@pytest.mark.oracle
@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row_with_openvino(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row_with_openvino(type, version, row)
