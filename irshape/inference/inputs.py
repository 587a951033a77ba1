"""The shapes a user gives to the inputs of a model."""

import re
from collections.abc import Mapping, Sequence

from irshape.inference.engine import Engine
from irshape.model.model import Model, Node
from irshape.shape.dim import Size, narrow
from irshape.shape.notation import Described, DescribedShape, ShapeSyntaxError, SymbolFacts, parse_shape, parse_symbol_facts
from irshape.shape.shape import Shape


class InputError(ValueError):
    """What the caller asks for cannot be meant: an input the model does not have, or a shape that does not parse."""


def input_names(model: Model) -> dict[str, Node]:
    """The Parameters by the names they can be called: the layer's, and those of its tensor."""
    names = {node.name: node for node in reversed(model.parameters)}
    for node in model.parameters:
        for port in node.layer.outputs:
            for name in re.split(r"(?<!\\),", port.names or ""):
                if name.strip():
                    names.setdefault(name.strip(), node)
    return names


def split_input(text: str, names: Sequence[str]) -> tuple[str | None, str]:
    """A name and a shape out of `x[1,3,?]`, `x=[1,3,H,W]` or `x:1x3x224x224`; no name where only a shape is given.

    Names may hold any of these signs, so the longest known one that fits is meant.
    """
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


def apply_inputs(engine: Engine, inputs: Mapping[str, object], symbols: Mapping[str, str]) -> None:
    """Give the Parameters of an engine the shapes a user asks for.

    A value is a shape as text, or a sequence of sizes, each an int, a text or None. Raises InputError.
    """
    names = input_names(engine.model)
    described: dict[Node, DescribedShape] = {}
    for name, value in inputs.items():
        node = names.get(name)
        if node is None:
            raise InputError(_unknown_input(name, [node.name for node in engine.model.parameters]))
        described[node] = _described(name, value)
    facts = _symbol_facts(symbols)
    for node, shape in described.items():
        engine.shapes[node.index] = _sizes(engine, node, shape, facts)
    used = {one.name for shape in described.values() for one in shape or ()}
    unused = sorted(set(symbols) - used)
    if unused:
        raise InputError(f"no input has a size {', '.join(map(repr, unused))}; name it in a shape, as in x[1,{unused[0]}]")


def _unknown_input(name: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, known, 1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"the model has no input {name!r}; it has {', '.join(map(repr, known)) or 'none'}{hint}"


def _described(name: str, value: object) -> DescribedShape:
    if value is None:
        return None
    if not isinstance(value, str):
        if not isinstance(value, Sequence):
            raise InputError(f"the shape of {name!r} must be a text or a sequence of sizes, not {type(value).__name__}")
        value = "[" + ",".join("?" if size is None else str(size) for size in value) + "]"
    try:
        return parse_shape(value)
    except ShapeSyntaxError as error:
        raise InputError(f"the shape of {name!r}: {error}") from None


def _symbol_facts(symbols: Mapping[str, str]) -> dict[str, SymbolFacts]:
    facts = {}
    for name, text in symbols.items():
        try:
            facts[name] = parse_symbol_facts(text)
        except ShapeSyntaxError as error:
            raise InputError(f"the symbol {name}: {error}") from None
    return facts


def _sizes(engine: Engine, node: Node, shape: DescribedShape, facts: Mapping[str, SymbolFacts]) -> Shape:
    return None if shape is None else tuple([_size(engine, node, axis, one, facts) for axis, one in enumerate(shape)])


def _size(engine: Engine, node: Node, axis: int, described: Described, facts: Mapping[str, SymbolFacts]) -> Size:
    low, high, name, factor, offset = described
    if not name:
        return engine.scope.unknown((node.first_slot, axis), low, high)
    engine.symbols.add(name)
    try:
        return narrow(engine.scope.symbol(name, *facts.get(name, ())) * factor + offset, 0)
    except ValueError as error:
        raise InputError(f"the symbol {name}: {error}") from None
