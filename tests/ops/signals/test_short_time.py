"""Short-time Fourier transforms."""

from tests.support.rows import Rows, row_tests

ROWS: Rows = {
    ("STFT", "opset15"): [
        ("specification", "f32[56] f32[7] 11 3", {"transpose_frames": "false"}, "f32[16,6,2]"),
        ("transposed", "f32[3,56] f32[7] 11 3", {"transpose_frames": "true"}, "f32[3,6,16,2]"),
        ("bounds", "f32[?,10..20] f32[?] 4 2", "f32[?,4..9,3,2]"),
        ("at least a frame", "f32[?] f32[3] 4 2", "f32[1..,3,2]"),
        ("step not constant", "f32[20] f32[4] 4 i64[]", "f32[1..17,3,2]"),
        ("size not constant", "f32[20] f32[4] i64[] 2", "f32[1..10,1..,2]"),
        ("not looked at", "f32[3] f32[9] 4 i64[]", "f32[1,3,2]"),
        ("not looked at, size of -4", "f32[3] f32[9] -4 i64[]", "f32[1..3,1..,2]"),
        ("unranked", "f32[...] f32[9] 4 0", "f32[...]"),
        ("frame too long", "f32[3] f32[2] 4 1", "S203"),
        ("size of 0", "f32[3] f32[2] 0 1", "V101"),
        ("step of 0", "f32[30] f32[2] 4 0", "V101"),
        ("window too long", "f32[30] f32[5] 4 2", "S203"),
        ("empty window", "f32[30] f32[0] 4 2", "S203"),
        ("rank", "f32[1,2,30] f32[2] 4 2", "S101"),
        ("rank of the window", "f32[30] f32[2,1] 4 2", "S101"),
        ("a list of one size", "f32[30] f32[2] [4] 2", "S101"),
        ("integers", "i32[30] i32[2] 4 2", "T101"),
        ("bytes", "f32[30] f32[2] u8=4 2", "T101"),
        ("types differ", "f32[30] f16[2] 4 2", "T102"),
        ("three inputs", "f32[30] f32[2] 4", "G107"),
    ],
    ("ISTFT", "opset16"): [
        ("specification", "f32[6,16,2] f32[7] 11 3", "f32[56]"),
        ("centered", "f32[4,6,16,2] f32[7] 11 3", {"center": "true"}, "f32[4,46]"),
        ("with a length", "f32[6,16,2] f32[7] 11 3 55", "f32[55]"),
        ("a list of one length", "f32[6,16,2] f32[7] 11 3 [55]", "f32[55]"),
        ("any length", "f32[6,16,2] f32[7] 11 3 -1", "f32[?]"),
        ("length not constant", "f32[2,6,16,2] f32[7] 11 3 i64[]", "f32[2,?]"),
        ("no frames", "f32[6,0,2] f32[7] 11 3", "f32[11]"),
        ("bounds", "f32[2..,..5,2] f32[...] 4 2", "f32[4..12]"),
        ("bounds, centered", "f32[3,..5,2] f32[...] 4 2", {"center": "true"}, "f32[..8]"),
        ("size not constant", "f32[2,6,16,2] f32[7] i64[] 3", "f32[2,46..]"),
        ("frequencies not looked at", "f32[5,?,2] f32[7] 11 3", "f32[11..]"),
        ("three parts", "f32[6,16,3] f32[7] 11 3", "f32[56]"),
        ("unranked", "f32[...] f32[7] 11 3", "f32[...]"),
        ("frequencies differ", "f32[5,16,2] f32[7] 11 3", "S201"),
        ("size of 0", "f32[6,16,2] f32[7] 0 i64[]", "V101"),
        ("step of 0", "f32[6,16,2] f32[7] i64[] 0", "V101"),
        ("window too long", "f32[...] f32[12] 11 3", "S203"),
        ("rank", "f32[6,16] f32[7] 11 3", "S101"),
        ("two lengths", "f32[6,16,2] f32[7] 11 3 [55,56]", "V103"),
        ("float length", "f32[6,16,2] f32[7] 11 3 f32[]", "T101"),
        ("types differ", "f32[6,16,2] f16[7] 11 3", "T102"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)
