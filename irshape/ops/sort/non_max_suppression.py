"""NonMaxSuppression: the boxes that overlap no box with a higher score."""

from collections.abc import Sequence
from math import inf
from typing import Literal

from irshape.ops.attribute import IndexType
from irshape.ops.context import Context
from irshape.ops.flow import mixing
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.dim import Size, bounds, dim_min, is_known
from irshape.shape.element_type import ElementType
from irshape.shape.shape import Shape

_REAL = frozenset({ElementType.bf16, ElementType.f16, ElementType.f32, ElementType.dynamic})


def most_selected(ctx: Context, boxes: Input, scores: Input, limit: Input | None) -> Size:
    """How many boxes OpenVINO knows to be selected at most: it merges no sizes, and must know limits of all of them."""
    if not boxes.is_ranked or not scores.is_ranked:
        return ctx.unknown()
    each = boxes.shape[1]
    number = None if limit is None else ctx.known(limit)
    each = dim_min(each, number[0]) if number is not None and number[0] >= 0 and bounds(each)[1] < inf else ctx.unknown()
    return ctx.unknown(0, bounds(each * scores.shape[0] * scores.shape[1])[1])


class _NonMaxSuppression(Op):
    """The base of all versions. `boxes` are [batches, boxes, 4] and `scores` [batches, classes, boxes]; a selected index has 3 numbers."""

    box_encoding: Literal["corner", "center"] = "corner"
    sort_result_descending: bool = True
    flow = mixing("lists the boxes of all samples, which lie in")

    def selected(self, ctx: Context, boxes: Input, scores: Input, limit: Size) -> Size:
        """How many boxes are selected at most."""
        if boxes.is_ranked:
            ctx.require_eq(boxes.shape[2], 4, "the last axis of boxes must hold 4 coordinates")
        if not boxes.is_ranked or not scores.is_ranked:
            return ctx.unknown()
        batches = ctx.merge(boxes.shape[0], scores.shape[0], "boxes and scores must have the same number of batches")
        count = ctx.merge(boxes.shape[1], scores.shape[2], "boxes and scores must have the same number of boxes")
        return self.most(batches, scores.shape[1], count, limit)

    def most(self, batches: Size, classes: Size, boxes: Size, limit: Size) -> Size:
        """`limit` boxes of each class in each batch, but no more than there are."""
        return batches * classes * dim_min(boxes, limit)


@op("NonMaxSuppression", "opset1")
class NonMaxSuppression(_NonMaxSuppression):
    """Indices of the selected boxes; their number is that of one batch, and not more than the boxes."""

    boxes = In(rank=3)
    scores = In(rank=3)
    max_output_boxes_per_class = In(rank=0, value=True, filled=True)
    iou_threshold = In(rank=0, filled=True)
    score_threshold = In(rank=0, filled=True)
    selected_indices = Out(ElementType.i64)

    def infer(
        self,
        ctx: Context,
        boxes: Input,
        scores: Input,
        max_output_boxes_per_class: Input | None,
        iou_threshold: Input | None,
        score_threshold: Input | None,
    ) -> Shape:
        if max_output_boxes_per_class is None:
            limit: Size = 0
        else:
            limit = ctx.limit(max_output_boxes_per_class) if boxes.is_ranked else ctx.unknown()
        return (self.selected(ctx, boxes, scores, limit), 3)

    def most(self, batches: Size, classes: Size, boxes: Size, limit: Size) -> Size:
        return dim_min(boxes, classes * limit)

    def openvino_shapes(
        self, ctx: Context, shapes: Sequence[Shape], boxes: Input, scores: Input, max_output_boxes_per_class: Input | None, *_: Input | None
    ) -> Sequence[Shape]:
        if not boxes.is_ranked or not scores.is_ranked or not is_known(boxes.shape[1]):
            return [(ctx.unknown(), 3)]
        limit = 0 if max_output_boxes_per_class is None else ctx.limit(max_output_boxes_per_class)
        count = self.most(scores.shape[0], scores.shape[1], boxes.shape[1], limit)
        return [(self._counted(ctx, count, scores.shape[1]), 3)]

    def _counted(self, ctx: Context, count: Size, classes: Size) -> Size:
        """The bounds that OpenVINO infers for the number of boxes, from the number for each class."""
        return count if is_known(count) and (count == 0 or is_known(classes)) else ctx.unknown()


@op("NonMaxSuppression", "opset3")
class NonMaxSuppressionV3(NonMaxSuppression):
    """Indices of the selected boxes, in an integer type of choice."""

    selected_indices = Out(attribute="output_type")
    output_type: IndexType = ElementType.i64


@op("NonMaxSuppression", "opset4")
class NonMaxSuppressionV4(NonMaxSuppressionV3):
    """Indices of the selected boxes; their number is the most there can be."""

    most = _NonMaxSuppression.most

    def _counted(self, ctx: Context, count: Size, classes: Size) -> Size:
        """OpenVINO takes the largest number for the number."""
        high = bounds(count)[1]
        return ctx.unknown() if high == inf else int(high)


@op("NonMaxSuppression", "opset5")
class NonMaxSuppressionV5(_NonMaxSuppression):
    """Indices and scores of the selected boxes, whose number only running tells, and their number."""

    boxes = In(_REAL, rank=3)
    scores = In(_REAL, rank=3)
    max_output_boxes_per_class = In(value=True, optional=True)
    iou_threshold = In(_REAL, optional=True)
    score_threshold = In(_REAL, optional=True)
    soft_nms_sigma = In(_REAL, optional=True)
    selected_indices = Out(attribute="output_type")
    selected_scores = Out(ElementType.f32)
    valid_outputs = Out(attribute="output_type")
    output_type: IndexType = ElementType.i64

    def infer(
        self,
        ctx: Context,
        boxes: Input,
        scores: Input,
        max_output_boxes_per_class: Input | None,
        iou_threshold: Input | None,
        score_threshold: Input | None,
        soft_nms_sigma: Input | None,
    ) -> tuple[Shape, ...]:
        for port in (max_output_boxes_per_class, iou_threshold, score_threshold, soft_nms_sigma):
            if port is not None:
                ctx.single(port)
        limit = ctx.unknown()
        if max_output_boxes_per_class is not None and boxes.is_ranked and scores.is_ranked:
            limit = ctx.limit(max_output_boxes_per_class)
        count = ctx.unknown(0, bounds(self.selected(ctx, boxes, scores, limit))[1])
        return (count, 3), (count, 3), (1,)

    def openvino_shapes(
        self, ctx: Context, shapes: Sequence[Shape], boxes: Input, scores: Input, max_output_boxes_per_class: Input | None, *_: Input | None
    ) -> Sequence[Shape]:
        count = most_selected(ctx, boxes, scores, max_output_boxes_per_class)
        return (count, 3), (count, 3), (1,)


@op("NonMaxSuppression", "opset9")
class NonMaxSuppressionV9(NonMaxSuppressionV5):
    """Indices and scores of the selected boxes and their number; the device decides whether the result is padded."""
