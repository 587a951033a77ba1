"""Slicing of one axis, `size[begin:end:step]`, with OpenVINO's clamping.

A negative index counts from the end. OpenVINO clamps `begin` into `0..last`, where Python may leave it before the first element; hence
`[-8::-1]` of an axis of size 3 has one element. An open `begin` or `end` is None.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Final, TypeAlias

from irshape.shape.dim import INT64_MAX, UNBOUNDED, Dim, Size, bounds, ceil_div, dim_max, dim_min, narrow, symbols
from irshape.shape.range import Bound

Index: TypeAlias = Size | None

# An `end` from here on means the end of the axis, as exporters with 32-bit indices write it; the axis is assumed not to be longer.
_FAR: Final = 2**31 - 1


def _length(size: Size, begin: Index, end: Index, step: int) -> Size:
    """The number of elements that a slice takes. The sign of each index must be known."""
    last = size if step > 0 else size - 1
    start = (0 if step > 0 else last) if begin is None else dim_max(_from_front(begin, size), 0)
    stop = (size if step > 0 else -1) if end is None else dim_min(dim_max(_from_front(end, size), 0 if step > 0 else -1), size)
    length = stop - start if step > 0 else dim_min(start, last) - stop  # beyond the end, a slice forwards is empty
    return dim_max(ceil_div(length, abs(step)), 0)


def _from_front(index: Size, size: Size) -> Size:
    return index + size if bounds(index)[1] < 0 else index


def slice_length(taken: range) -> int:
    """The number of places that a slice takes; `len` is limited to a machine word, which has 32 bits in a browser."""
    return max(0, -((taken.start - taken.stop) // taken.step))


def slice_range(size: int, begin: int | None, end: int | None, step: int) -> range:
    """The indices that a slice takes; `step` is not 0. This is `_length` for numbers, of which the bounds of a slice ask many."""
    last, before = (size, 0) if step > 0 else (size - 1, -1)
    start = 0 if step > 0 else last
    if begin is not None:
        start = min(max(begin + size if begin < 0 else begin, 0), last)
    stop = size if step > 0 else -1
    if end is not None:
        stop = min(max(end + size if end < 0 else end, before), size)
    return range(start, stop, step)


def sliced_size(size: Size, begin: Index, end: Index, step: int) -> Size | None:
    """The number of elements that a slice takes; None if the sign of an index is unknown. `step` is not 0."""
    if step > 0 and isinstance(size, Dim) and isinstance(end, Dim) and not size.scope.has_intervals_only and bounds(size - end)[1] <= 2:
        end = dim_max(end, 0)  # below 0 it ends at `2*size - 2` or before, of an axis of at most one element: the slice is empty
    for index in (begin, end):
        low, high = (0, 0) if index is None else bounds(index)
        if low < 0 <= high:
            return None
    if isinstance(size, Dim) and isinstance(end, int) and (end >= _FAR if step > 0 else end <= -_FAR):
        far = end if step > 0 else -end - 1
        size, end = narrow(size, 0, inf if far >= INT64_MAX - 1 else far), None
    within = narrow(size, 0)
    length = _length(within, begin, end, step)
    if not isinstance(length, Dim):
        return length
    if length is within and not length.scope.has_intervals_only:  # there, equal intervals are one object
        return size
    known = sliced_bounds(size, begin, end, step)
    return size if length is within and known == bounds(size) else narrow(length, *known)


def sliced_range(size: Size, begin: Index, end: Index, step: int) -> tuple[Bound, Bound]:
    """The least and the greatest number of elements that a slice takes if the sign of an index is unknown.

    Where the axis and the indices are computed from a common symbol, the formulas for each sign give bounds that `sliced_bounds`, which
    sees only the ends of ranges, does not find.
    """
    low, high = sliced_bounds(size, begin, end, step)
    if not _are_tied(size, begin, end):
        return low, high
    least, most = inf, -inf
    for last in _signs(end):
        for first in _signs(begin):
            length = sliced_size(size, first, last, step)
            if length is None:
                return low, high
            shortest, longest = bounds(length)
            least, most = min(least, shortest), max(most, longest)
            if least <= low and most >= min(high, UNBOUNDED):
                return low, high  # the formulas for the other signs cannot narrow these bounds
    least, most = max(low, least), min(high, most)
    return (least, most) if least <= most else (low, high)


def _are_tied(*sizes: Index) -> bool:
    """Whether two of the sizes are computed from a common symbol."""
    seen: set[str] = set()
    for size in sizes:
        if isinstance(size, Dim):
            names = symbols(size)
            if not seen.isdisjoint(names):
                return True
            seen |= names
    return False


def _signs(index: Index) -> tuple[Index, ...]:
    """An index, once for each sign that it may have."""
    low, high = (0, 0) if index is None else bounds(index)
    return (narrow(index, 0), narrow(index, high=-1)) if isinstance(index, Dim) and low < 0 <= high else (index,)


def sliced_bounds(size: Size, begin: Index, end: Index, step: int) -> tuple[Bound, Bound]:
    """The least and the greatest number of elements that a slice takes, over all values of the size and of the indices.

    The length is monotone in each index of one sign, and in the size between the values at which the clamping changes. Its values at
    these points are therefore exact bounds, where interval arithmetic would overestimate.
    """
    low, high = (int(min(max(end, 0), INT64_MAX)) for end in bounds(size))
    whole = -(-high // abs(step))
    least, most = whole, 0
    for first in _corners(begin):
        for second in _corners(end):
            for value in _breaks(low, high, first or 0, second or 0):
                length = slice_length(slice_range(value, first, second, step))
                least, most = min(least, length), max(most, length)
                if least == 0 and most == whole:  # no slice is shorter or longer
                    return 0, inf if whole >= UNBOUNDED else whole
    return least, inf if most >= UNBOUNDED else most


def _corners(index: Index) -> tuple[int | None, ...]:
    if not isinstance(index, Dim):
        return (index,)
    low, high = (int(min(max(end, -INT64_MAX), INT64_MAX)) for end in bounds(index))
    return (0, high, -1, low) if low < 0 <= high else (high, low)


def _breaks(low: int, high: int, begin: int, end: int) -> Iterator[int]:
    yield high
    yield low
    places = {place + step for place in (begin, -begin, end, -end, end - begin, begin - end) for step in (-1, 0, 1)}
    yield from [place for place in places if low < place < high]
