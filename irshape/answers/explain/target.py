"""What is asked for: a layer, one of its ports, an axis of that; and what there is where it does not exist."""

from __future__ import annotations

from collections.abc import Sequence

from irshape.inference.inputs import InputError
from irshape.inference.run import Run
from irshape.model.model import Model, Node
from irshape.xml.document import Port


class Target:
    """A port of a node, by its id in the file, with the tensor behind it (`slot`), and an axis of it, or None for all of it."""

    __slots__ = ("axis", "node", "port", "slot")

    def __init__(self, node: Node, port: int, slot: int, axis: int | None) -> None:
        self.node = node
        self.port = port
        self.slot = slot
        self.axis = axis

    @classmethod
    def find(cls, graphs: Sequence[tuple[Model, Run]], layer: str | int, port: int | None, axis: int | None) -> Target:
        """What these mean in a model, the first of the graphs. An axis may be counted from the end. Raises InputError."""
        node = find_layer(graphs[0][0], layer)
        if node is None:
            raise InputError(_unknown_layer(graphs[0][0], str(layer)))
        record, slot = _find_port(node, port)
        shape = next(run.slots[slot].shape for model, run in graphs if model is node.model)
        if axis is not None and shape is not None and not -len(shape) <= axis < len(shape):
            there = f"axes 0 to {len(shape) - 1}" if shape else "no axes"
            raise InputError(f"port {record.id} of {node.name!r} has {there}, not {axis}")
        return cls(node, record.id, slot, None if axis is None or shape is None else axis % len(shape))


def _find_port(node: Node, port: int | None) -> tuple[Port, int]:
    """A port, by default the first output or input, and the tensor behind it."""
    layer = node.layer
    outputs = list(enumerate(layer.outputs, node.first_slot))
    ports = [(record, slot) for slot, record in outputs] + list(zip(layer.inputs, node.sources, strict=True))
    found = next(((record, slot) for record, slot in ports if port in (None, record.id)), None)
    if found is None:
        kinds = (("output", layer.outputs), ("input", layer.inputs))
        there = " and ".join(f"{kind} {', '.join(str(one.id) for one in own)}" for kind, own in kinds if own)
        what = "ports" if port is None else f"port {port}; it has {there or 'none'}"
        raise InputError(f"layer {node.name!r} has no {what}")
    if found[1] < 0:
        raise InputError(f"nothing that is known feeds input port {found[0].id} of {node.name!r}")
    return found


def find_layer(model: Model, layer: str | int) -> Node | None:
    """A layer by its id, inside a body with those around it (`2.body/5`), or by its name; the outermost and first of several."""
    nodes = [node for graph in model.graphs() for node in graph.nodes if not node.is_dropped]
    key = str(layer)
    by_id = next((node for node in nodes if node.key == key), None)
    return by_id or next((node for node in nodes if node.name == layer), None)


def parse_target(model: Model, text: str) -> tuple[str, int | None, int | None]:
    """Layer, port and axis of `LAYER[:PORT[:AXIS]]`. A name may hold colons: the longest one that is there is meant."""
    name = text
    numbers: list[int] = []
    while find_layer(model, name) is None and len(numbers) < 2:
        name, colon, number = name.rpartition(":")
        if not colon or not _is_number(number):
            return f"{name}{colon}{number}", None, None
        numbers.insert(0, int(number))
    port, axis = (*numbers, None, None)[:2]
    return name, port, axis


def _is_number(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and text.isascii() and len(text) < 10


def _unknown_layer(model: Model, name: str) -> str:
    from difflib import get_close_matches

    known = [node.name for graph in model.graphs() for node in graph.nodes if node.name]
    close = get_close_matches(name, known[:20_000], 3) or [one for one in known if name and name.lower() in one.lower()][:3]
    hint = f"; did you mean {' or '.join(map(repr, dict.fromkeys(close)))}?" if close else ""
    return f"the model has no layer {name!r}{hint}"
