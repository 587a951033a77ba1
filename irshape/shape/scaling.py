"""A size times a float, as OpenVINO resizes images: a millionth is added to the scale, and the float32 product is truncated."""

from __future__ import annotations

from math import inf, isinf
from struct import pack, unpack
from typing import Final

from irshape.shape.dim import Dim, Size, bounds, narrow
from irshape.shape.range import Bound

# For a size without upper bound, a fraction must equal the scale up to this size. Far beyond, the added millionth adds elements.
_LARGE: Final = 100_000
_MAX_DENOMINATOR: Final = 1024


def float32(value: float) -> float:
    """The nearest float32; infinite if the value is too large."""
    try:
        return float(unpack("<f", pack("<f", value))[0])
    except OverflowError:
        return inf if value > 0 else -inf


def scaled(size: Size, scale: float) -> Size:
    """A size resized by a finite float32 scale.

    A Dim becomes `size*n//d` with the simplest fraction that is exact for all its values, or an unknown size if there is none. The fraction
    of a Dim without upper bound is exact up to 100,000.
    """
    if scale == 1.0:
        return size
    multiplier = float32(scale + float32(1e-6))
    if not isinstance(size, Dim):
        return _cut(size, multiplier)
    low, high = bounds(size)
    least, most = sorted((_scaled_end(low, multiplier), _scaled_end(high, multiplier)))
    fraction = _fraction(scale, multiplier, high)
    if fraction is None or (fraction[0] == 0 < most):  # the millionth alone makes elements of a size that is large enough
        return size.scope.unknown(("scaled", size, multiplier), least, most)
    numerator, denominator = fraction
    return narrow(size * numerator // denominator, least, most)


def _scaled_end(end: Bound, multiplier: float) -> Bound:
    if isinstance(end, int):
        return _cut(max(end, 0), multiplier)
    return 0 if end < 0 or multiplier == 0 else inf if multiplier > 0 else -inf


def _cut(size: int, multiplier: float) -> int:
    product = float32(size) * multiplier
    rounded = float32(product)
    return int(product if isinf(rounded) else rounded)


def _fraction(scale: float, multiplier: float, high: Bound) -> tuple[int, int] | None:
    """The simplest fraction that gives the same results as the multiplier for all sizes up to `high`; None if there is none."""
    end = high if isinstance(high, int) else _LARGE
    rounding = end * multiplier * 2.0**-23
    for denominator in range(1, _MAX_DENOMINATOR):
        numerator = round(scale * denominator)
        excess = multiplier - numerator / denominator
        # The float products exceed the exact ones, but by less than the distance to the next integer.
        if excess > 1e-9 and excess * end + rounding < 1 / denominator:
            return numerator, denominator
    return None
