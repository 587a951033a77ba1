"""Patch constants: a copy of a model in which some elements of constants have other values.

The bytes of the user's weights never change. A patched constant that shares bytes with another constant gets bytes of its own behind all
others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from irshape.inference.stored import constants
from irshape.model.load import load
from irshape.model.model import Model, Node
from irshape.xml.document import Layer
from irshape.xml.patched_weights import PatchedWeights
from irshape.xml.weights import Weights, decode, encode
from irshape.xml.writer import Splice, attribute_splices, spliced

# The bytes of a constant that moves begin at a multiple of this number.
_ALIGNMENT: Final = 64


class Patch(NamedTuple):
    """The new elements of a Const: `elements` has the old and the new value by position in row-major order."""

    key: str
    name: str
    line: int
    elements: dict[int, tuple[int, int]]


def patched(model: Model, weights: Weights, numbers: Mapping[int, Mapping[int, int]]) -> tuple[Model, Weights, list[Patch]]:
    """A copy of a model, its weights, and the patches that make it one.

    `numbers` are the new elements, by the index of the Const and by position. Raises `OverflowError`
    if an element type cannot hold an element, and `WeightsError` if the weights cannot be read.
    """
    document = model.document
    patches: list[Patch] = []
    changes: dict[Layer, bytes] = {}
    for index, elements in numbers.items():
        node = model.nodes[index]
        changes[node.layer], old = _changed(node, weights, elements)
        patches.append(Patch(node.key, node.name, node.line, {at: (old[at], new) for at, new in sorted(elements.items())}))
    ranges = [(start, end, changes.get(layer)) for start, end, layer, _ in constants(document)]
    written: dict[int, bytes] = {}
    moved: dict[bytes, int] = {}
    splices: list[Splice] = []
    total = weights.total
    for layer, data in changes.items():
        start = layer.weights_at or 0
        end = start + len(data)
        if all((one, other, own) == (start, end, data) for one, other, own in ranges if one < end and start < other):
            written[start] = data
            continue
        if data not in moved:
            moved[data] = total = -(-total // _ALIGNMENT) * _ALIGNMENT
            written[total] = data
            total += len(data)
        splices += attribute_splices(document, layer, {"offset": str(moved[data])})
    source = spliced(document, sorted(splices))
    copied = PatchedWeights(weights, written)
    copy = load(
        source,
        path=document.path,
        weights=copied,
        opset=model.default_opset,
        limits=document.limits,
        extensions=model.registry.sources,
    )
    return copy, copied, patches


def _changed(node: Node, weights: Weights, elements: Mapping[int, int]) -> tuple[bytes, dict[int, int]]:
    """The bytes of a Const with other elements, and the old values of these elements."""
    const = node.const
    data = bytearray(weights.read(const.offset, const.size))
    width = const.element_type.byte_size(1)
    old: dict[int, int] = {}
    for index, new in elements.items():
        start, end = index * width, (index + 1) * width
        (element,) = decode(const.element_type, bytes(data[start:end]), 1) or (0,)
        old[index] = int(element)
        data[start:end] = encode(const.element_type, new)
    return bytes(data), old


def replaced(patches: Iterable[Patch]) -> dict[tuple[int, int], int]:
    """The number of patched constants in which one value replaces another, by the old and the new value; the most frequent first."""
    return dict(Counter(pair for patch in patches for pair in set(patch.elements.values())).most_common())
