"""Reading of configuration files: every fault with its file, line and key."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Sequence
from typing import Any, Final

from irshape.settings.configuration import Configuration
from irshape.settings.find import SHARED

_HEADER: Final = re.compile(r"\s*\[{1,2}([^\[\]]*(?:\"[^\"]*\"|'[^']*'|[^\[\]\"'])*)\]{1,2}\s*(?:#.*)?$")
_KEY: Final = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[\w-]+))*)\s*=""")
_PART: Final = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*\.?""")
_PLACE: Final = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)$")


class ConfigurationError(ValueError):
    """A configuration that cannot be used; each line of the message is a fault with its place."""


def read(path: str) -> Configuration:
    """The configuration in a file. Raises `ConfigurationError` with every fault of it."""
    shown = os.path.relpath(path)
    try:
        with open(path, "rb") as file:
            text = file.read().decode("utf-8-sig")
    except OSError as error:
        raise ConfigurationError(f"{shown}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{shown}: the file is not UTF-8; save it as UTF-8") from None
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line = place[1] if place and place[1] else text.count("\n") + 1
        raise ConfigurationError(f"{shown}:{line}: this is not TOML: {_PLACE.sub('', str(error))}") from None
    before = ("tool", "irshape") if os.path.basename(path) == SHARED else ()
    table: Any = document
    for key in before:
        table = table.get(key, {}) if isinstance(table, dict) else {}
    if not isinstance(table, dict):
        raise ConfigurationError(f"{shown}:{line_of(text, before)}: tool.irshape: expected a table, found {table!r}")
    try:
        from pydantic import ValidationError
    except ImportError:
        raise ConfigurationError(f"{shown}: reading a configuration needs pydantic: pip install pydantic") from None

    from irshape.settings.schema import configuration, faults

    try:
        return configuration(os.path.abspath(path), table)
    except ValidationError as error:
        found = sorted((line_of(text, (*before, *keys)), ".".join(keys), message) for keys, message in faults(error))
        raise ConfigurationError("\n".join(f"{shown}:{line}: {key}: {message}" for line, key, message in found)) from None


def line_of(text: str, keys: Sequence[str]) -> int:
    """The line, from 1, that sets a key, or else the nearest table or key around it. Elements of arrays are found at their array."""
    best, line = -1, 1
    table: tuple[str, ...] = ()
    for number, content in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(content):
            table = _parts(header[1])
            path = table
        elif key := _KEY.match(content):
            path = (*table, *_parts(key[1]))
        else:
            continue
        if len(path) > best and tuple(keys[: len(path)]) == path:
            best, line = len(path), number
    return line


def _parts(text: str) -> tuple[str, ...]:
    """The keys of a dotted key."""
    return tuple(next(part for part in match.groups() if part is not None) for match in _PART.finditer(text))
