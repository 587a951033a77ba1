"""One walk over a draft whose inputs have the sizes that are asked for: each layer is mended, checked, and its axes are traced.

A layer that cannot be mended sends the walk back to the last choice. The error that is told is that of the layer that was reached furthest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from irshape.answers.batch.traces import Layer, Tensor
from irshape.editing.state import EditError, Item, Value
from irshape.inference.facts import Fact
from irshape.ops.flow import Factor
from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import ERROR
from irshape.reshaping.bench import CONSTANTS, Doubt, Mixed, Notes, Refusal, listed
from irshape.reshaping.kept import watch
from irshape.reshaping.sizes import HANDLERS
from irshape.reshaping.stretching import follow
from irshape.shape.dim import Dim, Size, evaluate, expression_of, formula_text, product, symbols
from irshape.shape.guard import Requirement
from irshape.xml.weights import WeightsError

if TYPE_CHECKING:
    from irshape.reshaping.bench import Bench

Option = TypeVar("Option")

_SKIPPED: Final = ("Const", "Constant", "Parameter", "ShapeOf")
_MOST_STEPS_BACK: Final = 400
# The most options that are tried for the list of alternatives.
_MOST_ALTERNATIVES: Final = 40


class Witness(NamedTuple):
    """A second export of the model: its shapes by type, name and output, and the sizes of the symbols there."""

    shapes: Mapping[tuple[str, str, int], Sequence[Size] | None]
    sizes: Mapping[str, int]


class _Choice:
    """The options at a position of the walk, the one that is taken, and all that a step back to it restores."""

    def __init__(self, at: int, options: Sequence[Any], mark: int, notes: Notes) -> None:
        self.at = at
        self.options = options
        self.mark = mark
        self.notes = notes
        self.index = 0


class Alternative(NamedTuple):
    """Another option with which every layer passes: the layer, the option that was taken, and the other one."""

    item: Item
    taken: str
    other: str


class Walk:
    """A walk on a bench. With `is_strict`, no layer may demand an equation between two formulas.

    `faults` are the layers and codes of the faults that the model has at its recorded sizes. `dead` are the layers that reached no output
    before.
    """

    def __init__(self, bench: Bench, faults: frozenset[tuple[str, str]], witness: Witness | None = None, *, is_strict: bool) -> None:
        self.bench = bench
        self.is_strict = is_strict
        self._faults = faults
        self._witness = witness
        self._items = list(bench.draft.state.in_order)
        self.dead = frozenset(bench.draft.dead())
        self._choices: list[_Choice] = []
        self._forced: dict[int, int] = {}
        self._at = 0
        bench.pick = self._pick

    def run(self) -> None:
        """Visit every layer. Raises `Refusal` if no options let all of them pass."""
        self._go(0)

    def _go(self, start: int) -> None:
        """Visit the layers from a position on; choices before it stay as they are."""
        furthest: tuple[int, Refusal] | None = None
        back, at = 0, start
        while at < len(self._items):
            self._at = at
            try:
                if self.bench.draft.state.is_live(self._items[at]):
                    self._visit(self._items[at])
                at += 1
            except Refusal as error:
                if furthest is None or at >= furthest[0]:
                    furthest = at, error
                while self._choices and self._choices[-1].at >= start and self._choices[-1].index + 1 >= len(self._choices[-1].options):
                    self._choices.pop()
                back += 1
                if not self._choices or self._choices[-1].at < start or back > _MOST_STEPS_BACK:
                    raise furthest[1] from None
                choice = self._choices[-1]
                choice.index += 1
                self._return(choice)
                at = choice.at

    def _return(self, choice: _Choice) -> None:
        self.bench.graph.undo(choice.mark)
        self.bench.notes = choice.notes.copy()

    def _pick(self, options: Sequence[Option]) -> Option:
        """The first option; the others are tried if a layer behind refuses. No mend of the layer is made before."""
        at = self._at
        if self._choices and self._choices[-1].at == at:
            found: Option = self._choices[-1].options[self._choices[-1].index]
            return found
        if at in self._forced:
            return options[self._forced[at]]
        if len(options) > 1:
            self._choices.append(_Choice(at, options, self.bench.graph.mark(), self.bench.notes.copy()))
        return options[0]

    def alternatives(self) -> list[Alternative]:
        """The other options with which every layer passes on no smaller set of sizes. The walk is then as it was."""
        taken = list(self._choices)
        if not taken:
            return []
        own, found = self.conditions(), []
        self._forced = {choice.at: choice.index for choice in taken}
        tried = [(choice, index) for choice in taken for index in range(len(choice.options)) if self._is_other(choice, index)]
        for choice, index in tried[:_MOST_ALTERNATIVES]:
            self._choices = []
            self._return(choice)
            forced, self._forced = self._forced, {at: one for at, one in self._forced.items() if at < choice.at} | {choice.at: index}
            try:
                self._go(choice.at)
                if not own < self.conditions():
                    item = self._items[choice.at]
                    found.append(Alternative(item, str(choice.options[choice.index]), str(choice.options[index])))
            except Refusal:
                pass
            self._forced = forced
        self._choices = []
        self._return(taken[0])
        self._go(taken[0].at)
        self._choices = taken
        return found

    def _is_other(self, choice: _Choice, index: int) -> bool:
        """Whether an option gives other sizes than the one that was taken, for samples alone: that a layer keeps the batch is proved."""
        one, other = ([self.bench.alone(size) for size in choice.options[at].sizes] for at in (choice.index, index))
        return one != other

    def conditions(self) -> set[str]:
        """What the layers demand of the sizes beyond smallest ones."""
        facts = self.bench.draft.facts
        items = [item for item in self.bench.draft.state.in_order if item.type not in CONSTANTS]
        return {str(one) for item in items for one in facts.requirements(item) if one.kind != "ge"}

    # One layer.

    def _visit(self, item: Item) -> None:
        bench = self.bench
        bench.item, bench.traced, bench.instead = item, None, None
        if item.type == "Parameter":
            self._place(item)
        if item.type == "Result" and item.inputs and bench.constant_of(item.inputs[0]) is not None:
            bench.keep(f"{item!r} gives a constant for all sizes")
        if item.type in _SKIPPED or any(value is None for value in item.inputs):
            return
        values = [value for value in (*item.inputs, *item.outputs) if value is not None]
        if not any(_is_open(bench.shape(value)) for value in values):
            return
        if item.base is not None and item.base.bodies:
            bench.refuse("has a body, and irshape rewrites no layers in bodies")
        try:
            self._mend(item)
        except (EditError, WeightsError) as error:
            bench.refuse(f"cannot be edited: {error}")
        if bench.instead is not None:
            item = bench.item = bench.instead
            HANDLERS["Reshape"](bench)
        self._check(item)
        watch(bench)
        self._flow(item)

    def _mend(self, item: Item) -> None:
        handler = HANDLERS.get(item.type)
        if handler is not None:
            handler(self.bench)
        if self.bench.instead is None:
            follow(self.bench)

    def _check(self, item: Item) -> None:
        """No error, no number that ties an open size, and the recorded shapes at the recorded sizes."""
        bench, facts = self.bench, self.bench.draft.facts
        for found in facts.findings(item):
            if (CATALOGUE[found.code].severity == ERROR or found.code == "R401") and (str(item.id), found.code) not in self._faults:
                raise Refusal(item, found.message, hint=found.hint, code=found.code)
        for one in facts.requirements(item):
            self._admit(item, one)
        for value in item.outputs:
            shape, recorded = bench.shape(value), bench.recorded_sizes(value)
            if shape is None or recorded is None:
                continue
            now = [bench.at(size) for size in shape]
            if len(now) != len(recorded) or any(isinstance(size, int) and size != was for size, was in zip(now, recorded, strict=True)):
                bench.refuse(f"gives {listed(shape)}, which is {listed(now)} at the recorded sizes, and not {listed(recorded)}")
            self._compare(item, value, shape)

    def _admit(self, item: Item, one: Requirement) -> None:
        """Refuse a demand that leaves an open size few values, and in a strict walk an equation between formulas."""
        bench = self.bench
        sides = [side for side in (one.a, one.b) if isinstance(side, Dim)]
        if one.kind not in ("eq", "broadcast", "stretch") or any(not symbols(side) <= bench.numbers.keys() for side in sides):
            return
        if len(sides) == 1:
            number = one.a if isinstance(one.a, int) else one.b
            told = ", ".join(f"{name} is {bench.asked[name]} here" for name in sorted(one.symbols() & bench.asked.keys()))
            bench.refuse(f"demands {one}{told and f' ({told})'}: {one.message}", self._blamed(item, number))
        if self.is_strict and one.kind == "eq" and len(sides) == 2:
            bench.refuse(f"demands {one}: {one.message}")

    def _blamed(self, item: Item, size: Size) -> Item | None:
        """The constant that a layer reads and that has this size."""
        constants = [(value, self.bench.constant_of(value)) for value in item.inputs if value is not None]
        return next((constant for value, constant in constants if constant and size in (self.bench.shape(value) or ())), None)

    def _compare(self, item: Item, value: Value, shape: Sequence[Size]) -> None:
        """Refuse a formula that misses the shape in the other export."""
        witness = self._witness
        other = witness.shapes.get((item.type, item.name, value.index)) if witness is not None else None
        if witness is None or other is None or len(other) != len(shape):
            return
        for size, seen in zip(shape, other, strict=True):
            if isinstance(seen, int) and symbols(size) <= witness.sizes.keys() and (now := evaluate(size, witness.sizes)) != seen:
                self.bench.refuse(f"gives {formula_text(size)}, which is {now} at the sizes of the other export, and that has {seen}")

    # The axes.

    def _flow(self, item: Item) -> None:
        """Trace the axes of the outputs, and refuse a layer that mixes the batch."""
        bench, notes = self.bench, self.bench.notes
        found = notes.traces.visit(self._layer(item))
        if found.mixed:
            raise Mixed(item, found.mixed)
        if found.unproven:
            notes.unproven.append(Doubt(*bench.place(item), f"{item!r}: {found.unproven}"))
        if bench.traced is not None:
            slot = item.outputs[0].slot
            notes.traces.held[slot] = notes.traces.held[slot]._replace(trace=bench.traced)
        if item.type == "Concat":
            axis = int(item.attributes["axis"])
            parts = [(bench.sizes(value)[axis], bench.recorded_sizes(value)) for value in item.inputs if value is not None]
            notes.sums[item.outputs[0].slot] = [Factor(size, was[axis] if was else None) for size, was in parts]
        self._place(item)

    def _layer(self, item: Item) -> Layer:
        """The layer as its flow sees it."""
        bench, facts = self.bench, self.bench.draft.facts
        op = None if item.op_class is None else item.op_class(item.attributes, bench.draft.model.document.limits)
        values = [value for value in item.inputs if value is not None]
        inputs = [Tensor(one.slot, self._fact(one), bench.recorded_sizes(one)) for one in values]
        outputs = [Tensor(one.slot, facts.of(one), bench.recorded_sizes(one)) for one in item.outputs]
        return Layer(op, f"{item.type} {item.name!r}", inputs, outputs, [one.code for one in facts.findings(item)])

    def _fact(self, value: Value) -> Fact:
        """The fact of a tensor, with the elements of a small constant that no rule of a pass reads."""
        fact = self.bench.draft.facts.of(value)
        elements = self.bench.elements(value) if fact.elements is None else None
        return fact if elements is None else Fact(fact.element_type, fact.shape, elements, is_literal=True)

    def _place(self, item: Item) -> None:
        """Write down which factors the axes of the outputs were joined of, and where each formula is the size of an axis."""
        notes = self.bench.notes
        for value in item.outputs:
            for factors in self.bench.trace(value):
                if sum(isinstance(factor.size, Dim) for factor in factors) > 1:
                    notes.joined[expression_of(product([factor.size for factor in factors]))] = factors
            for axis, size in enumerate(self.bench.shape(value) or ()):
                if isinstance(size, Dim):
                    notes.places.setdefault(expression_of(size), []).append((value, axis))


def _is_open(shape: Sequence[Size] | None) -> bool:
    return shape is None or any(isinstance(size, Dim) for size in shape)
