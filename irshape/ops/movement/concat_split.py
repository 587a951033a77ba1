"""Joining tensors along an axis and taking them apart."""

from collections.abc import Sequence
from typing import Annotated

from irshape.ops.attribute import Stated
from irshape.ops.context import Context
from irshape.ops.op import In, Input, Op, Out, op
from irshape.shape.dim import Size, ceil_div
from irshape.shape.element_type import INTEGER
from irshape.shape.shape import Shape, merge_shapes
from irshape.shape.value import Elements, concatenated, sliced


@op("Concat", "opset1")
class Concat(Op):
    """Join tensors along an axis; their other axes must be equal."""

    data = In(variadic=True, unranked=True)
    output = Out(like="data")
    axis: Annotated[int, Stated] = 0

    def infer(self, ctx: Context, data: tuple[Input, ...]) -> Shape:
        ranked = [one for one in data if one.is_ranked]
        if not ranked:
            return None
        rank = ranked[0].rank
        for one in ranked:
            ctx.require_rank(one, (rank,), "S102")
        axis = ctx.axis(self.axis, rank, attribute="axis")
        total: Size = sum(one.shape[axis] if one.is_ranked else ctx.unknown() for one in data)
        merged: Shape = None
        for one in ranked:
            shape = (*one.shape[:axis], total, *one.shape[axis + 1 :])
            merged = merge_shapes(ctx, merged, shape, "the inputs must be equal on axis {axis}")
        return merged

    def propagate(self, ctx: Context, data: tuple[Input, ...]) -> Elements:
        return concatenated([(one.values, one.static_shape) for one in data], ctx.axis(self.axis, data[0].rank))


class _Split(Op):
    """Parts of a tensor along an axis."""

    data = In(unranked=True)
    axis = In(INTEGER, value=True)
    output = Out(like="data", variadic=True)

    @staticmethod
    def with_size(data: Input, axis: int, size: Size) -> Shape:
        """The shape of a part."""
        return (*data.shape[:axis], size, *data.shape[axis + 1 :])

    @staticmethod
    def parts(data: Input, axis: int, lengths: Sequence[int]) -> list[Elements]:
        """The elements of the parts."""
        parts, start = [], 0
        for length in lengths:
            whole = [range(size) for size in data.static_shape]
            whole[axis] = range(start, start + length)
            parts.append(sliced(data.values, data.static_shape, whole))
            start += length
        return parts
