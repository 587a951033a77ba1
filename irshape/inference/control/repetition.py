"""What Loop and TensorIterator share: the first iteration, and the fixpoint of the facts that one iteration hands to the next.

No body is ever run by its trip count. A fact that an iteration hands to the next is widened until it no longer changes: at first to an
interval that holds both, then to one without the end that still moves, so the search ends soon and holds for every iteration.
"""

from __future__ import annotations

from math import inf, isfinite
from typing import Any, Final, TypeAlias

from irshape.inference.control.rule import Asking, Control, Outputs
from irshape.inference.facts import Fact
from irshape.inference.run import NodeReport, Run
from irshape.model.bodies import Body, BodyInput, BodyOutput, Slice, conditions_passed
from irshape.model.model import Node
from irshape.ops.context import RuleFailure
from irshape.report.diagnostic import Diagnostic, Diagnostics
from irshape.report.finding import Finding
from irshape.report.text import counted
from irshape.shape.dim import INT64_MAX, Dim, Size, are_known, bounds, eq, format_size, is_filled, is_within, narrow, origins
from irshape.shape.element_type import ElementType
from irshape.shape.polynomial import UNBACKED
from irshape.shape.range import times
from irshape.shape.shape import Shape, format_shape

# Passes after which a size that still changes becomes unknown.
PATIENCE: Final = 16

# A Parameter of the body, and the Result whose fact comes back to it.
Back: TypeAlias = tuple[Node, Node]


class Repetition(Control):
    """The base class of the rules that repeat a body; a Parameter has the element type of what enters, or with `declares_types` its own."""

    __slots__ = ()
    declares_types = False

    def _axis_of(self, entry: BodyInput | BodyOutput, rank: int) -> int:
        """The axis along which an entry of the port map cuts a tensor or joins parts, counted from the front."""
        assert entry.slice is not None
        axis = entry.slice.axis
        if not -rank <= axis < rank:
            self.findings.append(Finding("V102", f"axis must be in [{-rank}, {rank - 1}], got {axis}", offset=entry.offset))
            raise RuleFailure
        return axis % rank

    def free_backs(self, body: Body) -> list[Back]:
        """The Parameters whose shapes may change from one iteration to the next, each with the Result that comes back to it."""
        return []

    def check_counts(self, body: Body, own: int, *, is_right: bool) -> None:
        """Check that the port map names all outputs, and as `is_right` says all inputs, of which the first `own` need no entry.

        Of several entries with one number OpenVINO reads the first.
        """
        layer = self.node.layer
        for tag, ports, known, count in (
            ("input", layer.inputs[own:], len(body.inputs), len(body.inputs) if is_right else len(self.facts)),
            ("output", layer.outputs, len(body.outputs), self.listed),
        ):
            if known == count or (tag == "output" and known > count):
                continue
            message, offset = f"the port map has {counted(known, tag)}, the layer has {count}", layer.offset
            entries = [one for one in layer.port_maps or () if one.map == "port_map" and one.tag == tag]
            numbers = [one.attributes.get("external_port_id", "").strip() for one in entries]
            twice = next((place for place, one in enumerate(numbers) if one != "-1" and numbers.index(one) < place), None)
            if twice is not None:
                line, _ = self.node.model.document.position(entries[twice].offset)
                lacking = [str(port.id) for port in ports if str(port.id) not in numbers]
                message = f"two {tag}s of the port map have external_port_id {numbers[twice]}, the other one in line {line}"
                message += f", and none has {' or '.join(lacking)}" if lacking else ""
                offset = entries[numbers.index(numbers[twice])].offset
            self.fault(message, offset)

    def first(self, body: Body, declared: Run) -> dict[Node, Fact]:
        given = {}
        for entry in body.inputs:
            fact = self.plain(self.facts[entry.external])
            own = declared.slots[entry.parameter.first_slot] if self.declares_types else fact
            element_type = own.element_type
            part = self._part(entry, fact, element_type)
            if fact.openvino_view is not fact:
                part = self.seen_as(part, self._part(entry, fact.openvino_view, element_type))
            given[entry.parameter] = part
        return given

    def _part(self, entry: BodyInput, fact: Fact, element_type: ElementType) -> Fact:
        """The fact that a Parameter takes from a tensor: a part of the tensor, or all of it."""
        shape = fact.shape
        if entry.slice is not None and shape is not None:
            axis = self._axis_of(entry, len(shape))
            shape = (*shape[:axis], self.dimension(entry.slice.part_size), *shape[axis + 1 :])
        return self.intern(element_type, shape, is_poisoned=fact.is_poisoned)

    def fixpoint(self, body: Body, given: dict[Node, Fact], run: Run) -> Asking:
        """The pass over the body in which every fact that is fed back lies within the fact that entered."""
        free = self.free_backs(body)
        joined = {output.result for output in body.outputs if output.slice is not None}
        backs = [(entry.parameter, entry.back) for entry in body.inputs if entry.back is not None]
        for tries in range(PATIENCE + 2):
            if run.has_errors:
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
        fact that enters first as OpenVINO knows it, so that rank and known sizes can only stay.
        """
        if before.is_poisoned or before.shape is None:
            return before
        shape, new, is_poisoned = before.shape, after.shape, after.is_poisoned
        view = before.openvino_view.shape
        compiled = view if view is not None and len(view) == len(shape) else (None,) * len(shape)
        if new is None or len(shape) != len(new) or tries >= PATIENCE:
            return self.intern(before.element_type, None, is_poisoned=is_poisoned) if is_free else before
        key = (self.key, "back", parameter.index)
        sizes = [
            x if type(x) is int and type(known) is int and not is_free else self._wider((*key, axis), x, y)
            for axis, (x, y, known) in enumerate(zip(shape, new, compiled, strict=True))
        ]
        if tuple(sizes) == shape and not is_poisoned:
            return before
        return self.intern(before.element_type, tuple(sizes), is_poisoned=is_poisoned)

    def _compare(self, parameter: Node, before: Fact, after: Fact) -> None:
        """Check that a tensor fed back has the shape for which the body was compiled. OpenVINO checks this only at run time."""
        shape, new = before.shape, after.shape
        if before.is_poisoned or after.is_poisoned or shape is None or new is None:
            return
        pairs = zip(new, shape, strict=False)
        if len(new) != len(shape) or any(type(wanted) is int and eq(size, wanted) is False for size, wanted in pairs):
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


class LoopRule(Repetition):
    """The rule of Loop."""

    __slots__ = ()

    def outputs(self) -> Outputs:
        [body], [declared] = self.bodies, self.declared
        self._check_iteration(body, declared.slots)
        is_entered = self.condition(self.facts[1], "execution_condition")
        if body.condition is None:
            # OpenVINO leaves such a Loop as it is, with the one output that every operation begins with.
            message = "the port map names no Result of the body as the execution_condition"
            if self.listed > 1:
                self.fault(f"{message}, and OpenVINO gives such a Loop 1 output", self.node.layer.offset)
            else:
                self.warn("R201", message)
            return (self.intern(ElementType.dynamic, None),)
        self.condition(declared.value(body.condition), "the condition in the body")
        trip_count = self.number(self.facts[0], "trip_count")
        if isinstance(trip_count, float):  # OpenVINO drops the fraction
            trip_count = int(trip_count) if isfinite(trip_count) else None
        own = sum(entry.external in (0, 1) for entry in body.inputs)
        self.check_counts(body, 2, is_right=own <= 2 and len(self.facts) == len(body.inputs) + 2 - own)
        self.check_inputs(self.bodies)
        self._check_slices(body)
        first = self.first(body, declared)
        run = yield from self.ask(body, first)
        self._check_iteration(body, run.slots)
        repeats = self._repeats(body, run)
        count = 1 if repeats is False else trip_count if repeats and isinstance(trip_count, int) and trip_count >= 0 else None
        theirs = yield from self._openvino_view(body, first, run, count)
        if repeats is not False and trip_count not in (0, 1):
            later = yield from self.fixpoint(body, first, run)
            run = self.run.inner[self.node.index, body.name] = _with_first(run, later)
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

    def first(self, body: Body, declared: Run) -> dict[Node, Fact]:
        """OpenVINO takes a size of 0 of a value that the body gives anew for any size, so that a list may begin empty."""
        given = super().first(body, declared)
        for entry in body.inputs:
            fact, key = given[entry.parameter], (self.key, "empty", entry.parameter.index)
            view = fact.openvino_view
            empty = [type(size) is int and size == 0 for size in view.shape or ()]
            if entry.back is not None and view.shape is not None and any(empty):
                sizes = [self.scope.unknown((*key, axis), 0) if empty[axis] else size for axis, size in enumerate(view.shape)]
                view = self.intern(view.element_type, tuple(sizes), is_poisoned=view.is_poisoned)
                given[entry.parameter] = view if self.scope.has_intervals_only else self.seen_as(fact, view)
        return given

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
            return all(one is not None and len(one) == len(shape) and all(map(is_within, one, shape)) for one in shapes)
        if theirs is None or len(theirs) != len(shape):
            return False
        joined = self._axis_of(output, len(shape)) if output.slice is not None and is_counted else None
        return all(type(size) is int or axis == joined for axis, size in enumerate(theirs))

    def _openvino_view(self, body: Body, given: dict[Node, Fact], run: Run, count: int | None) -> Asking:
        """The pass from which OpenVINO takes a Loop's outputs: a size that changes is any size. It knows `count` iterations."""
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
        within = [is_within(y, x) for x, y in zip(before, after, strict=True)]
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
                several = enumerate(zip(shape, one.shape, wholes, strict=True))
                shape = tuple([self._either_size((index, axis), *sizes) for axis, sizes in several])
        return fact if shape is fact.shape else self.intern(fact.element_type, shape)

    def _either_size(self, key: tuple[int, int], left: Size, entered: Size, whole: Size | None) -> Size:
        """A size that is one of two, the second one only within a third."""
        hull = self.scope.hull((self.key, "entered", *key), left, entered)
        return hull if whole is None or hull is left or isinstance(hull, int) else narrow(hull, *bounds(whole))

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
            axis = self._axis_of(output, max(len(shape), 1))
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
        return self.unknown(times(max(least, 0), fewest), times(most, many))

    def free_backs(self, body: Body) -> list[Back]:
        """OpenVINO lets the shape of an output change that is not joined."""
        plain = {output.result for output in body.outputs if output.slice is None}
        return [(entry.parameter, entry.back) for entry in body.inputs if entry.back is not None and entry.back in plain]


def _with_first(first: Run, later: Run) -> Run:
    """The run of all iterations, with what never holds in the first one alone."""
    run = later
    for position, report in first.reports.items():
        known = later.reports.get(position) or NodeReport(report.node)
        never = [one for one in report.diagnostics or () if one.code == "R401"]
        if never and not any(one.code == "R401" for one in known.diagnostics or ()):
            run = later.copy() if run is later else run
            told = run.reports[position] = NodeReport(report.node)
            told.requirements, told.diagnostics = known.requirements, Diagnostics()
            for one in never:
                message = one.message.replace("this never holds", "this never holds in the first iteration", 1)
                told.diagnostics.append(Diagnostic(one.code, message, one.where, hint=one.hint))
    return run


def _are_apart(a: Size, b: Size) -> bool:
    """Whether the bounds of two sizes exclude each other; OpenVINO knows no more of them."""
    (low, high), (least, most) = bounds(a), bounds(b)
    return high < least or most < low


class TensorIteratorRule(Repetition):
    """The rule of TensorIterator."""

    __slots__ = ("_taken",)
    declares_types = True

    def __init__(self, *application: Any) -> None:
        super().__init__(*application)
        # How often the body runs, as the first of its slices has it.
        self._taken: Size | None = None

    def outputs(self) -> Outputs:
        [body], [declared] = self.bodies, self.declared
        self.check_counts(body, 0, is_right=len(self.facts) == len(body.inputs))
        for node in body.model.nodes:
            if node.type == "TensorIterator" and node.is_live:
                self.fault("OpenVINO takes no TensorIterator in the body of another TensorIterator", node.layer.offset)
        self.check_inputs(self.bodies)
        iterations = self._parts(body)
        given = self.first(body, declared)
        theirs = run = yield from self.ask(body, given)
        if self._taken != 1:
            run = yield from self.fixpoint(body, given, run)
        count = self._counted(body)
        outputs = []
        for index, output in enumerate(body.outputs):
            # OpenVINO looks at the first iteration only.
            fact, view = run.value(output.result), theirs.value(output.result).openvino_view
            if output.slice is not None and not fact.is_poisoned and fact.shape is not None:
                self._check_parts(output, output.slice, fact.shape, index, iterations)
            outputs.append(self.seen_as(self._ended(output, fact, index, iterations), self._ended(output, view, index, count)))
        return tuple(outputs)

    def _ended(self, output: BodyOutput, fact: Fact, index: int, iterations: Size | None) -> Fact:
        slice = output.slice
        if slice is None or fact.is_poisoned or fact.shape is None:
            return self.plain(fact)
        if not fact.shape and slice.axis != 0:
            self.fail("V102", f"output {index} joins scalars, so its axis must be 0, got {slice.axis}")
        axis = self._axis_of(output, len(fact.shape) or 1)
        shape = fact.shape or (1,)
        total = self.unknown() if iterations is None else self._joined(iterations, slice, index)
        return self.intern(fact.element_type, (*shape[:axis], total, *shape[axis + 1 :]))

    def _check_parts(self, output: BodyOutput, slice: Slice, shape: tuple[Size, ...], index: int, iterations: Size) -> None:
        """Check that an output joins parts of the declared size, and as many as there are iterations."""
        if -len(shape) <= slice.axis < len(shape) and eq(shape[slice.axis], slice.part_size) is False:
            part = format_size(shape[slice.axis])
            message = f"output {index} must join parts of size {slice.part_size} (part_size) on axis {slice.axis}, got {part}"
            self.never_runs(message, output.offset)
        self._take(f"output {index}", slice, self._joined(iterations, slice, index), output.offset)

    def _joined(self, iterations: Size, slice: Slice, index: int) -> Size:
        """The length of as many parts as there are iterations; a negative one is what OpenVINO's dimension makes of it."""
        if slice.part_size < 0 and isinstance(iterations, Dim):
            return self.unknown()
        total = iterations * slice.part_size
        if bounds(total)[0] > INT64_MAX:
            self.fail("S205", f"output {index} must have at most 2^63-1 elements along its axis, got {total}")
        return self.dimension(total)

    def _parts(self, body: Body) -> Size:
        """How many parts the inputs of a TensorIterator are cut into, by the last one whose size is known, or the last one."""
        known: list[Size] = []
        open: list[Size] = []
        for entry in body.inputs:
            shape = self.facts[entry.external].shape
            if entry.slice is not None and shape is not None:
                size = shape[self._axis_of(entry, len(shape))]
                (known if type(size) is int else open).append(self._count(entry.external, entry.slice, size, entry.offset))
        if all(entry.slice is None for entry in body.inputs):
            if all(output.slice is None for output in body.outputs):
                self._taken = 1
            count: Size | None = self._counted(body)
        else:
            several = known or open
            count = several[-1] if several else None
        # OpenVINO has -1 for a number it does not know.
        return self.unknown() if count is None or count == -1 else count

    def _counted(self, body: Body) -> int | None:
        """How many iterations OpenVINO counts, if it knows: by the last input that is cut, else by the first output that is joined."""
        count = None
        is_cut = False
        for entry in body.inputs:
            shape = self.facts[entry.external].openvino_view.shape
            is_cut |= entry.slice is not None
            if entry.slice is not None and shape is not None:
                size = shape[self._axis_of(entry, len(shape))]
                if type(size) is int:
                    count = entry.slice.counted(size)
        if not is_cut:
            for output in body.outputs:
                if output.slice is not None:
                    self._check_part(output.slice)
                    count = output.slice.divided(abs(output.slice.end - output.slice.start))
                    break
        return count if isinstance(count, int) and count != -1 else None

    def _check_part(self, slice: Slice) -> None:
        """OpenVINO divides by the size of a part without a look at it."""
        if slice.part_size == 0:
            self.fail("A104", "part_size must be at least 1, got 0")

    def _count(self, external: int, slice: Slice, size: Size, offset: int) -> Size:
        """How many parts an axis has; where OpenVINO and its CPU plugin count differently, the range that holds both numbers."""
        taken = self._take(f"input {external}", slice, size, offset)
        if type(size) is int:
            self._check_part(slice)
            return slice.counted(size)
        if slice.part_size <= 0:
            return self.unknown()
        # The CPU plugin refuses an axis that is empty.
        filled = narrow(size, 1)
        count, other = slice.counted(filled), slice.taken(filled)
        if taken is None or other is None:
            return count
        if eq(count, other):
            return narrow(taken, 0)
        (low, high), (least, most) = bounds(count), bounds(other)
        return self.unknown(max(min(low, least), 0), max(high, most))

    def _take(self, port: str, slice: Slice, size: Size, offset: int) -> Size | None:
        """How many parts OpenVINO's CPU plugin takes of an axis, or joins there; the first such number is that of the iterations."""
        taken = slice.taken(size)
        if taken is None:
            ends = f"start={slice.start}, end={slice.end} and stride={slice.stride}"
            self.never_runs(f"{ends} must divide the axis of {port} into whole parts, got size {format_size(size)}", offset)
        elif slice.part_size <= 0:
            self.never_runs(f"part_size of {port} must be at least 1, got {slice.part_size}", offset)
        elif self._taken is None:
            self._taken = taken
        elif eq(self._taken, taken) is False:
            message = f"{port} must have as many parts as the ports before, {format_size(self._taken)}, got {format_size(taken)}"
            self.never_runs(message, offset)
        return taken
