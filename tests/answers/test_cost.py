"""What models cost: sums, formulas against numbers, parameters against OpenVINO, memory against a simulation, bodies."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from math import inf, prod
from pathlib import Path
from random import Random
from typing import Any, Final
from unittest import mock

import pytest

import irshape
from irshape import verbs
from irshape.answers.cost.cost import Comparison, Cost, _draw_growth, _draw_memory
from irshape.answers.cost.formula import Formula, amount, reference, value, values
from irshape.answers.cost.memory import Race
from irshape.answers.signature import signature
from irshape.answers.signature.discovery import Discovery
from irshape.report.terminal import lines
from irshape.shape.dim import Scope, Size, broadcast_of, dim_max, expression_of
from irshape.shape.formula import parse_formula, size_by
from irshape.shape.range import Range
from tests.answers import nets
from tests.inference.test_bodies import chosen, inside, loop
from tests.support.ir import Net
from tests.support.irs import PATHS, WITH_WEIGHTS, named
from tests.support.oracle import core_of
from tests.support.places import ATROUS, DECODER, EXAMPLES, ROOT, STATEFUL
from tests.support.schemas import validator


def cost(net: Net, **options: Any) -> Cost:
    """The cost of a net."""
    return verbs.cost(net.xml.encode(), weights=net.bin, **options)


# Sums and formulas.


def test_the_cost_of_a_decoder_is_a_formula_of_its_sizes() -> None:
    """By hand: S tokens of 4 features through 4 products with 4*4 weights (the last 4*16), and S*(P + S) pairs of 2 heads of 4 features."""
    found = verbs.cost(DECODER)
    assert str(found.macs) == "16*B*P*S + 16*B*S*S + 320*B*S"
    assert isinstance(found.macs, Formula)
    assert found.macs.symbols == ("B", "P", "S")
    assert found.macs.evaluate(B=2, P=3, S=5) == 16 * 2 * 3 * 5 + 16 * 2 * 5 * 5 + 320 * 2 * 5
    assert found.macs.evaluate({"B": 2, "P": 3, "S": 5}) == found.at(found.macs, {"B": 2, "P": 3, "S": 5})
    assert found.macs.leading == "16*B*P*S + 16*B*S*S"


def test_the_sizes_of_a_file_get_their_names_once() -> None:
    """No size from 1 to 3 is a multiple of 7, which OpenVINO does not notice: the file has no errors, but its signature has."""
    with mock.patch.object(signature, "Discovery", wraps=Discovery) as passes:
        assert cost(Net(f"f32[1..3] -> {nets.reshape(-1, 7)} -> Result")).signature is not None
    assert passes.call_count == 1


@pytest.mark.parametrize(
    ("inputs", "text", "leading"),
    [("[1,1,H,W]", "9*H*W", "9*H*W"), ("[1,1,H,8]", "72*H", "72*H"), ("[N,1,8,8]", "576*N", "576*N"), ("[1,1,8,8]", "576", "")],
)
def test_leading_terms_come_first(inputs: str, text: str, leading: str) -> None:
    net = Net(f"f32[?,1,?,?] -> {nets.conv(3, pad=1)} -> Result")
    found = cost(net, inputs={"parameter_0": inputs}).macs
    assert str(found) == text
    assert (found.leading if isinstance(found, Formula) else "") == leading


def test_amounts_together_are_what_each_is_alone() -> None:
    """The formulas share H//4 and min(H, W), which are computed once; a number stays as it is."""
    scope = Scope()
    texts = ("H//4*W", "(H//4 + min(H, W))//3", "7", "2*min(H, W) + H//4")
    amounts = [amount(size_by(parse_formula(text), scope.symbol), {"H": "height"}) for text in texts]
    together = values(amounts)
    assert together({"height": 9, "W": 5}) == [value(one, {"height": 9, "W": 5}) for one in amounts] == [10, 2, 7, 12]
    assert together({"height": 4, "W": 8}) == [8, 1, 7, 9]
    assert values([3, 4])({}) == [3, 4]
    with pytest.raises(KeyError):
        together({"W": 5})


def test_a_rounded_size_leads_by_its_quotient() -> None:
    net = Net(f"f32[1,1,?,8] -> {nets.conv(3, 2, pad=1)} -> Result")
    found = cost(net, inputs={"parameter_0": "[1,1,H,8]"}).macs
    assert isinstance(found, Formula)
    assert (str(found), found.leading) == ("36*((H + 1)//2)", "18*H")


def test_layers_of_constants_cost_nothing() -> None:
    """OpenVINO computes them when it compiles the model."""
    net = Net("f32[2,3] -> MatMul(Multiply(f32=0[3,4], f32=0[4])) -> Result")
    found = cost(net)
    assert (found.macs, found.operations, found.folded) == (24, 0, 1)
    (layer,) = found.layers
    assert (layer.weights, layer.inputs, layer.outputs) == (4 * (12 + 4), 4 * 6, 4 * 8)
    assert layer.parameters == 12 + 4
    assert layer.intensity() == 48 / (64 + 24 + 32)
    assert (found.parameters, found.parameter_bytes, found.parameters_by_type) == (16, 64, {"f32": (16, 64)})


def test_traffic_leaves_out_what_need_not_move() -> None:
    net = Net(f"f32[2,3] -> ReLU -> {nets.reshape(6)} -> Result")
    assert cost(net).traffic == 24 + 24


def test_work_that_no_rule_counts_is_listed() -> None:
    net = Net("x: f32[2,9]\nx -> TopK-11(3, axis=1, mode=max, sort=value, index_element_type=i32) f32 i32 -> Result")
    net.add("x -> Strange-extension -> Result")
    found = verbs.cost(net.xml.encode(), weights=net.bin, opaque=["Strange"])
    assert {layer.type: layer.uncounted for layer in found.uncounted} == {
        "TopK": "the operation has no counting rule", "Strange": "the operation is unknown",
    }  # fmt: skip


def test_packed_elements_share_bytes() -> None:
    net = Net("f32[5] -> Multiply(Convert(u4=[1,2,3,4,5], destination_type=f32)) -> Result")
    found = cost(net)
    assert found.parameters_by_type == {"u4": (5, 3)}
    assert found.layers[0].weights == 3
    assert found.layers[0].parameters == 5


def sizes_of(found: Cost, random: Random) -> Iterator[tuple[dict[str, int], dict[str, list[int]]]]:
    """Random sizes that a model accepts, with the shapes of its inputs."""
    assert found.signature is not None
    for _ in range(8):
        sizes = {name: random.choice([1, 2, 3, 5, 7, 16, 31, 32, 33, found.near[name]]) for name in found.symbols}
        shapes = found.signature.assign(sizes)
        if shapes is not None:
            yield sizes, {name: list(shape) for name, shape in shapes.items()}


AMOUNTS = ("macs", "operations", "flops", "traffic", "peak_memory")


def pairs(found: Cost, other: Cost) -> Iterator[tuple[str, Any, Any]]:
    """All amounts of two costs."""
    yield from ((name, getattr(found, name), getattr(other, name)) for name in AMOUNTS)
    for one, two in zip(found.layers, other.layers, strict=True):
        for name in ("runs", "macs", "operations", "inputs", "outputs", "weights"):
            yield f"{one.name} {name}", getattr(one, name), getattr(two, name)


@pytest.mark.parametrize("path", WITH_WEIGHTS, ids=map(named, WITH_WEIGHTS))
def test_formulas_give_the_numbers_of_the_sizes(path: Path) -> None:
    """For random sizes that the model accepts, each formula gives what the cost of the model with these sizes is.

    Sizes that only data tells have no value here, and sizes of variables cannot be given as inputs.
    """
    found = verbs.cost(path)
    is_ranked = found.signature is not None and "[...]" not in found.signature.inputs.values()
    if not found.symbols or not is_ranked:
        assert not isinstance(found.macs, Formula) or found.data_sizes or not is_ranked
        return
    for sizes, shapes in list(sizes_of(found, Random(named(path))))[:2]:
        number = verbs.cost(path, inputs=shapes)
        for name, formula, wanted in pairs(found, number):
            open_ones = set(formula.symbols) - set(sizes) if isinstance(formula, Formula) else set()
            if not open_ones and isinstance(wanted, int):
                assert value(formula, sizes) == wanted, (name, sizes, str(formula))


@pytest.mark.oracle
@pytest.mark.parametrize("path", WITH_WEIGHTS, ids=map(named, WITH_WEIGHTS))
def test_parameters_are_the_constants_of_openvino(path: Path) -> None:
    """Elements and bytes of the constants by element type, those of bodies included."""
    found = verbs.cost(path)
    if not found._inference.ok:
        pytest.skip("OpenVINO refuses the model")
    source = path.read_bytes()
    try:
        model = core_of(source).read_model(source, path.with_suffix(".bin").read_bytes())
    except RuntimeError:
        pytest.skip("OpenVINO refuses the model")
    wanted: dict[str, tuple[int, int]] = {}
    pending = [model]
    while pending:
        for node in pending.pop().get_ops():
            if node.get_type_name() == "Constant":
                name = node.get_element_type().get_type_name()
                elements, size = wanted.get(name, (0, 0))
                wanted[name] = elements + prod(node.get_output_shape(0)), size + node.get_byte_size()
            elif node.get_type_name() == "If":
                pending += [node.get_then_body(), node.get_else_body()]
            elif node.get_type_name() in ("Loop", "TensorIterator"):
                pending.append(node.get_function())
    assert found.parameters_by_type == wanted


@pytest.mark.parametrize("path", PATHS, ids=map(named, PATHS))
def test_every_file_has_a_cost(path: Path) -> None:
    """Also a file with faults; its report has the published form."""
    found = verbs.cost(path)
    validator("cost").validate(json.loads(json.dumps(found.to_dict())))


# Memory.


class Grown(Net):
    """A random net of element-wise operations, views, joins and splits, of static shapes."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.random = random = Random(seed)
        self.lengths: dict[str, int] = {}
        for _ in range(2):
            length = random.randint(1, 9)
            self._put(f"f32[{length}]", length)
        for _ in range(random.randint(3, 16)):
            self._grow()
        for name in self.lengths if random.random() < 0.3 else list(self.lengths)[-2:]:
            self.add(f"{name} -> Result")

    def _put(self, text: str, length: int) -> None:
        name = f"_{len(self.lengths)}"
        before, arrow, last = text.rpartition(" -> ")
        self.add(f"{before}{arrow}{name}: {last}")
        self.lengths[name] = length

    def _grow(self) -> None:
        random = self.random
        one, length = random.choice(list(self.lengths.items())[-4:])
        kind = random.choice(("ReLU", "Add", "Reshape", "Concat", "Tile", "Split"))
        if kind == "ReLU":
            self._put(f"{one} -> ReLU", length)
        elif kind == "Add":
            self._put(f"{one} -> Add({random.choice([name for name, size in self.lengths.items() if size == length])})", length)
        elif kind == "Reshape":
            self._put(f"{one} -> {nets.reshape(1, length)} -> {nets.reshape(length)}", length)
        elif kind == "Concat":
            other, size = random.choice(list(self.lengths.items()))
            self._put(f"{one}, {other} -> Concat(axis=0)", length + size)
        elif kind == "Tile":
            self._put(f"{one} -> Tile([2])", 2 * length)
        elif length % 2 == 0:
            self.add(f"{one} -> _s{len(self.lengths)}: Split(0, num_splits=2) f32 f32")
            split = f"_s{len(self.lengths)}"
            for part in range(2):
                self.named[f"_{len(self.lengths)}"] = [self.named[split][part]]
                self.lengths[f"_{len(self.lengths)}"] = length // 2


def simulated(net: Net, *, views: bool = False, in_place: bool = False) -> int:
    """The most bytes that are held at once, by a run that counts the readers of each buffer: an independent account of lifetimes."""
    inference = verbs.infer(net.xml.encode(), weights=net.bin)
    slots = inference.graphs[0][1].slots
    nodes = [node for node in inference.model if node.is_live]
    constant: set[int] = set()
    readers: dict[int, int] = {}
    for node in nodes:
        if node.type == "Const" or (node.sources and all(slot in constant for slot in node.sources) and node.type != "Result"):
            constant.update(range(node.first_slot, node.first_slot + len(node.outputs)))
    running = [node for node in nodes if not {*range(node.first_slot, node.first_slot + len(node.outputs))} & constant]
    for node in running:
        for slot in node.sources:
            readers[slot] = readers.get(slot, 0) + 1

    def size(slot: int) -> int:
        return 4 * prod(slots[slot].shape)  # type: ignore[arg-type, union-attr]

    buffer_of: dict[int, int] = {}
    held: dict[int, int] = {}
    pending: dict[int, int] = {}
    inputs: set[int] = set()
    for node in running:
        if node.type == "Parameter" and node.first_slot in readers:  # an input that nobody reads is not counted
            slot = node.first_slot
            buffer_of[slot], held[slot], pending[slot] = slot, size(slot), readers.get(slot, 0)
            inputs.add(slot)
    most = 0
    for node in running:
        if node.type in ("Parameter", "Result"):
            continue  # a Result keeps its reader for ever
        taken = [slot for slot in node.sources if slot not in constant]
        outputs = range(node.first_slot, node.first_slot + len(node.outputs))
        for slot in outputs:
            buffer = slot
            if views and node.type == "Reshape":
                buffer = buffer_of[node.sources[0]]
            elif in_place and node.type in ("ReLU", "Add"):
                for source in dict.fromkeys(buffer_of[one] for one in taken):
                    own = sum(buffer_of[one] == source for one in taken)
                    if pending[source] == own and source not in inputs and held[source] == size(slot):
                        buffer = source
                        break
            buffer_of[slot] = buffer
            held.setdefault(buffer, size(slot))
            pending[buffer] = pending.get(buffer, 0) + readers.get(slot, 0)
        most = max(most, sum(held.values()))
        for slot in taken:
            pending[buffer_of[slot]] -= 1
        for buffer in [one for one, count in pending.items() if count == 0]:
            held.pop(buffer, None)
    return most


@pytest.mark.parametrize("seed", range(50))
@pytest.mark.parametrize(("views", "in_place"), [(False, False), (True, False), (False, True), (True, True)])
def test_the_peak_is_that_of_a_simulation(seed: int, views: bool, in_place: bool) -> None:
    net = Grown(seed)
    assert cost(net, views=views, in_place=in_place).peak_memory == simulated(net, views=views, in_place=in_place)


def test_another_layer_takes_over_where_the_sizes_grow() -> None:
    """A chain of 3 tensors of 100 + S elements against one of 2*S: 8*(100 + S) bytes against 4*(100 + S) + 8*S."""
    net = Net("x: f32[?]\nx, f32=0[100] -> Concat(axis=0) -> ReLU -> ReduceSum([0], keep_dims=true) -> Result\nx -> Tile([4]) -> Result")
    found = cost(net, inputs={"x": "[S]"})
    stretches = found.stretches("S")
    assert len(stretches) > 1
    assert stretches[0].low == 1
    assert stretches[-1].high is None
    assert all(one.high is not None and one.high + 1 == after.low for one, after in pairwise(stretches))
    for size in (1, *(one.low for one in stretches[1:]), *(one.low - 1 for one in stretches[1:]), 100_000):
        (own,) = [one for one in stretches if one.low <= size and (one.high is None or size <= one.high)]
        number = cost(net, inputs={"x": f"[{size}]"})
        layer = number.peak.layer()
        assert layer is not None
        assert layer.id in [node.id for node, _ in own.layers]
        assert max(value(memory, {"S": size}) for _, memory in own.layers) == number.peak_memory


def test_the_sizes_beside_the_one_that_grows_are_the_first_ones() -> None:
    found = "\n".join(f"x -> NonZero-3(output_type=i64) -> Concat([[{n}]], axis=1) -> Result" for n in range(5))
    net = Net(
        f"x: f32[?]\nx, f32=0[100] -> Concat(axis=0) -> ReLU -> ReduceSum([0], keep_dims=true) -> Result\nx -> Tile([4]) -> Result\n{found}"
    )
    own, axes = cost(net, inputs={"x": "[S]"}), mock.MagicMock()
    (said,) = [line for line in lines(own._sections()) if "grows" in line]
    assert said.endswith(" and 2 more, the peak is")
    _draw_memory(own, axes)  # the titles of a picture are as short
    _draw_growth(own, "S", axes)
    assert [call.args[0].endswith(" and 2 more)") for call in axes.set_title.call_args_list] == [True, True]


def test_rounded_sizes_let_layers_take_turns() -> None:
    """Halves that are rounded up, twice, are more than the whole for odd sizes, but not much: 4*(3*S + ...) bytes against 4*(2*S + S)."""
    net = Net(f"x: f32[1,1,?,8] -> half: {nets.pool(1, 2)}\nhalf, half -> Concat(axis=1) -> Result\nx -> ReLU -> Result")
    found = cost(net, inputs={"x": "[1,1,H,8]"})
    for one in found.stretches("H"):
        for size in range(one.low, min(one.high or one.low + 40, one.low + 40)):
            layer = found.peak.layer({"H": size})
            assert layer in [node for node, _ in one.layers]


def test_sizes_that_are_not_valid_take_no_turns() -> None:
    """The sides of this model are 4*k or 4*k + 3; for 4*k + 1 the peak would be in a DepthToSpace."""
    found = verbs.cost(ATROUS)
    assert {node.type for node, _ in found.peak.candidates} == {"Concat", "Convolution", "DepthToSpace"}
    for one in found.stretches("H"):
        assert one.low % 4 in (0, 3)
        assert {node.type for node, _ in one.layers} == {"Concat", "Convolution"}


def test_state_is_counted_apart() -> None:
    """A stateful decoder reads caches of P steps, and leaves caches of P + S steps; they are no activations."""
    found = verbs.cost(STATEFUL)
    assert [(str(one.before), str(one.after)) for one in found.state] == [("32*B*P", "32*B*P + 32*B*S")] * 2
    assert str(found.state_bytes) == "64*B*P + 64*B*S"
    names = {layer.node.key for layer in found.layers if layer.type == "ReadValue"}
    assert names
    assert {node.key for node in found.peak.unknown} == set()


# Bodies.


def added(times: int) -> Net:
    """A body that adds so often to 3 elements."""
    return inside(f"_x{' -> Add(_, _x, auto_broadcast=numpy)' * times}", "f32[3]")


def test_a_loop_of_known_trips_costs_them_all() -> None:
    found = cost(loop("f32[3]", added(1)))
    assert found._inference.ok, found.diagnostics
    assert found.operations == 5 * 3
    (layer,) = [one for one in found.layers if one.type == "Add"]
    assert (layer.runs, layer.operations, layer.outputs) == (5, 15, 5 * 12)


def test_a_loop_of_unknown_trips_costs_a_formula_of_them() -> None:
    found = cost(loop("f32[3]", added(1), trips=None))
    assert found._inference.ok, found.diagnostics
    assert str(found.operations) == "3*trips"
    assert [one.name for one in found.data_sizes] == ["trips"]
    assert found.at(found.operations, {"trips": 7}) == 21


def test_a_tensor_iterator_runs_once_for_each_part() -> None:
    path = next(path for path in PATHS if "TensorIterator" in path.read_text(encoding="utf-8", errors="replace"))
    found = verbs.cost(path)
    inner = [layer for layer in found.layers if layer.node.model.holder is not None]
    assert inner
    assert any(layer.runs != 1 for layer in inner)


@pytest.mark.parametrize(("then", "other"), [(1, 4), (4, 1)])
def test_the_dearer_branch_of_an_if_counts(then: int, other: int) -> None:
    found = cost(chosen(added(then), added(other), "f32[3]"))
    assert found._inference.ok, found.diagnostics
    assert found.operations == 12
    assert len([layer for layer in found.layers if layer.type == "Add"]) == 5


# Sizes at which formulas are compared.


def test_usual_sizes_fulfil_the_conditions() -> None:
    found = verbs.cost(DECODER)
    assert found.near == {"B": 1, "P": 128, "S": 128}
    assert found._is_near_valid
    chosen = verbs.cost(DECODER, near={"S": 7})
    assert chosen.near == {"B": 1, "P": 128, "S": 7}
    with pytest.raises(irshape.InputError, match="there is no symbol 'H'; the symbols are B, P, S"):
        verbs.cost(DECODER, near={"H": 7})


def test_a_size_of_data_is_its_bound_or_the_size_of_an_input() -> None:
    """Of as many boxes as there are, 2^31 - 1 is no bound; a size of a Range has none."""
    detector = EXAMPLES / "detector.xml"
    assert irshape.cost(detector).near == {"B": 1, "H": 224, "W": 224, "n_boxes": 224}
    assert irshape.cost(detector, inputs={"image": "[1,3,64,96]"}).near == {"n_boxes": 200}
    counted = "x: i64[9]\nReduceMax(x, [0], keep_dims=false) -> _most: Range-4(0, _, 1, output_type=i64)\nRelu(_most) -> Result"
    assert list(cost(Net(counted)).near.values()) == [9]


def test_an_image_beside_a_size_that_must_be_the_batch_is_a_usual_one() -> None:
    """T is B, as for the time steps of a diffusion model."""
    found, _ = reference(dict.fromkeys("BTHW", Range(1, inf)), [], {}, {}, lambda sizes: sizes["T"] == sizes["B"])
    assert found == {"B": 1, "T": 1, "H": 224, "W": 224}


def test_a_mask_as_long_as_past_and_new_steps_is_twice_as_long() -> None:
    """T is 1 or at least P + S, and one token behind a cache of one token is no usual size."""
    found, _ = reference(
        dict.fromkeys("BSTP", Range(1, inf)), [], {}, {}, lambda sizes: sizes["T"] == 1 or sizes["T"] >= sizes["P"] + sizes["S"]
    )
    assert found == {"B": 1, "S": 128, "T": 256, "P": 128}


def test_sizes_that_hold_only_together_are_found() -> None:
    """(H//2 - 1) * (W//2 - 1) windows are 21: 1 * 21 is nearest to the usual sizes, 3 * 7 is left for H=9, and nothing for H=224."""
    window = 'kernel="4,4", strides="2,2", pads_begin="0,0", pads_end="0,0", rounding_type=floor'
    net = Net(f"x: f32[?,?,?] -> Unsqueeze(1) -> MaxPool-1({window}) -> Reshape([0,1,21], special_zero=true) -> Result")
    found = cost(net)
    assert (sorted(found.near.values()), found._is_near_valid) == ([1, 5, 45], True)
    assert cost(net, near={"H": 9}).near == {"B": 1, "H": 9, "W": 16}
    for verb in (verbs.cost, verbs.summary):
        text = "\n".join(lines(verb(net.xml.encode(), weights=net.bin, near={"H": 224})._sections()))
        assert "these sizes do not fulfil the conditions of the model" in text


def test_layers_that_a_converter_names_stand_with_the_module_that_reads_them() -> None:
    """A converter made the three in the middle, which `a/second` reads; `summary` has the same groups. Each product has 4 MACs."""
    names = ("a/first", "Multiply_1001", "Multiply_1002", "Multiply_1003", "a/second", "b/first", "b/second")
    net = Net(f"x: f32[1,2] -> {' -> '.join(f'{name}: MatMul(f32=1[2,2])' for name in names)} -> Result")
    text = "\n".join(lines(cost(net)._sections()))
    modules = {one.name: one.macs for one in verbs.summary(net.xml.encode(), weights=net.bin).modules if one.depth == 0}
    by_name = text.partition("by name")[2].partition("costliest")[0]
    assert (modules["a"], modules["b"]) == (20, 8)
    assert "Multiply" not in by_name


def test_a_formula_that_is_too_long_says_how_to_see_it() -> None:
    net = Net("x: f32[?,4] -> MatMul(f32=1[4,4]) -> Result")
    (line,) = [line for line in lines(cost(net, inputs={"x": f"[{'L' * 120},4]"})._sections()) if line.startswith("MACs")]
    assert line.endswith("a long formula (--all shows it)")


def test_sizes_beyond_a_range_are_said_to_be_invalid() -> None:
    net = Net(f"f32[1,1,3..64,8] -> {nets.conv(3)} -> Result")
    assert cost(net, near={"H": 9})._is_near_valid
    assert not cost(net, near={"H": 65})._is_near_valid


def test_nothing_of_costs_is_loaded_where_nobody_asks() -> None:
    code = "import sys, irshape; irshape.infer('examples/decoder.xml'); print([name for name in sys.modules if 'answers' in name])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert run.stdout.strip() == "[]"


def test_a_cost_with_huge_numbers_says_so() -> None:
    """A tensor of 900 open axes has more elements, for usual sizes, than a number of 4,096 bits."""
    net = Net(f"f32[{','.join(['?'] * 900)}] -> ReLU -> Result")
    with pytest.raises(irshape.InputError, match="a size has more than 4096 bits; give smaller ones with --near"):
        verbs.cost(net.xml.encode()).to_dict()


def test_looking_at_many_atoms_is_work() -> None:
    scope = Scope()
    table, total = scope.polynomials, scope.symbol("x0", 0, 9)
    for number in range(1, 200):
        total = broadcast_of(total, scope.symbol(f"x{number}", 0, 9))
    expression, before = expression_of(total), table.work.left
    assert len(table.atoms_below(expression)) == len(table.symbols_below(expression)) + 199
    assert before - table.work.left >= 200 // 16


MODELS: Final[list[Callable[[Size], list[Size]]]] = [
    lambda s: [1000 + 2 * s, 3 * s * s, 50 * s],
    lambda s: [7 * (s // 2) * (s // 2), 2 * s * s - s // 2, 900 * ((s + 1) // 2)],
    lambda s: [64 * (s // 3), 64 * ((s + 1) // 3), 64 * ((s + 2) // 3), 20 * s + 30],
    lambda s: [dim_max(4 * s, 400), 3 * s + 100, 5 * s - 200],
    lambda s: [10_000 - 3 * s, 20 * s],
]


@pytest.mark.parametrize("amounts", MODELS)
@pytest.mark.parametrize("is_valid", [lambda size: True, lambda size: size % 32 == 0, lambda size: size < 90, lambda size: size == 3])
def test_sizes_between_are_not_needed(amounts: Callable[[Size], list[Size]], is_valid: Callable[[int], bool]) -> None:
    """Race gives the turns that it gives where nothing is known to grow, so that every size is tried."""
    scope = Scope()
    several = [amount(size, {}) for size in amounts(scope.symbol("S", 1))]
    race, slow = (Race("S", several, is_valid, scope.work) for _ in range(2))
    slow._are_growing = False
    assert race.turns(1, None) == slow.turns(1, None)
    assert race.turns(5, 3000) == slow.turns(5, 3000)


@pytest.mark.parametrize(
    ("text", "sizes", "about"),
    [
        ("9*H*W + 9*H", {"H": 224, "W": 224}, "9*H*W"),  # 0.4 % less
        ("H*H*W*W//4096 + 7000*H*W", {"H": 64, "W": 64}, "7000*H*W"),  # the highest degree makes a part in 7000
        ("H*H + 40*H + 50*W", {"H": 40, "W": 40}, "H*H + 50*W + 40*H"),
        ("A + B + C + D + E", {"A": 1, "B": 1, "C": 1, "D": 1, "E": 9}, "A + B + C + D + E"),
        ("A*A + B + C + D + E", {"A": 1, "B": 1, "C": 1, "D": 1, "E": 1}, ""),  # three of five make 60 %
    ],
)
def test_a_formula_that_stands_for_another_one_is_near_it(text: str, sizes: dict[str, int], about: str) -> None:
    scope = Scope()
    found = amount(size_by(parse_formula(text), scope.symbol), {})
    assert isinstance(found, Formula)
    assert found.about(sizes) == about


def test_a_size_that_one_model_fixes_is_the_others_too() -> None:
    """Models that differ in an open size alone are compared at the number that the other one has."""
    fixed, opened = (irshape.cost(Net(f"x: f32[{size}] -> ReLU -> Result").xml.encode()) for size in ("40,7", "?,7"))
    assert Comparison(fixed, opened).values("operations") == (280, 280)
    assert Comparison(opened, fixed).values("operations") == (280, 280)
