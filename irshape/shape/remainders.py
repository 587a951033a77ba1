"""Remainders: those of symbols that requirements leave, and formulas without what these decide.

Where the requirements leave `H` neighbouring remainders, as `H % 8 in {0, 7}` does, `H` is `8*k - 1 + t`: a whole number `k`, which is
`(H + 1)//8`, and a rest `t` of 0 or 1. With these in its place, both `(H + 1)//4` and `(H + 3)//4` are `2*k`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd, inf, lcm
from typing import Final

from irshape.shape.compilation import NamedTuple
from irshape.shape.dim import Dim, Scope, Size, dim_of, expression_of
from irshape.shape.fold import fold
from irshape.shape.guard import Requirement
from irshape.shape.polynomial import Atom, Expression, Polynomial, PolynomialTable, range_of, split, without
from irshape.shape.range import Range
from irshape.shape.reported import Reported, chosen
from irshape.shape.simplify import cancelled, derived, rounded, simplified

# The largest number by which remainders are told.
_LARGEST: Final = 4096


class Remainders(NamedTuple):
    """Neighbouring remainders by a number: `length` of them, from `first` on, which may go on at 0."""

    modulus: int
    first: int
    length: int

    def meet(self, other: Remainders) -> Remainders | None:
        """The remainders that both leave; None if these are no neighbours, or none."""
        modulus = lcm(self.modulus, other.modulus)
        if modulus > _LARGEST:
            return None
        left = [all((rest - one.first) % one.modulus < one.length for one in (self, other)) for rest in range(modulus)]
        count = sum(left)
        first = next((rest for rest in range(modulus) if left[rest] and not left[rest - 1]), 0)
        is_row = count and all(left[(first + step) % modulus] for step in range(count))
        return Remainders(modulus, first, count) if is_row else None


def remainders_of(requirement: Requirement) -> tuple[Atom, Remainders] | None:
    """The symbol that a requirement is about, and the remainders that are all that it demands; None for another requirement."""
    kind, a, b = requirement.kind, requirement.a, requirement.b
    if kind not in ("div", "eq", "ge") or (kind == "div" and (isinstance(b, Dim) or b < 1)):
        return None
    size = a % b if kind == "div" else a - b
    remainder = size.polynomial.table.as_remainder(size.polynomial) if isinstance(size, Dim) else None
    if remainder is None:
        return None
    numerator, modulus, first, factor = remainder
    length = 1
    if kind == "ge":
        first, length = (0, first + 1) if factor < 0 else (first, modulus - first)
    while isinstance(numerator, Polynomial):
        atom = numerator.table.only_atom(numerator.table.add(numerator, -numerator.constant))
        if atom is None:
            return None
        first -= numerator.constant
        if atom.kind == "symbol":
            return (atom, Remainders(modulus, first % modulus, length)) if length < modulus else None
        if atom.kind != "floor" or not isinstance(inner := atom.arguments[1], int):
            return None
        numerator, modulus, first, length = atom.arguments[0], modulus * inner, first * inner, length * inner
    return None


class _Decided:
    """The algebra of formulas without floors, minima, maxima and broadcasts that the ranges of the symbols decide.

    Floors of `divisions`, which leave no rest, cancel: `4*(x//2)` is `2*x` where 2 divides `x`.
    """

    def __init__(self, table: PolynomialTable, divisions: Iterable[tuple[Expression, Expression]] = ()) -> None:
        self.add = table.add
        self.multiply = table.multiply
        self._table = table
        self._exact: dict[int, tuple[Expression, Expression]] = {}
        for n, d in divisions:
            self._divide(n, d)
            self._divide(*cancelled(n, d))

    def number(self, value: int) -> Expression:
        return value

    def symbol(self, atom: Atom) -> Expression:
        return self._table.polynomial(0, {(atom.index,): 1})

    def operation(self, atom: Atom, a: Expression, b: Expression) -> Expression:
        a, b = self.exact(a), self.exact(b)
        if atom.kind == "floor":
            a, b = cancelled(a, b)
            return self._divide(a, b) if atom.index in self._exact else self._table.floor(*self._without_rest(a, b))
        one = chosen(self._table, atom.kind, a, b, range_of)
        return self._table.operation(atom.kind, a, b) if one is None else one

    def _divide(self, n: Expression, d: Expression) -> Expression:
        """The quotient of a division without a rest, whose floor rounds nothing: that of `4*x` by 7 is four times that of `x`."""
        table = self._table
        constant, terms = split(n)
        factor = gcd(constant, *(factor for _, factor in terms))
        if isinstance(d, int) and gcd(factor, d) == 1 < factor:
            return table.multiply(self._divide(table.floor(n, factor), d), factor)
        atom = rounded(table, n, d)
        if atom is not None:
            own, divisor = atom.arguments
            if isinstance(divisor, int) or (divisor.constant == 0 and len(divisor.terms) == 1):
                self._exact[atom.index] = own, divisor
        return table.floor(n, d)

    def exact(self, expression: Expression) -> Expression:
        """The formula without the noted floors whose divisors cancel factors."""
        for monomial, factor in split(expression)[1] if self._exact else ():
            for index in filter(self._exact.__contains__, monomial):
                n, d = self._exact[index]
                divisors, by = ((), d) if isinstance(d, int) else d.terms[0]
                others = without(monomial, (index, *divisors))
                if others is not None and factor % by == 0:
                    rest = self._table.add(expression, self._table.polynomial(0, {monomial: factor}), -1)
                    left = self._table.polynomial(0, {others: factor // by}) if others else factor // by
                    return self.exact(self._table.add(rest, self._table.multiply(n, left)))
        return expression

    def whole(self, expression: Expression) -> tuple[Expression, Expression]:
        """The formula times a factor with which no noted floor is left, and the factor, which is not 0."""
        for monomial, _ in split(expression)[1] if self._exact else ():
            for index in filter(self._exact.__contains__, monomial):
                divisor = self._exact[index][1]
                product, factor = self.whole(self.exact(self._table.multiply(expression, divisor)))
                return product, self._table.multiply(factor, divisor)
        return expression, 1

    def _without_rest(self, n: Expression, d: Expression) -> tuple[Expression, Expression]:
        """A fraction without the terms that a floor rounds away: `2*k + t` by 4 is `k` by 2 for a `t` of 0 or 1."""
        constant, terms = split(n)
        small = {monomial: factor for monomial, factor in terms if all(self._table.ranges[index].high < inf for index in monomial)}
        if not isinstance(d, int) or not small:
            return n, d
        common = gcd(d, *(factor for monomial, factor in terms if monomial not in small))
        low, high, *_ = range_of(self._table.polynomial(constant, small))
        if common < 2 or low == -inf or high == inf or low // common != high // common:
            return n, d
        whole = {monomial: factor // common for monomial, factor in terms if monomial not in small}
        return self._table.polynomial(int(low) // common, whole), d // common


class Known:
    """What requirements say of single symbols: bounds from the start, and remainders as they are learned.

    Requirements that `stay` as they are decide a minimum, a maximum or a broadcast; all do unless they are given. Floors round nothing
    where a requirement says that the division leaves no rest.
    `lows` has the smallest sizes of the symbols that the requirements together leave, by name, where these are larger than the scope's.
    """

    def __init__(self, scope: Scope, requirements: Sequence[Requirement], stay: Sequence[Requirement] | None = None) -> None:
        self._scope = scope
        self._table = scope.polynomials
        reported = Reported.of(scope, requirements)
        self._chosen = (reported if stay is None else Reported.of(scope, stay)).resolved
        divisions = [(expression_of(one.a), expression_of(one.b)) for one in requirements if one.kind == "div" and one.b != 0]
        self._decided = _Decided(self._table, divisions)
        self.lows: dict[str, int] = {}
        self._ranges: dict[int, Range] = {}
        self._left: dict[int, Remainders] = {}
        asked = set().union(*[one.symbols() for one in requirements]) if not reported.is_contradictory else set[str]()
        for atom in self._table.atoms:
            size = scope.named(atom.name) if atom.kind == "symbol" and atom.name in asked else None
            if isinstance(size, Dim):
                low, high, modulus, remainder = size.range
                if reported.range(size).low > low:
                    low = self.lows[atom.name] = int(reported.range(size).low)
                self._ranges[atom.index] = Range(low, high)
                self._left[atom.index] = Remainders(modulus, remainder, 1)
        self._turn()

    def learn(self, requirement: Requirement) -> str:
        """Note the remainders that a requirement demands; the name of the symbol if that is all that it says, else empty."""
        found = remainders_of(requirement)
        if found is None or found[0].index not in self._left:
            return ""
        atom, demanded = found
        left = self._left[atom.index].meet(demanded)
        if left is None:
            return ""
        if left != self._left[atom.index]:
            self._left[atom.index] = left
            self._turn()
        return atom.name

    def remainders(self, name: str) -> tuple[Size, Size]:
        """What was learned of the remainders of a symbol: the first size is at least the second."""
        size = self._scope.named(name)
        assert isinstance(size, Dim)
        modulus, first, count = self._left[next(iter(self._table.symbols_below(size.polynomial)))]
        return count - 1, (size - first) % modulus

    def _turn(self) -> None:
        self._simplest: dict[Size, Size] = {}
        self._into: dict[int, Expression] = {}
        self._back: dict[int, Expression] = {}
        table = self._table
        for index, (modulus, first, count) in self._left.items():
            low, high, *_ = self._ranges[index]
            if modulus == 1 and table.atoms[index].name not in self.lows:
                continue
            first -= modulus if first + count > modulus or 2 * first > modulus else 0
            name = table.atoms[index].name
            own = table.polynomial(0, {(index,): 1})
            least = (int(low) - first) // modulus
            most = high if high == inf else (int(high) - first) // modulus
            whole = expression_of(self._scope.symbol(f"{name}//{modulus} from {first} in {least}..{most}", least, most))
            rest = expression_of(self._scope.symbol(f"{name}%{modulus} from {first} to {count}", 0, count - 1))
            back = table.floor(table.add(own, -first), modulus)
            self._into[index] = table.add(table.add(rest, first), whole, modulus)
            for made, formula in ((whole, back), (rest, table.add(table.add(own, -first), back, -modulus))):
                if (atom := table.only_atom(made)) is not None:
                    self._back[atom.index] = formula
        for index, argument in self._chosen.items():
            self._into[index] = fold(table, self._decided, (argument,), self._into)[0]

    def _translated(self, size: Size, atoms: dict[int, Expression]) -> Size:
        if not isinstance(size, Dim):
            return size
        return dim_of(self._scope, self._decided.exact(fold(self._table, self._decided, (size.polynomial,), atoms)[0]))

    def decided(self, requirement: Requirement) -> list[Requirement]:
        """The requirements that are together equivalent to one where the symbols have the known bounds and remainders.

        A division that shall leave no rest is simplified first: no floor that it decides is then in it, or in another one that decides one
        of its floors.
        """
        if requirement.kind == "div":
            return [one for simpler in simplified(requirement) for one in self._decided_by_ranges(simpler)]
        return self._decided_by_ranges(requirement)

    def _decided_by_ranges(self, requirement: Requirement) -> list[Requirement]:
        try:
            a, b = [self._translated(size, self._into) for size in (requirement.a, requirement.b)]
            found = [
                one for plain in simplified(derived(requirement, requirement.kind, a, b)) for one in simplified(self._without_floors(plain))
            ]
            return [derived(one, one.kind, *(self._translated(size, self._back) for size in (one.a, one.b))) for one in found]
        except ZeroDivisionError:
            return simplified(requirement)

    def _without_floors(self, requirement: Requirement) -> Requirement:
        """An equation or a division without a rest, where both sides have the factor with which no floor is left that rounds nothing."""
        kind, a, b = requirement.kind, expression_of(requirement.a), expression_of(requirement.b)
        if kind not in ("eq", "div"):
            return requirement
        if kind == "eq":
            a, b = self._table.add(a, b, -1), 0
        whole, factor = self._decided.whole(a)
        return derived(requirement, kind, dim_of(self._scope, whole), dim_of(self._scope, self._table.multiply(b, factor)))

    def regular(self, size: Size) -> Size:
        """The size in whole numbers of the symbols, as `2*((H + 1)//8)` for `(H + 3)//4`, so that sizes of one symbol are alike."""
        try:
            return self._translated(self._translated(size, self._into), self._back)
        except ZeroDivisionError:
            return size

    def simplest(self, size: Size) -> Size:
        """The size in the fewest operations that bounds and remainders leave."""
        found = self._simplest.get(size)
        if found is None:
            found = self.regular(size)
            found = self._simplest[size] = found if found != size and self._length(found) < self._length(size) else size
        return found

    def _length(self, size: Size) -> tuple[bool, int]:
        """The length of a formula for a reader: one with a part that has only a name is longer than any other."""
        if not isinstance(size, Dim):
            return False, 0
        atoms = [self._table.atoms[index] for index in self._table.atoms_below(size.polynomial)]
        return any(atom.name and atom.arguments for atom in atoms), size.polynomial.size
