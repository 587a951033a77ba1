"""The traces that the output of a Reshape may have: the factors of its data in their order, put into axes of the recorded sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from irshape.ops.flow import OWN, Axis, Factor, Trace, key
from irshape.shape.dim import Dim, Size, product
from irshape.shape.limits import Work

# At most so many targets of a Reshape are found, in at most so many steps.
MOST_TARGETS: Final = 24
_MOST_STEPS: Final = 4096


class Target(NamedTuple):
    """A trace that the output of a Reshape may have.

    `mixed` counts the open factors of recorded size 1 that share an axis with others, and `moved` how far open factors move. `number`
    is the place of the target in the order in which they are found.
    """

    mixed: int
    moved: int
    number: int
    trace: Trace

    @property
    def shape(self) -> tuple[Size, ...]:
        """The sizes of the axes."""
        return tuple([product([one.size for one in axis]) for axis in self.trace])


def targets(
    trace: Trace, recorded: Sequence[int], products: Mapping[object, Axis] = MappingProxyType({}), work: Work | None = None
) -> list[Target]:
    """The traces that the output of a Reshape may have whose recorded shape is given, the most likely first.

    The factors of the data in their order are put into axes of the recorded sizes. A numeric factor is cut where an axis ends; so is a
    formula, on either side, and a formula that is one of the `products` where it was joined. Each step takes `work`; there are none if no
    work is left.
    """
    flat = [one for axis in trace for one in axis if one != (1, 1)]
    places = {one: axis for axis, factors in enumerate(trace) for one in factors if isinstance(one.size, Dim)}
    found = [Target(*_moves(target, places), number, target) for number, target in enumerate(_Filling(recorded, products, work).of(flat))]
    return sorted(found)


def _moves(target: Trace, places: Mapping[Factor, int]) -> tuple[int, int]:
    mixed = moved = 0
    for axis, factors in enumerate(target):
        for one in factors:
            if isinstance(one.size, Dim):
                mixed += one.recorded == 1 and sum(other.size != 1 for other in factors) > 1
                moved += abs(places.get(one, axis) - axis)
    return mixed, moved


class _Filled(NamedTuple):
    """How far axes are filled: `done` are whole, `taken` still needs factors of the recorded product `need`, and `rest` is left."""

    done: tuple[Axis, ...]
    need: int
    taken: Axis
    rest: tuple[Factor, ...]


class _Filling:
    """The ways to fill axes of recorded sizes with factors in their order."""

    def __init__(self, recorded: Sequence[int], products: Mapping[object, Axis], work: Work | None) -> None:
        self.recorded = recorded
        self.products = products
        self.work = work

    def of(self, factors: Sequence[Factor]) -> list[Trace]:
        """At most `MOST_TARGETS` traces; the steps are counted."""
        found: list[Trace] = []
        if not self.recorded or 0 in self.recorded:
            return found
        pending = [_Filled((), self.recorded[0], (), tuple(factors))]
        for _ in range(_MOST_STEPS):
            if not pending or len(found) >= MOST_TARGETS or (self.work is not None and self.work.is_done):
                break
            if self.work is not None:
                self.work.take(1)
            state = pending.pop()
            if len(state.done) < len(self.recorded):
                pending += reversed(list(self._next(state)))
            elif not state.rest:
                found.append(state.done)
            elif all(one.recorded == 1 for one in state.rest):
                found.append((*state.done[:-1], (*state.done[-1], *state.rest)))
        return found

    def _next(self, state: _Filled) -> Iterator[_Filled]:
        """The states that one more step leads to."""
        done, need, taken, rest = state
        if need == 1:
            following = self.recorded[len(done) + 1] if len(done) + 1 < len(self.recorded) else 1
            yield _Filled((*done, taken or (OWN,)), following, (), rest)
            if rest and rest[0].recorded == 1:
                yield _Filled(done, 1, (*taken, rest[0]), rest[1:])
            return
        (size, recorded), more = rest[0] if rest else Factor(1), rest[1:]
        if not recorded:
            return
        known = self.products.get(key(size)) if isinstance(size, Dim) else None
        if need % recorded == 0:
            yield _Filled(done, need // recorded, (*taken, rest[0]), more)
        elif recorded % need == 0:
            left = recorded // need
            if known is not None:
                yield _Filled(done, need, taken, (*known, *more))
            if isinstance(size, int):
                yield _Filled(done, 1, (*taken, Factor(need, need)), (Factor(left, left), *more))
            else:
                yield _Filled(done, 1, (*taken, Factor(size // left, need)), (Factor(left, left), *more))
                yield _Filled(done, 1, (*taken, Factor(need, need)), (Factor(size // need, left), *more))
        elif isinstance(size, int) and more and isinstance(second := more[0].size, int):
            yield _Filled(done, need, taken, (Factor(size * second, recorded * second), *more[1:]))
        elif known is not None:
            yield _Filled(done, need, taken, (*known, *more))
