"""The single change of a port map that makes peace: with it, bodies take and layers give what the file records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from typing import Final, TypeAlias

from irshape.diagnosis.recorded import contradictions, dims_text, highest_rank
from irshape.diagnosis.witnesses import Witnesses
from irshape.inference.facts import Fact
from irshape.model.bodies import Body, BodyInput, bodies_of
from irshape.model.model import Node
from irshape.shape.shape import format_shape
from irshape.xml.document import PortMap
from irshape.xml.lexical import BODIES

# The most changes that are tried for one layer.
_MOST_TRIALS: Final = 400

# A change of a port map in words, what stands there now, all entries with the change, and the entries that it changes.
_Change: TypeAlias = tuple[str, str, list[PortMap], tuple[PortMap, ...]]


def misled(witnesses: Witnesses, node: Node, bodies: Sequence[Body]) -> dict[BodyInput, str]:
    """The inputs of port maps that lead to a Parameter another tensor than it records, each with a sentence on both."""
    found = {}
    for entry in (one for body in bodies for one in body.inputs if 0 <= one.external < len(witnesses.taken[node])):
        fact = _part(witnesses, entry, witnesses.taken[node][entry.external])
        records = entry.parameter.layer.signature.records[:1]
        if fact is not None and any(contradictions(*record[1:], fact) for record in records):
            [(_, precision, dims)] = records
            leads = f"input {entry.external} of the port map leads {fact.element_type.precision} {format_shape(fact.shape)}"
            found[entry] = f"{leads} to Parameter {entry.parameter.name!r}, which records {precision or ''} {dims_text(dims)}"
    return found


def _part(witnesses: Witnesses, entry: BodyInput, fact: Fact) -> Fact | None:
    """What an input of a port map takes from a tensor; None if the tensor has no such axis."""
    if entry.slice is None or fact.shape is None:
        return fact
    rank, axis = len(fact.shape), entry.slice.axis
    if not -rank <= axis < rank:
        return None
    shape = (*fact.shape[: axis % rank], entry.slice.part_size, *fact.shape[axis % rank + 1 :])
    return witnesses.graph.facts.intern(fact.element_type, shape, None, fact.is_poisoned)


def peace(witnesses: Witnesses, node: Node) -> tuple[str, str, tuple[PortMap, ...]] | None:
    """The likeliest change of the port map of a node that makes peace: in words, what stands there now, and the entries that it changes."""
    graph, transfer = witnesses.graph, witnesses.transfer(node)
    own = graph.maps[node.index]
    for text, present, entries, changed in islice(_changes(node), _MOST_TRIALS):
        bodies = bodies_of(node, entries)
        if graph.scope.work.is_done or any(body.faults for body in bodies) or misled(witnesses, node, bodies):
            continue
        run = graph.current.copy()
        graph.maps[node.index] = bodies
        try:
            outcome = graph.answer(run, node, transfer, witnesses.taken[node], graph.question)
        finally:
            graph.maps[node.index] = own
        if witnesses.gives(node, outcome) and not any(run.inner[node.index, body.name].has_errors for body in bodies):
            return text, present, changed
    return None


def _changes(node: Node) -> Iterator[_Change]:
    """Other numbers of one entry of a port map, and two entries with each other's layers of the body."""
    entries = [*(node.layer.port_maps or ())]
    lines = [node.model.document.position(entry.offset)[0] for entry in entries]
    places = [place for place, entry in enumerate(entries) if entry.tag in ("input", "output")]
    for place in places:
        entry, now = entries[place], entries[place].attributes
        others = dict.fromkeys(("start", "end", "stride", "part_size") if "axis" in now else (), ("0", "1", "-1", "2"))
        for name, texts in {**_unnamed(node, entries, entry), "axis": (*map(str, range(highest_rank(node))), ""), **others}.items():
            for new in texts:
                if now.get(name, "") != new:
                    attributes = {**now, name: new} if new else {one: text for one, text in now.items() if one != name}
                    changed = entry._replace(attributes=attributes)
                    with_it = f"with {name}={new!r}" if new else f"without {name}={now[name]!r}"
                    present = f"it is {now[name]!r}" if new and name in now else ""
                    yield f"{with_it} (line {lines[place]})", present, [*entries[:place], changed, *entries[place + 1 :]], (entry,)
    for one, other in combinations(places, 2):
        first, second = entries[one], entries[other]
        if (first.map, first.tag) == (second.map, second.tag):
            several = [*entries]
            ids = (first.attributes.get("internal_layer_id", ""), second.attributes.get("internal_layer_id", ""))
            for place, id in zip((other, one), ids, strict=True):
                several[place] = entries[place]._replace(attributes={**entries[place].attributes, "internal_layer_id": id})
            text = f"with internal_layer_id {ids[0]} (line {lines[one]}) and {ids[1]} (line {lines[other]}) exchanged"
            yield text, "", several, (first, second)


def _unnamed(node: Node, entries: Sequence[PortMap], entry: PortMap) -> dict[str, list[str]]:
    """The ports of the layer, and the layers of the body, that an entry of a port map may mean because no entry of its kind names them."""
    alike = [one.attributes for one in entries if (one.map, one.tag) == (entry.map, entry.tag)]
    is_input = entry.tag == "input"
    ports = [str(port.id) for port in (node.layer.inputs if is_input else node.layer.outputs)]
    bodies = [node.bodies[name] for name, map in BODIES.get(node.op_type, ()) if map == entry.map and name in node.bodies]
    inside = [str(one.id) for body in bodies for one in (body.parameters if is_input else body.results)]
    found = {"external_port_id": ports, "internal_layer_id": inside}
    for name, ids in found.items():
        ids[:] = [one for one in ids if all(one != other.get(name) for other in alike)]
    if "purpose" in entry.attributes:  # such an entry has no port
        found["external_port_id"] = ["-1"]
    return found
