"""The shortest way back from a number: the layers that are steps, and the layers that only pass a number on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from irshape.answers.explain.derivation import Derivation, Place, Point
from irshape.answers.explain.sources import Sources
from irshape.shape.dim import Dim

# The count of steps stops here. It counts a shared step once for each path, so it grows exponentially.
_MANY: Final = 1 << 20
# The kinds of places whose numbers no input changes.
_FIXED: Final = ("attribute", "default", "axis", "element")


class _Verdict(NamedTuple):
    """The way back from a number: the number that is passed on as this one (`way`, None for a step), and how long the way is.

    `steps` and `passed` count the layers before it. `is_fixed` says that no input changes the number, `is_inline` that it is a number of a
    constant which no step has read yet.
    """

    way: Point | None
    steps: int
    passed: int
    is_fixed: bool
    is_inline: bool


class Trail:
    """The ways back from the numbers of one inference. Nothing here recurses, because a way is as long as the model is deep."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._verdicts: dict[Point, _Verdict] = {}
        self._steps: dict[Point, Point] = {}

    def order(self, points: Iterable[Point], found: dict[Point, None]) -> None:
        """Add the steps that lead to some numbers to those that are found, each once, after the steps it reads."""
        entered: set[Point] = set()
        pending = [(self.step(point), False) for point in reversed(list(points))]
        while pending:
            point, is_done = pending.pop()
            if is_done:
                found[point] = None
            elif point not in entered and point not in found:
                entered.add(point)
                pending.append((point, True))
                roots = [self.step(source) for _, _, source in self.sources.derive(point).reads if isinstance(source, Point)]
                pending += [(root, False) for root in reversed(roots) if not self.sources.is_inline(root)]

    def step(self, point: Point) -> Point:
        """The step that computes a number."""
        chain = []
        while point not in self._steps and (way := self._verdict(point).way) is not None:
            chain.append(point)
            point = way
        found = self._steps.get(point, point)
        self._steps |= dict.fromkeys(chain, found)
        return found

    def root(self, point: Point) -> tuple[Point, list[Point]]:
        """The step that computes a number, and the numbers that pass it on, the nearest to the step first."""
        chain = [point]
        while (way := self._verdict(chain[-1]).way) is not None:
            chain.append(way)
        return chain[-1], chain[-2::-1]

    def is_fixed(self, point: Point) -> bool:
        """Whether no input of the model changes a number."""
        return self._verdict(point).is_fixed

    def _verdict(self, point: Point) -> _Verdict:
        """The verdict on a number, made after the verdicts on the numbers it is computed from."""
        known = self._verdicts
        if point in known:
            return known[point]
        entered: set[Point] = set()
        pending: list[tuple[Point, Derivation | None]] = [(point, None)]
        while pending:
            current, derivation = pending.pop()
            if derivation is not None:
                known[current] = self._judged(current, derivation)
            elif current not in known and current not in entered:
                entered.add(current)
                derivation = self.sources.derive(current)
                pending.append((current, derivation))
                needed = [source for _, _, source in derivation.reads if isinstance(source, Point)]
                needed += [way.source for way in derivation.ways]
                # A number that is entered already depends on itself, as in a loop.
                pending += [(one, None) for one in needed if one not in known and one not in entered]
        return known[point]

    def _judged(self, point: Point, derivation: Derivation) -> _Verdict:
        known = self._verdicts
        ways = [way.source for way in derivation.ways if way.source in known and self._are_fixed(way.others)]
        if len(ways) > 1:  # a way through data explains more than a constant that must only be compatible with the data
            ways = [way for way in ways if self.sources.is_varying(way.graph, way.slot)] or ways
        if ways:
            way = min(ways, key=lambda one: known[one][1:3])
            _, steps, passed, is_fixed, is_inline = known[way]
            if not (is_inline and point.kind == "axis" and self.sources.is_varying(point.graph, point.slot)):
                return _Verdict(way, steps, passed + 1, is_fixed, is_inline)
        is_inline = self.sources.is_inline(point)
        needed = [source for _, _, source in derivation.reads if isinstance(source, Point)]
        steps = sum(known[source].steps for source in needed if source in known)
        places = [source for _, _, source in derivation.reads if isinstance(source, Place)]
        is_fixed = not isinstance(derivation.value, Dim | str) and all(one.kind in _FIXED for one in places) and self._are_fixed(needed)
        return _Verdict(None, min(steps + (not is_inline), _MANY), 0, is_fixed, is_inline)

    def _are_fixed(self, points: Sequence[Point]) -> bool:
        return all(point in self._verdicts and self._verdicts[point].is_fixed for point in points)
