"""The layers of a draft and of the bodies in it, found by their ids and names."""

from __future__ import annotations

import re

from irshape.editing.draft import GraphDraft
from irshape.editing.state import EditError, Item, Value
from irshape.report.text import counted
from irshape.xml.lexical import BODIES


def found(draft: GraphDraft, key: str | int) -> tuple[GraphDraft, Item] | None:
    """The layer of an id or a name, and the graph that it is in."""
    state = draft.state
    if isinstance(key, int):
        return (draft, state.items[key]) if key in state.items else None
    own = state.named(key)
    if own is None and key.isdecimal() and key.isascii():
        own = state.items.get(int(key))
    if own is not None:
        return draft, own
    holders = [item for item in draft.of_type(*BODIES) if item.base is not None]
    way = re.fullmatch(r"(\d+)\.(\w+)/(.+)", key, re.ASCII)
    for item in holders:
        if way is not None and item.base is not None and item.id == int(way[1]) and way[2] in item.base.bodies:
            return found(draft.body(item, way[2]), way[3])
    for item in holders:
        for name, body in item.base.bodies.items() if item.base is not None else ():
            path = f"{body.path} / "
            if any(key in graph for graph in body.graphs()) or name in item.bodies or key.startswith(path):
                inner = found(draft.body(item, name), key.removeprefix(path))
                if inner is not None:
                    return inner
    return None


def found_output(draft: GraphDraft, name: str) -> tuple[GraphDraft, Value] | None:
    """The tensor of a name, or the output of the layer of a name, and the graph that it is in. Raises `EditError` for several outputs."""
    value = draft.tensor(name)
    if value is not None:
        return draft, value
    known, port = found(draft, name), ""
    if known is None:
        layer, _, port = name.rpartition(":")
        known = found(draft, layer) if port.isdecimal() else None
    if known is None:
        return None
    inner, item = known
    outputs = [value for value, id in zip(item.outputs, item.output_ids, strict=True) if port in ("", str(id))]
    if len(outputs) != 1:
        ports = " or ".join(f":{id}" for id in item.output_ids)
        raise EditError(f"{item!r} has {counted(len(item.outputs), 'output')}{ports and f': name one, with {ports} behind the layer'}")
    return inner, outputs[0]
