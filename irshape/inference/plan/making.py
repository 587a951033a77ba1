"""The making of a plan: one pass with symbols for the sizes that change, checked against the pass of an example."""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from irshape.inference.control import RULES
from irshape.inference.facts import Fact
from irshape.inference.indices import beyond, largest_indices
from irshape.inference.plan.formulas import Tree
from irshape.inference.plan.parts import Ask, Guarded, Planned, RuleOutputs, RuleSymbol, Step, Symbol, Template
from irshape.inference.plan.plan import Numbers, Plan
from irshape.inference.plan.shared import HIGH, Making
from irshape.inference.run import Given, Run, Wanted
from irshape.inference.schedule import facts_of, marked, sources_of
from irshape.inference.transfer import Outcome, Transfer
from irshape.inference.variables import VariablePair, examine
from irshape.model.bodies import Body
from irshape.model.model import Node
from irshape.shape.dim import Dim, Question, Scope, Size, are_known, bounds_unasked, expression_of
from irshape.shape.guard import Requirement

if TYPE_CHECKING:
    from irshape.inference.engine import Engine


# No plan is made of more formulas and conditions: it would cost more than it saves.
_MOST_FORMULAS: Final = 10_000


class Unplanned(Exception):
    """A graph, or a node with bodies, cannot be planned."""


class Trace:
    """A pass with formulas over the nodes that the changing sizes reach.

    `base` is the run of the example. `slots` are its facts, with facts of formulas in place of those that change; `tensors` are the
    templates of these. `open_slots` are the tensors that only their rules tell. A tensor for which no symbols can stand is `carried`: it
    is an input for rules only. `guarded` are the requirements of nodes that depend on sizes which the engine does not know. `bodies` are
    the passes over bodies, by node and name. `visited` counts the nodes. `asks` says that rules may be asked: outside of bodies.
    """

    def __init__(self, making: Making, engine: Engine, base: Run, *, asks: bool = False) -> None:
        self.making = making
        self.engine = engine
        self.base = base
        self.asks = asks
        self.slots = base.slots.copy()
        self.tensors: dict[int, Template] = {}
        self.open_slots: set[int] = set()
        self.carried: set[int] = set()
        self.guarded: list[tuple[int, Node, list[Requirement]]] = []
        self.bodies: dict[tuple[int, str], Trace] = {}
        self.visited = 0
        self._taken: set[int] = set()

    def enter(self, slot: int, fact: Fact, template: Template) -> list[int]:
        """Give a tensor formulas; the positions of the nodes that read it."""
        self.slots[slot] = fact
        self.tensors[slot] = template
        return self.engine.schedule.readers.get(slot, [])

    def visit(self, reached: Iterable[int]) -> None:
        """Plan the nodes at these positions, and all that their change reaches. Raises `Unplanned`."""
        schedule, making = self.engine.schedule, self.making
        marks = bytearray(len(schedule.nodes))
        for position in reached:
            marks[position] = True
        for position in marked(marks):
            self.visited += 1
            for slot in self._visit(position, schedule.nodes[position], schedule.transfers[position]):
                for reader in schedule.readers.get(slot, ()):
                    marks[reader] = True
            if making.work.is_done or len(making.scope.polynomials.atoms) + len(making.example.conditions) > _MOST_FORMULAS:
                raise Unplanned

    def _visit(self, position: int, node: Node, transfer: Transfer | None) -> list[int]:
        """Plan a node; the tensors of its outputs that change."""
        planned: RuleOutputs | None = None
        facts: tuple[Fact, ...] | None = None
        if transfer is not None and (transfer.is_pure or node.index in self.engine.maps):
            facts = self.facts(sources_of(node))
        if transfer is not None and facts is not None:
            if transfer.is_pure:
                planned = self.making.planned(node, transfer, facts, facts_of(node, self.base.slots))
            else:
                planned, facts = self._control(node, transfer, facts), None
        if planned is None:
            return self._ask(position, node, transfer, facts)
        if planned.has_varying_findings:
            self._append(position, node, [], [])
        elif planned.requirements and node.is_live and node.model.is_live:  # only such a node reports what it requires
            self.guarded.append((position, node, planned.requirements))
        changed = []
        for slot, fact, template in zip(node.slots, planned.outputs, planned.templates, strict=True):
            if template is not None:
                self.enter(slot, fact, template)
                changed.append(slot)
        return changed

    def _control(self, node: Node, transfer: Transfer, facts: tuple[Fact, ...]) -> RuleOutputs | None:
        """The outputs of a node with bodies; None if only its rule tells them."""
        try:
            planned, bodies = entered(self, node, transfer, facts)
        except Unplanned:
            return None
        self.bodies.update(bodies)
        return planned

    def facts(self, sources: Iterable[int]) -> tuple[Fact, ...] | None:
        """The facts of tensors, with symbols for the sizes that the engine does not know; None if symbols cannot stand for a tensor."""
        found: list[Fact] = []
        for source in sources:
            if source in self.carried:
                return None
            if source not in self.tensors and source not in self._taken:
                fact = self.making.opaque.fact(self.slots[source])
                if fact is None:
                    return None
                self.slots[source] = fact
                self._taken.add(source)
            found.append(self.slots[source])
        return tuple(found)

    def _ask(self, position: int, node: Node, transfer: Transfer | None, facts: tuple[Fact, ...] | None) -> list[int]:
        """Leave a node to its rule; the tensors that it may change. Raises `Unplanned` in a body."""
        if not self.asks:
            raise Unplanned
        making, own = self.making, node.slots
        known: Sequence[Fact | None] = [None] * len(own)
        if transfer is not None and facts is not None:
            outcome = making.rules.apply(node, making.transfer(transfer), facts)
            known = outcome.outputs[: len(own)] if len(outcome.outputs) >= len(own) else known
        before = len(making.scope.polynomials.atoms)
        symbols: list[RuleSymbol] = []
        templates: list[Template | None] = []
        for slot, like in zip(own, known, strict=True):
            opened = making.asking.opened(self.base.slots[slot], like, symbols)
            templates.append(opened and opened.answer.mapped(making.formulas.name))
            if opened is None:
                self.carried.add(slot)
            elif opened.answer.varies:
                self.enter(slot, opened.fact, opened.template)
        self._append(position, node, templates, symbols, before)
        self.open_slots.update(own)
        return [slot for slot in own if slot in self.carried or slot in self.tensors]

    def _append(
        self, position: int, node: Node, outputs: list[Template | None], symbols: list[RuleSymbol], before: int | None = None
    ) -> None:
        """Let a rule be asked at each reshape, after the atoms that were made `before`. Raises `Unplanned` in a body."""
        if not self.asks:
            raise Unplanned
        making = self.making
        inputs: list[Fact | Template | int] = []
        for source in sources_of(node):
            template = self.tensors.get(source)
            if template is not None:
                making.example.roots += template.formulas
                inputs.append(template.mapped(making.formulas.tree))
            else:
                inputs.append(source if source in self.carried else self.base.slots[source])
        count = len(making.scope.polynomials.atoms) if before is None else before
        making.steps.append((count, Ask(position, node, inputs, outputs, symbols)))

    # The plan of the graph.

    def to_plan(self) -> Planned:
        """The templates of the tensors that change, with the names of formulas, here and in the bodies."""
        name = self.making.formulas.name
        tensors = {slot: template.mapped(name) for slot, template in self.tensors.items()}
        guarded = [Guarded(position, node, list(map(self._with_sides, several))) for position, node, several in self.guarded]
        return Planned(self.base, tensors, guarded, {key: trace.to_plan() for key, trace in self.bodies.items()})

    def _with_sides(self, requirement: Requirement) -> tuple[Requirement, Tree, Tree]:
        a, b = (self.making.formulas.tree(expression_of(side)) for side in (requirement.a, requirement.b))
        return requirement, a, b

    def examine_variables(self) -> bool:
        """Compare the variables; false if the plan cannot tell all that is found for other sizes."""
        pairs = self.engine.pairs
        nodes = [node for pair in pairs for node in (pair.read_value, pair.assign) if node is not None]
        slots = {slot for node in nodes for slot in (*node.sources, node.first_slot)}
        if not slots & (self.tensors.keys() | self.carried):
            return True
        requirements: list[Requirement] = []
        for pair in pairs:
            found = self._examined(pair)
            if found is None:
                return False
            requirements += found
        if requirements:
            position = len(self.engine.schedule.nodes)
            self.guarded.append((position, self.base.reports[position].node, requirements))
        return True

    def _examined(self, pair: VariablePair) -> list[Requirement] | None:
        """The requirements of a variable; None if the plan cannot tell what is found for other sizes."""
        if pair.read_value is None or not pair.assign.sources:
            return None
        slots = (pair.read_value.first_slot, pair.assign.sources[0])
        facts = self.facts(slots)
        if facts is None:
            return None
        making = self.making
        del making.questions[:]
        ours = examine(pair, making.scope, *facts)
        example = examine(pair, self.engine.scope, *[self.base.slots[slot] for slot in slots])
        requirements = making.example.requirements(ours.requirements, example.requirements)
        if requirements is None or ours.findings or example.findings or not making.example.demand(making.questions):
            return None
        return requirements


def entered(
    trace: Trace, node: Node, transfer: Transfer, facts: tuple[Fact, ...]
) -> tuple[RuleOutputs | None, dict[tuple[int, str], Trace]]:
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
            (low, high), (least, most) = bounds_unasked(size), bounds_unasked(other)
            if is_constant and (low <= least <= most <= high or (not formulas.varies(other) and _are_alike(other, like))):
                continue
            raise Unplanned
    return found


def _are_alike(ours: Size, example: Size) -> bool:
    """Whether a size that stays what it is has the range of the example."""
    if isinstance(ours, Dim) and isinstance(example, Dim):
        return ours.range == example.range
    return not isinstance(ours, Dim) and ours == example


# No plan is made for more sizes and elements in all: it would cost more than it saves.
_MOST_NUMBERS: Final = 200_000


def make_plan(engine: Engine, shapes: dict[int, Numbers], varying: list[tuple[int, int]]) -> Plan | None:
    """The plan for changes of these axes of Parameters, each given by node and axis; None if too little could be planned.

    The engine has run with these shapes of Parameters, by node, and without errors: that run is the example.
    """
    try:
        return _planned(engine, shapes, _symbols(engine, shapes, varying))
    except Unplanned:
        return None


def _planned(engine: Engine, shapes: dict[int, Numbers], symbols: list[Symbol]) -> Plan:
    """The plan for these symbols. Raises `Unplanned`."""
    making = Making(engine, {one.name: shapes[one.node.index][one.axis] for one in symbols})
    trace = Trace(making, engine, engine.current, asks=True)
    nodes = dict.fromkeys(symbol.node for symbol in symbols)
    trace.visit([reader for node in nodes for reader in _entered(trace, node, shapes[node.index], symbols)])
    examines = not trace.examine_variables()
    if 2 * sum(isinstance(step, Ask) for _, step in making.steps) > trace.visited:
        raise Unplanned
    if sum(len(template.shape) + len(template.elements or ()) for template in set(trace.tensors.values())) > _MOST_NUMBERS:
        raise Unplanned
    has_indices_within = _indices_stay_within(trace)
    formulas, conditions = making.formulas, making.example.conditions
    planned = trace.to_plan()
    steps: list[tuple[int, Step]] = [
        (before, (name, tree)) for before, name, tree in formulas.numbered(*conditions.expressions(), *making.example.roots)
    ]
    return Plan(
        engine.model,
        planned,
        shapes,
        symbols,
        [step for _, step in sorted([*making.steps, *steps], key=lambda step: step[0])],
        conditions.trees(),
        trace.open_slots,
        {name: size for name, size in formulas.example.items() if isinstance(size, Dim) and name not in formulas.asked},
        partial(_hull, engine.scope, making.keys) if making.keys else None,
        examines=examines,
        has_indices_within=has_indices_within,
    )


def _indices_stay_within(trace: Trace) -> bool:
    """Demand that indices which Ranges count stay within the axes that they read; false, and no demand, if a rule tells one."""
    if trace.open_slots or trace.carried or beyond(trace.engine):
        return False
    model, weights = trace.engine.model, trace.engine.weights
    ours, examples = [list(largest_indices(model, slots, weights, parts=frozenset())) for slots in (trace.slots, trace.base.slots)]
    if [node for node, _, _ in ours] != [node for node, _, _ in examples]:
        return False
    return trace.making.example.demand([("lt", last, size) for _, size, last in ours])


def _entered(trace: Trace, node: Node, numbers: Numbers, symbols: list[Symbol]) -> list[int]:
    """Give a Parameter its symbols; the positions of the nodes that read it. Raises `Unplanned`."""
    op: Any = node.op
    making, shape = trace.making, list[Any](numbers)
    for name, own, axis, low, high in symbols:
        if own is node:
            shape[axis] = making.scope.symbol(name, low, high)
    fact = making.rules.facts.intern(op.element_type, tuple(shape))
    template = making.example.template(fact, trace.slots[node.first_slot], False)
    if template is None:
        raise Unplanned
    return trace.enter(node.first_slot, fact, template)


def _hull(scope: Scope, keys: list[Hashable], number: int, *sizes: Size) -> Size:
    return scope.hull(keys[number], *sizes)


def _symbols(engine: Engine, shapes: dict[int, Numbers], varying: list[tuple[int, int]]) -> list[Symbol]:
    """The symbols for the axes that change.

    Ranges have ends because some rules know their formula for sizes up to a limit only. Two sizes that broadcast are equal if both are
    above 1. So where the engine, or OpenVINO, does not know all numbers, a plan is for sizes above 1, and an axis of size 1 stays. An
    axis of size 2 stays, too: the example must lie inside of the ranges, so that it shows which bounds move with them.
    """
    slots = [fact for graph in engine.graphs() for fact in graph.slots]
    are_known = all(fact.openvino_view is fact and not any(isinstance(size, Dim) for size in fact.shape or ()) for fact in slots)
    least = 1 if are_known else 2
    found: list[Symbol] = []
    for index, axis in varying:
        size = shapes[index][axis]
        if size > least or least == 1:
            found.append(Symbol(f"s{len(found)}", engine.model.nodes[index], axis, least, max(HIGH, 1 << size.bit_length() + 1)))
    return found
