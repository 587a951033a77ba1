"""Where tensors enter and leave a model."""

from math import inf
from typing import Annotated

from irshape.ops.attribute import Malformed, ReadBy, Stated, read_element_type, read_integer
from irshape.ops.context import Context
from irshape.ops.op import In, Input, Op, Out, op
from irshape.shape.dim import bounds, format_size
from irshape.shape.element_type import ElementType
from irshape.shape.notation import Interval, ShapeSyntaxError, parse_parameter_shape
from irshape.shape.range import number_text
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


def read_stored_type(text: str) -> tuple[ElementType, str | None]:
    """The element type of a constant, which OpenVINO reads as it reads a port's precision, too: `I64` and `f32`, but not `F32`."""
    element_type, remark = read_element_type(text)
    if ElementType.from_precision(text) is None:
        raise Malformed("A103", f"{text!r} is no element type of a constant; write {element_type}")
    return element_type, remark


@op("Parameter", "opset1", also="opset17")
class Parameter(Op):
    """An input of the model."""

    output = Out(attribute="element_type")
    shape: Annotated[tuple[Interval, ...] | None, ReadBy(read_partial_shape), Stated] = ()
    element_type: Annotated[ElementType, Stated] = ElementType.dynamic

    def infer(self, ctx: Context) -> Shape:
        if self.shape is None:
            return None
        return tuple([ctx.unknown(low, high) for low, high in self.shape])


@op("Constant", "opset1")
class Constant(Op):
    """A tensor whose bytes stand in the weights."""

    output = Out(attribute="element_type")
    element_type: Annotated[ElementType, ReadBy(read_stored_type)]
    shape: tuple[int, ...]
    offset: Annotated[int, ReadBy(read_unsigned)]
    size: Annotated[int, ReadBy(read_unsigned)]

    @property
    def memo_key(self) -> object:
        """Constants of one size, wherever their bytes stand."""
        return self if self.findings else (Constant, self.element_type, self.shape, self.size)

    def infer(self, ctx: Context) -> Shape:
        count = 1
        for size in self.shape:
            if size < 0:
                ctx.fail("A104", f"a constant has no unknown sizes, got {size}", attribute="shape")
            count *= size
        if self.element_type is not ElementType.string:
            needed = self.element_type.byte_size(count)
            if self.size < needed:
                message = f"{self.size} bytes hold no {self.element_type} constant of {number_text(count)} elements"
                message += f", which takes {number_text(needed)}"
                ctx.fail("W103", message, attribute="size")
            # Elements of 3 and 6 bits stand in groups of 3 bytes, the last of which may not be full.
            if self.size > needed and self.element_type.bits not in (0, 3, 6):
                ctx.warn("R303", f"the constant has {self.size} bytes, its shape and type take {number_text(needed)}", attribute="size")
        return self.shape


@op("Result", "opset1")
class Result(Op):
    """An output of the model."""

    input = In()
    output = Out(like="input")

    def infer(self, ctx: Context, input: Input) -> Shape:
        return input.shape


@op("ReadValue", "opset3")
class ReadValueV3(Op):
    """The variable, which begins as the input."""

    init_value = In()
    output = Out(like="init_value")
    variable_id: Annotated[str, Stated] = ""

    def infer(self, ctx: Context, init_value: Input) -> Shape:
        return init_value.shape


@op("ReadValue", "opset6")
class ReadValueV6(Op):
    """The variable, of which only what is declared is known: it begins as the input, and becomes what Assign makes it."""

    init_value = In(optional=True)
    output = Out()
    variable_id: str  # OpenVINO crashes without it
    variable_type: Annotated[ElementType, Stated] = ElementType.dynamic
    variable_shape: Annotated[tuple[Interval, ...] | None, ReadBy(read_partial_shape), Stated] = None

    @property
    def _is_declared(self) -> bool:
        """Whether the layer says anything of the variable; if not, it is like its input."""
        return self.variable_type is not ElementType.dynamic or self.variable_shape is not None

    def infer(self, ctx: Context, init_value: Input | None) -> Shape:
        if init_value is not None and not self._is_declared:
            return init_value.shape
        declared = self.variable_shape
        if declared is None:
            return None
        if init_value is not None:
            self._check_shape(ctx, declared, init_value)
        return tuple(ctx.unknown(low, high) for low, high in declared)

    def types(self, ctx: Context, init_value: Input | None) -> ElementType:
        if init_value is None or ctx.has_type(init_value, frozenset({self.variable_type})):
            return self.variable_type
        if not self._is_declared:
            return init_value.element_type
        if self.variable_type is not ElementType.dynamic:
            message = f"the variable has element type {self.variable_type}, its init_value has {init_value.element_type}"
            ctx.error("T102", message, port=init_value)
        return self.variable_type

    def _check_shape(self, ctx: Context, declared: tuple[Interval, ...], init_value: Input) -> None:
        """The variable must be able to hold every shape that its first value can have."""
        if not init_value.is_ranked:
            ctx.fail("S206", f"the variable has rank {len(declared)}, the rank of its init_value is not known", port=init_value)
        if init_value.rank != len(declared):
            ctx.fail("S102", f"the variable has rank {len(declared)}, its init_value has rank {init_value.rank}", port=init_value)
        for axis, (size, (low, high)) in enumerate(zip(init_value.shape, declared, strict=True)):
            smallest, largest = bounds(size)
            if smallest < low or largest > high:
                code = "S201" if largest < low or smallest > high else "S206"
                wanted = low if low == high else f"{low}..{'' if high == inf else high}"
                ctx.error(code, f"axis {axis} of the variable is {wanted}, that of its init_value {format_size(size)}", port=init_value)


class _Assign(Op):
    """The variable becomes the input; that the two fit is checked where the whole graph is known."""

    new_value = In()
    output = Out(like="new_value")

    def infer(self, ctx: Context, new_value: Input) -> Shape:
        return new_value.shape


@op("Assign", "opset3")
class AssignV3(_Assign):
    """Let a variable that is read upstream become the input."""

    variable_id: Annotated[str, Stated] = ""


@op("Assign", "opset6")
class AssignV6(_Assign):
    """Let a variable become the input."""

    variable_id: str  # OpenVINO crashes without it


@op("If", "opset8")
class If(Op):
    """The outputs of one of two bodies: `then_body` where the condition is true, else `else_body`.

    As those of Loop and TensorIterator its rule is that of the graphs inside it: the engine follows the tensors into them.
    """

    cond = In(value=True)
    body_inputs = In(variadic=True)
    body_outputs = Out(variadic=True)


@op("Loop", "opset5")
class Loop(Op):
    """A body, run at most so many times, as long as its own condition holds."""

    trip_count = In(value=True)
    execution_condition = In(value=True)
    body_inputs = In(variadic=True)
    body_outputs = Out(variadic=True)


@op("TensorIterator", "opset1")
class TensorIterator(Op):
    """A body, run once for each of the parts its inputs are cut into."""

    body_inputs = In(variadic=True)
    body_outputs = Out(variadic=True)
