"""A set of sizes that is periodic from some size on, and the shortest condition that describes it; and the sizes that a grid examines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, pairwise
from math import gcd, inf
from typing import TYPE_CHECKING, NamedTuple

from irshape.shape.range import Bound

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# The most numbers that a condition lists.
_LONGEST_LIST = 48
# The most intervals that a condition lists instead of single numbers.
_MOST_INTERVALS = 6


class Unsolved(Exception):
    """No grid of acceptable size decides where the requirements hold."""


class Substitution(NamedTuple):
    """A symbol in terms of an axis: `constant + factor * axis`."""

    axis: str
    factor: int = 1
    constant: int = 0


class Axis:
    """The `count` sizes `low`, `low + step`, ... of one symbol.

    The first `head` sizes are examined one by one. The later sizes fall into `period` classes, in each of which every number is a
    polynomial of at most `degree`. If `period` is 0, there are no later sizes.
    """

    def __init__(self, low: int, step: int = 1, count: float = inf) -> None:
        self.low = low
        self.step = step
        self.count = count
        self.shape(0, 1, 1)

    def shape(self, head: int, period: int, degree: int) -> None:
        """Divide the axis into head and classes; a short axis gets no classes, and its sizes are examined one by one."""
        if self.count <= head + period * (degree + 1):
            head, period, degree = int(self.count), 0, 0
        self.head, self.period, self.degree = head, period, degree

    @property
    def points(self) -> int:
        """The number of sizes that the grid computes with."""
        return self.head + self.period * (self.degree + 1)

    @property
    def cells(self) -> int:
        """The number of sizes in the head plus the number of classes."""
        return self.head + self.period

    def sizes(self) -> NDArray[np.int64]:
        """The sizes that the grid computes with."""
        import numpy as np

        return self.low + self.step * np.arange(self.points, dtype=np.int64)


class SizeSet:
    """A set of sizes among `low`, `low + step`, `low + 2*step`, ... up to `high`.

    `head` has a 1 for each member among the first of these sizes, and a 0 for the others, `cycle` does so for all later ones, repeated
    without end. With an empty cycle there are no later members.
    """

    def __init__(self, low: int, step: int, head: bytes, cycle: bytes, high: Bound = inf) -> None:
        if high != inf:
            count = max((int(high) - low) // step + 1, 0)
            if count <= len(head) + 2 * len(cycle):
                head, cycle = (head + cycle + cycle)[:count], b""
        if 1 not in cycle:
            head, cycle = head.rstrip(b"\0"), b""
        else:
            cycle = _shortest(cycle)
            length, start = len(cycle), len(head)
            while start and head[start - 1] == cycle[(start - 1 - len(head)) % length]:
                start -= 1
            turn = (start - len(head)) % length
            head, cycle = head[:start], cycle[turn:] + cycle[:turn]
        self.low = low
        self.step = step
        self.head = head
        self.cycle = cycle
        self.high = high
        self._head_members = list(compress(range(len(head)), head))
        self._ones = list(compress(range(len(cycle)), cycle))

    @property
    def is_empty(self) -> bool:
        return not self._head_members and not self._ones

    @property
    def is_everything(self) -> bool:
        """Whether every size from 1 on is in the set."""
        return self.high == inf and self.low <= 1 and self.step == 1 and len(self.cycle) == 1 and not len(self.head)

    @property
    def span(self) -> tuple[int, Bound, int] | None:
        """The smallest member, the largest or `math.inf`, and the step from one to the next that reaches all; None without members."""
        positions = [*self._head_members, *(len(self.head) + one for one in self._ones)]
        if self.is_empty:
            return None
        first = positions[0]
        step = self.step * gcd(len(self.cycle), *(position - first for position in positions)) or self.step
        last: Bound = inf
        if self.high != inf or not self._ones:
            last = self.below(int(min(self.high, self.low + self.step * len(self.head))) if not self._ones else int(self.high), 1)[0]
        return self.low + self.step * first, last, step

    def __contains__(self, size: int) -> bool:
        position, rest = divmod(size - self.low, self.step)
        if rest or position < 0 or size > self.high:
            return False
        if position < len(self.head):
            return bool(self.head[position])
        return bool(len(self.cycle)) and bool(self.cycle[(position - len(self.head)) % len(self.cycle)])

    def holds(self, sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of these sizes are members; all must be sizes that the set could have."""
        import numpy as np

        positions = (sizes - self.low) // self.step
        places = np.where(positions < len(self.head), positions, len(self.head) + (positions - len(self.head)) % max(len(self.cycle), 1))
        cells = np.frombuffer(self.head + (self.cycle or b"\0"), bool)
        return cells[places] & (sizes <= self.high)

    def below(self, size: int, count: int) -> list[int]:
        """At most `count` members that are not larger than a size, the nearest first."""
        position = (int(min(size, self.high)) - self.low) // self.step
        near = [self._tail(rank) for rank in range(self._rank(position) - 1, -1, -1)[:count]]
        near += [member for member in reversed(self._head_members) if member <= position][: count - len(near)]
        return [self.low + self.step * member for member in near]

    def above(self, size: int, count: int) -> list[int]:
        """At most `count` members that are not smaller than a size, the nearest first."""
        position = -((self.low - size) // self.step)
        near = [member for member in self._head_members if member >= position][:count]
        if self._ones:
            first = self._rank(position - 1)
            near += [self._tail(rank) for rank in range(first, first + count - len(near))]
        sizes = (self.low + self.step * member for member in near)
        return [one for one in sizes if one <= self.high]

    def _rank(self, position: int) -> int:
        """The number of members after the head up to a position."""
        rounds, rest = divmod(position - len(self.head), max(len(self.cycle), 1))
        return max(rounds * len(self._ones) + sum(one <= rest for one in self._ones), 0)

    def _tail(self, rank: int) -> int:
        rounds, number = divmod(rank, len(self._ones))
        return len(self.head) + rounds * len(self.cycle) + self._ones[number]

    def text(self, name: str) -> str | None:
        """The condition of a set that has members, but not all sizes, in Python: `H >= 32 and H % 32 == 0`; None if it is long."""
        members = [self.low + self.step * member for member in self._head_members]
        if not self._ones:
            return _finite_text(name, members, self.low)
        period = self.step * len(self.cycle)
        start = self.low + self.step * len(self.head)
        residues = sorted((start + self.step * one) % period for one in self._ones)
        pattern = _residue_text(name, residues, period)
        if pattern is None:
            return None
        first = start + self.step * self._ones[0]
        among = frozenset(residues)
        if members and all(member % period in among for member in members):
            # Some of the first sizes that match the residues are no members.
            known = frozenset(members)
            missing = [size for size in range(members[0], first) if size % period in among and size not in known]
            if len(missing) <= len(members):
                return _all([_bounds_text(name, members[0], self.high, period, among), pattern, _without_text(name, missing)])
        text = _all([_bounds_text(name, first, self.high, period, among), pattern])
        if not members:
            return text
        others = _finite_text(name, members, self.low)
        return None if others is None else f"{bracketed(text, ' and ')} or {bracketed(others, ' and ')}"


def bracketed(text: str, joint: str) -> str:
    """A condition as a part of a larger one, in brackets if it contains the given conjunction."""
    return f"({text})" if joint in text else text


def _all(parts: Sequence[str]) -> str:
    return " and ".join(bracketed(part, " or ") for part in parts if part)


def _shortest(cycle: bytes) -> bytes:
    """The shortest part whose repetition is the cycle."""
    lengths = (part for part in range(1, len(cycle)) if len(cycle) % part == 0 and cycle.startswith(cycle[part:]))
    return cycle[: next(lengths, len(cycle))]


def _bounds_text(name: str, first: int, high: Bound, period: int, residues: frozenset[int]) -> str:
    """`H >= 32`; empty if the residues alone exclude smaller sizes."""
    is_bounded = period > first and min(residues) >= first
    if high == inf:
        return "" if is_bounded else f"{name} >= {first}"
    return f"{name} <= {high}" if is_bounded else f"{first} <= {name} <= {high}"


def _residue_text(name: str, residues: list[int], period: int) -> str | None:
    """The condition on the remainder of a size; empty if every remainder is allowed, None if it would be long."""
    count = len(residues)
    if count == period:
        return ""
    if count == 1:
        return f"{name} % {period} == {residues[0]}"
    if period - count == 1:
        (missing,) = set(range(period)) - set(residues)
        return f"{name} % {period} != {missing}"
    gaps = [number for number in range(1, count) if residues[number] - residues[number - 1] > 1]
    if not gaps:
        first, last = residues[0], residues[-1]
        if first == 0:
            return f"{name} % {period} <= {last}"
        return f"{name} % {period} >= {first}" if last == period - 1 else f"{first} <= {name} % {period} <= {last}"
    if len(gaps) == 1 and residues[0] == 0 and residues[-1] == period - 1 and count > 4:
        last = residues[gaps[0] - 1]
        lower = f"{name} % {period} <= {last}" if last else f"{name} % {period} == 0"
        return f"{lower} or {name} % {period} >= {residues[gaps[0]]}"
    if count <= min(period // 2, _LONGEST_LIST):
        return f"{name} % {period} in {_list_text(residues)}"
    if period - count <= _LONGEST_LIST:
        return f"{name} % {period} not in {_list_text(sorted(set(range(period)) - set(residues)))}"
    return None


def _finite_text(name: str, sizes: list[int], low: int) -> str | None:
    first, last, count = sizes[0], sizes[-1], len(sizes)
    if count == 1:
        return f"{name} == {first}"
    step = sizes[1] - first
    if sizes == list(range(first, last + 1, step)) and (step == 1 or count > 3):
        text = f"{first} <= {name} <= {last}" if first > min(low, 1) else f"{name} <= {last}"
        return text if step == 1 else f"{text} and {name} % {step} == {first % step}"
    gaps = [0, *(i for i in range(1, count) if sizes[i] - sizes[i - 1] > 1), count]
    intervals = [(sizes[a], sizes[b - 1]) for a, b in pairwise(gaps)]
    if len(intervals) <= _MOST_INTERVALS and 2 * len(intervals) < count:
        return " or ".join(f"{name} == {a}" if a == b else f"{a} <= {name} <= {b}" for a, b in intervals)
    return f"{name} in {_list_text(sizes)}" if count <= _LONGEST_LIST else None


def _without_text(name: str, sizes: list[int]) -> str:
    if not sizes:
        return ""
    return f"{name} != {sizes[0]}" if len(sizes) == 1 else f"{name} not in {_list_text(sizes)}"


def _list_text(sizes: list[int]) -> str:
    return "{" + ", ".join(map(str, sizes)) + "}"
