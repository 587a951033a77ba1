"""Convolutions and their transposes."""

from tests.support.rows import Rows, differs, row_tests


def attributes(strides: str, pads_begin: str, pads_end: str, dilations: str, **others: str) -> dict[str, str]:
    return {"strides": strides, "pads_begin": pads_begin, "pads_end": pads_end, "dilations": dilations, **others}


PLAIN = attributes("1,1", "0,0", "0,0", "1,1")
HALVING = attributes("2,2", "1,1", "1,1", "1,1")
UNEQUAL = attributes("2,3", "1,0", "2,1", "1,2")
LINE = attributes("2", "0", "0", "1")
SAME = {**LINE, "auto_pad": "same_upper"}
KEEPING = attributes("1,1", "2,2", "2,2", "1,1")
CUBE = attributes("3,3,3", "0,0,0", "0,0,0", "1,1,1")
SPREAD = attributes("3,3", "0,0", "0,0", "1,1", output_padding="2,2")
BINARY = {**KEEPING, "mode": "xnor-popcount", "pad_value": "0"}
VALID = {**HALVING, "auto_pad": "valid"}
CROP = {**LINE, "pads_begin": "-1", "pads_end": "-1"}
ONE = {**PLAIN, "group": "1", "deformable_group": "1"}
TWO = {**PLAIN, "group": "2", "deformable_group": "1"}

ROWS: Rows = {
    ("Convolution", "opset1"): [
        ("specification 1-D", "f32[1,5,128] f32[16,5,4]", attributes("1", "0", "0", "1"), "f32[1,16,125]"),
        ("specification 2-D", "f32[1,3,224,224] f32[64,3,5,5]", KEEPING, "f32[1,64,224,224]"),
        ("specification 3-D", "f32[1,7,320,320,320] f32[32,7,3,3,3]", CUBE, "f32[1,32,106,106,106]"),
        ("halving", "f32[1,3,224,223] f32[8,3,3,3]", HALVING, "f32[1,8,112,112]"),
        ("unequal axes", "f32[1,3,20,20] f32[8,3,4,3]", UNEQUAL, "f32[1,8,10,6]"),
        ("nothing said", "f32[1,3,20,20] f32[8,3,4,3]", "f32[1,8,17,18]"),
        ("bounds", "f32[1..8,3,20..40,7..] f32[8,3,3,3]", HALVING, "f32[1..8,8,10..20,4..]"),
        ("smaller than the kernel", "f32[1,3,1..9] f32[8,3,5]", LINE, "f32[1,8,1..3]"),
        ("kernel not known", "f32[1,3,20,20] f32[8,3,1..3,?]", PLAIN, "f32[1,8,18..20,1..20]"),
        ("channels not known", "f32[1,?,8,8] f32[?,3..5,1,1]", PLAIN, "f32[1,?,8,8]"),
        ("data unranked", "f32[...] f32[8,3,3,3]", HALVING, "f32[?,8,1..,1..]"),
        ("filters unranked", "f32[2,3,20,20] f32[...]", HALVING, "f32[2,?,1..11,1..11]"),
        ("all unranked", "f32[...] f32[...]", HALVING, "f32[?,?,1..,1..]"),
        ("all unranked, nothing said", "f32[...] f32[...]", "f32[...]"),
        ("same_upper", "f32[1,3,10,11] f32[8,3,3,3]", attributes("2,3", "7,7", "7,7", "1,1", auto_pad="same_upper"), "f32[1,8,5,4]"),
        ("same_lower with bounds", "f32[1,3,10..21,?] f32[8,3,3,3]", {**HALVING, "auto_pad": "same_lower"}, "f32[1,8,5..11,?]"),
        ("valid ignores pads", "f32[1,3,10,11] f32[8,3,3,3]", VALID, "f32[1,8,4,5]"),
        ("type of the filters", "dynamic[1,3,8] f16[2,3,3]", LINE, "f16[1,2,3]"),
        ("kernel of 0 counts as 1", "f32[1,3,10] f32[2,3,0]", LINE, "f32[1,2,5]"),
        ("negative stride", "f32[1,3,10] f32[2,3,3]", {**LINE, "strides": "-1"}, "f32[1,2,1]"),
        ("negative pad", "f32[1,3,10] f32[2,3,3]", {**LINE, "pads_begin": "-1"}, "f32[1,2,4]"),
        ("one negative pad", "f32[1,3,8] f32[2,3,3]", {**LINE, "strides": "1", "pads_begin": "-1"}, differs("f32[1,2,5]", "f32[1,2,6..]")),
        ("two negative pads", "f32[1,3,10] f32[2,3,3]", CROP, differs("f32[1,2,3]", "f32[1,2,4]")),
        ("too large a kernel", "f32[1,3,4,4] f32[8,3,5,5]", PLAIN, "S203"),
        ("empty axis", "f32[1,3,0] f32[2,3,1]", LINE, "S203"),
        ("channels differ", "f32[1,3,8,8] f32[8,4,3,3]", PLAIN, "S201"),
        ("ranks differ", "f32[1,3,8,8] f32[8,3,3]", PLAIN, "S102"),
        ("low rank", "f32[1,3] f32[8,3]", LINE, "S101"),
        ("high rank", "f32[1,3,1,1,1,1] f32[8,3,1,1,1,1]", "S101"),
        ("types differ", "f32[1,3,8] f16[8,3,3]", LINE, "T102"),
        ("boolean", "boolean[1,3,8] boolean[8,3,3]", LINE, "T101"),
        ("stride of 0", "f32[1,3,8] f32[8,3,3]", {**LINE, "strides": "0"}, "A104"),
        ("dilation of 0", "f32[1,3,8] f32[8,3,3]", {**LINE, "dilations": "0"}, "A104"),
        ("too many strides", "f32[1,3,8] f32[8,3,3]", {**LINE, "strides": "1,1"}, "A105"),
        ("too few dilations", "f32[1,3,8,8] f32[8,3,3,3]", {**PLAIN, "dilations": "1"}, "A105"),
        ("too few pads, though ignored", "f32[1,3,8,8] f32[8,3,3,3]", {**PLAIN, "pads_end": "1", "auto_pad": "valid"}, "A105"),
        ("unknown padding", "f32[1,3,8] f32[8,3,3]", {**LINE, "auto_pad": "notset"}, "A103"),
        ("no number", "f32[1,3,8] f32[8,3,3]", {**LINE, "strides": "two"}, "A102"),
    ],
    ("BinaryConvolution", "opset1"): [
        ("specification", "f32[1,3,224,224] u1[64,3,5,5]", BINARY, "f32[1,64,224,224]"),
        ("bounds", "f32[?,3,9..,224] u1[64,3,5,5]", PLAIN, "f32[?,64,5..,220]"),
        ("data unranked", "f32[...] u1[64,3,5,5]", PLAIN, "f32[?,64,1..,1..]"),
        ("low rank", "f32[1,3,8] u1[8,3,3]", LINE, "S101"),
        ("channels differ", "f32[1,3,8,8] u1[8,4,3,3]", PLAIN, "S201"),
        ("boolean", "boolean[1,3,8,8] u1[8,3,3,3]", PLAIN, "T101"),
        ("unknown mode", "f32[1,3,8,8] u1[8,3,3,3]", {**PLAIN, "mode": "xor"}, "A103"),
    ],
    ("GroupConvolution", "opset1"): [
        ("specification 1-D", "f32[1,12,224] f32[4,1,3,5]", attributes("1", "2", "2", "1"), "f32[1,4,224]"),
        ("specification 2-D", "f32[1,12,224,224] f32[4,1,3,5,5]", KEEPING, "f32[1,4,224,224]"),
        ("bounds", "f32[?,12,20..40,7..] f32[4,2,3,3,3]", HALVING, "f32[?,8,10..20,4..]"),
        ("groups by the channels", "f32[1,12,8] f32[?,2,3,1]", LINE, "f32[1,8,4]"),
        ("groups by channels in bounds", "f32[1,7..9,10] f32[?,3,2,1]", LINE, "f32[1,12,5]"),
        ("channels not known", "f32[1,?,8] f32[4,2,3,1]", LINE, "f32[1,8,4]"),
        ("data unranked", "f32[...] f32[4,2,3,3,3]", HALVING, "f32[?,8,1..,1..]"),
        ("filters unranked", "f32[1,4,8] f32[...]", LINE, "f32[1,?,1..4]"),
        ("all unranked, nothing said", "f32[...] f32[...]", "f32[...]"),
        ("other groups", "f32[1,12,8] f32[3,2,3,1]", LINE, "S201"),
        ("no whole group", "f32[1,7,8] f32[?,2,3,1]", LINE, "S204"),
        ("no channels and filters not known", "f32[1,0,8] f32[3,2,?,1]", LINE, "f32[1,6,4]"),
        ("ranks differ", "f32[1,12,8] f32[4,2,3]", LINE, "S102"),
        ("low rank", "f32[1,12] f32[4,2,3]", "S101"),
        ("types differ", "f32[1,4,8] i8[4,1,1,3]", LINE, "T102"),
        ("too many strides", "f32[1,4,8] f32[4,1,1,3]", {**LINE, "strides": "1,1"}, "A105"),
        ("filters that take no channels", "f32[4,12,11] f32[?,5,0,3]", attributes("1", "0", "0", "1"), "f32[4,0,9]"),
        ("filters that take none of unknown channels", "f32[4,?,11] f32[2,5,0,3]", attributes("1", "0", "0", "1"), "f32[4,10,9]"),
        ("groups of filters that take no channels", "f32[4,12,11] f32[2,5,0,3]", attributes("1", "0", "0", "1"), "S201"),
    ],
    ("ConvolutionBackpropData", "opset1"): [
        ("specification", "f32[1,20,224,224] f32[20,10,3,3]", {**HALVING, "output_padding": "0,0"}, "f32[1,10,447,447]"),
        ("specification, padded output", "f32[1,20,2,2] f32[20,10,3,3]", SPREAD, "f32[1,10,8,8]"),
        ("specification, given shape", "f32[1,20,224,224] f32[20,10,3,3] [450,450]", VALID, "f32[1,10,450,450]"),
        ("bounds", "f32[?,4,15..18,10..] f32[4,2,2,3]", attributes("3,3", "2,2", "2,1", "2,1"), "f32[?,2,41..50,27..]"),
        ("shape not constant", "f32[1,4,8,8] f32[4,2,3,3] i64[2]", HALVING, "f32[1,2,?,?]"),
        ("data unranked", "f32[...] f32[4,2,3]", LINE, "f32[?,2,3..]"),
        ("spatial axes by the shape", "f32[...] f32[...] i64[2]", "f32[?,?,?,?]"),
        ("all unranked, nothing said", "f32[...] f32[...]", "f32[...]"),
        ("same ignores pads", "f32[1,4,10] f32[4,2,3]", attributes("2", "1", "1", "1", auto_pad="same_upper"), "f32[1,2,21]"),
        ("size of 0 counts as 1", "f32[1,4,0] f32[4,2,3]", LINE, "f32[1,2,3]"),
        ("length of the shape not known", "f32[1,4,8] f32[4,2,3] i64[?]", LINE, differs("f32[1,2,?]", "f32[1,2]")),
        ("length and size not known", "f32[1,4,?] f32[4,2,3] i64[?]", SAME, differs("f32[1,2,?]", "f32[1,2]")),
        ("length not known and same", "f32[1,4,8] f32[4,2,3] i64[?]", SAME, "V105"),
        ("negative size", "f32[1,4,8] f32[4,2,3] [-1]", LINE, "V101"),
        ("too many sizes", "f32[1,4,8] f32[4,2,3] [9,9]", LINE, "V103"),
        ("shape of rank 2", "f32[1,4,8] f32[4,2,3] i64[1,1]", LINE, "S101"),
        ("float shape", "f32[1,4,8] f32[4,2,3] f32=[9.0]", LINE, "T101"),
        ("channels differ", "f32[1,4,8] f32[5,2,3]", LINE, "S201"),
        ("ranks differ", "f32[1,4,8] f32[4,2,3,3]", LINE, "S102"),
        ("too many paddings", "f32[1,4,8] f32[4,2,3]", {**LINE, "output_padding": "1,1"}, "A105"),
        ("stride of 0", "f32[1,4,8] f32[4,2,3]", {**LINE, "strides": "0"}, "A104"),
    ],
    ("GroupConvolutionBackpropData", "opset1"): [
        ("specification", "f32[1,20,224,224] f32[4,5,2,3,3]", {**HALVING, "strides": "1,1"}, "f32[1,8,224,224]"),
        ("given shape", "f32[1,20,224,224] f32[4,5,2,3,3] [450,448]", HALVING, "f32[1,8,450,448]"),
        ("bounds", "f32[?,20,3..9] f32[4,5,2,3]", LINE, "f32[?,8,7..19]"),
        ("groups by the channels", "f32[1,20,3] f32[?,5,2,3]", LINE, "f32[1,8,7]"),
        ("data unranked", "f32[...] f32[4,5,2,3]", LINE, "f32[?,8,3..]"),
        ("shape not constant", "f32[1,20,8] f32[4,5,2,3] i64[1]", LINE, "f32[1,8,?]"),
        ("other groups", "f32[1,20,8] f32[3,5,2,3]", LINE, "S201"),
        ("no whole group", "f32[1,21,8] f32[?,5,2,3]", LINE, "S204"),
        ("ranks differ", "f32[1,20,8] f32[4,5,2]", LINE, "S102"),
        ("too many sizes", "f32[1,20,8] f32[4,5,2,3] [9,9]", LINE, "V103"),
    ],
    ("DeformableConvolution", "opset1"): [
        ("specification", "f32[1,4,224,224] f32[1,50,220,220] f32[64,4,5,5]", ONE, "f32[1,64,220,220]"),
        ("batch by the offsets", "f32[?,4,9..,12] f32[2,18,?,10] f32[6,4,3,3]", ONE, "f32[2,6,7..,10]"),
        ("offsets ranked", "f32[...] f32[2,18,7,10] f32[...]", ONE, "f32[2,?,7,10]"),
        ("all unranked", "f32[...] f32[...] f32[...]", PLAIN, "f32[...]"),
        ("low rank", "f32[1,4,9] f32[1,18,7] f32[6,4,3]", ONE, "S101"),
        ("batches differ", "f32[1,4,9,9] f32[2,18,7,7] f32[6,4,3,3]", ONE, "S201"),
        ("other places", "f32[1,4,9,9] f32[1,18,7,9] f32[6,4,3,3]", ONE, "S201"),
        ("other offsets", "f32[1,4,9,9] f32[1,9,7,7] f32[6,4,3,3]", ONE, "S201"),
        ("other channels", "f32[1,4,9,9] f32[1,18,7,7] f32[6,4,3,3]", TWO, "S201"),
        ("filters not grouped", "f32[1,4,9,9] f32[1,18,7,7] f32[5,2,3,3]", TWO, "S204"),
        ("no group", "f32[1,4,9,9] f32[1,18,7,7] f32[6,4,3,3]", {**PLAIN, "deformable_group": "1"}, "A104"),
        ("types differ", "f32[1,4,9,9] f16[1,18,7,7] f32[6,4,3,3]", ONE, "T102"),
    ],
    ("DeformableConvolution", "opset8"): [
        ("with a mask", "f32[1,4,9,9] f32[1,18,7,7] f32[6,4,3,3] f32[1,9,7,7]", ONE, "f32[1,6,7,7]"),
        ("without", "f32[1,4,9,9] f32[1,18,7,7] f32[6,4,3,3]", ONE, "f32[1,6,7,7]"),
        ("other mask", "f32[1,4,9,9] f32[1,18,7,7] f32[6,4,3,3] f32[1,18,7,7]", ONE, "S201"),
        ("mask of low rank", "f32[1,4,9,9] f32[1,18,7,7] f32[6,4,3,3] f32[1,9]", ONE, "S101"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)
