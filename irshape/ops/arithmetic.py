"""Arithmetic operations."""

import math
import operator
from math import inf
from typing import Annotated, Any, Literal

from irshape.ops.attribute import Stated
from irshape.ops.context import Context, Uncomputable
from irshape.ops.cost import each, each_element
from irshape.ops.elementwise import ARITHMETIC, UNFOLLOWED, UNFOLLOWED_BYTES, BinaryArithmetic, Unary, UnaryArithmetic, wrapped
from irshape.ops.flow import Flow
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import declare, op
from irshape.shape.dim import INT64_MAX, Dim, Size, bounds, ceil_div, dim_max, dim_min, eq, is_multiple, narrow, origins, product, symbols
from irshape.shape.element_type import ANY, FLOAT, INDEX, ElementType
from irshape.shape.polynomial import UNBACKED
from irshape.shape.shape import Shape
from irshape.shape.value import Element, Elements, Real, fits

# The largest exponents for which the power of a formula, and the power of a number, is computed.
MAX_SIZE_EXPONENT = 8
MAX_EXPONENT = 64
# A number that no element type holds.
BEYOND = 1 << 64
REALS = frozenset(element_type for element_type in ANY if element_type.is_real)
# Stands for an end of a divisor's interval that is 0.
SMALLEST = math.ulp(0.0)


@op("Add", "opset1")
class Add(BinaryArithmetic):
    """Sum."""

    is_monotone = True
    of_elements = of_sizes = staticmethod(operator.add)
    is_whole_exact = True

    @staticmethod
    def of_ratios(a: tuple[Size, int], b: tuple[Size, int]) -> tuple[Size, int]:
        return a[0] * b[1] + b[0] * a[1], a[1] * b[1]


@op("Subtract", "opset1")
class Subtract(BinaryArithmetic):
    """Difference."""

    is_monotone = True
    of_elements = of_sizes = staticmethod(operator.sub)
    is_whole_exact = True

    @staticmethod
    def of_ratios(a: tuple[Size, int], b: tuple[Size, int]) -> tuple[Size, int]:
        return a[0] * b[1] - b[0] * a[1], a[1] * b[1]


@op("Multiply", "opset1")
class Multiply(BinaryArithmetic):
    """Product."""

    is_monotone = True
    unfollowed = UNFOLLOWED_BYTES
    of_elements = of_sizes = staticmethod(operator.mul)

    @staticmethod
    def of_ratios(a: tuple[Size, int], b: tuple[Size, int]) -> tuple[Size, int]:
        return a[0] * b[0], a[1] * b[1]


def _holds_zero(divisor: Input) -> bool:
    """Whether an integer divisor is known to hold 0."""
    return not divisor.element_type.is_real and any(eq(element, 0) for element in divisor.values if isinstance(element, (int, Dim)))


class Division(BinaryArithmetic):
    """The family of operations whose second input divides the first."""

    rhs = In(ARITHMETIC, like="lhs", ends=True)

    def infer(self, ctx: Context, lhs: Input, rhs: Input) -> Shape:
        if rhs.ends is not None and any(0 in pair for pair in rhs.ends):
            ctx.warn("R401", "rhs must not hold 0", port=rhs)
        return self.broadcast(ctx, lhs, rhs)


@op("Divide", "opset1")
class Divide(Division):
    """Quotient; of integers rounded down, or toward zero where `m_pythondiv` is false."""

    is_monotone = is_whole_exact = True
    unfollowed = UNFOLLOWED_BYTES
    m_pythondiv: bool = True

    def follow(self, ctx: Context, *inputs: Input) -> Elements | None:
        divisor = inputs[1]
        if _holds_zero(divisor):
            raise Uncomputable("V106", f"{divisor.name} must not hold 0", divisor)
        if not divisor.element_type.is_real:
            with ctx.assumes():  # OpenVINO refuses 0 only where a rule reads the quotient
                for element in divisor.values:
                    if isinstance(element, Dim):
                        ctx.require_nonzero(element, "{port} must not hold 0", code="V106", port=divisor.name)
        return super().follow(ctx, *inputs)

    def of_elements(self, a: Any, b: Any) -> Any:
        if isinstance(a, float):
            return a / b
        quotient = abs(a) // abs(b)
        return a // b if self.m_pythondiv else quotient if (a < 0) == (b < 0) else -quotient

    def of_sizes(self, a: Size, b: Size) -> Size | None:
        if self.m_pythondiv or (bounds(a)[0] >= 0 and bounds(b)[0] >= 0):
            return a // b
        return None

    def of_real_sizes(self, a: Size, b: Size) -> Size | None:
        return a // b if is_multiple(a, b) else None

    @staticmethod
    def of_ratios(a: tuple[Size, int], b: tuple[Size, int]) -> tuple[Size, int] | None:
        divisor = b[0]
        return (a[0] * b[1], a[1] * divisor) if isinstance(divisor, int) and divisor > 0 else None

    def of_ranges(self, *ranges: tuple[float, float]) -> Element | None:
        dividend, (low, high) = ranges
        if low < 0 < high:
            return None
        return super().of_ranges(dividend, (low or SMALLEST, high or -SMALLEST))

    def of_bounds(self, dividend: tuple[Any, Any], divisor: tuple[Any, Any]) -> tuple[float, float] | None:
        (low, high), (least, most) = dividend, divisor
        if inf in (high, most):
            return 0, inf
        if least < 0 < most:
            return -INT64_MAX - 1, inf
        ends = (low, most), (high, least)
        if least == 0 or most == 0:  # the end of the divisor that is not 0 gives one bound; toward 0 there is no other
            return None if least == most else (self.of_elements(*ends[most == 0]), inf)
        first, last = (self.of_elements(*pair) for pair in (ends if least > 0 else reversed(ends)))
        return first, last


class Remainder(Division):
    """The family of operations that give the remainder of a division."""

    def follow(self, ctx: Context, *inputs: Input) -> Elements | None:
        if _holds_zero(inputs[1]) and not any(0 in pair for pair in inputs[1].ends or ()):
            ctx.warn("R401", f"{inputs[1].name} must not hold 0", port=inputs[1])
        return super().follow(ctx, *inputs)

    def element(self, ctx: Context, element_type: ElementType, row: tuple[Element, ...], is_real: bool) -> Element:
        result, divisor = super().element(ctx, element_type, row, is_real), row[1]
        if not is_real and isinstance(divisor, Dim) and bounds(divisor)[0] == 0 and not origins(divisor) & UNBACKED:
            shown = frozenset() if isinstance(result, (float, Real)) else symbols(result)
            if not symbols(divisor) <= shown:  # the formula no longer shows that it divides
                with ctx.assumes():
                    ctx.require_ge(divisor, 1, "integers are divided by {a}, which must not be 0", code="V106")
        return result


@op("FloorMod", "opset1")
class FloorMod(Remainder):
    """Remainder with the sign of the divisor."""

    of_elements = of_sizes = staticmethod(operator.mod)

    def of_bounds(self, dividend: tuple[Any, Any], divisor: tuple[Any, Any]) -> tuple[float, float] | None:
        """The bounds that the ends give; a division by 0 gives the least number of int64."""
        if 0 in divisor and inf not in (dividend[1], divisor[1]):
            return -INT64_MAX - 1, divisor[1]
        return self.corners(dividend, divisor)


@op("Mod", "opset1")
class Mod(Remainder):
    """Remainder with the sign of the dividend."""

    unfollowed = REALS

    def of_elements(self, a: float, b: float) -> float:
        return math.fmod(a, b) if isinstance(a, float) else abs(a) % abs(b) * (-1 if a < 0 else 1)

    def of_sizes(self, a: Size, b: Size) -> Size | None:
        return a % b if bounds(a)[0] >= 0 and bounds(b)[0] >= 0 else None

    def of_limits(self, *ranges: tuple[Any, Any]) -> tuple[float, float]:
        (low, high), divisor = ranges
        most = max(map(abs, divisor)) - 1
        return -max(min(-low, most), 0), max(min(high, most), 0)

    def of_bounds(self, dividend: tuple[Any, Any], divisor: tuple[Any, Any]) -> tuple[float, float] | None:
        """The bounds that OpenVINO infers: it takes the remainders by both ends of the divisor, and by no number between them."""
        (low, high), (least, most) = dividend, divisor
        if high == inf or 0 in divisor or least == inf:
            return 0, inf
        first, last = _rests(low, high, least), _rests(low, high, most)
        if least == most or high == 0:
            return first
        if low == high and least < low and (low < most or first == last):
            return 0, most - 1
        return min(first[0], last[0]), max(first[1], last[1])


def _rests(low: Any, high: Any, divisor: Any) -> tuple[float, float]:
    """The bounds that OpenVINO gives of `low..high` modulo a number, whose sign is that of the dividend."""
    if low == -inf:
        return 0, divisor - 1
    first, last = (abs(end) % abs(divisor) * (1 if end > 0 else -1) if divisor != inf else end for end in (low, high))
    return (first, last) if high - low < divisor and first <= last else (0, divisor - 1)


@op("Maximum", "opset1")
class Maximum(BinaryArithmetic):
    """The larger of two elements."""

    is_monotone = True
    unfollowed = UNFOLLOWED_BYTES
    of_elements = staticmethod(max)
    of_sizes = staticmethod(dim_max)


@op("Minimum", "opset1")
class Minimum(BinaryArithmetic):
    """The smaller of two elements."""

    is_monotone = True
    unfollowed = UNFOLLOWED | {ElementType.i8}
    of_elements = staticmethod(min)
    of_sizes = staticmethod(dim_min)


@op("Power", "opset1")
class Power(BinaryArithmetic):
    """The first element to the power of the second."""

    unfollowed = UNFOLLOWED_BYTES

    def of_elements(self, a: Any, b: Any) -> Any:
        if isinstance(a, float):
            return a**b
        if b < 0:
            return int(a**b)  # OpenVINO rounds toward zero
        return a**b if b <= MAX_EXPONENT or abs(a) <= 1 else None

    def of_sizes(self, a: Size, b: Size) -> Size | None:
        return product([a] * b) if isinstance(b, int) and 0 <= b <= MAX_SIZE_EXPONENT else None

    def of_limits(self, *ranges: tuple[Any, Any]) -> tuple[float, float] | None:
        (low, high), (least, most) = ranges
        if low >= 1 and most < 0:
            return int(high == 1), int(low == 1)  # rounded toward zero
        if low < 0 or least < 0:
            return None
        smallest = low ** min(least, MAX_EXPONENT) if low else 0
        largest = high**most if most <= MAX_EXPONENT else high if high <= 1 else inf
        return smallest, largest if least > 0 else max(largest, 1)

    def of_bounds(self, *ranges: tuple[Any, Any]) -> tuple[float, float] | None:
        """The powers of the ends; one that is not computed, or is infinite, is beyond every type."""
        if any(high == inf for _, high in ranges):
            return 0, inf
        powers = [self.corners((a, a), (b, b)) or (BEYOND, BEYOND) for a in ranges[0] for b in ranges[1]]
        return min(powers)[0], max(powers)[0]

    @staticmethod
    def held(end: float, element_type: ElementType) -> float:
        """The least number of the type, because OpenVINO converts the power from a double, and C++ turns an overflow into that number."""
        return wrapped(end, element_type) if abs(end) == inf or fits(int(end), element_type) else -(1 << element_type.bits - 1)


@op("SquaredDifference", "opset1")
class SquaredDifference(BinaryArithmetic):
    """The square of the difference."""

    unfollowed = ANY - {ElementType.f32}

    def of_elements(self, a: Any, b: Any) -> Any:
        return (a - b) * (a - b)

    def of_sizes(self, a: Size, b: Size) -> Size:
        return narrow((a - b) * (a - b), 0)


@op("Abs", "opset1")
class Abs(UnaryArithmetic):
    """Absolute value."""

    unfollowed = UNFOLLOWED_BYTES

    of_elements = staticmethod(abs)

    def of_sizes(self, size: Size) -> Size:
        return narrow(dim_max(size, -size), 0)

    def of_bounds(self, limits: tuple[float, float]) -> tuple[float, float]:
        """The absolute values of the ends, even if 0 lies between them."""
        low, high = limits
        return abs(low), abs(high)


@op("Negative", "opset1")
class Negative(UnaryArithmetic):
    """The element with the other sign."""

    is_monotone = True
    of_elements = of_sizes = staticmethod(operator.neg)


@op("Sign", "opset1")
class Sign(UnaryArithmetic):
    """-1, 0 or 1."""

    def of_elements(self, element: float) -> float:
        return (element > 0) - (element < 0)

    def of_sizes(self, size: Size) -> Size:
        return dim_max(dim_min(size, 1), -1)


class Rounding(UnaryArithmetic):
    """A whole number near the element. A size is whole, so it stays as it is."""

    is_monotone = True

    def of_sizes(self, size: Size) -> Size:
        return size


@op("Floor", "opset1")
class Floor(Rounding):
    """Rounded down."""

    of_elements = staticmethod(math.floor)
    is_whole_exact = True

    @staticmethod
    def of_ratios(a: tuple[Size, int]) -> Size:
        return a[0] // a[1]


@op("Ceiling", "opset1")
class Ceiling(Rounding):
    """Rounded up."""

    of_elements = staticmethod(math.ceil)
    is_whole_exact = True

    @staticmethod
    def of_ratios(a: tuple[Size, int]) -> Size:
        return ceil_div(*a)


@op("Round", "opset5")
class Round(Rounding):
    """Rounded to the nearest whole number."""

    data = In(ANY)
    ignores_surplus = False
    mode: Literal["half_to_even", "half_away_from_zero"] = "half_to_even"

    def of_elements(self, element: float) -> float:
        if self.mode == "half_to_even" or not isinstance(element, float):
            return round(element)
        fraction, whole = math.modf(element)
        return whole + math.copysign(abs(fraction) >= 0.5, element)

    def of_ratios(self, a: tuple[Size, int]) -> Size | None:
        size, divisor = a
        half = divisor // 2
        if self.mode == "half_to_even":
            # An odd number is reached at the half before it, an even one only beyond: two steps in each 2*divisor.
            return (size + half) // (2 * divisor) + (size + divisor + half - 1) // (2 * divisor) if half else size
        return (size + half) // divisor if bounds(size)[0] >= 0 else None


@op("Sqrt", "opset1")
class Sqrt(UnaryArithmetic):
    """Square root."""

    is_monotone = True

    def of_elements(self, element: float) -> float | None:
        return math.sqrt(element) if isinstance(element, float) else None


# The functions of one number that no shape subgraph computes.
declare(globals(), UnaryArithmetic, {
    "Acos": ("opset1", "Arc cosine."),
    "Acosh": ("opset4", "Inverse hyperbolic cosine."),
    "Asin": ("opset1", "Arc sine."),
    "Asinh": ("opset4", "Inverse hyperbolic sine."),
    "Atan": ("opset1", "Arc tangent."),
    "Atanh": ("opset4", "Inverse hyperbolic tangent."),
    "Cos": ("opset1", "Cosine."),
    "Cosh": ("opset1", "Hyperbolic cosine."),
    "Erf": ("opset1", "Gauss error function."),
    "Log": ("opset1", "Natural logarithm."),
    "Sin": ("opset1", "Sine."),
    "Sinh": ("opset1", "Hyperbolic sine."),
    "Tan": ("opset1", "Tangent."),
    "Tanh": ("opset1", "Hyperbolic tangent."),
})  # fmt: skip


@op("ErfInv", "opset17")
class ErfInv(Unary):
    """Inverse of the Gauss error function."""

    data = In(FLOAT)


@op("CumSum", "opset3")
class CumSum(Op):
    """Cumulative sums along an axis."""

    data = In()
    axis = In(INDEX - {ElementType.dynamic}, value=True)
    output = Out(like="data")
    ignores_surplus = True
    exclusive: bool = False
    reverse: bool = False
    cost = each_element
    is_in_place = True

    def infer(self, ctx: Context, data: Input, axis: Input) -> Shape:
        ctx.axes_at_run(axis, data.rank)
        return data.shape

    def flow(self, flow: Flow, data: Input, axis: Input) -> None:
        flow.keep_all(data, but=flow.axes(axis, data.rank)[:1], why="sums along")


@op("SegmentMax", "opset16")
class SegmentMax(Op):
    """The largest element of each segment of the first axis."""

    data = In(min_rank=1)
    segment_ids = In(INDEX, rank=1, value=True)
    num_segments = In(INDEX, rank=0, value=True, optional=True)
    output = Out(like="data")
    fill_mode: Annotated[Literal["zero", "lowest"], Stated] = "zero"
    cost = each("1 operation for each element of the data.", operations=1, of_input=True)

    def infer(self, ctx: Context, data: Input, segment_ids: Input, num_segments: Input | None) -> Shape:
        if data.is_ranked and segment_ids.is_ranked:
            ctx.require_eq(segment_ids.shape[0], data.shape[0], "segment_ids must name a segment for each element of the first axis")
        ids = ctx.known(segment_ids)
        if ids is not None and list(ids) != sorted(ids):
            ctx.fail("V101", "segment_ids must be in ascending order", port=segment_ids)
        if ids is not None and not ids and num_segments is None:
            message = "segment_ids must hold at least 1 value where num_segments is absent, got 0; OpenVINO crashes on the empty input"
            ctx.fail("V103", message, port=segment_ids)
        rest = data.shape[1:]
        if num_segments is not None:
            return (ctx.limit(num_segments), *rest)
        return (ctx.unknown() if ids is None else max(ids[-1] + 1, 0), *rest)
