"""How the numbers of an If, Loop or TensorIterator come out of its bodies, and how they enter them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irshape.answers.explain.derivation import NOT_KNOWN, Derivation, Place, Point, Reading, Way, unknown
from irshape.answers.explain.rule import is_known, is_same
from irshape.model.bodies import Body, bodies_of
from irshape.model.model import Node

if TYPE_CHECKING:
    from irshape.answers.explain.sources import Sources


def of_output(sources: Sources, point: Point, node: Node, output: int) -> Derivation:
    """An output of an operation with bodies: what its bodies' Results take."""
    number = sources.number_of(point)
    if point.kind in ("element", "values"):
        return unknown(point, f"values are not followed through {node.type}")
    entries = [(body, body.outputs[output]) for body in _taken(sources, point, node) if output < len(body.outputs)]
    results = [(body, entry, sources.of_result(entry.result, point)) for body, entry in entries]
    known = [(body, entry, source) for body, entry, source in results if source is not None]
    if len(known) < len(results) or not known:
        return Derivation(number, note=f"no Result of the bodies of {node.type} is this output")
    (body, entry, source), *others = known
    if entry.slice is not None and point.kind == "axis" and _axis(entry.slice.axis, sources.rank(point)) == point.position:
        where = Place("attribute", "part_size in the port map", node, offset=entry.offset)
        return Derivation(
            number,
            [*_iterations(sources, point, node, body), ("part_size", entry.slice.part_size, where)],
            note=f"the parts of all iterations of {node.type}, joined",
        )
    if all(is_same(sources.number_of(one), number) for _, _, one in known):
        return Derivation(number, ways=[Way(source)])
    reads = [(f"{body.name}'s {entry.result.name}", sources.number_of(one), one) for body, entry, one in known]
    note = "which of the two is taken is known only when it runs" if others else "the size may be another in each iteration"
    return Derivation(number, reads, note=note)


def of_parameter(sources: Sources, point: Point, node: Node) -> Derivation:
    """A Parameter of a body: what the port map feeds it."""
    number = sources.number_of(point)
    holder = node.model.holder
    assert holder is not None
    if point.kind in ("element", "values"):
        return unknown(point, f"values are not followed into the bodies of {holder.type}")
    body = next((one for one in bodies_of(holder) if one.model is node.model), None)
    entry = next((one for one in body.inputs if one.parameter is node), None) if body else None
    if body is not None and body.iteration is node:
        return Derivation(number, note=f"it counts the iterations of {holder.type}")
    fed = holder.sources
    if entry is None or not 0 <= entry.external < len(fed) or fed[entry.external] < 0:
        name = "element_type" if point.kind == "type" else "shape"
        return Derivation(number, [(name, number, sources.attribute(node, name))])
    outer = Point(sources.number[holder.model], fed[entry.external], point.kind, point.position)
    if entry.slice is not None and point.kind == "axis" and _axis(entry.slice.axis, sources.rank(point)) == point.position:
        where = Place("attribute", "part_size in the port map", holder, offset=entry.offset)
        return Derivation(number, [("part_size", entry.slice.part_size, where)], note=f"a part of input {entry.external} of {holder.type}")
    outside = sources.fact(outer)
    if point.kind == "axis" and (outside.shape is None or len(outside.shape) != sources.rank(point)):
        return Derivation(number, [(f"input {entry.external}", NOT_KNOWN, Point(outer.graph, outer.slot, "rank"))])
    if is_same(sources.number_of(outer), number):
        return Derivation(number, ways=[Way(outer)])
    reads: list[Reading] = [(f"input {entry.external}", sources.number_of(outer), outer)]
    back = sources.of_result(entry.back, point) if entry.back is not None else None
    if back is not None:
        reads.append((f"what comes back by {entry.back.name}", sources.number_of(back), back))  # type: ignore[union-attr]
    return Derivation(number, reads, note="another size may come back from the iteration before" if back is not None else "")


def _taken(sources: Sources, point: Point, node: Node) -> list[Body]:
    """The bodies that may give the outputs: of an If whose condition is known one, of others all."""
    bodies = bodies_of(node)
    if node.type != "If" or node.sources[0] < 0:
        return bodies
    elements = sources.graphs[point.graph][1].slots[node.sources[0]].elements
    if elements and isinstance(elements[0], int | float):
        return [bodies[0 if elements[0] else 1]]
    return bodies


def _iterations(sources: Sources, point: Point, node: Node, body: Body) -> list[Reading]:
    """What decides how often a body runs: a sliced input, or the trip count of a Loop."""
    slots = sources.graphs[point.graph][1].slots
    if node.type == "Loop" and node.sources[0] >= 0:
        source = Point(point.graph, node.sources[0], "element" if is_known(slots[node.sources[0]]) else "values")
        return [("trip_count", sources.number_of(source), source)]
    for entry in body.inputs:
        slot = node.sources[entry.external] if 0 <= entry.external < len(node.sources) else -1
        if entry.slice is not None and slot >= 0 and slots[slot].shape is not None:
            source = Point(point.graph, slot, "axis", _axis(entry.slice.axis, len(slots[slot].shape or ())))
            return [(f"the sliced axis of input {entry.external}", sources.number_of(source), source)]
    return []


def _axis(axis: int, rank: int) -> int:
    return axis + rank if axis < 0 else axis
