"""The question that a pass answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from irshape.inference.facts import Fact
from irshape.inference.transfer import Outcome
from irshape.model.model import Node
from irshape.shape.compilation import mypyc_attr
from irshape.shape.shape import Shape

if TYPE_CHECKING:
    from irshape.shape.notation import SymbolRange

_NOTHING: Final[dict[Any, Any]] = {}


# The verdict of OpenVINO: the outcome of a rule in an engine's graph with the errors that OpenVINO makes.
Verdict: TypeAlias = Callable[[Any, Node, Outcome], Outcome]


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Question:
    """The question that a pass answers; nothing in it changes afterwards.

    `shapes` are the shapes of Parameters, by node, that replace those of the file; `symbols` the ranges of the symbols that the user
    named in them; `overrides` the outputs of nodes that are taken for granted, by node; `verdict` has the last word on errors.
    """

    __slots__ = ("overrides", "shapes", "symbols", "verdict")

    def __init__(
        self,
        shapes: Mapping[int, Shape] = _NOTHING,
        symbols: Mapping[str, SymbolRange] = _NOTHING,
        overrides: Mapping[int, tuple[Fact, ...]] = _NOTHING,
        verdict: Verdict | None = None,
    ) -> None:
        self.shapes = shapes
        self.symbols = symbols
        self.overrides = overrides
        self.verdict = verdict

    def with_overrides(self, overrides: Mapping[int, tuple[Fact, ...]]) -> Question:
        """The question with other outputs taken for granted."""
        return Question(self.shapes, self.symbols, overrides, self.verdict)

    def with_verdict(self, verdict: Verdict) -> Question:
        return Question(self.shapes, self.symbols, self.overrides, verdict)

    @property
    def inside(self) -> Question:
        """The question to the graphs of bodies."""
        return AS_READ if self.verdict is None else Question(verdict=self.verdict)

    def changed(self, other: Question) -> frozenset[int] | None:
        """The nodes for which the other question differs; None where it may differ for all."""
        if self.symbols != other.symbols or self.verdict is not other.verdict:
            return None
        changed: set[int] = set()
        for index in self.shapes.keys() | other.shapes.keys():
            if self.shapes.get(index, ...) != other.shapes.get(index, ...):  # None is a shape of any rank
                changed.add(index)
        for index in self.overrides.keys() | other.overrides.keys():
            if self.overrides.get(index) != other.overrides.get(index):
                changed.add(index)
        return frozenset(changed)


AS_READ: Final = Question()
