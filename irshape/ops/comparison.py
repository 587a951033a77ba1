"""Comparisons and tests of real numbers, with boolean results."""

import operator

from irshape.ops.elementwise import BinaryComparison, Unary, computed
from irshape.ops.op import In, Out
from irshape.ops.registry import declare, op
from irshape.shape.dim import Size, eq, le, lt
from irshape.shape.element_type import FLOAT, ElementType


@op("Equal", "opset1")
class Equal(BinaryComparison):
    """Whether the elements are equal."""

    of_elements = staticmethod(operator.eq)
    of_sizes = staticmethod(eq)
    unfollowed = frozenset()

    def of_bounds(self, a: tuple[float, float], b: tuple[float, float]) -> tuple[int, int]:
        (low, high), (other_low, other_high) = a, b
        return int(low == high == other_low == other_high), int(low <= other_high and other_low <= high)


@op("NotEqual", "opset1")
class NotEqual(BinaryComparison):
    """Whether the elements differ."""

    of_elements = staticmethod(operator.ne)

    def of_sizes(self, a: Size, b: Size) -> bool | None:
        answer = eq(a, b)
        return None if answer is None else not answer


class Ordering(BinaryComparison):
    """A comparison that holds of all elements between two for which it holds."""

    is_monotone = True


declare(globals(), Ordering, {
    "Less": ("opset1", "Whether the first element is less than the second.", computed(operator.lt, lt)),
    "LessEqual": ("opset1", "Whether the first element is at most the second.", computed(operator.le, le)),
    "Greater": ("opset1", "Whether the first element is greater than the second.", computed(operator.gt, lambda a, b: lt(b, a))),
    "GreaterEqual": ("opset1", "Whether the first element is at least the second.", computed(operator.ge, lambda a, b: le(b, a))),
})  # fmt: skip


class RealQuestion(Unary):
    """A test of real elements."""

    data = In(FLOAT)
    output = Out(ElementType.boolean)


@op("IsInf", "opset10")
class IsInf(RealQuestion):
    """Whether the element is infinite; the attributes say of which sign."""

    detect_negative: bool = True
    detect_positive: bool = True


declare(globals(), RealQuestion, {
    "IsFinite": ("opset10", "Whether the element is neither infinite nor NaN."),
    "IsNaN": ("opset10", "Whether the element is NaN."),
})  # fmt: skip
