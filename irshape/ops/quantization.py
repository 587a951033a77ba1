"""Simulated quantization."""

from collections.abc import Sequence
from typing import Annotated, Literal

from irshape.ops.attribute import Stated
from irshape.ops.context import Context
from irshape.ops.cost import Count, Outputs, each
from irshape.ops.elementwise import Broadcasting
from irshape.ops.flow import elementwise
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.element_type import ElementType
from irshape.shape.shape import Shape


@op("FakeQuantize", "opset1")
class FakeQuantize(Broadcasting):
    """The input clamped to a range and rounded to `levels` values in another range; the limits broadcast to it."""

    data = In()
    input_low = In()
    input_high = In()
    output_low = In()
    output_high = In()
    output = Out(like="data")
    ignores_surplus = True
    levels: Annotated[int, Stated] = 0
    cost = each("7 operations for each element: it is limited at both ends, scaled, shifted, rounded, scaled and shifted.", operations=7)

    def infer(self, ctx: Context, data: Input, input_low: Input, input_high: Input, output_low: Input, output_high: Input) -> Shape:
        self.broadcast(ctx, data, input_low, input_high, output_low, output_high)
        return data.shape


_DATA = frozenset({ElementType.bf16, ElementType.f16, ElementType.f32, ElementType.dynamic})


@op("FakeConvert", "opset13")
class FakeConvert(Op):
    """The input rounded to the precision of an 8-bit float; scale and shift broadcast to it."""

    data = In(_DATA)
    scale = In(_DATA, like="data")
    shift = In(_DATA, like="data", optional=True)
    output = Out(like="data")
    destination_type: Annotated[Literal["f8e4m3", "f8e5m2"], Stated] = "f8e4m3"
    flow = elementwise

    def infer(self, ctx: Context, data: Input, scale: Input, shift: Input | None) -> Shape:
        if shift is not None:
            ctx.merge_shapes(scale, shift, "scale and shift must be equal on axis {axis}")
        merged = ctx.broadcast_shapes(data, scale, "scale must broadcast to data on axis {axis}")
        return ctx.merge_shapes(merged, data, "scale must not enlarge axis {axis} of data")

    def openvino_shapes(self, ctx: Context, shapes: Sequence[Shape], data: Input, scale: Input) -> Sequence[Shape]:
        return [ctx.broadcast_shapes(data, scale, "scale must broadcast to data on axis {axis}")]

    def cost(self, out: Outputs, shift: Input | None) -> Count:
        """3 operations for each element, which is scaled, rounded and scaled back; 5 with a shift."""
        return Count(operations=(3 if shift is None else 5) * out.elements)
