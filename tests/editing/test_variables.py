"""State: variables are made and unmade as OpenVINO does, and the models compute the same step by step."""

from pathlib import Path

import numpy
import openvino
import pytest
from openvino._offline_transformations import apply_make_stateful_transformation

import irshape
from irshape.cli.main import main
from tests.support.irs import WITH_WEIGHTS
from tests.support.oracle import core_of

ROOT = Path(__file__).parent.parent.parent
DECODER, STATEFUL = ROOT / "examples" / "decoder.xml", ROOT / "examples" / "decoder_stateful.xml"
PAIRS = {"past.key": "present.key", "past.value": "present.value"}


def state_of(model: openvino.Model) -> dict[str, tuple[str, str]]:
    """The variables of a model, each with its type and shape."""
    infos = {op.get_variable_id(): op for op in model.get_ops() if op.get_type_name() == "ReadValue"}
    return {id: (op.output(0).element_type.get_type_name(), str(op.output(0).partial_shape)) for id, op in infos.items()}


def test_a_model_becomes_stateful_as_with_openvino(tmp_path: Path) -> None:
    graph = irshape.edit(DECODER)
    graph.stateful(PAIRS)
    assert graph.check().diagnostics == []
    graph.write(tmp_path / "own.xml")
    core = openvino.Core()
    own, theirs = core.read_model(tmp_path / "own.xml"), core.read_model(DECODER)
    apply_make_stateful_transformation(theirs, PAIRS)
    assert state_of(own) == state_of(theirs) and len(own.get_sinks()) == len(theirs.get_sinks()) == 2
    assert [port.get_names() for port in (*own.inputs, *own.outputs)] == [port.get_names() for port in (*theirs.inputs, *theirs.outputs)]
    openvino.save_model(theirs, tmp_path / "theirs.xml", compress_to_fp16=False)
    assert irshape.diff(tmp_path / "own.xml", tmp_path / "theirs.xml").summary == "4 layers renamed"
    graph.undo(0)
    assert bytes(graph) == DECODER.read_bytes()


def test_variables_become_inputs_and_outputs() -> None:
    graph = irshape.edit(STATEFUL)
    assert graph.stateless() == PAIRS and graph.check().diagnostics == []
    assert {tensor.names[0]: tensor.text for tensor in graph.inputs} == {
        "input_ids": "[?,?]",
        "attention_mask": "[?,?]",
        "past.value": "[?,2,?,4]",
        "past.key": "[?,2,?,4]",
    }
    assert [tensor.layer.name for tensor in graph.inputs][2:] == ["past.value", "past.key"]
    assert not {layer.type for layer in graph} & {"ReadValue", "Assign"}
    graph.stateful(PAIRS)
    assert irshape.diff(STATEFUL, graph.model()).is_same


def test_both_forms_compute_the_same(tmp_path: Path) -> None:
    graph = irshape.edit(DECODER)
    for name in PAIRS:
        graph[name].set(shape="[1,2,?,4]")  # OpenVINO begins with a state of no elements on open axes
    graph.stateful(PAIRS)
    graph.write(tmp_path / "stateful.xml")
    again = irshape.edit(tmp_path / "stateful.xml")
    again.stateless()
    again.write(tmp_path / "stateless.xml")
    core = openvino.Core()
    exact = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32"}
    stateless = core.compile_model(tmp_path / "stateless.xml", "CPU", exact)
    request = core.compile_model(tmp_path / "stateful.xml", "CPU", exact).create_infer_request()
    past = {name: numpy.zeros((1, 2, 0, 4), "f4") for name in PAIRS}
    for step in range(3):
        ids, mask = numpy.array([[step + 1, 5]]), numpy.ones((1, 2 * step + 2), "i8")
        feed = {"input_ids": ids.astype("i8"), "attention_mask": mask.astype("i8")}
        outputs = stateless({**feed, **past})
        past = {name: outputs[output] for name, output in PAIRS.items()}
        request.infer(feed)
        assert numpy.allclose(request.get_tensor("logits").data, outputs["logits"], atol=1e-5)


def test_first_values_go_with_their_variable() -> None:
    graph = irshape.Graph("counter")
    first = graph.add("Multiply", numpy.ones((1, 3), "f4"), 2.0, name="first")
    value = {"variable_id": "count", "variable_type": "f32", "variable_shape": "[1,3]"}
    count = graph.add("ReadValue", first, version="opset6", name="count", **value)
    total = graph.add("Add", count, graph.parameter("x", "[1,3]"), name="total")
    graph.add("Assign", total, version="opset6", variable_id="count", name="next")
    graph.result(total, names="y")
    assert graph.stateless() == {"count": "y"}
    assert "first" not in graph and [tensor.names for tensor in graph.outputs] == [["y"], ["y"]]


def test_names_that_are_no_ends_are_refused() -> None:
    graph = irshape.edit(DECODER)
    for pairs, message in (
        ({"past.ky": "present.key"}, "the model has no input 'past.ky'; did you mean 'past.key'?"),
        ({"past.key": "logit"}, "the model has no output 'logit'; did you mean 'logits'?"),
        ({"past.key": "present.key", "past.value": "present.key"}, "can be an end of one variable only"),
    ):
        with pytest.raises(irshape.EditError, match=message.replace("?", r"\?")):
            graph.stateful(pairs)
    assert graph.steps == [] and bytes(graph) == DECODER.read_bytes()


def test_variables_of_bodies_stay() -> None:
    paths = [path for path in WITH_WEIGHTS if b"<body" in (text := path.read_bytes()) and b'"ReadValue"' in text]
    for path in paths:
        model = irshape.read(path)
        if any(graph.holder is not None and graph.of_type("ReadValue") for graph in model.graphs()):
            with pytest.raises(irshape.EditError, match="has a variable in its body"):
                irshape.edit(path).stateless()


def test_real_models_change_their_form_and_back(tmp_path: Path) -> None:
    stateful = [path for path in WITH_WEIGHTS if irshape.read(path).of_type("ReadValue") and irshape.check(path).ok]
    assert stateful
    for path in stateful:
        graph = irshape.edit(path)
        names = graph.stateless()
        if not graph.check().ok:
            continue
        graph.write(tmp_path / "stateless.xml", force=True)
        core = core_of(path.read_bytes())
        read = core.read_model(tmp_path / "stateless.xml")
        assert not read.get_sinks() and {*names} <= {name for port in read.inputs for name in port.get_names()}
        if len({*names.values()}) == len(names):
            graph.stateful(names)
            graph.write(tmp_path / "stateful.xml", force=True)
            assert len(core.read_model(tmp_path / "stateful.xml").get_sinks()) == len(names)


def test_the_command_line_makes_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = str(tmp_path / "stateful.xml"), str(tmp_path / "stateless.xml")
    edits = [word for pair in PAIRS.items() for word in ("--stateful", "=".join(pair))]
    assert main(["edit", str(DECODER), *edits, "-o", one]) == 0
    assert main(["edit", one, "--stateless", "--rename", "past.key=cache", "-o", other]) == 0
    assert "cache" in {node.name for node in irshape.read(other).parameters} and irshape.check(other).ok
    capsys.readouterr()
    assert main(["edit", str(DECODER), "--stateful", "past.key"]) == 2
    assert "--stateful past.key: the form is INPUT=OUTPUT" in capsys.readouterr().err
