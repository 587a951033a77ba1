"""Find the batch axis of each input: the file states it, or a symbol put there reveals it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Final, NamedTuple, TypeAlias

from irshape.inference.engine import Engine
from irshape.inference.inputs import InputError, Inputs, described_shape
from irshape.model.build import place
from irshape.model.model import Node
from irshape.report.diagnostic import ERROR, Diagnostic
from irshape.shape.dim import eq
from irshape.shape.notation import Described, DescribedShape, SymbolRange
from irshape.shape.reported import Reported

# The batch axis of some inputs.
_Axes: TypeAlias = dict[Node, int]
_Described: TypeAlias = tuple[Described, ...]
# The symbol that is put in place of a batch to see where it leads.
_SYMBOL = Described(0, inf, "_batch")
_SIZES = SymbolRange(1, inf)
# The reason for a batch axis that the file does not state.
BY_SYMBOL: Final = "a symbol put there becomes the leading dimension of every output"


class Batch(NamedTuple):
    """The certain batch axes, each with the reason; and for the other inputs, `open_shapes`, sets of axes that may be the batch.

    `is_whole` says that all axes were tried; if not, no work was left.
    """

    shapes: dict[Node, _Described]
    axes: _Axes
    reasons: dict[Node, str]
    open_shapes: dict[Node, _Described]
    candidates: list[_Axes]
    is_whole: bool


def find_batch(new_engine: Callable[[], Engine], present: Inputs, asked: Inputs) -> Batch:
    """Find the batch axes, certain and possible, of the inputs whose shape is not asked for."""
    engine = new_engine()
    present = present.updated(asked)
    shapes = {node: shape for node in engine.model.parameters if (shape := present.shapes.get(node, described_shape(node)))}
    axes: _Axes = {}
    reasons: dict[Node, str] = {}
    open_shapes: dict[Node, _Described] = {}
    for node, shape in shapes.items():
        if node in asked.shapes:
            continue
        layout = node.layer.outputs[0].layout if node.layer.outputs else None
        if layout is not None:
            axis = _batch_in_layout(layout, len(shape))
            if axis is not None:
                axes[node], reasons[node] = axis, f"its layout is {layout}"
        elif shape[0].low != shape[0].high:
            axes[node], reasons[node] = 0, f"its size in the file is dynamic: {shape[0]}"
        else:
            open_shapes[node] = shape
    tried = _candidates(open_shapes, may_be_none=bool(axes)) if open_shapes else ()
    work = engine.scope.work
    shown = []
    for more in tried:
        if work.is_done:
            return Batch(shapes, axes, reasons, open_shapes, [], False)
        work.take(len(engine.model) + sum(map(len, shapes.values())))
        if _is_batch(engine, present, _sized(shapes, {**axes, **more}, _SYMBOL)):
            shown.append(more)
    return Batch(shapes, axes, reasons, open_shapes, shown, not (open_shapes and work.is_done))


def batched(new_engine: Callable[[], Engine], present: Inputs, asked: Inputs, batch: Described) -> tuple[Inputs, list[Diagnostic]]:
    """The asked shapes, with a new batch size for every input that they do not name; and notes that give the reason for each axis.

    Raises InputError if no axis can be the batch, or several can.
    """
    shapes, axes, reasons, open_shapes, shown, is_whole = find_batch(new_engine, present, asked)
    if not is_whole:
        raise InputError("finding the batch axis takes more steps than the limit work allows; give the shapes of the inputs")
    if open_shapes:
        if len(shown) != 1:
            raise InputError(_unclear(open_shapes, shown, batch))
        axes.update(shown[0])
        reasons.update(dict.fromkeys(shown[0], BY_SYMBOL))
    if not axes:
        raise InputError("no input has a batch axis")
    present = present.updated(asked)
    sized = _sized(shapes, axes, batch)
    # The other symbols in these shapes keep their ranges.
    named = [name for node in sized for one in shapes[node] for name in one.symbols]
    symbols = {name: present.symbols[name] for name in named if name in present.symbols}
    notes = [_note(node, axis, reasons[node]) for node, axis in axes.items()]
    return Inputs({**asked.shapes, **sized}, {**symbols, **asked.symbols}), notes


def _batch_in_layout(layout: str, rank: int) -> int | None:
    """The axis of N in `[N,C,H,W]`, `[N,...]` or `[...,N]`; None if there is no N."""
    axes = [axis.strip() for axis in layout.strip("[] ").split(",")]
    if "N" not in axes:
        return None
    axis = axes.index("N")
    if "..." in axes[:axis]:
        axis += rank - len(axes)
    return axis if 0 <= axis < rank else None


def _candidates(shapes: dict[Node, _Described], *, may_be_none: bool) -> Iterable[_Axes]:
    """Sets of axes that may be the batch together: they have the same position and the same size."""
    groups: dict[tuple[int, Described], _Axes] = {}
    for node, shape in shapes.items():
        for axis, size in enumerate(shape):
            groups.setdefault((axis, size), {})[node] = axis
    return [*([{}] if may_be_none else []), *groups.values()]


def _sized(shapes: Mapping[Node, _Described], axes: _Axes, size: Described) -> dict[Node, DescribedShape]:
    """The shapes with another batch size."""
    return {node: (*shapes[node][:axis], size, *shapes[node][axis + 1 :]) for node, axis in axes.items()}


def _is_batch(engine: Engine, present: Inputs, sized: dict[Node, DescribedShape]) -> bool:
    """Whether the symbol in these shapes becomes the leading dimension of every output, and no guard fixes it."""
    engine.run(present.updated(Inputs(sized, {**present.symbols, _SYMBOL.name: _SIZES})).question(engine))
    batch = engine.scope.symbol(_SYMBOL.name, *_SIZES)
    if any(diagnostic.severity == ERROR for diagnostic in engine.diagnostics):
        return False
    for result in engine.model.results:
        source = result.sources[0] if result.sources else -1
        shape = engine.slots[source].shape or () if source >= 0 else ()
        if result.is_live and (not shape or eq(shape[0], batch) is not True):
            return False
    low, high = Reported(engine.scope, engine.requirements).bounds(batch)
    return low < high


def _unclear(shapes: dict[Node, _Described], shown: list[_Axes], batch: Described) -> str:
    example = next(iter(shapes))
    sizes = list(shapes[example])
    sizes[shown[0].get(example, 0) if shown else 0] = batch
    hint = f"give the shape of an input, as in {example.name}[{','.join(map(str, sizes))}]"
    if not shown:
        names = ", ".join(repr(node.name) for node in shapes)
        remedy = "if constants fix the batch, add patch_constants (--patch-constants), which changes these constants, too"
        return f"no axis of {names} becomes the leading dimension of every output; {hint}; {remedy}"
    options = [" with ".join(f"axis {axis} of {node.name!r}" for node, axis in axes.items()) or "none of the others" for axes in shown]
    return f"the batch may be {' or '.join(options)}; {hint}"


def _note(node: Node, axis: int, reason: str) -> Diagnostic:
    where = place(node.model.document, node.layer, node.layer.offset)
    return Diagnostic("N101", f"the batch is axis {axis} of {node.name!r}: {reason}", where)
