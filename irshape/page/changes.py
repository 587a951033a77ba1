"""The changes between two models, as the page of the second one shows them."""

from __future__ import annotations

from typing import Any, Final

from irshape.answers.diff import Difference
from irshape.answers.hierarchy.hierarchy import Hierarchy
from irshape.report.diagnostic import clipped
from irshape.report.printable import escape

# The most shapes that follow from changes and are listed; all are marked.
_MOST_EFFECTS: Final = 1_000
# The marks of layers; of a group the first that a layer in it has.
_MARKS: Final = ("added", "changed", "follows")


def changes_of(difference: Difference, hierarchy: Hierarchy) -> dict[str, Any]:
    """The changes, and the marks of layers and groups by the numbers that the page gives them.

    `difference` is from some model to the one of `hierarchy`. A layer that only the first model has is listed, and stands in no graph.
    """
    rows: list[dict[str, Any]] = []
    marks: dict[int, str] = {}
    for change in difference.changes:
        mark = change.kind if change.kind in ("added", "removed") else "changed"
        position = -1 if change.b is None else hierarchy.position[change.b]
        node = change.b or change.a
        arrow = "" if change.before is change.after is None else f" {change.before or 'none'} -> {change.after or 'none'}"
        rows.append(_row(change.kind, mark, position, f"{change.what}{arrow}".strip(), node))
        if position >= 0:
            marks[position] = _first(mark, marks.get(position))
    for number, effect in enumerate(difference.effects):
        position = hierarchy.position[effect.b]
        marks[position] = _first("follows", marks.get(position))
        if number < _MOST_EFFECTS:
            rows.append(_row(effect.what.replace("_", " "), "follows", position, f"{effect.before} -> {effect.after}", effect.b))
    for position, mark in list(marks.items()):
        group = hierarchy.group_of[position]
        while group >= 0:
            item = len(hierarchy.nodes) + group
            inner = "changed" if mark == "added" else mark
            marks[item] = _first(inner, marks.get(item))
            holder = hierarchy.groups[group].holder
            if holder >= 0:
                marks[holder] = _first(inner, marks.get(holder))
            group = hierarchy.groups[group].parent if holder < 0 else hierarchy.group_of[holder]
    asides = [*([f"constants were not compared: {difference.uncompared}"] if difference.uncompared else []), *difference.asides]
    return {"changes": rows, "marks": marks, "asides": [escape(clipped(one)) for one in asides], "summary": escape(difference.summary)}


def _row(kind: str, mark: str, position: int, text: str, node: Any) -> dict[str, Any]:
    about = "" if node is None else f"{node.type} {f'{node.model.path} / ' if node.model.path else ''}{clipped(node.name)}"
    return {"kind": kind.replace("_", " "), "mark": mark, "layer": position, "text": escape(clipped(text)), "about": escape(about)}


def _first(mark: str, other: str | None) -> str:
    return mark if other is None else min(mark, other, key=_MARKS.index)
