"""The layers and tensors of a graph that can be edited, as programs see them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Self

from irshape.editing.arrays import data_of
from irshape.editing.bodies import add_input, add_output, feed_back, leave, other_body
from irshape.editing.draft import BodyDraft, GraphDraft, found, layer_count, meant, meant_output, unknown_layer
from irshape.editing.operations import Operations
from irshape.editing.state import EditError, Item, Value, joined_names
from irshape.model.model import reached, split_names
from irshape.model.public import Attributes, Ports
from irshape.report.diagnostic import Diagnostic, Where
from irshape.report.surface import Guessed
from irshape.report.text import counted
from irshape.shape.dim import Size
from irshape.shape.element_type import ElementType
from irshape.shape.shape import Shape, format_shape
from irshape.shape.value import Elements, Unreadable

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Tensor(Guessed):
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
        """The names of the tensor. Assign one name or several to replace them."""
        return split_names(self._value.names)

    @names.setter
    def names(self, names: str | Iterable[str]) -> None:
        given = [names] if isinstance(names, str) else list(names)
        state = self._draft.state
        for name in given:
            other = self._draft.tensor(name)
            if other is not None and other is not self._value:
                raise EditError(f"{name!r} is already the name of a tensor of {other.item!r}")
        with state.edit("name", self.layer.name, ", ".join(given)):
            state.set_names(self._value, joined_names(given))

    @property
    def readers(self) -> list[tuple[Layer, int]]:
        """The layers that read the tensor, each with the position of its input."""
        return [(layer_of(self._draft, item), index) for item, index in self._draft.state.reads_of(self._value)]

    @property
    def element_type(self) -> ElementType:
        """The element type; `ElementType.dynamic` if it is unknown."""
        return self._draft.facts.of(self._value).element_type

    @property
    def shape(self) -> Shape:
        """The sizes of the axes, each an int or a `Dim`; None if the rank is unknown."""
        return self._draft.facts.of(self._value).shape

    @property
    def rank(self) -> int | None:
        """The number of axes; None if it is unknown."""
        return None if self.shape is None else len(self.shape)

    @property
    def size(self) -> Size | None:
        """The number of elements, as in NumPy; a `Dim` where the size of an axis is open, None if the rank is unknown."""
        return None if self.shape is None else prod(self.shape)

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
        """Connect the readers of this tensor to another one, and return the number of inputs that changed.

        The layers that compute the other tensor keep their inputs, so the other tensor may depend on this one. With `only`, no other
        layers change. If a Result is among them, the names of this tensor go to the other one, because they are the names of the
        model's output. Raises `EditError` for a tensor of another graph.
        """
        chosen = None if only is None else {layer._item for layer in only}
        return self._draft.replace_uses(self._value, self._draft.value_of(by), chosen)

    def __repr__(self) -> str:
        return f"<Tensor {self.index} of {self.layer!r}>"


class Layer(Guessed):
    """A layer of a graph that can be edited. Editing a layer that was removed raises `EditError`."""

    __slots__ = ("_draft", "_item")

    def __init__(self, draft: GraphDraft, item: Item) -> None:
        self._draft = draft
        self._item = item

    @property
    def id(self) -> int:
        """The id in the file; for a new layer, the id that it will have there."""
        return self._item.id

    @property
    def name(self) -> str:
        """The name."""
        return self._item.name

    @property
    def type(self) -> str:
        """The type of the operation."""
        return self._item.type

    @type.setter  # noqa: A003
    def type(self, value: str) -> None:
        new = f"new = graph.add({value!r}, *inputs, name=...)"
        raise AttributeError(f"the type of a layer cannot change; {new}, then layer.output.replace_uses(new) and layer.remove()")

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
            raise EditError(f"{self._item!r} has {counted(len(self._item.outputs), 'output')}: choose one, as in layer.outputs[0]")
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
    def bodies(self) -> Mapping[str, Body]:
        """The bodies by their names: `then_body` and `else_body` of an If, `body` of a Loop or TensorIterator; empty for other layers."""
        return {name: Body(self._draft.body(self._item, name)) for name in self._item.held}

    @property
    def body(self) -> Body:
        """The body of a Loop or TensorIterator. Raises `EditError` for any other layer; an If has `bodies`."""
        if "body" not in self.bodies:
            raise EditError(f"{self._item!r} has no body{', but bodies: ' + ', '.join(self.bodies) if self.bodies else ''}")
        return self.bodies["body"]

    @property
    def faults(self) -> list[Diagnostic]:
        """The faults that the rule of the operation finds now. `Graph.check` gives all faults of the model, with their lines."""
        where = Where(None, str(self.id), self.name, self.type)
        found = self._draft.facts.findings(self._live())
        return [Diagnostic(one.code, one.message, where, hint=one.hint) for one in found]

    @property
    def data(self) -> NDArray[Any]:
        """The elements of a Const as a NumPy array. Assigning an array gives the Const these elements, and their type and shape.

        The elements that the Const had stay in the weights, where other constants may share them. Raises `AttributeError` for another
        layer, and `WeightsError` if the weights lack the elements.
        """
        item = self._live()
        if item.op_class is None or item.op_class.TYPE != "Constant":
            raise AttributeError  # Python then asks __getattr__
        return self._draft.const_of(item).data

    @data.setter
    def data(self, array: Any) -> None:
        draft, item = self._draft, self._live()
        content = data_of(array, None, draft.const_of(item).element_type)
        with draft.state.edit("set data", item.name, f"{content.element_type}{format_shape(content.shape)}"):
            draft.set_content(item, content)

    def set(self, **attributes: Any) -> Self:
        """Set attributes, and return the layer. Raises `EditError` for an attribute that the operation does not have.

        Values are numbers, words, booleans, element types and sequences of these: `set(strides=(1, 1))`. `set(**{"exclude-pad": True})`
        names an attribute that Python cannot spell. A `shape` is written as for `graph.parameter`, with None for an open size.
        """
        state = self._draft.state
        changed = self._draft.spell(self._live(), attributes)
        with state.edit("set", self.name, ", ".join(f"{name}={value}" for name, value in attributes.items())):
            state.set_attributes(self._item, changed)
        return self

    def connect(self, input: int, tensor: Tensor | Layer | float | NDArray[Any] | Sequence[Any]) -> Self:
        """Connect the input at this position to another tensor, and return the layer.

        A number or an array becomes a constant. Raises `EditError` if a layer would depend on itself.
        """
        draft, item = self._draft, self._live()
        if not 0 <= input < len(item.inputs):
            raise EditError(f"{item!r} has {counted(len(item.inputs), 'input')}, and none at position {input}")
        with draft.state.edit("connect", self.name, f"input {input}"):
            draft.state.connect(item, input, draft.operand(tensor, item, input))
        return self

    def rename(self, name: str) -> Self:
        """Give the layer another name, and return the layer. Raises `EditError` if another layer has the name."""
        draft, item = self._draft, self._live()
        other = draft.state.named(name)
        if other is not None and other is not item:
            raise EditError(f"{name!r} is already the name of layer {other.id}")
        with draft.state.edit("rename", self.name, f"to {name}"):
            draft.state.rename(item, name)
        return self

    def move(self, before: Layer) -> Self:
        """Move the layer just before another one in the file, and return the layer.

        OpenVINO takes the order of inputs and outputs from the order of Parameters and Results in the file. Raises `EditError` if the other
        one is no layer of this graph.
        """
        if not isinstance(before, Layer):
            raise EditError(f"{before!r} is no layer of a graph: take one, as graph[{before!r}] does")
        draft, item, other = self._draft, self._live(), before._live()
        if before._draft is not draft:
            raise EditError(f"{before!r} belongs to another graph")
        if other is not item:
            with draft.state.edit("move", self.name, f"before {before.name}"):
                draft.state.move(item, draft.state.place_before(other))
        return self

    def bypass(self) -> None:
        """Connect the readers of the output to the first input, and remove the layer.

        Raises `EditError` if it has no input or several outputs.
        """
        item = self._live()
        source = next(iter(item.inputs), None)
        if source is None:
            raise EditError(f"{item!r} has no input that its readers could read")
        with self._draft.state.edit("bypass", self.name):
            self.output.replace_uses(tensor_of(self._draft, source))
            self.remove()

    def remove(self, *, cascade: bool = False) -> None:
        """Remove the layer, and the constants that only it reads.

        Raises `EditError` if another layer reads it; with `cascade`, the layers that depend on it are removed, too. A Parameter or a
        Result of a body goes with its input or output of the layer that holds the body, and with its entry of the port map.
        """
        draft, several = self._draft, [self._live()]
        if cascade:  # what depends on the layer goes first
            found = reached(several, lambda one: [reader for reader, _ in draft.readers_of(one)])
            several = sorted(found, key=lambda one: -one.label)
        with draft.state.edit("remove", self.name):
            for one in several:
                if readers := draft.readers_of(one):
                    read = "reads" if len(readers) == 1 else f"and {counted(len(readers) - 1, 'other input')} read"
                    raise EditError(f"{readers[0][0]!r} {read} {one!r}: replace its uses first, or remove(cascade=True)")
                if draft.state.is_live(one):  # a constant goes with its last reader
                    if isinstance(draft, BodyDraft) and one.type in ("Parameter", "Result"):
                        leave(draft, one)
                    draft.remove(one)

    def _live(self) -> Item:
        if not self._draft.state.is_live(self._item):
            raise EditError(f"{self._item!r} is removed")
        return self._item

    def __repr__(self) -> str:
        return f"<Layer {self.id} {self.type} {self.name!r}>"


class Layers(Guessed):
    """What the graph of a model and those of its bodies have in common: finding, adding and removing layers and tensors."""

    _draft: GraphDraft

    @property
    def op(self) -> Operations:
        """Every operation as a method that adds a layer, with the types of its inputs and attributes: `graph.op.Relu(tensor)`."""
        return Operations(self.add)

    def __getitem__(self, key: str | int) -> Layer:
        """The layer of an id, or the first layer of a name, else of the name of a tensor or a variable. Raises `KeyError` if there is none.

        A layer in a body has the ids around it, `graph["2.body/5"]`; its name finds it, too, if no layer of the graph itself has the name.
        """
        if isinstance(key, int):
            item = self._draft.state.items.get(key)
            if item is None:
                raise unknown_layer(self._draft, str(key))
            return layer_of(self._draft, item)
        return layer_of(*meant(self._draft, key, by_name=True))

    def __contains__(self, item: object) -> bool:
        """Whether the graph has a layer of this name, or this layer."""
        if isinstance(item, Layer):
            return item._draft is self._draft and self._draft.state.is_live(item._item)
        return isinstance(item, str) and bool(found(self._draft, item, by_name=True)[1])

    def __iter__(self) -> Iterator[Layer]:
        return iter([layer_of(self._draft, item) for item in self._draft.state.in_order])

    def __len__(self) -> int:
        return len(self._draft.state.items)

    def tensor(self, name: str) -> Tensor:
        """The tensor of this name, or the output of the layer of this name; of several, `"LAYER:PORT"` names one by the id of its port.

        A Result stands for the tensor that it reads. Raises `KeyError` if there is none, and `EditError` for a layer with several outputs.
        """
        return tensor_of(*meant_output(self._draft, name, by_name=True))

    @property
    def inputs(self) -> Ports[Tensor]:
        """The outputs of the Parameters, in the order of the file, by the names of their layers and tensors."""
        values = [value for item in self._draft.of_type("Parameter") for value in item.outputs]
        return Ports([tensor_of(self._draft, value) for value in values], _names_of_end)

    @property
    def outputs(self) -> Ports[Tensor]:
        """The tensors that the Results read, in the order of the file, by the names of their layers, of the Results and of the tensors."""
        values = [value for item in self._draft.of_type("Result") for value in item.inputs if value is not None]
        return Ports([tensor_of(self._draft, value) for value in values], _names_of_end)

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
        with draft.state.attempt():
            place = None if after is None else draft.state.place_behind([after._live()])
            item = draft.add(type, inputs, attributes, name=name, version=version, place=place, outputs=outputs)
        return layer_of(self._draft, item)

    def constant(self, array: Any, *, name: str = "constant", element_type: ElementType | str | None = None) -> Tensor:
        """Add a Const with the elements of an array or of numbers, and return its output.

        The bytes come behind the weights, equal ones once. `element_type` is needed for types that NumPy does not have.
        """
        content = data_of(array, element_type)
        with self._draft.state.edit("add", name, "Const"):
            value = self._draft.constant(content, name)
        return tensor_of(self._draft, value)

    def prune(self) -> list[str]:
        """Remove the layers that reach no Result and no Assign, except inputs of the model, and return their names."""
        dead = self._draft.dead()
        with self._draft.state.attempt():
            for item in dead:
                self._draft.state.note("remove", item.name)
                self._draft.state.leave(item)
        return [item.name for item in dead]


class Body(Layers):
    """The graph of a body, which is edited as the graph of a model is. Its Parameters and Results are ports of the layer that holds it."""

    __slots__ = ("_draft",)

    _draft: BodyDraft

    def __init__(self, draft: BodyDraft) -> None:
        self._draft = draft

    def add_input(self, tensor: Tensor | Layer, *, name: str | None = None, **slice: int) -> Tensor:
        """Let the body read a tensor of the graph around it, and return the tensor in the body.

        The layer gets an input, the body a Parameter, and the port map an entry. `axis=0` cuts the tensor into slices, one for each
        iteration, with `start`, `end`, `stride` and `part_size` as in the port map.
        """
        self._check()
        item = add_input(self._draft, self._draft.outer.value_of(tensor), name, slice)
        return tensor_of(self._draft, item.outputs[0])

    def add_output(self, tensor: Tensor | Layer, otherwise: Tensor | Layer | None = None, **slice: int) -> Tensor:
        """Let the layer give a tensor of the body, and return the new output of the layer.

        The output is that of the last iteration; `axis=0` joins those of all iterations. For an If, `otherwise` is that of the other body.
        """
        self._check()
        draft, own = self._draft, None
        if otherwise is not None:
            own = other_body(draft).value_of(otherwise)
        return tensor_of(draft.outer, add_output(draft, draft.value_of(tensor), own, slice))

    def feed_back(self, tensor: Tensor | Layer, to: Tensor | Layer) -> None:
        """Let a Parameter of the body, `to`, take a tensor of the body from the iteration before; in the first, it takes its input."""
        self._check()
        feed_back(self._draft, self._draft.value_of(tensor), self._draft.value_of(to).item)

    def _check(self) -> None:
        if not self._draft.outer.state.is_live(self._draft.holder):
            raise EditError(f"{self._draft.holder!r} is removed")

    def __repr__(self) -> str:
        return f"<Body {self._draft.model.path!r}: {counted(layer_count(self._draft), 'layer')}>"


def _names_of_end(tensor: Tensor) -> list[str]:
    return [tensor.layer.name, *tensor.names, *(layer.name for layer, _ in tensor.readers if layer.type == "Result")]


def layer_of(draft: GraphDraft, item: Item) -> Layer:
    """The public layer of an item."""
    if item.view is None:
        item.view = Layer(draft, item)
    view: Layer = item.view
    return view


def tensor_of(draft: GraphDraft, value: Value) -> Tensor:
    """The public tensor of a value."""
    if value.view is None:
        value.view = Tensor(layer_of(draft, value.item), value)
    view: Tensor = value.view
    return view
