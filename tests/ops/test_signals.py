"""Fourier transforms; the last axis of complex numbers, of size 2, holds real and imaginary parts."""

import pytest

import irshape
from tests.support.ir import Net
from tests.support.oracle import core, partial_shape
from tests.support.rows import Rows, differs, row_tests

ROWS: Rows = {
    ("DFT", "opset7"): [
        ("static", "f32[2,10,8,2] [1,2]", "f32[2,10,8,2]"),
        ("sizes", "f32[2,10,8,2] [1,-1] [5,-1]", "f32[2,5,8,2]"),
        ("bounds", "f32[?,3..5,8,2] [1,2] [-1,4]", "f32[?,3..5,4,2]"),
        ("unranked", "f32[...] [1]", "f32[...]"),
        ("axes not constant", "f32[2,10,2] i64[1]", "f32[2,10,2]"),
        ("axes not constant, sizes", "f32[2,10,2] i64[1] [5]", "f32[?,?,2]"),
        ("sizes not constant", "f32[2,10,8,2] [1] i64[1]", "f32[2,?,8,2]"),
        ("double", "f64[2,10,2] [1]", "T101"),
        ("float axes", "f32[2,10,2] f32=[1.0]", "T101"),
        ("not complex", "f32[2,10,3] [1]", "S201"),
        ("low rank", "f32[2] [0]", "S101"),
        ("scalar axis", "f32[2,10,2] 1", "S101"),
        ("axis out of range", "f32[2,10,2] [2]", "V102"),
        ("too many axes", "f32[2,10,2] [0,1,2]", "V103"),
        ("lengths differ", "f32[2,10,2] [1] [5,6]", "V103"),
        ("axis twice", "f32[2,10,2] [1,1]", "V104"),
        ("numbers of axes and sizes, not static", "f32[4,6,2] i64[2..5] [1]", "f32[?,?,2]"),
        ("numbers of axes and sizes", "f32[4,6,2] i64[2] [1]", "V103"),
    ],
    ("IDFT", "opset7"): [("static", "f32[2,10,8,2] [1,2] [5,-1]", "f32[2,5,8,2]"), ("not complex", "f32[2,10,3] [1]", "S201")],
    ("RDFT", "opset9"): [
        ("static", "f32[2,10,8] [1,2]", "f32[2,10,5,2]"),
        ("last axis named", "f32[2,10,8] [2,1]", "f32[2,6,8,2]"),
        ("sizes", "f32[2,10,8] [1,2] [5,7]", "f32[2,5,4,2]"),
        ("bounds", "f32[2,1..3,8] [1]", "f32[2,1..2,8,2]"),
        ("open", "f32[2,?] [1]", "f32[2,?,2]"),
        ("no elements", "f32[2,0] [1]", "f32[2,0,2]"),
        ("unranked", "f32[...] [1]", "f32[...]"),
        ("axes not constant", "f32[2,10] i64[1]", "f32[?,?,2]"),
        ("sizes not constant", "f32[2,10] [1] i64[1]", "f32[2,?,2]"),
        ("sizes not constant, several", "f32[2,10,8] [1,2] i64[2]", differs("f32[2,?,?,2]", "f32[2,10,?,2]")),
        ("integers", "i32[2,10] [1]", "T101"),
        ("scalar", "f32[] [0]", "S101"),
        ("axis twice", "f32[2,10] [1,-1]", "V104"),
    ],
    ("IRDFT", "opset9"): [
        ("static", "f32[2,10,8,2] [1,2]", "f32[2,10,14]"),
        ("sizes", "f32[2,10,8,2] [1,2] [-1,7]", "f32[2,10,7]"),
        ("bounds", "f32[2,1..3,8,2] [1]", "f32[2,..4,8]"),
        ("one element", "f32[2,1,2] [1]", "f32[2,0]"),
        ("sizes not constant", "f32[2,10,8,2] [1,2] i64[2]", differs("f32[2,?,?]", "f32[2,10,?]")),
        ("unranked", "f32[...] [1]", "f32[...]"),
        ("axes not constant", "f32[2,10,2] i64[1]", "f32[?,?]"),
        ("not complex", "f32[2,10,3] [1]", "S201"),
        ("low rank", "f32[2] [0]", "S101"),
    ],
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


@pytest.mark.parametrize(("type", "version", "expected", "theirs", "real"), [
    ("DFT", "opset7", "[4,..9,2]", "[4,..1,2]", "[4,5,2]"),
    ("RDFT", "opset9", "[4,..5,2,2]", "[4,?,2,2]", "[4,3,2,2]"),
    ("IRDFT", "opset9", "[4,..16]", "[4,?]", "[4,8]"),
])  # fmt: skip
@pytest.mark.oracle
def test_a_signal_size_that_may_be_minus_one_may_keep_the_axis(type: str, version: str, expected: str, theirs: str, real: str) -> None:
    """With numbers, -1 keeps an axis of 5. Before, OpenVINO takes -2..1 for a size of at most 1 in DFT."""
    signal = "f32[0..3] -> ShapeOf-3(output_type=i64) -> _signal: Subtract([2])"
    net = Net(f"{signal}\nf32[4,1..9,2] -> {type}-{version.removeprefix('opset')}([1], _signal) -> Result")
    assert irshape.infer(net.xml.encode(), weights=net.bin).layer(len(net.layers) - 2).outputs[0].text == expected
    model = core().read_model(net.xml.encode(), net.bin)
    assert model.output(0).get_partial_shape() == partial_shape(theirs)
    model.reshape({0: [1], 1: [4, 5, 2]})
    assert model.output(0).get_partial_shape() == partial_shape(real)
