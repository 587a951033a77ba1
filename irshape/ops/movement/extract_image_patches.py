"""ExtractImagePatches: patches of an image as channels."""

from math import prod
from typing import Annotated, Literal

from irshape.ops.attribute import Unsigned
from irshape.ops.context import Context
from irshape.ops.op import In, Input, Op, Out, op
from irshape.shape.dim import ceil_div
from irshape.shape.shape import Shape


@op("ExtractImagePatches", "opset3")
class ExtractImagePatches(Op):
    """Put the elements of each patch of an image into the channels."""

    data = In(rank=4, unranked=True)
    output = Out(like="data")
    sizes: Annotated[tuple[int, ...], Unsigned]
    strides: Annotated[tuple[int, ...], Unsigned]
    rates: Annotated[tuple[int, ...], Unsigned]
    auto_pad: Literal["same_upper", "same_lower", "valid"]

    def infer(self, ctx: Context, data: Input) -> Shape:
        for name, values in (("sizes", self.sizes), ("strides", self.strides), ("rates", self.rates)):
            if len(values) != 2:
                ctx.fail("A105", f"{name} must have 2 items, for rows and columns, got {len(values)}", attribute=name)
        for name, values in (("strides", self.strides), ("rates", self.rates)):
            for value in values:
                ctx.at_least(value, 1, name)
        batch, channels, *sizes = data.partial_shape or ctx.unknown_shape(4)
        if self.auto_pad == "valid":
            # A patch spans one element more; one that does not fit leaves no patches.
            spans = [ctx.dimension((size - 1) * rate % 2**64) for size, rate in zip(self.sizes, self.rates, strict=True)]
            sizes = [ctx.saturate(size - span) for size, span in zip(sizes, spans, strict=True)]
        patches = [ceil_div(size, stride) for size, stride in zip(sizes, self.strides, strict=True)]
        return (batch, channels * ctx.dimension(prod(self.sizes) % 2**64), *patches)
