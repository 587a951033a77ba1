"""The long run: every IR below the folder in IRSHAPE_CORPUS is read, written back byte for byte, and fits the schema."""

import os
from pathlib import Path

import pytest

from irshape.xml.reader import read
from irshape.xml.schema import structural_faults
from irshape.xml.writer import LayerFacts, PortFacts, annotate

FOLDER = os.environ.get("IRSHAPE_CORPUS")


def everything(graph):
    for layer in graph.layers:
        yield layer
        for body in (layer.bodies or {}).values():
            yield from everything(body)


@pytest.mark.skipif(not FOLDER, reason="IRSHAPE_CORPUS names no folder")
def test_corpus():
    paths = sorted(Path(FOLDER).glob("**/*.xml"))
    assert paths
    for path in paths:
        document = read(path)
        assert document.diagnostics == [], path
        facts = {
            layer: LayerFacts(
                *([PortFacts(port.precision, port.dims, port.annotation) for port in ports] for ports in (layer.inputs, layer.outputs))
            )
            for layer in everything(document.graph)
        }
        assert annotate(document, facts) == document.source, path
        assert structural_faults(document.source) == [], path
