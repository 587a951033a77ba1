"""SpaceToBatch and BatchToSpace, and TensorFlow's ND forms of them, which are the same rules on completed blocks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from irshape.ops.context import Context
from irshape.ops.op import In, Input, Op, Out, op
from irshape.ops.registry import TENSORFLOW
from irshape.shape.dim import Size, bounds, narrow, product
from irshape.shape.element_type import ANY, INTEGER
from irshape.shape.shape import Shape

if TYPE_CHECKING:
    from numpy import ndarray


def space_to_batch(
    ctx: Context, sizes: Sequence[Size], blocks: Sequence[Size], begin: Sequence[Size], end: Sequence[Size], *, names: tuple[str, str, str]
) -> tuple[Size, ...]:
    """The shape after padding each axis but the first and moving its blocks into the first; one block and two pads an axis.

    Blocks beyond the last axis multiply the batch. `names` are those of the blocks and pads in messages.
    """
    block, before, after = names
    spatial: list[Size] = []
    for axis in range(1, len(sizes)):
        ctx.require_ge(blocks[axis], 1, "{block}[{axis}] must be at least 1", block=block, axis=axis, code="V101")
        padded = sizes[axis] + begin[axis] + end[axis]
        message = "axis {axis} with its pads {before} and {after} must be a multiple of {block}[{axis}]"
        spatial.append(ctx.exact_div(padded, positive(blocks[axis]), message, axis=axis, block=block, before=before, after=after))
    return (ctx.saturate(sizes[0] * product(blocks)), *spatial)


def batch_to_space(
    ctx: Context, sizes: Sequence[Size], blocks: Sequence[Size], begin: Sequence[Size], end: Sequence[Size], *, names: tuple[str, str, str]
) -> tuple[Size, ...]:
    """The shape after moving blocks of the first axis back into the other axes and cropping those."""
    block, before, after = names
    for axis, size in enumerate(blocks):
        ctx.require_ge(size, 1, "{block}[{axis}] must be at least 1", block=block, axis=axis, code="V101")
    blocks = [positive(size) for size in blocks]
    batch = ctx.exact_div(sizes[0], product(blocks), "the batch must be a multiple of the product of {block}", block=block)
    spatial: list[Size] = []
    for axis in range(1, len(sizes)):
        whole, cropped = sizes[axis] * blocks[axis], begin[axis] + end[axis]
        message = "axis {axis} times {block}[{axis}] must be at least {before}[{axis}] + {after}[{axis}]"
        ctx.require_ge(whole, cropped, message, strict=False, axis=axis, block=block, before=before, after=after)
        spatial.append(ctx.saturate(whole - cropped))
    return (batch, *spatial)


def positive(block: Size) -> Size:
    """A block that is required to be at least 1, as one that is."""
    return narrow(block, 1) if type(block) is not int else max(block, 1)


def is_negative(size: Size) -> bool:
    """Whether a size is certainly below 0."""
    return bounds(size)[1] < 0


@op("SpaceToBatch", "opset2")
class SpaceToBatch(Op):
    """Move blocks of the spatial dimensions, padded, into the batch dimension."""

    data = In(ANY, min_rank=2, unranked=True)
    block_shape = In(INTEGER, rank=1, value=True)
    pads_begin = In(INTEGER, rank=1, value=True)
    pads_end = In(INTEGER, rank=1, value=True)
    output = Out(like="data")

    def infer(self, ctx: Context, data: Input, block_shape: Input, pads_begin: Input, pads_end: Input) -> Shape:
        ctx.same_shape(block_shape, pads_begin, pads_end)
        if not data.is_ranked:
            return None
        # OpenVINO looks at blocks and remainders only when all three inputs are constant.
        ctx.is_checked = ctx.are_known(block_shape, pads_begin, pads_end)
        blocks, begin, end = (ctx.values(port, at_least=data.rank) for port in (block_shape, pads_begin, pads_end))
        ctx.expect(blocks[0], 1, "block_shape[0] must be 1", block_shape)
        ctx.expect(begin[0], 0, "pads_begin[0] must be 0", pads_begin)
        ctx.expect(end[0], 0, "pads_end[0] must be 0", pads_end)
        ctx.expect(len(blocks), data.rank, "block_shape must hold one value for each axis of data", block_shape)
        for port, pads in ((pads_begin, begin), (pads_end, end)):
            for axis in range(1, data.rank):
                if is_negative(pads[axis]):
                    ctx.warn("R203", f"{port.name}[{axis}] must not be negative, got {pads[axis]}; OpenVINO infers another size", port=port)
        return space_to_batch(ctx, data.shape, blocks, begin, end, names=("block_shape", "pads_begin", "pads_end"))

    def evaluate(self, data: "ndarray[Any, Any]", block_shape: Any, pads_begin: Any, pads_end: Any) -> "ndarray[Any, Any]":
        """Zero padding, then every block of the spatial axes becomes batches, the first axis varying slowest."""
        import numpy

        blocks = [int(block) for block in block_shape]
        padded = numpy.pad(data, [(int(before), int(after)) for before, after in zip(pads_begin, pads_end, strict=True)])
        split = [part for size, block in zip(padded.shape, blocks, strict=True) for part in (size // block, block)]
        order = [*range(1, 2 * data.ndim, 2), *range(0, 2 * data.ndim, 2)]
        moved = padded.reshape(split).transpose(order)
        return moved.reshape([padded.shape[0] * int(numpy.prod(blocks)), *(s // b for s, b in zip(padded.shape[1:], blocks[1:], strict=True))])


@op("BatchToSpace", "opset2")
class BatchToSpace(Op):
    """Move blocks of the batch dimension into the spatial dimensions and crop them."""

    data = In(ANY, min_rank=2, unranked=True)
    block_shape = In(INTEGER, rank=1, value=True)
    crops_begin = In(INTEGER, rank=1, value=True, like="block_shape")
    crops_end = In(INTEGER, rank=1, value=True, like="block_shape")
    output = Out(like="data")

    def infer(self, ctx: Context, data: Input, block_shape: Input, crops_begin: Input, crops_end: Input) -> Shape:
        ctx.same_shape(block_shape, crops_begin, crops_end)
        if not data.is_ranked:
            return None
        blocks, begin, end = (ctx.values(port, data.rank) for port in (block_shape, crops_begin, crops_end))
        ctx.expect(blocks[0], 1, "block_shape[0] must be 1", block_shape)
        ctx.expect(begin[0], 0, "crops_begin[0] must be 0", crops_begin)
        ctx.expect(end[0], 0, "crops_end[0] must be 0", crops_end)
        for port, crops in ((crops_begin, begin), (crops_end, end)):
            for axis, crop in enumerate(crops):
                ctx.require_ge(crop, 0, "{port}[{axis}] must be at least 0", port=port.name, axis=axis, code="V101")
        return batch_to_space(ctx, data.shape, blocks, begin, end, names=("block_shape", "crops_begin", "crops_end"))

    def evaluate(self, data: "ndarray[Any, Any]", block_shape: Any, crops_begin: Any, crops_end: Any) -> "ndarray[Any, Any]":
        """The inverse of SpaceToBatch: batches become blocks of the spatial axes, then the crops are cut off."""
        import numpy

        blocks = [int(block) for block in block_shape]
        rank, batch = data.ndim, data.shape[0] // int(numpy.prod(blocks))
        order = [part for axis in range(rank) for part in (rank + axis, axis)]
        whole = [size * block for size, block in zip((batch, *data.shape[1:]), blocks, strict=True)]
        moved = data.reshape([*blocks, batch, *data.shape[1:]]).transpose(order).reshape(whole)
        return moved[tuple(slice(int(b), size - int(e)) for b, e, size in zip(crops_begin, crops_end, whole, strict=True))]


class _NDOp(Op):
    """TensorFlow's form: M blocks for the M axes after the batch, and pads or crops in pairs; the other axes stay."""

    input = In(ANY, min_rank=1)
    block_shape = In(INTEGER, rank=1, value=True)

    @staticmethod
    def complete(ctx: Context, input: Input, block_shape: Input, pairs: Input) -> tuple[tuple[Size, ...], ...]:
        """Blocks, begins and ends for every axis of `input`: 1 and 0 where TensorFlow gives none."""
        if block_shape.partial_shape is None or type(block_shape.shape[0]) is not int:
            ctx.fail("V105", "block_shape must have a known length", port=block_shape)
        count = block_shape.shape[0]
        if input.rank < 1 + count:
            ctx.fail("S101", f"input must have at least rank {1 + count} for {count} blocks, got rank {input.rank}", port=input)
        if pairs.is_ranked:
            ctx.merge(pairs.shape[0], count, "{port} must have one row for each block", port=pairs.name)
            ctx.merge(pairs.shape[1], 2, "{port} must have two columns", port=pairs.name)
        rest = input.rank - 1 - count
        blocks, flat = ctx.values(block_shape, count), ctx.values(pairs, 2 * count)
        for axis, size in enumerate(flat):
            ctx.require_ge(size, 0, "{port}[{row},{column}] must be at least 0", port=pairs.name, row=axis // 2, column=axis % 2, code="V101")
        return (1, *blocks, *[1] * rest), (0, *flat[0::2], *[0] * rest), (0, *flat[1::2], *[0] * rest)


@op("SpaceToBatchND", TENSORFLOW)
class SpaceToBatchND(_NDOp):
    """Move blocks of the axes after the batch, padded, into the batch (TensorFlow)."""

    paddings = In(INTEGER, rank=2, value=True)
    output = Out(like="input")

    def infer(self, ctx: Context, input: Input, block_shape: Input, paddings: Input) -> Shape:
        blocks, begin, end = self.complete(ctx, input, block_shape, paddings)
        return space_to_batch(ctx, input.shape, blocks, begin, end, names=("block_shape", "paddings[:,0]", "paddings[:,1]"))

    def evaluate(self, input: "ndarray[Any, Any]", block_shape: Any, paddings: Any) -> "ndarray[Any, Any]":
        """SpaceToBatch with blocks of 1 and pads of 0 on the axes that are not named."""
        return SpaceToBatch().evaluate(input, *_completed(input.ndim, block_shape, paddings))


@op("BatchToSpaceND", TENSORFLOW)
class BatchToSpaceND(_NDOp):
    """Move blocks of the batch into the axes after it and crop them (TensorFlow)."""

    crops = In(INTEGER, rank=2, value=True)
    output = Out(like="input")

    def infer(self, ctx: Context, input: Input, block_shape: Input, crops: Input) -> Shape:
        blocks, begin, end = self.complete(ctx, input, block_shape, crops)
        return batch_to_space(ctx, input.shape, blocks, begin, end, names=("block_shape", "crops[:,0]", "crops[:,1]"))

    def evaluate(self, input: "ndarray[Any, Any]", block_shape: Any, crops: Any) -> "ndarray[Any, Any]":
        """BatchToSpace with blocks of 1 and crops of 0 on the axes that are not named."""
        return BatchToSpace().evaluate(input, *_completed(input.ndim, block_shape, crops))


def _completed(rank: int, block_shape: Any, pairs: Any) -> tuple[list[int], list[int], list[int]]:
    rest = rank - 1 - len(block_shape)
    blocks = [1, *map(int, block_shape), *[1] * rest]
    return blocks, [0, *(int(pair[0]) for pair in pairs), *[0] * rest], [0, *(int(pair[1]) for pair in pairs), *[0] * rest]
