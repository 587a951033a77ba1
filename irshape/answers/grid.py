"""Decide for infinitely many sizes where requirements hold, by computing with finitely many.

Rules compute numbers from sizes by `+ - * // min max`. Along one size, such a number is a quasi-polynomial from some size on: among sizes
that are equal modulo a period, it is a polynomial with integer coefficients in the number of periods. It becomes one as soon as each min
and max selects the same argument at all later sizes; then the number is settled. A polynomial is the sum of its forward differences times
binomial coefficients, which are never negative. So if no forward difference at a size is negative, the number is not negative there or at
any later size of its class. A grid of a few periods therefore decides a requirement for all sizes. If it settles none, it starts later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd, lcm, prod
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from irshape.answers.size_set import Axis, Substitution, Unsolved
from irshape.shape.dim import expression_of
from irshape.shape.fold import fold
from irshape.shape.guard import Requirement
from irshape.shape.polynomial import Atom, Expression, PolynomialTable

Numbers: TypeAlias = NDArray[Any]
Mask: TypeAlias = NDArray[np.bool_]

# The most points of a grid with one axis, two axes, or more; and the most points that are computed with Python's integers.
_MOST_POINTS: Final = (1 << 20, 1 << 18, 1 << 14)
_MOST_EXACT: Final = 1 << 14
_MOST_DEGREE: Final = 8
# The most binary digits of a number on a grid: squaring a size again and again doubles them each time.
_MOST_BITS: Final = 4096
# The most axes of a grid; NumPy has arrays of 64 dimensions, and an axis may take two.
_MOST_AXES: Final = 31
# How many points of an array of int64, and of Python's integers, one step of work computes.
_POINTS_A_STEP: Final = 512
_EXACT_POINTS_A_STEP: Final = 16
# What a requirement takes besides, on the smallest grid.
_STEPS_A_REQUIREMENT: Final = 150
_INT64: Final = 1 << 62


class Solution(NamedTuple):
    """The cells, sizes of the head and classes, in which each requirement holds; a mask has length 1 along an axis that does not matter."""

    axes: Mapping[str, Axis]
    masks: Sequence[Mask]

    def holds(self) -> Mask:
        """The cells in which all requirements hold."""
        whole = np.ones([axis.cells for axis in self.axes.values()], bool)
        for mask in self.masks:
            whole &= mask
        return whole


def solve(
    table: PolynomialTable, requirements: Sequence[Requirement], axes: Mapping[str, Axis], substitutions: Mapping[str, Substitution]
) -> Solution:
    """Find the cells in which each requirement holds, and divide the axes as that needs it. Raises Unsolved."""
    _admit(axes, substitutions)
    growths = [_growths(table, requirement, axes, substitutions) for requirement in requirements]
    names = {name for growth in growths for name in growth}
    periods = {name: lcm(*(growth[name].period for growth in growths if name in growth)) for name in names}
    degrees = {name: max(growth[name].degree for growth in growths if name in growth) for name in names}
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
            mask, unsettled = _Grid(table, axes, substitutions).judge(requirement)
            late |= _tails(axes, unsettled)
            masks.append(mask)
        if not late:
            return Solution(axes, masks)
        for name in late:
            heads[name] = max(2 * heads[name], periods[name])


def tabulate(
    table: PolynomialTable, requirements: Sequence[Requirement], axes: Mapping[str, Axis], substitutions: Mapping[str, Substitution]
) -> Mask:
    """Find the sizes for which all requirements hold, one by one, on finite axes. Raises Unsolved."""
    _admit(axes, substitutions)
    for axis in axes.values():
        axis.shape(int(axis.count), 0, 0)
    return Solution(axes, [_Grid(table, axes, substitutions).judge(requirement)[0] for requirement in requirements]).holds()


def _admit(axes: Mapping[str, Axis], substitutions: Mapping[str, Substitution]) -> None:
    """Raise Unsolved for more axes than NumPy has, and for sizes that it does not hold."""
    used = [one for one in substitutions.values() if one.axis in axes]
    numbers = [number for axis in axes.values() for number in (axis.low, axis.step * _MOST_POINTS[0])]
    numbers += [number for one in used for number in (one.constant, one.factor)]
    if len(axes) > _MOST_AXES or any(abs(number) > _INT64 for number in numbers):
        raise Unsolved


def _tails(axes: Mapping[str, Axis], unsettled: Mask) -> set[str]:
    """The axes whose classes must start further on."""
    late = set()
    for number, (name, axis) in enumerate(axes.items()):
        # A dimension of length 1 stands for all cells of the axis.
        tail = unsettled if unsettled.shape[number] < max(axis.cells, 2) else np.take(unsettled, range(axis.head, axis.cells), number)
        if axis.period and tail.any() and (unsettled.shape[number] > 1 or axis.cells == 1):
            late.add(name)
    assert late or not unsettled.any(), "every number at a size of the head is settled"
    return late


def _sides(requirement: Requirement) -> tuple[Expression, Expression]:
    return expression_of(requirement.a), expression_of(requirement.b)


class _Growth(NamedTuple):
    """How a number grows along one axis: as a quasi-polynomial with this period and degree.

    `content` divides every coefficient of the polynomials in the number of periods, except the constant one.
    """

    period: int
    degree: int
    content: int


class _Number(NamedTuple):
    """A number: its growth along each axis it depends on, and its value if it depends on none."""

    constant: int
    growths: dict[str, _Growth]


class _Growths(NamedTuple):
    """The algebra that finds the growths of numbers."""

    axes: Mapping[str, Axis]
    substitutions: Mapping[str, Substitution]

    def number(self, value: int) -> _Number:
        return _Number(value, {})

    def symbol(self, atom: Atom) -> _Number:
        axis, factor, constant = self.substitutions[atom.name]
        return _Number(constant, {axis: _Growth(1, 1, abs(factor) * self.axes[axis].step)})

    def add(self, a: _Number, b: _Number) -> _Number:
        return _Number(a.constant + b.constant, _merged(a, b, max))

    def multiply(self, a: _Number, b: _Number) -> _Number:
        for one, other in ((a, b), (b, a)):
            if not one.growths:
                scaled = {name: growth._replace(content=growth.content * abs(one.constant)) for name, growth in other.growths.items()}
                return _Number(one.constant * other.constant, scaled if one.constant else {})
        return _Number(0, _merged(a, b, lambda x, y: x + y))

    def divide(self, a: _Number, divisor: int) -> _Number:
        growths = {}
        for name, (period, degree, content) in a.growths.items():
            # After this many periods the numerator has grown by a multiple of the divisor.
            rounds = divisor // gcd(divisor, content)
            growths[name] = _Growth(period * rounds, degree, content * rounds // divisor)
        return _Number(a.constant // divisor, growths)

    def operation(self, atom: Atom, a: _Number, b: _Number) -> _Number:
        if atom.kind != "floor":
            return _Number(0, _merged(a, b, max))
        if isinstance(divisor := atom.arguments[1], int):
            return self.divide(a, divisor)
        # The grid checks whether the quotient is constant in each class.
        return _Number(0, {name: growth._replace(content=0) for name, growth in _merged(a, b, max).items()})


def _merged(a: _Number, b: _Number, degree: Any) -> dict[str, _Growth]:
    """The growths of a number computed from two; `degree` combines their degrees."""
    growths = dict(a.growths)
    for name, growth in b.growths.items():
        own = growths.get(name)
        if own is None:
            growths[name] = growth
        else:
            period = lcm(own.period, growth.period)
            content = gcd(own.content * (period // own.period), growth.content * (period // growth.period))
            growths[name] = _Growth(period, degree(own.degree, growth.degree), content)
    return growths


def _growths(
    table: PolynomialTable, requirement: Requirement, axes: Mapping[str, Axis], substitutions: Mapping[str, Substitution]
) -> dict[str, _Growth]:
    growths = _Growths(axes, substitutions)
    a, b = fold(table, growths, _sides(requirement))
    whole = growths.add(a, b)
    if requirement.kind == "div" and isinstance(requirement.b, int) and requirement.b:
        whole = growths.add(a, growths.divide(a, abs(requirement.b)))
    return whole.growths


class _Magnitudes:
    """The algebra that bounds absolute values, with the `largest` of the bounds. It raises Unsolved for a number of too many digits."""

    def __init__(self, axes: Mapping[str, Axis], substitutions: Mapping[str, Substitution]) -> None:
        self.axes = axes
        self.substitutions = substitutions
        self.largest = 1

    def _noted(self, value: int) -> int:
        if value.bit_length() > _MOST_BITS:
            raise Unsolved
        self.largest = max(self.largest, value)
        return value

    def number(self, value: int) -> int:
        return self._noted(abs(value))

    def symbol(self, atom: Atom) -> int:
        axis, factor, constant = self.substitutions[atom.name]
        own = self.axes[axis]
        return self._noted(abs(constant) + abs(factor) * (abs(own.low) + own.step * own.points))

    def add(self, a: int, b: int) -> int:
        return self._noted(a + b)

    def multiply(self, a: int, b: int) -> int:
        return self._noted(a * b)

    def operation(self, atom: Atom, a: int, b: int) -> int:
        if atom.kind == "floor":
            return self._noted(max(a + 1, b) if isinstance(atom.arguments[1], int) else a + 1)
        return max(a, b)


class _Grid:
    """The numbers of one requirement at every point of the grid. `unsettled` marks the cells in which they are not settled."""

    def __init__(self, table: PolynomialTable, axes: Mapping[str, Axis], substitutions: Mapping[str, Substitution]) -> None:
        self.table = table
        self.axes = axes
        self.substitutions = substitutions
        self.order = {name: number for number, name in enumerate(axes)}
        self.dtype: Any = np.int64
        self.unsettled = self._cells(False)
        # The cells in which a divisor is 0, so that there is no number.
        self.undefined = self._cells(False)

    def _cells(self, value: bool) -> Mask:
        return np.full([1] * len(self.axes), value)

    def judge(self, requirement: Requirement) -> tuple[Mask, Mask]:
        """The cells in which the requirement holds, and the cells in which that is not settled."""
        sides = _sides(requirement)
        magnitudes = _Magnitudes(self.axes, self.substitutions)
        a_most, b_most = fold(self.table, magnitudes, sides)
        reach = 2 ** sum(axis.degree + 1 for axis in self.axes.values())
        points = prod(axis.points for axis in self.axes.values())
        if 4 * reach * (magnitudes.largest + a_most + b_most) > _INT64:
            self.dtype = object
            if points > _MOST_EXACT:
                raise Unsolved
        work = self.table.work
        a_step = _EXACT_POINTS_A_STEP if self.dtype is object else _POINTS_A_STEP
        work.take(_STEPS_A_REQUIREMENT + (1 + len(self.table.atoms_below(*sides))) * (4 + points // a_step))
        if work.is_done:
            raise Unsolved
        a, b = fold(self.table, self, sides)
        if requirement.kind == "div" and isinstance(requirement.b, int):
            remainder = self._first(a % requirement.b) if requirement.b else np.ones_like(self._first(a))
            holds, fails = _mask(remainder == 0), _mask(remainder != 0)
        else:
            holds, fails = self._relation(requirement.kind, a, b)
        unsettled = self.unsettled | ~(holds | fails | self.undefined)
        return holds & ~self.undefined, unsettled

    def _relation(self, kind: str, a: Numbers, b: Numbers) -> tuple[Mask, Mask]:
        """The cells in which a relation holds for every size, and the cells in which it holds for none."""
        if kind == "eq":
            return self._equal(a, b)
        if kind == "ge":
            differences = self._differences(a - b)
            return _never_negative(differences), _always_positive(-differences)
        if kind == "div":
            _, rest, is_settled = self._quotient(a, b)
            divides = _zero(rest)
            return divides, is_settled & ~divides & (_always_positive(rest) | _always_positive(-rest))
        one = np.ones_like(a[(slice(0, 1),) * a.ndim])
        cases = [self._equal(a, b), self._equal(a, one)] + ([self._equal(b, one)] if kind == "broadcast" else [])
        holds, fails = cases[0]
        for also, neither in cases[1:]:
            holds, fails = holds | also, fails & neither
        return holds, fails

    def _equal(self, a: Numbers, b: Numbers) -> tuple[Mask, Mask]:
        differences = self._differences(a - b)
        return _zero(differences), _always_positive(differences) | _always_positive(-differences)

    def _quotient(self, a: Numbers, b: Numbers) -> tuple[Numbers, Numbers, Mask]:
        """`a // b`; the differences of `a - q*b`, for the first quotient `q` of each class; and whether `q` holds in the whole class."""
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

    # The algebra of `fold`.

    def number(self, value: int) -> Numbers:
        return np.full([1] * len(self.axes), value, self.dtype if -_INT64 < value < _INT64 else object)

    def symbol(self, atom: Atom) -> Numbers:
        axis, factor, constant = self.substitutions[atom.name]
        sizes = constant + factor * self.axes[axis].sizes().astype(self.dtype)
        return sizes.reshape([-1 if number == self.order[axis] else 1 for number in range(len(self.axes))])

    def add(self, a: Numbers, b: Numbers) -> Numbers:
        return a + b

    def multiply(self, a: Numbers, b: Numbers) -> Numbers:
        return a * b

    def operation(self, atom: Atom, a: Numbers, b: Numbers) -> Numbers:
        if atom.kind == "floor":
            if isinstance(divisor := atom.arguments[1], int):
                return a // divisor
            quotient, _, is_settled = self._quotient(a, b)
            self._settle(is_settled)
            return quotient
        if atom.kind == "broadcast":
            is_one, is_other = self._equal(a, self.number(1))
            self._settle(is_one | is_other)
            return np.where(a == 1, b, a)
        differences = self._differences(a - b)
        self._settle(_never_negative(differences) | _never_negative(-differences))
        return np.minimum(a, b) if atom.kind == "min" else np.maximum(a, b)

    def _settle(self, is_settled: Mask) -> None:
        self.unsettled = self.unsettled | ~is_settled

    def _first(self, values: Numbers) -> Numbers:
        for number, axis in enumerate(self.axes.values()):
            if values.shape[number] > 1:
                values = np.take(values, range(axis.cells), number)
        return values

    def _spread(self, cells: Numbers) -> Numbers:
        """The value of each cell, repeated at all points of the cell."""
        for number, axis in enumerate(self.axes.values()):
            if cells.shape[number] > 1 and axis.period:
                repeated = np.concatenate([np.arange(axis.head), axis.head + np.arange(axis.points - axis.head) % axis.period])
                cells = np.take(cells, repeated, number)
        return cells

    def _differences(self, values: Numbers) -> Numbers:
        """Forward differences of every order; each axis has one dimension for the orders and one for the cells."""
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
