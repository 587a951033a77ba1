"""The distinct elements or slices of a tensor."""

from collections.abc import Sequence
from math import inf

from irshape.ops.attribute import IndexType
from irshape.ops.context import Context
from irshape.ops.flow import mixing
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.dim import Size, bounds, product
from irshape.shape.element_type import INDEX, ElementType
from irshape.shape.shape import Shape


@op("Unique", "opset10")
class Unique(Op):
    """Distinct elements of a tensor, or distinct slices along an axis; with the index of each, the inverse indices, and counts."""

    data = In()
    axis = In(INDEX, value=True, optional=True)
    unique_elements = Out(like="data")
    indices = Out(attribute="index_element_type")
    inverse_indices = Out(attribute="index_element_type")
    counts = Out(attribute="count_element_type")
    ignores_surplus = True
    sorted: bool = True
    index_element_type: IndexType = ElementType.i64
    count_element_type: IndexType = ElementType.i64
    flow = mixing("lists the elements that differ along")

    def infer(self, ctx: Context, data: Input, axis: Input | None) -> list[Shape]:
        along = None if axis is None else ctx.axis_in(axis, data.known_rank)
        if axis is not None and axis.element_type in INDEX and not axis.is_literal:
            ctx.fail("V105", "axis must be a Const", port=axis)
        if not data.is_ranked:
            count = ctx.unknown()
            return [(count,) if axis is None else None, (count,), (ctx.unknown(),), (count,)]
        if along is None:
            total = product(data.shape)
            count = self._distinct(ctx, total)
            return [(count,), (count,), (total,), (count,)]
        total = data.shape[along]
        count = self._distinct(ctx, total)
        return [(*data.shape[:along], count, *data.shape[along + 1 :]), (count,), (total,), (count,)]

    def openvino_shapes(self, ctx: Context, shapes: Sequence[Shape], data: Input, axis: Input | None) -> Sequence[Shape]:
        if not data.is_ranked:
            return shapes
        total = data.count
        # OpenVINO counts the elements of the whole tensor, and takes at least one to be distinct.
        count = ctx.unknown(1, total) if total else ctx.unknown()
        along = None if axis is None else ctx.axis_in(axis, data.rank)
        if along is None:
            return (count,), (count,), (ctx.unknown() if total is None else total,), (count,)
        high = bounds(data.shape[along])[1]
        distinct = ctx.unknown(1 if 0 < high < inf else 0, high)
        return (*data.shape[:along], distinct, *data.shape[along + 1 :]), (count,), shapes[2], (count,)

    @staticmethod
    def _distinct(ctx: Context, total: Size) -> Size:
        """How many of `total` elements are distinct."""
        low, high = bounds(total)
        return ctx.unknown(min(low, 1), high)
