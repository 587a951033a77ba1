"""Selecting the largest elements, and searching in sorted sequences."""

from collections.abc import Sequence
from math import inf
from typing import Annotated, Literal

from irshape.ops.attribute import IndexType, Stated
from irshape.ops.context import Context
from irshape.ops.cost import Count, Outputs
from irshape.ops.flow import Flow
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.dim import bounds, is_known, narrow, origins
from irshape.shape.element_type import INTEGER, ElementType
from irshape.shape.guard import NOTHING
from irshape.shape.polynomial import UNBACKED
from irshape.shape.shape import Shape


class _TopK(Op):
    """The `k` largest or smallest values along an axis, and where they were."""

    axis: Annotated[int, Stated] = 0
    mode: Annotated[Literal["max", "min"], Stated] = "max"
    sort: Annotated[Literal["none", "value", "index"], Stated] = "none"
    index_element_type: IndexType = ElementType.i32

    data = In(min_rank=1)
    k = In(INTEGER, rank=0, value=True)
    values = Out(like="data")
    indices = Out(attribute="index_element_type")

    def infer(self, ctx: Context, data: Input, k: Input) -> tuple[Shape, Shape]:
        axis = ctx.axis(self.axis, data.rank, attribute="axis")
        size, count = data.shape[axis], ctx.size_in(k)
        with ctx.openvino_checks(at=NOTHING) if origins(count) & UNBACKED else ctx.assumes():
            ctx.require_ge(size, count, "k must not be greater than the size of axis {axis}", axis=axis)
        shape = (*data.shape[:axis], ctx.saturate(narrow(count, high=size)), *data.shape[axis + 1 :])
        return shape, shape

    def flow(self, flow: Flow, data: Input, k: Input) -> None:
        flow.keep_all(data, but=[self.axis], why="sorts along")
        flow.sizes(k)

    def openvino_shapes(self, ctx: Context, shapes: Sequence[Shape], data: Input, k: Input) -> Sequence[Shape]:
        axis = ctx.axis(self.axis, data.rank)
        size, count = data.shape[axis], ctx.limit(k)
        if is_known(size) or is_known(count):
            return shapes
        (low, high), (least, most) = bounds(size), bounds(count)
        taken = ctx.unknown(min(low, least), min(high, most) if high < inf else inf)
        shape = (*data.shape[:axis], taken, *data.shape[axis + 1 :])
        return shape, shape


@op("TopK", "opset1")
class TopK(_TopK):
    """The `k` largest or smallest values along an axis, and where they were."""

    k = In(frozenset({ElementType.i8, ElementType.i32, ElementType.i64}), rank=0, value=True)


@op("TopK", "opset3")
class TopKV3(_TopK):
    """The `k` largest or smallest values along an axis, `k` of any integer type."""


@op("TopK", "opset11")
class TopKV11(TopKV3):
    """The `k` largest or smallest values along an axis; equal ones may keep their order."""

    stable: bool = False

    def infer(self, ctx: Context, data: Input, k: Input) -> tuple[Shape, Shape]:
        if self.stable and self.sort == "none":
            ctx.fail("A103", "sort must be value or index where stable is true, got none", attribute="sort")
        return super().infer(ctx, data, k)


@op("SearchSorted", "opset15")
class SearchSorted(Op):
    """Where each value would be inserted into a sorted sequence: one sequence for all values, or one for each row of values."""

    sorted_sequence = In(min_rank=1)
    values = In(like="sorted_sequence")
    output = Out(attribute="output_type")
    ignores_surplus = True
    right_mode: bool = False
    output_type: IndexType = ElementType.i64

    def infer(self, ctx: Context, sorted_sequence: Input, values: Input) -> Shape:
        if not sorted_sequence.is_ranked or sorted_sequence.rank == 1:
            return values.shape
        last = values.shape[-1] if values.known_rank else ctx.unknown()
        message = "sorted_sequence and values must be equal on axis {axis}"
        return ctx.merge_shapes(values, (*sorted_sequence.shape[:-1], last), message)

    def flow(self, flow: Flow, sorted_sequence: Input, values: Input) -> None:
        if sorted_sequence.rank > 1:
            flow.keep_all(sorted_sequence, but=[-1], why="searches along")
        flow.keep_all(values)

    def cost(self, out: Outputs, sorted_sequence: Input) -> Count | None:
        """For each value, the comparisons of a binary search in its sequence."""
        length = sorted_sequence.shape[-1]
        return Count(operations=out.elements * length.bit_length()) if isinstance(length, int) else None
