"""ExtractImagePatches and Col2Im."""

from tests.support.rows import Rows, row_tests

PATCHES = {"sizes": "3,3", "strides": "5,5", "rates": "1,1", "auto_pad": "valid"}
PLACES = {"strides": "1,1", "dilations": "1,1", "pads_begin": "0,0", "pads_end": "0,0"}
CROPPED = {"strides": "2,2", "dilations": "2,2", "pads_begin": "3,3", "pads_end": "-5,-5"}
PADDED = {"strides": "2,2", "dilations": "2,2", "pads_begin": "1,1", "pads_end": "3,3"}

ROWS: Rows = {
    ("ExtractImagePatches", "opset3"): [
        ("specification", "f32[64,3,10,10]", PATCHES, "f32[64,27,2,2]"),
        ("specification, gaps", "f32[64,3,10,10]", {**PATCHES, "rates": "2,2"}, "f32[64,27,2,2]"),
        ("specification, large patches", "f32[64,3,10,10]", {**PATCHES, "sizes": "4,4", "strides": "8,8"}, "f32[64,48,1,1]"),
        ("specification, same", "f32[64,3,9,9]", {**PATCHES, "sizes": "4,4", "strides": "9,9", "auto_pad": "same_upper"}, "f32[64,48,1,1]"),
        ("bounds", "i8[?,1..2,1..30,10..]", PATCHES, "i8[?,9..18,..6,2..]"),
        ("unranked", "f32[...]", PATCHES, "f32[?,?,?,?]"),
        ("too large a patch", "f32[64,3,10,2]", PATCHES, "f32[64,27,2,0]"),
        ("one size", "f32[64,3,10,10]", {**PATCHES, "sizes": "3"}, "A105"),
        ("three strides", "f32[64,3,10,10]", {**PATCHES, "strides": "3,3,3"}, "A105"),
        ("rate of 0", "f32[64,3,10,10]", {**PATCHES, "rates": "1,0"}, "A104"),
        ("stride of 0", "f32[64,3,10,10]", {**PATCHES, "strides": "0,1"}, "A104"),
        ("explicit pads", "f32[...]", {**PATCHES, "auto_pad": "explicit"}, "A103"),
        ("nothing said", "f32[64,3,10,10]", "A101"),
        ("low rank", "f32[64,3,10]", PATCHES, "S101"),
    ],
    ("Col2Im", "opset15"): [
        ("specification", "f32[3,12,225] [16,16] [2,2]", PLACES, "f32[3,3,16,16]"),
        ("negative pads", "f32[1,27,25] [16,16] [3,3]", CROPPED, "f32[1,3,16,16]"),
        ("without batch", "f32[12,289] [32,32] [2,2]", PADDED, "f32[3,32,32]"),
        ("bounds", "f32[?,4..12,1..40] [5,6] [2,2]", PLACES, "f32[?,1..3,5,6]"),
        ("nothing said and bounds", "f32[1,12,?] [5,6] [2,2]", "f32[1,3,5,6]"),
        ("size not constant", "f32[1,12,20] i64[2] [2,2]", PLACES, "f32[1,3,?,?]"),
        ("kernel not constant", "f32[1,12,20] [5,6] i64[2]", PLACES, "f32[1,1..12,5,6]"),
        ("any size, which the blocks tell", "f32[1,12,20] [-1,6] [2,2]", PLACES, "f32[1,3,5,6]"),
        ("unranked", "f32[...] [5,6] [2,2]", "f32[...]"),
        ("other blocks", "f32[1,12,21] [5,6] [2,2]", PLACES, "S201"),
        ("elements of no whole channel", "f32[1,13,20] [5,6] [2,2]", PLACES, "S204"),
        ("three sizes", "f32[1,12,20] [5,6,7] [2,2]", PLACES, "S201"),
        ("length not known", "f32[1,12,20] [5,6] i64[?]", PLACES, "S201"),
        ("kernel of 0", "f32[1,12,20] [5,6] [0,2]", PLACES, "V101"),
        ("stride of 0", "f32[1,12,20] [5,6] [2,2]", {**PLACES, "strides": "0,1"}, "A104"),
        ("one stride", "f32[1,12,20] [5,6] [2,2]", {**PLACES, "strides": "1"}, "A105"),
        ("low rank", "f32[12] [5,6] [2,2]", PLACES, "S101"),
        ("types differ", "f32[1,12,20] [5,6] i32=[2,2]", PLACES, "T102"),
        ("unsigned size", "f32[1,12,20] u8=[5,6] u8=[2,2]", PLACES, "T101"),
        ("kernel of 0, nothing known", "f32[?,?,?] [5,6] [0,2]", "f32[?,?,5,6]"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)
