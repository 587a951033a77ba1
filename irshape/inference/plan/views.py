"""OpenVINO's view of the tensors of a plan, where this is not irshape's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from irshape.inference.apply import Rules
from irshape.inference.facts import Fact
from irshape.inference.plan.example import Example, is_one_range
from irshape.inference.plan.formulas import Tree
from irshape.inference.plan.opaque import Opaque
from irshape.inference.transfer import Outcome, Transfer
from irshape.model.model import Node
from irshape.shape.dim import Dim, IntervalScope, Question


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
