"""Loop: the number of iterations, and the outputs of a body that may run none."""

from __future__ import annotations

from math import isfinite
from typing import Any

from irshape.inference.control.repetition import PATIENCE, Back, Repetition
from irshape.inference.control.rule import Asking, Outputs
from irshape.inference.facts import Fact
from irshape.inference.run import Run
from irshape.model.bodies import Body, BodyOutput, conditions_passed
from irshape.model.model import Node
from irshape.report.text import counted
from irshape.shape.dim import INT64_MAX, Dim, Size, are_known, bounds, is_filled, narrow, origins
from irshape.shape.element_type import ElementType
from irshape.shape.polynomial import UNBACKED
from irshape.shape.shape import Shape


class LoopRule(Repetition):
    """The rule of Loop."""

    __slots__ = ()

    def outputs(self) -> Outputs:
        [body], [declared] = self.bodies, self.declared
        self._check_iteration(body, declared.slots)
        is_entered = self.condition(self.facts[1], "execution_condition")
        if body.condition is None:
            # OpenVINO leaves such a Loop as it is, with the one output that every operation begins with.
            self.warn("R201", "the port map names no Result of the body as the execution_condition")
            return (self.intern(ElementType.dynamic, None),)
        self.condition(declared.value(body.condition), "the condition in the body")
        trip_count = self.number(self.facts[0], "trip_count")
        if isinstance(trip_count, float):  # OpenVINO drops the fraction
            trip_count = int(trip_count) if isfinite(trip_count) else None
        own = sum(entry.external in (0, 1) for entry in body.inputs)
        if own > 2 or len(self.facts) != len(body.inputs) + 2 - own:
            self.fault(f"the port map has {counted(len(body.inputs), 'input')}, the layer has {len(self.facts)}", self.node.layer.offset)
        if len(body.outputs) < self.listed:
            self.fault(f"the port map has {counted(len(body.outputs), 'output')}, the layer has {self.listed}", self.node.layer.offset)
        self.check_inputs(self.bodies)
        self._check_slices(body)
        first = self.first(body, declared)
        run = yield from self.ask(body, first)
        self._check_iteration(body, run.slots)
        repeats = self._repeats(body, run)
        count = 1 if repeats is False else trip_count if repeats and isinstance(trip_count, int) and trip_count >= 0 else None
        theirs = yield from self._openvino_view(body, first, run, count)
        if repeats is not False and trip_count not in (0, 1):
            run = yield from self.fixpoint(body, first, run)
        iterations = self._iterations(is_entered, self._repeats(body, run), trip_count)
        is_empty = self.condition(self.facts[1].openvino_view, "execution_condition") is False
        runs = self._runs(is_entered, trip_count, iterations)
        if origins(runs) & UNBACKED or not is_filled(runs):
            self.need_not_run(body)
        outputs = []
        for index, output in enumerate(body.outputs):
            fact = self._left(output, run.value(output.result), index, iterations, is_empty=is_empty)
            view = self._left(output, theirs.value(output.result).openvino_view, index, count, is_empty=is_empty)
            if runs != 1:
                entered = [first[entry.parameter] for entry in body.inputs if entry.back is output.result and output.slice is None]
                if entered:
                    fact = self._or_entered(fact, entered, view.shape, index)
                elif output.slice is None and is_entered is False:
                    fact = self._never_made(fact)
                is_counted = is_entered or iterations is not trip_count
                if runs != 0 and not self._holds_if_skipped(output, fact, view.shape, entered, is_counted=is_counted):
                    with self.assumes():
                        self.require_ge(runs, 1, "output {index} has this shape only if the Loop runs at least one iteration", index=index)
            outputs.append(self.seen_as(fact, view))
        return tuple(outputs)

    def _check_slices(self, body: Body) -> None:
        """Check that iterations take and give parts. OpenVINO reads a Loop that does not; its CPU plugin cannot run it."""
        sliced = [(f"input {entry.external}", entry.slice, entry.offset) for entry in body.inputs]
        sliced += [(f"output {index}", output.slice, output.offset) for index, output in enumerate(body.outputs)]
        for port, slice, offset in sliced:
            if slice is not None and slice.stride == 0:
                self.never_runs(f"stride of {port} must not be 0", offset)
            if slice is not None and slice.part_size <= 0:
                self.never_runs(f"part_size of {port} must be at least 1, got {slice.part_size}", offset)

    def _runs(self, is_entered: bool | None, trip_count: Any, iterations: Size) -> Size:
        """A number that is at least 1 where a Loop runs an iteration, and else 0: 1 if it always does, the trip count, or a symbol."""
        if is_entered is False or trip_count == 0:
            return 0
        if is_entered and isinstance(trip_count, (int, Dim)):
            low, high = bounds(trip_count)
            if not low <= 0 <= high:
                return 1
            if low == 0:
                return trip_count
        is_open = isinstance(iterations, Dim) and iterations is not trip_count
        return iterations if is_open else self.scope.unknown((self.key, "iterations"), 0, is_unbacked=True)

    def _holds_if_skipped(self, output: BodyOutput, fact: Fact, theirs: Shape, entered: list[Fact], *, is_counted: bool) -> bool:
        """Whether an output has its shape even if no iteration runs.

        Then OpenVINO's CPU plugin gives the value that entered. If no value enters, each size is 0 that OpenVINO does not know, as
        `theirs` says. `is_counted` says that the number of iterations, by which parts are joined, is 0 then.
        """
        shape = fact.shape
        if fact.is_poisoned or shape is None:
            return True
        if entered:
            shapes = [one.shape for one in entered]
            return all(one is not None and len(one) == len(shape) and all(map(_is_within, one, shape)) for one in shapes)
        if theirs is None or len(theirs) != len(shape):
            return False
        joined = self.axis(output.slice.axis, len(shape)) if output.slice is not None and is_counted else None
        return all(type(size) is int or axis == joined for axis, size in enumerate(theirs))

    def _openvino_view(self, body: Body, given: dict[Node, Fact], run: Run, count: int | None) -> Asking:
        """The pass over the body of a Loop from which OpenVINO takes its outputs: a size that changes is any size there.

        `count` is the number of iterations, where OpenVINO knows it.
        """
        backs = self.free_backs(body)
        for _ in range(PATIENCE if count is None else min(count, PATIENCE)):
            changed = dict(given)
            for parameter, back in backs:
                before, after = given[parameter], run.value(back)
                if before.shape is not None and not after.is_poisoned:
                    shape = self._freed(parameter, before.shape, after.shape)
                    changed[parameter] = before if shape is before.shape else self.intern(before.element_type, shape)
            if changed == given:
                break
            given = changed
            run = yield from self.pass_over(body, given)
        return run

    def _freed(self, parameter: Node, before: tuple[Size, ...], after: Shape) -> Shape:
        """A shape in which a size that comes back with other bounds may be any size."""
        if after is None or len(after) != len(before):
            return None
        within = [_is_within(y, x) for x, y in zip(before, after, strict=True)]
        if all(within):
            return before
        key = (self.key, "any", parameter.index)
        pairs = enumerate(zip(before, within, strict=True))
        return tuple([size if stays else self.scope.unknown((*key, axis), 0) for axis, (size, stays) in pairs])

    def _never_made(self, fact: Fact) -> Fact:
        """The output of a Loop that runs no iteration, if no value enters: no rows. OpenVINO sees this only with numbers for all sizes."""
        if fact.is_poisoned or not fact.shape or not isinstance(fact.shape[0], Dim):
            return fact
        return self.intern(fact.element_type, (0, *fact.shape[1:]))

    def _or_entered(self, fact: Fact, entered: list[Fact], theirs: Shape, index: int) -> Fact:
        """The output of a Loop that may run no iteration: the result of the last iteration, or the value that entered the first.

        OpenVINO's CPU plugin gives the latter only if it is within `theirs`, the shape that OpenVINO infers; otherwise it fails.
        """
        shape = fact.shape
        for one in entered:
            if fact.is_poisoned or one.is_poisoned or shape is None or (theirs is not None and are_known(theirs)):
                break
            if one.shape is None or len(one.shape) != len(shape):
                if theirs is None:
                    shape = None
            elif theirs is None or len(theirs) != len(shape) or not any(map(_are_apart, one.shape, theirs)):
                wholes = theirs if theirs is not None and len(theirs) == len(shape) else [None] * len(shape)
                shape = tuple(
                    [self._either_size((index, axis), *sizes) for axis, sizes in enumerate(zip(shape, one.shape, wholes, strict=True))]
                )
        return fact if shape is fact.shape else self.intern(fact.element_type, shape)

    def _either_size(self, key: tuple[int, int], left: Size, entered: Size, whole: Size | None) -> Size:
        """A size that is one of two, the second one only within a third."""
        hull = self.scope.hull((self.key, "entered", *key), left, entered)
        if whole is None or hull is left or isinstance(hull, int):
            return hull
        return narrow(hull, *bounds(whole))

    def _check_iteration(self, body: Body, slots: list[Fact]) -> None:
        shape = slots[body.iteration.first_slot].shape if body.iteration is not None else None
        if shape is not None and len(shape) > 1:
            self.fail("S101", f"the current iteration must have rank 0 or 1, got rank {len(shape)}")

    def _repeats(self, body: Body, run: Run) -> bool | None:
        """Whether the body's own condition is always true, always false, or not known."""
        assert body.condition is not None
        known = self.condition(run.value(body.condition), "the condition in the body")
        for entry in conditions_passed(body):
            known = self.condition(self.facts[entry.external], "the condition in the body")
        return known

    def _iterations(self, is_entered: bool | None, is_repeated: bool | None, trip_count: Any) -> Size:
        """How often a Loop's body runs."""
        known = trip_count if isinstance(trip_count, (int, Dim)) else None
        if is_entered is False:
            return 0
        if is_repeated is False:
            return 1
        if isinstance(known, int) and known >= 0:
            return known if is_repeated else self.unknown(0, known)
        if isinstance(known, Dim) and is_repeated and bounds(known)[0] >= 0:
            return known
        return self.unknown(0)

    def _left(self, output: BodyOutput, fact: Fact, index: int, iterations: Size | None, *, is_empty: bool) -> Fact:
        """The fact of an output of a Loop. OpenVINO knows the length of joined parts only if it knows both factors.

        `is_empty` says that OpenVINO knows that no iteration runs.
        """
        shape = fact.shape
        if fact.is_poisoned:
            return fact
        if output.slice is not None and is_empty:
            return self.intern(fact.element_type, (0,))
        if shape is None:
            return self.plain(fact)
        if output.slice is None:
            if is_empty and are_known(shape):
                if not shape:
                    self.fail("S101", f"output {index} of a Loop that is never entered must not be a scalar")
                shape = (0, *shape[1:])
        else:
            axis = self.axis(output.slice.axis, max(len(shape), 1))
            shape = shape or (1,)
            total = self.unknown() if iterations is None else self._total(shape[axis], iterations, index)
            shape = (*shape[:axis], total, *shape[axis + 1 :])
        return self.intern(fact.element_type, shape)

    def _total(self, part: Size, iterations: Size, index: int) -> Size:
        """The length of parts, one of each iteration, put together."""
        if type(part) is int:
            total = part * iterations
            if bounds(total)[0] > INT64_MAX:
                self.fail("S205", f"output {index} must have at most 2^63-1 elements along its axis, got {total}")
            return total
        # Parts may be of different sizes.
        (least, most), (fewest, many) = bounds(part), bounds(iterations)
        return self.unknown(_times(max(least, 0), fewest), _times(most, many))

    def entering_type(self, fact: Fact, declared: Fact) -> ElementType:
        return fact.element_type

    def free_backs(self, body: Body) -> list[Back]:
        """OpenVINO lets the shape of an output change that is not joined."""
        plain = {output.result for output in body.outputs if output.slice is None}
        return [(entry.parameter, entry.back) for entry in body.inputs if entry.back is not None and entry.back in plain]


def _is_within(inner: Size, outer: Size) -> bool:
    """Whether the bounds of a size lie within those of another."""
    (low, high), (least, most) = bounds(inner), bounds(outer)
    return least <= low and high <= most


def _are_apart(a: Size, b: Size) -> bool:
    """Whether the bounds of two sizes exclude each other; OpenVINO knows no more of them."""
    (low, high), (least, most) = bounds(a), bounds(b)
    return high < least or most < low


def _times(a: float, b: float) -> float:
    return 0 if a == 0 or b == 0 else a * b
