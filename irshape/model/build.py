"""From a document to a model: layers become nodes, edges become slots, and faults of the graph become diagnostics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from irshape.model.model import FAULTY, SINKS, UNFED, Model, Node, reached
from irshape.ops.op import OpClass
from irshape.ops.registry import REGISTRY, RELEASES, Registry, opset
from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import ERROR, WARNING, Diagnostic, Diagnostics, Where, clipped
from irshape.report.text import some
from irshape.xml.document import Document, Layer, LayerSignature, Port

if TYPE_CHECKING:
    from irshape.model.causes import Fault

# The most types that a note about an extension names.
_MOST_TYPES: Final = 4
# The number of inputs of an LSTMCell of opset1, of which the last are the peepholes.
_PEEPHOLES: Final = 7


def build(document: Document, default_opset: str | None = None, registry: Registry = REGISTRY) -> Model:
    """The model of a document, with the operations of a registry.

    `default_opset` is the version of the layers of a specification example that name none.
    """
    model = Model(document, document.graph, registry=registry)
    model.default_opset = default_opset
    tensors = 0
    for graph in model.graphs():
        graph.first_tensor = tensors
        builder = _Builder(graph, default_opset)
        builder.build()
        builder.report(model.diagnostics)
        tensors += graph.slot_count
    if document.held:
        forgive(model)
    if (given := document.preprocess) is not None:
        from irshape.model.old_files import faults

        where = place(document, None, given.offset)
        model.diagnostics += [Diagnostic("X114", message, where) for message in faults(model, given)]
    note_extensions(model)
    return model


def forgive(model: Model) -> None:
    """Make faults of the XML warnings where OpenVINO does not read it: in the bodies and port maps of layers that reach no Result."""
    document = model.document
    dead = {node.layer.offset for graph in model.graphs() for node in graph.nodes if not (graph.is_live and node.is_live)}
    for holder, fault in document.held:
        if holder in dead and fault.severity == ERROR:
            document.diagnostics.soften(fault)


def note_extensions(model: Model) -> None:
    """Say which extensions the model needs to run."""
    for library, nodes in model.extensions.items():
        types = some(sorted({node.type for node in nodes}), _MOST_TYPES)
        first = min(nodes, key=lambda node: node.layer.offset)
        are = "layer is an operation" if len(nodes) == 1 else "layers are operations"
        message = f"the model needs {library or 'an extension'} to run: {len(nodes)} {are} of this extension ({types})"
        model.diagnostics.append(Diagnostic("N107", message, layer_place(first)))


def place(document: Document, layer: Layer | None, offset: int, port: str | None = None, path: str = "") -> Where:
    """The place of a diagnostic. Line and column are computed here, so only places that are reported cost anything."""
    line, column = document.position(offset)
    id, name, type = (None, None, None) if layer is None else (str(layer.id), layer.name, layer.type)
    return Where(document.path, id, name, type, port, line, column, offset, path)


def layer_place(node: Node) -> Where:
    """The place of a layer."""
    return place(node.model.document, node.layer, node.layer.offset, path=node.model.path)


def lacking(op_class: OpClass | None, sources: list[int], document: Document) -> Iterator[int]:
    """The inputs that need an edge and have none, from the last on. The last ones need none in IR version 10, or if OpenVINO fills them."""
    is_followed = False
    for place in range(len(sources) - 1, -1, -1):
        is_unfed = sources[place] == UNFED
        declared = None if op_class is None else op_class.input_at(place, len(sources))
        if is_unfed and (is_followed or not (document.version == 10 or (declared is not None and declared.filled))):
            yield place
        is_followed = is_followed or not is_unfed


class _Builder:
    def __init__(self, model: Model, default_opset: str | None) -> None:
        self.model = model
        self.document = model.document
        self.default_opset = default_opset
        self.faults: list[Fault] = []
        self.classes: dict[tuple[str, str], OpClass | None] = {}
        self.signatures: Iterable[LayerSignature] = ()
        # Whether each node is read, by its index, and whether every producer comes before its readers in the file.
        self.is_read: list[bool] = []
        self.is_sorted = True

    def build(self) -> None:
        """Make and connect the nodes of this graph, and the models of their bodies, which are built later."""
        self.add_nodes()
        self.connect()
        self.find_dead()
        self.sort()
        self.check_connections()
        if len(self.model.holders) > 1:
            self.model.holders = self.model.in_order(self.model.holders)
        for node in self.model.holders:
            graphs = node.layer.bodies or {}
            node.bodies = {name: Model(self.document, graph, node, name, self.model.registry) for name, graph in graphs.items()}

    def fault(self, code: str, message: str, node: Node | None, offset: int, port: str | None = None) -> Fault:
        """Record a fault of the graph; its severity is decided when it is known which layers are live."""
        from irshape.model.causes import Fault

        fault = Fault(code, message, node, offset, port)
        self.faults.append(fault)
        return fault

    def report(self, diagnostics: Diagnostics) -> None:
        """Add the faults to the diagnostics; a fault of a layer that reaches no Result or Assign is a warning."""
        if not self.faults:
            return
        from irshape.model.causes import Causes

        made: dict[Fault, Diagnostic] = {}
        for fault in (*Causes(self.model, self.faults, self.is_error).found, *(one for one in self.faults if one.leader is not None)):
            severity = ERROR if self.is_error(fault) else WARNING
            if diagnostics.has_room(fault.code, severity):
                where = place(self.document, fault.node.layer if fault.node else None, fault.offset, fault.port, self.model.path)
                related = tuple([place(self.document, one.layer, one.layer.offset, None, self.model.path) for one in fault.others])
                made[fault] = Diagnostic(fault.code, fault.message, where, severity, fault.hint, related=related)
                diagnostics.append(made[fault])
        for fault, diagnostic in made.items():
            leader = fault
            while leader.leader is not None:
                leader = leader.leader
            diagnostic.caused_by = made.get(leader) if leader is not fault else None
        for (start, _, end, port), lost in self.model.graph.lost:
            self.follow(made, lost, "G106", end, port)
            self.follow(made, lost, "G116", start, -1)

    @staticmethod
    def follow(made: Mapping[Fault, Diagnostic], lost: Diagnostic, code: str, id: int, port: int) -> None:
        """Give an edge that cannot be read as the cause to the one fault of a code at a layer and port; -1 is any layer or port."""
        left = [(fault, fault.node) for fault, own in made.items() if fault.code == code and own.caused_by is None]
        fits = [(fault, node) for fault, node in left if node is not None and id in (-1, node.layer.id) and str(port) in ("-1", fault.port)]
        if len(fits) != 1:
            return
        [(fault, node)] = fits
        made[fault].caused_by = lost
        if code == "G106" and -1 in (id, port):
            there = f"{node.type} {clipped(node.name)}"
            lost.hint = f'did you mean to-layer="{node.layer.id}" to-port="{fault.port}"? No edge leads to that input of {there}'
        elif code == "G116" and id == -1:
            lost.hint = f'did you mean from-layer="{node.layer.id}"? Nothing reads {node.type} {clipped(node.name)}'

    def is_error(self, fault: Fault) -> bool:
        """Whether a fault is an error: OpenVINO does not read layers that reach no Result or Assign."""
        if fault.is_error is not None:
            return fault.is_error
        is_live = self.model.is_live and (fault.node is None or fault.node.is_live)
        return is_live and CATALOGUE[fault.code].severity == ERROR

    def add_nodes(self) -> None:
        model = self.model
        nodes, producers, by_id = model.nodes, model.producers, model._by_id
        slot = 0
        resolved: dict[LayerSignature, tuple[OpClass | None, list[Node], int, int]] = {}
        for index, layer in enumerate(model.graph.layers):
            signature = layer.signature
            known = resolved.get(signature)
            if known is None:
                op_class = self.class_of(layer)
                if op_class is not None:
                    model.shared_op(op_class, signature)  # reads the attributes
                same_type = model._by_type.setdefault(signature.type, [])
                known = resolved[signature] = op_class, same_type, signature.input_count, signature.output_count
            op_class, same_type, input_count, count = known
            node = Node(model, index, layer, op_class, input_count, slot)
            nodes.append(node)
            same_type.append(node)
            if count == 1:
                producers.append(index)
            else:
                producers += (index,) * count
            slot += count
            if layer.bodies is not None:
                model.holders.append(node)
            earlier = by_id.setdefault(layer.id, node)
            if earlier is not node:
                earlier.is_dropped = True
                self.fault("G101", f"layer id {layer.id} is already the id of {earlier.name!r}", node, layer.offset).others = (earlier,)
                by_id[layer.id] = node
        model.slot_count = slot
        self.signatures = resolved.keys()
        if extended := {signature for signature, (op_class, *_) in resolved.items() if op_class is not None and op_class.is_of_extension}:
            model.extended = [node for node in nodes if node.layer.signature in extended]

    def class_of(self, layer: Layer) -> OpClass | None:
        """The class of a layer's operation; None if the operation is unknown."""
        if not layer.version and self.document.is_example:
            return self.guess(layer)
        key = (layer.type, layer.version)
        if key not in self.classes:
            self.classes[key] = self.model.registry.find(*key) or self.class_of_a_package(*key)
        return self.classes[key]

    def class_of_a_package(self, type: str, version: str) -> OpClass | None:
        """The class that an installed package has for an unknown type; packages are looked at when the first such type occurs."""
        from irshape.ops.extensions import load_plugins

        return self.model.registry.find(type, version) if opset(version) is None and load_plugins() else None

    def guess(self, layer: Layer) -> OpClass | None:
        """The class of a layer of an example that names no version.

        It is the class of `default_opset` if that is given. Otherwise it is the newest class that fits the layer's inputs and attributes,
        among those with the right number of outputs if there are any.
        """
        versions = self.model.registry.versions(layer.type)
        if self.default_opset:
            layer.signature.version = self.default_opset
            return versions.get(self.default_opset)
        candidates = [op_class for op_class in dict.fromkeys(versions.values()) if _fits(op_class, layer)] or list(versions.values())
        same = [op_class for op_class in candidates if len(op_class.outputs) == layer.signature.output_count] or candidates
        return same[-1] if same else None

    def connect(self) -> None:
        model = self.model
        ends, node_of = model.graph.ends, model._by_id.get
        is_read = self.is_read = [False] * len(model.nodes)
        edges = zip(map(node_of, ends[::4]), ends[1::4], map(node_of, ends[2::4]), ends[3::4], strict=True)
        for number, (source, from_port, target, to_port) in enumerate(edges):
            if source is None or target is None:
                self.report_missing_layer(number, source, target)
                continue
            output = source.layer.signature.outputs.get(from_port)
            entry = target.layer.signature.inputs.get(to_port)
            if output is None or entry is None or target.sources[entry] >= 0:
                self.report_unfit_ports(number, source, output, target, entry)
                continue
            slot = source.first_slot + output
            target.sources[entry] = slot
            is_read[source.index] = True
            if slot >= target.first_slot:
                self.is_sorted = False
        if any(not signature.output_count for signature in self.signatures if signature.type not in SINKS):
            self.part_slots()
        if self.document.is_example:
            self.feed_examples()

    def part_slots(self) -> None:
        """Give nodes that list no output slots behind those of outputs: the slot at which another node begins is not theirs."""
        for node in self.model.nodes:
            if not node.layer.signature.output_count and node.type not in SINKS:
                node.first_slot = self.model.slot_count
                self.model.slot_count += 1

    def report_missing_layer(self, number: int, source: Node | None, target: Node | None) -> None:
        """Report an edge from or to a layer that does not exist; the input that it feeds is unknown."""
        from_layer, _, to_layer, to_port = self.ends(number)
        offset = self.model.graph.edge_offset(number)
        if target is None:
            fault = self.fault("G102", f"the edge leads to layer {to_layer}, which does not exist", source, offset)
            fault.is_error, fault.missing, fault.ends = False, to_layer, self.ends(number)
            return
        fault = self.fault("G102", f"the edge starts at layer {from_layer}, which does not exist", target, offset)
        fault.missing, fault.ends = from_layer, self.ends(number)
        self.leave_unknown(target, to_port)

    def ends(self, number: int) -> tuple[int, int, int, int]:
        """The layer and port where an edge starts, and the layer and port to which it leads."""
        from_layer, from_port, to_layer, to_port = self.model.graph.ends[4 * number : 4 * number + 4]
        return from_layer, from_port, to_layer, to_port

    def report_unfit_ports(self, number: int, source: Node, output: int | None, target: Node, entry: int | None) -> None:
        """Report an edge from or to a port that does not exist, or to an input that another edge feeds."""
        ends = _, from_port, _, to_port = self.ends(number)
        offset = self.model.graph.edge_offset(number)
        self.model.walks.setdefault(target.index, set()).add(source.index)
        if output is None:
            fault = self.fault("G103", f"layer {source.id} has no output port {from_port}", target, offset)
            if entry is not None and target.sources[entry] >= 0:
                fault.message += f", and another edge feeds input port {to_port} of layer {target.id}"
                fault.hint = "remove the edge, or correct its to-layer and to-port"
            else:
                fault.ends = ends
            self.leave_unknown(target, to_port)
        if entry is None:
            self.fault("G103", f"layer {target.id} has no input port {to_port}", target, offset).ends = ends
        if output is not None and entry is not None:
            fault = self.fault("G104", f"input port {to_port} of layer {target.id} is fed by two edges", target, offset, str(to_port))
            fault.ends = ends

    def leave_unknown(self, target: Node, to_port: int) -> None:
        """Mark the input that a faulty edge leads to as fed by an unknown tensor."""
        entry = target.layer.signature.inputs.get(to_port)
        if entry is not None and target.sources[entry] == UNFED:
            target.sources[entry] = FAULTY

    def feed_examples(self) -> None:
        """Feed the unconnected inputs of an example from stubs: slots with the type and shape that the input port records."""
        for node in self.model.nodes:
            for index, port in enumerate(node.layer.inputs):
                if node.sources[index] < 0:
                    node.sources[index] = self.model.slot_count
                    self.model.stubs[self.model.slot_count] = port
                    self.model.slot_count += 1

    def find_dead(self) -> None:
        """Mark the nodes that reach no Result or Assign."""
        model = self.model
        nodes, walks = model.nodes, model.walks
        if self.document.is_example or self.are_all_live():
            return
        sinks = [node for node in nodes if node.type in SINKS and not node.is_dropped]
        for node in nodes:
            node.is_live = False
        for node in reached(sinks, lambda node: [*node.producers, *(nodes[index] for index in walks.get(node.index, ()))]):
            node.is_live = True
        for node in model.parameters:
            node.is_live = not node.is_dropped

    def are_all_live(self) -> bool:
        """Whether all nodes are live for certain: every node is a sink, is a Parameter, or is read by a later node."""
        if self.faults or not self.is_sorted:
            return False
        unread = [self.model.nodes[index] for index, is_read in enumerate(self.is_read) if not is_read]
        return all(node.type in SINKS or node.type == "Parameter" for node in unread)

    def sort(self) -> None:
        """Find a topological order, the order of the file if possible; each cycle is reported once and cut at its first layer."""
        model = self.model
        producers = model.producers
        if self.is_sorted:
            model.order = range(len(model.nodes))
            return
        from heapq import heapify, heappop, heappush

        needs = [{producers[slot] for slot in node.sources if 0 <= slot < len(producers)} for node in model.nodes]
        readers: list[list[int]] = [[] for _ in model.nodes]
        for index, need in enumerate(needs):
            for producer in need:
                readers[producer].append(index)
        waiting = [len(need) for need in needs]
        ready = [index for index, count in enumerate(waiting) if not count]
        heapify(ready)
        done = [False] * len(model.nodes)
        cycles = _cycles(needs, done)
        order: list[int] = []
        model.order = order
        while len(order) < len(model.nodes):
            if not ready:
                ready.append(self.cut(next(cycles)))
            index = heappop(ready)
            if done[index]:
                continue
            done[index] = True
            order.append(index)
            for reader in readers[index]:
                waiting[reader] -= 1
                if not waiting[reader]:
                    heappush(ready, reader)

    def cut(self, cycle: list[int]) -> int:
        """Report a cycle and cut it at its first layer, whose index is returned."""
        first = self.model.nodes[min(cycle)]
        names = " <- ".join(repr(clipped(self.model.nodes[i].name)) for i in [*cycle[:8], cycle[0]])
        self.fault("G105", f"the layers form a cycle: {names}", first, first.layer.offset)
        within = set(cycle)
        for position, slot in enumerate(first.sources):
            if 0 <= slot < len(self.model.producers) and self.model.producers[slot] in within:
                first.sources[position] = FAULTY
        return first.index

    def check_connections(self) -> None:
        """Report inputs without an edge, repeated port ids, shared names and layers that reach no Result."""
        has_sink = bool(self.model.of_type(*SINKS))
        if not has_sink and not self.document.is_example:
            self.fault("G113", "the model has no Result", None, self.model.graph.offset)
        layers = self.model.graph.layers
        kept = [node for node in self.model.nodes if not node.is_dropped]  # a dropped node has been reported
        if any(signature.is_doubled for signature in self.signatures):
            for node in kept:
                self.check_port_ids(node, node.layer.inputs, "input")
                self.check_port_ids(node, node.layer.outputs, "output")
        for node in kept:
            for place in lacking(node.op_class, node.sources, self.document) if UNFED in node.sources else ():
                port = node.layer.inputs[place]
                declared = None if node.op_class is None else node.op_class.input_at(place, len(node.sources))
                name = "" if declared is None else f" ({declared.name})"
                self.fault("G106", f"no edge leads to input port {port.id}{name}", node, port.offset, str(port.id))
                node.sources[place] = FAULTY
        if not self.document.is_example and len({layer.name for layer in layers}) < len(layers):
            self.check_names(kept)
        if self.document.version == 10 and self.model.holder is None:
            from irshape.model.old_files import collisions

            for node, message in collisions(self.model):
                self.fault("G120", message, node, node.layer.offset)
        if has_sink:
            for node in kept:
                if not node.is_live and not self.is_read[node.index] and not self.is_left_over(node):
                    self.fault("G116", "the layer reaches no Result or Assign", node, node.layer.offset)

    def is_left_over(self, node: Node) -> bool:
        """Whether a Const holds the peepholes of an LSTMCell of opset1, which OpenVINO writes without an edge to the cell."""
        if node.type != "Const":
            return False
        cells = [cell for cell in self.model.of_type("LSTMCell") if cell.version == "opset1"]
        return any(len(cell.sources) < _PEEPHOLES or cell.sources[_PEEPHOLES - 1] == UNFED for cell in cells)

    def check_names(self, nodes: list[Node]) -> None:
        """Report names that layers share."""
        names: dict[str, Node] = {}
        for node in nodes:
            if node.name and (earlier := names.setdefault(node.name, node)) is not node:
                self.fault("G114", f"the name {node.name!r} is already the name of layer {earlier.id}", node, node.layer.offset)

    def check_port_ids(self, node: Node, ports: list[Port], kind: str) -> None:
        """Report ports of one kind that have the same id."""
        seen: set[int] = set()
        for port in ports:
            if port.id in seen:
                self.fault("G115", f"two {kind} ports have id {port.id}", node, port.offset, str(port.id))
            seen.add(port.id)


def _cycles(needs: list[set[int]], done: list[bool]) -> Iterator[list[int]]:
    """Cycles of layers that each need the next, none of them `done` when it is asked for; the walk that leads to one is not repeated."""
    start = 0
    path: list[int] = []
    places: dict[int, int] = {}

    def needed(index: int) -> int:
        return min(need for need in needs[index] if not done[need])

    while True:
        while path and done[path[-1]]:
            del places[path.pop()]
        if path:
            index = needed(path[-1])
        else:
            index = start = done.index(False, start)
        while index not in places:
            places[index] = len(path)
            path.append(index)
            index = needed(index)
        cycle = path[places[index] :]
        # The rest of the path leads to the cycle and is still waiting.
        for index in cycle:
            del places[index]
        del path[len(path) - len(cycle) :]
        yield cycle


def _fits(op_class: OpClass, layer: Layer) -> bool:
    spellings = {attribute.spelling for attribute in op_class.attributes.values()}
    count = layer.signature.input_count
    return (
        op_class.takes(count)
        and all(name in spellings for name in layer.attributes)
        and all(attribute.spelling in layer.attributes for attribute in op_class.attributes.values() if attribute.required)
    )


def unknown_reason(layer: Layer, registry: Registry) -> tuple[str, str]:
    """The code and message of the diagnostic for a layer whose operation is unknown."""
    versions = registry.versions(layer.type)
    if not versions:
        return "G110", f"no opset has an operation {clipped(layer.type)!r}"
    if opset(layer.version) is None and layer.version not in versions:
        return "G112", f"{clipped(layer.version)!r} is not an opset"
    return "G111", f"{layer.version} has no {layer.type}"


def unknown_hint(layer: Layer, registry: Registry) -> str | None:
    """The hint for a layer whose operation is unknown: a similar name, options for an extension, or the operation's first opset."""
    versions = registry.versions(layer.type)
    if not versions:
        like = registry.similar(layer.type)
        if like and opset(layer.version):  # the operations of extensions are in no opset
            return f"did you mean {like}?"
        extension = f"describe it with --extensions FILE, or trust its recorded ports with --opaque {clipped(layer.type)}"
        return f"did you mean {like}? Otherwise {extension}" if like else extension
    if opset(layer.version) is None and (likely := "opset" + "".join(filter(str.isdecimal, layer.version))) in versions:
        return f"did you mean {likely}?"
    first = next(iter(versions))
    release = RELEASES.get(opset(first) or 0)
    return f"{layer.type} is available from {first} on" + (f", which needs OpenVINO {release} or later" if release else "")
