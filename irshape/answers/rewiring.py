"""What stands between layers that two models have in common, as expressions: `x -> FakeQuantize(x, 4 Const f32)`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Final, NamedTuple

from irshape.answers.diff import Change, Difference
from irshape.answers.matching import source_of
from irshape.model.model import Model, Node, OutputPort
from irshape.shape.element_type import ElementType

# Expressions of more layers, or of more characters, are cut short.
_MOST: Final = 16
_WIDEST: Final = 100
_LETTERS: Final = "xyzuvw"


class Rewiring(NamedTuple):
    """What feeds several inputs, or stands in the place of several layers, in both models in the same way.

    `before` and `after` are expressions; what both models have is a letter in them, or its name where there is one `change` only.
    """

    before: str
    after: str
    changes: list[Change]


def rewirings(difference: Difference) -> tuple[list[Rewiring], set[Node]]:
    """The edges that were rewired and the layers that were replaced, and the layers of one model that they mention."""
    sides = _Sides(difference)
    mentioned: set[Node] = set()
    groups: dict[tuple[str, str, str], list[tuple[str, str, Change]]] = {}
    for change in difference.changes:
        if change.kind in ("edge", "replaced") and change.a is not None and change.b is not None:
            letters, names = _Letters(is_named=False), _Letters(is_named=True)
            texts = [
                _expression(port, sides.is_inner, sides.identity, leaves, mentioned)
                for leaves in (letters, names)
                for port in _ends(change, change.a, change.b)
            ]
            # Where one layer simply took another's place, only the names tell which.
            before, after = texts[2:] if set(texts[:2]) <= set(_LETTERS) else texts[:2]
            groups.setdefault((change.kind, before, after), []).append((texts[2], texts[3], change))
    found = []
    for (_, before, after), members in groups.items():
        if len(members) == 1:
            before, after, _ = members[0]
        found.append(Rewiring(before, after, [change for _, _, change in members]))
    return sorted(found, key=lambda one: -len(one.changes)), mentioned


class _Sides:
    """Which layers both models have."""

    def __init__(self, difference: Difference) -> None:
        self.partners: dict[Node, Node] = {}
        self.replaced: set[Node] = set()
        for matching in difference.matchings:
            self.partners.update(matching.origin)
            self.partners.update((node, node) for node in matching.partner)
            self.replaced.update(node for pair in matching.replaced for node in pair)
        for change in difference.changes:
            if change.kind == "attribute" and change.what == "element_type" and change.a and change.b and change.a.type == "Const":
                self.replaced.update((change.a, change.b))

    def is_inner(self, node: Node) -> bool:
        """Whether only one of the models has the layer, or it is a constant of another type in the other."""
        return node not in self.partners or node in self.replaced

    def identity(self, node: Node) -> Node:
        """The node of the first model that stands for both."""
        return self.partners.get(node, node)


class _Letters:
    """What the ends of an expression are called."""

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
    if change.kind == "replaced":
        return [next(iter(node.outputs), None) for node in (a, b)]
    return [source_of(node, int(change.what)) for node in (a, b)]


def _expression(
    root: OutputPort | None, is_inner: Callable[[Node], bool], identity: Callable[[Node], Node], leaves: _Letters, mentioned: set[Node]
) -> str:
    """What computes an output, down to what both models have."""
    if root is None:
        return "nothing"
    texts: dict[tuple[Model, int], str] = {}
    seen: set[Node] = set()
    pending = [root]
    while pending:
        port = pending[-1]
        node, place = port.node, (port.node.model, port.slot)
        if place in texts:
            pending.pop()
        elif not is_inner(node):
            texts[place] = leaves.of(identity(node), port.index)
        elif node not in seen and len(seen) < _MOST:
            seen.add(node)
            pending += [one.source for one in reversed(node.inputs) if one.source is not None]
        elif node not in seen:
            texts[place] = "…"
        else:
            sources = [(source.node.model, source.slot) if (source := one.source) else None for one in node.inputs]
            texts[place] = _call(node, [texts.get(source, "…") if source else "nothing" for source in sources])
            mentioned.add(node)
    text = texts[root.node.model, root.slot]
    return text if len(text) <= _WIDEST else f"{root.node.type}(… {len(seen)} layers)"


def _call(node: Node, arguments: list[str]) -> str:
    if not arguments:
        precision = node.layer.outputs[0].precision if node.layer.outputs else None
        element_type = ElementType.from_precision(precision) if precision else None
        return f"{node.type} {element_type.name}" if element_type else node.type
    counted = [(text, len(list(same))) for text, same in groupby(arguments)]
    words = [f"{count} {text}" if count > 1 and "(" not in text else ", ".join([text] * count) for text, count in counted]
    return f"{node.type}({', '.join(words)})"
