"""Elements that come and go: splices that cut an element with its line, change its start tag, or put new elements beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import unescape

from irshape.xml.document import Document, Graph, Layer
from irshape.xml.writer import MARKUP, Element, Layout, Splice, attributes_of, attributes_set, elements, placed, quoted

# The first part of an element that is looked at for its end; more, if the end is not in it.
_WINDOW = 512


def start_tag(document: Document, offset: int) -> str:
    """The text of the start tag at an offset."""
    text = _text_until(document, offset, lambda text: MARKUP.match(text) is not None)
    markup = MARKUP.match(text)
    assert markup is not None
    return markup[0]


def tag_splices(document: Document, offset: int, new: Mapping[str, str | None]) -> list[Splice]:
    """The splices that set attributes of the start tag at an offset; None removes one."""
    tag = start_tag(document, offset)
    return placed(document, offset, tag, attributes_set(tag, new))


def tag_attribute(document: Document, offset: int, name: str) -> str | None:
    """The value of an attribute of the start tag at an offset, None if it is absent."""
    found = attributes_of(start_tag(document, offset)).get(name)
    return None if found is None else unescape(found)


def end_of(document: Document, offset: int) -> int:
    """The offset behind the element that begins at an offset."""
    text = _text_until(document, offset, lambda text: any(True for _ in elements(text, 0, len(text))))
    element = next(iter(elements(text, 0, len(text))))
    return offset + len(text[: element.end].encode(document.encoding))


def _text_until(document: Document, offset: int, is_enough: Callable[[str], bool]) -> str:
    length = _WINDOW
    while True:
        text = document.source[offset : offset + length].decode(document.encoding, "ignore")
        if is_enough(text) or offset + length >= len(document.source):
            return text
        length *= 8


def cut(document: Document, start: int, end: int) -> Splice:
    """Take an element out, with the line end and the indentation before it if no other element begins on its line."""
    return Splice(line_start(document, start), end, "")


def line_start(document: Document, offset: int) -> int:
    """The offset of the line end before an element; the offset of the element itself if its line has other text before it."""
    layout = Layout.at(document, offset, offset)
    return offset - len(layout.line(0).encode(document.encoding))


class Lines:
    """The layout of new elements in a graph: the indentation of a layer, and of what is in it."""

    def __init__(self, document: Document, graph: Graph) -> None:
        layer = next((one for one in graph.layers if one.inputs or one.outputs), next(iter(graph.layers), None))
        if layer is not None:
            port = next(iter([*layer.inputs, *layer.outputs]), None)
            unit = Layout.at(document, port.offset if port is not None else layer.offset, layer.offset).unit
            self.layout = Layout.at(document, layer.offset, layer.offset)._replace(unit=unit)
        else:
            outer = Layout.at(document, graph.offset, graph.offset)
            self.layout = Layout(outer.newline or "\n", (outer.indent or "") + "\t\t", "\t")

    def element(self, depth: int, tag: str, attributes: Mapping[str, str | None], content: Sequence[str] = ()) -> str:
        """The text of an element at a depth below that of a layer, after a line end; `content` is the text of its children."""
        written = "".join(f" {name}={quoted(value)}" for name, value in attributes.items() if value is not None)
        line = self.layout.line(depth)
        return f"{line}<{tag}{written}>{''.join(content)}{line}</{tag}>" if content else f"{line}<{tag}{written} />"


def behind(document: Document, graph: Graph | Layer, holder: str, places: Iterable[tuple[int, str]], first_child: int) -> list[Splice]:
    """The splices that put the texts of new elements behind places; the place -1 is the begin of the element `holder` of a graph or layer.

    `first_child` is the offset of the first element in the holder, -1 if it has none.
    """
    splices: list[Splice] = []
    first: list[str] = []
    for place, text in places:
        if place >= 0:
            splices.append(Splice(place, place, text))
        else:
            first.append(text)
    if first and first_child >= 0:
        place = line_start(document, first_child)
        splices.append(Splice(place, place, "".join(first)))
    elif first:
        splices.append(_filled(document, graph, holder, "".join(first)))
    return splices


def _filled(document: Document, graph: Graph | Layer, holder: str, text: str) -> Splice:
    """Put text into an element of a net, a body or a layer that has no children, or put the element itself there."""
    begin = graph.offset
    source = document.source[begin : graph.end].decode(document.encoding)
    net = next(iter(elements(source, 0, len(source))))

    def place(at: int) -> int:
        return begin + len(source[:at].encode(document.encoding))

    outer = Layout.at(document, begin, begin)
    indent = outer.indent or ""
    newline = outer.newline or "\n"
    found = next((one for one in elements(source, net.content, net.content_end) if one.tag == holder), None)
    if found is None:
        at = place(len(source[: net.content_end].rstrip()))
        return Splice(at, at, f"{newline}{indent}\t<{holder}>{text}{newline}{indent}\t</{holder}>")
    if _is_empty(source, found):
        at = source.rindex("/", 0, found.end)
        return Splice(place(at), place(found.end), f">{text}{newline}{indent}\t</{holder}>")
    at = found.content + len(source[found.content : found.content_end].rstrip())
    closing = "" if "\n" in source[at : found.content_end] else f"{newline}{indent}\t"
    return Splice(place(at), place(at), text + closing)


def _is_empty(source: str, element: Element) -> bool:
    return element.content == element.end and source[element.end - 2 : element.end] == "/>"
