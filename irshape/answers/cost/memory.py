"""Activation memory: which tensors are alive at each step of the file's order, and where they take most."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from math import inf
from operator import ge
from typing import Final, NamedTuple

from irshape.answers.cost.formula import Amount, Formula, Sum, amount, total, value
from irshape.answers.cost.graph import Branch, Graph, Tensors, type_of
from irshape.answers.cost.race import Race
from irshape.model.model import Node
from irshape.shape.dim import Dim, Size, dim_max, evaluate, expression_of, le_unasked, symbols
from irshape.shape.polynomial import Monomial, split
from irshape.shape.range import Range

# Ends of a graph, which have no tensors of their own: a Result hands a tensor out, an Assign makes it the variable.
_SINKS: Final = frozenset({"Result", "Assign"})
# The sizes that are tried before one formula is compared with another.
_ATTEMPTS: Final = 5
# The sizes at which formulas are compared first.
_SAMPLE: Final = 64


class Reuse(NamedTuple):
    """What shares memory.

    With `views`, the output of a Reshape, Squeeze, Unsqueeze or Identity is its input. With `in_place`, the output of an element-wise
    operation takes the place of an input of the same size that nobody reads afterwards; the inputs of the model are left alone.
    """

    views: bool = False
    in_place: bool = False


class Step(NamedTuple):
    """The run of one layer, and the bytes of the tensors that are alive in it."""

    node: Node
    size: Size


class Stretch(NamedTuple):
    """The sizes of one symbol, from `low` to `high` (None: all larger ones), for which the peak is in one layer.

    `layers` are the layers with the formulas of their memory: several where they take turns, because sizes are rounded.
    """

    low: int
    high: int | None
    layers: tuple[tuple[Node, Amount], ...]


class Peak:
    """The peak of activation memory.

    `memory` is the number of bytes, or a formula that gives it for all sizes. `profile` has the bytes at each layer in the order of the
    file, those of bodies included. `candidates` are the layers that have the peak for some sizes, each with the formula of its memory.
    `unknown` are the layers with an output whose bytes are not known, which are left out.
    """

    def __init__(self, tensors: Tensors, graph: Graph, reuse: Reuse, names: Mapping[str, str]) -> None:
        self._names = names
        self._tensors = tensors
        lifetimes = _Lifetimes(tensors, reuse)
        every = list(lifetimes.steps(graph))
        steps = [step for step in every if type_of(step.node) != "Parameter"] or every
        self.unknown: list[Node] = lifetimes.unknown
        self.profile: list[tuple[Node, Amount]] = [(node, amount(size, names)) for node, size in steps]
        kept = _greatest(steps)
        self.candidates: list[tuple[Node, Amount]] = [(node, amount(size, names)) for node, size in kept]
        memory: Size = 0
        for _, size in kept:
            memory = dim_max(memory, size)
        self.memory: Amount = amount(memory, names)

    @cached_property
    def _symbols(self) -> frozenset[str]:
        """The symbols in the memory of the candidates."""
        return frozenset(name for _, found in self.candidates if isinstance(found, Formula) for name in found.symbols)

    def layer(self, sizes: Mapping[str, int] | None = None) -> Node | None:
        """The layer in which the peak is for these sizes; of several, the first one. None for a model without layers."""
        found = self._at(sizes or {})
        return found[0] if found else None

    def formula(self, sizes: Mapping[str, int] | None = None) -> Amount:
        """The memory in the layer that has the peak for these sizes, as a number or a formula."""
        found = self._at(sizes or {})
        return found[1] if found else 0

    def _at(self, sizes: Mapping[str, int]) -> tuple[Node, Amount] | None:
        return max(self.candidates, key=lambda one: value(one[1], sizes)) if self.candidates else None

    def stretches(
        self, symbol: str, sizes: Mapping[str, int], low: int, high: int | None, is_valid: Callable[[int], bool]
    ) -> list[Stretch] | None:
        """The layers that have the peak as one symbol grows from `low` to `high`, the others having these sizes. Valid sizes count.

        Every size up to 512 above `low` is tried. Beyond, sizes grow by a half up to 2^20, and between two of them the place where another
        layer takes over is found by halving. Empty where the symbol does not matter. None if no work is left.
        """
        if symbol not in self._symbols:
            return []
        others = {name: size for name, size in sizes.items() if name != symbol}
        work = self._tensors.scope.work
        if work.is_done:
            return None
        amounts = [found.given(others) if isinstance(found, Formula) else found for _, found in self.candidates]
        found = Race(symbol, amounts, is_valid, work).turns(low, high)
        if work.is_done:
            return None
        ends = [first - 1 for first, _ in found[1:]]
        return [
            Stretch(first, end, tuple([self.candidates[one] for one in places]))
            for (first, places), end in zip(found, (*ends, high), strict=True)
        ]


class _Lifetimes:
    """The lifetimes of the tensors of a graph and of its bodies. A tensor lives from the layer that makes it to the last that reads it."""

    def __init__(self, tensors: Tensors, reuse: Reuse) -> None:
        self._tensors = tensors
        self._scope = tensors.scope
        self._reuse = reuse
        self.unknown: list[Node] = []

    def steps(self, graph: Graph, outer: frozenset[int] = frozenset()) -> Iterator[Step]:
        """The memory at each layer; `outer` are the tensors that stand outside of a body."""
        layers = graph.layers
        place = {slot: slot for slot in range(graph.model.slot_count)}
        sizes, born, last = self._spans(graph, outer)
        self._share_views(graph, place, born, last)
        events: dict[int, list[int]] = {}
        alive: set[int] = set()
        memory = Sum(self._scope)
        for slot, begin in born.items():
            if place[slot] == slot and begin < 0 <= last[slot]:
                alive.add(slot)
                memory.add(sizes[slot])
                events.setdefault(last[slot], []).append(slot)
        for position, node in enumerate(layers):
            for slot in _own(node):
                if born.get(slot, -1) < 0 or place[slot] != slot:
                    continue
                taken = self._taken(graph, node, slot, place, sizes, last, position) if self._reuse.in_place else None
                if taken is None:
                    alive.add(slot)
                    memory.add(sizes[slot])
                    events.setdefault(last[slot], []).append(slot)
                else:
                    place[slot] = taken
                    last[taken] = last[slot]
                    events.setdefault(last[taken], []).append(taken)
            branches = graph.branches.get(node)
            if type_of(node) in _SINKS or self._tensors.is_done(node):
                pass
            elif branches:
                yield from self._inside(branches, memory.size)
            else:
                yield Step(node, memory.size)
            for slot in events.pop(position, ()):
                if last[slot] == position and slot in alive:
                    alive.discard(slot)
                    memory.add(sizes[slot], -1)

    def _inside(self, branches: Sequence[Branch], now: Size) -> Iterator[Step]:
        for branch in branches:
            whole = {entry.parameter.first_slot for entry in branch.body.inputs if entry.slice is None and entry.back is None}
            for node, size in self.steps(branch.graph, frozenset(whole)):
                yield Step(node, total(self._scope, (now, size)))

    def _spans(self, graph: Graph, outer: frozenset[int]) -> tuple[dict[int, Size], dict[int, int], dict[int, int]]:
        """For each tensor with memory of its own its bytes, the position of the layer that makes it, and of the last that reads it."""
        sizes: dict[int, Size] = {}
        born: dict[int, int] = {}
        last: dict[int, int] = {}
        end = len(graph.layers)
        for position, node in enumerate(graph.layers):
            type = type_of(node)
            for slot in node.sources:
                if slot in last:
                    last[slot] = max(last[slot], end if type in _SINKS else position)
            if type in _SINKS or type == "ReadValue":
                continue  # the memory of a variable is its own
            for slot in _own(node):
                if slot in outer:
                    continue
                size = self._tensors.bytes(graph.slots[slot])
                if size is None:
                    self.unknown.append(node)
                    continue
                sizes[slot] = size
                born[slot] = -1 if type == "Parameter" else position
                last[slot] = -1 if type == "Parameter" else position  # an input that nobody reads is not counted
        return sizes, born, last

    def _share_views(self, graph: Graph, place: dict[int, int], born: dict[int, int], last: dict[int, int]) -> None:
        """Let each view have the memory of its input, if it has some; of a variable, and of a tensor outside of a body, it has none."""
        if not self._reuse.views:
            return
        for node in graph.layers:
            if node.op_class is None or not node.op_class.is_view or type_of(node) in _SINKS or not node.sources:
                continue
            source, (slot, *_) = node.sources[0], _own(node)
            if slot not in born:
                continue
            if source not in graph.constants and source >= 0:
                place[slot] = place[source]
        for slot, root in place.items():
            if root != slot and root in last:
                last[root] = max(last[root], last[slot])

    @staticmethod
    def _taken(
        graph: Graph, node: Node, slot: int, place: dict[int, int], sizes: dict[int, Size], last: dict[int, int], position: int
    ) -> int | None:
        """The tensor whose memory an output takes: an input of the same size that is read for the last time."""
        if node.op_class is None or not node.op_class.is_in_place or len(_own(node)) != 1:
            return None
        for source in node.sources:
            root = source
            while root >= 0 and place.get(root, root) != root:
                root = place[root]
            is_last = root in last and last[root] == position and sizes[root] == sizes[slot]
            if is_last and type_of(graph.model.nodes[graph.model.producers[root]]) != "Parameter":
                return root
        return None


def _own(node: Node) -> range:
    """The numbers of the tensors that a node gives."""
    return range(node.first_slot, node.first_slot + node.layer.signature.output_count)


def _greatest(steps: Sequence[Step]) -> list[Step]:
    """The steps that may have the peak: none takes at least as much as another one for all sizes."""
    first: dict[object, Step] = {}
    for step in steps:
        first.setdefault(expression_of(step.size), step)
    kept: list[Step] = []
    tried = dict(zip(map(id, first.values()), _tried([step.size for step in first.values()]), strict=True))

    def covers(a: Step, b: Step) -> bool:
        """Whether one takes at least as much as another one for all sizes: first for a few, which nearly always decides."""
        return all(map(ge, tried[id(a)], tried[id(b)])) and _covers(a.size, b.size)

    for step in sorted(first.values(), key=lambda step: -_sample(step.size)):  # the greatest cover the most
        if isinstance(step.size, Dim):
            work = step.size.scope.work
            work.take(len(kept) * (1 + len(step.size.polynomial.terms)))
            if work.is_done:
                kept.append(step)
                continue
        if any(covers(other, step) for other in kept):
            continue
        kept = [other for other in kept if not covers(step, other)]
        kept.append(step)
    places = {id(step): number for number, step in enumerate(first.values())}
    return sorted(kept, key=lambda step: places[id(step)])


def _tried(found: Sequence[Size]) -> list[tuple[int, ...]]:
    """The bytes of several amounts, each for the same few sizes in the ranges of the symbols."""
    scope = next((size.scope for size in found if isinstance(size, Dim)), None)
    if scope is None:
        return [()] * len(found)
    table = scope.polynomials
    expressions = [expression_of(size) for size in found]
    names = [(atom.name, table.ranges[atom.index]) for atom in table.atoms if not atom.arguments]
    rows = []
    evaluated = table.evaluator(expressions)
    for attempt in range(_ATTEMPTS):
        sizes = {}
        for place, (name, (low, high, modulus, _)) in enumerate(names):
            least = int(low) if low > -inf else 0
            far = least + max(modulus, 1) * (_SAMPLE << attempt if (attempt + place) % _ATTEMPTS else 1)
            sizes[name] = far if attempt and far <= high else least
        try:
            rows.append(evaluated(sizes))
        except (ZeroDivisionError, OverflowError):
            continue
    return list(zip(*rows, strict=True)) if rows else [()] * len(found)


def _sample(size: Size) -> int:
    """The bytes for some sizes."""
    try:
        return evaluate(size, dict.fromkeys(symbols(size), _SAMPLE))
    except (ZeroDivisionError, OverflowError):
        return 0


def _covers(a: Size, b: Size) -> bool:
    """Whether `a` is at least `b` for all sizes."""
    (constant, terms), (other, others) = split(expression_of(a)), split(expression_of(b))
    more = dict(terms)
    for monomial, factor in others:
        more[monomial] = more.get(monomial, 0) - factor
    if isinstance(a, Dim):
        table = a.scope.polynomials
        ranges, differing = table.ranges, [monomial for monomial, factor in more.items() if factor]
        less = [monomial for monomial in differing if more[monomial] < 0]
        if constant >= other and not less and all(ranges[index].low >= 0 for monomial in differing for index in monomial):
            return True
        # If no term can be replaced by one that cancels, an unbounded term of `b` alone exceeds `a` for some sizes.
        is_plain = not any(len(monomial) == 1 and table.atoms[monomial[0]].arguments for monomial in differing)
        if is_plain and isinstance(b, Dim) and b.range.high == inf and any(_is_unbounded(monomial, ranges) for monomial in less):
            return False
    return le_unasked(b, a) is True


def _is_unbounded(monomial: Monomial, ranges: Sequence[Range]) -> bool:
    """Whether the ranges leave a product of sizes without a bound above."""
    own = [ranges[index] for index in monomial]
    return all(known.low >= 0 for known in own) and any(known.high == inf for known in own)
