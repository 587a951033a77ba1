"""What a pass leaves of the sizes that were asked for: a size that was asked to be open must have many values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from irshape.inference.engine import Engine
from irshape.inference.inputs import Inputs
from irshape.inference.run import Guard
from irshape.model.build import place
from irshape.model.const import Const
from irshape.model.model import Node
from irshape.report.diagnostic import ERROR, Diagnostic
from irshape.shape.dim import Dim, Size, formula_text, symbols
from irshape.shape.element_type import ElementType
from irshape.shape.reported import Reported
from irshape.xml.weights import WeightsError

_CONSTANTS: Final = ("Const", "Constant")
_HINT: Final = "ask for this size, or add --rewrite, which changes whatever holds the old size"


def unmet(engine: Engine, asked: Inputs, hint: str = _HINT) -> list[Diagnostic]:
    """The errors of sizes that a pass cannot have although no layer fails: `asked` are the shapes that are new. `hint` is the next step."""
    found = [_refused(one) for one in engine.diagnostics if one.code == "R401"]
    names = asked.names | asked.symbols.keys()
    sizes = list(_asked_sizes(engine, asked))
    known = set(names).union(*[symbols(size) for _, size in sizes])
    if not known:
        return found
    guards = [guard for guard in engine.guards if not guard.branch and not guard.is_premise]
    told: set[str] = set()
    for guard in guards:
        number, dim = _tie(guard)
        if dim is not None and symbols(dim) <= known and str(guard.requirement) not in told:
            told.add(str(guard.requirement))
            found.append(_held(engine, guard._node, f"{guard.requirement}: {guard.requirement.message}", number, hint))
    if not told and guards:
        reported = Reported(engine.scope, [guard.requirement for guard in guards])
        for node, size in sizes:
            low, high = reported.bounds(size)
            if low == high:
                guard = next((one for one in guards if symbols(size) & one.requirement.symbols()), guards[0])
                why = f"{formula_text(size)} of {node.type} {node.name!r} can only be {low}, because {guard.requirement} must hold"
                found.append(_held(engine, guard._node, why, None, hint))
    return found


def _asked_sizes(engine: Engine, asked: Inputs) -> Iterator[tuple[Node, Dim]]:
    """The sizes that were asked to be open."""
    for node, described in asked.shapes.items():
        shape = engine.slots[node.first_slot].shape
        for one, size in zip(described or (), shape or (), strict=False):
            if isinstance(size, Dim) and (one.symbols or one.low != one.high):
                yield node, size


def _tie(guard: Guard) -> tuple[int | None, Dim | None]:
    """The number and the formula of a requirement that ties a formula to a number."""
    one = guard.requirement
    if one.kind in ("eq", "broadcast", "stretch"):
        for a, b in ((one.a, one.b), (one.b, one.a)):
            if isinstance(a, int) and isinstance(b, Dim):
                return a, b
    return None, None


def _held(engine: Engine, node: Node, why: str, number: int | None, hint: str) -> Diagnostic:
    """The error of a layer that leaves a size one value, with the constant that has the number."""
    model = engine.model
    where = place(model.document, node.layer, node.layer.offset)
    constant = None if number is None else _constant(engine, node, number)
    text = f"{node.type} {node.name!r} demands {why}"
    if constant is not None:
        spot = place(model.document, constant.layer, constant.layer.offset)
        text += f"; {constant.type} {constant.name!r} (line {spot.line}) holds {number}"
        return Diagnostic("S207", text, where, hint=hint, related=(spot,))
    return Diagnostic("S207", text, where, hint=hint)


def _constant(engine: Engine, node: Node, number: Size) -> Node | None:
    """The nearest constant before a layer that has a number as an element or as a size."""
    model, pending, seen = engine.model, [node], {node}
    while pending:
        one = pending.pop(0)
        for slot in one.sources:
            source = model.nodes[model.producers[slot]] if 0 <= slot < len(model.producers) else None
            if source is None or source in seen:
                continue
            seen.add(source)
            if source.type in _CONSTANTS:
                shape = engine.slots[source.first_slot].shape or ()
                if number in shape or number in (_integers(engine, source, _FEW) or ()):
                    return source
            elif len(seen) < _MOST_NEAR:
                pending.append(source)
    return None


_MOST_NEAR: Final = 64
_FEW: Final = 16


def _integers(engine: Engine, node: Node, most: int) -> list[int] | None:
    """The elements of a Const of at most so many integers; None for any other, and without weights."""
    op: Any = node.op
    if op is None or op.is_broken or engine.weights is None or op.element_type not in (ElementType.i64, ElementType.i32):
        return None
    const = Const(op.element_type, op.shape, op.offset, op.size, engine.weights)
    if const.size > most * 8:
        return None
    try:
        found: list[int] = const.data.reshape(-1).tolist()
    except WeightsError:
        return None
    return found


def _refused(one: Diagnostic) -> Diagnostic:
    """A fault for which no size is valid, as the error that it is for who asks for these sizes."""
    return Diagnostic(one.code, one.message, one.where, severity=ERROR, hint=one.hint, related=one.related)
