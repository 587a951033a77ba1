"""One pass over a graph in topological order: facts in, rule, facts out.

Rules are pure functions of the op's attributes and the facts of its inputs, so an application is remembered and replayed
for every layer that asks the same. What a rule finds has no place; the engine adds the layer's.

A body is a graph as any other: its engine makes the same pass, given the facts of its Parameters. A pass that needs one of a
body asks for it and waits, so that however deep bodies are nested, nothing recurs.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from irshape.inference.apply import Application, Request
from irshape.inference.facts import POISONED, Fact, Facts
from irshape.model.bodies import BODIES, Body, BodyInput, bodies_of
from irshape.model.build import place, unknown_hint, unknown_reason
from irshape.model.model import Model, Node
from irshape.ops.context import element_count
from irshape.ops.op import Op, OpClass
from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import ERROR, WARNING, Diagnostic, Diagnostics
from irshape.report.finding import Finding
from irshape.shape.dim import Scope
from irshape.shape.element_type import INTEGER, ElementType
from irshape.shape.guard import Requirement
from irshape.shape.notation import SymbolFacts
from irshape.shape.shape import Shape
from irshape.shape.value import UNREADABLE, Elements
from irshape.xml.document import Port
from irshape.xml.weights import Weights, WeightsError, check_strings, decode

if TYPE_CHECKING:
    from irshape.inference.onlooker import Onlooker
    from irshape.inference.variables import Pair


class Guard:
    """A requirement that depends on the sizes of the inputs, the first node that makes it, and how many `more` do."""

    __slots__ = ("more", "node", "requirement")

    def __init__(self, node: Node, requirement: Requirement, more: int = 0) -> None:
        self.node = node
        self.requirement = requirement
        self.more = more

    @property
    def line(self) -> int:
        """The line of the node's layer in the file."""
        return self.node.model.document.position(self.node.layer.offset)[0]

    @property
    def path(self) -> str:
        """The bodies around the node, outermost first; empty in the net itself."""
        return self.node.model.path

    def to_dict(self) -> dict[str, Any]:
        """The form of `schemas/report.schema.json`."""
        return {
            "condition": str(self.requirement),
            "message": self.requirement.message,
            "layer": self.node.key,
            "name": self.node.name,
            "path": self.path or None,
            "line": self.line,
        }

    def __repr__(self) -> str:
        return f"<{self.requirement} for {self.node.name!r}>"


class Kind:
    """What nodes have in common that are the same but for their inputs: equal kinds are one object.

    `listed` is how many outputs the layers list, `wanted` the positions of those whose elements some rule reads. `is_plain` is
    false for what takes facts from elsewhere than its rule: a Parameter, a Const, a layer with bodies. `answers` are the
    applications of the rule so far, by the facts of the inputs; after a node, those that are the node's own.
    """

    __slots__ = ("answers", "is_plain", "listed", "op", "wanted")

    def __init__(self, op: Op, listed: int, wanted: frozenset[int]) -> None:
        self.op = op
        self.listed = listed
        self.wanted = wanted
        self.is_plain = op.TYPE not in _SOURCES and op.TYPE not in BODIES
        self.answers: dict[tuple[object, ...], Application] = {}


class Step:
    """A node in its turn; `op` and `kind` are None if its operation is unknown, `sources` are those of its inputs that are there."""

    __slots__ = ("first_slot", "kind", "listed", "node", "op", "sources")

    def __init__(self, node: Node, op: Op | None, kind: Kind | None, sources: list[int], listed: int) -> None:
        self.node = node
        self.op = op
        self.kind = kind
        self.sources = sources
        self.first_slot = node.first_slot
        self.listed = listed


class Said:
    """What was found in a node, if anything was, and what it demands of sizes."""

    __slots__ = ("diagnostics", "node", "requirements")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.diagnostics: Diagnostics | None = None
        self.requirements: list[Requirement] = []


class Run:
    """What one pass over a graph gave: a fact for every tensor, and what was said of the nodes.

    `unlisted` are the facts of outputs that a layer does not list, by node; `inner` the runs of bodies, by node and name; `said`
    is what was said of each step.
    """

    __slots__ = ("inner", "said", "slots", "unlisted")

    def __init__(self, slot_count: int) -> None:
        # An input that nothing feeds has the source -1 or -2: the last two stand for it.
        self.slots: list[Fact] = [POISONED] * (slot_count + 2)
        self.unlisted: dict[int, tuple[Fact, ...]] = {}
        self.inner: dict[tuple[int, str], Run] = {}
        self.said: dict[int, Said] = {}

    def copy(self) -> Run:
        """Another run that begins with what this one gave."""
        run = Run(0)
        run.slots = self.slots.copy()
        run.unlisted = self.unlisted.copy()
        run.inner = self.inner.copy()
        run.said = self.said.copy()
        return run

    def value(self, result: Node) -> Fact:
        """What a Result takes."""
        return self.slots[result.sources[0]] if result.sources else POISONED

    @property
    def diagnostics(self) -> Diagnostics:
        """What was found, in the order of the steps."""
        found = Diagnostics()
        for step in sorted(self.said):
            own = self.said[step].diagnostics
            if own is not None:
                found += own
        return found


def guards_of(runs: Iterable[Run]) -> dict[Requirement, Guard]:
    """What must hold by these runs, each requirement with the first node that makes it."""
    guards: dict[Requirement, Guard] = {}
    for run in runs:
        for step in sorted(run.said):
            said = run.said[step]
            for requirement in said.requirements:
                known = guards.get(requirement)
                if known is None:
                    guards[requirement] = Guard(said.node, requirement)
                elif known.node is not said.node:
                    known.more += 1
    return guards


# The facts of a body's Parameters, None where what the Parameter declares holds; nothing for a body as it stands.
Given: TypeAlias = tuple[Fact | None, ...]
# A pass: it asks for passes over bodies, and gets them.
Pass: TypeAlias = "Generator[tuple[Engine, Given], Run, Run]"


# A remembered application that must not be shared: it holds symbols born in one layer.
_LOCAL: Final = Application(())
_NONE: Final[frozenset[int]] = frozenset()
_SOURCES: Final = ("Parameter", "Constant")


class _Asked(NamedTuple):
    """What a pass was asked with: the shapes, supposed outputs and symbols of an engine."""

    shapes: dict[int, Shape]
    supposed: dict[int, tuple[Fact, ...]]
    symbols: dict[str, SymbolFacts]

    def changed(self, now: _Asked) -> set[int] | None:
        """The nodes that are asked something else now; None where all may be."""
        if self.symbols != now.symbols:
            return None
        changed: set[int] = set()
        for before, after in ((self.shapes, now.shapes), (self.supposed, now.supposed)):
            changed.update(index for index in before.keys() | after.keys() if before.get(index, ...) != after.get(index, ...))
        return changed


class Engine:
    """The inference of one model: its tables live as long as it does, so that a second pass finds the rules' answers.

    `shapes` are the shapes of Parameters, by node, that replace the file's; `symbols` what is known of the names the user gave;
    `supposed` the outputs of nodes that are taken for granted, by node; `onlooker` has the last word on errors; `unlisted` the
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
        self.facts: Facts = outer.facts if outer else Facts(is_static)
        self.shapes: dict[int, Shape] = {}
        self.symbols: dict[str, SymbolFacts] = outer.symbols if outer else {}
        self.supposed: dict[int, tuple[Fact, ...]] = {}
        self.onlooker: Onlooker | None = None
        self.bodies: dict[tuple[int, str], Engine] = {}
        self.parameters = model.parameters
        self.diagnostics = Diagnostics()
        self.guarding: list[Run] = []
        self.current = Run(model.slot_count)
        self._root: Engine = outer._root if outer else self
        self._asked: _Asked | None = None
        self._given: dict[int, Fact] = {}
        self._runs: dict[Given, Run] = {}
        self._kinds: dict[tuple[object, int, frozenset[int]], Kind] = outer._kinds if outer else {}
        self._constants: dict[tuple[Op | None, bool], Fact] = outer._constants if outer else {}
        self._maps = {node.index: bodies_of(node) for node in model.of_type(*BODIES)}
        self._demanded = self._demanded_slots(body)
        self._steps = self._plan()
        self._positions = self._turns()
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
        return guards_of(self.guarding)

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

    def _demanded_slots(self, body: Body | None) -> set[int]:
        """The tensors whose elements some rule reads, directly or through ops that propagate values."""
        demanded: set[int] = set()
        if body is not None and body.condition is not None:
            demanded.update(body.condition.sources)
        for index, bodies in self._maps.items():
            sources = self.model.nodes[index].sources
            for one in bodies:
                demanded.update(sources[passed.external] for passed in conditions_passed(one) if passed.external < len(sources))
        # The inputs whose elements the rule reads, and those that it reads to tell the elements of an output.
        reads: dict[tuple[OpClass | None, int], tuple[Sequence[int], Sequence[int]]] = {}
        nodes = self.model.nodes
        for index in reversed(self.model.order):
            node = nodes[index]
            sources = node.sources
            if not sources:
                continue
            key = (node.op_class, len(sources))
            if key not in reads:
                reads[key] = _read_inputs(*key)
            always, followed = reads[key]
            if followed and not demanded.isdisjoint(range(node.first_slot, node.first_slot + node.layer.pattern.output_count)):
                always = followed
            for position in always:
                demanded.add(sources[position])
        demanded.difference_update((-1, -2))
        return demanded

    def _plan(self) -> list[Step]:
        """The nodes in order, each with what a pass needs."""
        kinds, demanded, op_of = self._kinds, self._demanded, self.model.op_of
        steps: list[Step] = []
        for node in self.model:
            if node.is_dropped:
                continue
            op = op_of(node)
            if op is None:
                steps.append(Step(node, None, None, [], node.layer.pattern.output_count))
                continue
            count = len(node.sources)
            while count and node.sources[count - 1] == -1:
                count -= 1
            sources = node.sources[:count]
            listed = node.layer.pattern.output_count
            wanted = _NONE
            if op.propagate is not None:
                first = node.first_slot
                wanted = frozenset([i for i in range(listed) if first + i in demanded])
            key = (op.alike, listed, wanted)
            kind = kinds.get(key)
            if kind is None:
                kind = kinds[key] = Kind(op, listed, wanted)
            steps.append(Step(node, op, kind, sources, listed))
        return steps

    @cached_property
    def _readers(self) -> dict[int, list[int]]:
        """The steps that read each tensor."""
        positions = self._positions
        return {slot: [positions[index] for index, _ in readers] for slot, readers in self.model.readers.items()}

    def _turns(self) -> list[int]:
        """The step of each node; what is dropped has none, and is read by nobody."""
        positions = [-1] * len(self.model)
        for position, step in enumerate(self._steps):
            positions[step.node.index] = position
        return positions

    def _pair(self) -> list[Pair]:
        if not self.model.of_type("Assign"):
            return []
        from irshape.inference.variables import pairs

        return pairs(self.model)

    def infer(self) -> None:
        """Infer every tensor of the graph and of its bodies; what OpenVINO does not refuse is no error."""
        self.run()
        if any(found.severity == ERROR for found in self.diagnostics):
            from irshape.inference.onlooker import consult

            consult(self)

    def forget(self) -> None:
        """Let the next pass be a whole one."""
        self._asked = None

    def run(self) -> None:
        """Infer every tensor of the graph and of its bodies; after another pass, only what its changed inputs change."""
        asked = _Asked(self.shapes.copy(), self.supposed.copy(), self.symbols.copy())
        dirty = None if self._asked is None else self._asked.changed(asked)
        if dirty is None:
            self._are_weights_bad = False
            for engine in self.graphs():
                engine._runs = {}
        self._asked = asked
        self._settle(_drive(self._pass((), dirty)))

    def _settle(self, run: Run) -> None:
        """Let the last pass over each graph be what is known of it, and gather what was found in the bodies.

        OpenVINO looks at a body as it stands, too: what was found only then is a fault as well.
        """
        self.diagnostics = run.diagnostics
        self.guarding = [run]
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
                    self.guarding.append(inner)
                pending.append((body, inner))

    def _pass(self, given: Given, dirty: Iterable[int] | None = None) -> Pass:
        """Infer every tensor of the graph; the Parameters of a body are what is given.

        With the nodes that are `dirty`, only these are asked again, and those that read a tensor which changes.
        """
        run = self.current = Run(self.model.slot_count) if dirty is None else self.current.copy()
        self._given = {node.index: fact for node, fact in zip(self.parameters, given, strict=False) if fact is not None}
        slots, steps, said, supposed = run.slots, self._steps, run.said, self.supposed
        # The steps to take: all, or those marked, to which each tensor that changes adds its readers.
        marks = bytearray(len(steps))
        for index in dirty or ():
            marks[self._positions[index]] = True
        readers = {} if dirty is None else self._readers
        for slot, port in self.model.stubs.items():
            slots[slot] = self._recorded(port)
        for position in range(len(steps)) if dirty is None else _marked(marks):
            step = steps[position]
            kind = step.kind
            if position in said:
                del said[position]
            if kind is None or not kind.is_plain or (supposed and step.node.index in supposed):
                self._at = position
                outputs = yield from self._special(step)
            else:
                facts = tuple([slots[source] for source in step.sources])
                application = kind.answers.get(facts)
                if application is None or application is _LOCAL:
                    application = self._apply(step, kind, facts)
                if application.is_loud:
                    self._at = position
                    if self.onlooker is not None:
                        application = self.onlooker.excuse(step, application)
                    self._repeat(step.node, application)
                outputs = application.outputs
            if len(outputs) != step.listed:
                self._at = position
                outputs = self._fitted(step, outputs)
            slot = step.first_slot
            for fact in outputs:
                if slots[slot] is not fact:
                    slots[slot] = fact
                    for reader in readers.get(slot, ()):
                        marks[reader] = True
                slot += 1
        if self._pairs:
            self._at = len(steps)
            run.said.pop(self._at, None)
            self._examine_pairs()
        self._runs[given] = run
        return run

    def _fitted(self, step: Step, outputs: tuple[Fact, ...]) -> tuple[Fact, ...]:
        """As many outputs as the layer lists."""
        if len(outputs) < step.listed:
            self._report_surplus(step.node, len(outputs))
            return (*outputs, *[POISONED] * (step.listed - len(outputs)))
        self.current.unlisted[step.node.index] = outputs[step.listed :]
        return outputs[: step.listed]

    def _special(self, step: Step) -> Generator[tuple[Engine, Given], Run, tuple[Fact, ...]]:
        """The outputs of a node that takes them from elsewhere than a rule."""
        node, kind = step.node, step.kind
        if node.index in self.supposed:
            return self.supposed[node.index]
        if kind is None:
            return self._trust(node)
        if node.index in self._maps:
            return (yield from self._control(step, kind))
        if kind.op.TYPE in BODIES:  # an example, which has no bodies
            return tuple([self._recorded(port) for port in node.layer.outputs])
        if kind.op.TYPE == "Constant":
            return (self._constant(step, self._remembered(step, kind).outputs[0]),)
        if node.layer.data_offset < 0 and node.index not in self._given:
            self._report(node, (Finding("A101", "a Parameter must have <data> with its shape and element_type"),))
            return (POISONED,)
        if node.index not in self._given and node.index not in self.shapes:
            return self._remembered(step, kind).outputs
        self._report(node, kind.op.findings)
        if node.index in self._given:
            return (self._given[node.index],)
        return (self.facts.intern(kind.op.element_type, self.shapes[node.index]),)  # type: ignore[attr-defined]

    def _control(self, step: Step, kind: Kind) -> Generator[tuple[Engine, Given], Run, tuple[Fact, ...]]:
        """The outputs of an operation with bodies."""
        from irshape.inference.control import Control

        node, bodies = step.node, self._maps[step.node.index]
        for body in bodies:
            engine = self.bodies[node.index, body.name]
            self.current.inner[node.index, body.name] = yield engine, ()
        if not bodies:
            return (POISONED,) * step.listed
        facts = [self.slots[source] for source in step.sources]
        control = Control(self, step, kind, bodies, facts)
        outputs = yield from control.answer()
        self._report(node, control.findings)
        for message, offset in control.faults:
            self._say("G119", message, node, offset)
        self._guard(node, control.requirements)
        return outputs

    def _examine_pairs(self) -> None:
        """Compare what is assigned to each variable with what its ReadValue declares."""
        from irshape.inference.variables import examine

        slots = self.slots
        for pair in self._pairs:
            read_value, assign = pair.read_value, pair.assign
            read = None if read_value is None or not read_value.layer.pattern.output_count else slots[read_value.first_slot]
            ctx = examine(pair, self.scope, read, slots[assign.sources[0]] if assign.sources else POISONED)
            self._report(assign, ctx.findings)
            self._guard(assign, ctx.requirements)

    def _remembered(self, step: Step, kind: Kind) -> Application:
        """The answer to a node's question, with what it says repeated for the node."""
        facts = tuple([self.slots[source] for source in step.sources])
        application = kind.answers.get(facts)
        if application is None or application is _LOCAL:
            application = self._apply(step, kind, facts)
        if application.is_loud:
            self._repeat(step.node, application)
        return application

    def _apply(self, step: Step, kind: Kind, facts: tuple[Fact, ...]) -> Application:
        """The answer to a node's question, worked out and remembered: for all nodes that ask it, unless it is the node's own."""
        key: tuple[object, ...] = facts
        own = (step.node, *facts)
        application = kind.answers.get(own)
        if application is None:
            first = self.model.first_tensor
            tensors = [first + source if source >= 0 else source for source in step.sources]
            stated = not self.model.document.is_example
            request = Request(self.facts, self.scope, kind.op, first + step.first_slot, facts, tensors, kind.listed, kind.wanted, stated)
            application = request.answer()
            self._root._answered += 1
            if request.is_local:
                kind.answers[key] = _LOCAL
                key = own
            kind.answers[key] = application
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
        op = step.op
        is_wanted = step.first_slot in self._demanded
        fact = self._constants.get((op, is_wanted))
        if fact is not None:
            return fact
        count = element_count(declared.shape)
        if declared.is_poisoned or count is None or self.model.document.is_example:
            return declared
        is_read = is_wanted and step.listed > 0 and count <= self.scope.limits.elements
        try:
            fact = self._fetched(op, declared, count, is_read)
        except WeightsError as error:
            # One fault says that the weights are missing, short or another model's.
            if not self._root._are_weights_bad:
                self._root._are_weights_bad = error.code != "W106"
                self._report(step.node, (Finding(error.code, error.message, attribute="offset"),))
            return declared
        if is_wanted and not is_read and step.listed > 0 and declared.element_type in INTEGER:
            message = f"the values of more than {self.scope.limits.elements} elements are not followed (limit elements)"
            self._report(step.node, (Finding("N103", message, attribute="shape"),))
            return fact
        if is_read and declared.element_type is ElementType.dynamic:
            message = "a constant without an element type has no values to read"
            self._report(step.node, (Finding("T101", message, attribute="element_type"),))
            return fact
        self._constants[op, is_wanted] = fact
        return fact

    def _fetched(self, op: Any, declared: Fact, count: int, is_read: bool) -> Fact:
        """What is declared of a Const, with its elements if they are read."""
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
        if not is_read:
            return declared
        return self.facts.intern(declared.element_type, declared.shape, UNREADABLE if elements is None else elements, is_literal=True)

    def _trust(self, node: Node) -> tuple[Fact, ...]:
        """An operation nobody knows: its recorded ports are all there is."""
        code, message = unknown_reason(node.layer)
        if node.type in self.opaque and code == "G110":
            code, message = "G117", f"{node.type!r} is not known; its recorded ports are trusted"
        said = self._say(code, message, node, node.layer.offset)
        # A hint has its cost: those that will not be listed need none.
        if said is not None and code != "G117" and len(self.current.said) <= self.model.document.limits.faults:
            said.hint = unknown_hint(node.layer)
        return tuple([self._recorded(port) for port in node.layer.outputs])

    # What is said, with its place.

    def _report_surplus(self, node: Node, known: int) -> None:
        if self.model.ir_version != 10:
            port = node.layer.outputs[known]
            message = f"the operation has {known} outputs, the layer lists {len(node.layer.outputs)}"
            self._say("G109", message, node, port.offset, str(port.id))

    def _repeat(self, node: Node, application: Application) -> None:
        """What an application says, said of a node."""
        self._report(node, application.findings)
        self._guard(node, application.requirements)

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

    def _said(self, node: Node) -> Said:
        said = self.current.said.get(self._at)
        if said is None:
            said = self.current.said[self._at] = Said(node)
        return said


def _marked(marks: bytearray) -> Iterator[int]:
    """The places of the marks, those included that are set behind the last place meanwhile."""
    at = marks.find(True)
    while at >= 0:
        yield at
        at = marks.find(True, at + 1)


def _read_inputs(op_class: OpClass | None, count: int) -> tuple[list[int], list[int]]:
    """Of so many inputs those whose elements a rule reads, and those it reads when the elements of an output are asked for."""
    if op_class is None:
        return [], []
    ports = [(position, op_class.input_at(position)) for position in range(count)]
    always = [position for position, port in ports if port is not None and port.value]
    follows = op_class.demanded()
    return always, [position for position, port in ports if port is not None and (port.value or port.index in follows)]


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
