"""Poolings."""

from tests.support.rows import Row, Rows, differs, row_tests


def attributes(kernel: str, strides: str, pads_begin: str, pads_end: str, **others: str) -> dict[str, str]:
    return {"kernel": kernel, "strides": strides, "pads_begin": pads_begin, "pads_end": pads_end, **others}


PLAIN = attributes("2,2", "2,2", "0,0", "0,0")
LINE = attributes("3", "2", "0", "0")
PADDED = attributes("3", "3", "0", "2")


def window_rows(indices: bool) -> list[Row]:
    """Rows that hold for every pooling with a window; with `indices` the output comes twice."""

    def out(element_type: str, shape: str) -> str:
        return f"{element_type}{shape} i64{shape}" if indices else element_type + shape

    return [
        ("specification", "f32[1,3,224,224]", PLAIN, out("f32", "[1,3,112,112]")),
        ("pads", "f32[1,3,32,32]", attributes("5,5", "2,2", "1,1", "1,1"), out("f32", "[1,3,15,15]")),
        ("1-D", "i8[1,3,10]", LINE, out("i8", "[1,3,4]")),
        ("3-D", "f32[1,3,8,9,10]", attributes("2,3,1", "2,2,3", "0,1,0", "0,0,0"), out("f32", "[1,3,4,4,4]")),
        ("ceil", "f32[1,3,10]", {**LINE, "rounding_type": "ceil"}, out("f32", "[1,3,5]")),
        ("ceil starts a window in the padding", "f32[1,3,6]", {**PADDED, "rounding_type": "ceil"}, out("f32", "[1,3,3]")),
        ("bounds", "f32[1..8,3,20..41,7..]", PLAIN, out("f32", "[1..8,3,10..20,3..]")),
        ("ceil with bounds", "f32[2,3,5..10]", {**LINE, "rounding_type": "ceil"}, out("f32", "[2,3,2..5]")),
        ("smaller than the kernel", "f32[1,3,1..2]", LINE, out("f32", "[1,3,1]")),
        ("unranked", "f32[...]", PLAIN, out("f32", "[1..,1..,1..,1..]")),
        ("same_upper", "f32[1,3,10,11]", {**PLAIN, "auto_pad": "same_upper"}, out("f32", "[1,3,5,6]")),
        ("same_lower with bounds", "f32[1,3,10..21,?]", {**PLAIN, "auto_pad": "same_lower"}, out("f32", "[1,3,5..11,1..]")),
        ("same and ceil", "f32[1,3,4]", {**LINE, "kernel": "1", "auto_pad": "same_upper", "rounding_type": "ceil"}, out("f32", "[1,3,3]")),
        ("valid ignores pads", "f32[1,3,10]", {**LINE, "pads_begin": "2", "auto_pad": "valid"}, out("f32", "[1,3,4]")),
        ("any type", "boolean[1,3,5]", LINE, out("boolean", "[1,3,2]")),
        ("kernel of 0 and bounds", "f32[1,3,5..10]", {**LINE, "kernel": "0"}, out("f32", "[1,3,3..5]")),
        ("kernel of 0", "f32[1,3,10]", {**LINE, "kernel": "0"}, "A104"),
        ("negative kernel", "f32[1,3,10]", {**LINE, "kernel": "-3", "auto_pad": "same_upper"}, "A104"),
        ("pads that add up to -1", "f32[1,3,10]", {**LINE, "pads_end": "-1"}, "A104"),
        ("too large a kernel", "f32[1,3,2]", LINE, "S203"),
        ("empty axis and same", "f32[1,3,0]", {**LINE, "auto_pad": "same_upper"}, "S203"),
        ("empty batch", "f32[0,3,8]", LINE, "S203"),
        ("no channel", "f32[2,0,8]", LINE, "S203"),
        ("low rank", "f32[1,3]", LINE, "S101"),
        ("no kernel", "f32[1,3,8]", {"strides": "2"}, "A105"),
        ("no strides", "f32[1,3,8]", {"kernel": "2"}, "A105"),
        ("kernel of another rank", "f32[1,3,8]", PLAIN, "A105"),
        ("too few pads", "f32[1,3,8,8]", {**PLAIN, "pads_end": "1"}, "A105"),
        ("stride of 0", "f32[1,3,8]", {**LINE, "strides": "0"}, "A104"),
        ("unknown rounding", "f32[1,3,8]", {**LINE, "rounding_type": "round"}, "A103"),
    ]


TORCH = {**LINE, "rounding_type": "ceil_torch"}

ROWS: Rows = {
    ("MaxPool", "opset1"): [
        *window_rows(indices=False),
        ("two negative pads", "f32[1,3,10]", {**LINE, "pads_begin": "-1", "pads_end": "-1"}, differs("f32[1,3,3]", "f32[1,3,4]")),
        ("rounding of later versions", "f32[1,3,8]", TORCH, "A103"),
    ],
    ("MaxPool", "opset8"): [
        *window_rows(indices=True),
        ("gaps", "f32[1,3,10]", {**LINE, "dilations": "3"}, "f32[1,3,2] i64[1,3,2]"),
        ("type of indices", "f32[1,3,10]", {**LINE, "index_element_type": "i32"}, "f32[1,3,4] i32[1,3,4]"),
        ("axis", "f32[1,3,10]", {**LINE, "axis": "-3"}, "f32[1,3,4] i64[1,3,4]"),
        ("axis beyond the rank", "f32[1,3,10]", {**LINE, "axis": "3"}, "V102"),
        ("gap of 0", "f32[1,3,10]", {**LINE, "dilations": "0"}, "A104"),
        ("unknown type of indices", "f32[1,3,10]", {**LINE, "index_element_type": "int"}, "A103"),
        ("rounding of later versions", "f32[1,3,8]", TORCH, "A103"),
    ],
    ("MaxPool", "opset14"): [
        *window_rows(indices=True),
        ("no window starts in the padding", "f32[1,3,4]", {**TORCH, "pads_end": "2", "strides": "3"}, "f32[1,3,2] i64[1,3,2]"),
        ("the last window would", "f32[1,3,6]", {**TORCH, "pads_end": "2", "strides": "3"}, "f32[1,3,2] i64[1,3,2]"),
        ("only one window is left out", "f32[1,3,7]", {**TORCH, "kernel": "1", "pads_end": "4"}, "f32[1,3,5] i64[1,3,5]"),
        ("as PyTorch with bounds", "f32[1,3,5..10]", TORCH, "f32[1,3,2..5] i64[1,3,2..5]"),
    ],
    ("AvgPool", "opset1"): [
        *window_rows(indices=False),
        ("window in the padding", "f32[1,3,10]", {**LINE, "pads_begin": "3", "exclude-pad": "true"}, "A104"),
        ("padding counts", "f32[1,3,10]", {**LINE, "pads_begin": "3", "exclude-pad": "false"}, "f32[1,3,6]"),
        ("no boolean leaves the default", "f32[1,3,10]", {**LINE, "pads_begin": "3", "exclude-pad": "no"}, "A104"),
        ("padding excluded by default", "f32[1,3,10]", {**LINE, "pads_end": "3"}, "A104"),
        ("window in the padding with bounds", "f32[1,3,5..10]", {**LINE, "pads_begin": "3"}, "f32[1,3,3..6]"),
        ("rounding of later versions", "f32[1,3,8]", TORCH, "A103"),
    ],
    ("AvgPool", "opset14"): [
        *window_rows(indices=False),
        ("no window starts in the padding", "f32[1,3,6]", {**TORCH, "pads_end": "2", "strides": "3"}, "f32[1,3,2]"),
    ],
    ("AvgPool", "opset16"): [
        *window_rows(indices=False),
        ("gaps", "f32[1,3,10]", {**LINE, "dilations": "3"}, "f32[1,3,2]"),
        ("gaps make room for pads", "f32[1,3,10]", {**LINE, "dilations": "2", "pads_begin": "3"}, "f32[1,3,5]"),
        ("gap of 0", "f32[1,3,10]", {**LINE, "dilations": "0"}, "A104"),
    ],
    ("AdaptiveAvgPool", "opset8"): [
        ("specification", "f32[1,3,32,32] [16,16]", "f32[1,3,16,16]"),
        ("bounds", "f32[?,3..5,1..] [7]", "f32[?,3..5,7]"),
        ("not constant", "f32[1,3,32,32] i64[2]", "f32[1,3,?,?]"),
        ("length not known", "f32[1,3,32,32] i64[?]", "f32[1,3,?,?]"),
        ("unranked", "f32[...] [7]", "f32[...]"),
        ("sizes from floats", "f32[1,3,9] f32=[2.5]", "f32[1,3,2]"),
        ("any size", "f32[1,3,9] [-1]", "f32[1,3,?]"),
        ("low rank", "f32[1,3] [1]", "S101"),
        ("too many sizes", "f32[1,3,9] [2,2]", "V103"),
        ("scalar size", "f32[1,3,9] 2", "S101"),
        ("boolean sizes", "f32[1,3,9] boolean=[true]", "T101"),
        ("unknown values of rank 3", "f32[1,6,8] i64[1,6,1]", "f32[1,6,?]"),
        ("known values of rank 3", "f32[1,6,8] [[[1],[6]]]", "V103"),
        ("2^63-1 is any size", "f32[1,6,8] [9223372036854775807]", "f32[1,6,?]"),
        ("beyond int64", "f32[1,6,8] u64=[18446744073709551615]", "V101"),
    ],
    ("AdaptiveMaxPool", "opset8"): [
        ("specification", "f32[1,3,32,32] [16,16]", {"index_element_type": "i32"}, "f32[1,3,16,16] i32[1,3,16,16]"),
        ("not constant", "f32[1,?,32] i32[1]", "f32[1,?,?] i64[1,?,?]"),
        ("unranked", "f32[...] [7]", "f32[...] i64[...]"),
        ("too few sizes", "f32[1,3,9,9] [2]", "V103"),
        ("float indices", "f32[1,3,9] [2]", {"index_element_type": "f32"}, "A103"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)
