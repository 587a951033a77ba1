"""Constants at other sizes: the law that their elements follow.

The elements are the same at the recorded sizes: a law gives those of a constant bit by bit. Others were learned or computed for a size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product as product_of
from math import isclose, log, prod, sqrt
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, TypeAlias

import numpy as np

from irshape.editing.layers import Tensor, layer_of
from irshape.editing.state import Item
from irshape.ops.flow import Factor, same
from irshape.reshaping.bench import (
    EXPORTS,
    OPEN_THERE,
    TELL,
    Bench,
    First,
    Refusal,
    formula,
    listed,
    open_sizes,
    recorded_as,
    scalar,
    source,
    total,
    vector,
)
from irshape.reshaping.exports import alike
from irshape.reshaping.folding import Folding, are_equal, rounding_of
from irshape.shape.dim import Dim, Size, brief_text, expression_of, formula_text, product, symbols
from irshape.shape.notation import SymbolRange

if TYPE_CHECKING:
    from numpy.typing import NDArray


Array: TypeAlias = "NDArray[Any]"
# A law is sought along so many rows, and a triangle in an axis and another one of more than so many elements.
_MOST_ROWS: Final = 8
# Numbers up to this one are seldom made of a size.
_SMALL: Final = 4
# Fewer elements than this follow many laws.
_FEWEST: Final = 3
# An element f32 of a table of waves may be off by so much for each row.
_OFF_BY_ROW: Final = 2e-7
# Steps are even if they differ by less than this part of them.
_SPACING: Final = 1e-3
# A count begins at one of these numbers whatever the size is; at any other one, the begin may depend on the size.
_BEGINS: Final = (-0.5, 0, 0.5, 1, 2)


class Continuation(NamedTuple):
    """What the elements are in words, the layers that make them, and the `doubt` that they go on so; empty if there is none.

    The layers may miss an element by `rounding` times the largest one. If the elements may move as a whole, the first ones do not serve.
    """

    words: str
    build: Callable[[], Tensor]
    doubt: str = ""
    rounding: float = 0.0
    may_move: bool = False


def generated(bench: Bench, item: Item, wants: Mapping[int, Size], *, keep_ones: bool) -> Tensor:
    """A Const with other sizes of some axes. With `keep_ones`, axes along which the elements are equal may have size 1."""
    array = layer_of(bench.draft, item).data
    type_ = bench.tensor(item.outputs[0]).element_type
    left, stays = dict(wants), dict[int, Size]()  # the axes for a law, and those that keep their size
    for axis in (*wants, *range(array.ndim)):
        first, count = np.take(array, [0], axis), array.shape[axis]
        if left and count > 1 and np.array_equal(np.broadcast_to(first, array.shape), array):
            array = first
            if axis not in wants:
                stays[axis] = count
            left.pop(axis, None)
    kind, why, rounding = "forced", "", 0.0
    if any(axis not in left and not bench.holds_batch(size) for axis, size in wants.items()):
        kind, why = "generated", "the elements are equal; irshape assumes that they are equal at other sizes"
    law = _law(bench, item, array, left) if left else None
    if not left:
        made = bench.graph.constant(array, name=f"{item.name}/one", element_type=type_)
    elif law is not None and (not law.doubt or _tells(bench, left.values())):
        made, kind, why = law.build(), "generated", f"the elements are {law.words}, which irshape continues at other sizes"
        rounding = law.rounding
    elif _sequence(bench, item, array, left, law) and _ends(array, left):
        made, kind, why = _first(bench, item, array, left, type_), "first", "the constant has no elements beyond the recorded size"
    else:
        _refuse(bench, item, array, left, law)
    if kind == "generated" and (is_seen := _is_seen(bench, item, made, rounding)) is not True:
        if law is not None and law.doubt:
            _refuse(bench, item, array, left, law)
        if is_seen is False and (there := _there(bench, item)) is not None:
            told = f"needs {_many(bench, item, wants)}, and the elements {listed(there.shape)} of the other export follow another law"
            bench.refuse(told, item, f"{EXPORTS}: {OPEN_THERE}")
    rest = stays | ({} if keep_ones else {axis: size for axis, size in wants.items() if axis not in left})
    if rest:
        made = widened(bench, made, rest, array.ndim)
    bench.notes.proofs.append((item, made, rounding))
    if kind != "forced":
        shape = bench.sizes(item.outputs[0])
        bench.mend("elements", shape, [wants.get(axis, size) for axis, size in enumerate(shape)], kind, why, item)
    if kind == "generated" and (value := _of_size(bench, array)) is not None:
        bench.keep(f"{item!r} goes on with the value {value:g}, which may follow from a recorded size")
    return made


def _many(bench: Bench, item: Item, wants: Mapping[int, Size]) -> str:
    """How many elements are needed of a constant, in words."""
    axis, size = next(iter(wants.items()))
    return f"{brief_text(bench.wanted(size))} elements along axis {axis} of {item!r} {listed(bench.sizes(item.outputs[0]))}"


def _refuse(bench: Bench, item: Item, array: Array, left: Mapping[int, Size], law: Continuation | None) -> NoReturn:
    """Say that no law gives the elements of a constant, or why one is in doubt."""
    doubt, hint = "these elements differ from each other: they were learned or computed for this size", _HINT
    if bench.witness is not None:
        part = alike(bench, left.values())
        same = "" if part is None else f"{formula_text(part)} is {bench.at(part)} in both exports: give one in which it differs"
        hint = same or f"{EXPORTS}: {OPEN_THERE}"
    if law is not None:
        doubt, hint = law.doubt, hint if bench.witness else TELL
    elif bench.witness is None and _is_even(array, left):
        doubt, hint = "these elements are evenly spaced, in steps that may depend on the size", TELL
    error = Refusal(bench.item, f"needs {_many(bench, item, left)}, and {doubt}", item, hint)
    error.is_of_length = not bench.asked and not any(map(bench.holds_batch, left.values()))
    error.first = _sequence(bench, item, array, left, law) if error.is_of_length else None
    raise error


def _of_size(bench: Bench, array: Array) -> float | None:
    """The one of a few values of a constant that is a logarithm of a recorded size or of a sum of two, or one divided by it or its root."""
    values = np.unique(array) if array.dtype.kind in "iuf" else np.array([])
    counts = {was for size in open_sizes(bench) if isinstance(was := bench.at(size), int) and was > _SMALL}
    known = [function(n) for n in counts | {a + b for a in counts for b in counts} for function in _FUNCTIONS]
    few = [float(one) for one in values] if values.size <= _FEWEST else []
    return next((one for one in few for other in known if isclose(abs(one), other, rel_tol=1e-6)), None)


# Not the size itself, nor its root: the strides of anchors are often as large.
_FUNCTIONS: Final[Sequence[Callable[[int], float]]] = (log, lambda n: 1 / n, lambda n: 1 / sqrt(n))


def _there(bench: Bench, item: Item) -> Array | None:
    """The elements that a constant has in a second export; None if they are not known."""
    witness = bench.witness
    partner = None if witness is None else witness.partners.get(item.base)
    return None if witness is None or partner is None or not partner.outputs else witness.bench.array(partner.outputs[0])


def _is_seen(bench: Bench, item: Item, made: Tensor, rounding: float) -> bool | None:
    """Whether a second export has the elements that a tensor in the place of a constant has at the sizes there; None if it is unknown."""
    witness, there = bench.witness, _there(bench, item)
    if witness is None or there is None:
        return None
    at = witness.at
    folded = Folding(bench.draft, lambda value: [-1 if (one := at(size)) is None else one for size in bench.sizes(value)]).of(made._value)
    return None if folded is None or folded.dtype != there.dtype else are_equal(folded, there, rounding)


def _tells(bench: Bench, sizes: Iterable[Size]) -> bool:
    """Whether a second export tells how elements go on: each size and each symbol is another there, and no two symbols are the same."""
    seen = {} if bench.witness is None else bench.witness.sizes
    names = {name for size in sizes for name in symbols(size)}
    others = {seen[name] for name in names if name in seen and seen[name] != bench.numbers.get(name)}
    return len(others) == len(names) and alike(bench, sizes) is None


_HINT: Final = "convert the model again with another size of this input, or keep the size that the constant is made for"


SCALING: Final = ("Divide", "Multiply")
OF_SIZES: Final = "which may follow from recorded sizes of"


def scales(bench: Bench, array: Array | None, sizes: Sequence[Size]) -> str:
    """The elements of an array, if all are recorded sizes, some of open axes, one less, half of either, or one divided by such numbers."""
    known = [(was, bench.is_open(size)) for size in sizes if isinstance(was := bench.at(size), int) and was > _SMALL]
    numbers = [] if array is None else array.reshape(-1).tolist()
    forms = [[(((n - less) / part) ** power, is_open) for n, is_open in known] for less in (0, 1) for part in (1, 2) for power in (1, -1)]
    made = [[[is_open for other, is_open in form if isclose(one, other, rel_tol=1e-6)] for one in numbers] for form in forms]
    is_made = any(all(own) and any(map(any, own)) for own in made)
    return f"[{', '.join([f'{one:g}' for one in numbers])}]" if is_made else ""


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


def _sequence(bench: Bench, item: Item, array: Array, left: Mapping[int, Size], law: Continuation | None) -> First | None:
    """The one symbol with which the sizes that are asked for grow, and up to which size the first elements may serve; None if they do not.

    They do not serve a window, whose end mirrors its begin, nor where a second export begins with other elements.
    """
    if _spans(array, left) or (law is not None and law.may_move) or _is_mirrored(array, left):
        return None
    if (there := _there(bench, item)) is not None and there.ndim == array.ndim:
        both = tuple([slice(min(one, other)) for one, other in zip(array.shape, there.shape, strict=True)])
        if not are_equal(array[both], there[both], rounding_of(array)):
            return None
    name, *others = sorted({name for size in left.values() for name in symbols(size)}) or [""]
    own = next((size.scope.named(name) for size in left.values() if isinstance(size, Dim)), None)
    grow = (own is not None and isinstance(size - own, int) for size in left.values())
    if not isinstance(own, Dim) or others or name not in bench.numbers or not all(grow):
        return None
    return name, SymbolRange(*own.range)._replace(high=bench.numbers[name])


def _ends(array: Array, left: Mapping[int, Size]) -> bool:
    """Whether no more elements than the recorded ones are needed."""
    return all(isinstance(size, Dim) and size.range.high <= array.shape[axis] for axis, size in left.items())


def _is_even(array: Array, left: Mapping[int, Size]) -> bool:
    """Whether real numbers are evenly spaced along axes, in few rows."""
    rows = array.size // prod([array.shape[axis] for axis in left])
    if not rounding_of(array) or rows > _MOST_ROWS or not np.isfinite(array).all() or any(array.shape[axis] <= _FEWEST for axis in left):
        return False
    off = 2 * rounding_of(array) * np.abs(array).max()
    steps = [(np.abs(np.diff(array, 2, axis)).max(), np.abs(np.diff(array, axis=axis)).max()) for axis in left]
    return all(bool(change < max(_SPACING * step, off) and off < step) for change, step in steps)


def _spans(array: Array, left: Mapping[int, Size]) -> bool:
    """Whether real numbers are evenly spaced along one axis in steps that halve if it is twice as long, as those from -1 to 1."""
    if len(left) != 1 or not _is_even(array, left):
        return False
    steps = np.diff(array, axis=min(left))
    counts = steps.any(min(left)) & ~(steps * 2 % 1).any(min(left))  # a row of these counts by 1, 0.5 or 2
    return not counts.any()


def _is_mirrored(array: Array, left: Mapping[int, Size]) -> bool:
    """Whether elements are the same from the end on along an axis, perhaps without the first one, as those of a Hann window."""
    rows = [np.moveaxis(array, axis, 0)[skip:] for axis in left for skip in (0, 1) if array.shape[axis] > _FEWEST]
    return any(are_equal(one, one[::-1], rounding_of(array)) for one in rows)


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


def along(bench: Bench, one: Tensor, axis: int, rank: int) -> Tensor:
    """A tensor of one axis as one of a rank, along an axis."""
    shape = np.array([-1 if own == axis else 1 for own in range(rank)], np.int64)
    return bench.add("Reshape", one, shape, special_zero=False, name=f"{bench.item.name}/along")


def _law(bench: Bench, item: Item, array: Array, left: Mapping[int, Size]) -> Continuation | None:
    """The law of the elements along the axes that need other sizes."""
    others = [axis for axis in range(array.ndim) if axis not in left and array.shape[axis] != 1]
    if len(left) == 2 and not others and (band := _diagonals(bench, item, array, left)) is not None:
        return band
    if len(left) == 2 and len(others) <= 1:
        return _grid(bench, item, array, left, others)
    is_wide = len(left) == 1 and len(others) == 1 and array.shape[others[0]] > _MOST_ROWS
    if is_wide and (band := _diagonals(bench, item, array, {**left, others[0]: array.shape[others[0]]})) is not None:
        return band
    if len(left) != 1 or len(others) > 1:
        return None
    ((axis, size),) = left.items()
    rows, seen = _rows(bench, item, array, axis)
    doubtful: Continuation | None = None
    for segments in _segments(bench, size, array.shape[axis]) if len(rows) <= _MOST_ROWS else ():
        lines = [_line(bench, item, *both, segments) for both in zip(rows, seen, strict=True)]
        found = [line for line in lines if line is not None]
        if len(found) == len(lines):
            law = _joined(bench, item, found, axis, others, array.ndim)
            if not law.doubt:
                return law
            doubtful = doubtful or law
    band = _diagonals(bench, item, array, {**left, others[0]: array.shape[others[0]]}) if others else None
    return doubtful or band or (_waves(bench, item, array, axis, size, others[0]) if others else None)


def _rows(bench: Bench, item: Item, array: Array, *axes: int) -> tuple[Sequence[Array], Sequence[Array | None]]:
    """The elements along axes, a row for each place on the other axes; and the rows in a second export, None if they are not known."""

    def rows(one: Array) -> Array:
        return np.moveaxis(one, axes, range(-len(axes), 0)).reshape(-1, prod([one.shape[axis] for axis in axes]))

    own, there = rows(array), _there(bench, item)
    if there is None or there.ndim != array.ndim:
        return [*own], [None] * len(own)
    once = tuple([slice(0, 1) if n == 1 else slice(None) for n in array.shape])  # the elements are equal along an axis of size 1
    seen = rows(there[once])
    return [*own], [*seen] if len(seen) == len(own) else [None] * len(own)


def _grid(bench: Bench, item: Item, array: Array, left: Mapping[int, Size], others: Sequence[int]) -> Continuation | None:
    """The places of an image, whose rows and columns are two axes of the constant, as those of the boxes of a detector."""
    (p, rows), (q, columns) = sorted(left.items())
    factors = Factor(rows, array.shape[p]), Factor(columns, array.shape[q])
    lines, seen = _rows(bench, item, array, p, q)
    is_small = q == p + 1 and 0 < len(lines) <= _MOST_ROWS
    found = [_line(bench, item, *both, [factors]) for both in zip(lines, seen, strict=True)] if is_small else [None]
    known = [line for line in found if line is not None]
    if len(known) < len(found):
        return None
    law = _joined(bench, item, known, p, [axis - (axis > q) for axis in others], array.ndim - 1)
    sizes = [left.get(axis, size) for axis, size in enumerate(array.shape)]
    return law._replace(
        build=lambda: bench.add("Reshape", law.build(), vector(bench, sizes), special_zero=False, name=f"{bench.item.name}/grid")
    )


def _waves(bench: Bench, item: Item, array: Array, axis: int, size: Size, column: int) -> Continuation | None:
    """The table of sines and cosines of positions: a row for each place, a column for each frequency, which falls by equal factors.

    The frequencies are those of a round base, such as 10000, perhaps stored as f16, with which each element is right up to rounding. A
    column may be 0. The recorded rows stay.
    """
    rows = np.moveaxis(array, (axis, column), (0, 1)).reshape(array.shape[axis], array.shape[column])
    (count, width), there = rows.shape, 0 if bench.witness is None else bench.witness.at(size) or 0
    rounding = _OFF_BY_ROW * max(count, there) if rows.dtype == np.float32 else rounding_of(rows)
    if not rounding or count <= _FEWEST or width < _FEWEST or not np.isin(rows[0], (0, 1)).all():
        return None
    rows = rows.astype("f4")
    is_cos, is_wave = rows[0] == 1, rows.any(axis=0)
    half = np.arange((width + 1) // 2)
    halves, pairs = np.tile(half, 2)[:width], np.repeat(half, 2)[:width]
    ways = ((halves, width), (halves, width - 2), (pairs, width), (np.arange(width), 2 * width))
    for (numbers, rank), stored, digits in product_of(ways, ("f4", "f2"), (2, 1)):
        second = np.flatnonzero((numbers == 1) & is_wave)[:1]
        inverse = np.where(is_cos[second], np.arccos(np.clip(rows[1, second], -1, 1)), np.arcsin(np.clip(rows[1, second], -1, 1)))
        step = float(inverse[0]) if inverse.size else 0.0
        base = float(f"{step ** (-rank / 2):.{digits}g}") if 0 < step < 1 else 1.0
        powers = (1 / np.float32(base) ** (2 * numbers / rank).astype("f4")).astype("f4")
        frequencies = np.where(is_wave, powers.astype(stored).astype("f4"), np.float32(0))
        phases = np.arange(count, dtype="f4")[:, None] * frequencies
        if base > 1 and np.abs(np.where(is_cos, np.cos(phases), np.sin(phases)) - rows).max() < rounding:
            break
    else:
        return None
    own = [-1 if own == column else 1 for own in range(array.ndim)]
    words = " and ".join([name for name, is_there in (("sines", not is_cos.all()), ("cosines", is_cos.any())) if is_there])

    def build() -> Tensor:
        place = along(bench, ramp(bench, size, "f32"), axis, array.ndim)
        phases = bench.add("Multiply", place, frequencies.reshape(own), name=f"{item.name}/phases")
        waves = [bench.add(type_, phases, name=f"{item.name}/all") for type_, takes in (("Cos", is_cos), ("Sin", ~is_cos)) if takes.any()]
        whole = waves[0] if len(waves) == 1 else bench.add("Select", is_cos.reshape(own), *waves, name=f"{item.name}/all")
        type_ = bench.tensor(item.outputs[0]).element_type
        if str(type_) != "f32":
            whole = bench.add("Convert", whole, destination_type=str(type_), name=f"{item.name}/all")
        table = bench.graph.constant(array, name=f"{item.name}/rows", element_type=type_)
        limits = [np.array([one], np.int64) for one in (count, np.iinfo(np.int64).max, 1, axis)]
        more = bench.add("Slice", whole, *limits, version="opset8", name=f"{item.name}/more")
        return prefix(bench, bench.add("Concat", table, more, axis=axis, name=f"{item.name}/rows"), axis, size, item.name)

    return Continuation(f"the {words} of positions with base {base:g}", build, rounding=rounding)


def _joined(bench: Bench, item: Item, lines: Sequence[Continuation], axis: int, others: Sequence[int], rank: int) -> Continuation:
    """The law of several rows."""

    def build() -> Tensor:
        made = [along(bench, line.build(), axis, rank) for line in lines]
        return made[0] if len(made) == 1 else bench.add("Concat", *made, axis=others[0], name=f"{item.name}/wide")

    words, doubts = " and ".join(dict.fromkeys([line.words for line in lines])), [line.doubt for line in lines if line.doubt]
    return Continuation(words, build, next(iter(doubts), ""), max([line.rounding for line in lines]))


def _diagonals(bench: Bench, item: Item, array: Array, sizes: Mapping[int, Size]) -> Continuation | None:
    """Two values that change along diagonals: a triangle, or the band of a sliding window."""
    (p, rows), (q, columns) = sorted(sizes.items())
    flat = np.moveaxis(array, (p, q), (0, 1)).reshape(array.shape[p], array.shape[q])
    i, j = np.indices(flat.shape)
    values = np.concatenate([flat[::-1, 0], flat[0, 1:]])  # by how far the column is ahead of the row
    ends = (np.flatnonzero(values[1:] != values[:-1]) + 1 - len(flat)).tolist()
    if len(ends) not in (1, 2) or len(np.unique(values)) != 2 or not np.array_equal(flat, values[j - i + len(flat) - 1]):
        return None
    others = values[values != values[0]]
    low, high = (values[0], others[0]) if len(ends) == 1 else (others[0], values[0])
    type_, rank = bench.tensor(item.outputs[0]).element_type, array.ndim
    shift = columns - rows - (flat.shape[1] - flat.shape[0])  # of a diagonal that ends in the lower right corner
    is_square, stays = expression_of(rows) == expression_of(columns), next((one for one in (rows, columns) if isinstance(one, int)), None)
    if stays is not None:  # the layers behind need the other axis to change as well, or not at all
        is_square = bench.at(rows) == bench.at(columns)

    def build() -> Tensor:
        if stays is not None and is_square and (sizes := recorded_as(bench, stays, of_batch=False)):
            told = f"{bench.item!r} reads {item!r}, of which {stays} elements stay along one axis, as many as an open size had"
            bench.keep(told, *sizes)
        column, row = along(bench, ramp(bench, columns), q, rank), along(bench, ramp(bench, rows), p, rank)
        name = f"{item.name}/triangle"
        limits = [scalar(bench, end + shift if moves else end) for end in ends]
        less = [bench.add("LessEqual", column, bench.add("Add", row, limit, name=name), name=name) for limit in limits]
        inside = less[0] if len(less) == 1 else bench.add("LogicalXor", *less, name=name)
        if array.dtype == bool:
            return inside if low else bench.add("LogicalNot", inside, name=name)
        return bench.add("Select", inside, *[bench.graph.constant(one, name=name, element_type=type_) for one in (low, high)], name=name)

    may_be_size = any(recorded_as(bench, abs(end) + more, of_batch=False) for end in ends for more in (-1, 0, 1) if abs(end) > 1)
    doubt = "" if not may_be_size and (is_square or not any(ends)) else "the diagonal at which they change may depend on the size"
    beyond = [len(flat) + end if end < 0 else flat.shape[1] - 1 - end for end in ends if abs(end) > 1]
    if min(*flat.shape, *beyond) < _FEWEST:
        doubt = "more than one rule gives so few elements"
    moves = _moves(bench, item, (p, q), ends, (low, high), shift)
    doubt = doubt if moves is None else ""
    words = "a triangle of two values" if len(ends) == 1 else "a band"
    return Continuation(words, build, doubt, may_move=isinstance(shift, Dim))


def _moves(bench: Bench, item: Item, axes: tuple[int, int], ends: Sequence[int], values: tuple[Any, Any], shift: Size) -> bool | None:
    """Whether the diagonals of a second export lie further by a shift; False if they lie where they do here, None if it does not tell."""
    there, by = _there(bench, item), None if bench.witness is None else bench.witness.at(shift)
    counts = () if there is None or max(axes) >= there.ndim else tuple([there.shape[axis] for axis in axes])
    if there is None or not by or not counts or prod(counts) != there.size:
        return None
    i, j = np.indices(counts)
    for moves, one in ((False, 0), (True, by)):
        if np.array_equal(np.where(np.logical_xor.reduce([j - i <= end + one for end in ends]), *values), there.reshape(counts)):
            return moves
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
    """A run or grid of numbers: the first one, and for each factor the step.

    A step is divided by the size of the factor less the number in `divisors`. The places are counted from `place` on: from 0.5 on where the
    numbers are the centres of elements.
    """

    factors: Sequence[Factor]
    start: Any
    steps: Sequence[Any]
    divisors: Sequence[int | None] = ()
    place: float = 0.0


def _line(bench: Bench, item: Item, row: Array, seen: Array | None, segments: Sequence[tuple[Factor, ...]]) -> Continuation | None:
    """The law of a row whose segments are runs or grids with a first number and a step for each factor; else the one of a second export."""
    at, runs = 0, []
    for factors in segments:
        counts = [factor.recorded or 0 for factor in factors]
        if row.dtype == bool or not prod(counts) or at + prod(counts) > len(row):
            return None
        part = row[at : at + prod(counts)].reshape(counts)
        at += part.size
        start = part.reshape(-1)[0]
        firsts = [np.take(part, min(1, n - 1), axis).reshape(-1)[0] for axis, n in enumerate(counts)]
        with np.errstate(all="ignore"):  # numbers that are no run may be too far apart
            steps = [(one - start).astype(row.dtype) for one in firsts]
            if not np.array_equal(_counted(start, steps, counts, row.dtype), part):
                return None if seen is None else _spread(bench, item, row, seen, segments)
        runs.append(_Run(factors, start, tuple(steps)))
    if at != len(row):
        return None
    is_count = len(runs) == 1 and len(runs[0].factors) == 1
    words = "a row of evenly spaced numbers" if is_count else f"{len(runs)} grids" if len(runs) > 1 else "a grid"

    def build() -> Tensor:
        type_ = str(bench.tensor(item.outputs[0]).element_type)
        made = [_built(bench, run, type_, row.dtype) for run in runs]
        return made[0] if len(made) == 1 else bench.add("Concat", *made, axis=0, name=f"{bench.item.name}/grids")

    doubt = next(filter(None, (_doubt(bench, run, is_table=_makes_table(bench, item)) for run in runs)), "")
    seen_law = _spread(bench, item, row, seen, segments) if doubt and seen is not None else None
    if is_count and doubt and runs[0].steps[0] == -1 and (last := int(runs[0].start) + 1 - len(row)) in (0, 1):
        build = partial(_flipped, bench, item, runs[0].factors[0].size, last)
    return seen_law or Continuation(words, build, doubt)


def _flipped(bench: Bench, item: Item, size: Size, last: int) -> Tensor:
    """Numbers that count down along an axis of this size to the last one."""
    name, type_ = f"{bench.item.name}/flipped", str(bench.tensor(item.outputs[0]).element_type)
    made = bench.add("Subtract", scalar(bench, size - 1 + last), ramp(bench, size), name=name)
    return made if type_ == "i64" else bench.add("Convert", made, destination_type=type_, name=name)


def _spread(bench: Bench, item: Item, row: Array, seen: Array, segments: Sequence[tuple[Factor, ...]]) -> Continuation | None:
    """The law of a row of real numbers that are evenly spaced, in this export and in the second one."""
    at = was = 0
    runs: list[_Run] = []
    rounding = rounding_of(row)
    for factors in segments if rounding else ():
        counts = [factor.recorded or 0 for factor in factors]
        others = [0 if bench.witness is None else bench.witness.at(factor.size) or 0 for factor in factors]
        here, there = row[at : at + prod(counts)], seen[was : was + prod(others)]
        at, was = at + prod(counts), was + prod(others)
        is_whole = 0 < here.size == prod(counts) and 0 < there.size == prod(others)
        run = _common(factors, here.reshape(counts).astype(float), there.reshape(others).astype(float), rounding) if is_whole else None
        if run is None:
            return None
        runs.append(run)
    if not runs or at != len(row) or was != len(seen):
        return None

    def build() -> Tensor:
        made = [_built(bench, run, "f32", np.dtype("f4")) for run in runs]
        whole = made[0] if len(made) == 1 else bench.add("Concat", *made, axis=0, name=f"{bench.item.name}/grids")
        type_ = str(bench.tensor(item.outputs[0]).element_type)
        return whole if type_ == "f32" else bench.add("Convert", whole, destination_type=type_, name=f"{bench.item.name}/grid")

    return Continuation("evenly spaced in both exports", build, rounding=rounding)


def _common(factors: Sequence[Factor], here: Array, there: Array, rounding: float) -> _Run | None:
    """The one grid that gives two arrays of real numbers; None if there are several ones or none."""
    steps = [float(np.take(here, -1, axis).flat[0] - here.flat[0]) / max(n - 1, 1) for axis, n in enumerate(here.shape)]
    if not are_equal(_numbers(_Run(factors, here.flat[0], steps), here.shape), here, rounding):
        return None
    may_divide = [step != 0 and isinstance(factor.size, Dim) for factor, step in zip(factors, steps, strict=True)]
    ways = [*product_of(*[(None, 0, 1) if may else (None,) for may in may_divide])]
    found = []
    for divisors, place in product_of(ways, (0.0, 0.5)):
        if place and set(divisors) == {None}:
            continue  # the same numbers as with the other place
        whole = [step if less is None else step * (n - less) for step, less, n in zip(steps, divisors, here.shape, strict=True)]
        numbers = [next((near for near in (float(f"{one:.5g}"),) if isclose(one, near, rel_tol=rounding)), one) for one in whole]
        start = float(here.flat[0]) - place * sum(steps)
        run = _Run(factors, 0.0 if abs(start) <= rounding * np.abs(here).max() else start, numbers, divisors, place)
        if are_equal(_numbers(run, there.shape), there, rounding):
            found.append(run)
    return found[0] if len(found) == 1 else None


def _numbers(run: _Run, counts: Sequence[int]) -> Array:
    """The real numbers of a grid with so many places along each axis."""
    divisors = run.divisors or [None] * len(counts)
    steps = [one if less is None else one / max(n - less, 1) for one, less, n in zip(run.steps, divisors, counts, strict=True)]
    return np.asarray(run.start + np.tensordot(steps, np.indices(counts) + run.place, 1))


def _makes_table(bench: Bench, item: Item) -> bool:
    """Whether a constant and others alone make a table with more elements, as places and frequencies do."""
    made = [reader.outputs[0] for reader, _ in bench.draft.readers_of(item) if reader.outputs]
    return any(bench.is_of_sizes(one) and product(bench.sizes(one)) != product(bench.sizes(item.outputs[0])) for one in made)


def _doubt(bench: Bench, run: _Run, *, is_table: bool) -> str:
    """Why a run may go on otherwise at another size; empty if it cannot."""
    counts = [factor.recorded for factor in run.factors if isinstance(factor.size, Dim)]
    if is_table and len({*counts}) < len(counts):  # RT-DETR counts the places of its table along columns, and those of the image along rows
        return f"a grid of {' by '.join(map(str, counts))} does not tell which size comes first"
    for factor, step in zip(run.factors, run.steps, strict=True):
        count = factor.recorded or 0
        if isinstance(factor.size, int) or step == 0:
            continue
        if count < _FEWEST:
            return "more than one rule gives so few elements"
        if step < 0 or float(step) * 2 % 1 or (isinstance(step, np.integer) and recorded_as(bench, int(step))):  # offsets of rows
            return f"they count in steps of {step:g}, which may depend on the size"
    if any(step != 0 for step in run.steps) and float(run.start) / (max(map(float, run.steps)) or 1) not in _BEGINS:
        return f"they count from {run.start:g} on, which may depend on the size"
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

    def number(value: Any) -> Tensor:
        return bench.graph.constant(np.array(value, dtype), name=name, element_type=type_)

    made = bench.graph.constant(np.array([run.start], dtype), name=name, element_type=type_)
    for axis, (factor, step) in enumerate(zip(run.factors, run.steps, strict=True)):
        if step == 0:
            continue
        one = ramp(bench, factor.size, type_)
        if run.place:
            one = bench.add("Add", one, number(run.place), name=name)
        if step != 1:
            one = bench.add("Multiply", one, number(step), name=name)
        if run.divisors and (less := run.divisors[axis]) is not None:
            last = bench.add("Maximum", scalar(bench, factor.size - less), np.array(1, np.int64), name=name)
            one = bench.add("Divide", one, bench.add("Convert", last, destination_type=type_, name=name), name=name)
        if rank > 1:
            one = along(bench, one, axis, rank)
        made = bench.add("Add", made, one, name=name)
    if any(step == 0 for step in run.steps):
        made = bench.add("Broadcast", made, vector(bench, [factor.size for factor in run.factors]), mode="bidirectional", name=name)
    return made if rank == 1 else bench.add("Reshape", made, np.array([-1], np.int64), special_zero=False, name=name)


def unflattened(bench: Bench, item: Item) -> tuple[int, ...] | None:
    """The recorded sizes of the tensor that a layer writes into, which is flat: before the Reshape that flattened it, else behind one."""
    data = source(item, 0)
    if len(bench.sizes(data)) != 1:
        return None
    if data.item.type == "Reshape" and len(before := bench.recorded_sizes(source(data.item, 0)) or ()) > 1:
        return before
    while True:
        readers = [*bench.draft.readers_of(item)]
        if len(readers) != 1:
            return None
        reader, port = readers[0]
        if reader.type == "Reshape":
            return bench.recorded_sizes(reader.outputs[0])
        if reader.type != item.type or port:
            return None
        item = reader


def sliced(indices: Array, whole: tuple[int, ...]) -> list[range] | None:
    """The places along each axis of the elements `x[:, 0::2]` that flat indices name in their order; None if they name no slice."""
    if indices.ndim != 2 or indices.shape[1] != 1 or indices.size == 0 or prod(whole) <= indices.max() or indices.min() < 0:
        return None
    flat = indices.reshape(-1)
    lines = [np.unique(one) for one in np.unravel_index(flat, whole)]
    if prod([line.size for line in lines]) != indices.size or any(np.unique(np.diff(line)).size > 1 for line in lines):
        return None
    if not np.array_equal(np.ravel_multi_index(np.meshgrid(*lines, indexing="ij"), whole).reshape(-1), flat):
        return None
    starts, steps = [int(line[0]) for line in lines], [int(line[1] - line[0]) if line.size > 1 else 1 for line in lines]
    return [range(start, start + step * line.size, step) for start, step, line in zip(starts, steps, lines, strict=True)]


def places(bench: Bench, item: Item, parts: Sequence[range], whole: Sequence[int], sizes: Sequence[Size]) -> Tensor:
    """The flat places i64[n,1] of a slice of a tensor that had the recorded sizes `whole`, and has `sizes` now."""
    name, last = f"{item.name}/places", np.iinfo(np.int64).max
    made = bench.add("Reshape", ramp(bench, product(sizes)), vector(bench, sizes), special_zero=False, name=name)
    ends = [last if part.stop >= size else part.stop for part, size in zip(parts, whole, strict=True)]
    limits = [np.array(one, np.int64) for one in ([part.start for part in parts], ends, [part.step for part in parts])]
    taken = bench.add("Slice", made, *limits, np.arange(len(parts)), version="opset8", name=name)
    return bench.add("Reshape", taken, np.array([-1, 1], np.int64), special_zero=False, name=name)
