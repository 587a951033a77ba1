"""The parts of a plan: symbols, templates of facts, rules that are asked, and what is known of each graph."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from math import inf
from typing import Any, NamedTuple, TypeAlias

from irshape.inference.facts import Fact, FactTable
from irshape.inference.plan.formulas import Formulas, Tree
from irshape.inference.run import NodeReport, Run
from irshape.model.model import Node
from irshape.shape.dim import Dim, Scope, Size, dim_of, narrow
from irshape.shape.element_type import ElementType
from irshape.shape.fold import translated
from irshape.shape.guard import Requirement
from irshape.shape.limits import Limits, Work
from irshape.shape.polynomial import Atom, Expression, Polynomial, PolynomialTable
from irshape.shape.range import Bound, Range
from irshape.shape.value import Real


class Symbol(NamedTuple):
    """An axis of an input that changes; the plan holds for sizes from `low` to `high`."""

    name: str
    node: Node
    axis: int
    low: int
    high: int


class Template(NamedTuple):
    """The fact of a tensor with formulas in it: numbers, and formulas, their names or their trees.

    `view` is OpenVINO's view if it differs.
    """

    element_type: ElementType
    shape: tuple[Any, ...]
    elements: tuple[Any, ...] | None
    view: Template | None

    @property
    def formulas(self) -> list[Polynomial]:
        own = [one for one in (*self.shape, *(self.elements or ())) if isinstance(one, Polynomial)]
        return own if self.view is None else own + self.view.formulas

    @property
    def trees(self) -> list[Tree]:
        own = [one for one in (*self.shape, *(self.elements or ())) if isinstance(one, str | list)]
        return own if self.view is None else own + self.view.trees

    @property
    def varies(self) -> bool:
        """Whether the fact may change with the sizes that change."""
        return bool(self.formulas)

    def is_opaque(self, formulas: Formulas) -> bool:
        """Whether the fact holds a size that the engine does not know."""
        return any(isinstance(formulas.value(one), Dim) for one in self.formulas)

    def mapped(self, text: Callable[[Polynomial], Any]) -> Template:
        """The template with another form of its formulas."""
        shape, elements = (
            [text(one) if isinstance(one, Polynomial) else one for one in terms or ()] for terms in (self.shape, self.elements)
        )
        return Template(
            self.element_type, tuple(shape), None if self.elements is None else tuple(elements), self.view and self.view.mapped(text)
        )

    def to_dict(self) -> dict[str, Any]:
        elements = None if self.elements is None else list(self.elements)
        return {"element_type": self.element_type.name, "shape": list(self.shape), "elements": elements}


class RuleSymbol(NamedTuple):
    """A symbol that stands for a number which only a rule tells, or for a size that the engine does not know if it `is_number` not."""

    name: str
    low: Bound
    high: Bound
    is_number: bool

    def can_be(self, size: Size) -> bool:
        """Whether the symbol can stand for this size. The limits of numbers are conditions."""
        if not isinstance(size, Dim):
            return self.is_number
        return not self.is_number and self.low <= size.range.low and size.range.high <= self.high


class Ask(NamedTuple):
    """A node whose rule is asked at each reshape, because no formula tells its outputs or its findings.

    `inputs` are the facts of its inputs: a fact that stays, a template of trees, or the tensor of an earlier ask. `outputs` are the
    templates of its outputs, which name the `symbols` that stand for their numbers; None where the fact is taken as it is. There are
    no outputs if formulas tell them.
    """

    position: int
    node: Node
    inputs: list[Fact | Template | int]
    outputs: list[Template | None]
    symbols: list[RuleSymbol]


class Guarded(NamedTuple):
    """The requirements of a node that depend on sizes which the engine does not know, each with the trees of its two sides."""

    position: int
    node: Node
    requirements: list[tuple[Requirement, Tree, Tree]]


Step: TypeAlias = tuple[str, Tree] | Ask
"""The definition of a formula, or a rule that is asked."""


class RuleOutputs(NamedTuple):
    """The outputs of a rule with formulas: a template for each, None where it does not change.

    `requirements` are those of the rule that depend on sizes which the engine does not know. `has_varying_findings` says that the findings
    may differ for other sizes.
    """

    outputs: tuple[Fact, ...]
    templates: list[Template | None]
    requirements: list[Requirement]
    has_varying_findings: bool


class Planned:
    """What a plan knows of one graph.

    `base` is the run of the example, `tensors` are the templates of the tensors that the symbols change, `guarded` the nodes whose
    requirements they change, and `bodies` tells the same of the bodies, by node and name.
    """

    def __init__(self, base: Run, tensors: dict[int, Template], guarded: list[Guarded], bodies: dict[tuple[int, str], Planned]) -> None:
        self.base = base
        self.tensors = tensors
        self.guarded = guarded
        self.bodies = bodies
        self._kinds: list[tuple[int, int]] = []

    def graphs(self) -> Iterator[Planned]:
        yield self
        for body in self.bodies.values():
            yield from body.graphs()

    def place(self, made: Callable[[], list[Fact]], numbers: Mapping[object, int], answers: Mapping[int, Fact]) -> list[Fact]:
        """The facts of all tensors.

        `numbers` are the numbers of the templates, by key, `made` their facts, and `answers` the facts that rules gave.
        """
        if not self._kinds:
            self._kinds = [(slot, numbers[key_of(template)]) for slot, template in self.tensors.items()]
        slots, facts = self.base.slots.copy(), made()
        for slot, kind in self._kinds:
            slots[slot] = facts[kind]
        for slot, fact in answers.items():
            slots[slot] = fact
        return slots

    def report(self, sides: Iterator[tuple[tuple[Size, Size], ...]], reports: dict[int, NodeReport]) -> dict[int, NodeReport]:
        reports = reports.copy()
        for (position, node, requirements), own in zip(self.guarded, sides, strict=False):
            before, report = reports[position], NodeReport(node)
            report.diagnostics = before.diagnostics
            for (one, _, _), (a, b) in zip(requirements, own, strict=True):
                report.requirements.append(type(one)(one.kind, a, b, one.template, one.code, one.names))
            reports[position] = report
        return reports


def key_of(template: Template) -> object:
    """A key that differs for different templates: repr differs for 0.0 and -0.0, which are equal."""
    return template.element_type, template.shape, repr(template.elements), template.view and key_of(template.view)


class PlanScope(Scope):
    """The scope of a plan: symbols with names stand for numbers, all others for sizes that the engine does not know.

    `hulls` are the symbols, by formula, that stand for one of several sizes: each with its key and these sizes.
    """

    def __init__(self, limits: Limits, work: Work | None = None, polynomials: PolynomialTable | None = None) -> None:
        super().__init__(limits, work, polynomials)
        self.hulls: dict[Polynomial, tuple[Hashable, tuple[Size, ...]]] = {}

    def hull(self, key: Hashable, *sizes: Size) -> Size:
        made = super().hull(key, *sizes)
        if isinstance(made, Dim) and self.polynomials.only_atom(made.polynomial) is not None and made not in sizes:
            self.hulls[made.polynomial] = key, sizes
        return made

    def unknown(
        self, key: Hashable, low: Bound = -inf, high: Bound = inf, modulus: int = 1, remainder: int = 0, *, is_unbacked: bool = False
    ) -> Size:
        return super().unknown(key, low, high, modulus, remainder, is_unbacked=True)


class ViewScope(PlanScope):
    """The scope of OpenVINO's view in a plan: formulas whose symbols stand for intervals, so that their values are intervals."""

    has_intervals_only = True

    def __init__(self, scope: PlanScope) -> None:
        super().__init__(scope.limits, scope.work, scope.polynomials)
        self._names = scope._names
        self.questions = scope.questions


class Opaque:
    """The symbols of a plan that stand for the sizes which an engine does not know: these stay what they are.

    `scope` has irshape's formulas of the plan, and `views` those of OpenVINO's view, in which each size of a tensor is a symbol of its
    own. `formulas` has the values of the symbols.
    """

    def __init__(self, scope: PlanScope, views: ViewScope, table: FactTable, formulas: Formulas) -> None:
        self.scope = scope
        self.views = views
        self.table = table
        self.formulas = formulas
        self._atoms: dict[int, Expression] = {}

    def fact(self, fact: Fact) -> Fact | None:
        """A fact of the engine's with symbols of the plan; None if it holds numbers that no formula tells."""
        view = fact.openvino_view
        ours = self._of(fact)
        if view is fact or ours is None:
            return ours
        theirs = self._of(view)
        if theirs is None:
            return None
        return self.table.intern(ours.element_type, ours.shape, ours.elements, False, theirs, ours.is_literal, ours.ends)

    def _of(self, fact: Fact) -> Fact | None:
        several = (*(fact.shape or ()), *(fact.elements or ()))
        if not any(isinstance(one, Dim | Real) for one in several):
            return fact
        if fact.is_poisoned or any(isinstance(one, Real) for one in several) or type(fact.elements) not in (tuple, type(None)):
            return None
        shape, elements = (terms and tuple(map(self._size, terms)) for terms in (fact.shape, fact.elements))
        return self.table.intern(fact.element_type, shape, elements)

    def _size(self, one: Any) -> Any:
        """A size or an element of the engine's with symbols of the plan."""
        if not isinstance(one, Dim):
            return one
        if one.scope.has_intervals_only:
            return self.new(self.views, one)

        def symbol(atom: Atom) -> Expression:
            return self.new(self.scope, dim_of(one.scope, atom)).polynomial

        size = dim_of(self.scope, translated(one.polynomial, self.scope.polynomials, self._atoms, symbol))
        return narrow(size, *one.range)

    def new(self, scope: Scope, size: Size, known: Range | None = None) -> Dim:
        """A symbol of the plan that stands for this size of the engine's; `known` is its range for all sizes of the inputs."""
        assert isinstance(size, Dim)
        made = scope.unknown(("opaque", len(self.formulas.example)), *(known or size.range))
        assert isinstance(made, Dim)
        atom = self.formulas.table.only_atom(made.polynomial)
        assert atom is not None
        self.formulas.bind(atom, size)
        return made
