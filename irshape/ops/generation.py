"""Operations that generate a tensor from sizes and numbers."""

from collections.abc import Sequence
from math import ceil, isfinite, lcm, trunc
from typing import Annotated, Any, Literal

from irshape.ops.attribute import Stated
from irshape.ops.context import Context
from irshape.ops.cost import each_element, moved
from irshape.ops.flow import random
from irshape.ops.op import In, Input, Op, Out, static
from irshape.ops.registry import op
from irshape.shape.dim import Dim, Size, are_known, ceil_div, dim_max, is_multiple
from irshape.shape.element_type import FLOAT, INDEX, INTEGER, NUMERIC, ElementType
from irshape.shape.shape import Shape
from irshape.shape.value import Elements, Real, are_numbers

# With a larger common divisor of the numbers, rounding in floats may move the count that OpenVINO computes.
_LARGEST_SCALE = 1024


@op("Range", "opset1")
class Range(Op):
    """The numbers from `start` to before `stop`, `step` apart."""

    start = In(NUMERIC, rank=0, value=True)
    stop = In(NUMERIC, rank=0, value=True, like="start")
    step = In(NUMERIC, rank=0, value=True, like="start")
    output = Out(like="start", rank=1)
    cost = each_element

    def infer(self, ctx: Context, start: Input, stop: Input, step: Input) -> Shape:
        first, last, by = (self._number(ctx, port) for port in (start, stop, step))
        if by == 0:
            ctx.fail("V101", "step must not be 0", port=step)
        if isinstance(by, Dim):
            ctx.require_nonzero(by, "step must not be 0", code="V101")
            if isinstance(first, int | Dim) and isinstance(last, int | Dim) and is_multiple(last - first, by):
                return (dim_max((last - first) // by, 0),)
        if first is None or last is None or by is None or isinstance(by, Dim):
            return (ctx.unknown(),)
        return (self._count(ctx, self._is_integral(ctx, start, stop, step), first, last, by),)

    def openvino_shapes(self, ctx: Context, shapes: Sequence[Shape], start: Input, stop: Input, step: Input) -> Sequence[Shape]:
        return shapes if all(ctx.known(port) is not None for port in (start, stop, step)) else [(ctx.unknown(),)]

    def _is_integral(self, ctx: Context, *ports: Input) -> bool:
        """Whether the numbers are integers, so that OpenVINO drops fractions."""
        return all(ctx.has_type(port, INTEGER) for port in ports)

    @staticmethod
    def _number(ctx: Context, port: Input) -> Any:
        """The element of an input, an int, a Dim or a float; None if it is not known."""
        ctx.check_readable(port)
        if port.elements is None:
            return None
        (number,) = ctx.readable(port, port.elements)
        if isinstance(number, float) and not isfinite(number):
            ctx.fail("V101", f"{port.name} must be finite, got {number}", port=port)
        return number

    @staticmethod
    def _count(ctx: Context, is_integral: bool, first: Any, last: Any, by: Any) -> Size:
        """How many numbers there are."""
        if are_numbers((first, last, by)):
            if is_integral:
                first, last, by = trunc(first), trunc(last), trunc(by)
                if by == 0:  # OpenVINO gives no numbers if the step without its fraction is 0
                    return 0
        else:
            ratios = [(number, 1) if isinstance(number, Dim) else number.as_integer_ratio() for number in (first, last, by)]
            scale = lcm(*[divisor for _, divisor in ratios])
            if scale > (1 if is_integral else _LARGEST_SCALE):
                return ctx.unknown()
            first, last, by = [size * (scale // divisor) for size, divisor in ratios]
        distance, step = (last - first, by) if by > 0 else (first - last, -by)
        if isinstance(distance, float) or isinstance(step, float):
            return int(max(ceil(distance / step), 0))
        return dim_max(ceil_div(distance, step), 0)

    def propagate(self, ctx: Context, start: Input, stop: Input, step: Input) -> Elements | None:
        numbers = (*start.values, *stop.values, *step.values)
        if any(isinstance(number, Dim | Real) or trunc(number) != number for number in numbers):
            return None
        first, last, by = map(int, numbers)
        return tuple(range(first, last, by))


@op("Range", "opset4")
class RangeV4(Range):
    """The numbers from `start` to before `stop`, in an element type of choice."""

    start = In(NUMERIC, rank=0, value=True)
    stop = In(NUMERIC, rank=0, value=True)
    step = In(NUMERIC, rank=0, value=True)
    output = Out(attribute="output_type", rank=1)
    output_type: Annotated[ElementType, Stated] = ElementType.dynamic

    def infer(self, ctx: Context, start: Input, stop: Input, step: Input) -> Shape:
        if self.output_type not in NUMERIC:
            ctx.fail("A104", f"output_type must be numeric, got {self.output_type}", attribute="output_type")
        return super().infer(ctx, start, stop, step)

    def _is_integral(self, ctx: Context, *ports: Input) -> bool:
        return self.output_type in INTEGER


_INDEX = INDEX - {ElementType.dynamic}


@op("Eye", "opset9")
class Eye(Op):
    """Matrices with ones on a diagonal."""

    num_rows = In(_INDEX, value=True)
    num_columns = In(_INDEX, value=True)
    diagonal_index = In(_INDEX)
    batch_shape = In(_INDEX, rank=1, value=True, optional=True)
    output = Out(attribute="output_type")
    output_type: Annotated[ElementType, Stated] = ElementType.dynamic
    cost = moved
    openvino_checks = static("S101", "V103")

    def infer(self, ctx: Context, num_rows: Input, num_columns: Input, diagonal_index: Input, batch_shape: Input | None) -> Shape:
        for port in (num_rows, num_columns, diagonal_index):
            ctx.single(port)
        rows, columns = map(ctx.size_in, (num_rows, num_columns))
        batch = () if batch_shape is None else ctx.shape_in(batch_shape)
        return None if batch is None else (*batch, rows, columns)


@op("RandomUniform", "opset8")
class RandomUniform(Op):
    """Random numbers from `min_val` to before `max_val`."""

    shape = In(INDEX, rank=1, value=True)
    min_val = In(value=True)
    max_val = In(value=True)
    output = Out(attribute="output_type")
    output_type: Annotated[ElementType, Stated] = ElementType.dynamic
    op_seed: int = 0
    global_seed: int = 0
    alignment: Literal["tensorflow", "pytorch"] = "tensorflow"
    cost = each_element
    flow = random

    def infer(self, ctx: Context, shape: Input, min_val: Input, max_val: Input) -> Shape:
        if self.output_type not in (FLOAT | INDEX) - {ElementType.dynamic}:
            ctx.fail("A104", f"output_type must be real, i32 or i64, got {self.output_type}", attribute="output_type")
        for port in (min_val, max_val):
            ctx.single(port)
            if not ctx.has_type(port, frozenset({self.output_type})):
                ctx.fail("T102", f"{port.name} has element type {port.element_type}, output_type is {self.output_type}", port=port)
        low, high = min_val.elements, max_val.elements
        if low and high and are_known((low[0], high[0])) and not low[0] < high[0]:
            ctx.fail("V101", f"min_val must be less than max_val, got {low[0]} and {high[0]}", port=min_val)
        return ctx.shape_in(shape)


@op("Multinomial", "opset13")
class Multinomial(Op):
    """Random indices, drawn in each row with the probabilities of the row."""

    probs = In(FLOAT, rank=2)
    num_samples = In(INTEGER, value=True)
    output = Out(attribute="convert_type")
    convert_type: Annotated[ElementType, Stated] = ElementType.dynamic
    with_replacement: Annotated[bool, Stated] = False
    log_probs: Annotated[bool, Stated] = False
    global_seed: int = 0
    op_seed: int = 0
    flow = random

    def infer(self, ctx: Context, probs: Input, num_samples: Input) -> Shape:
        ctx.single(num_samples)
        if not probs.is_ranked:
            ctx.leave_unranked()
        return (probs.shape[0], ctx.size_in(num_samples, is_lenient=True))
