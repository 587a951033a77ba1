"""The columns of a table of results: their names, kinds and meaning."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

TEXT: Final = "text"
NUMBER: Final = "number"
SECONDS: Final = "seconds"
COUNTS: Final = "counts"
TEXTS: Final = "texts"
FAULTS: Final = "faults"

# A number of a row is at most this one, which every format can hold; a hostile file may declare more.
MOST: Final = 2**63 - 1

VALID: Final = "valid"
INVALID: Final = "invalid"
FOREIGN: Final = "foreign"
FAILED: Final = "failed"
VERDICTS: Final = (VALID, INVALID, FOREIGN, FAILED)


class Field(NamedTuple):
    """A column: its name, its kind, its meaning, and whether a row may have no value there."""

    name: str
    kind: str
    about: str
    is_optional: bool = False


FIELDS: Final = (
    Field("file", TEXT, "the path or URL of the .xml; of a signed URL, without its query"),
    Field("verdict", TEXT, "valid, invalid (it has errors), foreign (XML that is no IR), failed (it could not be read or checked whole)"),
    Field("size", NUMBER, "the bytes of the .xml", True),
    Field("weights_size", NUMBER, "the bytes of the .bin; null if there is none", True),
    Field("hash", TEXT, "the SHA-256 of the .xml", True),
    Field("version", TEXT, "the versions of the .xml and the .bin: the ETag, else time and size", True),
    Field("ir_version", NUMBER, "the version of the IR", True),
    Field("oldest", TEXT, "the oldest release of OpenVINO that is known to read the model", True),
    Field("layers", NUMBER, "the number of layers, those of bodies included"),
    Field("opsets", COUNTS, "the number of layers of each opset"),
    Field("operations", COUNTS, "the number of layers of each type"),
    Field("parameters", NUMBER, "the number of elements of all constants"),
    Field("parameter_bytes", NUMBER, "the bytes of all constants"),
    Field("dynamic_inputs", TEXTS, "the inputs with open sizes, each with its shape"),
    Field("signature", TEXT, "the inputs and outputs in as few symbols as possible; null without open sizes or with errors", True),
    Field("macs", NUMBER, "with --cost: the multiply-accumulates of an inference, at the sizes `cost_at`", True),
    Field("flops", NUMBER, "with --cost: two for each multiply-accumulate and one for each other operation, at the sizes `cost_at`", True),
    Field("peak_memory", NUMBER, "with --cost: the most bytes that activations take at one time, at the sizes `cost_at`", True),
    Field("cost_at", TEXT, "with --cost: the sizes of the symbols of the signature at which a model with open sizes is counted", True),
    Field("macs_formula", TEXT, "with --cost: the multiply-accumulates of a model with open sizes, in the symbols of the signature", True),
    Field("errors", NUMBER, "the number of errors"),
    Field("warnings", NUMBER, "the number of warnings"),
    Field("notes", NUMBER, "the number of notes"),
    Field("diagnostics", FAULTS, "the faults, as in a report; those beyond a limit are in the numbers only"),
    Field("bytes_read", NUMBER, "the bytes read of the .xml and the .bin"),
    Field("seconds", SECONDS, "the time of reading and checking"),
    Field("settings", TEXT, "the version of irshape and a digest of the options; rows of a cache with other settings are not used"),
)

# The columns of a fault.
FAULT: Final = (
    Field("code", TEXT, "the code"),
    Field("severity", TEXT, "error, warning or note"),
    Field("message", TEXT, "what is wrong"),
    Field("layer", TEXT, "the id of the layer", True),
    Field("name", TEXT, "the name of the layer", True),
    Field("type", TEXT, "the type of the layer", True),
    Field("path", TEXT, "the layers and bodies around the layer", True),
    Field("port", TEXT, "the id of the port", True),
    Field("line", NUMBER, "the line in the .xml", True),
    Field("column", NUMBER, "the column in the line", True),
    Field("hint", TEXT, "the next step", True),
    Field("count", NUMBER, "the number of faults that this one stands for"),
)


def row_schema() -> dict[str, Any]:
    """The JSON Schema of a row, as `irshape scan` writes it into a `.jsonl` file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A row of irshape scan: one file",
        **_record(FIELDS),
    }


def _record(fields: tuple[Field, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {field.name: _schema(field) for field in fields},
        "required": [field.name for field in fields],
        "additionalProperties": False,
    }


def _schema(field: Field) -> dict[str, Any]:
    forms: dict[str, dict[str, Any]] = {
        TEXT: {"type": "string"},
        NUMBER: {"type": "integer", "minimum": 0, "maximum": MOST},
        SECONDS: {"type": "number", "minimum": 0},
        COUNTS: {"type": "object", "additionalProperties": {"type": "integer"}},
        TEXTS: {"type": "array", "items": {"type": "string"}},
    }
    form: dict[str, Any] = {"type": "array", "items": _record(FAULT)} if field.kind == FAULTS else forms[field.kind]
    if field.name == "verdict":
        form["enum"] = list(VERDICTS)
    if field.is_optional:
        form["type"] = [form["type"], "null"]
    return {**form, "description": field.about}
