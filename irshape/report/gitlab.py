"""Reports in the format of GitLab's Code Quality."""

import json
import os
from collections.abc import Sequence
from typing import Any, Final

from irshape.report.checked import Checked, identified, relative, statement
from irshape.report.diagnostic import ERROR, NOTE, WARNING
from irshape.report.text import escape

_SEVERITIES: Final = {ERROR: "critical", WARNING: "minor", NOTE: "info"}


def render(files: Sequence[Checked]) -> str:
    """A JSON array with an issue for each cause of faults and for each file that could not be checked."""
    issues = [
        _issue(escape(file.complaint), "unreadable", f"unreadable {relative(file.path)}", "blocker", file)
        for file in files
        if file.complaint
    ]
    for file, diagnostic, fingerprint in identified(files):
        if diagnostic.caused_by is not None:
            continue
        severity = _SEVERITIES[diagnostic.severity]
        issues.append(_issue(statement(diagnostic), diagnostic.code, fingerprint, severity, file, diagnostic.where.line or 1))
    return json.dumps(issues, indent=2)


def _issue(text: str, code: str, fingerprint: str, severity: str, file: Checked, line: int = 1) -> dict[str, Any]:
    path = os.fsencode(relative(file.path)).decode("utf-8", "replace")
    return {
        "description": text,
        "check_name": code,
        "fingerprint": fingerprint,
        "severity": severity,
        "location": {"path": path, "lines": {"begin": line}},
    }
