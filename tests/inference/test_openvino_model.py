"""An `openvino.Model` is read from memory, gives what its file gives, and takes shapes back."""

import os
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy
import openvino
import pytest

import irshape
from irshape.xml import openvino_model
from tests.inference.test_bodies import ROWS
from tests.support.ir import Net
from tests.support.irs import WITH_WEIGHTS, named

pytestmark = pytest.mark.oracle


def model_of(net: Net) -> Any:
    return openvino.Core().read_model(net.xml.encode(), net.bin)


def reshaped() -> Net:
    """A Reshape of the image to as many rows, and a constant that is too large to be copied."""
    return Net("Reshape(f32[?,2,?], [0,-1], special_zero=true) -> Multiply(f32=0.5[1,40], auto_broadcast=numpy) -> Result")


def facts(inference: irshape.Inference) -> tuple[Any, ...]:
    """All that does not depend on the place of a constant."""
    found = [(one.code, one.message, one.where.layer_name, one.where.port) for one in inference.diagnostics]
    return inference.ports, inference.formulas, found, [str(guard.requirement) for guard in inference.guards]


def assert_equals_file(model: Any, folder: Path) -> None:
    """Compare the answer about a model with the answer about the file that OpenVINO writes."""
    path = folder / "model.xml"
    openvino.serialize(model, path)
    assert facts(irshape.check(model)) == facts(irshape.check(path))
    ours, theirs = irshape.read(model), irshape.read(path)
    for graph, other in zip(ours.graphs(), theirs.graphs(), strict=True):
        for node, same in zip(graph.nodes, other.nodes, strict=True):
            assert (node.const is None) == (same.const is None)
            assert node.const is None or node.const.bytes == same.const.bytes


@pytest.mark.parametrize("path", WITH_WEIGHTS, ids=named)
def test_a_real_model(path: Path, tmp_path: Path) -> None:
    try:
        model = openvino.Core().read_model(path)
    except RuntimeError:
        pytest.skip("OpenVINO does not read the file")
    assert_equals_file(model, tmp_path)


def by_name(inference: irshape.Inference) -> dict[tuple[str, int], tuple[str, str]]:
    """The facts of the ports; OpenVINO may order layers in another way."""
    return {(one["name"], one["port"]): (one["element_type"], one["shape"]) for one in inference.to_records()}


@pytest.mark.parametrize("path", WITH_WEIGHTS, ids=named)
def test_a_real_model_with_many_bytes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Almost every constant counts as a large one, which OpenVINO does not write."""
    monkeypatch.setattr(openvino_model, "_MANY", 0)
    monkeypatch.setattr(openvino_model, "_LARGE", 9)
    try:
        model = openvino.Core().read_model(path)
    except RuntimeError:
        pytest.skip("OpenVINO does not read the file")
    before = [operation.get_name() for operation in model.get_ordered_ops()]
    inference, expected = irshape.infer(model), irshape.infer(path)
    assert by_name(inference) == by_name(expected)
    assert [operation.get_name() for operation in model.get_ordered_ops()] == before
    for node in inference.model.of_type("Const"):
        assert node.const.bytes == expected[node.name].node.const.bytes
        assert node.rt_info == expected[node.name].node.rt_info
    assert [node.name for node in inference.model.parameters] == [node.name for node in expected.model.parameters]


BODIES = [(name, net) for name, net, expected in ROWS if "[" in expected]


@pytest.mark.parametrize(("name", "net"), BODIES, ids=[name for name, _ in BODIES])
def test_a_model_with_bodies(name: str, net: Net, tmp_path: Path) -> None:
    assert_equals_file(model_of(net), tmp_path)


def test_strings(tmp_path: Path) -> None:
    """OpenVINO packs strings only when it writes them."""
    net = Net()
    net.weights += struct.pack("<i4i", 3, 0, 1, 11, 11) + b"amany words"
    net.result(net.layer("Const", [], ["STRING"], element_type="string", shape="3", offset=0, size=len(net.weights))[0])
    model = model_of(net)
    assert_equals_file(model, tmp_path)
    [const] = irshape.read(model).of_type("Const")
    assert const.const.data.tolist() == ["a", "many words", ""]


def test_where_there_is_no_null_device_the_weights_are_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(openvino_model.os, "name", "nt")  # type: ignore[attr-defined]
    assert_equals_file(model_of(reshaped()), tmp_path)


def test_constants_that_do_not_fit_the_xml_are_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(openvino_model, "_constants", lambda model: [])
    assert_equals_file(model_of(reshaped()), tmp_path)


def test_large_constants_stay_in_the_model_until_they_are_read() -> None:
    model = irshape.read(model_of(reshaped()))
    weights = model.weights
    assert weights is not None
    assert irshape.infer(model, symbols_as="raw")["reshape_2"].outputs[0].formula == "[d0,2*d1]"
    assert weights.bytes_read <= 16
    assert model["const_3"].const.data.tolist() == [[0.5] * 40]


def test_no_file_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", os.fspath(tmp_path))
    monkeypatch.setattr(openvino_model.tempfile, "tempdir", None)  # type: ignore[attr-defined]
    assert irshape.infer(model_of(reshaped())).ok
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_openvino_does_not_write_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise RuntimeError("no")

    model = model_of(reshaped())
    monkeypatch.setattr(openvino, "serialize", refuse)
    with pytest.raises(ValueError, match="OpenVINO cannot write this model as an IR: no"):
        irshape.infer(model)


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        (openvino.PartialShape([4, -1, openvino.Dimension(2, 8)]), "[4,?,2..8]"),
        (openvino.PartialShape.dynamic(3), "[?,?,?]"),
        (openvino.PartialShape.dynamic(), "[...]"),
        (openvino.Shape([4, 2, 20]), "[4,2,20]"),
        (openvino.Tensor(numpy.zeros((4, 2, 20), "f4")), "[4,2,20]"),
        (numpy.zeros((4, 2, 20), "f4"), "[4,2,20]"),
        ([openvino.Dimension(1, 4), numpy.int64(2), None], "[1..4,2,?]"),
        ((4, "2", "..20"), "[4,2,..20]"),
        (None, "[...]"),
    ],
    ids=str,
)
def test_shapes_may_be_objects(shape: Any, text: str) -> None:
    net = Net("f32[?,?,?] -> Result")
    assert irshape.infer(net.xml, inputs={"parameter_0": shape})["parameter_0"].outputs[0].text == text
    assert irshape.Session(net.xml).reshape(parameter_0=shape)["parameter_0"].outputs[0].text == text


def test_a_port_of_a_model_is_a_shape() -> None:
    net = Net("f32[?,2..4] -> Result")
    model = model_of(net)
    inputs = {"parameter_0": model.inputs[0]}
    assert irshape.infer(net.xml.replace("2..4", "?"), inputs=inputs)["parameter_0"].outputs[0].text == "[?,2..4]"


def test_a_model_takes_the_shapes_of_an_inference() -> None:
    model = model_of(reshaped())
    inference = irshape.infer(model, inputs={"parameter_0": "[N,2,H]"}, symbols={"N": "1..8", "H": "4..,4*k"})
    assert inference.apply_to(model) is model
    [port] = model.inputs
    assert port.partial_shape.to_string() == "[1..8,2,4..]"
    assert model.outputs[0].partial_shape.to_string() == "[1..8,40]"
    assert facts(irshape.infer(model)) == facts(inference)


def test_equal_sizes_get_one_symbol_and_keep_their_names(tmp_path: Path) -> None:
    net = Net("Add(f32[?,?], f32[?,?], auto_broadcast=numpy) -> Result")
    model = model_of(net)
    irshape.infer(model, inputs={"parameter_0": "[N,H]", "parameter_1": "[N,W]"}, symbols={"H": "2..9"}).apply_to(model)
    (n, h), (same, w) = (port.partial_shape for port in model.inputs)
    assert n.get_symbol() == same.get_symbol() and h.get_symbol() != w.get_symbol()
    path = tmp_path / "model.xml"
    openvino.save_model(model, path)
    for source in (model, path):
        again = irshape.infer(source)
        assert [again[name].outputs[0].formula for name in ("parameter_0", "parameter_1")] == ["[N,H]", "[N,W]"]
        assert again["parameter_0"].outputs[0].text == "[?,2..9]"
    irshape.infer(model, inputs={"parameter_0": "[3,4]", "parameter_1": "[3,4]"}).apply_to(model)
    assert irshape.infer(model)["add_2"].outputs[0].formula == "[3,4]"


def test_a_model_with_other_inputs_is_refused() -> None:
    net = Net("f32[1] -> Result")
    other = Net("f32[1] -> Result\nf32[1] -> Result")
    with pytest.raises(
        irshape.InputError, match="the model has the inputs 'parameter_0', 'parameter_2', but the shapes are for 'parameter_0'"
    ):
        irshape.infer(net.xml).apply_to(model_of(other))


def test_shapes_that_openvino_refuses_raise() -> None:
    model = model_of(reshaped())
    inference = irshape.infer(model, inputs={"parameter_0": [1, 2, 3]})
    assert not inference.ok
    with pytest.raises(irshape.InputError, match="OpenVINO refuses the shapes"):
        inference.apply_to(model, faulty=True)
    with pytest.raises(ValueError, match="the model has 1 error"):
        inference.apply_to(model)


def test_an_inference_from_memory_can_be_pickled() -> None:
    """The small constants go with it, so that shapes can be explained; the large ones belong to the model."""
    inference = irshape.infer(model_of(reshaped()))
    again = pickle.loads(pickle.dumps(inference))
    assert again.to_dict() == inference.to_dict()
    assert again.explain("reshape_2").to_dict() == inference.explain("reshape_2").to_dict()
    with pytest.raises(irshape.WeightsError, match="in an openvino\\.Model of another process"):
        again["const_3"].node.const.bytes  # noqa: B018
