"""The tensors of a draft whose elements some rule reads.

A rule that reads the elements of an input makes the layers before it follow elements, back to the constants. So demand goes backwards,
from a new reader to all that its elements come from, and ends when the last reader is gone. It depends on operations and wiring alone, and
on no fact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from typing import TypeAlias

from irshape.editing.state import Item, State, Value
from irshape.inference.schedule import Common
from irshape.inference.transfer import ENDS, TUPLE_ENDS

_Reads: TypeAlias = tuple[tuple[Value, ...], tuple[tuple[Value, frozenset[int]], ...]]
_NOTHING: _Reads = ((), ())
_NONE: frozenset[int] = frozenset()


class Demand:
    """What is read of each tensor: counts of the readers of its elements, and of its least and greatest element.

    `common_of` gives what the layers of a signature share; `conditions_of` gives the positions of inputs that are conditions of bodies.
    """

    def __init__(self, state: State, common_of: Callable[[Item], Common], conditions_of: Callable[[Item], Iterable[int]]) -> None:
        self._state = state
        self._common_of = common_of
        self._conditions_of = conditions_of
        self._elements: Counter[Value] = Counter()
        self._ends: Counter[tuple[Value, frozenset[int]]] = Counter()
        self._reads: dict[Item, _Reads] = {}
        self.update(state.in_order)  # backwards: the last one is taken first

    def wanted(self, item: Item) -> frozenset[int]:
        """The positions of the outputs whose elements are read; for a Const perhaps the mark of a reader of its ends."""
        common = self._common_of(item)
        if not common.is_followed:
            return _NONE
        wanted = frozenset([value.index for value in item.outputs if self._elements[value]])
        if wanted or not common.has_ends:
            return wanted
        return next((mark for mark in (TUPLE_ENDS, ENDS) if self._ends[item.outputs[0], mark]), _NONE)

    def follow(self, values: Collection[Value], count: int = 1) -> set[Item]:
        """Count one reader more of the elements of some tensors (or less, with -1), and return the items to visit again."""
        for value in values:
            self._elements[value] += count
        items = {value.item for value in values}
        return items | self.update(items)

    def update(self, items: Iterable[Item]) -> set[Item]:
        """Look again at what some items read, and return the items of whose outputs other elements are read than before."""
        pending = list(items)
        changed: set[Item] = set()
        while pending:
            item = pending.pop()
            old = self._reads.get(item, _NOTHING)
            new = self._read_by(item) if self._state.is_live(item) else _NOTHING
            if new == old:
                continue
            self._reads[item] = new
            sources = {value.item for value in (*new[0], *old[0], *[value for value, _ in (*new[1], *old[1])])}
            before = {source: self._said_of(source) for source in sources}
            self._elements.update(new[0])
            self._elements.subtract(old[0])
            self._ends.update(new[1])
            self._ends.subtract(old[1])
            moved = [source for source in sources if self._said_of(source) != before[source]]
            changed.update(moved)
            pending += moved
        return changed

    def _said_of(self, item: Item) -> tuple[bool, ...]:
        """Which outputs of an item are read."""
        found = [self._elements[value] > 0 for value in item.outputs]
        return *found, *(self._ends[value, mark] > 0 for value in item.outputs for mark in (ENDS, TUPLE_ENDS))

    def _read_by(self, item: Item) -> _Reads:
        """The tensors whose elements, and those whose ends, the rule of an item reads."""
        common = self._common_of(item)
        inputs = item.inputs
        is_asked = common.is_followed and any(self._elements[value] for value in item.outputs)
        positions = [*(common.followed if is_asked else common.always), *self._conditions_of(item)]
        elements = [inputs[position] for position in positions if position < len(inputs)]
        ends = [(inputs[position], mark) for position, mark in common.ended if position < len(inputs)]
        return tuple([one for one in elements if one is not None]), tuple([(one, mark) for one, mark in ends if one is not None])
