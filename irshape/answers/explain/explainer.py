"""Why is this dim 48? The way back from a size of a port to the inputs, constants and attributes that make it, layer by layer.

What a layer hands on unchanged is passed by; what it computes is a step, with the formula of its own rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from irshape.answers.explain.derivation import NOT_KNOWN, Place, Point
from irshape.answers.explain.explanation import Explanation, Read, Step, layer_at
from irshape.answers.explain.sources import Sources
from irshape.answers.explain.target import Target
from irshape.answers.explain.traced import names, number_text, numbers, text
from irshape.answers.explain.trail import Trail
from irshape.inference.inference import Inference
from irshape.model.model import Node
from irshape.report.diagnostic import Diagnostic, Where
from irshape.shape.dim import Dim


def explain(inference: Inference, layer: str | int, port: int | None = None, axis: int | None = None) -> Explanation:
    """Why a port, or an axis of it, is what it is; the arguments are those of `Inference.explain`."""
    return Explainer(inference).explain(Target.find(inference.graphs, layer, port, axis))


def nothing(inference: Inference) -> Explanation:
    """What is said of a file without layers: what is wrong with it."""
    document = inference.document
    return Explanation(document, Where(document.path), None, None, NOT_KNOWN, None, (), (), "", inference.diagnostics)


class Explainer:
    """What explains the sizes of one inference; what was found out for one of them serves the next."""

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self.sources = Sources(inference)
        self.trail = Trail(self.sources)

    def explain(self, target: Target) -> Explanation:
        """Why a port, or an axis of it, is what it is."""
        sources, slot = self.sources, target.slot
        graph = sources.number[target.node.model]
        fact = sources.fact(Point(graph, slot, "axis"))
        where = sources.place(target.node)
        if fact.is_poisoned and fact.shape is None:
            node = self._failing(graph, slot)
            because = f"{layer_at(sources.place(node))} failed, so nothing is known of what follows from it." if node else ""
            return Explanation(
                self.inference.document, where, target.port, target.axis, NOT_KNOWN, None, (), (), because, self._faults(node)
            )
        shown, interval = f"{fact.element_type}{self.inference.format(fact.shape)}", None
        if fact.shape is None:
            points = [Point(graph, slot, "rank"), Point(graph, slot, "type")]
        elif target.axis is None:
            points = [*(Point(graph, slot, "axis", axis) for axis in range(len(fact.shape))), Point(graph, slot, "type")]
        else:
            points = [Point(graph, slot, "axis", target.axis)]
            size = fact.shape[target.axis]
            shown, interval = str(size), self.inference.format((size,))[1:-1] if isinstance(size, Dim) else None
        order = self.trail.order(points)
        number_of = {point: number for number, point in enumerate(order, 1)}
        steps = [self._step(point, number_of) for point in order]
        answers = [self._read(point.subject, sources.derive(point).value, point, number_of) for point in points]
        because = self._because(points[0], order, steps) if points[0].kind == "rank" or target.axis is not None else ""
        return Explanation(self.inference.document, where, target.port, target.axis, shown, interval, steps, answers, because, ())

    def _step(self, point: Point, number_of: dict[Point, int]) -> Step:
        derivation = self.sources.derive(point)
        how = derivation.term
        formula, values = ("", "") if how is None else (text(how, names), text(how, numbers))
        if derivation.call:
            names_of = ", ".join(name for name, _, _ in derivation.reads)
            values_of = ", ".join(number_text(one) for _, one, _ in derivation.reads)
            formula, values = f"{derivation.call}({names_of})", f"{derivation.call}({values_of})"
        reads = [self._read(*reading, number_of) for reading in derivation.reads]
        value = number_text(derivation.value)
        return Step(number_of[point], self.sources.where(point), point.subject, value, formula, values, derivation.note, reads)

    def _read(self, name: str, value: Any, source: Point | Place, number_of: dict[Point, int]) -> Read:
        """A number that is read, with where it comes from."""
        shown = number_text(value)
        if isinstance(source, Place):
            return Read(name, shown, source.kind, source.text, self.sources.at(source), position=source.position, bytes=source.bytes)
        root, passed = self.trail.root(source)
        through = [self.sources.name(point) for point in passed]
        if root in number_of:
            step = number_of[root]
            return Read(name, shown, "step", f"step {step}", self.sources.where(root), step=step, through=through)
        ((_, _, place),) = self.sources.derive(root).reads
        assert isinstance(place, Place)
        return Read(
            name, shown, place.kind, place.text, self.sources.at(place), position=place.position, through=through, bytes=place.bytes
        )

    def _because(self, asked: Point, order: Sequence[Point], steps: Sequence[Step]) -> str:
        """What it all comes from, in a sentence."""
        sources = self.sources
        if sources.is_open(asked):
            opening = [point for point in order if self._is_opening(point)]
            left = self._by_layer(point for point in opening if sources.is_input(point))
            born = self._by_layer(point for point in opening if not sources.is_input(point))
            reasons = [f"{layer} leaves {_listed(subjects)} open" for layer, subjects in left]
            return f"It is not known because {_listed([*reasons, *(f'{layer} tells it only when it runs' for layer, _ in born)])}."
        inputs = [f"{_listed(subjects)} of {layer}" for layer, subjects in self._by_layer(filter(sources.is_input, order))]
        if inputs:
            return f"It follows from {_listed(inputs)}."
        if not self.trail.is_fixed(asked):
            return ""
        pins = {read.source: None for step in steps for read in step.reads if read.kind in ("axis", "element")}
        return f"No input changes it: it is pinned by {next(iter(pins))}." if len(pins) == 1 else "No input changes it."

    def _by_layer(self, points: Iterable[Point]) -> list[tuple[str, list[str]]]:
        """What is meant of each layer."""
        found: dict[str, list[str]] = {}
        for point in points:
            found.setdefault(layer_at(self.sources.where(point)), []).append(point.subject)
        return list(found.items())

    def _is_opening(self, point: Point) -> bool:
        """Whether a number is not known although all that it comes from is."""
        reads = [source for _, _, source in self.sources.derive(point).reads if isinstance(source, Point)]
        return self.sources.is_open(point) and not any(self.sources.is_open(source) for source in reads)

    # What failed.

    def _failing(self, graph: int, slot: int) -> Node | None:
        """The first layer on the way to a tensor that has failed, or fails to be known."""
        sources = self.sources
        seen: set[tuple[int, int]] = set()
        while True:
            node = sources.node(Point(graph, slot, "axis"))
            if node is not None and node.type == "Parameter" and node.model.holder is not None:
                node = node.model.holder
                graph = sources.number[node.model]
            slots = sources.graphs[graph][1].slots
            poisoned = [] if node is None else [one for one in node.sources if one >= 0 and slots[one].is_poisoned]
            if not poisoned or (graph, slot) in seen:
                return node
            seen.add((graph, slot))
            slot = poisoned[0]

    def _faults(self, node: Node | None) -> list[Diagnostic]:
        """What is wrong with a layer, or with one in its bodies."""
        if node is None:
            return []
        begin, end = node.layer.offset, node.layer.end
        return [one for one in self.inference.diagnostics if one.where.offset is not None and begin <= one.where.offset < end]


def _listed(words: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`; each once."""
    *others, last = list(dict.fromkeys(words)) or [""]
    return f"{', '.join(others)} and {last}" if others else last
