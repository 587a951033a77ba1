"""Where tensors enter and leave a model."""

from typing import Annotated

from irshape.ops.attribute import Malformed, ReadBy, Stated, read_integer
from irshape.ops.context import Context
from irshape.ops.op import In, Input, Op, Out, op
from irshape.shape.element_type import ElementType
from irshape.shape.notation import Interval, ShapeSyntaxError, parse_parameter_shape
from irshape.shape.shape import Shape


def read_partial_shape(text: str) -> tuple[tuple[Interval, ...] | None, str | None]:
    """The interval of each axis, None for an unknown rank: `1,3,224..,?`, `...`, nothing for a scalar."""
    try:
        shape, remarks = parse_parameter_shape(text)
    except ShapeSyntaxError as error:
        raise Malformed("A102", str(error)) from None
    return shape, "R101" if remarks else None


def read_unsigned(text: str) -> tuple[int, str | None]:
    """A number without sign, which takes all of the text; OpenVINO's XML reader forgives nothing else here."""
    if not (text.isascii() and text.isdigit()):
        raise Malformed("A102", f"{text!r} is not an unsigned integer")
    return read_integer(text)


@op("Parameter", "opset1", also="opset17")
class Parameter(Op):
    """An input of the model."""

    output = Out(attribute="element_type")
    shape: Annotated[tuple[Interval, ...] | None, ReadBy(read_partial_shape), Stated] = ()
    element_type: Annotated[ElementType, Stated] = ElementType.dynamic

    def infer(self, ctx: Context) -> Shape:
        if self.shape is None:
            return None
        return tuple(ctx.unknown(low, high) for low, high in self.shape)


@op("Constant", "opset1")
class Constant(Op):
    """A tensor whose bytes stand in the weights."""

    output = Out(attribute="element_type")
    element_type: ElementType
    shape: tuple[int, ...]
    offset: Annotated[int, ReadBy(read_unsigned)]
    size: Annotated[int, ReadBy(read_unsigned)]

    def infer(self, ctx: Context) -> Shape:
        count = 1
        for size in self.shape:
            if size < 0:
                ctx.fail("A104", f"a constant has no unknown sizes, got {size}", attribute="shape")
            count *= size
        if self.element_type is not ElementType.string:
            needed = self.element_type.byte_size(count)
            if self.size < needed:
                message = f"{self.size} bytes hold no {self.element_type} constant of {count} elements, which takes {needed}"
                ctx.fail("W103", message, attribute="size")
            if self.size > needed and self.element_type.bits % 8 == 0 and self.element_type.bits:
                ctx.warn("R303", f"the constant has {self.size} bytes, its shape and type take {needed}", attribute="size")
        return self.shape


@op("Result", "opset1")
class Result(Op):
    """An output of the model."""

    input = In(unranked=True)
    output = Out(like="input")

    def infer(self, ctx: Context, input: Input) -> Shape:
        return input.partial_shape
