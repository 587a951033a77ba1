"""The limits of slices: what a begin and an end that are numbers mean at open sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, islice
from itertools import product as product_of
from typing import Any, Final

import numpy as np

from irshape.editing.layers import layer_of
from irshape.editing.state import Item
from irshape.ops.flow import same
from irshape.reshaping.bench import Bench, Seen, Sizes, listed, numbers_of, open_sizes, source, total, vector
from irshape.reshaping.exports import AS_SEEN, seen_along, stated_there
from irshape.shape.dim import Dim, Size, expression_of, symbols

# An end from here on is none.
_NO_END: Final = 2**31 - 1
# The most combinations of limits that are tried.
_MOST: Final = 24


class _Limits(Sizes):
    """The begin and the end of a slice along each axis; `sizes` are the begins and how many elements there are up to the end."""

    def __init__(self, pairs: Sequence[tuple[Any, Any]], *, is_seen: bool) -> None:
        self.is_seen = is_seen
        limits = [(begin, end if begin is None else end - begin) for begin, end in pairs]
        super().__init__([one for limit in limits for one in limit if one is not None])
        self.pairs = pairs

    def text(self, tell: Callable[[Size], str]) -> str:
        """The limits as Python writes them, without a begin at the start and an end that is none."""
        told = [(begin, "" if isinstance(end, int) and end >= _NO_END else tell(end)) for begin, end in self.pairs]
        return listed([f"{tell(begin)}:{end}" if begin not in (0, None) else end for begin, end in told])


def slice_limits(bench: Bench) -> None:
    """A begin and an end that leave out nothing at the recorded size are those of the data; either may be a size before it was padded."""
    item = bench.item
    data = source(item, 0)
    shape, recorded, ends = bench.sizes(data), bench.recorded_sizes(data), bench.elements(source(item, 2))
    axes, begins = bench.elements(source(item, 4)) if len(item.inputs) > 4 else None, bench.elements(source(item, 1))
    if ends is None or not recorded:
        return
    cut = [axis % len(shape) for axis in axes or range(len(ends))]
    is_long = str(bench.tensor(source(item, 2)).element_type) == "i64"
    last = np.iinfo(np.int64 if is_long else np.int32).max
    options: list[list[tuple[Any, Any]]] = [[]]
    for at, (begin, end, axis) in enumerate(zip(begins or [None] * len(ends), ends, cut, strict=False)):
        own, was = shape[axis], recorded[axis]
        starts = [*seen_along(bench, 1, at, own, was), *_starts(bench, begin, own, was)]
        found = []
        for start in _stated(bench, 1, at, own, starts):
            if isinstance(start, Dim) and _is_single(bench, at):  # one element stays one
                found.append((start, start + 1))
                continue
            stops = [*seen_along(bench, 2, at, own, was, start), *_stops(bench, start, end, own, was)]
            # Parts of the axis come behind sizes of earlier axes.
            stops.sort(key=lambda one: not isinstance(one, Dim) or expression_of(one) not in bench.notes.places)
            found += [(start, one) for one in _stated(bench, 2, at, own, stops)]
        options = [[*one, pair] for one in options for pair in found][:_MOST]
    given = [*zip(begins or [None] * len(ends), ends, strict=False)]
    is_seen = bench.witness is not None and len(stated_there(bench, 2)) == len(ends)
    wanted = given if options[0] == given else bench.pick([_Limits(one, is_seen=is_seen) for one in options]).pairs
    if (starts := [start for start, _ in wanted]) != [begin for begin, _ in given]:
        bench.connect(1, vector(bench, starts, data))
        bench.mend("begins", begins, starts)
    if [one for _, one in wanted] != [*ends]:
        is_whole = [isinstance(one, Dim) and same(one, shape[axis]) for (_, one), axis in zip(wanted, cut, strict=False)]
        bench.connect(2, vector(bench, [last if whole else one for (_, one), whole in zip(wanted, is_whole, strict=True)], data))
        ways = ["to the end" if whole else one for (_, one), whole in zip(wanted, is_whole, strict=True)]
        bench.mend("ends", ends, ways, "generated", "the end was that of the axis; irshape assumes the same at other sizes")


def _is_single(bench: Bench, at: int) -> bool:
    """Whether a slice takes one element of an axis in both exports."""
    item, there = bench.item, [stated_there(bench, port)[at : at + 1] for port in (1, 2)]
    here = [(bench.elements(source(item, port)) or ())[at : at + 1] for port in (1, 2)]
    limits = [(*begin, *end) for begin, end in (here, there)]
    return all(len(one) == 2 and isinstance(one[0], int) and one[1] == one[0] + 1 for one in limits)


def _starts(bench: Bench, begin: Any, own: Size, recorded: int) -> list[Any]:
    """What the begin of a slice may mean: the start, the end of a part, a size that leaves an earlier one behind it, or the number."""
    if _is_outside(1, begin, own, recorded):
        return [0]
    if not isinstance(begin, int) or not isinstance(own, Dim) or not 1 < begin < recorded or bench.holds_batch(own):
        return [begin]
    sizes = _of_axis(bench, begin, own)
    found = _joint(bench, begin, own)
    if found and bench.witness is None:
        return found
    return [*found, *[size for size in sizes if expression_of(own - size) in bench.notes.places], begin]


def _stated(bench: Bench, port: int, at: int, own: Size, ways: list[Any]) -> list[Any]:
    """The limits of a slice of an axis that the other export has, too; all if it states none of them."""
    witness = bench.witness
    there = stated_there(bench, port)[at : at + 1]
    if witness is None or not there or not isinstance(there[0], int):
        return ways
    whole = witness.at(own)
    most = there[0] if whole is None else whole
    known = [(one, witness.at(one)) for one in ways if isinstance(one, int | Dim)]
    return [one for one, now in known if now is not None and min(now, most) == min(there[0], most)] or ways


def _joint(bench: Bench, place: int, own: Size) -> list[Size]:
    """Where a part of a Concat ended that gave an axis of this size, if that is this place at the recorded sizes."""
    for parts in bench.notes.sums.values():
        counts = [*accumulate([part.recorded or 0 for part in parts])]
        if place in counts[:-1] and same(total([part.size for part in parts]), own):
            return [total([part.size for part in parts[: counts.index(place) + 1]])]
    return []


def _stops(bench: Bench, start: Any, end: Any, own: Size, recorded: int) -> list[Any]:
    """What the end of a slice may mean: that of the axis or a part, an earlier size from the beginning or the start on, or the number."""
    if not isinstance(end, int) or not isinstance(own, Dim) or not _NO_END > end > 0:
        return [end]
    joint = _joint(bench, end, own)
    if joint and bench.witness is None:
        return joint
    found: list[Any] = [own] if end >= recorded else joint
    if end <= recorded and not bench.holds_batch(own):
        skipped = {0, start} if isinstance(start, int) and 0 <= start < end else {0}
        sizes = [first + size for first in sorted(skipped) for size in _of_axis(bench, end - first, own)]
        found += [size for size in sizes if not same(size, own)]
    return [*found, *([end] if end < recorded or not found or bench.witness is not None else [])]


def strided_limits(bench: Bench) -> None:
    """A StridedSlice from the recorded beginning or before it means: from the start; to the recorded size or behind it: to the end.

    A limit that another export does not have is a part or another size, and the end of a single element is one behind its begin.
    """
    item = bench.item
    data, recorded = source(item, 0), bench.recorded_sizes(source(item, 0))
    if recorded is None or any(1 in _mask(item, name, 0) for name in ("new_axis_mask", "ellipsis_mask")):
        return
    sizes = list(zip(bench.sizes(data), recorded, strict=True))
    begins = dict[int, Any]()  # those that are known
    for name, port, text in (("begin", 1, "from the start"), ("end", 2, "to the end")):
        limits = bench.elements(source(item, port)) or ()
        kept = _mask(item, f"{name}_mask", len(limits))[: len(limits)]
        is_whole = [at < len(sizes) and _is_outside(port, limit, *sizes[at]) for at, limit in enumerate(limits)]
        if new := [at for at, one in enumerate(is_whole) if one and not kept[at]]:
            layer_of(bench.draft, item).set(**{f"{name}_mask": tuple([int(at in new) or one for at, one in enumerate(kept)])})
            bench.mend(f"{name}s", limits, [text if at in new else one for at, one in enumerate(limits)])
        singles, ways = _mask(item, "shrink_axis_mask", len(limits)), list[list[Any]]()
        for at in range(len(limits)):
            is_number = at < len(sizes) and at not in new and not kept[at]
            begin = begins.get(at)
            if isinstance(begin, Dim) and singles[at]:
                ways.append([begin + 1])
            else:
                ways.append(seen_along(bench, port, at, *sizes[at], begin) if is_number else [])
        wanted: Sequence[Any] = limits
        if any(ways):
            pairs = [found or [limit] for found, limit in zip(ways, limits, strict=True)]
            wanted = bench.pick([Seen(one) for one in islice(product_of(*pairs), _MOST)])
            bench.connect(port, vector(bench, wanted, data))
            bench.mend(f"{name}s", limits, wanted, "generated", AS_SEEN)
        begins = dict(enumerate(wanted))


def _is_outside(port: int, limit: object, size: Size, recorded: int) -> bool:
    """Whether a begin at port 1, or an end at port 2, leaves out nothing at the recorded size of an open axis; -1 is the last of one."""
    return isinstance(limit, int) and isinstance(size, Dim) and (limit >= recorded if port == 2 else limit <= -recorded < -1)


def _mask(item: Item, name: str, length: int) -> list[int]:
    """The numbers of a mask of a StridedSlice, 0 for those that it does not state."""
    found = numbers_of(item, name)
    return found + [0] * max(length - len(found), 0)


def _of_axis(bench: Bench, number: int, own: Dim) -> list[Dim]:
    """Formulas of the symbols of an axis that are the sizes of axes so far and have this value at the recorded sizes, the inputs' first."""
    found = [size for size in open_sizes(bench) if symbols(size) == symbols(own) and bench.at(size) == number]
    return sorted(found, key=lambda size: str(size) not in symbols(size))


HANDLERS: Final[dict[str, Callable[[Bench], None]]] = {"Slice": slice_limits, "StridedSlice": strided_limits}
