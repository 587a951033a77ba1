"""NMSRotated: the rotated boxes that overlap no box with a higher score."""

from collections.abc import Sequence

from irshape.ops.attribute import IndexType
from irshape.ops.context import Context
from irshape.ops.flow import mixing
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.ops.sort.non_max_suppression import most_selected
from irshape.shape.dim import bounds, dim_min, lt
from irshape.shape.element_type import FLOAT, INTEGER, ElementType
from irshape.shape.shape import Shape


@op("NMSRotated", "opset13")
class NMSRotated(Op):
    """Indices and scores of the selected boxes, and their number; `boxes` are [batches, boxes, 5], `scores` [batches, classes, boxes]."""

    boxes = In(FLOAT, rank=3)
    scores = In(FLOAT, rank=3)
    max_output_boxes_per_class = In(INTEGER, value=True)
    iou_threshold = In(FLOAT)
    score_threshold = In(FLOAT)
    selected_indices = Out(attribute="output_type")
    selected_scores = Out(ElementType.f32)
    valid_outputs = Out(attribute="output_type")
    sort_result_descending: bool = True
    output_type: IndexType = ElementType.i64
    clockwise: bool = True
    flow = mixing("lists the boxes of all samples, which lie in")

    def infer(
        self,
        ctx: Context,
        boxes: Input,
        scores: Input,
        max_output_boxes_per_class: Input,
        iou_threshold: Input,
        score_threshold: Input,
    ) -> tuple[Shape, ...]:
        for port in (max_output_boxes_per_class, iou_threshold, score_threshold):
            ctx.single(port)
        ctx.stop_at_errors()
        batches, count, numbers = boxes.shape
        ctx.require_eq(numbers, 5, "a box must have 5 numbers: center, size and angle")
        score_batches, classes, score_count = scores.shape
        batches = ctx.merge(batches, score_batches, "boxes and scores must have the same number of batches")
        count = ctx.merge(count, score_count, "boxes and scores must have the same number of boxes")
        limit = ctx.scalar(max_output_boxes_per_class) if boxes.is_ranked and scores.is_ranked else ctx.unknown()
        if lt(limit, 0) is False:
            count = dim_min(count, limit)
        selected = ctx.unknown(0, bounds(batches * classes * count)[1])
        return (selected, 3), (selected, 3), (1,)

    def openvino_shapes(self, ctx: Context, shapes: Sequence[Shape], boxes: Input, scores: Input, *limits: Input) -> Sequence[Shape]:
        selected = most_selected(ctx, boxes, scores, limits[0])
        return (selected, 3), (selected, 3), (1,)
