"""Pair the layers of two graphs: by name, else by their place in the graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, zip_longest
from typing import Final

from irshape.model.model import InputPort, Model, Node, OutputPort, grouped
from irshape.ops.registry import CONST
from irshape.shape.element_type import ElementType

# A generated name: the type of the layer, or of the layer it was made from, and a number; or only a number. `torch.onnx.export` numbers
# its layers, such as `node_Conv_277`, from another number on in each export.
_UNNAMED: Final = re.compile(r"node_[A-Z]\w*_\d+(?:/\w+)?|(?:([A-Za-z]\w*?)_)?\d+(?:_compressed)?", re.ASCII)


def is_unnamed(name: str) -> bool:
    """Whether a name is empty or generated, so that it differs each time a model is converted."""
    from irshape.ops.index import MODULES

    match = _UNNAMED.fullmatch(name)
    return not name or (match is not None and (match[1] in (None, CONST) or match[1].lower() in MODULES))


class Matching:
    """The partners of layers of `a` in `b`, and their `origin`; partners of different types, with one name, are `replaced`."""

    def __init__(self, a: Model, b: Model) -> None:
        self.a = a
        self.b = b
        self.partner: dict[Node, Node] = {}
        self.origin: dict[Node, Node] = {}
        self.replaced: list[tuple[Node, Node]] = []
        self._rivals = [grouped((_key(node), node) for node in model.nodes if not node.is_dropped) for model in (a, b)]
        self._pending: list[tuple[Node, Node]] = []
        for is_sure in (True, False):
            self._match_names(is_sure)
            self._spread()
        self._match_in_order()
        self._match_replaced()

    def pairs(self) -> Iterator[tuple[Node, Node]]:
        """The partners of the same type, in the topological order of the first graph."""
        replaced = {node for node, _ in self.replaced}
        return ((node, self.partner[node]) for node in self.a if node in self.partner and node not in replaced)

    def removed(self) -> list[Node]:
        """The nodes that only the first graph has."""
        return [node for node in self.a.nodes if node not in self.partner and not node.is_dropped]

    def added(self) -> list[Node]:
        """The nodes that only the second graph has."""
        return [node for node in self.b.nodes if node not in self.origin and not node.is_dropped]

    def _pair(self, a: Node, b: Node) -> None:
        self.partner[a] = b
        self.origin[b] = a
        self._pending.append((a, b))

    def _match_names(self, is_sure: bool) -> None:
        """Pair layers with the same name and type. With `is_sure`, generated names also need equal attributes and a neighbour in common."""
        ours, theirs = self._rivals
        for key, nodes in ours.items():
            left = [node for node in nodes if node not in self.partner]
            right = [node for node in theirs.get(key, ()) if node not in self.origin]
            for a, b in zip(left, right, strict=False):
                if not is_sure or not is_unnamed(a.name) or (_content(a) == _content(b) and _are_among_namesakes(a, b)):
                    self._pair(a, b)

    def _spread(self) -> None:
        """Pair the neighbours of partners wherever there is only one choice."""
        while self._pending:
            a, b = self._pending.pop()
            for ours, theirs in zip(a.inputs, b.inputs, strict=False):
                source, other = ours.source, theirs.source
                if source is not None and other is not None and source.index == other.index:
                    self._pair_if_free(source.node, other.node)
            for one, another in zip(a.outputs, b.outputs, strict=False):
                readers = self._only(self.partner, ((port.node, port.index) for port in one.readers))
                others = self._only(self.origin, ((port.node, port.index) for port in another.readers))
                for key, node in readers.items():
                    if node is not None and (other_node := others.get(key)) is not None:
                        self._pair_if_free(node, other_node)

    def _pair_if_free(self, a: Node, b: Node) -> None:
        """Pair two nodes of the same type, unless a node in the other graph has the same chosen name as one of them and is still free."""
        if a in self.partner or b in self.origin or a.op_type != b.op_type:
            return
        ours, theirs = self._rivals
        if not _is_awaited(a, theirs, self.origin) and not _is_awaited(b, ours, self.partner):
            self._pair(a, b)

    @staticmethod
    def _only(taken: dict[Node, Node], readers: Iterable[tuple[Node, int]]) -> dict[tuple[str, int], Node | None]:
        """The free readers by type and input number; None where there are several."""
        found: dict[tuple[str, int], Node | None] = {}
        for node, index in readers:
            if node not in taken:
                key = node.op_type, index
                found[key] = None if key in found else node
        return found

    def _match_in_order(self) -> None:
        """Pair the remaining nodes with equal attributes and equal sources, one after another; each pair may lead to others."""
        waiting: dict[tuple[object, ...], list[Node]] = {}
        for node in reversed(self.added()):
            waiting.setdefault(_place(node, lambda source: source), []).append(node)
        for node in self.a:
            # A layer without inputs has no place in the graph; only Parameters have an order of their own.
            if node in self.partner or node.is_dropped or not (node.inputs or node.type == "Parameter"):
                continue
            candidates = waiting.get(_place(node, self.partner.get), [])
            while candidates and node not in self.partner:
                other = candidates.pop()
                if other not in self.origin:
                    self._pair_if_free(node, other)
            self._spread()

    def _match_replaced(self) -> None:
        """Pair nodes with the same name and different types, as replaced."""
        theirs = {node.name: node for node in reversed(self.added())}
        for node in self.removed():
            other = theirs.pop(node.name, None)
            if other is not None and node.name:
                self._pair(node, other)
                self.replaced.append((node, other))
        self._spread()


def _key(node: Node) -> tuple[str, str]:
    return node.name, node.op_type


def source_of(node: Node, index: int) -> OutputPort | None:
    """The output that feeds an input of a node; None if no output feeds it, or the node has no such input."""
    return InputPort(node, index).source if index < len(node.layer.inputs) else None


def _place(node: Node, other: Callable[[Node], Node | None]) -> tuple[object, ...]:
    """The content of a node and the outputs that it reads, each with the node that stands for its producer in the other graph."""
    sources = [port.source for port in node.inputs]
    return _content(node), *[(None, -1) if source is None else (other(source.node), source.index) for source in sources]


def _content(node: Node) -> tuple[object, ...]:
    """The type, the numbers of ports and the attributes of a layer, without its name and the place of its bytes."""
    own = tuple(item for item in sorted(node.layer.attributes.items()) if item[0] not in ("offset", "size"))
    return node.op_type, node.layer.signature.input_count, node.layer.signature.output_count, own


def _are_among_namesakes(a: Node, b: Node) -> bool:
    """Whether a producer of one has the same chosen name as a producer of the other, or a consumer as a consumer."""
    sides = (a.producers, b.producers), (a.consumers, b.consumers)
    shared = [{node.name for node in ours} & {node.name for node in theirs} for ours, theirs in sides]
    return any(not is_unnamed(name) for names in shared for name in names)


def _is_awaited(node: Node, rivals: dict[tuple[str, str], list[Node]], taken: dict[Node, Node]) -> bool:
    """Whether the node has a chosen name that a free node of the other graph has, too."""
    return not is_unnamed(node.name) and any(rival not in taken for rival in rivals.get(_key(node), ()))


def same_layers(model: Model, other: Model) -> dict[Node, Node]:
    """The layers of two exports of one net, at different sizes, that are the same: of one name, and else where each input is the same, too.

    Then the names may differ by numbers, as `functional_1/relu` and `functional_2_1/relu`. The same layers give tensors of the same ranks,
    both real or both not.
    """
    found: dict[Node, Node] = {}
    used = set[Node]()
    alike = grouped(((there.type, _unnumbered(there)), there) for there in other)
    numbered = ((node, there) for node in model for there in alike.get((node.type, _unnumbered(node)), ()))
    for node, there in chain(Matching(model, other).pairs(), numbered):
        if node in found or there in used or _given(node) != _given(there):
            continue
        has_name = node.name == there.name and not is_unnamed(node.name)
        is_numbered = (node.inputs or node.type == "Parameter") and _unnumbered(node) == _unnumbered(there)
        if has_name or ((is_unnamed(node.name) or is_numbered) and _read_alike(node, there, found)):
            found[node] = there
            used.add(there)
    return _uncrossed(found, known=_uncrossed(found, known=found))


def _uncrossed(pairs: Mapping[Node, Node], known: Mapping[Node, Node]) -> dict[Node, Node]:
    """The pairs that read no layers of different known pairs. Exporters count names on, so that the next layer may have the name there.

    What reads a wrong pair reads layers of different pairs, too: it stays if only the pairs without contradiction are known.
    """
    there = set(known.values())

    def is_crossed(one: Node, other: Node) -> bool:
        return one in known and known[one] is not other and other in there

    return {
        node: other
        for node, other in pairs.items()
        if not any(is_crossed(*sources) for sources in zip(node.producers, other.producers, strict=False))
    }


def _unnumbered(node: Node) -> str:
    """The name of a layer without the numbers in it, which a converter may count otherwise in each export."""
    return re.sub(r"_?\d+", "", node.name)


def _given(node: Node) -> list[tuple[bool, int | None]]:
    """Of each output of a layer, whether the file records real numbers, and of which rank."""
    types = [ElementType.from_precision(port.precision or "") for port in node.layer.outputs]
    ranks = [None if port.dims is None else len(port.dims) for port in node.layer.outputs]
    return [(type is not None and type.is_real, rank) for type, rank in zip(types, ranks, strict=True)]


def _read_alike(node: Node, other: Node, found: Mapping[Node, Node]) -> bool:
    """Whether layers of two exports read outputs of the same layers, or constants, at each input."""
    for one, another in zip_longest([port.source for port in node.inputs], [port.source for port in other.inputs]):
        if one is None or another is None:
            return False
        is_same = found.get(one.node) is another.node and one.index == another.index
        if not is_same and not one.node.type == another.node.type == CONST:
            return False
    return True
