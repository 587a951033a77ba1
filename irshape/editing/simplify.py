"""Simplification: layers go whose outputs are known, are their inputs, or reach no output, for every input that the model accepts.

The layers of the branch that an If always takes stand in its place.

No step rests on a premise, which is a condition that OpenVINO does not enforce, and none leaves OpenVINO with less knowledge of a type, a
shape or the bounds of a value. A body is simplified like the graph around it, unless a condition of this kind tells what enters the body.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import nullcontext
from math import prod
from typing import Final, NamedTuple

from irshape.editing.arrays import Data, known_data
from irshape.editing.bodies import TENSOR_NAMES, can_move, entering, inputs_of, move_out, sink, taken_branch
from irshape.editing.draft import BodyDraft, Draft, GraphDraft
from irshape.editing.facts import Facts
from irshape.editing.state import EditError, Item, Value
from irshape.inference.facts import Fact
from irshape.shape.dim import Dim, Size, are_known, bounds, eq_unasked, formula_text, is_within
from irshape.shape.element_type import ElementType
from irshape.shape.shape import Shape
from irshape.shape.value import Unreadable
from irshape.xml.lexical import BODIES

# The rules in the order in which they are applied, each with what it does.
RULES: Final = {
    "fold": "replace a layer whose values are known by a constant",
    "branch": "replace an If whose condition is known by the layers of its branch",
    "no-op": "remove a layer whose output is its first input",
    "dead": "remove a layer on which no output depends",
}

# A value with more elements is left to be computed: a constant would only be larger than the layers.
_MOST: Final = 1024
# A reason shows so many elements.
_SHOWN: Final = 8
_SOURCES: Final = ("Const", "Parameter", "Result", "ReadValue", "Assign")
# The types of shape computations. Others are folded only behind a ShapeOf, so that compressed weights stay compressed.
_COUNTS: Final = (ElementType.i64, ElementType.i32, ElementType.boolean)
# The operations that move elements: they compute no real number, and so cannot round one otherwise than OpenVINO.
_MOVING: Final = (
    "Broadcast", "Concat", "Convert", "ConvertLike", "Gather", "Reshape", "Slice", "Split", "Squeeze", "StridedSlice", "Tile", "Unsqueeze",
    "VariadicSplit",
)  # fmt: skip
# The operations whose output is their first input if it has the same type and shape; some of them only under a condition.
_SAME: Final = (
    "Broadcast", "Concat", "Convert", "ConvertLike", "Identity", "Pad", "Reshape", "Slice", "Split", "Squeeze", "StridedSlice", "Tile",
    "Transpose", "Unsqueeze", "VariadicSplit",
)  # fmt: skip


class Simplification(NamedTuple):
    """A layer that was removed: the rule, its name and type, and the reason why the model computes the same without it."""

    rule: str
    layer: str
    type: str
    reason: str

    def __str__(self) -> str:
        return f"{self.rule} {self.type} {self.layer}: {self.reason}"


def simplify(draft: Draft, only: Iterable[str] | None = None) -> list[Simplification]:
    """Simplify a draft by some rules, by default all, and return the steps.

    Raises `EditError` for an unknown rule, and if two edges lead to one input.
    """
    draft.require_single_edges()
    rules = list(RULES if only is None else only)
    for rule in rules:
        if rule not in RULES:
            raise EditError(f"there is no rule {rule!r}; there are {', '.join(RULES)}")
    with draft.state.attempt():
        return [*simplified(draft, rules)]


def simplified(draft: GraphDraft, rules: Collection[str], reached: Collection[Item] | None = None) -> Iterator[Simplification]:
    """Simplify a graph, and then the bodies in it; with `reached`, only what depends on these items."""
    dead, reach = frozenset(draft.dead()), None if reached is None else set(reached)
    is_done = False
    while not is_done:
        simplifier = _Simplifier(draft, dead, reach)
        if "fold" in rules:
            simplifier.fold()
        is_done = "branch" not in rules or not simplifier.take_branches(rules)
        if is_done and "no-op" in rules:
            simplifier.bypass()
        if is_done:
            simplifier.drop(all="dead" in rules)
        yield from simplifier.steps
    for item in draft.of_type(*BODIES):
        for name in item.held if item.op_class is not None and item not in simplifier.assuming else ():
            yield from simplified(draft.body(item, name), rules, None if reach is None else simplifier.entered(item, name))


class _Simplifier:
    """The simplification of one graph.

    `dead` are the items that were dead at first. `reach` are those on which a step must depend, None for any. `assuming` are the items
    that depend on a premise.
    """

    def __init__(self, draft: GraphDraft, dead: Collection[Item], reach: set[Item] | None) -> None:
        self.draft = draft
        self.state = draft.state
        self.steps: list[Simplification] = []
        self._dead = dead
        self._reach = reach
        self.assuming: set[Item] = set()
        if reach is not None:
            for item in self.state.in_order:
                if not reach.isdisjoint(item.producers):
                    reach.add(item)
        facts = draft.facts
        if not isinstance(facts, Facts):  # a layer that assumes nothing has no premise in its bodies
            return
        for item in self.state.in_order:
            if facts.assumes(item) or not self.assuming.isdisjoint(item.producers):
                self.assuming.add(item)

    def _is_reached(self, item: Item) -> bool:
        return self._reach is None or item in self._reach

    def _reaches(self, item: Item) -> None:
        """Let the items that depend on a new one be reached, too."""
        if self._reach is not None:
            self._reach.add(item)

    def fold(self) -> None:
        """Put constants in the place of the layers whose values are known, and of the Parameters of a body that always take one."""
        facts = self.draft.facts
        if isinstance(self.draft, BodyDraft):
            self._sink(self.draft)
        candidates = self._candidates()
        known: dict[Item, list[Data]] = {}
        values = [value for item in candidates for value in item.outputs]
        with facts.following(values) if isinstance(facts, Facts) else nullcontext():  # in a body, rules alone say what is followed
            for item in candidates:
                own = [facts.of(value) for value in item.outputs]
                data = [known_data(fact) for fact in own if not fact.elements or len(fact.elements) <= _MOST]
                if len(found := [one for one in data if one is not None]) == len(own):
                    known[item] = found
        constants = {item: self._constants(item, data, known) for item, data in known.items()}
        for item in reversed(constants):
            told = [", ".join([*map(str, one.elements[:_SHOWN]), *(["..."] if len(one.elements) > _SHOWN else [])]) for one in known[item]]
            what = "its value is" if len(told) == 1 else "its values are"
            self._say("fold", item, f"{what} {', '.join([f'[{one}]' for one in told])} for every input")
            self.draft.remove(item)
            for constant in constants[item]:
                if len(item.outputs) == 1:  # the constant has the name of the layer
                    self.state.rename(constant, item.name)
                self._reaches(constant)

    def _candidates(self) -> list[Item]:
        """The items that depend on shapes and small constants alone, and whose rules follow elements, in topological order."""
        behind_shapes: dict[Item, bool] = {}
        facts = self.draft.facts
        for item in self.state.in_order:
            sources = item.producers
            is_shape = item.type == "ShapeOf"
            if item in self._dead or item in self.assuming or not item.outputs or not computes(item):
                continue
            if not is_shape:
                if not all(source in behind_shapes or source.type == "Const" for source in sources):
                    continue
                if any(_is_large(facts.of(value)) for value in (*item.inputs, *item.outputs) if value is not None):
                    continue
            is_behind = is_shape or any(behind_shapes.get(source) for source in sources)
            if facts.of(item.outputs[0]).element_type in _COUNTS or (is_behind and item.type in _MOVING):
                behind_shapes[item] = is_behind
        return [item for item in behind_shapes if self._is_reached(item)]

    def _sink(self, body: BodyDraft) -> None:
        """Put small constants that enter a body in the place of its Parameters."""
        for parameter in body.of_type("Parameter"):
            constant = entering(body, parameter)
            if constant is None or not parameter.outputs or not self._is_reached(parameter):
                continue
            fact = body.outer.facts.of(constant.outputs[0])
            if fact.element_type in _COUNTS and not _is_large(fact):
                self._say("fold", parameter, f"it always takes the constant {constant.name}")
                self._reaches(sink(body, parameter))

    def take_branches(self, rules: Collection[str]) -> bool:
        """Put the layers of the branch that an If takes in its place, and tell whether any If is gone."""
        is_any = False
        for item in self.draft.of_type("If"):
            if item in self._dead or item in self.assuming or not self._is_reached(item) or not item.held:
                continue
            name = taken_branch(self.draft, item)
            if name is None:
                continue
            body = self.draft.body(item, name)
            self.steps += simplified(body, rules)
            if not can_move(body):
                continue
            value = "true" if name == "then_body" else "false"
            self._say("branch", item, f"its condition is {value} for every input: the layers of its {name} stand in its place")
            for one in move_out(body):
                self._reaches(one)
            is_any = True
        return is_any

    def entered(self, item: Item, name: str) -> list[Item]:
        """The Parameters of a body that take a tensor which is reached."""
        body = self.draft.body(item, name)
        taken = inputs_of(body)
        return [one for one in body.of_type("Parameter") if one.id in taken and self._is_reached(taken[one.id].item)]

    def _constants(self, item: Item, data: Sequence[Data], known: Collection[Item]) -> list[Item]:
        """Let the readers of known values that stay read constants; those of outputs that no such reader has are left out."""
        made = []
        for value, one in zip(item.outputs, data, strict=True):
            readers = [(reader, index) for reader, index in self.state.reads_of(value) if reader not in known]
            if not readers:
                continue
            new = self.draft.constant(one, f"{item.name}/folded", self.state.place_behind([item]))
            for reader, index in readers:
                self.state.connect(reader, index, new)
            if value.names:
                self.state.set_names(new, value.names)
                self.state.set_names(value, None)
            made.append(new.item)
        return made

    def bypass(self) -> None:
        """Let the readers of a layer that gives its first input read this input."""
        for item in self.state.in_order:
            is_other = item.type not in _SAME or item in self._dead or item in self.assuming or not self._is_reached(item)
            if is_other or len(item.outputs) != 1 or not item.inputs:
                continue
            source, value = item.inputs[0], item.outputs[0]
            readers = self.state.reads_of(value)
            if source is None or not readers or not self._is_same(item, source, value) or not self._keeps_names(source, readers):
                continue
            fact = self.draft.facts.of(value)
            shape = "[...]" if fact.shape is None else f"[{', '.join(map(formula_text, fact.shape))}]"
            self._say("no-op", item, f"its output is its input: {fact.element_type}{shape}, in the same order")
            self.draft.redirect(value, source)
            if value.names and not source.names and source.item.type not in _SOURCES:
                self.state.set_names(source, value.names)
            self.draft.remove(item)

    def _is_same(self, item: Item, source: Value, value: Value) -> bool:
        """Whether the output of an item is its first input, and OpenVINO knows as much of the one as of the other."""
        facts = self.draft.facts
        before, after = facts.of(source), facts.of(value)
        if before.element_type is not after.element_type or before.element_type is ElementType.dynamic:
            return False
        if not _are_equal(before.shape, after.shape) or not self._keeps_order(item):
            return False
        return _is_as_known(facts.view.of(source), facts.view.of(value))

    def _keeps_order(self, item: Item) -> bool:
        """Whether an item whose output has the shape of its first input leaves the elements where they are."""
        if item.type == "Transpose":
            elements = self._elements(item, 1)
            return elements is not None and len(elements) > 0 and elements == tuple(range(len(elements)))
        if item.type == "Pad":
            pads = [self._elements(item, index) for index in (1, 2)]
            return all(one is not None and all(isinstance(pad, int) and pad == 0 for pad in one) for one in pads)
        if item.type == "Broadcast":
            return item.attributes.get("mode", "numpy").lower() in ("numpy", "bidirectional")
        if item.type in ("Slice", "StridedSlice"):
            if any("1" in item.attributes.get(mask, "") for mask in ("new_axis_mask", "shrink_axis_mask")):
                return False
            if len(item.inputs) < 4:
                return item.type == "StridedSlice"
            steps = self._elements(item, 3)  # as many elements with a step of at least 1 are all elements
            return steps is not None and all(bounds(one)[0] >= 1 for one in steps)
        return True

    def _elements(self, item: Item, index: int) -> tuple[Size, ...] | None:
        """The integers that an input holds; None if they are not known."""
        value = item.inputs[index] if index < len(item.inputs) else None
        elements = None if value is None else self.draft.facts.of(value).elements
        if elements is None or type(elements) is Unreadable or not all(isinstance(one, int | Dim) for one in elements):
            return None
        return elements

    def _keeps_names(self, source: Value, readers: Iterable[tuple[Item, int]]) -> bool:
        """Whether inputs and outputs of the model keep their names if the readers of a tensor read its source."""
        if not any(reader.type == "Result" for reader, _ in readers):
            return True
        is_read = any(reader.type == "Result" for reader, _ in self.state.readers[source])
        by_layer = self.draft.model.document.version < TENSOR_NAMES
        return not (source.names or is_read or by_layer or source.item.type in _SOURCES)

    def drop(self, *, all: bool) -> None:
        """Remove the dead layers; without `all`, only those that have become dead."""
        for item in self.draft.dead():
            if item.type == "ReadValue" or not self.state.is_live(item) or (item in self._dead and not all):
                continue
            if self.draft.readers_of(item):  # by a dead layer that stays
                continue
            if item.type != "Const":
                self._say("dead", item, "no output and no variable depends on it")
            self.state.leave(item)

    def _say(self, rule: str, item: Item, reason: str) -> None:
        """Write a step down, before it is made."""
        self.state.note(rule, item.name, reason)
        self.steps.append(Simplification(rule, self.state.full_name(item.name), item.type, reason))


def computes(item: Item) -> bool:
    """Whether irshape follows elements through an operation that gives the same for the same inputs."""
    op_class = item.op_class
    return op_class is not None and op_class.propagate is not None and item.type not in _SOURCES


def _is_large(fact: Fact) -> bool:
    """Whether a tensor has more elements than a constant that is folded, or may have."""
    return fact.shape is None or not are_known(fact.shape) or prod(fact.shape) > _MOST


def _are_equal(shape: Shape, other: Shape) -> bool:
    """Whether two shapes are the same for every input."""
    if shape is None or other is None or len(shape) != len(other):
        return False
    return all(eq_unasked(one, two) is True for one, two in zip(shape, other, strict=True))


def _is_as_known(fact: Fact, other: Fact) -> bool:
    """Whether as much is known of a tensor as of another one with the same sizes."""
    if other.shape is not None and (fact.shape is None or not all(map(is_within, fact.shape, other.shape))):
        return False
    return other.elements is None or fact.elements == other.elements
