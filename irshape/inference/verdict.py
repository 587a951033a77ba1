"""The inference of a model with OpenVINO's verdict on its errors.

A model without errors takes one pass. Where a pass finds errors among sizes that are not known, a second pass infers the model as
OpenVINO sees it. An error that only the first pass finds is reworded: no size is valid, but OpenVINO does not refuse the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from irshape.inference.engine import Engine
from irshape.inference.facts import Fact
from irshape.inference.question import AS_READ, Question
from irshape.inference.run import Run, Voice
from irshape.inference.transfer import Outcome, interval_shape, intervals, never_valid
from irshape.model.model import Model, Node
from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import ERROR
from irshape.report.finding import Finding
from irshape.shape.compilation import mypyc_attr
from irshape.shape.dim import Dim, IntervalScope


def infer(engine: Engine, question: Question = AS_READ) -> None:
    """Infer every tensor of the graph and of its bodies; a finding is an error only if OpenVINO refuses the model."""
    engine.run(question)
    if any(found.severity == ERROR for found in engine.diagnostics) and any(map(_has_unknown_sizes, engine.graphs())):
        engine.run(question.with_verdict(_Verdict(engine)))


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

    is_reduced = True

    @classmethod
    def of(cls, engine: Engine) -> Self:
        """The engine after a pass over the graph of another engine, with the inputs of its last pass."""
        openvino = cls(engine.model, engine.weights, engine.opaque, work=engine.scope.work)
        scope = openvino.scope
        openvino.run(Question({node: interval_shape(shape, scope) for node, shape in engine.question.shapes.items()}))
        return openvino

    @property
    def refused(self) -> set[Node]:
        """The nodes in which OpenVINO finds an error."""
        assert isinstance(self.voice, _Refusals)
        return self.voice.refused

    def reduced(self, outputs: tuple[Fact, ...]) -> tuple[Fact, ...]:
        return tuple([intervals(fact, self.facts, self.scope) for fact in outputs])


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class _Verdict:
    """The verdict of OpenVINO on a model, from a pass that sees the model as OpenVINO does. It holds for the shapes of this pass only."""

    __slots__ = ("_views",)

    def __init__(self, engine: Engine) -> None:
        self._views = dict(zip(engine.graphs(), OpenVINOPass.of(engine).graphs(), strict=True))

    def __call__(self, graph: Engine, node: Node, outcome: Outcome) -> Outcome:
        """The outcome of a rule in a graph; its errors are warnings if OpenVINO does not refuse the node."""
        view = self._views[graph]
        if not any(finding.is_error for finding in outcome.findings) or node in view.refused:
            return outcome
        first = node.first_slot
        return forgiven(outcome, graph, view.slots[first : first + node.layer.signature.output_count], view.model.first_tensor + first)


def forgiven(outcome: Outcome, graph: Engine, outputs: Sequence[Fact], first: int) -> Outcome:
    """The outcome of a rule whose errors OpenVINO does not make. `outputs` are its facts of the tensors from the number `first` on."""
    if any(fact.is_poisoned for fact in outputs):
        return outcome
    known = [intervals(fact, graph.facts, graph.scope, tensor) for tensor, fact in enumerate(outputs, first)]
    return Outcome(tuple(known), never_valid(outcome.findings))


def _has_unknown_sizes(engine: Engine) -> bool:
    return any(not fact.is_poisoned and (fact.shape is None or any(isinstance(size, Dim) for size in fact.shape)) for fact in engine.slots)
