"""Simplified models: only layers go that the outputs do not need, and OpenVINO knows and computes the same."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy
import pytest

import irshape
from tests.support.ir import Net
from tests.support.irs import WITH_WEIGHTS, named
from tests.support.oracle import core_of
from tests.support.places import EXAMPLES

FILES = [path for path in (*WITH_WEIGHTS, *sorted(EXAMPLES.glob("*.xml"))) if path.stat().st_size < 400_000]


def bounds_of(model: Any) -> dict[tuple[str, int], tuple[str, Any]]:
    """OpenVINO's type and shape of each tensor that a layer computes, by the name of the layer."""
    return {
        (op.get_friendly_name(), output.get_index()): (output.get_element_type().get_type_name(), output.get_partial_shape())
        for op in model.get_ops()
        if op.get_type_name() not in ("Parameter", "Constant", "Result")
        for output in op.outputs()
    }


def ends(model: Any) -> list[tuple[Any, ...]]:
    """The inputs and outputs of a model, as OpenVINO names them."""
    return [
        (port.get_names(), port.get_element_type().get_type_name(), port.get_partial_shape()) for port in (*model.inputs, *model.outputs)
    ]


@pytest.mark.parametrize("path", FILES, ids=named)
def test_openvino_knows_no_less_of_a_simplified_model(path: Path, tmp_path: Path) -> None:
    core = core_of(path.read_bytes())
    try:
        whole = core.read_model(path)
        graph = irshape.edit(path)
    except (RuntimeError, irshape.EditError):
        pytest.skip("OpenVINO does not read the file, or it is no whole IR")
    steps = graph.simplify()
    assert len(steps) <= len(graph.steps) and all(step.reason and step.layer for step in steps)
    graph.write(tmp_path / "simple.xml", force=True, trim=True)
    simple = core.read_model(tmp_path / "simple.xml")
    assert ends(simple) == ends(whole)
    before = bounds_of(whole)
    for key, (element_type, shape) in bounds_of(simple).items():
        if key in before:
            assert element_type == before[key][0] and before[key][1].relaxes(shape), key
    graph.undo(0)
    assert bytes(graph) == path.read_bytes()


def shape_graph() -> irshape.Graph:
    """A graph that reads its own shape."""
    graph = irshape.Graph("shapes")
    graph.parameter("x", "[?,3,8]")
    return graph


def test_a_shape_computation_becomes_a_constant() -> None:
    graph = shape_graph()
    x = graph.inputs[0]
    shape = graph.add("ShapeOf", x, name="shape", output_type="i64")
    channels = graph.add("Gather", shape, [1, 2], 0, name="channels")
    length = graph.add("ReduceProd", channels, [0], keep_dims=True, name="length")
    graph.result(
        graph.add("Reshape", x, graph.add("Concat", [-1], length, axis=0, name="to"), special_zero=False, name="flat"), names="out"
    )
    steps = graph.simplify()
    assert [(step.rule, step.type, step.layer) for step in steps] == [
        ("fold", "Concat", "to"),
        ("fold", "ReduceProd", "length"),
        ("fold", "Gather", "channels"),
        ("dead", "ShapeOf", "shape"),
    ]
    assert steps[0].reason == "its value is [-1, 24] for every input" and str(steps[3]).startswith("dead ShapeOf shape: ")
    assert graph["to"].type == "Const" and graph["to"].data.tolist() == [-1, 24] and graph["flat"].output.text == "[?,24]"
    assert Counter(layer.type for layer in graph) == {"Parameter": 1, "Const": 1, "Reshape": 1, "Result": 1}
    assert graph.simplify() == []


def test_a_split_of_sizes_becomes_constants() -> None:
    graph = irshape.Graph()
    x = graph.parameter("x", "[1,6,4]")
    batch, *rest = graph.add("Split", graph.add("ShapeOf", x, output_type="i64"), 0, num_splits=3, name="sizes").outputs
    target = graph.add("Concat", batch, graph.add("Multiply", *rest), axis=0, name="to")
    graph.result(graph.add("Reshape", x, target, special_zero=False), names="out")
    graph.result(batch, names="batch")
    told = {step.layer: step.reason for step in graph.simplify()}
    assert told["sizes"] == "its values are [1], [6], [4] for every input"
    assert Counter(layer.type for layer in graph) == {"Parameter": 1, "Const": 2, "Reshape": 1, "Result": 2}
    assert [(one.data.tolist(), list(one.output.names)) for one in graph if one.type == "Const"] == [([1], ["batch"]), ([1, 24], [])]


def test_values_that_no_rule_reads_are_folded_too() -> None:
    """Only an Add reads the number of rows, and its rule reads no elements."""
    graph = irshape.Graph("rows")
    x = graph.parameter("x", "[4,?]")
    rows = graph.add("Convert", graph.add("Gather", graph.add("ShapeOf", x, output_type="i64"), 0, 0), destination_type="f32")
    graph.result(graph.add("Add", x, rows))
    assert [step.type for step in graph.simplify()] == ["Convert", "Gather", "ShapeOf"]
    assert next(layer for layer in graph if layer.type == "Const").data == 4.0


def test_an_output_that_is_known_keeps_its_name() -> None:
    graph = shape_graph()
    rank = graph.add("ShapeOf", graph.add("ShapeOf", graph.inputs[0], output_type="i64"), name="rank", output_type="i32")
    graph.result(rank, names="rank_of_x")
    graph.simplify()
    assert graph.outputs[0].layer.type == "Const" and graph.outputs[0].layer.name == "rank" and graph.outputs[0].names == ["rank_of_x"]


def test_what_holds_on_a_premise_only_stays() -> None:
    """N*5 // N is 5 unless N is 0, which OpenVINO accepts."""
    graph = irshape.Graph("premise")
    x = graph.parameter("x", "[?,5]")
    shape = graph.add("ShapeOf", x, output_type="i64")
    rows, columns = graph.add("Gather", shape, [0], 0), graph.add("Gather", shape, [1], 0)
    quotient = graph.add("Divide", graph.add("Multiply", rows, columns), rows, name="quotient")
    graph.result(graph.add("Reshape", x, graph.add("Concat", [-1], quotient, axis=0), special_zero=False, name="same"))
    assert {guard.is_premise for guard in graph.check().guards} == {True}
    assert [step.layer for step in graph.simplify()] == [columns.name] and "same" in graph and "quotient" in graph


NO_OPS: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "type": ("Convert", (), {"destination_type": "f32"}),
    "shape": ("Reshape", ([0, 0, 8],), {"special_zero": True}),
    "order": ("Transpose", ([0, 1, 2],), {}),
    "pads": ("Pad", ([0, 0, 0], [0, 0, 0], 0.0), {"pad_mode": "constant"}),
    "slice": ("Slice", ([0], [9], [1], [2]), {}),
    "strides": ("StridedSlice", ([0, 0], [0, 3], [1, 1]), {"begin_mask": (0, 0), "end_mask": (1, 0)}),
    "tile": ("Tile", ([1, 1, 1],), {}),
    "broadcast": ("Broadcast", ([1, 3, 1],), {"mode": "bidirectional"}),
    "split": ("Split", (1,), {"num_splits": 1}),
    "concat": ("Concat", (), {"axis": 1}),
}


@pytest.mark.parametrize("name", NO_OPS)
def test_a_layer_that_changes_nothing_goes(name: str) -> None:
    type, operands, attributes = NO_OPS[name]
    graph = shape_graph()
    relu = graph.add("Relu", graph.inputs[0])
    graph.result(graph.add("Abs", graph.add(type, relu, *operands, name="same", **attributes), name="abs"))
    assert [(step.rule, step.layer) for step in graph.simplify()] == [("no-op", "same")]
    assert graph["abs"].producers == [relu] and len(graph) == 4


CHANGING: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "type": ("Convert", (), {"destination_type": "f16"}),
    "shape": ("Reshape", ([0, 8, 3],), {"special_zero": True}),
    "order": ("Transpose", ([0, 2, 1],), {}),
    "shift": ("Pad", ([0, 1, 0], [0, -1, 0], 0.0), {"pad_mode": "constant"}),
    "reverse": ("Slice", ([-1], [-100], [-1], [2]), {}),
    "back": ("StridedSlice", ([0, 0, 0], [0, 0, 0], [1, 1, -1]), {"begin_mask": (1, 1, 1), "end_mask": (1, 1, 1)}),
    "roll": ("Roll", ([1], [1]), {}),
    "broadcast": ("Broadcast", ([2, 3, 8],), {"mode": "bidirectional"}),
}


@pytest.mark.parametrize("name", CHANGING)
def test_a_layer_that_changes_something_stays(name: str) -> None:
    type, operands, attributes = CHANGING[name]
    graph = shape_graph()
    graph.result(graph.add("Abs", graph.add(type, graph.add("Relu", graph.inputs[0]), *operands, name="other", **attributes)))
    graph.simplify()
    assert "other" in graph


def test_names_of_inputs_and_outputs_stay() -> None:
    """A layer between an input and an output gives both of them a name of their own."""
    graph = shape_graph()
    graph.result(graph.add("Convert", graph.inputs[0], destination_type="f32", name="between"), names="y")
    relu = graph.add("Relu", graph.inputs[0])
    graph.result(graph.add("Convert", relu, destination_type="f32"), names="z")
    assert [step.rule for step in graph.simplify()] == ["no-op"]
    assert [tensor.names for tensor in graph.outputs] == [["y"], ["z"]] and "between" in graph
    assert graph.inputs[0].names == ["x"] and graph.outputs[1].layer is relu


def test_dead_layers_and_rules_of_choice() -> None:
    graph = shape_graph()
    relu = graph.add("Relu", graph.inputs[0], name="relu")
    graph.add("Sigmoid", graph.add("Convert", relu, destination_type="f32", name="same"), name="aside")
    graph.result(relu)
    with pytest.raises(irshape.EditError, match="there is no rule 'noop'; there are fold, branch, no-op, dead"):
        graph.simplify("noop")
    assert graph.simplify(only=["fold", "no-op"]) == [] and "aside" in graph
    assert [step.layer for step in graph.simplify("dead")] == ["aside", "same"]
    assert [str(step).partition(":")[0] for step in graph.steps[-2:]] == ["dead aside", "dead same"]


def test_compressed_weights_stay_compressed() -> None:
    graph = shape_graph()
    weights = graph.add("Convert", numpy.ones((8, 4), "f2"), destination_type="f32", name="weights")
    graph.result(graph.add("MatMul", graph.inputs[0], weights))
    assert graph.simplify() == []


def body_graph(is_assumed: bool) -> irshape.Graph:
    """A TensorIterator whose body has layers that it does not need; perhaps its shapes hold on a premise only."""
    graph = irshape.edit(EXAMPLES / "sums.xml")
    body, start = graph["sums"].body, graph.inputs[1]
    decay, decayed = body["decay"].output, body["sum/decayed"].output
    shape = body.add("ShapeOf", decay, output_type="i64", name="shape")
    decay.replace_uses(body.add("Reshape", decay, shape, special_zero=False, name="shaped"))
    decayed.replace_uses(body.add("Convert", decayed, destination_type="f32", name="same"))
    body.add("Relu", decayed, name="unread")
    if is_assumed:
        size = graph.add("ShapeOf", start, output_type="i64")
        rows, columns = graph.add("Gather", size, [0], 0), graph.add("Gather", size, [1], 0)
        quotient = graph.add("Divide", graph.add("Multiply", rows, columns), rows)
        target = graph.add("Concat", rows, quotient, axis=0)
        start.replace_uses(graph.add("Reshape", start, target, special_zero=False), only=[graph["sums"]])
    return irshape.edit(bytes(graph), weights=graph.model().weights)


def test_bodies_are_simplified() -> None:
    graph = body_graph(is_assumed=False)
    steps = [(step.rule, step.layer) for step in graph.simplify()]
    assert steps == [
        ("fold", "sums / body / shape"),
        ("no-op", "sums / body / shaped"),
        ("no-op", "sums / body / same"),
        ("dead", "sums / body / unread"),
    ]
    assert irshape.compare(body_graph(is_assumed=False), graph).is_same
    graph.undo(0)
    assert bytes(graph) == bytes(body_graph(is_assumed=False))


def test_bodies_behind_a_premise_stay() -> None:
    graph = body_graph(is_assumed=True)
    assert [step for step in graph.simplify() if " / " in step.layer] == []


def test_layers_whose_bodies_assign_variables_are_not_dead() -> None:
    paths = [path for path in WITH_WEIGHTS if b"<body" in path.read_bytes() and b'"Assign"' in path.read_bytes()]
    for path in paths:
        graph = irshape.edit(path)
        before = bytes(graph).count(b'type="Assign"')
        graph.simplify()
        assert bytes(graph).count(b'type="Assign"') == before


@pytest.mark.parametrize("path", [path for path in FILES if path.parent.name != "ops"][::5], ids=named)
def test_openvino_computes_the_same(path: Path) -> None:
    try:
        graph = irshape.edit(path)
        if graph.simplify():
            assert irshape.compare(path, graph).is_same
    except (irshape.RunningError, irshape.EditError) as error:
        pytest.skip(str(error))


def test_a_constant_without_an_output_is_no_trouble() -> None:
    net = Net("x: f32[1,3,2]\nx, [1,6] -> Reshape(special_zero=false) -> Result")
    before, const, behind = net.xml.partition('type="Const"')
    text = before + const + behind[: behind.index("<output>")] + behind[behind.index("</output>") + len("</output>") :]
    assert irshape.edit(text.encode(), weights=net.bin).simplify() == []


def test_a_layer_stays_whose_edge_may_be_the_right_one() -> None:
    """Of two edges to one input, a draft has one: without the layer at the other one, the file would look sound."""
    net = Net("x: f32[2]\na: Sigmoid(x)\nb: Tanh(x)\na -> ReLU -> Result")
    net.edges.append(net.edges[-2].replace('from-layer="1"', 'from-layer="2"'))
    for change in (lambda: irshape.edit(net.xml).simplify(), lambda: irshape.extract(net.xml, to="a")):
        with pytest.raises(irshape.EditError, match=r"input port 0 of layer 3 is fed by two edges, so .* remove one of the two edges"):
            change()
