"""A graph as boxes and arrows, for other tools: NetworkX, Graphviz, Mermaid."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from irshape.report.diagnostic import clipped

if TYPE_CHECKING:
    import networkx


class Box(NamedTuple):
    """A layer. `path` names the bodies around it, outermost first; `is_faulty` says that it has an error or a warning."""

    key: str
    name: str
    type: str
    version: str
    path: str
    is_faulty: bool


class Arrow(NamedTuple):
    """A connection of two ports, by the keys of their layers, with the element type, the shape in OpenVINO's notation, and its formulas."""

    source: str
    from_port: int
    target: str
    to_port: int
    element_type: str
    shape: str
    formula: str


class Diagram:
    """Boxes, in topological order, and the arrows between them. `center` is the key of the box that a neighbourhood surrounds."""

    def __init__(self, name: str, boxes: Iterable[Box], arrows: Iterable[Arrow], center: str | None = None) -> None:
        self.name = name
        self.boxes = list(boxes)
        self.arrows = list(arrows)
        self.center = center

    def _kept(self, keys: set[str], center: str | None) -> Diagram:
        boxes = (box for box in self.boxes if box.key in keys)
        return Diagram(self.name, boxes, (one for one in self.arrows if one.source in keys and one.target in keys), center)

    def part(self, around: str | None, hops: int, *, constants: bool) -> Diagram:
        """The part that a picture shows: the boxes that are at most `hops` arrows from the one with a key, in either direction.

        Without `around`, these are all boxes. Boxes of type Const are left out unless `constants` is true or the picture is around one:
        constants are half of most models.
        """
        keys = {box.key for box in self.boxes if constants or box.type != "Const" or box.key == around}
        shown = self._kept(keys, around)
        return shown if around is None else shown._kept(shown._near(around, hops), around)

    def _near(self, center: str, hops: int) -> set[str]:
        neighbours: dict[str, list[str]] = {box.key: [] for box in self.boxes}
        for arrow in self.arrows:
            neighbours[arrow.source].append(arrow.target)
            neighbours[arrow.target].append(arrow.source)
        near = last = {center}
        for _ in range(hops):
            last = {one for key in last for one in neighbours[key]} - near
            near = near | last
        return near

    def networkx(self) -> networkx.MultiDiGraph[str]:
        """A node for each box, by its key, and an edge for each arrow, both with the fields as attributes."""
        import networkx

        graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph(name=self.name)
        for box in self.boxes:
            graph.add_node(box.key, name=box.name, type=box.type, version=box.version, path=box.path)
        for source, from_port, target, to_port, element_type, shape, formula in self.arrows:
            graph.add_edge(source, target, from_port=from_port, to_port=to_port, element_type=element_type, shape=shape, formula=formula)
        return graph

    def dot(self) -> str:
        """The text of a picture for Graphviz. Each body is a cluster, a faulty layer is red."""
        lines = ["digraph {", '  node [shape=box, style="rounded,filled", fillcolor=white]', "  edge [fontsize=10]"]
        for path, boxes in self._by_path():
            if path:
                lines += [f"  subgraph {_quoted(f'cluster {path}')} {{", f"  label={_quoted(path)}"]
            for box in boxes:
                mark = ", color=red, fillcolor=mistyrose" if box.is_faulty else ""
                mark += ", penwidth=3" if box.key == self.center else ""
                lines.append(f"  {_quoted(box.key)} [label={_quoted(box.type, box.name)}{mark}]")
            if path:
                lines.append("  }")
        for arrow in self.arrows:
            label = _quoted(f"{arrow.element_type}{arrow.formula}")
            lines.append(f"  {_quoted(arrow.source)} -> {_quoted(arrow.target)} [label={label}]")
        return "\n".join([*lines, "}", ""])

    def mermaid(self) -> str:
        """The text of a picture for Mermaid. Each body is a subgraph, a faulty layer is red."""
        lines = ["flowchart TD"]
        names = {box.key: f"n{number}" for number, box in enumerate(self.boxes)}
        for number, (path, boxes) in enumerate(self._by_path()):
            if path:
                lines.append(f"  subgraph g{number}[{_entities(path)}]")
            lines += [f"  {names[box.key]}[{_entities(box.type, box.name)}]" for box in boxes]
            if path:
                lines.append("  end")
        for arrow in self.arrows:
            label = _entities(f"{arrow.element_type}{arrow.formula}")
            lines.append(f"  {names[arrow.source]} -->|{label}| {names[arrow.target]}")
        lines += [f"  style {names[box.key]} fill:#ffe4e1,stroke:#cc0000" for box in self.boxes if box.is_faulty]
        if self.center is not None:
            lines.append(f"  style {names[self.center]} stroke-width:3px")
        return "\n".join([*lines, ""])

    def _by_path(self) -> list[tuple[str, list[Box]]]:
        groups: dict[str, list[Box]] = {}
        for box in self.boxes:
            groups.setdefault(box.path, []).append(box)
        return list(groups.items())


def _quoted(*lines: str) -> str:
    """Lines as a string of Graphviz."""
    escaped = (clipped(line).replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") for line in lines)
    return '"' + "\\n".join(escaped) + '"'


def _entities(*lines: str) -> str:
    """Lines as a string of Mermaid, in which every character that may have a meaning is an entity."""
    plain = " _-.,:/()[]*+?="
    texts = ("".join([one if one.isalnum() or one in plain else f"#{ord(one)};" for one in clipped(line)]) for line in lines)
    return '"' + "<br>".join(texts) + '"'
