"""The facts of a draft: only the layers that an edit reaches are inferred again, and only those before the tensor that is asked for.

Rules, memos and transfer functions are those of an engine that has inferred the model as it was. A queue in topological order holds the
layers whose facts may be other ones now; a layer whose facts stay the same queues no other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from heapq import heappop, heappush
from typing import TypeAlias

from irshape.editing.state import Item, State, Value
from irshape.inference.engine import Engine
from irshape.inference.facts import POISONED, Fact
from irshape.inference.question import AS_READ, Question
from irshape.inference.run import Run
from irshape.inference.schedule import Common, Reads, sources_of
from irshape.inference.transfer import ENDS, TUPLE_ENDS, Outcome, Transfer
from irshape.inference.verdict import OpenVINOPass, forgiven
from irshape.model.bodies import bodies_of, conditions_passed
from irshape.model.model import SINKS, UNFED, Model, Node, reached
from irshape.report.diagnostic import Diagnostic
from irshape.report.finding import Finding
from irshape.shape.guard import Premise, Requirement
from irshape.xml.document import Layer, LayerSignature, Port
from irshape.xml.patched_weights import AppendedWeights


class Records:
    """Makes the records of items. Equal layers share a signature."""

    def __init__(self) -> None:
        self._signatures: dict[object, LayerSignature] = {}

    def signature(self, item: Item) -> LayerSignature:
        """The signature of an item, that of its layer in the model if it still has the same content."""
        base = None if item.origin is None else item.origin.layer
        if base is not None and item.ports is None and item.attributes == base.attributes:
            return base.signature
        inputs, outputs = item.input_ids, item.output_ids
        like = None if base is None or item.ports is not None else base.signature
        key = (item.type, item.version, like, *item.attributes.items(), *inputs, None, *outputs)
        found = self._signatures.get(key)
        if found is None:
            records = [(id, None, None) for id in (*inputs, *outputs)] if like is None else like.records
            found = self._signatures[key] = LayerSignature(item.type, item.version, item.attributes)
            found.record(records[: len(inputs)], records[len(inputs) :], {})
        return found

    def layer(self, item: Item) -> Layer:
        """A record of an item that is another one than in the model."""
        signature, base = self.signature(item), None if item.origin is None else item.origin.layer
        if base is None:
            inputs = [Port(index, None, -1) for index in range(len(item.inputs))]
            outputs = [Port(id, precision, -1, dims) for id, (precision, dims) in enumerate(item.recorded, len(inputs))]
            return Layer(item.id, item.name, signature, None, 0, 0, 0, (inputs, outputs))
        ports = base.inputs, base.outputs
        if item.ports is not None:
            of_ids = [{port.id: port for port in several} for several in ports]
            inputs, outputs = ([known.get(id) or Port(id, None, -1) for id in ids] for known, ids in zip(of_ids, item.ports, strict=True))
            ports = inputs, outputs
        own = base.weights_at if signature is base.signature else None
        layer = Layer(item.id, item.name, signature, own, base.offset, base.end, base.data_offset, ports)
        layer.bodies, layer.port_maps = base.bodies, item.port_maps
        return layer

    def enter(self, item: Item, node: Node) -> None:
        """Give a node that stands for an item the bodies of the item: those that nobody has looked into are those of the model."""
        if own := item.held:
            node.bodies = {name: self._body(item.bodies[name], node) if name in item.bodies else own[name] for name in own}

    def _body(self, state: State, holder: Node) -> Model:
        """The model of a body as it is now. Its tensors have the numbers that they have in the state."""
        own = state.model
        model = Model(own.document, own.graph, holder, own.name, own.registry)
        model.default_opset, model.first_tensor = own.default_opset, own.first_tensor
        items = sorted(state.items.values(), key=lambda item: item.place)
        positions = {item: index for index, item in enumerate(items)}
        model.slot_count = max([own.slot_count, *(value.slot + 1 for item in items for value in item.outputs)])
        model.producers = [-1] * model.slot_count
        for index, item in enumerate(items):
            layer = self.layer(item) if item.base is None or item.is_other else item.base.layer
            first = item.outputs[0].slot if item.outputs else own.slot_count
            node = Node(model, index, layer, item.op_class, len(item.inputs), first)
            node.sources = item.sources
            node.is_live = False
            model.nodes.append(node)
            model._by_id[item.id] = node
            model._by_type.setdefault(item.type, []).append(node)
            for value in item.outputs:
                model.producers[value.slot] = index
            if item.held:
                model.holders.append(node)
        model.order = [positions[item] for item in state.in_order]
        sinks = (node for node in model.nodes if node.type in SINKS)

        def before(node: Node) -> list[Node]:
            base = items[node.index].base
            walked = own.walks.get(base.index, ()) if base is not None else ()
            return [*node.producers, *(found for index in walked if (found := model._by_id.get(own.nodes[index].id)) is not None)]

        for node in (*reached(sinks, before), *model.parameters):
            node.is_live = True
        for node in model.holders:
            self.enter(items[node.index], node)
        return model


_Reads: TypeAlias = tuple[tuple[Value, ...], tuple[tuple[Value, frozenset[int]], ...]]
_NOTHING: _Reads = ((), ())
_NONE: frozenset[int] = frozenset()


class Demand:
    """What is read of each tensor: counts of the readers of its elements, and of its least and greatest element.

    `common_of` gives what the layers of a signature share; `conditions_of` gives the positions of inputs that are conditions of bodies.
    """

    def __init__(self, state: State, common_of: Callable[[Item], Common], conditions_of: Callable[[Item], Iterable[int]]) -> None:
        self._state = state
        self._common_of = common_of
        self._conditions_of = conditions_of
        self._elements: Counter[Value] = Counter()
        self._ends: Counter[tuple[Value, frozenset[int]]] = Counter()
        self._reads: dict[Item, _Reads] = {}
        self.update(state.in_order)  # backwards: the last one is taken first

    def wanted(self, item: Item) -> frozenset[int]:
        """The positions of the outputs whose elements are read; for a Const perhaps the mark of a reader of its ends."""
        common = self._common_of(item)
        if not common.is_followed:
            return _NONE
        wanted = frozenset([value.index for value in item.outputs if self._elements[value]])
        if wanted or not common.has_ends or not item.outputs:
            return wanted
        return next((mark for mark in (TUPLE_ENDS, ENDS) if self._ends[item.outputs[0], mark]), _NONE)

    def follow(self, values: Collection[Value], count: int = 1) -> set[Item]:
        """Count one reader more of the elements of some tensors (or less, with -1), and return the items to visit again."""
        for value in values:
            self._elements[value] += count
        items = {value.item for value in values}
        return items | self.update(items)

    def update(self, items: Iterable[Item]) -> set[Item]:
        """Look again at what some items read, and return the items of whose outputs other elements are read than before."""
        pending = list(items)
        changed: set[Item] = set()
        while pending:
            item = pending.pop()
            old = self._reads.get(item, _NOTHING)
            new = self._read_by(item) if self._state.is_live(item) else _NOTHING
            if new == old:
                continue
            self._reads[item] = new
            sources = {value.item for value in (*new[0], *old[0], *[value for value, _ in (*new[1], *old[1])])}
            before = {source: self._said_of(source) for source in sources}
            self._elements.update(new[0])
            self._elements.subtract(old[0])
            self._ends.update(new[1])
            self._ends.subtract(old[1])
            moved = [source for source in sources if self._said_of(source) != before[source]]
            changed.update(moved)
            pending += moved
        return changed

    def _said_of(self, item: Item) -> tuple[bool, ...]:
        found = [self._elements[value] > 0 for value in item.outputs]
        return *found, *(self._ends[value, mark] > 0 for value in item.outputs for mark in (ENDS, TUPLE_ENDS))

    def _read_by(self, item: Item) -> _Reads:
        """The tensors whose elements, and those whose ends, the rule of an item reads."""
        common = self._common_of(item)
        inputs = item.inputs
        is_asked = common.is_followed and any(self._elements[value] for value in item.outputs)
        positions = [*(common.followed if is_asked else common.always), *self._conditions_of(item)]
        elements = [inputs[position] for position in positions if position < len(inputs)]
        ends = [(inputs[position], mark) for position, mark in common.ended if position < len(inputs)]
        return tuple([one for one in elements if one is not None]), tuple([(one, mark) for one, mark in ends if one is not None])


class Facts:
    """The facts of the tensors of a draft, by the rules of an engine that has inferred its model.

    `weights` are those of the model with the new constants behind them. `refused` are the items in which OpenVINO finds an error, if the
    engine knows what OpenVINO knows. After an exception in the midst of the work, `is_whole` is false: then these facts are of no use.
    """

    def __init__(self, state: State, engine: Engine, weights: AppendedWeights) -> None:
        self._state = state
        self._engine = engine
        self._weights = weights
        self._facts: dict[int, Fact] = dict(enumerate(engine.slots[: state.model.slot_count]))
        self._facts[-1] = self._facts[-2] = POISONED
        self._known_reads: dict[object, Reads] = {}
        self._records = Records()
        self._commons: dict[LayerSignature, Common] = {}
        self._nodes: dict[Item, Node] = {}
        self._shared: dict[Item, Common] = {}
        self._findings: dict[Item, tuple[Finding, ...]] = {}
        self._question = engine.question
        self._run = engine.current.copy()
        self._queue: list[tuple[float, int, Item]] = []
        self._pushed = 0
        self._working = 0
        self._queued: dict[Item, float] = {}
        self._openvino: Facts | None = None
        self._judged: set[Item] = set()
        self._entered: set[Item] = set()
        self.refused: set[Item] = set()
        self._demand = Demand(state, self._common, self._conditions)
        engine.constants.weights = weights
        engine.rules.is_of_data = self._is_of_data
        self._touched: dict[Item, None] = {}
        state.watched.append(self._touched)
        transfers, positions = engine.schedule.transfers, engine.schedule.positions
        changed = []
        for item in state.items.values():
            transfer = None if item.base is None else transfers[positions[item.base.index]]
            if item.is_other or item.bodies or (transfer is not None and transfer.wanted != self._demand.wanted(item)):
                changed.append(item)
        if engine.is_reduced or engine.question.verdict is not None:  # a verdict on one layer may change with any other one
            changed = list(state.items.values())
        self._touched.update(dict.fromkeys(changed))

    @property
    def is_whole(self) -> bool:
        """Whether no work was broken off."""
        return not self._working and (self._openvino is None or self._openvino.is_whole)

    def of(self, value: Value) -> Fact:
        self._settle(value.item.label)
        return self._facts.get(value.slot, POISONED)

    def findings(self, item: Item) -> tuple[Finding, ...]:
        if item not in self._findings:
            self._touched[item] = None
        self._settle(item.label)
        return self._findings.get(item, ())

    def requirements(self, item: Item) -> tuple[Requirement, ...]:
        """What the rule of an item demands of sizes that are not known."""
        self._settle(item.label)
        return self._outcome(item).requirements

    def count(self, item: Item) -> int:
        self._settle(item.label)
        return len(self._outcome(item).outputs)

    def body(self, item: Item, name: str) -> tuple[Model, Run]:
        self._settle(item.label)
        return _inner(self._node(item), name, self._run)

    def assumes(self, item: Item) -> bool:
        """Whether the rule of an item, or one in its bodies, assumes what OpenVINO does not demand."""
        self._settle(item.label)
        if any(isinstance(one, Premise) for one in self._outcome(item).requirements):
            return True
        inner = [run for (index, _), run in self._run.inner.items() if item.held and index == self._node(item).index]
        for run in inner:
            inner += run.inner.values()
        return any(isinstance(one, Premise) for run in inner for report in run.reports.values() for one in report.requirements)

    @contextmanager
    def following(self, values: Collection[Value], *, ends: bool = True) -> Iterator[None]:
        """Follow the elements of some tensors in a `with` block, as if a rule read them; without `ends`, from then on."""
        self._settle(float("inf"))
        working, self._working = self._working, self._working + 1
        self._touched.update(dict.fromkeys(self._demand.follow(values)))
        yield
        self._settle(float("inf"))
        if ends:
            self._touched.update(dict.fromkeys(self._demand.follow(values, -1)))
        self._working = working

    def all(self) -> tuple[dict[int, Fact], Run]:
        """The facts of all tensors by slot, and a run that holds those of the bodies."""
        self._settle(float("inf"))
        return self._facts, self._run

    def _settle(self, until: float) -> None:
        """Visit what is queued up to a label."""
        if not self._touched and (not self._queue or self._queue[0][0] > until):
            return
        working, self._working = self._working, self._working + 1
        if self._touched:
            self._engine.scope.work.renew()
            touched = [*self._touched, *self._judged]
            self._touched.clear()
            self._question = self._asked()
            for item in touched:
                self._nodes.pop(item, None)
                self._shared.pop(item, None)
            for item in (*touched, *self._demand.update(touched)):
                self._push(item)
        queue, queued = self._queue, self._queued
        while queue and queue[0][0] <= until:
            label, _, item = heappop(queue)
            if queued.get(item) == label:
                del queued[item]
                if self._state.is_live(item):
                    self._visit(item)
        self._working = working

    def _push(self, item: Item) -> None:
        if self._queued.get(item) != item.label:
            self._queued[item] = item.label
            self._pushed += 1  # an item that was taken back may have the label of another one
            heappush(self._queue, (item.label, self._pushed, item))

    def _visit(self, item: Item) -> None:
        """Infer one item, and queue the readers of each output whose fact changes."""
        if self._engine.is_reduced and item.held:
            self._enter(item, self._node(item))  # so that the errors in the bodies are those for the facts of now
        outcome = self._judge(item, self._outcome(item))
        facts = [*outcome.outputs[: len(item.outputs)], *[POISONED] * (len(item.outputs) - len(outcome.outputs))]
        if self._engine.is_reduced:
            facts = [*self._engine.reduced(tuple(facts))]
        self._findings[item] = outcome.findings
        known, readers = self._facts, self._state.readers
        for value, fact in zip(item.outputs, facts, strict=True):
            if known.get(value.slot) is not fact:
                known[value.slot] = fact
                for reader, _ in readers.get(value, ()):
                    self._push(reader)

    def _outcome(self, item: Item) -> Outcome:
        node = self._node(item)
        transfer = self._transfer(item, node)
        if transfer is not None and transfer.is_pure:
            return self._engine.rules.apply(node, transfer, tuple([self._facts.get(slot, POISONED) for slot in node.sources]))
        facts = tuple([self._facts.get(slot, POISONED) for slot in sources_of(node)])
        question = self._question
        if item.held and not self._engine.is_reduced:
            question = question.with_verdict(partial(self._judge_inside, item))
        working, self._working = self._working, self._working + 1  # the passes over the bodies write into the run
        outcome = self._engine.answer(self._run, node, transfer, facts, question)
        self._working = working
        return outcome

    def _transfer(self, item: Item, node: Node) -> Transfer | None:
        common, wanted = self._common(item), self._demand.wanted(item)
        engine = self._engine
        if item.base is not None and not item.is_other:
            known = engine.schedule.transfers[engine.schedule.positions[item.base.index]]
            if known is None or known.wanted == wanted:
                return known
        if common.op is None:
            return None
        offset, is_odd = None, bool(node.sources) and node.sources[-1] == UNFED
        if common.is_constant and not node.sources:
            at = common.op.offset if node.layer.weights_at is None else node.layer.weights_at
            is_odd = at + common.op.size > self._weights.total
            if (is_odd or wanted or common.is_string) and (at >= self._weights.start or self._weights.has_original):
                offset = at
        transfer: Transfer = common.transfer(engine.transfers, wanted, offset, is_odd=is_odd)
        return transfer

    def _asked(self) -> Question:
        """The question to the engine; a Parameter that was changed has the shape that its attributes say."""
        question, nodes = self._engine.question, self._state.model.nodes
        gone = [index for index in question.shapes if (item := self._state.items.get(nodes[index].id)) is None or item.is_other]
        if not gone:
            return question if question.verdict is None else Question(question.shapes, question.symbols, question.overrides)
        shapes = {index: shape for index, shape in question.shapes.items() if index not in gone}
        return Question(shapes, question.symbols, question.overrides) if shapes else AS_READ

    def _node(self, item: Item) -> Node:
        """A node that stands for an item in a rule: its own node in the model, if it is as it was."""
        node = self._nodes.get(item)
        if node is None:
            node = item.base
            is_holder = bool(item.held)
            if node is None or item.is_other or item.bodies:
                base, model = node, self._state.model
                first = item.outputs[0].slot if item.outputs else model.slot_count
                index = base.index if base is not None else len(model.nodes) + 1 + item.id if is_holder else len(model.nodes)
                node = Node(model, index, self._records.layer(item), item.op_class, 0, first)
                node.sources = item.sources
                self._records.enter(item, node)
            if is_holder and (node is not item.base or item in self._entered):
                self._enter(item, node)
            self._nodes[item] = node
        return node

    def _enter(self, item: Item, node: Node) -> None:
        engine = self._engine
        self._entered.add(item)
        engine.maps[node.index] = bodies_of(node)
        for body in engine.maps[node.index]:
            inner = type(engine)(body.model, self._weights, engine.opaque, outer=engine, body=body)
            engine.bodies[node.index, body.name] = inner
            for graph in inner.graphs():
                graph._enter_bodies()

    def _common(self, item: Item) -> Common:
        common = self._shared.get(item)
        if common is None:
            signature = self._records.signature(item)
            common = self._commons.get(signature)
            if common is None:
                model = self._state.model
                like = Node(model, 0, Layer(0, "", signature, None, 0, 0, 0, ([], [])), item.op_class, 0, 0)
                common = self._commons[signature] = Common(model, like, self._known_reads)
            self._shared[item] = common
        return common

    def _is_of_data(self, node: Node) -> bool:
        """What `Model.is_of_data` tells, for the draft as it is."""
        item = self._state.items.get(node.id) if node.model is self._state.model else None
        if item is None:
            return node.model.is_of_data(node)
        shapes = ("ShapeOf", "Constant")
        several = reached([item], lambda one: () if one.op_type in shapes else one.producers)
        return any(not one.producers and one.op_type not in shapes for one in several)

    def _conditions(self, item: Item) -> Iterable[int]:
        """The positions of the inputs that are conditions of a Loop."""
        if not item.held:
            return ()
        maps = self._engine.maps.get(self._node(item).index, ())
        return [passed.external for body in maps for passed in conditions_passed(body)]

    @property
    def view(self) -> Facts:
        """The facts of the draft as OpenVINO knows them."""
        if self._openvino is None:
            working, self._working = self._working, self._working + 1
            self._openvino = Facts(self._state, OpenVINOPass.of(self._engine), self._weights)
            self._working = working
        return self._openvino

    def _judge_inside(self, item: Item, graph: Engine, node: Node, outcome: Outcome) -> Outcome:
        """The outcome of a layer in a body of an item with OpenVINO's verdict on its errors."""
        if not any(finding.is_error for finding in outcome.findings):
            return outcome
        self._judged.add(item)
        view = self.view
        view._settle(item.label)
        engine, run = view._engine, view._run
        way: list[tuple[int, str]] = []
        top = view._node(item)
        model = graph.model
        while model.holder is not None:
            way.append((model.holder.id, model.name))
            model = model.holder.model
        for id, name in reversed(way):
            key = (top if engine is view._engine else engine.model.node(id)).index, name
            engine, run = engine.bodies[key], run.inner[key]
        assert isinstance(engine, OpenVINOPass)
        seen = engine.model.node(node.id)
        if seen in engine.refused:
            return outcome
        first = node.first_slot
        outputs = run.slots[first : first + node.layer.signature.output_count]
        return forgiven(outcome, graph, outputs, graph.model.first_tensor + first)

    def _judge(self, item: Item, outcome: Outcome) -> Outcome:
        """The outcome of an item with OpenVINO's verdict on its errors."""
        self.refused.discard(item)
        self._judged.discard(item)
        if not any(finding.is_error for finding in outcome.findings):
            return outcome
        if self._engine.is_reduced:
            self.refused.add(item)
            return outcome
        self._judged.add(item)
        view = self.view
        outputs = [view.of(value) for value in item.outputs]
        view.findings(item)
        if item in view.refused or not outputs:
            return outcome
        return forgiven(outcome, self._engine, outputs, self._state.model.first_tensor + item.outputs[0].slot)


def _inner(node: Node, name: str, run: Run) -> tuple[Model, Run]:
    """A body of a node and the run over it; nothing is known in the body of an unknown operation."""
    body = node.bodies[name]
    return body, run.inner.get((node.index, name)) or Run.of(body.slot_count, 0)


class BodyFacts:
    """The facts of the tensors in a body, by the run in which its layer has last inferred it."""

    def __init__(self, state: State, outer: Facts | BodyFacts) -> None:
        self._state = state
        self._outer = outer

    def _now(self) -> tuple[Model, Run]:
        assert self._state.holder is not None
        return self._outer.body(self._state.holder, self._state.model.name)

    def body(self, item: Item, name: str) -> tuple[Model, Run]:
        model, run = self._now()
        return _inner(model.node(item.id), name, run)

    def of(self, value: Value) -> Fact:
        slots = self._now()[1].slots
        return slots[value.slot] if value.slot < len(slots) else POISONED

    def findings(self, item: Item) -> list[Diagnostic]:
        _, run = self._now()
        reports = [report for report in run.reports.values() if report.node.id == item.id]
        return [one for report in reports for one in report.diagnostics or ()]

    def count(self, item: Item) -> int:
        model, run = self._now()
        return len(item.outputs) + len(run.unlisted.get(model.node(item.id).index, ()))

    @property
    def view(self) -> BodyFacts:
        """The facts of the body as OpenVINO knows them."""
        return BodyFacts(self._state, self._outer.view)

    def all(self) -> tuple[dict[int, Fact], Run]:
        _, run = self._now()
        return dict(enumerate(run.slots)), run
