"""Tensors that must follow: they do not depend on the open sizes, and were as long as those that do.

Where a layer demands equal sizes of its inputs, an input with a number gets the formula of the others. It is made again *backwards, by
need*: through the layers that compute it, to the constants. Elements are the same at the recorded sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Final

from irshape.editing.layers import Tensor
from irshape.editing.state import Item, Value
from irshape.ops.elementwise import Elementwise
from irshape.reshaping.bench import CONSTANTS, listed
from irshape.reshaping.constants import generated, prefix, ramp, widened
from irshape.reshaping.formulas import formula, vector
from irshape.shape.dim import Dim, Size, expression_of, formula_text

if TYPE_CHECKING:
    from irshape.reshaping.bench import Bench

# For each input of a group of axes that have one size: its position, and the axis.
_Group = Sequence[tuple[int, int]]
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
    broadcasts = is_elementwise(item) or item.type in ("MatMul", "ScaledDotProductAttention")
    wants: dict[int, dict[int, Size]] = {}
    for group in _groups(bench, item):
        sizes = [bench.sizes(_input(item, port))[axis] for port, axis in group]
        wanted = next((size for size in sizes if isinstance(size, Dim)), None)
        if wanted is None:
            continue
        for (port, axis), size in zip(group, sizes, strict=True):
            if isinstance(size, int) and not (broadcasts and size == 1) and bench.at(wanted) == size:
                wants.setdefault(port, {})[axis] = wanted
    for port, own in wants.items():
        value = _input(item, port)
        before = [bench.sizes(value)[axis] for axis in own]
        bench.connect(port, stretched(bench, value, own, keep_ones=broadcasts))
        what = f"{'axis' if len(own) == 1 else 'axes'} {', '.join(map(str, own))} of {value.item!r}"
        bench.mend(f"input {port}", f"{what}: {listed(before)}", [*own.values()])


def _input(item: Item, port: int) -> Value:
    value = item.inputs[port]
    assert value is not None
    return value


def _groups(bench: Bench, item: Item) -> Iterator[_Group]:
    """The axes of the inputs that the layer demands to be equal."""
    if item.type in _SEQUENCES or item.type in _CELLS:
        states = 2 if item.type.startswith("LSTM") else 1
        ports = [0, *range(1, states + 1), *([states + 1] if item.type in _SEQUENCES else [])]
        yield [(port, 0) for port in ports]
        return
    kinds = is_elementwise(item) or item.type in ("Concat", "GatherElements", "MatMul", "ScaledDotProductAttention")
    if not kinds or len(item.inputs) < 2:
        return
    ranks = [len(bench.sizes(value)) for value in item.inputs if value is not None]
    if item.type in ("Concat", "GatherElements"):
        along = int(item.attributes["axis"]) % max(ranks[0], 1)
        yield from ([(port, axis) for port in range(len(ranks))] for axis in range(min(ranks)) if axis != along)
    elif item.type == "ScaledDotProductAttention":
        yield from _attention(ranks)
    else:
        kept = 2 if item.type == "MatMul" else 0
        for axis in range(max(ranks) - kept):
            own = [(port, axis - max(ranks) + rank) for port, rank in enumerate(ranks)]
            yield [(port, place) for port, place in own if place >= 0]


def _attention(ranks: Sequence[int]) -> Iterator[_Group]:
    """The axes of the mask that follow the query and the keys."""
    if len(ranks) > 3 and ranks[3] > 1:
        yield from ([(0, axis - ranks[3] + ranks[0]), (3, axis)] for axis in range(ranks[3] - 2) if axis - ranks[3] + ranks[0] >= 0)
        yield [(0, ranks[0] - 2), (3, ranks[3] - 2)]
        yield [(1, ranks[1] - 2), (3, ranks[3] - 1)]


def _follow_lengths(bench: Bench, item: Item) -> None:
    """The lengths of sequences, if each was the whole recorded length."""
    port = 3 if item.type == "LSTMSequence" else 2
    data, lengths = _input(item, 0), _input(item, port)
    batch, length, *_ = bench.sizes(data)
    array, recorded = bench.array(lengths), bench.recorded_sizes(data)
    if isinstance(length, Dim) and array is not None and recorded and (array == recorded[1]).all():
        target = vector(bench, [batch], data)
        bench.connect(port, bench.add("Broadcast", formula(bench, length, data), target, mode="numpy", name=f"{item.name}/lengths"))
        bench.mend(f"input {port}", array.tolist(), [length])


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
    if item.type in CONSTANTS:
        return generated(bench, item, wants, keep_ones=keep_ones)
    rule = _through_elements if is_elementwise(item) else _RULES.get(item.type)
    made = rule(bench, value, wants) if rule is not None else None
    if made is None:
        axis, size = next(iter(wants.items()))
        hint = "convert the model again with another size of this input"
        needs = f"needs axis {axis} of {item!r} {listed(shape)} to be {formula_text(size)}"
        bench.refuse(f"{needs}, and no law tells its elements then", item, hint)
    return made


# How a tensor is stretched through the layer that computes it; None if the layer cannot be made again.


def _given(bench: Bench, item: Item, port: int, wants: _Wants) -> Tensor:
    """An input of a layer, stretched if need be."""
    value = _input(item, port)
    return stretched(bench, value, wants) if wants else bench.tensor(value)


def _through_elements(bench: Bench, value: Value, wants: _Wants) -> Tensor:
    item, rank = value.item, len(bench.sizes(value))
    given = []
    for port, source in enumerate(item.inputs):
        sizes = bench.sizes(source) if source is not None else ()
        lag = rank - len(sizes)
        own = {axis - lag: size for axis, size in wants.items() if axis >= lag and sizes[axis - lag] != 1}
        given.append(_given(bench, item, port, own))
    return bench.again(item, *given)


def _through_gather(bench: Bench, value: Value, wants: _Wants) -> Tensor | None:
    item = value.item
    axes = bench.elements(_input(item, 2))
    if axes is None or not isinstance(axes[0], int) or int(item.attributes.get("batch_dims", 0)):
        return None
    axis = axes[0] % len(bench.sizes(_input(item, 0)))
    count = len(bench.sizes(_input(item, 1)))
    data = {own if own < axis else own - count + 1: size for own, size in wants.items() if not axis <= own < axis + count}
    indices = {own - axis: size for own, size in wants.items() if axis <= own < axis + count}
    return bench.again(item, _given(bench, item, 0, data), _given(bench, item, 1, indices), bench.tensor(_input(item, 2)))


def _through_gather_elements(bench: Bench, value: Value, wants: _Wants) -> Tensor:
    item = value.item
    axis = int(item.attributes["axis"]) % len(bench.sizes(value))
    data = {own: size for own, size in wants.items() if own != axis}
    return bench.again(item, _given(bench, item, 0, data), stretched(bench, _input(item, 1), wants))


def _through_transpose(bench: Bench, value: Value, wants: _Wants) -> Tensor | None:
    item = value.item
    order = bench.elements(_input(item, 1))
    if order is None:
        return None
    return bench.again(item, _given(bench, item, 0, {order[axis]: size for axis, size in wants.items()}), bench.tensor(_input(item, 1)))


def _through_reshape(bench: Bench, value: Value, wants: _Wants) -> Tensor | None:
    item, shape, before = value.item, bench.sizes(value), bench.sizes(_input(value.item, 0))
    places: dict[int, Size] = {}
    for axis, size in wants.items():
        own = [at for at in range(len(before)) if before[at] == shape[axis] and _volume(before[:at]) == _volume(shape[:axis])]
        if not own:
            return None
        places[own[0]] = size
    data = stretched(bench, _input(item, 0), places)
    if item.type != "Reshape":
        return bench.again(item, data, *[bench.tensor(one) for one in item.inputs[1:] if one is not None])
    target = vector(bench, [wants.get(axis, size) for axis, size in enumerate(shape)])
    return bench.add("Reshape", data, target, special_zero=False, name=f"{item.name}/wide")


def _volume(sizes: Sequence[Size]) -> int:
    return prod([size for size in sizes if isinstance(size, int)])


def _through_broadcast(bench: Bench, value: Value, wants: _Wants) -> Tensor | None:
    item, shape, before = value.item, bench.sizes(value), bench.sizes(_input(value.item, 0))
    lag = len(shape) - len(before)
    own = {axis - lag: size for axis, size in wants.items() if axis >= lag and before[axis - lag] != 1}
    is_tile = item.type == "Tile"
    if lag < 0 or (is_tile and (own or any(size not in (1, shape[at + lag]) for at, size in enumerate(before)))):
        return None
    return widened(bench, _given(bench, item, 0, own), {axis: wants.get(axis, size) for axis, size in enumerate(shape)}, len(shape))


def _through_slice(bench: Bench, value: Value, wants: _Wants) -> Tensor | None:
    item, shape, whole = value.item, bench.sizes(value), bench.sizes(_input(value.item, 0))
    if len(whole) != len(shape):
        return None
    rest = {axis: size for axis, size in wants.items() if whole[axis] == shape[axis]}
    cut = {axis: size for axis, size in wants.items() if axis not in rest}
    if not cut:
        return bench.again(item, _given(bench, item, 0, rest), *[bench.tensor(one) for one in item.inputs[1:] if one is not None])
    if len(cut) > 1 or not all(_is_prefix(bench, item, axis, shape[axis]) for axis in cut):
        return None
    made = _given(bench, item, 0, rest)
    for axis, size in cut.items():
        made = prefix(bench, made, axis, size, item.name)
    return made


def _is_prefix(bench: Bench, item: Item, axis: int, size: Size) -> bool:
    """Whether a Slice takes the first elements of one axis."""
    if item.type != "Slice":
        return False
    begin, end, step = (bench.elements(_input(item, port)) for port in (1, 2, 3))
    axes = bench.elements(_input(item, 4)) if len(item.inputs) > 4 else (0,)
    return axes == (axis,) and begin == (0,) and end == (size,) and step == (1,)


def _through_concat(bench: Bench, value: Value, wants: _Wants) -> Tensor | None:
    item = value.item
    if int(item.attributes["axis"]) % len(bench.sizes(value)) in wants:
        return None
    return bench.again(item, *[_given(bench, item, port, wants) for port in range(len(item.inputs))])


def _through_range(bench: Bench, value: Value, wants: _Wants) -> Tensor | None:
    item = value.item
    start, _, step = (bench.elements(_input(item, port)) for port in range(3))
    if start != (0,) or step != (1,):
        return None
    return ramp(bench, wants[0], str(bench.tensor(value).element_type))


_RULES: Final[dict[str, Callable[[Any, Value, _Wants], Tensor | None]]] = {
    "Gather": _through_gather,
    "GatherElements": _through_gather_elements,
    "Transpose": _through_transpose,
    **dict.fromkeys(("Reshape", "Squeeze", "Unsqueeze"), _through_reshape),
    **dict.fromkeys(("Broadcast", "Tile"), _through_broadcast),
    **dict.fromkeys(("Slice", "StridedSlice"), _through_slice),
    "Concat": _through_concat,
    "Range": _through_range,
}
