"""The published schemas."""

import json
from functools import cache
from typing import Any

from tests.support.places import ROOT


@cache
def validator(name: str) -> Any:
    """The validator of a published schema, after a check of the schema itself."""
    import jsonschema  # where it is missing, only the tests that need it are left out

    schema = json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)
