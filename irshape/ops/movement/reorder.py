"""Changing the order of axes, or of elements along axes."""

from collections.abc import Sequence
from typing import Literal

from irshape.ops.context import Context
from irshape.ops.cost import moved
from irshape.ops.flow import Flow
from irshape.ops.op import In, Input, Moving, Op, Out, static
from irshape.ops.registry import op
from irshape.shape.dim import bounds
from irshape.shape.element_type import ANY, BOOLEAN, INDEX, INTEGER, NUMERIC, ElementType
from irshape.shape.shape import Shape
from irshape.shape.value import Elements, transposed


@op("Transpose", "opset1")
class Transpose(Moving):
    """Put the axes in a given order, or in reverse order if none is given."""

    arg = In()
    input_order = In(INTEGER, rank=1, value=True)
    output = Out(like="arg")

    def infer(self, ctx: Context, arg: Input, input_order: Input) -> Shape:
        ctx.check_readable(input_order)
        count = input_order.count
        if not arg.is_ranked:
            return ctx.unknown_shape(count) if count else None
        order = self._order(ctx, arg, input_order)
        if order is None:
            ends = [bounds(size) for size in arg.shape]
            low, high = min((low for low, _ in ends), default=0), max((high for _, high in ends), default=0)
            return tuple(ctx.unknown(low, high) for _ in ends)
        return tuple([arg.shape[axis] for axis in order])

    def flow(self, flow: Flow, arg: Input, input_order: Input) -> None:
        for to, axis in enumerate(flow.axes(input_order, arg.rank) or range(arg.rank)[::-1]):
            flow.keep(arg, axis, to)

    def openvino_shapes(self, ctx: Context, shapes: Sequence[Shape], arg: Input, input_order: Input) -> Sequence[Shape]:
        is_ordered = ctx.known(input_order) is not None or input_order.count == 0
        return shapes if is_ordered else [ctx.unknown_shape(arg.rank) if arg.is_ranked else None]

    @staticmethod
    def _order(ctx: Context, arg: Input, input_order: Input) -> tuple[int, ...] | None:
        """The old axis of each new one, if it is known."""
        order = ctx.known(input_order)
        if input_order.count == 0:
            return tuple(reversed(range(arg.rank)))
        if input_order.is_ranked:
            ctx.require_eq(input_order.shape[0], arg.rank, "input_order must hold one value for each axis of arg", code="V103")
            ctx.stop_at_errors()
        if order is not None and sorted(order) != list(range(arg.rank)):
            code = "V104" if len(set(order)) < len(order) else "V102"
            ctx.fail(code, f"input_order must hold each axis in [0, {arg.rank - 1}] once, got {list(order)}", port=input_order)
        return order

    def propagate(self, ctx: Context, arg: Input, input_order: Input) -> Elements | None:
        order = self._order(ctx, arg, input_order)
        return None if order is None else transposed(arg.values, arg.static_shape, order)


@op("Roll", "opset7")
class Roll(Op):
    """Shift elements along axes; elements that leave at one end enter at the other."""

    data = In()
    shift = In(INDEX)
    axes = In(INDEX, value=True)
    output = Out(like="data")
    cost = moved

    def infer(self, ctx: Context, data: Input, shift: Input, axes: Input) -> Shape:
        for port in (shift, axes):
            ctx.require_rank(port, (0, 1))
        if shift.is_ranked and shift.rank == 1 and axes.is_ranked:
            ctx.require_rank(axes, (1,))
            ctx.require_eq(shift.shape[0], axes.shape[0], "shift must hold one value for each axis")
        for axis in ctx.known(axes) or ():
            ctx.axis(axis, data.axis_count, port=axes)
        return data.shape

    def flow(self, flow: Flow, data: Input, axes: Input) -> None:
        flow.keep_all(data, but=flow.axes(axes, data.axis_count), why="rolls")


@op("ShuffleChannels", "opset1", without="opset2")
class ShuffleChannels(Op):
    """Interleave the groups of an axis."""

    data = In(ANY, min_rank=1)
    output = Out(like="data")
    axis: int = 1
    group: int = 1
    cost = moved

    openvino_checks = static("S204")

    def infer(self, ctx: Context, data: Input) -> Shape:
        ctx.at_least(self.group, 1, "group")
        axis = ctx.axis(self.axis, data.rank, attribute="axis")
        ctx.require_div(data.shape[axis], self.group, "axis {axis} must be a multiple of group", axis=axis)
        return data.shape

    def flow(self, flow: Flow, data: Input) -> None:
        flow.keep_all(data, but=[self.axis], why="shuffles")


@op("Reverse", "opset1", until="opset1")
class Reverse(Op):
    """Reverse the elements along axes, which are listed or marked in a mask."""

    data = In(ANY)
    reversed_axes = In(INTEGER | BOOLEAN, rank=1, value=True)
    output = Out(like="data")
    mode: Literal["index", "mask"] = "index"
    cost = moved

    def infer(self, ctx: Context, data: Input, reversed_axes: Input) -> Shape:
        is_mask = self.mode == "mask"
        if not ctx.has_type(reversed_axes, frozenset({ElementType.boolean}) if is_mask else INTEGER):
            wanted = "boolean" if is_mask else "integers"
            ctx.fail("T101", f"reversed_axes must hold {wanted} in {self.mode} mode, got {reversed_axes.element_type}", port=reversed_axes)
        rank = data.rank
        if is_mask:
            if reversed_axes.is_ranked:
                ctx.require_eq(reversed_axes.shape[0], rank, "reversed_axes must hold one value for each axis of data", code="V103")
            return data.shape
        for axis in ctx.readable(reversed_axes, ctx.known(reversed_axes) or ()):
            if axis >= rank or rank == 0:
                ctx.fail("V102", f"reversed_axes must be in [{-rank}, {rank - 1}], got {axis}", port=reversed_axes)
        ctx.axes_at_run(reversed_axes, rank)
        return data.shape

    def flow(self, flow: Flow, data: Input, reversed_axes: Input) -> None:
        marks = flow.elements(reversed_axes)
        named = [axis for axis, mark in enumerate(marks) if mark] if self.mode == "mask" else marks
        flow.keep_all(data, but=named, why="reverses")


@op("ReverseSequence", "opset1")
class ReverseSequence(Op):
    """Reverse the first elements of an axis; `seq_lengths` says how many for each entry of the batch."""

    data = In(ANY, min_rank=2)
    seq_lengths = In(NUMERIC, rank=1)
    output = Out(like="data")
    batch_axis: int = 0
    seq_axis: int = 1
    cost = moved

    def infer(self, ctx: Context, data: Input, seq_lengths: Input) -> Shape:
        if not data.is_ranked:
            if self.seq_axis < 0:
                message = f"seq_axis must not be negative where the rank of data is not known, got {self.seq_axis}"
                ctx.fail("V102", message, attribute="seq_axis")
            return None
        ctx.axis(self.seq_axis, data.rank, "seq_axis", attribute="seq_axis")
        if not seq_lengths.is_ranked:
            return data.shape
        batch = ctx.axis(self.batch_axis, data.rank, "batch_axis", attribute="batch_axis")
        length = ctx.merge(data.shape[batch], seq_lengths.shape[0], "seq_lengths must hold one value for each entry of the batch")
        return (*data.shape[:batch], length, *data.shape[batch + 1 :])

    def flow(self, flow: Flow, data: Input, seq_lengths: Input) -> None:
        flow.keep_all(data, but=[self.seq_axis], why="reverses")
        flow.keep(seq_lengths, 0, self.batch_axis)
