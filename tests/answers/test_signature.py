"""The signature of a model: the shapes of small nets, which a reader can check by hand, and what is said of them."""

import re
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

import irshape
from irshape.answers.signature.signature import Signature, validity
from irshape.page.data import PageData
from tests.answers import nets
from tests.answers.assignments import ASSIGNMENTS, sizes
from tests.support.ir import Net
from tests.support.irs import WITH_WEIGHTS, named
from tests.support.oracle import core, core_of, partial_shape
from tests.support.schemas import validator

ROOT = Path(__file__).parents[2]


def signature(net: Net | str, inputs: Mapping[str, str] | None = None, **symbols: str) -> Signature:
    """The signature of a net."""
    net = Net(net) if isinstance(net, str) else net
    return irshape.signature(net.xml.encode(), inputs=inputs, symbols=symbols, weights=net.bin)


def joined(*facts: str, axis: int) -> Net:
    """Inputs behind each other."""
    return Net(f"{', '.join(facts)} -> Concat(axis={axis}) -> Result")


def added(*facts: str) -> Net:
    """The sum of inputs."""
    names = [f"_{i}" for i in range(len(facts))]
    return Net("\n".join(map("{}: {}".format, names, facts)) + "\n" + " -> ".join([names[0], *map("Add({})".format, names[1:]), "Result"]))


# An input and a constant of 2 rows behind each other, so that both have 3 columns.
BESIDE_A_CONSTANT = "f32[?,?], f32=0[2,3] -> Concat(axis=0) -> Result"
# Earlier rows of an input, and new ones behind them.
CACHE = "_past: f32[?,1,?,4]\nf32[?,?,4] -> Unsqueeze([1]) -> Concat(_past, _, axis=2) -> Result"
# A mask that is as long as two inputs together.
SHARED_MASK = "_a: f32[?,2]\n_b: f32[?,2]\n_mask: f32[?,2]\n_a, _b -> Concat(axis=0) -> Concat(_mask, axis=1) -> Result"
# A mask that is brought to as many rows as there are sequences.
ROWS_OF_A_MASK = f"""_ids: i64[?,?]
_mask: f32[?,?]
_ids -> ReLU -> Result
_ids -> {nets.size(0)}
_mask -> Reshape(Concat(_size, [-1], axis=0), special_zero=false) -> Result"""
# An input of which as many elements are read as another one has.
READ_BY_POSITION = f"""_ids: f32[?]
_table: f32[?]
_ids -> {nets.size(0)} -> _stop: Squeeze([0])
_table -> Gather-8(Range-4(0, _stop, 1, output_type=i64), 0, batch_dims=0) -> Add(_ids) -> Result"""
# A mask of which two layers read the first elements.
CUT_MASK = f"""_x: f32[?]
_y: f32[?]
_mask: f32[?]
_x -> {nets.size(0)}
_cut: Slice-8(_mask, [0], _size, [1])
Add(_cut, _x) -> Result
Add(_cut, _y) -> Result"""
# Of 8 biases the last B ones; for B = 9, the table is read from -1 on, which is one bias.
BIASED = f"_x: f32[?]\n_x -> {nets.size(0)}\nSlice-8(f32=[1,2,3,4,5,6,7,8], Subtract(8, _size), [99], [1]) -> Add(_x) -> Result"
# An image, and a table of positions of which as many rows are read as the image has.
POSITIONS = f"""_x: f32[?,3,?,?]
_x -> Convolution(_, f32=0[4,3,1,1], strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]) -> Result
_x -> {nets.size(2)} -> Concat(_, [2], axis=0) -> Broadcast-3(0, _, mode=numpy) -> _places: Relu
Gather-8(f32=0[9,4], _places, 0, batch_dims=0) -> Result"""
# The places of what is not 0, which only the data tell.
BOXES = "f32[?,5] -> NonZero-3(output_type=i64) -> Result"


def stateful(batch: str) -> str:
    """A cache in a variable, to which each step is added; `batch` is its declared batch."""
    past = f'ReadValue-6(variable_id=past, variable_type=f32, variable_shape="{batch},2,?,4") f32'
    return f"_x: f32[?,2,?,4]\n{past} -> _all: Concat(_x, axis=2)\n_all -> Assign-6(variable_id=past)\n_all -> ReLU -> Result"


def recurrent(data: str) -> str:
    """A recurrent layer that reads `data`, which is made of the input `x`."""
    call = "GRUSequence-5(h: f32[?,1,2], n: i32[?], f32=0[1,6,4], f32=0[1,6,2], f32=0[1,6], hidden_size=2, direction=forward)"
    return f"x: f32[?,?,4]\n{data} -> y: {call} f32 f32\ny -> Result"


BLOCKS = "SpaceToDepth(block_size=2, mode=blocks_first) -> Result"
EVEN = ["H >= 2 and H % 2 == 0", "W >= 2 and W % 2 == 0"]
# A name, a net or its text, the shapes of its inputs, and the conditions.
ROWS: list[tuple[str, Net | str, list[str], list[str]]] = [
    ("steps of a recurrent layer", recurrent("x -> Transpose([1,0,2])"), ["[T,B,4]", "[B,1,2]", "[B]"], []),
    ("samples of a recurrent layer", recurrent("x"), ["[B,T,4]", "[B,1,2]", "[B]"], []),
    ("equal sizes", joined("f32[?,?]", "f32[?,?]", axis=1), ["[B,T]", "[B,L]"], []),
    ("a number", BESIDE_A_CONSTANT, ["[B,3]"], []),
    ("a number that a range leaves", joined("f32[..4,2]", "f32[4..,2]", axis=1), ["[4,2]", "[4,2]"], []),
    ("a multiple", f"f32[?] -> {nets.reshape(-1, 32)} -> Result", ["[B]"], ["B >= 32 and B % 32 == 0"]),
    ("a multiple of a product", f"f32[?,6] -> {nets.reshape(-1, 4)} -> Result", ["[B,6]"], ["B >= 2 and B % 2 == 0"]),
    ("broadcasting", added("f32[?,?]", "f32[?,?]"), ["[B,T]", "[B,T]"], []),
    ("broadcasting with a number", added("f32[?,?]", "f32[7]"), ["[B,7]", "[7]"], []),
    ("broadcasting to a number", added("f32[?,?]", "f32[2..9]"), ["[B,T]", "[T]"], ["2 <= T <= 9"]),
    ("a cache", CACHE, ["[B,1,P,4]", "[B,S,4]"], []),
    ("a sum", SHARED_MASK, ["[B,2]", "[T,2]", "[B + T,2]"], []),
    ("a table of positions", POSITIONS, ["[B,3,H,W]"], []),
    ("rows of a mask", ROWS_OF_A_MASK, ["[B,T]", "[B,L]"], []),
    ("read by position", READ_BY_POSITION, ["[B]", "[B]"], []),
    # Two layers read the first B elements of a mask: it must have as many, or one.
    ("a mask that is cut", CUT_MASK, ["[B]", "[B]", "[T]"], ["T == 1 or T >= B"]),
    ("the last biases", BIASED, ["[B]"], ["B <= 8"]),
    ("the range of one of two", added("f32[?]", "f32[..9]"), ["[B]", "[B]"], ["B <= 9"]),
    ("an image in blocks", f"f32[?,3,?,?] -> {BLOCKS}", ["[B,3,H,W]"], EVEN),
    ("blocks behind a transposition", f"f32[?,?,?,3] -> Transpose([0,3,1,2]) -> {BLOCKS}", ["[B,H,W,3]"], EVEN),
    ("blocks before channels", "f32[?,?,?,3] -> SpaceToBatch-2([1,2,2,1], [0,0,0,0], [0,0,0,0]) -> Result", ["[B,H,W,3]"], EVEN),
    ("blocks behind channels", "f32[?,3,?,?] -> SpaceToBatch-2([1,1,2,2], [0,0,0,0], [0,0,0,0]) -> Result", ["[B,3,H,W]"], EVEN),
    ("a U-Net", nets.unet("pool"), ["[B,1,H,W]"], ["H >= 32 and H % 32 == 0", "W >= 32 and W % 32 == 0"]),
    ("windows", nets.windows(), ["[1,1,H,W]"], ["H >= 28 and H % 28 <= 3", "W >= 28 and W % 28 <= 3"]),
    ("a stem", nets.stem(), ["[B,1,H,W]"], ["H >= 139", "W >= 139"]),
    (
        "a fixed head", nets.head(), ["[B,1,H,W]"],
        ["H >= 63", "W >= 63", "((H + 1)//32)*((W + 1)//32) == (H + 1)//32 + (W + 1)//32 + 35"],
    ),
    ("blocks", nets.blocks(), ["[B,S]", "[B,S]"], ["S <= 48", "(B*S) % 4 == 0"]),
    ("a step of a variable", stateful("?"), ["[B,2,S,4]"], []),
    ("a variable of one batch", stateful("3"), ["[3,2,S,4]"], []),
    ("an interval", f"f32[1..8,?] -> {nets.reshape(-1)} -> Result", ["[B,T]"], ["B <= 8"]),
    ("static", f"f32[2,3] -> {nets.reshape(-1)} -> Result", ["[2,3]"], []),
    ("a rank that is not known", f"f32[...] -> {nets.reshape(-1)} -> Result", ["[...]"], []),
]  # fmt: skip


def test_blocks_of_one_axis_are_a_fault_and_have_no_names() -> None:
    assert not signature(Net("f32[?] -> SpaceToBatch-2([2], [0], [0]) -> Result")).ok


def test_many_inputs_that_are_added_have_one_shape() -> None:
    """Sizes of more inputs than a formula may name are nevertheless one size."""
    found = signature(added(*["f32[?,?,?,?,?,?,?,?]"] * 150))
    assert set(found.inputs.values()) == {"[B,T,L,M,N,K,Q,R]"} == set(found.outputs.values())
    assert not found.diagnostics


@pytest.mark.parametrize(("net", "inputs", "conditions"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_the_shapes_of_the_inputs(net: Net | str, inputs: list[str], conditions: list[str]) -> None:
    found = signature(net)
    assert found.ok
    assert list(found.inputs.values()) == inputs
    assert [condition.text for condition in found.conditions] == conditions


@pytest.mark.parametrize(("net", "inputs"), [(row[1], row[2]) for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_signature_is_valid_input_and_its_own_signature(net: Net | str, inputs: list[str]) -> None:
    first = signature(net)
    ranges = {name: str(known) for name, known in first.symbols.items() if any(name in shape for shape in first.inputs.values())}
    again = signature(net, first.inputs, **ranges)
    assert again.inputs == first.inputs
    assert again.outputs == first.outputs
    assert [condition.text for condition in again.conditions] == [condition.text for condition in first.conditions]


def test_outputs_and_variables_have_the_same_symbols() -> None:
    assert list(signature(CACHE).outputs.values()) == ["[B,1,P + S,4]"]
    found = signature(stateful("?"))
    assert (found.state, list(found.outputs.values())) == ({"past": "[B,2,P,4]"}, ["[B,2,P + S,4]"])


def test_the_range_of_an_axis_that_is_a_formula_is_a_condition() -> None:
    found = signature(SHARED_MASK.replace("_mask: f32[?", "_mask: f32[..9"))
    assert list(found.inputs.values()) == ["[B,2]", "[T,2]", "[B + T,2]"]
    assert [condition.text for condition in found.conditions] == ["B + T <= 9"]
    assert (found.assign(B=4, T=5) is None, found.assign(B=5, T=5) is None) == (False, True)
    assert str(irshape.sizes(added("f32[?]", "f32[..9]").xml.encode())) == "1 <= B <= 9"


def test_a_name_that_the_user_wrote_is_kept() -> None:
    found = signature(joined("f32[?,?]", "f32[?,?]", axis=1), {"parameter_1": "[N,?]"})
    assert list(found.inputs.values()) == ["[N,T]", "[N,L]"]
    found = signature(nets.unet("pool"), {"parameter_0": "[1,1,H,96]"})
    assert (list(found.inputs.values()), [one.text for one in found.conditions]) == (["[1,1,H,96]"], ["H >= 32 and H % 32 == 0"])


def test_the_length_of_a_variable_is_told_by_a_mask_that_the_user_wrote() -> None:
    path = ROOT / "examples" / "decoder_stateful.xml"
    first = irshape.signature(path)
    again = irshape.signature(path, inputs=first.inputs)
    assert first.state == again.state == {"past.keypresent.key": "[B,2,P,4]", "past.valuepresent.value": "[B,2,P,4]"}


def test_a_name_is_that_of_the_layout() -> None:
    net = added("f32[?,?]", "f32[?,?]")
    port = '<port id="0" precision="FP32"/>'
    layout = '<port id="0" precision="FP32"><rt_info><attribute name="layout" version="0" layout="[N,C]"/></rt_info></port>'
    assert port in net.layers[0]
    net.layers[0] = net.layers[0].replace(port, layout)
    assert list(signature(net).inputs.values()) == ["[N,C]", "[N,C]"]


MULTIPLE = "parameter_1 may have another size than B on axis 0, if the number of its elements is a multiple of B"
READ = "parameter_1 may have another size than B on axis 0: the model reads B along it, and OpenVINO does not check that"


@pytest.mark.parametrize(("net", "notes"), [
    (added("f32[?,?]", "f32[?,?]"),
     [f"parameter_1 may also be 1 on axis {axis}, and where {size} is 1 it may have any size" for axis, size in enumerate("BT")]),
    (added("f32[?,?]", "f32[7]"), ["parameter_0 may also be 1 on axis 1"]),
    ("x: f32[?,4]\ny: f32[?,4]\nz: f32[?,4]\nAdd(Add(x, y), z) -> Result",
     ["y and z may also be 1 on axis 0, and where B is 1 they may have any size"]),
    # The time step of a U-Net: the Broadcast wants the larger of both sizes, and the Concat the batch.
    ("""_x: f32[?,4]
        _t: f32[?]
        _sizes: Maximum(Gather-8(ShapeOf-3(_x, output_type=i64), [0], 0), ShapeOf-3(_t, output_type=i64))
        Concat(_x, Add(_x, Unsqueeze(Broadcast-3(_t, _sizes, mode=numpy), [1])), axis=1) -> Result""",
     ["parameter_1 may also be 1 on axis 0"]),
    (ROWS_OF_A_MASK, [MULTIPLE]),
    (READ_BY_POSITION, [READ]),
    (BIASED, ["parameter_0 may be larger on axis 0 where Add 'add_11' reads an axis of size 1"]),
    # The Concat forbids another exception.
    ("_a: f32[?,2]\n_b: f32[?,2]\nAdd(_a, _b) -> Concat(_b, axis=1) -> Result",
     ["parameter_1 may have any size on axis 0 where B is 1"]),
])  # fmt: skip
def test_what_else_openvino_accepts_is_noted(net: Net | str, notes: list[str]) -> None:
    assert list(map(str, signature(net).notes)) == notes


def test_a_condition_on_data_and_inputs_leaves_a_doubt() -> None:
    """Whether twice as many elements as are not 0 and T more are S, the data of x decide."""
    doubled = "NonZero-3(x, output_type=i64) -> Squeeze([0]) -> _n: Convert(destination_type=f32)\nConcat(_n, _n, y, axis=0)"
    for net, doubt in ((f"{doubled} -> Add(z) -> Result", " (as far as formulas tell)"), (f"{doubled} -> Result\nz -> Result", "")):
        found = signature(f"x: f32[?]\ny: f32[?]\nz: f32[?]\n{net}")
        assert validity(found).heading == f"valid for every B, T and L of at least 1{doubt}"


def test_a_mask_that_is_cut_may_be_longer() -> None:
    """Two layers read the first B elements of a mask: it must have as many, or one."""
    cut = "_cut: Slice-8(_mask, [0], _size, [1])\nAdd(_cut, _x) -> Result\nAdd(_cut, _y) -> Result"
    found = signature(f"_x: f32[?]\n_y: f32[?]\n_mask: f32[?]\n_x -> {nets.size(0)}\n{cut}")
    assert list(found.inputs.values()) == ["[B]", "[B]", "[T]"]
    assert [one.text for one in found.conditions] == ["T == 1 or T >= B"]


def test_a_cache_has_the_batch_that_the_next_inference_gives_it() -> None:
    """The rows of the cache are chosen by `beam`, so that it may have any batch."""
    net = Net("x: f32[?,1,4]\nbeam: i32[?]\npast.key: f32[?,?,4]\nConcat(Gather-8(past.key, beam, 0), x, axis=1) -> Result")
    (concat,) = [at for at, layer in enumerate(net.layers) if 'type="Concat"' in layer]
    net.layers[concat] = net.layers[concat].replace('<port id="2"', '<port id="2" names="present.key"')
    found = signature(net)
    assert found.inputs == {"x": "[B,1,4]", "beam": "[B]", "past.key": "[B,T,4]"}
    assert list(map(str, found.notes)) == ["past.key may have another size than B on axis 0: the model gives B to the next inference"]


def test_a_symbol_of_the_caller_is_no_axis_of_the_input_of_its_name() -> None:
    found = signature("X: f32[?,?]\nW: f32[?]\nAdd(X, W) -> Result", {"X": "[W+1,W+1]", "W": "[H+1]"})
    assert (found.inputs, found.notes) == ({"X": "[H + 1,H + 1]", "W": "[H + 1]"}, [])


def test_the_layers_that_tie_axes_together_are_kept() -> None:
    net = joined("f32[?,?]", "f32[?,?]", axis=1)
    (because,) = signature(net).because
    assert (because.name, because.axis, because.size, because.reason) == ("parameter_1", 0, "B", "demanded")
    assert [guard.node.type for guard in because.guards] == ["Concat"]
    assert [one.reason for one in signature(stateful("?")).because] == ["demanded"]
    assert {one.reason for one in signature(added("f32[?,?]", "f32[?,?]")).because} == {"broadcast"}


def test_a_bound_is_that_of_the_layer_that_demands_the_most() -> None:
    found = signature(nets.stem())
    (guard,) = found.conditions[0].guards
    assert guard.node.type == "MaxPool"


def test_sizes_that_only_data_tells_have_the_names_of_their_layers() -> None:
    found = signature(BOXES)
    assert list(found.outputs.values()) == ["[2,nonzero]"]
    assert [(one.name, one.node.type) for one in found.data_sizes] == [("nonzero", "NonZero")]


def test_sizes_are_assigned() -> None:
    found = signature(CACHE)
    assert found.assign(B=2, P=7, S=5) == {"parameter_0": (2, 1, 7, 4), "parameter_1": (2, 5, 4)}
    assert found.assign({"B": 2, "P": 0, "S": 5}) == {"parameter_0": (2, 1, 0, 4), "parameter_1": (2, 5, 4)}
    assert found.assign(B=-1, P=7, S=5) is None
    assert found.assign(P=7, S=5) == found.assign(B=1, P=7, S=5)  # as in `sizes`
    windows = signature(nets.windows())
    assert windows.assign(H=28, W=59) == {"parameter_0": (1, 1, 28, 59)}
    assert (windows.assign(H=27, W=59), windows.assign(H=28, W=60)) == (None, None)
    with pytest.raises(irshape.InputError, match="the size of S is missing"):
        found.assign(B=2, P=7)
    with pytest.raises(irshape.InputError, match="there is no symbol 'H'; the symbols are B, P, S"):
        found.assign(B=2, P=7, S=5, H=3)
    with pytest.raises(irshape.InputError, match="the rank of 'parameter_0' is not known; give it a shape"):
        signature(f"f32[...] -> {nets.reshape(-1)} -> Result").assign()


def test_a_model_with_errors_has_the_shapes_of_its_file() -> None:
    found = irshape.signature(ROOT / "examples" / "faulty.xml")
    assert not found.ok
    assert any(one.code == "A103" for one in found.diagnostics)


def test_conditions_that_contradict_each_other_stay() -> None:
    halves = nets.reshape(-1, 2)
    found = signature(f"_x: f32[?]\n_x -> {halves} -> Result\n_x -> Concat(f32=[0.0], axis=0) -> {halves} -> Result")
    assert list(found.inputs.values()) == ["[B]"]
    assert [found.assign(B=size) for size in (1, 2, 3)] == [None] * 3


@pytest.mark.parametrize("net", [row[1] for row in ROWS], ids=[row[0] for row in ROWS])
def test_the_answer_for_programs(net: Net | str) -> None:
    validator("signature").validate(signature(net).to_dict())


# A net, and how many axes its inputs have; OpenVINO is given all sizes from 1 to 3.
COMPLETE = [
    ("equal sizes", joined("f32[?,?]", "f32[?,?]", axis=1)),
    ("broadcasting", added("f32[?,?]", "f32[?,?]")),
    ("broadcasting with a number", added("f32[?,?]", "f32[2]")),
    ("an exception that another layer forbids", Net(SHARED_MASK)),
    ("rows of a mask", Net(ROWS_OF_A_MASK)),
    ("read by position", Net(READ_BY_POSITION)),
    ("a cache", Net(CACHE)),
]


@pytest.mark.oracle
@pytest.mark.parametrize("net", [row[1] for row in COMPLETE], ids=[row[0] for row in COMPLETE])
def test_what_openvino_reads_is_in_the_signature_or_in_a_note(net: Net) -> None:
    found = signature(net)
    model = core().read_model(net.xml.encode(), net.bin)
    names = [node.get_friendly_name() for node in model.get_parameters()]
    ranks = [node.output(0).get_partial_shape() for node in model.get_parameters()]
    choices = [(1, 2, 3) if size.is_dynamic else (size.get_length(),) for shape in ranks for size in shape]
    numbers = range(1, 7)
    assigned = [found.assign(dict(zip(found.symbols, one, strict=True))) for one in product(numbers, repeat=len(found.symbols))]
    free = {(name, note.axis) for note in found.notes for name in note.inputs}
    known = {fixed(shapes, names, free) for shapes in assigned if shapes is not None}
    accepted = 0
    for flat in product(*choices):
        sizes = iter(flat)
        shapes = {name: tuple(next(sizes) for _ in shape) for name, shape in zip(names, ranks, strict=True)}
        try:
            model.reshape({node.output(0): partial_shape(list(shapes[node.get_friendly_name()])) for node in model.get_parameters()})
        except RuntimeError:
            assert shapes not in assigned
            continue
        accepted += 1
        assert fixed(shapes, names, free) in known, shapes
    assert accepted


def fixed(shapes: Mapping[str, tuple[int, ...]], names: list[str], free: set[tuple[str, int]]) -> tuple[int | None, ...]:
    """The sizes of all axes, None for those that notes name."""
    return tuple(None if (name, axis) in free else size for name in names for axis, size in enumerate(shapes[name]))


def test_a_size_too_large_for_a_formula_keeps_its_symbol() -> None:
    """A multiple of each of these primes has a factor of more digits than a formula holds."""
    rows = (nets.reshape(-1, 2**61 - 1 - 2 * number) for number in range(60))
    found = signature("_x: f32[?]\n" + "\n".join(f"_x -> {row} -> Result" for row in rows))
    assert set(found.symbols) == {"B"}
    assert len(found.conditions) >= 1


def halved(stride: int, kernel: int = 1) -> str:
    return f"MaxPool(strides={stride}, pads_begin=0, pads_end=0, kernel={kernel}, rounding_type=floor)"


def pyramid(least: int) -> irshape.Signature:
    """A pyramid of three levels, whose sizes two layers compare, and a window of `least` elements."""
    net = Net(f"x: f32[1,1,?]\nx -> {halved(1, least)} -> Result")
    net.add("\n".join(f"x -> _{stride}: {halved(stride)}" for stride in (8, 16, 32)))
    for large, small in ((8, 16), (16, 32)):
        net.add(f"_{small}, _{small} -> Concat(axis=2) -> Concat(_{large}, _, axis=1) -> Result")
    return irshape.signature(net.xml.encode(), weights=net.bin)


@pytest.mark.parametrize(
    ("least", "text", "types"),
    [
        (20, "L >= 25 and (L % 32 == 0 or L % 32 >= 25)", ["Concat", "Concat"]),
        (25, "L >= 25 and (L % 32 == 0 or L % 32 >= 25)", ["Concat", "Concat"]),
        (60, "L >= 60 and (L % 32 == 0 or L % 32 >= 25)", ["MaxPool", "Concat", "Concat"]),
    ],
)
def test_the_layers_that_make_a_condition(least: int, text: str, types: list[str]) -> None:
    [condition] = pyramid(least).conditions
    assert (condition.text, [guard.node.type for guard in condition.guards]) == (text, types)


def test_of_layers_that_bound_a_size_alike_the_first_is_named() -> None:
    windows = "".join(f"x -> first{i}: {halved(1, 25)} -> Result\n" for i in range(3))
    net = Net(f"x: f32[1,1,?]\n{windows}x -> Slice-8([0], [3], [1], [2]) -> Result")
    [condition] = irshape.signature(net.xml.encode(), weights=net.bin).conditions
    assert (condition.text, [guard.node.name for guard in condition.guards]) == ("L >= 25", ["first0"])


EXAMPLES = [Path(__file__).parents[2] / "examples" / name for name in ("atrous.xml", "decoder.xml", "decoder_stateful.xml")]
# So many sizes are tried to find those that the conditions admit.
ATTEMPTS = 300


def is_read(model: Any, shapes: dict[str, tuple[int, ...]]) -> bool:
    """Whether OpenVINO reads the model with these shapes of its inputs."""
    ports = {name: port for port in model.inputs for name in (port.get_node().get_friendly_name(), *port.get_names())}
    wanted = {ports[name]: partial_shape(list(shape)) for name, shape in shapes.items()}
    assert len(wanted) == len(model.inputs)
    try:
        model.reshape(wanted)
    except RuntimeError:
        return False
    return True


@pytest.mark.oracle
@pytest.mark.parametrize("path", [*EXAMPLES, *WITH_WEIGHTS], ids=named)
def test_openvino_reads_every_assignment(path: Path) -> None:
    signature = irshape.signature(path)
    if not signature.ok or not signature.symbols or "[...]" in signature.inputs.values():
        pytest.skip("no symbols, or an input of unknown rank")
    random = Random(path.stem)
    model = core_of(path.read_bytes()).read_model(path)
    found = 0
    for _ in range(ATTEMPTS):
        wanted = sizes(signature, random)
        shapes = signature.assign(wanted)
        if shapes is not None:
            found += 1
            assert is_read(model, shapes), (wanted, shapes)
        if found == ASSIGNMENTS:
            break
    assert found, "some sizes are admitted"


def test_every_answer_names_inputs_and_outputs_alike() -> None:
    """A tensor's name comes first, then that of the layer; an input has no name by which another input's layer is found."""
    net = Net("x: f32[?,2]\ny: f32[?,2]\nz: f32[?,2]\nAdd(x, y) -> sum: Add(z) -> Result\nz -> last: ReLU -> Result")
    text = net.xml
    for layer, names in (("x", "image"), ("y", "z"), ("sum", "12,scores")):
        text = re.sub(rf'(name="{layer}".*?<output>\s*<port [^>]*?)(/?>)', rf'\1 names="{names}"\2', text, count=1, flags=re.DOTALL)
    ends = ["image", "y", "z"], ["scores", "last"]
    signature, info, cost = irshape.signature(text), irshape.info(text), irshape.cost(text)
    assert (list(signature.inputs), list(signature.outputs)) == ends
    assert ([one.name for one in info.inputs], [one.name for one in info.outputs]) == ends
    assert ([one.name for one in cost.inputs], [one.name for one in cost.outputs]) == ends
    assert list(irshape.sizes(text).inputs) == ends[0]
    page = PageData(irshape.read(text)._graph)
    assert list(page.to_dict()["ends"].values()) == [*ends[0], *ends[1]]
    assert irshape.infer(text, inputs=signature.assign()).ok


def test_a_range_that_is_given_has_no_layer_as_its_cause() -> None:
    """Where H is a multiple of 64, the Reshape takes every W: it does not demand the multiple."""
    net = Net("""
        x: f32[1,3,?,?] -> c: Convolution(_, f32=0[4,3,7,7], strides=[4,4], pads_begin=[3,3], pads_end=[3,3], dilations=[1,1])
        c -> n: ShapeOf-3(output_type=i64)
        n -> _one: Gather-8([0], 0, batch_dims=0)
        n -> _two: Gather-8([2,3], 0, batch_dims=0)
        c -> Reshape([0,4,-1], special_zero=true) -> Reshape(Concat(_one, _two, [-1], axis=0), special_zero=false) -> Result
    """)
    found = irshape.signature(net.xml.encode(), weights=net.bin, symbols={"H": "64*k"})
    assert [(one.text, one.guards) for one in found.conditions] == [("H >= 64 and H % 64 == 0", ())]
