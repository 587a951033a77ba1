"""The operations with bodies in a plan: the rule runs with formulas beside the one of the example, over the same passes."""

from __future__ import annotations

from collections.abc import Generator

from irshape.inference.control.rules import RULES
from irshape.inference.facts import Fact
from irshape.inference.plan.parts import Outputs
from irshape.inference.plan.trace import Trace, Unplanned
from irshape.inference.run import Given, Run, Wanted
from irshape.inference.schedule import facts_of
from irshape.inference.transfer import Outcome, Transfer
from irshape.model.bodies import Body
from irshape.model.model import Node
from irshape.shape.dim import Dim, Question, Size, are_known, bounds_unasked, expression_of


def entered(trace: Trace, node: Node, transfer: Transfer, facts: tuple[Fact, ...]) -> tuple[Outputs | None, dict[tuple[int, str], Trace]]:
    """The outputs of a node with bodies for facts with formulas, and the passes over the bodies. Raises `Unplanned`.

    A body that need not run is not planned: the rule compares bounds then that may move with the sizes of the inputs.
    """
    engine, making = trace.engine, trace.making
    bodies = engine.maps[node.index]
    own, example = Run([]), Run([])
    for body in bodies:
        key = node.index, body.name
        own.inner[key] = example.inner[key] = engine.bodies[key].as_read
    rule = RULES[type(transfer.op)]
    ours = rule(making.rules, node, transfer, bodies, facts, own).answer()
    theirs = rule(engine.rules, node, transfer, bodies, facts_of(node, trace.base.slots), example).answer()
    passes: dict[Run, Trace] = {}
    questions: list[Question] = []
    run: Run | None = None
    known: Run | None = None
    while True:
        del making.questions[:]
        wanted, like = _next(ours, run), _next(theirs, known)
        questions += making.questions
        if isinstance(wanted, Outcome) or isinstance(like, Outcome):
            break
        (key, given), (same, as_given) = wanted, like
        if key != same or not all(_enters(trace, *two) for two in zip(given, as_given, strict=True)):
            raise Unplanned
        known = engine.pass_over(key, as_given)
        inside = Trace(making, engine.bodies[key], known)
        run = _passed(inside, given)
        passes[run] = inside
        for body in bodies:
            if body.name == key[1]:
                questions += _compare_backs(inside, body, run)
    if not isinstance(wanted, Outcome) or not isinstance(like, Outcome) or own.optional or example.optional:
        raise Unplanned
    for key, run in own.inner.items():
        # A branch that is not taken stays as it was read.
        if example.inner[key] is not trace.base.inner[key] or (run not in passes and run is not example.inner[key]):
            raise Unplanned
    planned = making.checked(transfer, wanted, like, questions)
    return planned, {key: passes[run] for key, run in own.inner.items() if run in passes}


def _next(rule: Generator[Wanted, Run, Outcome], run: Run | None) -> Wanted | Outcome:
    """The pass that a rule asks for next, or its outcome."""
    try:
        return next(rule) if run is None else rule.send(run)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome


def _passed(trace: Trace, given: Given) -> Run:
    """The run of a body that these facts enter. Raises `Unplanned`."""
    engine, making = trace.engine, trace.making
    reached: set[int] = set()
    for node, fact in zip(engine.parameters, given, strict=False):
        if fact is None:
            continue
        template = making.example.template(fact, trace.base.slots[node.first_slot], False)
        if template is None:
            raise Unplanned
        trace.slots[node.first_slot] = fact
        if template.varies:
            reached.update(trace.enter(node.first_slot, fact, template))
    trace.visit(reached)
    results = [source for node in engine.model.of_type("Result") for source in node.sources]
    if trace.facts(results) is None:
        raise Unplanned
    run = Run(trace.slots)
    run.reports = trace.base.reports
    return run


def _enters(trace: Trace, fact: Fact | None, example: Fact | None) -> bool:
    """Whether a fact that enters a body is this one of the example. A new symbol in it stands for the size of the example from now on."""
    if fact is None or example is None:
        return fact is example
    engine, making = trace.engine, trace.making
    for size, like in zip(fact.shape or (), example.shape or (), strict=False):
        if not (isinstance(size, Dim) and making.formulas.value(size.polynomial) is None):
            continue
        if not isinstance(like, Dim):
            return False
        key, sizes = making.scope.hulls.get(size.polynomial, (None, ()))
        if any(map(making.formulas.varies, sizes)):
            values = [making.formulas.value(expression_of(one)) for one in sizes]
            if not are_known(values) or engine.scope.hull(key, *values) is not like:
                return False
            making.define_hull(size, like, key, sizes)
        elif size.range != like.range or not making.example.stands_for(size, like, is_constant=True):
            return False
    if fact.shape is None or fact.is_poisoned:
        return (fact.element_type, fact.shape, fact.is_poisoned) == (example.element_type, example.shape, example.is_poisoned)
    return making.example.template(fact, example, False) is not None


def _compare_backs(trace: Trace, body: Body, run: Run) -> list[Question]:
    """The questions whether what an iteration hands to the next is what entered it. Raises `Unplanned` if their bounds move apart.

    All that a rule does with two numbers depends on whether they are equal.
    """
    making, base = trace.making, trace.base
    formulas, hulls = making.formulas, making.scope.hulls
    found: list[Question] = []
    for entry in body.inputs:
        if entry.back is None:
            continue
        before, after = run.slots[entry.parameter.first_slot].shape, run.value(entry.back).shape
        known, seen = base.slots[entry.parameter.first_slot].shape, base.value(entry.back).shape
        if before is None or after is None or known is None or seen is None or len(before) != len(after):
            raise Unplanned
        for size, other, example, like in zip(before, after, known, seen, strict=True):
            if size is other or size == other or (isinstance(size, Dim) and other in hulls.get(size.polynomial, (None, ()))[1]):
                continue
            if isinstance(example, int) and isinstance(like, int):
                found.append(("eq", size, other))
                continue
            is_constant = not formulas.varies(size) and _are_alike(size, example)
            if is_constant and (_holds(size, other) or (not formulas.varies(other) and _are_alike(other, like))):
                continue
            raise Unplanned
    return found


def _are_alike(ours: Size, example: Size) -> bool:
    """Whether a size that stays what it is has the range of the example."""
    if isinstance(ours, Dim) and isinstance(example, Dim):
        return ours.range == example.range
    return not isinstance(ours, Dim) and ours == example


def _holds(size: Size, other: Size) -> bool:
    """Whether the bounds of a size hold all that the other one may be."""
    (low, high), (least, most) = bounds_unasked(size), bounds_unasked(other)
    return low <= least and most <= high
