# ruff: noqa: N803 - the ports have the names of the specification
"""Operations on sequences: attention, labels, and recurrent cells.

The weights and biases of a recurrent cell hold a block of rows for each gate, one row for each element of the hidden state.
OpenVINO takes the hidden size from states and weights. The attribute counts only for an LSTMCell whose states and weights do not tell it.
"""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal, TypeAlias

from irshape.ops.attribute import ReadBy, Stated, converter
from irshape.ops.context import Context
from irshape.ops.cost import Count, Outputs, each, elements, moved
from irshape.ops.flow import Flow
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.shape.dim import Size, is_known, product
from irshape.shape.element_type import ANY, BOOLEAN, FLOAT, INTEGER, ElementType
from irshape.shape.guard import STATIC
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
        if len(sink) == 1:
            self._check_sink(ctx, query, sink[0])
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

    def types(
        self,
        ctx: Context,
        query: Input,
        key: Input,
        value: Input,
        attention_mask: Input | None,
        scale: Input | None,
        sink: tuple[Input, ...],
    ) -> ElementType:
        """The element type that the inputs share. A mask that counts tells it, too, unless it is boolean."""
        mask = None if self.causal else attention_mask
        known = (port.element_type for port in (query, key, value, mask, scale, *sink) if port is not None)
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

    @staticmethod
    def _check_sink(ctx: Context, query: Input, sink: Input) -> None:
        """Demand that a sink has the rank of the query, size 1 on the last axis, and broadcasts with the query on the others."""
        if query.is_ranked and sink.is_ranked:
            ctx.require_rank(sink, (query.rank,))
            ctx.broadcast_shapes(query.shape[:-1], sink.shape[:-1], "sink must broadcast with query on axis {axis}")
            ctx.require_eq(sink.shape[-1], 1, "the last axis of sink must be 1")

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
        size = ctx.size_in(depth)
        return (*indices.shape[:axis], size, *indices.shape[axis:])

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


_Word: TypeAlias = Literal["relu", "sigmoid", "tanh", "hardsigmoid"]
_read_word = converter(_Word)


def _read_activation(text: str) -> tuple[str, None]:
    """The word in lower case. Files of OpenVINO have it in capitals, too."""
    word, _ = _read_word(text)
    return word, None


Activation: TypeAlias = Annotated[_Word, ReadBy(_read_activation)]
# The element types that a tensor of zeros can have.
_WITH_ZERO = ANY - {ElementType.dynamic, ElementType.string, ElementType.f8e8m0}


# An input, a size of it that others must share, and whether OpenVINO looks at it.
Claim: TypeAlias = tuple[Input, Size, bool]


def claims(ports: Sequence[Input], axis: int) -> list[Claim]:
    """The sizes of an axis of those inputs whose rank is known."""
    return [(port, port.shape[axis], True) for port in ports if port.is_ranked]


def agreed(ctx: Context, sizes: Sequence[Claim], what: str) -> Size:
    """The one size that all claims must agree on."""
    if not sizes:
        return ctx.unknown()
    (_, size, is_seen), *others = sizes
    if not is_seen and ctx.scope.has_intervals_only:
        size = ctx.unknown()
    for port, other, is_seen in others:
        with ctx.openvino_checks(when=is_seen):
            size = ctx.merge(size, other, "{port} must have the same {what} as the earlier inputs", port=port.name, what=what)
    return size


class _Recurrent(Op):
    """The base of cells and sequences."""

    hidden_size: Annotated[int, Stated] = 0
    activations_alpha: tuple[float, ...] = ()
    activations_beta: tuple[float, ...] = ()
    clip: float = 0.0

    gates: ClassVar[int]
    # The operations on each element of the hidden state that are no MACs: biases, functions, products and sums of the gates.
    others: ClassVar[int]

    def hidden(self, ctx: Context, states: Sequence[Input], W: Input, R: Input, B: Input | None) -> Size:
        """The hidden size: the last axis of the states and of R, and the rows of W, R and B for each gate."""
        columns = claims((*states, R), -1)
        size = agreed(ctx, columns, "hidden size")
        is_plain = is_known(size)
        message = "{port} must have {blocks} rows for each element of the hidden state"
        rows: list[Claim] = []
        for port, count, _ in claims((W, R), -2):
            is_seen = is_plain or is_known(port.shape[0])
            with ctx.openvino_checks(when=is_seen):
                rows.append((port, ctx.exact_div(count, self.gates, message, port=port.name, blocks=self.gates), is_seen))
        size = agreed(ctx, [(R, size, True), *rows] if columns else rows, "hidden size")
        if B is not None and B.is_ranked:
            with ctx.openvino_checks(when=is_plain):
                ctx.require_eq(B.shape[-1], size * self.bias_blocks(), message, port=B.name, blocks=self.bias_blocks())
        return size

    def bias_blocks(self) -> int:
        """How many biases there are for each element of the hidden state."""
        return self.gates

    def _cost(self, states: Size, X: Input, W: Input, R: Input) -> Count:
        """The count of all steps of X, which give so many elements of `states`; X is [batch, size] or [batch, steps, size]."""
        return Count(product(X.shape[:-1]) * (elements(W) + elements(R)), states * self.others)

    def flow(self, flow: Flow, *inputs: Input) -> None:
        for port in flow.ports:
            if port.name in ("X", "initial_hidden_state", "initial_cell_state", "sequence_lengths"):
                flow.keep(port, 0, 0)
                flow.mixes(port, "multiplies and sums over")


class _LinearBeforeReset(_Recurrent):
    """The base of a GRU."""

    gates = 3
    others = 11
    linear_before_reset: bool = False

    def bias_blocks(self) -> int:
        """One more than gates if the recurrence has its own bias."""
        return self.gates + self.linear_before_reset


class _Cell(_Recurrent):
    """One step for each member of the batch."""

    activations: tuple[Activation, ...] = ()

    def check_activations(self, ctx: Context) -> None:
        """Demand as many functions as there are by default; OpenVINO ignores more."""
        count = len(type(self).activations)
        if len(self.activations) < count:
            ctx.fail("A105", f"activations must name {count} functions, got {len(self.activations)}", attribute="activations")


class _SingleStateCell(_Cell):
    """A step from one state to the next."""

    X = In(rank=2)
    initial_hidden_state = In(rank=2, like="X")
    W = In(rank=2, like="X")
    R = In(rank=2, like="X")
    B = In(rank=1, like="X")
    Ho = Out(like="X")

    def infer(self, ctx: Context, X: Input, initial_hidden_state: Input, W: Input, R: Input, B: Input) -> Shape:
        self.check_activations(ctx)
        batch = agreed(ctx, claims((X, initial_hidden_state), 0), "batch")
        return (batch, self.hidden(ctx, (initial_hidden_state,), W, R, B))

    def cost(self, out: Outputs, X: Input, W: Input, R: Input) -> Count:
        """For each member of the batch 1 MAC for every weight; for each element of the state 2 operations in an RNN, 11 in a GRU."""
        return self._cost(out.elements, X, W, R)


@op("RNNCell", "opset1", without="opset2", also="extension experimental")
class RNNCell(_SingleStateCell):
    """One step of a plain recurrent network."""

    gates = 1
    others = 2
    activations: tuple[Activation, ...] = ("tanh",)


@op("GRUCell", "opset3", also="extension experimental")
class GRUCell(_SingleStateCell, _LinearBeforeReset):
    """One step of a gated recurrent unit. OpenVINO does not compare the element type of W."""

    W = In(rank=2)
    activations: tuple[Activation, ...] = ("sigmoid", "tanh")


class _LSTMCell(_Cell):
    """One step of a long short-term memory, which has a hidden state and a cell state."""

    X = In(rank=2)
    initial_hidden_state = In(rank=2, like="X")
    initial_cell_state = In(rank=2, like="X")
    W = In(rank=2, like="X")
    R = In(rank=2, like="X")
    Ho = Out(like="X")
    Co = Out(like="X")
    gates = 4
    others = 13
    activations: tuple[Activation, ...] = ("sigmoid", "tanh", "tanh")

    def state(self, ctx: Context, X: Input, states: Sequence[Input], W: Input, R: Input, B: Input | None) -> tuple[Size, Size]:
        """The shape of either state."""
        self.check_activations(ctx)
        batch = agreed(ctx, claims((X, *states), 0), "batch")
        hidden = self.hidden(ctx, states, W, R, B)
        if not is_known(hidden):
            with ctx.openvino_checks(at=STATIC):
                hidden = ctx.merge(self.hidden_size, hidden, "hidden_size must be the hidden size of states and weights")
        return batch, hidden


@op("LSTMCell", "opset1")
class LSTMCell(_LSTMCell):
    """One step of a long short-term memory, with peepholes from the cell state to the gates."""

    B = In(rank=1, filled=True, like="X")
    P = In(filled=True)
    input_forget: bool = False
    weights_format: Literal["fico", "icof", "ifco", "ifoc", "iofc"] = "ifco"

    def infer(
        self,
        ctx: Context,
        X: Input,
        initial_hidden_state: Input,
        initial_cell_state: Input,
        W: Input,
        R: Input,
        B: Input | None,
        P: Input | None,
    ) -> tuple[Shape, Shape]:
        batch, hidden = self.state(ctx, X, (initial_hidden_state, initial_cell_state), W, R, B)
        if B is None or P is None:  # OpenVINO puts zeros in their place; hidden_size says how many
            if not ctx.has_type(X, _WITH_ZERO):
                ctx.fail("T101", f"X must have an element type with a zero where B or P is absent, got {X.element_type}", port=X)
            ctx.require_eq(hidden, self.hidden_size, "hidden_size must be the hidden size of states and weights where B or P is absent")
        if P is not None:
            if not P.is_ranked or P.rank == 0:
                ctx.fail("S101", "P must have rank 1", port=P)
            with ctx.openvino_checks(at=STATIC):
                ctx.require_eq(P.shape[0], hidden * 3, "P must hold 3 weights for each element of the hidden state")
        return (batch, hidden), (batch, hidden)

    def cost(self, out: Outputs, X: Input, W: Input, R: Input, P: Input | None) -> Count:
        """For each member of the batch 1 MAC for every weight; for each element of the state 13 operations, and 3 MACs with peepholes."""
        count = self._cost(out.elements, X, W, R)
        return count if P is None else count._replace(macs=count.macs + 3 * out.elements)


@op("LSTMCell", "opset4")
class LSTMCellV4(_LSTMCell):
    """One step of a long short-term memory."""

    B = In(rank=1, like="X")

    def infer(
        self, ctx: Context, X: Input, initial_hidden_state: Input, initial_cell_state: Input, W: Input, R: Input, B: Input
    ) -> tuple[Shape, Shape]:
        batch, hidden = self.state(ctx, X, (initial_hidden_state, initial_cell_state), W, R, B)
        return (batch, hidden), (batch, hidden)

    def cost(self, out: Outputs, X: Input, W: Input, R: Input) -> Count:
        """For each member of the batch 1 MAC for every weight; for each element of the state 13 operations."""
        return self._cost(out.elements, X, W, R)


class _Sequence(_Recurrent):
    """Steps along an axis of time, in one direction or in both; the weights and states of each direction stand side by side."""

    direction: Annotated[Literal["forward", "reverse", "bidirectional"], Stated] = "forward"
    activations: tuple[str, ...] = ()

    def outputs_of(
        self, ctx: Context, X: Input, states: Sequence[Input], sequence_lengths: Input, W: Input, R: Input, B: Input
    ) -> tuple[Shape, ...]:
        """The shape of the hidden states of all steps, then that of each state after the last step."""
        batch = agreed(ctx, claims((X, *states, sequence_lengths), 0), "batch")
        directions = 2 if self.direction == "bidirectional" else 1
        for port, size, _ in (*claims(states, 1), *claims((W, R, B), 0)):
            ctx.require_eq(size, directions, "{port} must have an entry for each direction", port=port.name)
        hidden = self.hidden(ctx, states, W, R, B)
        steps = X.shape[1] if X.is_ranked else ctx.unknown()
        return ((batch, directions, steps, hidden), *[(batch, directions, hidden)] * len(states))


class _SingleStateSequence(_Sequence):
    """Steps from one state to the next."""

    X = In(rank=3)
    initial_hidden_state = In(rank=3, like="X")
    sequence_lengths = In(rank=1)
    W = In(rank=3, like="X")
    R = In(rank=3, like="X")
    B = In(rank=2, like="X")
    Y = Out(like="X")
    Ho = Out(like="X")

    def infer(
        self, ctx: Context, X: Input, initial_hidden_state: Input, sequence_lengths: Input, W: Input, R: Input, B: Input
    ) -> tuple[Shape, ...]:
        return self.outputs_of(ctx, X, (initial_hidden_state,), sequence_lengths, W, R, B)

    def cost(self, out: Outputs, X: Input, W: Input, R: Input) -> Count:
        """The count of the cell for every step, in each direction; `sequence_lengths` saves none."""
        return self._cost(out.elements, X, W, R)


@op("RNNSequence", "opset5")
class RNNSequence(_SingleStateSequence):
    """A plain recurrent network along the axis of time."""

    ignores_surplus = True
    gates = 1
    others = 2


@op("GRUSequence", "opset5")
class GRUSequence(_SingleStateSequence, _LinearBeforeReset):
    """A gated recurrent unit along the axis of time."""


@op("LSTMSequence", "opset5")
class LSTMSequence(_Sequence):
    """A long short-term memory along the axis of time."""

    X = In(rank=3)
    initial_hidden_state = In(rank=3, like="X")
    initial_cell_state = In(rank=3, like="X")
    sequence_lengths = In(rank=1)
    W = In(rank=3, like="X")
    R = In(rank=3, like="X")
    B = In(rank=2, like="X")
    Y = Out(like="X")
    Ho = Out(like="X")
    Co = Out(like="X")
    gates = 4
    others = 13

    def infer(
        self,
        ctx: Context,
        X: Input,
        initial_hidden_state: Input,
        initial_cell_state: Input,
        sequence_lengths: Input,
        W: Input,
        R: Input,
        B: Input,
    ) -> tuple[Shape, ...]:
        return self.outputs_of(ctx, X, (initial_hidden_state, initial_cell_state), sequence_lengths, W, R, B)

    def cost(self, out: Outputs, X: Input, W: Input, R: Input) -> Count:
        """The count of the cell for every step, in each direction; `sequence_lengths` saves none."""
        return self._cost(out.elements, X, W, R)
