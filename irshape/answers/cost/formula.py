"""Formulas of cost: sums over many layers, written with their leading terms first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Final, TypeAlias

from irshape.inference.inputs import InputError
from irshape.shape.dim import Dim, Scope, Size, expression_of
from irshape.shape.fold import fold, replaced
from irshape.shape.polynomial import Atom, Monomial, Polynomial, PolynomialTable, split

# The digits of a coefficient in the leading terms.
_DIGITS: Final = 4
# The most products of terms that are made for the leading terms.
_MOST_PRODUCTS: Final = 4096

Leading: TypeAlias = dict[tuple[str, ...], Fraction]


class Formula:
    """An amount as a formula of sizes. It prints as a Python expression, with its leading terms first.

    `symbols` are the names of the sizes. `leading` has the terms that matter for large sizes, with rounded coefficients: `81.5*N*H*W`; it
    is the whole text of a formula that has no leading terms, such as one with a `max`. `expression` is the normal form, in the `table` of
    the inference.
    """

    __slots__ = ("_names", "expression", "table")

    def __init__(self, table: PolynomialTable, expression: Polynomial, names: Mapping[str, str]) -> None:
        """`names` has the names of the symbols that are shown under another name."""
        self.table = table
        self.expression = expression
        self._names = names

    @property
    def raw_symbols(self) -> tuple[str, ...]:
        """The names that the sizes have in the inference, also those that are shown under another name."""
        return tuple([self.table.atoms[index].name for index in self.table.symbols_below(self.expression)])

    @property
    def symbols(self) -> tuple[str, ...]:
        """The names of the sizes, in the order of the inputs."""
        return tuple([self._names.get(name, name) for name in self.raw_symbols])

    def evaluate(self, sizes: Mapping[str, int] | None = None, /, **named: int) -> int:
        """The number for these sizes.

        Raises `KeyError` if one is missing, and `InputError` if the formula divides by 0 or a number is huge.
        """
        given = {**(sizes or {}), **named}
        try:
            return self.table.evaluate(self.expression, self._own_sizes(given))
        except (OverflowError, ZeroDivisionError) as error:
            raise _without_number(error) from None

    def given(self, sizes: Mapping[str, int]) -> Formula | int:
        """The formula with these sizes in place of their symbols. Raises `InputError` if it then divides by 0."""
        own = self._own_sizes(sizes)
        atoms = [self.table.atoms[index] for index in self.table.symbols_below(self.expression)]
        try:
            expression = replaced(self.expression, {atom.index: own[atom.name] for atom in atoms if atom.name in own})
        except ZeroDivisionError as error:
            raise _without_number(error) from None
        return expression if isinstance(expression, int) else Formula(self.table, expression, self._names)

    def _own_sizes(self, sizes: Mapping[str, int]) -> Mapping[str, int]:
        """Sizes by the names that they have in the inference."""
        if not self._names:
            return sizes
        own = {shown: name for name, shown in self._names.items()}
        return {own.get(name, name): size for name, size in sizes.items()}

    @property
    def leading(self) -> str:
        """The terms of the highest degree, in which a division rounds nothing; empty if a part is too large to be written."""
        [terms] = fold(self.table, _Leading(), (self.expression,))
        if terms is None:
            below = [self.table.atoms[index] for index in self.table.atoms_below(self.expression)]
            return "" if any(atom.name and atom.arguments for atom in below) else str(self)
        parts = sorted(terms.items(), key=lambda item: (-item[1], item[0]))
        texts = ["*".join([_number(coefficient), *(self._names.get(name, name) for name in names)]) for names, coefficient in parts]
        return " + ".join(texts).replace("+ -", "- ")

    def __str__(self) -> str:
        table, (constant, terms) = self.table, split(self.expression)
        degrees = table.degrees
        fold(table, _Degrees(), (self.expression,), degrees)
        ordered = sorted(terms, key=lambda term: (-sum([degrees[index] for index in term[0]]), -term[1], term[0]))
        texts = [table.text(table.polynomial(0, dict([term]))) for term in ordered]
        texts += [str(constant)] if constant else []
        text = " + ".join(texts).replace("+ -", "- ")
        if self._names:
            import re

            text = re.sub(r"[A-Za-z_][\w.]*", lambda word: self._names.get(word[0], word[0]), text)
        return text

    def __repr__(self) -> str:
        return f"<Formula {self}>"

    def __eq__(self, other: object) -> bool:
        """Whether both are written alike."""
        return isinstance(other, Formula) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


Amount: TypeAlias = int | Formula
"""An amount: a number, or a formula of the sizes of the inputs."""


def amount(size: Size, names: Mapping[str, str]) -> Amount:
    """A size as an amount."""
    return Formula(size.scope.polynomials, size.polynomial, names) if isinstance(size, Dim) else int(size)


def value(found: Amount, sizes: Mapping[str, int]) -> int:
    """The number for these sizes."""
    return found if isinstance(found, int) else found.evaluate(sizes)


def divides_by_0(found: Amount, sizes: Mapping[str, int]) -> bool:
    """Whether the formula of an amount divides by 0 for these sizes."""
    try:
        values([found])(sizes)
    except ZeroDivisionError:
        return True
    except InputError:
        pass
    return False


def values(found: Sequence[Amount]) -> Callable[[Mapping[str, int]], list[int]]:
    """A function from sizes to the numbers of several amounts, which computes what their formulas share once.

    It raises `ZeroDivisionError` if one of them divides by 0, and `InputError` if a number is huge.
    """
    formulas = [one for one in found if isinstance(one, Formula)]
    if not formulas:
        numbers = [one for one in found if isinstance(one, int)]
        return lambda sizes: numbers
    first = formulas[0]
    evaluated = first.table.evaluator([one.expression if isinstance(one, Formula) else one for one in found])

    def numbered(sizes: Mapping[str, int]) -> list[int]:
        try:
            return evaluated(first._own_sizes(sizes))
        except OverflowError as error:
            raise _without_number(error) from None

    return numbered


def ratio(a: int, b: int) -> float:
    """`a / b`. Raises `InputError` if that is more than a float holds."""
    try:
        return a / b
    except OverflowError as error:
        raise _without_number(error) from None


def _without_number(error: OverflowError | ZeroDivisionError) -> InputError:
    why = "the formula of a size divides by 0; give others" if isinstance(error, ZeroDivisionError) else f"{error}; give smaller ones"
    return InputError(f"the cost cannot be computed for these sizes: {why} with --near")


class Sum:
    """A sum of sizes that grows and shrinks. However many terms it has, it is one polynomial."""

    __slots__ = ("_constant", "_scope", "_terms")

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._constant = 0
        self._terms: dict[Monomial, int] = {}

    def add(self, size: Size, factor: int = 1) -> None:
        """Add a size so many times."""
        constant, terms = split(expression_of(size))
        self._constant += factor * constant
        for monomial, coefficient in terms:
            now = self._terms.get(monomial, 0) + factor * coefficient
            if now:
                self._terms[monomial] = now
            else:
                del self._terms[monomial]

    @property
    def size(self) -> Size:
        """The sum."""
        self._scope.work.take(len(self._terms) + 1)
        expression = self._scope.polynomials.polynomial(self._constant, self._terms)
        return expression if isinstance(expression, int) else self._scope.dim(expression, expression.range)


def total(scope: Scope, sizes: Iterable[Size]) -> Size:
    """The sum of many sizes."""
    found = Sum(scope)
    for size in sizes:
        found.add(size)
    return found.size


class _Degrees:
    """The algebra of degrees: how fast formulas grow with all sizes."""

    def number(self, value: int) -> int:
        return 0

    def symbol(self, atom: Atom) -> int:
        return 1

    def add(self, a: int, b: int) -> int:
        return max(a, b)

    def multiply(self, a: int, b: int) -> int:
        return a + b

    def operation(self, atom: Atom, a: int, b: int) -> int:
        return a - b if atom.kind == "floor" else min(a, b) if atom.kind == "min" else max(a, b)


class _Leading:
    """The algebra of the terms of the highest degree, by the names of their symbols; None where a formula has none, or too many."""

    def number(self, value: int) -> Leading | None:
        return {(): Fraction(value)}

    def symbol(self, atom: Atom) -> Leading | None:
        return {(atom.name,): Fraction(1)}

    def add(self, a: Leading | None, b: Leading | None) -> Leading | None:
        if a is None or b is None:
            return None
        found = {names: own for names in {**a, **b} if (own := a.get(names, Fraction(0)) + b.get(names, Fraction(0)))}
        highest = max(map(len, found), default=0)
        return {names: own for names, own in found.items() if len(names) == highest}

    def multiply(self, a: Leading | None, b: Leading | None) -> Leading | None:
        if a is None or b is None or len(a) * len(b) > _MOST_PRODUCTS:
            return None
        found: Leading = {}
        for left, factor in a.items():
            for right, coefficient in b.items():
                names = tuple(sorted(left + right))
                found[names] = found.get(names, Fraction(0)) + factor * coefficient
        return found

    def operation(self, atom: Atom, a: Leading | None, b: Leading | None) -> Leading | None:
        if atom.kind != "floor" or a is None or b is None or list(b) != [()]:
            return None
        return {names: own / b[()] for names, own in a.items()}


def _number(number: Fraction) -> str:
    """A number, with at most a few digits of its fraction."""
    if number.denominator == 1:
        return str(number.numerator)
    digits = max(_DIGITS - len(str(abs(int(number)))), 0) or 1
    return f"{float(number):.{digits}f}".rstrip("0").rstrip(".")
