"""Formulas of one inference in the terms of another, so that sizes of both can be compared by meaning."""

from __future__ import annotations

from irshape.shape.dim import Dim, Size
from irshape.shape.polynomial import Expression, Polynomial, PolynomialTable, split


class Translation:
    """What the symbols of one table are called in another.

    Symbols correspond that are met first at the same place. What corresponds once does so for good.
    """

    def __init__(self) -> None:
        self._atoms: dict[int, Expression] = {}
        self._taken: set[int] = set()
        self._polynomials: dict[Polynomial, Polynomial] = {}

    def are_one(self, a: Size, b: Size) -> bool:
        """Whether `b` of the other scope is the formula `a` of this one, with the same bounds.

        Symbols that both are alone made of, and that were not met before, correspond from now on.
        """
        if not isinstance(a, Dim) or not isinstance(b, Dim):
            return a is b or (type(a) is type(b) and a == b)
        return self._is_form(a.polynomial, b.polynomial) and a.range == b.range

    def _is_form(self, a: Polynomial, b: Polynomial) -> bool:
        known = self._polynomials.get(b)
        if known is not None:
            return known is a
        new = [index for index in b.table.atoms_below(b) if b.table.atoms[index].kind == "symbol" and index not in self._atoms]
        free = [index for index in a.table.atoms_below(a) if a.table.atoms[index].kind == "symbol" and index not in self._taken]
        if len(new) != len(free):
            return False
        before = len(self._atoms)
        self._atoms.update((own, a.table.polynomial(0, {(other,): 1})) for own, other in zip(new, free, strict=True))
        if self._translated(b, a.table) is not a:
            while len(self._atoms) > before:
                self._atoms.popitem()
            return False
        self._taken.update(free)
        self._polynomials[b] = a
        return True

    def _translated(self, polynomial: Polynomial, into: PolynomialTable) -> Expression | None:
        """The polynomial in another table, to which the atoms it needs are added; None where it divides by what is 0 there."""
        found = self._atoms
        try:
            for index in polynomial.table.atoms_below(polynomial):
                if index not in found:
                    atom = polynomial.table.atoms[index]
                    a, b = (self._sum(argument, into) for argument in atom.arguments)
                    found[index] = _apply(into, atom.kind, a, b)
        except ZeroDivisionError:
            return None
        return self._sum(polynomial, into)

    def _sum(self, expression: Expression, into: PolynomialTable) -> Expression:
        constant, terms = split(expression)
        total: Expression = constant
        for monomial, coefficient in terms:
            product: Expression = coefficient
            for index in monomial:
                product = into.multiply(product, self._atoms[index])
            total = into.add(total, product)
        return total


def _apply(table: PolynomialTable, kind: str, a: Expression, b: Expression) -> Expression:
    if kind == "floor":
        return table.floor(a, b)
    if kind == "add":
        return table.add(a, b)
    return table.multiply(a, b) if kind == "multiply" else table.select(kind, a, b)
