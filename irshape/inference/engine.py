"""One pass over a graph in topological order: facts in, rule, facts out.

Rules are pure functions of the op's attributes and the facts of its inputs, so an application is remembered and replayed
for every layer that asks the same. What a rule finds has no place; the engine adds the layer's.

A body is a graph as any other: its engine makes the same pass, given the facts of its Parameters. A pass that needs one of a
body asks for it and waits, so that however deep bodies are nested, nothing recurs.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from irshape.inference.apply import UNSHARED, Application, Outcome, Transfer
from irshape.inference.facts import POISONED, Fact, FactTable
from irshape.inference.partition import Partition, marked
from irshape.inference.run import Guard, NodeReport, Run, guards_of
from irshape.inference.schedule import Transfers, facts_of, schedule
from irshape.model.bodies import BODIES, Body, bodies_of, conditions_passed
from irshape.model.build import place, unknown_hint, unknown_reason
from irshape.model.model import Model, Node
from irshape.ops.context import element_count
from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import ERROR, WARNING, Diagnostic, Diagnostics
from irshape.report.finding import Finding
from irshape.shape.dim import Scope
from irshape.shape.element_type import INTEGER, ElementType
from irshape.shape.guard import Requirement
from irshape.shape.notation import SymbolRange
from irshape.shape.shape import Shape
from irshape.shape.value import UNREADABLE, Elements
from irshape.xml.document import Port
from irshape.xml.weights import Weights, WeightsError, check_strings, decode

if TYPE_CHECKING:
    from irshape.inference.variables import Pair


# The facts of a body's Parameters, None where what the Parameter declares holds; nothing for a body as it stands.
Given: TypeAlias = tuple[Fact | None, ...]
# A pass: it asks for passes over bodies, and gets them.
Pass: TypeAlias = "Generator[tuple[Engine, Given], Run, Run]"
Outputs: TypeAlias = "Generator[tuple[Engine, Given], Run, tuple[Fact, ...]]"


# Has the last word on the errors of a node.
Excuse: TypeAlias = Callable[[Node, Outcome], Outcome]


class _Asked(NamedTuple):
    """What a pass was asked with: the shapes, supposed outputs and symbols of an engine."""

    shapes: dict[int, Shape]
    overrides: dict[int, tuple[Fact, ...]]
    symbols: dict[str, SymbolRange]

    def changed(self, now: _Asked) -> frozenset[int] | None:
        """The nodes that are asked something else now; None where all may be."""
        if self.symbols != now.symbols:
            return None
        changed: set[int] = set()
        for before, after in ((self.shapes, now.shapes), (self.overrides, now.overrides)):
            changed.update(index for index in before.keys() | after.keys() if before.get(index, ...) != after.get(index, ...))
        return frozenset(changed)


class Engine:
    """The inference of one model: its tables live as long as it does, so that a second pass finds the rules' answers.

    `shapes` are the shapes of Parameters, by node, that replace the file's; `symbols` what is known of the names the user gave;
    `overrides` the outputs of nodes that are taken for granted, by node; `excuse` has the last word on errors; `unlisted` the
    facts of outputs that a layer does not list, by node. `bodies` are the engines of the bodies, by node and name; they share the
    tables of the `outer` one, and their diagnostics and guards are found there, too. `is_static` says that the
    symbols stand for numbers that the inputs will have: then it does not count what OpenVINO knows of bounds.
    """

    def __init__(
        self,
        model: Model,
        weights: Weights | None,
        opaque: frozenset[str] = frozenset(),
        *,
        outer: Engine | None = None,
        body: Body | None = None,
        is_static: bool = False,
    ) -> None:
        self.model = model
        self.weights = weights
        self.opaque = opaque
        self.scope: Scope = outer.scope if outer else Scope(model.document.limits)
        self.facts: FactTable = outer.facts if outer else FactTable(is_static)
        self.shapes: dict[int, Shape] = {}
        self.symbols: dict[str, SymbolRange] = outer.symbols if outer else {}
        self.overrides: dict[int, tuple[Fact, ...]] = {}
        self.excuse: Excuse | None = None
        self.bodies: dict[tuple[int, str], Engine] = {}
        self.parameters = model.parameters
        self.diagnostics = Diagnostics()
        self.guarded_runs: list[Run] = []
        self.current = Run.of(model.slot_count)
        self._root: Engine = outer._root if outer else self
        self._asked: _Asked | None = None
        self._given: dict[int, Fact] = {}
        self._runs: dict[Given, Run] = {}
        self._partition: Partition | None = None
        self._changed: frozenset[int] = frozenset()
        self._known_transfers: Transfers = outer._known_transfers if outer else {}
        self._ranges: dict[tuple[int, int], bytes] = outer._ranges if outer else {}
        self._maps = {node.index: bodies_of(node) for node in model.of_type(*BODIES)}
        self.nodes, self._transfers = schedule(model, self._known_transfers, self._demanded(body), weights)
        self._pairs = self._pair()
        self._are_weights_bad = False
        self._at = 0
        self._answered = 0
        if outer is None:
            for engine in self.graphs():
                engine.enter_bodies()

    @property
    def slots(self) -> list[Fact]:
        """What the last pass gave for every tensor."""
        return self.current.slots

    @property
    def guards(self) -> dict[Requirement, Guard]:
        """What must hold of the sizes by the last pass, bodies included."""
        return guards_of(self.guarded_runs)

    @property
    def remembered(self) -> int:
        """How many answers are remembered."""
        return self._root._answered

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

    def _demanded(self, body: Body | None) -> set[int]:
        """The tensors whose elements are read by what holds the graph, or by bodies in it."""
        demanded: set[int] = set()
        if body is not None and body.condition is not None:
            demanded.update(body.condition.sources)
        for index, bodies in self._maps.items():
            sources = self.model.nodes[index].sources
            for one in bodies:
                demanded.update(sources[passed.external] for passed in conditions_passed(one) if passed.external < len(sources))
        return demanded

    @cached_property
    def _positions(self) -> list[int]:
        """The turn of each node; what is dropped has none, and is read by nobody."""
        positions = [-1] * len(self.model)
        for position, node in enumerate(self.nodes):
            positions[node.index] = position
        return positions

    @cached_property
    def _readers(self) -> dict[int, list[int]]:
        """The turns that read each tensor."""
        positions = self._positions
        return {slot: [positions[index] for index, _ in readers] for slot, readers in self.model.readers.items()}

    def _pair(self) -> list[Pair]:
        if not self.model.of_type("Assign"):
            return []
        from irshape.inference.variables import pairs

        return pairs(self.model)

    def forget(self) -> None:
        """Let the next pass be a whole one."""
        self._asked = None

    def run(self) -> None:
        """Infer every tensor of the graph and of its bodies; after another pass, only what its changed inputs change."""
        asked = _Asked(self.shapes.copy(), self.overrides.copy(), self.symbols.copy())
        dirty = None if self._asked is None else self._asked.changed(asked)
        self._asked = asked
        if dirty is None:
            self._are_weights_bad = False
            for engine in self.graphs():
                engine._runs = {}
                engine._partition = None
            self._adopt(_drive(self._pass(())))
        else:
            self._adopt(_drive(self._again(dirty)) if dirty else self.current)

    def _adopt(self, run: Run) -> None:
        """Let the last pass over each graph be what is known of it, and gather what was found in the bodies.

        OpenVINO looks at a body as it stands, too: what was found only then is a fault as well.
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
        """Infer every tensor of the graph; the Parameters of a body are what is given."""
        run = self.current = Run.of(self.model.slot_count)
        self._given = {node.index: fact for node, fact in zip(self.parameters, given, strict=False) if fact is not None}
        slots, taken, overrides = run.slots, run.taken, self.overrides
        fact_of = slots.__getitem__
        for slot, port in self.model.stubs.items():
            slots[slot] = self._recorded(port)
        for position, (node, transfer) in enumerate(zip(self.nodes, self._transfers, strict=True)):
            if transfer is None or not transfer.is_plain or (overrides and node.index in overrides):
                self._at = position
                outputs = yield from self._special(node, transfer, facts_of(node, slots))
                taken.append(None)
            else:
                facts = tuple(map(fact_of, node.sources))
                outcome = transfer.memo.get(facts)
                if outcome is None or outcome is UNSHARED:
                    outcome = self._apply(node, transfer, facts)
                if outcome.has_effects:
                    self._at = position
                    if self.excuse is not None:
                        outcome = self.excuse(node, outcome)
                    self._repeat(node, outcome)
                    outputs = self._fitted(node, outcome.outputs)
                else:
                    outputs = outcome.outputs
                taken.append(outcome)
            first = node.first_slot
            if len(outputs) == 1:
                slots[first] = outputs[0]
            else:
                slots[first : first + len(outputs)] = outputs
        self._examine_pairs()
        self._runs[given] = run
        return run

    def _again(self, dirty: frozenset[int]) -> Pass:
        """Infer what a change of some nodes reaches; what changes for the second time is asked in groups from then on."""
        self._given = {}
        partition = self._partition
        if partition is None or partition.dirty != dirty or not partition.fits(self.current):
            partition = self._grouping(dirty, {}) if dirty == self._changed else None
        run = None if partition is None else (yield from self._grouped(partition))
        if run is None:
            run = yield from self._onwards(dirty)
            partition = partition and self._grouping(dirty, partition.numbers)
        self._partition, self._changed = partition, dirty
        self._runs[()] = run
        return run

    def _onwards(self, dirty: frozenset[int]) -> Pass:
        """Infer these nodes again, and those that read a tensor which changes."""
        before = self.current
        run = self.current = before.copy()
        slots, reports, overrides, readers = run.slots, run.reports, self.overrides, self._readers
        marks = self._marks(dirty)
        for position in marked(marks):
            node, transfer = self.nodes[position], self._transfers[position]
            reports.pop(position, None)
            run.unlisted.pop(node.index, None)
            self._at = position
            if transfer is None or not transfer.is_plain or node.index in overrides:
                outputs = yield from self._special(node, transfer, facts_of(node, slots))
            else:
                outputs = self._answer(node, transfer, tuple([slots[source] for source in node.sources]))
            for slot, fact in enumerate(outputs, node.first_slot):
                if slots[slot] is not fact:
                    slots[slot] = fact
                    for reader in readers.get(slot, ()):
                        marks[reader] = True
        self._examine_pairs()
        return run

    def _grouping(self, dirty: frozenset[int], apart: Mapping[int, int]) -> Partition:
        return Partition(self.nodes, self._transfers, self._readers, self.current, dirty, self._marks(dirty), apart, self.overrides)

    def _grouped(self, partition: Partition) -> Generator[tuple[Engine, Given], Run, Run | None]:
        """Infer what the groups reach; None if tensors that knew the same before no longer do."""
        before = self.current
        run, known = partition.begun()
        self.current = run
        fact_of = known.__getitem__
        for block in partition.blocks:
            node, transfer = block.node, block.transfer
            facts = tuple(map(fact_of, block.sources))
            if transfer is None or block.is_special:
                self._at = block.position
                outputs = yield from self._special(node, transfer, facts)
            else:
                outcome = transfer.memo.get(facts)
                if outcome is None or outcome is UNSHARED:
                    outcome = self._apply(node, transfer, facts)
                    if len(block.positions) > 1 and transfer.memo.get(facts) is UNSHARED:
                        self.current = before
                        return None
                outputs = outcome.outputs
                if outcome.has_effects:
                    for position in block.positions:
                        self._at = position
                        self._repeat(self.nodes[position], outcome)
                        outputs = self._fitted(self.nodes[position], outcome.outputs)
            for index, number in enumerate(block.outputs):
                fact = outputs[index]
                if known[number] is None:
                    known[number] = fact
                elif known[number] is not fact:
                    self.current = before
                    return None
        self._examine_pairs()
        return run

    def _marks(self, dirty: frozenset[int]) -> bytearray:
        """The turns of some nodes."""
        marks = bytearray(len(self.nodes))
        for index in dirty:
            marks[self._positions[index]] = True
        return marks

    def _answer(self, node: Node, transfer: Transfer, facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
        """The outputs that the rule of a node tells, with what it says."""
        outcome = transfer.memo.get(facts)
        if outcome is None or outcome is UNSHARED:
            outcome = self._apply(node, transfer, facts)
        if not outcome.has_effects:
            return outcome.outputs
        self._repeat(node, outcome)
        return self._fitted(node, outcome.outputs)

    def _fitted(self, node: Node, outputs: tuple[Fact, ...]) -> tuple[Fact, ...]:
        """As many outputs as the layer lists."""
        listed = node.layer.signature.output_count
        if len(outputs) == listed:
            return outputs
        if len(outputs) < listed:
            self._report_surplus(node, len(outputs))
            return (*outputs, *[POISONED] * (listed - len(outputs)))
        self.current.unlisted[node.index] = outputs[listed:]
        return outputs[:listed]

    def _special(self, node: Node, transfer: Transfer | None, facts: tuple[Fact, ...]) -> Outputs:
        """The outputs of a node that takes them from elsewhere than a rule, as many as its layer lists."""
        return self._fitted(node, (yield from self._outputs(node, transfer, facts)))

    def _outputs(self, node: Node, transfer: Transfer | None, facts: tuple[Fact, ...]) -> Outputs:
        """What a node gives that takes it from elsewhere than a rule."""
        if node.index in self.overrides:
            return self.overrides[node.index]
        if transfer is None:
            return self._trust(node)
        if node.index in self._maps:
            return (yield from self._control(node, transfer, facts))
        if transfer.op.TYPE in BODIES:  # an example, which has no bodies
            return tuple([self._recorded(port) for port in node.layer.outputs])
        if transfer.op.TYPE != "Parameter":  # a Const whose bytes are not there, or inputs at the end that are missing
            return self._remembered(node, transfer, facts).outputs
        if node.layer.data_offset < 0 and node.index not in self._given:
            self._report(node, (Finding("A101", "a Parameter must have <data> with its shape and element_type"),))
            return (POISONED,)
        if node.index not in self._given and node.index not in self.shapes:
            return self._remembered(node, transfer, facts).outputs
        self._report(node, transfer.op.findings)
        if node.index in self._given:
            return (self._given[node.index],)
        return (self.facts.intern(transfer.op.element_type, self.shapes[node.index]),)  # type: ignore[attr-defined]

    def _control(self, node: Node, transfer: Transfer, facts: tuple[Fact, ...]) -> Outputs:
        """The outputs of an operation with bodies."""
        from irshape.inference.control import Control

        bodies = self._maps[node.index]
        for body in bodies:
            engine = self.bodies[node.index, body.name]
            self.current.inner[node.index, body.name] = yield engine, ()
        if not bodies:
            return (POISONED,) * transfer.listed
        control = Control(self, node, transfer, bodies, facts)
        outputs = yield from control.answer()
        self._report(node, control.findings)
        for message, offset in control.faults:
            self._say("G119", message, node, offset)
        self._guard(node, control.requirements)
        return outputs

    def _examine_pairs(self) -> None:
        """Compare what is assigned to each variable with what its ReadValue declares."""
        if not self._pairs:
            return
        from irshape.inference.variables import examine

        self._at = len(self.nodes)
        self.current.reports.pop(self._at, None)
        slots = self.slots
        for pair in self._pairs:
            read_value, assign = pair.read_value, pair.assign
            read = None if read_value is None or not read_value.layer.signature.output_count else slots[read_value.first_slot]
            ctx = examine(pair, self.scope, read, slots[assign.sources[0]] if assign.sources else POISONED)
            self._report(assign, ctx.findings)
            self._guard(assign, ctx.requirements)

    def _remembered(self, node: Node, transfer: Transfer, facts: tuple[Fact, ...]) -> Outcome:
        """The answer to a node's question, with what it says repeated for the node."""
        outcome = transfer.memo.get(facts)
        if outcome is None or outcome is UNSHARED:
            outcome = self._apply(node, transfer, facts)
        self._repeat(node, outcome)
        return outcome

    def _apply(self, node: Node, transfer: Transfer, facts: tuple[Fact, ...]) -> Outcome:
        """The answer to a node's question, worked out and remembered: for all nodes that ask it, unless it is the node's own."""
        memo = transfer.memo
        own = (node, *facts)
        if memo.get(facts) is UNSHARED and own in memo:
            return memo[own]
        first, sources = self.model.first_tensor, node.sources
        if first:
            sources = [first + source if source >= 0 else source for source in sources]
        stated = not self.model.document.is_example
        application = Application(self.facts, self.scope, transfer, first + node.first_slot, facts, sources, stated)
        outcome = application.answer()
        self._root._answered += 1
        if transfer.offset is not None:
            try:
                outcome = self._fetched(transfer, transfer.offset, outcome)
            except WeightsError as error:
                return self._unfetched(outcome, error)  # which is said once, so it is not remembered
        if application.is_unshared:
            memo[facts] = UNSHARED
            memo[own] = outcome
        else:
            memo[facts] = outcome
        return outcome

    # Where facts come from, if not from a rule.

    def _recorded(self, port: Port) -> Fact:
        """What a port of the file records: its type and dims, and the elements an example gives."""
        element_type = ElementType.from_precision(port.precision) if port.precision else None
        shape: Shape = (port.value_shape or ()) if self.model.document.is_example else None
        if port.dims is not None:
            shape = tuple([self.scope.unknown(("port", port.offset, axis), 0) if dim < 0 else dim for axis, dim in enumerate(port.dims)])
        return self.facts.intern(element_type or ElementType.dynamic, shape, port.value, is_literal=port.value is not None)

    def _fetched(self, transfer: Transfer, offset: int, declared: Outcome) -> Outcome:
        """What is declared of a Const, with its elements if they are read. Raises WeightsError."""
        op: Any = transfer.op
        fact = declared.outputs[0]
        count = element_count(fact.shape)
        if fact.is_poisoned or count is None:
            return declared
        if self.weights is None:
            raise WeightsError("W101", "the model has constants, but no weights were given")
        if offset + op.size > self.weights.size:
            self.weights.read(offset, op.size)
        limit = self.scope.limits.elements
        finding = None
        if fact.element_type is ElementType.string:
            check_strings(self.weights, offset, op.size)
        if transfer.wanted and count <= limit:
            elements: Elements | None = None
            if fact.element_type is not ElementType.string:
                elements = decode(fact.element_type, self._bytes(offset, fact.element_type.byte_size(count)), count)
            fact = self.facts.intern(fact.element_type, fact.shape, UNREADABLE if elements is None else elements, is_literal=True)
            if fact.element_type is ElementType.dynamic:
                finding = Finding("T101", "a constant without an element type has no values to read", attribute="element_type")
        elif transfer.wanted and fact.element_type in INTEGER:
            message = f"the values of more than {limit} elements are not followed (limit elements)"
            finding = Finding("N103", message, attribute="shape")
        return Outcome((fact,), (*declared.findings, finding) if finding else declared.findings, (), transfer.listed)

    def _unfetched(self, declared: Outcome, error: WeightsError) -> Outcome:
        """What is declared of a Const whose bytes cannot be read; one says that the weights are missing, short or another model's."""
        if self._root._are_weights_bad:
            return declared
        self._root._are_weights_bad = error.code != "W106"
        finding = Finding(error.code, error.message, attribute="offset")
        return Outcome(declared.outputs, (*declared.findings, finding))

    def _bytes(self, offset: int, size: int) -> bytes:
        """A range of the weights, which is read once."""
        data = self._ranges.get((offset, size))
        if data is None:
            assert self.weights is not None
            data = self._ranges[offset, size] = self.weights.read(offset, size)
        return data

    def _trust(self, node: Node) -> tuple[Fact, ...]:
        """An operation nobody knows: its recorded ports are all there is."""
        code, message = unknown_reason(node.layer)
        if node.type in self.opaque and code == "G110":
            code, message = "G117", f"{node.type!r} is not known; its recorded ports are trusted"
        said = self._say(code, message, node, node.layer.offset)
        # A hint has its cost: those that will not be listed need none.
        if said is not None and code != "G117" and len(self.current.reports) <= self.model.document.limits.faults:
            said.hint = unknown_hint(node.layer)
        return tuple([self._recorded(port) for port in node.layer.outputs])

    # What is said, with its place.

    def _report_surplus(self, node: Node, known: int) -> None:
        if self.model.ir_version != 10:
            port = node.layer.outputs[known]
            message = f"the operation has {known} outputs, the layer lists {len(node.layer.outputs)}"
            self._say("G109", message, node, port.offset, str(port.id))

    def _repeat(self, node: Node, outcome: Outcome) -> None:
        """What an application says, said of a node."""
        self._report(node, outcome.findings)
        self._guard(node, outcome.requirements)

    def _report(self, node: Node, findings: Sequence[Finding]) -> None:
        layer = node.layer
        for finding in findings:
            offset, port = layer.offset, None
            if finding.attribute is not None and layer.data_offset >= 0:
                offset = self.model.document.attribute_offset(layer.data_offset, finding.attribute)
            elif finding.port is not None and finding.port < len(layer.inputs):
                record = layer.inputs[finding.port]
                offset, port = record.offset, str(record.id)
            self._say(finding.code, finding.message, node, offset, port, finding.hint)

    def _guard(self, node: Node, requirements: Sequence[Requirement]) -> None:
        if requirements and node.is_live and self.model.is_live:
            self._said(node).requirements += requirements

    def _say(self, code: str, message: str, node: Node, offset: int, port: str | None = None, hint: str | None = None) -> Diagnostic | None:
        severity = CATALOGUE[code].severity
        if severity == ERROR and not (node.is_live and self.model.is_live) and code != "I101":
            severity = WARNING
        own = self._said(node)
        found = own.diagnostics = Diagnostics(self.model.document.limits.faults) if own.diagnostics is None else own.diagnostics
        if not found.has_room(code, severity):
            return None
        where = place(self.model.document, node.layer, offset, port, self.model.path)
        said = Diagnostic(code, message, where, severity, hint)
        found.append(said)
        return said

    def _said(self, node: Node) -> NodeReport:
        report = self.current.reports.get(self._at)
        if report is None:
            report = self.current.reports[self._at] = NodeReport(node)
        return report


def _drive(root: Pass) -> Run:
    """Run a pass to its end, and those it asks for; a body with facts it has been given before is not looked at again."""
    waiting = [root]
    answer: Run | None = None
    while True:
        try:
            engine, given = waiting[-1].send(answer)  # type: ignore[arg-type]
        except StopIteration as end:
            waiting.pop()
            answer = end.value
            if not waiting:
                return end.value  # type: ignore[no-any-return]
            continue
        answer = engine._runs.get(given)
        if answer is None:
            waiting.append(engine._pass(given))
