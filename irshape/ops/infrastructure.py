"""Inputs, outputs, constants, variables and bodies of a model."""

from typing import Annotated

from irshape.ops.attribute import Malformed, ReadBy, Stated, read_element_type, read_integer
from irshape.ops.context import Context
from irshape.ops.cost import moved
from irshape.ops.flow import alike
from irshape.ops.op import In, Input, Op, Out, as_first
from irshape.ops.registry import op
from irshape.report.catalogue import next_step
from irshape.report.text import counted
from irshape.shape.dim import bounds, format_size
from irshape.shape.element_type import ElementType
from irshape.shape.notation import Interval, ShapeSyntaxError, parse_parameter_shape
from irshape.shape.range import interval_text, number_text
from irshape.shape.shape import Shape


def read_partial_shape(text: str) -> tuple[tuple[Interval, ...] | None, str | None]:
    """The interval of each axis, None for an unknown rank: `1,3,224..,?`, `...`, nothing for a scalar."""
    try:
        shape, remarks = parse_parameter_shape(text)
    except ShapeSyntaxError as error:
        raise Malformed("A102", str(error)) from None
    return shape, "R101" if remarks else None


def read_unsigned(text: str) -> tuple[int, str | None]:
    """A number that is not negative; OpenVINO's XML reader tolerates blanks and a plus before it, and nothing behind it."""
    digits = text.lstrip().removeprefix("+")
    if not (digits.isascii() and digits.isdigit()):
        raise Malformed("A102", f"{text!r} is not an unsigned integer")
    return read_integer(digits)


def read_stored_type(text: str) -> tuple[ElementType, str | None]:
    """The element type of a constant. OpenVINO also reads it as the precision of a port: `I64` and `f32`, but not `F32`."""
    element_type, remark = read_element_type(text)
    if ElementType.from_precision(text) is None:
        raise Malformed("A103", f"{text!r} is not an element type of a constant; write {element_type}")
    return element_type, remark


@op("Parameter", "opset1", also="opset17")
class Parameter(Op):
    """An input of the model."""

    output = Out(attribute="element_type")
    shape: Annotated[tuple[Interval, ...] | None, ReadBy(read_partial_shape), Stated] = ()
    element_type: Annotated[ElementType, Stated] = ElementType.dynamic
    cost = moved

    def infer(self, ctx: Context) -> Shape:
        if self.shape is None:
            return None
        return tuple([ctx.unknown(low, high) for low, high in self.shape])


@op("Constant", "opset1")
class Constant(Op):
    """A tensor whose bytes are in the weights."""

    output = Out(attribute="element_type")
    element_type: Annotated[ElementType, ReadBy(read_stored_type)]
    shape: tuple[int, ...]
    offset: Annotated[int, ReadBy(read_unsigned)]
    size: Annotated[int, ReadBy(read_unsigned)]
    cost = moved

    @property
    def memo_key(self) -> object:
        """Constants of one type and shape are equal, wherever their bytes are."""
        return self if self.findings else (Constant, self.element_type, self.shape, self.size)

    def infer(self, ctx: Context) -> Shape:
        count = 1
        for size in self.shape:
            if size < 0:
                ctx.fail("A104", f"the shape of a constant must hold no negative size, got {size}", attribute="shape")
            count *= size
        if self.element_type is not ElementType.string:
            needed = self.element_type.byte_size(count)
            if self.size < needed:
                message = f"the constant stores {counted(self.size, 'byte')}; {number_text(count)} elements of {self.element_type}"
                message += f" need {number_text(needed)}"
                ctx.fail("W103", message, attribute="size", hint=next_step("W103"))
            # Elements of 3 and 6 bits are stored in groups of 3 bytes, and the last group may not be full. OpenVINO writes a byte for none.
            if self.size > max(needed, 1) and self.element_type.bits not in (0, 3, 6):
                message = f"the constant stores {counted(self.size, 'byte')}; its shape and type need {number_text(needed)}"
                ctx.warn("R303", message, attribute="size")
        return self.shape


@op("Result", "opset1")
class Result(Op):
    """An output of the model."""

    input = In()
    output = Out(like="input")
    cost = moved
    is_view = True
    flow = alike
    infer = as_first


@op("ReadValue", "opset3")
class ReadValueV3(Op):
    """Read a variable; the input is its first value."""

    init_value = In()
    output = Out(like="init_value")
    ignores_surplus = True
    variable_id: Annotated[str, Stated] = ""
    cost = moved
    infer = as_first


@op("ReadValue", "opset6")
class ReadValueV6(Op):
    """Read a variable of a declared type and shape; the input is its first value, and Assign changes it."""

    init_value = In(optional=True)
    output = Out()
    variable_id: str  # OpenVINO crashes without it
    variable_type: Annotated[ElementType, Stated] = ElementType.dynamic
    variable_shape: Annotated[tuple[Interval, ...] | None, ReadBy(read_partial_shape), Stated] = None
    cost = moved

    @property
    def _is_declared(self) -> bool:
        """Whether the layer declares the variable's type or shape; if not, they are those of the input."""
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
        """Demand that the variable can hold every shape that its first value can have."""
        if not init_value.is_ranked:
            message = f"init_value must have rank {len(declared)}, the rank of the variable, but its rank is not known"
            ctx.fail("S206", message, port=init_value)
        if init_value.rank != len(declared):
            message = f"init_value must have rank {len(declared)}, the rank of the variable, got rank {init_value.rank}"
            ctx.fail("S102", message, port=init_value)
        for axis, (size, (low, high)) in enumerate(zip(init_value.shape, declared, strict=True)):
            smallest, largest = bounds(size)
            if smallest < low or largest > high:
                code = "S201" if largest < low or smallest > high else "S206"
                wanted, got = interval_text(low, high), format_size(size)
                ctx.error(code, f"axis {axis} of init_value must be {wanted}, as in the variable, got {got}", port=init_value)


class _Assign(Op):
    """Set a variable to the input. Whether the input fits the variable is checked where the whole graph is known."""

    new_value = In()
    output = Out(like="new_value")
    cost = moved
    is_view = True
    infer = as_first


@op("Assign", "opset3")
class AssignV3(_Assign):
    """Set a variable that is read upstream to the input."""

    variable_id: Annotated[str, Stated] = ""


@op("Assign", "opset6")
class AssignV6(_Assign):
    """Set a variable to the input."""

    variable_id: str  # OpenVINO crashes without it


@op("If", "opset8")
class If(Op):
    """The outputs of one of two bodies: `then_body` where the condition is true, else `else_body`.

    The engine infers the bodies of If, Loop and TensorIterator, so these operations have no rule of their own.
    """

    cond = In(value=True)
    body_inputs = In(variadic=True, optional=True)
    body_outputs = Out(variadic=True)


@op("Loop", "opset5")
class Loop(Op):
    """A body that runs at most `trip_count` times, as long as its condition holds."""

    trip_count = In(value=True)
    execution_condition = In(value=True)
    body_inputs = In(variadic=True, optional=True)
    body_outputs = Out(variadic=True)


@op("TensorIterator", "opset1")
class TensorIterator(Op):
    """A body that runs once for each part into which its inputs are cut."""

    body_inputs = In(variadic=True, optional=True)
    body_outputs = Out(variadic=True)
