"""The text of an IR as expat reads it: its encoding, the open elements, and the faults of the markup."""

from __future__ import annotations

import codecs
import pyexpat
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from irshape.report.catalogue import next_step
from irshape.report.diagnostic import WARNING, Diagnostic, Where, clipped
from irshape.report.text import counted
from irshape.xml.document import Document, Graph, Layer, Port
from irshape.xml.lexical import WHITE_SPACE, whole_number
from irshape.xml.weights import are_swapped

if TYPE_CHECKING:
    from irshape.xml.not_xml import Blanked

Enter = Callable[[Any, str, dict[str, str]], None]
Leave = Callable[[], None]
Children = dict[str, Enter]
_DECLARED: Final = rb"[ \t\r\n]*<\?xml\s[^>]*?\sencoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']"
# By Python's name of a codec: expat's name of an encoding that expat reads without a table.
_EXPAT_KNOWS: Final = {"utf-8": "UTF-8", "iso8859-1": "ISO-8859-1", "ascii": "US-ASCII", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"}
# pyexpat reads any other encoding with a table of one character per byte.
_BYTE_CODEC: Final = r"utf-8|ascii|cp\d+|iso8859-\d+|koi8-\w|mac-\w+"
_GIVEN_TWICE: Final = pyexpat.errors.codes[pyexpat.errors.XML_ERROR_DUPLICATE_ATTRIBUTE]
_NO_MEMORY: Final = pyexpat.errors.codes[pyexpat.errors.XML_ERROR_NO_MEMORY]
_INVALID_TOKEN: Final = pyexpat.errors.codes[pyexpat.errors.XML_ERROR_INVALID_TOKEN]
_MISMATCHED: Final = pyexpat.errors.codes[pyexpat.errors.XML_ERROR_TAG_MISMATCH]
_RESOLVE: Final = "take one side of the conflict, as with git checkout --ours or --theirs, or export the model again"
# The errors that expat reports where the file ends too early.
_ENDS_EARLY: Final = frozenset(
    pyexpat.errors.codes[getattr(pyexpat.errors, f"XML_ERROR_{name}")]
    for name in ("NO_ELEMENTS", "UNCLOSED_TOKEN", "PARTIAL_CHAR", "UNCLOSED_CDATA_SECTION")
)
_BLANKS: Final = rb"(?>\xef\xbb\xbf|[ \t\r\n]++)++"
NOTHING: Final[Children] = {}


class UnreadableError(Exception):
    """Reading cannot go on; the diagnostics already hold the reason."""


class ForgivenError(Exception):
    """The text is no XML, but is if some pieces are blanked, which OpenVINO passes over."""

    def __init__(self, pieces: list[Blanked]) -> None:
        super().__init__()
        self.pieces = pieces


class Markup:
    """The state of reading one document: the open elements, and the faults.

    `children` maps each tag that has a meaning inside the open element to the function that enters it; every other element is skipped
    with its content. `leave` is called at the end tag of the open element. `stack` holds both for the enclosing elements, so the
    reader needs no recursion. OpenVINO uses only the first `<data>`, `<input>`, `<layers>` and so on of a parent, so entering such
    an element removes its tag from the parent's own copy of the table.
    """

    parser: pyexpat.XMLParserType

    def __init__(self, document: Document, pieces: list[Blanked] | None = None) -> None:
        self.document = document
        self.limits = limits = document.limits
        self.pieces = pieces
        if pieces is not None:
            from irshape.xml import not_xml

            document.text = not_xml.blanked(document.source, pieces)
        self.source = document.text
        self.shift = 0
        self.children: Children = {}
        self.leave: Leave | None = None
        self.stack: list[tuple[str, int, Children, Leave | None]] = []
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
        # The tags that stand outside their lists, of which the first one is told.
        self.outside: set[str] = set()
        self.known_dims: dict[str, int] = {}
        self.closings: dict[str, tuple[bytes, bytes]] = {}

    def forgive(self, error: pyexpat.ExpatError) -> None:
        """Raise `ForgivenError` where OpenVINO passes over text that is no XML."""
        is_early = not self.root and error.code not in _ENDS_EARLY
        if self.pieces is None and not self.document.is_example and (is_early or error.code == _GIVEN_TWICE):
            from irshape.xml import not_xml

            if pieces := not_xml.forgiven(self.source, is_early=is_early):
                raise ForgivenError(pieces)

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
        self.document.is_complete = False
        raise UnreadableError

    def check_swapped(self) -> None:
        """Refuse weights in place of an XML text, if the `.bin` file holds the XML."""
        path = self.document.path
        if path is not None and not _looks_like_markup(self.source) and are_swapped(path):
            message = "the file holds no XML, but the .bin file beside it does; are the two files swapped?"
            self.refuse("W105", message, 0, next_step("W105"))

    def refuse_format(self) -> None:
        """Refuse a file of another format, if its first bytes tell which."""
        from irshape.xml import not_xml

        source = self.document.source
        form = not_xml.recognised(source[: not_xml.HEAD]) if _looks_like_markup(source) else not_xml.described(source)
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
            if self.source[offset:].strip(b"\0"):
                self.fault("X201", "there is text after the end of the XML", offset, severity=WARNING)
            else:
                advice = "remove the zero bytes: a disk or a download has padded the file with them"
                self.fault("X201", "there are zero bytes after the end of the XML", offset, hint=advice, severity=WARNING)
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
        if error.code == _INVALID_TOKEN and not self.source[offset:].strip(b"\0"):
            message = f"from here on, {place or 'before its root element'}, the file has zero bytes only; is it damaged?"
            self.refuse("X101", message, offset, "copy the file or export the model again: a disk or a download has lost the rest")
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
        if code == _MISMATCHED and (closing := re.compile(rb"</([^\s>]+)").search(self.source, max(0, offset - 2), offset + 256)):
            tag = closing[1].decode(self.document.encoding, "replace")
            agree = "make the two tags agree: one is misspelled, or a tag is missing"
            is_open = any(one[0].startswith(tag[:3]) for one in self.stack)
            hint = agree if is_open else f"put <{tag}> where its content begins, or remove </{tag}>"
            return f"</{tag}> stands where another tag must be closed,", hint
        if code == _INVALID_TOKEN and b"&" in self.source[max(0, offset - 1) : offset + 1]:
            return "& begins no entity", "write & as &amp;"
        if code == _INVALID_TOKEN and self.source[offset : offset + 1] == b"<":
            return "< stands where no tag can begin,", "write < as &lt; in a name, or close the tag before it"
        return complaint, None

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
            if self.children and stack[1:]:
                self.skip(tag)
            self.children = NOTHING
        else:
            enter(self, tag, attributes)

    def skip(self, tag: str) -> None:
        """Warn of an element that is skipped, and whose name is nearly that of one that has a meaning in its place."""
        if f"{tag}s" in self.children:
            if tag not in self.outside:
                told = f"<{tag}> stands outside <{tag}s>, and OpenVINO skips it"
                self.fault("X206", told, self.stack[-1][1], hint=f"put <{tag}s> around the elements <{tag}>")
            self.outside.add(tag)
            return
        near = [one for one in self.children if one[0] == tag[0].lower() and abs(len(one) - len(tag)) < 3]
        if near:
            from difflib import get_close_matches

            for close in get_close_matches(tag.lower(), near, 1, 0.75):
                self.fault("X206", f"<{tag}> has no meaning here, and OpenVINO skips it; did you mean <{close}>?", self.stack[-1][1])

    def foreign_root(self, tag: str) -> Enter:
        """The function that enters a root element that is no `<net>`."""
        raise NotImplementedError

    def check_lengths(self, tag: str, attributes: dict[str, str]) -> None:
        for name, value in attributes.items():
            if (length := max(len(name), len(value))) > (most := self.limits.text):
                place = self.document.attribute_offset(self.stack[-1][1], name)
                self.refuse("X111", f"{name} of <{tag}> has {length:,} characters, more than {most:,} (limit text)", place)

    def end(self, tag: str) -> None:
        if self.leave is not None:
            self.leave()
        _, _, self.children, self.leave = self.stack.pop()

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

    def number(self, tag: str, name: str, text: str, offset: int, otherwise: int, *, is_unsigned: bool = True) -> int:
        """The value of an id or another whole number; `otherwise`, and a fault, if OpenVINO refuses the text."""
        value = whole_number(text)
        if value is not None and not (is_unsigned and value < 0):
            return value
        kind = "a whole number from 0" if is_unsigned else "a whole number"
        self.fault("X106", f"{name}={text[:60]!r} of <{tag}> is not {kind}", self.document.attribute_offset(offset, name))
        return otherwise

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


def _looks_like_markup(source: bytes) -> bool:
    return source[:4096].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n").startswith(b"<")
