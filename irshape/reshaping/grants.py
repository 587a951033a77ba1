"""What a pass leaves of the sizes that were asked for: a size that was asked to be open must have many values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from irshape.inference.engine import Engine
from irshape.inference.inputs import Inputs
from irshape.inference.run import Guard
from irshape.model.build import place
from irshape.model.model import Node
from irshape.report.diagnostic import ERROR, Diagnostic
from irshape.shape.dim import Dim, Size, formula_text, symbols
from irshape.shape.reported import Reported

if TYPE_CHECKING:
    from irshape.model.model import Model

_CONSTANTS: Final = ("Const", "Constant")
_HINT: Final = "ask for this size, or add --rewrite, which changes whatever holds the old size"
# A constant with more indices is a table, and its largest index is not looked for.
_MOST: Final = 1 << 16


def unmet(engine: Engine, asked: Inputs, wanted: Inputs) -> list[Diagnostic]:
    """The errors of sizes that a pass cannot have although no layer fails: `asked` are the shapes that are new among those `wanted`."""
    model = engine.model
    found = [_refused(one) for one in engine.diagnostics if one.code == "R401"]
    found += _beyond(engine)
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
            found.append(_held(model, guard._node, f"{guard.requirement}: {guard.requirement.message}", number))
    if not told and guards:
        reported = Reported(engine.scope, [guard.requirement for guard in guards])
        for node, size in sizes:
            low, high = reported.bounds(size)
            if low == high:
                guard = next((one for one in guards if symbols(size) & one.requirement.symbols()), guards[0])
                why = f"{formula_text(size)} of {node.type} {node.name!r} can only be {low}, because {guard.requirement} must hold"
                found.append(_held(model, guard._node, why, None))
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


def _held(model: Model, node: Node, why: str, number: int | None) -> Diagnostic:
    """The error of a layer that leaves a size one value, with the constant that has the number."""
    where = place(model.document, node.layer, node.layer.offset)
    constant = None if number is None else _constant(model, node, number)
    text = f"{node.type} {node.name!r} demands {why}"
    if constant is not None:
        spot = place(model.document, constant.layer, constant.layer.offset)
        text += f"; {constant.type} {constant.name!r} (line {spot.line}) holds {number}"
        return Diagnostic("S207", text, where, hint=_HINT, related=(spot,))
    return Diagnostic("S207", text, where, hint=_HINT)


def _constant(model: Model, node: Node, number: Size) -> Node | None:
    """The nearest constant before a layer that has a number as an element or as a size."""
    pending, seen = [node], {node}
    while pending:
        one = pending.pop(0)
        for slot in one.sources:
            source = model.nodes[model.producers[slot]] if 0 <= slot < len(model.producers) else None
            if source is None or source in seen:
                continue
            seen.add(source)
            if source.type in _CONSTANTS:
                if number in source.const.shape or (source.const.element_type.name in ("i64", "i32") and _holds(source, number)):
                    return source
            elif len(seen) < _MOST_NEAR:
                pending.append(source)
    return None


_MOST_NEAR: Final = 64
_FEW: Final = 16


def _holds(node: Node, number: Size) -> bool:
    const = node.const
    count = 1
    for size in const.shape:
        count *= size
    return count <= _FEW and number in const.data.reshape(-1).tolist()


def _refused(one: Diagnostic) -> Diagnostic:
    """A fault for which no size is valid, as the error that it is for who asks for these sizes."""
    return Diagnostic(one.code, one.message, one.where, severity=ERROR, hint=one.hint, related=one.related)


def _beyond(engine: Engine) -> Iterator[Diagnostic]:
    """Constant indices behind the end of an axis. OpenVINO meets them only when the model runs."""
    model = engine.model
    for node in model.of_type("Gather"):
        if len(node.sources) < 3 or not all(0 <= slot < len(model.producers) for slot in node.sources):
            continue
        data, table, _ = (model.nodes[model.producers[slot]] for slot in node.sources[:3])
        if table.type not in _CONSTANTS or data.type in _CONSTANTS:
            continue
        shape, axes = engine.slots[node.sources[0]].shape, engine.slots[node.sources[2]].elements
        if not shape or axes is None or not isinstance(axes[0], int) or not isinstance(size := shape[axes[0]], int):
            continue
        const = table.const
        if const.size > _MOST or not const.size:
            continue
        indices = const.data.reshape(-1).tolist()
        if max(indices) >= size or min(indices) < -size:
            where, spot = (place(model.document, one.layer, one.layer.offset) for one in (node, table))
            text = f"index {max(indices)} of Const {table.name!r} (line {spot.line}) is behind the end of axis {axes[0]} of {size} elements"
            yield Diagnostic("S207", text, where, hint="ask for a larger size, or convert the model again", related=(spot,))
