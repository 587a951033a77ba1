"""Compare the graphs of two models: the changes, and the shapes and types that follow from them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from irshape.answers.cost.formula import COMPARISON
from irshape.answers.matching import Matching, is_unnamed, source_of
from irshape.answers.signature.naming import named
from irshape.inference.conditions import is_about_data
from irshape.inference.facts import Fact
from irshape.inference.inference import Inference
from irshape.inference.run import Run
from irshape.inference.schedule import weights_size
from irshape.model.model import Model, Node, OutputPort
from irshape.ops.context import element_count
from irshape.ops.infrastructure import Constant
from irshape.report import form
from irshape.report.diagnostic import ERROR
from irshape.report.surface import Guessed
from irshape.report.text import counted
from irshape.shape.element_type import ElementType
from irshape.shape.fold import Translation
from irshape.shape.notation import Described
from irshape.xml.document import Port
from irshape.xml.weights import UNREAD, Weights, WeightsError, decode, no_weights

if TYPE_CHECKING:
    from irshape.answers.cost.cost import Comparison

_PIECE: Final = 1 << 20
# The most elements of a constant that are listed; of larger constants only their difference is measured.
_SHOWN: Final = 8
_WIDEST: Final = 80
_NUMBERS: Final = {
    "i8": "<i1", "i16": "<i2", "i32": "<i4", "i64": "<i8", "u8": "<u1", "u16": "<u2", "u32": "<u4", "u64": "<u8",
    "f16": "<f2", "f32": "<f4", "f64": "<f8",
}  # fmt: skip
_MOST_F16: Final = 65504.0


class ConstantBytes:
    """The bytes of a Const. Every method that reads them raises WeightsError if the weights lack them."""

    def __init__(self, op: Constant, weights: Weights | None) -> None:
        self.element_type: ElementType = op.element_type
        self.count = element_count(op.shape)
        self.offset = op.offset
        # Bytes beyond the elements are never read; the elements of strings have no fixed size.
        is_measured = self.count is not None and self.element_type is not ElementType.string
        self.size = min(op.size, self.element_type.byte_size(self.count or 0)) if is_measured else op.size
        self.weights = weights

    def text(self) -> str | None:
        """The elements as text, `[0,3,38,1]`; None if there are many."""
        if self.count is None or self.count > _SHOWN or self.element_type is ElementType.string:
            return None
        elements = decode(self.element_type, next(self._pieces(self.size), b""), self.count)
        texts = [f"{element:.9g}" if isinstance(element, float) else str(element) for element in elements or ()]
        return None if elements is None else f"[{','.join(texts)}]"

    def numbers(self, elements: int) -> Iterator[Any]:
        """The elements as NumPy arrays of at most `elements` each."""
        import numpy

        code = numpy.dtype(_NUMBERS[self.element_type.name])
        return (numpy.frombuffer(piece, code) for piece in self._pieces(elements * code.itemsize))

    @property
    def is_numeric(self) -> bool:
        """Whether `numbers` can read the elements."""
        return self.element_type.name in _NUMBERS and self.size == self.element_type.byte_size(self.count or 0)

    def is_like(self, other: ConstantBytes) -> bool:
        """Whether both hold the same bytes."""
        if self.size != other.size:
            return False
        if self.offset == other.offset and _are_one_file(self.weights, other.weights):
            return True
        return all(one == another for one, another in zip(self._pieces(_PIECE), other._pieces(_PIECE), strict=True))

    def _pieces(self, size: int) -> Iterator[bytes]:
        if self.weights is None:
            raise no_weights()
        end = self.offset + self.size
        for start in range(self.offset, end, max(size, 1)):
            yield self.weights.read(start, min(size, end - start))


def difference(a: ConstantBytes, b: ConstantBytes) -> tuple[str, str] | None:
    """The contents of two constants of equal type and shape, as texts that show their difference; None if they are equal."""
    if a.is_like(b):
        return None
    ours, theirs = a.text(), b.text()
    if ours is not None and theirs is not None and ours != theirs and len(ours) + len(theirs) <= _WIDEST:
        return ours, theirs
    if not a.is_numeric or not b.is_numeric or a.count != b.count:
        return f"{a.size} bytes", f"{b.size} bytes"
    count, largest = _distance(a, b)
    if not count:
        return "the bytes", "other bytes with equal values"
    amount = f"by at most {largest:.6g}" if largest < inf else "some of which are not finite"
    return f"{a.count} elements", f"{count} of them differ, {amount}"


def apart(a: ConstantBytes, b: ConstantBytes) -> float | None:
    """The largest difference of two constants of reals; 0 if the wider type rounded to the narrower one is equal, None for other types."""
    if not (a.element_type.is_real and b.element_type.is_real and a.is_numeric and b.is_numeric and a.count == b.count):
        return None
    import numpy

    wide, narrow = (a, b) if a.element_type.bits >= b.element_type.bits else (b, a)
    target = numpy.dtype(_NUMBERS[narrow.element_type.name])
    most = _MOST_F16 if narrow.element_type is ElementType.f16 else inf
    with numpy.errstate(over="ignore"):
        pairs = zip(wide.numbers(_PIECE), narrow.numbers(_PIECE), strict=True)
        is_equal = all(numpy.array_equal(numpy.clip(one, -most, most).astype(target), other, equal_nan=True) for one, other in pairs)
    return 0.0 if is_equal else _distance(a, b)[1]


def _distance(a: ConstantBytes, b: ConstantBytes) -> tuple[int, float]:
    """The number of elements that differ, and their largest difference."""
    import numpy

    count, largest = 0, 0.0
    with numpy.errstate(all="ignore"):
        for one, other in zip(a.numbers(_PIECE), b.numbers(_PIECE), strict=True):
            differ = (one != other) & ~((one != one) & (other != other))
            if differ.any():
                count += int(differ.sum())
                distances = numpy.abs(one[differ].astype("f8") - other[differ].astype("f8"))
                largest = max(largest, float(numpy.nan_to_num(distances, nan=inf, posinf=inf).max()))
    return count, largest


def _are_one_file(a: Weights | None, b: Weights | None) -> bool:
    if a is None or b is None or a.path is None or b.path is None:
        return a is b
    try:
        return os.path.samefile(a.path, b.path)
    except OSError:
        return False


# Attributes of a Const that give the place of its bytes, not their content.
_PLACES: Final = frozenset({"offset", "size"})
# Attributes of a body's Parameter that its inputs override.
_DECLARED: Final = frozenset({"shape", "element_type"})
# The bytes of constants that are compared, besides twice those of the weights.
_SPARE_BYTES: Final = 1 << 24
# The kinds of changes, the most important first, each with the words that count them.
KINDS: Final = {
    "ir_version": "another IR version",
    "parameter": "{} input{} changed",
    "added": "{} layer{} added",
    "removed": "{} layer{} removed",
    "replaced": "{} layer{} replaced",
    "renamed": "{} layer{} renamed",
    "version": "{} operation{} of another opset",
    "attribute": "{} attribute{} changed",
    "edge": "{} edge{} rewired",
    "outputs": "{} layer{} with more or fewer outputs",
    "constant": "{} constant{} changed",
    "port_map": "{} port map{} changed",
    "order": "inputs or results in another order",
    "layout": "{} layout{} changed",
    "tensor_names": "{} tensor{} renamed",
}
_INTERNAL: Final = ("internal_layer_id", "from-layer", "to-layer")


class Change(NamedTuple):
    """One difference between the models.

    `kind` is `added`, `removed` or `renamed` (a layer), `replaced` (a layer of another type has the name), `version` (the opset of a
    layer), `parameter` (an attribute of a model input), `attribute`, `edge` (the source of an input), `outputs` (their number), `constant`
    (its content), `tensor_names` or `layout` (of a model input or output), `port_map`, `order` (of inputs or results) or `ir_version`.
    `what` is the name of the attribute or the number of the input. `a` and `b` are the layer in each model.
    """

    kind: str
    what: str
    before: str | None
    after: str | None
    a: Node | None = None
    b: Node | None = None


class Effect(NamedTuple):
    """A shape or element type of an output (`what`) that differs because of a change before it; `port` counts the outputs."""

    what: str
    before: str
    after: str
    a: Node
    b: Node
    port: int


class Difference(Guessed):
    """The differences between two models, of which `a` and `b` are the inferences.

    `changes` are the causes, and `effects` the element types and shapes that follow from them. `asides` are sentences about differences of
    the files that do not change the model: ids, places of constants, recorded dims, generated names. `uncompared` is the reason why
    constants were not compared; None if they were. `cost` compares the costs, if that
    was asked for.
    """

    def __init__(self, a: Inference, b: Inference) -> None:
        self.a = a
        self.b = b
        self.changes: list[Change] = []
        self.effects: list[Effect] = []
        self.asides: list[str] = []
        self.uncompared: str | None = None
        self._matchings: list[Matching] = []
        self.cost: Comparison | None = None

    @property
    def is_same(self) -> bool:
        """Whether both files contain the same model, even if the files differ."""
        return not self.changes and not self.effects

    @property
    def summary(self) -> str:
        """The number of changes of each kind, in one line."""
        counts = Counter(one.kind for one in self.changes)
        parts = [text.format(count, "" if count == 1 else "s") for kind, text in KINDS.items() if (count := counts[kind])]
        followers = Counter(one.what for one in {(effect.what, effect.a): effect for effect in self.effects}.values())
        for what, words in (("shape", "shapes"), ("element_type", "element types")):
            if followers[what]:
                parts.append(f"{words} of {counted(followers[what], 'layer')} {'follow' if self.changes else 'differ'}")
        return ", ".join(parts) or ("no difference found" if self.uncompared else "the same model")

    def __repr__(self) -> str:
        return f"<Difference: {self.summary}>"

    def to_dict(self) -> dict[str, Any]:
        """The form of `schemas/diff.schema.json`."""
        return DIFFERENCE(self)


def compare(a: Inference, b: Inference) -> Difference:
    """Compare the models of two inferences."""
    comparison = _Differ(a, b)
    comparison.run()
    return comparison.difference


class _Differ:
    """A comparison in progress; `equal` are pairs of equal facts, and `asides` counts differences that concern only the files."""

    def __init__(self, a: Inference, b: Inference) -> None:
        self.difference = Difference(a, b)
        self.slots = {model: run.slots for one in (a, b) for model, run in one.graphs}
        self.translation = Translation()
        self.equal: set[tuple[Fact, Fact]] = set()
        self.asides: Counter[str] = Counter()
        # The contents of two constants by their places, and the bytes that may still be compared: constants may share their bytes.
        self.contents: dict[tuple[Hashable, ...], tuple[str, str] | None] = {}
        self.bytes_left = _SPARE_BYTES + 2 * sum(max(weights_size(one.weights), 0) for one in (a, b))

    def run(self) -> None:
        a, b = self.difference.a.model, self.difference.b.model
        if a.ir_version != b.ir_version:
            self.add("ir_version", "", str(a.ir_version), str(b.ir_version))
        pending = [(a, b)]
        holders: list[tuple[Node, Node]] = []
        while pending:
            matching = Matching(*pending.pop())
            self.difference._matchings.append(matching)
            self.compare_graphs(matching)
            for node, other in matching.pairs():
                if node.bodies or other.bodies:
                    holders.append((node, other))
                    pending += [(body, other.bodies[name]) for name, body in node.bodies.items() if name in other.bodies]
        origins = {b: a for matching in self.difference._matchings for b, a in matching.origin.items()}
        for node, other in holders:
            self.compare_port_maps(node, other, origins)
        self.add_asides()

    def add(self, kind: str, what: str, before: object, after: object, a: Node | None = None, b: Node | None = None) -> None:
        change = Change(kind, what, None if before is None else str(before), None if after is None else str(after), a, b)
        self.difference.changes.append(change)

    def compare_graphs(self, matching: Matching) -> None:
        for node in matching.removed():
            self.add("removed", "", node.type, None, node, None)
        for node in matching.added():
            self.add("added", "", None, node.type, None, node)
        for a, b in matching.replaced:
            self.add("replaced", "", a.type, b.type, a, b)
        for what, type in (("inputs", "Parameter"), ("results", "Result")):
            ours = [node for node in matching.a.nodes if node.type == type and node in matching.partner]
            theirs = [matching.origin[node] for node in matching.b.nodes if node.type == type and node in matching.origin]
            if ours != theirs and set(ours) == set(theirs):
                self.add("order", what, _names(ours), _names(theirs))
        replaced = dict(matching.replaced)
        for a in matching.a:
            partner = matching.partner.get(a)
            if partner is not None:
                if a not in replaced:
                    self.compare_layers(matching, a, partner)
                self.compare_facts(a, partner)
                self.asides["id"] += a.id != partner.id

    def compare_layers(self, matching: Matching, a: Node, b: Node) -> None:
        if a.name != b.name:
            if is_unnamed(a.name) and is_unnamed(b.name):
                self.asides["name"] += 1
            else:
                self.add("renamed", "", a.name, b.name, a, b)
        if a.version != b.version:
            self.add("version", "", a.version, b.version, a, b)
        self.compare_attributes(a, b)
        for index in range(max(a.layer.signature.input_count, b.layer.signature.input_count)):
            source, other = source_of(a, index), source_of(b, index)
            if (source and (matching.partner.get(source.node), source.index)) != (other and (other.node, other.index)):
                self.add("edge", str(index), _port_text(source), _port_text(other), a, b)
        if a.layer.signature.output_count != b.layer.signature.output_count and a.version == b.version:
            self.add("outputs", "", a.layer.signature.output_count, b.layer.signature.output_count, a, b)
        for index, (ours, theirs) in enumerate(zip(a.layer.outputs, b.layer.outputs, strict=False)):
            if _tensor_names(a, ours, theirs) != _tensor_names(b, theirs, ours):
                if _is_end(a) and _is_end(b):
                    self.add("tensor_names", str(index), ours.names, theirs.names, a, b)
                else:
                    self.asides["tensor"] += 1
            if ours.layout != theirs.layout:
                self.add("layout", str(index), ours.layout, theirs.layout, a, b)
        if isinstance(a.op, Constant) and isinstance(b.op, Constant):
            self.compare_constants(a, b, a.op, b.op)

    def compare_attributes(self, a: Node, b: Node) -> None:
        hidden = _PLACES if isinstance(a.op, Constant) else frozenset()
        if a.type == "Parameter" and a.model.holder is not None:
            hidden = _DECLARED
        ours, theirs = _attributes(a), _attributes(b)
        for name in ours | theirs:
            before, after = ours.get(name), theirs.get(name)
            # Another version of an operation has other attributes.
            is_own = a.version != b.version and None in (before, after)
            if name not in hidden and before != after and not is_own:
                kind = "parameter" if a.type == "Parameter" and a.model.holder is None else "attribute"
                pairs = (before, a), (after, b)
                before, after = (None if text == "[]" and name not in node.layer.attributes else text for text, node in pairs)
                self.add(kind, name, before, after, a, b)

    def compare_constants(self, a: Node, b: Node, ours: Constant, theirs: Constant) -> None:
        self.asides["place"] += ours.is_broken or theirs.is_broken or ours.offset != theirs.offset
        if ours.is_broken or theirs.is_broken or (ours.element_type, ours.shape) != (theirs.element_type, theirs.shape):
            return
        one, other = ConstantBytes(ours, self.difference.a.weights), ConstantBytes(theirs, self.difference.b.weights)
        key = one.element_type, one.count, one.offset, one.size, other.offset, other.size
        if key not in self.contents:
            self.bytes_left -= one.size + other.size
            if self.bytes_left < 0:
                self.difference.uncompared = self.difference.uncompared or "constants share so many bytes that not all are compared"
                return
        try:
            if key not in self.contents:
                self.contents[key] = difference(one, other)
            contents = self.contents[key]
        except WeightsError as error:
            self.difference.uncompared = self.difference.uncompared or error.message
            return
        if contents is not None:
            self.add("constant", "", *contents, a, b)

    def compare_facts(self, a: Node, b: Node) -> None:
        """Compare the inferred facts of the outputs; of a Result those of the port that it reads."""
        ours, theirs = (self.slots.get(node.model) for node in (a, b))
        if ours is None or theirs is None:  # the layer has no such body
            return
        # The attributes of a layer without inputs decide its outputs, so a difference is a change. A body's Parameters have inputs.
        is_given = not a.sources and not b.sources and (a.type != "Parameter" or a.model.holder is None)
        count = min(node.layer.signature.output_count for node in (a, b))
        pairs = [(ours[a.first_slot + index], theirs[b.first_slot + index]) for index in range(count)]
        if a.type == b.type == "Result" and a.sources and b.sources and min(a.sources[0], b.sources[0]) >= 0:
            pairs = [(ours[a.sources[0]], theirs[b.sources[0]])]
        for index, (fact, other) in enumerate(pairs):
            if fact.is_poisoned or other.is_poisoned:
                continue
            is_shape_one = (fact, other) in self.equal or self.are_one_shape(fact, other)
            if is_shape_one and fact.element_type is other.element_type:
                self.equal.add((fact, other))
                if a.type != "Result":
                    one, another = (node.layer.signature.records[node.layer.signature.input_count + index] for node in (a, b))
                    self.asides["record"] += one[2] != another[2] or _precision(one[1]) is not _precision(another[1])
            elif not is_given:
                if fact.element_type is not other.element_type:
                    self.difference.effects.append(Effect("element_type", fact.element_type.name, other.element_type.name, a, b, index))
                if not is_shape_one:
                    before, after = self.difference.a.format(fact.shape), self.difference.b.format(other.shape)
                    if before == after:  # they differ only as formulas
                        before, after = [self.formula(node, index) for node in (a, b)]
                    if before == after:  # the inputs tie the sizes together that differ
                        before, after = self.difference.a.symbolic(fact.shape), self.difference.b.symbolic(other.shape)
                    if before != after:  # else they differ only in the sizes that the inputs may have, which are told once
                        self.difference.effects.append(Effect("shape", before, after, a, b, index))
            elif a.type == b.type == "Parameter" and _attributes(a) == _attributes(b):
                # The shapes are equal, but the symbols or their conditions that irshape wrote in the port differ.
                self.add("parameter", "symbols", a.layer.outputs[index].annotation, b.layer.outputs[index].annotation, a, b)

    @cached_property
    def formulas(self) -> dict[Model, tuple[Inference, Run]]:
        """The pass over each graph that has the names of the signature, as `infer` shows them."""
        both = [named(one) for one in (self.difference.a, self.difference.b)]
        taken = [_conditions(one) for one in both]
        if taken[0] != taken[1]:
            self.difference.asides.append(f"the inputs may have other sizes: {' -> '.join(taken)}")
        sides = [one.reading for one in both]
        before, after = map(_input_texts, sides)
        if before != after:
            pairs = (before, after), (after, before)
            inputs = [", ".join(text for text in one if text not in other) or "none" for one, other in pairs]
            self.difference.asides.append(f"the formulas name the sizes of inputs so: {' -> '.join(inputs)}")
        return {model: (one, run) for one in sides for model, run in one.graphs}

    def formula(self, node: Node, index: int) -> str:
        """The shape of an output as a formula; of a Result that of the port that it reads."""
        reading, run = self.formulas[node.model]
        return reading.symbolic(run.slots[node.sources[0] if node.type == "Result" and node.sources else node.first_slot + index].shape)

    def are_one_shape(self, a: Fact, b: Fact) -> bool:
        if a.shape is None or b.shape is None or len(a.shape) != len(b.shape):
            return a.shape is b.shape
        # No axis may be skipped: `are_one` also pairs the symbols of both models.
        ones = [self.translation.are_one(*sizes) for sizes in zip(a.shape, b.shape, strict=True)]
        return all(ones)

    def compare_port_maps(self, a: Node, b: Node, origins: dict[Node, Node]) -> None:
        """Compare the port maps of a layer with bodies; inner layers have the names of the first model."""
        for name in dict.fromkeys((*a.bodies, *b.bodies)):
            if name not in b.bodies or name not in a.bodies:
                self.add("port_map", name, "a body" if name in a.bodies else None, "a body" if name in b.bodies else None, a, b)
        ours, theirs = (Counter(_entries(node, origins)) for node in (a, b))
        if ours != theirs:
            removed, added = (sorted((one - other).elements()) for one, other in ((ours, theirs), (theirs, ours)))
            self.add("port_map", "", "; ".join(removed) or None, "; ".join(added) or None, a, b)

    def add_asides(self) -> None:
        a, b = self.difference.a, self.difference.b
        if any(change.kind in ("added", "removed") for change in self.difference.changes):
            del self.asides["id"], self.asides["place"]  # added and removed layers shift all later ids and places
        sentences = {
            "id": ("{} has a different id", "{} have different ids", "layer"),
            "name": ("{} has a different generated name", "{} have different generated names", "layer"),
            "place": ("{} is at a different place in the .bin", "{} are at different places in the .bin", "constant"),
            "tensor": ("{} inside the model has different names", "{} inside the model have different names", "tensor"),
            "record": ("{} records a different shape or type", "{} record different shapes or types", "port"),
        }
        for key, (one, several, thing) in sentences.items():
            if count := self.asides[key]:
                self.difference.asides.append((one if count == 1 else several).format(counted(count, thing)))
        if a.document.name != b.document.name:
            self.difference.asides.append(f"the name of the net was {a.document.name!r} and is {b.document.name!r}")
        self.difference.asides += _rt_info_changes(a.model, b.model)
        for side in (a, b):
            errors = sum(found.severity == ERROR and found.code not in UNREAD for found in side.diagnostics)
            if errors:
                text = f"{side.document.path or 'a model'} has {counted(errors, 'error')}; shapes that depend on them are not compared"
                self.difference.asides.append(text)


def _precision(text: str | None) -> ElementType | None:
    return ElementType.from_precision(text) if text else None


def _is_end(node: Node) -> bool:
    """Whether an output of the node enters or leaves the model."""
    return node.model.holder is None and (node.type == "Parameter" or any(reader.type == "Result" for reader in node.consumers))


def _names(nodes: Iterable[Node]) -> str:
    return ", ".join(node.name for node in nodes)


def _tensor_names(node: Node, port: Port, other: Port) -> set[str]:
    """The names of a tensor. IR version 10 has no tensor names; OpenVINO names inputs and outputs after their layers there."""
    if port.names is None and other.names is not None and node.model.ir_version == 10:
        return {node.name}
    return set((port.names or "").split(","))


def _port_text(port: OutputPort | None) -> str | None:
    if port is None:
        return None
    return port.node.name if port.node.layer.signature.output_count == 1 else f"{port.node.name} output {port.index}"


def _attributes(node: Node) -> dict[str, str]:
    """The values of the attributes as text, defaults included; an attribute that the operation does not declare is unchanged."""
    op = node.op
    if op is None or op.is_broken:
        return dict(node.layer.attributes)
    known = {one.spelling: _text(getattr(op, one.name, None)) for one in op.attributes.values()}
    return known | {name: text for name, text in node.layer.attributes.items() if name not in known}


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{','.join(str(Described(*one)) if isinstance(one, tuple) else _text(one) for one in value)}]"
    if value is None:
        return "[...]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _entries(node: Node, origins: dict[Node, Node]) -> Iterator[str]:
    """The entries of a layer's port maps, with the names of inner layers instead of their ids."""
    names = {name: {inner.id: origins.get(inner, inner).name for inner in body.nodes} for name, body in node.bodies.items()}
    for entry in node.layer.port_maps or ():
        body = "body" if entry.map == "back_edges" else f"{entry.map.removesuffix('port_map')}body"
        words = [entry.map, entry.tag]
        for name, text in sorted(entry.attributes.items()):
            is_layer = name in _INTERNAL and text.isdecimal()
            words.append(f"{name}={names.get(body, {}).get(int(text), text) if is_layer else text}")
        yield " ".join(words)


def _input_texts(reading: Inference) -> list[str]:
    slots = reading.graphs[0][1].slots
    return [f"{node.name}{reading.symbolic(slots[node.first_slot].shape)}" for node in reading.model.parameters if node.outputs]


def _conditions(inference: Inference) -> str:
    """The conditions on the sizes of the inputs as one text."""
    guards = [one for one in inference.guards if not (one.is_premise or one.branch or is_about_data(one.requirement))]
    from irshape.answers.solve import conditions

    found = conditions(inference.reading.scope, guards)
    text = " and ".join([str(one.requirement) for one in guards] if found is None else [one.text for one in found]) or "all"
    return f"none, because nothing fits {text}" if inference.is_never_valid else text


def _rt_info_changes(a: Model, b: Model) -> Iterator[str]:
    """The differences of the nets' <rt_info>, such as the converter and its options."""
    ours, theirs = _rt_info(a), _rt_info(b)
    for name in ours | theirs:
        before, after = ours.get(name), theirs.get(name)
        if before != after:
            yield f"rt_info {name}: {'none' if before is None else repr(before)} -> {'none' if after is None else repr(after)}"


def _rt_info(model: Model) -> dict[str, str]:
    """The values of the net's <rt_info> by their paths: `nncf/quantization/preset`."""
    from xml.etree import ElementTree

    found: dict[str, str] = {}
    document = model.document
    if document.is_example or not document.graph.layers:
        return found
    # The text after the layers is a small part of the file.
    rest = document.source[document.graph.layers[-1].end :].decode(document.encoding, "replace")
    try:
        net = ElementTree.fromstring(f"<net><layers>{rest}")
    except SyntaxError:  # this parser is stricter than OpenVINO's, and than irshape's reader
        return found
    pending = [("", child) for child in net.findall("rt_info")]
    while pending:
        path, element = pending.pop()
        pending += [(f"{path}/{child.get('name') or child.tag}".lstrip("/"), child) for child in reversed(element)]
        if (value := element.get("value")) is not None:
            found[path] = value
    return found


_LAYER: Final = form.Form(
    layer=(form.KEY, "key"),
    name=form.NAME,
    type=form.TYPE,
    path=(form.BODIES, "model.path?"),
    line=("number: counted from 1", lambda node: node.model.document.position(node.layer.offset)[0]),
)
_WHAT: Final = form.word("shape", "element_type")
_EFFECT: Final = form.Form(what=_WHAT, before="text", after="text", a=_LAYER.one(), b=_LAYER.one(), port="number: the output's position")
DIFFERENCE: Final = form.Form(
    tool=form.TOOL_FIELD,
    a=(form.FILE, "a.document.path"),
    b=(form.FILE, "b.document.path"),
    is_same="flag: the models are equal, even if the files differ",
    changes=form.Form(
        kind=form.word(*sorted(KINDS)),
        what="text: the name of the attribute, or the position of the input or output; may be empty",
        before="text?: the value in the first file; null if absent",
        after="text?: the value in the second file; null if absent",
        a=_LAYER.maybe(),
        b=_LAYER.maybe(),
    ).list("the differences of the models"),
    effects=_EFFECT.list("shapes and element types that differ because of the changes"),
    asides="texts: differences of the files that do not affect the models",
    uncompared="text?: the reason why constants could not be compared",
    cost=form.Field(
        {**COMPARISON.schema, "description": "the costs of both models; only where they are asked for"},
        convert=lambda costs, _: COMPARISON(costs),
        optional=True,
    ),
)
