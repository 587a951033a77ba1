"""Operations of the Detectron library."""

from typing import Annotated, Final

from irshape.ops.attribute import Stated
from irshape.ops.context import Context
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.element_type import FLOAT, ElementType
from irshape.shape.guard import BOUNDS, SKIPPED, Looks, Requirement
from irshape.shape.shape import Shape

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
