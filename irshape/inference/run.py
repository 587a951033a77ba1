"""What a pass over a graph leaves: a fact for every tensor, what was found in the nodes, and what they demand of sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from irshape.inference.facts import POISONED, Fact
from irshape.model.model import Node
from irshape.report.diagnostic import Diagnostics
from irshape.shape.guard import Requirement

if TYPE_CHECKING:
    from irshape.inference.apply import Outcome


class Guard:
    """A requirement that depends on the sizes of the inputs, the first node that makes it, and how many `more` do."""

    __slots__ = ("more", "node", "requirement")

    def __init__(self, node: Node, requirement: Requirement, more: int = 0) -> None:
        self.node = node
        self.requirement = requirement
        self.more = more

    @property
    def line(self) -> int:
        """The line of the node's layer in the file."""
        return self.node.model.document.position(self.node.layer.offset)[0]

    @property
    def path(self) -> str:
        """The bodies around the node, outermost first; empty in the net itself."""
        return self.node.model.path

    def to_dict(self) -> dict[str, Any]:
        """The form of `schemas/report.schema.json`."""
        return {
            "condition": str(self.requirement),
            "message": self.requirement.message,
            "layer": self.node.key,
            "name": self.node.name,
            "path": self.path or None,
            "line": self.line,
        }

    def __repr__(self) -> str:
        return f"<{self.requirement} for {self.node.name!r}>"


class NodeReport:
    """What was found in a node, if anything was, and what it demands of sizes."""

    __slots__ = ("diagnostics", "node", "requirements")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.diagnostics: Diagnostics | None = None
        self.requirements: list[Requirement] = []


class Run:
    """What one pass over a graph gave: a fact for every tensor, and what was said of the nodes.

    `taken` is the application that each turn took, where a whole pass gave them; `unlisted` are the facts of outputs that a layer
    does not list, by node; `inner` the runs of bodies, by node and name; `reports` is what was said in each turn. The facts of a
    run over `groups` are put in their places when they are asked for: `known` are those of the groups' tensors.
    """

    __slots__ = ("_slots", "inner", "place", "reports", "taken", "unlisted")

    def __init__(self, slots: list[Fact] | None) -> None:
        self._slots = slots
        # What puts the facts in their places, where they are known of several tensors at once.
        self.place: Callable[[], list[Fact]] | None = None
        self.taken: list[Outcome | None] = []
        self.unlisted: dict[int, tuple[Fact, ...]] = {}
        self.inner: dict[tuple[int, str], Run] = {}
        self.reports: dict[int, NodeReport] = {}

    @classmethod
    def of(cls, slot_count: int) -> Run:
        """A run that knows nothing yet."""
        # An input that nothing feeds has the source -1 or -2: the last two stand for it.
        return cls([POISONED] * (slot_count + 2))

    def copy(self) -> Run:
        """Another run that begins with what this one gave."""
        run = Run(self.slots.copy())
        run.unlisted = self.unlisted.copy()
        run.inner = self.inner.copy()
        run.reports = self.reports.copy()
        return run

    @property
    def slots(self) -> list[Fact]:
        """The facts of all tensors."""
        if self._slots is None:
            assert self.place is not None
            self._slots = self.place()
        return self._slots

    def is_in(self, slots: list[Fact]) -> bool:
        """Whether these are the facts of this run, and no copy."""
        return self._slots is slots

    def value(self, result: Node) -> Fact:
        """What a Result takes."""
        return self.slots[result.sources[0]] if result.sources else POISONED

    @property
    def diagnostics(self) -> Diagnostics:
        """What was found, in the order of the turns."""
        found = Diagnostics()
        for position in sorted(self.reports):
            own = self.reports[position].diagnostics
            if own is not None:
                found += own
        return found


def guards_of(runs: Iterable[Run]) -> dict[Requirement, Guard]:
    """What must hold by these runs, each requirement with the first node that makes it."""
    guards: dict[Requirement, Guard] = {}
    for run in runs:
        for position in sorted(run.reports):
            report = run.reports[position]
            for requirement in report.requirements:
                known = guards.get(requirement)
                if known is None:
                    guards[requirement] = Guard(report.node, requirement)
                elif known.node is not report.node:
                    known.more += 1
    return guards
