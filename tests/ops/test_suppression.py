"""Suppression of boxes that overlap better ones, class by class or rotated."""

from typing import Any

import pytest

from tests.support.rows import check_row, check_row_with_openvino, const, ids

FEW = {"nms_top_k": "20", "keep_top_k": "7"}


def of_images() -> list[tuple[Any, ...]]:
    """Rows that hold where every image has its own boxes."""
    return [
        ("all", "f32[3,100,4]", "f32[3,5,100]", ("f32[..1500,6]", "i64[..1500,1]", "i64[3]")),
        ("some", "f32[3,100,4]", "f32[3,5,100]", {**FEW, "output_type": "i32"}, ("f32[..21,6]", "i32[..21,1]", "i32[3]")),
        ("some of each class", "f32[3,100,4]", "f32[3,5,100]", {"nms_top_k": "20"}, ("f32[..300,6]", "i64[..300,1]", "i64[3]")),
        ("bounds", "f16[1..3,10,?]", "f16[?,2..5,10]", ("f16[..150,6]", "i64[..150,1]", "i64[1..3]")),
        ("unranked", "f32[...]", "f32[3,5,100]", ("f32[..1500,6]", "i64[..1500,1]", "i64[3]")),
        ("five coordinates", "f32[3,100,5]", "f32[3,5,100]", "S201"),
        ("other boxes", "f32[3,100,4]", "f32[3,5,99]", "S201"),
        ("other images", "f32[3,100,4]", "f32[2,5,100]", "S201"),
        ("low rank", "f32[100,4]", "f32[3,5,100]", "S101"),
        ("integers", "i32[3,100,4]", "i32[3,5,100]", "T101"),
        ("types differ", "f32[3,100,4]", "f16[3,5,100]", "T102"),
        ("less than all", "f32[3,100,4]", "f32[3,5,100]", {"nms_top_k": "-2"}, "A104"),
        ("indices of another type", "f32[3,100,4]", "f32[3,5,100]", {"output_type": "f32"}, "A103"),
    ]


def of_classes() -> list[tuple[Any, ...]]:
    """Rows that hold for both versions of MulticlassNms."""
    return [
        *of_images(),
        ("eta of 2", "f32[3,100,4]", "f32[3,5,100]", {"nms_eta": "2"}, "A104"),
        ("scores unranked", "f32[3,100,4]", "f32[...]", "S206"),
    ]


HALF = const(0.5, "f32")

ROWS: dict[tuple[str, str], list[tuple[Any, ...]]] = {
    ("MatrixNms", "opset8"): [
        *of_images(),
        ("gaussian", "f32[3,100,4]", "f32[3,5,100]", {**FEW, "decay_function": "gaussian"}, ("f32[..21,6]", "i64[..21,1]", "i64[3]")),
        ("misspelt decay", "f32[3,100,4]", "f32[3,5,100]", {"decay_function": "guassian"}, "A103"),
    ],
    ("MulticlassNms", "opset8"): of_classes(),
    ("MulticlassNms", "opset9"): [
        *of_classes(),
        ("boxes of all images", "f32[5,100,4]", "f32[5,100]", "i64[3]", ("f32[..1500,6]", "i64[..1500,1]", "i64[3]")),
        ("some of all images", "f32[5,100,4]", "f32[5,100]", "i32[3]", FEW, ("f32[..21,6]", "i64[..21,1]", "i64[3]")),
        ("scores of each image", "f32[5,100,4]", "f32[3,5,100]", "i64[3]", "S101"),
        ("scores of all images", "f32[5,100,4]", "f32[5,100]", "S101"),
        ("float numbers", "f32[5,100,4]", "f32[5,100]", "f32[3]", "T101"),
    ],
    ("NMSRotated", "opset13"): [
        ("static", "f32[3,100,5]", "f32[3,5,100]", 10, HALF, HALF, ("i64[..150,3]", "f32[..150,3]", "i64[1]")),
        (
            "more than there are",
            "f16[3,8,5]",
            "f16[3,5,8]",
            10,
            HALF,
            HALF,
            {"output_type": "i32"},
            ("i32[..120,3]", "f32[..120,3]", "i32[1]"),
        ),
        ("limit not constant", "f32[3,100,5]", "f32[3,5,100]", "i64[1]", HALF, HALF, ("i64[..1500,3]", "f32[..1500,3]", "i64[1]")),
        ("unranked", "f32[...]", "f32[...]", 10, HALF, HALF, ("i64[?,3]", "f32[?,3]", "i64[1]")),
        ("four numbers", "f32[3,100,4]", "f32[3,5,100]", 10, HALF, HALF, "S201"),
        ("other boxes", "f32[3,100,5]", "f32[3,5,99]", 10, HALF, HALF, "S201"),
        ("low rank", "f32[100,5]", "f32[3,5,100]", 10, HALF, HALF, "S101"),
        ("two limits", "f32[3,100,5]", "f32[3,5,100]", [10, 20], HALF, HALF, "V103"),
        ("integers", "i32[3,100,5]", "f32[3,5,100]", 10, HALF, HALF, "T101"),
        ("no thresholds", "f32[3,100,5]", "f32[3,5,100]", 10, "G107"),
    ],
    ("ExperimentalDetectronTopKROIs", "opset6"): [
        ("static", "f32[50,4]", "f32[50]", {"max_rois": "10"}, "f32[10,4]"),
        ("more than there are", "f16[5,4]", "f16[5]", {"max_rois": "10"}, "f16[10,4]"),
        ("unranked", "f32[...]", "f32[...]", {"max_rois": "10"}, "f32[10,4]"),
        ("other probabilities", "f32[50,4]", "f32[49]", {"max_rois": "10"}, "S201"),
        ("five coordinates", "f32[50,5]", "f32[50]", {"max_rois": "10"}, "S201"),
        ("low rank", "f32[50]", "f32[50]", {"max_rois": "10"}, "S101"),
        ("integers", "i32[50,4]", "i32[50]", {"max_rois": "10"}, "T101"),
    ],
}


@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row(type, version, row)


@pytest.mark.oracle
@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row_with_openvino(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row_with_openvino(type, version, row)
