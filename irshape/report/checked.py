"""The outcome of a check for each file, and what the formats for other programs share: paths, messages, fingerprints."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from irshape.report.diagnostic import Diagnostic
from irshape.report.text import advice, consequences_text, escape

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
