"""The signature of a model: its inputs and outputs in as few symbols as its requirements leave, and the conditions on these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from math import inf
from typing import Any, Final

from irshape.answers import wording
from irshape.answers.question import CONDITION, Condition, errors, is_whole, merged
from irshape.answers.signature.discovery import Discovery
from irshape.answers.signature.notes import (
    BECAUSE,
    DATA_SIZE,
    NOTES,
    Because,
    DataSize,
    Note,
    because,
    indexing,
    name_data_sizes,
    name_ties,
    notes,
    variable,
)
from irshape.inference.engine import Engine
from irshape.inference.inference import conclude
from irshape.inference.inputs import InputError, Inputs, sizes_by_name, with_batch
from irshape.inference.run import Guard
from irshape.inference.session import Session
from irshape.model.finding import end_name
from irshape.model.model import Model, Node
from irshape.report.diagnostic import Diagnostic
from irshape.report.form import FILE, TOOL_FIELD, Form, described, diagnostics
from irshape.report.section import Block, Fit, Relation, Section, dim, joined, key, paragraph
from irshape.report.surface import ByName
from irshape.report.text import counted
from irshape.shape.dim import INT64_MAX, expression_of, symbols
from irshape.shape.guard import all_hold
from irshape.shape.notation import Described, DescribedShape, SymbolRange, shape_text
from irshape.shape.range import Range
from irshape.xml.weights import Weights

__all__ = ["Because", "DataSize", "Note", "Signature"]

# Every size from 1 on, and every size of a variable, whose first value may be empty.
_SIZES: Final = SymbolRange(1, inf)
_STATE_SIZES: Final = SymbolRange(0, inf)


class Signature(wording.Answer):
    """The inputs, the variables and the outputs of a model in as few symbols as possible. It prints as one line.

    `inputs`, `state` and `outputs` have the shapes by name, as texts that `inputs=` takes: `[B,P + S]`. `symbols` are the symbols with
    their ranges. Every assignment of sizes to the symbols that fulfils the `conditions` gives shapes that OpenVINO accepts; it may also
    accept sizes that break a premise. Sizes are at least 1. `notes` tell which other sizes OpenVINO accepts, `because` which layers tie the
    axes together, and `data_sizes` which layers decide sizes by their data. `diagnostics` are the faults of the model. `ok` is false if the
    model has errors; then the shapes are those that are known.
    """

    def __init__(
        self,
        model: Model,
        given: Inputs,
        weights: Weights | None,
        opaque: frozenset[str],
        remarks: Iterable[Diagnostic] = (),
        like: Engine | None = None,
        found: Discovery | None = None,
    ) -> None:
        """The arguments are those of `irshape.signature`, read, an engine that has inferred the model, and its symbols if known."""
        found = Discovery(model, given, weights, opaque, like=like) if found is None else found.settle()
        self._inference = conclude(found.engine, remarks=remarks)
        self.ok: Final = self._inference.ok
        self._inference.report_contradiction()
        self._found = found
        self.inputs: Final = ByName((end_name(node), shape_text(shape)) for node, shape in found.question.shapes.items())
        self.state: Final = ByName((variable(node), shape_text(shape)) for node, shape in found.state.items())
        self.symbols: Final = found.ranges
        self._all_data_sizes = name_data_sizes(self._inference, found.ranges)
        self.data_sizes: Final[list[DataSize]] = []
        self.outputs: Final = ByName(self._outputs())
        name_ties(found, self._inference)
        self.notes: Final[list[Note]] = notes(found)
        self.because: Final = because(found)

    @cached_property
    def conditions(self) -> list[Condition]:
        """The conditions on the symbols, in simple words."""
        return merged(self._conditions())

    def __str__(self) -> str:
        sides = ("  ".join(f"{name}{shape}" for name, shape in side.items()) for side in (self.inputs, self.outputs))
        return "  ->  ".join(sides)

    def __repr__(self) -> str:
        return f"<Signature {self}>"

    def _sections(self, *, is_complete: bool = False, has_reasons: bool = False) -> Iterator[Section]:
        """The text: title, signature, conditions, notes and reasons; with `is_complete`, whatever its length."""
        yield from wording.opening(self.document, self.diagnostics)
        others = [one for one in self.conditions if not self._is_apart(one) and not self._is_decided(one)]
        valid, remarks = validity(self, None if is_complete else wording.MOST_CONDITIONS), []
        if others and not is_complete:
            text = f"{counted(len(others), 'condition')} on sizes known only at run time not listed (--all lists them)"
            remarks.append(dim(text if valid.heading else f"  {text}"))
        if tied := self._tied():
            text = "a state begins with size 0 on each axis that the file leaves open"
            text = f"{text}, such as {wording.in_a_row(tied)}: set its first value"
            remarks.append(dim(text if valid.heading else f"  {text}"))
        yield paragraph(*ends(self, is_complete=is_complete), *([] if valid.heading else remarks))
        yield valid._replace(blocks=[*valid.blocks, *remarks]) if valid.heading else valid
        if others and is_complete:
            yield Section(wording.REFUSED_DATA, list(wording.conditions(others)))
        for text, members in groupby(filter(self._is_apart, self.conditions), lambda one: wording.heading(one.guards[0])):
            yield Section(text, list(wording.conditions(list(members))))
        yield wording.also([note.text for note in self.notes])
        yield wording.unchecked(indexing(self._inference, self.because) if self.ok and self.symbols else [])
        if has_reasons:
            yield wording.ties(self.because, "because", is_complete=is_complete)

    def assign(self, sizes: Mapping[str, int] | None = None, /, **named: int) -> dict[str, tuple[int, ...]] | None:
        """The shapes of the inputs for these sizes of the symbols; None if the model refuses them.

        An inference with exactly these shapes confirms the answer. A size of 0 is possible, too, where a model takes empty inputs. The
        batch may be left out, as in `ValidSizes.admits`. Raises InputError if another size is missing, a symbol is unknown, or an input has
        an unknown rank.
        """
        given = with_batch(sizes_by_name(sizes, self.symbols, named), self.symbols, self._found.question.shapes.values())
        model, question = self._inference.model, self._found.question
        if unranked := [repr(end_name(node)) for node, shape in question.shapes.items() if shape is None]:
            raise InputError(f"the rank of {', '.join(unranked)} is not known; give it a shape")
        is_sound = is_whole(model) and not errors(model.document.diagnostics)  # but for errors that depend on shapes
        is_possible = is_sound and all(self._is_in_range(name, size) for name, size in given.items())
        shapes = self._shapes(given) if is_possible else None
        is_decided = all(0 not in shape for shape in (shapes or {}).values())  # a state may be empty
        if shapes is None or (is_decided and not all_hold([guard.requirement for guard in self._own_guards])(given)):
            return None
        described: dict[Node, DescribedShape] = {node: tuple([Described(size, size) for size in shape]) for node, shape in shapes.items()}
        engine = self._session.attempt(Inputs(described))
        return None if errors(engine.diagnostics) else {end_name(node): shape for node, shape in shapes.items()}

    def _shapes(self, given: Mapping[str, int]) -> dict[Node, tuple[int, ...]] | None:
        """The shapes of the inputs for these sizes; None if a size is none that a tensor can have."""
        shapes: dict[Node, tuple[int, ...]] = {}
        for node, shape in self._found.question.shapes.items():
            try:
                sizes = tuple([one.number(given) for one in shape or ()])
            except ZeroDivisionError:
                return None
            if not all(0 <= size <= INT64_MAX for size in sizes):
                return None
            shapes[node] = sizes
        return shapes

    def _tied(self) -> list[str]:
        """The symbols that are sizes of an input and of a variable without a first value, whose open axes begin with 0."""
        empty = [shape for node, shape in self._found.state.items() if not node.sources]
        own = {size.name for shape in empty for size in shape}
        sizes = [size.name for shape in self._found.question.shapes.values() for size in shape or () if not (size.offset or size.formula)]
        return list(dict.fromkeys(name for name in sizes if name and name in own))

    def _is_decided(self, condition: Condition) -> bool:
        """Whether the symbols alone decide a condition that always holds; if not, it is apart, or about sizes known only at run time."""
        return not self._is_apart(condition) and self.symbols.keys() >= set(condition.symbols)

    def _is_apart(self, condition: Condition) -> bool:
        """Whether a condition has a heading of its own: that of a body, or that only formulas assume it and OpenVINO accepts more sizes."""
        return bool(condition.branch) or not self._assumed.isdisjoint(condition.guards)

    def to_dict(self) -> dict[str, Any]:
        """The form of `schemas/signature.schema.json`."""
        return SIGNATURE(self)

    def _is_in_range(self, name: str, size: int) -> bool:
        """Whether a symbol may have this size; 0 is left to the inference where nothing demands more."""
        low, high, modulus, remainder = self.symbols[name]
        return (size == 0 and low <= 1) or (low <= size <= high and (modulus == 1 or (size - remainder) % modulus == 0))

    @cached_property
    def _session(self) -> Session:
        inference = self._inference
        return Session(inference.model, weights=inference.weights, opaque=inference.opaque)

    @cached_property
    def _own_guards(self) -> list[Guard]:
        """The guards on the symbols alone that hold whichever bodies run."""
        limits = self._found.limits(self._found.engine)
        return [one for one in (*self._inference.guards, *limits) if self._is_own(one) and one not in self._assumed]

    def _is_own(self, guard: Guard) -> bool:
        return not guard.branch and guard.requirement.symbols() <= self.symbols.keys()

    @cached_property
    def _assumed(self) -> frozenset[Guard]:
        """The premises on the symbols alone without which OpenVINO accepts other sizes, as inferences with these show."""
        premises = frozenset(guard for guard in self._inference.guards if guard.is_premise and self._is_own(guard))
        if not premises:
            return premises
        from irshape.answers.sizes import ValidSizes

        question = Inputs(self._found.question.shapes, self.symbols)
        return premises.difference(ValidSizes(question, self._found.engine, self._inference, self._session, self._found)._guards)

    def _outputs(self) -> Iterator[tuple[str, str]]:
        """The outputs by name; sizes that only data tells get names of their own."""
        engine = self._found.engine
        table = engine.scope.polynomials
        shapes = []
        for node in self._inference.model.results:
            source = node.inputs[0].source if node.inputs else None
            shape = engine.slots[node.sources[0]].shape if source is not None else None
            shapes.append((end_name(node), shape))
        open_names = {name for _, shape in shapes for size in shape or () for name in symbols(size)} - self.symbols.keys()
        self.data_sizes.extend(one for one in self._all_data_sizes if one.name in open_names)
        seen: dict[str, int] = {}
        for name, shape in shapes:
            shape = self._inference.simplest(shape)
            texts = [table.text(expression_of(size)) for size in shape or ()]
            seen[name] = seen.get(name, 0) + 1
            yield name if seen[name] == 1 else f"{name} ({seen[name]})", "[...]" if shape is None else f"[{','.join(texts)}]"

    def _conditions(self) -> Iterator[Condition]:
        """The conditions of each symbol, those that tie several together, those on sizes that only data tells, and those of branches."""
        own = self._own_guards
        state = {name for shape in self._found.state.values() for one in shape for name in one.symbols}
        inputs = {name for shape in self._found.question.shapes.values() for one in shape or () for name in one.symbols}
        causes: dict[str, list[Guard]] = {name: list(guards) for name, guards in self._found.bounding.items()}
        relations: list[Condition] = []
        texts: dict[str, str] = {}
        if own:
            from irshape.answers.solve import of_one, of_several, solve

            domain = {name: _range(known) for name, known in self.symbols.items()}
            requirements = [guard.requirement for guard in own]
            solved = solve(self._inference.scope, requirements, domain)
            # What bounds a symbol is no cause where the other guards alone leave the same sizes.
            bounded = [name for name in solved.sets if solved.causes[name] and causes.get(name)]
            free = domain | {name: _range(self._found.declared[name]) for name in bounded if name in self._found.declared}
            alone = solve(self._inference.scope, requirements, free) if free != domain else solved
            texts = {name: one.text for name, one in of_one(solved, own).items() if solved.causes[name]}
            relations = of_several(solved, own)
            for name, sizes in solved.sets.items():
                is_wider = free[name] != domain[name] and not sizes.is_empty
                if is_wider and alone.sets[name].text(name) == sizes.text(name):
                    causes[name] = [own[number] for number in alone.causes[name]]
                else:
                    causes.setdefault(name, []).extend(own[number] for number in solved.causes[name])
        for name, known in self.symbols.items():
            text = texts.get(name) or _range_text(name, known, _SIZES if name in inputs or name not in state else _STATE_SIZES)
            if text:
                yield Condition(text, (name,), tuple(causes.get(name, ())))
        yield from relations
        for guard in self._inference.guards:
            if guard.branch or guard in self._assumed or not (guard.is_premise or guard.requirement.symbols() <= self.symbols.keys()):
                names = sorted(guard.requirement.symbols(), key=lambda name: (name not in self.symbols, name))
                yield Condition(str(guard.requirement), tuple(names), (guard,))


def _range(known: SymbolRange) -> Range:
    return Range(*known) if known.modulus else Range(known.low, known.high)


def _range_text(name: str, known: SymbolRange, usual: SymbolRange) -> str:
    """The condition that a symbol is in its range; empty if the range is the usual one."""
    low, high, modulus, remainder = known
    parts: Sequence[str] = ()
    if low == high:
        parts = (f"{name} == {low}",)
    elif low > usual.low and high < inf:
        parts = (f"{low} <= {name} <= {high}",)
    elif high < inf:
        parts = (f"{name} <= {high}",)
    elif low > usual.low and not (modulus > 1 and low < modulus):
        parts = (f"{name} >= {low}",)
    if modulus > 1 and low < high:
        parts = (*parts, f"{name} % {modulus} == {remainder}")
    return " and ".join(parts)


def ends(signature: Signature, *, is_complete: bool = False) -> Iterator[Block]:
    """The inputs and outputs in their symbols, then the named parts of long formulas, and the sizes that only a run tells."""
    parts = wording.Parts(wording.SIZE)
    marked = (("", signature.inputs), ("state  ", signature.state), ("->  ", signature.outputs))
    yield Relation([(mark, list(wording.shapes(side, parts, is_complete=is_complete))) for mark, side in marked], is_complete)
    yield from wording.where(parts)
    for one in signature.data_sizes:
        yield joined("  where ", key(one.name), " is known only at run time: ", wording.about_layer(one.node._node, _why(one.node._node)))


def _why(node: Node) -> str:
    """Why a size is known only at run time."""
    from irshape.answers.batch.traces import sizes_of

    decisive = {"If": node.sources[:1], "Slice": node.sources[1:], "StridedSlice": node.sources[1:]}.get(node.type, ())
    computed = [slot for slot in decisive if getattr(node.model.producer(slot), "type", "") != "Const"]
    if not computed or {*computed}.difference(sizes_of(node.model)):
        return "it depends on the data"
    if node.type == "If":
        return "a condition on the sizes decides which branch gives it"
    return "a limit may be negative, and then counts from the end"


def validity(signature: Signature, most: int | None = None, *, has_reasons: bool = True) -> Section:
    """The first conditions on the sizes of the inputs, with the layers that demand them if it has reasons."""
    own = list(filter(signature._is_decided, signature.conditions))
    doubt = "" if signature._inference.knows_values else " (as far as irshape can tell without the weights)"
    if any(not (signature._is_apart(one) or signature._is_decided(one)) for one in signature.conditions):
        doubt = doubt or " (as far as formulas tell)"  # the sizes of the inputs may decide those that only a run tells
    if own:
        title = wording.validity(signature._inference, doubt)
        return Section(title, list(wording.conditions(own, most)) if has_reasons else [Fit(wording.spoken(one.text)) for one in own])
    is_free = signature.ok and signature.symbols
    return Section(f"valid for every {wording.in_a_row(list(signature.symbols))} of at least 1{doubt}" if is_free else "", [])


SIGNATURE: Final = Form(
    tool=TOOL_FIELD,
    file=(FILE, "document.path"),
    ok="flag: the model has no errors",
    symbols=described("the range of each symbol", "names"),
    inputs=described("the shape of each input, in the notation of `--input`", "names"),
    state=described("the shape of each variable", "names"),
    outputs=described("the shape of each output", "names"),
    conditions=CONDITION.list("all must hold; those that only formulas assume, and those on sizes known only at run time, come last"),
    notes=NOTES,
    because=BECAUSE.list("the axes that are tied to others"),
    data_sizes=DATA_SIZE.list("the sizes known only at run time"),
    diagnostics=diagnostics(),
)
