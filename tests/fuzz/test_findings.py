"""What hostile files and mutants have brought to light, each as a small file; and a thousand mutants."""

import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from irshape import verbs
from irshape.answers.explain.formula import inputs_of
from irshape.answers.signature.session import SymbolSession
from irshape.inference.inference import Inference
from irshape.inference.inputs import InputError, Inputs
from irshape.inference.session import Session
from irshape.shape.limits import Limits, Work
from irshape.xml.weights import Weights
from tests.fuzz import values
from tests.fuzz.mutate import Mutant, findings, fuzz, seeds
from tests.support.ir import Net, Ref

HUGE = 2**62
POOL = {"kernel": [2, 2], "strides": [2, 2], "pads_begin": [0, 0], "pads_end": [0, 0]} | {"exclude-pad": True, "auto_pad": "explicit"}
DATA = Path(__file__).parents[1] / "data"


def check(net: Net) -> Inference:
    """The answer, after the invariants of every mutant have been asserted."""
    assert findings(Mutant(net.xml.encode(), net.bin), seconds=10) == []
    return verbs.check(net.xml.encode(), weights=net.bin)


def codes(inference: Inference) -> set[str]:
    return {diagnostic.code for diagnostic in inference.diagnostics}


def range_of(net: Net, stop: int) -> Ref:
    bounds = [net.const(0), net.const(stop), net.const(1)]
    return net.layer("Range", bounds, ["I64"], "opset4", output_type="i64")[0]


def empty(net: Net, shape: str) -> Ref:
    """A constant without elements, one of whose axes may be as long as it likes."""
    return net.layer("Const", [], ["I64"], element_type="i64", shape=shape, offset=0, size=0)[0]


def reshape(net: Net, data: Ref, sizes: Ref) -> Ref:
    return net.layer("Reshape", [data, sizes], ["FP32"], special_zero=True)[0]


# Elements and axes that nobody has: as many symbols were made as an input has elements.


@pytest.mark.parametrize("count", [10_001, 10**12, 2**62])
def test_as_many_unknown_sizes_as_a_tensor_has_elements(count: int) -> None:
    net = Net()
    net.result(reshape(net, net.parameter("f32[1]"), range_of(net, count)))
    assert "X111" in codes(check(net))


def test_a_parameter_of_as_many_sizes() -> None:
    net = Net()
    net.result(reshape(net, net.parameter("f32[1]"), net.parameter(f"i64[{2**31 - 1}]")))
    assert "X111" in codes(check(net))


def test_more_sizes_than_are_read() -> None:
    net = Net()
    inputs = [net.parameter("f32[1,1,4,4]"), net.parameter(f"i64[{2**31 - 1}]")]
    attributes = {"mode": "nearest", "shape_calculation_mode": "sizes", "pads_begin": "0", "pads_end": "0"}
    net.result(net.layer("Interpolate", inputs, ["FP32"], "opset11", **attributes)[0])
    assert check(net).ports["2:2"] == ("f32", "[?,?,?,?]")


def test_tile_to_a_rank_that_is_too_high() -> None:
    net = Net()
    net.result(net.layer("Tile", [net.parameter("f32[1]"), range_of(net, 10**5)], ["FP32"])[0])
    assert "X111" in codes(check(net))


def test_a_rule_that_doubles_the_rank() -> None:
    net = Net()
    count = 10_000
    data = net.parameter("f32[" + ",".join(["2"] * count) + "]")
    net.result(net.layer("Unsqueeze", [data, net.const([0])], ["FP32"])[0])
    assert "X111" in codes(check(net))


def test_a_parameter_of_a_rank_that_is_too_high() -> None:
    net = Net()
    net.result(net.parameter("f32[" + ",".join(["?"] * 10**6) + "]"))
    assert "X111" in codes(check(net))


@pytest.mark.parametrize("parts", [100_001, 10**6, 2**62])
def test_more_parts_than_anybody_lists(parts: int) -> None:
    net = Net()
    net.result(net.layer("Split", [net.parameter("f32[?]"), net.const(0)], ["FP32"], num_splits=parts)[0])
    assert "X111" in codes(check(net))


# Coefficients and divisors beyond every float.


def test_a_product_beyond_every_float() -> None:
    net = Net()
    data = net.parameter("f32[?," + ",".join([str(HUGE)] * 40) + "]")
    for sizes in ([-1], [-1, HUGE, HUGE]):
        net.result(reshape(net, data, net.const(sizes)))
    assert check(net).ok


@pytest.mark.parametrize("layers", [40, 1000])
def test_tiles_of_tiles(layers: int) -> None:
    net = Net()
    data, repeats = net.parameter("f32[?,?]"), net.const([HUGE, 1])
    for _ in range(layers):
        data = net.layer("Tile", [data, repeats], ["FP32"])[0]
    net.result(data)
    assert check(net).ports[f"{data.layer}:2"] == ("f32", "[?,?]")


@pytest.mark.slow("take long")
def test_halved_a_thousand_times() -> None:
    net = Net()
    data = net.parameter("f32[1,3,?,8]")
    attributes: dict[str, Any] = {"kernel": "3,1", "strides": "2,1", "pads_begin": "1,0", "pads_end": "1,0", "rounding_type": "ceil"}
    for _ in range(1100):
        data = net.layer("MaxPool", [data], ["FP32"], **attributes)[0]
    net.result(data)
    assert check(net).ok


LONG = "f32[" + ",".join([str(2**56)] * 1024) + "]"


@pytest.mark.parametrize("data", ["f32[?]", "f32[6]", LONG])
@pytest.mark.parametrize("pattern", [[2**56] * 1024, [-1], [-1, 5], [3, 5]])
def test_numbers_of_more_digits_than_python_writes(data: str, pattern: list[int]) -> None:
    net = Net()
    net.result(reshape(net, net.parameter(data), net.const(pattern)))
    check(net)


def test_a_constant_of_more_elements_than_python_writes() -> None:
    net = Net()
    net.result(net.layer("Const", [], ["FP32"], element_type="f32", shape=LONG[4:-1], offset=0, size=8)[0])
    assert "W103" in codes(check(net))


# Loops that ran along an axis beside one of 0: the memory of the machine was not enough.


MOVERS: dict[str, tuple[str, Callable[[Net, Ref], list[Ref]], dict[str, Any]]] = {
    "Add": ("opset1", lambda net, none: [none, net.const([[1]])], {}),
    "Broadcast": ("opset3", lambda net, none: [net.const([1]), net.const([0, HUGE])], {"mode": "numpy"}),
    "Concat": ("opset1", lambda net, none: [none, none], {"axis": 0}),
    "Gather": ("opset8", lambda net, none: [none, net.const([]), net.const(0)], {}),
    "Pad": ("opset12", lambda net, none: [none, net.const([0, 0]), net.const([1, 1]), net.const(0)], {"pad_mode": "constant"}),
    "ReduceMin": ("opset1", lambda net, none: [none, net.const([0])], {"keep_dims": False}),
    "ReduceSum": ("opset1", lambda net, none: [none, net.const([0, 1])], {"keep_dims": False}),
    "ScatterUpdate": ("opset3", lambda net, none: [none, net.const([]), none, net.const(0)], {}),
    "Slice": ("opset8", lambda net, none: [none, net.const([0]), net.const([3]), net.const([1]), net.const([0])], {}),
    "Split": ("opset1", lambda net, none: [none, net.const(1)], {"num_splits": 1}),
    "Tile": ("opset1", lambda net, none: [none, net.const([1, 1])], {}),
    "Transpose": ("opset1", lambda net, none: [none, net.const([1, 0])], {}),
}


@pytest.mark.parametrize("shape", [f"0,{HUGE}", f"{HUGE},0"])
@pytest.mark.parametrize("type", MOVERS)
def test_an_axis_of_zero_beside_a_huge_one(type: str, shape: str) -> None:
    version, inputs, attributes = MOVERS[type]
    net = Net()
    net.const([0])  # weights must not be empty
    moved = net.layer(type, inputs(net, empty(net, shape)), ["I64"], version, **attributes)[0]
    flat = net.layer("Reshape", [moved, net.const([-1])], ["I64"], special_zero=False)[0]
    net.result(reshape(net, net.parameter("f32[?]"), flat))
    check(net)


# Strings that OpenVINO refuses.


@pytest.mark.parametrize(
    ("header", "is_accepted"),
    [
        ([2, 0, 1, 2], True), ([1, 0, 2], True), ([], False), ([-1, 0], False), ([2**31 - 1, 0], False), ([2, 0, 1, 400], False),
        ([2, 0, 2, 1], False), ([2, -1, 1, 2], False),
    ],
)  # fmt: skip
def test_packed_strings(header: list[int], is_accepted: bool) -> None:
    net = Net()
    net.weights += struct.pack(f"<{len(header)}i", *header) + b"ab"
    attributes = {"element_type": "string", "shape": "2", "offset": 0, "size": len(net.weights)}
    net.result(net.layer("Const", [], ["STRING"], **attributes)[0])
    assert codes(check(net)) == (set() if is_accepted else {"W106"})


def strings(net: Net, offset: int, size: int) -> None:
    net.result(net.layer("Const", [], ["STRING"], element_type="string", shape="2", offset=offset, size=size)[0])


def test_strings_that_overlap_are_not_read_again_and_again() -> None:
    net = Net()
    count = 5_000
    net.weights += struct.pack("<i", count) * (2 * count)
    for index in range(count):
        strings(net, 4 * index, 4 * (count + 2) + count)
        strings(net, 4 * index, 4 * (count + 2) + count)
    weights = Weights(bytes(net.weights))
    assert "X111" in codes(verbs.check(net.xml.encode(), weights=weights))
    assert weights.bytes_read < 20 * len(net.weights)  # and not a thousand times


def test_strings_in_more_than_one_piece() -> None:
    for order in (1, -1):
        net = Net()
        count = 400_000
        net.weights += struct.pack(f"<{count + 2}i", count, *range(count + 1)[::order]) + bytes(count)
        strings(net, 0, len(net.weights))
        assert codes(verbs.check(net.xml.encode(), weights=net.bin)) == ({"W106"} if order < 0 else set())


# Time that grew with the square of the file.


def concat_chain(size: int) -> Net:
    net = Net()
    data = net.parameter("f32[1,?]")
    for _ in range(size):
        data = net.layer("Concat", [data, net.parameter("f32[1,?]")], ["FP32"], axis=1)[0]
    net.result(data)
    return net


def broadcast_chain(size: int) -> Net:
    net = Net()
    data = net.parameter("f32[?]")
    for _ in range(size):
        data = net.layer("Add", [data, net.parameter("f32[?]")], ["FP32"])[0]
    net.result(data)
    return net


def wide_concat(size: int) -> Net:
    net = Net()
    net.result(net.layer("Concat", [net.parameter("f32[1,?]") for _ in range(size)], ["FP32"], axis=1)[0])
    return net


def many_attributes(size: int) -> Net:
    net = Net()
    net.result(net.layer("Relu", [net.parameter("f32[1]")], ["FP32"], **{f"a{i}": i for i in range(size)})[0])
    return net


def stale_ports(size: int) -> Net:
    net = wide_concat(size)
    net.layers = [layer.replace('<port id="', '<port precision="I64" id="').replace(' precision="FP32"', "") for layer in net.layers]
    return net


def faults_on_one_line(size: int) -> Net:
    net = Net()
    for _ in range(size):
        net.result(net.layer("Softmax", [net.parameter("f32[2]")], ["FP32"], axis=5)[0])
    net.layers = ["".join(net.layers).replace("\n", "")]
    return net


def unknown_types(size: int) -> Net:
    net = Net()
    for number in range(size):
        net.result(net.layer(f"Convolutio{number}", [net.parameter("f32[2]")], ["FP32"])[0])
    return net


@pytest.mark.slow("take long")
@pytest.mark.parametrize(
    "hostile",
    [concat_chain, broadcast_chain, wide_concat, many_attributes, stale_ports, faults_on_one_line, unknown_types],
    ids=lambda hostile: hostile.__name__,
)
def test_linear_in_the_file(hostile: Callable[[int], Net]) -> None:
    def calls(size: int) -> int:
        """How many calls a check makes, which is the same on every machine."""
        net = hostile(size)
        source = net.xml.encode()
        count = 0

        def tick(*_: object) -> None:
            nonlocal count
            count += 1

        sys.setprofile(tick)
        try:
            inference = verbs.check(source, weights=net.bin)
            inference.to_dict()
            inference.xml()
        finally:
            sys.setprofile(None)
        return count

    calls(10)  # what is imported and made once
    # Eight times the size: quadratic would be 64 times.
    assert calls(800) < 12 * calls(100)


def test_differences_linear_in_the_ports() -> None:
    def calls(size: int) -> int:
        source, count = wide_concat(size).xml.encode(), 0

        def tick(*_: object) -> None:
            nonlocal count
            count += 1

        models = verbs.read(source), verbs.read(source)
        sys.setprofile(tick)
        try:
            assert verbs.diff(*models).is_same
        finally:
            sys.setprofile(None)
        return count

    calls(10)
    assert calls(800) < 12 * calls(100)


def test_inputs_that_nothing_feeds_are_left_out_at_once() -> None:
    class Sources(list[int]):
        slices = 0

        def __getitem__(self, index: Any) -> Any:
            self.slices += isinstance(index, slice)
            return Sources(super().__getitem__(index)) if isinstance(index, slice) else super().__getitem__(index)

    net = Net()
    net.result(net.parameter("f32[1]"))
    node = verbs.read(net.xml.encode()).nodes[1]
    sources = node.sources = Sources([0, *[-1] * 100])
    assert len(inputs_of(node, ["fact"])) == 1  # type: ignore[list-item]
    assert sources.slices == 1


# What is asked of a mutant.


def test_a_size_that_must_be_that_of_an_attribute() -> None:
    net = Net()
    inputs = [net.parameter(shape) for shape in ("f32[1,3]", "f32[?,4]", "f32[?,?]", "f32[?,?]", "f32[?,?]", "f32[?]")]
    for output in net.layer("LSTMCell", inputs, ["FP32", "FP32"], "opset4", hidden_size=4):
        net.result(output)
    inference = check(net)
    for port in (6, 7):
        assert str(verbs.explain(inference, 6, port, 1)).endswith("It follows from axis 1 of Parameter parameter_1.")


# Mutants.


@pytest.mark.slow("take long")
def test_mutants_of_small_files() -> None:
    _, _, found = fuzz(seeds(DATA), seconds=60, seed=0, most=1000)
    assert not found, found


@pytest.mark.slow("take long")
@pytest.mark.parametrize("seed", range(4))
def test_questions_about_mutants(seed: int) -> None:
    _, asked_of, found = fuzz(seeds(DATA), seconds=60, seed=seed, most=12, asked=1)
    assert asked_of and not found, found


def test_nothing_is_wrong_with_the_seeds() -> None:
    for seed in seeds(DATA):
        assert findings(seed.mutant, seconds=10) == [], seed.name


@pytest.mark.parametrize(("size", "code"), [(8, "W103"), (16, "G109")])
def test_a_constant_that_lists_two_outputs(size: int, code: str) -> None:
    net = Net()
    sizes = net.layer("Const", [], ["I64", "I64"], element_type="i64", shape="2", offset=0, size=size)[0]
    net.weights += b"\1\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0"
    net.result(reshape(net, net.parameter("f32[4]"), sizes))
    assert code in codes(check(net))


# Values that follow shapes.


def sizes_of(net: Net, data: Ref) -> Ref:
    return net.layer("ShapeOf", [data], ["I64"], "opset3", output_type="i64")[0]


def made(net: Net, shape: Ref) -> Ref:
    """A tensor of a shape that elements say."""
    return net.layer("Broadcast", [net.const(1.0, "f32"), shape], ["FP32"], "opset3", mode="numpy")[0]


def binary(net: Net, type: str, a: Ref, b: Ref) -> Ref:
    return net.layer(type, [a, b], [a.precision])[0]


def converted(net: Net, data: Ref, name: str, precision: str) -> Ref:
    return net.layer("Convert", [data], [precision], destination_type=name)[0]


def guards(net: Net) -> list[str]:
    """The conditions on the sizes of the inputs, none of which is an error."""
    inference = check(net)
    assert inference.ok, inference.diagnostics
    return [str(guard.requirement) for guard in inference.guards]


@pytest.mark.slow("take long")
@pytest.mark.parametrize("seed", range(2))
def test_random_value_subgraphs(seed: int) -> None:
    count, found = values.fuzz(seconds=60, seed=seed, most=25)
    assert count and not found, list(found)


@pytest.mark.parametrize("target", ["i64", "u8", "boolean"])
def test_a_constant_that_is_no_number_becomes_an_integer(target: str) -> None:
    net = Net()
    number = converted(net, net.const([float("nan")], "f16"), target, {"i64": "I64", "u8": "U8", "boolean": "BOOL"}[target])
    net.result(made(net, converted(net, number, "i64", "I64")))
    assert "I101" not in codes(check(net))


@pytest.mark.parametrize("type", ["FloorMod", "Mod", "Divide"])
@pytest.mark.parametrize("divisor", [0.0, -0.0])
def test_halves_divided_by_zero(type: str, divisor: float) -> None:
    net = Net()
    half = converted(net, sizes_of(net, net.parameter("f32[1..9]")), "f16", "FP16")
    net.result(made(net, converted(net, binary(net, type, half, net.const([divisor], "f16")), "i64", "I64")))
    assert "I101" not in codes(check(net))


@pytest.mark.parametrize("type", ["Slice", "Tile", "StridedSlice", "Broadcast"])
def test_ends_of_thousands_of_digits(type: str) -> None:
    net = Net()
    data, size = net.parameter("f32[1..1000]"), sizes_of(net, net.parameter("f32[2..9]"))
    for _ in range(14):
        size = binary(net, "Multiply", size, size)  # from 2^16384 on
    one, zero = net.const([1]), net.const([0])
    inputs = {"Slice": [data, zero, size, one, zero], "StridedSlice": [data, zero, size, one], "Tile": [data, size]}
    version = {"Slice": "opset8"}.get(type, "opset1")
    attributes = {"begin_mask": "0", "end_mask": "0"} if type == "StridedSlice" else {}
    net.result(made(net, size) if type == "Broadcast" else net.layer(type, inputs[type], ["FP32"], version, **attributes)[0])
    assert "I101" not in codes(check(net))


def test_a_number_that_may_be_below_zero_without_limit() -> None:
    net = Net()
    net.result(made(net, binary(net, "Subtract", net.const([5]), sizes_of(net, net.parameter("f32[?]")))))
    assert guards(net) == ["d0 <= 5"]


def test_a_step_that_may_be_zero() -> None:
    net = Net()
    data = net.parameter("f32[?]")
    step = binary(net, "Subtract", sizes_of(net, data), net.const([4]))
    net.result(net.layer("Slice", [data, net.const([0]), net.const([9]), step, net.const([0])], ["FP32"], "opset8")[0])
    assert guards(net) == ["max(d0 - 4, 4 - d0) >= 1"]


def test_a_divisor_that_may_be_zero() -> None:
    net = Net()
    a, b = net.parameter("f32[?]"), net.parameter("f32[?]")
    net.result(made(net, binary(net, "Divide", sizes_of(net, a), sizes_of(net, b))))
    assert guards(net) == ["d1 >= 1"]


def test_a_zero_that_copies_an_axis_beyond_the_rank() -> None:
    net = Net()
    data, other = net.parameter("f32[?]"), net.parameter("f32[?]")
    pattern = net.layer("Concat", [net.const([-1]), sizes_of(net, other)], ["I64"], axis=0)[0]
    net.result(reshape(net, data, pattern))
    assert "d1 >= 1" in guards(net)


def test_a_size_of_zero_beside_one_that_is_inferred() -> None:
    """The pattern holds a size that only irshape knows to be 0, so the data must have no elements."""
    net = Net()
    data, other = net.parameter("f32[?]"), net.parameter("f32[?]")
    negative = binary(net, "Subtract", net.const([0]), binary(net, "Minimum", sizes_of(net, other), net.const([2])))
    pattern = net.layer("Concat", [net.const([-1]), negative], ["I64"], axis=0)[0]
    net.result(net.layer("Reshape", [data, pattern], ["FP32"], special_zero=False)[0])
    assert guards(net) == ["d1 <= 0", "d0 == 0"]


def test_a_formula_of_more_digits_than_its_type_is_not_exact() -> None:
    net = Net()
    size = binary(net, "Add", sizes_of(net, net.parameter("f32[?]")), net.const([2**40]))
    again = converted(net, converted(net, size, "f32", "FP32"), "i64", "I64")
    net.result(made(net, binary(net, "Subtract", again, net.const([2**40]))))
    # The spacing of floats at 2^40 is 2^17, so sizes of less are lost.
    shape = check(net).ports[f"{len(net.layers) - 2}:2"][1]
    assert shape == "[?]", shape


def test_the_nearest_of_sizes_that_no_distance_fits() -> None:
    net = Net()
    a, b = net.parameter("f32[?]"), net.parameter("f32[?]")
    net.result(reshape(net, a, net.const([-1, 3])))
    net.result(net.layer("Add", [a, b], ["FP32"])[0])
    found = verbs.sizes(net.xml.encode(), weights=net.bin)
    assert found.nearest(dict.fromkeys(found.symbols, 2**63 - 1)) is not None


def test_a_condition_on_a_size_that_is_squared_again_and_again() -> None:
    net = Net()
    size = binary(net, "Subtract", sizes_of(net, net.parameter("f32[1..9]")), net.const([5]))
    for _ in range(28):
        size = binary(net, "Multiply", size, size)
    net.result(made(net, size))
    found = verbs.sizes(net.xml.encode(), weights=net.bin)
    assert found.ok and found.is_exact


# Work.


def test_the_steps_that_a_rule_always_has_are_no_work_left() -> None:
    net = Net()
    net.result(net.layer("ReLU", [net.parameter("f32[?,?]")], ["FP32"])[0])
    work = Work(100)
    work.take(1_000)
    inference = Session(net.xml.encode(), work=work).attempt(Inputs({}))
    assert not inference.diagnostics
    assert work.is_done


def test_what_no_work_is_left_for_is_said() -> None:
    """Conditions that are neither simplified nor propagated nor solved, each with the layer at which the work ends."""
    net = Net()
    for divisor in range(2, 40):
        net.result(reshape(net, net.parameter("f32[?]"), net.const([-1, divisor])))
    limits = Limits(work=600)
    inference = verbs.infer(verbs.read(net.xml.encode(), weights=net.bin, limits=limits))
    said = {found["message"].partition(":")[0]: found["layer"] for found in inference.to_dict()["diagnostics"] if found["code"] == "N106"}
    assert set(said) == {
        "sizes may have wider bounds than the conditions from here on allow",
        "conditions from here on may not be in their simplest form",
    }
    assert all(layer["type"] == "Reshape" for layer in said.values())
    found = verbs.sizes(verbs.read(net.xml.encode(), weights=net.bin, limits=limits))
    assert not found.is_exact
    assert "limit work" in found.undecided[0].message
    assert "conditions from here on may not be solved for the sizes" in " ".join(one.message for one in found.diagnostics)


# Signatures, and sizes for their symbols.


def test_a_parameter_that_lists_no_output_has_no_shape_in_the_signature() -> None:
    net = Net()
    net.result(net.layer("AvgPool", [net.parameter("f32[2,3,4,?]")], ["FP32"], **POOL)[0])
    text = net.xml
    begin = text.index("<output>")
    text = text[:begin] + text[text.index("</output>") + len("</output>") :]
    found = verbs.signature(text.encode())
    assert (found.ok, found.inputs) == (False, {"parameter_0": "[...]"})


def test_an_example_of_a_gather_with_a_broken_tag_has_a_signature() -> None:
    ports = '<port id="0<"><dim>4</dim></port><port id="1"><dim>4</dim><dim>3</dim></port><port id="2"/> <!-- axis: -1 -->'
    assert not verbs.signature(f'<layer type="Gather" version="opset8"><data batch_dims="1"/><input>{ports}</input></layer>'.encode()).ok


def test_sizes_for_symbols_that_make_a_size_too_large_are_refused() -> None:
    net = Net()
    net.result(reshape(net, net.parameter("f32[?]"), net.const([-1, 32])))
    session = SymbolSession(net.xml.encode(), weights=net.bin)
    with pytest.raises(InputError, match=r"axis 0 of 'parameter_0' is 32\*b, which is no size for b=4611686018427387904"):
        session.reshape(symbols={"b": 2**62})
