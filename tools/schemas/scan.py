"""The JSON Schema of a row, as `irshape scan` writes it into a `.jsonl` file."""

from typing import Any

from irshape.report.form import Field, Form
from irshape.scanning.table import COUNTS, FAULT, FAULTS, FIELDS, MOST, NUMBER, SECONDS, TEXT, TEXTS, VERDICTS, RowField


def row_schema() -> dict[str, Any]:
    """The schema: a property for each column."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A row of irshape scan: one file", **_record(FIELDS)}


def _record(fields: tuple[RowField, ...]) -> dict[str, Any]:
    return Form(**{field.name: Field(_schema(field)) for field in fields}).schema


def _schema(field: RowField) -> dict[str, Any]:
    forms: dict[str, dict[str, Any]] = {
        TEXT: {"type": "string"},
        NUMBER: {"type": "integer", "minimum": 0, "maximum": MOST},
        SECONDS: {"type": "number", "minimum": 0},
        COUNTS: {"type": "object", "additionalProperties": {"type": "integer"}},
        TEXTS: {"type": "array", "items": {"type": "string"}},
    }
    found: dict[str, Any] = {"type": "array", "items": _record(FAULT)} if field.kind == FAULTS else forms[field.kind]
    if field.name == "verdict":
        found["enum"] = list(VERDICTS)
    if field.is_optional:
        found["type"] = [found["type"], "null"]
    return {**found, "description": field.about}
