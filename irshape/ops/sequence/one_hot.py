"""OneHot: an axis that marks the position of an index."""

from typing import Annotated, Literal

from irshape.ops.attribute import Stated
from irshape.ops.context import Context
from irshape.ops.cost import moved
from irshape.ops.flow import Flow
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.element_type import BOOLEAN, INTEGER, ElementType
from irshape.shape.shape import Shape


@op("OneHot", "opset1")
class OneHot(Op):
    """Insert an axis of `depth` elements: `on_value` at the index, `off_value` elsewhere."""

    indices = In(INTEGER | BOOLEAN)
    depth = In(INTEGER | BOOLEAN, value=True)
    on_value = In()
    off_value = In(like="on_value")
    output = Out()
    ignores_surplus = True
    axis: Annotated[int, Stated] = 0
    cost = moved

    def infer(self, ctx: Context, indices: Input, depth: Input, on_value: Input, off_value: Input) -> Shape:
        for port in (depth, on_value, off_value):
            if port.count is not None:  # OpenVINO does not check a list of unknown length
                ctx.require_rank(port, (0,))
        axis = ctx.axis(self.axis, indices.rank + 1, attribute="axis")
        size = ctx.size_in(depth)
        return (*indices.shape[:axis], size, *indices.shape[axis:])

    def flow(self, flow: Flow, indices: Input) -> None:
        place = self.axis + indices.rank + 1 if self.axis < 0 else self.axis
        for axis in range(indices.rank):
            flow.keep(indices, axis, axis + (axis >= place))

    def types(self, ctx: Context, indices: Input, depth: Input, on_value: Input, off_value: Input) -> ElementType:
        return on_value.element_type  # even if only off_value tells the type


@op("OneHot", "opset16")
class OneHotV16(OneHot):
    """Insert a one-hot axis; a negative index counts from the end, or names nothing."""

    negative_indices_mode: Literal["ignore_negative", "normalize"] = "ignore_negative"
