"""Which layer a text names. One order decides for every command and every call: id, name, tensor name, variable, fused name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from typing import Generic, TypeVar

from irshape.model.model import Model, Node, split_names
from irshape.shape.compilation import NamedTuple

Layer = TypeVar("Layer")

# What a text may be of a layer, in the order in which it is taken.
ID, NAME, TENSOR, VARIABLE, FUSED = KINDS = ("the id", "the name", "the name of a tensor", "the variable", "a fused name")
# Characters that a file may write in another way.
_ESCAPED = frozenset("&<>\"',\\\t\n\r")
# The signs of a pattern.
_WILD = frozenset("*?[")
# The names that a converter gives to tensors without one: `1360`, `36_1`.
_NUMBER = re.compile(r"[0-9]+(?:[._][0-9]+)*")
# So many names are compared with one that nothing has, and so many layers are named in a remark.
_MOST_COMPARED = 20_000
_MOST_NAMED = 3


class Names(NamedTuple):
    """What a layer may be called: its key, its name, the text of the names of each output, and the id of the variable that it reads."""

    key: str
    type: str
    name: str
    tensors: Iterable[str | None]
    variable: str | None


class Meaning(NamedTuple, Generic[Layer]):
    """A layer that a text names: what the text is of it, and the position of the output that it names, None for none."""

    kind: str
    layer: Layer
    output: int | None = None


def preferred(names: Iterable[str]) -> str:
    """The name of a tensor that people read best: the first one that is no number, else the first; empty if there are none."""
    known = list(names)
    return next((name for name in known if not _NUMBER.fullmatch(name)), known[0] if known else "")


def end_name(node: Node) -> str:
    """The name of an input or an output of a model, by its Parameter or Result: one of its tensor, else that of the layer that gives it.

    An input whose tensor has the name of another input's layer keeps that of its own layer, since a name means a layer first.
    """
    if node.type == "Result":
        source = node.inputs[0].source if node.inputs else None
        return node.name if source is None else preferred(source.names) or source.node.name
    names = node.outputs[0].names if node.outputs else ()
    name = node.name if node.name in names else preferred(names)
    return name if name and node.model.parameters_by_name.get(name, node) is node else node.name


def meanings(
    text: str,
    layers: Iterable[Layer],
    names_of: Callable[[Layer], Names],
    fused: Callable[[Layer], str] | None = None,
    *,
    by_name: bool = False,
) -> list[Meaning[Layer]]:
    """The layers that a text names, the one that it means first; of several of one kind, the first of the outermost graph.

    Every layer has an id of its own, so each can be named by it. `by_name` says that a name is asked for: then an id comes last.
    """
    found: dict[str, list[Meaning[Layer]]] = {kind: [] for kind in KINDS}
    layers = list(layers)
    for layer in layers:
        names = names_of(layer)
        if names.key == text:
            found[ID].append(Meaning(ID, layer))
        if names.name == text:
            found[NAME].append(Meaning(NAME, layer))
        for output, tensors in enumerate(names.tensors):
            if tensors and (text in split_names(tensors) if "," in tensors else text == tensors):
                found[TENSOR].append(Meaning(TENSOR, layer, output))
        if names.variable == text:
            found[VARIABLE].append(Meaning(VARIABLE, layer))
    if fused is not None and text and not any(found.values()):
        found[FUSED] = [Meaning(FUSED, layer) for layer in layers if text in fused(layer).split(",")]
    order = (*KINDS[1:], ID) if by_name else KINDS
    return [one for kind in order for one in found[kind]]


def is_pattern(text: str) -> bool:
    """Whether a text has signs of a pattern."""
    return not _WILD.isdisjoint(text)


def selected(pattern: str, layers: Iterable[Layer], names_of: Callable[[Layer], Names], by_text: Sequence[Meaning[Layer]]) -> list[Layer]:
    """The layers that a pattern selects: the one that it means as a text, those whose names match it, or those of the module.

    `by_text` are the layers that it names as a text. A module is a part of a name between points and slashes.
    """
    layers = list(layers)
    if by_text and not is_pattern(pattern):
        return [by_text[0].layer]
    if found := [layer for layer in layers if fnmatchcase(names_of(layer).name, pattern)]:
        return found
    if by_text:
        return [by_text[0].layer]
    part = re.compile(rf"(^|[./]){re.escape(pattern)}([./]|$)")
    return [layer for layer in layers if pattern and part.search(names_of(layer).name)]


def find(model: Model, text: str, *, by_name: bool = False) -> list[Meaning[Node]]:
    """The layers of a model and its bodies that a text names, as `meanings` gives them."""
    source = model.document.source
    fused = fused_of if b"fused_names" in source else None
    # To look for a text in the bytes of a layer is cheaper than to read its ports and notes.
    word = text.encode() if _is_plain(source, text) else b""
    is_inside = fused is not None or not word or re.search(rb"names\s*=\s*(\"[^\"]*|'[^']*)" + re.escape(word), source) is not None
    likely: list[Node] = []
    for graph in model.graphs():
        id = text.removeprefix(graph.prefix) if text.startswith(graph.prefix) else None
        for node in graph.nodes:
            layer = node.layer
            is_likely = layer.name == text or str(layer.id) == id or layer.signature.type == "ReadValue"
            if is_likely or (is_inside and source.find(word, layer.offset, layer.end) >= 0):
                likely.append(node)
    return meanings(text, [node for node in likely if not node.is_dropped], names_of, fused, by_name=by_name)


def _is_plain(source: bytes, text: str) -> bool:
    """Whether a file that holds a text holds the same bytes, as no writer escapes other characters than it must."""
    return text.isascii() and not _ESCAPED.intersection(text) and source[:64].lstrip().startswith(b"<") and b"\0" not in source[:64]


def names_of(node: Node) -> Names:
    """What a layer of a model may be called."""
    layer = node.layer
    return Names(node.key, node.type, layer.name, [port.names for port in layer.outputs], variable_of(node.type, layer.attributes))


def variable_of(type: str, attributes: Mapping[str, str]) -> str | None:
    """The id of the variable that a layer of this type and these attributes reads."""
    return attributes.get("variable_id") if type == "ReadValue" else None


def fused_of(node: Node) -> str:
    """The names of the layers that OpenVINO fused into one."""
    note = node.rt_info.get("fused_names")
    return str(note.get("value") if isinstance(note, dict) else note)


def _nodes(model: Model) -> Iterator[Node]:
    return (node for graph in model.graphs() for node in graph.nodes if not node.is_dropped)


def known_names(model: Model) -> Iterator[str]:
    """The names of the layers and the tensors of a model."""
    for node in _nodes(model):
        yield node.name
    for node in _nodes(model):
        for port in node.layer.outputs:
            yield from split_names(port.names)


def similar(text: str, known: Iterable[str]) -> str:
    """The end of a message about a name that nothing has: the names that resemble it, or hold it."""
    from difflib import get_close_matches

    names = list(dict.fromkeys(name for name in islice(known, _MOST_COMPARED) if name))
    close = get_close_matches(text, names, 3) or [one for one in names if len(text) > 2 and text.lower() in one.lower()][:3]
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""


def unknown(text: str, known: Iterable[str], thing: str = "layer") -> str:
    """The complaint about a text that names nothing."""
    return f"the model has no {thing} {text!r}{similar(text, known) or '; irshape infer lists the layers'}"


def ambiguity(text: str, found: Sequence[Meaning[Layer]], names_of: Callable[[Layer], Names]) -> str:
    """The complaint about a text that is the id of one layer and the name of a tensor of another one; empty for any other text."""
    own = next((one for one in found if one.kind == ID), None)
    other = next((one for one in found if one.kind == TENSOR and own is not None and one.layer is not own.layer), None)
    if own is None or other is None:
        return ""
    layer, giver = names_of(own.layer), names_of(other.layer)
    tensors = list(giver.tensors)
    name = preferred(split_names(tensors[other.output or 0]))
    tensor = repr(name) if name != text else repr(giver.name) if len(tensors) == 1 else f"{giver.key}:PORT"
    places = f"the id of {layer.type} {layer.name!r}, and the name of a tensor of {giver.type} {giver.name!r} with the id {giver.key}"
    return f"{text!r} is ambiguous: it is {places}; write {layer.name!r} or {text}:PORT for the one, {tensor} for the other"


def remark(text: str, found: Sequence[Meaning[Layer]], names_of: Callable[[Layer], Names]) -> str:
    """The remark that a text names other layers, too, and how to ask for them; empty if it names one.

    A Result that is called as the tensor that it reads is no other layer.
    """
    if not found:
        return ""
    is_end = any(one.kind == NAME and names_of(one.layer).type == "Result" for one in found[:2])
    found = [one for one in found if not (is_end and one.kind == TENSOR)] or found[:1]
    first = found[0]
    others = {names_of(one.layer).key: one for one in reversed(found) if one.layer is not first.layer}
    if not others:
        return ""
    shown = [f"{one.kind} of {names_of(one.layer).type} with the id {key}" for key, one in reversed(others.items())][:_MOST_NAMED]
    more = f" and {len(others) - len(shown)} more" if len(others) > len(shown) else ""
    meant = names_of(first.layer)
    return f"{text!r} is taken as {first.kind} of {meant.type} {meant.name!r}; it is also {', '.join(shown)}{more} (an id names one layer)"
