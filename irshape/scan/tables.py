"""Rows as a table of somebody holds them: each is read into the form of `irshape.scan.fields`, or refused with its place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, Any, Final

from irshape.scan.fields import COUNTS, FAULT, FAULTS, FIELDS, MOST, NUMBER, SECONDS, TEXT, TEXTS, VERDICTS, Field
from irshape.scan.row import Row

# The most bytes of a line. A row lists 200 faults at most, whose texts are short.
LONGEST: Final = 1 << 24

_KINDS: Final[dict[str, tuple[type, str]]] = {
    TEXT: (str, "a text"),
    NUMBER: (int, "a whole number"),
    SECONDS: (float, "a number"),
    COUNTS: (dict, "an object of whole numbers"),
    TEXTS: (list, "an array of texts"),
    FAULTS: (list, "an array of faults"),
}


class RowFault(ValueError):
    """Something that is no row; the message says what was found and what was expected, and quotes nothing."""


def parsed(line: bytes) -> Any:
    """The JSON on a line. Raises `RowFault`."""
    if len(line) > LONGEST:
        raise RowFault(f"the line has more than {LONGEST:,} bytes")
    try:
        return json.loads(line)
    except RecursionError:
        raise RowFault("the JSON nests too deeply") from None
    except ValueError:
        raise RowFault("expected JSON, an object on each line") from None


def checked(found: Any, fields: tuple[Field, ...] = FIELDS) -> Row:
    """A row, after every column was looked at. Raises `RowFault`."""
    if not isinstance(found, dict):
        raise RowFault(f"expected an object, found {_kind(found)}")
    for field in fields:
        if field.name not in found:
            raise RowFault(f"the column {field.name!r} is missing")
        value = found[field.name]
        if not (_fits(field, value) or (value is None and field.is_optional)):
            raise RowFault(f"the column {field.name!r} must be {_KINDS[field.kind][1]}, found {_kind(value)}")
        if field.kind == FAULTS:
            for fault in value:
                checked(fault, FAULT)
    if fields is FIELDS and found["verdict"] not in VERDICTS:
        raise RowFault(f"the column 'verdict' must be one of {', '.join(VERDICTS)}")
    return found


def rows(file: IO[bytes]) -> Iterator[Row]:
    """The rows of JSON lines, also of an unfinished table, whose first line says how it is made. Raises `RowFault`."""
    number = 0
    while line := file.readline(LONGEST + 1):
        number += 1
        try:
            found = parsed(line)
            if not (number == 1 and isinstance(found, dict) and "unfinished" in found):
                yield checked(found)
        except RowFault as fault:
            raise RowFault(f"line {number}: {fault}") from None


def _fits(field: Field, value: Any) -> bool:
    kind = field.kind
    if kind == NUMBER:
        return type(value) is int and 0 <= value <= MOST
    if kind == SECONDS:
        return type(value) in (int, float) and 0 <= value < 1e12
    if kind == COUNTS:
        return isinstance(value, dict) and all(type(one) is int and 0 <= one <= MOST for one in value.values())
    if kind == TEXTS:
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    return isinstance(value, _KINDS[kind][0])


def _kind(value: Any) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "an array", dict: "an object"}
    return names.get(type(value), "null")
