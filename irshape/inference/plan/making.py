"""The making of a plan: one pass with symbols for the sizes that change, checked against the pass of an example."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from irshape.inference.plan.asking import HIGH
from irshape.inference.plan.parts import Ask, Step, Symbol
from irshape.inference.plan.plan import Numbers, Plan
from irshape.inference.plan.shared import Making
from irshape.inference.plan.trace import Trace, Unplanned
from irshape.model.model import Node
from irshape.shape.dim import Dim, Scope, Size

if TYPE_CHECKING:
    from irshape.inference.engine import Engine

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
    )


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
    """A size of the engine's that is one of several."""
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
