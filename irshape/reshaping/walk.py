"""One walk over a draft whose inputs have the sizes that are asked for: each layer is mended, checked, and its axes are traced.

A layer that cannot be mended sends the walk back to the last choice. The error that is told is that of the layer that was reached furthest
with the fewest formulas cut that need not be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar, cast

from irshape.answers.batch.traces import chosen
from irshape.editing.state import EditError, Item, Value
from irshape.inference.inputs import UNNAMED
from irshape.model.model import SINKS, reached
from irshape.ops.flow import Factor, same
from irshape.report.catalogue import is_fault
from irshape.reshaping import exports, indices, scaling, sizes, slices
from irshape.reshaping.bench import (
    AXES,
    CONSTANTS,
    EXPORTS,
    OPEN_THERE,
    OTHER_WAY,
    AxisFormula,
    BatchMixed,
    Bench,
    Doubt,
    Refusal,
    Witness,
    holder,
    listed,
    number_of,
    open_sizes,
    recorded_as,
    sized,
    source,
    where_of,
)  # fmt: skip
from irshape.reshaping.stretching import follow, longer
from irshape.reshaping.watch import (
    Read,
    are_others,
    constants_read,
    has_formulas,
    have_others,
    is_number,
    is_open,
    numbers_read,
    reads_number,
    stated_by,
    watch,
)
from irshape.reshaping.ways import Ways, are_alike
from irshape.shape.dim import Dim, Size, brief_text, expression_of, formula_text, product, symbols
from irshape.shape.guard import Requirement

Option = TypeVar("Option")

_SKIPPED: Final = ("Const", "Constant", "Parameter")
_MOST_STEPS_BACK: Final = 400
# A walk visits each layer about so many times, and more where there are few; so do all trials of other options together.
_MOST_VISITS: Final = 6
_LEAST_VISITS: Final = 2000
_HANDLERS: Final = {**sizes.HANDLERS, **slices.HANDLERS, **indices.HANDLERS, **exports.HANDLERS, **scaling.HANDLERS}
DIFFER: Final = "differ in the other export, so they follow from the sizes of this file, or the weights are different"
_ELEMENTS: Final = "computes with numbers that differ in the other export, so they follow from sizes, or the weights are different"
_BODY: Final = "keep the input sizes of this layer, or convert the model {}"
# The alternatives share so many steps back, and each of them may take so many in any case.
_MOST_RETRIES: Final = 4000
_LEAST_RETRIES: Final = 20


_Place: TypeAlias = tuple[int, int]
# The marks of the graph and of the notes before a layer is visited.
_Marks: TypeAlias = tuple[int, tuple[int, ...]]


def _mark(bench: Bench) -> _Marks:
    return bench.graph.mark(), bench.notes.mark()


def _return(bench: Bench, marks: _Marks) -> None:
    bench.graph.undo(marks[0])
    bench.notes.undo(marks[1])


class _Choice:
    """The options at a place of the walk, the one that is taken, and the marks to which a step back returns.

    The place is the position `at` of the layer in the walk, and how many choices the layer had before.
    """

    def __init__(self, place: _Place, options: Sequence[Any], marks: _Marks) -> None:
        self.place, self.at = place, place[0]
        self.options = options
        self.marks = marks
        self.index = 0
        self.unsure = set[int]()  # options that irshape could not follow to the end


def _is_missed(witness: Witness | None, item: Item, option: Any) -> bool:
    """Whether an option of a Reshape gives sizes that the other export does not have."""
    known = enumerate(option.sizes) if witness is not None and item.type == "Reshape" else ()
    return witness is not None and not all(witness.has(item.outputs[0], axis, size) for axis, size in known)


def _is_unsure(choice: _Choice, index: int, error: Refusal) -> bool:
    """Whether an option that fits both exports fails for what irshape does not know, and not for what a layer demands."""
    is_unproved = error.is_short or error.code == "P111" or "no rule" in error.reason or re.search(rf"\b{UNNAMED}\b", error.reason)
    return bool(is_unproved) and getattr(choice.options[index], "is_seen", False)


class Alternative(NamedTuple):
    """Another option with which every layer passes, or one that fits both exports although irshape cannot follow it.

    These are the layer, the option that was taken, and the other one, in words and as `sizes`. They differ by the symbols `names`.
    """

    item: Item
    taken: str
    other: str
    sizes: Ways
    names: frozenset[str]


def _texts(one: Any, other: Any, tell: Callable[[Size], str]) -> tuple[str, str] | None:
    """Two options in words; None if the words are the same."""
    texts = one.text(tell), other.text(tell)
    return texts if texts[0] != texts[1] else None


def _results(bench: Bench) -> list[Sequence[Size]]:
    """The shapes of the outputs of the model."""
    values = [value for item in bench.draft.of_type("Result") for value in item.inputs if value is not None]
    return [shape for value in values if (shape := bench.shape(value)) is not None]


def _contradicting(bench: Bench, counts: Callable[[Item], bool], known: Item | None = None) -> Refusal | None:
    """The first number that another export contradicts and that is still read, of the layers that count; None if `known` has it."""
    for error, constants in bench.notes.differing:
        read = {bench.constant_of(value) for value in error.item.inputs}
        if counts(error.item) and (not constants or not read.isdisjoint(constants)):
            return None if known in constants else error
    return None


def _cause(bench: Bench, error: Refusal) -> Refusal:
    """The contradiction of another export from which an error follows, if there is one; else the error."""
    before = {*reached([error.item], lambda item: item.producers)} if bench.notes.differing else ()
    return _contradicting(bench, lambda item: item in before, error.constant) or error


_CUT_OTHERWISE: Final = "the two exports cut different axes: give an export of sizes that are cut along the same axes"
# Layers that an export has only at sizes that need them, and what they do to a size.
_FITTED: Final = {**dict.fromkeys(slices.HANDLERS, "cut"), "Pad": "padded", "Interpolate": "resized"}


def _unpaired(item: Item, is_paired: Callable[[Item], bool]) -> list[Item]:
    """The layers of these kinds before a layer, up to those that both exports have."""
    before = reached([item], lambda one: [producer for producer in one.producers if not is_paired(producer)])
    return [one for one in before if one is not item and one.type in _FITTED]


def _contradiction(bench: Bench, item: Item, told: str, constant: Item | None = None) -> Refusal:
    """The refusal of a layer that the other export contradicts, for the size of a constant if it is known."""
    partner, sizes = (None, {}) if bench.witness is None else (bench.witness.partners.get(item.base), bench.witness.sizes)
    if partner is not None and bench.witness is not None:
        paired = bench.witness.partners
        others = {*paired.values()}
        alone = _unpaired(item, lambda one: one.base is None or one.base in paired)
        theirs = _unpaired(partner, others.__contains__)
        if alone:
            hint = f"the other export has no {alone[0]!r}: give an export of a size that is {_FITTED[alone[0].type]}, too"
            return Refusal(item, told, constant, hint)
        if theirs:
            rewrite = f"rewrite the other export, and give one of another size that is {_FITTED[theirs[0].type]}, too, with --like"
            return Refusal(item, told, constant, f"only the other export has {theirs[0]!r}: {rewrite}")
        axes = bench.elements(source(item, 4)) if item.type == "Slice" and len(item.inputs) > 4 else None
        if axes is not None and tuple(axes) != tuple(bench.witness.elements(item, 4)):
            return Refusal(item, told, constant, _CUT_OTHERWISE)
    if bench.batch is not None and sizes.get(bench.batch, was := bench.numbers[bench.batch]) != was:
        return Refusal(item, told, constant, f"{EXPORTS}: if it is the same model, give one with a batch of {was}, as in this file")
    several = "open fewer axes, and give a second export that differs only in these"
    are_several = sum(sizes.get(name, was) != was for name, was in bench.numbers.items()) > 1
    return Refusal(item, told, constant, f"{EXPORTS}: {several if are_several and constant is None else OPEN_THERE}")


def _fixed(bench: Bench, item: Item, axis: int, size: int, seen: Size) -> Refusal:
    """The refusal of a size that the other export has otherwise. The first one names the constant that others have it from."""
    constant = None if bench.notes.differing else holder(bench, sized(item), lambda one: one == size)
    return _contradiction(bench, item, f"gives the size {size} on axis {axis}, but the other export has {seen}", constant)


# Layers between which OpenVINO removes or joins others.
_VIEWS: Final = ("Transpose", "Reshape", "Squeeze", "Unsqueeze")


def _moved(witness: Witness, paired: Set[Item], item: Item) -> Item | None:
    """A Transpose of the second export before a layer which only that export has, and which moves elements there; None if there is none.

    `paired` are the layers there that have a partner here.
    """
    partner = witness.partners.get(item.base)
    for value, other in zip(item.inputs, partner.inputs if partner is not None else (), strict=False):
        if value is None or other is None or other.item in paired or other.item.type not in _VIEWS:
            continue
        there = [one for one in _views(other.item) if one in paired or one.type == "Transpose"]
        own = next((one for one in _views(value.item) if one.type == "Transpose" or one.base in witness.partners), None)
        moving = [one for one in there if one not in paired and _moves(witness, one)]
        if moving and own is not None and witness.partners.get(own.base) is next((one for one in there if one in paired), item):
            return moving[0]
    return None


def _differing(here: Mapping[str, object], there: Mapping[str, object]) -> str:
    """The names of attributes that have other values there."""
    return ", ".join([name for name, value in here.items() if there.get(name, value) != value])


def _views(item: Item) -> Iterator[Item]:
    """A layer and those before it, as far as they only view elements otherwise, and the first one that does not."""
    while item.type in _VIEWS and item.inputs and item.inputs[0] is not None:
        yield item
        item = item.inputs[0].item
    yield item


def _moves(witness: Witness, item: Item) -> bool:
    """Whether a Transpose of the second export moves axes of more than one element past each other."""
    order, shape = witness.bench.elements(source(item, 1)) or (), witness.bench.shape(source(item, 0)) or ()
    moved = [axis for axis in order if isinstance(axis, int) and axis < len(shape) and shape[axis] != 1]
    return moved != sorted(moved)


class Walk:
    """A walk on a bench. With `is_strict`, no layer may demand an equation between two formulas.

    `faults` are the layers and codes of the faults that the model has at its recorded sizes. `dead` are those that reached no output.
    """

    def __init__(self, bench: Bench, faults: frozenset[tuple[str, str]], witness: Witness | None = None, *, is_strict: bool) -> None:
        self.bench = bench
        self.is_strict = is_strict
        self._faults = faults
        self._items = list(bench.draft.state.in_order)
        self.dead = frozenset(bench.draft.dead())
        self._read = frozenset(reached(bench.draft.of_type(*SINKS), self._producers))
        self._choices: list[_Choice] = []
        self._forced: dict[_Place, int] = {}
        self._at, self._picked, self._marks, self._steps_back = 0, 0, _mark(self.bench), 0
        self._visits, self._most_visits = 0, _LEAST_VISITS + _MOST_VISITS * len(self._items)
        self._contradicted: Refusal | None = None  # by the other export, with likelier options
        bench.pick, bench.witness = self._pick, witness
        self._paired = frozenset(() if witness is None else witness.partners.values())

    def _producers(self, item: Item) -> Sequence[Item]:
        """The layers on which a layer depends."""
        condition = item.inputs[0] if item.type == "Select" and item.inputs else None
        return item.producers if condition is None else chosen(item.producers, self.bench.elements(condition))

    def run(self) -> None:
        """Visit every layer. Raises `Refusal` if no options let all of them pass."""
        likelier = self._go(0)
        try:
            self._agree()
        except Refusal as error:
            raise self._contradicted or likelier or error from None

    def _agree(self) -> None:
        """Refuse a number that another export contradicts, and that no layer has made again."""
        replaced = {*self.bench.draft.dead()}
        if error := _contradicting(self.bench, lambda item: item not in replaced):
            raise error

    def _go(self, start: int, most: int = _MOST_STEPS_BACK) -> Refusal | None:
        """Visit the layers from a position on, with at most so many steps back; choices before it stay as they are.

        The result is the refusal of the likelier options, if there were any.
        """
        furthest: tuple[tuple[int, int, bool], Refusal] | None = None
        begun, at, most_visits = self._steps_back, start, self._visits + self._most_visits
        while at < len(self._items):
            self._at, self._marks, self._visits = at, _mark(self.bench), self._visits + 1
            try:
                if self.bench.draft.state.is_live(self._items[at]):
                    self._visit(self._items[at])
                at += 1
            except Refusal as error:
                cut = [one for one in self._choices if one.options[one.index].is_cut and not one.options[0].is_cut]
                reached = -len(cut), at, isinstance(error, BatchMixed)
                if error.reason.endswith(DIFFER):
                    self._contradicted = self._contradicted or error
                if furthest is None or reached > furthest[0]:
                    error.reason += self.unnamed(error.reason)
                    error.item = error.item if error.item.base is not None else self._items[at]  # a layer of the file, not one in its place
                    furthest = reached, _cause(self.bench, error)
                while self._choices and self._choices[-1].at >= start and self._choices[-1].index + 1 >= len(self._choices[-1].options):
                    self._choices.pop()
                self._steps_back += 1
                furthest[1].is_short = is_short = self._visits > most_visits or self._steps_back - begun > most
                if is_short or not self._choices or self._choices[-1].at < start:
                    raise furthest[1] from None
                choice = self._choices[-1]
                choice.unsure |= {choice.index} if _is_unsure(choice, choice.index, error) else set()
                choice.index += 1
                _return(self.bench, choice.marks)
                at = choice.at
        return None if furthest is None else furthest[1]

    def unnamed(self, reason: str) -> str:
        """Which axis each size is that a text tells by a name of irshape's own, such as `d0`."""
        names = dict.fromkeys(re.findall("|".join([rf"\b{UNNAMED}\b", *[rf"\b{name}\b" for name in self.bench.letters]]), reason))
        values = [value for item in self.bench.draft.state.in_order for value in item.outputs] if names else []
        axes = [(axis, value.item, str(size)) for value in values for axis, size in enumerate(self.bench.shape(value) or ())]
        places = {size: f"; {size} is axis {axis} of {item!r}" for axis, item, size in reversed(axes) if size in names}
        return "".join([places[name] for name in names if name in places])

    def _pick(self, options: Sequence[Option]) -> Option:
        """The first option; the others are tried if a layer behind refuses."""
        if len(options) < 2:
            return options[0]
        place = self._at, self._picked
        self._picked += 1
        for choice in reversed(self._choices):
            if choice.at < self._at:
                break
            if choice.place == place:
                return cast("Option", choice.options[choice.index])
        if self._forced.get(place, len(options)) < len(options):
            return options[self._forced[place]]
        self._choices.append(_Choice(place, options, self._marks))
        return options[0]

    def alternatives(self, *, of_sizes: bool) -> list[Alternative]:
        """The other options with which every layer passes on no smaller set of sizes. The walk is then as it was.

        With `of_sizes`, they give single samples other sizes. Others move the batch to another axis of size 1 of an output. Where one is
        found, and this has taken many visits, those that are left are not tried, and count as found.
        """
        taken = list(self._choices)
        results = _results(self.bench)
        is_free = any(1 in shape and any(map(self.bench.holds_batch, shape)) for shape in results)
        later = [(choice, index) for choice in taken for index in range(choice.index + 1, len(choice.options))]  # those before failed
        all_options = [(one, at) for one, at in later if not _is_missed(self.bench.witness, self._items[one.at], one.options[at])]
        tried = [(one, at) for one, at in all_options if (of_sizes and self._is_other(one, at)) or (is_free and self._is_moved(one, at))]
        lost = [(one, at) for one in taken for at in sorted(one.unsure) if of_sizes and at < one.index and self._is_other(one, at)]
        unsure = [other for one, at in lost for other in self._alternative(one, at)]
        if not tried:
            return unsure
        own, found, most = self.conditions(), list[Alternative](), self._visits + self._most_visits
        chosen = {choice.place: choice.index for choice in taken}
        of_batch = {choice.place for choice in taken if not any(self._is_other(choice, index) for index in range(len(choice.options)))}
        for choice, index in reversed(tried):  # the last choice first: what was written before it stays
            if found and self._visits > most:
                found += self._alternative(choice, index)
                continue
            self._choices = []
            _return(self.bench, choice.marks)
            is_other = self._is_other(choice, index)
            stays = of_batch if is_other else ()  # another place of the batch mends no size
            self._forced = {place: one for place, one in chosen.items() if place < choice.place or place in stays} | {choice.place: index}
            try:
                left = _MOST_RETRIES - self._steps_back
                self._go(choice.at, max(_LEAST_RETRIES, min(left, _MOST_STEPS_BACK)))
                self._agree()
                item = self._items[choice.at]
                # With the sizes that another layer needs, and not by its own mend.
                is_made_again = item not in self.bench.replaced and item in self.bench.draft.dead()
                is_other = (is_other and not is_made_again) or [*map(listed, results)] != [*map(listed, _results(self.bench))]
                if is_other and not own < self.conditions():
                    found += self._alternative(choice, index)
            except Refusal as error:
                found += self._alternative(choice, index) if _is_unsure(choice, index, error) else []
        self._choices, self._forced = [], chosen
        _return(self.bench, taken[0].marks)
        self._go(taken[0].at)
        self._choices = taken
        return unsure + found[::-1]

    def _alternative(self, choice: _Choice, index: int) -> list[Alternative]:
        """Another option of a choice; none if it gives the same sizes as the one that was taken."""
        one, other = choice.options[choice.index], choice.options[index]
        is_turned = getattr(one, "order", None) != getattr(other, "order", None)
        if not is_turned and are_alike((one.sizes, other.sizes), self.bench.numbers):
            return []
        texts = _texts(one, other, lambda size: brief_text(self.bench.wanted(size)))
        texts = texts or _texts(one, other, lambda size: formula_text(self.bench.wanted(size)))
        if texts is None and self.bench.asked:
            return []  # at the numbers that are asked for, both ways are one
        texts = texts or (one.text(formula_text), other.text(formula_text))
        differing = [size for pair in zip(one.sizes, other.sizes, strict=False) if not same(*pair) for size in pair]
        names = frozenset([name for size in differing for name in symbols(size)])
        return [Alternative(self._items[choice.at], *texts, (one.sizes, other.sizes), names)]

    def _is_other(self, choice: _Choice, index: int) -> bool:
        """Whether an option gives other sizes than the one that was taken, for samples alone: that a layer keeps the batch is proved."""
        one, other = ([self.bench.alone(size) for size in choice.options[at].sizes] for at in (choice.index, index))
        return one != other

    def _is_moved(self, choice: _Choice, index: int) -> bool:
        """Whether an option only gives the batch to another axis of recorded size 1, and needs no other layer."""
        taken, option = choice.options[choice.index], choice.options[index]
        one, other = ([*map(formula_text, own.sizes)] for own in (taken, option))
        is_same = getattr(taken, "order", None) == getattr(option, "order", None)
        return is_same and one != other and sorted(one) == sorted(other) and any(map(self.bench.holds_batch, option.sizes))

    def conditions(self) -> set[str]:
        """What the layers demand of the sizes beyond smallest ones."""
        facts = self.bench.draft.facts
        items = [item for item in self.bench.draft.state.in_order if item.type not in CONSTANTS]
        return {str(one) for item in items for one in facts.requirements(item) if one.kind != "ge"}

    # One layer.

    def _visit(self, item: Item) -> None:
        bench = self.bench
        bench.item, bench.traced, bench.instead, self._picked = item, None, None, 0
        if item.type == "Parameter":
            self._place(item)
        if bench.witness is not None and (moved := _moved(bench.witness, self._paired, item)) is not None:
            told = f"has {moved!r} of the other export before it, which moves elements: this file has sizes of 1 there, and lacks the layer"
            raise Refusal(item, told, hint=OTHER_WAY)
        if item.type == "Result" and item.inputs and (given := item.inputs[0]) is not None:
            self._end(item, given)
        if item.type in _SKIPPED or not item.outputs or any(value is None for value in item.inputs):
            return
        values = [value for value in (*item.inputs, *item.outputs) if value is not None]
        may_follow = bench.witness is not None and (item.type == "Broadcast" or any(scaling.differing(bench)) or any(longer(bench)))
        if not may_follow and not any(is_open(bench.shape(value)) for value in values):
            self._watch(item)
            self._trace(item)  # it may compute with the size of the batch
            return
        if item.base is not None and item.base.bodies:
            message = "has a body, and --rewrite changes no body: irshape cannot tell which constants in the body hold an old size"
            without = (
                "without the If, if one branch serves" if item.type == "If" else "with layers that have no body (LSTMSequence, GRUSequence)"
            )
            bench.refuse(message, hint=_BODY.format(without))
        if any(is_fault(found.code) and (str(item.id), found.code) in self._faults for found in bench.draft.facts.findings(item)):
            self._trace(item)  # which says that the layer has an error; its attributes may be anything
            return
        try:
            self._settle(item)
        except Refusal:
            _return(bench, self._marks)
            bench.item, bench.traced, bench.instead, self._picked = item, None, None, 0
            if not sizes.part(bench):
                raise
            self._settle(item)
        self._watch(bench.item)
        self._flow(bench.item)

    def _end(self, item: Item, given: Value) -> None:
        """Give the batch its axis in what a Result takes. Tell of what never changes, and refuse what is computed from the batch."""
        bench = self.bench
        sizes.part(bench)
        shape = bench.shape(given) or ()
        is_fixed = bench.is_of_sizes(given) and not is_open(shape) and any(recorded_as(bench, one) for one in shape)
        if any(longer(bench)):
            follow(bench)
        elif is_fixed or bench.constant_of(given) is not None:
            partner = None if bench.witness is None else bench.witness.partners.get(item.base)
            if bench.witness is None or partner is None:
                bench.keep(f"{item!r} gives the same constant for all sizes")
            elif are_others(constants_read(bench, item), constants_read(bench.witness.bench, partner)):
                bench.notes.differing.append((_contradiction(bench, item, _ELEMENTS), ()))
        held = bench.notes.traces.held.get(given.slot)
        if held is not None and held.taint:
            why = f"it gives a value that is computed from the size of the batch {bench.batch}, which {held.taint} reads"
            raise BatchMixed(item, why, code="P111")

    def _settle(self, item: Item) -> None:
        """Mend the layer that is visited, or put another one in its place; check it, and trace its axes."""
        bench = self.bench
        try:
            self._mend(item)
        except EditError as error:
            bench.refuse(f"cannot be edited: {error}")
        if bench.instead is not None:
            item = bench.item = bench.instead
        if bench.instead is not None and item.type == "Reshape":
            sizes.reshape(bench)
        self._check(item)
        self._trace(item)

    def _mend(self, item: Item) -> None:
        data = item.inputs[0] if item.inputs else None
        was, now = (None, None) if data is None else (self.bench.recorded_sizes(data), self.bench.shape(data))
        has_rank = was is None or now is None or len(was) == len(now)  # numbers of axes of another rank mean nothing
        if has_rank and (handler := _HANDLERS.get(item.type)) is not None:
            handler(self.bench)
        if has_rank and self.bench.instead is None:
            scaling.restate(self.bench)
        if self.bench.instead is None:
            follow(self.bench)

    def _check(self, item: Item) -> None:
        """No error, no number that ties an open size, and the recorded shapes at the recorded sizes."""
        bench, facts = self.bench, self.bench.draft.facts
        for found in facts.findings(item):
            if is_fault(found.code) and (str(item.id), found.code) not in self._faults:
                raise Refusal(item, found.message, hint=found.hint, code=found.code)
        for one in facts.requirements(item):
            self._admit(item, one)
        for value in item.outputs:
            shape, recorded = bench.shape(value), bench.recorded_sizes(value)
            if shape is None or recorded is None:
                continue
            made = [(str(size), was) for size, was in zip(shape, recorded, strict=False) if isinstance(size, Dim) and isinstance(was, int)]
            bench.known.update([(name, was) for name, was in made if name not in bench.known and re.fullmatch(UNNAMED, name)])
            now = [bench.at(size) for size in shape]
            if len(now) != len(recorded) or any(isinstance(size, int) and size != was for size, was in zip(now, recorded, strict=True)):
                was = f", which is {listed(now)} at the recorded sizes" if len(now) == len(recorded) else ""
                bench.refuse(f"gives {listed(shape)}{was}, but the file has {listed(recorded)}")
            self._compare(item, value, shape)

    def _admit(self, item: Item, one: Requirement) -> None:
        """Refuse a demand that leaves an open size few values, and in a strict walk an equation between formulas."""
        bench = self.bench
        sides = [side for side in (one.a, one.b) if isinstance(side, Dim)]
        if one.kind not in ("eq", "broadcast", "stretch") or any(not symbols(side) <= bench.numbers.keys() for side in sides):
            return
        if len(sides) == 1:
            number = one.a if isinstance(one.a, int) else one.b
            now = bench.wanted(sides[0])
            misfit = f"cannot have these sizes: {one.message}: {now} is not {number}"
            why = f"demands {one}: {one.message}" if isinstance(now, Dim) else misfit
            blamed = self._blamed(item, number)
            makers = [value.item for value, _ in bench.notes.places_of(expression_of(sides[0]))]
            if blamed is None and makers and makers[-1].type != "Parameter":
                blamed = makers[-1]  # such as a window that covered the whole axis
                why += f"; {blamed!r} gives {formula_text(sides[0])}, which was {bench.at(sides[0])}"
                why += bench.cut_apart(blamed)
            bench.refuse(why, blamed)
        if self.is_strict and one.kind == "eq" and len(sides) == 2:
            bench.refuse(f"demands {one}: {one.message}")

    def _blamed(self, item: Item, size: Size) -> Item | None:
        """The constant that a layer reads and that has this size, else the one whose elements it reads as sizes."""
        bench = self.bench
        constants = [(value, constant) for value in sized(item) if (constant := bench.constant_of(value))]
        own = [constant for value, constant in constants if size in (bench.shape(value) or ())]
        read = [bench.constant_of(value) for port, value in enumerate(item.inputs) if reads_number(bench, item, port, AXES)]
        return next(iter((*own, *read)), None) or (None if size == 1 else holder(bench, sized(item), lambda one: one == size))

    def _compare(self, item: Item, value: Value, shape: Sequence[Size]) -> None:
        """Refuse a formula that misses the shape in the other export."""
        witness = self.bench.witness
        other = None if witness is None else witness.shape(value)
        if witness is None or other is None or len(other) != len(shape):
            return
        taken = [size for one in item.inputs if one is not None for size in self.bench.shape(one) or ()]
        known = self.bench.numbers.keys() | {name for size in taken for name in symbols(size)}
        for axis, (size, seen) in enumerate(zip(shape, other, strict=True)):
            if isinstance(size, Dim) and isinstance(seen, int) and str(size) in symbols(size) - known:
                witness.sizes[str(size)] = seen  # the layer makes this symbol: no formula gives its value
            if witness.has(value, axis, size):
                continue
            if isinstance(size, int):
                self.bench.notes.differing.append((_fixed(self.bench, item, axis, size, seen), ()))
            elif names := _differing(stated_by(item), stated_by(witness.partners.get(item.base, item))):
                hint = _CUT_OTHERWISE if "_mask" in names else f"{EXPORTS}: {OPEN_THERE}"
                raise Refusal(item, f"has attributes ({names}) that {DIFFER}", hint=hint)
            else:
                told = f"gives {formula_text(size)}, which is {witness.at(size)} at the sizes of the other export, but it has {seen} there"
                raise _contradiction(self.bench, item, told)

    def _watch(self, item: Item) -> None:
        """Write down numbers that stay, unless the other export has them too at other sizes. Refuse numbers that it has not."""
        witness, known = self.bench.witness, len(self.bench.notes.kept)
        scaling.scale(self.bench)
        watch(self.bench)
        partner = None if witness is None else witness.partners.get(item.base)
        if witness is None or partner is None:
            return
        if are_others(constants_read(self.bench, item), constants_read(witness.bench, partner)):
            self.bench.notes.differing.append((_contradiction(self.bench, item, _ELEMENTS), ()))
        doubts, numbers = self.bench.notes.kept[known:], self.bench.known
        here, there = numbers_read(self.bench, item), numbers_read(witness.bench, partner)
        shapes = [self.bench.shape(value) or () for value in item.inputs if value is not None]
        read = {name for shape in shapes for size in shape for name in symbols(size)} & numbers.keys() or numbers.keys() - {
            self.bench.batch
        }
        same = {name for name, was in numbers.items() if was > 1 and witness.sizes.get(name) in (None, was)}
        undecided = exports.undecided(self.bench, here[1], there[1]) if doubts else {}
        alike = exports.alike(self.bench, exports.near(self.bench)) if doubts else None
        for at, doubt in enumerate(doubts):
            part = next((undecided[name] for name in sorted(doubt.names - same) if name in undecided), alike)
            if part is None and not doubt.names:
                part = exports.alike(self.bench, open_sizes(self.bench))
            if part is not None and (number := self.bench.at(part)):
                doubts[at] = doubt.left_open(f"{formula_text(part)} is {number} in both", ((number,), (part,)))
        left = [doubt for doubt in doubts if doubt.is_undecided or not (names := doubt.names & numbers.keys() or read) or names & same]
        if item.type in slices.HANDLERS and have_others(item, here, there):
            raise _contradiction(self.bench, item, f"reads numbers that {DIFFER}")
        if has_formulas(here) or has_formulas(there):  # a mend may have changed attributes, too, but not the data
            here, there = (here[0], here[1][:1]), (here[0], there[1][:1])
        if here != there and (len(left) < len(doubts) or not doubts):
            self._differ(item, here, there, may_settle=not doubts)
        self.bench.notes.kept[known:] = left

    def _differ(self, item: Item, here: Read, there: Read, *, may_settle: bool) -> None:
        """Refuse numbers that differ in the other export, unless a mend has replaced them.

        Data may be made again by a layer behind, and so may the sizes of a tensor that is not open yet, or numbers that leave no doubt.
        """
        names = _differing(dict(here[0]), dict(there[0]))
        error = _contradiction(self.bench, item, f"{f'has attributes ({names})' if names else 'reads numbers'} that {DIFFER}")
        pairs = enumerate(zip(item.inputs, here[1], there[1], strict=False))
        stated = [(port, self.bench.constant_of(value)) for port, (value, one, other) in pairs if one != other]
        constants = {port: constant for port, constant in stated if constant is not None and constant.base is not None}
        values = [value for value in (*item.inputs, *item.outputs) if value is not None]
        has_open = any(self.bench.is_open(size) for value in values for size in self.bench.shape(value) or ())
        if here[0] != there[0] or (has_open and not may_settle and any(is_number(item, port, ()) for port in constants)):
            raise error
        if constants:
            self.bench.notes.differing.append((error, tuple(constants.values())))

    # The axes.

    def _trace(self, item: Item) -> None:
        """Trace the axes of the outputs, and refuse a layer that mixes the batch, unless no output depends on it."""
        found = self.bench.flowed(item)
        if item not in self._read and item.base is not None:
            return
        if found.mixed:
            raise BatchMixed(item, found.unproven or found.mixed, code="P111" if found.unproven else None)
        if found.unproven:
            told = f"irshape cannot prove that {item!r} keeps samples apart: {found.unproven}"
            self.bench.notes.unproven.append(Doubt(where_of(item), told))

    def _flow(self, item: Item) -> None:
        """Write down the axes of a Concat and of a layer that was rewritten."""
        bench, notes = self.bench, self.bench.notes
        if bench.traced is not None:
            slot = item.outputs[0].slot
            notes.traces.held[slot] = notes.traces.held[slot]._replace(trace=bench.traced)
        if item.type == "Concat" and bench.shape(item.outputs[0]) is not None:  # what a cycle feeds may have any attributes
            axis = number_of(item)
            parts = [(bench.sizes(value)[axis], bench.recorded_sizes(value)) for value in item.inputs if value is not None]
            notes.sums[item.outputs[0].slot] = [Factor(size, was[axis] if was else None) for size, was in parts]
        self._place(item)

    def _place(self, item: Item) -> None:
        """Write down which factors the axes of the outputs were joined of, and where each formula is the size of an axis."""
        bench, notes = self.bench, self.bench.notes
        for value in item.outputs:
            for factors in bench.trace(value):
                formulas = [one.size for one in factors if isinstance(one.size, Dim)]
                if formulas and len(factors) > 1:
                    notes.joined[expression_of(product([factor.size for factor in factors]))] = factors
            for axis, size in enumerate(bench.shape(value) or ()):
                if isinstance(size, Dim):
                    formula = expression_of(size)
                    notes.places[formula] = AxisFormula(value, axis, notes.places.get(formula))
