"""Boxes and regions kept by their scores."""

from typing import Any

import pytest

from tests.support.rows import check_row, check_row_with_openvino, const, ids

HALF = const(0.5, "f32")


def class_rows() -> list[tuple[Any, ...]]:
    """Rows that hold for MatrixNms and MulticlassNms alike."""
    return [
        ("no limit", "f32[2,10,4]", "f32[2,5,10]", ("f32[..100,6]", "i64[..100,1]", "i64[2]")),
        ("limits", "f16[2,10,4]", "f16[2,5,10]", {"nms_top_k": "3", "keep_top_k": "7"}, ("f16[..14,6]", "i64[..14,1]", "i64[2]")),
        ("nothing kept", "f32[2,10,4]", "f32[2,5,10]", {"keep_top_k": "0"}, ("f32[0,6]", "i64[0,1]", "i64[2]")),
        ("a background", "f32[2,10,4]", "f32[2,5,10]", {"background_class": "0"}, ("f32[..100,6]", "i64[..100,1]", "i64[2]")),
        ("bounds", "f32[..4,2..6,?]", "f32[2..,3,5..]", {"output_type": "i32"}, ("f32[..72,6]", "i32[..72,1]", "i32[2..4]")),
        ("unranked boxes", "f32[...]", "f32[2,5,10]", ("f32[..100,6]", "i64[..100,1]", "i64[2]")),
        ("unranked", "f32[...]", "f32[...]", ("f32[?,6]", "i64[?,1]", "i64[?]")),
        ("batches differ", "f32[3,10,4]", "f32[2,5,10]", "S201"),
        ("boxes differ", "f32[2,10,4]", "f32[2,5,9]", "S201"),
        ("coordinates", "f32[2,10,5]", "f32[2,5,10]", "S201"),
        ("rank", "f32[10,4]", "f32[2,5,10]", "S101"),
        ("double precision", "f64[2,10,4]", "f64[2,5,10]", "T101"),
        ("type not known", "dynamic[2,10,4]", "f32[2,5,10]", "T101"),
        ("types differ", "f32[2,10,4]", "f16[2,5,10]", "T102"),
        ("output type", "f32[...]", "f32[...]", {"output_type": "f32"}, "A103"),
        ("limit below -1", "f32[2,10,4]", "f32[2,5,10]", {"keep_top_k": "-2"}, "A104"),
        ("limit beyond int32", "f32[2,10,4]", "f32[2,5,10]", {"nms_top_k": "3000000000"}, "A104"),
    ]


ROWS: dict[tuple[str, str], list[tuple[Any, ...]]] = {
    ("MatrixNms", "opset8"): [
        *class_rows(),
        ("limit not looked at", "f32[...]", "f32[2,5,10]", {"nms_top_k": "-3"}, ("f32[..100,6]", "i64[..100,1]", "i64[2]")),
        ("unranked scores", "f32[2,10,4]", "f32[...]", ("f32[?,6]", "i64[?,1]", "i64[2]")),
        ("decay", "f32[2,10,4]", "f32[2,5,10]", {"decay_function": "square"}, "A103"),
    ],
    ("MulticlassNms", "opset8"): [
        *class_rows(),
        ("limit looked at", "f32[...]", "f32[...]", {"nms_top_k": "-3"}, "A104"),
        ("unranked scores", "f32[2,10,4]", "f32[...]", "S206"),
        ("nms_eta", "f32[...]", "f32[...]", {"nms_eta": "1.5"}, "A104"),
        ("nms_eta no number", "f32[...]", "f32[...]", {"nms_eta": "nan"}, "A104"),
    ],
    ("MulticlassNms", "opset9"): [
        *class_rows(),
        ("boxes of all images", "f32[5,10,4]", "f32[5,10]", "i64[3]", {"nms_top_k": "4"}, ("f32[..60,6]", "i64[..60,1]", "i64[3]")),
        ("number of images not known", "f32[5,10,4]", "f32[5,10]", "i32[...]", ("f32[?,6]", "i64[?,1]", "i64[?]")),
        ("classes differ", "f32[5,10,4]", "f32[4,10]", "i64[3]", "S201"),
        ("boxes of all images differ", "f32[5,10,4]", "f32[5,9]", "i64[3]", "S201"),
        ("scores of rank 3", "f32[5,10,4]", "f32[2,5,10]", "i64[3]", "S101"),
        ("roisnum of rank 2", "f32[5,10,4]", "f32[5,10]", "i64[3,1]", "S101"),
        ("roisnum of bytes", "f32[5,10,4]", "f32[5,10]", "u8[3]", "T101"),
    ],
    ("NMSRotated", "opset13"): [
        ("specification", "f32[3,100,5]", "f32[3,5,100]", 10, HALF, HALF, ("i64[..150,3]", "f32[..150,3]", "i64[1]")),
        ("a list of one limit", "f32[3,100,5]", "f32[3,5,100]", [10], HALF, HALF, ("i64[..150,3]", "f32[..150,3]", "i64[1]")),
        ("no boxes wanted", "f32[3,100,5]", "f32[3,5,100]", 0, HALF, HALF, ("i64[0,3]", "f32[0,3]", "i64[1]")),
        ("negative limit", "f32[3,9,5]", "f32[3,5,9]", -1, HALF, HALF, {"output_type": "i32"}, ("i32[..135,3]", "f32[..135,3]", "i32[1]")),
        ("limit not constant", "f32[3,9,5]", "f32[3,5,9]", "i64[]", HALF, HALF, ("i64[..135,3]", "f32[..135,3]", "i64[1]")),
        ("bounds", "f32[..3,?,5]", "f32[2..,5,..9]", 20, HALF, HALF, ("i64[..135,3]", "f32[..135,3]", "i64[1]")),
        ("types may differ", "f16[1,2,5]", "f64[1,3,2]", const(4, "u8"), "f32[...]", "bf16[1]", ("i64[..6,3]", "f32[..6,3]", "i64[1]")),
        ("unranked", "f32[...]", "f32[...]", 10, HALF, HALF, ("i64[?,3]", "f32[?,3]", "i64[1]")),
        ("batches differ", "f32[2,100,5]", "f32[3,5,100]", 10, HALF, HALF, "S201"),
        ("boxes differ", "f32[3,99,5]", "f32[3,5,100]", 10, HALF, HALF, "S201"),
        ("4 numbers", "f32[3,100,4]", "f32[3,5,100]", 10, HALF, HALF, "S201"),
        ("two limits", "f32[3,100,5]", "f32[3,5,100]", [10, 20], HALF, HALF, "V103"),
        ("thresholds of rank 2", "f32[3,100,5]", "f32[3,5,100]", 10, "f32[1,1]", HALF, "S101"),
        ("rank", "f32[100,5]", "f32[3,5,100]", 10, HALF, HALF, "S101"),
        ("integers", "i32[3,100,5]", "f32[3,5,100]", 10, HALF, HALF, "T101"),
        ("float limit", "f32[3,100,5]", "f32[3,5,100]", HALF, HALF, HALF, "T101"),
        ("output type", "f32[3,100,5]", "f32[3,5,100]", 10, HALF, HALF, {"output_type": "u8"}, "A103"),
        ("four inputs", "f32[3,100,5]", "f32[3,5,100]", 10, HALF, "G107"),
    ],
    ("ExperimentalDetectronTopKROIs", "opset6"): [
        ("specification", "f32[5000,4]", "f32[5000]", {"max_rois": "1000"}, "f32[1000,4]"),
        ("any number", "f32[?,?]", "f32[5000]", {"max_rois": "-1"}, "f32[?,4]"),
        ("unranked", "f16[...]", "f16[...]", {"max_rois": "3"}, "f16[3,4]"),
        ("no number", "f32[5,4]", "f32[5]", "f32[0,4]"),
        ("regions differ", "f32[5,4]", "f32[6]", {"max_rois": "3"}, "S201"),
        ("coordinates", "f32[5,5]", "f32[5]", {"max_rois": "3"}, "S201"),
        ("rank", "f32[5,4]", "f32[5,1]", {"max_rois": "3"}, "S101"),
        ("integers", "i32[5,4]", "i32[5]", {"max_rois": "3"}, "T101"),
        ("types differ", "f32[5,4]", "f16[5]", {"max_rois": "3"}, "T102"),
    ],
    ("ExperimentalDetectronTopKROIs", "experimental"): [
        ("an old version name", "f32[5,4]", "f32[5]", {"max_rois": "3"}, "f32[3,4]"),
    ],
}


@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row(type, version, row)


@pytest.mark.oracle
@pytest.mark.parametrize(("type", "version", "row"), ids(ROWS))
def test_row_with_openvino(type: str, version: str, row: tuple[Any, ...]) -> None:
    check_row_with_openvino(type, version, row)
