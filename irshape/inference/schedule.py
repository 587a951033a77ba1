"""What is clear before the first pass: the turns of the nodes, what nodes have in common, and of which tensors elements are read."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, Final, TypeAlias

from irshape.inference.apply import Transfer
from irshape.inference.facts import Fact
from irshape.model.bodies import BODIES
from irshape.model.model import Model, Node
from irshape.ops.op import Op
from irshape.shape.element_type import ElementType
from irshape.xml.document import Signature
from irshape.xml.weights import Weights, WeightsError

NONE: Final[frozenset[int]] = frozenset()
_FIRST: Final = frozenset((0,))


Transfers: TypeAlias = dict[tuple[object, int, frozenset[int], bool, "int | None"], Transfer]


_Reads: TypeAlias = tuple[list[int], list[int]]


def _reads(op: Op, count: int) -> _Reads:
    """Of so many inputs those whose elements a rule reads, and those it reads when the elements of an output are wanted."""
    ports = [(position, op.input_at(position)) for position in range(count)]
    follows = op.demanded if op.propagate is not None else ()
    always = [position for position, port in ports if port is not None and port.value]
    return always, [position for position, port in ports if port is not None and (port.value or port.index in follows)]


class _Common:
    """What the nodes of a signature have in common.

    `always` are the inputs whose elements their rule reads, `followed` those that it reads when elements of an output are wanted;
    `kinds` are the kinds of those that are not odd, by the outputs that are wanted and the place of the bytes.
    """

    __slots__ = ("always", "followed", "is_constant", "is_followed", "is_string", "listed", "op", "transfers")

    def __init__(self, model: Model, node: Node, known_reads: dict[object, _Reads]) -> None:
        signature = node.layer.signature
        op: Any = None if node.op_class is None else model.shared_op(node.op_class, signature)
        self.op = op
        self.listed = signature.output_count
        self.always: Sequence[int] = ()
        self.followed: Sequence[int] = ()
        self.is_constant = self.is_string = self.is_followed = False
        self.transfers: dict[tuple[frozenset[int], int | None], Transfer] = {}
        if op is None:
            return
        key = (node.op_class, signature.input_count)
        if key not in known_reads:
            known_reads[key] = _reads(op, signature.input_count)
        self.always, self.followed = known_reads[key]
        self.is_constant = op.TYPE == "Constant" and not op.is_broken
        self.is_string = self.is_constant and op.element_type is ElementType.string
        self.is_followed = self.is_constant or op.propagate is not None

    def transfer(self, transfers: Transfers, wanted: frozenset[int], offset: int | None, *, is_odd: bool) -> Transfer:
        """The kind of a node, which is no plain one if the node itself `is_odd`."""
        is_plain = not (is_odd or self.op.TYPE == "Parameter" or self.op.TYPE in BODIES)
        key = (self.op.memo_key, self.listed, wanted, is_plain, offset)
        transfer = transfers.get(key)
        if transfer is None:
            transfer = transfers[key] = Transfer(self.op, self.listed, wanted, is_plain=is_plain, offset=offset)
        return transfer


def schedule(model: Model, transfers: Transfers, demanded: set[int], weights: Weights | None) -> tuple[list[Node], list[Transfer | None]]:
    """The nodes in their turns, and the kind of each, None where the operation is not known.

    What is `demanded` are the tensors whose elements are read elsewhere; those that rules read are put to it. So it goes backwards:
    who reads a node's outputs is known before the node.
    """
    nodes: list[Node] = []
    found: list[Transfer | None] = []
    signatures: dict[Signature, _Common] = {}
    known_reads: dict[object, _Reads] = {}
    size: float | None = inf if model.document.is_example else None
    first_constant = None
    for index in reversed(model.order):
        node = model.nodes[index]
        if node.is_dropped:
            continue
        nodes.append(node)
        layer, sources = node.layer, node.sources
        signature = layer.signature
        common = signatures.get(signature)
        if common is None:
            common = signatures[signature] = _Common(model, node, known_reads)
        reads, wanted = common.always, NONE
        if common.is_followed:
            first = node.first_slot
            if signature.output_count == 1:
                if first in demanded:
                    wanted = _FIRST
            else:
                wanted = frozenset([position for position in range(signature.output_count) if first + position in demanded])
            if wanted:
                reads = common.followed
        for position in reads:
            demanded.add(sources[position])
        offset, is_odd = None, False
        if common.is_constant:
            if size is None:
                size = _size(weights)
            at = common.op.offset if layer.weights_at is None else layer.weights_at
            is_odd = at + common.op.size > size >= 0
            if is_odd or (size >= 0 and (wanted or common.is_string) and not model.document.is_example):
                offset = at
            first_constant = common, wanted, at, len(found)
        elif sources and sources[-1] == -1:  # what is missing at the end is left out
            is_odd = True
        transfer = None if is_odd else common.transfers.get((wanted, offset))
        if transfer is None and common.op is not None:
            transfer = common.transfer(transfers, wanted, offset, is_odd=is_odd)
            if not is_odd:
                common.transfers[wanted, offset] = transfer
        found.append(transfer)
    if size is not None and size < 0 and first_constant is not None:
        # Where there are no weights, the first says so.
        common, wanted, at, position = first_constant
        found[position] = common.transfer(transfers, wanted, at, is_odd=True)
    nodes.reverse()
    found.reverse()
    demanded.difference_update((-1, -2))
    return nodes, found


def sources_of(node: Node) -> list[int]:
    """The tensors that a node takes: its inputs, but for those at the end that are missing."""
    sources = node.sources
    count = len(sources)
    while count and sources[count - 1] == -1:
        count -= 1
    return sources[:count]


def facts_of(node: Node, slots: list[Fact]) -> tuple[Fact, ...]:
    """The facts of what a node takes."""
    return tuple([slots[source] for source in sources_of(node)])


def _size(weights: Weights | None) -> int:
    """How many bytes of weights there are; -1 where there are none, or none that can be read."""
    try:
        return -1 if weights is None else weights.size
    except WeightsError:
        return -1
