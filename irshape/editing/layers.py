"""The layers and tensors of a graph that can be edited, as programs see them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from irshape.editing.arrays import data_of
from irshape.editing.draft import Draft
from irshape.editing.names import joined_names
from irshape.editing.state import EditError, Item, Value
from irshape.editing.text import ALIGNMENT
from irshape.model.attributes import Attributes
from irshape.model.const import Const
from irshape.model.finding import split_names
from irshape.report.diagnostic import Diagnostic, Where
from irshape.report.text import counted
from irshape.shape.element_type import ElementType
from irshape.shape.shape import Shape, format_shape
from irshape.shape.value import Unreadable

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from irshape.shape.value import Elements


class Tensor:
    """A tensor of a graph: output `index` of a `layer`. Its facts are those after all edits so far."""

    __slots__ = ("_draft", "_value", "layer")

    def __init__(self, layer: Layer, value: Value) -> None:
        self.layer: Layer = layer
        self._draft = layer._draft
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
        state = self._draft.state
        for name in given:
            other = self._draft.tensor(name)
            if other is not None and other is not self._value:
                raise EditError(f"{name!r} is already the name of a tensor of {other.item!r}")
        state.note("name", self.layer.name, ", ".join(given))
        state.set_names(self._value, joined_names(given))

    @property
    def readers(self) -> list[tuple[Layer, int]]:
        """The layers that read the tensor, each with the position of its input."""
        return [(layer_of(self._draft, item), index) for item, index in self._draft.state.readers.get(self._value, ())]

    @property
    def element_type(self) -> ElementType:
        """The element type; `ElementType.dynamic` if it is unknown."""
        return self._draft.facts.of(self._value).element_type

    @property
    def shape(self) -> Shape:
        """The sizes of the axes, each an int or a `Dim`; None if the rank is unknown."""
        return self._draft.facts.of(self._value).shape

    @property
    def elements(self) -> Elements | None:
        """The values in row-major order; None unless some layer reads the values and irshape knows them."""
        elements = self._draft.facts.of(self._value).elements
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
        draft = self._draft
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
        with state.attempt():
            for item, index in moved:
                state.connect(item, index, new)
            if own.names and any(item.type == "Result" for item, _ in moved):
                state.set_names(new, joined_names([*split_names(new.names), *self.names]))
                state.set_names(own, None)
        return len(moved)

    def __repr__(self) -> str:
        return f"<Tensor {self.index} of {self.layer!r}>"


class Layer:
    """A layer of a graph that can be edited. Edits of a layer that is removed raise `EditError`."""

    __slots__ = ("_draft", "_item")

    def __init__(self, draft: Draft, item: Item) -> None:
        self._draft = draft
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
        op = op_class(self._item.attributes, self._draft.model.document.limits)
        return Attributes({name: getattr(op, name, None) for name in op.attributes})

    @property
    def inputs(self) -> list[Tensor | None]:
        """The tensors that the layer reads, in order; None for an input that no edge leads to."""
        return [None if value is None else tensor_of(self._draft, value) for value in self._item.inputs]

    @property
    def outputs(self) -> list[Tensor]:
        """The outputs in order."""
        return [tensor_of(self._draft, value) for value in self._item.outputs]

    @property
    def output(self) -> Tensor:
        """The only output. Raises `EditError` if there are none or several."""
        if len(self._item.outputs) != 1:
            raise EditError(f"{self._item!r} has {counted(len(self._item.outputs), 'output')}: name one, outputs[0]")
        return tensor_of(self._draft, self._item.outputs[0])

    @property
    def producers(self) -> list[Layer]:
        """The layers whose outputs this layer reads, in the order of its inputs."""
        return [tensor.layer for tensor in self.inputs if tensor is not None]

    @property
    def consumers(self) -> list[Layer]:
        """The layers that read the outputs of this layer."""
        return [layer_of(self._draft, item) for item, _ in self._draft.readers_of(self._item)]

    @property
    def faults(self) -> list[Diagnostic]:
        """What the rule of the operation says about the layer now. `Graph.check` says everything, with lines."""
        where = Where(None, str(self.id), self.name, self.type)
        found = self._draft.facts.findings(self._live())
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
        draft = self._draft
        content = data_of(array, None, before.element_type)
        draft.state.note("set data", self.name, f"{content.element_type}{list(content.shape)}")
        offset = draft.state.store(content.bytes, draft.start, ALIGNMENT)
        draft.state.set_attributes(self._item, {**self._item.attributes, **content.attributes(offset)})

    def set(self, **attributes: Any) -> Self:
        """Set attributes, and return the layer. Raises `EditError` for an attribute that the operation does not have.

        Values are numbers, words, booleans, element types and sequences of these: `set(strides=(1, 1))`. `set(**{"exclude-pad": True})`
        names an attribute that Python cannot spell.
        """
        draft = self._draft
        changed = draft.spell(self._live(), attributes)
        draft.state.note("set", self.name, ", ".join(f"{name}={value}" for name, value in attributes.items()))
        draft.state.set_attributes(self._item, changed)
        return self

    def connect(self, input: int, tensor: Tensor | Layer | float | NDArray[Any] | Sequence[Any]) -> Self:
        """Let an input, by its position, read another tensor, and return the layer.

        A number or an array becomes a constant. Raises `EditError` if a layer would depend on itself.
        """
        draft, item = self._draft, self._live()
        if not 0 <= input < len(item.inputs):
            raise EditError(f"{item!r} has {counted(len(item.inputs), 'input')}, and none at position {input}")
        draft.state.note("connect", self.name, f"input {input}")
        with self._draft.state.attempt():
            value = draft.operand(tensor, item, input)
            draft.state.connect(item, input, value)
        return self

    def rename(self, name: str) -> Self:
        """Give the layer another name, and return the layer. Raises `EditError` if another layer has the name."""
        draft, item = self._draft, self._live()
        other = draft.state.named(name)
        if other is not None and other is not item:
            raise EditError(f"{name!r} is already the name of layer {other.id}")
        draft.state.note("rename", self.name, f"to {name}")
        draft.state.rename(item, name)
        return self

    def move(self, before: Layer) -> Self:
        """Let the layer stand just before another one in the file, and return the layer.

        OpenVINO takes the order of inputs and outputs from the order of Parameters and Results in the file.
        """
        draft, item, other = self._draft, self._live(), before._live()
        if before._draft is not draft:
            raise EditError(f"{before!r} belongs to another graph")
        if other is not item:
            draft.state.note("move", self.name, f"before {before.name}")
            draft.state.move(item, draft.state.place_before(other))
        return self

    def bypass(self) -> None:
        """Let the readers of the output read the first input, and remove the layer.

        Raises `EditError` if it has no input or several outputs.
        """
        item = self._live()
        source = next(iter(item.inputs), None)
        if source is None:
            raise EditError(f"{item!r} has no input that its readers could read")
        with self._draft.state.attempt():
            self._draft.state.note("bypass", self.name)
            self.output.replace_uses(tensor_of(self._draft, source))
            self.remove()

    def remove(self, *, cascade: bool = False) -> None:
        """Remove the layer, and the constants that only it reads.

        Raises `EditError` if another layer reads it; with `cascade`, the layers that depend on it are removed, too.
        """
        draft, item = self._draft, self._live()
        with self._draft.state.attempt():
            draft.state.note("remove", self.name)
            for one in draft.dependents(item) if cascade else [item]:
                if readers := draft.readers_of(one):
                    others = "" if len(readers) == 1 else f" and {counted(len(readers) - 1, 'other input')}"
                    raise EditError(f"{readers[0][0]!r}{others} reads {one!r}: replace its uses first, or remove(cascade=True)")
                if draft.state.is_live(one):  # a constant goes with its last reader
                    draft.remove(one)

    def _live(self) -> Item:
        if not self._draft.state.is_live(self._item):
            raise EditError(f"{self._item!r} is removed")
        return self._item

    def _const(self) -> Const:
        item = self._live()
        if item.op_class is None or item.op_class.TYPE != "Constant":
            raise EditError(f"{item!r} is no Const")
        op: Any = item.op_class(item.attributes, self._draft.model.document.limits)
        if op.is_broken:
            raise EditError(f"{item!r} does not say where its elements are")
        return Const(op.element_type, op.shape, op.offset, op.size, self._draft.weights)

    def __repr__(self) -> str:
        return f"<Layer {self.id} {self.type} {self.name!r}>"


def layer_of(draft: Draft, item: Item) -> Layer:
    """The public layer of an item."""
    if item.view is None:
        item.view = Layer(draft, item)
    view: Layer = item.view
    return view


def tensor_of(draft: Draft, value: Value) -> Tensor:
    """The public tensor of a value."""
    if value.view is None:
        value.view = Tensor(layer_of(draft, value.item), value)
    view: Tensor = value.view
    return view
