"""The facts of a model as programs see them."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator
from math import prod
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias, TypeVar, overload

from irshape.inference import inference as inner
from irshape.inference.run import Guard
from irshape.model import model as graphs
from irshape.model.public import Exporting, Facts, InputPort, Model, Node, OutputPort, Ports, names_of_end, public, published
from irshape.report.diagnostic import ERROR, Diagnostic
from irshape.report.surface import Guessed
from irshape.report.text import counted
from irshape.shape.dim import Dim, Size, narrow
from irshape.shape.shape import Shape

SymbolsAs: TypeAlias = Literal["names", "raw"]
"""How formulas write sizes without a name: in the symbols of the signature, or each as a symbol of its own (`d0`, `d1`, ...)."""

if TYPE_CHECKING:
    from lxml.etree import _ElementTree

    from irshape.answers.explain.explanation import Explanation
    from irshape.xml.openvino_model import OpenVINOModel

    AnyModel = TypeVar("AnyModel", bound=OpenVINOModel)


class InferredPort(inner.InferredPort, Guessed):
    """The inferred element type, shape and values of one port.

    `port` is the `InputPort` or `OutputPort` of the model, and `inference[port]` gives the inferred port again. `name` is that of `port`.
    """

    __slots__ = ("_owner", "port")

    def __init__(self, owner: Inference, port: InputPort | OutputPort, facts: inner.InferredPort) -> None:
        self.port: InputPort | OutputPort = port
        self._owner = owner
        super().__init__(facts._inference, facts._fact, facts.id, facts._reading)

    @property
    def name(self) -> str:
        """The name of the port: of an input or output of the model, or of one that the operation names."""
        return self.port.name

    @property
    def shape(self) -> Shape:
        """The sizes of the axes, each an int or a `Dim` in the symbols of the signature; None if the rank is unknown."""
        if self.is_static:
            return super().shape
        named = self._owner._named
        facts = _facts_of(named, self.port)
        shape = facts._inference.reading.simplest(facts._reading.shape)
        return shape and tuple([narrow(size, *named.reading.bounds(size)) if isinstance(size, Dim) else size for size in shape])

    @property
    def rank(self) -> int | None:
        """The number of axes; None if it is unknown."""
        shape = super().shape
        return None if shape is None else len(shape)

    @property
    def size(self) -> Size | None:
        """The number of elements, as in NumPy; a `Dim` where the size of an axis is open, None if the rank is unknown."""
        shape = self.shape
        return None if shape is None else prod(shape)

    @property
    def is_static(self) -> bool:
        """Whether every size is a number."""
        shape = super().shape
        return shape is not None and all(isinstance(size, int) for size in shape)

    @property
    def formula(self) -> str:
        """The shape as formulas of the symbols, those of the signature for sizes without names: `[N,64,(H + 1)//2,W]`."""
        if self.is_static:
            return super().formula
        return _facts_of(self._owner._named, self.port).formula


class InferredLayer(Guessed):
    """A layer with the inferred facts of its ports: the `node`, its `inputs` that are fed, and its `outputs`."""

    __slots__ = ("inputs", "node", "outputs")

    def __init__(self, node: Node, inputs: Ports[InferredPort], outputs: Ports[InferredPort]) -> None:
        self.node: Node = node
        self.inputs: Ports[InferredPort] = inputs
        self.outputs: Ports[InferredPort] = outputs

    if not TYPE_CHECKING:  # which knows the names

        def __getattr__(self, name: str) -> NoReturn:
            holder = "node" if hasattr(Node, name) else None
            if holder is None and hasattr(InferredPort, name):
                holder = "outputs[0]" if self.outputs else "inputs[0]"
            if holder:
                raise AttributeError(f"'InferredLayer' has no attribute {name!r}; it is there: {holder}.{name}", name=name, obj=self)
            super().__getattr__(name)

    @property
    def name(self) -> str:
        """The layer's name in the file."""
        return self.node.name

    @property
    def type(self) -> str:
        """The layer's type in the file."""
        return self.node.type

    @property
    def output(self) -> InferredPort:
        """The only output. Raises ValueError if there are none or several."""
        if len(self.outputs) != 1:
            raise ValueError(f"{self!r} has {counted(len(self.outputs), 'output')}: choose one, as in layer.outputs[0]")
        return self.outputs[0]

    def _content(self) -> tuple[object, ...]:
        return self.node.key, self.node.type, self.node.name, *self.inputs, None, *self.outputs

    def __eq__(self, other: object) -> bool:
        """Whether both are the same layer with equal ports, also in different inferences."""
        return isinstance(other, InferredLayer) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())

    def __repr__(self) -> str:
        return f"<{self.type} {self.name!r} -> {', '.join(map(repr, self.outputs))}>"


class Judged:
    """What has faults."""

    __slots__ = ()
    _inference: inner.Inference

    @property
    def ok(self) -> bool:
        """Whether OpenVINO can be expected to read the model: no diagnostic is an error."""
        return self._inference.ok

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The faults of the file and the notes about it, in the order of the file."""
        return self._inference.diagnostics

    @property
    def errors(self) -> list[Diagnostic]:
        """The diagnostics that are errors: for them, OpenVINO refuses the model."""
        return [one for one in self.diagnostics if one.severity == ERROR]

    def __bool__(self) -> bool:
        """`ok`, so that `if irshape.check(path):` asks whether the model has no errors."""
        return self.ok


class Inference(Judged, Exporting):
    """The facts of a model after a pass.

    Iterating gives the layers in topological order, those of the model itself without those of bodies. `inference["name"]`,
    `inference[node]` and `inference.layer(id)` find one layer, `inference[port]` a port, and `"name" in inference` says whether there is a
    layer of that name. `model` is the model; after a reshape that has rewritten it, the rewritten one. An inference does not
    change; it can be pickled and sent to another process.
    """

    __slots__ = ("_inference", "_spoken", "model")

    def __init__(self, inference: inner.Inference, model: Model | None = None, symbols_as: SymbolsAs = "names") -> None:
        if symbols_as not in ("names", "raw"):
            raise ValueError(f"symbols_as must be 'names' or 'raw', not {symbols_as!r}")
        self._inference = inference
        self._spoken: inner.Inference | None = inference if symbols_as == "raw" else None
        self.model: Model = published(inference.model) if model is None or model._graph is not inference.model else model

    @property
    def guards(self) -> list[Guard]:
        """The conditions on the sizes of the inputs, simplified, in the symbols of the signature.

        After them come conditions on sizes that depend on data, then premises, then conditions of bodies that may not run. The signature
        solves equations: they are in the formulas of the inputs and in `irshape.signature(...).because`, not among the guards.
        """
        return self._named.guards

    @property
    def inputs(self) -> Ports[InferredPort]:
        """The inputs of the model, in its order, by the names of their layers and tensors."""
        return Ports([_port(self, port) for port in self.model.inputs], _names_of_end)

    @property
    def outputs(self) -> Ports[InferredPort]:
        """The outputs of the model, in its order, by the names of their layers and tensors."""
        ports = [port for port in self.model.outputs if port.source is not None]
        return Ports([_port(self, port) for port in ports], _names_of_end)

    @property
    def ports(self) -> dict[str, tuple[str, str]]:
        """Element type and shape of every output port, in OpenVINO's notation, by the key of the port (`2.body/5:1`).

        OpenVINO converts the inputs and outputs of an IR of version 10. Their ports have the types that OpenVINO shows.
        """
        return self._inference.ports

    @property
    def formulas(self) -> dict[str, str]:
        """The shapes of output ports as formulas, by the key of the port, for shapes with a size that is not a plain number."""
        return self._named.formulas

    @property
    def _named(self) -> inner.Inference:
        """The inference that speaks the symbols of the signature; it is found when somebody asks for formulas."""
        if self._spoken is None:
            from irshape.answers.signature.naming import named

            self._spoken = named(self._inference)
        return self._spoken

    def layer(self, id: int | str) -> InferredLayer:
        """The layer with this id, in a body with the ids around it, as in `ports` (`2.then_body/5`); else the one that `Model.node` finds.

        Raises `KeyError` if there is none.
        """
        return self[self.model.node(id)]

    def __contains__(self, item: object) -> bool:
        """Whether the model has a layer of this name, or this node or layer."""
        return (item.node if isinstance(item, InferredLayer) else item) in self.model

    def __iter__(self) -> Iterator[InferredLayer]:
        return (_layer(self, view) for view in self._inference)

    def __len__(self) -> int:
        return len(self.model)

    @overload
    def __getitem__(self, item: str | Node) -> InferredLayer: ...
    @overload
    def __getitem__(self, item: InputPort | OutputPort) -> InferredPort: ...
    def __getitem__(self, item: str | Node | InputPort | OutputPort) -> InferredLayer | InferredPort:
        """The layer of a name, as `Model` finds it, the layer of a node, or the facts of a port. Raises `KeyError` if there is none."""
        if isinstance(item, str):
            item = self.model[item]
        node = item if isinstance(item, Node) else item.node
        if all(graph is not node.model._graph for graph, _ in self._inference.graphs):
            raise KeyError(f"{item!r} is of another model")
        return _layer(self, self._inference.view(node._node)) if isinstance(item, Node) else _port(self, item)

    def explain(self, layer: str | int, port: int | None = None, axis: int | None = None) -> Explanation:
        """Why a port, or one axis of it, has its shape: `irshape.explain` for this inference.

        `layer` may also be the text that the command takes: `LAYER:PORT:AXIS`.
        """
        from irshape.answers.explain.explainer import explain, parse_target

        if isinstance(layer, str) and port is None and axis is None:
            layer, port, axis = parse_target(self._named.model, layer)
        return explain(self._named.reading, layer, port, axis)

    def xml(self) -> bytes:
        """The file with the inferred facts in its ports; every other byte is unchanged.

        A `<dim>` holds a number or -1. Intervals and formulas of named symbols go into the port's `<rt_info>`, which OpenVINO ignores.
        Parameters get the shapes that were given for them. A file that could not be read to its end is returned unchanged.
        """
        return self._named.xml()

    def __bytes__(self) -> bytes:
        """The same as `xml()`, as `bytes(graph)` has the text of a graph."""
        return self.xml()

    def tree(self) -> _ElementTree:
        """The annotated file as an lxml tree, which knows its path. Raises `ValueError` if the file could not be read completely."""
        from irshape.inference.export import tree

        return tree(self._named)

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        force: bool = False,
        faulty: bool = False,
        in_place: bool = False,
        weights: Literal["copy", "link", "none"] = "copy",
    ) -> None:
        """Write the annotated file, completely or not at all, and its weights beside it.

        An existing file is replaced only with `force`, and the input itself only with `in_place`; otherwise raises `FileExistsError`. A
        model with errors is written only if `faulty` is true; otherwise raises `ValueError`. `weights` says how the `.bin` gets its place:
        `"copy"`, which shares the blocks of the original where the file system can copy on write; `"link"`, a hard link, so that a program
        that writes one of the two in place changes both; `"none"`, not at all. A file that is written in place keeps its weights. A model
        that was rewritten needs a copy. Raises `OSError` if a file cannot be written, `ValueError` for another word.
        """
        _refuse_errors(self, faulty=faulty)
        self._named.write(path, force=force, in_place=in_place, weights=weights)

    def apply_to(self, model: AnyModel, *, faulty: bool = False) -> AnyModel:
        """Give an `openvino.Model` the shapes that the inputs have here, and return it.

        Inputs are matched by name. Axes with the same symbol get the same `openvino.Symbol`. The names of the symbols go into the
        model's `rt_info`, which OpenVINO saves, and irshape finds them there when it reads the model again. Raises `ValueError` for a model
        with errors unless `faulty` is true, and `InputError` if the model has other inputs than this one, if constants of this one were
        patched, or if OpenVINO refuses the shapes.
        """
        _refuse_errors(self, faulty=faulty)
        from irshape.inference.export import apply_to

        return apply_to(self._inference, model)

    def to_dict(self, *, named: bool = False) -> dict[str, Any]:
        """The form of `schemas/report.schema.json`.

        `symbolic` and `guards` leave each open size a symbol of its own. With `named`, the key of this name has both in the symbols of the
        signature, too.
        """
        return (self._named if named else self._inference).to_dict()

    def _exported(self) -> tuple[graphs.Model, Facts, Container[str]]:
        from irshape.inference.export import faulty, port_facts

        return self._inference.model, port_facts(self._named), faulty(self._inference)

    def _repr_html_(self) -> str:
        from irshape.inference.export import html

        return html(self._named)

    def __repr__(self) -> str:
        return repr(self._inference)


def _layer(inference: Inference, view: inner.InferredLayer) -> InferredLayer:
    """The public form of a layer."""
    node = public(view.node) if view.node.model is not inference.model._graph else inference.model._of(view.node)
    fed = [port for port, slot in zip(node.inputs, view.node.sources, strict=True) if slot >= 0]
    inputs = [InferredPort(inference, port, facts) for port, facts in zip(fed, view.inputs, strict=True)]
    outputs = [InferredPort(inference, port, facts) for port, facts in zip(node.outputs, view.outputs, strict=True)]
    return InferredLayer(node, Ports(inputs, _names_of_port), Ports(outputs, _names_of_port))


def _port(inference: Inference, port: InputPort | OutputPort) -> InferredPort:
    """The facts of a port. Raises `KeyError` if no edge leads to it."""
    return InferredPort(inference, port, _facts_of(inference._inference, port))


def _facts_of(inference: inner.Inference, port: InputPort | OutputPort) -> inner.InferredPort:
    view = inference.view(port.node._node)
    if isinstance(port, OutputPort):
        return view.outputs[port.index]
    sources = port.node._node.sources
    if sources[port.index] < 0:
        raise KeyError(f"no edge leads to {port!r}")
    return view.inputs[sum(slot >= 0 for slot in sources[: port.index])]


def _names_of_port(port: InferredPort) -> list[str]:
    return [port.name, *port.port.names]


def _names_of_end(port: InferredPort) -> list[str]:
    return [port.name, *names_of_end(port.port)]


def _refuse_errors(inference: Inference, *, faulty: bool) -> None:
    """Raise `ValueError` for a model with errors unless `faulty` is true."""
    if (errors := inference.errors) and not faulty:
        raise ValueError(f"the model has {counted(len(errors), 'error')}, the first is: {errors[0]}; faulty=True writes it all the same")
