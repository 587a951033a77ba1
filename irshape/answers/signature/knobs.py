"""Sizes for the symbols of the signature: the shapes that inputs and variables take for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property, partial
from typing import TypeAlias

from irshape.answers.signature.discovery import Discovery
from irshape.answers.signature.notes import name_data_sizes
from irshape.inference.inference import conclude
from irshape.inference.inputs import InputError, Inputs, described_shape
from irshape.model.finding import end_name
from irshape.model.load import load
from irshape.model.model import Model, Node
from irshape.ops.infrastructure import ReadValueV6
from irshape.shape.dim import INT64_MAX, Scope, Size, bounds
from irshape.shape.notation import (
    ANY_SIZE,
    Described,
    DescribedShape,
    ShapeSyntaxError,
    SymbolRange,
    parse_shape,
    parse_symbol_range,
    shape_text,
    size_of,
)
from irshape.shape.range import Bound
from irshape.shape.shape import Shape
from irshape.xml.weights import Weights
from irshape.xml.writer import Splice, attribute_splices, spliced

Sizes: TypeAlias = Mapping[str, SymbolRange | Described]
"""The range of each symbol, or the formula that replaces it."""


class Knobs:
    """The symbols of given shapes, and of the signature for all other sizes: sizes for them give the inputs and variables shapes."""

    def __init__(self, model: Model, given: Inputs, weights: Weights | None, opaque: frozenset[str]) -> None:
        self._model = model
        self._weights = weights
        self._opaque = opaque
        symbols = {name: known for name, known in given.symbols.items() if name in given.names}
        self._asked = Inputs(given.shapes, symbols, called=given.called)

    @cached_property
    def _found(self) -> Discovery:
        # A size that is one number hides what other axes have to do with it.
        free = {name: known for name, known in self._asked.symbols.items() if known.low < known.high}
        return Discovery(self._model, self._asked._replace(symbols=free), self._weights, self._opaque, keeps_named=True)

    @property
    def names(self) -> frozenset[str]:
        """The symbols that can be given sizes."""
        try:
            return self._asked.names | self._found.ranges.keys()
        except InputError:
            return self._asked.names

    def set(self, sizes: Sizes) -> tuple[Model, Inputs]:
        """The shapes of the inputs for these sizes of symbols.

        A symbol of one value becomes a number, and a formula takes the place of its symbol; a letter of the formula may have a range, as in
        `S=2*j j=1..6`. A multiple of a letter that stands for nothing else, as in `H=64*j`, is a range, as that of `k` is. Where a symbol
        is one of the signature, all inputs have the shapes of the signature, and its other symbols keep their names. The model is a copy if
        a variable takes another shape: the copy has another `variable_shape`. Raises `InputError` for a symbol that the model does not
        have, or a size that is none.
        """
        asked = self._asked
        letters = Counter(letter for known in sizes.values() if isinstance(known, Described) for letter in known.symbols)
        sizes = dict(sizes)
        for name, known in sizes.items():
            if isinstance(known, Described) and known.factor > 1 and letters[known.name] == 1 and known.name not in {*sizes, *self.names}:
                sizes[name] = parse_symbol_range(str(known))
        ranges = {**asked.symbols, **{name: known for name, known in sizes.items() if isinstance(known, SymbolRange)}}
        shapes: Mapping[Node, DescribedShape] = asked.shapes
        states: dict[Node, tuple[Described, ...]] = {}
        given = sizes.keys() - {name for name in letters if isinstance(sizes.get(name), SymbolRange) and name not in self.names}
        if not given <= asked.names:
            for name in given - asked.names - self._found.ranges.keys():
                held = self._given(name)
                if held is None or str(sizes[name]) != str(held[0]):
                    raise InputError(self._missing(name, sizes[name], held))
            # That layers demand multiples is a condition of the reshaped model, too.
            multiples, free = self._found.multiples, self._found.free_ranges
            free = {name: SymbolRange(0, known.high) if multiples.get(name) else known for name, known in free.items()}
            ranges = {**free, **ranges}
            shapes = self._found.question.shapes
            states = {node: self._held(node, shape, sizes, ranges) for node, shape in self._declared(sizes)}
        is_signed = shapes is not asked.shapes
        named = {node: shape for node, shape in shapes.items() if shape is not None and (is_signed or _has(shape, sizes))}
        changed = {node: _with_sizes(node, shape, sizes, ranges) for node, shape in named.items()}
        copy = _with_states(self._model, states, ranges, self._weights) if states else self._model
        # The copy declares the sizes of its variables without names; the signature ties the inputs to them again.
        unnamed = {name for shape in states.values() for one in shape for name in one.symbols} & self._state_names
        changed = {node: tuple([_unnamed(one, unnamed, ranges) for one in shape]) for node, shape in changed.items()}
        wanted = Inputs({**asked.shapes, **changed}).of(copy)
        symbols = {name: known for name, known in ranges.items() if name in wanted.names}
        return copy, wanted._replace(symbols=symbols, called=self._called if is_signed else asked.called)

    @property
    def _called(self) -> dict[tuple[str, int], str]:
        """The symbols by the layers and the axes whose sizes they are."""
        shapes = (*self._found.question.shapes.items(), *self._found.state.items())
        return {(node.name, axis): one.name for node, shape in shapes for axis, one in enumerate(shape or ()) if one.name}

    def _declared(self, sizes: Sizes) -> Iterator[tuple[Node, tuple[Described, ...]]]:
        """The variables with symbols of these sizes in the shapes that they declare. One without a declared shape follows its first value.

        Raises `InputError` for a symbol that only such a variable has.
        """
        for node, shape in self._found.state.items():
            op = node.op
            if isinstance(op, ReadValueV6) and op.variable_shape is not None:
                if _has(shape, sizes):
                    yield node, shape
            elif _has(shape, sizes.keys() & self._state_names):
                message = f"the variable of {node.name!r} has no variable_shape: its shape {shape_text(shape)} is that of its first value"
                raise InputError(f"{message}; set the sizes of the inputs that its first value is computed from")

    def _held(self, node: Node, shape: tuple[Described, ...], sizes: Sizes, ranges: Mapping[str, SymbolRange]) -> tuple[Described, ...]:
        """The shape that a variable declares. Where a number is not the size of all its values, it declares all sizes up to the largest."""
        held = list(_with_sizes(node, shape, sizes, ranges))
        numbers = {axis for axis, one in enumerate(held) if one.low == one.high and not one.symbols and shape[axis].symbols}
        for taken in self._taken.get(node, ()):
            for axis, size in enumerate(taken or ()):
                if axis in numbers:
                    low, high = _bounds(node, size, sizes, ranges)
                    if not low == high == held[axis].low:
                        held[axis] = Described(0, max(high, held[axis].high))
        return tuple(held)

    @cached_property
    def _taken(self) -> dict[Node, list[Shape]]:
        """The shapes of the first value of each variable and of the value that it is assigned."""
        slots = self._found.engine.slots
        taken: dict[Node, list[Shape]] = {}
        for pair in self._found.engine.pairs:
            if pair.read_value is not None:
                sources = (*pair.read_value.sources[:1], *pair.assign.sources[:1])
                taken[pair.read_value] = [slots[source].shape for source in sources if source >= 0]
        return taken

    @cached_property
    def _state_names(self) -> frozenset[str]:
        """The lengths of states: the symbols that are no size of an input by themselves, only a part of a formula."""
        alone = {one.name for shape in self._found.question.shapes.values() for one in shape or () if one.name}
        return frozenset({name for shape in self._found.state.values() for one in shape for name in one.symbols} - alone)

    def _given(self, name: str) -> tuple[Described, str] | None:
        """The size of the axis of a given shape that would have this symbol, and its place in words; None if there is none."""
        given = self._asked.shapes
        free = Discovery(self._model, Inputs(), self._weights, self._opaque).question.shapes if given else {}
        axes = [(node, axis) for node, shape in free.items() for axis, one in enumerate(shape or ()) if one.name == name]
        for node, axis in axes:
            if shape := given.get(node):
                return shape[axis], f"axis {axis} of {end_name(node)!r}, which has the given shape {shape_text(shape)}"
        return None

    def _missing(self, name: str, size: SymbolRange | Described, held: tuple[Described, str] | None) -> str:
        """The complaint about a symbol that the model does not have, or that a given shape has made a number."""
        if held is not None:
            return f"the symbol {name!r} cannot be {size}: it is {held[1]}"
        for data in name_data_sizes(conclude(self._found.engine), self._found.ranges):
            if data.name == name:
                return f"the symbol {name!r} cannot be {size}: it depends on the data of {data.node.type} {data.node.name!r}"
        names = list(self._found.ranges)
        close = [one for one in names if one.lower() == name.lower()] or get_close_matches(name, names, 1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        if not names:
            return f"the model has no symbol {name!r}, because all its sizes are fixed; name the sizes: {self._example(name, size)}"
        return f"the model has no symbol {name!r}; it has {', '.join(names)}{hint}"

    def _example(self, name: str, size: SymbolRange | Described) -> str:
        """An option that gives sizes names, the given one among them: of the first input that has an axis for it, else of the first."""
        options: dict[bool, str] = {}
        batch = "B" if name == "B" else "N"
        for node in self._model.parameters:
            sizes = list(map(str, described_shape(node) or ()))
            letters = {1: "S", 2: f"{batch}S", 3: f"{batch}SE", 4: f"{batch}CHW", 5: f"{batch}CDHW"}.get(len(sizes), batch * bool(sizes))
            open_axes = [axis for axis, letter in enumerate(letters) if letter == name or (letter in "SDHW" and name != batch)]
            for axis in open_axes:
                sizes[axis] = letters[axis]
            if open_axes:
                if name not in sizes:
                    sizes[open_axes[0]] = name
                options.setdefault(name in letters, f'--input "{end_name(node)}[{",".join(sizes)}]"')
        found = options.get(True) or options.get(False) or "--input"
        return f"{found}, or ask for a batch of all inputs: irshape reshape --batch {size}" if name == batch and options else found


def _has(shape: DescribedShape, names: Collection[str]) -> bool:
    return not {name for one in shape or () for name in one.symbols}.isdisjoint(names)


def _with_sizes(node: Node, shape: DescribedShape, sizes: Sizes, ranges: Mapping[str, SymbolRange]) -> tuple[Described, ...]:
    """A shape in which numbers and formulas replace symbols. Raises `InputError` for a size that is none."""
    made = []
    for axis, one in enumerate(shape or ()):
        scope = Scope()
        try:
            size = one.size(partial(_replaced, scope, sizes, ranges)) if one.symbols else one.low
        except ZeroDivisionError:
            size = -1
        except ValueError as error:  # the range of a symbol is empty
            raise InputError(f"axis {axis} of {end_name(node)!r} is {one}: {error}") from None
        low, high = bounds(size)
        if high < 0 or low > INT64_MAX:
            told = ", ".join(f"{name}={sizes[name]}" for name in one.symbols if name in sizes)
            raise InputError(f"axis {axis} of {end_name(node)!r} is {one}, which is no size for {told}")
        if one.symbols:
            [one] = parse_shape(f"[{size}]") or ()
        made.append(one)
    return tuple(made)


def _bounds(node: Node, size: Size, sizes: Sizes, ranges: Mapping[str, SymbolRange]) -> tuple[Bound, Bound]:
    """The bounds of a size for these sizes of its symbols; those for all sizes, if the notation of shapes has no such formula."""
    try:
        after = parse_shape(f"[{size}]") or ()
    except ShapeSyntaxError:
        return bounds(size)
    return bounds(size_of(Scope(), _with_sizes(node, after, sizes, ranges)[0], None, ranges))


def _replaced(scope: Scope, sizes: Sizes, ranges: Mapping[str, SymbolRange], name: str) -> Size:
    """The size that takes the place of a symbol."""
    size = sizes.get(name)
    if isinstance(size, Described):
        return size.size(partial(_replaced, scope, {other: one for other, one in sizes.items() if isinstance(one, SymbolRange)}, ranges))
    if size is not None and size.low == size.high:
        return int(size.low)
    return scope.symbol(name, *ranges.get(name, ANY_SIZE))


def _unnamed(one: Described, names: Collection[str], ranges: Mapping[str, SymbolRange]) -> Described:
    """The interval of a size if one of these symbols is in it, else the size."""
    if set(one.symbols).isdisjoint(names):
        return one
    low, high = bounds(size_of(Scope(), one, None, ranges))
    return Described(int(low), high)


def _with_states(
    model: Model, states: Mapping[Node, tuple[Described, ...]], ranges: Mapping[str, SymbolRange], weights: Weights | None
) -> Model:
    """A copy of a model whose variables declare these shapes."""
    document = model.document
    splices: list[Splice] = []
    for node, shape in states.items():
        text = ",".join(_interval(size_of(Scope(), one, None, ranges)) if one.symbols else str(one) for one in shape)
        splices += attribute_splices(document, node.layer, {"variable_shape": text})
    return load(
        spliced(document, sorted(splices)),
        path=document.path,
        weights=weights,
        opset=model.default_opset,
        limits=document.limits,
        extensions=model.registry.sources,
    )


def _interval(size: Size) -> str:
    """A size as the attributes of a layer state it, without its formula."""
    low, high = bounds(size)
    return str(Described(int(low), high))
