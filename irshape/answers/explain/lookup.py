"""The numbers that a pass found, and the places where they stand in the file and in the weights."""

from __future__ import annotations

from typing import Any, Final

from irshape.answers.explain.derivation import NOT_KNOWN, Place, Point
from irshape.answers.explain.rule import is_known
from irshape.inference.facts import Fact
from irshape.inference.inference import Inference
from irshape.model.build import place
from irshape.model.model import Node
from irshape.report.diagnostic import Where
from irshape.shape.dim import Dim
from irshape.shape.value import Real

CONSTANTS: Final = ("Const", "Constant")


class Lookup:
    """Finds the value, the layer and the line of each number of one inference.

    `graphs` are the model and its bodies, each with its run. `number` gives the position of a model among them.
    """

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self.graphs = inference.graphs
        self.number = {model: number for number, (model, _) in enumerate(self.graphs)}
        self._varying: dict[int, set[int]] = {}

    # Numbers.

    def fact(self, point: Point) -> Fact:
        """The fact that the pass found for the point's tensor."""
        return self.graphs[point.graph][1].slots[point.slot]

    def rank(self, point: Point) -> int:
        """The number of axes of the point's tensor; 0 if the rank is unknown."""
        return len(self.fact(point).shape or ())

    def number_of(self, point: Point) -> Any:
        """The value of a point, as the pass found it."""
        fact = self.fact(point)
        if point.kind == "axis":
            return (fact.shape or ())[point.position]
        if point.kind == "element" and is_known(fact):
            return (fact.elements or ())[point.position]
        if point.kind == "type":
            return fact.element_type
        return len(fact.shape) if point.kind == "rank" and fact.shape is not None else NOT_KNOWN

    def is_open(self, point: Point) -> bool:
        """Whether the value of a point is unknown."""
        number = self.number_of(point)
        return isinstance(number, Dim | Real) or number is NOT_KNOWN

    def is_varying(self, graph: int, slot: int) -> bool:
        """Whether a tensor depends on anything other than constants."""
        model = self.graphs[graph][0]
        if graph not in self._varying:
            varying: set[int] = set(model.stubs)
            for node in model:
                if node.type not in CONSTANTS and (not node.sources or any(one < 0 or one in varying for one in node.sources)):
                    varying.update(range(node.first_slot, node.first_slot + node.layer.signature.output_count))
            self._varying[graph] = varying
        return slot in self._varying[graph]

    # Layers and lines.

    def node(self, point: Point) -> Node | None:
        """The node that produces the point's tensor; None if the tensor is an input port of a specification example."""
        model = self.graphs[point.graph][0]
        return None if point.slot in model.stubs else model.nodes[model.producers[point.slot]]

    def of_result(self, result: Node, point: Point) -> Point | None:
        """The same number of the tensor that a Result of a body reads; None if nothing feeds the Result."""
        slot = result.sources[0] if result.sources else -1
        return Point(self.number[result.model], slot, point.kind, point.position) if slot >= 0 else None

    def place(self, node: Node, offset: int | None = None) -> Where:
        """A place in a node's layer, by default its start."""
        model = node.model
        return place(model.document, node.layer, node.layer.offset if offset is None else offset, path=model.path)

    def where(self, point: Point) -> Where:
        """The layer that produces the point's tensor, with its line."""
        node = self.node(point)
        if node is None:
            model = self.graphs[point.graph][0]
            return place(model.document, None, model.stubs[point.slot].offset)
        return self.place(node)

    def name(self, point: Point) -> Where:
        """The layer that produces the point's tensor, without its line: a number may pass through thousands of layers."""
        node = self.node(point)
        if node is None:
            return self.where(point)
        return Where(node.model.document.path, str(node.id), node.name, node.type, path=node.model.path)

    def attribute(self, node: Node, name: str) -> Place:
        """The place of an attribute, or the remark that the layer leaves it to the default."""
        if name in node.layer.attributes and node.layer.data_offset >= 0:
            return Place("attribute", "attribute", node, name)
        return Place("default", f"default, as the layer does not state {name}")

    def at(self, found: Place) -> Where | None:
        """The line of a place; None if the place is in no file."""
        node, offset = found.node, found.offset
        if node is None:
            return place(self.inference.document, None, offset) if offset >= 0 else None
        if found.attribute:
            offset = node.model.document.attribute_offset(node.layer.data_offset, found.attribute)
        return self.place(node, offset if offset >= 0 else None)
