"""The JSON Schema of a TOML file of operations, for editors and for `check-jsonschema`."""

from typing import Any

from irshape.ops.declared.file import KEYS

_DESCRIPTIONS = {
    "summary": "one line that says what the operation does",
    "version": "the version that the layer has in the IR; `extension` if it is not given",
    "inputs": "the ports in their order: `data: float[N, C, S...]`; ports that are absent or repeated together: `(a: i32[N], b: i32[N])?`",
    "outputs": "the ports in their order, with formulas for their sizes: `rows: like data[N, C//2]`",
    "attributes": "the type of each attribute, and its default: `int >= 1, default 16`",
    "conditions": "conditions on sizes and attributes, each with the message for a layer that breaks it",
}


def extension_schema() -> dict[str, Any]:
    """The schema: a table for each operation, and the name of the library that runs the operations."""
    texts: dict[type, dict[str, Any]] = {
        str: {"type": "string"},
        list: {"type": "array", "items": {"type": "string"}},
        dict: {"type": "object", "additionalProperties": {"type": "string"}},
    }
    properties = {key: {**texts[kind], "description": _DESCRIPTIONS[key]} for key, (kind, _) in KEYS.items()}
    properties["outputs"]["minItems"] = 1
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Operations of an extension, as --extensions reads them",
        "type": "object",
        "properties": {
            "extension": {"type": "string", "description": "the library that OpenVINO needs to run these operations"},
        },
        "additionalProperties": {"type": "object", "properties": properties, "required": ["outputs"], "additionalProperties": False},
    }
