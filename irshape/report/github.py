"""Reports as workflow commands, which GitHub Actions shows as annotations of the files."""

from collections.abc import Iterator, Sequence

from irshape.report.catalogue import CATALOGUE
from irshape.report.checked import Checked, relative, statement
from irshape.report.diagnostic import ERROR, NOTE, WARNING, causes
from irshape.report.text import counted, escape

# GitHub shows this many annotations of each kind for a step.
_MOST = 10
_COMMANDS = {ERROR: "error", WARNING: "warning", NOTE: "notice"}


def render(files: Sequence[Checked]) -> str:
    """A command for each cause of faults, errors first: GitHub shows only the first annotations; a notice says if there are more."""
    return "\n".join(_lines(files))


def _lines(files: Sequence[Checked]) -> Iterator[str]:
    for file in files:
        if file.complaint:
            yield _command("error", escape(file.complaint), file=relative(file.path), title="irshape: not checked")
    for severity, command in _COMMANDS.items():
        found = [(file, diagnostic) for file in files for diagnostic in causes(file.diagnostics) if diagnostic.severity == severity]
        for file, diagnostic in found:
            where, title = diagnostic.where, f"{diagnostic.code} {CATALOGUE[diagnostic.code].title}"
            yield _command(command, statement(diagnostic), file=relative(file.path), line=where.line, col=where.column, title=title)
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
