"""The traces of the tensors of a graph, and the proof that a model keeps a batch: its outputs are stacks of single samples, for every N.

A trace says which factors row-major order put into each axis, and where the batch lies. Each layer keeps the batch if no axis that holds N
is mixed. A value that is computed from N counts as mixing where it meets data: the walk follows it from the ShapeOf that reads N. Integers
that grow by equal steps along the axes follow a law: so the indices `n*S + s` of `mask[arange(N), i]` tell their samples apart.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product as combined
from math import prod
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar, cast

from irshape.inference.apply import arranged
from irshape.inference.engine import Engine
from irshape.inference.facts import Fact
from irshape.inference.run import Run
from irshape.inference.variables import pairs
from irshape.model.bodies import Body, Slice
from irshape.model.model import SINKS, Model, Node, reached
from irshape.ops.flow import Counted, Factor, Flow, Held, Law, Mixed, Random, Term, Trace, Unproven, holds, is_symbol, quotient, same
from irshape.ops.infrastructure import Constant
from irshape.ops.op import Input, Op, UnknownRank
from irshape.report.catalogue import is_fault
from irshape.shape.dim import Dim, Size, are_known, expression_of, le_unasked, origins, product, symbols
from irshape.shape.element_type import ElementType
from irshape.shape.polynomial import UNBACKED
from irshape.shape.shape import Shape
from irshape.shape.value import Element, Real, Unreadable

_Axis: TypeAlias = tuple[Term, ...]
_T = TypeVar("_T")
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


def _ranged(op: Op, facts: Sequence[Fact], laws: Sequence[Law | None], shape: Sequence[Size]) -> Law | None:
    start, _, step = laws
    if start is None or step is None or start.within != 1 or step.within != 1:
        return None
    return Law(start.base, ((Term(shape[0], step.base),),))


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
    return None if rest else law._replace(axes=tuple(axes))


def _transposed(op: Op, facts: Sequence[Fact], laws: Sequence[Law | None], shape: Sequence[Size]) -> Law | None:
    law, order = laws[0], facts[1].elements
    if law is None or order is None or not all(isinstance(one, int) for one in order):
        return None
    return law._replace(axes=tuple([law.axes[one] for one in order or range(len(law.axes))[::-1]]))


def _sliced(op: Op, facts: Sequence[Fact], laws: Sequence[Law | None], shape: Sequence[Size]) -> Law | None:
    """Slice: a range of an axis begins later, and takes longer steps."""
    law, (begins, _, steps, *named) = laws[0], [fact.elements for fact in facts[1:]]
    axes: Any = named[0] if named else begins and range(len(begins))
    if law is None or begins is None or steps is None or axes is None:
        return None
    base, made = law.base, list(law.axes)
    for axis, begin, step in zip(axes, begins, steps, strict=True):
        if same(_size(made[axis]), shape[axis]):
            continue
        if not isinstance(step, int) or step < 1 or not isinstance(begin, int) or begin < 0 or len(made[axis]) != 1:
            return None
        base, made[axis] = base + made[axis][0].step * begin, (Term(shape[axis], made[axis][0].step * step),)
    return law._replace(base=base, axes=tuple(made))


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
        if one is None or other is None or (sign < 0 and other.within != 1):
            return None
        axes: list[_Axis] = []
        for a, b in _aligned(one, other):
            if a and b and (len(a) != len(b) or not all(same(x.size, y.size) for x, y in zip(a, b, strict=True))):
                return None
            steps = [(term.step if a else 0) + sign * (last.step if b else 0) for term, last in zip(a or b, b or a, strict=True)]
            axes.append(tuple([Term(term.size, step) for term, step in zip(a or b, steps, strict=True)]))
        return Law(one.base + sign * other.base, tuple(axes), one.within + other.within - 1)

    return law


def _scaled(op: Op, facts: Sequence[Fact], laws: Sequence[Law | None], shape: Sequence[Size]) -> Law | None:
    one, other = laws
    if one is None or other is None or (any(one.axes) and any(other.axes)):
        return None
    law, factor = (other, one) if any(other.axes) else (one, other)
    number = factor.base
    if factor.within != 1 or (law.within != 1 and le_unasked(0, number) is not True):
        return None
    axes = [tuple([Term(term.size, term.step * number) for term in a or b]) for a, b in _aligned(one, other)]
    return Law(law.base * number, tuple(axes), (law.within - 1) * number + 1)


def _below(shape: Sequence[Size], size: Size, base: Size = 0) -> Law:
    """Elements of which only their range is known."""
    return Law(base, tuple([() if own == 1 else (Term(own, 0),) for own in shape]), size)


def _remainder(op: Op, facts: Sequence[Fact], laws: Sequence[Law | None], shape: Sequence[Size]) -> Law | None:
    divisor = laws[1]
    if divisor is None or divisor.within != 1 or any(divisor.axes) or le_unasked(1, divisor.base) is not True:
        return None
    return _below(shape, divisor.base)


def _selected(op: Op, facts: Sequence[Fact], laws: Sequence[Law | None], shape: Sequence[Size]) -> Law | None:
    """Elements of one of two tensors, of each of which the range is known as numbers."""
    kept = [law for law in laws[1:] if law is not None and not any(term.step for axis in law.axes for term in axis)]
    ranges = [(law.base, law.base + law.within) for law in kept if isinstance(law.base, int) and isinstance(law.within, int)]
    low = min([one for one, _ in ranges], default=0)
    return _below(shape, max([one for _, one in ranges]) - low, low) if len(ranges) == 2 else None


_RULES: Final[dict[str, Callable[..., Law | None]]] = {
    "Range": _ranged,
    "TopK": lambda op, facts, laws, shape: facts[0].shape and _below(shape, facts[0].shape[op.axis]),
    "FloorMod": _remainder,
    "Select": _selected,
    "Convert": lambda op, facts, laws, shape: laws[0] if facts[0].element_type in _TYPES else None,
    **dict.fromkeys(("Reshape", "Squeeze", "Unsqueeze"), _regrouped),
    "Transpose": _transposed,
    "Slice": _sliced,
    **dict.fromkeys(("Broadcast", "Tile"), _repeated),
    "Add": _added(1),
    "Subtract": _added(-1),
    "Multiply": _scaled,
}


# The output whose elements follow the law, if it is not the first one.
_OUTPUTS: Final = {"TopK": 1}


class Flowed(NamedTuple):
    """What flows out of a layer: the tensors, and why the batch is mixed, or is not proved; these are empty if it is kept.

    Both texts are there for a layer that computes with the size of the batch: it is not proved, and no other choice proves it.
    `orders` is the position of the input that orders the samples, if one does.
    """

    outputs: list[Held]
    mixed: str = ""
    unproven: str = ""
    orders: int | None = None


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

    def __init__(self, batch: str | None = None, held: dict[int, Held] | None = None) -> None:
        self.batch = batch
        self.held = {} if held is None else held

    def of(self, slot: int, fact: Fact, recorded: Shape = None) -> Held:
        """What is known of a tensor. `recorded` is its recorded shape."""
        return self.held.get(slot) or Held(plain(fact.shape, recorded))

    def visit(self, layer: FlowLayer) -> Flowed:
        """What flows out of a layer, from what flows into it; the traces of its outputs are kept."""
        inputs = [self.of(*tensor) for tensor in layer.inputs]
        law, at = None, _OUTPUTS.get(layer.op.TYPE, 0) if layer.op is not None else 0
        if self.batch is not None and layer.op is not None and at < len(layer.outputs) and not layer.is_at_fault:
            law = law_of(layer.op, [tensor.fact for tensor in layer.inputs], [held.law for held in inputs], layer.outputs[at].fact)
        found = flowed(layer, inputs, self.batch, is_lawful=law is not None and not at)
        for place, (tensor, held) in enumerate(zip(layer.outputs, found.outputs, strict=True)):
            self.held[tensor.slot] = held if place != at else held._replace(law=law)
        return found


class FlowTensor(NamedTuple):
    """A tensor that a layer reads or gives: its slot, its fact, and the shape that the file records."""

    slot: int
    fact: Fact
    recorded: Shape = None


class FlowLayer(NamedTuple):
    """A layer as its flow sees it; `op` is None if it is unknown, and nothing flows through a layer with faults, which have `codes`."""

    op: Op | None
    name: str
    inputs: Sequence[FlowTensor]
    outputs: Sequence[FlowTensor]
    codes: Iterable[str] = ()

    @property
    def is_at_fault(self) -> bool:
        """Whether the layer is never valid."""
        return any(map(is_fault, self.codes))


def flowed(layer: FlowLayer, inputs: Sequence[Held], batch: str | None, *, is_lawful: bool = False) -> Flowed:
    """What flows out of a layer, from what is known of its inputs. With `is_lawful`, a law tells the elements of its output."""
    op = layer.op
    plains = [Held(plain(tensor.fact.shape, tensor.recorded)) for tensor in layer.outputs]
    if op is None:
        return Flowed(plains, unproven="the operation is unknown")
    if layer.is_at_fault:
        return Flowed(plains, unproven="the layer has an error")
    if not plains:
        return Flowed(plains)
    if op.flow is None:
        taint = next((one.taint for one in inputs if one.taint), "")
        if taint and all(one.taint or _is_free(one, batch) for one in inputs):  # a function of the size of the batch, whichever it is
            return Flowed([held._replace(taint=taint) for held in plains])
        return Flowed(plains, unproven="irshape has no rule for its axes" if _is_asked(inputs, batch) else "")
    ports = inputs_of(op, [tensor.fact for tensor in layer.inputs])
    flow = Flow(layer.name, ports, inputs, [one.trace for one in plains], batch)
    flow.is_lawful = is_lawful
    try:
        op.flow(flow, *arranged(op, ports))
        outputs = [cleared(held, tensor.fact, batch) for held, tensor in zip(flow.concluded(), layer.outputs, strict=True)]
        return Flowed(outputs, orders=flow.orders.index if flow.orders is not None else None)
    except UnknownRank:
        reason = "the rank of a tensor is not known"
    except Mixed as error:
        return Flowed(plains, str(error), f"it {error}" if isinstance(error, Counted) else "")
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


def cleared(held: Held, fact: Fact, batch: str | None) -> Held:
    """A tensor without its taint, if its elements are known and do not depend on the batch."""
    if held.taint and fact.elements is not None and not any(_may_depend(element, batch or "") for element in fact.elements):
        return Held(held.trace)
    return held


def _may_depend(element: Element, batch: str) -> bool:
    """Whether an element may be computed from the batch: a size of its own may be."""
    if isinstance(element, Real):
        return element.size is None or _may_depend(element.size, batch)
    return isinstance(element, Dim) and (batch in symbols(element) or bool(origins(element) & UNBACKED))


def chosen(producers: Sequence[_T], condition: Collection[object] | None) -> Sequence[_T]:
    """Of the layers that give the inputs of a Select, the condition and the one that it chooses; all of them if it is not known."""
    first = [] if condition is None else [*condition]
    is_known = len(producers) == 3 and first and all(isinstance(one, int) and one == first[0] for one in first)
    return [producers[0], producers[1 if first[0] else 2]] if is_known else producers


def inputs_of(op: Op, facts: Sequence[Fact]) -> list[Input]:
    """The inputs of a layer as its rule sees them, without a place to report to: a shape of unknown rank raises `UnknownRank`."""

    def no_shape(rank: int) -> tuple[Size, ...]:
        raise UnknownRank

    elements = [None if type(fact.elements) is Unreadable else fact.elements for fact in facts]
    return [
        Input(port, index, -1, fact.element_type, fact.shape, own, fact.is_literal, no_shape, fact.ends)
        for index, (port, fact, own) in enumerate(zip(op.arrangement(len(facts)), facts, elements, strict=False))
    ]


# Constants with more elements take no part in the arithmetic of sizes.
_MOST_ELEMENTS: Final = 1024
# So often the tensors that an iteration hands to the next one may become tainted.
_MOST_PASSES: Final = 3


class BatchDoubt(NamedTuple):
    """A layer that may mix the batch, and `why`; `folded` is the Reshape that has put the batch into one axis with other elements."""

    node: Node
    why: str
    is_mixed: bool
    folded: Node | None = None


class Proof(NamedTuple):
    """What is proved of a batch: `doubts` in the order of the graph, its axis in each output, and the inputs by which layers order it."""

    doubts: list[BatchDoubt]
    outputs: dict[Node, int | None]
    orders: dict[Node, Node]


def sizes_of(model: Model) -> Collection[int]:
    """The tensors that are computed from sizes and small constants, and those computed from constants alone that they read."""
    sizes: dict[int, None] = {}
    folded: set[int] = set()
    constants = set()
    for index in model.order:
        node = model.nodes[index]
        op = node.op
        if op is None or op.propagate is None:
            if isinstance(op, Constant) and not op.is_broken and are_known(op.shape) and prod(op.shape) <= _MOST_ELEMENTS:
                constants.add(node.first_slot)
        elif op.TYPE == "ShapeOf" or any(slot in sizes for slot in node.sources):
            if op.TYPE == "ShapeOf" or all(slot in sizes or slot in folded or slot in constants for slot in node.sources):
                sizes.update(dict.fromkeys(node.slots))
        elif node.sources and all(slot in folded or slot in constants for slot in node.sources):
            folded.update(node.slots)
    for index in reversed(model.order):
        node = model.nodes[index]
        if any(slot in sizes for slot in node.slots):
            sizes.update(dict.fromkeys(slot for slot in node.sources if slot in folded))
    return sizes.keys()


class FollowingEngine(Engine):
    """An engine that follows all arithmetic of sizes, whether a rule reads the results or not."""

    followed = staticmethod(sizes_of)


def prove(engine: Engine, batch: str) -> Proof:
    """Whether the model keeps the batch, whose symbol is the size of the batch axes of the inputs in the last pass of an engine."""
    doubts: list[BatchDoubt] = []
    walk = _Walk(engine, engine.current, batch, doubts)
    walk.over({node: walk.held(node.first_slot)._replace(is_given=True) for node in engine.model.parameters})
    return Proof(doubts, dict(walk.results()), walk.orders)


class _Walk:
    """The walk over one graph: the net, or a body. `lost` are the tensors behind a layer in doubt: nothing more is said of them."""

    def __init__(self, engine: Engine, run: Run, batch: str, doubts: list[BatchDoubt]) -> None:
        self.engine = engine
        self.run = run
        self.batch = batch
        self.doubts = doubts
        self.traces = Traces(batch)
        self.lost: set[int] = set()
        self.folds: dict[int, Node] = {}
        self.orders: dict[Node, Node] = {}

    def over(self, entered: Mapping[Node, Held]) -> None:
        """Visit every layer; `entered` are the tensors that enter a body by its Parameters."""
        read = {*reached([node for node in self.engine.model.nodes if node.type in SINKS], self._producers)}
        for node in self.engine.schedule.nodes:
            if node in entered:
                self.traces.held[node.first_slot] = entered[node]
            elif node in read:
                is_lost = any(slot in self.lost for slot in node.sources)
                if is_lost or (node.is_live and node.sources and not self._visited(node)):
                    self.lost.update(node.slots)
        for pair in pairs(self.engine.model):
            if pair.read_value is not None:
                self._compare(pair.read_value, pair.assign)

    def _producers(self, node: Node) -> Sequence[Node]:
        producers = node.producers
        return chosen(producers, self.run.slots[node.sources[0]].elements) if node.type == "Select" and producers else producers

    def held(self, slot: int) -> Held:
        """What is known of a tensor; a tensor that does not depend on the batch has no trace that holds it."""
        return self.traces.of(slot, self.run.slots[slot])

    def doubt(self, node: Node, why: str, *, is_mixed: bool = True) -> bool:
        """Say why a layer is in doubt. False, for the layer does not keep the batch."""
        one = BatchDoubt(node, why, is_mixed, next((self.folds[slot] for slot in node.sources if slot in self.folds), None))
        if one not in self.doubts:
            self.doubts.append(one)
        return False

    def results(self) -> Iterator[tuple[Node, int | None]]:
        """The axis of the batch in each output that is not lost."""
        for node in self.engine.model.results:
            slot = node.sources[0] if node.sources else -1
            if slot < 0 or slot in self.lost or not node.is_live:
                continue
            held = self.held(slot)
            if held.taint:
                why = f"it gives a value that is computed from the size of the batch {self.batch}, which {held.taint} reads"
                self.doubt(node, why, is_mixed=False)
                continue
            axis = self.axis(held)
            factors = () if axis is None or held.trace is None else held.trace[axis]
            if factors and not is_symbol(tuple([one for one in factors if one.size != 1]), self.batch):
                sizes = ", ".join([str(one.size) for one in factors])
                self.doubt(node, f"gives the batch {self.batch} no axis of its own: axis {axis} is ({sizes})")
                continue
            yield node, axis

    def axis(self, held: Held) -> int | None:
        """The axis of a tensor that holds the batch."""
        return next((axis for axis, factors in enumerate(held.trace or ()) if holds(factors, self.batch)), None)

    def _visited(self, node: Node) -> bool:
        """Whether a layer keeps the batch."""
        type = node.op.TYPE if node.op is not None else ""
        if node.index in self.engine.maps:
            return _Control(self, node).visited()
        if type in ("ReadValue", "Assign"):
            self.traces.held[node.first_slot] = self.held(node.sources[0])._replace(law=None)  # another inference has other elements
            return True
        tensors = [FlowTensor(slot, self.run.slots[slot]) for slot in node.sources]
        outputs = [FlowTensor(slot, self.run.slots[slot]) for slot in node.slots]
        report = self.run.reports.get(self.engine.schedule.positions[node.index])
        codes = [one.code for one in (report and report.diagnostics) or ()]
        found = self.traces.visit(FlowLayer(node.op, f"{node.type} {node.name!r}", tensors, outputs, codes))
        if found.mixed:
            return self.doubt(node, found.unproven or found.mixed, is_mixed=not found.unproven)
        if found.orders is not None:
            model = self.engine.model
            self.orders[node] = model.nodes[model.producers[node.sources[found.orders]]]
        fold = next((self.folds[slot] for slot in node.sources if slot in self.folds), node if type == "Reshape" else None)
        for slot in node.slots if fold is not None else ():
            axis = self.axis(held := self.held(slot))
            if fold is not None and axis is not None and held.trace is not None and len(held.trace[axis]) > 1:
                self.folds[slot] = fold
        return self.doubt(node, found.unproven, is_mixed=False) if found.unproven else True

    def _compare(self, read_value: Node, assign: Node) -> None:
        """Compare the batch of a variable before and after an inference."""
        slots = read_value.first_slot, assign.sources[0] if assign.sources else -1
        if -1 in slots or any(slot in self.lost for slot in slots):
            return
        before, after = map(self.held, slots)
        if after.taint:
            why = f"it keeps a value that is computed from the size of the batch {self.batch}, which {after.taint} reads"
            self.doubt(assign, why, is_mixed=False)
        elif self.axis(before) is None and not read_value.sources:
            self.doubt(assign, "the variable has no first value, so the axis of its batch is not known", is_mixed=False)
        elif not self.agree(before, after):
            self.doubt(assign, f"keeps the batch {self.batch} in another place than {read_value.type} {read_value.name!r} reads it from")

    def agree(self, one: Held, other: Held) -> bool:
        """Whether two tensors hold the batch in one place, or do not hold it."""
        return self._place(one) == self._place(other)

    def _place(self, held: Held) -> object:
        axis = self.axis(held)
        if axis is None or held.trace is None:
            return None
        factors = held.trace[axis]
        at = next(place for place, one in enumerate(factors) if holds((one,), self.batch))
        return axis, expression_of(product([one.size for one in factors[:at]])), expression_of(product([one.size for one in factors[at:]]))


class _Control:
    """The visit of a layer with bodies."""

    def __init__(self, walk: _Walk, node: Node) -> None:
        self.walk = walk
        self.node = node
        self.bodies = walk.engine.maps[node.index]
        self.inputs = [walk.held(slot)._replace(law=None) for slot in node.sources]  # another iteration has other elements
        self.found: list[list[Held | None]] = [[] for _ in range(node.layer.signature.output_count)]

    def visited(self) -> bool:
        """Whether the layer keeps the batch: what decides on its bodies is the same for all samples, and the bodies keep it."""
        node, walk = self.node, self.walk
        type = cast("Op", node.op).TYPE
        for position in {"If": (0,), "Loop": (0, 1)}.get(type, ()):
            one = self.inputs[position]
            if (is_mixed := walk.axis(one) is not None) or one.taint:
                why = f"reads how its bodies run from a tensor that depends on the batch {walk.batch}"
                return walk.doubt(node, why if is_mixed else f"it {why}", is_mixed=is_mixed)
        if not self.bodies:
            return walk.doubt(node, "its bodies are not known", is_mixed=False)
        if not all(self._entered(body) for body in self._running(type)):
            return False
        for slot, several in zip(node.slots, self.found, strict=True):
            first = several[0] if several else None
            if first is None or any(one is None or not walk.agree(one, first) for one in several):
                return walk.doubt(node, f"its bodies give the batch {walk.batch} in different places", is_mixed=False)
            walk.traces.held[slot] = max((one for one in several if one is not None), key=lambda one: one.taint)._replace(law=None)
        return True

    def _running(self, type: str) -> list[Body]:
        """The bodies that may run."""
        elements = self.walk.run.slots[self.node.sources[0]].elements if type == "If" else None
        if elements is not None and len(elements) == 1 and isinstance(elements[0], int):
            return [self.bodies[0 if elements[0] else 1]]
        return self.bodies

    def _entered(self, body: Body) -> bool:
        """Whether a body keeps the batch; the tensors that leave it are found."""
        walk, node = self.walk, self.node
        run = walk.run.inner.get((node.index, body.name))
        engine = walk.engine.bodies.get((node.index, body.name))
        if run is None or engine is None:
            return walk.doubt(node, "its bodies are not known", is_mixed=False)
        entered: dict[Node, Held] = {}
        for entry in body.inputs:
            held: Held | None = self.inputs[entry.external]
            if entry.slice is not None:
                held = self._part(self.inputs[entry.external], entry.slice, run.slots[entry.parameter.first_slot])
            if held is None:
                return walk.doubt(node, f"takes the samples of {walk.batch} one by one: its body iterates over the axis that holds them")
            entered[entry.parameter] = held
        inner = _Walk(engine, run, walk.batch, [])
        for _ in range(_MOST_PASSES):
            inner = _Walk(engine, run, walk.batch, [])
            inner.over(entered)
            if not self._handed_on(body, inner, entered):
                break
        for doubt in inner.doubts:
            walk.doubts += [doubt] if doubt not in walk.doubts else []
        return not inner.doubts and self._left(body, inner, entered)

    def _handed_on(self, body: Body, inner: _Walk, entered: dict[Node, Held]) -> bool:
        """Whether an iteration hands a taint, or an axis of the batch, to the next one, which then has it, too."""
        is_changed = False
        for entry in body.inputs:
            if entry.back is not None and entry.back.sources and entry.back.sources[0] not in inner.lost:
                before, after = entered[entry.parameter], inner.held(entry.back.sources[0])
                if after.taint and not before.taint:
                    entered[entry.parameter] = before._replace(taint=after.taint)
                    is_changed = True
                elif inner.axis(before) is None is not inner.axis(after):
                    entered[entry.parameter] = after._replace(law=None)
                    is_changed = True
        return is_changed

    def _left(self, body: Body, inner: _Walk, entered: Mapping[Node, Held]) -> bool:
        """Whether what an iteration hands to the next one holds the batch in one place, and what leaves the body can be told."""
        walk, node = self.walk, self.node
        for entry in body.inputs:
            if entry.back is not None and not inner.agree(entered[entry.parameter], inner.held(entry.back.sources[0])):
                return walk.doubt(node, f"it hands on the batch {walk.batch} in another place than it enters its body", is_mixed=False)
        if body.condition is not None and body.condition.sources:
            condition = inner.held(body.condition.sources[0])
            if (is_mixed := inner.axis(condition) is not None) or condition.taint:
                why = f"ends when a tensor that depends on the batch {walk.batch} says so"
                return walk.doubt(node, why if is_mixed else f"it {why}", is_mixed=is_mixed)
        for slot, output, several in zip(node.slots, body.outputs, self.found, strict=False):
            held: Held | None = inner.held(output.result.sources[0])
            if output.slice is not None and held is not None:
                held = self._part(held, output.slice, walk.run.slots[slot])
                if held is None:
                    return walk.doubt(node, f"concatenates what its iterations give along the axis that holds the batch {walk.batch}")
            several.append(held)
        return True

    def _part(self, held: Held, slice: Slice, fact: Fact) -> Held | None:
        """A tensor with another size of the axis that is sliced; None if this axis holds the batch."""
        own = plain(fact.shape)
        if held.trace is None or own is None or len(own) != len(held.trace):
            return Held(own, held.taint) if self.walk.axis(held) is None else None
        axis = slice.axis % len(own)
        if self.walk.axis(held) == axis:
            return None
        return Held((*held.trace[:axis], own[axis], *held.trace[axis + 1 :]), held.taint)
