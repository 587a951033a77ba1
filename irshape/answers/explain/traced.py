"""Traced numbers: they remember how they were computed, so that running an op's own rule records the formula of its result.

A traced number is an `int`, `float` or `Dim` like any other. A rule computes with it, branches on it and gives its usual result. Besides
its value, a traced number keeps its term.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple, TypeAlias

from irshape.model.model import reached
from irshape.shape.dim import Dim, broadcast_of, dim_max, dim_min
from irshape.shape.range import Range
from irshape.shape.value import Real, float32

_ONE_WORD: Final = re.compile(r"[\w.]+(?:\[[\d,]+\])*")
# The most operands of a sum or product that are written; of more, the middle is left out.
_MOST_OPERANDS: Final = 12
# The most parts of a term. A shared part counts each time it occurs, so a term can grow exponentially.
_MOST_PARTS: Final = 1 << 16

# The sign of a division that rounds up.
_CEIL: Final = "ceil/"

Number: TypeAlias = int | float | Dim
_NUMBERS: Final = (int, float, Dim)


class Leaf:
    """A number that a rule reads: its name, its value, and its `source`, which only the caller interprets."""

    __slots__ = ("name", "source", "value")

    def __init__(self, name: str, value: Number, source: Any = None) -> None:
        self.name = name
        self.value = value
        self.source = source


class TracedOperation:
    """`a sign b`; or `sign(a, b)` if the sign is a word. `size` is the number of its parts."""

    __slots__ = ("a", "b", "sign", "size")

    def __init__(self, sign: str, a: Term, b: Term) -> None:
        self.sign = sign
        self.a = a
        self.b = b
        self.size = 1 + _size(a) + _size(b)


_TERMS: Final = (Leaf, TracedOperation)
Term: TypeAlias = Leaf | TracedOperation | Number
"""How a number was computed: it is read, the result of an operation, or a literal of the rule."""


def _size(term: Term) -> int:
    return term.size if isinstance(term, TracedOperation) else 1


class Traced:
    """The base of traced numbers: `plain` is the number, `term` how it was computed."""

    plain: Number
    term: Leaf | TracedOperation

    def __neg__(self) -> Any:
        return traced(-plain(self), term("-", 0, self.term))

    def __abs__(self) -> Any:
        value: Any = plain(self)
        return self if not isinstance(value, Dim) and value >= 0 else traced(abs(value), term("abs", self.term, 0))

    def __floor__(self) -> Any:
        return traced(math.floor(plain(self)), term("floor", self.term, 0))

    def __ceil__(self) -> Any:
        return traced(math.ceil(plain(self)), term("ceil", self.term, 0))

    def __trunc__(self) -> Any:
        whole = math.trunc(plain(self))
        return traced(whole, self.term if whole == plain(self) else term("trunc", self.term, 0))


def _operator(sign: str, function: Callable[[Any, Any], Any], *, is_reflected: bool) -> Callable[..., Any]:
    def operate(self: Traced, other: Any, *_: Any) -> Any:
        if not isinstance(other, _NUMBERS):
            return NotImplemented
        number, own = (other.plain, other.term) if isinstance(other, Traced) else (other, other)
        if is_reflected:
            return traced(function(number, self.plain), term(sign, own, self.term))
        return traced(function(self.plain, number), term(sign, self.term, own))

    return operate


_OPERATORS: Final = {
    "add": ("+", operator.add),
    "sub": ("-", operator.sub),
    "mul": ("*", operator.mul),
    "truediv": ("/", operator.truediv),
    "floordiv": ("//", operator.floordiv),
    "mod": ("%", operator.mod),
    "pow": ("**", operator.pow),
}
for _name, (_sign, _function) in _OPERATORS.items():
    setattr(Traced, f"__{_name}__", _operator(_sign, _function, is_reflected=False))
    setattr(Traced, f"__r{_name}__", _operator(_sign, _function, is_reflected=True))


class TracedInt(Traced, int):
    """A traced integer."""


class TracedFloat(Traced, float):
    """A traced float."""


class TracedDim(Traced, Dim):
    """A traced size that is unknown."""

    def __init__(self, plain: Dim, term: Leaf | TracedOperation) -> None:
        super().__init__(plain.scope, plain.polynomial, plain.range)
        self.plain = plain
        self.term = term

    def _known_as(self, facts: Range) -> Any:
        """The same formula and term, with a range met with `facts`."""
        return traced(super()._known_as(facts), self.term)

    def _selected(self, operation: str, a: Any, b: Any) -> Any:
        """The size that `operation` selects of two, with its term."""
        return traced(super()._selected(operation, plain(a), plain(b)), term(operation, term_of(a), term_of(b)))


def traced(value: Any, term: Term) -> Any:
    """The value with a term; the plain value if it is no number or the term is a literal. OverflowError if the term is too long."""
    value = plain(value)
    kind = type(value)
    if not isinstance(term, _TERMS):
        return value
    if isinstance(term, TracedOperation) and term.size > _MOST_PARTS:
        raise OverflowError("a term of too many parts")
    if kind is int or kind is float:
        number: Any = TracedInt(value) if kind is int else TracedFloat(value)
    else:
        return TracedDim(value, term) if isinstance(value, Dim) else value
    number.plain = value
    number.term = term
    return number


def plain(value: Any) -> Any:
    """The number itself."""
    return value.plain if isinstance(value, Traced) else value


def term_of(value: Any) -> Term:
    """How a number was computed; the number itself if it is not traced."""
    return value.term if isinstance(value, Traced) else value


def like(values: Iterable[Any], sources: Iterable[Any]) -> tuple[Any, ...]:
    """Values that take the terms of the sources, one for one, unless they are traced already."""
    pairs = zip(values, sources, strict=True)
    return tuple([value if isinstance(value, Traced) else traced(value, term_of(source)) for value, source in pairs])


def term(sign: str, a: Term, b: Term) -> Term:
    """The term of an operation, without literals that change nothing, such as `+ 0` and `* 1`."""
    if sign in ("+", "-") and _is_literal(b, 0):
        return a
    if sign == "+" and _is_literal(a, 0):
        return b
    if sign in ("+", "-") and isinstance(b, int) and isinstance(a, TracedOperation) and a.b == b and {sign, a.sign} == {"+", "-"}:
        return a.a
    if sign in ("*", "/", "//", "**") and _is_literal(b, 1):
        return a
    if sign == "*" and _is_literal(a, 1):
        return b
    if sign == "//":
        dividend = _rounded_up(a, b)
        if dividend is not None:
            return TracedOperation(_CEIL, dividend, b)
    return TracedOperation(sign, a, b)


def _is_literal(term: Term, number: int) -> bool:
    return isinstance(term, int | float) and term == number


def _rounded_up(term: Term, divisor: Term) -> Term | None:
    """The `n` of `n + divisor - 1`, which is how a rule rounds a quotient up; None for another term."""
    if not (isinstance(term, TracedOperation) and term.sign == "-" and _is_literal(term.b, 1)):
        return None
    inner = term.a
    if not isinstance(inner, TracedOperation) or inner.sign != "+":
        return None
    return inner.a if inner.b is divisor or (isinstance(divisor, int) and inner.b == divisor) else None


# Reading terms. Nothing here recurses, because a term is as deep as a rule's loops are long.


def _folded(term: Term, read: Callable[[Leaf | Number], Any], combine: Callable[[str, Any, Any], Any]) -> Any:
    """The result of a fold over a term: `read` gives the result of a leaf, `combine` that of an operation."""
    results: list[Any] = []
    pending: list[tuple[Term, bool]] = [(term, False)]
    while pending:
        part, is_done = pending.pop()
        if not isinstance(part, TracedOperation):
            results.append(read(part))
        elif is_done:
            b, a = results.pop(), results.pop()
            results.append(combine(part.sign, a, b))
        else:
            pending += [(part, True), (part.b, False), (part.a, False)]
    return results[0]


def leaves(term: Term) -> list[Leaf]:
    """The leaves of a term, each once, in the order of the written formula."""
    parts = reached([term], lambda part: (part.b, part.a) if isinstance(part, TracedOperation) else ())
    return [part for part in parts if isinstance(part, Leaf)]


def value(term: Term, number: Callable[[Leaf], Any]) -> Any:
    """The value of a term, where `number` gives the value of a leaf."""
    return _folded(term, lambda part: number(part) if isinstance(part, Leaf) else part, _computed)


_UNARY: Final[dict[str, Callable[[Any], Any]]] = {"floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "abs": abs}
_SELECTIONS: Final[dict[str, Callable[[Any, Any], Any]]] = {"min": dim_min, "max": dim_max, "broadcast": broadcast_of}


def _computed(sign: str, a: Any, b: Any) -> Any:
    if sign == _CEIL:
        return (a + b - 1) // b
    if sign in _UNARY:
        return _UNARY[sign](a)
    if sign in _SELECTIONS:
        return _SELECTIONS[sign](a, b)
    if sign == "/" and (isinstance(a, Dim) or isinstance(b, Dim) or a % b == 0):
        return a // b
    return next(function for own, function in _OPERATORS.values() if own == sign)(a, b)


_SUM, _PRODUCT, _POWER, _ATOM = range(4)
_PRECEDENCE: Final = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "//": _PRODUCT, "%": _PRODUCT, "**": _POWER}


class _Text(NamedTuple):
    """The text of a term, with its precedence; `operands` has the operands of a sum or product from left to right."""

    precedence: int
    operands: list[str]

    def __str__(self) -> str:
        operands = self.operands
        if len(operands) > _MOST_OPERANDS:
            half = _MOST_OPERANDS // 2
            operands = [*operands[:half], f"{operands[half][:2].rstrip()} ...", *operands[-half:]]
        return " ".join(operands)

    def within(self, precedence: int) -> str:
        return f"({self})" if self.precedence < precedence else str(self)


def text(term: Term, name: Callable[[Leaf], str]) -> str:
    """The text of a term, where `name` gives the name of a leaf."""
    return str(_folded(term, lambda part: _text_of(name(part) if isinstance(part, Leaf) else number_text(part)), _combined))


def names(leaf: Leaf) -> str:
    """The name of a leaf."""
    return leaf.name


def numbers(leaf: Leaf) -> str:
    """The value of a leaf, as text."""
    return number_text(leaf.value)


def number_text(value: Any) -> str:
    """The text of a number; a real has as few digits as distinguish it from every other float32."""
    if isinstance(value, Real):
        return f"{value.low:g}..{value.high:g}" if value.size is None else f"{_text_of(str(value.size)).within(_PRODUCT)} / {value.divisor}"
    if not isinstance(value, float) or not math.isfinite(value):
        return str(value)
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    short = next((text for digits in range(1, 10) if float32(float(text := f"{value:.{digits}g}")) == value), repr(value))
    return f"{value:.12f}".rstrip("0") if "e-0" in short else short


def _text_of(part: str) -> _Text:
    """The text of a name or number; a formula or a negative number gets brackets inside another formula."""
    return _Text(_ATOM if _ONE_WORD.fullmatch(part) else _SUM, [part])


def _combined(sign: str, a: _Text, b: _Text) -> _Text:
    precedence = _PRECEDENCE.get(sign)
    if precedence is None:
        if sign == _CEIL:
            return _Text(_ATOM, [f"ceil({a.within(_PRODUCT)} / {b.within(_POWER)})"])
        return _Text(_ATOM, [f"{sign}({a}, {b})" if sign in _SELECTIONS else f"{sign}({a})"])
    if sign == "-" and str(a) == "0":
        return _Text(_SUM, [f"-{b.within(_POWER)}"])
    if precedence == _POWER:
        return _Text(_POWER, [f"{a.within(_ATOM)} ** {b.within(_ATOM)}"])
    # A sum continues a sum and a product a product; a subtrahend or a divisor keeps its brackets.
    left = a.operands if a.precedence == precedence else [a.within(precedence)]
    first, *others = b.operands
    is_alike = sign == "+" or (sign == "*" and all(one.startswith("*") for one in others))
    if b.precedence == precedence and is_alike and not first.startswith("-"):
        return _Text(precedence, [*left, f"{sign} {first}", *others])
    return _Text(precedence, [*left, f"{sign} {b.within(precedence + 1)}"])
