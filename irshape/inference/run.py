"""The result of a pass over a graph: a fact for every tensor, and the diagnostics and requirements of the nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from irshape.inference.facts import POISONED, Fact
from irshape.inference.transfer import Outcome
from irshape.model.build import place
from irshape.model.model import Model, Node, reached
from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import ERROR, WARNING, Diagnostic, Diagnostics
from irshape.report.finding import Finding
from irshape.shape.compilation import mypyc_attr
from irshape.shape.guard import Premise, Requirement

# The facts of a body's Parameters, None where the Parameter's own declaration holds; empty for a body as it stands.
Given: TypeAlias = tuple[Fact | None, ...]
# A pass over a body that is asked for: the node and the name of the body, and the facts of its Parameters.
Wanted: TypeAlias = tuple[tuple[int, str], Given]


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Guard:
    """A `requirement` that depends on the sizes of the inputs, the first `node` that makes it, and how many `more` do.

    `branch` names the body that makes the requirement, if this body may not run: `then_body of If_3`. Such a requirement bounds no size.
    `branch` is empty for all other requirements.
    """

    __slots__ = ("_node", "branch", "more", "requirement")

    def __init__(self, node: Node, requirement: Requirement, more: int = 0, branch: str = "") -> None:
        self._node = node
        self.requirement = requirement
        self.more = more
        self.branch = branch

    @property
    def node(self) -> Any:
        """The first node that makes the requirement, an `irshape.Node`."""
        from irshape.model.public import public

        return public(self._node)

    @property
    def is_premise(self) -> bool:
        """Whether OpenVINO accepts sizes that break the requirement: only the formulas assume it."""
        return isinstance(self.requirement, Premise)

    def to_dict(self) -> dict[str, Any]:
        """The form of `schemas/report.schema.json`."""
        from irshape.inference.forms import GUARD

        return GUARD(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Guard) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash(str(self.requirement))

    def _content(self) -> tuple[object, ...]:
        return str(self.requirement), self.requirement.message, self.is_premise, self._node.key, self._node.name, self.more, self.branch

    def __repr__(self) -> str:
        where = f" in {self.branch}" if self.branch else ""
        return f"<{self.requirement} for {self._node.name!r}{where}>"


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class NodeReport:
    """The diagnostics and the requirements of one node; `diagnostics` is None where there are none."""

    __slots__ = ("diagnostics", "node", "requirements")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.diagnostics: Diagnostics | None = None
        self.requirements: list[Requirement] = []


def _has_failed(report: NodeReport) -> bool:
    """Whether a node has an error, and a Result of its body depends on it, as on the layers that hold the body in the bodies around it."""
    node: Node | None = report.node
    is_fault = any(CATALOGUE[found.code].severity == ERROR for found in report.diagnostics or ())
    while is_fault and node is not None and node.model.holder is not None:
        is_fault, node = node.is_live, node.model.holder
    return is_fault


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Run:
    """The result of one pass over a graph.

    `slots` are the facts of the tensors; `unlisted` are the facts of outputs that a layer lacks, by node; `inner` the runs
    of bodies, by node and name, and `optional` the bodies among them that need not run; `reports` the reports by position in the
    schedule. `is_as_read` says that the graph is a body as it stands, which no facts enter. `outcomes` are the outcomes by position, None
    where no pure rule gave the outcome; a run that a plan has made has none.

    `has_indices_within` says that no index which the model counts is beyond its axis, as the conditions of a plan tell; false if unknown.

    The facts of a run that a plan has made are formulas with numbers, and `place` makes them when `slots` is asked for; `report` gives the
    requirements with these numbers when `reports` is asked for.
    """

    __slots__ = (
        *("_has_errors", "_reports", "_slots", "has_indices_within", "inner", "is_as_read", "optional", "outcomes"),
        *("place", "report", "unlisted"),
    )

    def __init__(self, slots: list[Fact] | None) -> None:
        self._slots = slots
        self._has_errors: bool | None = None
        self.place: Callable[[], list[Fact]] | None = None
        self.outcomes: list[Outcome | None] = []
        self.unlisted: dict[int, tuple[Fact, ...]] = {}
        self.inner: dict[tuple[int, str], Run] = {}
        self.optional: frozenset[tuple[int, str]] = frozenset()
        self.is_as_read = False
        self.has_indices_within = False
        self._reports: dict[int, NodeReport] = {}
        self.report: Callable[[dict[int, NodeReport]], dict[int, NodeReport]] | None = None

    @classmethod
    def of(cls, slot_count: int, node_count: int) -> Run:
        """A run over so many nodes in which no fact is known yet."""
        # The source of an input without an edge is -1 or -2: the last two slots stand for it.
        run = cls([POISONED] * (slot_count + 2))
        run.outcomes = [None] * node_count
        return run

    def like(self) -> Run:
        """A run with the same reports and bodies, for a plan to place its facts."""
        run = Run(None)
        run._reports, run.unlisted, run.inner, run.optional = self.reports, self.unlisted, self.inner, self.optional
        run.is_as_read = self.is_as_read
        return run

    def copy(self) -> Run:
        run = Run(self.slots.copy())
        run.outcomes = self.outcomes.copy()
        run.unlisted = self.unlisted.copy()
        run.inner = self.inner.copy()
        run.optional = self.optional
        run.reports = self.reports.copy()
        return run

    def __getstate__(self) -> tuple[object, ...]:
        return self.slots, self.unlisted, self.inner, self.optional, self.is_as_read, self.reports

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._slots, self.unlisted, self.inner, self.optional, self.is_as_read, self._reports = state
        self.place, self.report, self.outcomes, self._has_errors, self.has_indices_within = None, None, [], None, False

    @property
    def slots(self) -> list[Fact]:
        if self._slots is None:
            assert self.place is not None
            self._slots = self.place()
        return self._slots

    @property
    def reports(self) -> dict[int, NodeReport]:
        """The reports by position in the schedule."""
        if self.report is not None:
            self._reports, self.report = self.report(self._reports), None
        return self._reports

    @reports.setter
    def reports(self, reports: dict[int, NodeReport]) -> None:
        self._reports = reports

    @property
    def has_errors(self) -> bool:
        """Whether the pass over a body, or one in it, has found an error, whether or not a Result depends on the layer."""
        if self._has_errors is None:
            runs = reached([self], lambda one: one.inner.values() if one._has_errors is None else ())
            self._has_errors = any(one._has_errors or any(map(_has_failed, one.reports.values())) for one in runs)
        return self._has_errors

    def value(self, result: Node) -> Fact:
        """The fact of the tensor that a Result takes."""
        return self.slots[result.sources[0]] if result.sources else POISONED

    def report_of(self, position: int, node: Node) -> NodeReport:
        """The report at a position, made where there is none yet."""
        report = self.reports.get(position)
        if report is None:
            report = self.reports[position] = NodeReport(node)
        return report

    @property
    def diagnostics(self) -> Diagnostics:
        """The diagnostics in the order of the schedule."""
        found = Diagnostics()
        for position in sorted(self._reports):  # a plan changes requirements only
            own = self._reports[position].diagnostics
            if own is not None:
                found += own
        return found


def guards_of(runs: Iterable[tuple[Run, str]]) -> list[Guard]:
    """The guards of these runs, each with its branch and the first node that makes it; what always holds is no guard of a branch."""
    guards: dict[tuple[Requirement, str], Guard] = {}
    for run, branch in sorted(runs, key=lambda one: bool(one[1])):
        for position in sorted(run.reports):
            report = run.reports[position]
            for requirement in report.requirements:
                known = guards.get((requirement, "")) or guards.get((requirement, branch))
                if known is None:
                    guards[requirement, branch] = Guard(report.node, requirement, branch=branch)
                elif known._node is not report.node:
                    known.more += 1
    return list(guards.values())


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Voice:
    """Reports the outcomes of the nodes of one graph into a run, each at the position of its node in the schedule."""

    __slots__ = ("model",)

    def __init__(self, model: Model) -> None:
        self.model = model

    def speak(self, run: Run, position: int, node: Node, outcome: Outcome) -> None:
        for finding in outcome.findings:
            self.report(run, position, node, finding)
        if outcome.requirements and node.is_live and self.model.is_live:
            run.report_of(position, node).requirements += outcome.requirements

    def report(self, run: Run, position: int, node: Node, finding: Finding) -> None:
        """Report a finding as a diagnostic. An error in a layer that no Result depends on is a warning: OpenVINO drops the layer."""
        severity = CATALOGUE[finding.code].severity
        if severity == ERROR and not (node.is_live and self.model.is_live) and finding.code != "I101":
            severity = WARNING
        document, layer = self.model.document, node.layer
        own = run.report_of(position, node)
        found = own.diagnostics = Diagnostics(document.limits.faults) if own.diagnostics is None else own.diagnostics
        if not found.has_room(finding.code, severity):
            return
        offset, port = layer.offset, None
        if finding.offset is not None:
            offset = finding.offset
        elif finding.attribute is not None and layer.data_offset >= 0:
            offset = document.attribute_offset(layer.data_offset, finding.attribute)
        elif finding.port is not None:
            ports = (*layer.inputs, *layer.outputs)
            if finding.port < len(ports):
                offset, port = ports[finding.port].offset, str(ports[finding.port].id)
        where = place(document, layer, offset, port, self.model.path)
        found.append(Diagnostic(finding.code, finding.message, where, severity, finding.hint))
