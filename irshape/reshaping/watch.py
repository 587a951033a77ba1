"""Numbers that stay although the axis that they close or cut is open: no layer need ever notice that one was baked in.

They are those that a layer reads from a constant at a port whose elements its rule reads, and those with which it computes an index.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import isclose, log, log1p, prod, sqrt
from typing import Any, Final, TypeAlias

from irshape.editing.state import Item, Value
from irshape.model.model import reached
from irshape.ops.attribute import read_float
from irshape.ops.flow import same
from irshape.reshaping.bench import AXES, Bench, holder, is_true, number_of, numbers_of, recorded_as, source
from irshape.reshaping.exports import MULTIPLES, WINDOWS, extents, pad_ways
from irshape.reshaping.laws import OF_SIZES, SCALING, scales
from irshape.reshaping.stretching import is_elementwise
from irshape.reshaping.ways import Ways
from irshape.shape.dim import Dim, Size, expression_of, formula_text, product
from irshape.shape.element_type import INTEGER

# The attributes of a layer, and what it reads at each input.
Read: TypeAlias = tuple[Sequence[tuple[str, str]], Sequence[object]]
# The shape of a constant, and elements of it.
Elements: TypeAlias = tuple[Sequence[int], list[Any]]
# Ports whose numbers a handler has mended, or that number axes.
NAMES: Final = AXES | {"pattern", "shape", "target_shape"}
# A window that covers so many elements is a whole axis, and no small step.
_LARGEST_STEP: Final = 4
# Numbers in steps that differ by no larger part of a step are evenly spaced, which a type of few bits rounds.
_UNEVEN: Final = 0.02
# So many elements are seldom averaged at a step of the same length by a net that does not ask for a number of outputs.
_LEAST_AVERAGE: Final = 3
# Of a constant of more elements, the shape and a sample are compared with those in another export.
_FEW: Final = 64
# A constant of at most so many elements may hold the sizes of an image, as the ends of a box have them.
_MOST_SCALES: Final = 8
_SUMS: Final = ("ReduceSum", "MatMul", "Einsum")
_HUGE: Final = 1 << 62
ATTENTION: Final = "ScaledDotProductAttention"  # which has a scale
_COMPARISONS: Final = ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual")
_ARITHMETIC: Final = (*SCALING, "Add", "Subtract", "Mod", "FloorMod", "Minimum", "Maximum")
# The largest number that ReLU6 lets pass, whatever the size is.
_OF_RELU6: Final = 6
# Layers that may stand between a Pad and the window for which it pads.
_REORDERING: Final = ("Convert", "Reshape", "Transpose", "Unsqueeze")


def watch(bench: Bench) -> None:
    """Write down the numbers of the layer that is visited which stay although an axis of its data is open."""
    item = bench.item
    data = item.inputs[0] if item.inputs else None
    shape = None if data is None else bench.shape(data)
    if data is None or shape is None:
        return
    axes = [axis for axis, size in enumerate(shape) if bench.is_open(size)]
    if item.type == "Gather":
        _rows(bench, item)
    elif item.type.startswith("Scatter"):
        _scattered(bench, item)
    elif is_elementwise(item):
        _spread(bench, item)
    if item.type in _COMPARISONS:
        _index(bench, item)
    if item.type in _ARITHMETIC:
        known = len(bench.notes.kept)
        for look in (_limited, _mean, _scale, _number, _index):
            if len(bench.notes.kept) == known:
                look(bench, item)
    elif item.type == "Clamp":
        _clamp(bench, item)
    elif item.type == ATTENTION:
        _number(bench, item)
    elif item.type == "Broadcast" or (item.type in ("Interpolate", "Tile") and not axes and not bench.is_of_sizes(data)):
        _repeated(bench, item)
    elif not axes:
        if item.type == "OneHot" or (item.type == "Tile" and bench.is_of_sizes(data)):
            _WATCHES[item.type](bench, item, axes)
    elif item.type in WINDOWS:
        _window(bench, item, axes)
    else:
        _WATCHES.get(item.type, _closed)(bench, item, axes)


def _closed(bench: Bench, item: Item, axes: Iterable[int]) -> None:
    """Axes that are open before the layer and a number behind it, if the layer reads numbers, or a grid."""
    is_grid = item.type == "GridSample"
    ports = [port for port in range(1, len(item.inputs)) if is_grid or is_number(item, port, NAMES)]
    numbers = [value for port in ports if (value := item.inputs[port]) is not None]
    is_resized = item.type == "Interpolate"  # whose vector of sizes may have some of another shape
    is_stated = is_grid or any(bench.constant_of(one) is not None for one in numbers)
    shape = bench.sizes(item.inputs[0]) if numbers and item.inputs[0] is not None else ()
    for value in item.outputs if numbers else ():
        own = bench.shape(value) or ()
        for axis in axes:
            size = own[axis] if axis < len(own) and len(own) == len(shape) else 1
            if isinstance(size, int) and size > 1 and (is_stated or (is_resized and holder(bench, numbers, {size}.__contains__))):
                bench.keep(f"{item!r} gives the size {size} on axis {axis}, whatever {formula_text(shape[axis])} is", shape[axis])


def reads_number(bench: Bench, item: Item, port: int, others: Collection[str]) -> bool:
    """Whether a layer reads numbers from a constant at a port that has none of the names of `others`."""
    return bench.constant_of(item.inputs[port]) is not None and is_number(item, port, others)


def is_number(item: Item, port: int, others: Collection[str]) -> bool:
    """Whether a layer reads numbers at a port that has none of the names of `others`."""
    declared = None if item.op_class is None else item.op_class.input_at(port, len(item.inputs))
    return declared is not None and declared.value and declared.name not in others


def _limits(bench: Bench, item: Item, axes: Sequence[int]) -> None:
    """Begins and ends of slices that are numbers within an open axis, unless an earlier size is left of it."""
    shape, recorded = bench.sizes(source(item, 0)), bench.recorded_sizes(source(item, 0))
    left = bench.shape(item.outputs[0]) or ()
    begins, ends = bench.elements(source(item, 1)), bench.elements(source(item, 2))
    own = bench.elements(source(item, 4)) if item.type == "Slice" and len(item.inputs) > 4 else None
    steps = bench.elements(source(item, 3)) if len(item.inputs) > 3 else None
    named = own or range(len(begins or ends or ()))
    is_ended = [mark == "1" for mark in item.attributes.get("end_mask", "").replace(" ", "").split(",")]
    for at, axis in enumerate(named):
        if axis % len(shape) not in axes or recorded is None or (len(left) == len(shape) and _is_restored(bench, left[axis % len(shape)])):
            continue
        own_size, was = shape[axis % len(shape)], recorded[axis % len(shape)]
        size = formula_text(own_size)
        begin, end = (one[at] if one and at < len(one) else None for one in (begins, ends))
        if isinstance(begin, int) and (begin > 1 or begin == 1 == was - 1 or (begin < -1 and -begin in _fractions(was))):
            bench.keep(f"{item!r} begins at index {begin} of an axis of size {size}, which is {was} in the file", own_size)
        is_open = item.type == "StridedSlice" and at < len(is_ended) and is_ended[at]
        most = was if bench.witness is None else was + 1  # beside a second export, an end that is the whole axis may be a crop there
        if isinstance(end, int) and not is_open and 1 < end < most:
            bench.keep(f"{item!r} ends at index {end} of an axis of size {size}, which is {was} in the file", own_size)
        step = steps[at] if steps and at < len(steps) else 1
        is_of_size = isinstance(end, int) and (step != 1 or end == 1 - was or -end in _fractions(was))  # others are a window's, or a shift
        if isinstance(end, int) and is_of_size and not is_open and -was < end < -1:
            bench.keep(f"{item!r} ends {-end} elements before the end of an axis of size {size}", own_size)
        if isinstance(step, int) and step > 2 and step in _fractions(was):
            bench.keep(f"{item!r} takes elements in steps of {step} along an axis of size {size}, which is {was} in the file", own_size)


def _indices(bench: Bench, item: Item, axes: Sequence[int]) -> None:
    """Indices into an open axis that are constant, or as many for all sizes although no input gives them."""
    value, shape, port = source(item, 1), bench.sizes(source(item, 0)), 3 if item.type.startswith("Scatter") else 2
    indices, own = bench.array(value), bench.shape(value) or ()
    named: Iterable[Any] = (bench.elements(source(item, port)) or ()) if len(item.inputs) > port else (0,)
    if "ND" in item.type:
        named = range(number_of(item, "batch_dims"), own[-1] if own and isinstance(own[-1], int) else 0)
    size = next((shape[axis % len(shape)] for axis in named if isinstance(axis, int) and axis % len(shape) in axes), None)
    if size is not None and indices is not None and (indices > 0).any():
        bench.keep(f"{item!r} reads constant indices up to {indices.max()} from an axis of size {formula_text(size)}", size)
    elif size is not None and indices is None and isinstance(count := product(own), int) and count > 1 and bench.is_of_sizes(value):
        bench.keep(f"{item!r} takes {count} elements of {formula_text(size)}", size)


def _rows(bench: Bench, item: Item) -> None:
    """Refuse rows that stay where data and a run that was made again compute the indices: some would lie behind the last row."""
    table, indices, axes = source(item, 0), source(item, 1), bench.elements(source(item, 2)) or ()
    sizes = bench.sizes(table)
    rows = sizes[axes[0] % len(sizes)] if axes and isinstance(axes[0], int) else None
    if not isinstance(rows, int) or not is_open(bench.shape(indices)) or bench.is_of_sizes(indices):
        return
    if any(one.type == "Range" and one.base is None for one in reached([indices.item], _computing)):
        why = f"reads {table.item!r}, whose axis {axes[0]} has the size {rows} for all sizes, at indices that count the rows of all sizes"
        bench.refuse(why, holder(bench, [table], lambda one: one == rows))


def _pads(bench: Bench, item: Item, axes: Sequence[int]) -> None:
    """Pads of an open axis that may follow from its size; others are those of a window, or restore an earlier size."""
    begins, ends = bench.elements(source(item, 1)), bench.elements(source(item, 2))
    shape, recorded = bench.sizes(source(item, 0)), bench.recorded_sizes(source(item, 0)) or ()
    readers = [one for one, _ in bench.draft.readers_of(item)]
    for axis in axes:
        before, behind = (one[axis] if one and axis < len(one) else 0 for one in (begins, ends))
        if not isinstance(before, int) or not isinstance(behind, int):
            continue
        is_as_long = before != behind and axis < len(recorded) and max(before, behind) + 1 >= recorded[axis] > _LARGEST_STEP
        ways = pad_ways(bench, readers[0], axis, shape[axis], (before, behind)) if len(readers) == 1 else None
        ways = ways or (None if before else _filled(bench, shape[axis], behind))
        if is_as_long or (
            (before != behind if ways is None else _may_follow(bench, ways, (before, behind)))
            and not _is_restored(bench, shape[axis] + before + behind)
            and not _is_taken_off(bench, item, axis, before + behind)
        ):
            bench.keep(_PADDED.format(item, formula_text(shape[axis]), before, behind), shape[axis], ways=ways)


def _may_follow(bench: Bench, ways: Ways, pads: Sequence[int]) -> bool:
    """Whether pads may follow from a size: those that differ, and equal ones where a window of either export is padded by size."""
    if same(ways[0][0], ways[1][0]) or not any(pads):
        return False
    exports = [(bench, [*bench.draft.of_type("Pad", *WINDOWS)])]
    if bench.witness is not None:
        exports.append((bench.witness.bench, [*bench.witness.partners.values()]))
    return len({*pads}) > 1 or any(_is_padded_by_size(own, one) for own, items in exports for one in items)


def _is_padded_by_size(bench: Bench, item: Item) -> bool:
    """Whether a window that moves by several elements is padded as TensorFlow does it: automatically, or by more on one side."""
    windows = [one for one, _ in bench.draft.readers_of(item)] if item.type == "Pad" else [item]
    if len(windows) != 1 or windows[0].type not in WINDOWS or {*numbers_of(windows[0], "strides")} == {1}:
        return False
    if item.type == "Pad":
        return len({bench.elements(one) for one in item.inputs[1:3] if one is not None}) == 2
    is_automatic = item.attributes.get("auto_pad", "").startswith("same")
    return is_automatic or numbers_of(item, "pads_begin") != numbers_of(item, "pads_end")


def _filled(bench: Bench, size: Size, behind: int) -> Ways | None:
    """The sizes with these pads, and with pads that fill the axis to a multiple, which are as many here and in the other export."""
    was = [bench.at(size), *([] if bench.witness is None else [bench.witness.at(size)])]
    step = next((step for step in MULTIPLES if all(isinstance(one, int) and -one % step == behind for one in was)), 0)
    return ((size + behind,), ((size + step - 1) // step * step,)) if step else None


_PADDED: Final = "{!r} pads an axis of size {} with {} before and {} behind, which may follow from the size"


def _is_restored(bench: Bench, size: Size) -> bool:
    """Whether an axis before the layer has the same open size, so that the numbers which lead back to it undo others, such as pads."""
    return isinstance(size, Dim) and expression_of(size) in bench.notes.places


def _is_taken_off(bench: Bench, item: Item, axis: int, count: int) -> bool:
    """Whether slices, or windows that move by single elements, take off as many elements as a Pad adds, which keeps every size."""
    readers, block, is_direct = [one for one, _ in bench.draft.readers_of(item)], 1, True
    shape = bench.sizes(source(item, 0))
    while len(readers) == 1 and readers[0].type in ("SpaceToBatch", *_REORDERING):
        [one] = readers
        if one.type == "SpaceToBatch":
            block *= max((size for size in bench.elements(source(one, 1)) or () if isinstance(size, int)), default=1)
        readers, is_direct = [reader for reader, _ in bench.draft.readers_of(one)], False

    def takes(one: Item) -> bool:
        if "Slice" in one.type:
            return any(same(size, shape[axis]) for size in bench.shape(one.outputs[0]) or ())
        strides, own = numbers_of(one, "strides"), [*numbers_of(one, "pads_begin"), *numbers_of(one, "pads_end")]
        if one.type not in WINDOWS or {*strides} != {1} or any(own) or one.attributes.get("auto_pad", "").startswith("same"):
            return False
        taken = [(extent - 1) * block for extent in extents(bench, one)]
        return count in (taken[axis - 2 : axis - 1] if is_direct else taken)

    return bool(readers) and all(map(takes, readers))


def _recorded(what: str, largest_own: int = 1) -> Callable[[Bench, Item, Sequence[int]], None]:
    """The watch over the numbers at input 1 that are the recorded number of an open size; `what` says what the layer does with one.

    Numbers up to `largest_own` are taken for the layer's own. Where the data hold the batch, no number is that of a batch.
    """

    def watched(bench: Bench, item: Item, axes: Sequence[int]) -> None:
        of_batch = not any(map(bench.holds_batch, bench.sizes(source(item, 0))))
        for one in bench.elements(source(item, 1)) or ():
            if (sizes := recorded_as(bench, one, of_batch=of_batch)) and one > largest_own:
                bench.keep(f"{item!r} {what.format(one)}, as many as an open size had", *sizes)

    return watched


def _repeated(bench: Bench, item: Item) -> None:
    """The recorded number of an open size to which an axis of data is repeated, which no later layer need notice."""
    data, shape = source(item, 0), bench.shape(item.outputs[0]) or ()
    own = (1,) * (len(shape) - len(bench.sizes(data))) + tuple(bench.sizes(data))
    for axis, (before, size) in enumerate(zip(own, shape, strict=False)):
        is_large = isinstance(size, int) and size > _LARGEST_STEP  # groups of heads are few
        sizes = recorded_as(bench, size, of_batch=False) if before == 1 and is_large and not bench.is_of_sizes(data) else []
        if sizes:
            bench.keep(f"{item!r} gives the size {size} on axis {axis}, as many elements as an open size had", *sizes)


def _spread(bench: Bench, item: Item) -> None:
    """A constant with as many evenly spaced or equal numbers as an open size, along an axis that no other input has."""
    for value in item.inputs:
        array = bench.array(value) if value is not None else None
        if array is None:
            continue
        others = [bench.shape(one) or () for one in item.inputs if one is not None and one is not value]
        for axis in range(-array.ndim, 0):
            count = array.shape[axis]
            sizes = recorded_as(bench, count, of_batch=False) if count > _LARGEST_STEP else []
            if sizes and others and all(-axis > len(one) or one[axis] == 1 for one in others) and _is_regular(array, axis):
                place = max(map(len, (array.shape, *others))) + axis
                bench.keep(f"{item!r} gives the size {count} on axis {place}, as many elements as an open size had", *sizes)


def _is_regular(array: Any, axis: int) -> bool:
    """Whether numbers are evenly spaced along an axis, or all the same."""
    if array.dtype.kind not in "iuf":
        return False
    rows = array.swapaxes(0, axis).astype(float)
    steps = rows[1:] - rows[:-1]
    return len(steps) > 1 and bool(abs(steps[1:] - steps[:-1]).max() <= _UNEVEN * abs(steps).max())


def _scattered(bench: Bench, item: Item) -> None:
    """Data of an open size that go into as many rows as recorded, or into some for each sample of the file, which no input gives."""
    data, others = source(item, 0), [bench.shape(value) or () for value in item.inputs[1:] if value is not None]
    shape, counts = bench.shape(data) or (), [count for count in bench.numbers.values() if count > 1]
    are_open = not is_open(shape) and any(map(is_open, others))
    for axis, size in enumerate(shape if bench.is_of_sizes(data) else ()):
        is_beside = any(len(one) == len(shape) and isinstance(one[axis], Dim) for one in others)  # an open axis of the updates
        sizes = recorded_as(bench, size) if are_open or is_beside else []
        if sizes or (are_open and axis == 0 and isinstance(size, int) and any(size % count == 0 for count in counts)):
            count = "as many as" if sizes else "a multiple of"
            bench.keep(f"{item!r} updates {size} rows of axis {axis}, {count} an open size recorded", *sizes)


def _largest(bench: Bench, item: Item, axes: Sequence[int]) -> None:
    """The number of elements that a TopK takes of an open axis."""
    count, shape = bench.elements(source(item, 1)), bench.sizes(source(item, 0))
    axis = number_of(item) % len(shape)
    if axis in axes and count and isinstance(count[0], int) and count[0] > 1:
        bench.keep(f"{item!r} takes {count[0]} elements of an axis of size {formula_text(shape[axis])}", shape[axis])


def _window(bench: Bench, item: Item, axes: Sequence[int]) -> None:
    """A window that covers a whole open axis, pads as long as it is, or a pool that divides it into few parts, as AdaptiveAvgPool does."""
    data, out = bench.recorded_sizes(source(item, 0)), bench.recorded_sizes(item.outputs[0])
    shape, now, steps = bench.sizes(source(item, 0)), bench.shape(item.outputs[0]), numbers_of(item, "strides")
    for axis in axes:
        if not (data and out and now and axis > 1 and data[axis] >= _LARGEST_STEP and bench.is_open(now[axis])):
            continue
        extent = max(extents(bench, item)[axis - 2 : axis - 1], default=1)
        told = f"axis of size {formula_text(shape[axis])}, which is {data[axis]} in the file"
        if out[axis] == 1 and extent >= data[axis]:
            bench.keep(f"the window of {item!r} covers a whole {told}", shape[axis])
        is_explicit = not item.attributes.get("auto_pad", "").startswith(("same", "valid"))
        pads = [one for name in ("pads_begin", "pads_end") for one in numbers_of(item, name)[axis - 2 : axis - 1] if is_explicit]
        is_uneven = len({*pads}) == 2
        ways = pad_ways(bench, item, axis, shape[axis], pads)
        may_follow = _may_follow(bench, ways, pads) if ways else is_uneven and not same(now[axis], shape[axis])
        if may_follow or (is_uneven and max(pads) + 1 == data[axis] > _LARGEST_STEP):
            bench.keep(_PADDED.format(item, formula_text(shape[axis]), *pads), shape[axis], ways=ways)
        is_floor = item.attributes.get("rounding_type") == "floor"  # as pools have it, and convolutions do not
        is_apart = is_floor and steps[axis - 2 : axis - 1] == [extent] and data[axis] == extent * out[axis]
        is_large = extent >= _LEAST_AVERAGE if item.type == "AvgPool" else _LARGEST_STEP < extent >= out[axis]
        if is_apart and is_large and out[axis] > 1:
            bench.keep(f"{item!r} divides an {told}, into {out[axis]} windows of {extent}", shape[axis])


def _index(bench: Bench, item: Item) -> None:
    """A recorded size with which a layer computes an index: the width by which a place is divided, the offset of a row, the last index."""
    values = [value for value in item.inputs if value is not None]
    if not any(_is_integer(bench, value) and not bench.is_of_sizes(value) for value in values):
        return
    sizes = reached([value.item for value in values if bench.is_of_sizes(value)], _computing)
    arrays = [array for one in sizes if (array := bench.array(one.outputs[0])) is not None and array.size <= _FEW]
    for number in sorted({abs(number) for array in arrays for number in array.reshape(-1).tolist()}):
        if number > _LARGEST_STEP and (near := _recorded_near(bench, number)):
            bench.keep(f"{item!r} computes an index with the constant {number:g}, which may follow from a recorded size", *near)
            return


def _computing(item: Item) -> list[Item]:
    """The layers whose elements a layer computes with, or moves."""
    producers = item.producers
    return producers if item.type in _ARITHMETIC else producers[:1] if item.type in (*_MOVING, "Convert") else []


def _recorded_near(bench: Bench, number: float) -> list[Dim]:
    """The open sizes whose recorded number this is, or one less, the last index."""
    return [size for more in (0, 1) if number % 1 == 0 for size in recorded_as(bench, int(number) + more, of_batch=False)]


def _is_integer(bench: Bench, value: Value) -> bool:
    """Whether a tensor has integers, or real numbers that a Convert makes of some."""
    before = value.item.inputs[0] if value.item.type == "Convert" else None
    return bench.draft.facts.of(value).element_type in INTEGER or (before is not None and _is_integer(bench, before))


def _clamp(bench: Bench, item: Item) -> None:
    """A recorded size, or the last index, as the largest number that a Clamp lets pass, as for places in an image."""
    largest = read_float(item.attributes.get("max", "0"))[0]
    if largest > _OF_RELU6 and (near := _recorded_near(bench, largest)):
        bench.keep(f"{item!r} lets no number above {largest:g} pass, which may follow from a recorded size", *near)


def _shifts(bench: Bench, item: Item, axes: Sequence[int]) -> None:
    """Half of an open axis by which a Roll moves it, as a Fourier transform is centred, or a smaller part.

    Windows of a few patches move several axes by the same number, which may happen to be a smaller part.
    """
    shape, recorded = bench.sizes(source(item, 0)), bench.recorded_sizes(source(item, 0)) or ()
    named = bench.elements(source(item, 2)) or ()
    shifts = bench.elements(source(item, 1)) or ()
    for shift, axis in zip(shifts, named, strict=False):
        if isinstance(shift, int) and isinstance(axis, int) and axis % len(shape) in axes and recorded:
            size, was = formula_text(shape[axis % len(shape)]), recorded[axis % len(shape)]
            part = {was - 1: "one less than", **_fractions(was)}.get(abs(shift)) if abs(shift) > 1 else None
            if part == "half of" or (part and (len(named) == 1 or len({*shifts}) > 1)):
                bench.keep(f"{item!r} moves an axis of size {size} by {shift}, {part} the recorded {was}", shape[axis % len(shape)])


def _fractions(size: int) -> dict[int, str]:
    """The numbers that a half, a third or a quarter of a size may be, with these words."""
    words = {3: "a third of", 4: "a quarter of", 2: "half of"}
    return {(size + more) // count: word for count, word in words.items() for more in (0, count - 1)}


def _limited(bench: Bench, item: Item) -> None:
    """A size that a constant with the recorded size bounds, such as `max(B, 2)`, as torch.export leaves an expansion."""
    if item.type not in ("Maximum", "Minimum") or not bench.is_of_sizes(item.outputs[0]):
        return
    found, *given = [bench.elements(value) or () for value in (item.outputs[0], *item.inputs) if value is not None]
    for sizes, numbers in (given, given[::-1]):
        for size, number, now in zip(sizes, numbers, found, strict=False):
            if isinstance(size, Dim) and isinstance(number, int) and number > 1 and bench.at(size) == number and not same(now, size):
                bench.keep(f"{item!r} bounds the size {formula_text(size)} by the constant {number}, which is this size in the file")
                return


def _mean(bench: Bench, item: Item) -> None:
    """A sum over an open axis that is divided by the recorded number of its elements."""
    for value, other in ((item.inputs[0], item.inputs[1]), (item.inputs[1], item.inputs[0])) if item.type in SCALING else ():
        if value is None or other is None or value.item.type not in _SUMS or None in (*value.item.inputs, None)[:2]:
            continue
        array, data = bench.array(other), source(value.item, 0)
        sizes, recorded = bench.shape(data) or (), bench.recorded_sizes(data)
        if array is None or array.size != 1 or not recorded:
            continue
        left = [formula_text(size) for size in bench.shape(value) or ()]
        axes: Iterable[Any] = [axis for axis, size in enumerate(sizes) if bench.is_open(size) and formula_text(size) not in left]
        if value.item.type == "ReduceSum":
            axes = bench.elements(source(value.item, 1)) or ()
        elif value.item.type == "MatMul":
            axes = [-2 if is_true(value.item, "transpose_a") and len(recorded) > 1 else -1]
        named = [axis % len(recorded) for axis in axes if isinstance(axis, int)]
        count = prod([recorded[axis] for axis in named])
        number = float(array.reshape(-1)[0])
        is_open = any(bench.is_open(sizes[axis]) for axis in named)
        whole = max(abs(number), 1 / abs(number)) / count if is_open and number and count else 0.0
        is_count = isclose(whole, round(whole), rel_tol=1e-4) and round(whole) and prod(recorded) // count % round(whole) == 0
        if is_count or (whole and isclose(whole * count, count - 1)):  # perhaps of the channels, too, as C*H*W; or all but one
            does = "multiplies" if item.type == "Multiply" else "divides"
            bench.keep(f"{item!r} {does} a sum over {count} elements by the constant {number:g}", *[sizes[axis] for axis in named])


def _scale(bench: Bench, item: Item) -> None:
    """A constant of a few recorded sizes of the inputs, such as width and height, by which coordinates are divided or multiplied."""
    for value in item.inputs if item.type in SCALING else ():
        is_small = value is not None and 1 < product(bench.recorded_sizes(value) or ()) <= _MOST_SCALES
        if is_small and bench.constant_of(value) is not None and (numbers := _scales(bench, value, _of_inputs(bench))):
            bench.keep(f"{item!r} scales by the constant {numbers}, {OF_SIZES} the inputs")


def _number(bench: Bench, item: Item) -> None:
    """A number that is the logarithm or the root of an open recorded size, or 1 divided by one of these, and that no fixed size explains.

    A size n itself counts only as a divisor, also in n * (n - 1), which counts pairs, and in n / (n - 1), the correction of a variance, but
    the product of two sizes does. A whole root does not count: strides are often as large.
    """
    for value in item.inputs:
        array = None if value is None or bench.constant_of(value) is None else bench.array(value)
        if value is None or array is None or array.size != 1 or array.dtype.kind != "f" or not (number := abs(float(array.reshape(-1)[0]))):
            continue
        before = [one for other in item.inputs if other is not None for one in (other, *other.item.inputs) if one is not None]
        near = [size for one in before for size in bench.shape(one) or () if bench.is_open(size)]
        sizes = (*filter(bench.is_open, _of_inputs(bench)), *near)
        known = {size: was for size in sizes if isinstance(was := bench.at(size), int) and was > _LARGEST_STEP}
        single = {*known.values()}
        near_by = item.inputs[:1] if item.type == ATTENTION else before  # the size of a head, and of all heads together
        fixed = [size for one in near_by for size in (one and bench.shape(one)) or () if isinstance(size, int) and size]
        fixed += [prod(fixed)] if item.type == ATTENTION else []
        factor = 1 / number if item.type == "Divide" else number
        for was in single | {one * other for one in single for other in single}:
            forms = [log(was), 1 / log(was), log1p(was), 1 / log1p(was)]
            if item.type in (*SCALING, ATTENTION) and not any(size % was == 0 for size in fixed):
                less = [sqrt(was - 1)] if not any(size % (was - 1) == 0 for size in fixed) else []
                roots = [root for root in (sqrt(was), *less) if root % 1]
                forms += [1 / was, 1 / sqrt(was), was / (was - 1), 1 / (was * (was - 1)), *roots, *[1 / root for root in less]]
                forms += [1 / (was - 1)] if item.type == "Multiply" else []  # what a sum is divided by, `_mean` tells
                forms += [was] if was not in single else []
            if any(isclose(factor, form, rel_tol=1e-6) for form in forms):
                made_of = [size for size, one in known.items() if was % one == 0]
                bench.keep(f"{item!r} computes with the number {array.reshape(-1)[0]:g}, {OF_SIZES} the inputs", *made_of)
                return


def _of_inputs(bench: Bench) -> list[Size]:
    """The sizes of the inputs of the model."""
    return [size for item in bench.draft.of_type("Parameter") for size in bench.shape(item.outputs[0]) or ()]


def _scales(bench: Bench, value: Value | None, sizes: Sequence[Size]) -> str:
    """The elements of a small constant that follow from recorded sizes, some of open axes."""
    is_large = value is None or product(bench.recorded_sizes(value) or ()) > _MOST_SCALES
    return scales(bench, None if value is None or is_large else bench.array(value), sizes)


def _places(bench: Bench, item: Item, axes: Sequence[int]) -> None:
    """Constants that scale the places of a GridSample by the recorded sizes of the image that it samples, and a grid that stays."""
    grid, image = bench.recorded_sizes(source(item, 1)), bench.recorded_sizes(source(item, 0))
    has_image_sizes = grid and image and grid[1:-1] == image[2:]  # as the grid that a spatial transformer moves
    if has_image_sizes or bench.is_of_sizes(source(item, 1)):
        _closed(bench, item, axes)
    sizes = bench.sizes(source(item, 0))[2:]
    pending, seen = [source(item, 1).item], set[Item]()
    while pending:
        one = pending.pop()
        if one in seen or not (is_elementwise(one) or one.type in _MOVING):
            continue
        seen.add(one)
        pending += [value.item for value in one.inputs if value is not None]
        for value in one.inputs if one.type in SCALING else ():
            if (numbers := _scales(bench, value, sizes)) and not any(repr(one) in doubt.what for doubt in bench.notes.kept):
                bench.keep(f"{one!r} scales places by the constant {numbers}, {OF_SIZES} the image that {item!r} samples", *sizes)


_MOVING: Final = ("Concat", "Transpose", "Reshape", "Squeeze", "Unsqueeze", "Broadcast", "Slice", "Split", "VariadicSplit", "Gather")


_WATCHES: Final[dict[str, Callable[[Bench, Item, Sequence[int]], None]]] = {
    **dict.fromkeys(("Slice", "StridedSlice"), _limits),
    **dict.fromkeys(("Gather", "GatherND", "ScatterNDUpdate", "ScatterUpdate", "ScatterElementsUpdate"), _indices),
    "Pad": _pads,
    "Tile": _recorded("repeats an axis {} times", _LARGEST_STEP),  # groups of heads, or the halves of a rotary table, are few
    "OneHot": _recorded("has the depth {}"),
    "TopK": _largest,
    "Roll": _shifts,
    "GridSample": _places,
    **dict.fromkeys(("Reshape", "Broadcast"), lambda bench, item, axes: None),
}


def numbers_read(bench: Bench, item: Item) -> Read:
    """What a layer states, and the numbers and formulas that it reads: of a large constant the shape.

    The pattern of a Reshape is left out, as 0 and -1 say the same as numbers: the shapes of its output are compared.
    """
    read: list[object] = []
    for port, value in enumerate(item.inputs if item.type != "Reshape" else item.inputs[:1]):
        elements, array = (None, None) if value is None else (bench.elements(value) if port else None, bench.array(value))
        if array is not None:  # of which a rule may follow the elements in one export only
            elements = array.shape if array.size > _FEW else tuple(array.reshape(-1).tolist())
        read.append(elements)
    return sorted(stated_by(item).items()), read


def stated_by(item: Item) -> dict[str, str]:
    """The attributes of a layer without `special_zero`, which exporters set as the pattern needs it, and the seed that each one draws."""
    return {name: text for name, text in item.attributes.items() if name not in ("special_zero", "op_seed")}


def has_formulas(read: Read) -> bool:
    """Whether a layer reads a formula."""
    return any(isinstance(one, tuple) and is_open(one) for one in read[1])


def have_others(item: Item, here: Read, there: Read) -> bool:
    """Whether numbers that a mend has left beside others differ from those of the partner; -1 is what is left, a huge number the end."""
    for value, one, other in zip(item.inputs, here[1], there[1], strict=False):
        is_mended = value is not None and value.item.base is None and isinstance(one, tuple) and isinstance(other, tuple)
        for own, number in zip(one, other, strict=False) if is_mended else ():  # type: ignore[call-overload]
            if isinstance(own, int) and isinstance(number, int) and own != number and 0 <= min(own, number) <= max(own, number) < _HUGE:
                return True
    return False


def constants_read(bench: Bench, item: Item) -> dict[int, Elements]:
    """The shape and the elements of each constant of the file that a layer computes with, by the port: of many floats a sample."""
    stored = [(port, value) for port, value in enumerate(item.inputs) if value is not None and value.item.base is not None]
    arrays = [(port, array) for port, value in stored if (array := bench.array(value)) is not None]
    return {
        port: (array.shape, array.reshape(-1)[:: max(1, array.size // _FEW)].tolist())
        for port, array in arrays
        if array.dtype.kind == "f" or (array.size <= _FEW and is_elementwise(item))
    }


def are_others(own: Mapping[int, Elements], others: Mapping[int, Elements]) -> bool:
    """Whether some constants differ from those in another export. Large ones of another shape do not count, because a mend makes them."""
    both = [(one, others.get(port, one)) for port, one in own.items()]
    return any(one != other and (one[0] == other[0] or prod(one[0]) <= _FEW) for one, other in both)


def is_open(shape: Sequence[Size] | None) -> bool:
    """Whether a shape has a size that is no number."""
    return shape is None or any(isinstance(size, Dim) for size in shape)
