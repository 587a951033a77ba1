"""GridSample: images sampled at given points."""

from typing import Literal

from irshape.ops.context import Context
from irshape.ops.cost import Count, Outputs
from irshape.ops.flow import Flow
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.element_type import FLOAT
from irshape.shape.shape import Shape


@op("GridSample", "opset9")
class GridSample(Op):
    """Sample images [batch, channels, *] at the points of a grid [batch, height, width, 2]."""

    data = In(rank=4)
    grid = In(FLOAT, rank=4)
    output = Out(like="data")
    align_corners: bool = False
    mode: Literal["bilinear", "bicubic", "nearest"] = "bilinear"
    padding_mode: Literal["zeros", "border", "reflection"] = "zeros"

    def infer(self, ctx: Context, data: Input, grid: Input) -> Shape:
        batch, channels, *_ = data.shape
        count, height, width, coordinates = grid.shape
        ctx.require_eq(coordinates, 2, "a point must have {b} coordinates")
        batch = ctx.merge(batch, count, "data and grid must have the same batch")
        return (batch, channels, height, width)

    def flow(self, flow: Flow, data: Input, grid: Input) -> None:
        for port in (data, grid):
            flow.keep(port, 0, 0)
            flow.mixes(port, "samples along")

    def cost(self, out: Outputs) -> Count:
        """For each element of the output 4 MACs with `bilinear`, 16 with `bicubic`; with `nearest` elements are moved."""
        return Count(macs=out.elements * {"bilinear": 4, "bicubic": 16, "nearest": 0}[self.mode])
