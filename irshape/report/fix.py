"""What would mend a fault: replacements in its file, as data."""

from bisect import bisect_left, insort
from collections.abc import Iterable
from typing import Any, NamedTuple


class Edit(NamedTuple):
    """Put `text` in place of the bytes from `start` to `end` of a file; lines and columns say the same, both counted from 1."""

    start: int
    end: int
    text: str
    line: int
    column: int
    end_line: int
    end_column: int


class Fix(NamedTuple):
    """The edits that mend a fault.

    A safe one leaves the model as OpenVINO reads it, or makes the file say what OpenVINO computes; of any other the author
    has to decide whether it is what was meant.
    """

    title: str
    edits: tuple[Edit, ...]
    is_safe: bool

    def to_dict(self) -> dict[str, Any]:
        """The form of `schemas/report.schema.json`."""
        return {"title": self.title, "safe": self.is_safe, "edits": [edit._asdict() for edit in self.edits]}


def compatible(fixes: Iterable[Fix]) -> tuple[list[Fix], list[Edit]]:
    """Those of the fixes that can be applied together, the first of any that overlap, and all their edits in order.

    Edits that are equal are one; two insertions at the same place overlap.
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
    """Whether an edit touches what one of those taken touches; as they do not overlap each other, only its neighbours can."""
    at = bisect_left(taken, edit)
    return any(
        (edit.start < other.end and other.start < edit.end) or edit.start == edit.end == other.start == other.end
        for other in taken[max(at - 1, 0) : at + 1]
    )
