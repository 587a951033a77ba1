"""Putting elements into a tensor by their indices."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from irshape.ops.attribute import Fixed
from irshape.ops.context import Context, Uncomputable
from irshape.ops.cost import Count, Outputs, elements
from irshape.ops.elementwise import UNFOLLOWED_BYTES
from irshape.ops.flow import Flow
from irshape.ops.movement.gather import tuple_length
from irshape.ops.op import Assembling, In, Input, Out
from irshape.ops.registry import op
from irshape.shape.dim import Dim, origins
from irshape.shape.element_type import BOOLEAN, INDEX, INTEGER, ElementType
from irshape.shape.guard import Looks, Requirement
from irshape.shape.polynomial import UNBACKED
from irshape.shape.shape import Shape
from irshape.shape.value import Elements, gathered, replaced, strides
from irshape.shape.value import indices as flat_indices


def counted(
    ctx: Context, data: Input, indices: Input, wanted: Sequence[int], size: int, *, low: int | None = None
) -> tuple[int, ...] | None:
    """Indices into an axis, counted from the front. `low` is the least that OpenVINO takes, the negative size if it is not given.

    OpenVINO refuses an index outside the axis where it follows the elements of the data.
    """
    low = -size if low is None else low
    for index in wanted:
        if not low <= index < size:
            message = f"{indices.name} must be in [{low}, {size - 1}], got {index}"
            if any(isinstance(element, Dim) and origins(element) & UNBACKED for element in data.values):
                ctx.warn("R401", message, port=indices)
                return None
            raise Uncomputable("V101", message, indices)
    return tuple([index % size for index in wanted])


def places(data: Input) -> tuple[int, ...]:
    """The flat positions of all elements."""
    return tuple(range(len(data.values)))


@op("ScatterUpdate", "opset3")
class ScatterUpdate(Assembling):
    """Replace the slices along an axis that the indices name."""

    data = In()
    indices = In(INTEGER, ends=True)
    updates = In(like="data")
    axis = In(INTEGER, value=True, packed=True)
    output = Out(like="data", alone=True)
    ignores_surplus = True

    def infer(self, ctx: Context, data: Input, indices: Input, updates: Input, axis: Input) -> Shape:
        ctx.single(axis)
        along = ctx.axis_in(axis, data.rank) if data.is_ranked else None
        if along is not None:
            ctx.expect_within(indices, [data.shape[along]], low=0)
        if indices.is_ranked and updates.is_ranked:
            ctx.require_rank(updates, (data.rank + indices.rank - 1,), "S102")
            if along is not None:
                wanted = (*data.shape[:along], *indices.shape, *data.shape[along + 1 :])
                ctx.merge_shapes(
                    updates, wanted, "axis {axis} of updates must be as long as the same axis of the slices of data that the indices name"
                )
        return data.shape

    def flow(self, flow: Flow, data: Input, indices: Input, updates: Input, axis: Input) -> None:
        along = flow.axes(axis, data.rank)[0]
        flow.keep_all(data, but=[along], why="writes into a part of")
        for place in range(updates.rank):
            if not along <= place < along + indices.rank:
                flow.keep(updates, place, place if place < along else place - indices.rank + 1)
        flow.mixes(indices, "takes as places")

    def propagate(self, ctx: Context, data: Input, indices: Input, updates: Input, axis: Input) -> Elements | None:
        wanted, along, sizes = ctx.known(indices), ctx.axis_in(axis, data.rank), data.static_shape
        if wanted is None or along is None:
            return None
        positions = counted(ctx, data, indices, wanted, sizes[along], low=0)
        return None if positions is None else replaced(data.values, gathered(places(data), sizes, positions, along), updates.values)


@op("ScatterElementsUpdate", "opset3", until="opset11")
class ScatterElementsUpdateV3(Assembling):
    """Replace one element along an axis for each index."""

    unfollowed = UNFOLLOWED_BYTES - {ElementType.i16}

    data = In()
    indices = In(INTEGER | BOOLEAN, ends=True)
    updates = In(like="data")
    axis = In(INTEGER | BOOLEAN, value=True)
    output = Out(like="data")

    reduction: Annotated[str, Fixed] = "none"

    def infer(self, ctx: Context, data: Input, indices: Input, updates: Input, axis: Input) -> Shape:
        along = self._along(ctx, axis, data)
        if data.is_ranked:
            ctx.require_rank(indices, (data.rank,), "S102")
        if along is not None and data.rank:
            ctx.expect_within(indices, [data.shape[along]])
        ctx.merge_shapes(indices, updates, "indices and updates must be equal on axis {axis}")
        return data.shape

    def flow(self, flow: Flow, data: Input, indices: Input, updates: Input, axis: Input) -> None:
        along = flow.axes(axis, data.axis_count)
        flow.keep_all(data, but=along, why="writes into a part of")
        for port in (indices, updates):
            flow.keep_all(port, but=along, why="writes along")
        if flow.is_batched(data) and not flow.is_batched(indices):
            flow.mixed("writes into the first samples of {batch} only")

    @staticmethod
    def _along(ctx: Context, axis: Input, data: Input) -> int | None:
        """The axis, which is the first value of the input; None if it is not known."""
        ctx.require_rank(axis, (0, 1))
        for size in axis.shape if axis.is_ranked else ():
            ctx.expect(size, 1, "axis must hold one value", axis)
        known = ctx.known(axis) if data.is_ranked else None
        return ctx.axis(ctx.integers(axis, known)[0], data.axis_count, axis.name, port=axis) if known else None

    def propagate(self, ctx: Context, data: Input, indices: Input, updates: Input, axis: Input) -> Elements | None:
        wanted, along = ctx.known(indices), self._along(ctx, axis, data)
        if wanted is None or along is None or not data.rank or self.reduction != "none":
            return None
        positions = counted(ctx, data, indices, wanted, data.static_shape[along])
        if positions is None:
            return None
        steps = strides(data.static_shape)
        along_step, steps = steps[along], (*steps[:along], 0, *steps[along + 1 :])
        starts = flat_indices(indices.static_shape, steps)
        return replaced(
            data.values, (start + position * along_step for start, position in zip(starts, positions, strict=True)), updates.values
        )

    def cost(self, out: Outputs, updates: Input) -> Count:
        """1 operation for each update if `reduction` combines it with the data; else elements are moved."""
        return Count(operations=0 if self.reduction == "none" else elements(updates))


@op("ScatterElementsUpdate", "opset12")
class ScatterElementsUpdateV12(ScatterElementsUpdateV3):
    """Combine one element along an axis with an update for each index."""

    reduction: Literal["none", "sum", "prod", "min", "max", "mean"] = "none"
    use_init_val: bool = True


@op("ScatterNDUpdate", "opset4", until="opset14")
class ScatterNDUpdateV3(Assembling):
    """Replace slices named by tuples of indices, which stand on the last axis."""

    data = In(min_rank=1)
    indices = In(INDEX, min_rank=1, ends="tuples")
    updates = In(like="data")
    output = Out(like="data")
    ignores_surplus = True

    reduction: Annotated[str, Fixed] = "none"

    def infer(self, ctx: Context, data: Input, indices: Input, updates: Input) -> Shape:
        if not indices.is_ranked or not data.is_ranked:
            return data.shape
        length = tuple_length(ctx, indices, data.rank)
        if isinstance(length, Dim):
            if not updates.is_ranked or indices.rank == 1:  # one tuple may name an element, and then updates may have any shape
                return data.shape
            rank = data.rank + indices.rank - 1 - updates.rank
            message = "the last axis of indices must be rank(data) + rank(indices) - rank(updates) - 1"
            ctx.require_eq(length, rank, message, code="S102")
            if not 0 <= rank <= data.rank:
                return data.shape
            length = rank
        ctx.expect_within(indices, data.shape[:length])
        wanted = (*indices.shape[:-1], *data.shape[length:])
        if wanted:  # OpenVINO does not look at the updates of one element
            ctx.require_rank(updates, (len(wanted),), "S102")
            ctx.merge_shapes(
                updates, wanted, "axis {axis} of updates must be as long as the same axis of the slices of data that the indices name"
            )
        return data.shape

    def flow(self, flow: Flow, data: Input, indices: Input, updates: Input) -> None:
        length = indices.shape[-1]
        if not isinstance(length, int):
            flow.unproven("the length of its tuples of indices is not known")
        for axis in range(length, data.rank):
            flow.keep(data, axis, axis)
            if updates.rank > (place := axis - length + indices.rank - 1):
                flow.keep(updates, place, axis)
        flow.mixes(data, "writes into a part of")
        flow.mixes(indices, "takes as places")

    def openvino_checks(self, ctx: Context, requirement: Requirement, indices: Input) -> Looks:
        return [indices.shape[-1]]

    def propagate(self, ctx: Context, data: Input, indices: Input, updates: Input) -> Elements | None:
        wanted, sizes, length = ctx.known(indices), data.static_shape, indices.static_shape[-1]
        if wanted is None or self.reduction != "none" or length == 0:
            return None
        steps = strides(sizes)
        starts = []
        for first in range(0, len(wanted), length):
            index = wanted[first : first + length]
            parts = [counted(ctx, data, indices, (part,), size) for part, size in zip(index, sizes, strict=False)]
            if None in parts:
                return None
            starts.append(sum(part[0] * step for part, step in zip(parts, steps, strict=False) if part is not None))
        return replaced(data.values, self._slices(starts, steps[length - 1]), updates.values)

    @staticmethod
    def _slices(starts: list[int], length: int) -> Iterator[int]:
        """The flat positions of slices of equal length."""
        return (place for start in starts for place in range(start, start + length))

    def cost(self, out: Outputs, updates: Input) -> Count:
        """1 operation for each update if `reduction` combines it with the data; else elements are moved."""
        return Count(operations=0 if self.reduction == "none" else elements(updates))


@op("ScatterNDUpdate", "opset15")
class ScatterNDUpdateV15(ScatterNDUpdateV3):
    """Combine slices named by tuples of indices with updates."""

    reduction: Literal["none", "sum", "sub", "prod", "min", "max"] = "none"
