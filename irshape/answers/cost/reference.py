"""Sizes at which costs that are formulas are compared: those of the caller, else usual sizes that fulfil the conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Final

from irshape.shape.guard import Requirement
from irshape.shape.range import Range

# Names of a batch, and of the axes of images and volumes, as signatures use them.
_BATCH: Final = ("N", "B")
_SPATIAL: Final = ("D", "H", "W")
# The sizes that are tried for all other symbols, until one fulfils the conditions; spatial axes are tried with the second ones.
_USUAL: Final = (
    (128, 224), (128, 256), (64, 64), (224, 224), (256, 512), (512, 512), (32, 32), (16, 16), (1024, 1024), (8, 8), (96, 96), (640, 640),
    (100, 100), (4, 4), (2, 2), (1, 1),
)  # fmt: skip


def reference(
    ranges: Mapping[str, Range],
    demands: Iterable[Requirement],
    given: Mapping[str, int],
    unknown: Mapping[str, Range],
    is_usual: Callable[[Mapping[str, int]], bool] = lambda sizes: True,
) -> tuple[dict[str, int], bool]:
    """A size for every symbol of these ranges, and whether the sizes are in the ranges and fulfil the demands on the symbols.

    A batch is 1, `H` and `W` are 224 and other sizes 128, where the conditions and `is_usual` allow this. A size that only a run tells is
    the greatest one that it can be, or 1 if it has no upper bound.
    """
    checked = list(demands)
    found = {name: int(known.high) if known.high != inf else int(max(known.low, 1)) for name, known in unknown.items()}
    is_within = all(_fitting(ranges[name], size) == size for name, size in given.items() if name in ranges)
    first: dict[str, int] | None = None
    for usual, spatial in _USUAL:
        sizes = {name: _fitting(known, _target(name, usual, spatial)) for name, known in ranges.items()}
        sizes.update((name, size) for name, size in given.items() if name in ranges)
        if all(one.holds(sizes) for one in checked) and is_usual(chosen := {**sizes, **found, **given}):
            return chosen, is_within
        first = first or sizes
    return {**(first or {}), **found, **given}, False


def _target(name: str, usual: int, spatial: int) -> int:
    if name.startswith(_BATCH):
        return 1
    return spatial if name[:1] in _SPATIAL else usual


def _fitting(known: Range, wanted: int) -> int:
    """The size of a range that is nearest to a wanted one."""
    low, high, modulus, remainder = known
    size = max(wanted, int(low)) if low != -inf else wanted
    size = min(size, int(high)) if high != inf else size
    if modulus > 1:
        size += (remainder - size) % modulus
        size = size - modulus if size > high else size
    return size
