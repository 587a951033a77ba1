"""Embeddings: rows of a table, looked up and reduced in bags."""

from typing import Literal

from irshape.ops.context import Context
from irshape.ops.op import In, Input, Op, Out, op
from irshape.shape.dim import Size
from irshape.shape.element_type import INDEX, ElementType
from irshape.shape.shape import Shape, merge_shapes

_INDEX = INDEX - {ElementType.dynamic}


class _Embedding(Op):
    """Each output row is the reduction of those rows of `emb_table` that a bag of indices names."""

    emb_table = In(min_rank=1, unranked=True)
    indices = In(_INDEX, rank=1, unranked=True)
    output = Out(like="emb_table")

    @staticmethod
    def bags(emb_table: Input, count: Size) -> Shape:
        """The shape of so many bags."""
        return (count, *emb_table.shape[1:]) if emb_table.is_ranked else None

    @staticmethod
    def parallel(ctx: Context, indices: Input, other: Input | None) -> Shape:
        """The shape of the indices, which the input beside them must have too."""
        if other is None:
            return indices.partial_shape
        return merge_shapes(ctx, indices.partial_shape, other.partial_shape, "{port} must have the shape of indices", port=other.name)


@op("EmbeddingSegmentsSum", "opset3")
class EmbeddingSegmentsSum(_Embedding):
    """Sums of rows; `segment_ids` tells the bag of each index."""

    segment_ids = In(_INDEX, rank=1, unranked=True, like="indices")
    num_segments = In(_INDEX, rank=0, value=True, like="indices")
    default_index = In(_INDEX, rank=0, unranked=True, optional=True, like="indices")
    per_sample_weights = In(rank=1, unranked=True, optional=True, like="emb_table")

    def infer(
        self,
        ctx: Context,
        emb_table: Input,
        indices: Input,
        segment_ids: Input,
        num_segments: Input,
        default_index: Input | None,
        per_sample_weights: Input | None,
    ) -> Shape:
        self.parallel(ctx, indices, segment_ids)
        self.parallel(ctx, indices, per_sample_weights)
        return self.bags(emb_table, ctx.sizes(num_segments, 1)[0])


@op("EmbeddingBagOffsetsSum", "opset3")
class EmbeddingBagOffsetsSum(_Embedding):
    """Sums of rows; `offsets` tells where in `indices` each bag begins."""

    offsets = In(_INDEX, rank=1, unranked=True, like="indices")
    default_index = In(_INDEX, rank=0, unranked=True, optional=True, like="indices")
    per_sample_weights = In(rank=1, unranked=True, optional=True, like="emb_table")

    def infer(
        self,
        ctx: Context,
        emb_table: Input,
        indices: Input,
        offsets: Input,
        default_index: Input | None,
        per_sample_weights: Input | None,
    ) -> Shape:
        self.parallel(ctx, indices, per_sample_weights)
        return self.bags(emb_table, offsets.shape[0] if offsets.is_ranked else ctx.unknown())


@op("EmbeddingBagPackedSum", "opset3")
class EmbeddingBagPackedSum(_Embedding):
    """Sums of rows; each row of `indices` is a bag."""

    indices = In(_INDEX, rank=2, unranked=True)
    per_sample_weights = In(rank=2, unranked=True, optional=True, like="emb_table")

    def infer(self, ctx: Context, emb_table: Input, indices: Input, per_sample_weights: Input | None) -> Shape:
        shape = self.parallel(ctx, indices, per_sample_weights)
        return self.bags(emb_table, ctx.unknown() if shape is None else shape[0])


Reduction = Literal["sum", "mean"]


def check_weights(ctx: Context, reduction: str, per_sample_weights: Input | None) -> None:
    """Only sums are weighted."""
    if reduction != "sum" and per_sample_weights is not None:
        ctx.fail("A103", f"per_sample_weights need reduction to be sum, got {reduction}", attribute="reduction")


@op("EmbeddingBagOffsets", "opset15")
class EmbeddingBagOffsets(EmbeddingBagOffsetsSum):
    """Sums or means of rows; `offsets` tells where in `indices` each bag begins."""

    reduction: Reduction = "sum"

    def infer(
        self,
        ctx: Context,
        emb_table: Input,
        indices: Input,
        offsets: Input,
        default_index: Input | None,
        per_sample_weights: Input | None,
    ) -> Shape:
        check_weights(ctx, self.reduction, per_sample_weights)
        return super().infer(ctx, emb_table, indices, offsets, default_index, per_sample_weights)


@op("EmbeddingBagPacked", "opset15")
class EmbeddingBagPacked(EmbeddingBagPackedSum):
    """Sums or means of rows; each row of `indices` is a bag."""

    reduction: Reduction = "sum"

    def infer(self, ctx: Context, emb_table: Input, indices: Input, per_sample_weights: Input | None) -> Shape:
        check_weights(ctx, self.reduction, per_sample_weights)
        return super().infer(ctx, emb_table, indices, per_sample_weights)
