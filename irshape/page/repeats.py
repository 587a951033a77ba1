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
    the members of equal blocks read the same members of their own block.
    """
    found = []
    places: dict[int, list[int]] = {}
    for position, content in enumerate(contents):
        places.setdefault(content, []).append(position)
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
            run = Run(begin, length, _times(contents, reads, begin, length))
            weight = sum(weights[begin:other])
            if run.times > 1 and run.times * weight >= (_FEWEST if weight == 1 else _LIGHTEST) and (best is None or run.end > best.end):
                best = run
                if best.end == len(contents):
                    break
        if best is not None:
            found.append(best)
        begin = begin + 1 if best is None else best.end
    return found


def _times(contents: Sequence[int], reads: Sequence[set[int]], begin: int, length: int) -> int:
    """How often the block of this length is repeated from a position on."""
    count = 1
    while True:
        start = begin + count * length
        if start + length > len(contents):
            return count
        for at in range(length):
            if contents[start + at] != contents[begin + at] or _within(reads, start, length, at) != _within(reads, begin, length, at):
                return count
        count += 1


def _within(reads: Sequence[set[int]], start: int, length: int, at: int) -> set[int]:
    """What a member reads in its own block, by the place in the block."""
    return {one - start for one in reads[start + at] if start <= one < start + length}
