"""Interpolate: images of another size."""

from collections.abc import Sequence
from math import isfinite
from typing import Annotated, Literal

from irshape.ops.attribute import Ge, Stated
from irshape.ops.context import Context
from irshape.ops.cost import Count, Outputs
from irshape.ops.flow import Flow, same
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.dim import Size
from irshape.shape.element_type import ANY, INTEGER, ElementType
from irshape.shape.guard import BOUNDS, SKIPPED, Looks, Requirement
from irshape.shape.shape import Shape

_IMAGES = frozenset(
    {
        ElementType.f16, ElementType.f32, ElementType.f64, ElementType.bf16, ElementType.i8, ElementType.u8, ElementType.i32,
        ElementType.i64, ElementType.dynamic,
    }
)  # fmt: skip
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
        _resizes(flow, data, flow.elements(axes, range(data.rank)), pads, self.coordinate_transformation_mode)


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

    def infer(self, ctx: Context, data: Input, scales_or_sizes: Input, axes: Input | None) -> Shape:
        if not ctx.has_type(scales_or_sizes, _SIZES if self.shape_calculation_mode == "sizes" else _SCALES):
            seen = scales_or_sizes.element_type
            ctx.fail("T101", f"{self.shape_calculation_mode} must not have element type {seen}", port=scales_or_sizes)
        return self.resized(ctx, data, scales_or_sizes, axes)

    def cost(self, out: Outputs, axes: Input | None) -> Count | None:
        """For each element of the output 2 MACs per resized axis, multiplied (cubic: 4), for at most rank - 2 axes; nearest: none."""
        return _interpolated(out, None if axes is None else axes.count, self.mode, self.antialias)


def _interpolated(out: Outputs, axes: int | None, mode: str, antialias: bool) -> Count | None:
    """The count of an interpolation along so many axes; None if the number of weights depends on the scale.

    Models name all axes where only those after batch and channels change.
    """
    if antialias or mode not in ("nearest", "linear", "linear_onnx", "cubic"):
        return None
    spatial = max(len(out.shape) - 2, 1)
    taps = (4 if mode == "cubic" else 2) ** min(spatial if axes is None else axes, spatial)
    return Count(macs=0 if mode == "nearest" else out.elements * taps)
