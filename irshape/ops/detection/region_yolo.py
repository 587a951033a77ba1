"""RegionYolo: the boxes that a YOLO network finds at each place of its grid."""

from typing import Annotated

from irshape.ops.attribute import Stated
from irshape.ops.context import Context
from irshape.ops.cost import each_element
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.dim import product
from irshape.shape.element_type import FLOAT, ElementType
from irshape.shape.shape import Shape


@op("RegionYolo", "opset1")
class RegionYolo(Op):
    """Coordinates, objectness and scores of each box; with `do_softmax` the axes from `axis` to `end_axis` become one."""

    data = In(FLOAT - {ElementType.dynamic}, rank=4, ranked=True)
    output = Out(like="data")
    ignores_surplus = True
    anchors: tuple[float, ...] = ()
    axis: Annotated[int, Stated] = 0
    coords: Annotated[int, Stated] = 0
    classes: Annotated[int, Stated] = 0
    end_axis: Annotated[int, Stated] = 0
    num: Annotated[int, Stated] = 0
    do_softmax: bool = False
    mask: tuple[int, ...] = ()
    cost = each_element

    def infer(self, ctx: Context, data: Input) -> Shape:
        if not self.do_softmax:
            channels = (self.classes + self.coords + 1) * len(self.mask)
            return (data.shape[0], channels if channels >= 0 else ctx.dimension(channels), *data.shape[2:])
        first = ctx.axis(self.axis, 4, attribute="axis")
        last = max(ctx.axis(self.end_axis, 4, "end_axis", attribute="end_axis"), first)
        return (*data.shape[:first], product(data.shape[first : last + 1]), *data.shape[last + 1 :])
