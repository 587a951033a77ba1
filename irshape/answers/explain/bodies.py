"""How numbers enter the bodies of an If, Loop or TensorIterator, and how they leave them."""

from __future__ import annotations

from irshape.answers.explain.derivation import NOT_KNOWN, Derivation, Place, Point, Reading, Way, unknown
from irshape.answers.explain.lookup import Lookup
from irshape.answers.explain.rule import is_known, is_same
from irshape.model.bodies import Body, bodies_of
from irshape.model.model import Node


def of_output(lookup: Lookup, point: Point, node: Node, output: int) -> Derivation:
    """An output of an operation with bodies: the tensor that a Result of each body reads."""
    number = lookup.number_of(point)
    if point.kind in ("element", "values"):
        return unknown(point, f"irshape does not follow values through {node.type}")
    entries = [(body, body.outputs[output]) for body in _taken(lookup, point, node) if output < len(body.outputs)]
    results = [(body, entry, lookup.of_result(entry.result, point)) for body, entry in entries]
    known = [(body, entry, source) for body, entry, source in results if source is not None]
    if len(known) < len(results) or not known:
        return Derivation(number, note=f"no Result in the bodies of {node.type} feeds this output")
    (body, entry, source), *others = known
    if entry.slice is not None and point.kind == "axis" and _axis(entry.slice.axis, lookup.rank(point)) == point.position:
        where = Place("attribute", "part_size in the port map", node, offset=entry.offset)
        return Derivation(
            number,
            [*_iterations(lookup, point, node, body), ("part_size", entry.slice.part_size, where)],
            note=f"the slices of all iterations of {node.type}, concatenated",
        )
    if all(is_same(lookup.number_of(one), number) for _, _, one in known):
        return Derivation(number, ways=[Way(source)])
    reads = [(f"{body.name}'s {entry.result.name}", lookup.number_of(one), one) for body, entry, one in known]
    note = "the branch is chosen only at run time" if others else "the size may differ between iterations"
    return Derivation(number, reads, note=note)


def of_parameter(lookup: Lookup, point: Point, node: Node) -> Derivation:
    """A Parameter of a body: the tensor that the port map feeds it."""
    number = lookup.number_of(point)
    holder = node.model.holder
    assert holder is not None
    if point.kind in ("element", "values"):
        return unknown(point, f"irshape does not follow values into the bodies of {holder.type}")
    body = next((one for one in bodies_of(holder) if one.model is node.model), None)
    entry = next((one for one in body.inputs if one.parameter is node), None) if body else None
    if body is not None and body.iteration is node:
        return Derivation(number, note=f"the iteration counter of {holder.type}")
    fed = holder.sources
    if entry is None or not 0 <= entry.external < len(fed) or fed[entry.external] < 0:
        name = "element_type" if point.kind == "type" else "shape"
        return Derivation(number, [(name, number, lookup.attribute(node, name))])
    outer = Point(lookup.number[holder.model], fed[entry.external], point.kind, point.position)
    if entry.slice is not None and point.kind == "axis" and _axis(entry.slice.axis, lookup.rank(point)) == point.position:
        where = Place("attribute", "part_size in the port map", holder, offset=entry.offset)
        reads: list[Reading] = [("part_size", entry.slice.part_size, where)]
        return Derivation(number, reads, note=f"one slice of input {entry.external} of {holder.type}")
    outside = lookup.fact(outer)
    if point.kind == "axis" and (outside.shape is None or len(outside.shape) != lookup.rank(point)):
        return Derivation(number, [(f"input {entry.external}", NOT_KNOWN, Point(outer.graph, outer.slot, "rank"))])
    if is_same(lookup.number_of(outer), number):
        return Derivation(number, ways=[Way(outer)])
    reads = [(f"input {entry.external}", lookup.number_of(outer), outer)]
    back = lookup.of_result(entry.back, point) if entry.back is not None else None
    if back is not None:
        reads.append((f"the tensor fed back by {entry.back.name}", lookup.number_of(back), back))  # type: ignore[union-attr]
    return Derivation(number, reads, note="the previous iteration may feed back another size" if back is not None else "")


def _taken(lookup: Lookup, point: Point, node: Node) -> list[Body]:
    """The bodies that may produce the outputs: one branch of an If whose condition is known, else all bodies."""
    bodies = bodies_of(node)
    if node.type != "If" or node.sources[0] < 0:
        return bodies
    elements = lookup.graphs[point.graph][1].slots[node.sources[0]].elements
    if elements and isinstance(elements[0], int | float):
        return [bodies[0 if elements[0] else 1]]
    return bodies


def _iterations(lookup: Lookup, point: Point, node: Node, body: Body) -> list[Reading]:
    """The number that decides how often a body runs: the trip count of a Loop, or the sliced axis of an input."""
    slots = lookup.graphs[point.graph][1].slots
    if node.type == "Loop" and node.sources[0] >= 0:
        source = Point(point.graph, node.sources[0], "element" if is_known(slots[node.sources[0]]) else "values")
        return [("trip_count", lookup.number_of(source), source)]
    for entry in body.inputs:
        slot = node.sources[entry.external] if 0 <= entry.external < len(node.sources) else -1
        if entry.slice is not None and slot >= 0 and slots[slot].shape is not None:
            source = Point(point.graph, slot, "axis", _axis(entry.slice.axis, len(slots[slot].shape or ())))
            return [(f"the sliced axis of input {entry.external}", lookup.number_of(source), source)]
    return []


def _axis(axis: int, rank: int) -> int:
    return axis + rank if axis < 0 else axis
