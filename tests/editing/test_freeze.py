"""Inputs that become constants: the model computes what it computed for this value, and layers for other values are gone."""

from pathlib import Path
from typing import Any

import numpy
import openvino
import pytest
from openvino._offline_transformations import apply_make_stateful_transformation

import irshape
from irshape.cli.main import main
from tests.support.ir import Net
from tests.support.irs import WITH_WEIGHTS
from tests.support.oracle import core, core_of
from tests.support.places import DECODER, EXAMPLES, IRS, STATEFUL

VOICE = EXAMPLES / "voice.xml"

# A model, the input that is frozen, its value, and the number of Ifs that are left.
FROZEN = [
    (VOICE, "sr", 16000, 1),
    (VOICE, "sr", 8000, 1),
    (VOICE, "sr", 1, 1),
    (IRS / "synth" / "if_same.xml", "c", True, 0),
    (IRS / "synth" / "if_same.xml", "c", False, 0),
    (IRS / "synth" / "if_diff_dim.xml", "c", True, 0),
    (IRS / "synth" / "if_diff_dim.xml", "c", False, 0),
    (IRS / "tensorflow" / "case_nested_if.xml", "b", 0, 0),
    (IRS / "tensorflow" / "case_nested_if.xml", "b", 1, 0),
    (IRS / "tensorflow" / "case_nested_if.xml", "b", 2, 0),
    (IRS / "tensorflow" / "cond_same.xml", "p", True, 0),
    (IRS / "tensorflow" / "cond_same.xml", "p", False, 0),
]


def numbers(path: Path, feeds: dict[str, Any]) -> list[Any]:
    """The outputs that OpenVINO computes."""
    model = core().compile_model(core().read_model(path), "CPU")
    known = {name for port in model.inputs for name in port.get_names()}
    found = model({name: value for name, value in feeds.items() if name in known})
    return [found[port] for port in model.outputs]


@pytest.mark.parametrize(("path", "name", "value", "left"), FROZEN, ids=str)
def test_openvino_computes_the_same(path: Path, name: str, value: Any, left: int, tmp_path: Path) -> None:
    graph = irshape.edit(path)
    inputs = {tensor.names[0]: tensor for tensor in graph.inputs}
    types = {"f32": "f4", "boolean": "?", "i64": "i8", "i32": "i4"}
    random = numpy.random.default_rng(0)
    feeds = {
        key: random.random([size if isinstance(size, int) else 512 if axis else 1 for axis, size in enumerate(tensor.shape or ())])
        .astype("f4")
        .astype(types[tensor.element_type.name])
        for key, tensor in inputs.items()
    }
    feeds[name] = numpy.array(value, types[inputs[name].element_type.name])
    steps = graph.freeze(name, value)
    assert all(step.rule in ("fold", "branch") and step.reason for step in steps) and graph.check().ok
    graph.write(tmp_path / "frozen.xml", trim=True)
    frozen = irshape.read(tmp_path / "frozen.xml")
    assert len(frozen.parameters) == len(inputs) - 1 and len(list(frozen.nodes)) < len(irshape.read(path).nodes) + 40
    assert sum(node.type == "If" for node in frozen) == left
    before, after = core().read_model(path), core().read_model(tmp_path / "frozen.xml")
    assert [port.get_names() for port in before.outputs] == [port.get_names() for port in after.outputs]
    for one, other in zip(numbers(path, feeds), numbers(tmp_path / "frozen.xml", feeds), strict=True):
        numpy.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    graph.undo()
    assert bytes(graph) == path.read_bytes()


def test_each_step_has_its_reason() -> None:
    graph = irshape.edit(VOICE)
    assert [str(step) for step in graph.freeze("sr", 8000)] == [
        "fold Equal aten::eq/Equal: its value is [False] for every input",
        "fold Parameter prim::If/If / else_body / Parameter_179: it always takes the constant sr",
        "fold Equal prim::If/If / else_body / aten::eq/Equal_1: its value is [True] for every input",
        "branch If prim::If/If / else_body / prim::If/If_2: its condition is true for every input: the layers of its then_body stand in its place",  # noqa: E501
        "branch If prim::If/If: its condition is false for every input: the layers of its else_body stand in its place",
    ]
    assert [tensor.names for tensor in graph.inputs] == [["input"], ["state"]]


def test_the_branch_that_is_left_is_folded_with_the_sizes(tmp_path: Path) -> None:
    """The If that moves out of the branch has bodies, which can be edited and simplified where it stands."""
    graph = irshape.edit(VOICE)
    graph.freeze("sr", 16000)
    graph["input"].set(shape="[1,1024]")
    assert next((step.rule, step.type) for step in graph.simplify("branch")) == ("branch", "If")
    assert graph.check().ok and not [layer for layer in graph if layer.type == "If"]
    graph.write(tmp_path / "fixed.xml")
    feeds = {"input": numpy.ones((1, 1024), "f4"), "state": numpy.ones((1, 4), "f4"), "sr": numpy.array(16000)}
    for one, other in zip(numbers(VOICE, feeds), numbers(tmp_path / "fixed.xml", feeds), strict=True):
        numpy.testing.assert_allclose(one, other, rtol=1e-5)


def test_only_what_depends_on_the_input_changes() -> None:
    graph = irshape.Graph("net")
    x, n = graph.parameter("x", "[2,3]"), graph.parameter("n", "[]", "i64")
    graph.result(graph.add("Convert", graph.add("ShapeOf", x, output_type="i64", name="shape"), destination_type="f32", name="sizes"))
    graph.result(graph.add("Add", n, 1, name="next"), names="next")
    assert [(step.rule, step.layer) for step in graph.freeze("n", 4)] == [("fold", "next")]
    assert "shape" in graph and graph["next"].data == 5 and graph.outputs[1].names == ["next"]


# The element type and the shape of an input, the text of a value, and the complaint; empty for a value that fits.
VALUES = [
    ("i64", "[]", "16000", ""),
    ("i64", "[]", "16000.0", ""),
    ("i64", "[]", "0.5", "i64 holds integers only"),
    ("i64", "[]", "9223372036854775807", ""),
    ("i64", "[]", "9223372036854775808", "i64 holds integers from -9223372036854775808 to 9223372036854775807"),
    ("i8", "[2]", "[127,-128]", ""),
    ("i8", "[2]", "[127,128]", "i8 holds integers from -128 to 127"),
    ("u8", "[]", "-1", "u8 holds integers from 0 to 255"),
    ("u64", "[]", "18446744073709551615", ""),
    ("i64", "[]", "true", "expected a number, found true"),
    ("i64", "[]", "fast", "'fast' is not a value of this type: give a number, true, false, a list ([1, 2.5]) or an .npy file"),
    ("i64", "[]", "NaN", "i64 holds integers only"),
    ("i64", "[]", "[16000]", "has the shape [], but the value has the shape [1]: write 16000"),
    ("i64", "[1]", "16000", "has the shape [1], but the value has the shape []: write [16000]"),
    ("i64", "[?]", "[1,2]", ""),
    ("i64", "[1..2]", "[1,2,3]", "has the shape [1..2], but the value has the shape [3]"),
    ("i64", "[2]", "[[1,2]]", "has the shape [2], but the value has the shape [1,2]"),
    ("f32", "[1,2]", "[[0.1,2]]", ""),
    ("f32", "[1,2]", "[[1],[2,3]]", "no array"),
    ("f32", "[]", "1e39", "f32 cannot hold"),
    ("f32", "[]", "1e400", "1e400 is too large for every element type"),
    ("f16", "[]", "70000", "f16 cannot hold"),
    ("boolean", "[]", "true", ""),
    ("boolean", "[]", "1", ""),
    ("boolean", "[]", "2", "expected true or false, found 2"),
    ("f32", "[]", "missing.npy", "missing.npy: No such file or directory"),
]


@pytest.mark.parametrize(("element_type", "shape", "text", "message"), VALUES, ids=lambda one: str(one) or "fits")
def test_a_value_fits_or_is_refused(
    element_type: str, shape: str, text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = irshape.Graph("net")
    graph.result(graph.add("Convert", graph.parameter("v", shape, element_type), destination_type="f64"))
    path, out = tmp_path / "net.xml", tmp_path / "out.xml"
    graph.write(path)
    assert main(["edit", str(path), "--freeze", f"v={text}", "-o", str(out)]) == (2 if message else 0)
    assert message in capsys.readouterr().err and out.exists() is not bool(message)


def test_a_value_may_be_a_file(tmp_path: Path) -> None:
    numpy.save(tmp_path / "state.npy", numpy.array([[1, 2, 3, 4]], "f4"))
    out = tmp_path / "out.xml"
    assert main(["edit", str(VOICE), "--freeze", f"state={tmp_path / 'state.npy'}", "-o", str(out)]) == 0
    assert irshape.read(out)["state"].const.data.tolist() == [[1, 2, 3, 4]]
    with pytest.raises(irshape.EditError, match="the array has elements of type bool"):
        irshape.edit(VOICE).freeze("sr", numpy.array(True))


@pytest.mark.parametrize("command", ["check", "infer", "reshape", "signature", "sizes", "simplify"])
@pytest.mark.parametrize("text", ["sr=16000", "sr:16000", "sr=true", "sr=1.5"])
def test_a_value_is_no_shape(command: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, str(VOICE), "--input", text, *(["--dry-run"] if command == "simplify" else [])]) == 2
    told = capsys.readouterr().err
    assert "could be a shape or a value; a shape has brackets: sr[" in told and f"--freeze sr={text[3:]} -o OUT.xml" in told


def test_names_of_tensors_and_of_layers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.xml"
    assert main(["edit", str(VOICE), "--name", "Result_1386=speech,prob", "--rename", "sr=rate", "-o", str(out)]) == 0
    assert "--rename sr=rate changes the layer only, and its tensor keeps the name 'sr'" in capsys.readouterr().err
    model = irshape.read(out)
    assert model.outputs[0].source is not None and model.outputs[0].source.names == ["speech", "prob"]
    assert [set(port.get_names()) for port in core().read_model(out).outputs] == [{"speech", "prob"}, {"stateN"}]
    assert main(["edit", str(VOICE), "--name", "Result_1386=stateN", "-o", str(out), "--force"]) == 2
    assert "'stateN' is already the name of a tensor of" in capsys.readouterr().err


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
        "past.key": "[?,2,?,4]",
        "past.value": "[?,2,?,4]",
    }
    assert [tensor.layer.name for tensor in graph.inputs][2:] == ["past.key", "past.value"]
    assert not {layer.type for layer in graph} & {"ReadValue", "Assign"}
    graph.stateful(PAIRS)
    assert irshape.diff(STATEFUL, graph.model()).is_same


# The caches of two layers of a language model as OpenVINO's exports have them, and what OpenVINO's own pass calls and orders them.
BEAMS = """
beam: i32[?]
x: f32[?,1,4]
""" + "".join(
    f"""
_{end}: ReadValue-6(variable_id="past_key_values.{end}present.{end}", variable_type=f32, variable_shape="?,?,4")
_c{end}: Concat(Gather-8(_{end}, beam, 0), x, axis=1)
Assign-6(_c{end}, variable_id="past_key_values.{end}present.{end}") -> Result
"""
    for end in ("10.value", "2.key", "10.key", "2.value")
)


def test_ends_of_variables_are_named_and_ordered_as_by_openvino(tmp_path: Path) -> None:
    net = Net(BEAMS)
    (tmp_path / "beams.bin").write_bytes(bytes(net.bin))
    (tmp_path / "beams.xml").write_text(net.xml)
    graph = irshape.edit(tmp_path / "beams.xml")
    ends = ["2.key", "2.value", "10.key", "10.value"]
    assert list(graph.stateless().items()) == [(f"past_key_values.{end}", f"present.{end}") for end in ends]
    assert [tensor.layer.name for tensor in graph.inputs][2:] == [f"past_key_values.{end}" for end in ends]
    graph.write(tmp_path / "stateless.xml")
    read = openvino.Core().read_model(tmp_path / "stateless.xml")
    assert [port.any_name for port in read.inputs[2:]] == [f"past_key_values.{end}" for end in ends]
    assert [port.get_names() >= {f"present.{end}"} for port, end in zip(read.outputs[-4:], ends, strict=True)] == [True] * 4
    # The beams choose from any batch of a cache; the next inference reads the batch that this one gives.
    found = irshape.signature(tmp_path / "stateless.xml").inputs
    assert {found[f"past_key_values.{end}"].split(",")[0] for end in ends} == {"[B"}


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
        ({"past.key": "present.key", "past.value": "present.key"}, "can belong to one variable only"),
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
    [told] = [line for line in capsys.readouterr().out.splitlines() if "size 0" in line]
    assert told.startswith("the states begin with size 0 on each open axis: past.key, past.value; set those that must not")
    assert main(["edit", one, "--stateless", "--rename", "past.key=cache", "-o", other]) == 0
    assert "cache" in {node.name for node in irshape.read(other).parameters} and irshape.check(other).ok
    capsys.readouterr()
    assert main(["edit", str(DECODER), "--stateful", "past.key"]) == 2
    assert "--stateful past.key: the form is INPUT=OUTPUT" in capsys.readouterr().err
