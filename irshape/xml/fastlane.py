"""The fast lane: reads files with the layout of OpenVINO's own writer, a whole layer at a time instead of tag by tag.

Layers with equal text share a `LayerSignature` that is parsed once. The values that differ from layer to layer are cut out of the text for
this. Ports and their offsets are made on demand. Every byte is matched against strict patterns, or parsed by expat where the content is
free (`<rt_info>`), so an accepted file is well-formed. Any other file, and so every file with a fault, goes to the general reader; both
readers give equal documents. The general reader also reads single layers: a few with content that the patterns do not know, such as
`<rt_info>` in a port or an entity in another value than the name; and those with bodies, of which it reads all but the layers and edges
of the bodies.
"""

from __future__ import annotations

import pyexpat
import re
from collections.abc import Callable, Hashable
from functools import partial
from typing import Final, TypeAlias, TypeVar

from irshape.shape.compilation import mypyc_attr
from irshape.shape.element_type import ElementType
from irshape.xml.document import Document, Layer, LayerSignature, Port, PortRecord, Positions
from irshape.xml.lexical import BODIES, DELICATE_NOTES, EDGE_ENDS, IR_VERSIONS, SAFE_DIGITS, SHARED_OFFSET, WHITE_SPACE, own_offset

# A value that a parser neither changes nor refuses: no entity, no tag, no control character, no white space but spaces.
_VALUE: Final = r"[ !#-%'-;=-~]*+"
_IN_VALUES: Final = bytes(byte for byte in range(ord(" "), ord("~") + 1) if byte not in b'"&<')
_NAME: Final = r"[A-Za-z_][\w.-]*+"
_BLANKS: Final = rf"[{WHITE_SPACE}]*+"
# The declarations of XML that writers make, with the encoding of each.
_DECLARATION_END: Final = b"?>"
_DECLARATIONS: Final = {
    f"<?xml version={quote}1.0{quote}{declared.format(quote)}{blank}?>".encode(): encoding
    for declared, encoding in (
        ("", "utf-8"),
        (" encoding={0}utf-8{0}", "utf-8"),
        (" encoding={0}UTF-8{0}", "utf-8"),
        (" encoding={0}us-ascii{0}", "ascii"),
        (" encoding={0}US-ASCII{0}", "ascii"),
    )
    for quote in "\"'"
    for blank in ("", " ")
}
_MOST_DECLARED: Final = max(map(len, _DECLARATIONS))
_VERSION: Final = "|".join(map(str, IR_VERSIONS))
_DOCUMENT: Final = re.compile(rf'{_BLANKS}<net name="({_VALUE})" version="({_VERSION})">{_BLANKS}<layers>'.encode())
_LAYER_BEGIN: Final = "<layer id="
_BEFORE: Final = re.compile(rf"{_BLANKS}{_LAYER_BEGIN}")
# The parts of a layer's text that layers with one signature differ in, each up to its value, and the character that stands for the part.
# XML forbids these characters.
_NAMES, _NAMES_MARK = ' names="', "\0"
_OFFSET, _OFFSET_MARK = ' offset="', "\1"
_FUSED, _FUSED_MARK = '<attribute name="fused_names" version="0" value="', "\2"
_MARKS: Final = (_NAMES_MARK.encode(), _OFFSET_MARK.encode(), _FUSED_MARK.encode())
# The text of a layer between its name and its ports.
_HEAD: Final = re.compile(
    rf''' type="({_VALUE})" version="({_VALUE})"(?: output_names="{_VALUE}")?>'''
    rf'''(?:{_BLANKS}(<data(?: {_NAME}="{_VALUE}"|{_OFFSET_MARK})*+ ?/>))?(?:{_BLANKS}(<rt_info>(?>.*?</rt_info>)))?{_BLANKS}''',
    re.DOTALL,
)
# The `<rt_info>` of most layers that have one.
_NOTE: Final = rf'<attribute name="{_VALUE}" version="{_VALUE}"(?: value="{_VALUE}")?|{_FUSED_MARK}'
_NOTE_NAME: Final = rf'<attribute name="({_VALUE})"'
_RT_INFO: Final = rf"<rt_info>(?:{_BLANKS}(?:{_NOTE}) ?/>)*+{_BLANKS}</rt_info>"
# The text of a port after its id, up to its first size or its end tag.
_PORT_HEAD: Final = re.compile(rf'(?: precision="(\w+)")?(?: names="{_VALUE}"|{_NAMES_MARK})? ?(/?)>{_BLANKS}')
_PORT_BEGIN: Final = '<port id="'
_PORT_END: Final = "</port>"
_ATTRIBUTE: Final = re.compile(rf' ({_NAME})="({_VALUE})"')
_EDGES_BEGIN: Final = re.compile(rf"{_BLANKS}</layers>{_BLANKS}<edges>".encode())
# An edge without the digits of its numbers.
_EDGE: Final = re.compile((_BLANKS + "<edge" + "".join(f' {name}=""' for name in EDGE_ENDS) + " ?/>").encode())
_DIGITS: Final = b"0123456789"
# Translates every byte but a digit to a space.
_DIGITS_ALONE: Final = bytes(byte if byte in _DIGITS else ord(" ") for byte in range(256))
_TYPE: Final = ' type="'
# OpenVINO builds operations of any case.
_TYPES_WITH_BODIES: Final = frozenset(type.lower() for type in BODIES)
_BODY_BEGIN: Final = rf"<({'|'.join(sorted({body for bodies in BODIES.values() for body, _ in bodies}))})>".encode()
_LAYERS_BEGIN: Final = rf"{_BLANKS}<layers>".encode()
_EDGES_END: Final = b"</edges>"
_LAYER_END: Final = "</layer>"
_LAYER_END_BYTES: Final = _LAYER_END.encode()
_EMPTY_TAG_END: Final = b"/>"
_NET_END: Final = b"</net>"
# A file with suppressions goes to the general reader.
_SUPPRESSION: Final = "<irshape"
# A file with means to subtract goes there, too.
_PREPROCESS: Final = b"<pre-process"
# The entities of XML, each of which stands for a sign.
_ENTITIES: Final = {"&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&apos;": "'"}
_ENTITY: Final = re.compile("|".join(_ENTITIES))
# Layers of unusual content that the general reader reads one by one; it takes less time for a whole file with more of them.
_MOST_UNUSUAL: Final = 16
# The source is decoded in blocks of this many bytes, so that the copy stays small. A layer with bodies ends a block, and the text behind
# it is decoded again, so blocks are short from the first such layer on.
_BLOCK: Final = 1 << 18
_SHORT_BLOCK: Final = 1 << 12

ReadLayer: TypeAlias = Callable[[int, int, list[tuple[int, int]]], Layer]
"""Reads one layer with the general reader, given its begin and end and the ranges in it that are left out, one in each body."""

_Value = TypeVar("_Value")


class UnusualError(Exception):
    """The text departs from the layout of OpenVINO's writer, so the general reader must read the document."""


def read_canonical(document: Document, shared: dict[Hashable, LayerSignature], *, read_layer: ReadLayer, most_nested: int) -> bool:
    """Fill the document and return True if the whole file has the layout of OpenVINO's writer; otherwise change nothing but `shared`.

    `shared` are the signatures so far, by their content. `read_layer` reads a layer with bodies, and raises `UnusualError` for a layer with
    a fault. `most_nested` is the allowed depth of free content.
    """
    source = document.source
    begin = source.find(_DECLARATION_END, 0, _MOST_DECLARED) + len(_DECLARATION_END) if source.startswith(b"<?xml") else 0
    encoding = _DECLARATIONS.get(source[:begin]) if begin else document.encoding
    head = _DOCUMENT.match(source, begin)
    if encoding is None or head is None or (encoding == "ascii" and not source.isascii()) or any(mark in source for mark in _MARKS):
        return False
    lane = _Lane(document, shared, read_layer, most_nested)
    try:
        layers, at = lane.layers(head.end())
        edges, last, find = lane.edges(at)
        rest = source[last + len(_EDGES_END) :].rstrip(WHITE_SPACE.encode())
        if not rest.endswith(_NET_END) or _SUPPRESSION.encode() in rest or _PREPROCESS in rest or not lane.is_sound(rest.decode(), "<net>"):
            return False
    except (UnusualError, UnicodeDecodeError):  # only the text behind the edges, a dictionary for example, need not be ASCII
        return False
    document.encoding = encoding
    document.name = head[1].decode("ascii")
    document.version = int(head[2])
    graph = document.graph
    graph.offset = source.index(b"<net")
    graph.end = last + len(_EDGES_END) + len(rest)
    graph.layers = layers
    graph.set_edges(edges, find)
    return True


@mypyc_attr(native_class=False)
class _Parsed(dict[str, _Value]):
    """The values of texts, each of which is parsed once."""

    def __init__(self, parse: Callable[[str], _Value]) -> None:
        self.parse = parse

    def __missing__(self, text: str) -> _Value:
        value = self[text] = self.parse(text)
        return value


class _Ports:
    """The state of reading ports: the parts read so far, by their text. `most` is the highest rank."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.known: dict[str, tuple[str | None, tuple[int, ...] | None, bool]] = {}
        self.heads = _Parsed(_port_head)
        self.sizes = _Parsed(_size)
        self.numbers = _Parsed(_number)

    def records(self, text: str, end_tag: str, *, are_typed: bool = False) -> list[PortRecord]:
        """The id, precision and dims of each port in a text up to an end tag. With `are_typed`, each port must have an element type."""
        content, is_closed, behind = text.partition(end_tag)
        blank, *ports = content.split(_PORT_BEGIN)
        if not is_closed or blank.strip(WHITE_SPACE) or behind.strip(WHITE_SPACE):
            raise UnusualError
        records: list[PortRecord] = []
        for port in ports:
            id, _, rest = port.rstrip(WHITE_SPACE).partition('"')
            known = self.known.get(rest)
            if known is None:
                known = self.known[rest] = self.port(rest)
            precision, dims, is_typed = known
            if are_typed and not is_typed:
                raise UnusualError
            records.append((self.numbers[id], precision, dims))
        return records

    def port(self, text: str) -> tuple[str | None, tuple[int, ...] | None, bool]:
        """The precision and the dims of a port, and whether it has an element type, given its text after the id."""
        head, *sizes = text.removesuffix(_PORT_END).split("<dim>")
        precision, is_typed, is_empty = self.heads[head]
        if is_empty == text.endswith(_PORT_END) or (is_empty and sizes) or len(sizes) > self.most:
            raise UnusualError
        return precision, tuple(map(self.sizes.__getitem__, sizes)) or None, is_typed


class _Lane:
    """The state of reading one document: the parts parsed so far, by their text.

    No layer refers to it, so that it ends with the reading.
    """

    def __init__(self, document: Document, shared: dict[Hashable, LayerSignature], read_layer: ReadLayer, most_nested: int) -> None:
        self.source = document.source
        self.shared = shared
        self.limits = document.limits
        # How many layers have been read, how many bodies are open, and how many layers the general reader has read alone.
        self.count = self.depth = self.unusual = 0
        self.read_layer = read_layer
        self.most_nested = most_nested
        self.block = _BLOCK
        self.has_fused_names = _FUSED.encode() in self.source
        # The signature of a layer's text after its name, and the place of `<data>` in that text (-1 if absent).
        self.signatures: dict[str, tuple[LayerSignature, int]] = {}
        # The parts of a text repeat more often than the whole: that before the ports, a port after its id, and each size of a port.
        self.heads: dict[str, tuple[str, str, dict[str, str], int]] = {}
        self.ports = _Ports(self.limits.rank)
        self.numbers = self.ports.numbers
        self.positions: Positions = {}

    def layers(self, at: int, end: int | None = None) -> tuple[list[Layer], int]:
        """Read the layers from an offset on, up to `end` if they are those of a body; also gives the offset after the last one."""
        layers: list[Layer] = []
        while (stop := self.last(_LAYER_END_BYTES, at, end)) >= 0:
            at = self.run(at, stop, layers)
            if at < stop:
                layer, at = self.layer_with_bodies(at)
                layers.append(layer)
            if self.count + len(layers) > self.limits.layers:
                raise UnusualError
        self.count += len(layers)
        return layers, at

    def run(self, at: int, stop: int, layers: list[Layer]) -> int:
        """Append the layers of a text, which begins at an offset and ends before an end tag, up to the first layer with bodies.

        Gives the offset after the last of these layers.
        """
        texts = self.source[at:stop].decode("ascii").split(_LAYER_END)
        try:
            befores, ids, betweens, names, rests = zip(*[text.split('"', 4) for text in texts], strict=False)
            numbers = [int(id) if id.isdecimal() else -1 for id in ids]
        except ValueError:
            raise UnusualError from None
        # A large file spends its reading time in this loop, so the loop calls no function that a layer can do without.
        signatures, has_fused_names = self.signatures, self.has_fused_names
        ports = partial(_listed, self.source)
        first, count = len(layers), len(texts)  # of the layers that are read: those before the first one with bodies
        values: list[str] = []
        apart: set[int] = set()  # the places of the layers that the general reader has read
        for text, before, number, name, rest in zip(texts, befores, numbers, names, rests, strict=True):
            key, has_names, tail = rest.partition(_NAMES)
            if has_names:
                value, _, tail = tail.partition('"')
                values.append(value)
                key = f"{key}{_NAMES_MARK}{tail}"
            weights_at = None
            if rest.startswith(' type="Const" '):
                front, _, tail = key.partition(_OFFSET)
                value, _, tail = tail.partition('"')
                weights_at = own_offset(value)
                if weights_at is not None:
                    key = f"{front}{_OFFSET_MARK}{tail}"
            if has_fused_names:
                front, is_fused, tail = key.partition(_FUSED)
                if is_fused:
                    value, _, tail = tail.partition('"')
                    values.append(value)
                    key = f"{front}{_FUSED_MARK}{tail}"
            begin, end = at + len(before) - len(_LAYER_BEGIN), at + len(text)
            found = signatures.get(key)
            if found is None:
                try:
                    found = signatures[key] = self.signature(key)
                except UnusualError:
                    if self.has_bodies(rest):
                        count = texts.index(text)
                        break
                    at = end + len(_LAYER_END)
                    apart.add(len(layers))
                    layers.append(self.unusual_layer(begin, at))
                    continue
            signature, data_at = found
            data_offset = end - len(rest) + data_at if data_at >= 0 else -1
            at = end + len(_LAYER_END)
            layers.append(Layer(number, name, signature, weights_at, begin, at, data_offset, ports))
        # It takes less time to check these texts together than each alone.
        ids = ids[:count]
        if min(numbers[:count], default=0) < 0 or max(map(len, ids), default=0) > SAFE_DIGITS:
            raise UnusualError
        self.numbers.update(zip(ids, numbers, strict=False))
        if not {*betweens[:count]} <= {" name="} or not all(map(_BEFORE.fullmatch, {*befores[:count]})):
            raise UnusualError
        if odd := "".join([*values, *names[:count]]).encode().translate(None, _IN_VALUES):
            if odd.strip(b"&"):
                raise UnusualError
            for place, name in enumerate(names[:count], first):
                if place not in apart:
                    layers[place] = self.with_entities(layers[place], name)
        return at

    def with_entities(self, layer: Layer, name: str) -> Layer:
        """The layer with the entities of its text read: `torch.export` gives names such as `add/&lt;built-in function add>`."""
        marks = self.source.count(b"&", layer.offset, layer.end)
        if not marks:
            return layer
        if marks > len(_ENTITY.findall(name)):
            return self.unusual_layer(layer.offset, layer.end)
        layer.name = _ENTITY.sub(lambda entity: _ENTITIES[entity[0]], name)
        return layer

    def unusual_layer(self, begin: int, end: int) -> Layer:
        """Read a layer whose content departs from the layout with the general reader."""
        self.unusual += 1
        if self.unusual > _MOST_UNUSUAL:
            raise UnusualError
        return self.read_layer(begin, end, [])

    def has_bodies(self, rest: str) -> bool:
        """Whether a layer is of a type with bodies, given its text after the name."""
        return rest.startswith(_TYPE) and rest[len(_TYPE) : rest.find('"', len(_TYPE))].lower() in _TYPES_WITH_BODIES

    def layer_with_bodies(self, at: int) -> tuple[Layer, int]:
        """Read the layer with bodies after an offset; also gives its end."""
        source = self.source
        begin = source.find(_LAYER_BEGIN.encode(), at)
        if source[at:begin].strip(WHITE_SPACE.encode()) or self.depth >= self.limits.depth:
            raise UnusualError
        self.depth += 1
        self.block = _SHORT_BLOCK
        graphs: dict[str, tuple[list[Layer], list[int], Callable[[], list[int]]]] = {}
        left_out: list[tuple[int, int]] = []
        end = source.find(_LAYER_END_BYTES, at)
        while (body := re.compile(_BODY_BEGIN).search(source, at, end)) is not None:
            inside = re.compile(_LAYERS_BEGIN).match(source, body.end())
            name = body[1].decode()
            if inside is None or name in graphs:
                raise UnusualError
            layers, at = self.layers(inside.end(), self.end_of_layers(inside.end()))
            edges, last, find = self.edges(at)
            at = last + len(_EDGES_END)
            left_out.append((body.end(), at))
            graphs[name] = layers, edges, find
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
        for tag in re.compile(rb"<layers>|</layers>").finditer(self.source, at):
            depth += -1 if tag[0] == b"</layers>" else 1
            if depth == 0:
                return tag.start()
        raise UnusualError

    def last(self, mark: bytes, at: int, end: int | None = None) -> int:
        """The last place of a mark in the next block, or else its first place after the block; -1 if there is none before the end."""
        stop = at + self.block if end is None else min(at + self.block, end)
        found = self.source.rfind(mark, at, stop)
        return found if found >= 0 else self.source.find(mark, at, end)

    def edges(self, at: int) -> tuple[list[int], int, Callable[[], list[int]]]:
        """The four numbers of each edge after the layers, the end of the text that holds the edges, and what finds the offsets in it."""
        source = self.source
        begin = _EDGES_BEGIN.match(source, at)
        if begin is None:
            raise UnusualError
        at = first = begin.end()
        last = source.find(_EDGES_END, first)
        ends: list[int] = []
        while (stop := self.last(_EMPTY_TAG_END, at, last)) >= 0:
            stop += len(_EMPTY_TAG_END)
            text = source[at:stop]
            # The edges must be equal but for their digits. If no value is empty and there are as many numbers as values, each value is one.
            alike = text.translate(None, _DIGITS)
            edge = alike[: alike.index(_EMPTY_TAG_END) + len(_EMPTY_TAG_END)]
            numbers = text.translate(_DIGITS_ALONE).decode("ascii").split()
            count, rest = divmod(len(numbers), len(EDGE_ENDS))
            if rest or alike != edge * count or not _EDGE.fullmatch(edge) or b'""' in text:
                raise UnusualError
            ends += map(self.numbers.__getitem__, numbers)
            at = stop
        if last < 0 or source[at:last].strip(WHITE_SPACE.encode()):
            raise UnusualError
        return ends, last, _finder(source, first, last)

    def signature(self, key: str) -> tuple[LayerSignature, int]:
        """The signature of a layer and the place of its `<data>` (-1 if absent), given the layer's text after its name, with marks."""
        head, has_outputs, outputs = key.partition("<output>")
        head, has_inputs, inputs = head.partition("<input>")
        known = self.heads.get(head)
        if known is None:
            known = self.heads[head] = self.head(head)
        type, version, attributes, data_at = known
        signature = LayerSignature(type, version, attributes)
        signature.record(
            self.ports.records(inputs, "</input>") if has_inputs else [],
            self.ports.records(outputs, "</output>", are_typed=True) if has_outputs else [],
            self.positions,
        )
        return self.shared.setdefault(signature.content, signature), data_at

    def head(self, text: str) -> tuple[str, str, dict[str, str], int]:
        """Type, version, attributes and the place of `<data>` (-1 if absent), given a layer's text between its name and its ports."""
        found = _HEAD.fullmatch(text)
        if found is None:
            raise UnusualError
        type, version, data, rt_info = found.groups("")
        pairs = _ATTRIBUTE.findall(data.replace(_OFFSET_MARK, f'{_OFFSET}{SHARED_OFFSET}"'))
        attributes = dict(pairs)
        if self.has_bodies(text) or len(attributes) < len(pairs) or (rt_info and not self.is_sound_rt_info(rt_info)):
            raise UnusualError
        return type, version, attributes, found.start(3)

    def is_sound_rt_info(self, text: str) -> bool:
        """Whether an `<rt_info>` is well-formed, asks for no suppression, and holds no note that OpenVINO may refuse."""
        names = re.findall(_NOTE_NAME, text.replace(_FUSED_MARK, f'{_FUSED}"/>'))
        if not DELICATE_NOTES.isdisjoint(names) or len(set(names)) < len(names):
            return False
        if re.fullmatch(_RT_INFO, text):
            return True
        return _SUPPRESSION not in text and self.is_sound(text.replace(_FUSED_MARK, f'{_FUSED}"'))

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


def _listed(source: bytes, layer: Layer) -> tuple[list[Port], list[Port]]:
    text = source[layer.offset : layer.end].decode("ascii")
    reader = _Ports(len(text))  # the reading has compared the ranks with the limit
    made: list[list[Port]] = []
    for begin_tag, end_tag in (("<input>", "</input>"), ("<output>", "</output>")):
        made.append([])
        at = text.find(begin_tag)
        end = text.find(end_tag, at) if at >= 0 else at
        while (at := text.find(_PORT_BEGIN, at, end)) >= 0:
            stop = text.find(_PORT_BEGIN, at + 1, end)
            tag = text[at : stop if stop >= 0 else end].rstrip(WHITE_SPACE)
            id, _, rest = tag.removeprefix(_PORT_BEGIN).partition('"')
            precision, dims, _ = reader.port(rest)
            _, has_names, behind = rest.partition(_NAMES)
            names = behind.partition('"')[0] if has_names else None
            made[-1].append(Port(int(id), precision, layer.offset + at, dims, layer.offset + at + len(tag), names))
            at += len(tag)
    return made[0], made[1]


def _number(digits: str) -> int:
    if not digits.isdecimal() or len(digits) > SAFE_DIGITS:
        raise UnusualError
    return int(digits)


def _size(text: str) -> int:
    """The size in a text that begins behind `<dim>`."""
    size, is_closed, behind = text.partition("</dim>")
    if not is_closed or behind.strip(WHITE_SPACE):
        raise UnusualError
    return -1 if size == "-1" else _number(size)


def _port_head(text: str) -> tuple[str | None, bool, bool]:
    """The precision of a port, whether it is an element type, and whether the tag is empty.

    `text` is what stands between the id and the first size or the end tag.
    """
    found = _PORT_HEAD.fullmatch(text)
    if found is None:
        raise UnusualError
    precision, slash = found.groups()
    return precision, precision is not None and ElementType.from_precision(precision) is not None, slash == "/"


def _finder(source: bytes, first: int, last: int) -> Callable[[], list[int]]:
    """A function that finds the offset of each edge in a range of the source."""
    return lambda: [edge.start() for edge in re.compile(b"<edge ").finditer(source, first, last)]
