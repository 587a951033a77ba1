"""Bitwise operations."""

import operator

from irshape.ops.elementwise import Binary, Unary
from irshape.ops.op import In
from irshape.ops.registry import declare, op
from irshape.shape.element_type import INTEGER, ElementType

_BITS = INTEGER | {ElementType.boolean}


class Bitwise(Binary):
    """Two inputs of one integer or boolean type that broadcast to the output."""

    lhs = In(_BITS)
    rhs = In(_BITS, like="lhs")


declare(globals(), Bitwise, {
    "BitwiseAnd": ("opset13", "Bits that are set in both.", {"of_elements": staticmethod(operator.and_)}),
    "BitwiseOr": ("opset13", "Bits that are set in any.", {"of_elements": staticmethod(operator.or_)}),
    "BitwiseXor": ("opset13", "Bits that are set in exactly one.", {"of_elements": staticmethod(operator.xor)}),
})  # fmt: skip


@op("BitwiseNot", "opset13")
class BitwiseNot(Unary):
    """The bits that are not set."""

    data = In(_BITS)


class Shift(Binary):
    """Two inputs of one integer type that broadcast to the output."""

    lhs = In(INTEGER)
    rhs = In(INTEGER, like="lhs")


declare(globals(), Shift, {
    "BitwiseLeftShift": ("opset15", "The bits of the first element moved to the left by the second."),
    "BitwiseRightShift": ("opset15", "The bits of the first element moved to the right by the second."),
})  # fmt: skip
