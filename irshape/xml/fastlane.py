"""The fast lane: reads files with the layout of OpenVINO's own writer, a whole layer at a time instead of tag by tag.

Layers with equal text share a `Signature`, which is parsed once. Ports and their offsets are made on demand. Every byte is matched
against strict patterns, or parsed by expat where the content is free (`<rt_info>`), so an accepted file is well-formed. Any other file,
and so every file with a fault, goes to the general reader; both readers give equal documents. The general reader also reads single layers:
a few with content that the patterns do not know, such as `<rt_info>` in a port, and those with bodies, of which it reads all but the layers
and edges of the bodies.
"""

from __future__ import annotations

import pyexpat
import re
from collections.abc import Callable, Iterator

from irshape.shape.compilation import mypyc_attr
from irshape.shape.element_type import ElementType
from irshape.shape.hints import Final, TypeAlias
from irshape.xml.document import Document, Layer, Port, PortRecord, Signature
from irshape.xml.lexical import BODIES, EDGE_ENDS, IR_VERSIONS, SAFE_DIGITS, SHARED_OFFSET, WHITE_SPACE, own_offset

# A value that a parser neither changes nor refuses: no entity, no tag, no control character, no white space but spaces.
_VALUE: Final = r"[ !#-%'-;=-~]*+"
_NAME: Final = r"[A-Za-z_][\w.-]*+"
_ID: Final = rf"[0-9]{{1,{SAFE_DIGITS}}}+"
_BLANKS: Final = rf"[{WHITE_SPACE}]*+"
_DECLARED: Final = r"""<\?xml version=(["'])1\.0\1(?: encoding=(["'])(?:(?i:utf-8)|((?i:us-ascii)))\2)? ?\?>"""
_VERSION: Final = "|".join(map(str, IR_VERSIONS))
_DOCUMENT: Final = re.compile(rf'(?:{_DECLARED})?{_BLANKS}<net name="({_VALUE})" version="({_VERSION})">{_BLANKS}<layers>'.encode())
_BEFORE: Final = re.compile(rf"{_BLANKS}<layer id=")
# The text of a layer between its name and its ports.
_HEAD: Final = re.compile(
    rf''' type="({_VALUE})" version="({_VALUE})"(?: output_names="{_VALUE}")?>'''
    rf'''(?:{_BLANKS}(<data(?: {_NAME}="{_VALUE}")*+ ?/>))?(?:{_BLANKS}(<rt_info>(?>.*?</rt_info>)))?{_BLANKS}''',
    re.DOTALL,
)
# The text of a port after its id, with the white space behind the port.
_PORT: Final = re.compile(
    rf'(?: precision="(\w+)")?(?: names="({_VALUE})")? ?(?:/>|>((?:{_BLANKS}<dim>(?:-1|{_ID})</dim>)*+){_BLANKS}</port>){_BLANKS}'
)
_PORT_BEGIN: Final = '<port id="'
_ATTRIBUTE: Final = re.compile(rf' ({_NAME})="({_VALUE})"')
_EDGES_BEGIN: Final = re.compile(rf"{_BLANKS}</layers>{_BLANKS}<edges>".encode())
_EDGE_ATTRIBUTES: Final = " ".join(f'{name}="{_ID}"' for name in EDGE_ENDS)
_EDGES: Final = re.compile(rf"(?:{_BLANKS}<edge {_EDGE_ATTRIBUTES} ?/>)*+{_BLANKS}".encode())
# Translates every byte but a digit to a space.
_DIGITS: Final = bytes(byte if byte in b"0123456789" else ord(" ") for byte in range(256))
_EDGE: Final = rb"<edge "
_LAYER_BEGIN_LENGTH: Final = len("<layer id=")
_TYPE: Final = ' type="'
_BODY_BEGIN: Final = rf"<({'|'.join(sorted({body for bodies in BODIES.values() for body, _ in bodies}))})>".encode()
_LAYERS_BEGIN: Final = rf"{_BLANKS}<layers>".encode()
_LAYERS_TAG: Final = rb"<layers>|</layers>"
_LAYERS_END: Final = b"</layers>"
_EDGES_END: Final = b"</edges>"
_LAYER_END: Final = "</layer>"
_LAYER_END_BYTES: Final = _LAYER_END.encode()
_EMPTY_TAG_END: Final = b"/>"
_NET_END: Final = b"</net>"
# A file with suppressions goes to the general reader.
_SUPPRESSION: Final = "<irshape"
# The parts that are cut out of a layer's text, because layers with one signature differ in them.
_NAMES: Final = ' names="'
_OFFSET: Final = ' offset="'
_CONST: Final = ' type="Const" '
# Layers of unusual content that the general reader reads one by one; it takes less time for a whole file with more of them.
_MOST_UNUSUAL: Final = 16
# The source is decoded in blocks of this many bytes, so that the copy stays small.
_BLOCK: Final = 1 << 18


_PortText: TypeAlias = tuple[str | None, str | None, tuple[int, ...] | None]
"""Precision, names and dims of a port."""

ReadLayer: TypeAlias = Callable[[int, int, list[tuple[int, int]]], Layer]
"""Reads one layer with the general reader, given its begin and end and the ranges in it that are left out, one in each body."""


class UnusualError(Exception):
    """The text departs from the layout of OpenVINO's writer, so the general reader must read the document."""


def read_canonical(document: Document, *, types_with_bodies: frozenset[str], read_layer: ReadLayer, most_nested: int) -> bool:
    """Fill the document and return True if the whole file has the layout of OpenVINO's writer; otherwise change nothing.

    `types_with_bodies` are in lower case. `read_layer` reads a layer of such a type, and raises `UnusualError` for a layer with a fault.
    `most_nested` is the allowed depth of free content.
    """
    source = document.source
    head = _DOCUMENT.match(source)
    # The characters \0 and \1, which XML forbids, mark the places of parts that are cut out of a layer's text.
    if head is None or b"\0" in source or b"\1" in source or not source.isascii():
        return False
    lane = _Lane(document, types_with_bodies, read_layer, most_nested)
    try:
        layers, at = lane.layers(head.end())
        edges, first, last = lane.edges(at)
        rest = source[last + len(_EDGES_END) :].rstrip(WHITE_SPACE.encode())
        if not rest.endswith(_NET_END) or _SUPPRESSION.encode() in rest or not lane.is_sound(rest.decode("ascii"), "<net>"):
            return False
    except UnusualError:
        return False
    if head[3]:
        document.encoding = "ascii"
    document.name = head[4].decode("ascii")
    document.version = int(head[5])
    graph = document.graph
    graph.offset = source.index(b"<net")
    graph.end = last + len(_EDGES_END) + len(rest)
    graph.layers = layers
    graph.set_edges(edges, lane.finder(first, last))
    return True


@mypyc_attr(native_class=False)
class _Numbers(dict[str, int]):
    """The numbers of decimal texts. Edges repeat the ids of layers, so most texts have been read before."""

    def __missing__(self, text: str) -> int:
        number = self[text] = int(text)
        return number


class _Lane:
    """The state of reading one document: the parts parsed so far, by their text."""

    def __init__(self, document: Document, types_with_bodies: frozenset[str], read_layer: ReadLayer, most_nested: int) -> None:
        self.source = document.source
        self.limits = document.limits
        # How many layers have been read, how many bodies are open, and how many layers the general reader has read alone.
        self.count = self.depth = self.unusual = 0
        self.types_with_bodies = types_with_bodies
        self.read_layer = read_layer
        self.most_nested = most_nested
        # The signature of a layer's text after its name, and the place of `<data>` in that text (-1 if absent).
        self.signatures: dict[str, tuple[Signature, int]] = {}
        self.heads: dict[str, tuple[str, str, dict[str, str], int]] = {}
        self.known_inputs: dict[str, list[PortRecord]] = {}
        self.known_outputs: dict[str, list[PortRecord]] = {}
        self.known_ports: dict[str, _PortText] = {}
        self.numbers = _Numbers()

    def layers(self, at: int, end: int | None = None) -> tuple[list[Layer], int]:
        """Read the layers from an offset on, up to `end` if they are those of a body; also gives the offset after the last one."""
        # A large file spends its reading time in this loop, so the loop calls no function that a layer can do without.
        source, signatures, ports, numbers = self.source, self.signatures, self.ports, self.numbers
        has_entities = b"&" in source
        befores: set[str] = set()
        layers: list[Layer] = []
        while (stop := _last(source, _LAYER_END_BYTES, at, end)) >= 0:
            resumed = at  # the offset up to which the text has been read
            for text in source[at:stop].decode("ascii").split(_LAYER_END):
                if at < resumed:  # inside a layer with bodies, which has been read
                    at += len(text) + len(_LAYER_END)
                    continue
                try:
                    before, id, between, name, rest = text.split('"', 4)
                except ValueError:
                    raise UnusualError from None
                if before not in befores:
                    if not _BEFORE.fullmatch(before):
                        raise UnusualError
                    befores.add(before)
                if between != " name=" or not (id.isdecimal() and len(id) <= SAFE_DIGITS) or not name.isprintable() or "<" in name:
                    raise UnusualError
                front, cut, tail = rest.partition(_NAMES)
                names = ""
                if cut:
                    names, _, tail = tail.partition('"')
                    if not names.isprintable() or "<" in names:
                        raise UnusualError
                key, weights_at = front, None
                if rest.startswith(_CONST):
                    first, _, behind = front.partition(_OFFSET)
                    offset, _, behind = behind.partition('"')
                    weights_at = own_offset(offset)
                    if weights_at is not None:
                        key = f"{first}\1{behind}"
                if cut:
                    key = f"{key}\0{tail}"
                if has_entities and ("&" in name or "&" in names):
                    raise UnusualError
                begin = at + len(before) - _LAYER_BEGIN_LENGTH
                at += len(text)
                found = signatures.get(key)
                if found is None:
                    if self.has_bodies(rest):
                        layer, resumed = self.layer_with_bodies(begin)
                        layers.append(layer)
                        at += len(_LAYER_END)
                        continue
                    nameless = f'{front}{_NAMES}"{tail}' if cut else rest
                    try:
                        found = signatures[key] = self.signature(nameless, has_own=weights_at is not None)
                    except UnusualError:
                        at += len(_LAYER_END)
                        layers.append(self.unusual_layer(begin, at))
                        continue
                signature, data_at = found
                data_offset = at - len(rest) + data_at if data_at >= 0 else -1
                at += len(_LAYER_END)
                number = numbers[id] = int(id)
                layers.append(Layer(number, name, signature, weights_at, begin, at, data_offset, ports))
            at = max(at, resumed)
            if self.count + len(layers) > self.limits.layers:
                raise UnusualError
        self.count += len(layers)
        return layers, at

    def unusual_layer(self, begin: int, end: int) -> Layer:
        """Read a layer whose content departs from the layout with the general reader."""
        self.unusual += 1
        if self.unusual > _MOST_UNUSUAL:
            raise UnusualError
        return self.read_layer(begin, end, [])

    def has_bodies(self, rest: str) -> bool:
        """Whether a layer is of a type with bodies, given its text after the name."""
        return rest.startswith(_TYPE) and rest[len(_TYPE) : rest.find('"', len(_TYPE))].lower() in self.types_with_bodies

    def layer_with_bodies(self, begin: int) -> tuple[Layer, int]:
        """Read the layer with bodies that begins at an offset; also gives its end."""
        source = self.source
        if self.depth >= self.limits.depth:
            raise UnusualError
        self.depth += 1
        graphs: dict[str, tuple[list[Layer], list[int], Callable[[], list[int]]]] = {}
        left_out: list[tuple[int, int]] = []
        at = begin
        end = source.find(_LAYER_END_BYTES, at)
        while (body := re.compile(_BODY_BEGIN).search(source, at, end)) is not None:
            inside = re.compile(_LAYERS_BEGIN).match(source, body.end())
            name = body[1].decode()
            if inside is None or name in graphs:
                raise UnusualError
            layers, at = self.layers(inside.end(), self.end_of_layers(inside.end()))
            edges, first, last = self.edges(at)
            at = last + len(_EDGES_END)
            left_out.append((body.end(), at))
            graphs[name] = layers, edges, self.finder(first, last)
            end = source.find(_LAYER_END_BYTES, at)
        if end < 0:
            raise UnusualError
        self.depth -= 1
        end += len(_LAYER_END)
        layer = self.read_layer(begin, end, left_out)
        if layer.bodies is None or layer.bodies.keys() != graphs.keys():
            raise UnusualError
        for name, (layers, edges, find) in graphs.items():
            layer.bodies[name].layers = layers
            layer.bodies[name].set_edges(edges, find)
        return layer, end

    def end_of_layers(self, at: int) -> int:
        """The place of the end tag that belongs to the `<layers>` before an offset."""
        depth = 1
        for tag in re.compile(_LAYERS_TAG).finditer(self.source, at):
            depth += -1 if tag[0] == _LAYERS_END else 1
            if depth == 0:
                return tag.start()
        raise UnusualError

    def finder(self, first: int, last: int) -> Callable[[], list[int]]:
        """A function that finds the offset of each edge in a range of the source."""
        source = self.source
        return lambda: [edge.start() for edge in re.compile(_EDGE).finditer(source, first, last)]

    def edges(self, at: int) -> tuple[list[int], int, int]:
        """The four numbers of each edge after the layers, and the begin and end of the text that holds the edges."""
        source = self.source
        begin = _EDGES_BEGIN.match(source, at)
        if begin is None:
            raise UnusualError
        at = first = begin.end()
        last = source.find(_EDGES_END, first)
        ends: list[int] = []
        number_of = self.numbers.__getitem__
        while at < last:
            stop = _last(source, _EMPTY_TAG_END, at, last)
            stop = last if stop < 0 else stop + len(_EMPTY_TAG_END)
            text = source[at:stop]
            if not _EDGES.fullmatch(text):
                raise UnusualError
            ends += map(number_of, text.translate(_DIGITS).decode("ascii").split())
            at = stop
        return ends, first, last

    def signature(self, rest: str, *, has_own: bool) -> tuple[Signature, int]:
        """The signature of a layer and the place of its `<data>` (-1 if absent), given the layer's text after its name.

        `has_own` says that the layer keeps its `offset` out of the signature.
        """
        names, offset = rest.find(_NAMES), rest.find(_OFFSET) if has_own else -1
        for cut, tag in ((names, "<port "), (offset, "<data ")):
            if cut >= 0 and not rest.startswith(tag, rest.rfind("<", 0, cut)):
                raise UnusualError
        text, inputs, outputs = _parts(rest)
        head = self.heads.get(text)
        if head is None:
            head = self.heads[text] = self.head(text)
        type, version, attributes, data_at = head
        if has_own:
            attributes = {**attributes, "offset": SHARED_OFFSET}
        signature = Signature(type, version, attributes)
        signature.record(self.records(inputs), self.records(outputs, is_output=True))
        return signature, data_at

    def head(self, text: str) -> tuple[str, str, dict[str, str], int]:
        """Type, version, attributes and the place of `<data>` (-1 if absent), given a layer's text between its name and its ports."""
        found = _HEAD.fullmatch(text)
        if found is None:
            raise UnusualError
        type, version, data, rt_info = found.groups("")
        pairs = _ATTRIBUTE.findall(data)
        attributes = dict(pairs)
        if len(attributes) < len(pairs) or (rt_info and (_SUPPRESSION in rt_info or not self.is_sound(rt_info))):
            raise UnusualError
        return type, version, attributes, found.start(3)

    def records(self, text: str, *, is_output: bool = False) -> list[PortRecord]:
        """The id, precision and dims of each port in a text."""
        several = self.known_outputs if is_output else self.known_inputs
        records = several.get(text)
        if records is not None:
            return records
        records = []
        known_ports = self.known_ports
        blank, *ports = text.split(_PORT_BEGIN)
        if blank.strip(WHITE_SPACE):
            raise UnusualError
        for port in ports:
            id, _, rest = port.partition('"')
            if not (id.isdecimal() and len(id) <= SAFE_DIGITS):
                raise UnusualError
            known = known_ports.get(rest)
            if known is None:
                known = known_ports[rest] = self.port(rest)
            precision, _, dims = known
            if is_output and (precision is None or ElementType.from_precision(precision) is None):
                raise UnusualError
            records.append((int(id), precision, dims))
        several[text] = records
        return records

    def port(self, text: str) -> _PortText:
        """The precision, names and dims of a port, given its text after the id."""
        found = _PORT.fullmatch(text)
        if found is None:
            raise UnusualError
        precision, names, dims_text = found.groups()
        dims = tuple(map(int, (dims_text or "").replace("</dim>", "").split("<dim>")[1:]))
        if len(dims) > self.limits.rank:
            raise UnusualError
        return precision, names, dims or None

    def ports(self, layer: Layer) -> tuple[list[Port], list[Port]]:
        """The ports of a layer, with their offsets in the file."""
        end = layer.end - len(_LAYER_END)
        text = self.source[layer.offset : end].decode("ascii")
        rest = text.split('"', 4)[4]
        head, inputs, outputs = _parts(rest)
        at = end - len(rest) + len(head)
        made: list[list[Port]] = []
        for tag, ports in (("<input>", inputs), ("<output>", outputs)):
            start = self.source.find(tag.encode(), at, end) + len(tag)
            made.append([])
            for id, port, place in _each_port(ports):
                precision, names, dims = self.port(port)
                stop = start + place + len(_PORT_BEGIN) + len(id) + 1 + len(port.rstrip(WHITE_SPACE))
                made[-1].append(Port(int(id), precision, start + place, dims, stop, names))
        return made[0], made[1]

    def is_sound(self, fragment: str, opening: str = "") -> bool:
        """Whether a fragment of the document, after an opening tag, is well-formed and not nested too deeply."""
        # The depth is at most the number of end tags.
        if fragment.count("</") > self.most_nested or "<?" in fragment or "<!" in fragment:
            return False
        try:
            pyexpat.ParserCreate().Parse(opening + fragment, True)
        except pyexpat.ExpatError:
            return False
        return True


def _parts(rest: str) -> tuple[str, str, str]:
    """A layer's text after its name in three parts: the text before the ports, the content of `<input>` and that of `<output>`."""
    head, has_inputs, behind = rest.partition("<input>")
    inputs = outputs = between = ""
    if has_inputs:
        inputs, is_closed, behind = behind.partition("</input>")
        between, has_outputs, behind = behind.partition("<output>")
        if not is_closed:
            raise UnusualError
    else:
        head, has_outputs, behind = rest.partition("<output>")
    if has_outputs:
        outputs, is_closed, behind = behind.partition("</output>")
        if not is_closed:
            raise UnusualError
    if between.strip(WHITE_SPACE) or behind.strip(WHITE_SPACE):
        raise UnusualError
    return head, inputs, outputs


def _each_port(text: str) -> Iterator[tuple[str, str, int]]:
    """For each port in a text: its id, its text after the id, and the place where the port begins."""
    blank, *ports = text.split(_PORT_BEGIN)
    if blank.strip(WHITE_SPACE):
        raise UnusualError
    at = len(blank)
    for port in ports:
        id, _, rest = port.partition('"')
        if not (id.isdecimal() and len(id) <= SAFE_DIGITS):
            raise UnusualError
        yield id, rest, at
        at += len(_PORT_BEGIN) + len(port)


def _last(source: bytes, mark: bytes, at: int, end: int | None = None) -> int:
    """The last place of a mark in the next block, or else its first place after the block; -1 if there is none before the end."""
    stop = at + _BLOCK if end is None else min(at + _BLOCK, end)
    found = source.rfind(mark, at, stop)
    return found if found >= 0 else source.find(mark, at, end)
