"""Reduction: the smallest part of a model on which a fault shows, by delta debugging.

First layers go: the shortest prefix of the order that shows the fault ends with a layer that is needed, then only the layers before it
stay, then those near it, then chunks are left out down to single layers. Each part is a model that OpenVINO reads, with the shapes of the
whole. Then the changes of `shrinking.py` are tried until none of them is possible any more, so no single layer can be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

from irshape.diagnosis.recorded import dims_text
from irshape.editing.arrays import Data
from irshape.editing.bodies import add_input, can_move, leave, move_out
from irshape.editing.draft import BodyDraft, Draft, GraphDraft, layer_count
from irshape.editing.extract import extract
from irshape.editing.layers import layer_of
from irshape.editing.state import EditError, Item, Value
from irshape.editing.trial import Candidate, CandidateJudge, candidate_of, content_of
from irshape.inference.facts import Fact
from irshape.report.text import counted
from irshape.shape.dim import are_known, bounds
from irshape.shape.element_type import ElementType
from irshape.shape.shape import format_shape
from irshape.xml.lexical import BODIES
from irshape.xml.weights import WeightsError

Changes: TypeAlias = "Iterable[Callable[[], object]]"

BORDER: Final = ("Const", "Parameter", "Result")
# Integers of a constant with no more elements may be sizes.
_MOST_SIZES: Final = 64
# The simplest element of attributes without a default.
_SIMPLEST: Final = {"strides": 1, "dilations": 1, "pads_begin": 0, "pads_end": 0}


def _items(draft: GraphDraft, *types: str) -> list[Item]:
    """The items of some types, or without types those that are no constants, inputs or outputs, in topological order.

    A Parameter or a Const without an output, which only a broken file has, is left out.
    """
    chosen = (item for item in draft.state.in_order if (item.type in types if types else item.type not in BORDER))
    return [item for item in chosen if item.outputs or item.type not in ("Parameter", "Const")]


def _graphs(draft: GraphDraft) -> Iterator[GraphDraft]:
    yield draft
    for item in draft.of_type(*BODIES):
        for name in item.held:
            yield from _graphs(draft.body(item, name))


def _cleared(draft: GraphDraft) -> None:
    """Remove what nothing depends on, around a body, too."""
    variables = {item.attributes.get("variable_id") for item in _items(draft, "ReadValue")}
    for item in _items(draft, "Assign"):
        if item.attributes.get("variable_id") not in variables:
            draft.state.leave(item)
    for item in draft.dead():
        draft.state.leave(item)
    for item in _items(draft, "Parameter"):
        if not draft.readers_of(item):
            if isinstance(draft, BodyDraft):
                leave(draft, item)
            draft.state.leave(item)
    if isinstance(draft, BodyDraft):
        _cleared(draft.outer)


def outputs(draft: GraphDraft) -> Changes:
    """Outputs go, with the layers that only they need; one stays."""
    results = _items(draft, "Result")
    for item in results if len(results) > 1 or isinstance(draft, BodyDraft) else ():
        yield partial(_without_output, draft, item)


def _without_output(draft: GraphDraft, item: Item) -> None:
    if isinstance(draft, BodyDraft):
        leave(draft, item)
    draft.state.leave(item)
    _cleared(draft)


def cut(draft: GraphDraft) -> Changes:
    """Inputs stand for the outputs of a layer."""
    is_body = isinstance(draft, BodyDraft)
    for item in reversed(_items(draft)):
        if any(is_body or reader.type != "Result" for reader, _ in draft.readers_of(item)):
            yield partial(_cut, draft, item)


def _cut(draft: GraphDraft, item: Item) -> None:
    for value in item.outputs:
        fact = draft.facts.view.of(value)
        for reader, _ in draft.state.reads_of(value) if not isinstance(draft, BodyDraft) else ():
            if reader.type == "Result":
                draft.state.leave(reader)
        if draft.state.readers.get(value):
            draft.redirect(value, _entering(draft, fact, item.name))
    draft.remove(item)
    _cleared(draft)


def _entering(draft: GraphDraft, fact: Fact, name: str) -> Value:
    """A new input with what OpenVINO knows of a tensor, handed on to a body by the layers around it."""
    if isinstance(draft, BodyDraft):
        return add_input(draft, _entering(draft.outer, fact, name), name, {}).outputs[0]
    return draft.parameter(name, fact.shape, fact.element_type).outputs[0]


def bypass(draft: GraphDraft) -> Changes:
    """The readers of a layer read an input of the same element type."""
    for item in reversed(_items(draft)):
        if len(item.outputs) == 1 and draft.readers_of(item):
            element_type = draft.facts.of(item.outputs[0]).element_type
            for source in dict.fromkeys(item.inputs):
                if source is not None and source.item.type != "Const" and draft.facts.of(source).element_type is element_type:
                    yield partial(_bypass, draft, item, source)


def _bypass(draft: GraphDraft, item: Item, source: Value) -> None:
    draft.redirect(item.outputs[0], source)
    draft.remove(item)
    _cleared(draft)


def inputs(draft: GraphDraft) -> Changes:
    """Inputs go that nothing reads."""
    yield partial(_cleared, draft)


def branches(draft: GraphDraft) -> Changes:
    """A branch stands in the place of its If."""
    for item in _items(draft, "If"):
        for name in item.held:
            yield partial(_inline, draft, draft.body(item, name))


def _inline(draft: GraphDraft, body: BodyDraft) -> None:
    if not can_move(body):
        raise EditError("an output of the body is fed by nothing")
    move_out(body)
    _cleared(draft)


def dynamic(draft: GraphDraft) -> Changes:
    """Open axes of inputs become numbers: all of them, then one after the other."""
    for number in (1, 2, 4):
        yield partial(_fix, draft, _items(draft, "Parameter"), None, number)
    for item in _items(draft, "Parameter"):
        for axis in range(len(draft.facts.of(item.outputs[0]).shape or ())):
            for number in (1, 2):
                yield partial(_fix, draft, [item], axis, number)


def equal(draft: GraphDraft) -> Changes:
    """Constants with equal elements become one."""
    same: dict[object, list[Item]] = {}
    for item in _items(draft, "Const"):
        with suppress(EditError, WeightsError):
            data = draft.const_of(item)
            same.setdefault((data.element_type, data.shape, data.bytes), []).append(item)
    several = [items for items in same.values() if len(items) > 1]
    yield partial(_join, draft, several)
    for items in several:
        yield partial(_join, draft, [items])


def _join(draft: GraphDraft, several: Iterable[list[Item]]) -> None:
    for first, *others in several:
        for item in others:
            draft.redirect(item.outputs[0], first.outputs[0])
            draft.remove(item)


def _fix(draft: GraphDraft, items: Iterable[Item], axis: int | None, number: int) -> None:
    for item in items:
        shape = draft.facts.of(item.outputs[0]).shape
        if shape is not None and not are_known(shape):
            ranges = [bounds(size) for size in shape]  # the size of an open axis is the possible one that is nearest to the number
            near = [low if low == high else max(low, min(number, high)) for low, high in ranges]
            fixed = [int(near[at]) if axis in (None, at) else size for at, size in enumerate(shape)]
            draft.state.set_attributes(item, draft.spell(item, {"shape": format_shape(tuple(fixed))}))


def entered(draft: GraphDraft) -> Changes:
    """The Parameters of a body declare the shapes that enter, which their ports record."""
    if isinstance(draft, BodyDraft):
        yield partial(_declare, draft)


def _declare(draft: GraphDraft) -> None:
    for item in _items(draft, "Parameter"):
        for port in () if item.base is None else item.base.layer.outputs[:1]:
            element_type = ElementType.from_precision(port.precision or "")
            told = {} if port.dims is None else {"shape": dims_text(port.dims), "element_type": element_type}
            draft.state.set_attributes(item, draft.spell(item, told if element_type else {}))


def sizes(draft: GraphDraft) -> Changes:
    """A number becomes a smaller one in the shapes of all inputs and constants, and where a constant of integers holds it."""
    found: set[int] = set()
    for item in _items(draft, "Parameter", "Const"):
        found.update(size for size in draft.facts.of(item.outputs[0]).shape or () if isinstance(size, int))
    for size in sorted(found, reverse=True):
        for number in dict.fromkeys((1, 2, size // 4, size // 2)):
            if 0 < number < size:
                yield partial(_resize, draft, size, number, elements=True)
                yield partial(_resize, draft, size, number, elements=False)


def _resize(draft: GraphDraft, size: int, number: int, *, elements: bool) -> None:
    import numpy

    for item in _items(draft, "Parameter", "Const"):
        fact = draft.facts.of(item.outputs[0])
        shape = tuple([number if one == size else one for one in fact.shape or ()])
        if item.type == "Parameter":
            if shape != (fact.shape or ()):
                draft.state.set_attributes(item, draft.spell(item, {"shape": format_shape(shape)}))
            continue
        data = draft.const_of(item).data
        if shape != data.shape:
            data = numpy.resize(data, [int(number if one == size else one) for one in data.shape])
        if elements and data.dtype.kind in "iu" and data.size <= _MOST_SIZES:
            data = numpy.where(data == size, number, data).astype(data.dtype)
        _set_data(draft, item, data)


def _set_data(draft: GraphDraft, item: Item, array: Any) -> None:
    """Give a constant other elements of its type."""
    const = draft.const_of(item)
    if array.shape != const.shape or (array != const.data).any():
        content = Data(const.element_type, array.shape, array.tobytes())
        if len(content.bytes) != const.element_type.byte_size(array.size):
            raise EditError(f"elements of type {const.element_type} are not resized")
        draft.set_content(item, content)


def zeros(draft: GraphDraft) -> Changes:
    """The real elements of constants become 0: of all constants, then of one after the other."""
    constants = [item for item in _items(draft, "Const") if draft.facts.of(item.outputs[0]).element_type.is_real]
    yield partial(_zero, draft, constants)
    for item in constants:
        yield partial(_zero, draft, [item])


def _zero(draft: GraphDraft, items: Iterable[Item]) -> None:
    import numpy

    for item in items:
        data = draft.const_of(item).data
        _set_data(draft, item, numpy.zeros_like(data) if data.dtype.kind == "f" else data)


def attributes(draft: GraphDraft) -> Changes:
    """Attributes get their defaults."""
    for item in _items(draft):
        op_class = item.op_class
        if op_class is None:
            continue
        values = layer_of(draft, item).attributes
        for name, attribute in op_class.attributes.items():
            default, value = None if attribute.required else attribute.default, values.get(name)
            if name in _SIMPLEST and isinstance(value, tuple):
                default = (_SIMPLEST[name],) * len(value)
            if value != default and isinstance(default, str | int | float | tuple):
                yield partial(draft.state.set_attributes, item, draft.spell(item, {name: default}))


def _everywhere(changes: Callable[[GraphDraft], Changes]) -> Callable[[GraphDraft], Changes]:
    return lambda draft: (change for graph in _graphs(draft) for change in changes(graph))


# The passes in the order in which they are tried, by what they are about.
PASSES: Final[dict[str, Callable[[GraphDraft], Changes]]] = {
    "outputs": _everywhere(outputs),
    "inputs for layers": _everywhere(cut),
    "layers passed by": _everywhere(bypass),
    "branches of an If": branches,
    "unread inputs": _everywhere(inputs),
    "open axes": dynamic,
    "smaller sizes": sizes,
    "elements of 0": _everywhere(zeros),
    "attributes with defaults": _everywhere(attributes),
    "equal constants": _everywhere(equal),
    "shapes of inputs of bodies": _everywhere(entered),
}


class Reduction(NamedTuple):
    """The smallest candidate that was found, the number of its layers, and what each step has removed, in words."""

    candidate: Candidate
    layers: int
    steps: list[str]


class NotShown(Exception):
    """The fault does not show on the whole model."""


class Reducer:
    """One reduction. `draft` is that of the smallest candidate so far, and `say` hears of each step."""

    def __init__(self, draft: Draft, judge: CandidateJudge, say: Callable[[str, Candidate], object]) -> None:
        self.draft = draft
        self._judge = judge
        self._say = say
        self.best: Candidate | None = None
        self.steps: list[str] = []
        self._adopted: set[str] = set()  # so that no two changes take each other back for ever

    def reduced(self, suspect: int | None = None) -> Reduction:
        """The smallest candidate. `suspect` is the id of the layer that is probably at fault. Raises `NotShown`."""
        whole = content_of(self.draft)
        if not self._judge.shows(whole):
            raise NotShown
        self._adopt("the whole model", whole)
        last = None if suspect is None else self.draft.state.items.get(suspect)
        if last is None or last.type in BORDER or not self._keep_near(last):
            self._keep_prefix()
        self._leave_out()
        self._shrink()
        assert self.best is not None
        return Reduction(self.best, layer_count(self.draft), self.steps)

    def _part(self, kept: Collection[Item]) -> Candidate | None:
        return candidate_of(self.draft, lambda: extract(self.draft, kept, computes_constants=False)) if kept else None

    def _keep_prefix(self) -> None:
        """Keep the shortest prefix of the order on which the fault shows, and of this the layers near its last one."""
        items = _items(self.draft)
        found = self._least(range(1, len(items)), lambda count: items[:count])
        if found is not None:
            last = items[found[0] - 1].id
            self._adopt("the shortest prefix", found[1])
        elif items:
            last = items[-1].id
        item = self.draft.state.items.get(last) if items else None
        if item is not None:
            self._keep_near(item)

    def _keep_near(self, last: Item) -> bool:
        """Keep a layer and the layers before it up to the least distance at which the fault shows; False if it never does."""
        found = self._nearest(self._levels(last))
        if found is None:
            return False
        self._adopt("the layers near the fault", found)
        return True

    def _levels(self, last: Item) -> list[list[Item]]:
        """The ancestors of an item: those at most 0, 1, 2, ... connections before it."""
        found = {last}
        edge = {last}
        levels: list[list[Item]] = []
        while edge:
            levels.append(list(found))
            edge = {source for item in edge for source in item.producers if source.type not in BORDER} - found
            found |= edge
        return levels

    def _nearest(self, levels: Sequence[list[Item]]) -> Candidate | None:
        """The candidate of the least distance: small ones are cheap, so the distance is doubled first."""
        at, low = 0, -1
        while True:
            at = min(at, len(levels) - 1)
            part = self._part(levels[at])
            if self._judge.shows(part):
                break
            if at == len(levels) - 1:
                return None
            low, at = at, 2 * at + 1
        found = self._least(range(low + 1, at), levels.__getitem__)
        return part if found is None else found[1]

    def _least(self, numbers: range, kept: Callable[[int], list[Item]]) -> tuple[int, Candidate] | None:
        """By bisection, the least of some numbers with which the fault shows, and its candidate; the number after the last one shows it."""
        low, high = numbers.start, numbers.stop
        found = None
        while low < high:
            middle = (low + high) // 2
            part = self._part(kept(middle))
            if part is not None and self._judge.shows(part):
                high, found = middle, (middle, part)
            else:
                low = middle + 1
        return found

    def _leave_out(self) -> None:
        """Leave out chunks of the layers, down to single ones, until none can be left out."""
        items = _items(self.draft)
        size = max(len(items) // 2, 1)
        while items:
            at, is_smaller = 0, False
            while at < len(items):
                found = self._judge.first(self._without(items, at, size))
                if found is None:
                    break
                at, candidate = found
                is_smaller = True
                ids = {item.id for item in items[:at] + items[at + size :]}
                self._adopt("single layers" if size == 1 else f"chunks of {size} layers", candidate)
                items = [item for item in _items(self.draft) if item.id in ids]
            if size == 1 and not is_smaller:
                return
            size = max(min(size, len(items)) // 2, 1)

    def _without(self, items: list[Item], start: int, size: int) -> Iterator[tuple[int, Candidate | None]]:
        """The candidates that leave out one chunk of the layers, from a position on."""
        for at in range(start, len(items), size):
            yield at, self._new(self._part(items[:at] + items[at + size :]))

    def _shrink(self) -> None:
        """Try the changes of all passes until none is possible."""
        is_smaller = True
        while is_smaller:
            is_smaller = False
            for name, changes in PASSES.items():
                at = 0
                while (found := self._judge.first(self._changed(changes(self.draft), at))) is not None:
                    at, candidate = found
                    self._adopt(name, candidate)
                    is_smaller = True

    def _changed(self, changes: Iterable[Callable[[], object]], start: int) -> Iterator[tuple[int, Candidate | None]]:
        for at, change in enumerate(changes):
            if at >= start:
                yield at, self._new(candidate_of(self.draft, change))

    def _new(self, candidate: Candidate | None) -> Candidate | None:
        """A candidate that was not adopted before: a layer that others need comes back."""
        return None if candidate is None or candidate.key in self._adopted else candidate

    def _adopt(self, step: str, candidate: Candidate) -> None:
        is_whole = self.best is None
        self.best = candidate
        self._adopted.add(candidate.key)
        if not is_whole:
            model = self._judge.model(candidate)
            self.draft = Draft(model, model.document.own_weights(), self.draft.opaque)
        layers, tries = (counted(count, word) for count, word in ((layer_count(self.draft), "layer"), (self._judge.tries, "trial")))
        told = f"{step}: {layers}, {candidate.size} bytes of weights, after {tries}"
        if self.steps and self.steps[-1].partition(":")[0] == step:
            self.steps[-1] = told
        else:
            self.steps.append(told)
        self._say(told, candidate)
