"""What the passes of a plan share: symbols, formulas, the example, and the rules that run with formulas."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from math import inf
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from irshape.inference.apply import Rules
from irshape.inference.facts import Fact, FactTable
from irshape.inference.plan.conditions import Example, is_one_range
from irshape.inference.plan.formulas import Formulas, Tree
from irshape.inference.plan.parts import Opaque, PlanScope, RuleOutputs, RuleSymbol, Step, Template, ViewScope
from irshape.inference.transfer import Outcome, Transfer
from irshape.model.model import Node
from irshape.ops.op import Op
from irshape.report.finding import Finding
from irshape.shape.dim import Dim, IntervalScope, Question, Scope, Size, dim_of, expression_of
from irshape.shape.polynomial import Polynomial

if TYPE_CHECKING:
    from irshape.inference.engine import Engine


# Numbers up to here get a symbol.
HIGH: Final = 1 << 16
# So many elements of a tensor that only its rule tells get a symbol.
_MOST_SYMBOLS: Final = 64


class OpenTensor(NamedTuple):
    """A tensor that only its rule tells: the template of the rule's answer, and the fact with formulas and its template."""

    answer: Template
    fact: Fact
    template: Template


class Asking:
    """Symbols for the outputs of rules that are asked.

    A number has a symbol, if it is positive, and so has a size that the engine does not know. Where the pass with formulas knows a
    formula for it, the tensor has this formula, and it is a condition of the plan that the two are equal.
    """

    def __init__(self, example: Example, opaque: Opaque) -> None:
        self.example = example
        self.opaque = opaque
        self._count = 0
        self._formulas: dict[Polynomial, Dim] = {}

    def opened(self, example: Fact, like: Fact | None, symbols: list[RuleSymbol]) -> OpenTensor | None:
        """A tensor with symbols, which are added, for the numbers that a pass with formulas, which gives `like`, does not know.

        None if symbols cannot stand for all its numbers.
        """
        count = len(symbols)
        fact = self._fact(example, like, symbols)
        answer = None if fact is None else self.example.template(fact, example, False)
        if fact is None or answer is None:
            del symbols[count:]
            return None
        for symbol in answer.formulas:
            if symbol in self._formulas:
                self.example.conditions.equal(symbol, self._formulas[symbol].polynomial)
        known = self._known(fact)
        return OpenTensor(answer, known, self.example.template(known, example, False) or answer)

    def _known(self, fact: Fact) -> Fact:
        shape, elements = (terms and tuple(map(self._formula, terms)) for terms in (fact.shape, fact.elements))
        view = None if fact.openvino_view is fact else self._known(fact.openvino_view)
        return self.opaque.table.intern(fact.element_type, shape, elements, openvino_view=view)

    def _formula(self, one: Any) -> Any:
        return self._formulas.get(one.polynomial, one) if isinstance(one, Dim) else one

    def _fact(self, example: Fact, like: Fact | None, symbols: list[RuleSymbol]) -> Fact | None:
        if example.shape is None or example.is_poisoned or type(example.elements) not in (tuple, NoneType):
            return None
        count, view = len(symbols), example.openvino_view
        shape = self._terms(example.shape, None if like is None else like.shape, symbols)
        elements = None
        # Real elements that are whole numbers in the example are not so for other sizes.
        is_short = len(example.elements or ()) <= _MOST_SYMBOLS and not example.element_type.is_real
        if example.elements is not None and len(symbols) == count and is_short:
            elements = self._terms(example.elements, None if like is None else like.elements, symbols)
        if shape is None or (elements is None) != (example.elements is None):
            return None
        if view is example:
            return self.opaque.table.intern(example.element_type, shape, elements)
        sizes = self._seen(view.shape, shape, example.shape, symbols)
        held = self._seen(view.elements, elements, example.elements, symbols)
        if sizes is None or (held is None) != (view.elements is None):
            return None
        theirs = self.opaque.table.intern(view.element_type, sizes, held)
        return self.opaque.table.intern(example.element_type, shape, elements, openvino_view=theirs)

    def _seen(
        self, view: tuple[Any, ...] | None, ours: tuple[Any, ...] | None, example: tuple[Any, ...] | None, symbols: list[RuleSymbol]
    ) -> tuple[Any, ...] | None:
        """OpenVINO's view of numbers. A number that both views know is one number."""
        if type(view) is not tuple:
            return None
        known = [None] * len(view)
        if ours is not None and example is not None and len(ours) == len(view):
            known = [one if our == their else None for one, our, their in zip(ours, example, view, strict=True)]
        found: list[Any] = []
        for number, one in zip(view, known, strict=True):
            if isinstance(one, Dim):
                found.append(dim_of(self.opaque.views, one.polynomial))
                continue
            term = number if one is not None else self._term(self.opaque.views, number, None, symbols)
            if term is None:
                return None
            found.append(term)
        return tuple(found)

    def _terms(self, numbers: Sequence[Any], like: Sequence[Any] | None, symbols: list[RuleSymbol]) -> tuple[Any, ...] | None:
        """Numbers, and symbols for those that may vary; None if one is neither positive nor a size."""
        known = like if like is not None and len(like) == len(numbers) else [None] * len(numbers)
        found = [self._term(self.opaque.scope, number, one, symbols) for number, one in zip(numbers, known, strict=True)]
        return None if None in found else tuple(found)

    def _term(self, scope: Scope, number: Any, known: Any, symbols: list[RuleSymbol]) -> Any:
        if repr(known) == repr(number) and not isinstance(number, Dim):
            return number
        if isinstance(number, Dim):
            # Other sizes of the inputs give another range; a pass with formulas tells one for all of them.
            low, high = known.range[:2] if isinstance(known, Dim) else (min(number.range.low, 1), inf)
            made = scope.unknown(("asked", self._count), low, high)
            asked = RuleSymbol(str(made), low, high, False)
        elif number == int(number) and 0 < number < HIGH:
            number, asked = int(number), RuleSymbol(f"x{self._count}", 1, HIGH, True)
            made = scope.symbol(asked.name, 1, HIGH)
        else:
            return None
        assert isinstance(made, Dim)
        self._count += 1
        symbols.append(asked)
        self.example.formulas.asked.add(asked.name)
        self.example.formulas.example[asked.name] = number
        if isinstance(known, Dim) and isinstance(number, Dim | int) and self.example.stands_for(known, number, binds=False):
            self._formulas[made.polynomial] = known
        return made


class Views:
    """The second road of a rule in a plan.

    OpenVINO knows intervals. One that is the same for all sizes of the inputs stays what it is; any other is a formula of intervals,
    and computing this formula gives an interval. `define` gives a symbol the value of a tree at each reshape.
    """

    def __init__(
        self, example: Example, opaque: Opaque, rules: Rules, intervals: IntervalScope, define: Callable[[Dim, Dim, Tree], None]
    ) -> None:
        self.example = example
        self.opaque = opaque
        self.rules = rules
        self._define = define
        self._intervals = intervals
        self._rules = Rules(rules.facts, opaque.views, states_types=rules.states_types)
        self._rules.is_reshaped = True
        self._views: dict[Fact, Fact] = {}
        self._transfers: dict[Transfer, Transfer] = {}
        self._outcomes: dict[tuple[object, ...], tuple[Outcome, list[Question]]] = {}

    def output(self, node: Node, transfer: Transfer, facts: tuple[Fact, ...], ours: Fact, index: int, example: Fact) -> Fact | None:
        """OpenVINO's view of the output of a rule that is `ours` for irshape; None if it is not that of the example.

        Adds the questions of the rule where the view is formulas of intervals.
        """
        if all(fact.openvino_view is fact for fact in facts):
            return self._settled(ours, ours.openvino_view, example)
        views = tuple(map(self._view, facts))
        theirs = _output(self.rules.seen_by_openvino(node, transfer, views)[1], index)
        view = theirs and self._settled(ours, theirs, example)
        if view is None and theirs is not None:
            theirs = _output(self._formulas(node, transfer, views), index)
            view = theirs and self._settled(ours, theirs, example)
        return view

    def _formulas(self, node: Node, transfer: Transfer, views: tuple[Fact, ...]) -> Outcome:
        """The outcome of a rule for views with formulas of intervals."""
        own = self._transfers.setdefault(transfer, Transfer(transfer.op, transfer.listed, transfer.wanted))
        questions = self.opaque.views.questions
        assert questions is not None
        known = self._outcomes.get((transfer, views))
        if known is not None:
            questions += known[1]
            return known[0]
        before = len(questions)
        outcome = self._rules.apply(node, own, views)
        self._outcomes[transfer, views] = outcome, questions[before:]
        return outcome

    def _view(self, fact: Fact) -> Fact:
        """OpenVINO's view of a fact. Where this is irshape's, a size that the engine does not know is an interval, and no formula."""
        if fact.openvino_view is not fact:
            return fact.openvino_view
        view = self._views.get(fact)
        if view is None:
            shape, elements = (terms and tuple(map(self._interval, terms)) for terms in (fact.shape, fact.elements))
            view = self.rules.facts.intern(fact.element_type, shape, elements, fact.is_poisoned, None, fact.is_literal, fact.ends)
            self._views[fact] = view
        return view

    def _interval(self, one: Any) -> Any:
        formulas = self.example.formulas
        value = formulas.value(one.polynomial) if isinstance(one, Dim) else None
        if not isinstance(value, Dim):
            return one
        theirs = self._intervals.interval(None, value)
        if not isinstance(theirs, Dim) or not formulas.varies(one):
            return self.opaque.new(self.opaque.views, theirs) if isinstance(theirs, Dim) else theirs
        made = self.opaque.new(self.opaque.views, theirs, one.range)
        self._define(made, one, ["interval", formulas.tree(one.polynomial)])
        return made

    def _settled(self, ours: Fact, theirs: Fact, example: Fact) -> Fact | None:
        """OpenVINO's view with the numbers of irshape's; None if it is not that of the example."""
        parts: list[tuple[Any, ...] | None] = []
        for known, own, their in ((getattr(fact, name) for fact in (example, ours, theirs)) for name in ("shape", "elements")):
            if type(known) is not tuple or type(their) is not tuple or len(known) != len(their):
                if known is not their:
                    return None
                parts.append(None)
                continue
            numbers = own if own is not None and len(own) == len(known) else known
            found = [self._like(*three) for three in zip(known, numbers, their, strict=True)]
            if None in found:
                return None
            parts.append(tuple(found))
        return self.rules.facts.intern(example.element_type, parts[0], parts[1])

    def _like(self, known: Any, ours: Any, theirs: Any) -> Any:
        """The size of OpenVINO's or the number of irshape's that is this one of the example; None if neither is."""
        for one in (theirs, ours):
            if not isinstance(one, Dim):
                if repr(one) == repr(known):
                    return one
            elif isinstance(one.scope, IntervalScope):
                if isinstance(known, Dim) and is_one_range(one, known):
                    return self.opaque.new(self.opaque.views, known)
            elif (one is theirs or isinstance(known, int)) and self.example.stands_for(one, known):
                return one
        return None


def _output(outcome: Outcome, index: int) -> Fact | None:
    """OpenVINO's view of one output; None if the rule fails."""
    if len(outcome.outputs) <= index or any(finding.is_error for finding in outcome.findings):
        return None
    return outcome.outputs[index].openvino_view


_UNASKED: Final = RuleOutputs((), [], [], False)


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
        self._planned: dict[tuple[object, ...], RuleOutputs | None] = {}
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

    def planned(self, node: Node, transfer: Transfer, facts: tuple[Fact, ...], example: tuple[Fact, ...]) -> RuleOutputs | None:
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
    ) -> RuleOutputs | None:
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
        return RuleOutputs(tuple(outputs), templates, requirements or [], varies)

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
    return [(one.code, one.message, one.port, one.attribute, one.hint) for one in ours] == [
        (one.code, one.message, one.port, one.attribute, one.hint) for one in theirs
    ]
