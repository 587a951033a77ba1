"""A system of requirements, put in terms of one symbol after the other as far as that goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import reduce
from math import inf, lcm
from operator import and_
from typing import Final, NamedTuple

import numpy as np

from irshape.answers.grid import Axis, Place, Solution, Unsolved, compare
from irshape.answers.grid import solve as solve_on_grid
from irshape.answers.size_set import Mask, SizeSet
from irshape.shape.dim import Dim, Scope, Size
from irshape.shape.guard import Requirement
from irshape.shape.range import Range
from irshape.shape.reported import Reported

# The longest head and period of what is asked of one symbol, the largest number in an equation that is put in place of a symbol,
# and how many combinations of sizes are compared to find the nearest that symbols may have together.
_LONGEST: Final = 1 << 21
_LARGEST: Final = 1 << 31
_MOST_COMPARED: Final = 1 << 18


class Solved(NamedTuple):
    """What a system of requirements comes to; requirements are named by their numbers, `simpler` is how they are put best.

    `sets` are the sizes that each symbol may have, whatever the others are, and `causes` the requirements that make a set what it is.
    `links` are equations; of the symbols that they make depend on another one `places` tells how, and they have no set. `relations`
    are what remains between symbols, or is beyond solving.
    """

    sets: dict[str, SizeSet]
    causes: dict[str, list[int]]
    links: list[int]
    places: dict[str, Place]
    relations: list[int]
    simpler: list[Requirement]


class _Demand(NamedTuple):
    """A requirement with its number, -1 for what is known of a symbol beforehand, and the axes it depends on."""

    number: int
    requirement: Requirement
    axes: frozenset[str]


def solve(scope: Scope, requirements: Sequence[Requirement], domain: Mapping[str, Range]) -> Solved:
    """The sizes for which all requirements hold, among those of the domain, which names every symbol."""
    simpler = _simplified(scope, requirements)
    places, links = _linked(simpler, domain)
    demands = [(number, requirement) for number, requirement in enumerate(simpler) if number not in links]
    for name, place in places.items():
        if place.axis != name:
            demands += [(-1, requirement) for requirement in _limits(scope, name, domain[name])]
    system = _System(scope, domain, places, demands)
    return Solved(system.sets, system.causes, links, places, sorted(number for number in set(system.relations) if number >= 0), simpler)


def _simplified(scope: Scope, requirements: Sequence[Requirement]) -> list[Requirement]:
    """A broadcast of sizes that the other requirements keep from being 1 is an equality, and that needs no common factors."""
    if not any(requirement.kind in ("eq", "broadcast", "stretch") for requirement in requirements):
        return list(requirements)
    reported = Reported(scope, requirements)
    simpler = []
    for one in requirements:
        kind, a, b = one.kind, one.a, one.b
        if kind == "broadcast" and reported.bounds(a)[0] > 1:
            kind, a, b = "stretch", b, a
        elif kind == "broadcast" and reported.bounds(b)[0] > 1:
            kind = "stretch"
        if kind == "stretch" and reported.bounds(a)[0] > 1:
            kind = "eq"
        if kind == "eq":
            a, b = _divided(scope, one.a, one.b, reported)
        simpler.append(one if (kind, a, b) == (one.kind, one.a, one.b) else Requirement(kind, a, b, one.template, one.code, one.names))
    return simpler


def _divided(scope: Scope, a: Size, b: Size, reported: Reported) -> tuple[Size, Size]:
    """Both sides of an equation without the factors that all of its terms have, which are never 0."""
    difference = a - b
    if not isinstance(difference, Dim) or difference.polynomial.constant or len(difference.polynomial.terms) < 2:
        return a, b
    table = scope.polynomials
    common = reduce(and_, (Counter(monomial) for monomial, _ in difference.polynomial.terms))
    for index in list(common):
        if reported.bounds(scope.dim(table.polynomial(0, {(index,): 1}), Range(-inf, inf)))[0] < 1:
            del common[index]
    if not common:
        return a, b
    terms = {tuple(sorted((Counter(monomial) - common).elements())): value for monomial, value in difference.polynomial.terms}
    constant = terms.pop((), 0)
    return scope.dim(table.polynomial(constant, terms), Range(-inf, inf)), 0


def _linked(requirements: Sequence[Requirement], domain: Mapping[str, Range]) -> tuple[dict[str, Place], list[int]]:
    """Symbols in terms of others, as linear equations of two of them tell, and the numbers of these equations."""
    places = {name: Place(name) for name in domain}
    order = {name: number for number, name in enumerate(domain)}
    links = []
    for number, requirement in enumerate(requirements):
        if requirement.kind != "eq":
            continue
        line = _line(requirement, places)
        if line is None:
            continue
        constant, (first, second) = line[0], sorted(line[1], key=order.__getitem__)
        for name, other in ((second, first), (first, second)):
            own, rest = line[1][name], line[1][other]
            if abs(own) == 1 and own * rest < 0 and abs(constant) < _LARGEST > abs(rest):
                for symbol, place in places.items():
                    if place.axis == name:
                        # own * name + rest * other + constant == 0
                        places[symbol] = Place(other, place.factor * abs(rest), place.constant - place.factor * own * constant)
                links.append(number)
                break
    return places, links


def _line(requirement: Requirement, places: Mapping[str, Place]) -> tuple[int, dict[str, int]] | None:
    """An equation as `constant + sum(factor * symbol) == 0` of two symbols; None where it is none."""
    difference = requirement.a - requirement.b
    if not isinstance(difference, Dim):
        return None
    polynomial = difference.polynomial
    constant, factors = polynomial.constant, dict[str, int]()
    for monomial, coefficient in polynomial.terms:
        atom = polynomial.table.atoms[monomial[0]]
        if len(monomial) > 1 or atom.kind != "symbol":
            return None
        place = places[atom.name]
        constant += coefficient * place.constant
        factors[place.axis] = factors.get(place.axis, 0) + coefficient * place.factor
    factors = {name: factor for name, factor in factors.items() if factor}
    return (constant, factors) if len(factors) == 2 else None


def _limits(scope: Scope, name: str, known: Range) -> Iterable[Requirement]:
    """What is known of a symbol, as requirements."""
    size = scope.symbol(name, *known)
    if known.low != -inf:
        yield Requirement("ge", size, int(known.low), "", "", {})
    if known.high != inf:
        yield Requirement("ge", int(known.high), size, "", "", {})
    if known.modulus > 1:
        yield Requirement("div", size - known.remainder, known.modulus, "", "", {})


class _Part(NamedTuple):
    """What requirements ask of one symbol: which of its first sizes may be, and which of those that follow, again and again."""

    numbers: tuple[int, ...]
    head: Mask
    cycle: Mask


class _System:
    """Requirements as they are solved: those of one symbol, then those that come apart once the others hold, then the rest."""

    def __init__(
        self, scope: Scope, domain: Mapping[str, Range], places: Mapping[str, Place], numbered: Sequence[tuple[int, Requirement]]
    ) -> None:
        self.table: Final = scope.polynomials
        self.domain: Final = domain
        self.places: Final = places
        self.parts: dict[str, list[_Part]] = {name: [] for name, place in places.items() if place.axis == name}
        self.causes: dict[str, list[int]] = {}
        self.relations: list[int] = []
        demands = [_Demand(number, one, frozenset(places[name].axis for name in one.symbols())) for number, one in numbered]
        self._spans = {name: (int(domain[name].low), domain[name].high, domain[name].modulus) for name in self.parts}
        for demand in demands:
            if len(demand.axes) == 1:
                solution = self._solved([demand])
                if solution is None or not self._take([demand], solution):
                    self.relations.append(demand.number)
        self._spans = {name: self._joined(name).span or span for name, span in self._spans.items()}
        self._tie([demand for demand in demands if len(demand.axes) > 1])
        self.sets: Final = {name: self._joined(name) for name in self.parts}

    def _axis(self, name: str) -> Axis:
        """The sizes of a symbol: those that the requirements of it alone have left, and what lies between them."""
        low, high, step = self._spans[name]
        return Axis(low, step, inf if high == inf else (int(high) - low) // step + 1)

    def _solved(self, demands: Sequence[_Demand]) -> Solution | None:
        axes = {name: self._axis(name) for name in self.parts if any(name in one.axes for one in demands)}
        try:
            return solve_on_grid(self.table, [one.requirement for one in demands], axes, self.places)
        except Unsolved:
            return None

    def _take(self, demands: Sequence[_Demand], solution: Solution) -> bool:
        """Put requirements as what they ask of each symbol alone; whether that can be."""
        whole = solution.holds()
        along = [np.any(whole, tuple(other for other in range(whole.ndim) if other != number)) for number in range(whole.ndim)]
        if not (reduce(np.logical_and.outer, along) == whole).all():
            return False
        numbers = tuple(demands[number].number for number in _needed(solution.masks, whole))
        parts = {}
        for (name, axis), cells in zip(solution.axes.items(), along, strict=True):
            if not cells.all():
                # Sizes before, between and behind those of the axis are kept out by other requirements.
                step = self.domain[name].modulus
                spread = np.ones((len(cells), axis.step // step), bool)
                spread[:, 0] = cells
                before = np.ones((axis.low - int(self.domain[name].low)) // step, bool)
                cycle = spread[axis.head :].ravel() if axis.period else np.ones(1, bool)
                parts[name] = _Part(numbers, np.concatenate([before, spread[: axis.head].ravel()]), cycle)
        if any(sum(_extent([*self.parts[name], part])) > _LONGEST for name, part in parts.items()):
            return False
        for name, part in parts.items():
            self.parts[name].append(part)
        return True

    def _tie(self, demands: list[_Demand]) -> None:
        """Take requirements of several symbols apart, or let them be relations, but not those that others imply."""
        groups: list[list[_Demand]] = []
        for demand in demands:
            solution = self._solved([demand])
            if solution is None:
                self.relations.append(demand.number)
                continue
            if self._take([demand], solution):
                continue
            own, others = [demand], []
            for group in groups:
                if any(not demand.axes.isdisjoint(one.axes) for one in group):
                    own = [*group, *own]
                else:
                    others.append(group)
            groups = [*others, own]
        for group in groups:
            solution = self._solved(group) if len(group) > 1 else None
            if solution is None:
                self.relations += [one.number for one in group]
            elif not self._take(group, solution):
                self.relations += [group[number].number for number in _needed(solution.masks, solution.holds())]

    def _joined(self, name: str) -> SizeSet:
        """The sizes of a symbol that all parts leave; what makes them so is noted."""
        parts = self.parts[name]
        low, high, step, _ = self.domain[name]
        head, period = _extent(parts)
        masks = [_stretched(part, head, period) for part in parts]
        whole = reduce(np.logical_and, masks, np.ones(head + period, bool))
        self.causes[name] = sorted({number for part in _needed(masks, whole) for number in parts[part].numbers if number >= 0})
        return SizeSet(int(low), step, whole[:head], whole[head:], high)


def _extent(parts: Sequence[_Part]) -> tuple[int, int]:
    """The head and the period that parts have in common."""
    return max((len(part.head) for part in parts), default=0), lcm(*(len(part.cycle) for part in parts))


def _stretched(part: _Part, head: int, period: int) -> Mask:
    """The cells of a part, with those of a longer head and a longer period."""
    return np.concatenate([part.head, part.cycle[np.arange(head + period - len(part.head)) % len(part.cycle)]])


def _needed(masks: Sequence[Mask], whole: Mask) -> list[int]:
    """Few masks that make the whole together: each time the one that takes away most."""
    chosen: list[int] = []
    current = np.ones_like(whole)
    while (current & ~whole).any():
        best = max(range(len(masks)), key=lambda number: (np.count_nonzero(current & ~masks[number]), -number))
        chosen.append(best)
        current = current & masks[best]
    for number in list(chosen):
        others = [masks[other] for other in chosen if other != number]
        if (reduce(np.logical_and, others, np.ones_like(whole)) == whole).all():
            chosen.remove(number)
    return chosen


def nearest(
    scope: Scope,
    solved: Solved,
    wanted: Mapping[str, int],
    fixed: Collection[str],
    count: int,
    *,
    is_above: bool,
) -> list[dict[str, int]]:
    """At most `count` sizes for symbols that are tied together, the nearest to what is wanted first, on one side of it.

    If nothing but the set of a symbol tells, all of it is looked at; else as many combinations as are bearable. Fixed symbols do not move.
    """
    places = solved.places
    relations = [solved.simpler[number] for number in solved.relations if solved.simpler[number].symbols() <= wanted.keys()]
    if len(wanted) == 1 and not relations and not fixed:
        ((name, size),) = wanted.items()
        alone = solved.sets[name]
        return [{name: one} for one in (alone.above if is_above else alone.below)(size, count)]
    moving = [name for name in wanted if name in solved.sets and name not in fixed]
    reach = int(_MOST_COMPARED ** (1 / max(len(moving), 1)))
    axes = {}
    for name, size in wanted.items():
        own = solved.sets.get(name)
        if own is None:
            continue
        first = (own.above(size, 1) if is_above or name in fixed else own.below(size, 1))[:1]
        if not first or (name in fixed and first != [size]) or first[0] > _LARGEST:
            return []
        steps = 1 if name in fixed else reach
        if not is_above:
            steps = min(steps, (first[0] - own.low) // own.step + 1)
        axes[name] = Axis(first[0] if is_above else first[0] - (steps - 1) * own.step, own.step, steps)
    try:
        holds = compare(scope.polynomials, relations, axes, places)
    except Unsolved:
        return []
    distance = np.zeros_like(holds, np.int64)
    for name, size in wanted.items():
        base, factor, constant = places[name]
        along = [-1 if axis == base else 1 for axis in axes]
        sizes = axes[base].sizes()
        beyond = (constant + factor * sizes - size).reshape(along) * (1 if is_above else -1)
        holds &= (beyond == 0) if name in fixed else (beyond >= 0)
        if name == base:
            holds &= solved.sets[name].holds(sizes).reshape(along)
        distance = distance + beyond
    found = np.argwhere(holds)[np.argsort(distance[holds], kind="stable")[:count]].tolist()
    rows = [{name: axis.low + axis.step * cell for (name, axis), cell in zip(axes.items(), cells, strict=True)} for cells in found]
    return [{name: places[name].constant + places[name].factor * row[places[name].axis] for name in wanted} for row in rows]
