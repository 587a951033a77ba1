"""What is written is what was inferred: for the IRs that the tests carry, those of IRSHAPE_CORPUS, OpenVINO's own and tokenizers."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import irshape
from tests.support.irs import WITH_WEIGHTS, named
from tests.support.oracle import core_of, partial_shape
from tests.support.places import IRS
from tests.support.rows import contains


def facts(model: Any) -> list[tuple[str, str]]:
    """Element type and shape of every output of an OpenVINO model."""
    outputs = [output for node in model.get_ordered_ops() for output in node.outputs()]
    return sorted((output.get_element_type().get_type_name(), str(output.get_partial_shape())) for output in outputs)


@pytest.mark.oracle
@pytest.mark.parametrize("path", WITH_WEIGHTS, ids=named)
def test_what_is_written_is_what_was_inferred(path: Path) -> None:
    data = path.with_suffix(".bin").read_bytes()
    source = path.read_bytes()
    inference = irshape.infer(source, weights=data)
    assert inference.ok, inference.diagnostics
    annotated = inference.xml()
    core = core_of(source)
    assert facts(core.read_model(annotated, data)) == facts(core.read_model(source, data))
    again = irshape.infer(annotated, weights=data)
    assert again.ports == inference.ports
    assert again.xml() == annotated


@pytest.mark.oracle
def test_an_lstm_cell_of_opset1(tmp_path: Path) -> None:
    """OpenVINO writes the Const of the peepholes without an edge to the cell. It reads activations in capitals, and two more attributes."""
    openvino = pytest.importorskip("openvino")
    first, later = openvino.opset1, openvino.opset13
    x, h, c = (later.parameter([1, size], np.float32) for size in (4, 3, 3))
    weights = [later.constant(np.zeros(shape, np.float32)) for shape in ((12, 4), (12, 3), (12,))]
    cell = first.lstm_cell(x, h, c, *weights, 3)
    path = tmp_path / "cell.xml"
    openvino.save_model(openvino.Model([cell.output(0)], [x, h, c]), path, compress_to_fp16=False)
    assert irshape.check(path).diagnostics == []
    text = path.read_text(encoding="utf-8")
    text = text.replace('activations="sigmoid, tanh, tanh"', 'activations="SIGMOID, TANH, RELU" PrimitivesPriority="cpu:ref" alt_width="2"')
    path.write_text(text, encoding="utf-8")
    openvino.Core().read_model(path)
    assert irshape.check(path).diagnostics == []
    path.write_text(text.replace("alt_width", "alt_widths"), encoding="utf-8")
    assert [one.code for one in irshape.check(path).diagnostics] == ["R104"]


FILES = sorted((IRS / "tokenizers").glob("*.xml"))
SHAPES = [None, "[?]", "[3]", "[1..16]", "[2,5]", "[]", "[?,?]", "[1..4,7]", "[...]"]


@pytest.mark.oracle
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_port_is_as_openvino_infers_it(path: Path, shape: str | None) -> None:
    source, weights = path.read_bytes(), path.with_suffix(".bin").read_bytes()
    model = core_of(source).read_model(source, weights)
    inputs = {} if shape is None else {node.get_friendly_name(): shape for node in model.get_parameters()}
    inference = irshape.infer(source, weights=weights, inputs=inputs)
    if shape is not None:
        try:
            model.reshape({node.output(0): partial_shape(shape) for node in model.get_parameters()})
        except RuntimeError:
            assert not inference.ok
            return
    assert inference.ok, inference.diagnostics
    theirs = {node.get_friendly_name(): node.outputs() for node in model.get_ops()}
    compared = 0
    for layer in ElementTree.fromstring(source).iter("layer"):
        for port, output in zip(layer.findall("output/port"), theirs.get(layer.attrib["name"], ()), strict=False):
            element_type, ours = inference.ports[f"{layer.attrib['id']}:{port.attrib['id']}"]
            assert element_type == output.get_element_type().get_type_name()
            assert contains(output.get_partial_shape(), partial_shape(ours)), (layer.attrib["name"], ours, str(output))
            compared += 1
    assert compared > len(inference.model) // 2


def test_a_tokenizer_needs_its_extension() -> None:
    path = IRS / "tokenizers" / "bpe_detokenizer.xml"
    (note,) = irshape.check(path).diagnostics
    assert (note.code, note.severity, note.where.layer_type) == ("N107", "note", "VocabDecoder")
    text = "3 layers are operations of this extension (FuzeRagged, UTF8Validate, VocabDecoder)"
    assert note.message == f"the model needs openvino-tokenizers to run: {text}"
    (extension,) = irshape.info(path).to_dict()["extensions"]
    assert extension["name"] == "openvino-tokenizers"
    assert sum(extension["operations"].values()) == 3
