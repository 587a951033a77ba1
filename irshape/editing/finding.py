"""The layers and tensors of a graph that can be edited, found by their names."""

from __future__ import annotations

from collections.abc import Iterator

from irshape.editing.draft import Draft
from irshape.editing.layers import Layer, Tensor, layer_of, tensor_of
from irshape.editing.names import similar


class Layers:
    """What can be found in a graph: its layers, in topological order, its tensors, its inputs and outputs."""

    _draft: Draft

    def __getitem__(self, key: str | int) -> Layer:
        """The layer of an id, or the first layer of a name. Raises `KeyError` if there is none."""
        state = self._draft.state
        item = state.items.get(key) if isinstance(key, int) else state.named(key)
        if item is None:
            raise KeyError(f"no layer {key!r}{similar(str(key), state.by_name)}")
        return layer_of(self._draft, item)

    def __contains__(self, item: object) -> bool:
        """Whether the graph has a layer of this name, or this layer."""
        state = self._draft.state
        return state.is_live(item._item) if isinstance(item, Layer) else isinstance(item, str) and state.named(item) is not None

    def __iter__(self) -> Iterator[Layer]:
        return iter([layer_of(self._draft, item) for item in sorted(self._draft.state.items.values(), key=lambda item: item.label)])

    def __len__(self) -> int:
        return len(self._draft.state.items)

    def tensor(self, name: str) -> Tensor:
        """The tensor of this name, or the only output of the layer of this name. Raises `KeyError` if there is none."""
        value = self._draft.tensor(name)
        if value is not None:
            return tensor_of(self._draft, value)
        state = self._draft.state
        item = state.named(name)
        if item is None:
            raise KeyError(f"no tensor {name!r}{similar(name, state.by_name)}")
        return layer_of(self._draft, item).output

    @property
    def inputs(self) -> list[Tensor]:
        """The outputs of the Parameters, in the order of the file."""
        return [tensor_of(self._draft, value) for item in self._draft.of_type("Parameter") for value in item.outputs]

    @property
    def outputs(self) -> list[Tensor]:
        """The tensors that the Results read, in the order of the file."""
        return [tensor_of(self._draft, value) for item in self._draft.of_type("Result") for value in item.inputs if value is not None]
