"""Reports about all files of a run for other programs: annotations of GitHub, GitLab's Code Quality, and JUnit."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import BEYOND, ERROR, NOTE, SEVERITIES, WARNING, Diagnostic, causes
from irshape.report.text import advice, consequences_text, counted, escape, verdict

# Messages are cut to this many characters; viewers show no more.
_LONGEST: Final = 1_000


class Checked(NamedTuple):
    """One file of a run: its diagnostics, or in `complaint` the reason why it could not be checked.

    `is_passed` says whether the file lets the run exit with 0.
    """

    path: str
    diagnostics: Sequence[Diagnostic] = ()
    complaint: str = ""
    is_passed: bool = True


def relative(path: str, folder: str = os.curdir) -> str:
    """A path relative to a folder, by default the working folder, with slashes; the absolute path of a file that is not below it."""
    full = os.path.abspath(path)
    try:
        short = os.path.relpath(full, folder)
    except ValueError:  # another drive
        short = full
    return (full if short.split(os.sep)[0] == os.pardir else short).replace(os.sep, "/")


def statement(diagnostic: Diagnostic) -> str:
    """The message with its layer, then the hint and the fix on lines of their own.

    Text from the file is escaped, so that a file can neither add lines nor forge them.
    """
    context = diagnostic.where.about()
    lines = [_cut(escape(diagnostic.message)) + (f" [{context}]" if context else "")]
    if follow := consequences_text(diagnostic):
        lines.append(follow)
    return "\n".join([*lines, *(f"{label}: {_cut(escape(text))}" for label, text in advice(diagnostic))])


def _stated(file: Checked) -> list[tuple[Diagnostic, str]]:
    """Each cause of faults with its statement; what stands for the faults beyond a limit is a line of the fault before it."""
    found: list[tuple[Diagnostic, str]] = []
    for one in causes(file.diagnostics):
        text = statement(one)
        if one.message.startswith(BEYOND) and found and found[-1][0].code == one.code:
            one, text = found[-1][0], f"{found.pop()[1]}\n{text}"
        found.append((one, text))
    return found


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}…{text[-_LONGEST // 2 :]}"


def identified(files: Sequence[Checked], folder: str = os.curdir) -> Iterator[tuple[Checked, Diagnostic, str]]:
    """Every diagnostic with its file and a fingerprint: unique, and stable if other lines of the file change.

    The fingerprint is a hash of file, code, layer and port, and of a number for diagnostics that share all of these. Paths are relative to
    a folder, by default the working folder.
    """
    from hashlib import sha256

    seen: dict[tuple[str | None, ...], int] = {}
    for file in files:
        path = relative(file.path, folder)
        for diagnostic in file.diagnostics:
            where = diagnostic.where
            key = (path, diagnostic.code, where.path, where.layer_type, where.layer_name or where.layer_id, where.port)
            seen[key] = number = seen.get(key, 0) + 1
            yield file, diagnostic, sha256(repr((*key, number)).encode()).hexdigest()[:32]


# GitHub shows this many annotations of each kind for a step.
_MOST = 10
_COMMANDS = {ERROR: "error", WARNING: "warning", NOTE: "notice"}


def github(files: Sequence[Checked]) -> str:
    """A command for each cause of faults, errors first: GitHub shows only the first annotations; a notice says if there are more."""
    return "\n".join(_lines(files))


def _lines(files: Sequence[Checked]) -> Iterator[str]:
    for file in files:
        if file.complaint:
            yield _command("error", escape(file.complaint), file=relative(file.path), title="irshape: not checked")
    for severity, command in _COMMANDS.items():
        found = [(file, one, text) for file in files for one, text in _stated(file) if one.severity == severity]
        for file, one, text in found:
            title = f"{one.code} {CATALOGUE[one.code].title}"
            yield _command(command, text, file=relative(file.path), line=one.where.line, col=one.where.column, title=title)
        if len(found) > _MOST:
            yield _command("notice", f"{counted(len(found), severity)}; GitHub shows the first {_MOST} beside the files", title="irshape")


def _command(command: str, message: str, **properties: str | int | None) -> str:
    known = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items() if value is not None)
    return f"::{command} {known}::{_data(message)}"


def _data(text: str) -> str:
    """Text as the data of a command: line feeds are encoded, other characters that are not printable are escaped."""
    return "%0A".join(escape(line).replace("%", "%25") for line in text.split("\n"))


def _property(text: str) -> str:
    return escape(text).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")


_SEVERITIES: Final = {ERROR: "critical", WARNING: "minor", NOTE: "info"}


def gitlab(files: Sequence[Checked]) -> str:
    """A JSON array with an issue for each cause of faults and for each file that could not be checked."""
    issues = [
        _issue(escape(file.complaint), "unreadable", f"unreadable {relative(file.path)}", "blocker", file)
        for file in files
        if file.complaint
    ]
    told = {id(one): text for file in files for one, text in _stated(file)}
    for file, diagnostic, fingerprint in identified(files):
        if text := told.get(id(diagnostic)):
            severity = _SEVERITIES[diagnostic.severity]
            issues.append(_issue(text, diagnostic.code, fingerprint, severity, file, diagnostic.where.line or 1))
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


def junit(files: Sequence[Checked]) -> str:
    """One test suite. The diagnostics of a file are the text of its failure, or its output if the file passes.

    Characters that XML cannot represent are not printable, so they are already escaped.
    """
    from xml.etree import ElementTree

    from irshape.report.section import faults
    from irshape.report.terminal import block_lines

    errors = sum(bool(file.complaint) for file in files)
    failures = sum(not file.is_passed for file in files) - errors
    counts = {"tests": str(len(files)), "failures": str(failures), "errors": str(errors)}
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "irshape", **counts, "skipped": "0"})
    for file in files:
        case = ElementTree.SubElement(suite, "testcase", {"classname": "irshape", "name": escape(file.path), "file": escape(file.path)})
        text = "\n".join(block_lines(faults(file.diagnostics)))
        if file.complaint:
            ElementTree.SubElement(case, "error", {"message": escape(file.complaint), "type": "error"}).text = text
        elif not file.is_passed:
            worst = min(file.diagnostics, key=lambda diagnostic: SEVERITIES.index(diagnostic.severity))
            message = verdict(Counter(diagnostic.severity for diagnostic in file.diagnostics))
            ElementTree.SubElement(case, "failure", {"message": message, "type": worst.code}).text = text
        elif text:
            ElementTree.SubElement(case, "system-out").text = text
    ElementTree.indent(root)
    # ASCII is valid in any encoding of the output.
    document: bytes = ElementTree.tostring(root, "us-ascii", xml_declaration=True)
    return document.decode()
