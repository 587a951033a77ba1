"""Where a number comes from, one layer back: the numbers that the layer's rule reads, or the number that it passes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from irshape.answers.explain.bodies import of_output, of_parameter
from irshape.answers.explain.derivation import NOT_KNOWN, Derivation, Place, Point, Reading, Way, unknown
from irshape.answers.explain.explanation import layer_at
from irshape.answers.explain.formula import Asked, Formulas, inputs_of
from irshape.answers.explain.lookup import CONSTANTS, Lookup
from irshape.answers.explain.rule import Origin, is_known, is_same
from irshape.answers.explain.traced import Leaf, Operation, number_text
from irshape.inference.facts import Fact
from irshape.inference.inference import Inference
from irshape.model.model import Node
from irshape.ops.context import element_count
from irshape.shape.dim import Dim, format_size
from irshape.shape.element_type import ElementType
from irshape.xml.document import Port
from irshape.xml.lexical import BODIES

# What is said of a number for whose formula no work is left.
NOT_EXPLAINED: Final = "not explained, because the explanation takes more steps than the limit work allows"


class Sources(Lookup):
    """Derives each number of one inference, once."""

    def __init__(self, inference: Inference) -> None:
        super().__init__(inference)
        self.formulas = Formulas(inference.scope)
        self._derived: dict[Point, Derivation] = {}

    def is_inline(self, point: Point) -> bool:
        """Whether a constant or a port holds the number, so that the step that reads it names the place and no step of its own does."""
        node = self.node(point)
        return (node is None or node.type in CONSTANTS) and self.derive(point).term is None

    def derive(self, point: Point) -> Derivation:
        """How the layer that produces a number derives it."""
        found = self._derived.get(point)
        if found is None:
            found = self._derived[point] = self._derive(point)
        return found

    def _derive(self, point: Point) -> Derivation:
        fact, node = self.fact(point), self.node(point)
        if node is None:
            port = self.graphs[point.graph][0].stubs[point.slot]
            return self._recorded(point, port, f"{'the comment in' if point.kind == 'element' else 'recorded on'} input port {port.id}")
        output = point.slot - node.first_slot
        if node.op_class is None:
            port = node.layer.outputs[output]
            return self._recorded(point, port, f"recorded on output port {port.id} of the unknown operation {node.type}")
        if node.type in BODIES and node.bodies:
            return of_output(self, point, node, output)
        if node.type == "Parameter":
            if node.model.holder is not None:
                return of_parameter(self, point, node)
            return self._parameter(point, node, fact)
        if node.type in CONSTANTS:
            return self._constant(point, node, fact)
        if point.kind in ("axis", "element") and (point.kind == "axis" or is_known(fact)):
            return self._computed(point, node, output)
        rule: Callable[[Point, Node, Fact], Derivation] = {"type": self._type, "rank": self._rank}.get(point.kind, self._values)
        return rule(point, node, fact)

    def is_input(self, point: Point) -> bool:
        """Whether a number is a size of a model input."""
        return any(isinstance(source, Place) and source.kind == "input" for _, _, source in self.derive(point).reads)

    def _recorded(self, point: Point, port: Port, text: str) -> Derivation:
        """A number that the file records; `text` names its place."""
        number = self.number_of(point)
        return Derivation(number, [(point.subject, number, Place("port", text, offset=port.offset))])

    def _parameter(self, point: Point, node: Node, fact: Fact) -> Derivation:
        """A number of a model input: its shape in the file, or the shape set for this run."""
        number = self.number_of(point)
        if point.kind in ("element", "values"):
            return unknown(point, "the application supplies them at run time")
        name = "element_type" if point.kind == "type" else "shape"
        source = self.attribute(node, name)
        if name == "shape":
            is_given = node.index in self.inference.given
            source = Place("input", "as set for this run") if is_given else source._replace(kind="input", text=f"attribute {name}")
        read = f"shape[{point.position}]" if point.kind == "axis" else name
        note = "any rank" if number is NOT_KNOWN else ""
        if point.kind == "axis" and isinstance(number, Dim):
            bounds = format_size(number)
            note = "any size" if bounds == "?" else f"any size in {bounds}"
        return Derivation(number, [(read, number, source)], note=note)

    def _constant(self, point: Point, node: Node, fact: Fact) -> Derivation:
        """A number of a Const: one of its attributes, or an element with its bytes in the weights."""
        number = self.number_of(point)
        layer = layer_at(self.place(node))
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
        return Derivation(number, [(point.subject, number, Place("element", layer, node, position=point.position, bytes=weights))])

    def _computed(self, point: Point, node: Node, output: int) -> Derivation:
        """A number that the rule of the node computes; without its formula if the work of the question is done."""
        slots = self.graphs[point.graph][1].slots
        number = self.number_of(point)
        work = self.inference.scope.work
        work.take(5 + sum([len(slots[slot].shape or ()) for slot in node.sources if slot >= 0]) // 8)
        if work.is_done:
            return Derivation(number, [(point.subject, number, Place("unknown", NOT_EXPLAINED))])
        formula = self.formulas.formula(node, slots, Asked(point.kind, output, point.position))
        work.take(8 * len(formula.reads))
        sources = [self._source(point, node, leaf, slots) for leaf in formula.reads]
        reads = [(leaf.name, leaf.value, source) for leaf, source in zip(formula.reads, sources, strict=True)]
        if not isinstance(formula.term, Leaf | Operation):
            if point.kind == "element" and len(reads) == 1 and isinstance(sources[0], Point) and is_same(formula.reads[0].value, number):
                return Derivation(number, ways=[Way(sources[0])])
            return self._decided(point, node, number, reads)
        ways = []
        for leaf in formula.unchanged:
            source = sources[formula.reads.index(leaf)]
            if isinstance(source, Point) and source.kind != "values":
                ways.append(Way(source, tuple([one for one in sources if isinstance(one, Point) and one is not source])))
        ways += [Way(Point(point.graph, node.sources[int(twin.port)], "axis", twin.position)) for twin in formula.twins]
        return Derivation(number, reads, formula.term, ways=ways)

    def _source(self, point: Point, node: Node, leaf: Leaf, slots: Sequence[Fact]) -> Point | Place:
        """The place or the point that a leaf of a formula was read from."""
        origin: Origin = leaf.source
        if origin.kind == "unknown":
            return Place("unknown", "known only at run time")
        if isinstance(origin.port, str):
            return self.attribute(node, origin.port)
        slot = node.sources[origin.port]
        kind = "values" if origin.kind == "element" and not is_known(slots[slot]) else origin.kind
        return Point(point.graph, slot, kind, 0 if kind == "values" else origin.position)

    def _decided(self, point: Point, node: Node, number: Any, reads: Sequence[Reading]) -> Derivation:
        """A number that the rule chose instead of computing it, with the numbers that decide the choice."""
        if point.kind == "element" and reads:
            return Derivation(number, reads, call=node.type)
        if not reads:
            return Derivation(number, note="the same for all sizes and values")
        settings = " and ".join(f"{name} = {number_text(one)}" for name, one, _ in reads)
        return Derivation(number, reads, note=f"because of {settings}")

    # Values, ranks and element types.

    def _values(self, point: Point, node: Node, fact: Fact) -> Derivation:
        """Why the values of a tensor are unknown."""
        op, number = node.op, NOT_KNOWN
        assert op is not None
        facts = inputs_of(node, self.graphs[point.graph][1].slots)
        if op.propagate is None:
            return unknown(point, f"{node.type} computes them only at run time")
        for position, one in enumerate(facts):
            port = op.input_at(position, len(facts))
            if port is not None and port.index in op.demanded and not is_known(one):
                return Derivation(number, ways=[Way(Point(point.graph, node.sources[position], "values"))])
        count = element_count(fact.shape)
        return unknown(point, "their number is not known" if count is None else f"the rule of {node.type} gives no values for these inputs")

    def _rank(self, point: Point, node: Node, fact: Fact) -> Derivation:
        """Why the rank of a tensor is unknown."""
        op, number = node.op, NOT_KNOWN
        assert op is not None
        work = self.inference.scope.work
        facts = list(enumerate(inputs_of(node, self.graphs[point.graph][1].slots)))
        for position, one in facts:
            port = op.input_at(position, len(facts))
            if one.shape is None and port is not None and not port.value:
                return Derivation(number, ways=[Way(Point(point.graph, node.sources[position], "rank"))])
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
        source = self.formulas.type_source(node, self.graphs[point.graph][1].slots, point.slot - node.first_slot)
        if source is not None:
            return Derivation(number, ways=[Way(Point(point.graph, node.sources[source], "type"))])
        for name, attribute in op.attributes.items():
            if getattr(op, name, None) is number and isinstance(number, ElementType):
                return Derivation(number, [(attribute.spelling, number, self.attribute(node, attribute.spelling))])
        return Derivation(number, note=f"every {node.type} has it" if number is not ElementType.dynamic else "nothing states it")
