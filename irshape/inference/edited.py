"""The element of a constant that contradicts recorded shapes: with another value there, the layer gives the shapes that it records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from irshape.inference.engine import Engine
from irshape.inference.facts import Fact
from irshape.inference.recorded import fits
from irshape.inference.schedule import facts_of
from irshape.model.build import place
from irshape.model.model import Node
from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import ERROR, Where
from irshape.shape.shape import Shape

_CONSTANTS: Final = ("Const", "Constant")
# The most elements of a constant that are tried, and the most layers between it and the layer.
_MOST_ELEMENTS: Final = 16
_MOST_BETWEEN: Final = 4


class Edited(NamedTuple):
    """An element of a constant that may be wrong, in words, and the place of the constant."""

    text: str
    place: Where


class _Way(NamedTuple):
    """A constant, and the layers from it to the one that reads sizes from it, each with the position of the input."""

    constant: Node
    steps: tuple[tuple[Node, int], ...]


def edited(graph: Engine, node: Node) -> Edited | None:
    """The one element of a constant that contradicts the shapes that the outputs of a node record; None if there is none."""
    recorded = [port.dims for port in node.layer.outputs]
    numbers = {dim for dims in recorded for dim in dims or () if dim >= 0}
    if not numbers or any(fact.is_poisoned for fact in facts_of(node, graph.slots)):
        return None
    computed = [graph.slots[slot].shape for slot in range(node.first_slot, node.first_slot + len(recorded))]
    for way in _ways(graph, node):
        elements = graph.slots[way.constant.first_slot].elements or ()
        for position, element in enumerate(elements if len(elements) <= _MOST_ELEMENTS else ()):
            if type(element) is not int:
                continue
            for value in sorted(_candidates(element, numbers, recorded, computed)):
                if _gives(graph, way, position, value, recorded):
                    return _said(graph, way.constant, position, (element, value), recorded)
    return None


def _said(graph: Engine, constant: Node, position: int, numbers: tuple[int, int], recorded: list[tuple[int, ...] | None]) -> Edited:
    layer, (old, new) = constant.layer, numbers
    where = place(graph.model.document, layer, layer.offset, None, graph.model.path)
    shapes = " and ".join(f"[{','.join('?' if dim < 0 else str(dim) for dim in dims)}]" for dims in recorded if dims is not None)
    text = f"element {position} of {layer.type} {layer.name!r} (line {where.line}) is {old}"
    return Edited(f"{text}; with {new} the layer gives {shapes}, which it records", where)


def _candidates(element: int, numbers: set[int], recorded: list[tuple[int, ...] | None], computed: list[Shape]) -> set[int]:
    """The values that may be right for an element: numbers that are recorded, and those that differ as the shapes do."""
    found = set(numbers)
    for dims, shape in zip(recorded, computed, strict=True):
        for dim, size in zip(dims or (), shape or (), strict=False):
            if dim >= 0 and type(size) is int and size != dim:
                found |= {element + dim - size, element - dim + size}
                found |= {element * dim // size} if size and element * dim % size == 0 else set()
    return found - {element}


def _ways(graph: Engine, node: Node) -> Iterator[_Way]:
    """The constants from which a node reads elements, nearest first."""
    model = graph.model
    pending: list[tuple[tuple[Node, int], ...]] = [
        ((node, position),)
        for position in range(len(node.sources))
        if node.op is not None and (port := node.op.input_at(position, len(node.sources))) is not None and port.value
    ]
    while pending:
        steps = pending.pop(0)
        reader, position = steps[0]
        slot = reader.sources[position]
        if not 0 <= slot < len(model.producers) or graph.slots[slot].elements is None:
            continue
        producer = model.nodes[model.producers[slot]]
        if producer.type in _CONSTANTS:
            yield _Way(producer, steps)
        elif len(steps) <= _MOST_BETWEEN:
            pending += [((producer, one), *steps) for one in range(len(producer.sources))]


def _gives(graph: Engine, way: _Way, position: int, value: int, recorded: list[tuple[int, ...] | None]) -> bool:
    """Whether the layer at the end of a way passes with this element of the constant, and gives the recorded shapes."""
    fact = graph.slots[way.constant.first_slot]
    elements = tuple([value if index == position else one for index, one in enumerate(fact.elements or ())])
    changed: Mapping[int, Fact] = {
        way.constant.first_slot: graph.facts.intern(fact.element_type, fact.shape, elements, is_literal=fact.is_literal)
    }
    schedule = graph.schedule
    outputs: tuple[Fact, ...] = ()
    for node, _ in way.steps:
        transfer = schedule.transfers[schedule.positions[node.index]]
        if transfer is None or not transfer.is_pure:
            return False
        facts = tuple([changed.get(slot, graph.slots[slot]) for slot in node.sources])
        outcome = graph.rules.apply(node, transfer, facts)
        outputs = outcome.outputs
        if any(CATALOGUE[found.code].severity == ERROR or found.code == "R401" for found in outcome.findings):
            return False
        changed = dict(enumerate(outputs, node.first_slot))
    pairs = list(zip(recorded, outputs, strict=False))
    return all(not fact.is_poisoned and (dims is None or fits(dims, fact.shape)) for dims, fact in pairs)
