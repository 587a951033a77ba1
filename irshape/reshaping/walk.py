"""One walk over a draft whose inputs have the sizes that are asked for: each layer is mended, checked, and its axes are traced.

A layer that cannot be mended sends the walk back to the last choice. The error that is told is that of the layer that was reached furthest
with the fewest formulas cut.
Numbers that stay although the axis that they close or cut is open are written down: no layer need ever notice that one was baked in. They
are those that a layer reads from a constant at a port whose elements its rule reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import isclose, prod
from typing import Any, Final, NamedTuple, TypeVar

from irshape.answers.batch.traces import chosen
from irshape.editing.state import EditError, Item, Value
from irshape.inference.inputs import UNNAMED
from irshape.model.model import SINKS, reached
from irshape.ops.attribute import read_float
from irshape.ops.flow import Factor
from irshape.report.catalogue import is_fault
from irshape.reshaping.bench import (
    AXES,
    CONSTANTS,
    AxisFormula,
    BatchMixed,
    Bench,
    Doubt,
    Refusal,
    holder,
    is_recorded,
    listed,
    number_of,
    numbers_of,
    sized,
    source,
    where_of,
)  # fmt: skip
from irshape.reshaping.sizes import HANDLERS, part
from irshape.reshaping.stretching import follow, is_elementwise
from irshape.shape.dim import Dim, Size, evaluate, expression_of, formula_text, product, symbols
from irshape.shape.element_type import INTEGER
from irshape.shape.guard import Requirement

# Ports whose numbers a handler has mended, or that number axes.
_NAMES: Final = AXES | {"pattern", "shape", "target_shape"}
# A window that covers so many elements is a whole axis, and no small step.
_LARGEST_STEP: Final = 4
# Of a constant of more elements, only the shape is compared with that in another export.
_FEW: Final = 64
# A constant of at most so many elements may hold the sizes of an image, as the ends of a box have them.
_MOST_SCALES: Final = 4
_SUMS: Final = ("ReduceSum", "MatMul", "Einsum")
_SCALING: Final = ("Divide", "Multiply")
_ARITHMETIC: Final = (*_SCALING, "Add", "Subtract", "Mod", "FloorMod", "Minimum", "Maximum")
# The largest number that ReLU6 lets pass, whatever the size is.
_OF_RELU6: Final = 6
# Layers that may stand between a Pad and the window for which it pads.
_REORDERING: Final = ("Convert", "Reshape", "Transpose", "Unsqueeze")
_WINDOWS: Final = ("AvgPool", "MaxPool", "Convolution", "GroupConvolution")


def watch(bench: Bench) -> None:
    """Write down the numbers of the layer that is visited which stay although an axis of its data is open."""
    item = bench.item
    data = item.inputs[0] if item.inputs else None
    shape = None if data is None else bench.shape(data)
    if data is None or shape is None:
        return
    axes = [axis for axis, size in enumerate(shape) if bench.is_open(size)]
    if item.type in _ARITHMETIC:
        known = len(bench.notes.kept)
        _mean(bench, item)
        _scale(bench, item)
        if len(bench.notes.kept) == known:
            _index(bench, item)
    elif item.type == "Clamp":
        _clamp(bench, item)
    elif not axes:
        _scattered(bench, item)
        if item.type == "Tile" and bench.is_of_sizes(data):
            _WATCHES["Tile"](bench, item, axes)
    elif item.type in _WINDOWS:
        _window(bench, item, axes)
    else:
        _WATCHES.get(item.type, _closed)(bench, item, axes)


def _closed(bench: Bench, item: Item, axes: Iterable[int]) -> None:
    """Axes that are open before the layer and a number behind it, if the layer reads numbers, or a grid."""
    ports = [port for port in range(1, len(item.inputs)) if item.type == "GridSample" or _reads_number(bench, item, port)]
    shape = bench.sizes(item.inputs[0]) if ports and item.inputs[0] is not None else ()
    for value in item.outputs if ports else ():
        own = bench.shape(value) or ()
        for axis in axes:
            size = own[axis] if axis < len(own) and len(own) == len(shape) else 1
            if isinstance(size, int) and size > 1:
                bench.keep(f"{item!r} gives the size {size} on axis {axis}, whatever {formula_text(shape[axis])} is")


def _reads_number(bench: Bench, item: Item, port: int, others: Collection[str] = _NAMES) -> bool:
    """Whether a layer reads numbers from a constant at a port that has none of the names of `others`."""
    declared = None if item.op_class is None else item.op_class.input_at(port, len(item.inputs))
    value = item.inputs[port]
    return declared is not None and declared.value and declared.name not in others and bench.constant_of(value) is not None


def _limits(bench: Bench, item: Item, axes: Sequence[int]) -> None:
    """Begins and ends of slices that are numbers within an open axis, unless an earlier size is left of it."""
    shape, recorded = bench.sizes(source(item, 0)), bench.recorded_sizes(source(item, 0))
    left = bench.shape(item.outputs[0]) or ()
    begins, ends = bench.elements(source(item, 1)), bench.elements(source(item, 2))
    own = bench.elements(source(item, 4)) if item.type == "Slice" and len(item.inputs) > 4 else None
    named = own or range(len(begins or ends or ()))
    is_ended = [mark == "1" for mark in item.attributes.get("end_mask", "").replace(" ", "").split(",")]
    for at, axis in enumerate(named):
        if axis % len(shape) not in axes or recorded is None or (len(left) == len(shape) and _is_restored(bench, left[axis % len(shape)])):
            continue
        size, was = formula_text(shape[axis % len(shape)]), recorded[axis % len(shape)]
        begin, end = (one[at] if one and at < len(one) else None for one in (begins, ends))
        if isinstance(begin, int) and begin > 0 and (begin > 1 or was == 2):
            bench.keep(f"{item!r} begins at index {begin} of an axis of size {size}, which is {was} in the file")
        is_open = item.type == "StridedSlice" and at < len(is_ended) and is_ended[at]
        if isinstance(end, int) and not is_open and 1 < end < was:
            bench.keep(f"{item!r} ends at index {end} of an axis of size {size}, which is {was} in the file")
        if isinstance(end, int) and not is_open and -was < end < -1:
            bench.keep(f"{item!r} ends {-end} elements before the end of an axis of size {size}")


def _indices(bench: Bench, item: Item, axes: Sequence[int]) -> None:
    """Indices into an open axis that are constant, or as many for all sizes although no input gives them."""
    value, shape, port = source(item, 1), bench.sizes(source(item, 0)), 3 if item.type.startswith("Scatter") else 2
    indices, own = bench.array(value), bench.shape(value) or ()
    named: Iterable[Any] = (bench.elements(source(item, port)) or ()) if len(item.inputs) > port else (0,)
    if "ND" in item.type:
        named = range(number_of(item, "batch_dims"), own[-1] if own and isinstance(own[-1], int) else 0)
    size = next((formula_text(shape[axis % len(shape)]) for axis in named if isinstance(axis, int) and axis % len(shape) in axes), None)
    if size and indices is not None and (indices > 0).any():
        bench.keep(f"{item!r} reads constant indices up to {indices.max()} from an axis of size {size}")
    elif size and indices is None and isinstance(count := product(own), int) and count > 1 and bench.is_of_sizes(value):
        bench.keep(f"{item!r} takes {count} elements of {size}")


def _pads(bench: Bench, item: Item, axes: Sequence[int]) -> None:
    """Pads of an open axis that differ before and behind it; equal ones are those of a window, and others may restore an earlier size."""
    begins, ends = bench.elements(source(item, 1)), bench.elements(source(item, 2))
    shape = bench.sizes(source(item, 0))
    for axis in axes:
        before, behind = (one[axis] if one and axis < len(one) else 0 for one in (begins, ends))
        is_uneven = isinstance(before, int) and isinstance(behind, int) and before != behind
        if is_uneven and not _is_restored(bench, shape[axis] + before + behind) and not _is_taken_off(bench, item, axis, before + behind):
            size = formula_text(shape[axis])
            bench.keep(f"{item!r} pads an axis of size {size} with {before} before and {behind} behind, which may follow from the size")


def _is_restored(bench: Bench, size: Size) -> bool:
    """Whether an axis before the layer has the same open size: then a number that leads to it belongs to another one, as that of a pad."""
    return isinstance(size, Dim) and expression_of(size) in bench.notes.places


def _is_taken_off(bench: Bench, item: Item, axis: int, count: int) -> bool:
    """Whether windows that move by single elements take off as many elements as a Pad adds, which keeps every size."""
    readers, block, is_direct = [one for one, _ in bench.draft.readers_of(item)], 1, True
    while len(readers) == 1 and readers[0].type in ("SpaceToBatch", *_REORDERING):
        [one] = readers
        if one.type == "SpaceToBatch":
            block *= max((size for size in bench.elements(source(one, 1)) or () if isinstance(size, int)), default=1)
        readers, is_direct = [reader for reader, _ in bench.draft.readers_of(one)], False

    def takes(one: Item) -> bool:
        strides, own = numbers_of(one, "strides"), [*numbers_of(one, "pads_begin"), *numbers_of(one, "pads_end")]
        if one.type not in _WINDOWS or {*strides} != {1} or any(own) or one.attributes.get("auto_pad", "").startswith("same"):
            return False
        dilations = numbers_of(one, "dilations") or strides
        taken = [(size - 1) * step * block for size, step in zip(_extents(bench, one), dilations, strict=False)]
        return count in (taken[axis - 2 : axis - 1] if is_direct else taken)

    return bool(readers) and all(map(takes, readers))


def _recorded(what: str, largest_own: int = 1) -> Callable[[Bench, Item, Sequence[int]], None]:
    """The watch over the numbers at input 1 that are the recorded number of an open size; `what` says what the layer does with one.

    Numbers up to `largest_own` are taken for the layer's own.
    """

    def watched(bench: Bench, item: Item, axes: Sequence[int]) -> None:
        for one in bench.elements(source(item, 1)) or ():
            if is_recorded(bench, one) and one > largest_own:
                bench.keep(f"{item!r} {what.format(one)}")

    return watched


def _scattered(bench: Bench, item: Item) -> None:
    """Data of an open size that go into as many rows as recorded, or into some for each sample of the file, which no input gives."""
    data, others = source(item, 0), [value for value in item.inputs[1:] if value is not None and item.type.startswith("Scatter")]
    are_open = not _is_open(bench.shape(data)) and any(_is_open(bench.shape(value)) for value in others)
    counts = [count for count in bench.numbers.values() if count > 1]
    for axis, size in enumerate(bench.shape(data) or () if are_open and bench.is_of_sizes(data) else ()):
        if is_recorded(bench, size) or (axis == 0 and isinstance(size, int) and any(size % count == 0 for count in counts)):
            count = "as many as" if is_recorded(bench, size) else "a multiple of"
            bench.keep(f"{item!r} updates {size} rows of axis {axis}, {count} an open size recorded")


def _largest(bench: Bench, item: Item, axes: Sequence[int]) -> None:
    """The number of elements that a TopK takes of an open axis."""
    count, shape = bench.elements(source(item, 1)), bench.sizes(source(item, 0))
    axis = number_of(item) % len(shape)
    if axis in axes and count and isinstance(count[0], int) and count[0] > 1:
        bench.keep(f"{item!r} takes {count[0]} elements of an axis of size {formula_text(shape[axis])}")


def _window(bench: Bench, item: Item, axes: Sequence[int]) -> None:
    """A window that covers a whole open axis."""
    data, out = bench.recorded_sizes(source(item, 0)), bench.recorded_sizes(item.outputs[0])
    shape, now = bench.sizes(source(item, 0)), bench.shape(item.outputs[0])
    for axis in axes:
        is_one = data and out and now and axis > 1 and data[axis] >= _LARGEST_STEP and out[axis] == 1 and bench.is_open(now[axis])
        if data and is_one and max(_extents(bench, item)[axis - 2 : axis - 1], default=1) >= data[axis]:
            bench.keep(f"the window of {item!r} covers a whole axis of size {formula_text(shape[axis])}, which is {data[axis]} in the file")


def _extents(bench: Bench, item: Item) -> Sequence[int]:
    """The sizes of a window along its axes."""
    return numbers_of(item, "kernel") or (bench.recorded_sizes(source(item, 1)) or ())[-len(numbers_of(item, "strides")) :]


def _index(bench: Bench, item: Item) -> None:
    """A recorded size with which a layer computes an index: the width by which a place is divided, the offset of a row, the last index."""
    values = [value for value in item.inputs if value is not None]
    if not any(_is_integer(bench, value) and not bench.is_of_sizes(value) for value in values):
        return
    arrays = [array for value in values if (array := bench.array(value)) is not None and array.size <= _FEW]
    for number in sorted({abs(number) for array in arrays for number in array.reshape(-1).tolist()}):
        if number > _LARGEST_STEP and _is_near_recorded(bench, number):
            bench.keep(f"{item!r} computes an index with the constant {number:g}, which follows from a recorded size")
            return


def _is_near_recorded(bench: Bench, number: float) -> bool:
    """Whether a number is an open size as recorded, or one less, the last index."""
    return number % 1 == 0 and any(is_recorded(bench, int(number) + more, of_batch=False) for more in (0, 1))


def _is_integer(bench: Bench, value: Value) -> bool:
    """Whether a tensor has integers, or real numbers that a Convert makes of some."""
    before = value.item.inputs[0] if value.item.type == "Convert" else None
    return bench.draft.facts.of(value).element_type in INTEGER or (before is not None and _is_integer(bench, before))


def _clamp(bench: Bench, item: Item) -> None:
    """A recorded size, or the last index, as the largest number that a Clamp lets pass, as for places in an image."""
    largest = read_float(item.attributes.get("max", "0"))[0]
    if largest > _OF_RELU6 and _is_near_recorded(bench, largest):
        bench.keep(f"{item!r} lets no number above {largest:g} pass, which follows from a recorded size")


def _shifts(bench: Bench, item: Item, axes: Sequence[int]) -> None:
    """Half of an open axis by which a Roll moves it, as a Fourier transform is centred."""
    shape, recorded = bench.sizes(source(item, 0)), bench.recorded_sizes(source(item, 0)) or ()
    for shift, axis in zip(bench.elements(source(item, 1)) or (), bench.elements(source(item, 2)) or (), strict=False):
        if isinstance(shift, int) and isinstance(axis, int) and axis % len(shape) in axes and recorded:
            size, was = formula_text(shape[axis % len(shape)]), recorded[axis % len(shape)]
            if was > _LARGEST_STEP and abs(2 * abs(shift) - was) <= 1:
                bench.keep(f"{item!r} moves an axis of size {size} by {shift}, half of the recorded {was}")


def _mean(bench: Bench, item: Item) -> None:
    """A sum over an open axis that is divided by the recorded number of its elements."""
    for value, other in ((item.inputs[0], item.inputs[1]), (item.inputs[1], item.inputs[0])) if item.type in _SCALING else ():
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
        named = [axis % len(recorded) for axis in axes if isinstance(axis, int)]
        count = prod([recorded[axis] for axis in named])
        number = float(array.reshape(-1)[0])
        is_open = any(bench.is_open(sizes[axis]) for axis in named)
        if is_open and number and min(abs(number - count), abs(1 / number - count)) < count * 1e-4:
            bench.keep(f"{item!r} divides a sum over {count} elements by the constant {number:g}")


def _scale(bench: Bench, item: Item) -> None:
    """A constant of a few recorded sizes of the inputs, such as width and height, by which coordinates are divided or multiplied."""
    for value in item.inputs if item.type in _SCALING else ():
        if value is not None and 1 < product(bench.recorded_sizes(value) or ()) <= _MOST_SCALES and bench.constant_of(value) is not None:
            inputs = [bench.shape(node.outputs[0]) or () for node in bench.draft.of_type("Parameter")]
            if numbers := _scales(bench, value, [size for shape in inputs for size in shape]):
                bench.keep(f"{item!r} scales by the constant {numbers}, {_OF_SIZES} the inputs")


_OF_SIZES: Final = "which follows from recorded sizes of"


def _scales(bench: Bench, value: Value | None, sizes: Sequence[Size]) -> str:
    """The elements of a small constant, if all are open recorded sizes, one less, half of either, or one divided by such numbers."""
    array = None if value is None or product(bench.recorded_sizes(value) or ()) > _MOST_SCALES else bench.array(value)
    known = {was for size in sizes if bench.is_open(size) and isinstance(was := bench.at(size), int) and was > _LARGEST_STEP}
    numbers = [] if array is None else array.reshape(-1).tolist()
    forms = [[((n - less) / part) ** power for n in known] for less in (0, 1) for part in (1, 2) for power in (1, -1)]
    is_made = any(all(any(isclose(one, other, rel_tol=1e-6) for other in form) for one in numbers) for form in forms)
    return f"[{', '.join([f'{one:g}' for one in numbers])}]" if is_made and numbers else ""


def _places(bench: Bench, item: Item, axes: Sequence[int]) -> None:
    """Constants that scale the places of a GridSample by the recorded sizes of the image that it samples, and a grid that stays."""
    grid, image = bench.recorded_sizes(source(item, 1)), bench.recorded_sizes(source(item, 0))
    has_image_sizes = grid and image and grid[1:-1] == image[2:]  # as the grid that a spatial transformer moves
    if has_image_sizes or bench.is_of_sizes(source(item, 1)):
        _closed(bench, item, axes)
    sizes = [size for axis, size in enumerate(bench.sizes(source(item, 0))) if axis in axes and axis > 1]
    pending, seen = [source(item, 1).item], set[Item]()
    while pending:
        one = pending.pop()
        if one in seen or not (is_elementwise(one) or one.type in _MOVING):
            continue
        seen.add(one)
        pending += [value.item for value in one.inputs if value is not None]
        for value in one.inputs if one.type in _SCALING else ():
            if (numbers := _scales(bench, value, sizes)) and not any(repr(one) in doubt.what for doubt in bench.notes.kept):
                bench.keep(f"{one!r} scales places by the constant {numbers}, {_OF_SIZES} the image that {item!r} samples")


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


Option = TypeVar("Option")

_SKIPPED: Final = ("Const", "Constant", "Parameter")
_MOST_STEPS_BACK: Final = 400
_BODY: Final = "convert the model with layers that have no body (LSTMSequence, GRUSequence), or keep the input sizes of this layer"
# The most options that are tried for the list of alternatives.
_MOST_ALTERNATIVES: Final = 40
# The largest number whose multiples are tried as sizes for which options agree, and how many multiples are tried.
_MOST_STEP: Final = 128
_TRIALS: Final = 4
# A formula that has one value for the recorded size, the next one, and so many times the recorded one has it from some size on.
_FAR: Final = 1000


class Witness(NamedTuple):
    """A second export: its shapes by type, name and output, the numbers that a layer of a type and name reads, and the sizes of symbols."""

    shapes: Mapping[tuple[str, str, int], Sequence[Size] | None]
    numbers: Callable[[str, str], object]
    sizes: Mapping[str, int]


def numbers_read(bench: Bench, item: Item) -> object:
    """What a layer states, and the numbers that it reads: of a large constant the shape; None if some are formulas."""
    read: list[object] = []
    for port, value in enumerate(item.inputs):
        elements, array = (None, None) if value is None else (bench.elements(value) if port else None, bench.array(value))
        if any(isinstance(one, Dim) for one in elements or ()):
            return None
        read.append(elements or (array if array is None else array.shape if array.size > _FEW else array.tolist()))
    return sorted(item.attributes.items()), read


class _Choice:
    """The options at a position of the walk, the one that is taken, and all that a step back to it restores."""

    def __init__(self, at: int, options: Sequence[Any], mark: int, notes: tuple[int, ...]) -> None:
        self.at = at
        self.options = options
        self.mark = mark
        self.notes = notes
        self.index = 0


class Alternative(NamedTuple):
    """Another option with which every layer passes: the layer, the option that was taken, and the other one.

    The options agree where all sizes are multiples of `step`; 0 if no number up to `_MOST_STEP` is such a step.
    """

    item: Item
    taken: str
    other: str
    step: int


def _step(some: Sequence[Size], others: Sequence[Size]) -> int:
    """The least number at whose multiples sizes are those of others, as far as trials tell; 0 if there is none, or if all sizes are."""
    names = sorted({name for size in (*some, *others) for name in symbols(size)})

    def agree(trial: Mapping[str, int]) -> bool:
        try:
            return all(evaluate(one, trial) == evaluate(other, trial) > 0 for one, other in zip(some, others, strict=True))
        except (OverflowError, ZeroDivisionError):
            return False

    for step in range(1, _MOST_STEP + 1):
        if all(agree({name: step * (first + at) for at, name in enumerate(names)}) for first in range(1, _TRIALS + 1)):
            return step if step > 1 else 0
    return 0


class Walk:
    """A walk on a bench. With `is_strict`, no layer may demand an equation between two formulas.

    `faults` are the layers and codes of the faults that the model has at its recorded sizes. `dead` are the layers that reached no output
    before.
    """

    def __init__(self, bench: Bench, faults: frozenset[tuple[str, str]], witness: Witness | None = None, *, is_strict: bool) -> None:
        self.bench = bench
        self.is_strict = is_strict
        self._faults = faults
        self._witness = witness
        self._items = list(bench.draft.state.in_order)
        self.dead = frozenset(bench.draft.dead())
        self._read = frozenset(reached(bench.draft.of_type(*SINKS), self._producers))
        self._choices: list[_Choice] = []
        self._forced: dict[int, int] = {}
        self._at = 0
        bench.pick, bench.is_compared = self._pick, witness is not None

    def _producers(self, item: Item) -> Sequence[Item]:
        """The layers on which a layer depends."""
        condition = item.inputs[0] if item.type == "Select" and item.inputs else None
        return item.producers if condition is None else chosen(item.producers, self.bench.elements(condition))

    def run(self) -> None:
        """Visit every layer. Raises `Refusal` if no options let all of them pass."""
        self._go(0)
        self._agree()

    def _agree(self) -> None:
        """Refuse a number that another export contradicts, and that no layer has made again."""
        replaced = {*self.bench.draft.dead()}
        for error in self.bench.notes.differing:
            if error.item not in replaced:
                raise error

    def _go(self, start: int) -> None:
        """Visit the layers from a position on; choices before it stay as they are."""
        furthest: tuple[tuple[int, int, bool], Refusal] | None = None
        back, at = 0, start
        while at < len(self._items):
            self._at = at
            try:
                if self.bench.draft.state.is_live(self._items[at]):
                    self._visit(self._items[at])
                at += 1
            except Refusal as error:
                reached = -sum(choice.options[choice.index].is_cut for choice in self._choices), at, isinstance(error, BatchMixed)
                if furthest is None or reached > furthest[0]:
                    error.reason += self._unnamed(error.reason)
                    furthest = reached, error
                while self._choices and self._choices[-1].at >= start and self._choices[-1].index + 1 >= len(self._choices[-1].options):
                    self._choices.pop()
                back += 1
                if not self._choices or self._choices[-1].at < start or back > _MOST_STEPS_BACK:
                    raise furthest[1] from None
                choice = self._choices[-1]
                choice.index += 1
                self._return(choice)
                at = choice.at

    def _unnamed(self, reason: str) -> str:
        """Which axis each size is that a text tells by a name of irshape's own, such as `d0`."""
        names = dict.fromkeys(re.findall(rf"\b{UNNAMED}\b", reason))
        values = [value for item in self.bench.draft.state.in_order for value in item.outputs] if names else []
        axes = [(axis, value.item, str(size)) for value in values for axis, size in enumerate(self.bench.shape(value) or ())]
        places = {size: f"; {size} is axis {axis} of {item!r}" for axis, item, size in reversed(axes) if size in names}
        return "".join([places[name] for name in names if name in places])

    def _return(self, choice: _Choice) -> None:
        self.bench.graph.undo(choice.mark)
        self.bench.notes.undo(choice.notes)

    def _pick(self, options: Sequence[Option]) -> Option:
        """The first option; the others are tried if a layer behind refuses. No mend of the layer is made before."""
        at = self._at
        if self._choices and self._choices[-1].at == at:
            found: Option = self._choices[-1].options[self._choices[-1].index]
            return found
        if at in self._forced:
            return options[self._forced[at]]
        if len(options) > 1:
            self._choices.append(_Choice(at, options, self.bench.graph.mark(), self.bench.notes.mark()))
        return options[0]

    def alternatives(self) -> list[Alternative]:
        """The other options with which every layer passes on no smaller set of sizes. The walk is then as it was."""
        taken = list(self._choices)
        if not taken:
            return []
        own, found = self.conditions(), []
        chosen = {choice.at: choice.index for choice in taken}
        tried = [(choice, index) for choice in taken for index in range(len(choice.options)) if self._is_other(choice, index)]
        for choice, index in reversed(tried[:_MOST_ALTERNATIVES]):  # the last choice first: what was written before it stays
            self._choices = []
            self._return(choice)
            self._forced = {at: one for at, one in chosen.items() if at < choice.at} | {choice.at: index}
            try:
                self._go(choice.at)
                self._agree()
                if not own < self.conditions():
                    item = self._items[choice.at]
                    one, other = choice.options[choice.index], choice.options[index]
                    texts = one.text(self.bench.wanted), other.text(self.bench.wanted)
                    if texts[0] == texts[1]:  # the numbers that are asked for do not tell them apart
                        texts = one.text(lambda size: size), other.text(lambda size: size)
                    found.append(Alternative(item, texts[0], texts[1], _step(one.sizes, other.sizes)))
            except Refusal:
                pass
        self._choices, self._forced = [], chosen
        self._return(taken[0])
        self._go(taken[0].at)
        self._choices = taken
        return found[::-1]

    def _is_other(self, choice: _Choice, index: int) -> bool:
        """Whether an option gives other sizes than the one that was taken, for samples alone: that a layer keeps the batch is proved."""
        one, other = ([self.bench.alone(size) for size in choice.options[at].sizes] for at in (choice.index, index))
        return one != other

    def conditions(self) -> set[str]:
        """What the layers demand of the sizes beyond smallest ones."""
        facts = self.bench.draft.facts
        items = [item for item in self.bench.draft.state.in_order if item.type not in CONSTANTS]
        return {str(one) for item in items for one in facts.requirements(item) if one.kind != "ge"}

    # One layer.

    def _visit(self, item: Item) -> None:
        bench = self.bench
        bench.item, bench.traced, bench.instead = item, None, None
        if item.type == "Parameter":
            self._place(item)
        if item.type == "Result" and item.inputs and (given := item.inputs[0]) is not None:
            self._end(item, given)
        if item.type in _SKIPPED or not item.outputs or any(value is None for value in item.inputs):
            return
        values = [value for value in (*item.inputs, *item.outputs) if value is not None]
        if not any(_is_open(bench.shape(value)) for value in values):
            self._watch(item)
            self._trace(item)  # it may compute with the size of the batch
            return
        if item.base is not None and item.base.bodies:
            message = "has a body, and --rewrite changes no body: irshape cannot tell which constants in the body hold an old size"
            bench.refuse(message, hint=_BODY)
        if any(is_fault(found.code) and (str(item.id), found.code) in self._faults for found in bench.draft.facts.findings(item)):
            self._trace(item)  # which says that the layer has an error; its attributes may be anything
            return
        mark, notes = bench.graph.mark(), bench.notes.mark()
        try:
            self._settle(item)
        except Refusal:
            bench.graph.undo(mark)
            bench.notes.undo(notes)
            bench.item, bench.traced, bench.instead = item, None, None
            if not part(bench):
                raise
            self._settle(item)
        self._watch(bench.item)
        self._flow(bench.item)

    def _end(self, item: Item, given: Value) -> None:
        """The tensor that a Result gives has the batch as its first axis, and something that depends on the sizes."""
        bench = self.bench
        part(bench)
        shape = bench.shape(given) or ()
        is_fixed = bench.is_of_sizes(given) and not _is_open(shape) and any(is_recorded(bench, one) for one in shape)
        if is_fixed or bench.constant_of(given) is not None:
            bench.keep(f"{item!r} gives the same constant for all sizes")
        held = bench.notes.traces.held.get(given.slot)
        if held is not None and held.taint:
            why = f"it gives a value that is computed from the size of the batch {bench.batch}, which {held.taint} reads"
            raise BatchMixed(item, why, code="P111")

    def _settle(self, item: Item) -> None:
        """Mend the layer that is visited, or put another one in its place; check it, and trace its axes."""
        bench = self.bench
        try:
            self._mend(item)
        except EditError as error:
            bench.refuse(f"cannot be edited: {error}")
        if bench.instead is not None:
            item = bench.item = bench.instead
            HANDLERS["Reshape"](bench)
        self._check(item)
        self._trace(item)

    def _mend(self, item: Item) -> None:
        if (handler := HANDLERS.get(item.type)) is not None:
            handler(self.bench)
        if self.bench.instead is None:
            follow(self.bench)

    def _check(self, item: Item) -> None:
        """No error, no number that ties an open size, and the recorded shapes at the recorded sizes."""
        bench, facts = self.bench, self.bench.draft.facts
        for found in facts.findings(item):
            if is_fault(found.code) and (str(item.id), found.code) not in self._faults:
                raise Refusal(item, found.message, hint=found.hint, code=found.code)
        for one in facts.requirements(item):
            self._admit(item, one)
        for value in item.outputs:
            shape, recorded = bench.shape(value), bench.recorded_sizes(value)
            if shape is None or recorded is None:
                continue
            now = [bench.at(size) for size in shape]
            if len(now) != len(recorded) or any(isinstance(size, int) and size != was for size, was in zip(now, recorded, strict=True)):
                bench.refuse(f"gives {listed(shape)}, which is {listed(now)} at the recorded sizes, but the file has {listed(recorded)}")
            self._compare(item, value, shape)

    def _admit(self, item: Item, one: Requirement) -> None:
        """Refuse a demand that leaves an open size few values, and in a strict walk an equation between formulas."""
        bench = self.bench
        sides = [side for side in (one.a, one.b) if isinstance(side, Dim)]
        if one.kind not in ("eq", "broadcast", "stretch") or any(not symbols(side) <= bench.numbers.keys() for side in sides):
            return
        if len(sides) == 1:
            number = one.a if isinstance(one.a, int) else one.b
            told = ", ".join(f"{name} is {bench.asked[name]} here" for name in sorted(one.symbols() & bench.asked.keys()))
            why, blamed = f"demands {one}{told and f' ({told})'}: {one.message}", self._blamed(item, number)
            makers = [value.item for value, _ in bench.notes.places_of(expression_of(sides[0]))]
            if blamed is None and makers and makers[-1].type != "Parameter":
                blamed = makers[-1]  # such as a window that covered the whole axis
                why += f"; {blamed!r} gives {formula_text(sides[0])}, which was {bench.at(sides[0])}"
            bench.refuse(why, blamed, self._enough(sides[0], number))
        if self.is_strict and one.kind == "eq" and len(sides) == 2:
            bench.refuse(f"demands {one}: {one.message}")

    def _enough(self, size: Dim, number: Size) -> str | None:
        """The hint that names the sizes from which on a formula has this number, as `min(H, 4)` has 4; None if there are no such sizes."""
        numbers = self.bench.numbers
        for name in sorted(symbols(size) - self.bench.asked.keys()):
            was = numbers[name]
            if all(evaluate(size, {**numbers, name: one}) == number for one in (was, was + 1, _FAR * was)):
                least = next((one for one in range(was, 0, -1) if evaluate(size, {**numbers, name: one - 1}) != number), 1)
                return f"ask for sizes from {least} on: --set {name}={least}.."
        return None

    def _blamed(self, item: Item, size: Size) -> Item | None:
        """The constant that a layer reads and that has this size, else the one whose elements it reads as sizes."""
        bench = self.bench
        constants = [(value, constant) for value in sized(item) if (constant := bench.constant_of(value))]
        own = [constant for value, constant in constants if size in (bench.shape(value) or ())]
        read = [bench.constant_of(value) for port, value in enumerate(item.inputs) if _reads_number(bench, item, port, AXES)]
        return next(iter((*own, *read)), None) or (None if size == 1 else holder(bench, sized(item), lambda one: one == size))

    def _compare(self, item: Item, value: Value, shape: Sequence[Size]) -> None:
        """Refuse a formula that misses the shape in the other export."""
        witness = self._witness
        other = witness.shapes.get((item.type, item.name, value.index)) if witness is not None else None
        if witness is None or other is None or len(other) != len(shape):
            return
        for axis, (size, seen) in enumerate(zip(shape, other, strict=True)):
            if not isinstance(seen, int) or not symbols(size) <= witness.sizes.keys() or (now := evaluate(size, witness.sizes)) == seen:
                continue
            if isinstance(size, int):
                self.bench.notes.differing.append(Refusal(item, f"gives the size {size} on axis {axis}, but the other export has {seen}"))
            else:
                self.bench.refuse(f"gives {formula_text(size)}, which is {now} at the sizes of the other export, but it has {seen} there")

    def _watch(self, item: Item) -> None:
        """Write down numbers that stay, unless the other export has them too at other sizes. Refuse numbers that it has not."""
        witness, known = self._witness, len(self.bench.notes.kept)
        watch(self.bench)
        if witness is None or len(self.bench.notes.kept) == known:
            return
        shapes = [self.bench.shape(value) or () for value in item.inputs if value is not None]
        every = self.bench.numbers.keys() - {self.bench.batch}
        names = frozenset().union(*[symbols(size) for shape in shapes for size in shape]) & self.bench.numbers.keys() or every
        here = numbers_read(self.bench, item)
        there = witness.numbers(item.type, item.name)
        if here is None or there is None or not names or any(witness.sizes.get(one) in (None, self.bench.numbers[one]) for one in names):
            return
        if here != there:
            raise Refusal(item, "reads numbers that differ in the other export, so they are sizes of this file")
        del self.bench.notes.kept[known:]

    # The axes.

    def _trace(self, item: Item) -> None:
        """Trace the axes of the outputs, and refuse a layer that mixes the batch, unless no output depends on it."""
        found = self.bench.flowed(item)
        if item not in self._read and item.base is not None:
            return
        if found.mixed:
            raise BatchMixed(item, found.unproven or found.mixed, code="P111" if found.unproven else None)
        if found.unproven:
            told = f"irshape cannot prove that {item!r} keeps samples apart: {found.unproven}"
            self.bench.notes.unproven.append(Doubt(where_of(item), told))

    def _flow(self, item: Item) -> None:
        """Write down the axes of a Concat and of a layer that was rewritten."""
        bench, notes = self.bench, self.bench.notes
        if bench.traced is not None:
            slot = item.outputs[0].slot
            notes.traces.held[slot] = notes.traces.held[slot]._replace(trace=bench.traced)
        if item.type == "Concat" and bench.shape(item.outputs[0]) is not None:  # what a cycle feeds may have any attributes
            axis = number_of(item)
            parts = [(bench.sizes(value)[axis], bench.recorded_sizes(value)) for value in item.inputs if value is not None]
            notes.sums[item.outputs[0].slot] = [Factor(size, was[axis] if was else None) for size, was in parts]
        self._place(item)

    def _place(self, item: Item) -> None:
        """Write down which factors the axes of the outputs were joined of, and where each formula is the size of an axis."""
        bench, notes = self.bench, self.bench.notes
        for value in item.outputs:
            for factors in bench.trace(value):
                formulas = [one.size for one in factors if isinstance(one.size, Dim)]
                if len(formulas) > 1 or (len(factors) > 1 and any(map(bench.holds_batch, formulas))):
                    notes.joined[expression_of(product([factor.size for factor in factors]))] = factors
            for axis, size in enumerate(bench.shape(value) or ()):
                if isinstance(size, Dim):
                    formula = expression_of(size)
                    notes.places[formula] = AxisFormula(value, axis, notes.places.get(formula))


def _is_open(shape: Sequence[Size] | None) -> bool:
    return shape is None or any(isinstance(size, Dim) for size in shape)
