"""Operations on images."""

from collections.abc import Sequence
from math import isfinite
from typing import Annotated, Literal

from irshape.ops.attribute import Ge, Stated
from irshape.ops.context import Context
from irshape.ops.cost import Count, Outputs, each
from irshape.ops.flow import Flow, along_first, same
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import declare, op
from irshape.shape.dim import Size
from irshape.shape.element_type import ANY, FLOAT, INTEGER, ElementType
from irshape.shape.guard import BOUNDS, SKIPPED, Looks, Requirement
from irshape.shape.shape import Shape

_PIXEL = FLOAT | {ElementType.u8}
_FULL = frozenset({ElementType.u8, ElementType.f16, ElementType.bf16, ElementType.f32, ElementType.f64, ElementType.dynamic})
_HALF = "the {side} must be even"


def _halved(ctx: Context, size: Size, side: str) -> Size:
    return ctx.exact_div(size, 2, _HALF, side=side)


class _FromVideo(Op):
    """From YUV. Brightness and colours share one plane, colours below, or have planes of their own; a colour plane has half the sides."""

    cost = each("3 MACs for each element of the image.", macs=3)
    flow = along_first("puts together", "y", "uv", "u", "v")

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


class _FromNV12(_FromVideo):
    """From brightness and pairs of colours."""

    y = In(_PIXEL, rank=4)
    uv = In(_PIXEL, rank=4, optional=True, like="y")
    output = Out(like="y")

    def infer(self, ctx: Context, y: Input, uv: Input | None) -> Shape:
        return self.colours(ctx, y, () if uv is None else ((uv, 2),))


declare(globals(), _FromNV12, {
    "NV12toRGB": ("opset8", "From brightness and pairs of colours to red, green, blue."),
    "NV12toBGR": ("opset8", "From brightness and pairs of colours to blue, green, red."),
})  # fmt: skip


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


declare(globals(), _FromI420, {
    "I420toRGB": ("opset8", "From brightness and two colours to red, green, blue."),
    "I420toBGR": ("opset8", "From brightness and two colours to blue, green, red."),
})  # fmt: skip


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


declare(globals(), _ToNV12, {
    "RGBtoNV12": ("opset17", "From red, green, blue to brightness and pairs of colours."),
    "BGRtoNV12": ("opset17", "From blue, green, red to brightness and pairs of colours."),
})  # fmt: skip


@op("GridSample", "opset9")
class GridSample(Op):
    """Sample images [batch, channels, *] at the points of a grid [batch, height, width, 2]."""

    data = In(rank=4)
    grid = In(FLOAT, rank=4)
    output = Out(like="data")
    align_corners: bool = False
    mode: Literal["bilinear", "bicubic", "nearest"] = "bilinear"
    padding_mode: Literal["zeros", "border", "reflection"] = "zeros"
    flow = along_first("samples along", "data", "grid")

    def infer(self, ctx: Context, data: Input, grid: Input) -> Shape:
        batch, channels, *_ = data.shape
        count, height, width, coordinates = grid.shape
        ctx.require_eq(coordinates, 2, "a point must have {b} coordinates")
        batch = ctx.merge(batch, count, "data and grid must have the same batch")
        return (batch, channels, height, width)

    def cost(self, out: Outputs) -> Count:
        """For each element of the output 4 MACs with `bilinear`, 16 with `bicubic`; with `nearest` elements are moved."""
        return Count(macs=out.elements * {"bilinear": 4, "bicubic": 16, "nearest": 0}[self.mode])


_IMAGES = _FULL | {ElementType.i8, ElementType.i32, ElementType.i64}
_SIZES = frozenset({ElementType.i32, ElementType.i64, ElementType.u32, ElementType.u64})
_SCALES = frozenset({ElementType.f16, ElementType.f32, ElementType.bf16})


def _read_sizes(op: Op, ctx: Context, requirement: Requirement, data: Input, target: Input, *axes: Input | None) -> Looks:
    """OpenVINO checks sizes that it reads."""
    return SKIPPED if requirement.code in ("V101", "V103") and target.elements is None else BOUNDS


def _resizes(flow: Flow, data: Input, axes: Sequence[int], pads: Sequence[int], mode: str) -> None:
    """The flow of axes that are resized. With one scale for all positions, an axis that keeps its size keeps its elements."""
    is_exact = not any(pads) and mode != "tf_half_pixel_for_nn"
    sizes = flow.shape
    changed = [axis for axis in axes if not is_exact or not same(sizes[axis], data.shape[axis])]
    flow.keep_all(data, but=range(data.rank) if any(pads) else changed, why="resizes")


class _Interpolate(Op):
    """Resize some axes of data: to sizes, or by scales."""

    data = In(_IMAGES)
    output = Out(like="data")
    shape_calculation_mode: Annotated[Literal["sizes", "scales"], Stated] = "sizes"
    coordinate_transformation_mode: Literal[
        "half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn", "align_corners"
    ] = "half_pixel"  # fmt: skip
    nearest_mode: Literal["round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"] = "round_prefer_floor"
    antialias: bool = False
    pads_begin: Annotated[tuple[int, ...], Ge(0)] = ()
    pads_end: Annotated[tuple[int, ...], Ge(0)] = ()
    cube_coeff: float = -0.75

    def resized(self, ctx: Context, data: Input, target: Input, axes: Input | None) -> Shape:
        """The padded shape of the data, resized on `axes`, or on all axes, to the sizes or by the scales of `target`."""
        ctx.require_rank(target, (1,))
        chosen = range(data.rank) if axes is None else ctx.known(axes)
        if chosen is None:
            return ctx.unknown_shape(data.rank)
        if not all(0 <= axis < data.rank for axis in chosen):
            ctx.fail("V102", f"axes must be in [0, {data.rank - 1}], got {list(chosen)}", port=axes)
        begin, end = ((*pads, *[0] * data.rank) for pads in (self.pads_begin, self.pads_end))
        shape = [size + before + after for size, before, after in zip(data.shape, begin, end, strict=False)]
        if self.shape_calculation_mode == "sizes":
            for axis, size in zip(chosen, ctx.sizes(target, len(chosen), at_least=True), strict=True):
                shape[axis] = size
        else:
            for axis, scale in zip(chosen, ctx.floats(target, len(chosen)), strict=True):
                shape[axis] = ctx.unknown() if scale is None else self.rescaled(ctx, shape[axis], scale, target)
        return tuple(shape)

    openvino_checks = _read_sizes

    @staticmethod
    def rescaled(ctx: Context, size: Size, scale: float, port: Input) -> Size:
        """A padded size times a scale."""
        if not isfinite(scale):
            ctx.fail("V101", f"{port.name} must hold finite values, got {scale}", port=port)
        if scale <= 0:
            ctx.warn("R201", f"{port.name} must be positive, got {scale}", port=port)
        return ctx.saturate(ctx.scaled(size, scale))

    def flow(self, flow: Flow, *inputs: Input) -> None:
        data, *targets = flow.ports
        axes = next((port for port in targets if port.name == "axes"), None)
        flow.sizes(*targets)
        pads = (*self.pads_begin, *self.pads_end)
        _resizes(flow, data, range(data.rank) if axes is None else flow.axes(axes, data.rank), pads, self.coordinate_transformation_mode)


@op("Interpolate", "opset1")
class InterpolateV0(Op):
    """Resize some axes of data to sizes."""

    data = In(ANY)
    output_shape = In(INTEGER, value=True)
    output = Out(like="data")
    axes: Annotated[tuple[int, ...], Stated] = ()
    mode: Annotated[str, Stated] = ""
    align_corners: bool = True
    antialias: bool = False
    pads_begin: Annotated[tuple[int, ...], Ge(0)] = ()
    pads_end: Annotated[tuple[int, ...], Ge(0)] = ()
    openvino_checks = _read_sizes

    def infer(self, ctx: Context, data: Input, output_shape: Input) -> Shape:
        shape = list(data.shape)
        axes = sorted(set(self.axes))
        for axis in axes:
            if not 0 <= axis < data.rank:
                ctx.fail("V102", f"axes must be in [0, {data.rank - 1}], got {axis}", attribute="axes")
        for axis, size in zip(axes, ctx.sizes(output_shape, len(axes), at_least=True), strict=True):
            shape[axis] = size
        return tuple(shape)

    def flow(self, flow: Flow, data: Input, output_shape: Input) -> None:
        flow.sizes(output_shape)
        _resizes(flow, data, self.axes, (*self.pads_begin, *self.pads_end), "")

    def cost(self, out: Outputs) -> Count | None:
        """For each element of the output 2 MACs per resized axis, multiplied (cubic: 4), for at most rank - 2 axes; nearest: none."""
        return _interpolated(out, len(self.axes), self.mode, self.antialias)


@op("Interpolate", "opset4")
class InterpolateV4(_Interpolate):
    """Resize some axes of data to sizes or by scales, both of which are given."""

    sizes = In(_SIZES, value=True)
    scales = In(_SCALES, value=True)
    axes = In(_SIZES, rank=1, value=True, optional=True)
    mode: Annotated[Literal["nearest", "linear", "linear_onnx", "cubic"], Stated] = "nearest"

    def infer(self, ctx: Context, data: Input, sizes: Input, scales: Input, axes: Input | None) -> Shape:
        return self.resized(ctx, data, sizes if self.shape_calculation_mode == "sizes" else scales, axes)

    def cost(self, out: Outputs, axes: Input | None) -> Count | None:
        """For each element of the output 2 MACs per resized axis, multiplied (cubic: 4), for at most rank - 2 axes; nearest: none."""
        return _interpolated(out, None if axes is None else axes.count, self.mode, self.antialias)


@op("Interpolate", "opset11")
class InterpolateV11(_Interpolate):
    """Resize some axes of data to sizes or by scales."""

    scales_or_sizes = In(_SIZES | _SCALES, value=True)
    axes = In(_SIZES, rank=1, value=True, optional=True)
    mode: Annotated[Literal["nearest", "linear", "linear_onnx", "cubic", "bilinear_pillow", "bicubic_pillow"], Stated] = "nearest"
    cost = InterpolateV4.cost

    def infer(self, ctx: Context, data: Input, scales_or_sizes: Input, axes: Input | None) -> Shape:
        if not ctx.has_type(scales_or_sizes, _SIZES if self.shape_calculation_mode == "sizes" else _SCALES):
            seen = scales_or_sizes.element_type
            ctx.fail("T101", f"{self.shape_calculation_mode} must not have element type {seen}", port=scales_or_sizes)
        return self.resized(ctx, data, scales_or_sizes, axes)


def _interpolated(out: Outputs, axes: int | None, mode: str, antialias: bool) -> Count | None:
    """The count of an interpolation along so many axes; None if the number of weights depends on the scale.

    Models name all axes where only those after batch and channels change.
    """
    if antialias or mode not in ("nearest", "linear", "linear_onnx", "cubic"):
        return None
    spatial = max(len(out.shape) - 2, 1)
    taps = (4 if mode == "cubic" else 2) ** min(spatial if axes is None else axes, spatial)
    return Count(macs=0 if mode == "nearest" else out.elements * taps)
