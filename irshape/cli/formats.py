"""The formats of `irshape check` that put all files of a run into one document for another program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from irshape import __version__

if TYPE_CHECKING:
    from irshape.report.checked import Checked

DOCUMENTS: Final = ("sarif", "junit", "github", "gitlab")


def document(format: str, checked: Sequence[Checked]) -> str:
    """The findings of a run, in one of the formats."""
    if format == "sarif":
        from irshape.report import sarif

        return sarif.render(checked, __version__)
    if format == "junit":
        from irshape.report.junit import render
    elif format == "github":
        from irshape.report.github import render
    else:
        from irshape.report.gitlab import render
    return render(checked)
