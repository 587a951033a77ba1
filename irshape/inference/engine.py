"""One pass over a graph in topological order: facts in, rule, facts out.

Rules are pure functions of the op's attributes and the facts of its inputs, so an application is remembered and replayed
for every layer that asks the same. What a rule finds has no place; the engine adds the layer's.

A body is a graph as any other: its engine makes the same pass, given the facts of its Parameters. A pass that needs one of a
body asks for it and waits, so that however deep bodies are nested, nothing recurs.
"""

from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from irshape.inference.apply import Application, Request
from irshape.inference.facts import POISONED, Fact, Facts
from irshape.model.bodies import BODIES, Body, BodyInput, bodies_of
from irshape.model.build import place, unknown_reason
from irshape.model.model import Model, Node
from irshape.ops.context import element_count
from irshape.ops.op import Op
from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import ERROR, WARNING, Diagnostic
from irshape.report.finding import Finding
from irshape.shape.dim import Scope
from irshape.shape.element_type import ElementType
from irshape.shape.guard import Requirement
from irshape.shape.notation import SymbolFacts
from irshape.shape.shape import Shape
from irshape.shape.value import MAX_ELEMENTS, UNREADABLE, Elements
from irshape.xml.document import Port
from irshape.xml.weights import Weights, WeightsError, check_strings, decode

if TYPE_CHECKING:
    from irshape.inference.variables import Pair


class Guard:
    """A requirement that depends on the sizes of the inputs, and the first node that makes it."""

    __slots__ = ("node", "requirement")

    def __init__(self, node: Node, requirement: Requirement) -> None:
        self.node = node
        self.requirement = requirement

    @property
    def line(self) -> int:
        """The line of the node's layer in the file."""
        return self.node.model.document.position(self.node.layer.offset)[0]

    @property
    def path(self) -> str:
        """The bodies around the node, outermost first; empty in the net itself."""
        return self.node.model.path

    def __repr__(self) -> str:
        return f"<{self.requirement} for {self.node.name!r}>"


class Step:
    """What a pass has to know of a node: `signature` is the same for all nodes that are the same but for their inputs.

    `tensor` is the number of the first output among the tensors of all graphs, `tensors` are those of the inputs.
    """

    __slots__ = ("bodies", "first_slot", "listed", "node", "op", "signature", "sources", "tensor", "tensors", "wanted")

    def __init__(self, node: Node, op: Op, signature: int, sources: list[int], wanted: frozenset[int], bodies: list[Body] | None) -> None:
        first = node.model.first_tensor
        self.node = node
        self.op = op
        self.signature = signature
        self.sources = sources
        self.listed = node.layer.pattern.output_count
        self.first_slot = node.first_slot
        self.tensor = first + node.first_slot
        self.tensors = [first + source if source >= 0 else source for source in sources] if first else sources
        self.wanted = wanted
        self.bodies = bodies


class Run:
    """What one pass over a graph gave; `inner` are those of its bodies, by node and name."""

    __slots__ = ("diagnostics", "guards", "inner", "slots", "unlisted")

    def __init__(self, slot_count: int) -> None:
        self.slots: list[Fact] = [POISONED] * slot_count
        self.unlisted: dict[int, tuple[Fact, ...]] = {}
        self.guards: dict[Requirement, Guard] = {}
        self.diagnostics: list[Diagnostic] = []
        self.inner: dict[tuple[int, str], Run] = {}

    def value(self, result: Node) -> Fact:
        """What a Result takes."""
        source = result.sources[0] if result.sources else -1
        return self.slots[source] if source >= 0 else POISONED


# The facts of a body's Parameters, None where what the Parameter declares holds; nothing for a body as it stands.
Given: TypeAlias = tuple[Fact | None, ...]
# A pass: it asks for passes over bodies, and gets them.
Pass: TypeAlias = "Generator[tuple[Engine, Given], Run, Run]"


# A remembered application that must not be shared: it holds symbols born in one layer.
_LOCAL: Final = Application(())
_NONE: Final[frozenset[int]] = frozenset()


class Engine:
    """The inference of one model: its tables live as long as it does, so that a second pass finds the rules' answers.

    `shapes` are the shapes of Parameters, by node, that replace the file's; `symbols` what is known of the names the user gave;
    `supposed` the outputs of nodes that are taken for granted, by node; `unlisted` the facts of outputs that a layer does not
    list, by node. `bodies` are the engines of the bodies, by node and name; they share
    the tables of the `outer` one, and their diagnostics and guards are found there, too.
    """

    def __init__(
        self,
        model: Model,
        weights: Weights | None,
        opaque: frozenset[str] = frozenset(),
        *,
        outer: "Engine | None" = None,
        body: Body | None = None,
    ) -> None:
        self.model = model
        self.weights = weights
        self.opaque = opaque
        self.scope: Scope = outer.scope if outer else Scope()
        self.facts: Facts = outer.facts if outer else Facts()
        self.shapes: dict[int, Shape] = {}
        self.symbols: dict[str, SymbolFacts] = outer.symbols if outer else {}
        self.supposed: dict[int, tuple[Fact, ...]] = {}
        self.bodies: dict[tuple[int, str], Engine] = {}
        self.parameters = model.parameters
        self._root: Engine = outer._root if outer else self
        self._given: dict[int, Fact] = {}
        self._runs: dict[Given, Run] = {}
        self._memo: dict[tuple[object, ...], Application] = outer._memo if outer else {}
        self._signatures: dict[tuple[Op, int, frozenset[int]], int] = outer._signatures if outer else {}
        self._maps = {node.index: bodies_of(node) for node in model.nodes if node.type in BODIES}
        self._demanded = self._demanded_slots(body)
        self._steps = self._plan()
        self._pairs = self._pair()
        self._are_weights_bad = False
        self._adopt(Run(model.slot_count))
        if outer is None:
            for engine in self.graphs():
                engine._enter_bodies()

    @property
    def remembered(self) -> int:
        """How many answers are remembered."""
        return len(self._memo)

    def _enter_bodies(self) -> None:
        for index, bodies in self._maps.items():
            for body in bodies:
                self.bodies[index, body.name] = Engine(body.model, self.weights, self.opaque, outer=self, body=body)

    def graphs(self) -> "Iterator[Engine]":
        """The engine itself and those of all bodies, in the order of the file."""
        pending = [self]
        while pending:
            engine = pending.pop()
            yield engine
            pending += reversed(engine.bodies.values())

    def _demanded_slots(self, body: Body | None) -> set[int]:
        """The tensors whose elements some rule reads, directly or through ops that propagate values."""
        demanded: set[int] = set()
        if body is not None and body.condition is not None:
            demanded.update(body.condition.sources)
        for index, bodies in self._maps.items():
            sources = self.model.nodes[index].sources
            for one in bodies:
                demanded.update(sources[passed.external] for passed in conditions_passed(one) if passed.external < len(sources))
        for index in reversed(self.model.order):
            node = self.model.nodes[index]
            op_class = node.op_class
            if op_class is None or not op_class.inputs:
                continue
            follows = op_class.demanded()
            if follows and demanded.isdisjoint(range(node.first_slot, node.first_slot + node.layer.pattern.output_count)):
                follows = _NONE
            for position, slot in enumerate(node.sources):
                port = op_class.input_at(position)
                if slot >= 0 and port is not None and (port.value or port.index in follows):
                    demanded.add(slot)
        return demanded

    def _plan(self) -> list[Step | Node]:
        """The nodes in order, each with what a pass needs; a node of an unknown operation as itself."""
        signatures = self._signatures
        steps: list[Step | Node] = []
        for node in self.model:
            if node.is_dropped:
                continue
            op = node.op
            if op is None:
                steps.append(node)
                continue
            sources = node.sources
            while sources and sources[-1] == -1:
                sources = sources[:-1]
            listed = node.layer.pattern.output_count
            wanted = _NONE
            if op.propagate is not None:
                wanted = frozenset(i for i in range(listed) if node.first_slot + i in self._demanded)
            signature = signatures.setdefault((op, listed, wanted), len(signatures))
            steps.append(Step(node, op, signature, sources, wanted, self._maps.get(node.index)))
        return steps

    def _pair(self) -> "list[Pair]":
        if not any(node.type == "Assign" for node in self.model.nodes):
            return []
        from irshape.inference.variables import pairs

        return pairs(self.model)

    def run(self) -> None:
        """Infer every tensor of the graph and of its bodies."""
        self._are_weights_bad = False
        for engine in self.graphs():
            engine._runs = {}
        self._settle(_drive(self._pass(())))

    def _adopt(self, run: Run) -> None:
        """Let this be what is known of the graph."""
        self.current = run
        self.slots = run.slots
        self.unlisted = run.unlisted
        self.guards = run.guards
        self.diagnostics = run.diagnostics

    def _settle(self, run: Run) -> None:
        """Let the last pass over each graph be what is known of it, and gather what was found in the bodies.

        OpenVINO looks at a body as it stands, too: what was found only then is a fault as well.
        """
        self._adopt(run)
        pending = [(self, run)]
        while pending:
            engine, run = pending.pop()
            for key, inner in run.inner.items():
                body = engine.bodies[key]
                body._adopt(inner)
                alone = body._runs[()]
                self.diagnostics += inner.diagnostics
                if inner is not alone:
                    known = {(found.code, found.where.offset) for found in inner.diagnostics}
                    self.diagnostics += [found for found in alone.diagnostics if (found.code, found.where.offset) not in known]
                    for requirement, guard in inner.guards.items():
                        self.guards.setdefault(requirement, guard)
                pending.append((body, inner))

    def _pass(self, given: Given) -> Pass:
        """Infer every tensor of the graph; the Parameters of a body are what is given."""
        run = Run(self.model.slot_count)
        self._adopt(run)
        self._given = {node.index: fact for node, fact in zip(self.parameters, given, strict=False) if fact is not None}
        slots = self.slots
        for slot, port in self.model.stubs.items():
            slots[slot] = self._recorded(port)
        for step in self._steps:
            if isinstance(step, Node):
                self._trust(step)
                continue
            if step.node.index in self.supposed:
                outputs = self.supposed[step.node.index]
            elif step.bodies is None:
                outputs = self._outputs(step)
            else:
                outputs = yield from self._control(step, step.bodies)
            first, listed = step.first_slot, step.listed
            if len(outputs) < listed:
                self._report_surplus(step.node, len(outputs))
                outputs = (*outputs, *[POISONED] * (listed - len(outputs)))
            elif len(outputs) > listed:
                self.unlisted[step.node.index] = outputs[listed:]
            slots[first : first + listed] = outputs[:listed]
        if self._pairs:
            self._examine_pairs()
        self._runs[given] = run
        return run

    def _control(self, step: Step, bodies: list[Body]) -> "Generator[tuple[Engine, Given], Run, tuple[Fact, ...]]":
        """The outputs of an operation with bodies."""
        from irshape.inference.control import Control

        for body in bodies:
            engine = self.bodies[step.node.index, body.name]
            self.current.inner[step.node.index, body.name] = yield engine, ()
        if not bodies:
            return (POISONED,) * step.listed
        slots = self.slots
        facts = [slots[slot] if slot >= 0 else POISONED for slot in step.sources]
        control = Control(self, step, bodies, facts)
        outputs = yield from control.answer()
        self._report(step.node, control.findings)
        for message, offset in control.faults:
            self._say("G119", message, step.node, offset)
        self._guard(step.node, control.requirements)
        return outputs

    def _examine_pairs(self) -> None:
        """Compare what is assigned to each variable with what its ReadValue declares."""
        from irshape.inference.variables import examine

        slots = self.slots
        for pair in self._pairs:
            read_value, assign = pair.read_value, pair.assign
            read = None if read_value is None or not read_value.layer.outputs else slots[read_value.first_slot]
            source = assign.sources[0] if assign.sources else -1
            ctx = examine(pair, self.scope, read, slots[source] if source >= 0 else POISONED)
            self._report(assign, ctx.findings)
            self._guard(assign, ctx.requirements)

    def _outputs(self, step: Step) -> tuple[Fact, ...]:
        kind = step.op.TYPE
        if kind == "Parameter" and step.node.index in self._given:
            self._report(step.node, step.op.findings)
            return (self._given[step.node.index],)
        if kind == "Parameter" and step.node.layer.data_offset < 0:
            self._report(step.node, (Finding("A101", "a Parameter must have <data> with its shape and element_type"),))
            return (POISONED,)
        if kind == "Parameter" and step.node.index in self.shapes:
            self._report(step.node, step.op.findings)
            return (self.facts.intern(step.op.element_type, self.shapes[step.node.index]),)  # type: ignore[attr-defined]
        if kind in BODIES:  # an example, which has no bodies
            return tuple([self._recorded(port) for port in step.node.layer.outputs])
        application = self._apply(step)
        if application.findings:
            self._report(step.node, application.findings)
        if application.requirements:
            self._guard(step.node, application.requirements)
        if kind == "Constant":
            return (self._constant(step, application.outputs[0]),)
        return application.outputs

    def _guard(self, node: Node, requirements: Sequence[Requirement]) -> None:
        if node.is_live and self.model.is_live:
            for requirement in requirements:
                if requirement not in self.guards:
                    self.guards[requirement] = Guard(node, requirement)

    def _apply(self, step: Step) -> Application:
        """The answer to a node's question: remembered, or worked out and remembered."""
        slots = self.slots
        facts = [slots[slot] if slot >= 0 else POISONED for slot in step.sources]
        key: tuple[object, ...] = (step.signature, *facts)
        application = self._memo.get(key)
        if application is _LOCAL:
            application = self._memo.get((step.node, *key))
        if application is None:
            stated = not self.model.document.is_example
            request = Request(self.facts, self.scope, step.op, step.tensor, facts, step.tensors, step.listed, step.wanted, stated)
            application = request.answer()
            if request.is_local:
                self._memo[key] = _LOCAL
                key = (step.node, *key)
            self._memo[key] = application
        return application

    # Where facts come from, if not from a rule.

    def _recorded(self, port: Port) -> Fact:
        """What a port of the file records: its type and dims, and the elements an example gives."""
        element_type = ElementType.from_precision(port.precision) if port.precision else None
        shape: Shape = (port.value_shape or ()) if self.model.document.is_example else None
        if port.dims is not None:
            shape = tuple([self.scope.unknown(("port", port.offset, axis), 0) if dim < 0 else dim for axis, dim in enumerate(port.dims)])
        return self.facts.intern(element_type or ElementType.dynamic, shape, port.value, is_literal=port.value is not None)

    def _constant(self, step: Step, declared: Fact) -> Fact:
        """The fact of a Const: its bytes checked against the weights, its elements fetched where a rule reads them."""
        count = element_count(declared.shape)
        if declared.is_poisoned or count is None or self.model.document.is_example:
            return declared
        op: Any = step.op
        is_read = step.listed > 0 and step.first_slot in self._demanded and count <= MAX_ELEMENTS
        try:
            if self.weights is None:
                raise WeightsError("W101", "the model has constants, but no weights were given")
            if op.offset + op.size > self.weights.size:
                self.weights.read(op.offset, op.size)
            elements: Elements | None = None
            if declared.element_type is ElementType.string:
                check_strings(self.weights, op.offset, op.size)
            elif is_read:
                data = self.weights.read(op.offset, declared.element_type.byte_size(count))
                elements = decode(declared.element_type, data, count)
        except WeightsError as error:
            # One fault says that the weights are missing, short or another model's.
            if not self._root._are_weights_bad:
                self._root._are_weights_bad = error.code != "W106"
                self._report(step.node, (Finding(error.code, error.message, attribute="offset"),))
            return declared
        if not is_read:
            return declared
        if declared.element_type is ElementType.dynamic:
            message = "a constant without an element type has no values to read"
            self._report(step.node, (Finding("T101", message, attribute="element_type"),))
        return self.facts.intern(declared.element_type, declared.shape, UNREADABLE if elements is None else elements, is_literal=True)

    def _trust(self, node: Node) -> None:
        """An operation nobody knows: its recorded ports are all there is."""
        code, message, hint = unknown_reason(node.layer)
        if node.type in self.opaque and code == "G110":
            code, message, hint = "G117", f"{node.type!r} is not known; its recorded ports are trusted", None
        self._say(code, message, node, node.layer.offset, hint=hint)
        for position, port in enumerate(node.layer.outputs):
            self.slots[node.first_slot + position] = self._recorded(port)

    # What is said, with its place.

    def _report_surplus(self, node: Node, known: int) -> None:
        if self.model.ir_version != 10:
            port = node.layer.outputs[known]
            message = f"the operation has {known} outputs, the layer lists {len(node.layer.outputs)}"
            self._say("G109", message, node, port.offset, str(port.id))

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

    def _say(self, code: str, message: str, node: Node, offset: int, port: str | None = None, hint: str | None = None) -> None:
        severity = CATALOGUE[code].severity
        if severity == ERROR and not (node.is_live and self.model.is_live) and code != "I101":
            severity = WARNING
        where = place(self.model.document, node.layer, offset, port, self.model.path)
        self.diagnostics.append(Diagnostic(code, message, where, severity, hint))


def conditions_passed(body: Body) -> list[BodyInput]:
    """The inputs that are the condition of a Loop: those of the Parameter that its Result takes, and keeps."""
    condition = body.condition
    if condition is None or not condition.sources:
        return []
    source = condition.sources[0]
    return [
        entry
        for entry in body.inputs
        if entry.parameter.first_slot == source and entry.slice is None and (entry.back is None or entry.back.sources[:1] == [source])
    ]


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
