"""Formulas of cost: sums over many layers, written with their leading terms first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any, Final, NoReturn, TypeAlias

from irshape.inference.inputs import InputError
from irshape.report import form
from irshape.shape.dim import Dim, Scope, Size, dim_of
from irshape.shape.fold import all_replaced, fold
from irshape.shape.guard import Requirement, all_hold
from irshape.shape.polynomial import Atom, Expression, Monomial, Polynomial, PolynomialTable, split
from irshape.shape.range import Range, fitting

# The digits of a coefficient in the leading terms.
_DIGITS: Final = 4
# The most products of terms that are made for the leading terms.
_MOST_PRODUCTS: Final = 4096
# A formula that stands for another one differs by at most one part in so many, and has at most so many of its terms.
_PART: Final = 10
_MOST_TERMS: Final = 3

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

    def like(self, expression: Expression) -> Amount:
        """An expression of the same table as an amount, in the names of this one."""
        return expression if isinstance(expression, int) else Formula(self.table, expression, self._names)

    @property
    def raw_symbols(self) -> tuple[str, ...]:
        """The names that the sizes have in the inference, also those that are shown under another name."""
        return tuple([self.table.atoms[index].name for index in self.table.symbols_below(self.expression)])

    @property
    def symbols(self) -> tuple[str, ...]:
        """The names of the sizes, in the order of the inputs."""
        return tuple([self._names.get(name, name) for name in self.raw_symbols])

    def evaluate(self, sizes: Mapping[str, int] | None = None, /, **named: int) -> int:
        """The number for these sizes. Raises `KeyError` if one is missing, `InputError` for a division by 0 and a huge number."""
        given = {**(sizes or {}), **named}
        try:
            return self.table.evaluate(self.expression, self._own_sizes(given))
        except (OverflowError, ZeroDivisionError) as error:
            raise _without_number(error) from None

    def __call__(self, *sizes: object, **named: object) -> NoReturn:
        raise TypeError("a formula is no function; evaluate(H=224) gives its number for sizes")

    def _own_sizes(self, sizes: Mapping[str, int]) -> Mapping[str, int]:
        """Sizes by the names that they have in the inference."""
        if not self._names:
            return sizes
        own = {shown: name for name, shown in self._names.items()}
        return {own.get(name, name): size for name, size in sizes.items()}

    @property
    def leading(self) -> str:
        """The terms of the highest degree, in which a division rounds nothing; empty if a part is too large to be written."""
        terms = self._leading
        if terms is None:
            below = [self.table.atoms[index] for index in self.table.atoms_below(self.expression)]
            return "" if any(atom.name and atom.arguments for atom in below) else str(self)
        parts = sorted(terms.items(), key=lambda item: (-item[1], item[0]))
        texts = []
        for names, factor in parts:
            number = [_number(factor)] if factor != 1 or not names else []
            texts.append("*".join([*number, *(self._names.get(name, name) for name in names)]))
        return " + ".join(texts).replace("+ -", "- ")

    @property
    def _leading(self) -> Leading | None:
        [terms] = fold(self.table, _Leading(), (self.expression,))
        return terms

    def about(self, sizes: Mapping[str, int]) -> str:
        """A short formula that is within a tenth of this one at some sizes: the leading terms, or the largest; empty if none is."""
        whole, own = self.evaluate(sizes), self._own_sizes(sizes)
        if (leading := self._leading) is not None:
            near = sum([factor * prod([own[name] for name in names]) for names, factor in leading.items()], Fraction(0))
            if abs(near - whole) * _PART <= abs(whole):
                return self.leading
        terms = split(self.expression)[1]
        numbers = {term: self.table.evaluate(self.table.polynomial(0, dict([term])), own) for term in terms}
        largest = sorted(terms, key=lambda term: -abs(numbers[term]))[:_MOST_TERMS]
        for count in range(1, len(largest) + 1):
            if abs(sum([numbers[term] for term in largest[:count]]) - whole) * _PART <= abs(whole):
                return self._text(self.table.polynomial(0, dict(largest[:count])))
        return ""

    def __str__(self) -> str:
        return self._text(self.expression)

    def _text(self, expression: int | Polynomial) -> str:
        table, (constant, terms) = self.table, split(expression)
        degrees = table.degrees
        fold(table, _Degrees(), (expression,), degrees)
        ordered = sorted(terms, key=lambda term: (-sum([degrees[index] for index in term[0]]), -term[1], term[0]))
        texts = [table.text(table.polynomial(0, dict([term]))) for term in ordered]
        texts += [str(constant)] if constant else []
        text = " + ".join(texts).replace("+ -", "- ")
        if not self._names:
            return text
        import re

        return re.sub(r"[A-Za-z_][\w.]*", lambda word: self._names.get(word[0], word[0]), text)

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


def given(found: Sequence[Amount], sizes: Mapping[str, int]) -> list[Amount]:
    """Amounts, of which one is a formula, with these sizes for their symbols. Raises `InputError` if one then divides by 0."""
    first = next(one for one in found if isinstance(one, Formula))
    table, own = first.table, first._own_sizes(sizes)
    known: dict[int, Expression] = {atom.index: own[atom.name] for atom in table.atoms if atom.kind == "symbol" and atom.name in own}
    try:
        expressions = all_replaced(table, [one.expression if isinstance(one, Formula) else one for one in found], known)
    except ZeroDivisionError as error:
        raise _without_number(error) from None
    return [first.like(one) for one in expressions]


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
    """A function from sizes to numbers that computes shared parts once. It raises `ZeroDivisionError`, and `InputError` if one is huge."""
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
    """A sum of sizes that grows and shrinks. However many terms it has, it is one polynomial, which is made when it is asked for."""

    __slots__ = ("constant", "scope", "terms")

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.constant = 0
        self.terms: dict[Monomial, int] = {}

    def copy(self) -> Sum:
        """The present sum, which does not change."""
        self.scope.work.take(len(self.terms) + 1)
        found = Sum(self.scope)
        found.constant, found.terms = self.constant, dict(self.terms)
        return found

    def add(self, size: Size | Expression, factor: int = 1) -> None:
        """Add a size so many times."""
        if isinstance(size, int):
            self.constant += factor * size
            return
        polynomial, terms = size.polynomial if isinstance(size, Dim) else size, self.terms
        self.constant += factor * polynomial.constant
        for monomial, coefficient in polynomial.terms:
            now = terms.get(monomial, 0) + factor * coefficient
            if now:
                terms[monomial] = now
            else:
                del terms[monomial]

    @property
    def key(self) -> object:
        """What equal sums have in common."""
        return self.constant, frozenset(self.terms.items())

    @property
    def size(self) -> Size:
        self.scope.work.take(len(self.terms) + 1)
        expression = self.scope.polynomials.polynomial(self.constant, self.terms)
        return expression if isinstance(expression, int) else self.scope.dim(expression, expression.range)


def total(scope: Scope, sizes: Sequence[Size | Expression]) -> Size:
    """The sum of many sizes."""
    if len(sizes) == 1:
        return dim_of(scope, sizes[0]) if isinstance(sizes[0], Polynomial) else sizes[0]
    found = Sum(scope)
    for size in sizes:
        found.add(size)
    return found.size


def summed(scope: Scope, amounts: Iterable[Amount]) -> Size:
    """The sum of many amounts."""
    return total(scope, [one if isinstance(one, int) else one.expression for one in amounts])


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
        first, second = len(next(iter(a), ())), len(next(iter(b), ()))  # the terms of each have one degree
        if first != second:
            return a if first > second else b
        found = dict(a)
        for names, own in b.items():
            found[names] = own + found.get(names, 0)
            if not found[names]:
                del found[names]
        return found

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
    """A number, with a few digits: `893.5`, `0.000061`."""
    if number.denominator == 1:
        return str(number.numerator)
    zeros = len(str(int(1 / abs(number)))) - 1 if abs(number) < 1 else 0
    digits = (max(_DIGITS - len(str(abs(int(number)))), 0) or 1) + zeros
    return f"{float(number):.{digits}f}".rstrip("0").rstrip(".")


AMOUNT: Final = form.Form(formula="text: a Python expression of the symbols, or a number", value="number: the number at the sizes `near`")
REFERENCE: Final = {"$ref": "#/$defs/amount"}


def shown(found: Any, whole: Any) -> dict[str, Any]:
    """An amount as JSON, with its number at the sizes `near` of the whole answer."""
    return {"formula": str(found), "value": whole.at(found)}


def shown_amount(about: str = "", get: form.Get = "") -> form.Field:
    """A member that is an amount, with its number at the sizes `near` of the whole answer."""
    return form.Field({**REFERENCE, "description": about} if about else REFERENCE, get, shown)


NEAR: Final = "numbers: the sizes at which values are given"
OF_TYPE: Final = form.Form(elements=("count", form.item(0)), bytes=("count", form.item(1)))

_SUMS: Final = ("parameters", "parameter_bytes", "macs", "operations", "traffic", "peak_memory")
_IN_SCHEMA: Final = ("macs", "operations", "parameters", "parameter_bytes", "traffic", "peak_memory")
_SIDE: Final = form.Form(_IN_SCHEMA, **dict.fromkeys(_SUMS, form.Field(AMOUNT.schema, convert=shown)))
COMPARISON: Final = form.Form(summary="text", near=NEAR, a=_SIDE.one(), b=_SIDE.one())


# Names of a batch, and of the axes of images and volumes, as signatures use them.
_BATCH: Final = ("N", "B")
_SPATIAL: Final = ("D", "H", "W")
# The sizes that are tried for all other symbols, until one fulfils the conditions; spatial axes are tried with the second ones.
_USUAL: Final = (
    (128, 224), (128, 256), (64, 64), (224, 224), (256, 512), (512, 512), (32, 32), (16, 16), (1024, 1024), (8, 8), (96, 96), (640, 640),
    (100, 100), (4, 4), (2, 2),
)  # fmt: skip
_LEAST: Final = (1, 224), (1, 256), (1, 64), (1, 1)


# What a detector writes for as many boxes as there are: the greatest number of int32, or a product of it.
_NO_BOUND: Final = 2**31 - 1


def reference(
    ranges: Mapping[str, Range],
    demands: Iterable[Requirement],
    given: Mapping[str, int],
    unknown: Mapping[str, Range],
    is_usual: Callable[[Mapping[str, int]], bool] = lambda sizes: True,
    largest: int = 1,
) -> tuple[dict[str, int], bool]:
    """A size for every symbol of these ranges, and whether the sizes are in the ranges and fulfil the demands on the symbols.

    A batch is 1, `H` and `W` are 224 and other sizes 128, where the conditions and `is_usual` allow this. Else one size may be double: a
    mask is as long as the past steps and the new ones. A size that only a run tells is the greatest one that it can be, or where that is
    2^31 - 1 or more, that of an input: `largest`, if no input has a symbol.
    """
    hold = all_hold(list(demands))
    is_within = all(fitting(ranges[name], size) == size for name, size in given.items() if name in ranges)
    first: dict[str, int] | None = None
    even, least = [[{name: _target(name, *pair) for name in ranges} for pair in pairs] for pairs in (_USUAL, _LEAST)]
    double = [{**even[0], name: 2 * size} for name, size in even[0].items() if size > 1]
    for wanted in (*even, *double, *least):
        sizes = {name: fitting(known, wanted[name]) for name, known in ranges.items()}
        sizes.update((name, size) for name, size in given.items() if name in ranges)
        most = max(sizes.values(), default=largest)
        found = {name: int(known.high) if known.high < _NO_BOUND else fitting(known, most) for name, known in unknown.items()}
        if hold(sizes) and is_usual(chosen := {**sizes, **found, **given}):
            return chosen, is_within
        first = first or sizes
    return {**(first or {}), **found, **given}, False


def _target(name: str, usual: int, spatial: int) -> int:
    if name.startswith(_BATCH):
        return 1
    return spatial if name[:1] in _SPATIAL else usual
