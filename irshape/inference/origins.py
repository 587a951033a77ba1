"""Facts that no rule gives: the bytes of constants, the shapes of Parameters, the ports that a file records."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Final

from irshape.inference.apply import Rules
from irshape.inference.facts import POISONED, Fact
from irshape.inference.transfer import ENDS, TUPLE_ENDS, Outcome, Transfer
from irshape.model.build import unknown_hint, unknown_reason
from irshape.model.model import Model, Node
from irshape.ops.context import element_count
from irshape.report.diagnostic import clipped
from irshape.report.finding import Finding
from irshape.report.text import counted
from irshape.shape.compilation import mypyc_attr
from irshape.shape.element_type import INTEGER, ElementType
from irshape.shape.shape import Shape
from irshape.shape.value import Elements, Ends, Unreadable
from irshape.xml.document import Document, Port
from irshape.xml.weights import Weights, WeightsError, check_strings, decode, ends, no_weights

# The version of operations that the low precision transformations of a plugin have changed.
RELAXED: Final = "type_relaxed_opset"


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Constants:
    """The constants of a file that are read from its weights, each range of bytes once.

    `is_reported` tells that a constant has reported that the weights are missing or too short: the others stay silent. `is_short` tells
    that the weights end before a constant does. `outcomes` are those of the constants that have been read.
    """

    __slots__ = ("_are_foreign", "_document", "_known_ends", "_limits", "_ranges", "is_reported", "is_short", "outcomes", "weights")

    def __init__(self, weights: Weights | None, document: Document) -> None:
        self.weights = weights
        self.is_reported = False
        self.is_short = False
        self._are_foreign: bool | None = None
        self._document = document
        self._limits = document.limits
        self.outcomes: dict[Transfer, Outcome] = {}
        self._ranges: dict[tuple[int, int], bytes] = {}
        self._known_ends: dict[tuple[int, int, int, str], Ends | None] = {}

    def outcome(self, transfer: Transfer, declared: Outcome, rules: Rules) -> Outcome:
        """The outcome of a Const: its declared type and shape, with its elements where some rule reads them."""
        outcome = self.outcomes.get(transfer)
        if outcome is None:
            try:
                outcome = self._read(transfer, declared, rules)
            except WeightsError as error:
                return self._unread(transfer, declared, error, rules)  # not remembered: the fault is reported once
            self.outcomes[transfer] = outcome
        return outcome

    def _read(self, transfer: Transfer, declared: Outcome, rules: Rules) -> Outcome:
        op: Any = transfer.op
        fact, offset = declared.outputs[0], transfer.offset
        count = element_count(fact.shape)
        if fact.is_poisoned or count is None or offset is None:
            return declared
        if self.weights is None:
            raise no_weights()
        self.weights.require(offset, op.size)
        if self.is_short and transfer.wanted and self._have_other_end():
            return _without_values(transfer, declared, rules)
        if fact.element_type is ElementType.string:
            check_strings(self.weights, offset, op.size)
        finding = None
        if transfer.wanted in (ENDS, TUPLE_ENDS):
            length: Any = fact.shape[-1] if transfer.wanted == TUPLE_ENDS and fact.shape else 1
            is_short = count <= self._limits.elements and length <= self._limits.rank
            if is_short and (known := self._ends(fact.element_type, offset, count, length)):
                fact = rules.facts.intern(fact.element_type, fact.shape, is_literal=True, ends=known)
        elif transfer.wanted and count <= self._limits.elements:
            elements: Elements | None = None
            if fact.element_type is not ElementType.string:
                elements = decode(fact.element_type, self._bytes(offset, fact.element_type.byte_size(count)), count)
            fact = rules.facts.intern(fact.element_type, fact.shape, Unreadable() if elements is None else elements, is_literal=True)
            if fact.element_type is ElementType.dynamic:
                finding = Finding("T101", "a constant without an element type has no values to read", attribute="element_type")
        elif transfer.wanted and fact.element_type in INTEGER:
            message = f"the values of more than {self._limits.elements} elements are not followed (limit elements)"
            finding = Finding("N103", message, attribute="shape")
        return Outcome((fact,), (*declared.findings, finding) if finding else declared.findings, (), transfer.listed)

    def _unread(self, transfer: Transfer, declared: Outcome, error: WeightsError, rules: Rules) -> Outcome:
        """The declared outcome of a Const whose bytes cannot be read. What follows from unknown values is no fault."""
        declared = _without_values(transfer, declared, rules)
        if self.is_reported:
            return declared
        self.is_reported = error.code != "W106"
        code, message, hint = error.code, error.message, error.hint
        if code == "W102" and not self._have_other_end():
            hint = "correct the offset or the size of this constant: the weights end where the other constants end"
        elif code == "W203" and self._are_all_empty():  # nothing is unknown, and OpenVINO refuses the file
            code, hint = "W101", "put an empty file there: OpenVINO needs one, although the constants have no bytes"
            message = message.partition(";")[0]
        return Outcome(declared.outputs, (*declared.findings, Finding(code, message, attribute="offset", hint=hint)))

    def _are_all_empty(self) -> bool:
        from irshape.inference.stored import last_end

        return not last_end(self._document, sys.maxsize)

    def _have_other_end(self) -> bool:
        """Whether weights that are too short end where no constant does: cut short or another model's, their values tell nothing."""
        if self._are_foreign is None:
            from irshape.inference.stored import last_end

            assert self.weights is not None
            total = self.weights.total
            self._are_foreign = last_end(self._document, total) != total
        return self._are_foreign

    def _ends(self, element_type: ElementType, offset: int, count: int, length: int) -> Ends | None:
        key = (offset, count, length, element_type.name)
        if key not in self._known_ends:
            assert self.weights is not None
            self._known_ends[key] = ends(element_type, self.weights.read(offset, element_type.byte_size(count)), count, length)
        return self._known_ends[key]

    def _bytes(self, offset: int, size: int) -> bytes:
        data = self._ranges.get((offset, size))
        if data is None:
            assert self.weights is not None
            data = self._ranges[offset, size] = self.weights.read(offset, size)
        return data


def _is_recorded(port: Port, fact: Fact, is_as_read: bool) -> bool:
    """Whether an input has the shape that its port records. A port without sizes says nothing, so it fits the inputs of the file."""
    shape, dims = fact.shape, port.dims
    if fact.is_poisoned or dims is None or shape is None:
        return fact.is_poisoned or (dims is None and (is_as_read or not shape))
    return len(dims) == len(shape) and all(dim in (-1, size) for dim, size in zip(dims, shape, strict=True))


def _without_values(transfer: Transfer, declared: Outcome, rules: Rules) -> Outcome:
    """The outcome of a Const whose values are unknown. Where a rule reads them, what follows from that is no fault."""
    if not transfer.wanted or transfer.wanted in (ENDS, TUPLE_ENDS):
        return declared
    fact = declared.outputs[0]
    return Outcome((rules.facts.intern(fact.element_type, fact.shape, None, True),), declared.findings, (), transfer.listed)


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Origins:
    """The outcomes of the nodes of a graph that take their facts from the file."""

    def __init__(self, model: Model, rules: Rules, constants: Constants, opaque: frozenset[str]) -> None:
        self.model = model
        self.rules = rules
        self.constants = constants
        self.opaque = opaque
        self._relaxed: list[Node] | None = None

    def constant(self, node: Node, transfer: Transfer) -> Outcome:
        return self.constants.outcome(transfer, self.rules.apply(node, transfer, ()), self.rules)

    def parameter(self, node: Node, transfer: Transfer, given: Fact | None, shapes: Mapping[int, Shape]) -> Outcome:
        """The outcome of a Parameter: the fact that enters a body, the shape that replaces the file's, or the declared shape."""
        if given is None and node.layer.data_offset < 0:
            message = "a Parameter must have <data> with its shape and element_type"
            return Outcome((POISONED,), (Finding("A101", message),), (), transfer.listed)
        op: Any = transfer.op
        if given is None and node.index in shapes:
            given = self.rules.facts.intern(op.element_type, shapes[node.index])
        if given is None:
            return self.rules.apply(node, transfer, ())
        return Outcome((given,), op.findings, (), transfer.listed)

    def unknown(self, node: Node, facts: tuple[Fact, ...], *, is_as_read: bool, with_hint: bool) -> Outcome:
        """The outcome of an unknown operation: the facts that its output ports record. `with_hint` looks for similar names.

        The record is about the inputs that the file records: for others, the sizes of the outputs are unknown. `is_as_read` tells that
        the model has the inputs of the file.
        """
        code, message = unknown_reason(node.layer, self.model.registry)
        hint = unknown_hint(node.layer, self.model.registry) if with_hint else None
        outputs = self.recorded(node)
        pairs = zip(node.layer.inputs, facts, strict=False)
        follows = all(fact.shape is None for fact in outputs) or all(_is_recorded(port, fact, is_as_read) for port, fact in pairs)
        if code == "G110" and self.is_opaque(node.type):
            code, message, hint = "G117", f"{clipped(node.type)!r} is not known; its recorded ports are trusted", None
            if not follows:
                message = f"{clipped(node.type)!r} is not known, and the file does not record its outputs for these inputs"
                message += "; their sizes are unknown"
                hint = "describe the operation with --extensions FILE, so that its shapes follow the inputs"
        elif node.version == RELAXED:
            if node is not (several := self._relaxed_nodes())[0]:
                return Outcome(outputs, (), (), node.layer.signature.output_count)
            message = f"{message}, but the version of {counted(len(several), 'layer')} written while OpenVINO compiled the model"
            hint = None
        if not follows:
            outputs = tuple([self._without_sizes(node, index, fact) for index, fact in enumerate(outputs)])
        return Outcome(outputs, (Finding(code, message, hint=hint),), (), node.layer.signature.output_count)

    def is_opaque(self, type: str) -> bool:
        """Whether the caller accepts an unknown operation: by its type, or by a pattern such as `Regex*`."""
        if type in self.opaque:
            return True
        if not any("*" in pattern or "?" in pattern or "[" in pattern for pattern in self.opaque):
            return False
        from fnmatch import fnmatchcase

        return any(fnmatchcase(type, pattern) for pattern in self.opaque)

    def _without_sizes(self, node: Node, index: int, fact: Fact) -> Fact:
        """A recorded output of which only the element type and the rank are known."""
        if fact.shape is None:
            return fact
        keys = [("unrecorded", self.model.first_tensor + node.first_slot + index, axis) for axis in range(len(fact.shape))]
        sizes = tuple([self.rules.scope.unknown(key, 0, is_unbacked=True) for key in keys])
        return self.rules.facts.intern(fact.element_type, sizes)

    def _relaxed_nodes(self) -> list[Node]:
        """The layers of the version that OpenVINO gives operations of other element types than their own, those that are read first."""
        if self._relaxed is None:
            self._relaxed = sorted((node for node in self.model.nodes if node.version == RELAXED), key=lambda node: not node.is_live)
        return self._relaxed

    def recorded(self, node: Node) -> tuple[Fact, ...]:
        return tuple([self.recorded_by(port) for port in node.layer.outputs])

    def recorded_by(self, port: Port) -> Fact:
        """The fact that a port records: element type, dims, and in an example the elements."""
        element_type = ElementType.from_precision(port.precision) if port.precision else None
        shape: Shape = (port.value_shape or ()) if self.model.document.is_example else None
        if port.dims is not None:
            unknown = self.rules.scope.unknown
            shape = tuple([unknown(("port", port.offset, axis), 0) if dim < 0 else dim for axis, dim in enumerate(port.dims)])
        return self.rules.facts.intern(element_type or ElementType.dynamic, shape, port.value, is_literal=port.value is not None)
