"""The graph of a model: nodes, ports and connections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from irshape.ops.op import Op, OpClass
from irshape.report.diagnostic import Diagnostics, clipped
from irshape.xml.document import Document, Graph, Layer, Port, Signature

# OpenVINO finds sinks by these exact names, although it builds operations from names in any case.
SINKS = frozenset({"Result", "Assign"})

# In place of a slot: no edge leads to the input, or a faulty edge or one that closes a cycle does, so the tensor is unknown.
UNFED: Final = -1
FAULTY: Final = -2


class _PortView:
    """A port of a node, by its position."""

    __slots__ = ("index", "node")

    def __init__(self, node: Node, index: int) -> None:
        self.node = node
        self.index = index

    @property
    def record(self) -> Port:
        """The `<port>` in the file."""
        raise NotImplementedError

    @property
    def id(self) -> int:
        """The port's id in the file."""
        raise NotImplementedError


class OutputPort(_PortView):
    """An output of a node: its `<port>` in the file and the inputs that read it."""

    __slots__ = ()

    @property
    def record(self) -> Port:
        """The `<port>` in the file."""
        return self.node.layer.outputs[self.index]

    @property
    def id(self) -> int:
        """The port's id in the file."""
        return self.node.layer.signature.output_ids[self.index]

    @property
    def slot(self) -> int:
        """The number of the tensor, unique in its graph."""
        return self.node.first_slot + self.index

    @property
    def targets(self) -> list[InputPort]:
        """The inputs that read this output."""
        return [InputPort(self.node.model.nodes[node], index) for node, index in self.node.model.readers.get(self.slot, ())]

    def __repr__(self) -> str:
        return f"<output {self.node.id}:{self.id} of {self.node.name}>"


class InputPort(_PortView):
    """An input of a node: its `<port>` in the file and the output that feeds it."""

    __slots__ = ()

    @property
    def record(self) -> Port:
        """The `<port>` in the file."""
        return self.node.layer.inputs[self.index]

    @property
    def id(self) -> int:
        """The port's id in the file."""
        return self.node.layer.signature.input_ids[self.index]

    @property
    def name(self) -> str:
        """The name that the operation gives this input; its position if the operation is unknown."""
        port = self.node.op_class.input_at(self.index) if self.node.op_class else None
        return port.name if port else str(self.index)

    @property
    def source(self) -> OutputPort | None:
        """The output that feeds this input; None if none does."""
        slot = self.node.sources[self.index]
        if slot < 0 or slot in self.node.model.stubs:
            return None
        node = self.node.model.nodes[self.node.model.producers[slot]]
        return OutputPort(node, slot - node.first_slot)

    def __repr__(self) -> str:
        return f"<input {self.node.id}:{self.id} of {self.node.name}>"


_NO_BODIES: Final[Mapping[str, Any]] = MappingProxyType({})


class Node:
    """A layer in its graph.

    `sources[i]` is the slot, the number of the tensor, that feeds input i, or `UNFED` or `FAULTY`. The outputs have the slots from
    `first_slot` on. `is_live` says that the node reaches a Result or Assign, `is_dropped` that a later
    node has the same id. `bodies` are the graphs inside an If, Loop or TensorIterator.
    """

    __slots__ = ("bodies", "first_slot", "index", "is_dropped", "is_live", "layer", "model", "op_class", "sources")

    def __init__(self, model: Model, index: int, layer: Layer, op_class: OpClass | None, input_count: int, first_slot: int) -> None:
        self.model = model
        self.index = index
        self.layer = layer
        self.op_class = op_class
        self.sources: list[int] = [UNFED] * input_count
        self.first_slot = first_slot
        self.is_live = True
        self.is_dropped = False
        self.bodies: Mapping[str, Model] = _NO_BODIES

    @property
    def id(self) -> int:
        """The layer's id in the file."""
        return self.layer.id

    @property
    def name(self) -> str:
        """The layer's name in the file."""
        return self.layer.name

    @property
    def type(self) -> str:
        """The layer's type as the file spells it."""
        return self.layer.type

    @property
    def version(self) -> str:
        """The layer's opset as the file gives it."""
        return self.layer.version

    @property
    def op(self) -> Op | None:
        """The operation with this node's attributes, shared by equal nodes; None if the operation is unknown."""
        return self.model.op_of(self)

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes as values of their declared types, including defaults; as text if the operation is unknown."""
        op = self.op
        if op is None:
            return dict(self.layer.attributes)
        return {name: getattr(op, name, None) for name in op.attributes}

    @property
    def inputs(self) -> list[InputPort]:
        """The inputs in order."""
        return [InputPort(self, index) for index in range(self.layer.signature.input_count)]

    @property
    def outputs(self) -> list[OutputPort]:
        """The outputs in order."""
        return [OutputPort(self, index) for index in range(self.layer.signature.output_count)]

    @property
    def producers(self) -> list[Node]:
        """The nodes whose outputs this node reads, in the order of its inputs."""
        return [source.node for port in self.inputs if (source := port.source)]

    @property
    def consumers(self) -> list[Node]:
        """The nodes that read this node's outputs."""
        return [target.node for port in self.outputs for target in port.targets]

    @property
    def key(self) -> str:
        """The key of the node in the file: its id after the ids and bodies of the enclosing layers (`2.body/5`)."""
        return f"{self.model.prefix}{self.id}"

    def __repr__(self) -> str:
        return f"<{self.type} {self.id} {self.name!r}>"


class Model:
    """A model, or the body of a layer: its nodes in the order of the file.

    `diagnostics` are the faults of the graph itself. Iterating gives the nodes in topological order, whose indices are in `order`;
    `model["name"]` and `model.node(id)` find one node. For a body, `holder` is the node that holds it, `path` the names of the
    enclosing layers and bodies (`loop_3 / body`), and `prefix` the beginning of its nodes' keys (`2.body/`). `first_tensor` plus a slot
    is unique among all graphs of a file.
    """

    __slots__ = (
        "_by_id", "_by_name", "_by_type", "_ops", "_parameters_by_name", "_readers", "diagnostics", "document", "first_tensor", "graph",
        "holder", "ir_version", "is_live", "name", "nodes", "order", "path", "prefix", "producers", "slot_count", "stubs",
    )  # fmt: skip

    def __init__(self, document: Document, graph: Graph, holder: Node | None = None, name: str = "") -> None:
        self.document = document
        self.graph = graph
        self.holder = holder
        self.name = document.name if holder is None else name
        self.path: str = "" if holder is None else f"{holder.model.path}{' / ' if holder.model.path else ''}{clipped(holder.name)} / {name}"
        self.prefix: str = "" if holder is None else f"{holder.key}.{name}/"
        self.is_live: bool = holder is None or (holder.is_live and holder.model.is_live)
        self.first_tensor = 0
        self.ir_version = document.version
        self.nodes: list[Node] = []
        self.order: Sequence[int] = ()
        self.producers: list[int] = []
        self.slot_count = 0
        self.stubs: dict[int, Port] = {}
        self.diagnostics = Diagnostics(document.limits.faults)
        self._by_id: dict[int, Node] = {}
        self._by_name: dict[str, Node] | None = None
        self._parameters_by_name: dict[str, Node] | None = None
        self._by_type: dict[str, list[Node]] = {}
        self._readers: dict[int, list[tuple[int, int]]] | None = None
        self._ops: dict[object, Op] = {} if holder is None else holder.model._ops

    def __iter__(self) -> Iterator[Node]:
        for index in self.order:
            yield self.nodes[index]

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, name: str) -> Node:
        """The first node of this name."""
        if self._by_name is None:
            self._by_name = {node.name: node for node in reversed(self.nodes)}
        return self._by_name[name]

    def node(self, id: int) -> Node:
        """The node with this layer id."""
        return self._by_id[int(id)]

    @property
    def parameters(self) -> list[Node]:
        """The inputs of the model."""
        return self.of_type("Parameter")

    @property
    def parameters_by_name(self) -> Mapping[str, Node]:
        """The inputs by the names of their layers; the first of those that share one."""
        if self._parameters_by_name is None:
            self._parameters_by_name = {node.name: node for node in reversed(self.parameters)}
        return self._parameters_by_name

    @property
    def results(self) -> list[Node]:
        """The outputs of the model."""
        return self.of_type("Result")

    def of_type(self, *types: str) -> list[Node]:
        """The nodes of some types, spelled as in the file, in the order of the file."""
        found = [self._by_type[type] for type in types if type in self._by_type]
        return list(found[0]) if len(found) == 1 else sorted((node for nodes in found for node in nodes), key=lambda node: node.index)

    def graphs(self) -> Iterator[Model]:
        """The model itself and every body in it, in the order of the file."""
        pending = [self]
        while pending:
            model = pending.pop()
            yield model
            pending += [body for node in reversed(model.nodes) for body in reversed(tuple(node.bodies.values()))]

    @property
    def readers(self) -> Mapping[int, list[tuple[int, int]]]:
        """The readers of each slot that is read: the index of the node and the position of its input."""
        if self._readers is None:
            self._readers = {}
            for node in self.nodes:
                for position, slot in enumerate(node.sources):
                    if 0 <= slot < len(self.producers):
                        self._readers.setdefault(slot, []).append((node.index, position))
        return self._readers

    def op_of(self, node: Node) -> Op | None:
        """The operation of a node with parsed attributes, shared by all nodes with the same attributes."""
        if node.op_class is None:
            return None
        op = self.shared_op(node.op_class, node.layer.signature)
        own = node.layer.weights_at
        return op if own is None else op.with_attribute("offset", own)

    def shared_op(self, op_class: OpClass, signature: Signature) -> Op:
        """The operation that all layers of a signature share; an `offset` that each layer has for itself is 0 in it."""
        op = self._ops.get(signature)
        if op is None:
            key = (op_class, *signature.attributes.items())
            op = self._ops.get(key)
            if op is None:
                op = self._ops[key] = op_class(signature.attributes, self.document.limits)
            self._ops[signature] = op
        return op

    def to_etree(self) -> Any:
        """The file as an lxml tree. Raises ValueError if the file could not be read completely."""
        if not self.document.is_complete:
            raise ValueError("the file could not be read completely; its diagnostics say why")
        from lxml import etree

        from irshape.xml.schema import untrusted_parser

        # The reader has refused a DOCTYPE and has enforced its limits, so the parser needs none.
        return etree.fromstring(self.document.text, untrusted_parser(is_huge=True))
