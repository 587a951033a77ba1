"""Families of element-wise operations, whose rules dozens of ops inherit."""

from collections.abc import Callable, Hashable
from itertools import product
from math import inf, trunc
from typing import Annotated, Any, ClassVar, Literal, cast

from irshape.ops.attribute import Spelled
from irshape.ops.context import Context
from irshape.ops.cost import each_element
from irshape.ops.flow import Flow, elementwise
from irshape.ops.op import In, Input, Op, Out, as_first
from irshape.shape.dim import INT64_MAX, Dim, Size, bounds
from irshape.shape.element_type import ANY, BOOLEAN, NUMERIC, ElementType
from irshape.shape.shape import Shape, broadcast_shapes
from irshape.shape.value import Element, Elements, Real, are_numbers, broadcast_to, fits, limits, quotient, to_float

ARITHMETIC = NUMERIC - {ElementType.string}
# The element types of which OpenVINO computes no values in most operations, and in some of them.
UNFOLLOWED = frozenset({ElementType.i16, ElementType.u16, ElementType.f64})
UNFOLLOWED_BYTES = UNFOLLOWED | {ElementType.i8, ElementType.u8}


def wrapped(end: float, element_type: ElementType) -> float:
    """A bound as an integer type holds it in OpenVINO: numbers wrap around; an infinite bound stays infinite unless the type is small.

    NaN, which OpenVINO converts to any number, stays NaN.
    """
    bits, is_infinite = element_type.bits, end in (inf, -inf, INT64_MAX, -INT64_MAX - 1)
    if (bits >= 32 and is_infinite) or end != end:
        return end
    number = -1 if is_infinite else trunc(end)
    number %= 1 << bits
    return number - (1 << bits) if element_type.is_signed and number >> (bits - 1) else number


class Elementwise(Op):
    """Each element of the output is a function of the corresponding elements of the inputs.

    A class says how values are followed through the operation:

    - `of_elements` computes an element from numbers;
    - `of_sizes` computes it from sizes and ints, and `of_real_sizes` does so for real tensors, if they differ;
    - `of_ratios` computes it, or its numerator and denominator, from sizes divided by numbers; `is_whole_exact` says that the result is
      whole only if the size divided by a number is, so that floats tell whole results from others though they round the quotient;
    - `is_monotone` says that its values at the ends of intervals bound all its values, so that intervals of reals are followed;
    - `of_bounds` gives the bounds that OpenVINO computes from those of its arguments, right or wrong; it is None if OpenVINO follows
      numbers only;
    - `held` gives the bound that OpenVINO holds, if the integer type cannot hold the computed one.

    These functions return None for a value that they cannot tell.
    """

    is_monotone: ClassVar[bool] = False
    unfollowed = UNFOLLOWED

    of_elements: ClassVar[Callable[..., Any] | None] = None
    of_sizes: ClassVar[Callable[..., Any] | None] = None
    of_real_sizes: ClassVar[Callable[..., Any] | None] = None
    of_bounds: ClassVar[Callable[..., Any] | None] = None
    of_ratios: ClassVar[Callable[..., Any] | None] = None
    is_whole_exact: ClassVar[bool] = False
    cost = each_element
    is_in_place = True
    flow = elementwise
    held = staticmethod(wrapped)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.of_elements is not None and cls.propagate is None:
            cls.propagate = cls.follow

    def follow(self, ctx: Context, *inputs: Input) -> Elements | None:
        """The elements of the output, computed one by one."""
        columns = self.aligned(ctx, *inputs)
        if columns is None:
            return None
        first = inputs[0].element_type
        element_type, is_real = self.outputs[0].type or first, first.is_real
        return tuple([self.element(ctx, element_type, row, is_real) for row in zip(*columns, strict=True)])

    def aligned(self, ctx: Context, *inputs: Input) -> list[Elements] | None:
        """The elements of each input, repeated to as many as the output has; None if they cannot be matched."""
        return [input.values for input in inputs]

    def element(self, ctx: Context, element_type: ElementType, row: tuple[Element, ...], is_real: bool) -> Element:
        """An element of the output, of this type, from those of the inputs; `is_real` says that they stand in real tensors."""
        if are_numbers(row):
            result = _number(self.of_elements, row)
        else:
            whole = _whole(row)
            result = None if whole is None else _number((self.of_real_sizes if is_real else None) or self.of_sizes, whole)
        if result is None and is_real:
            result = self.exact(element_type, *map(ratio, row))
            if result is None:
                result = self.of_ranges(*map(ends, row))
        elif result is None:
            limits = self.of_limits(*map(limits_of, row))
            result = None if limits is None else ctx.unknown(*limits)
        if result is None:
            return unknown(ctx, element_type)
        if fits(result, element_type):
            return cast("Element", result)
        if isinstance(result, int):
            ctx.warn("R201", f"a result does not fit {element_type}: {result}")
        return unknown(ctx, element_type)

    def exact(self, element_type: ElementType, *ratios: tuple[Size, int] | None) -> Element | None:
        """An element computed from arguments that are sizes divided by numbers; None if it cannot be."""
        if self.of_ratios is None or None in ratios:
            return None
        parts = [divisor for _, divisor in cast("tuple[tuple[Size, int], ...]", ratios) if divisor > 1]
        is_whole_exact = self.is_whole_exact and element_type not in (ElementType.f16, ElementType.bf16)
        if not (is_whole_exact and len(parts) < 2) and not all(map(_is_held, parts)):
            return None
        result = self.of_ratios(*ratios)
        if not isinstance(result, tuple):
            return cast("Element | None", result)
        size, divisor = result
        is_told = divisor and (_is_held(divisor) or (is_whole_exact and divisor <= _SHORT))
        return quotient(size, divisor) if is_told else None

    def of_limits(self, *ranges: tuple[Any, Any]) -> tuple[float, float] | None:
        """The bounds of an integer element, from the bounds of each argument; None if they are not known."""
        return None

    def openvino_view(self, ctx: Context, elements: Elements, *inputs: Input) -> Elements | None:
        columns = self.aligned(ctx, *inputs)
        if self.of_bounds is None or columns is None:
            return None
        element_type = self.outputs[0].type or inputs[0].element_type
        result = []
        for element, row in zip(elements, zip(*columns, strict=True), strict=True):
            if not are_numbers((element, *row)):
                limits = self.of_bounds(*map(limits_of, row))
                if limits is None:
                    return None
                low, high = limits
                element = bounded(ctx, (self, row), element, element_type, low, high, self.held)
            if element is None:
                return None
            result.append(element)
        return tuple(result)

    def corners(self, *ranges: tuple[float, float]) -> tuple[float, float] | None:
        """OpenVINO's rule for most operations: the least and the largest result of the ends; without limit if an argument has none."""
        for _, high in ranges:
            if high == inf:
                return 0, inf
        values = [_number(self.of_elements, corner) for corner in product(*ranges)]
        return None if None in values else (min(values), max(values))

    def of_ranges(self, *ranges: tuple[float, float]) -> Element | None:
        """The element as an interval of reals, from the interval of each argument; None if nothing is known."""
        if not self.is_monotone:
            return None
        values = [_number(self.of_elements, corner) for corner in product(*ranges)]
        if None in values:
            return None
        low, high = min(values), max(values)
        return low if low == high else None if isinstance(low, int) else Real(low, high)


def computed(of_elements: Callable[..., Any], of_sizes: Callable[..., Any]) -> dict[str, Any]:
    """The functions of an operation, of numbers and of sizes, as a row of `declare` has them."""
    return {"of_elements": staticmethod(of_elements), "of_sizes": staticmethod(of_sizes)}


def unknown(ctx: Context, element_type: ElementType) -> Element:
    """An unknown element: any number of its type."""
    return Real(-inf, inf) if element_type.is_real else ctx.unknown(*limits(element_type))


def _whole(row: tuple[Element, ...]) -> tuple[Size, ...] | None:
    """The arguments as sizes and ints; None if one has a fraction or is an interval of reals."""
    whole = []
    for element in row:
        if isinstance(element, float) and element.is_integer():
            element = trunc(element)
        if isinstance(element, (float, Real)):
            return None
        whole.append(element)
    return tuple(whole)


def _number(function: Callable[..., Any] | None, row: tuple[Any, ...]) -> Any:
    """The value of a function of elements; None if it cannot be followed, such as NaN or a complex number."""
    try:
        value = None if function is None else function(*row)
    except (ArithmeticError, ValueError):
        return None
    if type(value) is bool:
        return int(value)
    return value if isinstance(value, (int, Dim)) or (isinstance(value, float) and value == value) else None


def bounded(
    ctx: Context,
    key: Hashable,
    element: Element,
    element_type: ElementType,
    low: float,
    high: float,
    held: Callable[[float, ElementType], float] = wrapped,
) -> Element | None:
    """An element with the bounds that OpenVINO knows, in either order: the element itself if these are its own bounds.

    None if a bound is NaN.
    """
    if low != low or high != high:
        return None
    low, high = min(low, high), max(low, high)
    if low == high and abs(low) != inf:
        return low if element_type.is_real else int(low) if fits(int(low), element_type) else held(low, element_type)
    if not element_type.is_real and high != inf and not all(abs(end) == inf or fits(int(end), element_type) for end in (low, high)):
        low, high = sorted((held(low, element_type), held(high, element_type)))
    if isinstance(element, Dim) and bounds(element) == (low, high):
        return element
    return Real(low, high) if element_type.is_real else ctx.scope.bounded(key, low, high)


# Up to this number, the product of a numerator or denominator with a size is exact in floats.
_SHORT = 1 << 10


def _is_held(divisor: int) -> bool:
    """Whether a float holds any size divided by this number exactly: by a power of 2."""
    return not divisor & (divisor - 1)


def ratio(element: Element) -> tuple[Size, int] | None:
    """A size and a number whose quotient the element is; None if there are none."""
    if isinstance(element, Real):
        return None if element.size is None else (element.size, element.divisor)
    if isinstance(element, float):
        if not abs(element) <= _SHORT:
            return None
        size, divisor = element.as_integer_ratio()
        return (size, divisor) if divisor <= _SHORT else None
    return element, 1


def limits_of(element: Element) -> tuple[float, float]:
    """The bounds of an element, as ints if they are whole. A bound that no type holds is infinite, as in OpenVINO."""
    if isinstance(element, Real):
        return element[:2]
    low, high = bounds(element) if isinstance(element, Dim) else (element, element)
    return low, inf if isinstance(element, Dim) and high > 2 * INT64_MAX + 1 else high  # the largest u64


def ends(element: Element) -> tuple[float, float]:
    """The bounds of an element, as floats."""
    if isinstance(element, Real):
        return element[:2]
    low, high = bounds(element) if isinstance(element, Dim) else (element, element)
    return to_float(low), to_float(high)


class Unary(Elementwise):
    """One input of any element type; the output is like it."""

    data = In(ANY)
    output = Out(like="data")
    ignores_surplus = True
    infer = as_first


class UnaryArithmetic(Unary):
    """One numeric input; the output is like it."""

    data = In(ARITHMETIC)


class Broadcasting(Elementwise):
    """Inputs that broadcast to the output, one after the other, as `auto_broadcast` says."""

    auto_broadcast: Literal["none", "explicit", "numpy", "pdpd"] = "numpy"
    auto_broadcast_axis: Annotated[int, Spelled("auto_broadcast.auto_broadcast_axis")] = 0

    def broadcast(self, ctx: Context, *inputs: Input) -> Shape:
        """The shape the inputs broadcast to."""
        shape, *others = [input.partial_shape for input in inputs]
        for other in others:
            if self.auto_broadcast == "pdpd" and self.auto_broadcast_axis < -1 and shape is not None and other is not None:
                message = f"the axis of auto_broadcast must be at least -1, got {self.auto_broadcast_axis}"
                ctx.fail("A104", message, attribute="auto_broadcast.auto_broadcast_axis")
            shape = broadcast_shapes(ctx, shape, other, self.auto_broadcast, self.auto_broadcast_axis)
        return shape

    def aligned(self, ctx: Context, *inputs: Input) -> list[Elements] | None:
        """The elements of each input, repeated to the shape that the inputs broadcast to; None for `pdpd`, which aligns axes otherwise."""
        if self.auto_broadcast == "pdpd":
            return None
        ctx.stop_at_errors()
        shapes = [input.static_shape for input in inputs]
        if shapes.count(shapes[0]) == len(shapes):
            return [input.values for input in inputs]
        shape = cast("tuple[int, ...]", self.broadcast(ctx, *inputs))
        return [broadcast_to(input.values, own, shape) for input, own in zip(inputs, shapes, strict=True)]

    def flow(self, flow: Flow, *inputs: Input) -> None:
        flow.broadcast(*inputs)
        if self.auto_broadcast == "pdpd" and len({len(flow.trace(port)) for port in inputs}) > 1:
            flow.unproven("aligns axes as PaddlePaddle does")


class Binary(Broadcasting):
    """Two inputs of one element type that broadcast to the output."""

    lhs = In(ANY)
    rhs = In(ANY, like="lhs")
    output = Out(like="lhs")

    def infer(self, ctx: Context, lhs: Input, rhs: Input) -> Shape:
        return self.broadcast(ctx, lhs, rhs)


class BinaryArithmetic(Binary):
    """Two numeric inputs of one element type that broadcast to the output."""

    lhs = In(ARITHMETIC)
    rhs = In(ARITHMETIC, like="lhs")

    of_bounds: ClassVar[Callable[..., Any] | None] = Broadcasting.corners


class BinaryComparison(Binary):
    """Two inputs of one element type that broadcast to a boolean output."""

    output = Out(ElementType.boolean)


class Logical(Binary):
    """Two boolean inputs that broadcast to a boolean output."""

    lhs = In(BOOLEAN)
    rhs = In(BOOLEAN, like="lhs")
    output = Out(ElementType.boolean)
