"""What is said of an operation without a model."""

from typing import Any

import pytest

from irshape.ops.describe import attribute_type, describe, page, plain, version_ranges
from irshape.ops.registry import REGISTRY
from irshape.shape.element_type import ElementType


@pytest.mark.parametrize(
    ("type", "version", "address"),
    [
        ("SpaceToBatch", "opset2", "movement/space-to-batch-2"),
        ("BatchNormInference", "opset16", "normalization/batch-norm-inference-5"),
        ("ReduceL1", "opset4", "reduction/reduce-l1-4"),
        ("MatMul", "opset1", "matrix/matmul-1"),
        ("LogSoftmax", "opset5", "activation/log-soft-max-5"),
        ("MVN", "opset2", "normalization/mvn-1"),
        ("Acosh", "opset4", "arithmetic/acosh-3"),
    ],
)
def test_page_of_the_specification(type: str, version: str, address: str) -> None:
    op = REGISTRY.find(type, version)
    assert op is not None
    assert (page(op) or "").endswith(f"/operation-sets/operation-specs/{address}.html")


def test_what_no_opset_holds_has_no_page() -> None:
    op = REGISTRY.find("SpaceToBatchND", "tensorflow")
    assert op is not None
    assert page(op) is None


@pytest.mark.parametrize(
    ("versions", "text"),
    [
        (["opset1"], "opset1"),
        (["opset2", "opset3", "opset4"], "opset2-opset4"),
        (["opset1", "opset3", "opset4", "opset17"], "opset1, opset3-opset4, opset17"),
        (["opset1", "opset2", "tensorflow"], "opset1-opset2, tensorflow"),
    ],
)
def test_runs_of_versions_are_drawn_together(versions: list[str], text: str) -> None:
    assert version_ranges(versions) == text


def test_ports_and_attributes() -> None:
    described = describe("SPACETODEPTH")
    assert described is not None
    one = described["versions"][0]
    assert (described["type"], described["category"]) == ("SpaceToDepth", "movement")
    assert [(port["name"], port["types"], port["min_rank"]) for port in one["inputs"]] == [("data", "any", 3)]
    assert [(port["name"], port["like"]) for port in one["outputs"]] == [("output", "data")]
    assert one["attributes"][1] == {"name": "mode", "type": "blocks_first | depth_first", "required": True, "default": "blocks_first"}


def test_an_unknown_type_is_not_described() -> None:
    assert describe("SpaceToVolume") is None


@pytest.mark.parametrize(
    ("type", "attribute", "text"),
    [
        ("SpaceToDepth", "block_size", "int"),
        ("Convolution", "strides", "list of int"),
        ("Parameter", "shape", "text"),
        ("Parameter", "element_type", "element type"),
    ],
)
def test_types_of_attributes(type: str, attribute: str, text: str) -> None:
    op = next(iter(REGISTRY.versions(type).values()))
    assert attribute_type(op.attributes[attribute].annotation) == text


@pytest.mark.parametrize(("value", "expected"), [((1, 2), [1, 2]), (ElementType.f32, "f32"), ("x", "x"), (None, None)])
def test_values_as_json(value: Any, expected: Any) -> None:
    assert plain(value) == expected
