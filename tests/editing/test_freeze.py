"""Inputs that become constants: the model computes what it computed for this value, and layers for other values are gone."""

from pathlib import Path
from typing import Any

import numpy
import pytest

import irshape
from irshape.cli.main import main
from tests.support.oracle import core

ROOT = Path(__file__).parent.parent.parent
VOICE = ROOT / "examples" / "voice.xml"
IRS = ROOT / "tests" / "data" / "ir"

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
    ("i64", "[]", "9223372036854775808", "i64 holds -9223372036854775808 to 9223372036854775807"),
    ("i8", "[2]", "[127,-128]", ""),
    ("i8", "[2]", "[127,128]", "i8 holds -128 to 127"),
    ("u8", "[]", "-1", "u8 holds 0 to 255"),
    ("u64", "[]", "18446744073709551615", ""),
    ("i64", "[]", "true", "expected a number, found true"),
    ("i64", "[]", "fast", "'fast' is no value of it: give a number, true, false, a list ([1, 2.5]) or an .npy file"),
    ("i64", "[]", "NaN", "i64 holds integers only"),
    ("i64", "[]", "[16000]", "has the shape [], and the value has [1]: write 16000"),
    ("i64", "[1]", "16000", "has the shape [1], and the value has []: write [16000]"),
    ("i64", "[?]", "[1,2]", ""),
    ("i64", "[1..2]", "[1,2,3]", "has the shape [1..2], and the value has [3]"),
    ("f32", "[1,2]", "[[0.1,2]]", ""),
    ("f32", "[1,2]", "[[1],[2,3]]", "no array"),
    ("f32", "[]", "1e39", "f32 does not reach as far"),
    ("f32", "[]", "1e400", "1e400 is too large for every element type"),
    ("f16", "[]", "70000", "f16 does not reach as far"),
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
