"""What is clear before the first pass: the turns of the nodes, what nodes have in common, and of which tensors elements are read."""

from __future__ import annotations

from math import inf
from typing import Final, TypeAlias

from irshape.inference.apply import Application
from irshape.inference.facts import Fact
from irshape.model.bodies import BODIES
from irshape.model.model import Model, Node
from irshape.ops.op import Op
from irshape.shape.element_type import ElementType
from irshape.xml.document import Form
from irshape.xml.weights import Weights, WeightsError

NONE: Final[frozenset[int]] = frozenset()
_FIRST: Final = frozenset((0,))


class Kind:
    """What nodes have in common that are the same but for their inputs: equal kinds are one object.

    `listed` is how many outputs the layers list, `wanted` the positions of those whose elements some rule reads. `is_plain` is
    false for what takes facts from elsewhere than its rule: a Parameter, a Const whose bytes are read, a layer with bodies.
    `answers` are the applications of the rule so far, by the facts of the inputs; after a node, those that are the node's own.
    """

    __slots__ = ("answers", "is_plain", "listed", "op", "wanted")

    def __init__(self, op: Op, listed: int, wanted: frozenset[int], *, is_plain: bool) -> None:
        self.op = op
        self.listed = listed
        self.wanted = wanted
        self.is_plain = is_plain
        self.answers: dict[tuple[object, ...], Application] = {}


Kinds: TypeAlias = dict[tuple[object, int, frozenset[int], bool], Kind]


class _Common:
    """What the nodes of a form have in common.

    `always` are the inputs whose elements their rule reads, `followed` those that it reads when elements of an output are wanted;
    `kinds` is the plain one, and those by the outputs that are wanted.
    """

    __slots__ = ("always", "followed", "is_constant", "is_followed", "kinds", "op")

    def __init__(self, model: Model, node: Node) -> None:
        form = node.layer.form
        self.op = None if node.op_class is None else model.shared_op(node.op_class, form)
        self.always: list[int] = []
        self.followed: list[int] = []
        self.is_constant = self.is_followed = False
        self.kinds: dict[frozenset[int], Kind] = {}
        if self.op is None:
            return
        ports = [(position, self.op.input_at(position)) for position in range(form.input_count)]
        follows = self.op.demanded()
        self.always = [position for position, port in ports if port is not None and port.value]
        self.followed = [position for position, port in ports if port is not None and (port.value or port.index in follows)]
        self.is_constant = self.op.TYPE == "Constant" and not self.op.is_broken
        self.is_followed = self.is_constant or self.op.propagate is not None

    def kind(self, kinds: Kinds, listed: int, wanted: frozenset[int], *, is_odd: bool = False) -> Kind:
        """The kind of a node, which is no plain one if the node itself `is_odd`."""
        op = self.op
        assert op is not None
        is_read = self.is_constant and (bool(wanted) or op.element_type is ElementType.string)  # type: ignore[attr-defined]
        is_plain = not (is_odd or is_read or op.TYPE == "Parameter" or op.TYPE in BODIES)
        key = (op.alike, listed, wanted, is_plain)
        kind = kinds.get(key)
        if kind is None:
            kind = kinds[key] = Kind(op, listed, wanted, is_plain=is_plain)
        return kind


def plan(model: Model, kinds: Kinds, demanded: set[int], weights: Weights | None) -> tuple[list[Node], list[Kind | None]]:
    """The nodes in their turns, and the kind of each, None where the operation is not known.

    What is `demanded` are the tensors whose elements are read elsewhere; those that rules read are put to it. So it goes backwards:
    who reads a node's outputs is known before the node.
    """
    nodes: list[Node] = []
    found: list[Kind | None] = []
    forms: dict[Form, _Common] = {}
    size: float | None = inf if model.document.is_example else None
    for index in reversed(model.order):
        node = model.nodes[index]
        if node.is_dropped:
            continue
        nodes.append(node)
        layer, sources = node.layer, node.sources
        form = layer.form
        common = forms.get(form)
        if common is None:
            common = forms[form] = _Common(model, node)
        reads, wanted = common.always, NONE
        if common.is_followed:
            first = node.first_slot
            if form.output_count == 1:
                if first in demanded:
                    wanted = _FIRST
            else:
                wanted = frozenset([position for position in range(form.output_count) if first + position in demanded])
            if wanted:
                reads = common.followed
        for position in reads:
            demanded.add(sources[position])
        is_odd = False
        if common.is_constant:
            if size is None:
                size = _size(weights)
            op: Op = common.op  # type: ignore[assignment]
            is_odd = offset_of(node, op) + op.size > size  # type: ignore[attr-defined]
        elif sources and sources[-1] == -1:  # what is missing at the end is left out
            is_odd = True
        kind = None if is_odd else common.kinds.get(wanted)
        if kind is None and common.op is not None:
            kind = common.kind(kinds, form.output_count, wanted, is_odd=is_odd)
            if not is_odd:
                common.kinds[wanted] = kind
        found.append(kind)
    nodes.reverse()
    found.reverse()
    demanded.difference_update((-1, -2))
    return nodes, found


def offset_of(node: Node, op: Op) -> int:
    """Where the bytes of a Const begin."""
    own = node.layer.weights_at
    return op.offset if own is None else own  # type: ignore[attr-defined]


def facts_of(node: Node, slots: list[Fact]) -> tuple[Fact, ...]:
    """The facts of a node's inputs, but for those at the end that are missing."""
    sources = node.sources
    count = len(sources)
    while count and sources[count - 1] == -1:
        count -= 1
    return tuple([slots[source] for source in sources[:count]])


def _size(weights: Weights | None) -> int:
    """How many bytes of weights there are; -1 where that cannot be told."""
    try:
        return -1 if weights is None else weights.size
    except WeightsError:
        return -1
