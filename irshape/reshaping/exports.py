"""Numbers that a second export has otherwise: the sizes that give both numbers, and the axes that windows cover in both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy as np

from irshape.editing.state import Item
from irshape.ops.flow import same
from irshape.reshaping.bench import Bench, Seen, numbers_of, open_sizes, put_instead, source, vector
from irshape.reshaping.ways import Ways, settles
from irshape.shape.dim import Dim, Size, symbols

# Sides of the patches to whose multiples a map is resized, as MobileViT does it.
PATCHES: Final = (2, 4, 8)
# At most so many parts of a size are compared.
_MOST_PARTS: Final = 8
# Small numbers fit many parts by chance: they are compared with fewer.
_SMALL: Final = 8
_USUAL: Final = 4
AS_SEEN: Final = "both exports have a number of this size"


def stated_there(bench: Bench, port: int) -> Sequence[Any]:
    """The elements that the partner of the layer that is visited states at an input; none of a Slice of other axes."""
    witness, item = bench.witness, bench.item
    axes = source(item, 4) if item.type == "Slice" and len(item.inputs) > 4 else None
    if witness is None or (axes is not None and tuple(witness.elements(item, 4)) != tuple(bench.elements(axes) or ())):
        return ()
    return witness.elements(item, port)


def seen(bench: Bench, port: int, at: int, ways: Iterable[Size], others: Iterable[Size] = ()) -> list[Size]:
    """The formulas that give a number of an input and the different number of the other export, else other sizes or their parts."""
    witness = bench.witness
    here, there = bench.elements(source(bench.item, port)) or (), stated_there(bench, port)
    if witness is None or at >= min(len(here), len(there)) or here[at] == there[at] or not isinstance(here[at], int):
        return []
    sign = -1 if here[at] < 0 else 1  # from the end
    both = sign * here[at], sign * there[at]
    found = [one for one in ways if (bench.at(one), witness.at(one)) == both] or explained(bench, others, *both)
    return [*{str(one): sign * one for one in found}.values()]


def explained(bench: Bench, sizes: Iterable[Size], here: float, there: float) -> list[Size]:
    """The sizes with these whole numbers here and in the second export, and of other sizes the parts."""
    witness, both, found = bench.witness, (here, there), list[Size]()
    if witness is None:
        return []
    most = _MOST_PARTS if min(both) > _SMALL else _USUAL
    for size in sizes:
        was = bench.at(size)
        if was != here and (not isinstance(was, int) or here not in parts_of(was, most)):
            continue
        other = witness.at(size)
        if (was, other) == both:
            found.append(size)
        elif other is not None:
            parts = zip(parts_of(size, most), parts_of(was, most), parts_of(other, most), strict=True)
            found += [part for part, *numbers in parts if (*numbers,) == both]
    return found


def undecided(bench: Bench, here: Sequence[object], there: Sequence[object]) -> dict[str, Size]:
    """By symbol: a part of a size that is the same number in both exports, which both read, so that the second one does not tell.

    `here` and `there` have what the layer that is visited reads at each input.
    """
    read = [(one, other) for one, other in zip(here, there, strict=False) if isinstance(one, tuple) and isinstance(other, tuple)]
    both = {abs(one) for pair in read for one, other in zip(*pair, strict=False) if one == other and isinstance(one, int)} - {0, 1}
    shapes = [bench.shape(value) or () for value in bench.item.inputs if value is not None]
    sizes = {str(size): size for shape in shapes for size in shape if isinstance(size, Dim)}.values() if both else ()
    return {name: size for number in both for size in explained(bench, sizes, number, number)[::-1] for name in symbols(size)}


def alike(bench: Bench, sizes: Iterable[Size]) -> Dim | None:
    """The first size that is a formula and has the same number in both exports, but not at all large sizes, as the 7 of `min(S, 7)`."""
    for size in sizes:
        if bench.witness is None or not isinstance(size, Dim) or str(size) in bench.numbers:  # of a whole size, the walk asks
            continue
        number = bench.at(size)
        if isinstance(number, int) and number > 1 and bench.witness.at(size) == number and not settles(size, number):
            return size
    return None


def near(bench: Bench) -> list[Size]:
    """The sizes from which numbers of the layer that is visited may follow: of its tensors, and of the inputs of the layers before."""
    item = bench.item
    values = [*item.outputs, *item.inputs, *[value for one in item.producers for value in one.inputs]]
    return [size for value in values if value is not None for size in bench.shape(value) or ()]


def parts_of(size: Size, most: int = _MOST_PARTS) -> list[Size]:
    """A size divided by a few numbers, rounded down or up, or to a multiple; the place before its middle, and the one behind."""
    counts = range(2, most + 1)
    rounded = [size // count * count for count in PATCHES]
    middle = [(size - 1) // 2, size // 2 + 1]
    return [part for count in counts for part in (size // count, (size + count - 1) // count)] + rounded + middle


def seen_along(bench: Bench, port: int, at: int, own: Size, recorded: int, start: object = None) -> list[Size]:
    """The sizes for a limit of a slice that another export has otherwise: an axis less some elements, or a part from `start` on."""
    witness, number = bench.witness, (bench.elements(source(bench.item, port)) or (None,) * (at + 1))[at]
    there = stated_there(bench, port)[at : at + 1]
    if witness is None or not there or there[0] == number or not isinstance(own, Dim) or not isinstance(number, int):
        return []
    # An end may be that of whole groups, and a begin the half of half of the axis, as in the middle of an image.
    more = [(own + 1) // 4, (own + 2) // 4] if port == 1 else [own // step * step for step in MULTIPLES]
    fitting = seen(bench, port, at, [own, own - recorded + abs(number), *parts_of(own), *more], open_sizes(bench))
    origin, other = (bench.at(start), witness.at(start)) if isinstance(start, int | Dim) and start != 0 else (None, None)
    if not fitting and isinstance(start, int | Dim) and isinstance(origin, int) and other is not None:
        lengths = number - origin, there[0] - other
        fitting = [start + lengths[0]] if lengths[0] == lengths[1] else [start + one for one in explained(bench, [own], *lengths)]
    return [] if any(same(one, own) for one in fitting) else fitting


def reduce_whole(bench: Bench) -> None:
    """A pool whose windows cover the same axes whole in both exports, and one element of others: a ReduceMean or ReduceMax of these."""
    item, data = bench.item, source(bench.item, 0)
    partner = None if bench.witness is None else bench.witness.partners.get(item.base)
    here, there = bench.recorded_sizes(data), None if bench.witness is None else bench.witness.shape(data)
    kernels = [] if partner is None else [*zip(numbers_of(item, "kernel"), numbers_of(partner, "kernel"), strict=False)]
    sizes = [*zip(here or (), there or (), strict=False)][2:]
    is_padded = any(one for name in ("pads_begin", "pads_end") for one in numbers_of(item, name))
    is_read = any(bench.draft.state.readers.get(one) for one in item.outputs[1:])
    if is_padded or is_read or not {*numbers_of(item, "dilations")} <= {1} or all(one == other for one, other in kernels):
        return
    axes = []
    for axis, (kernel, size, step) in enumerate(zip(kernels, sizes, numbers_of(item, "strides"), strict=False), 2):
        if kernel == size:
            axes.append(axis)
        elif (*kernel, step) != (1, 1, 1):
            return
    new = bench.add(_REDUCED[item.type], bench.tensor(data), np.array(axes, np.int64), keep_dims=True, name=f"{item.name}/whole")
    whole = [size if axis in axes else 1 for axis, size in enumerate(bench.sizes(data)[2:], 2)]
    bench.mend("kernel", [one for one, _ in kernels], whole, "generated", "the windows of both exports cover whole axes")
    put_instead(bench, new)


def extents(bench: Bench, window: Item) -> list[int]:
    """The elements from the first to the last one that a window covers, along each of its axes."""
    filters = window.inputs[1] if len(window.inputs) > 1 else None
    sizes = numbers_of(window, "kernel") or ((filters and bench.recorded_sizes(filters)) or ())[-len(numbers_of(window, "strides")) :]
    dilations = numbers_of(window, "dilations") or [1] * len(sizes)
    return [(size - 1) * dilation + 1 for size, dilation in zip(sizes, dilations, strict=False)]


def _filling(size: Size, step: int, extent: int) -> Size:
    """How many elements windows that move by a step lack to cover an axis; no pads if it is negative."""
    return ((size + step - 1) // step - 1) * step + extent - size


def pad_ways(bench: Bench, window: Item, axis: int, size: Size, pads: Sequence[int]) -> Ways | None:
    """How many elements are added to an axis for a window if the pads stay, and if they are those of `same_upper` or `same_lower`.

    None if the two differ at the recorded size.
    """
    was, strides, covered = bench.at(size), numbers_of(window, "strides"), extents(bench, window) if window.type in WINDOWS else []
    if not isinstance(was, int) or not 1 < axis < min(len(strides), len(covered)) + 2:  # a window behind a Pad may have a fault
        return None
    step, extent = strides[axis - 2], covered[axis - 2]
    if step < 1 or sorted(pads) != [*same_pads(was, step, extent)]:
        return None
    return (sum(pads),), (_filling(size, step, extent),)


def same_pads(size: int, step: int, extent: int) -> tuple[int, int]:
    """The smaller and the larger pad with which windows that move by a step cover an axis: those of `same_upper`."""
    lacking = _filling(size, step, extent)
    needed = max(lacking, 0) if isinstance(lacking, int) else 0
    return needed // 2, needed - needed // 2


def pad_as_same(bench: Bench) -> None:
    """A window that another export pads otherwise, and that both pad as `same_upper` or `same_lower` does."""
    item, witness = bench.item, bench.witness
    partner = None if witness is None else witness.partners.get(item.base)
    if witness is None or partner is None:
        return
    sides, data = ("pads_begin", "pads_end"), source(item, 0)
    here, there = ([*zip(*[numbers_of(one, side) for side in sides], strict=False)] for one in (item, partner))
    if here == there:
        return
    steps, covered, sizes = numbers_of(item, "strides"), extents(bench, item), (bench.shape(data) or ())[2:]
    wanted = [
        [same_pads(size, step, extent) for size, step, extent in zip(map(at, sizes), steps, covered, strict=False) if isinstance(size, int)]
        for at in (bench.at, witness.at)
    ]
    for kind, order in (("same_upper", 1), ("same_lower", -1)):
        if [here, there] == [[pads[::order] for pads in one] for one in wanted]:
            new = bench.again(item, *[bench.tensor(source(item, port)) for port in range(len(item.inputs))], auto_pad=kind)
            bench.mend("auto_pad", item.attributes.get("auto_pad", "explicit"), kind, "generated", "both exports pad in this way")
            ways = [pad_ways(bench, item, axis, size, pads) for axis, (size, pads) in enumerate(zip(sizes, here, strict=False), 2)]
            bench.notes.decided += [one for one in ways if one is not None]
            put_instead(bench, new)
            return


def whole_or_same(bench: Bench) -> None:
    """A pool that covers whole axes in both exports, or that both pad as `same_upper` does."""
    reduce_whole(bench)
    if bench.instead is None:
        pad_as_same(bench)


def fill(bench: Bench) -> None:
    """A Pad that fills open axes to a multiple in both exports, as a net with windows does, or begins with one more if they are odd.

    An axis may need no pads in either export, and follow its size as others do; the first one, which holds the samples, does not.
    """
    item, witness, shape = bench.item, bench.witness, bench.sizes(source(bench.item, 0))
    if witness is None:
        return
    for port, name, steps in ((1, "pads_begin", (0, *MULTIPLES)), (2, "pads_end", MULTIPLES)):
        here, there = bench.elements(source(item, port)) or (), witness.elements(item, port)
        pairs = [*zip(here, there, strict=False)]  # the model may compute formulas from shapes already
        if not len(here) == len(there) == len(shape) or all(isinstance(one, Dim) or one == other for one, other in pairs):
            continue
        options, ends = [], tuple(bench.elements(source(item, 2)) or ())
        for step in steps:
            wanted, by = list[Size](here), step or 2
            for axis, (size, one, other) in enumerate(zip(shape, here, there, strict=True)):
                if isinstance(one, Dim):
                    continue
                up = (size + by - 1) // by * by - size
                was = bench.at(up)
                least = one - was if isinstance(was, int) and not step else 0
                may_follow = one or other or (axis > 0 and (step or ends[axis : axis + 1] != (0,)))
                fits = least >= 0 and (bench.at(up + least), witness.at(up + least)) == (one, other)
                if may_follow and fits and bench.is_open(size):
                    wanted[axis] = up + least
                elif one != other:
                    break
            else:
                options.append(Seen(wanted))
        if options:
            bench.connect(port, vector(bench, wanted := bench.pick(options), source(item, 0)))
            bench.mend(name, here, wanted, "generated", AS_SEEN)


MULTIPLES: Final = (2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 32, 64)
_REDUCED: Final = {"AvgPool": "ReduceMean", "MaxPool": "ReduceMax"}
WINDOWS: Final = ("AvgPool", "MaxPool", "Convolution", "GroupConvolution")
HANDLERS: Final[dict[str, Callable[[Bench], None]]] = {
    **dict.fromkeys(WINDOWS, pad_as_same),
    **dict.fromkeys(_REDUCED, whole_or_same),
    "Pad": fill,
}
