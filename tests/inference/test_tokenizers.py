"""Converted tokenizers: every port is as OpenVINO infers it with openvino-tokenizers, for the shapes of the file and for others."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

import irshape
from tests.support.irs import CARRIED
from tests.support.oracle import core_of, partial_shape
from tests.support.rows import contains

FILES = sorted((CARRIED / "tokenizers").glob("*.xml"))
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
    path = CARRIED / "tokenizers" / "bpe_detokenizer.xml"
    (note,) = irshape.check(path).diagnostics
    assert (note.code, note.severity, note.where.layer_type) == ("N107", "note", "VocabDecoder")
    text = "3 layers are operations of this extension (FuzeRagged, UTF8Validate, VocabDecoder)"
    assert note.message == f"the model needs openvino-tokenizers to run: {text}"
    (extension,) = irshape.info(path).to_dict()["extensions"]
    assert extension["name"] == "openvino-tokenizers"
    assert sum(extension["operations"].values()) == 3
