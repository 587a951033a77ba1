"""Faults that are put into models at random: conditions on a graph that only some of its layers fulfil."""

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import irshape

_BORDER = ("Const", "Parameter", "Result")


class Injected(NamedTuple):
    """A fault: what it is about, whether it shows on a model, and the most layers without constants, inputs and outputs that it needs."""

    about: str
    shows: Callable[[irshape.Model], bool]
    needs: int


def injected(model: irshape.Model, seed: int) -> Injected | None:
    """A random fault that shows on a model; None if it has no layers for one."""
    random = Random(seed)
    nodes = [node for node in model if node.type not in _BORDER]
    if len(nodes) < 3:
        return None
    return random.choice((_edge, _path, _both, _attribute, _reader))(nodes, random)


def _edge(nodes: list[Any], random: Random) -> Injected | None:
    """One type reads another one."""
    edges = [(one.type, node.type) for node in nodes for one in node.producers if one.type not in _BORDER]
    if not edges:
        return None
    before, after = random.choice(edges)
    return Injected(
        f"{after} reads {before}", lambda model: any(one.type == before for node in model.of_type(after) for one in node.producers), 2
    )


def _path(nodes: list[Any], random: Random) -> Injected | None:
    """Three types follow each other."""
    paths = [
        (first.type, second.type, node.type)
        for node in nodes
        for second in node.producers
        for first in second.producers
        if not {first.type, second.type} & {*_BORDER}
    ]
    if not paths:
        return None
    one, two, three = random.choice(paths)

    def shows(model: irshape.Model) -> bool:
        return any(
            second.type == two and any(first.type == one for first in second.producers)
            for node in model.of_type(three)
            for second in node.producers
        )

    return Injected(f"{one}, {two}, {three}", shows, 3)


def _both(nodes: list[Any], random: Random) -> Injected:
    """Two types that need not be connected."""
    one, other = random.choice(nodes).type, random.choice(nodes).type
    return Injected(f"{one} and {other}", lambda model: bool(model.of_type(one) and model.of_type(other)), 2)


def _attribute(nodes: list[Any], random: Random) -> Injected | None:
    """An attribute has a value."""
    found = [(node.type, name, value) for node in nodes for name, value in node.attributes.items() if isinstance(value, str | int | tuple)]
    if not found:
        return None
    type, name, value = random.choice(found)
    return Injected(f"{type} with {name}={value}", lambda model: any(node.attributes.get(name) == value for node in model.of_type(type)), 1)


def _reader(nodes: list[Any], random: Random) -> Injected | None:
    """A type reads a tensor of some rank at some input."""
    node = random.choice([node for node in nodes if node.inputs])
    inference = irshape.infer(node.model)
    index = random.randrange(len(inference[node].inputs))
    shape = inference[node].inputs[index].shape
    if shape is None:
        return None
    rank, type = len(shape), node.type

    def shows(model: irshape.Model) -> bool:
        found = irshape.infer(model)
        ports = [found[one].inputs for one in model.of_type(type)]
        shapes = [several[index].shape for several in ports if len(several) > index]
        return any(shape is not None and len(shape) == rank for shape in shapes)

    return Injected(f"input {index} of {type} has rank {rank}", shows, 1)
