"""The count of every layer: its rule `cost`, applied to the facts of the layer's tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from irshape.answers.cost.formula import Amount, amount, ratio, total, value
from irshape.answers.cost.graph import ENDS, Branch, Graph, Tensors, type_of, weight_bytes
from irshape.inference.apply import arranged
from irshape.inference.facts import Fact
from irshape.model.model import Node
from irshape.model.public import Node as PublicNode
from irshape.model.public import public
from irshape.ops.cost import Count, Outputs
from irshape.ops.op import Input, UnknownRank
from irshape.shape.dim import Size, dim_max

# Why the work of a layer is not counted.
NO_RULE: Final = "the operation has no counting rule"
UNKNOWN_OPERATION: Final = "the operation is unknown"
UNKNOWN_RANK: Final = "a tensor of the layer has an unknown rank"
UNKNOWN_SIZE: Final = "the work of the layer does not follow from its sizes"
FAILED: Final = "a layer before it has an error"
UNFINISHED: Final = "it takes more work than the limit allows (limit work)"


class Work(NamedTuple):
    """The work of a layer or of a graph: multiply-accumulates, other operations, and the bytes that layers read and write."""

    macs: Size = 0
    operations: Size = 0
    traffic: Size = 0


class _Counted(NamedTuple):
    """What layers of equal attributes and facts have in common: their amounts, and the work of one run without the bytes of constants."""

    amounts: tuple[Amount, Amount, Amount, Amount, Amount]
    work: Work
    uncounted: str | None
    is_complete: bool


class LayerCost:
    """What one layer costs at each inference.

    `node` is the layer, with `name` and `type`. `runs` is how often it runs: the trip count of the loops around it. All amounts are those
    of all its runs: `macs` (multiply-accumulates), `operations` (other operations on single elements), `flops` (two for each MAC, one for
    each operation); bytes of `weights` (constants that it reads), `inputs` (other tensors that it reads) and `outputs`. An amount is a
    number or a `Formula`. `uncounted` says why the work is not counted and in no sum; it is None if the work is counted. `is_complete`
    says that the bytes of every tensor are known.
    """

    __slots__ = ("_names", "_node", "flops", "inputs", "is_complete", "macs", "operations", "outputs", "runs", "uncounted", "weights")

    def __init__(self, node: Node, runs: Size, counted: _Counted, weights: Size, names: Mapping[str, str]) -> None:
        self._node = node
        self.uncounted = counted.uncounted
        self.is_complete = counted.is_complete
        self._names = names
        self.runs: Amount = amount(runs, names)
        self.macs, self.operations, self.flops, self.inputs, self.outputs = counted.amounts
        self.weights: Amount = amount(weights * runs, names)

    @property
    def node(self) -> PublicNode:
        """The layer, a node of the model."""
        return public(self._node)

    @property
    def name(self) -> str:
        """The layer's name in the file."""
        return self._node.name

    @property
    def type(self) -> str:
        """The layer's type in the file."""
        return self._node.type

    @property
    def path(self) -> str:
        """The bodies around the layer, outermost first, and its name."""
        return f"{self._node.model.path} / {self.name}" if self._node.model.path else self.name

    def bytes(self, sizes: Mapping[str, int]) -> int:
        """The bytes that the layer reads and writes, for these sizes."""
        return value(self.weights, sizes) + value(self.inputs, sizes) + value(self.outputs, sizes)

    def intensity(self, sizes: Mapping[str, int] | None = None) -> float | None:
        """The arithmetic intensity, in FLOPs for each byte read or written, for these sizes; None for a layer without bytes."""
        moved = self.bytes(sizes or {})
        return ratio(value(self.flops, sizes or {}), moved) if moved else None

    def __repr__(self) -> str:
        return f"<{self.type} {self.path!r}: {self.macs} MACs>"


class Counting:
    """The counts of a graph: `layers` in order, those of bodies after their layer, and the `work` of all."""

    def __init__(self, tensors: Tensors, graph: Graph, names: Mapping[str, str]) -> None:
        self._tensors = tensors
        self._scope = tensors.scope
        self._names = names
        self._known: dict[tuple[object, ...], _Counted] = {}
        self.layers: list[LayerCost] = []
        self.work = self._of(graph, 1)

    def _of(self, graph: Graph, runs: Size) -> Work:
        """The work of one run of a graph, which runs so often."""
        return self._sum([work for node in graph.layers for work in self._of_node(graph, node, runs)])

    def _of_node(self, graph: Graph, node: Node, runs: Size) -> Iterator[Work]:
        branches = graph.branches.get(node)
        if branches is not None:
            found = [self._of_branch(branch, runs) for branch in branches]
            if not found:
                self.layers.append(LayerCost(node, runs, _Counted((0, 0, 0, 0, 0), Work(), FAILED, False), 0, self._names))
            yield found[0] if len(found) == 1 else Work(*map(_dearer, zip(*found, strict=True))) if found else Work()
        elif type_of(node) not in ENDS:
            yield self._of_layer(graph, node, runs)

    def _of_branch(self, branch: Branch, runs: Size) -> Work:
        own = self._of(branch.graph, runs * branch.trips)
        return Work(*(amount * branch.trips for amount in own))

    def _of_layer(self, graph: Graph, node: Node, runs: Size) -> Work:
        facts, outputs = graph.facts(node), graph.outputs(node)
        constants = [slot for slot in node.sources if slot in graph.constants]
        read = tuple([fact for slot, fact in zip(node.sources, facts, strict=True) if slot not in graph.constants])
        key = node.op, facts, read, tuple(outputs), runs
        counted = self._known.get(key)
        if counted is None:
            counted = self._known[key] = self._counted(graph, node, read, outputs, runs)
        weights = weight_bytes(frozenset().union(*[graph.constants[slot] for slot in constants])) if constants else 0
        self.layers.append(LayerCost(node, runs, counted, weights, self._names))
        is_view = node.op_class is not None and node.op_class.is_view
        macs, operations, traffic = counted.work
        return Work(macs, operations, 0 if is_view else traffic + weights)

    def _counted(self, graph: Graph, node: Node, read: Sequence[Fact], outputs: Sequence[Fact], runs: Size) -> _Counted:
        count, uncounted = (Count(), UNFINISHED) if self._tensors.is_done(node) else count_of(graph, node)
        known = [self._tensors.bytes(fact) for fact in (*read, *outputs)]
        parts = (known[: len(read)], known[len(read) :])
        inputs, written = (total(self._scope, [size for size in part if size is not None]) for part in parts)
        sizes = (count.macs, count.operations, 2 * count.macs + count.operations, inputs, written)
        of_runs = sizes if runs == 1 else [size * runs for size in sizes]
        macs, operations, flops, taken, given = [amount(size, self._names) for size in of_runs]
        work = Work(count.macs, count.operations, inputs + written)
        return _Counted((macs, operations, flops, taken, given), work, uncounted, None not in known)

    def _sum(self, works: list[Work]) -> Work:
        return Work(*(total(self._scope, sizes) for sizes in zip(*works, strict=True))) if works else Work()


def _dearer(sizes: tuple[Size, ...]) -> Size:
    first, *others = sizes
    for other in others:
        first = dim_max(first, other)
    return first


def count_of(graph: Graph, node: Node) -> tuple[Count, str | None]:
    """The count of one run of a layer, and why it is not counted if it is not."""
    op, facts, outputs = node.op, graph.facts(node), graph.outputs(node)
    if op is None:
        return Count(), UNKNOWN_OPERATION
    if op.is_broken or any(fact.is_poisoned for fact in (*facts, *outputs)):
        return Count(), FAILED
    if op.cost is None:
        return Count(), NO_RULE
    ports = op.arrangement(len(facts))
    inputs = [_input(port, index, fact) for index, (port, fact) in enumerate(zip(ports, facts, strict=False))]
    try:
        count = op.cost(Outputs(tuple([fact.shape for fact in outputs])), *arranged(op, inputs))
    except UnknownRank:
        return Count(), UNKNOWN_RANK
    return (count, None) if count is not None else (Count(), UNKNOWN_SIZE)


def _input(port: Any, index: int, fact: Fact) -> Input:
    elements = fact.elements if type(fact.elements) is tuple else None
    return Input(port, index, -1, fact.element_type, fact.shape, elements, fact.is_literal, _no_shape, fact.ends)


def _no_shape(rank: int) -> tuple[Size, ...]:
    raise UnknownRank
