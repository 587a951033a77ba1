"""Which faults of a pass may follow from others: a fault in a layer may have its cause in that layer or in one before it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from irshape.inference.engine import Engine
from irshape.inference.places import Places
from irshape.model.model import Node
from irshape.report.diagnostic import ERROR, Diagnostic

# Codes of a layer that may be other than its author meant: OpenVINO reads another attribute or shape than the file says.
_SIGNS: Final = ("R101", "R102", "R104", "W202", "R303", "R301", "R302")
# The families of faults that wrong attributes, shapes and values bring about.
_EFFECTS: Final = frozenset("STVA")
# The most layers whose constants are examined.
_MOST_EXAMINED: Final = 32


def mark_consequences(engine: Engine, diagnostics: Iterable[Diagnostic]) -> set[Diagnostic]:
    """Say in the hint of an error that has none which warning, in its layer or in one before it, may be its cause; give these warnings.

    A recorded precision tells of element types only, recorded dims of all else. Where recorded dims contradict an element of a constant,
    the hint names it, too.
    """
    errors = [one for one in diagnostics if one.hint is None and _is_effect(one)]
    signs = sorted((one for one in diagnostics if one.code in _SIGNS), key=lambda one: _SIGNS.index(one.code))
    blamed: set[Diagnostic] = set()
    if not errors:
        return blamed
    places = Places(engine)
    followed: list[tuple[Diagnostic, Diagnostic | None]] = []
    for is_of_types, silent in ((True, "R301"), (False, "R302")):
        causes = _causes(places, [sign for sign in signs if sign.code != silent])
        for error in errors:
            if (error.code[0] == "T") is is_of_types and (cause := causes.get(places.at(error.where.offset))) is not None:
                blamed.add(cause)
                error.hint = f"this may follow from {cause.code} in line {cause.where.line}: {cause.message}"
                followed.append((error, cause))
    _name_constants(places, [(error, None) for error in errors if error.hint is None] + followed)
    return blamed


def _name_constants(places: Places, errors: Iterable[tuple[Diagnostic, Diagnostic | None]]) -> None:
    """Name the elements of constants that recorded dims contradict, at the layer of an error or of the sign from which it follows."""
    from irshape.inference.edited import Edited, edited

    known: dict[Node, Edited | None] = {}
    for error, cause in errors:
        node = places.at((error if cause is None else cause).where.offset)
        if error.code[0] == "T" or node is None or (cause is not None and cause.code != "R301"):
            continue
        if node not in known and len(known) < _MOST_EXAMINED:
            known[node] = edited(places.graphs[node.model], node)
        found = known.get(node)
        if found is not None:
            error.hint = found.text if error.hint is None else f"{error.hint}; {found.text}"
            error.related = (*error.related, found.place)
            if cause is not None:
                cause.hint = found.text


def _is_effect(diagnostic: Diagnostic) -> bool:
    return diagnostic.code == "R401" or (diagnostic.severity == ERROR and diagnostic.code[0] in _EFFECTS)


def _causes(places: Places, signs: Iterable[Diagnostic]) -> dict[Node | None, Diagnostic]:
    """The sign in each layer, or else the nearest one before it; of several in one layer the first."""
    found: dict[Node | None, Diagnostic] = {}
    for sign in signs:
        if (node := places.at(sign.where.offset)) is not None:
            found.setdefault(node, sign)
    for model, graph in places.graphs.items():  # the graph around a body comes before the body
        entering = found.get(model.holder) if model.holder else None
        for node in graph.schedule.nodes:
            before = (model.nodes[model.producers[slot]] for slot in node.sources if 0 <= slot < len(model.producers))
            cause = next((found[one] for one in before if one in found), entering if node.type == "Parameter" else None)
            if cause is not None:
                found.setdefault(node, cause)
    return found
