"""Blocks that are equal up to names and numbers, such as the 48 layers of a transformer, for reports that show one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from irshape.answers.hierarchy.hierarchy import Hierarchy
from irshape.inference.inference import Inference
from irshape.model.model import Node


class Blocks(NamedTuple):
    """Equal blocks: their name, and the layers of each block in the order of the file."""

    name: str
    blocks: list[list[Node]]

    @property
    def title(self) -> str:
        """The number of the blocks and their name, as the page shows them; single layers also have their names."""
        first, last = self.blocks[0][0], self.blocks[-1][0]
        names = f": {first.name} … {last.name}" if len(self.blocks[0]) == 1 else ""
        return f"{len(self.blocks)} \N{MULTIPLICATION SIGN} {self.name}{names}"


def hierarchy_of(inference: Inference, ports: Mapping[str, object], formulas: Mapping[str, str]) -> Hierarchy:
    """The hierarchy of the layers of an inference, in which blocks are equal only if their shapes and formulas are, too.

    `ports` and `formulas` are those of the inference, which takes long to make them.
    """

    def shapes(node: Node) -> tuple[object, ...]:
        keys = node.model.port_keys[node.first_slot : node.first_slot + node.layer.signature.output_count]
        return tuple([(ports.get(key), formulas.get(key)) for key in keys])

    faulty = {(one.where.path, one.where.layer_id) for one in inference.diagnostics}
    nodes = [node for graph in inference.model.graphs() for node in graph.nodes if (graph.path, str(node.id)) in faulty] if faulty else []
    return Hierarchy(inference.model, nodes, shapes, is_folded=True)


def members(hierarchy: Hierarchy) -> list[list[int]]:
    """The members of each group: layers by their position, groups as -1 minus their number. The last list has those in no group."""
    found: list[list[int]] = [[] for _ in (*hierarchy.groups, None)]
    for position, group in enumerate(hierarchy.group_of):
        found[group].append(position)
    for number, one in enumerate(hierarchy.groups):
        found[one.parent].append(-1 - number)
    return found


def equal_blocks(hierarchy: Hierarchy) -> Iterator[Blocks]:
    """All blocks that repeat, the outer ones first."""
    below = members(hierarchy)

    def layers(member: int) -> list[int]:
        found, pending = [], [member]
        while pending:
            one = pending.pop()
            if one >= 0:
                found.append(one)
            else:
                pending += below[-1 - one]
        return sorted(found)

    for number, group in enumerate(hierarchy.groups):
        if group.repeats:
            drawn = [one for one in below[number] if one < 0 or hierarchy.nodes[one] not in hierarchy.hidden]
            if len(drawn) == group.repeats:
                yield Blocks(group.name, [[hierarchy.nodes[one] for one in layers(member)] for member in sorted(drawn, key=layers)])
