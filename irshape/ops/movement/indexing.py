"""Elements by their indices: taking them out of a tensor, putting them in, and finding the distinct ones."""

from collections.abc import Sequence
from math import inf
from typing import Annotated, Any, Final, Literal

from irshape.ops.attribute import Fixed, IndexType, Stated
from irshape.ops.context import Context, Uncomputable
from irshape.ops.cost import Count, Outputs, elements, moved
from irshape.ops.elementwise import UNFOLLOWED, UNFOLLOWED_BYTES
from irshape.ops.flow import Flow, mixing
from irshape.ops.op import Assembling, In, Input, Moving, Op, Out
from irshape.ops.registry import op
from irshape.shape.dim import Dim, Size, are_known, bounds, origins, product
from irshape.shape.element_type import BOOLEAN, INDEX, INTEGER, ElementType
from irshape.shape.guard import BOUNDS, SKIPPED, STATIC, Looks, Requirement
from irshape.shape.polynomial import UNBACKED
from irshape.shape.shape import Shape
from irshape.shape.value import Elements, gathered, replaced, strides
from irshape.shape.value import indices as flat_indices


def tuple_length(ctx: Context, indices: Input, rank: int) -> Size:
    """How many indices a tuple has, which are at most so many as there are axes to index."""
    length = indices.shape[-1]
    ctx.require_ge(rank, length, "data must have an axis for each index of a tuple", code="S101")
    ctx.stop_at_errors()
    return length


_AN_AXIS_BEHIND: Final = "data must have an axis behind the batch axes"


@op("Gather", "opset1", until="opset6")
class GatherV1(Moving):
    """Take slices along an axis; the axes of the indices stand in its place."""

    data = In()
    indices = In(ends=True)
    axis = In(value=True)
    output = Out(like="data")

    batch_dims: Annotated[int, Fixed] = 0
    unfollowed = UNFOLLOWED

    def infer(self, ctx: Context, data: Input, indices: Input, axis: Input) -> Shape:
        along = ctx.axis_in(axis, data.known_rank)
        batch = self.batch_dims
        if indices.is_ranked:
            batch += indices.rank if batch < 0 else 0
            if not 0 <= batch <= indices.rank:
                ctx.fail("A104", f"batch_dims must be in [{-indices.rank}, {indices.rank}], got {self.batch_dims}", attribute="batch_dims")
        front = along if data.is_ranked else next(iter(ctx.known(axis) or ()), None)
        if front is not None and batch > front >= 0:
            ctx.fail("A104", f"batch_dims must be at most the axis {front}, got {batch}", attribute="batch_dims")
        if not data.is_ranked or not indices.is_ranked:
            return None
        ctx.require_ge(data.rank, batch + 1, _AN_AXIS_BEHIND, code="S101", batch=batch)
        ctx.stop_at_errors()
        merged = ctx.merge_shapes(data.shape[:batch], indices.shape[:batch], "data and indices must be equal on the batch axis {axis}")
        assert merged is not None
        if along is None:
            return (*merged, *ctx.unknown_shape(data.rank + indices.rank - 1 - 2 * batch))
        ctx.expect_within(indices, [data.shape[along]])
        return (*merged, *data.shape[batch:along], *indices.shape[batch:], *data.shape[along + 1 :])

    def flow(self, flow: Flow, data: Input, indices: Input, axis: Input) -> None:
        along, batch = flow.axes(axis, data.rank)[0], self.batch_dims % max(indices.rank, 1) if self.batch_dims < 0 else self.batch_dims
        for place in range(data.rank):
            if place != along:
                flow.keep(data, place, place if place < along else place + indices.rank - batch - 1)
        flow.mixes(data, "gathers along")
        if not batch and flow.picks(data, along, indices, along):
            return
        for place in range(indices.rank):
            flow.keep(indices, place, place if place < batch else along + place - batch)

    def openvino_checks(self, ctx: Context, requirement: Requirement, data: Input, indices: Input, axis: Input) -> Looks:
        """OpenVINO looks for an axis behind the batch axes if it knows the axis, or cannot make the output."""
        if requirement.template == _AN_AXIS_BEHIND:
            batch: Any = requirement.names["batch"]
            is_read = bool(axis.elements) and are_known(axis.elements or ())
            return BOUNDS if is_read or data.rank + indices.rank <= batch else SKIPPED
        return STATIC if requirement.code in ("S101", "V103") else BOUNDS

    def propagate(self, ctx: Context, data: Input, indices: Input, axis: Input) -> Elements | None:
        wanted, along = ctx.known(indices), ctx.axis_in(axis, data.rank)
        if wanted is None or along is None or self.batch_dims not in (0, -indices.rank):
            return None
        if axis.element_type.is_real:
            raise Uncomputable("T101", f"{axis.name} must hold integers, got {axis.element_type}", axis)
        size = data.static_shape[along]
        positions = [index % size if -size <= index < size else size for index in wanted]
        return gathered(data.values, data.static_shape, positions, along)


@op("Gather", "opset7", until="opset7")
class GatherV7(GatherV1):
    """Gather within batches: the first `batch_dims` axes of data and indices are the same."""

    indices = In(INTEGER, ends=True)
    axis = In(INTEGER, value=True)
    batch_dims: int = 0


@op("Gather", "opset8")
class GatherV8(GatherV7):
    """Gather; negative indices count from the end."""


@op("GatherElements", "opset6")
class GatherElements(Op):
    """Take one element along an axis for each index; data and indices are equal on the other axes."""

    data = In(min_rank=1)
    indices = In(INDEX - {ElementType.dynamic}, min_rank=1, ends=True)
    output = Out(like="data")
    axis: Annotated[int, Stated] = 0
    cost = moved

    def infer(self, ctx: Context, data: Input, indices: Input) -> Shape:
        if not data.is_ranked:
            return indices.shape
        axis = ctx.axis(self.axis, data.rank, attribute="axis")
        ctx.expect_within(indices, [data.shape[axis]])
        if not indices.is_ranked:
            return (*data.shape[:axis], ctx.unknown(), *data.shape[axis + 1 :])
        ctx.require_rank(indices, (data.rank,), "S102")
        source = (*data.shape[:axis], indices.shape[axis], *data.shape[axis + 1 :])
        return ctx.merge_shapes(indices, source, "data and indices must be equal on axis {axis}")

    def flow(self, flow: Flow, data: Input, indices: Input) -> None:
        flow.keep_all(data, but=[self.axis], why="gathers along")
        flow.keep_all(indices)


@op("GatherND", "opset5", until="opset7")
class GatherNDV5(Op):
    """Take slices by tuples of indices, which stand on the last axis; the batches are joined into one axis."""

    data = In(min_rank=1)
    indices = In(INTEGER, min_rank=1, ends="tuples")
    output = Out(like="data")
    ignores_surplus = True
    batch_dims: int = 0
    cost = moved

    def infer(self, ctx: Context, data: Input, indices: Input) -> Shape:
        batch = self.batch_dims
        for port in (data, indices):
            if port.is_ranked and not 0 <= batch < port.rank:
                message = f"batch_dims must be at least 0 and less than {port.rank}, the rank of {port.name}, got {batch}"
                ctx.fail("A104", message, attribute="batch_dims")
        if not data.is_ranked or not indices.is_ranked:
            return None
        message = "data and indices must be equal on the batch axis {axis}"
        batches = ctx.merge_shapes(data.shape[:batch], indices.shape[:batch], message)
        assert batches is not None
        length = tuple_length(ctx, indices, data.rank - batch)
        if not isinstance(length, int):
            return None
        ctx.expect_within(indices, data.shape[batch : batch + length])
        return (*self._joined(batches), *indices.shape[batch:-1], *data.shape[batch + length :])

    def flow(self, flow: Flow, data: Input, indices: Input) -> None:
        joined = len(self._joined((1,) * min(self.batch_dims, indices.rank)))
        length = indices.shape[-1]
        if not isinstance(length, int):
            flow.unproven("the length of its tuples of indices is not known")
        for port in (data, indices):
            for axis in range(self.batch_dims) if joined == self.batch_dims else ():
                flow.keep(port, axis, axis)
        for axis in range(self.batch_dims, indices.rank - 1):
            flow.keep(indices, axis, axis - self.batch_dims + joined)
        for axis in range(self.batch_dims + length, data.rank):
            flow.keep(data, axis, axis - length - 2 * self.batch_dims + joined + indices.rank - 1)
        flow.mixes(data, "gathers along")

    def openvino_checks(self, ctx: Context, requirement: Requirement, indices: Input) -> Looks:
        return [indices.shape[-1]] if requirement.code == "S101" else BOUNDS

    def _joined(self, batches: tuple[Any, ...]) -> tuple[Any, ...]:
        """The batch axes as they stand in the output."""
        return (product(batches),) if batches else ()


@op("GatherND", "opset8")
class GatherNDV8(GatherNDV5):
    """GatherND, which leaves the batch axes as they are."""

    def _joined(self, batches: tuple[Any, ...]) -> tuple[Any, ...]:
        return batches


@op("GatherTree", "opset1")
class GatherTree(Op):
    """Follow the beams of a beam search back from their ends."""

    step_ids = In(rank=3)
    parent_idx = In(rank=3, like="step_ids")
    max_seq_len = In(rank=1, like="step_ids")
    end_token = In(rank=0, like="step_ids")
    output = Out(like="step_ids")
    cost = moved

    def infer(self, ctx: Context, step_ids: Input, parent_idx: Input, max_seq_len: Input, end_token: Input) -> Shape:
        message = "step_ids and parent_idx must be equal on axis {axis}"
        shape = ctx.merge_shapes(step_ids, parent_idx, message)
        if shape is None or not max_seq_len.is_ranked:
            return shape
        batch = ctx.merge(shape[1], max_seq_len.shape[0], "max_seq_len must hold one value for each batch of step_ids")
        return (shape[0], batch, shape[2])

    def flow(self, flow: Flow, step_ids: Input, parent_idx: Input, max_seq_len: Input, end_token: Input) -> None:
        for port in (step_ids, parent_idx):
            flow.keep(port, 1, 1)
            flow.mixes(port, "follows beams along")
        flow.keep(max_seq_len, 0, 1)


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
                message = "axis {axis} of updates must be as long as the same axis of the slices of data that the indices name"
                ctx.merge_shapes(updates, wanted, message)
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
        return ctx.axis(ctx.readable(axis, known)[0], data.axis_count, axis.name, port=axis) if known else None

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
        taken = (start + position * along_step for start, position in zip(starts, positions, strict=True))
        return replaced(data.values, taken, updates.values)

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
    cost = ScatterElementsUpdateV3.cost

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
            message = "axis {axis} of updates must be as long as the same axis of the slices of data that the indices name"
            ctx.merge_shapes(updates, wanted, message)
        return data.shape

    def flow(self, flow: Flow, data: Input, indices: Input, updates: Input) -> None:
        length = indices.shape[-1]
        if not isinstance(length, int):
            flow.unproven("the length of its tuples of indices is not known")
        if data.rank == updates.rank == 1 and flow.writes(data, indices, updates):
            return
        for axis in range(data.rank if flow.batch is None else 0):  # the elements that are not written into stay where they are
            flow.keep(data, axis, axis)
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
        taken = (place for start in starts for place in range(start, start + steps[length - 1]))
        return replaced(data.values, taken, updates.values)


@op("ScatterNDUpdate", "opset15")
class ScatterNDUpdateV15(ScatterNDUpdateV3):
    """Combine slices named by tuples of indices with updates."""

    reduction: Literal["none", "sum", "sub", "prod", "min", "max"] = "none"


@op("Unique", "opset10")
class Unique(Op):
    """Distinct elements of a tensor, or distinct slices along an axis; with the index of each, the inverse indices, and counts."""

    data = In()
    axis = In(INDEX, value=True, optional=True)
    unique_elements = Out(like="data")
    indices = Out(attribute="index_element_type")
    inverse_indices = Out(attribute="index_element_type")
    counts = Out(attribute="count_element_type")
    ignores_surplus = True
    sorted: bool = True
    index_element_type: IndexType = ElementType.i64
    count_element_type: IndexType = ElementType.i64
    flow = mixing("lists the elements that differ along")

    def infer(self, ctx: Context, data: Input, axis: Input | None) -> list[Shape]:
        along = None if axis is None else ctx.axis_in(axis, data.known_rank)
        if axis is not None and axis.element_type in INDEX and not axis.is_literal:
            ctx.fail("V105", "axis must be a Const", port=axis)
        if not data.is_ranked:
            count = ctx.unknown()
            return [(count,) if axis is None else None, (count,), (ctx.unknown(),), (count,)]
        if along is None:
            total = product(data.shape)
            count = self._distinct(ctx, total)
            return [(count,), (count,), (total,), (count,)]
        total = data.shape[along]
        count = self._distinct(ctx, total)
        return [(*data.shape[:along], count, *data.shape[along + 1 :]), (count,), (total,), (count,)]

    def openvino_shapes(self, ctx: Context, shapes: Sequence[Shape], data: Input, axis: Input | None) -> Sequence[Shape]:
        if not data.is_ranked:
            return shapes
        total = data.count
        # OpenVINO counts the elements of the whole tensor, and takes at least one to be distinct.
        count = ctx.unknown(1, total) if total else ctx.unknown()
        along = None if axis is None else ctx.axis_in(axis, data.rank)
        if along is None:
            return (count,), (count,), (ctx.unknown() if total is None else total,), (count,)
        high = bounds(data.shape[along])[1]
        distinct = ctx.unknown(1 if 0 < high < inf else 0, high)
        return (*data.shape[:along], distinct, *data.shape[along + 1 :]), (count,), shapes[2], (count,)

    @staticmethod
    def _distinct(ctx: Context, total: Size) -> Size:
        """How many of `total` elements are distinct."""
        low, high = bounds(total)
        return ctx.unknown(min(low, 1), high)
