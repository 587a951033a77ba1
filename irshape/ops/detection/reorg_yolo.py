"""ReorgYolo: the passthrough layer of YOLO v2."""

from irshape.ops.context import Context
from irshape.ops.cost import moved
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.openvino import static
from irshape.ops.registry import op
from irshape.shape.shape import Shape


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
