"""What OpenVINO checks of IR version 10 alone: the names of inputs and outputs, and `<pre-process>`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod

from irshape.model.model import Model, Node
from irshape.ops.infrastructure import Parameter
from irshape.shape.element_type import ElementType
from irshape.xml.document import PreProcess


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


_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_RANKS = range(2, 6)


def faults(model: Model, given: PreProcess) -> Iterator[str]:
    """Why OpenVINO refuses a `<pre-process>`."""
    node = model.parameters_by_name.get(given.reference) if given.reference else next(iter(model.parameters), None)
    if node is None:
        yield f"the model has no input {given.reference!r}, which reference-layer-name names"
        return
    op = model.shared_op(Parameter, node.layer.signature)
    assert isinstance(op, Parameter)
    shape = op.shape
    if shape is None or any(low != high for low, high in shape):
        yield f"the shape of the input {node.name!r} must be static"
    elif len(shape) not in _RANKS:
        yield f"the input {node.name!r} must have rank {_RANKS[0]} to {_RANKS[-1]}, got rank {len(shape)}"
    else:
        yield from _means(given, node, [int(low) for low, _ in shape], is_f32=op.element_type is ElementType.f32)


def _means(given: PreProcess, node: Node, sizes: list[int], *, is_f32: bool) -> Iterator[str]:
    """What is wrong of the means of channels. How long an image is, is known for inputs of f32."""
    axis = 0 if len(sizes) == 3 else 1
    count, image = sizes[axis], 4 * prod(sizes[axis + 1 :])
    values: set[int] = set()
    images: set[int] = set()
    last = -1
    for id, mean in given.channels:
        if id is not None and not (id.isascii() and id.isdigit()):
            yield f"the id {id[:60]!r} of a channel is not a whole number"
            return
        last = last + 1 if id is None else int(id[:20])
        if mean is None:
            continue
        value, size = mean.get("value"), mean.get("size")
        if value is None and size is None:
            yield f"the mean of channel {last} has neither a value nor a size"
        elif value and not _NUMBER.fullmatch(value):
            yield f"the mean {value[:60]!r} of channel {last} is not a number"
        elif size is not None and not (size.isascii() and size.isdigit()):
            yield f"the size {size[:60]!r} of the mean of channel {last} is not a whole number"
        elif size is not None and "offset" in mean and is_f32 and int(size[:20]) != image:
            yield f"the mean of channel {last} must have {image} bytes, 4 for each element of the channel, got {size}"
        else:
            values |= {last} if value is not None else set()
            images |= {last} if size is not None and "offset" in mean else set()
    found = values or images
    if values and images:
        yield "the means of the channels must all be values or all be images"
    elif found and len(found) != count:
        yield f"the input {node.name!r} has {count} channels, but {len(found)} have a mean"
    elif found and max(found) >= count:
        yield f"channel {max(found)} has a mean, but the input {node.name!r} has {count} channels"
