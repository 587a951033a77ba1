"""Short-time Fourier transforms: the spectrum of a signal over time."""

from collections.abc import Sequence
from typing import Annotated

from irshape.ops.attribute import Stated
from irshape.ops.context import Context
from irshape.ops.cost import Count, Outputs, elements, transforms
from irshape.ops.flow import Flow
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.dim import Size, dim_max, lt, narrow
from irshape.shape.element_type import FLOAT, INDEX
from irshape.shape.guard import STATIC
from irshape.shape.shape import Shape


def _frame_number(ctx: Context, port: Input) -> Size:
    """The size or the step of frames, which must be positive."""
    if port.elements is None:
        return ctx.unknown(1)
    number = ctx.scalar(port)
    ctx.require_ge(number, 1, "{port} must be at least 1", code="V101", port=port.name)
    return narrow(number, 1) if lt(number, 1) is not True else ctx.unknown(1)


def _check_window(ctx: Context, window: Input, size: Size) -> None:
    """Demand that a window has at least one element, and no more than a frame."""
    if window.is_ranked:
        for smaller, larger in ((1, window.shape[0]), (window.shape[0], size)):
            with ctx.openvino_checks(at=STATIC):
                ctx.require_ge(larger, smaller, "the window must have 1 to {size} elements", size=size)


@op("STFT", "opset15")
class STFT(Op):
    """The spectrum of each frame of a signal, as complex numbers: [frames, frequencies, 2], or transposed, after the batch."""

    signal = In(FLOAT)
    window = In(FLOAT, rank=1, like="signal")
    frame_size = In(INDEX, rank=0, value=True)
    frame_step = In(INDEX, rank=0, value=True)
    output = Out(like="signal")
    transpose_frames: Annotated[bool, Stated] = False

    def infer(self, ctx: Context, signal: Input, window: Input, frame_size: Input, frame_step: Input) -> Shape:
        ctx.require_rank(signal, (1, 2))
        *batch, length = signal.shape
        with ctx.openvino_checks(when=ctx.known(frame_size) is not None and ctx.known(frame_step) is not None):
            size, step = _frame_number(ctx, frame_size), _frame_number(ctx, frame_step)
            if frame_size.elements is not None and frame_step.elements is not None:
                ctx.require_ge(length, size, "a frame must not be longer than the signal")
                ctx.stop_at_errors()
                _check_window(ctx, window, size)
        frames = ctx.saturate(length - size) // step + 1
        frequencies = size // 2 + 1
        return (*batch, frequencies, frames, 2) if self.transpose_frames else (*batch, frames, frequencies, 2)

    def flow(self, flow: Flow, signal: Input) -> None:
        if signal.rank == 2:
            flow.keep(signal, 0, 0)
        flow.mixes(signal, "transforms")

    def openvino_shapes(self, ctx: Context, shapes: Sequence[Shape], frame_size: Input, frame_step: Input) -> Sequence[Shape]:
        if ctx.known(frame_size) is not None and ctx.known(frame_step) is not None:
            return shapes
        return [(*shape[:-3], *ctx.unknown_shape(2), 2) for shape in shapes if shape is not None] or shapes

    def cost(self, out: Outputs, frame_size: Input) -> Count | None:
        """For each frame of n numbers, if n is known, n operations for the window and 2.5*n*log2(n) for the transform."""
        return _framed(out.elements, frame_size)


@op("ISTFT", "opset16")
class ISTFT(Op):
    """The signal with the given spectra [frequencies, frames, 2], after the batch."""

    data = In(FLOAT)
    window = In(FLOAT, rank=1, like="data")
    frame_size = In(INDEX, rank=0, value=True)
    frame_step = In(INDEX, rank=0, value=True)
    signal_length = In(INDEX, value=True, optional=True)
    output = Out(like="data")
    center: Annotated[bool, Stated] = False
    normalized: Annotated[bool, Stated] = False

    def infer(self, ctx: Context, data: Input, window: Input, frame_size: Input, frame_step: Input, signal_length: Input | None) -> Shape:
        ctx.require_rank(data, (3, 4))
        if signal_length is not None and data.is_ranked:
            ctx.single(signal_length)
        with ctx.openvino_checks(at=[frame_size]):
            size = _frame_number(ctx, frame_size)
        with ctx.openvino_checks(at=[frame_step]):
            step = _frame_number(ctx, frame_step)
        ctx.stop_at_errors()
        if frame_size.elements is not None:
            _check_window(ctx, window, size)
        *batch, frequencies, frames, parts = data.shape
        ctx.expect(parts, 2, "the last axis must hold the real and the imaginary part", data)
        if frame_size.elements is not None:
            message = "frames of {size} elements must have {size} // 2 + 1 frequencies"
            with ctx.openvino_checks(at=[*data.shape, size]):
                ctx.require_eq(frequencies, size // 2 + 1, message, size=size)
        if signal_length is not None:
            return (*batch, ctx.dimension(ctx.scalar(signal_length)))
        length = dim_max(frames - 1, 0) * step + size
        return (*batch, length - size // 2 * 2 if self.center else length)

    def flow(self, flow: Flow, data: Input) -> None:
        if data.rank == 4:
            flow.keep(data, 0, 0)
        flow.mixes(data, "transforms")

    def openvino_shapes(
        self, ctx: Context, shapes: Sequence[Shape], frame_size: Input, frame_step: Input, signal_length: Input | None
    ) -> Sequence[Shape]:
        if signal_length is not None or (ctx.known(frame_size) is not None and ctx.known(frame_step) is not None):
            return shapes
        return [(*shape[:-1], ctx.unknown()) for shape in shapes if shape is not None] or shapes

    def cost(self, out: Outputs, data: Input, frame_size: Input) -> Count | None:
        """For each frame of n numbers, if n is known, n operations for the window and 2.5*n*log2(n) for the transform."""
        return _framed(elements(data), frame_size)


def _framed(numbers: Size, frame_size: Input) -> Count | None:
    """The count of the transforms of all frames, whose spectra have so many `numbers`."""
    (length,) = frame_size.elements or (None,)
    if not isinstance(length, int):
        return None
    each = length + (transforms(length, (length,), real=True) or 0)
    return Count(operations=numbers // (2 * (length // 2 + 1)) * each)
