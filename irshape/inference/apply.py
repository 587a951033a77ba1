"""The application of a rule to facts: declared checks, shapes, element types, elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any, Final

from irshape.inference.facts import POISONED, Fact, FactTable
from irshape.inference.transfer import UNSHARED, Outcome, Transfer, intervals, judged
from irshape.model.model import Node
from irshape.ops.context import Context, RuleFailure, Uncomputable, element_count
from irshape.ops.op import Input, Op, Out, UnknownRank
from irshape.report.finding import Finding
from irshape.report.text import counted
from irshape.shape.compilation import mypyc_attr
from irshape.shape.dim import INT64_MAX, Dim, Scope, Size, bounds, formula_text, narrow, origins
from irshape.shape.element_type import ElementType
from irshape.shape.limits import Exhausted
from irshape.shape.polynomial import UNBACKED
from irshape.shape.shape import Shape
from irshape.shape.value import Elements, Pieces, Real, Unreadable, are_numbers, representable

# The steps that each application of a rule has, however many have been taken before, unless the limit is lower.
_ALWAYS: Final = 200

_NO_POSITIONS: Final[frozenset[int]] = frozenset()


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Rules:
    """The transfer functions of a model, applied: each question is answered once.

    `facts` interns the facts, `scope` holds the symbols. `states_types` tells whether ports state their element types; in the examples
    of the specification they need not. `is_reshaped` tells whether inputs have other shapes than in the file. `answered` counts the
    applications. `is_of_data` is `Model.is_of_data` for the model as it is now.
    """

    __slots__ = ("_always", "_openvino", "_views", "answered", "facts", "is_of_data", "is_reshaped", "scope", "states_types")

    def __init__(self, facts: FactTable, scope: Scope, *, states_types: bool = True) -> None:
        self.facts = facts
        self.scope = scope
        self.states_types = states_types
        self.is_reshaped = False
        self.is_of_data: Callable[[Node], bool] = _is_of_data
        self.answered = 0
        self._always = min(_ALWAYS, scope.work.most)
        self._openvino: Rules | None = None
        self._views: dict[Fact, Fact] = {}

    def apply(self, node: Node, transfer: Transfer, facts: tuple[Fact, ...]) -> Outcome:
        """The outcome of a transfer function for these facts of a node's inputs, from the memo if the memo has it."""
        memo = transfer.memo
        outcome = memo.get(facts)
        if outcome is None:
            return self._computed(node, transfer, facts)
        if outcome is UNSHARED:
            return memo.get((self.scope, node, *facts)) or memo.get((self.scope, *facts)) or self._computed(node, transfer, facts)
        return outcome

    def seen_by_openvino(self, node: Node, transfer: Transfer, facts: tuple[Fact, ...]) -> tuple[tuple[Fact, ...], Outcome]:
        """The second road of a rule: OpenVINO's view of these facts, and the outcome of the rule in OpenVINO's domain."""
        intervals_only = self.scope.intervals
        if self._openvino is None:
            self._openvino = Rules(self.facts, intervals_only, states_types=self.states_types)
        self._openvino.is_reshaped, self._openvino.is_of_data = self.is_reshaped, self.is_of_data
        known, views = self._views, []
        for fact in facts:
            view = known.get(fact)
            if view is None:
                view = known[fact] = intervals(fact, self.facts, intervals_only)
            views.append(view)
        return tuple(views), self._openvino.apply(node, transfer.twin(), tuple(views))

    def _computed(self, node: Node, transfer: Transfer, facts: tuple[Fact, ...]) -> Outcome:
        application = Application(self, node, transfer, facts)
        work = self.scope.work
        is_asked_by_a_rule, missing = work.is_bounded, 0
        if work.left < self._always:
            missing = self._always - work.left
            work.left += missing
        work.is_bounded = True
        try:
            work.take(application.steps)
            outcome = application.answer()
        except Exhausted:
            if is_asked_by_a_rule:
                raise
            # Another question may leave more steps, so the memo does not keep the outcome.
            return application.unanswered()
        finally:
            work.left -= missing
            work.is_bounded = is_asked_by_a_rule
        self.answered += 1
        if application.is_unshared:
            transfer.memo[facts] = UNSHARED
            transfer.memo[self.scope, node, *facts] = outcome
        elif (outcome.findings or application.is_unranked) and not self.scope.has_intervals_only:
            # A static scope may find other faults than one in which OpenVINO's bounds count.
            transfer.memo[facts] = UNSHARED
            transfer.memo[self.scope, *facts] = outcome
        else:
            transfer.memo[facts] = outcome
        return outcome


@mypyc_attr(allow_interpreted_subclasses=True)
class Application(Context):
    """A transfer function on the facts of a node's inputs; only symbols that are born here, or unknown values, belong to the node."""

    __slots__ = (
        "facts", "is_asked", "is_unranked", "listed", "node", "poisoned", "rules", "sources", "steps", "table", "transfer", "wanted",
    )  # fmt: skip

    def __init__(self, rules: Rules, node: Node, transfer: Transfer, facts: tuple[Fact, ...]) -> None:
        first, sources = node.model.first_tensor, node.sources
        super().__init__(rules.scope, transfer.op, first + node.first_slot)
        self.rules = rules
        self.node = node
        self.table = rules.facts
        self.transfer = transfer
        self.facts = facts
        # The tensors of a body have numbers of their own.
        self.sources = [first + source if source >= 0 else source for source in sources] if first else sources
        self.listed = transfer.listed
        self.wanted = transfer.wanted
        self.kept = transfer.listed if rules.is_reshaped else 0
        self.states_types = rules.states_types
        self.is_static = self.table.is_static
        self.openvino_knows_same = not self.is_static
        # Whether the rule is asked: not if it needs a rank that is not known.
        self.is_asked = True
        # The work of reading the facts, whether the rank of one is unknown, and the positions of those that are poisoned.
        steps, self.is_unranked = 0, False
        poisoned: list[int] = []
        for index, fact in enumerate(facts):
            steps += fact.steps
            if fact.shape is None:
                self.is_unranked = True
            if fact.openvino_view is not fact:
                self.openvino_knows_same = False
            if fact.is_poisoned:
                poisoned.append(index)
        self.poisoned = frozenset(poisoned) if poisoned else _NO_POSITIONS
        self.steps = steps

    def answer(self) -> Outcome:
        """The outcome of the rule; where OpenVINO's view of the inputs differs, the rule runs on it as well, for the verdict."""
        outputs = self._outputs()
        if self.scope.polynomials.large and _large_parts(outputs) - _large_parts(self.facts):
            limits = self.scope.limits
            self.warn("N104", f"a size has more than {limits.terms} terms or {limits.levels} levels (limits terms and levels)")
        found = self.findings
        if len(found) > 1:  # inputs of equal sizes have equal faults, which are told once
            found = list({(one.code, one.message, one.port, one.attribute): one for one in found}.values())
        ours = Outcome(outputs, tuple(found), tuple(self.requirements), self.listed)
        if self.openvino_knows_same or self.is_static:
            return ours
        views, theirs = self.rules.seen_by_openvino(self.node, self.transfer, self.facts)
        self.is_unshared |= self.transfer.twin().memo.get(views) is UNSHARED
        outcome = judged(ours, theirs, self.table, self.listed)
        if outcome.outputs is theirs.outputs:
            outcome.outputs = self._adopted(theirs.outputs)
        return outcome

    def _adopted(self, outputs: tuple[Fact, ...]) -> tuple[Fact, ...]:
        """OpenVINO's facts as facts of irshape: each size that is not known is a symbol of its own."""
        adopted = tuple([intervals(fact, self.table, self.scope, tensor) for tensor, fact in enumerate(outputs, self.key)])
        self.is_unshared |= adopted != outputs
        return adopted

    def unanswered(self) -> Outcome:
        """The outcome of a rule that took more steps than are left: outputs of which nothing is known."""
        message = f"this layer is not inferred, because the file takes more than {self.scope.limits.work} steps of work (limit work)"
        nothing = self.table.intern(ElementType.dynamic, None)
        return Outcome((nothing,) * max(self.listed, 1), (Finding("N106", message),), (), self.listed)

    def _outputs(self) -> tuple[Fact, ...]:
        op, findings = self.op, self.findings
        if op.findings:
            findings.extend(op.findings)
        if op.is_broken or not self._takes(len(self.facts)):
            return self._failure()
        poisoned, said = self.poisoned, len(findings)
        try:
            outputs = self._infer(bool(poisoned))
        except RuleFailure:
            outputs = self._failure()
        except (MemoryError, Exhausted):
            raise
        except Exception as error:
            outputs = self._failure()
            if not poisoned:
                self.error("I101", f"{type(error).__name__}: {error}")
        if poisoned:
            # A finding that depends on a failed layer is a consequence, not a fault.
            findings[said:] = [finding for finding in findings[said:] if finding.port is not None and finding.port not in poisoned]
            self.requirements.clear()
        return self._failure() if len(findings) > said and self.has_errors(said) else outputs

    def _failure(self) -> tuple[Fact, ...]:
        return (POISONED,) * max(self.listed, 1)

    def _takes(self, count: int) -> bool:
        """Whether the operation takes so many inputs; if not, the fault is recorded. In IR version 10 surplus inputs may be left out."""
        op = self.op
        if count == op.max_inputs:
            return True
        if count < op.min_inputs:
            self.error("G107", f"input {count} ({op.inputs[count].name}) is missing")
            return False
        if op.max_inputs is not None and count > op.max_inputs:
            message = f"the operation takes at most {counted(op.max_inputs, 'input')}, got {count}"
            if not (op.ignores_surplus and self.node.model.ir_version == 10):
                self.error("G108", message)
                return False
            self.warn("R201", f"{message}; OpenVINO ignores the others in IR version 10")
            self.facts = self.facts[: op.max_inputs]
            self.poisoned = frozenset(index for index in self.poisoned if index < op.max_inputs)
        elif not (op.is_positional or op.takes(count)):
            self.error("G107", f"the operation takes {_input_counts(op, count)}, got {count}")
            return False
        return True

    def _infer(self, is_poisoned: bool) -> tuple[Fact, ...]:
        op = self.op
        inputs = self._inputs()
        arguments = inputs if len(inputs) == op.max_inputs else arranged(op, inputs)
        shapes = self._shapes(arguments)
        if self.scope.has_intervals_only:
            shapes = self._openvino_shapes(shapes, arguments)
        types = self._types(inputs, arguments, len(shapes))
        intern = self.table.intern
        if not self.wanted or op.propagate is None:
            if len(shapes) == 1 and not is_poisoned:
                return (intern(types[0], shapes[0]),)
            pairs = zip(types, shapes, strict=True)
            if is_poisoned:
                return tuple([intern(element_type, shape, None, element_count(shape) is None) for element_type, shape in pairs])
            return tuple([intern(element_type, shape) for element_type, shape in pairs])
        elements, openvino_view = self._elements(arguments, shapes, types)
        outputs = []
        for element_type, shape, values, known in zip(types, shapes, elements, openvino_view, strict=True):
            fact = intern(element_type, shape, values, is_poisoned and element_count(shape) is None)
            if known != values or type(known) is Pieces:
                view = intern(element_type, shape, known, fact.is_poisoned)
                fact = self.table.with_openvino_view(fact, intervals(view, self.table, self.scope.intervals))
            outputs.append(fact)
        return tuple(outputs)

    def _inputs(self) -> list[Input]:
        """The inputs, checked by the declarations of their ports. Ends the rule if an input has a rank for which it cannot run."""
        facts, ports, sources, unknown_shape, states_types = self.facts, self.op.inputs, self.sources, self.unknown_shape, self.states_types
        if len(ports) != len(facts):
            ports = self.op.arrangement(len(facts))
        is_fit = is_of_one_type = True
        first = facts[0].element_type if facts else ElementType.dynamic
        inputs: list[Input] = []
        for index, fact in enumerate(facts):
            port, shape, element_type = ports[index], fact.shape, fact.element_type
            input = Input(port, index, sources[index], element_type, shape, fact.elements, fact.is_literal, unknown_shape, fact.ends)
            inputs.append(input)
            if element_type is not first:
                is_of_one_type = False
            if element_type not in port.types or not states_types:
                self._check_type(input)
            if input.elements is not None:
                self._check_elements(input)
            if shape is None:
                self.is_asked = self.is_asked and not port.ranked
                continue
            rank = len(shape)
            if rank < port.min_rank or (port.rank is not None and rank != port.rank):
                wanted = f"at least rank {port.min_rank}" if port.rank is None else f"rank {port.rank}"
                self.error("S101", f"{input.name} must have {wanted}, got rank {rank}", port=input)
                is_fit = False
        if self.op.are_alike and not is_of_one_type:
            self._compare_types(inputs)
        if not is_fit:
            raise RuleFailure
        return inputs

    def _check_type(self, input: Input) -> None:
        if not self.has_type(input, input.port.types):
            element_type = input.element_type
            is_stated = self.states_types or element_type is not ElementType.dynamic
            found = f"have element type {element_type}" if is_stated else "hold real numbers"
            self.error("T101", f"{input.name} must not {found}", port=input)
            input.elements = None

    def _check_elements(self, input: Input) -> None:
        if type(input.elements) is Unreadable:
            input.unreadable, input.elements = input.elements, None
        elif type(input.elements) is Pieces and not input.port.pieces:
            input.elements = None
        elif input.port.value and input.element_type.is_real and any(isinstance(element, Real) for element in input.values):
            input.elements = None  # a rule reads numbers and sizes only

    def _compare_types(self, inputs: Sequence[Input]) -> None:
        """Check that inputs declared with one element type have the same element type."""
        shared: dict[str, ElementType] = {}
        for input in inputs:
            group, element_type = input.port.group, input.element_type
            if input.port.mixed or (element_type not in input.port.types and element_type is not ElementType.dynamic):
                continue  # a type that the port does not take has been reported
            known = shared.get(group, ElementType.dynamic)
            if known is ElementType.dynamic:
                shared[group] = element_type
            elif element_type is not ElementType.dynamic and element_type is not known:
                self.error("T102", f"{input.name} has element type {element_type}, {group} has {known}", port=input)

    def _shapes(self, arguments: Sequence[Any]) -> Sequence[Shape]:
        op = self.op
        try:
            if not self.is_asked:
                raise UnknownRank
            self.arguments = arguments
            shapes = op.infer(self, *arguments)
            if op.openvino_differs is not None:
                shapes = op.openvino_differs(self, shapes, *arguments)
        except UnknownRank:
            outs = op.outputs
            count = max(self.listed, len(outs)) if outs and outs[-1].variadic else len(outs)
            ranks = [out.rank for out in _stretched(outs, count)]
            return [None if rank is None else self._sized(self.unknown_shape(rank)) for rank in ranks]
        return (self._sized(shapes),) if op.has_one_output else [self._sized(shape) for shape in shapes]

    def _openvino_shapes(self, shapes: Sequence[Shape], arguments: Sequence[Any]) -> Sequence[Shape]:
        """The shapes that OpenVINO infers in another way than the rule; those of the rule where a rank is needed and not known."""
        try:
            return [self._sized(shape) for shape in self.op.openvino_shapes(self, shapes, *arguments)]
        except UnknownRank:
            return shapes

    def _types(self, inputs: Sequence[Input], arguments: Sequence[Any], count: int) -> Sequence[ElementType]:
        if self.op.types is not None:
            types = self.op.types(self, *arguments)
            return [types] * count if isinstance(types, ElementType) else list(types)
        outs = self.op.outputs
        if len(outs) == count == 1:
            return (self._type(outs[0], inputs),)
        return [self._type(out, inputs) for out in (outs if len(outs) == count else _stretched(outs, count))]

    def _type(self, out: Out, inputs: Sequence[Input]) -> ElementType:
        if out.attribute is not None:
            named: ElementType = getattr(self.op, out.attribute)
            return named
        if out.type is not None:
            return out.type
        sources = out.sources
        for input in inputs:
            if input.element_type is not ElementType.dynamic and input.port.index in sources:
                return input.element_type
        return ElementType.dynamic

    def _sized(self, shape: Shape) -> Shape:
        """A shape whose sizes are in the range that a tensor can have."""
        if shape is None:
            return None
        if len(shape) > (most := self.scope.limits.rank):
            self.fail("X111", f"an output has rank {len(shape)}; irshape follows ranks of at most {most} (limit rank)")
        least = 0 if self.scope.questions is None else 1  # whether a size is 0 is a question that `_size` asks
        for size in shape:
            if not (least <= size.range.low <= INT64_MAX if isinstance(size, Dim) else 0 <= size <= INT64_MAX):
                return tuple([self._size(size) for size in shape])
        return shape if type(shape) is tuple else tuple(shape)

    def _size(self, size: Size) -> Size:
        """A size in the range a tensor can have."""
        low, high = bounds(size)
        if 0 <= low <= INT64_MAX:
            return size
        if low > INT64_MAX:
            self.error("S205", f"an output size must be at most 2^63-1, got {formula_text(size)}")
        elif high < 0:
            self.error("S203", f"an output size must not be negative, got {formula_text(size)}")
        return narrow(size, 0, inf)

    def _elements(
        self, arguments: Sequence[Any], shapes: Sequence[Shape], types: Sequence[ElementType]
    ) -> tuple[Sequence[Elements | None], Sequence[Elements | None]]:
        """The elements of each output, and the elements that OpenVINO knows."""
        op = self.op
        nothing = [None] * len(shapes)
        if self.has_errors(0):
            return nothing, nothing
        read = self._read(arguments)
        is_supposed = _is_missing(read)
        if is_supposed:
            failed = self._failed(read)
            if failed is not None:
                return [failed] * len(shapes), [failed] * len(shapes)
            if not (op.takes_unknown and any(one.elements for one in read)):
                return nothing, nothing
        counts = [element_count(shape) for shape in shapes]
        if not self._are_few(counts, self.scope.limits.elements):
            # Where one axis is 0 the others may be as long as they like: nothing must run along them.
            empty = [() if position in self.wanted and count == 0 else None for position, count in enumerate(counts)]
            return empty, empty
        if is_supposed:
            self.assume_unknown(read)
            if _is_missing(read):
                return nothing, nothing
        try:
            elements = op.propagate(self, *arguments)  # type: ignore[misc]
        except Uncomputable as fault:
            if all(finding.port != fault.port.index or finding.code != "R401" for finding in self.findings):
                self.warn("R401", fault.message, port=fault.port)
            unreadable = Unreadable((fault.code, fault.message))
            return [unreadable] * len(shapes), [unreadable] * len(shapes)
        if elements is None:
            return nothing, nothing
        is_several = not op.has_one_output
        openvino_view = elements
        if is_supposed or any(one.element_type in op.unfollowed for one in read):
            openvino_view = op.openvino_pieces(elements, *arguments) if is_supposed else None
        elif not self._are_numbers(elements if is_several else (elements,), read):
            openvino_view = op.openvino_view(self, elements, *arguments)
        ours = self._held(elements, is_several, types, counts)
        if openvino_view is elements:
            return ours, ours
        if openvino_view is None:
            return ours, nothing
        if type(openvino_view) is Pieces:
            return ours, [None if own is None else Pieces(own) for own in ours]
        return ours, self._held(openvino_view, is_several, types, counts)

    def _are_numbers(self, outputs: Sequence[Elements | None], read: Sequence[Input]) -> bool:
        """Whether all elements of the inputs and of the outputs are numbers, or symbols that stand for numbers."""
        for elements in (*[one.values for one in read], *outputs):
            if elements is None or are_numbers(elements):
                continue
            if not self.is_static:
                return False
            for element in elements:
                if isinstance(element, Real) or (isinstance(element, Dim) and origins(element) & UNBACKED):
                    return False
        return True

    def _are_few(self, counts: Sequence[int | None], most: int) -> bool:
        """Whether a wanted output has elements, and not more than are followed."""
        are_few = is_beyond = False
        for position in self.wanted:
            count = counts[position] if position < len(counts) else None
            if count is not None and count > most:
                is_beyond = True
            elif count:
                are_few = True
        if is_beyond:
            self.warn("N103", f"the values of more than {most} elements are not followed (limit elements)")
        return are_few

    def _held(
        self, elements: Sequence[Any], is_several: bool, types: Sequence[ElementType], counts: Sequence[Size | None]
    ) -> list[Elements | None]:
        """The elements of each output as it holds them, where they are wanted."""
        held: list[Elements | None] = []
        for position, values in enumerate(elements if is_several else (elements,)):
            is_whole = position in self.wanted and values is not None and len(values) == counts[position]
            held.append(self.held(tuple(values), types[position]) if is_whole else None)
        return held

    def held(self, elements: Elements, element_type: ElementType) -> Elements | None:
        """The elements as a tensor of the type holds them; None if it does not."""
        return representable(elements, element_type)

    def _read(self, arguments: Sequence[Any]) -> list[Input]:
        """The inputs whose elements the rule follows."""
        demanded = self.op.demanded
        read: list[Input] = []
        for index, argument in enumerate(arguments):
            if index in demanded and argument is not None:
                if type(argument) is tuple:
                    read.extend(argument)
                else:
                    read.append(argument)
        return read

    def _failed(self, read: Sequence[Input]) -> Unreadable | None:
        """Why OpenVINO fails to compute the output.

        OpenVINO computes the inputs in their order, up to the first that it does not follow. It computes nothing that depends on the
        elements of an input of the model.
        """
        for one in read:
            if one.unreadable:
                self.is_unshared = True  # whether an input of the model is among the sources depends on the place of the layer
                return None if self.rules.is_of_data(self.node) else one.unreadable
            if one.elements is None:
                return None
        return None


def _is_of_data(node: Node) -> bool:
    return node.model.is_of_data(node)


def _large_parts(facts: Sequence[Fact]) -> set[int]:
    """The parts of formulas that are so large that they have names of their own."""
    found: set[int] = set()
    for fact in facts:
        for size in (*(fact.shape or ()), *(fact.elements or ())):
            if isinstance(size, Dim):
                atoms = size.polynomial.table.atoms
                below = [index for monomial, _ in size.polynomial.terms for index in monomial]
                found.update([index for index in below if atoms[index].name and atoms[index].arguments])
    return found


def _is_missing(read: Sequence[Input]) -> bool:
    for one in read:  # noqa: SIM110
        if one.elements is None:
            return True
    return False


def _input_counts(op: Op, count: int) -> str:
    """The numbers of inputs that an operation takes, up to the first one beyond `count`: `6, 7 or 9 inputs`."""
    most = op.max_inputs if op.max_inputs is not None else count + len(op.inputs)
    taken = [str(number) for number in range(op.min_inputs, most + 1) if op.takes(number)]
    *first, last = [*taken, "more"] if op.max_inputs is None else taken
    return f"{', '.join(first)} or {last} inputs" if first else counted(int(last), "input")


_NO_OUT: Final = Out()


def _stretched(outs: Sequence[Out], count: int) -> Sequence[Out]:
    """The outputs' declarations, the last repeated or the rest dropped to make as many as there are outputs."""
    last = outs[-1] if outs else _NO_OUT
    return [*outs[:count], *[last] * (count - len(outs))]


def arranged(op: Op, inputs: list[Input]) -> Sequence[Any]:
    """The inputs as a rule's parameters: None for an absent optional one, a tuple for a variadic one."""
    if len(inputs) == op.max_inputs:
        return inputs
    arguments: list[Any] = []
    if not op.is_positional:
        arguments = [() if port.variadic else None for port in op.inputs]
        for input in inputs:
            index = input.port.index
            arguments[index] = (*arguments[index], input) if input.port.variadic else input
        return arguments
    for port in op.inputs:
        if port.variadic:
            arguments.append(tuple(inputs[port.index :]))
        else:
            arguments.append(inputs[port.index] if port.index < len(inputs) else None)
    return arguments
