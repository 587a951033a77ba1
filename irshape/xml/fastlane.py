"""The fast lane: files laid out as OpenVINO's own writer lays them out, read by whole sections instead of tag by tag.

Layers that repeat are parsed once, and everything is held against strict patterns. Whatever these do not know, a fault above
all, is left to the general reader, so that both give equal documents. The text must be known to be well-formed: then no `<`
stands in an attribute, and what begins like a tag is one.
"""

import re
from typing import Final, NamedTuple

from irshape.shape.element_type import ElementType
from irshape.xml.document import Document, Edge, Layer, Port

# A value free of what a parser would change: entities and blanks other than spaces.
_VALUE: Final = r"[^\"&<\t\r\n]*"
_DOCUMENT: Final = re.compile(rf'(?:<\?xml [^<>]*\?>)?\s*<net name="({_VALUE})" version="(10|11)">\s*<layers>')
_LAYER: Final = re.compile(
    rf'\s*<layer id="(\d{{1,18}})" name="({_VALUE})" type="({_VALUE})" version="({_VALUE})"(?: [\w-]+="{_VALUE}")*+>'
)
_BODY: Final = re.compile(
    rf"""\s*(?P<data><data(?:[ ][\w.:-]+="{_VALUE}")*+[ ]?/>)?
    \s*(?P<rt_info><rt_info>(?>.*?</rt_info>))?
    \s*(?P<input><input>(?>.*?</input>))?
    \s*(?P<output><output>(?>.*?</output>))?
    \s*""",
    re.DOTALL | re.VERBOSE,
)
_ATTRIBUTE: Final = re.compile(rf'([\w.:-]+)="({_VALUE})"')
_PORT: Final = re.compile(
    rf"""\s*(<port[ ]id="(\d{{1,18}})"(?:[ ]precision="(\w+)")?(?:[ ]names="({_VALUE})")?[ ]?
    (?:/>|>((?:\s*+<dim>-?\d{{1,18}}</dim>)*+)\s*</port>))""",
    re.VERBOSE,
)
_DIM: Final = re.compile(r"<dim>(-?\d+)</dim>")
_PORTS_END: Final = re.compile(r"\s*</(?:in|out)put>")
_BETWEEN: Final = re.compile(r"\s*</layers>\s*<edges>")
_EDGE: Final = re.compile(r'\s*<edge from-layer="(\d{1,18})" from-port="(\d{1,18})" to-layer="(\d{1,18})" to-port="(\d{1,18})" ?/>')
_EDGE_BEFORE_ID: Final = len('<edge from-layer="')
_NAMES: Final = ' names="'

# Id, precision, dims and names, and where the port begins and ends in its section.
_PortTemplate = tuple[int, str | None, tuple[int, ...] | None, str | None, int, int]


class _LayerTemplate(NamedTuple):
    """What stands between a layer's tags, with places counted from the end of its start tag; -1 for no `<data>`."""

    attributes: dict[str, str]
    data_offset: int
    inputs: list[_PortTemplate]
    outputs: list[_PortTemplate]


class _UnusualError(Exception):
    """The general reader must read this document."""


def read_canonical(document: Document, *, excluded_types: frozenset[str], most_dims: int, most_nested: int) -> bool:
    """Fill the document if all of it is laid out as OpenVINO writes it; otherwise change nothing and say False.

    Layers of the excluded types (in lower case) have bodies, which only the general reader follows.
    """
    if not document.source.isascii():
        return False
    text = document.source.decode("ascii")
    head = _DOCUMENT.match(text)
    if head is None:
        return False
    sections = _Sections(most_dims, most_nested)
    try:
        layers, at = _layers(text, head.end(), excluded_types, sections)
        edges, at = _edges(text, at)
    except _UnusualError:
        return False
    # Elements nest no deeper than as many of them end.
    if text.count("</", at) > most_nested:
        return False
    document.name = head[1]
    document.version = int(head[2])
    document.graph.offset = text.index("<net")
    document.graph.end = text.rindex("</net>") + len("</net>")
    document.graph.layers = layers
    document.graph.edges = edges
    return True


def _layers(text: str, at: int, excluded_types: frozenset[str], sections: "_Sections") -> tuple[list[Layer], int]:
    layers: list[Layer] = []
    templates: dict[str, _LayerTemplate] = {}
    while head := _LAYER.match(text, at):
        id, name, type, version = head.groups()
        if type.lower() in excluded_types:
            raise _UnusualError
        base = head.end()
        end = text.index("</layer>", base)
        body = text[base:end]
        # Names differ from layer to layer; without them a body with one named port is like many others.
        names: str | None = None
        cut = body.find(_NAMES)
        if cut >= 0:
            cut_end = body.index('"', cut + len(_NAMES)) + 1
            names = body[cut + len(_NAMES) : cut_end - 1]
            whole, body = body, body[:cut] + body[cut_end:]
        template = templates.get(body)
        if template is None:
            template = templates[body] = sections.template(body)
        layer = Layer(int(id), name, type, version, head.start(1) - len('<layer id="'))
        layer.end = at = end + len("</layer>")
        layer.attributes, data_offset, inputs, outputs = template
        if names is not None:
            if len(outputs) == 1 and _is_in_tag(body, outputs[0][4], cut) and names.isprintable() and "&" not in names:
                port_id, precision, dims, _, start, port_end = outputs[0]
                layer.outputs = [Port(port_id, precision, base + start, dims, base + port_end + cut_end - cut, names)]
                outputs = []
            else:
                layer.attributes, data_offset, inputs, outputs = sections.template(whole)
        if data_offset >= 0:
            layer.data_offset = base + data_offset
        for port_id, precision, dims, port_names, start, port_end in inputs:
            layer.inputs.append(Port(port_id, precision, base + start, dims, base + port_end, port_names))
        for port_id, precision, dims, port_names, start, port_end in outputs:
            layer.outputs.append(Port(port_id, precision, base + start, dims, base + port_end, port_names))
        layers.append(layer)
    return layers, at


def _is_in_tag(body: str, start: int, place: int) -> bool:
    """Whether a place is inside the start tag of the port that begins at `start`."""
    return start < place and ">" not in body[start:place]


def _edges(text: str, at: int) -> tuple[list[Edge], int]:
    between = _BETWEEN.match(text, at)
    if between is None:
        raise _UnusualError
    at = between.end()
    end = text.index("</edges>", at)
    edges: list[Edge] = []
    for edge in _EDGE.finditer(text, at, end):
        if edge.start() != at:
            raise _UnusualError
        from_layer, from_port, to_layer, to_port = map(int, edge.groups())
        edges.append(Edge(from_layer, from_port, to_layer, to_port, edge.start(1) - _EDGE_BEFORE_ID))
        at = edge.end()
    if text[at:end].strip():
        raise _UnusualError
    return edges, end


class _Sections:
    """The parts of layers that were parsed, by their text."""

    def __init__(self, most_dims: int, most_nested: int) -> None:
        self.most_dims = most_dims
        self.most_nested = most_nested
        self.attributes: dict[str, dict[str, str]] = {}
        self.ports: dict[str, list[_PortTemplate]] = {}

    def template(self, body: str) -> _LayerTemplate:
        """What stands between a layer's tags."""
        found = _BODY.fullmatch(body)
        if found is None:
            raise _UnusualError
        data, rt_info = found["data"], found["rt_info"]
        if rt_info is not None and rt_info.count("</") > self.most_nested:
            raise _UnusualError
        if data is None:
            attributes = {}
        elif (attributes := self.attributes.get(data, {})) == {}:
            attributes = self.attributes[data] = dict(_ATTRIBUTE.findall(data))
        return _LayerTemplate(attributes, found.start("data"), self.section(found, "input"), self.section(found, "output"))

    def section(self, body: re.Match[str], tag: str) -> list[_PortTemplate]:
        """The ports of an `<input>` or `<output>`, with places counted from the beginning of the body."""
        text: str | None = body[tag]
        if text is None:
            return []
        ports = self.ports.get(text)
        if ports is None:
            ports = self.ports[text] = self.parse(text, is_output=tag == "output")
        shift = body.start(tag)
        return [(id, precision, dims, names, start + shift, end + shift) for id, precision, dims, names, start, end in ports]

    def parse(self, section: str, *, is_output: bool) -> list[_PortTemplate]:
        ports: list[_PortTemplate] = []
        at = section.index(">") + 1
        while found := _PORT.match(section, at):
            _, id, precision, names, dims_text = found.groups()
            if is_output and (precision is None or ElementType.from_precision(precision) is None):
                raise _UnusualError
            dims = tuple(map(int, _DIM.findall(dims_text))) if dims_text else ()
            if len(dims) > self.most_dims or (dims and min(dims) < -1):
                raise _UnusualError
            at = found.end()
            ports.append((int(id), precision, dims or None, names, found.start(1), at))
        ended = _PORTS_END.match(section, at)
        if ended is None or ended.end() != len(section):
            raise _UnusualError
        return ports
