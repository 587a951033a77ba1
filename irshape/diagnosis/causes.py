"""The contradictions of a file, each with the changes that would make peace: which layers, edges and records are at fault.

The witnesses of each tensor tell where a contradiction is (`witnesses.py`), and a search for the single change that makes peace tells why
(`changes.py`; that of a port map is sought here). A constant that many layers read, in bodies too, is one cause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import Final, NamedTuple, TypeAlias

from irshape.diagnosis.changes import Changes, Proposal, said
from irshape.diagnosis.recorded import contradictions, dims_text, fits, highest_rank, recordable
from irshape.diagnosis.witnesses import Witnesses
from irshape.inference.facts import Fact
from irshape.model.bodies import Body, BodyInput, bodies_of
from irshape.model.build import place
from irshape.model.causes import Ids, told_exchanged
from irshape.model.model import Model, Node, grouped
from irshape.report.text import counted
from irshape.shape.shape import format_shape
from irshape.xml.document import PortMap
from irshape.xml.lexical import BODIES

# The most layers of a file for which changes are sought, and the most of equal faults; and the most edges of a graph that are explained.
_MOST_SOUGHT: Final = 16
_MOST_OF_EQUAL: Final = 3
_MOST_EXPLAINED: Final = 16
# The most changes of port maps that are tried for one layer.
_MOST_TRIALS: Final = 400

# A change of a port map in words, what stands there now, all entries with the change, and the entries that it changes.
_Change: TypeAlias = tuple[str, str, list[PortMap], tuple[PortMap, ...]]


class Cause(NamedTuple):
    """A contradiction of a graph.

    `kind` is `record`, `layer`, `edge`, `map` or `shape`; `node` the layer at fault. `changes` are those that make peace, the likeliest
    first. `port` is the position of the port at fault, -1 for none. `group` are further layers that the same change explains.
    """

    kind: str
    node: Node
    changes: tuple[Proposal, ...] = ()
    port: int = -1
    group: tuple[Node, ...] = ()


class Search:
    """The search for the causes in all graphs of a file.

    `equal` gives a key to each layer that fails: those with equal keys have one reason. `is_explained` tells that it is known already why
    a layer fails. `unexplained` are the nodes that were not looked at.
    """

    def __init__(
        self, every: Mapping[Model, Witnesses], equal: Callable[[Changes, Node], object], is_explained: Callable[[Changes, Node], bool]
    ) -> None:
        self.changes = {model: Changes(witnesses) for model, witnesses in every.items()}
        self.unexplained: set[Node] = set()
        self._exchanged: set[Node] = set()
        self._equal = equal
        self._is_explained = is_explained

    def causes(self) -> Iterator[Cause]:
        """The causes in the order of the graphs and of their nodes."""
        found = [*self._of_records()]
        for changes in self.changes.values():
            found += self._of_maps(changes)
            found += self._of_edges(changes)
        found += self._of_layers()
        graphs = {model: number for number, model in enumerate(self.changes)}

        def order(cause: Cause) -> tuple[int, int]:
            model = cause.node.model
            return graphs[model], self.changes[model].graph.schedule.positions[cause.node.index]

        yield from sorted(found, key=order)

    def _of_records(self) -> Iterator[Cause]:
        """The output ports that alone are wrong."""
        for changes in self.changes.values():
            for slot in changes.witnesses.records:
                node = changes.model.nodes[changes.model.producers[slot]]
                yield Cause("record", node, (), node.layer.signature.input_count + slot - node.first_slot)

    def _of_maps(self, changes: Changes) -> Iterator[Cause]:
        """The port maps whose entries lead other tensors than their ends record, or give others than the layer records, with a change."""
        witnesses = changes.witnesses
        for node in changes.graph.schedule.nodes if changes.graph.maps else ():
            wrong = _misled(witnesses, node, changes.graph.maps.get(node.index, ()))
            if (wrong or (node in witnesses.layers and node.index in changes.graph.maps)) and (found := _peace(witnesses, node)):
                text, present, entries = found
                told = changes.told(node) if node in witnesses.layers else "every Parameter takes what it records"
                places = tuple([place(changes.model.document, node.layer, entry.offset, path=changes.model.path) for entry in entries])
                self._exchanged.add(node)
                text = "; ".join(filter(None, [*[*wrong.values()][:1], f"{text} {told}", present]))
                yield Cause("map" if wrong else "layer", node, (Proposal(text, places),), group=tuple([one.parameter for one in wrong]))

    def _of_ids(self, changes: Changes) -> Iterator[Cause]:
        """The two layers that have each other's id, if that explains a contradiction beside them."""
        suspects = [one for node in (*changes.witnesses.edges, *changes.witnesses.layers) for one in (node, *node.producers)]
        pair = Ids(changes.model).exchanged(dict.fromkeys(one.layer.id for one in suspects)) if suspects else None
        if pair is not None and not self._is_explained(changes, pair[0]):
            text = f"{told_exchanged(pair)}, whose ends then record the same"
            beside = (pair[1], *pair[0].consumers, *pair[1].consumers)
            yield Cause("shape", pair[0], (Proposal(text, (changes.place(pair[1]),)),), group=beside)

    def _of_edges(self, changes: Changes) -> Iterator[Cause]:
        """The inputs that record something else than the tensors that edges lead there: those of one tensor and record are one cause."""
        leaders: dict[object, Cause] = {}
        groups: dict[object, list[Node]] = {}
        for of_ids in self._of_ids(changes):
            yield of_ids
            self._exchanged.update((of_ids.node, *of_ids.group))
        for node, wrong in changes.witnesses.edges.items():
            if node in self._exchanged:
                continue
            keys: list[object] = [(node.sources[index], node.layer.signature.records[index][1:]) for index in wrong]
            if known := [key for key in keys if key in leaders]:
                groups.setdefault(known[0], []).append(node)
            elif len(leaders) >= _MOST_EXPLAINED:
                self.unexplained.add(node)
            elif self._is_explained(changes, node):
                leaders[node] = Cause("edge", node)
            elif (exchanged := _exchanged(changes, node, wrong)) is not None:
                leaders[node] = exchanged
            else:
                for key, index in zip(keys, wrong, strict=True):
                    if (cause := _of_edge(changes, node, index)) is not None:
                        start = cause.changes[0].node if cause.changes else None
                        one = key if start is None else (node.sources[index], start)  # a layer that was left out may have several outputs
                        leaders.setdefault(one, cause)
                        if leaders[one] is not cause:
                            groups.setdefault(one, []).append(node)
        for key, cause in leaders.items():
            yield cause._replace(group=(*cause.group, *groups.get(key, ())))

    def _of_layers(self) -> list[Cause]:
        """The layers that contradict their witnesses, with those of the same reason together."""
        layers = ((changes, node) for changes in self.changes.values() for node in changes.witnesses.layers)
        left = ((changes, node) for changes, node in layers if node not in changes.witnesses.edges and node not in self._exchanged)
        equal = grouped((self._equal(*one), one) for one in left)
        known: dict[object, Proposal] = {}
        found: list[tuple[list[Node], list[Proposal]]] = []
        for several in equal.values():
            nodes = [node for _, node in several]
            tried = several[:_MOST_OF_EQUAL] if known else ()
            own = next((peace for changes, node in tried if (peace := changes.known(node, known))), [])
            if not own and len(found) >= _MOST_SOUGHT:
                self.unexplained.update(nodes)
                continue
            found.append((nodes, own or self._sought(several)))
            known |= {change.key: change for change in own or found[-1][1] if change.elements}
        return [*_grouped(found)]

    def _sought(self, several: list[tuple[Changes, Node]]) -> list[Proposal]:
        """The changes of layers with equal faults. Where there are several, a constant is wrong that they share."""
        found: list[Proposal] = []
        for changes, node in several[:_MOST_OF_EQUAL]:
            if not found and not self._is_explained(changes, node):
                told = changes.told(node)
                found = changes.of(node) if len(several) == 1 or not told else changes.constants(node, told)
        changes, node = several[0]
        named = None if found else changes.named(node)
        return found if named is None else [named]


def _grouped(found: list[tuple[list[Node], list[Proposal]]]) -> Iterator[Cause]:
    """The layers of each reason as a cause. Those that one constant explains are together: that which explains most of them."""
    votes: Counter[object] = Counter()
    for nodes, changes in found:
        votes.update({change.key: len(nodes) for change in changes if change.key is not None})
    leaders: dict[object, tuple[list[Node], list[Proposal]]] = {}
    for number, (nodes, changes) in enumerate(found):
        shared = max((one for one in changes if votes[one.key] > 1), key=lambda one: votes[one.key], default=None)
        own = changes if shared is None else [shared]
        leaders.setdefault(number if shared is None else ("shared", shared.key), ([], own))[0].extend(nodes)
    for nodes, changes in leaders.values():
        if len(nodes) > 1 and changes and changes[0].places:
            count = counted(len(nodes), "layer")
            what = f"this explains {count}" if changes[0].key is not None else f"{count} fail in the same way"
            changes = [changes[0]._replace(text=f"{changes[0].text}; {what}"), *changes[1:]]
        yield Cause("layer", nodes[0], tuple(changes), -1, tuple(nodes[1:]))


def _exchanged(changes: Changes, node: Node, wrong: list[int]) -> Cause | None:
    """The cause of two inputs of which each records what the other one takes."""
    if len(wrong) != 2:
        return None
    (one, other), chain, records = wrong, changes.witnesses.chain, node.layer.signature.records
    if contradictions(*records[one][1:], chain[node.sources[other]]) or contradictions(*records[other][1:], chain[node.sources[one]]):
        return None
    ids = [node.layer.inputs[index].id for index in wrong]
    text = f"inputs {ids[0]} and {ids[1]} look exchanged: each port records what the other one takes"
    return Cause("edge", node, (Proposal(text),), one)


def _of_edge(changes: Changes, node: Node, index: int) -> Cause | None:
    """The cause of an input that records something else than the tensor that an edge leads there."""
    witnesses, port, record = changes.witnesses, node.layer.inputs[index], node.layer.signature.records[index]
    slot, dims = node.sources[index], record[2]
    source, fact = witnesses.model.producer(slot), witnesses.chain[slot]
    if source is None:
        return None
    if witnesses.read_rightly(node, index) is not None:
        return Cause("record", node, (), index)
    starts = changes.starts_for(node, index)
    if not starts and _has_other_shape(witnesses, slot, dims):
        count = len(witnesses.model.readers[slot])
        readers = "its reader records" if count == 1 else f"its {count} readers record"
        text = f"the {source.type} has shape {format_shape(fact.shape)}, but {readers} {dims_text(dims)}"
        return Cause("shape", source, (Proposal(text, (changes.place(node, port),)),), group=(node,))
    is_shape = not fits(dims or (), fact.shape)
    text = f"port {port.id} records {dims_text(dims) if is_shape else f'{record[1]} {dims_text(dims)}'.strip()}"
    edge = next(one for one in node.model.graph.edges if (one.to_layer, one.to_port) == (node.id, port.id))
    line, _ = node.model.document.position(edge.offset)
    text += (
        f", but {said(source)}, from which its edge starts (line {line}), gives {fact.element_type.precision} {format_shape(fact.shape)}"
    )
    if contradictions(fact.element_type.precision, recordable(fact), witnesses.graph.slots[slot]):
        text += " for the inputs that it records"
    if not starts:
        return Cause("edge", node, (Proposal(text, is_guess=True),), index)
    several = list(dict.fromkeys(one for one, _ in starts))[:2]
    text += f"; should the edge come from {' or '.join(map(said, several))}, which nothing reads?"
    return Cause("edge", node, (Proposal(text, (changes.place(several[0]),), node=several[0]),), index)


def _has_other_shape(witnesses: Witnesses, slot: int, dims: tuple[int, ...] | None) -> bool:
    """Whether all readers of a Const or a Parameter record dims that contradict its shape; a Const keeps its number of elements."""
    source, fact = witnesses.model.producer(slot), witnesses.chain[slot]
    if source is None or source.sources or dims is None or fact.shape is None or fits(dims, fact.shape):
        return False
    if any(reader.layer.signature.records[at][2] != dims for reader, at in witnesses.readers(slot)):
        return False
    if source.type == "Parameter":
        return True
    return all(type(size) is int for size in fact.shape) and Counter(fact.shape) == Counter(dims)


def _misled(witnesses: Witnesses, node: Node, bodies: Sequence[Body]) -> dict[BodyInput, str]:
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


def _peace(witnesses: Witnesses, node: Node) -> tuple[str, str, tuple[PortMap, ...]] | None:
    """The likeliest change of the port map of a node that makes peace: in words, what stands there now, and the entries that it changes."""
    graph, transfer = witnesses.graph, witnesses.transfer(node)
    own = graph.maps[node.index]
    for text, present, entries, changed in islice(_changes(node), _MOST_TRIALS):
        bodies = bodies_of(node, entries)
        if graph.scope.work.is_done or any(body.faults for body in bodies) or _misled(witnesses, node, bodies):
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
    places = [at for at, entry in enumerate(entries) if entry.tag in ("input", "output")]
    for at in places:
        entry, now = entries[at], entries[at].attributes
        others = dict.fromkeys(("start", "end", "stride", "part_size") if "axis" in now else (), ("0", "1", "-1", "2"))
        for name, texts in {**_unnamed(node, entries, entry), "axis": (*map(str, range(highest_rank(node))), ""), **others}.items():
            for new in texts:
                if now.get(name, "") != new:
                    attributes = {**now, name: new} if new else {one: text for one, text in now.items() if one != name}
                    changed = entry._replace(attributes=attributes)
                    with_it = f"with {name}={new!r}" if new else f"without {name}={now[name]!r}"
                    present = f"it is {now[name]!r}" if new and name in now else ""
                    yield f"{with_it} (line {lines[at]})", present, [*entries[:at], changed, *entries[at + 1 :]], (entry,)
    for one, other in combinations(places, 2):
        first, second = entries[one], entries[other]
        if (first.map, first.tag) == (second.map, second.tag):
            several = [*entries]
            ids = (first.attributes.get("internal_layer_id", ""), second.attributes.get("internal_layer_id", ""))
            for at, id in zip((other, one), ids, strict=True):
                several[at] = entries[at]._replace(attributes={**entries[at].attributes, "internal_layer_id": id})
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
