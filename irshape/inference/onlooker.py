"""OpenVINO's verdict where irshape knows more of sizes than OpenVINO does.

OpenVINO knows the bounds of a size but no formula: that `6*B // (3*B)` is 2 it does not see, nor what that contradicts. So where a
pass finds errors among sizes that are not known, another one is made that knows of each size its bounds. What only the first
refutes is never valid, but not refused.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from irshape.inference.apply import Application, never_valid
from irshape.inference.engine import Engine, Given, Kind, Run, Step
from irshape.inference.facts import Fact
from irshape.model.model import Node
from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import ERROR
from irshape.shape.dim import Dim, bounds
from irshape.shape.value import Real


class Onlooker(Engine):
    """The inference of a model that knows of every size its bounds and nothing else; `refused` are the nodes with errors."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.refused: set[Node] = set()
        self._plain: set[Node] = set()
        for step in self._steps:
            if step.kind is not None and step.kind.is_plain:
                # It takes its outputs from its rule, but not as they are.
                self._plain.add(step.node)
                step.kind = _special(step.kind)

    def excuse(self, step: Step, application: Application) -> Application:
        """What a rule gave, its errors being warnings if OpenVINO makes none here."""
        outputs = tuple(self.slots[step.first_slot : step.first_slot + step.listed])
        has_errors = any(finding.is_error for finding in application.findings)
        if not has_errors or step.node in self.refused or any(fact.is_poisoned for fact in outputs):
            return application
        return Application(outputs, never_valid(application.findings))

    def _special(self, step: Step) -> Generator[tuple[Engine, Given], Run, tuple[Fact, ...]]:
        if step.kind is not None and step.node in self._plain:
            return self._bounded(step, self._remembered(step, step.kind).outputs)
        return self._bounded(step, (yield from super()._special(step)))

    def _bounded(self, step: Step, outputs: tuple[Fact, ...]) -> tuple[Fact, ...]:
        """The facts as OpenVINO has them, every size a stranger to all others."""
        facts = []
        is_sized = step.op is None or not step.op.takes_numbers_only or all(map(_is_number, (self.slots[one] for one in step.sources)))
        for slot, fact in enumerate(outputs, self.model.first_tensor + step.first_slot):
            seen = fact.seen
            if not is_sized and seen.shape is not None:
                sizes = tuple([self.scope.unknown(("bounds", slot, "size", axis), 0) for axis in range(len(seen.shape))])
                facts.append(self.facts.intern(seen.element_type, sizes, None, seen.is_poisoned))
                continue
            shape, elements = (
                several and tuple([self._stranger((slot, what, index), one) for index, one in enumerate(several)])
                for what, several in (("size", seen.shape), ("element", seen.elements))
            )
            facts.append(self.facts.intern(seen.element_type, shape, elements, seen.is_poisoned, is_literal=fact.is_literal))
        return tuple(facts)

    def _stranger(self, key: tuple[int, str, int], one: Any) -> Any:
        """A size or an element of which only the bounds are known."""
        if isinstance(one, Dim):
            return self.scope.unknown(("bounds", *key), *bounds(one))
        return Real(one.low, one.high) if isinstance(one, Real) else one

    def _say(self, code: str, message: str, node: Node, *place: Any, **named: Any) -> None:
        if CATALOGUE[code].severity == ERROR:
            self.refused.add(node)


def _is_number(fact: Fact) -> bool:
    return fact.elements is not None and not any(isinstance(element, Dim | Real) for element in fact.elements)


def _special(kind: Kind) -> Kind:
    """The same kind, with its answers, whose outputs are not taken as they are."""
    special = Kind(kind.op, kind.listed, kind.wanted)
    special.is_plain = False
    special.answers = kind.answers
    return special


def consult(engine: Engine) -> None:
    """Infer anew where a pass over the graph found errors, which remain where OpenVINO makes them, too."""
    graphs = list(engine.graphs())
    if not any(map(_has_unknown_sizes, graphs)):
        return
    onlooker = Onlooker(engine.model, engine.weights, engine.opaque, outer=engine)
    onlooker.shapes = engine.shapes
    for other in onlooker.graphs():
        other.enter_bodies()
    onlooker.run()
    for one, other in zip(graphs, onlooker.graphs(), strict=True):
        assert isinstance(other, Onlooker)
        one.onlooker = other
    engine.forget()
    engine.run()
    # What was excused holds for these shapes only.
    engine.forget()
    for one in graphs:
        one.onlooker = None


def _has_unknown_sizes(engine: Engine) -> bool:
    return any(not fact.is_poisoned and (fact.shape is None or any(isinstance(size, Dim) for size in fact.shape)) for fact in engine.slots)
