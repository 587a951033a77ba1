"""Pooling of regions of interest."""

from typing import Annotated, ClassVar, Literal

from irshape.ops.attribute import Stated, Unsigned
from irshape.ops.context import Context
from irshape.ops.cost import Count, Outputs
from irshape.ops.flow import mixing
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.dim import Size
from irshape.shape.element_type import FLOAT, INTEGER, ElementType
from irshape.shape.shape import Shape

_KNOWN_FLOAT = FLOAT - {ElementType.dynamic}


def require_scale(ctx: Context, scale: float) -> None:
    """Demand that spatial_scale is a positive float32 in its normal range."""
    if not 2.0**-126 <= scale < 2.0**128:
        ctx.fail("A104", f"spatial_scale must be positive and finite, got {scale}", attribute="spatial_scale")


def require_word(ctx: Context, word: str, words: tuple[str, ...], attribute: str) -> None:
    """Demand that an attribute is one of these words, in the same case."""
    if word not in words:
        ctx.fail("A103", f"{attribute} must be {' or '.join(words)}, got {word!r}", attribute=attribute)


def region_count(ctx: Context, rois: Input, numbers: int) -> Size:
    """The number of regions, each of which `numbers` values describe."""
    if not rois.is_ranked:
        return ctx.unknown()
    ctx.require_eq(rois.shape[1], numbers, "a region must have {b} numbers")
    return rois.shape[0]


def channel_count(ctx: Context, data: Input) -> Size:
    """The number of channels of the data."""
    return data.shape[1] if data.is_ranked else ctx.unknown()


@op("ROIPooling", "opset2", also="opset1")
class ROIPooling(Op):
    """Pool each region to the same size. Each region is [batch, left, top, right, bottom]."""

    data = In(_KNOWN_FLOAT, rank=4)
    rois = In(_KNOWN_FLOAT, rank=2, like="data")
    output = Out(like="data")
    output_size: Annotated[tuple[int, ...], Unsigned] = (0, 0)
    output_roi: Annotated[tuple[int, ...], Unsigned] = (0, 0)
    pooled_h: int = 0
    pooled_w: int = 0
    spatial_scale: Annotated[float, Stated] = 0.0
    method: str = "max"
    flow = mixing("takes regions of the samples that data names out of")

    def infer(self, ctx: Context, data: Input, rois: Input) -> Shape:
        given = vars(self)  # holds only the attributes that the layer has; the last of these four that is there counts
        size = given.get("output_roi", self.output_size)
        if len(size) != 2:
            ctx.fail("A105", f"the output size must have 2 items, got {len(size)}", attribute="output_roi")
        height, width = given.get("pooled_h", size[0]), given.get("pooled_w", size[1])
        for name, length in (("pooled_h", height), ("pooled_w", width)):
            if length == 0:
                ctx.fail("A104", f"{name} must be at least 1, got 0", attribute=name)
        require_scale(ctx, self.spatial_scale)
        require_word(ctx, self.method, ("max", "bilinear"), "method")
        return (region_count(ctx, rois, 5), channel_count(ctx, data), ctx.dimension(height), ctx.dimension(width))

    def cost(self, out: Outputs) -> Count | None:
        """4 MACs for each element of the output with `bilinear`; with `max` the sizes do not tell."""
        return Count(macs=4 * out.elements) if self.method == "bilinear" else None


@op("PSROIPooling", "opset1")
class PSROIPooling(Op):
    """Pool each bin of each region from its own channels. Each region is [batch, left, top, right, bottom]."""

    data = In(_KNOWN_FLOAT, rank=4)
    rois = In(_KNOWN_FLOAT, rank=2)
    output = Out(like="data")
    output_dim: Annotated[int, Stated] = 0
    group_size: int
    spatial_scale: float
    mode: str
    spatial_bins_x: int = 0
    spatial_bins_y: int = 0
    flow = mixing("takes regions of the samples that data names out of")

    def infer(self, ctx: Context, data: Input, rois: Input) -> Shape:
        require_word(ctx, self.mode, ("average", "bilinear"), "mode")
        if self.group_size == 0:
            ctx.fail("A104", "group_size must be at least 1, got 0", attribute="group_size")
        bins = self.group_size**2
        if self.mode == "bilinear":
            ctx.at_least(self.spatial_bins_x, 1, "spatial_bins_x")
            ctx.at_least(self.spatial_bins_y, 1, "spatial_bins_y")
            bins = self.spatial_bins_x * self.spatial_bins_y
        require_scale(ctx, self.spatial_scale)
        wanted = ctx.dimension(bins * self.output_dim)
        ctx.require_eq(channel_count(ctx, data), wanted, "data must have one channel for each bin and output channel")
        side = ctx.dimension(self.group_size)
        return (region_count(ctx, rois, 5), ctx.dimension(self.output_dim), side, side)


@op("DeformablePSROIPooling", "opset1")
class DeformablePSROIPooling(Op):
    """Pool each bin of each region, moved by an offset, from its own channels."""

    data = In(rank=4)
    rois = In(rank=2)
    offsets = In(rank=4, optional=True)
    output = Out(like="data")
    output_dim: int
    spatial_scale: Annotated[float, Stated] = 0.0
    group_size: int = 1
    mode: str = "bilinear_deformable"
    spatial_bins_x: int = 1
    spatial_bins_y: int = 1
    trans_std: float = 1.0
    part_size: int = 1
    flow = mixing("takes regions of the samples that data names out of")

    def infer(self, ctx: Context, data: Input, rois: Input, offsets: Input | None) -> Shape:
        ctx.at_least(self.output_dim, 1, "output_dim")
        ctx.at_least(self.group_size, 1, "group_size")
        regions = rois.shape[0] if rois.is_ranked else ctx.unknown()
        return (regions, self.output_dim, self.group_size, self.group_size)


class _ROIAlign(Op):
    """Sample each region to the same size, without rounding its corners."""

    data = In(FLOAT, rank=4)
    rois = In(FLOAT, rank=2, like="data")
    batch_indices = In(INTEGER, rank=1)
    output = Out(like="data")
    pooled_h: Annotated[int, Stated] = 0
    pooled_w: Annotated[int, Stated] = 0
    sampling_ratio: Annotated[int, Stated] = 0
    spatial_scale: Annotated[float, Stated] = 0.0

    numbers: ClassVar[int] = 4
    flow = mixing("takes regions of the samples that data names out of")

    def infer(self, ctx: Context, data: Input, rois: Input, batch_indices: Input) -> Shape:
        if not (ctx.has_type(data, _KNOWN_FLOAT) or ctx.has_type(rois, _KNOWN_FLOAT)):
            ctx.error("T101", "the element type of data and rois must be known", port=data)
        regions = region_count(ctx, rois, self.numbers)
        if batch_indices.is_ranked:
            regions = ctx.merge(regions, batch_indices.shape[0], "there must be a batch index for each region")
        return (regions, channel_count(ctx, data), ctx.dimension(self.pooled_h), ctx.dimension(self.pooled_w))

    def cost(self, out: Outputs) -> Count | None:
        """For each element of the output 4 MACs at every sampling point; without `sampling_ratio` the sizes do not tell their number."""
        return Count(macs=4 * self.sampling_ratio**2 * out.elements) if self.sampling_ratio > 0 else None


@op("ROIAlign", "opset3")
class ROIAlignV3(_ROIAlign):
    """Sample each region [left, top, right, bottom] to the same size."""

    mode: Annotated[Literal["avg", "max"], Stated] = "avg"


@op("ROIAlign", "opset9")
class ROIAlignV9(ROIAlignV3):
    """Sample each region; `aligned_mode` says where its sampling points lie."""

    aligned_mode: Literal["asymmetric", "half_pixel_for_nn", "half_pixel"] = "asymmetric"


@op("ROIAlignRotated", "opset15")
class ROIAlignRotated(_ROIAlign):
    """Sample each region [x, y, width, height, angle] to the same size."""

    clockwise_mode: bool = False

    numbers = 5
