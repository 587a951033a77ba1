"""The batch axis of each input: the file states it, or a proof shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf
from shlex import quote
from typing import Final, NamedTuple, TypeAlias

from irshape.answers.batch.traces import BatchDoubt, FollowingEngine, Proof, prove
from irshape.inference.inference import Inference
from irshape.inference.inputs import InputError, Inputs, described_shape
from irshape.inference.run import Guard
from irshape.model.build import layer_place
from irshape.model.finding import end_name
from irshape.model.model import Node
from irshape.report.diagnostic import ERROR, Diagnostic
from irshape.report.text import counted
from irshape.shape.dim import Dim, symbols
from irshape.shape.guard import Requirement
from irshape.shape.notation import Described, DescribedShape, SymbolRange, shape_text
from irshape.shape.reported import Reported

# The batch axis of some inputs.
Axes: TypeAlias = dict[Node, int]
_Described: TypeAlias = tuple[Described, ...]
_SIZES = SymbolRange(1, inf)
# The reason for a batch axis that the file does not state.
BY_PROOF: Final = "every layer keeps samples along this axis apart"
_GUESSED: Final = "irshape proves no axis, and takes the first one"
# The highest rank of axes that are not the first ones of all outputs that depend on them.
_ANYWHERE: Final = 2
# The layers that mix samples, or not, as the sizes say that a constant holds; and the end of a model.
_HOLDERS: Final = ("Broadcast", "Interpolate", "Pad", "Reshape", "Result", "Slice", "StridedSlice", "Tile")
# So many layers in doubt are told.
_MOST: Final = 8


class BatchAxes(NamedTuple):
    """Axes that may be the batch. `proof` tells of them, unless a size N of them is an error, `fault`, of the model."""

    axes: Axes
    proof: Proof | None
    fault: Diagnostic | None

    @property
    def rank(self) -> int:
        """How well the axes serve as the batch; 0 if they do not."""
        if self.proof is None or self.proof.doubts:
            return 0
        places = list(self.proof.outputs.values())
        if all(axis == 0 for axis in places):
            return 4 if places else 0
        if all(axis in (0, None) for axis in places):
            return 3 if 0 in places else 0
        return 2 if None not in places else 1


class Batch(NamedTuple):
    """The certain batch axes, each with the reason; and for the other inputs, `open_shapes`, the sets of axes that may be the batch.

    `candidates` are those of them that serve best, and `tried` are all. `is_whole` says that all axes were tried; if not, no work was left.
    """

    shapes: dict[Node, _Described]
    axes: Axes
    reasons: dict[Node, str]
    open_shapes: dict[Node, _Described]
    tried: list[BatchAxes]
    is_whole: bool

    @property
    def candidates(self) -> list[Axes]:
        """The sets of axes that serve best. An axis that is not the first one of the outputs serves only if its size is 1."""
        serving = [one for one in self.tried if one.rank > _ANYWHERE or (one.rank and self._is_single(one))]
        best = max([one.rank for one in serving], default=0)
        return [one.axes for one in serving if one.rank == best]

    def _is_single(self, candidate: BatchAxes) -> bool:
        return all(self.shapes[node][axis].low == self.shapes[node][axis].high == 1 for node, axis in candidate.axes.items())


def find_batch(new_engine: Callable[[], FollowingEngine], present: Inputs, asked: Inputs, *, proves: bool = False) -> Batch:
    """The batch axes, certain and possible, of the inputs of which no batch is asked for; with `proves`, certain ones are tried, too."""
    engine = new_engine()
    present = present.updated(asked)
    shapes = {node: shape for node in engine.model.parameters if (shape := present.shapes.get(node, described_shape(node)))}
    axes: Axes = {}
    reasons: dict[Node, str] = {}
    open_shapes: dict[Node, _Described] = {}
    for node, shape in shapes.items():
        layout = node.layer.outputs[0].layout if node.layer.outputs else None
        if layout is not None:
            axis = _batch_in_layout(layout, len(shape))
            if axis is not None and (node not in asked.shapes or _is_open(shape[axis])):
                axes[node], reasons[node] = axis, f"its layout is {layout}"
        elif shape[0].low != shape[0].high if node not in asked.shapes else _is_open(shape[0]):
            where = "in the file" if node not in asked.shapes else "asked for"
            axes[node], reasons[node] = 0, f"the size {where} is dynamic ({shape[0]})"
        elif node not in asked.shapes:
            open_shapes[node] = shape
    sets: Iterable[Axes] = _candidates(open_shapes, may_be_none=bool(axes)) if open_shapes else [{}] if proves and axes else ()
    work = engine.scope.work
    tried: list[BatchAxes] = []
    for more in sets:
        if work.is_done:
            if not tried or 0 in more.values():  # the first axes, which come first, are not all tried
                return Batch(shapes, axes, reasons, open_shapes, [], False)
            work.renew()
            break
        work.take(len(engine.model) + sum(map(len, shapes.values())))
        tried.append(_tried(engine, present, shapes, axes, more))
    return Batch(shapes, axes, reasons, open_shapes, tried, not work.is_done)


def batched(
    new_engine: Callable[[], FollowingEngine], present: Inputs, asked: Inputs, batch: Described
) -> tuple[Inputs, list[Diagnostic], Axes]:
    """The asked shapes, with a new batch size for every input that they do not name; notes that tell why each axis is the batch; the axes.

    The notes are errors if a layer does not keep the batch, or is not proved to. Raises InputError if no axis or several can be the batch.
    """
    if batch.high == 0:
        raise InputError("a batch has at least 1 sample, not 0; a shape may be empty: --input x[0,3]")
    found, chosen = _chosen(new_engine, present, asked, batch)
    axes = {**found.axes, **chosen.axes}
    present = present.updated(asked)
    sized = _sized(found.shapes, axes, batch)
    # The other symbols in these shapes keep their ranges.
    named = [name for node in sized for one in found.shapes[node] for name in one.symbols]
    symbols = {name: present.symbols[name] for name in named if name in present.symbols}
    notes = [*_told(found, chosen), *_left(found.open_shapes, axes, found.shapes, batch)]
    return asked._replace(shapes={**asked.shapes, **sized}, symbols={**symbols, **asked.symbols}), notes, axes


def _left(others: Mapping[Node, _Described], axes: Axes, shapes: Mapping[Node, _Described], batch: Described) -> Iterator[Diagnostic]:
    """Notes of the inputs that keep several rows where the others have one sample, as tokens of several codebooks for each sample."""
    samples = {shapes[node][axis].low for node, axis in axes.items() if shapes[node][axis].low == shapes[node][axis].high}
    for node, shape in others.items():
        rows, name = shape[0].low, batch.name or "N"
        if node not in axes and len(shape) > 1 and len(samples) == 1 and rows > (was := min(samples)) > 0 and rows % was == 0:
            named = f"{end_name(node)}{shape_text([f'{rows // was}*{name}', *map(str, shape[1:])])}"
            text = f"{end_name(node)!r} keeps {rows} on axis 0: the batch of the other inputs, {was}, is not its size"
            more = "" if batch.name else f" --batch N --set N={batch}"
            hint = f"if it has {rows // was} rows for each sample, add --input {quote(named)}{more}"
            yield Diagnostic("N101", text, layer_place(node), hint=hint)


def _is_open(size: Described) -> bool:
    """Whether a size may have several values, and no name."""
    return size.low != size.high and not size.symbols


def engine_of(inference: Inference) -> Callable[[], FollowingEngine]:
    """Engines for the model of an inference, which share its work."""
    return lambda: FollowingEngine(inference.model, inference.weights, inference.opaque, work=inference.scope.work)


def answered(inference: Inference, batch: Described) -> list[Diagnostic]:
    """Whether the model keeps its batch: notes of the axes that hold it, or errors. Raises InputError as `batched` does."""
    found, chosen = _chosen(engine_of(inference), inference.wanted, Inputs(), batch)
    told = _told(found, chosen)
    if chosen.fault is not None:
        node = next(iter({**found.axes, **chosen.axes}))
        message = f"the batch cannot have another size: {chosen.fault.message}"
        hint = "irshape reshape --batch N --rewrite changes the constants that hold the old size"
        return [*told, Diagnostic("P110", message, chosen.fault.where or layer_place(node), hint=hint)]
    return told


def _chosen(new_engine: Callable[[], FollowingEngine], present: Inputs, asked: Inputs, batch: Described) -> tuple[Batch, BatchAxes]:
    """What was found, and the axes that are the batch. Raises InputError."""
    found = find_batch(new_engine, present, asked, proves=True)
    if not found.is_whole:
        raise InputError("finding the batch axis takes more steps than the limit work allows; give the shapes of the inputs")
    if not found.axes and not found.open_shapes:
        given = ", ".join(f"{end_name(node)}{shape_text(shape)}" for node, shape in asked.shapes.items())
        left = f": the shapes {given} are given; leave the size of their batch open with a ?" if given else ""
        raise InputError(f"no input has a batch axis{left}")
    best = found.candidates
    if len(best) > 1:
        raise InputError(_unclear(found.open_shapes, best, batch))
    if best:
        return found, next(one for one in found.tried if one.axes is best[0])
    first = [one for one in found.tried if all(axis == 0 for axis in one.axes.values())]
    single = [one for one in first if all(found.shapes[node][0].low == 1 for node in one.axes)]
    likely = single if len(single) == 1 or found.axes else first
    if not likely or (len(likely) > 1 and not found.axes):
        raise InputError(_unclear(found.open_shapes, [one.axes for one in likely], batch))
    return found, likely[-1]


def _told(found: Batch, chosen: BatchAxes) -> list[Diagnostic]:
    """Notes of the axes that are the batch and of the outputs that do not depend on it, or the layers that do not keep it."""
    reason = BY_PROOF if chosen.rank else _GUESSED
    proved = f", and {BY_PROOF}" if chosen.proof is not None and not chosen.proof.doubts else ""
    told = []
    for node, axis in {**found.axes, **chosen.axes}.items():
        why = f"{found.reasons[node]}{proved}" if node in found.reasons else reason
        told.append(Diagnostic("N101", f"the batch is axis {axis} of {end_name(node)!r}: {why}", layer_place(node)))
    if chosen.proof is None:
        return told
    told += doubtful(chosen.proof)
    for given in dict.fromkeys(chosen.proof.orders.values()):
        nodes = [node for node, one in chosen.proof.orders.items() if one is given]
        more = f", and so {'does' if len(nodes) == 2 else 'do'} {counted(len(nodes) - 1, 'more layer')}" if len(nodes) > 1 else ""
        text = f"{nodes[0].type} {nodes[0].name!r} takes the samples in the order that the input {end_name(given)!r} gives{more}"
        told.append(Diagnostic("N101", text, layer_place(nodes[0])))
    for node, kept in chosen.proof.outputs.items():
        if kept is None and not chosen.proof.doubts:
            text = f"output {end_name(node)!r} does not depend on the batch: it is the same for all samples"
            told.append(Diagnostic("N101", text, layer_place(node)))
    return told


def resized(before: Inputs, after: Inference) -> list[Diagnostic]:
    """Warnings for a reshape that gives first axes of size 1 another size, if the model does not keep samples along these axes apart."""
    axes: Axes = {}
    for node, shape in after.wanted.shapes.items():
        was = before.shapes.get(node, described_shape(node))
        if shape and was and len(was) == len(shape) and was[0].low == was[0].high == 1 and shape[0] != was[0]:
            axes[node] = 0
    if not axes:
        return []
    shapes = {node: shape for node in axes if (shape := after.wanted.shapes[node])}
    proof = _tried(engine_of(after)(), after.wanted, shapes, {}, axes).proof
    return [] if proof is None else [Diagnostic(one.code, one.message, one.where, "warning", one.hint) for one in doubtful(proof)]


def mixes(inference: Inference, nodes: Iterable[Node]) -> bool:
    """Whether samples along the first axes of these inputs are mixed, whatever sizes the constants of the file hold."""
    shapes = {node: shape for node in nodes if (shape := described_shape(node))}
    proof = _tried(engine_of(inference)(), inference.wanted, shapes, {}, dict.fromkeys(shapes, 0)).proof
    first = None if proof is None else next(iter(proof.doubts), None)
    return first is not None and first.is_mixed and first.folded is None and first.node.type not in _HOLDERS


def doubtful(proof: Proof) -> list[Diagnostic]:
    """The layers that mix the batch, or else those that are not proved to keep it."""
    mixed = [doubt for doubt in proof.doubts if doubt.is_mixed]
    told = []
    for doubt in (mixed or proof.doubts)[:_MOST]:
        layer = f"{doubt.node.type} {doubt.node.name!r}"
        if doubt.is_mixed:
            hint = _remedy(doubt)
            told.append(Diagnostic("P110", f"the batch is mixed: {layer} {doubt.why}", layer_place(doubt.node), hint=hint))
        else:
            hint = "compare the outputs of a batch with those of single samples; if they agree, give the shapes with --input"
            message = f"irshape cannot prove that {layer} keeps samples apart: {doubt.why}"
            told.append(Diagnostic("P111", message, layer_place(doubt.node), hint=hint))
    return told


def _remedy(doubt: BatchDoubt) -> str:
    """What to do about a layer that mixes the batch."""
    if doubt.folded is not None:
        held = f"Reshape {doubt.folded.name!r} (line {doubt.folded.line}) puts the batch into one axis with other elements"
        return f"{held}: convert the model again with an axis for the batch, or run the samples one by one"
    if doubt.node.type == "Reshape":
        return "if the pattern holds the size of one sample, this changes it: irshape reshape --batch N --rewrite"
    return "run the samples one by one, or export the model with this batch; if you know that samples stay apart, give shapes by --input"


def _tried(engine: FollowingEngine, present: Inputs, shapes: Mapping[Node, _Described], axes: Axes, more: Axes) -> BatchAxes:
    """What a pass with a symbol in place of these axes shows."""
    taken = present.names | present.symbols.keys()
    name = next(name for name in ("N", "batch", "_batch", *[f"N{number}" for number in range(len(taken))]) if name not in taken)
    sized = _sized(shapes, {**axes, **more}, Described(0, inf, name))
    engine.run(present.updated(Inputs(sized, {**present.symbols, name: _SIZES})).question(engine))
    fault = next((one for one in engine.diagnostics if one.severity == ERROR), None)
    if fault is None:
        low, high = Reported.of(engine.scope, engine.requirements).bounds(engine.scope.symbol(name, *_SIZES))
        fixing = next((guard for guard in engine.guards if not guard.branch and _ties(guard.requirement, name)), None)
        if low < high and fixing is None:
            return BatchAxes(more, prove(engine, name), None)
        fault = _fixing(engine, name, fixing)
    return BatchAxes(more, None, fault)


def _ties(requirement: Requirement, name: str) -> bool:
    """Whether a demand ties a symbol to a number: `N == 4`, or `N` and 4 that broadcast."""
    sides = requirement.a, requirement.b
    tied = next((size for size in sides if isinstance(size, Dim) and name in symbols(size)), None)
    other = next((size for size in sides if isinstance(size, int)), None)
    return requirement.kind in ("eq", "broadcast", "stretch") and tied is not None and other is not None and other != 1


def _fixing(engine: FollowingEngine, name: str, fixing: Guard | None) -> Diagnostic:
    """The demand that leaves a symbol one size only."""
    guards = [guard for guard in engine.guards if name in guard.requirement.symbols() and not guard.branch]
    guard = fixing or min(guards, key=lambda one: len(one.requirement.symbols()), default=None)
    if guard is None:
        return Diagnostic("P110", "only one size is possible", layer_place(engine.model.parameters[0]))
    layer = guard.node
    return Diagnostic("P110", f"{layer.type} {layer.name!r} demands {guard.requirement}", layer_place(guard._node))


def _batch_in_layout(layout: str, rank: int) -> int | None:
    """The axis of N in `[N,C,H,W]`, `[N,...]` or `[...,N]`; None if there is no N."""
    axes = [axis.strip() for axis in layout.strip("[] ").split(",")]
    if "N" not in axes:
        return None
    axis = axes.index("N")
    if "..." in axes[:axis]:
        axis += rank - len(axes)
    return axis if 0 <= axis < rank else None


def _candidates(shapes: dict[Node, _Described], *, may_be_none: bool) -> Iterable[Axes]:
    """Sets of axes that may be the batch together: they have the same position and the same size."""
    groups: dict[tuple[int, Described], Axes] = {}
    for node, shape in shapes.items():
        for axis, size in enumerate(shape):
            groups.setdefault((axis, size), {})[node] = axis
    return [*([{}] if may_be_none else []), *[groups[key] for key in sorted(groups, key=lambda key: key[0])]]


def _sized(shapes: Mapping[Node, _Described], axes: Axes, size: Described) -> dict[Node, DescribedShape]:
    return {node: (*shapes[node][:axis], size, *shapes[node][axis + 1 :]) for node, axis in axes.items()}


def _unclear(shapes: dict[Node, _Described], shown: list[Axes], batch: Described) -> str:
    example = next(iter(shapes))
    sizes = list(shapes[example])
    sizes[shown[0].get(example, 0) if shown else 0] = batch
    hint = f"give the shape of an input, as in {end_name(example)}[{','.join(map(str, sizes))}]"
    if not shown:
        names = ", ".join(repr(end_name(node)) for node in shapes)
        return f"no axis of {names} is known to be the batch: no two inputs begin with the same size; {hint}"
    options = [" with ".join(f"axis {axis} of {end_name(node)!r}" for node, axis in axes.items()) or "none of the others" for axes in shown]
    return f"the batch axis may be {' or '.join(options)}; {hint}"
