"""Where requirements hold, for sizes without end, read off finitely many.

What rules compute of a size is made of `+ - * // min max`. Among sizes that are equal modulo a period, such a number is a polynomial
with integer coefficients in how often the period has passed, once each min and max has settled which of its arguments it is. That
polynomial is the sum of its forward differences times binomials, none of which is ever negative: if no difference is negative, nor
is the number, from there on. So a grid of a few periods decides everything, and where it does not, it starts further on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import gcd, inf, lcm
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from irshape.answers.size_set import Mask
from irshape.shape.dim import Dim, Size
from irshape.shape.guard import Requirement
from irshape.shape.polynomial import Expression, PolynomialTable, split

Numbers: TypeAlias = NDArray[Any]

# How many points a grid of one, two or more axes may have, and how many Python's own integers can be worked with.
_MOST_POINTS: Final = (1 << 20, 1 << 18, 1 << 14)
_MOST_EXACT: Final = 1 << 14
_MOST_DEGREE: Final = 8
_INT64: Final = 1 << 62


class Unsolved(Exception):
    """No grid of bearable size tells where the requirements hold."""


class Place(NamedTuple):
    """How a symbol depends on an axis: it is `constant + factor * size`."""

    axis: str
    factor: int = 1
    constant: int = 0


class Axis:
    """The sizes `low`, `low + step`, ... of one symbol, `count` of them.

    The first `head` are looked at one by one. Those that follow fall into `period` classes, in which every number is a polynomial of
    at most the given degree. Without a period there are no others.
    """

    __slots__ = ("count", "degree", "head", "low", "period", "step")

    def __init__(self, low: int, step: int = 1, count: float = inf) -> None:
        self.low = low
        self.step = step
        self.count = count
        self.shape(0, 1, 1)

    def shape(self, head: int, period: int, degree: int) -> None:
        """Lay out the axis; one that would reach its end is looked at size by size."""
        if self.count <= head + period * (degree + 1):
            head, period, degree = int(self.count), 0, 0
        self.head, self.period, self.degree = head, period, degree

    @property
    def points(self) -> int:
        """How many sizes are computed with."""
        return self.head + self.period * (self.degree + 1)

    @property
    def cells(self) -> int:
        """How many sizes and classes are told apart."""
        return self.head + self.period

    def sizes(self) -> Numbers:
        """The sizes that are computed with."""
        return self.low + self.step * np.arange(self.points, dtype=np.int64)


class Solution:
    """For each requirement the cells in which it holds: sizes of the head and classes of the period of every axis.

    A mask has one dimension for each axis, of length 1 where the requirement does not depend on it.
    """

    def __init__(self, axes: Mapping[str, Axis], masks: Sequence[Mask]) -> None:
        self.axes: Final = axes
        self.masks: Final = masks

    def holds(self) -> Mask:
        """The cells in which all hold."""
        whole = np.ones([axis.cells for axis in self.axes.values()], bool)
        for mask in self.masks:
            whole &= mask
        return whole


def solve(table: PolynomialTable, requirements: Sequence[Requirement], axes: Mapping[str, Axis], places: Mapping[str, Place]) -> Solution:
    """Where each requirement holds. Raises Unsolved.

    The axes are laid out as the solution needs them; `places` says what the symbols are that requirements mention.
    """
    rhythms = [_rhythm(table, requirement, axes, places) for requirement in requirements]
    names = {name for rhythm in rhythms for name in rhythm}
    periods = {name: lcm(*(rhythm[name].period for rhythm in rhythms if name in rhythm)) for name in names}
    degrees = {name: max(rhythm[name].degree for rhythm in rhythms if name in rhythm) for name in names}
    heads = dict.fromkeys(names, 0)
    while True:
        points = 1
        for name, axis in axes.items():
            axis.shape(heads.get(name, 0), periods.get(name, 1), degrees.get(name, 0))
            points *= axis.points
        if points > _MOST_POINTS[min(len(axes), 3) - 1] or any(degree > _MOST_DEGREE for degree in degrees.values()):
            raise Unsolved
        masks = []
        late: set[str] = set()
        for requirement in requirements:
            mask, unsettled = _Grid(table, axes, places).judge(requirement)
            late |= _tails(axes, unsettled)
            masks.append(mask)
        if not late:
            return Solution(axes, masks)
        for name in late:
            heads[name] = max(2 * heads[name], periods[name])


def compare(table: PolynomialTable, requirements: Sequence[Requirement], axes: Mapping[str, Axis], places: Mapping[str, Place]) -> Mask:
    """Where all requirements hold, size by size, on axes that end."""
    for axis in axes.values():
        axis.shape(int(axis.count), 0, 0)
    return Solution(axes, [_Grid(table, axes, places).judge(requirement)[0] for requirement in requirements]).holds()


def _tails(axes: Mapping[str, Axis], unsettled: Mask) -> set[str]:
    """The axes that have to start further on."""
    late = set()
    for number, (name, axis) in enumerate(axes.items()):
        # A mask of one cell holds for all of them.
        tail = unsettled if unsettled.shape[number] < max(axis.cells, 2) else np.take(unsettled, range(axis.head, axis.cells), number)
        if axis.period and tail.any() and (unsettled.shape[number] > 1 or axis.cells == 1):
            late.add(name)
    assert late or not unsettled.any(), "sizes that are looked at one by one have settled"
    return late


# One walk over formulas, for whatever is computed of them.

_T = TypeVar("_T")


class _Algebra(Protocol[_T]):
    def constant(self, value: int) -> _T: ...
    def symbol(self, name: str) -> _T: ...
    def add(self, a: _T, b: _T) -> _T: ...
    def multiply(self, a: _T, b: _T) -> _T: ...
    def divide(self, a: _T, divisor: int) -> _T: ...
    def floor(self, a: _T, b: _T) -> _T: ...
    def select(self, kind: str, a: _T, b: _T) -> _T: ...


def _computed(algebra: _Algebra[_T], table: PolynomialTable, polynomials: Iterable[Expression]) -> list[_T]:
    known: dict[int, _T] = {}

    def value(expression: Expression) -> _T:
        constant, terms = split(expression)
        total = algebra.constant(constant)
        for monomial, coefficient in terms:
            product = algebra.constant(coefficient)
            for index in monomial:
                product = algebra.multiply(product, known[index])
            total = algebra.add(total, product)
        return total

    polynomials = list(polynomials)
    for index in table.atoms_below(*polynomials):
        atom = table.atoms[index]
        if atom.kind == "symbol":
            known[index] = algebra.symbol(atom.name)
            continue
        a, b = map(value, atom.arguments)
        divisor = atom.arguments[1]
        if atom.kind == "floor" and isinstance(divisor, int):
            known[index] = algebra.divide(a, divisor)
        elif atom.kind in ("add", "multiply", "floor"):
            known[index] = getattr(algebra, atom.kind)(a, b)
        else:
            known[index] = algebra.select(atom.kind, a, b)
    return [value(expression) for expression in polynomials]


def _sides(requirement: Requirement) -> tuple[Expression, Expression]:
    return _polynomial(requirement.a), _polynomial(requirement.b)


def _polynomial(size: Size) -> Expression:
    return size.polynomial if isinstance(size, Dim) else size


# When numbers repeat themselves.


class _Beat(NamedTuple):
    """A number along one axis: in each class of the period it is a polynomial of this degree.

    `content` divides every coefficient but that of degree 0, when it is counted in periods.
    """

    period: int
    degree: int
    content: int


class _Number(NamedTuple):
    """A number by the axes it depends on, or the constant it is."""

    constant: int
    beats: dict[str, _Beat]


class _Rhythms:
    """Finds the beats of numbers."""

    def __init__(self, axes: Mapping[str, Axis], places: Mapping[str, Place]) -> None:
        self.axes = axes
        self.places = places

    def constant(self, value: int) -> _Number:
        return _Number(value, {})

    def symbol(self, name: str) -> _Number:
        axis, factor, constant = self.places[name]
        return _Number(constant, {axis: _Beat(1, 1, abs(factor) * self.axes[axis].step)})

    def add(self, a: _Number, b: _Number) -> _Number:
        return _Number(a.constant + b.constant, _joined(a, b, max))

    def multiply(self, a: _Number, b: _Number) -> _Number:
        for one, other in ((a, b), (b, a)):
            if not one.beats:
                scaled = {name: beat._replace(content=beat.content * abs(one.constant)) for name, beat in other.beats.items()}
                return _Number(one.constant * other.constant, scaled if one.constant else {})
        return _Number(0, _joined(a, b, lambda x, y: x + y))

    def divide(self, a: _Number, divisor: int) -> _Number:
        beats = {}
        for name, (period, degree, content) in a.beats.items():
            # After so many periods the numerator has grown by a multiple of the divisor.
            rounds = divisor // gcd(divisor, content)
            beats[name] = _Beat(period * rounds, degree, content * rounds // divisor)
        return _Number(a.constant // divisor, beats)

    def floor(self, a: _Number, b: _Number) -> _Number:
        # The grid sees whether the quotient is one number in each class.
        return _Number(0, {name: beat._replace(content=0) for name, beat in _joined(a, b, max).items()})

    def select(self, kind: str, a: _Number, b: _Number) -> _Number:
        return _Number(0, _joined(a, b, max))


def _joined(a: _Number, b: _Number, degree: Any) -> dict[str, _Beat]:
    beats = dict(a.beats)
    for name, beat in b.beats.items():
        own = beats.get(name)
        if own is None:
            beats[name] = beat
        else:
            period = lcm(own.period, beat.period)
            content = gcd(own.content * (period // own.period), beat.content * (period // beat.period))
            beats[name] = _Beat(period, degree(own.degree, beat.degree), content)
    return beats


def _rhythm(table: PolynomialTable, requirement: Requirement, axes: Mapping[str, Axis], places: Mapping[str, Place]) -> dict[str, _Beat]:
    rhythms = _Rhythms(axes, places)
    a, b = _computed(rhythms, table, _sides(requirement))
    whole = rhythms.add(a, b)
    if requirement.kind == "div" and isinstance(requirement.b, int) and requirement.b:
        whole = rhythms.add(a, rhythms.divide(a, abs(requirement.b)))
    return whole.beats


# How large numbers become.


class _Magnitudes:
    """Bounds the absolute value of every number that is computed; `largest` is the largest of the bounds."""

    def __init__(self, axes: Mapping[str, Axis], places: Mapping[str, Place]) -> None:
        self.axes = axes
        self.places = places
        self.largest = 1

    def _noted(self, value: int) -> int:
        self.largest = max(self.largest, value)
        return value

    def constant(self, value: int) -> int:
        return self._noted(abs(value))

    def symbol(self, name: str) -> int:
        axis, factor, constant = self.places[name]
        own = self.axes[axis]
        return self._noted(abs(constant) + abs(factor) * (abs(own.low) + own.step * own.points))

    def add(self, a: int, b: int) -> int:
        return self._noted(a + b)

    def multiply(self, a: int, b: int) -> int:
        return self._noted(a * b)

    def divide(self, a: int, divisor: int) -> int:
        return self._noted(max(a + 1, self._noted(divisor)))

    def floor(self, a: int, b: int) -> int:
        return self._noted(a + 1)

    def select(self, kind: str, a: int, b: int) -> int:
        return max(a, b)


# The numbers themselves.


class _Grid:
    """The numbers of one requirement at every point; where they have not settled, `unsettled` says so, cell by cell."""

    def __init__(self, table: PolynomialTable, axes: Mapping[str, Axis], places: Mapping[str, Place]) -> None:
        self.table = table
        self.axes = axes
        self.places = places
        self.order = {name: number for number, name in enumerate(axes)}
        self.dtype: Any = np.int64
        self.unsettled = self._cells(False)
        # Where a divisor is 0 there is no number.
        self.undefined = self._cells(False)

    def _cells(self, value: bool) -> Mask:
        return np.full([1] * len(self.axes), value)

    def judge(self, requirement: Requirement) -> tuple[Mask, Mask]:
        """The cells in which the requirement holds, and those in which that has not settled."""
        sides = _sides(requirement)
        magnitudes = _Magnitudes(self.axes, self.places)
        a_most, b_most = _computed(magnitudes, self.table, sides)
        reach = 2 ** sum(axis.degree + 1 for axis in self.axes.values())
        if 4 * reach * (magnitudes.largest + a_most + b_most) > _INT64:
            self.dtype = object
            if np.prod([axis.points for axis in self.axes.values()]) > _MOST_EXACT:
                raise Unsolved
        a, b = _computed(self, self.table, sides)
        if requirement.kind == "div" and isinstance(requirement.b, int):
            remainder = self._first(a % requirement.b) if requirement.b else np.ones_like(self._first(a))
            holds, fails = _mask(remainder == 0), _mask(remainder != 0)
        else:
            holds, fails = self._relation(requirement.kind, a, b)
        unsettled = self.unsettled | ~(holds | fails | self.undefined)
        return holds & ~self.undefined, unsettled

    def _relation(self, kind: str, a: Numbers, b: Numbers) -> tuple[Mask, Mask]:
        """The cells in which a relation holds everywhere, and those in which it holds nowhere."""
        if kind == "eq":
            return self._equal(a, b)
        if kind == "ge":
            differences = self._differences(a - b)
            return _never_negative(differences), _always_positive(-differences)
        if kind == "div":
            return self._divides(a, b)
        one = np.ones_like(a[(slice(0, 1),) * a.ndim])
        cases = [self._equal(a, b), self._equal(a, one)] + ([self._equal(b, one)] if kind == "broadcast" else [])
        holds, fails = cases[0]
        for also, neither in cases[1:]:
            holds, fails = holds | also, fails & neither
        return holds, fails

    def _equal(self, a: Numbers, b: Numbers) -> tuple[Mask, Mask]:
        differences = self._differences(a - b)
        return _zero(differences), _always_positive(differences) | _always_positive(-differences)

    def _divides(self, a: Numbers, b: Numbers) -> tuple[Mask, Mask]:
        _, rest, is_settled = self._quotient(a, b)
        nothing = _zero(rest)
        return nothing, is_settled & ~nothing & (_always_positive(rest) | _always_positive(-rest))

    def _quotient(self, a: Numbers, b: Numbers) -> tuple[Numbers, Numbers, Mask]:
        """`a // b`, the differences of `a - q*b` where `q` is the quotient at the start of each class, and whether it stays that."""
        differences = self._differences(b)
        is_zero = _zero(differences)
        self.undefined = self.undefined | is_zero
        self._settle(is_zero | _always_positive(differences) | _always_positive(-differences))
        divisor = np.where(b == 0, 1, b)
        quotient = np.where(b == 0, 0, a // divisor)
        kept = self._spread(self._first(quotient))
        rest = np.where(b == 0, 0, a - kept * divisor)
        differences = self._differences(rest)
        is_settled = _never_negative(differences) & _never_negative(self._differences(divisor - 1 - rest))
        is_settled |= is_zero | _never_negative(-differences) & _never_negative(self._differences(rest - divisor - 1))
        return quotient, differences, is_settled

    # The algebra of `_computed`.

    def constant(self, value: int) -> Numbers:
        return np.full([1] * len(self.axes), value, self.dtype if -_INT64 < value < _INT64 else object)

    def symbol(self, name: str) -> Numbers:
        axis, factor, constant = self.places[name]
        sizes = constant + factor * self.axes[axis].sizes().astype(self.dtype)
        return sizes.reshape([-1 if number == self.order[axis] else 1 for number in range(len(self.axes))])

    def add(self, a: Numbers, b: Numbers) -> Numbers:
        return a + b

    def multiply(self, a: Numbers, b: Numbers) -> Numbers:
        return a * b

    def divide(self, a: Numbers, divisor: int) -> Numbers:
        return a // divisor

    def floor(self, a: Numbers, b: Numbers) -> Numbers:
        quotient, _, is_settled = self._quotient(a, b)
        self._settle(is_settled)
        return quotient

    def select(self, kind: str, a: Numbers, b: Numbers) -> Numbers:
        if kind == "broadcast":
            one = self.constant(1)
            is_one, is_other = self._equal(a, one)
            self._settle(is_one | is_other)
            return np.where(a == 1, b, a)
        differences = self._differences(a - b)
        self._settle(_never_negative(differences) | _never_negative(-differences))
        return np.minimum(a, b) if kind == "min" else np.maximum(a, b)

    def _settle(self, is_settled: Mask) -> None:
        self.unsettled = self.unsettled | ~is_settled

    # From points to cells.

    def _first(self, values: Numbers) -> Numbers:
        """The values at the first point of every cell."""
        for number, axis in enumerate(self.axes.values()):
            if values.shape[number] > 1:
                values = np.take(values, range(axis.cells), number)
        return values

    def _spread(self, cells: Numbers) -> Numbers:
        """The value of each cell at all of its points."""
        for number, axis in enumerate(self.axes.values()):
            if cells.shape[number] > 1 and axis.period:
                places = np.concatenate([np.arange(axis.head), axis.head + np.arange(axis.points - axis.head) % axis.period])
                cells = np.take(cells, places, number)
        return cells

    def _differences(self, values: Numbers) -> Numbers:
        """Forward differences of every order: for each axis one dimension of the orders and one of the cells."""
        for number, axis in enumerate(self.axes.values()):
            place = 2 * number
            if values.shape[place] == 1 or not axis.period:
                values = np.expand_dims(values, place)
                continue
            rest = values.shape[place + 1 :]
            head, tail = np.split(values, [axis.head], place)
            orders = axis.degree + 1
            rows = np.moveaxis(tail.reshape(*values.shape[:place], orders, axis.period, *rest), place, 0).copy()
            for order in range(1, orders):
                rows[order:] -= rows[order - 1 : -1].copy()
            alone = np.zeros((orders, *head.shape), values.dtype)
            alone[0] = head
            values = np.moveaxis(np.concatenate([alone, rows], place + 1), 0, place)
        return values


def _orders(differences: Numbers) -> tuple[int, ...]:
    return tuple(range(0, differences.ndim, 2))


def _never_negative(differences: Numbers) -> Mask:
    return _mask(differences.min(_orders(differences)) >= 0)


def _always_positive(differences: Numbers) -> Mask:
    first = differences[tuple(0 if place % 2 == 0 else slice(None) for place in range(differences.ndim))]
    return _never_negative(differences) & _mask(first > 0)


def _zero(differences: Numbers) -> Mask:
    return _mask((differences == 0).all(_orders(differences)))


def _mask(values: Any) -> Mask:
    return np.asarray(values, bool)
