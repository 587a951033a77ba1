"""Why a model cannot have the shapes it is asked to have: every layer that stands in the way, and the constants at fault.

One blocker hides those behind it. So each is mended in a trial: a constant gets the value that fits, found by putting a symbol in
its place and solving what the failing layer then demands; where no constant is at fault, the outputs of the layer become
unknown sizes. Whatever fails after that is a blocker of its own.
"""

from __future__ import annotations

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
from irshape.report.diagnostic import ERROR, Diagnostic, Diagnostics, Where
from irshape.shape.dim import Size, evaluate, symbols
from irshape.shape.guard import Requirement
from irshape.shape.value import Element

_CONSTANTS = ("Const", "Constant")
# How many constants, and numbers in one of them, are tried for one layer.
_MOST_CONSTANTS = 24
_MOST_NUMBERS = 16
# When so many nodes have been visited, no more solutions are looked for.
_MOST_WORK = 500_000
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


def blockers(new_engine: Callable[[], Engine], failed: Engine, before: Inputs, wanted: Inputs) -> Diagnostics:
    """The diagnostics of a pass that failed, with all errors that the new shapes cause, and the constants at fault for them."""
    trial = new_engine()
    before.apply(trial)
    trial.run()
    search = _Search(trial)
    wanted.apply(trial)
    trial.run()
    found = Diagnostics(failed.diagnostics.most)
    found += [one for one in failed.diagnostics if one.severity != ERROR or search.node(one) in search.known]
    found += search.explain()
    return found


class _Search:
    """The search for blockers in a trial that has run with the shapes from before.

    `known` are the nodes whose errors are not to be looked at (any more). `before` is what was known of each tensor with the old
    shapes, `work` the number of nodes visited in search of solutions.
    """

    def __init__(self, trial: Engine) -> None:
        self.trial = trial
        self.before = trial.slots
        self.work = 0
        inputs = {node.index for node in trial.model if not node.sources and node.type not in _CONSTANTS}
        self.varying = _behind(trial.model, inputs)
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
        mended: set[Node] = set()
        behind: set[int] = set()
        while errors := self.errors():
            node = errors[0][0]
            own = [found for failing, found in errors if failing is node]
            pins = self.pins(node, len(own)) if node not in mended else []
            if pins:
                hint, places = self.blame(pins)
                self.trial.overrides = self.with_pins(pins)
                self.trial.run()
                left = {found.message for failing, found in self.errors() if failing is node}
                solved = [found for found in own if found.message not in left] or own
                for found in solved:
                    found.hint, found.related = hint, places
                yield from solved
                if not left:
                    mended.add(node)
            else:
                # What is wrong with a layer that was mended comes of what was mended since; behind a layer at odds with the inputs
                # themselves, of that.
                if node not in mended and node.index not in behind:
                    yield from own
                self.leave_open(node)
                behind |= _behind(self.trial.model, {node.index})
                self.known.add(node)
                self.trial.run()

    def blame(self, pins: Iterable[_Pin]) -> tuple[str, tuple[Where, ...]]:
        """Which constants are at fault and what would fit, and where they stand."""
        hints, places = [], []
        for constant, is_axis, numbers in pins:
            layer = constant.layer
            where = place(self.trial.model.document, layer, layer.offset)
            fact = self.fact(constant)
            present = (fact.shape if is_axis else fact.elements) or ()
            what = ("axis" if is_axis else "element") if len(numbers) == 1 else ("axes" if is_axis else "elements")
            old, new = _listed(present[position] for position in numbers), _listed(numbers.values())
            verb = "is" if len(numbers) == 1 else "are"
            hints.append(f"{what} {_listed(numbers)} of {layer.type} {layer.name!r} (line {where.line}) {verb} {old}, {new} would fit")
            places.append(where)
        return "; ".join(hints), tuple(places)

    # What is taken for granted in the trial.

    def with_pins(self, pins: Iterable[_Pin]) -> dict[int, tuple[Fact, ...]]:
        """What is taken for granted, and constants with other numbers."""
        overrides = dict(self.trial.overrides)
        for constant, is_axis, numbers in pins:
            fact = self.fact(constant)
            if is_axis:
                shape = tuple(numbers.get(axis, size) for axis, size in enumerate(fact.shape or ()))
                changed = self.trial.facts.intern(fact.element_type, shape)
            else:
                elements = tuple(numbers.get(index, element) for index, element in enumerate(fact.elements or ()))
                changed = self.trial.facts.intern(fact.element_type, fact.shape, elements)
            overrides[constant.index] = (changed,)
        return overrides

    def leave_open(self, node: Node) -> None:
        """Let the outputs of a node have the ranks and types they had, and sizes that nothing is known of."""
        engine = self.trial
        outputs = []
        for slot in range(node.first_slot, node.first_slot + node.layer.signature.output_count):
            fact = self.before[slot]
            sizes = None if fact.shape is None else tuple(engine.scope.unknown(("open", slot, axis), 0) for axis in range(len(fact.shape)))
            outputs.append(engine.facts.intern(fact.element_type, sizes))
        engine.overrides[node.index] = tuple(outputs)

    def fact(self, constant: Node) -> Fact:
        """What is known, or supposed, of a constant."""
        overrides = self.trial.overrides.get(constant.index)
        return overrides[0] if overrides else self.before[constant.first_slot]

    def rest(self, pins: Sequence[_Pin], node: Node, count: int) -> tuple[int, int, int] | None:
        """How good these numbers are, the least being the best: how far from the end the first error of a pass with them is.

        Then, the fewer numbers the better, and the fewer errors. None if an earlier node fails, or the node with `count` errors
        or more.
        """
        overrides = self.trial.overrides
        self.trial.overrides = self.with_pins(pins)
        self.trial.run()
        self.trial.overrides = overrides
        self.work += len(self.order)
        errors = self.errors()
        end = len(self.order)
        reached = self.order[errors[0][0]] if errors else end
        if reached < self.order[node] or sum(failing is node for failing, _ in errors) >= count:
            return None
        return end - reached, sum(len(pin.numbers) for pin in pins), len(errors)

    # Which constants are at fault.

    def pins(self, node: Node, count: int) -> list[_Pin]:
        """The numbers at fault for the errors of a node, or some of them.

        Patterns that have become stale before it come first; else those count with which the pass gets furthest.
        """
        near, far = self.constants(node)
        pins = self.stale([*near, *far], node, count)
        if pins:
            return pins
        for solutions in (self.solutions(node, count, near, has_axes=True), self.solutions(node, count, far, has_axes=False)):
            rated = [(rest, pins) for pins in solutions if (rest := self.rest(pins, node, count)) is not None]
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

    def stale(self, sources: Iterable[_Source], node: Node, count: int) -> list[_Pin]:
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
                if self.rest(pins, node, count) is not None:
                    return pins
        return []

    def solutions(self, node: Node, count: int, sources: Iterable[_Source], *, has_axes: bool) -> Iterator[list[_Pin]]:
        """Numbers that fulfil what is demanded once a symbol stands in their place."""
        for number, places in self.places([constant for constant, _ in sources], has_axes):
            symbol = self.trial.scope.unknown(("pin", *places), 1)
            if self.work > _MOST_WORK or self.rest(_filled(places, symbol), node, count) is None:
                continue
            (name,) = symbols(symbol)
            outputs = (self.before[node.first_slot + index].shape or () for index in range(node.layer.signature.output_count))
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


def _behind(model: Model, nodes: Iterable[int]) -> set[int]:
    """Some nodes and all that depend on them."""
    found = set(nodes)
    for node in model:
        if any(0 <= slot < len(model.producers) and model.producers[slot] in found for slot in node.sources):
            found.add(node.index)
    return found


def _solved(requirement: Requirement, name: str, present: int, quotients: set[int]) -> list[int]:
    """Values of the only symbol of a requirement for which it holds as an equation.

    Where a size is a multiple, its quotient is to be one of `quotients`, or the value the next above the present one.
    """
    a, b = requirement.a, requirement.b

    def difference(value: int, factor: int) -> int:
        return evaluate(a, {name: value}) - factor * evaluate(b, {name: value})

    try:
        if requirement.kind != "div":
            return list(_root(partial(difference, factor=1)))
        if name in symbols(b):
            return [value for quotient in quotients for value in _root(partial(difference, factor=quotient))]
        above = range(max(present, 1), max(present, 1) + min(abs(evaluate(b, {})), _LARGEST))
        return [value for value in above if requirement.holds({name: value})][:1]
    except ZeroDivisionError:
        return []


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
