"""The published schemas."""

import json
from functools import cache
from typing import Any

import jsonschema

from tests.support.places import ROOT


@cache
def validator(name: str) -> Any:
    """The validator of a published schema, after a check of the schema itself."""
    schema = json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)
