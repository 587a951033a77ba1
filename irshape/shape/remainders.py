"""Remainders: those of symbols that requirements leave, and formulas without what these decide.

Where the requirements leave `H` neighbouring remainders, as `H % 8 in {0, 7}` does, `H` is `8*k - 1 + t`: a whole number `k`, which is
`(H + 1)//8`, and a rest `t` of 0 or 1. With these in its place, both `(H + 1)//4` and `(H + 3)//4` are `2*k`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, inf, lcm
from typing import Final, NamedTuple

from irshape.shape.dim import Dim, Scope, Size, dim_of, expression_of
from irshape.shape.fold import fold
from irshape.shape.guard import Requirement
from irshape.shape.polynomial import Atom, Expression, Polynomial, PolynomialTable, range_of, split
from irshape.shape.range import Range
from irshape.shape.reported import Reported, chosen
from irshape.shape.simplify import derived, simplified

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
    """The algebra of formulas without floors, minima, maxima and broadcasts that the ranges of the symbols decide."""

    def __init__(self, table: PolynomialTable) -> None:
        self.add = table.add
        self.multiply = table.multiply
        self._table = table

    def number(self, value: int) -> Expression:
        return value

    def symbol(self, atom: Atom) -> Expression:
        return self._table.polynomial(0, {(atom.index,): 1})

    def operation(self, atom: Atom, a: Expression, b: Expression) -> Expression:
        if atom.kind == "floor":
            return self._table.floor(*self._without_rest(a, b))
        one = chosen(self._table, atom.kind, a, b, range_of)
        return self._table.operation(atom.kind, a, b) if one is None else one

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

    Requirements that `stay` as they are decide a minimum, a maximum or a broadcast; all do unless they are given.
    `lows` has the smallest sizes of the symbols that the requirements together leave, by name, where these are larger than the scope's.
    """

    def __init__(self, scope: Scope, requirements: Sequence[Requirement], stay: Sequence[Requirement] | None = None) -> None:
        self._scope = scope
        self._table = scope.polynomials
        reported = Reported.of(scope, requirements)
        self._chosen = (reported if stay is None else Reported.of(scope, stay)).resolved
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
            self._into[index] = fold(table, _Decided(table), (argument,), self._into)[0]

    def _translated(self, size: Size, atoms: dict[int, Expression]) -> Size:
        if not isinstance(size, Dim):
            return size
        return dim_of(self._scope, fold(self._table, _Decided(self._table), (size.polynomial,), atoms)[0])

    def decided(self, requirement: Requirement) -> list[Requirement]:
        """The requirements that are together equivalent to one where the symbols have the known bounds and remainders."""
        try:
            a, b = (self._translated(size, self._into) for size in (requirement.a, requirement.b))
        except ZeroDivisionError:
            return simplified(requirement)
        found = simplified(derived(requirement, requirement.kind, a, b))
        return [derived(one, one.kind, *(self._translated(size, self._back) for size in (one.a, one.b))) for one in found]

    def regular(self, size: Size) -> Size:
        """The size in whole numbers of the symbols, as `2*((H + 1)//8)` for `(H + 3)//4`, so that sizes of one symbol are alike."""
        try:
            return self._translated(self._translated(size, self._into), self._back)
        except ZeroDivisionError:
            return size

    def simplest(self, size: Size) -> Size:
        """The size in the fewest operations that bounds and remainders leave."""
        found = self.regular(size)
        return found if self._length(found) < self._length(size) else size

    def _length(self, size: Size) -> tuple[bool, int]:
        """The length of a formula for a reader: one with a part that has only a name is longer than any other."""
        if not isinstance(size, Dim):
            return False, 0
        atoms = [self._table.atoms[index] for index in self._table.atoms_below(size.polynomial)]
        return any(atom.name and atom.arguments for atom in atoms), size.polynomial.size
