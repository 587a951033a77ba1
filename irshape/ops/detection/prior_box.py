"""Prior boxes: boxes on a grid, from which a detector starts."""

from collections.abc import Sequence
from math import copysign, floor, inf, isfinite, isnan
from struct import pack, unpack
from typing import Annotated

from irshape.ops.attribute import Stated
from irshape.ops.context import Context
from irshape.ops.cost import each_element
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.element_type import INTEGER, ElementType
from irshape.shape.guard import BOUNDS, SKIPPED, Looks, Requirement
from irshape.shape.shape import Shape


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
        for ratio in map(_single, self.aspect_ratio):
            ratios.add(_six_digits(ratio))
            if self.flip:
                ratios.add(_six_digits(_single(1 / ratio) if ratio else copysign(inf, ratio)))
        return {ratio for ratio in ratios if not isnan(ratio)}


def _single(number: float) -> float:
    """The nearest number of single precision."""
    try:
        (single,) = unpack("f", pack("f", number))
    except OverflowError:
        return copysign(inf, number)
    return float(single)


def _six_digits(number: float) -> float:
    scaled = _single(number * 1e6)
    return _single(copysign(floor(abs(scaled) + 0.5), scaled) / 1e6) if isfinite(scaled) else scaled


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
            ctx.fail(
                "A105",
                f"width and height must have the same number of items, got {len(self.width)} and {len(self.height)}",
                attribute="height",
            )
        return super().infer(ctx, output_size, image_size)

    def count(self, ctx: Context) -> int:
        return len(self.width)
