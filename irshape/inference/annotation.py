"""The facts that the writer puts into the ports of the annotated IR."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from irshape.inference.facts import POISONED, Fact
from irshape.inference.inputs import AS, UNNAMED, described_shape
from irshape.inference.run import Run
from irshape.model.model import Model, Node
from irshape.shape.dim import Dim, Size, bounds, congruence, format_size, origins, symbols
from irshape.shape.element_type import ElementType
from irshape.shape.notation import SymbolRange
from irshape.shape.polynomial import NAMED
from irshape.shape.shape import Shape, format_shape
from irshape.xml.document import Layer, Port
from irshape.xml.writer import LayerFacts, PortFacts


def annotation(
    graphs: Iterable[tuple[Model, Run]],
    readings: Iterable[tuple[Model, Run]],
    given: Mapping[int, Shape],
    symbols: Mapping[str, SymbolRange],
    format: Callable[[Shape], str],
) -> dict[Layer, LayerFacts]:
    """The facts to write into each layer of the net (the first of the graphs) and of its bodies.

    `readings` are the same graphs with the runs that have the formulas. `given` are shapes of the net's Parameters, by node, that replace
    those of the file. `symbols` are the ranges of named symbols. `format` writes a shape in OpenVINO's notation.
    """
    annotator = Annotator(symbols, format)
    facts: dict[Layer, LayerFacts] = {}
    is_net = True
    for (model, run), (_, reading) in zip(graphs, readings, strict=True):
        pairs = list(zip(run.slots, reading.slots, strict=True))
        says_more = is_net and not _only_names(model, pairs)
        for node in model.nodes:
            layer = node.layer
            sources = zip(node.sources, layer.inputs, strict=True)
            inputs = [annotator.port(port, *(pairs[slot] if slot >= 0 else (POISONED, POISONED))) for slot, port in sources]
            outputs = [annotator.port(port, *pairs[node.first_slot + index]) for index, port in enumerate(layer.outputs)]
            is_given = is_net and node.index in given and not _is_declared(node, given[node.index])
            attributes = {"shape": format_shape(given[node.index]).strip("[]")} if is_given else {}
            if node.type == "Parameter":
                outputs = [annotator.input(port, pairs[node.first_slot + index], says_more) for index, port in enumerate(layer.outputs)]
            facts[layer] = LayerFacts(inputs, outputs, attributes)
        is_net = False
    return facts


def input_annotations(
    graph: tuple[Model, Run], reading: tuple[Model, Run], symbols: Mapping[str, SymbolRange], format: Callable[[Shape], str]
) -> dict[str, str]:
    """The texts for the shapes of inputs that a list of intervals does not hold, such as `[N,3] in [1..8,3]`, by the name of the input."""
    annotator = Annotator(symbols, format)
    pairs = list(zip(graph[1].slots, reading[1].slots, strict=True))
    says_more = not _only_names(graph[0], pairs)
    listed = [node for node in graph[0].parameters if node.layer.outputs]
    texts = {node.name: annotator.input(node.layer.outputs[0], pairs[node.first_slot], says_more).annotation for node in listed}
    return {name: text for name, text in texts.items() if text is not None}


def _is_declared(node: Node, shape: Shape) -> bool:
    """Whether a Parameter declares these sizes; then its text stays as it is."""
    declared = described_shape(node)
    if shape is None or declared is None:
        return False
    return [bounds(size) for size in shape] == [(size.low, size.high) for size in declared]


def _only_names(model: Model, pairs: Sequence[tuple[Fact, Fact]]) -> bool:
    """Whether the reading gives names to the sizes of Parameters, one to each, and says no more of them."""
    names: dict[Size, Size] = {}
    for node in model.parameters:
        for fact, reading in pairs[node.first_slot : node.first_slot + len(node.outputs)]:
            for size, one in zip(fact.shape or (), reading.shape or (), strict=False):
                if names.setdefault(size, one) != one or (bounds(size), congruence(size)) != (bounds(one), congruence(one)):
                    return False
    return len(set(names.values())) == len(names)


class Annotator:
    """Writes facts with the symbols and the notation of one inference."""

    def __init__(self, symbols: Mapping[str, SymbolRange], format: Callable[[Shape], str]) -> None:
        self.symbols = symbols
        self.format = format
        self._known: dict[tuple[Shape, Shape], tuple[tuple[int, ...], str | None]] = {}

    def port(self, port: Port, fact: Fact, reading: Fact) -> PortFacts:
        """The facts to write into a port, with the formulas of the `reading`; a port that depends on a failed layer keeps its own."""
        shape = fact.shape
        if fact.is_poisoned:
            return PortFacts(port.precision, port.dims, port.annotation)
        precision = port.precision if fact.element_type is ElementType.dynamic else fact.element_type.precision
        if shape is None:
            return PortFacts(precision, None)
        written = self._known.get((shape, reading.shape))
        if written is None:
            dims = tuple([size if type(size) is int else -1 for size in shape])
            written = self._known[shape, reading.shape] = dims, self.rt_info(shape, reading.shape or shape)
        return PortFacts(precision, *written)

    def rt_info(self, shape: tuple[Size, ...], reading: tuple[Size, ...]) -> str | None:
        """What dims cannot hold: `[N,(H + 1)//2] in [1..8,..112]`. A size that only the reading knows as a number is an interval."""
        dims = [size for size in shape if isinstance(size, Dim)]
        if not dims:
            return None
        intervals = self.format(shape)
        is_bounded = any(self.format((size,)) != "[?]" for size in dims)
        if any(origins(size) & NAMED and symbols(size) & self.symbols.keys() for size in reading if isinstance(size, Dim)):
            sizes = [format_size(size) if type(one) is int else str(one) for size, one in zip(shape, reading, strict=True)]
            formulas = f"[{','.join(sizes)}]"
            return f"{formulas} in {intervals}" if is_bounded else formulas
        return intervals if is_bounded else None

    def input(self, port: Port, pair: tuple[Fact, Fact], says_more: bool) -> PortFacts:
        """The facts to write into the port of a Parameter. Formulas that say more than the facts are no facts: `[?,?] as [B,B]`."""
        named = self.with_multiples(self.port(port, *pair))
        if not says_more or named.annotation is None or pair[0].is_poisoned:
            return named
        plain = self.with_multiples(self.port(port, pair[0], pair[0]))
        formulas = named.annotation.partition(" where ")[0].partition(" in ")[0]
        sizes = {str(size): self.format((size,))[1:-1] for size in pair[0].shape or ()}
        # The raw name of a size is no fact.
        facts = re.sub(rf"\b{UNNAMED}\b", lambda name: sizes.get(name[0], name[0]), plain.annotation or self.format(pair[0].shape))
        return plain if facts.startswith(formulas) else named._replace(annotation=f"{facts}{AS}{formulas}")

    def with_multiples(self, port: PortFacts) -> PortFacts:
        """The port of a Parameter with the congruences of its symbols, which intervals do not have: `[N,H] in [?,32..] where H=32*k`."""
        named = {name: self.symbols[name] for name in re.findall(r"\w+", port.annotation or "") if name in self.symbols}
        multiples = "; ".join(f"{name}={facts}" for name, facts in named.items() if facts.modulus > 1)
        return port._replace(annotation=f"{port.annotation} where {multiples}") if multiples else port
