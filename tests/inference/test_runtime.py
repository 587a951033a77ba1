"""An error is what OpenVINO refuses, too: what only formulas refute is never valid, which is a warning."""

from collections.abc import Callable

import pytest

import irshape
from irshape.report.diagnostic import ERROR
from tests.inference.test_bodies import chosen, inside
from tests.support.ir import Net, Ref

Operate = Callable[[Net, Ref], Ref]


def split(net: Net, data: Ref) -> Ref:
    """`[B,8]` as `[B,4,8/4]`: of the last size OpenVINO, which reads B from a shape, knows nothing."""
    shape = net.layer("ShapeOf", [data], ["I64"], "opset3", output_type="i64")[0]
    batch = net.layer("Gather", [shape, net.const([0]), net.const(0)], ["I64"], "opset8")[0]
    pattern = net.layer("Concat", [batch, net.const([4, -1])], ["I64"], axis=0)[0]
    return net.layer("Reshape", [data, pattern], ["FP32"], special_zero=False)[0]


def add(size: int) -> Operate:
    """The halves of the rows, and `size` numbers added to each."""
    return lambda net, data: net.layer("Add", [split(net, data), net.const([0.0] * size, "f32")], ["FP32"])[0]


def net_of(operate: Operate, shape: str = "?,8") -> Net:
    net = Net()
    net.result(operate(net, net.parameter(f"f32[{shape}]")))
    return net


def verdict(net: Net) -> list[tuple[str, bool]]:
    """The codes that are said, and whether they are errors."""
    inference = irshape.infer(net.xml.encode(), weights=net.bin)
    return [(diagnostic.code, diagnostic.severity == ERROR) for diagnostic in inference.diagnostics]


def joined(net: Net, *refs: Ref) -> Ref:
    return net.layer("Concat", list(refs), ["FP32"], axis=0)[0]


def same_upper(net: Net, data: Ref) -> Ref:
    """Every second place of a window: OpenVINO counts them only if it knows the size."""
    sizes = {"kernel": 2, "strides": 2, "pads_begin": 0, "pads_end": 0, "auto_pad": "same_upper", "rounding_type": "floor"}
    return net.layer("MaxPool", [data], ["FP32"], **sizes)[0]


def blocks(net: Net, data: Ref) -> Ref:
    """Three blocks side by side, one number cut off: 2, 5, 8, and so on. OpenVINO knows a least size and a largest."""
    lists = [net.const(values) for values in ([1, 3], [0, 0], [0, 1])]
    return net.layer("BatchToSpace", [data, *lists], ["FP32"], "opset2")[0]


def normalized(net: Net, data: Ref) -> Ref:
    """Eight channels, as the scale and the bias say. OpenVINO takes the channels of the data."""
    given = [net.const([1.0] * 8, "f32") for _ in range(2)]
    return net.layer("GroupNormalization", [data, *given], ["FP32"], "opset12", num_groups=4, epsilon=0.1)[0]


def transformed(net: Net, data: Ref) -> Ref:
    """Complex numbers of two parts. OpenVINO takes the last axis of the data."""
    return net.layer("DFT", [data, net.const([0])], ["FP32"], "opset7")[0]


def thirds(net: Net, data: Ref) -> Ref:
    """A third of 5 to 8 is 2. OpenVINO divides the bounds: 1 to 2."""
    return net.layer("Split", [data, net.const(0)], ["FP32"] * 3, num_splits=3)[0]


def added(operate: Operate, shape: str, other: str) -> Net:
    """What an operation gives, and a tensor of another shape added to it."""
    return net_of(lambda net, data: net.layer("Add", [operate(net, data), net.parameter(f"f32[{other}]")], ["FP32"])[0], shape)


NETS = {
    "positions of a window": (added(same_upper, "1,1,9..10", "4"), [("R401", False)]),
    "blocks": (added(blocks, "3,?", "4"), [("R401", False)]),
    "blocks that are bounded": (added(blocks, "3,2..3", "4"), [("S202", True)]),
    "channels": (added(normalized, "1,?,5", "7,5"), [("R401", False)]),
    "channels that OpenVINO knows": (added(normalized, "1,8..9,5", "7,5"), [("S202", True)]),
    "parts of complex numbers": (added(transformed, "4,?", "3"), [("R401", False)]),
    "parts": (added(thirds, "5..8", "3"), [("R401", False)]),
    "more parts than elements": (net_of(thirds, "..2"), [("S206", True)]),
    "fits": (net_of(add(2)), []),
    "never valid": (net_of(add(3)), [("R401", False)]),
    "never valid in a body": (chosen(inside(add(3), "f32[?,8]"), inside(add(2), "f32[?,8]"), "f32[?,8]"), [("R401", False)]),
    "plain to see": (net_of(add(3), "5,8"), [("S202", True)]),
    "both": (
        net_of(lambda net, data: net.layer("Concat", [add(3)(net, data), data], ["FP32"], axis=0)[0]),
        [("R401", False), ("S102", True)],
    ),
}


@pytest.mark.parametrize("name", NETS)
def test_verdict(name: str) -> None:
    net, expected = NETS[name]
    assert verdict(net) == expected


@pytest.mark.oracle
@pytest.mark.parametrize("name", NETS)
def test_verdict_of_openvino(name: str) -> None:
    import openvino

    net, expected = NETS[name]
    is_refused = any(is_error for _, is_error in expected)
    try:
        openvino.Core().read_model(net.xml.encode(), net.bin)
    except RuntimeError:
        assert is_refused
    else:
        assert not is_refused


def test_what_follows_is_as_openvino_has_it() -> None:
    net = net_of(add(3))
    inference = irshape.infer(net.xml.encode(), weights=net.bin)
    assert inference["add_9"].inputs[0].text == "[?,4,2]"
    assert inference["add_9"].outputs[0].text == "[?,4,3]"


def test_other_layers_keep_their_guards_and_formulas() -> None:
    """Half of the rows beside what is never valid: what it demands of the batch is said all the same."""
    net = Net()
    data = net.parameter("f32[?,8]")
    half = net.layer("Split", [data, net.const(0)], ["FP32", "FP32"], num_splits=2)
    net.result(half[0])
    net.result(add(3)(net, data))
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
    import openvino

    net = net_of(split, f"{batch},8")
    model = openvino.Core().read_model(net.xml.encode(), net.bin)
    assert model.output(0).get_partial_shape() == openvino.PartialShape([batch, 4, size])


def size_of(net: Net, shape: str) -> Ref:
    """The sizes of a tensor."""
    return net.layer("ShapeOf", [net.parameter(f"f32[{shape}]")], ["I64"], "opset3", output_type="i64")[0]


def parts(net: Net, shape: str) -> None:
    """Parts of `sizes - [0,2]`, of which one is -2 if the second size is 0."""
    lengths = net.layer("Subtract", [size_of(net, shape), net.const([0, 2])], ["I64"])[0]
    for part in net.layer("VariadicSplit", [net.parameter("f32[?]"), net.const(0), lengths], ["FP32", "FP32"]):
        net.result(part)


def strided(net: Net, shape: str) -> None:
    """A begin and an end of one axis, and the strides of two."""
    net.result(
        net.layer(
            "StridedSlice",
            [net.parameter("f32[8]"), net.const([0]), net.const([1]), size_of(net, shape)],
            ["FP32"],
            begin_mask=0,
            end_mask=0,
        )[0]
    )


def broadcast(net: Net, shape: str) -> None:
    """A target of a size that is not known, unless it is computed, and -1."""
    first = net.const([2]) if shape == "1,0" else net.parameter("i64[1]")
    target = net.layer("Concat", [first, net.const([-1])], ["I64"], axis=0)[0]
    net.result(net.layer("Broadcast", [net.parameter("f32[1]"), target], ["FP32"], "opset3", mode="numpy")[0])


@pytest.mark.oracle
@pytest.mark.parametrize("build", [parts, strided, broadcast])
@pytest.mark.parametrize(("shape", "is_refused"), [("1,0", True), ("1..2,0", False)])
def test_openvino_checks_a_list_whose_numbers_it_knows(build: Callable[[Net, str], None], shape: str, is_refused: bool) -> None:
    """If it does not know one of them, a fault of the others is never valid."""
    import openvino

    net = Net()
    build(net, shape)
    try:
        openvino.Core().read_model(net.xml.encode(), net.bin)
        assert not is_refused
    except RuntimeError:
        assert is_refused
    told = {diagnostic.severity for diagnostic in irshape.infer(net.xml.encode(), weights=net.bin).diagnostics}
    assert told == {"error" if is_refused else "warning"}
