"""One graph of a model, with the tables of its inference and the outcome of each of its nodes.

An outcome comes from an override, from the file, from bodies or from the rule. It has no place: the voice of the graph reports it at the
position of the node.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, ClassVar, Protocol, Self, TypeAlias

from irshape.inference.apply import Rules
from irshape.inference.facts import POISONED, Fact, FactTable
from irshape.inference.origins import Constants, Origins
from irshape.inference.run import Run, Wanted
from irshape.inference.schedule import Transfers, demanded, schedule
from irshape.inference.transfer import Outcome, Transfer
from irshape.inference.voice import Voice
from irshape.model.bodies import Body, bodies_of
from irshape.model.model import Model, Node
from irshape.report.finding import Finding
from irshape.report.text import counted
from irshape.shape.compilation import mypyc_attr
from irshape.shape.dim import Scope
from irshape.shape.limits import Work
from irshape.shape.shape import Shape
from irshape.xml.lexical import BODIES
from irshape.xml.weights import Weights

if TYPE_CHECKING:
    from irshape.inference.variables import Pair
    from irshape.shape.notation import SymbolRange

# The outcome of a node, which may ask for passes over bodies, and is sent their runs.
Outcomes: TypeAlias = Generator[Wanted, Run, Outcome]


class Verdict(Protocol):
    """The verdict of OpenVINO on the outcome of a rule."""

    def __call__(self, node: Node, outcome: Outcome) -> Outcome:
        """The outcome with the errors that OpenVINO makes."""


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Graph:
    """A graph under inference. Its tables live as long as it does, so that a second pass finds the outcomes of the first.

    `shapes` are the shapes of Parameters, by node, that replace those of the file; `symbols` the ranges of the symbols that the user
    named; `overrides` the outputs of nodes that are taken for granted, by node; `verdict` has the last word on errors. `current` is the
    last run. `bodies` are the graphs of the bodies, by node and name: they share the tables of the `outer` graph. `work` is the work that
    the question may still take; None begins a question. `is_static` tells that the symbols stand for the numbers that the inputs will
    have: then OpenVINO's bounds do not count.
    """

    new_scope: ClassVar[type[Scope]] = Scope
    new_voice: ClassVar[type[Voice]] = Voice

    def __init__(
        self,
        model: Model,
        weights: Weights | None,
        opaque: frozenset[str] = frozenset(),
        *,
        outer: Self | None = None,
        body: Body | None = None,
        is_static: bool = False,
        work: Work | None = None,
    ) -> None:
        document = model.document
        self.model = model
        self.weights = weights
        self.opaque = opaque
        self.scope: Scope = outer.scope if outer else self.new_scope(document.limits, work)
        self.facts: FactTable = outer.facts if outer else FactTable(is_static)
        self.rules: Rules = outer.rules if outer else Rules(self.facts, self.scope, states_types=not document.is_example)
        self.constants: Constants = outer.constants if outer else Constants(weights, document)
        self.origins = Origins(model, self.rules, self.constants, opaque)
        self.voice = self.new_voice(model)
        self.verdict: Verdict | None = None
        self.shapes: dict[int, Shape] = {}
        self.symbols: dict[str, SymbolRange] = outer.symbols if outer else {}
        self.overrides: dict[int, tuple[Fact, ...]] = {}
        self.bodies: dict[tuple[int, str], Self] = {}
        self.parameters = model.parameters
        self.current = Run.of(model.slot_count)
        self._given: dict[int, Fact] = {}
        self._transfers: Transfers = outer._transfers if outer else {}
        self._maps = {node.index: bodies_of(node) for node in model.of_type(*BODIES)}
        self.schedule = schedule(model, self._transfers, demanded(model, self._maps, body), weights)
        self.constants.is_short |= self.schedule.is_short
        self.pairs = self._variables() if model.of_type("Assign") else []

    @property
    def slots(self) -> list[Fact]:
        """The facts of all tensors by the last pass."""
        return self.current.slots

    def enter_bodies(self) -> None:
        """Make the graphs of the bodies."""
        for index, bodies in self._maps.items():
            for body in bodies:
                graph = type(self)(body.model, self.weights, self.opaque, outer=self, body=body)
                self.bodies[index, body.name] = graph  # type: ignore[assignment]  # mypy takes type(self) for Graph

    def graphs(self) -> Iterator[Self]:
        """The graph itself and those of all bodies, in the order of the file."""
        pending = [self]
        while pending:
            graph = pending.pop()
            yield graph
            pending += reversed(graph.bodies.values())

    def _outcome(self, node: Node, transfer: Transfer | None, facts: tuple[Fact, ...]) -> Outcomes:
        """The outcome of any node: overridden, from the file, from its bodies or from its rule."""
        if node.index in self.overrides:
            return Outcome(self.overrides[node.index], listed=node.layer.signature.output_count)
        if transfer is None:
            return self.origins.unknown(
                node, facts, is_as_read=not self.shapes, with_hint=len(self.current.reports) < self.model.document.limits.faults
            )
        if transfer.is_pure:
            return self.rules.apply(node, transfer, facts)
        if node.index in self._maps:
            return (yield from self._control(node, transfer, facts))
        if transfer.op.TYPE == "Parameter" and not facts:
            return self.origins.parameter(node, transfer, self._given.get(node.index), self.shapes)
        if transfer.op.TYPE in BODIES:  # in an example, which has no bodies
            return Outcome(self.origins.recorded(node), listed=transfer.listed)
        if transfer.offset is not None:
            return self.origins.constant(node, transfer)
        return self.rules.apply(node, transfer, facts)

    def _control(self, node: Node, transfer: Transfer, facts: tuple[Fact, ...]) -> Outcomes:
        """The outcome of an operation with bodies. Each body is inferred as it stands before the facts of the inputs enter it."""
        bodies, inner = self._maps[node.index], self.current.inner
        for body in bodies:
            inner[node.index, body.name] = yield (node.index, body.name), ()
        if not bodies:
            return Outcome((POISONED,) * transfer.listed, listed=transfer.listed)
        from irshape.inference.control import Control

        return (yield from Control(self.rules, node, transfer, bodies, facts, inner).answer())

    def _effects(self, run: Run, position: int, node: Node, facts: tuple[Fact, ...], outcome: Outcome) -> tuple[Fact, ...]:
        """Report the outcome for these inputs, and give as many outputs as the layer lists."""
        self.voice.speak(run, position, node, outcome)
        outputs, signature = outcome.outputs, node.layer.signature
        missing = signature.output_count - len(outputs)
        if missing < 0:
            if node.type != "Result":
                run.unlisted[node.index] = outputs[signature.output_count :]
            return outputs[: signature.output_count]
        if missing > 0:
            surplus = range(node.first_slot + len(outputs), node.first_slot + signature.output_count)
            # IR version 10 may list ports that the operation does not have, as long as nothing reads them.
            is_known = not any(fact.is_poisoned for fact in facts)
            if is_known and (self.model.ir_version != 10 or any(slot in self.model.readers for slot in surplus)):
                message = f"the operation has {counted(len(outputs), 'output')}, but the layer lists {signature.output_count}"
                self.voice.report(run, position, node, Finding("G109", message, signature.input_count + len(outputs)))
        return (*outputs, *[POISONED] * missing)

    def _variables(self) -> list[Pair]:
        from irshape.inference.variables import pairs

        return pairs(self.model)

    def _examine_variables(self, run: Run) -> None:
        """Compare the value that is assigned to each variable with the one that its ReadValue declares."""
        if not self.pairs:
            return
        from irshape.inference.variables import examine

        position, slots = len(self.schedule.nodes), run.slots
        run.reports.pop(position, None)
        for pair in self.pairs:
            read_value, assign = pair.read_value, pair.assign
            read = None if read_value is None or not read_value.layer.signature.output_count else slots[read_value.first_slot]
            ctx = examine(pair, self.scope, read, slots[assign.sources[0]] if assign.sources else POISONED)
            outcome = Outcome((), tuple(ctx.findings), tuple(ctx.requirements))
            self.voice.speak(run, position, assign, outcome if self.verdict is None else self.verdict(assign, outcome))
