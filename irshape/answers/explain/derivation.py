"""How a number came about, as it is found on the way back: what it is computed from, or what it is handed on from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from irshape.answers.explain.traced import Term
from irshape.model.model import Node

# What is shown for a rank, or for values, that are not known.
NOT_KNOWN: Final = "not known"


class Point(NamedTuple):
    """A number: `kind` is "axis" or "element" `position` of a tensor, or its "values", "rank" or "type" (then `position` is 0)."""

    graph: int
    slot: int
    kind: str
    position: int = 0

    @property
    def subject(self) -> str:
        """What it is called in a sentence."""
        return f"{self.kind} {self.position}" if self.kind in ("axis", "element") else {"type": "element type"}.get(self.kind, self.kind)


class Place(NamedTuple):
    """Where a number stands in the file or in the weights; `kind`, `text`, `position` and `bytes` are those of `Read`.

    It is in the `node`, if there is one: at an attribute, at an offset in the file, or at the beginning. What its line is costs
    something, so that is found for what is shown.
    """

    kind: str
    text: str
    node: Node | None = None
    attribute: str = ""
    offset: int = -1
    position: int | None = None
    bytes: tuple[str, int, int] | None = None


# A number that is read: its name, its value, and where it comes from.
Reading: TypeAlias = tuple[str, Any, Point | Place]


class Way(NamedTuple):
    """A number that this one is, as long as no input of the model changes the `others`."""

    source: Point
    others: tuple[Point, ...] = ()


class Derivation(NamedTuple):
    """How a number came about: a `term` on what is read, or a note in words; `ways` are the numbers it may be handed on from.

    `call` is the type of an operation that computed it in another way than by arithmetic on sizes.
    """

    value: Any
    reads: Sequence[Reading] = ()
    term: Term | None = None
    note: str = ""
    ways: Sequence[Way] = ()
    call: str = ""


def unknown(point: Point, why: str) -> Derivation:
    """A number that only running the model tells."""
    return Derivation(NOT_KNOWN, [(point.subject, NOT_KNOWN, Place("unknown", why))])
