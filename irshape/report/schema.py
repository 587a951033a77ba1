"""JSON Schemas of what irshape reports."""

from __future__ import annotations

from typing import Any

from irshape.report.catalogue import CATALOGUE

_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def _nullable(type: str, description: str) -> dict[str, Any]:
    return {"type": [type, "null"], "description": description}


def _object(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False, **more}


def _diagnostic() -> dict[str, Any]:
    layer = {
        "id": _nullable("string", "the layer's id in the file"),
        "name": _nullable("string", "the layer's name in the file"),
        "type": _nullable("string", "the layer's type in the file"),
        "path": _nullable("string", "the bodies around the layer, outermost first"),
    }
    return _object(
        {
            "code": {"enum": sorted(CATALOGUE), "description": "what kind of fault it is; docs/diagnostics.md explains each"},
            "severity": {"enum": ["error", "warning", "note"]},
            "message": {"type": "string"},
            "file": _nullable("string", "the path as it was given"),
            "layer": {"anyOf": [_object(layer), {"type": "null"}]},
            "port": _nullable("string", "the port's id in the file"),
            "line": _nullable("integer", "counted from 1"),
            "column": _nullable("integer", "counted from 1, in characters"),
            "offset": _nullable("integer", "counted from 0, in bytes"),
            "hint": _nullable("string", "what would mend it"),
        }
    )


def diagnostic_schema() -> dict[str, Any]:
    """The schema of one diagnostic."""
    return {"$schema": _DRAFT, "title": "A fault of an OpenVINO IR, as irshape reports it", **_diagnostic()}


def report_schema() -> dict[str, Any]:
    """The schema of the report of one file: `Inference.to_dict()`, and what `--format json` prints."""
    shape = r"^\[(\.\.\.|(\?|\d+|\d*\.\.\d*)(,(\?|\d+|\d*\.\.\d*))*)?\]$"
    port = {
        "type": "array",
        "prefixItems": [{"type": "string", "description": "the element type: f32"}, {"type": "string", "pattern": shape}],
        "items": False,
        "minItems": 2,
    }
    guard = {
        "condition": {"type": "string", "description": "a relation of the symbols"},
        "message": {"type": "string", "description": "what the layer needs it for"},
        "layer": {"type": "string", "description": "the layer's id in the file"},
        "name": {"type": "string", "description": "the layer's name in the file"},
        "path": _nullable("string", "the bodies around the layer, outermost first"),
        "line": {"type": "integer", "description": "counted from 1"},
    }
    properties = {
        "file": _nullable("string", "the path as it was given; null for bytes and trees"),
        "ok": {"type": "boolean", "description": "no diagnostic is an error"},
        "diagnostics": {"type": "array", "items": {"$ref": "#/$defs/diagnostic"}},
        "ports": {
            "description": "element type and shape of every output port, by LAYER:PORT as the file numbers them",
            "type": "object",
            "additionalProperties": port,
        },
        "symbolic": {
            "description": "the same shapes as formulas, where a size is not a plain number",
            "type": "object",
            "additionalProperties": {"type": "string"},
        },
        "guards": {"description": "what must hold for the symbols", "type": "array", "items": _object(guard)},
    }
    title = "What irshape reports of an OpenVINO IR"
    return {"$schema": _DRAFT, "title": title, **_object(properties), "$defs": {"diagnostic": _diagnostic()}}
