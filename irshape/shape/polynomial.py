"""Polynomials: the normal form of formulas. A table interns them (hash-consing), so equal formulas are one object.

A polynomial is `constant + sum(coefficient * product of atoms)`. An atom is a symbol, `floor(n/d)`, `min`, `max`, the broadcast of two
sizes, or a sum or product beyond the limits. An expression is a polynomial, or a plain int if it is constant.

Floor divisions by an int have a normal form too: coefficients and constant are in `[0, divisor)` and have no common factor, nested
floors are merged, and a symbol of known congruence is taken out of the floor. Hence fifty convolutions of stride 1 and five of stride 2
give a single term.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import gcd
from typing import Final, TypeAlias

from irshape.shape.compilation import mypyc_attr
from irshape.shape.limits import DEFAULT, Limits, Work
from irshape.shape.range import COMPOSE, Bound, Range, divided, exactly, meet, multiply, number_text, reduced, reduced_or_top
from irshape.shape.range import add as add_ranges

_MAX_DEGREE: Final = 16
_MAX_COEFFICIENT: Final = 1 << 128
_MAX_BITS: Final = 4096
# A step of work looks at so many atoms below a formula.
_ATOMS_A_STEP: Final = 16


# The origin of a symbol: the user named it, its value depends on data (an unbacked symbol), or the file leaves it open.
NAMED: Final = 1
UNBACKED: Final = 2
OTHER: Final = 4
# How many offsets are tried to recognise a size that was rounded to a multiple.
_ROUNDINGS: Final = 64
# How many atoms are replaced by their arguments to find the bounds of one polynomial.
_RELAXATIONS: Final = 3
# A polynomial of more terms than this has the bounds that its atoms give.
_MOST_RELAXED: Final = 8
_RELAXED: Final = 8  # the steps of work that it takes
# How many bits mark symbols. Symbols may share a bit: the marks only have to tell that two atoms have no common symbol.
_MARKS: Final = 60

Monomial: TypeAlias = tuple[int, ...]
"""A product of atoms: their indices in ascending order, repeated for powers."""
Terms: TypeAlias = tuple[tuple[Monomial, int], ...]


_NOTHING: Final = exactly(0)


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Atom:
    """An indivisible factor of a polynomial: a symbol, or an operation (`kind`) on two expressions (`arguments`).

    `name` is empty if the atom is written as its operation on its arguments. `origins` is the bit set of the origins of its symbols;
    `size` and `depth` are as in `Polynomial`. Two atoms without a common bit in `marks` have no common symbol.
    """

    __slots__ = ("arguments", "depth", "index", "kind", "marks", "name", "origins", "size")

    def __init__(
        self, index: int, kind: str, arguments: tuple[Expression, ...], name: str, depth: int, size: int, origins: int, marks: int
    ) -> None:
        self.origins = origins
        self.marks = marks
        self.index = index
        self.kind = kind
        self.arguments = arguments
        self.name = name
        self.depth = depth
        self.size = size


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Polynomial:
    """A polynomial that is not constant, with its range over all values of its symbols; one object per value and table.

    `size` is the number of symbols and operations in its text, `depth` their greatest nesting.
    """

    __slots__ = ("constant", "depth", "index", "range", "size", "table", "terms")

    def __init__(self, table: PolynomialTable, index: int, constant: int, terms: Terms, known: Range, depth: int, size: int) -> None:
        self.table = table
        self.index = index
        self.constant = constant
        self.terms = terms
        self.range = known
        self.depth = depth
        self.size = size

    def __str__(self) -> str:
        return self.table.text(self)


Expression: TypeAlias = int | Polynomial


def range_of(expression: Expression) -> Range:
    """The range of a polynomial over all values of its symbols."""
    return exactly(expression) if isinstance(expression, int) else expression.range


def split(expression: Expression) -> tuple[int, Terms]:
    """The constant and the other terms of an expression."""
    return (expression, ()) if isinstance(expression, int) else (expression.constant, expression.terms)


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class PolynomialTable:
    """Interns polynomials and atoms. The atoms in an atom's arguments have smaller indices than the atom itself.

    A sum, a product or an operation beyond the limits becomes an atom with a name of its own; `large` counts these. It still evaluates
    exactly and keeps its range.
    """

    def __init__(self, limits: Limits = DEFAULT, work: Work | None = None) -> None:
        self.work = work or Work(limits.work)
        self.large = 0
        self._most_terms = limits.terms
        self._most_products = 4 * limits.terms
        self._most_levels = limits.levels
        self._most_read = 32 * limits.levels
        self.atoms: list[Atom] = []
        self.ranges: list[Range] = []
        self._of_atom: dict[tuple[str, Expression, Expression], Expression] = {}
        self._polynomials: dict[tuple[int, Terms], Expression] = {}
        # The first polynomial that has these terms: the others differ from it in the constant.
        self._of_terms: dict[Terms, Polynomial] = {}
        self._texts: dict[Polynomial, str] = {}
        # The symbols among the atoms, and for each atom the bit set of those below it; both are made when they are asked for.
        self._symbols: list[int] = []
        self._below: list[int] = []
        self._symbols_of: dict[Polynomial, list[int]] = {}
        self._selections: dict[int, frozenset[Expression]] = {}
        # The atoms below polynomials, as far as they were asked for.
        self._listed: dict[Expression, list[int]] = {}
        self.degrees: dict[int, int] = {}

    def widen(self, terms: int) -> None:
        """Let formulas have so many terms from now on, if that is more than the limit."""
        self._most_terms = max(self._most_terms, terms)
        self._most_products = max(self._most_products, 4 * terms)
        self._most_read = max(self._most_read, 32 * terms)

    def symbol(self, name: str, known: Range, origin: int = OTHER) -> Expression:
        return self._append("symbol", (), name, known, 1, 1, origin)

    def origins(self, expression: Expression) -> int:
        """The bit set of the origins of the symbols in an expression."""
        found = 0
        for monomial, _ in split(expression)[1]:
            for index in monomial:
                found |= self.atoms[index].origins
        return found

    def atom(self, kind: str, a: Expression, b: Expression) -> Expression:
        made = self._of_atom.get((kind, a, b))
        if made is None:
            open_ones = [x for x in (a, b) if isinstance(x, Polynomial)]
            depth = 1 + max([x.depth for x in open_ones])
            size = 1 + sum([x.size for x in open_ones])
            name = ""
            if kind in ("add", "multiply") or depth > self._most_levels or size > self._most_read:
                name, depth, size = f"long{self.large}", 1, 1
                self.large += 1
            made = self._append(kind, (a, b), name, COMPOSE[kind](range_of(a), range_of(b)), depth, size, self.origins(a) | self.origins(b))
            self._of_atom[kind, a, b] = made
        return made

    def _append(
        self, kind: str, arguments: tuple[Expression, ...], name: str, known: Range, depth: int, size: int, origins: int
    ) -> Expression:
        index = len(self.atoms)
        marks = 0 if arguments else 1 << index % _MARKS
        for argument in arguments:
            marks |= self._marks(split(argument)[1])
        # An interrupt may leave a range without an atom.
        self.ranges[index:] = [known]
        self.atoms.append(Atom(index, kind, arguments, name, depth, size, origins, marks))
        terms: Terms = (((index,), 1),)
        if kind == "floor":
            return self.polynomial(0, dict(terms))
        # The range of a polynomial of one atom is the range of the atom.
        if known.modulus == 0:
            self._polynomials[0, terms] = known.remainder
            return known.remainder
        polynomial = Polynomial(self, len(self._polynomials), 0, terms, known, depth, size)
        self._polynomials[0, terms] = self._of_terms[terms] = polynomial
        return polynomial

    def polynomial(self, constant: int, terms: dict[Monomial, int]) -> Expression:
        """The interned polynomial with this constant and these terms; an int if it has only one value."""
        return self._interned(constant, tuple(sorted([item for item in terms.items() if item[1]])))

    def _interned(self, constant: int, terms: Terms) -> Expression:
        """The polynomial with this constant and these terms, which are in order and not 0."""
        if not terms:
            return constant
        key = constant, terms
        polynomial = self._polynomials.get(key)
        if polynomial is None:
            like = self._of_terms.get(terms)
            polynomial = self._made(constant, terms) if like is None else self._shifted(like, constant)
            self._polynomials[key] = polynomial
        return polynomial

    def _shifted(self, like: Polynomial, constant: int) -> Polynomial:
        known = add_ranges(like.range, exactly(constant - like.constant))
        return Polynomial(self, len(self._polynomials), constant, like.terms, known, like.depth, like.size)

    def _made(self, constant: int, terms: Terms) -> Expression:
        """A polynomial that is not interned yet, without exact floors."""
        while (exact := self._without_exact_floor(constant, terms)) is not None:
            constant, terms = exact
            if not terms:
                return constant
            known = self._polynomials.get(exact)
            if known is not None:
                return known
        polynomial = self._polynomials[constant, terms] = self._new_polynomial(constant, terms)
        return polynomial

    def _without_exact_floor(self, constant: int, terms: Terms) -> tuple[int, Terms] | None:
        """The polynomial with a term that has fewer floors, or None: `n - r` is `q*floor(n/q)` if `n % q == r` is known.

        Of a product of two sizes that are multiples of `q`, the one that comes last is divided: `H*floor(W/q)` is `floor(H/q)*W`.
        """
        for monomial, coefficient in terms:
            for place, index in enumerate(monomial):
                atom = self.atoms[index]
                if atom.kind != "floor":
                    continue
                numerator, divisor = atom.arguments
                if not isinstance(numerator, Polynomial) or not isinstance(divisor, int):
                    continue
                known, others, factor = numerator.range, monomial[:place] + monomial[place + 1 :], coefficient // divisor
                if known.modulus % divisor:
                    continue
                if coefficient % divisor:
                    later = [one for one in others if numerator.terms[-1][0] < (one,) and self._symbol_congruence((one,)) == (divisor, 0)]
                    if not later or known.remainder % divisor or numerator.constant:
                        continue
                    quotient = self.atom("floor", self.polynomial(0, {(later[-1],): 1}), divisor)
                    at = others.index(later[-1])
                    others = (*others[:at], *split(quotient)[1][0][0], *others[at + 1 :])
                    factor = coefficient
                rest = {other: value for other, value in terms if other != monomial}
                for other, value in (*numerator.terms, ((), numerator.constant - known.remainder % divisor)):
                    product = tuple(sorted((*other, *others)))
                    rest[product] = rest.get(product, 0) + factor * value
                constant += rest.pop((), 0)
                return constant, tuple(sorted([item for item in rest.items() if item[1]]))
        return None

    def _new_polynomial(self, constant: int, terms: Terms) -> Expression:
        is_tied = len(terms) <= _MOST_RELAXED and self._are_tied(terms)
        known = self.bound(constant, terms, self.ranges, _RELAXATIONS if is_tied else 0)
        if known.modulus == 0:
            return known.remainder
        depth = size = 0
        for monomial, _ in terms:
            for index in monomial:
                atom = self.atoms[index]
                depth = max(depth, atom.depth)
                size += atom.size
        polynomial = self._of_terms[terms] = Polynomial(self, len(self._polynomials), constant, terms, known, depth, size)
        return polynomial

    def _marks(self, terms: Terms) -> int:
        marks = 0
        for monomial, _ in terms:
            for index in monomial:
                marks |= self.atoms[index].marks
        return marks

    def _are_tied(self, terms: Terms) -> bool:
        """Whether two of the terms may be computed from a common symbol; if not, nothing cancels, whatever atoms are replaced."""
        seen = 0
        for monomial, _ in terms:
            own = 0
            for index in monomial:
                own |= self.atoms[index].marks
            if seen & own:
                return True
            seen |= own
        return False

    def bound(self, constant: int, terms: Collection[tuple[Monomial, int]], ranges: Sequence[Range], steps: int = _RELAXATIONS) -> Range:
        low, high, modulus, remainder = exactly(constant) if constant else _NOTHING
        pivot = -1
        for monomial, coefficient in terms:
            own = ranges[monomial[0]]
            if len(monomial) > 1:
                for index in monomial[1:]:
                    own = multiply(own, ranges[index])
            elif monomial[0] > pivot and self.atoms[monomial[0]].kind in ("floor", "min", "max"):
                pivot = monomial[0]
            least, most, step, rest = own
            if coefficient < 0:
                least, most = most, least
            low += coefficient * least
            high += coefficient * most
            modulus = gcd(modulus, coefficient * step)
            remainder += coefficient * rest
        total = reduced_or_top(low, high, modulus, remainder)
        if pivot >= 0 and steps and 1 < len(terms) <= _MOST_RELAXED:
            relaxed = self._relax(constant, dict(terms), pivot, ranges, steps - 1)
            if relaxed is not None:
                least, most = relaxed
                if least > total.low or most < total.high:
                    total = reduced(max(total.low, least), min(total.high, most), total.modulus, total.remainder) or total
        return total

    def bound_given(self, polynomial: Polynomial, given: Mapping[int, Range]) -> Range:
        ranges = list(self.ranges)
        for index in self.atoms_below(polynomial):
            atom = self.atoms[index]
            if atom.kind == "symbol":
                ranges[index] = given.get(index, ranges[index])
            else:
                first, second = atom.arguments
                a, b = self.bound(*split(first), ranges), self.bound(*split(second), ranges)
                ranges[index] = meet(ranges[index], COMPOSE[atom.kind](a, b)) or ranges[index]
        return self.bound(polynomial.constant, polynomial.terms, ranges)

    def _relax(
        self, constant: int, terms: dict[Monomial, int], pivot: int, known: Sequence[Range], steps: int
    ) -> tuple[Bound, Bound] | None:
        """Bounds of a polynomial after one of its atoms is replaced by the atom's arguments, which may cancel with other terms."""
        atom = self.atoms[pivot]
        coefficient = terms.pop((pivot,))
        if known is not self.ranges:
            self.work.left -= _RELAXED  # for every question again, while the polynomial keeps its own range
        elif steps == 0:
            given = [monomial for argument in atom.arguments for monomial, _ in split(argument)[1]]
            if terms.keys().isdisjoint(given):
                return None  # nothing cancels, and the range of the atom tells as much as its arguments
        if atom.kind == "floor":
            numerator, divisor = atom.arguments
            if not isinstance(divisor, int) or max(abs(coefficient), divisor) > _MAX_COEFFICIENT:
                return None
            # divisor * floor(numerator / divisor) = numerator - residue, with the residue in [least, most].
            own = range_of(numerator)
            step = gcd(own.modulus, divisor)
            least = own.remainder % step
            most = divisor - step + least
            scaled = self._bound_with(constant, terms, divisor, numerator, coefficient, known, steps)
            low_slack, high_slack = (most, least) if coefficient > 0 else (least, most)
            low = -divided(coefficient * low_slack - scaled.low, divisor)
            return low, divided(scaled.high - coefficient * high_slack, divisor)
        a, b = atom.arguments
        first = self._bound_with(constant, terms, 1, a, coefficient, known, steps)
        second = self._bound_with(constant, terms, 1, b, coefficient, known, steps)
        if (atom.kind == "min") == (coefficient > 0):
            return min(first.low, second.low), min(first.high, second.high)
        return max(first.low, second.low), max(first.high, second.high)

    def _bound_with(
        self, constant: int, terms: dict[Monomial, int], scale: int, other: Expression, factor: int, known: Sequence[Range], steps: int
    ) -> Range:
        """The range of `scale*(constant + terms) + factor*other`."""
        own, others = split(other)
        total = {monomial: scale * value for monomial, value in terms.items()} if scale != 1 else dict(terms)
        for monomial, value in others:
            total[monomial] = total.get(monomial, 0) + factor * value
        return self.bound(scale * constant + factor * own, [item for item in total.items() if item[1]], known, steps)

    def add(self, a: Expression, b: Expression, factor: int = 1) -> Expression:
        """`a + factor*b`."""
        constant, left = split(a)
        other, right = split(b)
        self.work.take(len(left) + len(right) + 1)
        if not right:
            return self._interned(constant + factor * other, left)
        terms = dict(left)
        for monomial, coefficient in right:
            terms[monomial] = terms.get(monomial, 0) + factor * coefficient
        if left and right and self._is_large(terms):
            return self.atom("add", a, self.multiply(b, factor))
        return self.polynomial(constant + factor * other, terms)

    def multiply(self, a: Expression, b: Expression) -> Expression:
        if isinstance(a, int):
            return a * b if isinstance(b, int) else self._scaled(b, a)
        if isinstance(b, int):
            return self._scaled(a, b)
        left, right = [(*terms, ((), constant)) for constant, terms in (split(a), split(b))]
        self.work.take(len(left) * len(right) + len(left[0][0]) + len(right[0][0]))
        terms: dict[Monomial, int] = {}
        if len(left) * len(right) <= self._most_products:
            for first, factor in left:
                for second, coefficient in right:
                    monomial = tuple(sorted(first + second)) if first and second else first or second
                    terms[monomial] = terms.get(monomial, 0) + factor * coefficient
            constant = terms.pop((), 0)
            if not self._is_large(terms):
                return self.polynomial(constant, terms)
        return self.atom("multiply", *self._ordered(a, b))

    def _scaled(self, expression: Expression, factor: int) -> Expression:
        constant, terms = split(expression)
        self.work.take(len(terms) + 1)
        scaled = {monomial: factor * coefficient for monomial, coefficient in terms}
        if _is_huge(factor * constant, *scaled.values()):
            return self.atom("multiply", *self._ordered(expression, factor))
        return self.polynomial(factor * constant, scaled)

    def _is_large(self, terms: dict[Monomial, int]) -> bool:
        if len(terms) > self._most_terms:
            return True
        size = 0
        for monomial, coefficient in terms.items():
            if len(monomial) > _MAX_DEGREE or abs(coefficient) > _MAX_COEFFICIENT:
                return True
            for index in monomial:
                size += self.atoms[index].size
        return size > self._most_read

    def floor(self, n: Expression, d: Expression) -> Expression:
        """`n // d`; ZeroDivisionError if `d` is 0."""
        if isinstance(d, int):
            if d < 0:
                return self.floor(self.multiply(n, -1), -d)
            return n // d if isinstance(n, int) else n if d == 1 else self._floor_by_int(n, d)
        return self._floor_by_polynomial(n, d)

    def _floor_by_int(self, n: Polynomial, d: int) -> Expression:
        outside: dict[Monomial, int] = {}
        inside: dict[Monomial, int] = {}
        for monomial, coefficient in n.terms:
            whole, part = divmod(coefficient, d)
            modulus, remainder = self._symbol_congruence(monomial) if part else (1, 0)
            is_whole_floor = part == 1 and n.constant % d == 0 and modulus == d and len(n.terms) == len(monomial) == 1
            if modulus > 1 and coefficient * modulus % d == 0 and not is_whole_floor:
                # symbol = modulus*k + remainder, so the term can be taken out of the floor. Factors of a product have no remainder.
                quotient: Expression = 1
                for index in monomial:
                    factor = self.polynomial(0, {(index,): 1})
                    own = self._symbol_congruence((index,))[0]
                    quotient = self.multiply(quotient, factor if own == 1 else self.atom("floor", factor, own))
                rest = self.polynomial(n.constant + coefficient * remainder, {m: c for m, c in n.terms if m != monomial})
                return self.add(self.floor(rest, d), quotient, coefficient * modulus // d)
            outside[monomial] = whole
            if part:
                inside[monomial] = part
        whole, constant = divmod(n.constant, d)
        common = gcd(d, *inside.values())
        divisor = d // common
        body = self.polynomial(constant // common, {monomial: value // common for monomial, value in inside.items()})
        return self.add(self.polynomial(whole, outside), self._floor_of_reduced(body, divisor))

    def _floor_of_reduced(self, body: Expression, divisor: int) -> Expression:
        if isinstance(body, int) or divisor == 1:
            return body if divisor == 1 else self.floor(body, divisor)
        if len(body.terms) == 1 and body.terms[0][1] == divisor - 1 > 1:
            # floor(((d - 1)*x + c)/d) = x - ceil((x - c)/d)
            whole = self.polynomial(0, {body.terms[0][0]: 1})
            return self.add(whole, self.floor(self.add(whole, divisor - 1 - body.constant), divisor), -1)
        for monomial, coefficient in body.terms:
            atom = self.atoms[monomial[0]]
            if coefficient == 1 and len(monomial) == 1 and atom.kind == "floor" and isinstance(atom.arguments[1], int):
                # floor((floor(n/p) + rest)/q) = floor((n + p*rest)/(p*q))
                numerator, inner = atom.arguments[0], atom.arguments[1]
                if _is_huge(inner * divisor):
                    continue
                rest = self.polynomial(body.constant, {m: c for m, c in body.terms if m != monomial})
                return self.floor(self.add(numerator, rest, inner), inner * divisor)
        return self.atom("floor", body, divisor)

    def _symbol_congruence(self, monomial: Monomial) -> tuple[int, int]:
        """The modulus and the remainder of a symbol; for a product, those of the symbols in it that are multiples; else 1 and 0."""
        modulus, remainder = 1, 0
        for index in monomial:
            known = self.ranges[index]
            if self.atoms[index].kind == "symbol" and known.modulus > 1:
                if known.remainder and len(monomial) > 1:
                    return 1, 0
                modulus, remainder = modulus * known.modulus, known.remainder
        return modulus, remainder

    def _floor_by_polynomial(self, n: Expression, d: Polynomial) -> Expression:
        """`n // d`, with whole multiples of `d` taken out of the floor by polynomial division."""
        lead, divisor = max(d.terms, key=_grade)
        quotient: Expression = 0
        rest = n
        for _ in range(self._most_terms):
            for monomial, coefficient in sorted(split(rest)[1], key=_grade, reverse=True):
                others = without(monomial, lead)
                if others is not None and coefficient % divisor == 0:
                    factor = coefficient // divisor
                    step = self.polynomial(0, {others: factor}) if others else factor
                    quotient = self.add(quotient, step)
                    rest = self.add(rest, self.multiply(step, d), -1)
                    break
            else:
                break
        if isinstance(rest, int) and rest == 0:
            return quotient
        common = gcd(*(coefficient for _, coefficient in (*split(rest)[1], *d.terms)), split(rest)[0], d.constant)
        if common > 1:
            reduced = self.floor(rest, common), self.floor(d, common)
            return self.add(quotient, self.floor(*reduced))
        return self.add(quotient, self.atom("floor", rest, d))

    def select(self, kind: str, a: Expression, b: Expression) -> Expression:
        """`min`, `max` or `broadcast` of two expressions, of which neither is known to be the result."""
        a, b = self._ordered(a, b)
        of_a, of_b = self._selected(kind, a), self._selected(kind, b)
        return a if of_a >= of_b else b if of_b >= of_a else self.atom(kind, a, b)

    def _selected(self, kind: str, expression: Expression) -> frozenset[Expression]:
        """The expressions of which an expression is one, by operations of this kind in each other."""
        atom = self.only_atom(expression)
        if atom is None or atom.kind != kind or atom.name:
            return frozenset([expression])
        known = self._selections.get(atom.index)
        if known is None:
            first, second = atom.arguments
            known = self._selections[atom.index] = self._selected(kind, first) | self._selected(kind, second)
        return known

    def operation(self, kind: str, a: Expression, b: Expression) -> Expression:
        """The result of an operation, by the kind of its atom; ZeroDivisionError if it divides by 0."""
        if isinstance(a, int) and isinstance(b, int):
            return _computed(kind, a, b)
        if kind == "floor":
            return self.floor(a, b)
        if kind == "add":
            return self.add(a, b)
        if kind == "multiply":
            return self.multiply(a, b)
        return a if a is b else self.select(kind, a, b)

    def only_atom(self, expression: Expression) -> Atom | None:
        """The atom that is the whole expression; None if the expression is not a single atom."""
        constant, terms = split(expression)
        if constant or len(terms) != 1 or terms[0][1] != 1 or len(terms[0][0]) != 1:
            return None
        return self.atoms[terms[0][0][0]]

    def as_remainder(self, polynomial: Polynomial) -> tuple[Expression, int, int, int] | None:
        """`(n, divisor, r, factor)` if the polynomial is `factor * (n % divisor - r)`, else None."""
        for monomial, coefficient in polynomial.terms:
            others = {other: value for other, value in polynomial.terms if other != monomial}
            atom = self.atoms[monomial[0]]
            if len(monomial) == 1 and atom.kind == "floor" and isinstance(atom.arguments[1], int) and others:
                # The polynomial is factor * (n - divisor * (n // divisor)) + rest.
                factor = gcd(*others.values()) * (1 if coefficient < 0 else -1)
                divisor = -coefficient // factor
                if coefficient % factor or polynomial.constant % factor or divisor < 2:
                    continue
                plain = self.polynomial(0, {other: value // factor for other, value in others.items()})
                quotient = self.polynomial(0, {monomial: 1})
                for up in self._roundings(atom, plain, divisor, polynomial.constant // factor):
                    rest = up - polynomial.constant // factor
                    if 0 <= rest < divisor and self.floor(n := self.add(plain, up), divisor) is quotient:
                        return n, divisor, rest, factor
        return None

    def _roundings(self, atom: Atom, plain: Expression, divisor: int, constant: int) -> Iterable[int]:
        """The offsets that may have been added to a size before the division that gave the floor `atom`."""
        if atom.arguments[1] != divisor:
            return (constant, *range(min(divisor, _ROUNDINGS)))
        offset = self.add(atom.arguments[0], plain, -1)
        return (offset,) if isinstance(offset, int) else ()

    @staticmethod
    def _ordered(a: Expression, b: Expression) -> tuple[Expression, Expression]:
        """The operands of a commutative operation in normal order: an int last, an older polynomial first."""
        if isinstance(a, int) or (isinstance(b, Polynomial) and b.index < a.index):
            return b, a
        return a, b

    def atoms_below(self, *polynomials: Expression, known: Collection[int] = ()) -> list[int]:
        """The indices of all atoms in the polynomials and, recursively, in the atoms' arguments; arguments come first.

        Atoms that are `known`, and those that only they are computed from, are left out.
        """
        only = polynomials[0] if len(polynomials) == 1 and not known else 0
        listed = self._listed.get(only)
        if listed is not None:
            self.work.take(len(listed) // _ATOMS_A_STEP)
            return listed
        found: set[int] = set()
        pending = list(polynomials)
        while pending:
            for monomial, _ in split(pending.pop())[1]:
                for index in monomial:
                    if index not in found and index not in known:
                        found.add(index)
                        pending.extend(self.atoms[index].arguments)
        self.work.take(len(found) // _ATOMS_A_STEP)
        listed = sorted(found)
        if isinstance(only, Polynomial):
            self._listed[only] = listed
        return listed

    def symbols_below(self, expression: Expression) -> list[int]:
        """The indices of the symbols that an expression is computed from, in order."""
        for atom in self.atoms[len(self._below) :]:
            if atom.arguments:
                self._below.append(self._mask(atom.arguments[0]) | self._mask(atom.arguments[1]))
            else:
                self._symbols.append(atom.index)
                self._below.append(1 << len(self._symbols) - 1)
        mask, found = self._mask(expression), []
        while mask:
            lowest = mask & -mask
            found.append(self._symbols[lowest.bit_length() - 1])
            mask ^= lowest
        self.work.take(len(found) // _ATOMS_A_STEP)
        return found

    def names(self, polynomial: Polynomial) -> frozenset[str]:
        """The names of the symbols that a polynomial is computed from. A symbol may get another name, so only the symbols are kept."""
        known = self._symbols_of.get(polynomial)
        if known is None:
            known = self._symbols_of[polynomial] = self.symbols_below(polynomial)
        return frozenset([self.atoms[index].name for index in known])

    def _mask(self, expression: Expression) -> int:
        found = 0
        for monomial, _ in split(expression)[1]:
            for index in monomial:
                found |= self._below[index]
        return found

    def evaluate(self, expression: Expression, values: Mapping[str, int]) -> int:
        """The value of an expression for the given values of its symbols.

        Raises KeyError for a missing symbol, ZeroDivisionError for a divisor of 0, and OverflowError for an intermediate value of more
        than a thousand digits, which only a hostile model has.
        """
        [value] = self.evaluator((expression,))(values)
        return value

    def evaluator(self, expressions: Sequence[Expression]) -> Callable[[Mapping[str, int]], list[int]]:
        """A function from the values of symbols to those of the expressions, which computes what they share once.

        It raises what `evaluate` raises.
        """
        atoms = [self.atoms[index] for index in self.atoms_below(*expressions)]
        operands = [list(map(split, atom.arguments)) for atom in atoms]
        sums = list(map(split, expressions))
        steps = (len(atoms) + sum([len(terms) for _, terms in sums])) // _ATOMS_A_STEP

        def evaluated(values: Mapping[str, int]) -> list[int]:
            self.work.take(steps)
            known: dict[int, int] = {}
            for atom, own in zip(atoms, operands, strict=True):
                if not own:
                    known[atom.index] = values[atom.name]
                    continue
                result = known[atom.index] = _computed(atom.kind, _sum(own[0], known), _sum(own[1], known))
                if result.bit_length() > _MAX_BITS:
                    raise OverflowError(f"a size has more than {_MAX_BITS} bits")
            return [_sum(one, known) for one in sums]

        return evaluated

    def rename(self, index: int, name: str) -> None:
        self.atoms[index].name = name
        self._texts.clear()

    def text(self, expression: Expression) -> str:
        if isinstance(expression, int):
            return self._new_text(expression)
        text = self._texts.get(expression)
        if text is None:
            text = self._texts[expression] = self._new_text(expression)
        return text

    def _new_text(self, expression: Expression) -> str:
        constant, terms = split(expression)
        parts: list[tuple[bool, str]] = []
        # A leading minus would bind tighter than `//`.
        has_positive = constant > 0 or any(coefficient > 0 for _, coefficient in terms)
        for monomial, coefficient in terms:
            stands_alone = len(monomial) == 1 and (coefficient == 1 or (coefficient == -1 and has_positive))
            factors = [self._atom_text(self.atoms[index], stands_alone) for index in monomial]
            if abs(coefficient) != 1:
                factors.insert(0, number_text(abs(coefficient)))
            parts.append((coefficient < 0, "*".join(factors)))
        if constant or not terms:
            parts.append((constant < 0, number_text(abs(constant))))
        parts.sort(key=lambda part: part[0])
        first, *others = parts
        return ("-" if first[0] else "") + first[1] + "".join(f" {'-' if negative else '+'} {part}" for negative, part in others)

    def _atom_text(self, atom: Atom, stands_alone: bool) -> str:
        if atom.name:
            return atom.name
        if atom.kind != "floor":
            first, second = atom.arguments
            arguments = self._selected(atom.kind, first) | self._selected(atom.kind, second)
            # Older polynomials come first, ints come last.
            in_order = sorted(arguments, key=lambda one: (0, one.index) if isinstance(one, Polynomial) else (1, one))
            return f"{atom.kind}({', '.join(map(self.text, in_order))})"
        division = "//".join(map(self._operand_text, atom.arguments))
        return division if stands_alone else f"({division})"

    def _operand_text(self, expression: Expression) -> str:
        atom = self.only_atom(expression)
        return self._atom_text(atom, False) if atom else number_text(expression) if isinstance(expression, int) else f"({expression})"


def _is_huge(*numbers: int) -> bool:
    return max(map(abs, numbers)) > _MAX_COEFFICIENT


def _sum(parts: tuple[int, Terms], known: dict[int, int]) -> int:
    """The value of a constant and terms whose atoms have these values."""
    total, terms = parts
    for monomial, product in terms:
        for index in monomial:
            product *= known[index]
        total += product
    return total


def _computed(kind: str, a: int, b: int) -> int:
    if kind == "floor":
        return a // b
    if kind == "min":
        return min(a, b)
    if kind == "max":
        return max(a, b)
    if kind == "broadcast":
        return b if a == 1 else a
    return a + b if kind == "add" else a * b


def _grade(term: tuple[Monomial, int]) -> tuple[int, Monomial]:
    """A monomial order: multiplying two monomials by a third keeps their order, so polynomial division terminates."""
    return len(term[0]), tuple(-index for index in term[0])


def without(monomial: Monomial, factors: Monomial) -> Monomial | None:
    """The monomial divided by another; None if it is not divisible."""
    rest = list(monomial)
    for index in factors:
        if index not in rest:
            return None
        rest.remove(index)
    return tuple(rest)
