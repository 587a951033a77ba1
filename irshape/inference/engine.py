"""The passes over a graph: each node's transfer function takes facts and gives facts.

    run ──▶ _driven ──▶ _pass ──▶ _visit: for each node, in order
                          ▲          facts of the inputs ──▶ outcome ──▶ effects ──▶ facts of the outputs
                          └──────── an operation with bodies asks for passes over them

There is one loop, `_visit`. A whole pass visits every node; a pass after a change visits the nodes that the change reaches. Rules are
pure functions of an op's attributes and the facts of its inputs, so outcomes are remembered and shared by all nodes that ask the same.

A body is a graph like any other: its engine makes the same pass, with facts given for its Parameters. Only an operation with bodies
yields: it asks for a pass over a body and waits, so that nested bodies need no recursion.

The results of a pass are in its `Run`: the facts of tensors, the outcomes and the reports of nodes, the runs of bodies. The engine adopts
a run when it is whole, and stores the question then: a pass that is interrupted leaves nothing to go on from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from irshape.inference.apply import Rules
from irshape.inference.facts import POISONED, Fact, FactTable
from irshape.inference.origins import Constants, Origins
from irshape.inference.question import AS_READ, Question
from irshape.inference.run import Given, Guard, Run, Voice, Wanted, guards_of
from irshape.inference.schedule import Schedule, Transfers, demanded, facts_of, marked, schedule
from irshape.inference.transfer import Outcome, Transfer
from irshape.model.bodies import Body, bodies_of
from irshape.model.model import Model, Node, reached
from irshape.report.diagnostic import ERROR, Diagnostics
from irshape.report.finding import Finding
from irshape.report.text import counted
from irshape.shape.compilation import mypyc_attr
from irshape.shape.dim import Scope
from irshape.shape.guard import Requirement
from irshape.shape.limits import Work
from irshape.shape.shape import Shape
from irshape.xml.lexical import BODIES
from irshape.xml.weights import Weights

if TYPE_CHECKING:
    from irshape.inference.variables import VariablePair

# A pass asks for passes over bodies, and is sent their runs.
Pass: TypeAlias = Generator[Wanted, Run, Run]
# The outcome of a node with bodies, which asks for passes over them, and is sent their runs.
Outcomes: TypeAlias = Generator[Wanted, Run, Outcome]


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Engine:
    """The inference of a graph by passes. Its tables live as long as it does, so that a second pass finds the outcomes of the first.

    `bodies` are the engines of the bodies, by node and name: they share the tables of the `outer` engine. `work` is the work that the
    question may still take; None begins a question. `is_static` tells that the symbols stand for the numbers that the inputs will have:
    then OpenVINO's bounds do not count. An engine may be `like` another one of the same model: it has symbols of its own, and shares the
    schedule, the constants, and the outcomes for facts of numbers.

    `question` is the question of the last pass, `current` its run, and `diagnostics` and `guarded_runs` are those of it and its bodies.
    """

    new_scope: ClassVar[type[Scope]] = Scope
    new_voice: ClassVar[type[Voice]] = Voice
    # A function that gives the tensors of a graph whose elements are followed although no rule reads them.
    followed: ClassVar[Any] = None
    # Whether a pass keeps OpenVINO's view of the facts only.
    is_reduced: ClassVar[bool] = False

    def __init__(
        self,
        model: Model,
        weights: Weights | None,
        opaque: frozenset[str] = frozenset(),
        *,
        outer: Self | None = None,
        body: Body | None = None,
        is_static: bool = False,
        work: Work | None = None,
        like: Self | None = None,
    ) -> None:
        document = model.document
        self.model = model
        self.weights = weights
        self.opaque = opaque
        self.scope: Scope = outer.scope if outer else self.new_scope(document.limits, work)
        base = outer or like
        self.facts: FactTable = outer.facts if outer else FactTable(is_static, like.facts if like else None)
        self.rules: Rules = outer.rules if outer else Rules(self.facts, self.scope, states_types=not document.is_example)
        self.constants: Constants = base.constants if base else Constants(weights, document)
        self.origins = Origins(model, self.rules, self.constants, opaque)
        self.voice = self.new_voice(model)
        self.bodies: dict[tuple[int, str], Self] = {}
        self._like = like
        self.parameters = model.parameters
        self.current = Run.of(model.slot_count, 0)
        self.diagnostics = Diagnostics()
        self.guarded_runs: list[tuple[Run, str]] = []
        self._question: Question | None = None
        self._runs: dict[Given, Run] = {}
        self.transfers: Transfers = base.transfers if base else {}
        self.maps: dict[int, list[Body]] = like.maps if like else {node.index: bodies_of(node) for node in model.holders}
        if like:
            self.schedule: Schedule = like.schedule
        else:
            more = type(self).followed(model) if type(self).followed else set()
            self.schedule = schedule(model, self.transfers, demanded(model, self.maps, body) | more, weights)
        self.constants.is_short |= self.schedule.is_short
        self.pairs: list[VariablePair] = []
        if model.of_type("Assign"):
            from irshape.inference.variables import pairs

            self.pairs = pairs(model)
        if outer is None:
            for graph in self.graphs():
                graph._enter_bodies()

    def _enter_bodies(self) -> None:
        for index, bodies in self.maps.items():
            for body in bodies:
                like = self._like and self._like.bodies[index, body.name]
                engine = type(self)(body.model, self.weights, self.opaque, outer=self, body=body, like=like)
                self.bodies[index, body.name] = engine  # type: ignore[assignment]  # mypy takes type(self) for Engine

    def graphs(self) -> Iterator[Self]:
        """The engine itself and those of all bodies, in the order of the file."""
        return reached([self], lambda engine: reversed(engine.bodies.values()))

    @property
    def question(self) -> Question:
        return self._question or AS_READ

    @property
    def slots(self) -> list[Fact]:
        """The facts of all tensors by the last pass."""
        return self.current.slots

    @property
    def guards(self) -> list[Guard]:
        """The conditions on sizes by the last pass, bodies included."""
        return guards_of(self.guarded_runs)

    @property
    def requirements(self) -> list[Requirement]:
        """The requirements of the last pass that hold whichever bodies run."""
        return [guard.requirement for guard in self.guards if not guard.branch]

    @property
    def remembered(self) -> int:
        """The number of outcomes in the memos, and of sizes in the tables."""
        return self.rules.answered + len(self.scope)

    def run(self, question: Question = AS_READ) -> None:
        """Infer every tensor of the graph and of its bodies; after the first pass, only those that a change of the question reaches."""
        before, self._question = self._question, None
        dirty = None if before is None else before.changed(question)
        if question.shapes:
            # What the memos hold of the shapes of the file stays true: a layer with an unknown number of outputs has lost none since.
            self.rules.is_reshaped = True
        run = self.current
        if dirty is None:
            self.constants.is_reported = False
            for graph in self.graphs():
                graph._runs = {}
            run = self._driven(self._pass(question, ()), question)
        elif dirty:
            run = self._driven(self._again(question, dirty), question)
        self._adopt(run)
        self._question = question

    def _driven(self, root: Generator[Wanted, Run, Any], question: Question) -> Any:
        """The result of a pass or of a node, made with the passes that it asks for; a body with the same facts is passed once.

        After as many passes over one body as the limit `passes` allows, its Parameters are of any shape: bodies inside bodies would
        multiply passes.
        """
        inside = question.inside
        made: Counter[Engine] = Counter()
        waiting: list[tuple[Engine, Generator[Wanted, Run, Any]]] = [(self, root)]
        answer: Any = None
        while True:
            engine, running = waiting[-1]
            try:
                key, given = running.send(answer)
            except StopIteration as end:
                waiting.pop()
                answer = end.value
                if not waiting:
                    return end.value
                continue
            body = engine.bodies[key]
            if made[body] >= self.scope.limits.passes and given not in body._runs:
                given = tuple([fact and self.facts.intern(fact.element_type, None, None, fact.is_poisoned) for fact in given])
            answer = body._runs.get(given)
            if answer is None:
                made[body] += 1
                self.scope.work.left -= len(body.schedule.nodes)
                waiting.append((body, body._pass(inside, given)))

    def _adopt(self, run: Run) -> None:
        """Make a run the current one, and gather diagnostics and guards of bodies, also those of a body as it stands alone."""
        self.diagnostics = run.diagnostics
        self.guarded_runs = [(run, "")]
        self.current = run
        pending = [(self, run, "")] if run.inner else []
        while pending:
            engine, run, around = pending.pop()
            for key, inner in run.inner.items():
                branch = around
                if key in run.optional:
                    branch = f"{key[1]} of {engine.model.nodes[key[0]].name}{around and f' in {around}'}"
                body = engine.bodies[key]
                body.current = inner
                found = inner.diagnostics
                self.diagnostics += found
                if not inner.is_as_read:
                    if alone := body.as_read.diagnostics:
                        known = {(one.code, one.where.offset) for one in found}
                        self.diagnostics += [one for one in alone if (one.code, one.where.offset) not in known]
                    self.guarded_runs.append((inner, branch))
                pending.append((body, inner, branch))

    def _pass(self, question: Question, given: Given) -> Pass:
        """A whole pass; `given` are the facts of the Parameters of a body."""
        run = Run.of(self.model.slot_count, len(self.schedule.nodes))
        for slot, port in self.model.stubs.items():
            run.slots[slot] = self.origins.recorded_by(port)
        yield from self._visit(run, question, given, None)
        self._examine_variables(run, question)
        run.is_as_read = not given
        self._runs[given] = run
        return run

    def _again(self, question: Question, dirty: frozenset[int]) -> Pass:
        """A pass over these nodes, and all that their change reaches."""
        run = self.current.copy()
        run.outcomes = run.outcomes or [None] * len(self.schedule.nodes)
        yield from self._visit(run, question, (), self.schedule.marks(dirty))
        self._examine_variables(run, question)
        return run

    def _visit(self, run: Run, question: Question, given: Given, marks: bytearray | None) -> Generator[Wanted, Run, None]:
        """Infer the nodes in order: all of them, or those at the marked positions and the nodes that read a tensor whose fact changes."""
        slots, outcomes, overrides, verdict = run.slots, run.outcomes, question.overrides, question.verdict
        nodes, transfers, fact_of, apply = self.schedule.nodes, self.schedule.transfers, slots.__getitem__, self.rules.apply
        constants = self.constants.outcomes
        entered = {node.index: fact for node, fact in zip(self.parameters, given, strict=False) if fact is not None}
        for position in range(len(nodes)) if marks is None else marked(marks):
            node, transfer = nodes[position], transfers[position]
            if marks is not None:
                run.reports.pop(position, None)
                run.unlisted.pop(node.index, None)
            if transfer is not None and transfer.is_pure and not (overrides and node.index in overrides):
                outcome = apply(node, transfer, tuple(map(fact_of, node.sources)))
                if outcome.has_effects and verdict is not None:
                    outcome = verdict(self, node, outcome)
                outcomes[position] = outcome
            else:
                outcomes[position] = None
                found = None if transfer is None or overrides else constants.get(transfer)
                if found is None:
                    facts = facts_of(node, slots)
                    found = self._origin(node, transfer, facts, run, question, entered.get(node.index))
                outcome = (yield from self._control(node, transfer, facts, run)) if found is None else found
                if outcome.has_effects and verdict is not None:
                    outcome = verdict(self, node, outcome)
            outputs = self._effects(run, position, node, outcome) if outcome.has_effects else outcome.outputs
            if self.is_reduced:
                outputs = self.reduced(outputs)
            first = node.first_slot
            if marks is None:
                if len(outputs) == 1:
                    slots[first] = outputs[0]
                else:
                    slots[first : first + len(outputs)] = outputs
                continue
            for slot, fact in enumerate(outputs, first):
                if slots[slot] is not fact:
                    slots[slot] = fact
                    for reader in self.schedule.readers.get(slot, ()):
                        marks[reader] = True

    def reduced(self, outputs: tuple[Fact, ...]) -> tuple[Fact, ...]:
        return outputs

    def _origin(
        self, node: Node, transfer: Transfer | None, facts: tuple[Fact, ...], run: Run, question: Question, entered: Fact | None
    ) -> Outcome | None:
        """The outcome of a node that is taken for granted, from the file, or `entered` a body; None if its bodies give it."""
        if node.index in question.overrides:
            return Outcome(question.overrides[node.index], listed=node.layer.signature.output_count)
        if transfer is None:
            has_room = len(run.reports) < self.model.document.limits.faults
            return self.origins.unknown(node, facts, is_as_read=not question.shapes, with_hint=has_room)
        if transfer.offset is not None:
            return self.origins.constant(node, transfer)
        if node.index in self.maps:
            return None
        if transfer.op.TYPE == "Parameter" and not facts:
            return self.origins.parameter(node, transfer, entered, question.shapes)
        if transfer.op.TYPE in BODIES:  # in an example, which has no bodies
            return Outcome(self.origins.recorded(node), listed=transfer.listed)
        return self.rules.apply(node, transfer, facts)

    def _control(self, node: Node, transfer: Transfer | None, facts: tuple[Fact, ...], run: Run) -> Outcomes:
        """The outcome of an operation with bodies. Each body is inferred as it stands before the facts of the inputs enter it."""
        assert transfer is not None
        bodies = self.maps[node.index]
        for body in bodies:
            run.inner[node.index, body.name] = yield (node.index, body.name), ()
        if not bodies:
            return Outcome((POISONED,) * transfer.listed, listed=transfer.listed)
        from irshape.inference.control import RULES

        return (yield from RULES[type(transfer.op)](self.rules, node, transfer, bodies, facts, run).answer())

    def _effects(self, run: Run, position: int, node: Node, outcome: Outcome) -> tuple[Fact, ...]:
        """Report the outcome for these inputs, and give as many outputs as the layer lists."""
        self.voice.speak(run, position, node, outcome)
        outputs, signature = outcome.outputs, node.layer.signature
        missing = signature.output_count - len(outputs)
        if missing < 0:
            if node.op is not None and node.op.TYPE != "Result":
                run.unlisted[node.index] = outputs[signature.output_count :]
            return outputs[: signature.output_count]
        if missing > 0:
            surplus = range(node.first_slot + len(outputs), node.first_slot + signature.output_count)
            # IR version 10 may list ports that the operation does not have, as long as nothing reads them.
            is_known = not any(fact.is_poisoned for fact in facts_of(node, run.slots))
            if is_known and (self.model.ir_version != 10 or any(slot in self.model.readers for slot in surplus)):
                message = f"the operation has {counted(len(outputs), 'output')}, but the layer lists {signature.output_count}"
                self.voice.report(run, position, node, Finding("G109", message, signature.input_count + len(outputs)))
        return (*outputs, *[POISONED] * missing)

    def _examine_variables(self, run: Run, question: Question) -> None:
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
            self.voice.speak(run, position, assign, outcome if question.verdict is None else question.verdict(self, assign, outcome))

    @property
    def as_read(self) -> Run:
        """The run over a body as it stands."""
        return self._runs[()]

    def pass_over(self, key: tuple[int, str], given: Given) -> Run:
        """The run over a body that these facts enter."""

        def asked() -> Generator[Wanted, Run, Run]:
            return (yield key, given)

        run: Run = self._driven(asked(), self.question)
        return run

    def answer(self, run: Run, node: Node, transfer: Transfer | None, facts: tuple[Fact, ...], question: Question) -> Outcome:
        """The outcome of one node for these facts of its inputs. The runs of its bodies go into the run."""
        if transfer is not None and transfer.is_pure:
            return self.rules.apply(node, transfer, facts)
        found = self._origin(node, transfer, facts, run, question, None)
        if found is not None:
            return found
        outcome: Outcome = self._driven(self._control(node, transfer, facts, run), question)
        return outcome

    def ask(self, run: Run, position: int, facts: tuple[Fact, ...], question: Question) -> tuple[Fact, ...] | None:
        """The outputs of one node for these facts of its inputs, reported in a run that a plan makes; None if there is an error."""
        node, transfer = self.schedule.nodes[position], self.schedule.transfers[position]
        run.reports.pop(position, None)
        run.unlisted.pop(node.index, None)
        outcome = self.answer(run, node, transfer, facts, question)
        if len(outcome.outputs) < node.layer.signature.output_count or (outcome.findings and any(one.is_error for one in outcome.findings)):
            return None
        for body in self.maps.get(node.index, ()):
            if any(found.severity == ERROR for found in run.inner[node.index, body.name].diagnostics):
                return None
        return self._effects(run, position, node, outcome) if outcome.has_effects else outcome.outputs

    def take(self, run: Run, shapes: Mapping[int, Shape], *, examines: bool) -> bool:
        """Make a run that a plan made for shapes of Parameters the current one; False, and nothing changes, for an error."""
        question = Question(shapes)
        if examines:
            self._examine_variables(run, question)
            if any(found.severity == ERROR for found in run.diagnostics):
                return False
        self._question = None
        self._adopt(run)
        self._question = question
        return True
