"""Two ways in which a layer may go on at other sizes: where they agree, and at which sizes a second export would tell them apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Final, TypeAlias

from irshape.shape.dim import Dim, Size, evaluate, symbols
from irshape.shape.range import Range

# The sizes that a layer gives in the way that is taken, and in another one.
Ways: TypeAlias = tuple[tuple[Size, ...], tuple[Size, ...]]
# The largest number whose multiples are tried as sizes for which ways agree, and which multiples are tried.
_MOST_STEP: Final = 128
_TRIALS: Final = (1, 2, 3, 4, 11, 21, 42, 85, 100, 1001)
# Sizes at which an export may tell ways apart: as many multiples of each of these, less a number. Sizes one less than multiples of 12 also
# tell whether a half, a third or a quarter is rounded down or up.
_STEPS: Final = ((32, 0), (16, 0), (8, 0), (4, 0), (2, 0), (12, 1), (1, 0))
_MULTIPLES: Final = 24
_ANY: Final = Range(0, inf)


def agreement(ways: Ways) -> int:
    """The least number at whose multiples two ways agree, as far as trials tell; 0 if there is none, or if they agree at all sizes."""
    names = sorted(_names([ways]))

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
    known = _names([ways])
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


def telling(several: Sequence[Ways], recorded: Mapping[str, int], batch: str | None) -> dict[str, int]:
    """Sizes, larger than the recorded ones, at which an export tells each pair of ways apart; empty if no trial does.

    The batch stays, unless only another one tells.
    """
    known = _names(several)
    same = {} if batch is None or known.pop(batch, None) is None else {batch: recorded.get(batch, 1)}
    for kept in (same, {name: was + 1 for name, was in same.items()}):
        if found := _telling(several, known, recorded, kept):
            return found
    return {}


def _telling(several: Sequence[Ways], known: Mapping[str, Range], recorded: Mapping[str, int], kept: Mapping[str, int]) -> dict[str, int]:
    largest = max([recorded.get(name, 1) for name in known], default=1)
    for step, less in sorted(_STEPS, key=lambda one: one[0] > 2 * largest):  # `h` of `32*h` is small
        for first in range(largest // step + 1 + less, largest // step + 1 + less + _MULTIPLES):
            trial = {name: step * (first + at) - less for at, name in enumerate(sorted(known))}
            are_asked = all(low <= trial[name] <= high for name, (low, high, *_) in known.items())
            if are_asked and all(_differ(_values(ways, {**kept, **trial})) for ways in several):
                return {**kept, **trial}
    return {}


def _differ(pairs: Sequence[tuple[int, int]]) -> bool:
    differing = [pair for pair in pairs if pair[0] != pair[1]]
    return bool(differing) and all(min(pair) > 0 or max(pair) < 0 for pair in differing)


def _names(several: Iterable[Ways]) -> dict[str, Range]:
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
