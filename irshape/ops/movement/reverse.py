"""Operations that reverse the order of elements along axes."""

from typing import Literal

from irshape.ops.context import Context
from irshape.ops.cost import moved
from irshape.ops.flow import Flow
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.element_type import ANY, BOOLEAN, INTEGER, NUMERIC, ElementType
from irshape.shape.shape import Shape


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
            if axis < -rank < 0:
                ctx.warn("R201", f"reversed_axes must be in [{-rank}, {rank - 1}], got {axis}", port=reversed_axes)
            elif axis >= rank or rank == 0:
                ctx.fail("V102", f"reversed_axes must be in [0, {rank - 1}], got {axis}", port=reversed_axes)
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
                ctx.fail(
                    "V102", f"seq_axis must not be negative where the rank of data is not known, got {self.seq_axis}", attribute="seq_axis"
                )
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
