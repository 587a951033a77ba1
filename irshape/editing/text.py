"""The text of a draft: the bytes of the file with layers, edges, attributes, names and ports spliced in; every other byte stays."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from math import inf
from typing import NamedTuple, TypeVar

from irshape.editing.facts import BodyFacts, Facts
from irshape.editing.state import ALIGNMENT, Item, State, Value, joined_names
from irshape.inference.annotation import Annotator
from irshape.inference.facts import POISONED, Fact
from irshape.inference.run import Run
from irshape.model.model import FAULTY, UNFED, Model, Node, grouped, split_names
from irshape.shape.element_type import ElementType
from irshape.shape.shape import format_shape
from irshape.xml import writer
from irshape.xml.document import Document, Layer, Port, PortMap
from irshape.xml.reader import ANNOTATION
from irshape.xml.writer import Layout, Lines, PortFacts, Splice

_T = TypeVar("_T")

# The precision of a port of which nothing is known.
_UNKNOWN = ElementType.dynamic.precision


class Placed(NamedTuple):
    """Where the bytes of constants come to stand.

    `offsets` are the new offsets by the old ones and the sizes, as text. `stored` are the bytes of new constants by their offsets in the
    file, and `ranges` the parts of the old weights that a trimmed file keeps: where each comes to stand, where it stood, and its size.
    `end` is where the old bytes end that a file needs which is not trimmed.
    """

    offsets: dict[tuple[str, str], str]
    stored: dict[int, bytes]
    ranges: list[tuple[int, int, int]]
    end: int = 0


def serialised(state: State, facts: Facts, before: Run, start: int, *, trims: bool = False) -> tuple[bytes, Placed]:
    """The text of a draft, and where the bytes of its constants are.

    New bytes come to stand at `start` or behind it. `before` is the run of the model as it was. With `trims`, the weights hold only what
    the constants need.
    """
    placed = _placed(state, start, trims=trims)
    return writer.spliced(state.model.document, _Writer(state, facts, before, placed.offsets).splices()), placed


def _placed(state: State, start: int, *, trims: bool) -> Placed:
    """Find the places of constants; those of the old weights move only in a trimmed file.

    Ranges that share bytes move together. Each place keeps its remainder to the alignment, so a trimmed file is never larger than before.
    """
    keys = {(one.get("offset", ""), one.get("size", "")) for one in _constants(state)}
    numbers = sorted((int(key[0]), int(key[1]), key) for key in keys if all(one.isascii() and one.isdigit() for one in key))
    placed = Placed({}, {}, [], max([offset + size for offset, size, _ in numbers if offset not in state.appended], default=0))
    end, old_end = 0 if trims else start, 0
    for offset, size, key in numbers:
        data = state.appended.get(offset)
        if data is None and not trims:
            continue
        is_shared = offset < old_end
        # A constant without bytes stands where the weights end, because OpenVINO refuses an offset behind them.
        place = end if not size else offset - old_end + end if is_shared else end + (offset - end) % ALIGNMENT
        placed.offsets[key] = str(place)
        end, old_end = max(end, place + size), max(old_end, offset + size)
        if data is not None and size:
            placed.stored[place] = data
        elif size:
            first, stood, _ = placed.ranges.pop() if is_shared else (place, offset, size)
            placed.ranges.append((first, stood, end - first))
    return placed


def _constants(state: State) -> Iterator[Mapping[str, str]]:
    """The attributes of the constants of a draft, those in bodies included."""
    for item in sorted(state.items.values(), key=lambda item: item.place):
        if item.type == "Const":
            yield item.attributes
        for name, body in item.held.items():
            if name in item.bodies:
                yield from _constants(item.bodies[name])
            else:
                yield from (node.layer.attributes for graph in body.graphs() for node in graph.of_type("Const"))


class _Writer:
    """Makes the splices of one graph, and of the bodies in it."""

    def __init__(self, state: State, facts: Facts | BodyFacts, before: Run, moved: Mapping[tuple[str, str], str]) -> None:
        self.state = state
        self.facts = facts
        self.model: Model = state.model
        self.document: Document = state.model.document
        self._moved = moved
        self._before = before
        self._facts, self._run = facts.all()
        self._lines = Lines(self.document, self.model.graph)
        self._annotator = Annotator({}, format_shape)
        self._new = sorted((item for item in state.items.values() if item.base is None), key=lambda item: item.place)

    def splices(self) -> Iterator[Splice]:
        yield from self.layers([*self.changes(), *self.ports(), *self.bodies()])
        yield from self.edges()

    def bodies(self) -> Iterator[Splice]:
        """The splices in the bodies of layers that stay."""
        for item in self.state.items.values():
            for name in item.base.bodies if item.base is not None else ():
                assert item.base is not None
                before = self._before.inner.get((item.base.index, name))  # none if the operation is not known
                if name in item.bodies or self._moved or (before and self.facts.body(item, name)[1] is not before):
                    state, before = self.state.body(item, name), before or Run.of(item.base.bodies[name].slot_count, 0)
                    yield from _Writer(state, BodyFacts(state, self.facts), before, self._moved).splices()

    def changes(self) -> Iterator[Splice]:
        for node in self.model.nodes:
            if (item := self.state.items.get(node.id)) is not None:
                yield from self._changed(item, node)

    def layers(self, inner: list[Splice]) -> Iterator[Splice]:
        """The splices of removed, moved and new layers, and those in layers that stay; `inner` are the splices in all layers."""
        document, items = self.document, self.state.items
        moved = {item.id: item for item in items.values() if item.is_moved}
        for node in self.model.nodes:
            if node.id not in items or node.id in moved:
                yield writer.cut(document, node.layer.offset, node.layer.end)
        spans = sorted((item.base.layer.offset, item.base.layer.end, id) for id, item in moved.items() if item.base is not None)
        own: dict[int, list[Splice]] = {}
        for splice in inner:
            at = bisect_right(spans, (splice.start, inf)) - 1
            if at >= 0 and splice.end <= spans[at][1]:
                own.setdefault(spans[at][2], []).append(splice)
            else:
                yield splice
        layers = self.model.graph.layers
        news = sorted((*self._new, *moved.values()), key=lambda item: item.place)
        texts = [self._text(item) if item.base is None else self._moved_text(item.base.layer, own.get(item.id, [])) for item in news]
        ends = [(layers[item.place[0]].end if item.place[0] >= 0 else -1, text) for item, text in zip(news, texts, strict=True)]
        yield from writer.behind(document, self.model.graph, "layers", _joined(ends), layers[0].offset if layers else -1)

    def _moved_text(self, layer: Layer, splices: list[Splice]) -> str:
        text = writer.spliced(self.document, splices, layer.offset, layer.end)
        return self._lines.layout.line(0) + text.decode(self.document.encoding)

    def _changed(self, item: Item, node: Node) -> Iterator[Splice]:
        """The splices of the name, the attributes and the tensor names of a layer."""
        layer = node.layer
        old, new = layer.attributes, self._attributes(item.type, item.attributes)
        if old != new:
            other: dict[str, str | None] = dict.fromkeys(old.keys() - new.keys())
            other.update((name, text) for name, text in new.items() if old.get(name) != text)
            yield from writer.attribute_splices(self.document, layer, other)
        if item.name != node.name:
            yield from writer.tag_splices(self.document, layer.offset, {"name": item.name})
        if item.type == "Result":
            yield from self._output_names(item, node)
        for port, _, value in _outputs(item, node):
            if value.names != port.names:
                yield from writer.tag_splices(self.document, port.offset, {"names": value.names})
        if item.ports is not None:
            inputs, outputs = self._ports(item)
            yield from self._other_ports(layer, "input", layer.inputs, item.input_ids, inputs)
            yield from self._other_ports(layer, "output", layer.outputs, item.output_ids, outputs)
        if item.port_maps is not layer.port_maps:
            yield from self._entries(layer, item.port_maps or [])

    def _output_names(self, item: Item, node: Node) -> Iterator[Splice]:
        """The splices of the names of an output beside those of its tensor, which OpenVINO prefers."""
        value, slot = next(iter(item.inputs), None), next(iter(node.sources), UNFED)
        if value is None or slot < 0:
            return
        origin = self.model.nodes[self.model.producers[slot]]
        before, now = split_names(origin.layer.outputs[slot - origin.first_slot].names), split_names(value.names)
        own = writer.attributes_of(writer.start_tag(self.document, node.layer.offset)).get("output_names") if before != now else None
        if own is not None:
            kept = [name for name in split_names(own) if name in now] + [name for name in now if name not in before]
            if kept != split_names(own):
                yield from writer.tag_splices(self.document, node.layer.offset, {"output_names": joined_names(kept)})

    def _other_ports(self, layer: Layer, holder: str, ports: list[Port], ids: list[int], texts: list[str]) -> Iterator[Splice]:
        """The splices of the ports of a layer that are gone or new; `texts` are those of all ports now, by `ids`."""
        for port in ports:
            if port.id not in ids:
                yield writer.cut(self.document, port.offset, port.end)
        known = {port.id for port in ports}
        last = ports[-1].end if ports else -1
        new = [(last, text) for id, text in zip(ids, texts, strict=True) if id not in known]
        yield from writer.behind(self.document, layer, holder, _joined(new), -1)

    def _entries(self, layer: Layer, entries: list[PortMap]) -> Iterator[Splice]:
        """The splices of the port maps of a layer; an entry without a place is new."""
        document = self.document
        now = {entry.offset: entry for entry in entries if entry.offset >= 0}
        last: dict[str, int] = {}
        for entry in layer.port_maps or ():
            last[entry.map] = writer.end_of(document, entry.offset)
            other = now.get(entry.offset)
            if other is None:
                yield writer.cut(document, entry.offset, last[entry.map])
            elif other is not entry:
                new = {name: text for name, text in other.attributes.items() if entry.attributes.get(name) != text}
                yield from writer.tag_splices(document, entry.offset, new)
        for map in dict.fromkeys(entry.map for entry in entries if entry.offset < 0):
            texts = [self._lines.element(2, one.tag, one.attributes) for one in entries if one.offset < 0 and one.map == map]
            yield from writer.behind(document, layer, map, [(last.get(map, -1), "".join(texts))], -1)

    def _attributes(self, type: str, attributes: dict[str, str]) -> dict[str, str]:
        """The attributes of a layer; the bytes of a Const may have come to stand elsewhere."""
        moved = self._moved.get((attributes.get("offset", ""), attributes.get("size", ""))) if type == "Const" else None
        return attributes if moved is None else {**attributes, "offset": moved}

    def _text(self, item: Item) -> str:
        if item.origin is not None:
            return self._outdented(item.origin.layer, self._moved_text(item.origin.layer, [*self._copied(item, item.origin)]))
        lines = self._lines
        attributes = self._attributes(item.type, item.attributes)
        content = [lines.element(1, "data", attributes)] if attributes else []
        inputs, outputs = self._ports(item)
        content += [lines.element(1, tag, {}, ports) for tag, ports in (("input", inputs), ("output", outputs)) if ports]
        return lines.element(0, "layer", {"id": str(item.id), "name": item.name, "type": item.type, "version": item.version}, content)

    def _outdented(self, layer: Layer, text: str) -> str:
        """The text of a layer that was in a body, with the indent of a layer of this graph; as it is if its lines hold more than tags."""
        was, now = Layout.at(self.document, layer.offset, layer.offset).line(0), self._lines.layout.line(0)
        first, *others = text.removeprefix(now).split(was or "\n")
        if not was or not now or not all(line.lstrip().startswith("<") for line in others):
            return text
        return now + now.join([first, *others])

    def _copied(self, item: Item, node: Node) -> Iterator[Splice]:
        """The splices that make the text of a layer that has moved out of a body from that of its node there."""
        yield from writer.tag_splices(self.document, node.layer.offset, {"id": str(item.id)})
        yield from self._changed(item, node)
        for port, _, value in (*_inputs(item, node), *_outputs(item, node)):
            if value is not None:
                yield from self._stale(node.layer, port, None, self._facts[value.slot])
        for name in item.held:
            state = self.state.body(item, name)
            yield from _Writer(state, BodyFacts(state, self.facts), self._run_of(state.model), self._moved).splices()

    def _run_of(self, model: Model) -> Run:
        if model is self.model or model.holder is None:
            return self._before
        return self._run_of(model.holder.model).inner[model.holder.index, model.name]

    def _ports(self, item: Item) -> tuple[list[str], list[str]]:
        """The texts of the inputs and the outputs of a layer."""
        inputs = [self._port(id, value, None) for id, value in zip(item.input_ids, item.inputs, strict=True)]
        return inputs, [self._port(id, value, value.names, item.note) for id, value in zip(item.output_ids, item.outputs, strict=True)]

    def _port(self, id: int, value: Value | None, names: str | None, note: str | None = None) -> str:
        fact = POISONED if value is None else self._facts.get(value.slot, POISONED)
        wanted: PortFacts | Port = self._annotator.port(Port(id, None, -1), fact, fact)
        node = None if value is None else value.item.base
        if fact.is_poisoned and value is not None and node is not None and value.index < len(node.layer.outputs):
            wanted = node.layer.outputs[value.index]  # a layer with a fault keeps its records
        content = [f"{self._lines.layout.line(3)}<dim>{size}</dim>" for size in wanted.dims or ()]
        if note is not None:
            entry = self._lines.element(4, "attribute", {"name": ANNOTATION, "version": "0", "value": note})
            content.append(self._lines.element(3, "rt_info", {}, [entry]))
        return self._lines.element(2, "port", {"id": str(id), "precision": wanted.precision or _UNKNOWN, "names": names}, content)

    def edges(self) -> Iterator[Splice]:
        """The splices of edges: cut where a layer is gone, led to another tensor, or new."""
        document, graph, items = self.document, self.model.graph, self.state.items
        nodes = {node.id: node for node in self.model.nodes}
        told: set[tuple[int, int]] = set()
        last = -1
        for number in range(len(graph.ends) // 4):
            source, from_port, target, to_port = graph.ends[4 * number : 4 * number + 4]
            last, item, origin = graph.edge_offset(number), items.get(target), nodes.get(source)
            index, was = (-1, UNFED) if item is None or item.base is None else _input(item, item.base, to_port)
            value = item.inputs[index] if item is not None and index >= 0 else None
            is_gone = (origin and source not in items) or (target in nodes and item is None) or (item and item.ports and index < 0)
            output = None if origin is None else origin.layer.signature.outputs.get(from_port)
            if origin is not None and output is not None and was == origin.first_slot + output and (target, index) not in told:
                told.add((target, index))  # an edge that is at fault feeds nothing
            else:
                is_gone, value = is_gone or (was == FAULTY and value is not None), None
            if value is not None:
                now = {"from-layer": (value.item.id, source), "from-port": (value.port, from_port)}
                if changed := {name: str(new) for name, (new, old) in now.items() if new != old}:
                    yield from writer.tag_splices(document, last, changed)
            elif is_gone:
                yield writer.cut(document, last, writer.end_of(document, last))
        lines = [
            (writer.end_of(document, last) if last >= 0 else -1, self._edge(item, index, value))
            for item in sorted(items.values(), key=lambda item: item.id)
            for index, value in enumerate(item.inputs)
            if value is not None and (item.id, index) not in told
        ]
        yield from writer.behind(document, graph, "edges", _joined(lines), last)

    def _edge(self, item: Item, index: int, value: Value) -> str:
        ends = {"from-layer": value.item.id, "from-port": value.port, "to-layer": item.id, "to-port": item.input_ids[index]}
        return self._lines.element(0, "edge", {name: str(end) for name, end in ends.items()})

    def ports(self) -> Iterator[Splice]:
        """The splices of the ports whose facts are other ones now."""
        before = self._before.slots
        for item in self.state.items.values():
            if item.base is None:
                continue
            layer = item.base.layer
            inputs = [
                splice
                for port, was, value in _inputs(item, item.base)
                if value is not None
                for splice in self._stale(layer, port, before[was] if was >= 0 else None, self._facts[value.slot])
            ]
            yield from inputs
            # The outputs that a file records for an unknown operation are trusted for the inputs beside them. New inputs need new outputs.
            is_anew = bool(inputs) and item.base.op is None
            for port, was, value in _outputs(item, item.base):
                yield from self._stale(layer, port, None if is_anew else before[was], self._facts[value.slot])

    def _stale(self, layer: Layer, port: Port, before: Fact | None, after: Fact) -> list[Splice]:
        """The splices that give a port its new fact; none if the port would say of the old fact the same."""
        if before is after:
            return []
        wanted = self._said(port, after)
        if before is not None and wanted == self._said(port, before):
            return []
        return writer.port_splices(self.document, layer, port, wanted)

    def _said(self, port: Port, fact: Fact) -> PortFacts:
        said = self._annotator.port(port, fact, fact)
        return said if self.document.has_annotations else said._replace(annotation=None)


def _joined(places: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """The texts of each place as one text, in their order."""
    return [(place, "".join(texts)) for place, texts in grouped(places).items()]


def _inputs(item: Item, node: Node) -> Iterator[tuple[Port, int, Value | None]]:
    """The inputs that a layer has kept: the port, the tensor that fed it in the model, and the one that feeds it now."""
    return _kept(item.ports and item.ports[0], node.layer.inputs, node.sources, item.inputs)


def _outputs(item: Item, node: Node) -> Iterator[tuple[Port, int, Value]]:
    """The outputs that a layer has kept: the port, and the number of its tensor in the model, and the tensor."""
    return _kept(item.ports and item.ports[1], node.layer.outputs, node.slots, item.outputs)


def _kept(ids: list[int] | None, ports: list[Port], slots: Iterable[int], values: list[_T]) -> Iterator[tuple[Port, int, _T]]:
    for index, (port, was) in enumerate(zip(ports, slots, strict=True)):
        if ids is None or port.id in ids:
            yield port, was, values[index if ids is None else ids.index(port.id)]


def _input(item: Item, node: Node, to_port: int) -> tuple[int, int]:
    """The position of an input by the id of its port, -1 for none, and the tensor that fed it in the model."""
    was = node.layer.signature.inputs.get(to_port, -1)
    index = was if item.ports is None else next((index for index, id in enumerate(item.ports[0]) if id == to_port), -1)
    return index, node.sources[was] if was >= 0 else UNFED
