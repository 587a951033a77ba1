"""The graph as programs see it: a model, its nodes and their ports.

These objects are views of the graph that the engine reads. They are made where a program asks for them, one for each graph and each node,
so a check pays nothing for them.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex, TypeAlias, TypeVar, overload

from irshape.model import model as inner
from irshape.model.finding import end_name
from irshape.report.surface import Guessed
from irshape.report.text import counted
from irshape.shape.element_type import ElementType

if TYPE_CHECKING:
    import networkx
    from lxml.etree import _ElementTree

    from irshape.model.const import Const
    from irshape.report.diagram import Diagram
    from irshape.xml.rt_info import RtInfo
    from irshape.xml.weights import Weights

_Port = TypeVar("_Port")


class Attributes(dict[str, Any]):
    """The attributes of an operation, by name. A model does not change, so neither do they; `irshape.edit` makes a draft that does."""

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError('the attributes of a model do not change: edit a draft, irshape.edit(model)["layer"].set(attribute=value)')

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return Attributes, (dict(self),)


class Ports(list[_Port]):
    """Ports in their order. `ports[0]` finds one by its position, `ports["mask"]` by one of its names."""

    def __init__(self, ports: Iterable[_Port], names: Callable[[_Port], Iterable[str]]) -> None:
        super().__init__(ports)
        self._names = names

    @overload
    def __getitem__(self, item: SupportsIndex) -> _Port: ...
    @overload
    def __getitem__(self, item: slice) -> list[_Port]: ...
    @overload
    def __getitem__(self, item: str) -> _Port: ...
    def __getitem__(self, item: SupportsIndex | slice | str) -> Any:
        """The port at a position, or the first port of a name. Raises `IndexError` or `KeyError` if there is none."""
        if not isinstance(item, str):
            return super().__getitem__(item)
        found = next((port for port in self if item in self._names(port)), None)
        if found is None:
            names = dict.fromkeys(name for port in self for name in self._names(port))
            raise KeyError(f"no port {item!r}; there are {', '.join(map(repr, names)) or 'none'}")
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return Ports, (list(self), self._names)


class _End(Guessed):
    """A port of a node, by its position."""

    __slots__ = ("_port", "node")

    def __init__(self, node: Node, port: Any) -> None:
        self.node: Node = node
        self._port = port

    @property
    def index(self) -> int:
        """The position among the inputs or outputs of the node, from 0."""
        return int(self._port.index)

    @property
    def name(self) -> str:
        """The name of an input or output of the model; else the one that the operation gives the port, or its position if it is unknown."""
        node = self.node._node
        return end_name(node) if node.type in ("Parameter", "Result") else str(self._port.name)

    @property
    def id(self) -> int:
        """The port's id in the file."""
        return int(self._port.id)

    @property
    def key(self) -> str:
        """The key of the port in the file: the key of its node and its id (`2.body/5:1`), as in `Inference.ports`."""
        return f"{self.node.key}:{self.id}"

    @property
    def rt_info(self) -> RtInfo:
        """The notes in the port's `<rt_info>`, by name; empty if there is none."""
        notes: RtInfo = self._port.rt_info
        return notes

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, _End) and self._port == other._port

    def __hash__(self) -> int:
        return hash(self._port)


class OutputPort(_End):
    """An output of a node. `node` is the node."""

    __slots__ = ()
    _port: inner.OutputPort

    @property
    def names(self) -> list[str]:
        """The names of the tensor."""
        return self._port.names

    @property
    def readers(self) -> list[InputPort]:
        """The inputs that read this output."""
        return [InputPort(self.node.model._of(port.node), port) for port in self._port.readers]

    def __repr__(self) -> str:
        names = f": {', '.join(map(repr, self.names))}" if self.names else ""
        return f"<OutputPort {self.key} of {self.node.type} {self.node.name!r}{names}>"


class InputPort(_End):
    """An input of a node. `node` is the node."""

    __slots__ = ()
    _port: inner.InputPort

    @property
    def names(self) -> list[str]:
        """The names of the tensor that feeds this input."""
        source = self._port.source
        return source.names if source is not None else []

    @property
    def source(self) -> OutputPort | None:
        """The output that feeds this input; None if none does."""
        source = self._port.source
        return None if source is None else OutputPort(self.node.model._of(source.node), source)

    def __repr__(self) -> str:
        return f"<InputPort {self.key} ({self.name}) of {self.node.type} {self.node.name!r}>"


Edge: TypeAlias = tuple[OutputPort, InputPort]
"""A connection: an output and one of the inputs that read it."""


class Node(Guessed):
    """A layer. `model` is the model or the body that has it."""

    __slots__ = ("_bodies", "_node", "model")

    def __init__(self, model: Model, node: inner.Node) -> None:
        self.model: Model = model
        self._node = node
        self._bodies: Mapping[str, Model] | None = None

    @property
    def id(self) -> int:
        """The layer's id in the file."""
        return self._node.id

    @property
    def key(self) -> str:
        """The key of the node in the file: its id after the ids and bodies of the enclosing layers (`2.body/5`)."""
        return self._node.key

    @property
    def name(self) -> str:
        """The layer's name in the file."""
        return self._node.name

    @property
    def type(self) -> str:
        """The layer's type as the file spells it."""
        return self._node.type

    @property
    def version(self) -> str:
        """The layer's opset as the file gives it."""
        return self._node.version

    @property
    def attributes(self) -> Mapping[str, Any]:
        """The attributes as values of their declared types, including defaults; as text if the operation is unknown. They do not change."""
        return Attributes(self._node.attributes)

    @property
    def is_live(self) -> bool:
        """Whether the node reaches a Result or Assign."""
        return self._node.is_live

    @property
    def inputs(self) -> Ports[InputPort]:
        """The inputs in order, each with the name that the operation gives it: `node.inputs["data"]`."""
        return Ports([InputPort(self, port) for port in self._node.inputs], _name_of_input)

    @property
    def outputs(self) -> Ports[OutputPort]:
        """The outputs in order, each with the names of its tensor."""
        return Ports([OutputPort(self, port) for port in self._node.outputs], attrgetter("names"))

    @property
    def producers(self) -> list[Node]:
        """The nodes whose outputs this node reads, in the order of its inputs."""
        return [self.model._of(source.node) for port in self._node.inputs if (source := port.source)]

    @property
    def consumers(self) -> list[Node]:
        """The nodes that read this node's outputs."""
        return [self.model._of(reader.node) for port in self._node.outputs for reader in port.readers]

    def ancestors(self) -> list[Node]:
        """All nodes of the same graph on which this node depends, in topological order."""
        return self._reached(lambda node: node.producers)

    def descendants(self) -> list[Node]:
        """All nodes of the same graph that depend on this node, in topological order."""
        return self._reached(lambda node: node.consumers)

    def _reached(self, following: Callable[[Node], list[Node]]) -> list[Node]:
        found = set(inner.reached(following(self), following))
        return [node for node in self.model if node in found]

    @property
    def bodies(self) -> Mapping[str, Model]:
        """The graphs inside an If, Loop or TensorIterator, by name."""
        if self._bodies is None:
            self._bodies = {name: Model(body, self) for name, body in self._node.bodies.items()}
        return self._bodies

    @property
    def body(self) -> Model | Any:
        """The body of a Loop or TensorIterator; None for any other operation. An If has `bodies`."""
        return self.bodies.get("body")

    @property
    def const(self) -> Const | Any:
        """The content of a Const, whose `data` are a NumPy array; None for any other operation, and for a Const that cannot be read."""
        return self._node.const

    @property
    def rt_info(self) -> RtInfo:
        """The notes in the layer's `<rt_info>`, by name; empty if there is none."""
        return self._node.rt_info

    @property
    def line(self) -> int:
        """The line of the layer in the file, counted from 1."""
        return self._node.line

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and self._node is other._node

    def __hash__(self) -> int:
        return hash(self._node)

    def __reduce__(self) -> tuple[Any, ...]:
        return public, (self._node,)

    def __repr__(self) -> str:
        return repr(self._node)


Facts: TypeAlias = Callable[[inner.OutputPort], tuple[str, str, str]]
"""The element type, the shape in OpenVINO's notation and the shape with formulas, of a port."""


class Exporting(Guessed):
    """What has a graph that other programs may take over."""

    __slots__ = ()

    def _exported(self) -> tuple[inner.Model, Facts, Container[str]]:
        """The graph, a function that gives the facts of a port, and the keys of layers with faults."""
        raise NotImplementedError

    def to_records(self) -> list[dict[str, Any]]:
        """A record for each output port, bodies included, for `pandas.DataFrame`: the layer, and the facts of the port.

        The facts of a model are those that the file records. There the shape is empty for a port without `<dim>`, which is a scalar or has
        an unknown rank. The facts of an inference are the inferred ones.
        """
        model, facts, _ = self._exported()
        return [
            {
                "layer": node.key, "name": node.name, "type": node.type, "version": node.version, "path": node.model.path, "port": port.id,
                "element_type": element_type, "shape": shape, "formula": formula,
            }
            for graph in model.graphs()
            for node in graph
            for port in node.outputs
            for element_type, shape, formula in [facts(port)]
        ]  # fmt: skip

    def to_networkx(self) -> networkx.MultiDiGraph[str]:
        """The graph for NetworkX: a node for each layer, by its key, and an edge for each connection, with the shape of its tensor.

        Nodes have the attributes `name`, `type`, `version` and `path`, edges `from_port`, `to_port`, `element_type`, `shape` and
        `formula`. Bodies are parts of the graph of their own. Needs the package networkx.
        """
        return self._diagram().networkx()

    def to_dot(self, around: str | None = None, hops: int = 2, *, constants: bool = False) -> str:
        """The text of a picture for Graphviz, with the shapes of the tensors; the layers with faults of an inference are red.

        `around` names a layer, as in `Model.node`: then only the layers at most `hops` connections from it are drawn. Layers of type Const
        are left out unless `constants` is true. Raises `KeyError` if there is no layer `around`.
        """
        return self._part(around, hops, constants=constants).dot()

    def to_mermaid(self, around: str | None = None, hops: int = 2, *, constants: bool = False) -> str:
        """The text of a picture for Mermaid. Takes and raises what `to_dot` does."""
        return self._part(around, hops, constants=constants).mermaid()

    def _part(self, around: str | None, hops: int, *, constants: bool) -> Diagram:
        center = None if around is None else published(self._exported()[0]).node(around).key
        return self._diagram().part(center, hops, constants=constants)

    def _diagram(self) -> Diagram:
        """The layers and connections, bodies included, with the facts of each port."""
        from irshape.report.diagram import Arrow, Box, Diagram

        model, facts, faulty = self._exported()
        nodes = [node for graph in model.graphs() for node in graph]
        boxes = [Box(one.key, one.name, one.type, one.version, one.model.path, one.key in faulty) for one in nodes]
        ends = ((source, port) for node in nodes for port in node.inputs if (source := port.source) is not None)
        arrows = (Arrow(source.node.key, source.id, port.node.key, port.id, *facts(source)) for source, port in ends)
        return Diagram(model.name, boxes, arrows)


class Model(Exporting):
    """A model, or the body of a layer.

    Iterating gives the nodes in topological order; `nodes` has them in the order of the file. `model["name"]` and `model.node(id)` find one
    node, `"name" in model` says whether there is one. `name` is the name of the net, or of the body in its layer, and `ir_version` 10 or 11
    (0 for an example of the specification). `holder` is the node that holds a body, None for a model that is not a body. A model does not
    change; it can be pickled.
    """

    __slots__ = ("_graph", "_nodes", "_opaque", "holder", "ir_version", "name")

    def __init__(self, graph: inner.Model, holder: Node | None = None, opaque: frozenset[str] = frozenset()) -> None:
        if not isinstance(graph, inner.Model):
            raise TypeError("irshape.read(PATH) reads a model")
        self._graph = graph
        self._nodes: dict[int, Node] = {}
        self._opaque = opaque
        self.name: str = graph.name
        self.ir_version: int = graph.ir_version
        self.holder: Node | None = holder

    def __contains__(self, item: object) -> bool:
        """Whether the model has a node of this name, or this node."""
        return (item._node if isinstance(item, Node) else item) in self._graph

    def __iter__(self) -> Iterator[Node]:
        return map(self._of, self._graph)

    def __len__(self) -> int:
        return len(self._graph)

    def __getitem__(self, name: str) -> Node:
        """The first node of this name; else the one that `node` finds. Raises `KeyError` if there is none."""
        return self._of(self._graph[name]) if name in self._graph else _meant(self, name, by_name=True)

    def _of(self, node: inner.Node) -> Node:
        found = self._nodes.get(node.index)
        return self._nodes.setdefault(node.index, Node(self, node)) if found is None else found

    @property
    def nodes(self) -> list[Node]:
        """The nodes in the order of the file."""
        return [self._of(node) for node in self._graph.nodes]

    def node(self, id: int | str) -> Node:
        """The node with this layer id, or the one that a text names, in this model or its bodies.

        A text is an id (`"7"`, `"2.body/5"`), a name, the name of a tensor, the variable of a ReadValue, or a name that OpenVINO fused into
        the layer; the first of these that fits counts. Raises `KeyError` if none does.
        """
        return _meant(self, id) if isinstance(id, str) else self._of(self._graph.node(id))

    def of_type(self, *types: str) -> list[Node]:
        """The nodes of some types, spelled as in the file, in the order of the file."""
        return [self._of(node) for node in self._graph.nodes if node.type in types]

    @property
    def parameters(self) -> list[Node]:
        """The nodes of type Parameter, in the order of the file."""
        return self.of_type("Parameter")

    @property
    def results(self) -> list[Node]:
        """The nodes of type Result, in the order of the file."""
        return self.of_type("Result")

    @property
    def inputs(self) -> Ports[OutputPort]:
        """The outputs of the Parameters, in the order of the file, by the names of their layers and tensors."""
        return Ports([node.outputs[0] for node in self.parameters if node._node.outputs], names_of_end)

    @property
    def outputs(self) -> Ports[InputPort]:
        """The inputs of the Results, in the order of the file, by the names of their layers, of their tensors and of what feeds them."""
        return Ports([node.inputs[0] for node in self.results if node._node.inputs], names_of_end)

    @property
    def edges(self) -> list[Edge]:
        """The connections of this graph, without those of bodies: each an output and an input that reads it."""
        ends = ((port.source, port) for node in self for port in node.inputs)
        return [(source, port) for source, port in ends if source is not None]

    def graphs(self) -> Iterator[Model]:
        """The model itself and every body in it, in the order of the file."""

        def bodies(model: Model) -> list[Model]:
            holders = sorted(model._graph.holders, key=lambda node: -node.index)
            return [body for node in holders for body in reversed(tuple(model._of(node).bodies.values()))]

        return inner.reached([self], bodies)

    @property
    def weights(self) -> Weights | None:
        """The weights: those that came with the source, else the `.bin` beside the file; None for a model that has no path."""
        return self._graph.weights

    @property
    def rt_info(self) -> RtInfo:
        """The notes in the `<rt_info>` of the net, by name; empty if there is none."""
        return self._graph.rt_info

    @property
    def extensions(self) -> dict[str, list[Node]]:
        """The nodes of this model and its bodies that OpenVINO needs an extension to run, by the name of the library (`""` if unknown)."""
        return {name: [public(node) for node in nodes] for name, nodes in self._graph.extensions.items()}

    def tree(self) -> _ElementTree:
        """The file as an lxml tree, which knows the path of the file. Raises `ValueError` if the file could not be read completely."""
        document = self._graph.document
        return document.tree(document.text)

    def _exported(self) -> tuple[inner.Model, Facts, Container[str]]:
        return self._graph, _recorded, ()

    def __copy__(self) -> Model:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._graph, self._opaque)

    def _repr_html_(self) -> str:
        from irshape.report.notebook import html
        from irshape.report.section import Column, Table, bold, paragraph

        ends = [("input", node, node.outputs[:1]) for node in self._graph.parameters]
        ends += [("output", node, [source for port in node.inputs if (source := port.source)]) for node in self._graph.results]
        rows = [(kind, node.name, *_recorded(port)[:2]) for kind, node, ports in ends for port in ports]
        table = Table([Column()] * 4, rows, ("", "layer", "element type", "shape"))
        return html([paragraph((bold(self.name), f" {self._about()}"), table)])

    def _about(self) -> str:
        return f"IR v{self.ir_version}, {counted(self._graph.layer_count, 'layer')}"

    def __repr__(self) -> str:
        return f"<Model {self.name!r}: {self._about()}>"


def published(graph: inner.Model) -> Model:
    """The public model of a graph: the one that was made before, if there is one."""
    path = [graph]
    while path[-1].holder is not None:
        path.append(path[-1].holder.model)
    root = path.pop()
    model = root.public
    if model is None:
        model = root.public = Model(root)
    while path:
        body = path.pop()
        assert body.holder is not None
        model = model._of(body.holder).bodies[body.name]
    return model  # type: ignore[no-any-return]


def public(node: inner.Node) -> Node:
    """The public node of a node."""
    return published(node.model)._of(node)


def _meant(model: Model, text: str, *, by_name: bool = False) -> Node:
    """The node that a text names. Raises `KeyError` if there is none."""
    from irshape.model.finding import find, known_names, unknown

    found = find(model._graph, text, by_name=by_name)
    if not found:
        raise KeyError(unknown(text, known_names(model._graph)))
    return public(found[0].layer)


def _restored(graph: inner.Model, opaque: frozenset[str]) -> Model:
    if graph.holder is None and graph.public is None:
        graph.public = Model(graph, opaque=opaque)
    return published(graph)


def _recorded(port: inner.OutputPort) -> tuple[str, str, str]:
    """The element type and the shape that the file records for a port; the shape is empty without `<dim>`."""
    record = port.record
    element_type = ElementType.from_precision(record.precision) if record.precision else None
    shape = "" if record.dims is None else f"[{','.join(['?' if dim < 0 else str(dim) for dim in record.dims])}]"
    return element_type.name if element_type else "dynamic", shape, shape


def _name_of_input(port: InputPort) -> Iterable[str]:
    return (port.name,)


def names_of_end(port: OutputPort | InputPort) -> list[str]:
    """The names of an input or an output of a model: of its layer and its tensor, and for an output of the layer that gives it."""
    source = port.source if isinstance(port, InputPort) else None
    return [port.node.name, *port.names, *([source.node.name] if source is not None else [])]
