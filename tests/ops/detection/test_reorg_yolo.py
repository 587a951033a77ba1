"""ReorgYolo."""

from tests.support.rows import Rows, row_tests

ROWS: Rows = {
    ("ReorgYolo", "opset2"): [
        ("specification", "f32[1,64,26,26]", {"stride": "2"}, "f32[1,256,13,13]"),
        ("bounds", "i8[?,4..,4..9,?]", {"stride": "2"}, "i8[?,16..,2..4,?]"),
        ("unranked", "f32[...]", {"stride": "2"}, "f32[...]"),
        ("remainder", "f32[1,64,26,27]", {"stride": "2"}, "S204"),
        ("few channels", "f32[1,3,26,26]", {"stride": "2"}, "S203"),
        ("low rank", "f32[1,64,26]", {"stride": "2"}, "S101"),
        ("negative stride", "f32[1,64,26,26]", {"stride": "-1"}, "A104"),
        ("empty stride", "f32[...]", {"stride": ""}, "A105"),
        ("no stride", "f32[1,64,26,26]", "A101"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)
