"""The ends of a formula: its least and its greatest value over the sizes that the engine does not know."""

from __future__ import annotations

from math import inf
from typing import Final, TypeAlias

from irshape.inference.plan.formulas import Formulas
from irshape.shape.dim import UNBOUNDED, Dim
from irshape.shape.polynomial import Atom, Expression, Monomial, Polynomial, split
from irshape.shape.range import Bound

End: TypeAlias = "Expression | float"
"""An end of a formula: a formula of numbers, or an infinity."""

# The operand that an operation passes over: `min(x, inf)` is `x`.
_LIMITS: Final = {"min": inf, "max": -inf}


class NoEnd(Exception):
    """No end of a formula is known that the formula reaches."""


def ends(formulas: Formulas, expression: Expression) -> tuple[End, End]:
    """The least and the greatest value of a formula, as formulas of numbers. Raises `NoEnd`.

    The formula takes both, and every whole number between them: each size that the engine does not know stands in it once, and a step of
    1 of such a size is a step of at most 1 of the formula.
    """
    return _Walk(formulas, is_upper=False).end(expression), _Walk(formulas, is_upper=True).end(expression)


class _Walk:
    """The way to one end of a formula: sizes that the engine does not know take their own ends."""

    def __init__(self, formulas: Formulas, *, is_upper: bool) -> None:
        self.formulas = formulas
        self.table = formulas.table
        self._is_upper = is_upper
        self._taken: set[Polynomial] = set()

    def end(self, expression: Expression, is_falling: bool = False) -> End:
        """The end of a formula that grows with the whole, or falls."""
        found: Expression
        found, terms = split(expression)
        limit = 0.0
        for monomial, factor in terms:
            if not self._is_unknown(monomial):
                found = self.table.add(found, self.table.polynomial(0, {monomial: factor}))
                continue
            if len(monomial) > 1 or abs(factor) != 1:
                raise NoEnd
            own = self._of_atom(monomial[0], is_falling ^ (factor < 0))
            if isinstance(own, float):
                limit = factor * own
            else:
                found = self.table.add(found, own, factor)
        return limit or found

    def _is_unknown(self, monomial: Monomial) -> bool:
        return isinstance(self.formulas.value(self.table.polynomial(0, {monomial: 1})), Dim)

    def _of_atom(self, index: int, is_falling: bool) -> End:
        atom = self.table.atoms[index]
        if atom.kind == "symbol":
            low, high, _, _ = self._taken_once(atom).range
            return _limited(low if is_falling == self._is_upper else high)
        if atom.kind not in _LIMITS:
            raise NoEnd
        several = [self.end(one, is_falling) for one in atom.arguments]
        known = [one for one in several if not isinstance(one, float)]
        limit = _LIMITS[atom.kind]
        if -limit in several:
            return -limit
        return self.table.operation(atom.kind, *known) if len(known) > 1 else known[0] if known else limit

    def _taken_once(self, symbol: Atom) -> Dim:
        """The size that a symbol stands for: a symbol of the engine's that no other symbol of the formula stands for. Raises `NoEnd`."""
        size = self.formulas.example.get(symbol.name)
        if not isinstance(size, Dim) or symbol.name in self.formulas.asked or size.range.modulus != 1:
            raise NoEnd
        own = size.scope.polynomials.only_atom(size.polynomial)
        if own is None or own.kind != "symbol" or size.polynomial in self._taken:
            raise NoEnd
        self._taken.add(size.polynomial)
        return size


def _limited(bound: Bound) -> End:
    """The end that a bound is: infinite beyond all sizes."""
    return int(bound) if -UNBOUNDED < bound < UNBOUNDED else inf if bound > 0 else -inf
