"""The layers of a draft and of the bodies in it, found by their ids and names."""

from __future__ import annotations

import re

from irshape.editing.draft import GraphDraft
from irshape.editing.state import Item
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
