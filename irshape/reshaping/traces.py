"""The traces of the tensors of a pass: which factors row-major order put into each axis, and where the batch lies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from irshape.inference.apply import arranged
from irshape.inference.facts import Fact
from irshape.ops.flow import Factor, Flow, Held, Mixed, Random, Trace, Unproven, holds
from irshape.ops.op import Input, Op, UnknownRank
from irshape.shape.dim import Dim, Size, origins, symbols
from irshape.shape.polynomial import UNBACKED
from irshape.shape.shape import Shape
from irshape.shape.value import Element, Real

# At most so many targets of a Reshape are found, in at most so many steps.
MOST_TARGETS: Final = 24
_MOST_STEPS: Final = 4096


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


def flowed(op: Op | None, layer: str, facts: Sequence[Fact], inputs: Sequence[Held], outputs: Sequence[Held], batch: str | None) -> Flowed:
    """What flows out of a layer.

    `op` is the operation, None if it is unknown, and `layer` names the layer in messages. `facts` and `inputs` are those of the tensors
    that it reads; `outputs` are its outputs as their shapes alone tell, see `plain`. `batch` is the symbol of the batch; without one, axes are
    traced, and nothing is mixed.
    """
    if op is None:
        return Flowed(list(outputs), unproven="the operation is unknown")
    inputs = [_cleared(held, fact, batch) for held, fact in zip(inputs, facts, strict=True)]
    is_asked = batch is not None and any(one.taint or one.trace is None or any(holds(axis, batch) for axis in one.trace) for one in inputs)
    if op.flow is None:
        return Flowed(list(outputs), unproven="irshape has no rule for its axes" if is_asked else "")
    ports = _ports(op, facts)
    flow = Flow(layer, ports, inputs, [one.trace for one in outputs], batch)
    try:
        op.flow(flow, *arranged(op, ports))
        return Flowed(flow.concluded())
    except Mixed as error:
        return Flowed(list(outputs), mixed=str(error))
    except Random as error:
        return Flowed(list(outputs), unproven="" if batch is None else str(error))
    except Unproven as error:
        reason = str(error)
    except UnknownRank:
        reason = "the rank of a tensor is not known"
    return Flowed(list(outputs), unproven=reason if is_asked else "")


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
