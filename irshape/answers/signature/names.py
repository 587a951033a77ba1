"""Names of symbols as a person would give them: by the layout of an input, and by the role of an axis in the graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from irshape.answers.signature.unify import FreeSymbol
from irshape.inference.engine import Engine
from irshape.model.model import Node
from irshape.shape.dim import Dim
from irshape.shape.polynomial import Expression, split

# The letters of the spatial axes of an image, of a sound and of a volume, by the number of these axes.
_SPATIAL: Final = {1: "L", 2: "HW", 3: "DHW"}
# Operations that take data as [batch, channels, spatial axes].
_SPATIAL_TYPES: Final = (
    "Convolution", "GroupConvolution", "BinaryConvolution", "DeformableConvolution", "ConvolutionBackpropData",
    "GroupConvolutionBackpropData", "MaxPool", "AvgPool", "Interpolate", "SpaceToDepth", "DepthToSpace", "SpaceToBatch", "BatchToSpace",
)  # fmt: skip
# The letters of axes without a known role, in the order in which they are used up.
_OTHERS: Final = "TLMNKQRUVXYZCDEFGIJOAHWSPB"
# The role of an axis of a table of words that indices choose from, of earlier steps, and of the steps that are added to them.
BATCH: Final = "B"
_SEQUENCE: Final = "STUV"
_PAST: Final = "P"

_Value: TypeAlias = Callable[[Expression], Expression]


class Axes(NamedTuple):
    """The final shapes of a model, in which names are found: of its inputs and variables, of its outputs, and their owners."""

    engine: Engine
    symbols: Mapping[int, FreeSymbol]
    inputs: Mapping[Node, Sequence[Expression]]
    outputs: Sequence[Sequence[Expression] | None]


class FreeNames:
    """The names that are taken."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._last: dict[str, int] = {}

    def letter(self, letters: str) -> str:
        """The first letter that is free, else the first letter with a number; it is taken now."""
        return self.name(next((letter for letter in letters if letter not in self._taken), letters[0]))

    def name(self, name: str) -> str:
        """The name, with a number if it is not free; it is taken now."""
        made, number = name, self._last.get(name, 1)
        while made in self._taken:
            number += 1
            made = f"{name}{'_' if name == 'd' else ''}{number}"  # d2 is a name of sizes without one
        self._last[name] = number
        self._taken.add(made)
        return made


def names(axes: Axes, value: _Value, used: Collection[int], taken: Iterable[str], called: Mapping[tuple[str, int], str]) -> dict[int, str]:
    """A name for each of the `used` symbols that the user has not named, none of them in `taken`.

    `value` gives an expression in terms of the symbols that are left. `called` are names that symbols had, by their layers and axes.
    """
    open_ones = {index for index in used if not axes.symbols[index].is_named}
    given: dict[int, str] = {}
    known = set(taken)
    for (owner, axis), name in called.items():
        index = next((_symbol(axes, shape[axis]) for node, shape in axes.inputs.items() if node.name == owner and axis < len(shape)), -1)
        if index in open_ones and index not in given and name not in known:
            given[index] = name
            known.add(name)
    seen = FreeNames(known)
    in_order = sorted(open_ones, key=lambda index: axes.symbols[index].order)
    for index, letters in (*_roles(axes, value), *((index, _OTHERS) for index in in_order)):
        if index in open_ones and index not in given:
            given[index] = seen.letter(letters)
    return given


def _roles(axes: Axes, value: _Value) -> Iterator[tuple[int, str]]:
    """Symbols with the letters that suit their roles, the surest role first."""
    yield from _by_layout(axes)
    yield from (recurrent := dict(_recurrent(axes, value))).items()
    yield from _batch(axes, value, recurrent)
    yield from _steps(axes)
    yield from _sequences(axes, value)
    yield from _spatial(axes, value)


def _by_layout(axes: Axes) -> Iterator[tuple[int, str]]:
    for node, shape in axes.inputs.items():
        layout = node.layer.outputs[0].layout if node.type == "Parameter" and node.layer.outputs else None
        letters = [letter.strip() for letter in (layout or "").strip("[]").split(",")]
        if len(letters) == len(shape):
            for letter, size in zip(letters, shape, strict=True):
                index = _symbol(axes, size)
                if len(letter) == 1 and letter.isalpha() and index >= 0:
                    yield index, letter.upper()


def _recurrent(axes: Axes, value: _Value) -> Iterator[tuple[int, str]]:
    """`T` and `B`, where a recurrent layer, which takes samples and then steps, has the steps on the first axis of an input."""
    nodes = axes.engine.model.of_type("LSTMSequence", "GRUSequence", "RNNSequence")
    shapes = [axes.engine.slots[node.sources[0]].shape for node in nodes if node.sources and node.sources[0] >= 0]
    pairs = [[value(size.polynomial) if isinstance(size, Dim) else -1 for size in shape[:2]] for shape in shapes if shape]
    firsts, seconds = ({shape[place] for shape in axes.inputs.values() if len(shape) > 1} for place in (0, 1))
    for sample, step in pairs:
        if step in firsts and all(step != one for one, _ in pairs):
            yield _symbol(axes, step), "T"
            if sample in seconds and all(sample != one for _, one in pairs):
                yield _symbol(axes, sample), BATCH


def _batch(axes: Axes, value: _Value, known: Collection[int]) -> Iterator[tuple[int, str]]:
    """The first axis that most outputs and inputs share, and those from which a Gather chooses as many samples: caches of beams.

    An axis from which a Gather takes as many rows as another axis is long is none of samples: the nodes that the edges of a graph name.
    """
    chosen: list[tuple[int, int]] = []
    for node in axes.engine.model.of_type("Gather"):
        shapes = [axes.engine.slots[slot].shape for slot in (*node.sources[:2], node.first_slot) if slot >= 0]
        firsts = [value(shape[0].polynomial) for shape in shapes if shape and isinstance(shape[0], Dim)]
        if len(firsts) == 3 and firsts[1] == firsts[2]:
            chosen.append((_symbol(axes, firsts[0]), _symbol(axes, firsts[1])))
    found: Counter[int] = Counter()
    for shape in (*axes.outputs, *axes.inputs.values()):
        if shape and (index := _symbol(axes, shape[0])) not in {-1, *known} and axes.symbols[index].axis == 0:
            found[index] += 1
    rows = {index for index, count in chosen if count != index and count >= 0 and axes.symbols[count].axis > 0}
    batch = next((index for index, _ in found.most_common() if index not in rows), -1)
    yield from ((index, BATCH) for index in (batch, *(index for index, count in chosen if count == batch)) if batch >= 0)


def _steps(axes: Axes) -> Iterator[tuple[int, str]]:
    """`P` and `S`, where an output is `P + S` long on the axis on which an input or a variable is `P` long: a cache."""
    caches: dict[tuple[int, int, int], bool] = {}
    for node, own in axes.inputs.items():
        for axis, size in enumerate(own):
            caches[len(own), axis, _symbol(axes, size)] = node.type != "Parameter"
    for shape in axes.outputs:
        for axis, size in enumerate(shape or ()):
            constant, terms = split(size)
            if constant or len(terms) != 2 or any(coefficient != 1 or len(monomial) > 1 for monomial, coefficient in terms):
                continue
            for (past,), (step,) in ((terms[0][0], terms[1][0]), (terms[1][0], terms[0][0])):
                is_variable = caches.get((len(shape or ()), axis, past))
                is_other = caches.get((len(shape or ()), axis, step))
                # Of two inputs that are alike, none is known to be the earlier one; a variable is.
                if step in axes.symbols and is_variable is not None and (is_other is None or (is_variable and not is_other)):
                    yield past, _PAST
                    yield step, _SEQUENCE


def _spatial(axes: Axes, value: _Value) -> Iterator[tuple[int, str]]:
    """The letters of spatial axes, from the first layers that work on them."""
    for node in axes.engine.model.of_type(*_SPATIAL_TYPES):
        shape = axes.engine.slots[node.sources[0]].shape if node.sources and node.sources[0] >= 0 else None
        letters = _SPATIAL.get(len(shape or ()) - 2)
        block = node.sources[1] if node.type in ("SpaceToBatch", "BatchToSpace") and len(node.sources) > 1 else -1
        blocks = axes.engine.slots[block].elements if block >= 0 else None
        first = 1 if blocks and len(blocks) > 1 and blocks[1] != 1 else 2  # TensorFlow has the channels behind the spatial axes
        for letter, size in zip(letters or "", (shape or ())[first:], strict=False):
            if isinstance(size, Dim):
                below = _below(axes, value(size.polynomial))
                if len(below) == 1:
                    yield below[0], letter


def _sequences(axes: Axes, value: _Value) -> Iterator[tuple[int, str]]:
    """`S` for an axis of an input of integers, with which a model looks words up, the last axis first."""
    slots = axes.engine.slots
    indices = [shape for node, shape in axes.inputs.items() if not slots[node.first_slot].element_type.is_real]
    words = {index for shape in indices for size in shape for index in _below(axes, size)}
    for node in axes.engine.model.of_type("Gather"):
        shape = axes.engine.slots[node.sources[1]].shape if len(node.sources) > 1 and node.sources[1] >= 0 else None
        table = node.inputs[0].source if node.inputs else None
        if not shape or len(shape) < 2 or table is None or table.node.type not in ("Const", "Convert"):
            continue
        for size in reversed(shape):
            below = _below(axes, value(size.polynomial)) if isinstance(size, Dim) else []
            if len(below) == 1 and below[0] in words:
                yield below[0], _SEQUENCE


def _below(axes: Axes, expression: Expression) -> list[int]:
    return [index for index in axes.engine.scope.polynomials.atoms_below(expression) if index in axes.symbols]


def _symbol(axes: Axes, expression: Expression) -> int:
    """The symbol that a size is, or is a multiple of; -1 if there is none."""
    _, terms = split(expression)
    return terms[0][0][0] if len(terms) == 1 and len(terms[0][0]) == 1 and terms[0][0][0] in axes.symbols else -1
