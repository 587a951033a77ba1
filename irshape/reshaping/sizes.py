"""Layers that read sizes: what a baked-in number means at open sizes.

A handler looks at the layer that is visited, and mends the input that it reads as a size. Several formulas may fit; the bench is asked to
pick one. Those of a Reshape are found by traces: the factors of its data in their order, put into axes of the recorded sizes. Whether the
layer then passes, the walk checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice, pairwise, permutations
from itertools import product as product_of
from math import gcd
from typing import Any, Final, NamedTuple, cast

import numpy as np

from irshape.answers.batch.traces import plain
from irshape.editing.layers import layer_of
from irshape.editing.state import Item, Value
from irshape.ops.flow import OWN, Axis, Factor, Held, Trace, quotient, same
from irshape.reshaping.bench import (
    CONSTANTS,
    Bench,
    Seen,
    Sizes,
    is_true,
    listed,
    number_of,
    numbers_of,
    open_sizes,
    scalar,
    source,
    total,
    vector,
)  # fmt: skip
from irshape.reshaping.exports import AS_SEEN, PATCHES, explained, parts_of, seen, seen_along
from irshape.reshaping.stretching import interpolated
from irshape.shape.dim import Dim, Size, expression_of, formula_text, product, symbols

# At most so many traces are found for a Reshape, in at most so many steps.
_MOST_TRACES: Final = 24
_MOST_STEPS: Final = 4096
# So many rows may be one group of rows.
_FEW_ROWS: Final = 4
# The most combinations of sizes that are tried for an Interpolate, and orders of the sizes of a Reshape.
_MOST: Final = 24
# At most so many axes of the same recorded size change places.
_MOST_ALIKE: Final = 4


class _Option(NamedTuple):
    """A trace for the output of a Reshape, perhaps behind a Transpose of the data with this order.

    The least `rank` is the likeliest: it says whether a formula is cut, so that the sizes fit for some values of the symbols only, how many
    open factors of recorded size 1 come to share an axis with the first axis, the batch or a number, whether there is a Transpose, how many
    come to share an axis with open factors alone, and how far open factors move.
    """

    rank: tuple[bool, int, bool, int, int]
    order: tuple[int, ...] | None
    trace: Trace

    @property
    def is_cut(self) -> bool:
        """Whether the sizes are those of the data for some values of the symbols only."""
        return self.rank[0]

    @property
    def sizes(self) -> tuple[Size, ...]:
        return tuple(product([factor.size for factor in axis]) for axis in self.trace)

    def text(self, tell: Callable[[Size], str]) -> str:
        """The option in words, each size as `tell` writes it."""
        return f"{listed(map(tell, self.sizes))}{f' behind a Transpose {list(self.order)}' if self.order else ''}"


class _Filled(NamedTuple):
    """How far axes are filled: `done` are whole, `taken` still needs factors of the recorded product `need`, and `rest` is left."""

    done: tuple[Axis, ...]
    need: int
    taken: Axis
    rest: tuple[Factor, ...]


def _fillings(factors: Sequence[Factor], recorded: Sequence[int], products: Mapping[object, Axis], parted: Set[object]) -> list[Trace]:
    """The ways to fill axes of recorded sizes with factors in their order.

    A numeric factor is cut where an axis ends; so is a formula, on either side, a formula that is one of the `products` where it was
    joined, and a multiple of its recorded size behind what is multiplied: `4*N` of 4 may be N rows of 4. Products that are `parted` have
    a factor of recorded size 1, which an axis of this size may be.
    """
    found: list[Trace] = []
    if not recorded or 0 in recorded:
        return found
    pending = [_Filled((), recorded[0], (), tuple(factors))]
    for _ in range(_MOST_STEPS):
        if not pending or len(found) >= _MOST_TRACES:
            break
        state = pending.pop()
        if len(state.done) < len(recorded):
            pending += reversed(list(_next(state, recorded, products, parted)))
        elif not state.rest:
            found.append(state.done)
        elif all(one.recorded == 1 for one in state.rest):
            found.append((*state.done[:-1], (*state.done[-1], *state.rest)))
    return found


def _next(state: _Filled, sizes: Sequence[int], products: Mapping[object, Axis], parted: Set[object]) -> Iterator[_Filled]:
    """The states that one more step leads to."""
    done, need, taken, rest = state
    known = products.get(expression_of(rest[0].size)) if rest and isinstance(rest[0].size, Dim) else None
    parts = known if known and expression_of(rest[0].size) in parted else None
    if need == 1:
        following = sizes[len(done) + 1] if len(done) + 1 < len(sizes) else 1
        yield _Filled((*done, taken or (OWN,)), following, (), rest)
        if rest and rest[0].recorded == 1:
            yield _Filled(done, 1, (*taken, rest[0]), rest[1:])
        elif rest and (was := rest[0].recorded) and isinstance(size := rest[0].size, Dim):
            outer = quotient(size, was)
            if outer is not None or not taken:  # else a part of the size, such as `H//2` of 2 rows
                yield _Filled(done, 1, (*taken, Factor(size // was if outer is None else outer, 1)), (Factor(was, was), *rest[1:]))
        if parts is not None:
            yield _Filled(done, 1, taken, (*parts, *rest[1:]))
        return
    (size, recorded), more = rest[0] if rest else Factor(1), rest[1:]
    if not recorded:
        return
    if need % recorded == 0:
        yield _Filled(done, need // recorded, (*taken, rest[0]), more)
        if parts is not None:
            yield _Filled(done, need, taken, (*parts, *more))
    elif recorded % need == 0:
        left = recorded // need
        if known is not None:
            yield _Filled(done, need, taken, (*known, *more))
        if isinstance(size, int):
            yield _Filled(done, 1, (*taken, Factor(need, need)), (Factor(left, left), *more))
        else:
            yield _Filled(done, 1, (*taken, Factor(size // left, need)), (Factor(left, left), *more))
            yield _Filled(done, 1, (*taken, Factor(need, need)), (Factor(size // need, left), *more))
    elif isinstance(size, int) and more and isinstance(second := more[0].size, int):
        yield _Filled(done, need, taken, (Factor(size * second, recorded * second), *more[1:]))
    elif known is not None:
        yield _Filled(done, need, taken, (*known, *more))


def reshape(bench: Bench) -> None:
    """The pattern of a Reshape, by the traces that its output may have."""
    item = bench.item
    data, out = source(item, 0), item.outputs[0]
    recorded, shape = bench.recorded_sizes(out), bench.shape(data)
    if recorded is None or shape is None or not any(isinstance(size, Dim) for size in shape):
        return
    options = _options(bench, data, recorded)
    now, pattern = bench.shape(out), bench.elements(source(item, 1))
    if now is not None and pattern and any(isinstance(one, Dim) for one in pattern):  # the model computes sizes from shapes already
        kept = [one for one in options if one.order is None]
        computed = [(axis, size) for axis, size in enumerate(pattern) if isinstance(size, Dim)]
        options = [one for one in kept if all(map(same, one.sizes, now))]
        options = options or [one for one in kept if all(same(one.sizes[axis], size) for axis, size in computed)]
        stated = {axis: (bench.recorded_factor(Factor(size)),) for axis, size in computed if str(size) in bench.numbers}
        if not options and len(stated) == len(computed):  # the sizes of an input, as H where `2*(H//2)` is left, and the batch is missing
            made = [one._replace(trace=tuple([stated.get(axis, own) for axis, own in enumerate(one.trace)])) for one in kept]
            sides = [(one, zip(one.sizes, pattern, strict=False)) for one in made]
            options = [one for one, both in sides if all(own == was or bench.holds_batch(own) for own, was in both)]
    if not options:
        return
    chosen = bench.pick(options)
    rest = pattern.index(-1) if pattern and -1 in pattern[:-1] else 0
    seen = None if bench.witness is None else bench.witness.shape(out)
    is_told = seen is not None and rest + 1 < len(recorded) == len(seen) and seen[rest + 1] != recorded[rest + 1]
    # One chunk that grows, or one more of a fixed length; an axis of the data, such as one channel, is no chunk.
    is_kept = len(shape) > rest and all(map(same, shape[: rest + 1], chosen.sizes))
    if rest and chosen.sizes[rest] == 1 and bench.is_open(chosen.sizes[rest + 1]) and not is_told and not is_kept:
        told = f"gives {listed(chosen.sizes)}, whose axis {rest} stays 1, but the pattern has -1 there, as if it followed from the others"
        bench.keep(f"{item!r} {told}")
    before, after = ({str(size) for size in sizes if size != 1} for sizes in (shape, chosen.sizes))
    for axis, (one, size) in enumerate(pairwise(chosen.sizes) if bench.witness is None and before - after else ()):
        if one == 1 and str(size) in before and bench.is_open(size) and 1 < recorded[axis + 1] <= _FEW_ROWS:  # as a window beside others
            part = f"{formula_text(size // recorded[axis + 1])}, which is 1 in the file"
            bench.keep(f"{item!r} gives {listed(chosen.sizes)}, whose axis {axis} stays 1, but it may be {part}", size)
    if chosen.order is not None:
        apart = [product([factor.size for factor in axis]) for axis in _apart(bench.trace(data))]
        name, given = f"{item.name}/transpose", bench.tensor(data)
        if len(apart) > len(shape):
            given = bench.add("Reshape", given, vector(bench, apart, data), special_zero=False, name=name)
        transposed = bench.add("Transpose", given, np.array(chosen.order, np.int64), name=name)
        layer_of(bench.draft, item).connect(0, transposed)
        bench.mend("data", "a Reshape that moves an axis of size 1", f"behind a Transpose {list(chosen.order)}")
        data, now = source(item, 0), None
    if now is None or len(now) != len(chosen.sizes) or not all(map(same, now, chosen.sizes)):
        set_shape(bench, 1, chosen.sizes, data)
    bench.traced = chosen.trace


def _options(bench: Bench, data: Value, recorded: Sequence[int]) -> list[_Option]:
    """The traces that a Reshape may give, the likeliest first.

    OpenVINO turns a Transpose that moves an axis of size 1 into a Reshape, even one behind a Reshape that split the axis off. So the same
    Reshape behind a Transpose is an option, too. If no trace has as many elements as the data for all sizes, an earlier tensor may: a net
    that views rows of channels as an image keeps no axis.
    """
    trace, joined, whole = bench.trace(data), bench.notes.joined, product(bench.sizes(data))

    def made(counts: tuple[int, int, int], one: Trace, order: tuple[int, ...] | None = None) -> _Option:
        is_cut = not same(product([factor.size for axis in one for factor in axis]), whole)
        mixed, joint, moved = counts
        return _Option((is_cut, mixed, order is not None, joint, moved), order, one)

    options = [made(*found) for found in _traces(bench, trace, recorded, joined)]
    flat, trace = _flat(trace), _apart(trace)
    for own, axis in enumerate(trace):
        real = [factor for factor in axis if factor.size != 1]
        if len(real) != 1 or not isinstance(real[0].size, Dim) or real[0].recorded != 1:
            continue
        for to in range(len(trace)):
            order = [one for one in range(len(trace)) if one != own]
            order.insert(to, own)
            turned = tuple(trace[one] for one in order)
            if _flat(turned) != flat:
                found = _traces(bench, turned, recorded, joined)
                options += [made(counts, one, tuple(order)) for counts, one in found if not any(counts[:2])]
    if all(one.is_cut for one in options):
        shapes = (shape for axis in range(len(recorded)) for shape in _earlier(bench, bench.item, axis) if len(shape) == len(recorded))
        fitting = [shape for shape in (*shapes, *_turned(bench, bench.sizes(data), recorded)) if same(product(shape), whole)]
        fitting = [shape for shape in fitting if [*map(bench.at, shape)] == [*recorded]]
        options += [made((0, 0, 0), plain(shape, tuple(recorded)) or ()) for shape in {str(shape): shape for shape in fitting}.values()]
    if bench.witness is None:
        options = [one for one in options if not one.is_cut] or options  # a Reshape that fits for all sizes is meant for them
    options.sort(key=lambda one: one.rank)
    distinct: list[_Option] = []
    for option in options:
        if option.order is None or all(listed(option.sizes) != listed(other.sizes) for other in distinct):
            distinct.append(option)
    return distinct


def _turned(bench: Bench, shape: Sequence[Size], recorded: Sequence[int]) -> Iterator[tuple[Size, ...]]:
    """The sizes of the data in the orders of the recorded ones, as a shift of relative positions has them, behind one of samples."""
    groups: dict[Size, list[Size]] = {}
    for size in shape:
        groups.setdefault(bench.at(size), []).append(size)
    if len(shape) != len(recorded) or max(map(len, groups.values())) > _MOST_ALIKE:
        return
    orders = [{listed(one): one for one in permutations(sizes)}.values() for sizes in groups.values()]
    for chosen in islice(product_of(*orders), _MOST):
        left = {was: iter(sizes) for was, sizes in zip(groups, chosen, strict=True)}
        found = tuple([next(left[was], was) if was in left else was for was in recorded])
        moved = next((axis for axis, (one, other) in enumerate(zip(shape, found, strict=True)) if one is not other), len(shape))
        if (moved > 0 or len(shape) == 2) and not any(map(bench.holds_batch, shape[moved:])):
            yield found


def _apart(trace: Trace) -> Trace:
    """The trace of a Reshape that gives each open factor of recorded size 1 an axis of its own."""
    axes: list[Axis] = []
    for axis in trace:
        at = next((place for place, one in enumerate(axis) if isinstance(one.size, Dim) and one.recorded == 1), None)
        parts = (axis,) if at is None else (axis[:at], axis[at : at + 1], axis[at + 1 :])
        axes += [part for part in parts if len(parts) == 1 or _flat((part,))]
    return tuple(axes)


def part(bench: Bench) -> bool:
    """Give the batch the first axis before the layer that is visited, and say whether an input had it elsewhere.

    A normalization of single samples joins the batch and the channels, `[1,N*C,H,W]`. The Reshape that parts them again is left out of a
    file for one sample. So is a Transpose that moves the batch to the first axis, where another input has it.
    """
    item, found = bench.item, False
    traces = [() if value is None else bench.trace(value) for value in item.inputs]
    first = {len(trace) for trace in traces if trace and bench.holds_batch(product([factor.size for factor in trace[0]]))}
    for port, (value, trace) in enumerate(zip(item.inputs, traces, strict=True)):
        at = next((axis for axis, factors in enumerate(trace) if any(factor.size != 1 for factor in factors)), 0)
        if value is None or at == 0 or not bench.holds_batch(trace[at][0].size) or trace[at][0].recorded != 1:
            continue
        if len(trace[at]) < 2 and len(trace) not in first:
            continue
        parted = (trace[at][:1], *trace[1:at], trace[at][1:], *trace[at + 1 :])
        sizes = [product([factor.size for factor in axis]) for axis in parted]
        bench.mend(f"input {port}", bench.sizes(value), sizes)
        made = bench.add("Reshape", bench.tensor(value), vector(bench, sizes), special_zero=False, name=f"{item.name}/samples")
        bench.connect(port, made)
        held = bench.notes.traces.held
        held[made._value.slot] = held.get(made._value.slot, Held(parted))._replace(trace=parted)
        found = True
    return found


def _traces(
    bench: Bench, trace: Trace, recorded: Sequence[int], joined: Mapping[object, Axis]
) -> Iterator[tuple[tuple[int, int, int], Trace]]:
    """The traces that the output may have, each with the counts of its rank."""
    places = {one: axis for axis, factors in enumerate(trace) for one in factors if isinstance(one.size, Dim)}
    parted = {key for key, axis in joined.items() if any(one.recorded == 1 and bench.is_open(one.size) for one in axis)}
    joined = {**_linear(bench, places, recorded), **joined}
    kept = [[one for one in axis if one.size != 1] for axis in trace]
    for found in _fillings(_flat(trace), recorded, joined, parted):
        mixed = joint = moved = 0
        for axis, factors in enumerate(found):
            real = [one for one in factors if one.size != 1]
            is_alike = all(isinstance(one.size, Dim) and one not in trace[0] and not bench.holds_batch(one.size) for one in real)
            is_kept = real in kept and all(isinstance(one.size, Dim) and not bench.holds_batch(one.size) for one in real)
            ones = 0 if len(real) < 2 or is_kept else sum(one.recorded == 1 for one in real if isinstance(one.size, Dim))
            mixed, joint = mixed + ones * (not is_alike), joint + ones * is_alike
            moved += sum(abs(places.get(one, axis) - axis) for one in real if isinstance(one.size, Dim))
        yield (mixed, joint, moved), found


def _linear(bench: Bench, factors: Iterable[Factor], recorded: Sequence[int]) -> dict[object, Axis]:
    """The two factors of formulas such as `2*S*S + S - 1`, of which the first is linear and has a recorded size: `S + 1` and `2*S - 1`."""
    found: dict[object, Axis] = {}
    for size, count in factors:
        if not isinstance(size, Dim) or not count or all(len(monomial) < 2 for monomial, _ in size.polynomial.terms):
            continue
        for name, need, times in product_of(sorted(symbols(size) & bench.numbers.keys()), dict.fromkeys(recorded), (1, 2)):
            own = size.scope.named(name)
            if own is None or not 1 < need < count or count % need:
                continue
            one = own * times + (need - bench.numbers[name] * times)
            if isinstance(one, Dim) and (other := quotient(size, one)) is not None:
                found.setdefault(expression_of(size), (Factor(one, need), Factor(other, count // need)))
    return found


def _flat(trace: Trace) -> list[Any]:
    return [factor for axis in trace for factor in axis if factor != (1, 1)]


def set_shape(bench: Bench, port: int, wanted: Sequence[Size], data: Value) -> None:
    """Let an input of the layer that is visited hold these sizes: as numbers, 0 and -1 if these mean exactly this, else computed."""
    item = bench.item
    before, own = bench.elements(source(item, port)), bench.sizes(data)
    copies = is_true(item, "special_zero")
    was = "computed sizes" if before is None else before
    for is_copying, pattern in _patterns(wanted, own, before or (), copies) if item.type == "Reshape" and 0 not in wanted else ():
        if is_copying and not copies:
            layer_of(bench.draft, item).set(special_zero=True)
        bench.connect(port, np.array(pattern, np.int64))
        if _gives(bench, item, wanted):
            bench.mend("pattern", was, pattern)
            return
    computed = vector(bench, wanted, data)
    if item.type == "Reshape":  # a size that is computed may be 0, which is no copy
        layer_of(bench.draft, item).set(special_zero=False)
    bench.connect(port, computed)
    if not _gives(bench, item, wanted):
        bench.refuse(f"gives {listed(bench.shape(item.outputs[0]) or ())} for the sizes {listed(wanted)}")
    bench.mend("pattern" if item.type == "Reshape" else "target", was, wanted)


def _patterns(wanted: Sequence[Size], own: Sequence[Size], before: Sequence[object], copies: bool) -> Iterator[tuple[bool, list[int]]]:
    """The patterns that may give these sizes, each with whether its 0 copies: first those that keep each 0 and -1 of the one before."""
    for is_copying, is_kept in product_of(dict.fromkeys((copies, True)), (True, False)):
        pattern: list[int] = []
        for axis, size in enumerate(wanted):
            old = before[axis] if len(before) == len(wanted) else None
            is_copied = is_copying and axis < len(own) and same(own[axis], size) and (isinstance(size, Dim) or (copies and old == 0))
            if is_kept and old == -1:
                pattern.append(-1)
            else:
                pattern.append(0 if is_copied else size if isinstance(size, int) else -1)
        if pattern.count(-1) <= 1:
            yield is_copying, pattern


def _gives(bench: Bench, item: Item, wanted: Sequence[Size]) -> bool:
    shape = bench.shape(item.outputs[0])
    return shape is not None and len(shape) == len(wanted) and all(map(same, shape, wanted))


def broadcast(bench: Bench) -> None:
    """The target of a Broadcast, which repeats the open axes of its data."""
    item = bench.item
    data, recorded = source(item, 0), bench.recorded_sizes(item.outputs[0])
    target, shape = bench.elements(source(item, 1)), bench.sizes(data)
    if recorded is None or target is None or item.attributes.get("mode", "numpy").lower() == "explicit":
        return
    wanted: list[Size] = list(recorded)
    lag = len(recorded) - len(shape)
    for axis, size in enumerate(shape):
        if isinstance(size, Dim) and bench.at(size) == recorded[axis + lag]:
            wanted[axis + lag] = size
    for axis, one in enumerate(target, len(recorded) - len(target)):
        is_own = axis >= lag and wanted[axis] is shape[axis - lag] and recorded[axis] != 1  # not `max(B, 2)` of a recorded batch of 2
        if isinstance(one, Dim) and not is_own:  # the model computes it from shapes already
            wanted[axis] = one
    own = len(recorded) - len(target)
    repeated = [isinstance(one, int) and at >= own and (at < lag or shape[at - lag] == 1) for at, one in enumerate(wanted)]
    sizes = open_sizes(bench) if any(repeated) and bench.witness is not None else []
    ways = [seen(bench, 1, at - own, sizes, sizes) if is_repeated else [] for at, is_repeated in enumerate(repeated)]
    wanted = bench.pick([Sizes(one) for one in product_of(*[found or [one] for found, one in zip(ways, wanted, strict=True)])])
    now = bench.shape(item.outputs[0])
    if any(isinstance(size, Dim) for size in wanted) and not (now and all(map(same, now, wanted))):
        set_shape(bench, 1, wanted, data)


def interpolate(bench: Bench) -> None:
    """The sizes of an Interpolate: those of an axis that some tensor has, else a multiple of its own."""
    item = bench.item
    data = source(item, 0)
    shape, recorded = bench.sizes(data), bench.recorded_sizes(data)
    axes, sizes = interpolated(bench, item)
    if sizes is None or recorded is None or not any(isinstance(size, Dim) for size in shape):
        return
    options: list[list[Size]] = [[]]
    for number, axis in zip(sizes, axes, strict=True):
        own = shape[axis]
        found: list[Size] = [number]
        if isinstance(number, int) and isinstance(own, Dim):
            if not bench.holds_batch(own):
                found = _resolutions(bench, item, number, axis)
            elif number == recorded[axis]:
                found = [own]
        if bench.witness is not None:
            there = (bench.witness.shape(item.outputs[0]) or shape)[axis]
            parts = explained(bench, [own], number, there) if isinstance(number, int) and isinstance(there, int) else []
            found = [size for size in found if bench.witness.has(item.outputs[0], axis, size)] or parts or found
        options = [[*one, size] for one in options for size in found][:_MOST]
    if all(isinstance(one, Dim) for one in sizes) or not any(isinstance(size, Dim) for one in options for size in one):
        return
    wanted = bench.pick([Sizes(one) for one in options])
    if wanted != [*sizes]:
        before, made = source(item, 1), vector(bench, wanted, data)
        bench.connect(1, made)
        bench.mend("sizes", sizes, wanted, "generated", "the numbers are recorded sizes; irshape takes them for these sizes")
        if before.item.type not in CONSTANTS:  # OpenVINO lets what reads the shape of the result read the sizes instead
            for reader, port in bench.draft.readers_of(before.item):
                bench.connect(port, made, reader)


def output_shape(bench: Bench) -> None:
    """The output shape of a transposed convolution, which grows with its data by the stride."""
    item = bench.item
    data, recorded = source(item, 0), bench.recorded_sizes(source(item, 0))
    given = bench.elements(source(item, 2)) if len(item.inputs) > 2 else None
    if given is None or recorded is None:
        return
    strides = numbers_of(item, "strides")
    sizes = list(zip(given, strides, bench.sizes(data)[2:], recorded[2:], strict=True))
    wanted = [
        stride * own + (size - stride * was) if isinstance(own, Dim) and isinstance(size, int) else size for size, stride, own, was in sizes
    ]
    if wanted != list(given):
        bench.connect(2, vector(bench, wanted, data))
        bench.mend("output_shape", given, wanted)


def _resolutions(bench: Bench, item: Item, number: int, axis: int) -> list[Size]:
    """Formulas with this value at the recorded sizes: of the axis at another resolution, the inputs' first, in proportion, or a part.

    Where no axis before has the value, or a second export decides, the number itself is one, too.
    """
    own, recorded = bench.sizes(source(item, 0))[axis], bench.recorded_sizes(source(item, 0))
    before = _before(bench, item, number, axis)
    found = [*before]
    if recorded and recorded[axis]:
        common = gcd(number, recorded[axis])
        part = own // (recorded[axis] // common)
        if same(part * (recorded[axis] // common), own) and not any(same(part * (number // common), one) for one in found):
            found.append(part * (number // common))
    is_settled = bool(before) and bench.witness is None
    was = recorded[axis] if recorded and not is_settled else 0
    least = was if bench.witness is not None and not bench.witness.has(item.outputs[0], axis, own) else was + 1
    found += [(own + step - 1) // step * step for step in PATCHES if number % step == 0 and least <= number < min(was + step, 2 * was)]
    for name in sorted(symbols(own) & bench.numbers.keys()):
        size, was = cast("Dim", own).scope.named(name), bench.numbers[name]
        count = was // number if number and (was % number == 0 or bench.witness is not None) else 0
        for part in () if size is None or not count else (size // count, (size + count - 1) // count)[: 1 if before else 2]:
            if bench.at(part) == number and not any(same(part, one) for one in found):
                found.append(part)  # `H//2` beside the `(H + 1)//2` of a convolution
    return found if is_settled else [*found, number]


def _before(bench: Bench, item: Item, number: int, axis: int) -> list[Size]:
    """Formulas with this value at the recorded sizes that an axis has in an earlier tensor, the inputs' first."""
    own, rank = bench.sizes(source(item, 0))[axis], len(bench.sizes(source(item, 0)))
    found: dict[Any, Size] = {}
    for shape in _earlier(bench, item, axis):
        if len(shape) == rank and bench.at(shape[axis]) == number and symbols(shape[axis]) == symbols(own):
            found.setdefault(str(shape[axis]), shape[axis])
    return sorted(found.values(), key=lambda size: str(size) not in symbols(size))


def _earlier(bench: Bench, item: Item, axis: int) -> Iterator[tuple[Size, ...]]:
    """The shapes of the tensors before a layer that are the last ones with the formula of this axis, the nearest first."""
    places = [place for one in bench.notes.places for place in bench.notes.places_of(one)]
    before = [value for value, own in places if own == axis and value.item.label < item.label]
    shapes = (bench.shape(value) for value in sorted(before, key=lambda value: -value.item.label))
    return (shape for shape in shapes if shape is not None)


def transform(bench: Bench) -> None:
    """The lengths to which a Fourier transform cuts or fills axes: those of the whole axes, or of an earlier tensor."""
    item = bench.item
    data, last = source(item, 0), len(item.inputs) - 1
    shape, recorded = bench.sizes(data), bench.recorded_sizes(data)
    lengths, axes = bench.elements(source(item, last)), bench.elements(source(item, 1))
    if last < 2 or lengths is None or axes is None or recorded is None or len(shape) < 2:
        return
    rank = len(shape) - (item.type != "RDFT")  # the last axis holds the real and the imaginary part
    options: list[list[Any]] = [[]]
    for at, (length, axis) in enumerate(zip(lengths, [axis % rank for axis in axes], strict=True)):
        own, found = shape[axis], [length]
        if isinstance(own, Dim) and isinstance(length, int) and length != -1:
            if item.type == "IRDFT" and at == len(axes) - 1:  # of n real numbers n // 2 + 1 complex ones are left
                earlier = {str(one[axis]): one[axis] for one in _earlier(bench, item, axis) if bench.at(one[axis]) == length}
                found = [*earlier.values(), *([2 * (own - 1)] if length == 2 * (recorded[axis] - 1) else [])] or found
            elif length == recorded[axis]:
                found = [own]
        options = [[*one, size] for one in options for size in found][:_MOST]
    if options[0] != [*lengths]:
        wanted = bench.pick([Sizes(one) for one in options])
        bench.connect(last, vector(bench, wanted, data))
        bench.mend("signal_size", lengths, wanted)


def image_size(bench: Bench) -> None:
    """The size of the image that a Col2Im puts together: that of an earlier image."""
    item = bench.item
    given, recorded = bench.elements(source(item, 1)), bench.recorded_sizes(item.outputs[0])
    if given is None or recorded is None or any(isinstance(one, Dim) for one in given):
        return
    before = (shape for axis in (len(recorded) - 2, len(recorded) - 1) for shape in _earlier(bench, item, axis) if len(shape) == 4)
    options = {str(shape[2:]): shape[2:] for shape in before if tuple(map(bench.at, shape[2:])) == tuple(given)}
    if options:
        wanted = bench.pick([Sizes(one) for one in options.values()])
        bench.connect(1, vector(bench, wanted, source(item, 0)))
        bench.mend("output_size", given, wanted)


def top_k(bench: Bench) -> None:
    """A TopK that takes all of an axis sorts it; it may take a part."""
    data, count = source(bench.item, 0), bench.elements(source(bench.item, 1))
    shape, recorded = bench.sizes(data), bench.recorded_sizes(data)
    axis = number_of(bench.item) % len(shape)
    if not count or recorded is None or not isinstance(count[0], int) or not isinstance(shape[axis], Dim):
        return
    is_whole = count[0] == recorded[axis]
    ways = [*([shape[axis]] if is_whole else []), *seen_along(bench, 1, 0, shape[axis], recorded[axis])]
    wanted = bench.pick([Sizes([one]) for one in (*ways, *(count if bench.witness is not None or not ways else ()))])
    if wanted != [*count]:
        bench.connect(1, scalar(bench, wanted[0], data))
        why = "the layer sorts the whole axis; irshape assumes the same at other sizes" if is_whole else AS_SEEN
        bench.mend("k", count, wanted, "generated", why)


def split(bench: Bench) -> None:
    """The lengths of a VariadicSplit: the parts that a Concat joined, else one part takes the rest."""
    item = bench.item
    data, axes, lengths = source(item, 0), bench.elements(source(item, 1)), bench.elements(source(item, 2))
    recorded = bench.recorded_sizes(data)
    if not axes or not lengths or recorded is None or not all(isinstance(one, int) for one in (*axes, *lengths)):
        return
    axis = axes[0] % len(recorded)
    size = bench.sizes(data)[axis]
    if not isinstance(size, Dim):
        return
    whole = tuple(recorded[axis] - sum(lengths) - 1 if one == -1 else one for one in lengths)
    if (made := _seen_lengths(bench, size, lengths, recorded[axis])) is not None:
        bench.connect(2, vector(bench, made, data))
        bench.mend("lengths", lengths, made, "generated", AS_SEEN)
        return
    for parts in bench.notes.sums.values():
        if tuple(part.recorded for part in parts) == whole and same(total([part.size for part in parts]), size):
            wanted: list[Any] = [part.size for part in parts]
            break
    else:
        if -1 in lengths:
            return
        order = sorted(range(len(whole)), key=lambda at: -whole[at])
        wanted = bench.pick([Sizes([-1 if own == at else one for own, one in enumerate(whole)]) for at in order])
    bench.connect(2, vector(bench, wanted, data))
    bench.mend("lengths", lengths, wanted)


def _seen_lengths(bench: Bench, size: Dim, lengths: Sequence[int], whole: int) -> Sequence[Any] | None:
    """The formulas of lengths that the second export has otherwise, of which one takes the rest; None if two lengths have no formula."""
    there = bench.witness.elements(bench.item, 2) if bench.witness is not None else ()
    if len(there) != len(lengths) or tuple(there) == tuple(lengths) or -1 in (*there, *lengths):
        return None
    pairs = enumerate(zip(lengths, there, strict=True))
    ways = [[one] if one == other else seen(bench, 2, at, [size - whole + one, *parts_of(size)]) for at, (one, other) in pairs]
    unknown = [at for at, one in enumerate(ways) if not one] or [len(ways) - 1]
    ways[unknown[0]] = [-1]
    return bench.pick([Seen(one) for one in product_of(*ways)]) if len(unknown) == 1 else None


HANDLERS: Final[dict[str, Callable[[Bench], None]]] = {
    "Reshape": reshape,
    "Broadcast": broadcast,
    "Interpolate": interpolate,
    "Col2Im": image_size,
    **dict.fromkeys(("DFT", "IDFT", "RDFT", "IRDFT"), transform),
    "TopK": top_k,
    "ConvolutionBackpropData": output_shape,
    "GroupConvolutionBackpropData": output_shape,
    "VariadicSplit": split,
}
