"""The making of a plan: one pass with symbols for the sizes that change, checked against the pass of an example."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from irshape.inference.apply import Rules
from irshape.inference.facts import Fact, FactTable
from irshape.inference.plan.asking import HIGH, Asking
from irshape.inference.plan.example import Example
from irshape.inference.plan.formulas import Formulas, Tree
from irshape.inference.plan.opaque import Opaque, PlanScope, ViewScope
from irshape.inference.plan.plan import Ask, Asked, Guarded, Numbers, Plan, Step, Symbol, Template
from irshape.inference.plan.views import Views
from irshape.inference.schedule import facts_of, marked, sources_of
from irshape.inference.transfer import Transfer
from irshape.inference.variables import Pair, examine
from irshape.model.model import Node
from irshape.ops.op import Op
from irshape.report.finding import Finding
from irshape.shape.dim import Dim, Question, expression_of
from irshape.shape.guard import Requirement

if TYPE_CHECKING:
    from irshape.inference.engine import Engine

# No plan is made of more formulas and conditions, or of more sizes and elements in all: it would cost more than it saves.
_MOST_FORMULAS: Final = 10_000
_MOST_NUMBERS: Final = 200_000


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

    `requirements` are those of the rule that depend on sizes which the engine does not know. `has_varying_findings` says that the findings
    may differ for other sizes.
    """

    outputs: tuple[Fact, ...]
    templates: list[Template | None]
    requirements: list[Requirement]
    has_varying_findings: bool


_UNASKED: Final = _Planned((), [], [], False)


class _Making:
    """The pass over the nodes that the changing inputs reach.

    `slots` are the facts of the example, with facts of formulas in place of those that change; `open_slots` are the tensors that only
    their rules tell, `steps` these rules and the definitions of symbols, each with the number of atoms that its inputs are made of.
    A tensor for which no symbols can stand is `carried`: it is an input for rules only. `guarded` are the requirements of nodes that
    depend on sizes which the engine does not know.
    """

    def __init__(self, engine: Engine, shapes: dict[int, Numbers], varying: list[tuple[int, int]]) -> None:
        self.shapes = shapes
        self.engine = engine
        self.schedule = engine.schedule
        self.base = engine.current
        self.work = engine.scope.work
        self.scope = PlanScope(engine.scope.limits, self.work)
        self.questions: list[Question] = []
        self.scope.questions = self.questions
        self.rules = Rules(FactTable(is_static=True), self.scope, states_types=engine.rules.states_types)
        self.rules.is_reshaped = True
        self.symbols = _symbols(engine, shapes, varying)
        self.formulas = Formulas(self.scope.polynomials, {one.name: shapes[one.node.index][one.axis] for one in self.symbols})
        self.example = Example(self.formulas)
        self.opaque = Opaque(self.scope, ViewScope(self.scope), self.rules.facts, self.formulas)
        self.views = Views(self.example, self.opaque, self.rules, engine.scope.intervals, self._define)
        self.asking = Asking(self.example, self.opaque)
        self.slots = self.base.slots.copy()
        self.tensors: dict[int, Template] = {}
        self.open_slots: set[int] = set()
        self.carried: set[int] = set()
        self.steps: list[tuple[int, Step]] = []
        self.guarded: list[tuple[int, Node, list[Requirement]]] = []
        self.examines = False
        self._planned: dict[tuple[object, ...], _Planned | None] = {}
        self._transfers: dict[Transfer, Transfer] = {}
        self._taken: set[int] = set()

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
            if self.work.is_done or len(self.scope.polynomials.atoms) + len(self.example.conditions) > _MOST_FORMULAS:
                raise _Unplanned
        self._examine_variables()
        if 2 * sum(isinstance(step, Ask) for _, step in self.steps) > count:
            raise _Unplanned
        if sum(len(template.shape) + len(template.elements or ()) for template in set(self.tensors.values())) > _MOST_NUMBERS:
            raise _Unplanned
        formulas, conditions = self.formulas, self.example.conditions
        tensors = {slot: template.mapped(formulas.name) for slot, template in self.tensors.items()}
        steps: list[tuple[int, Step]] = [
            (before, (name, tree)) for before, name, tree in formulas.numbered(*conditions.expressions(), *self.example.roots)
        ]
        return Plan(
            self.engine.model,
            self.base,
            self.shapes,
            self.symbols,
            [step for _, step in sorted([*self.steps, *steps], key=lambda step: step[0])],
            conditions.trees(),
            tensors,
            self.open_slots,
            [Guarded(position, node, list(map(self._with_sides, several))) for position, node, several in self.guarded],
            {name: size for name, size in formulas.example.items() if isinstance(size, Dim) and name not in formulas.asked},
            examines=self.examines,
        )

    def _with_sides(self, requirement: Requirement) -> tuple[Requirement, Tree, Tree]:
        a, b = (self.formulas.tree(expression_of(side)) for side in (requirement.a, requirement.b))
        return requirement, a, b

    def _define(self, symbol: Dim, size: Dim, tree: Tree) -> None:
        """Let a symbol be computed by a tree of the formula of a size at each reshape."""
        self.example.roots.append(size.polynomial)
        self.formulas.asked.add(str(symbol))
        atom = self.formulas.table.only_atom(symbol.polynomial)
        assert atom is not None
        self.steps.append((atom.index, (str(symbol), tree)))

    # One node.

    def _visit(self, position: int, node: Node, transfer: Transfer | None) -> list[int]:
        """Plan a node; the tensors of its outputs that change."""
        if transfer is not None and not transfer.is_pure and transfer.op.TYPE == "Parameter":
            return self._parameter(node)
        planned: _Planned | None = None
        facts = self._facts(sources_of(node)) if transfer is not None and transfer.is_pure else None
        if transfer is not None and facts is not None:
            planned = self._planned.get((transfer, facts), _UNASKED)
            if planned is _UNASKED:
                planned = self._planned[transfer, facts] = self._apply(node, transfer, facts)
        if planned is None:
            return self._ask(position, node, transfer, facts)
        if planned.has_varying_findings:
            self._append(position, node, [], [])
        elif planned.requirements:
            self.guarded.append((position, node, planned.requirements))
        changed = []
        for slot, fact, template in zip(_outputs(node), planned.outputs, planned.templates, strict=True):
            if template is not None:
                self.slots[slot] = fact
                self.tensors[slot] = template
                changed.append(slot)
        return changed

    def _facts(self, sources: Iterable[int]) -> tuple[Fact, ...] | None:
        """The facts of tensors, with symbols for the sizes that the engine does not know; None if symbols cannot stand for a tensor."""
        found: list[Fact] = []
        for source in sources:
            if source in self.carried:
                return None
            if source not in self.tensors and source not in self._taken:
                fact = self.opaque.fact(self.slots[source])
                if fact is None:
                    return None
                self.slots[source] = fact
                self._taken.add(source)
            found.append(self.slots[source])
        return tuple(found)

    def _apply(self, node: Node, transfer: Transfer, facts: tuple[Fact, ...]) -> _Planned | None:
        """The outcome of a rule with formulas, checked against the one of the example; None if only the rule itself tells it."""
        del self.questions[:]
        own, listed = self._transfer(transfer), transfer.listed
        outcome = self.rules.apply(node, own, facts)
        known = self.engine.rules.apply(node, transfer, facts_of(node, self.base.slots))
        if len(outcome.outputs) != listed and transfer.op.TYPE != "Result":
            return None
        requirements = self.example.requirements(outcome.requirements, known.requirements)
        # Of two sizes that are merged a rule keeps the range that both have, so their ranges must move together.
        are_tied = requirements is not None and not any(map(self.example.moves, requirements))
        is_unknown = _stays_unknown(transfer.op, facts)
        outputs: list[Fact] = []
        templates: list[Template | None] = []
        for index, (fact, example) in enumerate(zip(outcome.outputs[:listed], known.outputs[:listed], strict=True)):
            view = None
            if example.openvino_view is not example:
                view = self.views.output(node, own, facts, fact, index, example.openvino_view)
                if view is None:
                    return None
            if view is not None or fact.openvino_view is not fact:
                fact = self.rules.facts.intern(fact.element_type, fact.shape, fact.elements, fact.is_poisoned, view)
            template = self.example.template(fact, example, index in transfer.wanted and not is_unknown)
            if template is None or (not are_tied and template.is_opaque(self.formulas)):
                return None
            outputs.append(fact)
            templates.append(template if template.varies else None)
        if not self.example.demand(self.questions):
            return None
        varies = requirements is None or not _are_alike(outcome.findings, known.findings)
        return _Planned(tuple(outputs), templates, requirements or [], varies)

    def _transfer(self, transfer: Transfer) -> Transfer:
        """A transfer function of the same operation with a memo of its own."""
        twin = self._transfers.get(transfer)
        if twin is None:
            twin = self._transfers[transfer] = Transfer(transfer.op, transfer.listed, transfer.wanted)
        return twin

    def _parameter(self, node: Node) -> list[int]:
        op: Any = node.op
        shape: list[Any] = list(self.shapes[node.index])
        for name, own, axis, low, high in self.symbols:
            if own is node:
                shape[axis] = self.scope.symbol(name, low, high)
        fact = self.rules.facts.intern(op.element_type, tuple(shape))
        template = self.example.template(fact, self.base.slots[node.first_slot], False)
        if template is None:
            raise _Unplanned
        self.slots[node.first_slot] = fact
        self.tensors[node.first_slot] = template
        return [node.first_slot]

    # Rules that are asked.

    def _ask(self, position: int, node: Node, transfer: Transfer | None, facts: tuple[Fact, ...] | None) -> list[int]:
        """Leave a node to its rule; the tensors that it may change."""
        own = _outputs(node)
        known: Sequence[Fact | None] = [None] * len(own)
        if transfer is not None and facts is not None:
            outcome = self.rules.apply(node, self._transfer(transfer), facts)
            known = outcome.outputs[: len(own)] if len(outcome.outputs) >= len(own) else known
        before = len(self.scope.polynomials.atoms)
        symbols: list[Asked] = []
        templates: list[Template | None] = []
        for slot, like in zip(own, known, strict=True):
            opened = self.asking.opened(self.base.slots[slot], like, symbols)
            templates.append(opened and opened.answer.mapped(self.formulas.name))
            if opened is None:
                self.carried.add(slot)
            elif opened.answer.varies:
                self.slots[slot] = opened.fact
                self.tensors[slot] = opened.template
        self._append(position, node, templates, symbols, before)
        self.open_slots.update(own)
        return [slot for slot in own if slot in self.carried or slot in self.tensors]

    def _append(self, position: int, node: Node, outputs: list[Template | None], symbols: list[Asked], before: int | None = None) -> None:
        """Let a rule be asked at each reshape, after the atoms that were made `before`."""
        inputs: list[Fact | Template | int] = []
        for source in sources_of(node):
            template = self.tensors.get(source)
            if template is not None:
                self.example.roots += template.formulas
                inputs.append(template.mapped(self.formulas.tree))
            else:
                inputs.append(source if source in self.carried else self.base.slots[source])
        count = len(self.scope.polynomials.atoms) if before is None else before
        self.steps.append((count, Ask(position, node, inputs, outputs, symbols)))

    # Variables.

    def _examine_variables(self) -> None:
        """Compare the variables; if the plan cannot tell all that is found, they are compared anew for each reshape."""
        pairs = self.engine.pairs
        nodes = [node for pair in pairs for node in (pair.read_value, pair.assign) if node is not None]
        slots = {slot for node in nodes for slot in (*node.sources, node.first_slot)}
        if not slots & (self.tensors.keys() | self.carried):
            return
        requirements: list[Requirement] = []
        for pair in pairs:
            found = self._examined(pair)
            if found is None:
                self.examines = True
                return
            requirements += found
        if requirements:
            position = len(self.schedule.nodes)
            self.guarded.append((position, self.base.reports[position].node, requirements))

    def _examined(self, pair: Pair) -> list[Requirement] | None:
        """The requirements of a variable; None if the plan cannot tell what is found for other sizes."""
        if pair.read_value is None or not pair.assign.sources:
            return None
        slots = (pair.read_value.first_slot, pair.assign.sources[0])
        facts = self._facts(slots)
        if facts is None:
            return None
        del self.questions[:]
        ours = examine(pair, self.scope, *facts)
        example = examine(pair, self.engine.scope, *[self.base.slots[slot] for slot in slots])
        requirements = self.example.requirements(ours.requirements, example.requirements)
        if requirements is None or ours.findings or example.findings or not self.example.demand(self.questions):
            return None
        return requirements


def _symbols(engine: Engine, shapes: dict[int, Numbers], varying: list[tuple[int, int]]) -> list[Symbol]:
    """The symbols for the axes that change.

    Ranges have ends because some rules know their formula for sizes up to a limit only. Two sizes that broadcast are equal if both are
    above 1. So where the engine does not know all sizes, a plan is for sizes above 1, and an axis of size 1 stays. An axis of size 2
    stays, too: the example must lie inside of the ranges, so that it shows which bounds move with them.
    """
    least = 2 if any(isinstance(size, Dim) for fact in engine.slots for size in fact.shape or ()) else 1
    found: list[Symbol] = []
    for index, axis in varying:
        size = shapes[index][axis]
        if size > least or least == 1:
            found.append(Symbol(f"s{len(found)}", engine.model.nodes[index], axis, least, max(HIGH, 1 << size.bit_length() + 1)))
    return found


def _outputs(node: Node) -> range:
    return range(node.first_slot, node.first_slot + node.layer.signature.output_count)


def _stays_unknown(op: Op, facts: tuple[Fact, ...]) -> bool:
    """Whether no sizes let the rule follow elements, because those of its inputs are not known."""
    is_variadic = any(port.variadic for port in op.inputs)
    read = [fact.elements is None for index, fact in enumerate(facts) if is_variadic or index in op.demanded]
    return any(read) and (all(read) or not op.takes_unknown)


def _are_alike(ours: tuple[Finding, ...], theirs: tuple[Finding, ...]) -> bool:
    """Whether the findings say the same."""
    return [(one.code, one.message, one.port, one.attribute, one.hint) for one in ours] == [
        (one.code, one.message, one.port, one.attribute, one.hint) for one in theirs
    ]
