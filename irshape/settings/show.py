"""The settings of a file as text, in the form of a configuration."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from irshape.report.catalogue import CATALOGUE
from irshape.report.selection import ALL, OFF
from irshape.settings.settings import Settings


def settings_text(path: str, settings: Settings) -> str:
    """The settings of a file as TOML: the configuration, its tables for the file, and the options of the command line, in one."""
    own = settings.of(path)
    source = own.configuration or "no configuration"
    tables = "".join(f", per-file {json.dumps(glob)}" for glob in own.tables)
    codes = list(CATALOGUE) if own.selection is None else own.selection.codes
    changed = {} if own.selection is None else {code: own.selection.severity(code, "") for code in CATALOGUE}
    levels = {code: level or OFF for code, level in changed.items() if level and level != CATALOGUE[code].severity}
    others = [code for code in CATALOGUE if code not in codes]
    has_most = len(others) < len(codes)
    rows = {
        "select": [ALL] if has_most else codes,
        "ignore": others if has_most else [],
        "opaque": list(own.opaque),
        "targets": list(own.targets),
        "weights": own.weights,
        "extensions": list(own.extensions),
        "baseline": own.baseline,
        "severity": levels,
        "inputs": own.inputs,
        "symbols": own.symbols,
        "limits": own.limits,
    }
    lines = [f"# {path}: {source}{tables}", *(f"{key} = {_toml(value)}" for key, value in rows.items() if value or value is False)]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    """A value as TOML; strings are written as in JSON, which TOML reads."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_toml(str(key))} = {_toml(one)}" for key, one in value.items()) + "}"
    return json.dumps(value)
