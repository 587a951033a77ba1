"""Ports and attributes as text: `data: float[N, C, S...]`, `(skips: boolean[?])?`, `int >= 1, default 16`.

Parsing gives plain data. The texts of sizes in an output are formulas, which `irshape.ops.declared.formula` compiles.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal, NamedTuple

from irshape.ops.attribute import Exact, Ge, Malformed, Spelled, converter
from irshape.shape.element_type import ANY, FLOAT, INTEGER, NUMERIC, ElementType


class Fault(ValueError):
    """A mistake in a declaration. `text` is the part of the file that is wrong, as it stands there, and `hint` is the next step."""

    def __init__(self, message: str, text: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.text = text
        self.hint = hint


NAME: Final = r"[A-Za-z_][A-Za-z0-9_]*"

# Words for sets of element types, beside the names of the types themselves.
FAMILIES: Final = {"any": ANY, "number": NUMERIC, "integer": INTEGER, "float": FLOAT}

# The word before the types of a repeated input whose repetitions may have different types.
MIXED: Final = "mixed "

_PORT: Final = re.compile(rf"(?:({NAME})\s*:)?\s*([^\[\]]*?)\s*\[(.*)\]", re.DOTALL)
_RUN: Final = re.compile(rf"({NAME})?\s*\.\.\.")
_PORT_HINT: Final = 'write a port as "NAME: TYPE[SIZES]", for example "data: float[N, C, S...]"'
_ATTRIBUTE_HINT: Final = (
    'write the type of an attribute, for example "int", "int >= 1", "list of float", "boolean", "text", "element type" or "max | min", '
    'and its default behind it: "int, default 1"'
)


class PortText(NamedTuple):
    """A port as its declaration says it. `items` are the texts of its sizes, and None for `[...]`."""

    name: str
    type: str
    items: tuple[str, ...] | None
    text: str


class PartText(NamedTuple):
    """Ports that are there together: once (`""`), at most once (`"?"`), at least once (`"+"`) or any number of times (`"*"`)."""

    ports: tuple[PortText, ...]
    times: str


class Pattern(NamedTuple):
    """The shape that an input must have: sizes before and after a `run` of axes.

    A size is a number, a name, or None for any size. The run has a name, or none (`""`); without a run it is None.
    """

    before: tuple[int | str | None, ...]
    run: str | None
    after: tuple[int | str | None, ...]

    @property
    def names(self) -> list[str]:
        """The names of single sizes."""
        return [item for item in (*self.before, *self.after) if isinstance(item, str)]


def split(text: str, separator: str = ",") -> list[str]:
    """The parts of a text between separators that stand outside of brackets, without blanks around them."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == separator and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    return [*parts, text[start:].strip()]


def parse_part(text: str) -> PartText:
    """One port, or several in parentheses with the number of times that they are there: `(begins: i32[B], ends: i32[B])+`."""
    text = text.strip()
    grouped = re.fullmatch(r"\((.*)\)\s*([?+*])", text, re.DOTALL)
    if grouped:
        return PartText(tuple(map(parse_port, split(grouped[1]))), grouped[2])
    if text[:1] == "(":
        raise Fault(f"{text!r} does not say how often its ports are there", text, "end it with )? , )+ or )*")
    return PartText((parse_port(text),), "")


def parse_port(text: str) -> PortText:
    """A port: `data: float[N, C]`, or `float[N, C]` without a name."""
    match = _PORT.fullmatch(text)
    if match is None or not match[2]:
        raise Fault(f"{text!r} is not a port", text, _PORT_HINT)
    name, type, inner = match[1] or "", match[2], match[3].strip()
    if inner == "...":
        return PortText(name, type, None, text)
    items = tuple(split(inner)) if inner else ()
    if "" in items:
        raise Fault(f"{text!r} has an empty size", text, "remove the surplus comma, or write ? for any size")
    return PortText(name, type, items, text)


def parse_types(port: PortText) -> frozenset[ElementType] | str:
    """The element types that an input takes, or the name of the input that has the same type (`like data`)."""
    text = port.type.removeprefix(MIXED)
    words = text.split()
    if words[:1] == ["like"] and len(words) == 2:
        return words[1]
    found: frozenset[ElementType] = frozenset()
    for word in text.split("|"):
        word = word.strip()
        element_type = ElementType.BY_NAME.get(word)
        if element_type is None and word not in FAMILIES:
            raise Fault(f"{word!r} is not an element type", port.text, f"write {', '.join(FAMILIES)}, or a type such as f32 or i32 | i64")
        found |= FAMILIES[word] if element_type is None else {element_type}
    return found


def parse_pattern(port: PortText) -> Pattern:
    """The shape that an input must have."""
    if port.items is None:
        return Pattern((), "", ())
    sizes: list[int | str | None] = []
    at, run = -1, None
    for item in port.items:
        match = _RUN.fullmatch(item)
        if match is None:
            sizes.append(_parse_size(item, port))
        elif at >= 0:
            raise Fault(f"{port.text!r} has two runs of axes", port.text, "leave one of them: where one ends and the other begins is open")
        else:
            at, run = len(sizes), match[1] or ""
    return Pattern(tuple(sizes if at < 0 else sizes[:at]), run, tuple(sizes[at:] if at >= 0 else ()))


def _parse_size(item: str, port: PortText) -> int | str | None:
    if item == "?":
        return None
    if re.fullmatch(r"\d{1,18}", item):
        return int(item)
    if re.fullmatch(NAME, item):
        return item
    raise Fault(f"{item!r} is not a size of an input", port.text, "write a number, a name, ? for any size, or S... for any number of axes")


class AttributeText(NamedTuple):
    """An attribute as its declaration says it: the annotation of an operation class, and the default, if there is one."""

    annotation: Any
    has_default: bool
    default: Any


def parse_attribute(name: str, python_name: str, text: str) -> AttributeText:
    """The type and the default of an attribute: `int >= 1, default 16`."""
    type, comma, default = text.partition(", default")
    annotation = _parse_annotation(type.strip(), text)
    value = None
    if comma:
        word = _unquoted(default.strip())
        try:
            value, remark = converter(annotation)(word.removeprefix("[").removesuffix("]"))
        except Malformed as error:
            raise Fault(f"the default of {name!r} does not fit its type: {error}", text, _ATTRIBUTE_HINT) from None
        if remark is not None:
            raise Fault(f"the default of {name!r} does not fit its type: {word!r}", text, _ATTRIBUTE_HINT)
    if python_name != name:
        annotation = Annotated[annotation, Spelled(name)]
    return AttributeText(annotation, bool(comma), value)


def _unquoted(word: str) -> str:
    """A word without quotes around it, which the empty word needs."""
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"" else word


_SCALARS: Final[dict[str, Any]] = {"int": int, "float": float, "boolean": bool, "text": str, "element type": ElementType}


def _parse_annotation(type: str, text: str) -> Any:
    if type in _SCALARS:
        return _SCALARS[type]
    if item := re.fullmatch(r"list of (\w+)(.*)", type):
        inner: Any = _SCALARS.get(item[1])
        if inner in (int, float, bool, str):
            many: Any = tuple[inner, ...]
            return _limited(many, item[2], text) if item[2] else many
    elif item := re.fullmatch(r"(int|float)( .*)", type):
        return _limited(_SCALARS[item[1]], item[2], text)
    elif ("|" in type or _unquoted(type) != type) and all(words := [word.strip() for word in type.split("|")]):
        return Annotated[Literal[tuple(map(_unquoted, words))], Exact]
    raise Fault(f"{type!r} is not the type of an attribute", text, _ATTRIBUTE_HINT)


def _limited(annotation: Any, limit: str, text: str) -> Any:
    match = re.fullmatch(r"\s*>=\s*(-?\d{1,18})", limit)
    if match is None:
        raise Fault(f"{limit.strip()!r} is not a limit", text, 'write the least value, for example "int >= 1"')
    return Annotated[annotation, Ge(int(match[1]))]
