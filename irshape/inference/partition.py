"""The turns that a change of some inputs reaches, put together where they ask the same.

Nodes of one kind whose inputs know the same give the same answer. If, after a change, all tensors that knew the same before know the
same again, that holds again; so one node of each group is asked, and a pass costs as much as there are different questions, however
many layers ask them. Whether it holds is seen on the way: where two groups tell different things of tensors that knew the same, the
pass was in vain, and the next groups tell these tensors apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from irshape.inference.apply import UNSHARED, Transfer
from irshape.inference.facts import Fact
from irshape.inference.run import NodeReport, Run
from irshape.inference.schedule import facts_of, sources_of
from irshape.model.model import Node


class Block:
    """Turns that ask the same: the first and its node, their kind, the numbers of their inputs and outputs, and all turns.

    `is_special` says that no rule is asked, but the node itself.
    """

    __slots__ = ("is_special", "node", "outputs", "position", "positions", "sources", "transfer")

    def __init__(
        self, position: int, node: Node, transfer: Transfer | None, is_special: bool, sources: list[int], outputs: list[int]
    ) -> None:
        self.position = position
        self.node = node
        self.transfer = transfer
        self.is_special = is_special
        self.sources = sources
        self.outputs = outputs
        self.positions: list[int] = []


class Partition:
    """The groups that a change of the nodes in `dirty` reaches, in the order of their first turns.

    Tensors have numbers here: one number for all that are reached and know the same, and one for all that are not, which stay as
    `facts` has them. `reports` is what was said in the turns that are not reached.
    """

    def __init__(
        self,
        nodes: list[Node],
        transfers: list[Transfer | None],
        readers: Mapping[int, list[int]],
        base: Run,
        dirty: frozenset[int],
        marks: bytearray,
        apart: Mapping[int, int],
        special: Mapping[int, object],
    ) -> None:
        """`base` is what is known now, `marks` are the turns of `dirty`, `apart` the numbers of tensors that were too few.

        Of the nodes in `special`, too, no rule is asked.
        """
        self.dirty = dirty
        self.slots = base.slots
        self.last: Run | None = None
        self.unlisted = base.unlisted.copy()
        self.inner = base.inner
        self.numbers: dict[int, int] = {}
        self.facts: list[Fact | None] = []
        slots, facts, numbers = self.slots, self.facts, self.numbers
        fixed: dict[Fact, int] = {}
        reached: dict[tuple[int, Fact], int] = {}
        blocks: dict[object, Block] = {}
        for position in marked(marks):
            node, transfer = nodes[position], transfers[position]
            self.unlisted.pop(node.index, None)
            sources: list[int] = []
            for slot in sources_of(node):
                number = numbers.get(slot, -1)
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
                numbers[slot] = number
                outputs.append(number)
                for reader in readers.get(slot, ()):
                    marks[reader] = True
            is_special = transfer is None or not transfer.is_plain or node.index in special
            is_alone = transfer is None or is_special or transfer.memo.get(facts_of(node, slots)) is UNSHARED
            key = position if is_alone else (transfer, *sources, -1, *outputs)
            block = blocks.get(key)
            if block is None:
                block = blocks[key] = Block(position, node, transfer, is_special, sources, outputs)
            block.positions.append(position)
        self.blocks = list(blocks.values())
        self.reports: dict[int, NodeReport] = {
            position: reports for position, reports in base.reports.items() if position >= len(marks) or not marks[position]
        }

    def fits(self, run: Run) -> bool:
        """Whether what is not reached is still as it was."""
        return run is self.last or run.is_in(self.slots)

    def begun(self) -> tuple[Run, list[Fact]]:
        """A run, and the facts by their numbers, of which only those that are not reached are known."""
        run = self.last = Run(None)
        known: list[Fact] = self.facts.copy()  # type: ignore[assignment]
        run.place = lambda: self.placed(known)
        run.reports = self.reports.copy()
        run.unlisted = self.unlisted.copy()
        run.inner = self.inner.copy()
        return run, known

    def placed(self, known: list[Fact]) -> list[Fact]:
        """The facts of all tensors, by those of the numbers."""
        slots = self.slots.copy()
        for slot, number in self.numbers.items():
            slots[slot] = known[number]
        return slots


def marked(marks: bytearray) -> Iterator[int]:
    """The places of the marks, those included that are set behind the last place meanwhile."""
    at = marks.find(True)
    while at >= 0:
        yield at
        at = marks.find(True, at + 1)
