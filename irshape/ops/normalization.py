"""Normalizations; each keeps the shape of its data."""

from collections.abc import Sequence
from typing import Annotated, Literal

from irshape.ops.attribute import Fixed, Stated
from irshape.ops.context import Context
from irshape.ops.cost import Count, Outputs, each
from irshape.ops.flow import Flow, along_first
from irshape.ops.op import In, Input, Op, Out, as_first, static
from irshape.ops.registry import op
from irshape.shape.element_type import FLOAT, INTEGER
from irshape.shape.guard import BOUNDS, Looks, Requirement
from irshape.shape.shape import Shape


class BatchNorm(Op):
    """The data normalized by statistics of each channel, then scaled and shifted."""

    epsilon: Annotated[float, Stated] = 0.0
    cost = each("2 operations for each element: it is scaled and shifted by numbers that are known before the model runs.", operations=2)

    def infer(self, ctx: Context, *inputs: Input) -> Shape:
        """The shape of the data; each parameter holds one value for each channel."""
        data = next(port for port in inputs if port.name == "data")
        if not self.epsilon >= 0:
            ctx.error("A104", f"epsilon must not be negative, got {self.epsilon}", attribute="epsilon")
        shape = None
        for parameter in (port for port in inputs if port is not data):
            shape = ctx.merge_shapes(shape, parameter, "gamma, beta, mean and variance must have the same length")
        if shape is not None:
            ctx.require_ge(shape[0], 1, "there must be at least one channel")
        batch, channels, *spatial = data.shape
        if shape is not None:
            channels = ctx.merge(channels, shape[0], "gamma must hold one value for each channel of data")
        else:
            ctx.require_ge(channels, 1, "there must be at least one channel")
        return (batch, channels, *spatial)

    def flow(self, flow: Flow, *inputs: Input) -> None:
        flow.keep_all(next(port for port in flow.ports if port.name == "data"))


@op("BatchNormInference", "opset1")
class BatchNormInferenceV0(BatchNorm):
    """Batch normalization, in the order gamma, beta, data, mean, variance."""

    gamma = In(FLOAT, rank=1, like="data")
    beta = In(FLOAT, rank=1, like="data")
    data = In(FLOAT, min_rank=2)
    mean = In(FLOAT, rank=1, like="data")
    variance = In(FLOAT, rank=1, like="data")
    output = Out(like="data")


@op("BatchNormInference", "opset5")
class BatchNormInferenceV5(BatchNorm):
    """Batch normalization, the data first."""

    data = In(FLOAT, min_rank=2)
    gamma = In(FLOAT, rank=1, like="data")
    beta = In(FLOAT, rank=1, like="data")
    mean = In(FLOAT, rank=1, like="data")
    variance = In(FLOAT, rank=1, like="data")
    output = Out(like="data")


@op("GRN", "opset1")
class GRN(Op):
    """Normalization by the L2 norm over the channels."""

    data = In(ranked=True)
    output = Out(like="data")
    bias: Annotated[float, Stated] = 1.0
    cost = each("3 operations for each element: it is squared, summed and divided.", operations=3)

    def infer(self, ctx: Context, data: Input) -> Shape:
        ctx.require_rank(data, (2, 3, 4))
        return data.shape

    def flow(self, flow: Flow, data: Input) -> None:
        flow.keep_all(data, but=[1], why="normalises along")


@op("GroupNormalization", "opset12")
class GroupNormalization(Op):
    """The data normalized over groups of channels, then scaled and shifted channel by channel."""

    data = In(min_rank=2)
    scale = In(rank=1)
    bias = In(rank=1)
    output = Out(like="data")
    num_groups: int
    epsilon: Annotated[float, Stated] = 0.0
    cost = each("7 operations for each element: those of an MVN with its deviation, a scale and a shift.", operations=7)
    flow = along_first("normalises along")

    def infer(self, ctx: Context, data: Input, scale: Input, bias: Input) -> Shape:
        ctx.at_least(self.num_groups, 1, "num_groups")
        merged = ctx.merge_shapes(scale, bias, "scale and bias must have the same length")
        batch, channels, *spatial = data.shape
        if merged is not None:
            channels = ctx.merge(channels, merged[0], "scale must hold one value for each channel of data")
        ctx.require_div(channels, self.num_groups, "the channels must be a multiple of num_groups")
        return (batch, channels, *spatial)

    def openvino_checks(self, ctx: Context, requirement: Requirement, data: Input) -> Looks:
        return [data.shape[1]] if requirement.code == "S204" else BOUNDS

    def openvino_shapes(self, ctx: Context, shapes: Sequence[Shape], data: Input) -> Sequence[Shape]:
        return [data.partial_shape]


@op("LRN", "opset1")
class LRN(Op):
    """Local response normalization over a window along some axes."""

    data = In()
    axes = In(INTEGER, value=True, packed=True)
    output = Out(like="data")
    ignores_surplus = True
    alpha: Annotated[float, Stated] = 0.0
    beta: Annotated[float, Stated] = 0.0
    bias: Annotated[float, Stated] = 0.0
    size: Annotated[int, Stated] = 0
    openvino_checks = static("S101", "V103")

    def infer(self, ctx: Context, data: Input, axes: Input) -> Shape:
        ctx.require_rank(axes, (1,))
        if axes.known_rank == 1:
            ctx.require_ge(data.rank, axes.shape[0], "axes must hold at most {a} values", code="V103")
        known = ctx.known(axes)
        if known is None and data.rank < 2:
            message = f"data must have at least rank 2, got rank {data.rank}: OpenVINO checks axis 1 in place of axes that it does not know"
            ctx.fail("S101", message, port=data)
        for axis in ctx.readable(axes, known or ()):
            if axis >= data.rank:
                ctx.error("V102", f"axes must be in [{-data.rank}, {data.rank - 1}], got {axis}", port=axes)
            elif axis < -data.rank:
                ctx.warn("R201", f"axes must be in [{-data.rank}, {data.rank - 1}], got {axis}", port=axes)
        return data.shape

    def flow(self, flow: Flow, data: Input, axes: Input) -> None:
        flow.keep_all(data, but=flow.axes(axes, data.rank), why="normalises along")

    def cost(self, out: Outputs, axes: Input) -> Count | None:
        """For each element 1 operation for every element of its window, and 3: a square, the power of the sum, and a quotient."""
        return None if axes.count is None else Count(operations=out.elements * (self.size**axes.count + 3))


class _MVN(Op):
    """The data minus its mean, divided by its deviation if `normalize_variance` is true."""

    data = In()
    output = Out(like="data")
    eps: Annotated[float, Stated] = 0.0
    normalize_variance: Annotated[bool, Fixed] = False

    def cost(self, out: Outputs, *inputs: Input) -> Count:
        """2 operations for each element, to sum and to subtract; with the deviation 5: it is also squared, summed and divided."""
        return Count(operations=(5 if self.normalize_variance else 2) * out.elements)


@op("MVN", "opset2", also="opset1", until="opset5")
class MVNV0(_MVN):
    """The data minus its mean, divided by its deviation if `normalize_variance` is true."""

    across_channels: bool = False
    normalize_variance: Annotated[bool, Stated] = False
    reduction_axes: tuple[int, ...] = ()
    infer = as_first

    def flow(self, flow: Flow, data: Input) -> None:
        flow.keep(data, 0, 0)
        if not self.across_channels and not self.reduction_axes:
            flow.keep(data, 1, 1)
        flow.mixes(data, "normalises along")


@op("MVN", "opset6")
class MVNV6(_MVN):
    """The data minus its mean over some axes, divided by its deviation if `normalize_variance` is true.

    When it reads the model, OpenVINO checks only the number of axes.
    """

    axes = In(value=True)
    normalize_variance: Annotated[bool, Stated] = False
    eps_mode: Annotated[Literal["INSIDE_SQRT", "OUTSIDE_SQRT"], Stated] = "INSIDE_SQRT"
    openvino_checks = static("S101", "V103")
    flow = LRN.flow

    def infer(self, ctx: Context, data: Input, axes: Input) -> Shape:
        ctx.require_rank(axes, (1,))
        if axes.known_rank == 1:
            ctx.require_ge(data.rank, axes.shape[0], "axes must hold at most {a} values", code="V103")
        ctx.axes_at_run(axes, data.rank)
        return data.shape


@op("NormalizeL2", "opset1")
class NormalizeL2(Op):
    """The data divided by its L2 norm over some axes."""

    data = In()
    axes = In(value=True)
    output = Out(like="data")
    eps: Annotated[float, Stated] = 0.0
    eps_mode: Annotated[Literal["add", "max"], Stated] = "add"
    cost = each("3 operations for each element: it is squared, summed and divided.", operations=3)
    flow = LRN.flow

    def infer(self, ctx: Context, data: Input, axes: Input) -> Shape:
        ctx.require_rank(axes, (0, 1))
        if not data.is_ranked:
            return None
        ctx.axes(axes, data.rank, unique=False)
        return data.shape
