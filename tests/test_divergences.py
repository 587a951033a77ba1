"""Proofs of `docs/divergences.md` that are not about a row of one operation."""

import pytest

import irshape
from tests.support.ir import Net
from tests.support.oracle import core, partial_shape, reads

pytestmark = pytest.mark.oracle


def packed(element_type: str, shape: str, data: bytes) -> Net:
    """A Tile whose repeats are a constant of a type narrower than a byte."""
    net = Net("_x: f32[1,1]")
    net.named["_repeats"] = [net.stored(element_type, shape, data)]
    net.add("Tile(_x, _repeats) -> Result")
    return net


def errors(net: Net) -> list[str]:
    """The codes of irshape's errors."""
    return [one.code for one in irshape.infer(net.xml.encode(), weights=net.bin).diagnostics if one.severity == "error"]


def test_openvino_reads_packed_values_as_bytes() -> None:
    """Two nibbles of 1 repeat nothing; OpenVINO takes their byte, 17, for the first and what follows it for the second."""
    net = packed("u4", "2", b"\x11")
    model = core().read_model(net.xml.encode(), net.bin)
    assert model.output(0).get_partial_shape()[0].get_length() == 17
    assert [diagnostic.code for diagnostic in irshape.infer(net.xml.encode(), weights=net.bin).diagnostics] == ["T101"]


@pytest.mark.parametrize(("element_type", "data", "read"), [("i4", b"\x0f", 15), ("nf4", b"\x07", 7)])
def test_openvino_reads_a_single_packed_element_as_its_byte(element_type: str, data: bytes, read: int) -> None:
    """The element of i4 is -1, that of nf4 is 0."""
    net = packed(element_type, "1", data)
    model = core().read_model(net.xml.encode(), net.bin)
    assert model.output(0).get_partial_shape()[1].get_length() == read
    assert errors(net) == ["T101"]


@pytest.mark.parametrize(("behind", "is_accepted"), [(b"\0", True), (b"\xff", False)])
def test_openvino_reads_axes_of_six_bits_beyond_their_end(behind: bytes, is_accepted: bool) -> None:
    """Two elements take two bytes, and OpenVINO decides by the third."""
    net = Net()
    net.named["_axes"] = [net.stored("u6", 2, b"\0\0")]
    net.weights += behind
    net.add("LRN(f32[2,3,4], _axes, alpha=1, beta=1, bias=1, size=1) -> Result")
    assert reads(net.xml.encode(), net.bin) is is_accepted
    assert errors(net) == ["T101"]


def test_openvino_fails_on_axes_that_a_split_gives() -> None:
    """It takes the same axes from a Split."""
    for split in ("VariadicSplit([1,0], 0, [1,1])", "Split([1,0], 0, num_splits=2)"):
        net = Net(f"_axes: {split} i64 i64\nLRN(f32[2,3,4], _axes, alpha=1, beta=1, bias=1, size=1) -> Result")
        assert errors(net) == []
        if split.startswith("Split"):
            core().read_model(net.xml.encode(), net.bin)
            continue
        with pytest.raises(RuntimeError, match="Default output not supported"):
            core().read_model(net.xml.encode(), net.bin)


def test_openvino_reads_no_output_shape_beside_a_surplus_input() -> None:
    sizes = []
    for surplus in (0, 1):
        attributes = 'strides="2,2", dilations="1,1", pads_begin="0,0", pads_end="0,0", output_padding="0,0"'
        inputs = f"f32[1,20,224,224], f32[20,10,3,3], [450,450]{', f32[1]' * surplus}"
        net = Net(f"ConvolutionBackpropData({inputs}, {attributes}) -> Result", version=10)
        sizes.append(core().read_model(net.xml.encode(), net.bin).output(0).get_partial_shape()[2].get_length())
        assert errors(net) == ["G108"] * surplus
    assert sizes == [450, 449]


def test_openvino_takes_a_constant_of_shape_minus_one() -> None:
    """The size it wants of 2^64 - 1 nibbles wraps to less than the two bytes there are."""
    net = Net()
    net.result(net.stored("nf4", -1, b"\x03\x09"))
    core().read_model(net.xml.encode(), net.bin)
    assert [diagnostic.code for diagnostic in irshape.infer(net.xml.encode(), weights=net.bin).diagnostics] == ["A104"]


def test_neither_reads_values_from_strings() -> None:
    net = Net("_x: f32[2]")
    net.named["_axes"] = [net.stored("string", 1, b"\x01\0\0\0" + b"\0\0\0\0" + b"\x01\0\0\0" + b"1")]
    net.add("Unsqueeze(_x, _axes) -> Result")
    assert [diagnostic.code for diagnostic in irshape.infer(net.xml.encode(), weights=net.bin).diagnostics] == ["T101"]
    with pytest.raises(RuntimeError, match="Element not supported"):
        core().read_model(net.xml.encode(), net.bin)


def sizes_of(fact: str) -> str:
    """The sizes of a Parameter, as values."""
    return f"ShapeOf-3({fact}, output_type=i64)"


MADE = "Broadcast-3(f32=1.0, _, mode=numpy) -> Result"
ENDED = f"x: f32[..8]\nSubtract({sizes_of('f32[..8]')}, [1]) -> Slice-8(x, [-7], _, [2]) -> Result"
COPIED = f"Reshape(f32[?,9], {sizes_of('f32[3,..6]')}, special_zero=true) -> Result"
CROPPED = f"x: f32[5]\nSubtract({sizes_of('f32[?]')}, {sizes_of('f32[1..7]')}) -> Pad-12(x, [0], _, pad_mode=edge) -> Result"


@pytest.mark.parametrize(("text", "ours", "theirs", "inputs", "real"), [
    pytest.param(ENDED, "[..4]", "[..3]", [[7], [8]], "[4]", id="an end of either sign"),
    pytest.param(COPIED, "[3,3..9]", "[3,..6]", [[3, 9], [3, 0]], "[3,9]", id="a size that may be 0 and then copies another"),
    pytest.param(CROPPED, "[?]", "[5..]", [[5], [0], [3]], "[2]", id="the difference of two sizes"),
])  # fmt: skip
def test_openvino_infers_of_numbers_what_its_bounds_exclude(text: str, ours: str, theirs: str, inputs: list[list[int]], real: str) -> None:
    """With numbers for the open sizes OpenVINO infers a shape that irshape's bounds contain, and its own do not."""
    net = Net(text)
    layer = len(net.layers) - 2
    assert irshape.infer(net.xml.encode(), weights=net.bin).layer(layer).outputs[0].text == ours
    model = core().read_model(net.xml.encode(), net.bin)
    assert model.output(0).get_partial_shape() == partial_shape(theirs)
    model.reshape(dict(enumerate(inputs)))
    assert model.output(0).get_partial_shape() == partial_shape(real)


@pytest.mark.parametrize("rows", ["3..16", "8"])
def test_openvino_refuses_a_reshape_of_bounds_that_cross(rows: str) -> None:
    """From -6 to 5 are 3 of 3 rows, 3 of 8 and none of 16. OpenVINO takes 3 and 0 for the bounds, and fails behind them."""
    net = Net(f"f32[{rows},1..10] -> Slice-8([-6], [5], [1], [0]) -> Reshape([-1,1], special_zero=false) -> Result")
    inference = irshape.infer(net.xml.encode(), weights=net.bin)
    assert inference.ok
    assert inference.layer(len(net.layers) - 2).outputs[0].text == ("[3..30,1]" if rows == "8" else "[..50,1]")
    if rows == "8":
        core().read_model(net.xml.encode(), net.bin)
    else:
        with pytest.raises(RuntimeError, match="do not evenly divide"):
            core().read_model(net.xml.encode(), net.bin)


def padded_window(end: int) -> str:
    """A Convolution of 10 elements whose pads are -1 and another number."""
    return f"f32[1,2,10] -> Convolution(f32=1.0[2,2,3], strides=2, dilations=1, pads_begin=-1, pads_end={end}) -> Result"


def taken(length: str) -> str:
    """A VariadicSplit whose first length is a size, and whose second is -1; the first part is what it gives."""
    return f"""
        x: f32[?]
        Concat({sizes_of(f"f32[{length}]")}, [-1], axis=0) -> y: VariadicSplit(x, 0, _) f32 f32
        y.0 -> Result
    """


REMAINDER = f"FloorMod({sizes_of('f32[3..5]')}, [4]) -> {MADE}"
SELECTED = "NonMaxSuppression-4(f32[1..8,50,4], f32[1..8,1,50], 50, f32=0.5, f32=0.0, box_encoding=corner) i64 -> Result"


BROADCAST = """
    data: f32[?,3]
    f32[?,3] -> ShapeOf-3(output_type=i64) -> Convert(destination_type=f64) -> Add(f64=0.0) -> target: Convert(destination_type=i64)
    Broadcast-3(data, target, mode=bidirectional) -> Result
"""


@pytest.mark.parametrize(("text", "inputs", "real"), [
    pytest.param("f32[7..] -> Slice-8([-4], [8], [1], [0]) -> Result", [[9]], None, id="a slice from -4 to 8"),
    pytest.param(ENDED, [[7], [8]], None, id="an end of either sign"),
    pytest.param(COPIED, [[3, 9], [3, 0]], [3, 9], id="a size that may be 0 and then copies another"),
    pytest.param(CROPPED, [[5], [0], [3]], None, id="the difference of two sizes"),
    pytest.param(REMAINDER, [[4]], [0], id="a remainder between the ends"),
    pytest.param("f32[2,6] -> SpaceToBatch-2([1,2], [0,-2], [0,2]) -> Result", [[2, 6]], [4, 3], id="a negative pad of blocks"),
    pytest.param(padded_window(0), [[1, 2, 10]], None, id="one negative pad of a window"),
    pytest.param(padded_window(-1), [[1, 2, 10]], None, id="two negative pads of a window"),
    pytest.param(SELECTED, [[1, 50, 4], [1, 1, 50]], [50, 3], id="the boxes of one batch of eight"),
    pytest.param(taken("?"), [[3], [5]], None, id="a part that is longer than the axis"),
    pytest.param(BROADCAST, [[2, 3], [5, 3]], None, id="a target that goes through another type"),
])  # fmt: skip
def test_the_cpu_plugin_gives_no_shape_outside_of_what_irshape_infers(text: str, inputs: list[list[int]], real: list[int] | None) -> None:
    """It gives a shape that OpenVINO's bounds exclude and irshape's contain; or it fails, as None says."""
    import numpy

    net = Net(text)
    model = core().read_model(net.xml.encode(), net.bin)
    data = [numpy.ones(shape, numpy.float32) for shape in inputs]
    if real is None:
        with pytest.raises(RuntimeError):
            core().compile_model(model, "CPU")(data)
        return
    assert list(core().compile_model(model, "CPU")(data)[0].shape) == real
    inferred = irshape.infer(net.xml.encode(), weights=net.bin).layer(len(net.layers) - 2).outputs[0].text
    assert partial_shape(inferred).compatible(partial_shape(real))
    assert not model.output(0).get_partial_shape().compatible(partial_shape(real))


@pytest.mark.parametrize("count", [1, 2])
def test_the_cpu_plugin_draws_no_numbers_of_a_shape_of_unknown_length(count: int) -> None:
    """OpenVINO infers three axes of one to three values."""
    import numpy

    net = Net("i64[1..3] -> RandomUniform-8(f32=0.0, f32=1.0, output_type=f32, global_seed=1, op_seed=1) -> Result")
    compiled = core().compile_model(core().read_model(net.xml.encode(), net.bin), "CPU")
    with pytest.raises(RuntimeError, match="incompatible"):
        compiled([numpy.full(count, 5)])


def test_a_part_that_is_longer_than_the_axis_breaks_a_premise() -> None:
    """OpenVINO accepts the numbers, and infers the length as it is given."""
    net = Net(taken("?"))
    [premise] = irshape.infer(net.xml.encode(), weights=net.bin).guards
    assert (str(premise.requirement), premise.is_premise) == ("T >= B", True)
    net = Net(taken("5"))
    model = core().read_model(net.xml.encode(), net.bin)
    model.reshape({0: [3]})
    assert model.output(0).get_partial_shape() == partial_shape([5])


def divided(dividend: str, limit: str) -> Net:
    """A tensor with as many elements as a size, divided by the remainder of another by -3, has."""
    return Net(f"y: Mod({sizes_of(limit)}, [-3])\nAbs(Divide({sizes_of(dividend)}, y)) -> {MADE}")


def test_openvino_divides_by_bounds_that_cross() -> None:
    """A size of 0..10 leaves 0..2 by -3. OpenVINO has 0 and -2 for the bounds, and divides by the 0; with numbers it accepts the model."""
    open_sizes, numbers = divided("f32[1..]", "f32[0..10]"), divided("f32[8]", "f32[5]")
    assert irshape.infer(open_sizes.xml.encode(), weights=open_sizes.bin).ok
    with pytest.raises(RuntimeError, match="division by zero"):
        core().read_model(open_sizes.xml.encode(), open_sizes.bin)
    assert core().read_model(numbers.xml.encode(), numbers.bin).output(0).get_partial_shape() == partial_shape([4])
