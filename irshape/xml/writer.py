"""The writer of IRs: splices new text into the bytes that were read, and places the weights beside a new file."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import unescape
from typing import Final, Literal, NamedTuple

from irshape.files.writing import OutputFile, publish, write_atomic
from irshape.shape.element_type import ElementType
from irshape.xml.document import Document, Graph, Layer, Port
from irshape.xml.reader import ANNOTATION
from irshape.xml.weights import Weights, WeightsError

# The endings of models that are no IRs.
_FOREIGN: Final = frozenset({".onnx", ".pb", ".tflite", ".pt", ".pt2", ".pth", ".keras", ".h5", ".pdmodel", ".safetensors", ".gguf"})


class PortFacts(NamedTuple):
    """The content that a port is to have.

    `precision` None keeps the present one; `dims` has -1 for unknown sizes and is None for an unknown rank; `annotation` is the text
    for a shape that `<dim>` cannot express.
    """

    precision: str | None
    dims: tuple[int, ...] | None
    annotation: str | None = None


class LayerFacts(NamedTuple):
    """The content that the ports of a layer are to have, in the order of the file, and the attributes of its `<data>` to set."""

    inputs: Sequence[PortFacts] = ()
    outputs: Sequence[PortFacts] = ()
    attributes: Mapping[str, str] = {}


# A start tag ends at the first `>` outside quotes. In well-formed text every match is markup.
MARKUP: Final = re.compile(
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<(?P<close>/?)(?P<tag>[^\s/>!?]+)(?P<attributes>(?:[^>\"']|\"[^\"]*\"|'[^']*')*?)(?P<empty>/?)>",
    re.DOTALL,
)
_ATTRIBUTE: Final = re.compile(r"(\s+)([^\s=/>]+)(\s*=\s*)(\"[^\"]*\"|'[^']*')")


class Element(NamedTuple):
    """An element of a fragment of text: the begin of its start tag, the begin and end of its content, and its end."""

    tag: str
    start: int
    content: int
    content_end: int
    end: int


class Splice(NamedTuple):
    """Replace the bytes from `start` to `end` of a document, or the characters of a fragment of its text."""

    start: int
    end: int
    text: str


def annotate(document: Document, facts: Mapping[Layer, LayerFacts]) -> bytes:
    """The document with the facts written into its ports; the bytes as they were read if the ports already state the facts.

    A layer that `facts` does not name and a port beyond the listed ones do not change. New `<dim>` lines are indented as in the file.
    """
    splices: list[Splice] = []
    for layer, wanted in facts.items():
        for port, port_facts in (*zip(layer.inputs, wanted.inputs, strict=False), *zip(layer.outputs, wanted.outputs, strict=False)):
            is_shape = (port.dims or ()) == (port_facts.dims or ()) and port.annotation == port_facts.annotation
            if not (is_shape and _is_same_precision(port.precision, port_facts.precision)):
                splices += port_splices(document, layer, port, port_facts)
        new = {name: value for name, value in wanted.attributes.items() if layer.attributes.get(name) != value}
        if new:
            splices += attribute_splices(document, layer, new)
    return spliced(document, splices)


def spliced(document: Document, splices: Iterable[Splice], at: int = 0, until: int | None = None) -> bytes:
    """The bytes of a document, or of a part of it, with some ranges replaced; splices at one place keep their order.

    Raises `ValueError` if two of them overlap.
    """
    source = document.source
    pieces: list[bytes] = []
    for start, end, text in sorted(splices, key=lambda splice: (splice.start, splice.end)):
        if start < at:
            raise ValueError(f"two changes overlap at byte {start}")
        pieces += source[at:start], text.encode(document.encoding, "xmlcharrefreplace")
        at = end
    return b"".join([*pieces, source[at:until]]) if pieces or until is not None else source


def port_splices(document: Document, layer: Layer, port: Port, wanted: PortFacts) -> list[Splice]:
    """The splices that give a port of a layer the wanted content."""
    text = document.source[port.offset : port.end].decode(document.encoding)
    return placed(document, port.offset, text, _port(text, port, wanted, Layout.at(document, port.offset, layer.offset)))


def attribute_splices(document: Document, layer: Layer, new: Mapping[str, str | None]) -> list[Splice]:
    """The splices that set attributes in the `<data>` of a layer (None removes one), or add a `<data>` to a layer without one."""
    if layer.data_offset >= 0:
        return tag_splices(document, layer.data_offset, new)
    start, tag, layout = layer.offset, start_tag(document, layer.offset), Layout.at(document, layer.offset, layer.offset)
    data = layout.line(1) + "<data" + "".join(f" {name}={quoted(value)}" for name, value in new.items() if value is not None) + " />"
    if not tag.endswith("/>"):
        return placed(document, start, tag, [Splice(len(tag), len(tag), data)])
    return placed(document, start, tag, [Splice(len(tag[:-2].rstrip()), len(tag), f">{data}{layout.line(0)}</layer>")])


def placed(document: Document, offset: int, text: str, edits: Iterable[Splice]) -> list[Splice]:
    """The edits of a fragment as splices of the document, in which the fragment begins at `offset`."""
    if text.isascii():
        width = len("<".encode(document.encoding))
        return [Splice(offset + edit.start * width, offset + edit.end * width, edit.text) for edit in edits]

    def place(at: int) -> int:
        return offset + len(text[:at].encode(document.encoding))

    return [Splice(place(edit.start), place(edit.end), edit.text) for edit in edits]


def _is_same_precision(recorded: str | None, wanted: str | None) -> bool:
    """Whether a port that records a precision need not be given another one."""
    known = ElementType.from_precision(recorded) if recorded and wanted and recorded != wanted else None
    return wanted is None or recorded == wanted or (known is not None and known is ElementType.from_precision(wanted))


class Layout(NamedTuple):
    """The line ends and the indentation around an element; `indent` is None if other elements are on its line."""

    newline: str
    indent: str | None
    unit: str

    @classmethod
    def at(cls, document: Document, offset: int, layer_offset: int) -> Layout:
        """The layout at a layer or at one of its ports, which are two levels below; their indentation gives the unit of one level."""
        indent = _indent(document, offset)
        if indent is None:
            return cls("", None, "")
        outer = _indent(document, layer_offset)
        unit = "\t" if indent.endswith("\t") else "    "
        if outer is not None and indent.startswith(outer) and (deeper := len(indent) - len(outer)) >= 2:
            unit = indent[-(deeper // 2) :]
        before = document.source[max(0, offset - 4096) : offset].decode(document.encoding, "ignore")
        return cls("\r\n" if "\r\n" in before else "\n", indent, unit)

    def line(self, depth: int) -> str:
        """The line end and indentation before an element that is `depth` levels below the element of this layout."""
        return "" if self.indent is None else self.newline + self.indent + self.unit * depth


def _indent(document: Document, offset: int) -> str | None:
    """The white space before an element on its line; None if the line has other text before the element."""
    before = document.source[max(0, offset - 1024) : offset].decode(document.encoding, "ignore")
    line = before.rpartition("\n")[2]
    return line if "\n" in before and not line.strip() else None


def elements(text: str, start: int, end: int) -> Iterable[Element]:
    """The outermost elements between two places of well-formed text."""
    depth = 0
    tag, opened, content = "", 0, 0
    for markup in MARKUP.finditer(text, start, end):
        if markup["tag"] is None:
            continue
        if markup["close"]:
            depth -= 1
            if depth == 0:
                yield Element(tag, opened, content, markup.start(), markup.end())
            continue
        if depth == 0:
            tag, opened, content = markup["tag"], markup.start(), markup.end()
            if markup["empty"]:
                yield Element(tag, opened, content, content, content)
        if not markup["empty"]:
            depth += 1


def _port(text: str, port: Port, wanted: PortFacts, layout: Layout) -> list[Splice]:
    element = next(iter(elements(text, 0, len(text))))
    is_empty = text[element.content - 2] == "/"
    tag = text[: element.content - 2].rstrip() if is_empty else text[: element.content - 1]
    edits: list[Splice] = []
    if wanted.precision is not None and not _is_same_precision(port.precision, wanted.precision):
        edits += attributes_set(tag, {"precision": wanted.precision})
    content = "" if is_empty else text[element.content : element.content_end]
    inner: list[Splice] = []
    if (port.dims or ()) != (wanted.dims or ()):
        inner += _dims(content, wanted.dims or (), layout)
    if port.annotation != wanted.annotation:
        inner += _annotation(content, wanted.annotation, layout)
    has_content = bool(content.strip())
    if has_content and (wanted.dims or wanted.annotation):
        return edits + [Splice(element.content + edit.start, element.content + edit.end, edit.text) for edit in inner]
    changed = _edited(content, inner)
    if changed == content:
        return edits
    if changed.strip():
        rest = changed if has_content else changed.rstrip() + layout.line(0)
        return [*edits, Splice(len(tag), len(text), f">{rest}</port>")]
    return [*edits, Splice(len(tag), len(text), " />")]


def _dims(content: str, dims: Sequence[int], layout: Layout) -> list[Splice]:
    """The edits that give the content of a port other dims; comments, order and layout stay."""
    found = [element for element in elements(content, 0, len(content)) if element.tag == "dim"]
    edits: list[Splice] = []
    for element, dim in zip(found, dims, strict=False):
        if element.content_end == element.end:
            edits.append(Splice(element.start, element.end, f"<dim>{dim}</dim>"))
        elif content[element.content : element.content_end].strip() != str(dim):
            edits.append(Splice(element.content, element.content_end, str(dim)))
    for element in found[len(dims) :]:
        edits.append(Splice(_before_blanks(content, element.start), element.end, ""))
    if len(dims) > len(found):
        last = found[-1] if found else None
        at = last.end if last else 0
        before = content[_before_blanks(content, last.start) : last.start] if last else layout.line(1)
        edits.append(Splice(at, at, "".join(f"{before}<dim>{dim}</dim>" for dim in dims[len(found) :])))
    return edits


def _before_blanks(text: str, place: int) -> int:
    """The begin of the white space that ends at a place."""
    while place and text[place - 1].isspace():
        place -= 1
    return place


def _annotation(content: str, annotation: str | None, layout: Layout) -> list[Splice]:
    """The edits that set, replace or remove irshape's entry in the `<rt_info>` of a port's content."""
    holder = next((element for element in elements(content, 0, len(content)) if element.tag == "rt_info"), None)
    entries = [] if holder is None else [*elements(content, holder.content, holder.content_end)]
    own = [
        element
        for element in entries
        if element.tag == "attribute" and attributes_of(content[element.start : element.content]).get("name") == ANNOTATION
    ]
    if annotation is None:
        if holder is not None and own and len(own) == len(entries) and "<!" not in content[holder.content : holder.content_end]:
            own = [holder]
        return [Splice(_before_blanks(content, element.start), element.end, "") for element in own]
    entry = f'<attribute name="{ANNOTATION}" version="0" value={quoted(annotation)} />'
    if own:
        return [Splice(own[0].start, own[0].end, entry)]
    if holder is not None and holder.content < holder.end and holder.content_end < holder.end:
        at = _before_blanks(content, holder.content_end)
        return [Splice(at, at, layout.line(2) + entry)]
    block = f"<rt_info>{layout.line(2)}{entry}{layout.line(1)}</rt_info>"
    if holder is not None:
        return [Splice(holder.start, holder.end, block)]
    at = len(content.rstrip())
    return [Splice(at, at, layout.line(1) + block)]


def attributes_of(tag: str) -> dict[str, str]:
    """The attributes of a start tag."""
    return {match[2]: unescape(match[4][1:-1]) for match in _ATTRIBUTE.finditer(tag)}


def attributes_set(tag: str, new: Mapping[str, str | None]) -> list[Splice]:
    """The edits that set attributes of a start tag, given with or without its `>`; None removes one, new ones come after the others."""
    found = {match[2]: match for match in _ATTRIBUTE.finditer(tag)}
    last = max((match.end() for match in found.values()), default=len(tag.rstrip("/>").rstrip()))
    edits = [Splice(*found[name].span(4), quoted(value)) for name, value in new.items() if name in found and value is not None]
    edits += [Splice(*found[name].span(), "") for name, value in new.items() if name in found and value is None]
    added = "".join(f" {name}={quoted(value)}" for name, value in new.items() if name not in found and value is not None)
    return [*edits, Splice(last, last, added)] if added else edits


def quoted(value: str) -> str:
    """The text of an attribute's value, in quotes."""
    escaped = value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    return '"' + re.sub(r"[\t\n\r]", lambda match: f"&#{ord(match[0])};", escaped) + '"'


def _edited(text: str, edits: Iterable[Splice]) -> str:
    """The text with some ranges replaced; edits at one place keep their order."""
    pieces: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        pieces += text[at : edit.start], edit.text
        at = edit.end
    return "".join([*pieces, text[at:]])


def write_ir(
    path: str | os.PathLike[str],
    text: bytes,
    *,
    source: str | None,
    weights: Weights | None,
    how: Literal["copy", "link", "none"],
    force: bool,
    in_place: bool,
) -> None:
    """Write the text of a model and, as `how` says, its weights beside it. `source` is the path of the file that the text was made of.

    Takes and raises what `Inference.write` does. The weights of a file that is written in place stay, unless they are patched: then the
    copy with the patches replaces them.
    """
    if how not in ("copy", "link", "none"):
        raise ValueError(f'weights must be "copy", "link" or "none", not {how!r}')
    if os.path.splitext(path)[1].lower() in _FOREIGN:
        raise OSError(errno.EINVAL, "an IR is written, not a model of another format; a name that ends in .xml is expected", path)
    own = weights.path if weights else None
    kept = [own] if own is not None else []
    OutputFile.at(path, force=force, in_place=in_place, source=source, kept=kept)  # an existing file is refused before anything is written
    is_input = source is not None and os.path.exists(path) and os.path.exists(source) and os.path.samefile(path, source)
    if how != "none" and weights and not weights.are_unread and (own is None or os.path.exists(own)):
        if os.path.normcase(weights_path(path)) == os.path.normcase(os.fspath(path)):
            raise OSError(errno.EINVAL, "the model would have the path of its weights; a name that ends in .xml is expected", path)
        try:
            if not is_input:
                place_weights(how, weights, path, force=force, kept=[*kept, source] if source is not None else kept)
            elif weights.is_patched:
                place = own or weights_path(path)
                weights.open()
                publish(OutputFile.at(place, force=force, in_place=True, source=place), weights.copy_to)
        except WeightsError as error:
            raise OSError(errno.EINVAL, error.message, own) from None
    write_atomic(path, text, force=force, in_place=in_place, source=source, kept=kept)


def place_weights(
    how: Literal["link", "copy"],
    weights: Weights,
    target_xml: str | os.PathLike[str],
    *,
    force: bool = False,
    kept: Iterable[str | os.PathLike[str]] = (),
) -> str:
    """Put the weights beside a new `.xml`, as a copy or a hard link, and return their new path.

    A copy shares its blocks with the original where the file system can copy on write. A hard link is the original: a program that writes
    the new path in place, as OpenVINO does, changes both. Does nothing if the same file is already there. Raises `FileExistsError` if
    another file is there and `force` is false, or if it is in `kept`; `OSError` if a link is impossible, for example between file
    systems or of weights in memory; `WeightsError` if the weights cannot be read.
    """
    source = None if weights.is_patched else weights.path
    path = weights_path(target_xml)
    if source is not None:
        with contextlib.suppress(FileNotFoundError):
            if os.path.samefile(source, path):
                return path
    target = OutputFile.at(path, force=force, kept=kept)
    weights.open()
    if how == "link":
        if source is None:
            raise OSError(errno.EINVAL, "weights in memory have no file to link to; write them as a copy", path)
        temporary = target.neighbour()
        os.link(os.path.realpath(source), temporary)
        target.take(temporary)
        return path
    publish(target, weights.copy_to)
    return path


def weights_path(xml_path: str | os.PathLike[str]) -> str:
    """The path at which OpenVINO looks for the weights of an `.xml`."""
    return os.path.splitext(os.fspath(xml_path))[0] + ".bin"


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
        splices += _filled(document, graph, holder, "".join(first))
    return splices


def _filled(document: Document, graph: Graph | Layer, holder: str, text: str) -> list[Splice]:
    """Put text into an element of a net, a body or a layer that has no children, or put the element itself there."""
    begin = graph.offset
    source = document.source[begin : graph.end].decode(document.encoding)
    net = next(iter(elements(source, 0, len(source))))
    outer = Layout.at(document, begin, begin)
    line = (outer.newline or "\n") + (outer.indent or "") + "\t"
    found = next((one for one in elements(source, net.content, net.content_end) if one.tag == holder), None)
    if found is None:
        at = len(source[: net.content_end].rstrip())
        edit = Splice(at, at, f"{line}<{holder}>{text}{line}</{holder}>")
    elif found.content == found.end and source[found.end - 2 : found.end] == "/>":
        edit = Splice(source.rindex("/", 0, found.end), found.end, f">{text}{line}</{holder}>")
    else:
        at = found.content + len(source[found.content : found.content_end].rstrip())
        edit = Splice(at, at, text if "\n" in source[at : found.content_end] else f"{text}{line}")
    return placed(document, begin, source, [edit])
