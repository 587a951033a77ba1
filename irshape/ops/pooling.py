"""Pooling: the maximum or the mean of the elements under a window."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from irshape.ops.attribute import Fixed, IndexType, Spelled, Stated, Unsigned
from irshape.ops.context import Context
from irshape.ops.convolution import Lengths, Slide, Sliding, each_axis
from irshape.ops.cost import Count, Outputs, each
from irshape.ops.flow import Flow
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import declare, op
from irshape.shape.dim import Size, ceil_div, dim_min, is_known, narrow, product
from irshape.shape.element_type import ElementType
from irshape.shape.guard import BOUNDS, SKIPPED, STATIC, Looks, Requirement
from irshape.shape.shape import Shape
from irshape.shape.window import dilated, window


def _slides(flow: Flow, data: Input) -> None:
    flow.keep(data, 0, 0)
    flow.keep(data, 1, 1)
    flow.mixes(data, "slides windows over")


class _Pooling(Sliding):
    """A window slides over the spatial axes of each channel."""

    data = In()
    output = Out(like="data")
    kernel: Lengths = ()
    rounding_type: Literal["floor", "ceil"] = "floor"

    dilations: Annotated[tuple[int, ...], Fixed] = ()
    exclude_pad: Annotated[bool, Fixed] = False

    def infer(self, ctx: Context, data: Input) -> Shape:
        """Batch, channels, and the number of positions of the window on each spatial axis."""
        count = len(self.kernel)
        ctx.require_rank(data, (3, 4, 5))
        if data.is_ranked:
            each_axis(ctx, self.kernel, data.rank - 2, "kernel")
        slides = self.slides(ctx, count, self.strides, self.dilations)
        batch, channels, *sizes = data.dims(count + 2)
        ctx.require_ge(batch, 1, "the batch must not be empty")
        ctx.require_ge(channels, 1, "there must be at least one channel")
        positions = []
        for axis, (size, kernel, slide) in enumerate(zip(sizes, self.kernel, slides, strict=True), 2):
            ctx.require_ge(kernel, 1, "the kernel must be at least 1 on axis {axis}", code="A104", axis=axis)
            positions.append(self.positions(ctx, size, kernel, slide, axis))
        return (batch, channels, *positions)

    def flow(self, flow: Flow, data: Input) -> None:
        _slides(flow, data)

    def openvino_checks(self, ctx: Context, requirement: Requirement, data: Input) -> Looks:
        """OpenVINO checks a batch and channels that are static, and the window on axes that are."""
        axis: Any = requirement.names.get("axis")
        if axis is None:
            return STATIC if requirement.code == "S203" else BOUNDS
        return [data.dims(len(self.kernel) + 2)[axis]]

    def openvino_shapes(self, ctx: Context, shapes: Sequence[Shape], data: Input) -> Sequence[Shape]:
        if not data.is_ranked:
            return [shape and ctx.unknown_shape(len(shape)) for shape in shapes]
        (batch, channels, *sizes), positions = data.shape, (shapes[0] or ())[2:]
        # OpenVINO pads no axis whose size it does not know to keep its size, and reckons with a kernel of 0 as it is.
        known = [
            position if is_known(size) or (kernel and not self.is_same) else ctx.unknown()
            for size, position, kernel in zip(sizes, positions, self.kernel, strict=True)
        ]
        return [(batch, channels, *known)] * len(shapes)

    def positions(self, ctx: Context, size: Size, kernel: int, slide: Slide, axis: int) -> Size:
        """The number of positions of the window on one spatial axis."""
        stride, dilation, begin, end = slide
        extent = dilated(kernel, dilation)
        if self.is_same:
            ctx.require_ge(size, 1, "axis {axis} must not be empty", axis=axis)
            size = narrow(size, 1)
            return ceil_div(size - dim_min(extent, stride), stride) + 1 if self.rounding_type == "ceil" else ceil_div(size, stride)
        if begin + end == -1:
            # OpenVINO takes the padded size for unknown, and then fails when it reads it.
            ctx.require_ge(begin + end, 0, "the pads of axis {axis} must not add up to {a}", code="A104", axis=axis)
        if self.exclude_pad:
            for pad in (begin, end):
                message = "the window of {extent} elements must be longer than the padding of {pad} on axis {axis}"
                ctx.require_ge(extent, pad % 2**64 + 1, message, code="A104", extent=extent, pad=pad, axis=axis)
        return window(ctx, size, kernel, slide, self.rounding_type, axis=axis)

    def cost(self, out: Outputs) -> Count:
        """For each element of the output, as many operations as the kernel has elements."""
        return Count(operations=out.elements * product(self.kernel))


@op("MaxPool", "opset1")
class MaxPoolV1(_Pooling):
    """The largest element of each window."""

    ignores_surplus = True


@op("MaxPool", "opset8")
class MaxPoolV8(_Pooling):
    """The largest element of each window, and where it was."""

    indices = Out(attribute="index_element_type")
    dilations: Annotated[tuple[int, ...], Unsigned] = ()
    index_element_type: ElementType = ElementType.i64
    axis: int = 0

    def infer(self, ctx: Context, data: Input) -> tuple[Shape, Shape]:  # type: ignore[override]
        if data.is_ranked:
            ctx.axis(self.axis, data.rank, attribute="axis")
        shape = super().infer(ctx, data)
        return shape, shape

    def flow(self, flow: Flow, data: Input) -> None:
        _slides(flow, data)
        if self.axis <= next((axis for axis, factors in enumerate(flow.trace(data)) if flow.holds(factors)), -1):
            flow.numbers_samples(1)


@op("MaxPool", "opset14")
class MaxPoolV14(MaxPoolV8):
    """Pooling that can round as PyTorch does: no window starts in the padding at the end."""

    rounding_type: Literal["floor", "ceil", "ceil_torch"] = "floor"  # type: ignore[assignment]


@op("AvgPool", "opset1")
class AvgPoolV1(_Pooling):
    """The mean of each window."""

    exclude_pad: Annotated[bool, Spelled("exclude-pad"), Stated] = True


@op("AvgPool", "opset14")
class AvgPoolV14(AvgPoolV1):
    """Pooling that can round as PyTorch does: no window starts in the padding at the end."""

    rounding_type: Literal["floor", "ceil", "ceil_torch"] = "floor"  # type: ignore[assignment]


@op("AvgPool", "opset16")
class AvgPoolV16(AvgPoolV14):
    """The mean of each window, which may be dilated."""

    dilations: Annotated[tuple[int, ...], Unsigned] = ()


class _AdaptivePooling(Op):
    """Pooling to a given size: the windows cover the data evenly."""

    data = In()
    output_shape = In(value=True)
    output = Out(like="data")
    cost = each("1 operation for each element of the data.", operations=1, of_input=True)

    def infer(self, ctx: Context, data: Input, output_shape: Input) -> Shape:
        """Batch and channels of the data, and the sizes in `output_shape`."""
        ctx.require_rank(data, (3, 4, 5))
        count = data.rank - 2
        if output_shape.is_ranked:
            if output_shape.rank == 0:
                ctx.fail("S101", "output_shape must not be a scalar", port=output_shape)
            ctx.require_eq(output_shape.shape[0], count, "output_shape must hold one size for each spatial axis of data", code="V103")
            ctx.stop_at_errors()
        return (*data.shape[:2], *ctx.sizes(output_shape, count))

    def openvino_checks(self, ctx: Context, requirement: Requirement, output_shape: Input) -> Looks:
        is_of_values = requirement.code in ("V101", "V103") and "port" in requirement.names
        return SKIPPED if is_of_values and output_shape.elements is None else BOUNDS

    def flow(self, flow: Flow, data: Input, output_shape: Input) -> None:
        _slides(flow, data)
        flow.sizes(output_shape)


declare(globals(), _AdaptivePooling, {"AdaptiveAvgPool": ("opset8", "The mean of each part of the data.")})


@op("AdaptiveMaxPool", "opset8")
class AdaptiveMaxPool(_AdaptivePooling):
    """The largest element of each part of the data, and where it was."""

    indices = Out(attribute="index_element_type")
    index_element_type: IndexType = ElementType.i64

    def infer(self, ctx: Context, data: Input, output_shape: Input) -> tuple[Shape, Shape]:  # type: ignore[override]
        shape = super().infer(ctx, data, output_shape)
        return shape, shape
