"""The items of a draft as an engine knows layers: records as if they had been read, and the models of bodies that are edited."""

from __future__ import annotations

from irshape.editing.state import Item, State
from irshape.model.model import SINKS, Model, Node
from irshape.xml.document import Layer, Port, Signature


class Records:
    """Makes the records of items. Equal layers share a signature."""

    def __init__(self) -> None:
        self._signatures: dict[object, Signature] = {}

    def signature(self, item: Item) -> Signature:
        """The signature of an item, that of its layer in the model if it still has the same content."""
        base = None if item.origin is None else item.origin.layer
        if base is not None and item.ports is None and item.attributes == base.attributes:
            return base.signature
        inputs, outputs = item.input_ids, item.output_ids
        like = None if base is None or item.ports is not None else base.signature
        key = (item.type, item.version, like, *item.attributes.items(), *inputs, None, *outputs)
        found = self._signatures.get(key)
        if found is None:
            records = [(id, None, None) for id in (*inputs, *outputs)] if like is None else like.records
            found = self._signatures[key] = Signature(item.type, item.version, item.attributes)
            found.record(records[: len(inputs)], records[len(inputs) :], {})
        return found

    def layer(self, item: Item) -> Layer:
        """A record of an item that is another one than in the model."""
        signature, base = self.signature(item), None if item.origin is None else item.origin.layer
        if base is None:
            inputs = [Port(index, None, -1) for index in range(len(item.inputs))]
            outputs = [Port(id, precision, -1, dims) for id, (precision, dims) in enumerate(item.recorded, len(inputs))]
            return Layer(item.id, item.name, signature, None, 0, 0, 0, (inputs, outputs))
        ports = base.inputs, base.outputs
        if item.ports is not None:
            of_ids = [{port.id: port for port in several} for several in ports]
            inputs, outputs = ([known.get(id) or Port(id, None, -1) for id in ids] for known, ids in zip(of_ids, item.ports, strict=True))
            ports = inputs, outputs
        own = base.weights_at if signature is base.signature else None
        layer = Layer(item.id, item.name, signature, own, base.offset, base.end, base.data_offset, ports)
        layer.bodies, layer.port_maps = base.bodies, item.port_maps
        return layer

    def enter(self, item: Item, node: Node) -> None:
        """Give a node that stands for an item the bodies of the item: those that nobody has looked into are those of the model."""
        if own := item.held:
            node.bodies = {name: self._body(item.bodies[name], node) if name in item.bodies else own[name] for name in own}

    def _body(self, state: State, holder: Node) -> Model:
        """The model of a body as it is now. Its tensors have the numbers that they have in the state."""
        own = state.model
        model = Model(own.document, own.graph, holder, own.name, own.registry)
        model.default_opset, model.first_tensor = own.default_opset, own.first_tensor
        items = sorted(state.items.values(), key=lambda item: item.place)
        positions = {item: index for index, item in enumerate(items)}
        model.slot_count = max([own.slot_count, *(value.slot + 1 for item in items for value in item.outputs)])
        model.producers = [-1] * model.slot_count
        for index, item in enumerate(items):
            layer = self.layer(item) if item.base is None or item.is_other else item.base.layer
            first = item.outputs[0].slot if item.outputs else own.slot_count
            node = Node(model, index, layer, item.op_class, len(item.inputs), first)
            node.sources = item.sources
            node.is_live = False
            model.nodes.append(node)
            model._by_id[item.id] = node
            model._by_type.setdefault(item.type, []).append(node)
            for value in item.outputs:
                model.producers[value.slot] = index
            if item.held:
                model.holders.append(node)
        model.order = [positions[item] for item in state.in_order]
        _mark_live(model)
        for node in model.holders:
            self.enter(items[node.index], node)
        return model


def _mark_live(model: Model) -> None:
    """Mark the nodes that reach a Result or an Assign, and the Parameters."""
    pending = [node for node in model.nodes if node.type in SINKS]
    while pending:
        node = pending.pop()
        if not node.is_live:
            node.is_live = True
            pending += [model.nodes[model.producers[slot]] for slot in node.sources if slot >= 0]
    for node in model.parameters:
        node.is_live = True
