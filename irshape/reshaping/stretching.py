"""Tensors that must follow: they do not depend on the open sizes, and were as long as those that do.

Where a layer demands equal sizes of its inputs, an input with a number gets the formula of the others. It is made again *backwards, by
need*: through the layers that compute it, to the constants, whose elements go on by a law.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from math import prod
from operator import mul
from typing import Any, Final

import numpy as np

from irshape.editing.layers import Tensor, layer_of
from irshape.editing.state import Item, Value
from irshape.ops.elementwise import Elementwise
from irshape.ops.flow import Factor, Held, quotient, same
from irshape.reshaping.bench import (
    CONSTANTS,
    EXPORTS,
    OPEN_THERE,
    TELL,
    UNROLLED,
    Bench,
    Seen,
    formula,
    holder,
    is_true,
    listed,
    number_of,
    numbers_of,
    open_sizes,
    source,
    total,
    vector,
)
from irshape.reshaping.exports import explained
from irshape.reshaping.folding import Folding
from irshape.reshaping.laws import OF_SIZES, SCALING, generated, places, prefix, ramp, scales, sliced, unflattened, widened
from irshape.shape.dim import Dim, Size, brief_text, expression_of, formula_text, product

# For each input of a group of axes that have one size: its position, and the axis.
_Group = Sequence[tuple[int, int]]
# The input of an attention that is its scale.
_SCALE: Final = 4
_Wants = Mapping[int, Size]

# The operations on each element that are declared apart from the family of these.
_ON_ELEMENTS: Final = frozenset({"Convert", "ConvertLike", "HardSigmoid", "Selu", "Swish"})
_SEQUENCES: Final = ("LSTMSequence", "GRUSequence", "RNNSequence")
_CELLS: Final = ("LSTMCell", "GRUCell", "RNNCell")


def is_elementwise(item: Item) -> bool:
    """Whether each element of the output depends on the elements at its own place; the inputs broadcast."""
    return item.op_class is not None and (issubclass(item.op_class, Elementwise) or item.type in _ON_ELEMENTS)


def follow(bench: Bench) -> None:
    """Stretch the inputs of the layer that is visited that must follow the others."""
    item = bench.item
    if item.type in _SEQUENCES:
        _follow_lengths(bench, item)
    if item.type == "Gather":
        _follow_indices(bench, item)
    broadcasts = is_elementwise(item) or item.type in ("MatMul", "ScaledDotProductAttention")
    wants: dict[int, dict[int, Size]] = {}
    for group in _groups(bench, item):
        sizes = [bench.sizes(source(item, port))[axis] for port, axis in group]
        at = next((at for at, size in enumerate(sizes) if isinstance(size, Dim)), None)
        if at is None:
            continue
        wanted, recorded = sizes[at], bench.recorded_sizes(source(item, group[at][0]))
        was = recorded[group[at][1]] if recorded else bench.at(wanted)  # the depth of a OneHot has no recorded value in symbols
        for (port, axis), size in zip(group, sizes, strict=True):
            if isinstance(size, int) and not (broadcasts and size == 1) and was == size:
                wants.setdefault(port, {})[axis] = wanted
    alone = set[int]()  # constants that may be the only inputs with the size along an axis
    for port, axis, ways in longer(bench):
        if axis not in wants.setdefault(port, {}):  # else another input has the size
            wants[port][axis] = bench.pick([Seen([way]) for way in ways])[0]
            alone.add(port)
    for port, own in wants.items():
        value = source(item, port)
        before = [bench.sizes(value)[axis] for axis in own]
        bench.connect(port, stretched(bench, value, own, keep_ones=broadcasts and port not in alone))
        what = f"{'axis' if len(own) == 1 else 'axes'} {', '.join(map(str, own))} of {value.item!r}"
        bench.mend(f"input {port}", f"{what}: {listed(before)}", [*own.values()])


def longer(bench: Bench) -> Iterator[tuple[int, int, Sequence[Size]]]:
    """The axes of constants of the layer that are as long as an open size, or its part, in both exports, each with the sizes it may be."""
    item, witness = bench.item, bench.witness
    yield from _cropped(bench)
    computes = is_elementwise(item) or item.type in ("Gather", "MatMul", "Result") or item.type.startswith("Scatter")
    for port, value in enumerate(item.inputs if witness is not None and computes else ()):
        constant = bench.constant_of(value)
        if value is None or witness is None or constant is None or constant.base is None:
            continue
        here, there = bench.shape(value) or (), witness.shape(value) or ()
        for axis, (was, seen) in enumerate(zip(here, there, strict=False)) if len(here) == len(there) else ():
            if not isinstance(was, int) or not isinstance(seen, int) or was == seen:
                continue
            sizes = {str(one): one for one in explained(bench, open_sizes(bench), was, seen)}
            plain = [size for name, size in sizes.items() if name.isidentifier()] or [*sizes.values()]  # `S` rather than `min(S, 128)`
            if plain:
                yield port, axis, plain


def _cropped(bench: Bench) -> Iterator[tuple[int, int, Sequence[Size]]]:
    """The axes of a constant of which a Slice takes as many elements as an open size, the recorded one of which is that of the axis.

    The constant has equal elements, or is as long as the size in the second export, too.
    """
    item, witness = bench.item, bench.witness
    value = source(item, 0) if item.type == "Slice" else None
    array = None if value is None or bench.constant_of(value) is None else bench.array(value)
    if value is None or array is None or not array.size:
        return
    there = None if witness is None else witness.shape(value)
    begins, ends, steps = (bench.elements(source(item, port)) or () for port in (1, 2, 3))
    axes = bench.elements(source(item, 4)) if len(item.inputs) > 4 else None
    for begin, end, step, axis in zip(begins, ends, steps, axes or range(len(ends)), strict=False):
        was = array.shape[axis]
        if isinstance(end, Dim) and (begin, step) == (0, 1) and bench.at(end) == was:
            seen = there[axis] if there is not None and len(there) == array.ndim else None
            if (array == array.flat[0]).all() if witness is None or seen is None else was != seen == witness.at(end):
                yield 0, axis, [end]


def _groups(bench: Bench, item: Item) -> Iterator[_Group]:
    """The axes of the inputs that the layer demands to be equal."""
    if item.type in _SEQUENCES or item.type in _CELLS:
        states = 2 if item.type.startswith("LSTM") else 1
        ports = [0, *range(1, states + 1), *([states + 1] if item.type in _SEQUENCES else [])]
        yield [(port, 0) for port in ports]
        return
    if item.type == "GridSample":
        yield [(0, 0), (1, 0)]
        image, there = bench.sizes(source(item, 0)), None if bench.witness is None else bench.witness.shape(item.outputs[0])
        for axis in range(2, min(len(image), len(there or ()))):
            if bench.witness and there and bench.at(image[axis]) != bench.witness.at(image[axis]) == there[axis]:
                yield [(0, axis), (1, axis - 1)]  # both exports have a grid that is as large as the image
        return
    if item.type == "ScatterElementsUpdate":
        along = (bench.elements(source(item, 3)) or (None,))[0]
        rank = len(bench.sizes(source(item, 0)))
        yield from (
            [*([] if isinstance(along, int) and along % rank == axis else [(0, axis)]), (1, axis), (2, axis)] for axis in range(rank)
        )
        return
    kinds = is_elementwise(item) or item.type in ("Concat", "GatherElements", "MatMul", "ScaledDotProductAttention")
    if not kinds or len(item.inputs) < 2:
        return
    ranks = [len(bench.sizes(value)) for value in item.inputs if value is not None]
    if item.type in ("Concat", "GatherElements"):
        along = number_of(item) % max(ranks[0], 1)
        if item.type == "Concat" and any(bench.holds_batch(bench.sizes(value)[along]) for value in item.inputs if value is not None):
            along = -1  # the parts lie outside of the batch, which each of them has
        yield from ([(port, axis) for port in range(len(ranks))] for axis in range(min(ranks)) if axis != along)
    elif item.type == "ScaledDotProductAttention":
        yield from _attention(ranks)
    else:
        kept = 2 if item.type == "MatMul" else 0
        for axis in range(max(ranks) - kept):
            own = [(port, axis - max(ranks) + rank) for port, rank in enumerate(ranks)]
            yield [(port, place) for port, place in own if place >= 0]


def _attention(ranks: Sequence[int]) -> Iterator[_Group]:
    """The axes before the last two of the query, the keys and the values, and those of the mask that follow them."""
    if len(set(ranks[:3])) == 1:
        yield from ([(port, axis) for port in range(3)] for axis in range(ranks[0] - 2))
    if len(ranks) > 3 and ranks[3] > 1:
        yield from ([(0, axis - ranks[3] + ranks[0]), (3, axis)] for axis in range(ranks[3] - 2) if axis - ranks[3] + ranks[0] >= 0)
        yield [(0, ranks[0] - 2), (3, ranks[3] - 2)]
        yield [(1, ranks[1] - 2), (3, ranks[3] - 1)]


def _follow_lengths(bench: Bench, item: Item) -> None:
    """The lengths of sequences, if each was the whole recorded length."""
    port = 3 if item.type == "LSTMSequence" else 2
    data, lengths = source(item, 0), source(item, port)
    batch, length, *_ = bench.sizes(data)
    array, recorded = bench.array(lengths), bench.recorded_sizes(data)
    if isinstance(length, Dim) and array is not None and recorded and (array == recorded[1]).all():
        target = vector(bench, [batch], data)
        bench.connect(port, bench.add("Broadcast", formula(bench, length, data), target, mode="numpy", name=f"{item.name}/lengths"))
        bench.mend(f"input {port}", array.tolist(), [length])


def _follow_indices(bench: Bench, item: Item) -> None:
    """Repeat the table of a Gather for each sample, if the indices count the rows of all samples and the table has those of one batch."""
    table, indices, axes = source(item, 0), source(item, 1), bench.elements(source(item, 2))
    held = bench.notes.traces.held.get(indices.slot)
    if held is None or held.law is None or held.law.within != 1 or not axes or not isinstance(axes[0], int):
        return
    terms = [term for axis in held.law.axes for term in axis]
    count, last = product([term.size for term in terms]), held.law.base + total([term.step * (term.size - 1) for term in terms])
    axis = axes[0] % len(bench.sizes(table))
    rows = bench.sizes(table)[axis]
    if not bench.holds_batch(rows) and bench.holds_batch(count) and bench.alone(count) == expression_of(rows) and same(last + 1, count):
        bench.notes.joined[expression_of(count)] = tuple([bench.recorded_factor(Factor(term.size)) for term in terms])
        bench.connect(0, stretched(bench, table, {axis: count}))
        bench.mend("input 0", f"axis {axis} of {table.item!r}: {formula_text(rows)}", [count])


def stretched(bench: Bench, value: Value, wants: _Wants, *, keep_ones: bool = False) -> Tensor:
    """A tensor like `value`, which does not depend on the open sizes, with other sizes of some axes.

    With `keep_ones`, the reader broadcasts: axes along which the elements are equal may have size 1.
    """
    key = ("stretched", value.slot, tuple([(axis, expression_of(size)) for axis, size in sorted(wants.items())]), keep_ones)
    known = bench.notes.made.get(key)
    if known is None or not bench.draft.state.is_live(known._value.item):
        known = bench.notes.made[key] = _stretched(bench, value, wants, keep_ones=keep_ones)
    return known


def _stretched(bench: Bench, value: Value, wants: _Wants, *, keep_ones: bool) -> Tensor:
    item, shape = value.item, bench.sizes(value)
    ones = {axis: size for axis, size in wants.items() if shape[axis] == 1}
    if ones:
        rest = {axis: size for axis, size in wants.items() if shape[axis] != 1}
        own = stretched(bench, value, rest, keep_ones=keep_ones) if rest else bench.tensor(value)
        return own if keep_ones else widened(bench, own, ones, len(shape))
    for axis in wants:
        if (repeated := _repeated(bench, value, axis, wants)) is not None:
            return repeated
    if item.type in CONSTANTS:
        if bench.array(value) is None:
            bench.refuse(f"needs other sizes of {item!r}, whose type {bench.tensor(value).element_type} irshape cannot make again", item)
        copies = _copies(bench, item, *next(iter(wants.items()))) if len(wants) == 1 else None
        return copies or generated(bench, item, wants, keep_ones=keep_ones)
    is_whole = all(one is not None for one in item.inputs)  # a faulty edge leaves an input that reads nothing
    rule = (_through_elements if is_elementwise(item) else _RULES.get(item.type)) if is_whole else None
    made = rule(bench, value, wants) if rule is not None else None
    if made is None:
        axis, size = next(iter(wants.items()))
        factors = (bench.recorded_factor(Factor(shape[axis])), *bench.notes.joined.get(expression_of(size), ()))
        counts = [one.recorded for one in factors if one.recorded and one.recorded > 1]
        constant = holder(bench, [value], lambda one: one in counts) or holder(
            bench, [value], lambda one: isinstance(one, int) and any(one and one % count == 0 for count in counts)
        )
        why, has_steps = f"irshape has no rule for the elements of {item.type} at another size", False
        if constant is None and not bench.is_of_sizes(value):
            joined = f": it joins {len(item.inputs)} tensors" if item.type == "Concat" and number_of(item) % len(shape) == axis else ""
            why = f"the layers before it give {shape[axis]} for every size{joined}" if item.inputs else "this input keeps its size"
            why += (apart := bench.cut_apart(item))
            has_steps = bool(apart) or (bool(joined) and len(item.inputs) == shape[axis])
        if item.type == "VariadicSplit":
            lengths = listed([sizes[axis] for one in item.outputs if (sizes := bench.recorded_sizes(one))])
            why = f"it cuts the axis into parts of {lengths}, of which the file does not say how they change"
        if constant is not None and constant is not item:  # a number that is as large as the old size, or a multiple
            why += f"; {constant!r} may hold the old size"
        needs = f"needs axis {axis} of {item!r} {listed(shape)} to be {brief_text(size)}"
        again = "convert the model again with another size of this input" if bench.witness is None else f"{EXPORTS}: {OPEN_THERE}"
        hint = UNROLLED if has_steps else TELL if bench.witness is None and item.inputs else again
        bench.refuse(f"{needs}, but {why}", constant or item, hint)
    return made


def _repeated(bench: Bench, value: Value, axis: int, wants: _Wants) -> Tensor | None:
    """A tensor that is repeated for each sample along an axis (N, 24) that was 24; None if the batch is no factor of the axis."""
    shape, factors = bench.sizes(value), bench.notes.joined.get(expression_of(wants[axis]), ())
    at = next((place for place, one in enumerate(factors) if bench.holds_batch(one.size)), None)
    others = [one.size for place, one in enumerate(factors) if place != at]
    if at is None or factors[at].recorded != 1 or not same(product(others), shape[axis]):
        return None
    rest = {own: size for own, size in wants.items() if own != axis}
    whole = stretched(bench, value, rest) if rest else bench.tensor(value)
    parts = product(others[:at]), factors[at].size, product(others[at:])
    made = _copied(bench, whole, axis, parts, [wants.get(own, size) for own, size in enumerate(shape)])
    trace = bench.trace(made._value)
    bench.notes.traces.held[made._value.slot] = Held((*trace[:axis], factors, *trace[axis + 1 :]))
    return made


def _copied(bench: Bench, whole: Tensor, axis: int, parts: tuple[Size, Size, Size], sizes: Sequence[Size]) -> Tensor:
    """A tensor of which an axis (A, B) becomes (A, N, B); `parts` are A, N and B, and `sizes` those of the result."""
    name, (left, right) = f"{whole._value.item.name}/samples", (sizes[:axis], sizes[axis + 1 :])
    before, count, behind = parts
    apart = bench.add("Reshape", whole, vector(bench, [*left, before, 1, behind, *right]), special_zero=False, name=name)
    wide = widened(bench, apart, {axis + 1: count}, len(sizes) + 2)
    return bench.add("Reshape", wide, vector(bench, sizes), special_zero=False, name=name)


def _copies(bench: Bench, item: Item, axis: int, size: Size) -> Tensor | None:
    """A constant (N, 2) that has the same two rows N times along an axis; None if it has not."""
    array = layer_of(bench.draft, item).data
    count = array.shape[axis]
    sizes: list[Size] = [size if own == axis else was for own, was in enumerate(array.shape)]
    divisors = [rows for rows in range(1, count // 2 + 1) if count % rows == 0]
    for rows in divisors if bench.at(size) == count else ():
        first = np.take(array, range(rows), axis)
        if np.array_equal(np.concatenate([first] * (count // rows), axis), array):
            number = size // rows
            if rows == 1 or not same(number * rows, size) or bench.at(number) != count // rows:
                return None  # all rows are equal, or the size is no multiple
            one = bench.graph.constant(first, name=f"{item.name}/one", element_type=bench.tensor(item.outputs[0]).element_type)
            made = _copied(bench, one, axis, (1, number, rows), sizes)
            bench.notes.proofs.append((item, made, 0.0))
            why = f"the elements repeat along the axis after {rows} rows; irshape assumes the same at other sizes"
            bench.mend("elements", array.shape, sizes, "generated", why, item)
            return made
    return None


# How a tensor is stretched through the layer that computes it; None if the layer cannot be made again.


def _given(bench: Bench, item: Item, port: int, wants: _Wants) -> Tensor:
    """An input of a layer, stretched if need be."""
    value = source(item, port)
    return stretched(bench, value, wants) if wants else bench.tensor(value)


def _through_data(bench: Bench, value: Value, wants: _Wants) -> Tensor:
    """The same layer behind data of other sizes."""
    rest = [bench.tensor(one) for one in value.item.inputs[1:] if one is not None]
    return bench.again(value.item, _given(bench, value.item, 0, wants), *rest, output=value.index)


def _through_elements(bench: Bench, value: Value, wants: _Wants) -> Tensor:
    item, rank = value.item, len(bench.sizes(value))
    given = []
    for port, read in enumerate(item.inputs):
        sizes = bench.sizes(read) if read is not None else ()
        lag = rank - len(sizes)
        own = {axis - lag: size for axis, size in wants.items() if axis >= lag and sizes[axis - lag] != 1}
        given.append(_given(bench, item, port, own))
        factor = Folding(bench.draft, bench.recorded_sizes).of(read) if read is not None and product(sizes) == 1 else None
        if item.type in SCALING and (numbers := scales(bench, factor, [*wants.values()])):
            bench.keep(f"{item!r} scales by {numbers}, {OF_SIZES} its axes", *wants.values())
    return bench.again(item, *given)


def _through_gather(bench: Bench, value: Value, wants: _Wants) -> Tensor | None:
    item = value.item
    axes = bench.elements(source(item, 2))
    if axes is None or not isinstance(axes[0], int) or number_of(item, "batch_dims"):
        return None
    axis = axes[0] % len(bench.sizes(source(item, 0)))
    count = len(bench.sizes(source(item, 1)))
    data = {own if own < axis else own - count + 1: size for own, size in wants.items() if not axis <= own < axis + count}
    indices = {own - axis: size for own, size in wants.items() if axis <= own < axis + count}
    chosen = _given(bench, item, 1, indices)
    for own, size in indices.items():
        if (most := _most_rows(bench, source(item, 1), own, bench.sizes(source(item, 0))[axis])) is None:
            continue
        table = Folding(bench.draft, bench.recorded_sizes).of(source(item, 0))
        if most == bench.at(size) and table is not None and (table == np.take(table, [0], axis)).all():
            data[axis] = size  # a mask of ones for the recorded size
        else:
            limits = [np.array([one], np.int64) for one in (0, most, 1, own)]
            chosen = bench.add("Slice", chosen, *limits, version="opset8", name=f"{item.name}/rows")
    return bench.again(item, _given(bench, item, 0, data), chosen, bench.tensor(source(item, 2)))


def _most_rows(bench: Bench, indices: Value, axis: int, rows: Size) -> int | None:
    """How many indices that count along an axis lie in a table with so many rows; None if they do not count or are not known."""
    array = Folding(bench.draft, bench.recorded_sizes).of(indices)
    if array is None or not isinstance(rows, int):
        return None
    steps = np.unique(np.diff(array, axis=axis)).tolist()
    return (rows - 1 - int(array.max())) // steps[0] + array.shape[axis] if len(steps) == 1 and steps[0] > 0 else None


def _through_gather_elements(bench: Bench, value: Value, wants: _Wants) -> Tensor:
    item, axis = value.item, number_of(value.item) % len(bench.sizes(value))
    data = {own: size for own, size in wants.items() if own != axis}
    return bench.again(item, _given(bench, item, 0, data), stretched(bench, source(item, 1), wants))


def _through_convolution(bench: Bench, value: Value, wants: _Wants) -> Tensor | None:
    """A convolution keeps the batch, and one with filters of one element each axis that it does not pad."""
    data, window = bench.sizes(source(value.item, 0)), numbers_of(value.item, "strides")
    is_pointwise = {*bench.sizes(source(value.item, 1))[-len(window) :], *window} == {1} and data[2:] == bench.sizes(value)[2:]
    return _through_data(bench, value, wants) if wants.keys() == {0} or (is_pointwise and 1 not in wants) else None


def _through_matmul(bench: Bench, value: Value, wants: _Wants) -> Tensor | None:
    """Rows of the product are rows of the first matrix, and columns are columns of the second one; the axes before broadcast."""
    item, rank, given = value.item, len(bench.sizes(value)), []
    for port, (name, own, other) in enumerate((("transpose_a", rank - 2, rank - 1), ("transpose_b", rank - 1, rank - 2))):
        sizes = bench.sizes(source(item, port))
        lag = rank - len(sizes)
        wanted = {axis - lag: size for axis, size in wants.items() if lag <= axis < rank - 2 and sizes[axis - lag] != 1}
        if own in wants:
            place = other if is_true(item, name) else own
            wanted[place - lag] = wants[own]
        if len(sizes) < 2:
            return None
        given.append(_given(bench, item, port, wanted))
    return bench.again(item, *given)


def _through_transpose(bench: Bench, value: Value, wants: _Wants) -> Tensor | None:
    order = bench.elements(source(value.item, 1))
    return None if order is None else _through_data(bench, value, {order[axis]: size for axis, size in wants.items()})


def _through_reshape(bench: Bench, value: Value, wants: _Wants) -> Tensor | None:
    """An axis that was split, or joined of others, follows its parts; sizes that are equal do not tell which part is which."""
    item, shape, before = value.item, bench.sizes(value), bench.sizes(source(value.item, 0))
    ends, sources = _ends(bench.recorded_sizes(value)), _ends(bench.recorded_sizes(source(item, 0)))
    if len(ends) <= len(shape):  # a size that the file does not record
        return None
    places: dict[int, Size] = {}
    for axis, size in wants.items():
        first = max((at for at in range(axis + 1) if ends[at] in sources), default=0)
        last = min((at for at in range(axis + 1, len(ends)) if ends[at] in sources), default=0)
        low = max((at for at, one in enumerate(sources) if one == ends[first]), default=0)
        own = range(low, next((at for at, one in enumerate(sources) if at > low and one == ends[last]), low))
        if any(isinstance(before[at], Dim) for at in own) or not last:
            return None
        if len(own) == 1:
            whole = [Factor(wants.get(at, size), size if isinstance(size, int) else None) for at, size in enumerate(shape)][first:last]
            places[low] = product([one.size for one in whole])
            if len(whole) > 1 and expression_of(places[low]) not in bench.notes.joined:
                bench.notes.joined[expression_of(places[low])] = tuple(whole)
            continue
        if last - first == 1 and expression_of(size) not in bench.notes.joined:
            others = {at: product([before[one] for one in own if one != at]) for at in own}
            ways = {
                at: part for at, other in others.items() if isinstance(part := quotient(size, other), Dim) and bench.at(part) == before[at]
            }
            if len(ways) != 1:
                return None
            places.update(ways)
            continue
        factors: list[Factor] = []
        for at in range(first, last):
            was = shape[at]
            own_size = Factor(wants.get(at, was), was if isinstance(was, int) else None)
            factors += bench.notes.joined.get(expression_of(own_size.size)) or (own_size,)
        filled = _filled([before[at] for at in own], factors)
        if filled is None:
            return None
        places.update({at: size for at, size in zip(own, filled, strict=True) if not same(size, before[at])})
    if item.type != "Reshape":
        return _through_data(bench, value, places)
    target = vector(bench, [wants.get(axis, size) for axis, size in enumerate(shape)])
    return bench.add("Reshape", _given(bench, item, 0, places), target, special_zero=False, name=f"{item.name}/wide")


def _filled(recorded: Sequence[Size], factors: Sequence[Factor]) -> list[Size] | None:
    """The sizes of axes of recorded sizes that factors fill in their order; None if they do not, or if another factor is as large."""
    counts, left, found = [one.recorded for one in factors if one.size != 1], [one for one in factors if one.size != 1], list[Size]()
    if any(isinstance(one.size, Dim) and (one.recorded == 1 or counts.count(one.recorded) > 1) for one in left):
        return None
    for need in recorded:
        size: Size = 1
        while isinstance(need, int) and need > 1:
            if not left or not left[0].recorded or need % left[0].recorded:
                return None
            need, size = need // left[0].recorded, size * left[0].size
            left = left[1:]
        found.append(size)
    return None if left else found


def _ends(sizes: Sequence[int] | None) -> list[int]:
    """How many rows of a flat tensor each axis and those before it make, from none on."""
    return list(accumulate(sizes or (), mul, initial=1))


def _through_scatter(bench: Bench, value: Value, wants: _Wants) -> Tensor | None:
    """Data are written into more elements: at places that they tell themselves, or at those of a slice, of which one axis grows."""
    item, data, whole = value.item, source(value.item, 0), unflattened(bench, value.item)
    if not bench.is_of_sizes(source(item, 1)):
        return _through_data(bench, value, wants)
    indices = Folding(bench.draft, bench.recorded_sizes).of(source(item, 1))
    if indices is None or whole is None or (parts := sliced(indices, whole)) is None:
        return None
    for axis, part in enumerate(parts):
        size = wants[0] // prod(whole[:axis] + whole[axis + 1 :])
        sizes: list[Size] = [*whole[:axis], size, *whole[axis + 1 :]]
        if part == range(whole[axis]) and bench.at(size) == whole[axis] and same(product(sizes), wants[0]):
            written = [size if own == axis else len(one) for own, one in enumerate(parts)]
            bench.notes.joined[expression_of(product(written))] = tuple([bench.recorded_factor(Factor(one)) for one in written])
            if (constant := bench.constant_of(data)) is not None:  # the law of its elements is one of rows and columns
                rows = bench.graph.constant(layer_of(bench.draft, constant).data.reshape(whole), name=f"{constant.name}/rows")
                table = stretched(bench, rows._value, {axis: size})
                flat = bench.add("Reshape", table, np.array([-1], np.int64), special_zero=False, name=f"{item.name}/flat")
            else:
                flat = _given(bench, item, 0, wants)
            return bench.again(item, flat, places(bench, item, parts, whole, sizes), _given(bench, item, 2, {0: product(written)}))
    return None


def _through_broadcast(bench: Bench, value: Value, wants: _Wants) -> Tensor | None:
    item, shape, before = value.item, bench.sizes(value), bench.sizes(source(value.item, 0))
    lag = len(shape) - len(before)
    own = {axis - lag: size for axis, size in wants.items() if axis >= lag and before[axis - lag] != 1}
    is_tile = item.type == "Tile"
    if lag < 0 or (is_tile and (own or any(size not in (1, shape[at + lag]) for at, size in enumerate(before)))):
        return None
    return widened(bench, _given(bench, item, 0, own), {axis: wants.get(axis, size) for axis, size in enumerate(shape)}, len(shape))


def _through_slice(bench: Bench, value: Value, wants: _Wants) -> Tensor | None:
    item, shape, whole = value.item, bench.sizes(value), bench.sizes(source(value.item, 0))
    if len(whole) != len(shape):
        return None
    rest = {axis: size for axis, size in wants.items() if whole[axis] == shape[axis]}
    cut = {axis: size for axis, size in wants.items() if axis not in rest}
    if not cut:
        return _through_data(bench, value, rest)
    axes = _axes_of_prefix(bench, item, shape)
    if not cut.keys() <= axes:
        return None
    made = _given(bench, item, 0, rest)
    for axis in sorted(axes):
        made = prefix(bench, made, axis, wants.get(axis, shape[axis]), item.name)
    return made


def _axes_of_prefix(bench: Bench, item: Item, shape: Sequence[Size]) -> set[int]:
    """The axes of which a Slice takes the first elements, if it takes nothing else."""
    if item.type != "Slice":
        return set()
    begin, end, step = (bench.elements(source(item, port)) or () for port in (1, 2, 3))
    axes = (bench.elements(source(item, 4)) or ()) if len(item.inputs) > 4 else range(len(begin))
    found = {axis % len(shape) for axis in axes}
    is_prefix = set(begin) == {0} and set(step) == {1} and list(end) == [shape[axis] for axis in axes]
    return found if is_prefix else set()


def _through_concat(bench: Bench, value: Value, wants: _Wants) -> Tensor | None:
    item, is_along = value.item, number_of(value.item) % len(bench.sizes(value)) in wants
    return None if is_along else bench.again(item, *[_given(bench, item, port, wants) for port in range(len(item.inputs))])


def _beside(bench: Bench, value: Value, wants: _Wants) -> Tensor | None:
    """Axes other than those along which a layer splits, normalizes or reduces, which it may take away."""
    item = value.item
    rank = len(bench.sizes(source(item, 0)))
    axes = [number_of(item)] if "axis" in item.attributes else bench.elements(source(item, 1)) if len(item.inputs) > 1 else None
    taken = {axis % rank for axis in axes or ()}
    left = range(rank) if len(bench.sizes(value)) == rank else [axis for axis in range(rank) if axis not in taken]
    given = {left[axis]: size for axis, size in wants.items()}
    return None if not axes or given.keys() & taken else _through_data(bench, value, given)


def _through_attention(bench: Bench, value: Value, wants: _Wants) -> Tensor | None:
    """Axes of the samples and the heads."""
    rank, item = len(bench.sizes(value)), value.item
    if max(wants) >= rank - 2:
        return None
    given = []
    for port, sizes in enumerate([bench.sizes(source(item, port)) for port in range(len(item.inputs))]):
        places = {axis: axis - rank + len(sizes) for axis in wants}
        own = {at: wants[axis] for axis, at in places.items() if port < _SCALE and at >= 0 and sizes[at] != 1}
        given.append(_given(bench, item, port, own))
    return bench.again(item, *given)


def _through_range(bench: Bench, value: Value, wants: _Wants) -> Tensor | None:
    item, type_ = value.item, str(bench.tensor(value).element_type)
    start, _, step = (bench.elements(source(item, port)) for port in range(3))
    if not start or step != (1,):
        return None
    made = ramp(bench, wants[0], type_)
    if start == (0,):
        return made
    if bench.constant_of(source(item, 0)) is not None:
        bench.keep(f"{item!r} counts from {start[0]} on, which may follow from a recorded size")
    first = bench.add("Convert", bench.tensor(source(item, 0)), destination_type=type_, name=f"{item.name}/first")
    return bench.add("Add", made, first, name=f"{item.name}/wide")


def _through_interpolate(bench: Bench, value: Value, wants: _Wants) -> Tensor | None:
    """An Interpolate to given sizes gives any sizes along its axes, as that of a pooled image to the size of another image."""
    axes, sizes = interpolated(bench, value.item)
    if sizes is None:
        return None
    target = vector(bench, [wants.get(axis, size) for axis, size in zip(axes, sizes, strict=True)])
    data = _given(bench, value.item, 0, {axis: size for axis, size in wants.items() if axis not in axes})
    return bench.again(value.item, data, target, *[bench.tensor(one) for one in value.item.inputs[2:] if one is not None])


def interpolated(bench: Bench, item: Item) -> tuple[list[int], tuple[Any, ...] | None]:
    """The axes of an Interpolate, and the sizes that it reads for them; None where it reads no sizes, or they are not known."""
    rank, last = len(bench.sizes(source(item, 0))), 2 if item.version == "opset11" else 3
    axes = bench.elements(source(item, last)) if len(item.inputs) > last else range(rank)
    is_scaled = item.attributes.get("shape_calculation_mode", "sizes") != "sizes" or len(item.inputs) < 2
    sizes = None if is_scaled or axes is None else bench.elements(source(item, 1))
    return [axis % max(rank, 1) for axis in axes or ()], sizes if sizes is None or len(sizes) == len(axes or ()) else None


_RULES: Final[dict[str, Callable[[Any, Value, _Wants], Tensor | None]]] = {
    "Gather": _through_gather,
    "GatherElements": _through_gather_elements,
    "Transpose": _through_transpose,
    **dict.fromkeys(("Reshape", "Squeeze", "Unsqueeze"), _through_reshape),
    **dict.fromkeys(("Broadcast", "Tile"), _through_broadcast),
    **dict.fromkeys(("Slice", "StridedSlice"), _through_slice),
    "Concat": _through_concat,
    "MatMul": _through_matmul,
    **dict.fromkeys(("ScatterElementsUpdate", "ScatterNDUpdate"), _through_scatter),
    **dict.fromkeys(("Convolution", "GroupConvolution"), _through_convolution),
    **dict.fromkeys(("Split", "VariadicSplit", "MVN", "Softmax", "LogSoftmax", "ReduceMax", "ReduceMean", "ReduceSum"), _beside),
    "ScaledDotProductAttention": _through_attention,
    "Range": _through_range,
    "Interpolate": _through_interpolate,
    "CumSum": _through_data,
}
