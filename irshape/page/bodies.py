"""How bodies of If, Loop and TensorIterator are joined to the graph around them, as the page shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from irshape.model.bodies import Body, bodies_of
from irshape.model.model import Node


def ends_of_bodies(position: Mapping[Node, int]) -> dict[str, Any]:
    """Where the Parameters of bodies take their values from, where the Results of bodies hand theirs to, and the back edges.

    `takes` has a layer, its output, and words for each Parameter, and `gives` has the layer with the body, its output, and words for
    each Result, by position; an output of -1 is none. `back` has a Result and the Parameter that takes its value in the next iteration.
    """
    takes: dict[int, list[Any]] = {}
    gives: dict[int, list[Any]] = {}
    back: list[list[int]] = []
    for node in position:
        for body in bodies_of(node) if node.bodies else ():
            _add(node, body, position, takes, gives, back)
    return {"takes": takes, "gives": gives, "back": back}


def _add(
    node: Node, body: Body, position: Mapping[Node, int], takes: dict[int, list[Any]], gives: dict[int, list[Any]], back: list[list[int]]
) -> None:
    for entry in body.inputs:
        source = node.inputs[entry.external].source if 0 <= entry.external < len(node.inputs) else None
        words = "at first" if entry.back else f"in parts of axis {entry.slice.axis}" if entry.slice else ""
        if source is not None:
            takes[position[entry.parameter]] = [position[source.node], source.index, words]
        if entry.back is not None:
            back.append([position[entry.back], position[entry.parameter]])
    if body.iteration is not None:
        takes[position[body.iteration]] = [position[node], -1, "number of the iteration"]
    if body.condition is not None:
        gives[position[body.condition]] = [position[node], -1, "whether to go on"]
    for index, output in enumerate(body.outputs):
        words = f"output {index}"
        if node.type != "If":
            words += f", parts of axis {output.slice.axis}" if output.slice else ", the last value"
        gives[position[output.result]] = [position[node], index, words]
