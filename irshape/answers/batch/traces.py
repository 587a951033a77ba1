"""The traces of the tensors of a graph: which factors row-major order put into each axis, and where the batch lies.

Integers that grow by equal steps along the axes follow a law: so the indices `n*S + s` of `mask[arange(N), i]` tell their samples apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product as combined
from math import prod
from typing import Any, Final, NamedTuple, TypeAlias

from irshape.inference.apply import arranged
from irshape.inference.facts import POISONED, Fact
from irshape.ops.flow import Factor, Flow, Held, Law, Mixed, Random, Term, Trace, Unproven, holds, quotient, same
from irshape.ops.op import Input, Op, UnknownRank
from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import ERROR
from irshape.shape.dim import Dim, Size, origins, product, symbols
from irshape.shape.element_type import ElementType
from irshape.shape.polynomial import UNBACKED
from irshape.shape.shape import Shape
from irshape.shape.value import Element, Real

_Axis: TypeAlias = tuple[Term, ...]
# Integers of other types may wrap around.
_TYPES: Final = (ElementType.i64, ElementType.i32)
# The law of a constant is sought among so many elements.
_MOST: Final = 4096


def law_of(op: Op, facts: Sequence[Fact], laws: Sequence[Law | None], output: Fact) -> Law | None:
    """The law of the elements that a layer gives, from what it reads; None if they follow none that is known."""
    rule = _RULES.get(op.TYPE)
    if rule is None or output.shape is None or output.element_type not in _TYPES:
        return None
    found: Law | None = rule(op, facts, [law or known(fact) for law, fact in zip(laws, facts, strict=True)], output.shape)
    if found is None or len(found.axes) != len(output.shape):
        return None
    return found if all(same(_size(axis), size) for axis, size in zip(found.axes, output.shape, strict=True)) else None


def known(fact: Fact) -> Law | None:
    """The law of elements that are known."""
    elements, shape = fact.elements, fact.shape
    if elements is None or shape is None or fact.element_type not in _TYPES or not 0 < len(elements) <= _MOST:
        return None
    if len(elements) == 1:
        return Law(elements[0], ((),) * len(shape)) if isinstance(elements[0], int | Dim) else None
    sizes = [size for size in shape if isinstance(size, int)]
    if len(sizes) != len(shape) or not all(isinstance(one, int) for one in elements):
        return None
    numbers: Sequence[Any] = elements
    strides = [prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    steps = [numbers[stride] - numbers[0] if size > 1 else 0 for size, stride in zip(sizes, strides, strict=True)]
    places = combined(*map(range, sizes))
    if any(one != numbers[0] + sum(map(int.__mul__, place, steps)) for one, place in zip(numbers, places, strict=True)):
        return None
    return Law(numbers[0], tuple([(Term(size, step),) if size > 1 else () for size, step in zip(sizes, steps, strict=True)]))


def _size(axis: _Axis) -> Size:
    return product([term.size for term in axis])


def _counted(op: Op, facts: Sequence[Fact], laws: Sequence[Law | None], shape: Sequence[Size]) -> Law | None:
    start, _, step = laws
    return None if start is None or step is None else Law(start.base, ((Term(shape[0], step.base),),))


def _same(op: Op, facts: Sequence[Fact], laws: Sequence[Law | None], shape: Sequence[Size]) -> Law | None:
    return laws[0] if facts[0].element_type in _TYPES else None


def _regrouped(op: Op, facts: Sequence[Fact], laws: Sequence[Law | None], shape: Sequence[Size]) -> Law | None:
    law = laws[0]
    if law is None:
        return None
    rest = [term for axis in law.axes for term in axis if term.size != 1]
    axes: list[_Axis] = []
    for size in shape:
        taken: list[Term] = []
        while size != 1:
            if not rest:
                return None
            first, left = rest[0], quotient(size, rest[0].size)
            if left is not None:
                taken.append(rest.pop(0))
                size = left
            elif (inner := quotient(first.size, size)) is not None:
                taken.append(Term(size, first.step * inner))
                rest[0] = Term(inner, first.step)
                break
            else:
                return None
        axes.append(tuple(taken))
    return None if rest else Law(law.base, tuple(axes))


def _transposed(op: Op, facts: Sequence[Fact], laws: Sequence[Law | None], shape: Sequence[Size]) -> Law | None:
    law, order = laws[0], facts[1].elements
    if law is None or order is None or not all(isinstance(one, int) for one in order):
        return None
    return law._replace(axes=tuple([law.axes[one] for one in order or range(len(law.axes))[::-1]]))


def _repeated(op: Op, facts: Sequence[Fact], laws: Sequence[Law | None], shape: Sequence[Size]) -> Law | None:
    """Tile and Broadcast: copies are equal, so the step from one to the next is 0."""
    law = laws[0]
    if law is None or str(getattr(op, "mode", "numpy")).lower() not in ("numpy", "bidirectional"):
        return None
    own = ((),) * (len(shape) - len(law.axes)) + law.axes
    axes = []
    for axis, size in zip(own, shape, strict=False):
        times = quotient(size, _size(axis))
        if times is None:
            return None
        axes.append(axis if times == 1 else (Term(times, 0), *axis))
    return law._replace(axes=tuple(axes))


def _aligned(one: Law, other: Law) -> Iterator[tuple[_Axis, _Axis]]:
    rank = max(len(one.axes), len(other.axes))
    return zip(*(((),) * (rank - len(law.axes)) + law.axes for law in (one, other)), strict=True)


def _added(sign: int) -> Callable[..., Law | None]:
    def law(op: Op, facts: Sequence[Fact], laws: Sequence[Law | None], shape: Sequence[Size]) -> Law | None:
        one, other = laws
        if one is None or other is None:
            return None
        axes: list[_Axis] = []
        for a, b in _aligned(one, other):
            if a and b and (len(a) != len(b) or not all(same(x.size, y.size) for x, y in zip(a, b, strict=True))):
                return None
            steps = [(term.step if a else 0) + sign * (last.step if b else 0) for term, last in zip(a or b, b or a, strict=True)]
            axes.append(tuple([Term(term.size, step) for term, step in zip(a or b, steps, strict=True)]))
        return Law(one.base + sign * other.base, tuple(axes))

    return law


def _scaled(op: Op, facts: Sequence[Fact], laws: Sequence[Law | None], shape: Sequence[Size]) -> Law | None:
    one, other = laws
    if one is None or other is None or (any(one.axes) and any(other.axes)):
        return None
    law, number = (other, one.base) if any(other.axes) else (one, other.base)
    axes = [tuple([Term(term.size, term.step * number) for term in a or b]) for a, b in _aligned(one, other)]
    return Law(law.base * number, tuple(axes))


_RULES: Final[dict[str, Callable[..., Law | None]]] = {
    "Range": _counted,
    "Convert": _same,
    **dict.fromkeys(("Reshape", "Squeeze", "Unsqueeze"), _regrouped),
    "Transpose": _transposed,
    **dict.fromkeys(("Broadcast", "Tile"), _repeated),
    "Add": _added(1),
    "Subtract": _added(-1),
    "Multiply": _scaled,
}


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
        slot, fact, _ = layer.outputs[0] if layer.outputs else (-1, POISONED, None)
        if self.batch is not None and layer.op is not None and fact.element_type in _TYPES:
            law = law_of(layer.op, [tensor.fact for tensor in layer.inputs], [held.law for held in inputs], fact)
            self.held[slot] = self.held[slot]._replace(law=law)
        return found


class Tensor(NamedTuple):
    """A tensor that a layer reads or gives: its slot, its fact, and the shape that the file records."""

    slot: int
    fact: Fact
    recorded: Shape = None


class Layer(NamedTuple):
    """A layer as its flow sees it: its operation (None if it is unknown), its name for messages, and its tensors.

    `codes` are those of the faults of the layer: nothing flows through a layer that is never valid.
    """

    op: Op | None
    name: str
    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]
    codes: Iterable[str] = ()


def flowed(layer: Layer, inputs: Sequence[Held], batch: str | None) -> Flowed:
    """What flows out of a layer, from what is known of its inputs."""
    op = layer.op
    plains = [Held(plain(tensor.fact.shape, tensor.recorded)) for tensor in layer.outputs]
    if op is None:
        return Flowed(plains, unproven="the operation is unknown")
    if any(code == "R401" or CATALOGUE[code].severity == ERROR for code in layer.codes):
        return Flowed(plains, unproven="the layer has an error")
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
