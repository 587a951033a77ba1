"""The hierarchy of a graph: its layers in nested groups, so small that each can be drawn.

Groups come from the names of layers (`block1/conv/weights`, `__module.encoder.0/aten::add/Add`). A layer whose name says nothing
(`Multiply_98235`) joins a layer that reads it. A group with too many members is cut into parts, in topological order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from irshape.model.model import Model, Node

# The members of a group that is drawn at once; a layout takes a second for about 300.
_MOST_MEMBERS: Final = 40
# Names are split into so many groups at most, because a hostile name may have a million slashes.
_MOST_LEVELS: Final = 16
_SLASHES: Final = re.compile("/+")
_GENERATED: Final = re.compile(r"[A-Za-z]\w*_\d+(?:_\w+)?")


class Group(NamedTuple):
    """A group of layers: its name, and the number of the group around it (-1 in no group).

    `holder` is the position of the layer whose body the group is, -1 for any other group.
    """

    parent: int
    name: str
    holder: int = -1


class Hierarchy:
    """The groups of a model and its bodies, and the group of each layer (-1 in none), by position.

    `nodes` are the layers of all graphs; those of one graph stand together, in topological order. A layer of `hidden` is not drawn: it
    depends on constants alone.
    """

    def __init__(self, model: Model, faulty: Iterable[Node] = ()) -> None:
        self.nodes: list[Node] = []
        self.groups: list[Group] = []
        self.hidden: set[Node] = set()
        shown = set(faulty)
        self.position: dict[Node, int] = {}
        for graph in model.graphs():
            ordered = list(dict.fromkeys([*graph, *graph.nodes]))
            for node in ordered:
                if node not in shown and _is_constant(node, self.hidden):
                    self.hidden.add(node)
                self.position[node] = len(self.nodes)
                self.nodes.append(node)
        self.group_of = [-1] * len(self.nodes)
        for graph in model.graphs():
            root = -1
            if graph.holder is not None:
                root = self._new_group(-1, graph.name, self.position[graph.holder])
            ordered = sorted(graph.nodes, key=self.position.__getitem__)
            self._arrange(_tree([node for node in ordered if node not in self.hidden]), root)
            for node in reversed(ordered):  # a hidden layer stands where its reader does
                if node in self.hidden:
                    self.group_of[self.position[node]] = next((self.group_of[self.position[one]] for one in node.consumers), root)

    def path(self, node: Node) -> list[str]:
        """The names of the groups around a layer, outermost first."""
        names = []
        group = self.group_of[self.position[node]]
        while group >= 0:
            names.append(self.groups[group].name)
            group = self.groups[group].parent
        return names[::-1]

    def _new_group(self, parent: int, name: str, holder: int = -1) -> int:
        self.groups.append(Group(parent, name, holder))
        return len(self.groups) - 1

    def _arrange(self, tree: _Tree, group: int) -> None:
        """Give the layers of a tree their groups; the layers and the trees in it become members of `group`."""
        members = [
            (self.position[member] if isinstance(member, Node) else member.first(self.position), member) for member in tree.members()
        ]
        self._place([member for _, member in sorted(members, key=lambda one: one[0])], group)

    def _place(self, members: Sequence[Node | _Tree], group: int) -> None:
        parts = [members]
        if len(members) > _MOST_MEMBERS:
            size = -(-len(members) // min(_MOST_MEMBERS, -(-len(members) // _MOST_MEMBERS)))
            parts = [members[begin : begin + size] for begin in range(0, len(members), size)]
        for number, part in enumerate(parts, 1):
            own = group if len(parts) == 1 else self._new_group(group, f"part {number} of {len(parts)}")
            if len(part) > _MOST_MEMBERS:
                self._place(part, own)
                continue
            for member in part:
                if isinstance(member, Node):
                    self.group_of[self.position[member]] = own
                else:
                    self._arrange(member, self._new_group(own, member.name))


class _Tree:
    """Layers by the parts of their names."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.layers: list[Node] = []
        self.trees: dict[str, _Tree] = {}

    def add(self, path: Sequence[str], node: Node) -> None:
        tree = self
        for part in path:
            tree = tree.trees.setdefault(part, _Tree(part))
        tree.layers.append(node)

    def members(self) -> list[Node | _Tree]:
        """The layers and the trees in this one; a tree with one member is left out for the member."""
        return [*self.layers, *(tree.least() for tree in self.trees.values())]

    def least(self) -> Node | _Tree:
        """The only layer of a tree, or the tree in it that has several members, under the joined name."""
        tree, names = self, [self.name]
        while len(tree.trees) == 1 and not tree.layers:
            (tree,) = tree.trees.values()
            names.append(tree.name)
        if len(tree.layers) == 1 and not tree.trees:
            return tree.layers[0]
        tree.name = "/".join(names)
        return tree

    def first(self, position: dict[Node, int]) -> int:
        """The position of the first layer."""
        found = [position[self.layers[0]]] if self.layers else []
        return min([*found, *(tree.first(position) for tree in self.trees.values())])


def _tree(nodes: Sequence[Node]) -> _Tree:
    """The layers of one graph, in topological order, by the parts of their names; inputs and results stand outside all groups."""
    paths: dict[Node, list[str]] = {}
    adopted = []
    for node in nodes:
        if node.type in ("Parameter", "Result"):
            paths[node] = []
        elif _GENERATED.fullmatch(node.name):
            adopted.append(node)
        else:
            paths[node] = _parts(node.name)
    for node in reversed(adopted):
        near = next((paths[one] for one in node.consumers if paths.get(one)), None)
        if near is not None:
            paths[node] = near
    for node in adopted:
        if node not in paths:
            paths[node] = next((paths[one] for one in node.producers if one in paths), [])
    tree = _Tree()
    for node in nodes:
        tree.add(paths[node], node)
    return tree


def _parts(name: str) -> list[str]:
    """The groups that a name states, outermost first."""
    *groups, _ = _SLASHES.split(name.strip("/")[:1000], _MOST_LEVELS)
    if groups and groups[0].startswith("__module."):  # the path of a module of PyTorch
        groups[:1] = groups[0].split(".", _MOST_LEVELS)[1:]
    # An operator of PyTorch is no group: a module may call it many times.
    return [group for group in groups if "::" not in group]


def _is_constant(node: Node, constant: set[Node]) -> bool:
    """Whether a layer depends on constants alone; `constant` has the layers before it that do."""
    if node.type == "Const":
        return True
    producers = node.producers
    return (
        bool(producers) and len(producers) == len(node.sources) and not node.bodies and node.type != "Result" and constant >= set(producers)
    )
