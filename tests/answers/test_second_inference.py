"""A model with state whose inputs are fixed: it can run twice, or the reason is told; OpenVINO agrees."""

from pathlib import Path
from typing import Any

import numpy
import pytest

import irshape
from irshape.cli.main import main
from tests.support.oracle import core
from tests.support.places import STATEFUL


@pytest.mark.parametrize(
    ("asked", "is_refused"),
    [
        ({"symbols": {"B": 1, "S": 1, "P": 127}}, True),
        ({"symbols": {"B": 1, "S": 64, "P": 0}}, True),
        ({"inputs": {"input_ids": "[1,1]", "attention_mask": "[1,128]"}}, True),
        ({"symbols": {"B": 1, "S": 1, "P": "0..127"}}, False),
        ({"symbols": {"B": 1}}, False),
    ],
    ids=str,
)
def test_a_cache_that_grows_has_no_fixed_size(asked: dict[str, Any], is_refused: bool) -> None:
    found = irshape.reshape(STATEFUL, **asked)
    assert found.ok is not is_refused
    assert [one.code for one in found.diagnostics] == ["P106"] * is_refused
    for one in found.diagnostics:
        assert one.hint is not None and one.hint.endswith(f"irshape edit {STATEFUL} --stateless -o OUT.xml")


def state_of(shape: str, joins: bool) -> irshape.Graph:
    """A state that an input is added to, or joined to in front of the last two rows."""
    graph = irshape.Graph("state")
    x = graph.parameter("x", shape)
    variable = {"variable_id": "v", "variable_type": "f32", "variable_shape": shape.strip("[]")}
    past = graph.add("ReadValue", numpy.zeros([int(size) for size in shape.strip("[]").split(",")], "f4"), version="opset6", **variable)
    rows = graph.add("Concat", past, x, axis=0) if joins else graph.add("Add", past, x)
    kept = graph.add("Slice", rows, [-2], [9], [1], [0]) if joins else rows
    graph.add("Assign", kept, version="opset6", variable_id="v")
    graph.result(kept)
    return graph


@pytest.mark.parametrize("joins", [False, True])
def test_a_state_that_keeps_its_shape_can_be_fixed(joins: bool) -> None:
    graph = state_of("[2,4]", joins)
    assert irshape.check(bytes(graph), weights=graph.model().weights, targets=["static-shapes", "npu"]).ok


def test_openvino_refuses_the_second_inference(tmp_path: Path) -> None:
    path = tmp_path / "fixed.xml"
    irshape.infer(STATEFUL, symbols={"B": 1, "S": 1, "P": 127}).write(path)
    assert [one.code for one in irshape.check(path, targets=["static-shapes"]).diagnostics] == ["P106"]
    import openvino

    request = core().compile_model(core().read_model(path), "CPU").create_infer_request()
    for state in request.query_state():
        state.state = openvino.Tensor(numpy.ones((1, 2, 127, 4), "f4"))
    feeds = {"input_ids": numpy.ones((1, 1), "i8"), "attention_mask": numpy.ones((1, 128), "i8")}
    request.infer(feeds)
    with pytest.raises(RuntimeError):
        request.infer(feeds)


def test_the_road_without_state_leads_to_fixed_shapes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stateless, fixed = str(tmp_path / "stateless.xml"), str(tmp_path / "fixed.xml")
    assert main(["edit", str(STATEFUL), "--stateless", "-o", stateless]) == 0
    targets = ["--target", "npu", "--target", "static-shapes"]
    assert main(["reshape", stateless, *targets, "-o", fixed, "--set", "B=1", "S=1", "P=127"]) == 0
    assert main(["check", fixed, *targets]) == 0
    assert not core().read_model(fixed).is_dynamic()


def test_a_range_over_the_length_of_a_state_gets_a_bound_without_the_state(tmp_path: Path) -> None:
    """P105 names the road, and numbers for the inputs end it."""
    graph = irshape.Graph("positions")
    x = graph.parameter("x", "[1,4]")
    variable = {"variable_id": "v", "variable_type": "f32", "variable_shape": "..8,4"}
    past = graph.add("ReadValue", version="opset6", **variable)
    rows = graph.add("Concat", past, x, axis=0, name="rows")
    count = graph.add("Gather", graph.add("ShapeOf", rows, output_type="i64"), 0, 0)
    graph.result(graph.add("Range", 0, count, 1, output_type="i64", version="opset4"), names="positions")
    graph.add("Assign", rows, version="opset6", variable_id="v")
    graph.write(tmp_path / "net.xml")
    [fault] = irshape.check(tmp_path / "net.xml", targets=["npu"]).diagnostics
    assert fault.code == "P105" and fault.hint is not None and "--stateless -o OUT.xml" in fault.hint
    graph.stateless()
    graph.write(tmp_path / "stateless.xml")
    name = graph.inputs[-1].names[0]
    assert irshape.check(tmp_path / "stateless.xml", inputs={name: "[7,4]"}, targets=["npu", "static-shapes"]).diagnostics == []


def test_outputs_without_a_name(tmp_path: Path) -> None:
    graph = irshape.Graph("net")
    x = graph.parameter("x", "[1,4]")
    graph.result(graph.add("Relu", x, name="named"), names="y")
    graph.result(graph.add("Abs", x, name="nameless"))
    graph.write(tmp_path / "net.xml")
    path = str(tmp_path / "net.xml")
    assert irshape.check(path).ok
    [fault] = irshape.check(path, targets=["named-outputs"]).diagnostics
    assert fault.code == "P107" and "Abs 'nameless'" in fault.message and fault.hint is not None
    words = fault.hint.partition("irshape ")[2].replace("NAME", "z").split()
    assert main([*words, "-o", str(tmp_path / "out.xml")]) == 0
    assert irshape.check(tmp_path / "out.xml", targets=["named-outputs"]).ok


def test_an_output_is_called_by_a_word() -> None:
    graph = irshape.Graph("net")
    x = graph.parameter("x", "[1,4]")
    graph.result(graph.add("Relu", x), names=["1360", "1362", "boxes"])
    graph.result(graph.add("Abs", x), names=["36_1"])
    model = bytes(graph)
    assert [*irshape.signature(model).outputs] == ["boxes", "36_1"] == [one.name for one in irshape.info(model).outputs]
    assert [port.name for port in irshape.infer(model).outputs] == ["boxes", "36_1"]
