"""Numbers that a layer reads or computes with, and that a second export shows to be made of sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations_with_replacement, islice
from itertools import product as product_of
from math import copysign, isclose, log, log1p, sqrt
from typing import Any, Final, NamedTuple, cast

import numpy as np

from irshape.editing.state import Item
from irshape.ops.attribute import read_float
from irshape.ops.port import In
from irshape.reshaping.bench import Bench, Seen, Witness, open_sizes, put_instead, scalar, source, vector
from irshape.reshaping.exports import AS_SEEN, explained
from irshape.reshaping.folding import rounding_of
from irshape.reshaping.sizes import HANDLERS as OF_SIZES
from irshape.reshaping.slices import HANDLERS as OF_SLICES
from irshape.reshaping.stretching import is_elementwise
from irshape.reshaping.watch import ATTENTION, NAMES, constants_read
from irshape.shape.dim import Dim, Size, brief_text, evaluate, product, symbols

# The forms that are written as a call.
_CALLS: Final = (sqrt, log, log1p)


class _Form(NamedTuple):
    """A function of a size in words and numbers, and the layers that compute it from the size as a tensor f32[]."""

    words: str
    of: Callable[[int], float]
    build: Callable[[Bench, Any], Any]


def _add(bench: Bench, type_: str, *inputs: Any, **attributes: Any) -> Any:
    return bench.add(type_, *inputs, name=f"{bench.item.name}/number", **attributes)


def _less_one(bench: Bench, n: Any) -> Any:
    return _add(bench, "Subtract", n, np.float32(1))


_FORMS: Final = (
    _Form("{}", float, lambda bench, n: n),
    _Form("{} - 1", lambda n: n - 1, _less_one),
    _Form("sqrt({})", sqrt, lambda bench, n: _add(bench, "Sqrt", n)),
    _Form("sqrt({} - 1)", lambda n: sqrt(n - 1), lambda bench, n: _add(bench, "Sqrt", _less_one(bench, n))),
    _Form("log({})", log, lambda bench, n: _add(bench, "Log", n)),
    _Form("log({} + 1)", log1p, lambda bench, n: _add(bench, "Log", _add(bench, "Add", n, np.float32(1)))),
    _Form("{0}*({0} - 1)", lambda n: n * (n - 1), lambda bench, n: _add(bench, "Multiply", n, _less_one(bench, n))),  # pairs
    _Form("{0}/({0} - 1)", lambda n: n / (n - 1), lambda bench, n: _add(bench, "Divide", n, _less_one(bench, n))),  # of a variance
)
# The factors that are tried before any other.
_FACTORS: Final = (1, -1, 2, -2, 0.5, -0.5)
# Sizes at which fits that give the same numbers are one.
_TRIALS: Final = (12, 35, 1001)
# In so many parts, a half and a quarter of a size are whole numbers, which may be compared with `H//2`.
_PARTS: Final = 240
# More indices than this may be evenly spaced.
_FEW: Final = 2
# What a slice states beside its limits.
_STEPS: Final = ("step", "strides")
# The layers whose handlers mend the other numbers.
_MENDED: Final = frozenset({*OF_SIZES, *OF_SLICES})
# Products are made of at most so many sizes of axes, and of so many fixed sizes.
_MOST: Final = 16


class _Fit(Seen):
    """A size whose form, or 1 divided by the form if `is_inverse`, is the number in both exports when multiplied by a `factor`."""

    def __init__(self, size: Size, form: _Form, factor: float, *, is_inverse: bool) -> None:
        super().__init__([size])
        self.form, self.factor, self.is_inverse = form, factor, is_inverse

    @property
    def sizes(self) -> tuple[Size, ...]:
        """The number in parts that all usual factors have whole, if it is a part of the size; else the size."""
        parts = self.factor * _PARTS
        return (self[0] * round(parts),) if self.form.of is float and not self.is_inverse and parts % 1 == 0 else (self[0],)

    def text(self, tell: Callable[[Size], str]) -> str:
        """The form with a size as `tell` writes it."""
        size, is_whole = tell(self[0]), self.factor == 1 and not self.is_inverse
        is_plain = size.isidentifier() or self.form.of in _CALLS or (is_whole and self.form.of is float)
        words = self.form.words.format(size if is_plain else f"({size})")
        one = words if self.form.of in _CALLS or self.form.of is float else f"({words})"
        return words if is_whole else f"{self.factor:g}/{one}" if self.is_inverse else f"{self.factor:g}*{one}"

    def number(self, sizes: Mapping[str, int]) -> str:
        """The number for these sizes of symbols, as far as f32 has digits."""
        made = self.form.of(evaluate(self[0], sizes))
        return f"{self.factor / made if self.is_inverse else self.factor * made:.6g}"

    def build(self, bench: Bench) -> Any:
        """The number as a tensor f32[1]."""
        factor = np.float32(self.factor)
        made = self.form.build(bench, _add(bench, "Convert", scalar(bench, self[0]), destination_type="f32"))
        if self.is_inverse:
            made = _add(bench, "Divide", factor, made)
        elif factor != 1:
            made = _add(bench, "Multiply", made, factor)
        return _add(bench, "Reshape", made, np.array([1], np.int64), special_zero=False)


def _name(item: Item, port: int) -> str:
    """The name of an input of a layer; of one that computes element by element, the numbers."""
    declared = item.op_class.input_at(port, len(item.inputs)) if item.op_class is not None else None
    return declared.name if isinstance(declared, In) and not is_elementwise(item) else "numbers"


def differing(bench: Bench) -> Iterator[tuple[int, Sequence[Any], Sequence[Any]]]:
    """The inputs at which the layer that is visited reads constant integers that differ in the second export, with both.

    Of sizes that a Concat joins for an Interpolate, the handler of that layer knows more.
    """
    item, witness = bench.item, bench.witness
    if item.type == "Concat" and all((reader.type, port) == ("Interpolate", 1) for reader, port in bench.draft.readers_of(item)):
        return
    for port, value in enumerate(item.inputs if witness is not None else ()):
        name = _name(item, port)
        is_read = name not in NAMES and (item.type not in _MENDED or name in _STEPS)
        if value is None or witness is None or not is_read or bench.constant_of(value) is None:
            continue
        here, there = bench.elements(value) or (), witness.elements(item, port)
        if len(here) == len(there) and any(one != other for one, other in zip(here, there, strict=True)):
            yield port, here, there


def restate(bench: Bench) -> None:
    """Let a layer read formulas for the integers that differ in the second export, such as a depth, a shift, or the last index."""
    item, witness = bench.item, bench.witness
    near = [size for value in item.inputs if value is not None for size in bench.shape(value) or ()]
    for port, here, there in differing(bench) if witness is not None else ():
        pairs, known = [*zip(here, there, strict=True)], cast("Witness", witness)
        may_move = len({other - one for one, other in pairs if one != other}) == 1  # else no place is so many elements from the end
        ways = [[one] if one == other else _ways(bench, known, one, other, near, may_move=may_move) for one, other in pairs]
        spaced = [_spaced(size, len(here)) for size in near if isinstance(size, Dim)] if len(here) > _FEW else []
        fitting = [one for one in spaced if [(bench.at(size), known.at(size)) for size in one] == pairs]
        if options := [Seen(one) for one in (*fitting, *islice(product_of(*ways), _MOST))]:
            wanted = bench.pick(options)
            shape = bench.recorded_sizes(source(item, port)) or ()
            made = vector(bench, wanted, source(item, 0))
            bench.connect(port, made if len(shape) == 1 else _add(bench, "Reshape", made, np.array(shape, np.int64), special_zero=False))
            bench.mend(_name(item, port), here, wanted, "generated", AS_SEEN)


def _spaced(size: Dim, count: int) -> list[Size]:
    """So many indices that are evenly spaced from the first one of an axis to the last one, rounded down, as a video is sampled."""
    return [(size - 1) * at // (count - 1) for at in range(count)]


def clamp(bench: Bench) -> None:
    """Let a Clamp whose largest number differs in the second export compute it from a size, such as the last index."""
    item, witness = bench.item, bench.witness
    partner = None if witness is None else witness.partners.get(item.base)
    if witness is None or partner is None or item.attributes.get("min") != partner.attributes.get("min"):
        return
    here, there = (read_float(one.attributes.get("max", "0"))[0] for one in (item, partner))
    whole = [int(one) for one in (here, there) if one % 1 == 0]
    type_ = bench.tensor(item.outputs[0]).element_type
    if here == there or len(whole) < 2 or type_.dtype is None or not (ways := _ways(bench, witness, whole[0], whole[1])):
        return
    [wanted] = bench.pick([Seen([one]) for one in ways])
    data, least = source(item, 0), read_float(item.attributes.get("min", "0"))[0]
    largest = _add(bench, "Convert", vector(bench, [wanted], data), destination_type=str(type_))
    is_bound = least > -float(np.finfo(np.float32).max) / 2
    kept = _add(bench, "Maximum", bench.tensor(data), np.array([least], type_.dtype)) if is_bound else bench.tensor(data)
    new = _add(bench, "Minimum", kept, largest)
    bench.mend("max", here, wanted, "generated", AS_SEEN)
    put_instead(bench, new)


def _ways(bench: Bench, witness: Witness, here: int, there: int, near: Iterable[Size] = (), *, may_move: bool = True) -> list[Size]:
    """The formulas of a number in both exports, of the sizes `near` the layer, else of other tensors; a negative one counts from the end.

    They are sizes, last indices and parts, else, if it `may_move`, what is left of a size near the layer.
    """
    sign, samples = -1 if here < 0 else 1, _samples(bench)
    here, there = sign * here, sign * there
    for sizes, is_near in ((near, True), (open_sizes(bench), False)):
        own = {str(size): size for size in sizes if isinstance(size, Dim)}.values()
        numbers = ((size, bench.at(size), witness.at(size)) for size in own)
        left = [(size, here - was) for size, was, now in numbers if isinstance(was, int) and now is not None and here - was == there - now]
        found = [*explained(bench, own, here, there), *[size - 1 for size, more in left if more == -1]]
        moved = left if is_near and may_move else []
        found = found or [size + more for size, more in moved if str(size).isidentifier() and symbols(size).isdisjoint(samples)]
        if found:
            return [*{str(one): sign * one for one in found}.values()]
    return []


def _samples(bench: Bench) -> set[str]:
    """The symbols of the first axes of inputs, which are those of the samples."""
    shapes = [bench.shape(one.outputs[0]) or () for one in bench.draft.of_type("Parameter")]
    return {name for shape in shapes for size in shape[: len(shape) > 1] for name in symbols(size)}


def scale(bench: Bench) -> None:
    """Let a layer compute the numbers that differ in the second export from the sizes of which both exports made them."""
    partner = None if bench.witness is None else bench.witness.partners.get(bench.item.base)
    if bench.witness is None or partner is None:
        return
    there = constants_read(bench.witness.bench, partner)
    takes_numbers = is_elementwise(bench.item) or bench.item.type == ATTENTION
    for port, own in constants_read(bench, bench.item).items() if takes_numbers else ():
        value, other = bench.item.inputs[port], there.get(port, own)
        array = None if value is None else bench.array(value)
        if own == other or array is None or not rounding_of(array) or other[0] != own[0] or array.size > len(own[1]):
            continue
        pairs = [*zip(own[1], other[1], strict=True)]
        ways = [_fits(bench, bench.witness, *pair, rounding_of(array)) if pair[0] != pair[1] else [] for pair in pairs]
        if any(here != seen and not fits for (here, seen), fits in zip(pairs, ways, strict=True)):
            continue
        picked = {pair: bench.pick(fits) for pair, fits in dict(zip(pairs, ways, strict=True)).items() if fits}
        chosen = [picked.get(pair, pair[0]) for pair in pairs]
        pieces = [one.build(bench) if isinstance(one, _Fit) else np.array([one], np.float32) for one in chosen]
        made = pieces[0] if len(pieces) == 1 else _add(bench, "Concat", *pieces, axis=0)
        bench.connect(port, _add(bench, "Reshape", made, np.array(array.shape, np.int64), special_zero=False))
        words = [one.text(lambda size: brief_text(bench.wanted(size))) if isinstance(one, _Fit) else f"{one:g}" for one in chosen]
        bench.mend("numbers", f"[{','.join([f'{here:g}' for here, _ in pairs])}]", f"[{','.join(words)}]", "generated", AS_SEEN)


def _fits(bench: Bench, witness: Witness, here: float, there: float, rounding: float) -> list[_Fit]:
    """The sizes of which a form gives the number in both exports: all for the first factor that has some; any factor is tried last.

    A size is that of an axis, a product of two, or either times a fixed size near the layer, as a mean over an image counts channels, too.
    Whole numbers that are a fraction of a size may as well be its part. That a number fits the batch is no reason to stop.
    """
    known: dict[tuple[int, int], tuple[Size, ...]] = {}
    for size in open_sizes(bench):
        was, other = bench.at(size), witness.at(size)
        if isinstance(was, int) and other is not None and was != other and min(was, other) > 1:
            known[was, other] = (*known.get((was, other), ()), size)
    every: list[tuple[int, int, tuple[Size, ...]]] = [(*both, (size,)) for both, sizes in known.items() for size in sizes]
    pairs = combinations_with_replacement(islice(known.items(), _MOST), 2)
    every += [(one[0] * two[0], one[1] * two[1], (sizes[0], more[0])) for (one, sizes), (two, more) in pairs]
    before = [one for value in bench.item.inputs if value is not None for one in (value, *value.item.inputs) if one is not None]
    shapes = [bench.shape(one) or () for one in before if bench.constant_of(one) is None]
    fixed = sorted({size for shape in shapes for size in shape if isinstance(size, int) and size > 1})
    times = [(now * count, seen * count, (count, *sizes)) for count in fixed[:_MOST] for now, seen, sizes in every]
    samples = _samples(bench)
    parts = explained(bench, open_sizes(bench), abs(here), abs(there)) if here % 1 == there % 1 == 0 else []
    found: list[_Fit] = []
    for factor in (*_FACTORS, None):
        for form, (now, seen, sizes) in product_of(_FORMS, every if factor is None else (*every, *times)):
            if form.of in _CALLS and len({*map(str, sizes)}) < len(sizes):
                continue  # the root of a square is the size itself, and the logarithm twice that of the size
            for is_inverse in (False, True):
                pair = [1 / form.of(size) if is_inverse else form.of(size) for size in (now, seen)]
                by = here / pair[0] if factor is None else factor
                if isclose(here, by * pair[0], rel_tol=rounding) and isclose(there, by * pair[1], rel_tol=rounding):
                    found.append(_Fit(product(sizes), form, by, is_inverse=is_inverse))
        if any(symbols(fit[0]).isdisjoint(samples) for fit in found):
            break
    if factor is None or factor % 1:
        found += [_Fit(part, _FORMS[0], copysign(1, here), is_inverse=False) for part in parts]
    names = sorted({name for fit in found for name in symbols(fit[0])})
    trials = [{name: count + 3 * at for at, name in enumerate(names)} for count in _TRIALS]
    distinct = dict[object, _Fit]()
    for fit in found:
        distinct.setdefault(_values(fit, trials), fit)
    return [*distinct.values()]


def _values(fit: _Fit, trials: Iterable[Mapping[str, int]]) -> object:
    """What tells fits apart: the numbers that they give for a few sizes."""
    try:
        return tuple(map(fit.number, trials))
    except (ValueError, ZeroDivisionError, OverflowError):
        return fit.text(str)


HANDLERS: Final[dict[str, Callable[[Bench], None]]] = {"Clamp": clamp}
