# ruff: noqa: N803 - the ports have the names of the specification
"""Recurrent cells, and sequences of their steps.

The weights and biases of a cell hold a block of rows for each gate, one row for each element of the hidden state.
OpenVINO takes the hidden size from states and weights. The attribute counts only for an LSTMCell whose states and weights do not tell it.
"""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal, TypeAlias

from irshape.ops.attribute import ReadBy, Stated, converter
from irshape.ops.context import Context
from irshape.ops.cost import Count, Outputs, elements
from irshape.ops.flow import along_first
from irshape.ops.op import In, Input, Op, Out
from irshape.ops.registry import op
from irshape.report.text import counted
from irshape.shape.dim import Size, is_known, product
from irshape.shape.element_type import ANY, ElementType
from irshape.shape.guard import STATIC
from irshape.shape.shape import Shape

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
    flow = along_first("multiplies and sums over", "X", "initial_hidden_state", "initial_cell_state", "sequence_lengths")

    gates: ClassVar[int]
    # The operations on each element of the hidden state that are no MACs: biases, functions, products and sums of the gates.
    others: ClassVar[int]

    def hidden(self, ctx: Context, X: Input, states: Sequence[Input], W: Input, R: Input, B: Input | None) -> Size:
        """The hidden size: the last axis of the states and of R, and the rows of W, R and B for each gate."""
        if X.is_ranked and W.is_ranked:
            with ctx.openvino_checks(when=False):
                ctx.require_eq(X.shape[-1], W.shape[-1], "W must have a column for each element of the last axis of X")
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
        if isinstance(size, int) and self.hidden_size != size:
            message = f"this never holds: hidden_size must be the hidden size {size} of states and weights, got {self.hidden_size}"
            ctx.warn("R401", message, attribute="hidden_size", hint=f'write hidden_size="{size}"')
        return size

    def bias_blocks(self) -> int:
        """How many biases there are for each element of the hidden state."""
        return self.gates

    def _cost(self, states: Size, X: Input, W: Input, R: Input) -> Count:
        """The count of all steps of X, which give so many elements of `states`; X is [batch, size] or [batch, steps, size]."""
        return Count(product(X.shape[:-1]) * (elements(W) + elements(R)), states * self.others)


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
        return (batch, self.hidden(ctx, X, (initial_hidden_state,), W, R, B))

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
        hidden = self.hidden(ctx, X, states, W, R, B)
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

    # The functions of the cell; OpenVINO does not take them where the attribute is missing.
    usual: ClassVar[tuple[str, ...]]

    def infer(self, ctx: Context, *inputs: Input) -> tuple[Shape, ...]:
        """The shape of the hidden states of all steps, then that of each state after the last step."""
        if len(self.activations) < len(self.usual):
            message = f"this never holds: activations must name {counted(len(self.usual), 'function')}, got {len(self.activations)}"
            ctx.warn("R401", message, attribute="activations", hint=f'write activations="{",".join(self.usual)}"')
        data, *states, lengths, weights, recurrence, biases = inputs
        batch = agreed(ctx, claims((data, *states, lengths), 0), "batch")
        directions = 2 if self.direction == "bidirectional" else 1
        for port, size, _ in (*claims(states, 1), *claims((weights, recurrence, biases), 0)):
            ctx.require_eq(size, directions, "{port} must have an entry for each direction", port=port.name)
        hidden = self.hidden(ctx, data, states, weights, recurrence, biases)
        steps = data.shape[1] if data.is_ranked else ctx.unknown()
        return ((batch, directions, steps, hidden), *[(batch, directions, hidden)] * len(states))

    def cost(self, out: Outputs, *inputs: Input) -> Count:
        """The count of the cell for every step, in each direction; `sequence_lengths` saves none."""
        data, *_, weights, recurrence, _ = inputs
        return self._cost(out.elements, data, weights, recurrence)


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


@op("RNNSequence", "opset5")
class RNNSequence(_SingleStateSequence):
    """A plain recurrent network along the axis of time."""

    ignores_surplus = True
    gates = 1
    others = 2
    usual = RNNCell.activations


@op("GRUSequence", "opset5")
class GRUSequence(_SingleStateSequence, _LinearBeforeReset):
    """A gated recurrent unit along the axis of time."""

    usual = GRUCell.activations


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
    usual = _LSTMCell.activations
