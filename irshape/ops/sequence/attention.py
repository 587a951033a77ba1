"""Attention, connectionist temporal classification, and one-hot axes."""

from typing import Annotated, Any, Literal

from irshape.ops.attribute import Stated
from irshape.ops.context import Context
from irshape.ops.cost import Count, Outputs, each, moved
from irshape.ops.flow import Flow, along_first
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.dim import Size, product
from irshape.shape.element_type import BOOLEAN, FLOAT, INTEGER, ElementType
from irshape.shape.shape import Shape


def _matrices(port: Input) -> tuple[Shape, Size, Size]:
    """The shape before the last two axes, and the two last sizes."""
    *batch, rows, columns = port.dims(2)
    return tuple(batch) if port.is_ranked else None, rows, columns


@op("ScaledDotProductAttention", "opset13")
class ScaledDotProductAttention(Op):
    """Rows of `value` [..., S, V], weighted by the products of `query` [..., L, E] with `key` [..., S, E].

    The axes before the last two broadcast. A mask [..., L, S] counts only if `causal` is false.
    """

    query = In(FLOAT, min_rank=3)
    key = In(FLOAT, min_rank=3, like="query")
    value = In(FLOAT, min_rank=3, like="query")
    attention_mask = In(optional=True)
    scale = In(FLOAT, optional=True, like="query")
    sink = In(FLOAT, optional=True, variadic=True, like="query")
    output = Out()
    causal: bool = False

    def infer(
        self,
        ctx: Context,
        query: Input,
        key: Input,
        value: Input,
        attention_mask: Input | None,
        scale: Input | None,
        sink: tuple[Input, ...],
    ) -> Shape:
        batch, length, features = _matrices(query)
        key_batch, steps, key_features = _matrices(key)
        value_batch, value_steps, width = _matrices(value)
        ctx.require_eq(features, key_features, "query and key must have the same last axis")
        steps = ctx.merge(steps, value_steps, "key and value must have the same number of rows")
        batch = self._broadcast(ctx, batch, key_batch, key)
        batch = self._broadcast(ctx, batch, value_batch, value)
        if attention_mask is not None and not self.causal:
            self._check_mask_type(ctx, attention_mask, query, key, value, *([] if scale is None else [scale]), *sink)
            if attention_mask.known_rank:
                if attention_mask.rank == 1:
                    ctx.fail("S101", "attention_mask must not have rank 1", port=attention_mask)
                mask_batch, rows, columns = _matrices(attention_mask)
                message = "axis {axis} of attention_mask must broadcast to the rows of {port}"
                length = ctx.broadcast(length, rows, message, axis=-2, port="query")
                ctx.broadcast(steps, columns, message, axis=-1, port="key")
                batch = self._broadcast(ctx, batch, mask_batch, attention_mask)
        # OpenVINO checks the shape of the scale only if it is the last input. The same holds for the sink.
        if scale is not None and not sink:
            ctx.single(scale)
        if len(sink) == 1 and query.is_ranked and sink[0].is_ranked:
            ctx.require_rank(sink[0], (query.rank,))
            ctx.broadcast_shapes(query.shape[:-1], sink[0].shape[:-1], "sink must broadcast with query on axis {axis}")
            ctx.require_eq(sink[0].shape[-1], 1, "the last axis of sink must be 1")
        for surplus in sink[1:]:
            ctx.warn("R201", f"the operation takes at most 6 inputs, got {5 + len(sink)}", port=surplus)
        return None if batch is None else (*batch, length, width)

    def flow(self, flow: Flow, query: Input, key: Input, value: Input, attention_mask: Input | None) -> None:
        flow.broadcast(query, key, value, attention_mask, last=2, behind=2)
        flow.keep(query, -2, -2)
        flow.keep(value, -1, -1)
        if attention_mask is not None and attention_mask.rank > 1:
            flow.keep(attention_mask, -2, -2)
        for port in (query, key, value, attention_mask):
            flow.mixes(port, "attends over")

    def types(self, ctx: Context, *inputs: Any) -> ElementType:
        """The element type that the inputs share. A mask that counts tells it, too, unless it is boolean."""
        query, key, value, mask, scale, sink = inputs
        counting = (query, key, value, None if self.causal else mask, scale, *sink)
        known = (port.element_type for port in counting if port is not None)
        return next((element_type for element_type in known if element_type not in BOOLEAN), ElementType.dynamic)

    @staticmethod
    def _broadcast(ctx: Context, batch: Shape, other: Shape, port: Input) -> Shape:
        """The batch that broadcasts with the batch of an input. As in OpenVINO, a batch of unknown rank is assumed to fit."""
        if batch is None or other is None:
            return batch
        message = "{port} must broadcast with the earlier inputs on axis {axis}"
        return ctx.broadcast_shapes(batch, other, message, port=port.name)

    @staticmethod
    def _check_mask_type(ctx: Context, mask: Input, *ports: Input) -> None:
        """Demand that a mask is boolean or has the type of the other inputs."""
        if mask.element_type in BOOLEAN:
            return
        if mask.element_type not in FLOAT:
            ctx.fail("T101", f"attention_mask must not have element type {mask.element_type}", port=mask)
        for port in ports:
            if port.element_type not in (ElementType.dynamic, mask.element_type):
                ctx.fail("T102", f"attention_mask has element type {mask.element_type}, {port.name} has {port.element_type}", port=mask)

    def cost(self, out: Outputs, query: Input, key: Input, value: Input, attention_mask: Input | None) -> Count:
        """For each row of `query` and row of `key` E + V MACs and 6 operations: the scale and a Softmax; 7 with a mask.

        `causal` saves none.
        """
        pairs = product(out.shape[:-1]) * key.shape[-2]
        return Count(pairs * (query.shape[-1] + value.shape[-1]), pairs * (6 if attention_mask is None else 7))


@op("CTCGreedyDecoder", "opset1")
class CTCGreedyDecoder(Op):
    """The likeliest labels; `data` are [steps, batch, classes], `sequence_mask` [steps, batch]."""

    data = In(rank=3)
    sequence_mask = In(rank=2)
    output = Out(like="data")
    ignores_surplus = True
    ctc_merge_repeated: bool = True
    cost = each("1 operation for each element of the data.", operations=1, of_input=True)

    def infer(self, ctx: Context, data: Input, sequence_mask: Input) -> Shape:
        steps, batch, _ = data.shape
        mask_steps, mask_batch = sequence_mask.shape
        steps = ctx.merge(steps, mask_steps, "data and sequence_mask must have the same number of steps")
        batch = ctx.merge(batch, mask_batch, "data and sequence_mask must have the same batch")
        return (batch, steps, 1, 1)

    def flow(self, flow: Flow, data: Input, sequence_mask: Input) -> None:
        flow.keep(data, 1, 0)
        flow.keep(sequence_mask, 1, 0)


@op("CTCGreedyDecoderSeqLen", "opset6")
class CTCGreedyDecoderSeqLen(Op):
    """The likeliest labels and how many there are; `data` are [batch, steps, classes]."""

    data = In(rank=3)
    sequence_length = In(rank=1)
    blank_index = In(INTEGER, optional=True)
    classes = Out(attribute="classes_index_type")
    lengths = Out(attribute="sequence_length_type")
    merge_repeated: bool = True
    classes_index_type: ElementType = ElementType.i32
    sequence_length_type: ElementType = ElementType.i32
    cost = each("1 operation for each element of the data.", operations=1, of_input=True)
    flow = along_first("puts together", "data", "sequence_length")

    def infer(self, ctx: Context, data: Input, sequence_length: Input, blank_index: Input | None) -> tuple[Shape, Shape]:
        batch, steps, _ = data.shape
        (lengths,) = sequence_length.shape
        batch = ctx.merge(batch, lengths, "there must be a length for each sequence of the batch")
        if blank_index is not None and blank_index.count is not None:
            ctx.single(blank_index)
        return (batch, steps), (batch,)


@op("CTCLoss", "opset4")
class CTCLoss(Op):
    """The loss of the labels under the `logits`; `logits` are [batch, steps, classes], `labels` [batch, steps]."""

    logits = In(FLOAT - {ElementType.dynamic}, rank=3)
    logit_length = In(INTEGER, rank=1)
    labels = In(INTEGER, rank=2)
    label_length = In(INTEGER, rank=1)
    blank_index = In(INTEGER, rank=0, optional=True)
    output = Out(like="logits")
    preprocess_collapse_repeated: bool = False
    ctc_merge_repeated: bool = False
    unique: bool = False
    flow = along_first("puts together", "logits", "logit_length", "labels", "label_length")

    def infer(self, ctx: Context, logits: Input, logit_length: Input, labels: Input, label_length: Input) -> Shape:
        batch, steps, _ = logits.shape
        _, label_steps = labels.shape
        ctx.require_eq(steps, label_steps, "labels must have as many steps as logits")
        for port in (logit_length, labels, label_length):
            if port.is_ranked:
                batch = ctx.merge(batch, port.shape[0], "{port} must have the batch of logits", port=port.name)
        return (batch,)


@op("OneHot", "opset1")
class OneHot(Op):
    """Insert an axis of `depth` elements: `on_value` at the index, `off_value` elsewhere."""

    indices = In(INTEGER | BOOLEAN)
    depth = In(INTEGER | BOOLEAN, value=True)
    on_value = In()
    off_value = In(like="on_value")
    output = Out()
    ignores_surplus = True
    axis: Annotated[int, Stated] = 0
    cost = moved

    def infer(self, ctx: Context, indices: Input, depth: Input, on_value: Input, off_value: Input) -> Shape:
        for port in (depth, on_value, off_value):
            if port.count is not None:  # OpenVINO does not check a list of unknown length
                ctx.require_rank(port, (0,))
        axis = ctx.axis(self.axis, indices.rank + 1, attribute="axis")
        return (*indices.shape[:axis], ctx.size_in(depth), *indices.shape[axis:])

    def flow(self, flow: Flow, indices: Input) -> None:
        place = self.axis + indices.rank + 1 if self.axis < 0 else self.axis
        for axis in range(indices.rank):
            flow.keep(indices, axis, axis + (axis >= place))

    def types(self, ctx: Context, indices: Input, depth: Input, on_value: Input, off_value: Input) -> ElementType:
        return on_value.element_type  # even if only off_value tells the type


@op("OneHot", "opset16")
class OneHotV16(OneHot):
    """Insert a one-hot axis; a negative index counts from the end, or names nothing."""

    negative_indices_mode: Literal["ignore_negative", "normalize"] = "ignore_negative"
