"""The passes over a graph in topological order: each node's transfer function takes facts and gives facts.

Rules are pure functions of an op's attributes and the facts of its inputs, so outcomes are remembered and shared by all nodes that
ask the same.

A body is a graph like any other: its engine makes the same pass, with facts given for its Parameters. A pass that needs a pass over a
body asks for it and waits, so that nested bodies need no recursion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from irshape.inference.facts import Fact
from irshape.inference.graph import Graph
from irshape.inference.run import Given, Guard, Run, Wanted, guards_of
from irshape.inference.schedule import facts_of, marked
from irshape.model.bodies import Body
from irshape.model.model import Model
from irshape.report.diagnostic import ERROR, Diagnostics
from irshape.shape.compilation import mypyc_attr
from irshape.shape.guard import Requirement
from irshape.shape.limits import Work
from irshape.shape.shape import Shape
from irshape.xml.weights import Weights

if TYPE_CHECKING:
    from irshape.inference.partition import Partition
    from irshape.shape.notation import SymbolRange

# A pass asks for passes over bodies, and is sent their runs.
Pass: TypeAlias = Generator[Wanted, Run, Run]


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class _Question:
    """The question that a pass answers: the shapes, overrides and symbols of an engine."""

    __slots__ = ("overrides", "shapes", "symbols")

    def __init__(self, shapes: dict[int, Shape], overrides: dict[int, tuple[Fact, ...]], symbols: dict[str, SymbolRange]) -> None:
        self.shapes = shapes
        self.overrides = overrides
        self.symbols = symbols

    def changed(self, other: _Question) -> frozenset[int] | None:
        """The nodes for which the other question differs; None where it may differ for all."""
        if self.symbols != other.symbols:
            return None
        changed: set[int] = set()
        for one, another in ((self.shapes, other.shapes), (self.overrides, other.overrides)):
            changed.update(index for index in one.keys() | another.keys() if one.get(index, ...) != another.get(index, ...))
        return frozenset(changed)


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Engine(Graph):
    """The inference of one graph by passes. `diagnostics` and `guarded_runs` are gathered from the graph and its bodies."""

    def __init__(
        self,
        model: Model,
        weights: Weights | None,
        opaque: frozenset[str] = frozenset(),
        *,
        outer: Engine | None = None,
        body: Body | None = None,
        is_static: bool = False,
        work: Work | None = None,
    ) -> None:
        super().__init__(model, weights, opaque, outer=outer, body=body, is_static=is_static, work=work)
        self.diagnostics = Diagnostics()
        self.guarded_runs: list[Run] = []
        self._question: _Question | None = None
        self._runs: dict[Given, Run] = {}
        self._partition: Partition | None = None
        self._changed: frozenset[int] = frozenset()
        if outer is None:
            for graph in self.graphs():
                graph.enter_bodies()

    @property
    def guards(self) -> dict[Requirement, Guard]:
        """The conditions on sizes by the last pass, bodies included."""
        return guards_of(self.guarded_runs)

    @property
    def remembered(self) -> int:
        """The number of outcomes in the memos."""
        return self.rules.answered

    # Passes.

    def forget(self) -> None:
        """Let the next pass be a whole one."""
        self._question = None

    def run(self) -> None:
        """Infer every tensor of the graph and of its bodies; after the first pass, only those that the changed inputs reach."""
        question = _Question(self.shapes.copy(), self.overrides.copy(), self.symbols.copy())
        dirty = None if self._question is None else self._question.changed(question)
        self._question = None  # until the pass is whole: one that is interrupted leaves nothing to go on from
        if self.shapes:
            # What the memos hold of the shapes of the file stays true: a layer with an unknown number of outputs has lost none since.
            self.rules.is_reshaped = True
        if dirty is None:
            self.constants.is_reported = False
            for engine in self.graphs():
                engine._runs = {}
                engine._partition = None
            self._adopt(self._driven(self._pass(())))
        else:
            self._adopt(self._driven(self._again(dirty)) if dirty else self.current)
        self._question = question

    def _driven(self, root: Pass) -> Run:
        """The run of a pass, made with the passes that it asks for; a body with the same facts is passed once.

        After as many passes over one body as the limit `passes` allows, its Parameters are of any shape: bodies inside bodies would
        multiply passes.
        """
        made: Counter[Engine] = Counter()
        waiting: list[tuple[Engine, Pass]] = [(self, root)]
        answer: Run | None = None
        while True:
            engine, running = waiting[-1]
            try:
                key, given = running.send(answer)  # type: ignore[arg-type]
            except StopIteration as end:
                waiting.pop()
                answer = end.value
                if not waiting:
                    return end.value  # type: ignore[no-any-return]
                continue
            body = engine.bodies[key]
            if made[body] >= self.scope.limits.passes and given not in body._runs:
                given = tuple([fact and self.facts.intern(fact.element_type, None, None, fact.is_poisoned) for fact in given])
            answer = body._runs.get(given)
            if answer is None:
                made[body] += 1
                self.scope.work.left -= len(body.schedule.nodes)
                waiting.append((body, body._pass(given)))

    def _adopt(self, run: Run) -> None:
        """Make a run the current one, and gather the diagnostics and guards of the bodies.

        OpenVINO also infers a body as it stands: a fault that is found only then counts as well.
        """
        self.diagnostics = run.diagnostics
        self.guarded_runs = [run]
        self.current = run
        pending = [(self, run)]
        while pending:
            engine, run = pending.pop()
            for key, inner in run.inner.items():
                body = engine.bodies[key]
                body.current = inner
                alone = body._runs[()]
                found = inner.diagnostics
                self.diagnostics += found
                if inner is not alone:
                    known = {(one.code, one.where.offset) for one in found}
                    self.diagnostics += [one for one in alone.diagnostics if (one.code, one.where.offset) not in known]
                    self.guarded_runs.append(inner)
                pending.append((body, inner))

    def _pass(self, given: Given) -> Pass:
        """Infer every tensor; `given` are the facts of the Parameters of a body."""
        run = self._begin(given)
        slots, outcomes, overrides = run.slots, run.outcomes, self.overrides
        fact_of, apply = slots.__getitem__, self.rules.apply
        for position, (node, transfer) in enumerate(zip(self.schedule.nodes, self.schedule.transfers, strict=True)):
            is_rule = transfer is not None and transfer.is_pure and not (overrides and node.index in overrides)
            if is_rule:
                outcome = apply(node, transfer, tuple(map(fact_of, node.sources)))  # type: ignore[arg-type]
            elif transfer is not None and transfer.offset is not None and node.index not in overrides:
                outcome = self.origins.constant(node, transfer)
            else:
                outcome = yield from self._outcome(node, transfer, facts_of(node, slots))
            outcomes.append(outcome if is_rule else None)
            if outcome.has_effects:
                if is_rule and self.verdict is not None:
                    outcome = outcomes[-1] = self.verdict(node, outcome)
                outputs = self._effects(run, position, node, facts_of(node, slots), outcome)
            else:
                outputs = outcome.outputs
            first = node.first_slot
            if len(outputs) == 1:
                slots[first] = outputs[0]
            else:
                slots[first : first + len(outputs)] = outputs
        return self._end(given, run)

    def _begin(self, given: Given) -> Run:
        run = self.current = Run.of(self.model.slot_count)
        self._given = {node.index: fact for node, fact in zip(self.parameters, given, strict=False) if fact is not None}
        for slot, port in self.model.stubs.items():
            run.slots[slot] = self.origins.recorded_by(port)
        return run

    def _end(self, given: Given, run: Run) -> Run:
        self._examine_variables(run)
        self._runs[given] = run
        return run

    def _again(self, dirty: frozenset[int]) -> Pass:
        """Infer the tensors that a change of these nodes reaches; from the second change of the same nodes on, block by block."""
        from irshape.inference.partition import Partition

        self._given = {}
        partition = self._partition
        if partition is None or partition.dirty != dirty or not partition.fits(self.current):
            partition = Partition(self.schedule, self.current, dirty, {}, self.overrides) if dirty == self._changed else None
        run = None if partition is None else (yield from self._by_block(partition))
        if run is None:
            run = yield from self._onwards(dirty)
            partition = partition and Partition(self.schedule, self.current, dirty, partition.classes, self.overrides)
        self._partition, self._changed = partition, dirty
        return self._end((), run)

    def _onwards(self, dirty: frozenset[int]) -> Pass:
        """Infer these nodes again, and the nodes that read a tensor whose fact changes."""
        run = self.current = self.current.copy()
        yield from self._visit(run, self.schedule.marks(dirty))
        return run

    def _visit(self, run: Run, marks: bytearray) -> Generator[Wanted, Run, None]:
        """Infer the nodes at the marked positions again, and the nodes that read a tensor whose fact changes."""
        slots, readers = run.slots, self.schedule.readers
        for position in marked(marks):
            node, transfer = self.schedule.nodes[position], self.schedule.transfers[position]
            run.reports.pop(position, None)
            run.unlisted.pop(node.index, None)
            facts = facts_of(node, slots)
            outcome = yield from self._outcome(node, transfer, facts)
            outputs = self._effects(run, position, node, facts, outcome) if outcome.has_effects else outcome.outputs
            for slot, fact in enumerate(outputs, node.first_slot):
                if slots[slot] is not fact:
                    slots[slot] = fact
                    for reader in readers.get(slot, ()):
                        marks[reader] = True

    def _by_block(self, partition: Partition) -> Generator[Wanted, Run, Run | None]:
        """Infer the blocks of a partition; None where tensors of one class no longer have equal facts."""
        before = self.current
        run, known = partition.begun()
        self.current = run
        fact_of = known.__getitem__
        for block in partition.blocks:
            node, transfer = block.node, block.transfer
            facts = tuple(map(fact_of, block.sources))
            if transfer is None or block.is_special:
                outcome = yield from self._outcome(node, transfer, facts)
            else:
                outcome = self.rules.apply(node, transfer, facts)
                if len(block.positions) > 1 and not transfer.shares(facts):
                    self.current = before
                    return None
            outputs = outcome.outputs
            if outcome.has_effects:
                for position in block.positions:
                    outputs = self._effects(run, position, self.schedule.nodes[position], facts, outcome)
            for number, fact in zip(block.outputs, outputs, strict=True):
                if known[number] is None:
                    known[number] = fact
                elif known[number] is not fact:
                    self.current = before
                    return None
        return run

    # Plans.

    def take(self, run: Run, shapes: Mapping[int, Shape], marks: bytearray | None, *, examines: bool) -> bool:
        """Complete a run that a plan has begun, and make it the current one.

        `shapes` are those of the Parameters. `marks` are the positions of the nodes whose rules the plan does not replace, `examines`
        says that the variables must be compared, too. False, and nothing changes, if these find an error.
        """
        if marks is not None:
            before, self.current = self.current, run
            try:
                self._driven(self._completed(run, bytearray(marks), examines=examines))
            finally:
                self.current = before
            if any(found.severity == ERROR for found in run.diagnostics):
                return False
        self.shapes.clear()
        self.shapes.update(shapes)
        self.symbols.clear()
        self._question = _Question(self.shapes.copy(), self.overrides.copy(), {})
        self._adopt(run)
        return True

    def _completed(self, run: Run, marks: bytearray, *, examines: bool) -> Pass:
        self._given = {}
        yield from self._visit(run, marks)
        if examines:
            self._examine_variables(run)
        return run
