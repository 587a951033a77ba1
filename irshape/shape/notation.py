"""Shapes as text: the `shape` of a Parameter as OpenVINO reads it, and the notation of a user's options.

Both are parsed to plain data; `size_of` turns a user's size into a size of a scope.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Final, TypeAlias

from irshape.shape.compilation import NamedTuple
from irshape.shape.dim import INT64_MAX, Scope, Size, narrow
from irshape.shape.range import Bound, reduced

if TYPE_CHECKING:
    from irshape.shape.formula import Formula

Interval: TypeAlias = tuple[int, Bound]
"""The least and the greatest size; the greatest may be `math.inf`."""


class Described(NamedTuple):
    """A size in a user's notation: `factor * name + offset`, any other `formula`, or `low..high` without both."""

    low: int
    high: Bound
    name: str = ""
    factor: int = 1
    offset: int = 0
    formula: Formula | None = None

    @property
    def symbols(self) -> tuple[str, ...]:
        """The names of the symbols in the size, each once."""
        if self.formula is None:
            return (self.name,) if self.name else ()
        from irshape.shape.formula import symbols_of

        return tuple(dict.fromkeys(symbols_of(self.formula)))

    def number(self, values: Mapping[str, int]) -> int:
        """The size for the given values of its symbols; `low` without symbols. Raises KeyError and ZeroDivisionError."""
        if self.formula is None:
            return values[self.name] * self.factor + self.offset if self.name else self.low
        from irshape.shape.formula import number_by

        return number_by(self.formula, values)

    def size(self, symbol: Callable[[str], Size]) -> Size:
        """The size with these sizes for its symbols. Raises ZeroDivisionError."""
        if self.formula is None:
            return symbol(self.name) * self.factor + self.offset if self.name else self.low
        from irshape.shape.formula import size_by

        return size_by(self.formula, symbol)

    def __str__(self) -> str:
        """The size in the notation that `parse_shape` reads: `8`, `?`, `1..8`, `32*k + 1`, `P + S`."""
        low, high, name, factor, offset, formula = self
        if formula is not None:
            from irshape.shape.formula import text_of

            return text_of(formula)
        if not name:
            return _interval_text(low, high)
        product = name if factor == 1 else f"{factor}*{name}"
        return product if offset == 0 else f"{product} {'+' if offset > 0 else '-'} {abs(offset)}"


class SymbolRange(NamedTuple):
    """The range that a user gives a symbol: the arguments of `Scope.symbol` after the name."""

    low: Bound
    high: Bound
    modulus: int = 1
    remainder: int = 0

    def __str__(self) -> str:
        """The range in the notation that `parse_symbol_range` reads: `?`, `32..1024`, `1..,32*k + 1`."""
        low, high, modulus, remainder = self
        interval = _interval_text(low, high)
        multiple = str(Described(0, inf, "k", modulus, remainder))
        return interval if modulus < 2 else multiple if (low, high) == (remainder, inf) else f"{interval},{multiple}"


# The letter that stands for any whole number in the range of a symbol: 32*k.
MULTIPLE: Final = "k"
ANY_SIZE: Final = SymbolRange(0, inf)

DescribedShape: TypeAlias = tuple[Described, ...] | None
"""The sizes of a shape; None if the rank is unknown."""


def shape_text(shape: Sequence[object] | None) -> str:
    """A shape in the notation that `parse_shape` reads, or with formulas: `[N,64,(H + 1)//2,W]`."""
    return "[...]" if shape is None else f"[{','.join(map(str, shape))}]"


# Of a longer text, a message quotes the part around the fault.
_LONGEST: Final = 400


class ShapeSyntaxError(ValueError):
    """A text that is not a shape or a range; `position` is the character where the fault is, counted from 0."""

    def __init__(self, text: str, position: int, reason: str) -> None:
        shown = text if len(text) <= _LONGEST else f"…{text[max(position - _LONGEST // 2, 0) : position + _LONGEST // 2]}…"
        super().__init__(f"cannot read {shown!r} at character {position + 1}: {reason}")
        self.text: Final = text
        self.position: Final = position
        self.reason: Final = reason


def size_of(scope: Scope, described: Described, key: Hashable, ranges: Mapping[str, SymbolRange] | None = None) -> Size:
    """The size in a scope; an interval without a name is the unknown value of this key.

    `ranges` are those of the symbols. Raises ZeroDivisionError, and ValueError where a symbol has another range already.
    """
    if described.name or described.formula is not None:
        return narrow(described.size(lambda name: scope.symbol(name, *(ranges or {}).get(name, ANY_SIZE))), 0)
    return described.low if described.low == described.high else scope.unknown(key, described.low, described.high)


# A Parameter's shape, as OpenVINO 2026.4.1 reads it.

_BLANKS: Final = " \t\n\v\f\r"


def parse_parameter_shape(text: str) -> tuple[tuple[Interval, ...] | None, list[str]]:
    """The shape that OpenVINO reads, and a remark for each dimension that OpenVINO reads as another size than the text suggests.

    Raises ShapeSyntaxError for a text that OpenVINO refuses.
    """
    inner = text.strip(_BLANKS)
    if len(inner) > 1 and inner[0] == "[" and inner[-1] == "]":
        inner = inner[1:-1].strip(_BLANKS)
    if inner == "...":
        return None, []
    if not inner:
        return (), []
    shape, remarks = [], []
    position = text.index(inner)
    for field in inner.split(","):
        if not field:
            raise ShapeSyntaxError(text, position, "a dimension is missing")
        interval, remark = _parse_parameter_dimension(text, position, field.strip(_BLANKS))
        shape.append(interval)
        if remark:
            remarks.append(remark)
        position += len(field) + 1
    return tuple(shape), remarks


def _parse_parameter_dimension(text: str, position: int, field: str) -> tuple[Interval, str]:
    if field in ("?", "-1"):
        return (0, inf), ""
    if field.isascii() and field.isdigit() and len(field) < 19 and (field[0] != "0" or field == "0"):
        return (int(field), int(field)), ""
    low_text, dots, high_text = field.partition("..")
    for part in (low_text, high_text):
        if not re.fullmatch(r"[0-9-]*", part):
            raise ShapeSyntaxError(text, position, f"{field!r} is not a dimension")
    low, high = _read_number(low_text) or 0, inf
    if not dots:
        # Of the negative numbers only -1 stands for an unknown size.
        low = high = max(low, 0)
    elif (limit := _read_number(high_text)) is not None:
        high = limit
    if low > high or low == INT64_MAX:
        return (0, inf), f"{field!r} is an empty range; OpenVINO reads it as ?"
    low, high = max(low, 0), inf if high == INT64_MAX else max(high, 0)
    parts = ((low_text, low), (high_text, min(high, INT64_MAX))) if dots else ((field, low),)
    is_plain = all(part == str(end) or (dots and not part) for part, end in parts)
    return (low, high), "" if is_plain else f"OpenVINO reads {field!r} as {_interval_text(low, high)}"


def _read_number(text: str) -> int | None:
    """The number that a C++ stream reads from the start of a text; None if there is none or it does not fit int64."""
    match = re.match(r"(-?)([0-9]+)", text)
    if match is None:
        return None
    digits = match[2].lstrip("0") or "0"
    return int(match[1] + digits) if len(digits) <= 19 and int(digits) <= INT64_MAX else None


def _interval_text(low: Bound, high: Bound) -> str:
    if low == high:
        return str(low)
    return "?" if (low, high) == (0, inf) else f"{low or ''}..{'' if high == inf else high}"


# A user's notation.

_UNKNOWN: Final = r"\?|-1"
_INTERVAL: Final = r"(?a)(\d*)\s*\.\.\s*(\d*)"
_NUMBER: Final = r"(?a)\d+"
# Values of Python that a program has put into a text.
_NO_SIZE: Final = r"(?i)\b(?:nan|inf|none|null|true|false)\b"
_AFFINE: Final = r"(?a)(?:(\d+)\s*\*\s*)?([A-Za-z_]\w*)(?:\s*\*\s*(\d+))?(?:\s*([+-])\s*(\d+))?"
_TIMES: Final = r"(?a)(?:\d[^x]*|\?|-1|\.\.\d+|[A-Z])(?:x(?:\d[^x]*|\?|-1|\.\.\d+|[A-Z]))+"


def parse_shape(text: str) -> DescribedShape:
    """A shape in a user's notation: `[1,3,?,224..448]`, `(1, 3, H, W)`, `1x3x224x224`, `N,32*k+1`, `[B,P + S]`, `...`, empty for a scalar.

    Without brackets and commas, `x` separates numbers, intervals, `?` and single capital letters. Raises ShapeSyntaxError for others.
    """
    inner = text.strip()
    is_tuple = inner.startswith("(")
    closing = {"[": "]", "(": ")"}.get(inner[:1])
    if closing:
        if len(inner) < 2 or inner[-1] != closing:
            raise ShapeSyntaxError(text, text.index(inner), f"{inner[0]!r} is never closed")
        inner = inner[1:-1].strip()
    if inner == "...":
        return None
    if not inner:
        return ()
    position = text.index(inner)
    if is_tuple and inner.endswith(","):
        inner = inner[:-1]
    shape = []
    is_times = not closing and "," not in inner and re.fullmatch(_TIMES, inner)
    for field in inner.split("x") if is_times else split_sizes(inner):
        indent = len(field) - len(field.lstrip())
        shape.append(_parse_dimension(text, position + indent, field.strip()))
        position += len(field) + 1
    return tuple(shape)


def split_sizes(text: str) -> Iterator[str]:
    """The parts of a text between commas; a comma in brackets belongs to a part, as in `min(H, W)`."""
    if "(" not in text:
        yield from text.split(",")
        return
    depth = start = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and depth <= 0:
            yield text[start:position]
            start = position + 1
    yield text[start:]


def _parse_dimension(text: str, position: int, field: str) -> Described:
    if not field:
        raise ShapeSyntaxError(text, position, "a dimension is missing")
    if match := re.search(_NO_SIZE, field):
        raise ShapeSyntaxError(text, position + match.start(), f"{match[0]} is no size: write a number, a symbol or ?")
    if re.fullmatch(_UNKNOWN, field):
        return Described(0, inf)
    if re.fullmatch(_NUMBER, field):
        value = _to_int(text, position, field)
        return Described(value, value)
    if match := re.fullmatch(_INTERVAL, field):
        low = _to_int(text, position, match[1]) if match[1] else 0
        high = _to_int(text, position + match.start(2), match[2]) if match[2] else inf
        if low > high:
            raise ShapeSyntaxError(text, position, f"the lower bound {low} is larger than the upper bound {high}")
        return Described(low, high)
    if match := re.fullmatch(_AFFINE, field):
        before, name, after, sign, offset = match.groups()
        if not (before and after):
            factor = _to_int(text, position, before or after or "1")
            if factor < 1:
                raise ShapeSyntaxError(text, position, "a symbol is multiplied by 0")
            shift = _to_int(text, position, offset or "0")
            return Described(0, inf, name, factor, -shift if sign == "-" else shift)
    return _parse_formula(text, position, field)


def _parse_formula(text: str, position: int, field: str) -> Described:
    """A dimension that is a formula, which is a number if it has no symbol."""
    from irshape.shape.formula import FormulaSyntaxError, number_by, parse_formula, symbols_of, text_of

    operand = re.search(r"\w", field)
    if "(" not in field and (operand is None or not re.search(r"[-+*/%(]", field[operand.end() :])):
        raise ShapeSyntaxError(text, position, f"{field!r} is not a dimension; write 5, ?, 1..8, H, 32*k or P + S")
    try:
        formula = parse_formula(field)
    except FormulaSyntaxError as error:
        raise ShapeSyntaxError(text, position + error.position, error.reason) from None
    if any(True for _ in symbols_of(formula)):
        plain = text_of(formula)
        is_affine = plain != field and re.fullmatch(_AFFINE, plain)
        return _parse_dimension(text, position, plain) if is_affine else Described(0, inf, formula=formula)
    try:
        value = number_by(formula, {})
    except ZeroDivisionError:
        raise ShapeSyntaxError(text, position, f"{field!r} divides by 0") from None
    if not 0 <= value <= INT64_MAX:
        raise ShapeSyntaxError(text, position, f"{field!r} is {value}, and a size is at least 0 and at most {INT64_MAX}")
    return Described(value, value)


def _to_int(text: str, position: int, digits: str) -> int:
    digits = digits.lstrip("0") or "0"
    if len(digits) > 19 or int(digits) > INT64_MAX:
        raise ShapeSyntaxError(text, position, f"{digits} is larger than the largest size, {INT64_MAX}")
    return int(digits)


def parse_symbol_range(text: str) -> SymbolRange:
    """The range of a symbol: `32..1024`, `7`, `32*k`, `32*k + 1`, or several of these, separated by commas, that must all hold."""
    low: Bound = 0
    high: Bound = inf
    modulus, remainder = 1, 0
    position = 0
    for field in text.split(","):
        described = _parse_dimension(text, position + len(field) - len(field.lstrip()), field.strip())
        if described.formula is not None or (described.name and (described.factor, described.offset) == (1, 0)):
            raise ShapeSyntaxError(text, position, "a range is LOW..HIGH, a number or a multiple, as in 32*k")
        if not described.name:
            low, high = max(low, described.low), min(high, described.high)
        elif modulus > 1:
            raise ShapeSyntaxError(text, position, "a range may have only one multiple")
        else:
            low = max(low, described.offset)
            modulus, remainder = described.factor, described.offset
        position += len(field) + 1
    known = reduced(low, high, modulus, remainder)
    if known is None:
        several = "; only `irshape cost` takes several sizes" if re.fullmatch(r"[\d\s,]+", text) else ""
        raise ShapeSyntaxError(text, 0, f"the range is empty{several}")
    return SymbolRange(*known)


def parse_symbol(text: str) -> tuple[str, SymbolRange]:
    """A symbol and its range: `H=32..1024`, `H=32*k`."""
    name, equals, known = text.partition("=")
    if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name.strip(), re.ASCII):
        raise ShapeSyntaxError(text, 0, "write NAME=LOW..HIGH or NAME=32*k")
    try:
        return name.strip(), parse_symbol_range(known)
    except ShapeSyntaxError as error:
        raise ShapeSyntaxError(text, len(name) + 1 + error.position, error.reason) from None
