"""The limits for untrusted files, by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from irshape.shape.compilation import NamedTuple, mypyc_attr


class Limits(NamedTuple):
    """How much a file may contain of each thing.

    Reading stops beyond `size` (bytes of the file), `text` (characters of an attribute), `depth` (bodies inside bodies) and `layers`
    (of all graphs). A layer fails beyond `rank` (axes of a tensor, items of an attribute) and `parts` (outputs of a split). Values
    of tensors with more than `elements` are not followed. A part of a formula with more than `terms` terms, or more than `levels`
    nested operations, gets a name of its own. After `passes` passes over one body, its inputs are of any shape. Of each code,
    `faults` diagnostics are listed and the others counted. All answers to one question share `work` steps: terms of formulas, axes,
    elements and places that are looked at. A layer always has a few steps of its own, so that the others of a file are still inferred.
    """

    size: int = 1 << 30
    text: int = 10_000_000
    depth: int = 64
    layers: int = 1_000_000
    rank: int = 10_000
    parts: int = 100_000
    elements: int = 1024
    terms: int = 24
    levels: int = 16
    passes: int = 128
    faults: int = 1_000
    work: int = 400_000

    def changed(self, text: str) -> Limits:
        """The limits with one changed, given as `depth=128`. Raises ValueError for an unknown name or a number that is not allowed."""
        name, equals, value = text.partition("=")
        if not equals or name not in LIMITS:
            known = f"{', '.join(LIMITS)}, and time and memory with check --isolate"
            raise ValueError(f"{text[:60]!r} does not set a limit, as in NAME=N; the limits are {known}")
        if not re.fullmatch(r"0*[1-9]\d{0,17}", value, re.ASCII):
            raise ValueError(f"{name} must be a whole number from 1, got {value[:60]!r}")
        if int(value) > _MOST.get(name, int(value)):
            raise ValueError(f"{name} must be at most {_MOST[name]}, got {value}")
        return self.replaced({name: int(value)})

    def replaced(self, others: Mapping[str, int]) -> Limits:
        """The limits with others of some names."""
        return self._replace(**others)


class Exhausted(Exception):
    """The work that a question allows is done before its answer is found."""


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Work:
    """The steps that are `left` of those that one question about a file may take.

    Steps are counted where work is done, and never by the clock, so that an answer does not depend on the machine. `is_bounded` says
    that whoever works now gives up, by the exception `Exhausted`, when no step is left; the others ask `is_done`.
    """

    __slots__ = ("is_bounded", "left", "most")

    def __init__(self, most: int) -> None:
        self.most = most
        self.left = most
        self.is_bounded = False

    @property
    def is_done(self) -> bool:
        """Whether no step is left."""
        return self.left < 0

    def take(self, steps: int) -> None:
        """Count some steps. Raises Exhausted if none is left and the work is bounded."""
        self.left -= steps
        if self.left < 0 and self.is_bounded:
            raise Exhausted

    def renew(self) -> None:
        """Begin another question."""
        self.left = self.most


# The text of a formula is written by recursion, so the nesting must stay small.
_MOST: Final = {"levels": 64}
DEFAULT: Final = Limits()
LIMITS: Final = Limits._fields
