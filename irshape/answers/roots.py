"""The origins of dynamic sizes: axes of inputs, and layers whose data decides a size."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from irshape.inference.facts import Fact
from irshape.inference.inference import Inference
from irshape.model.model import Model, Node
from irshape.shape.dim import UNBOUNDED, Dim, Size, symbols
from irshape.shape.polynomial import Polynomial
from irshape.shape.range import Bound
from irshape.shape.shape import Shape


class Root:
    """An axis whose unknown size others are computed from.

    `kind` is `input`, `variable` (of a ReadValue), `iteration` (passed from one iteration to the next), `recorded` (by an unknown
    operation), `rank` (it follows from an unknown rank) or `data` (the layer decides the size at run time). `ports` counts the output ports
    whose shapes depend on the axis, and `unbounded` those of them that have no upper bound because of it.
    """

    def __init__(self, kind: str, node: Node, axis: int, size: Size) -> None:
        self.kind = kind
        self.node = node
        self.axis = axis
        self.size = size
        self.ports = 0
        self.unbounded = 0

    def __repr__(self) -> str:
        return f"<{self.kind} {self.node.name!r} axis {self.axis}: {self.ports} ports>"


def is_unbounded(bounds: tuple[Bound, Bound]) -> bool:
    """Whether a size has no upper bound."""
    return bounds[1] >= UNBOUNDED


def outputs(inference: Inference) -> Iterator[tuple[Node, int, Fact]]:
    """The fact of every output port, in the order of computation; bodies come before the outputs of their layer."""
    runs = dict(inference.graphs)
    entered: set[Node] = set()
    pending = [iter(inference.model)]
    while pending:
        node = next(pending[-1], None)
        if node is None:
            pending.pop()
        elif node.bodies and node not in entered:
            entered.add(node)
            pending += [iter([node]), *(iter(body) for body in node.bodies.values() if body in runs)]
        else:
            slots = runs[node.model].slots
            for index in range(node.layer.signature.output_count):
                yield node, index, slots[node.first_slot + index]


def roots(inference: Inference) -> list[Root]:
    """The axes that unknown sizes are computed from, in the order of computation; fewer if the work of the inference is done before."""
    # One walk with three caches, which the functions inside share; so this is longer than 60 lines.
    found: list[Root] = []
    work = inference.scope.work
    of_symbol: dict[str, list[Root]] = {}
    of_polynomial: dict[Polynomial, list[Root]] = {}

    def roots_of(size: Dim, node: Node, axis: int) -> list[Root]:
        known = of_polynomial.get(size.polynomial)
        is_input = node.type == "Parameter" and node.model.holder is None
        if known is None or is_input:
            names = symbols(size)
            work.take(1 + len(names))
            new = [name for name in names if name not in of_symbol or is_input]
            if new:
                found.append(Root(kind_of(node), node, axis, size))
                for name in new:
                    of_symbol.setdefault(name, []).append(found[-1])
            known = of_polynomial[size.polynomial] = list(dict.fromkeys(root for name in sorted(names) for root in of_symbol[name]))
        return known

    unranked: set[tuple[Model, int]] = set()

    def kind_of(node: Node) -> str:
        if node.type == "Parameter":
            return "input" if node.model.holder is None else "iteration"
        if node.type == "ReadValue":
            return "variable"
        if node.op_class is None:
            return "recorded"
        return "rank" if any((node.model, slot) in unranked for slot in node.sources) else "data"

    of_shape: dict[Shape, tuple[set[Root], set[Root]]] = {}

    def counted(shape: tuple[Size, ...], node: Node) -> tuple[set[Root], set[Root]]:
        """The roots of the sizes of a shape, and those of them because of which a size has no upper bound."""
        of_port: set[Root] = set()
        unbounded: set[Root] = set()
        for axis, size in enumerate(shape):
            if isinstance(size, Dim):
                own = roots_of(size, node, axis)
                work.take(1 + len(own) // 8)
                of_port.update(own)
                if is_unbounded(inference.bounds(size)):
                    unbounded.update([root for root in own if is_unbounded(inference.bounds(root.size))] or own)
        return of_port, unbounded

    for node, index, fact in outputs(inference):
        if fact.is_poisoned:
            continue
        if fact.shape is None:
            unranked.add((node.model, node.first_slot + index))
            continue
        if work.is_done:
            inference.report([inference.unfinished("causes of dynamic sizes are counted only before this layer", node)])
            break
        if node.type == "Parameter":  # its symbols get another root
            of_shape.clear()
            of_polynomial.clear()
        pair = of_shape.get(fact.shape)
        if pair is None:
            pair = of_shape[fact.shape] = counted(fact.shape, node)
        of_port, unbounded = pair
        work.take(len(of_port) // 8)
        for root in of_port:
            root.ports += 1
            root.unbounded += root in unbounded
    return found


def firsts(inference: Inference, is_so: Callable[[Fact], bool]) -> dict[Node, int]:
    """The layers at which tensors start to satisfy `is_so`, each with the number of ports from there on that satisfy it, too."""
    counts: dict[Node, int] = {}
    begun: dict[tuple[Model, int], frozenset[Node]] = {}

    def inherited(node: Node) -> frozenset[Node]:
        sources = [(node.model, slot) for slot in node.sources]
        if node.type == "Parameter" and node.model.holder is not None:
            sources += [(node.model.holder.model, slot) for slot in node.model.holder.sources]
        for body in node.bodies.values():
            sources += [(body, slot) for result in body.results for slot in result.sources]
        return frozenset().union(*(begun.get(source, ()) for source in sources))

    for node, index, fact in outputs(inference):
        if not fact.is_poisoned and is_so(fact):
            origins = inherited(node) or frozenset((node,))
            begun[node.model, node.first_slot + index] = origins
            for origin in origins:
                counts[origin] = counts.get(origin, 0) + 1
    return counts
