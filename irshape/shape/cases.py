"""Proof by cases that a requirement always holds: `H*min(H, 1) == H` does if H is 0, and if it is not."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from irshape.shape.dim import Dim, Size, bounds, is_eq, is_le, is_multiple
from irshape.shape.guard import Requirement
from irshape.shape.polynomial import Atom, Expression, PolynomialTable, range_of, split
from irshape.shape.range import Range

# The most cases within cases, and the largest formula that is looked at.
_MOST_NESTED: Final = 6
_LARGEST: Final = 200

_Substituted: TypeAlias = Callable[[Requirement, Mapping[int, Expression]], Requirement]


def always_holds(requirement: Requirement, substituted: _Substituted) -> bool:
    """Whether a requirement holds for all values of its symbols, as far as cases prove it."""
    sides = [side for side in (requirement.a, requirement.b) if isinstance(side, Dim)]
    if not sides:
        return isinstance(requirement.a, int) and isinstance(requirement.b, int) and requirement.relates(requirement.a, requirement.b)
    if sum(side.polynomial.size for side in sides) > _LARGEST or (requirement.kind == "div" and bounds(requirement.b)[0] < 1):
        return False
    return _Proof(sides[0].scope.polynomials, substituted).holds(requirement, _MOST_NESTED)


def _is_plain(requirement: Requirement) -> bool:
    """Whether a requirement holds without cases."""
    a, b = requirement.a, requirement.b
    if requirement.kind == "ge":
        return is_le(b, a) is True
    if requirement.kind == "div":
        return (isinstance(b, Dim) or b > 0) and is_multiple(a, b)
    if requirement.kind == "eq" or is_eq(a, b):
        return is_eq(a, b) is True
    if is_eq(a, 1) or (requirement.kind == "broadcast" and is_eq(b, 1)):
        return True
    return _is_one_of_two(a, b) or (requirement.kind == "broadcast" and _is_one_of_two(b, a))


def _is_one_of_two(size: Size, other: Size) -> bool:
    """Whether the range of a size holds 1 and another number only."""
    if not isinstance(size, Dim) or not isinstance(other, int):
        return False
    low, high, modulus, _ = size.range
    return low == 1 and high == other and modulus == other - 1


class _Proof:
    """The cases of one requirement: whether an argument of a `min` or `max` is the larger one, and whether a size that stretches is 1."""

    def __init__(self, table: PolynomialTable, substituted: _Substituted) -> None:
        self._table = table
        self._substituted = substituted

    def holds(self, requirement: Requirement, depth: int) -> bool:
        """Whether a requirement holds, with so many more cases within cases."""
        self._table.work.take(10)
        if _is_plain(requirement):
            return True
        atom = self._atom(requirement) if depth else None
        if atom is None:
            return False
        try:
            return all(self.holds(self._substituted(requirement, case), depth - 1) for case in self._cases(atom, requirement))
        except ZeroDivisionError:
            return False

    def _below(self, requirement: Requirement) -> list[Atom]:
        sides = [side.polynomial for side in (requirement.a, requirement.b) if isinstance(side, Dim)]
        return [self._table.atoms[index] for index in self._table.atoms_below(*sides)]

    def _atom(self, requirement: Requirement) -> Atom | None:
        """The first atom that cases can replace; its arguments hold no other."""
        return next((atom for atom in self._below(requirement) if atom.kind in ("min", "max", "broadcast")), None)

    def _cases(self, atom: Atom, requirement: Requirement) -> Iterator[dict[int, Expression]]:
        """What is known in each case, as a substitution of atoms."""
        a, b = atom.arguments
        if atom.kind == "broadcast":
            one = self._table.only_atom(a)
            yield {one.index: 1} if one is not None else {atom.index: b}
            yield {atom.index: a}
            return
        difference = self._table.add(a, b, -1)
        yield self._ordered(difference, requirement, is_less=False)
        zeros = self._zeros(difference)
        for index in zeros:
            yield {index: 0}
        if not zeros:
            yield self._ordered(difference, requirement, is_less=True)

    def _ordered(self, difference: Expression, requirement: Requirement, *, is_less: bool) -> dict[int, Expression]:
        """The atoms that are one of their arguments if the difference is at least 0, or if it `is_less`."""
        found: dict[int, Expression] = {}
        for atom in self._below(requirement):
            if atom.kind not in ("min", "max"):
                continue
            a, b = atom.arguments
            own = self._table.add(a, b, -1)
            same, opposite = self._table.add(own, difference, -1), self._table.add(own, difference)
            is_larger = is_smaller = False
            if isinstance(same, int):
                is_larger, is_smaller = (False, same <= 1) if is_less else (same >= 0, False)
            elif isinstance(opposite, int):
                is_larger, is_smaller = (opposite >= -1, False) if is_less else (False, opposite <= 0)
            if is_larger or is_smaller:
                found[atom.index] = a if is_larger == (atom.kind == "max") else b
        return found

    def _zeros(self, difference: Expression) -> list[int]:
        """The atoms of which one is 0 if `x - c`, where x is a product and cannot be below 0, is less than 0; none if that is not so."""
        constant, terms = split(difference)
        known: Range = range_of(difference)
        if len(terms) != 1 or known.low != constant or terms[0][1] < max(1, -constant):
            return []
        return [index for index in dict.fromkeys(terms[0][0]) if self._table.ranges[index].low <= 0]
