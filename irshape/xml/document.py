"""The content of a file: layers, ports and edges with their offsets, before any check against an operation.

Offsets count bytes of `Document.source` from 0. `Document.position` turns an offset into line and column, and
`Document.attribute_offset` finds an attribute inside a start tag. Both are computed only for a place that is reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from irshape.report.diagnostic import Diagnostic, Diagnostics
from irshape.shape.compilation import NamedTuple
from irshape.shape.limits import DEFAULT, Limits
from irshape.xml.lexical import INPUTS

if TYPE_CHECKING:
    from lxml.etree import _ElementTree

    from irshape.xml.rt_info import RtInfo
    from irshape.xml.weights import Weights, WeightsChoice

# The line and column at the start of each block are computed once, so that a position costs the reading of one block.
_BLOCK: Final = 1 << 12
_ATTRIBUTE: Final = r"\s+([^\s=/>]+)\s*=\s*(?:\"[^\"]*\"|'[^']*')"
_NOTES: Final = f"<{INPUTS[0]}>".encode()
_TAG_NAME: Final = r"<[^\s/>]*"

PortRecord: TypeAlias = tuple[int, str | None, tuple[int, ...] | None]
"""Id, precision and dims of a port."""


class Port:
    """A `<port>`: `dims` as recorded (-1 is unknown), `None` if the port has no `<dim>`.

    `offset` is the offset of `<port`, `end` that of the first byte after the port. An id that is missing or unreadable is -1.
    `annotation` is the text that irshape wrote into the port's `<rt_info>`, for shapes that `<dim>` cannot express. `layout` is
    OpenVINO's layout: `[N,C,H,W]`. In a specification example, `value` is the flat tuple of the numbers in the port's comment, and
    `value_shape` the shape of their nesting.
    """

    __slots__ = ("annotation", "dims", "end", "id", "layout", "names", "offset", "precision", "value", "value_shape")

    def __init__(
        self, id: int, precision: str | None, offset: int, dims: tuple[int, ...] | None = None, end: int = -1, names: str | None = None
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


Positions: TypeAlias = dict[tuple[int, ...], dict[int, int]]
"""The positions of ports by their ids, for each list of ids."""


class LayerSignature:
    """The content of a layer apart from its id, its name and its offsets in the file; layers with equal content may share it.

    `attributes` are those of the first `<data>`, as text; `offset` is "0" if each layer has its own. `inputs` and `outputs` map the
    id of a port to its position, to the first if two ports have one id (`is_doubled`). `records` holds all ports, inputs first.
    """

    __slots__ = ("attributes", "input_count", "inputs", "is_doubled", "output_count", "outputs", "records", "type", "version")

    def __init__(self, type: str, version: str, attributes: dict[str, str]) -> None:
        # OpenVINO takes a Parameter for an input whatever the case of its type; every other type counts as it is spelled.
        self.type = "Parameter" if type.lower() == "parameter" else type
        self.version = version
        self.attributes = attributes
        self.input_count = self.output_count = 0
        self.inputs: dict[int, int] = {}
        self.outputs: dict[int, int] = {}
        self.is_doubled = False
        self.records: tuple[PortRecord, ...] = ()

    def record(self, inputs: Sequence[PortRecord], outputs: Sequence[PortRecord], known: Positions) -> None:
        """Set the ports. `known` holds the positions of ports in the document so far: many layers have ports of the same ids."""
        self.input_count = len(inputs)
        self.output_count = len(outputs)
        self.inputs = _positions(inputs, known)
        self.outputs = _positions(outputs, known)
        self.is_doubled = len(self.inputs) < len(inputs) or len(self.outputs) < len(outputs)
        self.records = (*inputs, *outputs)

    @property
    def content(self) -> Hashable:
        """All of this, whatever the order of the attributes: equal for layers that can share a signature."""
        return self.type, self.version, frozenset(self.attributes.items()), self.input_count, self.records

    @property
    def input_ids(self) -> list[int]:
        return [port[0] for port in self.records[: self.input_count]]

    @property
    def output_ids(self) -> list[int]:
        return [port[0] for port in self.records[self.input_count :]]


def _positions(ports: Sequence[PortRecord], known: Positions) -> dict[int, int]:
    ids = tuple([port[0] for port in ports])
    positions = known.get(ids)
    if positions is None:
        positions = known[ids] = {}
        for position, id in enumerate(ids):
            positions.setdefault(id, position)
    return positions


_Ports: TypeAlias = tuple[list[Port], list[Port]]


class Layer:
    """A `<layer>`; the offset of an absent part is -1.

    A layer whose id is missing or unreadable has a negative id, unique in its graph. A missing `name` is empty. `weights_at` is the
    `offset` of a Const if its signature does not hold it. `ports` are the inputs and outputs, or a function that makes them on
    demand, because most layers are inferred from their `signature` alone. Only If, Loop and TensorIterator have `bodies` and
    `port_maps`.
    """

    __slots__ = ("_ports", "bodies", "data_offset", "end", "id", "name", "offset", "port_maps", "signature", "weights_at")

    def __init__(
        self,
        id: int,
        name: str,
        signature: LayerSignature,
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
        """The attributes of the first `<data>`, as text. Layers may share the dict, so it must not be changed."""
        shared = self.signature.attributes
        return shared if self.weights_at is None else {**shared, "offset": str(self.weights_at)}

    @property
    def inputs(self) -> list[Port]:
        return self._both()[0]

    @property
    def outputs(self) -> list[Port]:
        return self._both()[1]

    def _both(self) -> _Ports:
        ports = self._ports
        if not isinstance(ports, tuple):
            ports = self._ports = ports(self)
        return ports


class Edge(NamedTuple):
    """An `<edge>` between the ports of two layers, by their ids in the file."""

    from_layer: int
    from_port: int
    to_layer: int
    to_port: int
    offset: int


class PortMap(NamedTuple):
    """A child of a `port_map`, `then_port_map`, `else_port_map` or `back_edges` (`map`): its tag, attributes and offset."""

    map: str
    tag: str
    attributes: dict[str, str]
    offset: int


class PreProcess(NamedTuple):
    """The `<pre-process>` of a net at an offset: the layer that it refers to, and the id and the `<mean>` of each channel."""

    offset: int
    reference: str
    channels: list[tuple[str | None, dict[str, str] | None]]


class Suppression(NamedTuple):
    """An entry `<irshape ignore="..."/>` in the `<rt_info>` of a layer, or of the net if `layer` is None: its codes as text, its extent."""

    codes: str
    offset: int
    end: int
    layer: Layer | None


class Graph:
    """The layers and edges of a net or a body.

    `ends` has four numbers for each edge: the ids of its source layer and port and of its target layer and port. `lost` are the edges that
    cannot be read: the numbers, -1 for one that is missing or malformed, and the fault.
    """

    __slots__ = ("_find_edges", "_places", "end", "ends", "layers", "lost", "offset")

    def __init__(self, offset: int) -> None:
        self.layers: list[Layer] = []
        self.ends: list[int] = []
        self.lost: list[tuple[Sequence[int], Diagnostic]] = []
        self.offset = offset
        self.end = offset
        self._places: list[int] = []
        self._find_edges: Callable[[], list[int]] | None = None

    def add_edge(self, ends: Sequence[int], offset: int) -> None:
        self.ends.extend(ends)
        self._places.append(offset)

    def set_edges(self, ends: list[int], find: Callable[[], list[int]]) -> None:
        """Set the edges; `find` gives their offsets when the first is needed."""
        self.ends = ends
        self._find_edges = find

    def edge_offset(self, number: int) -> int:
        if self._find_edges is not None:
            self._places, self._find_edges = self._find_edges(), None
        return self._places[number]

    @property
    def edges(self) -> list[Edge]:
        numbers = iter(self.ends)
        return [Edge(*ends, self.edge_offset(number)) for number, ends in enumerate(zip(numbers, numbers, numbers, numbers, strict=True))]


class Document:
    """A file that was read: its bytes, its graph and the faults of its XML.

    `version` is the IR version: 10 or 11, and 0 for a specification example, which has none. `is_example` says that the root is a bare
    `<layer>` instead of `<net>`. `path` is the path of the `.xml`, which also locates the `.bin`; None for bytes and trees.
    `text` is the source, with blanks for what is no XML and OpenVINO passes over. `encoding` is a Python codec with a fixed byte order,
    which writes no byte order mark. `is_complete` is false if part of the file could not be read; the absence of that part is then no
    fault. `weights` are those that came with the source, as those of an `openvino.Model` do; None for a file. `is_foreign` says that the
    root element belongs to another format, `has_annotations` that a port has an annotation of irshape. `held` are the faults in the bodies
    and port maps of layers, each with the offset of the layer. `preprocess` is the `<pre-process>` of
    the net. `suppressions` name the codes that the file asks not to report. `limits` apply to reading and to every later step.
    """

    __slots__ = (
        "_attributes", "_places", "diagnostics", "encoding", "graph", "has_annotations", "held", "is_complete", "is_example", "is_foreign",
        "limits", "name", "path", "preprocess", "source", "suppressions", "text", "version", "weights",
    )  # fmt: skip

    @property
    def layer_count(self) -> int:
        """The number of layers, with those of bodies."""
        return sum(len(graph.layers) for _, graph in self.graphs())

    def graphs(self) -> Iterator[tuple[str, Graph]]:
        """The graph and those of all bodies, each with the names of the layers and the bodies around it: `loop_3 / body`."""
        pending = [("", self.graph)]
        while pending:
            path, graph = pending.pop()
            yield path, graph
            bodies = [(layer.name, *one) for layer in graph.layers if layer.bodies for one in layer.bodies.items()]
            pending += [(f"{path} / {layer} / {name}".removeprefix(" / "), body) for layer, name, body in bodies]

    def __init__(self, source: bytes, path: str | None, limits: Limits = DEFAULT) -> None:
        self.source = self.text = source
        self.path = path
        self.limits = limits
        self.encoding = "utf-8"
        self.version = 0
        self.name = ""
        self.is_complete = True
        self.is_example = False
        self.is_foreign = False
        self.has_annotations = False
        self.suppressions: list[Suppression] = []
        self.weights: WeightsChoice = None
        self.graph = Graph(0)
        self.diagnostics = Diagnostics(limits.faults)
        self.held: list[tuple[int, Diagnostic]] = []
        self.preprocess: PreProcess | None = None
        self._places: list[tuple[int, int]] = []
        self._attributes: tuple[int, dict[str, int]] = (-1, {})

    @property
    def may_state_shapes(self) -> bool:
        """Whether the file may hold shapes of inputs that irshape wrote: into ports, or into the notes of the net."""
        if self.has_annotations:
            return True
        layers = self.graph.layers  # which hold no notes of the net, and most of the text
        begin, end = (layers[0].offset, max(layers[-1].end, 0)) if layers else (len(self.source), 0)
        return self.source.find(_NOTES, end) >= 0 or self.source.find(_NOTES, 0, begin) >= 0

    def own_weights(self) -> Weights | None:
        """The weights that came with the source, else the `.bin` beside the file; None for a document without a path."""
        from irshape.xml.weights import Weights

        if self.weights is not None and not isinstance(self.weights, Weights):
            self.weights = Weights(self.weights)
        return self.weights if self.weights is not None or self.path is None else Weights.beside(self.path)

    def rt_info(self, start: int, end: int) -> RtInfo:
        """The notes in the `<rt_info>` of the element from `start` to `end`."""
        from irshape.xml.rt_info import rt_info

        return rt_info(self.text[start : max(start, end)].decode(self.encoding))

    def tree(self, source: bytes) -> _ElementTree:
        """The lxml tree of the source, or of a changed source. Raises ValueError if the source could not be read completely."""
        if not self.is_complete:
            raise ValueError("the file could not be read completely; its diagnostics say why")
        from lxml import etree

        from irshape.xml.schema import untrusted_parser

        # The reader has refused a DOCTYPE and has enforced its limits, so the parser needs none.
        tree = etree.ElementTree(etree.fromstring(source, untrusted_parser(is_huge=True)))
        if self.path is not None:
            tree.docinfo.URL = self.path  # beside which the weights are found when the tree is read again
        return tree

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
        """Line and column, from 0, at the end of a range of bytes, given those at its start."""
        line, column = place
        is_wide = self.encoding.startswith("utf-16")
        if not is_wide and (lines := self.source.count(b"\n", start, end)):
            line, column, start = line + lines, 0, self.source.rfind(b"\n", start, end) + 1
        text = _characters(self.source[start:end], self.encoding)
        if is_wide and (lines := text.count("\n")):
            line, column, text = line + lines, 0, text[text.rindex("\n") + 1 :]
        return line, column + len(text)

    def attribute_offset(self, tag_offset: int, name: str) -> int:
        """The offset of attribute `name` in the start tag at `tag_offset`; `tag_offset` itself if the attribute is absent."""
        if self._attributes[0] != tag_offset:
            self._attributes = tag_offset, self._attribute_offsets(tag_offset)
        return self._attributes[1].get(name, tag_offset)

    def _attribute_offsets(self, tag_offset: int) -> dict[str, int]:
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
            # If the attributes are not followed by the end of the tag, `length` cut the tag, unless the file ends there.
            if text[at:].lstrip()[:1] in ("/", ">") or tag_offset + length >= len(self.source):
                return found
            length *= 8


# The bytes of a character in UTF-8 after the first. A byte order mark does not count as a character.
_CONTINUED: Final = bytes(range(0x80, 0xC0))
_MARK: Final = "\ufeff"


def _characters(piece: bytes, encoding: str) -> str:
    """A text with one character, line feeds included, for each character that begins in a piece of the source."""
    if not encoding.startswith("utf-16"):
        if encoding == "utf-8":
            piece = piece.replace(_MARK.encode(), b"").translate(None, _CONTINUED)
        return piece.decode("latin-1")
    text = piece.decode(encoding, "replace").replace(_MARK, "")
    # A second surrogate at the start belongs to a character of the previous piece.
    upper = piece[1:2] if encoding == "utf-16-le" else piece[:1]
    return text[1:] if b"\xdc" <= upper <= b"\xdf" else text
