"""The inference of a model with OpenVINO's verdict on its errors.

A model without errors takes one pass. Where a pass finds errors among sizes that are not known, a second pass infers the model as
OpenVINO sees it. An error that only the first pass finds is reworded: no size is valid, but OpenVINO does not refuse the model.
"""

from __future__ import annotations

from typing import Any

from irshape.inference.engine import Engine, Pass
from irshape.inference.facts import Fact
from irshape.inference.run import Given, Run
from irshape.inference.runtime import holds_numbers, intervals, never_valid, of_known_rank
from irshape.inference.schedule import facts_of
from irshape.inference.transfer import Outcome, Transfer
from irshape.inference.voice import Voice
from irshape.model.model import Node
from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import ERROR
from irshape.report.finding import Finding
from irshape.shape.dim import Dim


def infer(engine: Engine) -> None:
    """Infer every tensor of the graph and of its bodies; an error is what OpenVINO refuses."""
    engine.run()
    if not any(found.severity == ERROR for found in engine.diagnostics):
        return
    graphs = list(engine.graphs())
    if not any(map(_has_unknown_sizes, graphs)):
        return
    runtime = RuntimePass(engine.model, engine.weights, engine.opaque, outer=engine)
    runtime.shapes = engine.shapes
    for graph in runtime.graphs():
        graph.enter_bodies()
    runtime.run()
    for graph, view in zip(graphs, runtime.graphs(), strict=True):
        assert isinstance(view, RuntimePass)
        graph.verdict = view.verdict_on
    engine.forget()
    engine.run()
    # The verdict holds for these shapes only.
    engine.forget()
    for graph in graphs:
        graph.verdict = None


class RuntimePass(Engine):
    """A pass that reduces the outputs of every node to OpenVINO's view of them."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.voice: _Refusals = _Refusals(self.model)

    def verdict_on(self, node: Node, outcome: Outcome) -> Outcome:
        """The outcome of a rule; its errors are warnings if OpenVINO does not refuse the node."""
        if not any(finding.is_error for finding in outcome.findings) or node in self.voice.refused:
            return outcome
        outputs = tuple(self.slots[node.first_slot : node.first_slot + node.layer.signature.output_count])
        if any(fact.is_poisoned for fact in outputs):
            return outcome
        return Outcome(outputs, never_valid(outcome.findings))

    def _pass(self, given: Given) -> Pass:
        run = self._begin(given)
        slots = run.slots
        for position, (node, transfer) in enumerate(zip(self.schedule.nodes, self.schedule.transfers, strict=True)):
            facts = facts_of(node, slots)
            outcome = yield from self._outcome(node, transfer, facts)
            outputs = self._effects(run, position, node, outcome)
            slots[node.first_slot : node.first_slot + len(outputs)] = self._reduced(node, transfer, facts, outputs)
        return self._end(given, run)

    def _reduced(self, node: Node, transfer: Transfer | None, taken: tuple[Fact, ...], outputs: tuple[Fact, ...]) -> list[Fact]:
        """OpenVINO's view of the outputs."""
        is_sized = transfer is None or not transfer.op.takes_numbers_only or all(map(holds_numbers, taken))
        reduce = intervals if is_sized else of_known_rank
        first = self.model.first_tensor + node.first_slot
        return [reduce(fact, tensor, self.facts, self.scope) for tensor, fact in enumerate(outputs, first)]


class _Refusals(Voice):
    """A voice that says nothing: it keeps the nodes in which OpenVINO finds an error."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.refused: set[Node] = set()

    def report(self, run: Run, position: int, node: Node, finding: Finding) -> None:
        if CATALOGUE[finding.code].severity == ERROR:
            self.refused.add(node)


def _has_unknown_sizes(engine: Engine) -> bool:
    return any(not fact.is_poisoned and (fact.shape is None or any(isinstance(size, Dim) for size in fact.shape)) for fact in engine.slots)
