"""The target of an explanation: a layer, one of its ports, and perhaps an axis; and the error if the model has none such."""

from __future__ import annotations

from collections.abc import Sequence

from irshape.inference.inputs import InputError
from irshape.inference.run import Run
from irshape.model.finding import find, known_names, unknown
from irshape.model.model import Model, Node
from irshape.shape.dim import INT64_MAX
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
            raise InputError(unknown(str(layer), known_names(graphs[0][0])))
        node, named = found
        for what, number in (("port", port), ("axis", axis)):
            if number is not None and not (isinstance(number, int) and abs(number) <= INT64_MAX):
                raise InputError(f"the {what} of layer {node.name!r} must be an int up to {INT64_MAX}")
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
    """The layer that is meant, and the id of the port if its tensor is; None if there is none."""
    found = find(model, str(layer))
    if not found:
        return None
    _, node, output = found[0]
    return node, None if output is None else node.layer.outputs[output].id


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
