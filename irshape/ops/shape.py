"""ShapeOf, and operations that change only the shape of a tensor."""

from collections.abc import Sequence
from math import inf
from typing import Annotated

from irshape.ops.attribute import IndexType, Stated
from irshape.ops.context import Context
from irshape.ops.cost import moved
from irshape.ops.flow import Flow
from irshape.ops.op import In, Input, Moving, Op, Out
from irshape.ops.registry import op
from irshape.shape.dim import (
    INT64_MAX,
    Dim,
    Size,
    bounds,
    dim_max,
    dim_min,
    eq,
    eq_unasked,
    is_filled,
    is_known,
    is_multiple,
    le,
    narrow,
    product,
)
from irshape.shape.element_type import INTEGER, ElementType
from irshape.shape.shape import Shape
from irshape.shape.value import Elements


@op("ShapeOf", "opset1")
class ShapeOf(Op):
    """The sizes of a tensor."""

    data = In()
    output = Out(ElementType.i64)
    ignores_surplus = True
    demands = ()
    is_followed = True
    cost = moved

    def infer(self, ctx: Context, data: Input) -> Shape:
        return (data.rank if data.is_ranked else ctx.unknown(),)

    def flow(self, flow: Flow, data: Input) -> None:
        flow.measures(data)

    def propagate(self, ctx: Context, data: Input) -> Elements | None:
        return data.shape


@op("ShapeOf", "opset3", also="opset17")
class ShapeOfV3(ShapeOf):
    """The sizes of a tensor, in an integer type of choice."""

    output = Out(attribute="output_type")
    output_type: IndexType


class _Rearrangement(Moving):
    """The same elements in the same order, in another shape."""

    data = In()
    output = Out(like="data")
    demands = ("data",)
    is_view = True

    def flow(self, flow: Flow, data: Input, *sizes: Input | None) -> None:
        flow.regroup(data)
        flow.sizes(*sizes)

    def propagate(self, ctx: Context, data: Input, *sizes: Input | None) -> Elements | None:
        return data.values


@op("Reshape", "opset1")
class Reshape(_Rearrangement):
    """Give the data another shape. A size of -1 is inferred; with `special_zero`, a size of 0 is copied from the data."""

    shape = In(INTEGER, rank=1, value=True)
    special_zero: Annotated[bool, Stated] = False

    def infer(self, ctx: Context, data: Input, shape: Input) -> Shape:
        if shape.count is None:
            return None
        pattern = ctx.values(shape)
        is_inferred = -1 in pattern
        if not is_inferred and any(_may_be_inferred(size) for size in pattern if isinstance(size, Dim)):  # OpenVINO checks none of them
            return tuple(self._alone(ctx, data, axis, size) for axis, size in enumerate(pattern))
        if pattern.count(-1) > 1:
            ctx.fail("V101", "shape must hold at most one -1", port=shape)
        copied = [axis for axis, size in enumerate(pattern) if size == 0] if self.special_zero else []
        if data.is_ranked and copied and copied[-1] >= data.rank:
            ctx.fail("V101", f"shape[{copied[-1]}] copies axis {copied[-1]} of data, but data has rank {data.rank}", port=shape)
        given: dict[int, Size] = {}
        target: list[Size] = []
        for axis, size in enumerate(pattern):
            if axis in copied:
                target.append(data.shape[axis] if data.is_ranked else ctx.unknown())
            elif size == -1:
                target.append(1)  # replaced when the others are known
            elif _is_filled_size(size):
                given[axis] = size
                target.append(size)
            else:
                given[axis] = self._given(ctx, data, axis, size)
                target.append(self._or_copied(ctx, data, axis, given[axis]))
        ctx.stop_at_errors()
        if is_inferred:
            target[pattern.index(-1)] = self._inferred(ctx, data, pattern, copied, given)
        elif data.is_ranked:
            self._require_as_many(ctx, data, copied, given)
        return tuple(target)

    def _alone(self, ctx: Context, data: Input, axis: int, size: Size) -> Size:
        """The size for an element of `shape` if another element may turn out to be -1."""
        return self._or_copied(ctx, data, axis, self._given(ctx, data, axis, size)) if le(0, size) else ctx.unknown()

    def _given(self, ctx: Context, data: Input, axis: int, size: Size) -> Size:
        """A number of `shape` as a size. It may be 0, which copies with `special_zero`."""
        low, high = bounds(size)
        if low == INT64_MAX:  # OpenVINO takes it for a size without bounds
            return ctx.unknown()
        if low < high < 0:
            ctx.require_ge(size, -1, "shape[{axis}] must be a size or -1", code="V101", axis=axis)
            if ctx.openvino_knows_same and low < -1 == high:
                ctx.error("S206", f"OpenVINO refuses bounds of shape[{axis}] that are all below 0: {low}..-1")
            return ctx.unknown()
        ctx.require_ge(size, 0, "shape[{axis}] must be a size or -1", code="V101", axis=axis)
        if ctx.scope.has_intervals_only and not is_known(size):
            return size if low >= 0 else ctx.unknown()
        size = ctx.saturate(size)
        if self.special_zero and data.is_ranked and bounds(size)[0] <= 0:
            if axis >= data.rank:
                with ctx.openvino_checks(at=[size]):
                    message = "shape[{axis}] must not be 0, which copies axis {axis} of data, but data has rank {rank}"
                    ctx.require_ge(size, 1, message, code="V101", axis=axis, rank=data.rank)
            elif is_known(size):
                return data.shape[axis]
        return size

    def _may_copy(self, ctx: Context, data: Input, axis: int, size: Size) -> bool:
        """Whether a given size may turn out to be 0, and copies then. OpenVINO takes a size that it does not know for one that does not."""
        if not self.special_zero or bounds(size)[0] > 0 or (ctx.scope.has_intervals_only and not is_known(size)):
            return False
        return not data.is_ranked or axis < data.rank

    def _or_copied(self, ctx: Context, data: Input, axis: int, size: Size) -> Size:
        """The size of the output for a given size: if this turns out to be 0, the size that it copies."""
        if not self._may_copy(ctx, data, axis, size) or (data.is_ranked and _vanishes_with(data.shape[axis], size)):
            return size
        (low, high), (least, most) = bounds(data.shape[axis]) if data.is_ranked else (0, inf), bounds(size)
        low = min(low, max(least, 1))
        if not data.is_ranked or (is_filled(size) and high == most == inf):  # otherwise guards may bound one more than the other
            with ctx.assumes():
                ctx.require_ge(size, 1, "shape[{axis}] is a size unless it is 0, which copies axis {axis} of data", axis=axis)
            return narrow(size, low)
        return narrow(size + data.shape[axis] * (1 - dim_min(size, 1)), low, max(high, most))

    def _require_as_many(self, ctx: Context, data: Input, copied: list[int], given: dict[int, Size]) -> None:
        """Demand that the given sizes hold as many elements as the data. OpenVINO does not compare them if a 0 copies."""
        have, want = [size for axis, size in enumerate(data.shape) if axis not in copied], list(given.values())
        for axis, size in given.items():
            if self._may_copy(ctx, data, axis, size) and not _vanishes_with(data.shape[axis], size):
                have.append(dim_min(size, 1))  # so that both sides are 0 if it copies
        if all(bounds(size)[0] > 0 for size in want):  # otherwise both may be empty, whatever their other sizes
            have, want = ctx.without_common(have, want)
        ours, theirs = product(have), product(want)
        if not eq_unasked(ours, theirs):
            if theirs == 0 and bounds(ours)[0] <= 0:
                ctx.warn("R401", "shape has a 0 that copies no axis, so only data without elements fit it", port=ctx.arguments[1])
            with ctx.openvino_checks(at=[*have, *want], when=not copied):
                ctx.require_eq(ours, theirs, "data must have as many elements as shape")

    def _inferred(self, ctx: Context, data: Input, pattern: Sequence[Size], copied: list[int], given: dict[int, Size]) -> Size:
        """The size for -1.

        If a given size is 0 and does not copy, OpenVINO makes it 1.
        """
        want = list(given.values())
        have = [size for axis, size in enumerate(data.shape) if axis not in copied] if data.is_ranked else None
        # OpenVINO assumes that data of unknown rank is not empty.
        is_empty = 0 in want and 0 not in pattern and not all(map(is_known, (*pattern, *(have or ()))))
        if is_empty and (have is None or 0 not in have):  # known from formulas that OpenVINO does not follow
            with ctx.openvino_checks(at=[*pattern, *(have or ())]):
                count = ctx.unknown() if have is None else product(have)
                ctx.require_eq(count, 0, "data must have no elements where shape holds -1 and a size of 0", code="V101")
            return ctx.unknown()
        if 0 in want:
            return self._left_of_nothing(ctx, have, want)
        if have is None:
            least = 0 if copied else 1
            left = ctx.unknown(least if ctx.scope.has_intervals_only else 0)
            with ctx.assumes():
                ctx.require_ge(left, least, "data of unknown rank is assumed to have elements")
            return left
        sizes = {axis: size for axis, size in enumerate(data.shape) if axis not in copied}
        copies = [axis for axis, size in given.items() if not _is_filled_size(size) and self._may_copy(ctx, data, axis, size)]
        same = [axis for axis in copies if eq_unasked(given[axis], sizes[axis])]  # whether given or copied, the rest is divided
        for axis in same:
            del sizes[axis], given[axis]
        return self._left(ctx, sizes, given, [axis for axis in copies if axis not in same])

    def _left_of_nothing(self, ctx: Context, have: list[Size] | None, want: list[Size]) -> Size:
        """The size for -1 if a given size is 0, so that the data must have no elements."""
        if have is None or 0 not in have:
            is_static = have is not None and all(map(is_known, (*have, *want)))
            ctx.fail("V101" if is_static else "S206", "data must have no elements where shape holds -1 and a size of 0")
        if ctx.scope.has_intervals_only:  # OpenVINO divides what the sizes that it knows leave
            return _between(ctx, *map(product, ctx.without_common(_open(have), _open(want))))
        return 1

    def _left(self, ctx: Context, have: dict[int, Size], want: dict[int, Size], copies: list[int]) -> Size:
        """The size for -1: the number of elements, divided by the given sizes. An axis of `copies` counts on neither side if its size is 0.

        If another given size is 0, OpenVINO makes it 1. The formula includes the size 0 if it is possible although all symbols are at
        least 1; otherwise it assumes that the size is not 0.
        """
        vanishing = []
        unsure = [axis for axis, size in want.items() if not _is_filled_size(size)]
        with ctx.assumes():
            for axis in unsure:
                size = want[axis]
                if is_filled(size):
                    ctx.require_ge(size, 1, "the size for -1 is computed as if no other size were 0")
                elif axis in copies:
                    is_kept = dim_min(size, 1)
                    have[axis], want[axis] = have[axis] * is_kept + 1 - is_kept, dim_max(size, 1)
                elif bounds(size)[0] <= 0 and size not in vanishing:
                    vanishing.append(size)
        rest, divisors = ctx.without_common(list(have.values()), list(want.values()))
        if ctx.scope.has_intervals_only and not all(map(is_known, (*rest, *divisors))):
            return _between(ctx, product(rest), product(divisors))
        message = "the elements of data must be a multiple of the product of the sizes other than -1"
        if not vanishing:
            whole = product([*rest, *[dim_min(want[axis], 1) for axis in copies]])
            each = product([dim_max(size, 1) for size in divisors])
            if not is_multiple(whole, each):
                with ctx.openvino_checks(at=[*have.values(), *want.values()]):
                    ctx.require_div(whole, each, message)
            return ctx.quotient(product(rest), product(divisors))
        with ctx.openvino_checks(at=[*have.values(), *want.values()]):
            alone = product([dim_min(size, 1) for size in vanishing if size not in have.values()])
            ctx.require_eq(product(have.values()) * (1 - alone), 0, "data must have no elements where shape holds -1 and a size of 0")
            has_elements = product([dim_min(size, 1) for size in vanishing])
            left = ctx.exact_div(product(rest) * has_elements, dim_max(product(divisors), 1), message) + 1 - has_elements
            return narrow(left, 1) if bounds(product(rest))[0] > 0 else left


def _open(sizes: list[Size]) -> list[Size]:
    """The sizes that are not known."""
    return [size for size in sizes if not is_known(size)]


def _between(ctx: Context, rest: Size, divisors: Size) -> Size:
    """The bounds that OpenVINO infers for -1: it divides bounds, and the results may cross where no size is a multiple."""
    (low, high), (least, most) = bounds(rest), bounds(divisors)
    smallest = min(low, 1) if most == inf else -(int(-low) // int(most)) if most else 0
    largest = inf if high == inf or not least else int(high) // int(least)
    return ctx.unknown(min(smallest, largest), largest)


def _vanishes_with(size: Size, divisor: Size) -> bool:
    """Whether a size is 0 wherever the divisor is, being a multiple of it."""
    return eq(size, 0 if divisor == 0 else size // divisor * divisor) is True


def _is_filled_size(size: Size) -> bool:
    """Whether an element of `shape` is a size of at least 1 for all sizes of the inputs, and one of the sizes that OpenVINO tells apart."""
    return 0 < (size if type(size) is int else size.range.low if isinstance(size, Dim) else 0) < INT64_MAX


def _may_be_inferred(size: Size) -> bool:
    """Whether an element of `shape` may turn out to be -1; only one element may."""
    low, high = bounds(size)
    return low < 0 <= high


@op("Squeeze", "opset1")
class Squeeze(_Rearrangement):
    """Remove all axes of size 1, or the given ones. OpenVINO keeps a given axis that it knows to have another size."""

    axes = In(value=True, optional=True)

    def infer(self, ctx: Context, data: Input, axes: Input | None) -> Shape:
        if axes is not None and axes.count is not None:
            ctx.require_rank(axes, (0, 1))
        given = () if axes is None else ctx.axes(axes, data.axis_count, unique=False)
        if given is None and axes is not None and axes.count == 1:
            is_removed = not data.shape or any(eq(size, 1) is not False for size in data.shape)
            return self._without_one(ctx, data) if is_removed else data.shape
        if given is None:
            return None
        removed = given or range(data.rank)
        is_one = [eq(size, 1) if axis in removed else None for axis, size in enumerate(data.shape)]
        if self._may_keep(given) and any(axis in removed and one is None for axis, one in enumerate(is_one)):
            return None
        with ctx.assumes():
            for axis, size in enumerate(data.shape):
                if axis in removed and is_one[axis] is None:
                    ctx.require_eq(size, 1, "axis {axis} is removed only if its size is 1", axis=axis)
        return tuple(size for axis, size in enumerate(data.shape) if axis not in removed or is_one[axis] is False)

    def _may_keep(self, given: Sequence[int]) -> bool:
        """Whether the rank of the output depends on a size that is not known."""
        return not given

    def _without_one(self, ctx: Context, data: Input) -> Shape:
        """The shape without one unknown axis; OpenVINO assumes that the axis has size 1."""
        return ctx.unknown_shape(max(data.rank - 1, 0))


@op("Squeeze", "opset15")
class SqueezeV15(Squeeze):
    """Remove axes of size 1; `allow_axis_skip` says that an axis may turn out to have another size."""

    allow_axis_skip: bool = False

    def _may_keep(self, given: Sequence[int]) -> bool:
        return self.allow_axis_skip or not given

    def _without_one(self, ctx: Context, data: Input) -> Shape:
        return None


@op("Unsqueeze", "opset1")
class Unsqueeze(_Rearrangement):
    """Insert axes of size 1; the given axes are those of the output."""

    axes = In(value=True)

    def infer(self, ctx: Context, data: Input, axes: Input) -> Shape:
        ctx.require_rank(axes, (0, 1))
        known = ctx.known(axes)
        if known is None:
            return None
        known = ctx.readable(axes, known)
        shape = list(data.shape)
        if not known:
            ctx.fail("V103", "axes must hold at least one axis", port=axes)
        for axis in sorted(set(ctx.axes(axes, data.rank + len(set(known)), unique=False) or ())):
            shape.insert(axis, 1)
        return tuple(shape)
