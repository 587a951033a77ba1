"""State: which ReadValue each Assign belongs to, and whether the assigned value fits the variable."""

from __future__ import annotations

from bisect import bisect_left
from itertools import chain
from typing import Final

from irshape.inference.facts import Fact
from irshape.model.model import SINKS, Model, Node, behind, grouped
from irshape.ops.context import Context, RuleFailure
from irshape.ops.infrastructure import AssignV3, AssignV6, ReadValueV3, ReadValueV6
from irshape.ops.op import Op
from irshape.report.diagnostic import clipped
from irshape.shape.compilation import NamedTuple
from irshape.shape.dim import Scope, bounds
from irshape.shape.element_type import ElementType

# ReadValues whose readers are found in one walk.
_CHUNK: Final = 1024


class VariablePair(NamedTuple):
    """An Assign and the ReadValue of its variable, None if there is none.

    `is_read_first` tells whether OpenVINO makes the ReadValue first: only then does it compare the two. `left` are the ReadValues without
    an Assign, with their variables, if the Assign has no ReadValue.
    """

    assign: Node
    read_value: Node | None
    is_read_first: bool
    left: list[tuple[Node, str]]


def pairs(model: Model) -> list[VariablePair]:
    """Every Assign with its ReadValue; of several that read the variable, the last one that OpenVINO makes before."""
    written = [node for node in model if node.op_type == "Assign"]
    assigns = [(node, op) for node in written if isinstance(op := node.op, (AssignV3, AssignV6)) and not op.is_broken]
    if not assigns or model.document.is_example:
        return []
    order = {index: position for position, index in enumerate(_order_of_making(model))}
    made = [model.nodes[index] for index in order]
    read_values = [(node, op) for node in made if isinstance(op := node.op, (ReadValueV3, ReadValueV6)) and not op.is_broken]
    upstream = _upstream(model, [node for node, op in read_values if isinstance(op, ReadValueV3)], [node for node, _ in assigns])
    assigned = {op.variable_id for _, op in assigns}
    left = [(node, op.variable_id) for node, op in read_values if op.variable_id not in assigned]
    found = []
    by_name = grouped(((read.variable_id, isinstance(read, ReadValueV3)), node) for node, read in read_values)
    for assign, op in assigns:
        old, new = (by_name.get((op.variable_id, is_old), []) for is_old in (True, False))
        if isinstance(op, AssignV3):
            reached = upstream[assign.index]
            read_value = next((node for node in reversed(old) if node.index in reached), None)
        else:
            # They stand in the order in which they are made.
            before = bisect_left(new, order.get(assign.index, len(order)), key=lambda node: order[node.index])
            read_value = new[before - 1] if before else next(chain(new, old), None)
        is_read_first = read_value is not None and order[read_value.index] < order.get(assign.index, len(order))
        found.append(VariablePair(assign, read_value, is_read_first, left if read_value is None else []))
    return found


def _order_of_making(model: Model) -> list[int]:
    """The live nodes in the order in which OpenVINO makes them: the nodes that each Result and Assign needs, one after the other."""
    first = {node.index for node in model.parameters}
    sinks = [node.index for node in model.nodes if node.type in SINKS and node.is_live]
    needs = behind(sinks, lambda index: [one for one in reversed(_needs(model, model.nodes[index])) if one not in first])
    return [*sorted(first), *needs]


def _needs(model: Model, node: Node) -> list[int]:
    producers = model.producers
    return [producers[slot] for slot in node.sources if 0 <= slot < len(producers)]


def _upstream(model: Model, sources: list[Node], targets: list[Node]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {target.index: set() for target in targets}
    for start in range(0, len(sources), _CHUNK):
        chunk = sources[start : start + _CHUNK]
        bits = {node.index: 1 << position for position, node in enumerate(chunk)}
        reached = [0] * len(model.nodes)
        for node in model:
            mask = bits.get(node.index, 0)
            for need in _needs(model, node):
                mask |= reached[need]
            reached[node.index] = mask
        for target in targets:
            mask = reached[target.index]
            found[target.index].update(node.index for node in chunk if mask & bits[node.index])
    return found


def examine(pair: VariablePair, scope: Scope, read: Fact | None, assigned: Fact) -> Context:
    """The findings and requirements of an Assign, given the facts of both outputs."""
    op, read_value = pair.assign.op, pair.read_value
    assert isinstance(op, (AssignV3, AssignV6))
    ctx = Context(scope, op, pair.assign.model.first_tensor + pair.assign.first_slot)
    if read_value is None:
        where = "upstream" if isinstance(op, AssignV3) else "in this graph"
        message = f"no ReadValue {where} has the variable {op.variable_id!r}"
        if pair.left:
            from difflib import SequenceMatcher

            node, name = max(pair.left, key=lambda one: SequenceMatcher(None, one[1], op.variable_id).ratio())
            message += f"; did you mean {name!r} of ReadValue {clipped(node.name)!r}, which has no Assign?"
        ctx.error("G118", message)
        return ctx
    assert read is not None
    if read.is_poisoned or assigned.is_poisoned:
        return ctx
    is_strict = isinstance(op, AssignV3)
    try:
        variable, element_type = read.element_type, assigned.element_type
        if variable is not element_type and (is_strict or ElementType.dynamic not in (variable, element_type)):
            code = "T102" if pair.is_read_first else "R201"
            ctx.fail(code, f"the value must have the element type of the variable, {variable}, got {element_type}")
        with ctx.openvino_checks(when=pair.is_read_first and _is_refused(ctx, read_value.op, read, assigned, is_strict=is_strict)):
            _compare_shapes(ctx, read_value.op, read, assigned, is_strict=is_strict)
    except RuleFailure:
        pass
    return ctx


def _is_refused(ctx: Context, read_value: Op | None, read: Fact, assigned: Fact, *, is_strict: bool) -> bool:
    """Whether OpenVINO refuses the value if the comparison fails: it knows the same facts, or its own facts fail, too."""
    if read.openvino_view is read and assigned.openvino_view is assigned:
        return True
    theirs = Context(ctx.scope, ctx.op, ctx.key)
    try:
        _compare_shapes(theirs, read_value, read.openvino_view, assigned.openvino_view, is_strict=is_strict)
    except RuleFailure:
        return True
    return theirs.has_errors()


def _compare_shapes(ctx: Context, read_value: Op | None, read: Fact, assigned: Fact, *, is_strict: bool) -> None:
    """OpenVINO compares static shapes of opset3, all of opset6; a variable of opset3 may change its shape."""
    variable, shape = read.shape, assigned.shape
    if variable is None or shape is None:
        return
    if isinstance(read_value, ReadValueV3) and not (is_strict and all(type(size) is int for size in (*variable, *shape))):
        return
    ctx.require_eq(len(shape), len(variable), "the value must have the rank of the variable", code="S102")
    ctx.stop_at_errors()
    # A signature may know the size that a variable has now; its next one only has to be among those that it declares.
    declared = read_value.variable_shape if isinstance(read_value, ReadValueV6) else None
    for axis, (size, wanted) in enumerate(zip(shape, variable, strict=False)):
        low, high = declared[axis] if declared is not None and len(declared) == len(variable) else bounds(wanted)
        if low == high:
            ctx.require_eq(size, int(low), "axis {axis} must have the size that the variable has", axis=axis)
            continue
        ctx.require_ge(size, int(low), "axis {axis} must be in the range of the variable", code="S201", axis=axis)
        if type(high) is int:
            ctx.require_ge(high, size, "axis {axis} must be in the range of the variable", code="S201", axis=axis)
