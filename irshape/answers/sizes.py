"""Find the input sizes for which a model is valid."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby, product
from math import inf
from typing import Any, Final, NamedTuple, NoReturn

from irshape.answers import wording
from irshape.answers.question import CONDITION, Condition, errors, filled, is_whole, merged, opened
from irshape.answers.signature.discovery import Discovery
from irshape.answers.signature.notes import NOTES, Note, because, indexing, name_data_sizes, notes, variable
from irshape.answers.size_set import SizeSet, bracketed
from irshape.answers.solve import Solved, nearest, of_one, of_several, solve
from irshape.inference.engine import Engine
from irshape.inference.facts import Fact
from irshape.inference.forms import GUARD
from irshape.inference.indices import beyond
from irshape.inference.inference import Inference, conclude
from irshape.inference.inputs import InputError, Inputs, batch_sizes, described_shape, sizes_by_name, with_batch
from irshape.inference.run import Guard
from irshape.inference.session import Session
from irshape.model.finding import end_name
from irshape.model.model import Model, Node
from irshape.report import form
from irshape.report.diagnostic import ERROR, Diagnostic
from irshape.report.section import Block, Item, Line, Section, dim, fault, joined, key, paragraph
from irshape.report.surface import ByName, Guessed
from irshape.report.text import counted
from irshape.shape.dim import INT64_MAX, Dim, Size, origins
from irshape.shape.guard import all_hold, broken
from irshape.shape.notation import Described, SymbolRange, shape_text
from irshape.shape.polynomial import NAMED
from irshape.shape.range import Range
from irshape.xml.weights import Weights

# The most layers that are listed where formulas do not decide.
_MOST_UNDECIDED: Final = 8
_HINT: Final = "--near tries sizes one by one; every size of one symbol with a short range is tried"
# The most layers that are inferred to try sizes one by one, and the most sizes that are tried to find the nearest.
_MOST_TRIED_LAYERS: Final = 200_000
_MOST_TRIED: Final = 64
# Codes of faults that may occur only because a size is a symbol and not a number.
_OF_THE_UNKNOWN: Final = frozenset({"S206", "V105", "X111"})


class Undecided(NamedTuple):
    """A reason why formulas do not decide which sizes are valid, with its layer, if there is one."""

    message: str
    node: Node | None

    @property
    def line(self) -> int | None:
        """The line of the layer in the file."""
        return None if self.node is None else self.node.model.document.position(self.node.layer.offset)[0]

    def __str__(self) -> str:
        return self.message if self.node is None else f"{self.node.type} {self.node.name!r}: {self.message}"


class Nearest(NamedTuple):
    """The nearest valid sizes by symbol: `below` has no larger and `above` no smaller sizes than given; None if none was found."""

    below: dict[str, int] | None
    above: dict[str, int] | None


def ask(model: Model, given: Inputs, weights: Weights | None, opaque: frozenset[str], remarks: Iterable[Diagnostic]) -> ValidSizes:
    """Find the valid sizes of a model, of at least 1, for the given input shapes. `remarks` are diagnostics about shapes in the file.

    The symbols are those of the given shapes, and those of the signature for sizes that no symbol names.
    """
    question, found = opened(model, given), None
    if is_whole(model) and not question.symbols and not given.called:
        unranked = [end_name(node) for node, shape in question.shapes.items() if shape is None]
        why = f"the rank of {unranked[0]} is not known" if unranked else "all inputs have fixed sizes"
        raise InputError(f"{why}; name some sizes in a shape, as in {unranked[0] if unranked else 'x'}[1,3,H,W]")
    if question.symbols.keys() - given.names:
        found = Discovery(model, given, weights, opaque, keeps_named=True)
        question = Inputs(found.question.shapes, {name: found.declared[name] for name in found.ranges})
        engine = found.engine if found.declared == found.ranges else found.run(found.declared)
    else:
        engine = Engine(model, weights, opaque, is_static=True)
        engine.run(question.question(engine))
    inference = conclude(engine, remarks=remarks)
    inference.data_sizes = name_data_sizes(inference, question.symbols)
    session = Session(model, weights=weights, opaque=opaque, work=engine.scope.work, like=engine)
    return ValidSizes(question._replace(called=given.called), engine, inference, session, found)


class Sample(dict[str, int]):
    """Valid sizes, by symbol."""

    def __call__(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("sample is one set of valid sizes, and takes nothing; nearest(H=500) finds those beside other sizes")


class ValidSizes(Guessed):
    """The input sizes for which a model is valid: OpenVINO accepts and can run it. It prints as one condition.

    `diagnostics` are the faults of the model. `inputs` are the shapes of the question and `symbols` the ranges of their symbols. Sizes are
    valid if they fulfil all `conditions`. If `ok` is false, no size is valid: the conditions contradict each other, or the model has
    errors. If `is_exact` is true, the conditions decide completely. If it is false, formulas tell no more, and `undecided` lists the
    reasons. If `is_by_trial` is true, irshape decides by inferring the model with the sizes themselves; if it tried every size of the
    question, the answer is exact again. `sample` are valid sizes for which irshape compared the formulas with an inference by numbers, and
    `never_runs` are reasons why the model fails at run time with them although OpenVINO accepts it. `notes` tell which other sizes OpenVINO
    accepts, where irshape assumes that axes without names are equal.
    """

    def __init__(self, question: Inputs, engine: Engine, inference: Inference, session: Session, found: Discovery | None = None) -> None:
        self._inference: Final = inference
        self.inputs: Final = ByName((end_name(node), shape_text(shape)) for node, shape in question.shapes.items())
        self.symbols: Final = question.symbols
        self._order = {name: number for number, name in enumerate(self.symbols)}
        self.notes: Final[list[Note]] = [] if found is None else notes(found)
        self._because = [] if found is None else because(found)
        self._multiples = {} if found is None else found.multiples
        self._domain = {name: Range(*known) if known.modulus else Range(known.low, known.high) for name, known in self.symbols.items()}
        self._question = question
        self._session = session
        # A session takes no shapes of variables, so where a symbol is in these alone, the discovery makes the passes.
        self._found = found if self.symbols.keys() - question.names else None
        self._state = {} if self._found is None else {variable(node): shape_text(one) for node, one in self._found.state.items()}
        self._tried: dict[tuple[int, ...], bool] = {}
        self._work = engine.scope.work
        self.undecided: list[Undecided] = []
        own = frozenset(self.symbols)
        limits = filled(question, engine) if found is None else found.limits(engine)
        self._limits = [guard for guard in limits if guard.requirement.symbols() <= own]
        # OpenVINO checks each branch where all sizes are numbers, so what a branch requires counts; what its formulas assume does not.
        guards = [guard for guard in inference.guards if not (guard.branch and guard.is_premise)]
        # A demand that no size fulfils, and that OpenVINO does not check, is among the diagnostics.
        self._guards = [*(guard for guard in guards if (names := guard.requirement.symbols()) and names <= own), *self._limits]
        self._scope = engine.scope
        self._solve()
        if self._solved.unfinished is not None:
            node = self._guards[self._solved.unfinished]._node
            inference.report([inference.unfinished("conditions from here on may not be solved for the sizes", node)])
        self._nodes = {(node.model.path, str(node.id)): node for graph in engine.graphs() for node in graph.model.nodes}
        if self._are_contradictory() and (premises := [guard for guard in self._guards if guard.is_premise]):
            self._drop(premises)
        self.ok = not errors(inference.diagnostics) and not self._are_contradictory()
        self.is_exact = True
        self.is_by_trial = False
        self.sample: dict[str, int] = Sample()
        self.never_runs: list[Diagnostic] = []
        if is_whole(inference.model):
            self._examine(engine)
        if self.ok and not inference.knows_values:  # also the sizes that were tried were tried without them
            self.is_exact = self.is_by_trial = False
            self.undecided.append(Undecided("the values of constants are unknown, and they may forbid sizes", None))
        told = [*of_one(self._solved, self._guards, self._multiples).values(), *of_several(self._solved, self._guards)]
        self.conditions: list[Condition] = merged(told if self.ok or not errors(inference.diagnostics) else ())

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The diagnostics of the inference; its errors occur for every size."""
        return [one for one in self._inference.diagnostics if not self.ok or one.code not in _OF_THE_UNKNOWN]

    @property
    def premises(self) -> list[Guard]:
        """The premises on sizes that depend on data, and those of bodies that need not run: OpenVINO accepts others, too."""
        own = self.symbols.keys()
        return [one for one in self._inference.guards if one.is_premise and (one.branch or not one.requirement.symbols() <= own)]

    @property
    def condition(self) -> str:
        """All conditions as one, in Python's syntax; or the words `every size` or `no size`."""
        if not self.ok:
            return "no size"
        if len(self.conditions) == 1:
            return self.conditions[0].text
        return " and ".join(dict.fromkeys([bracketed(one.text, " or ") for one in self.conditions])) or "every size"

    def __str__(self) -> str:
        return self.condition if self.is_exact else f"{self.condition} (not decided: {'; '.join(map(str, self.undecided))})"

    def __repr__(self) -> str:
        return f"<ValidSizes {self}>"

    def admits(self, sizes: Mapping[str, int] | None = None, /, **named: int) -> bool:
        """Whether the model is valid for these sizes, one for each symbol. A size outside its symbol's range or beyond 2^63-1 is not valid.

        A symbol that is the first axis of an input, the batch, may be left out, and is then 1, or its smallest size; so may one of states
        alone, which then are as small as can be. Raises InputError if another size is missing or a symbol is unknown.
        """
        return self._admits(with_batch(self._given(sizes, named), self._domain, self._question.shapes.values()))

    def __contains__(self, sizes: Mapping[str, int]) -> bool:
        return self.admits(sizes)

    def nearest(self, sizes: Mapping[str, int] | None = None, /, fixed: Mapping[str, int] | None = None, **named: int) -> Nearest:
        """The nearest valid sizes: `below` has no larger sizes than given, `above` no smaller ones.

        Where neither exists, because one size is too large and another one too small, both begin with the nearest size of each symbol.
        All given sizes may change, except `fixed` ones. A symbol may be left out if no condition ties it to a given one, or if it is the
        first axis of an input, the batch, which then is 1, or its smallest size. Otherwise raises InputError, as for an unknown symbol.
        """
        given, kept = self._given(sizes, named), self._given(fixed)
        self._work.renew()
        if not self.ok or any(size > INT64_MAX for size in kept.values()):
            return Nearest(None, None)
        least = {name: min(size, INT64_MAX) for name, size in given.items()}
        above = self._next(given, kept, is_above=True) if least == given else None
        is_size = above is not None and max(above.values(), default=0) <= INT64_MAX
        found = Nearest(self._next(least, kept, is_above=False), above if is_size else None)
        moved = {name: self._within(name, size) for name, size in least.items() if name not in kept}
        return self.nearest(moved, kept) if found == (None, None) and moved.items() - given.items() else found

    def _within(self, name: str, size: int) -> int:
        """The next size that a symbol may have on its own, or else the one before."""
        own = self._solved.sets.get(name)
        return size if own is None else next(iter((*own.above(size, 1), *own.below(size, 1))), size)

    def to_dict(self) -> dict[str, Any]:
        """The form of `schemas/sizes.schema.json`."""
        return SIZES(self)

    def _given(self, sizes: Mapping[str, int] | None, named: Mapping[str, int] | None = None) -> dict[str, int]:
        given = sizes_by_name(sizes, self.symbols, named)
        return {name: given[name] for name in self.symbols if name in given}

    def _admits(self, sizes: dict[str, int]) -> bool:
        is_asked = all(
            known.low <= sizes[name] <= min(known.high, INT64_MAX) and (sizes[name] - known.remainder) % known.modulus == 0
            for name, known in self._domain.items()
        )
        if not is_asked or not self.ok:
            return False
        return self._try(sizes) if self.is_by_trial else self._is_admitted(sizes)

    def _is_admitted(self, sizes: Mapping[str, int]) -> bool:
        return all_hold([guard.requirement for guard in self._guards])(sizes)

    def _next(self, given: dict[str, int], fixed: dict[str, int], *, is_above: bool) -> dict[str, int] | None:
        """The nearest valid sizes on one side."""
        wanted = {**given, **fixed}
        columns, least = [], self._batch(self.symbols)
        for names in self._groups():
            self._work.take(1 + 2 * len(self._solved.relations))
            if self._work.is_done:
                return None
            if not self.is_by_trial and wanted.keys().isdisjoint(names):
                continue
            batch = {name: least[name] for name in names if name in least}
            wanted = {**batch, **wanted}
            missing = [name for name in names if name not in wanted]
            if missing:
                raise InputError(f"the size of {', '.join(missing)} is missing, on which other sizes depend")
            own = {name: wanted[name] for name in names}
            # A batch stays as it is if other sizes are found for it.
            kept = {**fixed, **batch} if len(batch) < len(names) else fixed
            columns.append(self._candidates(own, kept, is_above) or self._candidates(own, fixed, is_above))
        if not self.is_by_trial:
            return {name: size for column in columns for name, size in column[0].items()} if all(columns) else None
        rows = [{name: size for part in parts for name, size in part.items()} for parts in product(*columns)]
        rows.sort(key=lambda row: sum(abs(size - wanted[name]) for name, size in row.items()))
        return next((row for row in rows[:_MOST_TRIED] if self._try({name: row[name] for name in self.symbols})), None)

    def _batch(self, names: Iterable[str]) -> dict[str, int]:
        """The least sizes of those of the symbols that are the batch."""
        least = batch_sizes(self._domain, self._question.shapes.values())
        return {name: least[name] for name in names if name in least}

    def _groups(self) -> list[list[str]]:
        """The symbols in groups; symbols that conditions tie together share a group."""
        group = {name: [name] for name in self.symbols}
        for number in (*self._solved.links, *self._solved.relations):
            parts = {id(group[name]): group[name] for name in self._solved.simpler[number].symbols()}
            if len(parts) > 1:
                whole = sorted((name for names in parts.values() for name in names), key=self._order.__getitem__)
                group.update(dict.fromkeys(whole, whole))
        return list({id(names): names for names in group.values()}.values())

    def _candidates(self, wanted: dict[str, int], fixed: dict[str, int], is_above: bool) -> list[dict[str, int]]:
        """Sizes of one group of symbols that fulfil the conditions, the nearest first."""
        most = int(_MOST_TRIED ** (2 / (1 + len(self.symbols)))) if self.is_by_trial else 1
        return nearest(self._scope, self._solved, wanted, fixed.keys() & wanted.keys(), most, is_above=is_above)

    def _solve(self) -> None:
        self._solved: Solved = solve(self._scope, [guard.requirement for guard in self._guards], self._domain)
        self._sets = self._solved.sets

    def _are_contradictory(self) -> bool:
        return any(one.is_empty for one in self._sets.values())

    def _drop(self, premises: Sequence[Guard]) -> None:
        """Take premises out of the conditions: OpenVINO accepts other sizes too, for which the formulas do not hold."""
        self._guards = [guard for guard in self._guards if guard not in premises]
        self._solve()
        for guard in premises:
            message = f"the formulas hold only where {wording.spoken(str(guard.requirement))}: {guard.requirement.message}"
            self.undecided.append(Undecided(message, guard._node))

    def _examine(self, engine: Engine) -> None:
        """Check by inference with numbers whether formulas decide everything."""
        own = frozenset(self.symbols)
        for guard in self._inference.guards:
            if not guard.is_premise and not guard.requirement.symbols() <= own:
                self.undecided.append(Undecided(f"{wording.spoken(str(guard.requirement))}: {guard.requirement.message}", guard._node))
        if self.ok:
            self._examine_samples(engine)
        else:
            open_guards = len(self.undecided)
            faults = errors(self._inference.diagnostics)
            if faults and all(fault.code in _OF_THE_UNKNOWN for fault in faults):
                self.undecided += [Undecided(fault.message, self._node(fault)) for fault in faults]
            elif self._try(least := {name: int(known.low) for name, known in self.symbols.items()}):
                self.undecided.append(_excluded(least))
            self.ok = len(self.undecided) > open_guards
        if self.undecided:
            self.is_by_trial = True
            self.is_exact = self._try_all()
        if self.is_exact:
            self.undecided = list(_opaque(engine))
            self.is_exact = not self.undecided

    def _examine_samples(self, engine: Engine) -> None:
        """Infer the model with small sizes that fulfil the conditions, and with sizes that do not, and compare with the formulas."""
        least = {name: int(known.low) for name, known in self.symbols.items()}
        sample = self._next(least, {}, is_above=True) or self._own_sizes()
        if sample is None:
            self.undecided.append(self._unfinished() or Undecided("no sizes that fulfil all conditions were found", None))
            return
        numbers = self._attempt(sample)
        faults = errors(numbers.diagnostics)
        if faults:
            self.undecided.append(Undecided(f"with {_sizes_text(sample)}: {faults[0].message}", self._node(faults[0])))
        else:
            self.sample, self.never_runs = Sample(sample), [one for one in numbers.diagnostics if one.code == "R401"]
            self.undecided += _lost(engine, numbers)
        while (other := self._invalid_neighbour(sample)) is not None and self._try(other):
            demands = broken([guard.requirement for guard in self._guards], other)
            lost = [guard for guard in self._guards if guard.requirement in demands]
            if not all(guard.is_premise for guard in lost):
                self.undecided.append(_excluded(other))
                return
            self._drop(lost)
        if unfinished := self._unfinished():
            self.undecided.append(unfinished)

    def _unfinished(self) -> Undecided | None:
        """The reason that no work is left to try sizes; None if there is some."""
        if not self._work.is_done:
            return None
        return Undecided(f"formulas are not compared with numbers: that takes more than {self._work.most} steps (limit work)", None)

    def _own_sizes(self) -> dict[str, int] | None:
        """The input sizes in the file, if they are static and fulfil the conditions; else None."""
        own: dict[str, int] = {}
        for node, shape in self._question.shapes.items():
            for one, given in zip(shape or (), described_shape(node) or (), strict=False):
                if one.name and given.low == given.high:
                    own.setdefault(one.name, (given.low - one.offset) // one.factor)
        return own if own.keys() == self.symbols.keys() and self._is_admitted(own) else None

    def _invalid_neighbour(self, sample: Mapping[str, int]) -> dict[str, int] | None:
        """Sizes that differ from the sample in one symbol and violate the conditions; None if none were found."""
        tied = frozenset().union(*(guard.requirement.symbols() for guard in self._guards))
        other = dict(sample)
        for name in filter(tied.__contains__, self._domain):
            known = self._domain[name]
            for size in range(int(known.low), int(min(known.high, known.low + _MOST_TRIED)) + 1, known.modulus):
                if self._work.is_done:
                    return None
                self._work.take(4 * len(self._guards))
                other[name] = size
                if not self._is_admitted(other):
                    return other
            other[name] = sample[name]
        return None

    def _node(self, fault: Diagnostic) -> Node | None:
        return self._nodes.get((fault.where.path, fault.where.layer_id or ""))

    def _try_all(self) -> bool:
        """Try every size of the only symbol, if there are few; the sizes that pass are then the exact answer."""
        if len(self.symbols) != 1:
            return False
        ((name, known),) = self._domain.items()
        if known.high == inf:
            return False
        sizes = int(known.high - known.low) // known.modulus + 1
        if sizes > _MOST_TRIED_LAYERS:
            return False
        members = self._sets[name].above(int(known.low), sizes)
        if len(members) * len(self._session.model.nodes) > _MOST_TRIED_LAYERS:
            return False
        head = bytearray(sizes)
        for size in members:
            if self._work.is_done:
                self.undecided.append(Undecided(f"trying every size takes more than {self._work.most} steps (limit work)", None))
                return False
            head[(size - int(known.low)) // known.modulus] = self._try({name: size})
        self._sets[name] = SizeSet(int(known.low), known.modulus, bytes(head), b"")
        self.ok = 1 in head
        return True

    def _try(self, sizes: Mapping[str, int]) -> bool:
        """Whether inference with these sizes finds no error; sizes beyond the ranges of axes are not asked about."""
        if not self._is_asked(sizes):
            return False
        key = tuple(sizes[name] for name in self.symbols)
        if key not in self._tried:
            self._work.take(2 * len(self._session.model.nodes))
            self._tried[key] = not self._faults(self._attempt(sizes))
        return self._tried[key]

    def _attempt(self, sizes: Mapping[str, int]) -> Engine:
        """The engine after a pass with these sizes."""
        if self._found is None:
            return self._session.attempt(self._shapes(sizes))
        return self._found.run({name: SymbolRange(size, size) for name, size in sizes.items()})

    def _faults(self, engine: Engine) -> list[Diagnostic]:
        """The errors of a pass, and the warnings that a layer cannot run, if conditions tell the sizes with which it can."""
        guarded = {guard._node for guard in self._guards}
        found = (*engine.diagnostics, *beyond(engine))
        return [one for one in found if one.severity == ERROR or (one.code == "R401" and self._node(one) in guarded)]

    def _is_asked(self, sizes: Mapping[str, int]) -> bool:
        """Whether the sizes of all axes are in their ranges."""
        formulas = [one for shape in self._question.shapes.values() for one in shape or () if one.formula is not None]
        try:
            is_possible = all(1 <= one.number(sizes) <= INT64_MAX for one in formulas)
        except ZeroDivisionError:
            return False
        return is_possible and all_hold([limit.requirement for limit in self._limits])(sizes)

    def _shapes(self, sizes: Mapping[str, int]) -> Inputs:
        shapes = self._question.shapes.items()
        numbers = {node: None if shape is None else [one.number(sizes) for one in shape] for node, shape in shapes}
        return Inputs({node: None if own is None else tuple([Described(one, one) for one in own]) for node, own in numbers.items()})


def _excluded(sizes: Mapping[str, int]) -> Undecided:
    return Undecided(f"the model is valid with {_sizes_text(sizes)}, although formulas exclude these sizes", None)


def _opaque(engine: Engine) -> Iterator[Undecided]:
    """The layers of unknown operations that the sizes of inputs reach: no formula tells which sizes these operations take."""
    for graph in engine.graphs():
        reached: set[int] = set()
        for node in graph.model:
            shapes = [graph.slots[slot].shape for slot in node.slots] if node.type == "Parameter" else []
            is_open = any(shape is None or any(isinstance(size, Dim) for size in shape) for shape in shapes)
            if is_open or not reached.isdisjoint(node.sources):
                reached.update(node.slots)
                if node.op_class is None and node.is_live:
                    yield Undecided("the operation is unknown, and so are the sizes that it takes; describe it with --extensions", node)


def _lost(engine: Engine, numbers: Engine) -> Iterator[Undecided]:
    """The first layers whose outputs are known for numbers, but are no formulas of the symbols."""
    is_lost = cache(_is_lost)
    for graph, other in zip(engine.graphs(), numbers.graphs(), strict=True):
        lost: set[int] = set()
        for node in graph.model:
            own = {slot for slot in node.slots if node.is_live and is_lost(graph.slots[slot], other.slots[slot])}
            if own and lost.isdisjoint(node.sources) and node.type != "Parameter":
                yield Undecided("its output is known for numbers only, not as a formula", node)
            lost |= own


def _is_lost(fact: Fact, number: Fact) -> bool:
    if fact.is_poisoned or number.is_poisoned:
        return False
    for known, other in ((fact.shape, number.shape), (fact.elements, number.elements)):
        pairs = zip(known or (), other or (), strict=False)
        lost = any(isinstance(a, Dim) and origins(a) & ~NAMED and not isinstance(b, Dim) for a, b in pairs)
        if other is not None and (known is None or lost):
            return True
    return False


def sections(
    sizes: ValidSizes, near: Mapping[str, int] | None = None, nearest: Nearest | None = None, *, is_complete: bool = False
) -> Iterator[Section]:
    """The text: title, conditions with their layers, undecided places, and the nearest valid sizes; `is_complete` lists all conditions."""
    most = None if is_complete else wording.MOST_CONDITIONS
    yield from wording.opening(sizes._inference.document, sizes.diagnostics)
    parts, long = wording.Parts(wording.SIZE), wording.Parts(wording.LONGEST)
    inputs = joined(*(part for line in wording.shapes(sizes.inputs | sizes._state, parts) for part in (", ", line)))[1:] or ("the model",)
    are = "is" if len(sizes.inputs) < 2 else "are"
    if not sizes.ok and any(one.code == "W104" for one in sizes.diagnostics):
        yield paragraph(joined("which sizes ", inputs, " may have is not known, because the weights cannot be read"))
    elif not sizes.ok:
        never = wording.NEVER if sizes.conditions else "valid for no size: the model has errors"
        held = wording.demands(guard for one in sizes.conditions for guard in one.guards)
        yield Section(joined(inputs, f" {are} {never}"), list(held) if sizes.conditions else [])
    else:
        alone = "with these sizes" if sizes._question.called else "and can have no other sizes"
        names = [name for name in sizes.symbols if name in sizes._question.names]  # a state may be empty
        every = f"for every {wording.in_a_row(names)} of at least 1" if names else alone
        source = " (as far as formulas tell)" if not sizes.is_exact else " (every size was tried)" if sizes.is_by_trial else ""
        extent = "where" if sizes.conditions else every
        blocks = [_condition(one, long) for one in sizes.conditions[:most]]
        found = [*blocks, *wording.more(len(sizes.conditions) - len(blocks)), *wording.where(parts), *wording.where(long)]
        yield Section(joined(inputs, f" {are} valid {extent}{source}"), found)
    for text, members in groupby(sizes.premises, wording.heading):
        premises = list(members)
        yield Section(text, [*wording.demands(premises[:most]), *wording.more(len(premises[most:]) if most else 0)])
    yield wording.also([note.text for note in sizes.notes])
    unchecked = indexing(sizes._inference, sizes._because) if sizes.ok and sizes.symbols else []
    yield wording.unchecked(unchecked)
    if sizes.undecided:
        yield Section("formulas do not decide", list(_undecided(sizes)))
    if sizes.never_runs:
        title = f"with {_sizes_text(sizes.sample)} OpenVINO accepts the model, but cannot run it"
        yield Section(title, list(map(fault, sizes.never_runs)))
    if nearest is not None and nearest.below == nearest.above == near:
        yield paragraph(f"{_sizes_text(near)}: valid{', if the indices that are not checked are in range' if unchecked else ''}")
    elif nearest is not None and sizes.ok:
        others = {name: size for name, size in sizes._batch(nearest.below or nearest.above or ()).items() if name not in (near or ())}
        taken = f" (taking {_sizes_text(others)})" if others else ""
        below, above = map(_sizes_text, nearest)
        rows = [f"below  {below}", f"above  {above}"] if nearest.below != nearest.above or nearest.below is None else [below]
        yield Section(f"nearest to {_sizes_text(near)}{taken}", rows)


def nearest_text(sizes: ValidSizes, shapes: Mapping[str, Sequence[Size] | None]) -> str:
    """The valid sizes nearest to these shapes, below and above; empty if the shapes have no number for a symbol, or none are known."""
    wanted: dict[str, int] = {}
    for node, shape in sizes._question.shapes.items():
        for one, given in zip(shape or (), shapes[node.name] or (), strict=False):
            if one.name and isinstance(given, int):
                wanted[one.name] = (given - one.offset) // one.factor
    if not sizes.ok or sizes.is_by_trial or wanted.keys() != sizes.symbols.keys() or sizes.admits(wanted):
        return ""
    return " or ".join(dict.fromkeys(_sizes_text(one) for one in sizes.nearest(wanted) if one))


def _condition(condition: Condition, parts: wording.Parts) -> Item:
    """A condition, the layers that demand it, and the branches whose numbers OpenVINO checks."""
    is_own = [str(guard.requirement) for guard in condition.guards] == [condition.text]
    is_named = all(guard.requirement.symbols() <= {*condition.symbols} for guard in condition.guards)  # an earlier pass has other names
    below: Iterable[Block] = wording.demands(condition.guards, parts) if is_named and not is_own else wording.demanding(condition.guards)
    branches = dict.fromkeys(guard.branch for guard in condition.guards if guard.branch)
    remarks = (dim(f"OpenVINO checks {one} for numbers, even if it does not run") for one in branches)
    return Item(key(parts.cut(wording.spoken(condition.text))), [*(below if condition.guards else [wording.GIVEN]), *remarks])


def _undecided(sizes: ValidSizes) -> Iterator[Line]:
    """The layers for which formulas do not decide whether a size is valid."""
    shown = sizes.undecided[:_MOST_UNDECIDED]
    words = {word for one in shown for word in re.findall(r"[A-Za-z]\w*", one.message)}
    for own in sizes._inference.data_sizes:
        if own.name in words:
            yield key(own.name), f" is known only at run time: {own.node.type} {own.node.name}"
    yield from (one.message if one.node is None else wording.about_layer(one.node, one.message) for one in shown)
    if rest := sizes.undecided[_MOST_UNDECIDED:]:
        yield f"and {counted(len(rest), 'place')} more"
    if sizes.is_by_trial and sizes.symbols:
        *others, last = sizes.symbols
        numbers = f" and a number for {wording.in_a_row(others)}" if others else ""
        yield dim(f"{_HINT}: --set {last}=1..100{numbers}")


def _sizes_text(sizes: Mapping[str, int] | None) -> str:
    return "none was found" if sizes is None else ", ".join(f"{name} = {size}" for name, size in sizes.items())


_UNDECIDED: Final = form.Form(
    message="text",
    layer=("text?: the layer's id in the file", "node?.key"),
    layer_name=("text?: the layer's name in the file", "node?.name"),
    path=(form.BODIES, "node?.model.path?"),
    line="number?: counted from 1",
)
_SIZE: Final = {"type": "object", "additionalProperties": {"type": "integer"}}
_SIZE_OR_NULL: Final = form.Field({"anyOf": [_SIZE, {"type": "null"}]})
_NEAREST: Final = form.Form(given=form.Field(_SIZE), below=_SIZE_OR_NULL, above=_SIZE_OR_NULL)
SIZES: Final = form.Form(
    tool=form.TOOL_FIELD,
    file=(form.FILE, "_inference.document.path"),
    ok="flag: some size is valid",
    inputs=form.described("the examined shape of each input", "names"),
    symbols=form.described("the range of each symbol", "names"),
    condition="text: the conjunction of all conditions; `every size`, `no size`",
    is_exact="flag: exactly the sizes that meet the conditions are valid; if false, the conditions are necessary only",
    is_by_trial="flag: formulas do not determine the answer; if it is exact, every size was tried",
    conditions=form.described("all must hold; if no size is valid, they contradict each other", CONDITION.list()),
    undecided=form.described("requirements that may exclude more sizes", _UNDECIDED.list()),
    premises=GUARD.list("what the formulas assume of sizes that depend on data"),
    sample=form.described("sizes with which the answer was checked", form.Field(_SIZE)),
    notes=NOTES,
    never_runs=form.described(
        "the reasons why the model fails at run time with the sample, although OpenVINO accepts it", form.diagnostics()
    ),
    diagnostics=form.diagnostics(),
    # The command adds it.
    nearest=form.Field(
        {"description": "the nearest valid sizes below and above the sizes of `--near`", **_NEAREST.schema, "type": ["object", "null"]},
        lambda _: None,
        optional=True,
    ),
)
