"""Repeated blocks: neighbours in the order of a group that are equal up to names, such as the 48 layers of a transformer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

# The most members of a block that is repeated, the fewest repeats of a block that is a single layer, and the fewest layers of other blocks.
_LONGEST: Final = 80
_FEWEST: Final = 4
_LIGHTEST: Final = 6


class Run(NamedTuple):
    """Blocks in a row that are equal: the position of the first, the members of each, and how often they come."""

    begin: int
    length: int
    times: int

    @property
    def end(self) -> int:
        """The position after the last block."""
        return self.begin + self.length * self.times


def runs(contents: Sequence[int], weights: Sequence[int], reads: Sequence[set[int]]) -> list[Run]:
    """The runs of equal blocks among members, in their order, the widest at each place.

    Equal members have the same number in `contents`; `weights` are the layers in each. `reads` are the positions that each member reads:
    the members of equal blocks read the same members of their own block and of the block before, and of no other block.
    """
    found = []
    places: dict[int, list[int]] = {}
    for position, content in enumerate(contents):
        places.setdefault(content, []).append(position)
    offsets = [tuple(sorted([number - one for one in read])) for number, read in enumerate(reads)]
    following = [0] * len(contents)  # the place of each position among those of its content
    for positions in places.values():
        for number, position in enumerate(positions):
            following[position] = number
    begin = 0
    while begin < len(contents):
        best: Run | None = None
        equal = places[contents[begin]]
        for other in equal[following[begin] + 1 :]:
            length = other - begin
            if length > _LONGEST:
                break
            if contents[begin:other] != contents[other : other + length]:
                continue
            run = Run(begin, length, _times(contents, offsets, begin, length))
            weight = sum(weights[begin:other])
            if run.times > 1 and run.times * weight >= (_FEWEST if weight == 1 else _LIGHTEST) and (best is None or run.end > best.end):
                best = run
                if best.end == len(contents):
                    break
        if best is not None:
            found.append(best)
        begin = begin + 1 if best is None else best.end
    return found


def _times(contents: Sequence[int], offsets: Sequence[tuple[int, ...]], begin: int, length: int) -> int:
    """How often the block of this length is repeated from a position on. `offsets` say how far before it a member reads."""
    count = 1
    while True:
        start = begin + count * length
        if start + length > len(contents):
            return count
        for at in range(length):
            if contents[start + at] != contents[begin + at]:
                return count
            own, first = offsets[start + at], offsets[begin + at]
            if own != first and [one for one in own if one <= at] != [one for one in first if one <= at]:
                return count
            # From the second block on, a block reads the one before it, and no other block.
            if own and own[-1] > at:
                second = offsets[begin + length + at]
                if own != second and [one for one in own if at < one <= at + length] != [one for one in second if at < one <= at + length]:
                    return count
                if any(at + length < one <= start + at - begin for one in own):
                    return count
        count += 1
