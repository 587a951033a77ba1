"""Constants at other sizes: the law that the recorded elements follow along an axis, and the layers that go on by it.

A law gives the recorded elements bit by bit. Elements that follow no law were learned or computed for one size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from irshape.editing.layers import Tensor, layer_of
from irshape.editing.state import Item
from irshape.ops.flow import Factor, same
from irshape.reshaping.bench import listed, total
from irshape.reshaping.formulas import formula, scalar, vector
from irshape.shape.dim import Dim, Size, expression_of, formula_text, symbols

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from irshape.reshaping.bench import Bench

Array: TypeAlias = "NDArray[Any]"
# A law is sought along so many rows, and a triangle in an axis and another one of more than so many elements.
_MOST_ROWS: Final = 8
# Fewer elements than this follow many laws.
_FEWEST: Final = 3
# A count begins at one of these numbers whatever the size is; at any other one, the begin may depend on the size.
_BEGINS: Final = (0, 0.5, 1, 2)


class Law(NamedTuple):
    """What the elements are in words, the layers that make them, and the `doubt` that they go on so; empty if there is none."""

    words: str
    build: Callable[[], Tensor]
    doubt: str = ""


def generated(bench: Bench, item: Item, wants: Mapping[int, Size], *, keep_ones: bool) -> Tensor:
    """A Const with other sizes of some axes. With `keep_ones`, axes along which the elements are equal may have size 1."""
    array = layer_of(bench.draft, item).data
    type_ = bench.tensor(item.outputs[0]).element_type
    left = dict(wants)
    for axis in wants:
        first = np.take(array, [0], axis)
        if np.array_equal(np.broadcast_to(first, array.shape), array):
            array = first
            left.pop(axis)
    kind, why = "forced", ""
    if not left:
        made = bench.graph.constant(array, name=f"{item.name}/one", element_type=type_)
    elif (law := _law(bench, item, array, left)) is not None and not law.doubt:
        made, kind, why = law.build(), "generated", f"the elements are {law.words}, which goes on at other sizes"
    elif _ends_at_recorded(bench, array, left):
        made, kind, why = _first(bench, item, array, left, type_), "first", "the sizes end at the recorded one"
    else:
        axis, size = next(iter(left.items()))
        doubt = "the elements differ: they were learned or computed for this size" if law is None else law.doubt
        needs = f"needs {formula_text(size)} elements along axis {axis} of {item!r} {listed(bench.sizes(item.outputs[0]))}"
        bench.refuse(f"{needs}, and {doubt}", item, _HINT)
    rest = {axis: size for axis, size in wants.items() if axis not in left}
    if rest and not keep_ones:
        made = widened(bench, made, rest, array.ndim)
    bench.notes.proofs.append((item, made))
    if kind != "forced":
        bench.mend("elements", list(array.shape), [*wants.values()], kind, why, item)
    return made


_HINT: Final = "convert the model again with another size of this input, or keep the size that the constant is made for"


def widened(bench: Bench, one: Tensor, wants: Mapping[int, Size], rank: int) -> Tensor:
    """A tensor whose axes of size 1 are repeated."""
    target = vector(bench, [wants.get(axis, 1) for axis in range(rank)])
    return bench.add("Broadcast", one, target, mode="bidirectional", name=f"{bench.item.name}/wide")


def ramp(bench: Bench, size: Size, type_: str = "i64") -> Tensor:
    """The numbers from 0 on, so many as a size says."""
    count = bench.add(
        "Range", np.array(0, np.int64), scalar(bench, size), np.array(1, np.int64),
        output_type="i64", name=f"{bench.item.name}/count", version="opset4",
    )  # fmt: skip
    return count if type_ == "i64" else bench.add("Convert", count, destination_type=type_, name=f"{bench.item.name}/count")


def _ends_at_recorded(bench: Bench, array: Array, left: Mapping[int, Size]) -> bool:
    """Whether the sizes that are asked for are those of a sequence, and end at the recorded one."""
    return all(
        isinstance(size, Dim) and symbols(size) == {str(size)} and str(size) in bench.numbers and size.range.high <= array.shape[axis]
        for axis, size in left.items()
    )


def _first(bench: Bench, item: Item, array: Array, left: Mapping[int, Size], type_: object) -> Tensor:
    """The first elements of a constant along some axes."""
    made = bench.graph.constant(array, name=f"{item.name}/all", element_type=type_)  # type: ignore[arg-type]
    for axis, size in left.items():
        made = prefix(bench, made, axis, size, item.name)
    return made


def prefix(bench: Bench, tensor: Tensor, axis: int, size: Size, name: str) -> Tensor:
    """The first elements of a tensor along an axis."""
    ends = formula(bench, size)
    one = np.array([1], np.int64)
    return bench.add(
        "Slice", tensor, np.array([0], np.int64), ends, one, np.array([axis], np.int64), version="opset8", name=f"{name}/first"
    )


def _along(bench: Bench, one: Tensor, axis: int, rank: int) -> Tensor:
    """A tensor of one axis as one of a rank, along an axis."""
    shape = np.array([-1 if own == axis else 1 for own in range(rank)], np.int64)
    return bench.add("Reshape", one, shape, special_zero=False, name=f"{bench.item.name}/along")


def _law(bench: Bench, item: Item, array: Array, left: Mapping[int, Size]) -> Law | None:
    """The law of the elements along the axes that need other sizes."""
    others = [axis for axis in range(array.ndim) if axis not in left and array.shape[axis] != 1]
    if len(left) == 2 and not others:
        return _triangle(bench, item, array, left)
    if len(left) == 1 and len(others) == 1 and array.shape[others[0]] > _MOST_ROWS:
        return _triangle(bench, item, array, {**left, others[0]: array.shape[others[0]]})
    if len(left) != 1 or len(others) > 1:
        return None
    ((axis, size),) = left.items()
    rows = np.moveaxis(array, axis, -1).reshape(-1, array.shape[axis])
    doubtful: Law | None = None
    for segments in _segments(bench, size, array.shape[axis]) if len(rows) <= _MOST_ROWS else ():
        lines = [_line(bench, row, segments, str(bench.tensor(item.outputs[0]).element_type)) for row in rows]
        found = [line for line in lines if line is not None]
        if len(found) == len(lines):
            law = _joined(bench, item, found, axis, others, array.ndim)
            if not law.doubt:
                return law
            doubtful = doubtful or law
    return doubtful


def _joined(bench: Bench, item: Item, lines: Sequence[Law], axis: int, others: Sequence[int], rank: int) -> Law:
    """The law of several rows."""

    def build() -> Tensor:
        made = [_along(bench, line.build(), axis, rank) for line in lines]
        return made[0] if len(made) == 1 else bench.add("Concat", *made, axis=others[0], name=f"{item.name}/wide")

    return Law(" and ".join(dict.fromkeys(line.words for line in lines)), build, next((line.doubt for line in lines if line.doubt), ""))


def _triangle(bench: Bench, item: Item, array: Array, sizes: Mapping[int, Size]) -> Law | None:
    """Two values, one on and below a diagonal and one above it."""
    (p, rows), (q, columns) = sorted(sizes.items())
    flat = np.moveaxis(array, (p, q), (0, 1)).reshape(array.shape[p], array.shape[q])
    i, j = np.indices(flat.shape)
    type_, rank = bench.tensor(item.outputs[0]).element_type, array.ndim
    for shift in (0, flat.shape[1] - flat.shape[0], 1, -1):
        inside, outside = flat[j <= i + shift], flat[j > i + shift]
        if not (inside.size and outside.size and (inside == inside[0]).all() and (outside == outside[0]).all()):
            continue
        low, high = inside[0], outside[0]

        def build(shift: int = shift, low: Any = low, high: Any = high) -> Tensor:
            last = bench.add("Add", _along(bench, ramp(bench, rows), p, rank), np.array(shift, np.int64), name=f"{item.name}/last")
            less = bench.add("LessEqual", _along(bench, ramp(bench, columns), q, rank), last, name=f"{item.name}/triangle")
            if array.dtype == bool:
                return less if low else bench.add("LogicalNot", less, name=f"{item.name}/triangle")
            values = (bench.graph.constant(one, name=f"{item.name}/value", element_type=type_) for one in (low, high))
            return bench.add("Select", less, *values, name=f"{item.name}/triangle")

        is_square = len({expression_of(one) for one in (rows, columns)}) == 1
        doubt = "" if shift in (0, 1, -1) and (is_square or shift == 0) else "the diagonal of the triangle may depend on the size"
        if min(flat.shape) < _FEWEST:
            doubt = "so few elements follow many laws"
        return Law("a triangle of two values", build, doubt)
    return None


def _segments(bench: Bench, size: Size, count: int) -> Iterator[list[tuple[Factor, ...]]]:
    """Ways to see an axis: one run, a grid, or the runs and grids that a Concat put one after another."""

    def grid(factor: Factor) -> tuple[Factor, ...]:
        factors = bench.notes.joined.get(expression_of(factor.size), (factor,))
        return tuple([one for one in factors if one.size != 1]) or (factor,)

    whole = Factor(size, count)
    yield [(whole,)]
    if len(grid(whole)) > 1:
        yield [grid(whole)]
    for parts in bench.notes.sums.values():
        if same(total([part.size for part in parts]), size) and total([part.recorded or 0 for part in parts]) == count:
            yield [grid(part) for part in parts]


class _Run(NamedTuple):
    """A run or grid of numbers: the first one, and for each factor the step; `is_mirrored` if the last one is the first plus all steps."""

    factors: tuple[Factor, ...]
    start: Any
    steps: tuple[Any, ...]


def _line(bench: Bench, row: Array, segments: Sequence[tuple[Factor, ...]], type_: str) -> Law | None:
    """The law of a row whose segments are runs or grids with a first number and a step for each factor."""
    at, runs = 0, []
    for factors in segments:
        counts = [factor.recorded or 0 for factor in factors]
        if row.dtype == bool or not prod(counts) or at + prod(counts) > len(row):
            return None
        part = row[at : at + prod(counts)].reshape(counts)
        at += part.size
        start = part.reshape(-1)[0]
        firsts = [np.take(part, min(1, n - 1), axis).reshape(-1)[0] for axis, n in enumerate(counts)]
        steps = [(one - start).astype(row.dtype) for one in firsts]
        if not np.array_equal(_counted(start, steps, counts, row.dtype), part):
            return None
        runs.append(_Run(factors, start, tuple(steps)))
    if at != len(row):
        return None
    is_count = len(runs) == 1 and len(runs[0].factors) == 1
    words = "a count" if is_count else f"{len(runs)} grids" if len(runs) > 1 else "a grid"

    def build() -> Tensor:
        made = [_built(bench, run, type_, row.dtype) for run in runs]
        return made[0] if len(made) == 1 else bench.add("Concat", *made, axis=0, name=f"{bench.item.name}/grids")

    return Law(words, build, next(filter(None, (_doubt(run) for run in runs)), ""))


def _doubt(run: _Run) -> str:
    """Why a run may go on otherwise at another size; empty if it cannot."""
    for factor, step in zip(run.factors, run.steps, strict=True):
        count = factor.recorded or 0
        if isinstance(factor.size, int) or step == 0:
            continue
        if count < _FEWEST:
            return "so few elements follow many laws"
        if step < 0 or float(step) * 2 % 1:
            return f"the step {step} may depend on the size"
    if any(step != 0 for step in run.steps) and float(run.start) / (max(map(float, run.steps)) or 1) not in _BEGINS:
        return f"the first element {run.start} may depend on the size"
    return ""


def _counted(start: Any, steps: Sequence[Any], counts: Sequence[int], dtype: Any) -> Array:
    """The numbers of a grid, rounded as the layers round them."""
    made = np.full(counts, start)
    for axis, step in enumerate(steps):
        numbers = np.arange(counts[axis]).astype(dtype).reshape([-1 if own == axis else 1 for own in range(len(counts))])
        made = (made + numbers * step).astype(dtype)
    return made


def _built(bench: Bench, run: _Run, type_: str, dtype: Any) -> Tensor:
    """The layers that make a run or a grid, as a tensor of one axis."""
    rank, name = len(run.factors), f"{bench.item.name}/grid"
    made = bench.graph.constant(np.array([run.start], dtype), name=name, element_type=type_)
    for axis, (factor, step) in enumerate(zip(run.factors, run.steps, strict=True)):
        if step == 0:
            continue
        one = ramp(bench, factor.size, type_)
        if step != 1:
            one = bench.add("Multiply", one, bench.graph.constant(np.array(step, dtype), name=name, element_type=type_), name=name)
        if rank > 1:
            one = _along(bench, one, axis, rank)
        made = bench.add("Add", made, one, name=name)
    if any(step == 0 for step in run.steps):
        made = bench.add("Broadcast", made, vector(bench, [factor.size for factor in run.factors]), mode="bidirectional", name=name)
    return made if rank == 1 else bench.add("Reshape", made, np.array([-1], np.int64), special_zero=False, name=name)
