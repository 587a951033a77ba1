"""Pairs of real models, whose first differing layer is known.

`tests/data/pairs.tar.xz` holds one network with convolutions and attention, as OpenVINO converted it: traced by PyTorch, the same with
weights in half precision, quantised to int8 with FakeQuantize layers, and exported by `torch.export`, with other layers and names.
"""

from collections.abc import Callable
from pathlib import Path

import numpy
import pytest

import irshape
from irshape.editing.graph import Graph, edit
from irshape.running.limits import RUNS
from tests.support.places import unpack

HEAD = "__module.head/aten::linear/MatMul"
ATTENTION = "__module.attention/aten::scaled_dot_product_attention/ScaledDotProductAttention"
# The first layer of the network with weights, to which OpenVINO gave a name.
STEM = "Multiply_10585"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pairs")
    unpack("pairs.tar.xz", folder)
    return folder


@pytest.mark.parametrize(
    ("name", "precision", "largest"), [("torch_fp16", "f16", 1e-3), ("torch_int8", "int8", 0.1), ("export", "f32", 1e-6)]
)
def test_the_same_network_in_another_form_computes_the_same(name: str, precision: str, largest: float, models: Path) -> None:
    found = irshape.compare(models / "torch.xml", models / f"{name}.xml", first=True)
    assert found.is_same and found.tolerance.precision == precision and found.first is None
    assert all((one.relative or 0) < largest for run in found.runs for one in run.outputs)


@pytest.mark.parametrize("name", ["torch_fp16", "torch_int8"])
def test_the_first_rounding_is_found_where_no_rounding_is_allowed(name: str, models: Path) -> None:
    """The weights of the first convolution are rounded; its image is the same, or quantised by a layer that only one model has."""
    found = irshape.compare(models / "torch.xml", models / f"{name}.xml", first=True, rtol=0, atol=1e-7)
    assert not found.is_same and found.first is not None
    assert (found.first.layer, found.first.type) == (STEM, "Convolution")
    assert [one.is_same for one in found.first.before] == [name == "torch_fp16", False]


def broken(graph: Graph) -> None:
    """Other weights of the last layer."""
    weights = graph[HEAD].inputs[1]
    assert weights is not None
    weights.layer.data = numpy.flip(weights.layer.data, 0)


def swapped(graph: Graph) -> None:
    """Queries in the place of keys."""
    layer = graph[ATTENTION]
    query, key, _ = layer.inputs
    assert query is not None and key is not None
    layer.connect(0, key).connect(1, query)


@pytest.mark.parametrize(
    ("change", "reference", "layer", "before"),
    [
        (broken, "torch", HEAD, [True, False]),
        (broken, "export", HEAD, [True, False]),  # another exporter gives the layers other names
        (swapped, "torch", ATTENTION, [False, False, True]),
    ],
    ids=["constant", "constant, other names", "edge"],
)
def test_the_first_wrong_layer_is_found(
    change: Callable[[Graph], None], reference: str, layer: str, before: list[bool], models: Path
) -> None:
    graph = edit(models / "torch.xml")
    change(graph)
    found = irshape.compare(graph, models / f"{reference}.xml", first=True)
    assert not found.is_same and found.first is not None, found._unfound
    assert found.first.layer == layer and [one.is_same for one in found.first.before] == before


def test_a_model_that_needs_more_memory_than_the_limit_fails() -> None:
    graph, large = irshape.Graph("small"), irshape.Graph("large")
    for one, size in ((graph, 2), (large, 1 << 31)):
        x = one.parameter("x", "[1]")
        whole = one.add("Broadcast", x, numpy.array([size]), mode="numpy")
        one.result(one.add("ReduceMax", whole, numpy.array([0]), keep_dims=True), names="out")
    found = irshape.compare(graph, large, allowance=RUNS._replace(memory=6 << 30))
    assert not found.is_same and set(found.runs[0].failures) == {"b"}
    assert "memory" in found.summary or "alloc" in found.summary
