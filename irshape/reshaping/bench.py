"""The bench on which a model is rewritten: its draft at open sizes, what every tensor was at the recorded sizes, and the mends so far.

A *recorded* size is the number that the model had; an *open* size is a formula of the symbols that were asked for. Every mend keeps this
rule: at the recorded sizes each tensor has its recorded shape and the same elements. A formula becomes layers: the size of an axis that
some tensor has, else arithmetic on such sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, TypeAlias, cast

from irshape.answers.batch.traces import Flowed, FlowLayer, Traces, cleared, plain
from irshape.answers.batch.traces import FlowTensor as Traced
from irshape.editing.arrays import element_type_of
from irshape.editing.draft import Draft
from irshape.editing.graph import Graph
from irshape.editing.layers import Tensor, layer_of, tensor_of
from irshape.editing.state import Item, Value
from irshape.inference.facts import Fact
from irshape.model.build import place
from irshape.model.model import Node, behind
from irshape.ops.attribute import read_integer
from irshape.ops.flow import Axis, Factor, Trace
from irshape.report.diagnostic import Where
from irshape.reshaping.ways import Ways
from irshape.shape.dim import Dim, Size, dim_of, evaluate, expression_of, formula_text, origins, symbols
from irshape.shape.element_type import ElementType
from irshape.shape.fold import replaced
from irshape.shape.notation import SymbolRange
from irshape.shape.polynomial import UNBACKED, Atom, Expression, Polynomial
from irshape.shape.shape import Shape

if TYPE_CHECKING:
    from numpy.typing import NDArray


CONSTANTS: Final = ("Const", "Constant")
# The ports that number axes.
AXES: Final = frozenset({"axis", "axes", "axes_mapping", "input_order", "reduction_axes", "order"})
# The hint where a second export contradicts the formulas begins with this, and what to do then.
EXPORTS: Final = "irshape finds no formula that fits both exports"
TELL: Final = "convert the model again at another size, and give this second export with --like"
UNROLLED: Final = "keep this size: the file has layers of its own for each step, and --rewrite adds none"
OTHER_WAY: Final = "rewrite the other export instead, and give this one with --like"
OPEN_THERE: Final = "keep this size, or convert the model again with an axis that is open there"
# A rule that does not declare that it reads elements follows none; the elements of so small a constant are read here.
_FEW: Final = 16


class Mend(NamedTuple):
    """One change: the port `port` of a layer held `was` and now holds `now`.

    `kind` is *forced*: no other formula fits; *generated*: the elements of a constant go on by the law that the recorded ones follow;
    *chosen*: other formulas fit as well; *first*: the first elements of a constant, because the sizes end at the recorded one.
    """

    where: Where
    port: str
    was: str
    now: str
    kind: str
    why: str


class Doubt(NamedTuple):
    """What the file does not decide: a choice, a number that stays, or a layer that is not proven. `what` is the whole sentence.

    `ways` have the sizes with the way that is taken beside those with each other one, if they are known. `is_number` says that a number
    stays; `names` are the symbols from which it may follow, if that is known. `is_undecided` says that a second export has the same number
    either way.
    """

    where: Where
    what: str
    ways: tuple[Ways, ...] = ()
    is_number: bool = False
    names: frozenset[str] = frozenset()
    is_undecided: bool = False

    def left_open(self, why: str, *ways: Ways) -> Doubt:
        """The doubt that a second export leaves open, too."""
        what = f"{self.what}; the other export does not tell, because {why}"
        return self if self.is_undecided else self._replace(what=what, ways=self.ways + ways, is_undecided=True)


class AxisFormula(NamedTuple):
    """An axis that has a formula as its size, and the place of the formula before that."""

    value: Value
    axis: int
    before: AxisFormula | None


# A symbol, and the sizes up to which the first elements of a constant may serve.
First: TypeAlias = tuple[str, SymbolRange]


class Refusal(Exception):
    """No mend is known. `item` is the layer, `reason` says why in words that follow its name, `constant` is the constant at fault.

    `code` is that of the fault that the rule of the layer finds, if it finds one: then the reason is its message. If a constant lacks
    elements for a size that is no batch (`is_of_length`), its `first` ones may serve for the smaller sizes of a symbol.
    """

    is_of_length = False
    is_short = False  # the walk ended before it had tried all ways
    first: First | None = None

    def __init__(self, item: Item, reason: str, constant: Item | None = None, hint: str | None = None, code: str | None = None) -> None:
        super().__init__(f"{item!r}: {reason}")
        self.item = item
        self.reason = reason
        self.constant = constant
        self.hint = hint
        self.code = code


class BatchMixed(Refusal):
    """A layer mixes the samples of a batch, or, with the code P111, is not proved to keep them apart; then the reason is a sentence."""


class Witness(NamedTuple):
    """A second export on its own bench, the layer there that is the partner of a layer of the file, and the sizes of symbols there.

    The walk adds the sizes of symbols that layers make, such as the one of a slice that no formula tells.
    """

    bench: Bench
    partners: Mapping[Node | None, Item]
    sizes: dict[str, int]

    def shape(self, value: Value) -> Shape:
        """The shape of a tensor there; None if it is not known."""
        partner = self.partners.get(value.item.base)
        return None if partner is None else self.bench.shape(partner.outputs[value.index])

    def elements(self, item: Item, port: int) -> Sequence[Any]:
        """The elements that the partner of a layer states at an input; none if it states none."""
        partner = self.partners.get(item.base)
        value = partner.inputs[port] if partner is not None and port < len(partner.inputs) else None
        return (self.bench.elements(value) or ()) if value is not None else ()

    def at(self, size: Size) -> int | None:
        """The value of a size there; None if a symbol has none."""
        return evaluate(size, self.sizes) if symbols(size) <= self.sizes.keys() else None

    def has(self, value: Value, axis: int, size: Size) -> bool:
        """Whether an axis may have a size there, as far as it is known."""
        shape = self.shape(value)
        seen = shape[axis] if shape is not None and axis < len(shape) else None
        return not isinstance(seen, int) or self.at(size) in (None, seen)


class _Table(dict[Any, Any]):
    """A table whose entries can be taken back: the journal has what each of them replaced."""

    __slots__ = ("_journal",)

    def __init__(self, journal: list[tuple[_Table, Any, Any]]) -> None:
        super().__init__()
        self._journal = journal

    def __setitem__(self, key: Any, value: Any) -> None:
        self._journal.append((self, key, self.get(key)))
        super().__setitem__(key, value)


class Notes:
    """All that a walk writes down, and takes back to a mark when it steps back.

    `traces` say what axes are made of, `joined` which factors a product was joined of, `sums` which parts a Concat put one after another,
    by the slot of its output. `made` are the tensors that were made for a purpose. `places` have for a formula the last axis whose size it
    is, with the place before that one. `proofs` are the constants that were made again, each with the tensor that takes its place,
    and how far it may be off. `differing` are the layers that another export contradicts, each with the constants whose replacement settles
    the matter, if there are any: a layer behind may make the layer or its constants again. `decided` are ways that it tells apart.
    """

    def __init__(self, batch: str | None) -> None:
        self._journal: list[tuple[_Table, Any, Any]] = []
        self.traces = Traces(batch, _Table(self._journal))
        self.joined: dict[object, Axis] = _Table(self._journal)
        self.sums: dict[int, list[Factor]] = _Table(self._journal)
        self.made: dict[object, Tensor] = _Table(self._journal)
        self.places: dict[Expression, AxisFormula] = _Table(self._journal)
        self.mends: list[Mend] = []
        self.kept: list[Doubt] = []
        self.unproven: list[Doubt] = []
        self.proofs: list[tuple[Item, Tensor, float]] = []
        self.differing: list[tuple[Refusal, tuple[Item, ...]]] = []
        self.decided: list[Ways] = []

    @property
    def _lists(self) -> tuple[list[Any], ...]:
        return self.mends, self.kept, self.unproven, self.proofs, self.differing, self.decided

    def places_of(self, formula: Expression) -> Iterator[tuple[Value, int]]:
        """The axes that have a formula as their size, the last one first."""
        place = self.places.get(formula)
        while place is not None:
            yield place.value, place.axis
            place = place.before

    def mark(self) -> tuple[int, ...]:
        """A mark of all that is written down so far."""
        return (len(self._journal), *map(len, self._lists))

    def undo(self, mark: tuple[int, ...]) -> None:
        """Take back all that was written down since a mark."""
        while len(self._journal) > mark[0]:
            table, key, before = self._journal.pop()
            if before is None:
                del table[key]
            else:
                dict.__setitem__(table, key, before)
        for one, length in zip(self._lists, mark[1:], strict=True):
            del one[length:]


class Bench:
    """A draft whose inputs have the sizes that are asked for, beside the recorded shapes.

    `recorded` are the facts at the recorded sizes by slot, `numbers` the recorded value of each symbol, and `known` also those of the
    symbols that layers make, such as the one of a slice that no formula tells. `batch` is the symbol of the batch, None if there is none,
    and `asked` are the numbers that were asked for in place of symbols. `item` is the layer that is visited, `traced` the trace of its
    output if a mend gives it, and `instead` the layer that a mend has put in its place, which `replaced` layers have. `pick` chooses one of
    several options, `letters` are the symbols that irshape named. With a `witness`, a second export decides, so that a number that may stay
    is an option.
    """

    def __init__(
        self, draft: Draft, recorded: Sequence[Fact], numbers: Mapping[str, int], batch: str | None, asked: Mapping[str, int]
    ) -> None:
        self.draft = draft
        self.graph = Graph.__new__(Graph)
        self.graph._draft = draft
        self.recorded: dict[int, Shape] = {slot: fact.shape for slot, fact in enumerate(recorded)}
        self.numbers = dict(numbers)
        self.known = dict(numbers)
        self._values: dict[Polynomial, int] = {}
        self.asked = asked
        self.batch = batch
        self.notes = Notes(batch)
        self.of_sizes: dict[Item, bool] = {}
        self.item: Item = next(iter(draft.state.items.values()))
        self.traced: Trace | None = None
        self.instead: Item | None = None
        self.replaced: set[Item] = set()
        self.pick: Callable[[Sequence[Any]], Any] = lambda options: options[0]
        self.witness: Witness | None = None
        self.letters: Set[str] = frozenset()

    # Facts.

    def shape(self, value: Value) -> Shape:
        """The shape at the open sizes."""
        return self.draft.facts.of(value).shape

    def sizes(self, value: Value) -> tuple[Size, ...]:
        """The shape at the open sizes. Refuses a tensor of unknown rank."""
        shape = self.shape(value)
        if shape is None:
            self.refuse(f"reads {value.item!r}, whose rank is not known")
        return tuple(shape)

    def recorded_sizes(self, value: Value) -> tuple[int, ...] | None:
        """The shape at the recorded sizes; None if it is not known as numbers."""
        shape = self.recorded.get(value.slot, ...)
        if shape is ...:
            shape = tuple([self.at(size) for size in self.shape(value) or ()])
        numbers = tuple([size for size in shape or () if isinstance(size, int)])
        return None if shape is None or len(numbers) != len(shape) else numbers

    def at(self, size: Size) -> Size:
        """The recorded value of a size; the size itself if the recorded sizes do not tell it."""
        if isinstance(size, int):
            return size
        found = self._values.get(size.polynomial)
        if found is None:
            try:
                found = evaluate(size, self.known)
            except (KeyError, ZeroDivisionError):
                return size
            self._values[size.polynomial] = found
        return found

    def elements(self, value: Value) -> tuple[Any, ...] | None:
        """The elements of a tensor of sizes, each a number or a formula; None if they are not known."""
        found = self.draft.facts.of(value).elements
        if isinstance(found, tuple):
            return found
        shape = self.shape(value)
        numbers = [size for size in shape or () if isinstance(size, int)]
        if shape is None or len(numbers) != len(shape) or prod(numbers) > _FEW:
            return None
        array = self.array(value)
        return None if array is None or array.dtype.kind not in "iu" else tuple(array.reshape(-1).tolist())

    def array(self, value: Value) -> NDArray[Any] | None:
        """The elements of a Const, also of one behind a Convert; None for any other tensor."""
        constant = self.constant_of(value)
        try:
            return None if constant is None else layer_of(self.draft, constant).data
        except TypeError:  # NumPy has not the element type
            return None

    def constant_of(self, value: Value | None) -> Item | None:
        """The Const that a tensor is, or that a Convert before it reads; None for any other tensor."""
        if value is None:
            return None
        if value.item.type == "Convert" and value.item.inputs:
            return self.constant_of(value.item.inputs[0])
        return value.item if value.item.type in CONSTANTS else None

    def trace(self, value: Value) -> Trace:
        """What each axis of a tensor is made of, with the recorded sizes of the factors as far as they are known."""
        held = self.notes.traces.held.get(value.slot)
        trace = (plain(self.shape(value), self.recorded_sizes(value)) if held is None else held.trace) or ()
        return tuple([tuple([self.recorded_factor(factor) for factor in axis]) for axis in trace])

    def recorded_factor(self, factor: Factor) -> Factor:
        """A factor with its recorded size, which the law of the elements that a Gather reads does not tell."""
        was = self.at(factor.size) if factor.recorded is None else None
        return factor._replace(recorded=was) if isinstance(was, int) else factor

    def flowed(self, item: Item) -> Flowed:
        """What flows out of a layer; the traces of its outputs are kept."""
        facts = self.draft.facts
        op = None if item.op_class is None else item.op_class(item.attributes, self.draft.model.document.limits)
        inputs = [Traced(one.slot, self._fact(one), self.recorded_sizes(one)) for one in item.inputs if one is not None]
        outputs = [Traced(one.slot, facts.of(one), self.recorded_sizes(one)) for one in item.outputs]
        layer = FlowLayer(op, f"{item.type} {item.name!r}", inputs, outputs, [one.code for one in facts.findings(item)])
        return self.notes.traces.visit(layer)

    def _fact(self, value: Value) -> Fact:
        """The fact of a tensor, with the elements of a small constant that no rule of a pass reads."""
        fact = self.draft.facts.of(value)
        elements = self.elements(value) if fact.elements is None else None
        return fact if elements is None else Fact(fact.element_type, fact.shape, elements, is_literal=True)

    def holds_batch(self, size: Size) -> bool:
        """Whether a size depends on the batch."""
        return self.batch is not None and isinstance(size, Dim) and self.batch in symbols(size)

    def alone(self, size: Size) -> object:
        """The formula of a size for the recorded batch."""
        if not isinstance(size, Dim) or not self.holds_batch(size) or self.batch is None:
            return expression_of(size)
        table = size.scope.polynomials
        named = size.scope.named(self.batch)
        symbol = None if named is None else table.only_atom(expression_of(named))
        return replaced(size.polynomial, {} if symbol is None else {symbol.index: self.numbers[self.batch]})

    def is_open(self, size: Size) -> bool:
        """Whether a size depends on a size that was asked for, other than the batch, or on one that a layer makes of such sizes."""
        return isinstance(size, Dim) and not self.holds_batch(size) and not symbols(size).isdisjoint(self.known)

    def is_of_sizes(self, value: Value) -> bool:
        """Whether a tensor is computed from sizes and constants alone."""
        known = self.of_sizes

        def inputs(item: Item) -> list[Item]:
            return [] if item in known or item.type in ("ShapeOf", "Parameter") else [one.item for one in item.inputs if one is not None]

        for item in behind([value.item], inputs):
            if item not in known:
                known[item] = item.type not in ("Parameter", "ReadValue") and all(known.get(one, False) for one in inputs(item))
        return known[value.item]

    # Words.

    def refuse(self, reason: str, constant: Item | None = None, hint: str | None = None) -> NoReturn:
        """Say why the layer that is visited cannot be mended."""
        raise Refusal(self.item, reason, constant, hint)

    def cut_apart(self, item: Item) -> str:
        """In words, that a slice is one of several that cut a tensor into steps, each of which has its own layers; empty if it is not."""
        data = item.inputs[0] if item.type in _SLICES else None
        readers = [] if data is None else [one for one, _ in self.draft.readers_of(data.item)]
        count = sum(one.type == item.type and one.base is not None for one in readers)
        told = f"{count} {item.type} layers cut steps out of {item.producers[0]!r}" if count > 2 else ""
        return f"; {told}, and the file has no layers for more steps" if told else ""

    def mend(self, port: str, was: object, now: object, kind: str = "forced", why: str = "", item: Item | None = None) -> None:
        """Write a change down."""
        item = item or self.item
        if isinstance(now, tuple | list):
            now = [self.wanted(size) for size in now]
        self.notes.mends.append(Mend(where_of(item), port, _text(was), _text(now), kind, why))

    def wanted(self, size: Any) -> Any:
        """A size as it was asked for: its number if only numbers were asked for."""
        if isinstance(size, Dim) and symbols(size) <= self.asked.keys():
            return evaluate(size, self.asked)
        return size

    def keep(self, what: str, *sizes: Size, ways: Ways | None = None) -> None:
        """Write down a number that stays although its axis is open; it may follow from `sizes`, if that is known.

        `ways` are the sizes that the layer gives with the number, and with the number that follows from the size, if they are known.
        """
        names = frozenset([name for size in sizes for name in symbols(size)])
        at = None if self.witness is None else self.witness.at
        doubt = Doubt(where_of(self.item), what, (ways,) if ways else (), is_number=True, names=names)
        is_undecided = ways is not None and at is not None and [*map(at, ways[0])] == [*map(at, ways[1])]
        self.notes.kept.append(doubt.left_open("it has the same number either way") if is_undecided else doubt)

    # Edits.

    def add(self, type: str, *inputs: Any, name: str, version: str | None = None, **attributes: Any) -> Tensor:
        """The output of a new layer, whose axes are traced."""
        made = self.graph.add(type, *inputs, name=name, version=version, **attributes).output
        if self.batch is not None:
            self.flowed(made._value.item)
        return made

    def tensor(self, value: Value) -> Tensor:
        """The public tensor of a value."""
        return tensor_of(self.draft, value)

    def connect(self, port: int, source: Any, item: Item | None = None) -> None:
        """Let an input of the layer that is visited read another tensor, in the element type of the one before."""
        item = item or self.item
        before = item.inputs[port]
        assert before is not None
        like = self.tensor(before).element_type
        layer = layer_of(self.draft, item)
        if isinstance(source, Tensor):
            if source.element_type is not like:
                source = self.add("Convert", source, name=f"{item.name}/{port}", destination_type=like)
            layer.connect(port, source)
        else:
            layer.connect(port, self.graph.constant(source, name=f"{item.name}/{port}", element_type=element_type_of(like)))

    def again(self, item: Item, *inputs: Any, output: int = 0, **changed: str) -> Tensor:
        """The output, at this position, of a layer like another one with other inputs, and some other attributes."""
        attributes: dict[str, Any] = {**item.attributes, **changed}
        made = self.graph.add(item.type, *inputs, name=f"{item.name}/wide", version=item.version, **attributes)
        if self.batch is not None:
            self.flowed(made._item)
        return made.outputs[output]


def put_instead(bench: Bench, new: Tensor) -> None:
    """Let a new layer, of the same recorded shape, take the place of the one that is visited."""
    old = bench.item.outputs[0]
    bench.recorded[new._value.slot] = bench.recorded[old.slot]
    bench.tensor(old).replace_uses(new)
    bench.instead = new._value.item
    bench.replaced.add(bench.item)


def source(item: Item, port: int) -> Value:
    """What an input of a layer reads. The layers that are visited have no input that reads nothing."""
    value = item.inputs[port]
    assert value is not None
    return value


def sized(item: Item) -> list[Value]:
    """The inputs of a layer, without those that number axes."""
    declared = [None if item.op_class is None else item.op_class.input_at(port, len(item.inputs)) for port in range(len(item.inputs))]
    return [value for value, own in zip(item.inputs, declared, strict=True) if value is not None and (own is None or own.name not in AXES)]


def holder(bench: Bench, values: Iterable[Value], fits: Callable[[Size], bool]) -> Item | None:
    """The nearest constant from which tensors have a size that `fits`: as an axis, or else as a number that is read, such as a depth.

    A tensor of sizes may have it from any input of its layer, other tensors from an input with such an axis.
    """
    pending, seen, read = [*values], set[Value](), list[Item]()
    while pending:
        value = pending.pop(0)
        has_axis, constant = any(map(fits, bench.shape(value) or ())), bench.constant_of(value)
        if constant is not None:
            if has_axis:
                return constant
            read += [constant] if any(map(fits, bench.elements(value) or ())) else []
        elif value not in seen and (has_axis or bench.is_of_sizes(value)):
            seen.add(value)
            pending += sized(value.item)
    return next(iter(read), None)


def where_of(item: Item) -> Where:
    """The place of a layer; a new layer has no line."""
    base: Node | None = item.base
    own = Where(None, str(item.id), item.name, item.type)
    return own if base is None else place(base.model.document, base.layer, base.layer.offset)


def total(sizes: Iterable[Size]) -> Size:
    """The sum of sizes."""
    return sum(sizes)


def open_sizes(bench: Bench) -> list[Dim]:
    """The formulas that axes have as their sizes so far."""
    return [size for place in bench.notes.places.values() if isinstance(size := bench.sizes(place.value)[place.axis], Dim)]


def recorded_as(bench: Bench, number: object, *, of_batch: bool = True) -> list[Dim]:
    """The open sizes whose recorded number this is; `of_batch` says that sizes of the batch count."""
    sizes = open_sizes(bench) if isinstance(number, int) and number > 1 else []
    return [size for size in sizes if (of_batch or bench.is_open(size)) and bench.at(size) == number]


def number_of(item: Item, name: str = "axis") -> int:
    """A number that a layer has as an attribute, as OpenVINO reads it: it ignores what follows, and takes 0 for one that is missing."""
    text = item.attributes.get(name, "")
    return read_integer(text)[0] if text.strip() else 0


def is_true(item: Item, name: str) -> bool:
    """Whether a boolean attribute of a layer is true; false if it is missing."""
    return item.attributes.get(name, "false").lower() in ("true", "1")


def numbers_of(item: Item, name: str) -> list[int]:
    """The numbers of an attribute that is a list."""
    return [read_integer(one)[0] for one in item.attributes.get(name, "").split(",") if one.strip()]


def listed(sizes: Iterable[Any]) -> str:
    """A shape in words."""
    return f"[{','.join(formula_text(size) if isinstance(size, int | Dim) else str(size) for size in sizes)}]"


class Sizes(list[Any]):
    """Sizes that are an option. All options of a number that another export has otherwise are `is_seen`: each of them fits both exports."""

    is_cut = False
    is_seen = False

    @property
    def sizes(self) -> tuple[Size, ...]:
        return tuple(self)

    def text(self, tell: Callable[[Size], str]) -> str:
        """The option in words, each size as `tell` writes it."""
        return listed(map(tell, self))


class Seen(Sizes):
    """Sizes that give the numbers of both exports."""

    is_seen = True


def _text(given: object) -> str:
    return listed(given) if isinstance(given, tuple | list) else str(given)


# A formula with more terms is no size that a person would recognise.
_MOST_TERMS: Final = 12
_LARGEST: Final = 2**62
_LAYERS: Final = {"floor": "Divide", "min": "Minimum", "max": "Maximum", "add": "Add", "multiply": "Multiply"}


def vector(bench: Bench, sizes: Sequence[Size | Tensor], source: Value | None = None) -> Any:
    """The sizes as i64[n]: numbers as an array, else a tensor. `source` is the tensor whose axes are looked at first."""
    import numpy as np

    if all(isinstance(size, int) for size in sizes):
        return np.array(sizes, np.int64)
    merged: list[Any] = []
    for size in sizes:
        if isinstance(size, int):
            if merged and isinstance(merged[-1], list):
                merged[-1].append(size)
            else:
                merged.append([size])
        else:
            merged.append(size if isinstance(size, Tensor) else formula(bench, size, source))
    pieces = [np.array(one, np.int64) if isinstance(one, list) else one for one in merged]
    return pieces[0] if len(pieces) == 1 else bench.add("Concat", *pieces, axis=0, name=f"{bench.item.name}/shape")


def formula(bench: Bench, size: Size, source: Value | None = None) -> Tensor:
    """A tensor i64[1] with the value of a size. Refuses a formula that no layers compute."""
    import numpy as np

    if isinstance(size, int):
        return bench.graph.constant(np.array([size], np.int64), name=f"{bench.item.name}/number")
    key = "formula", expression_of(size)
    known = bench.notes.made.get(key)
    if known is None:
        found = _axis_with(bench, size, source)
        known = bench.notes.made[key] = _axis(bench, *found) if found else _computed(bench, size)
    return known


def scalar(bench: Bench, size: Size, source: Value | None = None) -> Any:
    """A size as a tensor without axes."""
    import numpy as np

    if isinstance(size, int):
        return np.array(size, np.int64)
    return bench.add("Squeeze", formula(bench, size, source), np.array([0], np.int64), name=f"{bench.item.name}/scalar")


# OpenVINO takes the axis that a slice leaves for the whole axis where both have the same bounds, 0 to any size, and then folds a ShapeOf of
# the one into the other. So a size that a slice has made is computed.
_SLICES: Final = ("Slice", "StridedSlice")


def _axis_with(bench: Bench, size: Dim, source: Value | None) -> tuple[Value, int] | None:
    """An axis with this formula: of an input of the model, else of the given tensor, else of the nearest one before the layer.

    Tensors that are computed from sizes come last: a layer behind them may need them with other sizes.
    """
    wanted = expression_of(size)
    state = bench.draft.state
    places = list(bench.notes.places_of(wanted))
    if places and places[-1][0].item.type in _SLICES and not origins(size) & UNBACKED:
        return None
    near = [(source, axis) for axis, own in enumerate(bench.shape(source) or ()) if expression_of(own) is wanted] if source else []
    first = [place for place in reversed(places) if place[0].item.type == "Parameter"]
    for value, axis in (*first, *sorted([*near, *places], key=lambda place: bench.is_of_sizes(place[0]))):
        if not state.is_live(value.item) or value.item.label >= bench.item.label:
            continue
        shape = bench.shape(value)
        if shape is not None and axis < len(shape) and expression_of(shape[axis]) is wanted:
            return value, axis
    return None


def _axis(bench: Bench, value: Value, axis: int) -> Tensor:
    """The size of an axis of a tensor, i64[1]."""
    import numpy as np

    key = "shape", value.slot
    name = value.item.name
    shape = bench.notes.made.get(key)
    if shape is None:
        shape = bench.notes.made[key] = bench.add(
            "ShapeOf", bench.tensor(value), output_type="i64", name=f"{name}/shape_of", version="opset3"
        )
    zero = np.array(0, np.int64)
    made = bench.add("Gather", shape, np.array([axis], np.int64), zero, name=f"{name}/axis_{axis}", version="opset8", batch_dims=0)
    held, slot = bench.notes.traces.held, made._value.slot
    if slot in held:  # the size of the batch is not read with another axis
        held[slot] = cleared(held[slot], Fact(ElementType.i64, (1,), (bench.sizes(value)[axis],)), bench.batch)
    return made


def _computed(bench: Bench, size: Dim) -> Tensor:
    """A formula by arithmetic on the sizes that it is made of."""
    polynomial = size.polynomial
    if abs(polynomial.constant) >= _LARGEST or len(polynomial.terms) > _MOST_TERMS:
        bench.refuse(f"needs the size {formula_text(size)}, a formula that is too long for layers that compute it")
    name = f"{bench.item.name}/size"
    total = formula(bench, polynomial.constant) if polynomial.constant else None
    for monomial, factor in polynomial.terms:
        term = None if factor == 1 else formula(bench, factor)
        for index in monomial:
            one = _of_atom(bench, size, polynomial.table.atoms[index])
            term = one if term is None else bench.add("Multiply", term, one, name=name)
        assert term is not None
        total = term if total is None else bench.add("Add", total, term, name=name)
    assert total is not None
    return total


def _of_atom(bench: Bench, size: Dim, atom: Atom) -> Tensor:
    """The value of an atom of a formula: the size of an axis, what is left of the axis with a multiple of it, or arithmetic."""
    own = dim_of(size.scope, atom)
    key, name = ("formula", expression_of(own)), f"{bench.item.name}/size"
    if key in bench.notes.made:
        return bench.notes.made[key]
    lines = [one for one in bench.notes.places if not isinstance(one, int) and [term[0] for term in one.terms] == [(atom.index,)]]
    if isinstance(own, Dim) and (found := _axis_with(bench, own, None)):
        made = _axis(bench, *found)
    elif atom.kind in _LAYERS:
        a, b = (formula(bench, one if isinstance(one, int) else dim_of(size.scope, one)) for one in atom.arguments)
        made = bench.add(_LAYERS[atom.kind], a, b, name=name)
    elif lines and (found := _axis_with(bench, cast("Dim", dim_of(size.scope, lines[0])), None)):
        made, (_, factor) = _axis(bench, *found), lines[0].terms[0]
        made = bench.add("Add", made, formula(bench, -lines[0].constant), name=name) if lines[0].constant else made
        made = bench.add("Divide", made, formula(bench, factor), name=name)
    else:
        bench.refuse(f"needs the size {atom.name or atom.kind}, but no tensor before the layer has this size")
    bench.notes.made[key] = made
    return made
