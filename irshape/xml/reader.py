"""The general reader: from the text of an IR to a `Document` in one pass of expat, with every fault of the XML.

Text that OpenVINO's reader refuses is an error. Text that OpenVINO tolerates is read with OpenVINO's meaning. Offsets count
bytes of the source as the caller gave it, also where the reader skips or repairs bytes before expat sees them.
"""

from __future__ import annotations

import codecs
import copyreg
import os
import pyexpat
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from irshape.report.catalogue import next_step
from irshape.report.diagnostic import WARNING, Diagnostic, Where, clipped
from irshape.report.text import counted
from irshape.shape.dim import INT64_MAX
from irshape.shape.element_type import ElementType
from irshape.shape.limits import DEFAULT, Limits
from irshape.xml.document import Document, Graph, Layer, Port, PortMap, Positions, Signature, Suppression
from irshape.xml.lexical import (
    BODIES,
    EDGE_ENDS,
    INTEGER,
    IR_VERSIONS,
    KNOWN_NOTES,
    SHARED_OFFSET,
    WHITE_SPACE,
    own_offset,
    to_int64,
    whole_number,
)
from irshape.xml.source import content
from irshape.xml.weights import are_swapped

if TYPE_CHECKING:
    from irshape.xml.lenient import Blanked
    from irshape.xml.source import Source
    from irshape.xml.weights import WeightsChoice

_Enter = Callable[["_Reader", str, dict[str, str]], None]
_Leave = Callable[[], None]
_Children = dict[str, _Enter]

_DECLARED: Final = rb"[ \t\r\n]*<\?xml\s[^>]*?\sencoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']"
# By Python's name of a codec: expat's name of an encoding that expat reads without a table.
_EXPAT_KNOWS: Final = {"utf-8": "UTF-8", "iso8859-1": "ISO-8859-1", "ascii": "US-ASCII", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"}
# pyexpat reads any other encoding with a table of one character per byte.
_BYTE_CODEC: Final = r"utf-8|ascii|cp\d+|iso8859-\d+|koi8-\w|mac-\w+"
_GIVEN_TWICE: Final = pyexpat.errors.codes[pyexpat.errors.XML_ERROR_DUPLICATE_ATTRIBUTE]
_NO_MEMORY: Final = pyexpat.errors.codes[pyexpat.errors.XML_ERROR_NO_MEMORY]
_INVALID_TOKEN: Final = pyexpat.errors.codes[pyexpat.errors.XML_ERROR_INVALID_TOKEN]
_MISMATCHED: Final = pyexpat.errors.codes[pyexpat.errors.XML_ERROR_TAG_MISMATCH]
_CLOSING: Final = rb"</([^\s>]+)"
_RESOLVE: Final = "take one side of the conflict, as with git checkout --ours or --theirs, or export the model again"
# The errors that expat reports where the file ends too early.
_ENDS_EARLY: Final = frozenset(
    pyexpat.errors.codes[message]
    for message in (
        pyexpat.errors.XML_ERROR_NO_ELEMENTS,
        pyexpat.errors.XML_ERROR_UNCLOSED_TOKEN,
        pyexpat.errors.XML_ERROR_PARTIAL_CHAR,
        pyexpat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
)
_BLANKS: Final = rb"(?>\xef\xbb\xbf|[ \t\r\n]++)++"
_ROOT: Final = rb"(?s)(?>[ \t\r\n]+|\xef\xbb\xbf|<\?.*?\?>|<!--.*?-->)*+<([^\s/<>]*)"
# Where a file names the converter that wrote it.
_WRITER: Final = rb"(?i)<(MO|Runtime)_version value=[\"']([^\"']*)"
_WRITERS: Final = {b"mo": "Model Optimizer", b"runtime": "OpenVINO"}
# A comment is about a port if it begins at most this many bytes after the port.
_NEAR: Final = 1_000
# OpenVINO builds operations of any case, so the reader asks for a type in lower case.
_BODIES: Final = {type.lower(): tuple(body for body, _ in bodies) for type, bodies in BODIES.items()}
_TYPES_WITH_BODIES: Final = frozenset(_BODIES)
# What stands for the layers and edges of a body that the fast lane reads.
_LEFT_OUT: Final = b"<layers/><edges/>"
_PORT_MAPS: Final = (*dict.fromkeys(map for bodies in BODIES.values() for _, map in bodies), "back_edges")
# The attributes that <input> and <output> of a port map must have, and those that must be numbers if present.
_MAPPED: Final = ("external_port_id", "internal_layer_id")
_MAP_NUMBERS: Final = ("external_port_id", "internal_layer_id", "axis", "start", "end", "stride", "part_size")
# The axis of an input counts from 0; the axis along which an output is concatenated may be negative and count from the end.
_UNSIGNED: Final = {"input": ("internal_layer_id", "axis"), "output": ("internal_layer_id",)}


class _UnreadableError(Exception):
    """Reading cannot go on; the diagnostics already hold the reason."""


class _ForgivenError(Exception):
    """The text is no XML, but is if some pieces are blanked, which OpenVINO passes over."""

    def __init__(self, pieces: list[Blanked]) -> None:
        super().__init__()
        self.pieces = pieces


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
    try:
        if len(document.source) > limits.size:
            reader.refuse("X111", f"the file is larger than {counted(limits.size, 'byte')} (limit size)", 0)
        if not (uses_fast_lane and reader.run_fast()):
            reader.run()
    except _ForgivenError as error:
        document = Document(found.source, own_path, limits)
        reader = _Reader(document, error.pieces)
        try:
            reader.run()
        except _UnreadableError:
            document.is_complete = False
    except _UnreadableError:
        document.is_complete = False
    positions: Positions = {}
    for layer in reader.layers:
        inputs, outputs = ([(port.id, port.precision, port.dims) for port in ports] for ports in (layer.inputs, layer.outputs))
        signature = layer.signature
        signature.record(inputs, outputs, positions)
        if signature.type == "Const" and (offset := own_offset(signature.attributes.get("offset", ""))) is not None:
            layer.weights_at = offset
            signature.attributes["offset"] = SHARED_OFFSET
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


class _Reader:
    """The state of reading one document: the handlers that expat calls, and the open elements.

    `children` maps each tag that has a meaning inside the open element to its `enter_` method; every other element is skipped
    with its content. `leave` is called at the end tag of the open element. `stack` holds both for the enclosing elements, so the
    reader needs no recursion. OpenVINO uses only the first `<data>`, `<input>`, `<layers>` and so on of a parent, so entering such
    an element removes its tag from the parent's own copy of the table.
    """

    def __init__(self, document: Document, pieces: list[Blanked] | None = None) -> None:
        self.document = document
        self.limits = limits = document.limits
        self.pieces = pieces
        if pieces is not None:
            from irshape.xml import lenient

            document.text = lenient.blanked(document.source, pieces)
        self.source = document.text
        self.shift = 0
        self.children: _Children = {"net": _Reader.enter_net}
        self.leave: _Leave | None = None
        self.stack: list[tuple[str, int, _Children, _Leave | None]] = []
        self.deepest = 4 * limits.depth + 64
        # A file no longer than the limit cannot hold an attribute beyond the limit.
        self.may_be_long = len(self.source) > limits.text
        self.root = ""
        self.graph = document.graph
        self.layer: Layer | None = None
        self.layers: list[Layer] = []
        # The graph around each open body, the layer and the tag of the body, and the number of faults before it.
        self.outer: list[tuple[Graph, Layer, str, int]] = []
        self.port: Port | None = None
        self.ports: list[Port] = []
        self.is_output = False
        self.dims: list[int] = []
        self.text = ""
        self.map = ""
        self.codes = ""
        # The known notes of the open <rt_info>.
        self.notes: set[str] = set()
        self.remarks: list[str] = []
        self.known_dims: dict[str, int] = {}
        self.closings: dict[str, tuple[bytes, bytes]] = {}

    # The run and the faults that end it.

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

    def forgive(self, error: pyexpat.ExpatError) -> None:
        """Raise `_ForgivenError` where OpenVINO passes over text that is no XML."""
        is_early = not self.root and error.code not in _ENDS_EARLY
        if self.pieces is None and not self.document.is_example and (is_early or error.code == _GIVEN_TWICE):
            from irshape.xml import lenient

            if pieces := lenient.forgiven(self.source, is_early=is_early):
                raise _ForgivenError(pieces)

    def run_fast(self) -> bool:
        """Try the fast lane, which reads the whole file or leaves the document unchanged."""
        source = self.source
        if not source.startswith((b"<?xml", b"<net")) or (self.may_be_long and self.has_long_value()):
            return False
        from irshape.xml.fastlane import read_canonical

        is_read = read_canonical(
            self.document, types_with_bodies=_TYPES_WITH_BODIES, read_layer=self.read_layer, most_nested=self.deepest // 2
        )
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
        except (pyexpat.ExpatError, _UnreadableError):
            raise UnusualError from None
        self.layers += reader.layers
        if alone.diagnostics or alone.suppressions or len(alone.graph.layers) != 1 or len(self.layers) > self.limits.layers:
            raise UnusualError
        self.document.has_annotations |= alone.has_annotations
        return alone.graph.layers[0]

    def new_parser(self) -> pyexpat.XMLParserType:
        """An expat parser that calls this reader's handlers."""
        # A declaration that contradicts the byte order mark, or spells UTF-8 in its own way, must not mislead expat.
        parser = pyexpat.ParserCreate(_EXPAT_KNOWS.get(self.document.encoding))
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.StartDoctypeDeclHandler = self.doctype
        return parser

    def has_long_value(self) -> bool:
        """Whether an attribute in double quotes may be longer than the limit: it would cover an offset that is a multiple of the limit."""
        source, most = self.source, self.limits.text
        places = range(most, len(source), most)
        return any(source.find(b'"', at) % len(source) - source.rfind(b'"', 0, at) > most + 1 for at in places)

    def encoding(self) -> tuple[str, int]:
        """The codec of the source and the size of its byte order mark in bytes."""
        source = self.source
        if source.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff", b"<\0\0\0", b"\0\0\0<")):
            self.refuse("X103", "the text is in UTF-32", 0)
        if source.startswith((b"\xff\xfe", b"\xfe\xff")):
            return "utf-16-le" if source[0] == 0xFF else "utf-16-be", 2
        if source.startswith((b"<\0", b"\0<")):
            return "utf-16-le" if source[0] else "utf-16-be", 0
        if source.startswith(b"\xef\xbb\xbf"):
            return "utf-8", 3
        declared = re.match(_DECLARED, source)
        name = declared[1].decode().lower() if declared else "utf-8"
        if name == "utf-8":
            return name, 0
        try:
            codec = codecs.lookup(name).name
        except (LookupError, ValueError):
            codec = ""
        if not re.fullmatch(_BYTE_CODEC, codec) or bytes(range(128)).decode(codec, "replace").encode() != bytes(range(128)):
            self.refuse("X103", f"the declared encoding {name[:60]!r} is unknown or does not fit the text", 0)
        return codec, 0

    def trimmed(self, mark: int) -> bytes:
        """The source without the white space before its first tag, which expat refuses before an XML declaration."""
        source = self.source
        if mark == 2:
            blanks = tuple(blank.encode(self.document.encoding) for blank in WHITE_SPACE)
            end = mark
            while source[end : end + 2] in blanks:
                end += 2
        else:
            blank = re.match(_BLANKS, source)
            end = blank.end() if blank else 0
        if mark < end < len(source) and self.pieces is None:
            self.fault("X201", "there is white space before the XML begins", mark, severity=WARNING)
        self.shift = end
        if mark == 2:
            self.shift -= mark
            return source[:mark] + source[end:] if end > mark else source
        return source[end:] if end else source

    def offset(self) -> int:
        return self.parser.CurrentByteIndex + self.shift

    def fault(self, code: str, message: str, offset: int, *, severity: str | None = None, hint: str | None = None) -> None:
        """Report a fault at an offset, in the open layer and port."""
        if not self.document.diagnostics.has_room(code, severity):
            return
        bodies = " / ".join(f"{clipped(layer.name)} / {body}" for _, layer, body, _ in self.outer)
        where = Where(self.document.path, offset=offset, path=bodies)
        if (layer := self.layer) is not None:
            where.layer_id = str(layer.id) if layer.id >= 0 else None
            where.layer_name, where.layer_type = clipped(layer.name), clipped(layer.type)
        if self.port is not None and self.port.id >= 0:
            where.port = str(self.port.id)
        self.document.diagnostics.append(Diagnostic(code, message, where, severity, hint or (next_step(code) if code[0] == "X" else None)))

    def hold(self, layer: Layer, since: int) -> None:
        """Note that the faults from `since` on are in the bodies or the port maps of a layer."""
        self.document.held += [(layer.offset, fault) for fault in self.document.diagnostics[since:]]

    def refuse(self, code: str, message: str, offset: int, hint: str | None = None) -> None:
        """Report a fault that ends the reading."""
        self.fault(code, message, offset, hint=hint)
        raise _UnreadableError

    def check_swapped(self) -> None:
        """Refuse weights in place of an XML text, if the `.bin` file holds the XML."""
        path = self.document.path
        if path is not None and not _looks_like_markup(self.source) and are_swapped(path):
            message = "the file holds no XML, but the .bin file beside it does; are the two files swapped?"
            self.refuse("W105", message, 0, next_step("W105"))

    def refuse_format(self) -> None:
        """Refuse a file of another format, if its first bytes tell which."""
        from irshape.xml import formats

        source = self.document.source
        form = formats.recognised(source[: formats.HEAD]) if _looks_like_markup(source) else formats.described(source)
        if form is not None:
            self.refuse("X104", f"the file is {form.name}, not the .xml of an IR", 0, form.hint)

    def malformed(self, error: pyexpat.ExpatError) -> None:
        """Report expat's error and where it occurred."""
        if error.code == _NO_MEMORY:
            raise MemoryError from error
        offset = max(0, min(self.parser.ErrorByteIndex + self.shift, len(self.source)))
        complaint = pyexpat.ErrorString(error.code) or "not well-formed"
        if self.document.is_example:
            from irshape.xml import example

            if b"<!DOCTYPE" in self.source[max(0, offset - 2) : offset + 9]:
                self.doctype()
            self.graph = self.document.graph
            self.give_ids()
            opened = [(tag, opened_at) for tag, opened_at, _, _ in self.stack]
            self.refuse("X110", example.omission(self.source, offset, complaint, opened, self.document.position), offset)
        if self.root and not self.stack and b"<" not in self.source[offset:]:
            self.fault("X201", "there is text after the end of the XML", offset, severity=WARNING)
            return
        if not self.root:
            self.check_swapped()
            self.refuse_format()
            if not _looks_like_markup(self.source):
                self.refuse("X104", "the file does not begin with an XML tag", 0)
        place = ""
        if self.stack:
            tag, opened_at = self.stack[-1][:2]
            place = f"inside the <{tag}> opened on line {self.document.position(opened_at)[0]}"
        if error.code in _ENDS_EARLY:
            message = f"the file ends {place or 'before its root element'}; is it truncated?"
            self.refuse("X101", message, offset, "copy the file or export the model again")
        if marker := self.source.find(b"\n<<<<<<< ") + 1:
            self.refuse("X101", "a merge conflict begins here, which nobody has resolved", marker, _RESOLVE)
        if error.code == _INVALID_TOKEN and self.source[offset : offset + 1] > b"\x7f" and self.document.encoding == "utf-8":
            message = f"the byte 0x{self.source[offset]:02X} does not fit the encoding UTF-8"
            self.refuse("X103", message, offset, "save the file as UTF-8, or declare its encoding in the first line")
        complaint, hint = self.explained(error.code, complaint, offset)
        self.refuse("X101", f"{complaint} {place}".rstrip(), offset, hint)

    def explained(self, code: int, complaint: str, offset: int) -> tuple[str, str | None]:
        """A complaint of expat in the words of the file, and the next step."""
        if code == _MISMATCHED and (closing := re.compile(_CLOSING).search(self.source, max(0, offset - 2), offset + 256)):
            tag = closing[1].decode(self.document.encoding, "replace")
            return f"</{tag}> stands where another tag must be closed,", "make the two tags agree: one is misspelled, or a tag is missing"
        if code == _INVALID_TOKEN and b"&" in self.source[max(0, offset - 1) : offset + 1]:
            return "& begins no entity", "write & as &amp;"
        if code == _INVALID_TOKEN and self.source[offset : offset + 1] == b"<":
            return "< stands where no tag can begin,", "write < as &lt; in a name, or close the tag before it"
        return complaint, None

    # The handlers that expat calls.

    def doctype(self, *_: object) -> None:
        if not self.root:
            self.refuse_format()
        self.refuse("X102", "the file has a DOCTYPE; an IR has none", self.offset())

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        stack = self.stack
        enter = self.children.get(tag)
        if enter is None and not stack:
            enter = self.foreign_root(tag)
        stack.append((tag, self.parser.CurrentByteIndex + self.shift, self.children, self.leave))
        if len(stack) > self.deepest:
            self.refuse("X111", f"elements are nested more than {counted(self.deepest, 'level')} deep (limit depth)", self.offset())
        if self.may_be_long:
            self.check_lengths(tag, attributes)
        self.leave = None
        if enter is None:
            self.children = _NOTHING
        else:
            enter(self, tag, attributes)

    def check_lengths(self, tag: str, attributes: dict[str, str]) -> None:
        for name, value in attributes.items():
            if (length := max(len(name), len(value))) > (most := self.limits.text):
                place = self.document.attribute_offset(self.stack[-1][1], name)
                self.refuse("X111", f"{name} of <{tag}> has {length:,} characters, more than {most:,} (limit text)", place)

    def end(self, tag: str) -> None:
        if self.leave is not None:
            self.leave()
        _, _, self.children, self.leave = self.stack.pop()

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

    def foreign_root(self, tag: str) -> _Enter:
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
        self.children = {"layers": _Reader.enter_layers, "edges": _Reader.enter_edges, "rt_info": _Reader.enter_own_info}
        self.leave = self.leave_net

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

    def enter_layers(self, tag: str, attributes: dict[str, str]) -> None:
        del self.children[tag]
        self.children = _LAYERS

    def enter_edges(self, tag: str, attributes: dict[str, str]) -> None:
        del self.children[tag]
        self.children = _EDGES

    def enter_layer(self, tag: str, attributes: dict[str, str]) -> None:
        offset = self.stack[-1][1]
        take = attributes.get
        if len(self.layers) == self.limits.layers:
            self.refuse("X111", f"the file has more than {counted(self.limits.layers, 'layer')} (limit layers)", offset)
        if "version" not in attributes and not self.layers and b" execOrder=" in self.source:
            message = "the file is an execution graph, which shows the kernels of a compiled model; OpenVINO does not read it"
            self.refuse("X112", message, self.graph.offset)
        own_id = -1 - len(self.graph.layers)
        layer = Layer(own_id, take("name", ""), Signature(take("type", ""), take("version", ""), {}), None, offset, offset, -1, ([], []))
        self.layer = layer
        self.layers.append(layer)
        id_text = take("id")
        if id_text is not None:
            layer.id = self.number("layer", "id", id_text, offset, layer.id)
        if not self.document.is_example and (
            id_text is None or "name" not in attributes or "type" not in attributes or "version" not in attributes
        ):
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

    def give_ids(self) -> None:
        """Give each layer of an example that has no id its position as the id, or the next id that is free."""
        taken = {layer.id for layer in self.graph.layers}
        free = 0
        for order, layer in enumerate(self.graph.layers):
            if layer.id < 0:
                free = max(free, order)
                while free in taken:
                    free += 1
                layer.id = free
                taken.add(free)

    def leave_layer(self) -> None:
        layer = self.layer
        assert layer is not None
        layer.end = self.element_end()
        if layer.bodies is not None and not self.document.is_example:
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
            self.children = _NOTHING

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
        self.children = _NOTHING

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
            likely = ElementType.parse(precision) or ElementType.from_precision(precision.upper())
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
            from irshape.xml import notes

            message = f"the note {name!r} is given twice" if name in self.notes else notes.complaint(name, attributes)
            if message is not None:
                since = len(self.document.diagnostics)
                self.fault("X113", message, self.stack[-1][1])
                if layer.type.lower() != "parameter":  # OpenVINO reads all inputs
                    self.hold(layer, since)
            elif name in KNOWN_NOTES:
                self.notes.add(name)
        self.children = _NOTHING

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
        offset = self.stack[-1][1]
        self.children = _NOTHING
        ends = [self.edge_end(name, attributes, offset) for name in EDGE_ENDS]
        if min(ends) >= 0:
            self.graph.add_edge(ends, offset)

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
        self.children = {"layers": _Reader.enter_layers, "edges": _Reader.enter_edges}
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
        if tag != "edge":
            for name in _MAPPED:
                if name not in attributes:
                    self.fault("X105", f"<{tag}> of <{self.map}> has no {name}", offset)
            for name in _MAP_NUMBERS:
                if name in attributes:
                    self.number(tag, name, attributes[name], offset, 0, is_unsigned=name in _UNSIGNED[tag])
        self.hold(layer, since)
        layer.port_maps.append(PortMap(self.map, tag, attributes, offset))
        self.children = _NOTHING

    # Details.

    def number(self, tag: str, name: str, text: str, offset: int, otherwise: int, *, is_unsigned: bool = True) -> int:
        """The value of an id or another whole number; `otherwise`, and a fault, if OpenVINO refuses the text."""
        value = whole_number(text)
        if value is not None and not (is_unsigned and value < 0):
            return value
        kind = "a whole number from 0" if is_unsigned else "a whole number"
        self.fault("X106", f"{name}={text[:60]!r} of <{tag}> is not {kind}", self.document.attribute_offset(offset, name))
        return otherwise

    def element_end(self) -> int:
        """The offset after the end of the element that is being left.

        At the end of `<tag/>` expat's position is after the tag; at the end of `<tag>...</tag>` it is before `</tag>`. The two cases
        can be told apart by the text at that position, because no element that asks has a parent with its own name.
        """
        offset = self.parser.CurrentByteIndex + self.shift
        tag = self.stack[-1][0]
        closing = self.closings.get(tag)
        if closing is None:
            encoding = self.document.encoding
            closing = self.closings[tag] = f"</{tag}".encode(encoding), ">".encode(encoding)
        if self.source.startswith(closing[0], offset):
            return self.source.index(closing[1], offset) + len(closing[1])
        return offset


def root_of(source: bytes) -> str:
    """The tag of the root element, given the beginning of a file in an encoding like ASCII; empty if it cannot be told."""
    root = re.match(_ROOT, source)
    return root[1].decode("ascii", "replace") if root else ""


def _looks_like_markup(source: bytes) -> bool:
    return source[:4096].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n").startswith(b"<")


ANNOTATION: Final = "irshape"
SUPPRESSION: Final = "irshape"
_NOTHING: Final[_Children] = {}
_DIM: Final[_Children] = {}
_LAYERS: Final[_Children] = {"layer": _Reader.enter_layer}
_EDGES: Final[_Children] = {"edge": _Reader.enter_edge}
_LAYER: Final[_Children] = {
    "data": _Reader.enter_data,
    "input": _Reader.enter_ports,
    "output": _Reader.enter_ports,
    "rt_info": _Reader.enter_own_info,
}
_PORTS: Final[_Children] = {"port": _Reader.enter_port}
_PORT: Final[_Children] = {"dim": _Reader.enter_dim, "rt_info": _Reader.enter_rt_info}
_DIMS: Final[_Children] = {"dim": _Reader.enter_dim}
_RT_INFO: Final[_Children] = {"attribute": _Reader.enter_annotation}
_PORT_MAP: Final[_Children] = {"input": _Reader.enter_mapping, "output": _Reader.enter_mapping}
_BACK_EDGES: Final[_Children] = {"edge": _Reader.enter_mapping}
