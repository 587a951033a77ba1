"""The schema of operations and the catalogue of codes fit the code; `.ci/lint` checks that derived files are fresh."""

import json
import re
from typing import Any

import jsonschema
import pytest

from irshape.ops.attribute import Attribute
from irshape.ops.op import OpClass
from irshape.ops.registry import REGISTRY
from irshape.report.catalogue import CATALOGUE, Code
from tests.support.places import ROOT

SCHEMA = json.loads((ROOT / "schemas" / "operations.schema.json").read_text(encoding="utf-8"))


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


PACKAGE = ROOT / "irshape"
SOURCES = "\n".join(
    path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py") if path.name != "catalogue.py" and "snippets" not in path.parts
)
REPORTED = set(re.findall(r'"([XNGATSVWRPI]\d{3})"', SOURCES))


def test_what_is_reported_is_in_the_catalogue() -> None:
    assert not REPORTED - set(CATALOGUE)


def test_what_is_in_the_catalogue_is_reported() -> None:
    assert not set(CATALOGUE) - REPORTED


@pytest.mark.parametrize("code", CATALOGUE.values(), ids=list(CATALOGUE))
def test_code_is_explained(code: Code) -> None:
    assert code.severity in ("error", "warning", "note")
    assert code.severity == "warning" or not code.code.startswith("R")
    assert code.title and not code.title.endswith(".")
    for text in (code.meaning, code.why, code.fix):
        assert text.endswith(".") and not text[0].isspace()


def test_the_pages_have_every_code() -> None:
    """Each code has its own part on one page, and a row in the list of all."""
    pages = [path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "diagnostics").glob("*.md")]
    assert sorted(re.findall(r"^## (\w\d{3}) ", "\n".join(pages), re.MULTILINE)) == sorted(CATALOGUE)
    index = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| \[(\w\d{3})\]\(diagnostics/", index, re.MULTILINE)) == sorted(CATALOGUE)
