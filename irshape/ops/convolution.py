"""Convolutions and their transposes."""

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal, TypeAlias

from irshape.ops.attribute import Stated, Unsigned
from irshape.ops.context import Context
from irshape.ops.cost import Count, Outputs, elements
from irshape.ops.flow import Flow, along_first
from irshape.ops.op import EMPTY, In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.dim import INT64_MAX, Size, ceil_div, is_known, product
from irshape.shape.element_type import ANY, INTEGER, NUMERIC
from irshape.shape.guard import BOUNDS, NOTHING, SKIPPED, Looks, Requirement
from irshape.shape.shape import Shape
from irshape.shape.window import Slide as Slide
from irshape.shape.window import transposed_window, window

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
        wanted = f"must have {count} items, one for each spatial axis"
        message = f"{attribute} {wanted}, got {len(values)}" if values else f"{attribute} is missing or empty; it {wanted}"
        ctx.fail("A105", message, attribute=attribute)


Sizes: TypeAlias = tuple[Size, ...]


class _Kernel(Sliding):
    """A kernel that slides over the spatial axes. Dilations and strides are 1 if they are left out."""

    dilations: Steps = ()
    empty: ClassVar[Mapping[str, int]] = {**EMPTY, "strides": 1}

    def moves(self, ctx: Context, count: int) -> list[Slide]:
        """How the kernel moves along each of `count` spatial axes."""
        slides = self.slides(ctx, count, self.strides or (1,) * count, self.dilations)
        for axis, (stride, dilation, begin, end) in enumerate(slides):
            if dilation >= INT64_MAX:  # a size that OpenVINO takes for any size, or for 0
                slides[axis] = Slide(stride, ctx.dimension(dilation), begin, end)
        return slides

    def positions(self, ctx: Context, sizes: list[Size], kernel: list[Size]) -> list[Size]:
        """The number of positions of the kernel on each spatial axis."""
        moves = self.moves(ctx, len(sizes))
        if self.is_same:
            return [ceil_div(size, move.stride) for size, move in zip(sizes, moves, strict=True)]
        axes = enumerate(zip(sizes, kernel, moves, strict=True), 2)
        return [window(ctx, size, length, move, axis=axis) for axis, (size, length, move) in axes]


class _Convolution(_Kernel):
    """Filters slide over the spatial axes of data.

    Data are [batch, channels, *sizes]. The minimum rank of filters is the number of their axes before those of the kernel.
    """

    data = In(NUMERIC)
    filters = In(NUMERIC, like="data", min_rank=2)
    output = Out(like="data")

    ranks: ClassVar[tuple[int, ...]] = (3, 4, 5)
    flow = along_first("slides windows over")

    def shapes(self, ctx: Context, data: Input, filters: Input, output_shape: Input | None = None) -> tuple[Sizes, Sizes]:
        """The shapes of data and filters.

        If one rank is not known, the other tells the number of spatial axes; if neither is, `output_shape` or a list attribute does.
        """
        lead, ours, theirs = filters.port.min_rank, data.partial_shape, filters.partial_shape
        if ours is not None and theirs is not None and len(ours) in self.ranks and len(theirs) == len(ours) - 2 + lead:
            return ours, theirs
        ctx.require_rank(data, self.ranks)
        if data.is_ranked:
            count = data.rank - 2
        elif filters.is_ranked:
            count = filters.rank - lead
        else:
            given = output_shape.count if output_shape is not None else None
            lists = (self.strides, self.dilations, self.pads_begin, self.pads_end)
            count = given or next((len(values) for values in lists if values), 0)
            if count == 0:
                ctx.leave_unranked()
        ctx.require_rank(filters, (count + lead,), "S102")
        if count + 2 not in self.ranks:
            ctx.warn(
                "R401",
                f"data must have rank {' or '.join(map(str, self.ranks))}, but the other inputs and attributes only fit rank {count + 2}",
                port=data,
            )
        return data.dims(count + 2), filters.dims(count + lead)

    def cost(self, out: Outputs, filters: Input) -> Count:
        """For each element of the output, as many MACs as a filter has elements; padding counts like data."""
        return Count(macs=out.elements * product(filters.shape[filters.port.min_rank - 1 :]))


@op("Convolution", "opset1")
class Convolution(_Convolution):
    """Slide filters [features, channels, *kernel] over the spatial axes of the data."""

    ignores_surplus = True

    def infer(self, ctx: Context, data: Input, filters: Input) -> Shape:
        (batch, channels, *sizes), (features, inputs, *kernel) = self.shapes(ctx, data, filters)
        ctx.require_eq(channels, inputs, "the filters must take as many channels as data has")
        return (batch, features, *self.positions(ctx, sizes, kernel))


@op("BinaryConvolution", "opset1")
class BinaryConvolution(Convolution):
    """A convolution of images whose elements and weights are one bit each."""

    filters = In(ANY, min_rank=2)
    flow = None  # type: ignore[assignment]  # OpenVINO's plugins do not agree on the samples of a batch
    mode: Annotated[Literal["xnor-popcount"], Stated] = "xnor-popcount"
    pad_value: Annotated[float, Stated] = 0.0

    ranks = (4,)


def groups_of(ctx: Context, channels: Size, groups: Size, inputs: Size) -> Size:
    """The number of groups of filters, each of which takes `inputs` of the channels; OpenVINO finds no groups in filters that take none."""
    if inputs == 0:
        with ctx.openvino_checks(at=NOTHING):
            ctx.require_eq(channels, 0, "data must have no channels, because the filters take none")
        with ctx.openvino_checks(at=[channels]):
            return ctx.merge(groups, 0, "there must be as many groups of filters as groups of channels")
    with ctx.openvino_checks(at=[inputs]):
        each = ctx.exact_div(channels, inputs, "the channels of data must be a multiple of the channels that a group of filters takes")
        return ctx.merge(groups, each, "there must be as many groups of filters as groups of channels")


@op("GroupConvolution", "opset1")
class GroupConvolution(_Convolution):
    """Slide filters [groups, features, channels, *kernel] over the data, each group over its own channels."""

    filters = In(NUMERIC, like="data", min_rank=3)
    ignores_surplus = True

    def infer(self, ctx: Context, data: Input, filters: Input) -> Shape:
        (batch, channels, *sizes), (groups, features, inputs, *kernel) = self.shapes(ctx, data, filters)
        groups = groups_of(ctx, channels, groups, inputs)
        return (batch, groups * features, *self.positions(ctx, sizes, kernel))


class _Transposed(_Convolution):
    """The gradient of a convolution: the output is as large as the data of a convolution that gives the input."""

    output_shape = In(INTEGER, rank=1, value=True, optional=True)
    output_padding: tuple[int, ...] = ()

    def spread(self, ctx: Context, sizes: list[Size], kernel: list[Size], output_shape: Input | None) -> list[Size]:
        """The spatial sizes of the output: those given, or those that the kernel reaches."""
        count = len(sizes)
        moves = [Slide(ctx.dimension(stride), dilation, begin, end) for stride, dilation, begin, end in self.moves(ctx, count)]
        padding = self.output_padding or (0,) * count
        each_axis(ctx, padding, count, "output_padding")
        if output_shape is not None:
            if output_shape.count is None:
                # OpenVINO infers an output without spatial axes then, unless it needs a size for its padding.
                if self.is_same and any(is_known(size) and is_known(length) for size, length in zip(sizes, kernel, strict=True)):
                    ctx.fail("V105", "output_shape must have a known number of values", port=output_shape)
                message = "output_shape holds an unknown number of values; OpenVINO infers an output without spatial axes"
                ctx.warn("R203", message, port=output_shape)
            given = ctx.values(output_shape, count)
            return [ctx.natural(output_shape, axis, size) for axis, size in enumerate(given)]
        axes = enumerate(zip(sizes, kernel, moves, padding, strict=True), 2)
        return [transposed_window(ctx, size, length, move, more, axis=axis) for axis, (size, length, move, more) in axes]

    def flow(self, flow: Flow, data: Input, output_shape: Input | None) -> None:
        flow.keep(data, 0, 0)
        flow.mixes(data, "slides windows over")
        flow.sizes(output_shape)

    def cost(self, out: Outputs, data: Input, filters: Input) -> Count:  # type: ignore[override]
        """For each element of the data, as many MACs as a filter has elements: every element is spread over a window of the output."""
        return Count(macs=elements(data) * product(filters.shape[filters.port.min_rank - 1 :]))


@op("ConvolutionBackpropData", "opset1")
class ConvolutionBackpropData(_Transposed):
    """Spread the data over the positions of filters [channels, features, *kernel]."""

    def infer(self, ctx: Context, data: Input, filters: Input, output_shape: Input | None) -> Shape:
        (batch, channels, *sizes), (inputs, features, *kernel) = self.shapes(ctx, data, filters, output_shape)
        ctx.require_eq(channels, inputs, "the filters must take as many channels as data has")
        return (batch, features, *self.spread(ctx, sizes, kernel, output_shape))


@op("GroupConvolutionBackpropData", "opset1")
class GroupConvolutionBackpropData(_Transposed):
    """Spread the data over the positions of filters [groups, channels, features, *kernel], each group over its own channels."""

    filters = In(NUMERIC, like="data", min_rank=3)

    def infer(self, ctx: Context, data: Input, filters: Input, output_shape: Input | None) -> Shape:
        (batch, channels, *sizes), (groups, inputs, features, *kernel) = self.shapes(ctx, data, filters, output_shape)
        groups = groups_of(ctx, channels, groups, inputs)
        return (batch, groups * features, *self.spread(ctx, sizes, kernel, output_shape))


@op("DeformableConvolution", "opset1")
class DeformableConvolutionV1(_Kernel):
    """Slide filters [features, channels, *kernel] over the data, every element of the kernel moved by an offset."""

    data = In(NUMERIC)
    offsets = In(NUMERIC, like="data")
    filters = In(NUMERIC, like="data")
    output = Out(like="data")
    # If absent it is 0, which OpenVINO refuses as soon as it knows a rank.
    group: int = 0
    deformable_group: int = 0
    flow = along_first("slides windows over", "data", "offsets", "mask")

    def infer(self, ctx: Context, data: Input, offsets: Input, filters: Input, *masks: Input | None) -> Shape:
        if not (data.is_ranked or offsets.is_ranked or filters.is_ranked):
            return None
        guides = [(offsets, 2), *[(mask, 1) for mask in masks if mask is not None]]
        for port in (data, filters, *(port for port, _ in guides)):
            ctx.require_rank(port, (4,))
        ctx.at_least(self.group, 1, "group")
        ctx.at_least(self.deformable_group, 1, "deformable_group")
        batch, channels, *sizes = data.dims(4)
        features, inputs, *kernel = filters.dims(4)
        positions = self.positions(ctx, sizes, kernel)
        ctx.require_div(channels, self.group, "the channels of data must be a multiple of group")
        ctx.require_div(features, self.group, "the number of filters must be a multiple of group")
        ctx.require_eq(channels, inputs * self.group, "the filters must take as many channels as data has")
        for port, each in guides:
            if not port.is_ranked:
                continue
            count, depth, *places = port.shape
            merged = ctx.merge(batch, count, "data and {port} must have the same batch", port=port.name)
            batch = merged if port is offsets else batch
            wanted = product(kernel) * each * self.deformable_group
            ctx.require_eq(depth, wanted, "{port} must have {b} channels", port=port.name)
            ctx.require_div(depth, self.deformable_group, "the channels of {port} must be a multiple of deformable_group", port=port.name)
            for axis, (place, position) in enumerate(zip(places, positions, strict=True), 2):
                ctx.require_eq(place, position, "{port} must be as long as the output on axis {axis}", port=port.name, axis=axis)
        return (batch, features, *positions)

    def openvino_checks(self, ctx: Context, requirement: Requirement, *inputs: Input | None) -> Looks:
        """OpenVINO compares offsets and masks with the sizes that it infers, which differ if pads are negative."""
        is_padded = min(self.pads_begin + self.pads_end, default=0) < 0
        return SKIPPED if is_padded and requirement.code == "S201" and "axis" in requirement.names else BOUNDS

    @staticmethod
    def _cost(out: Outputs, data: Input, filters: Input, mask: Input | None) -> Count:
        batch, _, *positions = out.shape
        sampled = product((batch, data.shape[1], *positions, *filters.shape[2:]))
        return Count(out.elements * product(filters.shape[1:]) + 4 * sampled, 0 if mask is None else sampled)

    def cost(self, out: Outputs, data: Input, filters: Input) -> Count:
        """The MACs of a Convolution, and 4 for each element of the data that is interpolated between its neighbours."""
        return self._cost(out, data, filters, None)


@op("DeformableConvolution", "opset8")
class DeformableConvolutionV8(DeformableConvolutionV1):
    """Also weighs every element of the kernel by a mask."""

    mask = In(NUMERIC, optional=True)
    bilinear_interpolation_pad: bool = False

    def cost(self, out: Outputs, data: Input, filters: Input, mask: Input | None) -> Count:  # type: ignore[override]
        """The MACs of a Convolution, and 4 for each element of the data that is interpolated; a mask takes 1 operation for each."""
        return self._cost(out, data, filters, mask)
