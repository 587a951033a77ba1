"""Operations that order, select and search."""

from collections.abc import Sequence
from math import inf
from typing import Annotated, Any, Literal

from irshape.ops.attribute import IndexType, Stated
from irshape.ops.context import Context
from irshape.ops.cost import Count, Outputs
from irshape.ops.flow import Flow, mixing
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.dim import Size, bounds, dim_min, is_known, lt, narrow, origins
from irshape.shape.element_type import FLOAT, INDEX, INTEGER, ElementType
from irshape.shape.guard import NOTHING
from irshape.shape.polynomial import UNBACKED
from irshape.shape.shape import Shape


class _TopK(Op):
    """The `k` largest or smallest values along an axis, and where they were."""

    axis: Annotated[int, Stated] = 0
    mode: Annotated[Literal["max", "min"], Stated] = "max"
    sort: Annotated[Literal["none", "value", "index"], Stated] = "none"
    index_element_type: IndexType = ElementType.i32

    data = In(min_rank=1)
    k = In(INTEGER, rank=0, value=True)
    values = Out(like="data")
    indices = Out(attribute="index_element_type")

    def infer(self, ctx: Context, data: Input, k: Input) -> tuple[Shape, Shape]:
        axis = ctx.axis(self.axis, data.rank, attribute="axis")
        size, count = data.shape[axis], ctx.size_in(k)
        with ctx.openvino_checks(at=NOTHING) if origins(count) & UNBACKED else ctx.assumes():
            ctx.require_ge(size, count, "k must not be greater than the size of axis {axis}", axis=axis)
        shape = (*data.shape[:axis], ctx.saturate(narrow(count, high=size)), *data.shape[axis + 1 :])
        return shape, shape

    def flow(self, flow: Flow, data: Input, k: Input) -> None:
        flow.keep_all(data, but=[self.axis], why="sorts along")
        flow.sizes(k)

    def openvino_shapes(self, ctx: Context, shapes: Sequence[Shape], data: Input, k: Input) -> Sequence[Shape]:
        axis = ctx.axis(self.axis, data.rank)
        size, count = data.shape[axis], ctx.limit(k)
        if is_known(size) or is_known(count):
            return shapes
        (low, high), (least, most) = bounds(size), bounds(count)
        taken = ctx.unknown(min(low, least), min(high, most) if high < inf else inf)
        shape = (*data.shape[:axis], taken, *data.shape[axis + 1 :])
        return shape, shape


@op("TopK", "opset1")
class TopK(_TopK):
    """The `k` largest or smallest values along an axis, and where they were."""

    k = In(frozenset({ElementType.i8, ElementType.i32, ElementType.i64}), rank=0, value=True)


@op("TopK", "opset3")
class TopKV3(_TopK):
    """The `k` largest or smallest values along an axis, `k` of any integer type."""


@op("TopK", "opset11")
class TopKV11(TopKV3):
    """The `k` largest or smallest values along an axis; equal ones may keep their order."""

    stable: bool = False

    def infer(self, ctx: Context, data: Input, k: Input) -> tuple[Shape, Shape]:
        if self.stable and self.sort == "none":
            ctx.fail("A103", "sort must be value or index where stable is true, got none", attribute="sort")
        return super().infer(ctx, data, k)


@op("SearchSorted", "opset15")
class SearchSorted(Op):
    """Where each value would be inserted into a sorted sequence: one sequence for all values, or one for each row of values."""

    sorted_sequence = In(min_rank=1)
    values = In(like="sorted_sequence")
    output = Out(attribute="output_type")
    ignores_surplus = True
    right_mode: bool = False
    output_type: IndexType = ElementType.i64

    def infer(self, ctx: Context, sorted_sequence: Input, values: Input) -> Shape:
        if not sorted_sequence.is_ranked or sorted_sequence.rank == 1:
            return values.shape
        last = values.shape[-1] if values.known_rank else ctx.unknown()
        message = "sorted_sequence and values must be equal on axis {axis}"
        return ctx.merge_shapes(values, (*sorted_sequence.shape[:-1], last), message)

    def flow(self, flow: Flow, sorted_sequence: Input, values: Input) -> None:
        if sorted_sequence.rank > 1:
            flow.keep_all(sorted_sequence, but=[-1], why="searches along")
        flow.keep_all(values)

    def cost(self, out: Outputs, sorted_sequence: Input) -> Count | None:
        """For each value, the comparisons of a binary search in its sequence."""
        length = sorted_sequence.shape[-1]
        return Count(operations=out.elements * length.bit_length()) if isinstance(length, int) else None


@op("ExperimentalDetectronTopKROIs", "opset6", also="extension experimental")
class ExperimentalDetectronTopKROIs(Op):
    """The `max_rois` regions of the highest probability."""

    rois = In(FLOAT, rank=2)
    probabilities = In(FLOAT, rank=1, like="rois")
    output = Out(like="rois")
    max_rois: Annotated[int, Stated] = 0

    def infer(self, ctx: Context, rois: Input, probabilities: Input) -> Shape:
        count, coordinates = rois.shape
        ctx.require_eq(coordinates, 4, "a region must have 4 coordinates")
        if probabilities.is_ranked:
            ctx.require_eq(count, probabilities.shape[0], "there must be a probability for each region")
        return (ctx.dimension(self.max_rois), 4)


_REAL = frozenset({ElementType.bf16, ElementType.f16, ElementType.f32})
_REAL_OR_DYNAMIC = _REAL | {ElementType.dynamic}


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
    flow = mixing("lists the boxes of all samples along")

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

    def infer(self, ctx: Context, boxes: Input, scores: Input, max_output_boxes_per_class: Input | None) -> Shape:
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

    boxes = In(_REAL_OR_DYNAMIC, rank=3)
    scores = In(_REAL_OR_DYNAMIC, rank=3)
    max_output_boxes_per_class = In(value=True, optional=True)
    iou_threshold = In(_REAL_OR_DYNAMIC, optional=True)
    score_threshold = In(_REAL_OR_DYNAMIC, optional=True)
    soft_nms_sigma = In(_REAL_OR_DYNAMIC, optional=True)
    selected_indices = Out(attribute="output_type")
    selected_scores = Out(ElementType.f32)
    valid_outputs = Out(attribute="output_type")
    output_type: IndexType = ElementType.i64

    def infer(self, ctx: Context, boxes: Input, scores: Input, *limits: Input | None) -> tuple[Shape, ...]:
        for port in limits:
            if port is not None:
                ctx.single(port)
        limit, most = ctx.unknown(), limits[0]
        if most is not None and boxes.is_ranked and scores.is_ranked:
            limit = ctx.limit(most)
        count = ctx.unknown(0, bounds(self.selected(ctx, boxes, scores, limit))[1])
        return (count, 3), (count, 3), (1,)

    def openvino_shapes(self, ctx: Context, shapes: Sequence[Shape], boxes: Input, scores: Input, *limits: Input | None) -> Sequence[Shape]:
        count = most_selected(ctx, boxes, scores, limits[0])
        return (count, 3), (count, 3), (1,)


@op("NonMaxSuppression", "opset9")
class NonMaxSuppressionV9(NonMaxSuppressionV5):
    """Indices and scores of the selected boxes and their number; the device decides whether the result is padded."""


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
    flow = mixing("lists the boxes of all samples along")

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
    flow = mixing("lists the boxes of all samples along")

    def infer(self, ctx: Context, boxes: Input, scores: Input, *limits: Input) -> tuple[Shape, ...]:
        for port in limits:
            ctx.single(port)
        ctx.stop_at_errors()
        batches, count, numbers = boxes.shape
        ctx.require_eq(numbers, 5, "a box must have 5 numbers: center, size and angle")
        score_batches, classes, score_count = scores.shape
        batches = ctx.merge(batches, score_batches, "boxes and scores must have the same number of batches")
        count = ctx.merge(count, score_count, "boxes and scores must have the same number of boxes")
        limit = ctx.scalar(limits[0]) if boxes.is_ranked and scores.is_ranked else ctx.unknown()
        if lt(limit, 0) is False:
            count = dim_min(count, limit)
        selected = ctx.unknown(0, bounds(batches * classes * count)[1])
        return (selected, 3), (selected, 3), (1,)

    def openvino_shapes(self, ctx: Context, shapes: Sequence[Shape], boxes: Input, scores: Input, *limits: Input) -> Sequence[Shape]:
        selected = most_selected(ctx, boxes, scores, limits[0])
        return (selected, 3), (selected, 3), (1,)
