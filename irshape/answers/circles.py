"""The order of the members of a group, in which no arrow runs back: members that make a circle are cut into pieces that make none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Final

from irshape.model.model import behind, reached

# The most pieces that are joined again; beyond, the pieces stay as they are.
_MOST_PIECES: Final = 300

Links = Sequence[Sequence[int]]
"""For each member, or for each layer, the numbers of those that it reads."""


def links(owner: Mapping[int, int], sources: Links, count: int) -> list[set[int]]:
    """The members that each of `count` members reads. `owner` has the member of each layer, `sources` the layers that each layer reads."""
    found: list[set[int]] = [set() for _ in range(count)]
    get = owner.get
    for layer, own in owner.items():
        for source in sources[layer]:
            one = get(source, own)
            if one != own:
                found[own].add(one)
    return found


def _readers(reads: Sequence[Iterable[int]]) -> list[list[int]]:
    """The members that read each member."""
    found: list[list[int]] = [[] for _ in reads]
    for number, read in enumerate(reads):
        for one in read:
            found[one].append(number)
    return found


def ordered(reads: Sequence[Collection[int]], keys: Sequence[int]) -> list[int]:
    """The members, each after those that it reads, the one with the least key first. Members in a circle, and behind one, are left out."""
    readers, waits = _readers(reads), list(map(len, reads))
    ready = [(keys[number], number) for number, count in enumerate(waits) if not count]
    heapify(ready)
    found = []
    while ready:
        _, number = heappop(ready)
        found.append(number)
        for reader in readers[number]:
            waits[reader] -= 1
            if not waits[reader]:
                heappush(ready, (keys[reader], reader))
    return found


def circles(reads: Sequence[set[int]]) -> list[list[int]]:
    """The sets of members that read each other in circles."""
    if all(max(read, default=-1) < number for number, read in enumerate(reads)):
        return []
    readers = _readers(reads)
    found = []
    seen: set[int] = set()
    for root in reversed([*behind(range(len(reads)), readers.__getitem__)]):
        members = [*reached([root] if root not in seen else [], lambda number: reads[number] - seen)]
        seen.update(members)
        if len(members) > 1:
            found.append(members)
    return found


def pieces(members: Mapping[int, Sequence[int]], sources: Links) -> list[tuple[int, list[int]]]:
    """Members that read each other in a circle, cut into pieces that do not: the member and the layers of each piece.

    `members` has the layers of each member; layers are numbered in topological order. A piece ends where a path leaves its member and comes
    back later; pieces of a member are joined where this makes no circle.
    """
    owner = {layer: number for number, layers in members.items() for layer in layers}
    depth: dict[int, int] = {}
    parts: dict[tuple[int, int], list[int]] = {}
    for layer in sorted(owner):
        own = owner[layer]
        depth[layer] = max([depth[one] + (owner[one] != own) for one in sources[layer] if one in owner and one in depth], default=0)
        parts.setdefault((own, depth[layer]), []).append(layer)
    keys = sorted(parts)
    found = [parts[key] for key in keys]
    owners = [own for own, _ in keys]
    if len(found) <= _MOST_PIECES:
        _join(found, owners, sources)
    return [(own, sorted(layers)) for own, layers in zip(owners, found, strict=True) if layers]


def _join(found: list[list[int]], owners: Sequence[int], sources: Links) -> None:
    """Join the pieces of each member with the one before, unless a path between the two leads through another piece."""
    reads = links({layer: number for number, layers in enumerate(found) for layer in layers}, sources, len(found))
    last = 0
    for number in range(1, len(found)):
        if owners[number] != owners[last] or _is_reached(reads, number, last) or _is_reached(reads, last, number):
            last = number
            continue
        found[last] += found[number]
        found[number] = []
        reads[last] = (reads[last] | reads[number]) - {last, number}
        reads[number] = set()
        for one in reads:
            if number in one:
                one.discard(number)
                one.add(last)
        reads[last].discard(last)


def _is_reached(reads: Sequence[set[int]], start: int, end: int) -> bool:
    """Whether a path leads from one piece up to another, through a third."""
    return end in reached(reads[start] - {end}, reads.__getitem__)
