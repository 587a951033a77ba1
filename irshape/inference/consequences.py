"""Which faults of a pass may follow from others: a fault in a layer may have its cause in that layer or in one before it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Final

from irshape.inference.engine import Engine
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
    layers = _Layers(engine)
    followed: list[tuple[Diagnostic, Diagnostic | None]] = []
    for is_of_types, silent in ((True, "R301"), (False, "R302")):
        causes = layers.causes([sign for sign in signs if sign.code != silent])
        for error in errors:
            if (error.code[0] == "T") is is_of_types and (cause := causes.get(layers.at(error))) is not None:
                blamed.add(cause)
                error.hint = f"this may follow from {cause.code} in line {cause.where.line}: {cause.message}"
                followed.append((error, cause))
    _name_constants(layers, [(error, None) for error in errors if error.hint is None] + followed)
    return blamed


def _name_constants(layers: _Layers, errors: Iterable[tuple[Diagnostic, Diagnostic | None]]) -> None:
    """Name the elements of constants that recorded dims contradict, at the layer of an error or of the sign from which it follows."""
    from irshape.inference.edited import Edited, edited

    known: dict[Node, Edited | None] = {}
    for error, cause in errors:
        node = layers.at(error if cause is None else cause)
        if error.code[0] == "T" or node is None or (cause is not None and cause.code != "R301"):
            continue
        if node not in known and len(known) < _MOST_EXAMINED:
            known[node] = edited(layers.engines[node.model], node)
        found = known.get(node)
        if found is not None:
            error.hint = found.text if error.hint is None else f"{error.hint}; {found.text}"
            error.related = (*error.related, found.place)
            if cause is not None:
                cause.hint = found.text


def _is_effect(diagnostic: Diagnostic) -> bool:
    return diagnostic.code == "R401" or (diagnostic.severity == ERROR and diagnostic.code[0] in _EFFECTS)


class _Layers:
    """The layers of a file, in bodies too, by their places, and the engines of the graphs."""

    def __init__(self, engine: Engine) -> None:
        self._graphs = list(engine.graphs())
        self.engines = {graph.model: graph for graph in self._graphs}
        self._nodes = {node.layer.offset: node for graph in self._graphs for node in graph.model.nodes}
        self._offsets = sorted(self._nodes)

    def at(self, diagnostic: Diagnostic) -> Node | None:
        """The innermost layer in which a fault is."""
        offset = diagnostic.where.offset
        index = -1 if offset is None else bisect_right(self._offsets, offset) - 1
        node: Node | None = self._nodes[self._offsets[index]] if index >= 0 else None
        while node is not None and offset is not None and offset >= node.layer.end:
            node = node.model.holder
        return node

    def causes(self, signs: Iterable[Diagnostic]) -> dict[Node | None, Diagnostic]:
        """The sign in each layer, or else the nearest one before it; of several in one layer the first."""
        found: dict[Node | None, Diagnostic] = {}
        for sign in signs:
            if (node := self.at(sign)) is not None:
                found.setdefault(node, sign)
        for graph in self._graphs:  # the graph around a body comes before the body
            nodes, producers = graph.model.nodes, graph.model.producers
            entering = found.get(graph.model.holder) if graph.model.holder else None
            for node in graph.schedule.nodes:
                before = (nodes[producers[slot]] for slot in node.sources if 0 <= slot < len(producers))
                cause = next((found[one] for one in before if one in found), entering if node.type == "Parameter" else None)
                if cause is not None:
                    found.setdefault(node, cause)
        return found
