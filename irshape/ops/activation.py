"""Activation functions."""

from math import ceil, floor
from typing import Annotated, Any, Literal

from irshape.ops.attribute import Stated
from irshape.ops.context import Context
from irshape.ops.cost import each, each_element, moved
from irshape.ops.elementwise import Unary, UnaryArithmetic
from irshape.ops.flow import Flow, alike
from irshape.ops.op import In, Input, Op, Out, as_first
from irshape.ops.registry import declare, op
from irshape.shape.dim import Size, dim_max, dim_min, is_known
from irshape.shape.element_type import ANY, BOOLEAN, FLOAT, ElementType
from irshape.shape.shape import Shape


class RealUnary(Unary):
    """One real input; the output is like it."""

    data = In(FLOAT)


class _Parametric(Op):
    """A function of each element and of parameters."""

    data = In()
    output = Out(like="data")
    cost = each_element
    is_in_place = True
    flow = alike


@op("Clamp", "opset1")
class Clamp(Unary):
    """The element, limited to an interval; for integers the ends of the interval are rounded inward."""

    is_monotone = True
    unfollowed = frozenset({ElementType.f64})
    data = In(ANY - BOOLEAN | FLOAT)
    min: Annotated[float, Stated] = 0.0
    max: Annotated[float, Stated] = 0.0

    def infer(self, ctx: Context, data: Input) -> Shape:
        if not self.min <= self.max:
            ctx.error("A104", f"min must not be greater than max, got {self.min} and {self.max}", attribute="min")
        return data.shape

    def of_elements(self, element: Any) -> Any:
        if isinstance(element, float):
            return min(max(element, self.min), self.max)
        return min(max(element, ceil(self.min)), floor(self.max))

    def of_sizes(self, size: Size) -> Size:
        return dim_min(dim_max(size, ceil(self.min)), floor(self.max))

    def of_bounds(self, limits: tuple[float, float]) -> tuple[float, float]:
        low, high = (min(max(end, self.min), self.max) for end in limits)
        return low, high


@op("Elu", "opset1")
class Elu(Unary):
    """Exponential linear unit."""

    alpha: Annotated[float, Stated] = 0.0


@op("Gelu", "opset2")
class GeluV0(RealUnary):
    """Gaussian error linear unit."""

    ignores_surplus = False


@op("Gelu", "opset7")
class GeluV7(GeluV0):
    """Gaussian error linear unit, exact or approximated."""

    approximation_mode: Literal["ERF", "TANH"] = "ERF"


@op("HardSigmoid", "opset1")
class HardSigmoid(_Parametric):
    """max(0, min(1, alpha * x + beta))."""

    alpha = In()
    beta = In()
    ignores_surplus = True

    def infer(self, ctx: Context, data: Input, alpha: Input, beta: Input) -> Shape:
        for port in (alpha, beta):
            if port.element_type is not data.element_type:
                ctx.error("T102", f"{port.name} has element type {port.element_type}, data has {data.element_type}", port=port)
            if port.is_ranked and port.rank:
                # OpenVINO checks static shapes only.
                code = "S101" if all(map(is_known, port.shape)) else "R401"
                ctx.error(code, f"{port.name} must have rank 0, got rank {port.rank}", port=port)
        return data.shape


@op("Identity", "opset16")
class Identity(Unary):
    """The input itself."""

    ignores_surplus = False
    cost = moved
    is_view = True


class _Softmax(Op):
    """Numbers that are normalised along an axis."""

    data = In()
    output = Out(like="data")
    ignores_surplus = True
    axis: int = 1
    cost = each(
        "5 operations for each element: the greatest is found and subtracted, the exponential is taken and summed, and the sum divides.",
        operations=5,
    )

    def infer(self, ctx: Context, data: Input) -> Shape:
        ctx.axis(self.axis, data.axis_count, attribute="axis")
        return data.shape

    def flow(self, flow: Flow, data: Input) -> None:
        flow.keep_all(data, but=[self.axis], why="normalises along")


@op("PRelu", "opset1")
class PRelu(_Parametric):
    """The element, or its product with a slope where it is negative."""

    slope = In()
    infer = as_first


@op("Relu", "opset1")
class Relu(UnaryArithmetic):
    """The element, or 0 where it is negative."""

    is_monotone = True

    def of_elements(self, element: Any) -> Any:
        return max(element, 0)

    def of_sizes(self, size: Size) -> Size:
        return dim_max(size, 0)


@op("Selu", "opset1")
class Selu(_Parametric):
    """Scaled exponential linear unit."""

    data = In(FLOAT)
    alpha = In(FLOAT, like="data")
    lambda_ = In(FLOAT, like="data")
    ignores_surplus = True
    infer = as_first


@op("Softmax", "opset1")
class SoftmaxV1(_Softmax):
    """Softmax along an axis counted from the front."""

    axis: int = 0

    def infer(self, ctx: Context, data: Input) -> Shape:
        if not 0 <= self.axis < data.axis_count:
            ctx.error("V102", f"axis must be in [0, {data.axis_count - 1}], got {self.axis}", attribute="axis")
        return data.shape


@op("Softmax", "opset8")
class SoftmaxV8(_Softmax):
    """Softmax along an axis."""


@op("Swish", "opset4")
class Swish(_Parametric):
    """x * sigmoid(beta * x)."""

    data = In(FLOAT)
    beta = In(FLOAT, optional=True)

    def infer(self, ctx: Context, data: Input, beta: Input | None) -> Shape:
        if beta is not None:
            if beta.element_type is not data.element_type:
                ctx.error("T102", f"beta has element type {beta.element_type}, data has {data.element_type}", port=beta)
            ctx.require_rank(beta, (0,))
        return data.shape


declare(globals(), UnaryArithmetic, {
    "Exp": ("opset1", "Exponential function."),
    "HSigmoid": ("opset5", "Hard sigmoid: min(max(x + 3, 0), 6) / 6."),
    "HSwish": ("opset4", "Hard swish: x * min(max(x + 3, 0), 6) / 6."),
    "Sigmoid": ("opset1", "1 / (1 + exp(-x))."),
})  # fmt: skip
declare(globals(), RealUnary, {
    "Mish": ("opset4", "x * tanh(softplus(x)).", {"ignores_surplus": False}),
    "SoftPlus": ("opset4", "log(1 + exp(x))."),
    "SoftSign": ("opset9", "x / (1 + abs(x))."),
})  # fmt: skip
declare(globals(), _Softmax, {"LogSoftmax": ("opset5", "Logarithm of the softmax along an axis.")})
