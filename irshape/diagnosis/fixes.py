"""Fixes for faults, made of the code of a fault, its place in the file and the facts that the pass inferred; and files that they mend."""

from __future__ import annotations

import errno
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import prod
from typing import Final, Literal, NamedTuple, TypeAlias, get_args, get_origin

from irshape.diagnosis.changes import version_for
from irshape.diagnosis.recorded import RECORDS, dims_text, is_decided, recordable
from irshape.files.reading import read
from irshape.files.writing import write_atomic
from irshape.inference.engine import Engine
from irshape.inference.facts import Fact
from irshape.inference.inference import Inference
from irshape.model.model import Model, Node
from irshape.ops.attribute import Attribute, Malformed, spell
from irshape.ops.infrastructure import Constant
from irshape.ops.op import misspelt
from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import ERROR, Diagnostic, Edit, Fix, compatible
from irshape.shape.element_type import ElementType
from irshape.xml.document import Document, Port
from irshape.xml.writer import PortFacts, Splice, attribute_splices, port_splices, spliced

_NAME: Final = re.compile(r"[^\s=]+")
_ATTRIBUTE: Final = re.compile(r"([^\s=]+)\s*=\s*(?:\"[^\"]*\"|'[^']*')")
# A <dim> and the number it begins with; a number written with entities does not match.
_DIM: Final = re.compile(r"<dim\s*>(\s*([+-]?[0-9]+)[^<&]*)</dim\s*>")


class _Repair(NamedTuple):
    """A fix before its edits have lines and columns."""

    title: str
    splices: Sequence[Splice]


class _Site:
    """The place of a fault, with the layer there and the facts that the pass inferred for it."""

    def __init__(self, layers: _Layers, offset: int) -> None:
        self.layers = layers
        self.document: Document = layers.root.model.document
        self.node = layers.at(offset)
        self.offset = offset

    def text(self, length: int) -> str:
        """The text from the place on, of at most `length` bytes."""
        return self.document.source[self.offset : self.offset + length].decode(self.document.encoding, "ignore")

    def port(self) -> tuple[Node, Port, Fact] | None:
        if (node := self.node) is None or (found := self.layers.ports(node).get(self.offset)) is None:
            return None
        return node, *found

    def attribute(self) -> tuple[Node, Attribute, str] | None:
        """The attribute at the place: its node, its declaration and its text; None if no declared attribute is there."""
        match = _NAME.match(self.text(1024))
        if (node := self.node) is None or node.op_class is None or match is None or node.layer.data_offset < 0:
            return None
        declared = next((one for one in node.op_class.attributes.values() if one.spelling == match[0]), None)
        return None if declared is None else (node, declared, node.layer.attributes[declared.spelling])

    def meant(self, node: Node, declared: Attribute, value: object) -> object:
        """The value of an attribute with which a node gives what it records; the given value where the search found none."""
        text = self.layers.meant.get(node, {}).get(declared.spelling)
        return value if text is None else declared.read(text)[0]


def _record_dims(site: _Site) -> _Repair | None:
    if (found := site.port()) is None:
        return None
    node, port, fact = found
    # OpenVINO would write its own view of the port. A recorded -1 that fits any size stays.
    dims, slots = recordable(fact.openvino_view), site.layers.graphs[node.model].slots
    is_open = port in node.layer.inputs or not is_decided(node, [slots[slot] for slot in node.sources])
    if is_open and dims is not None and port.dims is not None and len(dims) == len(port.dims):
        dims = tuple([-1 if recorded < 0 else dim for recorded, dim in zip(port.dims, dims, strict=True)])
    splices = port_splices(site.document, node.layer, port, PortFacts(None, dims, port.annotation))
    return _Repair(f"record {'no dims' if dims is None else dims_text(dims)}", splices)


def _record_precision(site: _Site) -> _Repair | None:
    if (found := site.port()) is None or found[2].element_type is ElementType.dynamic:
        return None
    node, port, fact = found
    precision = fact.element_type.precision
    splices = port_splices(site.document, node.layer, port, PortFacts(precision, port.dims, port.annotation))
    return _Repair(f'write precision="{precision}"', splices)


def _correct_precision(site: _Site) -> _Repair | None:
    text = re.match(r"precision\s*=\s*[\"']([^\"']*)", site.text(256))
    likely = (ElementType.parse(text[1]) or ElementType.from_precision(text[1].upper())) if text else None
    if likely is None or text is None:
        return None
    start, end = (site.offset + len(text[0][:at].encode(site.document.encoding)) for at in text.span(1))
    return _Repair(f'write precision="{likely.precision}"', [Splice(start, end, likely.precision)])


def _remove_annotation(site: _Site) -> _Repair | None:
    if (found := site.port()) is None:
        return None
    node, port, _ = found
    splices = port_splices(site.document, node.layer, port, PortFacts(None, port.dims, None))
    return _Repair("remove the annotation", splices)


def _spell_number(site: _Site) -> _Repair | None:
    dim = _DIM.match(site.text(512))
    if dim is None:
        return _spell_attribute(site)
    start, end = (site.offset + len(dim[0][:at].encode(site.document.encoding)) for at in dim.span(1))
    value = str(int(dim[2]))
    return _Repair(f"write {value}", [Splice(start, end, value)])


def _spell_attribute(site: _Site, *, is_meant: bool = False) -> _Repair | None:
    """Write the value that OpenVINO reads in its own spelling; with `is_meant`, the value with which the layer gives what it records."""
    if (found := site.attribute()) is None:
        return None
    node, declared, _ = found
    value = getattr(node.op, declared.name)
    return _write_attributes(site, node, {declared: site.meant(node, declared, value) if is_meant else value})


def _is_other_number(site: _Site) -> bool:
    """Whether a text may mean another number than OpenVINO reads, as 2.9 for 2; not a `<dim>` that the model computes."""
    if (dim := _DIM.match(site.text(512))) is not None:
        if (node := site.node) is None:
            return True
        ports = site.layers.ports(node).values()
        port, fact = next(((port, fact) for port, fact in ports if port.offset <= site.offset < port.end), (None, None))
        if port is not None and fact is not None and fact.shape is not None:
            source, tag = site.document.source, "<dim".encode(site.document.encoding)
            axis = source.count(tag, port.offset, site.offset)
            if axis < len(fact.shape) and fact.shape[axis] == int(dim[2]):
                return False
        texts, values = [dim[1]], (int(dim[2]),)
    elif (found := site.attribute()) is not None:
        node, declared, text = found
        value = getattr(node.op, declared.name)
        texts, values = text.split(","), value if isinstance(value, tuple) else (value,)
    else:
        return True
    try:
        return [float(text) for text in texts] != [*map(float, values)]
    except (TypeError, ValueError, OverflowError):
        return True


def _state_defaults(site: _Site) -> _Repair | None:
    """Write all missing attributes of a layer at once, so that it gets one `<data>`. In a faulty layer a missing one may be the fault."""
    if (node := site.node) is None or node.op_class is None or (node in site.layers.faulty and not site.layers.meant.get(node)):
        return None
    declared = node.op_class.attributes.values()
    missing = {one: site.meant(node, one, one.default) for one in declared if one.stated and one.spelling not in node.layer.attributes}
    if ElementType.dynamic in missing.values():  # OpenVINO compiles no such model
        return None
    lengths = {len(value) for one in declared if isinstance(value := getattr(node.op, one.name), tuple) and value}
    for one in [one for one, value in missing.items() if value == () and one.spelling != "shape"]:  # the shape of a scalar is empty
        if len(lengths) != 1 or one.spelling not in node.op_class.empty:
            return None
        missing[one] = (node.op_class.empty[one.spelling],) * max(lengths)
    return _write_attributes(site, node, missing)


def _write_attributes(site: _Site, node: Node, values: dict[Attribute, object]) -> _Repair | None:
    """Write attributes with these values, if reading each text gives exactly its value."""
    texts = {attribute.spelling: spell(value) for attribute, value in values.items()}
    for name, text in texts.items():
        if "," in (old := node.layer.attributes.get(name, "")) and ", " not in old:
            texts[name] = text.replace(", ", ",")
    for attribute, value in values.items():
        try:
            if attribute.read(texts[attribute.spelling]) != (value, None):
                return None
        except Malformed:
            return None
    title = "write " + " ".join(f'{name}="{text}"' for name, text in texts.items())
    return _Repair(title, attribute_splices(site.document, node.layer, dict(texts)))


def _correct_version(site: _Site) -> _Repair | None:
    """Write the version to which the attributes of the layer belong."""
    if (node := site.node) is None:
        return None
    versions = site.layers.versions
    if node not in versions:  # each of its attributes asks
        versions[node] = version_for(node)
    if not (version := versions[node]):
        return None
    encoding, start = site.document.encoding, node.layer.offset
    text, new = site.document.source[start : site.offset].decode(encoding, "ignore"), f'version="{version}"'
    spans = [one.span() for one in _ATTRIBUTE.finditer(text) if one[1] == "version"]
    first, end = [start + len(text[:at].encode(encoding)) for at in spans[0]] if spans else [start, start]
    return _Repair(f"write {new}", [Splice(first, end, new)]) if spans else None


def _remove_attribute(site: _Site) -> _Repair | None:
    """Remove the attribute at the place, and the blanks before it."""
    attribute, length = None, 256
    while attribute is None and length < 8 * len(site.document.source):
        attribute, length = _ATTRIBUTE.match(site.text(length)), 8 * length
    if attribute is None:
        return None
    encoding = site.document.encoding
    before = site.document.source[max(0, site.offset - 64) : site.offset].decode(encoding, "ignore")
    blanks = before[len(before.rstrip()) :]
    start, end = site.offset - len(blanks.encode(encoding)), site.offset + len(attribute[0].encode(encoding))
    return _Repair(f"remove {attribute[1]}", [Splice(start, end, "")])


def _rename_misspelt(site: _Site) -> _Repair | None:
    """Give an unknown attribute the name of the one that the layer lacks."""
    match = _NAME.match(site.text(1024))
    if match is None or (node := site.node) is None or node.op_class is None:
        return None
    for spelling, name in misspelt(node.op_class.attributes, node.layer.attributes).items():
        if name == match[0]:
            end = site.offset + len(name.encode(site.document.encoding))
            return _Repair(f"rename {name} to {spelling}", [Splice(site.offset, end, spelling)])
    return None


def _guess_word(site: _Site) -> _Repair | None:
    if (found := site.attribute()) is None:
        return None
    node, declared, text = found
    annotation = get_args(declared.annotation)[0] if get_origin(declared.annotation) not in (None, Literal) else declared.annotation
    if annotation is ElementType and (known := ElementType.parse(text)) is not None:
        return _write_attributes(site, node, {declared: known})
    if get_origin(annotation) is not Literal:
        return None
    from difflib import get_close_matches

    words = get_close_matches(text.lower(), get_args(annotation), 1, 0.7)
    return _write_attributes(site, node, {declared: words[0]}) if words else None


def _remove_blanks(site: _Site) -> _Repair | None:
    source, encoding = site.document.source, site.document.encoding
    end = source.find("<".encode(encoding), site.offset)
    if end <= site.offset or source[site.offset : end].decode(encoding, "replace").strip(" \t\r\n\ufeff"):
        return None
    return _Repair("remove the blanks", [Splice(site.offset, end, "")])


_Maker: TypeAlias = Callable[[_Site], _Repair | None]
# Safe fixes by code, each with the reason: OpenVINO reads the same model as before, or the file records what OpenVINO computes.
_COMPUTED: Final = "the model computes it, and every layer that reads the tensor records it"
SAFE: Final[dict[str, tuple[_Maker, str]]] = {
    "X107": (_correct_precision, "both names mean the same element type"),
    "X201": (_remove_blanks, "OpenVINO passes over them"),
    "X203": (_remove_annotation, "the shape of the input contradicts it"),
    "R101": (_spell_number, "OpenVINO reads the same number"),
    "R105": (_spell_attribute, "OpenVINO reads the same word"),
    "R301": (_record_dims, _COMPUTED),
    "R302": (_record_precision, _COMPUTED),
}
# Fixes that the author must decide on: another word may be meant, `yes` may mean true, an attribute may be misspelled.
BY_HAND: Final[dict[str, _Maker]] = {
    "A101": _rename_misspelt,
    "A103": lambda site: _correct_version(site) or _guess_word(site),
    "R102": lambda site: _spell_attribute(site, is_meant=True),
    "R103": _state_defaults,
    "R104": lambda site: _rename_misspelt(site) or _correct_version(site) or _remove_attribute(site),
}
_ALL: Final = {code: maker for code, (maker, _) in SAFE.items()} | BY_HAND
# The codes with a safe fix: also those whose fix is made where the fault is found.
MENDED: Final = frozenset({*SAFE, "X204"})
# Codes that say that an attribute of the layer may be wrong.
_SUSPECT: Final = frozenset({*BY_HAND, "R303", "W202"} - {"R103"})


def add_fixes(
    engine: Engine,
    diagnostics: Sequence[Diagnostic],
    behind: Mapping[Diagnostic, Sequence[int]],
    alone: Collection[Diagnostic],
    explained: Collection[Diagnostic],
    meant: Mapping[Node, Mapping[str, str]],
    *,
    is_as_read: bool,
) -> None:
    """Set the fix of each diagnostic of a pass that has one.

    `behind` are the places of further faults that a diagnostic stands for, `alone` the faults of records that all other witnesses
    contradict, `explained` those that a change of the model explains: no fix writes over their records. `meant` has texts of
    attributes with which layers give what they record. `is_as_read` means that the inputs have the shapes of the file. Examples of the
    specification get no fixes, because they are not valid XML.
    """
    mendable = [found for found in diagnostics if found.code in (*_ALL, "W103") and (is_as_read or found.code not in RECORDS)]
    if not mendable or engine.model.document.is_example:
        return
    layers = _Layers(engine, diagnostics, meant)
    about = _Doubts(layers, diagnostics, alone).about
    failing = {one.caused_by for one in diagnostics if one.severity == ERROR}
    doubted = {offset for diagnostic, several in behind.items() if about(diagnostic) for offset in several}
    for diagnostic in mendable:
        is_explained = diagnostic.related or diagnostic in explained or diagnostic.caused_by in explained
        if diagnostic.where.offset is None or (diagnostic.code in (*RECORDS, "R101") and is_explained):
            continue
        if diagnostic.code == "W103":
            shape = _stored(layers.at(diagnostic.where.offset))
            diagnostic.hint = f"set {shape}, as the port records: its elements have as many bytes" if shape else diagnostic.hint
            continue
        doubt = about(diagnostic) if diagnostic.code in SAFE else None
        site, is_failing = _Site(layers, diagnostic.where.offset), diagnostic in failing
        is_untyped = (port := site.port()) is not None and port[2].element_type is ElementType.dynamic
        if doubt and (is_failing or is_untyped) and (attribute := _attribute_of(site, diagnostic.code)):
            diagnostic.hint = f"set {attribute}, as the port records{': layers behind it fail without it' * is_failing}"
            continue
        places = [offset for offset in behind.get(diagnostic, ()) if doubt != "" or offset not in doubted]
        repairs = [_repair(layers, diagnostic.code, offset) for offset in (diagnostic.where.offset, *places)]
        edits = [edit for repair in repairs if repair for edit in repair.edits]
        if repairs[0] is not None and edits:
            title = repairs[0].title
            if len(repairs) > 1:
                title += f", and mend {len(repairs) - 1} more {'place that follows' if len(repairs) == 2 else 'places that follow'} from it"
            diagnostic.fix = Fix(title, tuple(edits), doubt == "", SAFE[diagnostic.code][1] if doubt == "" else "")
            if diagnostic.code == "R102" and diagnostic.hint is None:
                diagnostic.hint = _other_boolean(_Site(layers, diagnostic.where.offset), title)
            if doubt and diagnostic.hint is None:
                diagnostic.hint = f"--fix leaves this to you, because {doubt}"


def _other_boolean(site: _Site, title: str) -> str | None:
    """The hint at the other boolean that a text may mean, beside the one that the fix of this title writes."""
    if (found := site.attribute()) is None:
        return None
    node, declared, _ = found
    other = '="true"' not in title
    why = "as OpenVINO reads it" if getattr(node.op, declared.name) == other else "if that is meant"
    return f'or write {declared.spelling}="{str(other).lower()}", {why}'


def _attribute_of(site: _Site, code: str) -> str:
    """The attribute of a Parameter or a Const that gives what its port records; empty for any other layer."""
    if (found := site.port()) is None or found[0].type not in ("Parameter", "Const"):
        return ""
    _, port, _ = found
    return _shape_text(port) if code != "R302" else f'element_type="{ElementType.from_precision(port.precision or "")}"'


def _shape_text(port: Port) -> str:
    return f'shape="{",".join("?" if dim < 0 else str(dim) for dim in port.dims or ())}"'


def _stored(node: Node | None) -> str:
    """The shape that the port of a Const records, if it has all bytes of the Const; otherwise empty."""
    if node is None or not isinstance(node.op, Constant) or not node.layer.outputs:
        return ""
    port = node.layer.outputs[0]
    return _shape_text(port) if node.op.element_type.byte_size(prod(port.dims or ())) == node.op.size else ""


def _repair(layers: _Layers, code: str, offset: int) -> Fix | None:
    site = _Site(layers, offset)
    if code in RECORDS and site.node in layers.trusting:
        return None
    repair = _ALL[code](site)
    if repair is None:
        return None
    position = site.document.position
    edits = [Edit(*splice, *position(splice.start), *position(splice.end)) for splice in repair.splices]
    return Fix(repair.title, tuple(edits), code in SAFE)


class _Doubts:
    """Why the fix of a fault is not safe: other text of the file may be wrong, and the text that the fix replaces may be right.

    `suspected` are the nodes with a fault that only the author can decide on, such as an attribute that may be misspelled, `contradicted`
    those whose own output ports record other facts than the model computes. `alone` are the faults that all other witnesses contradict.
    """

    def __init__(self, layers: _Layers, diagnostics: Sequence[Diagnostic], alone: Collection[Diagnostic]) -> None:
        self._layers = layers
        self._alone = alone
        placed = [(found, layers.at(found.where.offset)) for found in diagnostics if found.where.offset is not None]
        self._suspected = {node for found, node in placed if node and (found.code in _SUSPECT or self._is_other_number(found))}
        self._contradicted = {node for found, node in placed if found.code in RECORDS}

    def about(self, diagnostic: Diagnostic) -> str:
        """The doubt about the fix of a fault, as a reason; empty if the fix is safe."""
        node = self._layers.at(diagnostic.where.offset or 0)
        if node is None:
            return ""
        if self._is_other_number(diagnostic):
            return "the text may mean another number than the one that OpenVINO reads"
        if node in self._suspected:
            return "an attribute of the layer may be wrong instead"
        if diagnostic.code in RECORDS and node in self._layers.faulty:
            return "the layer has an error, and the record may be right"
        if diagnostic.code == "X203" and node in self._contradicted:
            return "the ports of the layer record something else"
        if diagnostic.code in RECORDS and diagnostic not in self._alone:
            return "the record may be right, and the model wrong; irshape infer --in-place records what the model computes"
        return ""

    def _is_other_number(self, found: Diagnostic) -> bool:
        return found.code == "R101" and _is_other_number(_Site(self._layers, found.where.offset or 0))


class LayerPlaces:
    """The layers of a file, in bodies too, by their places; `graphs` has the engine of each graph."""

    def __init__(self, engine: Engine) -> None:
        self.root = engine
        self.graphs = {graph.model: graph for graph in engine.graphs()}
        self._nodes = sorted((node for graph in self.graphs for node in graph.nodes), key=lambda node: node.layer.offset)
        self._offsets = [node.layer.offset for node in self._nodes]

    def at(self, offset: int | None) -> Node | None:
        """The innermost layer that contains a place; None if no layer does."""
        index = -1 if offset is None else bisect_right(self._offsets, offset) - 1
        node = self._nodes[index] if index >= 0 else None
        while node is not None and offset is not None and offset >= node.layer.end:
            node = node.model.holder
        return node


class _Layers(LayerPlaces):
    """The layers of a file by their places, and what fixes must not rely on.

    `trusting` are the nodes whose facts depend on trusted ports of an unknown operation. `faulty` are the nodes with an error that has no
    safe fix, even if their output is unused. `versions` are those to which the attributes of nodes belong, as far as they were sought.
    """

    def __init__(self, engine: Engine, diagnostics: Iterable[Diagnostic], meant: Mapping[Node, Mapping[str, str]]) -> None:
        super().__init__(engine)
        self.meant = meant
        self.trusting = _trusting([*self.graphs])
        errors = (found.where.offset for found in diagnostics if CATALOGUE[found.code].severity == ERROR and found.code not in SAFE)
        self.faulty = {self.at(offset) for offset in errors if offset is not None}
        self.versions: dict[Node, str] = {}
        self.last: tuple[Node | None, dict[int, tuple[Port, Fact]]] = (None, {})

    def ports(self, node: Node) -> dict[int, tuple[Port, Fact]]:
        if self.last[0] is not node:
            slots, layer = self.graphs[node.model].slots, node.layer
            ports = [*zip(node.sources, layer.inputs, strict=True), *enumerate(layer.outputs, node.first_slot)]
            self.last = node, {port.offset: (port, slots[slot]) for slot, port in ports}
        return self.last[1]


def _trusting(graphs: Sequence[Model]) -> set[Node]:
    """The nodes whose facts depend on trusted ports of an unknown operation, bodies and the holders of bodies included."""
    found: set[Node] = set()
    for graph in graphs:
        for node in graph.nodes:
            holder: Node | None = node if node.op_class is None else None
            while holder is not None:
                found.add(holder)
                holder = holder.model.holder
    for graph in graphs if found else ():
        for node in graph:
            if graph.holder in found or not found.isdisjoint(map(graph.producer, node.sources)):
                found.add(node)
    return found


def mendable(inference: Inference) -> tuple[list[Diagnostic], list[Edit]]:
    """The faults with a safe fix, and the edits that mend them, in the order of the file; of fixes that overlap, only the first."""
    safe = {diagnostic: diagnostic.fix for diagnostic in inference.diagnostics if diagnostic.fix and diagnostic.fix.is_safe}
    fixes, edits = compatible(safe.values())
    chosen = set(fixes)
    return [diagnostic for diagnostic, fix in safe.items() if fix in chosen], edits


def mended_file(inference: Inference) -> bytes:
    """The file with its safe fixes made; every other byte is unchanged."""
    return spliced(inference.document, [Splice(edit.start, edit.end, edit.text) for edit in mendable(inference)[1]])


def mend(inference: Inference) -> list[Diagnostic]:
    """Make the safe fixes in the file, all or none, and return what they mend. Raises `OSError`, also if the file has changed."""
    faults, _ = mendable(inference)
    if faults:
        path = inference.document.path
        if path is None:
            raise OSError(errno.ENOENT, "the model was not read from a file")
        if read(path, len(inference.document.source)) != inference.document.source:
            raise OSError(errno.EINVAL, "not mended: the file is compressed, or it has changed since it was read", path)
        write_atomic(path, mended_file(inference), in_place=True, source=path)
    return faults
