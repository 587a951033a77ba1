"""ROIAlignRotated: pool rotated regions at exact places."""

from typing import Annotated

from irshape.ops.attribute import Stated
from irshape.ops.context import Context
from irshape.ops.op import In, Input, Op, Out, op
from irshape.shape.element_type import FLOAT, INTEGER, ElementType
from irshape.shape.shape import Shape


@op("ROIAlignRotated", "opset15")
class ROIAlignRotated(Op):
    """Divide each region, which lies in the image that `batch_indices` names, into bins and take the mean of each."""

    data = In(FLOAT, rank=4, unranked=True)
    rois = In(FLOAT, rank=2, unranked=True, like="data")
    batch_indices = In(INTEGER, rank=1, unranked=True)
    output = Out(like="data")
    pooled_h: Annotated[int, Stated] = 0
    pooled_w: Annotated[int, Stated] = 0
    sampling_ratio: Annotated[int, Stated] = 0
    spatial_scale: Annotated[float, Stated] = 0.0
    clockwise_mode: bool = False

    def infer(self, ctx: Context, data: Input, rois: Input, batch_indices: Input) -> Shape:
        if data.element_type is rois.element_type is ElementType.dynamic:
            ctx.fail("T101", "the element type of data or rois must be known", port=data)
        _, channels, _, _ = data.partial_shape or ctx.unknown_shape(4)
        regions, numbers = rois.partial_shape or ctx.unknown_shape(2)
        (indices,) = batch_indices.partial_shape or ctx.unknown_shape(1)
        ctx.require_eq(numbers, 5, "each region must have 5 numbers: center, size and angle")
        regions = ctx.merge(regions, indices, "there must be as many batch indices as regions")
        return (regions, channels, ctx.dimension(self.pooled_h), ctx.dimension(self.pooled_w))
