"""Why a model cannot have the shapes it is asked to have: every layer that stands in the way, and the constants at fault.

One blocker hides those behind it. So each is mended in a trial: a constant gets the value that fits, found by putting a symbol in
its place and solving what the failing layer then demands; where no constant is at fault, the outputs of the layer become
unknown sizes. Whatever fails after that is a blocker of its own.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

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

_Key: TypeAlias = tuple[str, str | None]


class _Pin(NamedTuple):
    """Numbers of a constant that are at fault, by position, and what would fit: its elements, or with `is_axis` its sizes."""

    constant: Node
    is_axis: bool
    numbers: dict[int, Size]


def blockers(new_engine: Callable[[], Engine], failed: Engine, before: Inputs, wanted: Inputs) -> list[Diagnostic]:
    """The diagnostics of a pass that failed, with all errors that the new shapes cause, and the constants at fault for them."""
    trial = new_engine()
    before.apply(trial)
    trial.run()
    search = _Search(trial)
    wanted.apply(trial)
    trial.run()
    kept = [found for found in failed.diagnostics if found.severity != ERROR or _key(found) in search.known]
    return [*kept, *search.explain()]


def _key(found: Diagnostic) -> _Key:
    return found.where.path, found.where.layer_id


class _Search:
    """The search for blockers in a trial that has run with the shapes from before.

    `known` are the layers whose errors are not to be looked at (any more), `before` what was known of each tensor.
    """

    def __init__(self, trial: Engine) -> None:
        self.trial = trial
        self.before = trial.slots
        self.known = {_key(found) for found in trial.diagnostics if found.severity == ERROR}
        self.varying = _varying(trial.model)

    def errors(self) -> list[Diagnostic]:
        """The new errors of the last pass, in the order of the pass."""
        return [found for found in self.trial.diagnostics if found.severity == ERROR and _key(found) not in self.known]

    def explain(self) -> Iterator[Diagnostic]:
        """The errors of the layers that stand in the way, one layer after the other, each mended before the next."""
        while errors := self.errors():
            key = _key(errors[0])
            node = None if key[0] or key[1] is None else self.trial.model.node(int(key[1]))
            if node is not None:
                pin = self.pin(node, key)
                if pin is None:
                    self.leave_open(node)
                else:
                    self.blame(errors[0], pin)
                    self.suppose(pin)
            self.known.add(key)
            yield from (found for found in errors if _key(found) == key)
            self.trial.run()

    def blame(self, found: Diagnostic, pin: _Pin) -> None:
        """Say which constant is at fault for an error, and what would fit."""
        layer = pin.constant.layer
        where = place(self.trial.model.document, layer, layer.offset)
        fact = self.fact(pin.constant)
        present = (fact.shape if pin.is_axis else fact.elements) or ()
        what = ("axis" if pin.is_axis else "element") if len(pin.numbers) == 1 else ("axes" if pin.is_axis else "elements")
        positions, old = _listed(pin.numbers), _listed(present[position] for position in pin.numbers)
        source = f"{what} {positions} of {layer.type} {layer.name!r} (line {where.line})"
        found.hint = f"pinned to {old} by {source}; {_listed(pin.numbers.values())} would fit"
        found.related = (where,)

    # What is taken for granted in the trial.

    def suppose(self, pin: _Pin) -> None:
        """Let a constant have other numbers."""
        constant = pin.constant
        fact = self.fact(constant)
        if pin.is_axis:
            shape = tuple(pin.numbers.get(axis, size) for axis, size in enumerate(fact.shape or ()))
            changed = self.trial.facts.intern(fact.element_type, shape)
        else:
            elements = tuple(pin.numbers.get(index, element) for index, element in enumerate(fact.elements or ()))
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

    def fails_with(self, pin: _Pin, key: _Key) -> int | None:
        """How many errors a pass with these numbers gives; None if the layer is among them."""
        supposed = dict(self.trial.supposed)
        self.suppose(pin)
        self.trial.run()
        self.trial.supposed = supposed
        errors = self.errors()
        return None if any(_key(found) == key for found in errors) else len(errors)

    # Which constant is at fault.

    def pin(self, node: Node, key: _Key) -> _Pin | None:
        """The constant at fault for an error of a node: the nearest that can be mended, with the fewest errors behind it."""
        for constants, has_axes in zip(self.constants(node), (True, False), strict=True):
            found: list[tuple[int, _Pin]] = []
            for constant in constants[:_MOST_CONSTANTS]:
                for pin in self.candidates(node, key, constant, has_axes):
                    count = self.fails_with(pin, key)
                    if count is not None:
                        found.append((count, pin))
            if found:
                return min(found, key=lambda one: one[0])[1]
        return None

    def constants(self, node: Node) -> tuple[list[Node], list[Node]]:
        """The constants that a node's inputs come from, nearest first: those that reach it without data from an input of the model
        between, and the others, if they give sizes on the way.
        """
        model = self.trial.model
        near: dict[Node, None] = {}
        far: dict[Node, None] = {}
        pending = deque([(node, False, True)])
        beyond: deque[tuple[Node, bool, bool]] = deque()
        seen: set[tuple[int, bool, bool]] = set()
        while pending or beyond:
            reader, reads_sizes, is_near = (pending or beyond).popleft()
            for position, slot in enumerate(reader.sources):
                port = reader.op_class.input_at(position) if reader.op_class else None
                if not 0 <= slot < len(model.producers):
                    continue
                producer = model.nodes[model.producers[slot]]
                gives_sizes = reads_sizes or (port is not None and port.value)
                if producer.type in _CONSTANTS:
                    if is_near:
                        near[producer] = None
                    elif gives_sizes:
                        far[producer] = None
                    continue
                is_linked = is_near and (producer.index not in self.varying or (gives_sizes and producer.type != "ShapeOf"))
                step = producer, gives_sizes and producer.type != "ShapeOf", is_linked
                if (producer.index, *step[1:]) not in seen and len(far) < _MOST_CONSTANTS:
                    seen.add((producer.index, *step[1:]))
                    (pending if is_linked else beyond).append(step)
        return list(near), [constant for constant in far if constant not in near]

    def candidates(self, node: Node, key: _Key, constant: Node, has_axes: bool) -> Iterator[_Pin]:
        """Numbers of a constant that may fit."""
        fact = self.fact(constant)
        elements = fact.elements or ()
        if elements and len(elements) <= _MOST_NUMBERS and all(type(element) is int for element in elements):
            together = self.corresponding(node, elements)
            if together:
                yield _Pin(constant, False, together)
            for index in range(len(elements)):
                yield from self.solutions(node, key, constant, False, index)
        if has_axes:
            for axis in range(len(fact.shape or ())):
                yield from self.solutions(node, key, constant, True, axis)

    def corresponding(self, node: Node, elements: Sequence[Element]) -> dict[int, Size]:
        """The elements that were sizes of an input of the node, with what these sizes are now."""
        for slot in node.sources:
            before, now = (slots[slot].shape if slot >= 0 else None for slots in (self.before, self.trial.slots))
            if before is None or now is None or len(before) != len(now) or before == now:
                continue
            pairs = list(zip(before, now, strict=True))
            changed: dict[int, Size] = {}
            for index, element in enumerate(elements):
                pair = next((pair for pair in pairs if pair[0] == element), None)
                if pair is not None:
                    pairs.remove(pair)
                    if type(pair[1]) is int and pair[1] != element:
                        changed[index] = pair[1]
            if changed:
                return changed
        return {}

    def solutions(self, node: Node, key: _Key, constant: Node, is_axis: bool, position: int) -> Iterator[_Pin]:
        """Numbers for one place of a constant that fulfil what is demanded once a symbol stands there."""
        fact = self.fact(constant)
        present = ((fact.shape if is_axis else fact.elements) or ())[position]
        if type(present) is not int:
            return
        symbol = self.trial.scope.unknown(("pin", constant.index, is_axis, position), 1)
        if self.fails_with(_Pin(constant, is_axis, {position: symbol}), key) is None:
            return
        (name,) = symbols(symbol)
        outputs = [self.before[node.first_slot + index].shape or () for index in range(len(node.layer.outputs))]
        quotients = {size for shape in outputs for size in shape if type(size) is int and size > 0}
        values = {
            value
            for requirement in self.trial.guards
            if requirement.symbols() == {name}
            for value in _solved(requirement, name, present, quotients)
        }
        for value in sorted(values - {present}):
            yield _Pin(constant, is_axis, {position: value})


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
