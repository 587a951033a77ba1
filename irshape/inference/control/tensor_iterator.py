"""TensorIterator: the parts that inputs are cut into, and the outputs that parts are joined to."""

from __future__ import annotations

from typing import Any

from irshape.inference.control.repetition import Back, Repetition
from irshape.inference.control.rule import Outputs
from irshape.inference.facts import Fact
from irshape.model.bodies import Body, BodyOutput, Slice
from irshape.report.text import counted
from irshape.shape.dim import INT64_MAX, Dim, Size, bounds, eq, format_size, narrow
from irshape.shape.element_type import ElementType


class TensorIteratorRule(Repetition):
    """The rule of TensorIterator."""

    __slots__ = ("_taken",)

    def __init__(self, *application: Any) -> None:
        super().__init__(*application)
        # How often the body runs, as the first of its slices has it.
        self._taken: Size | None = None

    def outputs(self) -> Outputs:
        [body], [declared] = self.bodies, self.declared
        if len(self.facts) != len(body.inputs):
            self.fault(f"the port map has {counted(len(body.inputs), 'input')}, the layer has {len(self.facts)}", self.node.layer.offset)
        if len(body.outputs) < self.listed:
            self.fault(f"the port map has {counted(len(body.outputs), 'output')}, the layer has {self.listed}", self.node.layer.offset)
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
        """The fact of an output of a TensorIterator."""
        slice = output.slice
        if slice is None or fact.is_poisoned or fact.shape is None:
            return self.plain(fact)
        if not fact.shape and slice.axis != 0:
            self.fail("V102", f"output {index} joins scalars, so its axis must be 0, got {slice.axis}")
        axis = self.axis(slice.axis, len(fact.shape) or 1)
        shape = fact.shape or (1,)
        total = self.unknown() if iterations is None else self._joined(iterations, slice, index)
        return self.intern(fact.element_type, (*shape[:axis], total, *shape[axis + 1 :]))

    def _check_parts(self, output: BodyOutput, slice: Slice, shape: tuple[Size, ...], index: int, iterations: Size) -> None:
        """Check that an output joins parts of the declared size, and as many as there are iterations."""
        if -len(shape) <= slice.axis < len(shape) and eq(shape[slice.axis], slice.part_size) is False:
            part = format_size(shape[slice.axis])
            self.never_runs(
                f"output {index} must join parts of size {slice.part_size} (part_size) on axis {slice.axis}, got {part}", output.offset
            )
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
                size = shape[self.axis(entry.slice.axis, len(shape))]
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
                size = shape[self.axis(entry.slice.axis, len(shape))]
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
            self.never_runs(
                f"{port} must have as many parts as the ports before, {format_size(self._taken)}, got {format_size(taken)}", offset
            )
        return taken

    def entering_type(self, fact: Fact, declared: Fact) -> ElementType:
        return declared.element_type

    def free_backs(self, body: Body) -> list[Back]:
        return []
