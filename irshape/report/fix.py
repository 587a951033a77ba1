"""Fixes: the edits of a file that mend a fault."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from typing import NamedTuple


class Edit(NamedTuple):
    """Replace the bytes from `start` to `end` of a file by `text`. Lines and columns give the same range, counted from 1."""

    start: int
    end: int
    text: str
    line: int
    column: int
    end_line: int
    end_column: int


class Fix(NamedTuple):
    """The edits that mend a fault.

    A safe fix does not change what OpenVINO reads, or makes the file record what OpenVINO computes. For any other fix the author must
    decide whether it is right. `evidence` is why a safe fix is safe.
    """

    title: str
    edits: tuple[Edit, ...]
    is_safe: bool
    evidence: str = ""

    def __str__(self) -> str:
        """The title, and the evidence if there is any: `record [1,8] (the model computes it)`."""
        return f"{self.title} ({self.evidence})" if self.evidence else self.title


def compatible(fixes: Iterable[Fix]) -> tuple[list[Fix], list[Edit]]:
    """The fixes that can be applied together, and all their edits in order. Of fixes that overlap, the first is kept.

    Equal edits count as one; two insertions at the same place overlap.
    """
    chosen: list[Fix] = []
    taken: list[Edit] = []
    known: set[Edit] = set()
    for fix in fixes:
        new = [edit for edit in fix.edits if edit not in known]
        if not any(_overlaps(edit, taken) for edit in new):
            chosen.append(fix)
            known.update(new)
            for edit in new:
                insort(taken, edit)
    return chosen, taken


def _overlaps(edit: Edit, taken: list[Edit]) -> bool:
    """Whether an edit overlaps one of the taken edits. These do not overlap each other, so only the nearest two can."""
    at = bisect_left(taken, edit)
    return any(
        (edit.start < other.end and other.start < edit.end) or edit.start == edit.end == other.start == other.end
        for other in taken[max(at - 1, 0) : at + 1]
    )
