"""Numbers that remember how they were computed, so that an op's own rule writes the formula of what it gives.

A traced number is an `int`, `float` or `Dim` like any other: a rule computes with it, branches on it and gives the same answer as
ever. Beside its value it keeps the term that gave it.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

from irshape.shape.dim import Dim, broadcast_of, dim_max, dim_min
from irshape.shape.range import Range
from irshape.shape.scaling import float32
from irshape.shape.value import Real

_ONE_WORD: Final = re.compile(r"[\w.]+(?:\[[\d,]+\])*")
# Operands of a sum or product that are written out; of a longer one the middle is left out.
_MOST_OPERANDS: Final = 12
# A rule whose terms have more parts is not followed: what it computes twice is counted twice.
_MOST_PARTS: Final = 1 << 16

# A quotient rounded up.
_CEIL: Final = "ceil/"

Number: TypeAlias = int | float | Dim


class Leaf:
    """A number that a rule reads: what it is called, its value, and where it stands (which is the caller's)."""

    __slots__ = ("name", "source", "value")

    def __init__(self, name: str, value: Number, source: Any = None) -> None:
        self.name = name
        self.value = value
        self.source = source


class Operation:
    """`a sign b`; or `sign(a, b)` where the sign is a word. `size` is how many parts it has."""

    __slots__ = ("a", "b", "sign", "size")

    def __init__(self, sign: str, a: Term, b: Term) -> None:
        self.sign = sign
        self.a = a
        self.b = b
        self.size = 1 + _size(a) + _size(b)


Term: TypeAlias = Leaf | Operation | Number
"""How a number came about: it was read, computed, or stands in the rule itself."""


def _size(term: Term) -> int:
    return term.size if isinstance(term, Operation) else 1


class Traced:
    """What traced numbers share: `plain` is the number, `term` how it was computed."""

    plain: Number
    term: Leaf | Operation

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


def _forward(sign: str, function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def operate(self: Traced, other: Any, *_: Any) -> Any:
        if not isinstance(other, int | float | Dim):
            return NotImplemented
        return traced(function(plain(self), plain(other)), term(sign, self.term, term_of(other)))

    return operate


def _backward(sign: str, function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def operate(self: Traced, other: Any, *_: Any) -> Any:
        if not isinstance(other, int | float | Dim):
            return NotImplemented
        return traced(function(plain(other), plain(self)), term(sign, term_of(other), self.term))

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
    setattr(Traced, f"__{_name}__", _forward(_sign, _function))
    setattr(Traced, f"__r{_name}__", _backward(_sign, _function))


class TracedInt(Traced, int):
    """A known whole number."""


class TracedFloat(Traced, float):
    """A known real number."""


class TracedDim(Traced, Dim):
    """A size that is not known."""

    def __init__(self, plain: Dim, term: Leaf | Operation) -> None:
        super().__init__(plain.scope, plain.polynomial, plain.range)
        self.plain = plain
        self.term = term

    def known_as(self, facts: Range) -> Any:
        """The same formula with these facts, too, and the same term."""
        return traced(super().known_as(facts), self.term)

    def selected(self, operation: str, a: Any, b: Any) -> Any:
        """Of two sizes, with its term."""
        return traced(super().selected(operation, plain(a), plain(b)), term(operation, term_of(a), term_of(b)))


def traced(value: Any, term: Term) -> Any:
    """A number with its term; as it is, if it is no number or the term says nothing. OverflowError if that is too long."""
    value = plain(value)
    if not isinstance(term, Leaf | Operation) or isinstance(value, bool):
        return value
    if _size(term) > _MOST_PARTS:
        raise OverflowError("a term of too many parts")
    if isinstance(value, Dim):
        return TracedDim(value, term)
    if not isinstance(value, int | float):
        return value
    number = TracedInt(value) if isinstance(value, int) else TracedFloat(value)
    number.plain = value
    number.term = term
    return number


def plain(value: Any) -> Any:
    """The number itself."""
    return value.plain if isinstance(value, Traced) else value


def term_of(value: Any) -> Term:
    """How a number was computed; the number itself where that is not known."""
    return value.term if isinstance(value, Traced) else value


def like(values: Iterable[Any], sources: Iterable[Any]) -> tuple[Any, ...]:
    """Values that came one by one of others, whose terms they take if they have none."""
    pairs = zip(values, sources, strict=True)
    return tuple([value if isinstance(value, Traced) else traced(value, term_of(source)) for value, source in pairs])


def term(sign: str, a: Term, b: Term) -> Term:
    """The term of an operation, without numbers of the rule that change nothing."""
    if sign in ("+", "-") and _is_literal(b, 0):
        return a
    if sign == "+" and _is_literal(a, 0):
        return b
    if sign in ("+", "-") and isinstance(b, int) and isinstance(a, Operation) and a.b == b and {sign, a.sign} == {"+", "-"}:
        return a.a
    if sign in ("*", "/", "//", "**") and _is_literal(b, 1):
        return a
    if sign == "*" and _is_literal(a, 1):
        return b
    if sign == "//":
        dividend = _rounded_up(a, b)
        if dividend is not None:
            return Operation(_CEIL, dividend, b)
    return Operation(sign, a, b)


def _is_literal(term: Term, number: int) -> bool:
    return isinstance(term, int | float) and term == number


def _rounded_up(term: Term, divisor: Term) -> Term | None:
    """The `n` of `n + divisor - 1`, by which rules round up."""
    if not (isinstance(term, Operation) and term.sign == "-" and _is_literal(term.b, 1)):
        return None
    inner = term.a
    if isinstance(inner, Operation) and inner.sign == "+" and (inner.b is divisor or (isinstance(divisor, int) and inner.b == divisor)):
        return inner.a
    return None


# Reading terms. None of this recurses: a term is as deep as a rule's loops are long.


def _folded(term: Term, read: Callable[[Leaf | Number], Any], join: Callable[[str, Any, Any], Any]) -> Any:
    """What a term comes to when `read` says what its leaves and `join` what its operations are."""
    results: list[Any] = []
    pending: list[tuple[Term, bool]] = [(term, False)]
    while pending:
        part, is_done = pending.pop()
        if not isinstance(part, Operation):
            results.append(read(part))
        elif is_done:
            b, a = results.pop(), results.pop()
            results.append(join(part.sign, a, b))
        else:
            pending += [(part, True), (part.b, False), (part.a, False)]
    return results[0]


def leaves(term: Term) -> list[Leaf]:
    """What a term reads, each once, in the order in which it is written."""
    found: dict[int, Leaf] = {}
    _folded(term, lambda part: found.setdefault(id(part), part) if isinstance(part, Leaf) else None, lambda *_: None)
    return list(found.values())


def value(term: Term, number: Callable[[Leaf], Any]) -> Any:
    """The number a term is, `number` saying what its leaves are."""
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


class _Text:
    """A text and how firmly it holds together; its operands, where it is a sum or product that goes on from left to right."""

    __slots__ = ("operands", "precedence")

    def __init__(self, precedence: int, operands: list[str]) -> None:
        self.precedence = precedence
        self.operands = operands

    def __str__(self) -> str:
        operands = self.operands
        if len(operands) > _MOST_OPERANDS:
            half = _MOST_OPERANDS // 2
            operands = [*operands[:half], f"{operands[half][:2].rstrip()} ...", *operands[-half:]]
        return " ".join(operands)

    def within(self, precedence: int) -> str:
        return f"({self})" if self.precedence < precedence else str(self)


def text(term: Term, name: Callable[[Leaf], str]) -> str:
    """The formula as it is read, `name` saying what its leaves are called."""
    return str(_folded(term, lambda part: _text_of(name(part) if isinstance(part, Leaf) else number_text(part)), _joined))


def names(leaf: Leaf) -> str:
    """A leaf by its name."""
    return leaf.name


def numbers(leaf: Leaf) -> str:
    """A leaf as its value."""
    return number_text(leaf.value)


def number_text(value: Any) -> str:
    """A number as it is shown; a real one with as few digits as tell it from the other float32."""
    if isinstance(value, Real):
        return f"{value.low:g}..{value.high:g}" if value.size is None else f"{_text_of(str(value.size)).within(_PRODUCT)} / {value.divisor}"
    if not isinstance(value, float) or not math.isfinite(value):
        return str(value)
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    short = next((text for digits in range(1, 10) if float32(float(text := f"{value:.{digits}g}")) == value), repr(value))
    return f"{value:.12f}".rstrip("0") if "e-0" in short else short


def _text_of(part: str) -> _Text:
    """A name or number; a formula or a sign needs brackets."""
    return _Text(_ATOM if _ONE_WORD.fullmatch(part) else _SUM, [part])


def _joined(sign: str, a: _Text, b: _Text) -> _Text:
    precedence = _PRECEDENCE.get(sign)
    if precedence is None:
        if sign == _CEIL:
            return _Text(_ATOM, [f"ceil({a.within(_PRODUCT)} / {b.within(_POWER)})"])
        return _Text(_ATOM, [f"{sign}({a}, {b})" if sign in _SELECTIONS else f"{sign}({a})"])
    if sign == "-" and str(a) == "0":
        return _Text(_SUM, [f"-{b.within(_POWER)}"])
    if precedence == _POWER:
        return _Text(_POWER, [f"{a.within(_ATOM)} ** {b.within(_ATOM)}"])
    # Sums and products of the same kind go on; what is subtracted or divided by stays together.
    goes_on = a.precedence == precedence
    left = a.operands if goes_on else [a.within(precedence)]
    if (
        b.precedence == precedence
        and sign in ("+", "*")
        and not b.operands[0].startswith("-")
        and (sign == "+" or all(one.startswith("*") for one in b.operands[1:]))
    ):
        first, *others = b.operands
        return _Text(precedence, [*left, f"{sign} {first}", *others])
    return _Text(precedence, [*left, f"{sign} {b.within(precedence + 1)}"])
