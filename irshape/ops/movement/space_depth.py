"""SpaceToDepth and DepthToSpace: moving blocks between the spatial dimensions and the channels."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from irshape.ops.attribute import Stated
from irshape.ops.context import Context
from irshape.ops.cost import moved
from irshape.ops.flow import along_first
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.dim import INT64_MAX
from irshape.shape.shape import Shape

if TYPE_CHECKING:
    from numpy import ndarray


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

    def evaluate(self, data: "ndarray[Any, Any]") -> "ndarray[Any, Any]":
        """Each spatial axis is split into size/block and block; the blocks join the channels, before or behind them."""
        count, block = data.ndim - 2, self.block_size
        split = [part for size in data.shape[2:] for part in (size // block, block)]
        inner = [3 + 2 * axis for axis in range(count)]
        outer = [2 + 2 * axis for axis in range(count)]
        channels = [*inner, 1] if self.mode == "blocks_first" else [1, *inner]
        moved = data.reshape([*data.shape[:2], *split]).transpose([0, *channels, *outer])
        return moved.reshape([data.shape[0], data.shape[1] * block**count, *split[0::2]])


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

    def evaluate(self, data: "ndarray[Any, Any]") -> "ndarray[Any, Any]":
        """The inverse of SpaceToDepth."""
        count, block = data.ndim - 2, self.block_size
        depth = data.shape[1] // block**count
        blocks = [block] * count
        first = self.mode == "blocks_first"
        split = [*blocks, depth] if first else [depth, *blocks]
        inner = [(1 if first else 2) + axis for axis in range(count)]
        order = [0, count + 1 if first else 1, *(part for axis in range(count) for part in (count + 2 + axis, inner[axis]))]
        moved = data.reshape([data.shape[0], *split, *data.shape[2:]]).transpose(order)
        return moved.reshape([data.shape[0], depth, *(size * block for size in data.shape[2:])])
