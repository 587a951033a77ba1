"""Where numbers come from, one layer at a time: what its rule reads, or what hands a number on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from irshape.answers.explain.bodies import of_output, of_parameter
from irshape.answers.explain.derivation import NOT_KNOWN, Derivation, Place, Point, Reading, Way, unknown
from irshape.answers.explain.explanation import layer_at
from irshape.answers.explain.formula import Asked, Formulas, inputs_of
from irshape.answers.explain.rule import Origin, is_known, is_same
from irshape.answers.explain.traced import Leaf, Operation, number_text
from irshape.inference.facts import Fact
from irshape.inference.inference import Inference
from irshape.model.bodies import BODIES
from irshape.model.build import place
from irshape.model.model import Node
from irshape.ops.context import element_count
from irshape.report.diagnostic import Where
from irshape.shape.dim import Dim, format_size
from irshape.shape.element_type import ElementType
from irshape.shape.value import Real
from irshape.xml.document import Port

_CONSTANTS: Final = ("Const", "Constant")


class Sources:
    """Where the numbers of one inference come from."""

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self.graphs = inference.graphs
        self.number = {model: number for number, (model, _) in enumerate(self.graphs)}
        self.formulas = Formulas(inference.scope)

        self._derived: dict[Point, Derivation] = {}
        self._varying: dict[int, set[int]] = {}

    # Where things are.

    def fact(self, point: Point) -> Fact:
        """What the pass found of a tensor."""
        return self.graphs[point.graph][1].slots[point.slot]

    def node(self, point: Point) -> Node | None:
        """The node that gives a tensor; None where an example's port does."""
        model = self.graphs[point.graph][0]
        return None if point.slot in model.stubs else model.nodes[model.producers[point.slot]]

    def rank(self, point: Point) -> int:
        """The number of axes of a tensor; 0 where it is not known."""
        return len(self.fact(point).shape or ())

    def of_result(self, result: Node, point: Point) -> Point | None:
        """The same of what a Result of a body takes; None if it takes nothing."""
        slot = result.sources[0] if result.sources else -1
        return Point(self.number[result.model], slot, point.kind, point.position) if slot >= 0 else None

    def place(self, node: Node, offset: int | None = None) -> Where:
        """A place in a node's layer, by default its beginning."""
        model = node.model
        return place(model.document, node.layer, node.layer.offset if offset is None else offset, path=model.path)

    def where(self, point: Point) -> Where:
        """The layer that gives a tensor."""
        node = self.node(point)
        if node is None:
            model = self.graphs[point.graph][0]
            return place(model.document, None, model.stubs[point.slot].offset)
        return self.place(node)

    def name(self, point: Point) -> Where:
        """The layer that gives a tensor, without its line: of layers that are passed by there may be thousands."""
        node = self.node(point)
        if node is None:
            return self.where(point)
        return Where(node.model.document.path, str(node.id), node.name, node.type, path=node.model.path)

    def attribute(self, node: Node, name: str) -> Place:
        """Where an attribute stands."""
        if name in node.layer.attributes and node.layer.data_offset >= 0:
            return Place("attribute", "attribute", node, name)
        return Place("default", f"default, the layer has no {name}")

    def at(self, found: Place) -> Where | None:
        """The line of a place; None if it is in no file."""
        node, offset = found.node, found.offset
        if node is None:
            return place(self.inference.document, None, offset) if offset >= 0 else None
        if found.attribute:
            offset = node.model.document.attribute_offset(node.layer.data_offset, found.attribute)
        return self.place(node, offset if offset >= 0 else None)

    def is_varying(self, graph: int, slot: int) -> bool:
        """Whether a tensor depends on anything but constants."""
        model = self.graphs[graph][0]
        if graph not in self._varying:
            varying: set[int] = set(model.stubs)
            for node in model:
                if node.type not in _CONSTANTS and (not node.sources or any(one < 0 or one in varying for one in node.sources)):
                    varying.update(range(node.first_slot, node.first_slot + len(node.layer.outputs)))
            self._varying[graph] = varying
        return slot in self._varying[graph]

    def is_inline(self, point: Point) -> bool:
        """Whether a number stands in a constant or a port, which is said where it is read."""
        node = self.node(point)
        return (node is None or node.type in _CONSTANTS) and self.derive(point).term is None

    # How a number came about.

    def derive(self, point: Point) -> Derivation:
        """How a number came about, by the layer that gives it."""
        found = self._derived.get(point)
        if found is None:
            found = self._derived[point] = self._derive(point)
        return found

    def _derive(self, point: Point) -> Derivation:
        fact, node = self.fact(point), self.node(point)
        if node is None:
            return self._recorded(point, self.graphs[point.graph][0].stubs[point.slot], "input port")
        output = point.slot - node.first_slot
        if node.op is None:
            return self._recorded(point, node.layer.outputs[output], "port of an operation that is not known")
        if node.type in BODIES and node.bodies:
            return of_output(self, point, node, output)
        if node.type == "Parameter":
            if node.model.holder is not None:
                return of_parameter(self, point, node)
            return self._parameter(point, node, fact)
        if node.type in _CONSTANTS:
            return self._constant(point, node, fact)
        if point.kind in ("axis", "element") and (point.kind == "axis" or is_known(fact)):
            return self._computed(point, node, output)
        rule: Callable[[Point, Node, Fact], Derivation] = {"type": self._type, "rank": self._rank}.get(point.kind, self._values)
        return rule(point, node, fact)

    def is_open(self, point: Point) -> bool:
        """Whether a number is not known."""
        number = self.number_of(point)
        return isinstance(number, Dim | Real) or number is NOT_KNOWN

    def is_input(self, point: Point) -> bool:
        """Whether a number is a size of an input of the model."""
        return any(isinstance(source, Place) and source.kind == "input" for _, _, source in self.derive(point).reads)

    def number_of(self, point: Point) -> Any:
        """The number itself, as the pass found it."""
        fact = self.fact(point)
        if point.kind == "axis":
            return (fact.shape or ())[point.position]
        if point.kind == "element" and is_known(fact):
            return (fact.elements or ())[point.position]
        if point.kind == "type":
            return fact.element_type
        return len(fact.shape) if point.kind == "rank" and fact.shape is not None else NOT_KNOWN

    def _recorded(self, point: Point, port: Port, what: str) -> Derivation:
        number = self.number_of(point)
        text = f"{'the comment in ' if point.kind == 'element' else ''}{what} {port.id}"
        return Derivation(number, [(point.subject, number, Place("port", text, offset=port.offset))])

    def _parameter(self, point: Point, node: Node, fact: Fact) -> Derivation:
        number = self.number_of(point)
        if point.kind in ("element", "values"):
            return unknown(point, "only who runs the model gives them")
        name = "element_type" if point.kind == "type" else "shape"
        source = self.attribute(node, name)
        if name == "shape":
            is_given = node.index in self.inference.given
            source = Place("input", "as given for this run") if is_given else source._replace(kind="input", text=f"attribute {name}")
        what = f"shape[{point.position}]" if point.kind == "axis" else name
        note = "any rank" if number is NOT_KNOWN else ""
        if point.kind == "axis" and isinstance(number, Dim):
            bounds = format_size(number)
            note = "any size" if bounds == "?" else f"any size in {bounds}"
        return Derivation(number, [(what, number, source)], note=note)

    def _constant(self, point: Point, node: Node, fact: Fact) -> Derivation:
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
        """What the rule of the node computes."""
        slots = self.graphs[point.graph][1].slots
        number = self.number_of(point)
        formula = self.formulas.formula(node, slots, Asked(point.kind, output, point.position))
        sources = [self._source(point, node, leaf, slots) for leaf in formula.reads]
        reads = [(leaf.name, leaf.value, source) for leaf, source in zip(formula.reads, sources, strict=True)]
        if not isinstance(formula.term, Leaf | Operation):
            if point.kind == "element" and len(reads) == 1 and isinstance(sources[0], Point) and is_same(formula.reads[0].value, number):
                return Derivation(number, ways=[Way(sources[0])])
            return self._told(point, node, number, reads)
        ways = []
        for leaf in formula.unchanged:
            source = sources[formula.reads.index(leaf)]
            if isinstance(source, Point) and source.kind != "values":
                ways.append(Way(source, tuple([one for one in sources if isinstance(one, Point) and one is not source])))
        ways += [Way(Point(point.graph, node.sources[int(twin.port)], "axis", twin.position)) for twin in formula.twins]
        return Derivation(number, reads, formula.term, ways=ways)

    def _source(self, point: Point, node: Node, leaf: Leaf, slots: Sequence[Fact]) -> Point | Place:
        origin: Origin = leaf.source
        if origin.kind == "unknown":
            return Place("unknown", "known only when it runs")
        if isinstance(origin.port, str):
            return self.attribute(node, origin.port)
        slot = node.sources[origin.port]
        kind = "values" if origin.kind == "element" and not is_known(slots[slot]) else origin.kind
        return Point(point.graph, slot, kind, 0 if kind == "values" else origin.position)

    def _told(self, point: Point, node: Node, number: Any, reads: Sequence[Reading]) -> Derivation:
        """A number that no arithmetic on others gave, with those that decide it."""
        if point.kind == "element" and reads:
            return Derivation(number, reads, call=node.type)
        if not reads:
            return Derivation(number, note="whatever the sizes and values are")
        settings = " and ".join(f"{name} = {number_text(one)}" for name, one, _ in reads)
        return Derivation(number, reads, note=f"because of {settings}")

    # What is not a number.

    def _values(self, point: Point, node: Node, fact: Fact) -> Derivation:
        """Where values become unknown."""
        op, number = node.op, NOT_KNOWN
        assert op is not None
        facts = inputs_of(node, self.graphs[point.graph][1].slots)
        if op.propagate is None:
            return unknown(point, f"only running {node.type} tells them")
        for position, one in enumerate(facts):
            port = op.input_at(position)
            if port is not None and port.index in op.demanded and not is_known(one):
                return Derivation(number, ways=[Way(Point(point.graph, node.sources[position], "values"))])
        count = element_count(fact.shape)
        return unknown(point, "how many there are is not known" if count is None else f"{node.type} hands on nothing of them")

    def _rank(self, point: Point, node: Node, fact: Fact) -> Derivation:
        """Where the rank became unknown."""
        op, number = node.op, NOT_KNOWN
        assert op is not None
        facts = list(enumerate(inputs_of(node, self.graphs[point.graph][1].slots)))
        for position, one in facts:
            port = op.input_at(position)
            if one.shape is None and port is not None and not port.value:
                return Derivation(number, ways=[Way(Point(point.graph, node.sources[position], "rank"))])
        reads: list[Reading] = []
        for position, one in facts:
            port, slot = op.input_at(position), node.sources[position]
            if port is None:
                continue
            if port.value and not is_known(one):
                kind = "rank" if one.shape is None else "values" if element_count(one.shape) is not None else "axis"
                reads.append((f"the {'number' if kind == 'axis' else 'values'} of {port.name}", number, Point(point.graph, slot, kind)))
            elif not port.value:
                sizes = enumerate(one.shape or ())
                reads += [(f"{port.name}[{i}]", size, Point(point.graph, slot, "axis", i)) for i, size in sizes if isinstance(size, Dim)]
        values = [read for read in reads if read[0].startswith("the ")] or reads
        what = " and ".join(name for name, _, _ in values)
        return Derivation(number, values, note=f"lost here: it depends on {what}" if values else "lost here")

    def _type(self, point: Point, node: Node, fact: Fact) -> Derivation:
        """Where an element type comes from."""
        number = fact.element_type
        op = node.op
        assert op is not None
        source = self.formulas.type_source(node, self.graphs[point.graph][1].slots, point.slot - node.first_slot)
        if source is not None:
            return Derivation(number, ways=[Way(Point(point.graph, node.sources[source], "type"))])
        for name, attribute in op.attributes.items():
            if getattr(op, name, None) is number and isinstance(number, ElementType):
                return Derivation(number, [(attribute.spelling, number, self.attribute(node, attribute.spelling))])
        return Derivation(number, note=f"the type of every {node.type}" if number is not ElementType.dynamic else "nothing says it")
