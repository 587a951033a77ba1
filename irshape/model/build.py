"""From a document to a model: names become nodes, edges become slots, and what does not fit together is said."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from irshape.model.model import SINKS, Model, Node
from irshape.ops.op import OpClass
from irshape.ops.registry import REGISTRY, RELEASES, opset
from irshape.report.diagnostic import WARNING, Diagnostic, Diagnostics, Where, clipped
from irshape.xml.document import Document, Layer, Port


def build(document: Document, default_opset: str | None = None) -> Model:
    """The model of a document. `default_opset` is the version of layers that name none (specification examples)."""
    model = Model(document, document.graph)
    tensors = 0
    for graph in model.graphs():
        graph.first_tensor = tensors
        builder = _Builder(graph, default_opset)
        builder.build()
        builder.report(model.diagnostics)
        tensors += graph.slot_count
    return model


def place(document: Document, layer: Layer | None, offset: int, port: str | None = None, path: str = "") -> Where:
    """A place in a document; line and column are computed here, so only places that are shown cost anything."""
    line, column = document.position(offset)
    return Where(
        document.path,
        None if layer is None else str(layer.id),
        None if layer is None else layer.name,
        None if layer is None else layer.type,
        port,
        line,
        column,
        offset,
        path,
    )


class _Builder:
    def __init__(self, model: Model, default_opset: str | None) -> None:
        self.model = model
        self.document = model.document
        self.default_opset = default_opset
        self.findings: list[tuple[str, str, Node | None, int, str | None, bool]] = []
        # OpenVINO walks along edges whether or not their ports exist: from a layer to those it would read, but cannot.
        self.walks: dict[int, set[int]] = {}

    def build(self) -> None:
        """Make the nodes, and the bodies inside them, which are built after."""
        self.add_nodes()
        self.connect()
        self.find_live()
        self.sort()
        self.check_connections()
        for node in self.model.nodes:
            for name, graph in (node.layer.bodies or {}).items():
                node.bodies[name] = Model(self.document, graph, node, name)

    def say(self, code: str, message: str, node: Node | None, offset: int, port: str | None = None, *, warning: bool = False) -> None:
        """Record a fault of the graph; whether it is an error is known when it is clear which layers are live."""
        self.findings.append((code, message, node, offset, port, warning))

    def report(self, diagnostics: Diagnostics) -> None:
        """Give the faults their places; one in a layer that reaches no Result or Assign is a warning."""
        for code, message, node, offset, port, warning in self.findings:
            is_dead = not self.model.is_live or (node is not None and not node.is_live)
            severity = WARNING if warning or is_dead else None
            if diagnostics.has_room(code, severity):
                where = place(self.document, node.layer if node else None, offset, port, self.model.path)
                diagnostics.append(Diagnostic(code, message, where, severity))

    def add_nodes(self) -> None:
        model = self.model
        nodes, producers, by_id = model.nodes, model.producers, model._by_id
        slot = 0
        resolved: dict[tuple[str, str], tuple[OpClass | None, list[Node]]] = {}
        for index, layer in enumerate(model.graph.layers):
            key = (layer.type, layer.version)
            if key not in resolved:
                resolved[key] = REGISTRY.find(*key), model._by_type.setdefault(layer.type, [])
            op_class, alike = resolved[key]
            if not layer.version and self.document.is_example:
                op_class = self.guess(layer)
            node = Node(model, index, layer, op_class, slot)
            nodes.append(node)
            alike.append(node)
            count = layer.pattern.output_count
            producers += [index] * count
            slot += count
            if (earlier := by_id.get(layer.id)) is not None:
                earlier.is_dropped = True
                self.say("G101", f"layer id {layer.id} is also that of {earlier.name!r}", node, layer.offset)
            by_id[layer.id] = node
        model.slot_count = slot

    def guess(self, layer: Layer) -> OpClass | None:
        """The class of an example that names no version.

        It is that of `default_opset`, else the newest that its ports and attributes fit, if any has as many outputs.
        """
        versions = REGISTRY.versions(layer.type)
        if self.default_opset:
            layer.version = self.default_opset
            return versions.get(layer.version)
        candidates = [op_class for op_class in dict.fromkeys(versions.values()) if _fits(op_class, layer)] or list(versions.values())
        same = [op_class for op_class in candidates if len(op_class.outputs) == layer.pattern.output_count] or candidates
        return same[-1] if same else None

    def connect(self) -> None:
        model = self.model
        by_id, readers = model._by_id, model.readers
        for number, (from_layer, from_port, to_layer, to_port) in enumerate(model.graph.ends):
            source, target = by_id.get(from_layer), by_id.get(to_layer)
            if source is None or target is None:
                self.say_missing(number, source, target)
                continue
            output = source.layer.pattern.outputs.get(from_port)
            entry = target.layer.pattern.inputs.get(to_port)
            if output is None or entry is None or target.sources[entry] >= 0:
                self.say_unfit(number, source, output, target, entry)
                continue
            slot = source.first_slot + output
            target.sources[entry] = slot
            if slot in readers:
                readers[slot].append((target.index, entry))
            else:
                readers[slot] = [(target.index, entry)]
        if self.document.is_example:
            self.feed_examples()

    def say_missing(self, number: int, source: Node | None, target: Node | None) -> None:
        """An edge between layers of which one is not there; what it leads to is fed, but by nothing that can be computed."""
        from_layer, _, to_layer, to_port = self.model.graph.ends[number]
        offset = self.model.graph.edge_offset(number)
        if target is None:
            self.say("G102", f"the edge leads to layer {to_layer}, which does not exist", source, offset, warning=True)
            return
        self.say("G102", f"the edge comes from layer {from_layer}, which does not exist", target, offset)
        self.leave_unknown(target, to_port)

    def say_unfit(self, number: int, source: Node, output: int | None, target: Node, entry: int | None) -> None:
        """An edge between ports of which one is not there, or is fed already."""
        _, from_port, _, to_port = self.model.graph.ends[number]
        offset = self.model.graph.edge_offset(number)
        self.walks.setdefault(target.index, set()).add(source.index)
        if output is None:
            self.say("G103", f"layer {source.id} has no output port {from_port}", target, offset)
            self.leave_unknown(target, to_port)
        if entry is None:
            self.say("G103", f"layer {target.id} has no input port {to_port}", target, offset)
        if output is not None and entry is not None:
            self.say("G104", f"input port {to_port} of layer {target.id} is fed by two edges", target, offset, str(to_port))

    def leave_unknown(self, target: Node, to_port: int) -> None:
        """What a faulty edge leads to is fed, but by nothing that can be computed."""
        entry = target.layer.pattern.inputs.get(to_port)
        if entry is not None and target.sources[entry] == -1:
            target.sources[entry] = -2

    def feed_examples(self) -> None:
        """An example's inputs come from nowhere: what its ports record is what they are."""
        for node in self.model.nodes:
            for index, port in enumerate(node.layer.inputs):
                if node.sources[index] < 0:
                    node.sources[index] = self.model.slot_count
                    self.model.stubs[self.model.slot_count] = port
                    self.model.slot_count += 1

    def find_live(self) -> None:
        model = self.model
        nodes, producers, walks = model.nodes, model.producers, self.walks
        roots = nodes if self.document.is_example else model.of_type(*SINKS)
        pending = [node for node in roots if not node.is_dropped]
        for node in pending:
            node.is_live = True
        while pending:
            node = pending.pop()
            for slot in node.sources:
                if 0 <= slot < len(producers) and not (producer := nodes[producers[slot]]).is_live:
                    producer.is_live = True
                    pending.append(producer)
            if walks:
                others = [nodes[index] for index in walks.get(node.index, ()) if not nodes[index].is_live]
                for producer in others:
                    producer.is_live = True
                pending += others
        for node in model.parameters:
            node.is_live = not node.is_dropped

    def sort(self) -> None:
        """Topological order, that of the file where it is one; a circle is reported once and cut at its first layer."""
        model = self.model
        producers = model.producers
        if all(max(node.sources, default=-1) < node.first_slot for node in model.nodes):
            model.order = list(range(len(model.nodes)))
            return
        needs = [{producers[slot] for slot in node.sources if 0 <= slot < len(producers)} for node in model.nodes]
        readers: list[list[int]] = [[] for _ in model.nodes]
        for index, need in enumerate(needs):
            for producer in need:
                readers[producer].append(index)
        cycles = _Cycles(needs)
        waiting = [len(need) for need in needs]
        ready = [index for index, count in enumerate(waiting) if not count]
        heapify(ready)
        done = [False] * len(model.nodes)
        while len(model.order) < len(model.nodes):
            if not ready:
                ready.append(self.cut(cycles.next(done)))
            index = heappop(ready)
            if done[index]:
                continue
            done[index] = True
            model.order.append(index)
            for reader in readers[index]:
                waiting[reader] -= 1
                if not waiting[reader]:
                    heappush(ready, reader)

    def cut(self, circle: list[int]) -> int:
        """Report a circle and cut it at its first layer, which is given."""
        first = self.model.nodes[min(circle)]
        names = " <- ".join(repr(clipped(self.model.nodes[i].name)) for i in [*circle[:8], circle[0]])
        self.say("G105", f"layers depend on each other: {names}", first, first.layer.offset)
        within = set(circle)
        for position, slot in enumerate(first.sources):
            if 0 <= slot < len(self.model.producers) and self.model.producers[slot] in within:
                first.sources[position] = -2  # fed, but by nothing that can be computed
        return first.index

    def check_connections(self) -> None:
        """Ports without an edge, doubled ids, layers nobody reads."""
        has_sink = bool(self.model.of_type(*SINKS))
        if not has_sink and not self.document.is_example:
            self.say("G113", "the model has no Result", None, self.model.graph.offset)
        is_example, is_old = self.document.is_example, self.document.version == 10
        readers = self.model.readers
        names: dict[str, Node] = {}
        for node in self.model.nodes:
            if node.is_dropped:
                continue  # that it is dropped has been said
            layer = node.layer
            pattern = layer.pattern
            if len(pattern.inputs) < pattern.input_count:
                self.check_port_ids(node, layer.inputs, "input")
            if len(pattern.outputs) < pattern.output_count:
                self.check_port_ids(node, layer.outputs, "output")
            if -1 in node.sources:
                self.check_fed(node, is_old)
            if (earlier := names.setdefault(layer.name, node)) is not node and layer.name and not is_example:
                self.say("G114", f"layer {earlier.id} is named {layer.name!r}, too", node, layer.offset)
            if not node.is_live and has_sink and not any(node.first_slot + i in readers for i in range(pattern.output_count)):
                self.say("G116", "the layer reaches no Result or Assign", node, layer.offset)

    def check_fed(self, node: Node, is_old: bool) -> None:
        """Inputs that no edge leads to; in IR version 10 the last ones may be left out."""
        is_followed = False
        for source, port in zip(reversed(node.sources), reversed(node.layer.inputs), strict=True):
            if source == -1 and (is_followed or not is_old):
                self.say("G106", f"no edge leads to input port {port.id}", node, port.offset, str(port.id))
            is_followed = is_followed or source != -1

    def check_port_ids(self, node: Node, ports: list[Port], kind: str) -> None:
        """Ports of one kind that have the same id."""
        seen: set[int] = set()
        for port in ports:
            if port.id in seen:
                self.say("G115", f"two {kind} ports have the id {port.id}", node, port.offset, str(port.id))
            seen.add(port.id)


class _Cycles:
    """Finds circles among the layers that wait for each other, one after the other, none of the way to them twice."""

    def __init__(self, needs: list[set[int]]) -> None:
        self.needs = needs
        self.start = 0
        self.path: list[int] = []
        self.places: dict[int, int] = {}

    def next(self, done: list[bool]) -> list[int]:
        """The layers of a circle of which none is done, each needing the next."""
        path, places = self.path, self.places
        while path and done[path[-1]]:
            del places[path.pop()]
        if path:
            index = self.needed(path[-1], done)
        else:
            index = self.start = done.index(False, self.start)
        while index not in places:
            places[index] = len(path)
            path.append(index)
            index = self.needed(index, done)
        circle = path[places[index] :]
        # What is left of the path leads to the circle, and is still waiting.
        for index in circle:
            del places[index]
        del path[len(path) - len(circle) :]
        return circle

    def needed(self, index: int, done: list[bool]) -> int:
        return min(need for need in self.needs[index] if not done[need])


def _fits(op_class: OpClass, layer: Layer) -> bool:
    spellings = {attribute.spelling for attribute in op_class.attributes.values()}
    count = layer.pattern.input_count
    return (
        op_class.min_inputs <= count
        and (op_class.max_inputs is None or count <= op_class.max_inputs)
        and all(name in spellings for name in layer.attributes)
        and all(attribute.spelling in layer.attributes for attribute in op_class.attributes.values() if attribute.required)
    )


def unknown_reason(layer: Layer) -> tuple[str, str]:
    """Why no class stands for a layer: code and message."""
    versions = REGISTRY.versions(layer.type)
    if not versions:
        return "G110", f"no opset has an operation {clipped(layer.type)!r}"
    if opset(layer.version) is None and layer.version not in versions:
        return "G112", f"{clipped(layer.version)!r} is no opset"
    return "G111", f"{layer.version} has no {layer.type}"


def unknown_hint(layer: Layer) -> str | None:
    """What may have been meant by a layer for which no class stands."""
    versions = REGISTRY.versions(layer.type)
    if not versions:
        like = REGISTRY.similar(layer.type)
        return f"did you mean {like}?" if like else None
    first = next(iter(versions))
    release = RELEASES.get(opset(first) or 0)
    return f"{layer.type} exists from {first} on" + (f", which needs OpenVINO {release} or later" if release else "")
