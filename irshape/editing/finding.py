"""The layers and tensors of a graph that can be edited, found by their names."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from irshape.editing.draft import Draft
from irshape.editing.layers import Layer, Tensor, layer_of, tensor_of
from irshape.editing.state import Item
from irshape.model.finding import Meaning, Names, fused_of, meanings, split_names, unknown, variable_of


class Layers:
    """What can be found in a graph: its layers, in topological order, its tensors, its inputs and outputs."""

    _draft: Draft

    def __getitem__(self, key: str | int) -> Layer:
        """The layer of an id, or the first layer of a name; else the one that `layer` finds. Raises `KeyError` if there is none."""
        item = self._draft.state.items.get(key) if isinstance(key, int) else self._draft.state.named(key)
        if item is None:
            item = self._meant(str(key), by_name=True)[0].layer
        return layer_of(self._draft, item)

    def layer(self, text: str) -> Layer:
        """The layer that a text names: its id, its name, the name of its tensor, its variable, or a name that OpenVINO fused into it.

        The first of these that fits counts. Raises `KeyError` if none does.
        """
        return layer_of(self._draft, self._meant(text)[0].layer)

    def _named(self, text: str, *, by_name: bool = False) -> list[Meaning[Item]]:
        """The layers that a text names."""
        items = sorted(self._draft.state.items.values(), key=lambda item: item.place)
        fused = _fused if b"fused_names" in self._draft.model.document.source else None
        return meanings(text, items, names_of, fused, by_name=by_name)

    def _meant(self, text: str, thing: str = "layer", *, by_name: bool = False) -> list[Meaning[Item]]:
        """The layers that a text names. Raises `KeyError` if there is none."""
        found = self._named(text, by_name=by_name)
        if not found:
            items = self._draft.state.items.values()
            tensors = (name for item in items for value in item.outputs for name in split_names(value.names))
            raise KeyError(unknown(text, chain((item.name for item in items), tensors), thing))
        return found

    def __contains__(self, item: object) -> bool:
        """Whether the graph has a layer of this name, or this layer."""
        state = self._draft.state
        return state.is_live(item._item) if isinstance(item, Layer) else isinstance(item, str) and state.named(item) is not None

    def __iter__(self) -> Iterator[Layer]:
        return iter([layer_of(self._draft, item) for item in sorted(self._draft.state.items.values(), key=lambda item: item.label)])

    def __len__(self) -> int:
        return len(self._draft.state.items)

    def tensor(self, name: str) -> Tensor:
        """The tensor of this name, or the only output of the layer that the name means. Raises `KeyError` if there is none."""
        value = self._draft.tensor(name)
        if value is not None:
            return tensor_of(self._draft, value)
        _, item, output = self._meant(name, "tensor", by_name=True)[0]
        return layer_of(self._draft, item).output if output is None else tensor_of(self._draft, item.outputs[output])

    @property
    def inputs(self) -> list[Tensor]:
        """The outputs of the Parameters, in the order of the file."""
        return [tensor_of(self._draft, value) for item in self._draft.of_type("Parameter") for value in item.outputs]

    @property
    def outputs(self) -> list[Tensor]:
        """The tensors that the Results read, in the order of the file."""
        return [tensor_of(self._draft, value) for item in self._draft.of_type("Result") for value in item.inputs if value is not None]


def names_of(item: Item) -> Names:
    """What a layer of a draft may be called."""
    return Names(str(item.id), item.type, item.name, [value.names for value in item.outputs], variable_of(item.type, item.attributes))


def _fused(item: Item) -> str:
    return "" if item.base is None else fused_of(item.base)
