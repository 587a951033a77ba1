"""Whether sets of layers are equal up to the names and the order of their layers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence

from irshape.model.model import Node


class Contents:
    """The contents of layers, by their positions: their types, attributes and shapes, and how they read each other."""

    def __init__(
        self, nodes: Sequence[Node], producers: Sequence[Sequence[int]], is_hidden: Sequence[int], shape_of: Callable[[Node], Hashable]
    ) -> None:
        """`producers` are those of each layer; `is_hidden` says which layers are constant. `shape_of` is that of `Hierarchy`."""
        self._nodes = nodes
        self._producers = producers
        self._is_hidden = is_hidden
        self._shape_of = shape_of
        self._own: dict[int, int] = {}
        # What each layer reads, as the layer and what it is for a reader outside its set; a constant is both times what it is.
        self._inputs: dict[int, list[tuple[int, int]]] = {}
        self._numbers: dict[Hashable, int] = {}

    def read(self, layers: Iterable[int]) -> None:
        """Read layers of one graph."""
        shapes = {layer: self._number(("shape", self._shape_of(self._nodes[layer]))) for layer in layers}
        for layer, shape in shapes.items():
            node = self._nodes[layer]
            content = (0 if node.type == "Result" else id(node.layer.signature), shape, id(node) if node.bodies else 0)
            self._own[layer] = self._number((node.type, *content))
            inputs = self._inputs[layer] = []
            for one in self._producers[layer]:
                if self._is_hidden[one]:  # what is constant is equal if its shape is
                    constant = ~self._number(("constant", self._shape_of(self._nodes[one])))
                    inputs.append((constant, constant))
                else:
                    inputs.append((one, ~shapes[one]))

    def numbers(self, several: Sequence[Sequence[int]]) -> list[int]:
        """A number for each of several sets of layers. Sets have the same one if they are equal up to the names and the order of layers."""
        sums = [sum([self._own[layer] for layer in layers]) for layers in several]
        alike = Counter(sums)  # a set whose sum no other set has is equal to none
        return [self._of(layers) if alike[own] > 1 else ~place for place, (layers, own) in enumerate(zip(several, sums, strict=True))]

    def _of(self, layers: Sequence[int]) -> int:
        """The number of what these layers are, and of how they read each other; the order of the layers makes no difference."""
        order = self._order(layers) if len(layers) > 1 else layers
        place = {layer: place for place, layer in enumerate(order)}.get
        return self._number(tuple([(self._own[layer], *[place(one, outside) for one, outside in self._inputs[layer]]) for layer in order]))

    def _order(self, layers: Sequence[int]) -> list[int]:
        """The layers in an order that depends on what each follows from and on what follows from it, and not on their order in the file."""
        own, inputs, number = self._own, self._inputs, self._number
        above: dict[int, int] = {}
        for layer in layers:
            above[layer] = number((own[layer], *[above.get(one, outside) for one, outside in inputs[layer]]))
        below: dict[int, list[tuple[int, int]]] = {layer: [] for layer in layers}
        keys: dict[int, int] = {}
        for layer in reversed(layers):
            key = keys[layer] = number((above[layer], *sorted(below[layer])))
            for place, (one, _) in enumerate(inputs[layer]):
                if one in below:
                    below[one].append((key, place))
        return sorted(layers, key=keys.__getitem__)

    def _number(self, content: Hashable) -> int:
        return self._numbers.setdefault(content, len(self._numbers))
