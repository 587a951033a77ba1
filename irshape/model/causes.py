"""Which faults of a graph are the cause of others: one mistake in the edges or the ids of layers shows in several places.

The leading fault says in a hint how the two fit together. The edges alone tell this: no facts are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from itertools import islice, pairwise
from typing import Final

from irshape.model.model import FAULTY, Model, Node, grouped, reached
from irshape.report.diagnostic import clipped
from irshape.report.text import counted
from irshape.xml.document import Port

# Faults that an id that two layers have can bring about.
_OF_IDS: Final = frozenset({"G102", "G103", "G104", "G105", "G106", "G116"})
# The most ports that a hint names.
_MOST_PORTS: Final = 8
# The most faults of a graph for which causes are searched, and the most for which the layers that nothing reads are searched.
_MOST_FAULTS: Final = 256
_MOST_SEARCHED: Final = 64
# Faults of edges that lead to the wrong place or come from there, and inputs and outputs to which such an edge may belong.
_STRAY: Final = frozenset({"G102", "G103", "G104"})


class Fault:
    """A fault of a graph before it is reported.

    `node` is the layer and `port` the id of its port. `ends` are the four numbers of the edge at fault: layer and port where it starts,
    layer and port to which it leads. `missing` is the id of a layer that does not exist. `is_error` overrules the severity of the code.
    `others` are further layers at fault, `leader` is the fault from which this one follows.
    """

    __slots__ = ("code", "ends", "hint", "is_error", "leader", "message", "missing", "node", "offset", "others", "port")

    def __init__(self, code: str, message: str, node: Node | None, offset: int, port: str | None = None) -> None:
        self.code = code
        self.message = message
        self.node = node
        self.offset = offset
        self.port = port
        self.ends: tuple[int, int, int, int] | None = None
        self.missing: int | None = None
        self.hint: str | None = None
        self.is_error: bool | None = None
        self.others: tuple[Node, ...] = ()
        self.leader: Fault | None = None


class Ids:
    """The ids of the layers of a graph, and `all` its edges, each with its four numbers; `edges` has those that name an id."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.nodes = {node.layer.id: node for node in model.nodes}
        self.edges: dict[int, list[tuple[int, int, int, int]]] = {}
        numbers = iter(model.graph.ends)
        self.all = [*zip(numbers, numbers, numbers, numbers, strict=True)]
        for edge in self.all:
            for id in {edge[0], edge[2]}:
                self.edges.setdefault(id, []).append(edge)

    def fit(self, holders: Mapping[int, Node]) -> bool:
        """Whether all edges of some ids fit if these layers have them: both ends exist and record the same, and each input is fed."""
        for id, node in holders.items():
            edges = self.edges.get(id, ())
            if sorted(edge[3] for edge in edges if edge[2] == id) != sorted(node.layer.signature.inputs):
                return False
            for start, from_port, end, to_port in edges:
                source, target = [holders.get(one) or self.nodes.get(one) for one in (start, end)]
                output = None if source is None else source.layer.signature.outputs.get(from_port)
                entry = None if target is None else target.layer.signature.inputs.get(to_port)
                if source is None or target is None or output is None or entry is None:
                    return False
                both = source.layer.signature.records[source.layer.signature.input_count + output], target.layer.signature.records[entry]
                if both[0][1:] != both[1][1:]:
                    return False
        return True

    def are_in_order(self, ids: Mapping[Node, int]) -> bool:
        """Whether these layers, with these ids, stand in the order of ids among the layers beside them, as OpenVINO writes."""
        for node in ids:
            near = [ids.get(one, one.layer.id) for one in self.model.nodes[max(node.index - 1, 0) : node.index + 2]]
            if any(one >= other for one, other in pairwise(near)):
                return False
        return True

    def exchanged(self, suspects: Iterable[int]) -> tuple[Node, Node] | None:
        """The two layers, one of them with one of these ids, that fit all their edges and are in order with each other's id only."""
        for one in islice(suspects, _MOST_SEARCHED):
            node = self.nodes[one]
            for id, other in self.nodes.items():
                is_before = node.index < other.index
                if is_before != (id < one) or id == one or not self.are_in_order({node: id, other: one}):
                    continue
                if self.fit({id: node, one: other}) and not self.fit({one: node, id: other}):
                    return (node, other) if is_before else (other, node)
        return None


def told_exchanged(pair: tuple[Node, Node]) -> str:
    """That two layers have each other's id, in a sentence."""
    one, other = pair
    texts = [f"{node.type} {clipped(node.name)!r} with id {mate.id}" for node, mate in ((one, other), (other, one))]
    return f"ids {one.id} and {other.id} look exchanged: {' and '.join(texts)} fit all edges"


class Causes:
    """The faults of one graph that follow from no other one, `found`; each step gives a leader to those that follow from one which stays.

    `is_error` tells the severity of a fault that stands alone.
    """

    def __init__(self, model: Model, faults: list[Fault], is_error: Callable[[Fault], bool]) -> None:
        self.model = model
        self.found = faults
        self.is_error = is_error
        self.ids = Ids(model)
        self.nodes = self.ids.nodes
        if not model.graph.ends:
            self.join_unconnected()
            return
        if len(faults) > _MOST_FAULTS:  # so many have no single mistake behind them
            return
        self.follow_ids()
        self.find_lost_ids()
        self.find_exchanged()
        self.join_missing_layers()
        self.find_right_ports()
        self.find_right_ends()
        self.find_right_starts()
        self.say_next_steps()

    def of(self, *codes: str) -> list[Fault]:
        """The faults of some codes that are left."""
        return [fault for fault in self.found if fault.code in codes]

    def absorb(self, leader: Fault, followers: Iterable[Fault]) -> None:
        """Give a leader to faults that follow from it; it becomes an error if one of them is."""
        for fault in followers:
            if fault is not leader:
                fault.leader = leader
                if self.is_error(fault) and not self.is_error(leader):
                    leader.is_error = True
        self.found = [fault for fault in self.found if fault.leader is None]

    def join_unconnected(self) -> None:
        """One fault for a graph without edges."""
        if len(unfed := self.of("G106")) > 1:
            leader = Fault("G106", f"the graph has no edges; {len(unfed)} input ports need one", None, self.model.graph.offset)
            leader.hint = "the <edges> are missing or empty: copy the file or export the model again"
            self.found.append(leader)
            self.absorb(leader, [*unfed, *self.of("G116")])

    def follow_ids(self) -> None:
        """Faults of edges beside an id that two layers have: the edges of one of them lead to the other."""
        missing = {fault.missing for fault in self.of(*_OF_IDS) if fault.missing is not None}
        for leader in self.of("G101"):
            if (later := leader.node) is None:
                continue
            free = min(missing) if len(missing) == 1 else None
            others = self.about({later.layer.id, *missing} if free is not None else {later.layer.id})
            self.say_which(leader, later, free)
            if others:
                later.sources[:] = [FAULTY] * len(later.sources)  # any of its edges may be one of the other layer
                self.absorb(leader, others)

    def find_lost_ids(self) -> None:
        """Faults of edges of a missing layer that all fit one layer, whose own id no edge names."""
        missing = {fault.missing: None for fault in self.of("G102") if fault.missing is not None}
        apart = [node for id, node in self.nodes.items() if id >= 0 and id not in self.ids.edges] if missing else []
        for id in missing:
            fits = [node for node in islice(apart, _MOST_SEARCHED) if self.ids.fit({id: node})]
            count = len(self.ids.edges.get(id, ()))
            if len(fits) == 1 and (count > 1 or not self.ids.are_in_order({fits[0]: fits[0].layer.id})):
                own, several = fits[0].layer, self.about({id, fits[0].layer.id})
                leader = next(fault for fault in several if fault.code == "G102")
                leader.is_error = any(map(self.is_error, several))
                leader.node, leader.port, leader.offset, leader.ends = fits[0], None, own.offset, None
                verb = "names" if count == 1 else "name"
                leader.message = f"no edge names layer {own.id}, but {counted(count, 'edge')} {verb} layer {id}, which does not exist"
                leader.hint = f'did you mean id="{id}"?'
                self.absorb(leader, several)

    def about(self, ids: set[int]) -> list[Fault]:
        """The faults of edges of layers with these ids, and of the layers before them as unused ones."""
        before = {edge[0] for id in ids for edge in self.ids.edges.get(id, ()) if edge[2] == id}
        return [one for one in self.of(*_OF_IDS) if self.names(one, ids) or (one.code == "G116" and self.names(one, before))]

    def say_which(self, leader: Fault, later: Node, free: int | None) -> None:
        """Put the fault of an id that two layers have at the one to which another id belongs, which edges name and no layer has."""
        [earlier] = leader.others
        both = {later: earlier, earlier: later}
        if sum(node.layer.id == later.layer.id for node in self.model.nodes) > len(both):
            return
        likely = [node for node in both if free is not None and self.ids.fit({free: node, later.layer.id: both[node]})] or [*both]
        others = [node.layer.id for node in self.model.nodes if node not in both]
        if len(likely) > 1 and others == sorted(others):  # as OpenVINO numbers layers
            likely = [node for node in likely if not self.ids.are_in_order({node: node.layer.id})] or likely
            likely = [node for node in likely if free is None or self.ids.are_in_order({node: free})] or likely
        wrong, other = likely[0], both[likely[0]]
        there = f"{other.type} {clipped(other.name)!r} (line {self.line(other.layer.offset)})"
        if wrong is earlier and len(likely) == 1:
            leader.node, leader.offset, leader.others = earlier, earlier.layer.offset, (later,)
            leader.message = f"layer id {later.layer.id} is also the id of {there}"
        if free is not None:
            where = "" if len(likely) == 1 else f" here, or for {there}"
            leader.hint = f'did you mean id="{free}"{where}? Edges name that id, but no layer has it'

    def find_exchanged(self) -> None:
        """Faults of edges that are none as soon as two layers have each other's id."""
        faults = self.of("G103", "G104", "G105", "G106")
        ids = {id for fault in faults for id in (*(fault.ends or ())[::2], *(() if fault.node is None else (fault.node.layer.id,)))}
        if not faults or (pair := self.ids.exchanged(id for id in ids if id in self.nodes)) is None:
            return
        wrong = {node.layer.id for node in pair}
        leader, *others = [fault for fault in faults if fault.code == "G105" or self.names(fault, wrong)]
        leader.message += f"; {told_exchanged(pair)}"
        leader.node, leader.others = pair[0], pair[1:]
        leader.offset, leader.port = pair[0].layer.offset, None
        leader.hint = f"exchange the ids of the layers in lines {' and '.join(str(self.line(node.layer.offset)) for node in pair)}"
        for node in pair:
            node.sources[:] = [FAULTY] * len(node.sources)
        self.absorb(leader, [*others, *self.of("G116")])

    @staticmethod
    def names(fault: Fault, ids: set[int]) -> bool:
        own = None if fault.node is None else fault.node.layer.id
        return own in ids or fault.missing in ids or (fault.ends is not None and not ids.isdisjoint(fault.ends[::2]))

    def join_missing_layers(self) -> None:
        """One fault for all edges of a layer that does not exist. The layers before it are not unused."""
        by_id = grouped((fault.missing, fault) for fault in self.of("G102") if fault.missing is not None)
        for id, several in by_id.items():
            leader = next(filter(self.is_error, several), several[0])
            starts = {fault.ends[0] for fault in several if fault.ends}
            before = [fault for fault in self.of("G116") if fault.node is not None and fault.node.layer.id in starts]
            if len(several) > 1:
                leader.message = f"layer {id} does not exist, but {counted(len(several), 'edge')} name it"
                leader.hint = "if the layer was removed, lead the edges to the layers around it; else correct the ids"
            elif leader.hint is None and all(edge[2] == id for edge in self.ids.edges.get(id, ())):
                leader.hint = f"no edge starts at layer {id}: if it was a Result, an output of the model is lost"
            if len(by_id) == 1 and (sinkless := self.of("G113")):
                sinkless[0].hint = f"layer {id}, to which an edge leads in line {self.line(leader.offset)}, does not exist: is it a Result?"
                leader, several = sinkless[0], [*several, leader]
            self.absorb(leader, [*several, *before])

    def find_right_ports(self) -> None:
        """Ports that edges name by the number that OpenVINO gives them, and that have another id; and outputs that are missing."""
        for id, node in self.nodes.items() if self.of("G103") else ():
            layer, count = node.layer, node.layer.signature.input_count
            kinds = ("output", 0, layer.outputs, layer.signature.outputs, count), ("input", 2, layer.inputs, layer.signature.inputs, 0)
            for kind, at, ports, known, first in kinds:
                named = {edge[at + 1] for edge in self.ids.edges.get(id, ()) if edge[at] == id}
                for wanted in sorted(named.difference(known)):
                    wrong = ports[wanted - first] if 0 <= wanted - first < len(ports) else None
                    strays = [one for one in self.of("G103") if one.ends is not None and one.ends[at : at + 2] == (id, wanted)]
                    own = [one for one in self.of("G115", "G106") if wrong and one.node is node and one.port == str(wrong.id)]
                    if not strays or (wrong is None and (ports or at)) or (wrong and wrong.id in named and not own):
                        continue
                    leader = next((one for one in own if one.code == "G115"), strays[0])
                    leader.node, leader.port, leader.offset = node, None, layer.offset if wrong is None else wrong.offset
                    leader.hint = (
                        f'did you mean id="{wanted}" for its {kind} port {wrong.id}?'
                        if wrong
                        else f'add <port id="{wanted}"> to its <output>'
                    )
                    self.absorb(leader, [*strays, *own])

    def find_right_ends(self) -> None:
        """Edges that lead to the wrong input, and the inputs that lack an edge."""
        for stray in self.strays():
            unfed = [fault for fault in self.of("G106") if fault.node is not None and fault.node.layer.id == stray.ends[2]]  # type: ignore[index]
            if unfed:
                stray.hint = f'did you mean to-port="{unfed[0].port}"? No edge leads to that port'
                self.doubt(stray)
                self.absorb(stray, unfed[:1])
        strays, unfed = list(self.strays()), self.of("G106")
        if len(strays) == len(unfed) == 1 and strays[0].hint is None and unfed[0].node is not None and self.fits(strays[0], unfed[0]):
            node = unfed[0].node
            there = f"{node.type} {clipped(node.name)}"
            meant = f'to-layer="{node.layer.id}" to-port="{unfed[0].port}"? No edge leads to that port of {there}'
            if node.layer.id < 0 and strays[0].missing is not None:  # the id is malformed
                meant = f'id="{strays[0].missing}" for {there}? No edge leads to it'
            strays[0].hint = f"did you mean {meant}"
            self.doubt(strays[0])
            self.absorb(strays[0], unfed)
        for stray in strays:
            if stray.code == "G103" and stray.hint is None and stray.ends is not None:
                listed = ", ".join(str(port.id) for port in self.nodes[stray.ends[2]].layer.inputs[:_MOST_PORTS])
                stray.hint = f"add the port to the layer, or correct to-port: the layer lists {listed or 'no input port'}"

    def fits(self, stray: Fault, unfed: Fault) -> bool:
        """Whether the layer where an edge starts records what an input without an edge records; of two edges to one input, either may."""
        ends, edges = list(islice(self.unknown_inputs(unfed), 2)), [(stray.ends, stray.offset)]
        for edge in self.ids.edges.get(stray.ends[2], ()) if stray.code == "G104" and stray.ends is not None else ():
            if stray.ends is not None and edge[2:] == stray.ends[2:]:
                edges.append((edge, self.model.graph.edge_offset(self.ids.all.index(edge))))
        for stray.ends, stray.offset in edges if len(ends) == 1 and ends[0].dims is not None else ():
            start = self.port_at(stray, is_input=False)
            if start is not None and (start.precision, start.dims) == (ends[0].precision, ends[0].dims):
                return True
        stray.ends, stray.offset = edges[0]
        return False

    def doubt(self, stray: Fault) -> None:
        """Mark the input that two edges feed as unknown, because nobody knows which of them belongs there."""
        if stray.code == "G104" and stray.ends is not None and (node := self.nodes.get(stray.ends[2])) is not None:
            node.sources[node.layer.signature.inputs[stray.ends[3]]] = FAULTY

    def strays(self) -> Iterator[Fault]:
        """Faults of edges that lead to a wrong place."""
        for fault in self.of(*_STRAY):
            if fault.ends is not None and (fault.code == "G104" or self.port_at(fault, is_input=True) is None):
                yield fault

    def find_right_starts(self) -> None:
        """Inputs that lack an edge, or whose edge comes from a wrong place, and the layers that nothing reads."""
        faults = self.of("G102", "G103", "G105", "G106")
        if len(faults) > _MOST_SEARCHED:
            return
        read = {slot for node in self.model.nodes for slot in node.sources} if faults else set()
        inputs = [node for node in self.model.parameters if node.first_slot not in read]
        for fault in faults:
            unused = {one.node: one for one in self.of("G116") if one.node is not None}
            ports = list(islice(self.unknown_inputs(fault), _MOST_PORTS))
            unread = [node for node in (*inputs, *unused) if any(_gives(node, port) for port in ports)]
            if unread:
                behind = self.behind(fault)  # an edge from such a layer would close a circle
                unread = [node for node in unread if node not in behind]
            if len(unread) != 1 or fault.hint is not None:
                self.name_output(fault, read)
                continue
            [node] = unread
            if fault.ends is not None and node.layer.id == fault.ends[0]:  # the edge starts at that layer
                self.name_output(fault, read)
            number = f"layer {node.layer.id}, " if node.layer.id >= 0 else ""  # a malformed id is none
            where = f"{number}{node.type} {clipped(node.name)}"
            fault.hint = fault.hint or f"should an edge lead here from {where}? Nothing reads that layer"
            if node in unused and any(port.precision is not None and _gives(node, port) for port in ports):
                self.absorb(fault, [unused[node]])

    def behind(self, fault: Fault) -> set[Node]:
        """The layer at fault, and all layers that depend on it."""
        reader = fault.node if fault.ends is None else self.nodes.get(fault.ends[2])
        readers = grouped((producer, node) for node in self.model.nodes for producer in node.producers)
        return set(reached([] if reader is None else [reader], lambda node: readers.get(node, ())))

    def say_next_steps(self) -> None:
        """What to do about inputs with too many edges or none, where nothing tells which edge is meant, and about what nothing reads."""
        for fault in self.of("G104", "G106"):
            if fault.hint is None and fault.code == "G104":
                fault.hint = "remove one of the two edges, or correct its to-layer and to-port"
            elif fault.hint is None and fault.node is not None and fault.node.layer.id >= 0:
                end = f'to-layer="{fault.node.layer.id}" to-port="{fault.port}"'
                fault.hint = f"add an <edge> with {end}, or remove the port if the operation does not need it"
        unread, ids = self.of("G116"), self.nodes.keys()
        if unread and max(ids) - min(ids) == len(ids):  # one number is free
            [free] = {*range(min(ids), max(ids))} - ids
            for fault in unread:
                fault.hint = f"no layer has id {free}: was the layer removed that reads this one?"

    def name_output(self, fault: Fault, read: Container[int]) -> None:
        """Name the output port that is meant where an edge starts at none: the only one, or the only one not in `read`, if one fits."""
        reader = self.port_at(fault, is_input=True)
        if fault.code == "G103" and fault.ends is not None and fault.hint is None and reader is not None:
            node = self.nodes[fault.ends[0]]
            outputs = node.layer.outputs
            if outputs and not _gives(node, reader):
                fault.hint = f"correct from-layer: no output of {node.type} {clipped(node.name)} gives what the input records"
                return
            unread = [port for slot, port in enumerate(outputs, node.first_slot) if slot not in read]
            if len(outputs) == 1:
                fault.hint = f'did you mean from-port="{outputs[0].id}"? The layer has no other output port'
            elif len(unread) == 1:
                fault.hint = f'did you mean from-port="{unread[0].id}"? Nothing reads that output port'
            elif outputs:
                fault.hint = f"correct from-port: the layer lists {', '.join(str(port.id) for port in outputs[:_MOST_PORTS])}"

    def unknown_inputs(self, fault: Fault) -> Iterator[Port]:
        node = fault.node
        if fault.code == "G105" and node is not None:
            yield from (port for port, source in zip(node.layer.inputs, node.sources, strict=True) if source == FAULTY)
        elif fault.code == "G106" and node is not None:
            yield from (port for port in node.layer.inputs if str(port.id) == fault.port)
        elif (port := self.port_at(fault, is_input=True)) is not None:
            yield port

    def port_at(self, fault: Fault, *, is_input: bool) -> Port | None:
        """The port at one end of the edge of a fault; None if it does not exist."""
        if fault.ends is None:
            return None
        layer, port = fault.ends[2:] if is_input else fault.ends[:2]
        if (node := self.nodes.get(layer)) is None:
            return None
        ports = node.layer.inputs if is_input else node.layer.outputs
        place = (node.layer.signature.inputs if is_input else node.layer.signature.outputs).get(port)
        return None if place is None else ports[place]

    def line(self, offset: int) -> int:
        return self.model.document.position(offset)[0]


def _gives(node: Node, port: Port) -> bool:
    """Whether an output of a layer records what an input port records; a port may record nothing."""
    return any(
        port.precision in (None, one.precision) and (port.dims is None or one.dims is None or port.dims == one.dims)
        for one in node.layer.outputs
    )
