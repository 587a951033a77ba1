"""The graph of a model: nodes, ports and connections. `irshape.model.public` describes the properties that its objects share with these."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from irshape.ops.op import Op, OpClass
from irshape.ops.registry import REGISTRY, Registry
from irshape.report.diagnostic import Diagnostics, clipped
from irshape.shape.compilation import mypyc_attr
from irshape.xml.document import Document, Graph, Layer, LayerSignature, Port

if TYPE_CHECKING:
    from irshape.model.const import Const
    from irshape.xml.rt_info import RtInfo
    from irshape.xml.weights import Weights

_T = TypeVar("_T", bound=Hashable)
_Value = TypeVar("_Value")

# OpenVINO finds sinks by these exact names, although it builds operations from names in any case.
SINKS = frozenset({"Result", "Assign"})

# In place of a slot: no edge leads to the input, or a faulty edge or one that closes a cycle does, so the tensor is unknown.
UNFED: Final = -1
FAULTY: Final = -2


def split_names(text: str | None) -> list[str]:
    """The names in the text of a port."""
    return [name.replace("\\,", ",") for name in re.split(r"(?<!\\),", text or "") if name]


def reached(start: Iterable[_T], following: Callable[[_T], Iterable[_T]]) -> Iterator[_T]:
    """The start, and whatever can be reached from it, each once: `following` gives the things that follow one."""
    pending = list(start)
    seen: set[_T] = set()
    while pending:
        one = pending.pop()
        if one not in seen:
            seen.add(one)
            yield one
            pending += following(one)


def behind(start: Iterable[_T], following: Callable[[_T], Iterable[_T]]) -> Iterator[_T]:
    """The start, and whatever can be reached from it, each once and behind what follows it, unless the two are in a circle."""
    pending = [(one, False) for one in start]
    pending.reverse()
    entered: set[_T] = set()
    while pending:
        one, is_done = pending.pop()
        if is_done:
            yield one
        elif one not in entered:
            entered.add(one)
            pending.append((one, True))
            pending += [(other, False) for other in following(one)]


def grouped(pairs: Iterable[tuple[_T, _Value]]) -> dict[_T, list[_Value]]:
    """The values of each key, both in the order of the pairs."""
    found: dict[_T, list[_Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class _PortView:
    """A port of a node, by its position. `record` is the `<port>` in the file."""

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
        raise NotImplementedError

    @property
    def rt_info(self) -> RtInfo:
        return self.node.model.document.rt_info(self.record.offset, self.record.end)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, _PortView) and self.node is other.node and self.index == other.index

    def __hash__(self) -> int:
        return hash((type(self), self.node, self.index))


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class OutputPort(_PortView):
    """An output of a node: its `<port>` in the file and the inputs that read it. `node` is the node and `index` the position."""

    __slots__ = ()

    @property
    def record(self) -> Port:
        return self.node.layer.outputs[self.index]

    @property
    def id(self) -> int:
        return self.node.layer.signature.output_ids[self.index]

    @property
    def slot(self) -> int:
        """The number of the tensor, unique in its graph."""
        return self.node.first_slot + self.index

    @property
    def name(self) -> str:
        ports = self.node.op_class.outputs if self.node.op_class else ()
        if not ports:
            return str(self.index)
        port = ports[min(self.index, len(ports) - 1)]
        return f"{port.name}[{self.index - port.index}]" if port.variadic else port.name

    @property
    def names(self) -> list[str]:
        return split_names(self.record.names)

    @property
    def readers(self) -> list[InputPort]:
        return [InputPort(self.node.model.nodes[node], index) for node, index in self.node.model.readers.get(self.slot, ())]

    def __repr__(self) -> str:
        return f"<output {self.node.id}:{self.id} of {self.node.name}>"


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class InputPort(_PortView):
    """An input of a node: its `<port>` in the file and the output that feeds it. `node` is the node and `index` the position."""

    __slots__ = ()

    @property
    def record(self) -> Port:
        return self.node.layer.inputs[self.index]

    @property
    def id(self) -> int:
        return self.node.layer.signature.input_ids[self.index]

    @property
    def name(self) -> str:
        port = self.node.op_class.input_at(self.index, len(self.node.sources)) if self.node.op_class else None
        return port.name if port else str(self.index)

    @property
    def source(self) -> OutputPort | None:
        node = self.node.model.producer(self.node.sources[self.index])
        return None if node is None else OutputPort(node, self.node.sources[self.index] - node.first_slot)

    def __repr__(self) -> str:
        return f"<input {self.node.id}:{self.id} of {self.node.name}>"


_NO_BODIES: Final[Mapping[str, Any]] = MappingProxyType({})


class Node:
    """A layer in its graph.

    `model` is the graph and `layer` the `<layer>` in the file. `is_live` says that the node reaches a Result or Assign, `is_dropped` that a
    later node has the same id. `bodies` are the graphs inside an If, Loop or TensorIterator, by name. `index` is the node's position in
    `Model.nodes`, and `op_class` the class of the operation, None if the operation is unknown. `sources` has for each input the slot, that
    is the number of the tensor, that feeds it, or `UNFED` or `FAULTY`. The outputs have the slots from `first_slot` on.
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
        return self.layer.id

    @property
    def name(self) -> str:
        return self.layer.name

    @property
    def type(self) -> str:
        return self.layer.type

    @property
    def version(self) -> str:
        return self.layer.version

    @property
    def op_type(self) -> str:
        """The type as the specification spells it; as the file does, if the operation is unknown."""
        return self.layer.type if self.op_class is None else self.op_class.TYPE

    @property
    def op(self) -> Op | None:
        """The operation with this node's attributes, shared by equal nodes; None if the operation is unknown."""
        if self.op_class is None:
            return None
        op = self.model.shared_op(self.op_class, self.layer.signature)
        own = self.layer.weights_at
        return op if own is None else op.with_attribute("offset", own)

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes as values of their declared types, including defaults; as text if the operation is unknown."""
        op = self.op
        if op is None:
            return dict(self.layer.attributes)
        return {name: getattr(op, name, None) for name in op.attributes}

    @property
    def inputs(self) -> list[InputPort]:
        return [InputPort(self, index) for index in range(self.layer.signature.input_count)]

    @property
    def outputs(self) -> list[OutputPort]:
        return [OutputPort(self, index) for index in range(self.layer.signature.output_count)]

    @property
    def slots(self) -> range:
        """The numbers of the tensors that the node gives."""
        return range(self.first_slot, self.first_slot + self.layer.signature.output_count)

    @property
    def producers(self) -> list[Node]:
        return [node for slot in self.sources if (node := self.model.producer(slot)) is not None]

    @property
    def consumers(self) -> list[Node]:
        return [reader.node for port in self.outputs for reader in port.readers]

    @property
    def const(self) -> Const | Any:
        op = self.op
        if op is None or op.TYPE != "Constant" or op.is_broken:
            return None
        from irshape.model.const import Const

        own: Any = op
        return Const(own.element_type, own.shape, own.offset, own.size, self.model.weights)

    @property
    def rt_info(self) -> RtInfo:
        return self.model.document.rt_info(self.layer.offset, self.layer.end)

    @property
    def line(self) -> int:
        return self.model.document.position(self.layer.offset)[0]

    @property
    def key(self) -> str:
        return f"{self.model.prefix}{self.id}"

    def __reduce__(self) -> tuple[object, ...]:
        return _node, (self.model, self.index)

    def __repr__(self) -> str:
        return f"<{self.type} {self.id} {self.name!r}>"


def _node(model: Model, index: int) -> Node:
    return model.nodes[index]


class Model:
    """A model, or the body of a layer: its nodes in the order of the file.

    Iterating gives the nodes in topological order; `nodes` has them in the order of the file. `model["name"]` and `model.node(id)` find one
    node, `"name" in model` says whether there is one. `name` is the name of the net, or of the body in its layer, `ir_version` 10 or 11 (0
    for an example of the specification), `document` the file, and `diagnostics` are the faults of the graph itself. For a body, `holder` is
    the node that holds it, `path` the names of the enclosing layers and bodies (`loop_3 / body`), and `prefix` the beginning of its nodes'
    keys (`2.body/`). `is_live` says that the model is no body of a layer that reaches no Result or Assign. A model can be pickled.
    `registry` has the operations that the model may use, `extended` are the nodes of this graph that need an extension to run, and
    `holders` those that hold bodies.

    The engine reads `graph`, `order` (the indices of the nodes in topological order), `producers` (for each slot the index of its node),
    `slot_count`, `stubs` (the recorded ports that stand for faulty edges, by slot), `default_opset`, and `first_tensor`, which plus a slot
    is unique among all graphs of a file.
    """

    def __init__(self, document: Document, graph: Graph, holder: Node | None = None, name: str = "", registry: Registry = REGISTRY) -> None:
        self.document = document
        self.registry = registry
        self.graph = graph
        self.holder = holder
        self.name = document.name if holder is None else name
        self.path: str = "" if holder is None else f"{holder.model.path}{' / ' if holder.model.path else ''}{clipped(holder.name)} / {name}"
        self.prefix: str = "" if holder is None else f"{holder.key}.{name}/"
        self.is_live: bool = holder is None or (holder.is_live and holder.model.is_live)
        self.default_opset: str | None = None
        self.first_tensor = 0
        self.ir_version = document.version
        self.nodes: list[Node] = []
        self.extended: list[Node] = []
        self.holders: list[Node] = []
        self.order: Sequence[int] = ()
        self.producers: list[int] = []
        self.slot_count = 0
        self.stubs: dict[int, Port] = {}
        # OpenVINO follows edges even if their ports do not exist: from the index of a node to those of its would-be producers.
        self.walks: dict[int, set[int]] = {}
        self.diagnostics = Diagnostics(document.limits.faults)
        # The layers that read by indices which a Range counts, once they are sought (`irshape.inference.indices`).
        self.counting: list[Node] | None = None
        # The public model of this graph, if a program has asked for it (`irshape.model.public`).
        self.public: Any = None
        self._by_id: dict[int, Node] = {}
        self._by_name: dict[str, Node] | None = None
        self._parameters_by_name: dict[str, Node] | None = None
        self._by_type: dict[str, list[Node]] = {}
        self._readers: dict[int, list[tuple[int, int]]] | None = None
        self._canonical: list[int] | None = None
        self._ranks: dict[int, int] | None = None
        self._of_data: bytearray | None = None
        self._port_keys: list[str] | None = None
        self._weights: Weights | None = None
        self._ops: dict[object, Op] = {} if holder is None else holder.model._ops

    def __contains__(self, item: object) -> bool:
        return item in self._named() if isinstance(item, str) else isinstance(item, Node) and item.model is self

    def __iter__(self) -> Iterator[Node]:
        for index in self.canonical:
            yield self.nodes[index]

    @property
    def canonical(self) -> list[int]:
        """The indices of the nodes in the topological order that inputs, outputs and wiring alone decide, whatever the order of the file.

        The Parameters come first, then what each Result needs in the order of its inputs. Other layers come last: those that nothing reads
        are roots, too, by their attributes and names.
        """
        if self._canonical is None:
            nodes, producers = self.nodes, self.producers
            done = bytearray(len(nodes))
            found = self._behind([node.index for node in (*self.parameters, *self.results)], done)
            if len(found) < len(nodes):
                is_read = bytearray(len(nodes))
                for node in nodes:
                    for slot in node.sources:
                        if 0 <= slot < len(producers):
                            is_read[producers[slot]] = 1
                ends = [node for node in nodes if not is_read[node.index] and node.type not in ("Parameter", "Result")]
                ends.sort(key=lambda node: (node.type, sorted(node.layer.attributes.items()), node.name, node.id))
                found += self._behind([node.index for node in ends], done)
            self._canonical = found
        return self._canonical

    def _behind(self, roots: list[int], done: bytearray) -> list[int]:
        """The roots, each behind the nodes that it needs, without those that are done already."""
        nodes, producers = self.nodes, self.producers
        count = len(producers)
        found: list[int] = []
        roots.reverse()
        while roots:
            index = roots.pop()
            if index < 0:  # all that the node needs is there
                found.append(~index)
            elif not done[index]:
                done[index] = 1
                sources = nodes[index].sources
                if not sources:
                    found.append(index)
                    continue
                roots.append(~index)
                for slot in reversed(sources) if len(sources) > 1 else sources:
                    if 0 <= slot < count:
                        roots.append(producers[slot])
        return found

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, name: str) -> Node:
        """The first node of this name. Raises `KeyError` if there is none."""
        return self._named()[name]

    def _named(self) -> dict[str, Node]:
        if self._by_name is None:
            self._by_name = {node.name: node for node in reversed(self.nodes)}
        return self._by_name

    def node(self, id: int) -> Node:
        """The node with this layer id. Raises `KeyError` if there is none."""
        if (found := self._by_id.get(int(id))) is None:
            raise KeyError(f"the model has no layer with the id {id}")
        return found

    def producer(self, slot: int) -> Node | None:
        """The node that gives a tensor; None where no edge, or only a faulty one, leads."""
        return self.nodes[self.producers[slot]] if 0 <= slot < len(self.producers) else None

    @property
    def weights(self) -> Weights | None:
        if self.holder is not None:
            return self.holder.model.weights
        if self._weights is None:
            self._weights = self.document.own_weights()
        return self._weights

    @property
    def rt_info(self) -> RtInfo:
        return self.document.rt_info(self.graph.offset, self.graph.end)

    @property
    def parameters(self) -> list[Node]:
        """The inputs of the model, in the order of the file."""
        return [*self._by_type.get("Parameter", ())]

    @property
    def parameters_by_name(self) -> Mapping[str, Node]:
        """The inputs by the names of their layers; the first of those that share one."""
        if self._parameters_by_name is None:
            self._parameters_by_name = {node.name: node for node in reversed(self.parameters)}
        return self._parameters_by_name

    @property
    def results(self) -> list[Node]:
        """The outputs of the model, in the order of the file."""
        return [*self._by_type.get("Result", ())]

    def of_type(self, *types: str) -> list[Node]:
        """The nodes of some types, spelled as in the file, in canonical order."""
        found = [node for type in types for node in self._by_type.get(type, ())]
        return found if len(found) < 2 else self.in_order(found)

    def in_order(self, nodes: Collection[Node]) -> list[Node]:
        if self._ranks is None:
            self._ranks = {index: rank for rank, index in enumerate(self.canonical)}
        ranks = self._ranks
        return sorted(nodes, key=lambda node: ranks[node.index])

    @property
    def layer_count(self) -> int:
        """The number of layers, with those of bodies."""
        return sum(map(len, self.graphs()))

    @property
    def extensions(self) -> dict[str, list[Node]]:
        found: dict[str, list[Node]] = {}
        for graph in self.graphs():
            for node in graph.extended:
                assert node.op_class is not None
                found.setdefault(node.op_class.EXTENSION, []).append(node)
        return found

    def graphs(self) -> Iterator[Model]:
        """The model itself and every body in it, in canonical order."""
        return reached([self], lambda model: [body for node in reversed(model.holders) for body in reversed(tuple(node.bodies.values()))])

    @property
    def readers(self) -> Mapping[int, list[tuple[int, int]]]:
        """The readers of each slot that is read, in canonical order: the index of the node and the position of its input."""
        if self._readers is None:
            found: dict[int, list[tuple[int, int]]] = {}
            for index in self.canonical:
                for position, slot in enumerate(self.nodes[index].sources):
                    if 0 <= slot < len(self.producers):
                        found.setdefault(slot, []).append((index, position))
            self._readers = found
        return self._readers

    @property
    def port_keys(self) -> list[str]:
        """The key `LAYER:PORT` of each slot, as in `Inference.ports`."""
        if self._port_keys is None:
            self._port_keys = [f"{node.key}:{id}" for node in self.nodes for id in node.layer.signature.output_ids]
        return self._port_keys

    def is_of_data(self, node: Node) -> bool:
        """Whether elements of an input of the model, and not only shapes and constants, are among the sources of a node's elements."""
        if self._of_data is None:
            marks = bytearray(len(self.nodes))
            for index in self.order:
                one = self.nodes[index]
                if one.op_type not in ("ShapeOf", "Constant"):
                    sources = [slot for slot in one.sources if 0 <= slot < len(self.producers)]
                    marks[index] = not sources or any(marks[self.producers[slot]] for slot in sources)
            self._of_data = marks
        return bool(self._of_data[node.index])

    def shared_op(self, op_class: OpClass, signature: LayerSignature) -> Op:
        """The operation that all layers of a signature share; an `offset` that each layer has for itself is 0 in it."""
        op = self._ops.get(signature)
        if op is None:
            key = (op_class, *signature.attributes.items())
            op = self._ops.get(key)
            if op is None:
                op = self._ops[key] = op_class(signature.attributes, self.document.limits)
            self._ops[signature] = op
        return op

    def __repr__(self) -> str:
        return f"<Graph {self.name!r}: {len(self)} layers>"
