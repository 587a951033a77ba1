"""If, Loop and TensorIterator: what enters their bodies, how often they run, and what comes out.

No body is ever run by its trip count. What an iteration hands to the next is widened until it no longer changes: at first to an
interval that holds both, then to one without the end that still moves, so the search ends soon and holds for every iteration.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from math import inf
from typing import Any, Final, TypeAlias

from irshape.inference.apply import Rules
from irshape.inference.facts import POISONED, Fact
from irshape.inference.run import Run, Wanted
from irshape.inference.transfer import Outcome, Transfer
from irshape.model.bodies import Body, BodyOutput, Slice, conditions_passed
from irshape.model.model import Node
from irshape.ops.context import Context, RuleFailure
from irshape.report.diagnostic import ERROR
from irshape.report.finding import Finding
from irshape.shape.dim import INT64_MAX, Dim, Size, bounds, dim_max, eq, narrow
from irshape.shape.element_type import ElementType
from irshape.shape.shape import Shape, format_shape

Asking: TypeAlias = Generator[Wanted, Run, Any]

# Passes after which what still changes is not known at all.
_PATIENCE: Final = 16


class Control(Context):
    """One application of an operation with bodies to facts.

    `inner` holds the last run of each body, by node and name; `faults` are the faults of the port maps, with their places.
    """

    __slots__ = ("bodies", "declared", "facts", "faults", "inner", "listed", "node", "table")

    def __init__(
        self, rules: Rules, node: Node, transfer: Transfer, bodies: list[Body], facts: Sequence[Fact], inner: dict[tuple[int, str], Run]
    ) -> None:
        super().__init__(rules.scope, transfer.op, node.model.first_tensor + node.first_slot)
        self.table = rules.facts
        self.node = node
        self.bodies = bodies
        self.facts = facts
        self.inner = inner
        self.declared = [self.inner[node.index, body.name] for body in bodies]
        self.listed = transfer.listed
        self.faults: list[tuple[str, int]] = [fault for body in bodies for fault in body.faults]

    def answer(self) -> Generator[Wanted, Run, Outcome]:
        """The outcome, with the faults of the port maps among its findings."""
        outputs = yield from self._outputs()
        faults = [Finding("G119", message, offset=offset) for message, offset in self.faults]
        return Outcome(outputs, (*self.findings, *faults), tuple(self.requirements), self.listed)

    def _outputs(self) -> Generator[Wanted, Run, tuple[Fact, ...]]:
        failed = (POISONED,) * self.listed
        self.findings.extend(self.op.findings)
        if len(self.facts) < self.op.min_inputs:
            self.error("G107", f"input {len(self.facts)} ({self.op.inputs[len(self.facts)].name}) is missing")
            return failed
        if self.faults:
            return failed
        rule = {"If": self._if, "Loop": self._loop, "TensorIterator": self._iterate}[self.op.TYPE]
        try:
            outputs = yield from rule()
        except RuleFailure:
            return failed
        except MemoryError:
            raise
        except Exception as error:
            self.error("I101", f"{type(error).__name__}: {error}")
            return failed
        return failed if self.faults else outputs

    def fault(self, message: str, offset: int) -> None:
        """Record a fault of a port map."""
        self.faults.append((message, offset))

    def _check_inputs(self, bodies: list[Body]) -> None:
        """What enters a body must be an input of the layer."""
        for body in bodies:
            for entry in body.inputs:
                if not 0 <= entry.external < len(self.facts):
                    self.fault(f"the layer has no input {entry.external}", entry.offset)
        if self.faults:
            raise RuleFailure

    # What goes in and comes out.

    def _fact(self, element_type: ElementType, shape: Shape, *, is_poisoned: bool = False) -> Fact:
        return self.table.intern(element_type, shape, None, is_poisoned)

    def _ask(self, body: Body, given: dict[Node, Fact]) -> Asking:
        """A pass over a body whose Parameters are what is given; it is what is known of the body until the next."""
        key = (self.node.index, body.name)
        facts = tuple([given.get(parameter) for parameter in body.model.parameters])
        run = self.inner[key] = yield key, facts if given else ()
        return run

    def _condition(self, fact: Fact, name: str) -> bool | None:
        """The one value of a condition, if it is known."""
        value = self._one(fact, name)
        return value != 0 if isinstance(value, (int, float)) else None

    def _one(self, fact: Fact, name: str) -> Any:
        """The one value that a scalar or a list of one element holds; None if it is not known."""
        if fact.shape is not None and len(fact.shape) > 1:
            self.fail("S101", f"{name} must have rank 0 or 1, got rank {len(fact.shape)}")
        if fact.elements is None or fact.is_poisoned:
            return None
        if len(fact.elements) != 1:
            self.fail("V103", f"{name} must hold 1 value, got {len(fact.elements)}")
        return fact.elements[0]

    # If.

    def _if(self) -> Asking:
        condition = self._condition(self.facts[0], "cond")
        taken = [body for body, is_taken in zip(self.bodies, (True, False), strict=True) if condition in (None, is_taken)]
        self._check_inputs(taken)
        runs = []
        for body in taken:
            given = {entry.parameter: self._plain(self.facts[entry.external]) for entry in body.inputs}
            runs.append((body, (yield from self._ask(body, given))))
        if condition is not None:
            [(body, run)] = runs
            outputs = [self._plain(run.value(output.result)) for output in body.outputs]
            # OpenVINO gives the layer as many outputs as the then_body has, whichever is taken.
            return tuple(outputs + [self._fact(ElementType.dynamic, None)] * (len(self.bodies[0].outputs) - len(outputs)))
        (then, then_run), (other, else_run) = runs
        for body in self.bodies:
            self._check_outputs(body, max(self.listed, len(then.outputs)))
        if self.faults:
            return ()
        return tuple(
            [
                self._either(index, then_run.value(then.outputs[index].result), else_run.value(other.outputs[index].result))
                for index in range(len(then.outputs))
            ]
        )

    def _check_outputs(self, body: Body, count: int) -> None:
        """Every output of the layer needs a Result of either body, and no Result may be two."""
        if len(body.outputs) < count:
            self.fault(f"output {len(body.outputs)} is no Result of the {body.name}", self.node.layer.offset)
        taken: set[Node] = set()
        for output in body.outputs:
            if output.result in taken:
                self.fault(f"Result {output.result.id} of the {body.name} is two outputs", output.offset)
            taken.add(output.result)

    def _plain(self, fact: Fact) -> Fact:
        """A fact as it leaves a body: values are not followed through."""
        return fact if fact.elements is None else self._fact(fact.element_type, fact.shape, is_poisoned=fact.is_poisoned)

    def _either(self, index: int, then: Fact, other: Fact) -> Fact:
        """What an output is that comes from one of two branches."""
        element_type = then.element_type
        if element_type is ElementType.dynamic:
            element_type = other.element_type
        elif other.element_type not in (element_type, ElementType.dynamic):
            self.error("T102", f"output {index} has element type {then.element_type} in then_body, {other.element_type} in else_body")
        shape = self._either_shape(index, then.shape, other.shape)
        return self._fact(element_type, shape, is_poisoned=then.is_poisoned or other.is_poisoned)

    def _either_shape(self, index: int, a: Shape, b: Shape) -> Shape:
        if a is None or b is None:
            return None
        if len(a) == len(b):
            return tuple([self.scope.hull((self.key, "if", index, axis), x, y) for axis, (x, y) in enumerate(zip(a, b, strict=True))])
        if len(a) > 1 or len(b) > 1:
            return None
        # A scalar and a list: OpenVINO makes a list of both.
        return (self.scope.hull((self.key, "if", index, 0), *(a or (1,)), *(b or (1,))),)

    # Loop and TensorIterator.

    def _loop(self) -> Asking:
        [body], [declared] = self.bodies, self.declared
        self._check_iteration(body, declared.slots)
        is_entered = self._condition(self.facts[1], "execution_condition")
        if body.condition is None:
            # OpenVINO leaves such a Loop as it is, with the one output that every operation begins with.
            self.warn("R201", "no Result of the body is its execution_condition")
            return (self._fact(ElementType.dynamic, None),)
        self._condition(declared.value(body.condition), "the condition in the body")
        trip_count = self._one(self.facts[0], "trip_count")
        own = sum(entry.external in (0, 1) for entry in body.inputs)
        if own > 2 or len(self.facts) != len(body.inputs) + 2 - own:
            self.fault(f"{len(body.inputs)} inputs are mapped, the layer has {len(self.facts)}", self.node.layer.offset)
        if len(body.outputs) < self.listed:
            self.fault(f"{len(body.outputs)} outputs are mapped, the layer has {self.listed}", self.node.layer.offset)
        self._check_inputs(self.bodies)
        given = self._first(body, declared)
        run = yield from self._ask(body, given)
        self._check_iteration(body, run.slots)
        is_repeated = self._repeats(body, run)
        if is_repeated is not False and trip_count not in (0, 1):
            run = yield from self._fixpoint(body, given, run)
            is_repeated = self._repeats(body, run)
        iterations = self._iterations(is_entered, is_repeated, trip_count)
        return tuple([self._left(output, run, index, iterations, is_entered=is_entered) for index, output in enumerate(body.outputs)])

    def _check_iteration(self, body: Body, slots: list[Fact]) -> None:
        shape = slots[body.iteration.first_slot].shape if body.iteration is not None else None
        if shape is not None and len(shape) > 1:
            self.fail("S101", f"the current iteration must have rank 0 or 1, got rank {len(shape)}")

    def _repeats(self, body: Body, run: Run) -> bool | None:
        """Whether the body's own condition is always true, always false, or not known."""
        assert body.condition is not None
        known = self._condition(run.value(body.condition), "the condition in the body")
        for entry in conditions_passed(body):
            known = self._condition(self.facts[entry.external], "the condition in the body")
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

    def _left(self, output: BodyOutput, run: Run, index: int, iterations: Size, *, is_entered: bool | None) -> Fact:
        """What an output of a Loop is."""
        fact = run.value(output.result)
        shape = fact.shape
        if fact.is_poisoned or shape is None:
            return self._plain(fact)
        if output.slice is None:
            if is_entered is False and all(type(size) is int for size in shape):
                if not shape:
                    self.fail("S101", f"output {index} of a Loop that is never entered must not be a scalar")
                shape = (0, *shape[1:])
        elif is_entered is False:
            shape = (0,)
        else:
            axis = self.axis(output.slice.axis, max(len(shape), 1))
            shape = shape or (1,)
            shape = (*shape[:axis], self._total(shape[axis], iterations, index), *shape[axis + 1 :])
        return self._fact(fact.element_type, shape)

    def _total(self, part: Size, iterations: Size, index: int) -> Size:
        """The length of parts, one of each iteration, put together."""
        if type(part) is int:
            total = part * iterations
            if bounds(total)[0] > INT64_MAX:
                self.fail("S205", f"output {index} has {total} elements along its axis, more than 2^63-1")
            return total
        # Parts may be of different sizes.
        (least, most), (fewest, many) = bounds(part), bounds(iterations)
        return self.unknown(_times(max(least, 0), fewest), _times(most, many))

    def _iterate(self) -> Asking:
        [body], [declared] = self.bodies, self.declared
        if len(self.facts) != len(body.inputs):
            self.fault(f"{len(body.inputs)} inputs are mapped, the layer has {len(self.facts)}", self.node.layer.offset)
        if len(body.outputs) < self.listed:
            self.fault(f"{len(body.outputs)} outputs are mapped, the layer has {self.listed}", self.node.layer.offset)
        for node in body.model.nodes:
            if node.type in ("Loop", "TensorIterator") and node.is_live:
                self.fault(f"OpenVINO takes no {node.type} in the body of a TensorIterator", node.layer.offset)
        self._check_inputs(self.bodies)
        iterations = self._parts(body)
        given = self._first(body, declared)
        run = yield from self._ask(body, given)
        if iterations != 1:
            run = yield from self._fixpoint(body, given, run)
        outputs = []
        for index, output in enumerate(body.outputs):
            fact, slice = run.value(output.result), output.slice
            if slice is None or fact.is_poisoned or fact.shape is None:
                outputs.append(self._plain(fact))
                continue
            if not fact.shape and slice.axis != 0:
                self.fail("V102", f"output {index} joins scalars, so its axis must be 0, got {slice.axis}")
            shape = fact.shape or (1,)
            axis = self.axis(slice.axis, len(shape))
            outputs.append(self._fact(fact.element_type, (*shape[:axis], self._joined(slice, iterations), *shape[axis + 1 :])))
        return tuple(outputs)

    def _joined(self, slice: Slice, iterations: Size) -> Size:
        total = iterations * slice.part_size
        low, high = bounds(total)
        if low > INT64_MAX:
            self.fail("S205", f"an output has {total} elements along its axis, more than 2^63-1")
        if high < 0:
            self.fail("S203", f"an output has a negative size: {total}")
        return narrow(total, 0)

    def _parts(self, body: Body) -> Size:
        """How many parts the inputs of a TensorIterator are cut into; without such inputs, what the first joined output says."""
        found: list[Size] = []
        is_cut = False
        for entry in body.inputs:
            if entry.slice is None:
                continue
            is_cut = True
            shape = self.facts[entry.external].shape
            if shape is not None:
                size = shape[self.axis(entry.slice.axis, len(shape))]
                found.append(self._count(entry.slice, size))
        if found:
            return next((count for count in reversed(found) if type(count) is int), found[-1])
        joined = next((output.slice for output in body.outputs if output.slice is not None), None)
        if is_cut or joined is None:
            return self.unknown(0)
        self._check_part(joined)
        return abs(joined.end - joined.start) // joined.part_size

    def _check_part(self, slice: Slice) -> None:
        """OpenVINO divides by the size of a part without a look at it."""
        if slice.part_size <= 0:
            self.fail("A104", f"part_size must be at least 1, got {slice.part_size}")

    def _count(self, slice: Slice, size: Size) -> Size:
        """How many parts an axis has; `start` and `end` are both within, and count from its end where they are negative."""
        self._check_part(slice)
        start = slice.start + size if slice.start < 0 else slice.start
        end = slice.end + size if slice.end < 0 else slice.end
        forward, backward = end - start, start - end
        if type(forward) is int and type(backward) is int:
            length: Size = max(forward, backward) + 1
        else:
            # An axis without elements has no parts.
            length = dim_max(forward + 1 if slice.end < 0 else backward + 1, 0)
        return length // slice.part_size

    def _first(self, body: Body, declared: Run) -> dict[Node, Fact]:
        """What the Parameters are in the first iteration; those of a TensorIterator keep the element type they declare."""
        given = {}
        for entry in body.inputs:
            fact = self._plain(self.facts[entry.external])
            shape = fact.shape
            if entry.slice is not None and shape is not None:
                axis = self.axis(entry.slice.axis, len(shape))
                shape = (*shape[:axis], entry.slice.part_size, *shape[axis + 1 :])
            element_type = fact.element_type
            if self.op.TYPE == "TensorIterator":
                element_type = declared.slots[entry.parameter.first_slot].element_type
            given[entry.parameter] = self._fact(element_type, shape, is_poisoned=fact.is_poisoned)
        return given

    def _fixpoint(self, body: Body, given: dict[Node, Fact], run: Run) -> Asking:
        """The pass over the body in which what comes back is what went in, or within it."""
        plain = {output.result for output in body.outputs if output.slice is None}
        backs = [(entry.parameter, entry.back) for entry in body.inputs if entry.back is not None]
        for tries in range(_PATIENCE + 2):
            if any(found.severity == ERROR for found in run.diagnostics):
                return run
            changed = dict(given)
            for parameter, back in backs:
                is_free = self.op.TYPE == "Loop" and back in plain
                changed[parameter] = self._widened(parameter, given[parameter], run.value(back), tries, is_free=is_free)
            if changed == given:
                break
            given = changed
            run = yield from self._ask(body, given)
        for parameter, back in backs:
            self._compare(parameter, given[parameter], run.value(back))
        return run

    def _widened(self, parameter: Node, before: Fact, after: Fact, tries: int, *, is_free: bool) -> Fact:
        """What holds what went in and what comes back.

        OpenVINO lets a shape change if it is that of an output of a Loop (`is_free`). Otherwise it compiles the body for what goes
        in at first, so that rank and known sizes can only stay.
        """
        if before.is_poisoned or after.is_poisoned or before.shape is None:
            return before
        shape, new = before.shape, after.shape
        if new is None or len(shape) != len(new) or tries >= _PATIENCE:
            return self._fact(before.element_type, None) if is_free else before
        key = (self.key, "back", parameter.index)
        sizes = [
            x if type(x) is int and not is_free else self._wider((*key, axis), x, y)
            for axis, (x, y) in enumerate(zip(shape, new, strict=True))
        ]
        return self._fact(before.element_type, tuple(sizes))

    def _compare(self, parameter: Node, before: Fact, after: Fact) -> None:
        """What comes back must be what the body was compiled for; OpenVINO does not look before it runs."""
        shape, new = before.shape, after.shape
        if before.is_poisoned or after.is_poisoned or shape is None or new is None:
            return
        if len(new) != len(shape) or any(
            type(wanted) is int and eq(size, wanted) is False for size, wanted in zip(new, shape, strict=True)
        ):
            back, there = format_shape(new), format_shape(shape)
            self.warn("R401", f"{back} comes back to {parameter.name!r}, for which the body is compiled with {there}")

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


def _times(a: float, b: float) -> float:
    return 0 if a == 0 or b == 0 else a * b
