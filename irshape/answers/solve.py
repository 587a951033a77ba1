"""Solve a system of requirements: find the sizes of each symbol alone where possible, and keep relations where not."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import reduce
from itertools import islice
from math import inf, lcm, prod
from operator import and_
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from irshape.answers.question import Condition, in_range
from irshape.answers.size_set import Axis, SizeSet, Substitution, Unsolved, bracketed
from irshape.inference.run import Guard
from irshape.shape.dim import Dim, Scope
from irshape.shape.guard import Requirement, all_hold, broken
from irshape.shape.limits import Work
from irshape.shape.range import Range, exactly, reduced, subtract
from irshape.shape.reported import Reported, range_of_factor
from irshape.shape.simplify import within_bounds, without_quotients

if TYPE_CHECKING:
    from irshape.answers.grid import Mask, Solution

# The most sizes in head and period of one symbol's set, the largest number in an equation that is substituted for a symbol, and the most
# combinations of sizes that are compared to find the nearest.
_LONGEST: Final = 1 << 21
# How many cells of a mask one step of work compares.
_CELLS_A_STEP: Final = 4096
# The largest size whose distance to another fits in int64.
_FITTING: Final = 1 << 61
# The most cells of all demands on one symbol.
_MOST_CELLS: Final = 1 << 25
_LARGEST: Final = 1 << 31
_MOST_COMPARED: Final = 1 << 18
# The most combinations that are tried one by one for a requirement whose numbers no grid holds.
_MOST_ALONE: Final = 4096
# The most combinations of sizes that bounded symbols have.
_MOST_BOXED: Final = 1 << 16


class Solved(NamedTuple):
    """The solution of a system of requirements; `simpler` has them in their simplest form, and their positions there identify them.

    `sets` has the sizes that a symbol may have independently of all others, and `causes` the requirements that restrict the set. `links`
    are equations of two symbols; `substitutions` expresses one by the other, and the expressed symbol has no set. `relations` are
    requirements that tie several symbols together, or that cannot be solved. `unfinished` is the requirement at which no work was left to
    solve it, if there is one: this and later ones may be relations that would not have to be.
    """

    sets: dict[str, SizeSet]
    causes: dict[str, list[int]]
    links: list[int]
    substitutions: dict[str, Substitution]
    relations: list[int]
    simpler: list[Requirement]
    unfinished: int | None


def conditions(scope: Scope, guards: Sequence[Guard]) -> list[Condition] | None:
    """Guards as conditions on sizes of at least 1; None if no such sizes fulfil them, or without NumPy or work to solve them."""
    names = dict.fromkeys([name for guard in guards for name in sorted(guard.requirement.symbols())])
    domain: dict[str, Range] = {}
    for name in names:
        low, high, modulus, remainder = size.range if isinstance(size := scope.named(name), Dim) else Range(1, 0)
        if (own := reduced(max(low, 1), high, modulus, remainder)) is not None:
            domain[name] = own
    solved = solved_if_possible(scope, [guard.requirement for guard in guards], domain) if len(domain) == len(names) else None
    if solved is None or solved.unfinished is not None or any(sizes.is_empty for sizes in solved.sets.values()):
        return None
    # What the name of a size says already, as that it is even, has no cause among the guards.
    lone = {name: tuple([one for one in guards if one.requirement.symbols() == {name}]) for name in names}
    found = [one if one.guards else one._replace(guards=lone[name]) for name, one in of_one(solved, guards).items()]
    return [one for one in (*found, *of_several(solved, guards)) if one.guards]


def of_one(solved: Solved, guards: Sequence[Guard], more: Mapping[str, Sequence[Guard]] = MappingProxyType({})) -> dict[str, Condition]:
    """The condition on each symbol that may not have every size, with its guards, behind `more` of them."""
    found = {}
    for name, sizes in solved.sets.items():
        causes = solved.causes[name]
        if not sizes.is_empty and not sizes.is_everything:
            text = sizes.text(name) or " and ".join([bracketed(str(solved.simpler[number]), " or ") for number in causes])
            found[name] = Condition(text, (name,), (*more.get(name, ()), *[guards[number] for number in causes]))
    return found


def of_several(solved: Solved, guards: Sequence[Guard]) -> list[Condition]:
    """The conditions that tie symbols together, and those that contradict each other."""
    empty = [number for name, sizes in solved.sets.items() if sizes.is_empty for number in solved.causes[name]]
    told = [(solved.simpler[number], guards[number]) for number in (*empty, *solved.links, *solved.relations)]
    return [Condition(str(one), tuple(sorted(one.symbols())), (guard,)) for one, guard in told]


def _follows(one: Requirement, size: Dim, number: int) -> bool:
    """Whether a requirement follows where a size is a number: that it is a multiple of another number, and what its square is."""
    if one.kind == "div" and isinstance(one.a, Dim) and isinstance(one.b, int):
        return one.a.polynomial == size.polynomial and number % one.b == 0
    if one.kind != "eq" or (tied := one.tied()) is None:
        return False
    square = size * size
    return tied[1] == number**2 and isinstance(square, Dim) and tied[0].polynomial == square.polynomial


# What a requirement of a kind says of the difference of its sides.
_SAID: Final = {"ge": Range(0, inf), "eq": exactly(0)}


class _Demand(NamedTuple):
    """A requirement with its position in the system, -1 for the given range of a symbol, and the axes it depends on."""

    number: int
    requirement: Requirement
    axes: frozenset[str]


def solve(scope: Scope, requirements: Sequence[Requirement], domain: Mapping[str, Range]) -> Solved:
    """Find the sizes for which all requirements hold, within `domain`, which has the range of every symbol."""
    simpler = without_quotients(scope, within_bounds(scope, requirements))
    substitutions, links = _linked(simpler, domain)
    demands = [(number, requirement) for number, requirement in enumerate(simpler) if number not in links]
    for name, substitution in substitutions.items():
        if substitution.axis != name:
            size = scope.symbol(name, *domain[name]) if (made := scope.named(name)) is None else made
            demands += [(-1, requirement) for requirement in in_range(size, domain[name], Range(-inf, inf))]
    system = _System(scope, domain, substitutions, demands)
    relations = sorted(number for number in set(system.relations) if number >= 0)
    known = [tied for number in relations if simpler[number].kind == "eq" and (tied := simpler[number].tied()) is not None]
    relations = [number for number in relations if not any(_follows(simpler[number], *each) for each in known)]
    narrow = [{str(one.a), str(one.b)} for number in relations if (one := simpler[number]).kind == "stretch"]  # of a sum that may broadcast
    relations = [number for number in relations if (one := simpler[number]).kind != "broadcast" or {str(one.a), str(one.b)} not in narrow]
    return Solved(system.sets, system.causes, links, substitutions, relations, simpler, system.unfinished)


def solved_if_possible(scope: Scope, requirements: Sequence[Requirement], domain: Mapping[str, Range]) -> Solved | None:
    """The solution of a system of requirements; None in a browser, which has no NumPy to find it with."""
    try:
        return solve(scope, requirements, domain)
    except ModuleNotFoundError:
        return None


def _linked(requirements: Sequence[Requirement], domain: Mapping[str, Range]) -> tuple[dict[str, Substitution], list[int]]:
    """Solve linear equations of two symbols: the substitution of every symbol, and the positions of these equations."""
    substitutions = {name: Substitution(name) for name in domain}
    order = {name: number for number, name in enumerate(domain)}
    links = []
    for number, requirement in enumerate(requirements):
        if requirement.kind != "eq":
            continue
        line = _line(requirement, substitutions)
        if line is None or len(line[1]) != 2:
            continue
        constant, (first, second) = line[0], sorted(line[1], key=order.__getitem__)
        for name, other in ((second, first), (first, second)):
            own, rest = line[1][name], line[1][other]
            if abs(own) == 1 and own * rest < 0 and abs(constant) < _LARGEST > abs(rest):
                for symbol, substitution in substitutions.items():
                    if substitution.axis == name:
                        # own * name + rest * other + constant == 0
                        factor = substitution.factor
                        substitutions[symbol] = Substitution(other, factor * abs(rest), substitution.constant - factor * own * constant)
                links.append(number)
                break
    return substitutions, links


def _line(requirement: Requirement, substitutions: Mapping[str, Substitution]) -> tuple[int, dict[str, int]] | None:
    """What a requirement compares with 0, or divides, as `constant + sum(factor * symbol)`; None if it has another form."""
    difference = requirement.a if requirement.kind == "div" else requirement.a - requirement.b
    if not isinstance(difference, Dim):
        return None
    polynomial = difference.polynomial
    constant, factors = polynomial.constant, dict[str, int]()
    for monomial, coefficient in polynomial.terms:
        atom = polynomial.table.atoms[monomial[0]]
        if len(monomial) > 1 or atom.kind != "symbol":
            return None
        substitution = substitutions[atom.name]
        constant += coefficient * substitution.constant
        factors[substitution.axis] = factors.get(substitution.axis, 0) + coefficient * substitution.factor
    return constant, {name: factor for name, factor in factors.items() if factor}


class _Part(NamedTuple):
    """The demands on one symbol: `head` has a 1 for its valid first sizes, and `cycle`, repeated, for those among all later sizes."""

    numbers: tuple[int, ...]
    head: bytes
    cycle: bytes


class _System:
    """Requirements while they are solved: first those of one symbol, then those that separate into symbols, then the rest as relations."""

    def __init__(
        self,
        scope: Scope,
        domain: Mapping[str, Range],
        substitutions: Mapping[str, Substitution],
        numbered: Sequence[tuple[int, Requirement]],
    ) -> None:
        self.scope: Final = scope
        self.table: Final = scope.polynomials
        self.domain: Final = domain
        self.substitutions: Final = substitutions
        self.parts: dict[str, list[_Part]] = {name: [] for name, substitution in substitutions.items() if substitution.axis == name}
        self._order: Final = {name: number for number, name in enumerate(self.parts)}
        self.causes: dict[str, list[int]] = {}
        self.relations: list[int] = []
        self.unfinished: int | None = None
        demands = [_Demand(number, one, frozenset(substitutions[name].axis for name in one.symbols())) for number, one in numbered]
        self._spans = {name: (int(domain[name].low), domain[name].high, domain[name].modulus) for name in self.parts}
        unsolved: list[_Demand] = []
        for demand in demands:
            if len(demand.axes) == 1 and not self._take_line(demand):
                solution = self._solved([demand])
                if solution is None or not self._take([demand], solution):
                    unsolved.append(demand)
        self.relations += [demand.number for demand in unsolved if not self._try(demand)]
        self._spans = {name: self._size_set(name).span or span for name, span in self._spans.items()}
        self._alone = [demand.requirement for demand in demands if len(demand.axes) == 1]
        self._tie([demand for demand in demands if len(demand.axes) > 1])
        self.sets: Final = {name: self._size_set(name) for name in self.parts}

    def _axis(self, name: str) -> Axis:
        """The axis of a symbol, from the smallest to the largest size that the requirements on it alone allow."""
        low, high, step = self._spans[name]
        return Axis(low, step, inf if high == inf else (int(high) - low) // step + 1)

    def _solved(self, demands: Sequence[_Demand]) -> Solution | None:
        if self.table.work.is_done:
            if self.unfinished is None:
                self.unfinished = next((one.number for one in demands if one.number >= 0), None)
            return None
        named = frozenset().union(*(one.axes for one in demands))
        axes = {name: self._axis(name) for name in sorted(named, key=self._order.__getitem__)}
        from irshape.answers.grid import solve as solve_on_grid

        try:
            return solve_on_grid(self.table, [one.requirement for one in demands], axes, self.substitutions)
        except Unsolved:
            return None

    def _take_line(self, demand: _Demand) -> bool:
        """Replace a requirement that tells the range of one symbol by a demand, with the cells of a grid; False for another."""
        (name,) = demand.axes
        one, axis, line = demand.requirement, self._axis(name), _line(demand.requirement, self.substitutions)
        kind = _SAID.get(one.kind) if one.kind != "div" else Range(-inf, inf, abs(one.b)) if isinstance(one.b, int) and one.b else None
        if kind is None or line is None or name not in line[1] or self.table.work.is_done:
            return False
        constant, factor = line[0] + line[1][name] * axis.low, line[1][name] * axis.step
        known = range_of_factor(subtract(kind, exactly(constant)), factor)
        if known is None:
            return False
        low, high, modulus, remainder = known
        # Where the comparison has the same outcome at all later places, a head of twice the length is long enough.
        last = -1 if one.kind == "div" else max(low - 1 if high == inf else high, -1)
        head, period = 0, max(modulus, 1)
        while head <= last and head <= _MOST_ALONE:
            head = max(2 * head, period)
        if head > _MOST_ALONE or period > _MOST_ALONE:
            return False
        axis.shape(head, period, 1)
        cells = bytes([low <= at <= high and (modulus == 0 or at % modulus == remainder) for at in range(axis.cells)])
        return 0 not in cells or self._add({name: _Part((demand.number,), cells[: axis.head], cells[axis.head :] or b"\1")})

    def _take(self, demands: Sequence[_Demand], solution: Solution) -> bool:
        """Replace requirements by demands on each symbol alone; False if that is not possible."""
        import numpy as np

        whole = solution.holds()
        if (along := _separated(whole)) is None:
            return False
        numbers = tuple(demands[number].number for number in _needed(*_bits(solution.masks, whole), self.table.work))
        parts: dict[str, _Part] = {}
        for (name, axis), cells in zip(solution.axes.items(), along, strict=True):
            if not cells.all():
                # Other requirements exclude the sizes before, between and after those of the axis.
                step = self.domain[name].modulus
                if (axis.low - int(self.domain[name].low)) // step + len(cells) * (axis.step // step) > _LONGEST:
                    return False
                spread = np.ones((len(cells), axis.step // step), bool)
                spread[:, 0] = cells
                before = b"\1" * ((axis.low - int(self.domain[name].low)) // step)
                parts[name] = _Part(numbers, before + spread[: axis.head].tobytes(), spread[axis.head :].tobytes() or b"\1")
        return self._add(parts)

    def _try(self, demand: _Demand) -> bool:
        """Replace a requirement on one symbol that has few sizes by those for which it holds; False if the symbol has many."""
        (name,) = demand.axes
        known, step = self._size_set(name), self.domain[name].modulus
        if demand.requirement.symbols() != {name} or known.span is None or known.span[1] - known.low > _MOST_ALONE * step:
            return False
        holds = all_hold([demand.requirement])
        sizes = range(known.low, int(known.span[1]) + 1, step)
        self.table.work.take(len(sizes))
        head = bytes([size not in known or holds({name: size}) for size in sizes])
        return 0 not in head or self._add({name: _Part((demand.number,), head, b"\1")})

    def _add(self, parts: Mapping[str, _Part]) -> bool:
        """Add a demand on each of these symbols; False if one of them would have too many cells."""
        for name, part in parts.items():
            several = [*self.parts[name], part]
            cells_of_all = sum(_extent(several))
            if cells_of_all > _LONGEST or len(several) * cells_of_all > _MOST_CELLS:
                return False
        for name, part in parts.items():
            self.parts[name].append(part)
        return True

    def _tie(self, demands: list[_Demand]) -> None:
        """Separate requirements of several symbols, or keep them as relations, without those that others imply."""
        groups: list[list[_Demand]] = []
        for demand in self._without_boxed(demands):
            solution = self._solved([demand])
            if solution is None:
                self.relations.append(demand.number)
                continue
            if self._take([demand], solution):
                continue
            groups = _joined(groups, demand)
        for group in groups:
            solution = self._solved(group) if len(group) > 1 else None
            if solution is None:
                self.relations += [one.number for one in group]
            elif not self._take(group, solution):
                self.relations += [group[number].number for number in _needed(*_bits(solution.masks, solution.holds()), self.table.work)]

    def _without_boxed(self, demands: list[_Demand]) -> list[_Demand]:
        """The requirements without those on symbols that they bound together, as `H*W == 64` does: of these, relations are left."""
        reported = Reported.of(self.scope, [*self._alone, *(one.requirement for one in demands)])
        box = {name: self._bounded_axis(name, reported) for name in dict.fromkeys([name for one in demands for name in one.axes])}
        groups: list[list[_Demand]] = []
        others = []
        for demand in demands:
            if all(box[name] is not None for name in demand.axes):
                groups = _joined(groups, demand)
            else:
                others.append(demand)
        for group in groups:
            axes = {name: axis for name, axis in box.items() if axis is not None and any(name in one.axes for one in group)}
            others += self._boxed(group, axes)
        return others

    def _bounded_axis(self, name: str, reported: Reported) -> Axis | None:
        """The axis of the sizes in the reported bounds of a symbol; None if these have no upper bound."""
        size = self.scope.named(name)
        low, high, step = self._spans[name]
        high = min(high, high if size is None else reported.range(size).high)
        return None if high == inf else Axis(low, step, max((int(high) - low) // step + 1, 1))

    def _boxed(self, group: list[_Demand], axes: Mapping[str, Axis]) -> list[_Demand]:
        """Keep as few requirements of a group as relations as bound the symbols to these axes and say the same there.

        The requirements that may be separated into symbols are returned.
        """
        if prod(axis.count for axis in axes.values()) > _MOST_BOXED:
            if any(self._spans[name][1] < inf for name in axes):
                return group
            self.relations += [one.number for one in group]  # a grid that decides all sizes has more points than the box
            return []
        from irshape.answers.grid import tabulate

        try:
            masks = [tabulate(self.table, [one.requirement], axes, self.substitutions) for one in group]
        except Unsolved:
            return group
        whole = reduce(and_, masks)
        if _separated(whole) is not None:
            return group
        chosen = _needed(*_bits(masks, whole), self.table.work)
        reported = Reported.of(self.scope, [*self._alone, *(group[number].requirement for number in chosen)])
        bounds = {name: self._bounded_axis(name, reported) for name in axes}
        if not all((own := bounds[name]) is not None and own.count <= axis.count for name, axis in axes.items()):
            chosen = list(range(len(group)))
        separable = [number for number in chosen if _separated(masks[number]) is not None]
        self.relations += [group[number].number for number in chosen if number not in separable]
        return [group[number] for number in separable]

    def _size_set(self, name: str) -> SizeSet:
        """The sizes of a symbol that all parts allow; notes in `causes` which requirements restrict them."""
        parts = self.parts[name]
        low, high, step, _ = self.domain[name]
        head, period = _extent(parts)
        masks = [int.from_bytes(_stretched(part, head, period), "little") for part in parts]
        every = int.from_bytes(b"\1" * (head + period), "little")
        whole = reduce(and_, masks, every)
        needed = _needed(masks, whole, every, self.table.work)
        self.causes[name] = sorted({number for part in needed for number in parts[part].numbers if number >= 0})
        cells = whole.to_bytes(head + period, "little")
        return SizeSet(int(low), step, cells[:head], cells[head:], high)


def _joined(groups: list[list[_Demand]], demand: _Demand) -> list[list[_Demand]]:
    """The groups with one more requirement; groups that have symbols with it in common become one."""
    own, others = [demand], []
    for group in groups:
        if any(not demand.axes.isdisjoint(one.axes) for one in group):
            own = [*group, *own]
        else:
            others.append(group)
    return [*others, own]


def _separated(whole: Mask) -> list[Mask] | None:
    """The valid cells of each axis; None if not all combinations of these are valid."""
    import numpy as np

    along = [np.any(whole, tuple(other for other in range(whole.ndim) if other != number)) for number in range(whole.ndim)]
    return along if (reduce(np.logical_and.outer, along) == whole).all() else None


def _extent(parts: Sequence[_Part]) -> tuple[int, int]:
    """The common head and period of parts."""
    return max((len(part.head) for part in parts), default=0), lcm(*(len(part.cycle) for part in parts))


def _stretched(part: _Part, head: int, period: int) -> bytes:
    """The cells of a part, for a longer head and a longer period."""
    more = head + period - len(part.head)
    return part.head + (part.cycle * -(-more // len(part.cycle)))[:more]


def _bits(masks: Sequence[Mask], whole: Mask) -> tuple[list[int], int, int]:
    """Masks, their conjunction, and the mask of all its cells as numbers with a byte for each cell."""
    import numpy as np

    texts = [np.broadcast_to(mask, whole.shape).tobytes() for mask in (*masks, whole)]
    *bits, own = [int.from_bytes(text, "little") for text in (*texts, b"\1" * whole.size)]
    return bits[:-1], bits[-1], own


def _needed(masks: Sequence[int], whole: int, every: int, work: Work) -> list[int]:
    """A few masks, numbers with a byte for each cell, whose conjunction is the whole, chosen greedily; all if no work is left."""
    chosen: list[int] = []
    current = every
    cost = len(masks) * (1 + every.bit_count() // _CELLS_A_STEP)
    while current & ~whole:
        work.take(cost)
        if work.is_done:
            return list(range(len(masks)))
        best = max(range(len(masks)), key=lambda number: ((current & ~masks[number]).bit_count(), -number))
        chosen.append(best)
        current = current & masks[best]
    for number in list(chosen):
        work.take(cost)
        if work.is_done:
            break
        others = [masks[other] for other in chosen if other != number]
        if reduce(and_, others, every) == whole:
            chosen.remove(number)
    return chosen


def _tabulated(
    scope: Scope, relations: Sequence[Requirement], axes: Mapping[str, Axis], substitutions: Mapping[str, Substitution]
) -> tuple[Mask, list[Requirement]]:
    """The cells of finite axes in which the relations hold, and the relations whose numbers no grid holds. Raises Unsolved."""
    from irshape.answers.grid import tabulate

    holds, too_large = tabulate(scope.polynomials, (), axes, substitutions), []
    for relation in relations:
        try:
            holds &= tabulate(scope.polynomials, [relation], axes, substitutions)
        except Unsolved:
            too_large.append(relation)
    return holds, too_large


def nearest(
    scope: Scope, solved: Solved, wanted: Mapping[str, int], fixed: Collection[str], count: int, *, is_above: bool
) -> list[dict[str, int]]:
    """At most `count` valid sizes for dependent symbols, on one side of the wanted sizes, the nearest first.

    For a single symbol without relations, its whole set is searched; else combinations near the wanted sizes. `fixed` symbols keep theirs.
    """
    substitutions = solved.substitutions
    relations = [solved.simpler[number] for number in solved.relations if solved.simpler[number].symbols() <= wanted.keys()]
    if len(wanted) == 1 and not relations and not fixed:
        ((name, size),) = wanted.items()
        alone = solved.sets[name]
        return [{name: one} for one in (alone.above if is_above else alone.below)(size, count)]
    import numpy as np

    moving = [name for name in wanted if name in solved.sets and name not in fixed]
    reach = int(_MOST_COMPARED ** (1 / max(len(moving), 1)))
    axes = {}
    for name, size in wanted.items():
        if (own := solved.sets.get(name)) is None:
            continue
        first = (own.above(size, 1) if is_above or name in fixed else own.below(size, 1))[:1]
        if not first or (name in fixed and first != [size]) or first[0] > _LARGEST:
            return []
        steps = 1 if name in fixed else reach
        if not is_above:
            steps = min(steps, (first[0] - own.low) // own.step + 1)
        axes[name] = Axis(first[0] if is_above else first[0] - (steps - 1) * own.step, own.step, steps)
    try:
        holds, too_large = _tabulated(scope, relations, axes, substitutions)
    except Unsolved:
        return []
    distance = np.zeros_like(holds, np.int64)
    for name, size in wanted.items():
        base, factor, constant = substitutions[name]
        along = [-1 if axis == base else 1 for axis in axes]
        sizes = axes[base].sizes().astype(np.int64 if abs(size) <= _FITTING else object)
        beyond = (constant + factor * sizes - size).reshape(along) * (1 if is_above else -1)
        holds &= (beyond == 0) if name in fixed else (beyond >= 0)
        if name == base:
            holds &= solved.sets[name].holds(axes[base].sizes()).reshape(along)
        distance = distance + beyond
    most = _MOST_ALONE if too_large else count
    found = np.argwhere(holds)[np.argsort(distance[holds], kind="stable")[:most]].tolist()
    rows = ({name: axis.low + axis.step * cell for (name, axis), cell in zip(axes.items(), cells, strict=True)} for cells in found)
    named = ({name: one.constant + one.factor * row[one.axis] for name in wanted for one in [substitutions[name]]} for row in rows)
    scope.work.take(len(too_large) * len(found))
    return list(islice(filter(all_hold(too_large), named), count))


def mended(
    scope: Scope, requirements: Sequence[Requirement], domain: Mapping[str, Range], sizes: Mapping[str, int], given: Collection[str]
) -> Iterator[dict[str, int]]:
    """The nearest sizes below and above `sizes` that fulfil requirements which these break; sizes of `given` symbols stay."""
    free = {name for one in broken(requirements, sizes) for name in one.symbols()} - set(given)
    if (solved := solved_if_possible(scope, requirements, domain)) is not None:
        wanted = {name: sizes[name] for name in domain}
        for is_above in (False, True):
            found = nearest(scope, solved, wanted, wanted.keys() - free, 1, is_above=is_above)
            yield from filter(all_hold(requirements), found)
