"""One pass over a graph in topological order: facts in, rule, facts out.

Rules are pure functions of the op's attributes and the facts of its inputs, so an application is remembered and replayed
for every layer that asks the same. What a rule finds has no place; the engine adds the layer's.
"""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, Final

from irshape.inference.facts import POISONED, Fact, Facts
from irshape.model.build import place, unknown_reason
from irshape.model.model import Model, Node
from irshape.ops.context import Context, RuleFailure, element_count
from irshape.ops.op import Input, Op, Out
from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import ERROR, WARNING, Diagnostic
from irshape.report.finding import Finding
from irshape.shape.dim import INT64_MAX, Dim, Scope, Size, bounds, narrow
from irshape.shape.element_type import ElementType
from irshape.shape.guard import Requirement
from irshape.shape.shape import Shape
from irshape.shape.value import MAX_ELEMENTS, Elements, representable
from irshape.xml.weights import Weights, WeightsError, decode


class Application:
    """What one application of a rule gave: a fact for each output, findings and requirements without place."""

    __slots__ = ("findings", "outputs", "requirements")

    def __init__(self, outputs: tuple[Fact, ...], findings: tuple[Finding, ...], requirements: tuple[Requirement, ...]) -> None:
        self.outputs = outputs
        self.findings = findings
        self.requirements = requirements


class Guard:
    """A requirement that depends on the sizes of the inputs, and the node that makes it."""

    __slots__ = ("node", "requirement")

    def __init__(self, node: Node, requirement: Requirement) -> None:
        self.node = node
        self.requirement = requirement

    def __repr__(self) -> str:
        return f"<{self.requirement} for {self.node.name!r}>"


# A remembered application that must not be shared: it holds symbols born in one layer.
_LOCAL: Final = Application((), (), ())


class Engine:
    """The inference of one model: its tables live as long as it does, so that a second pass finds the rules' answers."""

    def __init__(self, model: Model, weights: Weights | None, opaque: frozenset[str] = frozenset()) -> None:
        self.model = model
        self.weights = weights
        self.opaque = opaque
        self.scope = Scope()
        self.facts = Facts()
        self.memo: dict[tuple[object, ...], Application] = {}
        self.shapes: dict[int, Shape] = {}
        self.slots: list[Fact] = [POISONED] * model.slot_count
        self.guards: list[Guard] = []
        self.diagnostics: list[Diagnostic] = []
        self.demanded = self._demanded_slots()
        self._are_weights_bad = False

    def _demanded_slots(self) -> frozenset[int]:
        """The tensors whose elements some rule reads, directly or through ops that propagate values."""
        demanded: set[int] = set()
        for index in reversed(self.model.order):
            node = self.model.nodes[index]
            op_class = node.op_class
            if op_class is None:
                continue
            for position, slot in enumerate(node.sources):
                port = op_class.input_at(position)
                if slot >= 0 and port is not None and port.value:
                    demanded.add(slot)
            wanted = op_class.demanded()
            if wanted and any(node.first_slot + i in demanded for i in range(len(node.layer.outputs))):
                for position, slot in enumerate(node.sources):
                    port = op_class.input_at(position)
                    if slot >= 0 and port is not None and port.index in wanted:
                        demanded.add(slot)
        return frozenset(demanded)

    def run(self) -> None:
        """Infer every tensor of the graph."""
        self.guards = []
        self.diagnostics = []
        self._are_weights_bad = False
        for slot, port in self.model.stubs.items():
            self.slots[slot] = self._recorded(port)
        for index in self.model.order:
            self._visit(self.model.nodes[index])

    def _visit(self, node: Node) -> None:
        op = node.op
        count = len(node.layer.outputs)
        if op is None:
            self._trust(node)
            return
        kind = op.TYPE
        if kind == "Constant":
            outputs: Sequence[Fact] = (self._constant(node, op),)
        elif kind == "Parameter" and node.index in self.shapes:
            self._report(node, op.findings)
            outputs = (self.facts.intern(op.element_type, self.shapes[node.index]),)  # type: ignore[attr-defined]
        else:
            application = self._apply(node, op)
            outputs = application.outputs
            if application.findings:
                self._report(node, application.findings)
            if node.is_live:
                self.guards.extend(Guard(node, requirement) for requirement in application.requirements)
        if len(outputs) < count:
            self._surplus_outputs(node, len(outputs))
        for position in range(count):
            self.slots[node.first_slot + position] = outputs[position] if position < len(outputs) else POISONED

    def _surplus_outputs(self, node: Node, known: int) -> None:
        if self.model.ir_version != 10:
            port = node.layer.outputs[known]
            message = f"the operation has {known} outputs, the layer lists {len(node.layer.outputs)}"
            self._say("G109", message, node, port.offset, str(port.id))

    # One application of a rule.

    def _apply(self, node: Node, op: Op) -> Application:
        sources = node.sources
        while sources and sources[-1] == -1:
            sources = sources[:-1]
        slots = self.slots
        facts = [slots[slot] if slot >= 0 else POISONED for slot in sources]
        wanted = frozenset(i for i in range(len(node.layer.outputs)) if node.first_slot + i in self.demanded) if op.propagate else frozenset()
        key = (op, wanted, len(node.layer.outputs), *facts)
        application = self.memo.get(key)
        if application is _LOCAL:
            key = (node.index, *key)
            application = self.memo.get(key)
        if application is None:
            context = Context(self.scope, op, node.first_slot)
            outputs = self._run_rule(op, context, facts, sources, len(node.layer.outputs), wanted)
            application = Application(outputs, tuple(context.findings), tuple(context.requirements))
            if context.is_local:
                self.memo[key] = _LOCAL
                key = (node.index, *key)
            self.memo[key] = application
        return application

    def _run_rule(
        self, op: Op, context: Context, facts: list[Fact], sources: list[int], listed: int, wanted: frozenset[int]
    ) -> tuple[Fact, ...]:
        context.findings.extend(op.findings)
        count = len(facts)
        if count < op.min_inputs:
            port = op.inputs[count]
            context.error("G107", f"input {count} ({port.name}) is missing")
        elif op.max_inputs is not None and count > op.max_inputs:
            context.error("G108", f"the operation takes {op.max_inputs} inputs, got {count}")
        broken = [POISONED] * max(listed, 1)
        if op.is_broken or count < op.min_inputs or (op.max_inputs is not None and count > op.max_inputs):
            return tuple(broken)
        inputs = [
            Input(port, index, sources[index], fact.element_type, fact.shape, fact.elements)
            for index, fact in enumerate(facts)
            if (port := op.input_at(index)) is not None
        ]
        poisoned = frozenset(index for index, fact in enumerate(facts) if fact.is_poisoned)
        before = len(context.findings)
        try:
            check_ports(context, op, inputs)
            if any(finding.code == "S101" for finding in context.findings[before:]):
                raise RuleFailure  # a wrong rank leaves nothing for the rule to work on, a wrong element type does
            arguments = arrange(op, inputs)
            shapes = self._shapes(op, context, inputs, arguments, listed)
            types = self._types(op, context, arguments, len(shapes))
            errors = any(_is_error(finding) for finding in context.findings[before:])
        except RuleFailure:
            errors = True
        except Exception as error:
            if poisoned:
                return tuple(broken)
            context.error("I101", f"{type(error).__name__}: {error}")
            return tuple(broken)
        if poisoned:
            context.findings[before:] = [f for f in context.findings[before:] if f.port is not None and f.port not in poisoned]
        if errors:
            return tuple(broken)
        shapes = [self._sized(context, shape) for shape in shapes]
        if any(_is_error(finding) for finding in context.findings[before:]):
            return tuple(broken)
        elements = self._elements(op, context, arguments, shapes, types, wanted)
        return tuple(
            self.facts.intern(element_type, shape, value, bool(poisoned) and element_count(shape) is None)
            for element_type, shape, value in zip(types, shapes, elements, strict=True)
        )

    def _shapes(self, op: Op, context: Context, inputs: list[Input], arguments: list[Any], listed: int) -> list[Shape]:
        if any(input.partial_shape is None and not input.port.unranked for input in inputs):
            outs = op.outputs
            fill = [outs[-1]] * (listed - len(outs)) if outs and outs[-1].variadic else []
            return [None if out.rank is None else context.unknown_shape(out.rank) for out in (*outs, *fill)]
        result = op.infer(context, *arguments)
        if len(op.outputs) == 1 and not op.outputs[0].variadic:
            return [result]
        return list(result)

    def _types(self, op: Op, context: Context, arguments: list[Any], count: int) -> list[ElementType]:
        if op.types is not None:
            result = op.types(context, *arguments)
            return [result] * count if isinstance(result, ElementType) else list(result)
        outs = list(op.outputs)
        while len(outs) < count:
            outs.append(outs[-1])
        return [_output_type(op, out, arguments) for out in outs[:count]]

    def _sized(self, context: Context, shape: Shape) -> Shape:
        """The shape with every size in the range a tensor can have."""
        if shape is None:
            return None
        return tuple(size if type(size) is int and 0 <= size <= INT64_MAX else _in_range(context, size) for size in shape)

    def _elements(
        self, op: Op, context: Context, arguments: list[Any], shapes: list[Shape], types: list[ElementType], wanted: frozenset[int]
    ) -> list[Elements | None]:
        nothing: list[Elements | None] = [None] * len(shapes)
        if not wanted or op.propagate is None:
            return nothing
        counts = [element_count(shape) for shape in shapes]
        if all(counts[i] is None or counts[i] > MAX_ELEMENTS for i in wanted if i < len(counts)):  # type: ignore[operator]
            return nothing
        demanded = op.demanded()
        for port, argument in zip(op.inputs, arguments, strict=True):
            if port.index in demanded and argument is not None:
                for one in argument if port.variadic else (argument,):
                    if one.elements is None or (not op.takes_sizes and any(isinstance(element, Dim) for element in one.elements)):
                        return nothing
        try:
            result = op.propagate(context, *arguments)
        except RuleFailure:
            return nothing
        except Exception as error:
            context.error("I101", f"{type(error).__name__}: {error}")
            return nothing
        if result is None:
            return nothing
        several = len(op.outputs) > 1 or op.outputs[0].variadic
        values = list(result) if several else [result]
        return [
            representable(tuple(value), types[i]) if i in wanted and value is not None and len(value) == counts[i] else None
            for i, value in enumerate(values)
        ]

    # Where facts come from.

    def _recorded(self, port: Any) -> Fact:
        """What a port of the file records: its type and dims, and the elements an example gives."""
        element_type = (port.precision and ElementType.from_precision(port.precision)) or ElementType.dynamic
        dims = port.dims
        shape: Shape = None
        if dims is not None:
            shape = tuple(self.scope.unknown((id(port), i), 0) if dim < 0 else dim for i, dim in enumerate(dims))
        elif self.model.document.is_example:
            shape = ()
        return self.facts.intern(element_type, shape, port.value)

    def _constant(self, node: Node, op: Op) -> Fact:
        """The type and shape a Const declares, its bytes checked against the weights, its elements where they are read."""
        application = self._apply(node, op)
        if application.findings:
            self._report(node, application.findings)
        fact = application.outputs[0]
        if fact.is_poisoned:
            return fact
        count = element_count(fact.shape)
        assert count is not None
        offset, size = op.offset, op.size  # type: ignore[attr-defined]
        wanted = bool(node.layer.outputs) and node.first_slot in self.demanded and count <= MAX_ELEMENTS
        try:
            if offset + size > self._weights_size():
                self.weights.read(offset, size)  # type: ignore[union-attr]
            data = self.weights.read(offset, fact.element_type.byte_size(count)) if wanted else b""  # type: ignore[union-attr]
        except WeightsError as error:
            if error.code == "W102" or not self._are_weights_bad:
                self._report(node, (Finding(error.code, error.message, attribute="offset"),))
            # Without any weights one fault says it all; with some, each constant beyond their end is one of its own.
            self._are_weights_bad |= error.code != "W102"
            return fact
        if not wanted:
            return fact
        if fact.element_type is ElementType.dynamic:
            self._report(node, (Finding("T101", "a constant without an element type has no values to read", attribute="element_type"),))
        return self.facts.intern(fact.element_type, fact.shape, decode(fact.element_type, data, count))

    def _weights_size(self) -> int:
        if self.weights is None:
            raise WeightsError("W101", "the model has constants, but no weights were given")
        return self.weights.size

    def _trust(self, node: Node) -> None:
        """An operation nobody knows: its recorded ports are all there is."""
        code, message, hint = unknown_reason(node.layer)
        if node.type in self.opaque and code == "G110":
            code, hint = "G117", None
            message = f"{node.type!r} is not known; its recorded ports are trusted"
        self._say(code, message, node, node.layer.offset, hint=hint)
        for position, port in enumerate(node.layer.outputs):
            self.slots[node.first_slot + position] = self._recorded(port)

    # What is said, with its place.

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
        if severity == ERROR and not node.is_live and code != "I101":
            severity = WARNING
        self.diagnostics.append(Diagnostic(code, message, place(self.model.document, node.layer, offset, port), severity, hint))


def check_ports(context: Context, op: Op, inputs: Sequence[Input]) -> None:
    """What the declarations of the ports demand of element types and ranks."""
    shared: dict[str, ElementType] = {}
    for input in inputs:
        port, element_type = input.port, input.element_type
        if element_type not in port.types:
            context.error("T101", f"{input.name} must not have element type {element_type}", port=input)
            input.elements = None
        group = port.like or port.name
        known = shared.setdefault(group, element_type)
        if known is not element_type and port.like is None and not port.variadic:
            continue
        if known is ElementType.dynamic:
            shared[group] = element_type
        elif element_type is not ElementType.dynamic and element_type is not known and (port.like or port.variadic):
            context.error("T102", f"{input.name} has element type {element_type}, {group} has {known}", port=input)
        if input.partial_shape is not None:
            rank = len(input.partial_shape)
            if port.rank is not None and rank != port.rank:
                context.error("S101", f"{input.name} must have rank {port.rank}, got rank {rank}", port=input)
            elif rank < port.min_rank:
                context.error("S101", f"{input.name} must have at least rank {port.min_rank}, got rank {rank}", port=input)


def arrange(op: Op, inputs: Sequence[Input]) -> list[Any]:
    """The inputs as the parameters of a rule: None for an absent optional one, a tuple for a variadic one."""
    arguments: list[Any] = []
    for port in op.inputs:
        if port.variadic:
            arguments.append(tuple(inputs[port.index :]))
        else:
            arguments.append(inputs[port.index] if port.index < len(inputs) else None)
    return arguments


def _output_type(op: Op, out: Out, arguments: Sequence[Any]) -> ElementType:
    if out.type is not None:
        return out.type
    if out.attribute is not None:
        named: ElementType = getattr(op, out.attribute)
        return named
    if out.like is None:
        return ElementType.dynamic
    for port, argument in zip(op.inputs, arguments, strict=True):
        if port.name == out.like or port.like == out.like:
            for one in argument if port.variadic else (argument,):
                if one is not None and one.element_type is not ElementType.dynamic:
                    found: ElementType = one.element_type
                    return found
    return ElementType.dynamic


def _in_range(context: Context, size: Size) -> Size:
    low, high = bounds(size)
    if low > INT64_MAX:
        context.error("S205", f"an output size is {size}, more than 2^63-1")
    elif high < 0:
        context.error("S203", f"an output size is negative: {size}")
    return narrow(size, 0, inf)


def _is_error(finding: Finding) -> bool:
    return CATALOGUE[finding.code].severity == ERROR
