"""Which class stands for a type at a version, as OpenVINO resolves it."""

import pytest

from irshape.ops.index import MODULES
from irshape.ops.op import Op
from irshape.ops.registry import REGISTRY, Registry, opset

# A type, a version, and the class that OpenVINO has for them.
FOUND = [
    ("TopK", "opset1", "TopK"),
    ("TopK", "opset3", "TopKV3"),
    ("TopK", "opset10", "TopKV3"),
    ("TopK", "opset11", "TopKV11"),
    ("topk", "opset11", "TopKV11"),
    ("Const", "opset1", "Constant"),
    ("SpaceToBatch", "opset1", None),
    ("SpaceToBatch", "opset2", "SpaceToBatch"),
    ("SpaceToBatch", "opset17", None),
    ("SpaceToBatch", "Opset2", None),
    ("ShuffleChannels", "opset2", None),
    ("Stretch", "opset1", None),
]


@pytest.mark.parametrize(("type", "version", "name"), FOUND)
def test_class_of_a_version(type: str, version: str, name: str | None) -> None:
    found = REGISTRY.find(type, version)
    assert (found and found.__name__) == name


@pytest.mark.parametrize(("version", "number"), [("opset1", 1), ("opset17", 17), ("opset18", None), ("opset01", None), ("Opset1", None)])
def test_number_of_an_opset(version: str, number: int | None) -> None:
    assert opset(version) == number


@pytest.mark.parametrize(("type", "similar"), [("Convolutoin", "Convolution"), ("SpaceToBatchs", "SpaceToBatch"), ("Stretch", None)])
def test_similar_type(type: str, similar: str | None) -> None:
    assert REGISTRY.similar(type) == similar


def test_a_version_is_registered_once() -> None:
    registry = Registry()
    registry.add(Op, "Twice", "opset1", None, [], [])
    with pytest.raises(TypeError, match="Twice is registered twice from opset1 on"):
        registry.add(Op, "Twice", "opset1", None, [], [])


def test_the_index_names_the_module_of_every_class() -> None:
    REGISTRY.types()
    assert {type: op.__module__ for type, op in REGISTRY.homes().items()} == {
        type: f"irshape.ops.{module}" for type, module in MODULES.items()
    }
