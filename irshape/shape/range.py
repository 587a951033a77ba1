"""The abstract value of an unknown integer: the reduced product of an interval and a congruence, with its transfer functions.

Every function is sound: if each operand is in its range, the result is in the result's range. Finite ends are exact ints, infinite ends
are `math.inf`; a low end is never `inf`, a high end never `-inf`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd, inf
from typing import Final, TypeAlias

from irshape.shape.compilation import NamedTuple

Bound: TypeAlias = int | float

# An end beyond this becomes infinite and a modulus beyond it becomes 1, so that repeated squaring cannot exhaust the memory.
_HUGE: Final = 1 << 256
_LEAST: Final = -_HUGE


# Python refuses to write numbers of more than 4300 digits as decimals.
_LONG: Final = 1 << 4096


def number_text(value: Bound) -> str:
    """A number as a Python literal, in hexadecimal if it has more than a thousand digits."""
    return hex(value) if isinstance(value, int) and not -_LONG < value < _LONG else str(value)


def interval_text(low: Bound, high: Bound) -> str:
    """The numbers from `low` to `high`: `5`, `1..8`, `3..`."""
    return str(low) if low == high else f"{'' if low == -inf else low}..{'' if high == inf else high}"


class Range(NamedTuple):
    """`low <= value <= high` and `value % modulus == remainder`; modulus 0 means that the value is `remainder`."""

    low: Bound
    high: Bound
    modulus: int = 1
    remainder: int = 0


_ALL: Final = Range(-inf, inf)


# Makes a range of its four numbers. Most ranges are made here, and `Range(...)` takes twice as long.
_new: Final = tuple.__new__


def exactly(value: int) -> Range:
    """The range of a known integer. A huge one has an infinite end, because an int of that size cannot be added to a float."""
    if _LEAST <= value <= _HUGE:
        return _new(Range, (value, value, 0, value))
    return Range(_HUGE, inf, 0, value) if value > 0 else Range(-inf, _LEAST, 0, value)


def reduced(low: Bound, high: Bound, modulus: int = 1, remainder: int = 0) -> Range | None:
    """The reduced product of an interval and a congruence: both ends satisfy the congruence. None if no integer is left."""
    if modulus == 1 and low < high and (high == inf or _LEAST <= high <= _HUGE) and (_LEAST <= low <= _HUGE or low == -inf):
        return _new(Range, (low, high, 1, 0))
    if modulus == 0:
        return exactly(remainder) if low <= remainder <= high else None
    if modulus > _HUGE:
        modulus = 1
    remainder %= modulus
    if modulus > 1:
        if abs(low) != inf:
            low += (remainder - low) % modulus
        if abs(high) != inf:
            high -= (high - remainder) % modulus
    if low > high:
        return None
    if low == high and abs(low) != inf:
        return exactly(int(low))
    return _new(Range, (*capped(low, high), modulus, remainder))


def capped(low: Bound, high: Bound) -> tuple[Bound, Bound]:
    """The ends of an interval, of which those beyond the numbers that irshape computes with become infinite."""
    if low < _LEAST or low > _HUGE:
        low = -inf if low < _LEAST else _HUGE
    if high < _LEAST or high > _HUGE:
        high = inf if high > _HUGE else _LEAST
    return low, high


def reduced_or_top(low: Bound, high: Bound, modulus: int, remainder: int) -> Range:
    """As `reduced`, but the range of all integers if no integer is left."""
    return reduced(low, high, modulus, remainder) or _ALL


def _meet_congruences(a: Range, b: Range) -> tuple[int, int] | None:
    """The intersection of two congruences by the Chinese remainder theorem; None if it is empty."""
    if a.modulus == 0 or b.modulus == 0:
        constant, other = (a, b) if a.modulus == 0 else (b, a)
        agrees = (constant.remainder - other.remainder) % other.modulus == 0 if other.modulus else constant.remainder == other.remainder
        return (0, constant.remainder) if agrees else None
    common = gcd(a.modulus, b.modulus)
    if (a.remainder - b.remainder) % common:
        return None
    rest = b.modulus // common
    step = (b.remainder - a.remainder) // common * pow(a.modulus // common, -1, rest) % rest
    return a.modulus * rest, a.remainder + a.modulus * step


def meet(a: Range, b: Range) -> Range | None:
    """The intersection of two ranges; None if it is empty."""
    low, high, modulus, remainder = a
    least, most, step, rest = b
    if step == 1 or (step == modulus and rest == remainder):
        if least <= low < high <= most:
            return a
    elif modulus != 1:
        congruence = _meet_congruences(a, b)
        if congruence is None:
            return None
        modulus, remainder = congruence
    else:
        modulus, remainder = step, rest
    return reduced(max(low, least), min(high, most), modulus, remainder)


def join(a: Range, b: Range) -> Range:
    """The least range that contains both ranges."""
    modulus = gcd(a.modulus, b.modulus, a.remainder - b.remainder)
    return reduced_or_top(min(a.low, b.low), max(a.high, b.high), modulus, a.remainder)


def add(a: Range, b: Range) -> Range:
    """The range of `x + y`."""
    low, high, modulus, remainder = a
    other_low, other_high, other_modulus, other_remainder = b
    return reduced_or_top(low + other_low, high + other_high, gcd(modulus, other_modulus), remainder + other_remainder)


def subtract(a: Range, b: Range) -> Range:
    """The range of `x - y`."""
    low, high, modulus, remainder = a
    other_low, other_high, other_modulus, other_remainder = b
    return reduced_or_top(low - other_high, high - other_low, gcd(modulus, other_modulus), remainder - other_remainder)


def times(a: Bound, b: Bound) -> Bound:
    """The product of two bounds; 0 times no limit is 0."""
    return 0 if a == 0 or b == 0 else a * b


def multiply(a: Range, b: Range) -> Range:
    """The range of `x * y`."""
    if a.low >= 0 and b.low >= 0:
        low, high = a.low * b.low, times(a.high, b.high)
    else:
        corners = times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)
        low, high = min(corners), max(corners)
    modulus = gcd(a.modulus * b.modulus, a.modulus * b.remainder, b.modulus * a.remainder)
    return reduced_or_top(low, high, modulus, a.remainder * b.remainder)


def divided(a: Bound, b: Bound) -> Bound:
    """The quotient of two bounds, rounded down."""
    if a in (inf, -inf):
        return a
    if b == inf:
        return 0 if a >= 0 else -1
    return a // b


def floor(a: Range, b: Range) -> Range:
    """The range of `x // y` over all `y` but 0."""
    divisor = max(b.low, 1)
    if b.low < 0 or divisor > b.high:
        return _ALL
    corners = divided(a.low, divisor), divided(a.low, b.high), divided(a.high, divisor), divided(a.high, b.high)
    modulus, remainder = 1, 0
    if b.modulus == 0 and a.modulus % b.remainder == 0:
        modulus, remainder = a.modulus // b.remainder, a.remainder // b.remainder
    return reduced_or_top(min(corners), max(corners), modulus, remainder)


def modulo(a: Range, b: Range) -> Range:
    """The range of `x % y` over all `y` but 0."""
    if b.low < 0 or b.high < 1:
        return _ALL
    low: Bound = 0
    high = b.high - 1
    if a.low >= 0:
        high = min(high, a.high)
    if b.modulus:
        return reduced_or_top(low, high, 1, 0)
    divisor = b.remainder
    if a.low != -inf and a.high != inf and a.low // divisor == a.high // divisor:
        low, high = a.low % divisor, a.high % divisor
    return reduced_or_top(low, high, gcd(a.modulus, divisor), a.remainder)


def minimum(a: Range, b: Range) -> Range:
    """The range of `min(x, y)`."""
    either = join(a, b)
    return reduced_or_top(min(a.low, b.low), min(a.high, b.high), either.modulus, either.remainder)


def maximum(a: Range, b: Range) -> Range:
    """The range of `max(x, y)`."""
    either = join(a, b)
    return reduced_or_top(max(a.low, b.low), max(a.high, b.high), either.modulus, either.remainder)


COMPOSE: Final[dict[str, Callable[[Range, Range], Range]]] = {
    "add": add,
    "multiply": multiply,
    "floor": floor,
    "min": minimum,
    "max": maximum,
    "broadcast": join,
}


def fitting(known: Range, wanted: int) -> int:
    """The size of a range that is nearest to a wanted one."""
    low, high, modulus, remainder = known
    size = max(wanted, int(low)) if low != -inf else wanted
    size = min(size, int(high)) if high != inf else size
    if modulus > 1:
        size += (remainder - size) % modulus
        size = size - modulus if size > high else size
    return size
