"""ExperimentalDetectronTopKROIs: the regions of the highest probability."""

from typing import Annotated

from irshape.ops.attribute import Stated
from irshape.ops.context import Context
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.element_type import FLOAT
from irshape.shape.shape import Shape


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
