"""Why is this size 48? The way back from a size to the inputs, constants and attributes it is computed from, layer by layer.

A layer that computes a number is a step, with the formula of its own rule. A layer that passes a number on unchanged is skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from re import fullmatch
from typing import Any, Final, NamedTuple

from irshape.answers.explain.explanation import Explanation, Read, Step, layer_at
from irshape.answers.explain.sources import NOT_KNOWN, Derivation, FilePlace, Point, Sources
from irshape.answers.explain.traced import names, number_text, numbers, text
from irshape.answers.wording import in_a_row
from irshape.inference.inference import Inference
from irshape.inference.inputs import InputError
from irshape.inference.run import Run
from irshape.model.finding import find, known_names, unknown
from irshape.model.model import Model, Node, behind
from irshape.report.diagnostic import Diagnostic, Where
from irshape.shape.dim import INT64_MAX, Dim
from irshape.xml.document import Port


class Target(NamedTuple):
    """A port of a node, by its id in the file; `slot` is its tensor, and `axis` None means the whole port."""

    node: Node
    port: int
    slot: int
    axis: int | None

    @classmethod
    def find(cls, graphs: Sequence[tuple[Model, Run]], layer: str | int, port: int | None, axis: int | None) -> Target:
        """Find a target in a model, the first of the graphs. A negative axis counts from the end. Raises InputError."""
        if not isinstance(layer, str | int):
            form = "explain(port.port.node.key, port.id) explains a port, and explain(layer.node.key) a layer"
            raise InputError(f"a layer is given by its name or its id, not by a value of the class {type(layer).__name__}; {form}")
        found = find_layer(graphs[0][0], layer)
        if found is None:
            raise InputError(unknown(str(layer), known_names(graphs[0][0])))
        node, named = found
        for what, number in (("port", port), ("axis", axis)):
            if number is not None and not (isinstance(number, int) and abs(number) <= INT64_MAX):
                raise InputError(f"the {what} of layer {node.name!r} must be an int up to {INT64_MAX}")
        record, slot = _find_port(node, named if port is None else port)
        run = next((run for model, run in graphs if model is node.model), None)
        if run is None:
            why = "because the file is not well-formed; irshape check says where"
            raise InputError(f"layer {node.name!r} is in a body that is not inferred, {why}")
        shape = run.slots[slot].shape
        if axis is not None and shape is not None and not -len(shape) <= axis < len(shape):
            axes = f"it has axes 0 to {len(shape) - 1}" if shape else "it is a scalar"
            raise InputError(f"port {record.id} of layer {node.name!r} has no axis {axis}; {axes}")
        return cls(node, record.id, slot, None if axis is None or shape is None else axis % len(shape))


def _find_port(node: Node, port: int | None) -> tuple[Port, int]:
    """A port and its tensor; by default the first output, or of a layer without outputs the first input."""
    layer = node.layer
    outputs = list(enumerate(layer.outputs, node.first_slot))
    ports = [(record, slot) for slot, record in outputs] + list(zip(layer.inputs, node.sources, strict=True))
    found = next(((record, slot) for record, slot in ports if port in (None, record.id)), None)
    if found is None:
        kinds = (("output", layer.outputs), ("input", layer.inputs))
        existing = " and ".join(f"{kind} {', '.join(str(one.id) for one in own)}" for kind, own in kinds if own)
        missing = "ports" if port is None else f"port {port}; it has {existing or 'none'}"
        raise InputError(f"layer {node.name!r} has no {missing}")
    if found[1] < 0:
        raise InputError(f"no layer feeds input port {found[0].id} of layer {node.name!r}")
    return found


def find_layer(model: Model, layer: str | int) -> tuple[Node, int | None] | None:
    """The layer that is meant, and the id of the port if its tensor is; None if there is none."""
    found = find(model, str(layer))
    if not found:
        return None
    _, node, output = found[0]
    return node, None if output is None else node.layer.outputs[output].id


def parse_target(model: Model, text: str) -> tuple[str, int | None, int | None]:
    """Layer, port and axis of `LAYER[:[PORT][:AXIS]]`. A name may hold colons: the longest name that exists is meant."""
    name = text
    numbers: list[int | None] = []
    while find_layer(model, name) is None and len(numbers) < 2:
        name, colon, number = name.rpartition(":")
        if not colon or not fullmatch(r"(-?[0-9]{1,9})?", number):
            return f"{name}{colon}{number}", None, None
        numbers.insert(0, int(number) if number else None)
    port, axis = (*numbers, None, None)[:2]
    return name, port, axis


# The count of steps stops here. It counts a shared step once for each path, so it grows exponentially.
_MANY: Final = 1 << 20
# The kinds of places whose numbers no input changes.
_FIXED: Final = ("attribute", "default", "axis", "element")


class _Route(NamedTuple):
    """The way back from a number: the number that is passed on as this one (`way`, None for a step), and how long the way is.

    `step` is the number at the end of the ways, which a layer computes. `steps` and `passed` count the layers before it. `is_fixed` says
    that no input changes the number, `is_inline` that it is a number of a constant which no step has read yet.
    """

    way: Point | None
    step: Point
    steps: int
    passed: int
    is_fixed: bool
    is_inline: bool


class Trail:
    """The ways back from the numbers of one inference. Nothing here recurses, because a way is as long as the model is deep."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._routes: dict[Point, _Route] = {}

    def order(self, points: Iterable[Point], found: dict[Point, None]) -> None:
        """Add the steps that lead to some numbers to those that are found, each once, after the steps it reads."""

        def roots(point: Point) -> list[Point]:
            reads = [self.step(source) for _, _, source in reversed(self.sources.derive(point).reads) if isinstance(source, Point)]
            return [root for root in reads if root not in found and not self.sources.is_inline(root)]

        for step in behind([step for point in points if (step := self.step(point)) not in found], roots):
            found[step] = None

    def step(self, point: Point) -> Point:
        return (self._routes.get(point) or self._route(point)).step

    def root(self, point: Point) -> tuple[Point, list[Point]]:
        """The step that computes a number, and the numbers that pass it on, the nearest to the step first."""
        chain = [point]
        while (way := self._route(chain[-1]).way) is not None:
            chain.append(way)
        return chain[-1], chain[-2::-1]

    def is_fixed(self, point: Point) -> bool:
        """Whether no input of the model changes a number."""
        return self._route(point).is_fixed

    def _route(self, point: Point) -> _Route:
        """The way back from a number, found after those from the numbers that it is computed from."""
        known = self._routes
        if point in known:
            return known[point]
        entered: set[Point] = set()
        pending: list[tuple[Point, Derivation | Point | None]] = [(point, None)]
        while pending:
            current, found = pending.pop()
            if isinstance(found, Point):
                route = known.get(found)
                if route is None or (route.is_inline and self.sources.is_varying(current.graph, current.slot)):
                    known[current] = self._routed(current, self.sources.derive(current))
                else:
                    known[current] = _Route(found, route.step, route.steps, route.passed + 1, route.is_fixed, route.is_inline)
            elif found is not None:
                known[current] = self._routed(current, found)
            else:
                while current not in known and current not in entered:
                    entered.add(current)
                    source = self.sources.passed(current)
                    if source is None:
                        derivation = self.sources.derive(current)
                        pending.append((current, derivation))
                        needed = [source for _, _, source in derivation.reads if isinstance(source, Point)]
                        needed += [way.source for way in derivation.ways]
                        # A number that is entered already depends on itself, as in a loop.
                        pending += [(one, None) for one in needed if one not in known and one not in entered]
                        break
                    pending.append((current, source))
                    current = source
        return known[point]

    def _routed(self, point: Point, derivation: Derivation) -> _Route:
        known = self._routes
        ways = [way.source for way in derivation.ways if way.source in known and self._are_fixed(way.others)] if derivation.ways else ()
        if len(ways) > 1:  # a way through data explains more than a constant that must only be compatible with the data
            ways = [way for way in ways if self.sources.is_varying(way.graph, way.slot)] or ways
        if ways:
            way = ways[0] if len(ways) == 1 else min(ways, key=lambda one: known[one][2:4])
            _, step, steps, passed, is_fixed, is_inline = known[way]
            if not (is_inline and point.kind == "axis" and self.sources.is_varying(point.graph, point.slot)):
                return _Route(way, step, steps, passed + 1, is_fixed, is_inline)
        is_inline = self.sources.is_inline(point)
        needed = [source for _, _, source in derivation.reads if isinstance(source, Point)]
        steps = sum(known[source].steps for source in needed if source in known)
        places = [source for _, _, source in derivation.reads if isinstance(source, FilePlace)]
        is_fixed = not isinstance(derivation.value, Dim | str) and all(one.kind in _FIXED for one in places) and self._are_fixed(needed)
        return _Route(None, point, min(steps + (not is_inline), _MANY), 0, is_fixed, is_inline)

    def _are_fixed(self, points: Sequence[Point]) -> bool:
        return all(point in self._routes and self._routes[point].is_fixed for point in points)


def explain(inference: Inference, layer: str | int, port: int | None = None, axis: int | None = None) -> Explanation:
    """Explain the shape of a port, or one axis of it; the arguments are those of `irshape.explain`."""
    return Explainer(inference).explain(Target.find(inference.graphs, layer, port, axis))


def unexplained(inference: Inference) -> Explanation:
    """The explanation for a file without layers: only its diagnostics."""
    document = inference.document
    return Explanation(document, Where(document.path), None, None, NOT_KNOWN, None, (), (), "", inference.diagnostics)


# The numbers of a table take at most so many times the work of one question.
_MOST_QUESTIONS: Final = 2


class Explainer:
    """Explains the sizes of one inference, and keeps what it derives for the next question."""

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self.sources = Sources(inference)
        self.trail = Trail(self.sources)

    def explain(self, target: Target) -> Explanation:
        """Explain the shape of the target's port, or one axis of it."""
        sources, slot = self.sources, target.slot
        self.inference.scope.work.renew()
        graph = sources.number[target.node.model]
        fact = sources.fact(Point(graph, slot, "axis"))
        asked = self.inference.document, sources.place(target.node), target.port, target.axis
        if fact.is_poisoned and fact.shape is None:
            node = self._failing(graph, slot)
            because = f"{layer_at(sources.place(node))} failed, so the shapes that depend on it are unknown." if node else ""
            return Explanation(*asked, NOT_KNOWN, None, (), (), because, self._faults(node))
        shown, interval = f"{fact.element_type}{self.inference.format(fact.shape)}", None
        if fact.shape is None:
            points = [Point(graph, slot, "rank"), Point(graph, slot, "type")]
        elif target.axis is None:
            points = [*(Point(graph, slot, "axis", axis) for axis in range(len(fact.shape))), Point(graph, slot, "type")]
        else:
            points = [Point(graph, slot, "axis", target.axis)]
            size = fact.shape[target.axis]
            shown, interval = str(size), self.inference.format((size,))[1:-1] if isinstance(size, Dim) else None
        order: dict[Point, None] = {}
        self.trail.order(points, order)
        number_of = {point: number for number, point in enumerate(order, 1)}
        steps = tuple([self._step(point, number_of) for point in order])
        answers = tuple([self._read(point.subject, sources.derive(point).value, point, number_of) for point in points])
        because = self._because(points[0], list(order), steps) if points[0].kind == "rank" or target.axis is not None else ""
        is_done = self.inference.scope.work.is_done
        found = [self.inference.unfinished("some numbers are not explained", target.node)] if is_done else []
        return Explanation(*asked, shown, interval, steps, answers, because, found)

    def table(self, points: Iterable[Point]) -> dict[Point, int]:
        """The steps that lead to several numbers, each once and after those it reads, with their numbers; of too many, the first."""
        order: dict[Point, None] = {}
        work, spent = self.inference.scope.work, 0
        work.renew()
        for point in points:
            if self.trail.step(point) not in order:
                self.trail.order([point], order)
            spent += work.most - work.left
            if spent < _MOST_QUESTIONS * work.most:
                work.renew()
        return {point: number for number, point in enumerate(order, 1)}

    def equation(self, derivation: Derivation) -> tuple[str, str]:
        """The formula of a number, with names and with numbers; both are empty if the number is read and not computed."""
        term, call, reads = derivation.term, derivation.call, derivation.reads
        if call:
            return f"{call}({', '.join([name for name, *_ in reads])})", f"{call}({', '.join([number_text(one) for _, one, _ in reads])})"
        return ("", "") if term is None else (text(term, names), text(term, numbers))

    def origin(self, name: str, value: str, source: Point | FilePlace, through: tuple[Where, ...] = ()) -> Read:
        """A number that a step reads from a place, or a constant from its own; `through` are the layers that pass it on."""
        place: Any = source if isinstance(source, FilePlace) else self.sources.derive(source).reads[0][2]
        return Read(name, value, place.kind, place.text, self.sources.at(place), place.position, through=through, bytes=place.bytes)

    def _step(self, point: Point, number_of: dict[Point, int]) -> Step:
        derivation, where = self.sources.derive(point), self.sources.where(point)
        reads = tuple([self._read(*reading, number_of) for reading in derivation.reads])
        value = number_text(derivation.value)
        return Step(number_of[point], where, point.subject, value, *self.equation(derivation), derivation.note, reads)

    def _read(self, name: str, value: Any, source: Point | FilePlace, number_of: dict[Point, int]) -> Read:
        """A number that a step reads, with its origin: an earlier step or a place."""
        root, passed = (source, []) if isinstance(source, FilePlace) else self.trail.root(source)
        through = tuple([self.sources.name(point) for point in passed])
        if isinstance(root, FilePlace) or root not in number_of:
            return self.origin(name, number_text(value), root, through)
        step = number_of[root]
        return Read(name, number_text(value), "step", f"step {step}", self.sources.where(root), step=step, through=through)

    def _because(self, asked: Point, order: Sequence[Point], steps: Sequence[Step]) -> str:
        """The inputs and constants that the whole chain starts from, in a sentence."""
        sources = self.sources
        if sources.is_open(asked):
            if decided := self._decided(asked):
                return decided
            opening = [point for point in order if self._is_opening(point)]
            inputs = self._by_layer(point for point in opening if sources.is_input(point))
            others = self._by_layer(point for point in opening if not sources.is_input(point))
            reasons = [f"{layer} leaves {in_a_row(subjects)} open" for layer, subjects in inputs]
            return f"It is not known because {in_a_row([*reasons, *(f'it depends on the data of {layer}' for layer, _ in others)])}."
        read = [f"{in_a_row(subjects)} of {layer}" for layer, subjects in self._by_layer(filter(sources.is_input, order))]
        if read:
            return f"It follows from {in_a_row(read)}."
        if not self.trail.is_fixed(asked):
            return ""
        pins = {read.source: None for step in steps for read in step.reads if read.kind in ("axis", "element")}
        return f"No input changes it: it is pinned by {next(iter(pins))}." if len(pins) == 1 else "No input changes it."

    def _decided(self, asked: Point) -> str:
        """The number that a layer leaves for an open size by what it demands, in a sentence; empty if it leaves several."""
        size = self.sources.number_of(asked)
        low, high = self.inference.bounds(size) if isinstance(size, Dim) else (0, 1)
        for one in self.inference.guards if low == high else ():
            if any(isinstance(side - size, int) for side in (one.requirement.a, one.requirement.b)):
                return f"No other size than {low} fits {layer_at(self.sources.place(one._node))}: {one.requirement.message}."
        return ""

    def _by_layer(self, points: Iterable[Point]) -> list[tuple[str, list[str]]]:
        """The subjects of points (`axis 2`), grouped by layer."""
        found: dict[str, dict[str, None]] = {}
        for point in points:
            found.setdefault(layer_at(self.sources.where(point)), {})[point.subject] = None
        return [(layer, [*subjects]) for layer, subjects in found.items()]

    def _is_opening(self, point: Point) -> bool:
        """Whether a number is unknown although all numbers it is computed from are known."""
        reads = [source for _, _, source in self.sources.derive(point).reads if isinstance(source, Point)]
        return self.sources.is_open(point) and not any(self.sources.is_open(source) for source in reads)

    def _failing(self, graph: int, slot: int) -> Node | None:
        """The first layer on the way to a tensor that failed, or whose output is unknown."""
        sources = self.sources
        visited: set[tuple[int, int]] = set()
        while True:
            node = sources.node(Point(graph, slot, "axis"))
            if node is not None and node.type == "Parameter" and node.model.holder is not None:
                node = node.model.holder
                graph = sources.number[node.model]
            slots = sources.graphs[graph][1].slots
            poisoned = [] if node is None else [one for one in node.sources if one >= 0 and slots[one].is_poisoned]
            if not poisoned or (graph, slot) in visited:
                return node
            visited.add((graph, slot))
            slot = poisoned[0]

    def _faults(self, node: Node | None) -> list[Diagnostic]:
        """The diagnostics of a layer and of the layers in its bodies."""
        if node is None:
            return []
        begin, end = node.layer.offset, node.layer.end
        return [one for one in self.inference.diagnostics if one.where.offset is not None and begin <= one.where.offset < end]
