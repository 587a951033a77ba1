"""RegionYolo."""

from tests.support.rows import Rows, row_tests

YOLO = {"axis": "1", "coords": "4", "classes": "80", "end_axis": "3", "num": "5", "mask": "0,1,2"}

ROWS: Rows = {
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
}

test_row, test_row_with_openvino = row_tests(ROWS)
