"""Regions of interest: proposing them, and pooling the features inside of them."""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Final, Literal

from irshape.ops.attribute import Ge, IndexType, Stated, Unsigned
from irshape.ops.context import Context
from irshape.ops.cost import Count, Outputs
from irshape.ops.flow import mixing
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.dim import Size, bounds, narrow
from irshape.shape.element_type import FLOAT, INTEGER, ElementType
from irshape.shape.guard import BOUNDS, SKIPPED, Looks, Requirement
from irshape.shape.shape import Shape

_REAL = FLOAT - {ElementType.dynamic}
_IMAGES: Final = "im_info and {port} must have the same batch"


def _require_image_numbers(ctx: Context, numbers: Size) -> None:
    """An image is described by height, width and one scale, or by one scale for each side."""
    ctx.require_ge(numbers, 3, "the input for the image size must hold 3 or 4 numbers for each image", code="S201")
    ctx.require_ge(4, numbers, "the input for the image size must hold 3 or 4 numbers for each image", code="S201")


class _Proposal(Op):
    """`post_nms_topn` regions of each image: the image's number and four coordinates."""

    class_probs = In(_REAL, rank=4)
    bbox_deltas = In(_REAL, rank=4)
    image_shape = In(_REAL, rank=1)
    output = Out(like="class_probs")
    base_size: Annotated[int, Stated] = 0
    pre_nms_topn: Annotated[int, Stated] = 0
    post_nms_topn: Annotated[int, Stated] = 0
    nms_thresh: Annotated[float, Stated] = 0.0
    feat_stride: Annotated[int, Stated] = 1
    min_size: Annotated[int, Stated] = 1
    ratio: Annotated[tuple[float, ...], Stated] = ()
    scale: Annotated[tuple[float, ...], Stated] = ()
    clip_before_nms: bool = True
    clip_after_nms: bool = False
    normalize: bool = False
    box_size_scale: float = 1.0
    box_coordinate_scale: float = 1.0
    framework: str = ""
    flow = mixing("lists the boxes of all samples along")

    def regions(self, ctx: Context, class_probs: Input, bbox_deltas: Input, image_shape: Input) -> Size:
        """The number of regions of all images."""
        probabilities, deltas = (port.shape for port in (class_probs, bbox_deltas))
        images = ctx.merge(probabilities[0], deltas[0], "class_probs and bbox_deltas must have the same batch")
        ctx.require_eq(probabilities[1] * 2, deltas[1], "bbox_deltas must have twice the channels of class_probs")
        if image_shape.is_ranked:
            _require_image_numbers(ctx, image_shape.shape[0])
        return images * ctx.dimension(self.post_nms_topn)


@op("Proposal", "opset1")
class ProposalV0(_Proposal):
    """The regions most likely to hold an object, the same number for each image."""

    def infer(self, ctx: Context, class_probs: Input, bbox_deltas: Input, image_shape: Input) -> Shape:
        return (self.regions(ctx, class_probs, bbox_deltas, image_shape), 5)


@op("Proposal", "opset4", also="extension experimental")
class ProposalV4(_Proposal):
    """The regions most likely to hold an object, the same number for each image, and their probabilities."""

    probabilities = Out(like="class_probs")

    def infer(self, ctx: Context, class_probs: Input, bbox_deltas: Input, image_shape: Input) -> tuple[Shape, Shape]:
        regions = self.regions(ctx, class_probs, bbox_deltas, image_shape)
        return (regions, 5), (regions,)


@op("GenerateProposals", "opset9")
class GenerateProposals(Op):
    """At most `post_nms_count` regions of each image, their scores, and how many each image has."""

    im_info = In(rank=2)
    anchors = In(rank=4)
    boxes_deltas = In(rank=4)
    scores = In(rank=4)
    rois = Out(like="im_info")
    roi_scores = Out(like="im_info")
    rois_num = Out(attribute="roi_num_type")
    ignores_surplus = True
    min_size: Annotated[float, Stated] = 0.0
    nms_threshold: Annotated[float, Stated] = 0.0
    post_nms_count: Annotated[int, Ge(1)]
    pre_nms_count: Annotated[int, Ge(1)]
    normalized: bool = True
    nms_eta: float = 1.0
    roi_num_type: IndexType = ElementType.i64
    flow = mixing("lists the boxes of all samples along")

    def infer(self, ctx: Context, im_info: Input, anchors: Input, boxes_deltas: Input, scores: Input) -> tuple[Shape, ...]:
        if self.nms_eta != 1:
            ctx.fail("A104", f"nms_eta must be 1, got {self.nms_eta}", attribute="nms_eta")
        images, numbers = im_info.shape
        _require_image_numbers(ctx, numbers)
        *grid, count, coordinates = anchors.shape
        ctx.require_eq(coordinates, 4, "an anchor must have 4 coordinates")
        deltas, score = (port.shape for port in (boxes_deltas, scores))
        ctx.require_eq(score[1] * 4, deltas[1], "boxes_deltas must have 4 channels for each channel of scores")
        ctx.require_eq(count, score[1], "scores must have a channel for each anchor")
        for axis in (2, 3):
            ctx.require_eq(grid[axis - 2], score[axis], "anchors and scores must have the same grid")
            ctx.require_eq(deltas[axis], score[axis], "boxes_deltas and scores must have the same grid")
        ctx.require_eq(deltas[0], score[0], "boxes_deltas and scores must have the same batch")
        for port, batch in ((boxes_deltas, deltas[0]), (scores, score[0])):
            images = ctx.merge(images, batch, _IMAGES, port=port.name)
        regions = ctx.unknown(0, bounds(images * self.post_nms_count)[1])
        return (regions, 4), (regions,), (images,)

    def openvino_checks(self, ctx: Context, requirement: Requirement, scores: Input) -> Looks:
        """OpenVINO compares im_info with boxes_deltas alone, and does so where it knows the rank of scores."""
        is_compared = scores.is_ranked and requirement.names.get("port") == "boxes_deltas"
        return BOUNDS if is_compared or requirement.template != _IMAGES else SKIPPED

    def openvino_shapes(self, ctx: Context, shapes: Sequence[Shape], im_info: Input, boxes_deltas: Input, scores: Input) -> Sequence[Shape]:
        images = im_info.shape[0]
        for port in (boxes_deltas, scores):  # OpenVINO merges the batches, whether or not it accepts those that differ
            images = narrow(images, *bounds(port.shape[0]))
        regions = ctx.unknown(0, bounds(images * self.post_nms_count)[1])
        return (regions, 4), (regions,), (images,)


_REGIONS: Final = "rois, deltas and scores must have the same number of regions"


@op("ExperimentalDetectronDetectionOutput", "opset6", also="extension experimental")
class ExperimentalDetectronDetectionOutput(Op):
    """The best `max_detections_per_image` boxes of an image, their classes and scores."""

    rois = In(FLOAT, rank=2)
    deltas = In(FLOAT, rank=2, like="rois")
    scores = In(FLOAT, rank=2, like="rois")
    im_info = In(FLOAT, rank=2, like="rois")
    boxes = Out(like="rois")
    classes = Out(ElementType.i32)
    box_scores = Out(like="rois")
    score_threshold: Annotated[float, Stated] = 0.0
    nms_threshold: Annotated[float, Stated] = 0.0
    max_delta_log_wh: Annotated[float, Stated] = 0.0
    num_classes: Annotated[int, Stated] = 0
    post_nms_count: Annotated[int, Stated] = 0
    max_detections_per_image: Annotated[int, Stated] = 0
    class_agnostic_box_regression: bool = False
    deltas_weights: Annotated[tuple[float, ...], Stated] = ()

    def infer(self, ctx: Context, rois: Input, deltas: Input, scores: Input, im_info: Input) -> tuple[Shape, ...]:
        (regions, coordinates), (delta_regions, delta_numbers), (score_regions, classes), (images, numbers) = (
            port.shape for port in (rois, deltas, scores, im_info)
        )
        ctx.require_eq(coordinates, 4, "a region must have 4 coordinates")
        ctx.require_eq(delta_numbers, ctx.dimension(self.num_classes * 4), "deltas must have 4 numbers for each class of num_classes")
        ctx.require_eq(classes, ctx.dimension(self.num_classes), "scores must have one number for each class of num_classes")
        ctx.require_eq(images, 1, "im_info must describe one image")
        ctx.require_eq(numbers, 3, "im_info must hold 3 numbers for an image")
        ctx.merge(ctx.merge(regions, delta_regions, _REGIONS), score_regions, _REGIONS)
        count = ctx.dimension(self.max_detections_per_image)
        return (count, 4), (count,), (count,)

    def openvino_checks(self, ctx: Context, requirement: Requirement, rois: Input, deltas: Input, scores: Input) -> Looks:
        are_ranked = rois.is_ranked and deltas.is_ranked and scores.is_ranked
        return BOUNDS if are_ranked or requirement.template != _REGIONS else SKIPPED


@op("ExperimentalDetectronGenerateProposalsSingleImage", "opset6", also="extension experimental")
class ExperimentalDetectronGenerateProposalsSingleImage(Op):
    """The best `post_nms_count` regions of an image and their scores."""

    im_info = In(FLOAT, rank=1)
    anchors = In(FLOAT, rank=2, like="im_info")
    deltas = In(FLOAT, rank=3, like="im_info")
    scores = In(FLOAT, rank=3, like="im_info")
    rois = Out(like="im_info")
    roi_scores = Out(like="im_info")
    min_size: Annotated[float, Stated] = 0.0
    nms_threshold: Annotated[float, Stated] = 0.0
    post_nms_count: Annotated[int, Stated] = 0
    pre_nms_count: Annotated[int, Stated] = 0

    def infer(self, ctx: Context, im_info: Input, anchors: Input, deltas: Input, scores: Input) -> tuple[Shape, Shape]:
        if im_info.is_ranked:
            ctx.require_eq(im_info.shape[0], 3, "im_info must hold 3 numbers for an image")
        if anchors.is_ranked:
            ctx.require_eq(anchors.shape[1], 4, "an anchor must have 4 coordinates")
        if deltas.is_ranked and scores.is_ranked:
            for axis in (1, 2):
                ctx.require_eq(deltas.shape[axis], scores.shape[axis], "deltas and scores must have the same grid")
        count = ctx.dimension(self.post_nms_count)
        return (count, 4), (count,)


@op("ExperimentalDetectronPriorGridGenerator", "opset6", also="extension experimental")
class ExperimentalDetectronPriorGridGenerator(Op):
    """The priors at each place of the grid of a feature map; with `flatten` in one list."""

    priors = In(FLOAT, rank=2)
    feature_map = In(FLOAT, rank=4, like="priors")
    im_data = In(FLOAT, rank=4, like="priors")
    output = Out(like="priors")
    flatten: bool = False
    h: int = 0
    w: int = 0
    stride_x: float = 0.0
    stride_y: float = 0.0

    def infer(self, ctx: Context, priors: Input, feature_map: Input, im_data: Input) -> Shape:
        count, coordinates = priors.shape
        ctx.require_eq(coordinates, 4, "a prior must have 4 coordinates")
        batch, _, height, width = feature_map.shape
        if im_data.is_ranked:
            ctx.require_eq(batch, im_data.shape[0], "feature_map and im_data must have the same batch")
        return (height * width * count, 4) if self.flatten else (height, width, count, 4)


@op("ExperimentalDetectronROIFeatureExtractor", "opset6", also="extension experimental")
class ExperimentalDetectronROIFeatureExtractor(Op):
    """Pool each region from the layer of a pyramid that fits its size, and give the regions back in order."""

    rois = In(FLOAT, rank=2)
    pyramid = In(FLOAT, rank=4, like="rois", variadic=True)
    features = Out(like="rois")
    ordered_rois = Out(like="rois")
    output_size: Annotated[int, Stated] = 0
    sampling_ratio: Annotated[int, Stated] = 0
    pyramid_scales: Annotated[tuple[int, ...], Stated] = ()
    aligned: bool = False

    def infer(self, ctx: Context, rois: Input, pyramid: tuple[Input, ...]) -> tuple[Shape, Shape]:
        regions, coordinates = rois.shape
        ctx.require_eq(coordinates, 4, "a region must have 4 coordinates")
        channels: Shape = None
        for layer in pyramid:
            if layer.is_ranked:
                ctx.require_eq(layer.shape[0], 1, "{port} must hold one image", port=layer.name)
                channels = ctx.merge_shapes(channels, layer.shape[1:2], "all layers of the pyramid must have the same channels")
        size = ctx.dimension(self.output_size)
        return (regions, *(channels or ctx.unknown_shape(1)), size, size), (regions, 4)


def require_scale(ctx: Context, scale: float) -> None:
    """Demand that spatial_scale is a positive float32 in its normal range."""
    if not 2.0**-126 <= scale < 2.0**128:
        ctx.fail("A104", f"spatial_scale must be positive and finite, got {scale}", attribute="spatial_scale")


def region_count(ctx: Context, rois: Input, numbers: int) -> Size:
    """The number of regions, each of which `numbers` values describe."""
    if not rois.is_ranked:
        return ctx.unknown()
    ctx.require_eq(rois.shape[1], numbers, "a region must have {b} numbers")
    return rois.shape[0]


@op("ROIPooling", "opset2", also="opset1")
class ROIPooling(Op):
    """Pool each region to the same size. Each region is [batch, left, top, right, bottom]."""

    data = In(_REAL, rank=4)
    rois = In(_REAL, rank=2, like="data")
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
        ctx.one_of(self.method, ("max", "bilinear"), "method")
        return (region_count(ctx, rois, 5), data.shape[1], ctx.dimension(height), ctx.dimension(width))

    def cost(self, out: Outputs) -> Count | None:
        """4 MACs for each element of the output with `bilinear`; with `max` the sizes do not tell."""
        return Count(macs=4 * out.elements) if self.method == "bilinear" else None


@op("PSROIPooling", "opset1")
class PSROIPooling(Op):
    """Pool each bin of each region from its own channels. Each region is [batch, left, top, right, bottom]."""

    data = In(_REAL, rank=4)
    rois = In(_REAL, rank=2)
    output = Out(like="data")
    output_dim: Annotated[int, Stated] = 0
    group_size: int
    spatial_scale: float
    mode: str
    spatial_bins_x: int = 0
    spatial_bins_y: int = 0
    flow = mixing("takes regions of the samples that data names out of")

    def infer(self, ctx: Context, data: Input, rois: Input) -> Shape:
        ctx.one_of(self.mode, ("average", "bilinear"), "mode")
        if self.group_size == 0:
            ctx.fail("A104", "group_size must be at least 1, got 0", attribute="group_size")
        bins = self.group_size**2
        if self.mode == "bilinear":
            ctx.at_least(self.spatial_bins_x, 1, "spatial_bins_x")
            ctx.at_least(self.spatial_bins_y, 1, "spatial_bins_y")
            bins = self.spatial_bins_x * self.spatial_bins_y
        require_scale(ctx, self.spatial_scale)
        wanted = ctx.dimension(bins * self.output_dim)
        ctx.require_eq(data.shape[1], wanted, "data must have one channel for each bin and output channel")
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
        if not (ctx.has_type(data, _REAL) or ctx.has_type(rois, _REAL)):
            ctx.error("T101", "the element type of data and rois must be known", port=data)
        regions = region_count(ctx, rois, self.numbers)
        if batch_indices.is_ranked:
            regions = ctx.merge(regions, batch_indices.shape[0], "there must be a batch index for each region")
        return (regions, data.shape[1], ctx.dimension(self.pooled_h), ctx.dimension(self.pooled_w))

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
