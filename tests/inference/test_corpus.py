"""The long run over the folder in IRSHAPE_CORPUS, and the same over the IRs that the tests carry: what is written is what was inferred."""

from pathlib import Path
from typing import Any

import pytest

import irshape
from tests.support.irs import WITH_WEIGHTS, named
from tests.support.oracle import core_of


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
