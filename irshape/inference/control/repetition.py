"""What Loop and TensorIterator share: the first iteration, and the fixpoint of the facts that one iteration hands to the next.

No body is ever run by its trip count. A fact that an iteration hands to the next is widened until it no longer changes: at first to an
interval that holds both, then to one without the end that still moves, so the search ends soon and holds for every iteration.
"""

from __future__ import annotations

from math import inf
from typing import Any, Final, TypeAlias

from irshape.inference.control.rule import Asking, Control
from irshape.inference.facts import Fact
from irshape.inference.run import Run
from irshape.model.bodies import Body, BodyInput
from irshape.model.model import Node
from irshape.report.diagnostic import ERROR
from irshape.shape.dim import Dim, Size, bounds, eq
from irshape.shape.element_type import ElementType
from irshape.shape.shape import format_shape

# Passes after which a size that still changes becomes unknown.
PATIENCE: Final = 16

# A Parameter of the body, and the Result whose fact comes back to it.
Back: TypeAlias = tuple[Node, Node]


class Repetition(Control):
    """The base class of the rules that repeat a body."""

    __slots__ = ()

    def entering_type(self, fact: Fact, declared: Fact) -> ElementType:
        """The element type of a fact that enters the body by a Parameter, whose own fact is `declared`."""
        raise NotImplementedError

    def free_backs(self, body: Body) -> list[Back]:
        """The Parameters whose shapes may change from one iteration to the next, each with the Result that comes back to it."""
        raise NotImplementedError

    def first(self, body: Body, declared: Run) -> dict[Node, Fact]:
        """The facts of the Parameters in the first iteration."""
        given = {}
        for entry in body.inputs:
            fact = self.plain(self.facts[entry.external])
            element_type = self.entering_type(fact, declared.slots[entry.parameter.first_slot])
            part = self._part(entry, fact, element_type)
            given[entry.parameter] = (
                part if fact.openvino_view is fact else self.seen_as(part, self._part(entry, fact.openvino_view, element_type))
            )
        return given

    def _part(self, entry: BodyInput, fact: Fact, element_type: ElementType) -> Fact:
        """The fact that a Parameter takes from a tensor: a part of the tensor, or all of it."""
        shape = fact.shape
        if entry.slice is not None and shape is not None:
            axis = self.axis(entry.slice.axis, len(shape))
            shape = (*shape[:axis], self.dimension(entry.slice.part_size), *shape[axis + 1 :])
        return self.intern(element_type, shape, is_poisoned=fact.is_poisoned)

    def fixpoint(self, body: Body, given: dict[Node, Fact], run: Run) -> Asking:
        """The pass over the body in which every fact that is fed back lies within the fact that entered."""
        free = self.free_backs(body)
        joined = {output.result for output in body.outputs if output.slice is not None}
        backs = [(entry.parameter, entry.back) for entry in body.inputs if entry.back is not None]
        for tries in range(PATIENCE + 2):
            if any(found.severity == ERROR for found in run.diagnostics):
                return run
            changed = dict(given)
            for parameter, back in backs:
                is_free = (parameter, back) in free
                if back in joined and not is_free:
                    # Parts can only be joined if all iterations give the same shape.
                    continue
                changed[parameter] = self._widened(parameter, given[parameter], run.value(back), tries, is_free=is_free)
            if changed == given:
                break
            given = changed
            run = yield from self.ask(body, given)
        for parameter, back in backs:
            self._compare(parameter, given[parameter], run.value(back))
        return run

    def _widened(self, parameter: Node, before: Fact, after: Fact, tries: int, *, is_free: bool) -> Fact:
        """A fact that includes the fact that entered and the fact that is fed back.

        OpenVINO lets a shape change if it is that of an output of a Loop (`is_free`). Otherwise it compiles the body for the
        fact that enters first, so that rank and known sizes can only stay.
        """
        if before.is_poisoned or before.shape is None:
            return before
        shape, new, is_poisoned = before.shape, after.shape, after.is_poisoned
        if new is None or len(shape) != len(new) or tries >= PATIENCE:
            return self.intern(before.element_type, None, is_poisoned=is_poisoned) if is_free else before
        key = (self.key, "back", parameter.index)
        sizes = [
            x if type(x) is int and not is_free else self._wider((*key, axis), x, y)
            for axis, (x, y) in enumerate(zip(shape, new, strict=True))
        ]
        return self.intern(before.element_type, tuple(sizes), is_poisoned=is_poisoned)

    def _compare(self, parameter: Node, before: Fact, after: Fact) -> None:
        """Check that a tensor fed back has the shape for which the body was compiled. OpenVINO checks this only at run time."""
        shape, new = before.shape, after.shape
        if before.is_poisoned or after.is_poisoned or shape is None or new is None:
            return
        if len(new) != len(shape) or any(
            type(wanted) is int and eq(size, wanted) is False for size, wanted in zip(new, shape, strict=True)
        ):
            back, there = format_shape(new), format_shape(shape)
            self.warn("R401", f"the tensor fed back to {parameter.name!r} must have the shape {there}, got {back}")

    def _wider(self, key: tuple[Any, ...], before: Size, after: Size) -> Size:
        """A size that holds both; each that has been widened once is a symbol of its own, of which nothing but its range is known."""
        low, high = bounds(before)
        least, most = bounds(after)
        is_own = isinstance(before, Dim) and before is self.scope.unknown(key, *before.range)
        if is_own:
            if low <= least and most <= high:
                return before
            return self.scope.unknown(key, low if low <= least else 0, high if most <= high else inf)
        return self.scope.hull(key, before, after)
