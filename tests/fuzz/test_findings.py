"""What hostile files and mutants have brought to light, each as a small file; and a thousand mutants."""

import re
import struct
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import irshape
from irshape import verbs
from irshape.answers.explain.formula import inputs_of
from irshape.inference.inference import Inference
from irshape.inference.inputs import InputError, Inputs
from irshape.inference.session import Session
from irshape.reshaping import session as granting
from irshape.shape.limits import Limits, Work
from irshape.xml.weights import Weights
from tests.fuzz import values
from tests.fuzz.mutate import Mutant, findings, fuzz, seeds
from tests.fuzz.work import in_loop, nested
from tests.inference.test_bodies import inside, loop, transposed
from tests.support.ir import Net
from tests.support.places import DATA, EXAMPLES, IRS

HUGE = 2**62
SIZES = "ShapeOf-3(output_type=i64)"
OWN_SIZES = "ShapeOf-3(x, output_type=i64)"
NEAREST = "mode=nearest, shape_calculation_mode=sizes, pads_begin=0, pads_end=0"
MADE = "Broadcast-3(f32=1.0, _, mode=numpy) -> Result"


def check(net: Net) -> Inference:
    """The answer, after the invariants of every mutant have been asserted."""
    assert findings(Mutant(net.xml.encode(), net.bin), seconds=10) == []
    return verbs.check(net.xml.encode(), weights=net.bin)


def codes(inference: Inference) -> set[str]:
    return {diagnostic.code for diagnostic in inference.diagnostics}


def range_of(stop: int) -> str:
    return f"Range-4(0, {stop}, 1, output_type=i64)"


def reshape(sizes: object) -> str:
    return f"Reshape({sizes}, special_zero=true) -> Result"


# Elements and axes that nobody has: as many symbols were made as an input has elements.


@pytest.mark.parametrize(
    "text",
    [
        *(f"f32[1] -> {reshape(range_of(count))}" for count in (10_001, 10**12, HUGE)),
        f"f32[1] -> {reshape(f'i64[{2**31 - 1}]')}",
        f"f32[1] -> Tile({range_of(10**5)}) -> Result",
        f"f32[{','.join(['2'] * 10_000)}] -> Unsqueeze([0]) -> Result",
        f"f32[{','.join(['?'] * 10**6)}] -> Result",
        *(f"f32[?] -> Split(0, num_splits={parts}) -> Result" for parts in (100_001, 10**6, HUGE)),
        f"f32[?] -> VariadicSplit(i64[1], i64[{HUGE}]) -> Result",
    ],
    ids=lambda text: text[:40],
)
def test_more_axes_elements_or_parts_than_anybody_lists(text: str) -> None:
    assert "X111" in codes(check(Net(text)))


def test_more_sizes_than_are_read() -> None:
    net = Net(f"f32[1,1,4,4] -> Interpolate-11(i64[{2**31 - 1}], {NEAREST}) -> Result")
    assert check(net).ports["2:2"] == ("f32", "[?,?,?,?]")


# Coefficients and divisors beyond every float.


def test_a_product_beyond_every_float() -> None:
    data = f"f32[?,{','.join([str(HUGE)] * 40)}]"
    assert check(Net(f"x: {data}\nx -> {reshape([-1])}\nx -> {reshape([-1, HUGE, HUGE])}")).ok


@pytest.mark.parametrize("layers", [40, 1000])
def test_tiles_of_tiles(layers: int) -> None:
    net = Net(f"x: f32[?,?]\nby: [{HUGE},1]\nx" + " -> Tile(by)" * layers + " -> Result")
    assert check(net).ports[f"{layers + 1}:2"] == ("f32", "[?,?]")


@pytest.mark.slow("take long")
def test_halved_a_thousand_times() -> None:
    pool = 'MaxPool(kernel="3,1", strides="2,1", pads_begin="1,0", pads_end="1,0", rounding_type=ceil)'
    assert check(Net("f32[1,3,?,8]" + f" -> {pool}" * 1100 + " -> Result")).ok


LONG = "f32[" + ",".join([str(2**56)] * 1024) + "]"


@pytest.mark.parametrize("data", ["f32[?]", "f32[6]", LONG])
@pytest.mark.parametrize("pattern", [[2**56] * 1024, [-1], [-1, 5], [3, 5]])
def test_numbers_of_more_digits_than_python_writes(data: str, pattern: list[int]) -> None:
    check(Net(f"{data} -> {reshape(pattern)}"))


def test_a_constant_of_more_elements_than_python_writes() -> None:
    assert "W103" in codes(check(Net(f'Const(element_type=f32, shape="{LONG[4:-1]}", offset=0, size=8) -> Result')))


# Loops that ran along an axis beside one of 0: the memory of the machine was not enough.


@pytest.mark.parametrize("shape", [f"0,{HUGE}", f"{HUGE},0"])
@pytest.mark.parametrize(
    "moved",
    [
        "Add([[1]])",
        f"Broadcast-3([1], [0,{HUGE}], mode=numpy)",
        "Concat(_, _, axis=0)",
        "Gather-8([], 0)",
        "Pad-12([0,0], [1,1], 0, pad_mode=constant)",
        "ReduceMin([0], keep_dims=false)",
        "ReduceSum([0,1], keep_dims=false)",
        "ScatterUpdate-3(_, [], _, 0)",
        "Slice-8([0], [3], [1], [0])",
        "Split(1, num_splits=1)",
        "Tile([1,1])",
        "Transpose([1,0])",
    ],
)
def test_an_axis_of_zero_beside_a_huge_one(moved: str, shape: str) -> None:
    # The first constant makes the weights, which must not be empty; the second one has no elements.
    none = f'Const(element_type=i64, shape="{shape}", offset=0, size=0) i64'
    data = moved if moved.startswith("Broadcast") else f"{none} -> {moved}"
    check(Net(f"[0]\n{data} -> flat: Reshape([-1], special_zero=false)\nf32[?] -> {reshape('flat')}"))


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
    strings(net, 0, len(net.weights))
    assert codes(check(net)) == (set() if is_accepted else {"W106"})


def strings(net: Net, offset: int, size: int) -> None:
    net.add(f"Const(element_type=string, shape=2, offset={offset}, size={size}) string -> Result")


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


def stale_ports(net: Net) -> None:
    net.layers = [layer.replace('<port id="', '<port precision="I64" id="').replace(' precision="FP32"', "") for layer in net.layers]


def on_one_line(net: Net) -> None:
    net.layers = ["".join(net.layers).replace("\n", "")]


def calls(run: Callable[[], object]) -> int:
    """How many calls something makes, which is the same on every machine."""
    count = 0

    def tick(*_: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(tick)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


def wide_concat(size: int) -> str:
    return f"{', '.join(['f32[1,?]'] * size)} -> Concat(axis=1) -> Result"


@pytest.mark.slow("take long")
@pytest.mark.parametrize(
    ("text", "change"),
    [
        (lambda size: "f32[1,?]" + " -> Concat(f32[1,?], axis=1)" * size + " -> Result", None),
        (lambda size: "f32[?]" + " -> Add(f32[?])" * size + " -> Result", None),
        (wide_concat, None),
        (lambda size: f"f32[1] -> Relu({', '.join(f'a{i}={i}' for i in range(size))}) -> Result", None),
        (wide_concat, stale_ports),
        (lambda size: "f32[2] -> Softmax(axis=5) -> Result\n" * size, on_one_line),
        (lambda size: "\n".join(f"f32[2] -> Convolutio{size}_{i} -> Result" for i in range(size)), None),
    ],
    ids=["chain of Concats", "chain of broadcasts", "wide Concat", "attributes", "stale ports", "faults on one line", "unknown types"],
)
def test_linear_in_the_file(text: Callable[[int], str], change: Callable[[Net], None] | None) -> None:
    def calls_of(size: int) -> int:
        net = Net(text(size))
        if change is not None:
            change(net)
        source = net.xml.encode()

        def run() -> None:
            inference = verbs.check(source, weights=net.bin)
            inference.to_dict()
            inference.xml()

        return calls(run)

    calls_of(10)  # what is imported and made once
    # Eight times the size: quadratic would be 64 times.
    assert calls_of(800) < 12 * calls_of(100)


@pytest.mark.slow("take long")
def test_passes_over_nested_bodies_ask_each_for_its_errors_once() -> None:
    def calls_of(depth: int) -> int:
        net = nested(depth, in_loop, transposed(1, 0), "f32[2,3]")
        return calls(partial(verbs.infer, verbs.read(net.xml.encode(), weights=net.bin)))

    calls_of(3)
    assert calls_of(60) < 3 * calls_of(30)


def test_differences_linear_in_the_ports() -> None:
    def calls_of(size: int) -> int:
        source = Net(wide_concat(size)).xml.encode()
        models = verbs.read(source), verbs.read(source)
        return calls(lambda: verbs.diff(*models).is_same or pytest.fail("they differ"))

    calls_of(10)
    assert calls_of(800) < 12 * calls_of(100)


def test_inputs_that_nothing_feeds_are_left_out_at_once() -> None:
    class Sources(list[int]):
        slices = 0

        def __getitem__(self, index: Any) -> Any:
            self.slices += isinstance(index, slice)
            return Sources(super().__getitem__(index)) if isinstance(index, slice) else super().__getitem__(index)

    net = Net("f32[1] -> Result")
    node = verbs.read(net.xml.encode()).nodes[1]
    sources = node.sources = Sources([0, *[-1] * 100])
    assert len(inputs_of(node, ["fact"])) == 1  # type: ignore[list-item]
    assert sources.slices == 1


# What is asked of a mutant.


def test_a_size_that_must_be_that_of_an_attribute() -> None:
    inputs = "f32[1,3], f32[?,4], f32[?,?], f32[?,?], f32[?,?], f32[?]"
    net = Net(f"{inputs} -> cell: LSTMCell-4(hidden_size=4) f32 f32\ncell.0 -> Result\ncell.1 -> Result")
    inference = check(net)
    for port in (6, 7):
        assert str(verbs.explain(inference, 6, port, 1)).endswith("It follows from axis 1 of Parameter parameter_1.")


# Mutants.


@pytest.mark.slow("take long")
def test_mutants_of_small_files() -> None:
    _, found = fuzz(seeds(DATA), seconds=60, seed=0, most=1000)
    assert not found, found


@pytest.mark.slow("take long")
@pytest.mark.parametrize("seed", range(4))
def test_questions_about_mutants(seed: int) -> None:
    counts, found = fuzz(seeds(DATA), seconds=60, seed=seed, most=12, asked=1)
    assert counts["asked"] and not found, found


@pytest.mark.parametrize("kind", ["shuffled", "interrupted"])
def test_neither_an_order_nor_an_interrupt_changes_an_answer(kind: str) -> None:
    counts, found = fuzz(seeds(DATA), seconds=60, seed=0, most=40, **{kind: 1})
    assert counts[kind] == 40
    assert not found, found


def test_nothing_is_wrong_with_the_seeds() -> None:
    for seed in seeds(DATA):
        assert findings(seed.mutant, seconds=10) == [], seed.name


@pytest.mark.parametrize(("size", "code"), [(8, "W103"), (16, "G109")])
def test_a_constant_that_lists_two_outputs(size: int, code: str) -> None:
    net = Net(f"sizes: Const(element_type=i64, shape=2, offset=0, size={size}) i64 i64\nf32[4] -> {reshape('sizes')}")
    net.weights += b"\1\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0"
    assert code in codes(check(net))


# Values that follow shapes.


@pytest.mark.slow("take long")
@pytest.mark.parametrize("seed", range(2))
def test_random_value_subgraphs(seed: int) -> None:
    count, found = values.fuzz(seconds=60, seed=seed, most=12)
    assert count and not found, list(found)


HALF = f"f32[1..9] -> {SIZES} -> Convert(destination_type=f16)"
SQUARES = f"x: f32[1..1000]\nf32[2..9] -> {SIZES}{' -> Multiply(_, _)' * 13} -> size: Multiply(_, _)"  # from 2^16384 on


@pytest.mark.parametrize("text", [
    # A constant that is no number becomes an integer.
    *(f"f16=NaN -> Convert(destination_type={one}) -> Convert(destination_type=i64) -> {MADE}" for one in ("i64", "u8", "boolean")),
    # Halves divided by zero.
    *(f"{HALF} -> {type}(f16=[{zero}]) -> Convert(destination_type=i64) -> {MADE}"
      for type in ("FloorMod", "Mod", "Divide") for zero in (0.0, -0.0)),
    # Ends of thousands of digits.
    f"{SQUARES}\nx -> Slice-8([0], size, [1], [0]) -> Result",
    f"{SQUARES}\nx -> Tile(size) -> Result",
    f"{SQUARES}\nx -> StridedSlice([0], size, [1], begin_mask=0, end_mask=0) -> Result",
    f"{SQUARES}\nsize -> {MADE}",
    # Integers limited to a fraction: OpenVINO's view of the elements holds integers, too.
    f"f32[?] -> {SIZES} -> begin: Clamp(min=0.5, max=0.5)\nSlice-8(f32[2..], begin, [0], [7], [0]) -> Result",
], ids=lambda text: text[-60:])  # fmt: skip
def test_no_number_ends_a_rule(text: str) -> None:
    assert "I101" not in codes(check(Net(text)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"f32[?] -> {SIZES} -> Subtract([5], _) -> {MADE}", ["d0 <= 5"]),  # a number that may be below zero without limit
        # A step that may be zero.
        (f"x: f32[?] -> {SIZES} -> step: Subtract([4])\nx -> Slice-8([0], [9], step, [0]) -> Result", ["max(d0 - 4, 4 - d0) >= 1"]),
        # A divisor that may be zero.
        (f"f32[?] -> a: {SIZES}\nf32[?] -> b: {SIZES}\nDivide(a, b) -> {MADE}", ["d1 >= 1"]),
        # A size of 0, which only irshape knows, beside one that is inferred: the data must have no elements.
        (
            f"x: f32[?]\nf32[?] -> {SIZES} -> Minimum([2]) -> n: Subtract([0], _)\n"
            "x -> Reshape(Concat([-1], n, axis=0), special_zero=false) -> Result",
            ["d1 <= 0", "d0 == 0"],
        ),
        # A zero that copies an axis beyond the rank.
        (f"x: f32[?]\nf32[?] -> s: {SIZES}\nx -> {reshape('Concat([-1], s, axis=0)')}", ["d1 >= 1", "d0 % d1 == 0"]),
    ],
)
def test_conditions_on_values_that_follow_shapes(text: str, expected: list[str]) -> None:
    inference = check(Net(text))
    assert inference.ok, inference.diagnostics
    assert [str(guard.requirement) for guard in inference.guards] == expected


def test_a_formula_of_more_digits_than_its_type_is_not_exact() -> None:
    there_and_back = "Convert(destination_type=f32) -> Convert(destination_type=i64)"
    net = Net(f"f32[?] -> {SIZES} -> Add([{2**40}]) -> {there_and_back} -> Subtract([{2**40}]) -> {MADE}")
    # The spacing of floats at 2^40 is 2^17, so sizes of less are lost.
    shape = check(net).ports[f"{len(net.layers) - 2}:2"][1]
    assert shape == "[?]", shape


def test_the_nearest_of_sizes_that_no_distance_fits() -> None:
    net = Net(f"a: f32[?]\na -> {reshape([-1, 3])}\na -> Add(f32[?]) -> Result")
    found = verbs.sizes(net.xml.encode(), weights=net.bin)
    assert found.nearest(dict.fromkeys(found.symbols, 2**63 - 1)) is not None


def test_a_sample_of_sizes_that_openvino_takes_although_no_size_runs_is_valid() -> None:
    window = 'strides="1,1", pads_begin="1,2", pads_end="1,2", dilations="1,1", auto_pad=explicit'
    net = Net(f"x: f32[1,?,3,?] -> ConvolutionBackpropData(f32=1.0[1,2,3,3], {window}) -> Result")
    found = verbs.sizes(net.xml.encode(), weights=net.bin, inputs={"x": "[1,H-W,3,H-W]"})
    assert found.sample == {"H": 2, "W": 1} and found.admits(found.sample)
    assert [one.code for one in found.never_runs] == ["R401"]


def test_a_condition_on_a_size_that_is_squared_again_and_again() -> None:
    net = Net(f"f32[1..9] -> {SIZES} -> Subtract([5])" + " -> Multiply(_, _)" * 28 + f" -> {MADE}")
    found = verbs.sizes(net.xml.encode(), weights=net.bin)
    assert found.ok and found.is_exact


# Work.


def test_the_steps_that_a_rule_always_has_are_no_work_left() -> None:
    net = Net("f32[?,?] -> ReLU -> Result")
    work = Work(100)
    work.take(1_000)
    inference = Session(net.xml.encode(), work=work).attempt(Inputs({}))
    assert not inference.diagnostics
    assert work.is_done


def test_what_no_work_is_left_for_is_said() -> None:
    """Conditions that are neither simplified nor propagated nor solved, each with the layer at which the work ends."""
    net = Net("\n".join(f"f32[?] -> {reshape([-1, divisor])}" for divisor in range(2, 40)))
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
    window = 'kernel="2,2", strides="2,2", pads_begin="0,0", pads_end="0,0", exclude-pad=true, auto_pad=explicit'
    net = Net(f"f32[2,3,4,?] -> AvgPool({window}) -> Result")
    text = net.xml
    begin = text.index("<output>")
    text = text[:begin] + text[text.index("</output>") + len("</output>") :]
    found = verbs.signature(text.encode())
    assert (found.ok, found.inputs) == (False, {"parameter_0": "[...]"})


def test_an_example_of_a_gather_with_a_broken_tag_has_a_signature() -> None:
    ports = '<port id="0<"><dim>4</dim></port><port id="1"><dim>4</dim><dim>3</dim></port><port id="2"/> <!-- axis: -1 -->'
    assert not verbs.signature(f'<layer type="Gather" version="opset8"><data batch_dims="1"/><input>{ports}</input></layer>'.encode()).ok


def test_sizes_for_symbols_that_make_a_size_too_large_are_refused() -> None:
    net = Net("a: f32[?,2]\nb: f32[?,2]\nc: f32[?,2]\na, b -> Concat(axis=0) -> Concat(c, _, axis=1) -> Result")
    session = granting.Session(net.xml.encode(), weights=net.bin)
    with pytest.raises(InputError, match=r"axis 0 of 'c' is B \+ T, which is no size for B=4611686018427387904, T=4611686018427387904"):
        session.reshape(symbols={"B": 2**62, "T": 2**62})


# Layers at fault, of which nothing is known, in the answers about a batch and about bodies.


def batched(xml: str, weights: bytes) -> Inference:
    """The answer for a batch of 2, without an exception."""
    return granting.Session(xml.encode(), weights=weights).reshape(batch=2)


def with_dims(xml: str, type: str, *dims: int) -> str:
    """The text with sizes recorded on the output of the first layer of a type."""
    before, own, after = xml.partition(f'type="{type}"')
    head, output, rest = after.partition("<output>")
    port, _, rest = rest.partition("/>")
    return f"{before}{own}{head}{output}{port}>{''.join(f'<dim>{dim}</dim>' for dim in dims)}</port>{rest}"


def test_a_view_without_an_output_is_asked_for_its_batch_and_its_cost() -> None:
    net = Net("x: f32[?,4] -> ReLU -> Result\nx -> Reshape([0,4], special_zero=true) -> Result")
    before, own, after = net.xml.partition('type="Reshape"')
    head, _, rest = after.partition("<output>")
    xml = before + own + head + rest.partition("</output>")[2]
    assert codes(batched(xml, net.bin)) == {"N101", "G103"}
    assert {one.code for one in verbs.cost(xml.encode(), weights=net.bin, views=True).diagnostics} == {"G103"}


HALVES = f"_s: {OWN_SIZES}\n_h: Divide(Gather-8(_s, [0], 0), [2])\n_w: Divide(Gather-8(_s, [1], 0), [2])"


@pytest.mark.parametrize(("text", "inputs", "conditions"), [
    # No size is left for a symbol.
    (f"x: f32[?,?]\n{HALVES}\nx -> Reshape(Concat([2], _h, _w, axis=0), special_zero=false) -> Result",
     {"x": "[H,H+1]"}, ["H >= 2", "H + H*H == 2*(H//2)*((H + 1)//2)"]),
    # `H - W` is 1 or 2^63-1, and `H + W` would be more than a size for the latter.
    ("a: f32[?,?,1]\nb: f32[?,?]\na, b -> Add -> Result",
     {"a": "[H+W,H-W,1]", "b": f"[{2**63 - 1},0]"}, [f"H - W in (1, {2**63 - 1})", "H >= W + 1"]),
])  # fmt: skip
def test_conditions_that_leave_no_size_or_one_that_is_too_large(text: str, inputs: dict[str, str], conditions: list[str]) -> None:
    net = Net(text)
    found = verbs.signature(net.xml.encode(), weights=net.bin, inputs=inputs)
    assert [one.text for one in found.conditions] == conditions


@pytest.mark.parametrize("text", [
    f"x: f32[?,?] -> Slice-8(i64[{HUGE}], i64[{HUGE}], i64[{HUGE}]) -> Result",
    f"x: f32[?,3]\n_axis: {OWN_SIZES} -> Gather-8([0], 0)\nx -> Interpolate-4(i64=[8], f32=[2.0], _axis, {NEAREST}) -> Result",
    f"x: f32[?,4]\nx -> Result\nGatherND-8(f32[...], i64[...], batch_dims={HUGE}) -> Result",
], ids=["slices of what is not known", "axes that are not known", "more axes of batches than anybody has"])  # fmt: skip
def test_a_batch_is_sought_behind_what_is_not_known(text: str) -> None:
    net = Net(text)
    assert codes(batched(net.xml, net.bin)) >= {"N101"}


def test_a_row_of_numbers_that_are_too_far_apart_is_no_run() -> None:
    """NumPy warned of the difference between the first two, which no i64 holds."""
    net = Net(f"x: i64[4] -> Add([{2**63 - 1},{-(2**63)},{HUGE},{-HUGE}]) -> Result")
    assert not granting.Session(net.xml.encode(), weights=net.bin).reshape({"x": "[8]"}).ok


def test_a_layer_in_a_body_that_is_not_read_whole_is_not_explained() -> None:
    before, body, after = (EXAMPLES / "voice.xml").read_text().partition("<then_body>")
    text = before + body + after.replace("<dim>", "<dim>\x02", 1)
    with pytest.raises(InputError, match="is in a body that is not inferred"):
        verbs.explain(verbs.infer(text.encode()), "Parameter_23")


def test_a_record_of_a_wrong_type_hides_no_wrong_shape() -> None:
    net = Net("x: f32[2,?] -> ReLU -> Result")
    xml = with_dims(net.xml, "Parameter", 2, 0).replace('type="Parameter"', 'type="Parameter"', 1)
    before, _, after = xml.partition('precision="FP32"')
    before, mark, after = (before + 'precision="BOOL"' + after).partition("<input>")
    after = after.replace('precision="FP32"/>', 'precision="FP32"><dim>2</dim><dim>-1</dim></port>', 1)
    assert codes(verbs.check((before + mark + after).encode())) >= {"R301", "R302"}


@pytest.mark.parametrize("type", ["Convert", "Range"])
def test_a_layer_without_inputs_is_asked_by_every_verb(type: str) -> None:
    attributes = "destination_type=i64" if type == "Convert" else "output_type=i64"
    net = Net(f"x: f32[?,3]\ni: {type}(x, {attributes}) i64\ni -> Result\nGather-8(x, i, 0) -> Result")
    net.edges = [edge for edge in net.edges if 'to-layer="1"' not in edge]
    before, own, after = net.xml.partition(f'type="{type}"')
    source = (before + own + after.partition("<input>")[0] + after.partition("</input>")[2]).encode()
    assert not verbs.signature(source).ok and not verbs.sizes(source).ok
    assert not granting.Session(source).reshape({"x": "[1,3]"}).ok


def test_a_layer_with_bodies_of_no_opset_is_extracted() -> None:
    text = (IRS / "synth" / "if_diff_dim.xml").read_text().replace('type="If" version="opset8"', 'type="If" version="127"')
    graph = irshape.extract(text.encode(), to=["If_2624"], weights=False)
    assert "If" in {layer.type for layer in graph}
    assert "G112" in {found.code for found in graph.check().diagnostics}


def test_a_layer_is_added_beside_the_largest_id() -> None:
    graph = irshape.edit(
        Net("_x: f32[2]\n_x -> Result").xml.replace('id="1"', f'id="{2**63 - 1}"').replace('r="1"', f'r="{2**63 - 1}"').encode()
    )
    graph.result(graph.op.Relu(graph[0]))
    assert graph.check().ok and len(graph.model()) == 4


@pytest.mark.parametrize("number", [7, 2**63 - 1])
def test_the_iterations_of_a_loop_over_an_input_that_it_lacks_are_a_symbol(number: int) -> None:
    text = (IRS / "onnx_node" / "scan_sum.xml").read_text()
    cost = verbs.cost(text.replace('<input external_port_id="1"', f'<input external_port_id="{number}"', 1).encode())
    assert cost.near["trips"] == 3  # the largest size of an input


def test_the_body_of_an_unknown_version_of_a_loop_is_not_simplified() -> None:
    net = loop("f32[?,?]", inside("Concat(_x, axis=0)"))
    assert irshape.simplify(net.xml.replace('type="Loop" version="opset5"', 'type="Loop" version="none"').encode(), weights=net.bin)


def test_a_parameter_of_no_opset_keeps_the_shape_that_its_port_records() -> None:
    text = Net("x: f32[?,?] -> ReLU -> Result").xml.replace('version="opset1"', 'version="none"', 1)
    source = text.replace('precision="FP32"/>', f'precision="FP32">{"<dim>-1</dim>" * 3}</port>', 1).encode()
    with pytest.raises(InputError, match="the model has no symbol 'B'"):
        verbs.signature(source, inputs={"x": "[7,H]"}, symbols={"B": 2})


def test_a_sum_that_lacks_its_axes_is_no_mean() -> None:
    net = Net("x: f32[2,4] -> a: ReLU -> s: ReduceSum([1], keep_dims=true)\na -> Divide(s) -> Result")
    text = verbs.infer(net.xml.encode(), weights=net.bin).xml().decode().replace('type="ReLU"', 'type="Relux"')
    [edge] = [one for one in net.edges if 'to-layer="3" to-port="1"' in one]
    broken = text.replace(edge, edge.replace('from-port="0"', 'from-port="9"'))
    assert not granting.Session(broken.encode(), weights=net.bin).reshape(batch=3).ok


def test_a_concat_in_a_cycle_may_have_any_axis() -> None:
    """What its outputs are is not known, so nothing is known of the axis that they are joined along either."""
    text = (DATA / "twenty.xml").read_text()
    begin = text.index('name="circle_back"')
    source = text[:begin] + text[begin:].replace('axis="1"', 'axis="10000"', 1)
    assert source != text and not granting.Session(source.encode(), weights=(DATA / "twenty.bin").read_bytes()).reshape(batch=2).ok


def test_a_surplus_input_that_holds_the_batch_is_not_read() -> None:
    """IR version 10 may list more inputs than the operation has."""
    net = Net("x: f32[1,3]\nRelu(x, x) -> Result")
    found = irshape.check(net.xml.replace('version="11"', 'version="10"').encode(), batch=4)
    assert [one.code for one in found.diagnostics] == ["N101", "R201"]


def test_the_order_of_attributes_changes_no_message() -> None:
    text = Net("x: f32[2,3] -> ReLU -> Result").xml.replace('type="Parameter"', 'type="LogicalOr"')
    text = text.replace('<port id="0" precision="FP32"/>', '<port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port>', 1)
    turned = text.replace('shape="2,3" element_type="f32"', 'element_type="f32" shape="2,3"')
    before, after = ([(one.code, one.message) for one in irshape.check(one.encode()).diagnostics] for one in (text, turned))
    assert turned != text and sorted(before) == sorted(after)


def test_a_block_without_an_edge_gives_an_axis_no_name() -> None:
    text = Net("x: f32[?,6,8] -> BatchToSpace-2([1,2,1], [0,0,0], [0,0,0]) -> Result").xml
    cut = re.sub(r'(?s)(type="BatchToSpace".*?<port id="0"[^>]*>)(.*?)</input>', r"\1</input>", text)
    assert cut != text and not verbs.signature(verbs.read(cut.encode())).ok
