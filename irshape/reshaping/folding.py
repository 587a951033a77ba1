"""The elements of tensors that are computed from constants and from sizes that are numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from irshape.editing.draft import Draft
from irshape.editing.layers import layer_of
from irshape.editing.state import Item, Value
from irshape.model.model import behind
from irshape.reshaping.bench import CONSTANTS, is_true, number_of
from irshape.shape.dim import Size
from irshape.shape.element_type import STORED

if TYPE_CHECKING:
    from numpy.typing import NDArray

Array: TypeAlias = "NDArray[Any]"


class Folding:
    """The elements of the tensors that depend on sizes and constants alone.

    `sizes` gives the shape of a tensor as numbers, None if it is open.
    """

    def __init__(self, draft: Draft, sizes: Callable[[Value], Sequence[Size] | None]) -> None:
        self._draft = draft
        self._sizes = sizes
        self._known: dict[Value, Array | None] = {}

    def of(self, value: Value) -> Array | None:
        """The elements of a tensor; None if they are not known."""
        known = self._known

        def inputs(one: Value) -> list[Value]:
            return [] if one in known or one.item.type == "ShapeOf" else [source for source in one.item.inputs if source is not None]

        for one in behind([value], inputs):
            if one not in known:
                known[one] = self._computed(one, [known[source] for source in inputs(one)])
        return known[value]

    def _computed(self, value: Value, given: Sequence[Array | None]) -> Array | None:
        item = value.item
        if item.type in CONSTANTS:
            return layer_of(self._draft, item).data
        if item.type == "ShapeOf":
            source = item.inputs[0]
            sizes = None if source is None else self._sizes(source)
            type_ = np.int32 if item.attributes.get("output_type") == "i32" else np.int64
            return None if sizes is None or not all(isinstance(size, int) for size in sizes) else np.array(sizes, type_)
        rule = _RULES.get(item.type)
        arrays = [one for one in given if one is not None]
        if rule is None or len(arrays) != len(given):
            return None
        try:
            found: Any = rule(item, *arrays)
        except (ValueError, IndexError):  # a layer at fault, such as one with indices beyond an axis
            return None
        one: Array | None = found[value.index] if found is not None and item.type in _SPLITS else found
        return one


# Real numbers of two exports may be off by so much of the largest one, as they are computed again in f32, or rounded to f16.
_ROUNDING: Final = {"d": 1e-6, "f": 1e-6, "e": 1e-3}


def rounding_of(array: Array) -> float:
    """By which part of the largest element others may be off where real numbers are computed again; 0 for other elements."""
    return _ROUNDING.get(array.dtype.char, 0.0)


def are_equal(one: Array, other: Array, rounding: float = 0.0) -> bool:
    """Whether an array, broadcast to the shape of another one, has its elements, up to `rounding` times the largest finite one."""
    try:
        one = np.broadcast_to(one, other.shape)
    except ValueError:
        return False
    if not rounding:
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=other.dtype.kind == "f")
    with np.errstate(invalid="ignore"):  # infinity less infinity
        near = np.abs(one - other) <= rounding * np.abs(other[np.isfinite(other)]).max(initial=0)
    return bool((near | (one == other)).all())


def _cast(item: Item, array: Array) -> Array | None:
    return array.astype(STORED[name]) if (name := item.attributes["destination_type"]) in STORED else None


def _divided(item: Item, a: Array, b: Array) -> Array | None:
    if a.dtype.kind == "f":
        return a / b if b.all() else None
    return a // b if a.dtype.kind in "iu" and (b > 0).all() and (a >= 0).all() else None


def _broadcast(item: Item, data: Array, target: Array, *axes: Array) -> Array | None:
    if axes or item.attributes.get("mode", "numpy").lower() == "explicit":
        return None
    is_both = item.attributes.get("mode", "").lower() == "bidirectional"
    shape = tuple(target.tolist())
    return np.broadcast_to(data, np.broadcast_shapes(data.shape, shape) if is_both else shape)


def _reshaped(item: Item, data: Array, pattern: Array) -> Array | None:
    sizes = [data.shape[axis] if one == 0 and is_true(item, "special_zero") else one for axis, one in enumerate(pattern.tolist())]
    return data.reshape(sizes)


def _sliced(item: Item, data: Array, begin: Array, end: Array, step: Array, axes: Array | None = None) -> Array | None:
    where = range(begin.size) if axes is None else [int(axis) % data.ndim for axis in axes.tolist()]
    cuts = [slice(None)] * data.ndim
    for axis, one, last, by in zip(where, begin.tolist(), end.tolist(), step.tolist(), strict=True):
        if by < 0:
            return None
        cuts[axis] = slice(one, last, by)
    return data[tuple(cuts)]


def _range(item: Item, start: Array, stop: Array, step: Array) -> Array | None:
    name = item.attributes.get("output_type", "i64")
    return np.arange(int(start), int(stop), int(step)).astype(STORED[name]) if name in STORED and start.dtype.kind in "iu" else None


def _gathered(item: Item, data: Array, indices: Array, axis: Array) -> Array | None:
    return None if number_of(item, "batch_dims") else np.take(data, indices, int(axis.reshape(-1)[0]))


def _summed(item: Item, data: Array, axis: Array) -> Array | None:
    return None if is_true(item, "exclusive") or is_true(item, "reverse") else np.cumsum(data, int(axis), data.dtype)


def _exact(function: Callable[..., Any]) -> Callable[..., Any]:
    """A rule on elements, which takes no attributes that change it."""
    return lambda item, *arrays: function(*arrays)


_SPLITS: Final = ("Split", "VariadicSplit")
_RULES: Final[Mapping[str, Callable[..., Any]]] = {
    **{one.__name__.title(): _exact(one) for one in (np.add, np.subtract, np.multiply, np.minimum, np.maximum, np.cos, np.sin)},
    "LessEqual": _exact(np.less_equal),
    "LogicalNot": _exact(np.logical_not),
    "LogicalXor": _exact(np.logical_xor),
    "Select": _exact(np.where),
    "Squeeze": _exact(lambda data, axes=None: np.squeeze(data, None if axes is None else tuple(axes.reshape(-1).tolist()))),
    "Unsqueeze": _exact(lambda data, axes: np.expand_dims(data, tuple(axes.reshape(-1).tolist()))),
    "Transpose": _exact(lambda data, order: np.transpose(data, order.tolist())),
    "Divide": _divided,
    "Convert": _cast,
    "Broadcast": _broadcast,
    "Reshape": _reshaped,
    "Slice": _sliced,
    "Range": _range,
    "CumSum": _summed,
    "ReduceProd": lambda item, data, axes: np.prod(data, tuple(axes.reshape(-1).tolist()), data.dtype, keepdims=is_true(item, "keep_dims")),
    "Gather": _gathered,
    "Split": lambda item, data, axis: np.split(data, number_of(item, "num_splits"), int(axis)),
    "VariadicSplit": lambda item, data, axis, lengths: np.split(data, np.cumsum(lengths)[:-1], int(axis)) if min(lengths) >= 0 else None,
    "Concat": lambda item, *arrays: np.concatenate(arrays, number_of(item)),
}
