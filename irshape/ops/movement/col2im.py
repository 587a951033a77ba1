"""Col2Im: columns of an image back into the image."""

from collections.abc import Sequence

from irshape.ops.context import Context, element_count
from irshape.ops.op import In, Input, Op, Out, op
from irshape.shape.dim import Size, product
from irshape.shape.element_type import INDEX
from irshape.shape.shape import Shape


@op("Col2Im", "opset15")
class Col2Im(Op):
    """Add up columns, each of which is a block of an image, where their blocks lie."""

    data = In(unranked=True)
    output_size = In(INDEX, value=True)
    kernel_size = In(INDEX, value=True, like="output_size")
    output = Out(like="data")
    strides: tuple[int, ...] = ()
    dilations: tuple[int, ...] = ()
    pads_begin: tuple[int, ...] = ()
    pads_end: tuple[int, ...] = ()

    def infer(self, ctx: Context, data: Input, output_size: Input, kernel_size: Input) -> Shape:
        for port in (output_size, kernel_size):
            ctx.require_rank(port, (1,))
            if port.is_ranked and (count := element_count(port.partial_shape)) != 2:
                ctx.fail("V105" if count is None else "V103", f"{port.name} must hold 2 values", port=port)
        ctx.require_rank(data, (2, 3))
        if not data.is_ranked:
            return None
        *batch, columns, blocks = data.shape
        image = ctx.shape_in(output_size) or ctx.unknown_shape(2)
        if kernel_size.elements is None:
            return (*batch, ctx.unknown(), *image)
        kernel = ctx.values(kernel_size, 2)
        for size in kernel:
            ctx.require_ge(size, 1, "kernel_size must be at least 1", code="V101")
        ctx.stop_at_errors()
        if output_size.elements is not None:
            self.require_blocks(ctx, image, kernel, blocks)
        message = "the axis of data before the last must be a multiple of the product of kernel_size"
        return (*batch, ctx.exact_div(columns, product(kernel), message, strict=False), *image)

    def require_blocks(self, ctx: Context, image: Sequence[Size], kernel: Sequence[Size], blocks: Size) -> None:
        """There must be as many columns as places where a block fits into the image."""
        lists = (self.strides, self.dilations, self.pads_begin, self.pads_end)
        if any(len(values) < 2 for values in lists):
            if type(blocks) is int:
                ctx.fail("A105", "strides, dilations, pads_begin and pads_end must hold 2 values each; OpenVINO reads beyond their ends")
            return
        places: Size = 1
        for size, width, stride, dilation, before, after in zip(image, kernel, *lists, strict=False):
            if stride == 0:
                ctx.fail("A104", "strides must not be 0", attribute="strides")
            places = places * ((size + before + after - dilation * (width - 1) - 1) // stride + 1)
        ctx.require_eq(blocks, places, "the last axis of data must be the number of places of a block", strict=False)
