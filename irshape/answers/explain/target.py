"""The target of an explanation: a layer, one of its ports, and perhaps an axis; and the error if the model has none such."""

from __future__ import annotations

from collections.abc import Sequence

from irshape.inference.inputs import InputError
from irshape.inference.run import Run
from irshape.model.model import Model, Node
from irshape.xml.document import Port


class Target:
    """A port of a node, by its id in the file; `slot` is its tensor, and `axis` None means the whole port."""

    __slots__ = ("axis", "node", "port", "slot")

    def __init__(self, node: Node, port: int, slot: int, axis: int | None) -> None:
        self.node = node
        self.port = port
        self.slot = slot
        self.axis = axis

    @classmethod
    def find(cls, graphs: Sequence[tuple[Model, Run]], layer: str | int, port: int | None, axis: int | None) -> Target:
        """Find a target in a model, the first of the graphs. A negative axis counts from the end. Raises InputError."""
        found = find_layer(graphs[0][0], layer)
        if found is None:
            raise InputError(_unknown_layer(graphs[0][0], str(layer)))
        node, named = found
        record, slot = _find_port(node, named if port is None else port)
        shape = next(run.slots[slot].shape for model, run in graphs if model is node.model)
        if axis is not None and shape is not None and not -len(shape) <= axis < len(shape):
            axes = f"it has axes 0 to {len(shape) - 1}" if shape else "it is a scalar"
            raise InputError(f"port {record.id} of layer {node.name!r} has no axis {axis}; {axes}")
        return cls(node, record.id, slot, None if axis is None or shape is None else axis % len(shape))


def _find_port(node: Node, port: int | None) -> tuple[Port, int]:
    """A port and its tensor; by default the first output, or of a layer without outputs the first input."""
    layer = node.layer
    outputs = list(enumerate(layer.outputs, node.first_slot))
    ports = [(record, slot) for slot, record in outputs] + list(zip(layer.inputs, node.sources, strict=True))
    found = next(((record, slot) for record, slot in ports if port in (None, record.id)), None)
    if found is None:
        kinds = (("output", layer.outputs), ("input", layer.inputs))
        existing = " and ".join(f"{kind} {', '.join(str(one.id) for one in own)}" for kind, own in kinds if own)
        missing = "ports" if port is None else f"port {port}; it has {existing or 'none'}"
        raise InputError(f"layer {node.name!r} has no {missing}")
    if found[1] < 0:
        raise InputError(f"no layer feeds input port {found[0].id} of layer {node.name!r}")
    return found


def find_layer(model: Model, layer: str | int) -> tuple[Node, int | None] | None:
    """A layer by its id (in a body `2.body/5`), its name, the name of a tensor, or a name that OpenVINO fused into it (`fused_names`).

    Of several layers with one name, it is the first of the outermost. The name of a tensor also gives the id of its port.
    """
    nodes = [node for graph in model.graphs() for node in graph.nodes if not node.is_dropped]
    key = str(layer)
    for node in nodes:
        if node.key == key:
            return node, None
    for node in nodes:
        if node.name == key:
            return node, None
    for node in nodes:
        for port in node.outputs:
            if port.record.names is not None and key in port.names:
                return node, port.id
    if b"fused_names" in model.document.source and key:
        for node in nodes:
            fused = node.rt_info.get("fused_names")
            if fused is not None and key in str(fused.get("value") if isinstance(fused, dict) else fused).split(","):
                return node, None
    return None


def parse_target(model: Model, text: str) -> tuple[str, int | None, int | None]:
    """Layer, port and axis of `LAYER[:PORT[:AXIS]]`. A name may hold colons: the longest name that exists is meant."""
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

    nodes = [node for graph in model.graphs() for node in graph.nodes]
    known = [node.name for node in nodes if node.name] + [name for node in nodes for port in node.outputs for name in port.names]
    close = get_close_matches(name, known[:20_000], 3) or [one for one in known if name and name.lower() in one.lower()][:3]
    hint = f"; did you mean {' or '.join(map(repr, dict.fromkeys(close)))}?" if close else ""
    return f"the model has no layer {name!r}{hint}"
