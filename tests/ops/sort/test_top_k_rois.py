"""ExperimentalDetectronTopKROIs."""

from tests.support.rows import Rows, row_tests

ROWS: Rows = {
    ("ExperimentalDetectronTopKROIs", "opset6"): [
        ("specification", "f32[5000,4] f32[5000]", {"max_rois": "1000"}, "f32[1000,4]"),
        ("any number", "f32[?,?] f32[5000]", {"max_rois": "-1"}, "f32[?,4]"),
        ("unranked", "f16[...] f16[...]", {"max_rois": "3"}, "f16[3,4]"),
        ("no number", "f32[5,4] f32[5]", "f32[0,4]"),
        ("regions differ", "f32[5,4] f32[6]", {"max_rois": "3"}, "S201"),
        ("coordinates", "f32[5,5] f32[5]", {"max_rois": "3"}, "S201"),
        ("rank", "f32[5,4] f32[5,1]", {"max_rois": "3"}, "S101"),
        ("integers", "i32[5,4] i32[5]", {"max_rois": "3"}, "T101"),
        ("types differ", "f32[5,4] f16[5]", {"max_rois": "3"}, "T102"),
    ],
    ("ExperimentalDetectronTopKROIs", "experimental"): [
        ("an old version name", "f32[5,4] f32[5]", {"max_rois": "3"}, "f32[3,4]"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)
