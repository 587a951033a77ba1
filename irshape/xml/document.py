"""A file as it stands: layers, ports and edges with the offset of each, before anything is checked against an op.

Offsets count bytes of `Document.source` from 0. `Document.position` turns one into line and column, and
`Document.attribute_offset` finds an attribute inside a start tag, so that neither costs anything until it is printed.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from irshape.report.diagnostic import Diagnostics
from irshape.shape.limits import DEFAULT, Limits

# Lines and columns are counted per block once, so that a place costs one block and not the whole file, or line.
_BLOCK: Final = 1 << 12
_ATTRIBUTE: Final = r"\s+([^\s=/>]+)\s*=\s*(?:\"[^\"]*\"|'[^']*')"
_TAG_NAME: Final = r"<[^\s/>]*"


PortRecord: TypeAlias = tuple[int, str | None, tuple[int, ...] | None]
"""Id, precision and dims of a port."""


class Port:
    """A `<port>`: `dims` as recorded (-1 is unknown), `None` where the port has no `<dim>`.

    `offset` is that of `<port`, `end` that of the first byte after the port. `value` holds the numbers a specification
    example gives in a comment, flat, and the shape of their nesting in `value_shape`. `annotation` is what irshape wrote
    about the port when `<dim>` could not say it, `layout` what OpenVINO knows of its axes: `[N,C,H,W]`. An id that is missing
    or unreadable is -1.
    """

    __slots__ = ("annotation", "dims", "end", "id", "layout", "names", "offset", "precision", "value", "value_shape")

    def __init__(
        self,
        id: int,
        precision: str | None,
        offset: int,
        dims: tuple[int, ...] | None = None,
        end: int = -1,
        names: str | None = None,
    ) -> None:
        self.id = id
        self.precision = precision
        self.names = names
        self.dims = dims
        self.offset = offset
        self.end = end
        self.annotation: str | None = None
        self.layout: str | None = None
        self.value: tuple[int | float, ...] | None = None
        self.value_shape: tuple[int, ...] | None = None


class Signature:
    """What a layer says but for its id, its name and its places; layers that say the same may share one.

    `attributes` are those of the first `<data>`, as text; where each layer has an `offset` of its own, it is 0 here. `inputs` and
    `outputs` give the position of each port by its id, the first where an id is there twice (`is_doubled`); `records` are all
    ports, inputs first.
    """

    __slots__ = ("attributes", "input_count", "inputs", "is_doubled", "output_count", "outputs", "records", "type", "version")

    def __init__(self, type: str, version: str, attributes: dict[str, str]) -> None:
        self.type = type
        self.version = version
        self.attributes = attributes
        self.input_count = self.output_count = 0
        self.inputs: dict[int, int] = {}
        self.outputs: dict[int, int] = {}
        self.is_doubled = False
        self.records: tuple[PortRecord, ...] = ()

    def record(self, inputs: Sequence[PortRecord], outputs: Sequence[PortRecord]) -> None:
        """Let these be the ports."""
        self.input_count = len(inputs)
        self.output_count = len(outputs)
        self.inputs = _positions(inputs)
        self.outputs = _positions(outputs)
        self.is_doubled = len(self.inputs) < len(inputs) or len(self.outputs) < len(outputs)
        self.records = (*inputs, *outputs)

    @property
    def input_ids(self) -> list[int]:
        """The ids of the inputs."""
        return [port[0] for port in self.records[: self.input_count]]

    @property
    def output_ids(self) -> list[int]:
        """The ids of the outputs."""
        return [port[0] for port in self.records[self.input_count :]]


def _positions(ports: Sequence[PortRecord]) -> dict[int, int]:
    if len(ports) == 1:
        return {ports[0][0]: 0}
    positions = {port[0]: index for index, port in enumerate(ports)}
    if len(positions) < len(ports):
        positions = {port[0]: len(ports) - index for index, port in enumerate(reversed(ports), 1)}
    return positions


_Ports: TypeAlias = tuple[list[Port], list[Port]]


class Layer:
    """A `<layer>`; -1 marks an offset of something absent.

    A layer whose id is missing or unreadable has a negative one that no other layer of its graph has; a `name` that is missing is
    empty. `weights_at` is where the bytes of a Const begin, if its signature leaves that to it. `ports` are the inputs and outputs, or
    what makes them when they are asked for: most layers are inferred by their `signature`. `bodies` and `port_maps` are there for If,
    Loop and TensorIterator only.
    """

    __slots__ = ("_ports", "bodies", "data_offset", "end", "id", "name", "offset", "port_maps", "signature", "weights_at")

    def __init__(
        self,
        id: int,
        name: str,
        signature: Signature,
        weights_at: int | None,
        offset: int,
        end: int,
        data_offset: int,
        ports: _Ports | Callable[[Layer], _Ports],
    ) -> None:
        self.id = id
        self.name = name
        self.signature = signature
        self.weights_at = weights_at
        self.offset = offset
        self.end = end
        self.data_offset = data_offset
        self._ports = ports
        self.bodies: dict[str, Graph] | None = None
        self.port_maps: list[PortMap] | None = None

    @property
    def type(self) -> str:
        """The type as the file spells it; empty where it has none."""
        return self.signature.type

    @property
    def version(self) -> str:
        """The opset as the file gives it; empty where it has none."""
        return self.signature.version

    @property
    def attributes(self) -> dict[str, str]:
        """The attributes of the first `<data>`, as text; to be read only, as layers may share them."""
        shared = self.signature.attributes
        return shared if self.weights_at is None else {**shared, "offset": str(self.weights_at)}

    @property
    def inputs(self) -> list[Port]:
        """The ports of `<input>`."""
        return self._made()[0]

    @property
    def outputs(self) -> list[Port]:
        """The ports of `<output>`."""
        return self._made()[1]

    def _made(self) -> _Ports:
        ports = self._ports
        if not isinstance(ports, tuple):
            ports = self._ports = ports(self)
        return ports


class Edge:
    """An `<edge>` between the ports of two layers, by their ids in the file."""

    __slots__ = ("from_layer", "from_port", "offset", "to_layer", "to_port")

    def __init__(self, from_layer: int, from_port: int, to_layer: int, to_port: int, offset: int) -> None:
        self.from_layer = from_layer
        self.from_port = from_port
        self.to_layer = to_layer
        self.to_port = to_port
        self.offset = offset


class PortMap:
    """One child of a `port_map`, `then_port_map`, `else_port_map` or `back_edges`: its tag, attributes and place."""

    __slots__ = ("attributes", "map", "offset", "tag")

    def __init__(self, map: str, tag: str, attributes: dict[str, str], offset: int) -> None:
        self.map = map
        self.tag = tag
        self.attributes = attributes
        self.offset = offset


class Graph:
    """The layers and edges of a net or a body.

    `ends` are four numbers for each edge: the layer and port that it comes from, and those that it leads to, by their ids in the file.
    """

    __slots__ = ("_find_edges", "_places", "end", "ends", "layers", "offset")

    def __init__(self, offset: int) -> None:
        self.layers: list[Layer] = []
        self.ends: array[int] = array("q")
        self.offset = offset
        self.end = offset
        self._places: list[int] = []
        self._find_edges: Callable[[], list[int]] | None = None

    def add_edge(self, ends: Sequence[int], offset: int) -> None:
        """Put one more edge to the others."""
        self.ends.extend(ends)
        self._places.append(offset)

    def set_edges(self, ends: array[int], find: Callable[[], list[int]]) -> None:
        """Let these be the edges; `find` gives their places when one is asked for."""
        self.ends = ends
        self._find_edges = find

    def edge_offset(self, number: int) -> int:
        """The place of an edge."""
        if self._find_edges is not None:
            self._places, self._find_edges = self._find_edges(), None
        return self._places[number]

    @property
    def edges(self) -> list[Edge]:
        """The edges with their places."""
        numbers = iter(self.ends)
        return [Edge(*ends, self.edge_offset(number)) for number, ends in enumerate(zip(numbers, numbers, numbers, numbers, strict=True))]


class Document:
    """A file that was read: its bytes, its graph and what was wrong with its XML.

    `version` is the IR version (10 or 11; 0 for a specification example, which has none), `is_example` tells a bare
    `<layer>` from a `<net>`. `path` is that of the file the `.bin` is looked for beside, or None for bytes and trees.
    `encoding` is a Python codec that knows the byte order and writes no mark. `is_complete` is false where it could not be read whole,
    so that what follows from the rest being absent is no fault, `is_foreign` true where the root element is that of another format,
    `has_annotations` where irshape wrote about its ports.
    `limits` are those it was read with, which bind what is made of it, too.
    """

    __slots__ = (
        "_attributes",
        "_places",
        "diagnostics",
        "encoding",
        "graph",
        "has_annotations",
        "is_complete",
        "is_example",
        "is_foreign",
        "limits",
        "name",
        "path",
        "source",
        "version",
    )

    def __init__(self, source: bytes, path: str | None, limits: Limits = DEFAULT) -> None:
        self.source = source
        self.path = path
        self.limits = limits
        self.encoding = "utf-8"
        self.version = 0
        self.name = ""
        self.is_complete = True
        self.is_example = False
        self.is_foreign = False
        self.has_annotations = False
        self.graph = Graph(0)
        self.diagnostics = Diagnostics(limits.faults)
        self._places: list[tuple[int, int]] = []
        self._attributes: tuple[int, dict[str, int]] = (-1, {})

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a byte offset, both from 1, the column in characters."""
        places = self._places
        if not places:
            place = (0, 0)
            for start in range(0, len(self.source) + 1, _BLOCK):
                places.append(place)
                place = self._moved(place, start, start + _BLOCK)
        block = min(offset // _BLOCK, len(places) - 1)
        line, column = self._moved(places[block], block * _BLOCK, offset)
        return line + 1, column + 1

    def _moved(self, place: tuple[int, int], start: int, end: int) -> tuple[int, int]:
        """Line and column, from 0, after a range of bytes that begins at a place."""
        line, column = place
        text = _characters(self.source[start:end], self.encoding)
        if lines := text.count("\n"):
            column = 0
            text = text[text.rindex("\n") + 1 :]
        return line + lines, column + len(text)

    def attribute_offset(self, tag_offset: int, name: str) -> int:
        """Where attribute `name` stands in the start tag at `tag_offset`; the tag's own offset if it is not there."""
        if self._attributes[0] != tag_offset:
            self._attributes = tag_offset, self._attribute_offsets(tag_offset)
        return self._attributes[1].get(name, tag_offset)

    def _attribute_offsets(self, tag_offset: int) -> dict[str, int]:
        """Where each attribute of a start tag stands."""
        encoding = self.encoding
        length = 1024
        while True:
            text = self.source[tag_offset : tag_offset + length].decode(encoding, "ignore")
            tag = re.match(_TAG_NAME, text)
            at = tag.end() if tag else 0
            offset = tag_offset + len(text[:at].encode(encoding))
            found: dict[str, int] = {}
            while attribute := re.compile(_ATTRIBUTE).match(text, at):
                found[attribute[1]] = offset + len(text[at : attribute.start(1)].encode(encoding))
                offset += len(attribute[0].encode(encoding))
                at = attribute.end()
            # Attributes that stop with more than a tag's end to come were cut off by `length`, unless the file stops too.
            if text[at:].lstrip()[:1] in ("/", ">") or tag_offset + length >= len(self.source):
                return found
            length *= 8


# Of the bytes of a character in UTF-8 the first is like no other; a byte order mark is no character.
_CONTINUED: Final = bytes(range(0x80, 0xC0))
_MARK: Final = "\ufeff"


def _characters(piece: bytes, encoding: str) -> str:
    """As many characters as begin in a piece of a text, with its line feeds among them."""
    if not encoding.startswith("utf-16"):
        if encoding == "utf-8":
            piece = piece.replace(_MARK.encode(), b"").translate(None, _CONTINUED)
        return piece.decode("latin-1")
    text = piece.decode(encoding, "replace").replace(_MARK, "")
    # A second surrogate belongs to the character in the piece before.
    upper = piece[1:2] if encoding == "utf-16-le" else piece[:1]
    return text[1:] if b"\xdc" <= upper <= b"\xdf" else text
