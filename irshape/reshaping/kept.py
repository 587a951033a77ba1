"""Numbers that stay although the axis that they close or cut is open: no layer need ever notice that one was baked in.

The numbers are those that a layer reads from a constant at a port whose elements its rule reads. A batch needs no such list, because the
flow of the axes proves that it is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from irshape.editing.state import Item, Value
from irshape.shape.dim import Size, formula_text

if TYPE_CHECKING:
    from irshape.reshaping.bench import Bench

# The ports that name axes, and those that a handler of its own has mended.
_NAMES: Final = frozenset({"axis", "axes", "axes_mapping", "input_order", "reduction_axes", "order", "pattern", "shape", "target_shape"})
# A window that covers so many elements is a whole axis, and no small step.
_LARGEST_STEP: Final = 4
_WINDOWS: Final = ("AvgPool", "MaxPool", "Convolution", "GroupConvolution")


def watch(bench: Bench) -> None:
    """Write down the numbers of the layer that is visited which stay although an axis of its data is open."""
    item = bench.item
    data = item.inputs[0] if item.inputs else None
    shape = None if data is None else bench.shape(data)
    if data is None or shape is None:
        return
    axes = [axis for axis, size in enumerate(shape) if bench.is_open(size)]
    if item.type in ("Divide", "Multiply"):
        _mean(bench, item)
    elif not axes:
        return
    elif item.type in _WINDOWS:
        _window(bench, item, axes)
    else:
        _WATCHES.get(item.type, _closed)(bench, item, axes)


def _closed(bench: Bench, item: Item, axes: Iterable[int]) -> None:
    """Axes that are open before the layer and a number behind it, if the layer reads numbers."""
    ports = [port for port in range(1, len(item.inputs)) if _reads_number(bench, item, port)]
    shape = bench.sizes(item.inputs[0]) if ports and item.inputs[0] is not None else ()
    for value in item.outputs if ports else ():
        own = bench.shape(value) or ()
        for axis in axes:
            size = own[axis] if axis < len(own) and len(own) == len(shape) else 1
            if isinstance(size, int) and size > 1:
                bench.keep(f"{item!r} gives {size} along axis {axis} for every {formula_text(shape[axis])}")


def _reads_number(bench: Bench, item: Item, port: int) -> bool:
    """Whether a layer reads numbers, which are no axes, from a constant at a port."""
    declared = None if item.op_class is None else item.op_class.input_at(port, len(item.inputs))
    value = item.inputs[port]
    return declared is not None and declared.value and declared.name not in _NAMES and bench.constant_of(value) is not None


def _limits(bench: Bench, item: Item, axes: Sequence[int]) -> None:
    """Begins and ends of slices that are numbers within an open axis."""
    data = _value(item, 0)
    shape, recorded = bench.sizes(data), bench.recorded_sizes(data)
    begins, ends = bench.elements(_value(item, 1)), bench.elements(_value(item, 2))
    own = bench.elements(_value(item, 4)) if item.type == "Slice" and len(item.inputs) > 4 else None
    named = own or range(len(begins or ends or ()))
    is_ended = [mark == "1" for mark in item.attributes.get("end_mask", "").replace(" ", "").split(",")]
    for at, axis in enumerate(named):
        if axis % len(shape) not in axes or recorded is None:
            continue
        size, was = formula_text(shape[axis % len(shape)]), recorded[axis % len(shape)]
        begin, end = (one[at] if one and at < len(one) else None for one in (begins, ends))
        if isinstance(begin, int) and begin > 0 and (begin > 1 or was == 2):
            bench.keep(f"{item!r} begins at {begin} of {size}, {was - begin} before the recorded end")
        is_open = item.type == "StridedSlice" and at < len(is_ended) and is_ended[at]
        if isinstance(end, int) and not is_open and 1 < end < was:
            bench.keep(f"{item!r} ends at {end} of {size}, {was - end} before the recorded end")
        if isinstance(end, int) and not is_open and end < -1:
            bench.keep(f"{item!r} ends {-end} before the end of {size}")


def _indices(bench: Bench, item: Item, axes: Sequence[int]) -> None:
    """Constant indices into an open axis."""
    named = bench.elements(_value(item, 2)) if len(item.inputs) > 2 else (0,)
    indices = bench.array(_value(item, 1))
    shape = bench.sizes(_value(item, 0))
    if named and isinstance(named[0], int) and named[0] % len(shape) in axes and indices is not None and (indices > 0).any():
        size = formula_text(shape[named[0] % len(shape)])
        bench.keep(f"{item!r} takes {indices.size} constant indices up to {indices.max()} of {size}")


def _pads(bench: Bench, item: Item, axes: Sequence[int]) -> None:
    """Pads of an open axis that differ before and behind it; equal ones are those of a window."""
    begins, ends = bench.elements(_value(item, 1)), bench.elements(_value(item, 2))
    shape = bench.sizes(_value(item, 0))
    for axis in axes:
        before, behind = (one[axis] if one and axis < len(one) else 0 for one in (begins, ends))
        if isinstance(before, int) and isinstance(behind, int) and before != behind:
            bench.keep(f"{item!r} pads {formula_text(shape[axis])} by {before} and {behind}")


def _repeats(bench: Bench, item: Item, axes: Sequence[int]) -> None:
    """Repeats of a Tile."""
    repeats = bench.elements(_value(item, 1)) or ()
    for one in repeats:
        if isinstance(one, int) and one > 1 and _is_recorded(bench, one):
            bench.keep(f"{item!r} repeats an axis {one} times")


def _depth(bench: Bench, item: Item, axes: Sequence[int]) -> None:
    """The depth of a OneHot that is the recorded number of an open size."""
    depth = bench.elements(_value(item, 1))
    if depth and isinstance(depth[0], int) and _is_recorded(bench, depth[0]):
        bench.keep(f"{item!r} has the depth {depth[0]}")


def _largest(bench: Bench, item: Item, axes: Sequence[int]) -> None:
    """The number of elements that a TopK takes of an open axis."""
    count, shape = bench.elements(_value(item, 1)), bench.sizes(_value(item, 0))
    axis = int(item.attributes.get("axis", "0")) % len(shape)
    if axis in axes and count and isinstance(count[0], int) and count[0] > 1:
        bench.keep(f"{item!r} takes {count[0]} of {formula_text(shape[axis])}")


def _window(bench: Bench, item: Item, axes: Sequence[int]) -> None:
    """A window that covers a whole open axis."""
    data, out = bench.recorded_sizes(_value(item, 0)), bench.recorded_sizes(item.outputs[0])
    shape, now = bench.sizes(_value(item, 0)), bench.shape(item.outputs[0])
    for axis in axes:
        is_one = data and out and now and axis > 1 and data[axis] >= _LARGEST_STEP and out[axis] == 1 and bench.is_open(now[axis])
        if data and is_one and _reach(bench, item, axis) >= data[axis]:
            bench.keep(f"the window of {item!r} covers all {data[axis]} of {formula_text(shape[axis])}")


def _reach(bench: Bench, item: Item, axis: int) -> int:
    """The size of a window along an axis."""
    kernel = [int(one) for one in item.attributes.get("kernel", "").split(",") if one.strip()]
    if kernel:
        return kernel[axis - 2] if axis - 2 < len(kernel) else 1
    weights = bench.recorded_sizes(_value(item, 1)) or ()
    own = axis - 2 + len(weights) - (len(bench.sizes(_value(item, 0))) - 2)
    return weights[own] if 0 <= own < len(weights) else 1


def _mean(bench: Bench, item: Item) -> None:
    """A sum over an open axis that is divided by the recorded number of its elements."""
    for value, other in ((item.inputs[0], item.inputs[1]), (item.inputs[1], item.inputs[0])):
        if value is None or other is None or value.item.type != "ReduceSum":
            continue
        array, data = bench.array(other), value.item.inputs[0]
        axes = bench.elements(_value(value.item, 1))
        recorded = None if data is None else bench.recorded_sizes(data)
        if array is None or array.size != 1 or data is None or recorded is None or not axes:
            continue
        named = [axis % len(recorded) for axis in axes if isinstance(axis, int)]
        count = 1
        for axis in named:
            count *= recorded[axis]
        number = float(array.reshape(-1)[0])
        is_open = any(bench.is_open(bench.sizes(data)[axis]) for axis in named)
        if is_open and number and min(abs(number - count), abs(1 / number - count)) < count * 1e-4:
            bench.keep(f"{item!r} divides a sum over {count} elements by the constant {number:g}")


def _is_recorded(bench: Bench, number: int) -> bool:
    """Whether a number is the recorded one of an open size."""
    sizes: list[Size] = [bench.shape(place.value)[place.axis] for place in bench.notes.places.values()]  # type: ignore[index]
    return any(bench.is_open(size) and bench.at(size) == number for size in sizes)


def _value(item: Item, port: int) -> Value:
    value: Any = item.inputs[port]
    return value  # type: ignore[no-any-return]


_WATCHES: Final[dict[str, Callable[[Bench, Item, Sequence[int]], None]]] = {
    "Slice": _limits,
    "StridedSlice": _limits,
    "Gather": _indices,
    "Pad": _pads,
    "Tile": _repeats,
    "OneHot": _depth,
    "TopK": _largest,
    "Reshape": lambda bench, item, axes: None,
    "Broadcast": lambda bench, item, axes: None,
}
