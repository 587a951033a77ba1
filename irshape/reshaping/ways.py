"""Two ways in which a layer may go on at other sizes: where they agree, and at which sizes a second export would tell them apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from math import inf
from typing import Final, NamedTuple, TypeAlias

from irshape.shape.dim import Dim, Size, evaluate, symbols
from irshape.shape.range import Range

# The sizes that a layer gives in the way that is taken, and in another one.
Ways: TypeAlias = tuple[tuple[Size, ...], tuple[Size, ...]]
# The largest number whose multiples are tried as sizes for which ways agree, and which multiples are tried.
_MOST_STEP: Final = 128
_TRIALS: Final = (1, 2, 3, 4, 11, 21, 42, 85, 100, 1001)
# Sizes at which an export may tell ways apart: as many multiples of each of these, less a number, which makes them odd.
_STEPS: Final = ((32, 0), (16, 0), (8, 0), (4, 0), (2, 0), (2, 1), (1, 0))
_MULTIPLES: Final = 24
# Odd sizes are so many steps apart: where a layer halves them, both may be odd again.
_APART: Final = (1, 2, 4, 8)
# The best of so many trials is taken, as far as so many sizes of axes say.
_MOST_FOUND: Final = 12
_MOST_NEAR: Final = 32
_ANY: Final = Range(0, inf)


def agreement(ways: Ways) -> int:
    """The least number at whose multiples two ways agree, as far as trials tell; 0 if there is none, or if they agree at all sizes."""
    names = sorted(ranges_of([ways]))

    def agree(trial: Mapping[str, int]) -> bool:
        pairs = _values(ways, trial)
        return all(one == other and (one or not symbols(size)) for (one, other), size in zip(pairs, ways[0], strict=False)) and bool(pairs)

    for step in range(1, _MOST_STEP + 1):
        if all(agree({name: step * (first + at) for at, name in enumerate(names)}) for first in _TRIALS):
            return step if step > 1 else 0
    return 0


def are_alike(ways: Ways, recorded: Mapping[str, int]) -> bool:
    """Whether two ways agree wherever both give sizes, as far as trials up to twice the recorded sizes, and far off, tell.

    Those that count from the end of an axis are negative.
    """
    known = ranges_of([ways])
    most = 2 * max([recorded.get(name, 1) for name in known], default=1)
    for count in (*range(1, most + 1), *[most * 10**power + more for power in range(1, 7) for more in (0, 1)]):
        trial = {name: (count + at) * modulus + rest for at, (name, (_, _, modulus, rest)) in enumerate(known.items())}
        pairs = _values(ways, trial)
        if len(pairs) < len(ways[0]) or any(one != other and (min(one, other) > 0 or max(one, other) < 0) for one, other in pairs):
            return False
    return True


def settles(size: Size, number: int) -> bool:
    """Whether a size is this number at all large sizes, as far as trials tell: the number only sets a smallest size."""
    names = sorted(symbols(size))
    trials = [{name: first + 7 * at for at, name in enumerate(names)} for first in (960, 1001, 4095, 10**5, 10**6 + 3)]
    return all(_values(((size,), (number,)), trial) == [(number, number)] for trial in trials)


class Apart(NamedTuple):
    """The `step` at whose multiples ways agree, or 0, and the sizes, as text, at which a second export tells them apart.

    `are_rounder` says that the second export would leave fewer ways if it were rewritten instead of the file.
    """

    step: int
    sizes: str
    are_rounder: bool


class Trials:
    """Sizes at which a second export may tell ways apart, larger than the `recorded` ones; the batch stays, unless only another one tells.

    `seen` are the sizes of a second export that has left them open. `near` are sizes of axes, of which other ways may be parts.
    """

    def __init__(self, recorded: Mapping[str, int], seen: Mapping[str, int], batch: str | None, near: Iterable[Size]) -> None:
        self._recorded = recorded
        self._seen = seen
        self._batch = batch
        self._near = [*{str(size): size for size in near if isinstance(size, Dim)}.values()][:_MOST_NEAR]

    def telling(self, several: Sequence[Ways]) -> dict[str, int]:
        """Sizes at which the ways of each pair differ; empty if no trial tells."""
        known = ranges_of(several)
        same = {}
        if self._batch is not None and known.pop(self._batch, None) is not None:
            same = {self._batch: self._recorded.get(self._batch, 1)}
        near = [size for size in self._near if symbols(size) <= known.keys()]
        for kept in (same, {name: was + 1 for name, was in same.items()}):
            for trials in self._stages(known):
                telling = ({**kept, **one} for one in trials if all(self._tell({**kept, **one}, ways) for ways in several))
                if found := [*islice(telling, _MOST_FOUND)]:
                    return min(found, key=partial(_divided, near))
        return {}

    def are_rounder(self) -> bool:
        """Whether more sizes of the file than of the second export are multiples of 2 or 3, so that more parts of them are equal."""
        near = [size for size in self._near if symbols(size) <= self._seen.keys() & self._recorded.keys()]
        return bool(near) and _divided(near, self._recorded) > _divided(near, self._seen)

    def _stages(self, known: Mapping[str, Range]) -> Iterator[list[dict[str, int]]]:
        """The trials for symbols, as multiples of a number that all exports have, if there is one, else as sizes that are none."""
        largest = max([self._recorded.get(name, 1) for name in known], default=1)
        sizes = [size for name in known for size in (self._seen.get(name), self._recorded.get(name)) if size] if self._seen else []
        for step, less in sorted(_STEPS, key=lambda one: one[0] > 2 * largest or (one[1] == 0 and any(size % one[0] for size in sizes))):
            least, names = largest // step + 1 + less, sorted(known)
            firsts = [(least + more, apart) for more in range(_MULTIPLES) for apart in (_APART if less and len(names) > 1 else (1,))]
            trials = [{name: step * (first + at * apart) - less for at, name in enumerate(names)} for first, apart in firsts]
            yield [
                one
                for one in trials
                if all(low <= one[name] <= high and one[name] != self._seen.get(name) for name, (low, high, *_) in known.items())
            ]

    def _tell(self, trial: Mapping[str, int], ways: Ways) -> bool:
        """Whether two ways differ at some sizes, and none gives the recorded number there, which would seem to stay."""
        before, pairs = {**dict.fromkeys(trial, 1), **self._recorded}, _values(ways, trial)
        differing = [size for (one, other), pair in zip(pairs, zip(*ways, strict=True), strict=False) if one != other for size in pair]
        return _differ(pairs) and all(isinstance(size, int) or evaluate(size, trial) != evaluate(size, before) for size in differing)


def _divided(sizes: Sequence[Size], trial: Mapping[str, int]) -> int:
    """How many sizes are multiples of 2 or 3: a half or a third of these is the same, rounded down or up."""
    numbers = [number for number, _ in _values((tuple(sizes), tuple(sizes)), trial)]
    return sum(number % 2 == 0 or number % 3 == 0 for number in numbers)


def _differ(pairs: Sequence[tuple[int, int]]) -> bool:
    differing = [pair for pair in pairs if pair[0] != pair[1]]
    return bool(differing) and all(min(pair) > 0 or max(pair) < 0 for pair in differing)


def ranges_of(several: Iterable[Ways]) -> dict[str, Range]:
    """The range of each symbol in some sizes."""
    sizes = [size for ways in several for some in ways for size in some if isinstance(size, Dim)]
    named = {name: size.scope.named(name) for size in sizes for name in sorted(symbols(size))}
    return {name: one.range if isinstance(one, Dim) else _ANY for name, one in named.items()}


def _values(ways: Ways, trial: Mapping[str, int]) -> list[tuple[int, int]]:
    """The sizes that two ways give at some sizes; none if one of them gives none there."""
    try:
        return [(evaluate(one, trial), evaluate(other, trial)) for one, other in zip(*ways, strict=True)]
    except (OverflowError, ZeroDivisionError):
        return []
