"""The shapes a user gives to the inputs of a model."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import lru_cache
from math import inf
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, SupportsIndex, TypeAlias

from irshape.inference.engine import Engine
from irshape.inference.question import Question
from irshape.model.build import layer_place, place
from irshape.model.finding import end_name
from irshape.model.model import Model, Node, split_names
from irshape.report.diagnostic import Diagnostic
from irshape.report.text import WIDEST, shorten
from irshape.shape.dim import INT64_MAX, Dim, Scope, Size, bounds, narrow
from irshape.shape.notation import (
    ANY_SIZE,
    MULTIPLE,
    Described,
    DescribedShape,
    ShapeSyntaxError,
    SymbolRange,
    parse_shape,
    parse_symbol,
    parse_symbol_range,
    size_of,
)
from irshape.shape.range import Range, meet, number_text
from irshape.shape.shape import Shape
from irshape.xml.lexical import INPUTS

# The names that a scope gives to unnamed sizes; irshape writes them into files and reads them again.
UNNAMED = r"d[0-9]+"
# What stands between the facts of an annotation and formulas that are none.
AS = " as "


if TYPE_CHECKING:

    class Shaped(Protocol):
        """An array or tensor: NumPy's, PyTorch's, OpenVINO's."""

        @property
        def shape(self) -> Any:
            """The sizes of the axes."""

    class OpenVINOShape(Protocol):
        """An `openvino.Shape` or `openvino.PartialShape`."""

        def to_string(self) -> str:
            """OpenVINO's notation."""


ShapeLike: TypeAlias = "str | Sequence[int | str | None] | Shaped | OpenVINOShape | None"
"""A shape: text, a sequence of sizes, an OpenVINO shape, an array (which has one), or None for an unknown rank."""

Shapes: TypeAlias = "Mapping[str, ShapeLike] | str | Sequence[int | str | None]"
"""A shape for each input, by name; for one input also `"x[1,3,H,W]"`, and of a model with one input the shape alone."""


SymbolSize: TypeAlias = "str | int | range"
"""The size of a symbol: a number, a range (`"1..128"`, `range(1, 129)`), a multiple (`"32*k"`) or a formula (`"1024 - S"`)."""

Symbols: TypeAlias = Mapping[str, SymbolSize]
"""The sizes of symbols, by name."""


class InputError(ValueError):
    """The caller asks for something that does not exist or does not parse, such as an input, a shape or a layer."""


def by_name(given: object, what: str, example: str) -> Mapping[str, Any]:
    """What a caller gives by name; nothing for None. Raises InputError for anything but a mapping whose keys are names."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(f"{what} must be given by name, as in {example}, not as {type(given).__name__}")
    if others := [name for name in given if not isinstance(name, str)]:
        raise InputError(f"{what} must be given by name, as in {example}, not by {shorten(repr(others[0]), WIDEST)}")
    return given


def sizes_by_name(sizes: Mapping[str, int] | None, known: Iterable[str], named: Mapping[str, int] | None = None) -> dict[str, int]:
    """The sizes that a caller gives to some of the known symbols. Raises InputError for another symbol, and for a size that is no int."""
    found = {}
    for name, size in {**by_name(sizes, "sizes", '{"H": 224}'), **(named or {})}.items():
        if name not in known:
            has = f"the symbols are {', '.join(known)}" if known else "all sizes are fixed: name some in a shape, as in x[1,3,H,W]"
            raise InputError(f"there is no symbol {name!r}; {has}")
        try:
            found[name] = index(size)
        except TypeError:
            raise InputError(f"the size of {name} must be an int, not {shorten(repr(size), WIDEST)}") from None
    return found


def batch_sizes(symbols: Mapping[str, SymbolRange | Range], shapes: Iterable[DescribedShape | None]) -> dict[str, int]:
    """The least sizes, from 1 on, of the symbols that are the batch: the first axis of an input; and those of states alone, from 0 on."""
    known = [shape for shape in shapes if shape]
    batch = {shape[0].name for shape in known}
    named = {name for shape in known for one in shape for name in one.symbols}
    return {name: max(int(own.low), name in batch) for name, own in symbols.items() if name in batch or name not in named}


def with_batch(
    given: Mapping[str, int], symbols: Mapping[str, SymbolRange | Range], shapes: Iterable[DescribedShape | None]
) -> dict[str, int]:
    """Sizes of all symbols: those given, and those of `batch_sizes`. Raises InputError if another size is missing."""
    found = batch_sizes(symbols, shapes) | dict(given)
    if missing := [name for name in symbols if name not in found]:
        raise InputError(f"the size of {', '.join(missing)} is missing")
    return {name: found[name] for name in symbols}


def input_names(model: Model) -> dict[str, Node]:
    """The Parameters by every name a user may give them: the name of the layer and the names of its tensor."""
    names = dict(model.parameters_by_name)
    for node in model.parameters:
        for port in node.layer.outputs:
            for name in map(str.strip, split_names(port.names)):
                if name:
                    names.setdefault(name, node)
    return names


def split_input(text: str, names: Sequence[str]) -> tuple[str | None, str]:
    """Name, or None, and shape of `x[1,3,?]`, `x=[1,3,H,W]`, `x:1x3x224`; a name may hold these signs: the longest one is taken."""
    for name in sorted(names, key=len, reverse=True):
        rest = text.removeprefix(name)
        if name and rest != text and rest.lstrip()[:1] in ("[", "(", "=", ":"):
            return name, rest.lstrip().removeprefix("=").removeprefix(":").strip()
    stripped = text.strip()
    if stripped[:1] in ("[", "("):
        return None, stripped
    match = re.match(r"(.*?)\s*(?:[=:]\s*([\[(]?[^=:\[\](]*[\])]?)|(\[[^\[\]]*\]|\([^()]*\)))$", stripped, re.DOTALL)
    if match and match[1]:
        return match[1], (match[2] or match[3] or "").strip()
    return None, stripped


class Inputs(NamedTuple):
    """Shapes for Parameters in place of the shapes in the file, the ranges of their symbols, and the formulas that replace symbols.

    `called` are the names of symbols that a signature gave, by the layer and the axis: they stay when other symbols get sizes.
    """

    shapes: dict[Node, DescribedShape] = {}
    symbols: dict[str, SymbolRange] = {}
    formulas: dict[str, Described] = {}
    called: Mapping[tuple[str, int], str] = {}

    def updated(self, other: Inputs) -> Inputs:
        """These inputs with `other` ones on top; the range of a symbol is dropped with the last shape that names it."""
        symbols = other.symbols
        if self.symbols:
            names = _names({node: shape for node, shape in self.shapes.items() if node not in other.shapes})
            symbols = {**{name: facts for name, facts in self.symbols.items() if name in names}, **symbols}
        return Inputs({**self.shapes, **other.shapes}, symbols, other.formulas, other.called or self.called)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(_names(self.shapes))

    @property
    def are_named(self) -> bool:
        """Whether shapes name all symbols that have a range, and no formula replaces a symbol."""
        return not self.formulas and (not self.symbols or self.symbols.keys() <= self.names)

    @property
    def sizes(self) -> dict[str, SymbolRange | Described]:
        return {**self.symbols, **self.formulas}

    def of(self, model: Model) -> Inputs:
        """These inputs for another model with the same nodes."""
        return self._replace(shapes={model.nodes[node.index]: shape for node, shape in self.shapes.items()})

    def numbers(self) -> dict[int, tuple[int, ...]] | None:
        """The shapes, by node; None if a size is no plain number."""
        numbers = {}
        for node, shape in self.shapes.items():
            if shape is None:
                return None
            own = numbers[node.index] = tuple([size[0] for size in shape if size[0] == size[1]])
            if len(own) < len(shape):
                return None
        return None if self.symbols else numbers

    def question(self, engine: Engine) -> Question:
        """The question to an engine for these shapes of Parameters. Raises InputError for a size that is none."""
        # Formulas name older symbols first: as in a signature, and as in the model. So what is written is read in the same order.
        ordered = sorted(self.shapes.items(), key=lambda item: item[0].index)
        named = [name for _, shape in ordered for one in shape or () for name in one.symbols]
        for name in (*sorted(named, key=place_of), *self.symbols):
            _symbol(engine.scope, name, self.symbols)
        symbols = {name: self.symbols.get(name, ANY_SIZE) for name in named if not re.fullmatch(UNNAMED, name)}
        return Question({node.index: _sizes(engine.scope, node, shape, self.symbols) for node, shape in ordered}, symbols)


def place_of(name: str) -> int:
    """The place of a symbol among others in formulas: B, the batch, then P, the past steps, then S, the new steps, then all others."""
    return "BPS".find(name) % 4


def _names(shapes: Mapping[Node, DescribedShape]) -> set[str]:
    return {name for shape in shapes.values() for one in shape or () for name in one.symbols}


def shapes_by_name(model: Model, inputs: Shapes | None) -> Mapping[str, ShapeLike]:
    """The shapes that a user gives, by name or as `x[1,3,H,W]`; a shape alone is that of the only input. Raises InputError."""
    first = end_name(model.parameters[0]) if model.parameters else "x"
    if isinstance(inputs, str):
        name, shape = split_input(inputs, list(input_names(model)))
        inputs = {name: shape} if name is not None and shape.startswith("[") else inputs
    if inputs is not None and not isinstance(inputs, Mapping) and len(model.parameters) == 1:
        return {first: inputs}
    return by_name(inputs, "shapes", f'{{"{first}": "[1,3,H,W]"}}')


def asked_inputs(model: Model, inputs: Shapes | None, symbols: Symbols | None) -> Inputs:
    """The inputs that a user asks for, by name.

    A shape is a text, a sequence of sizes, each an int, a text or None (any size), an `openvino.PartialShape` or `openvino.Shape`, an
    array, whose shape counts, or None (any rank). A name
    with `*` or `?` is a pattern, and stands for every input that it matches and no name names; of several patterns that match, the last
    one counts. Raises InputError.
    """
    names = model.parameters_by_name
    shapes, symbols = shapes_by_name(model, inputs), by_name(symbols, "symbols", '{"H": "32*k"}')
    if not names.keys() >= shapes.keys():
        names = input_names(model)
    described: dict[Node, DescribedShape] = {}
    patterns = []
    for name, value in shapes.items():
        node = names.get(name)
        if node is not None:
            shape = described[node] = read_shape(name, value)
            if shape is not None and not isinstance(value, str | Sequence) and len(shape) == 1:
                _refuse_sizes(name, value, shape[0].low, described_shape(node))
        elif is_pattern(name):
            patterns.append((name, value))
        else:
            raise InputError(unknown_input(name, [end_name(node) for node in model.parameters]))
    exact = frozenset(described)
    for name, value in patterns:
        shape = read_shape(name, value)
        described.update((node, shape) for node in matched(name, names) if node not in exact)
    return Inputs(described, *_sizes_of_symbols(symbols)) if symbols else Inputs(described)


def is_pattern(name: str) -> bool:
    """Whether a name of an input that no input has is a pattern."""
    return "*" in name or "?" in name


def matched(pattern: str, names: Mapping[str, Node]) -> list[Node]:
    """The inputs whose names match a pattern, in the order of the model. Raises InputError if there are none."""
    from fnmatch import fnmatchcase

    plain = pattern.replace("[", "[[]")  # only * and ? are signs of a pattern
    found = {node: None for name, node in names.items() if fnmatchcase(name, plain)}
    if not found:
        known = [node.name for node in sorted(set(names.values()), key=lambda node: node.index)]
        raise InputError(f"no input matches {pattern!r}; inputs of the model: {', '.join(map(repr, known)) or 'none'}")
    return sorted(found, key=lambda node: node.index)


def recorded_inputs(model: Model) -> tuple[Inputs, list[Diagnostic]]:
    """The shapes with symbols that irshape wrote into the ports of Parameters, and a warning for each that contradicts the file."""
    found = Inputs({}, {})
    diagnostics: list[Diagnostic] = []
    annotations = _annotations(model)
    for node in model.parameters if annotations else ():
        for port in node.layer.outputs[:1]:
            text = annotations.get(node.name)
            if text is None or (declared := described_shape(node)) is None:
                continue
            try:
                shape, facts = _read_annotation(text, declared)
                for name in facts.keys() & found.symbols.keys():
                    facts[name] = _both(name, facts[name], found.symbols[name])
            except ValueError as error:
                message = f"{text!r} is ignored: {error}"
                diagnostics.append(Diagnostic("X203", message, place(model.document, node.layer, port.offset, str(port.id))))
                continue
            if facts:
                found.shapes[node] = shape
                found.symbols.update(facts)
    return found, diagnostics


def _annotations(model: Model) -> dict[str, str]:
    """The texts of irshape about the shapes of inputs, by name: from the ports, or from an `openvino.Model`."""
    document = model.document
    if document.has_annotations:
        first = {node.name: node.layer.outputs[0].annotation for node in model.parameters if node.layer.outputs}
        return {name: text for name, text in first.items() if text is not None}
    if not document.may_state_shapes:
        return {}
    import json

    notes: Any = model.rt_info
    for name in (*INPUTS, "value"):
        notes = notes.get(name) if isinstance(notes, dict) else None
    try:
        found = json.loads(notes or "{}")
    except (ValueError, RecursionError):
        return {}
    return {name: text for name, text in found.items() if isinstance(text, str)} if isinstance(found, dict) else {}


def described_shape(node: Node) -> DescribedShape:
    """The shape of a Parameter in the file; None if it is unranked or cannot be read."""
    op: Any = node.op
    if op is None or op.is_broken or op.shape is None:
        return None
    return tuple([Described(low, high) for low, high in op.shape])


def parse_batch(size: int | str) -> Described:
    """The size of a batch, from a number, a range or a symbol. Raises InputError for anything else."""
    try:
        shape = None if str(size).startswith("-") else read_shape("batch", [size])
    except InputError as error:
        raise InputError(f"the batch {size!r}: {str(error).partition(': ')[2]}") from None
    if shape is None or len(shape) != 1:
        raise InputError(f"the batch must be one size, such as 8, '1..8' or 'N', not {size!r}")
    return shape[0]


def note_changed_ranks(engine: Engine) -> list[Diagnostic]:
    """A note for each input whose rank was changed, because errors may follow from that."""
    notes = []
    for node in engine.model.parameters:
        before, now = described_shape(node), engine.question.shapes.get(node.index)
        if before is not None and now is not None and len(before) != len(now):
            message = f"the rank of {end_name(node)!r} was changed from {len(before)} to {len(now)}"
            notes.append(Diagnostic("N102", message, layer_place(node)))
    return notes


def _read_annotation(text: str, declared: tuple[Described, ...]) -> tuple[tuple[Described, ...], dict[str, SymbolRange]]:
    """The shape and the ranges of its symbols in a text such as `[N,3,H] in [1..8,3,32..] where H=32*k`.

    The names in `[N,?] as [N,S]` that stand behind `as` are those of a signature, and say nothing of the file.
    ValueError if the text cannot be read or contradicts the declared shape.
    """
    text, _, conditions = text.partition(AS)[0].partition(" where ")
    shape = parse_shape(text.partition(" in ")[0])
    if shape is None or len(shape) != len(declared):
        raise ValueError(f"the input has a shape of rank {len(declared)}")
    stated = dict(parse_symbol(one) for one in conditions.split("; ") if one)
    facts: dict[str, SymbolRange] = {}
    for axis, (one, size) in enumerate(zip(shape, declared, strict=True)):
        is_fixed = size.low == size.high
        if is_fixed if one.symbols else not size.low <= one.low <= one.high <= size.high:
            raise ValueError(f"the input has the size {size} on axis {axis}")
        for name in one.symbols if one.formula is not None else ():
            facts.setdefault(name, stated.get(name, ANY_SIZE))
        if one.name:
            # The interval of the size bounds the symbol in it.
            low = -((one.offset - size.low) // one.factor)
            high = inf if size.high == inf else (int(size.high) - one.offset) // one.factor
            known = facts.get(one.name) or stated.get(one.name, ANY_SIZE)
            facts[one.name] = _both(one.name, known, SymbolRange(low, high))
    bounded = [one._replace(low=size.low, high=size.high) if one.formula else one for one, size in zip(shape, declared, strict=True)]
    return tuple(bounded), facts


def _both(name: str, one: SymbolRange, other: SymbolRange) -> SymbolRange:
    """The range of a symbol that two places give; ValueError if no value lies in both."""
    facts = meet(Range(*one), Range(*other))
    if facts is None:
        raise ValueError(f"the ranges {one} and {other} of {name} have no number in common")
    return SymbolRange(*facts)


def unknown_input(name: str, known: Sequence[str]) -> str:
    """The complaint about the name of an input that a model does not have."""
    from irshape.model.finding import similar

    return f"the model has no input {name!r}; inputs of the model: {', '.join(map(repr, known)) or 'none'}{similar(name, known)}"


def read_shape(name: str, value: object) -> DescribedShape:
    """The shape that a user gives an input: a text, numbers, or an object that has a shape. Raises InputError for anything else."""
    if value is None:
        return None
    if type(value) is not tuple and not isinstance(value, str | Sequence):
        value = _own_shape(name, value)
    if not isinstance(value, str):
        for size in value:
            if type(size) is not int or not 0 <= size <= INT64_MAX:
                break
        else:
            return tuple(map(_number, value))
        if any(isinstance(size, int) and abs(size) > INT64_MAX for size in value):
            raise InputError(f"the shape of {name!r}: a size is at least 0 and at most {INT64_MAX}")
        others = [one for one in value if isinstance(one, tuple | list | range) or type(one).__name__.startswith(("float", "bool"))]
        if others:
            raise InputError(f"the shape of {name!r}: a size is an int, a text or None, not {others[0]!r}; write a range as a text: '1..4'")
        value = "[" + ",".join("?" if size is None else str(size) for size in value) + "]"
    try:
        return parse_shape(value)
    except ShapeSyntaxError as error:
        raise InputError(f"the shape of {name!r}: {error}") from None


def _own_shape(name: str, value: Any) -> str | Sequence[Any]:
    """The shape of an object that has or is one: OpenVINO's shapes, dimensions and ports, and arrays."""
    if not isinstance(value, type):
        for attribute in ("partial_shape", "shape"):  # a port without a static shape has the first only
            if hasattr(value, attribute):
                value = getattr(value, attribute)
                break
        if isinstance(value, Sequence):
            return value
        if type(value).__module__.partition(".")[0] == "openvino":
            return str(value)
    kinds = "a text, a sequence of sizes, an OpenVINO shape or an array"
    lead = "; name every size, as in '[N,3,H,W]'" if isinstance(value, dict) else ""
    raise InputError(f"the shape of {name!r} must be {kinds}, not {type(value).__name__}{lead}")


def _refuse_sizes(name: str, value: Any, count: int, declared: DescribedShape) -> None:
    """Raise InputError for an array that holds the sizes of an input: an array is an example of the tensor, and its own shape counts."""
    is_whole = getattr(getattr(value, "dtype", None), "kind", "") in ("i", "u")
    if is_whole and declared is not None and count == len(declared) != 1:
        told = f"an array is an example of the tensor, so it was read as [{count}], and the input has rank {count}"
        raise InputError(f"the shape of {name!r}: {told}; array.tolist() gives its elements as the sizes")


@lru_cache(4096)
def _number(size: int) -> Described:
    return Described(size, size)


def _sizes_of_symbols(symbols: Symbols) -> tuple[dict[str, SymbolRange], dict[str, Described]]:
    """The ranges of symbols, and the formulas of other symbols that replace symbols."""
    ranges, formulas = {}, {}
    for name, size in symbols.items():
        if not isinstance(size, str | range) and not (isinstance(size, SupportsIndex) and abs(index(size)) <= INT64_MAX):
            told = f"at most {INT64_MAX}" if isinstance(size, SupportsIndex) else f"a number, a text or a range, not {type(size).__name__}"
            raise InputError(f"the symbol {name}: a size is {told}")
        try:
            found = _size_of_symbol(size, symbols)
        except ShapeSyntaxError as error:
            raise InputError(f"the symbol {name}: {error}") from None
        if isinstance(found, SymbolRange):
            ranges[name] = found
        elif name in found.symbols:
            raise InputError(f"the symbol {name} cannot be {found}: this formula contains {name} itself")
        else:
            formulas[name] = found
    return ranges, formulas


def _size_of_symbol(size: SymbolSize, given: Container[str]) -> SymbolRange | Described:
    if isinstance(size, range):
        if not size or size.step < 1 or size.start < 0:
            raise ShapeSyntaxError(str(size), 0, "the range must ascend and contain a size, as in range(1, 129)")
        return SymbolRange(size.start, size[-1], size.step, size.start % size.step)
    text = str(size)
    if "," not in text and re.search("[A-Za-z_]", text):
        try:
            described = parse_shape(f"[{text}]")
        except ShapeSyntaxError as error:
            raise ShapeSyntaxError(text, error.position - 1, error.reason) from None
        if described is not None and len(described) == 1 and described[0].symbols and (described[0].name != MULTIPLE or MULTIPLE in given):
            return described[0]
    return parse_symbol_range(text)


def _sizes(scope: Scope, node: Node, shape: DescribedShape, facts: Mapping[str, SymbolRange]) -> Shape:
    return None if shape is None else tuple([_size(scope, node, axis, one, facts) for axis, one in enumerate(shape)])


def _size(scope: Scope, node: Node, axis: int, described: Described, known: Mapping[str, SymbolRange]) -> Size:
    low, high, name, factor, offset, formula = described
    if not name and formula is None:
        # The key equals that of the Parameter's own rule, so that a size with the same range keeps its name.
        return scope.unknown((node.first_slot, "size", axis + 1), low, high)
    if formula is None:
        size = narrow(_symbol(scope, name, known) * factor + offset, 0)
    else:
        for symbol in described.symbols:
            _symbol(scope, symbol, known)
        try:
            size = size_of(scope, described, None, known)
        except ZeroDivisionError:
            raise InputError(f"the shape of {end_name(node)!r}: {described} on axis {axis} divides by 0") from None
        if isinstance(size, Dim):
            size = narrow(size, low, high)
    least, most = bounds(size)
    if most < 0 or least > INT64_MAX:
        found = number_text(least) if least == most else f"at most {number_text(most)}" if most < 0 else f"at least {number_text(least)}"
        raise InputError(f"the shape of {end_name(node)!r}: {described} on axis {axis} is {found}, but a size is from 0 to {INT64_MAX}")
    return size


def _symbol(scope: Scope, name: str, known: Mapping[str, SymbolRange]) -> Size:
    facts = known.get(name, ANY_SIZE)
    try:
        return scope.symbol(name, *facts)
    except ValueError as error:
        raise InputError(f"the symbol {name}: {error}") from None
