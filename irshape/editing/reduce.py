"""Reduction: the smallest part of a model on which a fault shows, by delta debugging.

First layers go: the shortest prefix of the order that shows the fault ends with a layer that is needed, then only the layers before it
stay, then those near it, then chunks are left out down to single layers. Each part is a model that OpenVINO reads, with the shapes of the
whole. Then the changes of `shrinking.py` are tried until none of them is possible any more, so no single layer can be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from irshape.editing.draft import Draft
from irshape.editing.extract import extract
from irshape.editing.shrinking import BORDER, PASSES
from irshape.editing.state import Item
from irshape.editing.trial import Candidate, Judge, candidate_of, content_of
from irshape.report.text import counted


class Reduction(NamedTuple):
    """The smallest candidate that was found, the number of its layers, and what each step has removed, in words."""

    candidate: Candidate
    layers: int
    steps: list[str]


class NotShown(Exception):
    """The fault does not show on the whole model."""


def reduce(draft: Draft, judge: Judge, say: Callable[[str, Candidate], object], suspect: int | None = None) -> Reduction:
    """Reduce the model of a draft. `say` hears of each step, and `suspect` is the id of the layer that is probably at fault.

    Raises `NotShown`.
    """
    return _Reducer(draft, judge, say).reduced(suspect)


class _Reducer:
    """One reduction. `draft` is that of the smallest candidate so far."""

    def __init__(self, draft: Draft, judge: Judge, say: Callable[[str, Candidate], object]) -> None:
        self.draft = draft
        self._judge = judge
        self._say = say
        self.best: Candidate | None = None
        self.steps: list[str] = []
        self._adopted: set[str] = set()  # so that no two changes take each other back for ever

    def reduced(self, suspect: int | None) -> Reduction:
        """The smallest candidate."""
        whole = content_of(self.draft)
        if not self._judge.shows(whole):
            raise NotShown
        self._adopt("the whole model", whole)
        last = None if suspect is None else self.draft.state.items.get(suspect)
        if last is None or last.type in BORDER or not self._keep_near(last):
            self._keep_prefix()
        self._leave_out()
        self._shrink()
        assert self.best is not None
        return Reduction(self.best, len(self.draft.state.items), self.steps)

    # Layers.

    @property
    def items(self) -> list[Item]:
        """The items that can be left out, in topological order."""
        return [item for item in self.draft.state.in_order if item.type not in BORDER]

    def _part(self, kept: Collection[Item]) -> Candidate | None:
        """The candidate of some layers."""
        return candidate_of(self.draft, lambda: extract(self.draft, kept, computes_constants=False)) if kept else None

    def _keep_prefix(self) -> None:
        """Keep the shortest prefix of the order on which the fault shows, and of this the layers near its last one."""
        items = self.items
        found = self._least(range(1, len(items)), lambda count: items[:count])
        if found is not None:
            last = items[found[0] - 1].id
            self._adopt("the shortest prefix", found[1])
        elif items:
            last = items[-1].id
        item = self.draft.state.items.get(last) if items else None
        if item is not None:
            self._keep_near(item)

    def _keep_near(self, last: Item) -> bool:
        """Keep a layer and the layers before it up to the least distance at which the fault shows; False if it never does."""
        levels = self._levels(last)
        found = self._nearest(levels)
        if found is None:
            return False
        self._adopt("the layers near the fault", found)
        return True

    def _levels(self, last: Item) -> list[list[Item]]:
        """The ancestors of an item: those at most 0, 1, 2, ... connections before it."""
        found = {last}
        edge = {last}
        levels: list[list[Item]] = []
        while edge:
            levels.append(list(found))
            edge = {value.item for item in edge for value in item.inputs if value is not None and value.item.type not in BORDER} - found
            found |= edge
        return levels

    def _nearest(self, levels: Sequence[list[Item]]) -> Candidate | None:
        """The candidate of the least distance: small ones are cheap, so the distance is doubled first."""
        at, low = 0, -1
        while True:
            at = min(at, len(levels) - 1)
            part = self._part(levels[at])
            if self._judge.shows(part):
                break
            if at == len(levels) - 1:
                return None
            low, at = at, 2 * at + 1
        found = self._least(range(low + 1, at), levels.__getitem__)
        return part if found is None else found[1]

    def _least(self, numbers: range, kept: Callable[[int], list[Item]]) -> tuple[int, Candidate] | None:
        """By bisection, the least of some numbers with which the fault shows, and its candidate; the number after the last one shows it."""
        low, high = numbers.start, numbers.stop
        found = None
        while low < high:
            middle = (low + high) // 2
            part = self._part(kept(middle))
            if part is not None and self._judge.shows(part):
                high, found = middle, (middle, part)
            else:
                low = middle + 1
        return found

    def _leave_out(self) -> None:
        """Leave out chunks of the layers, down to single ones, until none can be left out."""
        items = self.items
        size = max(len(items) // 2, 1)
        while items:
            at, is_smaller = 0, False
            while at < len(items):
                found = self._judge.first(self._without(items, at, size))
                if found is None:
                    break
                at, candidate = found
                is_smaller = True
                ids = {item.id for item in items[:at] + items[at + size :]}
                self._adopt("single layers" if size == 1 else f"chunks of {size} layers", candidate)
                items = [item for item in self.items if item.id in ids]
            if size == 1 and not is_smaller:
                return
            size = max(min(size, len(items)) // 2, 1)

    def _without(self, items: list[Item], start: int, size: int) -> Iterator[tuple[int, Candidate | None]]:
        """The candidates that leave out one chunk of the layers, from a position on."""
        for at in range(start, len(items), size):
            yield at, self._new(self._part(items[:at] + items[at + size :]))

    # Everything else.

    def _shrink(self) -> None:
        """Try the changes of all passes until none is possible."""
        is_smaller = True
        while is_smaller:
            is_smaller = False
            for name, changes in PASSES.items():
                at = 0
                while (found := self._judge.first(self._changed(changes(self.draft), at))) is not None:
                    at, candidate = found
                    self._adopt(name, candidate)
                    is_smaller = True

    def _changed(self, changes: Iterable[Callable[[], object]], start: int) -> Iterator[tuple[int, Candidate | None]]:
        """The candidates of some changes, from a position on."""
        for at, change in enumerate(changes):
            if at >= start:
                yield at, self._new(candidate_of(self.draft, change))

    def _new(self, candidate: Candidate | None) -> Candidate | None:
        """A candidate that was not adopted before: a layer that others need comes back."""
        return None if candidate is None or candidate.key in self._adopted else candidate

    def _adopt(self, step: str, candidate: Candidate) -> None:
        """Go on with a candidate."""
        is_whole = self.best is None
        self.best = candidate
        self._adopted.add(candidate.key)
        if not is_whole:
            model = self._judge.model(candidate)
            self.draft = Draft(model, model.document.own_weights(), self.draft.opaque)
        layers, tries = (counted(count, word) for count, word in ((len(self.draft.state.items), "layer"), (self._judge.tries, "trial")))
        told = f"{step}: {layers}, {candidate.size} bytes of weights, after {tries}"
        if self.steps and self.steps[-1].partition(":")[0] == step:
            self.steps[-1] = told
        else:
            self.steps.append(told)
        self._say(told, candidate)
