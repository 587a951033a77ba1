"""Families of element-wise operations: one rule each, inherited by dozens of ops."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, ClassVar, Literal, cast

from irshape.ops.attribute import Spelled
from irshape.ops.context import Context
from irshape.ops.op import In, Input, Op, Out
from irshape.shape.dim import Dim
from irshape.shape.element_type import ANY, BOOLEAN, NUMERIC, ElementType
from irshape.shape.shape import Shape, broadcast_shapes
from irshape.shape.value import Element, Elements, broadcast_to

# What arithmetic is defined on.
ARITHMETIC = NUMERIC - {ElementType.string}


class Elementwise(Op):
    """Each element of the output is a function of the corresponding elements of the inputs.

    Values are followed through the op where its class says how: `of_elements` computes an element from known numbers,
    `of_sizes` where some are a `Dim` and the others ints, `of_real_sizes` where these stand in a real tensor and that matters.
    They give None for what they cannot know.
    """

    takes_sizes = True

    of_elements: ClassVar[Callable[..., Any] | None] = None
    of_sizes: ClassVar[Callable[..., Any] | None] = None
    of_real_sizes: ClassVar[Callable[..., Any] | None] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.of_elements is not None and cls.propagate is None:
            cls.propagate = cls.follow

    def follow(self, ctx: Context, *inputs: Input) -> Elements | None:
        """The elements of the output, computed one by one."""
        columns = self.aligned(ctx, *inputs)
        return None if columns is None else self.computed(ctx, self.outputs[0].type or inputs[0].element_type, columns)

    def aligned(self, ctx: Context, *inputs: Input) -> list[Elements] | None:
        """The elements of each input, as many as the output has; None where that cannot be said."""
        return [input.values for input in inputs]

    def computed(self, ctx: Context, element_type: ElementType, columns: Sequence[Elements]) -> Elements | None:
        """The elements of an output of this type; what is not known is a number of its own, or nothing in a real tensor."""
        result: list[Element] = []
        for elements in zip(*columns, strict=True):
            element = self._element(elements, element_type.is_real)
            if element is None:
                if element_type.is_real:
                    return None
                element = ctx.unknown(*_range(element_type))
            result.append(int(element) if type(element) is bool else element)
        return tuple(result)

    def _element(self, elements: tuple[Element, ...], is_real: bool) -> Element | None:
        function = self.of_elements
        if any(isinstance(element, Dim) for element in elements):
            function = (self.of_real_sizes if is_real else None) or self.of_sizes
            elements = tuple(int(e) if isinstance(e, float) and e.is_integer() else e for e in elements)
            if any(isinstance(element, float) for element in elements):
                return None
        if function is None:
            return None
        try:
            element: Element | None = function(*elements)
        except (ArithmeticError, ValueError):
            return None
        # Neither nan nor a complex number is a value that could be followed.
        return element if isinstance(element, Dim | int) or (isinstance(element, float) and element == element) else None


def _range(element_type: ElementType) -> tuple[float, float]:
    if element_type is ElementType.boolean:
        return 0, 1
    return (-float("inf") if element_type.is_signed else 0), float("inf")


class Unary(Elementwise):
    """One input of any element type; the output is like it."""

    data = In(ANY, unranked=True)
    output = Out(like="data")

    def infer(self, ctx: Context, data: Input) -> Shape:
        return data.partial_shape


class UnaryArithmetic(Unary):
    """One numeric input; the output is like it."""

    data = In(ARITHMETIC, unranked=True)


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
        """The elements of each input, repeated to the shape they broadcast to; None where `pdpd` aligns them otherwise."""
        if self.auto_broadcast == "pdpd":
            return None
        shape = cast(tuple[int, ...], self.broadcast(ctx, *inputs))
        return [broadcast_to(input.values, input.static_shape, shape) for input in inputs]


class Binary(Broadcasting):
    """Two inputs of one element type that broadcast to the output."""

    lhs = In(ANY, unranked=True)
    rhs = In(ANY, unranked=True, like="lhs")
    output = Out(like="lhs")

    def infer(self, ctx: Context, lhs: Input, rhs: Input) -> Shape:
        return self.broadcast(ctx, lhs, rhs)


class BinaryArithmetic(Binary):
    """Two numeric inputs of one element type that broadcast to the output."""

    lhs = In(ARITHMETIC, unranked=True)
    rhs = In(ARITHMETIC, unranked=True, like="lhs")


class Comparison(Binary):
    """Two inputs of one element type that broadcast to a boolean output."""

    output = Out(ElementType.boolean)


class Logical(Binary):
    """Two boolean inputs that broadcast to a boolean output."""

    lhs = In(BOOLEAN, unranked=True)
    rhs = In(BOOLEAN, unranked=True, like="lhs")
    output = Out(ElementType.boolean)
