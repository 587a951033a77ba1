"""What the passes of a plan share: symbols, formulas, the example, and the rules that run with formulas."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Final

from irshape.inference.apply import Rules
from irshape.inference.facts import Fact, FactTable
from irshape.inference.plan.asking import Asking
from irshape.inference.plan.example import Example
from irshape.inference.plan.formulas import Formulas, Tree
from irshape.inference.plan.opaque import Opaque, PlanScope, ViewScope
from irshape.inference.plan.parts import Outputs, Step, Template
from irshape.inference.plan.views import Views
from irshape.inference.transfer import Outcome, Transfer
from irshape.model.model import Node
from irshape.ops.op import Op
from irshape.report.finding import Finding
from irshape.shape.dim import Dim, Question, Size, expression_of

if TYPE_CHECKING:
    from irshape.inference.engine import Engine

_UNASKED: Final = Outputs((), [], [], False)


class Making:
    """What the passes of a plan share: symbols, formulas, the example, the rules that are asked.

    `steps` are these rules and the definitions of symbols, each with the number of atoms that its inputs are made of. `keys` are those of
    the sizes that are one of several.
    """

    def __init__(self, engine: Engine, symbols: Mapping[str, int]) -> None:
        self.work = engine.scope.work
        self.scope = PlanScope(engine.scope.limits, self.work)
        self.questions: list[Question] = []
        self.scope.questions = self.questions
        self.rules = Rules(FactTable(is_static=True), self.scope, states_types=engine.rules.states_types)
        self.rules.is_reshaped = True
        self.formulas = Formulas(self.scope.polynomials, dict(symbols))
        self.example = Example(self.formulas)
        self.opaque = Opaque(self.scope, ViewScope(self.scope), self.rules.facts, self.formulas)
        self.views = Views(self.example, self.opaque, self.rules, engine.scope.intervals, self._define)
        self.asking = Asking(self.example, self.opaque)
        self.steps: list[tuple[int, Step]] = []
        self.keys: list[Hashable] = []
        self._engine_rules = engine.rules
        self._planned: dict[tuple[object, ...], Outputs | None] = {}
        self._transfers: dict[Transfer, Transfer] = {}

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
        formulas = self.formulas.hulls[symbol.polynomial] = [expression_of(size) for size in sizes]
        self.example.roots += formulas
        self.steps.append((atom.index, (atom.name, ["hull", len(self.keys), *map(self.formulas.tree, formulas)])))
        self.keys.append(key)

    # Rules.

    def planned(self, node: Node, transfer: Transfer, facts: tuple[Fact, ...], example: tuple[Fact, ...]) -> Outputs | None:
        """The outputs of a rule for facts with formulas, checked against those of the `example`; None if only the rule tells them."""
        planned = self._planned.get((transfer, facts), _UNASKED)
        if planned is not _UNASKED:
            return planned
        del self.questions[:]
        own = self.transfer(transfer)
        outcome = self.rules.apply(node, own, facts)
        known = self._engine_rules.apply(node, transfer, example)

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
