"""Changes that make a model smaller and simpler, one at a time, for a reduction to try.

A pass is a function from a draft to its changes; each change is a function that edits the draft. Every change removes a layer, an input or
an output, or brings sizes, elements or attributes nearer to their simplest values, so that trying them comes to an end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, Final, TypeAlias

from irshape.editing.arrays import Data
from irshape.editing.bodies import add_input, leave
from irshape.editing.branches import can_move, move_out
from irshape.editing.draft import BodyDraft, GraphDraft
from irshape.editing.layers import layer_of
from irshape.editing.state import EditError, Item, Value
from irshape.editing.text import ALIGNMENT
from irshape.inference.facts import Fact
from irshape.shape.dim import Size, are_known, bounds
from irshape.shape.shape import format_shape
from irshape.xml.lexical import BODIES
from irshape.xml.weights import WeightsError

Changes: TypeAlias = "Iterable[Callable[[], object]]"

BORDER: Final = ("Const", "Parameter", "Result")
# Integers of a constant with no more elements may be sizes.
_MOST_SIZES: Final = 64
# The simplest element of attributes without a default.
_SIMPLEST: Final = {"strides": 1, "dilations": 1, "pads_begin": 0, "pads_end": 0}


def _items(draft: GraphDraft, *types: str) -> list[Item]:
    """The items of some types, or without types those that are no constants, inputs or outputs, in topological order."""
    return [item for item in draft.state.in_order if (item.type in types if types else item.type not in BORDER)]


def _graphs(draft: GraphDraft) -> Iterator[GraphDraft]:
    """A graph and the bodies in it."""
    yield draft
    for item in draft.of_type(*BODIES):
        for name in item.held:
            yield from _graphs(draft.body(item, name))


def _cleared(draft: GraphDraft, *, inputs: bool = True) -> None:
    """Remove what nothing depends on, around a body, too."""
    variables = {item.attributes.get("variable_id") for item in _items(draft, "ReadValue")}
    for item in _items(draft, "Assign"):
        if item.attributes.get("variable_id") not in variables:
            draft.state.leave(item)
    for item in draft.dead():
        draft.state.leave(item)
    for item in _items(draft, "Parameter") if inputs else ():
        if not draft.readers_of(item):
            if isinstance(draft, BodyDraft):
                leave(draft, item)
            draft.state.leave(item)
    if isinstance(draft, BodyDraft):
        _cleared(draft.outer, inputs=inputs)


# Layers, inputs and outputs.


def outputs(draft: GraphDraft) -> Changes:
    """Outputs go, with the layers that only they need; one stays."""
    results = _items(draft, "Result")
    for item in results if len(results) > 1 or isinstance(draft, BodyDraft) else ():
        yield partial(_without_output, draft, item)


def _without_output(draft: GraphDraft, item: Item) -> None:
    if isinstance(draft, BodyDraft):
        leave(draft, item)
    draft.state.leave(item)
    _cleared(draft)


def cut(draft: GraphDraft) -> Changes:
    """Inputs stand for the outputs of a layer."""
    is_body = isinstance(draft, BodyDraft)
    for item in reversed(_items(draft)):
        if any(is_body or reader.type != "Result" for reader, _ in draft.readers_of(item)):
            yield partial(_cut, draft, item)


def _cut(draft: GraphDraft, item: Item) -> None:
    for value in item.outputs:
        fact = draft.facts.seen_by_openvino(value)
        for reader, _ in draft.state.reads_of(value) if not isinstance(draft, BodyDraft) else ():
            if reader.type == "Result":
                draft.state.leave(reader)
        if draft.state.readers.get(value):
            draft.redirect(value, _entering(draft, fact, item.name))
    draft.remove(item)
    _cleared(draft)


def _entering(draft: GraphDraft, fact: Fact, name: str) -> Value:
    """A new input with what OpenVINO knows of a tensor, handed on to a body by the layers around it."""
    if isinstance(draft, BodyDraft):
        return add_input(draft, _entering(draft.outer, fact, name), name, {}).outputs[0]
    return draft.parameter(name, fact.shape, fact.element_type).outputs[0]


def bypass(draft: GraphDraft) -> Changes:
    """The readers of a layer read an input of the same element type."""
    for item in reversed(_items(draft)):
        if len(item.outputs) == 1 and draft.readers_of(item):
            element_type = draft.facts.of(item.outputs[0]).element_type
            for source in dict.fromkeys(item.inputs):
                if source is not None and source.item.type != "Const" and draft.facts.of(source).element_type is element_type:
                    yield partial(_bypass, draft, item, source)


def _bypass(draft: GraphDraft, item: Item, source: Value) -> None:
    draft.redirect(item.outputs[0], source)
    draft.remove(item)
    _cleared(draft)


def inputs(draft: GraphDraft) -> Changes:
    """Inputs go that nothing reads."""
    yield partial(_cleared, draft)


def branches(draft: GraphDraft) -> Changes:
    """A branch stands in the place of its If."""
    for item in _items(draft, "If"):
        for name in item.held:
            yield partial(_inline, draft, draft.body(item, name))


def _inline(draft: GraphDraft, body: BodyDraft) -> None:
    if not can_move(body):
        raise EditError("an output of the body is fed by nothing")
    move_out(body)
    _cleared(draft)


# Sizes, elements and attributes.


def dynamic(draft: GraphDraft) -> Changes:
    """Open axes of inputs become numbers: all of them, then one after the other."""
    for number in (1, 2, 4):
        yield partial(_fix, draft, _items(draft, "Parameter"), None, number)
    for item in _items(draft, "Parameter"):
        for axis in range(len(draft.facts.of(item.outputs[0]).shape or ())):
            for number in (1, 2):
                yield partial(_fix, draft, [item], axis, number)


def equal(draft: GraphDraft) -> Changes:
    """Constants with equal elements become one."""
    same: dict[object, list[Item]] = {}
    for item in _items(draft, "Const"):
        with suppress(EditError, WeightsError):
            data = draft.const_of(item)
            same.setdefault((data.element_type, data.shape, data.bytes), []).append(item)
    several = [items for items in same.values() if len(items) > 1]
    yield partial(_join, draft, several)
    for items in several:
        yield partial(_join, draft, [items])


def _join(draft: GraphDraft, several: Iterable[list[Item]]) -> None:
    for first, *others in several:
        for item in others:
            draft.redirect(item.outputs[0], first.outputs[0])
            draft.remove(item)


def _fix(draft: GraphDraft, items: Iterable[Item], axis: int | None, number: int) -> None:
    for item in items:
        shape = draft.facts.of(item.outputs[0]).shape
        if shape is not None and not are_known(shape):
            fixed = tuple([_near(size, number) if axis in (None, at) else size for at, size in enumerate(shape)])
            draft.state.set_attributes(item, draft.spell(item, {"shape": format_shape(fixed)}))


def _near(size: Size, number: int) -> Size:
    """The number that a size can be and that is nearest to another one."""
    low, high = bounds(size)
    return size if isinstance(size, int) else int(max(low, min(number, high)))


def sizes(draft: GraphDraft) -> Changes:
    """A number becomes a smaller one in the shapes of all inputs and constants, and where a constant of integers holds it."""
    found: set[int] = set()
    for item in _items(draft, "Parameter", "Const"):
        found.update(size for size in draft.facts.of(item.outputs[0]).shape or () if isinstance(size, int))
    for size in sorted(found, reverse=True):
        for number in dict.fromkeys((1, 2, size // 4, size // 2)):
            if 0 < number < size:
                yield partial(_resize, draft, size, number, elements=True)
                yield partial(_resize, draft, size, number, elements=False)


def _resize(draft: GraphDraft, size: int, number: int, *, elements: bool) -> None:
    import numpy

    for item in _items(draft, "Parameter", "Const"):
        fact = draft.facts.of(item.outputs[0])
        shape = tuple([number if one == size else one for one in fact.shape or ()])
        if item.type == "Parameter":
            if shape != (fact.shape or ()):
                draft.state.set_attributes(item, draft.spell(item, {"shape": format_shape(shape)}))
            continue
        data = layer_of(draft, item).data
        if shape != data.shape:
            data = numpy.resize(data, [int(number if one == size else one) for one in data.shape])
        if elements and data.dtype.kind in "iu" and data.size <= _MOST_SIZES:
            data = numpy.where(data == size, number, data).astype(data.dtype)
        _set_data(draft, item, data)


def _set_data(draft: GraphDraft, item: Item, array: Any) -> None:
    """Give a constant other elements of its type."""
    layer = layer_of(draft, item)
    if array.shape != layer.data.shape or (array != layer.data).any():
        element_type = layer.attributes["element_type"]
        content = Data(element_type, array.shape, array.tobytes())
        if len(content.bytes) != element_type.byte_size(array.size):
            raise EditError(f"elements of type {element_type} are not resized")
        offset = draft.state.store(content.bytes, draft.start, ALIGNMENT)
        draft.state.set_attributes(item, {**item.attributes, **content.attributes(offset)})


def zeros(draft: GraphDraft) -> Changes:
    """The real elements of constants become 0: of all constants, then of one after the other."""
    constants = [item for item in _items(draft, "Const") if draft.facts.of(item.outputs[0]).element_type.is_real]
    yield partial(_zero, draft, constants)
    for item in constants:
        yield partial(_zero, draft, [item])


def _zero(draft: GraphDraft, items: Iterable[Item]) -> None:
    import numpy

    for item in items:
        data = layer_of(draft, item).data
        _set_data(draft, item, numpy.zeros_like(data) if data.dtype.kind == "f" else data)


def attributes(draft: GraphDraft) -> Changes:
    """Attributes get their defaults."""
    for item in _items(draft):
        op_class = item.op_class
        if op_class is None:
            continue
        values = layer_of(draft, item).attributes
        for name, attribute in op_class.attributes.items():
            default, value = None if attribute.required else attribute.default, values.get(name)
            if name in _SIMPLEST and isinstance(value, tuple):
                default = (_SIMPLEST[name],) * len(value)
            if value != default and isinstance(default, str | int | float | tuple):
                yield partial(_set, draft, item, name, default)


def _set(draft: GraphDraft, item: Item, name: str, value: object) -> None:
    draft.state.set_attributes(item, draft.spell(item, {name: value}))


def _everywhere(changes: Callable[[GraphDraft], Changes]) -> Callable[[GraphDraft], Changes]:
    """The changes of a pass in a graph and in the bodies in it."""
    return lambda draft: (change for graph in _graphs(draft) for change in changes(graph))


# The passes in the order in which they are tried, by what they are about.
PASSES: Final[dict[str, Callable[[GraphDraft], Changes]]] = {
    "outputs": _everywhere(outputs),
    "inputs for layers": _everywhere(cut),
    "layers passed by": _everywhere(bypass),
    "branches of an If": branches,
    "unread inputs": _everywhere(inputs),
    "open axes": dynamic,
    "smaller sizes": sizes,
    "elements of 0": _everywhere(zeros),
    "attributes with defaults": _everywhere(attributes),
    "equal constants": _everywhere(equal),
}
