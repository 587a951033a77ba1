"""The traces of the tensors of a graph: which factors row-major order put into each axis, and where the batch lies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from irshape.answers.batch.indices import law_of
from irshape.inference.apply import arranged
from irshape.inference.facts import Fact
from irshape.ops.flow import Factor, Flow, Held, Mixed, Random, Trace, Unproven, holds
from irshape.ops.op import Input, Op, UnknownRank
from irshape.shape.dim import Dim, Size, origins, symbols
from irshape.shape.polynomial import UNBACKED
from irshape.shape.shape import Shape
from irshape.shape.value import Element, Real


class Flowed(NamedTuple):
    """What flows out of a layer: the tensors, and why the batch is mixed, or is not proved; these are empty if it is kept."""

    outputs: list[Held]
    mixed: str = ""
    unproven: str = ""


def plain(shape: Shape, recorded: Shape = None) -> Trace | None:
    """The trace that a shape alone gives: each axis is one factor. `recorded` are the sizes that the file records."""
    if shape is None:
        return None
    if recorded is None or len(recorded) != len(shape):
        recorded = (None,) * len(shape)  # type: ignore[assignment]
    return tuple([(Factor(size, was if isinstance(was, int) else None),) for size, was in zip(shape, recorded or (), strict=True)])


class Traces:
    """The traces of the tensors of a graph, by slot, as far as its layers have been visited.

    `batch` is the symbol of the batch, None to trace sizes of any meaning. A layer may be visited again after a change. A tensor that no
    layer has been visited for has the trace that its shape alone gives.
    """

    __slots__ = ("batch", "held")

    def __init__(self, batch: str | None = None, held: dict[int, Held] | None = None) -> None:
        self.batch = batch
        self.held = {} if held is None else held

    def of(self, slot: int, fact: Fact, recorded: Shape = None) -> Held:
        """What is known of a tensor. `recorded` is its recorded shape."""
        return self.held.get(slot) or Held(plain(fact.shape, recorded))

    def visit(self, layer: Layer) -> Flowed:
        """What flows out of a layer, from what flows into it; the traces of its outputs are kept."""
        inputs = [self.of(*tensor) for tensor in layer.inputs]
        found = flowed(layer, inputs, self.batch)
        for tensor, held in zip(layer.outputs, found.outputs, strict=True):
            self.held[tensor.slot] = held
        if self.batch is not None and layer.op is not None and len(layer.outputs) == 1:
            ((slot, fact, _),) = layer.outputs
            law = law_of(layer.op, [tensor.fact for tensor in layer.inputs], [held.law for held in inputs], fact)
            self.held[slot] = self.held[slot]._replace(law=law)
        return found


class Tensor(NamedTuple):
    """A tensor that a layer reads or gives: its slot, its fact, and the shape that the file records."""

    slot: int
    fact: Fact
    recorded: Shape = None


class Layer(NamedTuple):
    """A layer as its flow sees it: its operation (None if it is unknown), its name for messages, and its tensors."""

    op: Op | None
    name: str
    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]


def flowed(layer: Layer, inputs: Sequence[Held], batch: str | None) -> Flowed:
    """What flows out of a layer, from what is known of its inputs."""
    op = layer.op
    plains = [Held(plain(tensor.fact.shape, tensor.recorded)) for tensor in layer.outputs]
    if op is None:
        return Flowed(plains, unproven="the operation is unknown")
    if op.flow is None:
        taint = next((one.taint for one in inputs if one.taint), "")
        if taint and all(one.taint or _is_free(one, batch) for one in inputs):  # a function of the size of the batch, whichever it is
            return Flowed([held._replace(taint=taint) for held in plains])
        return Flowed(plains, unproven="irshape has no rule for its axes" if _is_asked(inputs, batch) else "")
    ports = _ports(op, [tensor.fact for tensor in layer.inputs])
    flow = Flow(layer.name, ports, inputs, [one.trace for one in plains], batch)
    try:
        op.flow(flow, *arranged(op, ports))
        return Flowed([_cleared(held, tensor.fact, batch) for held, tensor in zip(flow.concluded(), layer.outputs, strict=True)])
    except UnknownRank:
        reason = "the rank of a tensor is not known"
    except Mixed as error:
        return Flowed(plains, mixed=str(error))
    except Unproven as error:
        if batch is not None and isinstance(error, Random):
            return Flowed(plains, unproven=str(error))
        reason = str(error)
    return Flowed(plains, unproven=reason if _is_asked(inputs, batch) else "")


def _is_asked(inputs: Sequence[Held], batch: str | None) -> bool:
    """Whether a layer reads the batch, or what is computed from its size."""
    return any(one.taint or not _is_free(one, batch) for one in inputs)


def _is_free(held: Held, batch: str | None) -> bool:
    """Whether a tensor is known not to hold the batch."""
    return batch is None or (held.trace is not None and not any(holds(axis, batch) for axis in held.trace))


def _cleared(held: Held, fact: Fact, batch: str | None) -> Held:
    """A tensor without its taint, if its elements are known and do not depend on the batch."""
    if held.taint and fact.elements is not None and not any(_may_depend(element, batch or "") for element in fact.elements):
        return Held(held.trace)
    return held


def _may_depend(element: Element, batch: str) -> bool:
    """Whether an element may be computed from the batch: a size of its own may be."""
    if isinstance(element, Real):
        return element.size is None or _may_depend(element.size, batch)
    return isinstance(element, Dim) and (batch in symbols(element) or bool(origins(element) & UNBACKED))


def _ports(op: Op, facts: Sequence[Fact]) -> list[Input]:
    """The inputs of a layer as its rule sees them."""
    ports = op.arrangement(len(facts))
    return [
        Input(port, index, -1, fact.element_type, fact.shape, fact.elements, fact.is_literal, _no_shape, fact.ends)
        for index, (port, fact) in enumerate(zip(ports, facts, strict=False))
    ]


def _no_shape(rank: int) -> tuple[Size, ...]:
    raise UnknownRank
