"""Unification: the requirements of a model make some symbols formulas of others.

`E == A` makes two symbols one, `F == 4` a symbol a number, `D == P + S` a formula, `H % 32 == 0` a multiple of a new symbol. Where a model
leaves a choice, the generic reading is taken, and the choice is kept for a note.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf, lcm
from typing import Final, NamedTuple

from irshape.answers.question import in_range
from irshape.inference.conditions import length
from irshape.inference.run import Guard
from irshape.model.model import grouped
from irshape.shape.dim import INT64_MAX, Dim, Scope, Size, dim_of, eq, expression_of
from irshape.shape.fold import replaced
from irshape.shape.guard import Requirement
from irshape.shape.polynomial import Expression, Polynomial, range_of, split
from irshape.shape.range import Range, meet
from irshape.shape.reported import Reported
from irshape.shape.simplify import simplified, substituted, within_bounds

# Why a symbol is replaced: the requirements leave no other size; or a choice of the generic reading.
DEMANDED: Final = "demanded"
BROADCAST: Final = "broadcast"
PRODUCT: Final = "product"
READ: Final = "read"
CARRIED: Final = "carried"

# Requirements that broadcasting makes: equal sizes, or a size of 1.
_CHOICES: Final = ("broadcast", "stretch")
# The most symbols and operations in an expression that replaces a symbol.
_LONGEST: Final = 24
# The most rounds of replacements; each takes at least one symbol.
_MOST_ROUNDS: Final = 512


class CurrentRequirement(NamedTuple):
    """A requirement in its present form, and the guard that it comes from."""

    requirement: Requirement
    guard: Guard


class FreeSymbol(NamedTuple):
    """A symbol that may be replaced: the input or variable (`owner`) and the axis that it stands for.

    `order` is its position among all symbols; `is_named` says that the user has named it, and `is_kept` that it is not to be replaced.
    `parent` is the symbol for all sizes in whose place it stands for the multiples of a number, by index, or -1.
    """

    owner: str
    axis: int
    order: int
    is_named: bool = False
    is_kept: bool = False
    parent: int = -1


class Replacement(NamedTuple):
    """A symbol, by the index of its atom, that is replaced, with the reason, the demands that say so, and the expression at that moment."""

    atom: int
    expression: Expression
    reason: str
    demands: tuple[CurrentRequirement, ...]


class Unifier:
    """Replaces symbols until nothing changes.

    `symbols` are those of inputs and variables, by index; all others are sizes that only data tells. `reads` say that an axis has the
    elements that a layer reads, which OpenVINO does not check. `carried` are the sizes that a variable is assigned, by the index of the
    symbol that stands for its axis. After `run`, `replaced` has the expression of every replaced symbol in terms of the others, and
    `demands` the requirements that are left.
    """

    def __init__(
        self,
        scope: Scope,
        guards: Iterable[Guard],
        symbols: Mapping[int, FreeSymbol],
        reads: Iterable[Guard] = (),
        carried: Mapping[int, Size] | None = None,
    ) -> None:
        self.scope: Final = scope
        self.table: Final = scope.polynomials
        self.symbols: Final = dict(symbols)
        self.replaced: Final[dict[int, Expression]] = {}
        self.replacements: Final[list[Replacement]] = []
        enforced = [guard for guard in guards if not guard.is_premise and not guard.branch]
        self.demands = [CurrentRequirement(guard.requirement, guard) for guard in enforced]
        self._reads = list(reads)
        self._carried = dict(carried or {})
        self._known: dict[Requirement, frozenset[int]] = {}
        # The replaced symbols whose expressions mention a symbol, by the latter.
        self._mentions: dict[int, dict[int, None]] = {}

    def run(self) -> None:
        """Replace symbols until nothing changes, or no work is left."""
        steps = (self._by_product, self._by_value, self._by_choice, self._by_multiple, self._by_state, self._by_reading)
        for _ in range(_MOST_ROUNDS):
            self._by_equations()
            if self.scope.work.is_done or not any(map(self._replaces, steps)):
                return

    def _replaces(self, step: Callable[[], None]) -> bool:
        """Make a step, and say whether it has replaced a symbol."""
        before = len(self.replaced)
        step()
        return len(self.replaced) > before

    def value(self, expression: Expression) -> Expression:
        """An expression in terms of the symbols that are left."""
        if isinstance(expression, int) or not self.replaced:
            return expression
        return replaced(expression, self.replaced)

    def bounds(self) -> Reported:
        """The bounds of the symbols that are left, by the requirements that are left."""
        return Reported.of(self.scope, [demand.requirement for demand in self.demands])

    def _by_equations(self) -> None:
        """Simplify all demands, and replace symbols by what equations say, until no equation says more."""
        pending = self.demands
        self.demands = []
        is_new = True
        while is_new and not self.scope.work.is_done:
            is_new = False
            kept: list[CurrentRequirement] = []
            for demand in sorted(pending, key=lambda one: length(one.requirement)):
                if self.scope.work.is_done:
                    kept.append(demand)
                    continue
                for part in self._simplified(demand):
                    solution = self._solution(part.requirement)
                    if solution is None:
                        kept.append(part)
                    else:
                        kept += self._replace(*solution, DEMANDED, (part,))
                        is_new = True
            pending = kept
            if not is_new:
                simpler = within_bounds(self.scope, [demand.requirement for demand in kept])
                pending = [CurrentRequirement(one, demand.guard) for one, demand in zip(simpler, kept, strict=True)]
                is_new = any(one is not demand.requirement for one, demand in zip(simpler, kept, strict=True))
        self.demands = _distinct(pending)

    def _by_value(self) -> None:
        """Replace symbols of which the demands leave one value."""
        alone = self.alone()
        for index, _, known in self._bounded():
            if known.low == known.high:
                self.demands += self._replace(index, int(known.low), DEMANDED, alone.get(index, ()))

    def _by_multiple(self) -> None:
        """Replace symbols of which the demands leave the multiples of a number."""
        alone = self.alone()
        for index, symbol, known in self._bounded():
            if max(self.table.ranges[index].modulus, 1) < known.modulus <= INT64_MAX and not symbol.is_named:
                own = alone.get(index, ())
                # Several demands may say it together, as `H % 2 == 0` and `(H//2) % 2 == 0`.
                demands = tuple(demand for demand in own if demand.requirement.kind != "ge")
                moduli = {demand: self.range_by(demand, index).modulus for demand in demands}
                if lcm(*filter(None, moduli.values())) % known.modulus == 0:
                    demands = tuple(demand for demand in demands if moduli[demand] > 1)
                self.demands += self._replace(index, self._multiple(index, symbol, known), DEMANDED, demands or own)

    def _by_choice(self) -> None:
        """Resolve broadcasts to equal sizes, those of few atoms first, and those with minima or maxima when no other is left."""
        before = len(self.replaced)
        choices = [(self._selects(demand.requirement), demand) for demand in self.demands if demand.requirement.kind in _CHOICES]
        for selects, demand in sorted(choices, key=lambda one: (one[0], self._atoms(one[1]))):
            if self.scope.work.is_done or (selects and len(self.replaced) > before):
                break
            for part in self._simplified(demand):
                one = part.requirement
                if self._selects(one):  # `min(T, P + S)` where a layer demands `T >= P + S`
                    one = substituted(one, self.bounds().resolved)
                if one.kind not in _CHOICES:
                    continue
                equal = type(one)("eq", one.a, one.b, one.template, one.code, one.names)
                solution = self._solution(equal)
                if solution is not None:
                    self.demands += self._replace(*solution, BROADCAST, (CurrentRequirement(one, part.guard),))
                elif len(parts := list(simplified(equal))) == 1 and parts[0].kind == "ge" and parts[0].a not in (one.a, one.b):
                    # `T >= P + S`, which is what `min(T, P + S) == P + S` says
                    self.demands.append(CurrentRequirement(parts[0], part.guard))

    def _selects(self, one: Requirement) -> bool:
        """Whether there is a minimum or a maximum in a requirement."""
        sides = expression_of(one.a), expression_of(one.b)
        return any(self.table.atoms[index].kind in ("min", "max") for index in self.table.atoms_below(*sides))

    def _by_product(self) -> None:
        """Take `C` and `A` for equal if `C*D` must be a multiple of `A` and both stand for the same axis."""
        for demand in list(self.demands):
            a, b = demand.requirement.a, demand.requirement.b
            if demand.requirement.kind != "div" or not isinstance(a, Dim) or not isinstance(b, Dim):
                continue
            owner = self.symbols.get(self._index(b.polynomial))
            is_product = len(a.polynomial.terms) == 1 and not a.polynomial.constant
            if owner is None or not is_product or self._symbols(demand.requirement) & self.replaced.keys():
                continue
            for index in a.polynomial.terms[0][0]:
                factor = self.symbols.get(index)
                if factor is not None and factor.axis == owner.axis and factor.owner != owner.owner and not factor.is_named:
                    self.demands += self._replace(index, b.polynomial, PRODUCT, (demand,))
                    break

    def _by_state(self) -> None:
        """An axis of a variable that nothing restricts has the size that the variable is assigned."""
        restricted = self._open()
        for index, assigned in self._carried.items():
            if index in self.replaced or index in restricted:
                continue
            expression = self.value(assigned if isinstance(assigned, int) else assigned.polynomial)
            if index not in self._below(expression) and self._is_plain(expression):
                self.demands += self._replace(index, expression, CARRIED, ())

    def _by_reading(self) -> None:
        """An axis that nothing restricts is as long as what layers read of it."""
        restricted = self._open()
        for read in self._reads:
            requirement = substituted(read.requirement, self.replaced)
            for part in simplified(requirement):
                difference = part.a - part.b
                if part.kind != "ge" or not isinstance(difference, Dim):
                    continue
                found = self._whole(difference.polynomial, restricted) or self._rows(difference.polynomial, restricted)
                if found is not None:
                    self.demands += self._replace(*found, READ, (CurrentRequirement(requirement, read),))
                    break

    def _whole(self, polynomial: Polynomial, restricted: set[int]) -> tuple[int, Expression] | None:
        """`D` and `P + S`, where a model reads `P + S` elements along an axis of `D`; or `P` and `D - S`, where the user has named `D`."""
        lone = [one for one in self._lone(polynomial) if abs(one[1]) == 1 and self._is_free(one[0], restricted)]
        for index, coefficient, rest in sorted(lone, key=lambda one: -one[1]):
            expression = self.table.multiply(rest, -coefficient)
            is_open = coefficient == 1 or isinstance(expression, Polynomial)
            if is_open and self._is_plain(expression) and not _has_negative(expression):
                return index, expression
        return None

    def _is_free(self, index: int, restricted: set[int]) -> bool:
        """Whether a symbol is not named, and no demand restricts it."""
        symbol = self.symbols.get(index)
        return symbol is not None and not symbol.is_named and index not in restricted and index not in self.replaced

    def _rows(self, polynomial: Polynomial, restricted: set[int]) -> tuple[int, Expression] | None:
        """`C` and `A`, where a model reads `A` rows of as many elements as each of `C` rows has, and both stand for the same axis."""
        for monomial, coefficient in polynomial.terms:
            for index in monomial if coefficient == 1 else ():
                if not self._is_free(index, restricted):
                    continue
                others = sorted(set(monomial) - {index})
                for other, negative in polynomial.terms:
                    rest = sorted(set(other) - set(others))
                    row = self.symbols.get(rest[0]) if negative == -1 and len(rest) == 1 and len(other) == len(monomial) else None
                    if row is not None and row.axis == self.symbols[index].axis and rest[0] != index:
                        return index, self.table.polynomial(0, {(rest[0],): 1})
        return None

    def _replace(
        self, index: int, expression: Expression, reason: str, demands: tuple[CurrentRequirement, ...]
    ) -> list[CurrentRequirement]:
        """Replace a symbol everywhere; the demands that its range makes of the expression."""
        new, mentioned = {index: expression}, self._below(expression)
        for other in (*self._mentions.pop(index, ()), index):
            self.replaced[other] = expression if other == index else replaced(self.replaced[other], new)
            for one in mentioned:
                self._mentions.setdefault(one, {})[other] = None
        self.replacements.append(Replacement(index, expression, reason, demands))
        known = self.table.ranges[index]
        if isinstance(expression, int) or not demands:
            return []
        made = in_range(dim_of(self.scope, expression), known, expression.range)
        return [CurrentRequirement(one, demands[0].guard) for one in made]

    def _multiple(self, index: int, symbol: FreeSymbol, known: Range) -> Expression:
        """A symbol in place of another one, whose range has the multiples of a number alone."""
        stated = meet(self.table.ranges[index], Range(-inf, inf, known.modulus, known.remainder)) or known
        made = self.table.symbol(f"{self.table.atoms[index].name}/{known.modulus}", stated, self.table.atoms[index].origins)
        self.symbols[self._index(made)] = symbol._replace(parent=index)
        return made

    def _simplified(self, demand: CurrentRequirement) -> Iterator[CurrentRequirement]:
        has_replaced = self._symbols(demand.requirement) & self.replaced.keys()
        requirement = substituted(demand.requirement, self.replaced) if has_replaced else demand.requirement
        return (CurrentRequirement(part, demand.guard) for part in simplified(requirement))

    def _solution(self, requirement: Requirement) -> tuple[int, Expression] | None:
        """The symbol that an equation is best solved for, with its expression; None if there is none."""
        if requirement.kind != "eq":
            return None
        difference = requirement.a - requirement.b
        if not isinstance(difference, Dim):
            return None
        found = []
        for index, coefficient, rest in self._lone(difference.polynomial):
            if abs(coefficient) != 1:
                continue
            symbol = self.symbols.get(index)
            if symbol is not None and symbol.is_kept:
                continue
            expression = self.table.multiply(rest, -coefficient)
            if meet(range_of(expression), self.table.ranges[index]) is None:
                continue
            if symbol is not None and not self._is_plain(expression):
                continue
            order = symbol.order if symbol else inf
            is_named = symbol is not None and symbol.is_named
            found.append(((symbol is not None, _has_negative(expression), is_named, -order), index, expression))
        if not found:
            return None
        _, index, expression = min(found, key=lambda one: one[0])
        return index, expression

    def _lone(self, polynomial: Polynomial) -> Iterator[tuple[int, int, Expression]]:
        """The symbols that stand alone in a term and nowhere else, with their coefficients and the rest of the polynomial."""
        for monomial, coefficient in polynomial.terms:
            index = monomial[0]
            if len(monomial) > 1 or self.table.atoms[index].kind != "symbol":
                continue
            others = {other: value for other, value in polynomial.terms if other != monomial}
            rest = self.table.polynomial(polynomial.constant, others)
            if index not in self._below(rest):
                yield index, coefficient, rest

    def _is_plain(self, expression: Expression) -> bool:
        """Whether an expression is short, and has symbols of inputs and variables only, and operations that the notation of shapes has."""
        if isinstance(expression, Polynomial) and expression.size > _LONGEST:
            return False
        for index in self.table.atoms_below(expression):
            atom = self.table.atoms[index]
            if index not in self.symbols if atom.kind == "symbol" else atom.name or atom.kind == "broadcast":
                return False
        return True

    def is_multiple(self, one: Replacement) -> bool:
        """Whether a symbol was replaced by one that stands for its multiples of a number."""
        made = self.symbols.get(self._index(one.expression))
        return made is not None and made.parent == one.atom

    def below(self, demand: CurrentRequirement) -> frozenset[int]:
        """The symbols in a demand, by index."""
        return self._symbols(demand.requirement)

    def _bounded(self) -> Iterator[tuple[int, FreeSymbol, Range]]:
        """The symbols that the demands name, with the ranges that they leave; none if the demands contradict each other."""
        reported = self.bounds()
        for index in sorted(self._open() & self.symbols.keys()) if not reported.is_contradictory else ():
            if not self.symbols[index].is_kept:
                yield index, self.symbols[index], reported.range(self._alone(index))

    def alone(self) -> dict[int, tuple[CurrentRequirement, ...]]:
        """The demands on one symbol alone, by the index of the symbol."""
        named = ((self._symbols(demand.requirement), demand) for demand in self.demands)
        found = grouped((next(iter(own)), demand) for own, demand in named if len(own) == 1)
        return {index: tuple(demands) for index, demands in found.items()}

    def range_by(self, demand: CurrentRequirement, index: int) -> Range:
        """The range of a symbol that one demand on it leaves."""
        stated, work = self.table.ranges[index], self.scope.work
        difference = demand.requirement.a - demand.requirement.b
        if demand.requirement.kind == "ge" and isinstance(difference, Dim) and difference.polynomial.terms[0][0] == (index,):
            # The demand is about the symbol itself, as simplified demands nearly always are.
            ((_, factor), *others), constant = difference.polynomial.terms, difference.polynomial.constant
            if not others:
                low, high = (-(constant // factor), inf) if factor > 0 else (-inf, constant // -factor)
                return meet(stated, Range(low, high)) or stated
        work.take(1 + len(self.table.atoms) // 8)
        return stated if work.is_done else Reported(self.scope, [demand.requirement]).range(self._alone(index))

    def _open(self) -> set[int]:
        """The symbols that the demands name."""
        return set().union(*(self._symbols(demand.requirement) for demand in self.demands))

    def _atoms(self, demand: CurrentRequirement) -> int:
        """The number of atoms in a demand, where a size that has too many terms counts with all of them."""
        return len(self.table.atoms_below(expression_of(demand.requirement.a), expression_of(demand.requirement.b)))

    def _symbols(self, requirement: Requirement) -> frozenset[int]:
        found = self._known.get(requirement)
        if found is None:
            found = self._below(expression_of(requirement.a)) | self._below(expression_of(requirement.b))
            self._known[requirement] = found
        return found

    def _below(self, expression: Expression) -> frozenset[int]:
        return frozenset(self.table.symbols_below(expression))

    def _alone(self, index: int) -> Size:
        return dim_of(self.scope, self.table.atoms[index])

    def _index(self, expression: Expression) -> int:
        """The index of the symbol that is the whole expression; -1 if there is none."""
        atom = self.table.only_atom(expression)
        return atom.index if atom is not None and atom.kind == "symbol" else -1


def _has_negative(expression: Expression) -> bool:
    constant, terms = split(expression)
    return constant < 0 or any(coefficient < 0 for _, coefficient in terms)


def _distinct(demands: Iterable[CurrentRequirement]) -> list[CurrentRequirement]:
    found: dict[str, CurrentRequirement] = {}
    for demand in demands:
        if not (demand.requirement.kind == "eq" and eq(demand.requirement.a, demand.requirement.b)):
            found.setdefault(str(demand.requirement), demand)
    return list(found.values())
