"""Activation memory: which tensors are alive at each step of the file's order, and where they take most."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial, reduce
from itertools import groupby, islice
from math import inf
from operator import ge
from typing import Final, NamedTuple

from irshape.answers.cost.counting import CostGraph, Tensors
from irshape.answers.cost.formula import Amount, Formula, Sum, amount, given, summed, value, values
from irshape.model.model import Node
from irshape.shape.dim import Dim, Size, dim_max, expression_of, le_unasked, selected
from irshape.shape.limits import Work
from irshape.shape.polynomial import Expression, Monomial, PolynomialTable, split
from irshape.shape.range import multiply

# Sizes up to this one are all tried for another layer at the peak; beyond it, sizes grow by a half and the place is found by halving.
_EVERY: Final = 512
_LARGEST: Final = 1 << 20
# Layers that have the peak for fewer sizes in a row take turns, if that happens more often than this in a row.
_SHORT: Final = 64
_MOST_RUNS: Final = 3
# So many formulas are computed in a step of work.
_A_STEP: Final = 16
# A size is valid, or one of so many after it.
_NEAR: Final = 128
# The operations that never shrink as their operands grow; a division, only by a number.
_GROWING: Final = frozenset({"floor", "min", "max", "add"})


class Race:
    """A race of several amounts as one size grows: `winner` is the place of the greatest of them, of several the first."""

    def __init__(self, symbol: str, amounts: Sequence[Amount], is_valid: Callable[[int], bool], work: Work) -> None:
        self._symbol = symbol
        self._is_valid = cache(is_valid)
        self._work = work
        ranked = list(enumerate(amounts))
        self._places = [place for place, one in ranked if not any(_beats(other, one, rank < place) for rank, other in ranked)]
        self._running = [amounts[place] for place in self._places]
        self._memories = cache(partial(self._computed, values(self._running)))
        self._beyond = cache(self._parts)
        self._are_growing = all(map(_grows, self._running))

    def turns(self, low: int, high: int | None) -> list[tuple[int, tuple[int, ...]]]:
        """The first size of each stretch with its winners: one, or several that take turns at every few sizes.

        Every size up to 512 above `low` is tried. Beyond, sizes grow by a half up to 2^20, and between two of them the place where another
        one takes over is found by halving. The answer is not complete if no work is left.
        """
        last = _LARGEST if high is None else high
        is_alone = len(self._places) == 1
        every = low + 1 if is_alone else min(low + _EVERY, last + 1)
        winners = self._first_winners(range(low, every))
        found = _turns(winners or [(low, self.winner(low))])
        before = every - 1 if winners else last
        while before < last and not is_alone and not self._work.is_done:
            after = min(before + before // 2 + 1, last)
            present = found[-1][1]
            if self._winner_near(after) not in present:
                sizes = range(before + 1, after)
                others = bisect_left(sizes, True, key=lambda size, present=present: self._winner_near(size) not in present)  # type: ignore[misc]
                before = self._valid(before + 1 + others)
                found.append((before, (self.winner(before),)))
            else:
                before = after
        return found

    def winner(self, size: int) -> int:
        found = self._memories(size)
        return self._places[found.index(max(found))]

    def _computed(self, evaluated: Callable[[Mapping[str, int]], list[int]], size: int) -> list[int]:
        """The memories at a size; none takes any where one of them divides by 0, because such a size is not valid."""
        self._work.take(1 + len(self._places) // _A_STEP)
        try:
            return evaluated({self._symbol: size})
        except ZeroDivisionError:
            return [0] * len(self._places)

    def _has_number(self, size: int) -> bool:
        """Whether a size is valid, and no memory divides by 0 there: those that grow never do."""
        return self._is_valid(size) and (self._are_growing or any(self._memories(size)))

    def _valid(self, size: int) -> int:
        """The first valid size from this one on, if it is near."""
        return next((one for one in range(size, size + _NEAR) if self._has_number(one)), size)

    def _winner_near(self, size: int) -> int:
        """The winner at the first valid size from this one on."""
        able = self._able(size, size + _NEAR - 1)
        return self._places[able[0]] if len(able) == 1 else self.winner(self._valid(size))

    def _first_winners(self, sizes: Sequence[int]) -> list[tuple[int, int]]:
        """Valid sizes with their winners; of a run of sizes with one winner, only as many as make it a long one, or one if runs are few."""
        if not self._are_growing:
            sizes = [size for size in sizes if not self._work.is_done and self._has_number(size)]
        found: list[tuple[int, int]] = []
        runs = [(place, list(run)) for place, run in groupby(sizes, key=self._winners(sizes).__getitem__)]
        for place, run in runs:
            valid = (size for size in run if not self._work.is_done and self._has_number(size))
            found += [(size, self._places[place]) for size in islice(valid, _SHORT if len(runs) > _MOST_RUNS else 1)]
        return found

    def _winners(self, sizes: Sequence[int]) -> dict[int, int]:
        """The place of the greatest at each size, among those that are running."""
        found: dict[int, int] = {}
        pending = [(0, len(sizes))] if sizes else []
        while pending:
            begin, end = pending.pop()
            if end - begin > 1 < len(self._able(sizes[begin], sizes[end - 1])):
                middle = (begin + end) // 2
                pending += [(middle, end), (begin, middle)]
            else:
                memories = self._memories(sizes[begin])
                found.update(dict.fromkeys(sizes[begin:end], memories.index(max(memories))))
        return found

    def _able(self, low: int, high: int) -> Sequence[int]:
        """The places of those that may be the greatest at a size between these two."""
        if not self._are_growing:
            return range(len(self._running))
        memories = self._memories(low)
        more, less = self._beyond(memories.index(max(memories)))
        pairs = zip(self._computed(more, high), self._computed(less, low), strict=True)
        return [place for place, (one, other) in enumerate(pairs) if one >= other]

    def _parts(self, place: int) -> list[Callable[[Mapping[str, int]], list[int]]]:
        """The bytes that each takes more than the one at a place, and those that it takes less: both never shrink as the size grows."""
        differences = [_apart(one, self._running[place]) for one in self._running]
        first = next((one for one in self._running if isinstance(one, Formula)), None)
        parts: list[list[Amount]] = [[], []]
        for constant, terms in differences:
            for sign, part in zip((1, -1), parts, strict=True):
                own = {monomial: sign * factor for monomial, factor in terms.items() if sign * factor > 0}
                part.append(first.like(first.table.polynomial(max(sign * constant, 0), own)) if first else max(sign * constant, 0))
        return list(map(values, parts))


def _grows(found: Amount) -> bool:
    """Whether an amount never shrinks as sizes grow, as its terms alone tell."""
    if isinstance(found, int):
        return True
    table = found.table
    expressions: list[Expression] = [found.expression]
    for index in table.atoms_below(found.expression):
        atom = table.atoms[index]
        if atom.arguments and (atom.kind not in _GROWING or (atom.kind == "floor" and not isinstance(atom.arguments[1], int))):
            return False
        expressions += atom.arguments
    terms = [term for expression in expressions for term in split(expression)[1]]
    return all(factor > 0 and (len(one) == 1 or all(table.ranges[index].low >= 0 for index in one)) for one, factor in terms)


def _beats(a: Amount, b: Amount, is_first: bool) -> bool:
    """Whether `a` wins against `b` for all sizes from 1 on, as their terms alone tell: it is more, or as much and the first."""
    constant, terms = _apart(a, b)
    if formula := a if isinstance(a, Formula) else b if isinstance(b, Formula) else None:
        beyond = _beyond_least(formula.table, constant, terms, 1)
        return all(factor >= 0 for factor in beyond.values()) and (is_first or beyond[()] > 0)
    return constant > 0 or (is_first and constant == 0)


def _beyond_least(table: PolynomialTable, constant: int, terms: Mapping[Monomial, int], start: int = 0) -> dict[Monomial, int]:
    """A polynomial of how far each atom is beyond its least value, and each symbol beyond `start`: with no factor below 0, it never is."""
    found: dict[Monomial, int] = {(): constant}
    for monomial, factor in terms.items():
        parts: dict[Monomial, int] = {(): factor}
        for index in monomial:
            least = table.ranges[index].low if table.atoms[index].arguments else max(table.ranges[index].low, start)
            if least == -inf:  # then no factor tells the sign
                return {(): -1}
            grown = {(*known, index): own for known, own in parts.items()}
            for known, own in parts.items():
                grown[known] = grown.get(known, 0) + own * int(least)
            parts = grown
        for known, own in parts.items():
            found[known] = found.get(known, 0) + own
    return found


def _apart(a: Amount, b: Amount) -> tuple[int, dict[Monomial, int]]:
    """The constant and the terms by which `a` is more than `b`."""
    (constant, terms), (other, others) = (split(one.expression if isinstance(one, Formula) else one) for one in (a, b))
    return constant - other, _less(terms, others)


def _less(terms: Iterable[tuple[Monomial, int]], others: Iterable[tuple[Monomial, int]]) -> dict[Monomial, int]:
    more = dict(terms)
    for monomial, factor in others:
        more[monomial] = more.get(monomial, 0) - factor
    return more


def _turns(winners: Sequence[tuple[int, int]]) -> list[tuple[int, tuple[int, ...]]]:
    """The first size of each stretch with its winners: one, or several that take turns at every few sizes."""
    runs: list[tuple[int, int, int]] = []
    for size, winner in winners:
        if runs and runs[-1][2] == winner:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1, winner)
        else:
            runs.append((size, 1, winner))
    found: list[tuple[int, tuple[int, ...]]] = []
    for is_short, group in groupby(runs, key=lambda run: run[1] < _SHORT):
        several = list(group)
        if is_short and len(several) > _MOST_RUNS:
            found.append((several[0][0], tuple(dict.fromkeys(winner for *_, winner in several))))
        else:
            found += [(first, (winner,)) for first, _, winner in several]
    return found


# Ends of a graph, which have no tensors of their own: a Result hands a tensor out, an Assign makes it the variable.
_SINKS: Final = frozenset({"Result", "Assign"})
# The operations whose arguments bound them, which may tell more of a sum than their ranges do.
_BOUNDED: Final = frozenset({"floor", "min", "max"})
# Formulas are compared first where all symbols are small, where all are large, and where one of so many is large.
_ALONE: Final = 16
# Large are sizes of 64 to 1024, each twice as far as the one before.
_LARGE: Final = 64
_STEPS: Final = 5


class Reuse(NamedTuple):
    """What shares memory.

    With `views`, the output of a Reshape, Squeeze, Unsqueeze or Identity is its input. With `in_place`, the output of an element-wise
    operation takes the place of an input of the same size that nobody reads afterwards; the inputs of the model are left alone.
    """

    views: bool = False
    in_place: bool = False


class Moment(NamedTuple):
    """The run of one layer, the bytes of the tensors that are alive in it, and these bytes for a few sizes."""

    node: Node
    memory: Sum
    tried: tuple[int, ...]


class Stretch(NamedTuple):
    """The sizes of a symbol (`high` None: all larger ones) for which one layer has the peak, or several that take turns."""

    low: int
    high: int | None
    layers: tuple[tuple[Node, Amount], ...]


class Peak:
    """The peak of memory; `tensors` are bytes with their layers, and `unknown` the layers that are left out as their bytes are unknown."""

    def __init__(self, tensors: Tensors, graph: CostGraph, reuse: Reuse, names: Mapping[str, str]) -> None:
        self._names = names
        self._tensors = tensors
        lifetimes = _Lifetimes(tensors, reuse, graph)
        every = list(lifetimes.steps(graph))
        self._steps = [step for step in every if step.node.op_type != "Parameter"] or every
        self.unknown: list[Node] = lifetimes.unknown
        self.tensors = lifetimes.tensors

    @cached_property
    def candidates(self) -> list[tuple[Node, Amount]]:
        """The layers that have the peak for some sizes, each with the formula of its memory."""
        return [(step.node, amount(step.memory.size, self._names)) for step in _greatest(self._steps)]

    @cached_property
    def memory(self) -> Amount:
        """The number of bytes, or a formula that gives it for all sizes: none of the candidates is known to be at least another one."""
        first, *others = [summed(self._tensors.scope, [one]) for _, one in self.candidates] or [0]
        return amount(reduce(partial(selected, "max"), others, dim_max(0, first)), self._names)

    @cached_property
    def profile(self) -> list[tuple[Node, Amount]]:
        """The bytes at each layer in the order of the file, those of bodies included."""
        return [(step.node, amount(step.memory.size, self._names)) for step in self._steps]

    @cached_property
    def _symbols(self) -> frozenset[str]:
        return frozenset(name for _, found in self.candidates if isinstance(found, Formula) for name in found.symbols)

    def layer(self, sizes: Mapping[str, int] | None = None) -> Node | None:
        """The layer in which the peak is for these sizes; of several, the first one. None for a model without layers."""
        return self._at(sizes or {})[0]

    def formula(self, sizes: Mapping[str, int] | None = None) -> Amount:
        """The memory in the layer that has the peak for these sizes, as a number or a formula."""
        return self._at(sizes or {})[1]

    def _at(self, sizes: Mapping[str, int]) -> tuple[Node | None, Amount]:
        return max(self.candidates, key=lambda one: value(one[1], sizes), default=(None, 0))

    def stretches(
        self, symbol: str, sizes: Mapping[str, int], low: int, high: int | None, is_valid: Callable[[int], bool]
    ) -> list[Stretch] | None:
        """The layers that have the peak as one symbol grows from `low` to `high`, the others having these sizes, as `Race.turns` says.

        Valid sizes count. Empty where the symbol does not matter. None if no work is left.
        """
        if symbol not in self._symbols:
            return []
        work = self._tensors.scope.work
        if work.is_done:
            return None
        others = {name: size for name, size in sizes.items() if name != symbol}
        amounts = given([found for _, found in self.candidates], others)
        found = Race(symbol, amounts, is_valid, work).turns(low, high)
        if work.is_done:
            return None
        ends = (*[first - 1 for first, _ in found[1:]], high)
        both = zip(found, ends, strict=True)
        return [Stretch(first, end, tuple([self.candidates[one] for one in places])) for (first, places), end in both]


class _Lifetimes:
    """The lifetimes of the tensors of a graph and of its bodies. A tensor lives from the layer that makes it to the last that reads it."""

    def __init__(self, tensors: Tensors, reuse: Reuse, graph: CostGraph) -> None:
        self._tensors = tensors
        self._reuse = reuse
        self.unknown: list[Node] = []
        self.tensors: list[tuple[Node, Size]] = []
        known = [tensors.bytes(fact) for one in graph.walk() for node in one.layers for fact in one.outputs(node)]
        found = {expression_of(size): size for size in known if size is not None}
        self._tried = dict(zip(found, _tried(list(found.values())), strict=True))
        self._memory = Sum(tensors.scope)
        self._now = [0] * len(next(iter(self._tried.values()), ()))

    def _add(self, size: Size, factor: int) -> None:
        """Add the bytes of a tensor so many times to those that are alive."""
        self._memory.add(size, factor)
        self._now = [now + factor * one for now, one in zip(self._now, self._tried[expression_of(size)], strict=True)]

    def steps(self, graph: CostGraph, outer: frozenset[int] = frozenset()) -> Iterator[Moment]:
        """The memory at each layer; `outer` are the tensors that stand outside of a body. What the graph adds is taken away at the end."""
        layers = graph.layers
        place = {slot: slot for slot in range(graph.model.slot_count)}
        sizes, born, last = self._spans(graph, outer)
        self._share_views(graph, place, born, last)
        events: dict[int, list[int]] = {}
        alive: set[int] = set()
        for slot, begin in born.items():
            if place[slot] == slot and begin < 0 <= last[slot]:
                alive.add(slot)
                self._add(sizes[slot], 1)
                events.setdefault(last[slot], []).append(slot)
        for position, node in enumerate(layers):
            for slot in node.slots:
                if born.get(slot, -1) < 0 or place[slot] != slot:
                    continue
                taken = self._taken(graph, node, slot, place, sizes, last, position) if self._reuse.in_place else None
                if taken is None:
                    alive.add(slot)
                    self._add(sizes[slot], 1)
                    events.setdefault(last[slot], []).append(slot)
                else:
                    place[slot] = taken
                    last[taken] = last[slot]
                    events.setdefault(last[taken], []).append(taken)
            branches = graph.branches.get(node)
            if node.op_type in _SINKS or self._tensors.is_done(node):
                pass
            elif branches:
                for branch in branches:
                    whole = [entry.parameter.first_slot for entry in branch.body.inputs if entry.slice is None and entry.back is None]
                    yield from self.steps(branch.graph, frozenset(whole))
            else:
                yield Moment(node, self._memory.copy(), tuple(self._now))
            for slot in events.pop(position, ()):
                if last[slot] == position and slot in alive:
                    alive.discard(slot)
                    self._add(sizes[slot], -1)
        for slot in alive:
            self._add(sizes[slot], -1)

    def _spans(self, graph: CostGraph, outer: frozenset[int]) -> tuple[dict[int, Size], dict[int, int], dict[int, int]]:
        """For each tensor with memory of its own its bytes, the position of the layer that makes it, and of the last that reads it."""
        sizes: dict[int, Size] = {}
        born: dict[int, int] = {}
        last: dict[int, int] = {}
        end = len(graph.layers)
        for position, node in enumerate(graph.layers):
            type = node.op_type
            for slot in node.sources:
                if slot in last:
                    last[slot] = max(last[slot], end if type in _SINKS else position)
            if type in _SINKS or type == "ReadValue":
                continue  # the memory of a variable is its own
            for slot in node.slots:
                if slot in outer:
                    continue
                size = self._tensors.bytes(graph.slots[slot])
                if size is None:
                    self.unknown.append(node)
                    continue
                sizes[slot] = size
                self.tensors.append((node, size))
                born[slot] = -1 if type == "Parameter" else position
                last[slot] = -1 if type == "Parameter" else position  # an input that nobody reads is not counted
        return sizes, born, last

    def _share_views(self, graph: CostGraph, place: dict[int, int], born: dict[int, int], last: dict[int, int]) -> None:
        """Let each view have the memory of its input, if it has some; of a variable, and of a tensor outside of a body, it has none."""
        if not self._reuse.views:
            return
        for node in graph.layers:
            if node.op_class is None or not node.op_class.is_view or node.op_type in _SINKS or not node.sources:
                continue
            source = node.sources[0]
            for slot in node.slots[:1]:  # a view at fault may have no output
                if slot in born and source >= 0 and source not in graph.constants:
                    place[slot] = place[source]
        for slot, root in place.items():
            if root != slot and root in last:
                last[root] = max(last[root], last[slot])

    @staticmethod
    def _taken(
        graph: CostGraph, node: Node, slot: int, place: dict[int, int], sizes: dict[int, Size], last: dict[int, int], position: int
    ) -> int | None:
        """The tensor whose memory an output takes: an input of the same size that is read for the last time."""
        if node.op_class is None or not node.op_class.is_in_place or len(node.slots) != 1:
            return None
        for source in node.sources:
            root = source
            while root >= 0 and place.get(root, root) != root:
                root = place[root]
            is_last = root in last and last[root] == position and sizes[root] == sizes[slot]
            if is_last and graph.model.nodes[graph.model.producers[root]].op_type != "Parameter":
                return root
        return None


def _greatest(steps: Sequence[Moment]) -> list[Moment]:
    """The steps that may have the peak: none takes at least as much as another one for all sizes."""
    first: dict[object, tuple[int, Moment]] = {}
    for place, step in enumerate(steps):
        first.setdefault(step.memory.key, (place, step))
    kept: list[tuple[int, Moment, Mapping[Monomial, int]]] = []
    for place, step in sorted(first.values(), key=lambda one: [-size for size in one[1].tried]):  # the greatest cover the most
        memory = step.memory
        work = memory.scope.work
        work.take(len(kept) * (1 + len(memory.terms)) if memory.terms else 0)
        beyond = {} if work.is_done else _beyond_least(memory.scope.polynomials, memory.constant, memory.terms)
        if not work.is_done:
            if any(_covers(other, more, step, beyond) for _, other, more in kept):
                continue
            kept = [one for one in kept if not _covers(step, beyond, *one[1:])]
        kept.append((place, step, beyond))
    return [step for _, step, _ in sorted(kept, key=lambda one: one[0])]


def _tried(found: Sequence[Size]) -> list[tuple[int, ...]]:
    """The bytes of several amounts, each for the same few sizes in the ranges of the symbols, the most usual first."""
    scope = next((size.scope for size in found if isinstance(size, Dim)), None)
    if scope is None:
        return [(size,) for size in found if isinstance(size, int)]
    table = scope.polynomials
    expressions = [expression_of(size) for size in found]
    atoms = [table.atoms[index] for index in table.atoms_below(*expressions)]
    symbols = [atom for atom in atoms if not atom.arguments]
    rows = []
    evaluated = table.evaluator(expressions)
    for far in ([], symbols, *([one] for one in symbols[:_ALONE])):
        sizes = {}
        for place, atom in enumerate(symbols):
            low, high, modulus, _ = table.ranges[atom.index]
            least = int(low) if low > -inf else 0
            much = least + max(modulus, 1) * (_LARGE << place % _STEPS)
            sizes[atom.name] = much if atom in far and much <= high else least
        try:
            rows.append(evaluated(sizes))
        except (ZeroDivisionError, OverflowError):
            continue
    return list(zip(*rows, strict=True)) if rows else [()] * len(found)


def _covers(a: Moment, more: Mapping[Monomial, int], b: Moment, less: Mapping[Monomial, int]) -> bool:
    """Whether one takes at least as much as another one for all sizes: first for a few, which nearly always decides."""
    if not all(map(ge, a.tried, b.tried)):
        return False
    is_more = all(more.get(monomial, 0) >= factor for monomial, factor in less.items())
    if is_more and all(factor >= 0 for monomial, factor in more.items() if monomial not in less):
        return True
    # If no term can be replaced by one that cancels, a term without a bound hides whether the difference is positive.
    table = a.memory.scope.polynomials
    differing = _less(a.memory.terms.items(), b.memory.terms.items())
    if not any(len(one) == 1 and table.atoms[one[0]].kind in _BOUNDED for one, factor in differing.items() if factor):
        unbounded = (reduce(multiply, [table.ranges[index] for index in one]).high for one, factor in differing.items() if factor < 0)
        if inf in unbounded:
            return False
    return le_unasked(b.memory.size, a.memory.size) is True
