"""Single edits of IRs: what a person or a tool may do to a file by mistake. Each edit says which layers are its place."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple, TypeAlias

from lxml import etree

# The code of struct for the element types of constants that hold sizes, axes and shapes.
_CODES: Final = {"i64": "q", "i32": "i", "u64": "Q", "u32": "I", "i16": "h", "i8": "b", "u8": "B"}
# The most elements of a constant that is edited.
_MOST_ELEMENTS: Final = 16
_PRECISIONS: Final = ("FP32", "FP16", "I64", "I32", "BOOL", "U8")
_WORDS: Final = (
    ("explicit", "valid", "same_upper", "same_lower"),
    ("floor", "ceil"),
    ("none", "numpy", "bidirectional", "explicit"),
    ("f32", "f16", "i64", "i32", "boolean"),
    ("scales", "sizes"),
    ("nearest", "linear", "linear_onnx", "cubic"),
    ("max", "min"),
    ("value", "index", "none"),
)
# Types that are confused, because they take the same inputs.
_TYPES: Final = (
    ("Convolution", "GroupConvolution", "ConvolutionBackpropData", "MatMul"),
    ("MaxPool", "AvgPool"),
    ("Add", "Concat", "MatMul", "Gather", "Equal", "Less", "Reshape", "LogicalAnd"),
    ("Reshape", "Broadcast", "Tile", "Unsqueeze", "Squeeze", "Transpose", "ReduceMean"),
    ("Relu", "ShapeOf", "Softmax", "NonZero", "IsNaN", "LogicalNot"),
    ("Gather", "GatherElements", "GatherND"),
    ("Split", "VariadicSplit"),
    ("StridedSlice", "Slice"),
)


class Edit(NamedTuple):
    """What was edited: in words, the keys (id, name) of the layers that are its place, and the bytes of the two files.

    `is_silent_to_openvino` tells that OpenVINO does not read what was edited.
    """

    kind: str
    text: str
    places: list[tuple[str, str]]
    xml: bytes
    weights: bytes | None = None
    is_silent_to_openvino: bool = False


Layer: TypeAlias = Any
"""An element `<layer>`."""


class Source:
    """An IR that is edited: its tree and its weights."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tree = etree.parse(str(path), etree.XMLParser(huge_tree=True))
        weights = path.with_suffix(".bin")
        self.weights = weights.read_bytes() if weights.exists() else b""

    def copied(self) -> Draft:
        """A copy to be edited."""
        return Draft(deepcopy(self.tree.getroot()), self.weights)


class Draft:
    """A copy of an IR."""

    def __init__(self, root: Any, weights: bytes) -> None:
        self.root = root
        self.weights = weights
        self.layers: list[Layer] = list(root.iter("layer"))

    def of_type(self, *types: str) -> list[Layer]:
        """The layers of these types."""
        return [layer for layer in self.layers if layer.get("type") in types]

    def xml(self) -> bytes:
        """The text of the file."""
        text: bytes = etree.tostring(self.root, xml_declaration=True, encoding="utf-8")
        return text


def key(layer: Layer) -> tuple[str, str]:
    """The id and the name of a layer."""
    return layer.get("id"), layer.get("name") or ""


def edges(layer: Layer) -> list[Any]:
    """The edges of the graph of a layer."""
    found = layer.getparent().getparent().find("edges")
    return [] if found is None else list(found)


def into(layer: Layer) -> list[Any]:
    """The edges that lead to a layer."""
    return [edge for edge in edges(layer) if edge.get("to-layer") == layer.get("id")]


def out_of(layer: Layer) -> list[Any]:
    """The edges that start at a layer."""
    return [edge for edge in edges(layer) if edge.get("from-layer") == layer.get("id")]


def layer_of(beside: Layer, id: str) -> Layer:
    """The layer with an id in the graph of another one."""
    return next(layer for layer in beside.getparent() if layer.get("id") == id)


def _another(random: Random, number: int) -> int:
    """Another number than this one: usually a near one."""
    others = [number + 1, number - 1, number + 2, number - 2, number * 2, 0, 1, -1, number // 2, number + 10]
    return random.choice([one for one in others if one != number])


def _ours(draft: Draft) -> list[Layer]:
    """The layers with attributes that are read; not those of constants and inputs, which have edits of their own."""
    found = []
    for layer in draft.layers:
        data = layer.find("data")
        if data is not None and len(data.attrib) and layer.get("type") not in ("Const", "Parameter", "Result"):
            found.append(layer)
    return found


def attribute(draft: Draft, random: Random) -> tuple[str, list[Layer]]:
    """Another value for an attribute of a layer."""
    layer = random.choice(_ours(draft))
    data = layer.find("data")
    name = random.choice(sorted(data.attrib))
    old = data.get(name)
    parts = [part.strip() for part in old.split(",")]
    at = random.randrange(len(parts))
    words = [words for words in _WORDS if old.lower() in words]
    if old.lower() in ("true", "false"):
        new = "false" if old.lower() == "true" else "true"
    elif parts[at].lstrip("-").isdigit():
        new = ",".join([*parts[:at], str(_another(random, int(parts[at]))), *parts[at + 1 :]])
    elif words:
        new = random.choice([word for word in random.choice(words) if word != old.lower()])
    else:
        cut = random.randrange(len(old)) if old else 0
        new = old[:cut] + old[cut + 1 :]
    data.set(name, new)
    return f"{name}={old!r} -> {new!r}", [layer]


def lost_attribute(draft: Draft, random: Random) -> tuple[str, list[Layer]]:
    """An attribute less."""
    layer = random.choice(_ours(draft))
    data = layer.find("data")
    name = random.choice(sorted(data.attrib))
    old = data.attrib.pop(name)
    return f"{name}={old!r} lost", [layer]


def _range(layer: Layer) -> tuple[int, int]:
    """Where the bytes of a Const begin and end; an empty range if it has none."""
    data = layer.find("data")
    if data is None or data.get("offset") is None:
        return 0, 0
    return int(data.get("offset")), int(data.get("offset")) + int(data.get("size"))


def constant(draft: Draft, random: Random) -> tuple[str, list[Layer]]:
    """Another number as an element of a constant; a constant that shares the bytes changes, too."""
    found = []
    for layer in draft.of_type("Const"):
        code = _CODES.get(layer.find("data").get("element_type"))
        start, end = _range(layer)
        if code and 0 < end - start <= _MOST_ELEMENTS * struct.calcsize(code) and end <= len(draft.weights):
            found.append((layer, code, start, end))
    layer, code, start, end = random.choice(found)
    size = struct.calcsize(f"<{code}")
    at = start + size * random.randrange((end - start) // size)
    [old] = struct.unpack_from(f"<{code}", draft.weights, at)
    new = _another(random, old)
    draft.weights = draft.weights[:at] + struct.pack(f"<{code}", new) + draft.weights[at + size :]
    return f"element {(at - start) // size}: {old} -> {new}", [
        one for one, begin, stop in ((one, *_range(one)) for one in draft.of_type("Const")) if begin < at + size and at < stop
    ]


def transposed_constant(draft: Draft, random: Random) -> tuple[str, list[Layer]]:
    """The sizes of a Const in another order, in its attribute and in its port."""
    found = []
    for layer in draft.of_type("Const"):
        dims = layer.findall("output/port/dim")
        if len({dim.text for dim in dims}) > 1:
            found.append((layer, dims))
    layer, dims = random.choice(found)
    old = [dim.text for dim in dims]
    new = old[:]
    while new == old:
        random.shuffle(new)
    layer.find("data").set("shape", ",".join(new))
    for dim, text in zip(dims, new, strict=True):
        dim.text = text
    return f"shape {old} -> {new}", [layer]


def redirected(draft: Draft, random: Random) -> tuple[str, list[Layer]]:
    """An edge that starts at another layer before its end."""
    layer = random.choice([one for one in draft.layers if into(one)])
    edge = random.choice(into(layer))
    before = layer.getparent()[: layer.getparent().index(layer)]
    starts = [(one, port) for one in before for port in one.findall("output/port") if one.get("id") != edge.get("from-layer")]
    start, port = random.choice(starts)
    text = f"port {edge.get('to-port')} from {edge.get('from-layer')} -> {start.get('id')}"
    edge.set("from-layer", start.get("id"))
    edge.set("from-port", port.get("id"))
    return text, [layer]


def swapped(draft: Draft, random: Random) -> tuple[str, list[Layer]]:
    """Two inputs of a layer exchanged."""
    layer = random.choice([one for one in draft.layers if len(into(one)) > 1])
    one, other = random.sample(into(layer), 2)
    ends = one.get("to-port"), other.get("to-port")
    one.set("to-port", ends[1])
    other.set("to-port", ends[0])
    return f"ports {ends[0]} and {ends[1]}", [layer]


def lost_edge(draft: Draft, random: Random) -> tuple[str, list[Layer]]:
    """An edge less."""
    layer = random.choice([one for one in draft.layers if into(one)])
    edge = random.choice(into(layer))
    edge.getparent().remove(edge)
    return f"port {edge.get('to-port')} from {edge.get('from-layer')}", [layer]


def bypassed(draft: Draft, random: Random) -> tuple[str, list[Layer]]:
    """A layer whose readers read what it takes instead; it stays, or is removed."""
    layer = random.choice([one for one in draft.layers if into(one) and out_of(one) and one.get("type") != "Result"])
    before = into(layer)[0]
    readers = [layer_of(layer, edge.get("to-layer")) for edge in out_of(layer)]
    for edge in out_of(layer):
        edge.set("from-layer", before.get("from-layer"))
        edge.set("from-port", before.get("from-port"))
    if random.random() < 0.5:
        return "it stays", [layer, *readers]
    for edge in into(layer):
        edge.getparent().remove(edge)
    layer.getparent().remove(layer)
    return "it is removed", readers


def parameter(draft: Draft, random: Random) -> tuple[str, list[Layer]]:
    """Another size, or another rank, of an input; its port may record it, too. A size that is open fits any other, so it stays."""
    found = [one for one in draft.of_type("Parameter") if one.find("data") is not None and one.find("data").get("shape")]
    layer = random.choice(found)
    old = layer.find("data").get("shape")
    parts = old.split(",")
    at = random.randrange(len(parts))
    if random.random() < 0.2:
        new = [*parts[:at], *parts[at + 1 :]] if random.random() < 0.5 else [*parts[:at], "1", *parts[at:]]
    else:
        new = [*parts[:at], str(abs(_another(random, int(parts[at])))), *parts[at + 1 :]]
    layer.find("data").set("shape", ",".join(new))
    if random.random() < 0.5:
        port = layer.find("output/port")
        for dim in port.findall("dim"):
            port.remove(dim)
        for size in reversed(new):
            dim = etree.Element("dim")
            dim.text = size if size.strip().isdigit() else "-1"
            port.insert(0, dim)
    return f"shape {old} -> {','.join(new)}", [layer]


def recorded(draft: Draft, random: Random) -> tuple[str, list[Layer]]:
    """Another number as a recorded dim of an output port."""
    ports = [port for layer in draft.layers for port in layer.findall("output/port") if port.findall("dim")]
    port = random.choice(ports)
    dim = random.choice([one for one in port.findall("dim") if int(one.text) >= 0])
    old = int(dim.text)
    dim.text = str(max(_another(random, old), 0) if old else 3)
    if int(dim.text) == old:
        dim.text = str(old + 1)
    return f"dim {old} -> {dim.text}", [port.getparent().getparent()]


def precision(draft: Draft, random: Random) -> tuple[str, list[Layer]]:
    """Another recorded precision of an output port."""
    port = random.choice([port for layer in draft.layers for port in layer.findall("output/port") if port.get("precision") in _PRECISIONS])
    old = port.get("precision")
    port.set("precision", random.choice([one for one in _PRECISIONS if one != old]))
    return f"precision {old} -> {port.get('precision')}", [port.getparent().getparent()]


def typed(draft: Draft, random: Random) -> tuple[str, list[Layer]]:
    """Another type of a layer: one that it is confused with, or that of another layer."""
    layer = random.choice([one for one in draft.layers if one.get("type") not in ("Const", "Parameter", "Result")])
    old = layer.get("type")
    groups = [group for group in _TYPES if old in group]
    types = random.choice(groups) if groups and random.random() < 0.7 else sorted({one.get("type") for one in draft.layers})
    new = random.choice([one for one in types if one not in (old, "Const", "Parameter", "Result")])
    layer.set("type", new)
    return f"{old} -> {new}", [layer]


def duplicate(draft: Draft, random: Random) -> tuple[str, list[Layer]]:
    """The id of another layer."""
    layer = random.choice([one for one in draft.layers if len(one.getparent()) > 1])
    other = random.choice([one for one in layer.getparent() if one is not layer])
    text = f"id {layer.get('id')} -> {other.get('id')}"
    layer.set("id", other.get("id"))
    return text, [layer, other]


def cut_weights(draft: Draft, random: Random) -> tuple[str, list[Layer]]:
    """Weights that end too early."""
    end = random.randrange(len(draft.weights))
    draft.weights = draft.weights[:end]
    return f"ends at byte {end}", [one for one in draft.of_type("Const") if _range(one)[1] > end]


def offset(draft: Draft, random: Random) -> tuple[str, list[Layer]]:
    """Another offset of a constant."""
    layer = random.choice([one for one in draft.of_type("Const") if _range(one)[1]])
    data = layer.find("data")
    old = int(data.get("offset"))
    new = old + random.choice([-8, -4, 4, 8, 16, 64, len(draft.weights), random.randrange(len(draft.weights))])
    data.set("offset", str(max(new, 0) if new != old else old + 8))
    return f"offset {old} -> {data.get('offset')}", [layer]


_Kind: TypeAlias = Callable[[Draft, Random], tuple[str, list[Layer]]]
KINDS: Final[dict[str, _Kind]] = {
    "attribute": attribute,
    "lost attribute": lost_attribute,
    "constant": constant,
    "Const's shape transposed": transposed_constant,
    "edge moved": redirected,
    "inputs swapped": swapped,
    "edge lost": lost_edge,
    "layer bypassed": bypassed,
    "Parameter's shape": parameter,
    "type": typed,
    "id": duplicate,
    "recorded dim": recorded,
    "recorded precision": precision,
    "weights cut": cut_weights,
    "offset": offset,
}
# What OpenVINO does not read: the dims and precisions that a file records.
_RECORDS: Final = ("recorded dim", "recorded precision")


def edits(source: Source, kind: str, random: Random) -> Iterator[Edit]:
    """One edit of this kind, or none if the model has nothing to edit in this way."""
    draft = source.copied()
    try:
        text, layers = KINDS[kind](draft, random)
    except (IndexError, ValueError, AttributeError, TypeError, struct.error):  # nothing to choose from, or what this kind cannot write
        return
    weights = draft.weights if draft.weights != source.weights else None
    yield Edit(kind, text, [key(layer) for layer in layers], draft.xml(), weights, kind in _RECORDS)
