"""Which of several amounts of memory is the greatest as one size grows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby, islice
from typing import Final

from irshape.answers.cost.formula import Amount, Formula, values
from irshape.shape.limits import Work
from irshape.shape.polynomial import Expression, split

# Sizes up to this one are all tried for another layer at the peak; beyond it, sizes grow by a half and the place is found by halving.
_EVERY: Final = 512
_LARGEST: Final = 1 << 20
# Layers that have the peak for fewer sizes in a row take turns, if that happens more often than this in a row.
_SHORT: Final = 64
_MOST_RUNS: Final = 3
# So many formulas are computed in a step of work.
_A_STEP: Final = 16
# A size is valid, or one of so many after it.
_NEAR: Final = 128
# The operations that never shrink as their operands grow; a division, only by a number.
_GROWING: Final = frozenset({"floor", "min", "max", "add"})


class Race:
    """A race of several amounts as one size grows: `winner` is the place of the greatest of them, of several the first."""

    def __init__(self, symbol: str, amounts: Sequence[Amount], is_valid: Callable[[int], bool], work: Work) -> None:
        self._symbol = symbol
        self._is_valid = is_valid
        self._work = work
        self._places = [place for place, one in enumerate(amounts) if not any(_exceeds(other, one) for other in amounts)]
        running = [amounts[place] for place in self._places]
        self._evaluated = values(running)
        self._are_growing = all(map(_grows, running))

    def turns(self, low: int, high: int | None) -> list[tuple[int, tuple[int, ...]]]:
        """The first size of each stretch with its winners: one, or several that take turns at every few sizes.

        Every size up to 512 above `low` is tried. Beyond, sizes grow by a half up to 2^20, and between two of them the place where another
        one takes over is found by halving. The answer is not complete if no work is left.
        """
        last = _LARGEST if high is None else high
        is_alone = len(self._places) == 1
        every = low + 1 if is_alone else min(low + _EVERY, last + 1)
        winners = self._first_winners(range(low, every))
        found = _turns(winners or [(low, self.winner(low))])
        before = every - 1 if winners else last
        while before < last and not is_alone and not self._work.is_done:
            after = min(before + before // 2 + 1, last)
            present = found[-1][1]
            if self._winner_near(after) not in present:
                before = self._valid(_first(before, after, lambda size, present=present: self._winner_near(size) not in present))  # type: ignore[misc]
                found.append((before, (self.winner(before),)))
            else:
                before = after
        return found

    def winner(self, size: int) -> int:
        """The winner at a size."""
        found = self._memories(size)
        return self._places[found.index(max(found))]

    def _memories(self, size: int) -> list[int]:
        """The memories at a size; none takes any where one of them divides by 0, because such a size is not valid."""
        self._work.take(1 + len(self._places) // _A_STEP)
        try:
            return self._evaluated({self._symbol: size})
        except ZeroDivisionError:
            return [0] * len(self._places)

    def _has_number(self, size: int) -> bool:
        """Whether a size is valid, and no memory divides by 0 there: those that grow never do."""
        return self._is_valid(size) and (self._are_growing or any(self._memories(size)))

    def _valid(self, size: int) -> int:
        """The first valid size from this one on, if it is near."""
        return next((one for one in range(size, size + _NEAR) if self._has_number(one)), size)

    def _winner_near(self, size: int) -> int:
        """The winner at the first valid size from this one on."""
        leader = _leader(self._memories(size), self._memories(size + _NEAR - 1)) if self._are_growing else None
        return self.winner(self._valid(size)) if leader is None else self._places[leader]

    def _first_winners(self, sizes: Sequence[int]) -> list[tuple[int, int]]:
        """Valid sizes with their winners; of a long run of sizes with one winner, only as many as make it a long one."""
        if not self._are_growing:
            sizes = [size for size in sizes if not self._work.is_done and self._has_number(size)]
        found: list[tuple[int, int]] = []
        for place, run in groupby(sizes, key=self._winners(sizes).__getitem__):
            valid = (size for size in run if not self._work.is_done and self._has_number(size))
            found += [(size, self._places[place]) for size in islice(valid, _SHORT)]
        return found

    def _winners(self, sizes: Sequence[int]) -> dict[int, int]:
        """The place of the greatest at each size, among those that are running."""
        found: dict[int, int] = {}
        pending = [(0, len(sizes) - 1, self._memories(sizes[0]), self._memories(sizes[-1]))] if sizes else []
        while pending:
            begin, end, before, after = pending.pop()
            leader = _leader(before, after) if self._are_growing else None
            if leader is not None:
                found.update(dict.fromkeys(sizes[begin : end + 1], leader))
            elif end - begin < 2:
                found[sizes[begin]], found[sizes[end]] = before.index(max(before)), after.index(max(after))
            else:
                middle = (begin + end) // 2
                between = self._memories(sizes[middle])
                pending += [(middle, end, between, after), (begin, middle, before, between)]
        return found


def _leader(before: Sequence[int], after: Sequence[int]) -> int | None:
    """The place of the memory that is the greatest at two sizes and between them, if all grow; None if these sizes do not tell."""
    least = max(before)
    best = before.index(least)
    return best if all(memory < least for place, memory in enumerate(after) if place != best) else None


def _grows(found: Amount) -> bool:
    """Whether an amount never shrinks as sizes grow, as its terms alone tell."""
    if isinstance(found, int):
        return True
    table = found.table
    expressions: list[Expression] = [found.expression]
    for index in table.atoms_below(found.expression):
        atom = table.atoms[index]
        if atom.arguments and (atom.kind not in _GROWING or (atom.kind == "floor" and not isinstance(atom.arguments[1], int))):
            return False
        expressions += atom.arguments
    terms = [term for expression in expressions for term in split(expression)[1]]
    return all(factor > 0 and (len(one) == 1 or all(table.ranges[index].low >= 0 for index in one)) for one, factor in terms)


def _exceeds(a: Amount, b: Amount) -> bool:
    """Whether `a` is more than `b` for all sizes from 1 on, as their terms alone tell."""
    (constant, terms), (other, others) = (split(one.expression if isinstance(one, Formula) else one) for one in (a, b))
    if constant < other or len(terms) < len(others):
        return False
    more = dict(terms)
    for monomial, factor in others:
        more[monomial] = more.get(monomial, 0) - factor
    is_more = constant > other
    for monomial, factor in more.items():
        if factor and isinstance(a, Formula):
            table = a.table
            low = min([table.ranges[index].low if table.atoms[index].arguments else 1 for index in monomial])
            if factor < 0 or low < 0:
                return False
            is_more |= low > 0
    return is_more


def _turns(winners: Sequence[tuple[int, int]]) -> list[tuple[int, tuple[int, ...]]]:
    """The first size of each stretch with its winners: one, or several that take turns at every few sizes."""
    runs: list[tuple[int, int, int]] = []
    for size, winner in winners:
        if runs and runs[-1][2] == winner:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1, winner)
        else:
            runs.append((size, 1, winner))
    found: list[tuple[int, tuple[int, ...]]] = []
    for is_short, group in groupby(runs, key=lambda run: run[1] < _SHORT):
        several = list(group)
        if is_short and len(several) > _MOST_RUNS:
            found.append((several[0][0], tuple(dict.fromkeys(winner for *_, winner in several))))
        else:
            found += [(first, (winner,)) for first, _, winner in several]
    return found


def _first(low: int, high: int, is_so: Callable[[int], bool]) -> int:
    """The first size after `low` for which something is so, if it is so from there to `high`."""
    while high - low > 1:
        middle = (low + high) // 2
        if is_so(middle):
            high = middle
        else:
            low = middle
    return high
