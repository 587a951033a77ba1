"""The regions most likely to hold an object."""

from collections.abc import Sequence
from typing import Annotated, Final

from irshape.ops.attribute import Ge, IndexType, Stated
from irshape.ops.context import Context
from irshape.ops.flow import mixing
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.dim import Size, bounds, narrow
from irshape.shape.element_type import FLOAT, ElementType
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
    flow = mixing("lists the boxes of all samples, which lie in")

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
    flow = mixing("lists the boxes of all samples, which lie in")

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
