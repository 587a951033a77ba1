"""Conversions between RGB and the YUV formats of video; images are [batch, height, width, channels]."""

from collections.abc import Sequence

from irshape.ops.context import Context
from irshape.ops.cost import each
from irshape.ops.flow import Flow, along_first
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.dim import Size
from irshape.shape.element_type import FLOAT, ElementType
from irshape.shape.shape import Shape

_PIXEL = FLOAT | {ElementType.u8}
_FULL = frozenset({ElementType.u8, ElementType.f16, ElementType.bf16, ElementType.f32, ElementType.f64, ElementType.dynamic})
_HALF = "the {side} must be even"


def _halved(ctx: Context, size: Size, side: str) -> Size:
    """Half of a side, which must be even."""
    return ctx.exact_div(size, 2, _HALF, side=side)


class _FromVideo(Op):
    """From YUV. Brightness and colours share one plane, colours below, or have planes of their own; a colour plane has half the sides."""

    cost = each("3 MACs for each element of the image.", macs=3)

    def colours(self, ctx: Context, y: Input, planes: Sequence[tuple[Input, int]]) -> Shape:
        """The shape of the image, from the plane of brightness and from the planes of colour with the number of their channels."""
        batch, height, width, channels = y.shape
        ctx.require_eq(channels, 1, "{port} must have one channel", port=y.name)
        if not planes:
            height = ctx.exact_div(height, 3, "the height must be a multiple of 3") * 2
        for plane, count in planes:
            other_batch, half_height, half_width, channels = plane.shape
            ctx.require_eq(channels, count, "{port} must have {b} channels", port=plane.name)
            message = "{port} must have the batch and half the sides of y"
            batch = ctx.merge(batch, other_batch, message, port=plane.name)
            height = ctx.merge(height, half_height * 2, message, port=plane.name)
            width = ctx.merge(width, half_width * 2, message, port=plane.name)
        ctx.require_div(width, 2, _HALF, side="width")
        ctx.require_div(height, 2, _HALF, side="height")
        return (batch, height, width, 3)

    def openvino_shapes(self, ctx: Context, shapes: Sequence[Shape], *inputs: Input | None) -> Sequence[Shape]:
        y, *planes = inputs
        if y is None or not y.is_ranked or any(plane is not None for plane in planes):
            return shapes
        batch, height, width, _ = y.shape
        return [(batch, ctx.exact_div(height * 2, 3, "the height must be a multiple of 3"), width, 3)]

    def flow(self, flow: Flow, *planes: Input) -> None:
        for port in flow.ports:
            flow.keep(port, 0, 0)


class _FromNV12(_FromVideo):
    """From brightness and pairs of colours."""

    y = In(_PIXEL, rank=4)
    uv = In(_PIXEL, rank=4, optional=True, like="y")
    output = Out(like="y")

    def infer(self, ctx: Context, y: Input, uv: Input | None) -> Shape:
        return self.colours(ctx, y, () if uv is None else ((uv, 2),))


@op("NV12toRGB", "opset8")
class NV12toRGB(_FromNV12):
    """From brightness and pairs of colours to red, green, blue."""


@op("NV12toBGR", "opset8")
class NV12toBGR(_FromNV12):
    """From brightness and pairs of colours to blue, green, red."""


class _FromI420(_FromVideo):
    """From brightness and two colours."""

    y = In(_PIXEL, rank=4)
    u = In(_PIXEL, rank=4, optional=True, like="y")
    v = In(_PIXEL, rank=4, optional=True, like="y")
    output = Out(like="y")

    def infer(self, ctx: Context, y: Input, u: Input | None, v: Input | None) -> Shape:
        if u is not None and v is None:
            ctx.fail("G107", "input 2 (v) is missing, which u needs")
        return self.colours(ctx, y, () if u is None or v is None else ((u, 1), (v, 1)))


@op("I420toRGB", "opset8")
class I420toRGB(_FromI420):
    """From brightness and two colours to red, green, blue."""


@op("I420toBGR", "opset8")
class I420toBGR(_FromI420):
    """From brightness and two colours to blue, green, red."""


class _ToNV12(Op):
    """To brightness and pairs of colours: in one plane, the colours below, or in two."""

    image = In(_FULL, rank=4)
    planes = Out(like="image", variadic=True)
    single_plane: bool = True
    cost = each("3 MACs for each element of the image.", macs=3, of_input=True)
    flow = along_first("converts")

    def infer(self, ctx: Context, image: Input) -> tuple[Shape, ...]:
        batch, height, width, channels = image.shape
        ctx.require_eq(channels, 3, "the image must have 3 channels")
        half_height, half_width = _halved(ctx, height, "height"), _halved(ctx, width, "width")
        if self.single_plane:
            return ((batch, half_height * 3, width, 1),)
        return (batch, height, width, 1), (batch, half_height, half_width, 2)

    def openvino_shapes(self, ctx: Context, shapes: Sequence[Shape], image: Input) -> Sequence[Shape]:
        if not self.single_plane or not image.is_ranked:
            return shapes
        batch, height, width, _ = image.shape
        return [(batch, _halved(ctx, height * 3, "height"), width, 1)]


@op("RGBtoNV12", "opset17")
class RGBtoNV12(_ToNV12):
    """From red, green, blue to brightness and pairs of colours."""


@op("BGRtoNV12", "opset17")
class BGRtoNV12(_ToNV12):
    """From blue, green, red to brightness and pairs of colours."""
