"""Constant indices that take an axis, or a part of a tensor, whole: made again for other sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product as product_of
from math import gcd, prod
from typing import Any, Final, NamedTuple, cast

import numpy as np

from irshape.editing.layers import Tensor
from irshape.editing.state import Value
from irshape.ops.flow import Axis, Factor, Held, same
from irshape.reshaping.bench import Bench, Sizes, number_of, put_instead, scalar, source
from irshape.reshaping.folding import Folding
from irshape.reshaping.laws import Array, along, places, ramp, sliced, unflattened
from irshape.reshaping.stretching import stretched
from irshape.reshaping.watch import is_open
from irshape.shape.dim import Dim, Size, formula_text, le_unasked, product

# So many places of a window may be those that some program chose; more are counted.
_FEWEST_WINDOWS: Final = 3


def gather(bench: Bench) -> None:
    """A Gather whose indices take a whole axis: in order, as `mask[arange(n)]` leaves them, as a Pad does, or window by window."""
    item = bench.item
    data, chosen = source(item, 0), source(item, 1)
    axes = bench.elements(source(item, 2))
    if not axes or not isinstance(axes[0], int) or number_of(item, "batch_dims"):
        return
    axis = axes[0] % len(bench.sizes(data))
    if any(isinstance(size, Dim) for size in bench.shape(chosen) or (None,)):
        _number_samples(bench, bench.trace(data)[axis], chosen)
        return
    recorded, size = bench.recorded_sizes(data), bench.sizes(data)[axis]
    if recorded is None or bench.recorded_sizes(item.outputs[0]) is None or not isinstance(size, Dim) or recorded[axis] < 2:
        return
    indices = Folding(bench.draft, bench.recorded_sizes).of(chosen)
    if indices is None or indices.size < recorded[axis]:
        return
    if np.array_equal(indices.reshape(-1), np.arange(recorded[axis])):
        _take_all(bench, indices, "the whole axis", [size])
    elif not bench.holds_batch(size) and (
        made := (None if _is_joined(size) else _padding(bench, indices, size, recorded[axis]))
        or _windows(bench, indices, bench.trace(data)[axis], recorded[axis])
    ):
        bench.connect(1, made)
        why = "the indices reach over the whole axis; irshape assumes the same at other sizes"
        bench.mend("indices", f"0..{indices.max()}", "the whole axis", "generated", why)


def gather_nd(bench: Bench) -> None:
    """A GatherND that takes each element of the first axes once, in order, as `mask[arange(n)[:, None], arange(m)]` leaves it."""
    item, recorded = bench.item, bench.recorded_sizes(source(bench.item, 0))
    if recorded is None or bench.recorded_sizes(item.outputs[0]) is None or number_of(item, "batch_dims"):
        return
    indices = Folding(bench.draft, bench.recorded_sizes).of(source(item, 1))
    count = indices.shape[-1] if indices is not None and indices.ndim else 0
    sizes = bench.sizes(source(item, 0))[:count]
    if indices is None or indices.size < 2 * count or indices.size != count * prod(recorded[:count]):
        return
    if np.array_equal(indices.reshape(-1, count), np.indices(recorded[:count]).reshape(count, -1).T) and is_open(sizes):
        _take_all(bench, indices, "the whole axes", sizes)


def _take_all(bench: Bench, indices: Array, taken: str, sizes: Sequence[Size]) -> None:
    """Put a Reshape in place of a layer that gathers all elements of axes of these sizes in their order."""
    item, all_recorded = bench.item, bench.recorded_sizes(bench.item.outputs[0])
    new = bench.add("Reshape", bench.tensor(source(item, 0)), np.array(all_recorded, np.int64), special_zero=False, name=f"{item.name}/all")
    assumed = f"the indices take {taken} in order; irshape assumes the same at other sizes"
    why = "" if all(bench.holds_batch(size) or isinstance(size, int) for size in sizes) else assumed
    bench.mend("indices", f"0..{indices.max()}", "all", "generated" if why else "forced", why)
    put_instead(bench, new)


def _padding(bench: Bench, indices: Array, size: Dim, rows: int) -> Tensor | None:
    """The indices of a Pad that repeats the first and the last row; None if these are no such indices."""
    if indices.ndim != 1 or not np.array_equal(np.unique(indices), np.arange(rows)) or (np.diff(indices) < 0).any():
        return None
    before, behind = int((indices == 0).sum()) - 1, int((indices == rows - 1).sum()) - 1
    if before + behind + rows != indices.size:
        return None
    name = f"{bench.item.name}/rows"
    shifted = bench.add("Subtract", ramp(bench, size + before + behind), np.array(before, np.int64), name=name)
    low = bench.add("Maximum", shifted, np.array(0, np.int64), name=name)
    return bench.add("Minimum", low, scalar(bench, size - 1), name=name)


def _windows(bench: Bench, indices: Array, factors: Axis, rows: int) -> Tensor | None:
    """The indices of windows that move by equal steps over a whole axis, or over the axes that it joins, as `unfold` makes them.

    None if these are no such indices.
    """
    recorded = [factor.recorded or 0 for factor in factors]
    if indices.ndim < 2 or prod(recorded) != rows or any(isinstance(one.size, Dim) and _is_joined(one.size) for one in factors):
        return None
    places = [place.astype(np.int64) for place in np.unravel_index(indices, recorded)]
    ways = [_moves(place, factor) if isinstance(factor.size, Dim) else [None] for place, factor in zip(places, factors, strict=True)]
    options = [_Windows(moves) for moves in product_of(*ways) if _are_apart(moves, places)]
    if not options or not any(options[0].moves):
        return None
    name, made = f"{bench.item.name}/windows", list[Any]()
    moves = bench.pick(options).moves
    for move, place in zip(moves, places, strict=True):
        first = place
        for axis in {one.axis for one in moves if one is not None}:
            first = first.take([0], axis=axis)
        if move is not None:
            starts = bench.add("Multiply", ramp(bench, move.windows), np.array(move.step, np.int64), name=name)
            made.append(bench.add("Add", along(bench, starts, move.axis, indices.ndim), first, name=name))
        else:
            made.append(first)
    whole = made[0]
    for own, factor in zip(made[1:], factors[1:], strict=True):
        whole = bench.add("Add", bench.add("Multiply", whole, scalar(bench, factor.size), name=name), own, name=name)
    return cast("Tensor", whole)


def _are_apart(moves: Sequence[_Move | None], places: Sequence[Array]) -> bool:
    """Whether the places along an axis stay equal where windows move along another one."""
    pairs = [(move, place) for move in moves if move for other, place in zip(moves, places, strict=True) if other is not move]
    return all((np.diff(place, axis=move.axis) == 0).all() for move, place in pairs)


def _is_joined(size: Dim) -> bool:
    """Whether a size is a product, so that its elements may be places in more than one axis."""
    terms = size.polynomial.terms
    return gcd(size.polynomial.constant, *[number for _, number in terms]) > 1 or any(len(monomial) > 1 for monomial, _ in terms)


def _moves(places: Array, factor: Factor) -> list[_Move | None]:
    """The axes of places along which windows may move over an axis of the size of a factor."""
    steps = [np.unique(np.diff(places, axis=axis)).tolist() if count > 1 else [0] for axis, count in enumerate(places.shape)]
    if places.flat[0] != 0 or any(len(one) != 1 or one[0] < 0 for one in steps):
        return []
    spans = [one[0] * (count - 1) for one, count in zip(steps, places.shape, strict=True)]
    found: list[_Move | None] = []
    for axis, ((step,), span) in sorted(enumerate(zip(steps, spans, strict=True)), key=lambda one: -places.shape[one[0]]):
        if step and ((factor.recorded or 0) - 1 - sum(spans) + span) // step + 1 == places.shape[axis] > _FEWEST_WINDOWS:
            found.append(_Move(axis, step, (factor.size - 1 - sum(spans) + span) // step + 1))
    return found


def _number_samples(bench: Bench, factors: Axis, chosen: Value) -> None:
    """Add n*S to the indices into an axis (N, S) that was one sample, such as those of `x[arange(N), i]`, where the file has n*S = 0."""
    held = bench.notes.traces.held.get(chosen.slot)
    law, rows = held.law if held else None, product([one.size for one in factors[1:]])
    at = next((at for at, axis in enumerate(bench.trace(chosen)) if len(axis) == 1 and same(axis[0].size, factors[0].size)), None)
    if law is None or at is None or not bench.holds_batch(factors[0].size) or factors[0].recorded != 1 or len(factors) == 1:
        return
    are_apart = le_unasked(0, law.base) and le_unasked(law.base + law.within, rows)
    if not are_apart or any(term.step != 0 for axis in law.axes for term in axis):
        return
    name = f"{bench.item.name}/samples"
    indices = bench.add("Convert", bench.tensor(chosen), name=name, destination_type="i64")
    steps = bench.add("Multiply", ramp(bench, factors[0].size), scalar(bench, rows), name=name)
    bench.connect(1, bench.add("Add", indices, along(bench, steps, at, len(law.axes)), name=name))
    bench.mend("indices", "places in one sample", f"and {formula_text(rows)} for each sample before")


class _Move(NamedTuple):
    """The axis of the indices along which windows move by a step, and how many there are."""

    axis: int
    step: int
    windows: Size


class _Windows(Sizes):
    """How windows move over each of the axes that an axis joins; None for one that stays."""

    def __init__(self, moves: Sequence[_Move | None]) -> None:
        super().__init__([one.windows for one in moves if one is not None])
        self.moves = moves


def scatter(bench: Bench) -> None:
    """A ScatterNDUpdate into the elements of a flat tensor that a slice of the whole tensor has, as `x[:, 0::2] = y` leaves it."""
    item = bench.item
    data, chosen, updates = (source(item, port) for port in range(3))
    if any(isinstance(size, Dim) for size in bench.shape(chosen) or (None,)):
        return  # the model computes them
    indices, whole = Folding(bench.draft, bench.recorded_sizes).of(chosen), unflattened(bench, item)
    if indices is None or whole is None or updates.item.type != "Reshape" or not isinstance(product(bench.shape(updates) or ()), Dim):
        return
    before = source(updates.item, 0)
    written = bench.recorded_sizes(before)
    parts = sliced(indices, whole)
    if parts is None or written != tuple(map(len, parts)):
        return
    sizes = _whole_sizes(bench, data, whole, [*zip(parts, bench.sizes(before), strict=True)])
    if sizes is None:
        return
    if not isinstance(bench.sizes(data)[0], Dim):
        made = stretched(bench, data, {0: product(sizes)})
        bench.notes.traces.held[made._value.slot] = Held((tuple([bench.recorded_factor(Factor(size)) for size in sizes]),))
        bench.connect(0, made)
    bench.connect(1, places(bench, item, parts, whole, sizes))
    why = "the places are those of a slice; irshape assumes the same slice at other sizes"
    bench.mend("indices", f"{len(indices)} places", [product([*bench.sizes(before)])], "generated", why)


def _whole_sizes(bench: Bench, data: Value, whole: tuple[int, ...], parts: list[tuple[range, Size]]) -> list[Size] | None:
    """The sizes of the tensor that the flat data were, from data that follow the sizes, else from the updates; None if neither tells."""
    is_open = isinstance(bench.sizes(data)[0], Dim)
    before = source(data.item, 0) if data.item.type == "Reshape" else None
    if is_open and before is not None and bench.recorded_sizes(before) == whole:
        sizes = [*bench.sizes(before)]
    else:
        sizes = [number if part == range(size) else size for (part, number), size in zip(parts, whole, strict=True)]
        if not is_open and any(isinstance(number, Dim) and size is not number for (_, number), size in zip(parts, sizes, strict=True)):
            return None
    if is_open and not same(product(sizes), bench.sizes(data)[0]):
        return None
    for (part, _), size, was in zip(parts, sizes, whole, strict=True):
        if isinstance(size, Dim) and (part.start > part.step or part.stop < was):
            return None  # where the slice begins or ends may follow from the size
    return sizes


HANDLERS: Final[dict[str, Callable[[Bench], None]]] = {"Gather": gather, "GatherND": gather_nd, "ScatterNDUpdate": scatter}
