"""OpenVINO's verdict where irshape knows more of sizes than OpenVINO does.

OpenVINO knows the bounds of a size but no formula: that `6*B // (3*B)` is 2 it does not see, nor what that contradicts. So where a
pass finds errors among sizes that are not known, another one is made that knows of each size its bounds. What only the first
refutes is never valid, but not refused.
"""

from __future__ import annotations

from typing import Any

from irshape.inference.apply import Outcome, Transfer, never_valid
from irshape.inference.engine import Engine, Outputs
from irshape.inference.facts import Fact
from irshape.model.model import Node
from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import ERROR
from irshape.shape.dim import Dim, bounds
from irshape.shape.value import Real


class RuntimePass(Engine):
    """The inference of a model that knows of every size its bounds and nothing else; `refused` are the nodes with errors."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.refused: set[Node] = set()
        # Where it takes outputs from a rule, it does not take them as they are.
        self._transfers = [transfer and _special(transfer) for transfer in self._transfers]

    def excuse_of(self, node: Node, outcome: Outcome) -> Outcome:
        """What a rule gave, its errors being warnings if OpenVINO makes none here."""
        outputs = tuple(self.slots[node.first_slot : node.first_slot + node.layer.signature.output_count])
        has_errors = any(finding.is_error for finding in outcome.findings)
        if not has_errors or node in self.refused or any(fact.is_poisoned for fact in outputs):
            return outcome
        return Outcome(outputs, never_valid(outcome.findings))

    def _outputs(self, node: Node, transfer: Transfer | None, facts: tuple[Fact, ...]) -> Outputs:
        if isinstance(transfer, _Plain):
            return self._bounded(node, transfer, facts, self._remembered(node, transfer, facts).outputs)
        return self._bounded(node, transfer, facts, (yield from super()._outputs(node, transfer, facts)))

    def _bounded(self, node: Node, transfer: Transfer | None, taken: tuple[Fact, ...], outputs: tuple[Fact, ...]) -> tuple[Fact, ...]:
        """The facts as OpenVINO has them, every size a stranger to all others."""
        facts = []
        is_sized = transfer is None or not transfer.op.takes_numbers_only or all(map(_is_number, taken))
        for slot, fact in enumerate(outputs, self.model.first_tensor + node.first_slot):
            runtime_view = fact.runtime_view
            if not is_sized and runtime_view.shape is not None:
                sizes = tuple([self.scope.unknown(("bounds", slot, "size", axis), 0) for axis in range(len(runtime_view.shape))])
                facts.append(self.facts.intern(runtime_view.element_type, sizes, None, runtime_view.is_poisoned))
                continue
            shape, elements = (
                several and tuple([self._stranger((slot, what, index), one) for index, one in enumerate(several)])
                for what, several in (("size", runtime_view.shape), ("element", runtime_view.elements))
            )
            facts.append(
                self.facts.intern(runtime_view.element_type, shape, elements, runtime_view.is_poisoned, is_literal=fact.is_literal)
            )
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


class _Plain(Transfer):
    """A kind that takes its outputs from its rule."""

    __slots__ = ()


def _special(transfer: Transfer) -> Transfer:
    """The same kind, with its answers, whose outputs are not taken as they are."""
    special = (_Plain if transfer.is_plain else Transfer)(
        transfer.op, transfer.listed, transfer.wanted, is_plain=False, offset=transfer.offset
    )
    special.memo = transfer.memo
    return special


def infer(engine: Engine) -> None:
    """Infer every tensor of the graph and of its bodies; what OpenVINO does not refuse is no error."""
    engine.run()
    if any(found.severity == ERROR for found in engine.diagnostics):
        _consult(engine)


def _consult(engine: Engine) -> None:
    """Infer anew where a pass over the graph found errors, which remain where OpenVINO makes them, too."""
    graphs = list(engine.graphs())
    if not any(map(_has_unknown_sizes, graphs)):
        return
    runtime = RuntimePass(engine.model, engine.weights, engine.opaque, outer=engine)
    runtime.shapes = engine.shapes
    for other in runtime.graphs():
        other.enter_bodies()
    runtime.run()
    for one, other in zip(graphs, runtime.graphs(), strict=True):
        assert isinstance(other, RuntimePass)
        one.excuse = other.excuse_of
    engine.forget()
    engine.run()
    # What was excused holds for these shapes only.
    engine.forget()
    for one in graphs:
        one.excuse = None


def _has_unknown_sizes(engine: Engine) -> bool:
    return any(not fact.is_poisoned and (fact.shape is None or any(isinstance(size, Dim) for size in fact.shape)) for fact in engine.slots)
