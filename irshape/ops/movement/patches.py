"""Operations that cut images into patches and put them together."""

from collections.abc import Sequence
from math import prod
from typing import Annotated, Literal

from irshape.ops.attribute import Unsigned
from irshape.ops.context import Context
from irshape.ops.cost import each, moved
from irshape.ops.flow import Flow, along_first
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.dim import Size, ceil_div, dim_max, is_known, narrow, product
from irshape.shape.element_type import ElementType
from irshape.shape.shape import Shape, format_shape
from irshape.shape.window import dilated

_INDEX = frozenset({ElementType.i32, ElementType.i64})


@op("ExtractImagePatches", "opset3")
class ExtractImagePatches(Op):
    """Put the elements of each patch of an image into the channels."""

    data = In(rank=4)
    output = Out(like="data")
    ignores_surplus = True
    sizes: Annotated[tuple[int, ...], Unsigned]
    strides: Annotated[tuple[int, ...], Unsigned]
    rates: Annotated[tuple[int, ...], Unsigned]
    auto_pad: Literal["same_upper", "same_lower", "valid"]
    cost = moved
    flow = along_first("takes patches of")

    def infer(self, ctx: Context, data: Input) -> Shape:
        for name, values in (("sizes", self.sizes), ("strides", self.strides), ("rates", self.rates)):
            if len(values) != 2:
                ctx.fail("A105", f"{name} must have 2 items, got {len(values)}", attribute=name)
        for name, values in (("strides", self.strides), ("rates", self.rates)):
            for value in values:
                ctx.at_least(value, 1, name)
        batch, channels, *sizes = data.shape
        if self.auto_pad == "valid":
            # A patch covers one element more than its span. If it does not fit, there are no patches.
            spans = [ctx.dimension((size - 1) * rate % 2**64) for size, rate in zip(self.sizes, self.rates, strict=True)]
            sizes = [ctx.saturate(size - span) for size, span in zip(sizes, spans, strict=True)]
        patches = [ceil_div(size, stride) for size, stride in zip(sizes, self.strides, strict=True)]
        return (batch, channels * ctx.dimension(prod(self.sizes) % 2**64), *patches)


@op("Col2Im", "opset15")
class Col2Im(Op):
    """Add up blocks, each of which a window took from one place, to the image."""

    data = In()
    output_size = In(_INDEX, value=True)
    kernel_size = In(_INDEX, like="output_size", value=True)
    output = Out(like="data")
    strides: Annotated[tuple[int, ...], Unsigned] = ()
    dilations: Annotated[tuple[int, ...], Unsigned] = ()
    pads_begin: tuple[int, ...] = ()
    pads_end: tuple[int, ...] = ()
    cost = each("1 operation for each element of the data, which is added to the image.", operations=1, of_input=True)

    def infer(self, ctx: Context, data: Input, output_size: Input, kernel_size: Input) -> Shape:
        ctx.require_rank(data, (2, 3))
        for port in (output_size, kernel_size):
            if port.is_ranked and port.shape != (2,):
                ctx.fail("S201", f"{port.name} must have the shape [2], got {format_shape(port.shape)}", port=port)
        *batch, elements, blocks = data.shape
        image, kernel = ctx.sizes(output_size, 2), ctx.values(kernel_size, 2)
        with ctx.openvino_checks(at=kernel), ctx.openvino_checks(when=is_known(elements) or is_known(blocks)):
            for length in kernel:
                ctx.require_ge(length, 1, "kernel_size must be at least 1", code="V101")
            kernel = tuple(dim_max(length, 1) if is_known(length) else narrow(length, 1) for length in kernel)
            ctx.stop_at_errors()
        with ctx.openvino_checks(at=[elements, *kernel]):
            channels = ctx.exact_div(elements, product(kernel), "the elements of a block must be a multiple of the elements of the kernel")
        with ctx.openvino_checks(at=[blocks, *kernel, *image]):
            is_static = all(map(is_known, (elements, blocks, *kernel, *image)))
            places = [self._places(ctx, axis, *sizes, is_static) for axis, sizes in enumerate(zip(image, kernel, strict=True))]
            ctx.require_eq(blocks, product(places), "data must have a block for each place of the window")
        return (*batch, channels, *image)

    def flow(self, flow: Flow, data: Input) -> None:
        if data.rank == 3:
            flow.keep(data, 0, 0)
        flow.mixes(data, "sums the columns of")

    def openvino_shapes(self, ctx: Context, shapes: Sequence[Shape], data: Input, kernel_size: Input) -> Sequence[Shape]:
        if is_known(data.shape[-2]) and ctx.known(kernel_size) is not None:
            return shapes
        return [(*shape[:-3], ctx.unknown(), *shape[-2:]) for shape in shapes if shape is not None]

    def _places(self, ctx: Context, axis: int, size: Size, length: Size, is_static: bool) -> Size:
        """The number of places of the window on an axis of the image. OpenVINO reads the attributes only if all sizes are static."""
        items = []
        for name, default in (("strides", 1), ("dilations", 1), ("pads_begin", 0), ("pads_end", 0)):
            values = getattr(self, name)
            if is_static and len(values) < 2:
                ctx.fail("A105", f"{name} must have 2 items, got {len(values)}; OpenVINO reads beyond the end", attribute=name)
            items.append(values[axis] if len(values) >= 2 else default)
        stride, dilation, begin, end = items
        if is_static:
            ctx.at_least(stride, 1, "strides")
        return (size + begin + end - dilated(length, dilation)) // max(stride, 1) + 1
