"""The schedule of a graph: the order of its nodes, their transfer functions, and the tensors whose elements some rule reads.

All of this is known before the first pass and holds for every pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any, Final, TypeAlias

from irshape.inference.facts import Fact
from irshape.inference.transfer import ENDS, TUPLE_ENDS, Transfer
from irshape.model.bodies import Body, conditions_passed
from irshape.model.model import Model, Node
from irshape.ops.op import Op
from irshape.shape.compilation import mypyc_attr
from irshape.shape.element_type import ElementType
from irshape.shape.range import Bound
from irshape.xml.document import LayerSignature
from irshape.xml.lexical import BODIES
from irshape.xml.weights import Weights, WeightsError

_NONE: Final[frozenset[int]] = frozenset()
_FIRST: Final = frozenset((0,))

# The transfer functions of a file, by the properties that make them equal.
Transfers: TypeAlias = dict[tuple[object, int, frozenset[int], bool, "int | None"], Transfer]
Reads: TypeAlias = tuple[list[int], list[int], list[tuple[int, frozenset[int]]]]


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Schedule:
    """The nodes in topological order with their transfer functions, None for unknown operations; `is_short`: weights end too early."""

    def __init__(self, model: Model, nodes: list[Node], transfers: list[Transfer | None], *, is_short: bool) -> None:
        self.model = model
        self.nodes = nodes
        self.transfers = transfers
        self.is_short = is_short
        self._positions: list[int] | None = None
        self._readers: dict[int, list[int]] | None = None

    @property
    def positions(self) -> list[int]:
        """The position of each node, by its index; a node that OpenVINO drops has none, and nobody reads it."""
        if self._positions is None:
            positions = [-1] * len(self.model)
            for position, node in enumerate(self.nodes):
                positions[node.index] = position
            self._positions = positions
        return self._positions

    @property
    def readers(self) -> Mapping[int, list[int]]:
        """The positions of the nodes that read each tensor."""
        if self._readers is None:
            positions = self.positions
            self._readers = {slot: [positions[index] for index, _ in readers] for slot, readers in self.model.readers.items()}
        return self._readers

    def marks(self, indices: Iterable[int]) -> bytearray:
        """A byte for each position, set for the nodes of these indices."""
        marks = bytearray(len(self.nodes))
        positions = self.positions
        for index in indices:
            marks[positions[index]] = True
        return marks


def marked(marks: bytearray) -> Iterator[int]:
    """The marked positions in order; a position behind the last one may still be marked meanwhile."""
    at = marks.find(True)
    while at >= 0:
        yield at
        at = marks.find(True, at + 1)


def demanded(model: Model, bodies: Mapping[int, list[Body]], body: Body | None) -> set[int]:
    """The tensors of a graph, the net or a `body`, whose elements are read outside its rules: conditions of Loops."""
    found: set[int] = set()
    if body is not None and body.condition is not None:
        found.update(body.condition.sources)
    for index, several in bodies.items():
        sources = model.nodes[index].sources
        for one in several:
            found.update(sources[passed.external] for passed in conditions_passed(one) if passed.external < len(sources))
    return found


def schedule(model: Model, transfers: Transfers, demanded: set[int], weights: Weights | None) -> Schedule:
    """The schedule of a graph; `demanded` are tensors whose elements are read elsewhere, `transfers` the transfer functions so far.

    The walk goes backwards: the readers of a node's outputs have said which elements they read before the node is reached.
    """
    nodes: list[Node] = []
    found: list[Transfer | None] = []
    signatures: dict[LayerSignature, Common] = {}
    known_reads: dict[object, Reads] = {}
    size: Bound | None = inf if model.document.is_example else None
    first_constant = None
    ended: dict[int, frozenset[int]] = {}
    is_short = False
    for index in reversed(model.canonical):
        node = model.nodes[index]
        if node.is_dropped:
            continue
        nodes.append(node)
        layer, sources = node.layer, node.sources
        signature = layer.signature
        common = signatures.get(signature)
        if common is None:
            common = signatures[signature] = Common(model, node, known_reads)
        reads, wanted = common.always, _NONE
        if common.is_followed:
            first = node.first_slot
            if signature.output_count == 1:
                if first in demanded:
                    wanted = _FIRST
            else:
                wanted = frozenset([position for position in range(signature.output_count) if first + position in demanded])
            if wanted:
                reads = common.followed
            elif common.has_ends and first in ended:
                wanted = ended[first]
        for position in reads:
            demanded.add(sources[position])
        for position, read in common.ended:
            if ended.get(sources[position]) is not TUPLE_ENDS:
                ended[sources[position]] = read
        offset, is_odd = None, False
        if common.is_constant and not sources:
            if size is None:
                size = weights_size(weights)
            at = common.op.offset if layer.weights_at is None else layer.weights_at
            is_odd = at + common.op.size > size >= 0
            is_short = is_short or (is_odd and node.is_live and model.is_live)
            if is_odd or ((wanted or (common.is_string and size >= 0)) and not model.document.is_example):
                offset = at
            first_constant = common, wanted, at, len(found)
        elif sources and sources[-1] == -1:  # inputs that are missing at the end are left out
            is_odd = True
        transfer = None if is_odd else common.transfers.get((wanted, offset))
        if transfer is None and common.op is not None:
            transfer = common.transfer(transfers, wanted, offset, is_odd=is_odd)
            if not is_odd:
                common.transfers[wanted, offset] = transfer
        found.append(transfer)
    if size is not None and size < 0 and first_constant is not None:
        # Where the weights are missing, the first constant reports it.
        common, wanted, at, position = first_constant
        found[position] = common.transfer(transfers, wanted, at, is_odd=True)
    nodes.reverse()
    found.reverse()
    demanded.difference_update((-1, -2))
    return Schedule(model, nodes, found, is_short=is_short)


class Common:
    """The properties that the nodes of one signature share.

    `always` are the inputs whose elements the rule reads, `followed` those that it reads where the elements of an output are wanted,
    `ended` those of which it reads the least and the greatest element, each with the mark of what is wanted of a Const; `transfers` the
    transfer functions of the nodes that are not odd, by the wanted outputs and the place of the bytes.
    """

    __slots__ = ("always", "ended", "followed", "has_ends", "is_constant", "is_followed", "is_string", "listed", "op", "transfers")

    def __init__(self, model: Model, node: Node, known_reads: dict[object, Reads]) -> None:
        signature = node.layer.signature
        op: Any = None if node.op_class is None else model.shared_op(node.op_class, signature)
        self.op = op
        self.listed = signature.output_count
        self.always: Sequence[int] = ()
        self.followed: Sequence[int] = ()
        self.ended: Sequence[tuple[int, frozenset[int]]] = ()
        self.is_constant = self.has_ends = self.is_string = self.is_followed = False
        self.transfers: dict[tuple[frozenset[int], int | None], Transfer] = {}
        if op is None:
            return
        key = (node.op_class, signature.input_count)
        if key not in known_reads:
            known_reads[key] = _reads(op, signature.input_count)
        self.always, self.followed, self.ended = known_reads[key]
        self.is_constant = op.TYPE == "Constant" and not op.is_broken
        self.has_ends = self.is_constant and not op.element_type.is_real
        self.is_string = self.is_constant and op.element_type is ElementType.string
        self.is_followed = self.is_constant or op.propagate is not None

    def transfer(self, transfers: Transfers, wanted: frozenset[int], offset: int | None, *, is_odd: bool) -> Transfer:
        """The transfer function of a node; not a pure one if the node itself `is_odd`, or takes facts from the file or a body."""
        is_pure = not (is_odd or offset is not None or self.op.TYPE == "Parameter" or self.op.TYPE in BODIES)
        key = (self.op.memo_key, self.listed, wanted, is_pure, offset)
        transfer = transfers.get(key)
        if transfer is None:
            transfer = transfers[key] = Transfer(self.op, self.listed, wanted, is_pure=is_pure, offset=offset)
        return transfer


def _reads(op: Op, count: int) -> Reads:
    """The inputs, of `count`, whose elements a rule reads; those that it reads where an output is wanted; those whose ends it reads."""
    follows = op.demanded if op.propagate is not None else ()
    always: list[int] = []
    followed: list[int] = []
    ended: list[tuple[int, frozenset[int]]] = []
    for position, port in enumerate(op.arrangement(count)):
        if port.value:
            always.append(position)
        if port.value or port.index in follows:
            followed.append(position)
        if port.ends:
            ended.append((position, TUPLE_ENDS if port.ends == "tuples" else ENDS))
    return always, followed, ended


def sources_of(node: Node) -> list[int]:
    """The tensors that a node takes; inputs that are missing at the end are left out."""
    sources = node.sources
    count = len(sources)
    while count and sources[count - 1] == -1:
        count -= 1
    return sources[:count]


def facts_of(node: Node, slots: list[Fact]) -> tuple[Fact, ...]:
    """The facts of the tensors that a node takes."""
    return tuple([slots[source] for source in sources_of(node)])


def weights_size(weights: Weights | None) -> int:
    """The number of bytes of the weights; -1 where there are none, or none that can be read."""
    try:
        return -1 if weights is None else weights.total
    except WeightsError:
        return -1
