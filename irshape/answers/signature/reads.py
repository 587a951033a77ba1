"""How many elements of an axis a model reads by computed indices, as masks are read in attention: `mask[b, 0..P + S]`.

OpenVINO does not check indices when it reads a model, so no requirement says this.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from irshape.answers.signature.unify import Read
from irshape.inference.engine import Engine
from irshape.inference.run import Guard
from irshape.model.model import Node
from irshape.shape.dim import Dim, Size, product
from irshape.shape.guard import Requirement

# Operations whose elements are elements of their first input.
_MOVES: Final = frozenset({"Convert", "Reshape", "Unsqueeze", "Squeeze", "Transpose", "Broadcast", "Tile", "Slice", "StridedSlice"})
# The most operations between a Range and the layer that takes the indices.
_DEEPEST: Final = 32


def reads(engine: Engine) -> Iterator[Read]:
    """The layers of the net that read an axis of an input by indices of which the largest is known as a formula."""
    largest = _Largest(engine)
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
        size = data.shape[axis[0]]
        last = largest.of(node.sources[1]) if isinstance(size, Dim) else None
        if isinstance(last, Dim):
            requirement = Requirement("ge", size, last + 1, "the indices reach this many elements along the axis", "", {})
            yield Read(size, last + 1, Guard(node, requirement))


class _Largest:
    """Finds the largest element of tensors of indices, none of which is negative, as all come from Ranges that begin at 0 or later."""

    def __init__(self, engine: Engine) -> None:
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
        node = self._model.nodes[self._model.producers[slot]]
        elements = self._elements(slot)
        if elements is not None:
            return elements[0] if len(elements) == 1 else None
        if node.type == "Range":
            return self._end(node)
        if node.type in _MOVES:
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
        fact = self._slots[slot]
        node = self._model.nodes[self._model.producers[slot]]
        if fact.elements is not None:
            return tuple(fact.elements) if all(isinstance(one, (int, Dim)) for one in fact.elements) else None
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
