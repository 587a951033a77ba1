"""Which class stands for a type at a version, as OpenVINO resolves it."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from irshape.ops.foreign import _NAMES
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


# A type that no opset has, and the one that is meant: a slip, or a name of ONNX or PyTorch.
SIMILAR = [
    ("Convolutoin", "Convolution"),
    ("SpaceToBatchs", "SpaceToBatch"),
    ("Stretch", None),
    ("Conv", "Convolution"),
    ("Gemm", "MatMul"),
    ("LayerNormalization", "MVN"),
    ("conv_transpose2d", "ConvolutionBackpropData"),
]


@pytest.mark.parametrize(("type", "similar"), SIMILAR)
def test_similar_type(type: str, similar: str | None) -> None:
    assert REGISTRY.similar(type) == similar


def test_names_of_onnx_and_pytorch_stand_for_operations() -> None:
    assert {type for type in _NAMES if not REGISTRY.versions(type)} == set()
    assert {name for names in _NAMES.values() for name in names.split() if REGISTRY.versions(name)} == set()


def test_a_similar_type_is_sought_once(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry(REGISTRY)
    assert registry.similar("Convolutiom") == "Convolution"
    monkeypatch.setattr("difflib.get_close_matches", None)
    assert registry.similar("CONVOLUTIOM") == "Convolution"


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


def annotated() -> Iterator[tuple[str, str, set[str]]]:
    """The module, the class and the attributes that the sources of the operations annotate."""
    for module in sorted(set(MODULES.values())):
        name = f"irshape.ops.{module}"
        for node in ast.parse(Path(str(sys.modules[name].__file__)).read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                fields = ((item.target, ast.unparse(item.annotation)) for item in node.body if isinstance(item, ast.AnnAssign))
                names = {target.id for target, text in fields if isinstance(target, ast.Name) and not re.search("ClassVar|Fixed", text)}
                yield name, node.name, {name for name in names if not name.startswith("_")}


def test_every_class_has_the_attributes_that_its_source_annotates() -> None:
    """From Python 3.14 on, annotations are evaluated when they are read (PEP 649), and `vars` of a class does not hold them."""
    REGISTRY.types()
    found = list(annotated())
    assert ("irshape.ops.sequence.attention", "CTCGreedyDecoder", {"ctc_merge_repeated"}) in found
    for module, name, names in found:
        cls = getattr(sys.modules[module], name)
        if issubclass(cls, Op):
            assert names <= cls.attributes.keys(), f"{module}.{name}"
