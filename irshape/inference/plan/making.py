"""The making of a plan: one pass with symbols for the sizes that change, checked against the pass of an example."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from irshape.inference.apply import Rules
from irshape.inference.facts import Fact, FactTable
from irshape.inference.plan.asking import HIGH, Asking
from irshape.inference.plan.example import Example
from irshape.inference.plan.formulas import Formulas, Tree
from irshape.inference.plan.opaque import Opaque, PlanScope, ViewScope
from irshape.inference.plan.parts import Ask, Outputs, Step, Symbol, Template
from irshape.inference.plan.plan import Numbers, Plan
from irshape.inference.plan.trace import Trace, Unplanned
from irshape.inference.plan.views import Views
from irshape.inference.schedule import facts_of
from irshape.inference.transfer import Outcome, Transfer
from irshape.model.model import Node
from irshape.ops.op import Op
from irshape.report.finding import Finding
from irshape.shape.dim import Dim, Question, Scope, Size, expression_of

if TYPE_CHECKING:
    from irshape.inference.engine import Engine

# No plan is made for more sizes and elements in all: it would cost more than it saves.
_MOST_NUMBERS: Final = 200_000


def make_plan(engine: Engine, shapes: dict[int, Numbers], varying: list[tuple[int, int]]) -> Plan | None:
    """The plan for changes of these axes of Parameters, each given by node and axis; None if too little could be planned.

    The engine has run with these shapes of Parameters, by node, and without errors: that run is the example.
    """
    try:
        return Making(engine, shapes, varying).plan()
    except Unplanned:
        return None


_UNASKED: Final = Outputs((), [], [], False)


class Making:
    """What the passes of a plan share: symbols, formulas, the example, the rules that are asked.

    `steps` are these rules and the definitions of symbols, each with the number of atoms that its inputs are made of. `trace` is the pass
    over the graph that the plan is for.
    """

    def __init__(self, engine: Engine, shapes: dict[int, Numbers], varying: list[tuple[int, int]]) -> None:
        self.shapes = shapes
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
        self.steps: list[tuple[int, Step]] = []
        self.keys: list[Hashable] = []
        self.trace = Trace(self, engine, engine.current)
        self._engine_rules = engine.rules
        self._planned: dict[tuple[object, ...], Outputs | None] = {}
        self._transfers: dict[Transfer, Transfer] = {}

    def plan(self) -> Plan:
        """The plan. Raises `Unplanned`."""
        trace, engine = self.trace, self.trace.engine
        trace.visit([reader for node in {symbol.node for symbol in self.symbols} for reader in self._enter(node)])
        examines = not trace.examine_variables()
        if 2 * sum(isinstance(step, Ask) for _, step in self.steps) > trace.visited:
            raise Unplanned
        if sum(len(template.shape) + len(template.elements or ()) for template in set(trace.tensors.values())) > _MOST_NUMBERS:
            raise Unplanned
        formulas, conditions = self.formulas, self.example.conditions
        planned = trace.to_plan()
        steps: list[tuple[int, Step]] = [
            (before, (name, tree)) for before, name, tree in formulas.numbered(*conditions.expressions(), *self.example.roots)
        ]
        return Plan(
            engine.model,
            planned,
            self.shapes,
            self.symbols,
            [step for _, step in sorted([*self.steps, *steps], key=lambda step: step[0])],
            conditions.trees(),
            trace.open_slots,
            {name: size for name, size in formulas.example.items() if isinstance(size, Dim) and name not in formulas.asked},
            partial(_hull, engine.scope, self.keys) if self.keys else None,
            examines=examines,
        )

    def _define(self, symbol: Dim, size: Dim, tree: Tree) -> None:
        """Let a symbol be computed by a tree of the formula of a size at each reshape."""
        self.example.roots.append(size.polynomial)
        self.formulas.asked.add(str(symbol))
        atom = self.formulas.table.only_atom(symbol.polynomial)
        assert atom is not None
        self.steps.append((atom.index, (str(symbol), tree)))

    def define_hull(self, symbol: Dim, example: Size, key: Hashable, sizes: tuple[Size, ...]) -> None:
        """Let a symbol be one of several sizes at each reshape, as the rule of a node with bodies makes it with this key."""
        atom = self.formulas.table.only_atom(symbol.polynomial)
        assert atom is not None
        self.formulas.bind(atom, example)
        self.formulas.asked.add(atom.name)
        formulas = [expression_of(size) for size in sizes]
        self.example.roots += formulas
        self.steps.append((atom.index, (atom.name, ["hull", len(self.keys), *map(self.formulas.tree, formulas)])))
        self.keys.append(key)

    def _enter(self, node: Node) -> list[int]:
        """Give a Parameter its symbols; the positions of the nodes that read it. Raises `Unplanned`."""
        op: Any = node.op
        shape: list[Any] = list(self.shapes[node.index])
        for name, own, axis, low, high in self.symbols:
            if own is node:
                shape[axis] = self.scope.symbol(name, low, high)
        fact = self.rules.facts.intern(op.element_type, tuple(shape))
        template = self.example.template(fact, self.trace.slots[node.first_slot], False)
        if template is None:
            raise Unplanned
        return self.trace.enter(node.first_slot, fact, template)

    # Rules.

    def planned(self, trace: Trace, node: Node, transfer: Transfer, facts: tuple[Fact, ...]) -> Outputs | None:
        """The outputs of a rule for facts with formulas, checked against those of the example; None if only the rule itself tells them."""
        planned = self._planned.get((transfer, facts), _UNASKED)
        if planned is not _UNASKED:
            return planned
        del self.questions[:]
        own = self.transfer(transfer)
        outcome = self.rules.apply(node, own, facts)
        known = self._engine_rules.apply(node, transfer, facts_of(node, trace.base.slots))

        def view(index: int) -> Fact | None:
            return self.views.output(node, own, facts, outcome.outputs[index], index, known.outputs[index].openvino_view)

        followed = frozenset() if _stays_unknown(transfer.op, facts) else transfer.wanted
        planned = self._planned[transfer, facts] = self.checked(transfer, outcome, known, self.questions, view, followed)
        return planned

    def checked(
        self,
        transfer: Transfer,
        outcome: Outcome,
        known: Outcome,
        questions: list[Question],
        view_of: Callable[[int], Fact | None] = lambda _: None,
        followed: frozenset[int] = frozenset(),
    ) -> Outputs | None:
        """The outputs of an outcome with formulas, which has asked these questions; None if they are not those of the example.

        `view_of` gives OpenVINO's view of an output. Other sizes may let a rule tell the elements of the outputs that are `followed`.
        """
        listed = transfer.listed
        if len(outcome.outputs) != listed and transfer.op.TYPE != "Result":
            return None
        requirements = self.example.requirements(outcome.requirements, known.requirements)
        # Of two sizes that are merged a rule keeps the range that both have, so their ranges must move together.
        are_tied = requirements is not None and not any(map(self.example.moves, requirements))
        outputs: list[Fact] = []
        templates: list[Template | None] = []
        for index, (fact, example) in enumerate(zip(outcome.outputs[:listed], known.outputs[:listed], strict=True)):
            view = None
            if example.openvino_view is not example:
                view = view_of(index)
                if view is None:
                    return None
            if view is not None or fact.openvino_view is not fact:
                fact = self.rules.facts.intern(fact.element_type, fact.shape, fact.elements, fact.is_poisoned, view)
            template = self.example.template(fact, example, index in followed)
            if template is None or (not are_tied and template.is_opaque(self.formulas)):
                return None
            outputs.append(fact)
            templates.append(template if template.varies else None)
        if not self.example.demand(questions):
            return None
        varies = requirements is None or not _are_alike(outcome.findings, known.findings)
        return Outputs(tuple(outputs), templates, requirements or [], varies)

    def transfer(self, transfer: Transfer) -> Transfer:
        """A transfer function of the same operation with a memo of its own."""
        twin = self._transfers.get(transfer)
        if twin is None:
            twin = self._transfers[transfer] = Transfer(transfer.op, transfer.listed, transfer.wanted)
        return twin


def _hull(scope: Scope, keys: list[Hashable], number: int, *sizes: Size) -> Size:
    """A size of the engine's that is one of several."""
    return scope.hull(keys[number], *sizes)


def _symbols(engine: Engine, shapes: dict[int, Numbers], varying: list[tuple[int, int]]) -> list[Symbol]:
    """The symbols for the axes that change.

    Ranges have ends because some rules know their formula for sizes up to a limit only. Two sizes that broadcast are equal if both are
    above 1. So where the engine does not know all sizes, a plan is for sizes above 1, and an axis of size 1 stays. An axis of size 2
    stays, too: the example must lie inside of the ranges, so that it shows which bounds move with them.
    """
    slots = [fact for graph in engine.graphs() for fact in graph.slots]
    least = 2 if any(isinstance(size, Dim) for fact in slots for size in fact.shape or ()) else 1
    found: list[Symbol] = []
    for index, axis in varying:
        size = shapes[index][axis]
        if size > least or least == 1:
            found.append(Symbol(f"s{len(found)}", engine.model.nodes[index], axis, least, max(HIGH, 1 << size.bit_length() + 1)))
    return found


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
