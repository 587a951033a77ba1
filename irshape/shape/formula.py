"""Formulas in a user's notation, `P + S`, `2*(H//32)`, `min(S, 64)`: parsed to plain data, written, and computed.

The operators are those of Python on integers, `+ - * // %`, and the functions `min`, `max` and `ceil_div`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from operator import add, floordiv, mod, mul, sub
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from irshape.shape.dim import Size, ceil_div, dim_max, dim_min

# The most operations in a formula, and the most brackets around a part of it: formulas are read and written by recursion.
_MOST_OPERATIONS: Final = 64
_MOST_BRACKETS: Final = 32

_TOKEN: Final = re.compile(r"(?a)\s*(?:(\d+)|([A-Za-z_]\w*)|(//|[-+*%(),]))")
_LEVELS: Final = ({"+", "-"}, {"*", "//", "%"})
_LEVEL: Final = {operator: level for level, operators in enumerate(_LEVELS) for operator in operators}
_FUNCTIONS: Final = ("min", "max", "ceil_div")
_LARGEST_NUMBER: Final = 19


class Operation(NamedTuple):
    """An operation of a formula: `+`, `-`, `*`, `//`, `%`, `min`, `max` or `ceil_div` of two formulas."""

    operator: str
    left: Formula
    right: Formula


Formula: TypeAlias = "int | str | Operation"
"""A number, the name of a symbol, or an operation."""

_Value = TypeVar("_Value")


class FormulaSyntaxError(ValueError):
    """A text that is not a formula; `position` is the character where the fault is, counted from 0."""

    def __init__(self, position: int, reason: str) -> None:
        super().__init__(reason)
        self.position: Final = position
        self.reason: Final = reason


def parse_formula(text: str) -> Formula:
    """The formula that a text holds. Raises FormulaSyntaxError."""
    return _Parser(text).whole()


def symbols_of(formula: Formula) -> Iterator[str]:
    """The names of the symbols in a formula, in the order in which they stand there."""
    if isinstance(formula, str):
        yield formula
    elif isinstance(formula, Operation):
        yield from symbols_of(formula.left)
        yield from symbols_of(formula.right)


def text_of(formula: Formula) -> str:
    """The text of a formula, with the brackets that it needs."""
    if not isinstance(formula, Operation):
        return str(formula)
    operator, left, right = formula
    if operator in _FUNCTIONS:
        return f"{operator}({text_of(left)}, {text_of(right)})"
    level = _LEVEL[operator]
    first = text_of(left) if _level(left) >= level else f"({text_of(left)})"
    second = text_of(right) if _level(right) > level else f"({text_of(right)})"
    return f"{first}{operator}{second}" if operator in ("*", "//") else f"{first} {operator} {second}"


def size_by(formula: Formula, size: Callable[[str], Size]) -> Size:
    """The value of a formula, given the size of each symbol. Raises ZeroDivisionError."""
    value: Size = _computed(formula, size, _SIZES)
    return value


def number_by(formula: Formula, values: Mapping[str, int]) -> int:
    """The value of a formula for numbers. Raises ZeroDivisionError, and KeyError for a symbol without a value."""
    value: int = _computed(formula, values.__getitem__, _NUMBERS)
    return value


_ARITHMETIC: Final = {"+": add, "-": sub, "*": mul, "//": floordiv, "%": mod}
_SIZES: Final[dict[str, Callable[[Any, Any], Any]]] = {**_ARITHMETIC, "min": dim_min, "max": dim_max, "ceil_div": ceil_div}
_NUMBERS: Final[dict[str, Callable[[Any, Any], Any]]] = {**_ARITHMETIC, "min": min, "max": max, "ceil_div": ceil_div}


def _computed(formula: Formula, value: Callable[[str], _Value], compute: Mapping[str, Callable[[Any, Any], Any]]) -> Any:
    if isinstance(formula, str):
        return value(formula)
    if isinstance(formula, int):
        return formula
    return compute[formula.operator](_computed(formula.left, value, compute), _computed(formula.right, value, compute))


def _level(formula: Formula) -> int:
    """How tightly the parts of a formula are bound: those of a sum the least."""
    return _LEVEL.get(formula.operator, len(_LEVELS)) if isinstance(formula, Operation) else len(_LEVELS)


class _Parser:
    """Reads one formula by recursive descent."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(self._split())
        self._next = 0
        self._operations = 0
        self._brackets = 0

    def whole(self) -> Formula:
        formula = self._chain(0)
        token, position = self._peek()
        if token:
            raise FormulaSyntaxError(position, f"{token!r} does not belong here")
        return formula

    def _split(self) -> Iterator[tuple[str, int]]:
        position, end = 0, len(self._text.rstrip())
        while position < end:
            match = _TOKEN.match(self._text, position)
            if match is None:
                at = position + len(self._text[position:]) - len(self._text[position:].lstrip())
                raise FormulaSyntaxError(at, f"{self._text[at]!r} is not part of a formula")
            yield match[match.lastindex or 0], match.start(match.lastindex or 0)
            position = match.end()
        yield "", end

    def _peek(self) -> tuple[str, int]:
        return self._tokens[self._next]

    def _take(self, wanted: str) -> None:
        token, position = self._peek()
        if token != wanted:
            raise FormulaSyntaxError(position, f"{wanted!r} is missing")
        self._next += 1

    def _chain(self, level: int) -> Formula:
        """Operations of one level, from left to right."""
        if level == len(_LEVELS):
            return self._part()
        formula = self._chain(level + 1)
        while (operator := self._peek()[0]) in _LEVELS[level]:
            self._next += 1
            formula = self._made(operator, formula, self._chain(level + 1))
        return formula

    def _made(self, operator: str, left: Formula, right: Formula) -> Operation:
        self._operations += 1
        if self._operations > _MOST_OPERATIONS:
            raise FormulaSyntaxError(self._peek()[1], f"a formula may have at most {_MOST_OPERATIONS} operations")
        return Operation(operator, left, right)

    def _part(self) -> Formula:
        """A number, a symbol, a function or a part in brackets."""
        token, position = self._peek()
        if not token:
            raise FormulaSyntaxError(position, "a number or a symbol is missing")
        self._next += 1
        if token.isdigit():
            digits = token.lstrip("0") or "0"
            if len(digits) > _LARGEST_NUMBER:
                raise FormulaSyntaxError(position, f"{digits} is larger than the largest size")
            return int(digits)
        if token in _FUNCTIONS and self._peek()[0] == "(":
            self._open(position)
            left = self._chain(0)
            self._take(",")
            made = self._made(token, left, self._chain(0))
            while token != "ceil_div" and self._peek()[0] == ",":  # of any number, as in Python
                self._next += 1
                made = self._made(token, made, self._chain(0))
            return self._closed(made)
        if token == "(":
            self._next -= 1
            self._open(position)
            return self._closed(self._chain(0))
        if not token.isidentifier():
            raise FormulaSyntaxError(position, f"a number or a symbol is missing before {token!r}")
        return token

    def _open(self, position: int) -> None:
        self._take("(")
        self._brackets += 1
        if self._brackets > _MOST_BRACKETS:
            raise FormulaSyntaxError(position, f"a formula may have at most {_MOST_BRACKETS} brackets inside each other")

    def _closed(self, formula: Formula) -> Formula:
        self._take(")")
        self._brackets -= 1
        return formula
