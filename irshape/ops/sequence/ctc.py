"""Connectionist temporal classification: labels of a sequence whose positions are not known."""

from irshape.ops.context import Context
from irshape.ops.cost import each
from irshape.ops.flow import Flow
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.element_type import FLOAT, INTEGER, ElementType
from irshape.shape.shape import Shape


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

    def infer(self, ctx: Context, data: Input, sequence_length: Input, blank_index: Input | None) -> tuple[Shape, Shape]:
        batch, steps, _ = data.shape
        (lengths,) = sequence_length.shape
        batch = ctx.merge(batch, lengths, "there must be a length for each sequence of the batch")
        if blank_index is not None and blank_index.count is not None:
            ctx.single(blank_index)
        return (batch, steps), (batch,)

    def flow(self, flow: Flow, data: Input, sequence_length: Input) -> None:
        flow.keep(data, 0, 0)
        flow.keep(sequence_length, 0, 0)


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

    def infer(
        self, ctx: Context, logits: Input, logit_length: Input, labels: Input, label_length: Input, blank_index: Input | None
    ) -> Shape:
        batch, steps, _ = logits.shape
        _, label_steps = labels.shape
        ctx.require_eq(steps, label_steps, "labels must have as many steps as logits")
        for port in (logit_length, labels, label_length):
            if port.is_ranked:
                batch = ctx.merge(batch, port.shape[0], "{port} must have the batch of logits", port=port.name)
        return (batch,)

    def flow(self, flow: Flow, logits: Input, logit_length: Input, labels: Input, label_length: Input) -> None:
        for port in (logits, logit_length, labels, label_length):
            flow.keep(port, 0, 0)
