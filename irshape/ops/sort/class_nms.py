"""MatrixNms and MulticlassNms: suppression of overlapping boxes class by class."""

from collections.abc import Sequence
from math import inf
from typing import Any, Literal

from irshape.ops.attribute import IndexType
from irshape.ops.context import Context
from irshape.ops.flow import mixing
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.dim import Size, bounds, dim_min
from irshape.shape.element_type import INDEX, ElementType
from irshape.shape.shape import Shape

_REAL = frozenset({ElementType.bf16, ElementType.f16, ElementType.f32})


class _ClassNms(Op):
    """The class, score, coordinates and index of each box that is kept, and how many boxes each batch keeps.

    `boxes` are [batches, boxes, 4], `scores` [batches, classes, boxes].
    """

    boxes = In(_REAL, rank=3)
    scores = In(_REAL, rank=3, like="boxes")
    selected_outputs = Out(like="boxes")
    selected_indices = Out(attribute="output_type")
    selected_num = Out(attribute="output_type")
    sort_result_type: Literal["classid", "score", "none"] = "none"
    output_type: IndexType = ElementType.i64
    nms_top_k: int = -1
    keep_top_k: int = -1
    sort_result_across_batch: bool = False
    score_threshold: float = 0.0
    background_class: int = -1
    normalized: bool = True
    flow = mixing("lists the boxes of all samples, which lie in")

    def check_limits(self, ctx: Context) -> None:
        """Demand that limits fit int32, as OpenVINO reads them; -1 stands for no limit."""
        for name in ("nms_top_k", "keep_top_k", "background_class"):
            if not -1 <= getattr(self, name) < 2**31:
                ctx.fail("A104", f"{name} must be in [-1, 2^31), got {getattr(self, name)}", attribute=name)

    def kept(self, ctx: Context, boxes: Input, scores: Input) -> tuple[Shape, ...]:
        """The shapes of the outputs."""
        batches, count, coordinates = boxes.shape
        ctx.require_eq(coordinates, 4, "a box must have 4 coordinates")
        score_batches, classes, score_count = scores.dims(3)
        batches = ctx.merge(batches, score_batches, "boxes and scores must have the same number of batches")
        count = ctx.merge(count, score_count, "boxes and scores must have the same number of boxes")
        return self.outputs_of(ctx, batches, classes, count)

    def outputs_of(self, ctx: Context, batches: Size, classes: Size, boxes: Size) -> tuple[Shape, ...]:
        """The shapes of the outputs, with a row for each box that is kept; the limits bound their number."""
        of_class = self.limited(ctx, boxes, self.nms_top_k)
        of_batch = self.limited(ctx, of_class * classes, self.keep_top_k)
        kept = ctx.unknown(0, bounds(of_batch * batches)[1])
        return (kept, 6), (kept, 1), (batches,)

    def openvino_shapes(self, ctx: Context, shapes: Sequence[Shape], *inputs: Any) -> Sequence[Shape]:
        boxes, scores = inputs[:2]
        if not boxes.is_ranked or not scores.is_ranked:
            return (ctx.unknown(), 6), (ctx.unknown(), 1), (boxes.shape[0] if boxes.is_ranked else ctx.unknown(),)
        if len(inputs) > 2 and inputs[2] is not None:
            return self.outputs_of(ctx, inputs[2].shape[0], boxes.shape[0], boxes.shape[1])
        selected, indices, _ = self.outputs_of(ctx, scores.shape[0], scores.shape[1], boxes.shape[1])
        return selected, indices, (boxes.shape[0],)

    @staticmethod
    def limited(ctx: Context, size: Size, limit: int) -> Size:
        """No more than a limit, if there is one. OpenVINO does not apply it to a size without bound."""
        is_unlimited = limit < 0 or (ctx.scope.has_intervals_only and bounds(size)[1] == inf)
        return size if is_unlimited else dim_min(size, limit)


@op("MatrixNms", "opset8")
class MatrixNms(_ClassNms):
    """Boxes whose scores stay high after the overlap with better boxes has lowered them."""

    decay_function: Literal["gaussian", "linear"] = "linear"
    gaussian_sigma: float = 2.0
    post_threshold: float = 0.0

    def infer(self, ctx: Context, boxes: Input, scores: Input) -> tuple[Shape, ...]:
        if boxes.is_ranked:
            self.check_limits(ctx)
        return self.kept(ctx, boxes, scores)


class _MulticlassNms(_ClassNms):
    """Boxes that overlap no box of their class with a higher score."""

    iou_threshold: float = 0.0
    nms_eta: float = 1.0

    def check(self, ctx: Context) -> None:
        """Demand valid attributes, whatever the inputs are."""
        self.check_limits(ctx)
        if not 0 <= self.nms_eta <= 1:
            ctx.fail("A104", f"nms_eta must be in [0, 1], got {self.nms_eta}", attribute="nms_eta")

    @staticmethod
    def check_rank(ctx: Context, boxes: Input, scores: Input) -> None:
        """Demand a known rank of the scores: OpenVINO reads their sizes as soon as it knows the rank of the boxes."""
        if boxes.is_ranked and not scores.is_ranked:
            ctx.fail("S206", "OpenVINO cannot read scores of unknown rank if the rank of boxes is known", port=scores)


@op("MulticlassNms", "opset8")
class MulticlassNmsV8(_MulticlassNms):
    """Boxes of each image that overlap no box of their class with a higher score."""

    def infer(self, ctx: Context, boxes: Input, scores: Input) -> tuple[Shape, ...]:
        self.check(ctx)
        self.check_rank(ctx, boxes, scores)
        return self.kept(ctx, boxes, scores)


@op("MulticlassNms", "opset9")
class MulticlassNmsV9(_MulticlassNms):
    """With `roisnum` the boxes are those of all images: `boxes` are [classes, boxes, 4], `scores` [classes, boxes]."""

    scores = In(_REAL, like="boxes")
    roisnum = In(INDEX - {ElementType.dynamic}, rank=1, optional=True)

    def infer(self, ctx: Context, boxes: Input, scores: Input, roisnum: Input | None) -> tuple[Shape, ...]:
        self.check(ctx)
        ctx.require_rank(scores, (3,) if roisnum is None else (2,))
        self.check_rank(ctx, boxes, scores)
        if roisnum is None:
            return self.kept(ctx, boxes, scores)
        classes, count, coordinates = boxes.shape
        ctx.require_eq(coordinates, 4, "a box must have 4 coordinates")
        score_classes, score_count = scores.dims(2)
        classes = ctx.merge(classes, score_classes, "boxes and scores must have the same number of classes")
        count = ctx.merge(count, score_count, "boxes and scores must have the same number of boxes")
        (images,) = roisnum.shape
        return self.outputs_of(ctx, images, classes, count)
