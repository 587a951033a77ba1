"""Find the blockers of a reshape: the layers that fail with the new shapes, and the constants at fault.

One blocker hides the next. Therefore a trial engine mends each blocker before it searches on. If a constant is at fault, it gets the value
that fits: a symbol takes its place, and the requirement of the failing layer is solved for the symbol. If no constant is at fault, the
outputs of the layer get unknown sizes. A layer that fails after that is a blocker of its own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from irshape.inference.axes import Reshaping, mixes, resized
from irshape.inference.engine import Engine
from irshape.inference.facts import Fact
from irshape.inference.inputs import Inputs
from irshape.model.build import place
from irshape.model.model import Model, Node
from irshape.report.diagnostic import ERROR, Diagnostic, Diagnostics, Where
from irshape.shape.dim import Size, evaluate, symbols
from irshape.shape.guard import Requirement
from irshape.shape.shape import format_shape
from irshape.shape.value import Element

_CONSTANTS = ("Const", "Constant")
# The most constants that are tried for one layer, and the most numbers in a constant.
_MOST_CONSTANTS = 24
_MOST_NUMBERS = 16
# How often the constants of one layer are changed: a layer behind it may change its data again.
_MOST_MENDS = 3
# The largest number that is tried as a solution.
_LARGEST = 1 << 24
# Hints at a layer that fails again with the values for later layers, and at one that fails with every value that was tried.
_UNDONE = "the values that later layers need make this layer fail again, so irshape knows no values that fit all layers"
_UNKNOWN = "irshape knows no value of a constant with which this layer would pass"


class _Pin(NamedTuple):
    """Numbers of a constant that are at fault: by position the value that would fit, of its elements or with `is_axis` of its sizes."""

    constant: Node
    is_axis: bool
    numbers: dict[int, Size]


class _Spot(NamedTuple):
    """One element of a constant, or with `is_axis` the size of one of its axes."""

    constant: Node
    is_axis: bool
    position: int


class _Source(NamedTuple):
    """A constant, and the node that reads sizes from it, if one does."""

    constant: Node
    sized: Node | None


class Substitution(NamedTuple):
    """Elements of constants with which every layer passes, by the index of the constant and by position.

    If no such elements are known, `obstacle` is the note that says why.
    """

    numbers: dict[int, dict[int, int]]
    obstacle: Diagnostic | None


def blockers(new_engine: Callable[[], Engine], failed: Engine, before: Inputs, wanted: Inputs) -> Diagnostics:
    """The diagnostics of a failed pass, with every error that the new shapes cause, and the constants at fault."""
    search = _search(new_engine, before, wanted)
    found = Diagnostics(failed.diagnostics.most)
    found += [one for one in failed.diagnostics if one.severity != ERROR or search.node(one) in search.known]
    found += search.blockers()
    return found


def substitution(new_engine: Callable[[], Engine], before: Inputs, wanted: Inputs) -> Substitution:
    """The elements to put into constants so that every layer passes with the wanted shapes, and no Reshape mixes axes.

    Axes of size 1 keep their size if that suffices.
    """
    search = _search(new_engine, before, wanted)
    obstacle = search.substitute()
    if obstacle is not None and not search.ones_grow:
        again = _search(new_engine, before, wanted)
        again.work.renew()
        again.ones_grow = True
        if again.substitute() is None:
            search, obstacle = again, None
    return Substitution({} if obstacle else search.numbers(), obstacle)


def _search(new_engine: Callable[[], Engine], before: Inputs, wanted: Inputs) -> _Search:
    """A search in a new engine that has run with the shapes before, and then with the wanted ones."""
    trial = new_engine()
    trial.run(before.question(trial))
    search = _Search(trial, wanted)
    trial.run(search.question)
    shapes = search.question.shapes
    old = {index: search.before[trial.model.nodes[index].first_slot].shape or () for index in shapes}
    pairs = {pair for index, shape in shapes.items() for pair in zip(old[index], shape or (), strict=False) if pair[0] != pair[1]}
    search.ones_grow = any(one == 1 for one, _ in pairs)
    if len(pairs) == 1 and search.ones_grow and isinstance(batch := pairs.pop()[1], int):
        search.batch = batch
    return search


def unpatched(model: Model, reason: str, node: Node | None, hint: str) -> Diagnostic:
    """The note that no constant is patched, with the layer that is the reason, if one is."""
    where = place(model.document, node.layer if node else None, node.layer.offset if node else model.document.graph.offset)
    return Diagnostic("N109", f"no constant is patched: {reason}", where, hint=hint)


class _Search:
    """The search for blockers in a trial engine that has run with the old shapes.

    Its passes answer `question` with `overrides`. `known` are the nodes whose errors are old, or already explained. `before` are the facts
    of the tensors with the old shapes. `renamed` has the new value that a number first got in a constant at fault, so that a size gets one
    new value everywhere. `patterns` has the constant pattern of each Reshape that has one, in the order of the pass. `ones_grow` says that
    axes of size 1 may get another size, and `batch` is this size if the inputs differ in nothing else, else 1. `others_that_fit` are
    constants that fit as well as the last ones that were found. Every pass takes work; when it is done, errors are reported without the
    constants at fault.
    """

    def __init__(self, trial: Engine, wanted: Inputs) -> None:
        self.trial = trial
        self.question = wanted.question(trial)
        self.overrides: dict[int, tuple[Fact, ...]] = {}
        self.before = trial.slots
        self.work = trial.scope.work
        inputs = {node.index for node in trial.model if not node.sources and node.type not in _CONSTANTS}
        self.varying = _behind(trial.model, inputs)
        self.order = {node: position for position, node in enumerate(trial.model)}
        self.offsets = [node.layer.offset for node in trial.model.nodes]
        self.known = {self.node(found) for found in trial.diagnostics if found.severity == ERROR}
        self.renamed: dict[int, int] = {}
        self.patterns = dict(self.reshapes())
        self.ones_grow = False
        self.others_that_fit: list[list[_Pin]] = []
        self.batch = 1

    def reshapes(self) -> Iterator[tuple[Node, Node]]:
        """The Reshapes that read a constant pattern, and these constants."""
        model = self.trial.model
        for node in model:
            if node.type == "Reshape" and len(node.sources) == 2 and all(0 <= slot < len(model.producers) for slot in node.sources):
                pattern = model.nodes[model.producers[node.sources[1]]]
                if pattern.type in _CONSTANTS:
                    yield node, pattern

    def node(self, found: Diagnostic) -> Node:
        """The node of the top graph that a diagnostic is about, or whose body it is about."""
        return self.trial.model.nodes[max(bisect_right(self.offsets, found.where.offset or 0) - 1, 0)]

    def errors(self) -> list[tuple[Node, Diagnostic]]:
        """The new errors of the last pass, in the order of the pass."""
        errors = [(self.node(found), found) for found in self.trial.diagnostics if found.severity == ERROR]
        return sorted(((node, found) for node, found in errors if node not in self.known), key=lambda error: self.order[error[0]])

    def blockers(self) -> Iterator[Diagnostic]:
        """The errors of the blockers, one layer after another; each layer is mended before the next is searched."""
        mended: dict[Node, list[Diagnostic]] = {}
        behind: set[int] = set()
        while errors := self.errors():
            node = errors[0][0]
            if self.work.is_done:
                yield from self.unfinished(errors)
                return
            own = [found for failing, found in errors if failing is node]
            pins = self.pins(node, len(own)) if node not in mended else []
            if pins:
                hint, places = self.blame(pins)
                self.remember(pins)
                self.overrides = self.with_pins(pins)
                self.run()
                left = {found.message for failing, found in self.errors() if failing is node}
                solved = [found for found in own if found.message not in left] or own
                for found in solved:
                    found.hint, found.related = hint, places
                yield from solved
                if not left:
                    mended[node] = solved
            else:
                # An error of a mended layer follows from a later mend. An error after a layer that no constant can mend follows from
                # that layer.
                for found in mended.get(node, ()):
                    found.hint = f"{found.hint}; {_UNDONE}"
                if node not in mended and node.index not in behind:
                    for found in own:
                        found.hint = found.hint or _UNKNOWN
                    yield from own
                self.leave_open(node)
                behind |= _behind(self.trial.model, {node.index})
                self.known.add(node)
                self.run()

    def run(self) -> None:
        """A pass of the trial."""
        self.trial.run(self.question.with_overrides(self.overrides))
        self.work.take(len(self.order) + 4 * len(self.trial.diagnostics))

    def unfinished(self, errors: Sequence[tuple[Node, Diagnostic]]) -> Iterator[Diagnostic]:
        """The errors of the first layer that is left, and the note that the search for blockers ends there."""
        node = errors[0][0]
        yield from (found for failing, found in errors if failing is node)
        message = f"blockers behind this layer are not searched, because that takes more than {self.work.most} steps (limit work)"
        yield Diagnostic("N106", message, place(self.trial.model.document, node.layer, node.layer.offset))

    def blame(self, pins: Iterable[_Pin]) -> tuple[str, tuple[Where, ...]]:
        """The hint that names the constants at fault and the values that would fit; and the places of the constants."""
        hints, places = [], []
        for constant, is_axis, numbers in pins:
            layer = constant.layer
            where = place(self.trial.model.document, layer, layer.offset)
            fact = self.fact(constant)
            present = (fact.shape if is_axis else fact.elements) or ()
            noun = ("axis" if is_axis else "element") if len(numbers) == 1 else ("axes" if is_axis else "elements")
            old, new = _listed(present[position] for position in numbers), _listed(numbers.values())
            verb = "is" if len(numbers) == 1 else "are"
            hints.append(f"{noun} {_listed(numbers)} of {layer.type} {layer.name!r} (line {where.line}) {verb} {old}, but {new} would fit")
            places.append(where)
        return "; ".join(hints), tuple(places)

    def remember(self, pins: Iterable[_Pin]) -> None:
        """Note the new value of the numbers that the pins replace, if it is one number by itself."""
        pairs: set[tuple[object, object]] = set()
        for constant, is_axis, numbers in pins:
            present = self.fact(constant)
            old = (present.shape if is_axis else present.elements) or ()
            own = set() if is_axis else {(old[position], new) for position, new in numbers.items()}
            pairs |= own if len(own) == 1 else set()
        for number, new in pairs:
            if type(number) is int and type(new) is int and number > 1:
                self.renamed.setdefault(number, new)

    # Elements to put into constants.

    def substitute(self) -> Diagnostic | None:
        """Put elements into constants until every layer passes and no Reshape mixes axes; the note that says why that fails, if it does.

        The Reshape or the failing layer that comes first is mended first, because layers behind it may follow.
        """
        model = self.trial.model
        if self.known:
            first = min(self.known, key=self.order.__getitem__)
            return unpatched(model, "the model has errors with its own shapes", first, "mend these errors first")
        mended: Counter[Node] = Counter()
        while not self.work.is_done:
            errors = self.errors()
            end = self.order[errors[0][0]] if errors else len(self.order)
            node = next((one for one in self.patterns if self.order[one] <= end and self.is_wrong(one)), errors[0][0] if errors else None)
            if node is None:
                return self.resized_constant() or self.contradiction()
            own = sum(failing is node for failing, _ in errors)
            pin = self.resizing(node) if node in self.patterns else None
            self.others_that_fit = []
            pins = [pin] if pin else self.pins(node, own) if own else []
            mended[node] += 1
            if not pins or self.others_that_fit or mended[node] > _MOST_MENDS:
                reason = f"irshape knows no elements of constants with which {node.type} {node.name!r} passes"
                if pins and self.others_that_fit:
                    ways = "; or ".join(self.blame(some)[0] for some in (pins, *self.others_that_fit[:1]))
                    reason = f"{node.type} {node.name!r} passes in several ways, and irshape cannot know which is meant: {ways}"
                elif not own:
                    reason = f"irshape knows no pattern with which Reshape {node.name!r} joins and splits the same axes as before"
                return unpatched(model, reason, node, "choose other sizes, or convert the model again with these input shapes")
            self.remember(pins)
            self.overrides = self.with_pins(pins)
            self.run()
        return unpatched(model, f"the search takes more than {self.work.most} steps (limit work)", None, "raise the limit: --limit work=N")

    def resized_constant(self) -> Diagnostic | None:
        """The note about the first constant that would need another shape; None if only elements are new."""
        for index, (now,) in sorted(self.overrides.items()):
            constant = self.trial.model.nodes[index]
            old = self.before[constant.first_slot]
            if now.shape != old.shape:
                reason = f"the shape of {constant.type} {constant.name!r} would have to change from {format_shape(old.shape)}"
                reason += f" to {format_shape(now.shape)}, and irshape cannot know the new elements"
                return unpatched(self.trial.model, reason, constant, "convert the model again with these input shapes")
        return None

    def contradiction(self) -> Diagnostic | None:
        """The note about a number that got two new values; None if every number got one. A 1 may be the number of many things."""
        model = self.trial.model
        values: dict[int, dict[int, Node]] = {}
        for index, elements in self.numbers().items():
            old = self.before[model.nodes[index].first_slot].elements or ()
            for position, new in elements.items():
                if isinstance(number := old[position], int) and number > 1:
                    values.setdefault(number, {}).setdefault(new, model.nodes[index])
        for number, (first, *others) in values.items():
            if others:
                constant = values[number][others[0]]
                reason = f"{number} would become {first} in one constant and {others[0]} in {constant.type} {constant.name!r}"
                return unpatched(model, reason, constant, "convert the model again with these input shapes")
        return None

    def numbers(self) -> dict[int, dict[int, int]]:
        """The new elements of the constants, by index and by position."""
        found: dict[int, dict[int, int]] = {}
        for index, (now,) in self.overrides.items():
            old = self.before[self.trial.model.nodes[index].first_slot].elements or ()
            pairs = enumerate(zip(old, now.elements or (), strict=True))
            found[index] = {position: new for position, (one, new) in pairs if type(new) is int and new != one}
        return found

    # Overrides of the trial.

    def with_pins(self, pins: Iterable[_Pin]) -> dict[int, tuple[Fact, ...]]:
        """The overrides of the trial, and constants with other numbers."""
        overrides = dict(self.overrides)
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
        """Override the outputs of a node: the old ranks and element types, with unknown sizes."""
        engine = self.trial
        outputs = []
        for slot in range(node.first_slot, node.first_slot + node.layer.signature.output_count):
            fact = self.before[slot]
            sizes = None if fact.shape is None else tuple(engine.scope.unknown(("open", slot, axis), 0) for axis in range(len(fact.shape)))
            outputs.append(engine.facts.intern(fact.element_type, sizes))
        self.overrides = {**self.overrides, node.index: tuple(outputs)}

    def fact(self, constant: Node) -> Fact:
        """The fact of a constant: its override, or else its fact with the old shapes."""
        overrides = self.overrides.get(constant.index)
        return overrides[0] if overrides else self.before[constant.first_slot]

    def rating(self, pins: Sequence[_Pin], node: Node, count: int) -> tuple[int, int, int, int] | None:
        """Rate the pins by a pass with them; the smallest rating is the best.

        The rating is the number of Reshapes that mix axes because of the pins, then the distance of the first error from the end, then the
        number of pins, then the number of errors. None if an earlier node fails, or if the node still has `count` errors or more.
        """
        overrides = self.overrides
        self.overrides = self.with_pins(pins)
        self.run()
        self.overrides = overrides
        errors = self.errors()
        end = len(self.order)
        reached = self.order[errors[0][0]] if errors else end
        if reached < self.order[node] or sum(failing is node for failing, _ in errors) >= count:
            return None
        pinned = {pin.constant for pin in pins}
        mixing = sum(self.mixes(reshape) for reshape, constant in self.patterns.items() if constant in pinned)
        return mixing, end - reached, sum(len(pin.numbers) for pin in pins), len(errors)

    def is_wrong(self, reshape: Node) -> bool:
        """Whether a Reshape mixes axes, or leaves the batch of its data in another axis."""
        return self.mixes(reshape) or (self.batch > 1 and self.resizing(reshape) is not None)

    # The constants at fault.

    def pins(self, node: Node, count: int) -> list[_Pin]:
        """The numbers at fault for the errors of a node; none if no constant is at fault.

        Values that numbers got in other constants come first, unless the pass gets further with others: stale patterns of Reshapes
        before the node; else the numbers with which it gets furthest.
        """
        near, far = self.constants(node)
        self.others_that_fit = []
        repeated = self.repeated([*near, *far], node, count)
        others = self.others(near, far, node, count)
        if not (repeated and others):
            return repeated or others
        here, there = self.rating(repeated, node, count), self.rating(others, node, count)
        if here and (there is None or here[:2] <= there[:2]):
            self.others_that_fit = []
            return repeated
        return others

    def others(self, near: list[_Source], far: list[_Source], node: Node, count: int) -> list[_Pin]:
        """The numbers at fault for the errors of a node, by this node alone."""
        stale = self.stale([*near, *far], node, count)
        rating = self.rating(stale, node, count) if stale else None
        if rating is not None and (rating[1] == 0 or not self.ones_grow):
            return stale
        rated = [(rating, stale)] if rating is not None else []
        for solutions in (self.solutions(node, count, near, has_axes=True), self.solutions(node, count, far, has_axes=False)):
            rated += [(rating, pins) for pins in solutions if (rating := self.rating(pins, node, count)) is not None]
            if rated:
                best = min(rating for rating, _ in rated)
                found = [pins for rating, pins in rated if rating == best]
                self.others_that_fit = found[1:]
                return found[0]
        return []

    def constants(self, node: Node) -> tuple[list[_Source], list[_Source]]:
        """The constants that a node's inputs are computed from, nearest first, in two lists.

        The first list has constants that reach the node without data of a Parameter in between; the second has other constants that layers
        on the way read sizes from.
        """
        model = self.trial.model
        near: dict[Node, _Source] = {}
        far: dict[Node, _Source] = {}
        pending: deque[tuple[Node, Node | None, bool]] = deque([(node, None, True)])
        beyond: deque[tuple[Node, Node | None, bool]] = deque()
        visited: set[tuple[int, bool, bool]] = set()
        while (pending or beyond) and len(near) + len(far) < _MOST_CONSTANTS:
            reader, sized, is_near = (pending or beyond).popleft()
            for position, slot in enumerate(reader.sources):
                if not 0 <= slot < len(model.producers):
                    continue
                producer = model.nodes[model.producers[slot]]
                port = reader.op_class.input_at(position, len(reader.sources)) if reader.op_class else None
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
                if mark not in visited:
                    visited.add(mark)
                    (pending if is_linked else beyond).append((producer, sizes, is_linked))
        return list(near.values()), [source for source in far.values() if source.constant not in near]

    def elements(self, constant: Node) -> Sequence[Element]:
        """The elements of a constant, if they are a few integers; else none."""
        elements = self.fact(constant).elements or ()
        return elements if len(elements) <= _MOST_NUMBERS and all(type(element) is int for element in elements) else ()

    def repeated(self, sources: Iterable[_Source], node: Node, count: int) -> list[_Pin]:
        """The numbers of one constant that another constant had, with the values that they got there, if the node then passes."""
        for constant, _ in sources if self.renamed else ():
            numbers: dict[int, Size] = {
                index: self.renamed[element]
                for index, element in enumerate(self.elements(constant))
                if isinstance(element, int) and element in self.renamed
            }
            if numbers and not self.work.is_done and self.rating([pin := _Pin(constant, False, numbers)], node, count) is not None:
                return [pin]
        return []

    def stale(self, sources: Iterable[_Source], node: Node, count: int) -> list[_Pin]:
        """Reshape patterns that repeat old sizes of their data; as many of the first ones as it takes for the node to pass."""
        constants = {constant for constant, _ in sources}
        pins: list[_Pin] = []
        self.run()
        for reshape, constant in self.patterns.items():
            if constant in constants and (pin := self.resizing(reshape)) is not None:
                pins.append(pin)
                if self.work.is_done:
                    return []
                if self.rating(pins, node, count) is not None:
                    return pins
        return []

    def resizing(self, reshape: Node) -> _Pin | None:
        """The numbers in the constant pattern of a Reshape that must change, so that it joins and splits the same axes as before.

        None if no number must change, or if the sizes that would fit are not clear.
        """
        constant = self.patterns[reshape]
        before, now = self.shapes(reshape, self.before), self.shapes(reshape, self.trial.slots)
        elements = self.elements(constant)
        if len(before.data) != len(now.data) or len(elements) != len(before.output):
            return None
        sizes = resized(before, now.data, self.renamed, ones_grow=self.ones_grow, batch=self.batch)
        if not sizes:  # some size is no number: the pattern may repeat the others
            pairs = enumerate(zip(elements, before.data, now.data, strict=False))
            sizes = {axis: new for axis, (element, old, new) in pairs if element == old and type(new) is int}
        copied = 0 if reshape.op is not None and getattr(reshape.op, "special_zero", False) else -1
        numbers: dict[int, Size] = {axis: new for axis, new in sizes.items() if elements[axis] not in (-1, copied, new)}
        return _Pin(constant, False, numbers) if numbers else None

    def shapes(self, reshape: Node, slots: Sequence[Fact]) -> Reshaping:
        """The shapes of the data and of the output of a Reshape; empty where unknown."""
        return Reshaping(slots[reshape.sources[0]].shape or (), slots[reshape.first_slot].shape or ())

    def mixes(self, reshape: Node) -> bool:
        """Whether a Reshape joins and splits other axes in the last pass than with the old shapes."""
        return mixes(self.shapes(reshape, self.before), self.shapes(reshape, self.trial.slots), ones_grow=self.ones_grow)

    def solutions(self, node: Node, count: int, sources: Iterable[_Source], *, has_axes: bool) -> Iterator[list[_Pin]]:
        """Numbers that fulfil the requirements on a symbol that takes their place."""
        for number, spots in self.spots([constant for constant, _ in sources], has_axes):
            symbol = self.trial.scope.unknown(("pin", *spots), 1)
            if self.work.is_done or self.rating(_filled(spots, symbol), node, count) is None:
                continue
            (name,) = symbols(symbol)
            outputs = (self.before[node.first_slot + index].shape or () for index in range(node.layer.signature.output_count))
            quotients = {size for shape in outputs for size in shape if type(size) is int and size > 0}
            demands = [requirement for requirement in self.trial.requirements if requirement.symbols() == {name}]
            values = {value for demand in demands for value in _solved(demand, name, number, quotients)}
            yield from (_filled(spots, value) for value in sorted(values - {number}))

    def spots(self, constants: Iterable[Node], has_axes: bool) -> Iterator[tuple[int, list[_Spot]]]:
        """Numbers in constants with their spots: each alone, then equal numbers in one constant, or at the same position of several."""
        single: list[tuple[int, list[_Spot]]] = []
        equal: dict[tuple[int, object, object], list[_Spot]] = {}
        for constant in constants:
            for is_axis in (False, True) if has_axes else (False,):
                numbers = (self.fact(constant).shape or ()) if is_axis else self.elements(constant)
                for position, number in enumerate(numbers):
                    if type(number) is int and number >= 0:
                        spot = _Spot(constant, is_axis, position)
                        single.append((number, [spot]))
                        equal.setdefault((number, is_axis, position), []).append(spot)
                        if not is_axis:
                            equal.setdefault((number, constant, None), []).append(spot)
        yield from single
        yield from ((key[0], spots) for key, spots in equal.items() if len(spots) > 1)


def _filled(spots: Iterable[_Spot], number: Size) -> list[_Pin]:
    """The pins that put a number at some spots."""
    numbers: dict[tuple[Node, bool], dict[int, Size]] = {}
    for constant, is_axis, position in spots:
        numbers.setdefault((constant, is_axis), {})[position] = number
    return [_Pin(constant, is_axis, own) for (constant, is_axis), own in numbers.items()]


def _listed(numbers: Iterable[object]) -> str:
    return ", ".join(map(str, numbers))


def _behind(model: Model, nodes: Iterable[int]) -> set[int]:
    """Some nodes and all nodes that depend on them."""
    found = set(nodes)
    for node in model:
        if any(0 <= slot < len(model.producers) and model.producers[slot] in found for slot in node.sources):
            found.add(node.index)
    return found


def _solved(requirement: Requirement, name: str, present: int, quotients: set[int]) -> list[int]:
    """Values of the only symbol of a requirement for which it holds as an equation.

    If the requirement is about a multiple, the quotient must be one of `quotients`, or the value is the next one above the present.
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
    except (ZeroDivisionError, OverflowError):
        return []


def _root(function: Callable[[int], int]) -> Iterator[int]:
    """The zero of a monotonic function, if it has one, by bisection."""
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
