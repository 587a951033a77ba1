"""Reports as JSON: one port, diagnostic or guard on a line, or one report on a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def compact(report: Mapping[str, Any]) -> str:
    """A report on one line."""
    return json.dumps(report, separators=(",", ":"))


def readable(report: Mapping[str, Any]) -> str:
    """A report with each member of its arrays and objects on a line of its own."""
    members = ",\n".join(f"  {json.dumps(key)}: {_member(value)}" for key, value in report.items())
    return f"{{\n{members}\n}}"


def _member(value: Any) -> str:
    if isinstance(value, dict) and value:
        return "{\n" + ",\n".join(f"    {json.dumps(key)}: {json.dumps(item)}" for key, item in value.items()) + "\n  }"
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(f"    {json.dumps(item)}" for item in value) + "\n  ]"
    return json.dumps(value)
