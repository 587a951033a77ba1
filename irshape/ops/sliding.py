"""The base of convolutions and poolings: a window that slides over the spatial axes."""

from collections.abc import Sequence
from typing import Annotated, Literal, TypeAlias

from irshape.ops.attribute import Stated, Unsigned
from irshape.ops.context import Context
from irshape.ops.op import Op
from irshape.shape.window import Slide as Slide

Steps: TypeAlias = Annotated[tuple[int, ...], Stated, Unsigned]
Lengths: TypeAlias = Annotated[tuple[int, ...], Stated]


class Sliding(Op):
    """A window that slides over the spatial axes, those after batch and channels."""

    strides: Steps = ()
    pads_begin: Lengths = ()
    pads_end: Lengths = ()
    auto_pad: Literal["explicit", "same_upper", "same_lower", "valid"] = "explicit"

    @property
    def is_same(self) -> bool:
        """Whether the data is padded so that a window starts at every `stride`-th element."""
        return self.auto_pad in ("same_upper", "same_lower")

    def slides(self, ctx: Context, count: int, strides: Sequence[int], dilations: Sequence[int]) -> list[Slide]:
        """How the window moves on each of `count` axes. Empty dilations are 1; empty pads are 0, as are pads that are not explicit."""
        nothing = (0,) * count
        dilations = dilations or (1,) * count
        begin, end = self.pads_begin or nothing, self.pads_end or nothing
        if not len(strides) == len(dilations) == len(begin) == len(end) == count:
            for values, name in ((strides, "strides"), (dilations, "dilations"), (begin, "pads_begin"), (end, "pads_end")):
                each_axis(ctx, values, count, name)
        ctx.at_least(min(strides, default=1), 1, "strides")
        ctx.at_least(min(dilations, default=1), 1, "dilations")
        if self.auto_pad != "explicit":
            begin = end = nothing
        for axis, (before, after) in enumerate(zip(begin, end, strict=True), 2) if min((*begin, *end), default=0) < 0 else ():
            if before < 0 or after < 0:
                code = "R203" if before + after < 0 else "R201"
                ctx.warn(code, f"pads must not be negative, got {before} and {after} on axis {axis}", attribute="pads_begin")
        return list(map(Slide, strides, dilations, begin, end))


def each_axis(ctx: Context, values: Sequence[int], count: int, attribute: str) -> None:
    """Demand that a list attribute has one item for each spatial axis."""
    if len(values) != count:
        ctx.fail("A105", f"{attribute} must have {count} items, one for each spatial axis, got {len(values)}", attribute=attribute)
