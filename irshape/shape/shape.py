"""A shape: a tuple of sizes, or None if the rank is unknown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from irshape.shape.dim import Size, bounds, format_size, narrow
from irshape.shape.guard import STATIC, Judge
from irshape.shape.range import Bound

Shape: TypeAlias = tuple[Size, ...] | None
"""The size of each axis; None if the rank is unknown."""

_SAME = "the inputs must be equal on axis {axis}"
_DO_NOT_BROADCAST = {
    "numpy": "the inputs must broadcast on axis {axis}",
    "none": _SAME,
    "explicit": _SAME,
    "pdpd": "the second input must broadcast to the first on axis {axis}",
}


def merge_shapes(
    ctx: Judge,
    a: Shape,
    b: Shape,
    message: str = "axis {axis} must have equal sizes",
    *,
    code: str = "S201",
    rank_message: str = "the ranks must be equal",
    rank_code: str = "S102",
    **names: Any,
) -> Shape:
    """The shape that both must be; an unknown rank fits any shape. The message may use `{axis}`."""
    if a is None or a is b:
        return b
    if b is None:
        return a
    if len(a) != len(b):
        ctx.require_eq(len(a), len(b), rank_message, code=rank_code, **names)
        return a
    if a == b:
        return a
    return tuple(
        [x if x == y else ctx.merge(x, y, message, code=code, axis=axis, **names) for axis, (x, y) in enumerate(zip(a, b, strict=True))]
    )


def broadcast_shapes(
    ctx: Judge, a: Shape, b: Shape, kind: str = "numpy", axis: int = -1, message: str = "", *, code: str = "S202", **names: Any
) -> Shape:
    """The shape of an elementwise result.

    `kind` is `numpy` (aligned at the last axis), `none` or `explicit` (the shapes must be equal), or `pdpd`: `b` broadcasts to `a`, with
    its first axis at `axis` of `a`, or with its last axis at the last of `a` if `axis` is -1. The message may use `{axis}`, which is one of
    the result.
    """
    message = message or _DO_NOT_BROADCAST[kind]
    if kind in ("none", "explicit"):
        return merge_shapes(ctx, a, b, message, code=code, rank_message="the inputs must have the same rank", rank_code=code, **names)
    if a is None or b is None:
        return None
    if kind == "numpy":
        if a == b:
            return a
        if len(a) < len(b):
            a = (1,) * (len(b) - len(a)) + a
        start = len(a) - len(b)
    else:
        start = len(a) - len(b) if axis == -1 else axis
        if start < 0 or start + len(b) > len(a):
            ctx.require_ge(len(a), len(b) + max(start, 0), "the first input must have an axis for each axis of the second", code=code)
            return a
    end = start + len(b)
    pairs = enumerate(zip(a[start:end], b, strict=True), start)
    if kind == "numpy":
        middle = [x if x == y else ctx.broadcast(x, y, message, code=code, axis=place, **names) for place, (x, y) in pairs]
    else:
        middle = [_stretch(ctx, x, y, message, code, {"axis": place, **names}) for place, (x, y) in pairs]
    return (*a[:start], *middle, *a[end:])


def _stretch(ctx: Judge, a: Size, b: Size, message: str, code: str, names: dict[str, Any]) -> Size:
    """Broadcasting in which only `b` may be repeated."""
    with ctx.openvino_checks(at=STATIC):
        ctx.require_ge(a, b, message, code=code, **names)
    if isinstance(a, int) and isinstance(b, int) and a < b:
        return a
    result = ctx.broadcast(a, b, message, code=code, **names)
    if ctx.scope.has_intervals_only:
        return result
    # If `b` is 0, the result is 0 even where `a` is 1; otherwise the result is `a`.
    return narrow(result, *bounds(a)) if bounds(b)[0] > 0 else result


def format_shape(shape: Shape, bounds: Callable[[Size], tuple[Bound, Bound]] = bounds) -> str:
    """OpenVINO's notation: `[1,3,224..,?]`, `[...]`, `[]`."""
    return "[...]" if shape is None else f"[{','.join([format_size(size, bounds) for size in shape])}]"
