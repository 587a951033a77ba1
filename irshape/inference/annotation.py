"""The facts that the writer puts into the ports of the annotated IR."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from irshape.inference.facts import POISONED, Fact
from irshape.inference.run import Run
from irshape.model.model import Model
from irshape.shape.dim import Dim, Size, origins, symbols
from irshape.shape.element_type import ElementType
from irshape.shape.notation import SymbolRange
from irshape.shape.polynomial import NAMED
from irshape.shape.shape import Shape, format_shape, format_symbolic
from irshape.xml.document import Layer, Port
from irshape.xml.writer import LayerFacts, PortFacts


def annotation(
    graphs: Iterable[tuple[Model, Run]],
    given: Mapping[int, Shape],
    symbols: Mapping[str, SymbolRange],
    format: Callable[[Shape], str],
) -> dict[Layer, LayerFacts]:
    """The facts to write into each layer of the net (the first of the graphs) and of its bodies.

    `given` are shapes of the net's Parameters, by node, that replace those of the file. `symbols` are the ranges of named symbols. `format`
    writes a shape in OpenVINO's notation.
    """
    annotator = _Annotator(symbols, format)
    facts: dict[Layer, LayerFacts] = {}
    for model, run in graphs:
        slots = run.slots
        for node in model.nodes:
            layer = node.layer
            sources = zip(node.sources, layer.inputs, strict=True)
            inputs = [annotator.port(port, slots[slot] if slot >= 0 else POISONED) for slot, port in sources]
            outputs = [annotator.port(port, slots[node.first_slot + index]) for index, port in enumerate(layer.outputs)]
            attributes = {"shape": format_shape(given[node.index]).strip("[]")} if node.index in given else {}
            if node.type == "Parameter":
                outputs = [annotator.with_multiples(port) for port in outputs]
            facts[layer] = LayerFacts(inputs, outputs, attributes)
        given = {}
    return facts


def input_annotations(model: Model, run: Run, symbols: Mapping[str, SymbolRange], format: Callable[[Shape], str]) -> dict[str, str]:
    """The texts for the shapes of inputs that a list of intervals does not hold, such as `[N,3] in [1..8,3]`, by the name of the input."""
    annotator = _Annotator(symbols, format)
    facts = (
        (node.name, annotator.with_multiples(annotator.port(node.layer.outputs[0], run.slots[node.first_slot])))
        for node in model.parameters
        if node.layer.outputs
    )
    return {name: port.annotation for name, port in facts if port.annotation is not None}


class _Annotator:
    """Writes facts with the symbols and the notation of one inference."""

    def __init__(self, symbols: Mapping[str, SymbolRange], format: Callable[[Shape], str]) -> None:
        self.symbols = symbols
        self.format = format
        self._known: dict[tuple[Size, ...], tuple[tuple[int, ...], str | None]] = {}

    def port(self, port: Port, fact: Fact) -> PortFacts:
        """The facts to write into a port; a port that depends on a failed layer keeps its own."""
        shape = fact.shape
        if fact.is_poisoned:
            return PortFacts(port.precision, port.dims, port.annotation)
        precision = port.precision if fact.element_type is ElementType.dynamic else fact.element_type.precision
        if shape is None:
            return PortFacts(precision, None)
        written = self._known.get(shape)
        if written is None:
            written = self._known[shape] = tuple([size if type(size) is int else -1 for size in shape]), self.rt_info(shape)
        return PortFacts(precision, *written)

    def rt_info(self, shape: tuple[Size, ...]) -> str | None:
        """The formulas and intervals that dims cannot hold, for the port's <rt_info>: `[N,(H + 1)//2] in [1..8,..112]`."""
        dims = [size for size in shape if isinstance(size, Dim)]
        if not dims:
            return None
        intervals = self.format(shape)
        is_bounded = any(self.format((size,)) != "[?]" for size in dims)
        if any(origins(size) & NAMED and symbols(size) & self.symbols.keys() for size in dims):
            formulas = format_symbolic(shape)
            return f"{formulas} in {intervals}" if is_bounded else formulas
        return intervals if is_bounded else None

    def with_multiples(self, port: PortFacts) -> PortFacts:
        """The port of a Parameter with the congruences of its symbols, which intervals do not have: `[N,H] in [?,32..] where H=32*k`."""
        named = {name: self.symbols[name] for name in re.findall(r"\w+", port.annotation or "") if name in self.symbols}
        multiples = "; ".join(f"{name}={facts}" for name, facts in named.items() if facts.modulus > 1)
        return port._replace(annotation=f"{port.annotation} where {multiples}") if multiples else port
