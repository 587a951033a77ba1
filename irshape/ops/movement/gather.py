"""Taking elements out of a tensor by their indices."""

from typing import Annotated, Any, Final

from irshape.ops.attribute import Fixed, Stated
from irshape.ops.context import Context
from irshape.ops.cost import moved
from irshape.ops.elementwise import UNFOLLOWED
from irshape.ops.flow import Flow
from irshape.ops.op import In, Input, Moving, Op, Out
from irshape.ops.registry import op
from irshape.shape.dim import Size, are_known, product
from irshape.shape.element_type import INDEX, INTEGER, ElementType
from irshape.shape.guard import BOUNDS, SKIPPED, STATIC, Looks, Requirement
from irshape.shape.shape import Shape
from irshape.shape.value import Elements, gathered


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
        size = data.static_shape[along]
        positions = [index % size if -size <= index < size else size for index in ctx.integers(indices, wanted)]
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
        joined = len(self._joined((1,) * self.batch_dims))
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
