"""One walk over formulas: an algebra says what is computed from their numbers, symbols, sums, products and other operations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Final, Protocol, TypeVar

from irshape.shape.dim import Dim, Size
from irshape.shape.polynomial import Atom, Expression, Polynomial, PolynomialTable, split

_T = TypeVar("_T")
# What it takes to replace one atom.
_STEPS_AN_ATOM: Final = 3


class Algebra(Protocol[_T]):
    """What is computed from formulas; `operation` is about the kinds `floor`, `min`, `max` and `broadcast`."""

    def number(self, value: int) -> _T:
        """The value of a number."""

    def symbol(self, atom: Atom) -> _T:
        """The value of a symbol."""

    def add(self, a: _T, b: _T) -> _T:
        """The value of a sum."""

    def multiply(self, a: _T, b: _T) -> _T:
        """The value of a product."""

    def operation(self, atom: Atom, a: _T, b: _T) -> _T:
        """The value of an atom whose arguments have the values `a` and `b`."""


def fold(table: PolynomialTable, algebra: Algebra[_T], expressions: Iterable[Expression], known: dict[int, _T] | None = None) -> list[_T]:
    """The value of each expression in an algebra; every atom is computed once.

    `known` has values of atoms by index, and gets those of the others that the expressions need.
    """
    known = {} if known is None else known
    expressions = list(expressions)

    def value(expression: Expression) -> _T:
        constant, terms = split(expression)
        parts = [algebra.number(constant)] if constant or not terms else []
        for monomial, coefficient in terms:
            factors = [known[index] for index in monomial]
            parts.append(reduce(algebra.multiply, factors if coefficient == 1 else [algebra.number(coefficient), *factors]))
        return reduce(algebra.add, parts)

    for index in table.atoms_below(*expressions, known=known):
        atom = table.atoms[index]
        if not atom.arguments:
            known[index] = algebra.symbol(atom)
            continue
        first, second = atom.arguments
        a, b = value(first), value(second)
        if atom.kind == "add":
            known[index] = algebra.add(a, b)
        else:
            known[index] = algebra.multiply(a, b) if atom.kind == "multiply" else algebra.operation(atom, a, b)
    return [value(one) for one in expressions]


class _Formulas:
    """The algebra of formulas in a table; `symbol` makes those of symbols that are not known."""

    def __init__(self, into: PolynomialTable, symbol: Callable[[Atom], Expression]) -> None:
        self.add = into.add
        self.multiply = into.multiply
        self.symbol = symbol
        self._into = into

    def number(self, value: int) -> Expression:
        return value

    def operation(self, atom: Atom, a: Expression, b: Expression) -> Expression:
        return self._into.operation(atom.kind, a, b)


def translated(
    polynomial: Polynomial, into: PolynomialTable, atoms: dict[int, Expression], symbol: Callable[[Atom], Expression]
) -> Expression:
    """The polynomial in another table, which gets the necessary atoms. Raises ZeroDivisionError if a divisor is 0 there.

    `atoms` gives the atoms of the table by the index of the polynomial's, and is added to; `symbol` makes the symbols that it lacks.
    """
    return fold(polynomial.table, _Formulas(into, symbol), (polynomial,), atoms)[0]


def replaced(expression: Expression, given: Mapping[int, Expression]) -> Expression:
    """The expression with some atoms replaced, also inside other atoms; ZeroDivisionError if a divisor becomes 0."""
    if isinstance(expression, int):
        return expression
    table = expression.table
    below = table.atoms_below(expression)
    own = {index: given[index] for index in below if index in given}
    if not own:
        return expression
    table.work.take(_STEPS_AN_ATOM * len(below))
    return translated(expression, table, own, lambda atom: table.polynomial(0, {(atom.index,): 1}))


def all_replaced(table: PolynomialTable, expressions: Sequence[Expression], known: dict[int, Expression]) -> list[Expression]:
    """Expressions with some atoms replaced by what is `known` of these, which gets more; ZeroDivisionError if a divisor becomes 0."""
    table.work.take(_STEPS_AN_ATOM * len(table.atoms_below(*expressions)))
    return fold(table, _Formulas(table, lambda atom: table.polynomial(0, {(atom.index,): 1})), expressions, known)


def replaced_or_same(expression: Expression, given: Mapping[int, Expression]) -> Expression:
    """The expression with some atoms replaced; the expression itself if a divisor becomes 0."""
    try:
        return replaced(expression, given)
    except ZeroDivisionError:
        return expression


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
            return translated(polynomial, into, self._atoms, _unknown)
        except ZeroDivisionError:
            return None


def _unknown(atom: Atom) -> Expression:
    raise AssertionError(f"the symbol {atom.name} corresponds to none")
