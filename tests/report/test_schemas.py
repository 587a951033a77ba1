"""The published schemas hold for everything irshape reports and for the attributes of every operation."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import irshape
from irshape.ops.attribute import Attribute
from irshape.ops.describe import plain
from irshape.ops.op import OpClass
from irshape.ops.registry import REGISTRY

ROOT = Path(__file__).parent.parent.parent
FILES = sorted([*(ROOT / "examples").glob("*.xml"), *(ROOT / "tests" / "data").glob("*.xml")])


@cache
def validator(name: str) -> Any:
    """The validator of a published schema, which is a schema itself."""
    schema = json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_reports_are_valid(path: Path) -> None:
    for verb in (irshape.infer, irshape.check):
        report = json.loads(json.dumps(verb(path).to_dict()))
        validator("report").validate(report)
        for diagnostic in report["diagnostics"]:
            validator("diagnostics").validate(diagnostic)


@pytest.mark.parametrize("shape", ["[]", "[...]", "[1]", "[1,?,2..5,..8,3..]"])
def test_shapes_in_reports(shape: str) -> None:
    report = irshape.infer(b"<net/>").to_dict() | {"ports": {"0:0": ["f32", shape]}}
    validator("report").validate(report)


@pytest.mark.parametrize("shape", ["", "1,2", "[1,]", "[a]", "[1, 2]", "[-1]"])
def test_shapes_not_in_reports(shape: str) -> None:
    report = irshape.infer(b"<net/>").to_dict() | {"ports": {"0:0": ["f32", shape]}}
    assert not validator("report").is_valid(report)


def sample(op: OpClass, attribute: Attribute) -> Any:
    """A value of an attribute as its schema should take it."""
    schema = validator("operations").schema["$defs"][f"{op.TYPE}-{op.VERSION}"]["properties"]["attributes"]["properties"][
        attribute.spelling
    ]
    if "default" in schema and schema["default"] is not None:
        return schema["default"]
    if "enum" in schema:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    return {"integer": schema.get("minimum", 1), "number": 1.0, "boolean": True, "string": "x", "array": []}[schema["type"]]


@pytest.mark.parametrize("op", REGISTRY.classes(), ids=lambda op: f"{op.TYPE}-{op.VERSION}")
def test_attributes_of_every_operation(op: OpClass) -> None:
    """A complete set of attributes is valid; one more is not, nor is a text in place of a number."""
    attributes = {attribute.spelling: sample(op, attribute) for attribute in op.attributes.values()}
    layer = {"type": op.TYPE, "version": op.VERSION, "attributes": attributes}
    schema = validator("operations")
    definition = schema.evolve(schema={"$ref": f"#/$defs/{op.TYPE}-{op.VERSION}", "$defs": schema.schema["$defs"]})
    definition.validate(layer)
    assert not definition.is_valid(layer | {"attributes": attributes | {"surplus": 1}})
    for name, value in attributes.items():
        if type(value) in (int, float):
            assert not definition.is_valid(layer | {"attributes": attributes | {name: "many"}})


@pytest.mark.parametrize(("value", "expected"), [((1, 2), [1, 2]), (irshape.ElementType.f32, "f32"), ("x", "x"), (None, None)])
def test_values_as_json(value: Any, expected: Any) -> None:
    assert plain(value) == expected
