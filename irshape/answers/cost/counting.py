"""The count of every layer: its rule `cost`, applied to the facts of the layer's tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from math import prod
from typing import Any, Final, NamedTuple

from irshape.answers.batch.traces import inputs_of
from irshape.answers.cost.formula import Amount, Sum, amount, ratio, total, value
from irshape.inference.apply import arranged
from irshape.inference.facts import Fact
from irshape.inference.inference import Inference
from irshape.inference.run import Run
from irshape.model.bodies import Body, bodies_of, conditions_passed
from irshape.model.model import Model, Node
from irshape.model.public import Node as PublicNode
from irshape.model.public import public
from irshape.ops.cost import Count, Outputs
from irshape.ops.infrastructure import Constant
from irshape.ops.op import UnknownRank
from irshape.shape.dim import Dim, Scope, Size, bounds, dim_max, product

# Layers that compute nothing: the ends of a graph, and constants.
ENDS: Final = frozenset({"Parameter", "Constant", "Result", "Assign"})
# Operations without inputs, or of constants alone, that give other values at each inference.
_RANDOM: Final = frozenset({"RandomUniform", "Multinomial", "ReadValue"})


def bytes_of(fact: Fact) -> Size | None:
    """The bytes of a tensor; None if its rank or its element type is not known."""
    bits = fact.element_type.bits
    if fact.shape is None or bits == 0:
        return None
    count = product(fact.shape)
    return count * (bits // 8) if bits % 8 == 0 else (count * bits + 7) // 8


class Tensors:
    """The bytes of tensors, for each fact once. Formulas take work: `unfinished` is the first layer for which none was left."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.unfinished: Node | None = None
        self._bytes: dict[Fact, Size | None] = {}

    def bytes(self, fact: Fact) -> Size | None:
        """The bytes of a tensor; None if its rank or its element type is not known, or if no work is left."""
        if fact not in self._bytes:
            self._bytes[fact] = None if fact.is_poisoned or self.scope.work.is_done else bytes_of(fact)
        return self._bytes[fact]

    def is_done(self, node: Node) -> bool:
        """Whether no work is left for a layer."""
        if self.scope.work.is_done and self.unfinished is None:
            self.unfinished = node
        return self.scope.work.is_done


def regular(inference: Inference) -> Callable[[Fact], Fact]:
    """A function that gives facts with sizes that are alike, for facts of a model whose conditions make some of its sizes shorter."""
    known = inference.known if inference.is_conditional else None
    tensors = [run.slots[slot] for model, run in inference.graphs for node in model for slot in node.slots]
    sizes = dict.fromkeys([size for fact in tensors for size in fact.shape or () if isinstance(size, Dim)])
    if known is None or all(known.simplest(size) is size for size in sizes):
        return lambda fact: fact
    made: dict[Fact, Fact] = {}
    alike = {size: known.regular(size) for size in sizes}

    def simpler(fact: Fact) -> Fact:
        found = made.get(fact, fact)
        if found is fact and fact.shape and not alike.keys().isdisjoint(fact.shape):
            shape = tuple([alike[size] if isinstance(size, Dim) else size for size in fact.shape])
            found = made[fact] = Fact(fact.element_type, shape, fact.elements, fact.is_poisoned, fact.openvino_view)
        return found

    return simpler


class Branch(NamedTuple):
    """A body with the graph in it, and how often it runs for each run of its layer: the trip count of a loop, 1 for an If."""

    body: Body
    graph: CostGraph
    trips: Size


class CostGraph:
    """A graph with the facts of its tensors.

    `layers` are the nodes that run at each inference, in the order of the file's topology. Nodes that depend on no input are left out,
    because they are computed once, when the model is compiled; `constants` has the constants behind each of their tensors. `branches` are
    the bodies of If, Loop and TensorIterator, by node; of an If whose condition is a constant, only the body that it takes.
    """

    def __init__(self, model: Model, run: Run, trips: Trips, simpler: Callable[[Fact], Fact]) -> None:
        self.model = model
        self.run = run
        self.slots = list(map(simpler, run.slots))
        self.constants: dict[int, frozenset[Node]] = {}
        self.layers: list[Node] = []
        self.folded = 0
        for node in model:
            if not node.is_live or node.is_dropped:
                continue
            outputs = node.slots
            type = node.op_type
            if type == "Constant":
                self.constants.update(dict.fromkeys(outputs, frozenset((node,))))
            elif type in _RANDOM or type == "Parameter" or not all(slot in self.constants for slot in node.sources):
                self.layers.append(node)
            else:
                found = frozenset().union(*(self.constants[slot] for slot in node.sources))
                self.constants.update(dict.fromkeys(outputs, found))
                self.folded += type != "Result"
        self.branches = {node: list(self._branches(node, trips, simpler)) for node in self.layers if node.bodies}

    def facts(self, node: Node) -> tuple[Fact, ...]:
        """The facts of the inputs of a node."""
        return tuple([self.slots[slot] for slot in node.sources])

    def outputs(self, node: Node) -> list[Fact]:
        return self.slots[node.first_slot : node.first_slot + node.layer.signature.output_count]

    def _branches(self, node: Node, trips: Trips, simpler: Callable[[Fact], Fact]) -> Iterator[Branch]:
        bodies = bodies_of(node)
        if node.op_type == "If" and bodies and node.sources and node.sources[0] in self.constants:
            taken = _one(self.slots[node.sources[0]])
            bodies = bodies if taken is None else [bodies[0 if taken else 1]]
        for body in bodies:
            inner = self.run.inner.get((node.index, body.name))
            if inner is not None:
                yield Branch(body, CostGraph(body.model, inner, trips, simpler), trips.of(self, node, body, inner))

    def walk(self) -> Iterator[CostGraph]:
        """The graph itself, and the graphs of all bodies in it that run."""
        yield self
        for branches in self.branches.values():
            for branch in branches:
                yield from branch.graph.walk()


class Trips:
    """How often the bodies of loops run. A number that only a run tells is a symbol: `trips`, `trips_2`."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self.symbols: dict[str, Node] = {}

    def of(self, graph: CostGraph, node: Node, body: Body, inner: Run) -> Size:
        if node.op_type not in ("Loop", "TensorIterator"):
            return 1
        if len(node.sources) <= max([1 if node.op_type == "Loop" else -1, *[entry.external for entry in body.inputs]]):
            return self._unknown(node)  # an edge is at fault
        return self._loop(graph, node, body, inner) if node.op_type == "Loop" else self._iterator(graph, node, body)

    def _loop(self, graph: CostGraph, node: Node, body: Body, inner: Run) -> Size:
        facts = graph.facts(node)
        if _one(facts[1]) == 0:
            return 0
        passed = [_one(facts[entry.external]) for entry in conditions_passed(body)]
        repeats = passed[0] if passed else _one(inner.value(body.condition)) if body.condition is not None else None
        if repeats == 0:
            return 1
        count = _one(facts[0])
        is_counted = isinstance(count, (int, Dim)) and bounds(count)[0] >= 0
        if is_counted and repeats is not None and not isinstance(repeats, Dim):
            return count  # type: ignore[no-any-return]
        return self._unknown(node)

    def _iterator(self, graph: CostGraph, node: Node, body: Body) -> Size:
        ends = [(graph.facts(node)[entry.external], entry.slice) for entry in body.inputs]
        ends += [(fact, output.slice) for fact, output in zip(graph.outputs(node), body.outputs, strict=False)]
        for fact, slice in ends:
            if slice is not None and fact.shape and -len(fact.shape) <= slice.axis < len(fact.shape):
                taken = slice.taken(fact.shape[slice.axis])
                if taken is not None:
                    return taken
        return 1 if all(slice is None for _, slice in ends) else self._unknown(node)

    def _unknown(self, node: Node) -> Size:
        number = len(self.symbols) + 1
        while True:
            name = "trips" if number == 1 else f"trips_{number}"
            number += 1
            if name in self.symbols or self._scope.named(name) is not None:
                continue
            try:
                symbol = self._scope.symbol(name, 0)
            except ValueError:  # a size that is not named by the user has this name
                continue
            self.symbols[name] = node
            return symbol


def _one(fact: Fact) -> Any:
    """The one value of a tensor; None if it is not known."""
    return fact.elements[0] if fact.elements is not None and len(fact.elements) == 1 and not fact.is_poisoned else None


class Parameters:
    """The constants of a model: their `elements` and `bytes`, both `by_type`, and `stored` bytes, of which shared ones count once."""

    def __init__(self, model: Model) -> None:
        self.by_type: dict[str, tuple[int, int]] = {}
        places: set[tuple[int, int]] = set()
        for one in model.graphs():
            for node in one.nodes if one.is_live else ():
                op = node.op if node.op_type == "Constant" and node.is_live and not node.is_dropped else None
                if isinstance(op, Constant) and not op.is_broken:
                    count = prod(op.shape)
                    places.add((op.offset, op.size))
                    elements, size = self.by_type.get(op.element_type.name, (0, 0))
                    self.by_type[op.element_type.name] = elements + count, size + op.element_type.byte_size(count)
        self.by_type = dict(sorted(self.by_type.items(), key=lambda item: (-item[1][1], item[0])))
        self.elements = sum(elements for elements, _ in self.by_type.values())
        self.bytes = sum(size for _, size in self.by_type.values())
        self.stored = sum(size for _, size in places)


def held(nodes: frozenset[Node]) -> tuple[int, int]:
    """The elements of these constants, and their bytes, as the file stores them."""
    sizes = [(prod(op.shape), op.element_type) for op in (node.op for node in nodes) if isinstance(op, Constant) and not op.is_broken]
    return sum(count for count, _ in sizes), sum(kind.byte_size(count) for count, kind in sizes)


# Why the work of a layer is not counted.
NO_RULE: Final = "the operation has no counting rule"
UNKNOWN_OPERATION: Final = "the operation is unknown"
UNKNOWN_RANK: Final = "a tensor of the layer has an unknown rank"
UNKNOWN_SIZE: Final = "the work of the layer does not follow from its sizes"
FAILED: Final = "a layer before it has an error"
UNFINISHED: Final = "it takes more work than the limit allows (limit work)"


class Load(NamedTuple):
    """The work of a layer or of a graph: multiply-accumulates, other operations, and the bytes that layers read and write."""

    macs: Size = 0
    operations: Size = 0
    traffic: Size = 0


class _Counted(NamedTuple):
    """What layers of equal attributes and facts have in common: the work of one run, and the bytes that it reads and writes.

    The bytes of constants are not among them. `amounts` are those of all runs: MACs, other operations, bytes read and written.
    """

    work: Count
    moved: Sequence[Size]
    amounts: Sequence[Amount]
    uncounted: str | None
    is_complete: bool


class LayerCost:
    """What one layer costs at each inference.

    `node` is the layer, with `name` and `type`. `runs` is how often it runs: the trip count of the loops around it. All amounts are those
    of all its runs: `macs` (multiply-accumulates), `operations` (other operations on single elements), `flops` (two for each MAC, one for
    each operation); bytes of `weights` (constants that it reads), `inputs` (other tensors that it reads) and `outputs`. An amount is a
    number or a `Formula`. `parameters` are the elements of the constants that it reads. `uncounted` says why the work is not counted and in
    no sum; it is None if the work is counted. `is_complete` says that the bytes of every tensor are known.
    """

    __slots__ = (
        "_counted", "_names", "_node", "_runs", "inputs", "is_complete", "macs", "operations", "outputs", "parameters", "runs",
        "uncounted", "weights",
    )  # fmt: skip

    def __init__(self, node: Node, runs: Size, counted: _Counted, weights: Size, names: Mapping[str, str], parameters: int = 0) -> None:
        self._node = node
        self.parameters = parameters
        self.uncounted = counted.uncounted
        self.is_complete = counted.is_complete
        self._names = names
        self._counted = counted
        self._runs = runs
        self.runs: Amount = amount(runs, names)
        self.macs, self.operations, self.inputs, self.outputs = counted.amounts
        self.weights: Amount = amount(weights * runs, names)

    @property
    def flops(self) -> Amount:
        """Two for each MAC, and one for each other operation."""
        macs, operations = self._counted.work
        return amount((2 * macs + operations) * self._runs, self._names)

    @property
    def node(self) -> PublicNode:
        """The layer, a node of the model."""
        return public(self._node)

    @property
    def name(self) -> str:
        """The layer's name in the file."""
        return self._node.name

    @property
    def type(self) -> str:
        """The layer's type in the file."""
        return self._node.type

    @property
    def path(self) -> str:
        """The bodies around the layer, outermost first, and its name."""
        return f"{self._node.model.path} / {self.name}" if self._node.model.path else self.name

    def bytes(self, sizes: Mapping[str, int]) -> int:
        """The bytes that the layer reads and writes, for these sizes."""
        return value(self.weights, sizes) + value(self.inputs, sizes) + value(self.outputs, sizes)

    def intensity(self, sizes: Mapping[str, int] | None = None) -> float | None:
        """The arithmetic intensity, in FLOPs for each byte read or written, for these sizes; None for a layer without bytes."""
        moved = self.bytes(sizes or {})
        return ratio(value(self.flops, sizes or {}), moved) if moved else None

    def __repr__(self) -> str:
        return f"<{self.type} {self.path!r}: {self.macs} MACs>"


class Counting:
    """The counts of a graph: `layers` in order, those of bodies after their layer, and the `work` of all."""

    def __init__(self, tensors: Tensors, graph: CostGraph, names: Mapping[str, str]) -> None:
        self._tensors = tensors
        self._scope = tensors.scope
        self._names = names
        self._known: dict[tuple[object, ...], _Counted] = {}
        self.layers: list[LayerCost] = []
        self.work = self._of(graph, 1)

    def _of(self, graph: CostGraph, runs: Size) -> Load:
        sums = [Sum(self._scope) for _ in Load._fields]
        for node in graph.layers:
            branches = graph.branches.get(node)
            if branches is None:
                if node.op_type not in ENDS:
                    self._add_layer(graph, node, runs, *sums)
                continue
            found = [Load(*(size * branch.trips for size in self._of(branch.graph, runs * branch.trips))) for branch in branches]
            if not found:
                self.layers.append(LayerCost(node, runs, _Counted(Count(), (), (0, 0, 0, 0), FAILED, False), 0, self._names))
            for one, sizes in zip(sums, zip(*found, strict=True), strict=False):
                one.add(reduce(dim_max, sizes))
        return Load(*(one.size for one in sums))

    def _add_layer(self, graph: CostGraph, node: Node, runs: Size, macs: Sum, operations: Sum, traffic: Sum) -> None:
        facts, outputs = graph.facts(node), graph.outputs(node)
        constants = [slot for slot in node.sources if slot in graph.constants]
        read = tuple([fact for slot, fact in zip(node.sources, facts, strict=True) if slot not in graph.constants])
        key = node.op, facts, read, tuple(outputs), runs
        counted = self._known.get(key)
        if counted is None:
            counted = self._known[key] = self._counted(graph, node, read, outputs, runs)
        parameters, weights = held(frozenset().union(*[graph.constants[slot] for slot in constants])) if constants else (0, 0)
        self.layers.append(LayerCost(node, runs, counted, weights, self._names, parameters))
        macs.add(counted.work.macs)
        operations.add(counted.work.operations)
        if node.op_class is None or not node.op_class.is_view:
            for size in (*counted.moved, weights):
                traffic.add(size)

    def _counted(self, graph: CostGraph, node: Node, read: Sequence[Fact], outputs: Sequence[Fact], runs: Size) -> _Counted:
        count, uncounted = (Count(), UNFINISHED) if self._tensors.is_done(node) else count_of(graph, node)
        known = [self._tensors.bytes(fact) for fact in (*read, *outputs)]
        parts = (known[: len(read)], known[len(read) :])
        moved = [total(self._scope, [size for size in part if size is not None]) for part in parts]
        amounts = [amount(size if runs == 1 else size * runs, self._names) for size in (*count, *moved)]
        return _Counted(count, moved, amounts, uncounted, None not in known)


def count_of(graph: CostGraph, node: Node) -> tuple[Count, str | None]:
    """The count of one run of a layer, and why it is not counted if it is not."""
    op, facts, outputs = node.op, graph.facts(node), graph.outputs(node)
    if op is None:
        return Count(), UNKNOWN_OPERATION
    if op.is_broken or any(fact.is_poisoned for fact in (*facts, *outputs)):
        return Count(), FAILED
    if op.cost is None:
        return Count(), NO_RULE
    try:
        count = op.cost(Outputs(tuple([fact.shape for fact in outputs])), *arranged(op, inputs_of(op, facts)))
    except UnknownRank:
        return Count(), UNKNOWN_RANK
    return (count, None) if count is not None else (Count(), UNKNOWN_SIZE)
