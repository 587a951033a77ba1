"""Reports in SARIF 2.1.0, within the limits of GitHub's code scanning."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import quote

from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import ERROR, NOTE, SEVERITIES, WARNING, Diagnostic, Edit, Where
from irshape.report.documents import Checked, identified, relative, statement
from irshape.report.text import counted, escape

# GitHub refuses more than 25,000 results and shows 5,000, with up to 100 places each.
_MOST_RESULTS: Final = 5_000
_MOST_PLACES: Final = 99
# GitHub takes 10 MB after compression, whose effect is not known in advance. The remainder is for the rules and the frame.
_MOST_BYTES: Final = 9_000_000


def render(files: Sequence[Checked], version: str) -> str:
    """One run with a result for each cause in all files, the most severe first; `version` is irshape's.

    Results beyond GitHub's limits are omitted, and a notification gives their number.
    """
    causes = (one for one in identified(files) if one[1].caused_by is None)
    found = sorted(causes, key=lambda one: SEVERITIES.index(one[1].severity))
    results: list[dict[str, Any]] = []
    left: Counter[str] = Counter()
    room = _MOST_BYTES
    for file, diagnostic, fingerprint in found:
        result = _result(file, diagnostic, fingerprint)
        size = len(json.dumps(result)) if not left and len(results) < _MOST_RESULTS else room + 1
        if size > room:
            left[diagnostic.severity] += 1
        else:
            room -= size
            results.append(result)
    rules = sorted({result["ruleId"] for result in results})
    for result in results:
        result["ruleIndex"] = rules.index(result["ruleId"])
    notifications = [_notification(ERROR, file.complaint, [_location(file.path)]) for file in files if file.complaint]
    if left:
        counts = " and ".join(counted(left[severity], severity) for severity in SEVERITIES if left[severity])
        limits = f"GitHub shows {_MOST_RESULTS:,} results and takes 10 MB"
        notifications.append(_notification(WARNING, f"this report omits {counts}: {limits}", []))
    run = {
        "tool": {"driver": {"name": "irshape", "semanticVersion": version, "rules": [_rule(code) for code in rules]}},
        "invocations": [{"executionSuccessful": not any(file.complaint for file in files), "toolExecutionNotifications": notifications}],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    schema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]})


def _message(text: str) -> dict[str, str]:
    """A message with the characters escaped that SARIF interprets: braces are placeholders, `[a](b)` is a link."""
    return {"text": text.replace("{", "{{").replace("}", "}}").replace("](", "] (")}


def _result(file: Checked, diagnostic: Diagnostic, fingerprint: str) -> dict[str, Any]:
    location = _location(file.path, diagnostic.where)
    if diagnostic.where.layer_id is not None or diagnostic.where.layer_type is not None:
        location["logicalLocations"] = [{"fullyQualifiedName": diagnostic.where.about(), "kind": "element"}]
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "level": diagnostic.severity,
        "message": _message(statement(diagnostic)),
        "locations": [location],
        "partialFingerprints": {"irshape/v1": fingerprint},
    }
    if diagnostic.related:
        related = diagnostic.related[:_MOST_PLACES]
        result["relatedLocations"] = [
            {"id": number, **_location(other.file or file.path, other), "message": _message(_name(other))}
            for number, other in enumerate(related, 1)
        ]
    if diagnostic.fix:
        change = {"artifactLocation": _artifact(file.path), "replacements": [*map(_replacement, diagnostic.fix.edits)]}
        result["fixes"] = [{"description": _message(escape(str(diagnostic.fix))), "artifactChanges": [change]}]
    return result


def _name(where: Where) -> str:
    return escape(f"{where.layer_type} {where.layer_name}") if where.layer_type else "see also"


def _artifact(path: str) -> dict[str, str]:
    place = relative(path)
    address = quote(os.fsencode(place))
    if not os.path.isabs(place):
        return {"uri": address}
    return {"uri": f"file://{address}" if address.startswith("/") else f"file:///{address}"}


def _location(path: str, where: Where | None = None) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": _artifact(path)}
    if where is not None:
        # GitHub shows no result without a line.
        place["region"] = {"startLine": where.line or 1, "startColumn": where.column or 1}
    return {"physicalLocation": place}


def _replacement(edit: Edit) -> dict[str, Any]:
    region = {"startLine": edit.line, "startColumn": edit.column, "endLine": edit.end_line, "endColumn": edit.end_column}
    return {"deletedRegion": region, "insertedContent": {"text": edit.text}}


def _notification(level: str, text: str, locations: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return {"level": level, "message": _message(escape(text)), "locations": [*locations]}


def _rule(code: str) -> dict[str, Any]:
    entry = CATALOGUE[code]
    help = f"Why it matters: {entry.why}\n\nWhat to do: {entry.fix}"
    markdown = f"**Why it matters:** {entry.why}\n\n**What to do:** {entry.fix}".replace("<", "&lt;")
    return {
        "id": code,
        "shortDescription": {"text": entry.title},
        "fullDescription": {"text": entry.meaning},
        "help": {"text": help, "markdown": markdown},
        "defaultConfiguration": {"level": entry.severity},
        "properties": {
            "tags": ["openvino"],
            "precision": "very-high",
            "problem.severity": "recommendation" if entry.severity == NOTE else entry.severity,
        },
    }
