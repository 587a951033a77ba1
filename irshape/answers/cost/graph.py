"""The part of a model that runs at each inference: its layers in order, which tensors are constants, and how often bodies run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from irshape.inference.facts import Fact
from irshape.inference.run import Run
from irshape.model.bodies import Body, bodies_of, conditions_passed
from irshape.model.model import Model, Node
from irshape.ops.infrastructure import Constant
from irshape.shape.dim import Dim, Scope, Size, bounds, product
from irshape.shape.element_type import ElementType

# Layers that compute nothing: the ends of a graph, and constants.
ENDS: Final = frozenset({"Parameter", "Constant", "Result", "Assign"})
# Operations without inputs, or of constants alone, that give other values at each inference.
_RANDOM: Final = frozenset({"RandomUniform", "Multinomial", "ReadValue"})


def type_of(node: Node) -> str:
    """The type of a layer as the specification spells it; as the file does, if the operation is unknown."""
    return node.op_class.TYPE if node.op_class is not None else node.type


def bytes_of(fact: Fact) -> Size | None:
    """The bytes of a tensor; None if its rank or its element type is not known."""
    bits = fact.element_type.bits
    if fact.shape is None or bits == 0:
        return None
    count = product(fact.shape)
    return count * (bits // 8) if bits % 8 == 0 else (count * bits + 7) // 8


class Tensors:
    """The bytes of tensors, and what layers count, for each fact once.

    Formulas take work: `is_done` tells that no more is left. Then `unfinished` is the first layer that is left out.
    """

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


class Branch(NamedTuple):
    """A body with the graph in it, and how often it runs for each run of its layer: the trip count of a loop, 1 for an If."""

    body: Body
    graph: Graph
    trips: Size


class Graph:
    """A graph with the facts of its tensors.

    `layers` are the nodes that run at each inference, in the order of the file's topology. Nodes that depend on no input are left out,
    because they are computed once, when the model is compiled; `constants` has the constants behind each of their tensors. `branches` are
    the bodies of If, Loop and TensorIterator, by node; of an If whose condition is a constant, only the body that it takes.
    """

    def __init__(self, model: Model, run: Run, trips: Trips) -> None:
        self.model = model
        self.run = run
        self.slots = run.slots
        self.constants: dict[int, frozenset[Node]] = {}
        self.layers: list[Node] = []
        self.folded = 0
        for node in model:
            if not node.is_live or node.is_dropped:
                continue
            outputs = range(node.first_slot, node.first_slot + node.layer.signature.output_count)
            type = type_of(node)
            if type == "Constant":
                self.constants.update(dict.fromkeys(outputs, frozenset((node,))))
            elif type in _RANDOM or type == "Parameter" or not all(slot in self.constants for slot in node.sources):
                self.layers.append(node)
            else:
                found = frozenset().union(*(self.constants[slot] for slot in node.sources))
                self.constants.update(dict.fromkeys(outputs, found))
                self.folded += type != "Result"
        self.branches = {node: list(self._branches(node, trips)) for node in self.layers if node.bodies}

    def facts(self, node: Node) -> tuple[Fact, ...]:
        """The facts of the inputs of a node."""
        return tuple([self.slots[slot] for slot in node.sources])

    def outputs(self, node: Node) -> list[Fact]:
        """The facts of the outputs of a node."""
        return self.slots[node.first_slot : node.first_slot + node.layer.signature.output_count]

    def _branches(self, node: Node, trips: Trips) -> Iterator[Branch]:
        bodies = bodies_of(node)
        if type_of(node) == "If" and bodies and node.sources and node.sources[0] in self.constants:
            taken = _one(self.slots[node.sources[0]])
            bodies = bodies if taken is None else [bodies[0 if taken else 1]]
        for body in bodies:
            inner = self.run.inner.get((node.index, body.name))
            if inner is not None:
                yield Branch(body, Graph(body.model, inner, trips), trips.of(self, node, body, inner))

    def walk(self) -> Iterator[Graph]:
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

    def of(self, graph: Graph, node: Node, body: Body, inner: Run) -> Size:
        """The trip count of a body."""
        if type_of(node) == "Loop":
            return self._loop(graph, node, body, inner)
        return self._iterator(graph, node, body) if type_of(node) == "TensorIterator" else 1

    def _loop(self, graph: Graph, node: Node, body: Body, inner: Run) -> Size:
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

    def _iterator(self, graph: Graph, node: Node, body: Body) -> Size:
        ends = [(graph.facts(node)[entry.external], entry.slice) for entry in body.inputs]
        ends += [(fact, output.slice) for fact, output in zip(graph.outputs(node), body.outputs, strict=False)]
        for fact, slice in ends:
            if slice is not None and fact.shape:
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
    """The constants of a model: how many `elements` and `bytes` they have, and `by_type` both by element type.

    `stored` are the bytes in the file: those that several constants share count once.
    """

    __slots__ = ("by_type", "bytes", "elements", "stored")

    def __init__(self, model: Model) -> None:
        self.by_type: dict[str, tuple[int, int]] = {}
        places: set[tuple[int, int]] = set()
        for one in model.graphs():
            for node in one.nodes if one.is_live else ():
                op = node.op if node.is_live and not node.is_dropped else None
                if isinstance(op, Constant) and not op.is_broken:
                    count = stored(op)
                    places.add((op.offset, op.size))
                    elements, size = self.by_type.get(op.element_type.name, (0, 0))
                    self.by_type[op.element_type.name] = elements + count, size + _bytes(op.element_type, count)
        self.by_type = dict(sorted(self.by_type.items(), key=lambda item: -item[1][1]))
        self.elements = sum(elements for elements, _ in self.by_type.values())
        self.bytes = sum(size for _, size in self.by_type.values())
        self.stored = sum(size for _, size in places)


def stored(op: Constant) -> int:
    """The number of elements of a constant."""
    count = 1
    for size in op.shape:
        count *= size
    return count


def weight_bytes(nodes: frozenset[Node]) -> int:
    """The bytes of these constants, as the file stores them."""
    ops = [node.op for node in nodes]
    return sum(_bytes(op.element_type, stored(op)) for op in ops if isinstance(op, Constant) and not op.is_broken)


def _bytes(element_type: ElementType, count: int) -> int:
    return element_type.byte_size(count)
