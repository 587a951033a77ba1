"""The published schema describes the attributes of every operation."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from irshape.ops.attribute import Attribute
from irshape.ops.op import OpClass
from irshape.ops.registry import REGISTRY

SCHEMA = json.loads((Path(__file__).parent.parent / "schemas" / "operations.schema.json").read_text(encoding="utf-8"))


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def sample(op: OpClass, attribute: Attribute) -> Any:
    """A value that the schema of an attribute should accept."""
    schema = SCHEMA["$defs"][f"{op.TYPE}-{op.VERSION}"]["properties"]["attributes"]["properties"][attribute.spelling]
    if "default" in schema and schema["default"] is not None:
        return schema["default"]
    if "enum" in schema:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    return {"integer": schema.get("minimum", 1), "number": 1.0, "boolean": True, "string": "x", "array": []}[schema["type"]]


@pytest.mark.parametrize("op", REGISTRY.classes(), ids=lambda op: f"{op.TYPE}-{op.VERSION}")
def test_attributes_of_every_operation(op: OpClass) -> None:
    """A complete set of attributes is valid; an additional attribute or a text in place of a number is not."""
    attributes = {attribute.spelling: sample(op, attribute) for attribute in op.attributes.values()}
    layer = {"type": op.TYPE, "version": op.VERSION, "attributes": attributes}
    definition = jsonschema.Draft202012Validator({"$ref": f"#/$defs/{op.TYPE}-{op.VERSION}", "$defs": SCHEMA["$defs"]})
    definition.validate(layer)
    assert not definition.is_valid(layer | {"attributes": attributes | {"surplus": 1}})
    for name, value in attributes.items():
        if type(value) in (int, float):
            assert not definition.is_valid(layer | {"attributes": attributes | {name: "many"}})
