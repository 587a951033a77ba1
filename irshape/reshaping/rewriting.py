"""A model with other sizes: whatever holds an old size is changed, with a proof, or the reason why not is told.

The elements that new layers give where all sizes are numbers are the proof of a mend at the recorded sizes, and the constants of a wish in
numbers. The pass over the rewritten model is the last word: `irshape.reshaping.session` infers it with the sizes that were asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import partial
from itertools import groupby
from math import inf, lcm
from typing import Final, NamedTuple

import numpy as np

from irshape.answers.batch.traces import sizes_of
from irshape.editing.arrays import data_of
from irshape.editing.draft import Draft
from irshape.editing.layers import Tensor, layer_of
from irshape.editing.state import Item
from irshape.inference.engine import Engine
from irshape.inference.inputs import UNNAMED, Inputs
from irshape.model.model import SINKS, Model, Node, reached
from irshape.report.diagnostic import ERROR, Diagnostic
from irshape.reshaping.bench import (
    CONSTANTS,
    EXPORTS,
    OPEN_THERE,
    OTHER_WAY,
    UNROLLED,
    Bench,
    Doubt,
    Mend,
    Refusal,
    Witness,
    listed,
    source,
    vector,
    where_of,
)
from irshape.reshaping.folding import Folding, are_equal
from irshape.reshaping.walk import DIFFER, Alternative, Walk
from irshape.reshaping.ways import Apart, Trials, Ways, agreement, ranges_of
from irshape.reshaping.wish import Wish
from irshape.shape.dim import Dim, Size, evaluate, is_known, symbols
from irshape.shape.notation import ANY_SIZE, SymbolRange
from irshape.shape.range import Bound
from irshape.shape.shape import format_shape
from irshape.xml.weights import Weights

# A larger constant is left to be repeated by a Broadcast.
_MOST: Final = 1 << 16
# No table of positions has so many rows.
_FAR: Final = 1 << 20


def fold(draft: Draft) -> None:
    """Put constants in the place of the new layers whose elements are known; all inputs of the draft have numbers for sizes."""
    facts = draft.facts
    folding = Folding(draft, lambda value: facts.of(value).shape)
    for item in list(draft.state.in_order):
        if item.base is not None or item.type in CONSTANTS:
            continue
        for value in item.outputs:
            readers = list(draft.state.readers.get(value, ()))
            if all(reader.base is None and folding.of(reader.outputs[0]) is not None for reader, _ in readers):
                continue
            array = folding.of(value)
            if array is None or (item.type == "Broadcast" and array.size > _MOST):
                continue
            type_ = facts.of(value).element_type
            new = draft.constant(data_of(array, type_), f"{item.name}/folded", draft.state.place_behind([item]))
            for reader, port in readers:
                draft.state.connect(reader, port, new)


class Rewriting(NamedTuple):
    """A rewritten model with its weights, and what was done.

    `mends` are the changes, `choices` the layers for which another formula fits as well, `kept` the numbers that stay although an axis is
    open, and `unproven` the layers of which it is not known whether they keep the batch. `decided` are ways that the second export tells
    apart.
    """

    model: Model
    weights: Weights | None
    mends: list[Mend]
    choices: list[Doubt]
    kept: list[Doubt]
    unproven: list[Doubt]
    decided: list[Ways]

    @property
    def doubts(self) -> list[tuple[str, Doubt]]:
        """All that the file does not decide, each with the code of the fault that it is."""
        return [*(("S208", one) for one in (*self.choices, *self.kept)), *(("P111", one) for one in self.unproven)]

    @property
    def chosen(self) -> list[Diagnostic]:
        """The notes of the ways that are taken where the file does not decide."""
        taken = ("; the first one is taken", "; the number stays")
        return [Diagnostic("N109", f"{one.what}{taken[one.is_number] if code == 'S208' else ''}", one.where) for code, one in self.doubts]


class Rewriter:
    """Rewrites a model. `new_engine` makes engines of it, `present` are the recorded inputs, `witness` is another export."""

    def __init__(self, new_engine: Callable[[], Engine], present: Inputs, asked: Wish, witness: Witness | None = None) -> None:
        self._new_engine = new_engine
        self._wish = asked
        self._witness = witness
        before = new_engine()
        before.run(present.question(before))
        self._recorded = before.slots
        self._faults = frozenset([(one.where.layer_id or "", one.code) for one in before.diagnostics])

    def walked(self) -> Walk:
        """A walk that has reached the end: without equations between formulas if possible, else with them. Raises `Refusal`."""
        with suppress(Refusal):
            return self._walk(self._wish, is_strict=True)
        try:
            return self._walk(self._wish, is_strict=False)
        except Refusal as error:
            raise self._alone(self._from_recorded(error)) from None

    def _alone(self, error: Refusal) -> Refusal:
        """The error of the file alone, if a layer misses a shape of the second export, which may have other layers; else the error.

        Where a Concat joins another number of tensors there, each export has layers for its own steps.
        """
        partners = {} if self._witness is None else self._witness.partners
        is_contradicted = (error.hint or "").startswith(EXPORTS)
        if is_contradicted and any(
            node and node.type == "Concat" and len(node.sources) != len(one.inputs) for node, one in partners.items()
        ):
            error.hint = UNROLLED
        elif is_contradicted and not error.reason.endswith(DIFFER):
            alone = copy(self)
            alone._witness = None
            try:
                alone.walked()
            except Refusal as other:
                before = {one.base for one in reached([other.item], lambda item: item.producers)}
                is_answered = other.hint is None or "--like" in other.hint  # the export is given
                return error if is_answered or error.item.base in before else other
        return error

    def _from_recorded(self, error: Refusal) -> Refusal:
        """The error of sizes from the recorded ones on, if these are refused, too; else the error, with the advice to ask for them."""
        inputs, recorded = self._wish.inputs, self._wish.recorded
        larger = {name: one._replace(low=was) for name, was in recorded.items() if (one := inputs.symbols[name]).low < was < one.high}
        if not larger or not ("min(" in error.reason or ">=" in error.reason):
            return error
        try:
            self._walk(self._wish._replace(inputs=inputs._replace(symbols={**inputs.symbols, **larger})), is_strict=False)
        except Refusal as other:
            return other
        sizes = " and ".join(map(str, dict.fromkeys(one.low for one in larger.values())))
        given = " ".join([f"{name}={one}" for name, one in larger.items() if name in self._wish.given])
        error.hint = f"ask for sizes from {sizes} on{given and f': --set {given}'}"
        return error

    def limited(self, told: str) -> str:
        """The sizes for `--set` up to which layers have formulas, such as a Slice of a table with few rows; empty if they grant nothing.

        `told` is the fault: other sizes are of no use unless it names a size that has no formula.
        """
        inputs = self._wish.inputs
        free = [name for name in self._wish.given if (one := inputs.symbols.get(name)) is not None and one.low < one.high == inf]
        if not free or re.search(rf"\b{UNNAMED}\b", told) is None:
            return ""
        numbers = {name: SymbolRange(was, was) for name, was in self._wish.recorded.items()}

        def unknown(name: str, high: Bound) -> int:
            known = inputs._replace(symbols={**inputs.symbols, **numbers, name: inputs.symbols[name]._replace(high=high)})
            engine = self._new_engine()
            engine.run(known.question(engine))
            names = {one for fact in engine.slots for size in fact.shape or () if isinstance(size, Dim) for one in symbols(size)}
            return len(names - inputs.symbols.keys())

        highest = {name: _highest(partial(unknown, name), self._wish.recorded[name]) for name in free if name in self._wish.recorded}
        limits = {name: inputs.symbols[name]._replace(high=high) for name, high in highest.items() if high < inf}
        return " ".join([f"{name}={one}" for name, one in sorted(limits.items())]) if self.grants(limits) else ""

    def is_shorter(self, name: str) -> bool:
        """Whether a size is larger in the second export."""
        return self._witness is not None and self._witness.sizes.get(name, 0) > self._wish.recorded[name]

    def stays(self, node: Node, axis: int) -> bool:
        """Whether an axis of an input has the same size in the second export, although others differ."""
        witness = self._witness
        other = None if witness is None or node not in witness.partners else witness.bench.shape(witness.partners[node].outputs[0])
        own = self._recorded[node.first_slot].shape
        return bool(other and own and axis < len(other) and other[axis] == own[axis])

    def lacks(self, doubt: Doubt) -> bool:
        """Whether there is a second export, in which no layer is the partner of the one in doubt."""
        partners = None if self._witness is None else self._witness.partners
        return partners is not None and all(str(node.id) != doubt.where.layer_id for node in partners if node is not None)

    def told_apart(self, rewriting: Rewriting, near: Iterable[Size]) -> list[Apart]:
        """Where the ways of all doubts about the same sizes agree and differ, else of each alone; `near` has the sizes of axes.

        A second export that takes the place of the present one has to tell apart what this one decides, too.
        """
        doubts, decided = [one for _, one in rewriting.doubts], rewriting.decided
        trials = Trials(self._wish.recorded, {} if self._witness is None else self._witness.sizes, self._wish.batch, near)

        def found(ways: Sequence[Ways]) -> tuple[int, dict[str, int]]:
            names = ranges_of(ways).keys()
            at = trials.telling([*ways, *[one for one in decided if ranges_of([one]).keys() & names]]) if ways else {}
            return lcm(*map(agreement, ways)), at if at.keys() <= self._wish.given else {}

        each = {one.names for one in doubts}
        together = {names: found([ways for other in doubts if names & other.names for ways in other.ways]) for names in each}
        apart, are_rounder = [], not decided and trials.are_rounder()
        for one in doubts:
            (step, at), own = together[one.names], found(one.ways) if not all(together[one.names]) else (0, {})
            told = ",".join([f"{name}={size}" for name, size in (at or own[1]).items()])
            apart.append(Apart((step or own[0]) if one.ways else 0, told, are_rounder))
        return apart

    def grants(self, sizes: Mapping[str, SymbolRange]) -> bool:
        """Whether a walk reaches the end if symbols have only these sizes."""
        inputs = self._wish.inputs
        try:
            self._walk(self._wish._replace(inputs=inputs._replace(symbols={**inputs.symbols, **sizes})), is_strict=False)
        except Refusal:
            return False
        return True

    def _walk(self, wish: Wish, *, is_strict: bool) -> Walk:
        """A walk that has reached the end. Raises `Refusal`."""
        engine = self._new_engine()
        engine.run(wish.inputs.question(engine))
        draft = Draft(engine.model, engine.weights, engine.opaque, engine)
        if wish.batch is not None and any(node.type in ("Range", "ShapeOf") for node in engine.model.nodes):  # for numbers of samples
            sizes = sizes_of(engine.model)
            with draft.facts.following([one for item in draft.state.in_order for one in item.outputs if one.slot in sizes], ends=False):
                pass
        bench = Bench(draft, self._recorded, wish.recorded, wish.batch, wish.asked)
        bench.letters = wish.recorded.keys() - wish.asked.keys() - wish.given
        walk = Walk(bench, self._faults, self._witness, is_strict=is_strict)
        walk.run()
        return walk

    def rewrite(self) -> Rewriting:
        """The rewritten model. Raises `Refusal`. Other options are tried to the end, and listed."""
        walk = self.walked()
        bench, draft = walk.bench, walk.bench.draft
        has_sizes = any(name != self._wish.batch for name in self._wish.recorded)
        others = walk.alternatives(of_sizes=has_sizes)
        choices = [_choice(walk, list(ways)) for _, ways in groupby(others, lambda one: (one.item, one.taken))]
        if has_sizes:
            choices += [_degenerate(bench, name) for name, size in self._wish.recorded.items() if size == 1 and name != self._wish.batch]
        if not self._wish.is_static:
            _divide_downward(bench)
        notes, dead = bench.notes, {*draft.dead()}
        replaced = {where_of(item) for item in dead - walk.dead}
        # A layer whose shape alone is read gives no elements to the outputs.
        used = {*reached(draft.of_type(*SINKS), lambda one: () if one.type == "ShapeOf" else one.producers)}
        notes.kept += [
            Doubt(where_of(item), f"{item!r} is made again for the new sizes, but {reader!r} reads it as it was", is_number=True)
            for item, tensor in dict.fromkeys(one[:2] for one in notes.proofs)
            for reader, _ in draft.readers_of(item)
            if reader in used and _reads_old(bench, item, tensor, reader)
        ]
        if notes.mends:
            _prove(bench)
            if self._wish.is_static:
                self._make_static(draft)
                fold(draft)
            for item in draft.dead():
                if item not in walk.dead:
                    draft.state.leave(item)
        model, weights = draft.built() if notes.mends else (draft.model, draft.original)
        undecided = {one.where.layer_id for one in choices}
        mends = [one._replace(kind="chosen") if one.where.layer_id in undecided else one for one in notes.mends]
        kept, unproven = (
            [one._replace(what=one.what + walk.unnamed(one.what)) for one in dict.fromkeys(some) if one.where not in replaced]
            for some in (notes.kept, notes.unproven)
        )
        return Rewriting(model, weights, mends, choices, kept, unproven, notes.decided)

    def contradicted(self, present: Engine, attempt: Callable[[Inputs], Engine], now: Inputs) -> tuple[Node, str, str] | None:
        """The first layer of the rewritten model that fails, or has another shape, at the sizes of the second export; what it does; a hint.

        A layer that makes a symbol, such as a Slice, has no formula that the walk compares. None for sizes that are not asked for.
        `present` has the shapes in symbols: those without any may broadcast.
        """
        witness, asked = self._witness, {name: now.symbols.get(name, ANY_SIZE) for name in self._wish.recorded}
        if witness is None or self._wish.asked or not asked.keys() <= witness.sizes.keys():
            return None
        there = {name: witness.sizes[name] for name in asked}
        if not all(_may_be(one, there[name]) for name, one in asked.items()):
            return None
        engine = attempt(now._replace(symbols={**now.symbols, **{name: SymbolRange(size, size) for name, size in there.items()}}))
        fault = next((one for one in engine.diagnostics if one.severity == ERROR and one.where.layer_id and not one.where.path), None)
        if fault is not None:
            sizes = ",".join([f"{name}={size}" for name, size in there.items()])
            told = f"fails at {sizes}, the sizes of the other export: {fault.message}"
            return engine.model.node(int(fault.where.layer_id or "")), told, OTHER_WAY
        kept = {(node.id, node.name, node.type): node for node in engine.model.nodes}
        pairs = [(kept.get((node.id, node.name, node.type)), partner) for node, partner in witness.partners.items() if node is not None]
        for own, partner in pairs:
            if own is None or own.type in CONSTANTS:
                continue
            for slot, value in zip(own.slots, partner.outputs, strict=False):
                shape, seen = engine.slots[slot].shape or (), witness.bench.shape(value) or ()
                is_other = len(shape) == len(seen) and any(is_known(one) and one != other for one, other in zip(shape, seen, strict=True))
                if is_other and not all(map(is_known, present.slots[slot].shape or ())):
                    told = f"gives {listed(shape)} at the sizes of the other export, which has {listed(seen)}"
                    return own, told, f"{EXPORTS}: {OPEN_THERE}"
        return None

    def _make_static(self, draft: Draft) -> None:
        """Give the inputs the numbers that are asked for."""
        for node in self._wish.inputs.shapes:
            item = draft.state.items[node.id]
            shape = draft.facts.of(item.outputs[0]).shape
            sizes = None if shape is None else tuple([evaluate(size, self._wish.asked) for size in shape])
            layer_of(draft, item).set(shape=format_shape(sizes))


def _highest(unknown: Callable[[Bound], int], was: int) -> Bound:
    """The highest size up to which as few sizes are unknown as at the recorded one; infinite if there is no such size."""
    least, low, high = unknown(was), was, was
    if unknown(inf) == least:
        return inf
    while high < _FAR and unknown(high) == least:
        low, high = high, 2 * high
    if high >= _FAR:
        return inf
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if unknown(middle) == least else (low, middle)
    return low


def _may_be(known: SymbolRange, size: int) -> bool:
    """Whether a size is in a range."""
    return known.low <= size <= known.high and (known.modulus < 2 or size % known.modulus == known.remainder)


def _reads_old(bench: Bench, item: Item, tensor: Tensor, reader: Item) -> bool:
    """Whether a layer reads what has changed of a constant: any element, or the size of an axis that changed."""
    now, was = bench.shape(tensor._value), bench.recorded_sizes(item.outputs[0])
    if reader.type != "ShapeOf" or now is None or was is None or len(now) != len(was):
        return True
    changed = {axis for axis, (size, number) in enumerate(zip(now, was, strict=True)) if size != number}
    return any(changed & _taken(bench, one, len(was)) for one, _ in bench.draft.readers_of(reader))


def _taken(bench: Bench, item: Item, rank: int) -> set[int]:
    """The axes whose sizes a layer takes of a shape of this rank; all if it is no Gather and no Slice by constants."""
    read = [bench.elements(source(item, port)) or () for port in range(1, min(len(item.inputs), 4))]
    numbers = [[one for one in own if isinstance(one, int)] for own in read]
    if item.type == "Gather" and numbers and numbers[0]:
        return {index % rank for index in numbers[0]}
    if item.type == "Slice" and len(numbers) == 3 and all(map(len, numbers)):
        return {*range(rank)[numbers[0][0] : numbers[1][0] : numbers[2][0]]}
    return {*range(rank)}


# So many other ways are told one by one.
_MOST_WAYS: Final = 3


def _choice(walk: Walk, ways: list[Alternative]) -> Doubt:
    """A layer for which several formulas fit."""
    item, taken = ways[0].item, ways[0].taken
    others = [*dict.fromkeys([one.other for one in ways])]
    more = len(others) - _MOST_WAYS
    *first, last = others if more < 2 else [*others[:_MOST_WAYS], f"one of {more} others"]
    told, names = f"{item!r} may give {', '.join([taken, *first])} or {last}", frozenset[str]().union(*[one.names for one in ways])
    told += "; f stands for a long formula" if re.search(r"\bf\(", told) else ""
    return Doubt(where_of(item), told + walk.unnamed(told), tuple([one.sizes for one in ways]), names=names)


def _degenerate(bench: Bench, name: str) -> Doubt:
    """A size that was 1 leaves open which axes of size 1 follow it."""
    item = bench.draft.state.items[bench.draft.model.parameters[0].id]
    return Doubt(where_of(item), f"{name} is 1 in the file, so the file does not tell which axes of size 1 change with {name}")


def _divide_downward(bench: Bench) -> None:
    """Compute quotients of negative sizes, such as `-(-H//2)`, without any: OpenVINO's CPU plugin rounds these toward zero at run time."""
    for item in bench.draft.of_type("Divide"):
        if len(item.inputs) != 2 or None in item.inputs or not item.outputs:
            continue
        dividend, divisor, own = ([*(bench.elements(one) or ())] for one in (source(item, 0), source(item, 1), item.outputs[0]))
        sizes = [(one, bench.at(one)) for one in dividend if isinstance(one, Dim)]
        if not own or not bench.is_of_sizes(item.outputs[0]) or not any(isinstance(was, int) and was < 0 for _, was in sizes):
            continue
        bench.item, quotient = item, bench.tensor(item.outputs[0])
        new = bench.add("Reshape", vector(bench, own), np.array(quotient.shape, np.int64), name=f"{item.name}/down", special_zero=False)
        if str(quotient.element_type) != "i64":
            new = bench.add("Convert", new, name=f"{item.name}/down", destination_type=quotient.element_type)
        quotient.replace_uses(new)
        bench.mend("quotient", f"{listed(dividend)}/{listed(divisor)}", own, "forced", "the CPU plugin rounds it toward zero at run time")


def _prove(bench: Bench) -> None:
    """Each constant that was made again has the bytes of before at the recorded sizes. Raises `Refusal` for one that has not."""
    folding = Folding(bench.draft, bench.recorded_sizes)
    for item, tensor, rounding in bench.notes.proofs:
        made, array = folding.of(tensor._value), layer_of(bench.draft, item).data
        if made is None or not are_equal(made, array, rounding):
            raise Refusal(item, "has other elements at the recorded sizes when irshape computes it again", item)
