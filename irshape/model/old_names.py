"""The names of inputs and outputs in IR version 10, which are names of tensors, too: OpenVINO refuses a file in which they collide."""

from __future__ import annotations

from collections.abc import Iterator

from irshape.model.model import Model, Node


def collisions(model: Model) -> Iterator[tuple[Node, str]]:
    """Each input and output of the net that OpenVINO refuses for its names, once, with a message.

    OpenVINO gives the tensor of an input the name of the layer, and so the tensor that a Result takes. A name may be that of one tensor.
    """
    results = [node.sources[0] for node in model.results if node.sources and node.sources[0] >= 0]
    leaves = {node.first_slot: node for node in model.parameters if node.outputs}
    leaves.update({slot: model.nodes[model.producers[slot]] for slot in results})
    names: dict[int, list[str]] = {}
    holders: dict[str, set[int]] = {}
    for slot, node in leaves.items():
        place = slot - node.first_slot
        own = node.name if len(node.outputs) == 1 else f"{node.name}.{place}"
        names[slot] = [own, *node.outputs[place].names]
        for name in names[slot]:
            holders.setdefault(name, set()).add(slot)
    for slot, node in leaves.items():
        own, *others = names[slot]
        count = results.count(slot) + (node.type == "Parameter")
        if others and count > 1:
            yield node, f"the tensor {others[0]!r} is {count} inputs and outputs, and only one of them can have its name"
        elif rest := {other for other in holders[own] - {slot} if own == names[other][0] or other == _first(model, own)}:
            other = model.nodes[model.producers[min(rest)]]
            yield node, f"the tensor of this input or output is named {own!r}, and so is that of layer {other.id}"


def _first(model: Model, name: str) -> int:
    """The first tensor with a name. OpenVINO gives the others another one."""
    return next(node.first_slot + place for node in model for place, port in enumerate(node.outputs) if name in port.names)
