"""The inference of a model with OpenVINO's verdict on its errors.

A model without errors takes one pass. Where a pass finds errors among sizes that are not known, a second pass infers the model as
OpenVINO sees it. An error that only the first pass finds is reworded: no size is valid, but OpenVINO does not refuse the model.
"""

from __future__ import annotations

from functools import partial
from typing import Self

from irshape.inference.engine import Engine, Pass
from irshape.inference.openvino_view import interval_shape, intervals, never_valid
from irshape.inference.run import Given, Run
from irshape.inference.schedule import facts_of
from irshape.inference.transfer import Outcome
from irshape.inference.voice import Voice
from irshape.model.model import Model, Node
from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import ERROR
from irshape.report.finding import Finding
from irshape.shape.compilation import mypyc_attr
from irshape.shape.dim import Dim, IntervalScope


def infer(engine: Engine) -> None:
    """Infer every tensor of the graph and of its bodies; a finding is an error only if OpenVINO refuses the model."""
    engine.run()
    if not any(found.severity == ERROR for found in engine.diagnostics):
        return
    graphs = list(engine.graphs())
    if not any(map(_has_unknown_sizes, graphs)):
        return
    openvino = OpenVINOPass.of(engine)
    openvino.run()
    for graph, view in zip(graphs, openvino.graphs(), strict=True):
        assert isinstance(view, OpenVINOPass)
        graph.verdict = partial(view.verdict_on, graph)
    engine.forget()
    try:
        engine.run()
    finally:
        # The verdict holds for these shapes only.
        engine.forget()
        for graph in graphs:
            graph.verdict = None


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class _Refusals(Voice):
    """A voice that says nothing: it keeps the nodes in which OpenVINO finds an error."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.refused: set[Node] = set()

    def report(self, run: Run, position: int, node: Node, finding: Finding) -> None:
        if CATALOGUE[finding.code].severity == ERROR:
            self.refused.add(node)


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class OpenVINOPass(Engine):
    """A pass that reduces the outputs of every node to OpenVINO's view of them. It has tables of its own, in which sizes are intervals."""

    new_scope = IntervalScope
    new_voice = _Refusals

    @classmethod
    def of(cls, engine: Engine) -> Self:
        """The pass over the graph of an engine, with the inputs of its last pass."""
        openvino = cls(engine.model, engine.weights, engine.opaque, work=engine.scope.work)
        scope = openvino.scope
        openvino.shapes = {node: interval_shape(shape, scope) for node, shape in engine.shapes.items()}
        return openvino

    @property
    def refused(self) -> set[Node]:
        """The nodes in which OpenVINO finds an error."""
        assert isinstance(self.voice, _Refusals)
        return self.voice.refused

    def verdict_on(self, graph: Engine, node: Node, outcome: Outcome) -> Outcome:
        """The outcome of a rule in a graph; its errors are warnings if OpenVINO does not refuse the node."""
        if not any(finding.is_error for finding in outcome.findings) or node in self.refused:
            return outcome
        first = node.first_slot
        outputs = self.slots[first : first + node.layer.signature.output_count]
        if any(fact.is_poisoned for fact in outputs):
            return outcome
        known = [intervals(fact, graph.facts, graph.scope, tensor) for tensor, fact in enumerate(outputs, self.model.first_tensor + first)]
        return Outcome(tuple(known), never_valid(outcome.findings))

    def _pass(self, given: Given) -> Pass:
        run = self._begin(given)
        slots = run.slots
        for position, (node, transfer) in enumerate(zip(self.schedule.nodes, self.schedule.transfers, strict=True)):
            facts = facts_of(node, slots)
            outcome = yield from self._outcome(node, transfer, facts)
            outputs = self._effects(run, position, node, facts, outcome)
            slots[node.first_slot : node.first_slot + len(outputs)] = [intervals(fact, self.facts, self.scope) for fact in outputs]
        return self._end(given, run)


def _has_unknown_sizes(engine: Engine) -> bool:
    return any(not fact.is_poisoned and (fact.shape is None or any(isinstance(size, Dim) for size in fact.shape)) for fact in engine.slots)
