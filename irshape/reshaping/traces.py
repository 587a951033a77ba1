"""The traces of the tensors of a pass: which factors row-major order put into each axis, and where the batch lies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from irshape.inference.apply import arranged
from irshape.inference.facts import Fact
from irshape.ops.flow import OWN, Axis, Factor, Flow, Held, Mixed, Random, Trace, Unproven, holds, key
from irshape.ops.op import Input, Op, UnknownRank
from irshape.shape.dim import Dim, Size, origins, product, symbols
from irshape.shape.limits import Work
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


class Traces:
    """The traces of the tensors of a graph, by slot, as far as its layers have been visited.

    `batch` is the symbol of the batch, None to trace sizes of any meaning. A layer may be visited again after a change; `copy` keeps the
    traces of now. A tensor that no layer has been visited for has the trace that its shape alone gives.
    """

    __slots__ = ("batch", "held")

    def __init__(self, batch: str | None = None, held: Mapping[int, Held] = MappingProxyType({})) -> None:
        self.batch = batch
        self.held = dict(held)

    def copy(self) -> Traces:
        """The same traces, to go back to."""
        return Traces(self.batch, self.held)

    def of(self, slot: int, fact: Fact, recorded: Shape = None) -> Held:
        """What is known of a tensor. `recorded` is its recorded shape."""
        return self.held.get(slot) or Held(plain(fact.shape, recorded))

    def visit(self, layer: Layer) -> Flowed:
        """What flows out of a layer, from what flows into it; the traces of its outputs are kept."""
        inputs = [self.of(*tensor) for tensor in layer.inputs]
        found = flowed(layer, inputs, self.batch)
        for tensor, held in zip(layer.outputs, found.outputs, strict=True):
            self.held[tensor.slot] = held
        return found

    def products(self) -> dict[object, Axis]:
        """The axes that are products of formulas, by their formulas: `h*w` was joined of h and w."""
        return {
            key(product([one.size for one in axis])): axis
            for held in self.held.values()
            for axis in held.trace or ()
            if sum(isinstance(one.size, Dim) for one in axis) > 1
        }


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
    is_asked = batch is not None and any(one.taint or one.trace is None or any(holds(axis, batch) for axis in one.trace) for one in inputs)
    if op.flow is None:
        return _without_rule(plains, inputs, is_asked)
    flow = Flow(layer.name, inputs, [one.trace for one in plains], batch)
    reason = ""
    try:
        op.flow(flow, *arranged(op, _ports(op, [tensor.fact for tensor in layer.inputs])))
        return Flowed([_cleared(held, tensor.fact, batch) for held, tensor in zip(flow.concluded(), layer.outputs, strict=True)])
    except UnknownRank:
        reason = "the rank of a tensor is not known"
    except Mixed as error:
        return Flowed(plains, mixed=str(error))
    except Unproven as error:
        reason, is_asked = str(error), is_asked or (batch is not None and isinstance(error, Random))
    return Flowed(plains, unproven=reason if is_asked else "")


def _without_rule(plains: list[Held], inputs: Sequence[Held], is_asked: bool) -> Flowed:
    """What flows out of a layer whose operation has no rule: nothing depends on the batch if no input does."""
    return Flowed(plains, unproven="irshape has no rule for its axes" if is_asked else "")


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


class Target(NamedTuple):
    """A trace that the output of a Reshape may have.

    `mixed` counts the open factors of recorded size 1 that share an axis with others, `moved` how many axes the open factors move. `number` is
    the place of the target in the order in which they are found.
    """

    mixed: int
    moved: int
    number: int
    trace: Trace

    @property
    def shape(self) -> tuple[Size, ...]:
        """The sizes of the axes."""
        return tuple([product([one.size for one in axis]) for axis in self.trace])


def targets(
    trace: Trace, recorded: Sequence[int], products: Mapping[object, Axis] = MappingProxyType({}), work: Work | None = None
) -> list[Target]:
    """The traces that the output of a Reshape may have whose recorded shape is given, the most likely first.

    The factors of the data in their order are put into axes of the recorded sizes. A numeric factor is cut where an axis ends; so is a
    formula, on either side, and a formula that is one of the `products` where it was joined. Each step takes `work`; there are none if no
    work is left.
    """
    flat = [one for axis in trace for one in axis if one != (1, 1)]
    places = {one: axis for axis, factors in enumerate(trace) for one in factors if isinstance(one.size, Dim)}
    found = [Target(*_moves(target, places), number, target) for number, target in enumerate(_Filling(recorded, products, work).of(flat))]
    return sorted(found)


def _moves(target: Trace, places: Mapping[Factor, int]) -> tuple[int, int]:
    mixed = moved = 0
    for axis, factors in enumerate(target):
        for one in factors:
            if isinstance(one.size, Dim):
                mixed += one.recorded == 1 and sum(other.size != 1 for other in factors) > 1
                moved += abs(places.get(one, axis) - axis)
    return mixed, moved


class _Filled(NamedTuple):
    """How far axes are filled: `done` are whole, `taken` is the one that still needs factors of the recorded product `need`, `rest` is left."""

    done: tuple[Axis, ...]
    need: int
    taken: Axis
    rest: tuple[Factor, ...]


class _Filling:
    """The ways to fill axes of recorded sizes with factors in their order."""

    def __init__(self, recorded: Sequence[int], products: Mapping[object, Axis], work: Work | None) -> None:
        self.recorded = recorded
        self.products = products
        self.work = work

    def of(self, factors: Sequence[Factor]) -> list[Trace]:
        """At most `MOST_TARGETS` traces; the steps are counted."""
        found: list[Trace] = []
        if not self.recorded or 0 in self.recorded:
            return found
        pending = [_Filled((), self.recorded[0], (), tuple(factors))]
        for _ in range(_MOST_STEPS):
            if not pending or len(found) >= MOST_TARGETS or (self.work is not None and self.work.is_done):
                break
            if self.work is not None:
                self.work.take(1)
            state = pending.pop()
            if len(state.done) < len(self.recorded):
                pending += reversed(list(self._next(state)))
            elif not state.rest:
                found.append(state.done)
            elif all(one.recorded == 1 for one in state.rest):
                found.append((*state.done[:-1], (*state.done[-1], *state.rest)))
        return found

    def _next(self, state: _Filled) -> Iterator[_Filled]:
        """The states that one more step leads to."""
        done, need, taken, rest = state
        if need == 1:
            following = self.recorded[len(done) + 1] if len(done) + 1 < len(self.recorded) else 1
            yield _Filled((*done, taken or (OWN,)), following, (), rest)
            if rest and rest[0].recorded == 1:
                yield _Filled(done, 1, (*taken, rest[0]), rest[1:])
            return
        if not rest or not rest[0].recorded:
            return
        (size, recorded), more = rest[0], rest[1:]
        known = self.products.get(key(size)) if isinstance(size, Dim) else None
        if need % recorded == 0:
            yield _Filled(done, need // recorded, (*taken, rest[0]), more)
        elif recorded % need == 0:
            left = recorded // need
            if known is not None:
                yield _Filled(done, need, taken, (*known, *more))
            if isinstance(size, int):
                yield _Filled(done, 1, (*taken, Factor(need, need)), (Factor(left, left), *more))
            else:
                yield _Filled(done, 1, (*taken, Factor(size // left, need)), (Factor(left, left), *more))
                yield _Filled(done, 1, (*taken, Factor(need, need)), (Factor(size // need, left), *more))
        elif isinstance(size, int) and more and isinstance(more[0].size, int) and more[0].recorded:
            yield _Filled(done, need, taken, (Factor(size * more[0].size, recorded * more[0].recorded), *more[1:]))
        elif known is not None:
            yield _Filled(done, need, taken, (*known, *more))
