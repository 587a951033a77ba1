"""The bounds that a report shows: the bounds of the inference, tightened by its guards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import gcd, inf
from typing import Final

from irshape.shape.dim import INT64_MAX, Dim, Scope, Size, expression_of, format_size
from irshape.shape.fold import replaced_or_same
from irshape.shape.guard import Requirement
from irshape.shape.polynomial import Atom, Expression, Monomial, Polynomial, PolynomialTable, Terms
from irshape.shape.range import COMPOSE, Bound, Range, add, exactly, join, meet, multiply, reduced, subtract

# Only ranges that no sizes meet move for so many rounds: those of `N >= M + 1` and `M >= N + 1`. Bounds are right after any round.
_ROUNDS: Final = 128
# After so many rounds that move the same ranges, each without another end to reach, no sizes meet them.
_RISES: Final = 16
_MAX_TERMS: Final = 8
# Operations that give one of their two arguments.
SELECTIONS: Final = ("min", "max", "broadcast")


class _Found(dict[tuple[Requirement, ...], "Reported"]):
    """What was found for requirements; it is derived, so a pickle leaves it out."""

    def __reduce__(self) -> tuple[type[_Found], tuple[()]]:
        return _Found, ()


class Reported:
    """The ranges of sizes under the assumption that every requirement holds.

    Requirements are propagated to polynomials and atoms until no range changes, whatever their order, or until the work of the scope is
    done; the scope itself does not change.
    `is_contradictory` says that no sizes meet all requirements. The bounds are then those of the inference. `unfinished` is the
    requirement at which the work ended, if it did: the bounds are right, but requirements from there on may not tighten them.
    """

    def __init__(self, scope: Scope, requirements: Iterable[Requirement]) -> None:
        self._table: Final = scope.polynomials
        self._atoms: list[Range] = list(scope.polynomials.ranges)
        # By the linear part of polynomials: the range of N + M serves 2*N + 2*M + 3 as well.
        self._linear: dict[Terms, Range] = {}
        self._work: Final = scope.work
        self._shown: dict[Dim, tuple[Bound, Bound]] = {}
        # The atoms about which the last round has learned something.
        self._learned: set[int] = set()
        self.is_contradictory = False
        self.unfinished: Requirement | None = None
        self._propagate(list(dict.fromkeys(requirements)))
        if self.is_contradictory:
            self._linear.clear()
            self._atoms = list(scope.polynomials.ranges)

    def _propagate(self, requirements: list[Requirement]) -> None:
        """Narrow the ranges by the requirements, and again by those whose atoms have other ranges then."""
        active = requirements
        below: dict[Requirement, set[int]] = {}
        rises, is_settled = 0, False
        for _ in range(_ROUNDS):
            before, self._learned = self._learned, set()
            for requirement in active:
                if not self._work.is_done:
                    for polynomial, known in self._consequences(requirement):
                        self._learn(polynomial, known)
                if self._work.is_done:
                    self.unfinished = requirement
                    return
            if is_settled and not self._learned:
                return
            self._derive()
            learned, self._learned = self._learned, set()
            self._descend()
            is_settled, self._learned = not self._learned, self._learned | learned  # then only a requirement can move a range
            is_rising = self._learned == before and all(inf in (-self._atoms[index].low, self._atoms[index].high) for index in before)
            rises = rises + 1 if is_rising else 0
            if self.is_contradictory or not self._learned or rises == _RISES:
                return
            below = below or {one: set(self._table.atoms_below(expression_of(one.a), expression_of(one.b))) for one in requirements}
            active = [one for one in requirements if not below[one].isdisjoint(self._learned)]

    def bounds(self, size: Size) -> tuple[Bound, Bound]:
        """Bounds of the size over all values for which every requirement holds."""
        if not isinstance(size, Dim):
            return size, size
        shown = self._shown.get(size)
        if shown is None:
            shown = self._shown[size] = self.range(size)[:2]
        return shown

    def range(self, size: Size) -> Range:
        """The range of the size, with its congruence, over all values for which every requirement holds."""
        if not isinstance(size, Dim):
            return exactly(size)
        self._derive(len(self._atoms))
        return meet(size.range, self._range(size.polynomial)) or size.range

    @classmethod
    def of(cls, scope: Scope, requirements: Iterable[Requirement]) -> Reported:
        """The ranges under these requirements, found once for all that ask the same of a scope; again if no work was left."""
        key = tuple(requirements)
        known = scope.reported = scope.reported or _Found()
        found: Reported | None = known.get(key)
        if found is None or found.unfinished is not None:
            found = known[key] = cls(scope, key)
        return found

    @property
    def resolved(self) -> dict[int, Expression]:
        """The atoms that are one of their arguments wherever every requirement holds: that argument, by the index of the atom."""
        found: dict[int, Expression] = {}
        self._derive(len(self._atoms))
        known = self._table.atoms[: len(self._atoms)]  # an argument that is resolved in turn may make new atoms
        for atom in known if not self.is_contradictory else ():
            if atom.kind in SELECTIONS and not self._work.is_done:
                a, b = atom.arguments
                self._work.left -= 10
                argument = chosen(self._table, atom.kind, a, b, self._range)
                if argument is not None:
                    found[atom.index] = replaced_or_same(argument, found)
        return found

    def format(self, size: Size) -> str:
        """OpenVINO's notation of the size with these bounds."""
        return format_size(size, self.bounds)

    def _range(self, expression: Expression) -> Range:
        if isinstance(expression, int):
            return exactly(expression)
        if len(self._atoms) < len(self._table.atoms) and max([monomial[-1] for monomial, _ in expression.terms]) >= len(self._atoms):
            self._derive(len(self._atoms))  # a question may make atoms
        known = meet(self._table.bound(expression.constant, expression.terms, self._atoms), expression.range)
        factor, linear = _linear_part(expression)
        learned = self._linear.get(linear)
        if known and learned:
            own = learned if factor == 1 else multiply(learned, exactly(factor))
            known = meet(known, add(own, exactly(expression.constant)))
        return known or expression.range

    def _derive(self, start: int = 0) -> None:
        """Recompute the ranges of atoms, in order, from the ranges of their arguments."""
        atoms = self._table.atoms
        self._work.left -= 2 * (len(atoms) - start)  # the ranges of two arguments
        for atom in atoms[start:]:
            if atom.index == len(self._atoms):
                self._atoms.append(self._table.ranges[atom.index])
            if atom.arguments:
                a, b = atom.arguments
                self._tighten(atom, COMPOSE[atom.kind](self._range(a), self._range(b)))

    def _descend(self) -> None:
        """Narrow the ranges of the atoms of known sums, and in reverse order those of arguments, by the ranges of sums and atoms."""
        self._work.left -= len(self._linear) + 3 * len(self._atoms)
        for terms, own in self._linear.items():
            for atom, target in self._of_atoms(terms, 0, own):
                self._tighten(atom, target)
        for index in range(len(self._atoms) - 1, -1, -1):
            for argument, known in self._of_arguments(self._table.atoms[index]):
                before = self._range(argument)
                if meet(before, known) != before:
                    self._learn(argument, known)

    def _tighten(self, atom: Atom, known: Range) -> bool:
        """Narrow the range of an atom; True if that changes it."""
        old = self._atoms[atom.index]
        new = meet(old, known)
        self.is_contradictory |= new is None
        if new is None or new == old:
            return False
        self._atoms[atom.index] = new
        self._learned.add(atom.index)
        return True

    def _consequences(self, requirement: Requirement) -> Iterator[tuple[Expression, Range]]:
        a, b = expression_of(requirement.a), expression_of(requirement.b)
        if requirement.kind == "ge":
            yield self._table.add(a, b, -1), Range(0, inf)
        elif requirement.kind == "eq":
            yield from self._equal(a, b)
        elif requirement.kind != "div":
            yield from self._broadcast(a, b)
        elif isinstance(b, int) and b:
            yield a, Range(-inf, inf, abs(b))

    def _equal(self, a: Expression, b: Expression) -> Iterator[tuple[Expression, Range]]:
        difference = self._table.add(a, b, -1)
        yield difference, exactly(0)
        yield a, self._range(b)
        yield b, self._range(a)
        remainder = self._table.as_remainder(difference) if isinstance(difference, Polynomial) else None
        if remainder:
            n, divisor, rest, _ = remainder
            yield n, Range(-inf, inf, divisor, rest)

    def _broadcast(self, a: Expression, b: Expression) -> Iterator[tuple[Expression, Range]]:
        one = exactly(1)
        for first, second in ((a, b), (b, a)):
            known = self._range(first)
            if meet(known, one) is None:
                other = self._range(second)
                if meet(other, one) is None:
                    yield from self._equal(first, second)
                    return
                yield second, join(one, known) if meet(known, other) else one

    def _learn(self, polynomial: Expression, known: Range) -> None:
        """Narrow the range of a polynomial, and as a consequence the ranges of its atoms and of their arguments."""
        self._derive(len(self._atoms))
        pending: list[tuple[Expression, Range]] = [(polynomial, known)]
        while pending and not self.is_contradictory and not self._work.is_done:
            polynomial, known = pending.pop()
            self._work.left -= 10
            new = meet(self._range(polynomial), known)
            if new is None:
                self.is_contradictory = True
            elif isinstance(polynomial, Polynomial):
                self._remember(polynomial, new)
                for atom, target in self._of_atoms(polynomial.terms, polynomial.constant, new):
                    if self._tighten(atom, target):
                        pending.extend(self._of_arguments(atom))

    def _remember(self, polynomial: Polynomial, known: Range) -> None:
        """Keep the range of a polynomial as one of its linear part."""
        factor, linear = _linear_part(polynomial)
        new = range_of_factor(subtract(known, exactly(polynomial.constant)), factor)
        if new is None:
            self.is_contradictory = True
        elif new != self._linear.get(linear):
            self._linear[linear] = new
            self._learned.update(*[monomial for monomial, _ in linear])

    def _of_atoms(self, terms: Terms, constant: int, known: Range) -> Iterator[tuple[Atom, Range]]:
        """The ranges of the atoms of a sum that follow from its own range."""
        self._work.left -= len(terms) ** 2 if len(terms) <= _MAX_TERMS else 1
        for monomial, coefficient in terms if len(terms) <= _MAX_TERMS else ():
            others = [term for term in terms if term[0] != monomial]
            target = subtract(known, self._table.bound(constant, others, self._atoms))
            product = range_of_factor(target, coefficient)
            if product is None:
                self.is_contradictory = True
            elif len(monomial) == 1:
                yield self._table.atoms[monomial[0]], product
            else:
                yield from self._of_factors(monomial, product)

    def _of_factors(self, monomial: Monomial, product: Range) -> Iterator[tuple[Atom, Range]]:
        if any(self._atoms[index].low < 0 for index in monomial) or product.low < 1:
            return
        # No factor is 0, so no factor is larger than the product.
        for position, index in enumerate(monomial):
            others = self._table.bound(0, [(monomial[:position] + monomial[position + 1 :], 1)], self._atoms)
            if others.high < 1:
                self.is_contradictory = True
                return
            low = 1 if others.high == inf else -(-product.low // others.high)
            yield self._table.atoms[index], Range(low, inf if product.high == inf else product.high // max(others.low, 1))

    def _of_arguments(self, atom: Atom) -> Iterator[tuple[Expression, Range]]:
        """The ranges of an atom's arguments that follow from its own range."""
        low, high, _, _ = self._atoms[atom.index]
        if atom.kind == "symbol":
            return
        a, b = atom.arguments
        if atom.kind == "floor" and isinstance(b, int) and b <= INT64_MAX:
            own = self._range(a)  # it is `b*floor(a/b)` and a remainder, which may be known
            rest = exactly(own.remainder % b) if own.modulus % b == 0 else Range(0, b - 1)
            yield a, add(multiply(self._atoms[atom.index], exactly(b)), rest)
        elif atom.kind == "broadcast":
            # It is one of both, and the other is as far from it as they are from each other.
            least, most, *_ = self._range(self._table.add(a, b, -1))
            yield a, Range(min(low, low + least), inf)
            yield b, Range(min(low, low - most), inf)
        elif atom.kind in ("min", "max"):
            for first, second in ((a, b), (b, a)):
                # An argument is at least the min (at most the max), and equal to it if the other argument cannot be.
                is_min, other = atom.kind == "min", self._range(second)
                yield first, Range(low, high if other.low > high else inf) if is_min else Range(low if other.high < low else -inf, high)


def chosen(table: PolynomialTable, kind: str, a: Expression, b: Expression, range_of: Callable[[Expression], Range]) -> Expression | None:
    """The argument that a `min`, `max` or broadcast is by the ranges of expressions; None if it may be either."""
    if kind == "broadcast":
        for first, second in ((a, b), (b, a)):
            known = range_of(first)
            if known.low == known.high == 1:
                return second
        return next((one for one in (a, b) if range_of(one).low > 1), None)
    low, high, *_ = range_of(table.add(a, b, -1))
    if low >= 0:
        return a if kind == "max" else b
    if high <= 0:
        return b if kind == "max" else a
    return None


def _linear_part(polynomial: Polynomial) -> tuple[int, Terms]:
    """`factor, terms` of a polynomial `factor * terms + constant`, where the terms have no common factor and the first is positive."""
    terms = polynomial.terms
    factor = gcd(*[coefficient for _, coefficient in terms])
    if terms[0][1] < 0:
        factor = -factor
    return factor, terms if factor == 1 else tuple([(monomial, coefficient // factor) for monomial, coefficient in terms])


def range_of_factor(known: Range, coefficient: int) -> Range | None:
    """The range of `x` if `coefficient * x` has this range; None if there is no such `x`."""
    low, high, modulus, remainder = known
    if coefficient == 1:
        return known
    if coefficient < 0:
        low, high, remainder, coefficient = -high, -low, -remainder, -coefficient
    low = low if low == -inf else -(-low // coefficient)
    high = high if high == inf else high // coefficient
    common = gcd(coefficient, modulus)
    if remainder % common:
        return None
    if modulus == 0:
        return exactly(remainder // coefficient)
    rest = modulus // common
    return reduced(low, high, rest, remainder // common * pow(coefficient // common, -1, rest))
