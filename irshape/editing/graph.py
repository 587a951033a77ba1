"""A graph that can be edited, as programs see it: its layers and tensors, and the model that it becomes."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import irshape.verbs as inner
from irshape.api.inference import Inference
from irshape.api.reading import Reading, taken
from irshape.editing.arrays import data_of, element_type_of
from irshape.editing.draft import Draft
from irshape.editing.names import joined_names, similar, split_names
from irshape.editing.state import EditError, Item, Step, Value
from irshape.editing.text import ALIGNMENT
from irshape.model.attributes import Attributes
from irshape.model.const import Const
from irshape.model.public import Model, published
from irshape.report.diagnostic import ERROR, Diagnostic, Where
from irshape.report.text import counted
from irshape.shape.element_type import ElementType
from irshape.shape.shape import Shape, format_shape
from irshape.shape.value import Unreadable
from irshape.xml.writer import quoted, write_ir

if TYPE_CHECKING:
    from typing import Self, Unpack

    from numpy.typing import NDArray

    from irshape.answers.diff import Difference
    from irshape.shape.value import Elements
    from irshape.xml.source import Source

_EMPTY = """<?xml version="1.0"?>
<net name="NAME" version="11">
\t<layers>
\t</layers>
\t<edges>
\t</edges>
</net>
"""


class Tensor:
    """A tensor of a graph: output `index` of a `layer`. Its facts are those after all edits so far."""

    __slots__ = ("_value", "layer")

    def __init__(self, layer: Layer, value: Value) -> None:
        self.layer: Layer = layer
        self._value = value

    @property
    def index(self) -> int:
        """The position among the outputs of the layer, from 0."""
        return self._value.index

    @property
    def names(self) -> list[str]:
        """The names of the tensor. Assigning a name or several gives it these instead."""
        return split_names(self._value.names)

    @names.setter
    def names(self, names: str | Iterable[str]) -> None:
        given = [names] if isinstance(names, str) else list(names)
        state = self.layer.graph._draft.state
        for name in given:
            other = self.layer.graph._draft.tensor(name)
            if other is not None and other is not self._value:
                raise EditError(f"{name!r} is already the name of a tensor of {other.item!r}")
        state.note("name", self.layer.name, ", ".join(given))
        state.set_names(self._value, joined_names(given))

    @property
    def readers(self) -> list[tuple[Layer, int]]:
        """The layers that read the tensor, each with the position of its input."""
        graph = self.layer.graph
        return [(_layer(graph, item), index) for item, index in graph._draft.state.readers.get(self._value, ())]

    @property
    def element_type(self) -> ElementType:
        """The element type; `ElementType.dynamic` if it is unknown."""
        return self.layer.graph._draft.facts.of(self._value).element_type

    @property
    def shape(self) -> Shape:
        """The sizes of the axes, each an int or a `Dim`; None if the rank is unknown."""
        return self.layer.graph._draft.facts.of(self._value).shape

    @property
    def elements(self) -> Elements | None:
        """The values in row-major order; None unless some layer reads the values and irshape knows them."""
        elements = self.layer.graph._draft.facts.of(self._value).elements
        return None if type(elements) is Unreadable else elements

    @property
    def text(self) -> str:
        """The shape in OpenVINO's notation: `[1,3,224..,?]`."""
        return format_shape(self.shape)

    def replace_uses(self, by: Tensor | Layer, *, only: Iterable[Layer] | None = None) -> int:
        """Let the readers of this tensor read another one, and return how many inputs that are.

        The layers that the other tensor comes from keep their inputs, so a layer that reads this tensor can take its place. `only` names
        the layers that change. If a Result is among them, the names of this tensor go to the other one, because they are the names of the
        model's output. Raises `EditError` for a tensor of another graph.
        """
        draft = self.layer.graph._draft
        state, own, new = draft.state, self._value, draft.value_of(by)
        chosen = None if only is None else {layer._item for layer in only}
        inner_items = draft.between(own, new)
        moved = [
            (item, index)
            for item, index in state.readers.get(own, ())
            if item not in inner_items and (chosen is None or item in chosen) and own is not new
        ]
        if not moved:
            return 0
        state.note("replace uses", self.layer.name, f"by {new.item.name}")
        with self.layer.graph.attempt():
            for item, index in moved:
                state.connect(item, index, new)
            if own.names and any(item.type == "Result" for item, _ in moved):
                state.set_names(new, joined_names([*split_names(new.names), *self.names]))
                state.set_names(own, None)
        return len(moved)

    def __repr__(self) -> str:
        return f"<Tensor {self.index} of {self.layer!r}>"


class Layer:
    """A layer of a graph that can be edited; `graph` is the graph. Edits of a layer that is removed raise `EditError`."""

    __slots__ = ("_item", "graph")

    def __init__(self, graph: Graph, item: Item) -> None:
        self.graph: Graph = graph
        self._item = item

    @property
    def id(self) -> int:
        """The id, in the file as it was or for a new layer in the file as it will be."""
        return self._item.id

    @property
    def name(self) -> str:
        """The name."""
        return self._item.name

    @property
    def type(self) -> str:
        """The type of the operation."""
        return self._item.type

    @property
    def version(self) -> str:
        """The opset of the operation."""
        return self._item.version

    @property
    def attributes(self) -> Mapping[str, Any]:
        """The attributes as values of their declared types, including defaults; as text if the operation is unknown. `set` changes them."""
        op_class = self._item.op_class
        if op_class is None:
            return Attributes(self._item.attributes)
        op = op_class(self._item.attributes, self.graph._draft.model.document.limits)
        return Attributes({name: getattr(op, name, None) for name in op.attributes})

    @property
    def inputs(self) -> list[Tensor | None]:
        """The tensors that the layer reads, in order; None for an input that no edge leads to."""
        return [None if value is None else _tensor(self.graph, value) for value in self._item.inputs]

    @property
    def outputs(self) -> list[Tensor]:
        """The outputs in order."""
        return [_tensor(self.graph, value) for value in self._item.outputs]

    @property
    def output(self) -> Tensor:
        """The only output. Raises `EditError` if there are none or several."""
        if len(self._item.outputs) != 1:
            raise EditError(f"{self._item!r} has {counted(len(self._item.outputs), 'output')}: name one, outputs[0]")
        return _tensor(self.graph, self._item.outputs[0])

    @property
    def producers(self) -> list[Layer]:
        """The layers whose outputs this layer reads, in the order of its inputs."""
        return [tensor.layer for tensor in self.inputs if tensor is not None]

    @property
    def consumers(self) -> list[Layer]:
        """The layers that read the outputs of this layer."""
        return [_layer(self.graph, item) for item, _ in self.graph._draft.readers_of(self._item)]

    @property
    def faults(self) -> list[Diagnostic]:
        """What the rule of the operation says about the layer now. `Graph.check` says everything, with lines."""
        where = Where(None, str(self.id), self.name, self.type)
        found = self.graph._draft.facts.findings(self._live())
        return [Diagnostic(one.code, one.message, where, hint=one.hint) for one in found]

    @property
    def data(self) -> NDArray[Any]:
        """The elements of a Const as a NumPy array. Assigning an array gives the Const these elements, and their type and shape.

        The elements that the Const had stay in the weights, where other constants may share them. Raises `EditError` for another layer.
        """
        return self._const().data

    @data.setter
    def data(self, array: Any) -> None:
        before = self._const()
        draft = self.graph._draft
        content = data_of(array, None, before.element_type)
        draft.state.note("set data", self.name, f"{content.element_type}{list(content.shape)}")
        offset = draft.state.store(content.bytes, draft.start, ALIGNMENT)
        draft.state.set_attributes(self._item, {**self._item.attributes, **content.attributes(offset)})

    def set(self, **attributes: Any) -> Self:
        """Set attributes, and return the layer. Raises `EditError` for an attribute that the operation does not have.

        Values are numbers, words, booleans, element types and sequences of these: `set(strides=(1, 1))`. `set(**{"exclude-pad": True})`
        names an attribute that Python cannot spell.
        """
        draft = self.graph._draft
        changed = draft.spell(self._live(), attributes)
        draft.state.note("set", self.name, ", ".join(f"{name}={value}" for name, value in attributes.items()))
        draft.state.set_attributes(self._item, changed)
        return self

    def connect(self, input: int, tensor: Tensor | Layer | float | NDArray[Any] | Sequence[Any]) -> Self:
        """Let an input, by its position, read another tensor, and return the layer.

        A number or an array becomes a constant. Raises `EditError` if a layer would depend on itself.
        """
        draft, item = self.graph._draft, self._live()
        if not 0 <= input < len(item.inputs):
            raise EditError(f"{item!r} has {counted(len(item.inputs), 'input')}, and none at position {input}")
        draft.state.note("connect", self.name, f"input {input}")
        with self.graph.attempt():
            value = draft.operand(tensor, item, input)
            draft.state.connect(item, input, value)
        return self

    def rename(self, name: str) -> Self:
        """Give the layer another name, and return the layer. Raises `EditError` if another layer has the name."""
        draft, item = self.graph._draft, self._live()
        other = draft.state.named(name)
        if other is not None and other is not item:
            raise EditError(f"{name!r} is already the name of layer {other.id}")
        draft.state.note("rename", self.name, f"to {name}")
        draft.state.rename(item, name)
        return self

    def bypass(self) -> None:
        """Let the readers of the output read the first input, and remove the layer.

        Raises `EditError` if it has no input or several outputs.
        """
        item = self._live()
        source = next(iter(item.inputs), None)
        if source is None:
            raise EditError(f"{item!r} has no input that its readers could read")
        with self.graph.attempt():
            self.graph._draft.state.note("bypass", self.name)
            self.output.replace_uses(_tensor(self.graph, source))
            self.remove()

    def remove(self, *, cascade: bool = False) -> None:
        """Remove the layer, and the constants that only it reads.

        Raises `EditError` if another layer reads it; with `cascade`, the layers that depend on it are removed, too.
        """
        draft, item = self.graph._draft, self._live()
        with self.graph.attempt():
            draft.state.note("remove", self.name)
            for one in draft.dependents(item) if cascade else [item]:
                if readers := draft.readers_of(one):
                    others = "" if len(readers) == 1 else f" and {counted(len(readers) - 1, 'other input')}"
                    raise EditError(f"{readers[0][0]!r}{others} reads {one!r}: replace its uses first, or remove(cascade=True)")
                if draft.state.is_live(one):  # a constant goes with its last reader
                    draft.remove(one)

    def _live(self) -> Item:
        if not self.graph._draft.state.is_live(self._item):
            raise EditError(f"{self._item!r} is removed")
        return self._item

    def _const(self) -> Const:
        item = self._live()
        if item.op_class is None or item.op_class.TYPE != "Constant":
            raise EditError(f"{item!r} is no Const")
        op: Any = item.op_class(item.attributes, self.graph._draft.model.document.limits)
        if op.is_broken:
            raise EditError(f"{item!r} does not say where its elements are")
        return Const(op.element_type, op.shape, op.offset, op.size, self.graph._draft.weights)

    def __repr__(self) -> str:
        return f"<Layer {self.id} {self.type} {self.name!r}>"


class Graph:
    """A model that can be edited.

    `irshape.edit` makes one of a model, and `irshape.Graph("net")` begins with an empty one. Iterating gives the layers in topological
    order. `graph["name"]` and `graph[7]` find a layer by its name or id, `graph.tensor` finds a tensor. An edit that makes no graph raises
    `EditError` and changes nothing; an edit that makes a bad model is allowed, and `check` says what is wrong. The model that a graph began
    with never changes, and the text of the graph is its text with the edits in it: every other byte stays.
    """

    def __init__(self, name: str = "net") -> None:
        """An empty model of IR version 11."""
        empty = _EMPTY.replace("NAME", quoted(name)[1:-1])
        model, weights, opaque = taken(empty.encode(), {})
        self._draft = Draft(model._graph, weights, opaque)

    # Finding.

    def __getitem__(self, key: str | int) -> Layer:
        """The layer of an id, or the first layer of a name. Raises `KeyError` if there is none."""
        state = self._draft.state
        item = state.items.get(key) if isinstance(key, int) else state.named(key)
        if item is None:
            raise KeyError(f"no layer {key!r}{similar(str(key), state.by_name)}")
        return _layer(self, item)

    def __contains__(self, item: object) -> bool:
        """Whether the graph has a layer of this name, or this layer."""
        state = self._draft.state
        return state.is_live(item._item) if isinstance(item, Layer) else isinstance(item, str) and state.named(item) is not None

    def __iter__(self) -> Iterator[Layer]:
        return iter([_layer(self, item) for item in sorted(self._draft.state.items.values(), key=lambda item: item.label)])

    def __len__(self) -> int:
        return len(self._draft.state.items)

    def tensor(self, name: str) -> Tensor:
        """The tensor of this name, or the only output of the layer of this name. Raises `KeyError` if there is none."""
        value = self._draft.tensor(name)
        if value is not None:
            return _tensor(self, value)
        state = self._draft.state
        item = state.named(name)
        if item is None:
            raise KeyError(f"no tensor {name!r}{similar(name, state.by_name)}")
        return _layer(self, item).output

    @property
    def inputs(self) -> list[Tensor]:
        """The outputs of the Parameters, in the order of the file."""
        return [_tensor(self, value) for item in self._draft.of_type("Parameter") for value in item.outputs]

    @property
    def outputs(self) -> list[Tensor]:
        """The tensors that the Results read, in the order of the file."""
        return [_tensor(self, value) for item in self._draft.of_type("Result") for value in item.inputs if value is not None]

    # Editing.

    def add(
        self,
        type: str,
        *inputs: Tensor | Layer | float | NDArray[Any] | Sequence[Any],
        name: str | None = None,
        version: str | None = None,
        after: Layer | None = None,
        outputs: Iterable[tuple[ElementType | str, Iterable[int] | None]] | None = None,
        **attributes: Any,
    ) -> Layer:
        """Add a layer of a type, and return it.

        `inputs` are tensors, layers of one output, and numbers or arrays, which become constants. `version` is by default that of the last
        layer of this type in the model, else the oldest opset with the operation as it is now. The layer stands in the file behind the last
        layer that it reads, or behind `after`. A name that another layer has gets a number. `outputs` gives the element types and shapes of
        the outputs of an operation that irshape does not know. Raises `EditError` for an unknown operation or attribute, and for a tensor
        of another graph.
        """
        draft = self._draft
        place = None if after is None else draft.state.place_behind([after._live()])
        listed = None if outputs is None else [(one, None if shape is None else tuple(shape)) for one, shape in outputs]
        with self.attempt():
            item = draft.add(type, inputs, attributes, name=name, version=version, place=place, outputs=listed)
        return _layer(self, item)

    def constant(self, array: Any, *, name: str = "constant", element_type: ElementType | str | None = None) -> Tensor:
        """Add a Const with the elements of an array or of numbers, and return its output.

        The bytes come behind the weights, equal ones once. `element_type` is needed for types that NumPy does not have.
        """
        content = data_of(array, element_type)
        self._draft.state.note("add", name, "Const")
        return _tensor(self, self._draft.constant(content, name))

    def parameter(
        self,
        name: str,
        shape: str | Iterable[int],
        element_type: ElementType | str = "f32",
        *,
        names: str | Iterable[str] | None = None,
        before: Layer | None = None,
    ) -> Tensor:
        """Add an input of the model, the last one or the one before another Parameter, and return its output.

        `shape` is written as in OpenVINO, `"[1,3,224..448,?]"`. The tensor has the name of the input, or `names`.
        """
        draft = self._draft
        text = shape.strip("[]") if isinstance(shape, str) else ",".join(map(str, shape))
        attributes = {"shape": text, "element_type": element_type_of(element_type)}
        place = draft.state.place_behind(draft.of_type("Parameter")) if before is None else draft.state.place_before(before._live())
        with self.attempt():
            item = draft.add("Parameter", (), attributes, name=name, version="opset1", place=place, outputs=None)
            tensor = _tensor(self, item.outputs[0])
            tensor.names = item.name if names is None else names
        return tensor

    def result(
        self,
        source: Tensor | Layer,
        *,
        name: str | None = None,
        names: str | Iterable[str] | None = None,
        before: Layer | None = None,
    ) -> Layer:
        """Add an output of the model, the last one or the one before another Result, and return its Result.

        `names` are further names of the tensor.
        """
        draft = self._draft
        value = draft.value_of(source)
        own = name or f"{value.item.name}/result"
        last = draft.state.place_behind([*draft.of_type("Result"), value.item])
        place = last if before is None else draft.state.place_before(before._live())
        with self.attempt():
            item = draft.add("Result", (source,), {}, name=own, version="opset1", place=place, outputs=None)
            if names is not None:
                tensor = _tensor(self, value)
                tensor.names = [*tensor.names, *([names] if isinstance(names, str) else names)]
        return _layer(self, item)

    def prune(self) -> list[str]:
        """Remove the layers that reach no Result and no Assign, except inputs of the model, and return their names."""
        dead = self._draft.dead()
        for item in dead:
            self._draft.state.note("remove", item.name)
            self._draft.state.leave(item)
        return [item.name for item in dead]

    # Taking back.

    @property
    def steps(self) -> list[Step]:
        """The edits so far, each with its verb, the name of the layer and the rest in words."""
        return [step for _, step in self._draft.state.steps]

    def mark(self) -> int:
        """A mark of the edits so far, for `undo`."""
        return len(self._draft.state.journal)

    def undo(self, mark: int = 0) -> None:
        """Take back all edits since a mark; without one, all edits."""
        self._draft.state.undo(max(mark, 0))

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Make the edits of a `with` block all or not at all: an exception takes back every one of them."""
        mark = self.mark()
        try:
            yield
        except BaseException:
            self.undo(mark)
            raise

    # The model that it becomes.

    def model(self) -> Model:
        """The edited model, read from its text."""
        return published(self._draft.built()[0])

    def xml(self) -> bytes:
        """The text of the edited model. Ports whose facts have changed are written anew; every other byte is unchanged."""
        return self._draft.text()[0]

    def check(self) -> Inference:
        """Check the text of the edited model. The faults that the model did not have before come first; places are places in this text."""
        return _checked(self._draft)[0]

    def diff(self) -> Difference:
        """What the edits change: the layers, and with them the shapes of other layers. `irshape.diff` of the models before and after."""
        return inner.diff(self._draft.model, self._draft.built()[0])

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        force: bool = False,
        in_place: bool = False,
        weights: Literal["copy", "link", "none"] = "copy",
        trim: bool = False,
    ) -> None:
        """Write the edited model, each file completely or not at all, and its weights beside it.

        New constants come behind the bytes of the weights, which stay as they are. Takes and raises what `Inference.write` does; errors
        that the model had before the edits do not count. With `trim`, the weights hold only the bytes that the constants need, those of
        bodies included; that needs another path, because trimmed weights fit the new file alone.
        """
        if trim and in_place:
            raise ValueError("trimmed weights fit the new file alone: write another path")
        _, new = _checked(self._draft)
        errors = [one for one in new if one.severity == ERROR]
        if errors and not force:
            raise ValueError(f"the edits make {counted(len(errors), 'error')}, the first is: {errors[0]}; force=True writes it")
        draft = self._draft
        if draft.state.appended and draft.start and not draft.weights.has_original and weights != "none":
            raise OSError(errno.ENOENT, "the weights are missing, and new constants come behind them", draft.weights.path)
        text, own = draft.text(trims=trim)
        write_ir(
            path,
            text,
            source=draft.model.document.path,
            weights=own,
            how=weights,
            force=force,
            in_place=in_place,
        )

    def __repr__(self) -> str:
        return f"<Graph {self._draft.model.name!r}: {counted(len(self), 'layer')}, {counted(len(self.steps), 'edit')}>"


def edit(source: Source | Model, **reading: Unpack[Reading]) -> Graph:
    """Make a graph of a model that can be edited. The model itself never changes.

    Takes what `irshape.read` takes, or a model. Raises the errors of `irshape.read`, and `EditError` for a file that is no whole IR.
    """
    model, weights, opaque = taken(source, reading)
    graph = Graph.__new__(Graph)
    graph._draft = Draft(model._graph, weights, opaque)
    return graph


def _layer(graph: Graph, item: Item) -> Layer:
    """The public layer of an item."""
    if item.view is None:
        item.view = Layer(graph, item)
    view: Layer = item.view
    return view


def _tensor(graph: Graph, value: Value) -> Tensor:
    """The public tensor of a value."""
    if value.view is None:
        value.view = Tensor(_layer(graph, value.item), value)
    view: Tensor = value.view
    return view


def _checked(draft: Draft) -> tuple[Inference, list[Diagnostic]]:
    """The check of the edited model, and the faults that are new."""
    before = inner.check(draft.model, weights=draft.original, opaque=draft.opaque).diagnostics
    model, weights = draft.built()
    found = inner.check(model, weights=weights, opaque=draft.opaque)
    known = {_told(one) for one in before}
    found.diagnostics.sort(key=lambda one: _told(one) in known)
    return Inference(found, published(model)), [one for one in found.diagnostics if _told(one) not in known]


def _told(fault: Diagnostic) -> tuple[object, ...]:
    """What makes a fault the same in two texts of a model."""
    where = fault.where
    return fault.code, fault.message, where.path, where.layer_id, where.port
