"""Reductions: many elements along some axes become one."""

from collections.abc import Callable
from functools import reduce
from math import prod, trunc
from typing import Any, ClassVar

from irshape.ops.context import Context
from irshape.ops.cost import each
from irshape.ops.elementwise import UNFOLLOWED, UNFOLLOWED_BYTES, ends
from irshape.ops.flow import Flow
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import declare, op
from irshape.shape.dim import Dim, Size, dim_max, dim_min
from irshape.shape.element_type import BOOLEAN, INTEGER, NUMERIC, ElementType
from irshape.shape.shape import Shape
from irshape.shape.value import Elements, Real, exact_limits, transposed


class Reduction(Op):
    """The axes that are reduced disappear, or stay with size 1.

    `of_elements` computes one element from many, if values are followed through the op; `of_nothing` is the result of no elements.
    """

    data = In(NUMERIC)
    axes = In(INTEGER, value=True)
    output = Out(like="data")
    ignores_surplus = True
    keep_dims: bool = False
    unfollowed = UNFOLLOWED

    of_elements: ClassVar[Callable[[Elements], Any] | None] = None
    of_nothing: ClassVar[int | None] = None
    cost = each("1 operation for each element of the data.", operations=1, of_input=True)

    def infer(self, ctx: Context, data: Input, axes: Input) -> Shape:
        ctx.require_rank(axes, (0, 1))
        ctx.check_readable(axes)
        reduced = ctx.axes(axes, data.rank if self.keep_dims else data.axis_count, unique=False)
        if reduced is not None:
            if self.keep_dims:
                return tuple([1 if axis in reduced else size for axis, size in enumerate(data.shape)])
            return tuple([size for axis, size in enumerate(data.shape) if axis not in reduced])
        if self.keep_dims:
            return ctx.unknown_shape(data.rank)
        return ctx.unknown_shape(max(data.rank - 1, 0)) if axes.count == 1 else None

    def flow(self, flow: Flow, data: Input, axes: Input) -> None:
        reduced = flow.axes(axes, data.axis_count)
        kept = [axis for axis in range(data.rank) if axis not in reduced]
        for to, axis in enumerate(kept):
            flow.keep(data, axis, axis if self.keep_dims else to)
        flow.mixes(data, "reduces")

    def propagate(self, ctx: Context, data: Input, axes: Input) -> Elements | None:
        function = type(self).of_elements
        reduced = ctx.axes(axes, data.axis_count, unique=False)
        elements = self._exact(data.values, data.element_type)
        if function is None or reduced is None or elements is None:
            return None
        shape = data.static_shape
        kept = [axis for axis in range(data.rank) if axis not in reduced]
        elements = transposed(elements, shape, [*kept, *(axis for axis in range(data.rank) if axis in reduced)])
        count = prod(shape[axis] for axis in kept)
        step = len(elements) // count if count else 0
        nothing = self._nothing(data.element_type)
        if not step and nothing is None:
            return None
        rows = [elements[i * step : (i + 1) * step] for i in range(count)]
        return self._exact(tuple([function(row) if row else nothing for row in rows]), data.element_type)

    def _nothing(self, element_type: ElementType) -> int | None:
        return self.of_nothing

    def _exact(self, elements: Elements, element_type: ElementType) -> Elements | None:
        """The elements as `of_elements` takes and returns them: floats as integers.

        None if one is not known, has a fraction, or is so large that sums in its type are not exact.
        """
        if not element_type.is_real:
            return elements
        least, most = exact_limits(element_type) or (0, 0)
        whole = []
        for element in elements:
            if isinstance(element, Real) or not (isinstance(element, Dim) or (least <= element <= most and element == trunc(element))):
                return None
            whole.append(element if isinstance(element, Dim) else int(element))
        return tuple(whole)


def mean(elements: Elements) -> int:
    """The mean of integers, rounded toward zero."""
    total: int = sum(elements)
    return abs(total) // len(elements) * (1 if total >= 0 else -1)


class LogicalReduction(Reduction):
    """A reduction of booleans."""

    data = In(BOOLEAN)


class Extreme(Reduction):
    """The least or the greatest element; of no integers, the greatest or the least of their type. Nothing is rounded."""

    is_followed = True

    def _nothing(self, element_type: ElementType) -> int | None:
        ends = None if element_type.is_real else exact_limits(element_type)
        return None if ends is None or self.of_nothing is None else ends[self.of_nothing]

    def _exact(self, elements: Elements, element_type: ElementType) -> Elements:
        return elements


def _extreme(of_numbers: Callable[[Any], Any], of_sizes: Callable[[Size, Size], Size]) -> Callable[[Elements], Any]:
    """The least or the greatest element, as a function of numbers or of two sizes tells."""

    def of_elements(elements: Elements) -> Any:
        if not any(isinstance(element, Dim | Real) for element in elements):
            return of_numbers(elements)
        sizes = [int(element) if isinstance(element, float) and element.is_integer() else element for element in elements]
        if not any(isinstance(size, float | Real) for size in sizes):
            return reduce(of_sizes, sizes)
        low, high = map(of_numbers, zip(*map(ends, elements), strict=True))
        return low if low == high else Real(low, high)

    return of_elements


@op("ReduceMean", "opset1")
class ReduceMean(Reduction):
    """The mean."""

    of_elements = mean
    of_nothing = 0

    def propagate(self, ctx: Context, data: Input, axes: Input) -> Elements | None:
        return None if data.element_type.is_real or ctx.known(data) is None else super().propagate(ctx, data, axes)


declare(globals(), Extreme, {
    "ReduceMax": ("opset1", "The maximum.", {"of_elements": _extreme(max, dim_max), "of_nothing": 0}),
    "ReduceMin": ("opset1", "The minimum.", {"of_elements": _extreme(min, dim_min), "of_nothing": 1}),
})  # fmt: skip
declare(globals(), Reduction, {
    "ReduceSum": ("opset1", "The sum.", {"of_elements": sum, "of_nothing": 0}),
    "ReduceProd": ("opset1", "The product.", {"of_elements": prod, "of_nothing": 1, "is_followed": True, "unfollowed": UNFOLLOWED_BYTES}),
    "ReduceL1": ("opset4", "The sum of absolute values."),
    "ReduceL2": ("opset4", "The square root of the sum of squares."),
})  # fmt: skip
declare(globals(), LogicalReduction, {
    "ReduceLogicalAnd": ("opset1", "Whether all are true."),
    "ReduceLogicalOr": ("opset1", "Whether any is true."),
})  # fmt: skip
