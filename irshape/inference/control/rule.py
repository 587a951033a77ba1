"""The rule of an operation with bodies: the facts that enter its bodies, and the outputs that leave them; and that of If."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, Final, TypeAlias

from irshape.inference.apply import Rules
from irshape.inference.facts import POISONED, Fact
from irshape.inference.run import NodeReport, Run, Wanted
from irshape.inference.transfer import Outcome, Transfer
from irshape.model.bodies import Body
from irshape.model.model import Node
from irshape.ops.context import Context, RuleFailure
from irshape.report.finding import Finding
from irshape.shape.dim import Size, are_known
from irshape.shape.element_type import ElementType
from irshape.shape.shape import Shape
from irshape.shape.value import Unreadable

Asking: TypeAlias = Generator[Wanted, Run, Any]
Outputs: TypeAlias = Generator[Wanted, Run, tuple[Fact, ...]]


# What to do about a faulty port map.
_PORT_MAP: Final = "correct the port map: external_port_id is a port of this layer, internal_layer_id a Parameter or Result of the body"


class Control(Context):
    """One application of an operation with bodies to facts: the base class of the rules of If, Loop and TensorIterator.

    `outputs` is the rule. It asks for passes over bodies, and is sent their runs.

    `run` is the pass that the application is a part of: it keeps the last run of each body, by node and name. `faults` are the faults
    of the port maps, `remarks` the reasons why they never run, each with its place.
    """

    __slots__ = ("bodies", "declared", "facts", "faults", "listed", "node", "remarks", "run", "table")

    def __init__(self, rules: Rules, node: Node, transfer: Transfer, bodies: list[Body], facts: Sequence[Fact], run: Run) -> None:
        super().__init__(rules.scope, transfer.op, node.model.first_tensor + node.first_slot)
        self.table = rules.facts
        self.node = node
        self.bodies = bodies
        self.facts = facts
        self.run = run
        self.declared = [run.inner[node.index, body.name] for body in bodies]
        run.optional -= {(node.index, body.name) for body in bodies}
        self.listed = transfer.listed
        self.faults: list[tuple[str, int]] = [fault for body in bodies for fault in body.faults]
        self.remarks: list[tuple[str, int]] = []

    def answer(self) -> Generator[Wanted, Run, Outcome]:
        """The outcome, with the faults and remarks of the port maps among its findings."""
        outputs = yield from self._outputs()
        faults = [Finding("G119", message, hint=_PORT_MAP, offset=offset) for message, offset in self.faults]
        remarks = [Finding("R401", f"this never holds: {message}", offset=offset) for message, offset in self.remarks]
        remarks += [Finding(code, message, offset=offset) for body in self.bodies for code, message, offset in body.remarks]
        return Outcome(outputs, (*self.findings, *faults, *remarks), tuple(self.requirements), self.listed)

    def outputs(self) -> Outputs:
        raise NotImplementedError

    def _outputs(self) -> Outputs:
        failed = (POISONED,) * self.listed
        self.findings.extend(self.op.findings)
        if len(self.facts) < self.op.min_inputs:
            self.error("G107", f"input {len(self.facts)} ({self.op.inputs[len(self.facts)].name}) is missing")
            return failed
        if self.faults or any(body.is_misread for body in self.bodies):
            return failed
        try:
            outputs = yield from self.outputs()
        except RuleFailure:
            return failed
        except MemoryError:
            raise
        except Exception as error:
            self.error("I101", f"{type(error).__name__}: {error}")
            return failed
        return failed if self.faults else outputs

    def fault(self, message: str, offset: int) -> None:
        self.faults.append((message, offset))

    def never_runs(self, message: str, offset: int) -> None:
        """Record a fault of a port map that OpenVINO accepts and its CPU plugin refuses."""
        self.remarks.append((message, offset))

    def check_inputs(self, bodies: list[Body]) -> None:
        """Check that every mapped input of a body is an input of the layer."""
        for body in bodies:
            for entry in body.inputs:
                if not 0 <= entry.external < len(self.facts):
                    self.fault(f"the layer has no input {entry.external}", entry.offset)
        if self.faults:
            raise RuleFailure

    def intern(self, element_type: ElementType, shape: Shape, *, is_poisoned: bool = False) -> Fact:
        return self.table.intern(element_type, shape, None, is_poisoned)

    def seen_as(self, fact: Fact, openvino_view: Fact) -> Fact:
        """A fact of which OpenVINO knows something else."""
        return fact if self.table.is_static or fact.is_poisoned else self.table.with_openvino_view(fact, openvino_view)

    def plain(self, fact: Fact) -> Fact:
        """A fact as it enters or leaves a body: values are not followed through."""
        if fact.elements is None:
            return fact
        plain = self.intern(fact.element_type, fact.shape, is_poisoned=fact.is_poisoned)
        return plain if fact.openvino_view is fact else self.seen_as(plain, self.plain(fact.openvino_view))

    def ask(self, body: Body, given: dict[Node, Fact]) -> Asking:
        """A pass over a body with the given facts for its Parameters. Its run is the known run of the body until the next pass."""
        run = yield from self.pass_over(body, given)
        self.run.inner[self.node.index, body.name] = run
        return run

    def need_not_run(self, body: Body) -> None:
        """Record that the model may leave a body out: what the body requires holds only if the body runs."""
        self.run.optional |= {(self.node.index, body.name)}

    def pass_over(self, body: Body, given: dict[Node, Fact]) -> Asking:
        """A pass over a body with the given facts for its Parameters, or with any shapes if the engine has made enough passes."""
        facts = tuple([given.get(parameter) for parameter in body.model.parameters])
        run = yield (self.node.index, body.name), facts if given else ()
        if all(run.slots[parameter.first_slot] is fact for parameter, fact in given.items()):
            return run
        if not any(finding.code == "N105" for finding in self.findings):
            most = self.scope.limits.passes
            self.warn("N105", f"the {body.name} was inferred for {most} different inputs, then for inputs of any shape (limit passes)")
        # An error that any shape gives need not be one of the shapes that come.
        return bare(run)

    def condition(self, fact: Fact, name: str) -> bool | None:
        value = self.number(fact, name)
        return value != 0 if isinstance(value, (int, float)) else None

    def number(self, fact: Fact, name: str) -> Any:
        """The one value that a scalar or a list of one element holds; None if it is not known or cannot be read."""
        if fact.shape is not None and len(fact.shape) > 1:
            self.fail("S101", f"{name} must have rank 0 or 1, got rank {len(fact.shape)}")
        if fact.elements is None or fact.is_poisoned or type(fact.elements) is Unreadable:
            return None
        if len(fact.elements) != 1:
            self.fail("V103", f"{name} must hold 1 value, got {len(fact.elements)}")
        return fact.elements[0]


def bare(run: Run, *, keeps_diagnostics: bool = False) -> Run:
    """A run without its requirements on sizes and, unless they are kept, without its diagnostics."""
    inner = {key: bare(one, keeps_diagnostics=keeps_diagnostics) for key, one in run.inner.items()}
    if inner == run.inner and not any(report.requirements or report.diagnostics for report in run.reports.values()):
        return run
    copy = run.copy()
    copy.outcomes = run.outcomes
    copy.inner = inner
    copy.reports = {}
    for position, report in run.reports.items() if keeps_diagnostics else ():
        copy.reports[position] = NodeReport(report.node)
        copy.reports[position].diagnostics = report.diagnostics
    return copy


class IfRule(Control):
    """The rule of If."""

    __slots__ = ()

    def outputs(self) -> Outputs:
        cond = self.facts[0]
        condition, known = self.condition(cond, "cond"), self.condition(cond.openvino_view, "cond")
        taken = [body for body, is_taken in zip(self.bodies, (True, False), strict=True) if known in (None, is_taken)]
        self.check_inputs(taken)
        runs = []
        for body in taken:
            given = {entry.parameter: self.plain(self.facts[entry.external]) for entry in body.inputs}
            run = yield from self.ask(body, given)
            is_chosen = cond.elements is None or condition is (body is self.bodies[0])
            if not is_chosen:
                # Sizes choose the branch, so its requirements hold only for the sizes that choose it.
                self.run.inner[self.node.index, body.name] = bare(run, keeps_diagnostics=True)
            if condition is None:
                self.need_not_run(body)
            runs.append([self.plain(run.value(output.result)) for output in body.outputs])
        if known is not None:
            [outputs] = runs
            # OpenVINO gives the layer as many outputs as the then_body has, whichever is taken.
            return tuple(outputs + [self.intern(ElementType.dynamic, None)] * (len(self.bodies[0].outputs) - len(outputs)))
        then, other = runs
        for body in self.bodies:
            self._check_outputs(body, max(self.listed, len(then)))
        if self.faults:
            return ()
        either = [self._either(index, *facts) for index, facts in enumerate(zip(then, other, strict=False))]
        if condition is None:
            return tuple(either)
        return tuple([self.seen_as(fact, one.openvino_view) for fact, one in zip(then if condition else other, either, strict=False)])

    def _check_outputs(self, body: Body, count: int) -> None:
        """Every output of the layer needs a Result of either body, and no Result may be two."""
        if len(body.outputs) < count:
            self.fault(f"no Result of the {body.name} is mapped to output {len(body.outputs)}", self.node.layer.offset)
        taken: set[Node] = set()
        for output in body.outputs:
            if output.result in taken:
                self.fault(f"Result {output.result.id} of the {body.name} is mapped to two outputs", output.offset)
            taken.add(output.result)

    def _either(self, index: int, then: Fact, other: Fact) -> Fact:
        """The fact of an output that comes from one of two branches."""
        element_type = then.element_type
        if element_type is ElementType.dynamic:
            element_type = other.element_type
        elif other.element_type not in (element_type, ElementType.dynamic):
            self.error("T102", f"output {index} has element type {then.element_type} in then_body, {other.element_type} in else_body")
        is_poisoned = then.is_poisoned or other.is_poisoned
        fact = self.intern(element_type, self._either_shape((index, "size"), then.shape, other.shape), is_poisoned=is_poisoned)
        shape = self._either_shape((index, "bounds"), then.openvino_view.shape, other.openvino_view.shape, openvino_knows_same=True)
        return self.seen_as(fact, self.intern(element_type, shape, is_poisoned=is_poisoned))

    def _either_shape(self, key: tuple[int, str], a: Shape, b: Shape, *, openvino_knows_same: bool = False) -> Shape:
        """A shape that is one of two. OpenVINO knows a size only if both branches give a number, and then knows both numbers."""
        if a is None or b is None:
            return None
        if len(a) != len(b):
            if len(a) > 1 or len(b) > 1:
                return None
            # A scalar and a list: OpenVINO makes a list of both.
            sizes: list[tuple[Size, ...]] = [(*(a or (1,)), *(b or (1,)))]
            is_known = not openvino_knows_same
        else:
            sizes, is_known = list(zip(a, b, strict=True)), True
        found = []
        for axis, both in enumerate(sizes):
            is_hull = is_known and (not openvino_knows_same or are_known(both))
            own = (self.key, "if", *key, axis)
            found.append(self.scope.hull(own, *both) if is_hull else self.scope.unknown(own, 0))
        return tuple(found)
