"""The heads of detectors: prior boxes, the boxes that an SSD decodes, and the outputs of YOLO."""

from collections.abc import Sequence
from math import copysign, floor, inf, isfinite, isnan
from typing import Annotated

from irshape.ops.attribute import Ge, Stated
from irshape.ops.context import Context
from irshape.ops.cost import each_element, moved
from irshape.ops.flow import mixing
from irshape.ops.op import In, Input, Op, Out, static
from irshape.ops.registry import op
from irshape.shape.dim import Size, eq, is_known, product
from irshape.shape.element_type import FLOAT, INTEGER, ElementType
from irshape.shape.guard import BOUNDS, SKIPPED, STATIC, Looks, Requirement
from irshape.shape.shape import Shape
from irshape.shape.value import float32


class _Priors(Op):
    """The same boxes at each place of a grid of `output_size`, for an image of `image_size`, and the variances of each box."""

    output_size = In(INTEGER, rank=1, value=True)
    image_size = In(INTEGER)
    output = Out(ElementType.f32)
    clip: bool = False
    offset: Annotated[float, Stated] = 0.0
    step: float = 0.0
    variance: tuple[float, ...] = ()
    cost = each_element

    def infer(self, ctx: Context, output_size: Input, image_size: Input) -> Shape:
        if image_size.is_ranked:
            ctx.require_eq(image_size.rank, 1, "image_size must have rank {b}", code="S101")
        ctx.stop_at_errors()
        height, width = ctx.sizes(output_size, 2)
        numbers = 4 * self.count(ctx)
        return (2, height * width * (numbers if numbers >= 0 else ctx.dimension(numbers)))

    def openvino_checks(self, ctx: Context, requirement: Requirement, output_size: Input) -> Looks:
        is_read = output_size.is_ranked if requirement.code == "S101" else output_size.elements is not None
        return BOUNDS if is_read or requirement.code not in ("S101", "V101", "V103") else SKIPPED

    def openvino_shapes(self, ctx: Context, shapes: Sequence[Shape], output_size: Input) -> Sequence[Shape]:
        return shapes if output_size.elements is not None else [(2, ctx.unknown())]

    def count(self, ctx: Context) -> int:
        """How many boxes there are at each place."""
        raise NotImplementedError


@op("PriorBox", "opset1")
class PriorBoxV0(_Priors):
    """Boxes of some sizes and aspect ratios."""

    min_size: tuple[float, ...] = ()
    max_size: tuple[float, ...] = ()
    aspect_ratio: tuple[float, ...] = ()
    density: tuple[float, ...] = ()
    fixed_ratio: tuple[float, ...] = ()
    fixed_size: tuple[float, ...] = ()
    flip: bool = False
    scale_all_sizes: bool = True

    def count(self, ctx: Context) -> int:
        ratios = len(self._ratios())
        if self.fixed_size:
            count = ratios * len(self.fixed_size)
        elif self.scale_all_sizes:
            count = ratios * len(self.min_size) + len(self.max_size)
        else:
            count = ratios + len(self.min_size) - 1
        for density in self.density:
            if not isfinite(density):
                ctx.fail("A104", f"density must be finite, got {density}", attribute="density")
            count += (int(density) ** 2 - 1) * (len(self.fixed_ratio) or ratios)
        return count

    def _ratios(self) -> set[float]:
        """1 and the distinct aspect ratios, with their inverses if `flip` is true, rounded to six digits in single precision."""
        ratios = {1.0}
        for ratio in map(float32, self.aspect_ratio):
            ratios.add(_six_digits(ratio))
            if self.flip:
                ratios.add(_six_digits(float32(1 / ratio) if ratio else copysign(inf, ratio)))
        return {ratio for ratio in ratios if not isnan(ratio)}


def _six_digits(number: float) -> float:
    scaled = float32(number * 1e6)
    return float32(copysign(floor(abs(scaled) + 0.5), scaled) / 1e6) if isfinite(scaled) else scaled


@op("PriorBox", "opset8")
class PriorBoxV8(PriorBoxV0):
    """Boxes of some sizes and aspect ratios, in an order that can be chosen."""

    min_max_aspect_ratios_order: bool = True


@op("PriorBoxClustered", "opset1")
class PriorBoxClustered(_Priors):
    """Boxes of given widths and heights."""

    clip: bool = True
    step_w: float = 0.0
    step_h: float = 0.0
    width: tuple[float, ...] = ()
    height: tuple[float, ...] = ()

    def infer(self, ctx: Context, output_size: Input, image_size: Input) -> Shape:
        if len(self.width) != len(self.height):
            message = f"width and height must have the same number of items, got {len(self.width)} and {len(self.height)}"
            ctx.fail("A105", message, attribute="height")
        return super().infer(ctx, output_size, image_size)

    def count(self, ctx: Context) -> int:
        return len(self.width)


_REAL = FLOAT - {ElementType.dynamic}
_PAIRS = "aux_class_preds must have 2 numbers for each prior box"
_CODES = ("caffe.PriorBoxParameter.CORNER", "caffe.PriorBoxParameter.CENTER_SIZE")


class _DetectionOutput(Op):
    """The image, class, score and four coordinates of each box.

    With N images, P prior boxes and C classes: `box_logits` are [N, 4P], or [N, 4PC] where classes do not share locations,
    `class_preds` [N, PC], `proposals` [N or 1, 1 or 2, 4P or 5P], `aux_class_preds` [N, 2P], and `aux_box_preds` like `box_logits`.
    """

    box_logits = In(_REAL, rank=2)
    class_preds = In(_REAL, rank=2, like="box_logits")
    proposals = In(_REAL, rank=3)
    aux_class_preds = In(_REAL, rank=2, optional=True, like="box_logits")
    aux_box_preds = In(_REAL, optional=True, like="box_logits")
    output = Out(like="box_logits")
    background_label_id: int = 0
    top_k: int = -1
    variance_encoded_in_target: bool = False
    keep_top_k: tuple[int, ...]
    code_type: str = _CODES[0]
    share_location: bool = True
    nms_threshold: Annotated[float, Stated] = 0.0
    confidence_threshold: float = 0.0
    clip_after_nms: bool = False
    clip_before_nms: bool = False
    decrease_label_id: bool = False
    normalized: bool = False
    input_height: int = 1
    input_width: int = 1
    objectness_score: float = 0.0
    flow = mixing("lists the boxes of all samples along")

    def infer(
        self,
        ctx: Context,
        box_logits: Input,
        class_preds: Input,
        proposals: Input,
        aux_class_preds: Input | None,
        aux_box_preds: Input | None,
    ) -> Shape:
        ctx.one_of(self.code_type, _CODES, "code_type")
        if not self.keep_top_k:
            ctx.fail("A105", "keep_top_k must have at least 1 item, got 0", attribute="keep_top_k")
        if not all(-(2**31) <= limit < 2**31 for limit in self.keep_top_k):
            ctx.fail("A104", f"keep_top_k must hold numbers in [-2^31, 2^31), got {list(self.keep_top_k)}", attribute="keep_top_k")
        images, logits = box_logits.shape
        preds_images, preds = class_preds.shape
        proposal_images, rows, numbers = proposals.shape
        ctx.require_eq(rows, 1 if self.variance_encoded_in_target else 2, "proposals must have {b} rows")
        batches = [preds_images]
        if eq(proposal_images, 1) is False:
            batches.append(proposal_images)
        pairs: Size | None = None
        if aux_class_preds is not None:
            if aux_box_preds is None:
                ctx.fail("G107", "input 4 (aux_box_preds) is missing, which aux_class_preds needs")
            aux_images, pairs = aux_class_preds.shape
            batches.append(aux_images)
            message = "box_logits and aux_box_preds must be equal on axis {axis}"
            ctx.merge_shapes(box_logits, aux_box_preds, message)
        images = self.batch(ctx, images, batches)
        priors, classes = self.counts(ctx, logits, preds, numbers, pairs)
        limit = self.keep_top_k[0]
        of_class = self.top_k if limit == -1 and self.top_k > 0 else priors
        return (1, 1, images * (limit if limit > 0 else classes * of_class), 7)

    @staticmethod
    def batch(ctx: Context, logits: Size, others: list[Size]) -> Size:
        """The number of images, which box_logits and the `others`, class_preds first, must share.

        OpenVINO compares each with box_logits, or with class_preds if it knows only the number of images there.
        """
        taken = others[0] if is_known(others[0]) and not is_known(logits) else logits
        message = "all inputs must have the same batch; proposals may have the batch 1"
        for other in others:
            ctx.require_eq(taken, other, message)
        ctx.stop_at_errors()
        with ctx.openvino_checks(when=False):
            for other in (logits, *others):
                taken = ctx.merge(taken, other, message)
        return taken

    def counts(self, ctx: Context, logits: Size, preds: Size, numbers: Size, pairs: Size | None) -> tuple[Size, Size]:
        """The number of prior boxes and the number of classes, from the last axes of the inputs."""
        raise NotImplementedError

    @property
    def prior_size(self) -> int:
        """How many numbers describe a prior box."""
        return 4 if self.normalized else 5


def _quotient(ctx: Context, what: str, *sources: tuple[str, Size, Size]) -> Size:
    """The number of prior boxes or classes, from sources: an input's name, its last axis, and its numbers for each of them.

    OpenVINO takes the first source whose size it knows, and compares it with the others that it knows.
    """
    taken = next((source for source in sources if is_known(source[1])), sources[0])
    name, size, times = taken
    with ctx.openvino_checks(at=STATIC):
        message = "the last axis of {name} must hold the same number of values for each of the {what}"
        quotient = ctx.exact_div(size, times, message, name=name, what=what)
        for other, size, times in sources:
            if other != name:
                message = "{name} and {other} must give the same number of {what}"
                ctx.merge(size, quotient * times, message, name=name, other=other, what=what)
    return seen_from(ctx, taken[1], quotient)


def seen_from(ctx: Context, size: Size, count: Size) -> Size:
    """The number of prior boxes or classes that a size gives; in OpenVINO's view any number, unless the size is known."""
    return ctx.unknown() if ctx.scope.has_intervals_only and not is_known(size) else count


@op("DetectionOutput", "opset1")
class DetectionOutputV0(_DetectionOutput):
    """The boxes found, of a given number of classes."""

    num_classes: Annotated[int, Ge(1)]

    def counts(self, ctx: Context, logits: Size, preds: Size, numbers: Size, pairs: Size | None) -> tuple[Size, Size]:
        classes = self.num_classes
        locations = 4 if self.share_location else 4 * classes
        sources = ("box_logits", logits, locations), ("class_preds", preds, classes), ("proposals", numbers, self.prior_size)
        # OpenVINO skips empty inputs before the first one that it knows not to be empty.
        first = next((i for i, (_, size, _) in enumerate(sources) if is_known(size) and size != 0), len(sources))
        priors = _quotient(ctx, "prior boxes", *[source for i, source in enumerate(sources) if i >= first or source[1] != 0] or sources)
        if pairs is not None:
            # OpenVINO takes the number from aux_class_preds only if nothing else tells it, and then accepts an odd size.
            is_counted = any(map(is_known, (logits, preds, numbers)))
            with ctx.openvino_checks(when=is_counted):
                ctx.require_eq(pairs, priors * 2, _PAIRS)
                if not is_counted:
                    priors = seen_from(ctx, pairs, ctx.exact_div(pairs, 2, _PAIRS))
        return priors, classes


@op("DetectionOutput", "opset8")
class DetectionOutputV8(_DetectionOutput):
    """The boxes found, of as many classes as the inputs have."""

    aux_box_preds = In(_REAL, rank=2, optional=True, like="box_logits")

    def counts(self, ctx: Context, logits: Size, preds: Size, numbers: Size, pairs: Size | None) -> tuple[Size, Size]:
        sources: list[tuple[str, Size, Size]] = [("proposals", numbers, self.prior_size)]
        if pairs is not None:
            sources.append(("aux_class_preds", pairs, 2))
        priors = _quotient(ctx, "prior boxes", *sources)
        # Without the number of prior boxes OpenVINO does not know the number of classes either.
        is_counted = any(is_known(size) for _, size, _ in sources)
        with ctx.openvino_checks(when=is_counted):
            with ctx.openvino_checks(at=STATIC):
                ctx.require_ge(priors, 1, "there must be at least one prior box")
            ctx.stop_at_errors()
            if pairs is not None:
                ctx.require_eq(pairs, priors * 2, _PAIRS)
        if is_known(logits) and not is_counted:
            if not self.share_location:
                ctx.fail("S206", "OpenVINO needs the number of prior boxes from proposals or aux_class_preds to find the number of classes")
            ctx.require_div(logits, 4, "box_logits must have 4 numbers for each prior box")
        with ctx.openvino_checks(when=is_counted):
            if self.share_location:
                ctx.require_eq(logits, priors * 4, "box_logits must have 4 numbers for each prior box")
                return priors, _quotient(ctx, "classes", ("class_preds", preds, priors))
            classes = _quotient(ctx, "classes", ("class_preds", preds, priors), ("box_logits", logits, priors * 4))
            with ctx.openvino_checks(at=[preds]):
                ctx.require_eq(logits, priors * classes * 4, "box_logits must have 4 numbers for each prior box and class")
        return priors, classes


@op("RegionYolo", "opset1")
class RegionYolo(Op):
    """Coordinates, objectness and scores of each box; with `do_softmax` the axes from `axis` to `end_axis` become one."""

    data = In(FLOAT - {ElementType.dynamic}, rank=4, ranked=True)
    output = Out(like="data")
    ignores_surplus = True
    anchors: tuple[float, ...] = ()
    axis: Annotated[int, Stated] = 0
    coords: Annotated[int, Stated] = 0
    classes: Annotated[int, Stated] = 0
    end_axis: Annotated[int, Stated] = 0
    num: Annotated[int, Stated] = 0
    do_softmax: bool = False
    mask: tuple[int, ...] = ()
    cost = each_element

    def infer(self, ctx: Context, data: Input) -> Shape:
        if not self.do_softmax:
            channels = (self.classes + self.coords + 1) * len(self.mask)
            return (data.shape[0], channels if channels >= 0 else ctx.dimension(channels), *data.shape[2:])
        first = ctx.axis(self.axis, 4, attribute="axis")
        last = max(ctx.axis(self.end_axis, 4, "end_axis", attribute="end_axis"), first)
        return (*data.shape[:first], product(data.shape[first : last + 1]), *data.shape[last + 1 :])


@op("ReorgYolo", "opset2", also="opset1")
class ReorgYolo(Op):
    """Move blocks of rows and columns into the channels."""

    data = In(rank=4)
    output = Out(like="data")
    ignores_surplus = True
    stride: tuple[int, ...]
    cost = moved
    openvino_checks = static("S203")

    def infer(self, ctx: Context, data: Input) -> Shape:
        if not self.stride:
            ctx.fail("A105", "stride must have at least 1 item, got 0", attribute="stride")
        if not data.is_ranked:
            return None
        stride = self.stride[0]
        ctx.at_least(stride, 0, "stride")
        batch, channels, *sizes = data.shape
        ctx.require_ge(channels, stride**2, "data must have at least stride*stride channels")
        message = "axis {axis} must be a multiple of the stride"
        spatial = [ctx.exact_div(size, stride, message, axis=axis) for axis, size in enumerate(sizes, 2)]
        return (batch, channels * stride**2, *spatial)
