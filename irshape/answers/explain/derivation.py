"""The derivation of one number, one layer back: the numbers it is computed from, or the number that the layer passes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from irshape.answers.explain.traced import Term
from irshape.model.model import Node

# The text shown for an unknown rank or unknown values.
NOT_KNOWN: Final = "not known"


class Point(NamedTuple):
    """One number of a tensor, which `graph` and `slot` identify.

    `kind` is "axis" or "element", and `position` counts among these; or it is "values", "rank" or "type", and `position` is 0.
    """

    graph: int
    slot: int
    kind: str
    position: int = 0

    @property
    def subject(self) -> str:
        """The name of the number in a sentence: `axis 2`, `element type`."""
        return f"{self.kind} {self.position}" if self.kind in ("axis", "element") else {"type": "element type"}.get(self.kind, self.kind)


class Place(NamedTuple):
    """Where a number stands in the file or in the weights; `kind`, `text`, `position` and `bytes` are the fields of `Read`.

    The place is in the layer of `node`, if there is one: at `attribute`, else at `offset` in the file, else at the layer's start. Its line
    is computed only when it is shown, because that takes time.
    """

    kind: str
    text: str
    node: Node | None = None
    attribute: str = ""
    offset: int = -1
    position: int | None = None
    bytes: tuple[str, int, int] | None = None


# A number that a layer reads: its name, its value and its origin.
Reading: TypeAlias = tuple[str, Any, Point | Place]


class Way(NamedTuple):
    """A number that the layer passes on unchanged, as long as no model input changes the `others`."""

    source: Point
    others: tuple[Point, ...] = ()


class Derivation(NamedTuple):
    """How a layer derives a number: by a `term` over the `reads`, or as the `note` says in words.

    `ways` are the numbers that the layer may pass on unchanged. `call` is the type of an operation that computes the number without
    arithmetic on sizes.
    """

    value: Any
    reads: Sequence[Reading] = ()
    term: Term | None = None
    note: str = ""
    ways: Sequence[Way] = ()
    call: str = ""


def unknown(point: Point, why: str) -> Derivation:
    """A number that is known only at run time, and why."""
    return Derivation(NOT_KNOWN, [(point.subject, NOT_KNOWN, Place("unknown", why))])
