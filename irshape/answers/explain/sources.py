"""Where a number comes from, one layer back: the numbers that the layer's rule reads, or the number that it passes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from irshape.answers.explain.explanation import layer_at
from irshape.answers.explain.formula import Origin, PassFormulas, inputs_of, is_known, is_same
from irshape.answers.explain.traced import Leaf, Term, TracedOperation, number_text
from irshape.inference.facts import Fact
from irshape.inference.inference import Inference
from irshape.model.bodies import Body, Slice, bodies_of
from irshape.model.build import place
from irshape.model.model import Node
from irshape.ops.context import element_count
from irshape.report.diagnostic import Where
from irshape.shape.dim import Dim, format_size
from irshape.shape.element_type import ElementType
from irshape.shape.value import Real
from irshape.xml.document import Port
from irshape.xml.lexical import BODIES

# The text shown for an unknown rank or unknown values.
NOT_KNOWN: Final = "not known"


class Point(NamedTuple):
    """One number of a tensor, which `graph` and `slot` identify.

    `kind` is "axis" or "element", and `position` counts among these; or it is "values", "rank" or "type", and `position` is 0.
    """

    graph: int
    slot: int
    kind: str
    position: int = 0

    @property
    def subject(self) -> str:
        """The name of the number in a sentence: `axis 2`, `element type`."""
        return f"{self.kind} {self.position}" if self.kind in ("axis", "element") else {"type": "element type"}.get(self.kind, self.kind)


class FilePlace(NamedTuple):
    """Where a number stands in the file or in the weights; `kind`, `text`, `position` and `bytes` are the fields of `Read`.

    The place is in the layer of `node`, if there is one: at `attribute`, else at `offset` in the file, else at the layer's start. Its line
    is computed only when it is shown, because that takes time.
    """

    kind: str
    text: str
    node: Node | None = None
    attribute: str = ""
    offset: int = -1
    position: int | None = None
    bytes: tuple[str, int, int] | None = None


# A number that a layer reads: its name, its value and its origin.
Reading: TypeAlias = tuple[str, Any, Point | FilePlace]


class Passage(NamedTuple):
    """A number that the layer passes on unchanged, as long as no model input changes the `others`."""

    source: Point
    others: tuple[Point, ...] = ()


class Derivation(NamedTuple):
    """How a layer derives a number: by a `term` over the `reads`, or as the `note` says in words.

    `ways` are the numbers that the layer may pass on unchanged. `call` is the operation that computes it without arithmetic on sizes.
    """

    value: Any
    reads: Sequence[Reading] = ()
    term: Term | None = None
    note: str = ""
    ways: Sequence[Passage] = ()
    call: str = ""


def unknown(point: Point, why: str) -> Derivation:
    """A number that is known only at run time, and why."""
    return Derivation(NOT_KNOWN, [(point.subject, NOT_KNOWN, FilePlace("unknown", why))])


CONSTANTS: Final = ("Const", "Constant")
# Layers whose numbers do not come from a rule alone.
_APART: Final = frozenset((*CONSTANTS, "Parameter", *BODIES))


class Lookup:
    """Finds the value, the layer and the line of each number of one inference.

    `graphs` are the model and its bodies, each with its run, and `slots` the facts of these. `number` gives the place of a model there.
    """

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self.graphs = inference.graphs
        self.number = {model: number for number, (model, _) in enumerate(self.graphs)}
        self.slots = [run.slots for _, run in self.graphs]
        self._varying: dict[int, set[int]] = {}
        self._names: dict[Node, Where] = {}

    def fact(self, point: Point) -> Fact:
        """The fact that the pass found for the point's tensor."""
        return self.slots[point.graph][point.slot]

    def rank(self, point: Point) -> int:
        """The number of axes of the point's tensor; 0 if the rank is unknown."""
        return len(self.fact(point).shape or ())

    def number_of(self, point: Point) -> Any:
        """The value of a point, as the pass found it."""
        fact = self.fact(point)
        if point.kind == "axis":
            return (fact.shape or ())[point.position]
        if point.kind == "element" and is_known(fact):
            return (fact.elements or ())[point.position]
        if point.kind == "type":
            return fact.element_type
        return len(fact.shape) if point.kind == "rank" and fact.shape is not None else NOT_KNOWN

    def is_open(self, point: Point) -> bool:
        number = self.number_of(point)
        return isinstance(number, Dim | Real) or number is NOT_KNOWN

    def is_varying(self, graph: int, slot: int) -> bool:
        """Whether a tensor depends on anything other than constants."""
        model = self.graphs[graph][0]
        if graph not in self._varying:
            varying: set[int] = set(model.stubs)
            for node in model:
                if node.type not in CONSTANTS and (not node.sources or any(one < 0 or one in varying for one in node.sources)):
                    varying.update(node.slots)
            self._varying[graph] = varying
        return slot in self._varying[graph]

    def node(self, point: Point) -> Node | None:
        """The node that produces the point's tensor; None if the tensor is an input port of a specification example."""
        model = self.graphs[point.graph][0]
        return None if point.slot in model.stubs else model.nodes[model.producers[point.slot]]

    def of_result(self, result: Node, point: Point) -> Point | None:
        """The same number of the tensor that a Result of a body reads, or its rank if it has no such axis; None if nothing feeds it."""
        slot = result.sources[0] if result.sources else -1
        found = Point(self.number[result.model], slot, point.kind, point.position)
        if slot < 0:
            return None
        return found if point.kind != "axis" or point.position < self.rank(found) else found._replace(kind="rank", position=0)

    def place(self, node: Node, offset: int | None = None) -> Where:
        """A place in a node's layer, by default its start."""
        model = node.model
        return place(model.document, node.layer, node.layer.offset if offset is None else offset, path=model.path)

    def where(self, point: Point) -> Where:
        """The layer that produces the point's tensor, with its line."""
        node = self.node(point)
        if node is None:
            model = self.graphs[point.graph][0]
            return place(model.document, None, model.stubs[point.slot].offset)
        return self.place(node)

    def name(self, point: Point) -> Where:
        """The layer that produces the point's tensor, without its line: a number may pass through thousands of layers."""
        node = self.node(point)
        if node is None:
            return self.where(point)
        found = self._names.get(node)
        if found is None:
            found = self._names[node] = Where(node.model.document.path, str(node.id), node.name, node.type, path=node.model.path)
        return found

    def attribute(self, node: Node, name: str) -> FilePlace:
        """The place of an attribute, or the remark that the layer leaves it to the default."""
        if name in node.layer.attributes and node.layer.data_offset >= 0:
            return FilePlace("attribute", "attribute", node, name)
        return FilePlace("default", f"default, as the layer does not state {name}")

    def at(self, found: FilePlace) -> Where | None:
        node, offset = found.node, found.offset
        if node is None:
            return place(self.inference.document, None, offset) if offset >= 0 else None
        if found.attribute:
            offset = node.model.document.attribute_offset(node.layer.data_offset, found.attribute)
        return self.place(node, offset if offset >= 0 else None)


# What is said of a number for whose formula no work is left.
NOT_EXPLAINED: Final = "not explained, because the explanation takes more steps than the limit work allows"


_UNFED: Final = FilePlace("unknown", "nothing feeds the input")


def _fed(found: Derivation) -> Derivation:
    """A derivation with a remark in place of the tensors of inputs that nothing feeds."""
    slots = [source.slot for _, _, source in found.reads if isinstance(source, Point)] + [way.source.slot for way in found.ways]
    if min(slots, default=0) >= 0:
        return found
    ways = [way for way in found.ways if way.source.slot >= 0]
    reads = [read for read in found.reads if not (isinstance(read[2], Point) and read[2].slot < 0)]
    return found._replace(reads=[*reads, ("an input", NOT_KNOWN, _UNFED)], ways=ways, term=None)


class Sources(Lookup):
    """Derives each number of one inference, once."""

    def __init__(self, inference: Inference) -> None:
        super().__init__(inference)
        self.formulas = PassFormulas(inference.scope)
        self._derived: dict[Point, Derivation] = {}
        self._ways: dict[tuple[int, ...], Sequence[Point | None]] = {}

    def is_inline(self, point: Point) -> bool:
        """Whether a constant or a port holds the number, so that the step that reads it names the place and no step of its own does."""
        node = self.node(point)
        return node is None or node.type in CONSTANTS

    def derive(self, point: Point) -> Derivation:
        """How the layer that produces a number derives it."""
        found = self._derived.get(point)
        if found is None:
            found = self._derived[point] = _fed(self._derive(point))
        return found

    def passed(self, point: Point) -> Point | None:
        """The size that the rule of a layer passes on as this one, if that is all that the layer does with it; `derive` tells the rest."""
        if point.kind != "axis":
            return None
        ways = self._ways.get(point[:2])
        if ways is None:
            ways = self._ways[point[:2]] = self._passed(point)
        return ways[point.position]

    def _passed(self, point: Point) -> Sequence[Point | None]:
        """The sizes that a layer passes on as those of a tensor."""
        node, work, rank = self.node(point), self.inference.scope.work, self.rank(point)
        if node is None or node.op_class is None or node.type in _APART:
            return (None,) * rank
        fed = node.sources
        work.take(5 + len(fed) + rank)
        if work.is_done:
            return (None,) * rank
        found = self.formulas.passed(node, self.slots[point.graph], point.slot - node.first_slot)
        return [None if one is None else Point(point.graph, fed[int(one.port)], one.kind, one.position) for one in found]

    def _derive(self, point: Point) -> Derivation:
        fact, node = self.fact(point), self.node(point)
        if node is None:
            port = self.graphs[point.graph][0].stubs[point.slot]
            return self._recorded(point, port, f"{'the comment in' if point.kind == 'element' else 'recorded on'} input port {port.id}")
        output = point.slot - node.first_slot
        if node.op_class is None:
            if output >= len(node.layer.outputs):
                return unknown(point, f"the unknown operation {node.type} lists no such output port")
            port = node.layer.outputs[output]
            return self._recorded(point, port, f"recorded on output port {port.id} of the unknown operation {node.type}")
        type = node.type
        if node.bodies:
            return of_output(self, point, node, output)
        if type == "Parameter":
            return self._parameter(point, node, fact) if node.model.holder is None else of_parameter(self, point, node)
        if type in CONSTANTS:
            return self._constant(point, node, fact)
        if point.kind in ("axis", "element") and (point.kind == "axis" or is_known(fact)):
            return self._computed(point, node, output)
        rule: Callable[[Point, Node, Fact], Derivation] = {"type": self._type, "rank": self._rank}.get(point.kind, self._values)
        return rule(point, node, fact)

    def is_input(self, point: Point) -> bool:
        """Whether a number is a size of a model input."""
        return any(isinstance(source, FilePlace) and source.kind == "input" for _, _, source in self.derive(point).reads)

    def _recorded(self, point: Point, port: Port, text: str) -> Derivation:
        """A number that the file records; `text` names its place."""
        number = self.number_of(point)
        return Derivation(number, [(point.subject, number, FilePlace("port", text, offset=port.offset))])

    def _parameter(self, point: Point, node: Node, fact: Fact) -> Derivation:
        """A number of a model input: its shape in the file, or the shape set for this run."""
        number = self.number_of(point)
        if point.kind in ("element", "values"):
            return unknown(point, "the application supplies them at run time")
        name = "element_type" if point.kind == "type" else "shape"
        source = self.attribute(node, name)
        if name == "shape":
            is_given = node.index in self.inference.given
            source = FilePlace("input", "as set for this run") if is_given else source._replace(kind="input", text=f"attribute {name}")
        read = f"shape[{point.position}]" if point.kind == "axis" else name
        note = "any rank" if number is NOT_KNOWN else ""
        if point.kind == "axis" and isinstance(number, Dim):
            bounds = format_size(number)
            note = "any size" if bounds == "?" else f"any size in {bounds}"
        return Derivation(number, [(read, number, source)], note=note)

    def _constant(self, point: Point, node: Node, fact: Fact) -> Derivation:
        """A number of a Const: one of its attributes, or an element with its bytes in the weights."""
        number = self.number_of(point)
        layer = layer_at(self.name(point))
        if point.kind != "element":
            name = "shape" if point.kind == "axis" else "element_type"
            position = point.position if point.kind == "axis" else None
            kind = "axis" if point.kind == "axis" else "attribute"
            text = layer if point.kind == "axis" else f"element_type of {layer}"
            return Derivation(number, [(name, number, self.attribute(node, name)._replace(kind=kind, text=text, position=position))])
        op: Any = node.op
        bits = fact.element_type.bits
        begin = op.offset + point.position * bits // 8
        path = self.inference.weights.path if self.inference.weights else None
        weights = path or "the weights", begin, max(begin + 1, op.offset + -(-(point.position + 1) * bits // 8))
        return Derivation(number, [(point.subject, number, FilePlace("element", layer, node, position=point.position, bytes=weights))])

    def _computed(self, point: Point, node: Node, output: int) -> Derivation:
        """A number that the rule of the node computes; without its formula if the work of the question is done."""
        slots, work = self.slots[point.graph], self.inference.scope.work
        number, fed = self.number_of(point), node.sources
        work.take(5 + sum([len(slots[slot].shape or ()) for slot in fed if slot >= 0]) // 8)
        if work.is_done:
            return Derivation(number, [(point.subject, number, FilePlace("unknown", NOT_EXPLAINED))])
        formula = self.formulas.formula(node, slots, point.kind, output, point.position)
        work.take(8 * len(formula.reads))
        sources = [self._source(point, node, leaf.source, slots, fed) for leaf in formula.reads]
        reads = [(leaf.name, leaf.value, source) for leaf, source in zip(formula.reads, sources, strict=True)]
        if not isinstance(formula.term, Leaf | TracedOperation):
            if point.kind == "element" and len(reads) == 1 and isinstance(sources[0], Point) and is_same(formula.reads[0].value, number):
                return Derivation(number, ways=[Passage(sources[0])])
            return self._decided(point, node, number, reads)
        ways = []
        for leaf in formula.unchanged:
            source = sources[formula.reads.index(leaf)]
            if isinstance(source, Point) and source.kind != "values":
                ways.append(Passage(source, tuple([one for one in sources if isinstance(one, Point) and one is not source])))
        ways += [Passage(Point(point.graph, fed[int(twin.port)], "axis", twin.position)) for twin in formula.twins]
        return Derivation(number, reads, formula.term, ways=ways)

    def _source(self, point: Point, node: Node, origin: Origin, slots: Sequence[Fact], fed: Sequence[int]) -> Point | FilePlace:
        """The place or the point that a leaf of a formula was read from; `fed` are the tensors that the node reads."""
        kind, port, position = origin
        if kind == "unknown":
            return FilePlace("unknown", "known only at run time")
        if isinstance(port, str):
            return self.attribute(node, port)
        if fed[port] < 0:
            return _UNFED
        is_whole = kind == "element" and not is_known(slots[fed[port]])
        return Point(point.graph, fed[port], "values") if is_whole else Point(point.graph, fed[port], kind, position)

    def _decided(self, point: Point, node: Node, number: Any, reads: Sequence[Reading]) -> Derivation:
        """A number that the rule chose instead of computing it, with the numbers that decide the choice."""
        if point.kind == "element" and reads:
            return Derivation(number, reads, call=node.type)
        if not reads:
            return Derivation(number, note="the same for all sizes and values")
        settings = " and ".join(f"{name} = {number_text(one)}" for name, one, _ in reads)
        return Derivation(number, reads, note=f"because of {settings}")

    def _values(self, point: Point, node: Node, fact: Fact) -> Derivation:
        """Why the values of a tensor are unknown."""
        op, number = node.op, NOT_KNOWN
        assert op is not None
        facts = inputs_of(node, self.slots[point.graph])
        if op.propagate is None:
            return unknown(point, f"{node.type} computes them only at run time")
        for position, one in enumerate(facts):
            port = op.input_at(position, len(facts))
            if port is not None and port.index in op.demanded and not is_known(one):
                return Derivation(number, ways=[Passage(Point(point.graph, node.sources[position], "values"))])
        count = element_count(fact.shape)
        return unknown(point, "their number is not known" if count is None else f"the rule of {node.type} gives no values for these inputs")

    def _rank(self, point: Point, node: Node, fact: Fact) -> Derivation:
        """Why the rank of a tensor is unknown."""
        op, number = node.op, NOT_KNOWN
        assert op is not None
        work = self.inference.scope.work
        facts = list(enumerate(inputs_of(node, self.slots[point.graph])))
        for position, one in facts:
            port = op.input_at(position, len(facts))
            if one.shape is None and port is not None and not port.value:
                return Derivation(number, ways=[Passage(Point(point.graph, node.sources[position], "rank"))])
        reads: list[Reading] = []
        for position, one in facts:
            port, slot = op.input_at(position, len(facts)), node.sources[position]
            if port is None:
                continue
            if port.value and not is_known(one):
                kind = "rank" if one.shape is None else "values" if element_count(one.shape) is not None else "axis"
                reads.append((f"the {'number' if kind == 'axis' else 'values'} of {port.name}", number, Point(point.graph, slot, kind)))
            elif not port.value and not work.is_done:
                sizes = enumerate(one.shape or ())
                reads += [(f"{port.name}[{i}]", size, Point(point.graph, slot, "axis", i)) for i, size in sizes if isinstance(size, Dim)]
                work.take(8 * len(one.shape or ()))
        values = [read for read in reads if read[0].startswith("the ")] or reads
        cause = " and ".join(name for name, _, _ in values)
        return Derivation(number, values, note=f"the rank is lost here: it depends on {cause}" if values else "the rank is lost here")

    def _type(self, point: Point, node: Node, fact: Fact) -> Derivation:
        """The input or the attribute that gives the element type."""
        number = fact.element_type
        op = node.op
        assert op is not None
        source = self.formulas.type_source(node, self.slots[point.graph], point.slot - node.first_slot)
        if source is not None:
            return Derivation(number, ways=[Passage(Point(point.graph, node.sources[source], "type"))])
        for name, attribute in op.attributes.items():
            if getattr(op, name, None) is number and isinstance(number, ElementType):
                return Derivation(number, [(attribute.spelling, number, self.attribute(node, attribute.spelling))])
        return Derivation(number, note=f"every {node.type} has it" if number is not ElementType.dynamic else "nothing states it")


def of_output(lookup: Lookup, point: Point, node: Node, output: int) -> Derivation:
    """An output of an operation with bodies: the tensor that a Result of each body reads."""
    number = lookup.number_of(point)
    if point.kind in ("element", "values"):
        return unknown(point, f"irshape does not follow values through {node.type}")
    entries = [(body, body.outputs[output]) for body in _taken(lookup, point, node) if output < len(body.outputs)]
    results = [(body, entry, lookup.of_result(entry.result, point)) for body, entry in entries]
    known = [(body, entry, source) for body, entry, source in results if source is not None]
    if len(known) < len(results) or not known:
        return Derivation(number, note=f"no Result in the bodies of {node.type} feeds this output")
    (body, entry, source), *others = known
    if entry.slice is not None and point.kind == "axis" and _axis(entry.slice.axis, lookup.rank(point)) == point.position:
        part = _part_size(node, entry.slice, entry.offset)
        note = f"the slices of all iterations of {node.type}, concatenated"
        return Derivation(number, [*_iterations(lookup, point, node, body), part], note=note)
    if all(one.kind == point.kind and is_same(lookup.number_of(one), number) for _, _, one in known):
        return Derivation(number, ways=[Passage(source)])
    reads = [(f"{body.name}'s {entry.result.name}", lookup.number_of(one), one) for body, entry, one in known]
    note = "the branch is chosen only at run time" if others else "the size may differ between iterations"
    return Derivation(number, reads, note=note)


def of_parameter(lookup: Lookup, point: Point, node: Node) -> Derivation:
    """A Parameter of a body: the tensor that the port map feeds it."""
    number = lookup.number_of(point)
    holder = node.model.holder
    assert holder is not None
    if point.kind in ("element", "values"):
        return unknown(point, f"irshape does not follow values into the bodies of {holder.type}")
    body = next((one for one in bodies_of(holder) if one.model is node.model), None)
    entry = next((one for one in body.inputs if one.parameter is node), None) if body else None
    if body is not None and body.iteration is node:
        return Derivation(number, note=f"the iteration counter of {holder.type}")
    fed = holder.sources
    if entry is None or not 0 <= entry.external < len(fed) or fed[entry.external] < 0:
        name = "element_type" if point.kind == "type" else "shape"
        return Derivation(number, [(name, number, lookup.attribute(node, name))])
    outer = Point(lookup.number[holder.model], fed[entry.external], point.kind, point.position)
    if entry.slice is not None and point.kind == "axis" and _axis(entry.slice.axis, lookup.rank(point)) == point.position:
        note = f"one slice of input {entry.external} of {holder.type}"
        return Derivation(number, [_part_size(holder, entry.slice, entry.offset)], note=note)
    outside = lookup.fact(outer)
    if point.kind == "axis" and (outside.shape is None or len(outside.shape) != lookup.rank(point)):
        return Derivation(number, [(f"input {entry.external}", NOT_KNOWN, Point(outer.graph, outer.slot, "rank"))])
    if is_same(lookup.number_of(outer), number):
        return Derivation(number, ways=[Passage(outer)])
    reads: list[Reading] = [(f"input {entry.external}", lookup.number_of(outer), outer)]
    back = lookup.of_result(entry.back, point) if entry.back is not None else None
    if back is not None:
        reads.append((f"the tensor fed back by {entry.back.name}", lookup.number_of(back), back))  # type: ignore[union-attr]
    return Derivation(number, reads, note="the previous iteration may feed back another size" if back is not None else "")


def _taken(lookup: Lookup, point: Point, node: Node) -> list[Body]:
    """The bodies that may produce the outputs: one branch of an If whose condition is known, else all bodies."""
    bodies = bodies_of(node)
    if node.op_type != "If" or node.sources[0] < 0:
        return bodies
    elements = lookup.slots[point.graph][node.sources[0]].elements
    return [bodies[0 if elements[0] else 1]] if elements and isinstance(elements[0], int | float) else bodies


def _iterations(lookup: Lookup, point: Point, node: Node, body: Body) -> list[Reading]:
    """The number that decides how often a body runs: the trip count of a Loop, or the sliced axis of an input."""
    slots = lookup.slots[point.graph]
    if node.op_type == "Loop" and node.sources[0] >= 0:
        source = Point(point.graph, node.sources[0], "element" if is_known(slots[node.sources[0]]) else "values")
        return [("trip_count", lookup.number_of(source), source)]
    for entry in body.inputs:
        slot = node.sources[entry.external] if 0 <= entry.external < len(node.sources) else -1
        if entry.slice is not None and slot >= 0 and slots[slot].shape is not None:
            source = Point(point.graph, slot, "axis", _axis(entry.slice.axis, len(slots[slot].shape or ())))
            return [(f"the sliced axis of input {entry.external}", lookup.number_of(source), source)]
    return []


def _part_size(node: Node, slice: Slice, offset: int) -> Reading:
    return "part_size", slice.part_size, FilePlace("attribute", "part_size in the port map", node, offset=offset)


def _axis(axis: int, rank: int) -> int:
    return axis + rank if axis < 0 else axis
