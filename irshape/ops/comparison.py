"""Comparisons, and questions about real numbers; all give a boolean."""

import operator

from irshape.ops.elementwise import Comparison, Unary
from irshape.ops.op import In, Out, op
from irshape.shape.dim import Size, eq, le, lt
from irshape.shape.element_type import FLOAT, ElementType


@op("Equal", "opset1")
class Equal(Comparison):
    """Are the elements equal?"""

    of_elements = staticmethod(operator.eq)
    of_sizes = staticmethod(eq)


@op("NotEqual", "opset1")
class NotEqual(Comparison):
    """Do the elements differ?"""

    of_elements = staticmethod(operator.ne)

    def of_sizes(self, a: Size, b: Size) -> bool | None:
        answer = eq(a, b)
        return None if answer is None else not answer


@op("Less", "opset1")
class Less(Comparison):
    """Is the first element less than the second?"""

    of_elements = staticmethod(operator.lt)
    of_sizes = staticmethod(lt)


@op("LessEqual", "opset1")
class LessEqual(Comparison):
    """Is the first element at most the second?"""

    of_elements = staticmethod(operator.le)
    of_sizes = staticmethod(le)


@op("Greater", "opset1")
class Greater(Comparison):
    """Is the first element greater than the second?"""

    of_elements = staticmethod(operator.gt)

    def of_sizes(self, a: Size, b: Size) -> bool | None:
        return lt(b, a)


@op("GreaterEqual", "opset1")
class GreaterEqual(Comparison):
    """Is the first element at least the second?"""

    of_elements = staticmethod(operator.ge)

    def of_sizes(self, a: Size, b: Size) -> bool | None:
        return le(b, a)


class RealQuestion(Unary):
    """A question about real elements."""

    data = In(FLOAT, unranked=True)
    output = Out(ElementType.boolean)


@op("IsFinite", "opset10")
class IsFinite(RealQuestion):
    """Is the element neither infinite nor NaN?"""


@op("IsInf", "opset10")
class IsInf(RealQuestion):
    """Is the element an infinity of a sign that is asked for?"""

    detect_negative: bool = True
    detect_positive: bool = True


@op("IsNaN", "opset10")
class IsNaN(RealQuestion):
    """Is the element NaN?"""
