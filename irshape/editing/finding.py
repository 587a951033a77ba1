"""The layers and tensors that a text names in a graph that can be edited and in its bodies."""

from __future__ import annotations

import re
from collections.abc import Iterator

from irshape.editing.draft import GraphDraft
from irshape.editing.state import EditError, Item, Value
from irshape.model.finding import TENSOR, Meaning, Names, fused_of, meanings, split_names, unknown, variable_of
from irshape.report.text import counted
from irshape.xml.lexical import BODIES


def found(draft: GraphDraft, text: str, *, by_name: bool = False) -> tuple[GraphDraft, list[Meaning[Item]]]:
    """The layers that a text names, the one that it means first, and the graph that they are in.

    A layer of the graph itself comes first. A layer in a body has the ids around it, `2.body/5`, or the names, `loop / body / step`.
    """
    items = sorted(draft.state.items.values(), key=lambda item: item.place)
    fused = _fused if b"fused_names" in draft.model.document.source else None
    own = meanings(text, items, names_of, fused, by_name=by_name)
    if own:
        return draft, own
    holders = draft.of_type(*BODIES)
    way = re.fullmatch(r"(\d{1,18})\.(\w+)/(.+)", text, re.ASCII)
    for item in holders:
        if way is not None and item.id == int(way[1]) and way[2] in item.held:
            return found(draft.body(item, way[2]), way[3], by_name=by_name)
    for item in holders:
        for name, body in item.held.items():
            path = f"{body.path} / "
            if any(text in graph for graph in body.graphs()) or name in item.bodies or text.startswith(path):
                inner, known = found(draft.body(item, name), text.removeprefix(path), by_name=by_name)
                if known:
                    return inner, known
    return draft, []


def found_output(draft: GraphDraft, text: str, *, by_name: bool = False) -> tuple[GraphDraft, Value, list[Meaning[Item]]] | None:
    """The tensor that a text names, the graph that it is in, and all that the text names.

    It is the tensor of this name, the output of the layer that the text names, or `LAYER:PORT`. A Result stands for the tensor that it
    reads. Raises `EditError` for a layer of several outputs.
    """
    (inner, known), port = found(draft, text, by_name=by_name), ""
    if not known:
        layer, _, port = text.rpartition(":")
        inner, known = found(draft, layer, by_name=by_name) if port.isdecimal() else (draft, [])
        known = [one for one in known if one.kind != TENSOR] or known
    if not known:
        return None
    _, item, output = known[0]
    if output is not None:
        return inner, item.outputs[output], known
    if not item.outputs and item.inputs and item.inputs[0] is not None:
        return inner, item.inputs[0], known
    outputs = [value for value, id in zip(item.outputs, item.output_ids, strict=True) if port in ("", str(id))]
    if len(outputs) != 1:
        ports = " or ".join(f":{id}" for id in item.output_ids)
        raise EditError(f"{item!r} has {counted(len(item.outputs), 'output')}{ports and f': name one, with {ports} behind the layer'}")
    return inner, outputs[0], known


def unknown_layer(draft: GraphDraft, text: str, thing: str = "layer") -> KeyError:
    """The error for a text that names nothing."""
    return KeyError(unknown(text, _known(draft), thing))


def _known(draft: GraphDraft) -> Iterator[str]:
    items = draft.state.items.values()
    yield from (item.name for item in items)
    yield from (name for item in items for value in item.outputs for name in split_names(value.names))


def names_of(item: Item) -> Names:
    """What a layer of a draft may be called."""
    return Names(str(item.id), item.type, item.name, [value.names for value in item.outputs], variable_of(item.type, item.attributes))


def _fused(item: Item) -> str:
    return "" if item.origin is None else fused_of(item.origin)
