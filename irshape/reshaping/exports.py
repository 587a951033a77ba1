"""Numbers that a second export has otherwise: the sizes that give both numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from irshape.ops.flow import same
from irshape.reshaping.bench import Bench, open_sizes, source
from irshape.shape.dim import Dim, Size

# Sides of the patches to whose multiples a map is resized, as MobileViT does it.
PATCHES: Final = (2, 4, 8)
# At most so many parts of a size are compared.
_MOST_PARTS: Final = 8
AS_SEEN: Final = "both exports have a number of this size"


def seen(bench: Bench, port: int, at: int, ways: Iterable[Size], others: Iterable[Size] = ()) -> list[Size]:
    """The formulas that give a number of an input and the different number of the other export, else other sizes or their parts."""
    witness = bench.witness
    here, there = bench.elements(source(bench.item, port)) or (), witness.elements(bench.item, port) if witness is not None else ()
    if witness is None or at >= min(len(here), len(there)) or here[at] == there[at] or not isinstance(here[at], int):
        return []
    sign = -1 if here[at] < 0 else 1  # from the end
    both = sign * here[at], sign * there[at]
    found = [one for one in ways if (bench.at(one), witness.at(one)) == both] or explained(bench, others, *both)
    return [*{str(one): sign * one for one in found}.values()]


def explained(bench: Bench, sizes: Iterable[Size], here: int, there: int) -> list[Size]:
    """The sizes with these numbers here and in the second export, and of other sizes the parts."""
    witness, both, found = bench.witness, (here, there), list[Size]()
    if witness is None:
        return []
    for size in sizes:
        options = [size] if (bench.at(size), witness.at(size)) == both else parts_of(size)
        found += [one for one in options if (bench.at(one), witness.at(one)) == both]
    return found


def parts_of(size: Size) -> list[Size]:
    """A size divided by a few numbers, rounded down or up, or to a multiple."""
    counts = range(2, _MOST_PARTS + 1)
    rounded = [size // count * count for count in PATCHES]
    return [part for count in counts for part in (size // count, (size + count - 1) // count)] + rounded


def seen_along(bench: Bench, port: int, at: int, own: Size, recorded: int) -> list[Size]:
    """What a number that another export does not have may be of an axis: what is left of some elements, or a part."""
    number = (bench.elements(source(bench.item, port)) or (None,) * (at + 1))[at]
    if not isinstance(own, Dim) or not isinstance(number, int):
        return []
    fitting = seen(bench, port, at, [own, own - recorded + abs(number), *parts_of(own)], open_sizes(bench))
    return [] if any(same(one, own) for one in fitting) else fitting
