"""The passes over a graph in topological order: each node's transfer function takes facts and gives facts.

Rules are pure functions of an op's attributes and the facts of its inputs, so outcomes are remembered and shared by all nodes that
ask the same. An outcome has no place: the engine reports it at the position of the node.

A body is a graph like any other: its engine makes the same pass, with facts given for its Parameters. A pass that needs a pass over a
body asks for it and waits, so that nested bodies need no recursion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, TypeAlias

from irshape.inference.apply import Rules
from irshape.inference.facts import POISONED, Fact, FactTable
from irshape.inference.origins import Constants, Origins
from irshape.inference.partition import Partition
from irshape.inference.run import Given, Guard, Run, Wanted, guards_of
from irshape.inference.schedule import Transfers, demanded, facts_of, marked, schedule
from irshape.inference.transfer import Outcome, Transfer
from irshape.inference.voice import Voice
from irshape.model.bodies import Body, bodies_of
from irshape.model.model import Model, Node
from irshape.report.diagnostic import ERROR, Diagnostics
from irshape.report.finding import Finding
from irshape.report.text import counted
from irshape.shape.dim import Scope
from irshape.shape.guard import Requirement
from irshape.shape.limits import Work
from irshape.shape.notation import SymbolRange
from irshape.shape.shape import Shape
from irshape.xml.lexical import BODIES
from irshape.xml.weights import Weights

if TYPE_CHECKING:
    from irshape.inference.variables import Pair

# A pass asks for passes over bodies, and is sent their runs.
Pass: TypeAlias = Generator[Wanted, Run, Run]
Outcomes: TypeAlias = Generator[Wanted, Run, Outcome]


class Verdict(Protocol):
    """The verdict of OpenVINO on the outcome of a rule."""

    def __call__(self, node: Node, outcome: Outcome) -> Outcome:
        """The outcome with the errors that OpenVINO makes."""


class _Question(NamedTuple):
    """The question that a pass answers: the shapes, overrides and symbols of an engine."""

    shapes: dict[int, Shape]
    overrides: dict[int, tuple[Fact, ...]]
    symbols: dict[str, SymbolRange]

    def changed(self, other: _Question) -> frozenset[int] | None:
        """The nodes for which the other question differs; None where it may differ for all."""
        if self.symbols != other.symbols:
            return None
        changed: set[int] = set()
        for one, another in ((self.shapes, other.shapes), (self.overrides, other.overrides)):
            changed.update(index for index in one.keys() | another.keys() if one.get(index, ...) != another.get(index, ...))
        return frozenset(changed)


class Engine:
    """The inference of one graph. Its tables live as long as the engine, so that a second pass finds the outcomes of the first.

    `shapes` are the shapes of Parameters, by node, that replace those of the file; `symbols` the ranges of the symbols that the user
    named; `overrides` the outputs of nodes that are taken for granted, by node; `verdict` has the last word on errors. `bodies` are the
    engines of the bodies, by node and name: they share the tables of the `outer` engine, which gathers their diagnostics and guards.
    `work` is what is left of the work of the question; None is a question of its own.
    `is_static` tells that the symbols stand for the numbers that the inputs will have: then OpenVINO's bounds do not count.
    """

    new_scope: ClassVar[type[Scope]] = Scope

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
        document = model.document
        self.model = model
        self.weights = weights
        self.opaque = opaque
        self.scope: Scope = outer.scope if outer else self.new_scope(document.limits, work)
        self.facts: FactTable = outer.facts if outer else FactTable(is_static)
        self.rules: Rules = outer.rules if outer else Rules(self.facts, self.scope, states_types=not document.is_example)
        self.constants: Constants = outer.constants if outer else Constants(weights, document.limits)
        self.origins = Origins(model, self.rules, self.constants, opaque)
        self.voice = Voice(model)
        self.verdict: Verdict | None = None
        self.shapes: dict[int, Shape] = {}
        self.symbols: dict[str, SymbolRange] = outer.symbols if outer else {}
        self.overrides: dict[int, tuple[Fact, ...]] = {}
        self.bodies: dict[tuple[int, str], Engine] = {}
        self.parameters = model.parameters
        self.diagnostics = Diagnostics()
        self.guarded_runs: list[Run] = []
        self.current = Run.of(model.slot_count)
        self._question: _Question | None = None
        self._given: dict[int, Fact] = {}
        self._runs: dict[Given, Run] = {}
        self._partition: Partition | None = None
        self._changed: frozenset[int] = frozenset()
        self._transfers: Transfers = outer._transfers if outer else {}
        self._maps = {node.index: bodies_of(node) for node in model.of_type(*BODIES)}
        self.schedule = schedule(model, self._transfers, demanded(model, self._maps, body), weights)
        self.pairs = self._variables() if model.of_type("Assign") else []
        if outer is None:
            for engine in self.graphs():
                engine.enter_bodies()

    @property
    def slots(self) -> list[Fact]:
        """The facts of all tensors by the last pass."""
        return self.current.slots

    @property
    def guards(self) -> dict[Requirement, Guard]:
        """The conditions on sizes by the last pass, bodies included."""
        return guards_of(self.guarded_runs)

    @property
    def remembered(self) -> int:
        """The number of outcomes in the memos."""
        return self.rules.answered

    def enter_bodies(self) -> None:
        """Make the engines of the bodies."""
        for index, bodies in self._maps.items():
            for body in bodies:
                self.bodies[index, body.name] = type(self)(body.model, self.weights, self.opaque, outer=self, body=body)

    def graphs(self) -> Iterator[Engine]:
        """The engine itself and those of all bodies, in the order of the file."""
        pending = [self]
        while pending:
            engine = pending.pop()
            yield engine
            pending += reversed(engine.bodies.values())

    # Passes.

    def forget(self) -> None:
        """Let the next pass be a whole one."""
        self._question = None

    def run(self) -> None:
        """Infer every tensor of the graph and of its bodies; after the first pass, only those that the changed inputs reach."""
        question = _Question(self.shapes.copy(), self.overrides.copy(), self.symbols.copy())
        dirty = None if self._question is None else self._question.changed(question)
        self._question = question
        if dirty is None:
            self.constants.is_reported = False
            for engine in self.graphs():
                engine._runs = {}
                engine._partition = None
            self._adopt(self._driven(self._pass(())))
        else:
            self._adopt(self._driven(self._again(dirty)) if dirty else self.current)

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
            if outcome.has_effects:
                if is_rule and self.verdict is not None:
                    outcome = self.verdict(node, outcome)
                outputs = self._effects(run, position, node, outcome)
                outcomes.append(None)
            else:
                outputs = outcome.outputs
                outcomes.append(outcome if is_rule else None)
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
            outcome = yield from self._outcome(node, transfer, facts_of(node, slots))
            outputs = self._effects(run, position, node, outcome) if outcome.has_effects else outcome.outputs
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
                    outputs = self._effects(run, position, self.schedule.nodes[position], outcome)
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
        before = self.current
        if marks is not None:
            self.current = run
            self._driven(self._completed(run, bytearray(marks), examines=examines))
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

    # One node.

    def _outcome(self, node: Node, transfer: Transfer | None, facts: tuple[Fact, ...]) -> Outcomes:
        """The outcome of any node: overridden, from the file, from its bodies or from its rule."""
        if node.index in self.overrides:
            return Outcome(self.overrides[node.index], listed=node.layer.signature.output_count)
        if transfer is None:
            return self.origins.unknown(node, with_hint=len(self.current.reports) < self.model.document.limits.faults)
        if transfer.is_pure:
            return self.rules.apply(node, transfer, facts)
        if node.index in self._maps:
            return (yield from self._control(node, transfer, facts))
        if transfer.op.TYPE == "Parameter":
            return self.origins.parameter(node, transfer, self._given.get(node.index), self.shapes)
        if transfer.op.TYPE in BODIES:  # in an example, which has no bodies
            return Outcome(self.origins.recorded(node), listed=transfer.listed)
        if transfer.offset is not None:
            return self.origins.constant(node, transfer)
        return self.rules.apply(node, transfer, facts)

    def _control(self, node: Node, transfer: Transfer, facts: tuple[Fact, ...]) -> Outcomes:
        """The outcome of an operation with bodies. Each body is inferred as it stands before the facts of the inputs enter it."""
        bodies, inner = self._maps[node.index], self.current.inner
        for body in bodies:
            inner[node.index, body.name] = yield (node.index, body.name), ()
        if not bodies:
            return Outcome((POISONED,) * transfer.listed, listed=transfer.listed)
        from irshape.inference.control import Control

        return (yield from Control(self.rules, node, transfer, bodies, facts, inner).answer())

    def _effects(self, run: Run, position: int, node: Node, outcome: Outcome) -> tuple[Fact, ...]:
        """Report an outcome, and give as many outputs as the layer lists."""
        self.voice.speak(run, position, node, outcome)
        outputs, signature = outcome.outputs, node.layer.signature
        missing = signature.output_count - len(outputs)
        if missing < 0:
            if node.type != "Result":
                run.unlisted[node.index] = outputs[signature.output_count :]
            return outputs[: signature.output_count]
        if missing > 0:
            surplus = range(node.first_slot + len(outputs), node.first_slot + signature.output_count)
            # IR version 10 may list ports that the operation does not have, as long as nothing reads them.
            if self.model.ir_version != 10 or any(slot in self.model.readers for slot in surplus):
                message = f"the operation has {counted(len(outputs), 'output')}, but the layer lists {signature.output_count}"
                self.voice.report(run, position, node, Finding("G109", message, signature.input_count + len(outputs)))
        return (*outputs, *[POISONED] * missing)

    def _variables(self) -> list[Pair]:
        from irshape.inference.variables import pairs

        return pairs(self.model)

    def _examine_variables(self, run: Run) -> None:
        """Compare the value that is assigned to each variable with the one that its ReadValue declares."""
        if not self.pairs:
            return
        from irshape.inference.variables import examine

        position, slots = len(self.schedule.nodes), run.slots
        run.reports.pop(position, None)
        for pair in self.pairs:
            read_value, assign = pair.read_value, pair.assign
            read = None if read_value is None or not read_value.layer.signature.output_count else slots[read_value.first_slot]
            ctx = examine(pair, self.scope, read, slots[assign.sources[0]] if assign.sources else POISONED)
            outcome = Outcome((), tuple(ctx.findings), tuple(ctx.requirements))
            self.voice.speak(run, position, assign, outcome if self.verdict is None else self.verdict(assign, outcome))
