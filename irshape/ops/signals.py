"""Fourier transforms; the last axis of complex numbers, of size 2, holds real and imaginary parts."""

from collections.abc import Sequence
from typing import Annotated, ClassVar

from irshape.ops.attribute import Stated
from irshape.ops.context import Context
from irshape.ops.cost import Count, Outputs, elements, transforms
from irshape.ops.flow import Flow
from irshape.ops.op import In, Input, Op, Out, static
from irshape.ops.registry import declare, op
from irshape.shape.dim import Size, bounds, dim_max, dim_min, lt, narrow, product
from irshape.shape.element_type import FLOAT, INDEX, ElementType
from irshape.shape.guard import STATIC
from irshape.shape.shape import Shape

_REAL = frozenset({ElementType.f32, ElementType.f16, ElementType.bf16, ElementType.dynamic})


class _Fourier(Op):
    """A transform along some axes. First, each axis is cut or padded to its `signal_size`, unless that is -1."""

    data = In(_REAL, min_rank=2)
    axes = In(INDEX, rank=1, value=True)
    signal_size = In(INDEX, rank=1, value=True, optional=True)
    output = Out(like="data")
    openvino_checks = static("V103")

    # Axes of the data for the real and the imaginary part.
    last: ClassVar[int] = 1

    def infer(self, ctx: Context, data: Input, axes: Input, signal_size: Input | None) -> Shape:
        if signal_size is not None and axes.is_ranked and signal_size.is_ranked:
            message = "axes and signal_size must hold the same number of values"
            ctx.require_eq(axes.shape[0], signal_size.shape[0], message, code="V103")
        sizes = self.signal(ctx, data)
        count = axes.count
        if count is not None and count > len(sizes):
            ctx.fail("V103", f"axes must hold at most {len(sizes)} values, got {count}", port=axes)
        transformed = ctx.axes(axes, len(sizes))
        if transformed is None:
            return self.unknown(ctx, sizes, signal_size)
        given = [-1] * len(transformed) if signal_size is None else ctx.values(signal_size, len(transformed))
        wanted = {axis: _cut(ctx, sizes[axis], size) for axis, size in zip(transformed, given, strict=True)}
        return self.transformed(ctx, [wanted.get(axis, size) for axis, size in enumerate(sizes)], transformed, given)

    def flow(self, flow: Flow, data: Input, axes: Input, signal_size: Input | None) -> None:
        rank = data.rank - self.last
        flow.keep_all(data, but=[*flow.axes(axes, rank), *range(rank, data.rank)], why="transforms")
        flow.sizes(signal_size)

    def signal(self, ctx: Context, data: Input) -> Sequence[Size]:
        """The sizes of the axes that can be transformed."""
        ctx.require_eq(data.shape[-1], 2, "the last axis of data must hold the real and the imaginary part")
        return data.shape[:-1]

    def unknown(self, ctx: Context, sizes: Sequence[Size], signal_size: Input | None) -> Shape:
        """The shape if the axes are not known."""
        return (*ctx.unknown_shape(len(sizes)), 2)

    def transformed(self, ctx: Context, sizes: Sequence[Size], axes: Sequence[int], given: Sequence[Size]) -> Shape:
        """The shape of the result, from the sizes of the signal; `given` are the values of `signal_size`."""
        return (*sizes, 2)


@op("DFT", "opset7")
class DFT(_Fourier):
    """From complex numbers to complex numbers."""

    def unknown(self, ctx: Context, sizes: Sequence[Size], signal_size: Input | None) -> Shape:
        return (*sizes, 2) if signal_size is None else super().unknown(ctx, sizes, signal_size)

    def openvino_shapes(self, ctx: Context, shapes: Sequence[Shape], data: Input) -> Sequence[Shape]:
        return [(*shape[:-1], data.shape[-1]) for shape in shapes if shape is not None] or shapes

    def cost(self, out: Outputs, axes: Input) -> Count | None:
        """5*n*log2(n) operations for each transform of n complex numbers, if n is known."""
        return _transformed(out.shape[:-1], axes, is_real=False)


declare(globals(), DFT, {"IDFT": ("opset7", "The inverse of DFT.")})


@op("RDFT", "opset9")
class RDFT(_Fourier):
    """From real to complex numbers; the last transformed axis is halved, because its other half follows from symmetry."""

    data = In(_REAL, min_rank=1)
    last = 0

    def signal(self, ctx: Context, data: Input) -> Sequence[Size]:
        return data.shape

    def transformed(self, ctx: Context, sizes: Sequence[Size], axes: Sequence[int], given: Sequence[Size]) -> Shape:
        last = last_of(ctx, axes)
        size = sizes[last]
        half = size // 2 + 1
        # OpenVINO keeps an empty axis empty.
        return (*sizes[:last], half if bounds(size)[0] > 0 else dim_min(size, half), *sizes[last + 1 :], 2)

    def cost(self, out: Outputs, data: Input, axes: Input, signal_size: Input | None) -> Count | None:
        """2.5*n*log2(n) operations for each transform of n real numbers, if n is known."""
        sizes = list(data.shape)
        for axis, size in zip(axes.elements or (), (signal_size.elements or (None,)) if signal_size else (), strict=False):
            if size is None:
                return None
            sizes[axis] = sizes[axis] if size == -1 else size
        return _transformed(sizes, axes, is_real=True)


@op("IRDFT", "opset9")
class IRDFT(_Fourier):
    """The inverse of RDFT."""

    def unknown(self, ctx: Context, sizes: Sequence[Size], signal_size: Input | None) -> Shape:
        return ctx.unknown_shape(len(sizes))

    def transformed(self, ctx: Context, sizes: Sequence[Size], axes: Sequence[int], given: Sequence[Size]) -> Shape:
        last = last_of(ctx, axes)
        size = sizes[last]
        if _may_keep(given[-1]):
            whole = dim_max((size - 1) * 2, 0)
            size = whole if given[-1] == -1 else ctx.unknown(0, max(bounds(size)[1], bounds(whole)[1]))
        return (*sizes[:last], size, *sizes[last + 1 :])

    def cost(self, out: Outputs, axes: Input) -> Count | None:
        """2.5*n*log2(n) operations for each transform of n real numbers, if n is known."""
        return _transformed(out.shape, axes, is_real=True)


def _cut(ctx: Context, size: Size, wanted: Size) -> Size:
    """The size of an axis that is cut or padded to a `signal_size`."""
    if wanted == -1:
        return size
    return ctx.unknown(0, max(bounds(size)[1], bounds(wanted)[1])) if _may_keep(wanted) else ctx.dimension(wanted)


def _may_keep(wanted: Size) -> bool:
    """Whether a `signal_size` may be -1, which keeps the size of the axis."""
    low, high = bounds(wanted)
    return low <= -1 <= high


def last_of(ctx: Context, axes: Sequence[int]) -> int:
    """The last of the transformed axes, which is halved."""
    if not axes:
        ctx.fail("V103", "axes must hold at least one axis")
    return axes[-1]


def _transformed(sizes: Sequence[Size], axes: Input, *, is_real: bool) -> Count | None:
    """The count of transforms along axes of a tensor of these sizes."""
    if axes.elements is None:
        return None
    lengths = tuple([sizes[axis] for axis in axes.elements if isinstance(axis, int)])
    operations = transforms(product(sizes), lengths, real=is_real)
    return None if operations is None else Count(operations=operations)


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
    if not isinstance(length, int) or length < 0:
        return None
    each = length + (transforms(length, (length,), real=True) or 0)
    return Count(operations=numbers // (2 * (length // 2 + 1)) * each)
