"""The cost of a model: what its layers compute, read and write, and the memory that they take."""

from __future__ import annotations

import csv
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property
from itertools import product
from math import inf
from typing import Any, Final, NamedTuple, TypeAlias

from irshape.answers.cost.counting import CostGraph, Counting, LayerCost, Parameters, Tensors, Trips, regular
from irshape.answers.cost.formula import (
    NEAR,
    OF_TYPE,
    REFERENCE,
    Amount,
    Formula,
    amount,
    divides_by_0,
    ratio,
    reference,
    shown,
    shown_amount,
    summed,
    value,
    values,
)
from irshape.answers.cost.memory import Peak, Reuse, Stretch
from irshape.answers.hierarchy import GENERATED, Hierarchy
from irshape.answers.roots import roots
from irshape.answers.signature.names import FreeNames
from irshape.answers.signature.notes import DATA_SIZE, DataSize, data_name, nameless
from irshape.answers.signature.signature import Signature, ends
from irshape.answers.wording import Answer, opening
from irshape.files.writing import write_atomic
from irshape.inference.facts import Fact
from irshape.inference.inference import Inference
from irshape.inference.inputs import UNNAMED, InputError, by_name, sizes_by_name
from irshape.inference.variables import pairs
from irshape.model.finding import end_name
from irshape.model.model import Model, Node, grouped
from irshape.model.public import public
from irshape.ops.infrastructure import ReadValueV3, ReadValueV6
from irshape.report import form
from irshape.report.section import Block, Column, Item, Line, Section, Table, joined, key, named, paragraph
from irshape.report.text import bytes_text, counted, number_text, some
from irshape.shape.dim import Dim, formula_text, symbols
from irshape.shape.guard import Requirement, all_hold, broken
from irshape.shape.polynomial import Expression, Polynomial
from irshape.shape.range import Range, fitting

# So many conditions are tried in a step of work.
_A_STEP: Final = 16
_SIZES_A_STEP: Final = 4
# The most terms that a formula of a cost may have before a part of it gets a name of its own.
_TERMS: Final = 256
_AMOUNTS: Final = ("macs", "operations", "weights", "inputs", "outputs", "runs")

# The most rows of a list, names in a row, pieces of the sizes of a symbol; the widths of a bar, a name and a formula.
_MOST_ROWS: Final = 8
_MOST_NAMES: Final = 3
_MOST_STRETCHES: Final = 6
_BAR: Final = 20
_WIDEST_FORMULA: Final = 100
# The deepest beginning of names by which layers are grouped, the most groups, and what separates the parts of a name.
_DEEPEST: Final = 6
_MOST_GROUPS: Final = 12
_SEPARATOR: Final = re.compile(r"[./]| / ")
_NUMBER: Final = Column(is_number=True, least=9)
_BARS: Final = (
    Column("key", most=56, is_cut=True), _NUMBER, _NUMBER, _NUMBER, Column(is_number=True, least=7),
    Column(is_number=True, least=6), Column(is_spare=True),
)  # fmt: skip
_AMOUNTS_SHOWN: Final = ("MACs", "others", "bytes", "FLOPs/B", "FLOPs", "")
_TOTALS: Final = (Column("key", least=16), Column(least=22), Column())
# The keys of the layers that are asked for, and the remark if none of them computes anything.
Selected: TypeAlias = "tuple[frozenset[str], str]"


class Variable(NamedTuple):
    """A variable of a model, such as a KV cache: its bytes when it is read (`before`), and as the inference leaves it (`after`)."""

    name: str
    before: Amount
    after: Amount


class CostTensor(NamedTuple):
    """An input or an output of the model, with its bytes; None if they are not known."""

    name: str
    bytes: Amount | None


class Swept(NamedTuple):
    """The amounts of a model at some `sizes`, which are valid if they fulfil its conditions; memory and traffic are in bytes."""

    sizes: dict[str, int]
    is_valid: bool
    macs: int
    flops: int
    traffic: int
    peak_memory: int
    state_bytes: int


class Cost(Answer):
    """What a model costs at each inference.

    Every amount is a number, or a `Formula` of the sizes of the inputs. `macs` are multiply-accumulates, `operations` all other operations
    on single elements, `flops` two for each MAC and one for each operation. `traffic` are the bytes that layers read and write.
    `parameters` is the number of elements of the constants, `parameter_bytes` their bytes, and `parameters_by_type` both by element type.
    `peak_memory` is the most bytes that activations take at one time; `peak` tells in which layer, and for which sizes another layer takes
    over. `state` are the variables. `inputs` and `outputs` are those of the model.

    `layers` are the layers in the order of the file, those of bodies included; `uncounted` are those whose work is not counted and is in no
    sum. `folded` layers depend on no input: OpenVINO computes them when it compiles the model, so they cost nothing. `symbols` are the
    ranges of the sizes that the user can choose, `data_sizes` the sizes known only at run time. `near` are the sizes at which formulas are
    compared. `signature` has the conditions on these sizes; it is None for a model without open sizes. `diagnostics` are the faults of the
    model, and `reuse` says which tensors share memory. With `is_profile`, nobody asks for the peak, which takes long to find.
    """

    _swept: Sequence[Swept] = ()

    def __init__(
        self, inference: Inference, signature: Signature | None, near: Mapping[str, int], reuse: Reuse, *, is_profile: bool = False
    ) -> None:
        self._inference = inference
        self.signature: Final = signature
        self._is_unfinished = False
        self._demands_on: dict[str, list[Requirement]] = {}
        self._numbers: dict[Expression, int] = {}
        self.reuse: Final = reuse
        scope = inference.scope
        scope.work.renew()
        scope.polynomials.widen(_TERMS)
        (model, run), *_ = inference.graphs
        trips = Trips(scope)
        graph = CostGraph(model, run, trips, regular(inference))
        names = self._names(trips)
        self._shown = names
        self._tensors = tensors = Tensors(scope)
        counting = Counting(tensors, graph, names)
        work = counting.work
        self.layers: Final = counting.layers
        self.uncounted: Final = [layer for layer in self.layers if layer.uncounted is not None]
        self.folded: Final = sum(one.folded for one in graph.walk())
        self.macs: Final = amount(work.macs, names)
        self.operations: Final = amount(work.operations, names)
        self.flops: Final = amount(2 * work.macs + work.operations, names)
        self.traffic: Final = amount(work.traffic, names)
        parameters = Parameters(model)
        self.parameters: Final = parameters.elements
        self.parameter_bytes: Final = parameters.bytes
        self.parameters_by_type: Final = parameters.by_type
        self.peak: Final = Peak(tensors, graph, reuse, names)
        self.inputs: Final = [CostTensor(end_name(node), self._bytes(graph, node.first_slot)) for node in model.parameters]
        given = [node for node in model.results if node.sources]
        self.outputs: Final = [CostTensor(end_name(node), self._bytes(graph, node.sources[0])) for node in given]
        self.state: Final = list(self._variables(graph))
        own = {} if signature is None else signature.symbols
        self.symbols: Final = {name: Range(*known) for name, known in own.items()}
        self._name_others(trips)
        if tensors.unfinished is not None:
            what = "the cost is that of the layers before this one, and the peak may be higher"
            inference.report([inference.unfinished(what, tensors.unfinished)])
        self.data_sizes: Final = [DataSize(names.get(name, name), public(node)) for name, node in {**self._data, **trips.symbols}.items()]
        self.near, self._is_near_valid = self._reference(near, is_profile=is_profile)
        self._broken = [] if self._is_near_valid else broken(self._demands, self.near)
        scope.work.renew()  # for what is asked of the answer

    @property
    def peak_memory(self) -> Amount:
        """The most bytes that activations take at one time; a formula holds for all sizes."""
        return self.peak.memory

    @property
    def _peak_layer(self) -> Node | None:
        return self.peak.layer(self.near)

    @property
    def state_bytes(self) -> Amount:
        """The bytes of all variables after the inference."""
        return amount(summed(self._inference.scope, [one.after for one in self.state]), self._shown)

    @property
    def intensity(self) -> float | None:
        """The FLOPs for each byte of `traffic`, at the sizes `near`; None for a model that moves no bytes."""
        moved = self.at(self.traffic)
        return ratio(self.at(self.flops), moved) if moved else None

    def __repr__(self) -> str:
        return f"<Cost of {self._inference.document.path or self._inference.model.name!r}: {self.macs} MACs, {self.parameters} parameters>"

    def _sections(self, selected: Selected | None = None, *, is_complete: bool = False) -> Iterator[Section]:
        """The text: totals, memory, groups and the costliest layers, or the selected ones; with `is_complete`, whatever its length."""
        page = _Page(self, is_complete)
        found = [*page.sizes(), page.sweep(), page.totals(), *page.groups(), page.layers(selected), page.asides()]
        yield from opening(self.document, self.diagnostics)  # to which the sections may add
        yield from found

    def at(self, amount: Amount, sizes: Mapping[str, int] | None = None, /, **named: int) -> int:
        """The number of an amount for these sizes, `cost.at(cost.macs, H=320)`, and for those of `near` where a size is not given."""
        if isinstance(amount, int):
            return amount
        if sizes or named:
            return value(amount, {**self.near, **sizes_by_name(sizes, self.near, named)})
        if not self._numbers:
            self._compute(getattr(layer, name) for layer in self.layers for name in _AMOUNTS)
        if amount.expression not in self._numbers:
            self._numbers[amount.expression] = value(amount, self.near)
        return self._numbers[amount.expression]

    def _compute(self, amounts: Iterable[Amount]) -> None:
        """Compute amounts that `at` will be asked for, at the sizes `near`. What their formulas share is computed once."""
        found = [one for one in amounts if isinstance(one, Formula)]
        with suppress(ZeroDivisionError, InputError):  # then one of them has no number
            self._numbers.update(zip([one.expression for one in found], values(found)(self.near), strict=True))

    def _flops_of(self, layer: LayerCost) -> int:
        """The FLOPs of a layer, for the sizes `near`."""
        return 2 * self.at(layer.macs) + self.at(layer.operations)

    def stretches(self, symbol: str) -> list[Stretch]:
        """The layers that have the peak of memory as one symbol grows, the other sizes being those of `near`.

        If the limit `work` does not allow the answer, it is empty, and a diagnostic says so. Raises `InputError` for an unknown symbol.
        """
        sizes_by_name({symbol: 0}, self.near)  # a symbol of the model
        known = self.symbols.get(symbol, Range(0, inf))
        work = self._inference.scope.work
        work.take(1 + len(self.near) // _SIZES_A_STEP)
        if not self._demands_on:
            self._demands_on = grouped((name, one) for one in self._demands for name in one.symbols())
        own = [] if work.is_done else self._demands_on.get(symbol, [])
        hold, others_hold = all_hold(own), all(symbol in one.symbols() for one in self._broken)
        sizes = dict(self.near)

        def is_valid(size: int) -> bool:
            sizes[symbol] = size
            work.take(1 + len(own) // _A_STEP)
            fits = known.modulus <= 1 or (size - known.remainder) % known.modulus == 0
            return others_hold and fits and hold(sizes)

        found = self.peak.stretches(symbol, self.near, max(int(known.low), 1), None if known.high == inf else int(known.high), is_valid)
        if found is None and not self._is_unfinished:
            self._is_unfinished = True
            what = f"it is not known for which sizes of {symbol} and of other symbols the peak is in another layer"
            self._inference.report([self._inference.unfinished(what, self.peak.candidates[0][0])])
        return found or []

    def sweep(self, sizes: Mapping[str, Iterable[int]]) -> list[Swept]:
        """The amounts for each combination of sizes, the others being those of `near`. Raises `InputError` for an unknown symbol."""
        given = by_name(sizes, "sizes", '{"H": [224, 448]}')
        sizes_by_name(dict.fromkeys(given, 0), self.near)  # symbols of the model
        hold = all_hold(self._demands)
        amounts = (self.macs, self.flops, self.traffic, self.peak_memory, self.state_bytes)
        rows = []
        for several in product(*given.values()):
            own = sizes_by_name(dict(zip(given, several, strict=True)), self.near)
            chosen = {**self.near, **own}
            is_valid = hold(chosen) and all(fitting(known, chosen[name]) == chosen[name] for name, known in self.symbols.items())
            rows.append(Swept(own, is_valid, *[value(one, chosen) for one in amounts]))
        return rows

    def to_records(self) -> list[dict[str, Any]]:
        """A record for each layer, for `pandas.DataFrame` and CSV: amounts are numbers at the sizes `near`, `formula` is of the MACs."""
        return [
            {
                "layer": layer._node.key, "name": layer.name, "type": layer.type, "path": layer._node.model.path,
                "runs": self.at(layer.runs), "macs": self.at(layer.macs), "operations": self.at(layer.operations),
                "flops": self._flops_of(layer), "weights": self.at(layer.weights), "inputs": self.at(layer.inputs),
                "outputs": self.at(layer.outputs), "intensity": layer.intensity(self.near), "formula": str(layer.macs),
                "parameters": layer.parameters, "uncounted": layer.uncounted or "",
            }
            for layer in self.layers
        ]  # fmt: skip

    def write_csv(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the records as a CSV file, with a head. An existing file is replaced only with `force`. Raises `OSError`."""
        records = self.to_records()
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, list(records[0]) if records else ["layer"])
        writer.writeheader()
        writer.writerows(records)
        write_atomic(path, text.getvalue().encode("utf-8", "backslashreplace"), force=force, kept=self._files())

    def _files(self) -> list[str]:
        """The files of the model, which nothing overwrites."""
        weights = self._inference.weights
        return [path for path in (self.document.path, weights.path if weights else None) if path is not None]

    def plot(self, path: str | os.PathLike[str], symbol: str | None = None, *, force: bool = False) -> None:
        """Draw cost against one symbol, and memory against depth, as PNG or SVG. Needs matplotlib (`irshape[plot]`).

        `symbol` is the first symbol of the model unless it is given; without symbols only memory is drawn. An existing file is replaced
        only with `force`. Raises `ImportError` without
        matplotlib, `InputError` for an unknown symbol, `ValueError` for an unknown format, and `OSError` if the file cannot be written.
        """
        write_atomic(path, _picture(self, os.fspath(path), symbol), force=force, kept=self._files())

    def to_dict(self) -> dict[str, Any]:
        """The form of `schemas/cost.schema.json`."""
        return COST(self)

    def _names(self, trips: Trips) -> dict[str, str]:
        """The names that are shown for sizes that only data tells."""
        own = set() if self.signature is None else set(self.signature.symbols)
        self._data: dict[str, Node] = {}
        for root in roots(self._inference) if nameless(self._inference, own) else ():
            for name in sorted(symbols(root.size), key=lambda name: (len(name), name)):
                if name not in own and name not in trips.symbols:
                    self._data.setdefault(name, root.node)
        taken = FreeNames({*own, *trips.symbols, *self._data})
        return {name: taken.name(data_name(node)) for name, node in self._data.items() if re.fullmatch(UNNAMED, name)}

    def _name_others(self, trips: Trips) -> None:
        """Name the sizes of formulas that no axis shows: the first layer with such a formula tells where they come from."""
        known = {*self.symbols, *trips.symbols, *self._data}
        places = [(layer._node, getattr(layer, name)) for layer in self.layers for name in _AMOUNTS]
        firsts: dict[Polynomial, tuple[Formula, Node]] = {}
        for node, found in (*places, *((node, amount(size, {})) for node, size in self.peak.tensors)):
            if isinstance(found, Formula):
                firsts.setdefault(found.expression, (found, node))
        for found, node in firsts.values():
            for name in found.raw_symbols:
                if name not in known:
                    known.add(name)
                    self._data[name] = node

    def _reference(self, near: Mapping[str, int], *, is_profile: bool) -> tuple[dict[str, int], bool]:
        table = self._inference.scope.polynomials
        ranges = {atom.name: table.ranges[atom.index] for atom in table.atoms if not atom.arguments}
        shown = {one.name: one for one in self.data_sizes}
        back = {self._shown.get(name, name): name for name in {**self._data, **dict.fromkeys(shown)}}
        unknown = {name: ranges.get(back.get(name, name), Range(0, inf)) for name in shown}
        near = sizes_by_name(near, [*self.symbols, *unknown])
        divides = any(atom.kind == "floor" and not isinstance(atom.arguments[1], int) for atom in table.atoms)
        peaks = [one for _, one in self.peak.candidates] if divides or not is_profile else []  # found by the work of the count
        amounts = (self.macs, self.operations, self.traffic, *peaks) if divides else ()

        def is_usual(sizes: Mapping[str, int]) -> bool:
            return not any(divides_by_0(one, sizes) for one in amounts)

        views = [self._inference.view(node) for node in self._inference.model.parameters]
        fixed = [size for view in views for port in view.outputs for size in port.shape or () if isinstance(size, int)]
        chosen, is_valid = reference(self.symbols, self._demands, near, unknown, is_usual, max(fixed, default=1))
        if is_valid or not broken(self._demands, chosen):
            return chosen, is_valid
        from irshape.answers.solve import mended

        for found in mended(self._inference.scope, self._demands, self.symbols, chosen, near):
            if is_usual(moved := {**chosen, **found}):
                return moved, True
        return chosen, False

    @property
    def _remark(self) -> str:
        """What is said of the sizes `near`."""
        return "" if self._is_near_valid else " (these sizes do not fulfil the conditions of the model)"

    @cached_property
    def _demands(self) -> list[Requirement]:
        """The requirements on the symbols alone, without those of bodies that need not run."""
        own = self.symbols.keys()
        return [guard.requirement for guard in self._inference.guards if not guard.branch and guard.requirement.symbols() <= own]

    def _bytes(self, graph: CostGraph, slot: int) -> Amount | None:
        size = self._tensors.bytes(graph.slots[slot])
        return None if size is None else amount(size, self._shown)

    def _variables(self, graph: CostGraph) -> Iterator[Variable]:
        assigned = {pair.read_value: pair.assign for pair in pairs(graph.model) if pair.read_value is not None}
        for node in graph.layers:
            op = node.op if node.op_type == "ReadValue" else None
            if isinstance(op, (ReadValueV3, ReadValueV6)) and not op.is_broken:
                assign = assigned.get(node)
                before = self._bytes(graph, node.first_slot)
                after = before if assign is None or not assign.sources else self._bytes(graph, assign.sources[0])
                yield Variable(op.variable_id, before or 0, after or before or 0)


# The amounts that are compared, each with its words.
_COMPARED: Final = {
    "parameter_bytes": "size",
    "macs": "MACs",
    "operations": "other operations",
    "traffic": "traffic",
    "peak_memory": "peak memory",
}


class Comparison:
    """The costs `a` and `b` of two models, compared at the sizes `near`, which both have.

    A size that is open in one model alone has the number of the other one.
    """

    def __init__(self, a: Cost, b: Cost) -> None:
        self.a: Final = a
        self.b: Final = b
        self.near: Final[dict[str, int]] = {**b.near, **a.near, **_fixed(b, a), **_fixed(a, b)}

    def values(self, name: str) -> tuple[int, int]:
        """An attribute of both costs, as numbers."""
        return self.at(getattr(self.a, name)), self.at(getattr(self.b, name))

    def is_equal(self, name: str) -> bool:
        """Whether an attribute is equal for all sizes."""
        a, b = getattr(self.a, name), getattr(self.b, name)
        return bool(a == b) if isinstance(a, int) is isinstance(b, int) else False

    @property
    def summary(self) -> str:
        """What has changed, in one line: `4.0 times smaller, MACs equal`."""
        return ", ".join([self._sentence(name, words) for name, words in _COMPARED.items()])

    def _sentence(self, name: str, words: str) -> str:
        before, after = self.values(name)
        if before == after:
            return f"{words} equal" if self.is_equal(name) else f"{words} equal at these sizes"
        if before == 0 or after == 0:
            return f"{words} {before:,} -> {after:,}"
        is_less = after < before
        factor = ratio(before, after) if is_less else ratio(after, before)
        by = f"{factor:.1f} times" if factor >= 1.05 else f"{(factor - 1) * 100:.2g} %"
        if name == "parameter_bytes":
            return f"{by} {'smaller' if is_less else 'larger'}"
        return f"{by} {'less' if is_less else 'more'} {words}"

    def at(self, found: Amount) -> int:
        """The number of an amount at the sizes `near`."""
        return value(found, self.near)


def _fixed(fixed: Cost, opened: Cost) -> dict[str, int]:
    """The numbers that a model has for the sizes of another one, by the names of the other one's symbols."""
    own = {node.name: fact.shape for node, fact in _inputs(fixed)}
    return {
        formula_text(size): number
        for node, fact in _inputs(opened)
        for size, number in zip(fact.shape or (), own.get(node.name) or (), strict=False)
        if isinstance(size, Dim) and isinstance(number, int) and formula_text(size) in opened.near
    }


def _inputs(cost: Cost) -> Iterator[tuple[Node, Fact]]:
    (model, run), *_ = cost._inference.graphs
    return ((node, run.slots[node.first_slot]) for node in model.parameters)


# The number of sizes that are drawn, up to a multiple of the present size.
_POINTS: Final = 33
_TIMES: Final = 4
_FORMATS: Final = (".png", ".svg")


def _picture(cost: Cost, path: str, symbol: str | None = None) -> bytes:
    """The picture of a cost, as `Cost.plot` says, in the format that the path names."""
    if not path.lower().endswith(_FORMATS):
        raise ValueError(f"the name of a picture must end with {' or '.join(_FORMATS)}")
    symbols = list(cost.symbols)
    if symbol is not None:
        sizes_by_name({symbol: 0}, symbols)
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("a picture needs matplotlib, which is not installed; run: pip install 'irshape[plot]'") from error
    symbol = symbol or next(iter(symbols), None)
    figure = Figure(figsize=(9, 3.4 if symbol is None else 6.8), layout="constrained")
    axes: Any = figure.subplots(1 if symbol is None else 2, squeeze=False)
    if symbol is not None:
        _draw_growth(cost, symbol, axes[0][0])
    _draw_memory(cost, axes[-1][0])
    kind = path.lower().rpartition(".")[2]
    drawn = io.BytesIO()
    figure.savefig(drawn, format=kind, metadata={"Date": None} if kind == "svg" else None)
    return drawn.getvalue()


def _draw_growth(cost: Cost, symbol: str, axes: Any) -> None:
    """MACs and peak memory against one symbol."""
    sizes = _sizes(cost, symbol)
    others = _near(cost, symbol)
    axes.set_title(f"cost against {symbol}{f' ({others})' if others else ''}")
    axes.plot(sizes, [value(cost.macs, {**cost.near, symbol: size}) / 1e9 for size in sizes], color="C0")
    axes.set_xlabel(symbol)
    axes.set_ylabel("GMACs", color="C0")
    axes.set_ylim(bottom=0)
    memory = axes.twinx()
    memory.plot(sizes, [value(cost.peak_memory, {**cost.near, symbol: size}) / 1e6 for size in sizes], color="C1")
    memory.set_ylabel("peak memory in MB", color="C1")
    memory.set_ylim(bottom=0)


def _draw_memory(cost: Cost, axes: Any) -> None:
    sizes = _near(cost)
    alive = [value(memory, cost.near) / 1e6 for _, memory in cost.peak.profile]
    axes.set_title(f"memory of activations{f' ({sizes})' if sizes else ''}")
    axes.fill_between(range(len(alive)), alive, step="mid", alpha=0.4, color="C1")
    axes.set_xlabel("layers in the order of the file")
    axes.set_ylabel("MB")
    axes.set_ylim(bottom=0)
    axes.margins(x=0)
    if alive:
        place = alive.index(max(alive))
        node = cost.peak.profile[place][0]
        side = "right" if 2 * place > len(alive) else "left"
        axes.annotate(f"{node.type} {node.name}", (place, alive[place]), ha=side, va="top", fontsize="small")


def _sizes(cost: Cost, symbol: str) -> Sequence[int]:
    """The sizes that are drawn: from the smallest to four times the present one, as far as the range of the symbol reaches."""
    low, high, modulus, remainder = cost.symbols[symbol]
    first, last = int(max(low, 1)), int(min(high, _TIMES * cost.near[symbol]))
    step = max((last - first) // (_POINTS - 1), 1)
    sizes = [size + (remainder - size) % modulus if modulus > 1 else size for size in range(first, last + 1, step)]
    return sorted(set(sizes)) or [cost.near[symbol]]


class _Page:
    """The text of a cost, section by section; `is_complete` leaves nothing out."""

    def __init__(self, cost: Cost, is_complete: bool) -> None:
        self.cost = cost
        self.is_complete = is_complete
        self.work = {layer: cost._flops_of(layer) for layer in cost.layers}
        self.counts = cache(self._counts)
        self.all_work = sum(self.work.values())

    def sizes(self) -> Iterator[Section]:
        """The signature, and the sizes at which numbers are given."""
        cost = self.cost
        if cost.signature is None:
            return
        yield paragraph(*ends(cost.signature, is_complete=self.is_complete))
        near = joined("numbers are those at ", key(_near(cost, is_complete=self.is_complete)), f"{cost._remark}; --near changes the sizes")
        said = {one.name for one in cost.signature.data_sizes}
        others = [one for one in cost.data_sizes if one.name not in said]
        data = (f"known only at run time: {name} of {nodes}" for name, nodes in _by_type(others).items())
        yield paragraph(*([near] if cost.near else []), *data)

    def sweep(self) -> Section:
        """The amounts at several sizes, a row for each."""
        rows = self.cost._swept
        if not rows:
            return paragraph()
        amounts = {"macs": "MACs", "flops": "FLOPs", "traffic": "traffic", "peak_memory": "peak memory", "state_bytes": "state"}
        shown = [name for name in amounts if name != "state_bytes" or any(row.state_bytes for row in rows)]
        texts = []
        for row in rows:
            numbers = ((number_text if name in ("macs", "flops") else bytes_text)(getattr(row, name)) for name in shown)
            texts.append([*map(str, row.sizes.values()), *numbers, "" if row.is_valid else "not valid"])
        head = [*rows[0].sizes, *(amounts[name] for name in shown), ""]
        return paragraph(Table([*[Column(is_number=True)] * (len(head) - 1), Column()], texts, head))

    def totals(self) -> Section:
        """The amounts of the whole model, and the peak of its memory."""
        cost = self.cost
        kinds = ", ".join(f"{name} {number_text(count)} ({bytes_text(size)})" for name, (count, size) in cost.parameters_by_type.items())
        rows: list[Sequence[Line]] = [
            ("MACs", *self.shown(cost.macs, number_text)),
            ("other operations", *self.shown(cost.operations, number_text)),
            ("FLOPs", *self.shown(cost.flops, number_text)),
            ("parameters", f"{number_text(cost.parameters)} in {bytes_text(cost.parameter_bytes)}", kinds),
            ("traffic", bytes_text(cost.at(cost.traffic)), "" if cost.intensity is None else f"{cost.intensity:.1f} FLOPs for each byte"),
            *self.tensors("inputs", cost.inputs),
            *self.tensors("outputs", cost.outputs),
        ]
        if cost.state:
            each = Counter(self.shown(one.after)[1] for one in cost.state)
            parts = [f"{count} variables, each {text}" if count > 1 else text for text, count in each.items() if text]
            rows.append(("state", bytes_text(cost.at(cost.state_bytes)), "; ".join(parts)))
        if (node := cost._peak_layer) is not None:
            text, formula = self.shown(cost.peak.formula(cost.near))
            rows.append(("peak memory", text, ("in ", node.type, " ", named(node.name), f"{': ' if formula else ''}{formula}")))
        return paragraph(Table(_TOTALS, rows), *(item for symbol in cost.symbols for item in self.stretches(symbol)))

    def tensors(self, what: str, tensors: Sequence[CostTensor]) -> Iterator[tuple[Line, ...]]:
        """The rows of inputs or outputs; those that take the same bytes share one."""
        groups = grouped((("not known", "") if one.bytes is None else self.shown(one.bytes), one.name) for one in tensors)
        for number, ((text, formula), names) in enumerate(groups.items()):
            each = f" and {len(names) - 1} more, each" if len(names) > 1 else ""
            yield what if number == 0 else "", text, (named(names[0]), f"{each} {formula}".rstrip())

    def stretches(self, symbol: str) -> Iterator[Block]:
        """The layers that have the peak of memory as a symbol grows."""
        found = self.cost.stretches(symbol)
        if len(found) < 2 and not any(len(one.layers) > 1 for one in found):
            return
        others = _near(self.cost, symbol, is_complete=self.is_complete)
        rows: list[Block] = []
        for one in found if self.is_complete else found[:_MOST_STRETCHES]:
            until = f"up to {one.high:,}" if one is found[0] and one.high is not None else f"from {one.low:,}"
            layers = [joined("; ", node.type, " ", named(node.name), f": {self.formula(memory)}") for node, memory in one.layers]
            turns = " by turns in " if len(layers) > 1 else " in "
            rows.append(joined(key(f"{symbol} {until}"), turns, *joined(*layers)[1:]))
        more = [f"and {len(found) - len(rows)} more (--all lists them)"] if len(rows) < len(found) else []
        yield Item(f"  as {symbol} grows{f', with {others}' if others else ''}, the peak is", [*rows, *more])

    def groups(self) -> Iterator[Section]:
        """The work by type, and by the beginnings of names."""
        working = [layer for layer in self.cost.layers if self.work[layer]]
        names = _prefixes(_telling(working, self.cost._inference.model))
        for heading, keys in (("by type", [one.type for one in working]), ("by name", names)):
            found = grouped(zip(keys or (), working, strict=keys is not None))
            ordered = sorted(found.items(), key=lambda item: -sum(self.work[layer] for layer in item[1]))
            if len(ordered) > 1:
                rows = [(f"{own} ({len(layers)})" if len(layers) > 1 else own, layers) for own, layers in ordered]
                shown = rows if self.is_complete else rows[:_MOST_ROWS]
                bars = [(own, *self.bar(layers)) for own, layers in shown]
                yield paragraph(Table(_BARS, bars, (heading, *_AMOUNTS_SHOWN), len(rows) - len(shown)))

    def layers(self, selected: Selected | None) -> Section:
        """The layers with most work, or those that are asked for, each with its id and the formula of its MACs."""
        dearest = sorted(self.cost.layers, key=lambda layer: -self.work[layer])
        own = [one for one in dearest if (self.work[one] if selected is None else one.node.key in selected[0])]
        if not own:
            return paragraph(selected[1]) if selected else paragraph()
        shown = own if self.is_complete or selected else own[:_MOST_ROWS]
        rows: list[Sequence[str]] = []
        for one in shown:
            formula = self.formula(one.macs) if isinstance(one.macs, Formula) else ""
            is_said = one.path.rpartition("/")[2].startswith(one.type)
            rows.append((one.node.key, one.path if is_said else f"{one.type} {one.path}", *self.bar([one]), formula))
        head = ("", "costliest layers" if selected is None else "layers", *_AMOUNTS_SHOWN, "")
        return paragraph(Table((Column("dim", is_number=True), *_BARS, Column(is_below=True)), rows, head, len(own) - len(shown)))

    def bar(self, layers: Sequence[LayerCost]) -> Iterator[str]:
        """The amounts of layers, and their share of all work."""
        macs, others, moved = [sum(numbers) for numbers in zip(*map(self.counts, layers), strict=True)]
        work = sum(self.work[one] for one in layers)
        share = work / self.all_work if self.all_work else 0
        yield from (number_text(macs), number_text(others), bytes_text(moved), f"{work / moved:.1f}" if moved else "")
        yield from (f"{share:.1%}", "█" * round(share * _BAR))

    def _counts(self, layer: LayerCost) -> tuple[int, int, int]:
        """The MACs, the other operations and the bytes of a layer, for the sizes `near`."""
        at = self.cost.at
        return at(layer.macs), at(layer.operations), sum([at(one) for one in (layer.weights, layer.inputs, layer.outputs)])

    def asides(self) -> Section:
        cost, most = self.cost, None if self.is_complete else _MOST_NAMES
        reasons = grouped((layer.uncounted or "", f"{layer.type} {layer.path}") for layer in cost.uncounted)
        lines = [f"not counted: {counted(len(names), 'layer')}, because {why}: {some(names, most)}" for why, names in reasons.items()]
        if cost.peak.unknown:
            names = list(dict.fromkeys(f"{node.type} {node.name}" for node in cost.peak.unknown))
            lines.append(f"not in the memory: outputs of {counted(len(names), 'layer')} whose bytes are not known: {some(names, most)}")
        if cost.folded:
            reads, is_computed, costs = ("reads", "is", "costs") if cost.folded == 1 else ("read", "are", "cost")
            folded = f"{counted(cost.folded, 'layer')} that {reads} only constants {is_computed} computed before the model runs"
            lines.append(f"{folded}, and {costs} nothing here")
        return paragraph(*lines)

    def shown(self, found: Amount, text: Callable[[int], str] = bytes_text) -> tuple[str, str]:
        """An amount as a number, and as a formula if it is one."""
        return text(self.cost.at(found)), self.formula(found) if isinstance(found, Formula) else ""

    def formula(self, found: Amount) -> str:
        """A formula as it fits: whole, the terms that nearly make it at the sizes `near`, or how to see it."""
        if isinstance(found, int):
            return bytes_text(found)
        whole = str(found)
        if self.is_complete or len(whole) <= _WIDEST_FORMULA:
            return whole
        about = found.about(self.cost.near)
        return f"about {about}" if 0 < len(about) <= _WIDEST_FORMULA else "a long formula (--all shows it)"


def _near(cost: Cost, but: str = "", *, is_complete: bool = False) -> str:
    """The sizes at which numbers are given, without that of one symbol: the first of those that only a run tells, or all."""
    sizes = [f"{name}={size}" for name, size in cost.near.items() if name != but]
    return some(sizes, None if is_complete else len(cost.symbols) - bool(but) + _MOST_NAMES)


def _by_type(sizes: Iterable[DataSize]) -> Mapping[str, str]:
    """Sizes that only a run tells, grouped by the type of the layers that decide them."""
    found: dict[str, tuple[list[str], dict[str, None]]] = {}
    for one in sizes:
        names, nodes = found.setdefault(one.node.type, ([], {}))
        names.append(one.name)
        nodes[one.node.name] = None
    return {some(names, _MOST_NAMES): f"{type} {some([*nodes], _MOST_NAMES)}" for type, (names, nodes) in found.items()}


def _telling(layers: Sequence[LayerCost], model: Model) -> list[str]:
    """The paths of layers; where a converter made a name, the groups in which the layer stands in a summary."""
    made = [GENERATED.fullmatch(one._node.name) for one in layers]
    hierarchy = Hierarchy(model, is_drawn=False) if any(made) else None
    groups = [hierarchy.named_groups(one._node) if own and hierarchy else () for own, one in zip(made, layers, strict=True)]
    return [one.path.removesuffix(one._node.name) + "/".join(own) if own else one.path for one, own in zip(layers, groups, strict=True)]


def _prefixes(paths: Sequence[str]) -> list[str] | None:
    """The beginning of each name, with as many parts of it as still make few groups; None if names have no common beginnings."""
    parts = [[part for part in _SEPARATOR.split(path) if part and part != "__module"] for path in paths]
    found = None
    for depth in range(1, _DEEPEST + 1):
        groups = [".".join(one[:depth]) for one in parts]
        if len(set(groups)) > _MOST_GROUPS:
            break
        found = groups
    return found


_TENSORS: Final = form.Form(
    name="text",
    bytes=form.Field(
        {"anyOf": [REFERENCE, {"type": "null"}], "description": "null if they are not known"},
        convert=lambda found, cost: None if found is None else shown(found, cost),
    ),
)
_STRETCH: Final = form.Form(
    low="number: the first size",
    high="number?: the last size; null for all larger ones",
    layers=form.Form(
        layer=("text?: the layer's id in the file", lambda one: one[0].key),
        layer_name=("text?: the layer's name in the file", lambda one: one[0].name),
        memory=("shown", form.item(1)),
    ).list("several where they take turns, because sizes are rounded"),
)


_PEAK: Final = form.Form(
    formula=("shown: a Python expression that holds for all sizes", "peak_memory"),
    value=("number: the number at the sizes `near`", lambda cost: cost.at(cost.peak_memory)),
    layer=("text?: the layer's id in the file", "_peak_layer?.key"),
    layer_name=("text?: the layer's name in the file", "_peak_layer?.name"),
    views=("flag: the output of a Reshape and its like shares the memory of its input", "reuse.views"),
    in_place=("flag: element-wise operations write into inputs that nobody reads afterwards", "reuse.in_place"),
    stretches=form.Field(
        {
            "type": "object",
            "additionalProperties": _STRETCH.list("one after the other").schema,
            "description": "the layers that have the peak as one symbol grows",
        },
        lambda cost: {name: [_STRETCH(stretch) for stretch in cost.stretches(name)] for name in cost.symbols},
    ),
)
_SWEPT: Final = form.Form(
    sizes="numbers: the sizes; all others are those of `near`",
    is_valid="flag: the sizes fulfil the conditions of the model",
    **dict.fromkeys(("macs", "flops", "traffic", "peak_memory", "state_bytes"), "number"),
)
_LAYERS: Final = form.Form(
    layer=(form.KEY, "_node.key"),
    name=form.NAME,
    type=form.TYPE,
    path=(form.BODIES, "_node.model.path?"),
    runs=shown_amount("how often the layer runs; all amounts are those of all runs"),
    **{name: shown_amount() for name in ("macs", "operations", "flops")},
    **{name: shown_amount("bytes") for name in ("weights", "inputs", "outputs")},
    intensity=form.Field(
        {"type": ["number", "null"], "description": "FLOPs for each byte that is read or written, at the sizes `near`"},
        "intensity",
        lambda intensity, cost: intensity(cost.near),
    ),
    parameters="count: elements of the constants that it reads",
    uncounted="text?: why the work is not counted and in no sum",
)
COST: Final = form.Form(
    tool=form.TOOL_FIELD,
    file=(form.FILE, "document.path"),
    ok=("flag: the model has no errors", "_inference.ok"),
    symbols=("names: the range of each symbol", lambda cost: cost.signature.symbols if cost.signature else {}),
    near=NEAR,
    data_sizes=DATA_SIZE.list("the sizes known only at run time"),
    macs=shown_amount("multiply-accumulates"),
    operations=shown_amount("other operations on single elements"),
    flops=shown_amount("two for each MAC, one for each other operation"),
    traffic=shown_amount("bytes that layers read and write"),
    intensity="real?: FLOPs for each byte of traffic, at the sizes `near`",
    parameters="number: elements of constants",
    parameter_bytes="number",
    parameters_by_type=OF_TYPE.named("the constants by element type"),
    inputs=_TENSORS.list("the inputs of the model"),
    outputs=_TENSORS.list("the outputs of the model"),
    state=form.Form(name="text", before=shown_amount(), after=shown_amount()).list("the bytes of each variable"),
    peak_memory=_PEAK.one("the most bytes that activations take at one time", lambda cost: cost),
    sweep=_SWEPT.list("the amounts at the sizes of --set S=128,256,512", lambda cost: cost._swept or None, optional=True),
    folded="count: layers of constants alone, which are computed before the model runs",
    layers=_LAYERS.list("in the order of the file, those of bodies included"),
    diagnostics=form.diagnostics(),
)
