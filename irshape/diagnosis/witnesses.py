"""The three witnesses of each tensor: the rule of its layer, the output port that records it, and the input ports that read it.

One more pass lets each rule take the facts that its own input ports record, so a mistake shows where it is, and nowhere behind:

- the rule and the readers agree against the output port: the record is wrong, and nothing else is;
- the output port and the readers agree against the rule: the layer is wrong, by an attribute or by a constant that it reads;
- the rule and the output port agree against a reader: the edge is wrong, or what the reader records; against all readers of a Const or a
  Parameter: its shape is wrong.

A layer in which this pass finds nothing computes what the file records from what the file records: a fault of the first pass in it follows
from a contradiction before it. Elements are not recorded, so they are handed on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import Any, Final

from irshape.diagnosis.recorded import RECORDS, contradictions, fits, is_decided, other_end, recordable, source_of
from irshape.inference.engine import Engine
from irshape.inference.facts import POISONED, Fact
from irshape.inference.transfer import Outcome, Transfer
from irshape.model.model import Model, Node
from irshape.report.catalogue import is_fault
from irshape.shape.element_type import ElementType
from irshape.xml.document import PortRecord
from irshape.xml.weights import WeightsError, decode

# The most elements of a constant that are looked at.
MOST_ELEMENTS: Final = 64
# More edges of which one end alone has dims tell that ports may have none, whatever their ranks.
_MOST_MOVED: Final = 3


class Witnesses:
    """The pass over one graph.

    `chain` are the facts of the tensors, those that are recorded wherever a rule contradicts what ports record. `taken` are the facts that
    each node takes, `own` what its rule gives for them. `edges` are the inputs whose record contradicts the tensor that an edge leads
    there, `layers` the nodes whose rule fails or contradicts both output port and readers, `records` the tensors whose output port alone
    is wrong, `assumed` the tensors that are taken from the record because their rule does not give it. `bodies` are those of the bodies.
    """

    def __init__(self, graph: Engine, bodies: Mapping[Model, Witnesses]) -> None:
        self.graph = graph
        self.bodies = bodies
        self.model = graph.model
        self.chain: list[Fact] = [POISONED] * (self.model.slot_count + 2)
        self.taken: dict[Node, tuple[Fact, ...]] = {}
        self.own: dict[Node, Outcome] = {}
        self.edges: dict[Node, list[int]] = {}
        self.layers: list[Node] = []
        self.records: set[int] = set()
        self.assumed: set[int] = set()
        for slot, port in self.model.stubs.items():
            self.chain[slot] = graph.origins.recorded_by(port)
        for node in graph.schedule.nodes:
            self._visit(node)

    @property
    def contradictions(self) -> int:
        """The number of contradictions. Layers that fail for one reason, such as a constant that all of them read, are one."""
        reasons: set[object] = set()
        for node in self.layers:
            fault = next((found for found in self.own[node].findings if is_fault(found.code)), None)
            reasons.add(node if fault is None else (node.type, fault.code, fault.message))
        return len(self.edges) + len(self.records) + len(reasons)

    def is_faulty(self, body: Model) -> bool:
        """Whether a body, or a body inside it, has a contradiction."""
        own = self.bodies.get(body)
        inner = (each for node in body.holders for each in node.bodies.values())
        return (own is not None and bool(own.edges or own.layers)) or any(map(self.is_faulty, inner))

    def _visit(self, node: Node) -> None:
        """Let the rule of a node answer for what its input ports record, and compare the answer with what its output ports record."""
        chain, records = self.chain, node.layer.signature.records
        facts = []
        for index, slot in enumerate(node.sources):
            fact = chain[slot]
            if slot < 0 or fact.is_poisoned:
                fact = self.recorded(node, index)
            elif contradictions(*records[index][1:], fact) or self._starts_elsewhere(node, index, fact):
                if slot not in self.assumed:
                    self.edges.setdefault(node, []).append(index)
                fact = self.recorded(node, index)
            facts.append(fact)
        taken = self.taken[node] = tuple(facts)
        outcome = self.own[node] = self.answer(node, taken)
        outcome = next((right for index in self.edges.get(node, ()) if (right := self.read_rightly(node, index))), outcome)
        fails = not self.gives(node, outcome) and self._judge(node, outcome)
        count = node.layer.signature.input_count
        for index in range(node.layer.signature.output_count):
            slot, fact = node.first_slot + index, outcome.outputs[index] if index < len(outcome.outputs) else POISONED
            if fails or fact.is_poisoned:
                fact = self.recorded(node, count + index)
                self.assumed.add(slot)
            chain[slot] = fact

    def _starts_elsewhere(self, node: Node, index: int, fact: Fact) -> bool:
        """Whether the two ends of an edge record other facts, of which the rule of the source gives exactly those of the source."""
        slot = node.sources[index]
        if slot in self.model.stubs or not other_end(node, index, are_scalars=self.are_scalars):
            return False
        dims = recordable(fact)
        return dims is not None and dims != (node.layer.signature.records[index][2] or ())

    @cached_property
    def are_scalars(self) -> bool:
        """Whether ports without dims are scalars, as OpenVINO writes them: but for a few edges, both ends have dims or none has."""
        told = odd = 0
        for node in self.model.nodes:
            for slot, (_, _, dims) in zip(node.sources, node.layer.signature.records, strict=False):
                if slot >= 0 and slot not in self.model.stubs:
                    producer = self.model.nodes[self.model.producers[slot]]
                    start = producer.layer.signature.records[producer.layer.signature.input_count + slot - producer.first_slot]
                    told += start[2] is not None and dims is not None
                    odd += (start[2] is None) != (dims is None)
        return odd < min(_MOST_MOVED, told)

    def is_computed(self, node: Node, index: int) -> bool:
        """Whether the model computes for a port of a node what the rules give for the records: only then can the record be mended alone."""
        count = node.layer.signature.input_count
        slot = node.sources[index] if index < count else node.first_slot + index - count
        fact = self.chain[slot]
        return not contradictions(fact.element_type.precision, recordable(fact), self.graph.slots[slot])

    def recorded(self, node: Node, index: int) -> Fact:
        """The fact that a port records; nothing is known where the port has no dims."""
        inputs = node.layer.inputs
        return self.graph.origins.recorded_by(inputs[index] if index < len(inputs) else node.layer.outputs[index - len(inputs)])

    def answer(self, node: Node, facts: tuple[Fact, ...]) -> Outcome:
        """The outcome of a node for these facts; a Parameter of a body has the shape that it declares."""
        graph, count, transfer = self.graph, node.layer.signature.output_count, self.transfer(node)
        slots = graph.slots
        if transfer is not None and transfer.is_pure:
            return graph.rules.apply(node, transfer, facts)
        if node.type == "Parameter" and self.model.holder is not None:
            slots = graph.as_read.slots
        if node.index in graph.maps and any(self.is_faulty(body.model) for body in graph.maps[node.index]):
            return Outcome(graph.origins.recorded(node))  # the bodies say what is wrong
        known = tuple(slots[node.first_slot : node.first_slot + count])
        is_same = all(fact is slots[slot] for fact, slot in zip(facts, node.sources, strict=True))
        if is_same or node.index not in graph.maps:
            return Outcome(known) if is_same else Outcome(graph.origins.recorded(node))
        if graph.scope.work.is_done:
            return Outcome(graph.origins.recorded(node))
        return graph.answer(graph.current.copy(), node, transfer, facts, graph.question)

    def outputs(self, node: Node) -> tuple[PortRecord, ...]:
        return node.layer.signature.records[node.layer.signature.input_count :]

    def gives(self, node: Node, outcome: Outcome, codes: Collection[str] = RECORDS, *, is_strict: bool = False) -> bool:
        """Whether a rule passes and gives what ports record; these codes count. `is_strict`: records are all that OpenVINO knows."""
        records, taken = self.outputs(node), self.taken.get(node)
        is_exact = taken is not None and (is_decided(node, taken) if is_strict else self._is_decided(node))
        if any(is_fault(found.code) for found in outcome.findings) or len(outcome.outputs) < len(records):
            return False
        both = zip(records, outcome.outputs, strict=False)
        return not any(code in codes for record, fact in both for code, _ in self._departures(record, fact, is_exact=is_exact))

    def _departures(self, record: PortRecord, fact: Fact, *, is_exact: bool) -> list[tuple[str, str]]:
        """What a port records otherwise than a rule gives, with the codes."""
        return contradictions(record[1], self.dims(record, fact) if is_exact else record[2], fact, is_exact=is_exact)

    def dims(self, record: PortRecord, fact: Fact) -> tuple[int, ...] | None:
        """The dims that a port records; none are those of a scalar where a rule gives a shape of numbers."""
        is_scalar = record[2] is None and -1 not in (recordable(fact) or (-1,)) and self.are_scalars
        return () if is_scalar else record[2]

    def departure(self, node: Node) -> tuple[int, str]:
        """How the rule of a node departs from its records: the position of a port, -1 for none, and a sentence with what both say."""
        outcome, count = self.own[node], node.layer.signature.input_count
        if fault := next((found for found in outcome.findings if is_fault(found.code)), None):
            return -1 if fault.port is None else fault.port, f"the layer does not take the inputs that it records: {fault.message}"
        for index, (record, fact) in enumerate(zip(self.outputs(node), outcome.outputs, strict=False), count):
            for code, told in self._departures(record, fact, is_exact=self._is_decided(node)):
                source = source_of(node, fact, code)
                is_declared = source.startswith("its")
                told = told.replace("the model computes", source if is_declared else "the layer gives")
                return index, told if is_declared else f"{told} for the inputs that it records"
        return -1, "the layer does not give what it records for the inputs that it records"

    def _is_decided(self, node: Node) -> bool:
        """Whether what a node takes decides its records; a fact that comes from a record has lost the bounds of open sizes."""
        taken, records, slots = self.taken[node], node.layer.signature.records, self.graph.slots
        both = zip(taken, node.sources, records, strict=False)
        # A Parameter of a body records the numbers that it declares.
        is_fixed = node.type == "Parameter" and all(-1 not in (recordable(fact) or (-1,)) for fact in self.own[node].outputs)
        is_whole = is_fixed or is_decided(node, taken)
        return is_whole and all(fact is slots[slot] or -1 not in (record[2] or ()) for fact, slot, record in both)

    def passes(self, node: Node, outcome: Outcome) -> bool:
        """Whether a rule passes, and gives known facts that the output ports record: of a shape as far as the own rule tells it."""
        if not self.gives(node, outcome, is_strict=True) or any(fact.is_poisoned for fact in outcome.outputs):
            return False
        own = self.own[node].outputs if node in self.own else ()
        both = zip(self.outputs(node), own, outcome.outputs, strict=False)
        return all(
            (dims := self.dims(record, known)) is None or (fact.shape is not None and fits(dims, fact.shape))
            for record, known, fact in both
        )

    def _judge(self, node: Node, outcome: Outcome) -> bool:
        """Whether the layer is wrong where its rule contradicts the output ports: the readers decide."""
        is_record = bool(outcome.outputs) and not any(is_fault(found.code) for found in outcome.findings)
        is_exact = self._is_decided(node)
        for slot, (record, fact) in enumerate(zip(self.outputs(node), outcome.outputs, strict=False), node.first_slot):
            if self._departures(record, fact, is_exact=is_exact):
                if is_record and self.readers_agree(slot, record, fact, is_exact=is_exact):
                    self.records.add(slot)
                else:
                    is_record = False
        if not is_record:
            self.layers.append(node)
        return not is_record

    def readers(self, slot: int) -> Iterator[tuple[Node, int]]:
        """The nodes that read a tensor, each with the position of the input."""
        return ((self.model.nodes[index], position) for index, position in self.model.readers.get(slot, ()))

    def readers_agree(self, slot: int, record: PortRecord, fact: Fact, *, is_exact: bool) -> bool:
        """Whether there are readers, and all say, by their records or their rules, that a rule is right and its output port wrong."""
        is_shape, is_said = any(code == "R301" for code, _ in self._departures(record, fact, is_exact=is_exact)), False
        for reader, position in self.readers(slot):
            own = reader.layer.signature.records[position]
            if self._departures(own, fact, is_exact=is_exact):
                return False
            is_said = is_said or own[2 if is_shape else 1] is not None or self._confirms(reader, position, fact, record)
        return is_said

    def _confirms(self, node: Node, index: int, fact: Fact, record: PortRecord) -> bool:
        """Whether the rule of a reader gives what it records for a fact of an input, and does not for a recorded one."""
        transfer = self.transfer(node)
        if transfer is None or not transfer.is_pure or not any(one[2] is not None for one in self.outputs(node)):
            return False
        recorded = (ElementType.from_precision(record[1]) if record[1] else None) or fact.element_type
        other = self.graph.facts.intern(recorded, fact.shape if record[2] is None else record[2])
        before, after = ([self.graph.slots[slot] for slot in node.sources[part]] for part in (slice(index), slice(index + 1, None)))
        right, wrong = (self.graph.rules.apply(node, transfer, (*before, one, *after)) for one in (fact, other))
        return self.passes(node, right) and not self.passes(node, wrong)

    def read_rightly(self, node: Node, index: int) -> Outcome | None:
        """The outcome of a node if, as its rule says, the right edge leads to an input and only the record of the input is wrong."""
        transfer = self.transfer(node)
        if transfer is None or not transfer.is_pure or not any(record[1:] != (None, None) for record in self.outputs(node)):
            return None
        fact = self.chain[node.sources[index]]
        right = self.graph.rules.apply(node, transfer, (*self.taken[node][:index], fact, *self.taken[node][index + 1 :]))
        return right if self.passes(node, right) and not self.passes(node, self.own[node]) else None

    def transfer(self, node: Node) -> Transfer | None:
        return self.graph.schedule.transfers[self.graph.schedule.positions[node.index]]

    def fact(self, node: Node) -> Fact:
        """The fact of the first output of a node, with the elements of a small Const whether or not a rule reads them."""
        fact = self.chain[node.first_slot]
        if node.layer.weights_at is None or fact.elements is not None or fact.is_poisoned or fact.shape is None:
            return fact
        op: Any = node.op
        count, weights = 1, self.graph.weights
        for size in fact.shape:
            count *= size if type(size) is int else MOST_ELEMENTS + 1
        if op is None or op.is_broken or weights is None or not 0 < count <= MOST_ELEMENTS or fact.element_type.is_real:
            return fact
        try:
            elements = decode(fact.element_type, weights.read(node.layer.weights_at, op.size), count)
        except (WeightsError, ValueError):
            return fact
        return self.graph.facts.intern(fact.element_type, fact.shape, elements, is_literal=elements is not None)
