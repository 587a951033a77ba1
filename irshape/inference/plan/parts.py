"""The parts of a plan: symbols, templates of facts, rules that are asked, and what is known of each graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from irshape.inference.facts import Fact
from irshape.inference.plan.formulas import Formulas, Tree
from irshape.inference.run import NodeReport, Run
from irshape.model.model import Node
from irshape.shape.dim import Dim, Size
from irshape.shape.element_type import ElementType
from irshape.shape.guard import Requirement
from irshape.shape.polynomial import Polynomial
from irshape.shape.range import Bound


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
        """The formulas in a template of formulas."""
        own = [one for one in (*self.shape, *(self.elements or ())) if isinstance(one, Polynomial)]
        return own if self.view is None else own + self.view.formulas

    @property
    def trees(self) -> list[Tree]:
        """The trees in a template of trees, and the names of trees."""
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
        """The template as JSON."""
        elements = None if self.elements is None else list(self.elements)
        return {"element_type": self.element_type.name, "shape": list(self.shape), "elements": elements}


class Asked(NamedTuple):
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
    symbols: list[Asked]


class Guarded(NamedTuple):
    """The requirements of a node that depend on sizes which the engine does not know, each with the trees of its two sides."""

    position: int
    node: Node
    requirements: list[tuple[Requirement, Tree, Tree]]


Step: TypeAlias = tuple[str, Tree] | Ask
"""The definition of a formula, or a rule that is asked."""


class Outputs(NamedTuple):
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
        """The graph itself and all bodies."""
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
        """The reports with these sizes for the two sides of each requirement."""
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
