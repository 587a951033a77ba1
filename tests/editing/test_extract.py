"""Parts of models: OpenVINO reads each, and every tensor has the shape that it has in the whole."""

from pathlib import Path
from random import Random
from typing import Any

import numpy
import openvino
import pytest

import irshape
from irshape.editing.extract import Part, around, between, extract, with_numbered
from tests.support.irs import WITH_WEIGHTS, named
from tests.support.oracle import core_of

ROOT = Path(__file__).parent.parent.parent
ATROUS = ROOT / "examples" / "atrous.xml"
FILES = [path for path in (*WITH_WEIGHTS, *sorted((ROOT / "examples").glob("*.xml"))) if path.stat().st_size < 400_000]


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


def test_a_shape_computation_is_taken_along() -> None:
    """A Reshape reads what a Gather and a Concat make of the shape of another tensor, and this is no input of the part."""
    graph = irshape.Graph("shapes")
    x = graph.parameter("x", "[?,3,8]")
    relu = graph.add("Relu", x, name="relu")
    size = graph.add("Gather", graph.add("ShapeOf", relu, name="shape", output_type="i64"), [0], 0, name="batch")
    graph.add(
        "Reshape",
        graph.add("Sigmoid", relu, name="data"),
        graph.add("Concat", size, [24], axis=0, name="target"),
        special_zero=False,
        name="flat",
    )
    graph.result(graph["flat"])
    graph = irshape.edit(bytes(graph), weights=graph.model().weights)
    part = extract(graph._draft, [graph["flat"]._item])
    assert set(part.inputs) == {"data", "relu"} and set(part.taken) == {"shape", "batch", "target"} and part.losses == []
    assert graph["flat"].output.text == "[?,24]"


def test_values_that_are_known_for_all_sizes_become_constants() -> None:
    graph = irshape.Graph("rank")
    x = graph.parameter("x", "[?,3,8]")
    rank = graph.add("ShapeOf", graph.add("ShapeOf", x, output_type="i64"), name="rank", output_type="i64")
    graph.add(
        "Reshape",
        graph.add("Relu", x, name="relu"),
        graph.add("Concat", [-1], graph.add("Multiply", rank, 8), axis=0, name="to"),
        special_zero=False,
        name="flat",
    )
    graph.result(graph["flat"])
    graph = irshape.edit(bytes(graph), weights=graph.model().weights)
    part = extract(graph._draft, [graph["flat"]._item])
    assert part.frozen == [("to", (-1, 24))] and part.inputs == ["relu"] and graph["flat"].output.text == "[?,24]"


def test_what_is_computed_of_constants_is_taken_along() -> None:
    """Weights that are stored as f16 come with their Convert; a layer that reads an input does not."""
    graph = irshape.Graph("weights")
    x = graph.add("Relu", graph.parameter("x", "[?,3]"), name="relu")
    weights = graph.add("Convert", numpy.ones((3, 4), "f2"), destination_type="f32", name="weights")
    graph.result(graph.add("MatMul", x, graph.add("Multiply", weights, 0.5, name="scaled"), name="product"))
    part = extract(graph._draft, [graph["product"]._item])
    assert part.inputs == ["relu"] and part.outputs == ["product"] and part.taken == [] and part.losses == []
    assert {layer.name for layer in graph} >= {"weights", "scaled", "product"}


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
    [(["features"], ["stem"], "nothing that is kept reads Concat 'features'"), ([], ["image"], "no layer of the part computes it")],
)
def test_what_is_no_part_is_refused(sources: list[str], targets: list[str], message: str) -> None:
    graph = irshape.edit(ATROUS)
    draft = graph._draft
    values = [graph[name].output._value for name in sources]
    ends = [graph[name]._item for name in targets]
    with pytest.raises(irshape.EditError, match=message):
        extract(draft, between(draft, values, ends), values, [item.outputs[0] for item in ends])


@pytest.mark.parametrize("part", [{"to": "Equal_2812"}, {"from_": "Mod_2809"}, {"around": "Mod_2809"}])
def test_a_part_of_a_body_is_refused(part: dict[str, str]) -> None:
    with pytest.raises(irshape.EditError, match="is a layer in a body; a part has whole bodies"):
        irshape.extract(ROOT / "tests/data/ir/fp16/loop_if_nested_fp16.xml", **part)


def test_an_axis_that_is_known_less_is_named() -> None:
    """The elements of a float tensor are bounds, which no constant and no computation of integers holds."""
    graph = irshape.edit(ROOT / "examples" / "decoder_stateful.xml")
    reader = next(layer for layer in graph if layer.type == "ReadValue")
    part = extract(graph._draft, [layer._item for layer in reader.consumers])
    assert reader.name in part.inputs  # a variable that is read and not assigned is an input
    for loss in part.losses:
        assert loss.because and loss.was != loss.is_now
