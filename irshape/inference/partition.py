"""Partition refinement: the nodes that a change of some inputs reaches, in blocks of nodes that ask the same question.

Nodes with one transfer function and equal input facts have equal outcomes. If tensors that had equal facts before a change have
equal facts after it, the nodes of a block still ask the same question: then the rule runs once for each block, and a pass costs as
much as there are different questions. The pass itself finds out whether this holds. Where two blocks give different facts to tensors
of one class, the pass has failed, and the next partition keeps these tensors apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from irshape.inference.facts import Fact
from irshape.inference.run import NodeReport, Run
from irshape.inference.schedule import Schedule, facts_of, marked, sources_of
from irshape.inference.transfer import Transfer
from irshape.model.model import Node
from irshape.shape.compilation import mypyc_attr


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Block:
    """The positions of nodes that ask the same question, and the first of these nodes.

    `sources` and `outputs` are the classes of its tensors. A block `is_special` if no pure rule gives its outcome; it holds one node.
    """

    __slots__ = ("is_special", "node", "outputs", "positions", "sources", "transfer")

    def __init__(self, node: Node, transfer: Transfer | None, is_special: bool, sources: list[int], outputs: list[int]) -> None:
        self.node = node
        self.transfer = transfer
        self.is_special = is_special
        self.sources = sources
        self.outputs = outputs
        self.positions: list[int] = []


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Partition:
    """The blocks that a change of the nodes in `dirty` reaches, in the order of their first positions.

    Tensors fall into classes. Tensors that the change reaches are of one class if they have equal facts; so are tensors that it does
    not reach, whose facts stay as `facts` has them. `reports` are the reports of the nodes that it does not reach.
    """

    def __init__(
        self, schedule: Schedule, base: Run, dirty: frozenset[int], apart: Mapping[int, int], overrides: Mapping[int, object]
    ) -> None:
        """`base` is the run before the change, `apart` the classes of tensors that a failed pass must keep apart.

        `overrides` names further nodes whose outcome no rule gives.
        """
        self.dirty = dirty
        self.slots = base.slots
        self.last: Run | None = None
        self.unlisted = base.unlisted.copy()
        self.inner = base.inner
        self.classes: dict[int, int] = {}
        self.facts: list[Fact | None] = []
        slots, facts, classes, readers = self.slots, self.facts, self.classes, schedule.readers
        marks = schedule.marks(dirty)
        fixed: dict[Fact, int] = {}
        reached: dict[tuple[int, Fact], int] = {}
        blocks: dict[object, Block] = {}
        for position in marked(marks):
            node, transfer = schedule.nodes[position], schedule.transfers[position]
            self.unlisted.pop(node.index, None)
            sources: list[int] = []
            for slot in sources_of(node):
                number = classes.get(slot, -1)
                if number < 0:
                    number = fixed.setdefault(slots[slot], len(facts))
                    if number == len(facts):
                        facts.append(slots[slot])
                sources.append(number)
            outputs: list[int] = []
            first = node.first_slot
            for slot in range(first, first + node.layer.signature.output_count):
                number = reached.setdefault((apart.get(slot, -1), slots[slot]), len(facts))
                if number == len(facts):
                    facts.append(None)
                classes[slot] = number
                outputs.append(number)
                for reader in readers.get(slot, ()):
                    marks[reader] = True
            is_special = transfer is None or not transfer.is_pure or node.index in overrides
            is_alone = transfer is None or is_special or not transfer.shares(facts_of(node, slots))
            key = position if is_alone else (transfer, *sources, -1, *outputs)
            block = blocks.get(key)
            if block is None:
                block = blocks[key] = Block(node, transfer, is_special, sources, outputs)
            block.positions.append(position)
        self.blocks = list(blocks.values())
        self.reports: dict[int, NodeReport] = {
            position: report for position, report in base.reports.items() if position >= len(marks) or not marks[position]
        }

    def fits(self, run: Run) -> bool:
        """Whether the tensors that the change does not reach still have the facts of the base."""
        return run is self.last or run.is_in(self.slots)

    def begun(self) -> tuple[Run, list[Any]]:
        """A run, and the facts by class; only the facts of classes that the change does not reach are known."""
        run = self.last = Run(None)
        known: list[Any] = list(self.facts)
        run.place = lambda: self.placed(known)
        run.reports = self.reports.copy()
        run.unlisted = self.unlisted.copy()
        run.inner = self.inner.copy()
        return run, known

    def placed(self, known: list[Any]) -> list[Fact]:
        """The facts of all tensors, from the facts of the classes."""
        slots = self.slots.copy()
        for slot, number in self.classes.items():
            slots[slot] = known[number]
        return slots
