"""The fast lane: files laid out as OpenVINO's own writer lays them out, read by whole sections instead of tag by tag.

What is written alike is parsed once, and layers with the same ports share a `Pattern`; ports and places are made when they are
asked for. Every byte is held against strict patterns, or given to expat where anything may stand (`<rt_info>`), so what is read
here is well-formed. Whatever these do not know, a fault above all, is left to the general reader: both give equal documents.
"""

from __future__ import annotations

import pyexpat
import re
from typing import Final, NamedTuple

from irshape.shape.element_type import ElementType
from irshape.xml.document import Document, Ends, Layer, Pattern, Port

# A value free of what a parser would change or refuse: entities, tags, control characters, blanks other than spaces.
_VALUE: Final = r"[ !#-%'-;=-~]*+"
_NAME: Final = r"[A-Za-z_][\w.-]*+"
_ID: Final = r"[0-9]{1,18}+"
_BLANKS: Final = r"[ \t\r\n]*+"
_DECLARED: Final = "|".join(rf"<\?xml version={q}1\.0{q}(?: encoding={q}(?i:utf-8|us-ascii){q})? ?\?>" for q in ("'", '"'))
_DOCUMENT: Final = re.compile(rf'(?:{_DECLARED})?{_BLANKS}<net name="({_VALUE})" version="(10|11)">{_BLANKS}<layers>')
_LAYER: Final = re.compile(
    rf'{_BLANKS}<layer id="({_ID})" name="({_VALUE})" type="({_VALUE})" version="({_VALUE})"(?: output_names="{_VALUE}")?>'
)
_DATA: Final = re.compile(rf'{_BLANKS}(<data(?: {_NAME}="{_VALUE}")*+ ?/>)')
_OPENING: Final = re.compile(rf"{_BLANKS}<(rt_info|input|output)>")
_ATTRIBUTE: Final = re.compile(rf' ({_NAME})="({_VALUE})"')
_PORT: Final = re.compile(
    rf"""{_BLANKS}(<port[ ]id="({_ID})"(?:[ ]precision="(\w+)")?(?:[ ]names="({_VALUE})")?[ ]?
    (?:/>|>((?:{_BLANKS}<dim>-?{_ID}</dim>)*+){_BLANKS}</port>))""",
    re.VERBOSE,
)
_DIM: Final = re.compile(r"<dim>(-?[0-9]+)</dim>")
_PORTS_END: Final = re.compile(rf"{_BLANKS}</(?:in|out)put>")
_EDGES: Final = re.compile(
    rf"""{_BLANKS}</layers>{_BLANKS}<edges>
    ((?:{_BLANKS}<edge[ ]from-layer="{_ID}"[ ]from-port="{_ID}"[ ]to-layer="{_ID}"[ ]to-port="{_ID}"[ ]?/>)*+)
    {_BLANKS}</edges>""",
    re.VERBOSE,
)
_EDGE: Final = re.compile(rb"<edge ")
_LAYER_END: Final = "</layer>"
_BEFORE_ID: Final = len('<layer id="')
_NAMES: Final = ' names="'

# Id, precision and dims, names, and where the port begins and ends in its section.
_Parsed = tuple[int, str | None, tuple[int, ...] | None, str | None, int, int]


# A text, or where its first names stood and what is left without them.
_Key = str | tuple[int, str]


class _Section(NamedTuple):
    """The ports of a layer, with their places counted from the end of its `<data>`."""

    pattern: Pattern
    inputs: list[_Parsed]
    outputs: list[_Parsed]


class _UnusualError(Exception):
    """The general reader must read this document."""


def read_canonical(document: Document, *, excluded_types: frozenset[str], most_dims: int, most_nested: int) -> bool:
    """Fill the document if all of it is laid out as OpenVINO writes it; otherwise change nothing and say False.

    Layers of the excluded types (in lower case) have bodies, which only the general reader follows.
    """
    text = document.source.decode("ascii")
    head = _DOCUMENT.match(text)
    if head is None:
        return False
    sections = _Sections(document.source, most_dims, most_nested)
    try:
        layers, at = _layers(text, head.end(), excluded_types, sections)
        edges = _EDGES.match(text, at)
        if edges is None or not sections.is_sound(text[edges.end() :], "<net>"):
            return False
    except _UnusualError:
        return False
    document.name = head[1]
    document.version = int(head[2])
    graph = document.graph
    graph.offset = text.index("<net")
    graph.end = text.rindex("</net>") + len("</net>")
    graph.layers = layers
    numbers = map(int, edges[1].split('"')[1::2])
    ends: list[Ends] = list(zip(numbers, numbers, numbers, numbers, strict=True))
    first, last = edges.span(1)
    graph.set_edges(ends, lambda: [edge.start() for edge in _EDGE.finditer(document.source, first, last)])
    return True


def _layers(text: str, at: int, excluded_types: frozenset[str], sections: _Sections) -> tuple[list[Layer], int]:
    layers: list[Layer] = []
    types: set[str] = set()
    # What stands between the tags of a layer, but for the names of its port: attributes, where they begin, ports.
    bodies: dict[_Key, tuple[dict[str, str], int, Pattern]] = {}
    ports = sections.ports
    while head := _LAYER.match(text, at):
        id, name, type, version = head.groups()
        if type not in types:
            if type.lower() in excluded_types:
                raise _UnusualError
            types.add(type)
        base = head.end()
        end = text.find(_LAYER_END, base)
        if end < 0:
            raise _UnusualError
        own = text[base:end]
        key = _without_names(own)
        body = bodies.get(key)
        if body is None:
            body = bodies[_sound(key, own)] = sections.body(own)
        attributes, data_offset, pattern = body
        at = end + len(_LAYER_END)
        data_offset = data_offset + base if data_offset >= 0 else -1
        layers.append(Layer(int(id), name, type, version, head.start(1) - _BEFORE_ID, at, attributes, data_offset, pattern, ports))
    return layers, at


def _parts(text: str) -> dict[str, tuple[int, str]]:
    """The elements that a text consists of, each with its place, by their tags."""
    parts: dict[str, tuple[int, str]] = {}
    at = 0
    while opening := _OPENING.match(text, at):
        tag = opening[1]
        start = opening.end() - len(tag) - 2
        end = text.find(f"</{tag}>", start)
        if end < 0 or tag in parts:
            raise _UnusualError
        at = end + len(tag) + 3
        parts[tag] = start, text[start:at]
    if text[at:].strip(" \t\r\n"):
        raise _UnusualError
    return parts


def _without_names(text: str) -> _Key:
    """A text but for the names of the first port that has any, and where they stood: names differ where all else is alike."""
    cut = text.find(_NAMES)
    if cut < 0:
        return text
    start = cut + len(_NAMES)
    end = text.find('"', start)
    names = text[start:end]
    return (cut, text[:cut] + text[end + 1 :]) if names.isprintable() and "<" not in names and "&" not in names else text


def _sound(key: _Key, text: str) -> _Key:
    """The key under which to keep what was parsed of a text: the text itself where the names are not those of a port."""
    return key if isinstance(key, tuple) and text.startswith("<port ", text.rfind("<", 0, key[0])) else text


class _Sections:
    """The parts of layers that were parsed, by their text."""

    def __init__(self, source: bytes, most_dims: int, most_nested: int) -> None:
        self.source = source
        self.most_dims = most_dims
        self.most_nested = most_nested
        self.attributes: dict[str, dict[str, str]] = {"": {}}
        self.patterns: dict[_Key, Pattern] = {}
        self.sections: dict[str, _Section] = {}
        self.parsed: dict[str, list[_Parsed]] = {}
        self.dims: dict[str | None, tuple[int, ...]] = {None: ()}
        self.rt_infos: set[str] = set()

    def body(self, text: str) -> tuple[dict[str, str], int, Pattern]:
        """What stands between a layer's tags: attributes, the place of `<data>` or -1, and the pattern of the ports."""
        data = _DATA.match(text)
        if data is None:
            return self.attributes[""], -1, self.pattern(text)
        return self.attributes_of(data[1]), data.start(1), self.pattern(text[data.end() :])

    def attributes_of(self, data: str) -> dict[str, str]:
        """The attributes of a `<data>`."""
        attributes = self.attributes.get(data)
        if attributes is None:
            pairs = _ATTRIBUTE.findall(data)
            attributes = self.attributes[data] = dict(pairs)
            if len(attributes) < len(pairs):
                raise _UnusualError
        return attributes

    def pattern(self, text: str) -> Pattern:
        """What the ports record that follow the `<data>` of a layer."""
        key = _without_names(text)
        pattern = self.patterns.get(key)
        if pattern is None:
            pattern = self.patterns[_sound(key, text)] = self.section(text).pattern
        return pattern

    def section(self, text: str) -> _Section:
        """What follows the `<data>` of a layer."""
        section = self.sections.get(text)
        if section is None:
            found = _parts(text)
            rt_info = found.get("rt_info", (0, ""))[1]
            if rt_info and rt_info not in self.rt_infos:
                if not self.is_sound(rt_info):
                    raise _UnusualError
                self.rt_infos.add(rt_info)
            inputs, outputs = self.parsed_ports(found, "input"), self.parsed_ports(found, "output")
            pattern = Pattern([port[:3] for port in inputs], [port[:3] for port in outputs])
            section = self.sections[text] = _Section(pattern, inputs, outputs)
        return section

    def ports(self, layer: Layer) -> tuple[list[Port], list[Port]]:
        """The ports of a layer, with their places in the file."""
        text = self.source[layer.offset : layer.end].decode("ascii")
        before = _LAYER.match(text)
        assert before is not None
        start = before.end()
        if data := _DATA.match(text, start):
            start = data.end()
        section = self.section(text[start : -len(_LAYER_END)])
        base = layer.offset + start
        inputs, outputs = (
            [Port(id, precision, base + start, dims, base + end, names) for id, precision, dims, names, start, end in ports]
            for ports in (section.inputs, section.outputs)
        )
        return inputs, outputs

    def is_sound(self, fragment: str, opening: str = "") -> bool:
        """Whether a fragment of the document, with a tag before it, is well-formed elements and no deeper than it may be."""
        # Elements nest no deeper than as many of them end.
        if fragment.count("</") > self.most_nested or "<?" in fragment:
            return False
        try:
            pyexpat.ParserCreate().Parse(opening + fragment, True)
        except pyexpat.ExpatError:
            return False
        return True

    def parsed_ports(self, parts: dict[str, tuple[int, str]], tag: str) -> list[_Parsed]:
        """The ports of an `<input>` or `<output>`, with places counted from where the text begins that it is part of."""
        if tag not in parts:
            return []
        shift, text = parts[tag]
        ports = self.parsed.get(text)
        if ports is None:
            ports = self.parsed[text] = self.parse(text, is_output=tag == "output")
        return [(id, precision, dims, names, start + shift, end + shift) for id, precision, dims, names, start, end in ports]

    def parse(self, section: str, *, is_output: bool) -> list[_Parsed]:
        ports: list[_Parsed] = []
        at = section.index(">") + 1
        while found := _PORT.match(section, at):
            _, id, precision, names, dims_text = found.groups()
            if is_output and (precision is None or ElementType.from_precision(precision) is None):
                raise _UnusualError
            dims = self.dims.get(dims_text)
            if dims is None:
                dims = self.dims[dims_text] = self.dims_of(dims_text)
            at = found.end()
            ports.append((int(id), precision, dims or None, names, found.start(1), at))
        ended = _PORTS_END.match(section, at)
        if ended is None or ended.end() != len(section):
            raise _UnusualError
        return ports

    def dims_of(self, text: str) -> tuple[int, ...]:
        """The numbers of some `<dim>`."""
        dims = tuple(map(int, _DIM.findall(text)))
        if len(dims) > self.most_dims or (dims and min(dims) < -1):
            raise _UnusualError
        return dims
