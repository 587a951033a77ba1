"""What a run found in each file, and what the formats for other programs share: paths, sentences, fingerprints."""

import os
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from irshape.report.diagnostic import Diagnostic
from irshape.report.text import about, advice, escape

# No viewer shows more of a message.
_LONGEST: Final = 1_000


class Checked(NamedTuple):
    """One file of a run: its faults, or why it could not be checked. `is_passed` is what the exit code says of it."""

    path: str
    diagnostics: Sequence[Diagnostic] = ()
    complaint: str = ""
    is_passed: bool = True


def relative(path: str) -> str:
    """A path from the working folder, with slashes; the whole path of a file that is not below it."""
    full = os.path.abspath(path)
    try:
        short = os.path.relpath(full)
    except ValueError:  # another drive
        short = full
    return (full if short.split(os.sep)[0] == os.pardir else short).replace(os.sep, "/")


def statement(diagnostic: Diagnostic) -> str:
    """What is wrong with which layer, and on further lines what would mend it; a file can neither add lines to it nor hide in them."""
    context = about(diagnostic)
    lines = [_cut(escape(diagnostic.message)) + (f" [{context}]" if context else "")]
    return "\n".join([*lines, *(f"{label}: {_cut(escape(text))}" for label, text in advice(diagnostic))])


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}…{text[-_LONGEST // 2 :]}"


def identified(files: Sequence[Checked]) -> Iterator[tuple[Checked, Diagnostic, str]]:
    """Every diagnostic with its file and a fingerprint, which no other has and which stays when lines come and go elsewhere.

    It is made of file, code, layer and port; faults that share all of these are counted.
    """
    from hashlib import sha256

    seen: dict[tuple[str | None, ...], int] = {}
    for file in files:
        path = relative(file.path)
        for diagnostic in file.diagnostics:
            where = diagnostic.where
            key = (path, diagnostic.code, where.path, where.layer_type, where.layer_name or where.layer_id, where.port)
            seen[key] = number = seen.get(key, 0) + 1
            yield file, diagnostic, sha256(repr((*key, number)).encode()).hexdigest()[:32]
