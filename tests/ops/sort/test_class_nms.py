"""MatrixNms and MulticlassNms."""

from tests.support.rows import Row, Rows, row_tests


def class_rows() -> list[Row]:
    """Rows that hold for MatrixNms and MulticlassNms alike."""
    return [
        ("no limit", "f32[2,10,4] f32[2,5,10]", "f32[..100,6] i64[..100,1] i64[2]"),
        ("limits", "f16[2,10,4] f16[2,5,10]", {"nms_top_k": "3", "keep_top_k": "7"}, "f16[..14,6] i64[..14,1] i64[2]"),
        ("nothing kept", "f32[2,10,4] f32[2,5,10]", {"keep_top_k": "0"}, "f32[0,6] i64[0,1] i64[2]"),
        ("a background", "f32[2,10,4] f32[2,5,10]", {"background_class": "0"}, "f32[..100,6] i64[..100,1] i64[2]"),
        ("bounds", "f32[..4,2..6,?] f32[2..,3,5..]", {"output_type": "i32"}, "f32[..72,6] i32[..72,1] i32[2..4]"),
        ("unranked boxes", "f32[...] f32[2,5,10]", "f32[..100,6] i64[..100,1] i64[2]"),
        ("unranked", "f32[...] f32[...]", "f32[?,6] i64[?,1] i64[?]"),
        ("batches differ", "f32[3,10,4] f32[2,5,10]", "S201"),
        ("boxes differ", "f32[2,10,4] f32[2,5,9]", "S201"),
        ("coordinates", "f32[2,10,5] f32[2,5,10]", "S201"),
        ("rank", "f32[10,4] f32[2,5,10]", "S101"),
        ("double precision", "f64[2,10,4] f64[2,5,10]", "T101"),
        ("type not known", "dynamic[2,10,4] f32[2,5,10]", "T101"),
        ("types differ", "f32[2,10,4] f16[2,5,10]", "T102"),
        ("output type", "f32[...] f32[...]", {"output_type": "f32"}, "A103"),
        ("limit below -1", "f32[2,10,4] f32[2,5,10]", {"keep_top_k": "-2"}, "A104"),
        ("limit beyond int32", "f32[2,10,4] f32[2,5,10]", {"nms_top_k": "3000000000"}, "A104"),
    ]


ROWS: Rows = {
    ("MatrixNms", "opset8"): [
        *class_rows(),
        ("limit not looked at", "f32[...] f32[2,5,10]", {"nms_top_k": "-3"}, "f32[..100,6] i64[..100,1] i64[2]"),
        ("unranked scores", "f32[2,10,4] f32[...]", "f32[?,6] i64[?,1] i64[2]"),
        ("decay", "f32[2,10,4] f32[2,5,10]", {"decay_function": "square"}, "A103"),
    ],
    ("MulticlassNms", "opset8"): [
        *class_rows(),
        ("limit looked at", "f32[...] f32[...]", {"nms_top_k": "-3"}, "A104"),
        ("unranked scores", "f32[2,10,4] f32[...]", "S206"),
        ("nms_eta", "f32[...] f32[...]", {"nms_eta": "1.5"}, "A104"),
        ("nms_eta no number", "f32[...] f32[...]", {"nms_eta": "nan"}, "A104"),
    ],
    ("MulticlassNms", "opset9"): [
        *class_rows(),
        ("boxes of all images", "f32[5,10,4] f32[5,10] i64[3]", {"nms_top_k": "4"}, "f32[..60,6] i64[..60,1] i64[3]"),
        ("number of images not known", "f32[5,10,4] f32[5,10] i32[...]", "f32[?,6] i64[?,1] i64[?]"),
        ("classes differ", "f32[5,10,4] f32[4,10] i64[3]", "S201"),
        ("boxes of all images differ", "f32[5,10,4] f32[5,9] i64[3]", "S201"),
        ("scores of rank 3", "f32[5,10,4] f32[2,5,10] i64[3]", "S101"),
        ("roisnum of rank 2", "f32[5,10,4] f32[5,10] i64[3,1]", "S101"),
        ("roisnum of bytes", "f32[5,10,4] f32[5,10] u8[3]", "T101"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)
