"""The making of a plan: one pass with symbols for the sizes that change, checked against the pass of an example."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from irshape.inference.apply import Rules
from irshape.inference.facts import Fact, FactTable
from irshape.inference.plan.formulas import Conditions, Formulas
from irshape.inference.plan.plan import Ask, Numbers, Plan, Step, Symbol, Template
from irshape.inference.schedule import facts_of, marked, sources_of
from irshape.inference.transfer import Transfer
from irshape.model.model import Node
from irshape.report.finding import Finding
from irshape.shape.dim import INT64_MAX, Dim, Question, Scope
from irshape.shape.polynomial import Expression, Polynomial
from irshape.shape.value import Real, exact_limits

if TYPE_CHECKING:
    from irshape.inference.engine import Engine

# The least end of the range of a symbol. Ranges have ends because some rules know their formula for sizes up to a limit only.
_HIGH: Final = 1 << 16
# No plan is made of more formulas and conditions, or of more sizes and elements in all: it would cost more than it saves.
_MOST_FORMULAS: Final = 10_000
_MOST_NUMBERS: Final = 200_000
# So many elements of a tensor that only its rule tells get a symbol.
_MOST_SYMBOLS: Final = 64


def make_plan(engine: Engine, shapes: dict[int, Numbers], varying: list[tuple[int, int]]) -> Plan | None:
    """The plan for changes of these axes of Parameters, each given by node and axis; None if too little could be planned.

    The engine has run with these shapes of Parameters, by node, and without errors: that run is the example.
    """
    try:
        return _Making(engine, shapes, varying).plan()
    except _Unplanned:
        return None


class _Unplanned(Exception):
    """The model cannot be planned."""


class _Planned(NamedTuple):
    """The outputs of a rule with formulas: a template for each, None where it does not change.

    `has_varying_findings` says that the findings may differ for other sizes.
    """

    outputs: tuple[Fact, ...]
    templates: list[Template | None]
    has_varying_findings: bool


_UNASKED: Final = _Planned((), [], False)


class _Making:
    """The pass over the nodes that the changing inputs reach.

    `slots` are the facts of the example, with facts of formulas in place of those that change; `open_slots` are the tensors that only
    their rules tell, `asks` these rules, each with the number of atoms that its inputs are made of. A number in an open tensor is a
    symbol of its own, if it is positive; then formulas go on from there. A tensor that is no numbers is an input for rules only.
    """

    def __init__(self, engine: Engine, shapes: dict[int, Numbers], varying: list[tuple[int, int]]) -> None:
        self.shapes = shapes
        self.engine = engine
        self.model = engine.model
        self.schedule = engine.schedule
        self.base = engine.current
        limits = self.model.document.limits
        self.work = engine.scope.work
        self.scope = Scope(limits, self.work)
        self.rules = Rules(FactTable(is_static=True), self.scope, states_types=not self.model.document.is_example)
        self.rules.is_reshaped = True
        self.questions: list[Question] = []
        self.scope.questions = self.questions
        self.symbols: list[Symbol] = []
        example: dict[str, int] = {}
        for index, axis in varying:
            node, size = self.model.nodes[index], shapes[index][axis]
            self.symbols.append(Symbol(f"s{len(example)}", node, axis, max(_HIGH, 1 << size.bit_length() + 1)))
            example[self.symbols[-1].name] = size
        self.formulas = Formulas(self.scope.polynomials, example)
        self.conditions = Conditions(self.formulas)
        self.slots = self.base.slots.copy()
        self.tensors: dict[int, Template] = {}
        self.open_slots: set[int] = set()
        self.asks: list[tuple[int, Step]] = []
        self.carried: set[int] = set()
        self._roots: list[Expression] = []
        self._fresh = 0
        self.examines = False
        self._planned: dict[tuple[object, ...], _Planned | None] = {}
        self._transfers: dict[Transfer, Transfer] = {}

    def plan(self) -> Plan:
        """The plan."""
        schedule, readers = self.schedule, self.schedule.readers
        reached = schedule.marks({symbol.node.index for symbol in self.symbols})
        count = 0
        for position in marked(reached):
            node, transfer = schedule.nodes[position], schedule.transfers[position]
            count += 1
            for slot in self._visit(position, node, transfer):
                for reader in readers.get(slot, ()):
                    reached[reader] = True
            if self.work.is_done or len(self.scope.polynomials.atoms) + len(self.conditions) > _MOST_FORMULAS:
                raise _Unplanned
        self._examine_variables()
        if 2 * len(self.asks) > count:
            raise _Unplanned
        if sum(len(template.shape) + len(template.elements or ()) for template in set(self.tensors.values())) > _MOST_NUMBERS:
            raise _Unplanned
        tensors = {slot: self._named(template) for slot, template in self.tensors.items()}
        steps: list[tuple[int, Step]] = [(before, (name, tree)) for before, name, tree in self.formulas.numbered(*self._expressions())]
        steps = sorted([*self.asks, *steps], key=lambda step: step[0])
        return Plan(
            self.model,
            self.base,
            self.shapes,
            self.symbols,
            [step for _, step in steps],
            self.conditions.trees(),
            tensors,
            self.open_slots,
            examines=self.examines,
        )

    # One node.

    def _visit(self, position: int, node: Node, transfer: Transfer | None) -> list[int]:
        """Plan a node; the tensors of its outputs that change."""
        first = node.first_slot
        own = range(first, first + node.layer.signature.output_count)
        if transfer is not None and not transfer.is_pure and transfer.op.TYPE == "Parameter":
            return self._parameter(node)
        planned: _Planned | None = None
        if transfer is not None and transfer.is_pure and not any(source in self.carried for source in node.sources):
            facts = facts_of(node, self.slots)
            planned = self._planned.get((transfer, facts), _UNASKED)
            if planned is _UNASKED:
                planned = self._planned[transfer, facts] = self._apply(node, transfer, facts)
        if planned is None:
            return self._ask(position, node, transfer)
        if planned.has_varying_findings:
            self._append(position, node, [], [])
        changed = []
        for slot, fact, template in zip(own, planned.outputs, planned.templates, strict=True):
            if template is not None:
                self.slots[slot] = fact
                self.tensors[slot] = template
                changed.append(slot)
        return changed

    def _append(self, position: int, node: Node, outputs: list[Template | None], symbols: list[tuple[str, int, int]]) -> None:
        """Let a rule be asked at each reshape."""
        inputs: list[Fact | Template | int] = []
        for source in sources_of(node):
            template = self.tensors.get(source)
            if template is not None:
                inputs.append(self._with_trees(template))
            else:
                inputs.append(source if source in self.carried else self.base.slots[source])
        self.asks.append((len(self.scope.polynomials.atoms), Ask(position, node, inputs, outputs, symbols)))

    def _ask(self, position: int, node: Node, transfer: Transfer | None) -> list[int]:
        """Leave a node to its rule; the tensors that it may change."""
        first = node.first_slot
        own = range(first, first + node.layer.signature.output_count)
        known: Sequence[Fact | None] = [None] * len(own)
        if transfer is not None and transfer.is_pure and not any(source in self.carried for source in node.sources):
            outcome = self.rules.apply(node, self._transfer(transfer), facts_of(node, self.slots))
            known = outcome.outputs[: len(own)] if len(outcome.outputs) >= len(own) else known
        before = len(self.scope.polynomials.atoms)
        symbols: list[tuple[str, int, int]] = []
        templates = [self._open(slot, like, symbols) for slot, like in zip(own, known, strict=True)]
        named = [template and self._named(template) for template in templates]
        self._append(position, node, named, symbols)
        self.asks[-1] = before, self.asks[-1][1]
        self.open_slots.update(own)
        return [slot for slot in own if slot in self.carried or slot in self.tensors]

    def _open(self, slot: int, like: Fact | None, symbols: list[tuple[str, int, int]]) -> Template | None:
        """The template of a tensor that only its rule tells, with symbols for the numbers in which a pass with formulas is not `like` it.

        None if the tensor is carried to the rules that read it.
        """
        example = self.base.slots[slot]
        fact = None
        if example.shape is not None and example.openvino_view is example and not example.is_poisoned and self._is_clear(example):
            count = len(symbols)
            shape = self._symbols(example.shape, None if like is None else like.shape, symbols)
            elements = None
            if example.elements is not None and len(symbols) == count and len(example.elements) <= _MOST_SYMBOLS:
                elements = self._symbols(example.elements, None if like is None else like.elements, symbols)
            if shape is not None and (elements is None) == (example.elements is None):
                fact = self.rules.facts.intern(example.element_type, shape, elements)
            else:
                del symbols[count:]
        template = None if fact is None else self._template(fact, example, False)
        if fact is None or template is None:
            self.carried.add(slot)
        elif any(isinstance(one, Polynomial) for one in (*template.shape, *(template.elements or ()))):
            self.slots[slot] = fact
            self.tensors[slot] = template
        return template

    def _symbols(
        self, numbers: tuple[Any, ...], like: tuple[Any, ...] | None, symbols: list[tuple[str, int, int]]
    ) -> tuple[Any, ...] | None:
        """Numbers, and symbols for those that may vary; None if one is neither positive nor known."""
        found: list[Any] = []
        for index, number in enumerate(numbers):
            if like is not None and len(like) == len(numbers) and repr(like[index]) == repr(number):
                found.append(number)
                continue
            if number != int(number) or not 0 < number < _HIGH:
                return None
            name = f"x{self._fresh}"
            self._fresh += 1
            symbols.append((name, 1, _HIGH))
            self.formulas.example[name] = int(number)
            found.append(self.scope.symbol(name, 1, _HIGH))
        return tuple(found)

    def _with_trees(self, template: Template) -> Template:
        """A template with trees in place of its formulas."""
        self._roots += [one for one in (*template.shape, *(template.elements or ())) if isinstance(one, Polynomial)]
        tree = self.formulas.tree
        shape, elements = ([tree(one) if isinstance(one, Polynomial) else one for one in terms or ()] for terms in template[1:])
        return Template(template.element_type, tuple(shape), None if template.elements is None else tuple(elements))

    def _expressions(self) -> list[Expression]:
        """The formulas that conditions and the inputs of rules are made of."""
        return [*self.conditions.expressions(), *self._roots]

    def _apply(self, node: Node, transfer: Transfer, facts: tuple[Fact, ...]) -> _Planned | None:
        """The outcome of a rule with formulas, checked against the one of the example; None if only the rule itself tells it."""
        stay = [source not in self.tensors for source in sources_of(node)]
        if not all(self._is_clear(fact) and (fact.openvino_view is fact or not stays) for fact, stays in zip(facts, stay, strict=True)):
            return None
        del self.questions[:]
        outcome = self.rules.apply(node, self._transfer(transfer), facts)
        known = self.engine.rules.apply(node, transfer, facts_of(node, self.base.slots))
        listed = transfer.listed
        if (len(outcome.outputs) != listed and transfer.op.TYPE != "Result") or not all(map(self.conditions.can_hold, self.questions)):
            return None
        outputs, templates = outcome.outputs[:listed], []
        for index, (fact, example) in enumerate(zip(outputs, known.outputs[:listed], strict=True)):
            template = self._template(fact, example, index in transfer.wanted)
            if template is None:
                return None
            has_formulas = any(isinstance(one, Polynomial) for one in (*template.shape, *(template.elements or ())))
            templates.append(template if has_formulas else None)
        for question in self.questions:
            self.conditions.add(question)
        return _Planned(outputs, templates, bool(known.requirements) or not _are_alike(outcome.findings, known.findings))

    def _transfer(self, transfer: Transfer) -> Transfer:
        """A transfer function of the same operation with a memo of its own."""
        twin = self._transfers.get(transfer)
        if twin is None:
            twin = self._transfers[transfer] = Transfer(transfer.op, transfer.listed, transfer.wanted)
        return twin

    def _parameter(self, node: Node) -> list[int]:
        op: Any = node.op
        shape: list[Any] = list(self.shapes[node.index])
        for name, own, axis, high in self.symbols:
            if own is node:
                shape[axis] = self.scope.symbol(name, 1, high)
        fact = self.rules.facts.intern(op.element_type, tuple(shape))
        template = self._template(fact, self.base.slots[node.first_slot], False)
        if template is None:
            raise _Unplanned
        self.slots[node.first_slot] = fact
        self.tensors[node.first_slot] = template
        return [node.first_slot]

    def _is_clear(self, fact: Fact) -> bool:
        """Whether a fact holds no symbol but those of the plan. These stand for numbers, and of numbers OpenVINO knows the same."""
        for one in (*(fact.shape or ()), *(fact.elements or ())):
            if isinstance(one, Real) or (isinstance(one, Dim) and one.scope is not self.scope):
                return False
        return True

    def _template(self, fact: Fact, example: Fact, is_followed: bool) -> Template | None:
        """The template of a fact; None if the fact of the example is another, or another rule would tell more."""
        if fact.shape is None or fact.is_poisoned or fact.is_literal or not self._is_clear(fact):
            return None
        if example.openvino_view is not example or not self._is_clear(example):
            return None
        if fact.element_type is not example.element_type or (fact.elements is None) != (example.elements is None):
            return None
        if is_followed and fact.elements is None:
            return None
        shape = self._terms(fact.shape, example.shape or (), 0, INT64_MAX)
        elements: tuple[Any, ...] | None = None
        if fact.elements is not None:
            limits = exact_limits(fact.element_type)
            elements = None if limits is None else self._terms(fact.elements, example.elements or (), *limits, fact.element_type.is_real)
            if elements is None:
                return None
        return None if shape is None else Template(fact.element_type, shape, elements)

    def _named(self, template: Template) -> Template:
        """A template with names in place of its formulas."""
        name = self.formulas.name
        shape, elements = ([name(one) if isinstance(one, Polynomial) else one for one in terms or ()] for terms in template[1:])
        return Template(template.element_type, tuple(shape), None if template.elements is None else tuple(elements))

    def _terms(
        self, sizes: tuple[Any, ...], examples: tuple[Any, ...], low: int, high: int, is_real: bool = False
    ) -> tuple[Any, ...] | None:
        """Numbers and formulas; None where the example has another number, or one out of these limits."""
        if len(sizes) != len(examples):
            return None
        terms: list[Any] = []
        for size, example in zip(sizes, examples, strict=True):
            if not isinstance(size, Dim):
                if not isinstance(size, int | float) or repr(size) != repr(example):
                    return None
                terms.append(size)
                continue
            least, most = low, high
            if is_real:  # a real 0 has two signs
                least, most = (1, high) if example > 0 else (low, -1)
            if self.formulas.value(size.polynomial) != example or not self.conditions.limit(size, least, most):
                return None
            terms.append(size.polynomial)
        return tuple(terms)

    def _examine_variables(self) -> None:
        """Let the variables that change be compared anew for each reshape."""
        for pair in self.engine.pairs:
            nodes = [node for node in (pair.read_value, pair.assign) if node is not None]
            slots = [slot for node in nodes for slot in (*node.sources, node.first_slot)]
            if any(slot in self.tensors or slot in self.carried for slot in slots):
                self.examines = True


def _are_alike(ours: tuple[Finding, ...], theirs: tuple[Finding, ...]) -> bool:
    """Whether the findings say the same."""
    return [(one.code, one.message, one.port, one.attribute, one.hint) for one in ours] == [
        (one.code, one.message, one.port, one.attribute, one.hint) for one in theirs
    ]
