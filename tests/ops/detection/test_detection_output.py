"""DetectionOutput."""

from tests.support.rows import Rows, row_tests

FOUND = {"keep_top_k": "-1", "nms_threshold": "0.5", "normalized": "true"}
OF_3 = {**FOUND, "num_classes": "3"}

ROWS: Rows = {
    ("DetectionOutput", "opset1"): [
        ("all that there is", "f32[2,16] f32[2,12] f32[2,2,16]", OF_3, "f32[1,1,24,7]"),
        ("locations of each class", "f32[2,48] f32[2,12] f32[1,2,16]", {**OF_3, "share_location": "false"}, "f32[1,1,24,7]"),
        ("some of each image", "f32[2,16] f32[2,12] f32[2,2,16]", {**OF_3, "keep_top_k": "5", "top_k": "9"}, "f32[1,1,10,7]"),
        ("some of each class", "f32[2,16] f32[2,12] f32[2,2,16]", {**OF_3, "top_k": "3"}, "f32[1,1,18,7]"),
        ("a limit of 0", "f32[2,16] f32[2,12] f32[2,2,16]", {**OF_3, "keep_top_k": "0", "top_k": "3"}, "f32[1,1,24,7]"),
        ("5 numbers for a prior box", "f32[2,16] f32[2,12] f32[2,2,20]", {**OF_3, "normalized": "false"}, "f32[1,1,24,7]"),
        ("variance in the target", "f32[2,16] f32[2,12] f32[2,1,16]", {**OF_3, "variance_encoded_in_target": "true"}, "f32[1,1,24,7]"),
        ("five inputs", "f32[2,16] f32[2,12] f32[2,2,16] f32[2,8] f32[2,16]", OF_3, "f32[1,1,24,7]"),
        ("counted by the fourth", "f32[2,?] f32[2,?] f32[2,2,?] f32[2,8] f32[2,?]", OF_3, "f32[1,1,24,7]"),
        ("an odd number in the fourth", "f32[2,?] f32[2,?] f32[2,2,?] f32[2,7] f32[2,?]", OF_3, "f32[1,1,18,7]"),
        ("counted by the proposals", "f32[2,?] f32[2,?] f32[2,2,16]", OF_3, "f32[1,1,24,7]"),
        ("bounds", "f32[2..5,16] f32[..4,12] f32[1,2,?]", OF_3, "f32[1,1,24..48,7]"),
        ("batch of class_preds alone", "f32[2..5,16] f32[1,12] f32[1,2,16]", OF_3, "f32[1,1,12,7]"),
        ("empty inputs overlooked", "f32[2,0] f32[2,12] f32[2,2,16]", OF_3, "f32[1,1,24,7]"),
        ("unranked", "f32[...] f32[...] f32[...]", OF_3, "f32[1,1,?,7]"),
        ("proposals of another type", "f32[2,16] f32[2,12] f16[2,2,16]", OF_3, "f32[1,1,24,7]"),
        ("batches differ", "f32[2,16] f32[3,12] f32[2,2,16]", OF_3, "S201"),
        ("batch of the proposals differs", "f32[2,16] f32[2,12] f32[3,2,16]", OF_3, "S201"),
        ("rows of the proposals", "f32[2,16] f32[2,12] f32[2,1,16]", OF_3, "S201"),
        ("prior boxes differ", "f32[2,16] f32[2,15] f32[2,2,16]", OF_3, "S201"),
        ("remainder", "f32[2,18] f32[2,12] f32[2,2,16]", OF_3, "S204"),
        ("pairs differ", "f32[2,16] f32[2,12] f32[2,2,16] f32[2,9] f32[2,16]", OF_3, "S201"),
        ("fifth input differs", "f32[2,16] f32[2,12] f32[2,2,16] f32[2,8] f32[2,15]", OF_3, "S201"),
        ("four inputs", "f32[2,16] f32[2,12] f32[2,2,16] f32[2,8]", OF_3, "G107"),
        ("rank", "f32[2,16,1] f32[2,12] f32[2,2,16]", OF_3, "S101"),
        ("integers", "i32[2,16] i32[2,12] f32[2,2,16]", OF_3, "T101"),
        ("types differ", "f32[2,16] f16[2,12] f32[2,2,16]", OF_3, "T102"),
        ("no classes", "f32[2,16] f32[2,12] f32[2,2,16]", {**OF_3, "num_classes": "0"}, "A104"),
        ("code type in another case", "f32[2,16] f32[2,12] f32[2,2,16]", {**OF_3, "code_type": "caffe.priorboxparameter.corner"}, "A103"),
        ("limit beyond int32", "f32[2,16] f32[2,12] f32[2,2,16]", {**OF_3, "keep_top_k": "3000000000"}, "A104"),
    ],
    ("DetectionOutput", "opset8"): [
        ("all that there is", "f32[2,16] f32[2,12] f32[2,2,16]", FOUND, "f32[1,1,24,7]"),
        ("locations of each class", "f32[2,48] f32[2,?] f32[2,2,16]", {**FOUND, "share_location": "false"}, "f32[1,1,24,7]"),
        ("counted by the fourth", "f32[2,?] f32[2,12] f32[2,2,?] f32[2,8] f32[2,?]", FOUND, "f32[1,1,24,7]"),
        ("unranked", "f32[...] f32[...] f32[...]", FOUND, "f32[1,1,?,7]"),
        ("logits differ", "f32[2,17..19] f32[2,12] f32[2,2,16]", FOUND, "S201"),
        ("remainder", "f32[2,18] f32[2,12] f32[...]", FOUND, "S204"),
        ("remainder of the classes", "f32[2,16] f32[2,13] f32[2,2,16]", FOUND, "S204"),
        ("no prior boxes", "f32[2,16] f32[2,12] f32[2,2,0]", FOUND, "S203"),
        ("classes not known", "f32[2,48] f32[2,12] f32[...]", {**FOUND, "share_location": "false"}, "S206"),
        ("rank of the fifth", "f32[...] f32[2,12] f32[2,2,16] f32[2,8] f32[2,16,1]", FOUND, "S101"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)
