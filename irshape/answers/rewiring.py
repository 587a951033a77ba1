"""Rewired edges and replaced layers as expressions over the layers that both models have: `x -> FakeQuantize(x, 4 Const f32)`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final, NamedTuple

from irshape.answers.diff import Change, Difference
from irshape.answers.matching import source_of
from irshape.model.model import Model, Node, OutputPort
from irshape.shape.element_type import ElementType

# The most layers and characters of an expression; longer ones are abbreviated.
_MOST: Final = 16
_WIDEST: Final = 100
_LETTERS: Final = "xyzuvw"


class Rewiring(NamedTuple):
    """Changes with the same expressions: inputs that were rewired, or layers that were replaced, in the same way.

    In `before` and `after`, a letter stands for an output that both models have; if there is only one change, its name does.
    """

    before: str
    after: str
    changes: list[Change]


def rewirings(difference: Difference) -> tuple[list[Rewiring], set[Node]]:
    """The rewired edges and replaced layers, in groups; and the layers of only one model that their expressions contain."""
    sides = _Sides(difference)
    mentioned: set[Node] = set()
    groups: dict[tuple[str, str, str], list[tuple[str, str, Change]]] = {}
    for change in difference.changes:
        if change.kind in ("edge", "replaced") and change.a is not None and change.b is not None:
            letters, names = _Letters(is_named=False), _Letters(is_named=True)
            ends = _ends(change, change.a, change.b)
            texts = [_expression(port, sides, leaves, mentioned) for leaves in (letters, names) for port in ends]
            # If both expressions are single letters, only the names tell which layer took the place of which.
            before, after = texts[2:] if set(texts[:2]) <= set(_LETTERS) else texts[:2]
            groups.setdefault((change.kind, before, after), []).append((texts[2], texts[3], change))
    found = []
    for (_, before, after), members in groups.items():
        if len(members) == 1:
            before, after, _ = members[0]
        found.append(Rewiring(before, after, [change for _, _, change in members]))
    return sorted(found, key=lambda one: -len(one.changes)), mentioned


class _Sides:
    """Tells which layers both models have."""

    def __init__(self, difference: Difference) -> None:
        self.partners: dict[Node, Node] = {}
        self.replaced: set[Node] = set()
        for matching in difference._matchings:
            self.partners.update(matching.origin)
            self.partners.update((node, node) for node in matching.partner)
            self.replaced.update(node for pair in matching.replaced for node in pair)
        for change in difference.changes:
            if change.kind == "attribute" and change.what == "element_type" and change.a and change.b and change.a.type == "Const":
                self.replaced.update((change.a, change.b))

    def is_inner(self, node: Node) -> bool:
        """Whether only one model has the layer, or the other model has it as a constant of another type."""
        return node not in self.partners or node in self.replaced

    def identity(self, node: Node) -> Node:
        """The node of the first model that stands for both."""
        return self.partners.get(node, node)


class _Letters:
    """The names of the ends of an expression, or letters for them."""

    def __init__(self, *, is_named: bool) -> None:
        self.is_named = is_named
        self.known: dict[tuple[Node, int], str] = {}

    def of(self, node: Node, index: int) -> str:
        """The name of an output, or its letter."""
        if self.is_named:
            return node.name if len(node.layer.outputs) == 1 else f"{node.name}:{index}"
        count = len(self.known)
        return self.known.setdefault((node, index), _LETTERS[count] if count < len(_LETTERS) else f"x{count}")


def _ends(change: Change, a: Node, b: Node) -> list[OutputPort | None]:
    """The outputs that the expressions of a change compute, in each model."""
    if change.kind == "replaced":
        return [next(iter(node.outputs), None) for node in (a, b)]
    return [source_of(node, int(change.what)) for node in (a, b)]


def _expression(root: OutputPort | None, sides: _Sides, leaves: _Letters, mentioned: set[Node]) -> str:
    """The expression that computes an output, down to the layers that both models have."""
    if root is None:
        return "nothing"
    texts: dict[tuple[Model, int], str | None] = {}
    entered: set[Node] = set()
    pending = [root]
    while pending:
        port = pending[-1]
        node, tensor = port.node, (port.node.model, port.slot)
        if tensor in texts:
            pending.pop()
        elif not sides.is_inner(node):
            texts[tensor] = leaves.of(sides.identity(node), port.index)
        elif node not in entered and len(entered) < _MOST:
            entered.add(node)
            pending += [one.source for one in reversed(node.inputs) if one.source is not None]
        elif node not in entered:
            texts[tensor] = "…"
        else:
            sources = [(source.node.model, source.slot) if (source := one.source) else None for one in node.inputs]
            texts[tensor] = _call(node, [texts.get(source, "…") if source else "nothing" for source in sources])
            mentioned.add(node)
    text = texts[root.node.model, root.slot]
    return f"{root.node.type}(… {len(entered)} layers)" if text is None else text


def _call(node: Node, arguments: Sequence[str | None]) -> str | None:
    """An operation with its arguments, a layer without inputs with its element type; None if that is too wide, or an argument is."""
    if not arguments:
        precision = node.layer.outputs[0].precision if node.layer.outputs else None
        element_type = ElementType.from_precision(precision) if precision else None
        return f"{node.type} {element_type.name}" if element_type else node.type
    counted = [(text, len(list(same))) for text, same in groupby(arguments)]
    words = [text and (f"{count} {text}" if count > 1 and "(" not in text else ", ".join([text] * count)) for text, count in counted]
    text = f"{node.type}({', '.join(word or '' for word in words)})"
    return None if None in words or len(text) > _WIDEST else text
