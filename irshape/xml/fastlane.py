"""The fast lane: files laid out as OpenVINO's own writer lays them out, read by whole layers instead of tag by tag.

Layers that are written alike share a `Form`, which is parsed once; ports and places are made when they are asked for. Every byte is
held against strict patterns, or given to expat where anything may stand (`<rt_info>`), so what is read here is well-formed. Whatever
these do not know, a fault above all, is left to the general reader: both give equal documents. Layers with bodies are read by it one
by one.
"""

from __future__ import annotations

import pyexpat
import re
from array import array
from collections.abc import Callable, Iterator
from typing import Final

from irshape.shape.element_type import ElementType
from irshape.xml.document import Document, Layer, Port, PortRecord, Signature
from irshape.xml.lexical import EDGE_ENDS, IR_VERSIONS, SAFE_DIGITS, WHITE_SPACE, own_offset

# A value free of what a parser would change or refuse: entities, tags, control characters, blanks other than spaces.
_VALUE: Final = r"[ !#-%'-;=-~]*+"
_NAME: Final = r"[A-Za-z_][\w.-]*+"
_ID: Final = rf"[0-9]{{1,{SAFE_DIGITS}}}+"
_BLANKS: Final = rf"[{WHITE_SPACE}]*+"
_DECLARED: Final = r"""<\?xml version=(["'])1\.0\1(?: encoding=(["'])(?:(?i:utf-8)|((?i:us-ascii)))\2)? ?\?>"""
_VERSION: Final = "|".join(map(str, IR_VERSIONS))
_DOCUMENT: Final = re.compile(rf'(?:{_DECLARED})?{_BLANKS}<net name="({_VALUE})" version="({_VERSION})">{_BLANKS}<layers>'.encode())
_BEFORE: Final = re.compile(rf"{_BLANKS}<layer id=")
# What stands in a layer between its name and its ports.
_HEAD: Final = re.compile(
    rf''' type="({_VALUE})" version="({_VALUE})"(?: output_names="{_VALUE}")?>'''
    rf'''(?:{_BLANKS}(<data(?: {_NAME}="{_VALUE}")*+ ?/>))?(?:{_BLANKS}(<rt_info>(?>.*?</rt_info>)))?{_BLANKS}''',
    re.DOTALL,
)
# What stands in a port behind its id, and after it.
_PORT: Final = re.compile(
    rf'(?: precision="(\w+)")?(?: names="({_VALUE})")? ?(?:/>|>((?:{_BLANKS}<dim>(?:-1|{_ID})</dim>)*+){_BLANKS}</port>){_BLANKS}'
)
_PORT_BEGIN: Final = '<port id="'
_ATTRIBUTE: Final = re.compile(rf' ({_NAME})="({_VALUE})"')
_EDGES_BEGIN: Final = re.compile(rf"{_BLANKS}</layers>{_BLANKS}<edges>".encode())
_EDGE_ATTRIBUTES: Final = " ".join(f'{name}="{_ID}"' for name in EDGE_ENDS)
_EDGES: Final = re.compile(rf"(?:{_BLANKS}<edge {_EDGE_ATTRIBUTES} ?/>)*+{_BLANKS}".encode())
# Leaves digits, and a blank for all else.
_DIGITS: Final = bytes(byte if byte in b"0123456789" else ord(" ") for byte in range(256))
_EDGE: Final = re.compile(rb"<edge ")
_TAG: Final = len("<layer id=")
_TYPE: Final = ' type="'
_LAYER_TAG: Final = re.compile(rb"<layer |</layer>")
_LAYER_END: Final = "</layer>"
_LAYER_ENDS: Final = _LAYER_END.encode()
_EMPTY_TAG_END: Final = b"/>"
_NET_END: Final = b"</net>"
# What is cut out of the text of a layer, as layers differ in it where all else is alike.
_NAMES: Final = ' names="'
_OFFSET: Final = ' offset="'
_CONST: Final = ' type="Const" '
# So much is taken at a time that it costs no memory to speak of.
_BLOCK: Final = 1 << 18


class UnusualError(Exception):
    """The general reader must read this document."""


def read_canonical(
    document: Document, *, types_with_bodies: frozenset[str], read_layer: Callable[[int, int], Layer], most_nested: int
) -> bool:
    """Fill the document if all of it is laid out as OpenVINO writes it; otherwise change nothing and say False.

    Layers of some types (in lower case) have bodies: `read_layer` is the general reader's way to read one, from its begin to its
    end. Raises `UnusualError` where it finds a fault.
    """
    source = document.source
    head = _DOCUMENT.match(source)
    # Two characters that no XML holds stand for what is cut out of a text.
    if head is None or b"\0" in source or b"\1" in source or not source.isascii():
        return False
    lane = _Lane(document, types_with_bodies, read_layer, most_nested)
    try:
        layers, at = lane.layers(head.end())
        edges, first, last = lane.edges(at)
        rest = source[last + len(b"</edges>") :].rstrip(WHITE_SPACE.encode())
        if not rest.endswith(_NET_END) or not lane.is_sound(rest.decode("ascii"), "<net>"):
            return False
    except UnusualError:
        return False
    if head[3]:
        document.encoding = "ascii"
    document.name = head[4].decode("ascii")
    document.version = int(head[5])
    graph = document.graph
    graph.offset = source.index(b"<net")
    graph.end = last + len(b"</edges>") + len(rest)
    graph.layers = layers
    graph.set_edges(edges, lambda: [edge.start() for edge in _EDGE.finditer(source, first, last)])
    return True


class _Lane:
    """One document on the fast lane, and what was parsed of it so far, by its text."""

    def __init__(
        self, document: Document, types_with_bodies: frozenset[str], read_layer: Callable[[int, int], Layer], most_nested: int
    ) -> None:
        self.source = document.source
        self.limits = document.limits
        self.types_with_bodies = types_with_bodies
        self.read_layer = read_layer
        self.most_nested = most_nested
        # The signatures of layers with the places of their `<data>`, counted from the end of the name.
        self.signatures: dict[str, tuple[Signature, int]] = {}
        self.heads: dict[str, tuple[str, str, dict[str, str], int]] = {}
        self.known_ports: dict[str, tuple[str | None, str | None, tuple[int, ...] | None]] = {}

    def layers(self, at: int) -> tuple[list[Layer], int]:
        """The layers from a place on, and where the last one ends."""
        source, signatures, ports = self.source, self.signatures, self.ports
        has_entities = b"&" in source
        befores: set[str] = set()
        layers: list[Layer] = []
        while (stop := _last(source, _LAYER_ENDS, at)) >= 0:
            resumed = at  # what stands before is read
            for text in source[at:stop].decode("ascii").split(_LAYER_END):
                if at < resumed:  # inside a layer with bodies
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
                begin = at + len(before) - _TAG
                at += len(text)
                found = signatures.get(key)
                if found is None:
                    if self.has_bodies(rest):
                        resumed = self.end_of(begin)
                        layers.append(self.read_layer(begin, resumed))
                        at += len(_LAYER_END)
                        continue
                    nameless = f'{front}{_NAMES}"{tail}' if cut else rest
                    found = signatures[key] = self.signature(nameless, has_own=weights_at is not None)
                signature, data_at = found
                data_offset = at - len(rest) + data_at if data_at >= 0 else -1
                at += len(_LAYER_END)
                layers.append(Layer(int(id), name, signature, weights_at, begin, at, data_offset, ports))
            at = max(at, resumed)
            if len(layers) > self.limits.layers:
                raise UnusualError
        return layers, at

    def has_bodies(self, rest: str) -> bool:
        """Whether a layer is of a type with bodies, by what stands behind its name."""
        return rest.startswith(_TYPE) and rest[len(_TYPE) : rest.find('"', len(_TYPE))].lower() in self.types_with_bodies

    def end_of(self, at: int) -> int:
        """Where the layer ends that begins at a place, with all layers in it."""
        depth = 0
        for tag in _LAYER_TAG.finditer(self.source, at):
            depth += -1 if tag[0] == _LAYER_ENDS else 1
            if depth == 0:
                return tag.end()
        raise UnusualError

    def edges(self, at: int) -> tuple[array[int], int, int]:
        """The ends of the edges behind the layers, and where the text begins and stops that they stand in."""
        source = self.source
        begin = _EDGES_BEGIN.match(source, at)
        if begin is None:
            raise UnusualError
        at = first = begin.end()
        last = source.find(b"</edges>", first)
        ends = array("q")
        while at < last:
            stop = _last(source, _EMPTY_TAG_END, at, last)
            stop = last if stop < 0 else stop + len(_EMPTY_TAG_END)
            text = source[at:stop]
            if not _EDGES.fullmatch(text):
                raise UnusualError
            ends.extend(array("q", list(map(int, text.translate(_DIGITS).split()))))
            at = stop
        return ends, first, last

    def signature(self, rest: str, *, has_own: bool) -> tuple[Signature, int]:
        """The signature of a layer, and the place of its `<data>` or -1, by what stands behind its name."""
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
            attributes = {**attributes, "offset": "0"}
        signature = Signature(type, version, attributes)
        signature.record(self.records(inputs), self.records(outputs, is_output=True))
        return signature, data_at

    def head(self, text: str) -> tuple[str, str, dict[str, str], int]:
        """Type, version, attributes and the place of `<data>` or -1, by what stands between name and ports."""
        found = _HEAD.fullmatch(text)
        if found is None:
            raise UnusualError
        type, version, data, rt_info = found.groups("")
        pairs = _ATTRIBUTE.findall(data)
        attributes = dict(pairs)
        if len(attributes) < len(pairs) or (rt_info and not self.is_sound(rt_info)):
            raise UnusualError
        return type, version, attributes, found.start(3)

    def records(self, text: str, *, is_output: bool = False) -> list[PortRecord]:
        """What some ports record."""
        records: list[PortRecord] = []
        for id, port, _ in _each_port(text):
            known = self.known_ports.get(port)
            if known is None:
                known = self.known_ports[port] = self.port(port)
            precision, _, dims = known
            if is_output and (precision is None or ElementType.from_precision(precision) is None):
                raise UnusualError
            records.append((int(id), precision, dims))
        return records

    def port(self, text: str) -> tuple[str | None, str | None, tuple[int, ...] | None]:
        """Precision, names and dims of a port, by what stands behind its id."""
        found = _PORT.fullmatch(text)
        if found is None:
            raise UnusualError
        precision, names, dims_text = found.groups()
        dims = tuple(map(int, (dims_text or "").replace("</dim>", "").split("<dim>")[1:]))
        if len(dims) > self.limits.rank:
            raise UnusualError
        return precision, names, dims or None

    def ports(self, layer: Layer) -> tuple[list[Port], list[Port]]:
        """The ports of a layer, with their places in the file."""
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
        """Whether a fragment of the document, with a tag before it, is well-formed elements and no deeper than it may be."""
        # Elements nest no deeper than as many of them end.
        if fragment.count("</") > self.most_nested or "<?" in fragment or "<!" in fragment:
            return False
        try:
            pyexpat.ParserCreate().Parse(opening + fragment, True)
        except pyexpat.ExpatError:
            return False
        return True


def _parts(rest: str) -> tuple[str, str, str]:
    """What stands behind a layer's name: before its ports, in `<input>`, and in `<output>`."""
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
    """The id of each port in a text, what stands behind it, and where the port begins."""
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
    """Where a mark stands for the last time in the next block, or for the first time behind it; -1 if nowhere before the end."""
    stop = at + _BLOCK if end is None else min(at + _BLOCK, end)
    found = source.rfind(mark, at, stop)
    return found if found >= 0 else source.find(mark, at, end)
