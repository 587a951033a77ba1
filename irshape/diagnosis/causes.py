"""The causes of the faults of a file: which diagnostic names what was edited, and which ones follow from it.

The witnesses of each tensor tell which layers, edges and records contradict the rest of the file (`witnesses.py`), and a search for the
single change that makes peace tells why (`changes.py`). The diagnostic there becomes a cause. A fault in any other layer follows from the
causes before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from irshape.diagnosis.changes import Change, Changes, grouped, said
from irshape.diagnosis.places import Places
from irshape.diagnosis.recorded import contradictions, dims_text, fits
from irshape.diagnosis.witnesses import Witnesses
from irshape.inference.engine import Engine
from irshape.model.build import place
from irshape.model.model import Model, Node
from irshape.report.diagnostic import ERROR, Diagnostic, Diagnostics
from irshape.shape.shape import format_shape

# A file with more contradictions is out of date: no single edit explains it.
_MOST_CONTRADICTIONS: Final = 128
# The most layers and edges of a graph that are explained; the others stand for themselves.
_MOST_EXPLAINED: Final = 16
RECORDS: Final = ("R301", "R302")
# Codes that say that OpenVINO reads something else than its author meant.
_OF_WEIGHTS: Final = ("W202", "R303")
_SIGNS: Final = ("R101", "R102", "R104", *_OF_WEIGHTS)
# The families of faults that follow from others, and those of the structure of a file.
_EFFECTS: Final = frozenset("STV")
_STRUCTURE: Final = frozenset("XGWA")

# The order of causes: an id of two layers, all other errors and explained faults by their places. Everything else comes later.
_OF_IDS, _OF_EDITS = range(2)


class Cause(NamedTuple):
    """A contradiction of a graph.

    `kind` is `record`, `layer`, `edge` or `shape`; `node` the layer at fault. `changes` are those that make peace, the likeliest first.
    `port` is the position of the port at fault, -1 for none. `group` are further layers that the same change explains.
    """

    kind: str
    node: Node
    changes: tuple[Change, ...] = ()
    port: int = -1
    group: tuple[Node, ...] = ()


def find_causes(engine: Engine, found: Diagnostics) -> set[Diagnostic]:
    """Mark the causes among the diagnostics of a pass, add those that have no diagnostic yet, and link what follows from them.

    Gives the faults of records that the other witnesses contradict: only these are safe to mend.
    """
    if not any(one.code[0] in "STVAG" or one.code in (*RECORDS, "R401", "R303") for one in found):
        return set()
    every: dict[Model, Witnesses] = {}
    for graph in reversed([*engine.graphs()]):  # bodies before their holders
        if graph.current.outcomes:  # no pass enters the bodies of a layer that fails before
            every[graph.model] = Witnesses(graph, every)
    if sum(one.contradictions for one in every.values()) > _MOST_CONTRADICTIONS:
        _say_once(found)
        return set()
    report = _Report(engine, found)
    for witnesses in reversed(every.values()):
        report.add(witnesses)
    report.name_constants()
    report.lead_to_unread(every)
    report.link()
    if engine.scope.work.is_done:
        message = f"not all causes of faults were sought: the search takes more than {engine.scope.work.most} steps (limit work)"
        document = engine.model.document
        found += [Diagnostic("N106", message, place(document, None, document.graph.offset))]
    return report.alone


def _say_once(found: Diagnostics) -> None:
    """Say once that the records of a file are out of date."""
    stale = sorted((one for one in found if one.code in RECORDS), key=lambda one: one.where.offset or 0)
    if len(stale) > 1:
        leader, *others = stale
        layers = len({(one.where.path, one.where.layer_id) for one in stale})
        leader.message += f"; {layers} layers record other facts than the model computes, so the records are out of date"
        leader.hint = "irshape infer --in-place records what the model computes, if the model is right"
        for one in others:
            one.caused_by = leader


class _Report:
    """The diagnostics of a file, with the causes among them. `alone` are the faults of records that are wrong alone."""

    def __init__(self, engine: Engine, found: Diagnostics) -> None:
        self.found = found
        self.places = Places(engine)
        layers = {(node.model.path, str(node.id)): node for graph in self.places.graphs for node in graph.nodes}
        self.at: dict[Diagnostic, Node | None] = {
            one: self.places.at(one.where.offset) or layers.get((one.where.path, one.where.layer_id or "")) for one in found
        }
        self.own: dict[Node, list[Diagnostic]] = {}
        for one, node in self.at.items():
            if node is not None:
                self.own.setdefault(node, []).append(one)
        self.alone: set[Diagnostic] = set()
        self.leaders: dict[Node, Diagnostic] = {}
        self.unread: dict[Node, Diagnostic] = {}
        self.faulty: set[Node] = set()
        for one in found:
            is_certain = (one.severity == ERROR and one.code[0] in _STRUCTURE) or one.code == "G101"
            if is_certain or one.code in _OF_WEIGHTS:
                one.rank = _OF_IDS if one.code == "G101" else _OF_EDITS
            node = self.at[one]
            if is_certain and node is not None:
                for each in self._concerned(one, node):
                    self.leaders.setdefault(each, one)

    def _concerned(self, fault: Diagnostic, node: Node) -> Iterator[Node]:
        """The nodes that a fault of the structure concerns: the edges of a layer whose id another one has may lead to the other one."""
        yield node
        if fault.code == "G101":
            for one in node.model.nodes:
                if one.id == node.id:
                    yield from (one, *one.producers, *one.consumers)

    def add(self, witnesses: Witnesses) -> None:
        """Find the causes in one graph."""
        self.faulty |= {*witnesses.layers[_MOST_EXPLAINED:], *[*witnesses.edges][_MOST_EXPLAINED:]}
        for cause in _causes(witnesses):
            self.faulty |= {cause.node, *cause.group}
            leader = self._leader(witnesses, cause)
            if leader is None:
                continue
            # Where nothing records what a layer should give, its faults may have different reasons.
            if cause.changes or cause.kind != "layer" or any(record[2] is not None for record in witnesses.outputs(cause.node)):
                for node in (cause.node, *cause.group):
                    self.leaders.setdefault(node, leader)
            for change in cause.changes[:1]:
                if change.node is not None:
                    self.unread[change.node] = leader

    def _leader(self, witnesses: Witnesses, cause: Cause) -> Diagnostic | None:
        """The diagnostic of a cause: one of its layer if there is one, else a new one."""
        node = cause.node
        if (known := self.leaders.get(node)) is not None:  # a fault of the structure explains the rest
            return known
        own = [one for one in self.own.get(node, ()) if one.code[0] in "STVA" or one.code in (*RECORDS, "R401", *_SIGNS)]
        if cause.kind == "record":
            self.alone |= {one for one in own if one.code in RECORDS}
        own.sort(
            key=lambda one: (one.code not in _OF_WEIGHTS, one.severity != ERROR, one.code in _SIGNS, one.code in RECORDS, one.where.offset)
        )
        for one in own:
            if one.severity == ERROR:
                one.rank = min(one.rank, _OF_EDITS)
        sign = next((one for one in own if one.code in _SIGNS), None)
        text = "; or ".join(change.text for change in cause.changes)
        if cause.kind == "shape" or not own:
            message = text
            if cause.kind == "layer":
                message = "the layer does not give what it records for the inputs that it records" + (f"; {text}" if text else "")
            if not message:
                return None
            port = None if cause.port < 0 else (*node.layer.inputs, *node.layer.outputs)[cause.port]
            leader = Diagnostic("R301", message, Changes(witnesses).place(node, port))
            self.found += [leader]
            self.at[leader] = node
        else:
            leader = own[0]
            if text:
                leader.message += f"; {text}"
            if sign is not None:
                sign.rank = min(sign.rank, _OF_EDITS)
                if sign is not leader and leader.severity == ERROR:
                    leader.hint = f"this may follow from {sign.code} in line {sign.where.line}: {sign.message}"
        leader.related = (*leader.related, *(where for change in cause.changes for where in change.places))
        leader.rank = min(leader.rank, _OF_EDITS)
        return leader

    def name_constants(self) -> None:
        """Name the constant at the port of a fault about values, where no cause is known."""
        for one in self.found:
            node = self.at.get(one)
            if node is None or one.where.port is None or one.related or not (one.code[0] == "V" or one.code == "R201"):
                continue
            index = next((index for index, port in enumerate(node.layer.inputs) if str(port.id) == one.where.port), -1)
            slot = node.sources[index] if index >= 0 else -1
            source = node.model.nodes[node.model.producers[slot]] if 0 <= slot < len(node.model.producers) else None
            if source is not None and source.type == "Const":
                where = place(node.model.document, source.layer, source.layer.offset, None, node.model.path)
                one.message += f"; {said(source)} (line {where.line}) holds them"
                one.related = (where,)

    def lead_to_unread(self, every: Mapping[Model, Witnesses]) -> None:
        """Where the only fault is a layer that nothing reads: the layers that take such a tensor from elsewhere may be its readers."""
        own = [one for one in self.found if one.code == "G116" and one.hint is None and self.at.get(one) is not None]
        if len(own) != 1 or any(one.rank <= _OF_EDITS or one.severity == ERROR for one in self.found):
            return
        node = self.at[own[0]]
        if node is None or node.model not in every:
            return
        readers = Changes(every[node.model]).readers_for(node)[:2]
        if readers:
            texts = [
                f"port {reader.layer.inputs[index].id} of {said(reader)}, which takes such a tensor from {said(source)}"
                for reader, index, source in readers
            ]
            own[0].message += f"; should it feed {', or '.join(texts)}?"
            own[0].related = tuple([Changes(every[node.model]).place(reader) for reader, _, _ in readers])

    def link(self) -> None:
        """Link every fault that follows from a cause."""
        tags = self._tags()
        of_ids = {self.at[one]: one for one in self.found if one.code == "G101" and self.at.get(one) is not None}
        for one in self.found:
            node = self.at.get(one)
            if of_ids and node is not None and one.code in ("G118", "G119"):
                graphs = [node.model, *node.bodies.values()]
                one.caused_by = next((two for at, two in of_ids.items() if at is not None and at.model in graphs), None)
            if node is None:
                continue
            cause = None
            if node in self.leaders and (one.code[0] in "STVA" or one.code in (*RECORDS, "R201", "R401")):
                cause = self.leaders[node]
            elif one.code == "G116":
                cause = self.unread.get(node)
            elif node not in self.faulty and (one.code[0] in _EFFECTS or one.code in (*RECORDS, "R401")):
                cause = tags.get(node)
            if cause is not None and cause is not one:
                one.caused_by = cause

    def _tags(self) -> dict[Node, Diagnostic]:
        """The cause of each node: its own, or the first one among the nodes before it. Bodies come after their holder and before it."""
        tags = {node: one for node, one in self.leaders.items() if node in self.faulty or one.code == "G101"}
        graphs = [*self.places.graphs.values()]
        for graph in (*graphs, *reversed(graphs), *graphs):
            model = graph.model
            entering = tags.get(model.holder) if model.holder is not None else None
            if entering is None and model.holder is not None:
                entering = next((tags[one] for one in model.holder.producers if one in tags), None)
            for node in graph.schedule.nodes:
                if node in tags:
                    continue
                before = [tags[one] for one in node.producers if one in tags]
                inner = [tags[one] for body in node.bodies.values() for one in body.nodes if one in tags]
                if before or inner:
                    tags[node] = min(before or inner, key=lambda one: one.where.offset or 0)
                elif entering is not None and node.type == "Parameter":
                    tags[node] = entering
        return tags


def _causes(witnesses: Witnesses) -> Iterator[Cause]:
    """The contradictions of a graph with the changes that explain them, in the order of the graph."""
    changes = Changes(witnesses)
    positions = witnesses.graph.schedule.positions
    found: list[Cause] = []
    for slot in witnesses.records:
        node = witnesses.model.nodes[witnesses.model.producers[slot]]
        found.append(Cause("record", node, (), node.layer.signature.input_count + slot - node.first_slot))
    blamed: set[int] = set()
    for node, wrong in [*witnesses.edges.items()][:_MOST_EXPLAINED]:
        found += _of_edges(changes, node, wrong, blamed)
    explained = [(node, _of_layer(changes, node)) for node in witnesses.layers[:_MOST_EXPLAINED] if node not in witnesses.edges]
    found += [Cause("layer", node, tuple(several), -1, tuple(group)) for node, several, group in grouped(explained)]
    yield from sorted(found, key=lambda one: positions[one.node.index])


def _of_layer(changes: Changes, node: Node) -> list[Change]:
    found = changes.of(node)
    named = None if found else changes.named(node)
    return found if named is None else [named]


def _of_edges(changes: Changes, node: Node, wrong: list[int], blamed: set[int]) -> Iterator[Cause]:
    """The causes of the inputs of a node that record something else than the tensors that edges lead there."""
    witnesses, inputs, records = changes.witnesses, node.layer.inputs, node.layer.signature.records
    if len(wrong) == 2:
        (one, other), chain = wrong, witnesses.chain
        ours, theirs = records[one][1:], records[other][1:]
        if not contradictions(*ours, chain[node.sources[other]]) and not contradictions(*theirs, chain[node.sources[one]]):
            text = f"inputs {inputs[one].id} and {inputs[other].id} look exchanged: each port records what the other one takes"
            yield Cause("edge", node, (Change(text),), one)
            return
    for index in wrong:
        slot = node.sources[index]
        source = witnesses.producer(slot)
        if slot in blamed or source is None:
            continue
        if witnesses.is_read_rightly(node, index):
            yield Cause("record", node, (), index)
            continue
        fact, dims = witnesses.chain[slot], records[index][2]
        starts = changes.starts_for(node, index)
        if not starts and _has_other_shape(witnesses, slot, dims):
            blamed.add(slot)
            count = len(witnesses.model.readers[slot])
            readers = "its reader records" if count == 1 else f"its {count} readers record"
            text = f"the {source.type} has shape {format_shape(fact.shape)}, but {readers} {dims_text(dims)}"
            yield Cause("shape", source, (Change(text, (changes.place(node, inputs[index]),)),))
            continue
        is_shape = dims is not None and not fits(dims, fact.shape)
        text = f"port {inputs[index].id} records {dims_text(dims) if is_shape else records[index][1]}"
        text += f", but {said(source)}, from which its edge starts, gives {fact.element_type.precision} {format_shape(fact.shape)}"
        if starts:
            several = " or ".join(f"{said(one)}" for one in starts[:2])
            text += f"; should the edge come from {several}, which nothing reads?"
            yield Cause("edge", node, (Change(text, (changes.place(starts[0]),), None, starts[0]),), index)
        else:
            yield Cause("edge", node, (Change(text),), index)


def _has_other_shape(witnesses: Witnesses, slot: int, dims: tuple[int, ...] | None) -> bool:
    """Whether all readers of a Const or a Parameter record dims that contradict its shape; a Const keeps its number of elements."""
    source, fact = witnesses.producer(slot), witnesses.chain[slot]
    if source is None or source.sources or dims is None or fact.shape is None or fits(dims, fact.shape):
        return False
    if any(reader.layer.signature.records[at][2] != dims for reader, at in witnesses.readers(slot)):
        return False
    if source.type == "Parameter":
        return True
    return all(type(size) is int for size in fact.shape) and Counter(fact.shape) == Counter(dims)
