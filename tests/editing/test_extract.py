"""Parts of models: OpenVINO reads each, and every tensor has the shape that it has in the whole."""

import re
from pathlib import Path
from random import Random
from typing import Any

import numpy
import openvino
import pytest

import irshape
from irshape.editing.extract import Part, around, between, extract, with_numbered
from tests.support.ir import Net
from tests.support.irs import WITH_WEIGHTS, named
from tests.support.oracle import core_of
from tests.support.places import ATROUS, EXAMPLES, ROOT, STATEFUL

FILES = [path for path in (*WITH_WEIGHTS, *sorted(EXAMPLES.glob("*.xml"))) if path.stat().st_size < 400_000]


def shapes(model: Any) -> dict[tuple[str, int], Any]:
    """OpenVINO's shape of each tensor that a layer computes, by the name of the layer."""
    kinds = ("Parameter", "Constant", "Result")
    ops = [op for op in model.get_ops() if op.get_type_name() not in kinds]
    return {(op.get_friendly_name(), output.get_index()): output.get_partial_shape() for op in ops for output in op.outputs()}


def random_part(graph: irshape.Graph, random: Random) -> Part | None:
    """A random part: the surroundings of a layer, all that a tensor depends on, or scattered layers."""
    draft = graph._draft
    items = [item for item in draft.state.items.values() if item.type not in ("Const", "Parameter", "Result", "Assign")]
    computed = [item for item in items if item.outputs]
    if not computed:
        return None
    way = random.randrange(3)
    if way == 0:
        return extract(draft, around(draft, random.choice(items), random.randint(0, 6)))
    if way == 1:
        target = random.choice(computed)
        return extract(draft, between(draft, [], [target]), [], [target.outputs[0]])
    return extract(draft, random.sample(items, random.randint(1, max(1, len(items) // 2))))


@pytest.mark.slow("take long")
@pytest.mark.parametrize("path", FILES, ids=named)
def test_parts_have_the_shapes_of_the_whole(path: Path, tmp_path: Path) -> None:
    core = core_of(path.read_bytes())
    try:
        whole = shapes(core.read_model(path))
        graph = irshape.edit(path)
    except (RuntimeError, irshape.EditError):
        pytest.skip("OpenVINO does not read the file, or it is no whole IR")
    random = Random(path.stem)
    for _ in range(4):
        graph.undo(0)
        try:
            part = random_part(graph, random)
        except irshape.EditError as error:
            assert "output" in str(error)
            continue
        if part is None:
            continue
        graph.write(tmp_path / "part.xml", force=True, trim=True)
        named_losses = {(loss.layer, loss.output) for loss in part.losses}
        for key, shape in shapes(core.read_model(tmp_path / "part.xml")).items():
            assert key not in whole or shape == whole[key] or key in named_losses, key


POOLED = Net("""
    _pool: MaxPool-14(f32[1,3,8,8], strides="2,2", kernel="2,2", pads_begin="0,0", pads_end="0,0", dilations="1,1") f32 i64
    _pool -> ReLU -> Result
""")


@pytest.mark.parametrize(("kept", "outputs"), [
    ({"MaxPool"}, 1),  # not the places of the greatest elements, which no layer reads
    ({"MaxPool", "ReLU"}, 1),
])  # fmt: skip
def test_what_a_layer_outside_reads_is_an_output(kept: set[str], outputs: int) -> None:
    graph = irshape.edit(POOLED.xml.encode(), weights=POOLED.bin)
    part = extract(graph._draft, [item for item in graph._draft.state.items.values() if item.type in kept])
    assert len(part.outputs) == outputs


def test_a_trimmed_part_holds_the_bytes_of_its_constants(tmp_path: Path) -> None:
    graph = irshape.edit(ATROUS)
    extract(graph._draft, [graph["atrous/conv"]._item, graph["atrous/conv/weights"]._item])
    graph["atrous/conv"].output.replace_uses(graph.add("Add", graph["atrous/conv"], 2.0))
    graph.write(tmp_path / "part.xml", trim=True)
    part, whole = irshape.read(tmp_path / "part.xml"), irshape.read(ATROUS)
    assert (part["atrous/conv/weights"].const.data == whole["atrous/conv/weights"].const.data).all()
    assert sum(node.const.size for node in part.of_type("Const")) <= (tmp_path / "part.bin").stat().st_size < 700
    assert irshape.check(tmp_path / "part.xml").diagnostics == []


def test_constants_of_bodies_move_with_a_trimmed_file(tmp_path: Path) -> None:
    path = next(one for one in WITH_WEIGHTS if one.stem == "while_grow")
    graph = irshape.edit(path)
    graph.write(tmp_path / "trimmed.xml", trim=True)
    trimmed, whole = irshape.read(tmp_path / "trimmed.xml"), irshape.read(path)
    for ours, theirs in zip(trimmed.graphs(), whole.graphs(), strict=True):
        for one, other in zip(ours.of_type("Const"), theirs.of_type("Const"), strict=True):
            assert one.const.bytes == other.const.bytes
    assert irshape.check(tmp_path / "trimmed.xml").ok and openvino.Core().read_model(tmp_path / "trimmed.xml")


@pytest.mark.parametrize(("places", "trimmed"), [
    ([(0, 16), (16, 16), (32, 16)], 48),
    ([(0, 16), (0, 16), (0, 16)], 16),
    ([(512, 16), (520, 8), (512, 4)], 16),  # two ranges are inside the first one
    ([(24, 16), (4, 8), (8, 24)], 40),  # the last one shares bytes with both others
    ([(12, 16), (1000, 16), (24, 16)], 56),  # 12..40 stays, 1000 comes to 40: both are 40 more than a multiple of 64
])  # fmt: skip
def test_constants_that_share_bytes_share_them_in_a_trimmed_file(places: list[tuple[int, int]], trimmed: int, tmp_path: Path) -> None:
    net = Net(f"x: f32[1] -> Result\n{''.join(f'i8=0[{size}] -> Result{chr(10)}' for _, size in places)}")
    for (offset, _), id in zip(places, range(2, 8, 2), strict=True):
        net.layers[id] = re.sub(r'offset="\d+"', f'offset="{offset}"', net.layers[id])
    net.weights[:] = bytes(range(128)) * 8
    trimmed_path = tmp_path / "trimmed.xml"
    irshape.edit(net.save(tmp_path / "net.xml")).write(trimmed_path, trim=True)
    assert trimmed_path.with_suffix(".bin").stat().st_size == trimmed
    one, other = (openvino.compile_model(path, "CPU")([numpy.ones(1, "f4")]) for path in (tmp_path / "net.xml", trimmed_path))
    assert all((one[place] == other[place]).all() for place in range(4))


def test_a_part_computes_what_the_whole_computes(tmp_path: Path) -> None:
    whole = irshape.edit(ATROUS)
    whole.result(whole["atrous/conv"], names="tapped")
    whole.write(tmp_path / "whole.xml")
    graph = irshape.edit(ATROUS)
    target = graph["atrous/conv"]._item
    extract(graph._draft, between(graph._draft, [], [target]), [], [target.outputs[0]])
    graph.write(tmp_path / "part.xml", trim=True)
    image = numpy.random.default_rng(1).random((2, 3, 16, 16), "f4")
    expected = openvino.compile_model(tmp_path / "whole.xml", "CPU")({"image": image})["tapped"]
    found = openvino.compile_model(tmp_path / "part.xml", "CPU")({"image": image})[0]
    assert numpy.allclose(found, expected, atol=1e-5)


# A Reshape reads what a Gather and a Concat make of the shape of another tensor, and this is no input of the part.
COMPUTED = """
    x: f32[?,3,8] -> relu: Relu -> shape: ShapeOf-3(output_type=i64) -> batch: Gather-8([0], 0)
    part: Reshape(data: Sigmoid(relu), target: Concat(batch, [24], axis=0), special_zero=false) -> Result
"""
# The rank is known for all sizes, and so a constant.
RANK = """
    x: f32[?,3,8] -> relu: Relu
    ShapeOf-3(ShapeOf-3(x, output_type=i64), output_type=i64) -> Multiply([8]) -> to: Concat([-1], _, axis=0)
    part: Reshape(relu, to, special_zero=false) -> Result
"""
# Weights that are stored as f16 come with their Convert; a layer that reads an input does not.
STORED = """
    x: f32[?,3] -> relu: Relu
    weights: Convert(f16=1[3,4], destination_type=f32) -> scaled: Multiply(f32=0.5)
    part: MatMul(relu, scaled) -> Result
"""


@pytest.mark.parametrize(("text", "inputs", "taken", "frozen", "kept"), [
    (COMPUTED, {"data", "relu"}, {"shape", "batch", "target"}, [], {"part"}),
    (RANK, {"relu"}, set(), [("to", (-1, 24))], {"part"}),
    (STORED, {"relu"}, set(), [], {"weights", "scaled", "part"}),
], ids=["a shape computation", "what is known for all sizes", "what is computed of constants"])  # fmt: skip
def test_what_is_taken_along(
    text: str, inputs: set[str], taken: set[str], frozen: list[tuple[str, tuple[int, ...]]], kept: set[str]
) -> None:
    net = Net(text)
    graph = irshape.edit(net.xml.encode(), weights=net.bin)
    shape = graph["part"].output.text
    part = extract(graph._draft, [graph["part"]._item])
    assert (set(part.inputs), set(part.taken), part.frozen, part.losses) == (inputs, taken, frozen, [])
    assert graph["part"].output.text == shape and kept <= {layer.name for layer in graph}


def test_layers_that_a_converter_named_go_with_their_readers() -> None:
    """A scale has no name of its own; another one is read by a layer outside, too."""
    graph = irshape.Graph("block")
    x = graph.add("Relu", graph.parameter("x", "[?,3]"), name="stem")
    first = graph.add("Sigmoid", x, name="block/first")
    scale = graph.add("Multiply", graph.add("Multiply", first, 2.0, name="Multiply_10002"), 3.0, name="Multiply_10001")
    second = graph.add("Tanh", scale, name="block/second")
    shared = graph.add("Multiply", second, 2.0, name="Multiply_10003")
    graph.result(graph.add("Add", graph.add("Exp", shared, name="block/third"), shared, name="head"))
    draft = graph._draft
    items = [layer._item for layer in graph if layer.name.startswith("block/")]
    numbered = with_numbered(draft, items) - set(items)
    assert {item.name for item in numbered if item.type != "Const"} == {"Multiply_10001", "Multiply_10002"}


def test_sources_become_inputs_and_keep_their_names() -> None:
    graph = irshape.edit(ATROUS)
    draft = graph._draft
    source, target = graph["stem/relu"].output._value, graph["features"]._item
    part = extract(draft, between(draft, [source], [target]), [source], [target.outputs[0]])
    assert part.inputs == ["stem/relu"] and [tensor.layer.name for tensor in graph.inputs] == ["stem/relu"]
    assert graph.inputs[0].text == "[?,4,1..,1..]" and graph["features"].output.text == "[?,8,2..,2..]"
    assert graph.check().ok


@pytest.mark.parametrize(
    ("sources", "targets", "message"),
    [(["features"], ["stem"], "no layer of the part reads"), ([], ["image"], "no layer of the part computes it")],
)
def test_what_is_no_part_is_refused(sources: list[str], targets: list[str], message: str) -> None:
    graph = irshape.edit(ATROUS)
    draft = graph._draft
    values = [graph[name].output._value for name in sources]
    ends = [graph[name]._item for name in targets]
    with pytest.raises(irshape.EditError, match=message):
        extract(draft, between(draft, values, ends), values, [item.outputs[0] for item in ends])


def test_what_only_a_first_value_needs_is_no_input() -> None:
    """The variable becomes an input, which has no first value."""
    net = Net("x: f32[4]\nx -> ReLU -> t: ReLU -> s: ReadValue-6(variable_id=v, variable_type=f32, variable_shape=[4])\ny: f32[4]\n"
              "s, y -> sum: Add -> a: Assign-6(variable_id=v)\nsum -> Result")  # fmt: skip
    with pytest.raises(irshape.EditError, match="no layer of the part reads ReLU 't', so it cannot be an input"):
        irshape.extract(net.xml.encode(), from_="t", to="sum")
    part = irshape.extract(net.xml.encode(), from_="y", to="sum")
    assert [tensor.layer.name for tensor in part.inputs] == ["y", "s"]


@pytest.mark.parametrize("part", [{"to": "Equal_2812"}, {"from_": "Mod_2809"}, {"around": "Mod_2809"}])
def test_a_part_of_a_body_is_refused(part: dict[str, str]) -> None:
    with pytest.raises(irshape.EditError, match="is a layer in a body; a part has whole bodies"):
        irshape.extract(ROOT / "tests/data/ir/fp16/loop_if_nested_fp16.xml", **part)


def test_an_axis_that_is_known_less_is_named() -> None:
    """The elements of a float tensor are bounds, which no constant and no computation of integers holds."""
    graph = irshape.edit(STATEFUL)
    reader = next(layer for layer in graph if layer.type == "ReadValue")
    part = extract(graph._draft, [layer._item for layer in reader.consumers])
    assert reader.name in part.inputs  # a variable that is read and not assigned is an input
    for loss in part.losses:
        assert loss.because and loss.was != loss.is_now


def test_what_computes_the_first_value_of_a_state_goes_with_the_variable() -> None:
    """The part to `out` does not assign the variable, so the variable is an input; nothing reads `first` and `x` any more."""
    graph = irshape.Graph("state")
    x, old = graph.parameter("x", "[2]"), graph.parameter("old", "[2]")
    graph.result(graph.add("ReLU", old, name="out"))
    graph.result(graph.add("Add", old, x, name="new"))
    graph.stateful({"old": "new"})
    first = graph.add("Sin", x, name="first")
    reader = graph.add("ReadValue", first, version="opset6", variable_id="oldnew", variable_type="f32", variable_shape="2", name="again")
    graph["old"].output.replace_uses(reader)
    graph["old"].remove()
    part = irshape.extract(graph.model(), to="out")
    assert {layer.name for layer in part if layer.type != "Result"} == {"again", "out"} and not part.check().diagnostics
