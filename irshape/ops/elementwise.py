"""Families of element-wise operations: one rule each, inherited by dozens of ops."""

from collections.abc import Callable
from typing import Any, ClassVar, Literal, cast

from irshape.ops.context import Context
from irshape.ops.op import In, Input, Op, Out
from irshape.shape.element_type import ANY, BOOLEAN, NUMERIC, ElementType
from irshape.shape.shape import Shape, broadcast_shapes
from irshape.shape.value import Elements, elementwise


class Unary(Op):
    """One input of any element type; the output is like it.

    `of_element` computes one element, where values are followed through the op.
    """

    data = In(ANY, unranked=True)
    output = Out(like="data")

    of_element: ClassVar[Callable[[Any], Any] | None] = None

    def infer(self, ctx: Context, data: Input) -> Shape:
        return data.partial_shape

    def propagate(self, ctx: Context, data: Input) -> Elements | None:
        function = type(self).of_element
        return None if function is None else tuple(map(function, data.values))


class UnaryArithmetic(Unary):
    """One numeric input; the output is like it."""

    data = In(NUMERIC, unranked=True)


class Binary(Op):
    """Two inputs of one element type that broadcast to the output.

    `of_elements` computes one element from two, where values are followed through the op.
    """

    lhs = In(ANY, unranked=True)
    rhs = In(ANY, unranked=True, like="lhs")
    output = Out(like="lhs")
    auto_broadcast: Literal["none", "explicit", "numpy", "pdpd"] = "numpy"

    of_elements: ClassVar[Callable[[Any, Any], Any] | None] = None

    def infer(self, ctx: Context, lhs: Input, rhs: Input) -> Shape:
        return broadcast_shapes(ctx, lhs.partial_shape, rhs.partial_shape, self.auto_broadcast)

    def propagate(self, ctx: Context, lhs: Input, rhs: Input) -> Elements | None:
        function = type(self).of_elements
        if function is None or self.auto_broadcast == "pdpd":
            return None
        shape = cast(tuple[int, ...], broadcast_shapes(ctx, lhs.shape, rhs.shape, self.auto_broadcast))
        return elementwise(function, ((lhs.values, lhs.static_shape), (rhs.values, rhs.static_shape)), shape)


class BinaryArithmetic(Binary):
    """Two numeric inputs of one element type that broadcast to the output."""

    lhs = In(NUMERIC, unranked=True)
    rhs = In(NUMERIC, unranked=True, like="lhs")


class Comparison(Binary):
    """Two inputs of one element type that broadcast to a boolean output."""

    output = Out(ElementType.boolean)


class Logical(Binary):
    """Two boolean inputs that broadcast to a boolean output."""

    lhs = In(BOOLEAN, unranked=True)
    rhs = In(BOOLEAN, unranked=True, like="lhs")
    output = Out(ElementType.boolean)
