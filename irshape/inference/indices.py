"""Indices that a model computes from sizes, by Ranges: the largest of them, and those beyond the axis that they read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from irshape.inference.engine import Engine
from irshape.model.build import place
from irshape.model.model import Node
from irshape.report.diagnostic import Diagnostic
from irshape.shape.dim import Dim, Size, product

# Operations whose elements are elements of their first input: all of them, or some.
_MOVES: Final = frozenset({"Convert", "Reshape", "Unsqueeze", "Squeeze", "Transpose", "Broadcast", "Tile"})
_PARTS: Final = frozenset({"Slice", "StridedSlice"})
# The most operations between a Range and the layer that takes the indices.
_DEEPEST: Final = 32


def beyond(engine: Engine) -> list[Diagnostic]:
    """An R401 for each Gather whose largest index is beyond the axis: OpenVINO checks no index that the model computes."""
    found = []
    for node, size, last in reached(engine, parts=frozenset()):
        if isinstance(size, int) and isinstance(last, int) and last >= size > 0:
            text = f"this never holds: indices must be in [-{size}, {size - 1}], got {last}, which the model computes from sizes"
            where = place(engine.model.document, node.layer, node.layer.offset)
            hint = "make the axis that is read longer; irshape signature tells which sizes of inputs belong together"
            found.append(Diagnostic("R401", text, where, hint=hint))
    return found


def reached(engine: Engine, *, parts: frozenset[str] = _PARTS) -> Iterator[tuple[Node, Size, Size]]:
    """For each Gather of the net the size of the axis that it reads, and its largest index, as far as they are known."""
    largest = _Largest(engine, _MOVES | parts)
    for node in engine.model.of_type("Gather"):
        if not node.is_live or len(node.sources) < 3:
            continue
        data, axis = engine.slots[node.sources[0]], engine.slots[node.sources[2]].elements
        if (
            not data.shape
            or axis is None
            or len(axis) != 1
            or not isinstance(axis[0], int)
            or not -len(data.shape) <= axis[0] < len(data.shape)
        ):
            continue
        last = largest.of(node.sources[1])
        if last is not None:
            yield node, data.shape[axis[0]], last


class _Largest:
    """Finds the largest element of tensors of indices, none of which is negative, as all come from Ranges that begin at 0 or later."""

    def __init__(self, engine: Engine, moves: frozenset[str]) -> None:
        self._moves = moves
        self._model = engine.model
        self._slots = engine.slots
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
        if node is None or self._slots[slot].is_poisoned:  # an example of a specification, or a layer at fault with too few inputs
            return None
        elements = self._elements(slot)
        if elements is not None:
            return elements[0] if len(elements) == 1 else None
        if node.type == "Range":
            return self._end(node)
        if node.type in self._moves:
            return self.of(node.sources[0], depth + 1)
        if node.type in ("Add", "Multiply"):
            a, b = (self.of(source, depth + 1) for source in node.sources)
            return None if a is None or b is None else a + b if node.type == "Add" else a * b
        return None

    def _end(self, node: Node) -> Size | None:
        """The last element of a Range that counts from 0 or more in steps of 1."""
        start, stop, step = (self._elements(source) for source in node.sources)
        if start is None or stop is None or step is None or step[0] != 1 or not isinstance(start[0], (int, Dim)):
            return None
        low = start[0] if isinstance(start[0], int) else start[0].range.low
        return stop[0] - 1 if low >= 0 and isinstance(stop[0], (int, Dim)) else None

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
