"""Why a model cannot have the shapes it is asked to have: every layer that stands in the way, and the constants at fault.

One blocker hides those behind it. So each is mended in a trial: a constant gets the value that fits, found by putting a symbol in
its place and solving what the failing layer then demands; where no constant is at fault, the outputs of the layer become
unknown sizes. Whatever fails after that is a blocker of its own.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from irshape.inference.engine import Engine
from irshape.inference.facts import Fact
from irshape.inference.inputs import Inputs
from irshape.model.build import place
from irshape.model.model import Model, Node
from irshape.report.diagnostic import ERROR, Diagnostic
from irshape.shape.dim import Size, evaluate, symbols
from irshape.shape.guard import Requirement
from irshape.shape.value import Element

_CONSTANTS = ("Const", "Constant")
# How many constants, and numbers in one of them, are tried for one layer.
_MOST_CONSTANTS = 24
_MOST_NUMBERS = 16
# A number that fits is looked for below this.
_LARGEST = 1 << 24


class _Pin(NamedTuple):
    """Numbers of a constant that are at fault, by position, and what would fit: its elements, or with `is_axis` its sizes."""

    constant: Node
    is_axis: bool
    numbers: dict[int, Size]


class _Place(NamedTuple):
    """An element of a constant, or with `is_axis` the size of one of its axes."""

    constant: Node
    is_axis: bool
    position: int


class _Source(NamedTuple):
    """A constant, and the node whose sizes it gives."""

    constant: Node
    sized: Node | None


def blockers(new_engine: Callable[[], Engine], failed: Engine, before: Inputs, wanted: Inputs) -> list[Diagnostic]:
    """The diagnostics of a pass that failed, with all errors that the new shapes cause, and the constants at fault for them."""
    trial = new_engine()
    before.apply(trial)
    trial.run()
    search = _Search(trial)
    wanted.apply(trial)
    trial.run()
    kept = [found for found in failed.diagnostics if found.severity != ERROR or search.node(found) in search.known]
    return [*kept, *search.explain()]


class _Search:
    """The search for blockers in a trial that has run with the shapes from before.

    `known` are the nodes whose errors are not to be looked at (any more). `before` is what was known of each tensor with the old
    shapes.
    """

    def __init__(self, trial: Engine) -> None:
        self.trial = trial
        self.before = trial.slots
        self.varying = _varying(trial.model)
        self.order = {node: position for position, node in enumerate(trial.model)}
        self.offsets = [node.layer.offset for node in trial.model.nodes]
        self.known = {self.node(found) for found in trial.diagnostics if found.severity == ERROR}

    def node(self, found: Diagnostic) -> Node:
        """The node a diagnostic is about, or that holds the body it is about."""
        return self.trial.model.nodes[max(bisect_right(self.offsets, found.where.offset or 0) - 1, 0)]

    def errors(self) -> list[tuple[Node, Diagnostic]]:
        """The new errors of the last pass, in the order of the pass."""
        errors = [(self.node(found), found) for found in self.trial.diagnostics if found.severity == ERROR]
        return sorted(((node, found) for node, found in errors if node not in self.known), key=lambda error: self.order[error[0]])

    def explain(self) -> Iterator[Diagnostic]:
        """The errors of the layers that stand in the way, one layer after the other, each mended before the next."""
        while errors := self.errors():
            node, first = errors[0]
            pins = self.pins(node)
            if pins:
                self.blame(first, pins)
                self.suppose(pins)
            else:
                self.leave_open(node)
            self.known.add(node)
            yield from (found for failing, found in errors if failing is node)
            self.trial.run()

    def blame(self, found: Diagnostic, pins: Sequence[_Pin]) -> None:
        """Say which constants are at fault for an error, and what would fit."""
        hints = []
        for pin in pins:
            layer = pin.constant.layer
            where = place(self.trial.model.document, layer, layer.offset)
            fact = self.fact(pin.constant)
            present = (fact.shape if pin.is_axis else fact.elements) or ()
            what = ("axis" if pin.is_axis else "element") if len(pin.numbers) == 1 else ("axes" if pin.is_axis else "elements")
            old, new = _listed(present[position] for position in pin.numbers), _listed(pin.numbers.values())
            source = f"{what} {_listed(pin.numbers)} of {layer.type} {layer.name!r} (line {where.line})"
            hints.append(f"pinned to {old} by {source}; {new} would fit")
            found.related += (where,)
        found.hint = "; ".join(hints)

    # What is taken for granted in the trial.

    def suppose(self, pins: Iterable[_Pin]) -> None:
        """Let constants have other numbers."""
        for constant, is_axis, numbers in pins:
            fact = self.fact(constant)
            if is_axis:
                shape = tuple(numbers.get(axis, size) for axis, size in enumerate(fact.shape or ()))
                changed = self.trial.facts.intern(fact.element_type, shape)
            else:
                elements = tuple(numbers.get(index, element) for index, element in enumerate(fact.elements or ()))
                changed = self.trial.facts.intern(fact.element_type, fact.shape, elements)
            self.trial.supposed[constant.index] = (changed,)

    def leave_open(self, node: Node) -> None:
        """Let the outputs of a node have the ranks and types they had, and sizes that nothing is known of."""
        engine = self.trial
        outputs = []
        for slot in range(node.first_slot, node.first_slot + len(node.layer.outputs)):
            fact = self.before[slot]
            sizes = None if fact.shape is None else tuple(engine.scope.unknown(("open", slot, axis), 0) for axis in range(len(fact.shape)))
            outputs.append(engine.facts.intern(fact.element_type, sizes))
        engine.supposed[node.index] = tuple(outputs)

    def fact(self, constant: Node) -> Fact:
        """What is known, or supposed, of a constant."""
        supposed = self.trial.supposed.get(constant.index)
        return supposed[0] if supposed else self.before[constant.first_slot]

    def rest(self, pins: Iterable[_Pin], node: Node) -> tuple[int, int] | None:
        """How far from the end the first error of a pass with these numbers is, and how many there are; None if the node is not passed."""
        supposed = dict(self.trial.supposed)
        self.suppose(pins)
        self.trial.run()
        self.trial.supposed = supposed
        errors = self.errors()
        end = len(self.order)
        reached = self.order[errors[0][0]] if errors else end
        return (end - reached, len(errors)) if reached > self.order[node] else None

    # Which constants are at fault.

    def pins(self, node: Node) -> list[_Pin]:
        """The numbers at fault for an error of a node: stale patterns before it, else those with which the pass gets furthest."""
        near, far = self.constants(node)
        pins = self.stale([*near, *far], node)
        if pins:
            return pins
        for solutions in (self.solutions(node, near, has_axes=True), self.solutions(node, far, has_axes=False)):
            rated = [(rest, pins) for pins in solutions if (rest := self.rest(pins, node)) is not None]
            if rated:
                return min(rated, key=lambda one: one[0])[1]
        return []

    def constants(self, node: Node) -> tuple[list[_Source], list[_Source]]:
        """The constants that a node's inputs come from, nearest first.

        The first are those that reach it without data of a Parameter between, the others those that give sizes on the way.
        """
        model = self.trial.model
        near: dict[Node, _Source] = {}
        far: dict[Node, _Source] = {}
        pending: deque[tuple[Node, Node | None, bool]] = deque([(node, None, True)])
        beyond: deque[tuple[Node, Node | None, bool]] = deque()
        seen: set[tuple[int, bool, bool]] = set()
        while (pending or beyond) and len(near) + len(far) < _MOST_CONSTANTS:
            reader, sized, is_near = (pending or beyond).popleft()
            for position, slot in enumerate(reader.sources):
                if not 0 <= slot < len(model.producers):
                    continue
                producer = model.nodes[model.producers[slot]]
                port = reader.op_class.input_at(position) if reader.op_class else None
                sizes = sized or (reader if port is not None and port.value else None)
                if producer.type in _CONSTANTS:
                    if is_near:
                        near.setdefault(producer, _Source(producer, sizes))
                    elif sizes:
                        far.setdefault(producer, _Source(producer, sizes))
                    continue
                if producer.type == "ShapeOf":
                    sizes = None
                is_linked = is_near and (sizes is not None or producer.index not in self.varying)
                mark = producer.index, sizes is None, is_linked
                if mark not in seen:
                    seen.add(mark)
                    (pending if is_linked else beyond).append((producer, sizes, is_linked))
        return list(near.values()), [source for source in far.values() if source.constant not in near]

    def elements(self, constant: Node) -> Sequence[Element]:
        """The numbers of a constant, if they are few whole ones."""
        elements = self.fact(constant).elements or ()
        return elements if len(elements) <= _MOST_NUMBERS and all(type(element) is int for element in elements) else ()

    def stale(self, sources: Iterable[_Source], node: Node) -> list[_Pin]:
        """Patterns of Reshapes that repeat sizes which their data had, and has no more; the first ones, until the node is passed."""
        sized = [(constant, reader) for constant, reader in sources if reader is not None and reader.type == "Reshape"]
        pins: list[_Pin] = []
        self.trial.run()
        for constant, reader in sorted(sized, key=lambda source: self.order[source[1]]):
            slot = reader.sources[0]
            before, now = (slots[slot].shape or () if slot >= 0 else () for slots in (self.before, self.trial.slots))
            axes = enumerate(zip(self.elements(constant), before, now, strict=False))
            numbers: dict[int, Size] = {axis: new for axis, (element, old, new) in axes if element == old != new and type(new) is int}
            if numbers and len(before) == len(now):
                pins.append(_Pin(constant, False, numbers))
                if self.rest(pins, node) is not None:
                    return pins
        return []

    def solutions(self, node: Node, sources: Iterable[_Source], *, has_axes: bool) -> Iterator[list[_Pin]]:
        """Numbers that fulfil what is demanded once a symbol stands in their place."""
        for number, places in self.places([constant for constant, _ in sources], has_axes):
            symbol = self.trial.scope.unknown(("pin", *places), 1)
            if self.rest(_filled(places, symbol), node) is None:
                continue
            (name,) = symbols(symbol)
            outputs = (self.before[node.first_slot + index].shape or () for index in range(len(node.layer.outputs)))
            quotients = {size for shape in outputs for size in shape if type(size) is int and size > 0}
            demands = [requirement for requirement in self.trial.guards if requirement.symbols() == {name}]
            values = {value for demand in demands for value in _solved(demand, name, number, quotients)}
            yield from (_filled(places, value) for value in sorted(values - {number}))

    def places(self, constants: Iterable[Node], has_axes: bool) -> Iterator[tuple[int, list[_Place]]]:
        """Numbers in constants, and where they stand: one by one, then those that are equal in one constant, or at one place of several."""
        single: list[tuple[int, list[_Place]]] = []
        equal: dict[tuple[int, object, object], list[_Place]] = {}
        for constant in constants:
            for is_axis in (False, True) if has_axes else (False,):
                numbers = (self.fact(constant).shape or ()) if is_axis else self.elements(constant)
                for position, number in enumerate(numbers):
                    if type(number) is int and number >= 0:
                        place = _Place(constant, is_axis, position)
                        single.append((number, [place]))
                        equal.setdefault((number, is_axis, position), []).append(place)
                        if not is_axis:
                            equal.setdefault((number, constant, None), []).append(place)
        yield from single
        yield from ((key[0], places) for key, places in equal.items() if len(places) > 1)


def _filled(places: Iterable[_Place], number: Size) -> list[_Pin]:
    """The pins that put a number in some places."""
    numbers: dict[tuple[Node, bool], dict[int, Size]] = {}
    for constant, is_axis, position in places:
        numbers.setdefault((constant, is_axis), {})[position] = number
    return [_Pin(constant, is_axis, own) for (constant, is_axis), own in numbers.items()]


def _listed(numbers: Iterable[object]) -> str:
    return ", ".join(map(str, numbers))


def _varying(model: Model) -> set[int]:
    """The nodes whose outputs are not constant."""
    varying: set[int] = set()
    for node in model:
        sources = (model.producers[slot] for slot in node.sources if 0 <= slot < len(model.producers))
        if (not node.sources and node.type not in _CONSTANTS) or any(source in varying for source in sources):
            varying.add(node.index)
    return varying


def _solved(requirement: Requirement, name: str, present: int, quotients: set[int]) -> Iterator[int]:
    """Values of the only symbol of a requirement for which it holds as an equation.

    Where a size is a multiple, its quotient is to be one of `quotients`, or the value the next above the present one.
    """
    a, b = requirement.a, requirement.b

    def difference(value: int, factor: int) -> int:
        return evaluate(a, {name: value}) - factor * evaluate(b, {name: value})

    if requirement.kind != "div" or name in symbols(b):
        for factor in quotients if requirement.kind == "div" else (1,):
            yield from _root(partial(difference, factor=factor))
    else:
        divisor = abs(evaluate(b, {}))
        above = range(max(present, 1), max(present, 1) + min(divisor, _LARGEST))
        yield from [value for value in above if requirement.holds({name: value})][:1]


def _root(function: Callable[[int], int]) -> Iterator[int]:
    """Where a function that rises or falls is 0, if it is anywhere."""
    low, high = 1, _LARGEST
    sign = 1 if function(low) <= 0 else -1
    if sign * function(high) < 0:
        return
    while low < high:
        middle = (low + high) // 2
        if sign * function(middle) < 0:
            low = middle + 1
        else:
            high = middle
    if function(low) == 0:
        yield low
