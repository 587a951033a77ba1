"""Attributes of an op: how their text is read, exactly as OpenVINO's reader reads it.

A converter takes the text of an XML attribute. It returns the value and a remark: None, or the code of a warning.
It raises `Malformed` if OpenVINO refuses the text. Each annotation has one converter.
"""

import re
from collections.abc import Callable, Hashable
from functools import cache
from math import isinf
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias, get_args, get_origin

from irshape.shape.dim import INT64_MAX, format_interval
from irshape.shape.element_type import ElementType, similar_type

Converter: TypeAlias = Callable[[str], tuple[Any, str | None]]


class Malformed(ValueError):
    """OpenVINO cannot read the text: `code` is A102, A103 or A104."""

    def __init__(self, code: str, message: str, likely: str | None = None) -> None:
        """`likely` is the word that the author may have meant."""
        super().__init__(message)
        self.code = code
        self.likely = likely


class Ge(NamedTuple):
    """A constraint: the value is at least `limit`."""

    limit: int

    def __call__(self, value: Any) -> None:
        for item in value if type(value) is tuple else (value,):
            if not item >= self.limit:
                raise Malformed("A104", f"must be at least {self.limit}, got {item}")


class OneOf:
    """A constraint: the element type is one of `types`."""

    __slots__ = ("types",)

    def __init__(self, *types: ElementType) -> None:
        self.types = types

    def __call__(self, value: ElementType) -> None:
        if value not in self.types:
            raise Malformed("A103", f"must be {' or '.join(one.name for one in self.types)}, got {value}")


# The element type of indices and counts.
IndexType: TypeAlias = Annotated[ElementType, OneOf(ElementType.i32, ElementType.i64)]


class Spelled(NamedTuple):
    """The name of the attribute in the XML, if Python cannot spell it (`exclude-pad`)."""

    name: str


class ReadBy(NamedTuple):
    """The converter of an attribute whose text has its own form."""

    read: Converter


class _Mark:
    """Says something of an attribute beside its type."""


# OpenVINO compares the word letter by letter, so that its case matters.
Exact: Final = _Mark()
# The specification requires the attribute, and OpenVINO replaces it by its default.
Stated: Final = _Mark()
# Other versions of the operation read the value from an attribute, and this version fixes it.
Fixed: Final = _Mark()
# The numbers of the list are unsigned: OpenVINO reads a negative one as 2^64 more.
Unsigned: Final = _Mark()

_INTEGER: Final = r"\s*(-?\d+)"
# int64 holds every number of fewer digits. Most lists match the pattern.
_SAFE_DIGITS: Final = 19
_PLAIN_LIST: Final = r"-?[0-9]{1,18}(?:, ?-?[0-9]{1,18})*"
# An exponent must be a whole number. The only words are nan and inf, in lower case.
_FLOAT: Final = r"\s*([+-]?(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?\d++)?+(?![eE])|nan(?![a-z(])|-?inf(?![a-z0-9]))"


def read_integer(text: str) -> tuple[int, str | None]:
    """The integer a text begins with; OpenVINO ignores what follows it."""
    if len(text) < _SAFE_DIGITS and text.isdecimal() and text.isascii():
        return int(text), None
    match = re.match(_INTEGER, text)
    if match is None or not match[1].isascii():
        raise Malformed("A102", f"{text!r} is not an integer")
    if len(match[1]) > 20 or not -INT64_MAX - 1 <= (value := int(match[1])) <= INT64_MAX:
        raise Malformed("A104", f"{text[:40]!r} is outside the range of int64")
    return value, None if match.end() == len(text.rstrip()) else "R101"


def read_float(text: str) -> tuple[float, str | None]:
    """The number a text begins with; OpenVINO ignores what follows it."""
    match = re.match(_FLOAT, text)
    if match is None or not match[1].isascii():
        raise Malformed("A102", f"{text!r} is not a number")
    value = float(match[1])
    if isinf(value) and not match[1].endswith("inf"):
        raise Malformed("A104", f"{text[:40]!r} is outside the range of a float")
    return value, None if match.end() == len(text.rstrip()) else "R101"


def read_boolean(text: str) -> tuple[bool, str | None]:
    """True for `true` and `1`, false for `false` and `0`; R105 for upper case; R102 for any other text, which leaves the default."""
    lower = text.lower()
    remark = None if lower == text else "R105"
    return lower in ("true", "1"), remark if lower in ("true", "1", "false", "0") else "R102"


def read_element_type(text: str) -> tuple[ElementType, str | None]:
    """An element type by OpenVINO's name; R105 if its case differs, and for `undefined`, an old name of `dynamic`."""
    element_type = ElementType.parse("dynamic" if text.lower() == "undefined" else text)
    if element_type is None:
        from difflib import get_close_matches

        likely = similar_type(text[:64])
        close = [likely.name] if likely is not None else get_close_matches(text[:64].lower(), ElementType.BY_NAME, 1)
        raise Malformed("A103", f"{text!r} is not an element type", next(iter(close), None))
    return element_type, None if element_type.name == text else "R105"


def _read_list(item: Converter) -> Converter:
    def read(text: str) -> tuple[Any, str | None]:
        if item is read_integer and re.fullmatch(_PLAIN_LIST, text):
            return tuple(map(int, text.split(","))), None
        if not text.strip():
            return (), None
        parts = text.split(",")
        if len(parts) > 1 and not parts[-1].strip():
            parts.pop()  # one trailing comma is tolerated
        values = []
        remark = None
        for part in parts:
            if not part.strip():
                raise Malformed("A102", f"{text!r} has an empty item")
            value, doubt = item(part.strip())
            values.append(value)
            remark = remark or doubt
        return tuple(values), remark

    return read


def _read_unsigned(read: Converter) -> Converter:
    def read_unsigned(text: str) -> tuple[Any, str | None]:
        values, remark = read(text)
        is_wrapped = any(value < 0 for value in values)
        return tuple(value % 2**64 for value in values), "R201" if is_wrapped else remark

    return read_unsigned


def _read_choice(words: tuple[str, ...], *, is_exact: bool = False) -> Converter:
    canonical = {word if is_exact else word.lower(): word for word in words}

    def read(text: str) -> tuple[str, str | None]:
        word = canonical.get(text if is_exact else text.lower())
        if word is None:
            from difflib import get_close_matches

            given = text[:64].lower()
            close = get_close_matches(given, canonical, 1) or [one for one in canonical if given and one.lower().startswith(given)]
            raise Malformed("A103", f"{text!r} is none of {', '.join(words)}", " or ".join([canonical[one] for one in close]) or None)
        # The specification has some words in lower case that OpenVINO writes in capitals.
        return word, None if text in (word, word.lower()) else "R105"

    return read


_SCALARS: Final[dict[Hashable, Converter]] = {
    int: read_integer,
    float: read_float,
    bool: read_boolean,
    str: lambda text: (text, None),
    ElementType: read_element_type,
}


@cache
def converter(annotation: Any) -> Converter:
    """The converter of an annotation such as `tuple[int, ...]`, `Literal["max", "min"]` or `Annotated[int, Ge(1)]`."""
    scalar = _SCALARS.get(annotation)
    if scalar is not None:
        return scalar
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return _read_choice(arguments)
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return _read_list(converter(arguments[0]))
    if origin is Annotated:
        own = next((mark.read for mark in arguments[1:] if type(mark) is ReadBy), None)
        if Exact in arguments[1:]:
            own = _read_choice(get_args(arguments[0]), is_exact=True)
        plain = own or converter(arguments[0])
        if Unsigned in arguments[1:]:
            plain = _read_unsigned(plain)
        constraints = [mark for mark in arguments[1:] if type(mark) in (Ge, OneOf)]
        if not constraints:
            return plain

        def read(text: str) -> tuple[Any, str | None]:
            value, remark = plain(text)
            for constraint in constraints:
                constraint(value)
            return value, remark

        return read
    raise TypeError(f"no attribute can be annotated with {annotation!r}")


def spell(value: Any) -> str:
    """The text of a value as OpenVINO writes it: `true`, `f32`, `1, 2`. A shape is `1,3,224..,?`, and `...` if its rank is not known."""
    if value is None:
        return "..."
    if isinstance(value, tuple):
        is_shape = any(isinstance(item, tuple) for item in value)
        return ",".join(format_interval(*item) for item in value) if is_shape else ", ".join(map(spell, value))
    return str(value).lower() if isinstance(value, bool) else str(value).removesuffix(".0")


class Attribute:
    """The declaration of one attribute: Python name, XML name, annotation, converter, default."""

    __slots__ = ("annotation", "default", "name", "read", "required", "spelling", "stated")

    def __init__(self, name: str, annotation: Any, *, required: bool, default: Any) -> None:
        marks = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
        self.name = name
        self.annotation = annotation
        self.required = required
        self.default = default
        self.spelling = next((mark.name for mark in marks if type(mark) is Spelled), name)
        self.stated = Stated in marks
        self.read = converter(annotation)
