"""The general reader: from the text of an IR to a `Document` in one pass of expat, with every fault of the XML.

Text that OpenVINO's reader refuses is an error. Text that OpenVINO tolerates is read with OpenVINO's meaning. Offsets count
bytes of the source as the caller gave it, also where the reader skips or repairs bytes before expat sees them.
"""

from __future__ import annotations

import copyreg
import os
import pyexpat
import re
from collections.abc import Hashable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from irshape.report.diagnostic import WARNING, clipped
from irshape.report.text import counted
from irshape.shape.dim import INT64_MAX
from irshape.shape.element_type import ElementType, similar_type
from irshape.shape.limits import DEFAULT, Limits
from irshape.xml.document import Document, Graph, Layer, LayerSignature, Port, PortMap, Positions, PreProcess, Suppression
from irshape.xml.lexical import (
    BODIES,
    EDGE_ENDS,
    INTEGER,
    IR_VERSIONS,
    KNOWN_NOTES,
    MAP_NUMBERS,
    SHARED_OFFSET,
    own_offset,
    to_int64,
    whole_number,
)
from irshape.xml.markup import NOTHING, Children, Enter, ForgivenError, Markup, UnreadableError
from irshape.xml.source import content

if TYPE_CHECKING:
    from irshape.xml.not_xml import Blanked
    from irshape.xml.source import Source
    from irshape.xml.weights import WeightsChoice


_ROOT: Final = rb"(?s)(?>[ \t\r\n]+|\xef\xbb\xbf|<\?.*?\?>|<!--.*?-->)*+<([^\s/<>]*)"
# Where a file names the converter that wrote it.
_WRITER: Final = rb"(?i)<(MO|Runtime)_version value=[\"']([^\"']*)"
_WRITERS: Final = {b"mo": "Model Optimizer", b"runtime": "OpenVINO"}
# A comment is about a port if it begins at most this many bytes after the port.
_NEAR: Final = 1_000
# OpenVINO builds operations of any case, so the reader asks for a type in lower case.
_BODIES: Final = {type.lower(): tuple(body for body, _ in bodies) for type, bodies in BODIES.items()}
# What stands for the layers and edges of a body that the fast lane reads.
_LEFT_OUT: Final = b"<layers/><edges/>"
_PORT_MAPS: Final = (*dict.fromkeys(map for bodies in BODIES.values() for _, map in bodies), "back_edges")
# The attributes that an entry of a port map and an <edge> of <back_edges> must have.
_ENDS: Final = ("from-layer", "to-layer")
_MAPPED: Final = {**dict.fromkeys(("input", "output"), ("external_port_id", "internal_layer_id")), "edge": _ENDS}
# The axis of an input counts from 0; the axis along which an output is concatenated may be negative and count from the end.
_UNSIGNED: Final = {"input": ("internal_layer_id", "axis"), "output": ("internal_layer_id",), "edge": _ENDS}


def read(source: Source, *, path: str | os.PathLike[str] | None = None, limits: Limits = DEFAULT, uses_fast_lane: bool = True) -> Document:
    """Read an IR or a specification example from a path, bytes, XML text, a file object, an XML tree or an `openvino.Model`.

    `path` names the file in messages and locates its `.bin`; it is needed only if `source` is not a path. With `uses_fast_lane=False` the
    general reader reads every file, more slowly and with the same result. A faulty file gives a document with diagnostics. Raises `OSError`
    for a path that cannot be read and `TypeError` for a source of another kind.
    """
    found = content(source, limits.size)
    own_path = os.fspath(path) if path is not None else found.path
    document = Document(found.source, own_path, limits)
    reader = _Reader(document)
    with suppress(UnreadableError):
        try:
            if len(document.source) > limits.size:
                reader.refuse("X111", f"the file is larger than {counted(limits.size, 'byte')} (limit size)", 0)
            if not (uses_fast_lane and reader.run_fast()):
                reader.run()
        except ForgivenError as error:
            document = Document(found.source, own_path, limits)
            reader = _Reader(document, error.pieces)
            reader.run()
    positions: Positions = {}
    for layer in reader.layers:
        inputs, outputs = ([(port.id, port.precision, port.dims) for port in ports] for ports in (layer.inputs, layer.outputs))
        signature = layer.signature
        signature.record(inputs, outputs, positions)
        if signature.type == "Const" and (offset := own_offset(signature.attributes.get("offset", ""))) is not None:
            layer.weights_at = offset
            signature.attributes["offset"] = SHARED_OFFSET
        layer.signature = reader.signatures.setdefault(signature.content, signature)
    document.diagnostics.sort(key=lambda diagnostic: diagnostic.where.offset or 0)
    for diagnostic in document.diagnostics:
        if diagnostic.where.offset is not None:
            diagnostic.where.line, diagnostic.where.column = document.position(diagnostic.where.offset)
    document.weights = found.weights
    return document


def _reduced(document: Document) -> tuple[Any, ...]:
    return _read_again, (document.source, document.path, document.limits, document.weights)


def _read_again(source: bytes, path: str | None, limits: Limits, weights: WeightsChoice) -> Document:
    document = read(source, path=path, limits=limits)
    document.weights = weights
    return document


copyreg.pickle(Document, _reduced)  # a document is the reading of its bytes


class _Reader(Markup):
    """What the elements of an IR mean: for each tag the function that enters it, and the one that leaves it."""

    def __init__(self, document: Document, pieces: list[Blanked] | None = None) -> None:
        super().__init__(document, pieces)
        self.signatures: dict[Hashable, LayerSignature] = {}
        self.children = {"net": _Reader.enter_net}

    def run(self) -> None:
        document = self.document
        document.encoding, mark = self.encoding()
        root = re.match(_ROOT, self.source)
        document.is_example = root is not None and root[1] == b"layer"
        self.parser = parser = self.new_parser()
        try:
            if document.is_example:
                from irshape.xml import example

                parser.CommentHandler = self.comment
                # An example may hold several layers in sequence; an enclosing element makes them one XML document.
                self.children = {example.ROOT: _Reader.enter_example}
                self.shift = -len(example.ROOT) - 2
                parser.Parse(f"<{example.ROOT}>".encode(), False)
                parser.Parse(example.repaired(self.source), False)
                parser.Parse(f"</{example.ROOT}>".encode(), True)
            else:
                parser.Parse(self.trimmed(mark), True)
        except pyexpat.ExpatError as error:
            self.forgive(error)
            self.malformed(error)
        for piece in self.pieces or ():
            self.fault("X201", piece.message, piece.start, severity=WARNING)

    def run_fast(self) -> bool:
        """Try the fast lane, which reads the whole file or leaves the document unchanged."""
        source = self.source
        if not source.startswith((b"<?xml", b"<net")) or (self.may_be_long and self.has_long_value()):
            return False
        from irshape.xml.fastlane import read_canonical

        is_read = read_canonical(self.document, self.signatures, read_layer=self.read_layer, most_nested=self.deepest // 2)
        if not is_read:
            self.layers.clear()
        return is_read

    def read_layer(self, begin: int, end: int, left_out: list[tuple[int, int]]) -> Layer:
        """Read the one layer between two offsets, for the fast lane, without the layers and edges of its bodies, which are left out.

        Raises `UnusualError` if the layer has any fault.
        """
        from irshape.xml.fastlane import UnusualError

        alone = Document(self.source, None, self.limits)
        reader = _Reader(alone)
        opening = b'<net version="11"><layers>'
        reader.shift = begin - len(opening)
        parser = reader.parser = reader.new_parser()
        try:
            parser.Parse(opening, False)
            at = begin
            for first, last in left_out:
                parser.Parse(self.source[at:first], False)
                parser.Parse(_LEFT_OUT, False)
                reader.shift += last - first - len(_LEFT_OUT)
                at = last
            parser.Parse(self.source[at:end], False)
            parser.Parse(b"</layers></net>", True)
        except (pyexpat.ExpatError, UnreadableError):
            raise UnusualError from None
        self.layers += reader.layers
        if alone.diagnostics or alone.suppressions or len(alone.graph.layers) != 1 or len(self.layers) > self.limits.layers:
            raise UnusualError
        self.document.has_annotations |= alone.has_annotations
        return alone.graph.layers[0]

    # The handlers that expat calls.

    def characters(self, text: str) -> None:
        """Keep the first piece of text that is not white space; text after a comment or an element does not count."""
        if self.children is _DIM and not self.text:
            self.text = text if text.strip() else ""

    def comment(self, text: str) -> None:
        is_long = text.count(",") + text.count("[") + text.count("{") > self.limits.elements
        if is_long or not self.document.is_example:
            return
        if self.port is not None:
            self.remarks.append(text)
        elif self.ports and not self.is_output and (port := self.ports[-1]).value is None:
            # A comment belongs to the port before it on the same line.
            from irshape.xml import example

            between = self.offset() - port.end
            if between < _NEAR and b"\n" not in self.source[port.end : port.end + between]:
                example.give_value(port, [text])

    # Elements, outermost first.

    def foreign_root(self, tag: str) -> Enter:
        if tag.lower() != "net":
            if tag.lower() == "html":
                self.refuse_format()
            self.document.is_foreign = True
            self.refuse("X104", f"the root element is <{tag[:60]}>, neither <net> nor <layer>", self.offset())
        self.fault("X201", f"the root element is <{tag}>; write <net>", self.offset(), severity=WARNING)
        return _Reader.enter_net

    def enter_example(self, tag: str, attributes: dict[str, str]) -> None:
        self.root = tag
        self.children = {"layer": _Reader.enter_layer}
        self.leave = self.give_ids

    def enter_net(self, tag: str, attributes: dict[str, str]) -> None:
        self.root = tag
        document = self.document
        offset = self.offset()
        document.name = attributes.get("name", "")
        self.graph.offset = offset
        version = attributes.get("version")
        if version is None:
            self.fault("X105", "<net> has no version", offset)
        elif (number := whole_number(version)) is None or number < 0:
            message = f"version={version[:60]!r} of <net> is not a whole number from 0"
            self.fault("X106", message, document.attribute_offset(offset, "version"))
        elif number not in IR_VERSIONS:
            self.refuse_version(number, document.attribute_offset(offset, "version"))
        else:
            document.version = number
        self.children = {
            **dict.fromkeys(_LISTS, _Reader.enter_list),
            "rt_info": _Reader.enter_own_info,
            "pre-process": _Reader.enter_preprocess,
        }
        self.leave = self.leave_net

    def enter_preprocess(self, tag: str, attributes: dict[str, str]) -> None:
        del self.children[tag]
        self.document.preprocess = PreProcess(self.stack[-1][1], attributes.get("reference-layer-name", ""), [])
        self.children = {"channel": _Reader.enter_channel}

    def enter_channel(self, tag: str, attributes: dict[str, str]) -> None:
        assert self.document.preprocess is not None
        self.document.preprocess.channels.append((attributes.get("id"), None))
        self.children = {"mean": _Reader.enter_mean}

    def enter_mean(self, tag: str, attributes: dict[str, str]) -> None:
        del self.children[tag]
        assert self.document.preprocess is not None
        channels = self.document.preprocess.channels
        channels[-1] = channels[-1][0], attributes
        self.children = NOTHING

    def refuse_version(self, number: int, offset: int) -> None:
        """Report an IR version that OpenVINO does not read. An old version has other layers, which are not read."""
        writer = re.search(_WRITER, self.source)
        by = f", written by {_WRITERS[writer[1].lower()]} {clipped(writer[2].decode(errors='replace'))}" if writer else ""
        message = f"the IR version is {number}{by}; OpenVINO reads versions {' and '.join(map(str, IR_VERSIONS))}"
        if number < IR_VERSIONS[0]:
            self.refuse("X108", message, offset)
        self.fault("X108", message, offset, hint="update irshape and OpenVINO, or convert the model with an older OpenVINO")

    def leave_net(self) -> None:
        self.graph.end = self.element_end()
        if "layers" in self.children:
            self.fault("X205", "<net> has no <layers>: the model is empty", self.graph.offset)

    def enter_list(self, tag: str, attributes: dict[str, str]) -> None:
        del self.children[tag]
        self.children = _LISTS[tag]

    def enter_layer(self, tag: str, attributes: dict[str, str]) -> None:
        offset = self.stack[-1][1]
        take = attributes.get
        if len(self.layers) == self.limits.layers:
            self.refuse("X111", f"the file has more than {counted(self.limits.layers, 'layer')} (limit layers)", offset)
        if "version" not in attributes and not self.layers and b" execOrder=" in self.source:
            message = "the file is an execution graph, which shows the kernels of a compiled model; OpenVINO does not read it"
            self.refuse("X112", message, self.graph.offset)
        own_id = -1 - len(self.graph.layers)
        name, signature = take("name", ""), LayerSignature(take("type", ""), take("version", ""), {})
        layer = Layer(own_id, name, signature, None, offset, offset, -1, ([], []))
        self.layer = layer
        self.layers.append(layer)
        id_text = take("id")
        if id_text is not None:
            layer.id = self.number("layer", "id", id_text, offset, layer.id)
        if not self.document.is_example:
            for name in ("id", "name", "type", "version"):
                if name not in attributes:
                    self.fault("X105", f"<layer> has no {name}", offset)
        self.graph.layers.append(layer)
        self.children = children = _LAYER.copy()
        if (bodies := _BODIES.get(layer.type.lower())) is not None:
            layer.bodies = {}
            layer.port_maps = []
            children.update(dict.fromkeys(bodies, _Reader.enter_body))
            children.update(dict.fromkeys(_PORT_MAPS, _Reader.enter_port_map))
        self.leave = self.leave_layer

    def leave_layer(self) -> None:
        layer = self.layer
        assert layer is not None
        layer.end = self.element_end()
        if layer.bodies is not None:
            since = len(self.document.diagnostics)
            for body in _BODIES[layer.type.lower()]:
                if body not in layer.bodies:
                    self.fault("X109", f"{layer.type} has no <{body}>", layer.offset)
            self.hold(layer, since)
        self.layer = None

    def enter_data(self, tag: str, attributes: dict[str, str]) -> None:
        del self.children[tag]
        layer = self.layer
        assert layer is not None
        layer.signature.attributes = attributes
        layer.data_offset = self.stack[-1][1]
        if self.document.is_example:
            self.text = ""
            self.children = _DIM
            self.parser.CharacterDataHandler = self.characters
            self.leave = self.leave_example_data
        else:
            self.children = NOTHING

    def leave_example_data(self) -> None:
        self.parser.CharacterDataHandler = None
        if "=" in self.text and self.layer is not None:
            self.fault("X110", "the attributes are between <data> and </data>; write them inside the <data> tag", self.layer.data_offset)

    def enter_ports(self, tag: str, attributes: dict[str, str]) -> None:
        del self.children[tag]
        if self.document.is_example:
            self.children[tag] = _Reader.enter_more_ports
        layer = self.layer
        assert layer is not None
        self.is_output = tag == "output"
        self.ports = layer.outputs if self.is_output else layer.inputs
        self.children = _PORTS
        self.leave = self.leave_ports

    def enter_more_ports(self, tag: str, attributes: dict[str, str]) -> None:
        self.fault("X110", f"the layer has a second <{tag}>, whose ports OpenVINO does not read", self.stack[-1][1])
        self.document.is_complete = False
        self.children = NOTHING

    def leave_ports(self) -> None:
        self.ports = []

    def enter_port(self, tag: str, attributes: dict[str, str]) -> None:
        offset = self.stack[-1][1]
        take = attributes.get
        precision = take("precision")
        port = self.port = Port(-1, precision, offset)
        id_text = take("id")
        if id_text is None:
            self.fault("X105", "<port> has no id", offset)
        else:
            port.id = self.number("port", "id", id_text, offset, -1)
        port.names = take("names")
        if self.is_output or self.document.is_example:
            self.check_precision(precision, offset)
        self.ports.append(port)
        self.dims.clear()
        self.children = _PORT
        self.leave = self.leave_port

    def check_precision(self, precision: str | None, offset: int) -> None:
        is_example = self.document.is_example
        if precision is None:
            if not is_example:
                self.fault("X105", "<port> has no precision", offset)
        elif ElementType.from_precision(precision) is None:
            likely = ElementType.parse(precision) or similar_type(precision)
            self.fault(
                "X107",
                f"precision={precision[:60]!r} of <port> is not an element type",
                self.document.attribute_offset(offset, "precision"),
                severity=WARNING if is_example else None,
                hint=f"write {likely.precision}" if likely else None,
            )

    def leave_port(self) -> None:
        port = self.port
        assert port is not None
        if self.dims:
            port.dims = tuple(self.dims)
        port.end = self.element_end()
        if self.remarks:
            if not self.is_output:
                from irshape.xml import example

                example.give_value(port, self.remarks)
            self.remarks = []
        self.port = None

    def enter_dim(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self.dims) == self.limits.rank:
            self.refuse("X111", f"a port has more than {counted(self.limits.rank, 'dim')} (limit rank)", self.stack[-1][1])
        self.text = ""
        self.children = _DIM
        self.leave = self.leave_dim
        parser = self.parser
        parser.CharacterDataHandler = self.characters
        parser.CommentHandler = self.comment  # with a handler set, expat passes the text before a comment separately

    def leave_dim(self) -> None:
        parser = self.parser
        parser.CharacterDataHandler = None
        if not self.document.is_example:
            parser.CommentHandler = None  # comments outside <dim> cost no call
        text = self.text
        dim = self.known_dims.get(text)
        self.dims.append(self.new_dim(text) if dim is None else dim)

    def new_dim(self, text: str) -> int:
        """The number at the start of a dim's text, where a C++ stream stops reading; -1 if there is none."""
        number = re.match(INTEGER, text)
        value = to_int64(number[1]) if number else None
        if number is None or value is None or value < -1:
            self.fault("X106", f"the dim {text.strip()[:60]!r} is not a whole number from -1 to {INT64_MAX}", self.stack[-1][1])
            return -1
        if text[number.end() :].strip():
            self.fault("R101", f"OpenVINO reads the dim {text.strip()[:60]!r} as {value}", self.stack[-1][1])
        else:
            self.known_dims[text] = value
        return value

    def enter_rt_info(self, tag: str, attributes: dict[str, str]) -> None:
        self.notes = set()
        tag, offset, _, leave = self.stack[-1]
        self.stack[-1] = tag, offset, _DIMS, leave  # only the first <rt_info> counts
        self.children = _RT_INFO

    def enter_note(self, tag: str, attributes: dict[str, str]) -> None:
        """Report a note of a layer or a port that OpenVINO knows and refuses."""
        name, layer = attributes.get("name", ""), self.layer
        if layer is not None and attributes.get("version") == "0":
            from irshape.xml import rt_info

            message = f"the note {name!r} is given twice" if name in self.notes else rt_info.complaint(name, attributes)
            if message is not None:
                since = len(self.document.diagnostics)
                self.fault("X113", message, self.stack[-1][1])
                if layer.type.lower() != "parameter":  # OpenVINO reads all inputs
                    self.hold(layer, since)
            elif name in KNOWN_NOTES:
                self.notes.add(name)
        self.children = NOTHING

    def enter_annotation(self, tag: str, attributes: dict[str, str]) -> None:
        self.enter_note(tag, attributes)
        name = attributes.get("name")
        if self.port is not None and name == ANNOTATION:
            self.port.annotation = attributes.get("value")
            self.document.has_annotations = True
        elif self.port is not None and name == "layout":
            self.port.layout = attributes.get("layout")

    def enter_own_info(self, tag: str, attributes: dict[str, str]) -> None:
        """Enter the `<rt_info>` of a layer or of the net."""
        del self.children[tag]
        self.notes = set()
        self.children = {SUPPRESSION: _Reader.enter_suppression, "attribute": _Reader.enter_note}

    def enter_suppression(self, tag: str, attributes: dict[str, str]) -> None:
        """Read `<irshape ignore="..."/>`, or `<irshape><ignore value="..."/></irshape>`, as OpenVINO's `Model.set_rt_info` writes it."""
        del self.children[tag]
        self.children = {}
        if (codes := attributes.get("ignore" if tag == SUPPRESSION else "value")) is not None:
            self.codes = codes
            self.leave = self.leave_suppression
        elif tag == SUPPRESSION:
            self.children = {"ignore": _Reader.enter_suppression}

    def leave_suppression(self) -> None:
        self.document.suppressions.append(Suppression(self.codes, self.stack[-1][1], self.element_end(), self.layer))

    def enter_edge(self, tag: str, attributes: dict[str, str]) -> None:
        offset, known = self.stack[-1][1], len(self.document.diagnostics)
        self.children = NOTHING
        ends = [self.edge_end(name, attributes, offset) for name in EDGE_ENDS]
        if min(ends) >= 0:
            self.graph.add_edge(ends, offset)
        else:
            self.graph.lost += [(ends, fault) for fault in self.document.diagnostics[known:][:1]]

    def edge_end(self, name: str, attributes: dict[str, str], offset: int) -> int:
        if (text := attributes.get(name)) is not None:
            return self.number("edge", name, text, offset, -1)
        self.fault("X105", f"<edge> has no {name}", offset)
        return -1

    def enter_body(self, tag: str, attributes: dict[str, str]) -> None:
        del self.children[tag]
        layer = self.layer
        assert layer is not None and layer.bodies is not None
        if len(self.outer) >= self.limits.depth:
            self.refuse("X111", f"bodies are nested more than {counted(self.limits.depth, 'level')} deep (limit depth)", self.offset())
        self.outer.append((self.graph, layer, tag, len(self.document.diagnostics)))
        self.graph = layer.bodies[tag] = Graph(self.stack[-1][1])
        self.layer = None
        self.children = dict.fromkeys(_LISTS, _Reader.enter_list)
        self.leave = self.leave_body

    def leave_body(self) -> None:
        if self.document.is_example:
            self.give_ids()
        body = self.graph
        body.end = self.element_end()
        self.graph, holder, tag, since = self.outer.pop()
        self.layer = holder
        if "layers" in self.children and not self.document.is_example:
            self.fault("X109", f"<{tag}> has no <layers>", body.offset)
        self.hold(holder, since)

    def enter_port_map(self, tag: str, attributes: dict[str, str]) -> None:
        del self.children[tag]
        self.map = tag
        self.children = _BACK_EDGES if tag == "back_edges" else _PORT_MAP

    def enter_mapping(self, tag: str, attributes: dict[str, str]) -> None:
        offset = self.stack[-1][1]
        layer = self.layer
        assert layer is not None and layer.port_maps is not None
        since = len(self.document.diagnostics)
        for name in _MAPPED[tag]:
            if name not in attributes:
                self.fault("X105", f"<{tag}> of <{self.map}> has no {name}", offset)
        for name in _ENDS if tag == "edge" else MAP_NUMBERS:
            if name in attributes:
                self.number(tag, name, attributes[name], offset, 0, is_unsigned=name in _UNSIGNED[tag])
        self.hold(layer, since)
        layer.port_maps.append(PortMap(self.map, tag, attributes, offset))
        self.children = NOTHING


def root_of(source: bytes) -> str:
    """The tag of the root element, given the beginning of a file in an encoding like ASCII; empty if it cannot be told."""
    root = re.match(_ROOT, source)
    return root[1].decode("ascii", "replace") if root else ""


ANNOTATION: Final = "irshape"
SUPPRESSION: Final = "irshape"
_DIM: Final[Children] = {}
_LISTS: Final[dict[str, Children]] = {"layers": {"layer": _Reader.enter_layer}, "edges": {"edge": _Reader.enter_edge}}
_LAYER: Final[Children] = {
    "data": _Reader.enter_data,
    "input": _Reader.enter_ports,
    "output": _Reader.enter_ports,
    "rt_info": _Reader.enter_own_info,
}
_PORTS: Final[Children] = {"port": _Reader.enter_port}
_PORT: Final[Children] = {"dim": _Reader.enter_dim, "rt_info": _Reader.enter_rt_info}
_DIMS: Final[Children] = {"dim": _Reader.enter_dim}
_RT_INFO: Final[Children] = {"attribute": _Reader.enter_annotation}
_PORT_MAP: Final[Children] = {"input": _Reader.enter_mapping, "output": _Reader.enter_mapping}
_BACK_EDGES: Final[Children] = {"edge": _Reader.enter_mapping}
