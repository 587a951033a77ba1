"""Values of a tensor: a flat tuple of elements in row-major order, each an int, a Dim, an exact float or a Real.

The shape is kept separately and is static if elements are known. Operations that move elements (gather, transpose, slice, concat) are
index arithmetic on the flat tuple; arithmetic broadcasts as in NumPy. Shape subgraphs are small, so plain Python is fastest.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from math import gcd, inf, prod
from typing import Any, Final, TypeAlias

from irshape.shape.compilation import NamedTuple, mypyc_attr
from irshape.shape.dim import Dim, Size, bounds, bounds_unasked, congruence
from irshape.shape.element_type import ElementType
from irshape.shape.range import Bound


class Real(NamedTuple):
    """A real number between two floats; equal to `size / divisor` if `size` is given."""

    low: float
    high: float
    size: Size | None = None
    divisor: int = 1


Element: TypeAlias = Size | float | Real
Elements: TypeAlias = tuple[Any, ...]


# The least and the greatest of several integers: of all, or for each position on the last axis.
Ends: TypeAlias = tuple[tuple[int, int], ...]


@mypyc_attr(native_class=False)
class Unreadable(tuple[str, ...]):
    """In place of elements that OpenVINO cannot read, because of their type, or cannot compute: then the code and message of the fault."""

    __slots__ = ()


@mypyc_attr(native_class=False)
class Pieces(tuple[Any, ...]):
    """Elements that OpenVINO does not follow as a list. It reads those that are constants where a rule looks for them piece by piece."""

    __slots__ = ()


def quotient(size: Size, divisor: int) -> Size | float | Real:
    """The real number `size / divisor`."""
    common = gcd(divisor, *congruence(size))
    size, divisor = size // common, divisor // common
    if divisor == 1:
        return size if isinstance(size, Dim) else float(size)
    if not isinstance(size, Dim):
        return size / divisor
    low, high = bounds(size)
    return Real(low / divisor, high / divisor, size, divisor)


def strides(shape: Sequence[int]) -> tuple[int, ...]:
    """The distance in the flat order between neighbours along each axis."""
    steps = []
    step = 1
    for size in reversed(shape):
        steps.append(step)
        step *= size
    return tuple(reversed(steps))


def indices(shape: Sequence[int], steps: Sequence[int], start: int = 0) -> Iterator[int]:
    """The flat positions of all indices of `shape` in row-major order, if a step along axis i moves by `steps[i]`."""
    if 0 in shape:
        return iter(())  # however long the other axes are
    positions = [start]
    for size, step in zip(shape, steps, strict=True):
        offsets = [index * step for index in range(size)]
        positions = [position + offset for position in positions for offset in offsets]
    return iter(positions)


def transposed(elements: Elements, shape: Sequence[int], order: Sequence[int]) -> Elements:
    """The elements after the axes of `shape` are put in the given order."""
    steps = strides(shape)
    return tuple([elements[i] for i in indices([shape[axis] for axis in order], [steps[axis] for axis in order])])


def sliced(elements: Elements, shape: Sequence[int], taken: Sequence[range]) -> Elements:
    """The elements at the indices `taken` of each axis."""
    if len(taken) == 1:
        return tuple([elements[i] for i in taken[0]])
    steps = strides(shape)
    start = sum((part.start if len(part) else 0) * step for part, step in zip(taken, steps, strict=True))
    places = indices([len(part) for part in taken], [part.step * step for part, step in zip(taken, steps, strict=True)], start)
    return tuple([elements[i] for i in places])


def concatenated(parts: Sequence[tuple[Elements, Sequence[int]]], axis: int) -> Elements:
    """The elements of tensors concatenated along an axis; `parts` are their elements and shapes."""
    outer = prod(parts[0][1][:axis])
    rows = [(elements, prod(shape[axis:])) for elements, shape in parts]
    joined: list[Any] = []
    for i in range(outer):
        for elements, row in rows:
            joined += elements[i * row : (i + 1) * row]
    return tuple(joined)


def gathered(elements: Elements, shape: Sequence[int], positions: Sequence[int], axis: int) -> Elements:
    """The elements at some non-negative positions along an axis of `shape`, in their order; 0 for a position beyond the axis."""
    outer, inner = prod(shape[:axis]), prod(shape[axis + 1 :])
    row = shape[axis] * inner
    nothing = (0,) * inner
    taken: list[Any] = []
    for start in range(0, outer * row, row) if row else [0] * outer:
        for position in positions:
            place = position * inner
            taken += elements[start + place : start + place + inner] if place < row else nothing
    return tuple(taken)


def replaced(elements: Elements, places: Iterable[int], updates: Elements) -> Elements:
    """The elements after those at the given flat positions are replaced in order."""
    result = list(elements)
    for place, update in zip(places, updates, strict=True):
        result[place] = update
    return tuple(result)


def padded(elements: Elements, shape: Sequence[int], begin: Sequence[int], end: Sequence[int], fill: Element) -> Elements:
    """The elements with `fill` before and after each axis; negative pads remove elements."""
    places: list[int | None] = [0]
    for size, step, before, after in zip(shape, strides(shape), begin, end, strict=True):
        steps = [index * step if 0 <= index < size else None for index in range(-before, size + after)]
        places = [None if place is None or step is None else place + step for place in places for step in steps]
    return tuple(fill if place is None else elements[place] for place in places)


def broadcast_to(elements: Elements, shape: Sequence[int], target: Sequence[int]) -> Elements:
    """The elements repeated to a shape that `shape` broadcasts to."""
    if tuple(shape) == tuple(target):
        return elements
    lead = len(target) - len(shape)
    steps = [0] * lead + [0 if size == 1 else step for size, step in zip(shape, strides(shape), strict=True)]
    return tuple([elements[i] for i in indices(target, steps)])


_NUMBERS: Final[frozenset[type]] = frozenset({int, float})


def are_numbers(elements: Collection[Any]) -> bool:
    """Whether every element is a number, and none a size or an interval of reals that is not known."""
    return _NUMBERS.issuperset(map(type, elements)) or not any(isinstance(element, (Dim, Real)) for element in elements)


_LIMITS: Final[dict[ElementType, tuple[int, int]]] = {
    one: (-(1 << one.bits - 1), (1 << one.bits - 1) - 1) if one.is_signed else (0, (1 << one.bits) - 1)
    for one in (
        ElementType.i4, ElementType.i8, ElementType.i16, ElementType.i32, ElementType.i64,
        ElementType.u1, ElementType.u2, ElementType.u3, ElementType.u4, ElementType.u6,
        ElementType.u8, ElementType.u16, ElementType.u32, ElementType.u64,
    )
}  # fmt: skip


# A type of at least this many bits holds every size.
_WIDE: Final = 32


def limits(element_type: ElementType) -> tuple[Bound, Bound]:
    """The least and the greatest number of a type; infinite if no size comes near it."""
    if element_type is ElementType.boolean:
        return 0, 1
    low, high = _LIMITS.get(element_type, (-inf, inf))
    return (low if low == 0 or element_type.bits < _WIDE else -inf), (high if element_type.bits < _WIDE else inf)


def fits(element: Element, element_type: ElementType) -> bool:
    """Whether an integer type holds all values of an element. Any other type holds every element after rounding."""
    own = _LIMITS.get(element_type)
    if own is None:
        return True
    if type(element) is int:
        return own[0] <= element <= own[1]
    if isinstance(element, (float, Real)):
        return True
    low, high = own if isinstance(element, int) else limits(element_type)
    least, most = bounds_unasked(element)
    return low <= least and most <= high


def exact_limits(element_type: ElementType) -> tuple[int, int] | None:
    """The least and the largest integer up to which a type holds every integer; None if it holds no numbers."""
    if element_type is ElementType.boolean:
        return 0, 1
    if element_type in _ROUNDINGS:
        most = 1 << _ROUNDINGS[element_type][1]
        return -most, most
    return _LIMITS.get(element_type)


def representable(elements: Elements, element_type: ElementType) -> Elements | None:
    """The elements as the type stores them, with reals rounded; None if an integer is out of range or the type is not supported.

    A runtime would wrap an integer that is out of range; here the values become unknown.
    """
    if element_type.is_real:
        rounding = _ROUNDINGS.get(element_type)
        if element_type in _CODES and _NUMBERS.issuperset(map(type, elements)):
            layout = f"<{len(elements)}{_CODES[element_type]}"
            with suppress(OverflowError):  # one is beyond the type
                return struct.unpack(layout, struct.pack(layout, *elements))
        return None if rounding is None else tuple([_rounded(element, *rounding) for element in elements])
    if element_type is ElementType.boolean:
        return elements
    # A Dim without an upper bound is unknown anyway and passes.
    bounded = [element for element in elements if not (isinstance(element, Dim) and element.range.high == inf)]
    return elements if element_type in _LIMITS and all(fits(element, element_type) for element in bounded) else None


def _rounded(element: Element, rounding: Callable[[Bound], float], digits: int) -> Element:
    if isinstance(element, (int, float)):
        return rounding(element)
    low, high = element[:2] if isinstance(element, Real) else bounds(element)
    size = element.size if isinstance(element, Real) else element
    if size is not None and _is_exact(size, digits):
        return element
    low, high = rounding(low), rounding(high)
    return low if low == high and abs(low) != inf else Real(low, high)


def _is_exact(size: Size, digits: int) -> bool:
    """Whether a whole number has at most so many binary digits.

    No size needs 24 digits, not even one without bounds. So a formula without a bound has at most 24 digits, too, if its numbers have.
    """
    largest = 1 << digits
    low, high = bounds(size)
    if not isinstance(size, Dim) or (low != -inf and high != inf):
        return -largest <= low and high <= largest
    if digits < 24 or (low != -inf and abs(low) > largest) or (high != inf and abs(high) > largest):
        return False
    constant, terms = size.polynomial.constant, size.polynomial.terms
    return max(abs(constant), *[abs(coefficient) for _, coefficient in terms]) <= largest


# The codes of types in the layouts of `struct`.
_CODES: Final = {ElementType.f64: "d", ElementType.f32: "f", ElementType.f16: "e"}


def _nearest(element_type: ElementType) -> Callable[[Bound], float]:
    """The function that gives the nearest number of a type; an infinite one for a number beyond the type."""
    layout = f"<{_CODES[element_type]}"

    def nearest(number: Bound) -> float:
        try:
            rounded: float = struct.unpack(layout, struct.pack(layout, number))[0]
        except (OverflowError, struct.error):  # the latter for an int beyond all floats
            return inf if number > 0 else -inf
        return rounded

    return nearest


to_float: Final = _nearest(ElementType.f64)
float32: Final = _nearest(ElementType.f32)


def _round_bf16(number: Bound) -> float:
    (bits,) = struct.unpack("<I", struct.pack("<f", float32(number)))
    if bits & 0x7F800000 != 0x7F800000:  # neither infinite nor NaN
        bits += 0x7FFF + (bits >> 16 & 1)
    rounded: float = struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000))[0]
    return rounded


# The rounding of a type, and the binary digits of its significand.
_ROUNDINGS: Final[dict[ElementType, tuple[Callable[[Bound], float], int]]] = {
    ElementType.f64: (to_float, 53),
    ElementType.f32: (float32, 24),
    ElementType.f16: (_nearest(ElementType.f16), 11),
    ElementType.bf16: (_round_bf16, 8),
}
