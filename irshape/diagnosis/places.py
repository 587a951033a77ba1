"""The layers of a file by their places."""

from __future__ import annotations

from bisect import bisect_right

from irshape.inference.engine import Engine
from irshape.model.model import Node


class Places:
    """The layers of a file, in bodies too, by their places; `graphs` has the engine of each graph."""

    def __init__(self, engine: Engine) -> None:
        self.root = engine
        self.graphs = {graph.model: graph for graph in engine.graphs()}
        self._nodes = sorted((node for graph in self.graphs for node in graph.nodes), key=lambda node: node.layer.offset)
        self._offsets = [node.layer.offset for node in self._nodes]

    def at(self, offset: int | None) -> Node | None:
        """The innermost layer that contains a place; None if no layer does."""
        index = -1 if offset is None else bisect_right(self._offsets, offset) - 1
        node = self._nodes[index] if index >= 0 else None
        while node is not None and offset is not None and offset >= node.layer.end:
            node = node.model.holder
        return node
