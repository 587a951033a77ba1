"""The published schemas describe every report of irshape."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import irshape

ROOT = Path(__file__).parent.parent.parent
FILES = sorted([*(ROOT / "examples").glob("*.xml"), *(ROOT / "tests" / "data").glob("*.xml")])


@cache
def validator(name: str) -> Any:
    """The validator of a published schema, after a check of the schema itself."""
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
