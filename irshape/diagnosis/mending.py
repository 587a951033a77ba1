"""Mend a file by the safe fixes of its faults."""

from __future__ import annotations

import errno

from irshape.files.reading import read
from irshape.files.writing import write_atomic
from irshape.inference.inference import Inference
from irshape.report.diagnostic import Diagnostic, Edit, compatible
from irshape.xml.writer import Splice, spliced


def mendable(inference: Inference) -> tuple[list[Diagnostic], list[Edit]]:
    """The faults with a safe fix, and the edits that mend them, in the order of the file; of fixes that overlap, only the first."""
    safe = {diagnostic: diagnostic.fix for diagnostic in inference.diagnostics if diagnostic.fix and diagnostic.fix.is_safe}
    fixes, edits = compatible(safe.values())
    chosen = set(fixes)
    return [diagnostic for diagnostic, fix in safe.items() if fix in chosen], edits


def mended_file(inference: Inference) -> bytes:
    """The file with its safe fixes made; every other byte is unchanged."""
    return spliced(inference.document, [Splice(edit.start, edit.end, edit.text) for edit in mendable(inference)[1]])


def mend(inference: Inference) -> list[Diagnostic]:
    """Make the safe fixes in the file itself, all at once or not at all, and return the faults that they mend.

    Raises `OSError` if the file cannot be written, or no longer holds the bytes that were checked.
    """
    faults, _ = mendable(inference)
    if faults:
        path = inference.document.path
        if path is None:
            raise OSError(errno.ENOENT, "the model was not read from a file")
        if read(path, len(inference.document.source)) != inference.document.source:
            raise OSError(errno.EINVAL, "not mended: the file is compressed, or it has changed since it was read", path)
        write_atomic(path, mended_file(inference), in_place=True, source=path)
    return faults
