"""A wish: the sizes that are asked for, as symbols whose recorded values are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Final, NamedTuple

from irshape.inference.inputs import InputError, Inputs, described_shape
from irshape.model.finding import end_name
from irshape.model.model import Node
from irshape.shape.notation import Described, DescribedShape, SymbolRange, shape_text
from irshape.shape.shape import Shape

# The letters of axes by rank, for sizes that have no name.
_LETTERS: Final = {1: "S", 2: "NS", 3: "NSE", 4: "NCHW", 5: "NCDHW"}
_BATCH: Final = "N"


class Wish(NamedTuple):
    """Sizes that are asked for.

    `inputs` have a symbol for every size that changes, `recorded` is the value of each symbol in the file, and `asked` the number that was
    asked for in its place, if one was. `batch` is the symbol of the batch, None if no size is one, and `given` are the symbols that the
    caller named.
    """

    inputs: Inputs
    recorded: dict[str, int]
    asked: dict[str, int]
    batch: str | None
    given: frozenset[str]

    @property
    def is_static(self) -> bool:
        """Whether only numbers are asked for."""
        names = {name for shape in self.inputs.shapes.values() for size in shape or () for name in size.symbols}
        return bool(self.recorded) and self.recorded.keys() == self.asked.keys() >= names


def wish(wanted: Inputs, recorded: Mapping[Node, Shape], batch: Mapping[Node, int]) -> Wish:
    """The wish that inputs of these shapes make of a model with the recorded ones. `batch` is the axis of the batch of some inputs.

    Raises `InputError` if one symbol has two values in the file, or a size of several symbols has none.
    """
    maker = _Maker(wanted)
    shapes: dict[Node, DescribedShape] = {}
    for node, shape in wanted.shapes.items():
        known = recorded.get(node)
        if shape is None or known is None or len(shape) != len(known):
            shapes[node] = shape
            continue
        letters = _LETTERS.get(len(shape), "")
        sizes = []
        for axis, (size, was) in enumerate(zip(shape, known, strict=True)):
            if not isinstance(was, int):
                sizes.append(size)
            elif batch.get(node) == axis:
                sizes.append(maker.opened(size, was, _BATCH, is_batch=True))
            else:
                sizes.append(maker.opened(size, was, letters[axis : axis + 1] or "D", is_batch=False))
        shapes[node] = tuple(sizes)
    for node, shape in shapes.items():
        for size, was in zip(shape or (), recorded.get(node) or (), strict=False):
            if size.formula is not None and isinstance(was, int) and not maker.recorded.keys() >= set(size.symbols):
                names = " and ".join(size.symbols)
                raise InputError(f"the size {size} is {was} in the file, which does not tell the sizes {names}: use one name for {size}")
    return Wish(Inputs(shapes, maker.ranges), maker.recorded, maker.asked, maker.batch, wanted.names)


class _Maker:
    """Gives the sizes symbols, one size one symbol."""

    def __init__(self, wanted: Inputs) -> None:
        self.names = set(wanted.names)
        self.given = wanted.symbols
        self.ranges: dict[str, SymbolRange] = {}
        self.recorded: dict[str, int] = {}
        self.asked: dict[str, int] = {}
        self.batch: str | None = None
        self.are_moved = any(one.offset for shape in wanted.shapes.values() for one in shape or ())
        self._pairs: dict[tuple[int, int, bool], str] = {}

    def opened(self, size: Described, was: int, letter: str, *, is_batch: bool) -> Described:
        """The size with a symbol in it, if it is not the recorded one."""
        if size.symbols:
            return self._named(size, was, is_batch=is_batch)
        if size.low == size.high == was:
            return size
        is_number = size.low == size.high
        name = self._pairs.get((was, size.low, is_batch)) if is_number else self.batch if is_batch else None
        if name is None:
            name = self._new(letter)
            if is_number:
                self._pairs[was, size.low, is_batch] = name
                self.asked[name] = size.low
            # A number asks for the sizes between it and the recorded one, a larger one for all from that one on.
            low, high = (min(size.low, was), was if size.low < was else inf) if is_number else size[:2]
            self.ranges[name] = SymbolRange(max(low, 1), high)
            self.recorded[name] = was
        self.batch = name if is_batch else self.batch
        return Described(0, inf, name)

    def _named(self, size: Described, was: int, *, is_batch: bool) -> Described:
        for name in size.symbols:
            low, high, modulus, remainder = self.given.get(name, SymbolRange(1, inf))
            if low == high:  # a number, as in place of the symbol
                self.asked[name] = int(low)
                self.ranges.setdefault(name, SymbolRange(1, inf))
            else:
                self.ranges[name] = SymbolRange(max(low, 1), high, modulus, remainder)
        if size.formula is None:
            value, rest = divmod(was - size.offset, size.factor)
            if rest or value < 0:
                raise InputError(f"the size {size} is {was} in the file, but no whole {size.name} gives {was}: ask for another formula")
            if self.recorded.setdefault(size.name, value) != value:
                told = f"{size.name} is {self.recorded[size.name]} and {value} in the file: give the two sizes different names"
                more = f", or name what is added to {size.name}, too, as in {size.name} + S with --set S=1" if self.are_moved else ""
                raise InputError(f"{told}{more}")
            number = self.asked.get(size.name, value)
            if number != value:
                self.ranges[size.name] = SymbolRange(max(min(number, value), 1), value if number < value else inf)
            elif self.asked.pop(size.name, None):  # the recorded one
                self.ranges[size.name] = SymbolRange(value, value)
            known = self.ranges[size.name]
            if (
                known.modulus > 1 and value % known.modulus != known.remainder
            ):  # a formula for these multiples need not hold at the recorded size
                self.ranges[size.name] = SymbolRange(known.low, known.high)
            self.batch = size.name if is_batch else self.batch
        return size

    def _new(self, letter: str) -> str:
        """A name that nothing has."""
        name, number = letter, 2
        while name in self.names:
            name, number = f"{letter}{number}", number + 1
        self.names.add(name)
        return name


def keep_ranks(asked: Inputs) -> None:
    """Raise `InputError` if an input is asked for with another rank."""
    for node, shape in asked.shapes.items():
        if shape and (own := described_shape(node)) and len(shape) != len(own):
            raise InputError(f"the rank of {end_name(node)}{shape_text(own)} is {len(own)}, not {len(shape)}: --rewrite keeps the rank")


def batch_axes(wanted: Inputs, recorded: Mapping[Node, Shape]) -> dict[Node, int]:
    """The axes of inputs that are taken for the batch: of recorded size 1, the first one, or else the only one that is asked to change."""
    found = {}
    for node, shape in wanted.shapes.items():
        known: Sequence[object] = recorded.get(node) or ()
        if shape is not None and len(known) == len(shape) > 1:
            pairs = enumerate(zip(shape, known, strict=True))
            changed = [axis for axis, (size, was) in pairs if size.symbols or not size.low == size.high == was]
            ones = [axis for axis in changed if known[axis] == 1]
            if ones and (ones[0] == 0 or len(changed) == 1):
                found[node] = ones[0]
    return found
