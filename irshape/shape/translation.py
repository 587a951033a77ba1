"""Comparison of formulas of two scopes: which symbol of one corresponds to which symbol of the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from irshape.shape.dim import Dim, Size
from irshape.shape.polynomial import Atom, Expression, Polynomial, PolynomialTable, split


class Translation:
    """The correspondence between the symbols of two scopes.

    Symbols correspond if they first occur at the same place in formulas that are compared. A correspondence never changes.
    """

    def __init__(self) -> None:
        self._atoms: dict[int, Expression] = {}
        self._taken: set[int] = set()
        self._polynomials: dict[Polynomial, Polynomial] = {}

    def are_one(self, a: Size, b: Size) -> bool:
        """Whether `b` of the other scope is equal to `a` of this scope: the same formula in corresponding symbols, and the same range.

        Symbols of `a` and `b` that occur for the first time correspond from now on if that makes the formulas equal.
        """
        if not isinstance(a, Dim) or not isinstance(b, Dim):
            return a is b or (type(a) is type(b) and a == b)
        return self._are_equal(a.polynomial, b.polynomial) and a.range == b.range

    def _are_equal(self, a: Polynomial, b: Polynomial) -> bool:
        known = self._polynomials.get(b)
        if known is not None:
            return known is a
        new = [index for index in b.table.symbols_below(b) if index not in self._atoms]
        free = [index for index in a.table.symbols_below(a) if index not in self._taken]
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
        try:
            return translated(polynomial, into, self._atoms)
        except ZeroDivisionError:
            return None


def translated(
    polynomial: Polynomial, into: PolynomialTable, atoms: dict[int, Expression], symbol: Callable[[Atom], Expression] | None = None
) -> Expression:
    """The polynomial in another table, which gets the necessary atoms. Raises ZeroDivisionError if a divisor is 0 there.

    `atoms` gives the atoms of the table by the index of the polynomial's, and is added to; `symbol` makes the symbols that it lacks.
    """
    for index in polynomial.table.atoms_below(polynomial):
        if index not in atoms:
            atom = polynomial.table.atoms[index]
            if symbol is not None and atom.kind == "symbol":
                atoms[index] = symbol(atom)
            else:
                a, b = (_sum(argument, into, atoms) for argument in atom.arguments)
                atoms[index] = into.operation(atom.kind, a, b)
    return _sum(polynomial, into, atoms)


def _sum(expression: Expression, into: PolynomialTable, atoms: Mapping[int, Expression]) -> Expression:
    constant, terms = split(expression)
    total: Expression = constant
    for monomial, coefficient in terms:
        product: Expression = coefficient
        for index in monomial:
            product = into.multiply(product, atoms[index])
        total = into.add(total, product)
    return total
