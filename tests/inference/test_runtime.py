"""An error is what OpenVINO refuses, too: what only formulas refute is never valid, which is a warning."""

import pytest

import irshape
from irshape.report.diagnostic import ERROR
from tests.inference.test_bodies import chosen, inside
from tests.support.ir import Net
from tests.support.oracle import core, partial_shape, reads

# `[B,8]` as `[B,4,8/4]`: of the last size OpenVINO, which reads B from a shape, knows nothing.
SPLIT = "ShapeOf-3(_x, output_type=i64) -> Gather-8([0], 0) -> Concat([4,-1], axis=0) -> Reshape(_x, _, special_zero=false)"


def add(size: int) -> str:
    """The halves of the rows, and `size` numbers added to each."""
    return f"{SPLIT} -> Add(f32=0.0[{size}])"


def net_of(text: str, shape: str = "?,8") -> Net:
    """An input _x, and what becomes of it."""
    return Net(f"_x: f32[{shape}]\n{text} -> Result")


def verdict(net: Net) -> list[tuple[str, bool]]:
    """The codes that are said, and whether they are errors."""
    inference = irshape.infer(net.xml.encode(), weights=net.bin)
    return [(diagnostic.code, diagnostic.severity == ERROR) for diagnostic in inference.diagnostics]


# Every second place of a window: OpenVINO counts them only if it knows the size.
SAME_UPPER = "MaxPool(_x, kernel=2, strides=2, pads_begin=0, pads_end=0, auto_pad=same_upper, rounding_type=floor)"
# Three blocks side by side, one number cut off: 2, 5, 8, and so on. OpenVINO knows a least size and a largest.
BLOCKS = "BatchToSpace-2(_x, [1,3], [0,0], [0,1])"
# Eight channels, as the scale and the bias say. OpenVINO takes the channels of the data.
NORMALIZED = "GroupNormalization-12(_x, f32=1.0[8], f32=1.0[8], num_groups=4, epsilon=0.1)"
# Complex numbers of two parts. OpenVINO takes the last axis of the data.
TRANSFORMED = "DFT-7(_x, [0])"
# A third of 5 to 8 is 2. OpenVINO divides the bounds: 1 to 2.
THIRDS = "_parts: Split(_x, 0, num_splits=3) f32 f32 f32\n_parts.0"
# A constant condition chooses the number, as in one_hot of torch. OpenVINO does not follow a choice beside what it does not know.
CHOSEN = """_most: ReduceMax(Convert(_x, destination_type=i64), [0,1], keep_dims=false)
OneHot([0,1], Select(boolean=1, 5, _most), f32=1.0, f32=0.0, axis=1)"""


def added(text: str, shape: str, other: str) -> Net:
    """What an operation gives, and a tensor of another shape added to it."""
    return net_of(f"{text} -> Add(f32[{other}])", shape)


NETS = {
    "positions of a window": (added(SAME_UPPER, "1,1,9..10", "4"), [("R401", False)]),
    "blocks": (added(BLOCKS, "3,?", "4"), [("R401", False)]),
    "blocks that are bounded": (added(BLOCKS, "3,2..3", "4"), [("S202", True)]),
    "channels": (added(NORMALIZED, "1,?,5", "7,5"), [("R401", False)]),
    "channels that OpenVINO knows": (added(NORMALIZED, "1,8..9,5", "7,5"), [("S202", True)]),
    "parts of complex numbers": (added(TRANSFORMED, "4,?", "3"), [("R401", False)]),
    "a choice": (added(CHOSEN, "?,8", "2,6"), [("R401", False)]),
    "parts": (added(THIRDS, "5..8", "3"), [("R401", False)]),
    "more parts than elements": (net_of(THIRDS, "..2"), [("S206", True)]),
    "fits": (net_of(add(2)), []),
    "never valid": (net_of(add(3)), [("R401", False)]),
    "never valid in a body": (chosen(inside(add(3), "f32[?,8]"), inside(add(2), "f32[?,8]"), "f32[?,8]"), [("R401", False)]),
    "plain to see": (net_of(add(3), "5,8"), [("S202", True)]),
    "both": (net_of(f"{add(3)} -> Concat(_x, axis=0)"), [("R401", False), ("S102", True)]),
}


@pytest.mark.parametrize("name", NETS)
def test_verdict(name: str) -> None:
    net, expected = NETS[name]
    assert verdict(net) == expected


@pytest.mark.oracle
@pytest.mark.parametrize("name", NETS)
def test_verdict_of_openvino(name: str) -> None:
    net, expected = NETS[name]
    is_refused = any(is_error for _, is_error in expected)
    assert reads(net.xml.encode(), net.bin) is not is_refused


def test_what_follows_is_as_openvino_has_it() -> None:
    net = net_of(add(3))
    inference = irshape.infer(net.xml.encode(), weights=net.bin)
    assert inference["add_9"].inputs[0].text == "[?,4,2]"
    assert inference["add_9"].outputs[0].text == "[?,4,3]"


def test_other_layers_keep_their_guards_and_formulas() -> None:
    """Half of the rows beside what is never valid: what it demands of the batch is said all the same."""
    net = net_of(f"_half: Split(_x, 0, num_splits=2) f32 f32\n_half.0 -> Result\n{add(3)}")
    inference = irshape.infer(net.xml.encode(), weights=net.bin, inputs={"parameter_0": "[B,8]"})
    assert [diagnostic.code for diagnostic in inference.diagnostics] == ["R401"]
    assert [str(guard) for guard in inference.guards if guard.node.type == "Split"] == ["<B % 2 == 0 for 'split_2'>"]
    assert inference["split_2"].outputs[0].formula == "[B//2,8]"


def test_a_size_stated_to_begin_at_0_may_be_0() -> None:
    """Without elements -1 is 1, to which anything may be added: the one size for which the sum is valid."""
    net = net_of(add(3), "0..4,8")
    inference = irshape.infer(net.xml.encode(), weights=net.bin)
    assert inference.ok
    assert inference["reshape_7"].outputs[0].formula == "[B,4,B + 1]"
    assert inference["reshape_7"].outputs[0].text == "[0,4,1]"


@pytest.mark.oracle
@pytest.mark.parametrize(("batch", "size"), [(0, 1), (1, 2), (4, 2)])
def test_without_elements_minus_one_is_one(batch: int, size: int) -> None:
    net = net_of(SPLIT, f"{batch},8")
    model = core().read_model(net.xml.encode(), net.bin)
    assert model.output(0).get_partial_shape() == partial_shape([batch, 4, size])


LISTS = {
    # One of the parts of `sizes - [0,2]` is -2 if the second size is 0.
    "parts": "_parts: VariadicSplit(f32[?], 0, _lengths) f32 f32\n_parts.0 -> Result\n_parts.1 -> Result",
    # A begin and an end of one axis, and the strides of two.
    "strided": "StridedSlice(f32[8], [0], [1], _sizes, begin_mask=0, end_mask=0) -> Result",
    # A target of a size that is not known, unless it is computed, and -1.
    "broadcast": "Broadcast-3(f32[1], Concat(_first, [-1], axis=0), mode=numpy) -> Result",
}


@pytest.mark.oracle
@pytest.mark.parametrize("kind", LISTS)
@pytest.mark.parametrize(("shape", "is_refused"), [("1,0", True), ("1..2,0", False)])
def test_openvino_checks_a_list_whose_numbers_it_knows(kind: str, shape: str, is_refused: bool) -> None:
    """If it does not know one of them, a fault of the others is never valid."""
    first = "[2]" if shape == "1,0" else "i64[1]"
    lengths = "_lengths: Subtract(_sizes, [0,2])\n" if kind == "parts" else ""
    sizes = "" if kind == "broadcast" else f"_sizes: ShapeOf-3(f32[{shape}], output_type=i64)\n"
    net = Net(f"{sizes}{lengths}{LISTS[kind].replace('_first', first)}")
    assert reads(net.xml.encode(), net.bin) is not is_refused
    told = {diagnostic.severity for diagnostic in irshape.infer(net.xml.encode(), weights=net.bin).diagnostics}
    assert told == {"error" if is_refused else "warning"}
