"""A size of a tensor: a plain `int` if it is known, otherwise a `Dim`.

A rule is written once, with `+ - * // %` and the functions of this module; on ints these are ordinary arithmetic. A `Dim` is a
polynomial with a range. It is immutable, so a rule is a function of its arguments. Its range holds for all sizes for which the model
is valid: the result of `merge(a, b)` has the intersection of both ranges.

A question about sizes is answered True, False or None (it depends), never by a guess. A rule that branches on the answer does something
else for other sizes, so `le`, `lt`, `eq` and `bounds` tell `ask` of every question that the ranges leave open: a plan for reshapes holds
only where the answers are the same. `le_unasked`, `eq_unasked` and `bounds_unasked` are for a caller that does the same with any answer,
or that asks the question as a requirement.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from math import inf
from operator import index
from typing import Any, ClassVar, Final, NoReturn, SupportsIndex, TypeAlias, TypeGuard

from irshape.shape.compilation import mypyc_attr
from irshape.shape.limits import DEFAULT, Limits, Work
from irshape.shape.polynomial import NAMED, OTHER, UNBACKED, Atom, Expression, Polynomial, PolynomialTable
from irshape.shape.range import COMPOSE, Bound, Range, capped, exactly, join, meet, modulo, number_text, reduced, subtract

INT64_MAX: Final = 2**63 - 1

# A bound from here on stands for infinity, which OpenVINO divides like a number; no real size is near it.
UNBOUNDED: Final = 2**47


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Scope:
    """The symbols and dims of one inference. Not safe to use from several threads at once.

    `work` is the work that may still be done. `questions`, if it is a list, gathers the questions of rules that the ranges leave open:
    the answer decides what a rule does next.
    """

    # Whether every size is an interval, as OpenVINO knows it.
    has_intervals_only: ClassVar[bool] = False

    def __init__(self, limits: Limits = DEFAULT, work: Work | None = None, polynomials: PolynomialTable | None = None) -> None:
        self.limits = limits
        self.work = work or Work(limits.work)
        self.polynomials = polynomials or PolynomialTable(limits, self.work)
        self._intervals: IntervalScope | None = None
        self._symbols: dict[str, tuple[Range, Size]] = {}
        self._unknowns: dict[tuple[Hashable, Bound, Bound, int, int], Size] = {}
        self._bounded: dict[tuple[Hashable, Bound, Bound], Size] = {}
        self._names: set[str] = set()
        self._dims: dict[tuple[Polynomial, Range], Dim] = {}
        self._results: dict[tuple[str, Size, Size], Size] = {}
        self._differences: dict[tuple[Dim, Dim], Range] = {}
        self.questions: list[Question] | None = None
        self.reported: Any = None  # the ranges under requirements that were asked for, in `shape/reported.py`

    def __len__(self) -> int:
        """The number of different sizes that are not known."""
        return len(self._dims)

    def __bool__(self) -> bool:
        return True

    @property
    def intervals(self) -> IntervalScope:
        """The scope of OpenVINO's view of these sizes, with the same table of formulas."""
        if self._intervals is None:
            self._intervals = IntervalScope(self.limits, self.work, self.polynomials)
        return self._intervals

    def symbol(self, name: str, low: Bound = 0, high: Bound = inf, modulus: int = 1, remainder: int = 0) -> Size:
        """The symbol with this name, the same object for each call; an int if the range has one value.

        Raises ValueError if the range is empty, or differs from the range of an earlier call.
        """
        known = reduced(low, high, modulus, remainder)
        if known is None:
            raise ValueError(f"the range of {name} is empty: {_range_text(Range(low, high, modulus, remainder))}")
        made = self._symbols.get(name)
        if made is None:
            if name in self._names:
                raise ValueError(f"{name} is already the name of a value that is unknown before the model runs; choose another name")
            made = self._symbols[name] = known, self._new_symbol(name, known, NAMED)
            self._names.add(name)
        elif made[0] != known:
            raise ValueError(f"{name} is {_range_text(made[0])} and cannot also be {_range_text(known)}")
        return made[1]

    def named(self, name: str) -> Size | None:
        made = self._symbols.get(name)
        return made and made[1]

    def bounded(self, key: Hashable, low: Bound, high: Bound) -> Size:
        """A value of which OpenVINO knows only these bounds; the same object for the same key and bounds."""
        low, high = capped(low, high)
        made = self._bounded.get((key, low, high))
        if made is None:
            made = self._bounded[key, low, high] = self._new_symbol(f"bounded.{len(self._bounded)}", Range(low, high))
        return made

    def unknown(
        self, key: Hashable, low: Bound = -inf, high: Bound = inf, modulus: int = 1, remainder: int = 0, *, is_unbacked: bool = False
    ) -> Size:
        """An unknown value, the same object for the same key and range; named `d0`, `d1`, ... in the order of creation.

        `is_unbacked` says that the value depends on data, not on shapes alone. Raises ValueError if the range is empty.
        """
        known = _not_empty(low, high, modulus, remainder)
        if known.modulus == 0:
            return known.remainder
        wanted = (key, *known)
        made = self._unknowns.get(wanted)
        if made is None:
            number = len(self._unknowns)
            while (name := f"d{number}") in self._names:
                number += 1
            self._names.add(name)
            made = self._unknowns[wanted] = self._new_symbol(name, known, UNBACKED if is_unbacked else OTHER)
        return made

    def take_names(self, other: Scope) -> None:
        """Give the unknown values the names that the values of the same keys have in another scope."""
        known = {key: size.polynomial for (key, *_), size in other._unknowns.items() if isinstance(size, Dim)}
        for (key, *_), size in self._unknowns.items():
            own = self.polynomials.only_atom(size.polynomial) if isinstance(size, Dim) else None
            same = other.polynomials.only_atom(known[key]) if key in known else None
            if own is not None and same is not None and own.name != same.name:
                self.polynomials.rename(own.index, same.name)

    def call(self, names: Mapping[Dim, str]) -> None:
        """Give symbols, and unknown values, these names, and number the other unknown values anew."""
        self._unknowns = {key: size for key, size in self._unknowns.items() if size not in names}
        numbered = {f"d{number}": size for number, size in enumerate(self._unknowns.values())}
        self._symbols = {name: made for name, made in self._symbols.items() if made[1] not in names}
        self._symbols.update([(name, (size.range, size)) for size, name in names.items()])
        self._names = {*self._symbols, *numbered}
        for name, size in (*numbered.items(), *[(name, size) for size, name in names.items()]):
            atom = self.polynomials.only_atom(expression_of(size))
            if atom is not None:
                self.polynomials.rename(atom.index, name)

    def interval(self, key: Hashable, size: Dim) -> Size:
        """A value of which the bounds of a size are known, and not its formula; the same object for the same key and bounds."""
        low, high, _, _ = size.range
        return self.unknown(("bounds", key), low, high)

    def hull(self, key: Hashable, *sizes: Size) -> Size:
        """A value that is one of `sizes`, for example of the branches of an If; the size itself if all have the same formula."""
        first, *others = sizes
        known = _range(first)
        for other in others:
            known = join(known, _range(other))
        if all(expression_of(other) is expression_of(first) or other == first for other in others):
            return self.dim(expression_of(first), known)
        return self.unknown(key, *known, is_unbacked=True)

    def dim(self, polynomial: Expression, known: Range) -> Size:
        """The dim with this polynomial and the intersection of its range with `known`; an int if one value is left."""
        if isinstance(polynomial, int):
            return polynomial
        # An empty intersection means that no size is valid, so any range is right; the polynomial's own is the most readable.
        known = meet(polynomial.range, known) or polynomial.range
        if known.modulus == 0:
            return known.remainder
        made = self._dims.get((polynomial, known))
        if made is None:
            made = self._dims[polynomial, known] = Dim(self, polynomial, known)
        return made

    def _new_symbol(self, name: str, known: Range, origin: int = OTHER) -> Size:
        if known.modulus == 0:
            return known.remainder
        return self.dim(self.polynomials.symbol(name, known, origin), known)

    def apply(self, operation: str, a: Size, b: Size) -> Size:
        """The memoised result of an operation, of whose operands at least one is a Dim."""
        key = (operation, a, b)
        result = self._results.get(key)
        if result is None:
            result = self._results[key] = self.dim(
                self._expression_of(operation, expression_of(a), expression_of(b)), _RANGES[operation](_range(a), _range(b))
            )
        return result

    def difference(self, a: Dim, b: Dim) -> Range:
        """The memoised range of `a - b`, found without making a Dim."""
        known = self._differences.get((a, b))
        if known is None:
            polynomial = self.polynomials.add(a.polynomial, b.polynomial, -1)
            if isinstance(polynomial, int):
                known = exactly(polynomial)
            else:
                known = meet(polynomial.range, subtract(a.range, b.range)) or polynomial.range
            self._differences[a, b] = known
        return known

    def _expression_of(self, operation: str, a: Expression, b: Expression) -> Expression:
        polynomials = self.polynomials
        if operation == "subtract":
            return polynomials.add(a, b, -1)
        if operation == "modulo":
            quotient = polynomials.floor(a, b)
            return polynomials.add(a, quotient, -b) if isinstance(b, int) else polynomials.add(a, polynomials.multiply(b, quotient), -1)
        return polynomials.operation(operation, a, b)


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class IntervalScope(Scope):
    """A scope of sizes as OpenVINO knows them: a result has the interval that the operands' intervals give, and no formula.

    So `6*B // (3*B)` is `0..`, and an even size from 5 to 8 is `6..8`, not known to be even. Sizes with the same interval are one object,
    and yet not known to be equal.
    """

    has_intervals_only = True

    def interval(self, key: Hashable, size: Dim) -> Size:
        return self._between(size.range.low, size.range.high, origins(size))

    def bounded(self, key: Hashable, low: Bound, high: Bound) -> Size:
        return self._between(*capped(low, high))

    def unknown(
        self, key: Hashable, low: Bound = -inf, high: Bound = inf, modulus: int = 1, remainder: int = 0, *, is_unbacked: bool = False
    ) -> Size:
        known = _not_empty(low, high, modulus, remainder)
        return self._between(known.low, known.high, UNBACKED if is_unbacked else OTHER)

    def dim(self, polynomial: Expression, known: Range) -> Size:
        if isinstance(polynomial, int):
            return polynomial
        low, high, _, _ = meet(polynomial.range, known) or polynomial.range
        return self._between(low, high, self.polynomials.origins(polynomial))

    def apply(self, operation: str, a: Size, b: Size) -> Size:
        key = (operation, a, b)
        result = self._results.get(key)
        if result is None:
            low, high, _, _ = _RANGES[operation](_range(a), _range(b))
            result = self._results[key] = self._between(low, high, origins(a) | origins(b))
        return result

    def difference(self, a: Dim, b: Dim) -> Range:
        return subtract(a.range, b.range)

    def _between(self, low: Bound, high: Bound, origin: int = OTHER) -> Size:
        origin &= UNBACKED
        made = self._bounded.get((origin, low, high))
        if made is None:
            made = self._bounded[origin, low, high] = self._new_symbol(_interval_text(low, high), Range(low, high), origin or OTHER)
        return made

    def _new_symbol(self, name: str, known: Range, origin: int = OTHER) -> Size:
        low, high, _, _ = known
        if low == high:
            return int(low)
        polynomial = self.polynomials.symbol(name, Range(low, high), origin)
        assert isinstance(polynomial, Polynomial)
        return Dim(self, polynomial, polynomial.range)


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Dim:
    """A size whose value is not known. It is added, multiplied and divided like an int, and `str` gives its formula.

    `min` and `max` bound the value; `range` also has its `modulus` and `remainder`. `polynomial` is the formula in normal form and
    `scope` the table of the inference that owns it. `==` is identity: in one inference, equal formulas with equal ranges are one object.
    Compare the sizes of two inferences by their text.
    """

    __slots__ = ("polynomial", "range", "scope")

    # Makes the operators of numpy integers defer to those of this class.
    __array_ufunc__: ClassVar[None] = None
    # Compiled, a class that defines an order would have no hash.
    __hash__: ClassVar[Callable[[Dim], int]] = object.__hash__

    def __init__(self, scope: Scope, polynomial: Polynomial | None = None, known: Range | None = None, min: Any = 0, max: Any = 0) -> None:
        if polynomial is None or known is None:  # `Dim("N", min=1, max=8)`, as torch.export has it
            told = 'name sizes in the shapes of inputs, as in inputs={"x": "[N,3,H,W]"}, and give ranges by symbols={"N": "1..8"}'
            raise TypeError(f"an inference makes the Dims: {told}")
        self.scope = scope
        self.polynomial = polynomial
        self.range = known

    @property
    def min(self) -> Bound:
        """The least value."""
        return self.range.low

    @property
    def max(self) -> Bound:
        """The largest value; infinity if there is none."""
        return self.range.high

    def evaluate(self, sizes: Mapping[str, int] | None = None, /, **named: int) -> int:
        """The number for these values of its symbols, `size.evaluate(H=224)`.

        Raises `KeyError` if one is missing, `ZeroDivisionError` and `OverflowError`.
        """
        values = {**(sizes or {}), **named}
        if missing := sorted([name for name in symbols(self) if name not in values]):
            told = "; data decide it, so only a run tells" if origins(self) & UNBACKED else ""
            raise KeyError(f"no number for {', '.join(missing)} of {self}{told}")
        return evaluate(self, values)

    def _known_as(self, known: Range) -> Size:
        """The dim with the same formula and the intersection of both ranges; an int if one value is left."""
        return self.scope.dim(self.polynomial, known)

    def _selected(self, operation: str, a: Size, b: Size) -> Size:
        """`min`, `max` or `broadcast` of two sizes, of which this is one."""
        return self.scope.apply(operation, a, b)

    def __add__(self, other: SupportsIndex | Dim) -> Size:
        if not isinstance(other, (int, Dim)):
            other = index(other)
        return self.scope.apply("add", self, other) if other != 0 else self

    def __radd__(self, other: SupportsIndex) -> Size:
        return self + other

    def __sub__(self, other: SupportsIndex | Dim) -> Size:
        if not isinstance(other, (int, Dim)):
            other = index(other)
        return self.scope.apply("subtract", self, other) if other != 0 else self

    def __rsub__(self, other: SupportsIndex) -> Size:
        return self.scope.apply("subtract", index(other), self)

    def __mul__(self, other: SupportsIndex | Dim) -> Size:
        if not isinstance(other, (int, Dim)):
            other = index(other)
        return self.scope.apply("multiply", self, other) if other != 1 else self

    def __rmul__(self, other: SupportsIndex) -> Size:
        return self * other

    def __floordiv__(self, other: SupportsIndex | Dim) -> Size:
        if not isinstance(other, (int, Dim)):
            other = index(other)
        if isinstance(other, int) and other < 0:
            return self.scope.apply("floor", -self, -other)
        return self.scope.apply("floor", self, other) if other != 1 else self

    def __rfloordiv__(self, other: SupportsIndex) -> Size:
        return self.scope.apply("floor", index(other), self)

    def __mod__(self, other: SupportsIndex | Dim) -> Size:
        if not isinstance(other, (int, Dim)):
            other = index(other)
        if isinstance(other, int) and other < 0:
            return -(-self % -other)
        return self.scope.apply("modulo", self, other)

    def __rmod__(self, other: SupportsIndex) -> Size:
        return self.scope.apply("modulo", index(other), self)

    def __neg__(self) -> Size:
        return self.scope.apply("multiply", self, -1)

    def __bool__(self) -> bool:
        raise TypeError(f"{self} is not known, so it has no truth value: compare its bounds `min` and `max`; a rule asks eq or le")

    def __lt__(self, other: object) -> NoReturn:
        self._has_no_order()

    def __le__(self, other: object) -> NoReturn:
        self._has_no_order()

    def __gt__(self, other: object) -> NoReturn:
        self._has_no_order()

    def __ge__(self, other: object) -> NoReturn:
        self._has_no_order()

    def _has_no_order(self) -> NoReturn:
        raise TypeError(
            f"{self} is not known, so it has no order: compare its bounds `min` and `max`; a rule asks le, lt, dim_min or dim_max"
        )

    def __str__(self) -> str:
        return str(self.polynomial)

    def __repr__(self) -> str:
        return f"Dim({self}: {_range_text(self.range)})"


# Whether this is a compiled wheel. The options `always_true` in tools/mypyc.toml and `always_false` in pyproject.toml tell mypyc and mypy.
IS_COMPILED = not __file__.endswith((".py", ".pyc"))

if IS_COMPILED:
    # Compiled code makes a machine integer of what it knows to be an int. A size may be an int of another class, which remembers where it
    # was read (`answers/explain/traced.py`), and must stay the object that it is.
    Size: TypeAlias = Any
else:
    Size: TypeAlias = int | Dim
"""The size of an axis: a number, or a formula where it is not known."""

Question: TypeAlias = tuple[str, Size, Size]
"""A question about two sizes: `le`, `lt`, `eq`, the `kind` of a requirement, `sign` of the first, or whether it is `known`."""

_RANGES: Final[dict[str, Callable[[Range, Range], Range]]] = {**COMPOSE, "subtract": subtract, "modulo": modulo}


def _range(size: Size) -> Range:
    return size.range if isinstance(size, Dim) else exactly(size)


def expression_of(size: Size) -> Expression:
    """The formula of a size."""
    return size.polynomial if isinstance(size, Dim) else size


def _not_empty(low: Bound, high: Bound, modulus: int, remainder: int) -> Range:
    known = reduced(low, high, modulus, remainder)
    if known is None:
        raise ValueError(f"the range of an unknown value is empty: {_range_text(Range(low, high, modulus, remainder))}")
    return known


def _interval_text(low: Bound, high: Bound) -> str:
    return f"{'' if low == -inf else low}..{'' if high == inf else high}"


def _range_text(known: Range) -> str:
    low, high, modulus, remainder = known
    interval = _interval_text(low, high)
    return interval if modulus == 1 else f"{interval} % {modulus} == {remainder}"


def bounds(size: Size) -> tuple[Bound, Bound]:
    """The smallest and the largest value: ints, or infinities."""
    if not isinstance(size, Dim):
        return size, size
    low, high, _, _ = size.range
    if low <= 0 and size.scope.questions is not None:
        ask("sign", size, 0)
    return low, high


def bounds_unasked(size: Size) -> tuple[Bound, Bound]:
    """The bounds, for a caller that does the same whatever the sign is."""
    if type(size) is int:
        return size, size
    known = _range(size)
    return known.low, known.high


def is_within(inner: Size, outer: Size) -> bool:
    """Whether the bounds of a size lie within those of another."""
    (low, high), (least, most) = bounds(inner), bounds(outer)
    return least <= low and high <= most


def ask(kind: str, a: Size, b: Size) -> None:
    """Tell whoever gathers the questions of rules that the ranges leave this one open. Nobody else records a question."""
    size = a if isinstance(a, Dim) else b
    if isinstance(size, Dim) and size.scope.questions is not None:  # numbers leave nothing open
        size.scope.questions.append((kind, a, b))


def _told(kind: str, holds: bool | None, a: Size, b: Size) -> bool | None:
    """The answer to a question, of which `ask` is told if the ranges leave it open."""
    if holds is None:
        ask(kind, a, b)
    return holds


def congruence(size: Size) -> tuple[int, int]:
    """`(modulus, remainder)` of a size; modulus 0 means that the size is the remainder."""
    known = _range(size)
    return known.modulus, known.remainder


def le(a: Size, b: Size) -> bool | None:
    """Whether `a <= b`."""
    return _told("le", le_unasked(a, b), a, b)


def lt(a: Size, b: Size) -> bool | None:
    """Whether `a < b`."""
    return _told("lt", lt_unasked(a, b), a, b)


def eq(a: Size, b: Size) -> bool | None:
    """Whether `a == b`."""
    return _told("eq", eq_unasked(a, b), a, b)


def le_unasked(a: Size, b: Size) -> bool | None:
    """Whether `a <= b`; for a caller that does the same with any answer, or asks it as a requirement."""
    if type(a) is int and type(b) is int:
        return a <= b
    if isinstance(a, int) or isinstance(b, int):  # the formula of the difference tells no more than the bounds
        (low, high), (least, most) = bounds_unasked(a), bounds_unasked(b)
        return True if high <= least else False if low > most else None
    low, high, _, _ = _difference(b, a)
    return True if low >= 0 else False if high < 0 else None


def lt_unasked(a: Size, b: Size) -> bool | None:
    """Whether `a < b`; for a caller that does the same with any answer."""
    if type(a) is int and type(b) is int:
        return a < b
    if isinstance(a, int) or isinstance(b, int):
        (low, high), (least, most) = bounds_unasked(a), bounds_unasked(b)
        return True if high < least else False if low >= most else None
    low, high, _, _ = _difference(b, a)
    return True if low > 0 else False if high <= 0 else None


def eq_unasked(a: Size, b: Size) -> bool | None:
    """Whether `a == b`; for a caller that does the same with any answer, or asks it as a requirement."""
    if type(a) is int and type(b) is int:
        return a == b
    if isinstance(a, Dim) and isinstance(b, int):
        return _may_be(a.range, b)
    if isinstance(a, int) and isinstance(b, Dim):
        return _may_be(b.range, a)
    low, high, _, remainder = _difference(a, b)
    return False if low > 0 or high < 0 or remainder else None if low < high else True


def is_multiple(a: Size, divisor: Size) -> bool:
    """Whether `a` is a multiple of `divisor` for all sizes."""
    if isinstance(a, Dim) and isinstance(divisor, int) and divisor > 0:
        known = a.range
        return known.modulus % divisor == 0 and known.remainder % divisor == 0
    rest = a % divisor
    return isinstance(rest, int) and rest == 0


def _difference(a: Size, b: Size) -> Range:
    return a.scope.difference(a, b) if isinstance(a, Dim) and isinstance(b, Dim) else _range(a - b)


def _may_be(known: Range, number: int) -> bool | None:
    """Whether a Dim of this range is this number: None or False, because a Dim has more than one value."""
    low, high, modulus, remainder = known
    return None if low <= number <= high and (number - remainder) % modulus == 0 else False


def dim_min(a: Size, b: Size) -> Size:
    """The smaller of two sizes."""
    if type(a) is int and type(b) is int:
        return min(a, b)
    return a if le_unasked(a, b) else b if le_unasked(b, a) else selected("min", a, b)


def dim_max(a: Size, b: Size) -> Size:
    """The larger of two sizes."""
    if type(a) is int and type(b) is int:
        return max(a, b)
    return a if le_unasked(b, a) else b if le_unasked(a, b) else selected("max", a, b)


def broadcast_of(a: Size, b: Size) -> Size:
    """The size that two compatible sizes broadcast to: `b` if `a` is 1, else `a`."""
    if type(a) is int and type(b) is int:
        return b if a == 1 else a
    return selected("broadcast", a, b)


def selected(operation: str, a: Size, b: Size) -> Size:
    """The `min`, `max` or `broadcast` of two sizes, one of which is no number, where nothing tells which of them it is."""
    a = a if isinstance(a, (int, Dim)) else index(a)
    b = b if isinstance(b, (int, Dim)) else index(b)
    unknown = a if isinstance(a, Dim) else b
    assert isinstance(unknown, Dim)
    return unknown._selected(operation, a, b)


def ceil_div(a: Size, b: Size) -> Size:
    """`a / b` rounded up; `b` is positive."""
    return a if type(b) is int and b == 1 else (a + b - 1) // b


def dim_of(scope: Scope, formula: Atom | Expression) -> Size:
    """The size with this formula and the range of the formula."""
    polynomial = scope.polynomials.polynomial(0, {(formula.index,): 1}) if isinstance(formula, Atom) else formula
    return polynomial if isinstance(polynomial, int) else scope.dim(polynomial, polynomial.range)


def product(sizes: Iterable[Size]) -> Size:
    """The product of the sizes, 1 for none. Adjacent ints are multiplied first, so that fewer formulas are made."""
    total: Size = 1
    number = 1
    for size in sizes:
        if type(size) is int:
            number *= size
        else:
            total, number = total * number * size, 1
    return total * number


def narrow(size: Size, low: Size | Bound = -inf, high: Size | Bound = inf, modulus: int = 1, remainder: int = 0) -> Size:
    """The same size with its range narrowed to `low..high` and a congruence. For a bound that is a Dim, the Dim's own bound counts.

    A range that excludes every value of the size is ignored, because then no size is valid.
    """
    if not isinstance(size, Dim):
        return size
    lowest = low.range.low if isinstance(low, Dim) else low
    highest = high.range.high if isinstance(high, Dim) else high
    known = size.range
    if modulus == 1 and lowest <= known.low and known.high <= highest:
        return size
    wanted = reduced(lowest, highest, modulus, remainder)
    met = wanted and meet(known, wanted)
    return size._known_as(met) if met else size


def evaluate(size: Size, values: Mapping[str, int]) -> int:
    """The value of `size` for the given values of its symbols; KeyError if one is missing."""
    return size.scope.polynomials.evaluate(size.polynomial, values) if isinstance(size, Dim) else size


def origins(size: Size) -> int:
    """The origins of the symbols in `size`: a bit set of `NAMED`, `UNBACKED` and `OTHER`."""
    return size.scope.polynomials.origins(size.polynomial) if isinstance(size, Dim) else 0


def symbols(size: Size) -> frozenset[str]:
    """The names of the symbols and unknown values that `size` is computed from, as far as its scope knows."""
    if not isinstance(size, Dim) or size.scope.has_intervals_only:
        return frozenset()
    return size.scope.polynomials.names(size.polynomial)


def is_filled(size: Size) -> bool:
    """Whether `size` is at least 1 if every symbol of range `0..` (no upper bound, so 0 is not the user's choice) is at least 1."""
    if not isinstance(size, Dim):
        return size > 0
    if bounds(size)[0] > 0:
        return True
    polynomials = size.scope.polynomials
    filled = {
        index: meet(known, Range(1, inf)) or known
        for index in polynomials.atoms_below(size.polynomial)
        if polynomials.atoms[index].kind == "symbol" and (known := polynomials.ranges[index]).low == 0 and known.high == inf
    }
    return polynomials.bound_given(size.polynomial, filled).low > 0


def format_size(size: Size, bounds: Callable[[Size], tuple[Bound, Bound]] = bounds) -> str:
    """OpenVINO's notation of a size: `5`, `?`, `1..8`, `..8`, `3..`."""
    return number_text(size) if type(size) is int else format_interval(*bounds(size))


def format_interval(low: Bound, high: Bound) -> str:
    """OpenVINO's notation of the sizes from `low` to `high`."""
    low, high = max(low, 0), max(high, 0)
    if low == high:
        return str(low)
    high_text = str(high) if high < UNBOUNDED else ""
    return f"{low or ''}..{high_text}" if low or high_text else "?"


def formula_text(size: Size | Polynomial) -> str:
    """The formula of a size as a Python expression."""
    return number_text(size) if isinstance(size, int) else str(size)


# A longer formula says little in a message.
_LONGEST: Final = 60


def brief_text(size: Size) -> str:
    """The formula of a size in a message: of a long one only the symbols, `f(H,W)`."""
    text = formula_text(size)
    return text if len(text) <= _LONGEST else f"f({','.join(sorted(symbols(size)))})"


def is_known(size: Size) -> bool:
    """Whether a size is a plain number."""
    if isinstance(size, Dim):
        ask("known", size, 0)
        return False
    return True


def are_known(sizes: Iterable[Any]) -> TypeGuard[tuple[int, ...]]:
    """Whether every size is a plain number."""
    for size in sizes:
        if isinstance(size, Dim):
            ask("known", size, 0)
            return False
    return True
