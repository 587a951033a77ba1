"""The number of positions of a sliding window along one axis: convolution, pooling and their transposes."""

from __future__ import annotations

from typing import Any

from irshape.shape.dim import Size, dim_max, dim_min, is_le, le, lt, narrow
from irshape.shape.guard import STATIC, Judge, Requirement

_TOO_LARGE = "the kernel of {b} elements must fit into axis {axis} of the padded data"
_NEGATIVE = "axis {axis} of the output must not be negative"


def dilated(kernel: Size, dilation: Size) -> Size:
    """The number of elements that a kernel spans with its gaps. A kernel of 0 counts as 1, as in OpenVINO."""
    return (dim_max(kernel, 1) - 1) * dilation + 1


def window(
    ctx: Judge,
    size: Size,
    kernel: Size,
    stride: Size,
    dilation: Size,
    pad_begin: Size,
    pad_end: Size,
    rounding: str = "floor",
    message: str = _TOO_LARGE,
    *,
    code: str = "S203",
    axis: int = 0,
    **names: Any,
) -> Size:
    """The number of positions of a dilated kernel on a padded axis; `rounding` is `floor`, `ceil` or `ceil_torch`.

    The kernel must fit into the padded data, which OpenVINO checks if both are static. If it does not fit, the result is 1.
    """
    extent = dilated(kernel, dilation)
    pads = pad_begin + pad_end
    padded = size + pads
    if not is_le(extent, padded):
        with ctx.openvino_checks(at=STATIC):
            if not isinstance(pads, int) or pads >= 0 or not lt(padded, extent):
                ctx.require_ge(padded, extent, message, code=code, axis=axis, **names)
            # OpenVINO treats pads that sum to -1 as unknown and smaller sums as 0, and checks the kernel against data padded in that way.
            elif pads < -1 and lt(size, extent):
                ctx.require_ge(size, extent, message, code=code, axis=axis, **names)
            else:
                ctx.never(Requirement("ge", padded, extent, message, code, {"axis": axis, **names}))
    if rounding == "floor":
        rounded = padded - extent
    elif rounding == "ceil":
        rounded = padded - extent + (stride - 1)
    else:
        # A last window that would start in the end padding is dropped, but only one.
        beyond = pad_end - extent
        rounded = size + pad_begin + dim_min(beyond + (stride - 1), dim_max(beyond, 0) - 1)
    return (0 if lt(rounded, 0) else narrow(rounded, 0)) // stride + 1


def transposed_window(
    ctx: Judge,
    size: Size,
    kernel: Size,
    stride: Size,
    dilation: Size,
    pad_begin: Size,
    pad_end: Size,
    output_padding: Size = 0,
    message: str = _NEGATIVE,
    *,
    code: str = "S203",
    axis: int = 0,
    **names: Any,
) -> Size:
    """The size of an axis on which a window with these attributes has `size` positions: the output of a transposed convolution.

    A size of 0 counts as 1, as in OpenVINO. OpenVINO accepts a negative result; here it is never valid, and 0 is returned.
    """
    result = (dim_max(size, 1) - 1) * stride + dilated(kernel, dilation) + output_padding - (pad_begin + pad_end)
    if lt(result, 0):
        ctx.never(Requirement("ge", result, 0, message, code, {"axis": axis, **names}))
        return 0
    if le(0, result) is None:
        ctx.require_ge(result, 0, message, code=code, axis=axis, **names)
    return narrow(result, 0)
