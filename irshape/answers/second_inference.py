"""State that changes its shape: whether a model with state, whose inputs all have fixed shapes, can run a second time.

The first inference takes the shape of the state that the inputs and the conditions of the model leave. It writes another one if the state
grows, and then the same inputs may no longer fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from irshape.answers.open_sizes import Violation, without_state
from irshape.answers.signature.discovery import Discovery
from irshape.inference.engine import Engine
from irshape.inference.inference import Inference
from irshape.inference.inputs import InputError
from irshape.model.build import place
from irshape.model.model import Node
from irshape.report.diagnostic import ERROR, Diagnostic
from irshape.shape.shape import format_shape

_States: TypeAlias = Mapping[Node, tuple[int, ...]]


def outgrown(inference: Inference) -> Violation | None:
    """The variable because of which a second inference cannot run; None if it can run, or if an input has an open size."""
    model, run = inference.graphs[0]
    if not model.of_type("ReadValue") or not inference.ok:
        return None
    if any(_numbers(run.slots[node.first_slot].shape) is None for node in model.parameters):
        return None
    try:
        state = _state(Discovery(model, inference.wanted, inference.weights, inference.opaque))
    except InputError:
        return None
    engine = Engine(model, inference.weights, inference.opaque, work=inference.scope.work)
    after = _after(engine, inference, state)
    changed = [node for node, shape in state.items() if after.get(node, shape) != shape]
    if not changed or _errors(engine):
        return None
    _after(engine, inference, {**state, **after})
    errors = _errors(engine)
    if not errors:
        return None
    node, first = changed[0], errors[0]
    shapes = f"{format_shape(state[node])} before the first inference and {format_shape(after[node])} behind it"
    message = f"the second inference cannot run: the state {node.name!r} has the shape {shapes}, and then {_where(first)}: {first.message}"
    return Violation("P106", message, node, without_state(model, "fix the sizes there"))


def refuse_outgrown(inference: Inference) -> None:
    """Report the variable because of which a second inference cannot run as an error."""
    if (one := outgrown(inference)) is not None:
        where = place(inference.document, one.node.layer, one.node.layer.offset)
        inference.report([Diagnostic(one.code, one.message, where, None, one.hint)])


def _state(found: Discovery) -> dict[Node, tuple[int, ...]]:
    """The shapes of the variables that the inputs leave, as far as they are numbers."""
    shapes = {
        node: tuple([int(one.low) for one in shape]) for node, shape in found.state.items() if all(one.low == one.high for one in shape)
    }
    return {node: shape for node, shape in shapes.items() if not any(one.symbols for one in found.state[node])}


def _after(engine: Engine, inference: Inference, state: _States) -> dict[Node, tuple[int, ...]]:
    """The shapes of the variables behind an inference that begins with some shapes."""
    types = {node: inference.graphs[0][1].slots[node.first_slot].element_type for node in state}
    overrides = {node.index: (engine.facts.intern(types[node], shape),) for node, shape in state.items()}
    engine.run(inference.wanted.question(engine).with_overrides(overrides))
    found = {}
    for pair in engine.pairs:
        source = pair.assign.sources[0] if pair.assign.sources else -1
        shape = _numbers(engine.slots[source].shape) if source >= 0 else None
        if pair.read_value is not None and shape is not None:
            found[pair.read_value] = shape
    return found


def _errors(engine: Engine) -> list[Diagnostic]:
    return [one for one in engine.diagnostics if one.severity == ERROR]


def _numbers(shape: object) -> tuple[int, ...] | None:
    """A shape whose sizes are all numbers; None for another one."""
    return shape if isinstance(shape, tuple) and all(isinstance(size, int) for size in shape) else None


def _where(fault: Diagnostic) -> str:
    return f"{fault.where.layer_type} {fault.where.layer_name!r} refuses it"
