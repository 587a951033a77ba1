"""Taking ranges of axes out of a tensor, and putting them back."""

from collections.abc import Iterator, Sequence
from itertools import islice
from math import inf
from typing import Annotated, Final, TypeVar

from irshape.ops.attribute import Stated
from irshape.ops.context import Context
from irshape.ops.cost import moved
from irshape.ops.flow import Flow
from irshape.ops.op import In, Input, Moving, Op, Out
from irshape.ops.registry import op
from irshape.report.text import counted
from irshape.shape.dim import INT64_MAX, Dim, Size, bounds, ceil_div
from irshape.shape.element_type import INTEGER
from irshape.shape.guard import BOUNDS, Looks, Requirement
from irshape.shape.range import Bound
from irshape.shape.shape import Shape
from irshape.shape.slicing import Index, slice_length, slice_range, sliced_range, sliced_size
from irshape.shape.value import Elements, sliced


def sliced_axis(ctx: Context, size: Size, begin: Index, end: Index, step: Size) -> Size:
    """The size of a slice of an axis."""
    if isinstance(step, Dim):
        ctx.require_nonzero(step, "a step must not be 0", code="V101")
        return ctx.unknown(0, bounds(size)[1])
    if step == 0:
        ctx.fail("V101", "a step must not be 0")
    if ctx.scope.has_intervals_only:
        if any(isinstance(limit, Dim) and bounds(limit) == (-inf, inf) for limit in (begin, end)):
            return ctx.unknown(0, bounds(ceil_div(size, abs(step)))[1])
        if isinstance(size, Dim) and isinstance(begin, int) and isinstance(end, int):
            first, last = (begin, end) if step > 0 else (end, begin)
            if first < 0 <= last and end != INT64_MAX:  # which is the end of the axis
                return _between_ends(ctx, size, begin, end, step)
    result = sliced_size(size, begin, end, step)
    return ctx.unknown(*sliced_range(size, begin, end, step)) if result is None else result


def _between_ends(ctx: Context, size: Dim, begin: int, end: int, step: int) -> Size:
    """The bounds that OpenVINO infers for a slice between limits of unlike sign: the lengths at both ends of the size.

    Of an axis without an upper bound, it knows no greatest length for a slice from element 0 backwards.
    """
    low, high = bounds(size)
    if high < inf:
        most: Bound = slice_length(slice_range(int(high), begin, end, step))
    else:
        most = -(-(end if step > 0 else begin + 1) // abs(step)) if begin else inf
    least = slice_length(slice_range(int(low), begin, end, step))
    return ctx.unknown(least, most) if least <= most else ctx.unknown()


def _count(*limits: Input) -> int | None:
    """How many values each of the limits holds; None if no limit tells."""
    return next((count for port in limits if (count := port.count) is not None), None)


def sliced_axes(ctx: Context, data: Input, start: Input, stop: Input, step: Input, axes: Input | None) -> tuple[Size, ...]:
    """The shape of a slice of ranked data over the axes that are named, or over the first ones."""
    if axes is None:
        count = _count(start, stop, step)
        named = None if count is None else tuple(range(count))
    else:
        named = ctx.axes(axes, data.rank)
    if named is None:
        ctx.check_readable(start, stop, step)
        return tuple(ctx.unknown(0, bounds(size)[1]) for size in data.shape)
    count = len(named)
    begins, ends, steps = ctx.values(start, count), ctx.values(stop, count), ctx.values(step, count)
    sizes = list(data.shape)
    for axis, begin, end, by in zip(named, begins, ends, steps, strict=True):
        if by == 0 and (start.elements is None or stop.elements is None):
            # OpenVINO checks the steps only if it knows the limits.
            ctx.warn("R401", f"{step.name} must not be 0", port=step)
            by = ctx.unknown()
        if ctx.scope.has_intervals_only and (start.elements is None or stop.elements is None):
            by = ctx.unknown()  # OpenVINO then knows only that the slice is not longer than the axis
        sizes[axis] = sliced_axis(ctx, sizes[axis], begin, end, by)
    return tuple(sizes)


def require_limits(ctx: Context, rank: int | None, *limits: Input | None) -> None:
    """Demand that limits, steps and axes are equally many, and not more than the data has axes."""
    given = [port for port in limits if port is not None]
    for port in given:
        ctx.require_rank(port, (1,))
    ctx.same_shape(*given)
    for port in given:
        least = bounds(port.shape[0])[0] if port.is_ranked else 0
        if rank is not None and least > rank:
            ctx.fail("V103", f"{port.name} must hold at most {rank} values, got {least}", port=port)


@op("Slice", "opset8")
class Slice(Moving):
    """Take ranges of axes: from `start` up to `stop` in steps of `step`."""

    data = In()
    start = In(INTEGER, value=True)
    stop = In(INTEGER, value=True)
    step = In(INTEGER, value=True)
    axes = In(INTEGER, value=True, filled=True)
    output = Out(like="data")

    def infer(self, ctx: Context, data: Input, start: Input, stop: Input, step: Input, axes: Input | None) -> Shape:
        if data.rank == 0:
            ctx.fail("S101", "data must not be a scalar", port=data)
        require_limits(ctx, data.rank, start, stop, step, axes)
        return sliced_axes(ctx, data, start, stop, step, axes)

    def flow(self, flow: Flow, data: Input, start: Input, stop: Input, step: Input, axes: Input | None) -> None:
        starts = flow.limits(start)
        named = range(len(starts)) if axes is None else flow.axes(axes, data.rank)
        limits = zip(named, starts, flow.limits(stop), flow.limits(step), strict=True)
        flow.slices(data, {axis: taken for axis, *taken in limits}, {axis: axis for axis in range(data.rank)})

    def propagate(self, ctx: Context, data: Input, start: Input, stop: Input, step: Input, axes: Input | None) -> Elements | None:
        begins, ends, steps = ctx.known(start), ctx.known(stop), ctx.known(step)
        if begins is None or ends is None or steps is None:
            return None
        named = range(len(begins)) if axes is None else ctx.axes(axes, data.rank)
        if named is None:
            return None
        taken = [range(size) for size in data.static_shape]
        for axis, begin, end, by in zip(named, begins, ends, steps, strict=True):
            taken[axis] = slice_range(data.static_shape[axis], begin, end, by)
        return sliced(data.values, data.static_shape, taken)


_AS_THE_SLICE: Final = "axis {axis} of the updates must be as long as the slice"


@op("SliceScatter", "opset15")
class SliceScatter(Op):
    """Replace ranges of axes by updates."""

    data = In()
    updates = In()
    start = In(INTEGER, value=True)
    stop = In(INTEGER, value=True)
    step = In(INTEGER, value=True)
    axes = In(INTEGER, value=True, optional=True)
    output = Out(like="data")
    cost = moved

    def infer(self, ctx: Context, data: Input, updates: Input, start: Input, stop: Input, step: Input, axes: Input | None) -> Shape:
        known = data if data.is_ranked else updates
        if known.is_ranked:
            ctx.require_rank(updates, (known.rank,), "S102")
            if known.rank == 0:
                ctx.fail("S101", f"{known.name} must not be a scalar", port=known)
        ctx.check_readable(start, stop, step, axes)
        require_limits(ctx, known.rank if known.is_ranked else None, start, stop, step, axes)
        if 0 in (ctx.known(step) or ()):
            ctx.fail("V101", "a step must not be 0", port=step)
        if not data.is_ranked:
            return ctx.unknown_shape(known.rank) if known.is_ranked else None
        taken = sliced_axes(ctx, data, start, stop, step, axes)
        if all(port is None or port.elements is not None for port in (start, stop, step, axes)):
            ctx.merge_shapes(updates, taken, _AS_THE_SLICE)
        elif updates.is_ranked:
            are_named = axes is not None or start.elements is not None
            for axis, (size, part, update) in enumerate(zip(data.shape, taken, updates.shape, strict=True)):
                if part is size and are_named:
                    ctx.require_eq(update, size, "axis {axis} of the updates must be as long as that of the data", axis=axis)
                else:
                    ctx.require_ge(size, update, "axis {axis} of the updates must not be longer than that of the data", axis=axis)
        return data.shape

    def flow(self, flow: Flow, data: Input, updates: Input, start: Input, axes: Input | None) -> None:
        cut = range(len(flow.elements(start))) if axes is None else flow.axes(axes, data.rank)
        flow.keep_all(data, but=cut, why="writes into a part of")
        flow.keep_all(updates, but=cut, why="writes into a part of")

    def openvino_checks(self, ctx: Context, requirement: Requirement, step: Input) -> Looks:
        """OpenVINO makes a slice only with steps that it knows."""
        return [step] if requirement.template == _AS_THE_SLICE else BOUNDS


@op("StridedSlice", "opset1")
class StridedSlice(Moving):
    """Take ranges of axes; masks leave limits open, add axes, drop axes, or stand for all axes that are not named."""

    data = In()
    begin = In(INTEGER, rank=1, value=True)
    end = In(INTEGER, rank=1, value=True)
    strides = In(rank=1, value=True, filled=True)
    output = Out(like="data")
    begin_mask: tuple[int, ...]
    end_mask: Annotated[tuple[int, ...], Stated] = ()
    new_axis_mask: tuple[int, ...] = ()
    shrink_axis_mask: tuple[int, ...] = ()
    ellipsis_mask: tuple[int, ...] = ()

    def infer(self, ctx: Context, data: Input, begin: Input, end: Input, strides: Input | None) -> Shape:
        self._check_masks(ctx)
        count = _count(begin, end, *([] if strides is None else [strides]))
        if count is None:
            if strides is None and not begin.is_ranked:
                ctx.fail("S101", "begin must have rank 1 where there are no strides", port=begin)
            return None
        sizes = data.shape
        begins = _opened(ctx.values(begin, count), self.begin_mask)
        ends = _opened(ctx.values(end, count), self.end_mask)
        ctx.check_readable(strides)
        steps: Sequence[Size] = (1,) * count if strides is None else ctx.unknown_shape(count)
        if strides is not None and strides.elements is not None:
            steps = ctx.values(strides, count)
        shape: list[Size] = []
        for what, axis, place in self._layout(ctx, data, count):
            if what == "slice":
                shape.append(sliced_axis(ctx, sizes[axis], begins[place], ends[place], steps[place]))
            elif what != "drop":
                shape.append(1 if what == "new" else sizes[axis])
        return tuple(shape)

    def flow(self, flow: Flow, data: Input, begin: Input, end: Input, strides: Input | None) -> None:
        begins, ends = _opened(flow.limits(begin), self.begin_mask), _opened(flow.limits(end), self.end_mask)
        steps = flow.limits(strides, [1] * len(begins))
        taken: dict[int, list[Size | None]] = {}
        kept: dict[int, int] = {}
        to = 0
        for what, axis, place in self._layout(None, data, len(begins)):
            if what == "drop":
                taken[axis] = [begins[place], None, 1]
                continue
            if what != "new":
                kept[axis] = to
            if what == "slice":
                taken[axis] = [begins[place], ends[place], steps[place]]
            to += 1
        flow.slices(data, taken, kept)

    def openvino_checks(self, ctx: Context, requirement: Requirement, strides: Input | None) -> Looks:
        """OpenVINO counts strides that it knows."""
        return [strides] if requirement.names.get("port") == "strides" else BOUNDS

    def _check_masks(self, ctx: Context) -> None:
        """Demand that masks hold 0 and 1, and that a mask that is given is as long as `begin_mask`."""
        for name in ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask"):
            mask = getattr(self, name)
            if any(bit not in (0, 1) for bit in mask):
                ctx.fail("A104", f"{name} must hold only 0 and 1, got {list(mask)}", attribute=name)
            if mask and len(mask) != len(self.begin_mask):
                message = f"{name} must have {counted(len(self.begin_mask), 'item')} like begin_mask, got {len(mask)}"
                ctx.fail("A105", message, attribute=name)

    def _layout(self, ctx: Context | None, data: Input, count: int) -> Iterator[tuple[str, int, int]]:
        """The action on each axis, in order: "keep", "slice", "drop" or "new", with the axis and its place among the limits.

        Without a context, the layer is known to have no error.
        """
        hiding, new, dropped = (_marked(mask, count) for mask in (self.ellipsis_mask, self.new_axis_mask, self.shrink_axis_mask))
        if ctx is not None and len(hiding) > 1:
            ctx.fail("A104", "ellipsis_mask must hold at most one 1", attribute="ellipsis_mask")
        named = count - len(hiding | new)
        if ctx is not None and named > data.rank:
            message = f"data must have at least rank {named} for {counted(count, 'value')} of begin and end, got rank {data.rank}"
            ctx.fail("S101", message, port=data)
        axes = iter(range(data.rank))
        for place in range(count):
            if place in hiding:
                yield from (("keep", axis, place) for axis in islice(axes, data.rank - named))
            elif place in new:
                yield "new", -1, place
            else:
                yield "drop" if place in dropped else "slice", next(axes), place
        yield from (("keep", axis, -1) for axis in axes)

    def propagate(self, ctx: Context, data: Input, begin: Input, end: Input, strides: Input | None) -> Elements | None:
        begins, ends = ctx.known(begin), ctx.known(end)
        steps = (1,) * len(begins or ()) if strides is None else ctx.known(strides)
        if begins is None or ends is None or steps is None:
            return None
        firsts, lasts = _opened(begins, self.begin_mask), _opened(ends, self.end_mask)
        taken = [range(size) for size in data.static_shape]
        for what, axis, place in self._layout(ctx, data, len(begins)):
            if what == "slice":
                taken[axis] = slice_range(data.static_shape[axis], firsts[place], lasts[place], steps[place])
            elif what == "drop":
                size = data.static_shape[axis]
                if not -size <= begins[place] < size:
                    ctx.fail("V102", f"begin[{place}] must be in [{-size}, {size - 1}], got {begins[place]}", port=begin)
                taken[axis] = slice_range(data.static_shape[axis], begins[place], None, 1)[:1]
        return sliced(data.values, data.static_shape, taken)


def _marked(mask: Sequence[int], count: int) -> set[int]:
    """The places that a mask marks, among the first `count`."""
    return {place for place, bit in enumerate(mask[:count]) if bit}


_Limit = TypeVar("_Limit", int, Size, Size | None)


def _opened(limits: Sequence[_Limit], mask: Sequence[int]) -> list[_Limit | None]:
    """The limits, None where a mask leaves one open."""
    opened = _marked(mask, len(limits))
    return [None if place in opened else limit for place, limit in enumerate(limits)]
