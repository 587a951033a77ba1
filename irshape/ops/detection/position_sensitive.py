"""Poolings of regions in which each part of a region has channels of its own."""

from typing import Annotated

from irshape.ops.attribute import Ge, Stated
from irshape.ops.context import Context
from irshape.ops.op import In, Input, Op, Out, op
from irshape.shape.element_type import FLOAT, ElementType
from irshape.shape.shape import Shape

_REAL = FLOAT - {ElementType.dynamic}


@op("PSROIPooling", "opset1")
class PSROIPooling(Op):
    """Divide each region into `group_size` times `group_size` parts and pool each from its own channels."""

    data = In(_REAL, rank=4, unranked=True)
    rois = In(_REAL, rank=2, unranked=True)
    output = Out(like="data")
    output_dim: Annotated[int, Stated] = 0
    group_size: Annotated[int, Ge(1)]
    spatial_scale: float
    mode: str
    spatial_bins_x: int = 0
    spatial_bins_y: int = 0

    def infer(self, ctx: Context, data: Input, rois: Input) -> Shape:
        if not self.spatial_scale > 0:
            ctx.fail("A104", f"spatial_scale must be positive, got {self.spatial_scale}", attribute="spatial_scale")
        if self.mode not in ("average", "bilinear"):
            ctx.fail("A103", f"mode {self.mode!r} is none of average, bilinear", attribute="mode")
        parts = self.group_size**2
        if self.mode == "bilinear":
            ctx.at_least(self.spatial_bins_x, 1, "spatial_bins_x")
            ctx.at_least(self.spatial_bins_y, 1, "spatial_bins_y")
            parts = self.spatial_bins_x * self.spatial_bins_y
        if data.is_ranked:
            message = "the channels must be a multiple of output_dim * {parts}"
            times = ctx.exact_div(data.shape[1], max(self.output_dim, 0) * parts, message, parts=parts)
            ctx.require_ge(times, 1, "there must be at least output_dim * {parts} channels", parts=parts)
        regions = ctx.unknown()
        if rois.is_ranked:
            regions, numbers = rois.shape
            ctx.require_eq(numbers, 5, "each region must have 5 numbers: image, left, top, right, bottom")
        return (regions, ctx.dimension(self.output_dim), self.group_size, self.group_size)


@op("DeformablePSROIPooling", "opset1")
class DeformablePSROIPooling(Op):
    """Divide each region into parts, which `offsets` move, and pool each from its own channels."""

    data = In(rank=4, unranked=True)
    rois = In(rank=2, unranked=True)
    offsets = In(rank=4, unranked=True, optional=True)
    output = Out(like="data")
    output_dim: Annotated[int, Ge(1)]
    spatial_scale: Annotated[float, Stated] = 0.0
    group_size: Annotated[int, Ge(1)] = 1
    mode: str = "bilinear_deformable"
    spatial_bins_x: int = 1
    spatial_bins_y: int = 1
    trans_std: float = 1.0
    part_size: int = 1

    def infer(self, ctx: Context, data: Input, rois: Input, offsets: Input | None) -> Shape:
        regions = rois.shape[0] if rois.is_ranked else ctx.unknown()
        return (regions, self.output_dim, self.group_size, self.group_size)
