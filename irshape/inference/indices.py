"""Indices that a model computes from sizes, or that count an axis: the largest of them, and those beyond the axis that they read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from irshape.inference.engine import Engine
from irshape.inference.facts import Fact
from irshape.inference.run import Guard
from irshape.model.build import layer_place
from irshape.model.model import Model, Node, reached
from irshape.ops.context import element_count
from irshape.report.diagnostic import Diagnostic
from irshape.shape.dim import Dim, Size, le_unasked, product
from irshape.shape.element_type import INTEGER
from irshape.shape.guard import Requirement
from irshape.shape.shape import Shape
from irshape.xml.weights import Weights, WeightsError, decode

# Operations whose elements are elements of their first input: all of them, or some.
_MOVES: Final = frozenset({"Convert", "Reshape", "Unsqueeze", "Squeeze", "Transpose", "Broadcast", "Tile"})
_PARTS: Final = frozenset({"Slice", "StridedSlice"})
_ARITHMETIC: Final = ("Add", "Multiply")
# What counts the elements of an axis as far as the data say so: the ones of a mask, and the places of the largest elements.
_COUNTERS: Final = frozenset({"CumSum", "TopK"})
# The most elements of a constant that are looked through.
_MOST_STORED: Final = 1 << 16
_WITHIN: Final = "the indices must stay within the axis"
# The most operations between a Range and the layer that takes the indices.
_DEEPEST: Final = 32


def beyond(engine: Engine) -> list[Diagnostic]:
    """An R401 for each Gather whose largest index is beyond the axis: OpenVINO checks no index that the model computes."""
    found: list[Diagnostic] = []
    if engine.current.has_indices_within:
        return found
    for node, size, last in largest_indices(engine.model, engine.slots, engine.weights, parts=frozenset()):
        if isinstance(size, int) and isinstance(last, int) and last >= size > 0:
            text = f"this never holds: indices must be in [-{size}, {size - 1}], got {last}, which the model computes from sizes"
            hint = "make the axis that is read longer; irshape signature tells which sizes of inputs belong together"
            found.append(Diagnostic("R401", text, layer_place(node), hint=hint))
    return found


def largest_indices(
    model: Model, slots: Sequence[Fact], weights: Weights | None, *, parts: frozenset[str] = _PARTS
) -> Iterator[tuple[Node, Size, Size]]:
    """For each Gather whose indices a Range counts, the size of the axis and the largest index, where facts and constants tell both."""
    largest = _Largest(model, slots, weights, _MOVES | parts)
    for node in _counting(model):
        indices, size = node.sources[1], _axis(node, slots)
        if size is not None and not slots[indices].is_poisoned and (last := largest.of(indices)) is not None:
            yield node, size, last


def demanded(model: Model, slots: Sequence[Fact], weights: Weights | None) -> list[Guard]:
    """The demands that indices which Ranges count, and constant ones, stay within the axes that they read. OpenVINO checks no index."""
    largest = largest_indices(model, slots, weights, parts=frozenset())
    found = [*((node, size, last + 1) for node, size, last in largest if isinstance(size, int)), *_constant_indices(model, slots)]
    demands = [(node, Requirement("ge", size, count, _WITHIN, "", {})) for node, size, count in found if not le_unasked(count, size)]
    return [Guard(node, one) for node, one in demands if one.symbols()]


def _constant_indices(model: Model, slots: Sequence[Fact]) -> Iterator[tuple[Node, Size, Size]]:
    """For each Gather of the net that reads constant indices from an open axis, its size and the least size that has all of them."""
    for node in model.of_type("Gather"):
        size = _axis(node, slots) if node.is_live else None
        if size is not None and (ends := slots[node.sources[1]].ends):
            yield node, size, max([max(greatest + 1, -least) for least, greatest in ends])


def _axis(node: Node, slots: Sequence[Fact]) -> Size | None:
    """The size of the axis along which a layer reads or writes elements by their indices; None if it is not known."""
    if min(node.sources, default=-1) < 0:  # a layer at fault
        return None
    shape = slots[node.sources[0]].shape
    if node.type == "GatherElements":
        return _size_along(shape, getattr(node.op, "axis", None))
    port = 3 if node.type == "ScatterElementsUpdate" else 2
    axis = slots[node.sources[port]].elements if port < len(node.sources) else None
    return _size_along(shape, axis[0]) if axis is not None and len(axis) == 1 else None


def _size_along(shape: Shape, axis: object) -> Size | None:
    """The size of an axis; None if it is not known."""
    return shape[axis] if shape and isinstance(axis, int) and -len(shape) <= axis < len(shape) else None


def are_bounded(node: Node, slots: Sequence[Fact], weights: Weights | None) -> bool | None:
    """Whether no index that a layer reads is beyond the axis, by constants or a count; None if the largest index is not known."""
    moves = _MOVES | _PARTS | _COUNTERS | {"GatherElements"}
    last, size = _Largest(node.model, slots, weights, moves, _MOST_STORED).of(node.sources[1]), _axis(node, slots)
    return None if last is None or size is None else le_unasked(last + 1, size) is True


def are_counted(indices: Node, by: str) -> bool:
    """Whether a layer of this type counts the indices that a layer gives: a Range, a CumSum of a mask, or a TopK."""

    def computing(node: Node) -> list[Node]:
        return node.producers if node.type in _ARITHMETIC else node.producers[:1] if node.type in _MOVES | _PARTS else []

    return any(one.type == by for one in reached([indices], computing))


def _counting(model: Model) -> list[Node]:
    """The Gathers of a net whose indices a Range counts, which the graph alone tells."""
    if model.counting is None:
        whole = [node for node in model.of_type("Gather") if node.is_live and len(node.producers) == 3]
        model.counting = [node for node in whole if are_counted(node.producers[1], "Range")]
    return model.counting


class _Largest:
    """Finds the largest element of tensors of indices, none of which is negative, as all come from Ranges that begin at 0 or later."""

    def __init__(self, model: Model, slots: Sequence[Fact], weights: Weights | None, moves: frozenset[str], most: int = 1) -> None:
        self._moves = moves
        self._most = most  # of so many elements of a constant, the largest one counts
        self._weights = weights
        self._model = model
        self._slots = slots
        self._known: dict[int, Size | None] = {}

    def of(self, slot: int, depth: int = 0) -> Size | None:
        """The largest element of a tensor; None if it is not known."""
        if slot < 0 or depth > _DEEPEST:
            return None
        if slot not in self._known:
            self._known[slot] = self._found(slot, depth)
        return self._known[slot]

    def _found(self, slot: int, depth: int) -> Size | None:
        node = self._model.producer(slot)
        if node is None:
            return None
        sources = node.sources  # a layer at fault may have too few
        if node.type == "Range":
            return self._end(node) if len(sources) == 3 else None
        if node.type in _COUNTERS and len(sources) == 2:
            return self._counted(node, slot) if node.type in self._moves else None
        if node.type in self._moves and sources:
            return self.of(sources[0], depth + 1)
        if node.type in _ARITHMETIC and len(sources) == 2:
            a, b = (self.of(source, depth + 1) for source in sources)
            if a is not None and b is not None:
                return a + b if node.type == "Add" else a * b
            if node.type == "Multiply" and "CumSum" in self._moves:
                return b if a is None else a  # by a mask
        elements = self._elements(slot)
        if elements is None and node.type == "Const":
            elements = self._stored(node, self._slots[slot])
        if elements is None or not 0 < len(elements) <= self._most:
            return None
        numbers = [one for one in elements if isinstance(one, int)]
        return elements[0] if len(elements) == 1 else max(numbers) if len(numbers) == len(elements) else None

    def _stored(self, node: Node, fact: Fact) -> tuple[Any, ...] | None:
        """The elements of a Const that no rule reads; None if there are too many, or no indices."""
        op: Any = node.op
        count = element_count(fact.shape)
        weights = self._weights
        if weights is None or op is None or op.is_broken or fact.element_type not in INTEGER:
            return None
        if count is None or not 0 < count <= self._most:
            return None
        try:
            stored = decode(fact.element_type, weights.read(op.offset, fact.element_type.byte_size(count)), count)
        except WeightsError:
            return None
        return stored if count == 1 or min(stored or (-1,)) >= 0 else None

    def _end(self, node: Node) -> Size | None:
        """The last element of a Range that counts from 0 or more in steps of 1."""
        start, stop, step = (self._elements(source) for source in node.sources)
        if start is None or stop is None or step is None or step[0] != 1 or not isinstance(start[0], (int, Dim)):
            return None
        low = start[0] if isinstance(start[0], int) else start[0].range.low
        return stop[0] - 1 if low >= 0 and isinstance(stop[0], (int, Dim)) else None

    def _counted(self, node: Node, slot: int) -> Size | None:
        """The count of a whole axis by a CumSum, and the last index of a TopK."""
        if min(node.sources) < 0:  # a layer at fault
            return None
        shape = self._slots[node.sources[0]].shape
        if node.type == "TopK":  # whose first output are the largest elements themselves
            count = _size_along(shape, getattr(node.op, "axis", None)) if slot != node.first_slot else None
            return None if count is None else count - 1
        axis = self._elements(node.sources[1])
        return _size_along(shape, axis[0]) if axis else None

    def _elements(self, slot: int) -> tuple[Size, ...] | None:
        """The elements of a small tensor of sizes: those that the pass has followed, or those of a ShapeOf, and parts of these."""
        if slot < 0:
            return None
        fact, node = self._slots[slot], self._model.producer(slot)
        if fact.elements is not None:
            return tuple(fact.elements) if all(isinstance(one, (int, Dim)) for one in fact.elements) else None
        if fact.is_poisoned or node is None:
            return None
        if node.type == "ShapeOf" and node.sources[0] >= 0:
            return self._slots[node.sources[0]].shape
        if node.type == "Split":
            whole = self._elements(node.sources[0])
            count = node.layer.signature.output_count
            if whole is None or len(whole) % count:
                return None
            each = len(whole) // count
            first = (slot - node.first_slot) * each
            return whole[first : first + each]
        if node.type in ("Convert", "Reshape", "Squeeze", "Unsqueeze") and fact.shape is not None and product(fact.shape) == 1:
            return self._elements(node.sources[0])
        return None
