"""Models that are written in another valid order: the same layers, attributes, ids and edges; Parameters and Results keep their order."""

from collections.abc import Iterator
from random import Random
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

_ORDERED = ("parameter", "result")


def shuffled(source: bytes, seed: int) -> bytes:
    """The text of a model with its layers, edges and attributes in another order, those of bodies included."""
    root = ElementTree.fromstring(source)
    random = Random(seed)
    for graph in root.iter():
        graph.attrib = dict(random.sample(list(graph.attrib.items()), len(graph.attrib)))
        layers, edges = graph.find("layers"), graph.find("edges")
        if layers is not None:
            rows = list(edges) if edges is not None else []
            layers[:] = list(_order(list(layers), rows, random))
            if edges is not None:
                random.shuffle(rows)
                edges[:] = rows
    return ElementTree.tostring(root)


def plain(source: bytes) -> bytes:
    """The text of a model as `shuffled` writes it, in its own order."""
    return ElementTree.tostring(ElementTree.fromstring(source))


def _order(layers: list[Element], edges: list[Element], random: Random) -> Iterator[Element]:
    """The layers in a random topological order."""
    needs: dict[str | None, set[str | None]] = {layer.get("id"): set() for layer in layers}
    before: dict[str, str | None] = {}
    for layer in layers:
        type = layer.get("type", "").lower()
        if type in _ORDERED:
            if type in before:
                needs[layer.get("id")].add(before[type])
            before[type] = layer.get("id")
    parameters = {layer.get("id") for layer in layers if layer.get("type", "").lower() == "parameter"}
    for edge in edges:
        if edge.get("to-layer") in needs.keys() - parameters:  # a mutant may have an edge to a Parameter, whose order stays
            needs[edge.get("to-layer")].add(edge.get("from-layer"))
    waiting = {layer.get("id"): layer for layer in layers}
    done: set[str | None] = set()
    while waiting:
        ready = [id for id in waiting if not needs[id] & (waiting.keys() - done)] or list(waiting)  # a cycle is begun anywhere
        for id in random.sample(ready, max(1, len(ready) // 3)):
            done.add(id)
            yield waiting.pop(id)
