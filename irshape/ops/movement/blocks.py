"""SpaceToBatch, SpaceToDepth and their inverses: moving blocks of elements between the spatial axes and the batch or the channels.

The ND forms of TensorFlow apply the same rules to blocks for all axes.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from irshape.ops.attribute import Stated
from irshape.ops.context import Context
from irshape.ops.cost import moved
from irshape.ops.flow import Factor, Flow, along_first, within
from irshape.ops.op import In, Input, Op, Out, static
from irshape.ops.registry import TENSORFLOW, op
from irshape.report.text import counted
from irshape.shape.dim import INT64_MAX, Dim, Size, bounds, narrow, product
from irshape.shape.element_type import ANY, INTEGER
from irshape.shape.guard import BOUNDS, NOTHING, SKIPPED, STATIC, Looks, Requirement
from irshape.shape.shape import Shape


def blocked(ctx: Context, axis: int, size: Size, block: Size, begin: Size, end: Size, names: Sequence[str]) -> Size:
    """The number of blocks of an axis with its pads; `names` are the names of blocks and pads in messages."""
    block_name, before, after = names
    ctx.require_ge(block, 1, "{block}[{axis}] must be at least 1", block=block_name, axis=axis, code="V101")
    message = "axis {axis} with its pads {before} and {after} must be a multiple of {block}[{axis}]"
    return ctx.exact_div(size + begin + end, positive(block), message, axis=axis, block=block_name, before=before, after=after)


def unblocked(ctx: Context, axis: int, size: Size, block: Size, begin: Size, end: Size, names: Sequence[str]) -> Size:
    """The size of an axis after its blocks are joined and it is cropped."""
    block_name, before, after = names
    message = "axis {axis} times {block}[{axis}] must be at least {before}[{axis}] + {after}[{axis}]"
    ctx.require_ge(size * block, begin + end, message, axis=axis, block=block_name, before=before, after=after)
    return ctx.saturate(size * block - (begin + end))


def split_batch(ctx: Context, batch: Size, blocks: Sequence[Size], name: str) -> tuple[Size, list[Size]]:
    """The batch divided by all blocks, and the blocks, each at least 1."""
    for axis, block in enumerate(blocks):
        ctx.require_ge(block, 1, "{block}[{axis}] must be at least 1", block=name, axis=axis, code="V101")
    blocks = [positive(block) for block in blocks]
    return ctx.exact_div(batch, product(blocks), "the batch must be a multiple of the product of {block}", block=name), blocks


def positive(block: Size) -> Size:
    """A block size that is required to be at least 1, with that bound."""
    return max(block, 1) if isinstance(block, int) else narrow(block, 1)


@op("SpaceToBatch", "opset2")
class SpaceToBatch(Op):
    """Move blocks of the spatial dimensions, padded, into the batch dimension."""

    data = In(ANY, min_rank=2)
    block_shape = In(INTEGER, rank=1, value=True)
    pads_begin = In(INTEGER, rank=1, value=True)
    pads_end = In(INTEGER, rank=1, value=True)
    output = Out(like="data")
    cost = moved

    def infer(self, ctx: Context, data: Input, block_shape: Input, pads_begin: Input, pads_end: Input) -> Shape:
        ctx.same_shape(block_shape, pads_begin, pads_end)
        blocks, begin, end = (ctx.values(port, at_least=data.rank) for port in (block_shape, pads_begin, pads_end))
        ctx.expect(blocks[0], 1, "block_shape[0] must be 1", block_shape)
        ctx.expect(begin[0], 0, "pads_begin[0] must be 0", pads_begin)
        ctx.expect(end[0], 0, "pads_end[0] must be 0", pads_end)
        ctx.expect(len(blocks), data.rank, "block_shape must hold one value for each axis of data", block_shape)
        batch, *sizes = zip(data.shape, blocks, begin, end, strict=False)
        names = ("block_shape", "pads_begin", "pads_end")
        spatial = [blocked(ctx, axis, *size, names) for axis, size in enumerate(sizes, 1)]
        return (ctx.saturate(batch[0] * product(blocks)), *spatial)

    def flow(self, flow: Flow, data: Input, block_shape: Input) -> None:
        flow.keep(data, 0, 0, factors=(Factor(product(flow.elements(block_shape))), *flow.trace(data)[0]))
        flow.mixes(data, "moves blocks out of")

    def openvino_checks(self, ctx: Context, requirement: Requirement, block_shape: Input, pads_begin: Input, pads_end: Input) -> Looks:
        """OpenVINO reads blocks and pads together. It takes a pad of -1 for an unknown one, and a smaller number for 0."""
        if requirement.code in ("S102", "S201"):
            return BOUNDS
        pads = self._negative_pads(requirement.names.get("axis"), pads_begin, pads_end)
        if requirement.code == "S204" and any(isinstance(pad, Dim) for pad in pads):
            return NOTHING
        is_natural = requirement.code == "S206" or not any(isinstance(pad, int) for pad in pads)
        return BOUNDS if is_natural else SKIPPED, [block_shape, pads_begin, pads_end]

    def openvino_differs(
        self, ctx: Context, shape: Sequence[Size], data: Input, block_shape: Input, pads_begin: Input, pads_end: Input
    ) -> Shape:
        sizes = list(shape)
        for axis in range(1, len(sizes)):
            begin, end, block = (port.numbers[axis] for port in (pads_begin, pads_end, block_shape))
            pads = self._negative_pads(axis, pads_begin, pads_end)
            known = [pad for pad in pads if isinstance(pad, int)]
            if known:
                ctx.warn("R203", f"the pads of axis {axis} must not be negative, got {begin} and {end}; OpenVINO infers another size")
            if known and -1 not in known and isinstance(begin, int) and isinstance(end, int):
                message = "OpenVINO counts the negative pads of axis {axis} as 0, which leaves no multiple of the block"
                ctx.require_div(data.shape[axis] + max(begin, 0) + max(end, 0), positive(block), message, axis=axis, code="S206")
            if len(known) < len(pads):  # OpenVINO may accept an axis that is no multiple
                sizes[axis] = ctx.saturate((data.shape[axis] + begin + end) // positive(block))
        return tuple(sizes)

    def openvino_shapes(
        self, ctx: Context, shapes: Sequence[Shape], data: Input, block_shape: Input, pads_begin: Input, pads_end: Input
    ) -> Sequence[Shape]:
        (shape,) = shapes
        batch = ctx.unknown() if shape is None or ctx.known(block_shape) is None else shape[0]
        is_padded = all(ctx.known(port) is not None for port in (block_shape, pads_begin, pads_end))
        return shapes if is_padded else [(batch, *ctx.unknown_shape(data.rank - 1))]

    @staticmethod
    def _negative_pads(axis: Any, *ports: Input) -> list[Size]:
        """The pads of an axis that are negative, or may be."""
        return [] if axis is None else [pad for port in ports if bounds(pad := port.numbers[axis])[0] < 0]


@op("BatchToSpace", "opset2")
class BatchToSpace(Op):
    """Move blocks of the batch dimension into the spatial dimensions and crop them."""

    data = In(ANY, min_rank=2)
    block_shape = In(INTEGER, rank=1, value=True)
    crops_begin = In(INTEGER, rank=1, value=True, like="block_shape")
    crops_end = In(INTEGER, rank=1, value=True, like="block_shape")
    output = Out(like="data")
    cost = moved

    def infer(self, ctx: Context, data: Input, block_shape: Input, crops_begin: Input, crops_end: Input) -> Shape:
        ctx.same_shape(block_shape, crops_begin, crops_end)
        blocks, begin, end = (ctx.values(port, data.rank) for port in (block_shape, crops_begin, crops_end))
        ctx.expect(blocks[0], 1, "block_shape[0] must be 1", block_shape)
        ctx.expect(begin[0], 0, "crops_begin[0] must be 0", crops_begin)
        ctx.expect(end[0], 0, "crops_end[0] must be 0", crops_end)
        batch, divisors = split_batch(ctx, data.shape[0], blocks, "block_shape")
        for port in (crops_begin, crops_end):
            for axis, crop in enumerate(port.numbers):
                ctx.require_ge(crop, 0, "{port}[{axis}] must be at least 0", port=port.name, axis=axis, code="V101")
        _, *sizes = zip(data.shape, divisors, begin, end, strict=True)
        names = ("block_shape", "crops_begin", "crops_end")
        return (batch, *[unblocked(ctx, axis, *size, names) for axis, size in enumerate(sizes, 1)])

    def flow(self, flow: Flow, data: Input, block_shape: Input) -> None:
        flow.keep(data, 0, 0, factors=within(flow.trace(data)[0], product(flow.elements(block_shape))))
        flow.mixes(data, "moves blocks into")

    def openvino_checks(self, ctx: Context, requirement: Requirement, block_shape: Input, crops_begin: Input, crops_end: Input) -> Looks:
        """OpenVINO reads the blocks alone, the crops together, and all of them where a size is static."""
        if requirement.code == "S203":
            return STATIC, [block_shape, crops_begin, crops_end]
        if requirement.code == "V101" and "port" in requirement.names:
            return [crops_begin, crops_end]
        return [block_shape] if requirement.code in ("V101", "S204") else BOUNDS

    def openvino_shapes(
        self, ctx: Context, shapes: Sequence[Shape], data: Input, block_shape: Input, crops_begin: Input, crops_end: Input
    ) -> Sequence[Shape]:
        (shape,), (begin, end) = shapes, map(ctx.known, (crops_begin, crops_end))
        has_blocks = ctx.known(block_shape) is not None
        batch = shape[0] if shape is not None and has_blocks else ctx.unknown()
        if begin is None or end is None:
            return [(batch, *ctx.unknown_shape(data.rank - 1))]
        if has_blocks:
            return shapes
        sizes = zip(data.shape, begin, end, strict=True)
        return [(batch, *[ctx.saturate(size * ctx.unknown(1) - (first + last)) for size, first, last in sizes][1:])]


class _NDOp(Op):
    """TensorFlow's form: M blocks and M pairs of pads or crops, for the M axes after the batch; the other axes stay."""

    input = In(ANY, min_rank=1, ranked=True)
    block_shape = In(INTEGER, rank=1, value=True)
    cost = moved
    openvino_checks = static("S203")  # a size that is cropped away is an error as in BatchToSpace, if it is static

    @staticmethod
    def complete(ctx: Context, input: Input, block_shape: Input, pairs: Input) -> tuple[tuple[Size, ...], ...]:
        """Blocks, begins and ends for every axis of `input`: 1 and 0 where TensorFlow gives none."""
        if block_shape.count is None:
            ctx.fail("V105", "block_shape must have a known length", port=block_shape)
        count = block_shape.count
        if input.rank < 1 + count:
            ctx.fail("S101", f"input must have at least rank {1 + count} for {counted(count, 'block')}, got rank {input.rank}", port=input)
        if pairs.is_ranked:
            ctx.merge(pairs.shape[0], count, "{port} must have one row for each block", port=pairs.name)
            ctx.merge(pairs.shape[1], 2, "{port} must have two columns", port=pairs.name)
            ctx.stop_at_errors()
        blocks, flat = ctx.values(block_shape, count), ctx.values(pairs, 2 * count)
        for axis, size in enumerate(flat):
            row, column = divmod(axis, 2)
            message = "{port}[{row},{column}] must be at least 0"
            ctx.require_ge(size, 0, message, port=pairs.name, row=row, column=column, code="V101")
        rest = input.rank - 1 - count
        return (1, *blocks, *[1] * rest), (0, *flat[0::2], *[0] * rest), (0, *flat[1::2], *[0] * rest)


@op("SpaceToBatchND", TENSORFLOW)
class SpaceToBatchND(_NDOp):
    """Move blocks of the axes after the batch, padded, into the batch (TensorFlow)."""

    paddings = In(INTEGER, rank=2, value=True)
    output = Out(like="input")

    def infer(self, ctx: Context, input: Input, block_shape: Input, paddings: Input) -> Shape:
        blocks, begin, end = self.complete(ctx, input, block_shape, paddings)
        names = ("block_shape", "paddings[:,0]", "paddings[:,1]")
        sizes = zip(input.shape, blocks, begin, end, strict=True)
        spatial = [blocked(ctx, axis, *size, names) for axis, size in enumerate(sizes) if axis]
        return (input.shape[0] * product(map(positive, blocks)), *spatial)


@op("BatchToSpaceND", TENSORFLOW)
class BatchToSpaceND(_NDOp):
    """Move blocks of the batch into the axes after it and crop them (TensorFlow)."""

    crops = In(INTEGER, rank=2, value=True)
    output = Out(like="input")

    def infer(self, ctx: Context, input: Input, block_shape: Input, crops: Input) -> Shape:
        blocks, begin, end = self.complete(ctx, input, block_shape, crops)
        names = ("block_shape", "crops[:,0]", "crops[:,1]")
        batch, divisors = split_batch(ctx, input.shape[0], blocks, "block_shape")
        sizes = zip(input.shape, divisors, begin, end, strict=True)
        return (batch, *[unblocked(ctx, axis, *size, names) for axis, size in enumerate(sizes) if axis])


class _BlockOp(Op):
    """Data are [batch, channels, *spatial]; all spatial axes have blocks of the same size."""

    data = In(min_rank=3, ranked=True)
    output = Out(like="data")
    # If absent it is 0, which OpenVINO refuses as soon as it knows the rank of the data.
    block_size: Annotated[int, Stated] = 0
    mode: Annotated[Literal["blocks_first", "depth_first"], Stated] = "blocks_first"
    cost = moved
    flow = along_first("moves blocks of")


@op("SpaceToDepth", "opset1")
class SpaceToDepth(_BlockOp):
    """Move blocks of the spatial dimensions into the channel dimension."""

    def infer(self, ctx: Context, data: Input) -> Shape:
        ctx.at_least(self.block_size, 1, "block_size")
        batch, channels, *spatial = data.shape
        message = "axis {axis} must be a multiple of block_size"
        blocks = [ctx.exact_div(size, self.block_size, message, axis=axis) for axis, size in enumerate(spatial, 2)]
        return (batch, channels * self.block_size ** len(spatial), *blocks)


@op("DepthToSpace", "opset1")
class DepthToSpace(_BlockOp):
    """Move blocks of the channel dimension into the spatial dimensions."""

    def infer(self, ctx: Context, data: Input) -> Shape:
        ctx.at_least(self.block_size, 1, "block_size")
        batch, channels, *spatial = data.shape
        volume = self.block_size ** len(spatial)
        if volume > INT64_MAX:
            ctx.fail("S205", f"block_size ** {len(spatial)} is more than 2^63-1", attribute="block_size")
        depth = ctx.exact_div(channels, volume, "the channels must be a multiple of block_size ** {axes}", axes=len(spatial))
        return (batch, depth, *(size * self.block_size for size in spatial))
