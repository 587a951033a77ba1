"""Enlarging tensors, by repeating elements or by padding."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from irshape.ops.attribute import Spelled, Stated
from irshape.ops.context import Context
from irshape.ops.flow import OWN, Factor, Flow
from irshape.ops.op import In, Input, Moving, Out
from irshape.ops.registry import op
from irshape.shape.dim import Size, bounds, lt
from irshape.shape.element_type import ANY, BOOLEAN, INTEGER, ElementType
from irshape.shape.guard import BOUNDS, SKIPPED, STATIC, Looks, Requirement
from irshape.shape.shape import Shape
from irshape.shape.value import Elements, Pieces, broadcast_to, indices, padded, strides


class _Broadcast(Moving):
    """Repeat a tensor to a target shape; the mode says which axes of the two match."""

    data = In()
    target_shape = In(INTEGER, rank=1, value=True, pieces=True)
    axes_mapping = In(value=True, optional=True)
    output = Out(like="data")

    demands = ("data", "target_shape")

    def openvino_checks(self, ctx: Context, requirement: Requirement, axes_mapping: Input | None) -> Looks:
        is_mapped = self.mode in ("explicit", "none") and axes_mapping is not None  # type: ignore[attr-defined]
        is_numpy = self.mode == "numpy" or (self.mode in ("explicit", "none") and not is_mapped)  # type: ignore[attr-defined]
        return STATIC if requirement.code == "V103" or (requirement.code == "S202" and is_numpy) else BOUNDS

    def _target(self, ctx: Context, target_shape: Input) -> Shape:
        """The target. Only for these modes does OpenVINO look for the constants that a Concat joined."""
        if type(target_shape.elements) is Pieces and self.mode not in ("numpy", "bidirectional"):  # type: ignore[attr-defined]
            target_shape.elements = None
        return ctx.shape_in(target_shape)

    @staticmethod
    def stretch(ctx: Context, data: Input, target: Sequence[Size], axes: Sequence[int]) -> None:
        """Demand that each axis of the data is 1, or as long as the axis of the target that it is mapped to."""
        for size, axis in zip(data.shape, axes, strict=True):
            message = "axis {axis} of the target must be as long as the axis of data that is mapped to it, unless that is 1"
            ctx.require_stretch(size, target[axis], message, axis=axis)

    def numpy(self, ctx: Context, data: Input, target_shape: Input, target: Shape) -> Shape:
        """Axes match from the last one on; the data has no higher rank than the target."""
        if target is not None and data.is_ranked:
            start = len(target) - data.rank
            if start < 0:
                message = f"the target must have at least rank {data.rank}, got rank {len(target)}"
                if target_shape.elements is not None:
                    ctx.fail("S102", message)
                ctx.warn("R401", f"this never holds: {message}", port=target_shape)
                return target
            self.stretch(ctx, data, target, range(start, len(target)))
        return target

    def explicit(self, ctx: Context, data: Input, target_shape: Input, target: Shape, axes_mapping: Input) -> Shape:
        """Axis i of the data is axis `axes_mapping[i]` of the target."""
        if axes_mapping.element_type not in INTEGER:
            ctx.fail("T101", f"axes_mapping must not have element type {axes_mapping.element_type}", port=axes_mapping)
        ctx.require_rank(axes_mapping, (1,))
        if data.is_ranked and axes_mapping.is_ranked and target_shape.is_ranked and (data.rank or axes_mapping.shape != (0,)):
            wanted = data.axis_count  # one axis or none for a scalar
            ctx.require_eq(axes_mapping.shape[0], wanted, "axes_mapping must hold one value for each axis of data", code="V103")
        if not data.is_ranked or target is None or target_shape.elements is None:
            return target
        axes = ctx.known(axes_mapping)
        if axes is None or len(axes) not in (data.rank, data.axis_count):
            return target
        axes = ctx.readable(axes_mapping, axes)
        if list(axes) != sorted(axes):
            ctx.fail("V101", f"axes_mapping must be in ascending order, got {list(axes)}", port=axes_mapping)
        if any(not 0 <= axis < len(target) for axis in axes):
            ctx.fail("V102", f"axes_mapping must hold axes of the target in [0, {len(target) - 1}], got {list(axes)}", port=axes_mapping)
        if data.rank:
            self.stretch(ctx, data, target, axes)
        for axis in () if data.rank else axes:
            ctx.require_eq(target[axis], 1, "axis {axis} of the target must be 1, because data is a scalar that is mapped to it", axis=axis)
        return target

    def pdpd(self, ctx: Context, data: Input, target: Shape, is_target_known: bool) -> Shape:
        """The first axis of the data is the axis `mode_axis` of the target; -1 lets the last axes match. Either may stretch."""
        if target is None or not data.is_ranked or not is_target_known:
            return target and ctx.unknown_shape(len(target))
        start: int = self.mode_axis  # type: ignore[attr-defined]
        start = len(target) - data.rank if start == -1 else start
        if start < 0:
            ctx.fail("A104", f"the axis of the target where the data begins must be at least 0, got {start}")
        if data.rank < len(target) - start:
            ctx.fail("S102", f"the target must have at most rank {data.rank + start}, got rank {len(target)}")
        stretched = ctx.broadcast_shapes(data.shape[: max(len(target) - start, 0)], target[start:])
        return (*target[:start], *(stretched or ()))

    def propagate(self, ctx: Context, data: Input, target_shape: Input, axes_mapping: Input | None) -> Elements | None:
        if self.mode not in ("numpy", "bidirectional"):  # type: ignore[attr-defined]
            return None
        target = ctx.known(target_shape)
        if target is None or min(target, default=0) < 0:
            return None
        shape: Any = ctx.broadcast_shapes(data.shape, target)
        return broadcast_to(data.values, data.static_shape, shape)

    def flow(self, flow: Flow, data: Input, target_shape: Input, axes_mapping: Input | None) -> None:
        flow.sizes(target_shape)
        flow.repeats()
        if axes_mapping is not None and self.mode in ("explicit", "none"):  # type: ignore[attr-defined]
            for axis, to in zip(range(data.rank), flow.elements(axes_mapping), strict=False):
                flow.keep(data, axis, to)
        elif self.mode == "pdpd" and self.mode_axis != -1:  # type: ignore[attr-defined]
            for axis in range(data.rank):
                flow.keep(data, axis, axis + self.mode_axis)  # type: ignore[attr-defined]
        else:
            flow.broadcast(data)


@op("Broadcast", "opset1")
class BroadcastV1(_Broadcast):
    """Repeat a tensor to a target shape, mapping axes explicitly, as NumPy does, or as PaddlePaddle does."""

    axes_mapping = In(value=True, filled=True)
    ignores_surplus = True
    mode: Literal["none", "explicit", "numpy", "pdpd"] = "none"
    mode_axis: Annotated[int, Spelled("mode.auto_broadcast_axis")] = 0

    def infer(self, ctx: Context, data: Input, target_shape: Input, axes_mapping: Input | None) -> Shape:
        target = self._target(ctx, target_shape)
        if self.mode == "pdpd":
            if axes_mapping is None:
                ctx.fail("G107", "input 2 (axes_mapping) is missing; OpenVINO requires the input, but does not read its values")
            return self.pdpd(ctx, data, target, target_shape.elements is not None)
        if self.mode == "numpy" or axes_mapping is None:
            return self.numpy(ctx, data, target_shape, target)
        return self.explicit(ctx, data, target_shape, target, axes_mapping)


@op("Broadcast", "opset3")
class BroadcastV3(_Broadcast):
    """Repeat a tensor to a target shape, mapping axes explicitly, as NumPy does, or letting the target stretch too."""

    mode: Literal["numpy", "bidirectional", "explicit", "none", "pdpd"] = "numpy"
    mode_axis: Annotated[int, Spelled("mode.mode.axis")] = 0

    def infer(self, ctx: Context, data: Input, target_shape: Input, axes_mapping: Input | None) -> Shape:
        is_explicit = self.mode in ("explicit", "none")
        if is_explicit and axes_mapping is None:
            ctx.fail("G107", "input 2 (axes_mapping) is missing, which the explicit mode needs")
        if not is_explicit and axes_mapping is not None:
            ctx.fail("G108", f"input 2 (axes_mapping) must not be given in mode {self.mode}", port=axes_mapping)
        target = self._target(ctx, target_shape)
        if axes_mapping is not None:
            return self.explicit(ctx, data, target_shape, target, axes_mapping)
        if self.mode == "bidirectional":
            return ctx.broadcast_shapes(data, target, "data must broadcast with target_shape on axis {axis}")
        if self.mode == "numpy":
            return self.numpy(ctx, data, target_shape, target)
        return self.pdpd(ctx, data, target, target_shape.elements is not None)


@op("Tile", "opset1")
class Tile(Moving):
    """Repeat a tensor along its axes."""

    data = In()
    repeats = In(INTEGER | BOOLEAN, rank=1, value=True)
    output = Out(like="data")

    def infer(self, ctx: Context, data: Input, repeats: Input) -> Shape:
        ctx.check_readable(repeats)
        count = repeats.count
        if count is None:
            return None
        times = ctx.values(repeats, count)
        for index, repeat in enumerate(times):
            ctx.natural(repeats, index, repeat, is_lenient=True)
        rank = max(data.rank, count)
        sizes, times = (1,) * (rank - data.rank) + data.shape, (1,) * (rank - count) + times
        return tuple(size * ctx.saturate(repeat) for size, repeat in zip(sizes, times, strict=True))

    def flow(self, flow: Flow, data: Input, repeats: Input) -> None:
        times = flow.elements(repeats)
        flow.sizes(repeats)
        rank = max(data.rank, len(times))
        axes, times = ((OWN,),) * (rank - data.rank) + flow.trace(data), (1,) * (rank - len(times)) + times
        for to, (axis, repeat) in enumerate(zip(axes, times, strict=True)):
            flow.keep(data, to - rank, to, factors=tuple([one for one in (Factor(repeat), *axis) if one.size != 1]) or (OWN,))

    def openvino_shapes(self, ctx: Context, shapes: Sequence[Shape], repeats: Input) -> Sequence[Shape]:
        return [shape and ctx.unknown_shape(len(shape)) for shape in shapes] if repeats.elements is None else shapes

    def propagate(self, ctx: Context, data: Input, repeats: Input) -> Elements | None:
        times = ctx.known(repeats)
        if times is None:
            return None
        rank = max(data.rank, len(times))
        sizes, times = (1,) * (rank - data.rank) + data.static_shape, (1,) * (rank - len(times)) + times
        # An axis of the result has two indices: the copy, and the position in it.
        extents = [extent for size, repeat in zip(sizes, times, strict=True) for extent in (max(repeat, 0), size)]
        steps = [step for whole in strides(sizes) for step in (0, whole)]
        return tuple(data.values[place] for place in indices(extents, steps))


@op("Pad", "opset1", until="opset11")
class PadV1(Moving):
    """Put elements before and after each axis: a value, or elements of the data that the mode chooses."""

    data = In()
    pads_begin = In(INTEGER, rank=1, value=True)
    pads_end = In(INTEGER, rank=1, value=True)
    pad_value = In(filled=True)
    output = Out(like="data")
    pad_mode: Annotated[Literal["constant", "edge", "reflect", "symmetric"], Stated] = "constant"

    def infer(self, ctx: Context, data: Input, pads_begin: Input, pads_end: Input, pad_value: Input | None) -> Shape:
        if pad_value is None and not ctx.has_type(data, ANY - {ElementType.dynamic}):
            ctx.fail("T101", "data must have a known element type where there is no pad_value", port=data)
        if pad_value is not None and self.pad_mode == "constant":
            ctx.require_rank(pad_value, (0,))
            if ElementType.dynamic not in (pad_value.element_type, data.element_type) and pad_value.element_type is not data.element_type:
                ctx.fail("T102", f"pad_value has element type {pad_value.element_type}, data has {data.element_type}", port=pad_value)
        if self.pad_mode != "constant" and data.element_type is ElementType.string:
            ctx.fail("T101", f"pad_mode must be constant for strings, got {self.pad_mode}", port=data)
        pads = (pads_begin, pads_end)
        are_known = all(port.elements is not None or port.unreadable is not None for port in pads)
        # Whole bytes in place of two elements do no harm until both lists are known.
        ctx.check_readable(*[port for port in pads if are_known or port.element_type.bits != 4])
        for port in pads:
            count = port.count
            if count is not None and count > data.rank:
                ctx.fail("V103", f"{port.name} must hold {data.rank} values, got {count}", port=port)
        if pads_begin.elements is None or pads_end.elements is None:
            return ctx.unknown_shape(data.rank)
        begins, ends = ctx.values(pads_begin, data.rank), ctx.values(pads_end, data.rank)
        return tuple([self._padded(ctx, axis, *sizes) for axis, sizes in enumerate(zip(data.shape, begins, ends, strict=True))])

    def flow(self, flow: Flow, data: Input, pads_begin: Input, pads_end: Input) -> None:
        pads = [(*flow.elements(port), *[0] * data.rank) for port in (pads_begin, pads_end)]
        padded = [axis for axis, both in enumerate(zip(*pads, strict=False)) if axis < data.rank and both != (0, 0)]
        flow.keep_all(data, but=padded, why="pads")

    def openvino_checks(self, ctx: Context, requirement: Requirement, pads_begin: Input, pads_end: Input) -> Looks:
        """OpenVINO checks the elements that the mode repeats if the sizes are static, and an edge if it knows that a pad repeats it."""
        if requirement.code != "S203":
            return BOUNDS
        axis: Any = requirement.names["axis"]
        repeats = self.pad_mode != "edge" or any(bounds(port.numbers[axis])[0] > 0 for port in (pads_begin, pads_end))
        return STATIC if repeats else SKIPPED

    def types(self, ctx: Context, data: Input, pads_begin: Input, pads_end: Input, pad_value: Input | None) -> ElementType:
        """The element type of the data, or of the value it is padded with."""
        is_unknown = data.element_type is ElementType.dynamic and self.pad_mode == "constant"
        return pad_value.element_type if is_unknown and pad_value is not None else data.element_type

    def _padded(self, ctx: Context, axis: int, size: Size, begin: Size, end: Size) -> Size:
        """The size of an axis with its pads."""
        total = size + begin + end
        if self.pad_mode == "edge" and (lt(0, begin), lt(0, end)) != (False, False):
            ctx.require_ge(size, 1, "axis {axis} must not be empty, because the pads repeat its edge", axis=axis)
        if self.pad_mode in ("reflect", "symmetric"):
            longest = size - 1 if self.pad_mode == "reflect" else size
            for port, pad in (("pads_begin", begin), ("pads_end", end)):
                ctx.require_ge(longest, pad, "axis {axis} must be long enough for the elements that {port} repeats", axis=axis, port=port)
        with ctx.assumes():
            ctx.require_ge(total, 0, "the pads of axis {axis} must not cut off more elements than the axis has", axis=axis)
        if ctx.scope.has_intervals_only and bounds(total)[1] < 0:
            return ctx.unknown()
        return ctx.saturate(total)

    def propagate(self, ctx: Context, data: Input, pads_begin: Input, pads_end: Input, pad_value: Input | None) -> Elements | None:
        begins, ends = ctx.known(pads_begin), ctx.known(pads_end)
        if self.pad_mode != "constant" or begins is None or ends is None:
            return None
        fill = 0 if pad_value is None else pad_value.values[0]
        return padded(data.values, data.static_shape, begins, ends, fill)


@op("Pad", "opset12")
class PadV12(PadV1):
    """Pad; a negative pad cuts elements off."""
