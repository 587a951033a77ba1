"""Shapes as text: the `shape` of a Parameter as OpenVINO reads it, and what a user may write.

Both give plain data; `size_of` makes sizes of it in a scope.
"""

import re
from math import gcd, inf
from typing import Final, NamedTuple, NoReturn, TypeAlias

from irshape.shape.dim import INT64_MAX, Scope, Size
from irshape.shape.facts import Bound, settle


class Described(NamedTuple):
    """One size as it is written: `factor * name + offset`, or without a name any of `low..high`."""

    low: Bound
    high: Bound
    name: str = ""
    factor: int = 1
    offset: int = 0


class SymbolFacts(NamedTuple):
    """What the user says of a symbol: `Scope.symbol(name, *facts)`."""

    low: Bound
    high: Bound
    modulus: int = 1
    remainder: int = 0


DescribedShape: TypeAlias = tuple[Described, ...] | None
"""None is unranked."""

UNKNOWN: Final = Described(0, inf)


class NotationError(ValueError):
    """A text that cannot be read; `position` counts characters from 0."""

    def __init__(self, text: str, position: int, reason: str) -> None:
        super().__init__(f"cannot read {text!r}: {reason}, at character {position + 1}")
        self.text: Final = text
        self.position: Final = position
        self.reason: Final = reason


def size_of(scope: Scope, described: Described, name: str) -> Size:
    """The size in a scope; `name` is given to a symbol that has none of its own."""
    if described.name:
        return scope.symbol(described.name) * described.factor + described.offset
    return scope.symbol(name, described.low, described.high) if described.low != described.high else int(described.low)


# A Parameter's shape, as OpenVINO 2026.4.1 reads it.

_WHITESPACE: Final = " \t\n\v\f\r"
_OPENVINO_NUMBER: Final = re.compile(r"-?[0-9]+")


def parse_parameter_shape(text: str) -> tuple[DescribedShape, list[str]]:
    """The shape OpenVINO reads, and a remark for each dimension that it reads as something else than it says.

    NotationError where OpenVINO refuses.
    """
    raise NotImplementedError
