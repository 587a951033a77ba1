"""Edits inside the bodies of If, Loop and TensorIterator, with their port maps."""

from pathlib import Path

import numpy
import pytest

import irshape
from irshape import EditError, ElementType
from tests.support.edits import RandomEditor, differences
from tests.support.irs import PATHS, named
from tests.support.places import EXAMPLES, IRS

openvino = pytest.importorskip("openvino")
SUMS = EXAMPLES / "sums.xml"
WITH_BODIES = [path for path in PATHS if any(f'type="{type}"'.encode() in path.read_bytes() for type in ("If", "Loop", "TensorIterator"))]


@pytest.fixture
def graph() -> irshape.Graph:
    return irshape.edit(SUMS)


def run(path: Path, *inputs: numpy.ndarray) -> list[numpy.ndarray]:
    """The outputs of a model by OpenVINO."""
    model = openvino.Core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return list(model(list(inputs)).values())


def test_the_body_of_an_operation_in_lower_case_is_inferred_and_edited() -> None:
    """OpenVINO reads the type in any case."""
    text = SUMS.read_text().replace('type="TensorIterator"', 'type="tensoriterator"')
    weights = SUMS.with_suffix(".bin")
    found, expected = (irshape.infer(one.encode(), weights=weights) for one in (text, SUMS.read_text()))
    assert found.ports == expected.ports
    graph = irshape.edit(text.encode(), weights=weights)
    body = graph["sums"].body
    body.add_output(body["sum/next"].output)
    assert list(differences(graph)) == []


@pytest.mark.parametrize("version", ["opset1", "none"])
def test_the_body_of_an_operation_that_is_not_known_is_edited(version: str) -> None:
    """It was written as it had been, and what it holds could not be asked for."""
    text = SUMS.read_text().replace('type="TensorIterator" version="opset1"', f'type="TensorIterator" version="{version}"')
    graph = irshape.edit(text.encode(), weights=SUMS.with_suffix(".bin"))
    body = graph["sums"].body
    assert body["decay"].output.element_type in (ElementType.f32, ElementType.dynamic)
    body["sum/next"].output.replace_uses(body.add("Relu", body["sum/next"]))
    assert "Relu" in {layer.name for layer in irshape.edit(bytes(graph)).model()["sums"].bodies["body"]}
    assert list(differences(graph)) == []


def test_an_input_that_no_edge_leads_to_stays_faulty_where_outputs_are_added() -> None:
    text = SUMS.read_text().replace('<edge from-layer="1" from-port="0" to-layer="2" to-port="1" />', "")
    graph = irshape.edit(text.encode(), weights=SUMS.with_suffix(".bin"))
    body = graph["sums"].body
    body.add_output(body["sum/next"].output)
    assert list(differences(graph)) == []


STEPS = numpy.arange(24, dtype="f4").reshape(2, 3, 4)
BEFORE = numpy.ones((2, 4), "f4")


def sums(steps: numpy.ndarray, before: numpy.ndarray, decay: float = 0.5, offset: float = 0.0) -> list[numpy.ndarray]:
    """What the model computes."""
    found = []
    for index in range(steps.shape[1]):
        before = decay * before + steps[:, index] + offset
        found.append(before)
    return [before, numpy.stack(found, 1)]


def test_layers_of_a_body_are_found(graph: irshape.Graph) -> None:
    body = graph["sums"].body
    assert body["sum/next"].type == "Add" and len(body) == 10 and [tensor.layer.name for tensor in body.inputs] == ["step", "sum"]
    for key in ("2.body/6", "sum/next", "sums / body / sum/next"):  # the ways in which reports name it
        assert graph[key] is body["sum/next"] is body[6] and key in graph
    assert body["6"] is body[6] and graph["2"] is graph["sums"]
    assert graph.tensor("sum/step") is body["sum/step"].output
    assert body["sum/next"] in body and body["sum/next"] not in graph
    for key in ("2.body/77", "3.body/1", "2.cell/1", "sum/nxt"):
        with pytest.raises(KeyError, match="no layer"):
            graph[key]
    with pytest.raises(EditError, match=r"has no body$"):
        print(graph["steps"].body)
    branches = irshape.edit(IRS / "synth" / "if_same.xml")
    layer = next(layer for layer in branches if layer.type == "If")
    assert list(layer.bodies) == ["then_body", "else_body"]
    with pytest.raises(EditError, match="has no body, but bodies: then_body, else_body"):
        print(layer.body)


def test_layers_of_a_body_are_edited(graph: irshape.Graph, tmp_path: Path) -> None:
    source = bytes(graph)
    body = graph["sums"].body
    body["decay"].data = numpy.float32([[2]])
    shifted = body.op.Add(body["sum/next"], 1.0, name="sum/shifted")
    assert body["sum/next"].output.replace_uses(shifted) == 2
    graph["steps"].set(shape="[2,?,4]")
    assert shifted.output.text == "[2,4]" and graph.tensor("last").text == "[2,4]"
    assert str(graph.steps[1]) == "add sums / body / sum/shifted: Add"
    graph.write(tmp_path / "model.xml")
    for found, expected in zip(run(tmp_path / "model.xml", STEPS, BEFORE), sums(STEPS, BEFORE, 2, 1), strict=True):
        assert numpy.allclose(found, expected)
    graph.undo(0)
    assert bytes(graph) == source
    body["sum/decayed"].bypass()
    assert "decay" not in body and body["sum/next"].inputs[0] is body.inputs[1]
    graph.write(tmp_path / "model.xml", force=True)
    assert numpy.allclose(run(tmp_path / "model.xml", STEPS, BEFORE)[0], sums(STEPS, BEFORE, 1)[0])


def test_layers_of_a_body_stay_in_order(graph: irshape.Graph) -> None:
    """The Relu is added last, and comes before a layer that was added before it."""
    body = graph["sums"].body
    tensor = body["sum/decayed"].output
    flat = body.add("Reshape", tensor, [0, -1], special_zero=True)
    back = body.add("Reshape", flat, body.add("ShapeOf", tensor, output_type="i64"), special_zero=False)
    tensor.replace_uses(back)
    flat.output.replace_uses(body.add("Relu", flat))
    assert back.output.element_type is irshape.ElementType.f32
    labels = [item.label for item in body._draft.state.items.values()]
    assert len(set(labels)) == len(labels) and list(differences(graph)) == []


def test_shapes_leave_a_body_and_enter_it(graph: irshape.Graph) -> None:
    body = graph["sums"].body
    pooled = body.op.ReduceSum(body["sum/step"], [2], keep_dims=True)
    body["sum/step"].output.replace_uses(pooled)
    assert graph.tensor("all").text == "[?,?,1]"
    body["sum/next"].connect(1, numpy.ones((1, 3), "f4"))
    assert [fault.code for fault in body["sum/next"].faults] == ["S202"]
    assert not graph.check().ok and graph.check().diagnostics[0].where.path == "sums / body"
    assert list(differences(graph)) == []


def test_ports_come_with_their_entries(graph: irshape.Graph, tmp_path: Path) -> None:
    source, body = bytes(graph), graph["sums"].body
    weights = body.add_input(graph.parameter("weights", "[?,?,4]"), name="weight", axis=1)
    assert weights.text == "[?,1,4]"
    scaled = body.op.Multiply(body["step/flat"], body.op.Squeeze(weights, [1]))
    body["sum/next"].connect(1, scaled)
    graph.result(body.add_output(body.op.Unsqueeze(scaled, [1]), axis=1), names="scaled")
    product = body.add_input(graph.parameter("one", "[?,4]"), name="product")
    grown = body.op.Multiply(product, 2.0)
    body.feed_back(grown, to=product)
    graph.result(body.add_output(grown), names="grown")
    assert graph.check().ok and list(differences(graph)) == []
    assert [len(graph["sums"].inputs), len(graph["sums"].outputs)] == [4, 4]
    assert "add input sums: to the body from weights" in map(str, graph.steps)
    graph.write(tmp_path / "model.xml")
    found = run(tmp_path / "model.xml", STEPS, BEFORE, STEPS + 1, BEFORE)
    for ours, expected in zip(found, [*sums(STEPS * (STEPS + 1), BEFORE), STEPS * (STEPS + 1), BEFORE * 8], strict=True):
        assert numpy.allclose(ours, expected)
    again = irshape.edit(tmp_path / "model.xml")
    assert [(one.layer.name, one.text) for one in again.outputs] == [(one.layer.name, one.text) for one in graph.outputs]
    graph.undo(0)
    assert bytes(graph) == source and len(graph["sums"].inputs) == 2


def test_ports_go_with_their_entries(graph: irshape.Graph, tmp_path: Path) -> None:
    source, body = bytes(graph), graph["sums"].body
    with pytest.raises(EditError, match="Result 'last/result' reads output 0 of TensorIterator 'sums': replace its uses first"):
        body["sum/back"].remove()
    assert bytes(graph) == source and not graph.steps
    graph["last/result"].remove()
    with pytest.raises(EditError, match="'sum/decayed' reads Parameter 'sum'"):
        body["sum"].remove()
    body["sum/back"].remove()  # and with it the way back to sum
    assert len(graph["sums"].outputs) == 1 and graph.tensor("all").text == "[?,?,4]"
    body["sum/next"].connect(0, body["step/flat"])
    body.prune()
    body["sum"].remove()
    graph["sum_before"].remove()
    assert [tensor.layer.name for tensor in graph["sums"].inputs] == ["steps"]
    assert graph.check().ok and list(differences(graph)) == []
    text = bytes(graph).decode()
    assert '<edge from-layer="8"' not in text and 'external_port_id="1"' not in text
    graph.write(tmp_path / "model.xml")
    assert numpy.allclose(run(tmp_path / "model.xml", STEPS)[0], STEPS * 2)
    graph.undo(0)
    assert bytes(graph) == source


def test_inputs_behind_one_that_goes_keep_their_tensors(graph: irshape.Graph, tmp_path: Path) -> None:
    body = graph["sums"].body
    body["sum/next"].connect(1, body["sum"])
    body.prune()
    body["step"].remove()
    body["sum/next"].connect(1, body.op.Squeeze(body.add_input(graph["steps"], axis=1), [1]))
    assert [tensor.layer.name for tensor in graph["sums"].inputs] == ["sum_before", "steps"]
    graph.write(tmp_path / "model.xml")
    assert numpy.allclose(run(tmp_path / "model.xml", STEPS, BEFORE)[0], sums(STEPS, BEFORE)[0])


def test_ports_of_an_if(tmp_path: Path) -> None:
    graph = irshape.edit(IRS / "synth" / "if_same.xml")
    source = bytes(graph)
    layer = next(layer for layer in graph if layer.type == "If")
    then, other = layer.bodies.values()
    data = graph.parameter("data", "[2,?]")
    ours, theirs = then.add_input(data), other.add_input(data)
    assert len([one for one in layer.inputs if one is data]) == 1  # both bodies read one input
    new = then.add_output(then.op.Relu(ours), other.op.Negative(theirs))
    graph.result(new, names="data out")
    assert new.text == "[2,?]" and graph.check().ok and list(differences(graph)) == []
    graph.write(tmp_path / "model.xml")
    openvino.Core().compile_model(tmp_path / "model.xml", "CPU")
    with pytest.raises(EditError, match=r"either body of If .* must give the output: otherwise= is the tensor of the else_body"):
        then.add_output(ours)
    with pytest.raises(EditError, match="belongs to another graph"):
        then.add_output(ours, ours)
    with pytest.raises(EditError, match="run once"):
        then.feed_back(ours, to=ours)
    with pytest.raises(EditError, match="run once"):
        then.add_input(data, axis=0)
    reader = new.readers[0][0]
    reader.remove()
    next(one for one in other if one.type == "Result" and one.name.startswith("Negative")).remove()
    assert len(layer.outputs) == 1 and not any(one.name.startswith("Relu/result") for one in then)
    graph.undo(0)
    assert bytes(graph) == source


def test_what_makes_no_body_is_refused(graph: irshape.Graph) -> None:
    body = graph["sums"].body
    for edit, message in (
        (lambda: body.add_output(graph["steps"]), "belongs to another graph"),
        (lambda: graph.result(body["sum/next"]), "belongs to another graph"),
        (lambda: body.add_input(graph["steps"], start=1), "start needs the axis that is cut into parts"),
        (lambda: body.add_input(graph["steps"], axes=1), "an entry of a port map has no 'axes'; it has axis, start"),
        (lambda: body.add_input(graph["steps"], axis=3), "a tensor of rank 3 has no axis 3"),
        (lambda: body.feed_back(body["sum/next"], to=body["step"]), "takes a slice of an input in each iteration"),
        (lambda: body.feed_back(body["sum/next"], to=body["step/flat"]), "takes no input of TensorIterator 'sums'"),
        (lambda: body.add_output(body["sum/next"], body["sum/next"]), "has one body, and otherwise= is for an If"),
        (lambda: body.add_input(graph.tensor("all")), "would depend on itself"),
        (lambda: graph.add("Loop", 1, True), "cannot make a layer with bodies"),
    ):
        with pytest.raises(EditError, match=message):
            edit()
    assert not graph.steps
    graph["all/result"].remove()
    graph["sums"].remove(cascade=True)
    with pytest.raises(EditError, match="is removed"):
        body["decay"].rename("x")
    with pytest.raises(EditError, match="is removed"):
        body.add_input(graph["steps"])
    loop = irshape.edit(IRS / "synth" / "loop_cond.xml")
    holder = next(layer for layer in loop if layer.type == "Loop")
    condition = holder.body._draft.holder.base.bodies["body"]  # type: ignore[union-attr]
    assert condition.results
    purposes = [entry for entry in holder._item.port_maps or () if entry.attributes.get("purpose") == "execution_condition"]
    with pytest.raises(EditError, match="is the condition of Loop"):
        holder.body[int(purposes[0].attributes["internal_layer_id"])].remove()


def test_names_of_outputs_follow_beside_those_of_tensors(graph: irshape.Graph, tmp_path: Path) -> None:
    """OpenVINO takes the names of an output from its Result, if the file states them there."""
    graph.tensor("last").names = ["final"]
    every = graph.tensor("all")
    every.replace_uses(graph.op.Relu(every))
    graph.write(tmp_path / "model.xml")
    model = openvino.Core().read_model(tmp_path / "model.xml")
    assert [port.get_names() for port in model.outputs] == [{"final"}, {"all"}]
    assert [port.names for port in graph.outputs] == [["final"], ["all"]]


@pytest.mark.parametrize("path", WITH_BODIES, ids=named)
def test_random_edits_of_bodies(path: Path) -> None:
    graph = irshape.edit(path)
    source = path.read_bytes()
    for seed in range(3):
        RandomEditor(graph, seed).edit(20)
        assert list(differences(graph)) == []
        graph.undo(0)
        assert bytes(graph) == source and list(differences(graph)) == []


def test_weights_are_trimmed_with_those_of_bodies(graph: irshape.Graph, tmp_path: Path) -> None:
    graph["sums"].body["decay"].data = numpy.float32([[3]])
    graph.write(tmp_path / "small.xml", trim=True)
    assert numpy.allclose(run(tmp_path / "small.xml", STEPS, BEFORE)[0], sums(STEPS, BEFORE, 3)[0])
    assert irshape.check(tmp_path / "small.xml").ok
