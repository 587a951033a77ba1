"""The number of positions of a sliding window along one axis: convolution, pooling and their transposes."""

from __future__ import annotations

from math import inf, isinf
from typing import Final

from irshape.shape.compilation import NamedTuple
from irshape.shape.dim import Dim, Size, bounds, dim_max, dim_min, le, le_unasked, lt, narrow
from irshape.shape.guard import STATIC, Judge, Requirement
from irshape.shape.range import Bound
from irshape.shape.value import float32

_TOO_LARGE = "the kernel of size {b} must fit into axis {axis} of the padded data"
_NEGATIVE = "axis {axis} of the output must not be negative"


class Slide(NamedTuple):
    """How a window moves along one axis."""

    stride: Size
    dilation: Size
    pad_begin: Size
    pad_end: Size


def dilated(kernel: Size, dilation: Size) -> Size:
    """The number of elements that a kernel spans with its gaps. A kernel of 0 counts as 1, as in OpenVINO."""
    return ((kernel if type(kernel) is int and kernel > 0 else dim_max(kernel, 1)) - 1) * dilation + 1


def window(ctx: Judge, size: Size, kernel: Size, slide: Slide, rounding: str = "floor", *, axis: int = 0) -> Size:
    """The number of positions of a dilated kernel on a padded axis; `rounding` is `floor`, `ceil` or `ceil_torch`.

    The kernel must fit into the padded data. If it does not fit, the result is 1.
    """
    stride, dilation, pad_begin, pad_end = slide
    extent = dilated(kernel, dilation)
    pads = pad_begin + pad_end
    padded = size + pads
    if rounding == "floor" and type(padded) is int and type(extent) is int and extent <= padded:
        return (padded - extent) // stride + 1
    if not le_unasked(extent, padded):
        _require_fit(ctx, size, extent, pads, axis)
    if rounding == "floor":
        rounded = padded - extent
    elif rounding == "ceil":
        rounded = padded - extent + (stride - 1)
    else:
        # A last window that would start in the end padding is dropped, but only one.
        beyond = pad_end - extent
        rounded = size + pad_begin + dim_min(beyond + (stride - 1), dim_max(beyond, 0) - 1)
    return (0 if lt(rounded, 0) else narrow(rounded, 0)) // stride + 1


def _require_fit(ctx: Judge, size: Size, extent: Size, pads: Size, axis: int) -> None:
    """Demand that a kernel fits into the padded data. OpenVINO checks static sizes, and takes pads that sum to less than -1 for 0."""
    padded = size + pads
    with ctx.openvino_checks(at=STATIC):
        if le(0, pads) or not lt(padded, extent):
            ctx.require_ge(padded, extent, _TOO_LARGE, axis=axis)
        elif lt(pads, -1) and lt(size, extent):
            ctx.require_ge(size, extent, _TOO_LARGE, axis=axis)
        else:
            ctx.never(Requirement("ge", padded, extent, _TOO_LARGE, "S203", {"axis": axis}))


def transposed_window(ctx: Judge, size: Size, kernel: Size, slide: Slide, output_padding: Size = 0, *, axis: int = 0) -> Size:
    """The size of an axis on which a window with these attributes has `size` positions: the output of a transposed convolution.

    A size of 0 counts as 1, as in OpenVINO. OpenVINO accepts a negative result; here it is never valid, and 0 is returned.
    """
    stride, dilation, pad_begin, pad_end = slide
    result = (dim_max(size, 1) - 1) * stride + dilated(kernel, dilation) + output_padding - (pad_begin + pad_end)
    if lt(result, 0):
        ctx.never(Requirement("ge", result, 0, _NEGATIVE, "S203", {"axis": axis}))
        return 0
    if le(0, result) is None:
        ctx.require_ge(result, 0, _NEGATIVE, axis=axis)
    return narrow(result, 0)


# For a size without upper bound, or with one that no tensor has, a fraction must equal the scale up to this size. Far beyond, the added
# millionth adds elements.
_LARGE: Final = 100_000
_LARGEST: Final = 2**31
_MAX_DENOMINATOR: Final = 1024


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
    end = high if isinstance(high, int) and high < _LARGEST else _LARGE
    rounding = end * multiplier * 2.0**-23
    for denominator in range(1, _MAX_DENOMINATOR):
        numerator = round(scale * denominator)
        excess = multiplier - numerator / denominator
        # The float products exceed the exact ones, but by less than the distance to the next integer.
        if excess > 1e-9 and excess * end + rounding < 1 / denominator:
            return numerator, denominator
    return None
