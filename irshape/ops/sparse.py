"""Embeddings, which look up rows of a table and reduce them in bags, and sparse matrices."""

from collections.abc import Sequence
from typing import Annotated, Final, Literal

from irshape.ops.attribute import Fixed
from irshape.ops.context import Context
from irshape.ops.cost import Count, Outputs, elements, moved
from irshape.ops.flow import Flow, along_first
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.dim import INT64_MAX, Size, are_known, bounds, is_known, product
from irshape.shape.element_type import INDEX, ElementType
from irshape.shape.guard import BOUNDS, SKIPPED, Looks, Requirement
from irshape.shape.shape import Shape

_INDEX = INDEX - {ElementType.dynamic}


class _Embedding(Op):
    """Each output row is the reduction of those rows of `emb_table` that a bag of indices names."""

    emb_table = In(min_rank=1)
    indices = In(_INDEX, rank=1)
    output = Out(like="emb_table", alone=True)

    reduction: Annotated[str, Fixed] = "sum"

    @staticmethod
    def bags(emb_table: Input, count: Size) -> Shape:
        """The shape of `count` bags."""
        return (count, *emb_table.shape[1:]) if emb_table.is_ranked else None

    @staticmethod
    def parallel(ctx: Context, indices: Input, other: Input | None) -> Shape:
        """The shape of the indices, which the other input must have, too."""
        if other is None:
            return indices.partial_shape
        return ctx.merge_shapes(indices, other, "{port} must be as long as indices on axis {axis}", port=other.name)

    def weighted(self, ctx: Context, indices: Input, per_sample_weights: Input | None) -> Shape:
        """The shape of the indices and of their weights; only sums take weights."""
        if self.reduction != "sum" and per_sample_weights is not None:
            ctx.fail("A103", f"reduction must be sum where per_sample_weights are given, got {self.reduction}", attribute="reduction")
        return self.parallel(ctx, indices, per_sample_weights)

    def cost(self, out: Outputs, *inputs: Input | None) -> Count:
        """For each index as many operations as a row of the table has elements; with weights as many MACs."""
        given = {port.name: port for port in inputs if port is not None}
        added = elements(given["indices"]) * product(given["emb_table"].shape[1:])
        return Count(macs=added) if "per_sample_weights" in given else Count(operations=added)


@op("EmbeddingSegmentsSum", "opset3")
class EmbeddingSegmentsSum(_Embedding):
    """Sums of rows; `segment_ids` tells the bag of each index."""

    segment_ids = In(_INDEX, rank=1, like="indices")
    num_segments = In(_INDEX, rank=0, value=True, like="indices")
    default_index = In(_INDEX, rank=0, optional=True, like="indices")
    per_sample_weights = In(rank=1, optional=True, like="emb_table")

    def infer(
        self, ctx: Context, emb_table: Input, indices: Input, segment_ids: Input, num_segments: Input, per_sample_weights: Input | None
    ) -> Shape:
        self.parallel(ctx, indices, segment_ids)
        self.weighted(ctx, indices, per_sample_weights)
        return self.bags(emb_table, ctx.sizes(num_segments, 1)[0])


@op("EmbeddingBagOffsetsSum", "opset3")
class EmbeddingBagOffsetsSum(_Embedding):
    """Sums of rows; `offsets` tells where in `indices` each bag begins."""

    offsets = In(_INDEX, rank=1, like="indices")
    default_index = In(_INDEX, rank=0, optional=True, like="indices")
    per_sample_weights = In(rank=1, optional=True, like="emb_table")

    def infer(self, ctx: Context, emb_table: Input, indices: Input, offsets: Input, per_sample_weights: Input | None) -> Shape:
        self.weighted(ctx, indices, per_sample_weights)
        return self.bags(emb_table, offsets.shape[0] if offsets.is_ranked else ctx.unknown())

    def flow(self, flow: Flow, *inputs: Input) -> None:
        ports = {port.name: port for port in flow.ports}
        offsets, *data = (ports[name] for name in ("offsets", "indices", "per_sample_weights") if name in ports)
        if not any(map(flow.is_batched, (offsets, *data))):
            flow.keep(offsets, 0, 0)
        elif not flow.bags(offsets, *data):
            flow.unproven("its bags may hold indices of several samples")


@op("EmbeddingBagPackedSum", "opset3")
class EmbeddingBagPackedSum(_Embedding):
    """Sums of rows; each row of `indices` is a bag."""

    indices = In(_INDEX, rank=2)
    per_sample_weights = In(rank=2, optional=True, like="emb_table")
    flow = along_first("sums over", "indices", "per_sample_weights")

    def infer(self, ctx: Context, emb_table: Input, indices: Input, per_sample_weights: Input | None) -> Shape:
        shape = self.weighted(ctx, indices, per_sample_weights)
        return self.bags(emb_table, ctx.unknown() if shape is None else shape[0])


@op("EmbeddingBagOffsets", "opset15")
class EmbeddingBagOffsets(EmbeddingBagOffsetsSum):
    """Sums or means of rows; `offsets` tells where in `indices` each bag begins."""

    reduction: Literal["sum", "mean"] = "sum"


@op("EmbeddingBagPacked", "opset15")
class EmbeddingBagPacked(EmbeddingBagPackedSum):
    """Sums or means of rows; each row of `indices` is a bag."""

    reduction: Literal["sum", "mean"] = "sum"


_AN_INDEX_EACH: Final = "there must be an index for each value"


@op("SparseFillEmptyRows", "opset16")
class SparseFillEmptyRows(Op):
    """Give each empty row of a sparse matrix one entry, `default_value`, and say which rows were empty.

    `values` [count] stand at the rows and columns `indices` [count, 2] of a matrix of the shape `dense_shape` [2].
    """

    values = In(rank=1)
    dense_shape = In(INDEX, rank=1, value=True)
    indices = In(INDEX, rank=2, value=True, like="dense_shape")
    default_value = In(rank=0)
    output_indices = Out(like="indices", alone=True)
    output_values = Out(like="values")
    empty_rows = Out(ElementType.boolean)
    cost = moved

    def infer(self, ctx: Context, values: Input, dense_shape: Input, indices: Input, default_value: Input) -> tuple[Shape, ...]:
        if dense_shape.is_ranked:
            ctx.require_eq(dense_shape.shape[0], 2, "dense_shape must hold {b} values", code="V103")
        count, length = indices.shape
        ctx.require_eq(length, 2, "an index must have {b} numbers")
        if values.is_ranked:
            count = ctx.merge(values.shape[0], count, _AN_INDEX_EACH)
        ctx.stop_at_errors()
        rows, columns = map(ctx.dimension, ctx.values(dense_shape, 2))
        places = ctx.known(indices)
        if places is None:
            filled = ctx.unknown(max(bounds(count)[0], bounds(rows)[0]), bounds(count + rows)[1])
            return (filled, 2), (filled,), (rows,)
        if is_known(rows) and is_known(columns) and not values.is_ranked:
            ctx.fail("S206", "OpenVINO cannot read values of unknown rank", port=values)
        for numbers, size, what in ((places[::2], rows, "row"), (places[1::2], columns, "column")):
            if numbers:
                ctx.require_ge(min(numbers), 0, "a {what} of indices must not be negative", code="V101", what=what)
                ctx.require_ge(size, max(numbers) + 1, "a {what} of indices is outside dense_shape", code="V101", what=what)
        filled = count + ctx.saturate(rows - len(set(places[::2])))
        return (filled, 2), (filled,), (rows,)

    def openvino_checks(self, ctx: Context, requirement: Requirement, dense_shape: Input) -> Looks:
        """OpenVINO counts the indices if dense_shape has a rank, and looks at them if it knows both sizes; -1 and 2^63-1 are any size."""
        if requirement.code == "V101":
            is_read = are_known(dense_shape.numbers) and not {-1, INT64_MAX} & {*dense_shape.numbers}
        else:
            is_read = dense_shape.is_ranked or requirement.template != _AN_INDEX_EACH
        return BOUNDS if is_read else SKIPPED

    def openvino_shapes(self, ctx: Context, shapes: Sequence[Shape], values: Input, dense_shape: Input, indices: Input) -> Sequence[Shape]:
        rows, places = ctx.known(dense_shape), ctx.known(indices)
        count = -1 if rows is None else ctx.readable(dense_shape, rows)[0]
        if count == -1 or places is None:
            return (ctx.unknown(), 2), (ctx.unknown(),), (ctx.unknown(),) if rows is None else shapes[2]
        empty = max(count - len(set(places[::2])), 0)
        return shapes[0], (values.shape[0] + empty,), shapes[2]
